"""Sorting, searching, merging and counting, by item assignment and by lists."""

# ruff: noqa: RUF007  the programs are as people write them at first

from __future__ import annotations

from functools import partial
from typing import Any

import graphc as gx
from graphc import Tensor
from tests.conformance import harness
from tests.conformance.harness import f as floats
from tests.conformance.harness import i as ints

program = partial(harness.program, construct="whole algorithms")

MIXED = [3.0, -1.0, 2.0, 2.0, 0.5]
SORTED = [1.0, 2.0, 3.0, 4.0, 5.0]


@program("sorting/bubble", inputs=[(floats(MIXED),), (floats(SORTED),)], gradient=True)
def bubble_sort(x: Tensor) -> Tensor:
    x, n = x * 1.0, len(x)
    for i in range(n):
        for j in range(n - 1 - i):
            if x[j] > x[j + 1]:
                x[j], x[j + 1] = x[j + 1], x[j]
    return x


@program("sorting/bubble_early_exit", inputs=[(floats(MIXED),), (floats(SORTED),)], python_numbers=True)
def bubble_sort_early_exit(x: Tensor) -> Any:
    passes = 0
    while True:
        swapped = False
        for j in range(x.shape[0] - 1):
            if x[j] > x[j + 1]:
                keep = x[j]
                x[j] = x[j + 1]
                x[j + 1] = keep
                swapped = True
        passes += 1
        if not swapped:
            break
    return x, passes


@program("sorting/insertion", inputs=[(floats(MIXED),), (floats(SORTED),)])
def insertion_sort(x: Tensor) -> Tensor:
    for i in range(1, len(x)):
        key = x[i]
        j = i - 1
        while j >= 0 and x[j] > key:
            x[j + 1] = x[j]
            j -= 1
        x[j + 1] = key
    return x


@program("sorting/selection", inputs=[(floats(MIXED),), (floats(SORTED),)], gradient=True)
def selection_sort(x: Tensor) -> Tensor:
    x, n = x + 0.0, x.shape[0]
    for i in range(n):
        smallest = i
        for j in range(i + 1, n):
            if x[j] < x[smallest]:
                smallest = j
        if smallest != i:
            x[i], x[smallest] = x[smallest], x[i]
    return x


@program("sorting/shell", inputs=[(ints(5, 2, 8, 1, 9, 3),), (ints(1, 2, 3, 4, 5, 6),)])
def shell_sort(x: Tensor) -> Tensor:
    gap = len(x) // 2
    while gap > 0:
        for i in range(gap, len(x)):
            value, j = x[i], i
            while j >= gap and x[j - gap] > value:
                x[j] = x[j - gap]
                j -= gap
            x[j] = value
        gap //= 2
    return x


@program("sorting/counting", inputs=[(ints(3, 0, 2, 3, 1),), (ints(0, 0, 0, 0, 0),)])
def counting_sort(x: Tensor) -> Tensor:
    counts = gx.zeros(4, dtype="int32")
    for value in x:
        counts[value] += 1
    out = gx.zeros_like(x)
    position = 0
    for value in range(4):
        for _ in range(counts[value]):
            out[position] = value
            position += 1
    return out


@program("sorting/merge_sort", inputs=[(floats(4.0, 1.0, 3.0, 2.0),), (floats(1.0, 2.0, 3.0, 4.0),)])
def merge_sort(x: Tensor) -> Tensor:
    """Recursion on the length; the merge goes by two pointers."""
    n = len(x)
    if n <= 1:
        return x
    left, right = merge_sort(x[: n // 2]), merge_sort(x[n // 2 :])
    out = gx.zeros_like(x)
    i = j = 0
    for k in range(n):
        if i < len(left) and (j >= len(right) or left[i] <= right[j]):
            out[k] = left[i]
            i += 1
        else:
            out[k] = right[j]
            j += 1
    return out


@program("sorting/two_pointer_merge", inputs=[(ints(1, 4, 6), ints(2, 3, 9)), (ints(1, 2, 3), ints(4, 5, 6))])
def two_pointer_merge(a: Tensor, b: Tensor) -> Tensor:
    i, j, k = 0, 0, 0
    merged = gx.zeros(6, dtype=a.dtype)
    while i < 3 and j < 3:
        if a[i] <= b[j]:
            merged[k] = a[i]
            i += 1
        else:
            merged[k] = b[j]
            j += 1
        k += 1
    while i < 3:
        merged[k] = a[i]
        i, k = i + 1, k + 1
    while j < 3:
        merged[k] = b[j]
        j, k = j + 1, k + 1
    return merged


@program(
    "sorting/two_sum",
    inputs=[(floats(SORTED), floats(7.0)), (floats(SORTED), floats(100.0)), (floats(SORTED), floats(3.0))],
    python_numbers=True,
)
def two_sum(x: Tensor, target: Tensor) -> Any:
    low, high = 0, len(x) - 1
    while low < high:
        total = x[low] + x[high]
        if total == target:
            return low, high
        elif total < target:
            low += 1
        else:
            high -= 1
    return -1, -1


@program(
    "sorting/binary_search",
    inputs=[(floats(SORTED), floats(4.0)), (floats(SORTED), floats(1.0)), (floats(SORTED), floats(2.5))],
    python_numbers=True,
)
def binary_search(x: Tensor, wanted: Tensor) -> Any:
    low, high = 0, x.shape[0] - 1
    while low <= high:
        middle = (low + high) // 2
        if x[middle] == wanted:
            return middle
        if x[middle] < wanted:
            low = middle + 1
        else:
            high = middle - 1
    return -1


@program(
    "sorting/linear_search_for_else",
    inputs=[(floats(MIXED), floats(2.0)), (floats(MIXED), floats(9.0))],
    python_numbers=True,
)
def linear_search(x: Tensor, wanted: Tensor) -> Any:
    for i, value in enumerate(x):
        if value == wanted:
            position = i
            break
    else:
        position = -1
    return position


@program("sorting/quickselect", inputs=[(floats(MIXED), ints(2)), (floats(SORTED), ints(0)), (floats(MIXED), ints(4))])
def quickselect(x: Tensor, k: Tensor) -> Tensor:
    """The k-th smallest, with Lomuto's partition."""
    low, high = 0, len(x) - 1
    while True:
        pivot = x[high]
        store = low
        for i in range(low, high):
            if x[i] < pivot:
                x[store], x[i] = x[i], x[store]
                store += 1
        x[store], x[high] = x[high], x[store]
        if store == k:
            return x[store]
        if store < k:
            low = store + 1
        else:
            high = store - 1


@program("sorting/dutch_flag", inputs=[(ints(2, 0, 1, 2, 0),), (ints(1, 1, 1, 1, 1),)])
def dutch_flag(x: Tensor) -> Tensor:
    low, i, high = 0, 0, len(x) - 1
    while i <= high:
        match x[i]:
            case 0:
                x[low], x[i] = x[i], x[low]
                low += 1
                i += 1
            case 1:
                i += 1
            case _:
                x[i], x[high] = x[high], x[i]
                high -= 1
    return x


@program("sorting/cumulative_max", inputs=[(floats(MIXED),), (floats(SORTED),)], gradient=True)
def cumulative_max(x: Tensor) -> Tensor:
    best = x[0]
    out = []
    for value in x:
        if value > best:
            best = value
        out.append(best)
    return gx.stack(out)


@program(
    "sorting/kadane",
    inputs=[(floats(1.0, -3.0, 4.0, -1.0, 2.0),), (floats(-3.0, -1.0, -2.0),)],
    gradient=True,
    python_numbers=True,
)
def kadane(x: Tensor) -> Any:
    best = current = x[0]
    start, span = 0, (0, 0)
    for i in range(1, len(x)):
        if current < 0:
            current, start = x[i], i
        else:
            current = current + x[i]
        if current > best:
            best = current
            span = (start, i)
    return best, span


@program("sorting/histogram", inputs=[(floats(0.1, 0.9, 0.35, 0.95, 0.3),), (floats(0.5, 0.5, 0.5),)])
def histogram(x: Tensor) -> Tensor:
    counts = gx.zeros(4, dtype="int32")
    for value in x:
        bucket = int(value * 4)
        counts[bucket] += 1
    return counts


@program(
    "sorting/histogram_of_lists",
    inputs=[(floats(0.1, 0.9, 0.35, 0.95, 0.3),), (floats(0.5, 0.5, 0.5),)],
    python_numbers=True,
)
def histogram_of_lists(x: Tensor) -> Any:
    edges = [0.0, 0.25, 0.5, 0.75, 1.0]
    counts = [0] * 4
    for value in x:
        for k in range(4):
            if edges[k] <= value < edges[k + 1]:
                counts[k] += 1
                break
    return counts


@program("sorting/run_lengths", inputs=[(ints(1, 1, 2, 2, 2, 1),), (ints(5, 5, 5, 5, 5, 5),)], python_numbers=True)
def run_lengths(x: Tensor) -> Any:
    lengths = gx.zeros(x.shape, dtype="int32")
    run = 0
    previous = x[0]
    for value in x:
        if value != previous:
            run += 1
        lengths[run] += 1
        previous = value
    return lengths, run + 1


@program("sorting/majority", inputs=[(ints(2, 2, 1, 1, 2),), (ints(1, 2, 3, 3, 3),)], python_numbers=True)
def majority(x: Tensor) -> Any:
    """Boyer and Moore's vote, and a check of the winner."""
    candidate, count = x[0], 0
    for value in x:
        if count == 0:
            candidate = value
        count += 1 if value == candidate else -1
    votes = sum(1 for value in x if value == candidate)
    return candidate, votes


@program("sorting/unique_in_order", inputs=[(ints(3, 1, 3, 2, 1),), (ints(4, 4, 4, 4, 4),)], python_numbers=True)
def unique_in_order(x: Tensor) -> Any:
    n = len(x)
    kept = gx.full((n,), -1)
    count = 0
    for value in x:
        seen = False
        for k in range(count):
            if kept[k] == value:
                seen = True
                break
        if not seen:
            kept[count] = value
            count += 1
    return kept, count


@program("sorting/is_sorted", inputs=[(floats(SORTED),), (floats(MIXED),)], python_numbers=True)
def is_sorted(x: Tensor) -> Any:
    return all(a <= b for a, b in zip(x[:-1], x[1:], strict=True))


@program("sorting/remove_negatives", inputs=[(floats(MIXED),), (floats(SORTED),)], python_numbers=True)
def compact(x: Tensor) -> Any:
    out = gx.zeros_like(x)
    kept = 0
    for value in x:
        if value < 0:
            continue
        out[kept] = value
        kept += 1
    return out, kept


@program("sorting/top_two", inputs=[(floats(MIXED),), (floats(SORTED),)], gradient=True)
def top_two(x: Tensor) -> Any:
    first = second = -float("inf")
    for value in x:
        if value > first:
            first, second = value, first
        elif value > second:
            second = value
    return first, second
