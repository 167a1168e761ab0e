"""Tensors in notebooks."""

from __future__ import annotations

from typing import Any

import graphc as gx


def html_of(tensor: Any) -> str:
    return tensor._repr_html_()


def test_a_matrix_is_a_table_with_type_and_device() -> None:
    text = html_of(gx.asarray([[1.5, 2.0], [3.0, float("nan")]]))
    assert text.count("<tr>") == 3
    assert "<td>1.5</td><td>2</td>" in text
    assert "<td>nan</td>" in text
    assert "f32[2,2]" in text
    assert "/device:CPU:0" in text


def test_of_a_large_one_the_edges_are_shown() -> None:
    text = html_of(gx.ones((100, 100)))
    assert text.count("<tr>") == 12
    assert "<th>…</th>" in text
    assert "<th>99</th>" in text


def test_others_are_texts() -> None:
    assert "<pre>3.</pre>" in html_of(gx.asarray(3.0))
    assert "<table" not in html_of(gx.ones((2, 2, 2)))
    assert "<table" not in html_of(gx.ones((0, 2)))


def test_a_symbolic_one_has_no_picture() -> None:
    @gx.function
    def f(x: Any) -> Any:
        return x if x._repr_html_() is None else -x

    assert f(gx.asarray(2.0)).item() == 2.0
