"""The types of structured control flow: what its ops return and their regions take, and the checks of its nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import jax
import numpy as np

from graphc.compiler.ir import Attrs, Graph, Node, TensorType, compatible

BOOL = np.dtype(np.bool_)
INDEX = TensorType((), np.dtype(np.int32), weak=True)

Types = Sequence[TensorType]


def cond_types(types: Types, attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
    """Returns the types of what a branch returns."""
    del types, attrs
    return tuple(value.type for value in regions[0].outputs)


def first_true_types(types: Types, attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
    """Returns the type of an index."""
    del types, attrs, regions
    return (TensorType((), INDEX.dtype),)


def while_types(types: Types, attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
    """Returns the types of what a while loop carries."""
    del regions
    return tuple(types[: attrs["num_carry"]])


def scan_types(types: Types, attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
    """Returns the types of what a scan carries, and of the rows it collects."""
    num_carry, length = attrs["num_carry"], attrs["length"]
    ys = (value.type for value in regions[0].outputs[num_carry:])
    stacked = (replace(type, shape=(length, *type.shape) if type.ranked else ()) for type in ys)
    return (*types[:num_carry], *stacked)


Entries = Sequence[Sequence[tuple[TensorType, int | None]]]


def branch_entries(types: Types, attrs: Attrs, regions: Sequence[Graph]) -> Entries:
    """Returns the inputs of branches, each with the index of the operand that it receives."""
    del attrs
    return [[(type, index) for index, type in enumerate(types) if index] for _ in regions]


def while_entries(types: Types, attrs: Attrs, regions: Sequence[Graph]) -> Entries:
    """Returns the inputs of a loop's test and body, each with the index of the operand that it always receives."""
    num_carry = attrs["num_carry"]
    return [[(type, index if index >= num_carry else None) for index, type in enumerate(types)] for _ in regions]


def scan_entries(types: Types, attrs: Attrs, regions: Sequence[Graph]) -> Entries:
    """Returns the inputs of a scan's body, each with the index of the operand that it always receives."""
    del regions
    num_carry, rows = attrs["num_carry"], attrs["num_carry"] + attrs["num_xs"]
    carried = [(type, None) for type in types[:num_carry]]
    elements = [(replace(type, shape=type.shape[1:]), None) for type in types[num_carry:rows]]
    rest = [(type, index) for index, type in enumerate(types) if index >= rows]
    return [[(INDEX, None), *carried, *elements, *rest]]


def _differs(what: str, actual: Types, expected: Types) -> str | None:
    if list(actual) == list(expected):
        return None
    fit = len(actual) == len(expected) and all(map(compatible, actual, expected))
    if fit and any(type.is_open for type in (*actual, *expected)):
        return None
    return f"{what}: ({', '.join(map(str, actual))}) expected ({', '.join(map(str, expected))})"


def _types(values: Sequence[Any]) -> list[TensorType]:
    return [value.type for value in values]


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and value >= 0


def _are_names(value: Any) -> bool:
    return isinstance(value, tuple) and all(isinstance(name, str) for name in cast("tuple[Any, ...]", value))


_Kinds = Mapping[str, Callable[[Any], bool]]

_BRANCH_ATTRS: _Kinds = {"assigned": _are_names}
_LOOP_ATTRS: _Kinds = {**_BRANCH_ATTRS, "max_iterations": lambda value: value is None or _is_count(value)}
_SCAN_ATTRS: _Kinds = {
    **_BRANCH_ATTRS,
    "start": lambda value: isinstance(value, int),
    "step": lambda value: isinstance(value, int),
    "reverse": lambda value: isinstance(value, bool),
    "unroll": lambda value: _is_count(value) and value > 0,
}


def _attr_problem(node: Node, counts: Sequence[str], optional: _Kinds) -> str | None:
    """Returns a message if attributes are missing, unknown, or of another kind."""
    kinds = {**dict.fromkeys(counts, _is_count), **optional}
    for name, value in node.attrs.items():
        if name not in kinds or not kinds[name](value):
            return f"it cannot have the attribute {name} = {value!r}"
    missing = [name for name in counts if name not in node.attrs]
    if missing:
        return f"the attribute {missing[0]} is missing"
    if sum(node.attrs[name] for name in counts if name in ("num_carry", "num_xs")) > len(node.inputs):
        return f"it has {len(node.inputs)} inputs, fewer than it carries or takes the rows of"
    if len(node.attrs.get("assigned", ())) > node.attrs.get("num_carry", len(node.outputs)):
        return "it assigns more variables than it returns"
    return None


def check_branches(node: Node) -> str | None:
    """Returns a message if a cond or switch is not one; None if it is."""
    problem = _attr_problem(node, (), _BRANCH_ATTRS)
    if problem:
        return problem
    operands = _types(node.inputs[1:])
    for region in node.regions:
        problem = _differs(f"the inputs of branch {region.name!r}", _types(region.inputs), operands) or _differs(
            f"the outputs of branch {region.name!r}", _types(region.outputs), _types(node.outputs)
        )
        if problem:
            return problem
    if node.op.name == "cond":
        return _differs("the predicate", [node.inputs[0].type], [TensorType((), BOOL)])
    return None


def check_while(node: Node) -> str | None:
    """Returns a message if a while loop is not one; None if it is."""
    problem = _attr_problem(node, ("num_carry",), _LOOP_ATTRS)
    if problem:
        return problem
    test, body = node.regions
    carry = _types(node.outputs)
    return (
        _differs("the inputs of the test", _types(test.inputs), _types(node.inputs))
        or _differs("the outputs of the test", _types(test.outputs), [TensorType((), BOOL)])
        or _differs("the inputs of the body", _types(body.inputs), _types(node.inputs))
        or _differs("the outputs of the body", _types(body.outputs), carry)
    )


def check_scan(node: Node) -> str | None:
    """Returns a message if a scan is not one; None if it is."""
    problem = _attr_problem(node, ("num_carry", "num_xs", "num_ys", "length"), _SCAN_ATTRS)
    if problem:
        return problem
    (body,) = node.regions
    num_carry, num_xs = node.attrs["num_carry"], node.attrs["num_xs"]
    types = _types(node.inputs)
    elements = [replace(type, shape=type.shape[1:]) for type in types[num_carry : num_carry + num_xs]]
    inputs = [INDEX, *types[:num_carry], *elements, *types[num_carry + num_xs :]]
    return _differs("the inputs of the body", _types(body.inputs), inputs) or _differs(
        "the carried outputs of the body", _types(body.outputs[:num_carry]), types[:num_carry]
    )


# Unroll factor: the number of iterations in one step of an XLA loop, which XLA can fuse.
#
# A loop of cheap arithmetic on large arrays spends its time on memory traffic, once for each iteration. If a step of
# XLA's loop covers four iterations, they are fused into one pass. Measured on two CPU cores, relative to one iteration
# per step: four take 0.43 to 0.60 of the time for arrays of 250,000 and of 4,000,000 floats. Arrays that fit into a
# cache gain nothing or lose (up to 5.8 times the time for 100 floats), and so does anything more expensive than a
# multiplication, which XLA recomputes for each later fused iteration (``tanh`` takes 2.2 times the time). The rule is
# therefore narrow, and applies only to the CPU, where it was measured.

FUSED = 4
"""Number of iterations in a step, for a cheap body on large arrays."""

_LARGE = 200_000
_MOST_NODES = 12
_CHEAP = frozenset(
    (
        *("abs", "add", "astype", "constant", "equal", "greater", "greater_equal", "identity", "less", "less_equal"),
        *("logical_and", "logical_not", "logical_or", "maximum", "minimum", "multiply", "negative", "not_equal"),
        *("positive", "square", "stop_gradient", "subtract", "where"),
    )
)


def iterations_per_step(nodes: Iterable[Node], carried: Iterable[TensorType], length: int) -> int:
    """Returns the number of iterations in one step of a loop: 1, or :data:`FUSED` by the rule above."""
    body = list(nodes)
    computing = [node for node in body if node.op.name not in ("constant", "identity", "stop_gradient")]
    cheap = len(computing) <= _MOST_NODES and all(node.op.name in _CHEAP for node in body)
    large = any(type.size >= _LARGE for type in carried)
    return FUSED if cheap and large and length >= 2 * FUSED and jax.default_backend() == "cpu" else 1
