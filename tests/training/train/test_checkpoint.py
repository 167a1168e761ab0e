"""Checkpoints: what is saved is restored, exactly, or an error says what does not fit or is damaged."""

from __future__ import annotations

import json
import random
import threading
import zlib
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import jax
import ml_dtypes
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P
from safetensors.numpy import load_file

import graphc as gx
from graphc.training.train import storage
from graphc.training.train.restoring import RestoredVariable

Checkpoint = gx.train.Checkpoint


class Data:
    """Shuffled batches that know where they are."""

    def __init__(self) -> None:
        self.rng, self.order, self.position = np.random.default_rng(7), np.arange(0), 0

    def __next__(self) -> np.ndarray[Any, Any]:
        if self.position == len(self.order):
            self.order, self.position = self.rng.permutation(16), 0
        self.position += 4
        return self.order[self.position - 4 : self.position].astype("float32")

    def state(self) -> dict[str, Any]:
        return {"rng": self.rng.bit_generator.state, "order": self.order, "position": self.position}

    def restore(self, state: dict[str, Any]) -> None:
        self.rng.bit_generator.state = state["rng"]
        self.order, self.position = state["order"], state["position"]


def values(*variables: gx.Variable) -> list[Any]:
    return [variable.numpy().tolist() for variable in variables]


def flipped(path: Path, position: int = -1) -> None:
    content = bytearray(path.read_bytes())
    content[position] ^= 1
    path.write_bytes(content)


def test_what_is_saved_is_restored(tmp_path: Path) -> None:
    model, data, generator = gx.layers.Dense(2, in_features=3), Data(), gx.random.Generator(3)
    optimizer, step = gx.optim.Adam(1e-2), gx.Variable(0, trainable=False)
    checkpoint = Checkpoint(tmp_path, model=model, optimizer=optimizer, step=step, generator=generator, iterator=data)
    assert checkpoint.latest is None

    def train() -> list[Any]:
        x = gx.reshape(gx.asarray(next(data)), (1, 4))[:, :3] + generator.normal((1, 3)) + gx.random.normal((1, 3))
        loss = optimizer.minimize(lambda: gx.sum(model(x) ** 2), model.trainable_variables)
        step.assign_add(1)
        return [loss.item(), *values(*model.variables, *optimizer.variables, step)]

    train()
    checkpoint.save()
    expected = [train(), train()]
    checkpoint.wait()
    assert checkpoint.latest == 1
    assert checkpoint.restore() == 1
    assert [train(), train()] == expected
    (arrays,) = tmp_path.glob("step-1/*.safetensors")
    shapes = {name: array.shape for name, array in load_file(arrays).items() if not name.startswith("state:")}
    assert {name: shape for name, shape in shapes.items() if not name.startswith("optimizer/2")} == {
        "model/kernel": (3, 2), "model/bias": (2,), "optimizer/0/count": (), "optimizer/0/mu/0": (3, 2),
        "optimizer/0/mu/1": (2,), "optimizer/0/nu/0": (3, 2), "optimizer/0/nu/1": (2,), "step": (), "generator": (2,),
        "global_generator": (2,),
    }  # fmt: skip
    assert repr(checkpoint) == (
        f"<Checkpoint {str(tmp_path)!r} of model, optimizer, step, generator, iterator, steps [1]>"
    )


def test_training_goes_on_while_a_thread_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    may_write, write = threading.Event(), storage.CheckpointWriter.write
    v = gx.Variable([1.0, 2.0])
    checkpoint = Checkpoint(tmp_path, v=v)
    monkeypatch.setattr(
        storage.CheckpointWriter, "write", lambda self, part: (may_write.wait(60), write(self, part))[1]
    )
    checkpoint.save(1)
    v.assign([3.0, 4.0])  # the snapshot is another array
    assert checkpoint.latest is None
    with pytest.raises(gx.errors.DeadlineExceededError, match="the checkpoint of step 1 in "), gx.deadline(0.01):
        checkpoint.wait()
    may_write.set()
    checkpoint.wait()
    checkpoint.restore(1)
    assert values(v) == [[1.0, 2.0]]


def test_what_goes_wrong_in_the_thread_is_raised_at_the_next_call(tmp_path: Path) -> None:
    (tmp_path / "folder").write_text("a file")
    checkpoint = Checkpoint(tmp_path / "folder", v=gx.Variable(1.0))
    checkpoint.save(1)
    with pytest.raises(gx.errors.FileStateError, match=r"(?s)step-1: Not a dir.*checkpoint\.save\(1\)"):
        checkpoint.save(2)
    checkpoint.wait()  # it is raised once


def test_the_latest_stay_and_a_step_may_be_saved_again(tmp_path: Path) -> None:
    v = gx.Variable(0.0)
    (tmp_path / "notes.txt").write_text("mine")
    with Checkpoint(tmp_path, keep=2, v=v) as checkpoint:
        for step in (10, 20, 30):
            v.assign(float(step))
            checkpoint.save(step)
        checkpoint.wait()
        assert checkpoint.steps == [20, 30]
        checkpoint.restore(20)
        v.assign(21.0)
        checkpoint.save(20)  # the latest now, though another has a higher step
    assert checkpoint.steps == [30, 20]
    assert checkpoint.latest == 20
    assert sorted(path.name for path in tmp_path.iterdir()) == ["notes.txt", "step-20", "step-30"]
    assert [len(list(path.iterdir())) for path in sorted(tmp_path.glob("step-*"))] == [2, 2]
    v.assign(0.0)
    assert Checkpoint(tmp_path / "elsewhere", v=v).restore(tmp_path) == 20
    assert values(v) == [21.0]
    assert checkpoint.restore(tmp_path / "step-30") == 30
    checkpoint.save()  # no step was given, nor a part of that name
    checkpoint.wait()
    assert checkpoint.latest == 21


def test_what_does_not_fit_is_listed_and_nothing_changes(tmp_path: Path) -> None:
    a, b, c = gx.Variable([1.0, 2.0]), gx.Variable(1), gx.Variable(3.0)
    Checkpoint(tmp_path, model={"a": a, "b": b, "c": c}, data=Data()).save(1, wait=True)
    a.assign([0.0, 0.0])
    other = Checkpoint(tmp_path, model={"a": a, "b": gx.Variable(1.0), "d": c, "c": Data()}, data=gx.Variable([1.0]))
    with pytest.raises(gx.errors.InvalidArgumentError) as caught:
        other.restore()
    assert (
        "Checkpoint.restore: the checkpoint of step 1 does not fit: missing in the checkpoint: model/d; different: "
        "model/b (int32[] in the checkpoint, float32[] here), data (no Variable in the checkpoint, float32[1] here), "
        "model/c (float32[] in the checkpoint, no Variable here)"
    ) in str(caught.value)
    with pytest.raises(gx.errors.InvalidArgumentError, match="additional in the checkpoint: model/b, model/c; only="):
        Checkpoint(tmp_path, model={"a": a}, data=Data()).restore()
    assert values(a) == [[0.0, 0.0]]
    unbuilt = Checkpoint(tmp_path, model={"a": a, "b": b, "c": c}, data=Data(), optimizer=gx.optim.Adam())
    with pytest.raises(gx.errors.InvalidArgumentError) as caught:
        Checkpoint(tmp_path, model=gx.layers.Dense(3), data=Data()).restore()
    assert "additional in the checkpoint: model/a, model/b, model/c; model has no Variables yet: build it" in str(
        caught.value
    )
    assert unbuilt.restore(only="model") == 1
    assert values(a) == [[1.0, 2.0]]
    with pytest.raises(gx.errors.InvalidArgumentError, match="there is no part 'modle'; the parts are data, "):
        unbuilt.restore(only=["modle"])


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (flipped, r"the checksum of \w+ is wrong"),
        (lambda path: path.write_bytes(path.read_bytes()[:-1]), "it has [0-9,]+ bytes, but was written with"),
        (lambda path: flipped(path, 5), "its header cannot be read|it has no v of"),
        (Path.unlink, "it is missing"),
    ],
)
def test_a_damaged_file_is_named_and_nothing_changes(tmp_path: Path, damage: Any, message: str) -> None:
    first, v = gx.Variable(1.0), gx.Variable([1.0, 2.0])
    checkpoint = Checkpoint(tmp_path, first=first, v=v)
    checkpoint.save(1, wait=True)
    (arrays,) = tmp_path.glob("step-1/*.safetensors")
    damage(arrays)
    first.assign(5.0)
    with pytest.raises(gx.errors.DataLossError, match=f"{arrays} is damaged: ({message})"):
        checkpoint.restore()
    assert values(first) == [5.0]


def test_a_damaged_manifest_is_named(tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path, v=gx.Variable(1.0))
    checkpoint.save(1, wait=True)
    (manifest,) = tmp_path.glob("step-1/*.json")
    text = manifest.read_text()
    for damaged in (text.replace('"step": 1', '"step": 2'), text[:-9], "[]"):
        manifest.write_text(damaged)
        with pytest.raises(gx.errors.DataLossError, match=f"{manifest} is damaged: the manifest cannot be read"):
            checkpoint.restore()
    content = json.loads(text)["manifest"] | {"format": "of next year"}
    crc = storage.checksum(np.frombuffer(json.dumps(content).encode(), np.uint8))
    manifest.write_text(json.dumps({"crc32": crc, "manifest": content}))
    with pytest.raises(gx.errors.DataLossError, match="it is of the format 'of next year'"):
        checkpoint.restore()


class Position:
    """An object that takes any state."""

    def __init__(self, position: Any) -> None:
        self.position = position

    def state(self) -> Any:
        return self.position

    def restore(self, state: Any) -> None:
        self.position = state


_EDITS: Any = [None, -1, 10**30, 1.5, "x", "../../x.safetensors", [], {}, [0], {"dict": 1}, {"array": "x"}, True]


def edited(value: Any, draw: random.Random) -> Any:
    """Returns JSON with a change in one place."""
    if not isinstance(value, list | dict) or not value or draw.random() < 0.1:
        return draw.choice(_EDITS)
    copy: Any = value.copy()
    key = draw.choice([*(value if isinstance(value, dict) else range(len(value)))])
    if draw.random() < 0.15:
        del copy[key]
    else:
        copy[key] = edited(value[key], draw)
    return copy


def test_a_manifest_that_is_edited_restores_what_was_saved_or_is_refused(tmp_path: Path) -> None:
    state, v = Position({"at": (1, b"x"), "seen": np.arange(3)}), gx.Variable([1.0, 2.0])
    checkpoint, draw = Checkpoint(tmp_path, data=state, v=v), random.Random(7)
    checkpoint.save(1, wait=True)
    (manifest,) = tmp_path.glob("step-1/*.json")
    content = json.loads(manifest.read_text())["manifest"]
    refused = 0
    for _ in range(300):
        text = json.dumps(edited(content, draw))
        manifest.write_text(f'{{"crc32": {zlib.crc32(text.encode())}, "manifest": {text}}}')
        v.assign([5.0, 5.0])
        try:
            step = checkpoint.restore()
        except (gx.errors.DataLossError, gx.errors.InvalidArgumentError):
            refused += 1
            assert values(v) == [[5.0, 5.0]]
        else:
            assert type(step) is int
            assert values(v) == [[1.0, 2.0]]
    assert 200 < refused < 300


def test_a_checkpoint_that_another_program_replaces_while_it_is_read_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    v, verify = gx.Variable([1.0]), RestoredVariable.verify
    writer, reader = Checkpoint(tmp_path, keep=1, v=v), Checkpoint(tmp_path, v=v)
    writer.save(1, wait=True)

    def after_a_save(target: RestoredVariable) -> None:
        monkeypatch.setattr(RestoredVariable, "verify", verify)
        writer.save(2, wait=True)
        verify(target)

    monkeypatch.setattr(RestoredVariable, "verify", after_a_save)
    assert reader.restore() == 2


def test_every_dtype_and_shape_comes_back(tmp_path: Path) -> None:
    kinds = ["bool", "int8", "uint32", "float16", "bfloat16", "complex64", "float8_e5m2", "int4"]
    variables = {kind: gx.Variable(np.array([[0, 1, 1]]).astype(np.dtype(kind))) for kind in kinds}
    variables |= {"scalar": gx.Variable(2.5), "empty": gx.Variable(np.zeros((0, 3), ml_dtypes.bfloat16))}
    with Checkpoint(tmp_path, v=variables) as checkpoint:
        checkpoint.save(1)
    before = {name: variable.numpy() for name, variable in variables.items()}
    for variable in variables.values():
        variable.assign(np.zeros(variable.shape, variable.dtype))
    checkpoint.restore()
    for name, variable in variables.items():
        assert variable.numpy().dtype == before[name].dtype
        assert variable.numpy().tobytes() == before[name].tobytes()


def sharded(array: np.ndarray[Any, Any], devices: int, *axes: str | None) -> jax.Array:
    shape = (devices // 2, 2) if devices % 2 == 0 else (devices, 1)
    mesh = Mesh(np.array(jax.devices()[:devices]).reshape(shape), ("rows", "columns"))
    return jax.device_put(array, NamedSharding(mesh, P(*axes)))


def test_what_was_saved_on_eight_devices_is_restored_on_one_two_or_three(tmp_path: Path) -> None:
    numbers = np.arange(12 * 6, dtype=np.float32).reshape(12, 6)
    v, w = gx.Variable(0.0), gx.Variable(0.0)
    v = gx.Variable(numbers)
    w = gx.Variable(numbers)
    v._array, w._array = sharded(numbers, 8, "rows", "columns"), sharded(numbers, 8, None, "columns")
    Checkpoint(tmp_path, v=v, w=w).save(1, wait=True)
    (arrays,) = tmp_path.glob("step-1/*.safetensors")
    names = sorted(name for name in load_file(arrays) if name.startswith(("v", "w")))
    assert len(names) == 8 + 2
    assert names[:2] == ["v[0:3, 0:3]", "v[0:3, 3:6]"]
    for devices, axes in ((1, ("rows",)), (2, ("columns",)), (3, ("rows",)), (4, ("columns", "rows")), (8, ())):
        some, other = gx.Variable(np.zeros((12, 6), "float32")), gx.Variable(np.zeros((12, 6), "float32"))
        if axes != ("columns", "rows"):
            some._array = sharded(np.zeros((12, 6), "float32"), devices, *axes)
        else:
            some._array = sharded(np.zeros((12, 6), "float32"), devices, "rows", "columns")
        place = some._array.sharding
        assert Checkpoint(tmp_path, v=some, w=other).restore() == 1
        assert some._array.sharding == place
        np.testing.assert_array_equal(some.numpy(), numbers)
        np.testing.assert_array_equal(other.numpy(), numbers)
        assert not other._array.committed


def test_a_training_on_eight_devices_goes_on_on_three_two_or_one(tmp_path: Path) -> None:
    x = np.random.default_rng(0).random((24, 24), dtype=np.float32)

    def train(devices: int, steps: int) -> list[float]:
        sharding = gx.distribute.Sharding({"data": devices}, {"kernel|adam": "data"})
        with sharding.scope() if devices > 1 else nullcontext():
            model, optimizer = gx.layers.Dense(2, in_features=24), gx.optim.Adam(1e-2)
            optimizer.build(model.trainable_variables)
            assert devices == 1 or not model.kernel.sharding.is_fully_replicated
        checkpoint = Checkpoint(tmp_path, keep=None, model=model, optimizer=optimizer)
        if steps < 5:
            checkpoint.restore(2)

        @gx.function
        def step(x: Any) -> Any:
            return optimizer.minimize(lambda: gx.mean((model(x) - 1.0) ** 2), model.trainable_variables)

        losses = []
        for number in range(1, steps + 1):
            losses.append(step(sharding.shard(x) if devices > 1 else gx.asarray(x)).item())
            if steps == 5:
                checkpoint.save(number, wait=True)
        return losses

    gx.random.seed(0)
    expected = train(8, 5)
    for devices in (3, 2, 1):
        np.testing.assert_allclose(train(devices, 3), expected[2:], rtol=1e-5)


@pytest.mark.gpu
def test_what_is_on_a_gpu_is_copied_at_once_and_goes_back_there(tmp_path: Path) -> None:
    with gx.device("gpu:0"):
        v = gx.Variable(np.arange(6, dtype=np.float32).reshape(2, 3))
    home = v.device
    with Checkpoint(tmp_path, v=v) as checkpoint:
        checkpoint.save(1)
        gx.function(lambda: v.assign(v * 0.0))()  # in place: the memory is that of the old value
    checkpoint.restore()
    assert values(v) == [[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]]
    assert v.device == home
    w = gx.Variable(np.zeros((2, 3), np.float32))  # on the default device
    Checkpoint(tmp_path, v=w).restore()
    assert values(w) == values(v)


def test_states_come_back_as_they_were(tmp_path: Path) -> None:
    state = {
        "none": None, "big": 2**100, "list": [1, 2.5, True], "tuple": (1, (2, [3])), "bytes": b"\xff\0",
        "array": np.arange(3, dtype=np.uint8), "number": np.float32(2), "strings": np.array([["a", b"b"]], object),
        "z": {"array": "x"}, "a": {},
    }  # fmt: skip

    class Kept:
        def state(self) -> Any:
            return state

        def restore(self, given: Any) -> None:
            self.given = given

    kept = Kept()
    with Checkpoint(tmp_path, kept=[kept]) as checkpoint:
        checkpoint.save(1)
    checkpoint.restore()
    found = kept.given
    assert list(found) == list(state)
    for name in ("none", "big", "list", "tuple", "bytes", "z", "a"):
        assert found[name] == state[name]
        assert type(found[name]) is type(state[name])
    assert found["array"].dtype == np.uint8
    assert found["array"].tolist() == [0, 1, 2]
    assert found["number"] == np.float32(2)
    assert found["strings"].tolist() == [["a", b"b"]]
    state["list"] = [object()]
    with pytest.raises(gx.errors.InvalidTypeError, match=r"kept/0/list/0 is <object object .*; the state of"):
        checkpoint.save(2)


def test_bad_arguments_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    v = gx.Variable(1.0)
    with pytest.raises(gx.errors.InvalidTypeError, match=r"step has neither .* got int 3; gx\.Variable\(3, trainable"):
        Checkpoint(tmp_path, step=3)
    with pytest.raises(gx.errors.InvalidTypeError, match="model has neither Variables nor state"):
        Checkpoint(tmp_path, model="network")
    with pytest.raises(gx.errors.InvalidArgumentError, match="there is nothing to save"):
        Checkpoint(tmp_path)
    with pytest.raises(gx.errors.InvalidArgumentError, match="global_generator is a part of every checkpoint"):
        Checkpoint(tmp_path, global_generator=v)
    with pytest.raises(gx.errors.InvalidArgumentError, match="keep must be an int from 1, or None for all, got 0"):
        Checkpoint(tmp_path, keep=0, v=v)
    checkpoint = Checkpoint(tmp_path, v=v)
    with pytest.raises(gx.errors.InvalidArgumentError, match=r"save: step must be an int from 0, got -1"):
        checkpoint.save(-1)
    with pytest.raises(gx.errors.FileMissingError, match="has no checkpoint; it has none"):
        checkpoint.restore()
    checkpoint.save(4, wait=True)
    with pytest.raises(gx.errors.FileMissingError, match="has no checkpoint of step 3; it has those of the steps 4"):
        checkpoint.restore(3)
    for name in ("save", "restore"):
        compiled = gx.function(lambda name=name: getattr(checkpoint, name)(1))
        with pytest.raises(gx.errors.UnimplementedError, match=f"Checkpoint.{name} is called in a compiled function"):
            compiled()
    monkeypatch.setattr(jax, "process_count", lambda: 2)
    with pytest.raises(gx.errors.FailedPreconditionError, match=r"one of 2 of jax\.distributed, .* call gx\.dis"):
        Checkpoint(tmp_path, v=v)
