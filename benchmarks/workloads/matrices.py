"""Matrices: loops over rows, columns, items and blocks."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

import graphc as gx
from benchmarks.workloads.workload import Workload


def product_in_three_loops(a, b):
    c = gx.zeros((a.shape[0], b.shape[1]))
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]
    return c


def product_in_three_loops_by_hand(a, b):
    def item(i, j, c):
        return jax.lax.fori_loop(0, a.shape[1], lambda k, c: c.at[i, j].add(a[i, k] * b[k, j]), c)

    def row(i, c):
        return jax.lax.fori_loop(0, b.shape[1], lambda j, c: item(i, j, c), c)

    return jax.lax.fori_loop(0, a.shape[0], row, jnp.zeros((a.shape[0], b.shape[1])))


def product_with_sums(a, b):
    """The inner loop sums into a scalar."""
    c = gx.zeros((a.shape[0], b.shape[1]))
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            total = 0.0
            for k in range(a.shape[1]):
                total += a[i, k] * b[k, j]
            c[i, j] = total
    return c


def product_with_sums_by_hand(a, b):
    def item(i, j):
        return jax.lax.fori_loop(0, a.shape[1], lambda k, total: total + a[i, k] * b[k, j], 0.0)

    columns = jnp.arange(b.shape[1])
    return jax.lax.map(lambda i: jax.lax.map(lambda j: item(i, j), columns), jnp.arange(a.shape[0]))


def product_in_blocks(a, b, size):
    """Blocks by index arithmetic."""
    n = a.shape[0] // size
    c = gx.zeros_like(a)
    for i in range(n):
        for j in range(n):
            total = gx.zeros((size, size))
            for k in range(n):
                left = a[i * size : (i + 1) * size, k * size : (k + 1) * size]
                right = b[k * size : (k + 1) * size, j * size : (j + 1) * size]
                total = total + left @ right
            c[i * size : (i + 1) * size, j * size : (j + 1) * size] = total
    return c


def product_in_blocks_by_hand(a, b, size):
    n = a.shape[0] // size

    def block(x, i, j):
        return jax.lax.dynamic_slice(x, (i * size, j * size), (size, size))

    def place(i, j, c):
        def step(k, total):
            return total + block(a, i, k) @ block(b, k, j)

        total = jax.lax.fori_loop(0, n, step, jnp.zeros((size, size)))
        return jax.lax.dynamic_update_slice(c, total, (i * size, j * size))

    def row(i, c):
        return jax.lax.fori_loop(0, n, lambda j, c: place(i, j, c), c)

    return jax.lax.fori_loop(0, n, row, jnp.zeros_like(a))


def cholesky(a):
    n = a.shape[0]
    lower = gx.zeros_like(a)
    for i in range(n):
        for j in range(i + 1):
            rest = a[i, j] - gx.sum(lower[i] * lower[j])
            if i == j:
                lower[i, j] = gx.sqrt(rest)
            else:
                lower[i, j] = rest / lower[j, j]
    return lower


def cholesky_by_hand(a):
    def item(i, j, lower):
        rest = a[i, j] - jnp.sum(lower[i] * lower[j])
        return lower.at[i, j].set(jnp.where(i == j, jnp.sqrt(rest), rest / lower[j, j]))

    def row(i, lower):
        return jax.lax.fori_loop(0, i + 1, lambda j, lower: item(i, j, lower), lower)

    return jax.lax.fori_loop(0, a.shape[0], row, jnp.zeros_like(a))


def elimination(a, b):
    """Gauss without pivots, row by row, then back."""
    a, b = gx.copy(a), gx.copy(b)
    n = a.shape[0]
    for k in range(n):
        for i in range(k + 1, n):
            factor = a[i, k] / a[k, k]
            a[i] = a[i] - factor * a[k]
            b[i] = b[i] - factor * b[k]
    x = gx.zeros_like(b)
    for i in range(n - 1, -1, -1):
        x[i] = (b[i] - gx.sum(a[i] * x)) / a[i, i]
    return x


def elimination_by_hand(a, b):
    n = a.shape[0]

    def below(k, i, carry):
        a, b = carry
        factor = a[i, k] / a[k, k]
        return a.at[i].add(-factor * a[k]), b.at[i].add(-factor * b[k])

    def column(k, carry):
        return jax.lax.fori_loop(k + 1, n, lambda i, carry: below(k, i, carry), carry)

    a, b = jax.lax.fori_loop(0, n, column, (a, b))

    def back(step, x):
        i = n - 1 - step
        return x.at[i].set((b[i] - jnp.sum(a[i] * x)) / a[i, i])

    return jax.lax.fori_loop(0, n, back, jnp.zeros_like(b))


def gram_schmidt(a):
    """Makes the rows orthonormal, one after the other."""
    n = a.shape[0]
    q = gx.zeros_like(a)
    for i in range(n):
        v = a[i]
        for j in range(i):
            v = v - gx.sum(q[j] * v) * q[j]
        q[i] = v / gx.sqrt(gx.sum(v * v))
    return q


def gram_schmidt_by_hand(a):
    def row(i, q):
        v = jax.lax.fori_loop(0, i, lambda j, v: v - jnp.sum(q[j] * v) * q[j], a[i])
        return q.at[i].set(v / jnp.sqrt(jnp.sum(v * v)))

    return jax.lax.fori_loop(0, a.shape[0], row, jnp.zeros_like(a))


def jacobi(a, b, tolerance):
    x = gx.zeros_like(b)
    d = gx.diagonal(a)
    steps = 0
    while gx.max(gx.abs(a @ x - b)) > tolerance:
        x = x + (b - a @ x) / d
        steps += 1
    return x, steps


def jacobi_by_hand(a, b, tolerance):
    d = jnp.diagonal(a)

    def step(carry):
        x, steps = carry
        return x + (b - a @ x) / d, steps + 1

    return jax.lax.while_loop(
        lambda carry: jnp.max(jnp.abs(a @ carry[0] - b)) > tolerance, step, (jnp.zeros_like(b), jnp.int32(0))
    )


def pairwise_distances(x):
    n = x.shape[0]
    out = gx.zeros((n, n))
    for i in range(n):
        for j in range(n):
            out[i, j] = gx.sqrt(gx.sum((x[i] - x[j]) ** 2))
    return out


def pairwise_distances_by_hand(x):
    def row(one):
        return jax.lax.map(lambda other: jnp.sqrt(jnp.sum((one - other) ** 2)), x)

    return jax.lax.map(row, x)


def transpose_in_place(a):
    a = gx.copy(a)
    n = a.shape[0]
    for i in range(n):
        for j in range(i + 1, n):
            a[i, j], a[j, i] = a[j, i], a[i, j]
    return a


def transpose_in_place_by_hand(a):
    n = a.shape[0]

    def swap(i, j, a):
        one, other = a[i, j], a[j, i]
        return a.at[i, j].set(other).at[j, i].set(one)

    return jax.lax.fori_loop(0, n, lambda i, a: jax.lax.fori_loop(i + 1, n, lambda j, a: swap(i, j, a), a), a)


def convolution(image, kernel):
    """Window by window, in two loops."""
    height, width = kernel.shape
    out = gx.zeros((image.shape[0] - height + 1, image.shape[1] - width + 1))
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = gx.sum(image[i : i + height, j : j + width] * kernel)
    return out


def convolution_by_hand(image, kernel):
    height, width = kernel.shape
    rows, columns = image.shape[0] - height + 1, image.shape[1] - width + 1

    def item(i, j):
        return jnp.sum(jax.lax.dynamic_slice(image, (i, j), (height, width)) * kernel)

    return jax.lax.map(lambda i: jax.lax.map(lambda j: item(i, j), jnp.arange(columns)), jnp.arange(rows))


def matrix_powers(a, steps):
    """A list of powers, of which every item is used again."""
    powers = [a]
    for _ in range(steps):
        powers.append(powers[-1] @ a)
    total = gx.zeros_like(a)
    for place, power in enumerate(powers):
        total = total + power / (place + 1.0)
    return total


def matrix_powers_by_hand(a, steps):
    def step(power, _):
        power = power @ a
        return power, power

    powers = jnp.concatenate([a[None], jax.lax.scan(step, a, None, length=steps)[1]])
    return jnp.einsum("nij,n->ij", powers, 1.0 / jnp.arange(1.0, steps + 2))


def _square(draw, n):
    a = draw.normal(n, n)
    return a @ a.T / n + 2.0 * np.eye(n, dtype=np.float32)


def _two(draw, n):
    return draw.normal(n, n), draw.normal(n, n)


def _dominant(draw, n):
    return draw.uniform(n, n) / n + 2.0 * np.eye(n, dtype=np.float32), draw.normal(n), 1e-4


WORKLOADS = (
    Workload(product_in_three_loops, product_in_three_loops_by_hand, _two, 48, 3),
    Workload(product_with_sums, product_with_sums_by_hand, _two, 48, 3),
    Workload(product_in_blocks, product_in_blocks_by_hand, lambda draw, n: (*_two(draw, n), n // 8), 128, 8),
    Workload(cholesky, cholesky_by_hand, lambda draw, n: (_square(draw, n),), 64, 4),
    Workload(elimination, elimination_by_hand, lambda draw, n: (_square(draw, n), draw.normal(n)), 64, 4),
    Workload(gram_schmidt, gram_schmidt_by_hand, lambda draw, n: (draw.normal(n, n),), 64, 4),
    Workload(jacobi, jacobi_by_hand, _dominant, 200, 4),
    Workload(pairwise_distances, pairwise_distances_by_hand, lambda draw, n: (draw.normal(n, 8),), 100, 4),
    Workload(transpose_in_place, transpose_in_place_by_hand, lambda draw, n: (draw.normal(n, n),), 100, 4),
    Workload(convolution, convolution_by_hand, lambda draw, n: (draw.normal(n, n), draw.normal(3, 3)), 48, 5),
    Workload(matrix_powers, matrix_powers_by_hand, lambda draw, n: (draw.normal(n, n, scale=0.08), 60), 64, 3),
)
