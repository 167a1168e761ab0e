"""What the named optimizers share: rates that are assigned, clipping by norm, loss scales; averages of weights."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import optax
import pytest

import graphc as gx
from graphc.compiler.base.errors import (
    FailedPreconditionError,
    InvalidArgumentError,
    InvalidTypeError,
    UnimplementedError,
)
from graphc.training.optim import remade
from graphc.training.optim.by_name import rules


def halve(count: Any) -> Any:
    return 1.0 / 2.0**count


def test_the_learning_rate_is_read_and_assigned_without_a_new_trace() -> None:
    w = gx.Variable(0.0)
    optimizer = gx.optim.SGD(0.5)
    assert optimizer.learning_rate == 0.5
    optimizer.learning_rate = 0.25
    optimizer.build([w])

    @gx.function
    def step() -> Any:
        optimizer.apply_gradients([(1.0, w)])
        return optimizer.learning_rate

    assert step() == optimizer.learning_rate == 0.25
    optimizer.learning_rate = optimizer.learning_rate * 8
    assert (step(), w.item()) == (2.0, -2.25)
    assert step.num_traces == 1

    @gx.function
    def decayed(factor: Any) -> None:
        optimizer.learning_rate = optimizer.learning_rate * factor

    decayed(gx.asarray(0.5))
    assert optimizer.learning_rate == 1.0
    assert gx.optim.SGD(0.5).learning_rate == 0.5  # equal optimizers share their programs, not their rates


def test_a_schedule_is_read_and_not_assigned() -> None:
    optimizer, w = gx.optim.Adam(halve), gx.Variable(1.0)
    assert optimizer.learning_rate == 1.0
    optimizer.apply_gradients([(1.0, w)])
    assert optimizer.learning_rate == 0.5
    with pytest.raises(UnimplementedError, match=r"(?s)adam: the learning rate follows a schedule.*test_named.py"):
        optimizer.learning_rate = 1.0


def test_each_gradient_is_clipped_to_its_own_norm() -> None:
    a, b = gx.Variable([0.0, 0.0]), gx.Variable([0.0, 0.0])
    gx.optim.SGD(1.0, clipnorm=1.0).apply([gx.asarray([30.0, 40.0]), gx.asarray([0.3, 0.0])], [a, b])
    np.testing.assert_allclose([a.numpy(), b.numpy()], [[-0.6, -0.8], [-0.3, 0.0]], rtol=1e-6)
    zero = gx.Variable([1.0])
    gx.optim.SGD(1.0, clipnorm=1.0).apply([gx.asarray([0.0])], [zero])
    assert zero.tolist() == [1.0]


@pytest.mark.parametrize("devices", [1, 4])
def test_a_step_with_gradients_that_are_not_finite_changes_nothing_on_any_device(devices: int) -> None:
    parallel = gx.distribute.DataParallel(gx.devices()[:devices])
    with parallel.scope():
        w = gx.Variable([1.0, 2.0])
        optimizer = gx.optim.Adam(0.1, loss_scale="dynamic")
        optimizer.build([w])

    @parallel.function
    def step(x: Any) -> Any:
        return gx.distribute.all_mean(optimizer.minimize(lambda: gx.mean(w * x), [w]))

    state = optimizer.named_variables()
    step(gx.ones((4, 2)))
    before = {name: variable.tolist() for name, variable in state.items()}
    weights = w.tolist()
    x = np.ones((4, 2), "float32")
    x[1, 1] = np.inf  # only one replica sees it
    step(gx.asarray(x))
    assert w.tolist() == weights
    assert (before.pop("2/loss_scale"), before.pop("2/finite_steps")) == (2.0**15, 1)
    assert {name: state[name].tolist() for name in before} == before
    assert (state["2/loss_scale"].item(), state["2/finite_steps"].item()) == (2.0**14, 0)
    step(gx.ones((4, 2)))
    plain, other = gx.Variable([1.0, 2.0]), gx.optim.Adam(0.1)
    for _ in range(2):
        other.minimize(lambda: gx.mean(plain * gx.ones((4, 2))), [plain])
    np.testing.assert_allclose(w.numpy(), plain.numpy(), rtol=1e-6)


def test_a_loss_scale_saves_gradients_that_half_precision_would_lose() -> None:
    def trained(scale: float | None) -> float:
        w = gx.Variable(1.0)
        optimizer = gx.optim.SGD(1.0, loss_scale=scale)
        small = lambda: gx.astype(gx.astype(w, "float16") * 2.0**-20, "float32") * 2.0**-10  # noqa: E731
        loss = optimizer.minimize(small, [w])
        assert loss.item() == 2.0**-30  # not scaled
        return 1.0 - w.item()

    assert trained(None) == 0.0
    assert trained(2.0**15) == 0.0  # 2**-30 is less than a float32 can take off 1
    with pytest.raises(FailedPreconditionError, match=r"sgd: scale_loss: there is no state yet; call optimizer.build"):
        gx.optim.SGD(1.0, loss_scale="dynamic").scale_loss(gx.asarray(1.0))


def test_a_scale_grows_after_steps_that_were_all_finite() -> None:
    optimizer, w = gx.optim.SGD(0.0, loss_scale="dynamic"), gx.Variable(1.0)
    optimizer.build([w])
    state = optimizer.named_variables()
    name = next(name for name in state if name.endswith("finite_steps"))
    optimizer.load_state_dict({name: 1999}, strict=False)
    optimizer.apply_gradients([(1.0, w)])
    assert sorted(variable.item() for variable in state.values()) == [0.0, 0, 2.0**16]


GIVEN: dict[str, Any] = {"lbfgs": {"linesearch": None}, "noisysgd": {"eta": 0.01, "gamma": 0.5, "key": 0}}


@pytest.mark.drawn(3)
@pytest.mark.parametrize("name", sorted({*rules()} - {"optimisticadam"}))  # optax deprecates that one
def test_any_optimizer_of_optax_is_there_by_its_name(name: str) -> None:
    given = GIVEN.get(name, {})
    weights = [gx.Variable([1.0, 2.0]), gx.Variable([[3.0, -1.0]])]
    optimizer = getattr(gx.optim, name)(0.125, **given)
    rule = rules()[name](0.125, **given)
    params = [weight.raw for weight in weights]
    state = rule.init(params)
    if name == "rmsprop":  # graphc's own has Keras's eps
        rule = optax.rmsprop(0.125, eps=1e-7)
    step = gx.function(lambda: optimizer.minimize(lambda: gx.sum(weights[0] ** 2) + gx.sum(weights[1] ** 4), weights))
    for _ in range(3):
        step()
        gradients = [2 * params[0], 4 * params[1] ** 3]
        changes, state = rule.update(gradients, state, params)
        params = optax.apply_updates(params, changes)
    assert step.num_traces == 1
    for weight, param in zip(weights, params, strict=True):
        np.testing.assert_allclose(weight.numpy(), param, rtol=2e-5, atol=1e-6)
    restored = pickle.loads(pickle.dumps(optimizer))
    assert type(restored) is type(optimizer)


def test_optimizers_by_name_take_rates_schedules_and_the_options_of_all() -> None:
    assert gx.optim.Lion is gx.optim.lion is gx.optim.LION
    assert gx.optim.Adam is gx.optim.adam
    with pytest.raises(AttributeError, match=r"gx.optim has no 'ScaleByAdam'"):  # its steps would go uphill
        gx.optim.ScaleByAdam  # noqa: B018
    w = gx.Variable(1.0)
    optimizer = gx.optim.Lion(0.5, 0.8, b2=0.7, clipnorm=1.0, weight_decay=0.25)
    optimizer.learning_rate = 0.25
    optimizer.apply_gradients([(3.0, w)])
    assert (w.item(), optimizer.learning_rate) == (pytest.approx(1.0 - 0.25 - 0.25 * 0.25), 0.25)
    assert remade(optimizer.transformation) == optimizer.transformation
    assert gx.optim.Lion(halve).learning_rate == 1.0
    first, second = (gx.optim.LBFGS(0.1, linesearch=None, memory_size=size).transformation for size in (3, 4))
    assert first != second


@pytest.mark.parametrize("compiled", [False, True])
def test_averages_follow_the_weights(compiled: bool) -> None:
    weights = [gx.Variable([1.0, 2.0]), gx.Variable(3.0)]
    optimizer, ema = gx.optim.SGD(0.5), gx.optim.ExponentialMovingAverage(0.9)

    def step(gradient: Any) -> None:
        optimizer.apply([gradient, 1.0], weights)
        ema.update(weights)

    run = gx.function(step) if compiled else step
    seen: list[Any] = []
    for number in range(4):
        run(gx.asarray([1.0, float(number)]))
        seen.append(weights[0].numpy())
    wanted = seen[0]
    for value in seen[1:]:
        wanted = 0.9 * wanted + 0.1 * value
    np.testing.assert_allclose(ema.variables[0].numpy(), wanted, rtol=1e-6)
    with ema.applied():
        assert weights[0].tolist() == ema.variables[0].tolist()
    assert weights[0].tolist() == seen[-1].tolist()

    def evaluate(x: Any) -> Any:
        if x > 0:
            with ema.applied():
                return x * weights[0]
        return x * 0 + weights[0]

    for x, expected in (1.0, ema.variables[0]), (-1.0, weights[0]):
        result = (gx.function(evaluate) if compiled else evaluate)(gx.asarray(x))
        np.testing.assert_array_equal(result.numpy(), expected.numpy())
    assert weights[0].tolist() == seen[-1].tolist()
    other = gx.optim.ExponentialMovingAverage(0.9)
    other.build(weights)
    other.load_state_dict(ema.state_dict())
    assert other.variables[1].item() == ema.variables[1].item()


W = gx.Variable([1.0, 2.0], name="followed")


def _rate_in_a_trace() -> None:
    optimizer = gx.optim.SGD(0.1)
    gx.function(lambda: optimizer.learning_rate)()


def _followed_before() -> None:
    ema = gx.optim.ExponentialMovingAverage(0.5)
    ema.update([W])
    ema.update([gx.Variable(1.0)])


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (
            lambda: gx.optim.SGD(0.1, clip=1.0),
            InvalidTypeError,
            "sgd: there is no option 'clip'; there are learning_rate.* clipvalue",
        ),  # pyright: ignore
        (lambda: gx.optim.SGD(0.1, clipnorm="1"), InvalidTypeError, "sgd: clipnorm must be a Python number, got str"),  # pyright: ignore
        (
            lambda: gx.optim.SGD(0.1, clipvalue=True),
            InvalidTypeError,
            "sgd: clipvalue must be a Python number, got bool",
        ),
        (lambda: gx.optim.SGD(0.1, loss_scale="x"), InvalidTypeError, "sgd: loss_scale must be a Python number"),  # pyright: ignore
        (_rate_in_a_trace, FailedPreconditionError, "sgd: the learning rate in a compiled function before the optim"),
        (lambda: gx.optim.ExponentialMovingAverage(1.0), InvalidArgumentError, "ema: decay must be a number between 0"),
        (
            lambda: gx.optim.Adam(beta_1=0.9),
            InvalidTypeError,
            "adam: there is no option 'beta_1'; it is b1 here; there",
        ),
        (
            lambda: gx.optim.Lion(0.1, betas=0),
            InvalidTypeError,
            "'betas'; it is b1 and b2 here; there are learning_rat",
        ),
        (lambda: gx.optim.Lion(), InvalidTypeError, r"lion: there is no learning_rate; write gx.optim.Lion\(0.001\)"),
        (lambda: gx.optim.Lion(0.1, b1="x"), InvalidTypeError, "lion: b1 must be a Python number, got str 'x'"),
        (lambda: gx.optim.LBFGS(), UnimplementedError, r"needs more than gradients.*LBFGS\(0.1, linesearch=None\)"),
        (lambda: gx.optim.ExponentialMovingAverage().update([]), InvalidArgumentError, "no variables were given"),
        (_followed_before, InvalidArgumentError, "ema: the variables are not those that it follows"),
        (
            lambda: gx.optim.ExponentialMovingAverage().applied().__enter__(),
            FailedPreconditionError,
            "ema: applied: there are no averages yet; call update before",
        ),
    ],
)
def test_bad_input_is_refused_with_the_users_line(call: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=f"(?s){message}.*test_named.py"):
        call()


def test_a_schedule_of_optax_is_a_learning_rate() -> None:
    optimizer, w = gx.optim.SGD(optax.cosine_decay_schedule(1.0, 2)), gx.Variable(0.0)
    for _ in range(3):
        optimizer.apply_gradients([(1.0, w)])
    assert w.item() == pytest.approx(-1.5)


def test_a_loss_scale_may_be_more_than_half_precision_holds() -> None:
    w = gx.Variable(gx.asarray(1.0, "float16"))
    gx.optim.SGD(1.0, loss_scale=2.0**17).minimize(lambda: gx.astype(w, "float32") * 0.125, [w])
    assert w.item() == 0.875
