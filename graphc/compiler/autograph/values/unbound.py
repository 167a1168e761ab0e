"""Names that are not bound: what stands in for them, and what happens when one is read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NoReturn

from graphc.compiler.autograph.values.protocol import Symbolic, is_bound, refuses
from graphc.compiler.base import at, nest, user_location
from graphc.compiler.base.errors import InvalidTypeError, UndefinedNameError
from graphc.compiler.core import operand
from graphc.compiler.tracing import context

__all__ = ["Unbound", "is_filler", "is_unset", "load", "return_value", "unbound", "unbound_return", "unset"]


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
    """The value of a name that is not bound; any use of it raises :class:`UndefinedNameError`.

    Args:
      filler: whether the value is never looked at (a return value before the return, a name that every way binds before
        it reads it), so that anything may stand for it in a branch.
    """

    __slots__ = ("filler", "name", "reason")

    __graphc_unbound__ = True

    may_be_bound = False
    """True if only the run of the program shows that the name is not bound."""

    def __init__(self, name: str, reason: str = "it is not bound on every path to here", filler: bool = False) -> None:
        self.name = name
        self.reason = reason
        self.filler = filler

    def is_bound(self) -> bool:
        """Returns False."""
        return False

    def fail(self) -> NoReturn:
        """Raises the error of a use."""
        error = UndefinedNameError(
            f"name {self.name!r} is used, but {self.reason}; bind it on every way to here, for example before"
        )
        raise at(error, user_location()) if context.trace is None else context.trace.note_refusal(error)

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
    """Returns what a local name holds before it is bound.

    Args:
      certain: whether it is bound wherever it is read, so that anything may stand for it.
    """
    return Unbound(name, "it is bound on some of the ways to here only, or not yet", certain)


def unbound_return() -> Unbound:
    """Returns what a function's return value holds before a return statement runs."""
    return Unbound("return value", "no return statement ran", filler=True)


def is_filler(value: Any) -> bool:
    """Returns True for the mark of a name that nobody looks at, so that anything may stand for it in a branch."""
    return isinstance(value, Unbound) and value.filler


def unset(what: str) -> Unbound:
    """Returns what stands in a structure where a tensor will be: until a branch or loop puts one there it is zeros.

    Args:
      what: for messages.
    """
    return Unbound(what, "nothing was put there yet", filler=True)


def is_unset(value: Any) -> bool:
    """Returns whether a value is what :func:`unset` gave."""
    return not is_bound(value)


def load(value: Any) -> Any:
    """Reads a name that may be unbound.

    Raises:
      UndefinedNameError: it is.
    """
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
