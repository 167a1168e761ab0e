"""Lists, dicts and objects that several names and containers hold: which object it is survives branches and loops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import graphc as gx
from graphc import errors
from tests.conformance.harness import f, i, program

CONSTRUCT = "aliases of lists, dicts and objects"
SIGNS = [(f(1.0),), (f(-1.0),)]
COUNTS = [(f(1.0), i(4)), (f(-1.0), i(0))]


@dataclass
class Cell:
    v: Any


@program("aliases/list in a list, both changed in a branch", inputs=SIGNS, construct=CONSTRUCT, gradient=True)
def nested_lists(x: Any) -> Any:
    a = [x, [x * 2]]
    shallow = a.copy()
    if x > 0:
        a[1].append(x)
        a.append(x)
    else:
        a[1].append(-x)
        a.append(-x)
    return a, shallow


@program("aliases/list in a dict, both changed in a branch", inputs=SIGNS, construct=CONSTRUCT, gradient=True)
def list_in_dict(x: Any) -> Any:
    a = {"k": [x * 2], "n": x}
    if x > 0:
        a["k"].append(x)
        a["n"] = x + 1
    else:
        a["k"].append(-x)
        a["n"] = x + 2
    a["k"].append(x * 3)
    return a["k"], a


@program("aliases/object in a dict, both changed in a branch", inputs=SIGNS, construct=CONSTRUCT, gradient=True)
def object_in_dict(x: Any) -> Any:
    cells = {"a": Cell(x), "n": x}
    if x > 0:
        cells["a"].v = x + 5
        cells["n"] = x * 2
    else:
        cells["n"] = x - 5
    return cells["a"].v, cells["n"]


@program("aliases/lists changed in a branch, of which one is chosen", inputs=SIGNS, construct=CONSTRUCT, gradient=True)
def chosen_after_change(x: Any) -> Any:
    a, b, cell = [x], [x * 2], Cell(x)
    if x > 0:
        a.append(x)
        chosen, other = a, (b, cell)
    else:
        b.append(x)
        b[0] = x - 5
        cell.v = x * 7
        chosen, other = b, (a, cell)
    return chosen, other[0], other[1].v


@program("aliases/nested list where a branch raises", inputs=SIGNS, construct=CONSTRUCT)
def branch_raises(x: Any) -> Any:
    a = {"k": [x * 2], "n": x}
    inner, cell = a["k"], Cell(x)
    if x > 0:
        a["k"].append(x)
        a["n"] = x * 2
        cell.v = x * 3
        made = (inner, cell, x * 7)
    else:
        raise ValueError("negative")
    inner.append(x)
    return a, made[0], made[0] is inner, made[1] is cell


@program("aliases/nested list where a branch returns", inputs=SIGNS, construct=CONSTRUCT, gradient=True)
def branch_returns(x: Any) -> Any:
    a = {"k": [x * 2], "n": x}
    inner = a["k"]
    if x > 0:
        return a
    a["k"].append(x)
    a["n"] = x * 2
    inner.append(x)
    return a


@program("aliases/list in a tuple that a branch makes anew", inputs=SIGNS, construct=CONSTRUCT, gradient=True)
def list_in_tuple(x: Any) -> Any:
    k = [x]
    if x > 0:
        k[0] = x + 1
        pair = (k, x * 2)
    else:
        pair = (k, x * 3)
    same = pair[0] is k
    k.append(x)
    return pair, same


@program("aliases/list beside what a loop changes", inputs=SIGNS, construct=CONSTRUCT, gradient=True)
def beside_a_loop(x: Any) -> Any:
    k = [x]
    d = {"k": k, "v": x}
    for _ in range(8):
        d["v"] = d["v"] + 1
    k.append(x)
    return d


@program("aliases/list in a tuple that a loop makes anew", inputs=COUNTS, construct=CONSTRUCT, gradient=True)
def tuple_in_a_loop(x: Any, n: Any) -> Any:
    k = [x]
    pair = (k, x)
    for _ in range(n):
        k[0] = k[0] + 1
        pair = (k, pair[1] * 2)
    k.append(x)
    return pair


@program("aliases/list in a dict, both changed in a loop", inputs=COUNTS, construct=CONSTRUCT, gradient=True)
def both_in_a_loop(x: Any, n: Any) -> Any:
    k = [x]
    d = {"k": k, "v": x}
    for _ in range(n):
        d["v"] = d["v"] + 1
        d["k"][0] = d["k"][0] + d["v"]
    k.append(x)
    return d, k


@program("aliases/list in a dict that a loop replaces", inputs=COUNTS, construct=CONSTRUCT, gradient=True)
def replaced_in_a_loop(x: Any, n: Any) -> Any:
    d = {"k": [x, x], "v": x}
    before = d["k"]
    for _ in range(n):
        d["v"] = d["v"] + 1
        d["k"] = [value + 1 for value in d["k"]]
    return d, before


@program("aliases/tuple with a list in a dict", inputs=COUNTS, construct=CONSTRUCT, gradient=True)
def tuple_in_a_dict(x: Any, n: Any) -> Any:
    state = {"p": (x, [x, x * 2]), "t": 0}
    while state["t"] < n:
        total, parts = state["p"]
        parts[0] = parts[0] * 0.5
        state["p"] = (total + parts[0], parts)
        state["t"] += 1
    return state["p"]


@program("aliases/lists in a dict that grow in a loop", inputs=COUNTS, construct=CONSTRUCT)
def growing_in_a_dict(x: Any, n: Any) -> Any:
    out = {"a": [], "b": [x], "n": x}
    for k in range(n):
        gx.loop_options(max_iterations=6)
        out["a"].append(x * k)
        out["b"].append(x + k)
        out["n"] = 3 * x
    return out["a"], out["b"], out["n"]


@program(
    "aliases/new key in a loop that may run zero times",
    inputs=COUNTS,
    construct=CONSTRUCT,
    outcome="refused",
    refused=(errors.InvalidArgumentError, "has the key 'n' only after an iteration; set it on both sides"),
)
def new_key_in_a_loop(x: Any, n: Any) -> Any:
    out: dict[str, Any] = {"a": []}
    for k in range(n):
        gx.loop_options(max_iterations=6)
        out["a"].append(x * k)
        out["n"] = 3
    return out["a"]


@program(
    "aliases/change what is one of two equal lists",
    inputs=SIGNS,
    construct="changing one of several objects",
    outcome="refused",
    refused=(errors.UnimplementedError, "list.append changes an object that .* may or may not be"),
)
def one_of_two_equal(x: Any) -> Any:
    a, b = [1], [1]
    chosen = a if x > 0 else b
    chosen.append(2)
    return a, b


@program(
    "aliases/two tensors that become one in a loop's branch, after another change",
    inputs=[(f(1, -2, 3, 4), f(0.5, 2, 1, 3), f(0.75))],
    construct=CONSTRUCT,
)
def become_one_in_loop(v: Any, u: Any, c: Any) -> Any:
    for a, b in zip(u, v, strict=True):
        v += b
        if c < a:
            u[1:3] += c
            v = u
    return v, u
