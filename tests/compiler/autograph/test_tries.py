"""``try`` statements that catch what is raised by the values of tensors.

PYTEST_DONT_REWRITE: what ``assert`` raises is part of what is tested.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphc as gx
from graphc import Tensor
from graphc.compiler.base.errors import FailedPreconditionError, InvalidArgumentError, UnimplementedError
from tests.compiler.autograph.outcomes import compiled, outcome, same, watchdog  # noqa: F401  the fixture

pytestmark = pytest.mark.usefixtures("watchdog")


def f(*values: float) -> Tensor:
    return gx.asarray(values[0] if len(values) == 1 else list(values))


def root(x: Tensor) -> Tensor:
    if x < 0:
        raise ValueError(f"no root of {x}", x)
    print("root", x)
    return gx.sqrt(x)


def raised_in_the_body(x: Tensor) -> Tensor:
    try:
        if x < 0:
            raise ValueError("negative", x)
        y = gx.sqrt(x)
    except ValueError as error:
        y = error.args[1] * 2 - 1
    return y


def raised_in_a_called_function(x: Tensor) -> Any:
    try:
        y = root(x)
    except ValueError as error:
        print("caught", error)
        y = x * 0
    else:
        print("else", y)
        y = y + 100
    return y


def returned_from(x: Tensor) -> Tensor:
    try:
        return root(x)
    except ValueError as error:
        raise RuntimeError("could not", x) from error


def in_a_loop(x: Tensor) -> Any:
    total, bad = gx.zeros(()), 0
    for value in x:
        try:
            total = total + root(value)
        except ValueError:
            bad = bad + 1
    return total, bad


def around_a_loop(x: Tensor) -> Any:
    last = 0
    try:
        for i in range(8):
            x = x - i
            last = root(x)
            last = last * 2
    except ValueError as error:
        print(error)
        x = x * 100
    return x, last


def around_a_while(x: Tensor) -> Any:
    steps = gx.asarray(0)
    while steps < 5:
        steps = steps + 1
        try:
            while x < 50:
                x = x * 2
                if x > 20:
                    raise OverflowError(x, steps)
        except OverflowError as error:
            x = error.args[0] * 0.3 + error.args[1]
            continue
        x = x + 1
    return x, steps


def jumps(x: Tensor) -> Any:
    for i in range(6):
        try:
            if x > 10:
                return x, i
            x = root(x - 1) * 3 + 2
            if x > 9:
                break
        except ValueError:
            x = x + 5
            if x > 4:
                return -x, i
    else:
        return x, 100
    return x, 200


def nested(x: Tensor) -> Tensor:
    try:
        try:
            if x > 0:
                raise ValueError("a")
            if x < -5:
                raise KeyError("b")
            print("neither")
        except ValueError:
            print("inner")
            if x > 3:
                raise KeyError("c") from None
            x = x + 1
        print("after the inner one")
    except KeyError as error:
        print("outer", error)
        x = x * 10
    return x


def several_exceptions(x: Tensor) -> Any:
    count = 0
    try:
        if x > 2:
            raise ValueError("two", x)
        count = 1
        if x > 1:
            raise KeyError("one", x)
        count = 2
        y = root(x)
        count = 3
    except (ValueError, OSError) as error:
        y, kind = error.args[1], 1
        print("value", error)
    except KeyError as error:
        y, kind = x * 10, 2
        print("key", error)
    else:
        kind = 3
        print("else")
    return y, kind, count


def names_of_handlers_only(x: Tensor) -> Any:
    try:
        if x > 0:
            raise ValueError("a")
        raise KeyError("b")
    except ValueError:
        y = 1.0
    except KeyError:
        y = 2.0
    return y + x


def something_else_after_it(x: Tensor) -> Any:
    try:
        if x > 0:
            raise ValueError("a")
        raise TypeError("b")
    except ValueError:
        y = 1.0
    print("after")
    return y + x


def another_in_between(x: Tensor) -> Any:
    try:
        if x > 3:
            raise TypeError("not caught")
        if x > 0:
            raise ValueError("caught")
        assert x > -5, "not caught either"
    except ValueError:
        x = x * 2
    return x


def raised_again(x: Tensor) -> Tensor:
    try:
        if x > 0:
            raise ValueError("a", x)
        y = x
    except ValueError:
        if x > 2:
            raise
        y = x + 1
    return y


def assertion(x: Tensor) -> Any:
    kind = 0
    try:
        assert x > 0, f"negative {x}"
    except AssertionError as error:
        print(error)
        kind = 1
    return x, kind


def everything(x: Tensor) -> Tensor:
    try:
        x = root(x - 1)
    except:  # noqa: E722
        x = x + 3
    try:
        x = root(x - 2)
    except BaseException as error:
        print(type(error).__name__, error)
    return x


def conditional_expressions(x: Tensor) -> Tensor:
    try:
        x = (root(x - 5) if x > 2 else x) + (1 if x > 0 and root(x - 1) > 0.5 else 2)
    except ValueError:
        x = x - 100
    return x


def finally_too(x: Tensor) -> Tensor:
    try:
        x = root(x)
        print("fine")
    except ValueError:
        print("handler")
        x = x + 1
        if x < -3:
            raise
    finally:
        print("finally", x)
    return x


def unbound_where_it_is_raised(x: Tensor) -> Any:
    try:
        y = root(x)
    except ValueError:
        print("no y")
    else:
        x = y
    return x


def in_a_branch(x: Tensor) -> Tensor:
    if x < 10:
        try:
            x = root(x)
        except ValueError:
            x = -x
    return x


def always(x: Tensor) -> Tensor:
    try:
        for row in gx.stack([x, x + 1]):
            raise ValueError("row", row)
        x = x * 2
    except ValueError as error:
        x = error.args[1] * 3
    return x


def names_in_messages(x: Tensor) -> Any:
    text = f"before {x}"
    pair = [x, (x * 2, 3)]
    try:
        text = f"body {x}"
        y = x * 2
        pair = [y, (x * 3, 3)]
        root(x)
        text = f"late {x}"
        pair = [x, (y, 3)]
    except ValueError:
        print(text)
    return pair


PROGRAMS: list[tuple[Any, tuple[Any, ...]]] = [
    (raised_in_the_body, (4.0, -4.0)),
    (raised_in_a_called_function, (4.0, -4.0)),
    (returned_from, (4.0, -4.0)),
    (in_a_loop, ([1.0, -2.0, 4.0], [-1.0, -2.0], [1.0])),
    (around_a_loop, (100.0, 4.0, -1.0)),
    (around_a_while, (1.0, 30.0)),
    (jumps, (0.0, 20.0, 2.0, -7.0, 9.0)),
    (nested, (1.0, 4.0, -1.0, -6.0)),
    (several_exceptions, (3.0, 1.5, 1.0, -1.0)),
    (names_of_handlers_only, (1.0, -1.0)),
    (something_else_after_it, (1.0, -1.0)),
    (another_in_between, (4.0, 1.0, -1.0, -6.0)),
    (raised_again, (1.0, -1.0, 3.0)),
    (assertion, (1.0, -1.0)),
    (everything, (10.0, 5.0, -1.0)),
    (conditional_expressions, (0.0, 0.5, 2.0, 3.0, 6.0)),
    (finally_too, (4.0, -1.0, -9.0)),
    (unbound_where_it_is_raised, (4.0, -4.0)),
    (in_a_branch, (4.0, -4.0, 20.0)),
    (always, (1.0,)),
    (names_in_messages, (1.0, -1.0)),
]


@pytest.mark.drawn(3)
@pytest.mark.parametrize(("program", "inputs"), PROGRAMS, ids=[program.__name__ for program, _ in PROGRAMS])
def test_programs(program: Any, inputs: tuple[Any, ...]) -> None:
    same(program, *inputs)


class Box:
    pass


def test_everything_is_as_it_was_when_the_exception_was_raised() -> None:
    v, w = gx.Variable(0.0), gx.Variable(0.0)

    def program(x: Tensor, data: Tensor) -> Any:
        v.assign(1.0)
        w.assign(0.0)
        box, log, table = Box(), [x], {"a": 1}
        box.n = 1
        own = x * 1
        try:
            v.assign_add(x)
            box.n = 2
            own[()] = 5.0
            data[0] = x
            log[0] = x + 1
            table["a"] = 2
            root(x)
            v.assign_add(10.0)
            w.assign(3.0)
            box.n = 3
            own[()] = 7.0
            data[1] = x
            log[0] = x + 2
            table["a"] = 3
            if x > 5:
                raise KeyError("k")
            box.n = 4
            data[0] = 50.0
            v.assign_add(100.0)
        except ValueError:
            box.n = box.n + 10
            v.assign_add(1000.0)
            table["a"] = table["a"] + 10
        except KeyError as error:
            box.n = box.n + 20
            print(error)
        print(box.n, v.value(), own, log, table["a"], data)
        return box.n, v.value(), w.value(), own, log, table

    for value in (4.0, -4.0, 6.0):
        data = [f(0.0, 1.0, 2.0) for _ in range(2)]
        eager = outcome(program, f(value), data[0])
        variables = (v.numpy(), w.numpy())
        call = compiled(program)
        assert outcome(call, f(value), data[1]) == eager
        assert (v.numpy(), w.numpy()) == variables
        assert data[0].tolist() == data[1].tolist()


def test_random_numbers_after_it_are_those_of_eager_code() -> None:
    def program(x: Tensor) -> Any:
        first = gx.random.uniform(())
        try:
            second = gx.random.uniform(())
            root(x)
            second = second + gx.random.uniform(())
        except ValueError:
            second = second * 2
        return first, second, gx.random.uniform(())

    for value in (1.0, -1.0):
        gx.random.seed(5)
        eager = outcome(program, f(value))
        call = compiled(program)
        call(f(value))
        gx.random.seed(5)
        assert outcome(call, f(value)) == eager


def test_gradients_flow_through_handlers() -> None:
    def program(x: Tensor) -> Tensor:
        y = x
        for _ in range(6):
            try:
                y = y * x
                if y > 10:
                    raise ValueError(y * y)
                y = y + 1
            except ValueError as error:
                y = error.args[0] * 0.01 + y * 0.1
        return y

    def gradient(fn: Any) -> Any:
        def run(x: Tensor) -> Any:
            with gx.GradientTape() as tape:
                tape.watch(x)
                y = fn(x)
            return y, tape.gradient(y, x)

        return run

    for value in (0.5, 1.1, 2.0):
        expected = outcome(gradient(program), f(value)).result
        for call in (gradient(compiled(program)), compiled(gradient(program))):
            assert outcome(call, f(value)).result == pytest.approx(expected, rel=1e-4)


def test_a_finally_block_in_between() -> None:
    def program(x: Tensor) -> Any:
        count = 0
        try:
            try:
                root(x)
            finally:
                count = count + 1
        except ValueError:
            count = count + 10
        return count

    same(program, 1.0, -1.0)


def test_groups_are_refused() -> None:
    def program(x: Tensor) -> Tensor:
        try:
            x = root(x)
        except* ValueError:
            x = x * 0
        return x

    with pytest.raises(UnimplementedError, match=r"ValueError that is raised at .* would be caught by a try statement"):
        gx.function(program)(f(1.0))


def test_values_that_cannot_be_merged_are_refused() -> None:
    def program(x: Tensor) -> Any:
        try:
            root(x)
            y = gx.ones(2)
        except ValueError:
            y = gx.ones(3)
        return x, y

    with pytest.raises(InvalidArgumentError, match=r"the variable 'y' is .*f32\[3\].* and .*f32\[2\]"):
        gx.function(program)(f(1.0))


# Programs at random


class Writer:
    """Writes the text of a program from a list of choices."""

    def __init__(self, choose: Callable[[int], int]) -> None:
        self.choose = choose
        self.lines = ["def program(x):", "    y = x * 1", "    z = x + 1"]
        self.count = 0

    def block(self, depth: int, indent: str, loop: bool) -> None:
        for _ in range(1 + self.choose(3)):
            self.statement(depth, indent, loop)

    def statement(self, depth: int, indent: str, loop: bool) -> None:
        write, inner = self.lines.append, indent + "    "
        name, other = "xyz"[self.choose(3)], "xyz"[self.choose(3)]
        number = self.choose(9) - 4
        kind = self.choose(10 if depth else 4)
        if kind <= 1:
            write(f"{indent}{name} = {other} * {1 + self.choose(2)} + {number}")
        elif kind == 2:
            self.count += 1
            write(f"{indent}print({self.count}, {name}, {other})")
        elif kind == 3:
            error = ("ValueError", "KeyError", "TypeError")[self.choose(3)]
            write(f"{indent}if {name} > {number}:")
            write(f"{inner}raise {error}('e{self.choose(9)}', {other})")
        elif kind <= 5:
            write(f"{indent}if {name} > {number}:")
            self.block(depth - 1, inner, loop)
            if self.choose(2):
                write(f"{indent}else:")
                self.block(depth - 1, inner, loop)
        elif kind == 6:
            write(f"{indent}for i in range({2 + self.choose(5)}):")
            self.block(depth - 1, inner, True)
        else:
            self.handlers(depth, indent, loop)

    def handlers(self, depth: int, indent: str, loop: bool) -> None:
        write, inner = self.lines.append, indent + "    "
        write(f"{indent}try:")
        self.block(depth - 1, inner, loop)
        for error in ("ValueError", "(KeyError, OSError)")[: 1 + self.choose(2)]:
            write(f"{indent}except {error} as e:")
            write(f"{inner}print('caught', e.args[0], e.args[1])")
            self.block(depth - 1, inner, loop)
            if self.choose(4) == 0:
                write(
                    f"{inner}raise" if self.choose(2) else f"{inner}raise TypeError('again', {'xyz'[self.choose(3)]})"
                )
        if self.choose(3) == 0:
            write(f"{indent}else:")
            self.block(depth - 1, inner, loop)

    def program(self) -> Any:
        self.block(3, "    ", False)
        self.lines += ["    return x, y, z", ""]
        text = "\n".join(self.lines)
        file = f"<program {hash(text)}>"
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
        space: dict[str, Any] = {}
        exec(compile(text, file, "exec"), space)
        return space["program"], text


@settings(max_examples=12)
@given(st.data(), st.tuples(st.integers(-5, 5), st.integers(-5, 5)))
def test_random_programs(data: st.DataObject, starts: tuple[int, int]) -> None:
    program, text = Writer(lambda n: data.draw(st.integers(0, n - 1))).program()
    call = compiled(program)
    for start in starts:
        eager, found = (outcome(function, gx.asarray(float(start))) for function in (program, call))
        assert (found.printed, found.result, found.error and found.error[:2]) == (
            eager.printed, eager.result, eager.error and eager.error[:2],
        ), text  # fmt: skip


def test_what_handlers_caught_keeps_no_object_alive() -> None:
    class Holder:
        def __init__(self, value: Any) -> None:
            self.value = value

    def program(x: Tensor) -> Any:
        holder, n, items = Holder(x), 0, [x]
        try:
            while x > 5 and n < 2:
                gx.loop_options(max_iterations=12)
                n += 1
                items.append(x + n)
                try:
                    if n > 7:
                        raise ValueError(2)
                except ValueError:
                    pass
        except Exception:
            n -= 1
        return n, len(items), holder.value

    for _ in range(10):  # an object that is still held would be taken for one that outlives the function
        n, length, value = gx.function(program)(gx.asarray(7))
        assert (n.item(), length.item(), value.item()) == (2, 3, 7)


def test_no_handler_catches_what_compiled_code_alone_cannot_do() -> None:
    def program(x: Tensor) -> Any:
        n = 0
        try:
            while x > 0:
                gx.loop_options(max_iterations=3)
                x = x - 1
                n += 1
        except Exception:
            n = -1
        return n

    call = gx.function(program)
    assert call(f(2.0)).item() == program(f(2.0)) == 2
    with pytest.raises(FailedPreconditionError, match="has not ended after max_iterations=3"):
        call(f(5.0))
