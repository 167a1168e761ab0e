"""``if``, ternaries, ``and``, ``or`` and ``not``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from graphc.autograph.operators.calls import call_special
from graphc.autograph.operators.merging import Meet, Meeting, is_tensor, leaf_type, to_tensors
from graphc.autograph.operators.undefined import Undefined
from graphc.base import nest
from graphc.base.errors import InvalidArgumentError
from graphc.core import Region, SymbolicTensor, Tensor, Trace, apply, context, trace_scope
from graphc.ir import OPS, Attrs
from graphc.ops import BOOL, COND, emit_branches

__all__ = [
    "and_",
    "if_exp",
    "if_stmt",
    "is_symbolic_condition",
    "not_",
    "or_",
    "predicate",
    "truth",
]

Thunk = Callable[[], Any]
_SIDES = ("when the condition is true", "when it is false")


def is_symbolic_condition(value: Any) -> bool:
    """Whether a condition's value is not known while the function is traced."""
    return isinstance(value, SymbolicTensor)


def truth(value: Any) -> bool:
    """Whether a Python value counts as true; a method of the user's that says so is a call."""
    if isinstance(value, bool):
        return value
    found, result = call_special(value, "__bool__", "__len__")
    return bool(result if found else value)


def predicate(trace: Trace, value: SymbolicTensor) -> SymbolicTensor:
    """A condition as a boolean scalar.

    Raises:
      InvalidArgumentError: the tensor has more than one element, so that its truth is ambiguous (as in NumPy).
    """
    if value.size != 1:
        error = InvalidArgumentError(
            f"the truth of a tensor with {value.size} elements ({value.type}, {value.made_at()}) is ambiguous; "
            "use gx.any or gx.all"
        )
        raise trace.refuse(error)
    if value.shape:
        value = apply(OPS["reshape"], (value,), Attrs(shape=()))
    if value.dtype.kind != "b" or value.type.weak:
        value = apply(OPS["astype"], (value,), Attrs(dtype=BOOL))
    return trace.lift(value)


def if_stmt(
    condition: Any,
    body: Callable[[], None],
    orelse: Callable[[], None],
    get_state: Callable[[], tuple[Any, ...]],
    set_state: Callable[[tuple[Any, ...]], None],
    names: Sequence[str],
) -> None:
    """An ``if`` statement: Python's own when the condition is known, else a cond.

    Args:
      condition: the value of the test.
      body: runs the statements of the true branch.
      orelse: runs the statements of the false branch.
      get_state: the values of ``names``.
      set_state: binds ``names``.
      names: what the branches may bind and later code reads.
    """
    if not is_symbolic_condition(condition):
        if truth(condition):
            body()
        else:
            orelse()
        return
    initial = get_state()

    def branch(statements: Callable[[], None]) -> Callable[[], tuple[Any, ...]]:
        def run() -> tuple[Any, ...]:
            for cell in getattr(get_state, "__closure__", None) or ():
                _region().own(cell)
            set_state(initial)
            statements()
            return get_state()

        return run

    set_state(tuple(_cond(condition, branch(body), branch(orelse), names)))


def _region() -> Region:
    region = context.trace
    assert isinstance(region, Region)
    return region


def if_exp(condition: Any, true: Thunk, false: Thunk) -> Any:
    """A conditional expression."""
    if not is_symbolic_condition(condition):
        return true() if truth(condition) else false()
    return _cond(condition, lambda: (true(),), lambda: (false(),), ("the conditional expression",))[0]


def _cond(condition: SymbolicTensor, true: Thunk, false: Thunk, names: Sequence[str]) -> list[Any]:
    """Traces both branches, and merges what each leaves in ``names``."""
    trace = context.trace
    assert trace is not None
    selector = predicate(trace, condition)
    regions = (Region(trace, "the true branch of an if"), Region(trace, "the false branch of an if"))
    states: list[Sequence[Any]] = []
    for region, thunk in zip(regions, (true, false), strict=True):
        with trace_scope(region):
            states.append(thunk())
    merged: list[Any] = []
    tensors: tuple[list[SymbolicTensor], list[SymbolicTensor]] = ([], [])
    for name, first, second in zip(names, *states, strict=True):
        found = _merge(trace, regions, tensors, name, first, second)
        merged.append(found)
    outputs = iter(emit_branches(COND, selector, regions, tensors) if tensors[0] or _writes(regions) else ())
    return [_fill(found, outputs) for found in merged]


def _writes(regions: Sequence[Region]) -> bool:
    return any(region.written() for region in regions)


def _merge(
    trace: Trace,
    regions: Sequence[Region],
    tensors: Sequence[list[SymbolicTensor]],
    name: str,
    first: Any,
    second: Any,
) -> Meeting | Undefined | Any:
    """Merges one name; its tensors are added to both branches' outputs."""
    if first is second:
        return _Kept(first)
    unbound = [isinstance(value, Undefined) for value in (first, second)]
    if any(unbound):
        filler = next(value for value in (first, second) if isinstance(value, Undefined))
        if all(unbound) or not filler.filler:
            bound = "true" if not unbound[0] else "false"
            return _Kept(Undefined(name, f"it is bound only in the {bound} branch of an if on a tensor")
                         if not all(unbound) else first)  # fmt: skip
        # A return value that no return has set yet is never looked at: zeros of the other branch's type stand for it.
        if unbound[0]:
            first = _zeros_like(regions[0], second)
        else:
            second = _zeros_like(regions[1], first)
    found = Meet(_SIDES, trace.refuse).values(name, first, second)
    for region, results, value in zip(regions, tensors, (first, second), strict=True):
        with trace_scope(region):
            results.extend(to_tensors(region, nest.flatten(value)[0], found.leaves))
    return found


def _zeros_like(region: Region, value: Any) -> Any:
    def zeros(leaf: Any) -> Any:
        if not is_tensor(leaf):
            return leaf
        with trace_scope(region):
            type = leaf_type(leaf)
            return region.apply(OPS["zeros"], (), Attrs(shape=type.shape, dtype=type.dtype))[0]

    return nest.map_structure(zeros, value)


class _Kept:
    """A value that is the same on both sides."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


def _fill(found: Any, outputs: Any) -> Any:
    if isinstance(found, _Kept):
        return found.value
    leaves = [kept if type is None else next(outputs) for kept, type in zip(found.kept, found.leaves, strict=True)]
    return nest.unflatten(found.structure, leaves)


def and_(first: Thunk, *others: Thunk) -> Any:
    """``a and b``: the first value that is false, or the last."""
    value = first()
    for index, other in enumerate(others):
        if is_symbolic_condition(value):
            return _logical("logical_and", value, partial(and_, *others[index:]))
        if not truth(value):
            return value
        value = other()
    return value


def or_(first: Thunk, *others: Thunk) -> Any:
    """``a or b``: the first value that is true, or the last."""
    value = first()
    for index, other in enumerate(others):
        if is_symbolic_condition(value):
            return _logical("logical_or", value, partial(or_, *others[index:]))
        if truth(value):
            return value
        value = other()
    return value


def _logical(op: str, first: SymbolicTensor, second: Thunk) -> Any:
    """``first op second()`` where ``first`` is symbolic.

    The second operand is evaluated only if the first one asks for it. Where both are boolean scalars and evaluating the
    second changes no variable, that cannot be told from evaluating both, which is cheaper than a branch.
    """
    trace = context.trace
    assert trace is not None
    probe = Region(trace, f"the second operand of {op.removeprefix('logical_')!r}")
    with trace_scope(probe):
        value = second()
    if first.type.dtype.kind == "b" and not first.shape and not probe.written() and _is_boolean_scalar(value):
        return apply(OPS[op], (first, second()))
    if op == "logical_and":
        return if_exp(first, second, lambda: first)
    return if_exp(first, lambda: first, second)


def _is_boolean_scalar(value: Any) -> bool:
    return isinstance(value, bool) or (isinstance(value, Tensor) and not value.shape and value.dtype.kind == "b")


def not_(value: Any) -> Any:
    """``not a``."""
    if not is_symbolic_condition(value):
        return not truth(value)
    trace = context.trace
    assert trace is not None
    return apply(OPS["logical_not"], (predicate(trace, value),))
