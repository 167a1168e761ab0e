"""Remedies for library functions that a program calls at each step but that would run once, while it is traced."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from graphc.compiler.autograph.constructs.exceptions.origins import in_python
from graphc.compiler.base import has_mark, nest, user_location, warn_at
from graphc.compiler.base.errors import GraphcError, SideEffectWarning, UnimplementedError
from graphc.compiler.core import SymbolicTensor
from graphc.compiler.tracing import context

__all__ = ["remedy_for", "tell_of_debugger", "with_values"]

_LOGGING = 'write gx.log_message("info", "loss %.2f", loss), which logs each time the program comes to this line'
_PROGRESS = (
    "loop over the range itself, and put gx.data.progress around the Python loop that calls the compiled step; "
    "gx.log_message tells how far a compiled loop has come"
)
_PRINTING = "write print(value), or gx.pyfunc(pprint.pprint, None, value), which print at each call"
_LOGS = frozenset(
    ("critical", "debug", "error", "exception", "fatal", "info", "log", "success", "trace", "warn", "warning")
)
_ADVICE: Mapping[str, tuple[frozenset[str] | None, str]] = {
    "alive_progress": (None, _PROGRESS),
    "logging": (_LOGS, _LOGGING),
    "loguru": (_LOGS, _LOGGING),
    "pprint": (frozenset(("pp", "pprint")), _PRINTING),
    "progressbar": (None, _PROGRESS),
    "rich.progress": (None, _PROGRESS),
    "tqdm": (None, _PROGRESS),
}
"""By module: the names that advice is for, None for all, and the advice."""


def remedy_for(module: str, name: str) -> str:
    """Returns what to write in place of a library's function; empty for most."""
    while module:
        if module in _ADVICE:
            names, remedy = _ADVICE[module]
            return remedy if names is None or name in names else ""
        module = module.rpartition(".")[0]
    return ""


def with_values(function: Callable[..., Any], what: str, remedy: str) -> Callable[..., Any]:
    """Returns a library's function, which refuses tensors that have no value, at the user's line.

    Args:
      function: what is called.
      what: the call, for messages.
      remedy: what to write instead.
    """

    @wraps(function, updated=())
    def called(*args: Any, **kwargs: Any) -> Any:
        trace = context.trace
        for value in nest.flatten((args, kwargs))[0]:
            if trace is not None and _is_late(value):
                text = f"{what} is given {_described(value)} has no value while the function is traced; {remedy}"
                raise trace.refuse(UnimplementedError(text))
        refusals = 0 if trace is None else len(trace.root.refusals)
        try:
            return function(*args, **kwargs)
        except GraphcError:
            if trace is None:
                raise
            del trace.root.refusals[refusals:]  # this one says it at the user's line
            text = f"{what} needs the values of tensors, which there are not while the function is traced; {remedy}"
            raise trace.refuse(UnimplementedError(text)) from None

    return called


def _is_late(value: Any) -> bool:
    """Tells if a value is a tensor, or one of the objects that stand for Python values that depend on tensors."""
    return isinstance(value, SymbolicTensor) or type(value).__module__.startswith("graphc.compiler.autograph.")


def _described(value: Any) -> str:
    if isinstance(value, SymbolicTensor):
        return f"a tensor ({value.type}, {value.made_at()}) that"
    return f"a {'number' if has_mark(value, '__graphc_number__') else 'value'} that depends on tensors and"


def tell_of_debugger() -> None:
    """Warns that ``breakpoint()`` is about to stop where tensors have no values, before it does."""
    # Only Python's own hook looks at the variable; another one stops in any case.
    if context.trace is None or (os.environ.get("PYTHONBREAKPOINT") == "0" and sys.breakpointhook is _HOOK):
        return
    message = (
        f"breakpoint() stops once, while {context.trace.root.builder.name} is traced, when its tensors have no values. "
        "gx.run_functions_eagerly(True) runs it as Python, and gx.print shows values of the compiled function"
    )
    in_python(warn_at, SideEffectWarning(message), user_location())


_HOOK = sys.__breakpointhook__
