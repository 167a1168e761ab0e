"""The array API standard: names, dtypes, what a namespace says of itself, and interchange."""

from __future__ import annotations

import pickle
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base.errors import ConcretizationError, InvalidArgumentError, InvalidTypeError, OutOfRangeError
from tests.compiler.ops.standard import ARRAY_API


def test_every_name_of_the_standard_is_there() -> None:
    for name in ARRAY_API:
        found: Any = gx
        for part in name.split("."):
            assert hasattr(found, part), name
            found = getattr(found, part)


def test_the_namespace_of_a_tensor() -> None:
    x = gx.ones(2)
    assert x.__array_namespace__() is x.__array_namespace__(api_version="2024.12") is gx
    with pytest.raises(InvalidArgumentError, match=r"version '1999\.12' is not supported; supported are 2022\.12, "):
        x.__array_namespace__(api_version="1999.12")
    info = gx.__array_namespace_info__()
    assert info.capabilities() == {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}
    assert info.default_device() == x.device
    assert info.default_device() in info.devices()
    assert info.default_dtypes() == {
        "real floating": gx.float32,
        "complex floating": gx.complex64,
        "integral": gx.int32,
        "indexing": gx.int32,
    }
    assert info.dtypes(kind=("bool", "real floating")) == {"bool": gx.bool, "float32": gx.float32}
    assert set(info.dtypes()) == {"bool", "int8", "int16", "int32", "uint8", "uint16", "uint32", "float32", "complex64"}


def test_dtypes_by_name() -> None:
    x = gx.ones(2, gx.bfloat16)
    assert x.dtype == gx.bfloat16 != gx.float16
    assert gx.bfloat16 == x.dtype == jnp.bfloat16
    assert {gx.float32: 1}[np.dtype("float32")] == 1
    assert np.zeros(2, gx.float32).dtype == gx.float32
    assert jnp.zeros(2, gx.int8).dtype == gx.int8
    assert (gx.float32.itemsize, gx.float32.name, str(gx.bool)) == (4, "float32", "graphc.bool")
    assert pickle.loads(pickle.dumps(gx.float16)) == gx.float16
    assert gx.ones(2, bool).dtype == gx.bool
    assert gx.ones(2, float).dtype == gx.float32
    assert gx.int8([1, 2]).tolist() == [1, 2]
    compiled = gx.function(lambda x: gx.float16(x) if x.dtype == gx.float32 else x)
    assert compiled(gx.ones(2)).dtype == gx.float16
    for name in ("float8_e4m3fn", "float8_e5m2", "float16"):
        assert getattr(gx, name)([1.5]).tolist() == [1.5]


def test_functions_of_dtypes() -> None:
    assert gx.finfo(gx.float32).eps == np.finfo(np.float32).eps
    assert gx.finfo(gx.ones(2, "bfloat16")).bits == 16
    assert gx.finfo(gx.complex64).dtype == np.float32
    assert (gx.iinfo(gx.int8).min, gx.iinfo("uint8").max) == (-128, 255)
    with pytest.raises(InvalidTypeError, match=r"finfo: int32 is not a floating dtype; use gx\.iinfo"):
        gx.finfo(int)
    with pytest.raises(InvalidTypeError, match=r"iinfo: float32 is not an integer dtype; use gx\.finfo"):
        gx.iinfo(gx.float32)
    assert gx.result_type(gx.int8, gx.ones(1, "int16"), 3) == gx.int16
    assert gx.result_type(gx.bfloat16, 1.5) == gx.bfloat16
    assert gx.result_type(gx.asarray(1.5) * 1, gx.float16) == gx.float32
    assert gx.result_type(1, 2.0) == gx.float32
    with pytest.raises(InvalidArgumentError, match="result_type: pass at least one"):
        gx.result_type()
    assert gx.promote_types("int32", gx.float16) == gx.float16
    assert gx.can_cast(gx.int8, gx.int16)
    assert not gx.can_cast(gx.ones(1), gx.int32)
    assert gx.issubdtype(gx.float8_e5m2, np.floating)


@pytest.mark.parametrize(
    ("kind", "members"),
    [
        ("bool", ("bool",)),
        ("signed integer", ("int8", "int64")),
        ("unsigned integer", ("uint8", "uint64")),
        ("integral", ("int8", "uint8")),
        ("real floating", ("float32", "float64", "bfloat16")),
        ("complex floating", ("complex64", "complex128")),
        ("numeric", ("int8", "uint8", "float32", "complex64")),
        (gx.float32, ("float32",)),
        (("bool", gx.float64), ("bool", "float64")),
    ],
)
def test_isdtype(kind: Any, members: tuple[str, ...]) -> None:
    names = ["bool", "int8", "int64", "uint8", "uint64", "float32", "float64", "bfloat16", "complex64", "complex128"]
    found = {name for name in names if gx.isdtype(getattr(gx, name), kind)}
    assert set(members) <= found
    assert found <= set(members) | {name for name in names if kind in ("numeric", "integral") and "int" in name} | {
        name for name in names if kind == "numeric" and name != "bool"
    }


def test_isdtype_refuses_what_is_no_kind() -> None:
    with pytest.raises(InvalidArgumentError, match="isdtype: 'real numbers' is not a kind; expected a dtype or"):
        gx.isdtype(gx.float32, "real numbers")


def test_constants() -> None:
    assert (gx.e, gx.pi, gx.inf, gx.newaxis) == (np.e, np.pi, np.inf, None)
    assert np.isnan(gx.nan)
    assert gx.arange(3)[:, gx.newaxis].shape == (3, 1)


def test_dlpack() -> None:
    array = np.arange(3, dtype=np.float32)
    x = gx.from_dlpack(array)
    assert x.tolist() == [0, 1, 2]
    assert gx.from_dlpack(x) is x
    assert gx.from_dlpack(x, copy=True) is not x
    np.testing.assert_array_equal(np.from_dlpack(x), array)
    with pytest.raises(InvalidTypeError, match=r"from_dlpack: expected an array with __dlpack__, got list \[1\]"):
        gx.from_dlpack([1])


def test_devices() -> None:
    name = gx.__array_namespace_info__().devices()[1]
    x = gx.ones(2)
    assert x.to_device(name).device == name
    assert gx.zeros(2, device=name).device == gx.asarray([1.0], device=name).device == name
    assert gx.asarray(x, device=name).device == gx.astype(x, gx.int32, device=name).device == name
    assert gx.zeros_like(x, device=x.device).device == x.device
    with pytest.raises(InvalidArgumentError, match="to_device: stream is 1"):
        x.to_device(name, stream=1)
    compiled = gx.function(lambda x: gx.ones(2, device=x.device) + x)
    assert compiled(x).tolist() == [2, 2]


def test_operators() -> None:
    x, y = gx.asarray([7, 12]), gx.asarray([2, 5])
    assert [part.tolist() for part in divmod(x, y)] == [[3, 2], [1, 2]]
    assert [part.tolist() for part in divmod(100, x)] == [[14, 8], [2, 4]]
    assert [(12 & x).tolist(), (8 | x).tolist(), (3 ^ x).tolist()] == [[4, 12], [15, 12], [4, 15]]
    assert [(1 << y).tolist(), (100 >> y).tolist(), (~y).tolist()] == [[4, 32], [25, 3], [-3, -6]]
    z = x
    for change in (lambda z: z + 1, lambda z: z * 2):
        z = change(z)
    w = x
    w += 1
    w *= 2
    assert (w.tolist(), x.tolist()) == (z.tolist(), [7, 12])
    assert [10, 20, 30][gx.asarray(1)] == 20
    assert complex(gx.asarray(1 + 2j)) == 1 + 2j
    assert gx.ones((2, 3, 4)).mT.shape == (2, 4, 3)


def test_methods_are_the_functions() -> None:
    x = gx.asarray([[1.0, 5.0], [4.0, 2.0]])
    assert x.std().numpy() == np.std(x.numpy())
    assert x.var(ddof=1).numpy() == np.var(x, ddof=1).numpy() == pytest.approx(np.var(x.numpy(), ddof=1))
    assert x.argmax(axis=1).tolist() == [1, 0]
    assert (x > 3).any().item()
    assert not (x > 3).all().item()
    assert x.transpose().tolist() == x.transpose(1, 0).tolist() == x.transpose((1, 0)).tolist() == x.T.tolist()
    assert x.flatten().tolist() == x.ravel().tolist() == [1, 5, 4, 2]
    assert (x.nbytes, x.itemsize) == (16, 4)
    assert [part.tolist() for part in x.nonzero()] == [[0, 0, 1, 1], [0, 1, 0, 1]]
    assert np.fft.fft(x).dtype == np.complex64
    assert isinstance(np.linalg.norm(x), gx.Tensor)


def test_results_have_names() -> None:
    found = gx.linalg.eigh(gx.eye(2))
    assert found.eigenvalues.tolist() == [1, 1]
    compiled = gx.function(lambda x: gx.linalg.slogdet(x))
    assert compiled(gx.eye(2) * 2).logabsdet.shape == ()
    assert gx.linalg.qr(gx.ones((3, 2)), mode="complete").Q.shape == (3, 3)
    with pytest.raises(InvalidArgumentError, match="mode is 'r', expected 'reduced' or 'complete'"):
        gx.linalg.qr(gx.eye(2), mode="r")


def test_shapes_that_depend_on_values_are_refused_in_a_graph() -> None:
    @gx.function
    def places(x: Any) -> Any:
        return gx.nonzero(x)

    with pytest.raises(ConcretizationError) as caught:
        places(gx.ones(3))
    message = str(caught.value)
    assert "nonzero: the shape of the result depends on the values of x (f32[3]), the argument 'x'," in message
    assert "pass size=, the number of elements to keep" in message
    assert "test_array_api.py" in message
    with pytest.raises(ConcretizationError, match=r"compress: .* values of condition .* use gx\.where"):
        gx.function(lambda x: gx.compress(x > 0, x))(gx.ones(3))
    with pytest.raises(InvalidArgumentError, match=r"nonzero\(x: f32\[\]\)"):
        gx.nonzero(gx.asarray(1.0))


def test_a_tensor_that_has_values_may_decide_shapes_in_a_trace() -> None:
    mask = np.asarray([True, False, True])
    assert gx.function(lambda x: gx.compress(mask, x))(gx.asarray([1.0, 2.0, 3.0])).tolist() == [1, 3]


def test_optional_tensors() -> None:
    x = gx.asarray([1.0, 2.0])
    with gx.GradientTape() as tape:
        tape.watch(x)
        y = gx.average(x, weights=x)
    np.testing.assert_allclose(tape.gradient(y, x).numpy(), [1 / 9, 7 / 9], rtol=1e-6)
    with pytest.raises(InvalidArgumentError, match=r"average.weights\(x: f32\[2\], weights: f32\[3\]\)"):
        gx.average(x, weights=[1.0, 2.0, 3.0])


def test_whole_numbers_of_a_list_keep_all_digits() -> None:
    with gx.config.scope(enable_x64=True):
        assert gx.asarray([0, 2**63 + 1], dtype=gx.uint64).tolist() == [0, 2**63 + 1]
        assert gx.asarray([[True], [2**64 - 1]], dtype=gx.uint64).tolist() == [[1], [2**64 - 1]]
    assert gx.asarray([3_000_000_000], dtype=gx.uint32).tolist() == [3_000_000_000]
    assert gx.asarray([2**40, 1], dtype=gx.float32).tolist() == [2.0**40, 1.0]
    assert gx.asarray([[], []], dtype=gx.int8).shape == (2, 0)
    for values, dtype in (([1, 300], "uint8"), ([-1], "uint32"), ([[0], [2**65]], "int32"), ([10**400], "float32")):
        with pytest.raises(InvalidArgumentError, match=rf"asarray: the Python int .* does not fit {dtype}"):
            gx.asarray(values, dtype=dtype)
    with pytest.raises(InvalidArgumentError, match=r"asarray: cannot make a tensor from \[\[1\], \[2, 3\]\]"):
        gx.asarray([[1], [2, 3]], dtype=gx.int8)


def test_zeros_have_the_sign_that_the_standard_gives_them() -> None:
    x1 = np.asarray([0.0, -0.0, 0.0, -0.0, -1.0, 3.0, -3.0, -1.0, 1.0], np.float32)
    x2 = np.asarray([2.0, 2.0, -2.0, -2.0, -2.0, 3.0, 3.0, -np.inf, 1.0], np.float32)
    for function, reference in (
        (gx.floor_divide, np.floor_divide),
        (gx.remainder, np.remainder),
        (lambda a, b: gx.stack(gx.divmod(a, b)), lambda a, b: np.stack(np.divmod(a, b))),
        (lambda a, b: gx.sign(a * b), lambda a, b: np.sign(a * b)),
    ):
        expected = reference(x1, x2)
        for found in (function(gx.asarray(x1), gx.asarray(x2)), gx.function(function)(x1, x2)):
            np.testing.assert_array_equal(found.numpy(), expected)
            np.testing.assert_array_equal(np.signbit(found.numpy()), np.signbit(expected))
    assert gx.sign(gx.asarray(-0.0 - 0.0j)).item() == 0
    with gx.GradientTape() as tape:
        x = gx.asarray([4.0, 3.0, 0.0])
        tape.watch(x)
        y = x % 2.0
    assert tape.gradient(y, x).tolist() == [1, 1, 1]


def test_floor_division_takes_floats_of_8_bits() -> None:
    x1, x2 = (np.asarray(values, np.float32) for values in ([5.0, -1.0, 0.0, 0.0], [2.0, 2.0, 2.0, -2.0]))
    quotient, rest = divmod(gx.asarray(x1, dtype="float8_e4m3fn"), gx.asarray(x2, dtype="float8_e4m3fn"))
    for found, expected in ((quotient, x1 // x2), (rest, x1 % x2)):
        values = found.numpy().astype(np.float32)
        np.testing.assert_array_equal(values, expected)
        np.testing.assert_array_equal(np.signbit(values), np.signbit(expected))


def test_limits_are_numbers_of_python() -> None:
    for dtype in (gx.float32, gx.bfloat16, gx.complex64):
        limits = gx.finfo(dtype)
        assert {type(getattr(limits, name)) for name in ("eps", "max", "min", "smallest_normal", "tiny")} == {float}
        assert type(limits.bits) is int
    assert repr(gx.finfo(gx.float32)).startswith("finfo(resolution=1e-06")


def test_positions_have_the_dtype_of_indices() -> None:
    with gx.config.scope(enable_x64=True):
        x = gx.asarray([1.0, 2.0, 2.0])
        found = [gx.searchsorted(x, x), gx.searchsorted(x, 1.5, sorter=gx.argsort(x)), gx.argsort(x), gx.argmax(x)]
        found += [*gx.nonzero(x), gx.count_nonzero(x), *gx.unique_all(x)[1:]]
        assert {part.dtype for part in found} == {gx.__array_namespace_info__().default_dtypes()["indexing"]}


def test_running_products_are_as_wide_as_running_sums() -> None:
    for dtype in ("int8", "uint8", "int32", "uint32", "float16", "complex64"):
        x = gx.asarray([100, 100], dtype=dtype)
        assert gx.cumulative_prod(x).dtype == gx.prod(x).dtype, dtype
    assert gx.cumulative_prod(gx.asarray([100, 100], dtype=gx.uint8), include_initial=True).tolist() == [1, 100, 10_000]
    assert gx.cumulative_prod(gx.asarray([3, 3], dtype=gx.int8), dtype=gx.int8).dtype == gx.int8


def test_linspace_of_integers_ends_exactly() -> None:
    top = 2**31 - 2
    assert [gx.linspace(top, top, 3, dtype=gx.int32)[place].item() for place in (0, -1)] == [top, top]
    assert gx.linspace(0, 10, 4, endpoint=False, dtype=gx.int32).tolist() == [0, 2, 5, 7]
    assert gx.linspace(-3.5, 10, 3, dtype=gx.int32).tolist() == [-4, 3, 10]
    assert gx.linspace(gx.asarray([0, 1]), 5, 3, dtype=gx.int8, axis=1).tolist() == [[0, 2, 5], [1, 3, 5]]
    assert [gx.linspace(7, 9, count, dtype=gx.int8).tolist() for count in (0, 1)] == [[], [7]]


def test_an_axis_out_of_range_is_an_index_error() -> None:
    for call in (lambda: gx.expand_dims(gx.ones(2), axis=7), lambda: gx.sum(gx.ones(2), axis=-3)):
        with pytest.raises(OutOfRangeError, match="out of bounds for array of dimension") as caught:
            call()
        assert isinstance(caught.value, IndexError)
        assert isinstance(caught.value, ValueError)


def test_masks_without_axes_or_elements() -> None:
    x, array = gx.arange(6.0).reshape(2, 3), np.arange(6.0, dtype=np.float32).reshape(2, 3)
    for mask in (
        np.asarray(True),
        np.asarray(False),
        np.zeros(0, bool),
        np.zeros((2, 0), bool),
        np.zeros((0, 3), bool),
    ):
        for given in (mask, gx.asarray(mask)):
            np.testing.assert_array_equal(x[given].numpy(), array[mask])
            changed, expected = x.copy(), array.copy()
            changed[given] = expected[mask] = 9.0
            np.testing.assert_array_equal(changed.numpy(), expected)
            np.testing.assert_array_equal(gx.function(lambda x, m: x.at[m].set(9.0))(x, given).numpy(), expected)
    assert gx.asarray(3.0)[gx.asarray(True)].tolist() == [3.0]
    with pytest.raises(IndexError, match=r"a mask of shape \(\) on axes of shape \(\)"):
        x[gx.asarray(True), 0]
    with pytest.raises(InvalidArgumentError, match=r"a mask \(bool\[\]\) whose values are not known"):
        gx.function(lambda x, mask: x[mask])(x, gx.asarray(True))


def test_what_dlpack_may_ask_for() -> None:
    x = gx.asarray([1.0])
    for version in (None, (0, 0), (1, 0), (2, 0)):
        for copy in (None, False, True):
            assert x.__dlpack__(stream=None, max_version=version, dl_device=(1, 0), copy=copy) is not None


def test_an_axis_without_slices_has_none() -> None:
    assert gx.unstack(gx.zeros((0, 3))) == gx.function(gx.unstack)(gx.zeros((0, 3))) == ()


def test_a_matrix_without_elements_has_rank_zero() -> None:
    assert gx.linalg.matrix_rank(gx.zeros((2, 0, 3))).tolist() == [0, 0]
    assert gx.linalg.matrix_rank(gx.zeros((0, 0))).dtype == gx.linalg.matrix_rank(gx.eye(2)).dtype


def test_running_sums_and_products_of_small_integers_have_room() -> None:
    x = gx.asarray([100, 3], dtype="int8")
    for run, last in ((gx.cumulative_sum, 103), (gx.cumulative_prod, 300)):
        assert run(x).dtype == gx.int32
        assert run(x).tolist() == [100, last]
        assert run(x, dtype="int8").dtype == gx.int8
