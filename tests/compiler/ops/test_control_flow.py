"""The ops scan and while from their text: the index of a scan goes with its rows, a bound stops no loop."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base.errors import VerificationError

ROWS = """graph g(%total: f32[], %rows: f32[4]) -> (f32[], f32[4]) {{
  %scan: (f32[], f32[4]) = scan(%total, %rows) {{{trips}, num_carry = 1, num_xs = 1, num_ys = 1, length = 4}} {{
    body: "body"(%index: ~i32[], %carry: f32[], %row: f32[]) -> (f32[], f32[]) {{
      %half: ~f32[] = constant() {{value = f32[](0.5), weak = True}}
      %halved: f32[] = multiply(%carry, %half)
      %scaled: f32[] = multiply(%row, %index)
      %next: f32[] = add(%halved, %scaled)
      return %next, %scaled
    }}
  }}
  return %scan#0, %scan#1
}}"""

NO_ROWS = """graph g(%total: f32[]) -> (f32[]) {{
  %scan: f32[] = scan(%total) {{{trips}, num_carry = 1, num_xs = 0, num_ys = 0, length = 4}} {{
    body: "body"(%index: ~i32[], %carry: f32[]) -> (f32[]) {{
      %half: ~f32[] = constant() {{value = f32[](0.5), weak = True}}
      %halved: f32[] = multiply(%carry, %half)
      %next: f32[] = add(%halved, %index)
      return %next
    }}
  }}
  return %scan
}}"""

TRIPS = [("start = 0", range(4)), ("start = 3, step = 5", range(3, 23, 5)), ("start = 7, step = -2", range(7, -1, -2))]


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(("trips", "indices"), TRIPS)
def test_the_index_of_a_scan_over_rows(trips: str, indices: range, reverse: bool) -> None:
    graph = gx.parse_graph(ROWS.format(trips=f"{trips}, reverse = {reverse}"))
    rows = np.asarray([1.0, -2.0, 3.0, 0.5], np.float32)
    total, scaled = 1.0, rows * np.asarray(indices)
    for value in scaled[::-1] if reverse else scaled:
        total = total * 0.5 + value
    last, found = gx.from_graph(graph)(gx.asarray(1.0), gx.asarray(rows))
    assert found.tolist() == scaled.tolist()
    assert last.item() == total


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(("trips", "indices"), TRIPS)
def test_the_index_of_a_scan_without_rows(trips: str, indices: range, reverse: bool) -> None:
    graph = gx.parse_graph(NO_ROWS.format(trips=f"{trips}, reverse = {reverse}"))
    total = 1.0
    for index in indices[::-1] if reverse else indices:
        total = total * 0.5 + index
    assert gx.from_graph(graph)(gx.asarray(1.0)).item() == total


@pytest.mark.parametrize("reverse", [False, True])
def test_scan_goes_over_rows_in_either_direction(reverse: bool) -> None:
    def function(rows: Any) -> Any:
        return gx.scan(lambda total, row: (total * 0.5 + row, total), gx.asarray(1.0), rows, reverse=reverse)

    rows = gx.asarray([1.0, -2.0, 3.0])
    last, totals = gx.function(function)(rows)
    eager_last, eager_totals = function(rows)
    assert last.item() == eager_last.item() == (0.875 if reverse else 2.375)
    assert totals.tolist() == eager_totals.tolist()


BOUNDED = """graph g(%x: f32[]) -> (f32[]) {{
  %while: f32[] = while(%x) {{num_carry = 1{bound}}} {{
    test: "test"(%carry: f32[]) -> (bool[]) {{
      %limit: ~f32[] = constant() {{value = f32[](100.0), weak = True}}
      %less: bool[] = less(%carry, %limit)
      return %less
    }}
    body: "body"(%carry: f32[]) -> (f32[]) {{
      %half: ~f32[] = constant() {{value = f32[](1.5), weak = True}}
      %next: f32[] = multiply(%carry, %half)
      return %next
    }}
  }}
  return %while
}}"""


@pytest.mark.parametrize("bound", ["", *(f", max_iterations = {count}" for count in (0, 1, 4, 1000))])
def test_a_bound_changes_neither_a_while_nor_its_gradient(bound: str) -> None:
    graph = gx.parse_graph(BOUNDED.format(bound=bound))
    assert bound in str(graph)
    function = gx.from_graph(graph)
    x = gx.asarray(2.0)
    with gx.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    assert y.item() == 2 * 1.5**10
    assert tape.gradient(y, x).item() == 1.5**10


@pytest.mark.parametrize(
    ("trips", "message"),
    [
        ("start = f32", "it cannot have the attribute start = "),
        ("reverse = 1", "it cannot have the attribute reverse = 1"),
        ("unroll = 0", "it cannot have the attribute unroll = 0"),
        ("max_iterations = 3", "it cannot have the attribute max_iterations = 3"),
        ('assigned = ("a", "b")', "it assigns more variables than it returns"),
    ],
)
def test_attributes_of_another_kind_are_refused(trips: str, message: str) -> None:
    with pytest.raises(VerificationError, match=re.escape(message)):
        gx.from_graph(gx.parse_graph(ROWS.format(trips=trips)))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("length = 4", "length = f32", "it cannot have the attribute length = "),
        ("num_ys = 0, ", "", "the attribute num_ys is missing"),
        ("num_xs = 0", "num_xs = 1", "it has 1 inputs, fewer than it carries or takes the rows of"),
    ],
)
def test_counts_of_a_scan_are_checked(old: str, new: str, message: str) -> None:
    text = NO_ROWS.format(trips="start = 0")
    assert old in text
    with pytest.raises(VerificationError, match=re.escape(message)):
        gx.from_graph(gx.parse_graph(text.replace(old, new)))
