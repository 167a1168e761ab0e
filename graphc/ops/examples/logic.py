"""Examples of the rows of ``graphc.ops.logic``, which the tests run."""

__all__ = ["EXAMPLES"]

EXAMPLES = {
    "allclose": """\
>>> gx.allclose([-2.5, 0.5, 3.0], [-2.5, 0.5, 3.0])
Tensor(True, shape=(), dtype=bool)
""",
    "array_equal": """\
>>> gx.array_equal([1, 2], [1, 2]), gx.array_equal([1, 2], [1, 2, 3])
(Tensor(True, shape=(), dtype=bool), Tensor(False, shape=(), dtype=bool))
""",
    "array_equiv": """\
>>> gx.array_equiv([-2.5, 0.5, 3.0], [-2.5, 0.5, 3.0])
Tensor(True, shape=(), dtype=bool)
""",
    "bitwise_and": """\
>>> gx.bitwise_and([12, 0, 255], [-7, 5, 12])
Tensor([ 8,  0, 12], shape=(3,), dtype=int32)
""",
    "bitwise_count": """\
>>> gx.bitwise_count([-7, 5, 12])
Tensor([3, 2, 2], shape=(3,), dtype=uint8)
""",
    "bitwise_invert": """\
>>> gx.bitwise_invert([12, 0, 255])
Tensor([ -13,   -1, -256], shape=(3,), dtype=int32)
""",
    "bitwise_left_shift": """\
>>> gx.bitwise_left_shift([12, 0, 255], [1, 2, 4])
Tensor([  24,    0, 4080], shape=(3,), dtype=int32)
""",
    "bitwise_or": """\
>>> gx.bitwise_or([12, 0, 255], [-7, 5, 12])
Tensor([ -3,   5, 255], shape=(3,), dtype=int32)
""",
    "bitwise_right_shift": """\
>>> gx.bitwise_right_shift([-7, 5, 12], [1, 2, 4])
Tensor([-4,  1,  0], shape=(3,), dtype=int32)
""",
    "bitwise_xor": """\
>>> gx.bitwise_xor([12, 0, 255], [-7, 5, 12])
Tensor([-11,   5, 243], shape=(3,), dtype=int32)
""",
    "equal": """\
>>> gx.equal([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0])
Tensor([False, False,  True], shape=(3,), dtype=bool)
""",
    "gcd": """\
>>> gx.gcd([-7, 5, 12], [2, -5, 7])
Tensor([1, 5, 1], shape=(3,), dtype=int32)
""",
    "greater": """\
>>> gx.greater([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0])
Tensor([False,  True, False], shape=(3,), dtype=bool)
""",
    "greater_equal": """\
>>> gx.greater_equal([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0])
Tensor([False,  True,  True], shape=(3,), dtype=bool)
""",
    "isclose": """\
>>> gx.isclose([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0])
Tensor([False, False,  True], shape=(3,), dtype=bool)
""",
    "iscomplex": """\
>>> gx.iscomplex([1 + 2j, 0 - 1j, 3])
Tensor([ True,  True, False], shape=(3,), dtype=bool)
""",
    "isfinite": """\
>>> gx.isfinite([gx.nan, gx.inf, 1.0])
Tensor([False, False,  True], shape=(3,), dtype=bool)
""",
    "isinf": """\
>>> gx.isinf([gx.nan, gx.inf, 1.0])
Tensor([False,  True, False], shape=(3,), dtype=bool)
""",
    "isnan": """\
>>> gx.isnan([gx.nan, gx.inf, 1.0])
Tensor([ True, False, False], shape=(3,), dtype=bool)
""",
    "isneginf": """\
>>> gx.isneginf([gx.nan, gx.inf, 1.0])
Tensor([False, False, False], shape=(3,), dtype=bool)
""",
    "isposinf": """\
>>> gx.isposinf([gx.nan, gx.inf, 1.0])
Tensor([False,  True, False], shape=(3,), dtype=bool)
""",
    "isreal": """\
>>> gx.isreal([1 + 2j, 0 - 1j, 3])
Tensor([False, False,  True], shape=(3,), dtype=bool)
""",
    "lcm": """\
>>> gx.lcm([-7, 5, 12], [2, -5, 7])
Tensor([14,  5, 84], shape=(3,), dtype=int32)
""",
    "less": """\
>>> gx.less([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0])
Tensor([ True, False, False], shape=(3,), dtype=bool)
""",
    "less_equal": """\
>>> gx.less_equal([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0])
Tensor([ True, False,  True], shape=(3,), dtype=bool)
""",
    "logical_and": """\
>>> gx.logical_and([True, False, True], [-7, 5, 12])
Tensor([ True, False,  True], shape=(3,), dtype=bool)
""",
    "logical_not": """\
>>> gx.logical_not([-7, 5, 12])
Tensor([False, False, False], shape=(3,), dtype=bool)
""",
    "logical_or": """\
>>> gx.logical_or([True, False, True], [-7, 5, 12])
Tensor([ True,  True,  True], shape=(3,), dtype=bool)
""",
    "logical_xor": """\
>>> gx.logical_xor([True, False, True], [-2.5, 0.5, 3.0])
Tensor([False,  True, False], shape=(3,), dtype=bool)
""",
    "not_equal": """\
>>> gx.not_equal([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0])
Tensor([ True,  True, False], shape=(3,), dtype=bool)
""",
    "packbits": """\
>>> gx.packbits([True, False, True])
Tensor([160], shape=(1,), dtype=uint8)
""",
    "signbit": """\
>>> gx.signbit([gx.inf, -gx.inf, 1.0])
Tensor([False,  True, False], shape=(3,), dtype=bool)
""",
    "unpackbits": """\
>>> gx.unpackbits(gx.asarray([7, 130], "uint8"), count=12)
Tensor([0, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0], shape=(12,), dtype=uint8)
""",
}
