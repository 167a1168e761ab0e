"""Calls of what graphc does not look into: they run when a function is traced, which is told once.

One rule: a call is of code that is converted, of graphc, or of a module in the table below; any other is *opaque*. It
is told at its line, and in a branch or loop that depends on tensors it is refused, since it would run whatever the
tensors hold.
"""

from __future__ import annotations

import os
import sys
import types
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache, partial, wraps
from typing import Any, cast

import numpy as np

from graphc.compiler.autograph.constructs.exceptions.origins import in_python
from graphc.compiler.autograph.values.kinds import found_on
from graphc.compiler.base import (
    has_mark,
    is_kept,
    is_library_file,
    is_library_module,
    nest,
    user_location,
    warn_at,
    with_article,
)
from graphc.compiler.base.errors import GraphcError, SideEffectWarning, UnimplementedError
from graphc.compiler.core import SymbolicTensor
from graphc.compiler.tracing import MISSING, ReadGuard, attribute, context, fixed, is_unseen, recorded_whole

# Records what converted code reads of libraries' objects and modules, which report nothing themselves.

_GETTERS = (types.GetSetDescriptorType, types.MemberDescriptorType, property)
_FUNCTION_STATE = frozenset(("__annotations__", "__doc__", "__kwdefaults__", "__module__", "__name__", "__qualname__"))
_STATELESS = frozenset(("_struct", "jax", "jaxlib", "operator", "re", "string"))
"""Packages whose objects stay as they are, though they are no plain values; ``jax.config`` aside."""


def read_computed(owner: Any, name: str, value: Any) -> None:
    """Tells of an attribute that an object of a library's computes, or that it keeps where Python does not look."""
    assert context.trace is not None
    reads = context.trace.root.reads
    source, kind = reads.source(owner), cast("type[Any]", type(owner))
    if source is None or not _is_state(owner, kind, name):
        return
    path = attribute(source, name)
    if isinstance(value, type | types.ModuleType) or (callable(value) and not is_unseen(value)):
        return
    # Asked twice: by identity only what stays the same object can be guarded.
    if recorded_whole(value) or in_python(getattr, owner, name, MISSING) is value:
        reads.record(path, value)
    elif not is_unseen(value):  # made anew each time, and compared by what it holds
        reads.add(ReadGuard(path, "type({v}) is {0} and {v} == {1}", (cast("type[Any]", type(value)), value)))
    else:
        reads.register(path, value)


def _is_state(owner: Any, kind: type[Any], name: str) -> bool:
    if isinstance(owner, types.FunctionType):
        return name in _FUNCTION_STATE
    if isinstance(owner, np.ndarray):
        return name in ("flags", "strides")
    if isinstance(owner, deque):
        return name == "maxlen"
    descriptor = found_on(kind, name)
    computes = isinstance(descriptor, _GETTERS) or (
        descriptor is not None
        and hasattr(cast("type[Any]", type(descriptor)), "__set__")
        and not isinstance(descriptor, type)
    )
    is_called = callable(owner) and not isinstance(owner, type) and kind.__module__.partition(".")[0] != "graphc"
    of_object = is_unseen(owner) or is_called
    return computes and (of_object or (isinstance(owner, dict | list | set) and kind not in (dict, list, set)))


def read_of_module(module: types.ModuleType, name: str, value: Any) -> None:
    """Tells of an attribute of a library's module; functions, classes and constants of its own stay as they are."""
    assert context.trace is not None
    if is_kept(name, value):
        return
    reads, path = context.trace.root.reads, attribute(fixed(module, module.__name__), name)
    # By item: any import elsewhere makes sys.modules longer.
    (reads.container if value is sys.modules else reads.record)(path, value)


def is_told_unseen(owner: Any, *, as_iterator: bool = False) -> bool:
    """Returns True if an object comes from outside and holds what no guard sees."""
    # as_iterator: whether an iterator counts; to take items of it is told of elsewhere.
    if context.trace is None or context.trace.root.reads.source(owner) is None:
        return False
    if is_iterator(owner) and not as_iterator:
        return False
    return is_unseen(owner) and type(owner).__module__.partition(".")[0] not in _STATELESS


def is_iterator(value: Any) -> bool:
    """Returns True if a value is an iterator."""
    return isinstance(value, Iterator)


def check_unseen(owner: Any, *, as_iterator: bool = False) -> None:
    """Says that Python code is about to look at what an object holds, if no guard can; as :func:`is_told_unseen`."""
    if is_told_unseen(owner, as_iterator=as_iterator):
        assert context.trace is not None
        context.trace.read_once(f"the use of {with_article(type(owner).__name__)}")


_PURE = frozenset(
    ("builtins", "cmath", "enum", "graphc", "jax", "jaxlib", "math", "ml_dtypes", "numpy", "operator", "typing")
)
"""Modules that only compute. The operators and builtins follow what their functions call of the user's."""
_PURE_OF_PLAIN_VALUES = frozenset(
    (
        *("array", "ast", "base64", "binascii", "bisect", "collections", "colorsys", "contextlib", "copy"),
        *(
            "dataclasses",
            "datetime",
            "decimal",
            "difflib",
            "fnmatch",
            "fractions",
            "functools",
            "hashlib",
            "heapq",
            "html",
            "itertools",
            "json",
        ),
        *("numbers", "re", "reprlib", "shlex", "statistics", "string", "struct", "textwrap", "types", "unicodedata"),
        *("urllib.parse", "weakref", "weakrefset", "zlib", "zoneinfo"),
        *("io.BytesIO", "io.StringIO", "pathlib.Path.__init__", "pathlib.PurePath", "pprint.pformat"),
        *("os.path.basename", "os.path.dirname", "os.path.join", "os.path.split", "os.path.splitext"),
        *("pytest.assertion", "chex", "equinox", "flax", "optax", "scipy"),  # pytest rewrites assert
    )
)
"""Modules, and parts of modules, that only compute, unless what they are given is an object or function of the user's:
of that they may call anything."""
_OPAQUE: Mapping[str, str] = {
    "builtins": "__import__ eval exec input type.__subclasses__",
    "datetime": "date.today datetime.astimezone datetime.fromtimestamp datetime.now datetime.today datetime.utcnow",
    "decimal": "getcontext localcontext setcontext",
    "flax": "training.checkpoints",
    "functools": "cache_info lru_cache_wrapper.cache_info",
    "jax": "debug experimental",
    "json": "dump load",
    "numpy": "errstate fromfile genfromtxt get_printoptions geterr load loadtxt memmap ndarray.tofile random save "
    "savetxt savez savez_compressed set_printoptions seterr",
    "operator": "length_hint",
    "scipy": "io",
    "typing": "get_type_hints",
}
"""By such module, what of it reads the world or changes it."""
_EXCEPTIONS = frozenset(f"{module}.{name}" for module, names in _OPAQUE.items() for name in names.split())

_LOGGING = 'write gx.log_message("info", "loss %.2f", loss), which logs each time the program comes to this line'
_PROGRESS = (
    "loop over the range itself, and put gx.data.progress around the Python loop that calls the compiled step; "
    "gx.log_message tells how far a compiled loop has come"
)
_RANDOM = "draw from gx.random, whose numbers differ at each call, or pass the numbers as an argument"
UNCONVERTED = "what it computes with tensors is compiled; put what must run at each call into gx.pyfunc"
_READING = "pass what it gives as an argument, or call it in gx.pyfunc"
_REMEDIES: Mapping[str, str] = {
    "alive_progress": _PROGRESS,
    "datetime": _READING,
    "logging": _LOGGING,
    "loguru": _LOGGING,
    "numpy.random": _RANDOM,
    "os": _READING,
    "pprint": "write print(value), or gx.pyfunc(pprint.pprint, None, value), which print at each call",
    "progressbar": _PROGRESS,
    "random": _RANDOM,
    "rich.progress": _PROGRESS,
    "time": _READING,
    "tqdm": _PROGRESS,
}
"""By module, what to write instead of a call of its functions."""

# The modules that functions in C, and of a system, give for theirs: os.remove.__module__ is posix.
_ALIASES = {"genericpath": "os.path", "nt": "os", "ntpath": "os.path", "posix": "os", "posixpath": "os.path"}


def side_effect(what: str) -> None:
    """Says that Python code does something besides computing; see :meth:`graphc.compiler.tracing.Trace.side_effect`."""
    if context.trace is not None:
        context.trace.side_effect(what)


def defining_class(name: str) -> None:
    """Says that a class statement is about to run, whose body and hooks nobody converts."""
    side_effect(f"the definition of the class {name}")


def report_call(function: Any, what: str) -> Any:
    """Says that a function is about to be called that is not converted; returns what to call in its place."""
    trace, owner = context.trace, getattr(function, "__self__", None)
    if trace is None:
        return function
    if is_opaque(function):
        inner = getattr(function, "__func__", function)
        if isinstance(inner, types.FunctionType) and not is_library_file(inner.__code__.co_filename):
            what = f"the call of {inner.__qualname__}, which is not converted,"
            trace.side_effect(what, certain=True, remedy=UNCONVERTED)
            return function
        what, remedy = f"the call of {public_name(function)}", _remedy_for(function)
        trace.side_effect(what, certain=True, remedy=remedy)
        return _with_values(function, what, remedy) if remedy else function
    if is_told_unseen(owner, as_iterator=True):
        trace.read_once(f"the call of {public_name(function)}")
    if trace.parent is None or is_pure_module(module_of(function)):
        return function
    # An object that is not hashed by what it holds may change.
    is_changed = not isinstance(owner, type | types.ModuleType) and owner.__hash__ in (None, object.__hash__)
    if owner is not None and is_changed:
        trace.side_effect(what)
    return _with_plain_values(function, partial(side_effect, what))


def is_opaque(function: Any) -> bool:
    """Returns True if nobody knows what a function does that is not converted; see the module."""
    names = _names(function)
    return any(_within(name, _EXCEPTIONS) for name in names) or not any(
        _within(name, _PURE) or _within(name, _PURE_OF_PLAIN_VALUES) for name in names
    )


def is_pure_module(module: str) -> bool:
    """Returns True if what a module defines only computes, whatever it is given."""
    return _within(module, _PURE) and not _within(module, _EXCEPTIONS)


def module_of(function: Any) -> str:
    """Returns the module of a function, or of the library's class whose method it is."""
    return _names(function)[0].rpartition(".")[0]


@lru_cache(maxsize=4096)
def _within(name: str, names: frozenset[str]) -> bool:
    """Returns True if a dotted name is one of some names, or inside what has one of them."""
    parts = name.split(".")
    return any(".".join(parts[:count]) in names for count in range(1, len(parts) + 1))


def _names(function: Any) -> list[str]:
    """Returns the full names of a function: by where it is defined, and by the class whose method it is."""
    # A class stands for its ``__init__``.
    if isinstance(function, type):
        return [_full_name(_library_class(cast("Any", function).__mro__), "__init__")]
    inner, owner = getattr(function, "__func__", function), getattr(function, "__self__", None)
    if isinstance(inner, types.FunctionType) and inner.__globals__.get("__name__") == "contextlib":
        maker = inner.__dict__.get("__wrapped__")  # of a library's context manager what makes it counts
        if isinstance(maker, types.FunctionType) and is_library_file(maker.__code__.co_filename):
            inner = maker
    name = str(getattr(function, "__name__", "__call__"))
    if not isinstance(inner, types.FunctionType | types.BuiltinFunctionType | types.MethodWrapperType) and (
        kind := getattr(inner, "__objclass__", None)
    ):
        return [_full_name(kind, name)]  # of a class in C: list.append
    if isinstance(owner, types.ModuleType | None):
        module = str(getattr(inner, "__module__", None) or getattr(owner, "__name__", "builtins"))
        if isinstance(inner, types.FunctionType):  # functools.wraps gives a function the __module__ of another
            module = inner.__globals__.get("__name__", module)
        if not (isinstance(inner, types.FunctionType) or is_library_module(module)):  # such as what jax.jit returns
            return [_full_name(_library_class(type(function).__mro__), "__call__")]
        return [_full_name_of(module, str(getattr(inner, "__qualname__", name)))]
    # Of a class of the user's the library's base counts that has the method.
    kinds = [*(owner.__mro__ if isinstance(owner, type) else ()), *cast("Any", type(owner)).__mro__]
    # What Mapping.get does is what the class does that it asks.
    defining = [kind for kind in kinds if name in vars(kind) and kind.__module__ != "collections.abc"]
    if isinstance(inner, types.FunctionType) and not is_library_module(inner.__module__ or ""):
        return [_full_name_of(inner.__module__ or "", inner.__qualname__)]
    return [_full_name(_library_class(classes or kinds), name) for classes in (defining, kinds)]


def _library_class(kinds: Iterable[type[Any]]) -> type[Any]:
    kinds = list(kinds)
    return next((kind for kind in kinds if is_library_module(kind.__module__)), kinds[0])


def _full_name(kind: type[Any], name: str) -> str:
    return _full_name_of(kind.__module__, f"{kind.__qualname__}.{name}")


def _full_name_of(module: str, name: str) -> str:
    """Returns a full name as a program writes it: of ``_io`` the public module, of ``jax._src.lax`` the package."""
    first, *rest = _ALIASES.get(module, module).split(".")
    public = [part for part in (*rest, *name.split(".")) if not part.startswith("_") or part.startswith("__")]
    return ".".join([first if first.startswith("__") else first.lstrip("_"), *public])


def public_name(function: Any) -> str:
    """Returns how a user calls a function: ``time.time``, ``random.random``, ``open``, ``Path.write_text``."""
    owner, name = getattr(function, "__self__", None), str(getattr(function, "__name__", ""))
    owner = None if isinstance(owner, types.ModuleType) else owner
    module = str(getattr(getattr(function, "__func__", function), "__module__", None) or type(owner).__module__)
    module = "io" if module == "_io" else _ALIASES.get(module, module)
    while module:
        public = getattr(sys.modules.get(module), name, None)
        # Equal ones too, since a bound method is made anew each time; types first, as == of an array is an array.
        if public is function or (type(public) is type(function) and public == function):
            return name if module in ("builtins", "io") else f"{module}.{name}"
        module = module.rpartition(".")[0]
    if owner is os.environ:
        return f"os.environ.{name}"
    if owner is None or not name:
        return str(getattr(function, "__qualname__", "")) or f"a {type(function).__name__}"
    return f"{owner.__name__ if isinstance(owner, type) else type(owner).__name__}.{name}"


def check_read(owner: Any) -> None:
    """Says that Python code is about to look at what an object holds, if no guard can: of the environment, for one."""
    kind = cast("type[Any]", type(owner))
    if context.trace is None:
        return
    method = found_on(kind, "__getitem__") or found_on(kind, "__iter__")
    if isinstance(method, types.FunctionType) and is_library_module(kind.__module__) and is_opaque(kind):
        what = f"the use of {with_article(kind.__name__.lstrip('_'))}"
        context.trace.side_effect(what, certain=True, remedy=_REMEDIES.get(kind.__module__, _READING))
    else:
        check_unseen(owner)


def _remedy_for(function: Any) -> str:
    """Returns what to write in place of a library's function; empty for the default."""
    parts = module_of(function).split(".")
    names = [".".join(parts[:count]) for count in range(len(parts), 0, -1)]
    return next((_REMEDIES[name] for name in names if name in _REMEDIES), "")


def _with_values(function: Callable[..., Any], what: str, remedy: str) -> Callable[..., Any]:
    """Returns a library's function, which refuses tensors that have no value, at the user's line."""

    @wraps(function, updated=())
    def called(*args: Any, **kwargs: Any) -> Any:
        trace = context.trace
        for value in nest.flatten((args, kwargs))[0]:
            if trace is not None and _is_late(value):
                kind = "number" if has_mark(value, "__graphc_number__") else "value"
                subject = f"a {kind} that depends on tensors and"
                if isinstance(value, SymbolicTensor):
                    subject = f"a tensor ({value.type}, {value.made_at()}) that"
                text = f"{what} is given {subject} has no value while the function is traced; {remedy}"
                raise trace.refuse(UnimplementedError(text))
        refusals = 0 if trace is None else len(trace.root.refusals)
        try:
            return in_python(function, *args, **kwargs)
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


def _with_plain_values(function: Callable[..., Any], report: Callable[[], None]) -> Callable[..., Any]:
    """Returns a function that only computes; ``report`` is called if it is given code of the user's."""

    @wraps(function, updated=())
    def called(*args: Any, **kwargs: Any) -> Any:
        if any(map(_is_users, (*args, *kwargs.values()))):
            report()
        return in_python(function, *args, **kwargs)

    return called


def _is_users(value: Any) -> bool:
    """Returns True if a value is a function or object of the user's, or is not known to have none in it."""
    kind = cast("type[Any]", type(value))
    if kind is dict:
        table = cast("dict[Any, Any]", value)
        return any(map(_is_users, table)) or any(map(_is_users, table.values()))
    if kind in (list, tuple, set, frozenset):
        return any(map(_is_users, value))
    by_identity = kind.__hash__ in (None, object.__hash__)
    return not is_library_module(kind.__module__) or callable(value) or by_identity


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
