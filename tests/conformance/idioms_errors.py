"""`raise`, `assert`, `try`, `with`."""

from __future__ import annotations

from typing import Any

import graphc as gx
from tests.conformance.harness import f, i, program

RAISE = "`raise` under a tensor condition"
ASSERT = "`assert` on tensors"
TRY = "`try..except` around a `raise` under a tensor condition"
FINALLY = "`try..finally`"
WITH = "`with`"


class BudgetError(Exception):
    """An exception with arguments of its own."""

    def __init__(self, name: str, code: int = 3) -> None:
        super().__init__(f"{name} is over budget (code {code})")
        self.code = code


class Account:
    """Something with a Variable."""

    def __init__(self, balance: float) -> None:
        self.balance = gx.Variable(balance, name="balance")

    def withdraw(self, amount: Any) -> Any:
        self.balance.assign_sub(amount)
        if self.balance < 0:
            raise ValueError("insufficient funds")
        return self.balance.value()


@program("errors/raise in a branch", inputs=[(f(1.0),), (f(-1.0),)], construct=RAISE, gradient=True)
def raise_in_branch(x: Any) -> Any:
    if x < 0:
        raise ValueError("x must not be negative")
    return gx.sqrt(x)


@program("errors/raise on the other side", inputs=[(f(1.0),), (f(-1.0),)], construct=RAISE, gradient=True)
def raise_in_else(x: Any) -> Any:
    if x > 0:
        y = x * 2
    else:
        raise ArithmeticError
    return y


@program("errors/custom exception", inputs=[(f(1.0), f(2.0)), (f(4.0), f(2.0))], construct=RAISE)
def custom_exception(cost: Any, budget: Any) -> Any:
    if cost > budget:
        raise BudgetError("training", code=7)
    return budget - cost


@program("errors/message with tensors", inputs=[(f(1.0), i(2)), (f(4.5), i(2)), (f(-2.25), i(9))], construct=RAISE)
def message_with_tensors(x: Any, n: Any) -> Any:
    if x > 2:
        raise ValueError(f"x is {x:.2f}, more than {n}!")
    if x < 0:
        raise KeyError(f"{x}")
    return x * n


@program(
    "errors/raise in a loop", inputs=[(f(1, 2, 3),), (f(1, -2, -3),), (f(-1, 2, 3),)], construct=RAISE, gradient=True
)
def raise_in_loop(x: Any) -> Any:
    total = gx.zeros(())
    for k, value in enumerate(x):
        if value < 0:
            raise IndexError(f"element {k} is {value}")
        total = total + gx.log(value)
    return total


@program("errors/raise in a while loop", inputs=[(f(3.0),), (f(4.5),)], construct=RAISE, python_numbers=True)
def raise_in_while(x: Any) -> Any:
    n = 0
    while x > 0:
        if x < 1:
            raise OverflowError(f"gave up after {n} steps")
        x = x - 1
        n += 1
    return n


@program("errors/for-else raises", inputs=[(f(1, 9),), (f(1, 2),)], construct=RAISE)
def for_else_raises(x: Any) -> Any:
    for value in x:
        if value > 5:
            break
    else:
        raise LookupError("nothing is large")
    return value


@program("errors/raise in a called function", inputs=[(f(4.0),), (f(-4.0),)], construct=RAISE, gradient=True)
def raise_in_called(x: Any) -> Any:
    return _root(x) + _root(x * 4)


def _root(value: Any) -> Any:
    if value < 0:
        raise ValueError(f"no root of {value}")
    return gx.sqrt(value)


@program("errors/the first of two", inputs=[(f(1.0),), (f(-1.0),), (f(-20.0),), (f(20.0),)], construct=RAISE)
def first_of_two(x: Any) -> Any:
    if x < 0:
        raise ValueError("negative")
    if abs(x) > 10:
        raise OverflowError("too large")
    return x


@program("errors/raise at the end of every path", inputs=[(f(1.0),), (f(-1.0),)], construct=RAISE)
def raise_on_every_path(x: Any) -> Any:
    if x > 0:
        raise ValueError("positive")
    raise LookupError("not positive")


@program(
    "errors/variables stay as they were",
    inputs=[(lambda: Account(10.0), f(3.0)), (lambda: Account(10.0), f(30.0))],
    construct=RAISE,
)
def variables_unchanged(account: Any, amount: Any) -> Any:
    return account.withdraw(amount) * 2


@program("errors/assert", inputs=[(f(1.0),), (f(-1.0),)], construct=ASSERT, gradient=True)
def assert_plain(x: Any) -> Any:
    assert x > 0
    return gx.log(x)


@program("errors/assert with a message", inputs=[(f(0.5, 0.5),), (f(0.5, 0.75),)], construct=ASSERT)
def assert_message(p: Any) -> Any:
    total = gx.sum(p)
    assert abs(total - 1) < 1e-6, f"probabilities sum to {total}"
    return p / total


@program("errors/assert in a loop", inputs=[(f(1, 2, 4),), (f(1, 2, 2),)], construct=ASSERT)
def assert_in_loop(x: Any) -> Any:
    previous = x[0] - 1
    for value in x:
        assert previous < value, "must increase"
        previous = value
    return previous


@program("errors/assert on Python values", inputs=[(f(1, 2), 2), (f(1, 2), 3)], construct=ASSERT)
def assert_static(x: Any, n: int) -> Any:
    assert x.shape == (n,), f"expected {n}, got {x.shape}"
    return x * n


@program("errors/static raise", inputs=[(f(1.0), 2), (f(1.0), -2)], construct="`raise` under a Python condition")
def static_raise(x: Any, n: int) -> Any:
    if n < 0:
        raise BudgetError("n", n)
    return x * n


@program("errors/message made in other ways", inputs=[(f(2.0),), (f(-3.0),), (f(0.0),)], construct=RAISE)
def other_messages(x: Any) -> Any:
    if x > 1:
        raise ValueError("bad " + str(x) + " and " + repr(x))
    if x < 0:
        raise ValueError(f"bad {x:.1f} n", x)
    return x


@program("errors/assert a compound condition", inputs=[(f(2.0),), (f(-3.0),), (f(30.0),)], construct=ASSERT)
def assert_compound(x: Any) -> Any:
    assert 0 <= x < 10 and x != 5, ("out of range", x)  # noqa: PT018
    return x


@program("errors/assert that all are finite", inputs=[(f(1, 2),), (f(1, float("nan")),)], construct=ASSERT)
def assert_finite(x: Any) -> Any:
    assert gx.all(gx.isfinite(x)), "not finite"
    return x * 2


@program(
    "errors/truth of a vector",
    inputs=[(f(1, 2),)],
    construct="the truth value of a tensor with several elements",
    raises=ValueError,
)
def truth_of_vector(x: Any) -> Any:
    if x > 0:
        return x
    return -x


@program(
    "errors/an index that Python refuses in a branch",
    inputs=[(f(1.0), 2), (f(-1.0), 2), (f(-1.0), 0)],
    construct="a Python exception in a branch on a tensor",
    gradient=True,
)
def python_index_error(x: Any, k: int) -> Any:
    factors = [2.0, 3.0]
    return x * factors[k] if x < 0 else x * 5.0


@program(
    "errors/a missing key in a loop",
    inputs=[(f(1, 2, 3),), (f(1, -2, 3),)],
    construct="a Python exception in a branch on a tensor",
)
def python_key_error(x: Any) -> Any:
    scales = {"up": 2.0}
    total = 0.0
    for value in x:
        if value > 0:
            total += value * scales["up"]
        else:
            total += value * scales["down"]
    return total


@program(
    "errors/a division by zero that is caught",
    inputs=[(f(1.0), 0), (f(-1.0), 0)],
    construct="`try..except` around a `raise` under a tensor condition",
    refused=(gx.errors.UnimplementedError, "ZeroDivisionError.*would be caught by a try statement"),
)
def python_zero_division(x: Any, k: int) -> Any:
    scale = 10
    try:
        if x > 0:
            scale = 100 // k
    except ZeroDivisionError:
        scale = -1
    return x * scale


@program(
    "errors/a number changes where the other ways fail",
    inputs=[(i(1), f(1.0)), (i(3), f(1.0)), (i(4), f(1.0))],
    construct=RAISE,
    python_numbers=True,
)
def number_beside_a_raise(t: Any, x: Any) -> Any:
    sign = 0.5
    for _ in range(6):
        if t > 3:
            pass
        elif t > 2:
            return x, sign
        else:
            sign = -sign
            x = x + sign
    return x, sign
