"""The short way of a call, which must compute what the long one does."""

from __future__ import annotations

import gc
import inspect
import sys
import traceback
import weakref
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import jax
import numpy as np
import pytest
from jax.sharding import NamedSharding, PartitionSpec

import graphc as gx
from graphc.compiler.function import Function


@pytest.mark.parametrize("count", [1, 2, 8, 9])
def test_any_number_of_arguments(count: int) -> None:
    @gx.function(on_retrace="ignore")
    def total(*tensors: gx.Tensor) -> gx.Tensor:
        result = tensors[0]
        for tensor in tensors[1:]:
            result = result + 2 * tensor
        return result

    tensors = [gx.asarray(float(number)) for number in range(count)]
    expected = sum(2.0 * number for number in range(count))
    assert [total(*tensors).item() for _ in range(3)] == [expected] * 3
    # Other types, numbers of arguments and kinds of values take the long way.
    assert total(*[tensor.reshape(1) for tensor in tensors]).shape == (1,)
    assert total(*tensors).item() == expected
    assert total(*tensors, gx.asarray(1.0)).item() == expected + 2
    assert total(*tensors).item() == expected
    assert float(total(*[tensor.item() for tensor in tensors])) == expected


def test_tape_and_eager_mode_take_the_long_way() -> None:
    @gx.function
    def double(x: gx.Tensor) -> gx.Tensor:
        return x * 2

    x = gx.asarray(3.0)
    assert [double(x).item() for _ in range(2)] == [6.0, 6.0]
    with gx.GradientTape() as tape:
        tape.watch(x)
        y = double(x)
    assert tape.gradient(y, x).item() == 2.0
    assert double(x).item() == 6.0


def _every_kind(a: Any, /, b: Any, c: Any = 3.0, *rest: Any, k: Any, m: Any = 5.0, **more: Any) -> Any:
    return (a, b, c, rest, k, m, more)


def _some(a: Any, b: Any, c: Any = 3.0) -> Any:
    return (a, b, c)


def _by_position(self: Any, type: Any, /, c0: Any = 3.0) -> Any:
    return (self, type, c0)


_CALLS: list[tuple[Any, list[tuple[Any, dict[str, Any]]]]] = [
    (_some, [((1, 2), {}), ((1,), {"b": 2}), ((), {"c": 4, "b": 2, "a": 1}), ((1, 2, 3), {})]),
    (_by_position, [((1, 2), {}), ((1, 2, 4), {}), ((1, 2), {"c0": 4})]),
    (_every_kind, [((1, 2), {"k": 3}), ((1, 2, 3, 4, 5), {"k": 6, "a": 7}), ((1,), {"m": 1, "b": 2, "k": 3})]),
]


@pytest.mark.parametrize(("plain", "calls"), _CALLS)
@pytest.mark.parametrize("kinds", [1, 2])
def test_arguments_are_bound_as_python_does(kinds: int, plain: Any, calls: Any) -> None:
    """Each call comes three times: the long way, and by an entry; of a function with one trace and with more."""
    compiled: Any = gx.function(plain, on_retrace="ignore")
    for args, kwargs in calls:
        for shape in [(), (1,)][:kinds]:
            tensors: list[Any] = [gx.full(shape, float(value)) for value in args]
            named: dict[str, Any] = {name: gx.full(shape, float(value)) for name, value in kwargs.items()}
            expected = plain(*tensors, **named)
            for _ in range(3):
                result = compiled(*tensors, **named)
                assert str(result) == str(expected)


@pytest.mark.parametrize("traces", [0, 1, 2])
def test_arguments_that_do_not_fit_are_told_the_same_way_by_every_entry(traces: int) -> None:
    @gx.function
    def scaled(x: Any, by: Any) -> Any:
        return x * by

    for size in range(traces):
        for _ in range(2):
            scaled(gx.ones(size), gx.ones(size))
    x: Any = gx.ones(0)
    calls: list[tuple[str, Any]] = [
        (r"scaled: missing a required argument: 'by'; it takes \(x", lambda: scaled(x)),
        ("scaled: missing a required argument: 'x'", lambda: scaled(by=x)),
        ("scaled: too many positional arguments", lambda: scaled(x, x, x)),
        ("scaled: multiple values for argument 'x'", lambda: scaled(x, x=x, by=x)),
        ("scaled: got an unexpected keyword argument 'b'", lambda: scaled(x, x, b=x)),
    ]
    for message, call in calls:
        with pytest.raises(gx.errors.InvalidTypeError, match=message) as caught:
            call()
        assert "test_fast_path.py" in str(caught.value)
    assert scaled.num_traces == traces


def test_a_function_with_an_entry_is_like_any_other_and_ends_with_its_last_reference() -> None:
    def double(x: gx.Tensor) -> gx.Tensor:
        return x * 2

    compiled, x = gx.function(double), gx.ones(2)
    before = type(compiled), repr(type(compiled)), compiled.__doc__, inspect.signature(compiled)
    for _ in range(2):
        assert compiled(x).tolist() == [2, 2]
    assert isinstance(compiled, before[0])
    assert (repr(type(compiled)), compiled.__doc__, inspect.signature(compiled)) == before[1:]

    @gx.function
    def outer(f: Any, x: gx.Tensor) -> Any:
        return f(x) + 1

    for _ in range(2):
        assert outer(compiled, x).tolist() == [3, 3]
    assert outer.num_traces == 1
    own = weakref.ref(type(compiled))
    compiled.clear_cache()
    assert type(compiled) is before[0]
    del outer
    gc.collect()
    assert own() is None


def test_a_device_scope_has_an_entry_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    v = gx.Variable(1.0)

    @gx.function(on_retrace="ignore")
    def step(x: Any, scale: float = 2.0) -> Any:
        return x * scale + v

    def calls() -> list[tuple[Any, str]]:
        found = [step(x), step(x, scale=3.0)]
        for device in ("cpu:1", "cpu:2"):
            with gx.device(device):
                found += [step(x), step(x, scale=3.0)]
        return [(result.tolist(), result.device) for result in found]

    x = gx.ones(1)
    with gx.device("cpu:1"), pytest.raises(gx.errors.InvalidTypeError, match="missing a required argument: 'x'"):
        step()
    expected = [([each], f"/device:CPU:{device}") for device in range(3) for each in (3.0, 4.0)]
    assert [calls() for _ in range(3)] == [expected] * 3
    monkeypatch.setattr(Function, "_call", None)  # the long way
    assert calls() == expected
    v.assign(2.0)
    assert [result for result, _ in calls()] == [[4.0], [5.0]] * 3


@pytest.mark.parametrize("number", [2.0, 3, 1 << 40])
def test_a_number_for_which_a_tensor_is_asked_takes_the_short_way(number: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    @gx.function(input_signature=[gx.TensorSpec((2,)), gx.TensorSpec(())])
    def scaled(x: Any, by: Any) -> Any:
        return x * by, by

    x = gx.ones(2)
    for _ in range(2):
        assert [each.tolist() for each in scaled(x, number)] == [[number] * 2, number]
    with pytest.raises(gx.errors.InvalidTypeError, match="True cannot be a tensor of float32"):
        scaled(x, True)
    monkeypatch.setattr(Function, "_call", None)  # the long way
    product, by = scaled(x, number)
    assert (product.tolist(), by.tolist(), by.dtype) == ([number] * 2, number, "float32")
    assert type(by) is gx.Tensor


class Loud(np.ndarray[Any, Any]):
    """An array whose own methods must not serve to copy it."""

    def astype(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError

    def __array_function__(self, *args: Any) -> Any:
        raise NotImplementedError


@pytest.mark.parametrize("size", [3, 10_000])
def test_arrays_of_other_classes_take_the_short_way(size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    np.save(tmp_path / "rows.npy", np.arange(2.0 * size, dtype=np.float32).reshape(2, size))
    rows = np.load(tmp_path / "rows.npy", mmap_mode="r+")
    loud = np.arange(2 * size).reshape(2, size).view(Loud)
    assert type(rows) is np.memmap
    doubled = gx.function(lambda x, parts: (x * 2, parts["loud"] + 1), on_retrace="ignore")
    for _ in range(2):
        first, other = doubled(rows[1], {"loud": loud})
    monkeypatch.setattr(Function, "_call", None)  # the long way
    for row in (1, 0):
        first, other = doubled(rows[row], {"loud": loud})
        assert first.tolist() == [2.0 * number for number in rows[row].tolist()]
        assert other.tolist() == [[number + 1 for number in numbers] for numbers in loud.tolist()]
        rows[row] = loud[row] = 0
        assert first[-1].item() == 2.0 * (row * size + size - 1)
        assert other[row, -1].item() == row * size + size


def test_masked_arrays_are_refused_after_others() -> None:
    doubled = gx.function(lambda x: x * 2)
    for _ in range(2):
        assert doubled(np.ones((2, 2)).view(Loud)).tolist() == [[2.0, 2.0]] * 2
        with pytest.raises(gx.errors.InvalidTypeError):
            doubled(np.ma.MaskedArray(np.ones((2, 2))))


def test_an_int_that_does_not_fit_is_told_by_the_long_way() -> None:
    @gx.function(input_signature=[gx.TensorSpec((), "int32")])
    def plus_one(n: Any) -> Any:
        return n + 1

    for number in (1, 2, 3):
        assert plus_one(number).item() == number + 1
    for number in (1 << 40, 1.5):
        with pytest.raises((gx.errors.InvalidArgumentError, OverflowError), match=r"plus_one: argument 'n'"):
            plus_one(number)


class _Pair(NamedTuple):
    first: Any
    second: Any


@dataclass(frozen=True)
class _Parts:
    tensor: Any
    rest: Any


_RESULTS: list[Callable[[Any, Any], Any]] = [
    lambda x, v: (x + 1, 3, "text", None),
    lambda x, v: {1: x + 1, ("a", 2): [x, 2.5]},
    lambda x, v: _Pair(x + 1, _Parts(x, (v, "t0"))),
    lambda x, v: OrderedDict[str, Any](b=x + 1, a=x),
    lambda x, v: defaultdict[str, Any](float, {"a": x}),
    lambda x, v: [x * 2] * 2,
    lambda x, v: (v, v.value()),
]


@pytest.mark.parametrize("result", _RESULTS)
def test_results_are_put_together_by_the_short_way(result: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    v, x = gx.Variable(2.0), gx.asarray(1.0)

    @gx.function
    def compiled(x: Any) -> Any:
        return result(x, v)

    expected = compiled(x)
    compiled(x)
    monkeypatch.setattr(Function, "_call", None)  # the long way
    found = compiled(x)
    assert type(found) is type(expected)
    assert repr(found) == repr(expected) == repr(result(x, v))
    assert found is not compiled(x)


def test_items_of_arguments_are_assigned_by_the_short_way(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = gx.ones(2)

    @gx.function
    def clear(x: Any, y: Any) -> Any:
        x[0] = 0.0
        return x, x + y + kept

    x, y = gx.ones(2), gx.ones(2)
    clear(x, y)
    with monkeypatch.context() as patch:
        patch.setattr(Function, "_call", None)  # the long way
        z = gx.full(2, 2.0)
        same, total = clear(z, y)
        assert (same is z, z.tolist(), total.tolist()) == (True, [0, 2], [2, 4])
        with gx.GradientTape() as tape:  # sees what was assigned without it
            tape.watch(z)
            product = z * z
        assert tape.gradient(product, z).tolist() == [0, 4]
    for given in ((y, y), (kept, y)):  # which has another name
        with pytest.raises(gx.errors.UnimplementedError, match="same tensor"):
            clear(*given)


def test_a_call_that_may_fail_takes_the_short_way(monkeypatch: pytest.MonkeyPatch) -> None:
    variable, seen = gx.Variable(0.0), gx.ones(2)

    @gx.function
    def step(x: Any, limit: Any) -> Any:
        variable.assign_add(1.0)
        x[0] = 7.0
        if gx.sum(x) > limit:
            raise ValueError("too much")
        return x + 1

    step(gx.ones(2), gx.asarray(10.0))
    monkeypatch.setattr(Function, "_call", None)  # the long way
    assert step(seen, gx.asarray(10.0)).tolist() == [8.0, 2.0]
    assert (variable.numpy(), seen.tolist()) == (2.0, [7.0, 1.0])
    given = gx.ones(2)
    with pytest.raises(ValueError, match="too much") as caught:
        step(given, gx.asarray(1.0))
    assert [frame.name for frame in traceback.extract_tb(caught.tb)][-1] == "step"
    assert (variable.numpy(), given.tolist()) == (2.0, [1.0, 1.0])
    assert step(given, gx.asarray(9.0)).tolist() == [8.0, 2.0]
    assert variable.numpy() == 3.0


def test_of_many_traces_a_call_finds_the_one_that_served_such_arguments() -> None:
    @gx.function(on_retrace="ignore", max_traces=12)
    def scaled(x: Any, by: float, how: str = "") -> Any:
        return x * by if how else x + by

    given = [(gx.ones(size), by, how) for size in (1, 2, 3) for by in (1.0, 2.0) for how in ("", "times")]
    expected = [scaled(*args).tolist() for args in given]
    asked: list[str] = []

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename == "<graphc guards>":
            asked.append(frame.f_code.co_name)

    for _ in range(2):
        assert [scaled(*args).tolist() for args in given] == expected
    sys.setprofile(note)
    try:
        found = [scaled(*args) for args in given]
    finally:
        sys.setprofile(None)
    assert [result.tolist() for result in found] == expected
    assert len(scaled.trace_report()) == len(given)
    assert len(asked) <= 3 * len(given)  # the choice, the entry in front, and the one that serves
    # One more, for which the oldest goes: it is not remembered any more.
    assert scaled(gx.ones(4), 3.0).tolist() == [4.0] * 4
    assert [scaled(*args).tolist() for args in given] == expected


@pytest.mark.parametrize("size", [None, 2])
def test_concrete_functions_take_the_short_way_and_refuse_what_does_not_fit(
    size: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    @gx.function(on_retrace="ignore")
    def scaled(x: Any, by: float = 2.0, *, unread: Any = None) -> Any:
        return x * by

    concrete = scaled.get_concrete_function(gx.TensorSpec((size,)), 3.0)
    concrete(gx.ones(2))
    with monkeypatch.context() as patch:
        patch.setattr(Function, "_call", None)  # the long way
        calls: list[Callable[[gx.Tensor], Any]] = [
            concrete, lambda x: concrete(x, 3.0), lambda x: concrete(x=x, by=3.0, unread=None),
        ]  # fmt: skip
        assert [call(gx.ones(2)).tolist() for call in calls] == [[3, 3]] * 3
    for refused in (
        lambda: concrete(gx.ones(2), 2.0),
        lambda: concrete(gx.ones(2), unread=1),
        lambda: concrete(gx.ones((2, 2))),
        lambda: concrete(),
    ):
        with pytest.raises(gx.errors.InvalidArgumentError, match=r"the argument '(x|by|unread)' is"):
            refused()
    assert concrete(gx.ones(2)).tolist() == [3, 3]


def test_a_deadline_has_an_entry_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    v = gx.Variable(1.0)

    class Model:
        @gx.function
        def step(self, x: Any) -> Any:
            v.assign_add(x)
            return v + 1.0

    double, model, x = gx.function(lambda x: x * 2), Model(), gx.asarray(2.0)

    def calls() -> list[float]:
        return [double(x).item(), model.step(x).item()]

    with gx.deadline(60.0):
        found = [calls() for _ in range(2)]
    found.append(calls())
    with monkeypatch.context() as patch:
        patch.setattr(Function, "_call", None)  # the long way
        with gx.deadline(60.0):
            found.append(calls())
            with gx.deadline(30.0):
                found.append(calls())
        found.append(calls())
    assert found == [[4.0, 4.0 + 2 * number] for number in range(6)]
    with gx.CancellationToken() as token:
        token.cancel()
        with pytest.raises(gx.errors.CancelledError, match="while waiting for the compiled function 'step'"):
            model.step(x)
    assert v.item() == 13.0


def test_a_tape_that_follows_nothing_does_not_see_a_call(monkeypatch: pytest.MonkeyPatch) -> None:
    double, x = gx.function(lambda x: x * 2), gx.asarray(2.0)
    with gx.GradientTape() as tape:
        y = double(x)  # in its first call too
        monkeypatch.setattr(Function, "_call", None)  # the long way
        y = double(y)
        monkeypatch.undo()
        tape.watch(y)
        z = double(y)
    assert (y.item(), z.item(), tape.gradient(z, y).item()) == (8.0, 16.0, 2.0)


def test_calls_on_one_device_stay_short_when_arrays_are_on_several(monkeypatch: pytest.MonkeyPatch) -> None:
    class Model:
        def __init__(self) -> None:
            self.scale = gx.Variable(2.0)

        @gx.function(on_retrace="ignore")
        def __call__(self, x: Any) -> Any:
            return x * self.scale

        @gx.function(on_retrace="ignore")
        def add(self, x: Any) -> Any:
            self.scale.assign_add(gx.sum(x))
            return x + 1.0

    model = Model()
    concrete = gx.function(lambda x: x + 1.0).get_concrete_function(gx.TensorSpec((4,)))
    ways: list[Callable[[gx.Tensor], gx.Tensor]] = [model, model.add, concrete]
    x, far = gx.ones(4), gx.Tensor(jax.device_put(gx.ones(4).raw, jax.devices()[1]))
    layout = NamedSharding(jax.make_mesh((2,), ("data",), devices=jax.devices()[:2]), PartitionSpec("data"))
    spread = gx.Tensor(jax.device_put(x.raw, layout))
    expected = ["/device:CPU:0"] * 3
    for _ in range(2):
        assert [way(x).device for way in ways] == expected
    both = gx.function(lambda x: x + 1.0)
    for _ in range(2):
        assert both(spread).device == "/device:CPU:0, /device:CPU:1"
        assert [way(x).device for way in ways] == expected
    monkeypatch.setattr(Function, "_call", None)  # the long way
    assert [way(x).device for way in ways] == expected
    assert concrete(far).device == "/device:CPU:1"
    for way in (*ways[:2], both):
        with pytest.raises(TypeError):
            way(spread)
    monkeypatch.undo()
    assert [way(spread).device for way in ways] == ["/device:CPU:0, /device:CPU:1"] * 3
    assert model.scale.device == "/device:CPU:0, /device:CPU:1"
    assert model(x).device == "/device:CPU:0, /device:CPU:1"  # where its Variable is
