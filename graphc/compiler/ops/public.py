"""The public function of a row, compiled from its signature, so that Python binds the arguments.

A plain eager call takes the fast path (:mod:`graphc.compiler.core.fast_path`): if its arguments are tensors and
numbers, the attributes select a compiled function directly.
"""

from __future__ import annotations
import __future__

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from graphc.compiler.core import (
    FAST_PATH,
    NO_ATTRS,
    Tensor,
    apply,
    device,
    dtype_rules,
    fast_path,
    kernel,
    raw,
    shorten,
)
from graphc.compiler.ir import OpDef
from graphc.compiler.ops import signature as signatures
from graphc.compiler.ops.attributes import DTYPES, Kept, attrs_maker, kinds
from graphc.compiler.ops.signature import REQUIRED, Signature
from graphc.compiler.ops.values import from_values

if TYPE_CHECKING:
    from graphc.compiler.ops.table import Row

__all__ = ["as_tuple", "combinations", "public_function"]

_ANNOTATIONS = __future__.annotations.compiler_flag
_TEMPLATE = """\
def {name}({signature}):
    {first}{fast}{instead}try:
        return {wrap}(_apply(_op, {tensors}, {attrs}))
    except Exception as _error:
        _shorten(_error)
        raise
"""
_OPTIONAL_TEMPLATE = """\
def {name}({signature}):
    {first}{fast}{instead}try:
        _given = tuple([_name for _name, _value in ({pairs}) if _value is not None])
        _rest = [_value for _value in ({optional}) if _value is not None]
        return {wrap}(_apply(_ops[_given], ({required}*_rest, ), {attrs}))
    except Exception as _error:
        _shorten(_error)
        raise
"""
_INSTEAD = """\
if _context.trace is not None and (_found := _instead({arguments})) is not None:
        return _found
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
    """Returns the combinations of optional tensors: all subsets, the empty one first."""
    return [names for count in range(len(optional) + 1) for names in itertools.combinations(optional, count)]


def public_function(entry: Row, ops: Mapping[tuple[str, ...], OpDef]) -> Callable[..., Any]:
    """Returns the public function of a row."""
    op = ops[()]
    signature = Signature.parse(entry.signature)
    attributes = _items(signature.defaults)
    template = _OPTIONAL_TEMPLATE if signature.optional else _TEMPLATE
    wrap = "_wrapper"
    if entry.returns.startswith("Tensor"):
        wrap = "_some" if "tuple" in entry.returns else ""
    elif entry.returns.startswith("tuple"):
        wrap = "_tuple"
    attrs = f"_attrs(({attributes}))" if attributes else "_no_attrs"
    source = template.format(
        name=entry.function,
        signature=entry.signature,
        first=_first_steps(entry, signature, wrap),
        fast=_fast_path(entry, signature),
        instead=_INSTEAD.format(arguments=", ".join(signature.words)) if entry.instead else "",
        wrap=wrap,
        required=_items(signature.tensors),
        optional=_items(signature.optional),
        pairs="".join(f"({name!r}, {name}), " for name in signature.optional),
        tensors=f"({_items(signature.tensors)})",
        attrs=_unless_default(signature, "_no_attrs", attrs),
    )
    attrs_of = attrs_maker(op, signature.defaults)
    namespace: dict[str, Any] = {
        **FAST_PATH,
        "_Tensor": Tensor,
        "_shorten": shorten,
        "_apply": apply,
        "_attrs": attrs_of,
        "_check": entry.check,
        "_device": device,
        "_from_values": entry.by_value and from_values(op, entry.by_value),
        "_instead": entry.instead,
        "_kernel": kernel(op),
        "_kernels": Kept(lambda values: kernel(op, attrs_of(values)), len(signature.defaults)),
        "_kinds": kinds,
        "_no_attrs": NO_ATTRS,
        "_op": op,
        "_ops": ops,
        "_rules": dtype_rules,
        "_some": _some,
        "_tuple": as_tuple,
        "_wrapped": _wrapped,
        "_wrapper": getattr(getattr(signatures, entry.returns, None), "_make", None),
        **{f"_default_{name}": default for name, default in signature.defaults.items()},
    }
    code = compile(source, f"<graphc op {entry.name}>", "exec", flags=_ANNOTATIONS, dont_inherit=True)
    exec(code, namespace)
    function: Callable[..., Any] = namespace[entry.function]
    function.__module__, function.__qualname__ = "graphc", entry.name  # where pickle finds it
    return function


def _fast_path(entry: Row, signature: Signature) -> str:
    """Returns the code of the fast path; empty if the form of the result or the device must be checked."""
    if entry.platforms:
        return ""
    several = entry.returns.startswith("tuple")
    if not (several or entry.returns == "Tensor"):
        return ""
    # A sequence argument may be an iterator that can be read only once; those from *arguments cannot.
    conditions = [
        *(f"_type({name}) in (list, tuple)" for name in signature.sequences),
        *(f"{name} is None" for name in signature.optional),
    ]
    key = "".join(f"{name}, " for name in signature.defaults) + "".join(
        f"{_kind(name, annotation)}, " for name, annotation in signature.annotations.items()
    )
    arrays = [
        f"*[{raw('_item')} for _item in {name[1:]}]" if name.startswith("*") else raw(name)
        for name in signature.tensors
    ]
    kernel_of = f"_kernels[{key}]" if signature.defaults else "_kernel"
    kernel = f"({_unless_default(signature, '_kernel', kernel_of)})"
    return fast_path(kernel, arrays, conditions=conditions, several=several)


def _unless_default(signature: Signature, default: str, otherwise: str) -> str:
    """Returns an expression that is ``default`` if each attribute has its default, or may have it."""
    if not signature.defaults or any(value is REQUIRED for value in signature.defaults.values()):
        return otherwise
    # By identity, which distinguishes 1 from True and 1.0; a given default is the same object, as small ints are.
    checks = " and ".join(
        f"{name} is {value}" if value is None or isinstance(value, bool) else f"{name} is _default_{name}"
        for name, value in signature.defaults.items()
    )
    return f"{default} if {checks} else {otherwise}"


def _kind(name: str, annotation: str) -> str:
    """Returns an expression that distinguishes an attribute's value from other values equal to it."""
    if name in DTYPES:
        return f"None if {name} is None else (_rules(), _type({name}))"
    return f"_type({name})" if annotation.removesuffix(" | None") in _PLAIN else f"_kinds({name})"


_PLAIN = ("bool", "int", "float", "str")


def _wrapped(outputs: Any) -> tuple[Tensor, ...]:
    return tuple([Tensor(array) for array in as_tuple(outputs)])


def _first_steps(entry: Row, signature: Signature, wrap: str) -> str:
    """Returns the code that runs before the op is applied."""
    steps = f"_check({', '.join(signature.words)})\n    " if entry.check else ""
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


def _some(outputs: Any) -> Any:
    return () if outputs is None else outputs


def as_tuple(outputs: Any) -> tuple[Any, ...]:
    """Returns the outputs as a plain tuple, also for a single output, or for none, given as None."""
    if outputs is None:
        return ()
    return tuple(cast("Sequence[Any]", outputs)) if isinstance(outputs, tuple | list) else (outputs,)
