"""Numbers known at run time only follow Python's rules."""

from __future__ import annotations

import linecache
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import graphc as gx
from tests.autograph.differential import run
from tests.conformance.comparing import difference

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


@settings(max_examples=60)
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
