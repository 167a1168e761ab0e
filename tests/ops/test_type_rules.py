"""The types that ops have by their rules are those that JAX gives."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import partial

import jax
import numpy as np
import pytest

from graphc.ir import OPS, Attrs, TensorType
from graphc.ops.type_rules import TYPE_RULES

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


@pytest.mark.parametrize("name", sorted(TYPE_RULES.keys() - {"astype"}))
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
