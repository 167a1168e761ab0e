"""Which dtypes a row takes and gives, found by inference on the row's example."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphc.compiler.core import FUNCTIONS, SymbolicTensor, trace_scope, type_of
from graphc.compiler.ir import TensorType
from graphc.compiler.ops.table import Row
from graphc.compiler.tracing import Trace
from tests.compiler.ops.calls import EXAMPLES, is_tensor, leaves, replaced
from tests.compiler.ops.support import flat

__all__ = ["DtypeRules"]

_KINDS = {"bool": np.dtype(np.bool_), "int": np.dtype(np.int32), "float": np.dtype(np.float32)}
_KINDS["complex"] = np.dtype(np.complex64)
_KIND_OF = {"b": "bool", "i": "int", "u": "int", "f": "float", "c": "complex"}


@dataclass(frozen=True)
class DtypeRules:
    """The dtypes of a row.

    Attributes:
      parameters: in words, those that each tensor parameter takes.
      result: in words, that of the result.
    """

    parameters: Mapping[str, str]
    result: str

    @staticmethod
    def of(row: Row) -> DtypeRules:
        """The rules that the row's examples show."""
        taken: dict[str, set[str]] = {}
        given: dict[str, str] = {}
        first: tuple[int, str] | None = None
        for number, case in enumerate(EXAMPLES[row.name]):
            if row.by_value is not None and "size" not in case.kwargs:
                continue
            bound = inspect.signature(FUNCTIONS[row.name]).bind(*case.args, **case.kwargs).arguments
            tensors = {name: found for name, value in _flattened(bound) if (found := list(leaves(value)))}
            for name, arrays in tensors.items():
                first = first or (number, name)
                if name in taken:
                    continue
                taken[name] = set()
                kind = _KIND_OF.get(arrays[0].dtype.kind, "float")
                alike = {n for n, a in tensors.items() if _KIND_OF.get(a[0].dtype.kind, "float") == kind}
                for wanted, dtype in _KINDS.items():
                    together = _infer(row, case, bound, dict.fromkeys(alike, dtype))
                    if together is not None or _infer(row, case, bound, {name: dtype}) is not None:
                        taken[name].add(wanted)
                    if together is not None and first == (number, name):
                        given[wanted] = together
        return DtypeRules({name: _words(kinds) for name, kinds in taken.items()}, _result(given))


def _flattened(bound: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The arguments, with those of ``*args`` as a list."""
    for name, value in bound.items():
        yield name, list(value) if isinstance(value, tuple) and any(map(is_tensor, value)) else value


def _infer(row: Row, case: Any, bound: Mapping[str, Any], dtypes: Mapping[str, Any]) -> str | None:
    """The dtype of the result if these parameters have these dtypes; None where that is refused."""
    names = iter([name for name, value in _flattened(bound) for _ in leaves(value)])
    recording = Trace("f")

    def argument(array: Any) -> SymbolicTensor:
        dtype = dtypes.get(next(names), type_of(array).dtype)
        return recording.argument(TensorType(np.shape(array), np.dtype(dtype)), "x")

    def symbols(value: Any) -> Any:
        return replaced(value, iter([argument(array) for array in leaves(value)]))

    args = [symbols(value) for value in case.args]
    kwargs = {name: symbols(value) for name, value in case.kwargs.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # such as that of a complex number whose imaginary part is dropped
        try:
            with trace_scope(recording):
                outputs = flat(FUNCTIONS[row.name](*args, **kwargs))
        except Exception:
            return None
    found = dict.fromkeys(output.dtype.name for output in outputs)
    return " and ".join(found)


def _words(kinds: set[str]) -> str:
    found = [kind for kind in _KINDS if kind in kinds]
    if len(found) == len(_KINDS):
        return "Any dtype."
    return f"Dtype: {_listed(found, 'or')}."


def _listed(words: Sequence[str], last: str) -> str:
    """Words as a sentence lists them."""
    return f" {last} ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _result(given: Mapping[str, str]) -> str:
    """What the result's dtype is by that of the tensors."""
    if not given:
        return ""
    if all(_KINDS[kind].name == dtype for kind, dtype in given.items()):
        return "that of the tensors"
    if len(given) > 1 and len(set(given.values())) == 1:
        return f"`{next(iter(given.values()))}`"
    by_result: dict[str, list[str]] = {}
    for kind, dtype in given.items():
        by_result.setdefault(dtype, []).append(kind)
    return ", ".join(f"`{dtype}` for {_listed(kinds, 'and')}" for dtype, kinds in by_result.items())
