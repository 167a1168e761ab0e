"""Python's builtin functions on tensors without values: they give what they give in plain Python."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc import Tensor
from graphc.compiler.base import nest
from graphc.compiler.base.errors import (
    ConcretizationError,
    InvalidArgumentError,
    InvalidTypeError,
    OutOfRangeError,
    UnimplementedError,
)
from tests.compiler.autograph.differential import check, f, kinds_of, n

CASES: list[Any] = []

V = f(1.0, 2.0, -3.0, -4.0, 5.0, 6.0)
W = f(-1.0, -1.0, -2.0, -1.0, -1.0, -9.0)
NAN = math.nan


def case(*args: Any, loops: list[str] | None = None) -> Callable[[Any], Any]:
    """A program; each argument is one run, or a tuple of arguments."""
    runs = tuple(given if isinstance(given, tuple) else (given,) for given in args)

    def add(fn: Any) -> Any:
        CASES.append(pytest.param(fn, runs, loops, id=fn.__name__))
        return fn

    return add


# --- max and min


@case((f(1.0), f(2.0)), (f(2.0), f(1.0)), (f(2.0), f(2.0)), (f(NAN), f(1.0)), (f(1.0), f(NAN)))
def of_several(x: Tensor, y: Tensor) -> Any:
    several = (
        max(x, y),
        min(x, y),
        max(x, y, 0.5),
        min(2.5, x, y),
        max(x, 1),
        max([x, y]),
        min({"a": x, "b": y}.values()),
    )
    return several, max(deque((x, y), maxlen=3)), any(deque((x > 1, y > 1)))


@case((f(1.0), f(-2.0)), (f(-2.0), f(1.0)))
def with_keys(x: Tensor, y: Tensor) -> Any:
    return max(x, y, key=abs), min([x, y], key=lambda v: -v), max((x, 1), (y, 2), key=lambda pair: pair[0])[1]


@case(V, W, f(NAN, 1.0, 2.0), f(1.0, NAN, 2.0), f(3.0), loops=["rolled"] * 4)
def of_a_tensor(x: Tensor) -> Any:
    v = gx.reshape(x, (-1,))
    return max(v), min(v), max(u * u for u in v), min((abs(u) for u in v), default=1.0)


@case(V, W, gx.zeros(0))
def of_what_may_be_empty(x: Tensor) -> Any:
    return max((v for v in x if v > 0), default=-1.0), min(x, default=7.0)


@case(V, W, gx.zeros(0))
def of_nothing(x: Tensor) -> Any:
    return min(v for v in x if v > 0)


@case((V, n(4)), (V, n(0)))
def of_a_tensor_range(x: Tensor, count: Tensor) -> Any:
    return max(i * 2 - i * i for i in range(count)), x


@case((f(1.0), f(2.0)), (f(2.0), f(1.0)), (f(1.0), f(1.0)), (f(NAN), f(1.0)))
def of_tuples(x: Tensor, y: Tensor) -> Any:
    return max((x, 1), (y, 2)), min([[x, 5], [y, 4]])


@case(V)
def positions(x: Tensor) -> Any:
    return max(enumerate(x), key=lambda pair: pair[1])[0], min((v, i) for i, v in enumerate(x))


@case(V, loops=["while", "rolled"])
def bounds_of_a_window(x: Tensor) -> Any:
    total = gx.zeros(())
    for i in range(8):
        for j in range(max(0, i - 2), min(6, i + 3)):
            total = total + x[j] * i
    return total


# --- sums and truth


@case(V, W, gx.zeros(0))
def sums(x: Tensor) -> Any:
    return sum(x), sum(v * v for v in x if v > 0), sum((v for v in x), start=2.5), sum(i * v for i, v in enumerate(x))


@case(V)
def sums_of_lists(x: Tensor) -> Any:
    return sum([x[0], x[1]]), sum([x, x], x), sum([0.1] * 10 + [x[0]]), sum({"a": x, "b": x * 2}.values())


@case(V, loops=["rolled"])
def a_sum_over_indices(x: Tensor) -> Any:
    return sum(x[i] * i for i in range(6))


@case(V, loops=["rolled", "rolled"])
def a_sum_of_two_loops(x: Tensor) -> Any:
    return sum(a * b for a in x if a > 0 for b in x if b < a)


@case(V)
def numbers_stay_python(x: Tensor) -> Any:
    count = sum(i * i for i in range(20) if i % 3)
    small = all(i < 7 for i in range(6)) and not any(i > 7 for i in range(6))
    return gx.zeros(max(k % 4 for k in range(9))), count, small, x, [0] * count == [0] * 1545


@case((V, n(4)), (V, n(0)))
def sums_of_tensor_ranges(x: Tensor, count: Tensor) -> Any:
    return sum(range(count)), sum(i * 2 for i in range(count)), sum(v for v, _ in zip(x, range(count)))  # noqa: B905


@case(V, W, gx.zeros(0))
def truth(x: Tensor) -> Any:
    return any(x), all(x), any(v > 5 for v in x), all(v > -5 for v in x), any([]), all(map(bool, x))


@case((f(1.0), f(0.0)), (f(0.0), f(0.0)), (f(1.0), f(2.0)))
def truth_of_lists(x: Tensor, y: Tensor) -> Any:
    return any([x, y]), all([x, y]), any([0, x]), all((1, y)), any([x, True]), all([x, False])


@case(V, W)
def a_condition(x: Tensor) -> Any:
    if any(v > 5 for v in x):
        return x * 2
    return x


@case(f(4.0, 2.0, 0.0, 1.0), f(9.0, 4.0, 0.0, 0.0), f(9.0, 9.0, 9.0, 4.0))
def the_rest_is_not_evaluated(x: Tensor) -> Any:
    return any(8 / int(v) > 1 for v in x), any(8 / int(v) > 1 for v in [x[0], x[1], x[2]])


@case((V, f(1.0)), (W, f(1.0)), (V, f(-1.0)))
def in_a_branch(x: Tensor, flag: Tensor) -> Any:
    y = x[0]
    if flag > 0:
        y = sum(x) + max(v for v in x if v > 0) if any(x > 0) else max(x) + sum([x[1], x[2]], y)
    return y


# --- numbers


@case(f(2.7), f(-2.7), f(2.5), f(3.5), f(-0.5))
def conversions(x: Tensor) -> Any:
    k = int(x)
    numbers = (k, k / 2, k // 2, k % 3, -k, +k, abs(k), k**2, k + 1.5, k > 1, k == 2, k * True, k & 6, k | 1, k ^ 5, ~k)
    others = (float(x) * 2, bool(x), complex(x), complex(x, k), k << 2, k >> 1, divmod(k, 4), divmod(x, 2.0), k * x)
    return numbers, others, x.item(), 7 - k, 2.0**k, k + gx.ones(2)


@case(f(2.7), f(-2.5), f(0.5), f(1.5), n(7))
def rounding(x: Tensor) -> Any:
    return round(x), round(x, 1), round(float(x)), round(float(x), 1), round(int(x)), round(int(x), 2)


@case(f(0.0, 1.0, 2.0, 3.0))
def of_all_elements(x: Tensor) -> Any:
    return x.tolist(), x.reshape(2, 2).tolist(), len(x), [float(v) for v in x], tuple(map(int, x))


@case(n(4), n(0))
def zero_division(k: Tensor) -> Any:
    return 12 // int(k), 12 % int(k), 12 / int(k), 12.0 / float(k)


@case(n(2), n(-1))
def shifts(k: Tensor) -> Any:
    return 1 << int(k), 8 >> int(k)


@case(f(NAN), f(math.inf), f(-math.inf), f(5.5), f(-5.5))
def ints_of_what_is_none(x: Tensor) -> Any:
    return int(x)


@case(f(-8.0), f(4.0), f(0.0))
def powers(x: Tensor) -> Any:
    return float(x) ** 2, float(x) ** 3.0, abs(float(x)) ** 0.5, int(x) ** 3, 2 ** abs(int(x)), float(x) ** 0


@case(f(2.0), f(0.0))
def negative_powers(x: Tensor) -> Any:
    return float(x) ** -1, int(x) ** -2


@case((V, n(3)), (V, n(0)))
def the_items_of_a_tensor_range_are_ints(x: Tensor, count: Tensor) -> Any:
    total = 0.0
    for i in range(count):
        total = total + 1 / (i + 1) + i // 2 + x[i]
    return total


@case((V, n(3)), (V, n(0)))
def zero_division_in_a_loop(x: Tensor, count: Tensor) -> Any:
    for i in range(count):
        x = x + 1 / i
    return x


@case(n(5), f(2.5))
def kinds(x: Tensor) -> Any:
    k = int(x)
    checks = isinstance(k, int), isinstance(k, (float, str)), isinstance(float(x), float), type(k) is int
    return checks, isinstance(x, gx.Tensor), isinstance(x, int), type(x) is gx.Tensor, k if type(k) is int else None


@case(f(2.5), f(-2.5))
def texts(x: Tensor) -> Any:
    return f"{int(x)} {float(x)} {bool(x)} {x.item():.3f}", str(int(x) / 4)


@case(V, loops=["rolled"])
def of_the_index(x: Tensor) -> Any:
    total = gx.zeros(())
    for i in range(6):
        q, r = divmod(i, 2)
        total = total + float(i) * x[i] + abs(i - 3) + q * r + max(i, 3) - min(2, i) + int(i) + round(i) + pow(i, 2)
        total = total + isinstance(i, int) + bool(i)
    return total


@case(n(2), n(7), f(4.0), f(4.5))
def membership(x: Tensor) -> Any:
    k = int(x)
    among = x in [1, 2], x in gx.arange(3), k in {2: "a", "b": 1}, k in {7, 8}, k not in (4, 5), k in {2: 1}
    return among, x in range(5), x in range(9, 0, -2), k in range(4, 4), (x in [2, 7]) + (x in [2, 4]), x in range(2, 3)


# --- sorting, filtering, choosing


@case(f(3.0, 1.0, 2.0), f(1.0, 1.0, 1.0))
def sorting_by_keys(x: Tensor) -> Any:
    pairs = [(v, 10 * k) for k, v in enumerate(x)]
    names = sorted(["b", "a"]), sorted({3, 1, 2}), sorted([(1, x[0]), (0, x[1])], key=lambda pair: pair[0])[1][0]
    return sorted(pairs, key=lambda pair: pair[1], reverse=True), sorted([(1, x[0]), (0, x[1])]), names


@case(V, W)
def filtering(x: Tensor) -> Any:
    return sum(filter(lambda v: v > 0, x)), sum(filter(None, [x[0], 0, x[1]])), list(filter(None, [1, 0, 2]))


@case((n(0), f(2.0)), (n(-1), f(2.0)), (n(2), f(1.0)), (n(-3), f(1.0)), (n(3), f(1.0)), (n(-4), f(1.0)))
def items_of_lists(k: Tensor, x: Tensor) -> Any:
    chosen = [x, x * 2, x * 3][k], [0.5, 1.5, 2.5][int(k)] * 2, [(x, 1), (x * 2, 2), (x, 3)][k], [True, False, True][k]
    return chosen, (1, 2, 3)[k], ["same", "same", "same"][k]


@case((n(1), f(2.0)), (n(4), f(2.0)))
def items_of_lists_in_a_loop(k: Tensor, x: Tensor) -> Any:
    for i in range(k):
        x = x * (0.5, 2.0, 3.0)[i] + [x, x * 2, x * 3][i]
    return x


@pytest.mark.drawn(3)
@pytest.mark.parametrize(("fn", "runs", "loops"), CASES)
def test_a_program_means_the_same_eagerly_and_compiled(fn: Any, runs: Any, loops: list[str] | None) -> None:
    for args in runs:
        check(fn, *args)
    if loops is not None:
        assert kinds_of(fn, *runs[0]) == loops


@pytest.mark.parametrize("fn", [sums, of_a_tensor, of_several, positions, sorting_by_keys])
def test_gradients_are_those_of_the_eager_tape(fn: Any) -> None:
    args = (f(1.0), f(2.0)) if fn is of_several else (V,)
    gradients: list[Any] = []
    for run in (fn, gx.function(fn)):
        with gx.GradientTape() as tape:
            tape.watch(args)
            leaves = [leaf for leaf in nest.flatten(run(*args))[0] if isinstance(leaf, gx.Tensor)]
        gradients.append(tape.gradient(leaves, args, unconnected_gradients="zero"))
    for eager, compiled in zip(*gradients, strict=True):
        np.testing.assert_allclose(eager.numpy(), compiled.numpy(), rtol=1e-5)


def test_no_gradient_flows_through_a_number() -> None:
    def program(x: Tensor) -> Tensor:
        return x * float(x) + x.item() * 2

    for run in (program, gx.function(program)):
        with gx.GradientTape() as tape:
            x = f(3.0)
            tape.watch(x)
            y = run(x)
        assert tape.gradient(y, x).item() == 3.0


def test_numbers_come_back_as_numbers() -> None:
    @gx.function
    def program(x: Tensor) -> Any:
        return int(x), float(x), bool(x), complex(x), {"k": int(x) + 1}, [x.item(), int(x) > 2]

    for _ in range(2):
        assert program(f(2.5)) == (2, 2.5, True, 2.5 + 0j, {"k": 3}, [2.5, False])
        assert [type(value) for value in program(f(2.5))[:4]] == [int, float, bool, complex]


def test_a_sum_is_one_node_and_its_first_element_is_traced_once() -> None:
    graph = gx.function(lambda x: sum(v * v for v in x if v > 0)).graph(gx.ones(1000))
    assert [node.op.name for node in graph.nodes].count("scan") == 1
    assert len(graph.nodes) <= 3


# --- refusals


def ambiguous(x: Tensor) -> Any:
    return max(gx.ones(3) * x, gx.zeros(3))


def different_dtypes(x: Tensor) -> Any:
    return max(x, gx.asarray(2))


def different_shapes(x: Tensor) -> Any:
    return [x, gx.ones(2)][gx.astype(x, int)]


def int_of_a_vector(x: Tensor) -> Any:
    return int(gx.ones(2) * x)


def int_of_a_complex(x: Tensor) -> Any:
    return float(x * 1j)


def round_of_a_vector(x: Tensor) -> Any:
    return round(gx.ones(2) * x, 1)


def a_key_of_a_dict(x: Tensor) -> Any:
    return {1: 2}[int(x)]


def filtered_set(x: Tensor) -> Any:
    return len({k for k in range(3) if x > k})


def filtered_dict(x: Tensor) -> Any:
    return {k: 1 for k in range(3) if x > k}


def tuple_of_a_filtered_expression(x: Tensor) -> Any:
    return tuple(v for v in gx.ones(3) if v > x)


def sorted_pairs(x: Tensor) -> Any:
    return sorted([("a", x), ("a", x * 2)])


def sorted_vectors(x: Tensor) -> Any:
    return sorted([gx.ones(2) * x, gx.ones(2)])


def type_of_what_was_a_number(x: Tensor) -> Any:
    k = 1
    if x > 2:
        k = 2.5
    return type(k * 2)


@pytest.mark.parametrize(
    ("fn", "kind", "message"),
    [
        (ambiguous, InvalidArgumentError, r"truth of a tensor with 3 elements .* ambiguous"),
        (different_dtypes, InvalidTypeError, r"the result of max is .*: the dtypes int32 and float32 differ"),
        (different_shapes, InvalidArgumentError, r"the item is .* in one place and .* in another: the shapes \(\) and"),
        (int_of_a_vector, InvalidArgumentError, r"int\(\) needs exactly one element, this tensor is f32\[2\]"),
        (int_of_a_complex, InvalidTypeError, r"float\(\) of a complex tensor c64\[\]; use gx.real"),
        (round_of_a_vector, InvalidTypeError, r"round\(\) of a tensor f32\[2\]; use gx.round\(x, decimals\)"),
        (a_key_of_a_dict, ConcretizationError, r"as a key of a dict.* gx.switch, or index a tensor"),
        (filtered_set, UnimplementedError, r"condition of this comprehension is a tensor .* gx.where"),
        (filtered_dict, UnimplementedError, r"condition of this comprehension is a tensor .* gx.where"),
        (tuple_of_a_filtered_expression, UnimplementedError, r"condition of this comprehension is a tensor"),
        (sorted_pairs, UnimplementedError, r"sorted\(\) would compare tensors.*gx.argsort"),
        (sorted_vectors, UnimplementedError, r"sorted\(\) would compare tensors.*gx.argsort"),
        (type_of_what_was_a_number, UnimplementedError, r"type\(\) of .* may be a float or int"),
    ],
)
def test_refusals(fn: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message) as caught:
        gx.function(fn)(f(3.0))
    assert "test_builtins.py" in str(caught.value)


def test_what_compiled_numbers_cannot_hold_raises() -> None:
    with pytest.raises(OutOfRangeError, match=r"int\(\) of a number beyond 32 bits"):
        gx.function(lambda x: int(x))(f(1e20))
    with pytest.raises(UnimplementedError, match="a negative number to a power that is not whole is complex"):
        gx.function(lambda x: float(x) ** 0.5)(f(-2.0))
    with pytest.raises(UnimplementedError, match="an int to the power of a negative int is a float"):
        gx.function(lambda k: 2 ** int(k))(n(-2))


def test_what_may_be_a_number_or_a_tensor_is_divided_as_a_tensor() -> None:
    def mean(x: Any) -> Any:
        total, n = 0.0, 0
        for v in x:
            if v > 5:
                total, n = total + v, n + 1
        return total / n

    small = f(1.0, 2.0)
    with pytest.raises(ZeroDivisionError):
        mean(small)
    assert math.isnan(gx.function(mean)(small).item())  # as docs/reference/numbers.md says


def test_round_of_eager_tensors_is_that_of_numbers() -> None:
    assert (round(f(2.5)), round(f(3.5)), round(n(7))) == (2, 4, 7)
    assert round(f(2.718), 1).item() == pytest.approx(2.7)
    with pytest.raises(InvalidTypeError, match=r"round\(\) of a tensor f32\[2\]; use gx\.round"):
        round(f(1.0, 2.0))
    assert [value.item() for value in divmod(f(7.5), 2)] == [3.0, 1.5]
    assert [value.item() for value in divmod(7, n(2))] == [3, 1]


def test_reductions_stay_pythons_own_without_tensors() -> None:
    def program(x: Tensor) -> Any:
        names = sorted(["b", "a"], key=str.upper), max(["a", "b"]), min({"k": 1}), sum([(1,), (2,)], ())
        empty = max([], default=None), any(()), all(())
        return x, names, empty, max("abc"), sum(map(len, ["a", "bc"]))

    check(program, f(1.0))
    for fn, message in ((lambda x: max([]), "max"), (lambda x: min(x, key=3), "'int' object is not callable")):
        with pytest.raises((ValueError, TypeError), match=message):
            gx.function(fn)(f(1.0, 2.0))


def test_tuples_of_which_later_items_have_no_order() -> None:
    @gx.function
    def best(x: Tensor) -> Any:
        found = (-1e9, None)
        for i, v in enumerate(x):
            found = max(found, (v, i))
        return found

    with pytest.raises(
        UnimplementedError, match=r"(?s)NoneType.*items at index 1 only .*-1 in place of None.*found = "
    ):
        best(gx.asarray([1.0, 5.0, 2.0]))

    def decided_before(x: Tensor) -> Any:
        return (1.0, x) < (2.0, None), (2.0, x) < (1.0, None)

    assert gx.function(decided_before)(gx.asarray(1.0)) == decided_before(gx.asarray(1.0)) == (True, False)

    with pytest.raises(TypeError, match="not supported"):  # as Python says: the first items are equal
        gx.function(lambda x: (1.0, x) < (1.0, None))(gx.asarray(1.0))
