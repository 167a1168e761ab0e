"""The types that ops have by their rules are those that JAX gives."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import partial
from typing import Any

import jax
import numpy as np
import pytest

from graphc.compiler.ir import OPS, Attrs, TensorType
from graphc.compiler.ops.type_rules import SHAPE_RULES, TYPE_RULES

_TYPES = [
    TensorType(shape, np.dtype(dtype), weak)
    for dtype in ("bool", "int32", "int8", "uint32", "float32", "float16", "complex64")
    for shape in ((), (3,), (2, 3), (1,))
    for weak in (False, True)
    if not weak or dtype in ("bool", "int32", "float32")
]


def _operands(name: str) -> Iterator[tuple[TensorType, ...]]:
    some = _TYPES[::3] if name == "where" else _TYPES
    yield from itertools.product(some, repeat=len(OPS[name].params))


@pytest.mark.parametrize("name", sorted(TYPE_RULES.keys() - SHAPE_RULES.keys() - {"astype"}))
def test_a_rule_says_what_jax_says(name: str) -> None:
    rule, impl = TYPE_RULES[name], OPS[name].impl
    known: dict[tuple[TensorType, ...], TensorType] = {}
    for types in _operands(name):
        found = rule(*types)
        if found is not None and len({type.shape for type in types}) + len({type.dtype for type in types}) <= 4:
            known[types] = found
    assert known
    for types, found in list(known.items())[:: max(1, len(known) // 60)]:
        structs = [jax.ShapeDtypeStruct(type.shape, type.dtype, weak_type=type.weak) for type in types]
        expected = jax.eval_shape(partial(impl), *structs)
        assert found == TensorType(expected.shape, np.dtype(expected.dtype), bool(expected.weak_type)), types
        assert OPS[name].infer(types, Attrs(), ()) == (found,)


@pytest.mark.parametrize("dtype", ["bool", "int32", "float32", "bfloat16"])
def test_the_type_of_a_conversion_is_what_jax_says(dtype: str) -> None:
    for type in (type for type in _TYPES if type.dtype.kind != "c"):
        attrs = Attrs(dtype=jax.numpy.dtype(dtype))
        struct = jax.ShapeDtypeStruct(type.shape, type.dtype, weak_type=type.weak)
        expected = jax.eval_shape(partial(OPS["astype"].impl, **attrs), struct)
        assert not expected.weak_type
        assert OPS["astype"].infer((type,), attrs, ()) == (TensorType(expected.shape, np.dtype(expected.dtype)),)


_AXES: list[Any] = [{}, {"axis": 0}, {"axis": -1}, {"axis": 1}, {"axis": 2}, {"axis": (0, -1)}, {"axis": (0, 0)}]
_REDUCTIONS = [*_AXES, {"keepdims": True}, {"axis": (), "keepdims": True}, {"axis": 1, "keepdims": True}]
_SIZES: list[Any] = [{"shape": shape} for shape in (3, (), (2, 3), (0,), (-1,), (2, 2, 3), (3, 2))]
_OPTIONS: dict[str, list[Any]] = {
    **{name: [*_SIZES, {"shape": 2, "dtype": np.dtype("bool")}] for name in ("zeros", "ones", "full")},
    **{name: [{}, {"dtype": np.dtype("int8")}] for name in ("zeros_like", "ones_like")},
    **dict.fromkeys(("sum", "mean", "max", "min", "any", "all", "argmax", "argmin"), _REDUCTIONS),
    **dict.fromkeys(("flip", "concat", "stack", "nn.softmax", "nn.log_softmax"), _AXES),
    "expand_dims": _AXES[1:],
    "broadcast_to": _SIZES,
    "permute_dims": [{}, {"axes": (1, 0)}, {"axes": (0,)}, {"axes": (-1, 0)}, {"axes": (0, 0)}],
    "moveaxis": [{"source": 0, "destination": 1}, {"source": (0, 1), "destination": (1, 0)}],
    "swapaxes": [{"axis1": 0, "axis2": -1}, {"axis1": 2, "axis2": 0}],
    "roll": [{"shift": 1}, {"shift": 2, "axis": 1}, {"shift": (1, 2), "axis": (0, 1)}, {"shift": (1, 2), "axis": 0}],
    "arange": [
        {"start": 7}, {"start": -2}, {"start": 2, "stop": 9, "step": 3}, {"start": 9, "stop": 0, "step": -2},
        {"start": 3, "stop": 4, "step": 0}, {"start": 2.5}, {"start": 3, "dtype": np.dtype("float32")},
    ],
}  # fmt: skip


def _arranged(name: str) -> Iterator[tuple[tuple[TensorType, ...], Attrs]]:
    """Yields types and attributes, of which many do not fit."""
    some = [*_TYPES, TensorType((2, 0), np.dtype("float32"))]
    params = OPS[name].params
    pairs = [(type, type) for type in some] + [(some[0], type) for type in some] + [*zip(some, some[::-1], strict=True)]
    if name == "matmul":
        shapes = [(), (3,), (2,), (3, 2), (2, 3), (4, 2, 3), (1, 3, 2), (2, 3, 2), (5, 4, 3, 2)]
        pairs = [
            tuple(TensorType(shape, np.dtype("float32")) for shape in both)
            for both in itertools.product(shapes, shapes)
        ]
    lists = pairs if len(params) > 1 or any(param.startswith("*") for param in params) else [(type,) for type in some]
    for types in lists if params else [()]:
        for attrs in _OPTIONS.get(name, [{}]):
            yield types, Attrs(attrs)


@pytest.mark.parametrize("name", sorted({*SHAPE_RULES, *_OPTIONS}))
def test_the_type_of_what_is_arranged_is_what_jax_says_and_errors_are_jaxs(name: str) -> None:
    known = 0
    for types, attrs in _arranged(name):
        found = TYPE_RULES[name](*types, **attrs)
        if found is None:
            continue
        known += 1
        structs = [jax.ShapeDtypeStruct(type.shape, type.dtype, weak_type=type.weak) for type in types]
        expected = jax.eval_shape(partial(OPS[name].impl, **attrs), *structs)
        assert found == TensorType(expected.shape, np.dtype(expected.dtype), bool(expected.weak_type)), (types, attrs)
    assert known > 3


_FLOATS = [TensorType(shape, np.dtype("float32")) for shape in ((2, 3), (3,), (3, 3))]
_OTHERS = [
    *_FLOATS,
    TensorType((), np.dtype("float32")),
    *(TensorType((), np.dtype(dtype), weak=True) for dtype in ("float32", "int32")),
]
_OF_INTS = ("floor_divide", "remainder")


@pytest.mark.parametrize("name", sorted(name for name in TYPE_RULES if OPS[name].differentiable and OPS[name].params))
def test_gradients_have_the_types_of_what_they_are_taken_of(name: str) -> None:
    params = OPS[name].params
    operands = [_OTHERS] * (2 if params[0].startswith("*") else len(params))
    if name == "where":
        operands = [[TensorType((3,), np.dtype(bool))], _OTHERS, _OTHERS]
    options = {**_OPTIONS, "astype": [{"dtype": np.dtype("float16")}]}.get(name, [{}])
    known = 0
    for types, attrs in itertools.product(itertools.product(*operands), map(Attrs, options)):
        result = TYPE_RULES[name](*types, **attrs)
        wrt = tuple(place for place, type in enumerate(types) if type.dtype.kind == "f" and not type.weak)
        if result is None or result.dtype.kind != "f" or result.weak or not wrt or known > 20:
            continue
        given = Attrs(op=name, attrs=tuple(sorted(attrs.items())), wrt=wrt, cotangents=(True,))
        structs = [jax.ShapeDtypeStruct(type.shape, type.dtype, weak_type=type.weak) for type in (*types, result)]
        expected: Any = jax.eval_shape(partial(OPS["vjp"].impl, **given), *structs)
        asked = [TensorType(type.shape, np.dtype(type.dtype), bool(type.weak_type)) for type in expected]
        assert [*OPS["vjp"].infer((*types, result), given, ())] == asked, (types, attrs)
        known += 1
    assert known or name in _OF_INTS


@pytest.mark.parametrize("how", ["set", "add", "max"])
def test_gradients_of_items_have_the_types_of_the_array_and_of_the_items(how: str) -> None:
    array, position = TensorType((4, 3), np.dtype("float32")), TensorType((), np.dtype("int32"))
    item = TensorType((3,), np.dtype("float32"))
    cases = [
        ("get_item", (array, position), item, {"index": ("tensor",)}, (array,)),
        ("get_item", (array,), item, {"index": (1,)}, (array,)),
        ("update_item", (array, item, position), array, {"index": ("tensor",), "how": how}, (array, item)),
    ]
    for name, types, result, attrs, expected in cases:
        wrt = tuple(range(len(expected)))
        given = Attrs(op=name, attrs=tuple(sorted(attrs.items())), wrt=wrt, cotangents=(True,))
        structs = [jax.ShapeDtypeStruct(type.shape, type.dtype, weak_type=type.weak) for type in (*types, result)]
        asked: Any = jax.eval_shape(partial(OPS["vjp"].impl, **given), *structs)
        assert [*OPS["vjp"].infer((*types, result), given, ())] == [*expected]
        assert [(type.shape, type.dtype, type.weak_type) for type in asked] == [
            (type.shape, type.dtype, False) for type in expected
        ]


def test_an_attribute_that_a_rule_does_not_know_is_a_question_to_jax() -> None:
    x = TensorType((2, 3), np.dtype(np.float32))
    half = Attrs(dtype=np.dtype(np.float16))
    assert OPS["sum"].infer((x,), half, ()) == (TensorType((), np.dtype(np.float16)),)
