"""Numbers known at run time only follow Python's rules, and have the methods and attributes of Python's numbers."""

from __future__ import annotations

import functools
import linecache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphc as gx
from graphc.compiler.base.errors import ConcretizationError
from tests.compiler.autograph.differential import f, run
from tests.compiler.autograph.outcomes import same
from tests.conformance.comparing import difference
from tests.draws import examples

LEAVES = ["int(a)", "int(b)", "float(x)", "float(y)", "bool(a)", "2", "-3", "0.5", "True"]


@st.composite
def expressions(draw: st.DrawFn, depth: int = 3) -> str:
    if depth == 0 or draw(st.integers(0, 3)) == 0:
        return draw(st.sampled_from(LEAVES))
    kind = draw(st.sampled_from(["binary", "binary", "unary", "compare", "call"]))
    inner = expressions(depth - 1)
    if kind == "unary":
        return f"({draw(st.sampled_from(['-', '+', 'abs', 'not ']))}({draw(inner)}))"
    if kind == "call":
        return f"{draw(st.sampled_from(['int', 'float', 'bool', 'round']))}({draw(inner)})"
    symbols = ["<", "<=", "==", "!="] if kind == "compare" else ["+", "-", "*", "/", "//", "%"]
    return f"({draw(inner)} {draw(st.sampled_from(symbols))} {draw(inner)})"


def program(text: str) -> Any:
    source = f"def program(a, b, x, y):\n    return {text}\n"
    file = f"<numbers {hash(text)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    namespace: dict[str, Any] = {}
    exec(compile(source, file, "exec"), namespace)
    return namespace["program"]


@settings(max_examples=examples(60))
@given(expressions(), st.integers(-3, 3), st.integers(-3, 3), st.integers(-4, 4), st.integers(-4, 4))
def test_random_expressions_are_those_of_python(text: str, a: int, b: int, x: int, y: int) -> None:
    fn = program(text)
    args = gx.asarray(a), gx.asarray(b), gx.asarray(x / 2), gx.asarray(y / 2)
    eager, expected = run(fn, *args)
    found, error = run(gx.function(fn), *args)
    if expected is not None:
        assert type(error) is type(expected), (expected, error, found)
        assert error.args == expected.args
    elif isinstance(error, gx.errors.OutOfRangeError):
        assert abs(eager) > 2**30
    else:
        assert error is None, repr(error)
        # A bool that operators of branches compute is a tensor.
        assert difference(eager, found, 1e-4) is None or gx.asarray(eager).item() == found.item()


def attributes(x: Any) -> Any:
    i, r = int(x), float(x)
    names = ("shape", "dtype", "numpy", "sum", "real", "bit_length", "is_integer", "hex", "conjugate")
    return [hasattr(number, name) for number in (i, r) for name in names], getattr(i, "shape", 5)


def of_a_rolled_loop(x: Any) -> Any:
    for i in range(20):
        x = x + (1.0 if hasattr(i, "low") or hasattr(i, "tensor") else 2.0) * (3.0 if hasattr(i, "real") else 4.0)
    return x


def no_container(x: Any) -> Any:
    i, found = int(x), []
    try:
        found.append(i[0])  # type: ignore[index]
    except TypeError as error:
        found.append(str(error))
    try:
        i[0] = 1  # type: ignore[index]
    except TypeError as error:
        found.append(str(error))
    try:
        i.shape = 1  # type: ignore[attr-defined]
    except AttributeError as error:
        found.append(str(error))
    try:
        i.sum()  # type: ignore[attr-defined]
    except AttributeError as error:
        found.append(str(error))
    return found


def classes(x: Any) -> Any:
    return int(x).__class__ is int, float(x).__class__.__name__, x.__class__ is gx.Tensor, x.__class__.__name__


@functools.singledispatch
def shown(value: Any) -> Any:
    return "object"


@shown.register
def _(value: int) -> Any:
    return 1.0 if value > 1 else 2.0  # converted, or it could not ask for the value


shown.register(float, lambda value: value * 2.0)
shown.register(gx.Tensor, lambda value: value * 3.0)


def dispatched(x: Any) -> Any:
    return shown(int(x)), shown(float(x)), shown(x), shown("a"), shown(3)


def formats(x: Any) -> Any:
    try:
        return f"{float(x):d}"
    except ValueError as error:
        return str(error)


def unused_format(x: Any) -> Any:
    try:
        f"{x:zz}"
    except ValueError as error:
        return str(error)
    return x


def conjugates(x: Any) -> Any:
    return int(x).conjugate(), float(x).conjugate(), complex(x + 2j).conjugate()


@pytest.mark.parametrize(
    "program", [conjugates, attributes, of_a_rolled_loop, no_container, classes, dispatched, formats, unused_format]
)
def test_as_numbers_of_python(program: Any) -> None:
    same(program, 1.0, 3.0)


def test_an_attribute_that_only_one_of_several_kinds_has() -> None:
    with pytest.raises(ConcretizationError, match="'bit_length' shows whether a number is an int or a float"):
        gx.function(lambda x: hasattr(int(x) if x > 0 else 1.5, "bit_length"))(f(1.0))


def test_an_attribute_that_numbers_do_not_have_fails_as_in_python() -> None:
    @gx.function
    def program(x: Any) -> Any:
        return int(x).foo  # pyright: ignore[reportAttributeAccessIssue]

    with pytest.raises(AttributeError, match="'int' object has no attribute 'foo'"):
        program(gx.asarray(1.0))
