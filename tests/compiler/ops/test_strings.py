"""The functions of strings, and the array functions that take strings too."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base.errors import ConcretizationError, InvalidArgumentError, InvalidTypeError, OutOfRangeError
from graphc.compiler.core import STRING_RULES
from graphc.compiler.ir import OPS
from tests.compiler.ops.docstrings import Docstring

NAMES = gx.asarray(["b", "a", "c", "a"])
GRID = gx.asarray([["d", "a"], ["c", "b"]])


def held(value: Any) -> Any:
    """The values of what a function of arrays gives."""
    if isinstance(value, tuple | list):
        return [held(item) for item in value]
    return value.tolist()


# Each function of arrays with arguments, and NumPy's function with the same ones.
ARRAYS: dict[str, list[tuple[Any, Any]]] = {
    "identity": [(lambda xp, x: gx.identity(x) if xp is gx else x, NAMES)],
    "stop_gradient": [(lambda xp, x: gx.stop_gradient(x) if xp is gx else x, NAMES)],
    "broadcast_arrays": [(lambda xp, x: xp.broadcast_arrays(x[:2], x[:2, None]), NAMES)],
    "broadcast_to": [(lambda xp, x: xp.broadcast_to(x, (2, 4)), NAMES)],
    "expand_dims": [(lambda xp, x: xp.expand_dims(x, 1), NAMES)],
    "matrix_transpose": [(lambda xp, x: xp.matrix_transpose(x), GRID)],
    "moveaxis": [(lambda xp, x: xp.moveaxis(x, 0, 1), GRID)],
    "permute_dims": [(lambda xp, x: xp.permute_dims(x, (1, 0)), GRID), (lambda xp, x: x.T, GRID)],
    "ravel": [(lambda xp, x: xp.ravel(x), GRID), (lambda xp, x: x.flatten(), GRID)],
    "reshape": [(lambda xp, x: xp.reshape(x, (2, -1)), NAMES), (lambda xp, x: x.reshape(2, 2), NAMES)],
    "squeeze": [(lambda xp, x: xp.squeeze(x[None]), NAMES)],
    "swapaxes": [(lambda xp, x: xp.swapaxes(x, 0, 1), GRID)],
    "array_split": [(lambda xp, x: xp.array_split(x, 3), NAMES)],
    "concat": [(lambda xp, x: xp.concat([x, x[:, ::-1]], axis=1), GRID), (lambda xp, x: xp.concat((x, ["z"])), NAMES)],
    "flip": [(lambda xp, x: xp.flip(x, axis=0), GRID)],
    "hstack": [(lambda xp, x: xp.hstack([x, x]), GRID)],
    "repeat": [(lambda xp, x: xp.repeat(x, 2, axis=1), GRID)],
    "roll": [(lambda xp, x: xp.roll(x, 1), NAMES)],
    "split": [(lambda xp, x: xp.split(x, [1, 3]), NAMES)],
    "stack": [(lambda xp, x: xp.stack([x, x], axis=1), NAMES)],
    "tile": [(lambda xp, x: xp.tile(x, (2, 1)), GRID)],
    "unstack": [(lambda xp, x: xp.unstack(x, axis=1), GRID), (lambda xp, x: xp.unstack(x), GRID)],
    "vstack": [(lambda xp, x: xp.vstack([x, x]), NAMES)],
    "take": [(lambda xp, x: xp.take(x, [2, 0]), NAMES), (lambda xp, x: xp.take(x, 1, axis=0), GRID)],
    "where": [(lambda xp, x: xp.where(np.array([True, False, True, False]), x, "no"), NAMES)],
    "argsort": [(lambda xp, x: xp.argsort(x, stable=True), NAMES), (lambda xp, x: xp.argsort(x, axis=0), GRID)],
    "equal": [(lambda xp, x: xp.equal(x, "a"), NAMES), (lambda xp, x: xp.equal(x[0], "b"), NAMES)],
    "greater": [(lambda xp, x: xp.greater(x, "a"), NAMES)],
    "greater_equal": [(lambda xp, x: xp.greater_equal(x, "b"), NAMES)],
    "isin": [(lambda xp, x: xp.isin(x, ["a", "z"]), GRID), (lambda xp, x: xp.isin(x, ["a"], invert=True), NAMES)],
    "less": [(lambda xp, x: xp.less(x, "b"), NAMES)],
    "less_equal": [(lambda xp, x: xp.less_equal(x, "b"), NAMES)],
    "not_equal": [(lambda xp, x: xp.not_equal(x, "a"), NAMES)],
    "searchsorted": [(lambda xp, x: xp.searchsorted(xp.sort(x), ["b"]), NAMES)],
    "sort": [(lambda xp, x: xp.sort(x), NAMES), (lambda xp, x: xp.sort(x, axis=0), GRID)],
    "intersect1d": [(lambda xp, x: xp.intersect1d(x, ["a", "z"]), NAMES)],
    "setdiff1d": [(lambda xp, x: xp.setdiff1d(x, ["a", "z"]), NAMES)],
    "setxor1d": [(lambda xp, x: xp.setxor1d(x, ["a", "z"]), NAMES)],
    "union1d": [(lambda xp, x: xp.union1d(x, ["a", "z"]), NAMES)],
    "unique": [
        (lambda xp, x: xp.unique(x), NAMES),
        (lambda xp, x: xp.unique(x, return_inverse=True, return_counts=True), NAMES),
    ],
    "unique_all": [(lambda xp, x: xp.unique_all(x), NAMES)],
    "unique_counts": [(lambda xp, x: xp.unique_counts(x), NAMES)],
    "unique_inverse": [(lambda xp, x: xp.unique_inverse(x), NAMES)],
    "unique_values": [(lambda xp, x: xp.unique(x), NAMES)],
    "add": [(lambda xp, x: xp.add(x, "!"), NAMES), (lambda xp, x: x + x, GRID)],
}


def test_every_rule_is_of_an_op_and_has_a_test() -> None:
    assert set(STRING_RULES) == set(ARRAYS)
    assert set(STRING_RULES) <= {name for name, _ in OPS.items()}


@pytest.mark.parametrize("name", sorted(ARRAYS))
def test_array_functions_of_strings_are_numpys(name: str) -> None:
    for function, x in ARRAYS[name]:
        expected = function(np, np.asarray(x))
        found = function(gx, x)
        assert held(found) == held(expected)
        for one in found if isinstance(found, tuple) else (found,):
            assert isinstance(one, gx.StringTensor | gx.Tensor)


def test_sorting_downwards_keeps_equal_strings_in_order() -> None:
    assert gx.sort(NAMES, descending=True).tolist() == ["c", "b", "a", "a"]
    assert gx.argsort(NAMES, descending=True).tolist() == [2, 0, 1, 3]


def test_functions_made_of_others() -> None:
    assert gx.compress([True, False, True, False], NAMES).tolist() == ["b", "c"]
    assert gx.select([NAMES == "a", NAMES == "b"], ["A", "B"], "other").tolist() == ["B", "A", "other", "A"]
    with pytest.raises(OutOfRangeError, match=r"take\(x: string\[4\]\): index 9 is out of bounds"):
        gx.take(NAMES, 9)


TEXTS = [
    (lambda s: s.join(["data", NAMES[:2]], separator="/"), ["data/b", "data/a"]),
    (lambda s: s.join([]), ""),
    (lambda s: s.join(NAMES), "baca"),
    (lambda s: s.reduce_join(GRID), "dacb"),
    (lambda s: s.reduce_join(GRID, axis=0, separator="-"), ["d-c", "a-b"]),
    (lambda s: s.reduce_join(GRID, axis=(1, 0)), "dcab"),
    (lambda s: s.reduce_join(GRID, axis=-1, keepdims=True), [["da"], ["cb"]]),
    (lambda s: s.reduce_join(gx.asarray([[], []], dtype=str), axis=1), ["", ""]),
    (lambda s: s.split("a b  c"), ["a", "b", "c"]),
    (lambda s: s.split(["a,b", "c,"], ","), [["a", "b"], ["c", ""]]),
    (lambda s: s.split("a b c", maxsplit=1), ["a", "b c"]),
    (lambda s: s.split(["a b", "c"], fill="-"), [["a", "b"], ["c", "-"]]),
    (lambda s: s.split(""), []),
    (lambda s: s.strip([" a\n", "b"]), ["a", "b"]),
    (lambda s: s.lower("ÄB"), "äb"),
    (lambda s: s.upper("äb"), "ÄB"),
    (lambda s: s.upper("äb", encoding=""), "äB"),
    (lambda s: s.length(["héllo", ""]), [5, 0]),
    (lambda s: s.length("héllo", unit="BYTE"), 6),
    (lambda s: s.substr("hello", -3, 2), "ll"),
    (lambda s: s.substr("hello", 5, 2), ""),
    (lambda s: s.substr("hello", 2, -1), "llo"),
    (lambda s: s.substr(["hello", "world"], [0, 1], 2), ["he", "or"]),
    (lambda s: s.substr("hé", 1, 2, unit="BYTE"), "é"),
    (lambda s: s.regex_replace("aXbX", "(.)X", r"\1-\0"), "a-aXb-bX"),
    (lambda s: s.regex_replace("aXbX", "X", "", replace_global=False), "abX"),
    (lambda s: s.regex_full_match(["ab", "abc"], "a.*b"), [True, False]),
    (lambda s: s.to_number(["1.5", " -2e1 ", ".5", "5.", "inf"]), [1.5, -20.0, 0.5, 5.0, float("inf")]),
    (lambda s: s.to_number(["+5", " 7"], "int32"), [5, 7]),
    (lambda s: s.as_string([1.5, float("nan")]), ["1.500000", "nan"]),
    (lambda s: s.as_string([True, False]), ["true", "false"]),
    (lambda s: s.as_string([1 + 2j]), ["(1.000000,2.000000)"]),
    (lambda s: s.as_string(3.14159, precision=2), "3.14"),
    (lambda s: s.as_string([7, -7], width=5, fill="0"), ["00007", "-0007"]),
    (lambda s: s.as_string(-7, width=5, fill="-"), "-7   "),
    (lambda s: s.as_string(1e10, scientific=True), "1.000000e+10"),
    (lambda s: s.as_string([0.1, 123456789.0], shortest=True), ["0.1", "1.23457e+08"]),
    (lambda s: s.format("a {} b {}", (gx.arange(1, 9), ["x", "y"])), 'a [1 2 3 ... 6 7 8] b ["x" "y"]'),
    (lambda s: s.format("{}", gx.asarray([[1.5, 2], [3, 4]])), "[[1.5 2]\n [3 4]]"),
    (lambda s: s.format("% of %", (1, 2.5), placeholder="%"), "1 of 2.5"),
    (lambda s: s.lookup(["cat", "dog"], [["dog"], ["cat"]]), [[1], [0]]),
    (lambda s: s.lookup(["cat", "dog"], ["dog", "cow"], default=-1), [1, -1]),
]


@pytest.mark.parametrize(("use", "expected"), TEXTS)
def test_functions_of_strings(use: Any, expected: Any) -> None:
    found = use(gx.strings).tolist()
    if isinstance(expected, list) and any(value != value for value in expected):
        assert str(found) == str(expected)
    else:
        assert found == expected


@pytest.mark.parametrize(
    ("lines", "defaults", "options", "expected"),
    [
        (["1,,3", "4,5,6"], [0, 9, 0.0], {}, [[1, 4], [9, 5], [3.0, 6.0]]),
        ('a,"b,""c",3', ["", "", 0.0], {}, ["a", 'b,"c', 3.0]),
        ("1,NA", [0, 9], {"na_value": "NA"}, [1, 9]),
        ("1, 2", [gx.int32, np.float32], {}, [1, 2.0]),
        ("a ,b", [gx.string, gx.asarray([], dtype=str)], {}, ["a ", "b"]),
        ('a"b,c', ["", ""], {"use_quote_delim": False}, ['a"b', "c"]),
        ("1|2", [0, [0.5]], {"field_delim": "|"}, [1, 2.0]),
        ("1,2,3", [0, 0], {"select_cols": [0, 2]}, [1, 3]),
        ('"a\nb",c', ["", ""], {}, ["a\nb", "c"]),
    ],
)
def test_lines_of_comma_separated_values(lines: Any, defaults: Any, options: Any, expected: Any) -> None:
    assert [column.tolist() for column in gx.strings.decode_csv(lines, defaults, **options)] == expected


@pytest.mark.parametrize(
    ("given", "dtype", "options", "expected"),
    [
        ([b"\x01\x02\x03\x04", b"\x05\x06\x07\x08"], gx.int16, {}, [[513, 1027], [1541, 2055]]),
        ([b"\x01\x02\x03\x04"], "int16", {"little_endian": False}, [[258, 772]]),
        (b"", np.int32, {}, []),
        (gx.asarray([], dtype=str), np.uint8, {}, []),
        (b"\x01\x00\x02", bool, {}, [True, False, True]),
        ([b"\xff", b"\xff\xfe\xfd"], gx.uint8, {"fixed_length": 2}, [[255, 0], [255, 254]]),
        (np.float32([1.5, -2]).tobytes(), gx.float32, {}, [1.5, -2.0]),
        (np.array([1 + 2j], ">c8").tobytes(), gx.complex64, {"little_endian": False}, [1 + 2j]),
        (b"\x80\x3f", gx.bfloat16, {}, [1.0]),
        (b"\x3f\x80", gx.bfloat16, {"little_endian": False}, [1.0]),
        (np.int64([7]).tobytes(), "int64", {}, [7]),
    ],
)
def test_bytes_as_numbers(given: Any, dtype: Any, options: Any, expected: Any) -> None:
    assert gx.strings.decode_raw(given, dtype, **options).tolist() == expected


def test_a_vocabulary_goes_both_ways() -> None:
    labels = gx.strings.Vocabulary(["cat", "dog"], default=0, first=1)
    assert len(labels) == 2
    assert labels.lookup(["dog", "cow"]).tolist() == [2, 0]
    assert labels.strings(gx.asarray([[2], [1]])).tolist() == [["dog"], ["cat"]]
    assert labels(["dog", "cow"]).tolist() == labels.lookup(["dog", "cow"]).tolist()  # as TensorFlow's StringLookup
    assert gx.strings.Vocabulary([]).lookup(gx.asarray([], dtype=str)).shape == (0,)


WRONG = [
    (
        lambda s: s.lower(gx.ones(2)),
        r"strings.lower: x must be a tensor of strings, got f32\[2\]; gx.strings.as_string con",
    ),
    (lambda s: s.join(["a", 1]), r"strings.join: inputs\[1\] must be a tensor of strings, got int 1"),
    (lambda s: s.join([NAMES, ["a", "b"]]), r"strings.join: the shapes \(4,\) and \(2,\) cannot be broadcast together"),
    (lambda s: s.reduce_join(NAMES, axis=1), r"strings.reduce_join: axis 1 is out of range for shape \(4,\)"),
    (lambda s: s.split(["a b", "c"]), r"strings.split: element \[1\]: 1 parts, where another string has 2; pass fill="),
    (lambda s: s.length("a", unit="BIT"), r"strings.length: unit is 'BIT', expected 'CHAR' or 'BYTE'"),
    (lambda s: s.substr(["hello"], 6, 2), r"strings.substr: element \[0\]: position 6 is outside 'hello'"),
    (lambda s: s.substr("hello", "1", 2), r"strings.substr: pos must be a tensor of numbers, got str '1'"),
    (lambda s: s.regex_replace("a", "(", ""), r"strings.regex_replace: pattern '\(' is not a regular expression"),
    (lambda s: s.regex_replace("a", "a", r"\2"), r"strings.regex_replace: rewrite '\\\\2' does not fit the pattern"),
    (lambda s: s.to_number(["1", "1_0"]), r"strings.to_number: element \[1\]: '1_0' is not a number of dtype float32"),
    (lambda s: s.to_number("300", "uint8"), r"strings.to_number: '300' is not a number of dtype uint8"),
    (lambda s: s.to_number("1.0", "int32"), r"'1.0' is not a number of dtype int32"),
    (lambda s: s.to_number("1", bool), r"strings.to_number: out_type is bool, expected floats or integers"),
    (lambda s: s.as_string(1.0, scientific=True, shortest=True), r"scientific and shortest cannot be combined"),
    (lambda s: s.as_string(1, fill="x"), r"strings.as_string: fill is 'x', expected ' ', '0', '\+' or '-'"),
    (lambda s: s.as_string(NAMES), r"strings.as_string: x must be a tensor of numbers, got string\[4\]"),
    (lambda s: s.as_string(object()), r"strings.as_string: x: expected a tensor, an array, a number .* got object"),
    (lambda s: s.lower("a", encoding="latin-1"), r"strings.lower: encoding is 'latin-1', expected 'utf-8' or ''"),
    (lambda s: s.format("{} {}", (1,)), r"strings.format: 2 times '{}' in the template, but 1 inputs"),
    (
        lambda s: s.lookup(["cat"], ["cta"]),
        r"element \[0\]: 'cta' is not in the vocabulary of 1 strings \(is it 'cat'\?\); ",
    ),
    (lambda s: s.Vocabulary(["a", "b", "a"]), r"strings.Vocabulary: 'a' is there twice"),
    (lambda s: s.Vocabulary(["a"]).strings([1]), r"element \[0\]: 1 has no string; the numbers are 0 to 0"),
    (lambda s: s.decode_csv("1,2", [0]), r"strings.decode_csv: record 0 has 2 fields, expected 1: '1,2'"),
    (lambda s: s.decode_csv("1,x", [0, 0]), r"field 1 of record 0 is 'x', which is not a number of dtype int32"),
    (lambda s: s.decode_csv("1,", [0, gx.int32]), r"field 1 of record 0 is empty and has no default"),
    (lambda s: s.decode_csv('a"b,c', ["", ""]), r"record 0 has a quote inside an unquoted field"),
    (lambda s: s.decode_csv('"a', [""]), r"record 0 is not a line of comma-separated values"),
    (lambda s: s.decode_csv("1", [[0, 1]]), r"record_defaults\[0\] has 2 elements, expected one, or none for"),
    (lambda s: s.decode_csv("1,2", [0, 0], select_cols=[1, 0]), r"select_cols is \[1, 0\], expected .* ascending"),
    (lambda s: s.decode_raw(b"abc", gx.int16), r"a string of 3 bytes, which is not a multiple of 2, the size of int16"),
    (
        lambda s: s.decode_raw([b"ab", b"c"], gx.uint8),
        r"all strings must have the same number of bytes, but element 1 has 1 and the first 2; pass fixed_length",
    ),
    (lambda s: s.decode_raw(b"", gx.int16, fixed_length=3), r"fixed_length is 3, expected a positive multiple of 2"),
    (
        lambda s: s.decode_raw(b"", gx.string),
        r"strings.decode_raw: out_type must be a dtype of numbers, got that of strings",
    ),
    (lambda s: s.decode_raw(3, gx.int16), r"strings.decode_raw: input_bytes must be a tensor of strings, got int 3"),
    (
        lambda s: s.decode_raw(np.int64([1 << 40]).tobytes(), "int64"),
        r"int32 stands for int64 while gx.config.enable_x64 is False, and cannot hold all",
    ),
    (lambda s: s.decode_csv("1", [0], select_cols=[0, 1]), r"1 record_defaults, but 2 columns in select_cols"),
]


@pytest.mark.parametrize(("use", "message"), WRONG)
def test_what_does_not_fit_is_refused_with_its_place(use: Any, message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message) as caught:
        use(gx.strings)
    assert "test_strings.py" in str(caught.value)


@pytest.mark.parametrize("name", gx.strings.__all__)
def test_every_function_says_what_it_takes(name: str) -> None:
    made = getattr(gx.strings, name)
    doc = Docstring.parse(inspect.getdoc(made) or "")
    assert doc.summary
    assert doc.example
    assert set(doc.parameters) == set(inspect.signature(made).parameters)


def test_the_classes_of_errors() -> None:
    assert issubclass(InvalidTypeError, TypeError)
    with pytest.raises(TypeError):
        gx.strings.lower(3)
    with pytest.raises(
        ConcretizationError, match=r"strings.as_string: x \(f32\[\], the argument 'v'\) has no value while"
    ):
        gx.function(lambda v: gx.strings.as_string(v))(gx.asarray(1.0))


@pytest.mark.parametrize("as_bytes", [False, True])
def test_many_lines_are_decoded_as_each_by_itself(as_bytes: bool) -> None:
    lines = ["1,a,2.5", ",b,-1e3", "3,NA, 4"]
    defaults = [7, "none", 0.5]
    given: Any = np.array([line.encode() for line in lines], object) if as_bytes else lines
    at_once = [column.tolist() for column in gx.strings.decode_csv(given, defaults, na_value="NA")]
    assert at_once == [[1, 7, 3], ["a", "b", "none"], [2.5, -1000.0, 4.0]]
    for wrong, problem in [
        ("1,a", "record 3 has 2 fields, expected 3"),
        ("x,a,1", "field 0 of record 3 is 'x', which is not a number of dtype int32"),
        ("1_0,a,1", "field 0 of record 3 is '1_0', which is not a number"),
        ("99999999999,a,1", "which is not a number of dtype int32"),
    ]:
        with pytest.raises(InvalidArgumentError, match=problem):
            gx.strings.decode_csv([*lines, wrong], defaults, na_value="NA")
    quoted = gx.strings.decode_csv([*lines, '1,"x,y",2'], defaults, na_value="NA")[1]
    assert quoted.tolist()[3] == "x,y"
