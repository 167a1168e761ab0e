"""Library functions that are known to touch the world, or to give something else each time they are called.

What merely might have a side effect (any function of a library that is not known to compute only) may run when a
function is traced: it stops the rolling of loops and is refused in branches, no more. What is listed here is reported.
"""

from __future__ import annotations

import random
import sys
import types
from collections.abc import Callable
from functools import partial
from typing import Any, cast

import numpy as np

from graphc.core import Place, context

__all__ = ["is_reported", "report_call", "side_effect"]

_MODULES = frozenset(
    ("_io", "_socket", "numpy.random", "random", "secrets", "shutil", "socket", "subprocess", "tempfile", "time")
)
_FUNCTIONS: dict[str, frozenset[str]] = {
    module: frozenset(names.split())
    for module, names in {
        "builtins": "input",
        "datetime": "now today utcnow",
        "io": "open",
        "logging": "critical debug error exception fatal info log warn warning",
        "numpy": "fromfile genfromtxt load loadtxt save savetxt savez savez_compressed tofile",
        "os": "chdir chmod chown kill link makedirs mkdir open putenv read remove removedirs rename renames replace "
        "rmdir symlink system times truncate unlink unsetenv urandom utime write",
        "pathlib": "chmod hardlink_to mkdir open read_bytes read_text rename replace rmdir symlink_to touch unlink "
        "write_bytes write_text",
        "uuid": "uuid1 uuid4",
    }.items()
}
_ALIASES = {"posix": "os", "nt": "os", "_io": "io", "pathlib._local": "pathlib"}
_IN_MEMORY = ("StringIO", "BytesIO")
_MAKERS = (np.random.default_rng, np.random.RandomState, random.Random)
"""What makes a generator of random numbers: the same one each time where it is given a seed."""


def side_effect(what: str) -> None:
    """Says that Python code is about to do something besides computing; see :meth:`graphc.core.Trace.side_effect`."""
    if context.trace is not None:
        context.trace.side_effect(what)


def is_reported(function: Any) -> bool:
    """Whether a function is known to do something besides computing, or to give something else at each call."""
    return _makes_generator(function) or _touches_world(function)


def _touches_world(function: Any) -> bool:
    module, name, owner = _origin(function)
    if name in _IN_MEMORY or type(owner).__name__ in _IN_MEMORY:
        return False
    if any(module == known or module.startswith(f"{known}.") for known in _MODULES):
        return True
    return name in _FUNCTIONS.get(_ALIASES.get(module, module), ())


def report_call(function: Any, what: str) -> Any:
    """Says that a function is about to be called that does not only compute, as far as is known.

    Args:
      function: it.
      what: the call, for messages, unless the function is a known one.

    Returns:
      What to call in its place.
    """
    trace = context.trace
    if trace is None:
        return function
    if _makes_generator(function):
        return partial(_make_generator, function)
    if not _touches_world(function):
        trace.side_effect(what)
        return function
    what = f"the call of {_public_name(function)}"
    _, _, owner = _origin(function)
    if isinstance(owner, _GENERATORS):
        # Numbers drawn from a generator that is made in the function, from a seed, are the same at each call.
        trace.side_effect(what)
        trace.journal(GeneratorPlace(owner, what))
    else:
        trace.side_effect(what, certain=True)
    return function


def _makes_generator(function: Any) -> bool:
    return any(function is maker for maker in _MAKERS)


def _make_generator(function: Any, *args: Any, **kwargs: Any) -> Any:
    """A generator of random numbers; without a seed it is another one each time."""
    given = (*args, *kwargs.values())
    if context.trace is not None:
        what = f"the call of {_public_name(function)}"
        seeded = bool(given) and given[0] is not None
        context.trace.side_effect(what if seeded else f"{what} without a seed", certain=not seeded)
    return function(*args, **kwargs)


def _origin(function: Any) -> tuple[str, str, Any]:
    """The module of a function or of the class whose method it is, its name, and the object whose method it is."""
    name = str(getattr(function, "__name__", ""))
    owner: Any = getattr(function, "__self__", None)
    if owner is None or isinstance(owner, types.ModuleType):
        return str(getattr(function, "__module__", None) or getattr(owner, "__name__", "")), name, None
    if isinstance(owner, type):
        return owner.__module__, name, None
    inner = getattr(function, "__func__", None)
    return getattr(inner, "__module__", None) or type(owner).__module__, name, owner


def _public_name(function: Any) -> str:
    """How a user calls a function: ``time.time``, ``random.random``, ``open``, ``Path.write_text``."""
    module, name, owner = _origin(function)
    module = _ALIASES.get(module, module)
    while module:
        if getattr(sys.modules.get(module), name, None) == function:
            return name if module in ("builtins", "io") else f"{module}.{name}"
        module = module.rpartition(".")[0]
    kind = type(owner).__name__ if owner is not None else ""
    return f"{kind}.{name}" if kind else str(getattr(function, "__qualname__", name))


_GENERATORS = (random.Random, np.random.Generator, np.random.RandomState)


class GeneratorPlace(Place):
    """The state of a generator of random numbers."""

    __slots__ = ()

    def __init__(self, owner: Any, what: str) -> None:
        super().__init__(owner, f"the state of a {type(owner).__name__}", what)

    def get(self) -> Any:
        """The state; of one that has none that can be read (the system's), nothing."""
        try:
            return _state_of(self.owner)[0]()
        except NotImplementedError:
            return None

    def set(self, value: Any) -> None:
        """Puts a state back."""
        if value is not None:
            _state_of(self.owner)[1](value)


def _state_of(generator: Any) -> tuple[Callable[[], Any], Callable[[Any], None]]:
    """What reads and what writes the state of a generator."""
    if isinstance(generator, random.Random):
        return generator.getstate, generator.setstate
    if isinstance(generator, np.random.Generator):
        bits = cast("Any", generator.bit_generator)

        def write(value: Any) -> None:
            bits.state = value

        return lambda: bits.state, write
    return generator.get_state, generator.set_state
