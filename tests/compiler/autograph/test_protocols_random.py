"""Random programs about what Python asks an object for: compiled, they mean what plain Python means, or are refused."""

from __future__ import annotations

import linecache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphc as gx
from tests.compiler.autograph.protocol_programs import check_program
from tests.draws import examples

NUMBERS = st.integers(0, 10**9)


@settings(max_examples=examples(300))
@given(number=NUMBERS)
def test_objects_answer_as_in_plain_python(number: int) -> None:
    check_program(number)


@pytest.mark.slow
@settings(max_examples=20_000)
@given(number=NUMBERS)
def test_objects_answer_as_in_plain_python_in_many_programs(number: int) -> None:
    check_program(number)


@pytest.mark.parametrize("number", [1077, 1092, 1404, 1755, 2293, 2608, 2674, 2849, 3580, 21111, 173877722, 975405953])
def test_programs_that_once_differed(number: int) -> None:
    check_program(number)


# What a class lacks is an answer as well: it may get the method before the next call.
LACKING = {
    "r = o()": "__call__ = lambda self: 7",
    "r = next(o)": "__next__ = lambda self: 7",
    "r = K[0]": "__class_getitem__ = classmethod(lambda cls, key: 7)",
    "r = o != 1": "__ne__ = lambda self, other: 7",
    "r = isinstance(1, o)": "__instancecheck__ = lambda self, one: True",
    "r = sorted([1], key=o)": "__call__ = lambda self, one: 7",
    "r = functools.reduce(o, [1, 2])": "__call__ = lambda self, *both: 7",
    "r = '-'.join(o)": "__iter__ = lambda self: iter('ab')",
    "r = super(K, o).v": None,
    "with o: r = 7": "__enter__ = __exit__ = lambda self, *error: 7",
}


@pytest.mark.parametrize("use", LACKING)
@pytest.mark.parametrize("inside", [False, True])
def test_a_class_gets_what_it_lacked(use: str, inside: bool) -> None:
    text = f"""
import functools
class Base: pass
class K(Base):
    z = 1
    def __eq__(self, other): return True
o = K()
def program(x):
    {"o = K()" if inside else ""}
    r = 0
    try:
        {use}
    except (TypeError, AttributeError):
        r = "failed"
    return r
"""
    file = f"<lacking {use} {inside}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    namespace: dict[str, Any] = {"__name__": "lacking"}
    exec(compile(text, file, "exec"), namespace)
    program, compiled = (
        namespace["program"],
        gx.function(namespace["program"], on_retrace="ignore", side_effects="ignore"),
    )
    before = program(gx.asarray(1.0))
    assert compiled(gx.asarray(1.0)) == before
    exec("Base.v = 7" if LACKING[use] is None else f"K.{LACKING[use].replace('= __exit__', '= K.__exit__')}", namespace)
    assert compiled(gx.asarray(1.0)) == program(gx.asarray(1.0)) != before
