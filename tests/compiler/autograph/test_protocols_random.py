"""Random programs about what Python asks an object for: compiled, they mean what plain Python means, or are refused."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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


@pytest.mark.parametrize("number", [1077, 1092, 1404, 1755, 2293, 2608, 2674, 2849, 3580, 21111])
def test_programs_that_once_differed(number: int) -> None:
    check_program(number)
