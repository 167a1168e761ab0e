"""Divisions by powers of two become shifts."""

from __future__ import annotations

import numpy as np
import pytest

from graphc.compiler.base import Registry
from graphc.compiler.ir import Interpreter, OpDef, parse_graph, verify
from graphc.compiler.ir.passes import Shift
from tests.compiler.ir.passes.test_bounds import OPS

SHIFT_OPS: Registry[OpDef] = Registry("op")
for _name in OPS:
    SHIFT_OPS.add(_name, OPS[_name])
_AND = OPS["bitwise_and"]
_SHIFT = "bitwise_right_shift"
SHIFT_OPS.add(_SHIFT, OpDef(_SHIFT, np.right_shift, _AND.infer, _AND.params, light=True))

NUMBERS = [-(2**31), -9, -8, -7, -1, 0, 1, 7, 8, 9, 2**31 - 1]


@pytest.mark.parametrize("op", ["floor_divide", "remainder"])
@pytest.mark.parametrize(("divisor", "replaced"), [(1, True), (2, True), (64, True), (2**30, True), (3, False),
                                                   (-2, False), (-(2**31), False)])  # fmt: skip
def test_signed_ints_round_towards_minus_infinity(op: str, divisor: int, replaced: bool) -> None:
    graph = parse_graph(
        f"""graph g(%t: bool[], %x: i32[]) -> (i32[]) {{
          %c: i32[] = cond(%t, %x) {{
            true(%x: i32[]) -> (i32[]) {{
              %by: i32[] = constant() {{value = i32[]({divisor})}}
              %d: i32[] = {op}(%x, %by)
              return %d
            }}
            false(%x: i32[]) -> (i32[]) {{
              return %x
            }}
          }}
          return %c
        }}""",
        SHIFT_OPS,
    )
    result = Shift(SHIFT_OPS)(graph)
    verify(result)
    assert ("bitwise" in str(result)) == replaced
    for number in NUMBERS:
        inputs = np.array(True), np.int32(number)
        assert Interpreter(graph).run(*inputs)[0] == Interpreter(result).run(*inputs)[0]


def test_a_divisor_that_is_not_constant_stays() -> None:
    graph = parse_graph(
        "graph g(%x: i32[], %y: i32[]) -> (i32[]) {\n%d: i32[] = floor_divide(%x, %y)\nreturn %d\n}", SHIFT_OPS
    )
    assert Shift(SHIFT_OPS)(graph) is graph
