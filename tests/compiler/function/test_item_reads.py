"""Lists and dicts from outside: where they are only asked for items these count, elsewhere all that they hold."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.compiler.autograph.frontend.convert import to_source

X = gx.asarray([1.0, 2.0])
SETTINGS: dict[str, Any] = {}
NUMBERS: list[float] = []
Program = Callable[[Any], Any]


class Model:
    shared: dict[str, float] = {}  # noqa: RUF012

    def __init__(self) -> None:
        self.settings = SETTINGS

    def rate(self) -> float:
        return self.settings["rate"]


MODEL = Model()


@pytest.fixture(autouse=True)
def settings() -> Iterator[None]:
    """The containers as each test finds them."""
    SETTINGS.update(
        rate=2.0, epoch=0, inner={"beta": 3.0, "seen": 0}, w=gx.asarray([3.0, 4.0]), array=np.float32([5, 6])
    )
    SETTINGS[7] = 7.0  # pyright: ignore[reportArgumentType]
    NUMBERS[:] = [1.0, 2.0, 3.0]
    Model.shared = {"rate": 2.0, "epoch": 0.0}
    yield
    SETTINGS.clear()


def _put(owner: Callable[[], Any], key: Any, value: Any) -> Callable[[], None]:
    return lambda: owner().__setitem__(key, value)


def _of(name: str = "") -> Callable[[], Any]:
    return (lambda: SETTINGS[name]) if name else lambda: SETTINGS


EPOCH, RATE = _put(_of(), "epoch", 1), _put(_of(), "rate", 5.0)
SEEN, BETA = _put(_of("inner"), "seen", 1), _put(_of("inner"), "beta", 5.0)


def by_name(x: Any) -> Any:
    chosen = MODEL.settings
    inner = chosen["inner"]
    return x * chosen["rate"] * inner["beta"]


def in_an_inner_function(x: Any) -> Any:
    def scaled(y: Any) -> Any:
        return y * SETTINGS["rate"] if gx.sum(y) > 0 else y

    return scaled(x)


def if_there_is_one(x: Any) -> Any:
    return x * MODEL.settings["rate"] if MODEL.settings is not None else x


def no_such_key(x: Any) -> Any:
    try:
        return x * SETTINGS["missing"]
    except KeyError:
        return x


def no_such_position(x: Any) -> Any:
    try:
        return x * NUMBERS[3]
    except IndexError:
        return x


BY_ITEM: dict[str, tuple[Program, Callable[[], Any], Callable[[], Any]]] = {
    "an item": (lambda x: x * SETTINGS["rate"], EPOCH, RATE),
    "an item by a number": (lambda x: x * SETTINGS[7], EPOCH, _put(_of(), 7, 8.0)),  # pyright: ignore
    "an item of an item": (lambda x: x * SETTINGS["inner"]["beta"], SEEN, BETA),
    "another container": (lambda x: x * SETTINGS["inner"]["beta"], EPOCH, lambda: SETTINGS.update(inner={"beta": 1.0})),
    "a tensor": (lambda x: x * SETTINGS["w"], EPOCH, _put(_of(), "w", gx.asarray(1.0))),
    "an array": (lambda x: x * SETTINGS["array"], EPOCH, lambda: SETTINGS["array"].fill(9)),
    "of an attribute": (lambda x: x * MODEL.settings["rate"], EPOCH, RATE),
    "of an attribute of a class": (
        lambda x: x * MODEL.shared["rate"],
        lambda: Model.shared.update(epoch=1.0),
        lambda: Model.shared.update(rate=3.0),
    ),
    "in a method": (lambda x: x * MODEL.rate(), EPOCH, RATE),
    "`get`": (lambda x: x * SETTINGS.get("rate", 1.0), EPOCH, RATE),
    "`get` of no item": (lambda x: x * SETTINGS.get("other", 1.0), EPOCH, lambda: SETTINGS.update(other=2.0)),
    "`in`": (lambda x: x * (2.0 if "rate" in SETTINGS else 3.0), EPOCH, lambda: SETTINGS.pop("rate")),
    "`not in`": (lambda x: x * (2.0 if "new" not in SETTINGS else 3.0), EPOCH, lambda: SETTINGS.update(new=1)),
    "an item that goes": (
        lambda x: x * (SETTINGS["rate"] * 2 if "rate" in SETTINGS else 3.0),
        EPOCH,
        lambda: SETTINGS.pop("rate"),
    ),
    "no such key": (no_such_key, EPOCH, lambda: SETTINGS.update(missing=2.0)),
    "no such position": (no_such_position, _put(lambda: NUMBERS, 0, 9.0), lambda: NUMBERS.append(5.0)),
    "of a list": (lambda x: x * NUMBERS[0], _put(lambda: NUMBERS, 1, 9.0), _put(lambda: NUMBERS, 0, 9.0)),
    "of a list, from its end": (lambda x: x * NUMBERS[-1], _put(lambda: NUMBERS, 0, 9.0), lambda: NUMBERS.append(5.0)),
    "by a name": (by_name, EPOCH, BETA),
    "in an inner function": (in_an_inner_function, EPOCH, RATE),
    "`is not None`": (if_there_is_one, EPOCH, RATE),
}  # fmt: skip


@pytest.mark.parametrize("kind", BY_ITEM)
def test_items_that_were_not_asked_for_do_not_count(kind: str) -> None:
    function, other, change = BY_ITEM[kind]
    compiled = gx.function(function, on_retrace="ignore")
    for act in (lambda: None, other, change):
        act()
        for _ in range(2):  # the second time by the short way
            np.testing.assert_array_equal(compiled(X).numpy(), function(X).numpy())
        assert compiled.num_traces == 1 + (act is change)


def passed_on(x: Any) -> Any:
    return x * SETTINGS["rate"] * epoch_of(SETTINGS)


def epoch_of(settings: dict[str, Any]) -> float:
    return settings["epoch"]


def all_at_once(x: Any) -> Any:
    return x * SETTINGS["rate"] * {**SETTINGS}["epoch"]


def unpacked(x: Any) -> Any:
    _, second, *_ = NUMBERS
    return x * NUMBERS[0] * second


def looped(x: Any) -> Any:
    for position in range(3):
        x = x * NUMBERS[position]
    return x * NUMBERS[0]


def sliced(x: Any) -> Any:
    return x * NUMBERS[0] * sum(NUMBERS[1:])


def by_another_name(x: Any) -> Any:
    known = SETTINGS
    return x * SETTINGS["rate"] * sum(value for key, value in known.items() if key in ("rate", "epoch"))


def stored_in_an_object(x: Any) -> Any:
    holder = Model()
    holder.settings = SETTINGS
    return x * SETTINGS["rate"] * copy.copy(holder).settings["epoch"]


def returned(x: Any) -> Any:
    return x * SETTINGS["rate"] * the_settings()["epoch"]


def the_settings() -> dict[str, Any]:
    return SETTINGS


def by_a_namespace(x: Any) -> Any:
    return x * SETTINGS["rate"] * globals()["SETTINGS"]["epoch"]


def by_eval(x: Any) -> Any:
    return x * SETTINGS["rate"] * eval("SETTINGS")["epoch"]


def in_a_class(x: Any) -> Any:
    class Inside:
        known = SETTINGS

    return x * SETTINGS["rate"] * Inside.known["epoch"]


@gx.do_not_convert
def _unconverted() -> float:
    return SETTINGS["epoch"]


def by_a_variable_of_the_function_around() -> Program:
    chosen = SETTINGS

    def program(x: Any) -> Any:
        return x * chosen["rate"] * sum(chosen[key] for key in ("rate", "epoch"))

    return program


AS_A_WHOLE: dict[str, Program] = {
    "passed on": passed_on,
    "`**`": all_at_once,
    "by another name": by_another_name,
    "stored in an object": stored_in_an_object,
    "returned": returned,
    "`globals`": by_a_namespace,
    "`eval`": by_eval,
    "in a class": in_a_class,
    "`len`": lambda x: x * SETTINGS["rate"] * SETTINGS["epoch"] * len(SETTINGS),
    "its values": lambda x: x * SETTINGS["rate"] * [*SETTINGS.values()][1],
    "a loop over it": lambda x: x * SETTINGS["rate"] * [SETTINGS[key] for key in SETTINGS][1],
    "as it is in code that is not converted": lambda x: x * SETTINGS["rate"] * _unconverted(),
    "in a variable of the function around": by_a_variable_of_the_function_around(),
}


@pytest.mark.parametrize("kind", AS_A_WHOLE)
def test_what_is_done_besides_counts(kind: str) -> None:
    function = AS_A_WHOLE[kind]
    compiled = gx.function(function, on_retrace="ignore", side_effects="ignore")
    for change in (lambda: None, _put(_of(), "epoch", 3.0), _put(_of(), "epoch", 4.0)):
        change()
        for _ in range(2):
            np.testing.assert_array_equal(compiled(X).numpy(), function(X).numpy())


@pytest.mark.parametrize("function", [unpacked, looped, sliced])
def test_of_a_list_too(function: Program) -> None:
    compiled = gx.function(function, on_retrace="ignore")
    for second in (2.0, 5.0):
        NUMBERS[1] = second
        for _ in range(2):
            np.testing.assert_array_equal(compiled(X).numpy(), function(X).numpy())


@pytest.mark.parametrize("key", [(1, 2), 1.5, True, b"a"])
def test_by_a_key_that_is_no_text_or_whole_number(key: Any) -> None:
    SETTINGS[key] = 2.0
    compiled = gx.function(lambda x: x * SETTINGS[key], on_retrace="ignore")
    for value in (3.0, 4.0):
        SETTINGS[key] = value
        assert compiled(X).tolist() == [value, 2 * value]


def test_a_list_that_is_asked_for_many_items_is_compared_at_once() -> None:
    NUMBERS[:] = [float(number) for number in range(40)]

    def program(x: Any) -> Any:
        return x * (
            NUMBERS[0] + NUMBERS[1] + NUMBERS[2] + NUMBERS[3] + NUMBERS[4] + NUMBERS[5] + NUMBERS[6] + NUMBERS[7]
            + NUMBERS[8] + NUMBERS[9] + NUMBERS[10] + NUMBERS[11] + NUMBERS[12] + NUMBERS[13] + NUMBERS[14]
            + NUMBERS[15] + NUMBERS[16] + NUMBERS[17]
        )  # fmt: skip

    compiled = gx.function(program)
    compiled(X)
    assert len([guard for guard in compiled.trace(X).guards if "NUMBERS" in guard.source.text]) == 1
    NUMBERS[17] = 5.0
    np.testing.assert_array_equal(compiled(X).numpy(), program(X).numpy())


def test_the_trace_writes_into_what_it_asked_for_an_item() -> None:
    def program(x: Any) -> Any:
        before = SETTINGS["rate"]
        SETTINGS["rate"] = 10.0
        return x * before * SETTINGS["rate"]

    compiled = gx.function(program, side_effects="ignore")
    assert compiled(X).tolist() == [20, 40]
    assert SETTINGS["rate"] == 10.0


@pytest.mark.parametrize(("key", "reason"), [("rate", "['rate'] was 2.0, is 5.0"), ("new", "'new' in global SETTINGS")])
def test_the_reason_names_the_item(key: str, reason: str) -> None:
    compiled = gx.function(lambda x: x * SETTINGS["rate"] * (2.0 if "new" in SETTINGS else 1.0))
    compiled(X)
    SETTINGS[key] = 5.0
    compiled(X)
    assert reason in compiled.trace_report()[-1].reason


def test_the_converted_text_marks_what_is_only_asked_for_items() -> None:
    text = to_source(by_name)
    assert "chosen = ag__.load_attr(MODEL, 'settings', by_item=True)" in text
    assert "inner = ag__.load_item(chosen, 'inner', by_item=True)" in text
    assert "by_item" not in to_source(by_another_name)
