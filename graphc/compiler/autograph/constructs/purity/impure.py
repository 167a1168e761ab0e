"""Library functions that are known to touch the world, or to give something else each time they are called.

What merely might have a side effect (any function of a library that is not known to compute only) may run when a
function is traced: it stops the rolling of loops and is refused in branches, no more. What is listed here is reported.
"""

from __future__ import annotations

import os
import random
import sys
import types
from functools import partial
from typing import Any

import numpy as np

from graphc.compiler.autograph.constructs.exceptions.origins import in_python
from graphc.compiler.autograph.constructs.purity.advice import remedy_for, with_values
from graphc.compiler.autograph.constructs.purity.library_functions import only_computes, with_plain_values
from graphc.compiler.autograph.constructs.purity.library_reads import check_unseen, is_told_unseen
from graphc.compiler.autograph.constructs.storage.native_state import GeneratorCell
from graphc.compiler.autograph.constructs.storage.visible_state import GENERATORS
from graphc.compiler.base import with_article
from graphc.compiler.tracing import context

__all__ = [
    "check_read",
    "defining_class",
    "is_reported",
    "origin",
    "public_name",
    "report_call",
    "side_effect",
]

_MODULES = frozenset(
    ("_io", "_socket", "numpy.random", "random", "secrets", "shutil", "socket", "subprocess", "tempfile", "time")
)
_FUNCTIONS: dict[str, frozenset[str]] = {
    module: frozenset(names.split())
    for module, names in {
        "builtins": "input",
        "datetime": "now today utcnow",
        "io": "open",
        "logging": "addHandler basicConfig critical debug disable error exception fatal info log removeHandler "
        "setLevel warn warning",
        "numpy": "fromfile genfromtxt load loadtxt save savetxt savez savez_compressed set_printoptions seterr tofile",
        "os": "chdir chmod chown kill link makedirs mkdir open putenv read remove removedirs rename renames replace "
        "rmdir symlink system times truncate unlink unsetenv urandom utime write",
        "pathlib": "chmod hardlink_to mkdir open read_bytes read_text rename replace rmdir symlink_to touch unlink "
        "write_bytes write_text",
        "warnings": "warn warn_explicit",
        "sys": "setrecursionlimit setswitchinterval",
        "uuid": "uuid1 uuid4",
    }.items()
}
_READS: dict[str, frozenset[str]] = {
    module: frozenset(names.split())
    for module, names in {
        "_contextvars": "copy_context get run",
        "_operator": "length_hint",
        "functools": "cache_info",
        "inspect": "currentframe getattr_static getclosurevars getdoc getfullargspec getgeneratorlocals "
        "getgeneratorstate getmembers getsource getsourcelines signature stack",
        "typing": "get_type_hints",
        "configparser": "get getboolean getfloat getint has_option has_section items options sections",
        "decimal": "getcontext localcontext",
        "glob": "glob iglob",
        "locale": "getlocale localeconv setlocale",
        "logging": "getEffectiveLevel hasHandlers isEnabledFor",
        "numpy": "get_printoptions geterr",
        "queue": "empty full qsize",
        "calendar": "calendar firstweekday formatmonth formatweek formatweekheader formatyear itermonthdates "
        "itermonthdays iterweekdays month monthcalendar monthdatescalendar monthdayscalendar prcal prmonth prweek "
        "pryear week weekheader yeardayscalendar",
        "datetime": "astimezone fromtimestamp",
        "threading": "active_count current_thread enumerate get_ident get_native_id is_alive is_set locked",
    }.items()
}
"""Functions that read the state of the system, which may differ at the next call."""
_ASKED_MODULES = frozenset(("dbm", "gc", "getpass", "linecache", "resource", "signal", "sqlite3", "tracemalloc"))
_COMPUTING: dict[str, frozenset[str]] = {
    module: frozenset(names.split())
    for module, names in {
        "os": "fsdecode fsencode fspath strerror",
        "sys": "audit displayhook exit getsizeof intern is_finalizing",
        "os.path": "basename commonpath commonprefix dirname isabs join normcase normpath relpath split splitdrive "
        "splitext splitroot",
        "pathlib": "as_posix as_uri full_match is_absolute is_relative_to is_reserved joinpath match relative_to "
        "with_name with_segments with_stem with_suffix",
    }.items()
}
"""Pure functions of modules whose other functions ask the system."""
# The modules that functions in C give for theirs: os.remove.__module__ is posix.
_ALIASES = {
    "_io": "io",
    "_queue": "queue",
    "_thread": "threading",
    "_warnings": "warnings",
    "genericpath": "os.path",
    "nt": "os",
    "pathlib._local": "pathlib",
    "posix": "os",
    "posixpath": "os.path",
    "ntpath": "os.path",
}
_IN_MEMORY = ("StringIO", "BytesIO")  # of _io, but they touch no file
_MAKERS = (np.random.default_rng, np.random.RandomState, random.Random)
"""Constructors of random generators; with a seed they make the same one each time."""


def side_effect(what: str) -> None:
    """Says that Python code does something besides computing; see :meth:`graphc.compiler.tracing.Trace.side_effect`."""
    if context.trace is not None:
        context.trace.side_effect(what)


def defining_class(name: str) -> None:
    """Says that a class statement is about to run, whose body and hooks nobody converts."""
    side_effect(f"the definition of the class {name}")


def is_reported(function: Any) -> bool:
    """Returns True if a function is known to do something besides computing, or to give something else at each call."""
    return (
        _makes_generator(function)
        or _touches_world(function)
        or _reads_world(function)
        or is_told_unseen(getattr(function, "__self__", None))
    )


def _reads_world(function: Any) -> bool:
    module, name, owner = origin(function)
    if name == "__subclasses__" or (name in ("get_state", "getstate") and isinstance(owner, GENERATORS)):
        return True
    if owner is os.environ:
        return name not in ("pop", "popitem", "update", "clear")
    if type(owner).__name__ in _IN_MEMORY and name in ("getbuffer", "getvalue", "tell"):
        # Only one from outside: what the function makes itself holds the same at each call.
        return context.trace is not None and context.trace.root.reads.source(owner) is not None
    if module.partition(".")[0] in _ASKED_MODULES:
        return True
    module = _ALIASES.get(module, module)
    if module in _COMPUTING:
        # A class is no question to the system: Path(text) keeps the text.
        is_public = not name.startswith("_") and not isinstance(function, type)
        return is_public and name not in _COMPUTING[module] and name not in _FUNCTIONS.get(module, ())
    return name in _READS.get(module, ())


def check_read(owner: Any) -> None:
    """Says that Python code is about to look at what an object holds, if no guard can: of the environment, for one."""
    if context.trace is None:
        return
    if owner is os.environ:
        context.trace.read_once("the use of os.environ")
    elif type(owner).__module__ == "configparser":
        context.trace.read_once(f"the use of {with_article(type(owner).__name__)}")
    else:
        check_unseen(owner)


def _touches_world(function: Any) -> bool:
    module, name, owner = origin(function)
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
    if _reads_world(function):
        trace.read_once(f"the call of {public_name(function)}")
        return function
    if _makes_generator(function):
        return partial(_make_generator, function)
    module, name, owner = origin(function)
    remedy = remedy_for(module, name)
    if not _touches_world(function) and not remedy:
        if is_told_unseen(owner):
            trace.read_once(f"the call of {public_name(function)}")
        if only_computes(function):
            return with_plain_values(function, partial(side_effect, what))
        trace.side_effect(what)
        return function
    what = f"the call of {public_name(function)}"
    if isinstance(owner, GENERATORS):
        # Numbers drawn from a generator that is made in the function, from a seed, are the same at each call.
        trace.side_effect(what)
        trace.journal.note(GeneratorCell(owner, what))
    else:
        trace.side_effect(what, certain=True, remedy=remedy)
    return with_values(function, what, remedy) if remedy else function


def _makes_generator(function: Any) -> bool:
    # By identity: == may run code of the user's.
    return any(function is maker for maker in _MAKERS)


def _make_generator(function: Any, *args: Any, **kwargs: Any) -> Any:
    """Returns a generator of random numbers; without a seed it is another one each time."""
    given = (*args, *kwargs.values())
    if context.trace is not None:
        what = f"the call of {public_name(function)}"
        seeded = bool(given) and given[0] is not None  # None asks for the system's entropy
        context.trace.side_effect(what if seeded else f"{what} without a seed", certain=not seeded)
    return in_python(function, *args, **kwargs)


def origin(function: Any) -> tuple[str, str, Any]:
    """The module of a function or of the class whose method it is, its name, and the object whose method it is."""
    name = str(getattr(function, "__name__", ""))
    owner: Any = getattr(function, "__self__", None)
    if owner is None or isinstance(owner, types.ModuleType):
        return str(getattr(function, "__module__", None) or getattr(owner, "__name__", "")), name, None
    if isinstance(owner, type):
        return owner.__module__, name, None
    inner = getattr(function, "__func__", None)
    return getattr(inner, "__module__", None) or type(owner).__module__, name, owner


def public_name(function: Any) -> str:
    """Returns how a user calls a function: ``time.time``, ``random.random``, ``open``, ``Path.write_text``."""
    module, name, owner = origin(function)
    module = _ALIASES.get(module, module)
    while module:
        found = getattr(sys.modules.get(module), name, None)
        # Equal ones too, since a bound method is made anew each time; types first, as == of an array is an array.
        if found is function or (type(found) is type(function) and found == function):
            return name if module in ("builtins", "io") else f"{module}.{name}"
        module = module.rpartition(".")[0]
    if owner is os.environ:
        return f"os.environ.{name}"
    kind = type(owner).__name__ if owner is not None else ""
    if not name:
        return f"a {type(function).__name__}"
    return f"{kind}.{name}" if kind else str(getattr(function, "__qualname__", name))
