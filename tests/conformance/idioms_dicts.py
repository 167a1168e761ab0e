"""Dicts and sets as state."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from typing import Any

import graphc as gx
from tests.conformance.harness import f, i, program

DICT = "dicts as state"


@program("dicts/dict built in a loop", inputs=[(f(1, 2, 3),), (f(-1, 0, 5),)], construct=DICT, gradient=True)
def dict_in_loop(x: Any) -> Any:
    totals = {"even": gx.zeros(()), "odd": gx.zeros(())}
    for k, value in enumerate(x):
        totals["odd" if k % 2 else "even"] += value * value
    return totals


@program("dicts/dict in a while loop", inputs=[(f(10.0),), (f(0.5),)], construct=DICT, gradient=True)
def dict_in_while(x: Any) -> Any:
    state = {"x": x, "n": gx.asarray(0)}
    while state["x"] > 1:
        state["x"] = state["x"] / 2
        state["n"] = state["n"] + 1
    return state


@program("dicts/key added in both branches", inputs=[(f(1.0),), (f(-1.0),)], construct=DICT, gradient=True)
def key_in_both(x: Any) -> Any:
    out = {"x": x}
    if x > 0:
        out["y"] = x * 2
    else:
        out["y"] = x * x
        out["x"] = x + 1
    return out


@program(
    "dicts/key added in one branch",
    inputs=[(f(1.0),), (f(-1.0),)],
    construct="a key or attribute added in one branch only",
    refused=(gx.errors.GraphcError, "'extra'"),
)
def key_in_one(x: Any) -> Any:
    out = {"x": x}
    if x > 0:
        out["extra"] = x * 2
    return out


@program("dicts/dict methods", inputs=[({"a": f(1.0), "b": f(2.0)},), ({"a": f(-1.0), "c": f(0.0)},)], construct=DICT)
def dict_methods(given: Any) -> Any:
    named = dict(given)
    named.update(a=named["a"] * 10)
    named.setdefault("z", gx.ones(()))
    missing = named.get("b", named["z"])
    first = named.pop("a")
    merged = {**named, "first": first} | {"missing": missing}
    return merged, list(named), "b" in named, len(named)


@program("dicts/defaultdict and OrderedDict", inputs=[(f(1, 2, 3),), (f(-1, 0, 5),)], construct=DICT, gradient=True)
def special_dicts(x: Any) -> Any:
    groups: Any = defaultdict(list)
    for k in range(3):
        groups[k % 2].append(x[k] * k)
    ordered = OrderedDict(last=x[2], first=x[0])
    ordered.move_to_end("last")
    return dict(groups), dict(ordered)


@program("dicts/dict looped over and changed", inputs=[(f(1.0), 3), (f(-1.0), 12)], construct=DICT, gradient=True)
def dict_updates(x: Any, n: int) -> Any:
    weights = {"w": x, "b": x * 0}
    for _ in range(n):
        gradients = {key: value * 0.1 + 1 for key, value in weights.items()}
        for key in weights:
            weights[key] = weights[key] - 0.1 * gradients[key]
    return weights


@program(
    "dicts/dict argument that is changed",
    inputs=[({"n": f(1.0)},), ({"n": f(-1.0)},)],
    construct="changing a dict argument",
    refused=(gx.errors.UnimplementedError, "outlives the function|was given"),
)
def dict_argument(state: Any) -> Any:
    if state["n"] > 0:
        state["n"] = state["n"] * 2
    return state["n"] + 1


@program(
    "dicts/set of Python values",
    inputs=[(f(1.0), i(2)), (f(2.0), i(3))],
    python_numbers=True,
    construct="sets and tuples of Python values",
)
def python_sets(x: Any, n: Any) -> Any:
    seen = {1, 2}
    seen.add(3)
    return x * len(seen), sorted(seen), n in (1, 2, 3) or n > 100


@program("dicts/counters", inputs=[(f(1, -2, 3),), (f(-1, -2, -3),)], construct=DICT, python_numbers=True)
def counters(x: Any) -> Any:
    counts = {"all": 0, "positive": 0}
    for value in x:
        counts["all"] += 1
        if value > 0:
            counts["positive"] += 1
    return counts
