"""Sharding rules: state and parameters that are split, tensor parallel layers, and the op that lays a tensor out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import jax
import numpy as np
import pytest
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

import graphc as gx
from graphc.compiler.base.errors import (
    FailedPreconditionError,
    InvalidArgumentError,
    InvalidTypeError,
    UnimplementedError,
)
from graphc.compiler.ir import parse_graph
from graphc.training.distribute import DataParallel, Sharding, shard

RNG = np.random.default_rng(0)
X = RNG.normal(size=(64, 32)).astype(np.float32)
WEIGHTS = [RNG.normal(size=(32, 32)).astype(np.float32) * 0.2 for _ in range(4)]


class Model:
    """Layers whose activations a mesh may split between every two, and one step of their training."""

    def __init__(self, *, hidden: str | None = None) -> None:
        self.hidden = hidden
        self.layers = [gx.Variable(weight, name=f"layer{place}/kernel") for place, weight in enumerate(WEIGHTS)]
        self.optimizer = gx.optim.Adam(1e-2)

    @gx.function(on_retrace="ignore")
    def step(self, x: Any) -> Any:
        with gx.GradientTape() as tape:
            y = x
            for place, kernel in enumerate(self.layers):
                y = gx.nn.relu(y @ kernel)
                if self.hidden is not None:
                    y = shard(y, ("data", self.hidden if place % 2 == 0 else None))
            loss = gx.mean((y - 1.0) ** 2)
        self.optimizer.apply_gradients(zip(tape.gradient(loss, self.layers), self.layers, strict=True))
        return loss


@pytest.fixture(scope="module")
def wanted() -> list[np.ndarray[Any, Any]]:
    model = Model()
    for _ in range(50):
        model.step(X)
    return [layer.numpy() for layer in model.layers]


ONE_AXIS = {"data": 8}
TWO_AXES = {"data": 4, "model": 2}


@pytest.mark.parametrize(
    ("mesh", "rules", "kernel", "state"),
    [
        (ONE_AXIS, {"adam": "data"}, P(), P("data", None)),
        (ONE_AXIS, {"kernel": "data"}, P("data", None), P("data", None)),
        (TWO_AXES, {"layer[02]/": (None, "model"), "layer[13]/": ("model", None)}, P(None, "model"), P(None, "model")),
        (TWO_AXES, [("kernel", ("model", "data"))], P("model", "data"), P("model", "data")),
    ],
    ids=["zero 1", "fsdp", "tensor parallel", "fsdp and tensor parallel"],
)
def test_fifty_steps_give_the_weights_of_one_device_under_any_rules(
    mesh: Mapping[str, int], rules: Any, kernel: P, state: P, wanted: list[np.ndarray[Any, Any]]
) -> None:
    parallel = DataParallel(sharding=Sharding(mesh, rules))
    with parallel.scope():
        model = Model(hidden="model" if "model" in mesh else None)
        x = parallel.shard(X)
        for _ in range(50):
            model.step(x)
    assert model.layers[0].sharding.spec == kernel
    moments = [variable for variable in model.optimizer.variables if variable.shape]
    assert moments[0].sharding.spec == state
    assert len(moments) == 8
    for found, one in zip(model.layers, wanted, strict=True):
        np.testing.assert_allclose(found.numpy(), one, rtol=1e-3, atol=1e-4)
    parts = int(np.prod([mesh[name] for name in state if name]))
    assert {shard.data.nbytes for moment in moments for shard in moment.raw.addressable_shards} == {
        32 * 32 * 4 // parts
    }


def test_split_parameters_are_gathered_layer_by_layer_and_memory_falls() -> None:
    """A step needs an eighth of the state, and one layer with its gradient, whatever the number of layers."""
    sizes: dict[str, gx.Memory | Any] = {}
    for name, rules in (("whole", ()), ("split", {"kernel": "data"})):
        sharding = Sharding(ONE_AXIS, rules)
        with sharding.scope():
            model = Model()
            model.step(sharding.shard(X))
            found = gx.explain(model.step, sharding.shard(X))
        sizes[name] = found.memory
        kinds = {each.kind: each for each in found.collectives}
    layer = 32 * 32 * 4
    assert sizes["split"].arguments - X.nbytes // 8 < (sizes["whole"].arguments - X.nbytes // 8) / 8 + 64
    assert sizes["split"].temporaries < sizes["whole"].temporaries
    assert sizes["split"].aliased >= 3 * 4 * 32 * 32 * 4 // 8  # parameters and moments are updated in place
    assert kinds["all-gather"].count == 4 + 3  # and again in the backward pass, but for the first layer
    assert kinds["all-gather"].bytes == 7 * layer
    live = sum(shard.data.nbytes for layer in model.layers for shard in layer.raw.addressable_shards)
    assert live == 4 * layer


def test_the_first_rule_counts_and_a_variable_is_a_key() -> None:
    outside = gx.Variable(np.ones((16, 4), np.float32), name="outside")
    sharding = Sharding(TWO_AXES, [(outside, ("data",)), ("bias", ()), ("", "model")], batch="data")
    sharding.place([outside])
    with sharding.scope():
        bias = gx.Variable(np.ones(4, np.float32), name="bias")
        odd = gx.Variable(np.ones((3, 5), np.float32), name="odd")
        wide = gx.Variable(gx.ones((2, 6)), name="wide")
    assert [variable.sharding.spec for variable in (outside, bias, odd, wide)] == [
        P("data"),
        P(),
        P(),
        P(None, "model"),
    ]
    assert repr(sharding).startswith("Sharding({'data': 4, 'model': 2}, [('outside")
    np.testing.assert_array_equal(outside.numpy(), np.ones((16, 4)))


def test_graph_text_shows_the_layout_and_parses_back() -> None:
    mesh = Sharding(TWO_AXES).mesh

    @gx.function
    def laid_out(x: Any) -> Any:
        return shard(x * 2, (None, "model"), mesh=mesh)

    graph = laid_out.graph(X)
    assert "distribute.shard" in str(graph)
    assert "data=4, model=2" in str(graph)
    assert parse_graph(str(graph)) == graph
    assert laid_out(X).sharding.spec == P(None, "model")
    others = Mesh(np.array(jax.devices()[4:6]), ("half",))
    away = gx.function(lambda x: shard(x, ("half",), mesh=others))
    assert "half=2 on cpu:4, cpu:5" in str(away.graph(X))
    assert {device.id for device in away(X).sharding.device_set} == {4, 5}


def test_shard_has_a_gradient_in_both_modes() -> None:
    with Sharding(ONE_AXIS).scope():

        def squared(x: Any) -> Any:
            return gx.sum(shard(x * x, ("data",)))

        eager = gx.grad(squared)(gx.asarray(X))
        compiled = gx.function(gx.grad(squared))(X)
    np.testing.assert_allclose(eager.numpy(), 2 * X)
    np.testing.assert_allclose(compiled.numpy(), 2 * X)


def test_another_scope_means_another_trace() -> None:
    @gx.function
    def laid_out(x: Any) -> Any:
        return shard(x, ("data",))

    with Sharding({"data": 4}).scope():
        assert laid_out(X).sharding.num_devices == 4
    with Sharding({"data": 8}).scope():
        assert laid_out(X).sharding.num_devices == 8
    assert laid_out(X).sharding.num_devices == 8  # where there is none, that of the trace
    assert laid_out.num_traces == 2
    assert "data=4" in laid_out.trace_report()[1].reason
    with pytest.raises(FailedPreconditionError, match="Call it inside `with sharding"):
        shard(X, ("data",))


def test_what_cannot_be_laid_out_is_refused() -> None:
    sharding = Sharding(TWO_AXES)
    for axes, error, text in (
        (("rows",), InvalidArgumentError, "the mesh has no axis 'rows'; it has 'data', 'model'"),
        (("data", "data"), InvalidArgumentError, "('data', 'data') names an axis of the mesh twice"),
        ((None, None, "data"), InvalidArgumentError, "(None, None, 'data') has more axes than the shape (64, 32)"),
        ("data", InvalidTypeError, "expected a tuple with the name of a mesh axis or None for each axis, got 'data'"),
    ):
        with sharding.scope(), pytest.raises(error, match=re.escape(text)):
            shard(X, axes)  # pyright: ignore[reportArgumentType]
    with pytest.raises(
        InvalidArgumentError, match=re.escape("axis 0 of shape (6, 2) does not divide by the 4 devices")
    ):
        shard(np.ones((6, 2)), ("data",), mesh=sharding.mesh)
    with pytest.raises(InvalidArgumentError, match="Sharding: 'kernel': the mesh has no axis 'rows'"):
        Sharding(TWO_AXES, {"kernel": "rows"})
    with pytest.raises(InvalidArgumentError, match="Sharding: a rule is for a Variable, or for names that fit"):
        Sharding(TWO_AXES, {"(": "data"})
    with pytest.raises(InvalidTypeError, match="Sharding: a rule is for a Variable"):
        Sharding(TWO_AXES, {3: "data"})
    with pytest.raises(InvalidArgumentError, match="a size for each axis that 8 devices suffice for"):
        Sharding({"data": 16})
    with Sharding(TWO_AXES, {"odd": ("data",)}).scope(), pytest.raises(InvalidArgumentError, match="Variable 'odd"):
        gx.Variable(np.ones(3, np.float32), name="odd")
    with pytest.raises(InvalidArgumentError, match="the devices are not those of the mesh of Sharding"):
        DataParallel(["cpu:0"], sharding=sharding)
    with pytest.raises(UnimplementedError, match="which sees its part alone"):
        DataParallel().run(lambda x: shard(x, ("replica",)), gx.ones(8))


def test_a_split_variable_takes_no_ops_on_single_devices_beside_it() -> None:
    with Sharding(ONE_AXIS, {"rows": "data"}).scope():
        rows = gx.Variable(np.ones((16, 4), np.float32), name="rows")
    with gx.device("cpu:3"):
        offset = gx.Variable(1.0)

    @gx.function
    def pinned() -> Any:
        with gx.device("cpu:1"):
            return gx.sum(rows)

    @gx.function
    def moved() -> Any:
        return gx.sum(rows + offset)

    with pytest.raises(
        UnimplementedError, match=r"pins ops to /device:CPU:1, but no device has the whole of Variable 'rows"
    ):
        pinned()
    assert moved().item() == 128.0
