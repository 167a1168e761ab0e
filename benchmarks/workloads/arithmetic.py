"""Numbers: iterations whose lengths depend on the values, Monte Carlo."""

from __future__ import annotations

import jax
import jax.numpy as jnp

import graphc as gx
from benchmarks.workloads.workload import Workload


def collatz_with_counters(limit):
    longest, best = 0, 0
    for start in range(1, limit):
        n, steps = start, 0
        while n != 1:
            if n % 2 == 0:
                n = n // 2
            else:
                n = 3 * n + 1
            steps += 1
        if steps > longest:
            longest, best = steps, start
    return gx.asarray(longest), gx.asarray(best)


def collatz_of_tensors(starts):
    out = gx.zeros_like(starts)
    for i in range(starts.shape[0]):
        n, steps = starts[i], gx.asarray(0)
        while n != 1:
            n = gx.where(n % 2 == 0, n // 2, 3 * n + 1)
            steps = steps + 1
        out[i] = steps
    return out


def _collatz_steps(start):
    def step(carry):
        n, steps = carry
        return jnp.where(n % 2 == 0, n // 2, 3 * n + 1), steps + 1

    return jax.lax.while_loop(lambda carry: carry[0] != 1, step, (start, jnp.int32(0)))[1]


def collatz_with_counters_by_hand(limit):
    def each(start, carry):
        longest, best = carry
        steps = _collatz_steps(start)
        more = steps > longest
        return jnp.where(more, steps, longest), jnp.where(more, start, best)

    return jax.lax.fori_loop(1, limit, each, (jnp.int32(0), jnp.int32(0)))


def collatz_of_tensors_by_hand(starts):
    return jax.lax.map(_collatz_steps, starts)


def newton_roots(values):
    roots = gx.zeros_like(values)
    for i in range(values.shape[0]):
        x = values[i]
        while gx.abs(x * x - values[i]) > 1e-4 * values[i]:
            x = 0.5 * (x + values[i] / x)
        roots[i] = x
    return roots


def newton_roots_by_hand(values):
    def root(value):
        return jax.lax.while_loop(
            lambda x: jnp.abs(x * x - value) > 1e-4 * value, lambda x: 0.5 * (x + value / x), value
        )

    return jax.lax.map(root, values)


def newton_with_limit(x):
    """At most 50 steps for all values together, left by break."""
    root = x
    for step in range(50):
        new = 0.5 * (root + x / root)
        if gx.max(gx.abs(new - root)) < 1e-5:
            break
        root = new
    return root, step


def newton_with_limit_by_hand(x):
    def better(root):
        return 0.5 * (root + x / root)

    def step(carry):
        _, root, count = carry
        new = better(root)
        done = jnp.max(jnp.abs(new - root)) < 1e-5
        return done, jnp.where(done, root, new), count + 1

    start = jnp.array(False), x, jnp.int32(-1)
    return jax.lax.while_loop(lambda carry: ~carry[0] & (carry[2] < 49), step, start)[1:]


def bisection(values):
    """Where x + exp(x) is each of the values."""
    low, high = gx.full_like(values, -10.0), gx.full_like(values, 10.0)
    for _ in range(40):
        middle = (low + high) / 2
        above = middle + gx.exp(middle) > values
        low, high = gx.where(above, low, middle), gx.where(above, middle, high)
    return low


def bisection_by_hand(values):
    def step(_, carry):
        low, high = carry
        middle = (low + high) / 2
        above = middle + jnp.exp(middle) > values
        return jnp.where(above, low, middle), jnp.where(above, middle, high)

    return jax.lax.fori_loop(0, 40, step, (jnp.full_like(values, -10.0), jnp.full_like(values, 10.0)))[0]


def common_divisors(a, b):
    total = gx.zeros((), dtype="int32")
    for i in range(a.shape[0]):
        x, y = a[i], b[i]
        while y != 0:
            x, y = y, x % y
        total += x
    return total


def common_divisors_by_hand(a, b):
    def divisor(total, given):
        x, _ = jax.lax.while_loop(lambda two: two[1] != 0, lambda two: (two[1], two[0] % two[1]), given)
        return total + x, None

    return jax.lax.scan(divisor, jnp.int32(0), (a, b))[0]


def mandelbrot(x, y):
    """How many steps each point stays within 2."""
    counts = gx.zeros(x.shape, dtype="int32")
    u, v = gx.zeros_like(x), gx.zeros_like(x)
    for _ in range(50):
        u, v = u * u - v * v + x, 2 * u * v + y
        inside = u * u + v * v < 4.0
        u, v = gx.where(inside, u, 2.0), gx.where(inside, v, 0.0)
        counts = counts + inside
    return counts


def mandelbrot_by_hand(x, y):
    def step(_, carry):
        counts, u, v = carry
        u, v = u * u - v * v + x, 2 * u * v + y
        inside = u * u + v * v < 4.0
        return counts + inside, jnp.where(inside, u, 2.0), jnp.where(inside, v, 0.0)

    return jax.lax.fori_loop(0, 50, step, (jnp.zeros(x.shape, jnp.int32), jnp.zeros_like(x), jnp.zeros_like(x)))[0]


def mandelbrot_point_by_point(x, y):
    counts = gx.zeros(x.shape[0], dtype="int32")
    for i in range(x.shape[0]):
        u, v, steps = 0.0, 0.0, 0
        while steps < 50 and u * u + v * v < 4.0:
            u, v = u * u - v * v + x[i], 2.0 * u * v + y[i]
            steps += 1
        counts[i] = steps
    return counts


def mandelbrot_point_by_point_by_hand(x, y):
    def point(given):
        x, y = given

        def step(carry):
            u, v, steps = carry
            return u * u - v * v + x, 2.0 * u * v + y, steps + 1

        def inside(carry):
            u, v, steps = carry
            return (steps < 50) & (u * u + v * v < 4.0)

        return jax.lax.while_loop(inside, step, (0.0, 0.0, jnp.int32(0)))[2]

    return jax.lax.map(point, (x, y))


def monte_carlo_pi(rounds):
    """Fresh numbers in each iteration."""
    inside = 0.0
    for _ in range(rounds):
        x, y = gx.random.uniform((1000,)), gx.random.uniform((1000,))
        inside = inside + gx.mean(x * x + y * y < 1.0)
    return 4.0 * inside / rounds


def monte_carlo_pi_by_hand(rounds):
    def step(carry, _):
        key, inside = carry
        key, one, other = jax.random.split(key, 3)
        x, y = jax.random.uniform(one, (1000,)), jax.random.uniform(other, (1000,))
        return (key, inside + jnp.mean(x * x + y * y < 1.0)), None

    return 4.0 * jax.lax.scan(step, (jax.random.key(0), 0.0), None, length=rounds)[0][1] / rounds


def metropolis(start, moves, uniforms):
    """A chain whose steps are taken or refused; keeps its mean."""
    x, total, taken = start, gx.zeros_like(start), 0
    for i in range(uniforms.shape[0]):
        new = x + moves[i]
        if gx.log(uniforms[i]) < 0.5 * (gx.sum(x * x) - gx.sum(new * new)):
            x = new
            taken += 1
        total = total + x
    return total / uniforms.shape[0], taken


def metropolis_by_hand(start, moves, uniforms):
    def step(carry, given):
        x, total, taken = carry
        move, uniform = given
        new = x + move
        take = jnp.log(uniform) < 0.5 * (jnp.sum(x * x) - jnp.sum(new * new))
        x = jnp.where(take, new, x)
        return (x, total + x, taken + take), None

    (_, total, taken), _ = jax.lax.scan(step, (start, jnp.zeros_like(start), jnp.int32(0)), (moves, uniforms))
    return total / uniforms.shape[0], taken


def power_modulo(bases, exponent):
    out = gx.ones_like(bases)
    square = bases
    while exponent > 0:
        out = gx.where(exponent % 2 == 1, out * square % 10007, out)
        square = square * square % 10007
        exponent = exponent // 2
    return out


def power_modulo_by_hand(bases, exponent):
    def step(carry):
        out, square, exponent = carry
        out = jnp.where(exponent % 2 == 1, out * square % 10007, out)
        return out, square * square % 10007, exponent // 2

    return jax.lax.while_loop(lambda carry: carry[2] > 0, step, (jnp.ones_like(bases), bases, exponent))[0]


WORKLOADS = (
    Workload(collatz_with_counters, collatz_with_counters_by_hand, lambda draw, n: (n,), 2000, 8),
    Workload(collatz_of_tensors, collatz_of_tensors_by_hand, lambda draw, n: (draw.integers(9000, n, low=1),), 1000, 4),
    Workload(newton_roots, newton_roots_by_hand, lambda draw, n: (draw.uniform(n, low=1.0, high=90.0),), 2000, 4),
    Workload(
        newton_with_limit, newton_with_limit_by_hand, lambda draw, n: (draw.uniform(n, low=1.0, high=90.0),), 5000, 4
    ),
    Workload(bisection, bisection_by_hand, lambda draw, n: (draw.normal(n),), 2000, 4),
    Workload(
        common_divisors,
        common_divisors_by_hand,
        lambda draw, n: (draw.integers(10_000, n, low=1), draw.integers(10_000, n, low=1)),
        2000,
        5,
    ),
    Workload(mandelbrot, mandelbrot_by_hand, lambda draw, n: (draw.normal(n, n), draw.normal(n, n)), 64, 4),
    Workload(
        mandelbrot_point_by_point,
        mandelbrot_point_by_point_by_hand,
        lambda draw, n: (draw.normal(n), draw.normal(n)),
        2000,
        5,
    ),
    Workload(monte_carlo_pi, monte_carlo_pi_by_hand, lambda draw, n: (n,), 500, 200, tolerance=0.02),
    Workload(
        metropolis,
        metropolis_by_hand,
        lambda draw, n: (draw.normal(8), draw.normal(n, 8, scale=0.5), draw.uniform(n, low=1e-3)),
        2000,
        9,
    ),
    Workload(
        power_modulo,
        power_modulo_by_hand,
        lambda draw, n: (draw.integers(10_007, n), draw.integers(2**30, low=2**29)),
        5000,
        3,
    ),
)
