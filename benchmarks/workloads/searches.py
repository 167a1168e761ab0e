"""Sorting, searching, sieves and graphs."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

import graphc as gx
from benchmarks.workloads.workload import Workload


def sieve(n):
    is_prime = gx.ones(n, dtype="bool")
    is_prime[0] = False
    is_prime[1] = False
    for i in range(2, int(n**0.5) + 1):
        if is_prime[i]:
            for j in range(i * i, n, i):
                is_prime[j] = False
    return gx.sum(is_prime)


def sieve_by_hand(n):
    def strike(i, is_prime):
        def step(carry):
            j, is_prime = carry
            return j + i, is_prime.at[j].set(False)

        start = jnp.where(is_prime[i], i * i, n)
        return jax.lax.while_loop(lambda carry: carry[0] < n, step, (start, is_prime))[1]

    is_prime = jnp.ones(n, bool).at[:2].set(False)
    return jnp.sum(jax.lax.fori_loop(2, int(n**0.5) + 1, strike, is_prime))


def bubble_sort(x):
    x = gx.copy(x)
    n = x.shape[0]
    for i in range(n):
        for j in range(n - 1 - i):
            if x[j] > x[j + 1]:
                x[j], x[j + 1] = x[j + 1], x[j]
    return x


def bubble_sort_by_hand(x):
    n = x.shape[0]

    def swap(j, x):
        one, other = x[j], x[j + 1]
        return x.at[j].set(jnp.minimum(one, other)).at[j + 1].set(jnp.maximum(one, other))

    return jax.lax.fori_loop(0, n, lambda i, x: jax.lax.fori_loop(0, n - 1 - i, swap, x), x)


def odd_even_sort(x):
    x = gx.copy(x)
    n = x.shape[0]
    for i in range(n):
        if i % 2 == 0:
            left, right = gx.minimum(x[0::2], x[1::2]), gx.maximum(x[0::2], x[1::2])
            x[0::2] = left
            x[1::2] = right
        else:
            left, right = gx.minimum(x[1:-1:2], x[2::2]), gx.maximum(x[1:-1:2], x[2::2])
            x[1:-1:2] = left
            x[2::2] = right
    return x


def odd_even_sort_by_hand(x):
    def even(x):
        pairs = x.reshape(-1, 2)
        return jnp.stack([jnp.min(pairs, axis=1), jnp.max(pairs, axis=1)], axis=1).reshape(-1)

    def odd(x):
        return jnp.concatenate([x[:1], even(x[1:-1]), x[-1:]])

    return jax.lax.fori_loop(0, x.shape[0], lambda i, x: jax.lax.cond(i % 2 == 0, even, odd, x), x)


def insertion_sort(x):
    x = gx.copy(x)
    for i in range(1, x.shape[0]):
        value, j = x[i], i
        while j > 0 and x[j - 1] > value:
            x[j] = x[j - 1]
            j -= 1
        x[j] = value
    return x


def insertion_sort_by_hand(x):
    def insert(i, x):
        value = x[i]

        def step(carry):
            j, x = carry
            return j - 1, x.at[j].set(x[j - 1])

        j, x = jax.lax.while_loop(lambda carry: (carry[0] > 0) & (carry[1][carry[0] - 1] > value), step, (i, x))
        return x.at[j].set(value)

    return jax.lax.fori_loop(1, x.shape[0], insert, x)


def selection_sort(x):
    x = gx.copy(x)
    n = x.shape[0]
    for i in range(n - 1):
        least = i
        for j in range(i + 1, n):
            if x[j] < x[least]:
                least = j
        x[i], x[least] = x[least], x[i]
    return x


def selection_sort_by_hand(x):
    n = x.shape[0]

    def place(i, x):
        least = jax.lax.fori_loop(i + 1, n, lambda j, least: jnp.where(x[j] < x[least], j, least), i)
        one, other = x[i], x[least]
        return x.at[i].set(other).at[least].set(one)

    return jax.lax.fori_loop(0, n - 1, place, x)


def binary_searches(values, wanted):
    """Finds the place of each wanted value among sorted ones."""
    places = gx.zeros(wanted.shape[0], dtype="int32")
    for i in range(wanted.shape[0]):
        low, high = 0, values.shape[0]
        while low < high:
            middle = (low + high) // 2
            if values[middle] < wanted[i]:
                low = middle + 1
            else:
                high = middle
        places[i] = low
    return places


def binary_searches_by_hand(values, wanted):
    def search(value):
        def step(carry):
            low, high = carry
            middle = (low + high) // 2
            smaller = values[middle] < value
            return jnp.where(smaller, middle + 1, low), jnp.where(smaller, high, middle)

        start = jnp.int32(0), jnp.int32(values.shape[0])
        return jax.lax.while_loop(lambda carry: carry[0] < carry[1], step, start)[0]

    return jax.lax.map(search, wanted)


def depth_first_search(edges):
    """Visits what node 0 reaches, with a stack of nodes; counts the visits in order."""
    n = edges.shape[0]
    stack, top = gx.zeros(n * n + 1, dtype="int32"), 1
    order, count = gx.full(n, -1, dtype="int32"), 0
    while top > 0:
        top -= 1
        node = stack[top]
        if order[node] < 0:
            order[node] = count
            count += 1
            for other in range(n):
                if edges[node, other] and order[other] < 0:
                    stack[top] = other
                    top += 1
    return order


def depth_first_search_by_hand(edges):
    n = edges.shape[0]

    def push(other, carry, node, order):
        stack, top = carry
        wanted = edges[node, other] & (order[other] < 0)
        return stack.at[top].set(jnp.where(wanted, other, stack[top])), top + wanted

    def visit(node, stack, top, order, count):
        order = order.at[node].set(count)
        stack, top = jax.lax.fori_loop(0, n, lambda other, carry: push(other, carry, node, order), (stack, top))
        return stack, top, order, count + 1

    def step(carry):
        stack, top, order, count = carry
        node = stack[top - 1]
        new = order[node] < 0
        return jax.lax.cond(new, visit, lambda node, *carry: carry, node, stack, top - 1, order, count)

    start = jnp.zeros(n * n + 1, jnp.int32), jnp.int32(1), jnp.full(n, -1, jnp.int32), jnp.int32(0)
    return jax.lax.while_loop(lambda carry: carry[1] > 0, step, start)[2]


def depth_first_search_list(edges):
    """The same with a list as the stack."""
    n = edges.shape[0]
    stack, order, count = [gx.asarray(0)], gx.full(n, -1, dtype="int32"), 0
    while stack:
        gx.loop_options(max_iterations=n * n)
        node = stack.pop()
        if order[node] < 0:
            order[node] = count
            count += 1
            for other in range(n):
                if edges[node, other] and order[other] < 0:
                    stack.append(gx.asarray(other))
    return order


def breadth_first_levels(edges):
    """The distance of each node from node 0, level by level."""
    n = edges.shape[0]
    distance = gx.full(n, -1, dtype="int32")
    distance[0] = 0
    frontier = gx.arange(n) == 0
    level = 0
    while gx.any(frontier):
        level += 1
        reached = gx.any(edges & frontier[:, None], axis=0)
        frontier = reached & (distance < 0)
        distance = gx.where(frontier, level, distance)
    return distance


def breadth_first_levels_by_hand(edges):
    n = edges.shape[0]

    def step(carry):
        frontier, distance, level = carry
        frontier = jnp.any(edges & frontier[:, None], axis=0) & (distance < 0)
        return frontier, jnp.where(frontier, level + 1, distance), level + 1

    start = jnp.arange(n) == 0, jnp.full(n, -1, jnp.int32).at[0].set(0), jnp.int32(0)
    return jax.lax.while_loop(lambda carry: jnp.any(carry[0]), step, start)[1]


def dijkstra(lengths):
    n = lengths.shape[0]
    distance, done = gx.full(n, 1e9), gx.zeros(n, dtype="bool")
    distance[0] = 0.0
    for _ in range(n):
        node = gx.argmin(gx.where(done, 1e9, distance))
        done[node] = True
        for other in range(n):
            if not done[other] and distance[node] + lengths[node, other] < distance[other]:
                distance[other] = distance[node] + lengths[node, other]
    return distance


def dijkstra_by_hand(lengths):
    n = lengths.shape[0]

    def visit(_, carry):
        distance, done = carry
        node = jnp.argmin(jnp.where(done, 1e9, distance))
        done = done.at[node].set(True)

        def relax(other, distance):
            through = distance[node] + lengths[node, other]
            return distance.at[other].set(
                jnp.where(done[other], distance[other], jnp.minimum(distance[other], through))
            )

        return jax.lax.fori_loop(0, n, relax, distance), done

    return jax.lax.fori_loop(0, n, visit, (jnp.full(n, 1e9).at[0].set(0.0), jnp.zeros(n, bool)))[0]


def floyd_warshall(lengths):
    lengths = gx.copy(lengths)
    n = lengths.shape[0]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                if lengths[i, k] + lengths[k, j] < lengths[i, j]:
                    lengths[i, j] = lengths[i, k] + lengths[k, j]
    return lengths


def floyd_warshall_by_hand(lengths):
    n = lengths.shape[0]

    def cell(k, i, j, lengths):
        return lengths.at[i, j].set(jnp.minimum(lengths[i, j], lengths[i, k] + lengths[k, j]))

    def row(k, i, lengths):
        return jax.lax.fori_loop(0, n, lambda j, lengths: cell(k, i, j, lengths), lengths)

    def through(k, lengths):
        return jax.lax.fori_loop(0, n, lambda i, lengths: row(k, i, lengths), lengths)

    return jax.lax.fori_loop(0, n, through, lengths)


def bellman_ford(sources, targets, lengths, nodes):
    distance = gx.full(nodes, 1e9)
    distance[0] = 0.0
    changed = True
    while changed:
        changed = False
        for edge in range(sources.shape[0]):
            through = distance[sources[edge]] + lengths[edge]
            if through < distance[targets[edge]]:
                distance[targets[edge]] = through
                changed = True
    return distance


def bellman_ford_by_hand(sources, targets, lengths, nodes):
    def edge(i, carry):
        distance, changed = carry
        through = distance[sources[i]] + lengths[i]
        shorter = through < distance[targets[i]]
        return distance.at[targets[i]].min(through), changed | shorter

    def sweep(carry):
        return jax.lax.fori_loop(0, sources.shape[0], edge, (carry[0], jnp.array(False)))

    start = jnp.full(nodes, 1e9).at[0].set(0.0), jnp.array(True)
    return jax.lax.while_loop(lambda carry: carry[1], sweep, start)[0]


def count_inversions(x):
    count = gx.zeros((), dtype="int32")
    for i in range(x.shape[0]):
        for j in range(i + 1, x.shape[0]):
            if x[i] > x[j]:
                count = count + 1
    return count


def count_inversions_by_hand(x):
    n = x.shape[0]

    def row(i, count):
        return jax.lax.fori_loop(i + 1, n, lambda j, count: count + (x[i] > x[j]), count)

    return jax.lax.fori_loop(0, n, row, jnp.int32(0))


def histogram(x, bins):
    counts = gx.zeros(bins, dtype="int32")
    for i in range(x.shape[0]):
        counts[x[i]] += 1
    return counts


def histogram_by_hand(x, bins):
    return jax.lax.fori_loop(0, x.shape[0], lambda i, counts: counts.at[x[i]].add(1), jnp.zeros(bins, jnp.int32))


def _values(draw, n):
    return (draw.normal(n),)


def _ascending(draw, n):
    return np.sort(draw.normal(n))


def _edges(draw, n):
    return (draw.uniform(n, n) < 3.0 / n,)


def _lengths(draw, n):
    return (draw.uniform(n, n, low=0.1),)


def _edge_list(draw, n):
    return draw.integers(n, 4 * n), draw.integers(n, 4 * n), draw.uniform(4 * n, low=0.1), n


WORKLOADS = (
    Workload(sieve, sieve_by_hand, lambda draw, n: (n,), 100_000, 30),
    Workload(bubble_sort, bubble_sort_by_hand, _values, 200, 6),
    Workload(odd_even_sort, odd_even_sort_by_hand, _values, 512, 8),
    Workload(insertion_sort, insertion_sort_by_hand, _values, 300, 6),
    Workload(selection_sort, selection_sort_by_hand, _values, 300, 6),
    Workload(
        binary_searches, binary_searches_by_hand, lambda draw, n: (_ascending(draw, n), draw.normal(n // 2)), 1024, 8
    ),
    Workload(depth_first_search, depth_first_search_by_hand, _edges, 100, 6),
    Workload(depth_first_search_list, depth_first_search_by_hand, _edges, 30, 5),
    Workload(breadth_first_levels, breadth_first_levels_by_hand, _edges, 500, 8),
    Workload(dijkstra, dijkstra_by_hand, _lengths, 100, 5),
    Workload(floyd_warshall, floyd_warshall_by_hand, _lengths, 48, 4),
    Workload(bellman_ford, bellman_ford_by_hand, _edge_list, 500, 6),
    Workload(count_inversions, count_inversions_by_hand, _values, 400, 7),
    Workload(histogram, histogram_by_hand, lambda draw, n: (draw.integers(50, n), 50), 10_000, 20),
)
