"""One of several values, by what tensors hold: ``None`` or a tensor, one of three strings, one of two functions.

``found = None`` before a loop, and ``found = x`` in a branch of it, leave a name that holds the one or the other. The
program cannot hold either, but it can hold both, and a number that says which of them counts: a :class:`Choice`. That
is a structure of tensors and Python values, so branches merge it and loops carry it as they do any value.

What Python code does with it is done with the value that counts: :func:`use` traces a branch for each. Where a branch
was asked for already (``if found is None``) the number is known inside it, and no further one is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from functools import reduce, wraps
from typing import Any, NoReturn

from graphc.autograph.values.control import if_exp, note_raise
from graphc.autograph.values.deferred import RAISED, Deferred
from graphc.autograph.values.facts import known_of, note_condition
from graphc.autograph.values.number import SymbolicNumber
from graphc.autograph.values.python_object import users_method
from graphc.base import nest
from graphc.base.errors import GraphcError, UnimplementedError
from graphc.core import SymbolicTensor, apply, operand
from graphc.ir import OPS
from graphc.tracing import context

__all__ = [
    "Choice",
    "ask",
    "choice_in",
    "decide",
    "is_simple",
    "over_choices",
    "settled",
    "use",
]


@dataclass(frozen=True, eq=False, repr=False)
class Choice(Deferred):
    """One of several values.

    Attributes:
      which: its place among them: an int, or an integer scalar.
      options: the values, a tuple; tensors among them hold anything where they do not count.
    """

    which: Any
    options: Any

    def make(self) -> Any:
        """Returns the value that counts."""
        return self.options[int(self.which)]

    @property
    def left(self) -> list[int]:
        """The places of the values that it may be, as far as is known where the trace stands."""
        if not isinstance(self.which, SymbolicTensor):
            return [int(self.which)]
        possible = frozenset(range(len(self.options)))
        known = known_of(self.which)
        if known is not None:
            possible &= known
        return sorted(possible) or list(range(len(self.options)))  # code that is never reached

    def is_among(self, places: Iterable[int]) -> Any:
        """Returns whether it is one of some of its values: a bool, or a number that depends on tensors."""
        left, wanted = frozenset(self.left), frozenset(places)
        found, rest = left & wanted, left - wanted
        if not found or not rest:
            return bool(found)
        few, op, join = (
            (found, "equal", "logical_or") if len(found) <= len(rest) else (rest, "not_equal", "logical_and")
        )
        tests = [apply(OPS[op], (self.which, place)) for place in sorted(few)]
        test = reduce(lambda one, other: apply(OPS[join], (one, other)), tests)
        note_condition(test, self.which, found, rest)
        return SymbolicNumber(test, bool)

    def refuse(self, use: str) -> NoReturn:
        """Says that a use of it is not followed."""
        error = UnimplementedError(
            f"{use} of a value that is {self!r}, by what tensors hold, is not followed; compare it (`is None`, `==`), "
            "and use it in the branches of an `if`"
        )
        raise error if context.trace is None else context.trace.refuse(error)

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        self.refuse(f"the attribute {name!r}")

    def __bool__(self) -> NoReturn:
        self.refuse("the truth")

    def __iter__(self) -> NoReturn:
        self.refuse("a loop over the items")

    def __len__(self) -> NoReturn:
        self.refuse("the length")

    def __hash__(self) -> int:
        self.refuse("a key of a dict or an element of a set, as the use")

    def __eq__(self, other: object) -> NoReturn:
        self.refuse("a comparison by Python itself")

    def __lt__(self, other: object) -> NoReturn:
        self.refuse("a comparison by Python itself")

    __le__ = __gt__ = __ge__ = __lt__

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Refused: calls go through the operators."""
        self.refuse("a call by Python itself")

    def __getitem__(self, index: Any) -> NoReturn:
        self.refuse("an item")

    def __repr__(self) -> str:
        return " or ".join(dict.fromkeys(_short(value) for value in self.options))


def _short(value: Any) -> str:
    if isinstance(value, SymbolicTensor):
        return f"a tensor {value.type}"
    text = repr(value)
    return text if len(text) < 60 else f"a {type(value).__name__}"


@operand.register(Choice)
def _as_operand(value: Choice) -> Any:
    return ask(value, operand)


def settled(value: Any) -> Any:
    """Returns the one value that a choice may still be where the trace stands; any other value as it is."""
    return value.options[value.left[0]] if isinstance(value, Choice) and len(value.left) == 1 else value


def choice_in(value: Any) -> Choice | None:
    """Returns a value that is one of several and part of a value; None if there is none."""
    if isinstance(value, Choice | Deferred):
        return value if isinstance(value, Choice) else None
    parts = nest.children(value)
    return None if parts is None else next((found for part in parts[1] if (found := choice_in(part)) is not None), None)


def use(value: Choice, function: Callable[[Any], Any]) -> Any:
    """Returns what a function gives for the value that counts."""
    left = value.left
    if len(left) == 1:
        return function(value.options[left[0]])
    first = left[0]
    return if_exp(value.is_among((first,)), lambda: function(value.options[first]), lambda: use(value, function))


def ask(value: Choice, question: Callable[[Any], Any]) -> Any:
    """Asks the value that counts for an operator, an attribute or an item, as Python does.

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


Question = Callable[["Choice", Callable[[Any], Any]], Any]


def over_choices(*given: Question | None) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Makes an operator that does for each value of a choice what it does for one.

    Args:
      *given: for each operand how a choice is asked there: :func:`use`, :func:`ask` or :func:`decide`; None for an
        operand that is never one.
    """

    def decorate(operator: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(operator)
        def asked(*operands: Any, **options: Any) -> Any:
            for place, (value, question) in enumerate(zip(operands, given, strict=False)):
                if question is not None and isinstance(value, Choice):
                    return question(value, lambda one: asked(*operands[:place], one, *operands[place + 1 :], **options))  # noqa: B023
            return operator(*operands, **options)

        return asked

    return decorate


def is_simple(value: Any) -> bool:
    """Returns True if a value is one that Python compares, and finds the attributes of, by itself."""
    if isinstance(value, Enum):
        return users_method(value, "__eq__") is None
    return value is None or type(value) in (bytes, str, type)


def decide(value: Choice, test: Callable[[Any], Any]) -> Any:
    """Tests the value that counts; a test changes nothing, so all values are tested where Python knows the answer."""
    answers = {place: test(value.options[place]) for place in value.left}
    if all(isinstance(answer, bool) for answer in answers.values()):
        return value.is_among(place for place, answer in answers.items() if answer)
    return use(value, test)
