"""Dynamic programming: tables filled by item assignment, shortest paths, alignments."""

from __future__ import annotations

from functools import partial
from typing import Any

import graphc as gx
from graphc import Tensor
from tests.conformance import harness
from tests.conformance.harness import f as floats
from tests.conformance.harness import i as ints

program = partial(harness.program, construct="whole algorithms")

FAR = 1e9
WEIGHTS = [[0.0, 3.0, FAR, 7.0], [8.0, 0.0, 2.0, FAR], [5.0, FAR, 0.0, 1.0], [2.0, FAR, FAR, 0.0]]


@program(
    "dynamic/edit_distance", inputs=[(ints(1, 2, 3), ints(1, 3)), (ints(1, 2), ints(1, 2)), (ints(1, 1, 1), ints(2, 2))]
)
def edit_distance(a: Tensor, b: Tensor) -> Tensor:
    m, n = len(a), len(b)
    table = gx.zeros((m + 1, n + 1), dtype="int32")
    for i in range(m + 1):
        table[i, 0] = i
    for j in range(n + 1):
        table[0, j] = j
    for i in range(1, m + 1):
        for j in range(1, n + 1):
            if a[i - 1] == b[j - 1]:
                table[i, j] = table[i - 1, j - 1]
            else:
                table[i, j] = 1 + min(table[i - 1, j], table[i, j - 1], table[i - 1, j - 1])
    return table[m, n]


@program(
    "dynamic/edit_distance_rows", inputs=[(ints(1, 2, 3), ints(1, 3)), (ints(4, 4, 4), ints(4, 4))], python_numbers=True
)
def edit_distance_rows(a: Tensor, b: Tensor) -> Any:
    """Two Python lists instead of a table."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a):
        new = [i + 1]
        for j, y in enumerate(b):
            cost = 0 if x == y else 1
            new.append(min(row[j + 1] + 1, new[j] + 1, row[j] + cost))
        row = new
    return row[-1]


@program(
    "dynamic/longest_common_subsequence", inputs=[(ints(1, 2, 3, 2), ints(2, 1, 2)), (ints(1, 1, 1, 1), ints(2, 2, 2))]
)
def longest_common_subsequence(a: Tensor, b: Tensor) -> Any:
    """The table, then the walk back."""
    m, n = a.shape[0], b.shape[0]
    table = gx.zeros((m + 1, n + 1), dtype="int32")
    for i in range(m):
        for j in range(n):
            if a[i] == b[j]:
                table[i + 1, j + 1] = table[i, j] + 1
            else:
                table[i + 1, j + 1] = max(table[i, j + 1], table[i + 1, j])
    found = gx.full((n,), -1)
    i, j, k = m, n, table[m, n]
    while i > 0 and j > 0:
        if a[i - 1] == b[j - 1]:
            k -= 1
            found[k] = a[i - 1]
            i, j = i - 1, j - 1
        elif table[i - 1, j] >= table[i, j - 1]:
            i -= 1
        else:
            j -= 1
    return table[m, n], found


@program(
    "dynamic/knapsack", inputs=[(ints(2, 3, 4), floats(3.0, 4.0, 5.0), 5), (ints(2, 3, 4), floats(3.0, 4.0, 5.0), 1)]
)
def knapsack(weights: Tensor, values: Tensor, capacity: int) -> Any:
    best = gx.zeros(capacity + 1)
    for i in range(len(weights)):
        for c in range(capacity, -1, -1):
            if weights[i] <= c:
                taken = best[c - weights[i]] + values[i]
                if taken > best[c]:
                    best[c] = taken
    return best[capacity], best


@program("dynamic/coin_change", inputs=[(ints(1, 3, 4), 6), (ints(3, 5, 7), 4)], python_numbers=True)
def coin_change(coins: Tensor, amount: int) -> Any:
    infinity = amount + 1
    fewest = [0] + [infinity] * amount
    for value in range(1, amount + 1):
        for coin in coins:
            if coin <= value:
                rest = gx.stack([gx.asarray(c) for c in fewest])[value - coin]
                fewest[value] = min(fewest[value], rest + 1)
    if fewest[amount] == infinity:
        return -1
    return fewest[amount]


@program("dynamic/floyd_warshall", inputs=[(floats(WEIGHTS),)])
def floyd_warshall(w: Tensor) -> Tensor:
    d = gx.asarray(w) + 0.0
    n = d.shape[0]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                through = d[i, k] + d[k, j]
                if through < d[i, j]:
                    d[i, j] = through
    return d


@program("dynamic/floyd_warshall_vectorised", inputs=[(floats(WEIGHTS),)], gradient=True)
def floyd_warshall_vectorised(d: Tensor) -> Tensor:
    for k in range(len(d)):
        d = gx.minimum(d, d[:, k : k + 1] + d[k : k + 1, :])
    return d


@program(
    "dynamic/bellman_ford",
    inputs=[
        (ints([[0, 1], [1, 2], [0, 2]]), floats(1.0, 1.0, 5.0)),
        (ints([[0, 1], [1, 0], [1, 2]]), floats(1.0, -3.0, 1.0)),
    ],
    python_numbers=True,
)
def bellman_ford(edges: Tensor, costs: Tensor) -> Any:
    """Stops early; reports a negative cycle."""
    n = 3
    distance = gx.full((n,), 1e9)
    distance[0] = 0.0
    for round_ in range(n):
        changed = False
        for k in range(len(costs)):
            u, v = edges[k, 0], edges[k, 1]
            if distance[u] + costs[k] < distance[v]:
                distance[v] = distance[u] + costs[k]
                changed = True
        if not changed:
            return distance, round_
    return distance, -1


@program("dynamic/dijkstra", inputs=[(floats(WEIGHTS), ints(0)), (floats(WEIGHTS), ints(2))])
def dijkstra(w: Tensor, source: Tensor) -> Tensor:
    n = w.shape[0]
    distance = gx.full((n,), FAR)
    distance[source] = 0.0
    done = gx.zeros((n,), dtype=bool)
    for _ in range(n):
        u = gx.argmin(gx.where(done, FAR * 2, distance))
        done[u] = True
        for v in range(n):
            if not done[v] and distance[u] + w[u, v] < distance[v]:
                distance[v] = distance[u] + w[u, v]
    return distance


@program("dynamic/viterbi", inputs=[(ints(0, 1, 1, 0),), (ints(1, 1, 1, 1),)])
def viterbi(observed: Tensor) -> Any:
    start = gx.log(gx.asarray([0.6, 0.4]))
    move = gx.log(gx.asarray([[0.7, 0.3], [0.4, 0.6]]))
    emit = gx.log(gx.asarray([[0.8, 0.2], [0.1, 0.9]]))
    score = start + emit[:, observed[0]]
    pointers = []
    for t in range(1, len(observed)):
        candidates = score[:, None] + move
        pointers.append(gx.argmax(candidates, axis=0))
        score = gx.max(candidates, axis=0) + emit[:, observed[t]]
    state = gx.argmax(score)
    path = [state]
    for pointer in reversed(pointers):
        state = pointer[state]
        path.append(state)
    path.reverse()
    return gx.stack(path), gx.max(score)


@program("dynamic/forward_algorithm", inputs=[(ints(0, 1, 1),), (ints(1, 0, 0),)])
def forward_algorithm(observed: Tensor) -> Tensor:
    move = gx.asarray([[0.7, 0.3], [0.4, 0.6]])
    emit = gx.asarray([[0.8, 0.2], [0.1, 0.9]])
    alpha = gx.asarray([0.6, 0.4]) * emit[:, observed[0]]
    log_likelihood = gx.asarray(0.0)
    for symbol in observed[1:]:
        alpha = (alpha @ move) * emit[:, symbol]
        scale = gx.sum(alpha)
        log_likelihood += gx.log(scale)
        alpha = alpha / scale
    return log_likelihood


@program(
    "dynamic/matrix_chain", inputs=[(floats(10.0, 20.0, 30.0, 40.0),), (floats(5.0, 1.0, 5.0, 1.0),)], gradient=True
)
def matrix_chain(p: Tensor) -> Tensor:
    n = len(p) - 1
    cost = gx.zeros((n, n))
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length - 1
            best = gx.asarray(1e9)
            for k in range(i, j):
                total = cost[i, k] + cost[k + 1, j] + p[i] * p[k + 1] * p[j + 1]
                best = min(best, total)
            cost[i, j] = best
    return cost[0, n - 1]


@program(
    "dynamic/matrix_chain_dict",
    inputs=[(floats(10.0, 20.0, 30.0, 40.0),), (floats(5.0, 1.0, 5.0, 1.0),)],
    gradient=True,
)
def matrix_chain_dict(p: Tensor) -> Tensor:
    """A dict keyed by static pairs."""
    n = p.shape[0] - 1
    cost = {(i, i): 0.0 for i in range(n)}
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length - 1
            cost[i, j] = min(cost[i, k] + cost[k + 1, j] + p[i] * p[k + 1] * p[j + 1] for k in range(i, j))
    return cost[0, n - 1]


@program(
    "dynamic/dynamic_time_warping",
    inputs=[(floats(1.0, 2.0, 3.0), floats(1.0, 3.0)), (floats(0.0, 0.0, 0.0), floats(1.0, 1.0))],
    gradient=True,
)
def dynamic_time_warping(a: Tensor, b: Tensor) -> Tensor:
    table = [[None] * len(b) for _ in range(len(a))]
    for i in range(len(a)):
        for j in range(len(b)):
            cost = (a[i] - b[j]) ** 2
            if i == 0 and j == 0:
                table[i][j] = cost
            elif i == 0:
                table[i][j] = cost + table[i][j - 1]
            elif j == 0:
                table[i][j] = cost + table[i - 1][j]
            else:
                table[i][j] = cost + gx.minimum(gx.minimum(table[i - 1][j], table[i][j - 1]), table[i - 1][j - 1])
    return table[-1][-1]


@program("dynamic/longest_increasing", inputs=[(ints(3, 1, 2, 5, 4),), (ints(5, 4, 3, 2, 1),)], python_numbers=True)
def longest_increasing(x: Tensor) -> Any:
    best = [1] * len(x)
    for i in range(len(x)):
        for j in range(i):
            if x[j] < x[i] and best[j] + 1 > best[i]:
                best[i] = best[j] + 1
    return max(best), best


@program("dynamic/grid_paths", inputs=[(ints([[0, 0, 0], [0, 1, 0], [0, 0, 0]]),), (ints([[0, 1], [1, 0]]),)])
def grid_paths(walls: Tensor) -> Tensor:
    rows, columns = walls.shape
    ways = gx.zeros((rows, columns), dtype="int32")
    for r in range(rows):
        for c in range(columns):
            if walls[r, c]:
                continue
            if r == 0 and c == 0:
                ways[r, c] = 1
                continue
            if r > 0:
                ways[r, c] += ways[r - 1, c]
            if c > 0:
                ways[r, c] += ways[r, c - 1]
    return ways[-1, -1]


@program(
    "dynamic/flood_fill",
    inputs=[(ints([[0, 0, 1], [1, 0, 1], [1, 1, 0]]),), (ints([[0, 1, 0], [1, 1, 0], [0, 0, 0]]),)],
    python_numbers=True,
)
def flood_fill(walls: Tensor) -> Any:
    """Spreads from the first corner until nothing changes."""
    reached = gx.zeros(walls.shape, dtype=bool)
    reached[0, 0] = True
    waves = 0
    while True:
        grown = reached
        grown = grown | gx.pad(reached[1:, :], ((0, 1), (0, 0))) | gx.pad(reached[:-1, :], ((1, 0), (0, 0)))
        grown = grown | gx.pad(reached[:, 1:], ((0, 0), (0, 1))) | gx.pad(reached[:, :-1], ((0, 0), (1, 0)))
        grown = gx.logical_and(grown, walls == 0)
        if gx.all(grown == reached):
            break
        reached = grown
        waves += 1
    return reached, waves
