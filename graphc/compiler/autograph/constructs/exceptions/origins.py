"""Whose an exception is that is raised while a function is traced.

The program's own exceptions are met by its handlers, and become exceptions of the branch that raises them. graphc's own
failures (a refusal, a bug) are no part of the program: no handler, ``finally`` or ``__exit__`` of the user's may decide
about them, and they end the trace.

Converted code asks Python by the operators, which are code of graphc's. What they ask on behalf of the program they ask
through :func:`in_python`, and so the traceback tells the one from the other: an exception that comes out of any other
code of graphc's, without a ``raise`` statement there, is a bug.
"""

from __future__ import annotations

import dis
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import CodeType, FrameType, FunctionType, TracebackType
from typing import Any, cast

from graphc.compiler.autograph.frontend.convert import is_converted, is_part, is_part_of
from graphc.compiler.autograph.values.deferred import RAISED, symbolic_parts
from graphc.compiler.autograph.values.growing_list import check_source
from graphc.compiler.autograph.values.protocol import Symbolic
from graphc.compiler.base import Location, is_graphc_file, is_installed_file, user_location
from graphc.compiler.base.errors import ConcretizationError, GraphcError, InternalError, UnimplementedError
from graphc.compiler.tracing import context

_PACKAGE = Path(__file__).parents[4]
_PARTS = ("compat", "compiler/ops", "training/layers", "training/losses", "training/optim")
# Ops are generated, and have no file in the package.
_INTERFACE = ("<graphc op", *[str(_PACKAGE / part) + os.sep for part in _PARTS])


def in_python(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Calls a function of Python's or of a library's for the program; an exception that leaves it is the program's."""
    # If it was passed a number or text that depends on tensors, a failure is a ConcretizationError: with a value it
    # might not fail.
    try:
        return function(*args, **kwargs)
    except Exception as error:
        if isinstance(error, TypeError | AttributeError) and context.trace is not None:
            _read_lacking((function, *args, *kwargs.values()))
        if _answers_program(error):
            for symbolic in symbolic_parts((args, kwargs)):
                raise _rejected(getattr(function, "__qualname__", repr(function)), symbolic, error) from error
        raise


def _read_lacking(values: Iterable[Any]) -> None:
    """Tells that Python may have found no method for what it was asked: the classes may have one at the next call."""
    assert context.trace is not None
    root = context.trace.root
    for value in values:
        owner: Any = cast("Any", value).__self_class__ if isinstance(value, super) else value
        for kind in cast("list[type[Any]]", [type(owner), *([owner] if isinstance(owner, type) else [])]):
            root.reads.names_of_class(kind, root.made_classes)


def items_in_python(values: Iterable[Any]) -> Iterator[Any]:
    """Yields the items of what the program runs over; an exception of its iterator is the program's."""
    iterator = in_python(iter, values)
    while True:
        try:
            check_source(iterator)
            item = in_python(next, iterator)
        except StopIteration:  # a generator that lets it pass raises a RuntimeError (PEP 479)
            return
        yield item


def is_of_program(error: BaseException) -> bool:
    """Returns True if an exception is what the program raises, or what Python answers it, in eager code as well."""
    if hasattr(error, RAISED):
        return True
    # RecursionError: tracing takes several frames a call, so that Python itself may not get there.
    if not isinstance(error, Exception) or isinstance(error, GraphcError | RecursionError):
        return False
    own, last = _innermost_own(error)
    return own is None or _is_door(own) or (own is last and (_is_raise(own) or _misfits(error, own)))


# A call that does not fit has no frame of the callee's: only the text names it.
_MISFIT = re.compile(r"(\S+)\(\) (missing \d|takes |got an unexpected keyword|got multiple values)")


def _misfits(error: BaseException, entry: TracebackType) -> bool:
    """Returns True if a function of the user's, which one of graphc's was given, does not take what that gives it."""
    match = _MISFIT.match(str(error)) if isinstance(error, TypeError) else None
    functions = (
        [value for value in entry.tb_frame.f_locals.values() if isinstance(value, FunctionType)] if match else []
    )
    names = [value.__qualname__ for value in functions if not is_graphc_file(value.__code__.co_filename)]
    return match is not None and match[1] in names


def _answers_program(error: Exception) -> bool:
    """Tells if it is Python itself, or a library, that raises an exception, and no function of the user's below."""
    own, _ = _innermost_own(error)
    return not isinstance(error, GraphcError | RecursionError) and own is not None and _is_door(own)


def _is_door(entry: TracebackType) -> bool:
    return entry.tb_frame.f_code is in_python.__code__


def _entries(error: BaseException) -> Iterator[TracebackType]:
    entry = error.__traceback__
    while entry is not None:
        yield entry
        entry = entry.tb_next


def _innermost_own(error: BaseException) -> tuple[TracebackType | None, TracebackType | None]:
    """Returns where in graphc's code an exception was raised, below the user's, or None; and where at all."""
    own: TracebackType | None = None
    last: TracebackType | None = None
    for last in _entries(error):
        code = last.tb_frame.f_code
        if is_graphc_file(code.co_filename):
            own = last
        elif is_converted(code) or not is_installed_file(code.co_filename):
            own = None  # code of the user's below: graphc only passes its exception on
    return own, last


def _is_raise(entry: TracebackType) -> bool:
    """Returns True if a statement raises the exception that a traceback ends in: graphc says what Python would."""
    code = entry.tb_frame.f_code.co_code
    return dis.opname[code[entry.tb_lasti]] == "RAISE_VARARGS"


def _rejected(what: str, symbolic: Symbolic, error: Exception) -> GraphcError:
    trace, shown = context.trace, symbolic.describe()
    described = shown[1:-1] if shown.startswith("<") else f"a value that is {shown}"
    refused = ConcretizationError(
        f"the call of {what} with {described} fails while the function is traced, when that has no value yet "
        f"({type(error).__name__}: {error}); compute with tensors, or call it through gx.pyfunc"
    )
    return refused if trace is None else trace.refuse(refused)


def end_by(error: BaseException) -> None:
    """Ends the trace if an exception is a failure of graphc's own; does nothing about the program's and refusals."""
    trace = context.trace
    if trace is None or not isinstance(error, Exception) or isinstance(error, GraphcError):
        return
    if is_of_program(error):
        frames = [entry.tb_frame for entry in _entries(error)]
        for frame in (frame for frame in frames if is_installed_file(frame.f_code.co_filename)):
            # With a value in place of the tensor the library might not fail.
            for symbolic in symbolic_parts([*frame.f_locals.values()]):
                raise _rejected(frame.f_code.co_qualname, symbolic, error) from error
        return
    raise trace.note_refusal(_too_deep(trace.root.builder.name) if _recurses(error) else _internal(error)) from error


def is_of_interface(error: BaseException) -> bool:
    """Returns True if one of graphc's functions for arrays raises an exception, as it would in eager code."""
    own, _ = _innermost_own(error)
    return own is not None and own.tb_frame.f_code.co_filename.startswith(_INTERFACE)


def passes(error: BaseException | None) -> bool:
    """Returns True if no handler of the program's may see an exception; a failure of graphc's own ends the trace."""
    trace = context.trace
    if trace is None or error is None:
        return False
    end_by(error)
    if isinstance(error, Exception):
        return bool(trace.root.refusals)  # the trace ends in an error, whatever follows
    return type(error).__module__.partition(".")[0] == "graphc"  # Ended, RegionAborted, CreationInTrace


def passing() -> Any:
    """Returns what the first ``except`` of each ``try`` statement catches, to raise it again."""
    return BaseException if passes(sys.exc_info()[1]) else ()  # `except ():` catches nothing


_LAST_CALLS = 300
"""Of how many calls, the last ones, it is asked whether they are the user's; a few are graphc's for each of those."""


def _recurses(error: Exception) -> bool:
    """Returns True if it is the user's functions that call each other without end, and not graphc's."""
    if not isinstance(error, RecursionError):
        return False
    codes = [entry.tb_frame.f_code for entry in _entries(error)][::-1]
    around: FrameType | None = sys._getframe()  # pyright: ignore[reportPrivateUsage]
    while around is not None:
        codes.append(around.f_code)
        around = around.f_back
    return sum(map(is_converted, codes[:_LAST_CALLS])) > 2


def _too_deep(name: str) -> GraphcError:
    return UnimplementedError(
        f"{name}: a function calls itself too deeply for Python while it is traced (a converted call takes several "
        "frames). A condition on tensors cannot end a recursion, since both branches are traced; write a loop"
    )


def _internal(error: Exception) -> GraphcError:
    return InternalError(
        f"graphc failed while it traced this line ({type(error).__name__}: {error}). This is a bug in graphc: please "
        "report it, with this line. Until it is mended write the line in another way, or compile the function with "
        "autograph=False, and gx.cond and gx.while_loop in place of `if` and `while`"
    ).at(_place(error) or user_location())


def _place(error: Exception) -> Location | None:
    """Returns the line of the user's where an exception was raised."""
    location: Location | None = None
    for entry in _entries(error):
        code = entry.tb_frame.f_code
        if is_converted(code) or not (is_graphc_file(code.co_filename) or is_installed_file(code.co_filename)):
            line = cast("int | None", entry.tb_lineno) or code.co_firstlineno
            location = Location(code.co_filename, line, code.co_name)
    return location


# The lines where exceptions were raised and where traced functions are.


def forget(error: BaseException) -> None:
    """Takes the notes of where they were raised away from an exception and those that led to it."""
    for led in chain(error):
        led.__dict__.pop(RAISED, None)


def chain(error: BaseException) -> list[BaseException]:
    """Returns an exception and those that led to it, each once."""
    errors: list[BaseException] = []
    waiting: list[BaseException | None] = [error]
    while waiting:
        last = waiting.pop()
        # By identity: exceptions may define ==, and one may be its own cause.
        if last is not None and not any(last is one for one in errors):
            errors.append(last)
            waiting += [last.__cause__, last.__context__]
    return errors


def places_of(error: BaseException) -> list[Location]:
    """Returns where an exception was raised that no code of the user's raised by a statement, as :func:`user_calls`."""
    return [location for _, location in calls_of(error)]


def calls_of(error: BaseException) -> list[tuple[CodeType, Location]]:
    """Returns the user's functions in an exception's traceback, the outermost first."""
    calls: list[tuple[CodeType, Location]] = []
    entry = error.__traceback__
    while entry is not None:
        code = entry.tb_frame.f_code
        if not is_graphc_file(code.co_filename):
            if calls and is_part_of(code, calls[-1][0]):  # the line in the branch is the nearer one
                calls.pop()
            line = cast("int | None", entry.tb_lineno) or code.co_firstlineno
            calls.append((code, Location(code.co_filename, line, code.co_name)))
        entry = entry.tb_next
    return calls


def user_calls() -> list[Location]:
    """Returns where the user's functions that are being traced stand in converted code, the outermost first."""
    # A branch or a loop's body is a function of its own in converted code; here it is part of the one around it.
    locations: list[Location] = []
    inner: FrameType | None = None
    frame: FrameType | None = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame is not None:
        code = frame.f_code
        if is_converted(code):
            if inner is None or not is_part(inner.f_code):
                locations.append(Location(code.co_filename, frame.f_lineno, code.co_name))
            inner = frame
        frame = frame.f_back
    return locations[::-1]
