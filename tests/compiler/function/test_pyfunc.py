"""``gx.pyfunc``: Python that runs at run time, in order, with declared result types."""

from __future__ import annotations

import concurrent.futures
import contextlib
import contextvars
import functools
import random
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc import Tensor
from graphc.compiler.base.errors import (
    FailedPreconditionError,
    GraphcError,
    InvalidArgumentError,
    InvalidTypeError,
    SideEffectWarning,
    UnimplementedError,
)
from tests.compiler.autograph.outcomes import compiled, outcome, same, watchdog  # noqa: F401  the fixture

pytestmark = pytest.mark.usefixtures("watchdog")


def f(*values: float) -> Tensor:
    return gx.asarray(values[0] if len(values) == 1 else list(values))


SCALAR = gx.TensorSpec(())


def double(x: Tensor) -> Tensor:
    return x * 2


def one_result(x: Tensor) -> Tensor:
    return gx.pyfunc(double, SCALAR, x) + 1


def dtype_alone(x: Tensor) -> Tensor:
    return gx.pyfunc(lambda v: len(str(v.item())), "int32", x) * 2


def structure_of_results(x: Tensor) -> Any:
    spec = {"a": gx.TensorSpec((2,)), "b": [("bool", np.int32)], "none": None}
    found = gx.pyfunc(lambda v: {"a": [v, 1], "b": [(v > 0, 7)], "none": None}, spec, x)
    return found["a"].sum(), found["b"][0]


def nested_arguments(x: Tensor) -> Tensor:
    return gx.pyfunc(lambda d, n, *, k=3: d["v"][0] * d["v"][1] * n * k, SCALAR, {"v": [x, x + 1]}, 2)


def in_a_branch(x: Tensor) -> Tensor:
    if x > 0:
        gx.pyfunc(lambda v: print("py", v), None, x)
        return x
    return gx.pyfunc(lambda v: print("negative") or v, SCALAR, x)


def in_a_loop(x: Tensor) -> Tensor:
    for i in range(6):
        x = x + gx.pyfunc(lambda v, i: print(i, v) or v.item() * i, SCALAR, x, i)
        print("after", x)
    return x


def in_a_while(x: Tensor) -> Tensor:
    while x < 20:
        x = gx.pyfunc(lambda v: print("step") or v + 3, SCALAR, x)
    return x


def in_a_test(x: Tensor) -> Tensor:
    while gx.pyfunc(lambda v: print("test", v) or bool(v < 5), "bool", x):
        x = x + 1
    return x


def order_with_print(x: Tensor) -> Tensor:
    print("one")
    gx.pyfunc(print, None, "two", x)
    print("three")
    y = gx.pyfunc(lambda: print("four") or 4.0, SCALAR)
    print("five", y)
    return y + x


def raises(x: Tensor) -> Tensor:
    def check(v: Tensor) -> Tensor:
        if v > 2:
            raise LookupError("too large", v)
        return v

    y = gx.pyfunc(check, SCALAR, x)
    print("after", y)
    if x >= 1:
        raise ValueError("second")
    return y


def raises_in_a_loop(x: Tensor) -> Tensor:
    def step(v: Tensor, i: int) -> Tensor:
        print("step", i)
        if i == 3:
            raise KeyError(i, float(v))
        return v + 1

    for i in range(8):
        x = gx.pyfunc(step, SCALAR, x, i)
    return x


def after_a_failure(x: Tensor) -> Tensor:
    if x > 0:
        raise ValueError("first")
    gx.pyfunc(lambda: print("called"), None)
    return x


def wrong_structure(x: Tensor) -> Any:
    return gx.pyfunc(lambda v: (v, v), [SCALAR], x)


def wrong_shape(x: Tensor) -> Any:
    return gx.pyfunc(lambda v: [v, v], SCALAR, x)


def wrong_dtype(x: Tensor) -> Any:
    return gx.pyfunc(lambda v: np.int32(3), SCALAR, x)


def float_for_an_int(x: Tensor) -> Any:
    return gx.pyfunc(lambda v: 1.5, "int32", x)


def too_large_an_int(x: Tensor) -> Any:
    return gx.pyfunc(lambda v: 300, "uint8", x)


def numbers_that_fit(x: Tensor) -> Any:
    return gx.pyfunc(lambda v: (3, True, 7, np.float64(0.5)), ("float32", "bool", "uint8", "float32"), x)


PROGRAMS: list[tuple[Any, tuple[Any, ...]]] = [
    (one_result, (1.5,)),
    (dtype_alone, (1.5, 1234.0)),
    (structure_of_results, (1.0, -1.0)),
    (nested_arguments, (2.0,)),
    (in_a_branch, (1.0, -1.0)),
    (in_a_loop, (1.0,)),
    (in_a_while, (1.0, 30.0)),
    (in_a_test, (1.0, 7.0)),
    (order_with_print, (1.0,)),
    (raises, (0.5, 2.0, 3.0)),
    (raises_in_a_loop, (1.0,)),
    (after_a_failure, (1.0, -1.0)),
    (numbers_that_fit, (1.0,)),
]


@pytest.mark.parametrize(("program", "inputs"), PROGRAMS, ids=[program.__name__ for program, _ in PROGRAMS])
def test_programs(program: Any, inputs: tuple[Any, ...]) -> None:
    same(program, *inputs)


def test_loops_that_call_stay_rolled() -> None:
    assert [loop.kind for loop in gx.function(in_a_loop).trace(f(1.0)).loops] == ["rolled"]


@pytest.mark.parametrize(
    ("program", "kind", "message"),
    [
        (
            wrong_structure,
            InvalidArgumentError,
            r"returned \(Tensor\(.*, where \[f32\[\]\] is declared, another structure",
        ),
        (wrong_shape, InvalidArgumentError, r"returned \[.*\], of the shape \(2,\), where f32\[\] is declared"),
        (wrong_dtype, InvalidTypeError, r"of the dtype int32, where f32\[\] is declared; convert.* declare 'int32'"),
        (float_for_an_int, InvalidTypeError, r"returned 1.5, of the dtype float32, where i32\[\] is declared"),
        (too_large_an_int, InvalidArgumentError, r"returned 300, where u8\[\] .* from 0 to 255: 300 does not fit"),
    ],
)
def test_results_that_were_not_declared(program: Any, kind: type[Exception], message: str) -> None:
    for call in (program, compiled(program)):
        with pytest.raises(kind, match=message) as caught:
            call(f(1.0))
        assert re.match(r"gx\.pyfunc of '\S+': it returned ", str(caught.value))
        assert 'test_pyfunc.py", line' in str(caught.value)


@pytest.mark.parametrize(
    ("value", "declared", "message"),
    [
        (None, "float32", "None, where f32[] is declared: that is no tensor, number or nested list of these; if it"),
        (None, (SCALAR,), "None, where (f32[],) is declared, another structure; if it returns nothing, declare None"),
        ((1.0, None), (SCALAR, SCALAR), "(1.0, None), and there None, where f32[] is declared: that is no tensor"),
        ({"a": 1}, "int32", "{'a': 1}, where i32[] is declared: that is no tensor"),
        ("3", "int32", "'3', where i32[] is declared: that is no tensor"),
        ([[1.0], [2.0, 3.0]], gx.TensorSpec((2, 2)), "[[1.0], [2.0, 3.0]], where f32[2,2] is declared: that is no"),
        ([1, -1], gx.TensorSpec((2,), "uint8"), "[1, -1], where u8[2] is declared, whose numbers go from 0 to 255: -1"),
        (2**70, "int32", f"{2**70}, where i32[] is declared, whose numbers go from {-(2**31)} to {2**31 - 1}"),
        ({"a": 1.0}, {"b": SCALAR}, "{'a': 1.0}, where {'b': f32[]} is declared, another structure"),
    ],
)
def test_what_was_returned_and_what_was_declared_are_told(value: Any, declared: Any, message: str) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        gx.pyfunc(lambda: value, declared)
    assert f"gx.pyfunc of '<lambda>': it returned {message}" in str(caught.value)


def test_a_python_int_of_any_size_becomes_a_float() -> None:
    assert gx.pyfunc(lambda: 2**70, "float32").item() == 2.0**70


def test_what_is_no_function_is_refused() -> None:
    for call in (lambda: gx.pyfunc(3, SCALAR), gx.function(lambda: gx.pyfunc(3, SCALAR))):  # pyright: ignore[reportArgumentType]
        with pytest.raises(InvalidTypeError, match=r"gx\.pyfunc: expected a function, got 3\n.*test_pyfunc\.py"):
            call()


@pytest.mark.parametrize(
    ("spec", "kind", "message"),
    [
        (gx.TensorSpec((None, 2)), InvalidArgumentError, "leaves a size open"),
        (object(), InvalidTypeError, "a result type is a TensorSpec or a dtype"),
        ("no dtype", InvalidTypeError, "a result type is a TensorSpec or a dtype"),
    ],
)
def test_wrong_result_types(spec: Any, kind: type[Exception], message: str) -> None:
    def program(x: Tensor) -> Any:
        return gx.pyfunc(double, spec, x)

    for call in (program, compiled(program)):
        with pytest.raises(kind, match=message) as caught:
            call(f(1.0))
        assert "test_pyfunc.py" in str(caught.value)


def test_the_function_gets_eager_tensors_and_the_very_objects() -> None:
    seen: list[Any] = []
    marker = object()
    v = gx.Variable(3.0)

    def look(x: Any, value: Any, thing: Any, log: list[Any]) -> None:
        seen.append((type(x), x.numpy().tolist(), (x + 1).numpy().tolist(), type(value), value.item(), thing is marker))
        assert log is seen

    def program(x: Tensor) -> None:
        gx.pyfunc(look, None, x, v, marker, seen)

    for call in (program, compiled(program, side_effects="ignore")):
        call(f(1.0, 2.0))
    assert seen[0] == seen[1] == (Tensor, [1.0, 2.0], [2.0, 3.0], Tensor, 3.0, True)


def test_what_it_keeps_stays() -> None:
    kept: list[Tensor] = []

    @gx.function
    def program(x: Tensor) -> Tensor:
        for _ in range(6):
            x = x * 2
            gx.pyfunc(lambda v: kept.append(v), None, x)
        return x

    program(gx.ones(1000))
    program(gx.zeros(1000))
    assert [tensor[999].item() for tensor in kept] == [2.0, 4.0, 8.0, 16.0, 32.0, 64.0] + [0.0] * 6


def test_the_exception_is_the_very_object() -> None:
    error = ValueError("mine")

    def fail(x: Tensor) -> None:
        raise error

    @gx.function
    def program(x: Tensor) -> Tensor:
        gx.pyfunc(fail, None, x)
        return x

    with pytest.raises(ValueError, match="mine") as caught:
        program(f(1.0))
    assert caught.value is error


def test_each_instance_calls_its_own_method() -> None:
    class Model:
        def __init__(self) -> None:
            self.log: list[float] = []

        def note(self, x: Tensor) -> None:
            LOGS[id(self)].append(x.item())

        @gx.function
        def step(self, x: Tensor) -> Tensor:
            gx.pyfunc(self.note, None, x)
            gx.pyfunc(functools.partial(Model.note, self), None, x + 0.5)
            gx.pyfunc(lambda v: self.note(v), None, x + 0.75)
            return x

    first, second = Model(), Model()
    LOGS.update({id(first): [], id(second): []})
    for value, model in enumerate((first, second, second, first)):
        model.step(f(value))
    assert LOGS[id(first)] == [0.0, 0.5, 0.75, 3.0, 3.5, 3.75]
    assert LOGS[id(second)] == [1.0, 1.5, 1.75, 2.0, 2.5, 2.75]


LOGS: dict[int, list[float]] = {}


def test_variables_that_python_assigns() -> None:
    v, other = gx.Variable(1.0), gx.Variable(0.0)

    @gx.function
    def assigns_its_own(x: Tensor) -> Tensor:
        y = v.value() + x
        gx.pyfunc(lambda: v.assign(9.0), None)
        return y

    @gx.function
    def assigns_another(x: Tensor) -> Tensor:
        v.assign(x)
        gx.pyfunc(lambda: other.assign_add(1.0), None)
        return x

    assigns_another(f(2.0))
    assert (v.numpy(), other.numpy()) == (2.0, 1.0)
    with pytest.raises(FailedPreconditionError, match=r"was assigned by Python code while .* 'assigns_its_own' ran"):
        assigns_its_own(f(1.0))


READS: dict[str, Callable[[gx.Variable, Any], Any]] = {
    "item": lambda v, inner: v.item(),
    "value": lambda v, inner: v.value(),
    "text": lambda v, inner: str(v),
    "operator": lambda v, inner: v * 2,
    "function": lambda v, inner: gx.sin(v),
    "array": lambda v, inner: np.asarray(v),
    "update": lambda v, inner: v.assign_add(1.0),
    "compiled": lambda v, inner: inner(),
    "thread": lambda v, inner: in_a_thread(v.item),
}


def in_a_thread(function: Callable[[], Any]) -> Any:
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        return pool.submit(contextvars.copy_context().run, function).result()


PLACES = ["below", "branch", "in the branch", "loop", "rolled loop", "under a tape", "above", "branch above", "other"]


@pytest.mark.parametrize("where", PLACES)
@pytest.mark.parametrize("how", READS)
def test_python_reads_no_variable_that_the_function_assigned(how: str, where: str) -> None:
    v, other = gx.Variable(1.0), gx.Variable(5.0)
    inner = gx.function(lambda: v.value() * 2)
    inner()
    seen: list[Any] = []

    def read() -> None:
        seen.append(READS[how](other if where == "other" and how != "compiled" else v, inner))

    def run(x: Tensor) -> Tensor:
        if where in ("below", "under a tape", "other"):
            (other if where == "other" and how == "compiled" else v).assign_add(1.0)
            gx.pyfunc(read, None)
        elif where == "above":
            gx.pyfunc(read, None)
            v.assign_add(1.0)
        elif where == "branch above":
            if x > 0:
                gx.pyfunc(read, None)
            v.assign_add(1.0)
        elif where == "in the branch":
            if x > 0:
                v.assign_add(1.0)
                gx.pyfunc(read, None)
        elif where == "branch":
            v.assign_add(1.0)
            if x > 0:
                gx.pyfunc(read, None)
        else:
            for _ in range(2 if where == "loop" else 8):
                gx.pyfunc(read, None)
                v.assign_add(1.0)
        return x

    call = gx.function(run)
    allowed = where == "other" or ("above" in where and how not in ("update", "thread"))
    for _ in range(2):
        with gx.GradientTape() if where == "under a tape" else contextlib.nullcontext():
            if allowed:
                call(f(1.0))
            else:
                with pytest.raises(FailedPreconditionError, match=r"Variable.* was (read|assigned) by Python code"):
                    call(f(1.0))
    assert not allowed or len(seen) == 2


@pytest.mark.parametrize("which", ["argument", "assigned argument", "tensor from outside"])
def test_tensors_that_python_changes(which: str) -> None:
    outside, x = gx.asarray([1.0, 2.0]), gx.asarray([1.0, 2.0])
    changed = outside if which == "tensor from outside" else x

    def run(x: Tensor) -> Tensor:
        if which == "assigned argument":
            x[0] = 5.0
        gx.pyfunc(lambda: changed.__setitem__(1, 9.0), None)
        return x + outside

    with pytest.raises(FailedPreconditionError, match=r"f32\[2\] was changed by Python code while .* 'run' ran"):
        gx.function(run)(x)
    assert changed.tolist() == [1.0, 9.0]  # and nothing else: what the program computed is dropped


class Count:
    """An object whose state Python changes."""

    def __init__(self) -> None:
        self.n = 0

    def tick(self, *_: Any) -> int:
        self.n += 1
        return self.n


@dataclass
class Pair:
    n: int = 0


def add_one(pair: Pair) -> None:
    pair.n += 1


STATES: dict[str, tuple[Callable[[], Any], Callable[[Any], Any], Callable[[Any], Any]]] = {
    "list": (lambda: [1.0], lambda s: s.append(2.0), lambda s: len(s)),
    "dict": (lambda: {"n": 0}, lambda s: s.update(n=s["n"] + 1), lambda s: s["n"]),
    "object": (Count, Count.tick, lambda s: s.n),
    "dataclass": (Pair, add_one, lambda s: s.n),
    "array": (lambda: np.zeros(2, np.float32), lambda s: s.__setitem__(0, s[0] + 1), lambda s: float(s[0])),
    "set": (lambda: {0}, lambda s: s.add(len(s)), lambda s: len(s)),
    "random": (lambda: random.Random(3), lambda s: s.random(), lambda s: s.getstate()[2]),
    "iterator": (lambda: iter([1, 2, 3, 4]), lambda s: next(s), lambda s: s.__length_hint__()),
}
"""By kind of object: what makes one, what changes it, and what reads of it what changes."""


@pytest.mark.parametrize("where", ["straight", "branch", "loop"])
@pytest.mark.parametrize("kind", ["list", "dict", "object", "dataclass", "array", "set"])
def test_state_that_python_changes_and_the_function_reads(kind: str, where: str) -> None:
    make, change, read = STATES[kind]
    state = make()

    def run(x: Tensor) -> Any:
        if where == "branch":
            if x > 0:
                gx.pyfunc(lambda: change(state), None)
        else:
            for _ in range(6 if where == "loop" else 1):
                gx.pyfunc(lambda: change(state), None)
        return x * read(state)

    call = compiled(run)
    with pytest.warns(SideEffectWarning, match=r"Python code that run calls changed .*state.* read when it was traced"):
        call(f(1.0))
    call(f(1.0))  # told once
    with pytest.warns(SideEffectWarning, match=r"changed"):
        compiled(lambda x: run(x))(f(1.0))
    compiled(run, side_effects="ignore")(f(1.0))
    assert state is not None


@pytest.mark.parametrize("way", ["captured", "argument", "keyword", "method", "default"])
@pytest.mark.parametrize("where", ["straight", "branch", "loop"])
@pytest.mark.parametrize("kind", [*STATES, "tensor", "list of tensors"])
def test_what_the_function_makes_is_not_changed_by_python(kind: str, where: str, way: str) -> None:
    made: dict[str, Any] = {
        "tensor": (lambda: gx.zeros(2), lambda s: s.__setitem__(0, 9.0), None),
        "list of tensors": (lambda: [gx.zeros(2), gx.ones(1)], lambda s: s.pop(), None),
    }
    make, change, _ = made.get(kind) or STATES[kind]

    def call_python(state: Any) -> None:
        if way == "captured":
            gx.pyfunc(lambda: change(state) and None, None)
        elif way == "argument":
            gx.pyfunc(lambda s: change(s) and None, None, state)
        elif way == "keyword":
            gx.pyfunc(functools.partial(lambda s: change(s) and None, s=state), None)
        elif way == "default":
            gx.pyfunc(lambda *, s=state: change(s) and None, None)
        else:
            gx.pyfunc(state.tick if kind == "object" else functools.partial(change, state), "int32")

    def run(x: Tensor) -> Any:
        state = make()
        if where == "branch":
            if x > 0:
                call_python(state)
        else:
            for _ in range(6 if where == "loop" else 1):
                call_python(state)
        return x

    call = compiled(run, side_effects="ignore")
    for _ in range(2):
        with pytest.raises(
            GraphcError, match=r"passed was changed by Python|makes has changed since|use of an iterator"
        ):
            call(f(1.0))


LOG: list[Any] = []
LOGS = {"a": [LOG], "many": [*[list[Any]() for _ in range(20)], LOG]}
NOTE = functools.partial(lambda log, _: log.append(1), LOG)
FROM_OUTSIDE: list[Callable[[], Any]] = [
    lambda: LOG, lambda: LOGS["a"][0], lambda: [LOG][0], lambda: {"log": LOG}["log"], lambda: LOGS["many"][-1],
    lambda: next(iter(LOGS["a"])), lambda: next(reversed(LOGS["many"])),
]  # fmt: skip


@pytest.mark.parametrize("where", range(len(FROM_OUTSIDE)))
def test_what_is_from_outside_python_may_change(where: int) -> None:
    LOG[:] = [0]

    def run(x: Tensor) -> Tensor:
        log, holder = FROM_OUTSIDE[where](), (FROM_OUTSIDE[where](), x)
        gx.pyfunc(lambda v: log.append(v), None, x)
        gx.pyfunc(lambda log, v: log.append(v), None, log, x)
        gx.pyfunc(lambda: holder[0].append(1), None)
        gx.pyfunc(NOTE, None, x)
        gx.pyfunc(lambda v, log=log: log.append(v), None, x)
        return x

    call = compiled(run, side_effects="ignore")
    for count in (1, 2):
        call(f(1.0))
        assert len(LOG) == 1 + 5 * count


def text(found: Any) -> str:
    """Returns what Python sees of a value: its class, and its values."""
    if isinstance(found, list | tuple | dict):
        items: Any = found.items() if isinstance(found, dict) else found
        return f"{type(found).__name__}({', '.join(map(text, items))})"
    shown = found.tolist() if isinstance(found, Tensor | np.ndarray) else getattr(found, "n", found)
    return f"{type(found).__name__} {shown}"


def a_choice(x: Tensor) -> Any:
    return "positive" if x > 0 else "negative"


def maybe_none(x: Tensor) -> Any:
    return x * 2 if x > 0 else None


def an_object(x: Tensor) -> Any:
    return FIRST if x > 0 else SECOND


def a_number(x: Tensor) -> Any:
    return int(x) if x > 0 else 7


def a_growing_list(x: Tensor) -> Any:
    items: list[Any] = []
    for i in range(8):
        if x + 3 > i:
            items.append(x * i)  # noqa: PERF401  a list that grows
    return items


def changed_after(x: Tensor) -> Any:
    return {"a": [1, x]}


FIRST, SECOND = Count(), Count()
LATE: list[Callable[[Tensor], Any]] = [
    a_choice, maybe_none, an_object, a_number, a_growing_list, changed_after,
    lambda x: [a_choice(x), {"x": x}], lambda x: f"text of {x}", lambda x: {"n": 1}, lambda x: [1, 2],
    lambda x: ValueError("of", x), lambda x: np.arange(3),
]  # fmt: skip
CHANGED = LATE.index(changed_after)


@pytest.mark.parametrize("way", ["captured", "argument", "keyword", "function", "default"])
@pytest.mark.parametrize("where", ["straight", "branch", "loop"])
@pytest.mark.parametrize("number", range(len(LATE)))
def test_python_gets_what_the_function_has(number: int, where: str, way: str) -> None:
    if (LATE[number], way) == (a_growing_list, "keyword"):
        pytest.skip("refused by functools.partial")
    seen: list[str] = []

    def call_python(value: Any) -> None:
        if way == "captured":
            gx.pyfunc(lambda: seen.append(text(value)), None)
        elif way == "argument":
            gx.pyfunc(lambda given: seen.append(text(given)), None, value)
        elif way == "keyword":
            gx.pyfunc(functools.partial(lambda given: seen.append(text(given)), given=value), None)
        elif way == "default":
            gx.pyfunc(lambda given=value: seen.append(text(given)), None)
        else:
            gx.pyfunc(lambda get: seen.append(text(get())), None, lambda: value)

    def run(x: Tensor) -> Tensor:
        value = LATE[number](x)
        if where == "straight":
            call_python(value)
        elif where == "branch":
            if x > -10:
                call_python(value)
        else:
            for _ in range(6):
                call_python(value)
        if number == CHANGED:
            value["later"] = 1
        return x

    found: list[Any] = []
    for call in (run, compiled(run, side_effects="ignore")):
        seen.clear()
        for value in (2.0, -2.0, 2.0):
            call(f(value))
        found.append([*seen])
    assert found[0] == found[1]
    assert len(found[0]) == (18 if where == "loop" else 3)


def test_a_compiled_function_called_by_python_that_a_compiled_function_calls() -> None:
    v = gx.Variable(1.0)
    inner = gx.function(lambda x: x * v.value() + gx.pyfunc(double, SCALAR, x))
    w = gx.Variable(0.0)

    @gx.function
    def program(x: Tensor) -> Tensor:
        w.assign_add(1.0)
        return gx.pyfunc(inner, SCALAR, x) + w.value()

    assert program(f(2.0)).item() == 7.0


def test_threads() -> None:
    total = gx.Variable(0.0)
    calls: list[int] = []

    @gx.function
    def add(x: Tensor) -> None:
        gx.pyfunc(lambda: calls.append(1), None)
        total.assign_add(x)

    def work() -> None:
        for _ in range(10):
            add(f(1.0))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (total.numpy(), len(calls)) == (40.0, 40)


@pytest.mark.parametrize("seconds", [None, 60.0])
def test_programs_that_python_calls_in_several_threads_take_turns(seconds: float | None) -> None:
    """The programs that call that Python touch no Variable themselves, so that they run at once."""
    v, meeting, inside = gx.Variable(0.0), [threading.Barrier(1)], list[float]()

    def work(x: Any) -> Any:
        inside.append(float(x))
        assert len(inside) == 1
        threading.Event().wait(0.02)  # time for the other thread to come
        inside.pop()
        return x

    @gx.function
    def inner(x: Tensor) -> Tensor:
        v.assign_add(gx.pyfunc(work, "float32", x))
        return v.value()

    @gx.function
    def between(x: Tensor) -> Tensor:
        return gx.pyfunc(lambda x: inner(x), "float32", x)

    def call(x: Tensor) -> Any:
        meeting[0].wait(60)
        return between(x)

    @gx.function
    def outer(x: Tensor) -> Tensor:
        return gx.pyfunc(call, "float32", x)

    errors: list[BaseException] = []

    def run() -> None:
        try:
            with gx.deadline(seconds):
                outer(gx.asarray(1.0)).wait()
        except BaseException as error:
            errors.append(error)

    outer(gx.asarray(0.0))  # which compiles all of them
    meeting[0] = threading.Barrier(2)
    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert v.numpy() == 2


@pytest.mark.parametrize("timeout", [None, 60.0])
@pytest.mark.parametrize("device", [None, "cpu:1"])
def test_what_a_program_calls_may_call_another_with_variables(device: str | None, timeout: float | None) -> None:
    outside, inside = gx.Variable(2.0), gx.Variable(3.0)
    inner = compiled(lambda x: x * inside * gx.pyfunc(lambda v: v, SCALAR, x))

    @gx.function(timeout=timeout)
    def outer(x: Tensor) -> Tensor:
        with gx.device(device):
            y = x * outside
        return y * gx.pyfunc(lambda v: inner(v), SCALAR, x)

    with gx.GradientTape() as tape:
        y = outer(f(2.0))
    assert (y.item(), outer(f(2.0)).item()) == (48.0, 48.0)
    if device is None:
        assert tape.gradient(y, outside).item() == 24.0


def test_it_is_a_constant_where_the_gradient_is_stopped() -> None:
    def program(x: Tensor) -> Any:
        with gx.GradientTape(persistent=True) as tape:
            tape.watch(x)
            z = gx.pyfunc(lambda v: print("once") or v * v, SCALAR, gx.stop_gradient(x))
            y = x * z + gx.pyfunc(lambda v: int(v), "int32", x)
            gx.pyfunc(lambda v: v * v, SCALAR, x)
            for _ in range(6):
                y = y + gx.stop_gradient(gx.pyfunc(lambda v: v * 2, SCALAR, y))
        return tape.gradient(y, x)

    (found,) = same(program, 3.0)
    assert found.result == 9.0
    assert found.printed == "once\n"


def looped(x: Tensor) -> Tensor:
    for _ in range(12):
        x = x * 0.5 + gx.pyfunc(double, SCALAR, x)
    return x


def branched(x: Tensor) -> Tensor:
    if x > 0:
        x = x * gx.pyfunc(double, SCALAR, x)
    return x


DIFFERENTIATED: dict[str, Callable[[Tensor], Tensor]] = {
    "alone": lambda x: gx.pyfunc(double, SCALAR, x),
    "without an order": lambda x: gx.pyfunc(double, SCALAR, x, ordered=False) * x,
    "in a list": lambda x: gx.pyfunc(lambda given: double(given[0]), SCALAR, [x, 1.0]) + x,
    "in a loop": looped,
    "in a branch": branched,
    "by TensorFlow's name": lambda x: gx.flow.numpy_function(double, [x], "float32") * x,
}


@pytest.mark.parametrize("kind", DIFFERENTIATED)
@pytest.mark.parametrize("mode", ["eager", "inside", "outside", "grad"])
def test_its_gradient_is_refused(mode: str, kind: str) -> None:
    def gradient(x: Tensor) -> Any:
        with gx.GradientTape() as tape:
            tape.watch(x)
            y = program(x)
        return tape.gradient(y, x)

    program = DIFFERENTIATED[kind] if mode != "outside" else gx.function(DIFFERENTIATED[kind])
    inside = gx.function(gx.grad(program) if mode == "grad" else gradient)
    with pytest.raises(UnimplementedError, match=r"calls Python at run time, whose derivative .* gx\.custom_gradient"):
        (inside if mode in ("inside", "grad") else gradient)(f(3.0))


def test_the_gradient_of_what_the_function_took_from_outside_is_refused() -> None:
    x = f(3.0)
    with gx.GradientTape() as tape:
        tape.watch(x)
        y = gx.pyfunc(lambda: x * x, SCALAR)
        with pytest.raises(UnimplementedError, match="whose derivative"):
            tape.gradient(y, x)


def test_a_gradient_from_outside_calls_it_once() -> None:
    calls: list[float] = []

    def square(v: Any) -> Any:
        calls.append(float(v))
        return v * v

    call = compiled(lambda x: (x * gx.pyfunc(square, SCALAR, gx.stop_gradient(x)), x))
    x = f(3.0)
    with gx.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y, same = call(x)
    assert [tape.gradient(target, x).item() for target in (y, same, [y, same])] == [9.0, 1.0, 10.0]
    assert gx.grad(lambda x: call(x)[0])(x).item() == 9.0
    assert calls == [3.0, 3.0]


def test_a_gradient_that_would_call_it_again_is_refused() -> None:
    call = compiled(lambda x: x * gx.pyfunc(lambda v: v * v, SCALAR, gx.stop_gradient(x)))
    x = f(3.0)
    with gx.GradientTape() as tape:
        tape.watch(x)
        y = call(x)
    with gx.GradientTape(), pytest.raises(UnimplementedError, match=r"evaluates gx\.pyfunc a second time.*one tape"):
        tape.gradient(y, x)


def test_in_a_try_statement_it_is_refused() -> None:
    def program(x: Tensor) -> Tensor:
        try:
            x = gx.pyfunc(double, SCALAR, x)
        except ValueError:
            x = x * 0
        return x

    assert program(f(1.0)).item() == 2.0
    with pytest.raises(UnimplementedError, match=r"an exception of gx.pyfunc would be caught by a try statement"):
        gx.function(program)(f(1.0))


def test_many_queued_calls() -> None:
    calls: list[float] = []

    @gx.function
    def step(x: Tensor) -> Tensor:
        gx.pyfunc(lambda v: calls.append(v.item()), None, x[0, 0])
        return x @ x * 0.0 + x + 1

    x = gx.zeros((200, 200))
    for _ in range(200):
        x = step(x)
    assert calls == [float(i) for i in range(200)]


def test_python_that_computes_with_tensors() -> None:
    matrix = gx.ones((300, 300))

    def work(x: Tensor) -> Tensor:
        return (matrix @ (matrix * x)).sum()

    def program(x: Tensor) -> Tensor:
        y = matrix * x
        for _ in range(6):
            x = gx.pyfunc(work, SCALAR, x) * 1e-8
            y = y @ matrix * 1e-3
        return x + y[0, 0]

    assert outcome(compiled(program), f(0.001)) == outcome(program, f(0.001))


@pytest.mark.parametrize("value", [2**31, 2**32 + 7, -(2**40), [1, 2**31], np.int64(2**33)])
def test_an_int_that_the_type_cannot_hold_is_refused(value: Any) -> None:
    given = gx.TensorSpec(np.shape(value), "int32")
    worst = np.ravel(value).tolist()[-1]
    message = f"where i32.* is declared, whose numbers go from .*: {worst} does not fit"
    for call in (lambda: gx.pyfunc(lambda: value, given), gx.function(lambda: gx.pyfunc(lambda: value, given))):
        with pytest.raises(gx.errors.InvalidArgumentError, match=message):
            call()


@pytest.mark.parametrize("ordered", [True, False])
def test_its_results_are_where_it_is_pinned(ordered: bool) -> None:
    def pinned(x: Tensor) -> Tensor:
        with gx.device("cpu:2"):
            return gx.pyfunc(double, SCALAR, x, ordered=ordered)

    def chosen(x: Tensor) -> Tensor:
        with gx.device(lambda node: "cpu:1"):
            return gx.pyfunc(double, SCALAR, x, ordered=ordered)

    for program, place in ((pinned, "/device:CPU:2"), (chosen, "/device:CPU:1")):
        for run in (program, gx.function(program)):
            assert (run(f(3.0)).item(), run(f(3.0)).device) == (6, place)


def test_the_steps_name_the_function_and_the_line() -> None:
    @gx.function
    def step(x: Tensor) -> Tensor:
        with gx.device("cpu:1"):
            y = x + 1
        print(y)
        return gx.pyfunc(double, SCALAR, y) + gx.pyfunc(lambda v: v, SCALAR, y) + x

    line = step.__wrapped__.__code__.co_firstlineno + 4
    steps = gx.explain(step, f(1.0)).steps
    for name, at in (("print", line), ("double", line + 1), ("pyfunc", line + 1)):
        assert f"host call {name} (test_pyfunc.py:{at}) on host" in steps
    assert f"transfer the result of double (test_pyfunc.py:{line + 1}) on /device:CPU:0" in steps


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: gx.pyfunc(double, SCALAR, x, ordered="no"), "gx.pyfunc: ordered is True or False, got 'no'"),
        (lambda x: gx.pyfunc(double, x, SCALAR), r"stand before the arguments, .*, but f32\[\] is a tensor there"),
        (lambda x: gx.pyfunc(double, x, "float32"), "stand before the arguments"),
    ],
)
def test_arguments_that_are_none_are_refused(call: Any, message: str) -> None:
    for run in (call, gx.function(call)):
        with pytest.raises(InvalidTypeError, match=message) as caught:
            run(f(1.0))
        assert 'File "' in str(caught.value)


def test_rows_of_a_map_call_it_without_order() -> None:
    rows = gx.function(gx.vmap(lambda x: gx.pyfunc(double, SCALAR, x, ordered=False)))
    assert rows(f(1.0, 2.0)).tolist() == [2, 4]
    with pytest.raises(UnimplementedError, match=r"or call gx\.pyfunc with ordered=False, which runs for each row"):
        gx.function(gx.vmap(one_result))(f(1.0, 2.0))


@pytest.mark.parametrize("variable", [None, 1.0])
def test_a_function_that_calls_itself_through_python_ends_or_says_so(variable: float | None) -> None:
    """XLA refuses the first call of a program in itself, and waits for ever at the 33rd that waits for another one."""
    v = None if variable is None else gx.Variable(variable)

    @gx.function
    def total(n: Any, least: Any) -> Any:
        return gx.pyfunc(next_total, "float32", n if v is None else n * v, least)

    def next_total(n: gx.Tensor, least: gx.Tensor) -> Any:
        return total(n - 1.0, least) + n if n > least else n

    assert [total(gx.asarray(n), gx.asarray(0.0)).item() for n in (4.0, 3.0)] == [10.0, 6.0]
    with pytest.raises(
        RecursionError, match=r"16 programs wait for each other, the last for next_total \(test_pyfunc.py"
    ):
        total(gx.asarray(1.0), gx.asarray(-float("inf")))
    assert total(gx.asarray(1.0), gx.asarray(0.0)).item() == 1.0
