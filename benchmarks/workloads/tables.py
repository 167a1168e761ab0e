"""Tables that are filled item by item: dynamic programming."""

from __future__ import annotations

import jax
import jax.numpy as jnp

import graphc as gx
from benchmarks.workloads.workload import Workload


def edit_distance(a, b):
    m, n = a.shape[0], b.shape[0]
    table = gx.zeros((m + 1, n + 1), dtype="int32")
    table[:, 0] = gx.arange(m + 1)
    table[0] = gx.arange(n + 1)
    for i in range(1, m + 1):
        for j in range(1, n + 1):
            if a[i - 1] == b[j - 1]:
                table[i, j] = table[i - 1, j - 1]
            else:
                table[i, j] = 1 + min(table[i - 1, j], table[i, j - 1], table[i - 1, j - 1])
    return table[m, n]


def edit_distance_min(a, b):
    """The same as one expression."""
    m, n = a.shape[0], b.shape[0]
    table = gx.zeros((m + 1, n + 1), dtype="int32")
    table[:, 0] = gx.arange(m + 1)
    table[0] = gx.arange(n + 1)
    for i in range(1, m + 1):
        for j in range(1, n + 1):
            cost = 0 if a[i - 1] == b[j - 1] else 1
            table[i, j] = min(table[i - 1, j] + 1, table[i, j - 1] + 1, table[i - 1, j - 1] + cost)
    return table[m, n]


def edit_distance_row_lists(a, b):
    n = b.shape[0]
    previous = [gx.asarray(j) for j in range(n + 1)]
    for i in range(a.shape[0]):
        row = [gx.asarray(i + 1)]
        for j in range(n):
            cost = gx.where(a[i] == b[j], 0, 1)
            row.append(gx.minimum(gx.minimum(previous[j + 1] + 1, row[j] + 1), previous[j] + cost))
        previous = row
    return previous[n]


def edit_distance_by_hand(a, b):
    m, n = a.shape[0], b.shape[0]
    table = jnp.zeros((m + 1, n + 1), jnp.int32).at[:, 0].set(jnp.arange(m + 1)).at[0].set(jnp.arange(n + 1))

    def cell(i, j, table):
        least = jnp.minimum(jnp.minimum(table[i - 1, j], table[i, j - 1]), table[i - 1, j - 1])
        return table.at[i, j].set(jnp.where(a[i - 1] == b[j - 1], table[i - 1, j - 1], 1 + least))

    def row(i, table):
        return jax.lax.fori_loop(1, n + 1, lambda j, table: cell(i, j, table), table)

    return jax.lax.fori_loop(1, m + 1, row, table)[m, n]


def edit_distance_two_rows(a, b):
    n = b.shape[0]
    previous = gx.arange(n + 1)
    for i in range(a.shape[0]):
        row = gx.zeros_like(previous)
        row[0] = i + 1
        for j in range(n):
            cost = gx.where(a[i] == b[j], 0, 1)
            row[j + 1] = gx.minimum(gx.minimum(previous[j + 1], row[j]) + 1, previous[j] + cost)
        previous = row
    return previous[n]


def edit_distance_two_rows_by_hand(a, b):
    n = b.shape[0]

    def line(previous, given):
        i, letter = given

        def cell(left, given):
            above, diagonal, other = given
            left = jnp.minimum(jnp.minimum(above, left) + 1, diagonal + jnp.where(letter == other, 0, 1))
            return left, left

        _, rest = jax.lax.scan(cell, i + 1, (previous[1:], previous[:-1], b))
        return jnp.concatenate([(i + 1)[None], rest]), None

    return jax.lax.scan(line, jnp.arange(n + 1), (jnp.arange(a.shape[0]), a))[0][n]


def common_subsequence(a, b):
    m, n = a.shape[0], b.shape[0]
    table = gx.zeros((m + 1, n + 1), dtype="int32")
    for i in range(m):
        for j in range(n):
            if a[i] == b[j]:
                table[i + 1, j + 1] = table[i, j] + 1
            elif table[i, j + 1] >= table[i + 1, j]:
                table[i + 1, j + 1] = table[i, j + 1]
            else:
                table[i + 1, j + 1] = table[i + 1, j]
    return table[m, n]


def common_subsequence_by_hand(a, b):
    m, n = a.shape[0], b.shape[0]

    def cell(i, j, table):
        other = jnp.maximum(table[i, j + 1], table[i + 1, j])
        return table.at[i + 1, j + 1].set(jnp.where(a[i] == b[j], table[i, j] + 1, other))

    def row(i, table):
        return jax.lax.fori_loop(0, n, lambda j, table: cell(i, j, table), table)

    return jax.lax.fori_loop(0, m, row, jnp.zeros((m + 1, n + 1), jnp.int32))[m, n]


def knapsack(weights, values, capacity):
    best = gx.zeros(capacity + 1)
    for item in range(weights.shape[0]):
        for room in range(capacity, 0, -1):
            if weights[item] <= room:
                best[room] = gx.maximum(best[room], best[room - weights[item]] + values[item])
    return best[capacity]


def knapsack_by_hand(weights, values, capacity):
    def room(left, item, best):
        at = capacity - left
        taken = jnp.maximum(best[at], best[jnp.maximum(at - weights[item], 0)] + values[item])
        return best.at[at].set(jnp.where(weights[item] <= at, taken, best[at]))

    def with_item(item, best):
        return jax.lax.fori_loop(0, capacity, lambda left, best: room(left, item, best), best)

    return jax.lax.fori_loop(0, weights.shape[0], with_item, jnp.zeros(capacity + 1))[capacity]


def coin_change(coins, amount):
    ways = gx.zeros(amount + 1, dtype="int32")
    ways[0] = 1
    for coin in coins:
        for total in range(1, amount + 1):
            if total >= coin:
                ways[total] += ways[total - coin]
    return ways[amount]


def coin_change_by_hand(coins, amount):
    def total(at, coin, ways):
        before = ways[jnp.maximum(at - coin, 0)]
        return ways.at[at].add(jnp.where(at >= coin, before, 0))

    def with_coin(ways, coin):
        return jax.lax.fori_loop(1, amount + 1, lambda at, ways: total(at, coin, ways), ways), None

    return jax.lax.scan(with_coin, jnp.zeros(amount + 1, jnp.int32).at[0].set(1), coins)[0][amount]


def fibonacci(n):
    numbers = gx.zeros(n)
    numbers[1] = 1.0
    for i in range(2, n):
        numbers[i] = (numbers[i - 1] + numbers[i - 2]) % 1000.0
    return numbers


def fibonacci_by_hand(n):
    def step(two, _):
        new = (two[0] + two[1]) % 1000.0
        return (two[1], new), new

    return jnp.concatenate([jnp.array([0.0, 1.0]), jax.lax.scan(step, (0.0, 1.0), None, length=n - 2)[1]])


def time_warping(a, b):
    m, n = a.shape[0], b.shape[0]
    cost = gx.full((m + 1, n + 1), 1e9)
    cost[0, 0] = 0.0
    for i in range(m):
        for j in range(n):
            before = gx.minimum(gx.minimum(cost[i, j + 1], cost[i + 1, j]), cost[i, j])
            cost[i + 1, j + 1] = gx.abs(a[i] - b[j]) + before
    return cost[m, n]


def time_warping_by_hand(a, b):
    def line(above, x):
        def cell(left, given):
            over, diagonal, y = given
            new = jnp.abs(x - y) + jnp.minimum(jnp.minimum(over, left), diagonal)
            return new, new

        _, new = jax.lax.scan(cell, 1e9, (above[1:], above[:-1], b))
        return jnp.concatenate([jnp.array([1e9]), new]), None

    first = jnp.full(b.shape[0] + 1, 1e9).at[0].set(0.0)
    return jax.lax.scan(line, first, a)[0][-1]


def time_warping_soft(a, b):
    m, n = a.shape[0], b.shape[0]
    cost = gx.full((m + 1, n + 1), 1e3)
    cost[0, 0] = 0.0
    for i in range(m):
        for j in range(n):
            before = gx.stack([cost[i, j + 1], cost[i + 1, j], cost[i, j]])
            cost[i + 1, j + 1] = (a[i] - b[j]) ** 2 - gx.nn.logsumexp(-before)
    return cost[m, n]


def time_warping_soft_by_hand(a, b):
    def line(above, x):
        def cell(left, given):
            over, diagonal, y = given
            new = (x - y) ** 2 - jax.nn.logsumexp(-jnp.stack([over, left, diagonal]))
            return new, new

        _, new = jax.lax.scan(cell, 1e3, (above[1:], above[:-1], b))
        return jnp.concatenate([jnp.array([1e3]), new]), None

    return jax.lax.scan(line, jnp.full(b.shape[0] + 1, 1e3).at[0].set(0.0), a)[0][-1]


def viterbi_index_backwards(scores, moves):
    best, back = scores[0], []
    for t in range(1, scores.shape[0]):
        through = best[:, None] + moves
        back.append(gx.argmax(through, axis=0))
        best = gx.max(through, axis=0) + scores[t]
    state = gx.argmax(best)
    path = [state]
    for t in range(scores.shape[0] - 2, -1, -1):
        state = back[t][state]
        path.append(state)
    return gx.stack(path)


def viterbi_reversed_list(scores, moves):
    best, back = scores[0], []
    for score in scores[1:]:
        through = best[:, None] + moves
        back.append(gx.argmax(through, axis=0))
        best = gx.max(through, axis=0) + score
    path = [gx.argmax(best)]
    for pointers in reversed(back):
        path.append(pointers[path[-1]])
    return gx.stack(path)


def viterbi_by_hand(scores, moves):
    def forward(best, score):
        through = best[:, None] + moves
        return jnp.max(through, axis=0) + score, jnp.argmax(through, axis=0)

    def backward(state, pointers):
        state = pointers[state]
        return state, state

    best, back = jax.lax.scan(forward, scores[0], scores[1:])
    last = jnp.argmax(best)
    return jnp.concatenate([last[None], jax.lax.scan(backward, last, back, reverse=True)[1][::-1]])


def longest_increasing(x):
    n = x.shape[0]
    length = gx.ones(n, dtype="int32")
    for i in range(1, n):
        for j in range(i):
            if x[j] < x[i]:
                length[i] = gx.maximum(length[i], length[j] + 1)
    return gx.max(length)


def longest_increasing_by_hand(x):
    def item(i, length):
        def earlier(j, longest):
            return jnp.where(x[j] < x[i], jnp.maximum(longest, length[j] + 1), longest)

        return length.at[i].set(jax.lax.fori_loop(0, i, earlier, 1))

    return jnp.max(jax.lax.fori_loop(1, x.shape[0], item, jnp.ones(x.shape[0], jnp.int32)))


def best_path_gradient(costs):
    m, n = costs.shape
    total = gx.zeros((m, n))
    total[0] = gx.cumsum(costs[0])
    for i in range(1, m):
        for j in range(n):
            left = total[i - 1, gx.maximum(j - 1, 0)]
            total[i, j] = costs[i, j] + gx.minimum(total[i - 1, j], left)
    return gx.min(total[m - 1])


def best_path_gradient_by_hand(costs):
    def line(above, cost):
        def cell(_, given):
            over, left, own = given
            return None, own + jnp.minimum(over, left)

        left = jnp.concatenate([above[:1], above[:-1]])
        return jax.lax.scan(cell, None, (above, left, cost))[1], None

    return jnp.min(jax.lax.scan(line, jnp.cumsum(costs[0]), costs[1:])[0])


def _texts(draw, n):
    return draw.integers(4, n), draw.integers(4, n)


def _series(draw, n):
    return draw.normal(n), draw.normal(n)


def _scores(draw, n):
    return draw.normal(n, 16), draw.normal(16, 16)


WORKLOADS = (
    Workload(edit_distance, edit_distance_by_hand, _texts, 100, 5),
    Workload(edit_distance_min, edit_distance_by_hand, _texts, 100, 5),
    Workload(edit_distance_row_lists, edit_distance_by_hand, _texts, 30, 4),
    Workload(edit_distance_two_rows, edit_distance_two_rows_by_hand, _texts, 100, 5),
    Workload(common_subsequence, common_subsequence_by_hand, _texts, 100, 5),
    Workload(knapsack, knapsack_by_hand, lambda draw, n: (draw.integers(9, n, low=1), draw.uniform(n), 5 * n), 60, 4),
    Workload(coin_change, coin_change_by_hand, lambda draw, n: (draw.integers(20, 6, low=1), n), 1000, 12),
    Workload(fibonacci, fibonacci_by_hand, lambda draw, n: (n,), 5000, 7),
    Workload(time_warping, time_warping_by_hand, _series, 100, 4),
    Workload(time_warping_soft, time_warping_soft_by_hand, _series, 40, 4, gradient=(0, 1)),
    Workload(viterbi_index_backwards, viterbi_by_hand, _scores, 80, 5),
    Workload(viterbi_reversed_list, viterbi_by_hand, _scores, 80, 5),
    Workload(longest_increasing, longest_increasing_by_hand, lambda draw, n: (draw.normal(n),), 200, 8),
    Workload(
        best_path_gradient, best_path_gradient_by_hand, lambda draw, n: (draw.normal(n, n),), 40, 4, gradient=(0,)
    ),
)
