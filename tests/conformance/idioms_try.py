"""`try`, `finally`, `with`."""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from typing import Any

import graphc as gx
from tests.conformance.harness import f, program

RAISE = "`raise` under a tensor condition"
TRY = "`try..except` around a `raise` under a tensor condition"
FINALLY = "`try..finally`"
FINALLY_RAISE = "`try..finally` with an effect, or a manager of the user's, around a `raise` under a tensor condition"
WITH = "`with`"


def _root(value: Any) -> Any:
    if value < 0:
        raise ValueError(f"no root of {value}")
    return gx.sqrt(value)


@program("try/except a static error", inputs=[(f(2.0), "a"), (f(2.0), "z")], construct="`try..except` of Python errors")
def except_static(x: Any, key: str) -> Any:
    table = {"a": 3.0}
    try:
        factor = table[key]
    except KeyError as error:
        factor = len(str(error)) * 1.0
    else:
        x = x + 1
    return x * factor


@program(
    "try/except a tensor's error",
    inputs=[(f(4.0),), (f(-4.0),)],
    construct=TRY,
    refused=(gx.errors.UnimplementedError, "ValueError.*would be caught by a try statement"),
)
def except_tensor(x: Any) -> Any:
    try:
        if x < 0:
            raise ValueError("negative")
        y = gx.sqrt(x)
    except ValueError:
        y = x * 0 - 1
    return y


@program(
    "try/except in a loop",
    inputs=[(f(1, -2, 3),), (f(-1, -2, -3),)],
    construct=TRY,
    refused=(gx.errors.UnimplementedError, "ValueError.*would be caught by a try statement"),
)
def except_in_loop(x: Any) -> Any:
    total = gx.zeros(())
    bad = gx.zeros((), dtype="int32")
    for value in x:
        try:
            total = total + _root(value)
        except ValueError:
            bad = bad + 1
    return total, bad


@program("try/except another type", inputs=[(f(4.0),), (f(-4.0),)], construct="`try..except` of Python errors")
def except_another(x: Any) -> Any:
    try:
        x = _root(x)
    except KeyError:
        x = x + 100
    return x


@program("try/finally", inputs=[(f(4.0),), (f(-4.0),)], construct=FINALLY, gradient=True)
def with_finally(x: Any) -> Any:
    y = x
    try:
        if x > 0:
            y = y * 2
    finally:
        y = y + 1
    return y


@program(
    "try/finally after return",
    inputs=[(f(4.0),), (f(-4.0),)],
    construct=FINALLY,
    known_gap="this use of a list that depends on tensors is not compiled yet",
)
def finally_after_return(x: Any) -> Any:
    log = []
    try:
        log.append("try")
        if x > 0:
            return x * 2, log
        x = x - 1
    finally:
        log.append("finally")
    return x, log


@program(
    "try/finally assigns a Variable when it raises",
    inputs=[(lambda: gx.Variable(1.0), f(4.0))],
    construct=FINALLY_RAISE,
    refused=(gx.errors.UnimplementedError, "ValueError.*would pass through a finally block"),
)
def finally_assigns(count: Any, x: Any) -> Any:
    try:
        y = gx.sqrt(x)
        if x < 0:
            raise ValueError("negative")
    finally:
        count.assign_add(1)
    return y + count


@contextlib.contextmanager
def _scaled(box: list[Any]) -> Generator[str]:
    box.append("in")
    try:
        yield "scale"
    finally:
        box.append("out")


class Timer:
    """A context manager as a class."""

    def __init__(self) -> None:
        self.depth = 0

    def __enter__(self) -> Timer:
        self.depth += 1
        return self

    def __exit__(self, *error: object) -> None:
        self.depth -= 1


@program("try/with, a generator", inputs=[(f(4.0),), (f(-4.0),)], construct=WITH)
def with_generator(x: Any) -> Any:
    box: list[Any] = []
    with _scaled(box) as name:
        if x > 0:
            x = x * 3
        inside = list(box)
    return x, name, inside, box


@program("try/with, a class", inputs=[(f(4.0),), (f(-4.0),)], construct=WITH, gradient=True)
def with_class(x: Any) -> Any:
    timer = Timer()
    with timer as t, contextlib.suppress(KeyError):
        depth = t.depth
        x = x * x if x > 0 else x - depth
    return x, depth, timer.depth


@program("try/with, return and break inside", inputs=[(f(4, 1),), (f(-4, 7),), (f(-1, -1),)], construct=WITH)
def with_return(x: Any) -> Any:
    for value in x:
        with Timer():
            if value > 5:
                return value * 100
            if value > 0:
                break
    return value


@program(
    "try/with, a generator in a loop", inputs=[(f(4, 1),), (f(-4, 7),), (f(-1, -1),)], construct=WITH, gradient=True
)
def with_generator_in_loop(x: Any) -> Any:
    box: list[Any] = []
    total = x[0] * 0
    for value in x:
        if value > 0:
            with _doubled(box, value) as twice:
                total = total + twice * value
                if total > 50:
                    break
    return total, box


@contextlib.contextmanager
def _doubled(box: list[Any], value: Any) -> Generator[Any]:
    factor = 2.0 if value < 5 else 3.0
    box.append(value)
    try:
        yield value * factor
    finally:
        box[-1] = box[-1] + 1


class Scale:
    """A factor that blocks of code change for a while."""

    def __init__(self) -> None:
        self.factor = gx.asarray(1.0)

    @contextlib.contextmanager
    def scaled(self, by: Any) -> Generator[Scale]:
        before = self.factor
        self.factor = before * by
        if self.factor > 10:
            self.factor = gx.asarray(10.0)
        try:
            yield self
        finally:
            self.factor = before


@program("try/with, a method in nested loops", inputs=[(f(4, 1),), (f(-4, 7),)], construct=WITH, gradient=True)
def with_method(x: Any) -> Any:
    scale = Scale()
    total = x[0] * 0
    for a in x:
        with scale.scaled(a):
            for b in x:
                if a > b:
                    continue
                with scale.scaled(b) as inner:
                    total = total + inner.factor * b
    return total, scale.factor


class Log(contextlib.AbstractContextManager["Log"]):
    """Prints where it is left, and counts."""

    def __init__(self) -> None:
        self.left = 0

    def __exit__(self, *error: object) -> None:
        self.left += 1
        print("left", self.left)


@program(
    "try/with, an exception passes through",
    inputs=[(f(4, 1),), (f(-4, 7),), (f(7, 1),)],
    construct=FINALLY_RAISE,
    refused=(gx.errors.UnimplementedError, "ValueError.*would pass through `with` on a Log"),
)
def with_raise(x: Any) -> Any:
    log = Log()
    for value in x:
        with log:
            if value > 5:
                raise ValueError(f"{value} is too large")
            x = x + value
        x = x * log.left
    return x, log.left


class Forgiving:
    """Catches what its errors are."""

    def __enter__(self) -> Forgiving:
        return self

    def __exit__(self, kind: object, *rest: object) -> bool:
        return kind is ValueError


@program(
    "try/with, a class that catches",
    inputs=[(f(4.0),), (f(-4.0),)],
    construct="`with` a manager that inspects the exception, around a `raise` under a tensor condition",
    refused=(gx.errors.UnimplementedError, "ValueError.*would be caught by `with` on a Forgiving"),
)
def with_catching(x: Any) -> Any:
    with Forgiving():
        if x < 0:
            raise ValueError("negative")
        print("positive")
    return x


@contextlib.contextmanager
def _forgiving() -> Generator[None]:
    try:
        yield
    except ValueError:
        print("forgiven")


@program(
    "try/with, a generator that catches",
    inputs=[(f(4.0),), (f(-4.0),)],
    construct="`with` a manager that inspects the exception, around a `raise` under a tensor condition",
    refused=(gx.errors.UnimplementedError, "ValueError.*would be caught by a try statement"),
)
def with_generator_catching(x: Any) -> Any:
    with _forgiving():
        if x < 0:
            raise ValueError("negative")
        print("positive")
    return x


@contextlib.contextmanager
def _either(flag: Any) -> Generator[int]:
    if flag:
        yield 1
    else:
        yield 2


@program(
    "try/with, a generator that yields in a branch",
    inputs=[(f(4.0),)],
    construct="`with` in a branch of a generator that yields in a branch or loop of its own",
    refused=(gx.errors.UnimplementedError, "with _either\\(...\\)` inside the true branch"),
)
def with_yield_in_branch(x: Any) -> Any:
    if x > 0:
        with _either(True) as number:
            x = x + number
    return x


@program(
    "try/with suppress around a tensor's raise",
    inputs=[(f(4.0),), (f(-4.0),)],
    construct="`with contextlib.suppress` around a `raise` under a tensor condition",
    refused=(gx.errors.UnimplementedError, "ValueError.*would be caught by"),
)
def with_suppress(x: Any) -> Any:
    y = x
    with contextlib.suppress(ValueError):
        y = _root(x)
    return y


@program("try/exception that is an argument of another call", inputs=[(f(1.0),), (f(-1.0),)], construct=RAISE)
def exception_made_before(x: Any) -> Any:
    error = ValueError("made before", 3)
    if x < 0:
        raise error
    return x


@program(
    "try/finally prints when it raises",
    inputs=[(f(2.0),), (f(-3.0),)],
    construct=FINALLY_RAISE,
    refused=(gx.errors.UnimplementedError, "ValueError.*would pass through a finally block"),
)
def finally_prints(x: Any) -> Any:
    try:
        if x < 0:
            raise ValueError("negative")
        print("fine")
    finally:
        print("cleanup", x)
    return x


@program("try/raise in a tape's block", inputs=[(f(2.0),), (f(-3.0),)], construct=WITH)
def raise_in_tape(x: Any) -> Any:
    with gx.GradientTape() as tape:
        tape.watch(x)
        if x < 0:
            raise ValueError("negative")
        y = x * x
    return tape.gradient(y, x)


@program(
    "try/division by a number that tensors decide",
    inputs=[(f(0.0),), (f(2.0),), (f(-3.0),)],
    construct=TRY,
    refused=(gx.errors.UnimplementedError, "ZeroDivisionError.*would be caught by a try statement"),
)
def divided_in_a_try(x: Any) -> Any:
    n, total = int(x), 0
    try:
        share = 10 / n
    except ZeroDivisionError as error:
        share = len(str(error))
    for k in range(4):
        try:
            total += 12 // (n - k) % 5
        except ZeroDivisionError:
            total += 100
    try:
        power = n**-1
    except ZeroDivisionError:
        power = -1.0
    return share, total, power


@program(
    "try/a place that tensors decide",
    inputs=[(f(0.0),), (f(2.0),), (f(5.0),), (f(-4.0),)],
    construct=TRY,
    refused=(gx.errors.UnimplementedError, "IndexError.*would be caught by a try statement"),
)
def places_in_a_try(x: Any) -> Any:
    rows, vector, n = [1.0, 2.0, 3.0], x * gx.ones(3), int(x)
    try:
        first = rows[n]
    except IndexError:
        first = -1.0
    try:
        rows[n] = 5.0
        vector[n] = 7
    except IndexError:
        rows[0] = 4.0
    return first, rows, vector


class _Steps:
    def __init__(self) -> None:
        self.count: Any = 0

    def __enter__(self) -> _Steps:
        return self

    def __exit__(self, *exception: object) -> None:
        print("left after", self.count)


@contextlib.contextmanager
def _told(counts: dict[str, Any]) -> Generator[dict[str, Any]]:
    try:
        yield counts
    finally:
        print("told", counts)


@program(
    "try/with after a raise under a condition",
    inputs=[(f(2.0),), (f(-2.0),), (f(7.0),)],
    construct=FINALLY_RAISE,
    refused=(gx.errors.UnimplementedError, "would pass through"),
)
def managers_see_what_was(x: Any) -> Any:
    counts = {"n": 0}
    with _told(counts), _Steps() as steps:
        if x < 0:
            steps.count, counts["n"] = 1, 5
            raise ValueError("negative")
        steps.count += 2
        if x > 5:
            counts["n"] = 6
            raise KeyError("large")
        steps.count += 1
    return steps.count + counts["n"]


@program(
    "try/an int that a function returns from a try statement",
    inputs=[(f(1.0),), (f(5.0),), (f(-2.0),)],
    construct=FINALLY,
)
def int_returned_from_a_try(x: Any) -> Any:
    n, limits = 0, [0, 1]

    def chosen() -> Any:
        try:
            if limits[1] > 3:
                return n + 1
        finally:
            limits[0] += 1
        return n + 2

    if x > 0:
        n = 4
    limits[1] = n
    raise ValueError("chosen", chosen())
