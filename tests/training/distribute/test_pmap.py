"""pmap and the collectives: the numbers of vmap with the same axis, on devices of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest

import graphc as gx

X = np.arange(32, dtype=np.float32).reshape(4, 8)


def everything(collect: Any, row: Any) -> Any:
    """All collectives, by graphc's functions or by JAX's."""
    return {
        "psum": collect.psum({"a": row, "b": row * 2}, "i"),
        "pmean": collect.pmean(row, "i"),
        "pmax": collect.pmax(row, "i"),
        "pmin": collect.pmin(row, "i"),
        "gathered": collect.all_gather(row, "i", axis=1),
        "tiled": collect.all_gather(row, "i", tiled=True),
        "exchanged": collect.all_to_all(row, "i", 0, 0, tiled=True),
        "permuted": collect.ppermute(row, "i", [(0, 1), (1, 2), (2, 3), (3, 0)]),
        "index": collect.axis_index("i"),
    }


def test_collectives_are_those_of_jax() -> None:
    mapped = gx.pmap(lambda row: everything(gx, row), axis_name="i")
    expected = jax.vmap(lambda row: everything(jax.lax, row), axis_name="i")(X)
    for found in (mapped(X), gx.function(lambda x: mapped(x))(X)):
        for key, value in expected.items():
            parts = value.items() if isinstance(value, dict) else [("", value)]
            for part, wanted in parts:
                np.testing.assert_array_equal(found[key][part] if part else found[key], wanted)
    assert mapped(X)["index"].raw.sharding.device_set == set(jax.devices()[:4])


def test_axes_devices_and_what_all_have() -> None:
    names = ["cpu:5", "cpu:2"]
    w = gx.Variable(3.0)

    def f(x: Any, y: Any, scale: Any) -> Any:
        w.assign_add(gx.pmean(gx.sum(x), "rows"))
        return x * scale + gx.sum(y["b"]), gx.psum(x, "rows"), gx.axis_size("rows")

    mapped = gx.pmap(f, axis_name="rows", in_axes=(1, {"b": 0}, None), out_axes=(1, None, 0), devices=names)
    parts, total, size = mapped(X[:, :2], {"b": X[:2]}, 10.0)
    np.testing.assert_array_equal(parts, X[:, :2] * 10 + X[:2].sum(1))
    np.testing.assert_array_equal(total, X[:, :2].sum(1))
    assert size.tolist() == [2, 2]
    assert w.numpy() == 3.0 + X[:, :2].sum() / 2
    assert w.device == "/device:CPU:2, /device:CPU:5"


def test_gradients_and_maps_around_and_inside() -> None:
    def normalized(row: Any) -> Any:
        return gx.sum(gx.vmap(lambda v: v / gx.psum(v, "i"))(row) ** 2)

    def plain(x: Any) -> Any:
        return gx.sum((x / gx.sum(x, axis=0)) ** 2)

    mapped = gx.pmap(normalized, axis_name="i")
    x = gx.asarray(X + 1)
    gradient = gx.function(gx.grad(lambda x: gx.sum(mapped(x))))
    np.testing.assert_allclose(gradient(x), gx.grad(plain)(x), rtol=1e-5)
    several = gx.stack([x, x * x])
    found = gx.function(lambda xs: gx.vmap(lambda x: gx.sum(mapped(x)))(xs))(several)
    np.testing.assert_allclose(found, [plain(x).item(), plain(x * x).item()], rtol=1e-5)


def test_control_flow_and_random_numbers_are_each_replicas_own() -> None:
    @gx.function
    def draw(x: Any) -> Any:
        def steps(n: Any) -> Any:
            count = 0
            while n > 1:
                n = n // 2
                count += 1
            return count, gx.random.uniform(())

        return gx.pmap(steps, axis_name="i")(x)

    counts, numbers = draw(gx.asarray([1, 8, 1024]))
    assert counts.tolist() == [0, 3, 10]
    assert len({*numbers.tolist(), *draw(gx.asarray([1, 8, 1024]))[1].tolist()}) == 6


def test_variables_made_in_the_first_call() -> None:
    made: list[gx.Variable] = []

    def f(x: Any) -> Any:
        if not made:
            made.append(gx.Variable(1.0))
        return x * made[0] + gx.all_gather(x, "i")[0] + gx.ppermute(x, "i", [(1, 0)])

    assert gx.pmap(f, axis_name="i")(gx.asarray([1.0, 2.0])).tolist() == [4.0, 3.0]


def rows(*sizes: int) -> Any:
    return [np.ones(size, np.float32) for size in sizes]


w = gx.Variable(1.0, name="pmapped")


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: gx.pmap(3), TypeError, "pmap: expected a function, got 3"),
        (lambda: gx.pmap(lambda x: x)(*rows(9)), ValueError, "mapped over 9 rows, and there are 8 devices"),
        (lambda: gx.pmap(lambda x, y: x)(*rows(2, 3)), ValueError, r"args\[0\] has 2 rows .* args\[1\] has 3"),
        (lambda: gx.pmap(lambda x: x, devices=["cpu:0", "cpu:0"]), ValueError, "pmap: devices must be one or more"),
        (lambda: gx.pmap(lambda x: gx.psum(x, "j"), axis_name="i")(*rows(2)), RuntimeError,
         "there is no axis 'j', the axis here is 'i'"),
        (lambda: gx.psum(1.0, "i"), RuntimeError, "no axis 'i', no axis has a name here"),
        (lambda: gx.pmap(lambda x: x, out_axes=None)(*rows(2)), ValueError, "out_axes=None differs between replicas"),
        (lambda: gx.pmap(lambda x: w.assign(x))(*rows(2)), ValueError, "'pmapped' is assigned a value that differs"),
        (lambda: gx.pmap(lambda x: gx.pmap(lambda y: y)(gx.stack([x])))(*rows(2)), ValueError, "use gx.vmap inside"),
        (lambda: gx.pmap(lambda x: gx.ppermute(x, "i", [(0, 2)]), axis_name="i")(*rows(2)), ValueError,
         "must pair replicas from 0 to 1"),
        (lambda: gx.pmap(lambda x: gx.all_to_all(x, "i", 0, 0), axis_name="i")(X[:2]), ValueError, "all_to_all"),
    ],
)  # fmt: skip
def test_what_is_refused(call: Callable[[], Any], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message) as caught:
        call()
    assert isinstance(caught.value, gx.errors.GraphcError)


LAW = gx.asarray([[1.0, 3.0], [5.0, 7.0]])


def gradient(loss: Callable[[Any, Any], Any], reduce: Callable[[Any, str], Any]) -> Any:
    """The gradient of the mean of ``weight * x``, which is 4."""

    def replica(x: Any, weight: Any) -> Any:
        return reduce(gx.grad(lambda weight: loss(weight * x, weight))(weight), "i")

    return gx.pmap(replica, axis_name="i", in_axes=(0, None), out_axes=None)(LAW, gx.asarray(2.0))


def test_the_law_of_gradients() -> None:
    of_mean = gradient(lambda losses, _: gx.mean(losses), gx.pmean)
    of_sum = gradient(lambda losses, _: gx.sum(losses) / LAW.size, gx.psum)
    of_reduced = gradient(lambda losses, _: gx.pmean(gx.mean(losses), "i"), gx.pmean)
    assert of_mean.item() == of_sum.item() == of_reduced.item() == 4.0
    with pytest.warns(gx.errors.GraphcWarning, match="so that they count once for each replica; average them"):
        assert gradient(lambda losses, _: gx.psum(gx.sum(losses) / LAW.size, "i"), gx.psum).item() == 8.0


def test_statistics_that_are_shared_are_no_reason_to_warn() -> None:
    """As of a batch normalization over all replicas: the loss is each replica's own."""
    found = gradient(lambda losses, _: gx.sum((losses - gx.pmean(gx.mean(losses), "i")) ** 2) / 4, gx.psum)
    mean = gx.grad(lambda weight: gx.mean((LAW * weight - gx.mean(LAW * weight)) ** 2))(gx.asarray(2.0))
    assert found.item() == mean.item()


def test_gradients_of_a_gathered_variable_are_each_replicas_own() -> None:
    w, rows = gx.Variable([1.0, 2.0]), gx.asarray([[0.0, 1.0], [2.0, 3.0]])

    def gradient(x: Any) -> Any:
        with gx.GradientTape() as tape:
            loss = gx.sum(gx.all_gather(w * 1.0, "i") * rows)
        return tape.gradient(loss, w) * x

    assert gx.pmap(gradient, axis_name="i")(gx.ones(2)).tolist() == [[0.0, 2.0], [4.0, 6.0]]
    with pytest.raises(gx.errors.InvalidArgumentError, match="a result with out_axes=None differs between replicas"):
        gx.pmap(lambda x: gradient(1.0), axis_name="i", out_axes=None)(gx.ones(2))


def test_what_differs_only_after_some_turns_of_a_loop_is_not_taken_for_equal() -> None:
    def repeated(x: Any) -> Any:
        first = second = gx.asarray(0.0)
        turns = gx.asarray(0)
        while turns < 2:
            first, second, turns = x, first, turns + 1
        return second

    def scanned(x: Any) -> Any:
        first = second = gx.asarray(0.0)
        for _ in gx.arange(2):
            first, second = x, first
        return second

    for function in (repeated, scanned):
        assert gx.pmap(function)(gx.asarray([1.0, 2.0])).tolist() == [1.0, 2.0]
