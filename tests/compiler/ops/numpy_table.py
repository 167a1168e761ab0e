"""How the arguments of each row are drawn that NumPy has too, where its signature does not say it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tests.compiler.ops.drawing import ANY, BROADCASTING, GAPS, POSITIVE, Choose, Drawing, array

__all__ = ["BY_HAND", "DRAWINGS", "drawing"]

BY_HAND = {
    "clip": "x, min=None, max=None",
    "compress": "condition, x, axis: int | None = None",
    "extract": "condition, x",
    "trim_zeros": "x, trim: str = 'fb'",
    "histogram": "x, bins: int = 10",
    "histogram_bin_edges": "x, bins: int = 10",
    **dict.fromkeys(("array", "asarray", "iscomplexobj", "isrealobj", "ndim", "shape", "size"), "x"),
}
"""The functions of tensors that are no rows, with what is drawn for them."""

_D = Drawing
_SQUARES = (((3, 3),), ((3, 3),), ((2, 2, 2),), ((1, 1),), ((0, 0),))
_MATRICES = (((2, 3),), ((3, 2),), ((3, 3),), ((2, 2, 3),), ((2, 0),))
_VECTORS = (((5,),), ((5,),), ((1,),), ((0,),))
_UP_TO_THREE = (((2, 3),), ((2, 3),), ((3,),), ((2, 2, 2),), ((1, 4),))


def _ints(choose: Choose, shape: tuple[int, ...], low: int, high: int) -> Any:
    count = int(np.prod(shape))
    return np.asarray([choose(range(low, high)) for _ in range(count)], np.int32).reshape(shape)


def ints(low: int, high: int, *shapes: tuple[int, ...]) -> Callable[[Choose, list[Any]], Any]:
    """An int32 tensor with values of a range."""
    return lambda choose, tensors: _ints(choose, choose(shapes or ((3,), (2, 3), ())), low, high)


def like(values: str = "nice", *, shape: Any = None) -> Callable[[Choose, list[Any]], Any]:
    """A tensor of the dtype (and the shape, if none is given) of the one before."""

    def made(choose: Choose, tensors: list[Any]) -> Any:
        last = tensors[0]
        return array(choose, last.shape if shape is None else choose(shape), last.dtype, values)

    return made


def shares(scale: float) -> Callable[[Choose, list[Any]], Any]:
    return lambda choose, _: np.asarray(np.multiply(choose((0.0, 0.25, 0.3, 1.0, [0.25, 0.5])), scale), np.float32)


def bools(choose: Choose, tensors: list[Any]) -> Any:
    return array(choose, choose(((2, 3), (3,), ())), np.bool_)


def _three(choose: Choose, tensors: list[Any]) -> Any:
    return array(choose, (3,), np.bool_)


def rising(choose: Choose, tensors: list[Any]) -> Any:
    """Numbers in order, the size of the first tensor's last axis."""
    size = tensors[0].shape[-1] if tensors and tensors[0].ndim else 3
    return np.sort(np.asarray([choose(range(-8, 8)) for _ in range(size)], np.float32)) / 2


def strictly(choose: Choose, tensors: list[Any]) -> Any:
    return np.cumsum(np.asarray([choose((0.5, 1, 2)) for _ in range(tensors[0].shape[-1])], np.float32))


def taken(choose: Choose, tensors: list[Any]) -> Any:
    """Positions in the first axis of the first tensor, of its number of axes."""
    x = tensors[0]
    return _ints(choose, (2, *x.shape[1:]), -x.shape[0], x.shape[0])


_LINALG: Any = {"without": ("float16", "bfloat16", "uint8", "uint16", "uint32", "int8", "int16"), "close": 50.0}


def _well(hermitian: bool = False) -> Callable[[Choose, list[Any]], Any]:
    """A matrix that is far from singular; Hermitian and positive definite if asked."""

    def made(choose: Choose, tensors: list[Any]) -> Any:
        shape = choose(((3, 3), (3, 3), (2, 2, 2), (1, 1), (0, 0)))
        matrix = array(choose, shape, choose(("float32", "complex64", "int32", "float32")))
        eye = np.eye(shape[-1], dtype=matrix.dtype)
        if hermitian:
            return matrix @ np.conj(np.swapaxes(matrix, -1, -2)) + 2 * eye
        return matrix + (16 * eye).astype(matrix.dtype)

    return made


def _matrix(choose: Choose, tensors: list[Any]) -> Any:
    return array(choose, choose(((2, 3), (3, 2), (3, 3), (2, 2, 3))), choose(("float32", "float32", "complex64")))


def _from_parts(u: Any, s: Any, vh: Any) -> Any:
    rank = s.shape[-1]
    return s, (u[..., :rank] * s[..., None, :]) @ vh[..., :rank, :]


def _qr(q: Any, r: Any) -> Any:
    return q @ r, np.abs(r)


def _complex(found: Any) -> Any:
    return tuple(part + 0j for part in found)


def _eigh(w: Any, v: Any) -> Any:
    return w, (v * w[..., None, :]) @ np.conj(np.swapaxes(v, -1, -2))


def _quotient(q: Any, r: Any) -> Any:
    return q, r[-1:]  # NumPy cuts off the remainder's leading zeros, which only values tell


def _sorted_eigenvalues(w: Any, *v: Any) -> Any:
    return np.sort_complex(np.round(w, 3))


_NORMS: Any = {"attributes": {"ord": (None, 1, 2, np.inf, -np.inf, 0, 3)}, **_LINALG}
_SPLITS: Any = {"attributes": {"indices_or_sections": (1, 2, 3, (1,), (1, 2), (0, 5), ())}}
_REDUCED: Any = {"shapes": (((2, 3),), ((2, 3),), ((3,),), ((),), ((2, 1, 3),), ((0,),))}
_NO_ZEROS = {"x1": like(POSITIVE)}


def _one_to(count: int) -> dict[str, Any]:
    return {"M": range(count), "n": range(1, count), "N": range(count), "m": (1, 2, 4)}


DRAWINGS: dict[str, Drawing] = {
    # written by hand
    "clip": _D(values=ANY, tensors={"min": like("nice", shape=((),)), "max": like("nice", shape=((),))}, kinds="iuf"),
    "compress": _D(
        shapes=(((3,),), ((3, 2),)), tensors={"condition": _three}, attributes={"axis": (0,)}, given=("axis",)
    ),
    "extract": _D(shapes=(((3,),),), tensors={"condition": _three}),
    "trim_zeros": _D(shapes=_VECTORS, attributes={"trim": ("f", "b", "fb")}),
    "histogram": _D(
        shapes=(((5,),), ((2, 3),)), attributes={"bins": (1, 4)}, kinds="iuf", without=("float16", "bfloat16")
    ),
    "histogram_bin_edges": _D(
        shapes=(((5,),), ((2, 3),)), attributes={"bins": (1, 4)}, kinds="iuf", without=("float16", "bfloat16")
    ),
    # elementwise
    # XLA's optimizer decides of the sign of a zero here.
    **{name: _D(values=ANY, zeros=False) for name in ("remainder", "divmod", "modf", "fmod", "floor_divide")},
    "round": _D(values=ANY, attributes={"decimals": (-1, 0, 1, 2)}),
    "nan_to_num": _D(values=ANY, attributes={"nan": (0.0, 2.5), "posinf": (9.0,), "neginf": (-9.0, -np.inf)}),
    "identity": _D(values=ANY, numpy=np.copy),
    "ldexp": _D(values=ANY, tensors={"x2": ints(-5, 6)}),
    "i0": _D(numpy=np.i0, kinds="biuf"),
    # logic
    "array_equal": _D(shapes=BROADCASTING, values="nice"),
    "bitwise_left_shift": _D(values=ANY, kinds="iu"),
    "bitwise_right_shift": _D(values=ANY, kinds="iu"),
    "packbits": _D(kinds="biu", attributes={}),
    "unpackbits": _D(kinds="biu", attributes={"count": (1, 3, 10, -1)}),
    # reduction
    **{
        name: _D(values=ANY, **_REDUCED)
        for name in ("max", "min", "all", "any", "count_nonzero", "argmax", "argmin", "ptp")
    },
    "median": _D(values=ANY, kinds="biuf", **_REDUCED),
    **{name: _D(**_REDUCED) for name in ("sum", "prod", "mean", "std", "var")},
    "average": _D(attributes={}, tensors={"weights": like(POSITIVE)}, **_REDUCED),
    **{
        name: _D(
            tensors={"q": shares(scale)},
            attributes={"method": ("linear", "lower", "higher", "nearest", "midpoint")},
            kinds="biuf",
            values=GAPS,
            shapes=_UP_TO_THREE,
        )
        for name, scale in (("quantile", 1), ("percentile", 100), ("nanquantile", 1), ("nanpercentile", 100))
    },
    "diff": _D(
        attributes={"n": (0, 1, 2)},
        tensors={"prepend": like(shape=((),)), "append": like(shape=((),))},
        shapes=_UP_TO_THREE,
    ),
    "trace": _D(shapes=_MATRICES, attributes={"axis1": (0, -2), "axis2": (1, -1)}),
    # statistics
    **{f"nan{name}": _D(values=GAPS, **_REDUCED) for name in ("sum", "prod", "mean", "max", "min", "std", "var")},
    **{f"nan{name}": _D(values=GAPS, kinds="biuf", **_REDUCED) for name in ("median", "argmax", "argmin")},
    **{f"nan{name}": _D(values=GAPS) for name in ("cumsum", "cumprod")},
    "cov": _D(
        shapes=(((2, 3),), ((4,),), ((3, 4),)),
        tensors={
            "y": like(),
            "fweights": lambda choose, tensors: _ints(choose, tensors[0].shape[-1:], 1, 4),
            "aweights": lambda choose, tensors: array(choose, tensors[0].shape[-1:], "float32", POSITIVE),
        },
        attributes={"bias": (True,), "ddof": (0, 1)},
        close=20,
    ),
    "corrcoef": _D(shapes=(((2, 3),), ((4,),), ((3, 4),)), tensors={"y": like()}, close=20),
    # shapes
    "astype": _D(values="nice", attributes={"dtype": ("float32", "int32", "bool", "uint8", "float16", "complex64")}),
    "reshape": _D(attributes={"shape": lambda t: (-1, (-1,), (t[0].size,), (t[0].size, 1), (1, -1), (7, 2))}),
    "permute_dims": _D(attributes={"axes": lambda t: (None, tuple(range(t[0].ndim)), tuple(range(-t[0].ndim, 0)))}),
    "matrix_transpose": _D(shapes=(*_MATRICES, ((3,),))),
    "moveaxis": _D(shapes=_MATRICES, attributes={"source": (0, -1, (0, 1)), "destination": (1, 0, -1, (1, 0))}),
    "swapaxes": _D(shapes=_MATRICES, attributes={"axis1": (0, -1, 1), "axis2": (1, 0, -2)}),
    "rollaxis": _D(shapes=_MATRICES, attributes={"axis": (0, -1, 1), "start": (1, 0, 2)}),
    "expand_dims": _D(attributes={"axis": (0, -1, (0, -1), (0, 1), 7)}),
    "squeeze": _D(shapes=(((2, 1, 3),), ((1, 1),), ((),)), attributes={"axis": (1, -2, None, 0)}),
    "broadcast_to": _D(attributes={"shape": ((2, 3), (2, 2, 3), (3,), 3, (2, 0, 3), ())}),
    "broadcast_arrays": _D(shapes=BROADCASTING, alone=True),
    "concat": _D(shapes=(((2, 3), (2, 3)), ((3,), (2,)), ((2, 3), (1, 3), (2, 3)), ((0,), (2,)), ((2,), (2, 2)))),
    "stack": _D(shapes=(((2, 3), (2, 3)), ((3,), (3,)), ((), (), ()), ((2,), (3,)))),
    **{
        name: _D(shapes=(((2, 3), (2, 3)), ((3,), (3,)), ((), ()), ((2, 3), (2, 1)), ((1, 3), (2, 3)), ((2, 2, 2),)))
        for name in ("hstack", "vstack", "dstack", "column_stack")
    },
    "split": _D(shapes=_MATRICES, **_SPLITS),
    "array_split": _D(shapes=_MATRICES, **_SPLITS),
    "hsplit": _D(shapes=(*_MATRICES, ((4,),)), **_SPLITS),
    "vsplit": _D(shapes=(*_MATRICES, ((4,),)), **_SPLITS),
    "dsplit": _D(shapes=(((2, 2, 4),), ((2, 1, 3),), ((2, 3),)), **_SPLITS),
    "unstack": _D(shapes=(((2, 3),), ((2, 3),), ((3,),), ((2, 1, 3),), ((),))),
    "tile": _D(attributes={"repetitions": (2, 0, (2,), (2, 1), (1, 2, 1))}),
    "repeat": _D(attributes={"repeats": (2, 0, 1)}),
    "flip": _D(),
    "roll": _D(attributes={"shift": (1, -2, 5, 0)}),
    "rot90": _D(
        shapes=(((2, 3),), ((2, 2, 3),), ((3,),)), attributes={"k": (1, 2, 3, 4, -1), "axes": ((0, 1), (1, 0))}
    ),
    "fliplr": _D(shapes=(*_MATRICES, ((3,),))),
    "flipud": _D(shapes=(*_MATRICES, ((3,),), ((),))),
    "pad": _D(
        shapes=(((2, 3),), ((3,),)),
        attributes={
            "pad_width": (1, 0, (1, 2), ((1, 0),)),
            "mode": ("constant", "edge", "reflect", "symmetric", "wrap", "maximum", "minimum", "mean"),
        },
    ),
    "tril": _D(shapes=(*_MATRICES, ((3,),), ((),))),
    "triu": _D(shapes=(*_MATRICES, ((3,),), ((),))),
    "diag": _D(shapes=(*_MATRICES, ((3,),), ((),))),
    "diagonal": _D(shapes=_MATRICES, attributes={"axis1": (0, -2), "axis2": (1, -1)}),
    "meshgrid": _D(
        shapes=(((2,), (3,)), ((3,),), ((), (2,)), ((2,), (1,), (2,))),
        attributes={"indexing": ("ij", "xy")},
        alone=True,
    ),
    # arranging
    "append": _D(shapes=(((2, 3), (2, 3)), ((3,), ()), ((2, 3), (2,)), ((0,), (2,)))),
    "insert": _D(
        shapes=(((2, 3), ()), ((3,), ()), ((2, 3), (1,))), attributes={"obj": (0, 1, -1, (0, 2), (1,), 9)}, alone=True
    ),
    "delete": _D(shapes=(((2, 3),), ((3,),)), attributes={"obj": (0, 1, -1, (0, 1), (1,), 9)}),
    "resize": _D(attributes={"new_shape": (3, (2, 2), (0,), (5, 1), ())}),
    "atleast_1d": _D(shapes=(((),), ((2, 3), ()), ((3,),)), alone=True),
    "atleast_2d": _D(shapes=(((),), ((2, 3), ()), ((3,),)), alone=True),
    "atleast_3d": _D(shapes=(((),), ((2, 3), ()), ((3,),), ((2, 2, 2, 2),)), alone=True),
    "diagflat": _D(),
    "fill_diagonal": _D(
        shapes=(((3, 3), ()), ((2, 3), ()), ((5, 2), (2,)), ((2, 2, 2), ()), ((2, 3, 3), ()), ((3,), ())),
        attributes={"wrap": (True, False)},
        numpy=lambda x, value, **kw: (y := x.copy(), np.fill_diagonal(y, value, **kw))[0],
    ),
    # products
    "matmul": _D(
        shapes=(
            *(((2, 3), (3, 2)), ((3,), (3,)), ((2, 2, 3), (3,)), ((3,), (3, 2)), ((2, 1, 2, 3), (2, 3, 1))),
            *(((2, 0), (0, 3)), ((2, 3), (2, 3)), ((), (3,))),
        )
    ),
    "dot": _D(
        shapes=(
            *(((2, 3), (3, 2)), ((3,), (3,)), ((2, 2, 3), (3,)), ((), (2, 3)), ((2, 2, 3), (2, 3, 2))),
            *(((2, 0), (0,)), ((2, 3), (2, 3))),
        )
    ),
    "vdot": _D(shapes=(((2, 3), (2, 3)), ((3,), (3,)), ((), ()), ((2, 3), (3, 2)), ((2,), (3,)), ((0,), (0,)))),
    "vecdot": _D(shapes=(((2, 3), (2, 3)), ((3,), (2, 3)), ((2, 0), (0,)), ((2,), (3,))), attributes={"axis": (-1,)}),
    "matvec": _D(shapes=(((2, 3), (3,)), ((2, 2, 3), (2, 3)), ((2, 3), (2,)), ((3,), (3,)))),
    "vecmat": _D(shapes=(((2,), (2, 3)), ((2, 2), (2, 2, 3)), ((2,), (3, 2)), ((3,), (3,)))),
    "inner": _D(shapes=(((2, 3), (4, 3)), ((3,), (3,)), ((), (2,)), ((2, 2, 3), (3,)), ((2,), (3,)))),
    "outer": _D(shapes=(((2, 3), (2,)), ((), (3,)), ((0,), (2,)), ((3,), (2,)))),
    "cross": _D(shapes=(((2, 3), (3,)), ((3,), (3,)), ((2, 3), (2, 3)), ((4,), (4,))), attributes={"axis": (-1,)}),
    "kron": _D(shapes=(((2, 3), (2,)), ((2, 2), (2, 3)), ((), (2,)), ((), ()))),
    "tensordot": _D(
        shapes=(((2, 3), (2, 3)), ((2, 3, 2), (3, 2, 2)), ((2,), (3,))),
        attributes={"axes": (0, 1, 2, ((1,), (1,)), ((0, 1), (0, 1)), ((1, 2), (0, 1)))},
    ),
    "einsum": _D(
        shapes=(((2, 3), (2, 3)), ((3, 3), (3, 3))),
        attributes={"subscripts": ("ij,ij->", "ij,ij->ij", "ij,kj->ik", "ij,ik->jk", "ij,ij->j", "ij,jk", "ii,jj->ij")},
    ),
    # searching
    "where": _D(tensors={"condition": bools}, shapes=BROADCASTING, values=ANY),
    "sort": _D(values=ANY, attributes={"descending": (), "stable": (True,)}),
    "argsort": _D(values=ANY, attributes={"descending": (), "stable": ()}, numpy=partial(np.argsort, stable=True)),
    "partition": _D(
        shapes=_UP_TO_THREE, kinds="iuf", attributes={"kth": (0, 1, -1)}, seen=lambda x: np.sort(x, axis=None)
    ),
    "argpartition": _D(
        shapes=_UP_TO_THREE, kinds="iuf", attributes={"kth": (0, 1, -1)}, seen=lambda x: np.sort(x, axis=None)
    ),
    "lexsort": _D(shapes=(((3,), (3,)), ((2, 3), (2, 3)), ((4,),))),
    "sort_complex": _D(values=ANY),
    "searchsorted": _D(
        tensors={
            "x1": lambda choose, _: np.sort(array(choose, choose(((5,), (1,), (0,))), choose(("float32", "int32"))))
        },
        shapes=(((2, 3),), ((),), ((0,),)),
        kinds="if",
    ),
    "digitize": _D(tensors={"bins": rising}, kinds="if"),
    "bincount": _D(
        tensors={"x": ints(0, 6, (5,), (0,), (1,))},
        attributes={"length": (6, 8)},
        numpy=lambda x, length: np.bincount(x, minlength=length),
    ),
    "isin": _D(shapes=(((2, 3), (2,)), ((3,), ()), ((), (3,)), ((0,), (2,)), ((2,), (0,)))),
    "interp": _D(
        shapes=(((2, 3),), ((),), ((0,),)),
        tensors={
            "xp": lambda choose, _: np.cumsum(np.asarray([choose((0.5, 1, 2)) for _ in range(4)], np.float32)) - 2,
            "fp": lambda choose, _: array(choose, (4,), "float32"),
        },
        kinds="if",
    ),
    "take": _D(shapes=(((2, 3),), ((3,),)), tensors={"indices": ints(-2, 2)}),
    "take_along_axis": _D(
        shapes=(((2, 3),), ((3,),)), tensors={"indices": taken}, attributes={"axis": (0,)}, given=("axis",)
    ),
    "put_along_axis": _D(
        shapes=(((2, 3), ()), ((3,), (1,))),
        tensors={"indices": lambda choose, tensors: _ints(choose, (1, *tensors[0].shape[1:]), -tensors[0].shape[0], 2)},
        attributes={"axis": (0,)},
        numpy=lambda x, i, v, axis: (y := x.copy(), np.put_along_axis(y, i, v, axis))[0],
    ),
    "choose": _D(
        tensors={"x": ints(-1, 4, (2, 3), (3,), ())},
        shapes=(((2, 3), (2, 3)), ((3,), ())),
        attributes={"mode": ("clip", "wrap")},
        given=("mode",),
    ),
    # filling
    **{name: _D(attributes={"shape": (3, (2, 3), (), (0,), (2, 0))}) for name in ("zeros", "ones")},
    "full": _D(shapes=(((),), ((3,),)), attributes={"shape": ((2, 3), (3,), 3)}),
    "full_like": _D(shapes=(((2, 3), ()), ((2, 3), (3,)), ((), ())), kinds="biuf", alone=True),
    "arange": _D(attributes={"start": (0, 1, -2, 5, 0.5), "stop": (4, 7, 2.5, -3), "step": (1, 2, -1, 0.5)}),
    "linspace": _D(shapes=(((), ()), ((2,), (2,)), ((2,), ())), attributes={"dtype": ("float32",), "axis": (0, -1)}),
    "logspace": _D(
        shapes=(((), ()), ((2,), (2,)), ((2,), ())),
        attributes={"dtype": ("float32",), "axis": (0, -1), "base": (2.0,)},
        close=10,
        kinds="iuf",
    ),
    "geomspace": _D(
        shapes=(((), ()), ((2,), (2,)), ((2,), ())),
        attributes={"dtype": ("float32",), "axis": (0, -1)},
        values=POSITIVE,
        close=10,
        kinds="iuf",
    ),
    "eye": _D(
        attributes={"n_rows": (3, 0, 1), "n_cols": (2, 4, None)},
        numpy=lambda n_rows, n_cols=None, **kw: np.eye(n_rows, n_cols, **kw),
    ),
    "tri": _D(attributes={"N": (3, 0, 1), "M": (2, 4, None)}),
    # polynomials
    "poly": _D(shapes=(((3,),), ((3, 3),), ((0,),), ((1,),)), close=20),
    "polyval": _D(shapes=(((3,), (2, 3)), ((1,), ()), ((4,), (3,)))),
    **{name: _D(shapes=(((3,), (2,)), ((1,), (3,)), ((2,), (2,)))) for name in ("polyadd", "polysub", "polymul")},
    "polydiv": _D(
        shapes=(((3,), (2,)), ((4,), (2,)), ((1,), (3,)), ((2,), (2,))), values=POSITIVE, close=20, seen=_quotient
    ),
    "polyder": _D(shapes=_VECTORS[:3], attributes={"m": (0, 1, 2)}),
    "polyint": _D(shapes=_VECTORS[:3], attributes={"m": (0, 1, 2)}),
    "polyfit": _D(
        tensors={
            "x": lambda choose, _: np.asarray([-2, -1, 0, 1, 2.5], np.float32),
            "y": lambda choose, _: array(choose, (5,), "float32"),
        },
        attributes={"deg": (0, 1, 2)},
        close=100,
    ),
    "roots": _D(
        tensors={"p": lambda choose, _: np.poly([choose((1, 2)), choose((4, -3)), 7]).astype(np.float32)},
        close=200,
        numpy=lambda p: np.roots(p).astype(np.complex64),
        seen=_sorted_eigenvalues,
    ),
    "vander": _D(shapes=_VECTORS, attributes={"N": (0, 1, 3), "increasing": (True, False)}),
    # positions
    "indices": _D(attributes={"dimensions": ((2, 3), (3,), (0, 2)), "dtype": ("int32", "float32")}),
    "diag_indices": _D(attributes={"n": (3, 0, 1), "ndim": (1, 2, 3)}),
    "diag_indices_from": _D(shapes=(((3, 3),), ((2, 2, 2),), ((2, 3),), ((3,),))),
    "tril_indices": _D(attributes={"n": (3, 0, 1), "m": (1, 2, 4)}),
    "triu_indices": _D(attributes={"n": (3, 0, 1), "m": (1, 2, 4)}),
    "tril_indices_from": _D(shapes=(((3, 3),), ((2, 4),), ((3,),))),
    "triu_indices_from": _D(shapes=(((3, 3),), ((2, 4),), ((3,),))),
    "ravel_multi_index": _D(
        tensors={"multi_index": ints(-1, 4, (3,))},
        shapes=(((3,), (3,)),),
        attributes={"dims": ((3, 4), (2, 2)), "mode": ("clip", "wrap")},
        given=("mode",),
    ),
    "unravel_index": _D(tensors={"indices": ints(0, 6)}, attributes={"shape": ((2, 3), (6,), (1, 2, 3))}),
    "ix_": _D(shapes=(((2,), (3,)), ((1,),), ((2,), (0,), (2,))), kinds="i"),
    # selecting
    **{
        name: _D(values=GAPS, attributes={"size": (), "fill_value": ()})
        for name in ("nonzero", "argwhere", "flatnonzero")
    },
    "unique": _D(
        values=GAPS,
        attributes={
            "size": (),
            "fill_value": (),
            "axis": (None,),
            **dict.fromkeys(("return_index", "return_inverse", "return_counts"), (True,)),
        },
    ),
    **{
        f"unique_{name}": _D(values=GAPS, attributes={"size": (), "fill_value": ()}, seen=seen)
        for name, seen in (("values", np.sort), ("counts", None), ("inverse", None), ("all", None))
    },
    **{
        name: _D(shapes=(((5,), (3,)), ((2, 3), (2,)), ((0,), (2,))), attributes={"size": (), "fill_value": ()})
        for name in ("union1d", "intersect1d", "setdiff1d", "setxor1d")
    },
    # signals
    "convolve": _D(shapes=(((5,), (3,)), ((3,), (5,)), ((1,), (1,))), attributes={"mode": ("full", "same", "valid")}),
    "correlate": _D(shapes=(((5,), (3,)), ((3,), (5,)), ((1,), (1,))), attributes={"mode": ("full", "same", "valid")}),
    "gradient": _D(
        shapes=(((3, 4),), ((5,),)),
        tensors={"spacing": lambda choose, tensors: np.asarray(choose((1, 2, 0.5)), np.float32)},
    ),
    "ediff1d": _D(tensors={"to_end": like(shape=((), (2,))), "to_begin": like(shape=((), (2,)))}),
    "trapezoid": _D(shapes=(((2, 3),), ((4,),)), tensors={"x": strictly}, attributes={"dx": (0.5, 2.0), "axis": (-1,)}),
    "unwrap": _D(
        tensors={"p": lambda choose, _: array(choose, choose(((5,), (2, 3))), "float32") * 4},
        attributes={"discont": (4.0,), "period": (4.0,)},
    ),
    **{name: _D(attributes={"M": (0, 1, 2, 5)}) for name in ("bartlett", "blackman", "hamming", "hanning")},
    "kaiser": _D(attributes={"M": (0, 1, 2, 5), "beta": (0.0, 8.6)}),
    # linalg
    "linalg.norm": _D(
        shapes=(((2, 3),), ((3,),), ((2, 2, 3),)),
        attributes={"ord": (None, 1, 2, np.inf, -np.inf, "fro", "nuc", 0, 3)},
        **_LINALG,
    ),
    "linalg.vector_norm": _D(shapes=(((2, 3),), ((3,),), ((2, 2, 3),)), **_NORMS),
    "linalg.matrix_norm": _D(shapes=_MATRICES[:4], attributes={"ord": ("fro", "nuc", 1, 2, -2, np.inf)}, **_LINALG),
    **{f"linalg.{name}": _D(tensors={"x": _well()}, close=50) for name in ("det", "slogdet", "inv")},
    "linalg.cond": _D(tensors={"x": _well()}, attributes={"p": (None, 1, 2, np.inf, "fro")}, close=50),
    "linalg.pinv": _D(tensors={"x": _matrix}, close=200),
    "linalg.matrix_rank": _D(tensors={"x": _matrix}),
    "linalg.solve": _D(
        tensors={"x1": _well(), "x2": lambda choose, t: array(choose, (*t[0].shape[:-1], 2), "float32")}, close=50
    ),
    "linalg.cholesky": _D(tensors={"x": _well(True)}, attributes={"upper": (True, False)}, close=50),
    "linalg.qr": _D(tensors={"x": _matrix}, attributes={"mode": ("reduced", "complete")}, close=50, seen=_qr),
    "linalg.svd": _D(tensors={"x": _matrix}, attributes={"full_matrices": (False, True)}, close=50, seen=_from_parts),
    "linalg.svdvals": _D(tensors={"x": _matrix}, close=50),
    "linalg.eigh": _D(tensors={"x": _well(True)}, close=50, seen=_eigh),
    "linalg.eigvalsh": _D(tensors={"x": _well(True)}, close=50),
    "linalg.eig": _D(
        tensors={"x": _well(True)}, numpy=lambda x: _complex(np.linalg.eig(x)), close=1000, seen=_sorted_eigenvalues
    ),
    "linalg.eigvals": _D(
        tensors={"x": _well(True)}, numpy=lambda x: np.linalg.eigvals(x) + 0j, close=1000, seen=_sorted_eigenvalues
    ),
    "linalg.matrix_power": _D(tensors={"x": _well()}, attributes={"n": (0, 1, 2, 3, -1)}, close=50),
    "linalg.lstsq": _D(
        tensors={
            "x1": lambda choose, _: array(choose, (4, 2), "float32") + 6 * np.eye(4, 2, dtype=np.float32),
            "x2": lambda choose, _: array(choose, choose(((4,), (4, 2))), "float32"),
        },
        close=100,
    ),
    "linalg.multi_dot": _D(shapes=(((2, 3), (3, 4), (4, 2)), ((3,), (3, 2), (2,)), ((2, 3), (3, 2)))),
    "linalg.tensorinv": _D(
        tensors={
            "x": lambda choose, _: (array(choose, (4, 4), "float32") + 12 * np.eye(4, dtype=np.float32)).reshape(
                2, 2, 4
            )
        },
        close=50,
    ),
    "linalg.tensorsolve": _D(
        tensors={
            "x1": lambda choose, _: (array(choose, (4, 4), "float32") + 12 * np.eye(4, dtype=np.float32)).reshape(
                4, 2, 2
            ),
            "x2": lambda choose, _: array(choose, (4,), "float32"),
        },
        attributes={"axes": ()},
        close=50,
    ),
    "linalg.cross": _D(shapes=(((2, 3), (3,)), ((3,), (3,)), ((4,), (4,))), attributes={"axis": (-1,)}),
    "linalg.diagonal": _D(shapes=_MATRICES),
    "linalg.matmul": _D(shapes=(((2, 3), (3, 2)), ((2, 2, 3), (3, 1)), ((2, 3), (2, 3)))),
    "linalg.matrix_transpose": _D(shapes=_MATRICES),
    "linalg.outer": _D(shapes=(((2,), (3,)), ((0,), (2,)), ((2, 2), (2,)))),
    "linalg.tensordot": _D(shapes=(((2, 3), (2, 3)), ((2,), (3,))), attributes={"axes": (0, 1, 2, ((1,), (1,)))}),
    "linalg.trace": _D(shapes=_MATRICES),
    "linalg.vecdot": _D(shapes=(((2, 3), (2, 3)), ((3,), (2, 3)), ((2,), (3,))), attributes={"axis": (-1,)}),
    # fft
    **{
        f"fft.{name}": _D(shapes=(((2, 4),), ((5,),)), attributes={"n": (2, 4, 6)}, close=10)
        for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
    },
    **{
        f"fft.{name}": _D(shapes=(((2, 4),), ((2, 3, 2),)), attributes={"s": (), "axes": ((0, 1), (-2, -1))}, close=10)
        for name in ("fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn")
    },
    "fft.fftfreq": _D(attributes={"n": (1, 4, 5), "d": (0.5, 2.0), "dtype": ()}),
    "fft.rfftfreq": _D(attributes={"n": (1, 4, 5), "d": (0.5, 2.0), "dtype": ()}),
    "fft.fftshift": _D(shapes=_MATRICES, attributes={"axes": lambda t: (None, *range(-t[0].ndim, t[0].ndim))}),
    "fft.ifftshift": _D(shapes=_MATRICES, attributes={"axes": lambda t: (None, *range(-t[0].ndim, t[0].ndim))}),
}


def drawing(name: str, module: str) -> Drawing:
    """How the arguments of a row of a module are drawn."""
    found = DRAWINGS.get(name)
    if found is not None:
        return found
    return _D(values=ANY) if module.rpartition(".")[2] in ("elementwise", "logic") else _D()
