"""The op table: a row makes an op and the public function that applies it.

A row names a JAX callable and a signature in Python's own syntax, in which parameters without annotation are tensors
and annotated ones are static attributes::

    row("sum", jnp.sum, "x, axis: Axis = None, *, keepdims: bool = False", "The sum over axis.")

Everything else has a default: output types come from ``jax.eval_shape`` (cached by types and attributes), evaluation
is the JAX callable, gradients are ``jax.vjp``'s. The public function is compiled from the signature, so that Python
itself binds its arguments; the stub files beside the modules are written from the same rows.
"""

from __future__ import annotations
import __future__

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar, cast

import jax
import jax.numpy as jnp
import numpy as np

from graphc.base import at, user_location
from graphc.base.errors import ConcretizationError, InvalidTypeError
from graphc.core import (
    FUNCTIONS,
    NO_ATTRS,
    ArrayMethods,
    Tensor,
    apply,
    as_dtype,
    context,
    current_trace,
    is_symbolic,
    kernel,
)
from graphc.ir import OPS, Attrs, Graph, OpDef, TensorType, typed_key
from graphc.ops.signature import Signature

__all__ = ["ROWS", "Row", "define", "define_ops", "docstring", "infer_by_evaluation", "row", "static_value"]


T = TypeVar("T")


@dataclass(frozen=True)
class Row:
    """One line of the table.

    Attributes:
      name: the op's name; what follows the last dot is the name of the public function.
      impl: the JAX-traceable callable: tensors by position, attributes by name.
      signature: the parameters of the public function.
      doc: one line on what it computes.
      fold: a NumPy function with the same meaning, for constant folding.
      differentiable: whether gradients flow.
      light: whether it takes a few instructions for each element (see :class:`OpDef`); None for what its module says.
      returns: what the public function returns, in Python's syntax; a ``tuple[...]`` stays one for any length.
      aliases: other names of the public function.
    """

    name: str
    impl: Callable[..., Any]
    signature: str
    doc: str
    fold: Callable[..., Any] | None = None
    differentiable: bool = True
    returns: str = "Tensor"
    aliases: tuple[str, ...] = ()
    light: bool | None = None

    @property
    def function(self) -> str:
        """The name of the public function."""
        return self.name.rpartition(".")[2]

    @property
    def namespace(self) -> str:
        """What stands before the function's name, with its dot; empty for the top level."""
        return self.name[: -len(self.function)]


def row(
    name: str,
    impl: Any,
    signature: str,
    doc: str,
    *,
    fold: Any = None,
    differentiable: bool = True,
    returns: str = "Tensor",
    aliases: tuple[str, ...] = (),
    light: bool | None = None,
) -> Row:
    """A row of the table; see :class:`Row` for the fields."""
    return Row(name, impl, signature, doc, fold, differentiable, returns, aliases, light)


ROWS: dict[str, tuple[Row, ...]] = {}
"""The rows that have a public function made from them, by module; the stub files are written from these."""


def define(module: str, rows: tuple[Row, ...], *, light: bool = False) -> dict[str, Any]:
    """Registers the ops and public functions of the rows.

    Args:
      module: the name of the module that they belong to.
      rows: its rows.
      light: whether those of them are that do not say.

    Returns:
      What the module adds to its globals: its functions by name, and ``__all__``.
    """
    functions: dict[str, Any] = {}
    rows = tuple([replace(entry, light=light) if entry.light is None else entry for entry in rows])
    for entry in rows:
        op = _define_op(entry)
        function = _public_function(entry, op)
        for name in (entry.function, *entry.aliases):
            functions[name] = FUNCTIONS.add(entry.namespace + name, function)
    ROWS[module] = rows
    return {**functions, "__all__": sorted(functions)}


def define_ops(rows: Iterable[Row]) -> dict[str, OpDef]:
    """Registers the ops of rows whose public functions are written by hand.

    Returns:
      The ops by the last part of their names.
    """
    return {entry.function: _define_op(entry) for entry in rows}


def _define_op(entry: Row) -> OpDef:
    return OPS.add(
        entry.name,
        OpDef(
            entry.name,
            impl=entry.impl,
            infer=infer_by_evaluation(entry.impl),
            params=Signature.parse(entry.signature).tensors,
            fold=entry.fold,
            differentiable=entry.differentiable,
            light=bool(entry.light),
            doc=entry.doc,
        ),
    )


def infer_by_evaluation(impl: Callable[..., Any]) -> Callable[..., tuple[TensorType, ...]]:
    """The inference rule that asks JAX for the output types, once for each combination of types and attributes."""
    cache: dict[tuple[Any, ...], tuple[TensorType, ...]] = {}

    def infer(types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
        del regions
        key = (attrs, *types)
        found = cache.get(key)
        if found is None:
            structs = [jax.ShapeDtypeStruct(type.shape, type.dtype, weak_type=type.weak) for type in types]
            result: Any = jax.eval_shape(partial(impl, **attrs), *structs)
            found = cache[key] = tuple(
                TensorType(tuple(out.shape), np.dtype(out.dtype), bool(out.weak_type)) for out in _as_tuple(result)
            )
        return found

    return infer


_ANNOTATIONS = __future__.annotations.compiler_flag
_TEMPLATE = """\
def {name}({signature}):
    return {wrap}(_apply(_op, {tensors}, {attrs}))
"""
# As the operators of Tensor, a plain eager call goes past the questions that apply asks: 2 us of 6.
_SHORT_TEMPLATE = """\
def {name}({signature}):
    if _context.eager and {plain}:
        try:
            return _Tensor({kernel}({arrays}))
        except Exception:
            pass  # the long way raises it again, with the user's line
    return _apply(_op, {tensors}, {attrs})
"""


def _public_function(entry: Row, op: OpDef) -> Callable[..., Any]:
    signature = Signature.parse(entry.signature)
    attributes = "".join(f"{name}, " for name in signature.defaults)
    short = entry.returns == "Tensor" and not any("*" in name for name in op.params)
    source = (_SHORT_TEMPLATE if short else _TEMPLATE).format(
        name=entry.function,
        signature=entry.signature,
        wrap="_tuple" if entry.returns.startswith("tuple") else "",
        tensors=f"({''.join(f'{name}, ' for name in signature.tensors)})",
        attrs=f"_attrs(({attributes}))" if attributes else "_no_attrs",
        plain=" and ".join(f"type({name}) is _Tensor" for name in signature.tensors) or "True",
        kernel=f"_kernel_of(({attributes}))" if attributes else "_kernel",
        arrays=", ".join(f"{name}.raw" for name in signature.tensors),
    )
    attrs_of = _attrs_maker(op, signature.defaults)
    namespace: dict[str, Any] = {
        "_Tensor": Tensor,
        "_apply": apply,
        "_attrs": attrs_of,
        "_context": context,
        "_kernel": kernel(op),
        "_kernel_of": _cached(lambda values: kernel(op, attrs_of(values))),
        "_no_attrs": NO_ATTRS,
        "_op": op,
        "_tuple": _as_tuple,
    }
    code = compile(source, f"<graphc op {entry.name}>", "exec", flags=_ANNOTATIONS, dont_inherit=True)
    exec(code, namespace)
    function: Callable[..., Any] = namespace[entry.function]
    function.__doc__ = docstring(entry)
    function.__module__ = "graphc"
    return function


def _as_tuple(outputs: Any) -> tuple[Any, ...]:
    return tuple(cast("Sequence[Any]", outputs)) if isinstance(outputs, tuple | list) else (outputs,)


def docstring(entry: Row) -> str:
    """The public function's docstring."""
    words = Signature.parse(entry.signature).words
    lines = [entry.doc, "", "Args:", *(f"  {name}: {text}" for name, text in words.items())]
    lines += ["", "Raises:", "  InvalidArgumentError: shapes, dtypes or attributes that do not fit."]
    source = _source(entry.impl)
    if source:
        lines += ["", f"Source: ``{source}``."]
    return "\n".join(lines)


_SOURCES = (jnp, jax.nn, jax.lax, jnp.linalg)


def _source(impl: Callable[..., Any]) -> str:
    """The public name of a JAX function; empty for others."""
    name = getattr(impl, "__name__", "")
    for module in _SOURCES:
        if getattr(module, name, None) is impl:
            return f"{module.__name__}.{name}"
    return ""


def _attrs_maker(op: OpDef, defaults: Mapping[str, Any]) -> Callable[[tuple[Any, ...]], Attrs]:
    """The function that turns attribute values into Attrs, those that have their default left out; cached."""

    def build(values: tuple[Any, ...]) -> Attrs:
        items: dict[str, Any] = {}
        for (name, default), value in zip(defaults.items(), values, strict=True):
            item = static_value(op, name, value)
            if typed_key(item) != typed_key(default):
                items[name] = item
        return Attrs(items)

    return _cached(build)


def _cached(build: Callable[[tuple[Any, ...]], T]) -> Callable[[tuple[Any, ...]], T]:
    """The function with its results kept, for attribute values that can be hashed (a list cannot)."""
    cache: dict[Any, T] = {}

    def make(values: tuple[Any, ...]) -> T:
        key = tuple(map(typed_key, values))
        try:
            found = cache.get(key)
        except TypeError:
            return build(values)
        if found is None:
            found = cache[key] = build(values)
        return found

    return make


def static_value(op: OpDef, name: str, value: Any) -> Any:
    """An attribute in its canonical form: a Python scalar, a string, a dtype, None, or a tuple of these.

    Args:
      op: the op that it belongs to, for messages.
      name: the attribute; one called ``dtype`` is made a dtype.
      value: what the user gave; lists, NumPy's numbers and tensors that have a value will do.

    Raises:
      InvalidTypeError: it is nothing of the kind.
      ConcretizationError: it is a tensor without a value.
    """
    if isinstance(value, list | tuple):
        return tuple(static_value(op, name, item) for item in cast("Sequence[Any]", value))
    if name == "dtype" and value is not None:
        return _dtype(op, value)
    if value is None or isinstance(value, bool | int | float | complex | str):
        return value
    if is_symbolic(value):
        error = ConcretizationError(
            f"{op.name}: {name} must be known while the function is traced, but {value!r} has no value then; pass a "
            "Python number"
        )
        raise current_trace().refuse(error)
    if isinstance(value, np.ndarray | np.generic | jax.Array | ArrayMethods):
        return _nested_tuple(np.asarray(cast("Any", value)).tolist())
    if hasattr(value, "__index__"):
        return value.__index__()
    error = InvalidTypeError(f"{op.name}: {name} must be static (numbers, strings, tuples of these), got {value!r:.60}")
    raise at(error, user_location())


def _dtype(op: OpDef, value: Any) -> np.dtype[Any]:
    try:
        return as_dtype(value)
    except InvalidTypeError as error:
        raise at(InvalidTypeError(f"{op.name}: {error.args[0]}"), user_location()) from None


def _nested_tuple(value: Any) -> Any:
    return tuple(map(_nested_tuple, cast("list[Any]", value))) if isinstance(value, list) else value
