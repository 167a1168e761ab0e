"""``match`` means what it means in Python, on Python objects and on tensors."""

from __future__ import annotations

import collections
import itertools
import linecache
import traceback
import types
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphc as gx
from graphc import Tensor
from graphc.compiler.autograph import convert, to_source
from graphc.compiler.base.errors import SideEffectWarning
from tests.compiler.autograph.differential import f
from tests.compiler.autograph.frontend.reference_operators import Plain, both, plain

LOG: list[str] = []


class Color(Enum):
    RED = 1
    BLUE = 2


@dataclass
class Point:
    x: Any
    y: Any = 0


class Logged:
    """Notes when it is compared."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        LOG.append(f"== {other}")
        return self.value == other

    __hash__ = None  # pyright: ignore[reportAssignmentType]


class Wrong(collections.UserList[int]):
    """A sequence with fewer items than it says."""

    def __len__(self) -> int:
        return 2


NAMES = {"Color": Color, "collections": collections}
_count = itertools.count()


def make(patterns: list[str]) -> types.FunctionType:
    """A function of a subject that says which case matches, and what the names are bound to."""
    cases = "".join(
        f"        case {pattern}:\n            found = ({position}, a, b)\n"
        for position, pattern in enumerate(patterns)
    )
    head = "def program(subject, a='unbound', b='unbound'):\n    found = None\n    match subject:\n"
    return define(f"{head}{cases}    return found, a, b\n", "program")


def define(text: str, name: str) -> types.FunctionType:
    file = f"<matching-{next(_count)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    namespace: dict[str, Any] = dict(NAMES)
    exec(compile(text, file, "exec"), namespace)
    return namespace[name]


def outcome(fn: Callable[..., Any], subject: Any) -> tuple[Any, ...]:
    """What a call gives: a value or an error, and what it asked of the subject in which order."""
    LOG.clear()
    try:
        return repr(fn(subject)), tuple(LOG)
    except Exception as error:
        return type(error), str(error), tuple(LOG)


SUBJECTS: list[Any] = [
    0, 1, -1, 5, 2.0, True, False, None, "", "a", "ab", b"ab", 1j, Color.RED,
    [], [1], [1, 2], [1, [2, 3]], (1, 2, 3), (0, "a", None), [0, 0, 0, 0], range(3), {1, 2},
    collections.deque([1, 2]), collections.UserList([1, 2, 3]), Wrong([1]), Wrong([1, 2, 3]),
    {}, {"a": 1}, {"a": 1, "b": [1, 2]}, {"b": None, 1: 0}, collections.OrderedDict(a=1),
    collections.defaultdict(int), collections.UserDict({"a": 5}), collections.ChainMap({"a": 1}, {"b": 2}),
    Point(0), Point(1, 2), Point(Point(0, 1), [1, 2]), Logged(0), Logged(1),
    [Logged(0), Logged(1)], [Logged(1), Logged(0)], int, Point,
]  # fmt: skip

PATTERNS = [
    "0", "-1", "'a'", "b'ab'", "1j", "1 + 2j", "None", "True", "False", "Color.RED", "collections.missing",
    "a", "_", "a if a", "a if a == 1", "_ if subject", "0 | 1 | 'a'", "1 | None as a", "(0 | 1) as a if a", "True | 5",
    "[]", "[a]", "(a, b)", "[_, _]", "[a, *b]", "[*a, b]", "[a, *_]", "[*_, a]", "[_, *_]", "[*_]", "[*a]", "(a,)",
    "[a, *_, b]", "[1, a]", "[a, [b, 3]]", "[0, *_, 0]", "[1 | 2 as a, *b]", "[_, a, *b] if b", "[1, 2] as a",
    "[0, 1]", "[1, [_, 0]]", "[1, _] | [_, 1]", "[a, 1] | [1, a]", "[0, Color.missing]", "[1, Color.missing]",
    "[a, b] | [b, [a]] if a", "[0 | 1 as a] | [_, a]", "[1 | 2 as a, *_] | ('a' | 0 as a, _)",
]  # fmt: skip


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_pattern_means_what_it_means_in_python(pattern: str) -> None:
    fn = make([pattern])
    converted = [convert(fn, operators=plain), convert(fn)]
    for subject in SUBJECTS:
        expected = outcome(fn, subject)
        assert [outcome(new, subject) for new in converted] == [expected] * 2


@given(st.lists(st.sampled_from(PATTERNS), min_size=1, max_size=5), st.lists(st.sampled_from(SUBJECTS), max_size=6))
def test_cases_are_tried_in_order(patterns: list[str], subjects: list[Any]) -> None:
    *before, last = patterns
    patterns = [p if p not in ("a", "_", "[*_]") else f"{p} if subject" for p in before] + [last]
    fn = make(patterns)
    for subject in subjects:
        expected = outcome(fn, subject)
        assert outcome(convert(fn, operators=plain), subject) == expected


def patterns(names: tuple[str, ...]) -> st.SearchStrategy[str]:
    """Random patterns that bind the names, each once."""
    leaf = st.sampled_from(["0", "1", "'a'", "None", "True", "_", "Color.RED", "1 | 'a'", "[]"])
    if not names:
        return st.one_of(leaf, st.tuples(leaf, leaf).map(lambda pair: f"[{pair[0]}, {pair[1]}]"))
    name, inner = names[0], patterns(names[1:])
    if len(names) == 1:
        inner = st.one_of(st.just("_"), inner)
    return st.one_of(
        st.tuples(leaf, inner).map(lambda pair: f"[({pair[0]}) as {name}, {pair[1]}]".replace("(_) as ", "")),
        inner.map(lambda part: f"[{part}, *{name}]"),
        inner.map(lambda part: f"[*{name}, {part}]"),
        st.tuples(inner, leaf).map(lambda pair: f"[{pair[0]}, {name}] | [{name}, {pair[1]}, {pair[0]}]"),
    )


objects = st.recursive(
    st.sampled_from([0, 1, True, None, "a", 2.0, Color.RED]),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.tuples(inner, inner),
        st.dictionaries(st.sampled_from(["a", "b"]), inner, max_size=2),
        st.builds(Point, inner, inner),
    ),
    max_leaves=6,
)


@given(
    st.tuples(*map(patterns, [("a", "b"), ("b",), ("a",), ()])),
    st.lists(st.sampled_from([" if subject", " if a", " if a != 'unbound'"]), min_size=4, max_size=4),
    st.lists(objects, min_size=1, max_size=5),
)
def test_random_patterns_mean_what_they_mean_in_python(
    chosen: tuple[str, ...], guards: list[str], subjects: list[Any]
) -> None:
    fn = make([pattern + guard for pattern, guard in zip(chosen, guards, strict=True)])
    new = convert(fn, operators=plain)
    for subject in subjects:
        assert outcome(new, subject) == outcome(fn, subject)


def test_static_subjects_stay_python_while_a_function_is_traced() -> None:
    seen: list[Any] = []

    @gx.do_not_convert
    def look() -> None:
        for pattern in PATTERNS:
            fn = make([pattern])
            new = convert(fn)
            seen.extend((pattern, outcome(fn, subject), outcome(new, subject)) for subject in SUBJECTS)

    def program(x: Tensor) -> Tensor:
        look()
        return x

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SideEffectWarning)
        graph = gx.function(program).graph(f(1.0))
    assert len(graph.nodes) == 0
    assert [got for _, _, got in seen] == [expected for _, expected, _ in seen]


# The text, and its lines


def test_the_text_is_readable() -> None:
    def fn(x):  # noqa: ANN001, ANN202
        match x:
            case 0 | None:
                pass
            case [a, [1, *_]] | [[a]]:
                x.seen = a

    text = to_source(fn)
    expected = """\
    ag__subject_1 = x
    ...
        ag__a_2 = None
        ag__matched_3 = ag__.is_not((ag__parts_4 := ag__.match_sequence(ag__subject_1, 2, None, 'unpacked')), None) and ag__.is_((ag__a_2 := ag__.load_item(ag__parts_4, 0)), ag__a_2) and (ag__.is_not((ag__parts_5 := ag__.match_sequence(ag__.load_item(ag__parts_4, 1), 2, 1, 'some')), None) and ag__.matched(ag__.compare('==', ag__.load_item(ag__parts_5, 0), 1)))
    ...
            a = ag__a_2
            ag__.store_attr(x, 'seen', a)
    ...
        ag__.if_stmt(ag__matched_3, ag__body_9, ag__nothing, ag__nothing, ag__nothing, ())
    ag__.if_stmt(ag__.or_(lambda: ag__.compare('==', ag__subject_1, 0), lambda: ag__.is_(ag__subject_1, None)), ag__body_8, ag__orelse_8, ag__nothing, ag__nothing, ())
"""  # noqa: E501
    position = 0
    for part in expected.split("    ...\n"):
        position = text.find(part.rstrip("\n"), position)
        assert position >= 0, part


def lines_of(code: types.CodeType) -> set[int]:
    own = {line for _, _, line in code.co_lines() if line is not None}
    return own.union(*(lines_of(part) for part in code.co_consts if isinstance(part, types.CodeType)))


SPREAD = """\
def fn(x):
    match (
        x
    ):
        case 0 | 1:
            y = x
        case (
            [a, _]
        ) if a:
            y = a
        case [a, *_] if (
            a > 5
        ):
            y = a
        case 5 as y if (y := y + 1):
            pass
        case None | "a":
            y = 1
        case _:
            y = 2
    return y
"""


def test_the_lines_of_all_cases_are_in_the_code() -> None:
    fn = define(SPREAD, "fn")
    assert not lines_of(fn.__code__) - lines_of(convert(fn, operators=plain).__code__)


def test_errors_in_patterns_and_guards_have_the_line_of_the_case() -> None:
    def fn(x: Any, y: Any) -> Any:
        match x:
            case 0:
                return 0
            case (1, Color.missing):  # pyright: ignore
                return 1
            case [2, a] if 1 // a:
                return 2
            case y.missing:
                return 3

    for args in ((1, 1), 0), ((2, 0), 0), (5, 0):
        places: list[list[int | None]] = []
        for run in (fn, convert(fn, operators=plain)):
            with pytest.raises((AttributeError, ZeroDivisionError)) as info:
                run(*args)
            frames = traceback.extract_tb(info.tb)
            places.append([frame.lineno for frame in frames if frame.filename == __file__][-1:])
        assert places[0] == places[1]


# What the conversion knows of the names


def test_names_of_values_do_not_become_state() -> None:
    states: list[tuple[str, ...]] = []

    class Recording(Plain):
        def if_stmt(self, test, body, orelse, get_state, set_state, names, unread=None) -> None:  # noqa: ANN001
            states.append(names)
            super().if_stmt(test, body, orelse, get_state, set_state, names)

    def fn(x: Any, limits: Any) -> Any:
        match x:
            case limits.x:
                limits, y = None, 1
            case [limits.y, y]:
                limits = y
            case _:
                y = 2
        return y

    new = convert(fn, operators=Recording())
    assert [new(1, Point(1)), new([2, 5], Point(1, 2)), new("?", Point(1))] == [1, 5, 2]
    assert set(states) == {("y",)}


def test_inner_functions_and_classes_keep_their_own() -> None:
    def fn(x: Any) -> Any:
        match x:
            case [first, *others]:

                def inner(y: Any) -> Any:
                    nonlocal first
                    match y:
                        case 0 | 1 as small:
                            first = small
                        case found:
                            return found, others
                    return first

                class Local:
                    match others:
                        case [second, *_]:
                            value = second
                        case _:
                            value = None

                    def method(self, z: Any) -> Any:
                        match z:
                            case [_, third]:
                                return third, x

                return inner(0), inner(5), first, Local.value, Local().method((1, 2))
        return x

    for subject in ([7, 8, 9], [7], 3):
        assert convert(fn, operators=plain)(subject) == fn(subject)
        assert convert(fn)(subject) == fn(subject)


def test_no_name_is_bound_before_the_pattern_has_matched() -> None:
    def fn(x: Any) -> Any:
        a = b = 0
        match x:
            case [a, 1, b] if b > 5:
                return 1, a, b
            case [a, 2, 3]:
                return 2, a, b
            case (1 as b, a, _) if a:
                pass
            case _:
                pass
        return a, b

    for subject in ([1, 1, 6], [1, 1, 2], [3, 2, 3], [3, 2, 4], [1, 0, 0], [1, 5, 0], 7):
        assert convert(fn, operators=plain)(subject) == fn(subject)
        assert convert(fn, operators=both)(subject) == fn(subject)
