"""``text % values``: each value is asked for what its place shows, as Python asks for it."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any, cast

from graphc.compiler.autograph.constructs.calls.call import call
from graphc.compiler.autograph.constructs.purity.watch import operator_method

__all__ = ["filled"]

_PLACE = re.compile(
    r"%(?:\((?P<key>[^()]*)\))?[#0 +-]*(?P<width>\*|\d*)(?:\.(?P<digits>\*|\d*))?[hlL]?(?P<kind>.)", re.DOTALL
)
_FLOAT, _INT, _INDEX = "eEfFgG", "diu", "oxXc"


def filled(template: str, values: Any, shown: Callable[[Any, str], Any]) -> tuple[str, Any]:
    """Returns a template, with places in order, and what fills it: objects of the user's are asked here.

    Args:
      template: the text.
      values: a tuple, a dict, or one value.
      shown: returns a value as a part of the text, given how that shows it: by ``"str"`` or ``"repr"``.
    """
    places = [place for place in _PLACE.finditer(template) if place["kind"] != "%"]
    # Python takes a number for each star, too.
    wanted = "".join("*" * (place.group("width", "digits").count("*")) + place["kind"] for place in places)
    if isinstance(values, dict) and places and all(place["key"] is not None for place in places) and "*" not in wanted:
        table = cast("dict[Any, Any]", values)
        values = tuple([call(operator.getitem)(table, place["key"]) for place in places])
        template = _PLACE.sub(lambda place: place[0].replace(f"({place['key']})", "", 1), template)
    if not isinstance(values, tuple):
        return template, _part(values, wanted if len(wanted) == 1 else "s", shown)
    items: tuple[Any, ...] = tuple(cast("Any", tuple).__iter__(values))  # which asks no __iter__ of a subclass
    kinds = wanted.ljust(len(items), "s")
    return template, tuple([_part(value, kind, shown) for value, kind in zip(items, kinds, strict=False)])


def _part(value: Any, kind: str, shown: Callable[[Any, str], Any]) -> Any:
    if kind in "sra":
        return shown(value, "str" if kind == "s" else "repr")
    # Of a float or an int itself Python takes the value, without a question.
    if kind in _FLOAT and not isinstance(value, float):
        function, method = float, operator_method(value, "__float__", "__index__")
    elif kind in _INT and not isinstance(value, int):
        function, method = int, operator_method(value, "__int__", "__index__")
    elif kind in _INDEX and not isinstance(value, int | str):
        function, method = operator.index, operator_method(value, "__index__")
    else:
        return value
    return value if method is None else call(cast("Any", function))(value)
