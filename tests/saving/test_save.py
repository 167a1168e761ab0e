"""Functions that are saved and loaded: results, structures, Variables, gradients, refusals."""

from __future__ import annotations

import collections
import dataclasses
import gc
import json
import weakref
from pathlib import Path
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
import pytest

import graphc as gx
from graphc import saving
from graphc.compiler.base.errors import FailedPreconditionError, InvalidArgumentError, NotFoundError, UnimplementedError
from graphc.saving import programs
from graphc.saving.programs import program_of


def files(folder: Path) -> list[str]:
    return sorted(path.name.partition("-")[2] or path.name for path in folder.iterdir())


class Model:
    """An object with several compiled methods."""

    def __init__(self) -> None:
        self.w = gx.Variable([1.0, 2.0, 3.0], name="w")
        self.seen = gx.Variable(0, trainable=False, name="seen")

    @gx.function
    def score(self, x: Any, scale: float = 1.0) -> Any:
        return gx.sum(x * self.w, axis=-1) * scale

    @gx.function(input_signature=[gx.TensorSpec((3,)), gx.TensorSpec(())])
    def fit(self, x: Any, y: Any) -> Any:
        with gx.GradientTape() as tape:
            loss = (gx.sum(x * self.w) - y) ** 2
        self.w.assign_sub(0.01 * tape.gradient(loss, self.w))
        self.seen.assign_add(1)
        return loss


def test_an_object_with_methods_is_loaded_and_trains_on(tmp_path: Path) -> None:
    model, x, y = Model(), gx.asarray([1.0, 0.0, -1.0]), gx.asarray(0.5)
    spec = gx.TensorSpec((None, 3))
    gx.save(model, tmp_path, {"score": [spec, (spec, 2.0)], "fit": (x, y)})
    loaded = gx.load(tmp_path)
    assert sorted(loaded.functions) == ["fit", "score"]
    assert loaded.signatures["score"] == ["x: float32[?,3], scale: 1.0", "x: float32[?,3], scale: 2.0"]
    rows = gx.ones((4, 3))
    assert loaded.score(rows).tolist() == model.score(rows).tolist()
    assert loaded.score(rows, scale=2.0).tolist() == model.score(rows, 2.0).tolist()
    with pytest.raises(InvalidArgumentError, match=r"scale=3\.0 where it was saved for 2\.0"):
        loaded.score(rows, 3.0)
    for _ in range(3):
        assert loaded.fit(x, y).item() == model.fit(x, y).item()
    names = {name: variable.numpy().tolist() for name, variable in loaded.named_variables().items()}
    assert names == {"w": model.w.numpy().tolist(), "seen": 3}
    assert [variable.trainable for variable in loaded.variables] == [True, False] or len(loaded.variables) == 2
    assert len(loaded.trainable_variables) == 1


def test_a_model_keeps_dropout_optimizer_and_gradients(tmp_path: Path) -> None:
    model = gx.layers.Sequential([gx.layers.Dense(4, "relu"), gx.layers.Dropout(0.5), gx.layers.Dense(1)])
    x, y = gx.ones((3, 5)), gx.zeros((3, 1))
    model(x)
    optimizer = gx.optim.Adam(0.01)

    @gx.function
    def step(x: Any, y: Any) -> Any:
        def loss() -> Any:
            return gx.mean((model(x, training=True) - y) ** 2)

        return optimizer.minimize(loss, model.trainable_variables)

    step(x, y)
    specs = gx.TensorSpec((None, 5)), gx.TensorSpec((None, 1))
    gx.save({"step": step, "predict": model}, tmp_path, {"step": specs, "predict": specs[0]})
    loaded = gx.load(tmp_path)
    losses = [(loaded.step(x, y).item(), step(x, y).item()) for _ in range(3)]
    assert [one for one, _ in losses] == pytest.approx([other for _, other in losses], rel=1e-6)
    np.testing.assert_allclose(loaded.predict(x[:1]), model(x[:1]), rtol=1e-6)

    with gx.GradientTape() as tape:
        total = gx.sum(loaded.predict(x))
    shapes = [gradient.shape for gradient in tape.gradient(total, loaded.trainable_variables)]
    assert sorted(shapes) == sorted(variable.shape for variable in model.trainable_variables)

    @gx.function
    def around(x: Any) -> Any:
        return gx.grad(lambda x: gx.sum(loaded.predict(x)))(x)

    np.testing.assert_allclose(around(x), gx.grad(lambda x: gx.sum(model(x)))(x), rtol=1e-6)
    again = gx.optim.SGD(0.1)
    before = [variable.numpy() for variable in loaded.trainable_variables]
    again.minimize(lambda: gx.mean((loaded.predict(x) - y) ** 2), loaded.trainable_variables)
    assert any((old != new.numpy()).any() for old, new in zip(before, loaded.trainable_variables, strict=True))


class Pair(NamedTuple):
    first: Any
    second: Any


@dataclasses.dataclass
class Batch:
    x: Any
    rows: Any


def test_structures_of_arguments_and_results(tmp_path: Path) -> None:
    @gx.function
    def f(batch: Any, pair: Any, *rest: Any, mode: str = "a", **options: Any) -> Any:
        made = Pair(batch.x + pair[0], [rest[0] * 2, mode, None, 1.5, (True, b"b")])
        return {"made": made, 3: Batch(options["more"], pair.second)}

    x = gx.asarray([1.0, 2.0])
    given = (Batch(x, x * 2), Pair(x, x * 3), x * 4)
    gx.save(f, tmp_path, gx.saving.Signature(*given, mode="b", more=x * 5))
    loaded, expected = gx.load(tmp_path), f(*given, mode="b", more=x * 5)
    for one in (given, (Batch(x, x * 2), Pair(x, x * 3), [4.0, 8.0])):
        found = loaded(*one, mode="b", more=x * 5)
        assert type(found["made"]).__name__ == "Pair"
        assert found["made"].first.tolist() == expected["made"].first.tolist()
        assert found["made"].second[1:] == ["b", None, 1.5, (True, b"b")]
        assert found["made"].second[0].tolist() == [8.0, 16.0]
        assert dataclasses.is_dataclass(found[3])
        assert (found[3].x.tolist(), found[3].rows.tolist()) == ([5.0, 10.0], [3.0, 6.0])
    with pytest.raises(InvalidArgumentError, match=r"mode='a' where it was saved for 'b'"):
        loaded(*given, mode="a", more=x)


def test_dtypes_large_constants_and_tensors_from_outside(tmp_path: Path) -> None:
    table = np.arange(1000, dtype=np.float32).reshape(10, 100)
    outer = gx.asarray(np.arange(3), "bfloat16")
    scale = gx.Variable(np.asarray([1 + 2j], np.complex64), name="scale")

    @gx.function
    def f(i: Any) -> Any:
        return gx.asarray(table)[i], outer * 2, scale * 2, i > 1

    gx.save(f, tmp_path, gx.TensorSpec((), "int32"))
    (text,) = [path.read_text() for path in tmp_path.glob("*.graph")]
    assert 'f32[10,100](stored "' in text
    loaded = gx.load(tmp_path)
    row, doubled, scaled, large = loaded(gx.asarray(2))
    assert row.tolist() == table[2].tolist()
    assert (doubled.dtype.name, doubled.tolist()) == ("bfloat16", [0.0, 2.0, 4.0])
    assert (scaled.tolist(), large.item()) == ([2 + 4j], True)
    assert loaded(1)[3].item() is False  # a number for a tensor


def test_what_was_raised_is_raised(tmp_path: Path) -> None:
    class OwnError(ValueError):
        pass

    @gx.function
    def f(x: Any) -> Any:
        assert gx.all(x > 0), "must be positive"
        if gx.sum(x) > 10:
            raise OwnError("too large")
        return x

    gx.save(f, tmp_path, gx.TensorSpec((2,)))
    loaded = gx.load(tmp_path)
    assert loaded([1.0, 2.0]).tolist() == [1.0, 2.0]
    with pytest.raises(AssertionError, match=r"^must be positive\n") as caught:
        loaded([-1.0, 2.0])
    assert any("test_save.py" in note for note in caught.value.__notes__)
    with pytest.raises(ValueError, match=r"^OwnError: too large\n"):
        gx.function(lambda x: loaded(x) + 1)(gx.asarray([9.0, 2.0]))


def test_functions_of_jax_are_exported(tmp_path: Path) -> None:
    def outside(params: Any, x: Any) -> Any:
        return {"y": jnp.tanh(x @ params["w"]), "rows": x.sum(0)}

    params = {"w": gx.Variable(gx.ones((3, 2)), name="w")}

    @gx.function
    def f(x: Any) -> Any:
        return gx.call_jax(outside, params, x)["y"]

    gx.save(f, tmp_path, gx.TensorSpec((None, 3)))
    content = json.loads((tmp_path / "manifest.json").read_text())["manifest"]
    (about,) = content["programs"].values()
    assert about["readable_until"] > content["saved"][:10]
    loaded, x = gx.load(tmp_path), gx.ones((4, 3)) * 0.1
    np.testing.assert_allclose(loaded(x), f(x), rtol=1e-6)
    with gx.GradientTape() as tape, gx.GradientTape() as other:
        mine, theirs = gx.sum(loaded(x)), gx.sum(f(x))
    found = tape.gradient(mine, loaded.trainable_variables)[0]
    np.testing.assert_allclose(found, other.gradient(theirs, params["w"]), rtol=1e-6)


def test_a_program_of_jax_lives_as_long_as_what_calls_it(tmp_path: Path) -> None:
    gx.save(lambda x: gx.call_jax(jnp.sin, x) * 2, tmp_path / "first", gx.TensorSpec((None, 3)))
    loaded, x = gx.load(tmp_path / "first"), gx.ones((2, 3))
    held = weakref.ref(program_of(next(iter(json.loads(manifest_of(tmp_path / "first"))["manifest"]["programs"]))))
    outer = gx.function(lambda x: gx.load(tmp_path / "first")(x) + 1)
    np.testing.assert_allclose(outer(x), np.sin(np.ones((2, 3))) * 2 + 1, rtol=1e-6)
    gx.save({"again": loaded["__call__"]}, tmp_path / "second", {"again": gx.TensorSpec((None, 3))})
    np.testing.assert_allclose(gx.load(tmp_path / "second").again(x), loaded(x), rtol=1e-6)
    del loaded, outer
    gc.collect()
    assert held() is None


def test_a_program_that_jax_no_longer_reads_is_told_of_by_its_calls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_longer(_: Any) -> Any:
        raise ValueError("the serialization version is too old")

    outside = {"jax": lambda x: gx.call_jax(jnp.cos, x), "own": lambda x: x * 2}
    gx.save(outside, tmp_path, dict.fromkeys(outside, gx.TensorSpec((2,))))
    monkeypatch.setattr(programs.export, "deserialize", no_longer)
    loaded = gx.load(tmp_path)
    assert loaded.own(gx.ones(2)).tolist() == [2, 2]
    with pytest.raises(FailedPreconditionError, match=r"(?s)\.jax: JAX .* does not read this function.* too old"):
        loaded.jax(gx.ones(2))


def manifest_of(folder: Path) -> str:
    return (folder / "manifest.json").read_text()


def test_an_argument_that_is_left_out_has_its_default(tmp_path: Path) -> None:
    @gx.function
    def scaled(x: Any, mode: str, factor: float = 2.0, *more: Any) -> Any:
        return x * factor if mode == "times" else x

    spec = gx.TensorSpec((3,))
    gx.save(scaled, tmp_path, gx.saving.Signature(spec, "times", 3.0))
    loaded = gx.load(tmp_path)
    assert loaded(gx.ones(3), "times", 3.0).tolist() == [3, 3, 3]
    with pytest.raises(InvalidArgumentError, match=r"factor is left out, which means 2\.0; it was saved for 3\.0"):
        loaded(gx.ones(3), "times")
    with pytest.raises(InvalidArgumentError, match="missing a required argument: 'mode'"):
        loaded(gx.ones(3), factor=3.0)


def test_functions_named_as_attributes_of_what_is_loaded_are_items(tmp_path: Path) -> None:
    gx.save(
        {"variables": lambda x: x * 2, "f": lambda x: x * 3},
        tmp_path,
        dict.fromkeys(("variables", "f"), gx.TensorSpec((2,))),
    )
    loaded = gx.load(tmp_path)
    assert loaded.variables == ()
    assert loaded["variables"](gx.ones(2)).tolist() == [2, 2]
    with pytest.raises(NotFoundError, match=r"there is no saved function 'g'; there are variables, f"):
        loaded["g"]


def test_a_rule_of_optax_is_exported(tmp_path: Path) -> None:
    import optax

    w = gx.Variable([1.0, 2.0], name="w")
    optimizer = gx.optim.Optimizer(optax.chain(optax.clip(0.5), optax.sgd(0.1, momentum=0.9)))

    @gx.function
    def step(x: Any) -> Any:
        return optimizer.minimize(lambda: gx.sum((w - x) ** 2), [w])

    step(gx.zeros(2))
    gx.save(step, tmp_path, gx.TensorSpec((2,)))
    loaded = gx.load(tmp_path)
    for _ in range(2):
        assert loaded(gx.zeros(2)).item() == pytest.approx(step(gx.zeros(2)).item())


def test_controls_devices_and_loading_elsewhere(tmp_path: Path) -> None:
    @gx.function
    def f(x: Any) -> Any:
        first = gx.sin(x)
        with gx.control_dependencies([first]), gx.device("cpu:1"):
            second = gx.cos(x)
        return first, second

    gx.save(f, tmp_path, gx.TensorSpec((2,)))
    x = gx.zeros(2)
    first, second = gx.load(tmp_path)(x)
    assert (first.device, second.device) == ("/device:CPU:0", "/device:CPU:1")
    moved = gx.load(tmp_path, device="cpu:2")
    assert [one.device for one in moved(x)] == ["/device:CPU:2", "/device:CPU:2"]
    graph = gx.load(tmp_path)["__call__"].graph(x)
    (cos,) = [node for node in graph.nodes if node.op.name == "cos"]
    assert [node.op.name for node in cos.control_inputs] == ["sin"]


def refused(kind: type[Exception], match: str, f: Any, folder: Path, *signatures: Any) -> None:
    with pytest.raises(kind, match=match):
        gx.save(f, folder, *signatures)
    assert not folder.exists()


def test_what_a_file_cannot_hold_is_refused_with_its_line(tmp_path: Path) -> None:
    folder, spec = tmp_path / "saved", gx.TensorSpec((2,))

    @gx.function
    def prints(x: Any) -> Any:
        print(x)
        return x

    @gx.function
    def returns_an_object(x: Any) -> Any:
        return x, object()

    @gx.function
    def assigns(x: Any) -> Any:
        x[0] = 0.0
        return gx.sum(x)

    refused(UnimplementedError, r"calls Python when it runs \(print\)(.|\n)*print\(x\)", prints, folder, spec)
    refused(UnimplementedError, "it returns object <object", returns_an_object, folder, spec)
    held = [gx.ones(3)]
    refused(UnimplementedError, "returns a list or dict from outside that holds", lambda x: (x, held), folder, spec)
    refused(UnimplementedError, "it assigns items of its arguments", assigns, folder, spec)
    refused(InvalidArgumentError, "has no signature; pass the arguments", prints, folder)
    refused(InvalidArgumentError, "there is nothing to save in", object(), folder)
    refused(InvalidArgumentError, "no function 'g' to save; there are f", {"f": assigns}, folder, {"g": spec})
    refused(InvalidArgumentError, "give the number of axes", assigns, folder, gx.TensorSpec(None))


def test_pyfunc_is_refused_with_its_line(tmp_path: Path) -> None:
    def python(x: Any) -> Any:
        return np.asarray(x) + 1

    @gx.function
    def f(x: Any) -> Any:
        return gx.pyfunc(python, gx.TensorSpec((2,)), x)

    with pytest.raises(UnimplementedError, match=r"calls Python when it runs(.|\n)*gx\.pyfunc\(python"):
        gx.save(f, tmp_path / "saved", gx.TensorSpec((2,)))


def test_folders(tmp_path: Path) -> None:
    f = gx.function(lambda x: x + 1)
    folder = tmp_path / "saved"
    gx.save(f, folder, gx.TensorSpec(()))
    before = files(folder)
    gx.save(gx.function(lambda x: x + 2), folder, gx.TensorSpec(()))
    assert (
        files(folder)
        == before
        == ["__call__-0.graph", "constants.safetensors", "manifest.json", "variables.safetensors"]
    )
    assert gx.load(folder)(1.0).item() == 3.0
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(FailedPreconditionError, match=r"holds 'notes\.txt', so it is not a folder of saved functions"):
        gx.save(f, tmp_path, gx.TensorSpec(()))
    with pytest.raises(NotFoundError, match=r"has no manifest\.json; give the folder that gx\.save wrote"):
        gx.load(tmp_path)


def test_a_concrete_function_and_other_settings(tmp_path: Path) -> None:
    concrete = gx.function(lambda x: gx.argmax(x)).get_concrete_function(gx.TensorSpec((3,)))
    gx.save(concrete, tmp_path)
    loaded = gx.load(tmp_path)
    assert loaded([1.0, 3.0, 2.0]).item() == 1
    with gx.config.scope(enable_x64=True), pytest.raises(FailedPreconditionError, match=r"set gx\.config\.enable_x64"):
        loaded(gx.asarray([1.0, 3.0, 2.0], "float32"))


def test_loaded_functions_are_functions(tmp_path: Path) -> None:
    gx.save(gx.function(lambda x: gx.sin(x) * 2), tmp_path, gx.TensorSpec((None,)))
    loaded = gx.load(tmp_path)
    function = loaded["__call__"]
    assert "sin" in str(function.graph(gx.ones(3)))
    assert "sine" in function.lower(gx.ones(3)).as_text()
    assert function.compare(gx.ones(3), rounds=1, seconds=0.1).equal
    again = tmp_path / "again"
    gx.save(function, again, gx.TensorSpec((None,)))
    assert gx.load(again)(gx.ones(2)).tolist() == loaded(gx.ones(2)).tolist()
    checkpoint = gx.train.Checkpoint(tmp_path / "steps", model=loaded)
    assert checkpoint.latest is None
    assert collections.Counter(dir(loaded))["__call__"] == 1


class Counter:
    def __init__(self) -> None:
        self.n = gx.Variable(0)

    @gx.function
    def add(self, x: Any) -> Any:
        self.n.assign_add(len(x))
        return self.n.value(), int(gx.sum(x)), gx.asarray(1)

    @gx.function
    def reset(self) -> Any:
        self.n.assign(0)


def test_an_object_is_saved_with_all_its_functions(tmp_path: Path) -> None:
    spec = gx.TensorSpec((None,))
    with pytest.raises(InvalidArgumentError, match=r"the function 'fit' has no signature|the function 'score' has no"):
        gx.save(Model(), tmp_path, {"fit": (gx.TensorSpec((3,)), 1.0)})
    gx.save(Counter(), tmp_path, {"add": spec})
    loaded = gx.load(tmp_path)
    results = "(Tensor({}, shape=(), dtype=int32), 3, Tensor(1, shape=(), dtype=int32))"
    assert [repr(loaded.add(gx.ones(3))) for _ in range(2)] == [results.format(3), results.format(6)]
    loaded.reset()
    assert repr(loaded.add(gx.ones(3))) == results.format(3)


@pytest.mark.parametrize(
    ("saved", "given", "match"),
    [
        ([1, 2], (1, 2), "x is a tuple, it was saved for a list"),
        (Pair(1, 2), (1, 2), "x is a tuple, it was saved for a Pair"),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, r"the keys of x come in the order \['b', 'a'\], it was saved for"),
        ({1: 2}, {True: 2}, r"x is \{True: 2\}, expected \{1: 2\}"),
    ],
)
def test_an_argument_of_another_kind_is_refused(saved: Any, given: Any, match: str, tmp_path: Path) -> None:
    gx.save(lambda x, y: (x, y), tmp_path, [saving.Signature(saved, gx.TensorSpec(())), saving.Signature(3, 4)])
    loaded = gx.load(tmp_path)
    assert repr(loaded(saved, 1.0)[0]) == repr(saved)
    with pytest.raises(InvalidArgumentError, match=match):
        loaded(given, 1.0)


def test_a_dict_of_another_class_is_no_result(tmp_path: Path) -> None:
    with pytest.raises(UnimplementedError, match=r"OrderedDict, which would come back as a dict \(write dict\(x\)\)"):
        gx.save(lambda x: collections.OrderedDict(x=x), tmp_path, gx.TensorSpec(()))


def test_saving_tells_of_side_effects(tmp_path: Path) -> None:
    seen: list[int] = []

    def f(x: Any) -> Any:
        seen.append(1)
        return x

    with pytest.warns(gx.errors.SideEffectWarning, match=r"the call of list.append happens once"):
        gx.save(f, tmp_path, gx.TensorSpec(()))
