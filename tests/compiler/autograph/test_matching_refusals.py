"""What is refused of ``match`` on tensors, and with what message."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

import graphc as gx
from graphc import Tensor
from graphc.compiler.base.errors import (
    InvalidArgumentError,
    UndefinedNameError,
    UnimplementedError,
    UnsupportedSyntaxError,
)
from tests.compiler.autograph.differential import f


@dataclass
class Point:
    x: Any


def test_a_name_bound_in_one_case_only_is_refused_by_name() -> None:
    def program(x: Tensor) -> Tensor:
        match x:
            case 0:
                y = x
            case 1:
                z = x  # noqa: F841
            case _:
                y = x + 1
        return y

    with pytest.raises(UndefinedNameError, match="name 'y' is used, but it is bound only in") as info:
        gx.function(program)(f(2.0))
    assert "return y" in str(info.value)


def test_values_of_cases_that_do_not_fit_are_refused_by_name() -> None:
    def shapes(x: Tensor) -> Tensor:
        match x:
            case 0:
                y = gx.ones(3)
            case _:
                y = x
        return gx.sum(y)

    with pytest.raises(InvalidArgumentError, match=r"the variable 'y' is .*f32\[3\].*shapes \(3,\) and \(\) differ"):
        gx.function(shapes)(f(2.0))


def test_a_value_against_several_elements_is_refused_as_in_eager_code() -> None:
    def program(x: Tensor) -> int:
        match gx.stack([x, x]):
            case 1:
                return 1
            case _:
                return 2

    for run in (program, gx.function(program)):
        with pytest.raises(InvalidArgumentError, match=r"use gx.any or gx.all"):
            run(f(1.0))


def in_a_tuple(x: Tensor) -> Any:
    match (x, x * 2):
        case (0, y):
            return y
    return x


def beside_a_structure(x: Tensor) -> Any:
    match x:
        case 0 | [_, _]:
            return x
    return x + 1


def of_a_class(x: Tensor) -> Any:
    match Point(x):
        case Point(x=0):
            return x
    return x + 1


def of_a_mapping(x: Tensor) -> Any:
    match {"by": x}:
        case [{"by": 0 | 1}]:
            return x
    return x + 1


@pytest.mark.parametrize(
    ("fn", "remedy"),
    [
        (of_a_class, r"A class pattern is not compiled. Write an `if`: `if isinstance\(x, Point\)"),
        (of_a_mapping, r"A mapping pattern is not compiled. Write an `if`: `if isinstance\(x, dict\)"),
    ],
)
def test_patterns_of_classes_and_mappings_are_refused(fn: Any, remedy: str) -> None:
    with pytest.raises(UnsupportedSyntaxError, match=remedy) as info:
        gx.function(fn)(f(1.0))
    assert "test_matching_refusals.py" in str(info.value)
    assert "case " in str(info.value)


@pytest.mark.parametrize("fn", [in_a_tuple, beside_a_structure])
def test_a_tensor_inside_a_structure_is_not_compared(fn: Any) -> None:
    with pytest.raises(UnimplementedError, match=r"a pattern compares a tensor .*compare it in a guard: `case") as info:
        gx.function(fn)(f(1.0))
    assert "test_matching_refusals.py" in str(info.value)


def test_the_kinds_of_numbers_that_depend_on_tensors_are_known() -> None:
    def number(x: Tensor) -> Any:
        k = 0
        while x > 0:
            k, x = k + 1, x - 1
            match k:
                case 1 | 2:
                    x = x - 1
        return k

    def flag(x: Tensor) -> Any:
        done = 0
        while x > 0:
            match done == 2:
                case True:
                    break
            done, x = done + 1, x - 1
        return done

    for program in (number, flag):
        for start in (3.0, 0.5, -1.0, 6.0):
            assert gx.function(program)(f(start)).item() == program(f(start))


def test_a_list_of_unknown_length_as_the_subject_is_refused() -> None:
    def program(x: Tensor) -> Any:
        out = []
        for v in range(4):
            if x > v:
                out.append(x)  # noqa: PERF401
        match out:
            case [a, *_]:
                return a
            case _:
                return x

    with pytest.raises(UnimplementedError, match="a list whose length is known at run time only"):
        gx.function(program)(f(3.0))
