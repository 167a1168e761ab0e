"""What each operator means in plain Python, without tensors: converted code over these behaves as the user wrote it."""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from graphc.compiler.autograph import operators
from graphc.compiler.base import errors

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


class Unbound:
    def __init__(self, name: str) -> None:
        self.name = name


class PoisonRead(BaseException):
    """Somebody used a value that nobody was to read."""


class Poison:
    """What a name holds that nobody reads any more."""


def _fail(self: Poison, *args: object) -> None:
    raise PoisonRead


for _name in [*_BINARY.values(), *_UNARY.values(), *_COMPARISONS.values()]:
    setattr(Poison, f"__{_name.__name__.strip('_')}__", _fail)
    setattr(Poison, f"__r{_name.__name__.strip('_')}__", _fail)
for _name in ("bool", "repr", "iter", "getitem", "call", "len", "hash", "index", "format"):
    setattr(Poison, f"__{_name}__", _fail)


class Plain:
    """The operators, run by Python."""

    Unbound = Unbound

    def unbound(self, name: str, certain: bool = False) -> Unbound:
        return Unbound(name)

    def unbound_return(self) -> Unbound:
        return Unbound("")

    def return_value(self, value: object) -> object:
        return None if isinstance(value, Unbound) else value

    def importing(self, module: str, level: int) -> None:
        """Nothing is told of imports."""

    def imported(self, module: str, level: int, names: tuple[str, ...]) -> None:
        del module, level, names

    def evaluated(self, text: object) -> object:
        return text

    def defining_class(self, name: str) -> None:
        pass

    def defined_class(self, kind: type) -> None:
        assert isinstance(kind, type)

    def load(self, value: object) -> object:
        if isinstance(value, Unbound):
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
        unread: dict[str, tuple[str, ...]] | None = None,
    ) -> None:
        assert len(get_state()) == len(names)
        if test:
            body()
        else:
            orelse()
        self._poison(bool(test), get_state, set_state, names, unread or {})

    def _poison(
        self,
        test: bool,
        get_state: Callable[[], State],
        set_state: Callable[[State], None],
        names: tuple[str, ...],
        unread: dict[str, tuple[str, ...]],
    ) -> None:
        for flag, lost in unread.items():
            if get_state()[names.index(flag)] is True if flag else not test:
                set_state(tuple(Poison() if n in lost else v for n, v in zip(names, get_state(), strict=True)))

    def while_stmt(
        self,
        test: Thunk,
        body: Callable[[], None],
        get_state: Callable[[], State],
        set_state: Callable[[State], None],
        names: tuple[str, ...],
        stored: Callable[[], tuple[Any, ...]] = tuple,
    ) -> None:
        del stored
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
        stored: Callable[[], tuple[Any, ...]] = tuple,
    ) -> None:
        del stored
        assert len(get_state()) == len(names)
        for item in items:
            body(item)
            # Python does not ask the iterator again after a break.
            if keep_going is not None and not keep_going():
                break

    def if_exp(self, test: object, body: Thunk, orelse: Thunk) -> object:
        return body() if test else orelse()

    def asked(self, value: object) -> object:
        return value

    def known_truth(self, value: object) -> bool:
        return bool(value)

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

    def is_(self, left: object, right: object) -> bool:
        return left is right

    def is_not(self, left: object, right: object) -> bool:
        return left is not right

    def binary(self, symbol: str, left: object, right: object) -> object:
        return _BINARY[symbol](left, right)

    def unary(self, symbol: str, operand: Any) -> object:
        return _UNARY[symbol](operand)

    def manager(self, value: object) -> object:
        return value

    def load_item(self, holder: Any, index: object, *, by_item: bool = False) -> object:
        return holder[index]

    load_part = load_item

    def items(self, value: object) -> object:
        return value

    rows = spread = mapping = hashed = made = items

    def formatted(self, value: object, conversion: str, spec: str) -> str:
        return format({"": lambda part: part, "s": str, "r": repr, "a": ascii}[conversion](value), spec)

    def joined(self, *parts: str) -> str:
        return "".join(parts)

    def before_try(self) -> None:
        return None

    def TryScope(self, *scope: object) -> contextlib.AbstractContextManager[None]:  # noqa: N802  the class of that name
        return contextlib.nullcontext()

    in_finally = TryScope

    def passing(self) -> tuple[type[BaseException], ...]:
        return ()

    def failed(self, scope: object) -> bool:
        return False

    failed_still = failed

    # Outside a trace the operators that look into a subject are plain Python.
    matched, match_sequence = map(staticmethod, (operators.matched, operators.match_sequence))

    def condition(self, value: object) -> bool:
        return bool(value)

    def clause(self, *parts: Any) -> tuple[Any, ...]:
        return parts

    def generator(self, items: Iterable[object], step: Callable[[object], Any], simple: bool) -> Iterator[object]:
        return self._items(iter(items), step)

    def listed(self, items: Iterable[object], step: Callable[[object], Any], simple: bool) -> list[object]:
        return list(self._items(iter(items), step))

    def _items(self, items: Iterator[object], step: Callable[[object], Any]) -> Iterator[object]:
        for item in items:
            conditions, then, nested = step(item)
            if all(condition() for condition in conditions):
                yield from then() if nested else (then(),)

    def contains(self, item: object, container: Any) -> bool:
        return item in container

    def call(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return function

    def call_method(self, receiver: object, name: str) -> Callable[..., Any]:
        return getattr(receiver, name)

    def load_attr(self, holder: object, name: str, *, by_item: bool = False) -> object:
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

    _runs_in_vain = False

    def _in_vain(self, piece: Thunk, get_state: Callable[[], State], set_state: Callable[[State], None]) -> None:
        before, outer = get_state(), self._runs_in_vain
        self._runs_in_vain = True
        with contextlib.suppress(Exception, PoisonRead):  # such as a division by zero, against which the program guards
            piece()
        self._runs_in_vain = outer
        set_state(before)

    def inplace(self, symbol: str, left: object, right: object) -> object:
        if self._runs_in_vain and isinstance(left, list):  # which a tracer would refuse to change
            left = left.copy()
        return super().inplace(symbol, left, right)

    def if_stmt(self, test, body, orelse, get_state, set_state, names, unread=None) -> None:  # noqa: ANN001
        wrong, right = (orelse, body) if test else (body, orelse)
        self._in_vain(wrong, get_state, set_state)
        right()
        set_state(get_state())
        self._poison(bool(test), get_state, set_state, names, unread or {})

    def while_stmt(self, test, body, get_state, set_state, names, stored=tuple) -> None:  # noqa: ANN001
        while test():
            self._in_vain(body, get_state, set_state)
            body()
            set_state(get_state())

    def for_stmt(self, items, keep_going, body, get_state, set_state, names, stored=tuple) -> None:  # noqa: ANN001
        for item in items:
            self._in_vain(lambda item=item: body(item), get_state, set_state)
            body(item)
            set_state(get_state())
            if keep_going is not None and not keep_going():
                break


plain = Plain()
both = Both()
