"""``vmap`` and ``vectorized_map``: against JAX, and against a Python loop over the rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax as _jax
import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError, UnimplementedError
from graphc.compiler.function import mapped

jax: Any = _jax


def both(function: Callable[..., Any], *args: Any) -> list[Any]:
    return [function(*args), gx.function(function)(*args)]


def collatz(n: Any) -> Any:
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def branching(x: Any) -> Any:
    if gx.sum(x) > 2.0:
        x = gx.sin(x)
    elif x[0] < 0.5:
        return {"x": x, "found": gx.argmax(x)}
    for i in range(12):
        x = x + x[0] * i
    return {"x": x * 2.0, "found": gx.argmax(x)}


def test_control_flow_on_rows() -> None:
    rows = gx.asarray(np.random.default_rng(0).uniform(0, 1.5, (6, 3)).astype(np.float32))
    wanted = [branching(row) for row in rows]
    for found in both(gx.vmap(branching), rows):
        assert found["found"].tolist() == [row["found"].item() for row in wanted]
        np.testing.assert_allclose(found["x"].numpy(), [row["x"].numpy() for row in wanted], rtol=1e-5)
    for found in both(lambda n: gx.vectorized_map(collatz, n), gx.arange(1, 8)):
        assert found.tolist() == [0, 1, 7, 2, 5, 8, 16]


@pytest.mark.parametrize(
    ("in_axes", "out_axes"), [((0, 1), 0), ((1, None), -1), ((None, -1), 1), ([0, None], 2), (0, 1)], ids=str
)
def test_axes_are_jaxs(in_axes: Any, out_axes: Any) -> None:
    a, b = np.arange(9.0, dtype=np.float32).reshape(3, 3), np.arange(9.0, 18.0, dtype=np.float32).reshape(3, 3)

    def f(a: Any, b: Any) -> Any:
        return a * 2 + b

    wanted = jax.vmap(f, in_axes=in_axes, out_axes=out_axes)(a, b)
    for found in both(gx.vmap(f, in_axes, out_axes), gx.asarray(a), gx.asarray(b)):
        np.testing.assert_allclose(found.numpy(), wanted)


def test_axes_of_structures_and_keywords() -> None:
    def f(pair: Any, power: int, scale: Any = 1.0) -> Any:
        return (pair["a"] ** power * scale, pair["b"])

    mapped = gx.vmap(f, in_axes=({"a": 1, "b": None}, None), out_axes=(1, None))

    def call(a: Any, b: Any, scale: Any) -> Any:
        return mapped({"a": a, "b": b}, 2, scale=scale)

    a = np.arange(6.0, dtype=np.float32).reshape(2, 3)
    for found in both(call, gx.asarray(a), gx.asarray(7.0), gx.asarray([1.0, 2.0, 3.0])):
        np.testing.assert_allclose(found[0].numpy(), a**2 * np.array([1.0, 2.0, 3.0]))
        assert found[1].item() == 7.0


def test_nested_with_gradients_in_any_order() -> None:
    x, y = gx.arange(3.0), gx.asarray([2.0, 5.0])
    outer = gx.vmap(gx.vmap(lambda a, b: a * b, in_axes=(0, None)), in_axes=(None, 0))
    for found in both(outer, x, y):
        assert found.tolist() == [[0.0, 2.0, 4.0], [0.0, 5.0, 10.0]]

    def squares(x: Any) -> Any:
        while x < 10.0:
            x = x * x
        return x

    rows = gx.asarray([1.5, 3.0, 20.0])
    wanted = [gx.grad(squares)(row).item() for row in rows]
    for function in (
        gx.vmap(gx.grad(squares)),
        gx.grad(lambda x: gx.sum(gx.vmap(squares)(x))),
        gx.vmap(lambda x: gx.jvp(squares, (x,), (1.0,))[1]),
        lambda x: gx.jvp(gx.vmap(squares), (x,), (gx.ones(3),))[1],
    ):
        for found in both(function, rows):
            np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-5)
    for found in both(gx.vmap(gx.hessian(lambda x: gx.sum(x**3))), gx.asarray([[1.0, 2.0], [3.0, 4.0]])):
        np.testing.assert_allclose(found.numpy(), [np.diag([6.0, 12.0]), np.diag([18.0, 24.0])])


def test_variables_are_read_and_differentiated() -> None:
    w = gx.Variable([1.0, 2.0], name="w")
    rows = gx.asarray([[1.0, 0.0], [0.0, 3.0]])

    def f(rows: Any) -> Any:
        with gx.GradientTape() as tape:
            loss = gx.sum(gx.vectorized_map(lambda row: gx.sum(row * w) ** 2, rows))
        return tape.gradient(loss, w)

    for found in both(f, rows):
        assert found.tolist() == [2.0, 36.0]


def test_each_row_draws_numbers_of_its_own() -> None:
    def f(generator: Any) -> Any:
        return lambda x: x + generator.normal((2,)) + generator.uniform((2,))

    found = []
    for wrap in (lambda function: function, gx.function):
        generator = gx.random.Generator(3)
        call = wrap(lambda x, generator=generator: gx.vmap(f(generator))(x))
        found += [np.stack([call(gx.zeros(4)).numpy(), call(gx.zeros(4)).numpy()]), generator.state.numpy()]
    assert len(set(found[0].ravel().tolist())) == 16
    np.testing.assert_array_equal(found[0], found[2])
    np.testing.assert_array_equal(found[1], found[3])


def checked(x: Any) -> Any:
    if x > 2.0:
        raise ValueError(f"{x} is too large")
    assert x > 0.0, "below zero"
    return x * x


def test_an_exception_is_that_of_the_first_row_that_fails() -> None:
    for call in (gx.vmap(checked), gx.function(lambda x: gx.vmap(checked)(x))):
        assert call(gx.asarray([1.0, 2.0])).tolist() == [1.0, 4.0]
        with pytest.raises(ValueError, match=r"3\.0 is too large"):
            call(gx.asarray([1.0, 3.0, -1.0, 4.0]))
        with pytest.raises(AssertionError, match="below zero"):
            call(gx.asarray([1.0, -3.0, 5.0]))


def test_rows_are_copies_and_captured_tensors_are_followed() -> None:
    shift = gx.asarray([1.0, 1.0])

    def f(row: Any, same: Any) -> Any:
        row[0] = 9.0
        same[1] = 5.0
        return row + shift + same

    x, same = gx.zeros((2, 2)), gx.zeros(2)
    mapped = gx.vmap(f, in_axes=(0, None))
    assert mapped(x, same).tolist() == [[10.0, 6.0], [10.0, 6.0]]
    shift[0] = 2.0
    assert mapped(x, same).tolist() == [[11.0, 6.0], [11.0, 6.0]]
    assert x.tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert same.tolist() == [0.0, 0.0]


def test_variables_that_the_first_call_makes() -> None:
    class Model:
        w: Any = None
        training = True

        def __call__(self, row: Any) -> Any:
            if self.w is None:
                self.w = gx.Variable(gx.ones(row.shape), name="lazy")
            return gx.sum(self.w * row) if self.training else row

    for wrap in (lambda function: function, gx.function):
        model = Model()
        mapped = gx.vmap(model)
        assert wrap(lambda x, mapped=mapped: mapped(x))(gx.ones((3, 2))).tolist() == [2.0, 2.0, 2.0]
    model.training = False
    assert mapped(gx.ones((3, 2))).shape == (3, 2)


def test_it_is_compiled_when_functions_run_eagerly_too() -> None:
    mapped = gx.vmap(collatz)
    gx.run_functions_eagerly(True)
    try:
        assert mapped(gx.arange(1, 4)).tolist() == [0, 1, 7]
    finally:
        gx.run_functions_eagerly(False)


def test_a_function_that_is_mapped_again_is_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    traced: list[Any] = []
    native = mapped.emit_vmap
    monkeypatch.setattr(mapped, "emit_vmap", lambda *args: traced.append(args[-1]) or native(*args))
    shift = gx.asarray(1.0)
    for x in (1.0, 2.0):
        assert gx.vectorized_map(lambda row: row * 3.0, gx.full((2,), x)).tolist() == [3.0 * x] * 2
        assert gx.vmap(collatz)(gx.asarray([int(x)])).tolist() == [x - 1.0]
    assert traced == [2, 1]
    for number in (1.0, 2.0):
        assert (
            gx.vmap(lambda row, number=number: row * number + shift, in_axes=(0,))(gx.ones(2)).tolist()
            == [number + 1.0] * 2
        )
    assert len(traced) == 4


def test_no_rows() -> None:
    for found in both(gx.vmap(lambda x: x * 2), gx.zeros((0, 3))):
        assert found.shape == (0, 3)


def test_arguments_that_do_not_fit() -> None:
    add = gx.vmap(lambda a, b: a + b)
    with pytest.raises(
        InvalidArgumentError, match=r"args\[0\] has 3 rows \(axis 0 of f32\[3\]\), args\[1\] has 2"
    ) as error:
        add(gx.ones(3), gx.ones(2))
    assert "add(gx.ones(3), gx.ones(2))" in str(error.value)
    with pytest.raises(InvalidTypeError, match=r"args\[1\] is 2.0, which has no axis 0 to map over; set it to None"):
        add(gx.ones(3), 2.0)
    with pytest.raises(InvalidArgumentError, match=r"args\[1\]: there is no axis 0, the type is f32\[\]"):
        add(gx.ones(3), gx.asarray(2.0))
    with pytest.raises(InvalidArgumentError, match=r"in_axes=\(0,\) is for 1 positional arguments, got 2"):
        gx.vmap(lambda a, b: a + b, in_axes=(0,))(gx.ones(3), gx.ones(3))
    with pytest.raises(InvalidArgumentError, match="no argument of '<lambda>' is mapped over"):
        gx.vmap(lambda a: a, in_axes=None)(gx.ones(3))
    with pytest.raises(InvalidTypeError, match="in_axes must be made of ints and None, got 'rows'"):
        gx.vmap(lambda a: a, in_axes=("rows",))(gx.ones(3))
    with pytest.raises(
        InvalidArgumentError, match=r"in_axes has the structure \[\*, \*\], but the value has \{a: \*\}"
    ):
        gx.vmap(lambda a: a, in_axes=([0, 1],))({"a": gx.ones(3)})
    with pytest.raises(InvalidArgumentError, match=r"out_axes=2: there is no axis 2"):
        gx.vmap(lambda a: a, out_axes=2)(gx.ones(3))
    with pytest.raises(InvalidTypeError, match="vmap: expected a function, got 3"):
        gx.vmap(3)  # pyright: ignore[reportArgumentType]
    with pytest.raises(
        InvalidTypeError, match="'<lambda>' returned 'text'; a mapped function must return tensors and numbers"
    ):
        gx.vmap(lambda a: "text")(gx.ones(3))
    with pytest.raises(InvalidArgumentError, match="out_axes"):
        gx.vmap(lambda a: a, out_axes=None)(gx.ones(3))


def test_what_cannot_be_done_for_each_row_is_refused() -> None:
    total = gx.Variable(0.0, name="total")
    held: list[Any] = []

    def assigns(x: Any) -> Any:
        if x > 0:
            total.assign_add(x)
        return x

    def prints(x: Any) -> Any:
        print("row", x)
        return x

    def stores(x: Any) -> Any:
        held.append(x)
        return x

    for function, message, line in (
        (
            assigns,
            r"the function 'assigns' that gx.vmap maps assigns the Variable 'total\w*', which all rows share",
            "if x",
        ),
        (prints, "prints or calls gx.pyfunc in order, but rows have no order", 'print("row", x)'),
        (stores, "list.append.* changes an object from outside", "held.append(x)"),
    ):
        for call in (gx.vmap(function), gx.function(lambda x, function=function: gx.vmap(function)(x))):
            with pytest.raises(UnimplementedError, match=message) as refused:
                call(gx.ones(3))
            assert line in str(refused.value)
    assert total.value().item() == 0.0
    assert held == []
