"""One of several values, by what tensors hold: ``None`` or a tensor, one of three strings, one of two functions.

``found = None`` before a loop, and ``found = x`` in a branch of it, leave a name that holds the one or the other. The
program cannot hold either, but it can hold both, and a number that says which of them counts: a :class:`OneOf`. That
is a structure of tensors and Python values, so branches merge it and loops carry it as they do any value.

What Python code does with it is done with the value that counts: :func:`use` traces a branch for each. Where a branch
was asked for already (``if found is None``) the number is known inside it, and no further one is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from functools import reduce
from types import MappingProxyType
from typing import Any, NoReturn
from weakref import WeakKeyDictionary

from graphc.autograph.operators.calls.watch import operator_method
from graphc.autograph.operators.failures.failures import note_raise
from graphc.autograph.operators.host.late_values import RAISED, View
from graphc.autograph.operators.numbers.symbolic_number import SymbolicNumber
from graphc.base.errors import GraphcError, UnimplementedError
from graphc.core import SymbolicTensor, Trace, apply, context, current_trace, operand
from graphc.ir import OPS, Value

__all__ = [
    "OneOf",
    "ask",
    "assume",
    "assuming",
    "both",
    "decide",
    "is_simple",
    "opposite",
    "register_conditional",
    "use",
]

Facts = Mapping[Value, frozenset[int]]
"""By the numbers of values that are one of several, which of them these may be."""

_NO_FACTS: Facts = MappingProxyType({})
_conditions: WeakKeyDictionary[Value, tuple[Facts, Facts]] = WeakKeyDictionary()
_assumed: WeakKeyDictionary[Trace, dict[Value, frozenset[int]]] = WeakKeyDictionary()
_conditional: list[Callable[[Any, Callable[[], Any], Callable[[], Any]], Any]] = []


def register_conditional(if_exp: Callable[[Any, Callable[[], Any], Callable[[], Any]], Any]) -> None:
    """Says how a conditional expression is traced."""
    _conditional.append(if_exp)


@dataclass(frozen=True, eq=False, repr=False)
class OneOf(View):
    """One of several values.

    Attributes:
      which: its place among them: an int, or an integer scalar.
      options: the values, a tuple; tensors among them hold anything where they do not count.
    """

    which: Any
    options: Any

    def make(self) -> Any:
        """The value that counts."""
        return self.options[int(self.which)]

    @property
    def left(self) -> list[int]:
        """The places of the values that it may be, as far as is known where the trace stands."""
        if not isinstance(self.which, SymbolicTensor):
            return [int(self.which)]
        possible = frozenset(range(len(self.options)))
        trace = context.trace
        while trace is not None:
            possible &= _assumed.get(trace, {}).get(self.which.raw, possible)
            trace = trace.parent
        return sorted(possible) or list(range(len(self.options)))  # code that is never reached

    def is_among(self, places: Iterable[int]) -> Any:
        """Whether it is one of some of its values: a bool, or a number that depends on tensors."""
        left, wanted = frozenset(self.left), frozenset(places)
        found, rest = left & wanted, left - wanted
        if not found or not rest:
            return bool(found)
        few, op, join = (
            (found, "equal", "logical_or") if len(found) <= len(rest) else (rest, "not_equal", "logical_and")
        )
        tests = [apply(OPS[op], (self.which, place)) for place in sorted(few)]
        test = reduce(lambda one, other: apply(OPS[join], (one, other)), tests)
        _conditions[test.raw] = ({self.which.raw: found}, {self.which.raw: rest})
        return SymbolicNumber(test, bool)

    def _refuse(self, use: str) -> NoReturn:
        error = UnimplementedError(
            f"{use} of a value that is {self!r}, by what tensors hold, is not followed; compare it (`is None`, `==`), "
            "and use it in the branches of an `if`"
        )
        raise error if context.trace is None else context.trace.refuse(error)

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        self._refuse(f"the attribute {name!r}")

    def __bool__(self) -> NoReturn:
        self._refuse("the truth")

    def __iter__(self) -> NoReturn:
        self._refuse("a loop over the items")

    def __len__(self) -> NoReturn:
        self._refuse("the length")

    def __hash__(self) -> int:
        self._refuse("a key of a dict or an element of a set, as the use")

    def __eq__(self, other: object) -> NoReturn:
        self._refuse("a comparison by Python itself")

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Refused: calls go through the operators."""
        self._refuse("a call by Python itself")

    def __getitem__(self, index: Any) -> NoReturn:
        self._refuse("an item")

    def __repr__(self) -> str:
        return " or ".join(dict.fromkeys(_short(value) for value in self.options))


def _short(value: Any) -> str:
    if isinstance(value, SymbolicTensor):
        return f"a tensor {value.type}"
    text = repr(value)
    return text if len(text) < 60 else f"a {type(value).__name__}"


@operand.register(OneOf)
def _as_operand(value: OneOf) -> Any:
    return ask(value, operand)


def use(value: OneOf, function: Callable[[Any], Any]) -> Any:
    """What a function gives for the value that counts."""
    left = value.left
    if len(left) == 1:
        return function(value.options[left[0]])
    first = left[0]
    return _conditional[0](
        value.is_among((first,)), lambda: function(value.options[first]), lambda: use(value, function)
    )


def ask(value: OneOf, question: Callable[[Any], Any]) -> Any:
    """What Python answers when it is asked for something of the value that counts: an operator, an attribute, an item.

    Where the value is ``None``, a string or the like, an answer such as ``TypeError`` is what eager code would get.
    """

    def asked(one: Any) -> Any:
        try:
            return question(one)
        except (AttributeError, TypeError, ValueError) as error:
            if is_simple(one) and not isinstance(error, GraphcError) and not hasattr(error, RAISED):
                note_raise(error)
            raise

    return use(value, asked)


def is_simple(value: Any) -> bool:
    """Whether a value is one that Python compares, and finds the attributes of, by itself."""
    if isinstance(value, Enum):
        return operator_method(value, "__eq__") is None
    return value is None or type(value) in (bytes, str, type)


def decide(value: OneOf, test: Callable[[Any], Any]) -> Any:
    """What a test says of the value that counts; it changes nothing, so all are asked where Python knows the answer."""
    answers = {place: test(value.options[place]) for place in value.left}
    if all(isinstance(answer, bool) for answer in answers.values()):
        return value.is_among(place for place, answer in answers.items() if answer)
    return use(value, test)


# --- what is known where a branch was taken


def _facts(condition: Any, truth: bool) -> Facts:
    """What is known where a condition has this truth."""
    if not isinstance(condition, SymbolicTensor):
        return _NO_FACTS
    return _conditions.get(condition.raw, (_NO_FACTS, _NO_FACTS))[0 if truth else 1]


def assume(trace: Trace, condition: Any, truth: bool) -> None:
    """Notes that what a trace holds counts only where a condition has this truth."""
    facts = _facts(condition, truth)
    if facts:
        _assumed[trace] = _joined(_assumed.get(trace, {}), facts)


@contextmanager
def assuming(condition: Any, truth: bool) -> Generator[None]:
    """Inside, what is traced counts only where a condition has this truth."""
    trace = current_trace()
    before = _assumed.get(trace)
    assume(trace, condition, truth)
    try:
        yield
    finally:
        if before is None:
            _assumed.pop(trace, None)
        else:
            _assumed[trace] = before


def _joined(first: Facts, second: Facts) -> dict[Value, frozenset[int]]:
    return {**first, **{key: places & first.get(key, places) for key, places in second.items()}}


def both(result: Any, first: Any, second: Any, truth: bool) -> Any:
    """Notes that a condition has this truth only where two others have; returns it."""
    facts = _joined(_facts(first, truth), _facts(second, truth))
    if facts and isinstance(result, SymbolicTensor):
        _conditions[result.raw] = (facts, _NO_FACTS) if truth else (_NO_FACTS, facts)
    return result


def opposite(result: Any, condition: Any) -> Any:
    """Notes that a condition is the opposite of another; returns it."""
    if isinstance(condition, SymbolicTensor) and isinstance(result, SymbolicTensor):
        found = _conditions.get(condition.raw)
        if found is not None:
            _conditions[result.raw] = (found[1], found[0])
    return result
