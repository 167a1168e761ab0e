"""The objects that TensorFlow 1's names stand for."""

from __future__ import annotations

import os
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from graphc.compat.spaces import Library
from graphc.compat.tensorflow1 import arguments
from graphc.compat.tensorflow1.tables import CLASSES, DTYPES, ELSEWHERE, ERRORS, LATER, OPERATIONS, OTHERS, VALUES
from graphc.compat.tensorflow1.tables.shared import operation_name
from graphc.compat.tensorflow2 import NAMESPACE as NAMESPACE_OF_2
from graphc.compat.tensorflow2 import top_level as names_of_2
from graphc.compiler.base import errors, files, flags, logs
from graphc.graphs import queues, session

__all__ = ["LIBRARY", "NAMES"]

_NAME = "tf"
_MODULE = "graphc.compat.v1"

NAMESPACE: Mapping[str, Any] = {
    **NAMESPACE_OF_2,
    **{name: getattr(arguments, name) for name in arguments.__all__},
    "errors": errors,
    "files": files,
    "flags": flags,
    "logs": logs,
    "os": os,
    "queues": queues,
    "session": session,
    "weighted": session.weighted,
    "v2": SimpleNamespace(**names_of_2()),
}
"""The namespace for the signatures and calls of rows."""


def _objects() -> dict[str, Any]:
    objects: dict[str, Any] = {**CLASSES, **DTYPES, **ERRORS, **VALUES}
    for row in OPERATIONS:
        stand_in = row.function(_NAME, _MODULE, NAMESPACE, operation_name(row))
        objects.update(dict.fromkeys(row.names, stand_in))
    for row in OTHERS:
        stand_in = row.function(_NAME, _MODULE, NAMESPACE)
        objects.update(dict.fromkeys(row.names, stand_in))
    return dict(sorted(objects.items()))


NAMES: Mapping[str, Any] = _objects()
"""The object behind each name of the tables, by its dotted name below ``tf``."""

LIBRARY = Library(_NAME, _MODULE, NAMES, ELSEWHERE, LATER)
"""The names as namespaces."""
