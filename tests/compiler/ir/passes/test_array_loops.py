"""Loops over arrays, random ones and small texts: the passes that take them apart change nothing of what they give."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphc.compiler.ir import Graph, Interpreter, parse_graph, print_graph, verify
from graphc.compiler.ir.passes import (
    CSE,
    DCE,
    Collect,
    Flatten,
    Fold,
    Loops,
    Order,
    Pass,
    PredictiveCommoning,
    Promote,
    TakeRows,
    pipeline,
    run_passes,
)
from tests.compiler.ir.passes.array_loops import NUMPY_OPS, array_loops
from tests.compiler.ir.strategies import State, Stateful, told
from tests.draws import examples


def run(graph: Graph) -> list[np.ndarray]:
    rng = np.random.default_rng(3)
    inputs = [rng.uniform(-1, 1, value.type.shape).astype(np.float32) for value in graph.inputs]
    return list(map(np.asarray, Interpreter(graph).run(*inputs)))


@pytest.mark.parametrize("step", [Promote, PredictiveCommoning, Collect, TakeRows, Loops])
@given(data=st.data())
@settings(max_examples=examples(60), deadline=None)
def test_the_values_stay_to_the_bit(step: type[Pass], data: st.DataObject) -> None:
    graph = data.draw(array_loops(NUMPY_OPS))
    verify(graph)
    after = step(NUMPY_OPS)(graph)  # pyright: ignore[reportCallIssue]
    verify(after)
    for wanted, got in zip(run(graph), run(after), strict=True):
        np.testing.assert_array_equal(wanted, got)


@given(data=st.data())
@settings(max_examples=examples(100), deadline=None)
def test_users_without_results_see_what_they_saw(data: st.DataObject) -> None:
    graph = data.draw(told(data.draw(array_loops(NUMPY_OPS))))
    verify(graph)
    after = run_passes(graph, [Flatten(NUMPY_OPS), DCE(), Fold(), CSE(), Loops(NUMPY_OPS), DCE(), Order()])
    verify(after)
    rng = np.random.default_rng(3)
    inputs = [rng.uniform(-1, 1, value.type.shape).astype(np.float32) for value in graph.inputs]
    logs = []
    for one in (graph, after):
        state = State()
        results = Stateful(one, state).run(*inputs)
        logs.append(([np.asarray(result).tobytes() for result in results], state.log))
    assert logs[0] == logs[1]


def loop(operands: str, entries: str, body: str, types: str, **attrs: object) -> str:
    """A scan that carries its first operand, as text."""
    trips = {"length": 4, "start": 0, "step": 1, "reverse": False, "num_carry": 1, "num_xs": 0, "num_ys": 0, **attrs}
    written = ", ".join(f"{name} = {value}" for name, value in trips.items())
    return f"scan({operands}) {{{written}}} {{ body(%i: i32[], {entries}) -> ({types}) {{ {body} }} }}"


def one(step: Pass, loop: str) -> str:
    """A graph of one loop over a vector, after a pass."""
    text = f"graph g(%v: f32[6], %w: f32[6]) -> (f32[6]) {{ %s: f32[6] = {loop} return %s }}"
    graph = parse_graph(text, NUMPY_OPS)
    verify(graph)
    after = step(graph)
    verify(after)
    for wanted, got in zip(run(graph), run(after), strict=True):
        np.testing.assert_array_equal(wanted, got)
    return print_graph(after)


def at(name: str, offset: int) -> str:
    return f"%n{name}: i32[] = constant() {{value = i32[]({offset})}} %{name}: i32[] = add(%i, %n{name}) "


def item(name: str, array: str, place: str) -> str:
    return f'%{name}: f32[] = get_item(%{array}, %{place}) {{index = ("tensor",), inside = True}} '


PUT = '%u: f32[6] = update_item(%a, %x, %i) {index = ("tensor",), how = "set", inside = True} return %u'


def fill(behind: tuple[int, ...], start: int) -> str:
    """``a[i] = a[i - behind[0]] + ...``."""
    reads = "".join(at(f"p{back}", -back) + item(f"r{back}", "a", f"p{back}") for back in behind)
    sums = f"%x: f32[] = add(%r{behind[0]}, %r{behind[-1]}) "
    return loop("%v", "%a: f32[6]", reads + sums + PUT, "f32[6]", start=start, length=6 - start)


@pytest.fixture
def _for_a_gradient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loops are optimized as in a graph that has their derivatives."""
    monkeypatch.setattr(pipeline, "_WITHOUT_GRADIENTS", pipeline._WITH_GRADIENTS)


def test_a_loop_without_a_gradient_keeps_its_array() -> None:
    text = one(Loops(NUMPY_OPS), fill((1, 2), 2))
    assert "get_item" in text
    assert "num_carry = 1, num_xs = 0, num_ys = 0" in text


@pytest.mark.usefixtures("_for_a_gradient")
class TestPredictiveCommoning:
    def test_items_a_little_behind_are_carried_and_the_array_is_collected(self) -> None:
        text = one(Loops(NUMPY_OPS), fill((1, 2), 2))
        body = text[text.index("body(") : text.index("return")]
        assert "get_item" not in body
        assert "num_carry = 2, num_xs = 0, num_ys = 1" in text

    def test_an_item_at_no_fixed_distance_is_read(self) -> None:
        """``a[i] = a[5 - i] / 2``."""
        numbers = "%h: f32[] = constant() {value = f32[](0.5)} %five: i32[] = constant() {value = i32[](5)} "
        body = numbers + "%j: i32[] = subtract(%five, %i) " + item("r", "a", "j") + "%x: f32[] = multiply(%h, %r) "
        text = one(Loops(NUMPY_OPS), loop("%v", "%a: f32[6]", body + PUT, "f32[6]", length=6))
        assert "num_carry = 1, num_xs = 0, num_ys = 0" in text

    def test_an_item_that_may_or_may_not_be_written_is_read(self) -> None:
        zero = "%zero: i32[] = constant() {value = i32[](2)} " + item("x", "a", "zero")
        text = one(Loops(NUMPY_OPS), loop("%v", "%a: f32[6]", zero + PUT, "f32[6]"))
        assert "num_carry = 1, num_xs = 0, num_ys = 0" in text


@pytest.mark.usefixtures("_for_a_gradient")
class TestPromote:
    TABLE = 'index = ("tensor", "tensor"), inside = True'

    def _nest(self, other: str) -> str:
        """``t[k, i] = t[other, i] + t[k, i - 1]``, for i, in a loop over k."""
        body = (
            at("left", -1)
            + f"%one: i32[] = constant() {{value = i32[](1)}} %up: i32[] = {other} "
            + f"%a: f32[] = get_item(%t, %up, %i) {{{self.TABLE}}} "
            + f"%b: f32[] = get_item(%t, %k, %left) {{{self.TABLE}}} %x: f32[] = add(%a, %b) "
            + f'%u: f32[6,6] = update_item(%t, %x, %k, %i) {{how = "set", {self.TABLE}}} return %u'
        )
        inner = loop("%t, %i, %m", "%t: f32[6,6], %k: i32[], %m: i32[]", body, "f32[6,6]", start=1, length=5)
        outer = loop("%t, %m", "%t: f32[6,6], %m: i32[]", f"%s: f32[6,6] = {inner} return %s", "f32[6,6]", start=1)
        text = f"graph g(%t: f32[6,6], %m: i32[]) -> (f32[6,6]) {{ %s: f32[6,6] = {outer} return %s }}"
        graph = parse_graph(text, NUMPY_OPS)
        verify(graph)
        after = Loops(NUMPY_OPS)(graph)
        verify(after)
        return print_graph(after)

    def test_an_inner_loop_carries_an_item_of_the_row_that_it_writes(self) -> None:
        text = self._nest("subtract(%k, %one)")
        assert text.count("num_ys = 1") == 2
        assert "inside = True" not in text

    def test_a_row_that_may_be_the_one_that_is_written_is_read_of_the_table(self) -> None:
        text = self._nest("add(%m, %one)")
        assert text.count("scan(") == 2
        assert "num_ys = 1" not in text
        assert 'update_item(%t, %x, %k, %i) {how = "set", index = ("tensor", "tensor"), inside = True}' in text


class TestTakeRows:
    def _sum(self, place: str) -> str:
        adds = item("x", "b", "p") + '%u: f32[6] = update_item(%a, %x, %zero) {index = ("tensor",), how = "add"} '
        zero = "%zero: i32[] = constant() {value = i32[](0)} %one: i32[] = constant() {value = i32[](1)} "
        return loop("%v, %w", "%a: f32[6], %b: f32[6]", zero + f"%p: i32[] = {place} " + adds + "return %u", "f32[6]")

    def test_places_a_constant_apart_are_a_slice(self) -> None:
        text = one(TakeRows(NUMPY_OPS), self._sum("add(%i, %one)"))
        assert "get_item(%w) {index = ((1, 5, None),)}" in text
        assert "num_xs = 1" in text

    def test_places_that_do_not_lie_a_constant_apart_are_read_in_the_loop(self) -> None:
        assert "num_xs = 0" in one(TakeRows(NUMPY_OPS), self._sum("maximum(%i, %one)"))

    def test_an_item_that_all_iterations_read_is_read_before_the_loop(self) -> None:
        text = one(TakeRows(NUMPY_OPS), self._sum("add(%one, %one)"))
        assert text.index("get_item(%w) {index = (2,)}") < text.index("scan(")
        assert "num_xs = 0" in text
