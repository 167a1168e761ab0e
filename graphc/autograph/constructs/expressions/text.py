"""Text made of tensors: f-strings, ``str``, ``repr``, ``format``, ``%``, ``+`` and ``join``.

While a function is traced a tensor has no value to show, so such a text is a :class:`Text`, which says how it will be
made. It may be printed, raised, put into another text and returned; all else that a string can do needs its letters,
and is refused.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import prod
from types import FunctionType
from typing import Any, NoReturn

from graphc.autograph.constructs.calls.call import call
from graphc.autograph.constructs.exceptions.origins import in_python
from graphc.autograph.constructs.expressions.printf import with_numbers
from graphc.autograph.constructs.overrides import Functions
from graphc.autograph.constructs.purity.natives import check_items, check_methods, check_printed
from graphc.autograph.constructs.purity.unconverted import asked
from graphc.autograph.constructs.purity.watch import check_iterator, operator_method
from graphc.autograph.constructs.storage.native_state import note_identity
from graphc.autograph.values.choice import ask
from graphc.autograph.values.deferred import Deferred, is_deferred, rebuilt, snapshot, value_of
from graphc.autograph.values.kinds import check_shown
from graphc.autograph.values.number import SymbolicNumber, any_joined, kind_of
from graphc.autograph.values.protocol import alternatives, look_into, refuses, symbol_of
from graphc.base import is_installed_file, nest, with_article
from graphc.base.errors import ConcretizationError, UnimplementedError
from graphc.core import SymbolicTensor
from graphc.tracing import context

__all__ = ["OVERRIDES", "Text", "formatted", "joined", "percent", "text_of"]

Native = Callable[..., Any]


def _fill(template: str, args: Sequence[Any], kwargs: dict[str, Any]) -> str:
    return template.format(*args, **kwargs)


_MAKERS: dict[str, Callable[..., str]] = {
    "str": str,
    "repr": repr,
    "ascii": ascii,
    "format": format,
    "join": str.join,
    "str.format": _fill,
    "%": operator.mod,
    "+": operator.add,
    "*": operator.mul,
}
_AS_FLOAT = ("e", "E", "f", "F", "g", "G", "%")
"""The formats in which an int looks like the float of the same value."""
_CONVERSIONS = {"s": "str", "r": "repr", "a": "ascii"}
_MOST_JOINED = 16  # four choices of two, as their numbers multiply
"""``join`` gives a choice of at most this many known strings; more become a Text."""
_ASKED = {"str": ("__str__", "__repr__"), "repr": ("__repr__",), "ascii": ("__repr__",)}


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
class Text(Deferred):
    """A string that is known at run time only.

    Attributes:
      maker: how it is made, a key of the table above.
      parts: of what.
    """

    maker: Any
    parts: Any

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

    def __add__(self, other: Any) -> Text:
        return _text("+", self, other) if isinstance(other, str) else NotImplemented

    def __radd__(self, other: Any) -> Text:
        return _text("+", other, self) if isinstance(other, str) else NotImplemented

    def __mul__(self, other: Any) -> Text:
        return _text("*", self, other) if isinstance(other, int) else NotImplemented

    __rmul__ = __mul__

    def __mod__(self, other: Any) -> Text:
        return percent(self, other)

    def __repr__(self) -> str:
        return "<a text that is known at run time only>"

    def __getattr__(self, name: str) -> NoReturn:
        # hasattr(text, '__array__') and its like expect an AttributeError, and no refusal.
        if name.startswith("__") or not hasattr(str, name):
            raise AttributeError(f"'str' object has no attribute {name!r}")
        self.refuse(f".{name}")


@dataclass(frozen=True, eq=False)
class _Shown(Deferred):
    """An object of the user's inside a text: what its own methods say of it, not the object, which may hold tensors."""

    text: Any
    representation: Any

    def make(self) -> Any:
        return _Looks(self.text, self.representation)


class _Looks:
    """Looks like another object when it is printed."""

    __slots__ = ("_representation", "_text")

    def __init__(self, text: str, representation: str) -> None:
        self._text = text
        self._representation = representation

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return self._representation


def _text(maker: str, *parts: Any) -> Text:
    return Text(maker, tuple(map(snapshot, parts)))  # a list or Variable in it may change before it is made


def _method(value: Any, *names: str) -> FunctionType | None:
    """Returns the method of the user's that says how a value looks; what a structure of a library's says is known."""
    for name in names:
        method = operator_method(value, name)
        if method is not None and not (
            is_installed_file(method.__code__.co_filename) and nest.children(value) is not None
        ):
            return method
    return None


def _shown(value: Any, *ways: str) -> Any:
    """Returns the value as a part of a text: objects of the user's are asked now how they look.

    Args:
      value: an object, or a structure of them.
      ways: in which ways it may be asked, of ``str`` and ``repr``; what is inside is asked for its representation.
    """
    look_into(value)
    check_shown(value, "a text", as_text="str" in ways)
    if isinstance(value, str) or symbol_of(value) is not None:
        return value
    if any(_method(value, *_ASKED[way]) is not None for way in ways):
        # A method of the user's runs only if the text may show it.
        return _Shown(*(text_of(way, value) if way in ways else "" for way in ("str", "repr")))
    # `<Point object at 0x7f...>` holds an address, which differs from run to run.
    if type(value).__repr__ is object.__repr__ and ("str" not in ways or type(value).__str__ is object.__str__):
        note_identity(value, f"the text of {with_article(type(value).__name__)}, which has no __repr__ of its own,")
    parts = nest.children(value)
    # str([x]) shows x by repr, as Python does.
    return rebuilt(value, partial(_shown_as, ("repr",))) if parts is not None and parts[1] else value


def _shown_as(ways: Sequence[str], value: Any) -> Any:
    return _shown(value, *ways)


def _shown_arguments(template: Any, values: Any, marks: Sequence[str]) -> Any:
    """Values that a template is filled with; they are asked for representations only if it may want some."""
    # The letters of a Text are unknown: it may have any mark.
    text = template if type(template) is str else "".join(marks)
    one = partial(_shown_as, ("str", "repr") if any(mark in text for mark in marks) else ("str",))
    return one(values) if nest.children(values) is None else rebuilt(values, one)


def text_of(maker: str, value: Any) -> Any:
    """Returns what ``str``, ``repr`` or ``ascii`` makes of a value: a string, or a Text."""
    if context.trace is None:
        return _MAKERS[maker](value)
    found = symbol_of(value)
    if found is not None and (shown := found.as_text(maker)) is not NotImplemented:
        return shown
    method = _method(value, *_ASKED[maker])
    if method is not None:
        result = call(method)(value)
        return _text("ascii", result) if maker == "ascii" and is_deferred(result) else result
    asked(value, _ASKED[maker])
    shown = _shown(value, *(("str",) if maker == "str" else ()))
    return _text(maker, shown) if is_deferred(shown) else in_python(_MAKERS[maker], value_of(shown))


def _format(value: Any, spec: Any) -> Any:
    method = operator_method(value, "__format__")
    if method is not None:
        return call(method)(value, spec)
    if type(spec) is str and not spec:  # Python's own kinds are shown by str() where there is no format
        if not isinstance(value, SymbolicTensor) or kind_of(value) is not None:
            return text_of("str", value)
        check_shown(value, "a text", as_text=True)
        return _text("format", value, spec)
    number = isinstance(value, SymbolicTensor) and kind_of(value) is not None
    # The text is the same, so it need not be known whether it is an int or a float.
    if number and type(spec) is str and spec[-1:] in _AS_FLOAT:
        value = SymbolicNumber(value, float, joined=any_joined((value,)))
    if is_deferred(value) or is_deferred(spec):
        check_shown(value, "a text", as_text=True)
        if type(spec) is str and isinstance(value, SymbolicTensor) and not value.shape:
            in_python(format, (kind_of(value) or value.dtype.type)(1), spec)  # raises if there is no such format
        return _text("format", value, spec)
    check_methods(value, ("__format__",))
    return in_python(format, value, spec)


def formatted(value: Any, conversion: str, spec: Any) -> Any:
    """Returns a value in an f-string: ``{value!conversion:spec}``.

    Args:
      value: what is shown.
      conversion: ``"s"``, ``"r"``, ``"a"`` or empty.
      spec: the format, a string or a Text.
    """
    if context.trace is None:
        return format(_MAKERS[_CONVERSIONS[conversion]](value) if conversion else value, spec)
    return _format(text_of(_CONVERSIONS[conversion], value) if conversion else value, spec)


def joined(*parts: Any) -> Any:
    """Returns an f-string: its strings and formatted values together."""
    return _text("join", "", parts) if is_deferred(parts) else "".join(parts)


def percent(template: Any, values: Any) -> Any:
    """``template % values``."""
    if context.trace is None:
        return template % values
    if isinstance(template, str):
        values = with_numbers(template, values)
    if isinstance(values, tuple) or (
        isinstance(values, dict) and not (isinstance(template, str) and "%(" not in template)
    ):
        shown = _shown_arguments(template, values, ("r", "a"))
    else:  # a list is one value
        shown = _shown(values, "str", "repr")
    if is_deferred((template, shown)):
        return _text("%", template, shown)
    check_printed(values)
    return in_python(operator.mod, template, value_of(shown))


def _one_value(maker: str) -> Callable[..., Any]:
    def replaced(native: Native, *args: Any, **kwargs: Any) -> Any:
        return text_of(maker, args[0]) if len(args) == 1 and not kwargs else native(*args, **kwargs)

    return replaced


def _format_function(native: Native, *args: Any) -> Any:
    return _format(args[0], args[1] if len(args) == 2 else "") if len(args) in (1, 2) else native(*args)


def _str_format(native: Native, template: str, *args: Any, **kwargs: Any) -> Any:
    # str.format calls these in C, where nothing is converted.
    if any(operator_method(value, "__format__") is not None for value in (*args, *kwargs.values())):
        check_methods((*args, *kwargs.values()), ("__format__",))
        if is_deferred((args, kwargs)):
            error = UnimplementedError(
                "str.format of tensors together with an object that formats itself is not compiled; write an f-string"
            )
            raise context.trace.refuse(error) if context.trace is not None else error
        return native(*args, **kwargs)
    shown = [_shown_arguments(template, values, ("!r", "!a")) for values in (args, kwargs)]
    if is_deferred(shown):
        return _text("str.format", template, *shown)
    args, kwargs = map(value_of, shown)
    return native(*args, **kwargs)


def _format_map(native: Native, template: str, mapping: Mapping[str, Any]) -> Any:
    # format_map itself keeps __missing__, which ** would lose.
    return _str_format(native, template, **mapping) if is_deferred(mapping) else native(mapping)


def _join(native: Native, separator: str, items: Iterable[Any]) -> Any:
    check_iterator(items)
    check_items(items)
    given = list(items)  # an iterator gives its items once
    if not is_deferred(given):
        return native(given)
    chosen = {place: item for place, item in enumerate(given) if alternatives(item) is not None}
    known = all(place in chosen or type(item) is str for place, item in enumerate(given))
    if chosen and known and prod(len(item.options) for item in chosen.values()) <= _MOST_JOINED:
        place, either = chosen.popitem()
        return ask(either, lambda item: _join(native, separator, [*given[:place], item, *given[place + 1 :]]))
    for place, item in enumerate(given):
        if not isinstance(item, str) and place not in chosen:
            # Now, in Python's words: no value of a tensor makes it a str.
            raise TypeError(f"sequence item {place}: expected str instance, {type(item).__name__} found")
    return _text("join", separator, given)


OVERRIDES: Functions = {
    **{function: _one_value(function.__name__) for function in (str, repr, ascii)},
    format: _format_function,
    str.format: _str_format,
    str.format_map: _format_map,
    str.join: _join,
}
