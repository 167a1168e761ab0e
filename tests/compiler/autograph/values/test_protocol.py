"""What symbolic values answer to the questions of constructs, and that asking hides nothing from a program."""

from __future__ import annotations

from typing import Any

import pytest

import graphc as gx
from graphc.compiler.autograph.values import protocol
from graphc.compiler.autograph.values.choice import Choice
from graphc.compiler.autograph.values.protocol import Symbolic
from graphc.compiler.core import SymbolicTensor

QUESTIONS = [name for name in vars(Symbolic) if not name.startswith("_")]


@pytest.mark.parametrize("kind", [bool, int, float, complex, str, bytes, list, dict, tuple, SymbolicTensor])
def test_no_question_hides_an_attribute_of_what_a_value_stands_for(kind: type[Any]) -> None:
    assert [name for name in QUESTIONS if hasattr(kind, name)] == []


def _answers(program: Any, *args: Any) -> Any:
    """Returns what a program puts into a list while it is traced."""
    seen: list[Any] = []
    gx.function(lambda *given: program(seen, *given), side_effects="ignore").graph(*args)
    return seen


def test_a_number_answers_as_its_python_type_does() -> None:
    @gx.do_not_convert
    def look(seen: list[Any], n: Any) -> None:
        seen += [n.python_type(), n.python_types(), protocol.host_sequence_of(n), protocol.is_bound(n), n.describe()]

    def program(seen: list[Any], x: Any) -> Any:
        n = int(x)
        look(seen, n)
        return x + n

    found = _answers(program, gx.asarray(3))
    assert found == [int, frozenset((int,)), None, True, "<a number that depends on tensors>"]


def test_a_choice_tells_its_values_and_settles_where_only_one_is_left() -> None:
    known = Choice(1, ("up", "down"))
    assert protocol.alternatives(known) == ("up", "down")
    assert protocol.settled(known) == "down"


def test_a_list_of_unknown_length_refuses_that_python_looks_into_it() -> None:
    def program(x: Any) -> Any:
        items: list[Any] = []
        for row in x:
            if row > 0:
                items.append(row)  # noqa: PERF401  the loop is what is tested
        return items == [1.0]

    with pytest.raises(gx.errors.UnimplementedError, match="a list whose length is known at run time only"):
        gx.function(program)(gx.asarray([1.0, -1.0]))


@pytest.mark.parametrize("value", [3, 2.5, "text", [1], None, (1, 2)])
def test_other_values_answer_as_python_does(value: Any) -> None:
    assert protocol.symbol_of(value) is None
    assert protocol.alternatives(value) is None
    assert protocol.answer("__len__", value) is NotImplemented
    assert protocol.converted(value, int) is NotImplemented
    assert protocol.is_bound(value)
    assert all(ask(value) is value for ask in (protocol.as_tensor, protocol.operand_of, protocol.settled))
    protocol.look_into(value)
