"""Linear algebra written out: iterations to a tolerance, eliminations by item assignment."""

# ruff: noqa: B007  the programs are as people write them at first

from __future__ import annotations

from functools import partial
from typing import Any

import graphc as gx
from graphc import Tensor
from tests.conformance import harness
from tests.conformance.harness import f as floats
from tests.conformance.harness import i as ints

program = partial(harness.program, construct="whole algorithms")

SPD = [[4.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 2.0]]
DIAGONAL = [[2.0, 0.0, 0.0], [0.0, 3.0, 0.0], [0.0, 0.0, 5.0]]
PIVOTED = [[0.0, 2.0, 1.0], [1.0, 1.0, 0.0], [3.0, 0.0, 1.0]]
B = [1.0, 2.0, 3.0]


@program(
    "linear/conjugate_gradients",
    inputs=[(floats(SPD), floats(B)), (floats(DIAGONAL), floats(0.0, 0.0, 1.0)), (floats(SPD), floats(0.0, 0.0, 0.0))],
    python_numbers=True,
)
def conjugate_gradients(a: Tensor, b: Tensor) -> Any:
    x = gx.zeros_like(b)
    r = b - a @ x
    p = r
    rs = gx.dot(r, r)
    steps = 0
    while gx.sqrt(rs) > 1e-4 and steps < 10:
        ap = a @ p
        alpha = rs / gx.dot(p, ap)
        x = x + alpha * p
        r = r - alpha * ap
        rs_new = gx.dot(r, r)
        p = r + (rs_new / rs) * p
        rs = rs_new
        steps += 1
    return x, steps


@program(
    "linear/power_iteration",
    inputs=[(floats(SPD), floats(1.0, 0.0, 0.0)), (floats(DIAGONAL), floats(1.0, 1.0, 1.0))],
    gradient=True,
)
def power_iteration(a: Tensor, v: Tensor) -> Any:
    eigenvalue = gx.asarray(0.0)
    for _ in range(100):
        w = a @ v
        v = w / gx.sqrt(gx.sum(w * w))
        new = v @ (a @ v)
        if abs(new - eigenvalue) < 1e-4:
            break
        eigenvalue = new
    return eigenvalue, v


@program(
    "linear/inverse_iteration",
    inputs=[(floats(SPD), floats(1.0)), (floats(DIAGONAL), floats(2.8))],
    python_numbers=True,
)
def inverse_iteration(a: Tensor, shift: Tensor) -> Any:
    n = a.shape[0]
    v = gx.ones(n) / n**0.5
    shifted = a - shift * gx.eye(n)
    for k in range(1, 20):
        w = gx.linalg.solve(shifted, v)
        w = w / gx.linalg.norm(w)
        if w[0] < 0:
            w = -w
        if gx.linalg.norm(w - v) < 1e-3:
            return v @ a @ v, k
        v = w
    return v @ a @ v, 20


@program("linear/qr_iteration", inputs=[(floats(SPD),), (floats(DIAGONAL),)], python_numbers=True)
def qr_iteration(a: Tensor) -> Any:
    count = 0
    while gx.sum(gx.abs(gx.tril(a, -1))) > 1e-2:
        q, r = gx.linalg.qr(a)
        a = r @ q
        count += 1
    return gx.diagonal(a), count


@program("linear/jacobi_rotation", inputs=[(floats([[2.0, 1.0], [1.0, 3.0]]),), (floats([[1.0, 0.0], [0.0, 4.0]]),)])
def jacobi_rotation(a: Tensor) -> Any:
    if a[0, 1] == 0:
        return a, gx.eye(2)
    theta = 0.5 * gx.arctan2(2 * a[0, 1], a[1, 1] - a[0, 0])
    c, s = gx.cos(theta), gx.sin(theta)
    rotation = gx.stack([gx.stack([c, s]), gx.stack([-s, c])])
    return rotation.T @ a @ rotation, rotation


@program(
    "linear/gram_schmidt_list",
    inputs=[(floats(SPD),), (floats([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [0.0, 1.0, 0.0]]),)],
    python_numbers=True,
)
def gram_schmidt_list(rows: Tensor) -> Any:
    """Directions that depend on the ones before become zero."""
    basis = []
    rank = 0
    for row in rows:
        for q in basis:
            row = row - gx.dot(q, row) * q
        norm = gx.sqrt(gx.sum(row * row))
        if norm > 1e-3:
            row = row / norm
            rank += 1
        else:
            row = gx.zeros_like(row)
        basis.append(row)
    return gx.stack(basis), rank


@program("linear/gram_schmidt_in_place", inputs=[(floats(SPD),), (floats(PIVOTED),)], gradient=True)
def gram_schmidt_in_place(a: Tensor) -> Tensor:
    n = a.shape[1]
    q = gx.zeros_like(a)
    for j in range(n):
        v = a[:, j]
        for i in range(j):
            v = v - gx.dot(q[:, i], a[:, j]) * q[:, i]
        q[:, j] = v / gx.linalg.norm(v)
    return q


@program(
    "linear/gauss_elimination",
    inputs=[
        (floats(SPD), floats(B)),
        (floats(PIVOTED), floats(B)),
        (floats([[1.0, 1.0], [2.0, 2.0]]), floats(1.0, 2.0)),
    ],
    python_numbers=True,
)
def gauss_elimination(a: Tensor, b: Tensor) -> Any:
    """With partial pivoting; a singular matrix returns early."""
    n = len(b)
    m = gx.concat([a, b.reshape((n, 1))], axis=1)
    for k in range(n):
        pivot = k
        for i in range(k + 1, n):
            if abs(m[i, k]) > abs(m[pivot, k]):
                pivot = i
        if abs(m[pivot, k]) < 1e-6:
            return gx.zeros(n), False
        if pivot != k:
            row = m[k]
            m[k] = m[pivot]
            m[pivot] = row
        for i in range(k + 1, n):
            m[i] = m[i] - m[k] * (m[i, k] / m[k, k])
    x = gx.zeros(n)
    for i in reversed(range(n)):
        x[i] = (m[i, n] - gx.dot(m[i, :n], x)) / m[i, i]
    return x, True


@program("linear/cholesky", inputs=[(floats(SPD),), (floats(DIAGONAL),)], gradient=True)
def cholesky(a: Tensor) -> Tensor:
    n = a.shape[0]
    low = gx.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            s = gx.asarray(0.0)
            for k in range(j):
                s = s + low[i, k] * low[j, k]
            if i == j:
                low[i, j] = gx.sqrt(a[i, i] - s)
            else:
                low[i, j] = (a[i, j] - s) / low[j, j]
    return low


@program("linear/cholesky_checked", inputs=[(floats(SPD),), (floats(PIVOTED),)])
def cholesky_checked(a: Tensor) -> Tensor:
    """Raises where the matrix is not positive definite."""
    n = a.shape[0]
    low = gx.zeros_like(a)
    for j in range(n):
        d = a[j, j] - gx.sum(low[j, :j] ** 2)
        if d <= 0:
            raise ValueError("the matrix is not positive definite")
        low[j, j] = gx.sqrt(d)
        for i in range(j + 1, n):
            low[i, j] = (a[i, j] - gx.sum(low[i, :j] * low[j, :j])) / low[j, j]
    return low


@program("linear/lu", inputs=[(floats(SPD),), (floats([[2.0, 1.0, 1.0], [4.0, 3.0, 3.0], [8.0, 7.0, 9.0]]),)])
def lu(a: Tensor) -> Any:
    n = len(a)
    upper = gx.asarray(a) * 1.0
    lower = gx.eye(n)
    for k in range(n - 1):
        for i in range(k + 1, n):
            factor = upper[i, k] / upper[k, k]
            lower[i, k] = factor
            upper[i, k:] -= factor * upper[k, k:]
    return lower, upper


@program("linear/substitution", inputs=[(floats([[2.0, 0.0], [1.0, 4.0]]), floats(2.0, 9.0))], gradient=True)
def substitution(low: Tensor, b: Tensor) -> Any:
    n = b.shape[0]
    y = []
    for i in range(n):
        total = b[i]
        for j, known in enumerate(y):
            total -= low[i, j] * known
        y.append(total / low[i, i])
    x = [None] * n
    for i in range(n - 1, -1, -1):
        total = y[i]
        for j in range(i + 1, n):
            total -= low[j, i] * x[j]
        x[i] = total / low[i, i]
    return gx.stack(y), gx.stack(x)


@program(
    "linear/jacobi",
    inputs=[(floats(SPD), floats(B), 50), (floats(SPD), floats(B), 3), (floats(DIAGONAL), floats(B), 50)],
    python_numbers=True,
)
def jacobi(a: Tensor, b: Tensor, limit: int) -> Any:
    d = gx.diagonal(a)
    rest = a - gx.diag(d)
    x = gx.zeros_like(b)
    for iteration in range(limit):
        new = (b - rest @ x) / d
        done = gx.all(gx.abs(new - x) < 1e-4)
        x = new
        if done:
            break
    return x, iteration


@program("linear/gauss_seidel", inputs=[(floats(SPD), floats(B)), (floats(DIAGONAL), floats(B))], python_numbers=True)
def gauss_seidel(a: Tensor, b: Tensor) -> Any:
    n = len(b)
    x = gx.zeros(n)
    change = 1.0
    sweeps = 0
    while change > 1e-4:
        change = 0.0
        for i in range(n):
            old = x[i]
            others = gx.dot(a[i], x) - a[i, i] * old
            x[i] = (b[i] - others) / a[i, i]
            change = max(change, abs(x[i] - old))
        sweeps += 1
        if sweeps > 50:
            raise RuntimeError("no convergence")
    return x, sweeps


@program(
    "linear/pagerank",
    inputs=[
        (ints([[0, 1, 1], [1, 0, 0], [1, 1, 0]]), floats(0.85)),
        (ints([[0, 1, 0], [0, 0, 1], [0, 0, 0]]), floats(0.5)),
    ],
    python_numbers=True,
)
def pagerank(links: Tensor, damping: Tensor) -> Any:
    n = links.shape[0]
    degree = gx.sum(links, axis=1)
    rank = gx.full((n,), 1.0 / n)
    delta, rounds = 1.0, 0
    while delta > 1e-4 and rounds < 60:
        new = gx.full((n,), (1 - damping) / n)
        for i in range(n):
            if degree[i] > 0:
                new = new + damping * rank[i] * links[i] / degree[i]
            else:
                new = new + damping * rank[i] / n
        delta = gx.sum(gx.abs(new - rank))
        rank = new
        rounds += 1
    return rank, rounds


@program("linear/strassen", inputs=[(4, 0), (4, 1)])
def strassen(n: int, seed: int) -> Tensor:
    """Recursion on the size, which is static."""

    def multiply(a: Tensor, b: Tensor) -> Tensor:
        size = a.shape[0]
        if size == 1:
            return a * b
        h = size // 2
        a11, a12, a21, a22 = a[:h, :h], a[:h, h:], a[h:, :h], a[h:, h:]
        b11, b12, b21, b22 = b[:h, :h], b[:h, h:], b[h:, :h], b[h:, h:]
        m1 = multiply(a11 + a22, b11 + b22)
        m2 = multiply(a21 + a22, b11)
        m3 = multiply(a11, b12 - b22)
        m4 = multiply(a22, b21 - b11)
        m5 = multiply(a11 + a12, b22)
        m6 = multiply(a21 - a11, b11 + b12)
        m7 = multiply(a12 - a22, b21 + b22)
        top = gx.concat([m1 + m4 - m5 + m7, m3 + m5], axis=1)
        bottom = gx.concat([m2 + m4, m1 - m2 + m3 + m6], axis=1)
        return gx.concat([top, bottom], axis=0)

    x = gx.reshape(gx.arange(n * n), (n, n)) % 5 + seed
    y = gx.reshape(gx.arange(n * n), (n, n)) % 3 - 1
    return multiply(x, y)


@program("linear/determinant_by_minors", inputs=[(floats(SPD),), (floats(PIVOTED),)], gradient=True)
def determinant(a: Tensor) -> Tensor:
    n = a.shape[0]
    if n == 1:
        return a[0, 0]
    total = 0.0
    for j in range(n):
        minor = gx.concat([a[1:, :j], a[1:, j + 1 :]], axis=1)
        total += (-1) ** j * a[0, j] * determinant(minor)
    return total


@program("linear/newton_schulz_inverse", inputs=[(floats(SPD),), (floats(DIAGONAL),)], python_numbers=True)
def newton_schulz(a: Tensor) -> Any:
    n = a.shape[0]
    x = a.T / (gx.max(gx.sum(gx.abs(a), axis=0)) * gx.max(gx.sum(gx.abs(a), axis=1)))
    for k in range(100):
        error = gx.eye(n) - a @ x
        if gx.linalg.norm(error) < 1e-3:
            break
        x = x + x @ error
    return x, k
