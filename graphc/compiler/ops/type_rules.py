"""The types of the results of ops that loops and Python's numbers are made of, without asking JAX.

To ask takes a trace of the op, about a millisecond each: a fifth of the first call of a small loop. The rules are JAX's
own where the dtypes of the operands are the same; for everything else JAX is asked.
``tests/compiler/ops/test_type_rules.py`` compares both.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from graphc.compiler.core import dtype_rules
from graphc.compiler.ir import Attrs, Graph, TensorType
from graphc.compiler.ops.shape_rules import SHAPE_RULES

__all__ = ["TYPE_RULES", "infer_by_rule"]

Types = tuple[TensorType, ...]
Infer = Callable[[Sequence[TensorType], Attrs, Sequence[Graph]], Types]
Rule = Callable[..., TensorType | None]

_BOOL, _FLOAT = np.dtype(bool), np.dtype(np.float32)


def infer_by_rule(name: str, infer: Infer) -> Infer:
    """Returns the inference of an op by its rule, if it has one, and by ``infer`` where that says nothing."""
    rule = TYPE_RULES.get(name)
    if rule is None:
        return infer

    def infer_fast(types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]) -> Types:
        found = None if dtype_rules() or not _takes(rule, attrs) else rule(*types, **attrs)
        return infer(types, attrs, regions) if found is None else (found,)

    return infer_fast


def _takes(rule: Rule, attrs: Attrs) -> bool:
    """Returns True if a rule knows all of these attributes."""
    return not attrs or _attributes_of(rule).issuperset(attrs)


@cache
def _attributes_of(rule: Rule) -> frozenset[str]:
    return frozenset(inspect.signature(rule).parameters)


def _shape(types: Sequence[TensorType]) -> tuple[int, ...] | None:
    """Returns the shape of all operands broadcast; None if they do not fit."""
    shapes = {type.shape for type in types if type.shape}
    if len(shapes) < 2:
        return shapes.pop() if shapes else ()
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        return None


def _same(kinds: str, result: np.dtype[np.bool_] | None = None) -> Rule:
    """Returns the rule of an op on operands of one dtype, of these kinds, whose result has it too, or another one.

    Python's ints take part in what is computed of floats.
    """

    def rule(*types: TensorType) -> TensorType | None:
        shape, dtype = _shape(types), max((type.dtype for type in types), key=_is_float)
        if shape is None or dtype.kind not in kinds:
            return None
        weak, others = all(type.weak for type in types), [type for type in types if type.dtype != dtype]
        if others and (weak or dtype.kind != "f" or any(not type.weak or type.dtype.kind != "i" for type in others)):
            return None
        return TensorType(shape, result or dtype, weak)

    return rule


def _is_float(dtype: np.dtype[Any]) -> bool:
    return dtype.kind == "f"


def _logical(*types: TensorType) -> TensorType | None:
    shape = _shape(types)
    return None if shape is None or any(type.dtype != _BOOL for type in types) else TensorType(shape, _BOOL)


def _where(condition: TensorType, first: TensorType, second: TensorType) -> TensorType | None:
    shape = _shape((condition, first, second))
    if shape is None or condition.dtype != _BOOL or first.dtype != second.dtype:
        return None
    return TensorType(shape, first.dtype, first.weak and second.weak and first.dtype != _BOOL)


def _astype(x: TensorType, *, dtype: Any, copy: bool = True) -> TensorType | None:
    del copy
    to = np.dtype(dtype)
    numbers = x.dtype.kind in "biuf" and to.kind in "biuf" and to.itemsize <= 4
    return TensorType(x.shape, to) if numbers else None


def _unchanged(x: TensorType) -> TensorType:
    return x


def _along(x: TensorType, *, axis: Any = -1) -> TensorType | None:
    known = type(axis) is int and -len(x.shape) <= axis < len(x.shape)
    return x if known and x.dtype == _FLOAT and not x.weak else None


TYPE_RULES: dict[str, Rule] = {
    **SHAPE_RULES,
    **dict.fromkeys(("add", "subtract", "multiply", "minimum", "maximum"), _same("iuf")),
    **dict.fromkeys(("floor_divide", "remainder"), _same("iu")),
    **dict.fromkeys(("bitwise_and", "bitwise_or", "bitwise_xor"), _same("biu")),
    **dict.fromkeys(("negative", "abs"), _same("if")),
    **dict.fromkeys(("divide", "pow", "sqrt", "exp", "log", "sin", "cos", "tanh"), _same("f")),
    **dict.fromkeys(("nn.relu", "nn.sigmoid"), _same("f")),
    **dict.fromkeys(("nn.softmax", "nn.log_softmax"), _along),
    **dict.fromkeys(("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"), _same("iuf", _BOOL)),
    **dict.fromkeys(("logical_and", "logical_or"), _logical),
    "logical_not": _same("b"),
    "isfinite": _same("f", _BOOL),
    **dict.fromkeys(("identity", "stop_gradient"), _unchanged),
    "where": _where,
    "astype": _astype,
}
"""By op, what gives the type of its result for those of its operands; None where JAX must be asked."""
