"""Small programs of one construct each, and what becomes of their loops."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

import graphc as gx
from graphc import Tensor
from tests.conformance.harness import f, group
from tests.conformance.harness import i as ints

SIGNS = (f(2.0), f(-3.0), f(0.0))
VECTOR = f(1.0, -2.0, 3.0, -4.0, 5.0, 6.0)
ROLLED, UNROLLED, WHILE = ("rolled",), ("unrolled",), ("while",)


# --- branches


program = group("small branches", construct="`if`, `elif`, `else`")


@program(*SIGNS)
def if_else(x: Tensor) -> Tensor:
    if x > 0:
        y = x * 2
    else:
        y = -x
    return y + 1


@program(*SIGNS)
def if_without_else(x: Tensor) -> Tensor:
    y = x + 1
    if x > 0:
        y = y * 10
    return y


@program(*SIGNS, f(20.0))
def elif_chain(x: Tensor) -> Tensor:
    if x > 10:
        y = x * 1
    elif x > 0:
        y = x * 2
    elif x == 0:
        y = x + 100
    else:
        y = x * 3
    return y


@program(*SIGNS)
def nested_branches(x: Tensor) -> Tensor:
    y = x
    if x > -1:
        if x > 1:
            y = y + 1
        else:
            y = y + 2
        y = y * 2
    else:
        if x < -2:
            y = y - 5
    return y


@program((f(1.0), True), (f(1.0), False), (f(-1.0), True))
def tensor_inside_python_branch(x: Tensor, flag: bool) -> Tensor:
    if flag:
        if x > 0:
            x = x + 10
    else:
        x = x - 10
    return x


@program(*SIGNS)
def numbers_meet_in_branches(x: Tensor) -> Any:
    k = 1
    if x > 0:
        k = 2
    return x * k, k


@program(*SIGNS)
def number_and_tensor_meet(x: Tensor) -> Tensor:
    if x > 0:
        y = 1.0
    else:
        y = x * 2
    return y + 1


@program(*SIGNS)
def int_and_float_meet(x: Tensor) -> Any:
    y = 1.5 if x > 0 else 2.5
    return y + x


@program(*SIGNS)
def truth_values_meet(x: Tensor) -> Any:
    found = False
    if x > 0:
        found = True
    return found


@program(*SIGNS)
def equal_python_values_stay_python(x: Tensor) -> Any:
    if x > 0:
        mode, k = "sum", 3
    else:
        mode, k = "sum", 3
    return x + (k if mode == "sum" else 0), mode, k


@program(*SIGNS)
def ternary(x: Tensor) -> Tensor:
    return (x + 1 if x > 0 else x - 1) * 2


@program(*SIGNS)
def nested_ternary(x: Tensor) -> Tensor:
    return x * 2 if x > 0 else (x - 5 if x < 0 else x + 7)


@program(*SIGNS)
def structures_in_branches(x: Tensor) -> Any:
    if x > 0:
        state = {"a": x, "b": [x + 1, (x + 2, 5)]}
    else:
        state = {"a": -x, "b": [x - 1, (x - 2, 5)]}
    return state


@program(*SIGNS)
def shapes_in_one_branch_only(x: Tensor) -> Tensor:
    if x > 0:
        row = gx.ones(3) * x
        y = gx.sum(row)
    else:
        y = x
    return y


@program(*SIGNS)
def early_return(x: Tensor) -> Tensor:
    if x > 0:
        return x * 2
    y = x - 1
    if y < -2:
        return y * 3
    return y


@program(*SIGNS)
def return_of_structures(x: Tensor) -> Any:
    if x > 0:
        return {"v": x}, 1
    return {"v": -x}, 1


@program(*SIGNS)
def variables_swap_in_a_branch(x: Tensor) -> Any:
    a, b = x, x * 10
    if x > 0:
        a, b = b, a
    return a, b


@program(*SIGNS)
def branch_calls_a_helper(x: Tensor) -> Tensor:
    def helper(v: Tensor) -> Tensor:
        if v > 1:
            return v * 100
        return v

    if x != 0:
        x = helper(x)
    return x


@program(f(1.0), f(-1.0), f([3.0]), ints(0), ints(7), np.bool_(True))
def truth_of_one_element(x: Tensor) -> Any:
    y = 0
    if x:
        y = 1
    return y


# --- boolean operators


program = group("small conditions", construct="`and`, `or`, `not`, chained comparison")


@program(*SIGNS, f(6.0))
def and_of_comparisons(x: Tensor) -> Tensor:
    if x > 0 and x < 5:
        return x + 1
    return x


@program(*SIGNS, f(6.0))
def or_and_not(x: Tensor) -> Tensor:
    if not (x < 0 or x > 5):
        x = x + 1
    return x


@program(*SIGNS, f(6.0))
def chained_comparison(x: Tensor) -> Tensor:
    if -1 < x <= 2 < 3:
        x = x + 1
    return x


@program(*SIGNS)
def and_with_python_values(x: Tensor) -> Tensor:
    limit = None
    if limit is None or x < limit:
        x = x + 1
    if limit is not None and x < limit:
        x = x + 10
    return x


@program(*SIGNS)
def values_of_boolean_operators(x: Tensor) -> Any:
    y = x * 2
    return (y and x + 1), (y or x - 1)


@program(*SIGNS)
def second_operand_only_if_asked_for(x: Tensor) -> Tensor:
    if x != 0 and 6 / x > 1:
        x = x + 1
    return x


@program(*SIGNS)
def three_operands(x: Tensor) -> Tensor:
    if x > -5 and x < 5 and x != 0:
        x = x * 7
    return x


@program((f(2.0), 3), (f(-3.0), 0))
def membership(x: Tensor, k: int) -> Tensor:
    if x in [1.0, 2.0] or k in (0, 7):
        x = x + 1
    return x


# --- while


program = group("small while", construct="`while`")


@program(ints(27), ints(1), ints(6))
def collatz(number: Tensor) -> Any:
    steps = 0
    while number != 1:
        if number % 2 == 0:
            number = number // 2
        else:
            number = 3 * number + 1
        steps += 1
    return steps


@program(ints(5), ints(0))
def while_counts(limit: Tensor) -> Any:
    i = 0
    total = 0.0
    while i < limit:
        total = total + i * 0.5
        i += 1
    return total, i


@program(f(1.0), f(50.0))
def while_on_a_python_counter(x: Tensor) -> Tensor:
    i = 0
    while i < 7:
        x = x + i
        i += 1
    return x


@program(f(1.0), f(50.0))
def while_break(x: Tensor) -> Any:
    steps = 0
    while True:
        x = x * 2
        steps += 1
        if x > 40:
            break
    return x, steps


@program(f(1.0), f(50.0))
def while_continue(x: Tensor) -> Any:
    total = gx.zeros(())
    while x < 60:
        x = x + 7
        if x % 2 > 1:
            continue
        total = total + x
    return total


@program(f(1.0), f(50.0), f(-200.0))
def while_return(x: Tensor) -> Tensor:
    while x < 100:
        x = x + 30
        if x < -50:
            return x * 1000
    return x


@program(f(1.0), f(50.0))
def while_else(x: Tensor) -> Tensor:
    while x < 40:
        x = x * 3
        if x > 30:
            break
    else:
        x = x + 1000
    return x


@program(ints(3), ints(0))
def nested_while(limit: Tensor) -> Any:
    i, total = 0, 0
    while i < limit:
        j = 0
        while j < i:
            total += j + 10
            j += 1
        i += 1
    return total


@program(ints(3), ints(0))
def while_carries_structures(limit: Tensor) -> Any:
    state = {"i": 0, "rows": (gx.zeros(2), gx.ones(2))}
    while state["i"] < limit:
        a, b = state["rows"]
        state = {"i": state["i"] + 1, "rows": (b, a + b)}
    return state


@program(ints(3), ints(0))
def while_widens_an_int(limit: Tensor) -> Any:
    i, total = 0, 0
    while i < limit:
        total = total + 0.5
        i = i + 1
    return total


@program(f(3.0), f(300.0))
def while_test_calls_a_function(x: Tensor) -> Tensor:
    def small(v: Tensor) -> Any:
        return v < 100 and v > 0

    while small(x):
        x = x * 2
    return x


@program(ints(4))
def shape_change_before_the_loop_becomes_symbolic(limit: Tensor) -> Tensor:
    s: Any = 0.0
    i = 0
    while i < limit:
        s = s + 1.0
        i = i + 1
    return s


# --- for over tensors, lists and ranges


program = group("small for", construct="`for` over a `range`")


@program(VECTOR, loops=ROLLED)
def for_over_rows(x: Tensor) -> Tensor:
    total = gx.zeros(())
    for row in x:
        total = total + row * row
    return total


@program(f(np.arange(12.0).reshape(4, 3)), f(np.zeros((0, 3))), f(np.ones((1, 3))))
def for_over_rows_of_a_matrix(x: Tensor) -> Tensor:
    total = gx.zeros(3)
    for row in x:
        if gx.sum(row) > 10:
            total = total + row
        else:
            total = total * 2
    return total


@program(VECTOR)
def for_over_rows_break(x: Tensor) -> Any:
    total = gx.zeros(())
    for row in x:
        if row > 2:
            break
        total = total + row
    return total


@program(VECTOR)
def for_over_rows_continue_and_return(x: Tensor) -> Tensor:
    total = gx.zeros(())
    for row in x:
        if row < 0:
            continue
        total = total + row
        if total > 8:
            return total * 100
    return total


@program(VECTOR)
def last_row_is_bound_after_the_loop(x: Tensor) -> Tensor:
    for row in x:
        last = row * 2
    return last + row


@program(VECTOR)
def for_over_a_list(x: Tensor) -> Tensor:
    for k in [1, 2.5, 3]:
        if x[0] > 0:
            x = x + k
    return x


@program(VECTOR)
def for_over_zip_and_enumerate(x: Tensor) -> Tensor:
    for k, (a, b) in enumerate(zip([1.0, 2.0], [x, x + 1], strict=True)):
        x = x + a * b * k
    return x


@program(VECTOR)
def for_over_a_dict(x: Tensor) -> Tensor:
    weights = {"a": 1.0, "b": 2.0}
    for name, weight in weights.items():
        x = x + weight * len(name)
    return x


@program(f(1.0), loops=ROLLED)
def for_over_a_range(x: Tensor) -> Tensor:
    for i in range(20):
        x = x * 0.5 + i
    return x


@program(f(1.0), loops=UNROLLED)
def short_loops_are_unrolled(x: Tensor) -> Tensor:
    for i in range(3):
        x = x + i
    return x


@program(f(1.0), loops=ROLLED)
def range_with_start_and_step(x: Tensor) -> Any:
    for i in range(50, -7, -5):
        x = x + i
    return x, i


@program(f(1.0), loops=())
def no_iterations(x: Tensor) -> Tensor:
    for i in range(0):
        x = x + i
    return x


@program(f(1.0))
def one_iteration(x: Tensor) -> Any:
    for i in range(3, 4):
        x = x + i
    return x, i


@program((f(1.0), ints(7)), (f(1.0), ints(0)), (f(1.0), ints(1)), loops=WHILE)
def tensor_range(x: Tensor, count: Tensor) -> Tensor:
    for i in range(count):
        x = x + i
    return x


@program((f(1.0), ints(7)), (f(1.0), ints(0)), loops=WHILE)
def tensor_range_backwards(x: Tensor, count: Tensor) -> Tensor:
    for i in range(count, 2, -2):
        x = x * 2 + i
    return x


@program((f(1.0), ints(7)), (f(1.0), ints(1)))
def tensor_range_break(x: Tensor, count: Tensor) -> Tensor:
    for i in range(count):
        if x > 5:
            break
        x = x + i
    return x


@program(f(1.0), loops=ROLLED)
def range_break(x: Tensor) -> Any:
    for i in range(100):
        x = x + i
        if x > 30:
            break
    return x, i


@program(f(1.0), f(1000.0))
def range_else(x: Tensor) -> Tensor:
    for i in range(10):
        if x > 500:
            break
        x = x + i
    else:
        x = -x
    return x


@program(f(1.0), f(40.0))
def range_continue(x: Tensor) -> Tensor:
    for i in range(10):
        if x > 20:
            continue
        x = x + i
    return x


@program(f(1.0), f(1000.0))
def range_return(x: Tensor) -> Tensor:
    for i in range(10):
        x = x + i
        if x > 20:
            return x * 2
    return x * 0


@program(f(1.0), f(1000.0))
def return_of_the_index(x: Tensor) -> Any:
    for i in range(10):
        x = x + i
        if x > 20:
            return i
    return -1


@program(f(1.0))
def return_from_nested_loops(x: Tensor) -> Tensor:
    for i in range(6):
        for j in range(6):
            x = x + i * j
            if x > 25:
                return x
    return -x


@program(f(1.0), loops=("rolled", "rolled"))
def nested_rolled_loops(x: Tensor) -> Tensor:
    for i in range(6):
        for j in range(7):
            x = x + i * j
    return x


@program(f(1.0))
def inner_range_depends_on_the_outer_index(x: Tensor) -> Tensor:
    for i in range(6):
        for j in range(i, 2 * i):
            x = x + i * j
    return x


@program(VECTOR)
def while_inside_for_inside_if(x: Tensor) -> Tensor:
    y = x[0]
    if y > 0:
        for row in x:
            z = row
            while z > 1:
                z = z / 2
                if z < 1.5:
                    break
            y = y + z
    return y


@program(f(1.0), loops=ROLLED)
def uncarried_names_of_the_body(x: Tensor) -> Tensor:
    for i in range(8):
        t = x * i
        u = t + 1
        x = x + u * 0.01
    return x


@program(f(1.0))
def names_first_bound_in_the_loop(x: Tensor) -> Any:
    for i in range(8):
        y = x + i
        label = "last"
    return y, label


@program(f(1.0), loops=("rolled",))
def zero_becomes_a_vector(x: Tensor) -> Any:
    s = 0
    for i in range(9):
        s = s + gx.ones(3) * i * x
    return s


@program(f(1.0))
def none_becomes_a_tensor(x: Tensor) -> Any:
    best = None
    for i in range(9):
        best = x * i if best is None else gx.maximum(best, x)
    return best


@program(ints(1, 2))
def int_becomes_float_in_a_range_loop(x: Tensor) -> Tensor:
    for _ in range(6):
        x = x * 0.5
    return x


@program(f(1.0), loops=("rolled",))
def swap_in_a_rolled_loop(x: Tensor) -> Any:
    a, b = x, x * 2
    for _ in range(11):
        a, b = b, a + b
    return a, b


@program(f(1.0))
def dict_state(x: Tensor) -> Any:
    state = {"value": x, "count": 0}
    for _ in range(7):
        state = {"value": state["value"] * 2, "count": state["count"] + 1}
    return state


@program(f(1.0), loops=ROLLED)
def list_state(x: Tensor) -> Any:
    state = [x, x * 2]
    for i in range(9):
        state = [state[1], state[0] + i]
    return state


class Pair(NamedTuple):
    left: Any
    right: Any


@dataclass
class Record:
    value: Any
    scale: Any


@program(f(1.0), loops=ROLLED)
def namedtuple_state(x: Tensor) -> Any:
    pair = Pair(x, x + 1)
    for i in range(9):
        pair = Pair(pair.right, pair.left * 0.5 + i)
    return pair


@program(f(1.0), loops=None)
def dataclass_state(x: Tensor) -> Any:
    record = Record(x, x * 0 + 2)
    for i in range(9):
        record = replace(record, value=record.value + record.scale * i)
    return record


# --- what changes from one iteration to the next


program = group("small for", construct="Python numbers that change in loops and branches")


@program(f(1.0), loops=ROLLED)
def a_python_counter(x: Tensor) -> Any:
    count = 0
    for _ in range(8):
        count += 2
        x = x + count
    return x, count


@program(f(1.0), loops=ROLLED)
def a_python_flag(x: Tensor) -> Tensor:
    flag = True
    for _ in range(8):
        x = x + 1 if flag else x * 2
        flag = not flag
    return x


@program(f(1.0), loops=ROLLED)
def numbers_swap(x: Tensor) -> Tensor:
    a, b = 1, 2
    for i in range(8):
        a, b = b, a
        x = x + a * i
    return x


@program(f(1.0), loops=ROLLED)
def the_index_of_the_iteration_before(x: Tensor) -> Any:
    last = 100
    for i in range(8):
        x = x + last
        last = i
    return x, last


@program(f(1.0))
def a_target_that_was_bound_before(x: Tensor) -> Any:
    i = 7
    for i in range(i, i + 9):  # noqa: B020
        x = x + i
    return x, i


@program(f(1.0))
def read_before_it_is_bound_except_at_first(x: Tensor) -> Tensor:
    for i in range(8):
        if i > 0:
            x = x + y  # noqa: F821
        y = x * 2  # noqa: F841
    return x


@program(f(1.0), loops=ROLLED)
def index_kept_in_a_structure(x: Tensor) -> Any:
    for i in range(8):
        pair = (i, x)
        x = x + pair[0]
    return pair


# --- uses of the index


program = group("small index", construct="the index of a `range` loop as a number")


@program(f(1.0))
def index_into_a_list(x: Tensor) -> Tensor:
    weights = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0]
    for i in range(6):
        x = x + weights[i]
    return x


@program(f(1.0))
def index_into_an_array(x: Tensor) -> Tensor:
    weights = np.arange(6, dtype=np.float32)
    for i in range(6):
        x = x + weights[i]
    return x


@program(f(1.0))
def index_as_dict_key(x: Tensor) -> Tensor:
    weights = {key: float(key) for key in range(6)}
    for i in range(6):
        x = x + weights[i] + weights.get(i + 1, 0.5)
    return x


@program(f(1.0))
def index_in_a_set_and_a_range(x: Tensor) -> Tensor:
    chosen = {1, 4}
    for i in range(6):
        if i in chosen or i in range(2, 4) or i in [0, 9]:
            x = x + i
    return x


@program(f(1.0))
def index_as_shape_and_slice(x: Tensor) -> Tensor:
    y = gx.arange(10.0)
    for i in range(1, 7):
        x = x + gx.sum(gx.ones((i, 2))) + gx.sum(y[:i])
    return x


@program(f(1.0))
def index_as_axis(x: Tensor) -> Tensor:
    y = gx.ones((1, 2, 3, 1, 2, 1))
    for i in range(6):
        x = x + gx.sum(gx.sum(y, axis=i)) * gx.sum(y, axis=i).shape[0]
    return x


@program(f(1.0))
def index_in_strings(x: Tensor) -> Tensor:
    weights = {f"w{i}": float(i) for i in range(6)}
    for i in range(6):
        x = x + weights[f"w{i}"] + weights["w" + str(i)] + weights["w%d" % i]  # noqa: UP031
    return x


@program(f(1.0), loops=ROLLED)
def index_arithmetic(x: Tensor) -> Tensor:
    for i in range(10):
        x = x + (i * 2 - 3) * (i // 2 + i % 3) + i**2 - (-i) + (5 - i) + i / 4 + 2.5 * i
    return x


@program(f(1.0))
def index_operations_that_need_the_number(x: Tensor) -> Any:
    for i in range(10):
        x = x + (i & 3) + (i << 1) + (i ^ 5) + (i >> 1) + (i | 8) + (~i) + divmod(i, 3)[0] + 7 // (i + 1) + 2**i
    return x


@program(f(1.0))
def index_and_builtins(x: Tensor) -> Tensor:
    for i in range(10):
        x = x + max(i, 3) + min(2, i) + abs(i - 5) + round(i) + int(i) + float(i) + len([0] * i) + (i or 9) + (i and 2)
    return x


@program(f(1.0))
def index_and_math(x: Tensor) -> Tensor:
    for i in range(10):
        x = x + math.sqrt(i) + math.factorial(i) * 1e-3
    return x


@program(f(1.0))
def type_of_the_index(x: Tensor) -> Tensor:
    for i in range(10):
        if isinstance(i, int) and type(i) is int and i is not None:
            x = x + 1
    return x


@program(f(1.0), loops=ROLLED)
def branches_on_the_index(x: Tensor) -> Tensor:
    for i in range(10):
        if i % 3 == 0 and 2 < i <= 8:
            x = x + 10
        x = x * (1.0 if i == 4 else 0.5)
    return x


@program(ints(*range(10)))
def overflow_of_the_index(x: Tensor) -> Any:
    big = False
    for i in range(0, 60000, 10000):
        if i * i > 2_000_000_000:
            big = True
    return x, big


@program(f(1.0))
def comparison_with_a_large_int(x: Tensor) -> Tensor:
    for i in range(10):
        if i < 2**40:
            x = x + 1
    return x


@program(VECTOR, loops=ROLLED)
def index_into_a_tensor(x: Tensor) -> Tensor:
    total = gx.zeros(())
    for i in range(6):
        total = total + x[i] * x[-i]
    return total


@program(VECTOR, raises=gx.errors.OutOfRangeError)
def index_out_of_range_raises(x: Tensor) -> Tensor:
    total = gx.zeros(())
    for i in range(8):
        total = total + x[i]
    return total


@program(VECTOR)
def index_out_of_range_behind_a_guard(x: Tensor) -> Tensor:
    total = gx.zeros(())
    for i in range(8):
        if i < 6:
            total = total + x[i]
    return total


@program(VECTOR, loops=ROLLED)
def updates_at_the_index(x: Tensor) -> Tensor:
    y = gx.zeros(6)
    for i in range(6):
        y = y.at[i].set(x[i] * i)
    return y


@program(f(1.0))
def division_by_an_index_that_may_be_zero(x: Tensor) -> Tensor:
    for i in range(5):
        try:
            x = x + 1 / i
        except ZeroDivisionError:
            x = x + 100
    return x


@program(f(1.0))
def division_of_the_index_by_zero(x: Tensor) -> Tensor:
    for i in range(5):
        x = x + i / 0.0
    return x


# --- exceptions


program = group("small errors", construct="`raise` under a Python condition")


@program(f(1.0))
def raise_and_catch_in_a_loop(x: Tensor) -> Tensor:
    for i in range(8):
        try:
            if i == 5:
                raise ValueError(i)
            x = x + i
        except ValueError:
            x = x * 2
    return x


@program(f(1.0))
def raise_in_a_loop(x: Tensor) -> Tensor:
    for i in range(8):
        if i == 5:
            raise KeyError("five")
        x = x + i
    return x


@program(f(1.0))
def assert_on_the_index(x: Tensor) -> Tensor:
    for i in range(8):
        assert i < 8, "small"
        x = x + i
    return x


@program(f(1.0))
def bare_except(x: Tensor) -> Any:
    seen: list[int] = []
    for i in range(8):
        try:
            seen.append(i)
        except:  # noqa: E722
            x = x + 1000
        x = x + 1
    return x, seen


@program(f(1.0))
def finally_in_a_loop(x: Tensor) -> Any:
    seen: list[int] = []
    for i in range(8):
        try:
            seen.append(i)
        finally:
            x = x + 1
    return x, seen


# --- functions


program = group("small functions", construct="nested functions, closures, `nonlocal`")


@program(*SIGNS)
def recursion_on_python_values(x: Tensor) -> Tensor:
    def power(v: Tensor, k: int) -> Tensor:
        return v if k == 0 else power(v * 2, k - 1)

    return power(x, 5)


@program(*SIGNS)
def lambdas_and_defaults(x: Tensor) -> Tensor:
    scale = lambda v, k=3: v * k if v > 0 else -v  # noqa: E731
    return scale(x) + scale(x, k=2)


class Accumulator:
    def __init__(self, rate: float) -> None:
        self.rate = rate

    def step(self, x: Tensor, count: int) -> Tensor:
        for _ in range(count):
            x = self.update(x)
        return x

    def update(self, x: Tensor) -> Tensor:
        if x > 10:
            return x - self.rate
        return x + self.rate


@program(f(1.0), f(50.0))
def methods(x: Tensor) -> Tensor:
    return Accumulator(1.5).step(x, 12)


@program(f(1.0))
def generator_expressions_and_comprehensions(x: Tensor) -> Tensor:
    for i in range(8):
        x = x + sum(v * 0.5 for v in [x, x * 2]) * 0.1 + sum([i * k for k in (1, 2)])
    return x


@program(f(1.0))
def map_of_a_function_with_branches(x: Tensor) -> Tensor:
    def clip(v: Tensor) -> Tensor:
        return v if v < 2 else v * 0 + 2

    return sum(map(clip, [x, x * 2, x * 3]), start=x)
