"""Tensors of strings in compiled functions: values of Python's, known while the function is traced."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base.errors import ConcretizationError, InvalidArgumentError, InvalidTypeError, UnimplementedError

NAMES = gx.asarray(["b", "a", "c"])
X = gx.asarray([1.0, 2.0, 3.0])


def test_a_trace_is_cached_by_the_strings() -> None:
    traced: list[Any] = []

    @gx.function(side_effects="ignore")
    def scaled(x: Any, names: Any) -> Any:
        traced.append(names)
        return x * 2 if names.ravel()[0] == "b" else x

    assert scaled(X, NAMES).tolist() == [2.0, 4.0, 6.0]
    assert scaled(X, gx.asarray(["b", "a", "c"])).tolist() == [2.0, 4.0, 6.0]
    assert len(traced) == 1
    assert scaled(X, gx.asarray(["q", "a", "c"])).tolist() == [1.0, 2.0, 3.0]
    assert scaled(X, NAMES[None]).tolist() == [2.0, 4.0, 6.0]  # the same strings in another shape
    assert len(traced) == 3
    assert "names was StringTensor(['b', 'a', 'c'], " in str(scaled.trace_report()[1])


def test_attributes_are_looked_at_at_each_call() -> None:
    class Lengths:
        def __init__(self) -> None:
            self.names = NAMES

        @gx.function
        def __call__(self, x: Any) -> Any:
            return x + gx.strings.length(self.names)

    lengths = Lengths()
    assert lengths(X).tolist() == [2.0, 3.0, 4.0]
    lengths.names = gx.asarray(["aa", "", ""])
    assert lengths(X).tolist() == [3.0, 2.0, 3.0]


def joined(x: Any, names: Any) -> Any:
    names = "data/" + names
    return names, gx.strings.reduce_join(names, separator=","), x + gx.strings.length(names), names == "data/a"


def looped(x: Any, names: Any) -> Any:
    label = gx.asarray("")
    for name in names:
        x = x + gx.strings.length(name)
        label = label + name
        if name == "a":
            x = x * 10.0
    for i in range(len(names)):
        label = names[i] + label
    return x, label


def counted(x: Any, names: Any) -> Any:
    for i in range(40):
        x = x + gx.strings.length(names) * i
    return x


def chosen(x: Any, names: Any) -> Any:
    best = names[0]
    if gx.sum(x) > 3.0:
        best = names[1]
    if best == "a":
        x = -x
    return x, best, best + "!"


def numbers(x: Any, names: Any) -> Any:
    found = gx.strings.lookup(["a", "b", "c"], names)
    (values,) = gx.strings.decode_csv(["1.5", "2.5", "3.5"], [0.0])
    assert not gx.any(found > 5)
    return gx.take(x, found) * values, gx.sort(names), gx.strings.as_string(found)


@pytest.mark.parametrize("function", [joined, looped, counted, chosen, numbers])
@pytest.mark.parametrize("x", [X, -X])
def test_compiled_functions_give_what_eager_code_gives(function: Any, x: Any) -> None:
    assert gx.compare(function, x, NAMES).equal


USES: list[tuple[Any, Any]] = [
    (lambda x: gx.sum(NAMES) + x, InvalidTypeError),
    (lambda x: NAMES + x, InvalidTypeError),
    (lambda x: x + NAMES, InvalidTypeError),
    (lambda x: x == NAMES, InvalidTypeError),
    (lambda x: gx.concat([x, NAMES]), InvalidTypeError),
    (lambda x: gx.strings.lower(x), InvalidTypeError),
]


@pytest.mark.parametrize(("use", "error"), USES)
def test_refused_with_the_same_sentence_in_both_modes(use: Any, error: type[Exception]) -> None:
    said: list[str] = []
    for run in (use, gx.function(use)):
        with pytest.raises(error) as caught:
            run(X)
        assert "test_strings.py" in str(caught.value)
        said.append(str(caught.value).split("\n")[0])
    assert said[0] == said[1]


NEED_VALUES = [
    (
        lambda x: NAMES[gx.argmax(x)],
        r"strings \(string\[3\]\)\[index\]: index \(i32\[\], the result of argmax at .*\) has",
    ),
    (
        lambda x: gx.take(NAMES, gx.argmax(x)),
        r"take: indices \(i32\[\], .*\) has no value while the function is traced",
    ),
    (
        lambda x: gx.where(x > 1, NAMES, "no"),
        r"where: condition \(bool\[3\], .* return the tensor, and choose the string",
    ),
    (
        lambda x: gx.strings.as_string(x),
        r"strings.as_string: x \(f32\[3\], the argument 'x'\) has no value .* after the c",
    ),
    (lambda x: gx.strings.format("{}", x), r"strings.format: inputs\[0\] \(f32\[3\]"),
]


@pytest.mark.parametrize(("use", "message"), NEED_VALUES)
def test_strings_by_values_of_traced_tensors_are_refused(use: Any, message: str) -> None:
    use(X)
    with pytest.raises(ConcretizationError, match=message) as caught:
        gx.function(use)(X)
    assert "test_strings.py" in str(caught.value)


def test_functions_of_a_string_that_tensors_choose_are_refused() -> None:
    @gx.function
    def f(x: Any) -> Any:
        name = NAMES[0]
        if gx.sum(x) > 3.0:
            name = NAMES[1]
        return gx.strings.length(name)

    with pytest.raises(
        UnimplementedError, match=r"strings.length of a value that is StringTensor\('a'.* or .* not follo"
    ):
        f(X)


def test_a_signature_may_ask_for_strings() -> None:
    @gx.function(input_signature=[gx.TensorSpec((None,), gx.string)])
    def f(names: Any) -> Any:
        return names + "!", gx.strings.length(names)

    strings, lengths = f(["a", "bc"])
    assert strings.tolist() == ["a!", "bc!"]
    assert lengths.tolist() == [1, 2]
    assert f(np.array(["a"]))[0].tolist() == ["a!"]
    with pytest.raises(
        InvalidArgumentError, match=r"argument 'names' is string\[\], but input_signature requires string\[\?\]"
    ):
        f("a")
    with pytest.raises(
        InvalidArgumentError, match=r"argument 'names' is f32\[3\], but input_signature requires string\[\?\]"
    ):
        f(X)
    with pytest.raises(InvalidTypeError, match=r"argument 'x' must be a tensor \(float32\[3\]\), got StringTensor"):
        gx.function(lambda x: x, input_signature=[gx.TensorSpec((3,))])(NAMES)


def test_text_and_print(capsys: pytest.CaptureFixture[str]) -> None:
    @gx.function
    def f(x: Any) -> Any:
        print("names", NAMES[0], f"{NAMES[1]}: {gx.sum(x)}")
        return x

    f(X)
    f(X)
    assert capsys.readouterr().out == "names b a: 6.0\n" * 2
