"""`try`, `finally`, `with`."""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from typing import Any

import graphc as gx
from tests.conformance.harness import f, i, program

RAISE = "`raise` under a tensor condition"
TRY = "`try..except` around a `raise` under a tensor condition"
FINALLY = "`try..finally`"
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
    gradient=True,
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


@program("try/except another type", inputs=[(f(4.0),), (f(-4.0),)], construct=TRY)
def except_another(x: Any) -> Any:
    try:
        x = _root(x)
    except KeyError:
        x = x + 100
    return x


@program(
    "try/raise from",
    inputs=[(f(4.0),), (f(-4.0),)],
    construct=TRY,
)
def raise_from(x: Any) -> Any:
    try:
        return _root(x)
    except ValueError as error:
        raise RuntimeError("could not") from error


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
    construct=FINALLY,
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


@program(
    "try/with, return and break inside",
    inputs=[(f(4, 1),), (f(-4, 7),), (f(-1, -1),)],
    construct=WITH,
)
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
    construct=WITH,
    python_numbers=True,
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
    refused=(gx.errors.UnimplementedError, r"ValueError.*would be caught by `with _forgiving\(\.\.\.\)`"),
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


@program(
    "try/exception that is an argument of another call",
    inputs=[(f(1.0),), (f(-1.0),)],
    construct=RAISE,
)
def exception_made_before(x: Any) -> Any:
    error = ValueError("made before", 3)
    if x < 0:
        raise error
    return x


@program("try/finally prints when it raises", inputs=[(f(2.0),), (f(-3.0),)], construct=FINALLY)
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


# --- gradients of a body of which the rest does not count


@program("try/gradient, values of before the exception", inputs=[(f(4.0),), (f(-4.0),)], construct=TRY, gradient=True)
def gradient_of_before(x: Any) -> Any:
    y = x * 3
    try:
        z = y * 2
        if x < 0:
            raise ValueError("negative")
        y = gx.sqrt(x) * y
        if y > 100:
            raise ValueError("large")
        y = y + gx.log(z)
    except ValueError:
        y = y * 2 + z
    return y


@program(
    "try/gradient, exceptions of a loop",
    inputs=[(f(1, 2, 3, 4, 5),), (f(1, -2, 3, 4, -5),), (f(1, 200, -3, 4, -5),)],
    construct=TRY,
    gradient=True,
)
def gradient_of_loop(x: Any) -> Any:
    total = gx.zeros(())
    try:
        for value in x:
            if value < 0:
                raise ValueError("negative")
            total = total + gx.sqrt(value)
            if value > 100:
                raise KeyError("large")
            total = total * gx.log(value)
        total = total * gx.log(x[0])
    except ValueError:
        total = total + x[2]
    except KeyError:
        total = total * x[3]
    return total


@program(
    "try/gradient, in a loop", inputs=[(f(1, 2, 3, 4, 5, 6),), (f(1, -2, 3, 4, -5, 6),)], construct=TRY, gradient=True
)
def gradient_in_loop(x: Any) -> Any:
    total = gx.zeros(())
    for value in x:
        try:
            if value < 0:
                raise ValueError("negative")
            total = total + gx.sqrt(value)
        except ValueError:
            total = total + value
    return total


@program(
    "try/gradient, one statement in another",
    inputs=[(f(4.0),), (f(0.25),), (f(-4.0),)],
    construct=TRY,
    gradient=True,
)
def gradient_of_nested(x: Any) -> Any:
    y = x
    try:
        try:
            if x < 0:
                raise ValueError("negative")
            y = gx.sqrt(x)
            if y > 1:
                raise KeyError("large")
            y = gx.sqrt(y)
        except KeyError:
            y = x * y
        y = y + gx.sqrt(x)
    except ValueError:
        y = y * 5
    return y


@program("try/gradient by a Variable", inputs=[(lambda: gx.Variable(2.0), f(4.0)), (lambda: gx.Variable(-2.0), f(4.0))],
         construct=TRY, gradient=True)  # fmt: skip
def gradient_by_variable(v: Any, x: Any) -> Any:
    with gx.GradientTape() as tape:
        try:
            if v < 0:
                raise ValueError("negative")
            y = gx.sqrt(v) * x
        except ValueError:
            y = v * x
    return tape.gradient(y, v), y


@program(
    "try/some exceptions are raised again",
    inputs=[(f(0.5),), (f(-5.0),), (f(5.0),)],
    construct="`raise` in a handler",
)
def raised_again(x: Any) -> Any:
    try:
        if x > 1:
            raise ValueError("big")
        if x < 0:
            raise ValueError("small")
        y = x * 2
    except ValueError as error:
        y = x
        if str(error) == "big":
            raise
    return y


@program(
    "try/each exception is handled in another way",
    inputs=[(f(0.5),), (f(-5.0),), (f(5.0),), (f(15.0),)],
    construct="`raise` in a handler",
)
def handled_in_other_ways(x: Any) -> Any:
    total = x * 0
    for limit in (1.0, 10.0, -1.0):
        try:
            if x > limit:
                raise KeyError("big")
            if x < 0:
                raise IndexError("small")
            total = total + x * 2
        except KeyError as error:
            if limit == 10.0:
                raise ArithmeticError("too big") from error
            total = total + x
        except IndexError:
            return total, x - limit
    return total, x


class Journal:
    """Something with a list."""

    def __init__(self) -> None:
        self.lines: list[Any] = []


@program(
    "try/a handler appends to the list of an object",
    inputs=[(f(0.5),), (f(-5.0),)],
    construct=TRY,
    python_numbers=True,
)
def handler_appends(x: Any) -> Any:
    journal = Journal()
    try:
        if x < 0:
            raise ValueError("negative")
    except ValueError:
        journal.lines.append(x)
    return len(journal.lines)


@program(
    "try/a nested function changes a variable after what may raise, in a branch",
    inputs=[(i(1),), (i(-1),), (i(7),)],
    construct=TRY,
    python_numbers=True,
)
def nonlocal_after_a_raise(x: Any) -> Any:
    count = 0

    def bump() -> None:
        nonlocal count
        count += 1

    if x < 5:
        try:
            if x > 0:
                raise ValueError("positive")
            bump()
        except ValueError:
            pass
    return count


@program(
    "try/a nested function changes a variable after what may raise, in a loop",
    inputs=[(i(1),), (i(5),), (i(0),)],
    construct=TRY,
    python_numbers=True,
)
def nonlocal_after_a_raise_in_a_loop(x: Any) -> Any:
    count, k = 0, 0

    def bump() -> None:
        nonlocal count
        count += 1

    def step() -> None:
        try:
            if k > 2:
                raise ValueError("late")
            bump()
        except ValueError:
            pass

    while k < x:
        k += 1
        step()
        try:
            if k > 3:
                raise ValueError("later")
            bump()
        except ValueError:
            pass
    return count


class _Counter:
    def __init__(self, value: Any) -> None:
        self.value = value


@program(
    "try/another exception from the one that a nested function raised",
    inputs=[(f(1),), (f(4),), (f(8),)],
    construct=TRY,
)
def raised_from_a_nested_function(x: Any) -> Any:
    counter = _Counter(x)

    def visit(value: Any) -> Any:
        if value > 3:
            raise ValueError("visited")
        return value + 1

    try:
        if x > 6:
            raise KeyError("early")
        counter.value = visit(x)
    except ValueError as error:
        raise LookupError("again") from error
    except KeyError:
        counter.value = x * 2
    return counter.value


@program(
    "try/division by a number that tensors decide",
    inputs=[(f(0.0),), (f(2.0),), (f(-3.0),)],
    construct=TRY,
    python_numbers=True,
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
    python_numbers=True,
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


@program(
    "try/a handler of several exceptions changes containers and raises again",
    inputs=[(f(1.0),), (f(5.0),), (f(-2.0),)],
    construct=TRY,
    python_numbers=True,
)
def changed_before_raised_again(x: Any) -> Any:
    counts, seen, vector, point = {"n": 0}, [0.0], x * gx.ones(2), _Counter(x)
    try:
        try:
            if x > 3:
                raise ValueError("large")
            if x < 0:
                raise KeyError("negative")
        except (ValueError, KeyError):
            counts["n"] += 1
            seen[0] = x
            vector[0] = 7
            point.value = x + 1
            raise
    except ValueError:
        counts["n"] += 10
    except KeyError:
        pass
    return counts, seen, vector, point.value


@program(
    "try/names of a body that ends with a raise",
    inputs=[(f(2.0),), (f(-2.0),)],
    construct=TRY,
    python_numbers=True,
)
def names_where_a_body_raises(x: Any) -> Any:
    n, total = 0, x
    try:
        total = total + 1
        if x < 0:
            raise KeyError("negative")
        raise ValueError("always")
    except KeyError:
        n = 1
    except ValueError:
        if x > 1:
            n = n + 2
    return n, total


@program(
    "try/finally after a raise under a condition",
    inputs=[(f(2.0),), (f(-2.0),), (f(7.0),)],
    construct=FINALLY,
    python_numbers=True,
)
def finally_sees_what_was(x: Any) -> Any:
    state, counts, vector = "start", {"n": 0}, x * gx.ones(2)
    try:
        if x < 0:
            state, counts["n"], vector[0] = "negative", 4, 9
            raise ValueError("negative")
        state = "checked"
        if x > 5:
            counts["n"] = 7
            raise KeyError("large")
    finally:
        counts["n"] += 1
        print(state, counts, vector)
    return counts["n"], 1 if state == "checked" else 0


@program(
    "try/finally between a raise and its handler",
    inputs=[(f(2.0),), (f(-2.0),), (f(7.0),)],
    construct=FINALLY,
    python_numbers=True,
)
def finally_in_between(x: Any) -> Any:
    total = 0
    for k in range(4):
        try:
            try:
                if x < k:
                    total += 5
                    raise ValueError(k)
                total += 1
            finally:
                total += 10
        except ValueError as error:
            total += 100 * error.args[0]
    return total


@program(
    "try/finally that raises another exception",
    inputs=[(f(2.0),), (f(-2.0),), (f(-7.0),), (f(7.0),)],
    construct=FINALLY,
)
def finally_raises(x: Any) -> Any:
    try:
        if x < 0:
            raise ValueError("negative")
    finally:
        print("end", x)
        if x * x > 40:
            raise KeyError("far")
    return x


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
    construct="`with`",
    python_numbers=True,
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
