"""Debugging compiled functions: tracebacks, breakpoints, leaked tensors, functions without source, deep code."""

from __future__ import annotations

import bdb
import collections
import linecache
import pdb
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
import scipy.special

import graphc as gx
from graphc.compiler.base import is_graphc_file
from graphc.compiler.base.errors import (
    ConcretizationError,
    GraphcError,
    InvalidArgumentError,
    InvalidTypeError,
    LeakedTensorError,
    SideEffectWarning,
    UnimplementedError,
    UnsupportedSyntaxError,
)

ONE = gx.asarray(1.0)
THREE, FOUR = gx.ones((3,)), gx.ones((4,))


@pytest.fixture(autouse=True)
def _frames_left_out_by_jax_too() -> Iterator[None]:
    """JAX leaves out its own frames, as users have it; in the other tests it does not take the time."""
    before = jax.config.jax_traceback_filtering
    jax.config.update("jax_traceback_filtering", "auto")
    yield
    jax.config.update("jax_traceback_filtering", before)


class Broken(Exception):
    """Raised by the programs below."""


def straight(x: Any) -> Any:
    return x + FOUR


def helper(x: Any) -> Any:
    if gx.sum(x) > 0:
        x = x + FOUR  # fails
    return x


def nested(x: Any) -> Any:
    if gx.sum(x) > 0 and gx.sum(x) < 9:
        for _ in range(10):
            x = helper(x)
    return x


def in_while(x: Any) -> Any:
    while gx.sum(x) < 9:
        y = x if gx.sum(x) > 2 else x * 2
        x = y + FOUR
    return x


def in_comprehension(x: Any) -> Any:
    rows = [row + FOUR for row in (x, x)]
    return rows[0]


def in_lambda(x: Any) -> Any:
    return (lambda y: y + FOUR)(x)


def in_condition(x: Any) -> Any:
    return x if gx.sum(x) > 0 or gx.sum(x + FOUR) > 0 else -x


def python_error(x: Any) -> Any:
    for i in range(10):
        x = x + {"a": 1}["b" if i else "c"]
    return x


def raised(x: Any) -> Any:
    if x.shape == (3,):
        raise Broken("three")
    return x


def raised_from(x: Any) -> Any:
    try:
        return x + {"a": 1}["b"]
    except KeyError as error:
        raise Broken("no b") from error


def refused(x: Any) -> Any:
    total = 0
    for _ in range(3):
        total = total + gx.sum(x).numpy()
    return x * total


def unrolled_twice(x: Any) -> Any:
    s = 0
    for _ in range(6):
        s = s + gx.sum(x)
        x = x + FOUR
    return s


TRACEBACKS: list[tuple[Callable[[Any], Any], type[Exception], list[str]]] = [
    (straight, InvalidArgumentError, ["straight: return x + FOUR"]),
    (nested, InvalidArgumentError, ["nested: x = helper(x)", "helper: x = x + FOUR  # fails"]),
    (in_while, InvalidArgumentError, ["in_while: x = y + FOUR"]),
    (in_lambda, InvalidArgumentError, ["in_lambda: return (lambda y: y + FOUR)(x)", "<lambda>: return (lambda y:"]),
    (in_condition, InvalidArgumentError, ["in_condition: return x if gx.sum(x) > 0 or"]),
    (python_error, KeyError, ["python_error: x = x + {"]),
    (raised, Broken, ['raised: raise Broken("three")']),
    (raised_from, Broken, ['raised_from: raise Broken("no b") from error']),
    (refused, ConcretizationError, ["refused: total = total + gx.sum(x).numpy()"]),
    (unrolled_twice, InvalidArgumentError, ["unrolled_twice: x = x + FOUR"]),
]


def frames_of(error: BaseException) -> list[traceback.FrameSummary]:
    """The frames below the test's own."""
    return list(traceback.extract_tb(error.__traceback__))[1:]


@pytest.mark.parametrize(("program", "kind", "lines"), TRACEBACKS, ids=[row[0].__name__ for row in TRACEBACKS])
def test_a_traceback_is_that_of_the_python_program(
    program: Callable[[Any], Any], kind: type[Exception], lines: list[str]
) -> None:
    with pytest.raises(kind) as caught:
        gx.function(program)(THREE)
    frames = frames_of(caught.value)
    assert len(frames) == len(lines)
    for frame, line in zip(frames, lines, strict=True):
        assert frame.filename == __file__
        assert f"{frame.name}: {frame.line}".startswith(line)
    text = "".join(traceback.format_exception(caught.value))
    assert "ag__" not in text
    assert "/graphc/compiler/core" not in text


def test_a_comprehension_is_part_of_its_function() -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        gx.function(in_comprehension)(THREE)
    with pytest.raises(InvalidArgumentError) as plain:
        in_comprehension(THREE)
    users = [frame.name for frame in frames_of(plain.value) if frame.filename == __file__]
    if "<listcomp>" in users:  # before Python 3.12
        users.remove("<listcomp>")
    assert [frame.name for frame in frames_of(caught.value)] == users


def test_the_cause_that_the_user_gave_stays_and_that_of_jax_goes() -> None:
    with pytest.raises(Broken) as caught:
        gx.function(raised_from)(THREE)
    assert isinstance(caught.value.__cause__, KeyError)
    assert [frame.name for frame in traceback.extract_tb(caught.value.__cause__.__traceback__)] == ["raised_from"]
    with pytest.raises(InvalidArgumentError) as failed:
        gx.function(straight)(THREE)
    assert failed.value.__cause__ is None
    assert failed.value.__suppress_context__


def test_wrong_arguments_are_told_at_the_call() -> None:
    with pytest.raises(InvalidTypeError, match="missing a required argument") as caught:
        gx.function(straight)()
    assert len(frames_of(caught.value)) <= 1


@pytest.mark.parametrize("ask", ["trace", "graph", "lower"])
def test_tools_have_short_tracebacks_too(ask: str) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        getattr(gx.function(straight), ask)(THREE)
    frames = frames_of(caught.value)
    assert frames[-1].name == "straight"
    assert len(frames) <= 3


def test_everything_is_shown_where_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gx.config, "full_traceback", True)
    with pytest.raises(InvalidArgumentError) as caught:
        gx.function(nested)(THREE)
    assert any(is_graphc_file(frame.filename) for frame in frames_of(caught.value))
    assert caught.value.__cause__ is not None


def test_messages_name_the_op_the_types_and_the_line() -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        gx.function(nested)(THREE)
    assert str(caught.value) == (
        "add(x1: f32[3], x2: f32[4]): add got incompatible shapes for broadcasting: (3,), (4,) (x1 is 'x', x2 is "
        "'FOUR')\n"
        f'  at File "{__file__}", line {line_of(helper, "# fails")}, in helper\n    x = x + FOUR  # fails'
    )


def line_of(function: Callable[..., Any], text: str) -> int:
    first = function.__code__.co_firstlineno
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    return next(number for number in range(first, len(lines)) if text in lines[number - 1])


# Breakpoints


def walk(x: Any, n: int) -> Any:
    total = x
    for i in range(10):
        total = total + doubled(x) * i  # in the loop
    if gx.sum(total) > 1:
        total = total + 1  # when true
    else:
        total = total - 1  # when false
    for _ in range(2):
        total = total * n  # unrolled
    return total  # last


def doubled(x: Any) -> Any:
    return x * 2  # in the helper


class Counting(bdb.Bdb):
    """Counts how often each line of this file is reached at a breakpoint."""

    def __init__(self) -> None:
        super().__init__()
        self.hits: collections.Counter[int] = collections.Counter()

    def user_line(self, frame: FrameType) -> None:
        if self.break_here(frame):
            self.hits[frame.f_lineno] += 1
        self.set_continue()


def hits(lines: list[int], call: Callable[[], Any]) -> dict[int, int]:
    """How often the lines are reached."""
    debugger = Counting()
    before = sys.gettrace()
    try:
        for line in lines:
            assert debugger.set_break(__file__, line) is None
        debugger.runcall(call)
    finally:
        debugger.clear_all_breaks()
        sys.settrace(before)
    return dict(debugger.hits)


def test_breakpoints_stop_when_the_function_is_traced() -> None:
    lines = {
        text: line_of(walk, f"# {text}") for text in ("in the loop", "when true", "when false", "unrolled", "last")
    }
    lines["in the helper"] = line_of(doubled, "# in the helper")
    compiled = gx.function(walk)
    found = hits(list(lines.values()), lambda: compiled(THREE, 2))
    assert set(found) == set(lines.values())  # both branches are traced
    assert found[lines["last"]] == 1
    assert found[lines["unrolled"]] >= 2
    assert found[lines["in the loop"]] < 10  # trials
    assert hits(list(lines.values()), lambda: compiled(THREE, 2)) == {}


def test_eagerly_breakpoints_stop_each_time() -> None:
    lines = [line_of(walk, "# in the loop"), line_of(walk, "# when true"), line_of(doubled, "# in the helper")]
    compiled = gx.function(walk)
    gx.run_functions_eagerly(True)
    try:
        for _ in range(2):
            found = hits([*lines, line_of(walk, "# when false")], lambda: compiled(THREE, 2))
            assert found == dict(zip(lines, (10, 1, 10), strict=True))
    finally:
        gx.run_functions_eagerly(False)


def test_a_tracer_sees_each_line_of_straight_code_once() -> None:
    def straight_code(x: Any) -> Any:
        y = x + 1
        z = y * 2 + doubled(y)
        return z - x

    seen: list[int] = []

    def tracer(frame: FrameType, event: str, argument: Any) -> Any:
        del argument
        if event == "line" and frame.f_code.co_name == "straight_code":
            seen.append(frame.f_lineno)
        return tracer

    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        gx.function(straight_code)(THREE)
    finally:
        sys.settrace(before)
    first = straight_code.__code__.co_firstlineno
    assert seen == [first + 1, first + 2, first + 3]


def test_breakpoint_and_pdb_stop_in_the_users_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    stops: list[tuple[str, int, list[str]]] = []

    def note(frame: FrameType) -> None:
        names = [name for name in ("x", "i", "y") if name in frame.f_locals]
        stops.append((frame.f_code.co_name, frame.f_lineno - frame.f_code.co_firstlineno, names))

    monkeypatch.setattr(sys, "breakpointhook", lambda: note(sys._getframe(1)))
    monkeypatch.setattr(pdb, "set_trace", make_set_trace(note))

    def function(x: Any) -> Any:
        y = x + 1
        breakpoint()
        if gx.sum(x) > 0:
            breakpoint()
            y = y * 2
        for i in range(8):
            pdb.set_trace()
            y = y + i
        return y

    with pytest.warns(SideEffectWarning, match=r"while function is traced.*gx\.run_functions_eagerly"):
        result = gx.function(function)(THREE)
    assert {name for name, _, _ in stops} == {"function"}
    assert "y" in stops[0][2]
    stops.clear()
    assert result.tolist() == function(THREE).tolist()
    assert len(stops) == 10


def make_set_trace(note: Callable[[FrameType], None]) -> Callable[[], None]:
    """A function that passes for ``pdb.set_trace``: a library's, which looks at the frame that calls it."""
    namespace: dict[str, Any] = {"sys": sys, "note": note, "__name__": "pdb"}
    exec(compile("def set_trace():\n    note(sys._getframe(1))\n", pdb.__file__, "exec"), namespace)
    return namespace["set_trace"]


# Leaked tensors

KEPT: list[Any] = []


class Holder:
    """Holds what it is given."""

    kept: Any = None


HOLDER = Holder()


def in_a_list(x: Any) -> Any:
    KEPT.append(x * 2)
    return x


def in_an_attribute(x: Any) -> Any:
    HOLDER.kept = x * 2
    return x


def in_a_closure(x: Any) -> Any:
    y = x * 2
    KEPT.append(lambda: y + 1)
    return x


def in_a_generator(x: Any) -> Any:
    KEPT.append(row * 2 for row in (x,))
    return x


@pytest.mark.parametrize("program", [in_a_list, in_an_attribute])
def test_a_store_outside_is_refused_where_it_stands(program: Callable[[Any], Any]) -> None:
    with pytest.raises(UnimplementedError, match="stores a tensor that has no value yet") as caught:
        gx.function(program)(ONE)
    assert f"in {program.__name__}" in str(caught.value)
    assert KEPT == []
    assert HOLDER.kept is None


@pytest.mark.parametrize(
    ("program", "use", "made"),
    [
        (in_a_closure, lambda kept: kept(), "the result of multiply at test_debugging.py:"),
        (in_a_generator, next, "the argument 'x'"),
    ],
)
def test_a_leaked_tensor_names_where_it_was_made(program: Any, use: Callable[[Any], Any], made: str) -> None:
    gx.function(program, side_effects="ignore").trace(ONE)
    (kept,) = KEPT
    KEPT.clear()
    with pytest.raises(LeakedTensorError, match=made) as caught:
        use(kept)
    assert f"the function, branch or loop body of {program.__name__!r} that made it" in str(caught.value)
    assert __file__ in str(caught.value)


def test_a_tensor_kept_by_an_exception_names_where_it_was_made() -> None:
    def function(x: Any) -> Any:
        failing(x * 2)
        return x

    with pytest.raises(Broken) as caught:
        gx.function(function, side_effects="ignore")(ONE)
    with pytest.raises(LeakedTensorError, match=r"the result of multiply at test_debugging\.py"):
        _ = caught.value.args[1] + 1
    with pytest.raises(ConcretizationError, match=r"the result of multiply at test_debugging\.py"):
        caught.value.args[1].numpy()


@gx.do_not_convert
def failing(x: Any) -> None:
    raise Broken("failed", x)


# Functions of other libraries


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: jnp.sin(x), r"jax.numpy.sin was given a tensor \(f32\[3\], the argument 'x'\).*; use gx.sin"),
        (lambda x: jnp.where(x > 0, x, 0), "jax.numpy.where was given .* the result of greater .*; use gx.where"),
        (lambda x: jnp.linalg.norm(x), "jax.numpy.linalg.norm .*; use gx.linalg.norm"),
        (lambda x: jax.nn.softmax(x), "jax.nn.softmax .*; use gx.nn.softmax"),
        (lambda x: jax.lax.add(x, x), "jax.lax.add .*; use gx.lax.add"),
        (lambda x: jnp.unwrap([x]), "jax.numpy.unwrap .*: call it on the result, or outside the compiled function"),
        (lambda x: jax.jit(lambda y: y)(x), "was given a tensor"),
        (lambda x: np.linalg.svd(x), "numpy.linalg.svd of a .*: graphc has no function of that name; gx.pyfunc calls"),
        (lambda x: scipy.special.erf(x), "scipy.special.erf of a graphc tensor: use gx.special.erf"),
        (lambda x: optax.l2_loss(x), r"l2_loss was given a tensor .* gx.call_jax\(function, x\) for one of JAX's"),
    ],
)
def test_functions_of_jax_say_which_of_graphcs_to_use(function: Callable[[Any], Any], message: str) -> None:
    with pytest.raises(GraphcError, match=message) as caught:
        gx.function(function).trace(THREE)
    assert __file__ in str(caught.value)


def test_functions_of_jax_take_values_and_trees() -> None:
    def function(x: Any) -> Any:
        pair = jax.tree.map(lambda leaf: leaf * 2, (x, x))
        return pair[0] + gx.asarray(jnp.ones(3)) + len(jax.tree.leaves(pair))

    assert gx.function(function)(THREE).tolist() == [5, 5, 5]


# Functions without source

SOURCE = "def absolute(x):\n    if x > 0:\n        return x\n    return -x\n"


@pytest.fixture
def cell() -> Iterator[Callable[..., Any]]:
    """A function of a notebook's cell: IPython keeps its lines in linecache under a name that is no file."""
    name = "<ipython-input-3-abcdef012345>"
    linecache.cache[name] = (len(SOURCE), None, SOURCE.splitlines(keepends=True), name)
    yield compiled_from(SOURCE, name)["absolute"]
    del linecache.cache[name]


def compiled_from(source: str, name: str = "<string>") -> dict[str, Any]:
    namespace: dict[str, Any] = {"gx": gx}
    exec(compile(source, name, "exec"), namespace)
    return namespace


def test_a_function_of_a_notebook_is_converted(cell: Callable[..., Any]) -> None:
    compiled = gx.function(cell)
    assert [compiled(gx.asarray(value)).item() for value in (-3.0, 2.0)] == [3, 2]


def test_control_flow_without_source_is_refused_before_anything_runs() -> None:
    calls: list[int] = []
    namespace = compiled_from(f"{SOURCE}\ndef double(x, flag):\n    note(1)\n    return x * 2 if flag else x\n")
    namespace["note"] = calls.append
    with pytest.raises(UnsupportedSyntaxError, match=r"the source of function 'double'.*with autograph=False"):
        gx.function(namespace["double"])(ONE, True)
    assert not calls
    namespace["note"] = abs
    assert gx.function(namespace["double"], autograph=False)(ONE, True).item() == 2
    assert gx.function(eval("lambda x: x * 2"))(ONE).item() == 2


def test_a_function_of_exec_that_is_called_names_the_reason_too() -> None:
    absolute = compiled_from(SOURCE)["absolute"]

    def caller(x: Any) -> Any:
        return absolute(x) + 1

    with pytest.raises(ConcretizationError, match=r"the source of function 'absolute' .* Define it in a file"):
        gx.function(caller)(ONE)


def test_without_autograph_the_reason_is_told() -> None:
    with pytest.raises(ConcretizationError, match=r"because autograph=False; use gx\.where or gx\.cond"):
        gx.function(helper, autograph=False)(THREE)


def test_lambdas_that_share_a_line_are_told_apart() -> None:
    larger, smaller = (lambda x: x if x > 0 else -x), (lambda x: x if x < 0 else -x)
    assert [gx.function(f)(gx.asarray(-3.0)).item() for f in (larger, smaller)] == [3, -3]


def test_an_evaluated_lambda_has_no_source() -> None:
    with pytest.raises(UnsupportedSyntaxError, match="the source of function '<lambda>'"):
        gx.function(eval("lambda x: x if x > 0 else -x"))(ONE)


# What the conversion makes


def test_to_source_prints_the_rewritten_function() -> None:
    class Model:
        scale = 2.0

        @gx.function
        def __call__(self, x: Any) -> Any:
            return x * self.scale if x > 0 else x

    text = "def __call__(self, x: Any) -> Any:\n    return ag__.if_exp(ag__.compare('>', x, 0), lambda: "
    assert Model.__call__.to_source().startswith(text)
    assert Model().__call__.to_source() == gx.to_source(Model.__call__) == Model.__call__.to_source()
    assert gx.to_source(Model()).startswith("def __call__")
    with pytest.raises(InvalidTypeError, match="expected a Python function, got <built-in function len>"):
        gx.to_source(len)


def test_a_conversion_is_done_once_for_each_code_object(monkeypatch: pytest.MonkeyPatch) -> None:
    module = sys.modules["graphc.compiler.autograph.frontend.convert"]
    converted: list[str] = []
    original = module.find_source  # type: ignore[attr-defined]

    def counting(fn: Any) -> Any:
        converted.append(fn.__name__)
        return original(fn)

    monkeypatch.setattr(module, "find_source", counting)

    def make(step: int) -> Callable[[Any], Any]:
        def closure(x: Any) -> Any:
            return x + step if x > 0 else x

        return closure

    assert [gx.function(make(step))(ONE).item() for step in (1, 2, 3)] == [2, 3, 4]
    assert converted.count("closure") == 1


# Deep code


def written(tmp_path: Path, text: str) -> Callable[..., Any]:
    """A function of a file of its own."""
    path = tmp_path / "deep.py"
    path.write_text(text, encoding="utf-8")
    return compiled_from(text, str(path))["f"]


def test_a_long_chain_of_elif(tmp_path: Path) -> None:
    branches = "".join(f"    {'el' if i else ''}if k == {i}:\n        y = x + {i}\n" for i in range(300))
    function = written(tmp_path, f"def f(x, k):\n{branches}    else:\n        y = x\n    return y\n")
    limit = sys.getrecursionlimit()
    compiled = gx.function(function)
    assert [compiled(ONE, k).item() for k in (0, 299, -1)] == [1, 300, 1]
    assert compiled.to_source().count("ag__.if_stmt") == 300
    assert sys.getrecursionlimit() == limit
    assert len(gx.function(function).graph(ONE, gx.asarray(3)).nodes) > 0


def test_many_returns_and_a_long_expression(tmp_path: Path) -> None:
    returns = "".join(f"    if k == {i}:\n        return x + {i}\n" for i in range(200))
    total = " + ".join(["x"] * 500)
    function = written(tmp_path, f"def f(x, k):\n{returns}    return {total}\n")
    assert [gx.function(function)(ONE, k).item() for k in (199, -1)] == [200, 500]


def test_a_long_condition_takes_no_time_that_grows_with_its_ways(tmp_path: Path) -> None:
    tests = " or ".join(f"x == {i}" for i in range(60))
    function = written(tmp_path, f"def f(x):\n    return x if {tests} else -x\n")
    assert gx.function(function)(gx.asarray(59.0)).item() == 59
    assert gx.function(function)(gx.asarray(0.5)).item() == -0.5


def factorial(x: Any) -> Any:
    return x * factorial(x - 1) if x > 1 else x


def fibonacci(x: Any) -> Any:
    for _ in range(6):  # each failing attempt to roll it could try the rest of the recursion twice
        if x > 1:
            x = fibonacci(x - 1) + fibonacci(x - 2)
    return x


def even(x: Any) -> Any:
    return odd(x - 1) if x > 0 else x


def odd(x: Any) -> Any:
    return even(x - 1) if x > 0 else x


@pytest.mark.parametrize("function", [factorial, fibonacci, even])
def test_recursion_that_only_a_tensor_could_end_is_refused(function: Callable[[Any], Any]) -> None:
    with pytest.raises(
        UnimplementedError, match=f"{function.__name__} calls itself in a branch or loop that"
    ) as caught:
        gx.function(function)(ONE)
    assert "Write a loop" in str(caught.value)


def test_recursion_on_python_values_may_be_deep_and_stand_in_branches() -> None:
    def power(x: Any, n: int) -> Any:
        if n == 0:
            return x
        return power(x + 1, n - 1)

    def halves(x: Any, n: int) -> Any:
        if n == 0:
            return x
        if x > 0:
            return halves(x / 2, n - 1)
        return halves(x * 2, n - 1)

    assert gx.function(power)(ONE, 400).item() == 401
    assert gx.function(halves)(ONE, 4).item() == 1 / 16


def test_the_recursion_limit_is_shared_between_threads() -> None:
    from graphc.compiler.base import deep_recursion

    limit = sys.getrecursionlimit()
    inside, outside = threading.Event(), threading.Event()

    def other() -> None:
        with deep_recursion():
            inside.set()
            outside.wait()

    thread = threading.Thread(target=other)
    thread.start()
    inside.wait()
    with deep_recursion():
        assert sys.getrecursionlimit() > limit
    assert sys.getrecursionlimit() > limit
    outside.set()
    thread.join()
    assert sys.getrecursionlimit() == limit


def test_frames_without_a_line_are_left_out() -> None:
    from graphc.compiler.function.running import shorten

    def get(frame: FrameType) -> TracebackType:
        return TracebackType(None, frame, 0, 1)

    error = Broken("no frames")
    error.__traceback__ = get(sys._getframe())
    shorten(error)
    assert [frame.name for frame in traceback.extract_tb(error.__traceback__)] == [
        "test_frames_without_a_line_are_left_out"
    ]
