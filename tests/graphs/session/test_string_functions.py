"""The functions of strings in graphs: what they give where their strings are fed is what they give at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base.errors import InvalidArgumentError
from graphc.compiler.core import string
from graphc.compiler.ops import strings
from graphc.graphs.session import Graph, Session, placeholder

WORDS = [["Abc", " d\u00e9 "], ["1", "x2x"]]
NUMBERS = ["1", "22"]

CALLS: dict[str, tuple[Callable[[Any], Any], Any, tuple[Any, ...]]] = {
    "join": (lambda x: strings.join([x, "-", ["a", "b"]], separator="/"), WORDS, (2, 2)),
    "reduce_join": (lambda x: strings.reduce_join(x, axis=1, separator="+"), WORDS, (2,)),
    "reduce_join all": (strings.reduce_join, WORDS, ()),
    "reduce_join keepdims": (lambda x: strings.reduce_join(x, [0], keepdims=True), WORDS, (1, 2)),
    "split": (lambda x: strings.split(x, "x", fill="?"), WORDS, (2, 2, None)),
    "strip": (strings.strip, WORDS, (2, 2)),
    "lower": (strings.lower, WORDS, (2, 2)),
    "upper": (lambda x: strings.upper(x, encoding=""), WORDS, (2, 2)),
    "length": (lambda x: strings.length(x, unit="BYTE"), WORDS, (2, 2)),
    "substr": (lambda x: strings.substr(x, [[0], [-1]], 1), WORDS, (2, 2)),
    "format": (lambda x: strings.format("{} and {}", (x, 3)), WORDS, ()),
    "regex_replace": (lambda x: strings.regex_replace(x, "[0-9]", "#"), WORDS, (2, 2)),
    "regex_full_match": (lambda x: strings.regex_full_match(x, ".*x"), WORDS, (2, 2)),
    "to_number": (lambda x: strings.to_number(x, "int32"), NUMBERS, (2,)),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_run_gives_what_eager_code_gives(name: str) -> None:
    call, value, shape = CALLS[name]
    eager = call(gx.asarray(value))
    expected = eager.tolist()
    with Graph().as_default(), Session() as session:
        known = placeholder(string, np.shape(value))
        open_size = placeholder(string, (None, *np.shape(value)[1:]))
        unranked = placeholder(string)
        made = [call(one) for one in (known, open_size, unranked)]
        assert made[0].shape == shape
        assert made[0].dtype == (object if eager.dtype == string else eager.dtype)
        for one, fed in zip(made, (known, open_size, unranked), strict=True):
            found = session.run(one, {fed: value})
            text = np.vectorize(lambda item: item.decode() if isinstance(item, bytes) else item, otypes=[object])
            assert np.asarray(text(found)).tolist() == expected
            assert one.dtype != object or isinstance(np.ravel(found)[0], bytes)


def test_numbers_of_a_graph_are_written() -> None:
    with Graph().as_default(), Session() as session:
        x = placeholder("float32", (None,))
        written = strings.as_string(x, precision=2)
        assert session.run(written, {x: [1.0, 2.5]}).tolist() == [b"1.00", b"2.50"]
        assert session.run(strings.format("x = {}", x), {x: [1.0, 2.5]}) == b"x = [1 2.5]"


def test_an_op_prints_with_its_attributes() -> None:
    with Graph().as_default() as graph:
        strings.to_number(placeholder(string, (2,), name="lines"), "int64" if gx.config.enable_x64 else "int32")
    assert "strings.to_number" in str(graph)


def test_what_does_not_fit_is_refused_when_the_graph_is_built_or_runs() -> None:
    with Graph().as_default(), Session() as session:
        two, three = placeholder(string, (2,)), placeholder(string, (3,))
        with pytest.raises(InvalidArgumentError, match=r"the shapes of str\[2\] and str\[3\] cannot be broadcast"):
            strings.join([two, three])
        with pytest.raises(InvalidArgumentError, match=r"axis 4 is out of range for str\[2\]"):
            strings.reduce_join(two, axis=4)
        number = strings.to_number(two)
        with pytest.raises(InvalidArgumentError, match="to_number") as caught:
            session.run(number, {two: ["1", "one"]})
        assert "test_string_functions.py" in str(caught.value)
