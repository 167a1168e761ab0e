"""The tables: each row is a name of TensorFlow 1, its signature, and the call of graphc's functions it stands for."""

from graphc.compat.tensorflow1.tables import arrays, graphs, networks, training
from graphc.compat.tensorflow1.tables.objects import CLASSES, DTYPES, ELSEWHERE, ERRORS, LATER, VALUES
from graphc.compat.tensorflow1.tables.shared import shared

_OPERATIONS = (*arrays.OPERATIONS, *networks.OPERATIONS, *training.OPERATIONS)
_OTHERS = (*graphs.OTHERS, *training.OTHERS, *networks.OTHERS)
_SHARED = shared((*_OPERATIONS, *_OTHERS))

OPERATIONS = (*_SHARED[0], *_OPERATIONS)
"""Rows that make operations: they run in the default graph unless something else is traced."""

OTHERS = (*_SHARED[1], *_OTHERS)
"""Rows that make none, or that call functions of graphs, which name operations themselves."""

__all__ = ["CLASSES", "DTYPES", "ELSEWHERE", "ERRORS", "LATER", "OPERATIONS", "OTHERS", "VALUES"]
