"""``gx.config.check_numerics`` and ``gx.check_numerics``: the first op that makes a NaN or an infinity is named."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc import Tensor
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError, NumericsError
from graphc.compiler.core import context
from graphc.training.distribute import DataParallel, all_mean

X = gx.asarray([1.0, 0.0, 2.0])
MODES = [pytest.param(lambda f: f, id="eager"), pytest.param(gx.function, id="compiled")]


@pytest.fixture
def checking() -> Iterator[None]:
    with gx.config.scope(check_numerics=True):
        yield


# What finds them is in the compiled program.
pytestmark = [pytest.mark.usefixtures("checking"), pytest.mark.xla]


def raised(call: Callable[[], Any]) -> str:
    with pytest.raises(NumericsError) as caught:
        call()
    assert isinstance(caught.value, InvalidArgumentError | FloatingPointError)
    return str(caught.value)


@pytest.mark.parametrize("make", MODES)
class TestBothModes:
    def test_the_op_its_line_and_what_it_made(self, make: Any) -> None:
        def f(x: Tensor) -> Tensor:
            y = x * 2
            z = gx.log(y)  # here
            return gx.sqrt(z)

        message = raised(lambda: make(f)(X))
        assert message.startswith("log")
        assert (
            "made 1 infinite of the 3 elements of its output 0, f32[3], of inputs (f32[3]) that are finite" in message
        )
        assert "z = gx.log(y)  # here" in message
        assert ("node 'log'" in message) == (make is gx.function)

    def test_what_is_finite_passes(self, make: Any) -> None:
        np.testing.assert_allclose(make(lambda x: gx.log(x + 1))(X).numpy(), np.log(X.numpy() + 1), rtol=1e-6)

    def test_what_was_not_finite_before_is_nobodys_fault(self, make: Any) -> None:
        given = gx.asarray([np.nan, np.inf])
        v = gx.Variable([np.nan])
        assert make(lambda x: (x * 2, v + 1, gx.full((2,), np.inf)))(given)[0].shape == (2,)

    def test_a_mask_passes_and_what_it_empties_does_not(self, make: Any) -> None:
        def f(x: Tensor, least: float) -> Tensor:
            return gx.nn.softmax(gx.where(x > least, x, -gx.inf))

        assert make(f)(X, 0.5).numpy().sum() == pytest.approx(1.0)
        assert "softmax" in (message := raised(lambda: make(f)(X, 5.0)))
        assert "3 NaN" in message
        assert "in which there is no NaN" in message

    def test_in_a_branch(self, make: Any) -> None:
        def f(x: Tensor) -> Tensor:
            if gx.sum(x) > 0:
                return x / (x - x)
            return x

        message = raised(lambda: make(f)(X))
        assert message.startswith("divide")
        assert "made 1 NaN and 2 infinite" in message
        assert make(f)(-X).shape == (3,)

    def test_in_a_gradient(self, make: Any) -> None:
        def f(x: Tensor) -> Tensor:
            with gx.GradientTape() as tape:
                tape.watch(x)
                y = gx.sqrt(x)
            return tape.gradient(y, x)

        message = raised(lambda: make(f)(X))
        assert message.startswith("the gradient of sqrt")
        assert "y = gx.sqrt(x)\n" in f"{message}\n"  # the line of the step forward
        assert "tape.gradient" not in message

    def test_in_a_loop(self, make: Any) -> None:
        def f(x: Tensor, n: Tensor) -> Tensor:
            y = x
            for _ in range(n):
                x = x - 1.0
                y = gx.sqrt(x)
            return y

        message = raised(lambda: make(f)(gx.asarray(3.5), gx.asarray(6)))
        assert message.startswith("sqrt")
        assert ("in iteration 4 of its loop" in message) == (make is gx.function)

    def test_in_the_test_of_a_loop(self, make: Any) -> None:
        def f(x: Tensor) -> Tensor:
            while gx.log(x) > -10.0:
                x = x - 1.0
            return x

        assert raised(lambda: make(f)(gx.asarray(3.0))).startswith("log")

    def test_python_that_gives_a_nan(self, make: Any) -> None:
        def worse(x: Tensor) -> float:
            return float("nan")

        def f(x: Tensor) -> Tensor:
            return gx.pyfunc(worse, gx.TensorSpec(()), x) + 1

        assert make is not gx.function or raised(lambda: make(f)(gx.asarray(1.0))).startswith("pyfunc.worse")

    def test_rows(self, make: Any) -> None:
        message = raised(lambda: make(lambda x: gx.vectorized_map(lambda r: gx.log(r) * 2, x))(X))
        assert message.startswith("log")
        assert "iteration" not in message

    def test_other_derivatives_work(self, make: Any) -> None:
        y = X + 1
        assert make(lambda x: gx.hessian(lambda x: gx.sum(x**3))(x))(y).shape == (3, 3)
        assert make(lambda x: gx.jvp(gx.log, (x,), (x,))[0])(y).shape == (3,)
        assert make(gx.custom_gradient(lambda x: (gx.log(x), lambda g: g * 2)))(y).shape == (3,)

    def test_the_function_that_is_called(self, make: Any) -> None:
        assert gx.to_jax(lambda x: gx.log(x), stateless=True)(X.numpy()).shape == (3,), (
            "JAX's functions are not looked at"
        )
        assert "log" in raised(lambda: make(gx.function(lambda x: gx.log(x)))(X))

    def test_check_numerics(self, make: Any) -> None:
        def f(x: Tensor) -> Tensor:
            return gx.check_numerics(x, "the loss") * 2

        assert make(f)(X).tolist() == [2.0, 0.0, 4.0]
        assert raised(lambda: make(f)(gx.asarray([1.0, np.nan]))).startswith(
            "the loss: the tensor of type f32[2] holds"
        )
        with pytest.raises(InvalidTypeError, match="expected floating or complex numbers, got i32"):
            make(f)(gx.asarray([1]))


def test_a_gradient_of_a_compiled_function() -> None:
    @gx.function
    def root(x: Tensor) -> Tensor:
        return gx.sum(gx.sqrt(x))

    assert raised(lambda: gx.grad(root)(X)).startswith("the gradient of root made 1 infinite")


def test_variables_stay_as_they_were() -> None:
    v = gx.Variable(1.0)

    @gx.function
    def step(x: Tensor) -> Tensor:
        v.assign(x)
        return gx.log(x - x)

    raised(lambda: step(gx.asarray(2.0)))
    assert v.numpy() == 1.0


def test_the_first_of_several() -> None:
    @gx.function
    def f(x: Tensor) -> Tensor:
        for _ in range(3):
            for j in range(3):
                if j > 0:
                    x = gx.sqrt(x - 1.5)
        return gx.log(x - x)

    message = raised(lambda: f(gx.asarray(9.0)))
    assert message.startswith("sqrt")


def test_a_function_knows_the_setting_and_goes_back() -> None:
    @gx.function(on_retrace="error")
    def f(x: Tensor) -> Tensor:
        return gx.log(x)

    raised(lambda: f(X))
    with gx.config.scope(check_numerics=False):
        assert np.isinf(f(X).numpy()).any()
        assert np.isinf(f(X).numpy()).any()
    raised(lambda: f(X))
    assert f.num_traces == 2
    assert "gx.config.check_numerics" in f.trace_report()[1].reason


def test_all_threads_and_nothing_when_off() -> None:
    assert not context.eager
    found: list[Any] = []

    def work() -> None:
        try:
            X / 0.0
        except NumericsError as error:
            found.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert len(found) == 1
    with gx.config.scope(check_numerics=False):
        assert context.eager
        assert "bad_values" not in str(gx.function(lambda x: gx.log(x)).graph(X))


def test_a_value_that_is_no_truth() -> None:
    with pytest.raises(InvalidArgumentError, match=r"gx\.config\.check_numerics: expected True or False, got 1"):
        gx.config.check_numerics = 1  # pyright: ignore[reportAttributeAccessIssue]


def test_data_parallel() -> None:
    parallel = DataParallel(["cpu:0", "cpu:1"])
    with parallel.scope():
        w = gx.Variable(1.0)

    @parallel.function
    def step(x: Tensor) -> Tensor:
        y = gx.log(x) * w
        w.assign_sub(all_mean(gx.mean(y)))
        for _ in range(2):
            y = y + 1.0
        return y

    step(gx.asarray([1.0, 2.0]))
    before = w.numpy()
    message = raised(lambda: step(gx.asarray([1.0, 0.0])))
    assert message.startswith("log")
    assert "y = gx.log(x) * w" in message
    assert w.numpy() == before
