"""Symbolic tensors: what they refuse, also when the user swallows the error, and what happens when they leak."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphc as gx


def library(function: Callable[..., Any]) -> Callable[..., Any]:
    """As code that is not converted, such as a library's."""
    return gx.do_not_convert(function)


REFUSED = [
    (lambda x: x.numpy(), r"numpy\(\) needs a value, but this tensor \(f32\[2\], the argument 'x'\)"),
    (library(lambda x: x.item()), r"item\(\) needs a value"),
    (library(lambda x: x.tolist()), r"numpy\(\) needs a value"),
    (lambda x: x.wait(), r"wait\(\) needs a value"),
    (library(lambda x: bool(x)), r"bool\(\) needs a value.*gx\.where or gx\.cond"),
    (library(lambda x: int(x)), r"int\(\) needs a value.*gx\.astype"),
    (library(lambda x: float(x)), r"float\(\) needs a value"),
    (library(lambda x: complex(x)), r"complex\(\) needs a value"),
    (library(lambda x: range(x)), r"an index or a size needs a value"),
    (lambda x: np.asarray(x), r"conversion to a NumPy array needs a value"),
    (library(lambda x: [1, 2][x]), r"an index or a size needs a value"),
    (library(lambda x: np.from_dlpack(x)), r"DLPack"),
]


@pytest.mark.parametrize(("use", "message"), REFUSED)
def test_a_symbolic_tensor_has_no_value(use: Callable[..., Any], message: str) -> None:
    function = gx.function(lambda x: (use(x), x)[1])
    with pytest.raises(gx.errors.GraphcError, match=message) as caught:
        function(gx.ones((2,)))
    assert "test_symbolic_tensor.py" in str(caught.value)


def test_the_refusal_stands_when_the_user_swallows_it() -> None:
    @library
    def positive(x: Any) -> bool:
        try:
            return bool(x > 0)
        except Exception:
            return False

    @gx.function
    def function(x: Any) -> Any:
        return x if positive(x) else -x

    for _ in range(2):  # nothing of the failed trace is kept
        with pytest.raises(gx.errors.ConcretizationError, match=r"bool\(\) needs a value"):
            function(gx.asarray(1.0))
    assert function.num_traces == 0


def test_the_message_names_what_made_the_tensor_and_where() -> None:
    with pytest.raises(TypeError, match=r"\(bool\[\], the result of greater at test_symbolic_tensor\.py:\d+\)"):
        gx.function(library(lambda x: bool(x > 0)))(gx.asarray(1.0))


def test_leaked_tensors_are_refused_everywhere() -> None:
    kept: list[Any] = []

    @gx.do_not_convert  # converted code is watched, and such a store refused
    def keep(value: Any) -> None:
        kept.append(value)

    @gx.function(side_effects="ignore")
    def leaky(x: Any) -> Any:
        keep(x * 2)
        return x

    leaky(gx.asarray(1.0))
    other = gx.function(lambda x: x + kept[0])
    uses: list[Callable[[], Any]] = [
        lambda: kept[0] + 1,
        lambda: gx.asarray(1.0) * kept[0],
        lambda: gx.exp(kept[0]),
        lambda: other(gx.asarray(1.0)),
        lambda: leaky(kept[0]),
        lambda: gx.Variable(1.0).assign(kept[0]),
        lambda: gx.Variable(kept[0]),
    ]
    for use in uses:
        with pytest.raises(gx.errors.LeakedTensorError, match=r"is used outside the function.*'leaky'") as caught:
            use()
        assert "multiply at test_symbolic_tensor.py" in str(caught.value)
    with pytest.raises(gx.errors.GraphcError):
        kept[0].numpy()


def test_the_representation_of_a_symbolic_tensor_says_what_it_is() -> None:
    seen: list[str] = []

    @library
    def look(x: Any) -> None:
        seen.append(repr(x))

    @gx.function(side_effects="ignore")
    def function(x: Any) -> Any:
        look(x)
        return x

    function(gx.ones((2,)))
    assert seen == ["<symbolic Tensor f32[2], the argument 'x'>"]


@pytest.mark.parametrize("text", [str, format, "{:.2f}".format], ids=["str", "format", "method"])
def test_a_text_of_a_symbolic_tensor_needs_a_value_outside_converted_code(text: Any) -> None:
    @library
    def look(x: Any) -> None:
        text(x)

    @gx.function
    def function(x: Any) -> Any:
        look(x)
        return x

    with pytest.raises(gx.errors.ConcretizationError, match="a text needs a value"):
        function(gx.ones((2,)))


def test_numpy_functions_of_symbolic_tensors_are_ops() -> None:
    @gx.function
    def function(x: Any) -> Any:
        return np.sin(x) + np.sum(x) + np.ones(2, np.float32) * x

    x = np.asarray([1.0, 2.0], np.float32)
    np.testing.assert_allclose(function(gx.asarray(x)).numpy(), np.sin(x) + x.sum() + x, rtol=1e-6)
    assert function.num_traces == 1
