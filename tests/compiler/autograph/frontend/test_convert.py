"""Converted functions do what the originals do."""

from __future__ import annotations

import ast
import copy
import functools
import gc
import inspect
import traceback
import types
import weakref
from collections.abc import Callable
from typing import Any

import pytest

from graphc.compiler.autograph import convert, is_converted, to_source
from tests.compiler.autograph.frontend import convert_corpus
from tests.compiler.autograph.frontend.convert_corpus import CASES
from tests.compiler.autograph.frontend.reference_operators import Plain, both, plain

ONE_LINE = [lambda x: x and 1, lambda x: x or 2, lambda x: lambda y: y and x]
NESTED = lambda x: lambda x: x and "inner"  # noqa: E731


def behaviour(fn: Callable[..., Any], args: tuple[Any, ...]) -> tuple[Any, ...]:
    """What a call does: the value, or the error and where it was raised; and what became of the arguments."""
    args = copy.deepcopy(args)
    try:
        outcome: tuple[Any, ...] = ("value", fn(*args))
    except Exception as error:
        lines = [
            frame.lineno
            for frame in traceback.extract_tb(error.__traceback__)
            if frame.filename == convert_corpus.__file__
        ]
        kind = NameError if isinstance(error, NameError) else type(error)
        text = "" if kind is NameError else str(error)
        outcome = ("error", kind, text, lines[-1])
    return (*outcome, args)


@pytest.mark.parametrize(("fn", "calls"), CASES, ids=lambda value: getattr(value, "__name__", ""))
def test_converted_functions_behave_as_the_originals(fn: types.FunctionType, calls: list[tuple[Any, ...]]) -> None:
    for args in calls:
        expected = behaviour(fn, args)
        assert behaviour(convert(fn, operators=plain), args) == expected


def test_the_corpus_is_wide() -> None:
    assert len(CASES) >= 60


def test_line_numbers_in_a_traceback_are_the_users() -> None:
    fn = convert_corpus.error_in_loop
    with pytest.raises(ZeroDivisionError) as info:
        convert(fn, operators=plain)(3)
    frames = [frame for frame in traceback.extract_tb(info.tb) if frame.filename == convert_corpus.__file__]
    first = fn.__code__.co_firstlineno + 1  # one decorator
    assert [frame.lineno - first for frame in frames] == [2, 3, 4]
    assert {frame.name for frame in frames} == {"error_in_loop"}
    assert frames[-1].line == "total += 1 // (i - 2)"


NO_EFFECTS = [fn for fn, _ in CASES if fn.__name__ in {
    "if_else", "if_without_else", "maybe_unbound", "maybe_unbound_in_branch", "copied_in_branch", "copied_then_nested",
    "local_to_branch_then_nested", "shadowed_life", "early_return", "return_falls_off", "partial_return",
    "return_in_both", "while_loop", "while_true", "while_true_break", "target_after_loop", "bound_in_loop_only",
    "break_in_else_of_inner", "deep_jump", "walrus_into_branch", "delete_names", "closure_counts", "global_in_branch",
    "value_seen_by_handler", "value_seen_by_handler_from_loop", "suppressed", "match_statement",
}]  # fmt: skip


@pytest.mark.parametrize("fn", NO_EFFECTS, ids=lambda fn: fn.__name__)
def test_state_is_complete_when_both_branches_are_run(fn: types.FunctionType) -> None:
    for args in dict(CASES)[fn]:
        assert behaviour(convert(fn, operators=both), args) == behaviour(fn, args)


# What the new function shares with the old


def test_signature_and_names_are_kept() -> None:
    def fn(a: int, /, b: str = "b", *c: int, d: float = 1.0, **e: int) -> tuple[Any, ...]:
        """Its docstring."""
        return a, b, c, d, e

    fn.tag = "mine"  # pyright: ignore[reportFunctionMemberAccess]
    new = convert(fn, operators=plain)
    assert inspect.signature(new) == inspect.signature(fn)
    for name in ("__name__", "__qualname__", "__doc__", "__module__", "__defaults__", "__kwdefaults__", "__globals__"):
        assert getattr(new, name) is getattr(fn, name)
    assert new.tag == "mine"
    code = new.__code__
    assert (code.co_name, code.co_qualname) == (fn.__code__.co_name, fn.__code__.co_qualname)
    assert (code.co_filename, code.co_firstlineno) == (fn.__code__.co_filename, fn.__code__.co_firstlineno)
    assert new(1) == fn(1)


def test_the_first_line_is_that_of_the_decorator() -> None:
    fn = convert_corpus.if_else
    assert convert(fn, operators=plain).__code__.co_firstlineno == fn.__code__.co_firstlineno


def test_closures_share_code_and_keep_their_cells() -> None:
    def make(start: int) -> tuple[Callable[[], int], Callable[[int], None]]:
        value = start

        def get() -> int:
            return value + 1 if value else -1

        def put(new: int) -> None:
            nonlocal value
            if new:
                value = new

        return get, put

    (get_1, put_1), (get_2, _) = make(1), make(2)
    new_1, new_2 = convert(get_1, operators=plain), convert(get_2, operators=plain)
    assert new_1.__code__ is new_2.__code__
    assert (new_1(), new_2()) == (2, 3)
    put_1(5)
    assert (new_1(), new_2()) == (6, 3)
    convert(put_1, operators=plain)(7)
    assert get_1() == 8


def test_a_cell_that_is_still_empty_is_no_obstacle() -> None:
    def fn(x: int) -> int:
        return later(x) if x else 0

    new = convert(fn, operators=plain)

    def later(x: int) -> int:
        return x + 1

    assert new(1) == 2


def test_operators_are_part_of_the_cache_key() -> None:
    class Counting(Plain):
        calls = 0

        def if_exp(self, *args: Any) -> object:
            self.calls += 1
            return super().if_exp(*args)

    def fn(x: int) -> int:
        return 1 if x else 0

    counting = Counting()
    convert(fn, operators=plain)(1)
    convert(fn, operators=counting)(1)
    assert counting.calls == 1


def test_a_function_is_not_kept_alive() -> None:
    class Held:
        pass

    held: object = Held()

    def fn() -> object:
        return [1 if held else 0]

    new = convert(fn, operators=plain)
    assert new() == [1]
    watch = weakref.ref(held)
    held = None
    del fn, new
    gc.collect()
    assert watch() is None


def test_converted_code_is_marked_inside_and_out() -> None:
    def fn(x: int) -> tuple[Any, ...]:
        def inner() -> int:
            return x

        class Local:
            def method(self) -> int:
                return x

        return inner, lambda: x, Local.method

    new = convert(fn, operators=plain)
    inner, thunk, method = new(1)
    assert not is_converted(fn)
    assert is_converted(new)
    assert is_converted(new.__code__)
    assert is_converted(inner)
    assert is_converted(thunk)
    assert not is_converted(method)
    assert convert(new, operators=plain) is new
    assert convert(method, operators=plain)(None) == 1


# Lambdas, methods


def test_lambdas_on_one_line_are_told_apart() -> None:
    first, second, third = (convert(fn, operators=plain) for fn in ONE_LINE)
    assert (first(0), second(0), third(3)(2)) == (0, 2, 3)
    assert convert(third(4).__closure__ and ONE_LINE[2](4), operators=plain)(0) == 0


def test_a_lambda_inside_a_lambda_is_told_apart() -> None:
    assert convert(NESTED(0), operators=plain)(1) == "inner"
    assert convert(NESTED, operators=plain)(0)(2) == "inner"


def test_a_lambda_over_several_lines() -> None:
    fn = lambda x: (  # noqa: E731
        "some"
        if x
        else "none"
    )  # fmt: skip
    assert convert(fn, operators=plain)(0) == "none"


class Base:
    def greet(self, name: str) -> str:
        return "hello " + name


class Child(Base):
    __hidden = "hidden"

    def greet(self, name: str = "you") -> str:
        if name:
            return super().greet(name)
        return __class__.__name__

    def nested(self) -> str:
        if self:

            def again() -> str:
                return super(Child, self).greet("again")

            return again()
        return ""

    def private(self, __argument: int = 1) -> tuple[Any, ...]:
        for _ in range(1):
            self.__attribute = self.__hidden
            self.__attribute += "!"
            __local = __argument
        return self.__attribute, self.__method(), __local, sorted(vars(self))

    def __method(self) -> str:
        return "private" if self else ""


class __Underscored:
    def method(self) -> Any:
        if self:
            self.__x = 1
        return vars(self)


def test_super_and_class_cell() -> None:
    new = convert(Child.greet, operators=plain)
    assert new(Child(), "me") == "hello me"
    assert new(Child()) == "hello you"
    assert new(Child(), "") == "Child"
    assert convert(Child.nested, operators=plain)(Child()) == "hello again"


def test_private_names_are_mangled() -> None:
    assert convert(Child.private, operators=plain)(Child()) == Child().private()
    assert convert(__Underscored.method, operators=plain)(__Underscored()) == {"_Underscored__x": 1}


def test_a_global_of_the_functions_own_name_stays_global() -> None:
    original = convert_corpus.recursion
    assert convert(original, operators=plain)(5) == 120
    assert "recursion" not in convert(original, operators=plain).__code__.co_freevars


def test_functools_wrapped_functions_are_found_by_their_code() -> None:
    def inner(x: int) -> str:
        return "yes" if x else "no"

    @functools.wraps(inner)
    def outer(x: int) -> str:
        if x:
            return "outer"
        return inner(x)

    assert convert(outer, operators=plain)(1) == "outer"


def test_default_operators_are_the_packages_own() -> None:
    def fn(x: int) -> str:
        return "yes" if x else "no"

    assert convert(fn)(1) == "yes"


# The text


def test_to_source_of_a_branch() -> None:
    def fn(x):  # noqa: ANN001, ANN202
        if x > 0:
            y = 1
        return y

    assert (
        to_source(fn)
        == """\
def fn(x):
    y = ag__.unbound('y')

    def ag__get_state_1():
        return (y,)

    def ag__set_state_1(ag__values):
        nonlocal y
        y, = ag__values

    def ag__body_1():
        nonlocal y
        y = 1
    ag__.if_stmt(ag__.compare('>', x, 0), ag__body_1, ag__nothing, ag__get_state_1, ag__set_state_1, ('y',))
    return ag__.load(y)"""
    )


def test_to_source_of_a_loop() -> None:
    def fn(xs):  # noqa: ANN001, ANN202
        for x in xs:
            if x:
                break
            xs.seen = x

    assert (
        to_source(fn)
        == """\
def fn(xs):
    ag__break_1 = False

    def ag__get_state_2():
        return (ag__break_1,)

    def ag__set_state_2(ag__values):
        nonlocal ag__break_1
        ag__break_1, = ag__values

    def ag__body_2(ag__item):
        nonlocal ag__break_1
        x = ag__item

        def ag__get_state_3():
            return (ag__break_1,)

        def ag__set_state_3(ag__values):
            nonlocal ag__break_1
            ag__break_1, = ag__values

        def ag__body_3():
            nonlocal ag__break_1
            ag__break_1 = True

        def ag__orelse_3():
            ag__.store_attr(xs, 'seen', x)
        ag__.if_stmt(x, ag__body_3, ag__orelse_3, ag__get_state_3, ag__set_state_3, ('ag__break_1',))
    ag__.for_stmt(xs, lambda: ag__.not_(ag__break_1), ag__body_2, ag__get_state_2, ag__set_state_2, ('ag__break_1',))"""
    )


@pytest.mark.parametrize(
    ("fn", "text"),
    [
        (lambda a, b: a and not b, "lambda a, b: ag__.and_(lambda: a, lambda: ag__.not_(b))"),
        (lambda a: 1 if a else 2, "lambda a: ag__.if_exp(a, lambda: 1, lambda: 2)"),
        (lambda a, b: a < b <= 3, "lambda a, b: ag__.compare_chain(a, ('<', '<='), (lambda: b, lambda: 3))"),
        (lambda a, b: a not in b, "lambda a, b: ag__.not_(ag__.contains(a, b))"),
        (
            lambda a, *b: len(a.c(*b, k=1)),
            "lambda a, *b: ag__.call(len)(ag__.call_method(a, 'c')(*ag__.spread(b), k=1))",
        ),
        (
            lambda a, b: [c for (c,) in a for d in b],
            "lambda a, b: ag__.made(ag__.listed(a, lambda ag__item: [ag__.clause((), lambda: ag__.generator(b, "
            "lambda d: ag__.clause((), lambda: c, False), True), True) for c, in (ag__.items(ag__item),)][0], False))",
        ),
        (lambda a: {a: 1, "b": 2, **a}, "lambda a: ag__.made({ag__.hashed(a): 1, 'b': 2, **ag__.mapping(a)})"),
        (lambda a: {a, 1}, "lambda a: {ag__.hashed(a), 1}"),
        (
            lambda a: f"{a!r:>{a}}{1}",
            "lambda a: ag__.joined(ag__.formatted(a, 'r', ag__.joined('>', ag__.formatted(a, '', ''))), "
            "ag__.formatted(1, '', ''))",
        ),
        (lambda a: inspect.stack(a.b), "lambda a: ag__.call(inspect.stack)(ag__.load_attr(a, 'b'))"),
        (lambda a, b: a + 2 * -b, "lambda a, b: ag__.binary('+', a, ag__.binary('*', 2, ag__.unary('-', b)))"),
        (
            lambda a: [a == -1, a is None, 2 * 3 + 1],
            "lambda a: ag__.made([ag__.compare('==', a, -1), ag__.is_(a, None), 2 * 3 + 1])",
        ),
        (lambda a: a[1:, -1], "lambda a: ag__.load_item(a, (ag__slice(1, None, None), -1))"),
        (lambda: locals(), "lambda: locals()"),
    ],
)
def test_to_source_of_expressions(fn: types.FunctionType, text: str) -> None:
    assert to_source(fn) == text


def test_attributes_go_through_an_operator_unless_they_are_those_of_a_module() -> None:
    def fn(a):  # noqa: ANN001, ANN202
        b = a.outside
        while b:
            a.count += ast.inside
        with a.manager:
            return a.items[0]

    text = to_source(fn)
    assert "b = ag__.load_attr(a, 'outside')" in text
    assert "ag__.inplace('+', ag__.load_attr(a, 'count'), ast.inside)" in text
    assert "with ag__.manager(ag__.load_attr(a, 'manager')):" in text
    assert "ag__.load_item(ag__.load_attr(a, 'items', by_item=True), 0)" in text
