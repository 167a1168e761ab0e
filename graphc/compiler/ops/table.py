"""The op table: each row defines an op and the public function that applies it.

A row names a JAX callable and a signature in Python's own syntax, in which parameters without annotation are tensors
and annotated ones are static attributes::

    row("sum", jnp.sum, "x, axis: Axis = None, *, keepdims: bool = False", "The sum over axis.")

A row's op and function are made at first use: there are hundreds, and a program uses few.

A tensor parameter whose default is None is optional: there is an op for each combination of given ones, which JAX
receives by name.

Everything else has a default: output types come from ``jax.eval_shape`` (cached by types and attributes), evaluation is
the JAX callable, and gradients come from ``jax.vjp``. The public function is compiled from the signature, so that
Python binds its arguments; the stub files beside the modules are generated from the same rows when graphc is installed.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax as _lax

from graphc.compiler.base import Registry, lazy_names
from graphc.compiler.core import FUNCTIONS, dtype_rules
from graphc.compiler.ir import OPS, Attrs, Graph, OpDef, TensorType, define_op
from graphc.compiler.ops.public import as_tuple, combinations, public_function
from graphc.compiler.ops.refusals import Need, explainer
from graphc.compiler.ops.signature import RowSignature
from graphc.compiler.ops.type_rules import infer_by_rule


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    name: str  # the part after the last dot is the name of the public function
    impl: Callable[..., Any]  # JAX-traceable: tensors by position, attributes by name
    signature: str
    doc: str
    fold: Callable[..., Any] | None = None  # a NumPy function with the same meaning, for constant folding
    differentiable: bool = True
    returns: str = "Tensor"  # also a ``tuple[...]``, which stays one for any length, or a named tuple of ops.signature
    by_value: Callable[..., Any] | None = None  # a NumPy function for a data-dependent shape, if ``size`` is None
    aliases: tuple[str, ...] = ()
    light: bool | None = None  # a few instructions per element (see OpDef); None for the module's default
    platforms: tuple[str, ...] = ()  # the device types with an implementation in JAX; empty for all
    need: Need | None = None  # its requirements beyond the signature, for messages
    instead: Callable[..., Any] | None = None  # called in a trace; returns a result computed in a better way, or None
    # Called first, with the arguments; raises for what the op's types do not show.
    check: Callable[..., None] | None = None

    @property
    def function(self) -> str:
        """The name of the public function."""
        return self.name.rpartition(".")[2]

    @property
    def namespace(self) -> str:
        """The part of the name before the function's, with its dot; empty for the top level."""
        return self.name[: -len(self.function)]


def row(
    name: str, impl: Any, signature: str, doc: str, *, fold: Any = None, differentiable: bool = True,
    returns: str = "Tensor", by_value: Any = None, aliases: tuple[str, ...] = (), light: bool | None = None,
    platforms: tuple[str, ...] = (), need: Need | None = None, instead: Callable[..., Any] | None = None,
    check: Callable[..., None] | None = None,
) -> Row:  # fmt: skip
    """Returns a row of the table; see :class:`Row` for the fields."""
    return Row(
        name,
        impl,
        signature,
        doc,
        fold,
        differentiable,
        returns,
        by_value,
        aliases,
        light,
        platforms,
        need,
        instead,
        check,
    )


ROWS: Registry[tuple[Row, ...]] = Registry("module of rows")
"""The rows with generated public functions, by module; the stub files are generated from these."""


def define(namespace: dict[str, Any], rows: tuple[Row, ...] = (), *, light: tuple[Row, ...] = ()) -> None:
    """Registers the ops and public functions of rows, which are made at first use."""
    marked = [(entry, is_light) for group, is_light in ((rows, False), (light, True)) for entry in group]
    rows = tuple([replace(entry, light=is_light) if entry.light is None else entry for entry, is_light in marked])
    functions: dict[str, Callable[[], Any]] = {}
    for entry in rows:
        for extras in combinations(_optional(entry)):
            _add_later(_op_name(entry, extras), partial(_op, entry, extras))
        FUNCTIONS.add_later(entry.name, partial(_function, entry))
        for alias in entry.aliases:
            FUNCTIONS.add_later(entry.namespace + alias, partial(FUNCTIONS.__getitem__, entry.name))
        for name in (entry.function, *entry.aliases):
            functions[name] = partial(FUNCTIONS.__getitem__, entry.namespace + name)
    ROWS.add(namespace["__name__"], rows)
    namespace["__all__"] = sorted(functions)
    lazy_names(namespace, functions)


def define_ops(rows: Iterable[Row]) -> None:
    """Registers the ops of rows with handwritten public functions."""
    for entry in rows:
        _add_later(entry.name, partial(_op, entry))


_names: set[str] = set()


def is_row(name: str) -> bool:
    """Returns True for the name of an op from a row: a pure op that JAX traces."""
    return name in _names


def _add_later(name: str, make: Callable[[], OpDef]) -> None:
    OPS.add_later(name, make)
    _names.add(name)


_OPTIONAL = re.compile(r"\b\w+ ?= ?None")


def _optional(entry: Row) -> tuple[str, ...]:
    """Returns the row's optional tensors. Most rows have none, which shows without parsing the signature."""
    return RowSignature.parse(entry.signature).optional if _OPTIONAL.search(entry.signature) else ()


def _op_name(entry: Row, extras: tuple[str, ...]) -> str:
    return ".".join((entry.name, *extras))


def _function(entry: Row) -> Callable[..., Any]:
    function = public_function(
        entry, {extras: OPS[_op_name(entry, extras)] for extras in combinations(_optional(entry))}
    )
    function.__doc__ = docstring(entry)
    return function


def _op(entry: Row, extras: tuple[str, ...] = ()) -> OpDef:
    """Returns the op of a row for calls with these optional tensors, which JAX receives by name."""
    name = _op_name(entry, extras)
    required = RowSignature.parse(entry.signature).tensors
    impl = entry.impl
    if extras:

        def impl(*tensors: Any, **attrs: Any) -> Any:
            optional = dict(zip(extras, tensors[-len(extras) :], strict=True))
            return entry.impl(*tensors[: -len(extras)], **optional, **attrs)

    return OpDef(
        name,
        impl=impl,
        infer=infer_by_rule(name, infer_by_evaluation(impl)),
        params=(*required, *extras),
        fold=None if extras else entry.fold,
        differentiable=entry.differentiable,
        light=bool(entry.light),
        platforms=entry.platforms,
        explain=explainer(entry.name, RowSignature.parse(entry.signature), None if extras else entry.need),
        doc=entry.doc,
    )


def infer_by_evaluation(impl: Callable[..., Any]) -> Callable[..., tuple[TensorType, ...]]:
    """Returns the inference rule that evaluates shapes with JAX, cached by types and attributes."""
    cache: dict[tuple[Any, ...], tuple[TensorType, ...]] = {}

    def infer(types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
        del regions
        key = (dtype_rules(), attrs, *types)
        inferred = cache.get(key)
        if inferred is None:
            structs = [jax.ShapeDtypeStruct(type.shape, type.dtype, weak_type=type.weak) for type in types]
            result: Any = jax.eval_shape(partial(impl, **attrs), *structs)
            for out in as_tuple(result):
                if min(out.shape, default=0) < 0:  # XLA would refuse it at compile time
                    raise ValueError(f"the result would have the shape {out.shape}")
            inferred = cache[key] = tuple(
                TensorType(tuple(out.shape), np.dtype(out.dtype), bool(out.weak_type)) for out in as_tuple(result)
            )
        return inferred

    return infer


def docstring(entry: Row) -> str:
    """Returns the docstring of the public function of a row."""
    words = RowSignature.parse(entry.signature).words
    lines = [entry.doc, "", "Args:", *(f"  {name}: {text}" for name, text in words.items())]
    lines += ["", "Raises:", "  InvalidArgumentError: shapes, dtypes or attributes do not fit."]
    source = _source(entry.impl)
    if source:
        lines += ["", f"Source: ``{source}``."]

    example = examples().get(entry.name, "").splitlines()
    if example:
        lines += ["", "Example:", "  >>> import graphc as gx", *(f"  {line}" for line in example)]
    return "\n".join(lines)


_SOURCES = ("jax.numpy", "jax.nn", "jax.lax", "jax.numpy.linalg", "jax.numpy.fft", "jax.scipy.special")


def _source(impl: Callable[..., Any]) -> str:
    """Returns the public name of a JAX function; empty for others."""
    name = getattr(impl, "__name__", "")
    for module in _SOURCES:
        candidate = getattr(sys.modules.get(module), name, None)  # only imported modules can contain it
        if candidate is not None and candidate in (impl, getattr(impl, "__wrapped__", None)):
            return f"{module}.{name}"
    return ""


# The examples of the rows: doctests in the docstrings of their functions.

FILE = Path(__file__).with_name("examples.txt")


@cache
def examples() -> Mapping[str, str]:
    """Returns the examples by row name."""
    parts = re.split(r"^# (.+)\n", FILE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {name: text.strip() for name, text in zip(parts[1::2], parts[2::2], strict=True)}


# Python numbers that depend on tensors: 0-d tensors of weak type, which yield in promotion as numbers do.

lax: Any = _lax  # its functions are only partly annotated
_ZEROS: dict[str, Any] = {"complex": 0j, "float": 0.0, "int": 0}


def _as_number(x: Any, *, kind: str, low: int | None = None, high: int | None = None) -> Any:
    del low, high  # what the passes may rely on
    x = jnp.reshape(x, ()) if jnp.shape(x) else x
    if kind == "int" and isinstance(x, jax.Array) and x.dtype == jnp.result_type(int) and jax.typeof(x).weak_type:
        return x  # is one already; it has no gradient
    if kind == "bool":  # Python's booleans are not weak
        return x.astype(bool)
    # The only JAX function that makes a weak array from a strong one.
    return lax.full_like(jnp.asarray(_ZEROS[kind]), lax.stop_gradient(x))


_infer_by_evaluation = infer_by_evaluation(_as_number)


def _infer(types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
    """Without asking JAX, which takes a millisecond, where a number keeps its dtype."""
    (type,), kind = types, attrs["kind"]
    keeps_dtype = (
        not dtype_rules() and type.size == 1 and (type.dtype.name, kind) in (("int32", "int"), ("float32", "float"))
    )
    return (TensorType((), type.dtype, weak=True),) if keeps_dtype else _infer_by_evaluation(types, attrs, regions)


AS_NUMBER = define_op(
    "as_number",
    impl=_as_number,
    infer=_infer,
    params=("x",),
    differentiable=False,
    light=True,
    doc="The only element as a Python number of a kind: truncated for an int, and without gradients. "
    "``low`` and ``high`` bound an int where the graph alone does not show its bounds.",
)
