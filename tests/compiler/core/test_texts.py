"""How tensors and Variables are shown, eagerly and by compiled functions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import graphc as gx
from graphc.compiler.base.errors import InvalidArgumentError


@pytest.fixture
def tensorflow() -> Iterator[None]:
    with gx.config.scope(tensor_text="tensorflow"):
        yield


@pytest.mark.usefixtures("tensorflow")
@pytest.mark.parametrize(
    ("value", "text", "representation"),
    [
        (3.5, "tf.Tensor(3.5, shape=(), dtype=float32)", "<tf.Tensor: shape=(), dtype=float32, numpy=3.5>"),
        (
            [[1, 2], [3, 4]],
            "tf.Tensor(\n[[1 2]\n [3 4]], shape=(2, 2), dtype=int32)",
            "<tf.Tensor: shape=(2, 2), dtype=int32, numpy=array([[1, 2],\n       [3, 4]], dtype=int32)>",
        ),
        ("a", "tf.Tensor('a', shape=(), dtype=string)", "<tf.Tensor: shape=(), dtype=string, numpy='a'>"),
    ],
)
def test_tensorflows_texts(value: Any, text: str, representation: str) -> None:
    tensor = gx.asarray(value)
    assert (str(tensor), "%s" % tensor, repr(tensor)) == (text, text, representation)  # noqa: UP031
    assert f"{tensor}" == str(tensor.numpy())


@pytest.mark.usefixtures("tensorflow")
def test_variables_and_what_compiled_functions_print(capsys: pytest.CaptureFixture[str]) -> None:
    v = gx.Variable([1.0], name="texts_v")
    assert repr(v) == "<tf.Variable 'texts_v:0' shape=(1,) dtype=float32, numpy=array([1.], dtype=float32)>"

    @gx.function
    def f(x: Any) -> None:
        print("x", x)
        print(f"{x} {x:.2f}")
        gx.print("values", x, [x, "a"], {"k": (x,)})

    f(gx.asarray(2.5))
    printed = ["x tf.Tensor(2.5, shape=(), dtype=float32)", "2.5 2.50", "values 2.5 [2.5, 'a'] {'k': (2.5)}"]
    assert capsys.readouterr().out.splitlines() == printed


def test_numpys_texts_are_the_default_and_another_is_refused() -> None:
    assert (str(gx.asarray(3.5)), repr(gx.asarray(3.5))) == ("3.5", "Tensor(3.5, shape=(), dtype=float32)")
    with pytest.raises(InvalidArgumentError, match=r"tensor_text: expected 'numpy' or 'tensorflow', got 'torch'"):
        gx.config.tensor_text = "torch"


def test_rows_of_a_matrix_stand_below_each_other() -> None:
    assert repr(gx.asarray([[1.0, 2.0], [3.0, 4.0]])).split("\n")[:2] == [
        "Tensor([[1., 2.],",
        "        [3., 4.]], shape=(2, 2), dtype=float32)",
    ]
    first, second = repr(gx.Variable([[1.0, 2.0], [3.0, 4.0]], name="m")).split("\n")
    assert first.index("[1. 2.]") == second.index("[3. 4.]")
    assert repr(gx.Variable(0.8)).endswith("value=0.8)")
