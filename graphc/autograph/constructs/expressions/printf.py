"""``text % values``: an object whose place asks for a number is asked for it, as Python does."""

from __future__ import annotations

import operator
import re
from typing import Any, cast

from graphc.autograph.constructs.calls.call import call
from graphc.autograph.constructs.purity.watch import operator_method

__all__ = ["with_numbers"]

_PLACE = re.compile(
    r"%(?:\((?P<key>[^)]*)\))?[#0 +-]*(?P<width>\*|\d*)(?:\.(?P<digits>\*|\d*))?[hlL]?(?P<kind>.)", re.DOTALL
)
_FLOAT, _INT, _INDEX = "eEfFgG", "diu", "oxXc"


def with_numbers(template: str, values: Any) -> Any:
    """Returns the values that a template is filled with, with numbers for objects of the user's where it wants some."""
    places = [place for place in _PLACE.finditer(template) if place["kind"] != "%"]
    if isinstance(values, dict):
        table = cast("dict[Any, Any]", values)
        kinds = {place["key"]: place["kind"] for place in places}
        numbers = {key: _number(value, kinds.get(key, "s")) for key, value in table.items()}
        return table if all(numbers[key] is value for key, value in table.items()) else {**table, **numbers}
    if not isinstance(values, tuple):
        return _number(values, places[0]["kind"]) if len(places) == 1 and places[0]["key"] is None else values
    # Python takes a number for each star, too.
    wanted = "".join("*" * (place.group("width", "digits").count("*")) + place["kind"] for place in places)
    items = cast("tuple[Any, ...]", values)
    numbers = tuple([_number(value, kind) for value, kind in zip(items, wanted.ljust(len(items), "s"), strict=False)])
    return items if all(map(operator.is_, numbers, items)) else numbers


def _number(value: Any, kind: str) -> Any:
    if kind in _FLOAT:
        asks = {"__float__": float, "__index__": float}
    elif kind in _INT:
        asks = {"__int__": int, "__index__": int}
    else:
        asks = {"__index__": operator.index} if kind in _INDEX else {}
    for name, function in asks.items():
        if operator_method(value, name) is not None:
            return call(function)(value)
    return value
