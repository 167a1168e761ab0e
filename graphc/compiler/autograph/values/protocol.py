"""The questions that statements and expressions ask of every value, and the class whose subclasses answer them.

A Python value that is not known while a function is traced has a class of its own, a :class:`Symbolic`: a number, the
index of a loop, one of several values, a text, a list of unknown length, a name without a value. Each class answers
what is special about it. The answers of :class:`Symbolic` itself are those of any other Python value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, TypeVar, cast

from graphc.compiler.base import nest
from graphc.compiler.base.errors import InvalidTypeError, UndefinedNameError
from graphc.compiler.core import operand
from graphc.compiler.tracing import context

if TYPE_CHECKING:
    from graphc.compiler.autograph.values.course import HostSequence
    from graphc.compiler.autograph.values.spans import ValueRange

Kinds = frozenset[type[Any]]
"""The Python types that a number may have, by what tensors hold."""


class Symbolic:
    """A Python value that is not known while a function is traced."""

    __slots__ = ()
    __graphc_symbolic__: ClassVar[bool] = True

    def refuse(self, use: str) -> NoReturn:
        """Refuses a use for which Python would need the value."""
        raise NotImplementedError(use)

    # --- names

    def is_bound(self) -> bool:
        """Returns True unless it stands for a name without a value."""
        return True

    # --- numbers

    def python_type(self) -> type[Any] | None:
        """Returns the type that it has as a number in plain Python; None if it is no number."""
        return None

    def python_types(self) -> Kinds | None:
        """Returns the types of which it has one as a number in plain Python; None if it is no number."""
        kind = self.python_type()
        return None if kind is None else frozenset((kind,))

    def bounds(self) -> ValueRange | None:
        """Returns between which ints it lies; None if it is no int."""
        return None

    def host_sequence(self) -> HostSequence | None:
        """Returns what it is in each iteration of a loop, where Python knows that; None where it does not."""
        return None

    def converted(self, kind: type[Any]) -> Any:
        """Returns what ``bool``, ``int``, ``float`` or ``complex`` makes of it; NotImplemented for a tensor."""
        del kind
        return NotImplemented

    def as_tensor(self) -> Any:
        """Returns the tensor that it is in the graph; itself if it is no tensor, or one already."""
        return self

    # --- one of several values

    def alternatives(self) -> tuple[Any, ...] | None:
        """Returns the values of which it is one; None if it is not one of several."""
        return None

    def settled(self) -> Any:
        """Returns the one value that it may still be at this point; itself if there are others, or none."""
        return self

    # --- truth

    def condition(self, test: Callable[[Any], Any]) -> Any:
        """Returns what decides whether it counts as true."""
        del test
        return self.operand()

    def operand(self) -> Any:
        """Returns what ``and`` and ``or`` give where they give this operand."""
        return self

    # --- other code that looks at it

    def look_into(self) -> None:
        """Refuses that Python looks at its items, where it has none before the program runs."""

    def check_given(self, function: Any) -> None:
        """Refuses to be an argument of a function that is not converted, if that may ask for the value."""
        del function
        self.look_into()

    def as_text(self, maker: str) -> Any:
        """Returns what ``str``, ``repr`` or ``ascii`` makes of it; NotImplemented if only a run tells."""
        del maker
        return NotImplemented

    def changed(self, change: Callable[[Any], Any]) -> Any:
        """Returns it with other parts; itself if it has none."""
        del change
        return self

    def describe(self) -> str:
        """Returns the value, for messages."""
        return repr(self)

    # --- operators and methods

    def answer(self, method: str, owner: Any, *operands: Any, **options: Any) -> Any:
        """Returns what ``owner``, this or the list that holds it, answers to a method; NotImplemented to ask Python."""
        del method, owner, operands, options
        return NotImplemented


def refuses(uses: Mapping[str, str]) -> Callable[[type[Kind]], type[Kind]]:
    """Gives a class special methods that refuse what Python itself asks a value for."""

    def decorate(kind: type[Kind]) -> type[Kind]:
        for name, use in uses.items():
            setattr(kind, name, _refusing(use))  # Python looks special methods up on the class only
        return kind

    return decorate


def _refusing(use: str) -> Callable[..., NoReturn]:
    def method(self: Symbolic, *args: Any, **kwargs: Any) -> NoReturn:
        del args, kwargs
        self.refuse(use)

    return method


Kind = TypeVar("Kind", bound=Symbolic)


class ListContents(Symbolic):
    """The one item of a list, which stands for all items of it."""

    __slots__ = ()


def symbol_of(value: Any) -> Symbolic | None:
    """Returns what answers for a value that is not known while a function is traced; None for all other values."""
    if isinstance(value, Symbolic):
        return value
    # The list stays the user's own object, so that all its names see a change; only the items are replaced.
    if isinstance(value, list):
        items = cast("list[Any]", value)
        if len(items) == 1 and isinstance(items[0], ListContents):
            return items[0]
    return None


def alternatives(value: Any) -> tuple[Any, ...] | None:
    """Returns the values of which a value is one; None if it is not one of several."""
    return value.alternatives() if isinstance(value, Symbolic) else None


def answer(method: str, owner: Any, *operands: Any, **options: Any) -> Any:
    """Returns the result of an operator or method of a symbolic value; NotImplemented if Python is to be asked."""
    symbol = symbol_of(owner)
    return NotImplemented if symbol is None else symbol.answer(method, owner, *operands, **options)


def as_tensor(value: Any) -> Any:
    """Returns the tensor that a symbolic number is in the graph; any other value as it is."""
    return value.as_tensor() if isinstance(value, Symbolic) else value


def check_given(value: Any, function: Any) -> None:
    """Refuses an argument of a function that is not converted, if the function may ask it for a value it has not."""
    symbol = symbol_of(value)
    if symbol is not None:
        symbol.check_given(function)


def converted(value: Any, kind: type[Any]) -> Any:
    """Returns what ``bool``, ``int``, ``float`` or ``complex`` makes of a symbolic number; NotImplemented of others."""
    return value.converted(kind) if isinstance(value, Symbolic) else NotImplemented


def host_sequence_of(value: Any) -> HostSequence | None:
    """Returns the course of a number, the index of a loop among them; None if it has none."""
    return value.host_sequence() if isinstance(value, Symbolic) else None


def is_bound(value: Any) -> bool:
    """Returns True unless a value stands for a name without a value."""
    return not isinstance(value, Symbolic) or value.is_bound()


def look_into(*values: Any) -> None:
    """Refuses symbolic values without items among those that Python is about to look into."""
    for value in values:
        symbol = symbol_of(value)
        if symbol is not None:
            symbol.look_into()


def operand_of(value: Any) -> Any:
    """Returns what ``and`` and ``or`` give where they give this operand."""
    symbol = symbol_of(value)
    return value if symbol is None else symbol.operand()


def settled(value: Any) -> Any:
    """Returns the one value that a choice may still be where the trace stands; any other value as it is."""
    return value.settled() if isinstance(value, Symbolic) else value


# Names that are not bound: what stands in for them, and what happens when one is read.

_USES = (
    "add",
    "bool",
    "call",
    "getitem",
    "iter",
    "matmul",
    "mul",
    "radd",
    "rmul",
    "rsub",
    "rtruediv",
    "sub",
    "truediv",
)


@refuses({f"__{name}__": "a use" for name in _USES})
class Unbound(Symbolic):
    """The value of a name that is not bound; any use of it raises :class:`UndefinedNameError`."""

    __slots__ = ("filler", "name", "reason")

    __graphc_unbound__ = True

    may_be_bound = False
    """True if only the run of the program shows that the name is not bound."""

    def __init__(self, name: str, reason: str = "it is not bound on every path to here", filler: bool = False) -> None:
        self.name = name
        self.reason = reason
        # Never looked at (a return value before the return, a name bound on every way to its use), so that anything may
        # stand for it in a branch.
        self.filler = filler

    def is_bound(self) -> bool:
        """Returns False."""
        return False

    def fail(self) -> NoReturn:
        """Raises the error of a use."""
        error = UndefinedNameError(
            f"name {self.name!r} is used, but {self.reason}; bind it on every way to here, for example before"
        )
        raise error.here() if context.trace is None else context.trace.note_refusal(error)

    def use(self) -> Any:
        """Returns what reading the name gives, where that may be anything."""
        self.fail()

    def __getattr__(self, attribute: str) -> NoReturn:
        # Protocols such as copy's probe for special names, and take only AttributeError for no.
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        self.fail()

    def refuse(self, use: str) -> NoReturn:
        """Raises the error of a use."""
        del use
        self.fail()

    def __repr__(self) -> str:
        return f"<unbound name {self.name!r}>"


def unbound(name: str, certain: bool = False) -> Unbound:
    """Returns what a local name holds before it is bound; ``certain``: it is bound wherever it is read."""
    return Unbound(name, "it is bound on some of the ways to here only, or not yet", certain)


def unbound_return() -> Unbound:
    """Returns what a function's return value holds before a return statement runs."""
    return Unbound("return value", "no return statement ran", filler=True)


def is_filler(value: Any) -> bool:
    """Returns True for the mark of a name that nobody looks at, so that anything may stand for it in a branch."""
    return isinstance(value, Unbound) and value.filler


def unset(what: str) -> Unbound:
    """Returns what stands in a structure where a tensor will be: until a branch or loop puts one there it is zeros."""
    return Unbound(what, "nothing was put there yet", filler=True)


def is_unset(value: Any) -> bool:
    """Returns whether a value is what :func:`unset` gave."""
    return not is_bound(value)


def load(value: Any) -> Any:
    """Reads a name; raises UndefinedNameError if it is unbound."""
    return value.use() if isinstance(value, Unbound) else value


def return_value(value: Any) -> Any:
    """Returns the result of a function whose returns were rewritten; None when none ran."""
    trace = context.trace
    if trace is not None and len(trace.root.aliases):
        trace.root.aliases.settle(_parts(value))
    return None if is_filler(value) else value


def _parts(value: Any) -> Iterator[Any]:
    yield value
    for part in (nest.children(value) or ((), ()))[1]:
        yield from _parts(part)


@operand.register(Unbound)
def _refuse(value: Unbound) -> NoReturn:
    try:
        value.fail()
    except UndefinedNameError as error:
        raise error from InvalidTypeError(repr(value))
