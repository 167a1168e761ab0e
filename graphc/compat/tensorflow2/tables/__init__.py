"""The tables: each row is a name of TensorFlow 2, its signature, and the call of graphc's functions it stands for."""

from graphc.compat.tensorflow2.tables import arrays, math, networks, programs
from graphc.compat.tensorflow2.tables.objects import CLASSES, CONSTANTS, DTYPES, ELSEWHERE, ERRORS

ROWS = (*math.ROWS, *arrays.ROWS, *networks.ROWS, *programs.ROWS)
"""All rows."""

__all__ = ["CLASSES", "CONSTANTS", "DTYPES", "ELSEWHERE", "ERRORS", "ROWS"]
