"""Tells which class a tensor without a value has in plain Python: a tensor, or a number that depends on tensors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

import numpy as np

from graphc.compiler.autograph.values.control import control
from graphc.compiler.autograph.values.course_number import CourseNumber
from graphc.compiler.autograph.values.index import is_symbolic
from graphc.compiler.autograph.values.join import describe
from graphc.compiler.autograph.values.number import Kinds, kind_of, kinds_of
from graphc.compiler.base import nest
from graphc.compiler.base.errors import GraphcError, UnimplementedError
from graphc.compiler.core import SymbolicTensor
from graphc.compiler.ir import Value
from graphc.compiler.tracing import Alias, trace_of

__all__ = ["check_shown", "examples", "is_instance", "stands_for_bool"]

_EXAMPLES: dict[str, tuple[Any, ...]] = {"b": (True,), "i": (1,), "f": (1.0, 1), "c": (1j, 1.0, 1)}
"""By the kind of a tensor's dtype, an example of each Python number that may have become such a tensor."""


_KINDS: dict[str, type[Any]] = {"b": bool, "i": int, "u": int, "f": float, "V": float, "c": complex}


def kinds_of_mixed(value: Any) -> Kinds:
    """Returns the types of the numbers that a tensor may be in plain Python where it may be a tensor, too."""
    found = _numbers_behind(value)
    computed = isinstance(value, SymbolicTensor) and not value.shape and kind_of(value) is None
    if found or not computed or value.raw.node is None or value.raw.node.op.name not in _ARITHMETIC:
        return found
    tensors = trace_of(value).root.aliases.tensors()
    return _mixed_before(value.raw, {one.raw: _numbers_behind(one) for one in tensors})


def _numbers_behind(value: Any) -> Kinds:
    return frozenset[Any]().union(*[alias.numbers for _, alias in _behind(value) if alias is not None])


_ARITHMETIC = frozenset(
    ["abs", "add", "divide", "floor_divide", "multiply", "negative", "pow", "remainder", "subtract"]
)


def _mixed_before(value: Value, mixed: Mapping[Value, Kinds]) -> Kinds:
    """Returns the number types that a result of arithmetic may have, if all its operands may be numbers."""
    node = value.node
    if not mixed or node is None or node.op.name not in _ARITHMETIC or value.type.shape:
        return frozenset()
    kinds = [mixed.get(given) or _mixed_before(given, mixed) for given in node.inputs]
    numbers = all(found or given.type.weak for found, given in zip(kinds, node.inputs, strict=True))
    return frozenset[Any]().union(*kinds) if numbers else frozenset()


def _behind(value: Any, *, numbers: bool = False) -> Iterator[tuple[Any, Alias | None]]:
    """Yields a scalar and what it stands for, each once, with what is known of it.

    Values that are joined again and again, as in ``a, b = b, a`` in a branch, stand for each other.

    Args:
      numbers: whether numbers that depend on tensors, and what they stand for, are among them.
    """
    waiting, seen = [value], set[int]()
    for link in waiting:
        if id(link) in seen or not isinstance(link, SymbolicTensor) or link.shape:
            continue
        if kind_of(link) is not None and not numbers:
            continue
        seen.add(id(link))
        alias = trace_of(link).root.aliases.get(link)
        yield link, alias
        waiting.extend(() if alias is None else alias.sources or ())


def check_shown(value: Any, use: str, *, as_text: bool) -> None:
    """Refuses what shows whether a value is a number or a tensor, if it may be either.

    Args:
      use: what shows it, for the message.
      as_text: whether only the text that ``str`` makes is seen, which is the same for both if they are of one kind.
    """
    if isinstance(value, BaseException):
        # The text of one argument is its own, except for a key; that of several shows each by repr.
        alone = as_text and len(value.args) == 1 and not isinstance(value, KeyError)
        for part in nest.flatten(value.args)[0]:
            check_shown(part, use, as_text=alone and part is value.args[0])
        for part in nest.flatten(value.__dict__)[0]:
            check_shown(part, use, as_text=True)  # which its __str__ may show
        return
    if isinstance(value, CourseNumber) and value.kind is float:
        value.give_up(use)  # the program holds it in fewer bits
    kinds = kinds_of_mixed(value)
    alike = all(
        np.dtype(cast("Any", kind)).kind == value.dtype.kind
        if issubclass(kind, np.generic)
        else kind is _KINDS.get(value.dtype.kind)
        for kind in kinds
    )
    if not kinds or (as_text and alike):
        return
    names = " or ".join(sorted(kind.__name__ for kind in kinds))
    error = UnimplementedError(
        f"{use} shows whether {describe(value)} is a tensor or, as in plain Python on some paths, a number ({names}); "
        "make it a tensor of one dtype where it is first bound (gx.asarray(1.0)), or show int() or float() of it"
    )
    raise value.trace.refuse(error)


def examples(value: Any) -> tuple[Any, ...]:
    """Returns what an object may be in plain Python: the object, numbers, or both."""
    if is_symbolic(value) and (kinds := kinds_of(value)) is not None:
        return tuple([kind(1) for kind in kinds])
    if not isinstance(value, SymbolicTensor) or value.shape:
        return (value,)
    mixed = kinds_of_mixed(value)
    if mixed:
        return (value, *[kind(1) for kind in mixed])
    numbers = _EXAMPLES.get(value.dtype.kind, ())
    if _is_number(value):
        return numbers
    return (value, *numbers) if _may_be_number(value) else (value,)


def _is_number(value: Any) -> bool:
    """Returns True if the object is one of several numbers: branches on tensors have bound one of them to a name."""
    # What is held stands for a variable at the start of an iteration, which may hold something else in the next.
    return all(
        alias is not None
        and not alias.held
        and alias.sources is not None
        and all(isinstance(source, SymbolicTensor) for source in alias.sources)
        for _, alias in _behind(value, numbers=True)
    )


def _may_be_number(value: SymbolicTensor) -> bool:
    for link, alias in _behind(value, numbers=True):
        sources = None if alias is None else alias.sources
        if sources is None and _is_doubtful(link.raw, link):
            return True
        if sources is not None and (link.type.weak or not any(isinstance(one, SymbolicTensor) for one in sources)):
            return True
    return False


def _is_doubtful(value: Value, tensor: SymbolicTensor) -> bool:
    """Returns True if a value was computed of numbers only, as far as the graph tells."""
    # JAX has no weak bool, so only the inputs of a truth value tell that it was made of numbers.
    if value.type.weak or value.type.shape or value.type.dtype.kind != "b":
        return value.type.weak
    if value.node is None:
        return tensor.trace.parent is not None  # what an input of a branch or a loop stands for is not known here
    inputs = value.node.inputs
    return bool(value.node.regions) or (bool(inputs) and all(_is_doubtful(part, tensor) for part in inputs))


def _refuse(value: SymbolicTensor, kind: str) -> GraphcError:
    error = UnimplementedError(
        f"whether {describe(value)} is {kind} is not known while the function is traced: it was computed from Python "
        "numbers, so that in plain Python it may be a number or a tensor; compare values instead of kinds, or make it "
        "a tensor with gx.asarray where it is first bound"
    )
    return value.trace.refuse(error)


def is_instance(value: Any, kind: type[Any]) -> bool:
    """``isinstance(value, kind)``; what is a number in plain Python counts as one.

    Raises:
      UnimplementedError: it cannot be told whether the value would be a number or a tensor.
    """
    answers = {bool(_asked(example, kind)) for example in examples(value)}
    if len(answers) > 1:
        raise _refuse(value, f"of the class {getattr(kind, '__name__', kind)}")
    return answers.pop()


def _asked(example: Any, kind: Any) -> Any:
    # The converted isinstance of a tensor ends up here again.
    return isinstance(example, kind) if isinstance(example, SymbolicTensor) else control.call(isinstance)(example, kind)


def stands_for_bool(value: Any) -> bool:
    """Returns True if an object is ``True`` or ``False`` in plain Python, and which of them depends on tensors.

    Raises:
      UnimplementedError: it cannot be told whether the value would be one of them or a tensor.
    """
    if not isinstance(value, SymbolicTensor):
        return False
    answers = {isinstance(example, bool) for example in examples(value)}
    if len(answers) > 1:
        raise _refuse(value, "True or False itself")
    return answers.pop()
