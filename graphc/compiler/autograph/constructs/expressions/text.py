"""Text made of tensors: f-strings, ``str``, ``repr``, ``format``, ``+`` and ``join``; not ``%`` and ``str.format``.

While a function is traced a tensor has no value to show, so such a text is a :class:`SymbolicText`, which says how it
will be made. It may be printed, raised, put into another text and returned; all else that a string can do needs its
letters, and is refused.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import prod
from types import FunctionType
from typing import Any, ClassVar, NoReturn, cast

from graphc.compiler.autograph.constructs.calls.call import call
from graphc.compiler.autograph.constructs.exceptions.origins import in_python
from graphc.compiler.autograph.constructs.overrides import Functions
from graphc.compiler.autograph.constructs.purity.natives import (
    check_arguments,
    check_items,
    check_methods,
    check_printed,
)
from graphc.compiler.autograph.constructs.purity.unconverted import asked
from graphc.compiler.autograph.constructs.purity.watch import FORMATTED, check_iterator, operator_method
from graphc.compiler.autograph.constructs.storage.native_state import note_identity
from graphc.compiler.autograph.values.choice import ask, is_simple
from graphc.compiler.autograph.values.deferred import Deferred, is_deferred, rebuilt, snapshot, value_of
from graphc.compiler.autograph.values.kinds import check_shown, first_on, found_on
from graphc.compiler.autograph.values.number import SymbolicNumber, any_joined, kind_of
from graphc.compiler.autograph.values.protocol import alternatives, look_into, refuses, symbol_of
from graphc.compiler.base import is_installed_file, nest, with_article
from graphc.compiler.base.errors import ConcretizationError, UnimplementedError
from graphc.compiler.core import SymbolicTensor, Tensor, Variable
from graphc.compiler.tracing import context, current_trace

Native = Callable[..., Any]


def _escape(text: str) -> str:
    """Returns what ``ascii`` makes of the ``repr`` of an object."""
    return text.encode("ascii", "backslashreplace").decode("ascii")


_MAKERS: dict[str, Callable[..., str]] = {
    "str": str,
    "repr": repr,
    "ascii": ascii,
    "format": format,
    "join": str.join,
    "escape": _escape,
    "+": operator.add,
    "*": operator.mul,
}
_AS_FLOAT = ("e", "E", "f", "F", "g", "G", "%")
"""The formats in which an int looks like the float of the same value."""
_CONVERSIONS = {"s": "str", "r": "repr", "a": "ascii"}
_MOST_JOINED = 16  # four choices of two, as their numbers multiply
"""``join`` gives a choice of at most this many known strings; more become a Text."""
_ASKED = {"str": ("__str__", "__repr__"), "repr": ("__repr__",), "ascii": ("__repr__",)}
_AS_STR = tuple(kind.__format__ for kind in (object, int, float, complex, str))
"""The methods of Python's that show by ``str`` what is to be formatted in no special way; NumPy's, for one, do not."""


@refuses(
    {
        "__bool__": "a condition",
        "__contains__": "`in`",
        "__format__": "format() outside converted code",
        "__getitem__": "indexing",
        "__hash__": "a key of a dict or set",
        "__iter__": "iteration",
        "__len__": "len()",
        "__str__": "str() outside converted code",
        **dict.fromkeys(("__eq__", "__ge__", "__gt__", "__le__", "__lt__", "__ne__"), "a comparison"),
    }
)
@dataclass(frozen=True, eq=False, repr=False)
class SymbolicText(Deferred):
    """A string that is known at run time only."""

    maker: Any  # a key of _MAKERS
    parts: Any

    __graphc_text__: ClassVar[bool] = True

    @property
    def __class__(self) -> type[Any]:  # pyright: ignore[reportIncompatibleMethodOverride]
        """To ``isinstance`` it is what it will be."""
        return str

    def as_text(self, maker: str) -> Any:
        """Returns the text itself for ``str``."""
        return self if maker == "str" else NotImplemented

    def make(self) -> str:
        """Returns the string."""
        return _MAKERS[self.maker](*self.parts)

    def refuse(self, use: str) -> NoReturn:
        """Refuses a use that needs the letters."""
        error = ConcretizationError(
            f"{use} needs the letters of a text that is made of tensors, which have no values while the function is "
            "traced; such a text can be printed, raised, put into another text, passed to gx.pyfunc, or returned"
        )
        raise error if context.trace is None else context.trace.refuse(error)

    def __add__(self, other: Any) -> SymbolicText:
        return _text("+", self, other) if isinstance(other, str) else NotImplemented

    def __radd__(self, other: Any) -> SymbolicText:
        return _text("+", other, self) if isinstance(other, str) else NotImplemented

    def __mul__(self, other: Any) -> SymbolicText:
        return _text("*", self, other) if isinstance(other, int) else NotImplemented

    __rmul__ = __mul__

    def __mod__(self, other: Any) -> NoReturn:
        self.refuse("`%`")

    def __repr__(self) -> str:
        return "<a text that is known at run time only>"

    def __getattr__(self, name: str) -> NoReturn:
        # hasattr(text, '__array__') and its like expect an AttributeError, and no refusal.
        if name.startswith("__") or not hasattr(str, name):
            raise AttributeError(f"'str' object has no attribute {name!r}")
        self.refuse(f".{name}")


@dataclass(frozen=True, eq=False)
class _Shown(Deferred):
    """An object of the user's inside a text: what its ``__repr__`` says, not the object, which may hold tensors."""

    text: Any

    def make(self) -> Any:
        return _Looks(self.text)


class _Looks:
    """Looks like another object when it is printed."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def _text(maker: str, *parts: Any) -> SymbolicText:
    return SymbolicText(maker, tuple(map(snapshot, parts)))  # a list or Variable in it may change before it is made


def _method(value: Any, maker: str) -> FunctionType | None:
    """Returns the method of the user's that says how a value looks; what a structure of a library's says is known."""
    method = operator_method(value, *_ASKED[maker])
    installed = (
        method is not None and is_installed_file(method.__code__.co_filename) and nest.children(value) is not None
    )
    return None if installed else method


def _said(method: FunctionType, value: Any, name: str, *args: Any) -> Any:
    """Returns the text that a special method of the user's gives."""
    result = call(method)(value, *args)
    if not isinstance(result, str) and symbol_of(result) is None:
        kind = type(result).__name__
        raise TypeError(f"{name} {f'must return a str, not {kind}' if args else f'returned non-string (type {kind})'}")
    return result


def _shown(value: Any, maker: str = "repr") -> Any:
    """Returns the value as a part of a text that shows it by ``str`` or ``repr``, and what is inside by ``repr``."""
    look_into(value)
    check_shown(value, "a text", as_text=maker == "str")
    if type(value) is str or symbol_of(value) is not None:
        return value
    if _method(value, maker) is not None:
        return text_of("str", value) if maker == "str" else _Shown(text_of("repr", value))
    # `<Point object at 0x7f...>` holds an address, which differs from run to run.
    if first_on(cast("type[Any]", type(value)), _ASKED[maker])[1] is object.__repr__:
        note_identity(value, f"the text of {with_article(type(value).__name__)}, which has no __repr__ of its own,")
    parts = nest.children(value)
    # str([x]) shows x by repr, as Python does.
    return rebuilt(value, _shown) if parts is not None and parts[1] else value


def text_of(maker: str, value: Any) -> Any:
    """Returns what ``str``, ``repr`` or ``ascii`` makes of a value: a string, or a Text."""
    if context.trace is None:
        return _MAKERS[maker](value)
    symbol = symbol_of(value)
    if symbol is not None and (shown := symbol.as_text(maker)) is not NotImplemented:
        return shown
    method = _method(value, maker)
    if method is not None:
        result = _said(method, value, first_on(cast("type[Any]", type(value)), _ASKED[maker])[0])
        return result if maker != "ascii" else _text("escape", result) if is_deferred(result) else _escape(result)
    asked(value, _ASKED[maker])
    shown = _shown(value, "str" if maker == "str" else "repr")
    return _text(maker, shown) if is_deferred(shown) else _of_python(_MAKERS[maker], value_of(shown))


_UNKNOWN = ("<symbolic Tensor", "<loop index from", "<one of several values", "<a text that is known", "<unbound name")
"""How what has no value yet shows itself to Python."""


def _of_python(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Returns a text that Python makes by itself; an object that graphc does not take apart may show a tensor in it."""
    text = in_python(function, *args, **kwargs)
    if any(mark in text for mark in _UNKNOWN):
        error = UnimplementedError(
            f"the text of {with_article(type(args[0]).__name__)} shows a tensor inside it, which has no value while "
            "the function is traced; show the tensor by itself, in an f-string, or keep it in a list, a dict or a "
            "dataclass"
        )
        raise error if context.trace is None else context.trace.refuse(error)
    return text


def _format(value: Any, spec: Any) -> Any:
    if alternatives(value) is not None and not all(map(is_simple, value.options)):
        return ask(value, lambda one: _format(one, spec))  # each may have a __format__
    method = operator_method(value, "__format__")
    if method is not None:
        return _said(method, value, "__format__", spec)
    late = is_deferred(value) and (isinstance(value, Tensor | Variable) or symbol_of(value) is not None)
    formatter = found_on(cast("type[Any]", type(value)), "__format__")
    as_str = formatter in _AS_STR and isinstance(value, formatter.__objclass__)
    if type(spec) is str and not spec and (late or as_str):
        if not isinstance(value, SymbolicTensor) or kind_of(value) is not None:
            return text_of("str", value)
        check_shown(value, "a text", as_text=True)
        return _text("format", value, spec)
    number = isinstance(value, SymbolicTensor) and kind_of(value) is not None
    # The text is the same, so it need not be known whether it is an int or a float.
    if number and type(spec) is str and spec[-1:] in _AS_FLOAT:
        value = SymbolicNumber(cast("SymbolicTensor", value), float, joined=any_joined((value,)))
    if late or is_deferred(spec):
        check_shown(value, "a text", as_text=True)
        if type(spec) is str and isinstance(value, SymbolicTensor) and not value.shape:
            in_python(format, (kind_of(value) or value.dtype.type)(1), spec)  # raises if there is no such format
        return _text("format", value, spec)
    check_methods(value, FORMATTED)
    return _of_python(format, value, spec)


def formatted(value: Any, conversion: str, spec: Any) -> Any:
    """Returns ``{value!conversion:spec}``; ``conversion`` is a letter or empty, ``spec`` a string or a Text."""
    if context.trace is None:
        return format(_MAKERS[_CONVERSIONS[conversion]](value) if conversion else value, spec)
    return _format(text_of(_CONVERSIONS[conversion], value) if conversion else value, spec)


def joined(*parts: Any) -> Any:
    """Returns an f-string: its strings and formatted values together."""
    return _text("join", "", parts) if is_deferred(parts) else "".join(parts)


def percent(template: str, values: Any) -> Any:
    """``template % values``."""
    if context.trace is not None:
        _refuse_late("`%`", template, values)
        check_printed(values)
    return _of_python(operator.mod, template, values)


def _refuse_late(what: str, *values: Any) -> None:
    """Refuses a way of making texts that is compiled for Python values only."""
    if is_deferred(values):
        error = UnimplementedError(
            f"{what} makes a text of what depends on tensors, which has no value while the function is traced; write "
            "an f-string"
        )
        raise current_trace().refuse(error)


def _one_value(maker: str) -> Callable[..., Any]:
    def replaced(native: Native, *args: Any, **kwargs: Any) -> Any:
        return text_of(maker, args[0]) if len(args) == 1 and not kwargs else native(*args, **kwargs)

    return replaced


def _format_function(native: Native, *args: Any) -> Any:
    return _format(args[0], args[1] if len(args) == 2 else "") if len(args) in (1, 2) else native(*args)


def _native_format(method: Any) -> Callable[..., Any]:
    def replaced(native: Native, template: Any, *args: Any, **kwargs: Any) -> Any:
        del native
        _refuse_late(f"str.{method.__name__}()", template, args, kwargs)
        function = getattr(template, method.__name__)
        check_arguments(function, args, kwargs)
        return _of_python(function, *args, **kwargs)

    return replaced


def _join(native: Native, separator: str, items: Iterable[Any]) -> Any:
    check_iterator(items)
    check_items(items)
    texts = in_python(list, items)  # an iterator gives its items once
    if not is_deferred(texts):
        return native(texts)
    chosen = {position: item for position, item in enumerate(texts) if alternatives(item) is not None}
    joinable = all(position in chosen or type(item) is str for position, item in enumerate(texts))
    if chosen and joinable and prod(len(item.options) for item in chosen.values()) <= _MOST_JOINED:
        position, either = chosen.popitem()
        return ask(either, lambda item: _join(native, separator, [*texts[:position], item, *texts[position + 1 :]]))
    for position, item in enumerate(texts):
        if not isinstance(item, str) and position not in chosen:
            # Now, in Python's words: no value of a tensor makes it a str.
            raise TypeError(f"sequence item {position}: expected str instance, {type(item).__name__} found")
    return _text("join", separator, texts)


OVERRIDES: Functions = {
    **{function: _one_value(function.__name__) for function in (str, repr, ascii)},
    format: _format_function,
    str.format: _native_format(str.format),
    str.format_map: _native_format(str.format_map),
    str.join: _join,
}
