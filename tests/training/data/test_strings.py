"""Functions of strings over elements: run for blocks of rows, with the values, errors and positions of one by one."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base.errors import InvalidArgumentError
from graphc.training.data import Dataset

DEFAULTS: list[Any] = [[0], [0.5], ["none"]]


def decoded(line: Any) -> Any:
    number, weight, name = gx.strings.decode_csv(line, DEFAULTS)
    return {"x": number * 2, "weight": weight, "name": gx.strings.upper(name), "length": gx.strings.length(line)}


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Files of several lengths, whose lines are not all plain."""
    folder = tmp_path_factory.mktemp("lines")
    found: list[str] = []
    for file, count in enumerate((700, 3, 290)):
        path = folder / f"{file}.csv"
        path.write_text("".join(f"{file * 1000 + k},{k}.25,n\u00e9{k % 5}\n" for k in range(count - 1)) + ",,\n")
        found.append(str(path))
    return found


def lines(names: list[str]) -> Any:
    return Dataset.from_tensor_slices(names).interleave(gx.data.text_lines, cycle_length=3)


ORDERS = {
    "map, batch": lambda source: source.map(decoded).batch(16),
    "batch, map": lambda source: source.batch(16).map(decoded),
    "batch, map, whole": lambda source: source.batch(16, drop_remainder=True).map(decoded),
    "map, map, filter": lambda source: source.map(decoded).map(lambda row: {**row, "x": row["x"] + 1}).filter(
        lambda row: row["x"] % 3 != 0
    ),
}  # fmt: skip


def plain(element: Any) -> Any:
    return {name: leaf.tolist() if isinstance(leaf, np.ndarray) else leaf for name, leaf in element.items()}


@pytest.mark.parametrize("order", ORDERS)
def test_blocks_give_what_each_element_gives(order: str, names: list[str]) -> None:
    by_file = [Path(name).read_text().split("\n")[:-1] for name in names]
    rows = [line for turn in itertools.zip_longest(*by_file) for line in turn if line is not None]
    columns = gx.strings.decode_csv(rows, DEFAULTS)
    whole = {"x": np.asarray(columns[0].numpy()) * 2, "weight": columns[1].numpy(),
             "name": np.array([text.encode() for text in gx.strings.upper(columns[2]).tolist()], object),
             "length": gx.strings.length(rows).numpy()}  # fmt: skip
    if order == "map, map, filter":
        kept = (whole["x"] + 1) % 3 != 0
        expected = [{**{name: column[k] for name, column in whole.items()}, "x": whole["x"][k] + 1}
                    for k in np.flatnonzero(kept)]  # fmt: skip
    else:
        stop = len(rows) // 16 * 16 if "whole" in order else len(rows)
        expected = [{name: column[k : k + 16].tolist() for name, column in whole.items()} for k in range(0, stop, 16)]
    dataset = ORDERS[order](lines(names))
    assert dataset.explain().count("Python calls it") == 1  # for the name of each file
    iterator = dataset.as_numpy_iterator()
    found, states = list[Any](), [iterator.state()]
    for element in iterator:
        found.append(plain(element))
        states.append(iterator.state())
    assert found == expected
    again = ORDERS[order](lines(names))
    for place in (0, 1, 5, 15, 16, 17, 33, len(found) - 1, len(found)):
        resumed = again.as_numpy_iterator()
        resumed.restore(json.loads(json.dumps(states[place])))
        assert [plain(element) for element in itertools.islice(resumed, 20)] == expected[place : place + 20]


@pytest.mark.parametrize("batched", [False, True])
def test_what_comes_before_a_wrong_line_comes_and_it_is_named(batched: bool) -> None:
    rows = [f"{k}" for k in range(40)]
    rows[21] = "oops"

    def number(line: Any) -> Any:
        return gx.strings.decode_csv(line, [0])[0]

    source = Dataset.from_tensor_slices(rows)
    dataset = source.batch(4).map(number) if batched else source.map(number)
    iterator = dataset.as_numpy_iterator()
    found = [next(iterator) for _ in range(5 if batched else 21)]
    assert np.ravel(found).tolist() == list(range(20 if batched else 21))
    with pytest.raises(InvalidArgumentError, match=f"of record {1 if batched else 0} is 'oops'") as caught:
        next(iterator)
    assert "test_strings.py" in str(caught.value)
    assert f"in map(number) of a dataset, element {5 if batched else 21}" in caught.value.__notes__[0]
    rest = np.hstack(list(dataset.ignore_errors().as_numpy_iterator())).tolist()
    assert rest == [k for k in range(40) if (k // 4 != 5 if batched else k != 21)]
    if not batched:  # a batch that has a wrong line fails, the others come
        whole = dataset.batch(4).ignore_errors().as_numpy_iterator()
        assert next(whole).tolist() == [0, 1, 2, 3]
        assert np.hstack(list(whole)).tolist()[:20] == [*range(4, 20), *range(22, 26)]


def test_functions_that_ask_for_the_text_are_called_for_each_element() -> None:
    def numbers(text: Any) -> Any:
        return int(text.item()) + 1 if text != "x" else 0

    dataset = Dataset.from_tensor_slices(["1", "x", "3"]).map(numbers)
    assert "Python calls it for each element, since " in dataset.explain()
    assert [int(x) for x in dataset] == [2, 0, 4]
    split = Dataset.from_tensor_slices(["a b", "c d"]).map(lambda text: gx.strings.split(text)[0])
    assert list(split.as_numpy_iterator()) == [b"a", b"c"]


def test_what_a_function_reads_is_read_when_an_iteration_starts() -> None:
    settings = {"default": [7]}
    lines = Dataset.from_tensor_slices(["1,", ","])
    dataset = lines.map(lambda line: gx.strings.decode_csv(line, [settings["default"], [0]])[0])
    assert [int(x) for x in dataset] == [1, 7]
    settings["default"] = [8]
    assert [int(x) for x in dataset] == [1, 8]


def test_nothing_is_read_ahead_of_what_may_never_come() -> None:
    few = Dataset.counter().filter(lambda x: x < 3)
    assert [int(x) for x in few.map(lambda x: x + 1).take(3)] == [1, 2, 3]
    both = Dataset.range(2).interleave(lambda k: few, cycle_length=2).take(6)
    assert [int(x) for x in both.map(lambda x: x + 1)] == [1, 1, 2, 2, 3, 3]
    assert next(iter(few.map(lambda x: x * 2).batch(2))).tolist() == [0, 2]
