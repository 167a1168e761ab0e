"""Tensors of strings: values on the host, with the manners of tensors."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError, OutOfRangeError

NAMES = gx.asarray(["b", "a", "c"])
NUMBERS = gx.asarray([1.0, 2.0, 3.0])


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("cat", "cat"),
        (b"cat", "cat"),
        (Path("data/a.csv"), str(Path("data/a.csv"))),
        (["a", b"b", np.str_("c")], ["a", "b", "c"]),
        ([["a", "b"], ["c", "d"]], [["a", "b"], ["c", "d"]]),
        (np.array(["a", "bc"]), ["a", "bc"]),
        (np.array([b"a", b"bc"]), ["a", "bc"]),
        (np.array(["a", "bc"], object), ["a", "bc"]),
        (np.array(["a", "bc"], np.dtypes.StringDType()), ["a", "bc"]),
        ([NAMES[0], "z"], ["b", "z"]),
        ((NAMES, NAMES), [["b", "a", "c"], ["b", "a", "c"]]),
    ],
)
def test_what_makes_a_tensor_of_strings(value: Any, expected: Any) -> None:
    for made in (gx.asarray(value), gx.string(value), gx.asarray(value, dtype=str), gx.array(value)):
        assert isinstance(made, gx.StringTensor)
        assert made.tolist() == expected
        assert made.shape == np.shape(expected)
        assert made.dtype == gx.string


def test_bytes_that_are_no_text_are_kept() -> None:
    raw = bytes(range(256))
    assert gx.asarray(raw).item().encode("utf-8", "surrogateescape") == raw


def test_what_it_says_of_itself() -> None:
    rows = gx.asarray([["a", "b"]])
    assert (rows.shape, rows.ndim, rows.size, len(rows), rows.device) == ((1, 2), 2, 2, 1, "/device:CPU:0")
    assert gx.shape(rows) == (1, 2)
    assert gx.ndim(rows) == gx.size(rows) == 2
    assert repr(rows[0]) == "StringTensor(['a', 'b'], shape=(2,), dtype=string)"
    assert str(rows[0, 1]) == f"{rows[0, 1]}" == rows[0, 1].item() == rows[0, 1].numpy() == "b"
    assert f"{rows[0, 1]:>3}" == "  b"
    assert rows.numpy().dtype == object
    assert repr(gx.string) == "graphc.string"
    assert gx.string.name == "string"
    assert hash(gx.string) == hash(pickle.loads(pickle.dumps(gx.string)))
    assert gx.float32 != gx.string


def test_it_does_not_change_and_has_no_hash() -> None:
    source = np.array(["a", "b"], object)
    made = gx.asarray(source)
    source[0] = "z"
    made.numpy()[0] = "z"
    assert made.tolist() == ["a", "b"]
    with pytest.raises(InvalidTypeError, match=r"items of a tensor of strings \(string\[2\]\) cannot be assigned"):
        made[0] = "z"
    with pytest.raises(TypeError, match="unhashable"):
        hash(made)
    assert copy.deepcopy(made) is copy.copy(made) is made.wait() is made
    assert pickle.loads(pickle.dumps(made)).tolist() == ["a", "b"]


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        (0, "b"),
        (-1, "c"),
        (slice(1, None), ["a", "c"]),
        (..., ["b", "a", "c"]),
        (None, [["b", "a", "c"]]),
        ([2, 0], ["c", "b"]),
        (gx.asarray(1), "a"),
        (gx.asarray([2, 0]), ["c", "b"]),
        (NUMBERS > 1.5, ["a", "c"]),
        ((np.int32(1),), "a"),
    ],
)
def test_indexing(index: Any, expected: Any) -> None:
    assert NAMES[index].tolist() == expected


def test_wrong_indices_are_refused_with_the_line() -> None:
    with pytest.raises(OutOfRangeError, match=r"strings \(string\[3\]\): index 7 is out of bounds") as caught:
        NAMES[7]
    assert "test_strings.py" in str(caught.value)
    with pytest.raises(InvalidTypeError, match="only integers, slices"):
        NAMES["a"]  # pyright: ignore[reportArgumentType]


def test_iteration_membership_and_truth() -> None:
    assert [name.item() for name in NAMES] == ["b", "a", "c"]
    assert "a" in NAMES
    assert "z" not in NAMES
    assert 3 not in NAMES
    assert gx.asarray("a")
    assert not gx.asarray("")
    for use in (bool, gx.StringTensor.item):
        with pytest.raises(InvalidArgumentError, match=r"needs exactly one element, this tensor is string\[3\]"):
            use(NAMES)
    for use in (len, list):
        with pytest.raises(InvalidTypeError, match=r"(of|over) a 0-d tensor of strings"):
            use(NAMES[0])


def test_operators() -> None:
    assert ("x/" + NAMES + ".csv").tolist() == ["x/b.csv", "x/a.csv", "x/c.csv"]
    assert (NAMES[:, None] + ["1", "2"]).tolist() == [["b1", "b2"], ["a1", "a2"], ["c1", "c2"]]
    assert (NAMES[0] + "!").item() == "b!"
    assert (NAMES == "a").tolist() == (NAMES == "a").tolist() == [False, True, False]
    assert (NAMES != ["b", "a", "a"]).tolist() == [False, False, True]
    assert (NAMES < "b").tolist() == [False, True, False]
    assert (NAMES >= "b").tolist() == [True, False, True]
    assert (np.array(["b", "x", "x"]) == NAMES).tolist() == [True, False, False]
    assert isinstance(NAMES == "a", gx.Tensor)


def test_a_name_opens_a_file(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hello")
    name = gx.asarray(tmp_path) + "/a.txt"
    with open(name) as file:
        assert file.read() == "hello"


REFUSED = [
    (
        lambda: gx.sum(NAMES),
        r"^sum: x is a tensor of strings \(string\[3\]\), which are on the host and not numbers; gx.st",
    ),
    (lambda: gx.sum(["a"]), r"^sum: x is a tensor of strings \(string\[1\]\)"),
    (lambda: gx.exp("a"), r"^exp: x is a tensor of strings \(string\[\]\)"),
    (
        lambda: NUMBERS * NAMES,
        r"^multiply: x2 is a tensor of strings \(string\[3\]\).*gx.strings.to_number\(x2\) parses",
    ),
    (lambda: NAMES * 2, r"^multiply: x1 is a tensor of strings"),
    (
        lambda: NAMES + NUMBERS,
        r"^add: x1 is a tensor of strings \(string\[3\]\), but x2 is not \(f32\[3\]\); gx.strings.t",
    ),
    (lambda: NUMBERS + NAMES, r"^add: x2 .* but x1 is not \(f32\[3\]\); .* gx.strings.as_string\(x1\) converts"),
    (lambda: NAMES == 1.0, r"^equal: x1 is a tensor of strings \(string\[3\]\), but x2 is not \(1.0\)"),
    (lambda: gx.concat([NAMES, NUMBERS]), r"^concat: arrays\[0\] is .* but arrays\[1\] is not \(f32\[3\]\)"),
    (lambda: gx.take(NUMBERS, NAMES), r"^take: indices is a tensor of strings"),
    (lambda: gx.nonzero(NAMES), r"^nonzero: x is a tensor of strings"),
    (lambda: gx.astype(NAMES, "float32"), r"^astype: x is a tensor of strings .*gx.strings.to_number\(x\)"),
    (lambda: NAMES.astype(float), r"^astype: x is a tensor of strings"),
    (
        lambda: gx.asarray(["1"], dtype=float),
        r"^asarray: dtype float32 was requested, but x is a tensor of strings \(string\[1\]",
    ),
    (
        lambda: gx.asarray([1.0], dtype=gx.string),
        r"^asarray: dtype graphc.string was requested, but list \[1.0\] holds no stri",
    ),
    (lambda: gx.astype(NUMBERS, gx.string), r"graphc.string is not a dtype .*gx.strings.as_string converts"),
    (lambda: gx.zeros(3, dtype=str), r"'str'> is not a dtype .*gx.asarray makes tensors of strings"),
    (
        lambda: gx.asarray(["a", 1]),
        r"cannot make a tensor from \['a', 1\].*is not numeric; .*if all elements are strings",
    ),
    (
        lambda: gx.Variable(NAMES),
        r"a tensor of strings \(string\[3\]\) is not a tensor of numbers; gx.strings.to_number",
    ),
]


@pytest.mark.parametrize(("use", "message"), REFUSED)
def test_what_computes_with_numbers_refuses_strings(use: Any, message: str) -> None:
    with pytest.raises(InvalidTypeError, match=message) as caught:
        use()
    assert "test_strings.py" in str(caught.value)


def test_rows_of_different_lengths_are_refused() -> None:
    with pytest.raises(InvalidArgumentError, match=r"its rows have the shapes \(1,\), \(2,\)"):
        gx.asarray([["a"], ["b", "c"]])
    with pytest.raises(
        InvalidArgumentError, match=r"concat\(arrays\[0\]: string\[3\], arrays\[1\]: string\[1,1\]\): all"
    ):
        gx.concat([NAMES, [["a"]]])


@pytest.mark.parametrize(
    "use",
    [
        lambda: gx.layers.Dense(2)(NAMES),
        lambda: gx.layers.Dropout(0.5)(NAMES),
        lambda: gx.losses.mean_squared_error(NUMBERS, NAMES),
        lambda: gx.optim.SGD(0.1).apply_gradients([(NAMES, gx.Variable(NUMBERS))]),
        lambda: gx.grad(lambda x: gx.sum(x))(NAMES),
        lambda: gx.vmap(lambda x: x)(NAMES),
        lambda: gx.cond(True, lambda x: x, lambda x: x, gx.strings.to_number(["1"])) + NAMES[:1],
        lambda: gx.GradientTape().watch(NAMES),
    ],
)
def test_layers_losses_and_transformations_refuse_strings(use: Any) -> None:
    with pytest.raises(InvalidTypeError) as caught:
        use()
    assert "test_strings.py" in str(caught.value)
