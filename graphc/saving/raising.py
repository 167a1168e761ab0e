"""The exceptions of a saved function: Python's and graphc's own classes, by the status of the call."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from graphc.compiler.autograph import require
from graphc.compiler.base import Location, errors
from graphc.compiler.base.errors import GraphcError, InvalidTypeError
from graphc.compiler.core import apply
from graphc.compiler.ir import OPS
from graphc.saving.structures import Tree, decoded, encoded

__all__ = ["raise_by_status", "raised"]


def raised(exceptions: Mapping[int, tuple[BaseException | None, type[BaseException], Sequence[Location]]]) -> Tree:
    """Converts exceptions to JSON.

    Args:
      exceptions: by the status of a call that raises one: the exception, or None where tensors are in it; its class;
        and the lines of the calls that led to it.
    """
    found: dict[str, Tree] = {}
    for number, (error, kind, places) in exceptions.items():
        known = next(base for base in kind.__mro__ if _class_named(base.__name__) is base)
        prefix = "" if known is kind else f"{kind.__name__}: "
        args = ("the message has values of tensors, which the saved function does not hold",)
        if error is not None:
            try:
                args = tuple(error.args)
                encoded(args, _no_leaf)
            except InvalidTypeError:
                args = (str(error),)
        if prefix:
            args = (prefix + (str(args[0]) if args else ""), *args[1:])
        place = f"{places[-1].short}, in {places[-1].function}" if places else ""
        found[str(number)] = {"class": known.__name__, "args": encoded(args, _no_leaf), "place": place}
    return found


def _no_leaf(value: Any) -> None:
    del value


def _class_named(name: str) -> type[BaseException] | None:
    """Returns an exception class of Python or graphc by name; files can raise no others."""
    for home in (builtins, errors):
        found = vars(home).get(name)
        if isinstance(found, type) and issubclass(found, Exception):
            return found
    return Exception if name in ("BaseException", "object") else None


def raise_by_status(raises: Mapping[str, Tree], name: str) -> Callable[[Any], None]:
    """Returns a function that raises the exception for a call's status.

    Args:
      raises: the result of :func:`raised`.
      name: the name of the function.
    """
    makers = {int(number): _maker(tree, name) for number, tree in raises.items()}

    def check(status: Any) -> None:
        for number, make in makers.items():
            require(apply(OPS["not_equal"], (status, number)), make)

    return check


def _maker(tree: Mapping[str, Any], name: str) -> Callable[[], Exception]:
    kind, args, place = _class_named(tree["class"]), decoded(tree["args"], _refuse_leaf), str(tree["place"])
    if kind is None or not isinstance(args, tuple):
        raise ValueError(f"{tree['class']!r:.40} is no exception of Python's or graphc's")

    def make() -> Exception:
        try:
            error = cast("Any", kind)(*cast("tuple[Any, ...]", args))
        except TypeError:  # an exception that takes other arguments
            error = GraphcError(f"{tree['class']}: {args}")
        error.add_note(f"raised by the saved function {name!r}" + (f" ({place})" if place else ""))
        return error

    return make


def _refuse_leaf(sort: str, content: Any) -> Any:
    raise ValueError(f"{sort!r:.40} in an exception: {content!r:.40}")
