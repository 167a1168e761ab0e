"""The array API standard's inspection functions for the namespace."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphc.compiler.core import as_dtype
from graphc.compiler.devices import device_name, devices
from graphc.compiler.ops import dtypes

_NAMES: dict[str, tuple[str, ...]] = {
    "bool": ("bool",),
    "signed integer": ("int8", "int16", "int32", "int64"),
    "unsigned integer": ("uint8", "uint16", "uint32", "uint64"),
    "real floating": ("float32", "float64"),
    "complex floating": ("complex64", "complex128"),
}
_NAMES["integral"] = _NAMES["signed integer"] + _NAMES["unsigned integer"]
_NAMES["numeric"] = _NAMES["integral"] + _NAMES["real floating"] + _NAMES["complex floating"]


class NamespaceInfo:
    """graphc's capabilities, in the form of the array API standard's ``__array_namespace_info__()``."""

    def capabilities(self) -> dict[str, Any]:
        """Returns the capabilities; boolean indexing and data-dependent shapes work in eager code only."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> str:
        """Returns the default device of new tensors."""
        return self.devices()[0]

    def default_dtypes(self, *, device: Any = None) -> dict[str, Any]:
        """Returns the default dtypes of numbers."""
        del device
        kinds = {"real floating": float, "complex floating": complex, "integral": int, "indexing": int}
        return {name: as_dtype(kind) for name, kind in kinds.items()}

    def devices(self) -> Sequence[str]:
        """Returns the names of all devices."""
        return [device_name(device) for device in devices()]

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, Any]:
        """Returns the dtypes of tensors, by name; 64-bit ones only if JAX has them enabled.

        Args:
          kind: as for :func:`graphc.isdtype`; None for all.
        """
        del device
        kinds = (kind,) if isinstance(kind, str) else ("bool", "numeric") if kind is None else kind
        names = [name for kind in kinds for name in _NAMES[kind]]
        available = {name: getattr(dtypes, name) for name in names}
        return {name: dtype for name, dtype in available.items() if as_dtype(np.dtype(dtype.dtype)) == dtype}
