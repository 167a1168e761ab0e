"""The types of the results of ops that loops and Python's numbers are made of, without asking JAX.

To ask takes a trace of the op, about a millisecond each: a fifth of the first call of a small loop. The rules are JAX's
own where the dtypes of the operands are the same; for everything else JAX is asked.
``tests/compiler/ops/test_type_rules.py`` compares both.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from functools import cache, reduce
from typing import Any, cast

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from graphc.compiler.core import dtype_rules
from graphc.compiler.ir import Attrs, Graph, TensorType, define_op

# The types of the results of ops that make, arrange and reduce tensors, without asking JAX.
#
# Each rule takes the types of the operands and the attributes. It returns None where JAX must be asked: for weak types,
# for mixed dtypes, and where the arguments do not fit, so that the error is JAX's.

Rule = Callable[..., TensorType | None]

_BOOL, _INT, _FLOAT = np.dtype(bool), np.dtype(np.int32), np.dtype(np.float32)


def _strong(shape: tuple[int, ...], dtype: Any) -> TensorType | None:
    """Returns a type; None for a dtype that JAX does not keep as it is."""
    converted = np.dtype(dtype)
    return TensorType(shape, converted) if converted.kind in "biuf" and converted.itemsize <= 4 else None


def _listed(value: Any) -> tuple[Any, ...]:
    return cast("tuple[Any, ...]", value) if isinstance(value, tuple) else (value,)


def _is_axis(axis: Any, rank: int) -> bool:
    return type(axis) is int and -rank <= axis < rank


def _sizes(shape: Any) -> tuple[int, ...] | None:
    sizes = _listed(shape)
    return sizes if all(type(size) is int and size >= 0 for size in sizes) else None


def _made(*, shape: Any, dtype: Any = _FLOAT) -> TensorType | None:
    sizes = _sizes(shape)
    return None if sizes is None else _strong(sizes, _FLOAT if dtype is None else dtype)


def _filled(value: TensorType, *, shape: Any, dtype: Any = None) -> TensorType | None:
    if value.shape or value.dtype not in (_BOOL, _INT, _FLOAT):
        return None
    return _made(shape=shape, dtype=value.dtype if dtype is None else dtype)


def _made_like(x: TensorType, *, dtype: Any = None) -> TensorType | None:
    return _strong(x.shape, x.dtype if dtype is None else dtype)


def _counted(*, start: Any, stop: Any = None, step: Any = 1, dtype: Any = None) -> TensorType | None:
    numbers = (0, start, step) if stop is None else (start, stop, step)
    if any(type(number) is not int or abs(number) >= 2**31 for number in numbers) or step == 0:
        return None
    return TensorType((len(range(*numbers)),), _INT) if dtype in (None, _INT) else None


def _view(function: Callable[..., Any]) -> Rule:
    """Returns the rule of an op that arranges elements as a function of NumPy's does, which does it without memory."""

    def rule(x: TensorType, **attrs: Any) -> TensorType | None:
        if x.weak:
            return None
        try:
            return TensorType(function(np.broadcast_to(np.empty((), _BOOL), x.shape), **attrs).shape, x.dtype)
        except Exception:
            return None

    return rule


def _broadcast(x: Any, shape: Any) -> Any:
    return np.broadcast_to(x, shape)


def _rolled(x: TensorType, *, shift: Any, axis: Any = None) -> TensorType | None:
    shifts, axes = _listed(shift), _listed(axis)
    valid = axis is None or all(_is_axis(dimension, len(x.shape)) for dimension in axes)
    return x if valid and not x.weak and len(shifts) == len(axes) else None


def _joined(*types: TensorType, axis: int | None = 0) -> TensorType | None:
    first = types[0] if types else None
    if first is None or first.weak or not _is_axis(axis, len(first.shape)):
        return None
    position = cast("int", axis) % len(first.shape)
    others = {(*type.shape[:position], -1, *type.shape[position + 1 :]) for type in types if len(type.shape) > position}
    if len(others) > 1 or any((type.dtype, type.weak) != (first.dtype, False) for type in types):
        return None
    if any(len(type.shape) != len(first.shape) for type in types):
        return None
    size = sum(type.shape[position] for type in types)
    return TensorType((*first.shape[:position], size, *first.shape[position + 1 :]), first.dtype)


def _stacked(*types: TensorType, axis: int = 0) -> TensorType | None:
    if not types or types[0].weak or any(type != types[0] for type in types[1:]):
        return None
    shape = types[0].shape
    if not _is_axis(axis, len(shape) + 1):
        return None
    position = axis % (len(shape) + 1)
    return TensorType((*shape[:position], len(types), *shape[position:]), types[0].dtype)


def _reduced(dtypes: tuple[Any, ...], result: Any = None, *, of_none: bool = False) -> Rule:
    """Returns the rule of a reduction of tensors of these dtypes."""
    # of_none: whether it is known for tensors without elements.

    def rule(x: TensorType, *, axis: Any = None, keepdims: bool = False) -> TensorType | None:
        rank = len(x.shape)
        axes = range(rank) if axis is None else _listed(axis)
        if x.weak or x.dtype not in dtypes or not (of_none or math.prod(x.shape)):
            return None
        if not all(_is_axis(dimension, rank) for dimension in axes):
            return None
        gone = {dimension % rank for dimension in axes}
        if len(gone) != len(axes):
            return None
        sizes = [
            1 if dimension in gone else size
            for dimension, size in enumerate(x.shape)
            if keepdims or dimension not in gone
        ]
        return TensorType(tuple(sizes), result or x.dtype)

    return rule


def _position(x: TensorType, *, axis: int | None = None, keepdims: bool = False) -> TensorType | None:
    return None if isinstance(axis, tuple) else _reduced((_INT, _FLOAT), _INT)(x, axis=axis, keepdims=keepdims)


def _product(first: TensorType, second: TensorType) -> TensorType | None:
    a, b = first.shape, second.shape
    if not (a and b) or {first, second} != {TensorType(a, _FLOAT), TensorType(b, _FLOAT)}:
        return None
    if a[-1] != b[-2 if len(b) > 1 else -1]:
        return None
    try:
        batch = np.broadcast_shapes(a[:-2], b[:-2])
    except ValueError:
        return None
    return TensorType((*batch, *a[-2:-1], *(b[-1:] if len(b) > 1 else ())), _FLOAT)


SHAPE_RULES: dict[str, Rule] = {
    **dict.fromkeys(("zeros", "ones"), _made),
    **dict.fromkeys(("zeros_like", "ones_like"), _made_like),
    "full": _filled,
    "arange": _counted,
    "permute_dims": _view(np.transpose),
    "moveaxis": _view(np.moveaxis),
    "swapaxes": _view(np.swapaxes),
    "expand_dims": _view(np.expand_dims),
    "flip": _view(np.flip),
    "broadcast_to": _view(_broadcast),
    "roll": _rolled,
    "concat": _joined,
    "stack": _stacked,
    "sum": _reduced((_INT, _FLOAT), of_none=True),
    "mean": _reduced((_FLOAT,)),
    **dict.fromkeys(("max", "min"), _reduced((_INT, _FLOAT))),
    **dict.fromkeys(("any", "all"), _reduced((_BOOL,), of_none=True)),
    **dict.fromkeys(("argmax", "argmin"), _position),
    "matmul": _product,
}
"""By op, what gives the type of its result for those of its operands; None where JAX must be asked."""


Types = tuple[TensorType, ...]
Infer = Callable[[Sequence[TensorType], Attrs, Sequence[Graph]], Types]


def infer_by_rule(name: str, infer: Infer) -> Infer:
    """Returns the inference of an op by its rule, if it has one, and by ``infer`` where that says nothing."""
    rule = TYPE_RULES.get(name)
    if rule is None:
        return infer

    def infer_fast(types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]) -> Types:
        inferred = None if dtype_rules() or not _takes(rule, attrs) else rule(*types, **attrs)
        return infer(types, attrs, regions) if inferred is None else (inferred,)

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
    """Returns the rule of an op on operands of one dtype, of these kinds, whose result has it too, or another one."""
    # Python's ints take part in what is computed of floats.

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
    return x if _is_axis(axis, len(x.shape)) and x.dtype == _FLOAT and not x.weak else None


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


# The JAX primitives that common ops are where their operands have the same type.

_NUMBERS, _FLOATS, _TRUTHS = "iuf", "f", "b"

PRIMITIVES: dict[str, tuple[Callable[..., Any], str]] = {
    "add": (lax.add, _NUMBERS),
    "subtract": (lax.sub, _NUMBERS),
    "multiply": (lax.mul, _NUMBERS),
    "minimum": (lax.min, _NUMBERS),
    "maximum": (lax.max, _NUMBERS),
    "equal": (lax.eq, _NUMBERS),
    "not_equal": (lax.ne, _NUMBERS),
    "less": (lax.lt, _NUMBERS),
    "less_equal": (lax.le, _NUMBERS),
    "greater": (lax.gt, _NUMBERS),
    "greater_equal": (lax.ge, _NUMBERS),
    "divide": (lax.div, _FLOATS),
    "exp": (lax.exp, _FLOATS),
    "log": (lax.log, _FLOATS),
    "sin": (lax.sin, _FLOATS),
    "cos": (lax.cos, _FLOATS),
    "tanh": (lax.tanh, _FLOATS),
    "negative": (lax.neg, "if"),
    "logical_and": (lax.bitwise_and, _TRUTHS),
    "logical_or": (lax.bitwise_or, _TRUTHS),
    "logical_not": (lax.bitwise_not, _TRUTHS),
}
"""By op, its primitive and the kinds of dtypes for which it is one."""


def primitive(name: str, values: Sequence[Any]) -> Callable[..., Any] | None:
    """Returns what computes an op of these values by its primitive; None if it takes more than that."""
    if name == "where":
        return _select(values)
    entry = PRIMITIVES.get(name)
    if entry is None:
        return None
    function, kinds = entry
    arrays = [value for value in values if isinstance(value, jax.Array)]
    if not arrays or not (kind := _kind(arrays)) or kind not in kinds:
        return None
    if len(arrays) == len(values):
        return function
    if arrays[0].weak_type:
        return None
    dtype = np.dtype(arrays[0].dtype)
    if not all(_fits(value, arrays[0].shape, dtype) for value in values):
        return None
    convert = dtype.type
    return lambda *args: function(*[convert(value) if value.__class__ in _KINDS else value for value in args])


_KINDS: dict[Any, str] = {int: "if", float: "f"}


def _kind(arrays: Sequence[Any]) -> str:
    """Returns the kind of the arrays' dtype; empty if their types differ, or it has more than four bytes."""
    first = arrays[0]
    shape, weak = first.shape, first.weak_type
    dtype: Any = first.dtype
    same = all(array.shape == shape and array.dtype == dtype and array.weak_type == weak for array in arrays[1:])
    return cast("str", dtype.kind) if same and dtype.kind in "biuf" and dtype.itemsize <= 4 else ""


def _fits(value: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> bool:
    """Returns True for arrays of a type, and for Python numbers that become one of its dtype."""
    if isinstance(value, jax.Array):
        return True
    if type(value) is np.ndarray:
        return bool(value.shape == shape and value.dtype == dtype)
    fits = value.__class__ is not int or -(2**31) <= value < 2**31
    return fits and dtype.itemsize == 4 and dtype.kind in _KINDS.get(value.__class__, "")


def _select(values: Sequence[Any]) -> Callable[..., Any] | None:
    if not all(isinstance(value, jax.Array) for value in values):
        return None
    condition, *cases = values
    if condition.dtype != np.bool_ or condition.shape not in ((), cases[0].shape) or not _kind(cases):
        return None
    return lax.select


# Detection of the ops that produce NaN and infinities.

_TYPES = (TensorType((), np.dtype(np.bool_)), TensorType((3,), np.dtype(np.int32)))


def _bad_values(*values: Any, num_given: int) -> tuple[Any, Any]:
    inputs, outputs = values[:num_given], values[num_given:]
    no_nan = _all(~jnp.isnan(value).any() for value in inputs)
    finite = _all(jnp.isfinite(value).all() for value in inputs)
    any_bad = jnp.bool_(False)
    report = jnp.zeros(3, jnp.int32)
    for index, value in reversed([*enumerate(outputs)]):
        nans = jnp.isnan(value).sum(dtype=jnp.int32)
        infinities = jnp.isinf(value).sum(dtype=jnp.int32)
        bad = ((nans > 0) & no_nan) | ((infinities > 0) & finite)
        counts = jnp.stack([jnp.int32(index), nans, infinities])
        report = counts if len(outputs) == 1 else jnp.where(bad, counts, report)
        any_bad = any_bad | bad
    return any_bad, report


def _all(conditions: Any) -> Any:
    return reduce(jnp.logical_and, conditions, jnp.bool_(True))


def _types(types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
    del types, attrs, regions
    return _TYPES


BAD_VALUES = define_op(
    "bad_values",
    impl=_bad_values,
    infer=_types,
    takes_open=True,
    params=("*values",),
    differentiable=False,
    doc="The first output with a NaN or an infinity that no input has, and the counts of both.",
)
