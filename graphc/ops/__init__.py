"""Layer 3: the op table, whose rows wrap JAX functions, and the few ops written by hand.

Each module of rows has a stub file beside it, which ``python -m graphc.ops.stubs`` writes, so that editors and type
checkers know the functions. The public array functions stand together in :mod:`graphc.ops.functions`.
"""

# ruff: noqa: F403  __all__ is static in graphc.ops.functions

import graphc.ops.functions as functions
from graphc.ops import linalg, nn, random
from graphc.ops.call import CALL
from graphc.ops.collectives import ALL_MEAN, ALL_SUM, COLLECTIVES, FOLD_IN_REPLICA, REPLICA_AXIS, REPLICA_INDEX
from graphc.ops.control_flow import (
    BOOL,
    COND,
    INDEX,
    SCAN,
    SWITCH,
    WHILE,
    Trips,
    emit_branches,
    emit_scan,
    emit_while,
)
from graphc.ops.differentiate import VJP, check_reverse, linearize, vjp_attrs
from graphc.ops.functions import *
from graphc.ops.state import ASSIGN_VARIABLE, READ_VARIABLE
from graphc.ops.table import infer_by_evaluation

__all__ = [
    "ALL_MEAN",
    "ALL_SUM",
    "ASSIGN_VARIABLE",
    "BOOL",
    "CALL",
    "COLLECTIVES",
    "COND",
    "FOLD_IN_REPLICA",
    "INDEX",
    "READ_VARIABLE",
    "REPLICA_AXIS",
    "REPLICA_INDEX",
    "SCAN",
    "SWITCH",
    "VJP",
    "WHILE",
    "Trips",
    "check_reverse",
    "emit_branches",
    "emit_scan",
    "emit_while",
    "functions",
    "infer_by_evaluation",
    "linalg",
    "linearize",
    "nn",
    "random",
    "vjp_attrs",
]
