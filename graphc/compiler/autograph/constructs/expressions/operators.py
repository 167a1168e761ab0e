"""Python's own operators on objects of the user's: ``a + b``, ``-a`` and ``obj[i]``.

Tensors, numbers and what else answers without code of the user's goes the short way to Python. A special method of the
user's is called as any function of theirs is: converted and watched, in the order in which Python would ask for it.
"""

from __future__ import annotations

import operator
import types
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any, cast

from graphc.compiler.autograph.constructs.calls.call import call
from graphc.compiler.autograph.constructs.exceptions.origins import in_python
from graphc.compiler.autograph.constructs.expressions.list_methods import begin_growing, choose_item
from graphc.compiler.autograph.constructs.expressions.positions import checked_positions
from graphc.compiler.autograph.constructs.expressions.text import percent
from graphc.compiler.autograph.constructs.purity.natives import check_index, check_methods, check_printed
from graphc.compiler.autograph.constructs.purity.opaque import check_read
from graphc.compiler.autograph.constructs.purity.reading import read_attribute, read_namespace
from graphc.compiler.autograph.constructs.purity.unconverted import operated
from graphc.compiler.autograph.constructs.purity.watch import (
    INDEXED,
    asks_for_item,
    class_item_method,
    known_item,
    made,
    operator_method,
)
from graphc.compiler.autograph.constructs.storage.cells import ContentsCell
from graphc.compiler.autograph.values.choice import ask, over_choices
from graphc.compiler.autograph.values.growing_list import GROWS, item_by_trip
from graphc.compiler.autograph.values.kinds import PLAIN, found_on
from graphc.compiler.autograph.values.number import example_of
from graphc.compiler.autograph.values.protocol import answer, look_into
from graphc.compiler.base import with_article
from graphc.compiler.core import SymbolicTensor, read
from graphc.compiler.tracing import context

Native = Callable[[Any, Any], Any]
Method = types.FunctionType | None

BINARY: dict[str, tuple[Native, str, str]] = {
    symbol: (getattr(operator, f"__{name}__"), f"__{name}__", f"__r{name}__")
    for symbol, name in {
        "+": "add",
        "-": "sub",
        "*": "mul",
        "/": "truediv",
        "//": "floordiv",
        "%": "mod",
        "@": "matmul",
        "**": "pow",
        "<<": "lshift",
        ">>": "rshift",
        "&": "and",
        "|": "or",
        "^": "xor",
    }.items()
}
"""By an operator, its function, and the methods of its left and its right operand that Python asks."""

_UNARY: dict[str, tuple[Callable[[Any], Any], str]] = {
    "-": (operator.neg, "__neg__"),
    "+": (operator.pos, "__pos__"),
    "~": (operator.invert, "__invert__"),
}


@over_choices(None, ask, ask)
def binary(symbol: str, left: Any, right: Any) -> Any:
    """``left symbol right``."""
    native, forward, reflected = BINARY[symbol]
    if symbol == "%" and isinstance(left, str | bytes):
        if isinstance(left, str):
            return percent(left, right)
        check_printed(right)
    if (result := answer(forward, left, right)) is not NotImplemented:
        return result
    look_into(right)
    if context.trace is None or (type(left) in PLAIN and type(right) in PLAIN):
        result = in_python(native, left, right)
        return made(result) if type(result) is list else result  # `[0] * n` in a branch: the branch may change it
    kinds = cast("tuple[type[Any], type[Any]]", (type(left), type(right)))
    mine = operator_method(left, forward)
    theirs = None if kinds[0] is kinds[1] else operator_method(right, reflected)  # Python asks one class once
    if mine is None and theirs is None:
        if symbol == "*":  # a sequence is repeated
            check_methods((left, right), INDEXED)
        operated(left)
        operated(right)
        return in_python(native, left, right)
    # As Python: only a subclass that overrides the method comes first.
    theirs_first = issubclass(kinds[1], kinds[0]) and found_on(kinds[0], reflected) is not theirs
    # A sequence concatenates and repeats only after the other operand was asked.
    sequence = symbol in ("+", "*") and issubclass(kinds[0], Sequence)
    result = answers((left, right), (mine, theirs), theirs_first, "" if sequence else forward)
    return in_python(native, left, right) if result is NotImplemented else result


def answers(operands: tuple[Any, Any], methods: tuple[Method, Method], theirs_first: bool, forward: str) -> Any:
    """Gives what two operands answer, one at least with a method of the user's; NotImplemented if neither does."""
    left, right = operands
    mine, theirs = methods
    result: Any = NotImplemented
    if theirs is not None and theirs_first:
        result, theirs = call(theirs)(right, left), None
    if result is NotImplemented:
        if mine is not None:
            result = call(mine)(left, right)
        elif found_on(cast("type[Any]", type(left)), forward) is not None:  # not the user's
            result = getattr(left, forward)(right)
    if result is NotImplemented and theirs is not None:
        result = call(theirs)(right, left)
    return result


@over_choices(None, ask)
def unary(symbol: str, operand: Any) -> Any:
    """``symbol operand``."""
    native, name = _UNARY[symbol]
    method = operator_method(operand, name)
    return in_python(native, operand) if method is None else call(method)(operand)


@over_choices(ask, ask)
def load_item(owner: Any, index: Any, *, by_item: bool = False) -> Any:
    """``owner[index]``; ``by_item`` says that this is about to be asked for items, and for nothing else."""
    trace = context.trace
    if trace is None:
        return owner[index]
    if asks_for_item(owner, index):
        return known_item(owner, index, by_item=by_item)
    if (method := class_item_method(owner)) is not None:
        read_attribute(owner, "__class_getitem__", method)
        return call(method)(index)
    if (item := answer("__getitem__", owner, index)) is not NotImplemented:
        return item
    index, owner = read(index), example_of(owner)
    if (item := item_by_trip(owner, index)) is GROWS:
        begin_growing(owner)
        return answer("__getitem__", owner, index)
    if item is not NotImplemented:
        return item
    if isinstance(index, SymbolicTensor) and type(owner) in (list, tuple):  # in a subclass __getitem__ may do anything
        return choose_item(owner, index)
    if type(owner) in PLAIN:
        check_index(index)
        index = checked_positions(owner, index)
        read_namespace(owner, index)
        return in_python(operator.getitem, owner, index)
    method = operator_method(owner, "__getitem__")
    if method is not None:
        return call(method)(owner, index)
    check_index(index)
    index = checked_positions(owner, index)
    check_read(owner)
    read_namespace(owner, index)
    kind = cast("type[Any]", type(owner))
    # dict.__contains__: Python does not ask one of the user's here.
    if found_on(kind, "__missing__") is not None and issubclass(kind, dict) and not dict.__contains__(owner, index):
        default = operator_method(owner, "__missing__")
        if default is not None:
            return call(default)(owner, index)
        what = f"the insertion of a default into {with_article(kind.__name__)}"
        trace.side_effect(what)
        if isinstance(owner, defaultdict):
            table = cast("defaultdict[Any, Any]", owner)
            if table.default_factory is not None:
                value = call(table.default_factory)()  # __missing__ in C would call it unconverted
                trace.writing(ContentsCell(table, what))
                in_python(operator.setitem, table, index, value)
                return value
    return in_python(operator.getitem, owner, index)
