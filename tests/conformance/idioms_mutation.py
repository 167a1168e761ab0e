"""Item assignment: to arguments, through aliases, and what is a copy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import graphc as gx
from tests.conformance.harness import f, i, program

ARGUMENT = "item assignment to an argument: the caller sees it"
ALIAS = "aliases of a tensor that is assigned to"
COPY = "a slice is a copy"


@program("mutation/assign to an argument", inputs=[(f(1, 2, 3), f(9.0)), (f(0, 0), f(-9.0))], construct=ARGUMENT)
def assign_argument(x: Any, v: Any) -> Any:
    x[0] = v
    return gx.sum(x)


@program("mutation/assign to an argument in a branch", inputs=[(f(1, 2),), (f(-1, 2),)], construct=ARGUMENT)
def assign_argument_branch(x: Any) -> None:
    if x[0] > 0:
        x[1] = -5


@program(
    "mutation/assign to an argument in a loop", inputs=[(f([0] * 5), i(3)), (f([7] * 5), i(0))], construct=ARGUMENT
)
def assign_argument_loop(x: Any, n: Any) -> None:
    for k in range(n):
        x[k] = x[k] + k * 10


@program(
    "mutation/assign to tensors in containers",
    inputs=[([f(1, 2), f(3, 4)], {"w": f(5, 6)}), ([f(0, 0), f(-1, 1)], {"w": f(1, 1)})],
    construct=ARGUMENT,
)
def assign_in_containers(layers: Any, named: Any) -> Any:
    for layer in layers:
        layer[0] = layer[0] * 2
    named["w"][1:] += layers[0][0]
    return layers[1] * 1


@program("mutation/rebinding does not reach the caller", inputs=[(f(1, 2),), (f(-1, 2),)], construct=ARGUMENT)
def rebinding(x: Any) -> Any:
    x = x + 1
    x[0] = 100
    return x


@program("mutation/alias", inputs=[(f(1, 2),), (f(-1, 2),)], construct=ALIAS)
def alias(x: Any) -> Any:
    y = x
    y[0] = 50
    x[1] = y[0] + 1
    return y * 2


@program(
    "mutation/alias chosen by a branch",
    inputs=[(f(1, 2), f(3, 4)), (f(-1, 2), f(3, 4))],
    construct="item assignment to one of several tensors, chosen by a branch",
    refused=(gx.errors.UnimplementedError, "'y' may or may not be"),
)
def alias_by_branch(x: Any, z: Any) -> Any:
    if x[0] > 0:
        y = x
    else:
        y = z
    y[0] = 50
    return y + 1


@program("mutation/alias in a list", inputs=[(f(1, 2), 3), (f(-1, 2), 2)], construct=ALIAS)
def alias_in_list(x: Any, n: int) -> Any:
    row = x * 1
    rows = [row] * n
    rows[0][0] = 99
    return rows, row


@program(
    "mutation/the same tensor twice",
    inputs=[(lambda: [gx.asarray([1.0, 2.0])] * 2,)],
    construct="item assignment to an argument that is passed twice",
    refused=(gx.errors.UnimplementedError, r"'pair\[0\]'.*'pair\[1\]'"),
)
def same_twice(pair: Any) -> Any:
    pair[0][0] = 9.0
    return pair[1] * 2


@program("mutation/swap of rows", inputs=[(f([[1, 2], [3, 4]]),), (f([[0, 0], [5, 5]]),)], construct=COPY)
def swap_rows(x: Any) -> Any:
    y = x * 1
    y[0], y[1] = y[1], y[0]
    return y


@program("mutation/slice is a copy", inputs=[(f(1, 2, 3),), (f(-1, 2, 3),)], construct=COPY)
def slice_is_copy(x: Any) -> Any:
    y = x * 1
    head = y[:2]
    head[0] = 100
    y[1] = -100
    return y, head


@program("mutation/row of a matrix is a copy", inputs=[(f([[1, 2], [3, 4]]),), (f([[0, 0], [5, 5]]),)], construct=COPY)
def row_is_copy(x: Any) -> Any:
    y = x * 1
    y[0][1] = 100
    for row in y:
        row[0] = -1
    return y


@program("mutation/value assigned is copied", inputs=[(f(1, 2, 3),), (f(-1, 2, 3),)], construct=COPY)
def value_is_copied(x: Any) -> Any:
    y = gx.zeros((2, 3))
    v = x * 1
    y[0] = v
    v[0] = 100
    y[1] = v
    return y


@program("mutation/captured before it changes", inputs=[(f(1, 2, 3),), (f(-1, 2, 3),)], construct=ALIAS, gradient=True)
def captured_before(x: Any) -> Any:
    y = x * 1
    before = y[0] * 2
    doubled = y * 2
    y[0] = 100
    return before, doubled, y


# --- lists, dicts and objects of the same contents, of which a name holds one

ONE_OF_TWO = "a change of one of several lists, dicts or objects"
NOT_KNOWN = (gx.errors.UnimplementedError, "changes an object that .* may or may not be at run time")
SIGNS = [(f(2.0),), (f(-2.0),)]


@program("mutation/one of two equal lists", inputs=SIGNS, construct=ONE_OF_TWO, refused=NOT_KNOWN)
def one_of_equal_lists(x: Any) -> Any:
    items = [x]
    others = items
    if x > 0:
        others = [x]
    others.append(x)
    return len(items), len(others)


@program("mutation/one of two empty lists", inputs=SIGNS, construct=ONE_OF_TWO, refused=NOT_KNOWN)
def one_of_empty_lists(x: Any) -> Any:
    items: list[Any] = []
    others = items if x > 0 else []
    others.append(x)
    return len(items), len(others)


@program("mutation/one of two empty dicts", inputs=SIGNS, construct=ONE_OF_TWO, refused=NOT_KNOWN)
def one_of_empty_dicts(x: Any) -> Any:
    known: dict[str, Any] = {}
    others = known
    if x > 0:
        others = {}
    others["a"] = x
    return list(known), list(others)


@dataclass
class _Box:
    value: Any


@program("mutation/one of two equal objects", inputs=SIGNS, construct=ONE_OF_TWO, refused=NOT_KNOWN)
def one_of_equal_objects(x: Any) -> Any:
    box = _Box(x)
    other = box
    if x > 0:
        other = _Box(x)
    other.value = x + 1
    return box.value, other.value


@program(
    "mutation/one of the lists that gx.switch gives", inputs=[(i(0), f(1.0))], construct=ONE_OF_TWO, refused=NOT_KNOWN
)
def one_of_switched_lists(k: Any, x: Any) -> Any:
    items, others = [x], [x]
    chosen = gx.switch(k, [lambda: items, lambda: others])
    chosen.append(x)
    return len(items), len(others)


@program("mutation/list that a loop replaces by an equal one", inputs=SIGNS, construct=ONE_OF_TWO, refused=NOT_KNOWN)
def replaced_in_loop(x: Any) -> Any:
    items: list[Any] = []
    others = items
    for _ in range(10):
        x = x + 1
        others = []
    others.append(x)
    return len(items), len(others)


@program("mutation/list that is changed in the first iteration", inputs=SIGNS, construct=ALIAS)
def changed_in_first_iteration(x: Any) -> Any:
    items: list[Any] = []
    others = items
    for _ in range(10):
        others.append(x)
        x = x + 1
        others = []
    return items, others
