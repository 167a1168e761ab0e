"""One of several values, by what tensors hold: ``None`` or a tensor, one of three strings, one of two functions.

``found = None`` before a loop, and ``found = x`` in a branch of it, leave a name that holds the one or the other. The
program cannot hold either, but it can hold both, and a number that says which of them counts: a :class:`Choice`. That
is a structure of tensors and Python values, so branches merge it and loops carry it as they do any value.

What Python code does with it is done with the value that counts: :func:`use` traces a branch for each. Where a branch
was asked for already (``if found is None``) the number is known inside it, and no further one is needed.
"""

from __future__ import annotations

import operator
import types
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from functools import partial, reduce, wraps
from typing import Any, ClassVar, NoReturn, TypeVar, cast

from graphc.compiler.autograph.values.control import control
from graphc.compiler.autograph.values.deferred import RAISED, Deferred
from graphc.compiler.autograph.values.facts import known_of, note_condition
from graphc.compiler.autograph.values.number import SymbolicNumber
from graphc.compiler.autograph.values.protocol import alternatives, refuses, settled
from graphc.compiler.autograph.values.python_object import users_method
from graphc.compiler.base import nest, with_article
from graphc.compiler.base.errors import GraphcError, UnimplementedError
from graphc.compiler.core import SymbolicTensor, apply, operand
from graphc.compiler.ir import OPS
from graphc.compiler.tracing import context

__all__ = [
    "Choice",
    "ask",
    "changing",
    "choice_in",
    "decide",
    "for_each",
    "holds_symbols",
    "is_simple",
    "note_store",
    "over_choices",
    "settled",
    "use",
]


@refuses(
    {
        "__bool__": "the truth",
        "__call__": "a call by Python itself",
        "__getitem__": "an item",
        "__hash__": "a key of a dict or an element of a set, as the use",
        "__iter__": "a loop over the items",
        "__len__": "the length",
        **dict.fromkeys(("__eq__", "__ge__", "__gt__", "__le__", "__lt__"), "a comparison by Python itself"),
    }
)
@dataclass(frozen=True, eq=False, repr=False)
class Choice(Deferred):
    """One of several values.

    Attributes:
      which: its place among them: an int, or an integer scalar.
      options: the values, a tuple; tensors among them hold anything where they do not count.
    """

    __graphc_choice__: ClassVar[bool] = True

    which: Any
    options: Any

    def make(self) -> Any:
        """Returns the value that counts."""
        return self.options[int(self.which)]

    def alternatives(self) -> tuple[Any, ...]:
        """Returns the values."""
        return self.options

    def settled(self) -> Any:
        """Returns the one value that it may still be; itself if there are several."""
        left = self.left
        return self.options[left[0]] if len(left) == 1 else self

    def condition(self, test: Callable[[Any], Any]) -> Any:
        """Returns whether the value that counts is true."""
        return decide(self, test)

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
            f"{use} of a value that is {self.describe()}, by what tensors hold, is not followed; compare it "
            "(`is None`, `==`), and use it in the branches of an `if`"
        )
        raise error if context.trace is None else context.trace.refuse(error)

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):  # copy and the like probe for special names
            raise AttributeError(name)
        self.refuse(f"the attribute {name!r}")

    def __repr__(self) -> str:
        return f"<one of several values: {self.describe()}>"

    def describe(self) -> str:
        """Returns the values, for messages."""
        return " or ".join(dict.fromkeys(_short(value) for value in self.options))


def _short(value: Any) -> str:
    if isinstance(value, SymbolicTensor):
        return f"a tensor {value.type}"
    text = repr(value)
    return text if len(text) < 60 else with_article(type(value).__name__)


@operand.register(Choice)
def _as_operand(value: Choice) -> Any:
    return ask(value, operand)


def choice_in(value: Any) -> Choice | None:
    """Returns a value that is one of several and part of a value; None if there is none."""
    if isinstance(value, Deferred):
        return cast("Choice", value) if alternatives(value) is not None else None
    parts = nest.children(value)
    return None if parts is None else next((found for part in parts[1] if (found := choice_in(part)) is not None), None)


def use(value: Any, function: Callable[[Any], Any]) -> Any:
    """Returns what a function gives for a value; of a choice, for the one that counts."""
    if alternatives(value) is None:
        return function(value)
    left = value.left
    if len(left) == 1:
        return function(value.options[left[0]])
    first = left[0]
    # In the false branch `left` is without the first, so the recursion ends.
    return control.if_exp(
        value.is_among((first,)), lambda: function(value.options[first]), lambda: use(value, function)
    )


def ask(value: Any, question: Callable[[Any], Any]) -> Any:
    """As :func:`use`, for an operator, an attribute or an item, for which Python asks the value.

    Where the value is ``None``, a string or the like, an answer such as ``TypeError`` is what eager code would get.
    """

    def asked(one: Any) -> Any:
        try:
            return question(one)
        except (AttributeError, TypeError, ValueError) as error:
            # An error of Python's own is noted here; one that the user's code raised (RAISED) is noted already.
            if is_simple(one) and not isinstance(error, GraphcError) and not hasattr(error, RAISED):
                control.note_raise(error)
            raise

    return use(value, asked)


Question = Callable[["Choice", Callable[[Any], Any]], Any]
Operator = TypeVar("Operator", bound=Callable[..., Any])


def for_each(function: Callable[..., Any], question_of: Callable[[int | str], Question | None]) -> Callable[..., Any]:
    """Returns a function that does for each value of the choices among its arguments what it does for one.

    Args:
      function: does it for one.
      question_of: returns, by an argument's place or name, how a choice is asked there: :func:`use`, :func:`ask` or
        :func:`decide`; None to leave it as it is.
    """

    def asked(*args: Any, **kwargs: Any) -> Any:
        for place, value in enumerate(args):
            if alternatives(value) is not None and (question := question_of(place)) is not None:
                return question(value, lambda one: asked(*args[:place], one, *args[place + 1 :], **kwargs))  # noqa: B023
        for name, value in kwargs.items():
            if alternatives(value) is not None and (question := question_of(name)) is not None:
                return question(value, lambda one: asked(*args, **{**kwargs, name: one}))  # noqa: B023
        return function(*args, **kwargs)

    return asked


def over_choices(*given: Question | None) -> Callable[[Operator], Operator]:
    """Makes an operator do for each value of a choice what it does for one.

    Args:
      *given: for each operand how a choice is asked there, as for :func:`for_each`; None for an operand that is never
        one.
    """
    questions = dict[int | str, Question | None](enumerate(given))
    return lambda operator: cast("Operator", wraps(operator)(for_each(operator, questions.get)))


def is_simple(value: Any) -> bool:
    """Returns True if a value is one that Python compares, and finds the attributes of, by itself."""
    if isinstance(value, Enum):
        return users_method(value, "__eq__") is None  # else Python compares members by identity
    return value is None or type(value) in (bytes, str, type)  # exactly: a subclass may have the user's __eq__


def decide(value: Any, test: Callable[[Any], Any]) -> Any:
    """As :func:`use`, for a test, which changes nothing, so all values are tested where Python knows the answer."""
    if alternatives(value) is None:
        return test(value)
    answers = {place: test(value.options[place]) for place in value.left}
    if all(isinstance(answer, bool) for answer in answers.values()):
        return value.is_among(place for place, answer in answers.items() if answer)
    return use(value, test)


# Notes which objects were given tensors of a trace to keep, so that the trace can look at its end which are left.


def holds_symbols(value: Any) -> bool:
    """Returns True if the value is a tensor without a value, or a container of such."""
    return isinstance(value, SymbolicTensor) or any(isinstance(leaf, SymbolicTensor) for leaf in nest.flatten(value)[0])


def note_store(owner: Any, what: str) -> None:
    """Tells the trace that ``owner`` is about to hold a tensor of it."""
    trace = context.trace
    if trace is not None and id(owner) not in trace.root.stores:  # the first note has what was there before the trace
        trace.note_store(owner, what, _restorer(owner))


def _restorer(owner: Any) -> Callable[[Any], None]:
    """Returns what gives an object the attributes, or a container the items, that ``owner`` has now."""
    if isinstance(owner, list | bytearray):
        items = cast("list[Any]", owner[:])
        return lambda target: operator.setitem(target, slice(None), items)
    if isinstance(owner, dict | set):
        contents = cast("Any", owner).copy()
        return partial(_refill, contents)
    return partial(_refill_attributes, dict(getattr(owner, "__dict__", {})))


def _refill(contents: Any, target: Any) -> None:
    target.clear()
    target.update(contents)


def _refill_attributes(attributes: dict[str, Any], target: Any) -> None:
    if hasattr(target, "__dict__"):
        vars(target).clear()  # past a __setattr__ or __delattr__ of the user's
        vars(target).update(attributes)


def changing(method: Callable[..., Any], owner: Any) -> Callable[..., Any]:
    """Returns a method that changes ``owner``, a container, with a note of it if it is given tensors."""
    if context.trace is None or isinstance(owner, types.GeneratorType):
        return method
    name = getattr(method, "__name__", "a method")

    def noted(*args: Any, **kwargs: Any) -> Any:
        if holds_symbols((args, kwargs)):
            note_store(owner, f"the call of {type(owner).__name__}.{name}")
        return method(*args, **kwargs)

    return noted
