"""Griffe reads graphc's docstrings: ``Example:`` is a section of doctests, and a role is a name in code style."""

from __future__ import annotations

import re
from typing import Any

import griffe

EXAMPLE = re.compile(r"^(?P<indent> *)Example:$", flags=re.MULTILINE)
ROLE = re.compile(r":(?:attr|class|data|exc|func|meth|mod):`~?(?P<name>[\w.]+)`")


class Docstrings(griffe.Extension):
    """Rewrites each docstring before it is parsed."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None:
            text = EXAMPLE.sub(r"\g<indent>Examples:", obj.docstring.value)
            obj.docstring.value = ROLE.sub(r"`\g<name>`", text)
