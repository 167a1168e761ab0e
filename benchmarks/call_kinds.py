"""What a call of a compiled function costs by the kind of the call, against `jax.jit` of the same work."""

from __future__ import annotations

import functools
import itertools
import threading
from collections.abc import Callable, Iterable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

import graphc as gx
from benchmarks.global_view import from_process
from benchmarks.harness import Contender, Duel, Reading, Row, batch

__all__ = ["ROWS", "Call"]

_VALUES = np.random.default_rng(0).normal(size=(2, 4, 4)).astype(np.float32)
_SHARED = 0.5

Call = Callable[[], Any]


def _tensors() -> tuple[tuple[gx.Tensor, gx.Tensor], tuple[jax.Array, jax.Array]]:
    a, b = _VALUES
    return (gx.asarray(a), gx.asarray(b)), (jnp.asarray(a), jnp.asarray(b))


def _duel(ours: Call, theirs: Call, quick: bool, wait_for: Any = None) -> Duel:
    calls = 10 if quick else 100
    return Duel(
        Contender("graphc", batch(ours, (), calls, wait_for), calls),
        Contender("jax.jit", batch(theirs, (), calls), calls),
        lambda: [(ours(), theirs())],
    )


def _add(a: Any, b: Any) -> Any:
    return a + b


def _scaled(x: Any, how: str = "double", factor: int = 3) -> Any:
    return x * factor if how == "triple" else x * 2


def _keyword(quick: bool) -> Duel:
    (a, b), (x, y) = _tensors()
    compiled, jitted = gx.function(_add), jax.jit(_add)
    return _duel(lambda: compiled(a, b=b), lambda: jitted(x, b=y), quick)


def _dictionary(quick: bool) -> Duel:
    (a, b), (x, y) = _tensors()

    def added(d: dict[str, Any]) -> Any:
        return d["a"] + d["b"]

    ours, theirs = {"a": a, "b": b}, {"a": x, "b": y}
    compiled, jitted = gx.function(added), jax.jit(added)
    return _duel(lambda: compiled(ours), lambda: jitted(theirs), quick)


def _nested(quick: bool) -> Duel:
    (a, b), (x, y) = _tensors()

    def added(parts: Any) -> Any:
        return parts[0]["a"] + parts[1][0]

    ours, theirs = ({"a": a}, [b]), ({"a": x}, [y])
    compiled, jitted = gx.function(added), jax.jit(added)
    return _duel(lambda: compiled(ours), lambda: jitted(theirs), quick)


def _number(quick: bool) -> Duel:
    (a, _), (x, _) = _tensors()
    compiled, jitted = gx.function(lambda x, n: x * n), jax.jit(lambda x, n: x * n, static_argnums=1)
    return _duel(lambda: compiled(a, 2.5), lambda: jitted(x, 2.5), quick)


def _text(quick: bool) -> Duel:
    (a, _), (x, _) = _tensors()
    compiled, jitted = gx.function(_scaled), jax.jit(_scaled, static_argnames=("how", "factor"))
    return _duel(lambda: compiled(a, "triple"), lambda: jitted(x, "triple"), quick)


def _numpy(quick: bool) -> Duel:
    a, b = _VALUES
    compiled, jitted = gx.function(_add), jax.jit(_add)
    return _duel(lambda: compiled(a, b), lambda: jitted(a, b), quick)


def _numpy_large(quick: bool, *, aligned: bool, dtype: str = "float32") -> Duel:
    """One in four arrays of NumPy is aligned as JAX needs it; JAX then reads it while the program runs: no copy."""
    size, kind = 256 * 256, np.dtype(dtype)
    memory = np.zeros(size * kind.itemsize + 128, np.uint8)
    start = -memory.ctypes.data % 64 + (0 if aligned else 16)
    x = memory[start : start + size * kind.itemsize].view(kind).reshape(256, 256)
    compiled, jitted = gx.function(lambda x: x[:4, :4] * 2), jax.jit(lambda x: x[:4, :4] * 2)
    return _duel(lambda: compiled(x), lambda: jitted(x), quick)


class _Model:
    """A model as people write it: a weight, and a number."""

    def __init__(self, weight: Any, scale: float) -> None:
        self.w = gx.Variable(weight)
        self.scale = scale

    @gx.function
    def run(self, x: Any) -> Any:
        return x * self.w * self.scale

    @property
    @gx.function
    def doubled(self) -> Any:
        return self.w * 2.0

    @classmethod
    @gx.function
    def plus_one(cls, x: Any) -> Any:
        return x + 1.0


def _method(quick: bool) -> Duel:
    (a, b), (x, y) = _tensors()
    model, jitted = _Model(b, 2.0), jax.jit(lambda w, scale, x: x * w * scale, static_argnums=1)
    return _duel(lambda: model.run(a), lambda: jitted(y, 2.0, x), quick)


def _property(quick: bool) -> Duel:
    (_, b), (_, y) = _tensors()
    model, jitted = _Model(b, 2.0), jax.jit(lambda w: w * 2.0)
    return _duel(lambda: model.doubled, lambda: jitted(y), quick)


def _classmethod(quick: bool) -> Duel:
    (a, _), (x, _) = _tensors()
    jitted = jax.jit(lambda x: x + 1.0)
    return _duel(lambda: _Model.plus_one(a), lambda: jitted(x), quick)


def _partial(quick: bool) -> Duel:
    (a, _), (x, _) = _tensors()
    bound = functools.partial(_scaled, how="triple", factor=4)
    compiled, jitted = gx.function(bound), jax.jit(bound)
    return _duel(lambda: compiled(a), lambda: jitted(x), quick)


def _global(quick: bool) -> Duel:
    (a, b), (x, y) = _tensors()

    def shifted(x: Any) -> Any:
        return x * _SHARED + b

    compiled, jitted = gx.function(shifted), jax.jit(lambda x, b: x * _SHARED + b)
    return _duel(lambda: compiled(a), lambda: jitted(x, y), quick)


def _inner(quick: bool) -> Duel:
    (a, b), (x, y) = _tensors()
    inner, jitted_inner = gx.function(_add), jax.jit(_add)
    compiled, jitted = gx.function(lambda a, b: inner(a, b) * 2.0), jax.jit(lambda a, b: jitted_inner(a, b) * 2.0)
    return _duel(lambda: compiled(a, b), lambda: jitted(x, y), quick)


def _signature(quick: bool) -> Duel:
    (a, b), (x, y) = _tensors()
    compiled, jitted = gx.function(_add, input_signature=[gx.TensorSpec((4, 4))] * 2), jax.jit(_add)
    return _duel(lambda: compiled(a, b), lambda: jitted(x, y), quick)


def _signature_number(quick: bool) -> Duel:
    (a, _), (x, _) = _tensors()
    compiled = gx.function(_add, input_signature=[gx.TensorSpec((4, 4)), gx.TensorSpec(())])
    jitted = jax.jit(_add)
    return _duel(lambda: compiled(a, 2.5), lambda: jitted(x, 2.5), quick)


def _int64(quick: bool) -> Duel:
    a, b = np.arange(32).reshape(2, 4, 4)
    compiled, jitted = gx.function(_add), jax.jit(_add)
    return _duel(lambda: compiled(a, b), lambda: jitted(a, b), quick)


def _device(quick: bool) -> Duel:
    (a, b), (x, y) = _tensors()
    compiled, jitted = gx.function(_add), jax.jit(_add)

    def ours() -> Any:
        with gx.device("cpu:0"):
            for _ in range(10):
                result = compiled(a, b)
        return result

    def theirs() -> Any:
        with jax.default_device(jax.devices("cpu")[0]):
            for _ in range(10):
                result = jitted(x, y)
        return result

    return _duel(ours, theirs, quick)


def _device_once(quick: bool) -> Duel:
    (a, b), (x, y) = _tensors()
    compiled, jitted = gx.function(_add), jax.jit(_add)
    place = jax.devices("cpu")[0]

    def ours() -> Any:
        with gx.device("cpu:0"):
            return compiled(a, b)

    def theirs() -> Any:
        with jax.default_device(place):
            return jitted(x, y)

    return _duel(ours, theirs, quick)


def _concrete(quick: bool) -> Duel:
    (a, b), (x, y) = _tensors()
    compiled, jitted = gx.function(_add).get_concrete_function(a, b), jax.jit(_add)
    return _duel(lambda: compiled(a, b), lambda: jitted(x, y), quick)


def _items(quick: bool) -> Duel:
    (a, b), (x, y) = _tensors()

    @gx.function
    def compiled(x: Any, y: Any) -> Any:
        x[0] = y[1]
        return x

    jitted = jax.jit(lambda x, y: x.at[0].set(y[1]))
    return _duel(lambda: compiled(a, b), lambda: jitted(x, y), quick)


def _deadline(quick: bool) -> Duel:
    (a, b), (x, y) = _tensors()
    compiled, jitted = gx.function(_add), jax.jit(_add)

    def ours() -> Any:
        with gx.deadline(60.0):
            for _ in range(10):
                result = compiled(a, b)
        return result

    def theirs() -> Any:
        for _ in range(10):
            result = jitted(x, y).block_until_ready()
        return result

    return _duel(ours, theirs, quick)


def _tape(quick: bool) -> Duel:
    """Preprocessing, say, inside the scope of a tape that watches a model, before the model is called."""
    (a, b), (x, y) = _tensors()
    compiled, jitted = gx.function(_add), jax.jit(_add)

    def ours() -> Any:
        with gx.GradientTape():
            for _ in range(10):
                result = compiled(a, b)
        return result

    def theirs() -> Any:
        for _ in range(10):
            result = jitted(x, y)
        return result

    return _duel(ours, theirs, quick)


def _gradient(quick: bool) -> Duel:
    """Against what a user of JAX writes around a compiled function; `tape-around` compiles both ways by hand."""
    (a, b), (x, y) = _tensors()
    compiled, jitted = gx.function(_add), jax.jit(_add)

    def ours() -> Any:
        with gx.GradientTape() as tape:
            tape.watch(a)
            result = compiled(a, b)
        return tape.gradient(result, a)

    def theirs() -> Any:
        result, pullback = jax.vjp(lambda x: jitted(x, y), x)
        return pullback(jnp.ones_like(result))[0]

    return _duel(ours, theirs, quick)


def _spread(quick: bool) -> Reading:
    """In a process of its own, whose arrays on several devices slow down eager operations from then on."""

    def read() -> tuple[float, float, str]:
        found = from_process("calls", quick)
        return found["measured"] * 1e6, found["baseline"] * 1e6, "4x4, on one device of 8"

    return Reading(("graphc", "jax.jit"), "us", read)


def _timeout(quick: bool) -> Duel:
    (a, b), (x, y) = _tensors()
    compiled, jitted = gx.function(_add, timeout=60.0), jax.jit(_add)
    return _duel(lambda: compiled(a, b), lambda: jitted(x, y).block_until_ready(), quick)


def _assert(quick: bool) -> Duel:
    """Against a status that is computed by hand and looked at after each call."""
    (a, _), (x, _) = _tensors()

    @gx.function
    def compiled(x: Any) -> Any:
        assert gx.all(x < 100.0)
        return x + 1.0

    jitted = jax.jit(lambda x: (x + 1.0, jnp.where(jnp.all(x < 100.0), 0, 1)))

    def theirs() -> Any:
        result, status = jitted(x)
        if int(status):
            raise AssertionError
        return result

    return _duel(lambda: compiled(a), theirs, quick)


def _results(quick: bool) -> Duel:
    (a, b), (x, y) = _tensors()

    def both(a: Any, b: Any) -> Any:
        return {"sum": a + b, "parts": (a * 2.0, b * 2.0)}

    compiled, jitted = gx.function(both), jax.jit(both)
    return _duel(lambda: compiled(a, b), lambda: jitted(x, y), quick)


def _two(quick: bool) -> Duel:
    (a, b), (x, y) = _tensors()
    wide, raw = gx.ones((2, 4, 4)), jnp.ones((2, 4, 4))
    compiled, jitted = gx.function(_add), jax.jit(_add)
    return _duel(lambda: (compiled(a, b), compiled(a, wide)), lambda: (jitted(x, y), jitted(x, raw)), quick)


def _in_turn(quick: bool, *, traces: int) -> Duel:
    """Several shapes in turn, as of batches of as many sizes."""
    ours = [gx.ones((size + 1, 4)) for size in range(traces)]
    theirs = [jnp.ones((size + 1, 4)) for size in range(traces)]
    compiled, jitted = gx.function(_scaled, on_retrace="ignore"), jax.jit(_scaled)
    return _duel(lambda: [compiled(x) for x in ours], lambda: [jitted(x) for x in theirs], quick)


def _threads(quick: bool) -> Duel:
    (a, b), (x, y) = _tensors()
    compiled, jitted = gx.function(_add), jax.jit(_add)
    calls = 5 if quick else 200

    def from_four(call: Call) -> Call:
        def work() -> None:
            for _ in range(calls):
                call()

        def run() -> Any:
            threads = [threading.Thread(target=work) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            return call()

        return run

    ours, theirs = from_four(lambda: compiled(a, b)), from_four(lambda: jitted(x, y))
    return Duel(
        Contender("graphc", batch(ours, (), 1), 4 * calls),
        Contender("jax.jit", batch(theirs, (), 1), 4 * calls),
        lambda: [(ours(), theirs())],
    )


def _network() -> tuple[gx.layers.Sequential, list[tuple[jax.Array, jax.Array]]]:
    sizes = (4, 8, 8, 2)
    layers = [
        gx.layers.Dense(out, "relu" if out != 2 else None, in_features=given)
        for given, out in itertools.pairwise(sizes)
    ]
    return gx.layers.Sequential(layers), [
        (jnp.array(layer.kernel.value().raw), jnp.array(layer.bias.value().raw)) for layer in layers
    ]


def _applied(weights: Iterable[tuple[jax.Array, jax.Array]], x: jax.Array) -> jax.Array:
    for kernel, bias in weights:
        x = x @ kernel + bias
        if kernel.shape[1] != 2:
            x = jax.nn.relu(x)
    return x


def _layers(quick: bool) -> Duel:
    (a, _), (x, _) = _tensors()
    net, weights = _network()
    compiled, jitted = gx.function(lambda x: net(x)), jax.jit(_applied)
    return _duel(lambda: compiled(a), lambda: jitted(weights, x), quick)


def _layers_given(quick: bool) -> Duel:
    (a, _), (x, _) = _tensors()
    net, weights = _network()
    compiled, jitted = gx.function(lambda net, x: net(x)), jax.jit(_applied)
    return _duel(lambda: compiled(net, a), lambda: jitted(weights, x), quick)


def _assign(quick: bool) -> Duel:
    (a, b), (x, y) = _tensors()
    variable, value = gx.Variable(a), x + 0

    @gx.function
    def step(x: Any) -> Any:
        variable.assign_add(x)
        return variable.value()

    jitted = jax.jit(lambda value, y: (value + y, value + y), donate_argnums=0)

    def theirs() -> jax.Array:
        nonlocal value
        value, result = jitted(value, y)
        return result

    return _duel(lambda: step(b), theirs, quick)


def _adam(quick: bool) -> Duel:
    (a, b), (x, y) = _tensors()
    target, raw = b[:, :2], y[:, :2]
    net, weights = _network()
    optimizer, rule = gx.optim.Adam(1e-3), optax.adam(1e-3)
    optimizer.build(net.trainable_variables)
    state = rule.init(weights)

    @gx.function
    def step(x: Any, target: Any) -> Any:
        with gx.GradientTape() as tape:
            loss = gx.mean((net(x) - target) ** 2)
        variables = net.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return loss

    def update(weights: Any, state: Any, x: jax.Array, target: jax.Array) -> Any:
        loss, gradients = jax.value_and_grad(lambda weights: jnp.mean((_applied(weights, x) - target) ** 2))(weights)
        updates, state = rule.update(gradients, state, weights)
        return optax.apply_updates(weights, updates), state, loss

    jitted = jax.jit(update, donate_argnums=(0, 1))

    def theirs() -> jax.Array:
        nonlocal weights, state
        weights, state, loss = jitted(weights, state, x, raw)
        return loss

    return _duel(lambda: step(a, target), theirs, quick)


ROWS = (
    Row("call-keyword", "call with a keyword", 1.5, _keyword),
    Row("call-dict", "call with a dict", 1.5, _dictionary),
    Row("call-nested", "call with a nested argument", 1.5, _nested),
    Row("call-number", "call with a Python number", 1.5, _number),
    Row("call-text", "call with a string and a default", 1.5, _text),
    Row("call-numpy", "call with NumPy arrays", 1.5, _numpy),
    Row("call-numpy-large", "call with a NumPy array of 256 KB", 1.5, functools.partial(_numpy_large, aligned=False)),
    Row(
        "call-numpy-aligned",
        "call with a NumPy array of 256 KB that JAX need not copy; graphc does, so that the caller may write to it",
        5.0,
        functools.partial(_numpy_large, aligned=True),
    ),
    Row(
        "call-numpy-ints",
        "call with a NumPy array of 65,536 int64, which are checked to fit",
        2.0,
        functools.partial(_numpy_large, aligned=False, dtype="int64"),
    ),
    Row("call-method", "method that reads self.w and self.scale", 1.5, _method),
    Row("call-property", "property that reads self.w", 1.5, _property),
    Row("call-classmethod", "class method", 1.5, _classmethod),
    Row("call-partial", "functools.partial", 1.5, _partial),
    Row("call-global", "call that reads a global number and an outer tensor", 1.5, _global),
    Row("call-inner", "compiled function that calls another", 1.5, _inner),
    Row("call-signature", "call with an input_signature", 1.5, _signature),
    Row("call-number-for-tensor", "call with a number where input_signature asks for a tensor", 1.5, _signature_number),
    Row("call-int64", "call with NumPy arrays of int64", 1.5, _int64),
    Row("call-device", "ten calls in a device scope", 1.5, _device),
    Row("call-device-once", "call in a device scope of its own", 2.0, _device_once),
    Row("call-timeout", "call with a timeout, which is waited for", 2.0, _timeout),
    Row("call-deadline", "ten calls inside gx.deadline, which are waited for", 2.0, _deadline),
    Row("call-concrete", "call of a concrete function", 1.5, _concrete),
    Row("call-items", "call that assigns items of an argument", 1.5, _items),
    Row("call-tape", "ten calls under a tape that follows nothing yet", 2.0, _tape),
    Row("call-gradient", "call under a tape, and its gradient", 1.0, _gradient),
    Row("call-spread", "call in a process that has arrays on several devices", 1.5, _spread, rounds=1),
    Row("call-assert", "call with an assert on a tensor", 1.5, _assert),
    Row("call-results", "call that returns a dict of tensors and a tuple", 1.5, _results),
    Row("call-two", "two traces in turn", 1.5, _two),
    Row("call-eight", "eight traces in turn", 1.5, functools.partial(_in_turn, traces=8)),
    Row("call-many", "32 traces in turn", 1.5, functools.partial(_in_turn, traces=32)),
    Row("call-threads", "calls from four threads", 1.5, _threads),
    Row("call-layers", "network of three layers, from outside", 1.5, _layers),
    Row("call-layers-given", "network of three layers, an argument", 1.5, _layers_given),
    Row("call-assign", "update of one Variable, whose value is returned", 1.5, _assign),
    Row("call-adam", "Adam step over a network from outside", 1.5, _adam),
)
