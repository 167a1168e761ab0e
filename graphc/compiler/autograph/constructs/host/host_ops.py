"""Ops of the host (queues, readers) in compiled functions: each is a host call in the order of the program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphc.compiler.autograph.constructs.host.host_calls import call_host
from graphc.compiler.base import nest
from graphc.compiler.base.errors import UnimplementedError
from graphc.compiler.core import STRING, host_array, host_type
from graphc.compiler.ir import Attrs, OpDef
from graphc.compiler.tracing import current_trace

__all__ = ["call_late"]


def call_late(op: OpDef, inputs: Sequence[Any], attrs: Attrs) -> list[Any]:
    """Calls an op of the host at run time.

    Raises:
      UnimplementedError: a result is of strings or of a shape that is not known, which no compiled program holds.
    """
    types = op.infer([host_type(value) for value in inputs], attrs, ())
    open_type = next((type for type in types if type.dtype == STRING or type.is_open), None)
    if open_type is not None:
        error = UnimplementedError(
            f"{op.name} gives {open_type}, and a compiled function holds numbers of known shapes only; call it outside "
            "and pass the result in, or run it in a gx.Session"
        )
        raise current_trace().refuse(error)

    def run(given: Any) -> Sequence[np.ndarray[Any, Any]]:
        results = op.impl(*map(host_array, given), **attrs)
        if results is None:
            return ()
        arrays = nest.as_tuple(results)
        return [np.asarray(array, type.dtype) for array, type in zip(arrays, types, strict=True)]

    return list(call_host(run, op.name, tuple(inputs), types))
