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
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import partial, reduce, wraps
from typing import Any, ClassVar, NoReturn, TypeVar, cast

import numpy as np

from graphc.compiler.autograph.values.deferred import RAISED, Deferred, is_deferred
from graphc.compiler.autograph.values.join import is_number, is_tensor, leaf_type, same
from graphc.compiler.autograph.values.kinds import users_method
from graphc.compiler.autograph.values.number import SymbolicNumber, kind_of, known_of, note_condition, number
from graphc.compiler.autograph.values.protocol import alternatives, is_bound, refuses
from graphc.compiler.base import nest, with_article
from graphc.compiler.base.errors import GraphcError, UnimplementedError
from graphc.compiler.core import FUNCTIONS, SymbolicTensor, Tensor, apply, operand, trace_scope
from graphc.compiler.ir import OPS
from graphc.compiler.tracing import MISSING, Region, Trace, context


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
    """One of several values."""

    __graphc_choice__: ClassVar[bool] = True

    which: Any  # its place among them: an int, or an integer scalar
    options: Any  # a tuple; tensors in it hold anything where they do not count

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
        allowed = known_of(self.which)
        if allowed is not None:
            possible &= allowed
        return sorted(possible) or list(range(len(self.options)))  # code that is never reached

    def is_among(self, indices: Iterable[int]) -> Any:
        """Returns whether it is one of some of its values: a bool, or a number that depends on tensors."""
        left, wanted = frozenset(self.left), frozenset(indices)
        included, rest = left & wanted, left - wanted
        if not included or not rest:
            return bool(included)
        few, op, join = (
            (included, "equal", "logical_or") if len(included) <= len(rest) else (rest, "not_equal", "logical_and")
        )
        tests = [apply(OPS[op], (self.which, index)) for index in sorted(few)]
        test = reduce(lambda one, other: apply(OPS[join], (one, other)), tests)
        note_condition(test, self.which, included, rest)
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
    return (
        None if parts is None else next((choice for part in parts[1] if (choice := choice_in(part)) is not None), None)
    )


def use(value: Any, function: Callable[[Any], Any]) -> Any:
    """Returns what a function gives for a value; of a choice, for the one that counts."""
    if alternatives(value) is None:
        return function(value)
    left = value.left
    if len(left) == 1:
        return function(value.options[left[0]])
    from graphc.compiler.autograph.constructs.branches.branch import choose

    first = left[0]
    # In the false branch `left` is without the first, so the recursion ends.
    return choose(value.is_among((first,)), lambda: function(value.options[first]), lambda: use(value, function))


def ask(value: Any, question: Callable[[Any], Any]) -> Any:
    """As :func:`use`, for an operator, an attribute or an item, for which Python asks the value."""
    # Where the value is None, a string or the like, an answer such as TypeError is what eager code would get.
    from graphc.compiler.autograph.constructs.exceptions.failure import note_raise

    def asked(one: Any) -> Any:
        try:
            return question(one)
        except (AttributeError, TypeError, ValueError) as error:
            # An error of Python's own is noted here; one that the user's code raised (RAISED) is noted already.
            if is_simple(one) and not isinstance(error, GraphcError) and not hasattr(error, RAISED):
                note_raise(error)
            raise

    return use(value, asked)


Question = Callable[["Choice", Callable[[Any], Any]], Any]
Operator = TypeVar("Operator", bound=Callable[..., Any])


def for_each(function: Callable[..., Any], question_of: Callable[[int | str], Question | None]) -> Callable[..., Any]:
    """Returns a function that does for each value of the choices among its arguments what ``function`` does for one.

    Args:
      question_of: by an argument's place or name, how to ask a choice there (:func:`use`); None to leave it as it is.
    """

    def asked(*args: Any, **kwargs: Any) -> Any:
        for position, value in enumerate(args):
            if alternatives(value) is not None and (question := question_of(position)) is not None:
                return question(value, lambda one: asked(*args[:position], one, *args[position + 1 :], **kwargs))  # noqa: B023
        for name, value in kwargs.items():
            if alternatives(value) is not None and (question := question_of(name)) is not None:
                return question(value, lambda one: asked(*args, **{**kwargs, name: one}))  # noqa: B023
        return function(*args, **kwargs)

    return asked


def over_choices(*asked: Question | None) -> Callable[[Operator], Operator]:
    """Makes an operator work on each value of a choice; ``asked``: how, by operand; None where it never is one."""
    questions = dict[int | str, Question | None](enumerate(asked))
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
    answers = {index: test(value.options[index]) for index in value.left}
    if all(isinstance(answer, bool) for answer in answers.values()):
        return value.is_among(index for index, answer in answers.items() if answer)
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


# Two values that cannot be one, made two of one form: each one of the same several values.

_MOST = 32
"""A value that would be one of more than this, such as a text that each iteration makes longer, is not followed."""

Pair = tuple[Any, Any]


def holds_choice(value: Any) -> bool:
    """Returns True if a value that is one of several is part of a value."""
    return choice_in(value) is not None


def as_choices(
    first: Any,
    second: Any,
    traces: tuple[Trace, Trace],
    *,
    growing: bool = False,  # the first keeps all that it may be, in its order, and gets the rest of the second
    copies: dict[int, Any] | None = None,  # receives containers by their copies' ids; None: they must stay as they are
    contents: bool = False,  # the values are copies themselves, of what a container holds
) -> Pair:
    """Returns the values of a name on two sides, as choices where they can be joined only so; else as they are."""
    if first is second or not (is_bound(first) and is_bound(second)):
        return first, second
    if alternatives(first) is not None or alternatives(second) is not None:
        return _as_choices(first, second, traces, growing) or (first, second)
    parts, others = nest.children(first), nest.children(second)
    if parts is None or others is None or nest.level(first) != nest.level(second):
        if not is_constant(first, traces[0]) and not is_constant(second, traces[1]):
            return first, second
        return (None if same(first, second) else _as_choices(first, second, traces, growing)) or (first, second)
    if isinstance(first, Deferred):
        return _as_choices(first, second, traces, growing) or (first, second)
    # A copy of a list would be another one than its other names hold.
    if nest.is_mutable(first) and copies is None and not contents:
        return first, second
    pairs = [
        as_choices(one, other, traces, growing=growing, copies=copies)
        for one, other in zip(parts[1], others[1], strict=True)
    ]
    return _rebuilt(first, [one for one, _ in pairs], copies), _rebuilt(second, [other for _, other in pairs], copies)


def _rebuilt(value: Any, items: Sequence[Any], copies: dict[int, Any] | None) -> Any:
    before = (nest.children(value) or ((), ()))[1]
    if all(map(_is, before, items)):  # == of tensors would trace a comparison
        return value
    copy = nest.rebuilt(value, items)
    if copies is not None:
        copies[id(copy)] = copies.get(id(value), value)  # of a copy of a copy the user's container
    return copy


def _is(one: Any, other: Any) -> bool:
    return one is other


def is_constant(value: Any, trace: Trace) -> bool:
    """Returns True if a value is a Python object that is the same in every run, so that a number can stand for it."""
    if is_simple(value):
        return True
    if is_tensor(value) or is_number(value) or isinstance(value, Tensor | Deferred) or nest.children(value) is not None:
        return False
    if isinstance(value, BaseException) and is_deferred(value):
        return False
    # The method `x.sum` of a tensor is another one in each run, as the tensor is.
    return not isinstance(getattr(value, "__self__", None), Tensor) and not _is_made_in(value, trace)


def _is_made_in(value: Any, trace: Trace) -> bool:
    """Returns True if an object was made in a branch or loop, so that it is another one each time that this is run."""
    if not isinstance(trace, Region):
        return False
    owners = [written.cell.owner for written in trace.journal.writes.values() if written.before is MISSING]
    return trace.journal.owns(value) or any(value is owner for owner in owners)


class _Table:
    """The values that two sides may have, each once."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self.fixed: list[bool] = []
        self._holds_made = False

    def place(self, value: Any, trace: Trace) -> int:
        """Returns the place of a value, which may be that of another that it can be joined with."""
        fixed = is_constant(value, trace)  # trace: where the values of the side at hand were made
        if not fixed:
            self._holds_made |= any(
                _is_object(leaf) and not is_constant(leaf, trace) for leaf in nest.flatten(value)[0]
            )
        for position, (existing, known_fixed) in enumerate(zip(self.values, self.fixed, strict=True)):
            if fixed is known_fixed and (same(existing, value) if fixed else _can_join(existing, value)):
                return position
        self.values.append(value)
        self.fixed.append(fixed)
        return len(self.values) - 1

    def is_good(self) -> bool:
        """Returns True if the values can be kept side by side; those that differ in shape only must be texts."""
        differing = [value for value, fixed in zip(self.values, self.fixed, strict=True) if not fixed]
        texts = all(isinstance(value, Deferred) for value in differing)
        return len(self.values) <= _MOST and (len(differing) <= 1 or texts) and not self._holds_made


def _is_object(leaf: Any) -> bool:
    return not (is_tensor(leaf) or is_number(leaf))


def _can_join(first: Any, second: Any) -> bool:
    leaves, structure = nest.flatten(first)
    others, other_structure = nest.flatten(second)
    return structure == other_structure and all(map(_leaves_join, leaves, others))


def _leaves_join(first: Any, second: Any) -> bool:
    if not all(is_tensor(value) or is_number(value) for value in (first, second)):
        return same(first, second)
    return leaf_type(first).shape == leaf_type(second).shape


def _as_choices(first: Any, second: Any, traces: tuple[Trace, Trace], growing: bool) -> Pair | None:
    table, sides = _Table(), (first, second)
    options = [_options(first, traces[0], every=growing), _options(second, traces[1], every=False)]
    positions = [
        {position: table.place(value, trace) for position, value in candidates.items()}
        for candidates, trace in zip(options, traces, strict=True)
    ]
    if not table.is_good():
        return None
    joined: list[Any] = []
    for value, candidates, mapping, trace in zip(sides, options, positions, traces, strict=True):
        with trace_scope(trace):  # the ops that _moved adds belong to this side
            joined.append(_side(table, value, candidates, mapping))
    return joined[0], joined[1]


def _options(value: Any, trace: Trace, *, every: bool) -> dict[int, Any]:
    """Returns what a value may be, by its places."""
    if alternatives(value) is None:
        return {0: value}
    with trace_scope(trace):  # its own conditions may leave fewer values
        return {index: value.options[index] for index in (range(len(value.options)) if every else value.left)}


def _side(table: _Table, value: Any, candidates: dict[int, Any], positions: dict[int, int]) -> Any:
    """One side's value in the form of both."""
    own = {positions[position]: option for position, option in candidates.items()}
    if len(table.values) == 1:
        return own[0]
    options = tuple(
        [own[position] if position in own else _anything(sample) for position, sample in enumerate(table.values)]
    )
    if alternatives(value) is None:
        return Choice(positions[0], options)
    return _moved(cast("Choice", value), options, positions)


def _moved(value: Choice, options: tuple[Any, ...], positions: dict[int, int]) -> Choice:
    """Returns a choice among other options; ``positions`` tells by the places of its own where they are among these."""
    if len(options) == len(value.options) and all(map(_is, options, value.options)):
        return value
    which: Any = value.which
    if not isinstance(which, SymbolicTensor):
        which = positions[int(which)]
    elif len(positions) == 1:
        which = next(iter(positions.values()))
    elif any(position != new for position, new in positions.items()):
        # A place that it cannot have any more may go anywhere.
        news = [positions.get(position, 0) for position in range(len(value.options))]
        which = number(FUNCTIONS["asarray"](np.array(news, np.int32))[which], int)
    return Choice(which, options)


def _anything(value: Any) -> Any:
    """Returns a value that may be joined with another where nobody reads either."""
    return nest.map_structure(_any_leaf, value)


def _any_leaf(leaf: Any) -> Any:
    kind = kind_of(leaf)
    if kind is not None:
        return kind(0) if isinstance(leaf, SymbolicTensor) or not is_number(leaf) else leaf
    if not is_tensor(leaf):
        return leaf
    type = leaf_type(leaf)
    zero = np.zeros(type.shape, type.dtype)
    return zero.item() if type.weak else zero  # a Python number keeps the join weak
