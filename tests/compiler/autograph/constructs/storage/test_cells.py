"""What code changes in Python objects in branches and loops: attributes, lists, dicts, the items of tensors."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

import graphc as gx
from graphc import Tensor
from graphc.compiler.base.errors import InvalidArgumentError, UndefinedNameError, UnimplementedError
from tests.compiler.autograph.differential import check, compile_quietly, f, kinds_of


class Account:
    """Keeps a balance."""

    def __init__(self) -> None:
        self.balance = gx.asarray(0.0)
        self.deposits = 0

    def deposit(self, amount: Any) -> None:
        self.balance = self.balance + amount
        self.deposits += 1

    @property
    def half(self) -> Any:
        return self.balance / 2

    @half.setter
    def half(self, value: Any) -> None:
        self.balance = value * 2


class Slotted:
    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


@dataclass
class Point:
    x: Any
    y: Any = 0.0


def attribute_in_a_branch(x: Tensor) -> Any:
    account = Account()
    if x > 0:
        account.deposit(x)
    else:
        account.balance = account.balance - x
    return account.balance, account.deposits + x


def attribute_in_a_while(x: Tensor) -> Any:
    account = Account()
    while account.balance < 10.0:
        account.deposit(gx.abs(x) + 1)
    return account.balance, account.deposits + x


def attribute_in_a_rolled_loop(x: Tensor) -> Any:
    account = Account()
    for i in range(20):
        account.balance = account.balance + x * i
    return account.balance


def property_with_a_setter(x: Tensor) -> Any:
    account = Account()
    for _ in range(20):
        if x > 0:
            account.half = account.half + x
        else:
            account.half = account.half * 2 + 1
    return account.half


def slots(x: Tensor) -> Any:
    box = Slotted(x)
    while box.value < 10:
        box.value = gx.abs(box.value) * 2 + 5
    return box.value


def dataclass_fields(x: Tensor) -> Any:
    point = Point(x)
    for _ in range(30):
        if point.x > 10:
            point.x = point.x / 2
            point.y = point.y + point.x
        else:
            point.x = point.x * 1.5 + 1
    return point.x, point.y


def dict_items(x: Tensor) -> Any:
    d = {"a": x, "b": x * 2}
    for _ in range(50):
        d["a"] = d["a"] + d["b"]
        if d["a"] > 100:
            d["b"] = d["b"] * 0.5
    return d


def dict_of_a_kind(x: Tensor) -> Any:
    d = OrderedDict(a=x)
    e: Any = defaultdict(float, b=x)
    while d["a"] < 5:
        d["a"] = d["a"] + 2
        e["b"] = e["b"] * 2
    return d["a"], e["b"]


def dict_update_in_both_branches(x: Tensor) -> Any:
    d = {"n": x}
    if x > 0:
        d.update(m=x + 1)
    else:
        d["m"] = x - 1
    return d["m"], d["n"]


def list_items(x: Tensor) -> Any:
    ys = [x, x * 2, x * 3]
    while ys[0] < 100:
        ys[0] = ys[0] + gx.abs(ys[1]) + 1
        ys[1], ys[2] = ys[2], ys[1]
    return ys


def list_reversed_in_a_loop(x: Tensor) -> Any:
    ys = [x, x + 1, x + 2]
    for _ in range(7):
        ys.reverse()
        ys.append(ys.pop(0) * 2)
    return ys


def local_list_in_a_loop(x: Tensor) -> Any:
    t = gx.abs(x) + 1
    while t < 50:
        ys = []
        ys.append(t)
        ys.append(t * 2)
        t = ys[0] + ys[1]
    return t


def nested_objects(x: Tensor) -> Any:
    state = {"point": Point(x), "history": [x]}
    for i in range(12):
        state["point"].x = state["point"].x + i
        state["history"][0] = state["history"][0] * 0.5 + state["point"].x
    return state["point"].x, state["history"][0]


def alias_of_an_object(x: Tensor) -> Any:
    a = Account()
    b = a
    if x > 0:
        a.deposit(x)
    else:
        b.deposit(-x)
    return a.balance, b.balance


def attribute_first_set_in_both_branches(x: Tensor) -> Any:
    box = Account()
    if x > 0:
        box.extra = x
    else:
        box.extra = -x
    return box.extra


def deleted_attribute(x: Tensor) -> Any:
    box = Account()
    box.extra = x
    if x > 0:
        del box.extra
    else:
        del box.extra
    return x + hasattr(box, "extra")


def short_circuit_with_a_change(x: Tensor) -> Any:
    account = Account()

    def deposited() -> Any:
        account.deposit(x)
        return account.balance > 0

    y = x + 1 if (x > -5 and deposited()) else x - 1
    return y, account.balance


PROGRAMS: list[Callable[[Tensor], Any]] = [
    attribute_in_a_branch,
    attribute_in_a_while,
    attribute_in_a_rolled_loop,
    property_with_a_setter,
    slots,
    dataclass_fields,
    dict_items,
    dict_of_a_kind,
    dict_update_in_both_branches,
    list_items,
    list_reversed_in_a_loop,
    local_list_in_a_loop,
    nested_objects,
    alias_of_an_object,
    attribute_first_set_in_both_branches,
    deleted_attribute,
    short_circuit_with_a_change,
]


@pytest.mark.drawn(3)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
@pytest.mark.parametrize("value", [2.0, -1.5, -9.0])
def test_objects_hold_what_python_would_put_there(program: Callable[[Tensor], Any], value: float) -> None:
    check(program, f(value))


def test_loops_that_change_objects_are_rolled() -> None:
    for program in (attribute_in_a_rolled_loop, property_with_a_setter, dataclass_fields, dict_items, nested_objects):
        assert kinds_of(program, f(1.0)) == ["rolled"], program.__name__


def test_objects_are_as_before_when_a_branch_was_traced() -> None:
    seen: list[int] = []
    account = Account()
    before = account.balance

    def program(x: Tensor) -> Any:
        y = x + 1 if x > 0 else x
        seen.append(account.deposits)
        return y

    compile_quietly(program)(f(1.0))
    assert seen == [0]
    assert account.balance is before


def test_an_attribute_set_in_one_branch_only_is_refused_with_its_name() -> None:
    def program(x: Tensor) -> Any:
        box = Account()
        if x > 0:
            box.extra = x
        return box.balance

    with pytest.raises(UndefinedNameError, match="attribute 'extra' of an Account object is set on some paths only"):
        gx.function(program)(f(1.0))


def test_an_attribute_of_another_shape_is_refused_with_its_name() -> None:
    def program(x: Tensor) -> Any:
        box = Account()
        while box.balance < 3:
            box.balance = gx.ones(2)
        return box.balance

    with pytest.raises(
        InvalidArgumentError, match=r"the attribute 'balance' of an Account object.*shapes \(\) and \(2,\)"
    ):
        gx.function(program)(f(1.0))


def test_a_dict_with_other_keys_in_one_branch_is_refused() -> None:
    def program(x: Tensor) -> Any:
        d = {"a": x}
        if x > 0:
            d["b"] = x
        return d["a"]

    with pytest.raises(InvalidArgumentError, match=r"^the dict 'd' has the key 'b' only when the condition is true"):
        gx.function(program)(f(1.0))


def test_a_switch_does_not_change_objects() -> None:
    def program(x: Tensor) -> Any:
        account = Account()
        gx.switch(gx.asarray(1), [lambda: account.deposit(x), lambda: None])
        return account.balance

    with pytest.raises(UnimplementedError, match=r"assignment to attribute .* in a branch of gx.switch"):
        gx.function(program)(f(1.0))


# Items of tensors


def one_tensor_two_names(x: Tensor) -> Any:
    y = gx.zeros(3)
    z = y
    for i in range(100):
        y[i % 3] = y[i % 3] + x
    return z


def items_in_one_branch(x: Tensor) -> Any:
    y = gx.zeros(3)
    if x > 0:
        y[0] = x
    else:
        y[1] = 5.0
    return y


def items_in_a_while(x: Tensor) -> Any:
    y = gx.zeros(6)
    i = 0
    while y[i % 6] < 3:
        y[i % 6] += gx.abs(x) + 1
        i += 1
    return y, i + x


def items_and_name_in_a_loop(x: Tensor) -> Any:
    y = gx.zeros(3)
    while x < 10:
        y[0] = y[0] + 1
        y = y * 2
        x = x + 3
    return y


def items_after_a_branch(x: Tensor) -> Any:
    y = gx.zeros(3)
    if x > 0:
        y = y + 1
    y[0] = 7.0
    return y


def items_after_a_loop(x: Tensor) -> Any:
    y = gx.zeros(3)
    for _ in range(20):
        y = y + x
    y[1] = 7.0
    return y


def two_buffers(x: Tensor) -> Any:
    a, b = gx.zeros(4), gx.ones(4)
    while x < 100:
        b[0] = a[1] + 1
        a[1] = b[0] * 2
        a, b = b, a
        x = gx.abs(x) * 2
    return a, b


def a_row_made_in_each_iteration(x: Tensor) -> Any:
    rows = []
    for i in range(12):
        row = gx.zeros(2)
        row[0] = x * i
        rows.append(row)
    return gx.stack(rows)


def slices_are_copies(x: Tensor) -> Any:
    y = gx.zeros(4)
    part = y[1:3]
    if x > 0:
        part[0] = x
    return y, part


ITEM_PROGRAMS: list[Callable[[Tensor], Any]] = [
    one_tensor_two_names,
    items_in_one_branch,
    items_in_a_while,
    items_and_name_in_a_loop,
    items_after_a_branch,
    items_after_a_loop,
    two_buffers,
    a_row_made_in_each_iteration,
    slices_are_copies,
]


@pytest.mark.parametrize("program", ITEM_PROGRAMS, ids=lambda program: program.__name__)
@pytest.mark.parametrize("value", [2.0, -1.5])
def test_items_are_those_that_python_would_assign(program: Callable[[Tensor], Any], value: float) -> None:
    check(program, f(value))


def source_changed_after_a_branch(x: Tensor) -> Any:
    y = gx.zeros(3)
    z = y
    if x > 0:
        y = y * 2
    z[0] = 5.0
    return y, z


def source_changed_in_a_loop(x: Tensor) -> Any:
    y = gx.zeros(3)
    z = y
    while x < 10:
        y = y + 1
        z[0] = z[0] + 1
        x = x * 2
    return y, z


def two_names_for_what_an_iteration_changes(x: Tensor) -> Any:
    y = gx.zeros(3)
    previous = y
    while x < 10:
        y[0] = y[0] + 1
        y = y + 1
        previous = y
        x = x * 2
    return y, previous


def attribute_or_not(x: Tensor) -> Any:
    box = Slotted(gx.ones(2))
    y = gx.zeros(2)
    if x > 0:
        box.value = y
    y[0] = 3.0
    return box.value, y


def item_of_a_list_of_unknown_length(x: Tensor) -> Any:
    rows = []
    y = gx.zeros(2)
    for i in range(12):
        if x > i:
            rows.append(y)
        y[0] = y[0] + 1
    return len(rows)


@pytest.mark.parametrize(
    "program",
    [
        source_changed_after_a_branch,
        source_changed_in_a_loop,
        two_names_for_what_an_iteration_changes,
        attribute_or_not,
        item_of_a_list_of_unknown_length,
    ],
    ids=lambda program: program.__name__,
)
def test_a_change_that_some_names_might_see_is_refused(program: Callable[[Tensor], Any]) -> None:
    with pytest.raises(UnimplementedError, match=r"may or may not be at run time.*Change a copy") as caught:
        gx.function(program, unroll=False)(f(1.0))
    assert "test_cells.py" in str(caught.value)


def test_a_number_returned_from_a_loop_is_that_of_the_iteration() -> None:
    def smallest_divisor(n: Tensor) -> Any:
        d = 2
        while d * d <= n:
            if n % d == 0:
                return d
            d += 1
        return -1

    compiled = compile_quietly(smallest_divisor)
    for n in (9, 7, 8, 25, 3, 49):
        assert int(compiled(gx.asarray(n))) == int(smallest_divisor(gx.asarray(n)))


def test_an_attribute_that_the_class_has_too_is_deleted_where_that_is_certain() -> None:
    class Box:
        k = 2.0

    def program(x: Tensor, count: Any) -> Any:
        box = Box()
        box.k = 7.0
        try:
            for _ in range(count):
                del box.k
        except AttributeError:
            return x
        return x * box.k

    compiled = compile_quietly(program)
    assert [compiled(f(1.0), count).item() for count in (0, 1, 2)] == [7.0, 2.0, 1.0]
    with pytest.raises(
        UnimplementedError, match="the deletion of attribute 'k' of a Box object, whose class has one too,"
    ):
        compiled(f(1.0), gx.asarray(2))
