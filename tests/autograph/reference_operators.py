"""What each operator means in plain Python, without tensors: converted code over these behaves as the user wrote it."""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Callable, Iterable
from typing import Any

from graphc.base import errors

Thunk = Callable[[], Any]
State = tuple[Any, ...]

_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "is": operator.is_,
    "is not": operator.is_not,
    "in": lambda a, b: a in b,
    "not in": lambda a, b: a not in b,
}
_NAMES = {
    "+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "@": "matmul", "**": "pow",
    "<<": "lshift", ">>": "rshift", "&": "and", "|": "or", "^": "xor",
}  # fmt: skip
_BINARY = {symbol: getattr(operator, f"__{name}__") for symbol, name in _NAMES.items()}
_INPLACE = {symbol: getattr(operator, f"__i{name}__") for symbol, name in _NAMES.items()}
_UNARY = {"-": operator.neg, "+": operator.pos, "~": operator.invert}


class Undefined:
    def __init__(self, name: str) -> None:
        self.name = name


class Plain:
    """The operators, run by Python."""

    Undefined = Undefined

    def undefined(self, name: str) -> Undefined:
        return Undefined(name)

    def undefined_return(self) -> Undefined:
        return Undefined("")

    def return_value(self, value: object) -> object:
        return None if isinstance(value, Undefined) else value

    def load(self, value: object) -> object:
        if isinstance(value, Undefined):
            raise errors.UndefinedNameError(value.name)
        return value

    def if_stmt(
        self,
        test: object,
        body: Callable[[], None],
        orelse: Callable[[], None],
        get_state: Callable[[], State],
        set_state: Callable[[State], None],
        names: tuple[str, ...],
    ) -> None:
        assert len(get_state()) == len(names)
        if test:
            body()
        else:
            orelse()

    def while_stmt(
        self,
        test: Thunk,
        body: Callable[[], None],
        get_state: Callable[[], State],
        set_state: Callable[[State], None],
        names: tuple[str, ...],
    ) -> None:
        assert len(get_state()) == len(names)
        while test():
            body()

    def for_stmt(
        self,
        items: Iterable[object],
        keep_going: Thunk | None,
        body: Callable[[Any], None],
        get_state: Callable[[], State],
        set_state: Callable[[State], None],
        names: tuple[str, ...],
    ) -> None:
        assert len(get_state()) == len(names)
        for item in items:
            body(item)
            # Python does not ask the iterator again after a break.
            if keep_going is not None and not keep_going():
                break

    def if_exp(self, test: object, body: Thunk, orelse: Thunk) -> object:
        return body() if test else orelse()

    def and_(self, *operands: Thunk) -> object:
        value: object = True
        for operand in operands:
            value = operand()
            if not value:
                break
        return value

    def or_(self, *operands: Thunk) -> object:
        value: object = False
        for operand in operands:
            value = operand()
            if value:
                break
        return value

    def not_(self, value: object) -> bool:
        return not value

    def compare_chain(self, left: object, symbols: tuple[str, ...], operands: tuple[Thunk, ...]) -> object:
        value: object = True
        for symbol, operand in zip(symbols, operands, strict=True):
            right = operand()
            value = _COMPARISONS[symbol](left, right)
            if not value:
                break
            left = right
        return value

    def compare(self, symbol: str, left: object, right: object) -> object:
        return _COMPARISONS[symbol](left, right)

    def binary(self, symbol: str, left: object, right: object) -> object:
        return _BINARY[symbol](left, right)

    def unary(self, symbol: str, operand: Any) -> object:
        return _UNARY[symbol](operand)

    def manager(self, value: object) -> object:
        return value

    def load_item(self, holder: Any, index: object) -> object:
        return holder[index]

    def items(self, value: object) -> object:
        return value

    rows = spread = mapping = formatted = hashed = items

    def contains(self, item: object, container: Any) -> bool:
        return item in container

    def call(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return function

    def call_method(self, receiver: object, name: str) -> Callable[..., Any]:
        return getattr(receiver, name)

    def load_attr(self, holder: object, name: str) -> object:
        return getattr(holder, name)

    def store_attr(self, holder: object, name: str, value: object) -> None:
        setattr(holder, name, value)

    def delete_attr(self, holder: object, name: str) -> None:
        delattr(holder, name)

    def store_item(self, holder: Any, index: object, value: object) -> None:
        holder[index] = value

    def delete_item(self, holder: Any, index: object) -> None:
        del holder[index]

    def inplace(self, symbol: str, left: object, right: object) -> object:
        return _INPLACE[symbol](left, right)

    def assert_stmt(self, test: object, message: Thunk | None) -> None:
        if not test:
            raise AssertionError(*([] if message is None else [message()]))

    def raise_stmt(self, error: Thunk, cause: Thunk | None) -> None:
        if cause is None:
            raise error()
        raise error() from cause()


class Both(Plain):
    """As a tracer does: runs both branches, each from the same state, and runs a loop's body once in vain.

    Code that changes nothing but its own variables must not notice. It does when a name is missing from the state.
    """

    def _in_vain(self, piece: Thunk, get_state: Callable[[], State], set_state: Callable[[State], None]) -> None:
        before = get_state()
        with contextlib.suppress(Exception):  # such as a division by zero, against which the program guards
            piece()
        set_state(before)

    def if_stmt(self, test, body, orelse, get_state, set_state, names) -> None:  # noqa: ANN001
        wrong, right = (orelse, body) if test else (body, orelse)
        self._in_vain(wrong, get_state, set_state)
        right()
        set_state(get_state())

    def while_stmt(self, test, body, get_state, set_state, names) -> None:  # noqa: ANN001
        while test():
            self._in_vain(body, get_state, set_state)
            body()
            set_state(get_state())

    def for_stmt(self, items, keep_going, body, get_state, set_state, names) -> None:  # noqa: ANN001
        for item in items:
            self._in_vain(lambda item=item: body(item), get_state, set_state)
            body(item)
            set_state(get_state())
            if keep_going is not None and not keep_going():
                break


plain = Plain()
both = Both()
