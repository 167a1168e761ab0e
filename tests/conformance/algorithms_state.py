"""State in classes, dicts, lists and dataclasses; machines, recursion, polynomials."""

# ruff: noqa: SIM905  the programs are as people write them at first

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import graphc as gx
from graphc import Tensor
from tests.conformance import harness
from tests.conformance.harness import f as floats
from tests.conformance.harness import i as ints

program = partial(harness.program, construct="whole algorithms")


class Welford:
    """Mean and variance in one pass."""

    def __init__(self) -> None:
        self.count = 0
        self.mean: Any = 0.0
        self.m2: Any = 0.0

    def add(self, value: Tensor) -> None:
        self.count += 1
        delta = value - self.mean
        self.mean += delta / self.count
        self.m2 += delta * (value - self.mean)

    @property
    def variance(self) -> Any:
        return self.m2 / self.count if self.count > 1 else 0.0


@program("state/welford", inputs=[(floats(1.0, 2.0, 4.0),), (floats([5.0]),)], gradient=True, python_numbers=True)
def welford(x: Tensor) -> Any:
    statistics = Welford()
    for value in x:
        statistics.add(value)
    return statistics.mean, statistics.variance


@program(
    "state/welford_without_outliers",
    inputs=[(floats(1.0, 2.0, 40.0, 3.0),), (floats(50.0, 60.0, 1.0, 70.0),)],
    python_numbers=True,
)
def welford_without_outliers(x: Tensor) -> Any:
    statistics = Welford()
    for value in x:
        if value < 10:
            statistics.add(value)
    return statistics.count, statistics.mean, statistics.m2


@program("state/stack_machine", inputs=[(floats(2.0), floats(3.0)), (floats(-1.0), floats(4.0))], gradient=True)
def stack_machine(a: Tensor, b: Tensor) -> Tensor:
    """Reverse Polish notation over a static program."""
    stack = []
    for token in "a b + a * b b * -".split():
        match token:
            case "a":
                stack.append(a)
            case "b":
                stack.append(b)
            case "+" | "*" | "-" as symbol:
                right, left = stack.pop(), stack.pop()
                if symbol == "+":
                    stack.append(left + right)
                elif symbol == "*":
                    stack.append(left * right)
                else:
                    stack.append(left - right)
    assert len(stack) == 1
    return stack[0]


@program(
    "state/tensor_stack_machine",
    inputs=[(ints(1, 5, 1, 3, 2, 0),), (ints(1, 5, 1, 3, 3, 0),), (ints(0, 0, 0, 0, 0, 0),)],
    python_numbers=True,
)
def tensor_stack_machine(code: Tensor) -> Any:
    """The code is data: 1 n pushes n, 2 adds, 3 multiplies, 0 halts."""
    stack = gx.zeros(6, dtype="int32")
    top, pc = 0, 0
    while pc < len(code):
        op = code[pc]
        pc += 1
        match op:
            case 0:
                break
            case 1:
                stack[top] = code[pc]
                top += 1
                pc += 1
            case 2:
                stack[top - 2] += stack[top - 1]
                top -= 1
            case 3:
                stack[top - 2] *= stack[top - 1]
                top -= 1
            case _:
                pc = len(code)
    return stack, top


@program("state/queue_by_list", inputs=[(floats(1.0, 2.0, 3.0),), (floats(-1.0, 5.0, 0.0),)], python_numbers=True)
def queue_by_list(x: Tensor) -> Any:
    """Round robin: each job goes back until its time is used up."""
    queue = [(i, x[i]) for i in range(3)]
    order = []
    for _ in range(5):
        i, left = queue.pop(0)
        order.append(i)
        queue.append((i, gx.maximum(left - 1.0, 0.0)))
    return order, [left for _, left in queue]


@program("state/ring_buffer", inputs=[(floats(1.0, 2.0, 3.0, 4.0, 5.0),), (floats([9.0]),)], python_numbers=True)
def ring_buffer(x: Tensor) -> Any:
    buffer, head = gx.zeros(3), 0
    for value in x:
        buffer[head] = value
        head = (head + 1) % 3
    return buffer, head


@dataclass
class Account:
    balance: Any
    rejected: Any = 0
    log: list[Any] = field(default_factory=list)

    def apply(self, amount: Tensor) -> None:
        if self.balance + amount >= 0:
            self.balance = self.balance + amount
        else:
            self.rejected = self.rejected + 1
        self.log.append(self.balance)


@program(
    "state/account",
    inputs=[(floats(5.0, -3.0, -4.0, 1.0),), (floats(-1.0, -1.0, -1.0, -1.0),)],
    gradient=True,
    python_numbers=True,
)
def account(amounts: Tensor) -> Any:
    holder = Account(gx.asarray(0.0))
    for amount in amounts:
        holder.apply(amount)
    return holder.balance, holder.rejected, gx.stack(holder.log)


@dataclass(frozen=True)
class Light:
    colour: Any
    timer: Any


@program("state/traffic_light", inputs=[(ints(3),), (ints(7),), (ints(0),)], python_numbers=True)
def traffic_light(ticks: Tensor) -> Any:
    """A frozen dataclass that every tick replaces; 0 red, 1 green, 2 yellow."""
    light = Light(colour=0, timer=2)
    for _ in range(ticks):
        if light.timer > 0:
            light = replace(light, timer=light.timer - 1)
        elif light.colour == 0:
            light = Light(1, 3)
        elif light.colour == 1:
            light = Light(2, 1)
        else:
            light = Light(0, 2)
    return light.colour, light.timer


class Particle(NamedTuple):
    x: Any
    v: Any


@program("state/named_tuple", inputs=[(floats(1.0), floats(-0.5)), (floats(0.0), floats(1.0))], gradient=True)
def named_tuple_state(x: Tensor, v: Tensor) -> Any:
    p = Particle(x, v)
    while p.x < 3 and p.x > -3:
        p = p._replace(x=p.x + p.v * 0.5, v=p.v * 1.1)
    return p


@program(
    "state/tokenizer",
    inputs=[(ints(1, 2, 10, 11, 3, 10),), (ints(10, 10, 10, 10, 10, 10),), (ints(4, 4, 12, 4, 4, 4),)],
    python_numbers=True,
)
def tokenizer(characters: Tensor) -> Any:
    """Digits make numbers, 10 is a blank, 11 a sign, anything above an error."""
    state = "start"
    value, total, sign = 0, 0, 1
    for c in characters:
        if c < 10:
            value = value * 10 + c
        elif c == 10:
            total, value, sign = total + sign * value, 0, 1
        elif c == 11:
            sign = -1
        else:
            return -1, state
    return total + sign * value, state


@program(
    "state/match_states", inputs=[(ints(1, 1, 0, 1),), (ints(0, 0, 0, 0),), (ints(1, 0, 1, 0),)], python_numbers=True
)
def match_states(bits: Tensor) -> Any:
    """Finds 1 0 1 by an automaton."""
    state, found = 0, 0
    for bit in bits:
        match state:
            case 0:
                state = 1 if bit == 1 else 0
            case 1:
                state = 1 if bit == 1 else 2
            case _:
                if bit == 1:
                    found += 1
                    state = 1
                else:
                    state = 0
    return state, found


@program(
    "state/brackets", inputs=[(ints(1, 1, -1, -1),), (ints(1, -1, -1, 1),), (ints(1, 1, 1, 1),)], python_numbers=True
)
def brackets(tokens: Tensor) -> Any:
    depth, deepest = 0, 0
    for i, token in enumerate(tokens):
        depth += token
        deepest = max(deepest, depth)
        if depth < 0:
            return False, i
    return depth == 0, deepest


@program("state/dict_state", inputs=[(floats(1.0), 4), (floats(-2.0), 7)], gradient=True, python_numbers=True)
def dict_state(x: Tensor, n: int) -> Any:
    state = {"x": x, "history": {"sum": gx.asarray(0.0), "last": x}, "steps": 0}
    for _ in range(n):
        if state["x"] > 0:
            state["x"] = state["x"] * 0.5 - 0.1
        else:
            state["x"] = state["x"] * -1.5
        state["history"]["sum"] += state["x"]
        state["history"]["last"] = state["x"]
        state["steps"] += 1
    return state


@program("state/counter_closure", inputs=[(floats(1.0, -2.0, 3.0),), (floats(-1.0, -1.0, -1.0),)], python_numbers=True)
def counter_closure(x: Tensor) -> Any:
    positive, total = 0, 0.0

    def visit(value: Tensor) -> None:
        nonlocal positive, total
        if value > 0:
            positive += 1
        total += value

    for value in x:
        visit(value)
    return positive, total


@program("state/tree_sum", inputs=[(floats(1.0, 2.0, 3.0, 4.0, 5.0),), (floats(-1.0, 0.5),)], gradient=True)
def tree_sum(x: Tensor) -> Tensor:
    if x.shape[0] == 1:
        return x[0]
    middle = x.shape[0] // 2
    left, right = tree_sum(x[:middle]), tree_sum(x[middle:])
    if left > right:
        return left + 0.5 * right
    return right + 0.5 * left


@program(
    "state/closest_pair", inputs=[(floats(4.0, 1.0, 9.0, 8.5),), (floats(0.0, 0.0, 5.0, 9.0),)], python_numbers=True
)
def closest_pair(x: Tensor) -> Any:
    best, pair = float("inf"), (0, 0)
    for i in range(len(x)):
        for j in range(i + 1, len(x)):
            if abs(x[i] - x[j]) < best:
                best, pair = abs(x[i] - x[j]), (i, j)
    return best, pair


@program("state/fft", inputs=[(floats(1.0, 2.0, 3.0, 4.0),), (floats(1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0),)])
def fft(x: Tensor) -> Tensor:
    """Radix 2, in real and imaginary parts."""

    def transform(re: Tensor, im: Tensor) -> tuple[Tensor, Tensor]:
        n = re.shape[0]
        if n == 1:
            return re, im
        (er, ei), (dr, di) = transform(re[::2], im[::2]), transform(re[1::2], im[1::2])
        angle = -2 * 3.14159265 * gx.arange(n // 2) / n
        c, s = gx.cos(angle), gx.sin(angle)
        tr, ti = c * dr - s * di, c * di + s * dr
        return gx.concat([er + tr, er - tr]), gx.concat([ei + ti, ei - ti])

    real, imaginary = transform(x, gx.zeros_like(x))
    return gx.stack([real, imaginary])


@program(
    "state/horner", inputs=[(floats(1.0, -3.0, 2.0), floats(3.0)), (floats(0.0, 0.0, 5.0), floats(1.0))], gradient=True
)
def horner(coefficients: Tensor, x: Tensor) -> Tensor:
    result = 0.0
    for c in coefficients:
        result = result * x + c
    return result


@program("state/polynomial_product", inputs=[(floats(1.0, 2.0), floats(3.0, 0.0, 1.0))], gradient=True)
def polynomial_product(p: Tensor, q: Tensor) -> Tensor:
    product = [0.0] * (len(p) + len(q) - 1)
    for i, a in enumerate(p):
        for j, b in enumerate(q):
            product[i + j] += a * b
    return gx.stack(product)


@program("state/trapezoid", inputs=[(floats(0.0), floats(1.0), 8), (floats(1.0), floats(3.0), 5)], gradient=True)
def trapezoid(a: Tensor, b: Tensor, n: int) -> Tensor:
    h = (b - a) / n
    total = (gx.exp(a) + gx.exp(b)) / 2
    for i in range(1, n):
        total += gx.exp(a + i * h)
    return total * h


@program("state/simpson", inputs=[(floats(0.0), floats(2.0), 6), (floats(0.0), floats(2.0), 5)], gradient=True)
def simpson(a: Tensor, b: Tensor, n: int) -> Tensor:
    if n % 2:
        n += 1
    h = (b - a) / n
    total = gx.sin(a) + gx.sin(b)
    for i in range(1, n):
        weight = 4 if i % 2 else 2
        total = total + weight * gx.sin(a + i * h)
    return total * h / 3


@program(
    "state/adaptive_integration", inputs=[(floats(0.01), floats(1.0)), (floats(0.5), floats(1.0))], python_numbers=True
)
def adaptive_integration(a: Tensor, b: Tensor) -> Any:
    """Doubles the number of intervals until two estimates agree."""
    n, previous = 1, 0.0
    while True:
        h = (b - a) / n
        estimate = 0.0
        for i in range(n):
            estimate = estimate + h / (a + (i + 0.5) * h)
        if abs(estimate - previous) < 1e-2 or n >= 64:
            return estimate, n
        previous = estimate
        n *= 2
