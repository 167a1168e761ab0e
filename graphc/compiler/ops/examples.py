"""The examples of the rows: doctests in the docstrings of their functions.

They are in ``examples.txt``, sorted by name. ``python -m tests.compiler.ops.write_examples`` adds missing ones.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

__all__ = ["FILE", "examples"]

FILE = Path(__file__).with_suffix(".txt")


@cache
def examples() -> Mapping[str, str]:
    """Returns the examples by row name."""
    parts = re.split(r"^# (.+)\n", FILE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {name: text.strip() for name, text in zip(parts[1::2], parts[2::2], strict=True)}
