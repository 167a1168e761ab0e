"""Optimizers: against optax itself, eager against compiled, bad input."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import graphc as gx
from graphc.compiler.base.errors import GraphcWarning, InvalidArgumentError, InvalidTypeError
from graphc.compiler.core import context, replica_scope

SHAPES = [(4, 3), (3,), ()]
STEPS = 5


def schedule(count: Any) -> Any:
    return 0.1 / (1.0 + count)


Made = tuple[Callable[[], gx.optim.Optimizer], optax.GradientTransformation]
CASES: dict[str, Made] = {
    "sgd": (lambda: gx.optim.SGD(0.1), optax.sgd(0.1)),
    "momentum": (lambda: gx.optim.SGD(0.1, momentum=0.9), optax.sgd(0.1, momentum=0.9)),
    "nesterov": (lambda: gx.optim.SGD(0.1, momentum=0.9, nesterov=True), optax.sgd(0.1, momentum=0.9, nesterov=True)),
    "schedule": (lambda: gx.optim.SGD(schedule), optax.sgd(schedule)),
    "adam": (lambda: gx.optim.Adam(0.05, b1=0.8), optax.adam(0.05, b1=0.8)),
    "adam schedule": (lambda: gx.optim.Adam(schedule), optax.adam(schedule)),
    "rmsprop": (lambda: gx.optim.RMSprop(0.05, momentum=0.5), optax.rmsprop(0.05, eps=1e-7, momentum=0.5)),
    "decay": (
        lambda: gx.optim.SGD(0.1, momentum=0.9, weight_decay=0.2),
        optax.chain(optax.trace(0.9), optax.add_decayed_weights(0.2), optax.scale(-0.1)),
    ),
    "clip": (
        lambda: gx.optim.Adam(0.1, clipvalue=0.2, global_clipnorm=0.3),
        optax.chain(optax.clip(0.2), optax.clip_by_global_norm(0.3), optax.adam(0.1)),
    ),
    "adamw": (lambda: gx.optim.AdamW(0.05, weight_decay=0.1), optax.adamw(0.05, weight_decay=0.1)),
    "chain": (
        lambda: gx.optim.Optimizer(optax.chain(optax.clip_by_global_norm(0.5), optax.rmsprop(0.01))),
        optax.chain(optax.clip_by_global_norm(0.5), optax.rmsprop(0.01)),
    ),
    "masked": (
        lambda: gx.optim.Optimizer(optax.adamw(0.1, mask=lambda params: [p.ndim > 1 for p in params])),
        optax.adamw(0.1, mask=lambda params: [p.ndim > 1 for p in params]),
    ),
    "accumulated": (
        lambda: gx.optim.Optimizer(optax.MultiSteps(optax.sgd(0.1), 2).gradient_transformation()),
        optax.MultiSteps(optax.sgd(0.1), 2).gradient_transformation(),
    ),
    "noise": (lambda: gx.optim.Optimizer(optax.noisy_sgd(0.1, key=3)), optax.noisy_sgd(0.1, key=3)),
}


def starts() -> list[np.ndarray[Any, Any]]:
    rng = np.random.default_rng(1)
    return [np.asarray(rng.normal(size=shape), "float32") for shape in SHAPES]


def gradient_of(weights: Sequence[Any], step: Any) -> list[Any]:
    """A gradient that differs between steps and depends on the weights; for tensors and arrays alike."""
    return [w * 0.5 + (step + 1.0) * 0.1 for w in weights]


def reference(rule: optax.GradientTransformation, steps: int = STEPS) -> list[np.ndarray[Any, Any]]:
    params = [jnp.asarray(value) for value in starts()]
    state = rule.init(params)

    @jax.jit
    def update(params: Any, state: Any, step: Any) -> Any:
        changes, state = rule.update(gradient_of(params, step), state, params)
        return optax.apply_updates(params, changes), state

    for step in range(steps):
        params, state = update(params, state, jnp.float32(step))
    return [np.asarray(value) for value in params]


def assert_close(variables: Sequence[Any], wanted: Sequence[Any]) -> None:
    for variable, value in zip(variables, wanted, strict=True):
        np.testing.assert_allclose(variable.numpy(), value, rtol=2e-6, atol=2e-6)


@pytest.mark.drawn(3)
@pytest.mark.parametrize("mode", ["eager", "compiled step", "compiled loop"])
@pytest.mark.parametrize("name", CASES)
def test_the_weights_are_those_of_optax(name: str, mode: str) -> None:
    make, rule = CASES[name]
    optimizer, weights = make(), [gx.Variable(value) for value in starts()]

    def update(step: Any) -> None:
        optimizer.apply_gradients(zip(gradient_of(weights, step), weights, strict=True))

    if mode == "compiled loop":
        optimizer.build(weights)

        @gx.function(unroll=False)
        def train() -> None:
            for step in range(STEPS):
                update(gx.astype(step, "float32"))

        train()
        assert {node.op.name for node in train.graph().nodes} & {"scan", "while"}
    else:
        run = gx.function(update) if mode == "compiled step" else update
        for step in range(STEPS):
            run(gx.asarray(float(step)))
    assert_close(weights, reference(rule))


def test_plain_sgd_is_one_node_whose_state_is_its_rate() -> None:
    w = gx.Variable([1.0, 2.0])
    optimizer = gx.optim.SGD(0.5)

    @gx.function
    def step(gradient: Any) -> None:
        optimizer.apply_gradients([(gradient, w)])

    step(gx.asarray([1.0, 1.0]))
    assert [v.item() for v in optimizer.variables] == [0.5]
    names = [node.op.name for node in step.graph(gx.asarray([1.0, 1.0])).nodes]
    assert names.count("optim.update") == 1
    assert {*names} == {"read_variable", "optim.update", "assign_variable"}
    assert w.tolist() == [0.5, 1.5]


def test_state_is_in_variables_that_are_not_trained() -> None:
    w, b = gx.Variable([1.0, 2.0]), gx.Variable(0.0)
    optimizer = gx.optim.Adam()
    optimizer.build([w, b])
    assert [(v.shape, v.dtype.name) for v in optimizer.variables] == [
        ((), "int32"), ((2,), "float32"), ((), "float32"), ((2,), "float32"), ((), "float32"), ((), "float32"),
    ]  # fmt: skip
    assert not any(v.trainable for v in optimizer.variables)
    assert all(v.name.startswith("adam/0/") for v in optimizer.variables[:-1])
    optimizer.apply_gradients([(gx.asarray([1.0, 1.0]), w), (1.0, b)])
    assert optimizer.variables[0].item() == 1


def test_a_hyperparameter_in_the_state_can_be_assigned() -> None:
    w = gx.Variable(0.0)
    optimizer = gx.optim.Optimizer(optax.inject_hyperparams(optax.sgd)(learning_rate=0.5))
    optimizer.build([w])
    rate = next(v for v in optimizer.variables if "learning_rate" in v.name)

    @gx.function
    def step() -> None:
        optimizer.apply_gradients([(1.0, w)])

    step()
    rate.assign(2.0)
    step()
    assert w.item() == -2.5
    assert step.num_traces == 1


def test_state_made_in_a_compiled_function() -> None:
    w = gx.Variable([1.0, 2.0])
    optimizer = gx.optim.Adam(0.1)

    @gx.function
    def step() -> Any:
        return optimizer.minimize(lambda: gx.sum(w * w), [w])

    assert step().item() == 5.0
    state = [id(v) for v in optimizer.variables]
    assert step().item() < 5.0
    assert [id(v) for v in optimizer.variables] == state
    assert optimizer.variables[0].item() == 2
    assert step.num_traces == 1


@pytest.mark.parametrize("compiled", [False, True])
def test_a_variable_without_gradient_stays_and_so_does_its_state(compiled: bool) -> None:
    make = lambda: gx.optim.Optimizer(optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(0.1, weight_decay=0.5)))  # noqa: E731
    alone, pair = gx.Variable([3.0, 4.0]), gx.Variable([3.0, 4.0])
    other = gx.Variable(7.0)
    first, second = make(), make()
    first.build([alone])
    second.build([other, pair])

    def step(gradient: Any) -> None:
        first.apply_gradients([(gradient, alone)])
        second.apply_gradients([(None, other), (gradient, pair)])

    run = gx.function(step) if compiled else step
    for _ in range(3):
        run(gx.asarray([30.0, 40.0]))
    assert other.item() == 7.0
    np.testing.assert_allclose(pair.numpy(), alone.numpy(), rtol=1e-6)
    means = [v for v in second.variables if v.shape == ()]
    assert [v.item() for v in means if v.dtype == np.float32] == [0.0, 0.0]


def test_the_order_of_the_variables_may_change() -> None:
    a, b = gx.Variable(1.0), gx.Variable([1.0, 1.0])
    c, d = gx.Variable(1.0), gx.Variable([1.0, 1.0])
    one, two = gx.optim.SGD(0.1, momentum=0.9), gx.optim.SGD(0.1, momentum=0.9)
    for step in range(3):
        ga, gb = gx.asarray(float(step)), gx.asarray([1.0, 2.0])
        one.apply_gradients([(ga, a), (gb, b)])
        two.apply_gradients([(ga, c), (gb, d)] if step % 2 else [(gb, d), (ga, c)])
    assert_close([a, b], [c.numpy(), d.numpy()])


def test_gradients_take_the_dtype_of_their_variable() -> None:
    w = gx.Variable([1.0, 2.0], dtype="bfloat16")
    optimizer = gx.optim.Adam(0.5)
    for _ in range(2):
        optimizer.apply_gradients([(gx.asarray([1.0, 1.0]), w)])
    assert w.dtype == jnp.bfloat16
    # Half of bfloat16's eight bits.
    np.testing.assert_allclose(w.numpy().astype("float32"), [0.0, 1.0], atol=0.02)


def test_minimize_returns_the_loss_and_converts_python_control_flow() -> None:
    w = gx.Variable(2.0)
    optimizer = gx.optim.SGD(0.25)

    def loss() -> Any:
        if w > 0:
            value = w * w
        else:
            value = -w
        return value

    @gx.function
    def step() -> Any:
        return optimizer.minimize(loss, [w])

    assert [step().item(), w.item()] == [4.0, 1.0]
    w.assign(-3.0)
    assert [step().item(), w.item()] == [3.0, -2.75]
    assert step.num_traces == 1


def test_minimize_watches_what_it_is_given() -> None:
    frozen, w = gx.Variable(3.0), gx.Variable(2.0, trainable=False)
    gx.optim.SGD(1.0).minimize(lambda: frozen * w, [w])
    assert [frozen.item(), w.item()] == [3.0, -1.0]


def test_gradients_are_averaged_over_replicas_in_one_call() -> None:
    calls: list[int] = []

    class Replica:
        num_replicas = 2

        def mean(self, tensors: Sequence[Any]) -> list[Any]:
            calls.append(len(tensors))
            return [tensor / 2.0 for tensor in tensors]

        def own_key(self, key: Any) -> Any:
            return key

    a, b, c = gx.Variable(1.0), gx.Variable([1.0, 1.0]), gx.Variable(1.0)
    with replica_scope(Replica()):
        gx.optim.SGD(1.0).apply_gradients([(gx.asarray(1.0), a), (gx.asarray([1.0, 2.0]), b), (None, c)])
    assert context.replica is None
    assert calls == [2]
    assert [a.item(), b.tolist(), c.item()] == [0.5, [0.5, 0.0], 1.0]


def test_data_parallel_steps_are_those_of_the_whole_batch() -> None:
    x = np.random.default_rng(0).normal(size=(16, 3)).astype("float32")
    results: list[list[Any]] = []
    for devices in (1, 4):
        gx.random.seed(5)
        parallel = gx.distribute.DataParallel(gx.devices()[:devices])
        with parallel.scope():
            model = gx.layers.Dense(2, in_features=3)
            optimizer = gx.optim.Adam(0.1)
            optimizer.build(model.trainable_variables)

        @parallel.function
        def step(x: Any, model: Any = model, optimizer: Any = optimizer) -> None:
            optimizer.minimize(lambda: gx.mean(gx.square(model(x))), model.trainable_variables)

        for _ in range(3):
            step(gx.asarray(x))
        results.append([variable.numpy() for variable in model.variables])
    for one, four in zip(*results, strict=True):
        np.testing.assert_allclose(one, four, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("options", [{}, {"loss_scale": "dynamic"}])
def test_minimize_takes_a_model_that_its_first_step_makes(compiled: bool, options: Any) -> None:
    losses: list[list[float]] = []
    for given in ("model", "function", "list"):
        gx.random.seed(0)
        model = gx.layers.Sequential([gx.layers.Dense(3), gx.layers.Dense(1)])
        optimizer = gx.optim.SGD(0.01, **options)
        if given == "list":
            model(gx.ones((4, 2)))

        def step(x: Any, given: str = given, model: Any = model, optimizer: Any = optimizer) -> Any:
            of = {"model": model, "function": lambda: model.trainable_variables, "list": model.trainable_variables}
            return optimizer.minimize(lambda: gx.mean((model(x) - 1.0) ** 2), of[given])

        function = gx.function(step)
        losses.append([(function if compiled else step)(gx.ones((4, 2))).item() for _ in range(3)])
        if compiled and given == "model":
            assert "first call created Variables, which exist now" in function.trace_report()[1].reason
    assert losses[0] == losses[1] == pytest.approx(losses[2], rel=1e-6)
    assert losses[0][2] < losses[0][0]


def test_minimize_without_variables_names_the_model() -> None:
    model = gx.layers.Dense(1)
    with pytest.raises(InvalidArgumentError, match=r"no variables.*call optimizer.minimize\(loss, model\)"):
        gx.optim.SGD(0.1).minimize(lambda: gx.sum(model(gx.ones((1, 2)))), model.trainable_variables)


W = gx.Variable([1.0, 2.0], name="weight")
B = gx.Variable(0.0, name="offset")


def _built() -> gx.optim.Optimizer:
    optimizer = gx.optim.SGD(0.1)
    optimizer.build([W])
    return optimizer


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (
            lambda: gx.optim.SGD(0.1).apply([gx.ones(2)], [W, B]),
            InvalidArgumentError,
            "sgd: 1 gradients were given for 2 variables",
        ),
        (
            lambda: gx.optim.SGD(0.1).apply_gradients([(gx.ones(3), W)]),
            InvalidArgumentError,
            r"the gradient of Variable 'weight' has shape \(3,\), the variable has shape \(2,\)",
        ),
        (
            lambda: gx.optim.SGD(0.1).apply_gradients([([1, 2], W)]),
            InvalidTypeError,
            r"the gradient of Variable 'weight' is i32\[2\], the variable is f32\[2\]",
        ),
        (
            lambda: gx.optim.SGD(0.1).apply_gradients([("g", W)]),  # pyright: ignore
            InvalidTypeError,
            "the gradient of Variable 'weight': .*'g'",
        ),
        (
            lambda: gx.optim.SGD(0.1).apply_gradients([(gx.ones(2), gx.ones(2))]),  # pyright: ignore
            InvalidTypeError,
            "optimizers update Variables, got Tensor.*gx.Variable",
        ),
        (
            lambda: gx.optim.SGD(0.1).apply_gradients([gx.ones(2)]),  # pyright: ignore
            InvalidTypeError,
            r"expected pairs as from zip\(gradients, variables\)",
        ),
        (
            lambda: gx.optim.SGD(0.1).apply_gradients([(None, W), (None, B)]),
            InvalidArgumentError,
            "the gradient of every variable \\('weight', 'offset'\\) is None",
        ),
        (lambda: gx.optim.SGD(0.1).apply([], []), InvalidArgumentError, "no variables were given"),
        (
            lambda: gx.optim.SGD(0.1).apply_gradients([(gx.ones(2), W), (gx.ones(2), W)]),
            InvalidArgumentError,
            "Variable 'weight' is given twice",
        ),
        (
            lambda: gx.optim.SGD(0.1).build([gx.Variable(1, name="count")]),
            InvalidTypeError,
            r"Variable 'count.*' is i32\[\]: only floating dtypes",
        ),
        (
            lambda: _built().apply_gradients([(gx.ones(2), W), (1.0, B)]),
            InvalidArgumentError,
            "not those that its state was made for: 'offset' is new",
        ),
        (lambda: _built().apply_gradients([(1.0, B)]), InvalidArgumentError, "'offset' is new; 'weight' is missing"),
        (
            lambda: gx.optim.SGD(0.1).minimize(B * B, [B]),  # pyright: ignore
            InvalidTypeError,
            "sgd: minimize takes a function of no arguments",
        ),
        (lambda: gx.optim.SGD(0.1).minimize(lambda: 1.0, [B]), InvalidTypeError, "the target must be a Tensor"),  # pyright: ignore
        (
            lambda: gx.optim.SGD(0.1).minimize(lambda: W.value() * 2.0, [B]),
            InvalidArgumentError,
            "the gradient of every variable \\('offset'\\) is None",
        ),
        (lambda: gx.optim.Optimizer(optax.sgd), InvalidTypeError, "expected an optax transformation such as"),  # pyright: ignore
        (
            lambda: gx.optim.SGD(gx.Variable(0.1)),
            InvalidTypeError,
            "sgd: learning_rate must be a Python number or an optax",
        ),  # pyright: ignore
        (lambda: gx.optim.Adam(0.1, b1="0.9"), InvalidTypeError, "adam: b1 must be a Python number, got str '0.9'"),  # pyright: ignore
    ],
)
def test_bad_input_is_refused_with_the_users_line_and_changes_nothing(
    call: Any, kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind, match=f"(?s){message}.*test_optimizer.py"):
        call()
    assert [W.tolist(), B.item()] == [[1.0, 2.0], 0.0]


def test_a_refused_first_update_makes_no_state() -> None:
    optimizer = gx.optim.Adam()
    with pytest.raises(InvalidArgumentError, match="has shape"):
        optimizer.apply_gradients([(gx.ones(3), W)])
    optimizer.build([B])
    assert len(optimizer.variables) == 4


def test_errors_in_a_compiled_function_are_the_same() -> None:
    optimizer = gx.optim.SGD(0.1)

    @gx.function
    def step(gradient: Any) -> None:
        optimizer.apply_gradients([(gradient, W)])

    with pytest.raises(InvalidArgumentError, match=r"(?s)the gradient of Variable 'weight' has shape \(3,\).*test_opt"):
        step(gx.ones(3))
    assert W.tolist() == [1.0, 2.0]


def test_a_rule_that_needs_more_than_gradients_says_so() -> None:
    w = gx.Variable([1.0, 2.0])
    optimizer = gx.optim.Optimizer(optax.scale_by_backtracking_linesearch(max_backtracking_steps=3))
    with pytest.raises(InvalidTypeError, match=r"(?s)optim.update.*value.*test_optimizer.py"):
        optimizer.apply_gradients([(gx.ones(2), w)])
    assert w.tolist() == [1.0, 2.0]


def test_variables_of_several_devices_are_updated_where_they_are() -> None:
    def trained(places: Sequence[str]) -> tuple[list[float], list[str], list[str]]:
        variables: list[gx.Variable] = []
        for place in places:
            with gx.device(place):
                variables.append(gx.Variable([1.0, 2.0]))
        optimizer = gx.optim.Adam(0.1)

        @gx.function
        def step(x: Any) -> Any:
            with gx.GradientTape() as tape:
                with gx.device(places[0]):
                    y = x * variables[0]
                with gx.device(places[1]):
                    loss = gx.sum((y * variables[1]) ** 2)
            optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
            return loss

        losses = [step(gx.asarray([0.5, -1.0])).item() for _ in range(4)]
        return losses, [v.device for v in variables], [v.device for v in optimizer.variables]

    spread, devices, state = trained(["cpu:1", "cpu:2"])
    alone, *_ = trained(["cpu:0", "cpu:0"])
    assert spread == pytest.approx(alone, rel=1e-5)
    assert devices == ["/device:CPU:1", "/device:CPU:2"]
    assert sorted(set(state)) == devices  # moments are with their variables, the count of steps with the first


def test_no_pairs_are_a_warning_that_is_given_once() -> None:
    optimizer = gx.optim.SGD(0.1)
    with pytest.warns(
        GraphcWarning, match=r"sgd: apply_gradients: no variables were given, .* make theirs at the first"
    ):
        optimizer.apply_gradients([])
    optimizer.apply_gradients(zip([], [], strict=True))
    assert optimizer.variables == []
