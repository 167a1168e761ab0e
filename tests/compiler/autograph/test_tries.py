"""``try`` statements around what is raised by the values of tensors: no handler is compiled for it."""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from typing import Any

import pytest

import graphc as gx
from graphc import Tensor
from graphc.compiler.base.errors import FailedPreconditionError, UnimplementedError
from tests.compiler.autograph.outcomes import same, watchdog  # noqa: F401  the fixture

pytestmark = pytest.mark.usefixtures("watchdog")


def f(*values: float) -> Tensor:
    return gx.asarray(values[0] if len(values) == 1 else list(values))


def root(x: Tensor) -> Tensor:
    if x < 0:
        raise ValueError(f"no root of {x}", x)
    print("root", x)
    return gx.sqrt(x)


CAUGHT = (
    r"the ValueError that is raised at .*test_tries\.py:\d+ would be caught by a try statement at "
    r".*test_tries\.py:\d+; whether it is raised depends on tensors.* Compute with if or gx\.where what the handler "
    r"would, or catch the exception around the call of the compiled function"
)


def test_a_handler_is_refused() -> None:
    def in_a_called_function(x: Tensor) -> Tensor:
        try:
            x = root(x)
        except ValueError:
            x = x * 0
        return x

    def around_a_loop(xs: Tensor) -> Tensor:
        total = xs[0] * 0
        try:
            for x in xs:
                total = total + root(x)
        except (KeyError, ValueError):
            total = total - 1
        return total

    def in_a_loop(xs: Tensor) -> Tensor:
        total = xs[0] * 0
        for x in xs:
            try:
                total = total + root(x)
            except Exception:
                total = total - 1
        return total

    for program, given in (
        (in_a_called_function, f(1.0)),
        (around_a_loop, f(*map(float, range(40)))),
        (in_a_loop, f(*map(float, range(40)))),
    ):
        with pytest.raises(UnimplementedError, match=CAUGHT):
            gx.function(program)(given)


def test_a_handler_cannot_catch_the_refusal() -> None:
    def program(x: Tensor) -> Tensor:
        try:
            try:
                root(x)
            except ValueError:
                return x
        except BaseException:
            return x * 0
        return x

    with pytest.raises(UnimplementedError, match=CAUGHT):
        gx.function(program)(f(1.0))


def test_handlers_of_other_classes_let_it_pass() -> None:
    def program(x: Tensor) -> Tensor:
        try:
            x = root(x)
        except KeyError:
            x = x * 0
        return x

    same(program, 1.0, -1.0)


def test_pythons_own_exceptions_are_caught_in_branches_and_loops() -> None:
    def program(x: Tensor) -> Tensor:
        table = {"a": 1.0}
        for name in ("a", "b"):
            if x > 0:
                try:
                    x = x + table[name]
                except KeyError:
                    x = x * 2
        return x

    same(program, 1.0, -1.0)


def test_a_finally_block_with_an_effect_is_refused() -> None:
    def prints(x: Tensor) -> Tensor:
        try:
            x = root(x)
        finally:
            print("end")
        return x

    def stores(x: Tensor, log: gx.Variable) -> Tensor:
        try:
            x = root(x)
        finally:
            log.assign(x)
        return x

    match = r"ValueError.* would pass through a finally block at .*Do before or after the statement what the block does"
    with pytest.raises(UnimplementedError, match=match):
        gx.function(prints)(f(1.0))
    with pytest.raises(UnimplementedError, match=match):
        gx.function(stores)(f(1.0), gx.Variable(0.0))


def test_a_finally_block_with_an_effect_is_refused_where_the_body_always_raises() -> None:
    def program(x: Tensor) -> Tensor:
        try:
            if x > 0:
                raise ValueError("positive")
            raise KeyError("else")
        finally:
            print("end")

    with pytest.raises(UnimplementedError, match=r"would pass through a finally block"):
        gx.function(program)(f(1.0))


def test_a_finally_block_without_effects_lets_it_pass() -> None:
    class Quiet:
        def __enter__(self) -> None:
            self.entered = 1

        def __exit__(self, *error: object) -> None:
            return None

    @contextlib.contextmanager
    def quiet() -> Generator[int]:
        try:
            yield 3
        finally:
            pass

    def program(x: Tensor) -> Any:
        count = 0
        try:
            with Quiet(), quiet() as number:
                x = root(x) * number
        finally:
            count = count + 1
        return x, count

    same(program, 1.0, -1.0)


def test_a_manager_with_an_effect_is_refused() -> None:
    class Loud:
        def __enter__(self) -> None:
            print("in")

        def __exit__(self, *error: object) -> None:
            print("out")

    def program(x: Tensor) -> Tensor:
        with Loud():
            return root(x)

    with pytest.raises(UnimplementedError, match=r"ValueError.* would pass through `with` on a Loud at"):
        gx.function(program)(f(1.0))


def test_groups_are_refused() -> None:
    def program(x: Tensor) -> Tensor:
        try:
            x = root(x)
        except* ValueError:
            x = x * 0
        return x

    with pytest.raises(UnimplementedError, match=r"ValueError that is raised at .* would be caught by a try statement"):
        gx.function(program)(f(1.0))


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
