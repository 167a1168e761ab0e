"""Names that hold one of several Python values, by what tensors hold: None, a string, an enum's member, a function."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, NamedTuple

import graphc as gx
from tests.conformance.harness import f, i, program

NONE = "`None` until a condition on a tensor holds"
STATE = "an enum or string as the state of a loop"
CHOSEN = "an object or function chosen by a tensor"
TEXT = "a string that depends on a tensor"

VECTORS = [(f(1, 4, 2, 5),), (f(1, 2, 1, 0),), (f(9, 1, -3, 3.5),)]
SIGNS = [(f(2.0),), (f(-1.0),)]


class Phase(Enum):
    SEARCH = auto()
    TRACK = auto()
    DONE = auto()

    @property
    def gain(self) -> float:
        return {Phase.SEARCH: 0.5, Phase.TRACK: 1.0, Phase.DONE: 0.0}[self]


class Step(NamedTuple):
    place: Any
    name: Any


# --- None


@program("choices/first place that passes", inputs=VECTORS, construct=NONE, python_numbers=True)
def first_place(xs: Any) -> Any:
    first = None
    for place, x in enumerate(xs):
        if x > 3 and first is None:
            first = place
    return first


@program("choices/found in a loop that breaks", inputs=VECTORS, construct=NONE, gradient=True)
def found_or_default(xs: Any) -> Any:
    found = None
    for x in xs:
        if x > 3:
            found = x
            break
    if found is None:
        return xs[0] * 0.5
    return found * 2


@program("choices/largest and its place", inputs=VECTORS, construct=NONE, gradient=True, python_numbers=True)
def largest(xs: Any) -> Any:
    best, place = None, None
    for k, x in enumerate(xs):
        if x > 1.5 and (best is None or x > best):
            best, place = x, k
    if best is not None and place is not None:
        return best * best, place
    return gx.asarray(-1.0), -1


@program("choices/the one before that passed", inputs=VECTORS, construct=NONE, gradient=True)
def before(xs: Any) -> Any:
    last = None
    total = gx.asarray(0.0)
    for x in xs:
        if x > 1.5:
            if last is not None:
                total = total + abs(x - last)
            last = x
    return total


@program("choices/gaps between hits", inputs=VECTORS, construct=NONE, python_numbers=True)
def gaps(xs: Any) -> Any:
    last = None
    longest = 0
    for place, x in enumerate(xs):
        if x > 1.5:
            if last is not None:
                longest = max(longest, place - last)
            last = place
    return longest, last


@program("choices/set and reset", inputs=VECTORS, construct=NONE, gradient=True)
def set_and_reset(xs: Any) -> Any:
    held = None
    total = gx.asarray(0.0)
    for x in xs:
        if held is None:
            if x > 1.5:
                held = x
        elif x < held:
            total = total + held - x
            held = None
    return total, held is None


@program("choices/returned as it is", inputs=VECTORS, construct=NONE)
def returned(xs: Any) -> Any:
    found = None
    for x in xs:
        if x > 3:
            found = x
    return found, {"found": found, "twice": None if found is None else found * 2}


@program("choices/`or` gives a default", inputs=SIGNS, construct=NONE, gradient=True)
def default_by_or(x: Any) -> Any:
    label = None
    if x > 0:
        label = "plus"
    label = label or "minus"
    scale = {"plus": 2.0, "minus": 3.0}[label]
    return x * scale


@program("choices/used where it is None", inputs=SIGNS, construct=NONE, python_numbers=True, raises=TypeError)
def used_as_none(x: Any) -> Any:
    found = None
    if x > 0:
        found = 2
    return found + 1


@program("choices/None in a tuple", inputs=VECTORS, construct=NONE, python_numbers=True)
def none_in_a_tuple(xs: Any) -> Any:
    step = Step(None, "start")
    for place, x in enumerate(xs):
        if x > 3:
            step = Step(place, "hit")
        elif x < 0:
            step = Step(None, "low")
    if step.place is None:
        return step.name, -1
    return step.name, step.place + 1


@program("choices/a while loop that fills in", inputs=[(f(3.0),), (f(100.0),)], construct=NONE)
def filled_in(x: Any) -> Any:
    root = None
    guess = x
    while root is None:
        new = (guess + x / guess) / 2
        if abs(new - guess) < 1e-3:
            root = new
        guess = new
    return root


@program("choices/asserted", inputs=VECTORS, construct=NONE)
def asserted(xs: Any) -> Any:
    found = None
    for x in xs:
        if x > 3:
            found = x
    assert found is not None, "nothing found"
    return found * 2


# --- states


@program("choices/a machine of an enum", inputs=VECTORS, construct=STATE, gradient=True)
def machine(xs: Any) -> Any:
    state = Phase.SEARCH
    total = gx.asarray(0.0)
    for x in xs:
        if state is Phase.SEARCH:
            if x > 3:
                state = Phase.TRACK
        elif state is Phase.TRACK:
            total = total + x
            if x < 0:
                state = Phase.DONE
        total = total + 0.1
    return total, state


@program("choices/a machine of strings, by match", inputs=VECTORS, construct=STATE)
def machine_of_strings(xs: Any) -> Any:
    state, seen = "search", gx.asarray(0)
    for x in xs:
        match state:
            case "search":
                if x > 3:
                    state = "track"
            case "track" | "lost":
                seen = seen + 1
                state = "lost" if x < 1.5 else "track"
            case _:
                seen = seen + 100
    return seen, state, state == "track", state in ("lost", "track"), state != "search"


@program(
    "choices/a while loop until a state",
    inputs=[(f(1.0),), (f(-1.0),), (f(50.0),)],
    construct=STATE,
    python_numbers=True,
)
def until_a_state(x: Any) -> Any:
    state = Phase.SEARCH
    while state != Phase.DONE:
        x = x * 2
        if state is Phase.SEARCH and abs(x) > 10:
            state = Phase.TRACK
        elif abs(x) > 30:
            state = Phase.DONE
    return x, state.name, state.value


@program("choices/attributes of a state", inputs=VECTORS, construct=STATE, gradient=True)
def attributes_of_a_state(xs: Any) -> Any:
    state = Phase.SEARCH
    total = gx.asarray(0.0)
    for x in xs:
        if x > 3:
            state = Phase.TRACK
        elif x < 0:
            state = Phase.DONE
        total = total + x * state.gain
    return total


class Machine:
    def __init__(self) -> None:
        self.state = "idle"
        self.count = 0

    def feed(self, x: Any) -> None:
        if self.state == "idle" and x > 3:
            self.state = "busy"
        elif self.state == "busy":
            self.count += 1
            if x < 2:
                self.state = "idle"


@program("choices/a state in an attribute", inputs=VECTORS, construct=STATE, python_numbers=True)
def state_in_an_attribute(xs: Any) -> Any:
    machine = Machine()
    for x in xs:
        machine.feed(x)
    return machine.state, machine.count


@program("choices/a status that says why", inputs=[(f(2.0),), (f(-2.0),), (f(1e9),)], construct=STATE)
def status(x: Any) -> Any:
    reason = "iterations"
    for _ in range(8):
        new = (x + 2.0 / x) / 2
        if new < 0:
            reason = "negative"
            break
        if abs(new - x) < 1e-3:
            reason = "converged"
            break
        x = new
    return x, reason


# --- texts


@program("choices/printed and formatted", inputs=SIGNS, construct=TEXT)
def printed(x: Any) -> Any:
    sign = "plus" if x > 0 else None
    state = Phase.DONE if x > 1 else Phase.SEARCH
    print("sign", sign)
    print(f"{sign} {state.name:>8} {x:.1f} {len(state.name)}")
    return f"{sign}/{state}"


@program("choices/methods of strings", inputs=SIGNS, construct=TEXT, python_numbers=True)
def methods_of_strings(x: Any) -> Any:
    name = "up" if x > 0 else "down"
    if name.startswith("u"):
        x = x + 1
    return name.upper() + "!", len(name), x, name + "ward", "d" in name


@program("choices/a text that grows", inputs=VECTORS, construct=TEXT)
def growing_text(xs: Any) -> Any:
    first = ""
    for x in (xs[0], xs[1]):
        first = first + ("a" if x > 1.5 else "b")
    return first


# --- functions and objects


@program("choices/a function called", inputs=SIGNS, construct=CHOSEN, gradient=True)
def function_called(x: Any) -> Any:
    act = gx.sin if x > 0 else (lambda v: v * v)
    return act(x) + act(x * 2)


@program("choices/a function among several", inputs=[(f(2.0), i(0)), (f(2.0), i(2)), (f(2.0), i(-2))], construct=CHOSEN)
def function_among(x: Any, k: Any) -> Any:
    acts = [gx.sin, gx.cos, lambda v: v * 10]
    names = ("sin", "cos", "ten")
    return acts[k](x), names[k]


class Box:
    def __init__(self, value: Any, name: str) -> None:
        self.value = value
        self.name = name

    def scaled(self, factor: Any) -> Any:
        return self.value * factor


@program("choices/an object read and changed", inputs=SIGNS, construct=CHOSEN, gradient=True)
def object_changed(x: Any) -> Any:
    low, high = Box(x, "low"), Box(x * 3, "high")
    chosen = low if x > 0 else high
    chosen.value = chosen.value + 1
    return chosen.scaled(2), low.value, high.value, chosen.name, chosen is low


@dataclass
class Best:
    place: Any
    loss: Any
    label: str | None = None


@program("choices/a candidate, None at first", inputs=VECTORS, construct=NONE, gradient=True, python_numbers=True)
def candidate(xs: Any) -> Any:
    best = None
    for place, x in enumerate(xs):
        loss = (x - 3) ** 2
        if loss < 2 and (best is None or loss < best.loss):
            best = Best(place, loss)
    if best is None:
        return -1, gx.asarray(0.0)
    return best.place, best.loss


class Plain:
    def __init__(self, place: Any, loss: Any) -> None:
        self.place = place
        self.loss = loss


@program(
    "choices/an object that a branch makes",
    inputs=VECTORS,
    construct=CHOSEN,
    refused=(
        gx.errors.UnimplementedError,
        "'best' is .*an object of class 'Plain'.*a dataclass.*change its attributes",
    ),
)
def object_made(xs: Any) -> Any:
    best = Plain(-1, xs[0])
    for x in xs:
        if x < best.loss:
            best = Plain(-1, x * 2)
    return best.loss


@program(
    "choices/None, or an object that a branch makes",
    inputs=VECTORS,
    construct=CHOSEN,
    refused=(
        gx.errors.InvalidArgumentError,
        "'best' is .*an object of class 'Plain'.*a dataclass.*change its attributes",
    ),
)
def none_or_object_made(xs: Any) -> Any:
    best = None
    for x in xs:
        if x > 3 and best is None:
            best = Plain(-1, x * 2)
    return best is None


@program("choices/an object whose attributes change", inputs=VECTORS, construct=CHOSEN, gradient=True,
         python_numbers=True)  # fmt: skip
def attributes_changed(xs: Any) -> Any:
    best = Plain(None, xs[0])
    for place, x in enumerate(xs):
        if x < best.loss:
            best.place, best.loss = place, x * 2
    return best.loss, best.place


@program("choices/kinds asked for", inputs=SIGNS, construct=NONE, python_numbers=True)
def kinds_asked(x: Any) -> Any:
    found = None
    if x > 0:
        found = "text"
    if isinstance(found, str):
        return len(found)
    return 0 if not found else math.inf


@program("choices/the state of a search in a dict", inputs=VECTORS, construct=STATE, python_numbers=True)
def state_in_a_dict(xs: Any) -> Any:
    state = {"best": None, "mode": "search", "hits": 0}
    for x in xs:
        if x > 3:
            state["best"] = x
            state["mode"] = "hit"
            state["hits"] += 1
    return state


@program("choices/an exception chosen", inputs=SIGNS, construct=CHOSEN)
def exception_chosen(x: Any) -> Any:
    error = ValueError if x > 0 else KeyError
    raise error("no")


@program("choices/labels in a list", inputs=VECTORS, construct=TEXT)
def labels(xs: Any) -> Any:
    names = []
    for x in xs:
        if x > 3:
            names.append("big")
        else:
            names.append("small")
    return names, ["up" if x > 1.5 else None for x in xs]


@program("choices/a dict made anew", inputs=SIGNS, construct=CHOSEN, python_numbers=True)
def dict_made_anew(x: Any) -> Any:
    options = {"rate": 0.25, "name": None}
    if x > 0:
        options = {"rate": 0.5, "name": "x"}
    return x * options["rate"], options["name"]


@program("choices/a label in a dataclass", inputs=VECTORS, construct=CHOSEN)
def label_in_a_dataclass(xs: Any) -> Any:
    best = Best(-1, xs[0])
    for x in xs:
        if x > best.loss:
            best = Best(-1, x, "loop")
    return best.loss, best.label


@program(
    "choices/None or two shapes",
    inputs=SIGNS,
    construct="a value that changes shape between branches",
    refused=(gx.errors.InvalidArgumentError, r"'y' is a tensor f32\[2\].*and a tensor f32\[3\] or None"),
)
def none_or_two_shapes(x: Any) -> Any:
    y = None
    if x > 0:
        y = gx.ones(3)
    if x > 1:
        y = gx.ones(2)
    return y


@program(
    "choices/a text of any length",
    inputs=[(f(1.0),)],
    construct=TEXT,
    refused=(gx.errors.UnimplementedError, "Python values that depend on tensors"),
)
def text_of_any_length(x: Any) -> Any:
    text = "a"
    while x < 100:
        x = x * 2
        text = text + "a"
    return text


@program(
    "choices/unpacked where it may be None",
    inputs=SIGNS,
    construct=NONE,
    refused=(gx.errors.UnimplementedError, "a tuple or None, by what tensors hold.*compare it"),
)
def unpacked(x: Any) -> Any:
    pair = None
    if x > 0:
        pair = (x, x * 2)
    first, second = pair
    return first + second


@program("choices/unpacked where it is not None", inputs=SIGNS, construct=NONE, gradient=True)
def unpacked_if_there(x: Any) -> Any:
    pair = None
    if x > 0:
        pair = (x, x * 2)
    if pair:
        first, second = pair
        return first + second
    return x


@program("choices/matched with None", inputs=VECTORS, construct=NONE, gradient=True)
def matched_with_none(xs: Any) -> Any:
    last = None
    total = gx.asarray(0.0)
    for x in xs:
        match last:
            case None:
                total = total + 1
            case _:
                total = total + last
        if x > 3:
            last = x
    return total


@program("choices/a nested function that changes the state, in nested loops", inputs=SIGNS, construct=STATE)
def mode_of_nested_function(x: Any) -> Any:
    mode = "start"

    def visit(value: Any) -> Any:
        nonlocal mode
        if value > 5:
            mode = "high"
        elif value < 0:
            mode = "low"
        return value + 2

    while x < 20:
        while x < 10:
            x = visit(x)
        x = visit(x) + 3
    return x, 0 if mode == "start" else 1 if mode == "low" else 2


@program("choices/map of a chosen function", inputs=VECTORS, construct=CHOSEN, gradient=True)
def map_of_chosen(xs: Any) -> Any:
    act = (lambda x: x * x) if xs[0] > 1 else (lambda x: x + 1)
    keep = (lambda x: x > 1) if xs[1] > 1 else (lambda x: x < 1)
    return sum(map(act, xs)), sum(x for x in filter(keep, xs))


@program(
    "choices/lowest of a loop that binds another name first",
    inputs=[(f(2), i(1)), (f(2), i(3)), (f(-1), i(2))],
    construct=NONE,
)
def lowest_beside_a_new_name(x: Any, n: Any) -> Any:
    lowest = None
    for k in range(n):
        if lowest is None or lowest > x - k:
            lowest = x - k
        last = x + k
    return last, 0 if lowest is None else lowest


@program("choices/strings joined", inputs=SIGNS, construct=STATE, python_numbers=True)
def strings_joined(x: Any) -> Any:
    name = "ab" if x > 0 else "d"
    shout = "-".join(map(str.upper, [name, "c"]))
    return len(shout), 1 if shout == "AB-C" else 0


@program(
    "choices/strings sorted",
    inputs=SIGNS,
    construct="`sorted` of strings chosen by tensors",
    refused=(gx.errors.UnimplementedError, r"sorted\(\) would compare tensors"),
)
def strings_sorted(x: Any) -> Any:
    name = "ab" if x > 0 else "d"
    return len(sorted([name, "c"]))


@program("choices/texts of tensors in both branches", inputs=SIGNS, construct=TEXT)
def texts_in_branches(x: Any) -> Any:
    place = int(x)
    text = f"after {place}" if x > 0 else f"{place} before"
    print(text, " ".join([text, "end"]))
    return x
