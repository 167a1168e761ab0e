"""The registry of the conformance suite, and the three ways to run a program of it.

A program is a plain Python function of tensors and Python values::

    @program("loops/sum of a tensor", inputs=[(f(1, 2, 3),), (f(-1, 0, 1),)], construct="`for` over a tensor",
             gradient=True)
    def sum_of_a_tensor(x):
        total = 0.0
        for value in x:
            total = total + value
        return total

It is run as plain Python over eager tensors, compiled (the first input twice, as the first call traces and the second
only runs; and a third of the others, drawn by ``tests/draws.py``), and, where ``gradient`` says so, under a tape:
eagerly, and compiled under a tape outside or with the tape inside the compiled function. Each call gets fresh
arguments. Compared are the result (structure, values, dtypes, shapes, Python types), the arguments after the call, what
was printed, the exception (type and text), the gradients.

Modules named ``idioms_*.py`` and ``algorithms_*.py`` in this folder hold the programs; :func:`programs` loads them all.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType
from typing import Any, Literal

import jax
import numpy as np

import graphc as gx
from graphc.compiler.base import nest
from graphc.compiler.base.errors import GraphcError, InternalError, SideEffectWarning, VerificationError
from tests.conformance.comparing import difference, snapshot
from tests.draws import is_drawn

__all__ = [
    "Differs",
    "Outcome",
    "Program",
    "Refused",
    "TapePlace",
    "b",
    "check",
    "check_gradients",
    "check_moved",
    "f",
    "group",
    "i",
    "program",
    "programs",
]

Outcome = Literal["compiles", "runs at trace time", "refused"]
TapePlace = Literal["around", "inside"]


class Differs(AssertionError):
    """Compiled code does something else than plain Python: the one thing that must never happen."""


class Refused(Exception):
    """graphc refuses, eagerly or compiled, what the program says it takes; or takes what it should refuse."""


@dataclass(frozen=True)
class Program:
    """One program of the suite; see :func:`program`."""

    name: str
    fn: Callable[..., Any]
    inputs: tuple[tuple[Any, ...], ...]
    construct: str
    outcome: Outcome
    gradient: bool = False
    refused: tuple[type[Exception], str] | None = None
    raises: type[Exception] | None = None
    known_gap: str | None = None
    known_difference: str | None = None
    gradient_gap: str | None = None
    python_numbers: bool = False
    tolerance: float = 1e-5
    loops: tuple[str, ...] | None = None
    options: dict[str, Any] = field(default_factory=dict)
    file: str = ""


_programs: dict[str, Program] = {}


def program(
    name: str,
    *,
    inputs: Sequence[tuple[Any, ...]],
    construct: str,
    outcome: Outcome | None = None,
    gradient: bool = False,
    refused: tuple[type[Exception], str] | None = None,
    raises: type[Exception] | None = None,
    known_gap: str | None = None,
    known_difference: str | None = None,
    gradient_gap: str | None = None,
    python_numbers: bool = False,
    tolerance: float = 1e-5,
    loops: tuple[str, ...] | None = None,
    file: str | None = None,
    **options: Any,
) -> Callable[[Any], Any]:
    """Adds a program to the suite.

    Args:
      name: ``group/what it shows``, unique.
      inputs: tuples of arguments. NumPy arrays and numbers (see :func:`f`, :func:`i`, :func:`b`), also in lists, tuples
        and dicts, become tensors; callables are called to make an argument (``lambda: Counter()``); all else is given
        as it is.
      construct: the row of the table in the documentation that the program belongs to.
      outcome: what the table says of the construct; "refused" with ``refused``, else "compiles". What is printed at
        trace time is compared at the first call of a trace only.
      gradient: whether the gradients of the floating outputs' sum by the floating tensor arguments are compared too.
      refused: the error with which a compiled call must be refused, and a pattern that its message must match; the
        message must also name a line of the program's file. Without it eager code must run.
      raises: the exception of graphc that eager code is meant to raise (others it may raise unasked).
      known_gap: why graphc refuses the program today; the test fails as soon as it no longer does.
      known_difference: how graphc silently changes the program's meaning today, or what breaks; likewise.
      gradient_gap: why only the gradients fail today, in whatever way; likewise.
      python_numbers: whether a tensor may come back compiled where plain Python gives a Python number, because the
        number depends on tensors.
      tolerance: relative and absolute, of floating values.
      loops: what becomes of the program's loops on the first inputs, in their order; None where it is not looked at.
      file: the file whose lines a refusal names, where it is not that of ``fn``.
      **options: of ``gx.function``.

    Returns:
      A decorator that returns the function as it is.
    """

    def add(fn: Any) -> Any:
        if name in _programs:
            raise ValueError(f"there are two programs named {name!r}")
        _programs[name] = Program(
            name=name,
            fn=fn,
            inputs=tuple(inputs),
            construct=construct,
            outcome=outcome or ("refused" if refused else "compiles"),
            gradient=gradient,
            refused=refused,
            raises=raises,
            known_gap=known_gap,
            known_difference=known_difference,
            gradient_gap=gradient_gap,
            python_numbers=python_numbers,
            tolerance=tolerance,
            loops=loops,
            options=options,
            file=file or _file_of(fn),
        )
        return fn

    return add


def group(name: str, *, construct: str) -> Callable[..., Callable[[Any], Any]]:
    """A shorter :func:`program` for functions of one construct, which are told apart by their own names.

    Args:
      name: of the group.
      construct: the row of the table.

    Returns:
      A decorator with arguments: what to run the function on, an argument or a tuple of arguments each time, and the
      other keywords of :func:`program`.
    """

    def of_group(*inputs: Any, **said: Any) -> Callable[[Any], Any]:
        given = [one if isinstance(one, tuple) else (one,) for one in inputs]

        def add(fn: Any) -> Any:
            return program(f"{name}/{fn.__name__}", inputs=given, construct=construct, python_numbers=True, **said)(fn)

        return add

    return of_group


def programs() -> list[Program]:
    """All programs of the suite, from every module of this folder that holds some."""
    folder = Path(__file__).parent
    for path in sorted((*folder.glob("idioms_*.py"), *folder.glob("algorithms_*.py"))):
        importlib.import_module(f"tests.conformance.{path.stem}")
    return list(_programs.values())


def f(*values: Any) -> Any:
    """A float32 tensor argument: a scalar of one number, a vector of several, any shape of a nested list."""
    return np.array(values[0] if len(values) == 1 else values, np.float32)


def i(*values: Any) -> Any:
    """An int32 tensor argument; like :func:`f`."""
    return np.array(values[0] if len(values) == 1 else values, np.int32)


def b(*values: Any) -> Any:
    """A bool tensor argument; like :func:`f`."""
    return np.array(values[0] if len(values) == 1 else values, np.bool_)


# --- one run


@dataclass(frozen=True)
class Run:
    """What a call did.

    Attributes:
      result: what it returned.
      error: what it raised, or None.
      printed: what it printed.
      before: the arguments before the call, in plain NumPy.
      after: the arguments after the call.
    """

    result: Any
    error: Exception | None
    printed: str
    before: Any
    after: Any


def _run(fn: Callable[..., Any], given: tuple[Any, ...]) -> Run:
    gx.random.seed(7)
    args = fresh(given)
    before = snapshot(args)
    out = io.StringIO()
    result, raised = None, None
    with contextlib.redirect_stdout(out), warnings.catch_warnings():
        warnings.simplefilter("ignore", SideEffectWarning)
        try:
            result = fn(*args)
        except Exception as error:
            raised = error
        gx.wait_all()
        jax.effects_barrier()
    return Run(result, raised, out.getvalue(), before, snapshot(args))


def fresh(given: Any) -> Any:
    """The arguments of one call: tensors of NumPy's arrays, objects of what makes them, new containers."""
    if isinstance(given, np.ndarray | np.generic):
        return gx.asarray(given.copy())
    if isinstance(given, list | tuple):
        return type(given)(fresh(value) for value in given)
    if isinstance(given, dict):
        return {key: fresh(value) for key, value in given.items()}
    return given() if callable(given) else given


# --- comparing


def _check_same(program: Program, way: str, eager: Run, compiled: Run, *, printed: bool = True) -> None:
    where = f"{way} of {program.name}"
    if eager.error is not None:
        _check_same_error(where, eager, compiled)
    else:
        if _is_refusal(compiled.error):
            raise Refused(f"{where}: {type(compiled.error).__name__}: {compiled.error}") from compiled.error
        if compiled.error is not None:
            raise Differs(f"{where}: raises {compiled.error!r}, eager code does not") from compiled.error
        problem = difference(eager.result, compiled.result, program.tolerance, program.python_numbers)
        if problem is None:
            problem = difference(eager.after, compiled.after, program.tolerance, True)
            problem = problem and f"the arguments after the call: {problem}"
        if problem is not None:
            raise Differs(f"{where}: {problem}")
    if printed and eager.printed != compiled.printed:
        raise Differs(f"{where}: printed {compiled.printed!r}, eager code prints {eager.printed!r}")


def _check_same_error(where: str, eager: Run, compiled: Run) -> None:
    if compiled.error is None:
        raise Differs(f"{where}: eager code raises {eager.error!r}, compiled code returns {compiled.result!r}")
    if type(compiled.error) is not type(eager.error) and _is_refusal(compiled.error):
        raise Refused(f"{where}: {compiled.error!r}, eager code raises {eager.error!r}") from compiled.error
    if type(compiled.error) is not type(eager.error) or _message(compiled.error) != _message(eager.error):
        raise Differs(f"{where}: raises {compiled.error!r}, eager code {eager.error!r}") from compiled.error
    problem = difference(compiled.before, compiled.after, 0.0, False)
    if problem is not None:
        raise Differs(f"{where}: a call that failed has changed its arguments: {problem}")


def _is_refusal(error: Exception | None) -> bool:
    return isinstance(error, GraphcError) and not isinstance(error, InternalError | VerificationError)


def _message(error: Exception | None) -> str:
    """What an exception says; of one that graphc itself raises only the place, as it may know more when it traces."""
    text = str(error)
    return text.partition("\n  at ")[2] if isinstance(error, GraphcError) else text


# --- the ways to run


def check(program: Program) -> None:
    """Runs a program as plain Python and compiled, on each of its inputs.

    Raises:
      Refused: graphc refuses what it should take, or takes what it should refuse, or refuses with a poor message.
      Differs: compiled code does something else.
    """
    compiled = gx.function(program.fn, on_retrace="ignore", **program.options)
    if program.refused is not None:
        for given in program.inputs:
            _check_refused(program, compiled, given)
        return
    at_trace_time = program.outcome == "runs at trace time"
    for number, given in enumerate(program.inputs):
        eager = _run_eagerly(program, program.fn, given)
        # The first calls with later inputs mostly run the trace of the first input, as second calls do.
        twice = not number or is_drawn(f"{program.name} {number}", 3)
        for call in ("the first call", "the second call") if twice else ("the first call",):
            found = _run(compiled, given)
            _check_same(program, call, eager, found, printed=bool(found.printed) or not at_trace_time)


def check_gradients(program: Program, places: Sequence[TapePlace] = ("around", "inside")) -> None:
    """Compares the gradients of the eager tape to those of a tape around the compiled function, and of one inside it.

    Args:
      program: the program.
      places: of the tapes that are compared to the eager one.

    Raises:
      Refused: graphc refuses it.
      Differs: they are not the same.
    """
    around = with_tape(gx.function(program.fn, on_retrace="ignore", **program.options))
    inside = gx.function(with_tape(program.fn), on_retrace="ignore", **program.options)
    for given in program.inputs:
        eager = _run_eagerly(program, with_tape(program.fn), given)
        if "around" in places:
            _check_same(program, "a tape around the compiled function", eager, _run(around, given))
        if "inside" in places:
            for call in ("the first call", "the second call"):
                _check_same(program, f"{call} with the tape inside", eager, _run(inside, given))


def _run_eagerly(program: Program, fn: Callable[..., Any], given: tuple[Any, ...]) -> Run:
    eager = _run(fn, given)
    if isinstance(eager.error, GraphcError) and not isinstance(eager.error, program.raises or ()):
        raise Refused(f"eager code of {program.name}: {eager.error!r}") from eager.error
    if program.raises is not None and not isinstance(eager.error, program.raises | None):
        raise AssertionError(f"{program.name} raises {eager.error!r}") from eager.error
    if isinstance(eager.error, TypeError | AttributeError | NameError) and program.raises is None:
        # That is not how a program of the suite fails: a Tensor lacks something that the program uses.
        raise Refused(f"eager code of {program.name} raises {eager.error!r}") from eager.error
    return eager


def with_tape(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A function of the same arguments that gives the result, and the gradients by the floating arguments."""

    def run(*args: Any) -> Any:
        sources = _floating(args)
        with gx.GradientTape() as tape:
            tape.watch(sources)
            result = fn(*args)
            # Results that nothing was computed for have a gradient too: zero.
            targets = [value * 1 for value in _floating(result)]
        if not targets:  # numbers, or nothing
            return result, [gx.zeros_like(source) for source in sources]
        return result, tape.gradient(targets, sources, unconnected_gradients="zero")

    return run


def _slopes(fn: Callable[..., Any], args: tuple[Any, ...], sources: list[Any]) -> list[Any]:
    with gx.GradientTape() as tape:
        tape.watch(sources)
        leaves = nest.flatten(fn(*args))[0]
        targets = [leaf * 1 for leaf in leaves if isinstance(leaf, gx.Tensor) and leaf.dtype.kind == "f"]
    return tape.gradient(targets, sources, unconnected_gradients="zero")


def _in_branch(fn: Callable[..., Any], args: tuple[Any, ...], sources: list[Any]) -> list[Any]:
    slopes = [gx.zeros_like(source) for source in sources]
    if gx.size(sources[0]) + 0 * gx.sum(sources[0]) < 1e9:
        slopes = _slopes(fn, args, sources)
    return slopes


def _after_return(fn: Callable[..., Any], args: tuple[Any, ...], sources: list[Any]) -> list[Any]:
    if gx.size(sources[0]) + 0 * gx.sum(sources[0]) > 1e9:
        return [gx.zeros_like(source) for source in sources]
    return _slopes(fn, args, sources)


def _in_loop(fn: Callable[..., Any], args: tuple[Any, ...], sources: list[Any]) -> list[Any]:
    slopes = [gx.zeros_like(source) for source in sources]
    count = gx.sum(sources[0]) * 0
    while count < 1:
        slopes = _slopes(fn, args, sources)
        count = count + 1
    return slopes


MOVED: dict[str, Callable[..., Any]] = {"branch": _in_branch, "return": _after_return, "loop": _in_loop}
"""Where a tape may be moved to, by what it crosses."""


def check_moved(program: Program, place: str) -> str:
    """Compares the gradients of a tape that is moved behind a jump, or into a branch or loop, to those of eager code.

    Returns:
      "same" or "refused".

    Raises:
      Differs: they are not the same.
    """

    def run(*args: Any) -> Any:
        return MOVED[place](program.fn, args, _floating(args))

    def plainly(*args: Any) -> Any:
        return _slopes(program.fn, args, _floating(args))

    compiled = gx.function(run, on_retrace="ignore", **program.options)
    for given in program.inputs:
        if not _floating(fresh(given)):
            return "refused"
        eager, found = _run(plainly, given), _run(compiled, given)
        if eager.error is not None:
            continue
        if _is_refusal(found.error):
            return "refused"
        if found.error is not None:
            raise Differs(f"{program.name}: {found.error!r}") from found.error
        problem = difference(eager.result, found.result, 1e-4, True)
        if problem is not None:
            raise Differs(f"{program.name}: a tape in a {place}: {problem}")
    return "same"


@gx.do_not_convert
def _floating(structure: Any) -> list[Any]:
    leaves = nest.flatten(structure)[0]
    return [leaf for leaf in leaves if isinstance(leaf, gx.Tensor) and leaf.dtype.kind == "f"]


def _check_refused(program: Program, compiled: Any, given: tuple[Any, ...]) -> None:
    assert program.refused is not None
    kind, pattern = program.refused
    found = _run(compiled, given)
    if found.error is None:  # what is only made once may be made at the first call
        found = _run(compiled, given)
    if not isinstance(found.error, kind):
        did = f"raises {found.error!r}" if found.error else f"returns {found.result!r}"
        raise Refused(f"{program.name} must be refused with {kind.__name__}; it {did}") from found.error
    message = str(found.error)
    name = re.escape(os.path.basename(program.file))
    for wanted in (pattern, rf'{name}(:|", line )\d+'):
        if re.search(wanted, message) is None:
            raise Refused(f"{program.name}: no {wanted!r} in {message!r}") from found.error


def _file_of(fn: Any) -> str:
    code = getattr(fn, "__code__", None)
    return code.co_filename if isinstance(code, CodeType) else ""
