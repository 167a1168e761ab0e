"""Windows, filters and sums over a series."""

from __future__ import annotations

import jax
import jax.numpy as jnp

import graphc as gx
from benchmarks.workloads.workload import Workload


def moving_windows(x, width):
    out = gx.zeros(x.shape[0] - width + 1)
    for i in range(x.shape[0] - width + 1):
        out[i] = gx.mean(x[i : i + width])
    return out


def moving_windows_by_hand(x, width):
    def window(i):
        return jnp.mean(jax.lax.dynamic_slice_in_dim(x, i, width))

    return jax.lax.map(window, jnp.arange(x.shape[0] - width + 1))


def moving_windows_list(x, kernel):
    """A filter whose windows go into a list."""
    width = kernel.shape[0]
    return gx.stack([gx.sum(x[i : i + width] * kernel) for i in range(x.shape[0] - width + 1)])


def moving_windows_list_by_hand(x, kernel):
    width = kernel.shape[0]

    def window(i):
        return jnp.sum(jax.lax.dynamic_slice_in_dim(x, i, width) * kernel)

    return jax.lax.map(window, jnp.arange(x.shape[0] - width + 1))


def windows_gradient(x, kernel):
    width = kernel.shape[0]
    loss = gx.zeros(())
    for i in range(x.shape[0] - width):
        loss = loss + (gx.sum(x[i : i + width] * kernel) - x[i + width]) ** 2
    return loss / x.shape[0]


def windows_gradient_by_hand(x, kernel):
    width = kernel.shape[0]

    def step(loss, i):
        return loss + (jnp.sum(jax.lax.dynamic_slice_in_dim(x, i, width) * kernel) - x[i + width]) ** 2, None

    return jax.lax.scan(step, 0.0, jnp.arange(x.shape[0] - width))[0] / x.shape[0]


def exponential_smoothing(x, alpha):
    out = gx.zeros_like(x)
    level = x[0]
    for t in range(x.shape[0]):
        level = alpha * x[t] + (1.0 - alpha) * level
        out[t] = level
    return gx.sum((out - x) ** 2)


def exponential_smoothing_by_hand(x, alpha):
    def step(level, value):
        level = alpha * value + (1.0 - alpha) * level
        return level, level

    return jnp.sum((jax.lax.scan(step, x[0], x)[1] - x) ** 2)


def filter_with_feedback(x, b, a):
    """Reads its own last two outputs."""
    y = gx.zeros_like(x)
    for n in range(2, x.shape[0]):
        y[n] = b[0] * x[n] + b[1] * x[n - 1] + b[2] * x[n - 2] - a[0] * y[n - 1] - a[1] * y[n - 2]
    return y


def filter_with_feedback_by_hand(x, b, a):
    def step(before, given):
        new = jnp.dot(b, given) - a[0] * before[0] - a[1] * before[1]
        return (new, before[0]), new

    rows = jnp.stack([x[2:], x[1:-1], x[:-2]], axis=1)
    return jnp.concatenate([jnp.zeros((2, *x.shape[1:])), jax.lax.scan(step, (0.0, 0.0), rows)[1]])


def filter_in_two_loops(x, kernel):
    y = gx.zeros(x.shape[0] - kernel.shape[0] + 1)
    for n in range(y.shape[0]):
        for k in range(kernel.shape[0]):
            y[n] += x[n + k] * kernel[k]
    return y


def filter_in_two_loops_by_hand(x, kernel):
    def output(n):
        return jax.lax.fori_loop(0, kernel.shape[0], lambda k, y: y + x[n + k] * kernel[k], 0.0)

    return jax.lax.map(output, jnp.arange(x.shape[0] - kernel.shape[0] + 1))


def welford(x):
    """Mean and variance, row by row."""
    mean, squares, count = gx.zeros(x.shape[1]), gx.zeros(x.shape[1]), 0
    for row in x:
        count += 1
        delta = row - mean
        mean = mean + delta / count
        squares = squares + delta * (row - mean)
    return mean, squares / count


def welford_by_hand(x):
    def step(carry, row):
        mean, squares, count = carry
        delta = row - mean
        mean = mean + delta / (count + 1)
        return (mean, squares + delta * (row - mean), count + 1), None

    zeros = jnp.zeros(x.shape[1])
    mean, squares, count = jax.lax.scan(step, (zeros, zeros, 0), x)[0]
    return mean, squares / count


def discounted_returns(rewards, discount):
    returns = gx.zeros_like(rewards)
    value = gx.zeros(rewards.shape[1])
    for t in range(rewards.shape[0] - 1, -1, -1):
        value = rewards[t] + discount * value
        returns[t] = value
    return returns


def discounted_returns_reversed(rewards, discount):
    value, returns = 0.0, []
    for reward in reversed(rewards):
        value = reward + discount * value
        returns.append(value)
    return gx.stack(returns[::-1])


def discounted_returns_by_hand(rewards, discount):
    def step(value, reward):
        value = reward + discount * value
        return value, value

    return jax.lax.scan(step, jnp.zeros(rewards.shape[1]), rewards, reverse=True)[1]


def running_sums(x):
    """Adds to the item before, in place."""
    x = gx.copy(x)
    for i in range(1, x.shape[0]):
        x[i] += x[i - 1]
    return x


def running_sums_by_hand(x):
    return jax.lax.fori_loop(1, x.shape[0], lambda i, x: x.at[i].add(x[i - 1]), x)


def strided_assignment(x):
    """Interleaves two halves."""
    out = gx.zeros_like(x)
    half = x.shape[0] // 2
    out[0::2] = x[:half]
    out[1::2] = x[half:]
    return out


def strided_assignment_by_hand(x):
    half = x.shape[0] // 2
    return jnp.zeros_like(x).at[0::2].set(x[:half]).at[1::2].set(x[half:])


def strided_rounds(x, rounds):
    """Even items from odd ones, then odd from even ones, in turn."""
    x = gx.copy(x)
    for _ in range(rounds):
        x[0::2] = 0.5 * (x[0::2] + x[1::2])
        x[1::2] = 0.9 * x[1::2] + 0.1 * x[0::2]
    return x


def strided_rounds_by_hand(x, rounds):
    def step(_, x):
        even, odd = x[:, 0], x[:, 1]
        even = 0.5 * (even + odd)
        return jnp.stack([even, 0.9 * odd + 0.1 * even], axis=1)

    return jax.lax.fori_loop(0, rounds, step, x.reshape(-1, 2)).reshape(-1)


def peaks(x):
    """Counts the items that are larger than both neighbours, and sums them."""
    count, total = 0, gx.zeros(())
    for i in range(1, x.shape[0] - 1):
        if x[i] > x[i - 1] and x[i] > x[i + 1]:
            count += 1
            total = total + x[i]
    return count, total


def peaks_by_hand(x):
    def step(i, carry):
        count, total = carry
        peak = (x[i] > x[i - 1]) & (x[i] > x[i + 1])
        return count + peak, total + jnp.where(peak, x[i], 0.0)

    return jax.lax.fori_loop(1, x.shape[0] - 1, step, (jnp.int32(0), 0.0))


def longest_run(x):
    """The longest run of positive items."""
    best, current = 0, 0
    for value in x:
        current = current + 1 if value > 0 else 0
        best = max(best, current)
    return best


def longest_run_by_hand(x):
    def step(carry, value):
        current = jnp.where(value > 0, carry[1] + 1, 0)
        return (jnp.maximum(carry[0], current), current), None

    return jax.lax.scan(step, (jnp.int32(0), jnp.int32(0)), x)[0][0]


def feedback_gradient(x, a):
    """Reads its own last two outputs, and is learned."""
    y = gx.zeros_like(x)
    for n in range(2, x.shape[0]):
        y[n] = x[n] - a[0] * y[n - 1] - a[1] * y[n - 2]
    return gx.sum(y**2)


def feedback_gradient_by_hand(x, a):
    def step(before, given):
        new = given - a[0] * before[0] - a[1] * before[1]
        return (new, before[0]), new

    return jnp.sum(jax.lax.scan(step, (0.0, 0.0), x[2:])[1] ** 2)


def returns_gradient(rewards, rates):
    """Fills backwards, from the item behind."""
    n = rewards.shape[0]
    out = gx.zeros((n + 1, rewards.shape[1]))
    for t in range(n - 1, -1, -1):
        out[t] = rewards[t] + rates[t] * out[t + 1]
    return gx.sum(out**2)


def returns_gradient_by_hand(rewards, rates):
    def step(after, given):
        reward, rate = given
        new = reward + rate * after
        return new, new

    return jnp.sum(jax.lax.scan(step, jnp.zeros(rewards.shape[1]), (rewards, rates), reverse=True)[1] ** 2)


def columns_gradient(x, w):
    """Each column from the one before, and from the column of another array."""
    out = gx.zeros_like(x)
    for t in range(1, x.shape[1]):
        out[:, t] = gx.tanh(w @ out[:, t - 1]) + x[:, t]
    return gx.sum(out**2)


def columns_gradient_by_hand(x, w):
    def step(before, column):
        new = jnp.tanh(w @ before) + column
        return new, new

    return jnp.sum(jax.lax.scan(step, jnp.zeros(x.shape[0]), x[:, 1:].T)[1] ** 2)


def _series(draw, n):
    return (draw.normal(n),)


def _with_kernel(draw, n):
    return draw.normal(n), draw.normal(8)


WORKLOADS = (
    Workload(moving_windows, moving_windows_by_hand, lambda draw, n: (draw.normal(n), 16), 500, 20),
    Workload(moving_windows_list, moving_windows_list_by_hand, _with_kernel, 500, 12),
    Workload(windows_gradient, windows_gradient_by_hand, _with_kernel, 300, 12, gradient=(0, 1)),
    Workload(
        exponential_smoothing,
        exponential_smoothing_by_hand,
        lambda draw, n: (draw.normal(n, 8), draw.uniform()),
        1000,
        6,
        gradient=(0, 1),
    ),
    Workload(
        filter_with_feedback,
        filter_with_feedback_by_hand,
        lambda draw, n: (draw.normal(n), draw.normal(3), draw.uniform(2, high=0.4)),
        4000,
        7,
    ),
    Workload(
        feedback_gradient,
        feedback_gradient_by_hand,
        lambda draw, n: (draw.normal(n), draw.uniform(2, high=0.4)),
        2000,
        7,
        gradient=(0, 1),
    ),
    Workload(
        returns_gradient,
        returns_gradient_by_hand,
        lambda draw, n: (draw.normal(n, 16), draw.uniform(n)),
        1000,
        5,
        gradient=(0, 1),
    ),
    Workload(
        columns_gradient,
        columns_gradient_by_hand,
        lambda draw, n: (draw.normal(16, n), draw.normal(16, 16, scale=0.2)),
        400,
        5,
        gradient=(0, 1),
    ),
    Workload(filter_in_two_loops, filter_in_two_loops_by_hand, _with_kernel, 2000, 11),
    Workload(welford, welford_by_hand, lambda draw, n: (draw.normal(n, 16),), 150, 5),
    Workload(discounted_returns, discounted_returns_by_hand, lambda draw, n: (draw.normal(n, 16), 0.9), 1000, 5),
    Workload(
        discounted_returns_reversed, discounted_returns_by_hand, lambda draw, n: (draw.normal(n, 16), 0.9), 100, 5
    ),
    Workload(running_sums, running_sums_by_hand, _series, 5000, 6),
    Workload(strided_assignment, strided_assignment_by_hand, _series, 100_000, 6),
    Workload(strided_rounds, strided_rounds_by_hand, lambda draw, n: (draw.normal(n), 100), 2000, 6),
    Workload(peaks, peaks_by_hand, _series, 5000, 8),
    Workload(longest_run, longest_run_by_hand, _series, 5000, 8),
)
