"""Source locations: the user's lines that are running.

A frame belongs to the user unless its file is part of graphc or of a library that graphc calls. The result is cached by
code object, so that a query costs about a microsecond.
"""

from __future__ import annotations

import importlib.util
import linecache
import os
import stat
import sys
import sysconfig
import warnings
import weakref
from bisect import bisect_right
from dataclasses import dataclass
from functools import cache
from types import CodeType, FrameType, ModuleType
from typing import Any, TypeVar, cast

# Notes about objects, by identity; and marks, by which lower layers know values of higher ones.

T = TypeVar("T")


def remember(notes: dict[int, T], owner: object, note: T) -> T:
    """Stores a note about an object under its ``id``, for as long as the object lives; returns the note."""
    # By id for code objects: equal ones may come from two files, and comparing nested ones, such as the code of nested
    # branches, takes time exponential in the nesting depth.
    notes[id(owner)] = note
    weakref.finalize(owner, notes.pop, id(owner), None).atexit = False
    return note


def has_mark(value: object, name: str) -> bool:
    """Returns True if the class of a value has an attribute of graphc's."""
    # The value itself is not asked: one of the user's may answer to any name, or raise anything but an AttributeError.
    return hasattr(type(value), name)


_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep
# The demonstration is packaged but is a user's program: messages and graphs have its lines.
_DEMO = os.path.join(_PACKAGE, "cli", "demo") + os.sep


def _library_prefixes() -> tuple[str, ...]:
    prefixes = [_PACKAGE]
    for name in ("jax", "jaxlib", "numpy", "opt_einsum", "optax"):
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.origin is not None:
            prefixes.append(os.path.dirname(spec.origin) + os.sep)
    return tuple(prefixes)


_PREFIXES = _library_prefixes()
_LIBRARIES = tuple(
    os.path.realpath(path) + os.sep
    for path in {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
)
_STDLIB = os.path.dirname(os.__file__) + os.sep
_STDLIB_PLUMBING = tuple(_STDLIB + name for name in ("contextlib.py", "functools.py", "threading.py", "inspect.py"))


@dataclass(frozen=True, slots=True)
class Location:
    """A line of the user's code."""

    file: str
    line: int
    function: str = "<module>"

    def __str__(self) -> str:
        text = linecache.getline(self.file, self.line).strip() if _may_be_source(self.file) else ""
        header = f'File "{self.file}", line {self.line}, in {self.function}'
        return f"{header}\n    {text}" if text else header

    @property
    def short(self) -> str:
        """The location as ``file.py:12``, without folders; ``In[2]:3`` for a line in a notebook cell."""
        return f"{_cell(self.file) or os.path.basename(self.file)}:{self.line}"


def _cell(file: str) -> str:
    """Returns IPython's name for the code of a cell, such as ``In[2]``; empty for a file."""
    shell: Any = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    named = None if shell is None else shell.compile.format_code_name(file)
    return named[1] if named and named[0] == "Cell" else ""


_LARGEST_SOURCE = 2**24
"""Maximum size in bytes of a source file that is read for its lines."""


def _may_be_source(file: str) -> bool:
    """Returns True if a line may be read from a file: a graph's text may name a file that never ends."""
    try:
        status = os.stat(file)
    except OSError:
        return True  # missing, but Python may have the text
    except ValueError:
        return False  # the name is not a valid file name
    return stat.S_ISREG(status.st_mode) and status.st_size <= _LARGEST_SOURCE


def is_graphc_file(filename: str) -> bool:
    """Returns True if the file is part of graphc, other than its demonstration, or code that graphc generated."""
    return filename.startswith((_PACKAGE, "<graphc")) and not filename.startswith(_DEMO)


@cache
def is_library_file(filename: str) -> bool:
    """Returns True if a file belongs to Python, to graphc or to an installed package."""
    return is_graphc_file(filename) or is_installed_file(filename)


@cache
def is_library_module(name: str) -> bool:
    """Returns True if a module is Python's, graphc's or an installed package's."""
    file = getattr(sys.modules.get(name), "__file__", None)
    return name in sys.builtin_module_names or (file is not None and is_library_file(file))


_CONSTANTS = frozenset(("e", "euler_gamma", "inf", "infj", "nan", "nanj", "newaxis", "pi", "tau"))
_PLAIN = (bool, bytes, complex, float, frozenset, int, str, tuple, type(None))


def is_kept(name: str, value: Any) -> bool:
    """Returns True if a library's module never rebinds a name: to a function, a class, a module or a constant."""
    if callable(value) or isinstance(value, ModuleType) or name in _CONSTANTS:
        return True
    kind = cast("type[Any]", type(value))
    return kind not in _PLAIN and kind.__hash__ not in (None, object.__hash__)  # hashed by content


@cache
def is_installed_file(filename: str) -> bool:
    """Returns True if a file belongs to Python or to an installed package."""
    return filename.startswith("<frozen ") or os.path.realpath(filename).startswith(_LIBRARIES)


def is_internal_file(filename: str) -> bool:
    """Returns True if the file belongs to graphc, to a library it calls, or to plumbing such as ``contextlib``."""
    if filename.startswith(_DEMO):
        return False
    return filename.startswith((*_PREFIXES, "<frozen", "<graphc")) or filename in _STDLIB_PLUMBING


def _is_made_for_graphc(frame: FrameType) -> bool:
    """Returns True if the code is an ``__init__`` that ``dataclasses`` generated for graphc; it has no file."""
    return frame.f_code.co_filename == "<string>" and frame.f_globals.get("__name__", "").startswith("graphc.")


_internal: dict[int, bool] = {}
_locations: dict[int, tuple[list[int], list[Location]]] = {}


def user_frame(skip: int = 1) -> FrameType | None:
    """Returns the innermost frame of the user's code."""
    return _innermost_of_user(sys._getframe(skip))  # pyright: ignore[reportPrivateUsage]


def _innermost_of_user(frame: FrameType | None) -> FrameType | None:
    while frame is not None:
        code = frame.f_code
        internal = _internal.get(id(code))
        if internal is None:
            internal = remember(_internal, code, is_internal_file(code.co_filename) or _is_made_for_graphc(frame))
        if not internal:
            return frame
        frame = frame.f_back
    return None


def user_location() -> Location | None:
    """Returns the user's line that is running; None if no user frame is on the stack."""
    frame = user_frame(2)
    return None if frame is None else _location_of(frame)


def thread_location(thread: int) -> Location | None:
    """Returns the user's line that a thread is running, by its ``threading.get_ident`` number."""
    current = sys._current_frames().get(thread)  # pyright: ignore[reportPrivateUsage]
    frame = _innermost_of_user(current)
    return None if frame is None else _location_of(frame)


def _location_of(frame: FrameType) -> Location:
    code = frame.f_code
    starts, locations = _locations.get(id(code)) or _line_table(code)
    return locations[bisect_right(starts, frame.f_lasti) - 1]


def _line_table(code: CodeType) -> tuple[list[int], list[Location]]:
    """Returns the start offsets of a code object's lines, and their locations."""
    # ``frame.f_lineno`` decodes Python's table from the start each time, 10 us in a function of 2,000 lines.
    starts: list[int] = []
    locations: list[Location] = []
    for start, _, line in code.co_lines():
        starts.append(start)
        locations.append(Location(code.co_filename, code.co_firstlineno if line is None else line, code.co_name))
    return remember(_locations, code, (starts, locations))


def warn_at(warning: Warning, location: Location | None) -> None:
    """Issues a warning at a line of the user's code, regardless of the running line and of earlier warnings."""
    if location is None:
        warnings.warn(warning, stacklevel=2)
    else:
        warnings.warn_explicit(warning, None, location.file, location.line)  # pyright: ignore[reportArgumentType]
