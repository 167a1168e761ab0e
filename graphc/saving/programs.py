"""JAX functions in saved graphs: blobs of ``jax.export``, each of which is one op.

JAX promises to read its exports for six months; a blob says until when. It holds StableHLO, and no Python.
"""

from __future__ import annotations

import hashlib
import re
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from typing import Any, Self

import jax as _jax
from jax import export as _export

from graphc.compiler.base.errors import DataLossError, FailedPreconditionError, InternalError, PermissionDeniedError
from graphc.compiler.core import dtype_rules
from graphc.compiler.ir import Attrs, Graph, TensorType, define_op
from graphc.saving.signature import Sizes, expressions

jax: Any = _jax  # its functions are only partly annotated
export: Any = _export

_PROMISED = timedelta(days=180)
_PLATFORMS = ("cpu", "cuda", "tpu")
_CALLS = re.compile(r'custom_call(?:\s*@("[^"]*"|[\w.$-]+))?|stablehlo\.(infeed|outfeed|send|recv)\b')
_CALLS_BACK = re.compile("callback|py_", re.IGNORECASE)
_HARMLESS = {
    "shape_assertion", "stablehlo.dynamic_reduce_window", "stablehlo.dynamic_rng_bit_generator",
    "stablehlo.dynamic_top_k",
}  # fmt: skip
"""Custom calls that stand for an op of StableHLO, and are gone, or refused, when the sizes are known. A kernel (of
LAPACK, of a GPU) takes the sizes of its operands for those of its results: where a file says otherwise, it writes
past their memory."""


@dataclass(frozen=True)
class ExportedProgram:
    """An exported JAX function."""

    blob: bytes
    # Its entry in the manifest: the versions of JAX, the platforms, and until when JAX promises to read it.
    about: Mapping[str, Any]
    file: str = ""
    trusted: bool = True
    _types: dict[Any, tuple[TensorType, ...]] = field(
        default_factory=dict[Any, tuple[TensorType, ...]], repr=False, compare=False
    )

    @cached_property
    def name(self) -> str:
        """Its name in graphs, derived from its bytes."""
        return hashlib.sha256(self.blob).hexdigest()[:32]

    def types(self, types: Sequence[TensorType]) -> tuple[TensorType, ...]:
        """Returns the types of its results for arguments of these types; raises JAX's errors."""
        key = (dtype_rules(), *types)
        if key not in self._types:
            structs = [jax.ShapeDtypeStruct(type.shape, type.dtype, weak_type=type.weak) for type in types]
            outputs = tuple(jax.eval_shape(self.function, *structs))
            self._types[key] = tuple(TensorType(tuple(out.shape), out.dtype, bool(out.weak_type)) for out in outputs)
        return self._types[key]

    @cached_property
    def function(self) -> Callable[..., Any]:
        """The function, of arrays."""
        try:
            artifact: Any = export.deserialize(bytearray(self.blob))
            text = "\n".join(str(each.mlir_module()) for each in _with_gradients(artifact))
        except Exception as error:
            raise FailedPreconditionError(
                f"{self.file}: JAX {jax.__version__} does not read this function, which JAX {self.about.get('jax')} "
                f"exported and promised to read until {self.about.get('readable_until')}; save the function again "
                f"where its source is, or install an older JAX ({str(error).partition(chr(10))[0]:.120})"
            ) from error
        calls = {(call[1] or call[2] or "?").strip('"') for call in _CALLS.finditer(text)} - _HARMLESS
        back = sorted(filter(_CALLS_BACK.search, calls))
        if back:
            raise DataLossError(f"{self.file}: it calls {back[0]!r}, and a saved function runs no Python")
        if calls and not self.trusted:
            raise PermissionDeniedError(
                f"{self.file}: it calls {', '.join(sorted(calls))} of XLA, which a malicious file can make write to "
                "any memory; if you trust whoever saved the folder, gx.load(folder, trust=True) loads it. Functions "
                "that call gx.linalg in place of gx.call_jax need no trust"
            )
        return artifact.call


def _with_gradients(exported: Any) -> Iterator[Any]:
    """Yields the exported function, and its backward passes of each order, which are separate programs."""
    yield exported
    while exported.has_vjp():
        exported = exported.vjp()
        yield exported


class ProgramName(str):
    """The name of a program, which keeps the program alive as long as a graph that calls it."""

    program: ExportedProgram

    def __new__(cls, program: ExportedProgram) -> Self:
        """Returns the name."""
        name = super().__new__(cls, program.name)
        registered = _programs.get(program.name)
        if registered is None or program.trusted > registered.trusted:
            registered = _programs[program.name] = program
        name.program = registered
        return name


_programs: weakref.WeakValueDictionary[str, ExportedProgram] = weakref.WeakValueDictionary()


def program_of(name: str) -> ExportedProgram:
    """Returns the program with a name."""
    program = name.program if isinstance(name, ProgramName) else _programs.get(name)
    if program is None:
        raise FailedPreconditionError(
            f"the exported function {name!r:.40} is not loaded; gx.load reads it with the graph it belongs to"
        )
    return program


def _run(*arrays: Any, program: str) -> tuple[Any, ...]:
    return tuple(program_of(program).function(*[jax.numpy.asarray(array) for array in arrays]))


def _infer(types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
    del regions
    return program_of(attrs["program"]).types(types)


JAX_PROGRAM = define_op(
    "jax_program", impl=_run, infer=_infer, params=("*args",), opaque=True, doc="A function of JAX that was exported."
)


def exported(
    function: Callable[..., Any], rows: Sequence[Sequence[TensorType]], sizes: Sequence[Sizes], *, differentiable: bool
) -> ExportedProgram:
    """Exports a function of arrays to a tuple of arrays."""
    # ``rows`` has for each argument its types in the traces for several ``sizes``, which are empty if no size is open.
    scope = export.SymbolicScope()
    symbols = {symbol: export.symbolic_shape(symbol, scope=scope)[0] for symbol in (sizes[0] if sizes else ())}

    def dimension(column: Sequence[int]) -> Any:
        if len(set(column)) == 1:
            return column[0]
        expression = next(expressions(column, sizes), None)
        if expression is None:
            raise InternalError(f"the sizes {[*column]} are not understood")
        product: Any = 1
        for symbol in expression.symbols:
            product = product * symbols[symbol]
        whole = expression.factor * product + expression.offset
        return whole if expression.divisor == 1 else whole // expression.divisor

    types = [
        jax.ShapeDtypeStruct([dimension(column) for column in zip(*[type.shape for type in row], strict=True)],
                             row[0].dtype)
        for row in rows
    ]  # fmt: skip

    def flat(*arrays: Any) -> tuple[Any, ...]:
        return tuple(function(*arrays))

    artifact = _on_platforms(jax.jit(flat), types)
    blob = _serialized(artifact, differentiable=differentiable)
    about = {
        "jax": jax.__version__,
        "calling_convention": artifact.calling_convention_version,
        "platforms": list(artifact.platforms),
        "readable_until": str(_today() + _PROMISED),
    }
    return ExportedProgram(bytes(blob), about)


def _today() -> date:
    return datetime.now(UTC).date()


def _on_platforms(function: Any, types: Sequence[Any]) -> Any:
    """Exports for all platforms, or for the current one if the function works only there."""
    try:
        return export.export(function, platforms=_PLATFORMS)(*types)
    except Exception:
        return export.export(function)(*types)


def _serialized(artifact: Any, *, differentiable: bool) -> bytearray:
    for order in (2, 1) if differentiable else ():
        try:
            return artifact.serialize(vjp_order=order)
        except Exception:
            continue
    return artifact.serialize()
