"""The public function of a row, compiled from its signature, so that Python itself binds the arguments."""

from __future__ import annotations
import __future__

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from graphc.core import (
    NO_ATTRS,
    Tensor,
    apply,
    context,
    device,
    kernel,
)
from graphc.ir import OpDef
from graphc.ops import results
from graphc.ops.attributes import attrs_maker, cached, dtype_place
from graphc.ops.signature import Signature
from graphc.ops.values import from_values

if TYPE_CHECKING:
    from graphc.ops.table import Row

__all__ = ["as_tuple", "combinations", "public_function"]

_ANNOTATIONS = __future__.annotations.compiler_flag
_TEMPLATE = """\
def {name}({signature}):
    {first}return {wrap}(_apply(_op, {tensors}, {attrs}))
"""
# As the operators of Tensor, a plain eager call goes past the questions that apply asks: 2 us of 6.
_SHORT_TEMPLATE = """\
def {name}({signature}):
    {first}if _context.eager and {plain}:
        try:
            return _Tensor({kernel}({arrays}))
        except Exception:
            pass  # the long way raises it again, with the user's line
    return _apply(_op, {tensors}, {attrs})
"""
_OPTIONAL_TEMPLATE = """\
def {name}({signature}):
    {first}_given = tuple([_name for _name, _value in ({pairs}) if _value is not None])
    _rest = [_value for _value in ({optional}) if _value is not None]
    return {wrap}(_apply(_ops[_given], ({required}*_rest, ), {attrs}))
"""
_ON_DEVICE = """\
if device:
        with _device(device):
            return {name}({arguments})
    """
_FROM_VALUES = """\
if size is None:
        return {wrap}(_from_values(({tensors}), {{{attributes}}}))
    """


def combinations(optional: Sequence[str]) -> list[tuple[str, ...]]:
    """Which optional tensors may be given together: all subsets, none first."""
    return [names for count in range(len(optional) + 1) for names in itertools.combinations(optional, count)]


def public_function(entry: Row, ops: Mapping[tuple[str, ...], OpDef]) -> Callable[..., Any]:
    """The function that a user calls.

    Args:
      entry: the row.
      ops: its ops, by the optional tensors that are given.
    """
    op = ops[()]
    signature = Signature.parse(entry.signature)
    attributes = _items(signature.defaults)
    plain = entry.returns == "Tensor" and not entry.platforms and not any("*" in name for name in op.params)
    template = _OPTIONAL_TEMPLATE if signature.optional else _SHORT_TEMPLATE if plain else _TEMPLATE
    wrap = "_tuple" if entry.returns.startswith("tuple") else "" if entry.returns.startswith("Tensor") else "_result"
    source = template.format(
        name=entry.function,
        signature=entry.signature,
        first=_first_steps(entry, signature, wrap),
        wrap=wrap,
        required=_items(signature.tensors),
        optional=_items(signature.optional),
        pairs="".join(f"({name!r}, {name}), " for name in signature.optional),
        tensors=f"({_items(signature.tensors)})",
        attrs=f"_attrs(({attributes}))" if attributes else "_no_attrs",
        plain=" and ".join(f"type({name}) is _Tensor" for name in signature.tensors) or "True",
        kernel=f"_kernel_of(({attributes}))" if attributes else "_kernel",
        arrays=", ".join(f"{name}.raw" for name in signature.tensors),
    )
    attrs_of = attrs_maker(op, signature.defaults)
    namespace: dict[str, Any] = {
        "_Tensor": Tensor,
        "_apply": apply,
        "_attrs": attrs_of,
        "_context": context,
        "_device": device,
        "_from_values": entry.by_value and from_values(op, entry.by_value),
        "_kernel": kernel(op),
        "_kernel_of": cached(lambda values: kernel(op, attrs_of(values)), dtype_place(signature.defaults)),
        "_no_attrs": NO_ATTRS,
        "_op": op,
        "_ops": ops,
        "_result": getattr(getattr(results, entry.returns, None), "_make", None),
        "_tuple": as_tuple,
    }
    code = compile(source, f"<graphc op {entry.name}>", "exec", flags=_ANNOTATIONS, dont_inherit=True)
    exec(code, namespace)
    function: Callable[..., Any] = namespace[entry.function]
    function.__module__ = "graphc"
    return function


def _first_steps(entry: Row, signature: Signature, wrap: str) -> str:
    """What is done before the op is applied."""
    steps = ""
    if signature.on_device:
        arguments = ", ".join(f"{name}={name}" for name in signature.words if name != "device")
        steps += _ON_DEVICE.format(name=entry.function, arguments=arguments)
    if entry.by_value is not None:
        used = [name for name in signature.defaults if name not in ("size", "fill_value")]
        attributes = "".join(f"{name!r}: {name}, " for name in used)
        steps += _FROM_VALUES.format(wrap=wrap, tensors=_items(signature.tensors), attributes=attributes)
    return steps


def _items(names: Any) -> str:
    return "".join(f"{name}, " for name in names)


def as_tuple(outputs: Any) -> tuple[Any, ...]:
    """The outputs as a plain tuple; a single one too."""
    return tuple(cast("Sequence[Any]", outputs)) if isinstance(outputs, tuple | list) else (outputs,)
