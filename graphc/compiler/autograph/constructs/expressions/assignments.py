"""Stores into objects, and in-place operators: what Python does to things that outlive a loop's iteration."""

from __future__ import annotations

import functools
import operator
import types
from collections.abc import Callable
from functools import partial
from typing import Any, cast

import numpy as np

from graphc.compiler.autograph.constructs.branches.branch import itself
from graphc.compiler.autograph.constructs.branches.logic import if_exp
from graphc.compiler.autograph.constructs.calls.call import call
from graphc.compiler.autograph.constructs.exceptions.origins import in_python
from graphc.compiler.autograph.constructs.expressions.list_methods import place_in
from graphc.compiler.autograph.constructs.expressions.operators import BINARY, binary, load_item
from graphc.compiler.autograph.constructs.expressions.positions import checked_positions
from graphc.compiler.autograph.constructs.overrides import Functions
from graphc.compiler.autograph.constructs.purity.opaque import side_effect
from graphc.compiler.autograph.constructs.purity.reading import read_descriptor
from graphc.compiler.autograph.constructs.purity.watch import operator_method
from graphc.compiler.autograph.constructs.storage.cells import (
    AttributeCell,
    ContentsCell,
    ManagedAttributeCell,
    container_kind,
    is_managed_attribute,
    is_plain_attribute,
    object_text,
    write,
)
from graphc.compiler.autograph.constructs.storage.native_state import note_change
from graphc.compiler.autograph.values.choice import holds_symbols, note_store, over_choices, use
from graphc.compiler.autograph.values.kinds import found_on, is_users
from graphc.compiler.autograph.values.number import example_of
from graphc.compiler.autograph.values.protocol import answer
from graphc.compiler.base import Config, nest, with_article
from graphc.compiler.base.errors import InvalidArgumentError
from graphc.compiler.core import FUNCTIONS, ArrayMethods, SymbolicTensor, Tensor, operand, read
from graphc.compiler.tracing import MISSING, Region, context, current_trace

Native = Callable[..., Any]


def _either(condition: Any, first: Any, second: Any) -> Any:
    return if_exp(condition, partial(itself, first), partial(itself, second))


def store_chosen(owner: list[Any], index: SymbolicTensor, value: Any) -> None:
    """``owner[index] = value``."""
    position = place_in(len(owner), index, "list assignment index out of range")
    # Any of them may be the one, so that each becomes a choice.
    items = [_either(position == slot, value, item) for slot, item in enumerate(owner)]
    current_trace().writing(ContentsCell(owner, "the assignment to an item of a list"))
    list.__setitem__(owner, slice(None), items)


# ``x[mask] op= value`` with a mask that has no value, so that it is not known how many elements it chooses.
#
# Between the load and the store of such a statement the operators pass on a :class:`Chosen`: all elements, and which of
# them are meant.


def _operator(symbol: str) -> Callable[[Chosen, Any], Chosen]:
    def method(self: Chosen, value: Any) -> Chosen:
        return self.changed(symbol, value)

    return method


class Chosen:
    """The elements of a tensor that a mask over its first axes chooses."""

    __slots__ = ("_behind", "_mask", "_whole")

    def __init__(self, tensor: Tensor, mask: Tensor) -> None:
        self._whole = tensor.snapshot()
        self._behind = tensor.ndim - mask.ndim
        # The mask stands over the first axes, and broadcasting fills from the last.
        self._mask = mask.reshape((*mask.shape, *[1] * self._behind))

    def changed(self, symbol: str, value: Any) -> Chosen:
        """Returns the elements after ``chosen symbol= value``."""
        fitted = self._fitted(operand(value))
        choose = FUNCTIONS["where"]
        # What is not chosen is not computed on: the operator may have no finite gradient there.
        safe = choose(self._mask, self._whole, FUNCTIONS["ones_like"](self._whole))
        self._whole = binary(symbol, safe, fitted)
        return self

    def stored_in(self, owner: Any) -> Tensor:
        """Returns the tensor as it is after the store: the operand may have assigned items that are not chosen."""
        return FUNCTIONS["where"](self._mask, self._whole, operand(owner))

    def _fitted(self, value: Any) -> Any:
        """Returns a value that goes with any number of elements, as one that goes with the whole tensor."""
        shape: tuple[int, ...] = tuple(getattr(value, "shape", ()))
        if len(shape) <= self._behind:
            return value
        if len(shape) == self._behind + 1 and shape[:1] == (1,):
            return FUNCTIONS["reshape"](value, shape[1:])
        error = InvalidArgumentError(
            f"index of a tensor of shape {self._whole.shape}: a mask whose values are not known while the function is "
            f"traced, and values of shape {shape} that would have to fit how many elements it chooses; use "
            "gx.where(mask, values, x) with values for all elements"
        )
        raise current_trace().refuse(error)


def _define_operators() -> None:
    for symbol, (_, name, _) in BINARY.items():
        if symbol != "@":  # which is not done element by element
            setattr(Chosen, name, _operator(symbol))


_define_operators()


def load_part(owner: Any, index: Any) -> Any:
    """Returns the ``owner[index]`` that ``owner[index] op= value`` reads."""
    mask = index
    if isinstance(index, tuple) and len(parts := nest.as_tuple(index)) == 1:
        (mask,) = parts
    plain = context.trace is None or not isinstance(owner, ArrayMethods) or not isinstance(mask, SymbolicTensor)
    # load_item has the errors for a mask that does not fit.
    if plain or mask.dtype.kind != "b" or not mask.shape or mask.shape != owner.shape[: mask.ndim]:
        return load_item(owner, index)
    return Chosen(operand(owner), mask)


@over_choices(use)
def store_attr(owner: Any, name: str, value: Any) -> None:
    """``owner.name = value``; a property of the user's is a call."""
    owner = example_of(owner)  # a plain number, so that Python says what it says of `(1).x = 2`
    if context.trace is None:
        setattr(owner, name, value)
    elif is_plain_attribute(owner, name):
        write(AttributeCell(owner, name), value)
    elif (method := operator_method(owner, "__setattr__")) is not None:
        call(method)(owner, name, value)
    elif _is_item(owner, "__setattr__", "__setitem__"):
        store_item(owner, name, value)
    elif (setter := _method_for(owner, name, "fset", "__set__", "__setattr__")) is not None:
        setter(value)
    else:
        what = f"the assignment to attribute {name!r} of {object_text(owner)}"
        certain = isinstance(owner, Config)
        context.trace.side_effect(what, certain=certain)
        if isinstance(owner, np.ndarray):  # a.flat = 1, a.mask = True, a field of records
            note_change(owner, what)
        if not certain:
            context.trace.journal.note(ManagedAttributeCell(owner, name, what))
        if holds_symbols(value):
            note_store(owner, what)
        in_python(setattr, owner, name, value)


def _is_item(owner: Any, of_attribute: str, of_item: str) -> bool:
    """Returns True if a class treats attributes as items: ``__setattr__ = dict.__setitem__``."""
    method = found_on(cast("type[Any]", type(owner)), of_item)
    return method is not None and found_on(cast("type[Any]", type(owner)), of_attribute) is method


def _store_in_object(native: Callable[[Any, str, Any], None], owner: Any, name: str, value: Any) -> None:
    """``object.__setattr__``, with which frozen objects are given their attributes."""
    if context.trace is None or is_managed_attribute(owner, name) or isinstance(owner, type):
        side_effect(f"the assignment to attribute {name!r} of {object_text(owner)}")
        in_python(native, owner, name, value)
    else:
        write(AttributeCell(owner, name), value)


def _method_for(owner: Any, name: str, of_property: str, of_descriptor: str, hook: str) -> Any:
    """Returns the user's function of a property or descriptor that a store or deletion calls; None if there is none."""
    kind = cast("type[Any]", type(owner))
    descriptor = found_on(kind, name)
    # A __setattr__ or __delattr__ of the user's comes before the property.
    if descriptor is None or found_on(kind, hook) is not found_on(object, hook):
        return None
    if isinstance(descriptor, property):
        method = getattr(descriptor, of_property)
        if not (isinstance(method, types.FunctionType) and is_users(kind, method)):
            return None
        read_descriptor(kind, name, descriptor, of_property)
        return functools.partial(call(method), owner)
    if (method := operator_method(descriptor, of_descriptor)) is None:
        return None
    read_descriptor(kind, name, descriptor)
    return functools.partial(call(method), descriptor, owner)


@over_choices(use, use)
def store_item(owner: Any, index: Any, value: Any) -> None:
    """``owner[index] = value``; a method of the user's that does it is a call."""
    owner = example_of(owner)
    if (method := operator_method(owner, "__setitem__")) is not None:
        call(method)(owner, index, value)
        return
    if context.trace is not None and not isinstance(owner, ArrayMethods):  # a tensor tells the trace by itself
        what = f"the assignment to an item of {with_article(type(owner).__name__)}"
        if answer("__setitem__", owner, index, value) is not NotImplemented:
            return
        if _is_container(owner, "__setitem__"):
            context.trace.writing(ContentsCell(owner, what))
        else:
            note_change(owner, what)
            if holds_symbols(value):
                note_store(owner, what)
        index = read(index)
        if isinstance(index, SymbolicTensor):
            if isinstance(owner, list) and _is_container(owner, "__setitem__"):
                store_chosen(cast("list[Any]", owner), index, value)
                return
            index = in_python(operator.index, index)
    elif context.trace is not None:
        index = checked_positions(owner, index)
    if isinstance(value, Chosen):
        index, value = ..., value.stored_in(owner)  # load_part() gave all elements for the mask, so all are stored
    in_python(operator.setitem, owner, index, value)


def _is_container(owner: Any, method: str) -> bool:
    """Tells if the method is that of Python's own lists and dicts, which changes the contents and nothing else."""
    native = getattr(container_kind(owner), method, None)
    return isinstance(owner, list | dict) and found_on(cast("type[Any]", type(cast("Any", owner))), method) is native


def delete_attr(owner: Any, name: str) -> None:
    """``del owner.name``."""
    if context.trace is not None and (method := operator_method(owner, "__delattr__")) is not None:
        call(method)(owner, name)
        return
    cell, what = AttributeCell(owner, name), f"the deletion of attribute {name!r} of {object_text(owner)}"
    # Python has the error for an attribute that is not there.
    if _is_item(owner, "__delattr__", "__delitem__"):
        delete_item(owner, name)
        return
    if context.trace is None or not is_plain_attribute(owner, name) or cell.get() is MISSING:
        if context.trace is not None and (deleter := _method_for(owner, name, "fdel", "__delete__", "__delattr__")):
            deleter()
            return
        side_effect(what)
        if context.trace is not None:
            context.trace.journal.note(ManagedAttributeCell(owner, name, what))
        in_python(delattr, owner, name)
        return
    if isinstance(context.trace, Region) and cell.default() is not MISSING:
        # Behind the branch or iteration, what the class has stands for it, which could not be deleted once more.
        context.trace.side_effect(f"{what}, whose class has one too,")
    write(cell, MISSING)


def delete_item(owner: Any, index: Any) -> None:
    """``del owner[index]``; a method of the user's that does it is a call."""
    if (method := operator_method(owner, "__delitem__")) is not None:
        call(method)(owner, index)
        return
    what = f"the deletion of an item of {with_article(type(owner).__name__)}"
    if answer("__delitem__", owner, index) is not NotImplemented:
        return
    if context.trace is not None and _is_container(owner, "__delitem__"):
        context.trace.writing(ContentsCell(owner, what))
    else:
        note_change(owner, what)
    in_python(operator.delitem, owner, index)


_INPLACE: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    symbol: (getattr(operator, name), name)
    for symbol, (_, forward, _) in BINARY.items()
    for name in (forward.replace("__", "__i", 1),)
}
"""By an operator, the function of ``a += b``, and the method that Python asks."""


@over_choices(None, use)
def inplace(symbol: str, target: Any, value: Any) -> Any:
    """Returns the result of ``target symbol= value``; an object that changes in place (a list, an array) changes."""
    kind = cast("type[Any]", type(target))
    native, method = _INPLACE[symbol]
    if not hasattr(kind, method):  # a tuple, a number: `a += b` is `a = a + b`
        if context.trace is not None and isinstance(target, SymbolicTensor):
            context.trace.root.memory.change(target, symbol)
        return binary(symbol, target, value)
    if (users := operator_method(target, method)) is not None:
        result = call(users)(target, value)
        return binary(symbol, target, value) if result is NotImplemented else result
    if (result := answer(method, target, value)) is not NotImplemented:
        return result
    what = f"the in-place operator {symbol}= on {with_article(kind.__name__)}"
    if context.trace is not None and _is_container(target, method):
        context.trace.writing(ContentsCell(target, what))
    else:
        note_change(target, what)
    return in_python(native, target, value)


def _setattr(native: Any, owner: Any, name: str, value: Any, /) -> None:
    del native
    store_attr(owner, name, value)


def _asarray(native: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
    result = native(x, *args, **kwargs)
    if result is x and context.trace is not None and isinstance(x, SymbolicTensor):
        root = context.trace.root
        if root.memory.separate(x, root.reads):
            return FUNCTIONS["identity"](x)
    return result


def _delattr(native: Any, owner: Any, name: str, /) -> None:
    del native
    delete_attr(owner, name)


OVERRIDES: Functions = {
    object.__setattr__: _store_in_object,
    setattr: _setattr,
    delattr: _delattr,
    FUNCTIONS["asarray"]: _asarray,
}
