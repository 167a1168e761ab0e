"""Open sizes: a saved function takes any number of rows, or is refused when it is saved."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphc as gx
from graphc.compiler.base.errors import InvalidArgumentError
from graphc.saving.signature import expressions
from tests.draws import examples


def convolutional() -> Callable[..., Any]:
    layers = gx.layers.Conv2D(4, 3, strides=2), gx.layers.MaxPooling2D(2), gx.layers.Flatten(), gx.layers.Dense(2)
    model = gx.layers.Sequential([*layers])
    model(gx.ones((1, 7, 7, 1)))
    return model


def looped(x: Any) -> Any:
    state = gx.zeros((x.shape[0], 3))
    for t in range(20):
        state = gx.tanh(state + x * t)
    while gx.sum(state) > 1.0:
        state = state / 2 - gx.reshape(state, (x.shape[0], 3)) / x.shape[0]
    return state


def trained(x: Any) -> Any:
    def loss(x: Any) -> Any:
        return gx.sum(gx.reshape(x, (x.shape[0] * 3,)) ** 2) / x.shape[0]

    return gx.grad(loss)(x)


FUNCTIONS: dict[str, tuple[Callable[[], Callable[..., Any]], tuple[int, ...]]] = {
    "convolutional": (convolutional, (7, 7, 1)),
    "looped": (lambda: looped, (3,)),
    "trained": (lambda: trained, (3,)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_takes_any_number_of_rows(name: str, tmp_path: Path) -> None:
    make, sizes = FUNCTIONS[name]
    f = gx.function(make(), on_retrace="ignore")
    gx.save(f, tmp_path, gx.TensorSpec((None, *sizes)))
    loaded = gx.load(tmp_path)
    for rows in (1, 2, 5):
        x = np.linspace(0.1, 1.0, rows * int(np.prod(sizes)), dtype=np.float32).reshape(rows, *sizes)
        np.testing.assert_allclose(loaded(x), f(x), rtol=1e-5, atol=1e-6)


def test_sizes_in_python_arithmetic(tmp_path: Path) -> None:
    def f(x: Any) -> Any:
        rows = x.shape[0]
        halves = gx.concat([x[: rows // 2], x[rows // 2 :]], axis=0)
        mask = gx.arange(rows) < rows - 1
        pairs = gx.reshape(gx.stack([x, x], axis=1), (2 * rows, -1))
        return halves, gx.sum(gx.where(mask[:, None], x, 0)) / rows, pairs, gx.pad(x, ((0, 1), (0, 0))), gx.flip(x)

    compiled = gx.function(f, on_retrace="ignore")
    gx.save(compiled, tmp_path, gx.TensorSpec((None, 3)))
    loaded = gx.load(tmp_path)
    for rows in (1, 4, 7):
        x = gx.reshape(gx.arange(rows * 3.0), (rows, 3))
        for one, other in zip(loaded(x), compiled(x), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-6)


def test_sizes_of_several_arguments(tmp_path: Path) -> None:
    spec = gx.TensorSpec((None, 3))
    gx.save(gx.function(lambda x, y: x - y), tmp_path / "same", (spec, spec))
    gx.save(gx.function(lambda x, y: x @ y.mT), tmp_path / "apart", (spec, spec))
    same, apart = gx.load(tmp_path / "same"), gx.load(tmp_path / "apart")
    assert same(gx.ones((4, 3)), gx.ones((4, 3))).shape == (4, 3)
    with pytest.raises(InvalidArgumentError, match=r"y is f32\[5,3\]"):
        same(gx.ones((4, 3)), gx.ones((5, 3)))
    assert apart(gx.ones((4, 3)), gx.ones((5, 3))).shape == (4, 5)


@pytest.mark.parametrize(
    ("f", "match"),
    [
        (lambda x: x if x.shape[0] < 50 else gx.flip(x), r"for size 64 the steps are others"),
        (lambda x: gx.sum(x * np.arange(x.shape[0], dtype=np.float32)[:, None]), "an array of Python's depends on"),
        (lambda x: sum([x[i] for i in range(x.shape[0])]), "steps for some sizes and"),
        (lambda x: x * (x.shape[0] ** 2), "an array of Python's depends on the open size"),
    ],
)
def test_what_depends_on_the_size_itself_is_refused(f: Any, match: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidArgumentError, match=f"cannot be saved with open sizes.*{match}.*give fixed sizes"):
        gx.save(f, tmp_path / "saved", gx.TensorSpec((None, 3)))


def test_a_function_that_treats_one_row_in_another_way(tmp_path: Path) -> None:
    gx.save(lambda x: x if x.shape[0] == 1 else x * 2, tmp_path, gx.TensorSpec((None,)))
    loaded = gx.load(tmp_path)
    assert loaded([1.0, 2.0]).tolist() == [2.0, 4.0]
    with pytest.raises(InvalidArgumentError, match="a size of 1 where it was saved for 2 and more"):
        loaded([1.0])


def test_expressions_of_sizes() -> None:
    sizes = [{"a": 11, "b": 13}, {"a": 17, "b": 19}, {"a": 23, "b": 29}]
    for text, numbers in (
        ("a", (11, 17, 23)),
        ("2*b + -1", (25, 37, 57)),
        ("a*b", (143, 323, 667)),
        ("floordiv(a, 2)", (5, 8, 11)),
        ("floordiv(b + 1, 2)", (7, 10, 15)),
    ):
        assert str(next(expressions(numbers, sizes))) == text
    assert next(expressions((1, 2, 40), sizes), None) is None


def test_a_step_for_few_rows_leaves_these_out(tmp_path: Path) -> None:
    gx.save(gx.function(lambda x: x if x.shape[0] < 8 else x * 2), tmp_path, gx.TensorSpec((None,)))
    loaded = gx.load(tmp_path)
    assert loaded(gx.ones(8)).tolist() == [2] * 8
    with pytest.raises(gx.errors.InvalidArgumentError, match="a size of 3 where it was saved for 8 and more"):
        loaded(gx.ones(3))


@pytest.mark.parametrize(
    "program",
    [
        lambda x: x if x.shape[0] % 3 else x * 2,
        lambda x: x + min(x.shape[0], 100),
        lambda x: x + min(x.shape[0], 2048),
        lambda x: gx.zeros(x.shape[0] // 1024 + 1),
        lambda x: x[: x.shape[0] % 1200],
    ],
)
def test_a_step_for_multiples_or_many_rows_is_refused(tmp_path: Path, program: Any) -> None:
    with pytest.raises(gx.errors.InvalidArgumentError, match="cannot be saved with open sizes"):
        gx.save(gx.function(program), tmp_path, gx.TensorSpec((None,)))


def counted(x: Any) -> Any:
    rows = 0
    for _ in x:
        rows += 1
    return rows


def checked(x: Any, y: Any) -> Any:
    if gx.sum(x) > 20:
        raise ValueError(f"{len(x)} and {len(y)} rows: too big", x.shape)
    return x


# Parts of a result, of tensors of open sizes: the loaded function has them for every size, or saving is refused.
PARTS: list[Callable[[Any, Any], Any]] = [
    lambda x, y: len(x),
    lambda x, y: (x.shape, y.size, x.ndim),
    lambda x, y: 2 * x.shape[0] + 1,
    lambda x, y: len(x) // 2 - 3,
    lambda x, y: len(x) / 2,
    lambda x, y: len(x) % 3,
    lambda x, y: len(x) > 3,
    lambda x, y: len(x) > len(y),
    lambda x, y: max(len(x), len(y)),
    lambda x, y: len(x) * len(y),
    lambda x, y: len(x) - len(y),
    lambda x, y: gx.zeros(max(len(x), len(y))),
    lambda x, y: "many" if len(x) > 50 else "few",
    lambda x, y: f"{len(x)} rows of {len(y)}²",
    lambda x, y: f"{len(x):03d}",
    lambda x, y: str(x.shape),
    lambda x, y: {len(x): y},
    lambda x, y: list(range(len(x))),
    lambda x, y: counted(x),
    lambda x, y: gx.asarray([2, 3]),
    lambda x, y: (gx.asarray(2.5), gx.asarray(1, "int8")),
    lambda x, y: (None, True, -0.0, "text"),
    lambda x, y: int(gx.sum(y)),
    lambda x, y: gx.sum(x) / len(x),
    lambda x, y: gx.concat([x, y], axis=0),
    checked,
]


def outcome(f: Callable[..., Any], *args: Any) -> str:
    try:
        return repr(f(*args))
    except ValueError as error:
        return f"{type(error).__name__} {error.args}"


SIZES = st.sampled_from([0, 1, 2, 3, 4, 5, 7, 8, 11, 30])


@settings(max_examples=examples(60))
@given(data=st.data())
def test_a_loaded_function_is_the_function_for_every_size(data: st.DataObject) -> None:
    parts = data.draw(st.lists(st.sampled_from(PARTS), min_size=1, max_size=2))

    def f(x: Any, y: Any) -> Any:
        return [part(x, y) for part in parts]

    compiled, spec = gx.function(f, on_retrace="ignore"), gx.TensorSpec((None,))
    with tempfile.TemporaryDirectory() as folder:
        refusal = None
        try:
            gx.save(compiled, folder, (spec, spec))
        except InvalidArgumentError as error:
            refusal = str(error)
        if refusal is not None:
            assert "cannot be saved with open sizes" in refusal
            assert f'File "{__file__}"' in refusal
            return
        loaded = gx.load(folder)
        for sizes in data.draw(st.lists(st.tuples(SIZES, SIZES), min_size=3, max_size=3)):
            args = [gx.ones(size) for size in sizes]
            found = outcome(loaded, *args)
            assert found == outcome(compiled, *args) or "fit none of the signatures" in found


TABLES = [gx.ones(2), gx.zeros(2)]


@pytest.mark.parametrize(
    ("f", "match"),
    [
        (lambda x: gx.sum(x) + TABLES[len(x) % 2], "it uses other tensors or Variables from outside for size"),
        (lambda x: x[20:], r"for size .* is said to give f32\[0\], and gives"),
        (lambda x: len(x) / 2, r"a Python value that it returns depends on the open size \(5\.5"),
    ],
)
def test_what_only_some_sizes_show_is_refused(f: Any, match: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidArgumentError, match=match):
        gx.save(f, tmp_path, gx.TensorSpec((None,)))


def test_sizes_that_the_function_compares_are_equal(tmp_path: Path) -> None:
    spec = gx.TensorSpec((None,))
    gx.save(lambda x, y, z: sorted([len(x), len(y), len(z)])[1], tmp_path, (spec, spec, spec))
    assert gx.load(tmp_path)(gx.ones(2), gx.ones(2), gx.ones(2)) == 2
    with pytest.raises(InvalidArgumentError, match="y is f32"):
        gx.load(tmp_path)(gx.ones(2), gx.ones(5), gx.ones(3))


def test_numbers_of_sizes_do_not_wrap_around(tmp_path: Path) -> None:
    gx.save(lambda x: (gx.sum(x) + len(x) * 10**5, len(x) * 10**9), tmp_path, gx.TensorSpec((None,)))
    loaded = gx.load(tmp_path)
    assert repr(loaded(gx.zeros(3))) == "(Tensor(300000., shape=(), dtype=float32), 3000000000)"
    with pytest.raises(InvalidArgumentError, match="3000000000, computed from the sizes of arguments, does not fit"):
        loaded(gx.zeros(30_000))


def test_a_message_that_a_file_cannot_hold_says_so(tmp_path: Path) -> None:
    def f(x: Any) -> Any:
        if gx.sum(x) > 2:
            raise IndexError(f"{len(x) / 2}")
        return x

    gx.save(f, tmp_path, gx.TensorSpec((None,)))
    with pytest.raises(IndexError, match="the message has a size that is open, which the saved function does not hold"):
        gx.load(tmp_path)(gx.ones(3))
