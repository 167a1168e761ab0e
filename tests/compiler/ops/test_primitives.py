"""Where an op is lowered as a primitive, the program is the one that JAX's function gives.

Of all pairs of operands that differ a fourth is drawn (see ``tests/draws.py``).
"""

from __future__ import annotations

import itertools
from typing import Any

import jax
import numpy as np
import pytest

from graphc.compiler.ir import OPS
from graphc.compiler.ops.type_rules import PRIMITIVES, primitive
from tests.draws import is_drawn

_ARRAYS: list[Any] = [
    jax.ShapeDtypeStruct(shape, dtype, weak_type=weak)
    for shape in ((), (3,), (2, 3))
    for dtype, weak in (("bool", False), ("int32", False), ("int32", True), ("uint32", False), ("float32", False))
] + [jax.ShapeDtypeStruct((3,), "float16"), jax.ShapeDtypeStruct((), "float32", weak_type=True)]
_CONSTANTS: list[Any] = [2, 0.5, True, np.float32(3).reshape(()), np.ones(3, np.float32), np.ones(3, np.int32)]


def _program(name: str, operands: tuple[Any, ...], *, direct: bool) -> Any:
    """Returns the jaxpr of an op of arrays and constants; None if it is no primitive."""
    found: list[Any] = []

    def run(*arrays: Any) -> Any:
        given = iter(arrays)
        values = [next(given) if isinstance(operand, jax.ShapeDtypeStruct) else operand for operand in operands]
        found.append(primitive(name, values))
        return found[0](*values) if direct and found[0] else OPS[name].impl(*values)

    structs = [operand for operand in operands if isinstance(operand, jax.ShapeDtypeStruct)]
    try:
        program: Any = jax.make_jaxpr(run)(*structs)
    except (TypeError, ValueError):
        if direct and found[0]:
            raise
        return None
    return program if found[0] else None


@pytest.mark.parametrize("name", sorted(PRIMITIVES))
def test_the_program_is_the_same(name: str) -> None:
    known = 0
    for operands in itertools.product(_ARRAYS + _CONSTANTS, repeat=len(OPS[name].params)):
        if len(set(map(id, operands))) > 1 and not is_drawn(f"{name} {operands}", 4):
            continue
        program = _program(name, operands, direct=True)
        if program is None:
            continue
        expected = _program(name, operands, direct=False)
        assert str(program) == str(expected), operands
        assert program.jaxpr.outvars[0].aval.weak_type == expected.jaxpr.outvars[0].aval.weak_type
        known += 1
    assert known


@pytest.mark.parametrize("shape", [(), (3,)])
def test_a_choice_is_a_select_of_values_of_one_type(shape: tuple[int, ...]) -> None:
    values = [np.full(shape, True), np.arange(3.0, dtype=np.float32), np.ones(3, np.float32)]
    arrays = [jax.numpy.asarray(value) for value in values]
    chosen = primitive("where", arrays)
    assert chosen is jax.lax.select
    np.testing.assert_array_equal(chosen(*arrays), OPS["where"].impl(*arrays))
    assert primitive("where", [arrays[0], arrays[1], jax.numpy.asarray(1.0)]) is None
    assert primitive("where", [arrays[1], *arrays[1:]]) is None
