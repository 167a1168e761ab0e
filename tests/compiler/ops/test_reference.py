"""The reference of functions in docs/ is that of the op table, and has every function."""

from __future__ import annotations

import functools
import sys
import types
from typing import Any

import pytest

import graphc as gx
from graphc.compiler.ops import lax
from tests.compiler.ops.calls import ALL_ROWS
from tests.compiler.ops.docstrings import Docstring
from tests.compiler.ops.dtype_rules import DtypeRules
from tests.compiler.ops.reference import FOLDER, PAGES, Entry, Page, entries, index, page

NAMESPACES: dict[str, Any] = {
    "": gx.functions,
    **{f"{name}.": getattr(gx, name) for name in ("nn", "linalg", "fft", "special", "random", "strings")},
    "lax.": lax,  # what takes functions is shown by its docstrings
}
ENTRIES = [entry for shown in PAGES for entry in entries(shown)]


@pytest.mark.parametrize("shown", PAGES, ids=lambda shown: shown.file)
def test_a_page_is_up_to_date(shown: Page) -> None:
    text = (FOLDER / f"{shown.file}.md").read_text(encoding="utf-8")
    assert text == page(shown), "run python -m tests.compiler.ops.reference"


def test_the_index_is_up_to_date_and_there_are_no_other_pages() -> None:
    assert (FOLDER / "index.md").read_text(encoding="utf-8") == index(), "run python -m tests.compiler.ops.reference"
    assert {path.stem for path in FOLDER.iterdir()} == {"index", *(shown.file for shown in PAGES)}


def test_every_function_is_on_one_page() -> None:
    names = [name for entry in ENTRIES for name in (entry.name, *entry.aliases)]
    public = {
        prefix + name
        for prefix, namespace in NAMESPACES.items()
        for name in namespace.__all__
        if isinstance(getattr(namespace, name), types.FunctionType | types.MethodType)
    }
    assert set(names) == public
    assert len(names) == len(public)
    assert {entry.row.name for entry in ENTRIES if entry.row} == set(ALL_ROWS)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_a_function_says_what_it_takes(entry: Entry) -> None:
    doc = entry.doc
    assert doc.summary.endswith(".")
    assert entry.gradient in ("yes", "None", "-")
    if doc.example and entry.row is None:  # test_examples.py runs those of the rows
        assert _runs_as_docstring(entry.function), "pytest does not find its example"


def _runs_as_docstring(function: Any) -> bool:
    """Tells if pytest runs a function's example: where it is what its module has under its own name."""
    function = getattr(function, "__func__", function)
    found = functools.reduce(getattr, function.__qualname__.split("."), sys.modules[function.__module__])
    return found is function


def test_what_the_table_says_of_well_known_functions() -> None:
    found = {entry.name: entry for entry in ENTRIES}
    assert (found["sum"].origin, found["sum"].gradient, found["sum"].by_values) == ("array API", "yes", "")
    assert (found["unique"].origin, found["unique"].gradient, found["unique"].by_values) == ("NumPy", "None", "size=")
    assert (found["compress"].by_values, found["ndim"].gradient) == ("eager", "-")
    assert (found["nn.gelu"].origin, found["nn.conv2d"].origin) == ("JAX", "TensorFlow")
    assert (found["special.erf"].origin, found["random.normal"].gradient) == ("SciPy", "yes")
    assert (found["random.bernoulli"].gradient, found["random.gamma"].gradient) == ("None", "yes")


@pytest.mark.parametrize(
    ("name", "parameters", "result"),
    [
        ("add", {"x1": "Any dtype.", "x2": "Any dtype."}, "that of the tensors"),
        ("bitwise_and", dict.fromkeys(("x1", "x2"), "Dtype: bool or int."), "that of the tensors"),
        ("argmax", {"x": "Dtype: bool, int or float."}, "`int32`"),
        ("sqrt", {"x": "Any dtype."}, "`float32` for bool, int and float, `complex64` for complex"),
    ],
)
def test_dtypes_are_found_by_inference(name: str, parameters: dict[str, str], result: str) -> None:
    assert DtypeRules.of(ALL_ROWS[name]) == DtypeRules(parameters, result)


def test_docstring() -> None:
    doc = Docstring.parse(
        "One\nline.\n\nMore.\n\nArgs:\n  x: first\n    of two.\n  *rest: others.\n\nRaises:\n  E: bad.\n\n"
        "Returns:\n  It.\n\nExample:\n  >>> 1\n  1\n"
    )
    assert doc == Docstring("One line.", "More.", {"x": "first of two.", "*rest": "others."}, "It.", ">>> 1\n1")
