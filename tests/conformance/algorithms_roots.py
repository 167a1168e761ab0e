"""Finding roots, fixed points and minima: loops that end when the numbers say so."""

# ruff: noqa: B007  the programs are as people write them at first

from __future__ import annotations

from functools import partial
from typing import Any

import graphc as gx
from graphc import Tensor
from tests.conformance import harness
from tests.conformance.harness import f as floats

program = partial(harness.program, construct="whole algorithms")


@program(
    "roots/newton_early_exit",
    inputs=[(floats(2.0),), (floats(9.0),), (floats(0.0),)],
    gradient=True,
    python_numbers=True,
)
def newton_early_exit(a: Tensor) -> Any:
    """The square root; stops at the first step that changes little."""
    x = a + 1.0
    for step in range(50):
        new = 0.5 * (x + a / x)
        if abs(new - x) < 1e-6 * new:
            return new, step
        x = new
    return x, 50


@program("roots/newton_for_else", inputs=[(floats(3.0), 20), (floats(3.0), 2)], python_numbers=True)
def newton_for_else(a: Tensor, limit: int) -> Any:
    x = a
    for _ in range(limit):
        delta = (x * x - a) / (2 * x)
        x = x - delta
        if abs(delta) < 1e-4:
            status = 1
            break
    else:
        status = -1
    return x, status


@program("roots/newton_with_tape", inputs=[(floats(1.5),), (floats(-2.0),)])
def newton_with_tape(x: Tensor) -> Tensor:
    """The derivative comes from a tape that is opened in every step."""
    for _ in range(8):
        with gx.GradientTape() as tape:
            tape.watch(x)
            y = x**3 - 2 * x - 5
        slope = tape.gradient(y, x)
        x = x - y / slope
    return x


@program("roots/newton_system", inputs=[(floats(1.0, 1.0),), (floats(2.0, 0.5),)], gradient=True)
def newton_system(v: Tensor) -> Tensor:
    """x**2 + y**2 = 4, x * y = 1."""
    for _ in range(20):
        x, y = v[0], v[1]
        residual = gx.stack([x * x + y * y - 4.0, x * y - 1.0])
        if gx.max(gx.abs(residual)) < 1e-5:
            break
        jacobian = gx.stack([gx.stack([2 * x, 2 * y]), gx.stack([y, x])])
        v = v - gx.linalg.solve(jacobian, residual)
    return v


@program(
    "roots/bisection",
    inputs=[(floats(0.0), floats(2.0)), (floats(-3.0), floats(1.0)), (floats(5.0), floats(6.0))],
    python_numbers=True,
)
def bisection(low: Tensor, high: Tensor) -> Any:
    def f(x: Tensor) -> Tensor:
        return x**3 + x - 1.0

    if f(low) * f(high) > 0:
        return low, False
    while high - low > 1e-4:
        middle = (low + high) / 2
        if f(middle) == 0:
            return middle, True
        if f(low) * f(middle) < 0:
            high = middle
        else:
            low = middle
    return (low + high) / 2, True


@program("roots/bisection_raises", inputs=[(floats(0.0), floats(2.0)), (floats(5.0), floats(6.0))])
def bisection_raises(low: Tensor, high: Tensor) -> Tensor:
    if (low**3 - 2) * (high**3 - 2) > 0:
        raise ValueError("no sign change in the interval")
    middle = low
    while high - low > 1e-3:
        middle = (low + high) / 2
        if middle**3 > 2:
            high = middle
        else:
            low = middle
    return middle


@program(
    "roots/secant",
    inputs=[(floats(1.0), floats(2.0)), (floats(0.5), floats(0.6)), (floats(1.0), floats(1.0))],
    python_numbers=True,
)
def secant(x0: Tensor, x1: Tensor) -> Any:
    f0, f1 = gx.cos(x0) - x0, gx.cos(x1) - x1
    count = 0
    while count < 30:
        if f1 == f0:
            break
        x2 = x1 - f1 * (x1 - x0) / (f1 - f0)
        x0, f0, x1 = x1, f1, x2
        f1 = gx.cos(x1) - x1
        count += 1
        if abs(f1) < 1e-6:
            break
    return x1, count


@program("roots/regula_falsi", inputs=[(floats(0.0), floats(3.0)), (floats(1.0), floats(8.0))], python_numbers=True)
def regula_falsi(a: Tensor, b: Tensor) -> Any:
    """The Illinois variant, which halves the value at the end that stays."""
    fa, fb = a * a - 2, b * b - 2
    side = 0
    for n in range(1, 40):
        c = (fa * b - fb * a) / (fa - fb)
        fc = c * c - 2
        if abs(fc) < 1e-5:
            break
        if fc * fb > 0:
            b, fb = c, fc
            if side == -1:
                fa = fa / 2
            side = -1
        elif fa * fc > 0:
            a, fa = c, fc
            if side == +1:
                fb = fb / 2
            side = +1
    return c, n


@program("roots/fixed_point", inputs=[(floats(0.5),), (floats(3.0),)], gradient=True)
def fixed_point(x: Tensor) -> Tensor:
    previous = x + 1.0
    while abs(x - previous) > 1e-3:
        previous = x
        x = gx.cos(x)
    return x


@program("roots/aitken", inputs=[(floats(0.5),), (floats(1.5),)], python_numbers=True)
def aitken(x: Tensor) -> Any:
    iterations = 0
    while True:
        x1 = gx.cos(x)
        x2 = gx.cos(x1)
        denominator = x2 - 2 * x1 + x
        iterations = iterations + 1
        if abs(denominator) < 1e-7:
            answer = x2
            break
        answer = x - (x1 - x) ** 2 / denominator
        if abs(answer - x) < 1e-5 or iterations >= 20:
            break
        x = answer
    return answer, iterations


@program("roots/golden_section", inputs=[(floats(-1.0), floats(4.0)), (floats(0.0), floats(1.0))])
def golden_section(a: Tensor, b: Tensor) -> Tensor:
    ratio = (5**0.5 - 1) / 2
    c, d = b - ratio * (b - a), a + ratio * (b - a)
    while abs(b - a) > 1e-2:
        if (c - 2) ** 2 < (d - 2) ** 2:
            b = d
        else:
            a = c
        c, d = b - ratio * (b - a), a + ratio * (b - a)
    return (b + a) / 2


@program("roots/ternary_search", inputs=[(floats(0.0), floats(10.0)), (floats(3.0), floats(4.0))], python_numbers=True)
def ternary_search(low: Tensor, high: Tensor) -> Any:
    steps = 0
    while high - low > 0.05:
        third = (high - low) / 3
        left, right = low + third, high - third
        if gx.sin(left) + left / 4 < gx.sin(right) + right / 4:
            low = left
        else:
            high = right
        steps += 1
    return low, steps


@program("roots/backtracking_line_search", inputs=[(floats(3.0, -1.0),), (floats(0.1, 0.1),)], python_numbers=True)
def backtracking_line_search(x: Tensor) -> Any:
    """Gradient descent on Rosenbrock's function, with Armijo's rule."""

    def f(v: Tensor) -> Tensor:
        return (1 - v[0]) ** 2 + 10 * (v[1] - v[0] ** 2) ** 2

    def df(v: Tensor) -> Tensor:
        inner = v[1] - v[0] ** 2
        return gx.stack([-2 * (1 - v[0]) - 40 * v[0] * inner, 20 * inner])

    evaluations = 0
    for _ in range(15):
        gradient = df(x)
        square = gx.sum(gradient * gradient)
        if square < 1e-4:
            break
        t = 1.0
        while f(x - t * gradient) > f(x) - 0.5 * t * square:
            t *= 0.5
            evaluations += 1
            if t < 1e-4:
                break
        x = x - t * gradient
    return x, evaluations


@program("roots/pattern_search", inputs=[(floats(5.0), floats(1.0)), (floats(-3.0), floats(0.25))], python_numbers=True)
def pattern_search(x: Tensor, step: Tensor) -> Any:
    """Walks right or left, and halves the step where neither is better."""
    best = (x - 1.5) ** 2
    moves = {"left": 0, "right": 0, "shrink": 0}
    while step > 1e-2:
        right, left = (x + step - 1.5) ** 2, (x - step - 1.5) ** 2
        if right < best and right <= left:
            x, best = x + step, right
            moves["right"] += 1
        elif left < best:
            x, best = x - step, left
            moves["left"] += 1
        else:
            step = step / 2
            moves["shrink"] += 1
    return x, best, moves


@program("roots/durand_kerner", inputs=[(floats(-6.0, 11.0, -6.0),), (floats(0.0, -1.0, 0.0),)])
def durand_kerner(coefficients: Tensor) -> Tensor:
    """All roots of x**3 + c0 x**2 + c1 x + c2 at once, from real starts that are apart."""
    roots = [gx.asarray(0.4), gx.asarray(-1.3), gx.asarray(3.2)]
    for _ in range(12):
        for i in range(3):
            x = roots[i]
            value = ((x + coefficients[0]) * x + coefficients[1]) * x + coefficients[2]
            for j in range(3):
                if j != i:
                    value = value / (x - roots[j])
            roots[i] = x - value
    return gx.stack(roots)
