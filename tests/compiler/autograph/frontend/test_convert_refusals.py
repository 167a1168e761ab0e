"""What cannot be converted is refused, with the line and the remedy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from graphc.compiler.autograph import NoSourceError, convert, to_source
from graphc.compiler.base import errors
from tests.compiler.autograph.frontend.reference_operators import plain


def generator(n: int) -> Any:
    yield 1
    yield n


def delegating() -> Any:
    x = yield from generator(3)
    return x


async def coroutine(x: Any) -> Any:
    return await x


def jump_from_finally(x: int) -> int:
    try:
        x += 1
    finally:
        return x  # noqa: B012


def break_from_finally(x: int) -> None:
    for _ in range(x):
        try:
            x += 1
        finally:
            if x:
                break  # noqa: B012


def walrus_in_message(x: int) -> Any:
    assert x, (y := "text")  # noqa: RUF018
    return y


def walrus_in_raise(x: int) -> Any:
    raise ValueError(y := x)  # noqa: F841


def locals_in_branch(x: int) -> Any:
    if x:
        y = locals()
    return y


def eval_in_operand(x: int) -> Any:
    return x and eval("x + 1")


def name_of_ours(x: Any) -> Any:
    def inner() -> Any:
        ag__count = x
        return ag__count + ag__count

    return inner()


REFUSED: list[tuple[Callable[..., Any], int, str, str]] = [
    (generator, 2, "generator", "list"),
    (delegating, 1, "generator", "list"),
    (coroutine, 0, "coroutine", "without `async`"),
    (jump_from_finally, 4, "`finally`", "jump after the `try`"),
    (break_from_finally, 6, "`finally`", "jump after the `try`"),
    (walrus_in_message, 1, "the message of `assert`", "a line of its own"),
    (walrus_in_raise, 1, "`raise`", "a line of its own"),
    (locals_in_branch, 2, "`locals`", "start of the function"),
    (eval_in_operand, 1, "`eval`", "pass the variables"),
    (name_of_ours, 0, "'ag__count'", "choose another one"),
]


@pytest.mark.parametrize(("fn", "offset", "what", "remedy"), REFUSED, ids=lambda value: getattr(value, "__name__", ""))
def test_refusals_name_construct_line_and_remedy(fn: Any, offset: int, what: str, remedy: str) -> None:
    for _ in range(2):  # the second answer comes from the cache
        with pytest.raises(errors.UnsupportedSyntaxError) as info:
            convert(fn, operators=plain)
        message = str(info.value)
        assert not isinstance(info.value, NoSourceError)
        assert what in message
        assert remedy in message
        assert f'File "{__file__}", line {fn.__code__.co_firstlineno + offset}, in {fn.__name__}' in message
    with pytest.raises(errors.UnsupportedSyntaxError):
        to_source(fn)


def test_a_function_without_source_is_told_apart() -> None:
    namespace: dict[str, Any] = {}
    exec("def made(x):\n    return x", namespace)
    with pytest.raises(NoSourceError, match=r"'made'.*cannot be read.*Define it in a file") as info:
        convert(namespace["made"], operators=plain)
    assert isinstance(info.value, errors.UnsupportedSyntaxError)


def test_a_file_that_changed_is_not_taken_for_the_function(tmp_path: Any) -> None:
    file = tmp_path / "user.py"
    file.write_text("def other(y):\n    return y\n")
    namespace: dict[str, Any] = {}
    exec(compile("def fn(x):\n    return x\n", str(file), "exec"), namespace)
    with pytest.raises(NoSourceError, match="another function: the file has changed"):
        convert(namespace["fn"], operators=plain)


def test_a_file_that_no_longer_parses(tmp_path: Any) -> None:
    file = tmp_path / "user.py"
    file.write_text("def fn(x:\n")
    namespace: dict[str, Any] = {}
    exec(compile("def fn(x):\n    return x\n", str(file), "exec"), namespace)
    with pytest.raises(NoSourceError, match="does not parse now"):
        convert(namespace["fn"], operators=plain)
