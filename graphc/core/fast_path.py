"""The fast path of eager calls: a kernel is called at once, past the questions that dispatch asks.

A function that Python calls on the way to JAX costs more than its call, since JAX notes all callers. So the fast path
is text that becomes part of each function. It is taken where no thread traces, records or places ops; under tapes
dispatch itself takes :func:`call_kernel`. If it fails the slow path raises the error again, with the user's line.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NoReturn, TypeVar, cast

from graphc.core.context import busy, context
from graphc.core.convert import SCALARS
from graphc.core.dtypes import copied_numpy

__all__ = ["FAILED", "FAST_PATH", "call_kernel", "fast_path", "raw", "with_fast_path"]

F = TypeVar("F", bound=Callable[..., Any])

_ONE = """\
if {conditions}:
        try:
            _result = _new(_Tensor)
            _result.raw = {kernel}({arrays})
            return _result
        except Exception:
            pass
    """
_SEVERAL = """\
if {conditions}:
        try:
            return _wrapped({kernel}({arrays}))
        except Exception:
            pass
    """
_FUNCTION = """\
def method({parameters}):
    {fast}return _slow({names})
"""


def raw(name: str) -> str:
    """Returns the expression of the array or number of an argument; it raises if it is neither."""
    return f"{name}.raw if _type({name}) is _Tensor else {number(name)}"


def number(name: str) -> str:
    """Returns the expression of an argument that is a Python number or NumPy's; it raises for anything else."""
    return f"{name} if _type({name}) in _scalars else _numpy({name})"


def fast_path(kernel: str, arrays: Sequence[str], *, conditions: Sequence[str] = (), several: bool = False) -> str:
    """Returns the first lines of a function, indented for its body.

    Args:
      kernel: the expression of the kernel.
      arrays: those of its arguments, see :func:`raw`.
      conditions: those of what must hold besides.
      several: the kernel gives several arrays, of which ``_wrapped`` makes the result.

    The globals of the function hold :data:`FAST_PATH`, and the class Tensor as ``_Tensor``.
    """
    asked = " and ".join(["(not _busy or _context.eager)", *conditions])
    return (_SEVERAL if several else _ONE).format(conditions=asked, kernel=kernel, arrays=", ".join(arrays))


def with_fast_path(
    slow: F, arrays: Sequence[str] | None = None, conditions: Sequence[str] = ()
) -> tuple[F, dict[str, Any]]:
    """Returns a function that calls ``_kernel`` in the fast path, and its globals.

    ``_kernel`` and ``_Tensor`` may be set later: until then the slow path is taken.

    Args:
      slow: the function without a fast path; parameters have no defaults but None.
      arrays: the arguments of the kernel; if None the parameters.
      conditions: as for :func:`fast_path`.
    """
    parameters = inspect.signature(slow).parameters.values()
    names = [parameter.name for parameter in parameters]
    source = _FUNCTION.format(
        parameters=", ".join(each.name if each.default is each.empty else f"{each.name}=None" for each in parameters),
        fast=fast_path("_kernel", list(map(raw, names)) if arrays is None else arrays, conditions=conditions),
        names=", ".join(names),
    )
    namespace: dict[str, Any] = {**FAST_PATH, "_slow": slow, "_kernel": None, "_Tensor": None}
    exec(compile(source, f"<graphc op {slow.__name__}>", "exec"), namespace)
    return cast("F", functools.update_wrapper(namespace["method"], slow)), namespace


FAILED: Final = object()
"""What :func:`call_kernel` returns where the slow path is to be taken."""


def call_kernel(kernel: Callable[..., Any], values: Sequence[Any], tensor: type[Any]) -> Any:
    """Calls a kernel where a function of Python's is on the way anyway.

    Args:
      kernel: raw arrays and numbers in, raw arrays out.
      values: tensors and numbers.
      tensor: the class of tensors.

    Returns:
      What the kernel returns; FAILED where it raises an exception, or an argument is neither tensor nor number.
    """
    try:
        return kernel(
            *[
                value.raw if isinstance(value, tensor) else value if type(value) in SCALARS else _refuse()
                for value in values
            ]
        )
    except Exception:
        return FAILED


def _refuse() -> NoReturn:
    raise TypeError


FAST_PATH: Mapping[str, Any] = {
    "_busy": busy,
    "_context": context,
    "_new": object.__new__,  # a call of the class takes 70 ns more
    "_numpy": copied_numpy,
    "_refuse": _refuse,
    "_scalars": SCALARS,
    "_type": type,
}
"""The globals of functions with a fast path, but for the class Tensor."""
