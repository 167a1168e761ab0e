"""What FILE.py:FUNCTION means."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import graphc as gx
from graphc.cli.target import load_target

SOURCE = """
import graphc as gx

def double(x):
    return x * 2

def constant():
    return gx.ones(())

class Model:
    def step(self, x):
        return x + 1

model = Model()
number = 3
"""


@pytest.fixture(autouse=True)
def _imports_as_before() -> Iterator[None]:
    path, modules = list(sys.path), dict(sys.modules)
    yield
    sys.path[:] = path
    sys.modules.clear()
    sys.modules.update(modules)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(SOURCE, encoding="utf-8")
    return path


def test_a_function_of_a_file(file: Path) -> None:
    target = load_target(f"{file}:double", "gx.ones((2,))")
    assert target.function(*target.args).tolist() == [2.0, 2.0]
    assert target.other("constant").__name__ == "constant"


def test_a_method_of_an_object(file: Path) -> None:
    target = load_target(f"{file}:model.step", "3")
    assert target.function(*target.args) == 4


def test_a_function_of_a_module(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(file.parent)
    assert load_target("mine:constant").function().item() == 1.0


def test_a_file_does_not_take_the_name_of_a_module(tmp_path: Path) -> None:
    before = sys.modules["json"]
    (tmp_path / "json.py").write_text(SOURCE, encoding="utf-8")
    load_target(f"{tmp_path / 'json.py'}:constant")
    assert sys.modules["json"] is before


def test_a_file_imports_what_lies_beside_it(file: Path) -> None:
    (file.parent / "beside.py").write_text("from mine import double\n", encoding="utf-8")
    assert load_target(f"{file.parent / 'beside.py'}:double", "2").function(2) == 4


@pytest.mark.parametrize(
    ("extra", "expression", "expected"),
    [
        ("ARGS = (1, 2)", None, (1, 2)),
        ("ARGS = [1, 2]", None, ([1, 2],)),
        ("def example_args():\n    return 1, 2", None, (1, 2)),
        ("ARGS = (3,)\ndef example_args():\n    return 1, 2", None, (1, 2)),
        ("ARGS = (3,)", "number, 4", (3, 4)),
        ("", "np.ones(()).tolist()", (1.0,)),
    ],
)
def test_where_arguments_come_from(
    file: Path, extra: str, expression: str | None, expected: tuple[object, ...]
) -> None:
    file.write_text(f"{SOURCE}\n{extra}\n", encoding="utf-8")
    assert load_target(f"{file}:double", expression).args == expected


@pytest.mark.parametrize(
    ("text", "expression", "error", "message"),
    [
        ("double", None, gx.errors.InvalidArgumentError, "'double': expected FILE.py:FUNCTION or MODULE:FUNCTION"),
        ("mine.py:", None, gx.errors.InvalidArgumentError, "'mine.py:': expected FILE.py:FUNCTION"),
        ("gone.py:f", None, gx.errors.NotFoundError, "there is no file gone.py"),
        (
            "no.such.module:f",
            None,
            gx.errors.NotFoundError,
            "there is no module no.such.module; write the path of a fi",
        ),
        ("mine.py:triple", None, gx.errors.NotFoundError, r"mine.py has no triple; it has Model, constant, double$"),
        ("mine.py:number", None, gx.errors.InvalidArgumentError, "number of .*mine.py is no function, it is 3"),
        (
            "mine.py:double",
            None,
            gx.errors.InvalidArgumentError,
            r"double takes x: let .*mine.py define example_args\(\)",
        ),
        ("mine.py:double", "1 +", gx.errors.InvalidArgumentError, r"--args '1 \+': SyntaxError"),
        (
            "mine.py:double",
            "gone",
            gx.errors.InvalidArgumentError,
            "--args 'gone': NameError: name 'gone' is not defin",
        ),
    ],
)
def test_what_cannot_be_found_is_said(
    file: Path, monkeypatch: pytest.MonkeyPatch, text: str, expression: str | None, error: type[Exception], message: str
) -> None:
    monkeypatch.chdir(file.parent)
    with pytest.raises(error, match=message):
        load_target(text, expression)
