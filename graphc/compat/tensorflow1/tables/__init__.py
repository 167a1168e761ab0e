"""The tables: each row is a name of TensorFlow 1, its signature, and the call of graphc's functions it stands for."""

from graphc.compat.tensorflow1.tables import (
    arrays,
    checks,
    draws,
    files,
    graphs,
    inputs,
    losses,
    networks,
    optimizing,
    queues,
    reductions,
    shared,
    strings,
    training,
    variables,
)
from graphc.compat.tensorflow1.tables.elsewhere import ELSEWHERE
from graphc.compat.tensorflow1.tables.objects import CLASSES, DTYPES, ERRORS, LATER, VALUES

OPERATIONS = (
    *shared.OPERATIONS,
    *reductions.ROWS,
    *arrays.ROWS,
    *networks.ROWS,
    *draws.ROWS,
    *strings.ROWS,
    *checks.ROWS,
    *queues.OPERATIONS,
    *losses.OPERATIONS,
)
"""Rows that make operations: they run in the default graph unless something else is traced."""

OTHERS = (
    *shared.OTHERS,
    *graphs.ROWS,
    *variables.ROWS,
    *queues.ROWS,
    *inputs.ROWS,
    *optimizing.ROWS,
    *losses.ROWS,
    *training.ROWS,
    *files.ROWS,
)
"""Rows that make none, or that call functions of graphs, which name operations themselves."""

__all__ = ["CLASSES", "DTYPES", "ELSEWHERE", "ERRORS", "LATER", "OPERATIONS", "OTHERS", "VALUES"]
