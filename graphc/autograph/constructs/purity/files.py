"""Files that a function prints into: written when the program runs, or, if the function makes them, when it is traced.

A program prints into a file from outside at each call, and who reads the file does so after the call. A file that the
function makes (a ``StringIO``) is read in the function, whose Python runs when it is traced. What is printed there has
to be known by then.
"""

from __future__ import annotations

import io
import sys
import weakref
from dataclasses import dataclass
from typing import Any, cast

from graphc.autograph.constructs.overrides import Functions
from graphc.autograph.constructs.storage.cells import ManagedAttributeCell
from graphc.autograph.values.deferred import is_deferred
from graphc.base import at, user_location
from graphc.base.errors import UnimplementedError
from graphc.tracing import context, current_trace

__all__ = ["OVERRIDES", "check_unread", "is_made_here", "is_redirected", "note_late", "print_now", "watch_stream"]

_NOT_READING = frozenset(("close", "closed", "encoding", "fileno", "flush", "isatty", "name", "write", "writelines"))


@dataclass(frozen=True)
class _Made:
    """A note of a file that the function made."""

    file: weakref.ref[Any]


@dataclass(frozen=True)
class _Late:
    """A note of a file that the program prints into."""

    file: Any


def _make(native: Any, *args: Any, **kwargs: Any) -> Any:
    file = native(*args, **kwargs)
    current_trace().root.notes.append(_Made(weakref.ref(file)))
    return file


OVERRIDES: Functions = {io.StringIO: _make}


def is_made_here(file: Any) -> bool:
    """Returns True if the function that is traced made a file."""
    return any(isinstance(note, _Made) and note.file() is file for note in current_trace().root.notes)


def watch_stream(name: str) -> None:
    """Notes what ``sys.stdout`` or ``sys.stderr`` is, which the function is about to redirect."""
    current_trace().journal.note(ManagedAttributeCell(sys, name))


def is_redirected(name: str) -> bool:
    """Returns True if the function itself has put another file in the place of ``sys.stdout`` or ``sys.stderr``."""
    write = current_trace().root.journal.writes.get(ManagedAttributeCell.key_of(sys, name))
    return write is not None and write.before is not getattr(sys, name)


def print_now(native: Any, values: Any, options: dict[str, Any], file: Any) -> None:
    """Prints into a file that the function made, when it is traced.

    Raises:
      UnimplementedError: what is printed is known at run time only.
    """
    trace = current_trace()
    kind = type(file).__name__
    if is_deferred((values, options)):
        error = UnimplementedError(
            f"print() into a {kind} that the function makes needs the letters of a text that is made of tensors, which "
            "have no values while the function is traced; make the text with an f-string, which can be printed, "
            "raised, passed to gx.pyfunc, or returned"
        )
        raise trace.refuse(error)
    trace.side_effect(f"print() into a {kind} that the function makes")
    native(*values, file=file, **options)


def note_late(file: Any) -> None:
    """Notes that the program prints into a file from outside."""
    current_trace().root.notes.append(_Late(file))


def check_unread(file: Any, name: str = "") -> None:
    """Refuses to read a file that the program prints into: what is printed is not there yet.

    Args:
      file: any object.
      name: the attribute that is used; empty for any use.

    Raises:
      UnimplementedError: it is such a file.
    """
    trace = context.trace
    if trace is None or name in _NOT_READING or not hasattr(cast("Any", type(file)), "write"):
        return
    if any(isinstance(note, _Late) and note.file is file for note in trace.root.notes):
        use = f"the attribute {name!r} of" if name else "the use of"
        error = UnimplementedError(
            f"{use} a {type(file).__name__} after print() into it: the program prints when it runs, and this reads "
            "when the function is traced; read it after the call, or call what prints and reads through gx.pyfunc"
        )
        raise trace.refuse(at(error, user_location()))
