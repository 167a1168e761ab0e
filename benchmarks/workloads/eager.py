"""Programs that run line by line, with no compiler on either side."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

import graphc as gx
from benchmarks.workloads.workload import Workload


def eager_rows(x):
    total = gx.zeros(x.shape[1])
    for row in x:
        total = total + row
    return total


def eager_rows_by_hand(x):
    total = jnp.zeros(x.shape[1])
    for row in x:
        total = total + row
    return total


def eager_rows_only(x):
    return list(x)


def eager_rows_only_by_hand(x):
    return list(x)


def eager_scalars(x):
    return [float(item) for item in x]


def eager_scalars_by_hand(x):
    return [float(item) for item in x]


def eager_unpacking(x):
    a, b, c, d = x
    return a + b + c + d


def eager_unpacking_by_hand(x):
    a, b, c, d = x
    return a + b + c + d


def eager_plus_numpy(x):
    return x + _ONES


def eager_plus_numpy_by_hand(x):
    return x + _ONES


def eager_matmul_numpy(x):
    return gx.matmul(x, _ONES)


def eager_matmul_numpy_by_hand(x):
    return jnp.matmul(x, _ONES)


def eager_asarray_scalar(x):
    return x, gx.asarray(2.5)


def eager_asarray_scalar_by_hand(x):
    return x, jnp.asarray(2.5)


def eager_asarray_int(x):
    return x, gx.asarray(7)


def eager_asarray_int_by_hand(x):
    return x, jnp.asarray(7)


def eager_asarray_numpy(x):
    return x, gx.asarray(_ONES)


def eager_asarray_numpy_by_hand(x):
    return x, jnp.asarray(_ONES)


def eager_asarray_list(x):
    return x, gx.asarray([[1.0, 2.0], [3.0, 4.0]])


def eager_asarray_list_by_hand(x):
    return x, jnp.asarray([[1.0, 2.0], [3.0, 4.0]])


def eager_indexing(x):
    return x[3] + x[-1] + x[1:3].sum(axis=0) + x[:, 0].sum()


def eager_indexing_by_hand(x):
    return x[3] + x[-1] + x[1:3].sum(axis=0) + x[:, 0].sum()


def eager_item_assignment(x):
    out = gx.zeros(x.shape)
    for i in range(8):
        out[i] = x[i] * 2.0
    return out


def eager_item_assignment_by_hand(x):
    out = jnp.zeros(x.shape)
    for i in range(8):
        out = out.at[i].set(x[i] * 2.0)
    return out


def eager_while(x):
    steps = 0
    while gx.sum(x * x) > 1.0:
        x = x * 0.9
        steps += 1
    return x, steps


def eager_while_by_hand(x):
    steps = 0
    while jnp.sum(x * x) > 1.0:
        x = x * 0.9
        steps += 1
    return x, steps


def eager_list_and_stack(x):
    rows = []
    for i in range(8):
        rows.append(gx.tanh(x[i]) * i)
    return gx.stack(rows)


def eager_list_and_stack_by_hand(x):
    rows = []
    for i in range(8):
        rows.append(jnp.tanh(x[i]) * i)
    return jnp.stack(rows)


def eager_training_step(x, w):
    with gx.GradientTape() as tape:
        tape.watch(w)
        loss = gx.mean((gx.tanh(x @ w) - 1.0) ** 2)
    return w - 0.1 * tape.gradient(loss, w), loss


def eager_training_step_by_hand(x, w):
    loss, gradient = jax.value_and_grad(lambda w: jnp.mean((jnp.tanh(x @ w) - 1.0) ** 2))(w)
    return w - 0.1 * gradient, loss


_ONES = np.full((32, 32), 0.5, np.float32)


def _matrix(draw, n):
    return (draw.normal(n, 32),)


WORKLOADS = (
    Workload(eager_rows, eager_rows_by_hand, _matrix, 250, 4, eager=True),
    Workload(eager_rows_only, eager_rows_only_by_hand, _matrix, 250, 4, eager=True),
    Workload(eager_scalars, eager_scalars_by_hand, lambda draw, n: (draw.normal(n),), 64, 4, eager=True),
    Workload(eager_unpacking, eager_unpacking_by_hand, lambda draw, n: (draw.normal(4, n),), 32, 2, eager=True),
    Workload(eager_plus_numpy, eager_plus_numpy_by_hand, _matrix, 32, 32, eager=True),
    Workload(eager_matmul_numpy, eager_matmul_numpy_by_hand, _matrix, 32, 32, eager=True),
    Workload(eager_asarray_scalar, eager_asarray_scalar_by_hand, _matrix, 8, 8, eager=True),
    Workload(eager_asarray_int, eager_asarray_int_by_hand, _matrix, 8, 8, eager=True),
    Workload(eager_asarray_numpy, eager_asarray_numpy_by_hand, _matrix, 8, 8, eager=True),
    Workload(eager_asarray_list, eager_asarray_list_by_hand, _matrix, 8, 8, eager=True),
    Workload(eager_indexing, eager_indexing_by_hand, _matrix, 32, 8, eager=True),
    Workload(eager_item_assignment, eager_item_assignment_by_hand, _matrix, 8, 8, eager=True),
    Workload(eager_while, eager_while_by_hand, lambda draw, n: (draw.normal(n),), 1000, 8, eager=True),
    Workload(eager_list_and_stack, eager_list_and_stack_by_hand, _matrix, 8, 8, eager=True),
    Workload(
        eager_training_step,
        eager_training_step_by_hand,
        lambda draw, n: (draw.normal(16, n), draw.normal(n, n, scale=0.1)),
        32,
        4,
        eager=True,
    ),
)
