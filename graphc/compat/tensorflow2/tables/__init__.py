"""The tables: each row is a name of TensorFlow 2, its signature, and the call of graphc's functions it stands for."""

from graphc.compat.tensorflow2.tables import (
    arithmetic,
    arrays,
    checks,
    composites,
    draws,
    flow,
    linalg,
    networks,
    reductions,
    strings,
)
from graphc.compat.tensorflow2.tables.elsewhere import ELSEWHERE
from graphc.compat.tensorflow2.tables.objects import CLASSES, CONSTANTS, DTYPES, ERRORS

ROWS = (
    *arithmetic.ROWS,
    *reductions.ROWS,
    *arrays.ROWS,
    *linalg.ROWS,
    *networks.ROWS,
    *draws.ROWS,
    *flow.ROWS,
    *checks.ROWS,
    *composites.ROWS,
    *strings.ROWS,
)
"""All rows."""

__all__ = ["CLASSES", "CONSTANTS", "DTYPES", "ELSEWHERE", "ERRORS", "ROWS"]
