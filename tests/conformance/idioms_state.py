"""Variables, random numbers, Python at run time, side effects."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

import graphc as gx
from tests.conformance.harness import f, i, program

VARIABLE = "Variables assigned in branches and loops"
RANDOM = "`gx.random` in branches and loops"
SPLIT = "`gx.random.Generator`: `split`, `fork`, `copy`, `reset`, keys for JAX"
PYFUNC = "`gx.pyfunc`"
EFFECT = "a Python side effect outside branches and loops"


def variable(*values: float) -> Any:
    """A thunk that makes a Variable."""
    return lambda: gx.Variable(values[0] if len(values) == 1 else list(values))


@program("state/assign in a branch", inputs=[(variable(1.0), f(2.0)), (variable(1.0), f(-2.0))], construct=VARIABLE)
def assign_in_branch(v: Any, x: Any) -> Any:
    if x > 0:
        v.assign(x * 2)
    else:
        v.assign_add(x)
    return v * 10


@program(
    "state/assign in one branch only", inputs=[(variable(1.0), f(2.0)), (variable(1.0), f(-2.0))], construct=VARIABLE
)
def assign_in_one(v: Any, x: Any) -> Any:
    before = v + 0
    if x > 0:
        v.assign_sub(x)
    return before, v.value()


@program(
    "state/assign in a loop", inputs=[(variable(0.0), f(1, 2, 3)), (variable(5.0), f(-1, 9, 3))], construct=VARIABLE
)
def assign_in_loop(v: Any, x: Any) -> Any:
    for value in x:
        v.assign(v * 0.5 + value)
        if v > 6:
            break
    return v.value()


@program("state/assign the rows of a loop", inputs=[(variable(*[0.0] * 8), f(2.0))], construct=VARIABLE)
def assign_rows(v: Any, x: Any) -> Any:
    rows = []
    for _ in range(8):
        x = x * 0.5 + 1
        rows.append(x)
    v.assign(gx.stack(rows))
    return x


@program("state/assign in a while loop", inputs=[(variable(100.0), i(3)), (variable(0.5), i(3))], construct=VARIABLE)
def assign_in_while(v: Any, n: Any) -> Any:
    while v > 1:
        v.assign(v / n)
    return v + 0


@program("state/assign in a range loop", inputs=[(variable(1.0), 40), (variable(2.0), 0)], construct=VARIABLE)
def assign_in_range(v: Any, n: int) -> Any:
    for k in range(n):
        v.assign_add(k * 0.5)
    return v * 1


@program(
    "state/two Variables, order of reads and writes",
    inputs=[(variable(1.0), variable(2.0), f(1.0)), (variable(1.0), variable(2.0), f(-1.0))],
    construct=VARIABLE,
)
def two_variables(a: Any, c: Any, x: Any) -> Any:
    old = a.value()
    a.assign(c + x)
    c.assign(old * 10)
    if a > 2:
        a.assign(c)
        c.assign_add(a)
    return a - c


@program(
    "state/early return before an assignment",
    inputs=[(variable(1.0), f(1.0)), (variable(1.0), f(-1.0))],
    construct=VARIABLE,
)
def return_before_assign(v: Any, x: Any) -> Any:
    if x < 0:
        return x
    v.assign_add(x)
    return v * 2


@program(
    "state/short circuit skips an assignment",
    inputs=[(variable(1.0), f(1.0)), (variable(1.0), f(-1.0))],
    construct=VARIABLE,
)
def short_circuit(v: Any, x: Any) -> Any:
    def bump() -> Any:
        v.assign_add(1)
        return v > 0

    if x > 0 and bump():
        x = x * 2
    return x, v.value()


@program("state/random in a range loop", inputs=[(f(1.0), 3), (f(2.0), 30)], construct=RANDOM, gradient=True)
def random_in_range(x: Any, n: int) -> Any:
    for _ in range(n):
        x = x * 0.9 + gx.random.normal(())
    return x


@program("state/random over a tensor", inputs=[(f(1, 2, 3),), (f(0, 0, -1),)], construct=RANDOM)
def random_over_tensor(x: Any) -> Any:
    draws = []
    for value in x:
        draws.append(gx.random.uniform((2,)) * value)  # noqa: PERF401
    return gx.stack(draws), gx.random.uniform(())


@program("state/random in one branch", inputs=[(f(1.0),), (f(-1.0),)], construct=RANDOM)
def random_in_branch(x: Any) -> Any:
    if x > 0:
        x = x + gx.random.normal(())
    return x, gx.random.normal(())


@program("state/random until", inputs=[(f(0.9),), (f(0.2),)], construct=RANDOM, python_numbers=True)
def random_until(limit: Any) -> Any:
    draws = 0
    while True:
        draws += 1
        if gx.random.uniform(()) > limit:
            break
    return draws, gx.random.uniform(())


@program("state/random walk with early exit", inputs=[(f(1.0),), (f(30.0),)], construct=RANDOM, python_numbers=True)
def random_walk(limit: Any) -> Any:
    position = gx.zeros(())
    for step in range(25):
        position = position + gx.random.normal(())
        if abs(position) > limit:
            return position, step
    return position, -1


@program("state/pyfunc", inputs=[(f(1, 2),), (f(-1, 5),)], construct=PYFUNC)
def pyfunc(x: Any) -> Any:
    y = gx.pyfunc(lambda v: np.asarray(v) * 3, x, x * 2)
    return y + 1


@program("state/pyfunc in order with print", inputs=[(f(1.0),), (f(-1.0),)], construct=PYFUNC)
def pyfunc_in_order(x: Any) -> Any:
    print("before", x)
    gx.pyfunc(lambda v: print("inside", float(v)), None, x)
    print("after")
    return x


@program("state/pyfunc in a branch and a loop", inputs=[(f(1, -1, 2),), (f(-1, -1, -1),)], construct=PYFUNC)
def pyfunc_in_loop(x: Any) -> Any:
    total = gx.zeros(())
    for value in x:
        if value > 0:
            total = total + gx.pyfunc(lambda v: np.float32(float(v) * 2), value, value)
    return total


_seen: list[Any] = []


@program(
    "state/append to an outer list", inputs=[(f(1.0), 2), (f(1.0), 3)], construct=EFFECT, outcome="runs at trace time"
)
def outer_append(x: Any, n: int) -> Any:
    _seen.append(n)
    return x * n


@program(
    "state/append a tensor to an outer list",
    inputs=[(f(1.0),)],
    construct="a tensor stored outside the function",
    refused=(gx.errors.GraphcError, "outlives the function"),
)
def outer_append_tensor(x: Any) -> Any:
    _seen.append(x * 2)
    return x


@program(
    "state/side effect in a branch",
    inputs=[(f(1.0),)],
    construct="a Python side effect in a branch or loop on tensors",
    refused=(gx.errors.UnimplementedError, "trace time|once"),
    known_gap="the message is about the items of the list",
)
def effect_in_branch(x: Any) -> Any:
    if x > 0:
        _seen.append("positive")
        x = x + 1
    return x


_calls = 0


@program(
    "state/global in a branch",
    inputs=[(f(1.0),)],
    construct="a Python side effect in a branch or loop on tensors",
    refused=(gx.errors.UnimplementedError, "_calls"),
)
def global_in_branch(x: Any) -> Any:
    global _calls
    if x > 0:
        _calls += 1
    return x * 2


@program(
    "state/side effect in a range loop",
    inputs=[(f(1.0), 3), (f(2.0), 2)],
    construct=EFFECT,
    outcome="runs at trace time",
)
def effect_in_range(x: Any, n: int) -> Any:
    log = []
    for k in range(n):
        _seen.append(k)
        log.append(f"step {k}")
        x = x + k
    return x, log


@program(
    "state/stop_gradient and custom_gradient",
    inputs=[(f(2.0),), (f(-2.0),)],
    construct="`gx.stop_gradient`, `gx.custom_gradient`",
    gradient=True,
)
def gradients_changed(x: Any) -> Any:
    @gx.custom_gradient
    def clipped(v: Any) -> Any:
        def backward(upstream: Any) -> Any:
            return gx.clip(upstream, -0.5, 0.5)

        return v * 3, backward

    if x > 0:
        return clipped(x) * x
    return gx.stop_gradient(x) * x


@program(
    "state/gradient inside",
    inputs=[(f(3.0),), (f(-3.0),)],
    construct="`gx.GradientTape` inside, in loops too",
    gradient=True,
)
def newton_by_tape(x: Any) -> Any:
    for _ in range(3):
        with gx.GradientTape() as tape:
            tape.watch(x)
            y = x * x - 2 if x > 0 else x * x - 3
        x = x - y / tape.gradient(y, x)
    return x


@program(
    "state/gx.grad of a function with a loop",
    inputs=[(f(0.5, 2),), (f(-0.5, 1),)],
    construct="`gx.grad`",
    gradient=True,
)
def grad_of_loop(x: Any) -> Any:
    def loss(v: Any) -> Any:
        total = gx.zeros(())
        for value in v:
            total = total + (value * value if value > 0 else -value)
        return total

    return gx.grad(loss)(x) * 2


@program("state/generator made inside", inputs=[(f(1.0), 3), (f(1.0), 4)], construct=RANDOM)
def generator_inside(x: Any, seed: int) -> Any:
    generator = gx.random.Generator(seed)
    return x * generator.normal(()), generator.uniform(())


@program("state/generator made inside, in a loop", inputs=[(f(1, 2, 3, 4, 5, 6),)], construct=RANDOM, gradient=True)
def generator_in_loop(x: Any) -> Any:
    generator, total = gx.random.Generator(3), 0.0
    for value in x:
        inner = gx.random.Generator(4)
        total = total + value * generator.normal() * (inner.normal() + inner.normal())
    return total, generator.normal()


@program("state/generator made inside, in a branch", inputs=[(f(1.0),), (f(-1.0),)], construct=RANDOM)
def generator_in_branch(x: Any) -> Any:
    generator = gx.random.Generator(3)
    if x > 0:
        x = x * generator.normal()
    while x < 10:
        x = x + generator.uniform()
    generator.seed(5)
    return x, generator.normal()


class _Noise:
    def __init__(self) -> None:
        self.generator: Any = None

    def draw(self, x: Any) -> Any:
        if self.generator is None:
            self.generator = gx.random.Generator(2)
        return x * self.generator.normal()


@program("state/generator made in the first call", inputs=[(_Noise, f(1.0))], construct=RANDOM)
def lazy_generator(noise: Any, x: Any) -> Any:
    return noise.draw(x), noise.draw(x)


@program(
    "state/generator made at every call and returned",
    inputs=[(f(1.0),)],
    construct="a random generator that is made in every call and outlives it",
    refused=(gx.errors.VariableCreationError, "makes a Generator that outlives the call again"),
)
def returned_generator(x: Any) -> Any:
    generator = gx.random.Generator(2)
    return x * generator.normal(), generator


class _Source:
    def __init__(self) -> None:
        self.generator = gx.random.Generator(2)


@program("state/generator split", inputs=[(_Source, f(1.0)), (_Source, f(-1.0))], construct=SPLIT, gradient=True)
def generator_split(source: Any, x: Any) -> Any:
    first, second = source.generator.split(2)
    third = source.generator.fork()
    if x > 0:
        x = x * first.normal()
    return x * second.normal(), third.uniform(), first.uniform(), source.generator.normal()


@program("state/generator split in a loop", inputs=[(_Source, f(1, 2, 3, 4, 5, 6))], construct=SPLIT)
def generator_split_in_loop(source: Any, x: Any) -> Any:
    total = 0.0
    for value in x:
        one, other = source.generator.split(2)
        total = total + value * one.normal() + other.uniform() + one.normal()
    while total < 20:
        total = total + gx.abs(source.generator.fork().normal())
    return total, source.generator.normal()


@program("state/generator split as keys are in JAX", inputs=[(f(1, 2, 3),)], construct=SPLIT)
def generator_rebound(x: Any) -> Any:
    generator = gx.random.Generator(1)
    drawn = []
    for value in x:
        generator, one = generator.split()
        drawn.append(value * one.normal())
    return drawn, generator.normal()


@program("state/generator of a seed that is a tensor", inputs=[(i(3),), (i(-4),)], construct=RANDOM)
def generator_of_tensor(seed: Any) -> Any:
    generator = gx.random.Generator.from_seed(seed)
    first, total = generator.normal(), 0.0
    for step in gx.arange(5):
        total = total + gx.random.Generator(step + seed).normal()
    generator.seed(seed)
    return first, total, generator.normal()


@program("state/generator of the index of a loop", inputs=[(f(1.0),)], construct=RANDOM)
def generator_of_index(x: Any) -> Any:
    for step in range(20):
        x = x + gx.random.Generator(step).normal()
    return x


@program("state/generator copied and put back", inputs=[(_Source, f(1.0)), (_Source, f(-1.0))], construct=SPLIT)
def generator_copied(source: Any, x: Any) -> Any:
    kept = source.generator.copy()
    state = source.generator.state.value()
    first, second = source.generator.normal(), kept.normal()
    if x > 0:
        source.generator.reset(state)
    third = source.generator.normal()
    again = gx.random.Generator.from_state(state)
    return first, second, third, again.normal(), kept.integers(10, shape=(3,))


@program("state/one of two generators", inputs=[(f(1.0),), (f(-1.0),)], construct=SPLIT)
def generator_chosen(x: Any) -> Any:
    one, other = gx.random.Generator(1), gx.random.Generator(2)
    chosen = one if x > 0 else other
    return chosen.normal(), one.normal(), other.normal()


@program("state/generator keys for JAX", inputs=[(_Source, f(1, 2, 3))], construct=SPLIT, gradient=True)
def generator_keys(source: Any, x: Any) -> Any:
    def noisy(x: Any, key: Any) -> Any:
        return x * jax.random.normal(key, x.shape)

    for _ in range(3):
        x = gx.call_jax(noisy, x, source.generator.key())
    return x, source.generator.uniform()


@program(
    "state/Variable made at every call",
    inputs=[(f(1.0),)],
    construct="a Variable made at every call",
    refused=(gx.errors.VariableCreationError, "makes a Variable again"),
)
def variable_inside(x: Any) -> Any:
    v = gx.Variable(1.0)
    v.assign_add(x)
    return v.value()


# --- custom gradients: when their gradient functions look, and what the functions do besides

CUSTOM = "`gx.custom_gradient` of a function that reads or changes state"


@program("state/custom gradient that reads what changes", inputs=[(f(1, 2), f(3, 4))], construct=CUSTOM)
def custom_reads(x: Any, w: Any) -> Any:
    u, items = x * 1, [x * 1]

    @gx.custom_gradient
    def double(v: Any) -> Any:
        return v * 2, lambda upstream: upstream * u * w * items[-1]

    with gx.GradientTape() as tape:
        tape.watch(x)
        y = double(x)
        u[0] = 10.0
        w[1] = 5.0
        items.append(x * 100)
        y = gx.sum(y)
    first = tape.gradient(y, x)
    u = x * 7
    return first, u


@program(
    "state/custom gradient that reads a Variable that changes",
    inputs=[(lambda: gx.Variable([1.0, 2.0]), f(1, 2))],
    construct=CUSTOM,
)
def custom_reads_variable(w: Any, x: Any) -> Any:
    @gx.custom_gradient
    def double(v: Any) -> Any:
        return v * 2, lambda upstream: upstream * w

    with gx.GradientTape() as tape:
        tape.watch(x)
        y = double(x)
        w.assign(w * 5)
        y = gx.sum(y)
    return tape.gradient(y, x)


@program(
    "state/custom gradient of a function that assigns a Variable",
    inputs=[(lambda: gx.Variable(1.0), f(1, 2))],
    construct=CUSTOM,
)
def custom_assigns(v: Any, x: Any) -> Any:
    @gx.custom_gradient
    def scaled(u: Any) -> Any:
        v.assign_add(1.0)
        return u * v * gx.random.normal(()), lambda upstream: upstream * 2

    with gx.GradientTape() as tape:
        tape.watch(x)
        y = gx.sum(scaled(x) + scaled(x))
    return y, tape.gradient(y, x), v.value(), gx.random.normal(())


@program(
    "state/custom gradient of a function that raises", inputs=[(f(1, 2),), (f(-1, 2),)], construct=CUSTOM, gradient=True
)
def custom_raises(x: Any) -> Any:
    @gx.custom_gradient
    def double(u: Any) -> Any:
        if u[0] < 0:
            raise ValueError("negative")
        return u * 2, lambda upstream: upstream * 3

    return double(x)


@program(
    "state/gradient function that assigns a Variable",
    inputs=[(lambda: gx.Variable(1.0), f(1, 2))],
    construct="a gradient function of `gx.custom_gradient` with an effect",
    refused=(gx.errors.UnimplementedError, "the gradient function of 'double' assigns the Variable.*may only compute"),
)
def custom_pull_assigns(v: Any, x: Any) -> Any:
    @gx.custom_gradient
    def double(u: Any) -> Any:
        def pull(upstream: Any) -> Any:
            v.assign_add(1.0)
            return upstream * 2

        return u * 2, pull

    return double(x)


@program(
    "state/gradient function that prints",
    inputs=[(f(1, 2),)],
    construct="a gradient function of `gx.custom_gradient` with an effect",
    refused=(gx.errors.UnimplementedError, "the gradient function of 'double' prints.*may only compute"),
)
def custom_pull_prints(x: Any) -> Any:
    @gx.custom_gradient
    def double(u: Any) -> Any:
        def pull(upstream: Any) -> Any:
            print(upstream)
            return upstream * 2

        return u * 2, pull

    return double(x)
