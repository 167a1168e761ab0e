"""Values that leave graphc for functions of JAX and NumPy, from where no gradient comes back.

In eager code an open tape follows what is computed from the tensors that it watches. Another library's function that
would turn such a tensor into an array is refused. ``numpy()``, ``item()``, ``float()`` and ``print`` show values and
stay legal: a number is a constant, and an array is refused where it meets tensors under the same tape.
"""

from __future__ import annotations

import sys
import weakref
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from jax.core import Tracer

from graphc.base import at, user_location
from graphc.base.errors import UnimplementedError
from graphc.core.context import context
from graphc.core.convert import operand
from graphc.core.dtypes import canonical_array

if TYPE_CHECKING:
    from collections.abc import Callable

    from graphc.core.array_methods import ArrayMethods
    from graphc.core.protocols import Recorder

__all__ = ["ShownArray", "check_leaves", "shown", "stay", "when_jax_converts"]


def stay(function: str = "graphc's function of that name") -> str:
    """Returns what to write instead of a function of another library, for messages."""
    return (
        f"use {function} (gx.asarray makes tensors of arrays), gx.call_jax(function, x) for one of JAX's, or in eager "
        "code np.asarray(gx.stop_gradient(x)) where no gradient is wanted"
    )


def check_leaves(value: ArrayMethods, use: str) -> None:
    """Refuses that a tensor or variable becomes another library's array where an open tape follows it.

    Args:
      value: what is converted.
      use: what would become of it, as the message says it.
    """
    for tape in context.tapes:
        if tape.follows(value):
            error = UnimplementedError(
                f"{use} loses the gradient of a tensor ({value.type}) that an open GradientTape follows; {stay()}"
            )
            raise at(error, user_location())


class when_jax_converts:  # noqa: N801  it stands where a decorator stands
    """The method ``__jax_array__``, which answers by what JAX is about to do.

    - An operator of ``jax.Array`` gets no method, so Python calls the tensor's own operator, which tapes see.
    - A function that converts its arguments gets the method, which refuses a tensor that a tape follows.
    - Where JAX would raise an error of its own, since it compiles no function for tensors, graphc raises one.

    The frame that asks tells which it is. JAX does not promise its names: if they change, operators convert as
    functions do, and are refused under a tape; no gradient vanishes.
    """

    def __init__(self, convert: Callable[[Any], jax.Array]) -> None:
        self._convert = convert

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        asking = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]  inspect takes ten times as long
        if str(asking.f_globals.get("__name__")).startswith("jax."):
            code = asking.f_code
            if code.co_varnames[: code.co_argcount] == _OPERATOR and not isinstance(asking.f_locals["self"], Tracer):
                raise AttributeError("__jax_array__")
            if code.co_name in _COMPILING:
                error = UnimplementedError(
                    f"JAX compiles this function for arrays, but it was given a tensor of graphc ({instance.type}); "
                    f"{stay()}"
                )
                raise at(error, user_location())
        return self._convert.__get__(instance)


_OPERATOR = ("self", "other")
_COMPILING = frozenset(("shaped_abstractify", "typeof"))


def shown(array: np.ndarray[Any, Any], value: ArrayMethods) -> np.ndarray[Any, Any]:
    """Returns the values of a tensor or variable, for people to see: refused by ops under the tapes that follow it."""
    tapes = [tape for tape in context.tapes if tape.follows(value)]
    if not tapes:
        return array
    look = array.view(ShownArray)
    look.tapes = tuple(map(weakref.ref, tapes))
    return look


class ShownArray(np.ndarray[Any, Any]):
    """An array that was computed of the values of a tensor while tapes followed it."""

    tapes: tuple[weakref.ref[Recorder], ...]

    def __array_finalize__(self, source: Any) -> None:
        self.tapes = () if self.dtype.kind in "biu" else getattr(source, "tapes", ())

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        # One number is a constant, as NumPy gives it: a 0-d array would be changed in place by `+=`.
        return super().__array_wrap__(array, context, return_scalar) if array.ndim else array[()]

    def __repr__(self) -> str:
        return repr(np.asarray(self))

    def __reduce__(self) -> Any:
        return np.asarray(self).__reduce__()


@operand.register(ShownArray)
def _from_shown(value: ShownArray) -> Any:
    if any(tape() in context.tapes for tape in value.tapes):
        error = UnimplementedError(
            "an array that numpy() gave loses the gradient of a tensor that an open GradientTape follows, where it "
            f"meets tensors again; {stay()}"
        )
        raise at(error, user_location())
    return canonical_array(value)
