"""Text made of tensors, and ``print``: what is printed, when, and how often, is what the Python function prints."""

from __future__ import annotations

import builtins
import contextlib
import dataclasses
import io
import re
import sys
import sysconfig
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphc as gx
from graphc import Tensor
from graphc.compiler.base.errors import ConcretizationError, GraphcError, SideEffectWarning
from tests.compiler.autograph.outcomes import compiled, outcome, same, watchdog  # noqa: F401  the fixture

pytestmark = pytest.mark.usefixtures("watchdog")


def f(*values: float) -> Tensor:
    return gx.asarray(values[0] if len(values) == 1 else list(values))


class Pair(NamedTuple):
    a: Any
    b: Any


@pytest.mark.drawn(3)
@dataclasses.dataclass
class Point:
    x: Any
    y: Any = 2


class Written:
    """Says itself how it looks."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __str__(self) -> str:
        return f"Written({self.value:.1f})"

    def __repr__(self) -> str:
        return f"<{self.value}>"

    def __format__(self, spec: str) -> str:
        return f"{self.value:{spec or '.3f'}}"


# Texts

TEXTS: dict[str, Any] = {
    "f-string": lambda x: f"a{x}b",
    "format spec": lambda x: f"{x:>12.3f}|{x:e}|{x:<9}|",
    "conversions": lambda x: f"{x!r} {x!s} {x!a}",
    "nested spec": lambda x: f"{x:{'>'}{10}}",
    "debug": lambda x: f"{x=} {x * 2 = :.2f}",
    "literal": lambda x: f"none of it {1}{'!'}",
    "str": str,
    "repr": repr,
    "ascii": ascii,
    "format": lambda x: format(x, ".4f") + format(x),
    "concatenation": lambda x: "a" + str(x) + "b" + repr(x) * 2,
    "join": lambda x: ", ".join([str(x), "b", f"{x:.1f}"]),
    "join of a generator": lambda x: "-".join(f"{v}" for v in (x, x + 1)),
    "list": lambda x: f"{[x, 1, 'a', None]} {(x,)} { {'k': x} }",
    "structures": lambda x: str(Pair(x, [x])) + repr(Point(x)) + f"{Point(1, x)}",
    "of the user": lambda x: f"{Written(x)} {Written(x)!s} {Written(x)!r} {Written(x):.1f}" + str(Written(x)),
    "of the user inside": lambda x: f"{[Written(x)]} {Pair(Written(1.0), x)}",
    "of an exception": lambda x: str(ValueError(x)) + repr(KeyError("a", x)),
    "array": lambda x: f"{gx.stack([x, x * 2])}\n{gx.zeros((2, 3)) + x}",
    "boolean and integer": lambda x: f"{x > 0} {gx.astype(x, 'int32')} {(x > 0)!r}",
    "of a kind": lambda x: f"{x}" if type(f"{x}") is str else "none",
    "conditional": lambda x: f"{'big' if x.ndim else 'small'} {x}",
}  # fmt: skip


@pytest.mark.parametrize("name", TEXTS)
def test_texts(name: str) -> None:
    make = TEXTS[name]

    def printed(x: Tensor) -> None:
        print(make(x))

    def raised(x: Tensor) -> Tensor:
        if x > 1:
            raise ValueError(make(x))
        return x

    def returned(x: Tensor) -> Any:
        return make(x), [make(x + 1), x]

    for program in (printed, raised, returned):
        same(program, 1.25, -3.0, 1e6)


@given(st.floats(-1e6, 1e6, width=32), st.sampled_from(["", ".2f", "+.3e", ">10.1f", "08.2f", "g", "_.1f", "%"]))
def test_numbers_look_as_in_eager_code(value: float, spec: str) -> None:
    def program(x: Tensor, spec: str) -> Any:
        return format(x, spec), f"{x:{spec}}", f"{x}", str([x])

    assert outcome(formats, f(value), spec) == outcome(program, f(value), spec)


formats = compiled(lambda x, spec: (format(x, spec), f"{x:{spec}}", f"{x}", str([x])))


def test_a_wrong_format_is_an_error_of_the_call() -> None:
    def program(x: Tensor) -> Tensor:
        print("before")
        print(f"{x:q}")
        print("after")
        return x

    eager, found = outcome(program, f(1.0)), outcome(compiled(program), f(1.0))
    assert found.error[:2] == eager.error[:2]
    assert found.error[0][0] == "ValueError"
    assert found.printed == eager.printed == "before\n"


def test_texts_of_branches_and_loops() -> None:
    def merged(x: Tensor) -> str:
        if x > 0:
            text = f"value {x:.1f}"
        else:
            text = f"value {-x:.1f}"
        return text + "!"

    def carried(x: Tensor) -> str:
        text = f"<{x}>"
        while x < 10:
            x = x * 2
            text = f"<{x}>"
        return text

    same(merged, 1.0, -2.0)
    same(carried, 1.0, 20.0)


def test_a_text_shows_the_tensor_as_it_was() -> None:
    def program(x: Tensor) -> Any:
        y = x * 1
        text = f"{y}"
        error = [y]
        print(error)
        y[0] = 5.0
        print(text, y, error)
        return text, str(y)

    same(program, ([1.0, 2.0],))


def test_a_tensor_is_a_string_to_isinstance_once_formatted() -> None:
    def program(x: Tensor) -> Any:
        text = f"{x}"
        return isinstance(text, str), text if isinstance(text, str) else 0

    same(program, 1.0)


@pytest.mark.parametrize(
    "use",
    [
        lambda text: text == "a",
        lambda text: text != "a",
        lambda text: text < "a",
        lambda text: len(text),
        lambda text: text[0],
        lambda text: "a" in text,
        lambda text: {text: 1},
        lambda text: {"a": 1}.get(text),
        lambda text: 1 if text else 2,
        lambda text: text.upper(),
        lambda text: text.split(","),
        lambda text: list(text),
        lambda text: text.join(["a"]),
        lambda text: sys.intern(text),
    ],
)
def test_other_uses_of_a_text_are_refused(use: Any) -> None:
    def program(x: Tensor) -> Any:
        return use(f"{x}")

    with pytest.raises((ConcretizationError, TypeError)) as caught:
        gx.function(program)(f(1.0))
    if isinstance(caught.value, ConcretizationError):
        assert re.search(r"needs the letters of a text|with a text that is known at run time", str(caught.value))
        assert "test_print.py" in str(caught.value)


def test_a_text_that_code_outside_would_make_is_refused() -> None:
    def program(x: Tensor) -> Any:
        return gx.do_not_convert(unconverted)(x)

    with pytest.raises(ConcretizationError, match=r"a text needs a value.*print, f-strings, str\(\)"):
        gx.function(program)(f(1.0))


def unconverted(x: Tensor) -> str:
    return f"{x}"


# print


def everywhere(x: Tensor) -> Tensor:
    print("start", x)
    if x > 0:
        print("positive", x, sep="=", end=";\n")
    else:
        print("negative")
    for i in range(7):
        print(i, x * i, end=" ")
    print()
    for row in gx.stack([x, x + 1]):
        print("row", row)
    while x < 5:
        x = x * 2 + 3
        print("while", x)
    print("a", 1, None, [1, "b"], x.shape, x.dtype)
    print()
    return x


def in_called_functions(x: Tensor) -> Tensor:
    def twice(v: Tensor) -> Tensor:
        print("twice", v)
        return v * 2

    def outer(v: Tensor) -> Tensor:
        return twice(v) if v > 1 else v

    print(x > 0 and twice(x) > 3)
    return outer(outer(x))


def arrays(x: Tensor) -> Tensor:
    print(x, gx.concat([x, x]), x[0])
    return x


def nested(x: Tensor) -> Tensor:
    for i in range(3):
        for j in range(6):
            if x > 20:
                print("large", i, j)
            x = x + i * j
    return x


def structured(x: Tensor) -> Any:
    def body(v: Tensor) -> Tensor:
        print("body", v)
        return v * 2

    x = gx.while_loop(lambda v: v < 20, body, x)
    x = gx.fori_loop(0, 3, lambda i, v: (print(i, v), v + i)[1], x)
    return gx.switch(1, [body, lambda v: (print("case"), v)[1]], x)


def objects(x: Tensor) -> Tensor:
    thing = Written(x)
    print(thing, [thing], Point(x), Pair(x, thing))
    return x


def lists_that_change_later(x: Tensor) -> Tensor:
    log = [1]
    print(log, {"log": log})
    log.append(2)
    both = [x, log]
    print(both)
    log.append(3)
    both.append(4)
    print(both, log)
    return x


def variables(x: Tensor) -> Tensor:
    v = VARIABLE
    v.assign(x)
    print(v.value(), f"{v.value():.2f}")
    v.assign(v.value() + 1)
    print(v.numpy if False else v.value())
    return v.value()


VARIABLE = gx.Variable(0.0)


@pytest.mark.parametrize(
    ("program", "inputs"),
    [
        (everywhere, (1.0, -1.0)),
        (in_called_functions, (1.0, 2.0, -1.0)),
        (arrays, ([1.0, 2.0],)),
        (nested, (0.0, 19.0)),
        (structured, (3.0,)),
        (objects, (1.0,)),
        (lists_that_change_later, (1.0,)),
        (variables, (1.0,)),
    ],
)
def test_print(program: Any, inputs: tuple[Any, ...]) -> None:
    assert all(found.printed for found in same(program, *inputs))


def test_a_variable_is_printed_as_it_is_there() -> None:
    v = gx.Variable(1.0, name="printed")

    def program(x: Tensor) -> None:
        print(v, f"{v}", [v])
        v.assign_add(x)
        print(v)

    eager = outcome(program, f(2.0))
    v.assign(1.0)
    assert outcome(compiled(program), f(2.0)) == eager
    assert eager.printed.endswith("value=3.0)\n")


def test_print_does_not_unroll_a_loop_nor_warn() -> None:
    def program(x: Tensor) -> Tensor:
        for i in range(10):
            print(f"step {i}", i)
            x = x + i
        return x

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        call = gx.function(program)
        assert [loop.kind for loop in call.trace(f(1.0)).loops] == ["rolled"]
        assert outcome(call, f(1.0)).printed == outcome(program, f(1.0)).printed


def test_an_attempt_that_is_given_up_prints_nothing() -> None:
    def program(x: Tensor) -> Tensor:
        names = ["a", "b", "c", "d", "e", "f"]
        for i in range(6):
            print("index", i)
            x = x + len(names[i])
        return x

    same(program, 1.0)


def test_the_order_among_calls_and_python(capsys: pytest.CaptureFixture[str]) -> None:
    def program(x: Tensor) -> Tensor:
        print("in", x)
        return x + 1

    call = compiled(program)
    x = f(0.0)
    for _ in range(3):
        print("before")
        x = call(x)
        print("after")
    assert capsys.readouterr().out == "".join(f"before\nin {float(i)}\nafter\n" for i in range(3))


def test_where_it_is_printed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    stream = (tmp_path / "log.txt").open("w")

    def program(x: Tensor) -> None:
        print("stream", x, file=stream, flush=True)
        print("out", x, file=sys.stdout)
        print("err", x, file=sys.stderr)
        print("none", x, file=None, sep=None, end=None)

    call = compiled(program)
    for value in (1.0, 2.0):
        call(f(value))
        found = capsys.readouterr()
        assert (found.out, found.err) == (f"out {value}\nnone {value}\n", f"err {value}\n")
    stream.close()
    assert (tmp_path / "log.txt").read_text() == "stream 1.0\nstream 2.0\n"


def test_what_python_printed_before_it_failed_is_printed() -> None:
    def program(x: Tensor) -> Tensor:
        print("shape", x.shape)
        return x @ gx.ones((5, 5))

    call = compiled(program)
    for _ in range(2):
        found = outcome(call, f(1.0, 2.0))
        assert found.error[1].splitlines()[0] == outcome(program, f(1.0, 2.0)).error[1].splitlines()[0]
        assert found.printed == "shape (2,)\n"
    assert call.num_traces == 0


def test_gradients_print_once() -> None:
    def program(x: Tensor) -> Tensor:
        y = x
        for i in range(6):
            y = y * x
            print(i, y)
            if y > 30:
                print("large")
        while y > 1:
            y = y / 2
            print(y)
        return y

    def gradient(fn: Any) -> Any:
        def run(x: Tensor) -> Any:
            with gx.GradientTape(persistent=True) as tape:
                tape.watch(x)
                y = fn(x)
            return y, tape.gradient(y, x), tape.gradient(y, x)

        return run

    eager = outcome(gradient(program), f(1.5))
    assert outcome(gradient(compiled(program)), f(1.5)) == eager
    assert outcome(compiled(gradient(program)), f(1.5)) == eager
    assert outcome(compiled(gradient(compiled(program))), f(1.5)) == eager


def test_higher_gradients_print_once() -> None:
    def program(x: Tensor) -> Tensor:
        for i in range(6):
            x = x * x * 0.5
            print(i, x)
        return x

    def second(fn: Any) -> Any:
        def run(x: Tensor) -> Any:
            with gx.GradientTape() as outer:
                outer.watch(x)
                with gx.GradientTape() as inner:
                    inner.watch(x)
                    y = fn(x)
                slope = inner.gradient(y, x)
            return outer.gradient(slope, x)

        return run

    eager = outcome(second(program), f(1.5))
    assert outcome(second(compiled(program)), f(1.5)) == eager
    assert outcome(compiled(second(program)), f(1.5)) == eager


def test_many_calls_in_a_row() -> None:
    def program(x: Tensor) -> Tensor:
        print(x)
        return x + 1

    def loop(call: Any) -> Any:
        def run(x: Tensor) -> Tensor:
            for _ in range(200):
                x = call(x)
            return x

        return run

    assert outcome(loop(compiled(program)), f(0.0)) == outcome(loop(program), f(0.0))


def test_large_arrays() -> None:
    def program(x: Tensor) -> Tensor:
        for _ in range(6):
            x = x * 1.5
            print(x)
        return x.sum()

    same(program, ([[1.0] * 600] * 600,))


def _into_a_buffer(x: Tensor) -> Tensor:
    buffer = io.StringIO()
    print("abc", 1, file=buffer, sep="", end="")
    for i in range(8):
        print(i, file=buffer, end="")
    return x * len(buffer.getvalue())


def test_known_values_are_printed_into_a_buffer_when_the_function_is_traced() -> None:
    assert compiled(_into_a_buffer)(f(2.0)).item() == _into_a_buffer(f(2.0)).item()

    def program(x: Tensor) -> Tensor:
        print("abc", file=_LOG)
        return x

    _LOG.seek(_LOG.truncate(0))
    with pytest.warns(SideEffectWarning, match=r"print\(\) into a StringIO happens once, when"):
        gx.function(program)(f(2.0))
    assert _LOG.getvalue() == "abc\n"
    _LOG.seek(_LOG.truncate(0))


_LOG = io.StringIO()


def _redirected(x: Tensor) -> Tensor:
    with contextlib.redirect_stdout(_LOG):
        print("value", x)
    return x * len(_LOG.getvalue())


def _makes_text_of_tensors(x: Tensor) -> int:
    buffer = io.StringIO()
    print("value", x, file=buffer)
    return len(buffer.getvalue())


def _from_outside(x: Tensor) -> int:
    print("value", x, file=_LOG)
    return len(_LOG.getvalue())


def _in_a_branch(x: Tensor) -> Tensor:
    buffer = io.StringIO()
    if x > 0:
        print("positive", file=buffer)
    return x * len(buffer.getvalue())


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (_redirected, r"`with` on a redirect_stdout in a compiled function(.|\n)*put it around the call(.|\n)*with c"),
        (_makes_text_of_tensors, r"print\(\) into a StringIO of a text that is made of tensors(.|\n)*f-string"),
        (_from_outside, r"print\(\) into a StringIO of a text(.|\n)*a file that is open for writing only"),
        (_in_a_branch, r"print\(\) into a StringIO inside the true branch of an if"),
    ],
)
def test_what_is_printed_when_the_program_runs_is_not_read_before(program: Callable[..., Any], message: str) -> None:
    with pytest.raises(GraphcError, match=message):
        compiled(program)(f(2.0))
    assert _LOG.getvalue() == ""


def test_what_a_library_puts_in_the_place_of_print_prints(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = sysconfig.get_paths()["purelib"]
    namespace: dict[str, Any] = {"native": print}
    exec(
        compile("def safe_print(*args, **kwargs):\n    native(*args, **kwargs)", f"{folder}/lib.py", "exec"), namespace
    )
    monkeypatch.setattr(builtins, "print", namespace["safe_print"])

    @gx.function
    def program(x: Any) -> Any:
        print("x is", x)
        return x + 1

    program(gx.asarray(1.0))
    program(gx.asarray(2.0))
    gx.wait_all()
    assert capsys.readouterr().out == "x is 1.0\nx is 2.0\n"
