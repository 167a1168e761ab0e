"""Every function that NumPy has too gives what NumPy gives, for drawn shapes, dtypes and values."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import graphc as gx
from graphc.compiler.base.errors import GraphcError
from graphc.compiler.core import FUNCTIONS, Tensor
from graphc.compiler.ops.signature import RowSignature
from graphc.compiler.ops.table import ROWS
from tests.compiler.ops.calls import ALL_ROWS, replaced
from tests.compiler.ops.deviations import DEVIATIONS, Deviation, excused
from tests.compiler.ops.drawing import ANY, DTYPES, WIDE, Choose, Drawing, Drawn, draw
from tests.compiler.ops.numpy_table import BY_HAND, DRAWINGS, drawing
from tests.compiler.ops.support import KernelInterpreter, flat, trace

MODULES = {row.name: module for module, rows in ROWS.items() for row in rows}

ELSEWHERE = {
    **dict.fromkeys(
        (
            "apply_along_axis",
            "apply_over_axes",
            "block",
            "broadcast_shapes",
            "fromfunction",
            "mask_indices",
            "isscalar",
        ),
        "take functions, nested lists or Python values; tests/compiler/ops/test_composed.py has them",
    ),
    **dict.fromkeys(
        ("einsum_path", "histogram2d", "histogramdd", "piecewise", "select"),
        "take nested lists of tensors; tests/compiler/ops/test_composed.py has them",
    ),
    **dict.fromkeys(
        ("can_cast", "finfo", "iinfo", "isdtype", "issubdtype", "promote_types", "result_type"),
        "of dtypes, which are JAX's; tests/compiler/ops/test_operators.py has them",
    ),
    "from_dlpack": "of memory; tests/compiler/ops/test_array_api.py has it",
    **dict.fromkeys(("empty", "empty_like"), "zeros here, anything in NumPy"),
    "copy": "the row is identity, which is drawn; NumPy's identity is a matrix",
}
"""Names that NumPy has and for which nothing is drawn here, with the reason."""


def numpy_s(name: str) -> Callable[..., Any] | None:
    """NumPy's function of a name."""
    namespace, _, function = name.rpartition(".")
    places: dict[str, Any] = {"": np, "linalg": np.linalg, "fft": np.fft}
    return getattr(places.get(namespace), function, None)


SUBJECTS = [name for name in (*ALL_ROWS, *BY_HAND) if numpy_s(name) is not None]


def test_every_function_that_numpy_has_is_drawn() -> None:
    rows = {row.namespace + alias: row.name for row in ALL_ROWS.values() for alias in row.aliases}
    left: list[str] = []
    for name in FUNCTIONS:
        if numpy_s(name) is None or name in SUBJECTS or name in ELSEWHERE:
            continue
        row = rows.get(name)
        # An alias of the row's is NumPy's of the same function, or that of another name for it.
        same = row is not None and getattr(numpy_s(name), "__doc__", "") and row in SUBJECTS
        if not same:
            left.append(name)
    assert left == []
    assert [name for name in ELSEWHERE if name in SUBJECTS or numpy_s(name) is None] == []
    assert [name for name in DRAWINGS if name not in SUBJECTS] == []


_EPS = {"float16": 1e-3, "bfloat16": 8e-3, "float32": 1e-6, "complex64": 1e-6, "float64": 1e-14, "complex128": 1e-14}


def ours(name: str, case: Drawn, arrays: Sequence[Any]) -> Any:
    """Our function on the arguments, with these in place of the arrays."""
    tensors = iter(arrays)
    args = [replaced(value, tensors) for value in case.args]
    kwargs = {key: replaced(value, tensors) for key, value in case.kwargs.items()}
    return FUNCTIONS[name](*args, **kwargs)


def eagerly(name: str, case: Drawn) -> Any:
    return ours(name, case, [Tensor(jnp.asarray(array)) for array in case.arrays])


def in_a_graph(name: str, case: Drawn) -> Any:
    """The same by a graph, each op of which eager code has compiled."""
    graph = trace(lambda *tensors: ours(name, case, tensors), case.arrays)
    return KernelInterpreter(graph).run(*case.arrays)


def theirs(name: str, how: Drawing, case: Drawn, dtypes: Sequence[Any] | None = None) -> Any:
    """NumPy's answer, for tensors that are promoted together as JAX does it."""
    arrays = case.arrays
    function = how.numpy or numpy_s(name)
    if dtypes is None and len(case.together) > 1:
        common = gx.result_type(*(arrays[place] for place in case.together))
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            arrays = [array.astype(common) if place in case.together else array for place, array in enumerate(arrays)]
    if dtypes is not None:
        arrays = [
            array.astype(dtype) if array.dtype.kind in "biu" else array
            for array, dtype in zip(arrays, dtypes, strict=True)
        ]
    arrays = [array.astype(np.float32) if array.dtype == ml_dtypes.bfloat16 else array for array in arrays]
    rest = iter(arrays)
    args = [replaced(value, rest) for value in case.args]
    kwargs = {key: replaced(value, rest) for key, value in case.kwargs.items()}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return function(*args, **kwargs)


def difference(name: str, how: Drawing, case: Drawn, run: Callable[[str, Drawn], Any] = eagerly) -> str:
    """In what ours differs from NumPy's; empty if in nothing."""
    try:
        found: Any = flat(run(name, case))
    except GraphcError as error:
        found = error
    try:
        expected: Any = flat(theirs(name, how, case))
    except TypeError as error:
        if "not supported for the input types" in str(error):
            return ""
        expected = error
    except Exception as error:
        expected = error
    if isinstance(found, Exception) or isinstance(expected, Exception):
        if isinstance(found, Exception) and isinstance(expected, Exception):
            return ""
        if isinstance(found, Exception) and any(array.dtype == ml_dtypes.bfloat16 for array in case.arrays):
            return ""  # no dtype of NumPy's
        return f"gx: {found!r:.300}\nnp: {expected!r:.300}"
    if len(found) != len(expected):
        return f"{len(found)} outputs, NumPy has {len(expected)}"
    arrays = list(map(np.asarray, found))
    rights = [np.asarray(one) for one in expected]
    for one, right in zip(arrays, rights, strict=True):
        kinds = [_kind(one), _kind(right)]
        if kinds[0] != kinds[1]:
            return f"dtype {one.dtype}, NumPy has {right.dtype}: {one} {right}"
    if (
        any(_kind(one) in "fc" for one in arrays)
        and all(a.dtype.kind in "biu" for a in case.arrays)
        and case.arrays
        and not how.seen
    ):
        wide = next(one.dtype for one in arrays if _kind(one) in "fc")
        with suppress(Exception):
            rights = [np.asarray(one) for one in flat(theirs(name, how, case, [wide] * len(case.arrays)))]
    if how.seen is not None:
        arrays = list(map(np.asarray, flat(how.seen(*arrays))))
        rights = list(map(np.asarray, flat(how.seen(*rights))))
    for one, right in zip(arrays, rights, strict=True):
        if one.shape != right.shape:
            return f"shape {one.shape}, NumPy has {right.shape}"
        text = _values(one, right, how)
        if text:
            return text
    return ""


def _kind(array: Any) -> str:
    return "f" if array.dtype == ml_dtypes.bfloat16 else array.dtype.kind.replace("u", "i")


def _values(one: Any, right: Any, how: Drawing) -> str:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        right = right.astype(one.dtype)
    shown = f"{one.dtype} {one.tolist()}\nnp {right.tolist()}"
    if _kind(one) not in "fc":
        return "" if np.array_equal(one, right) else shown
    eps = how.close * 10 * _EPS[one.dtype.name]
    wide = np.complex128 if _kind(one) == "c" else np.float64
    tiny = float(ml_dtypes.finfo(one.dtype).smallest_normal)
    one, right = one.astype(wide), right.astype(wide)
    if wide is np.complex128:
        pairs = [(one.real, right.real), (one.imag, right.imag)]
    else:
        pairs = [(one, right)]
    finite = np.abs(right[np.isfinite(right)])
    scale = float(finite.max(initial=0.0)) if how.close > 1 else 1.0
    for a, b in pairs:
        if not np.allclose(a, b, rtol=eps, atol=eps * min(scale, 1e3) * 0.1 + tiny, equal_nan=True):
            return shown
        zeros = (a == 0) & (b == 0)
        if (
            wide is np.float64
            and how.values == ANY
            and how.zeros
            and not np.array_equal(np.signbit(a[zeros]), np.signbit(b[zeros]))
        ):
            return f"sign of zero: {shown}"
    return ""


def drawn(name: str, choose: Choose, dtypes: Sequence[str]) -> tuple[Drawing, Drawn]:
    how = drawing(name, MODULES.get(name, ""))
    signature = ALL_ROWS[name].signature if name in ALL_ROWS else BY_HAND[name]
    return how, draw(RowSignature.parse(signature), how, choose, dtypes)


def check(name: str, data: st.DataObject) -> None:
    def choose(values: Any) -> Any:
        return data.draw(st.sampled_from(values))

    wide = choose((False, False, False, True))
    with gx.config.scope(enable_x64=wide):
        how, case = drawn(name, choose, WIDE if wide else DTYPES)
        for run in (eagerly, in_a_graph) if graphs(name) else (eagerly,):
            found = difference(name, how, case, run)
            assert not found or excused(name, case, found), f"{run.__name__}: {name}{case}, x64={wide}\n{found}"
            if found.startswith("gx: Invalid"):
                return


def graphs(name: str) -> bool:
    """Whether a graph can have the function, which knows no values, and gives tensors."""
    if name in ALL_ROWS:
        return ALL_ROWS[name].by_value is None
    return name == "clip"


@pytest.mark.drawn(4)
@pytest.mark.parametrize("name", SUBJECTS)
@given(data=st.data())
@settings(max_examples=2, derandomize=True, phases=[Phase.generate])
def test_gives_what_numpy_gives(name: str, data: st.DataObject) -> None:
    check(name, data)


@pytest.mark.slow
@pytest.mark.parametrize("name", SUBJECTS)
@given(data=st.data())
@settings(max_examples=60, derandomize=True, phases=[Phase.generate])
def test_gives_what_numpy_gives_for_many(name: str, data: st.DataObject) -> None:
    check(name, data)


@pytest.mark.parametrize(
    "module", sorted({module for name, module in MODULES.items() if name in SUBJECTS and graphs(name)})
)
def test_a_compiled_function_gives_what_numpy_gives(module: str) -> None:
    """All functions of a module in one program, on arguments that eager code takes."""
    calls: list[tuple[str, Drawing, Drawn]] = []
    for name in SUBJECTS:
        if MODULES.get(name) == module and graphs(name):
            how, case = drawn(name, random.Random(name).choice, ("float32", "int32"))
            with suppress(GraphcError):  # what is refused is refused alike, which test_errors.py holds
                trace(lambda *tensors, name=name, case=case: ours(name, case, tensors), case.arrays)
                calls.append((name, how, case))
    results = gx.function(
        lambda arrays: [ours(name, case, given) for given, (name, _, case) in zip(arrays, calls, strict=True)],
        autograph=False,
    )([list(map(gx.asarray, case.arrays)) for _, _, case in calls])
    assert calls
    for result, (name, how, case) in zip(results, calls, strict=True):
        found = difference(name, how, case, lambda name, case, result=result: result)
        assert not found or excused(name, case, found), f"{name}{case}\n{found}"


@pytest.mark.parametrize("deviation", DEVIATIONS, ids=[deviation.reason[:40] for deviation in DEVIATIONS])
def test_deviations_are_needed(deviation: Deviation) -> None:
    for name, case in deviation.witnesses.items():
        found = difference(name, replace(drawing(name, MODULES.get(name, "")), numpy=None), case)
        assert found, f"{name} does not deviate: {case}"
        assert excused(name, case, found), f"{name}{case}: {found}"
