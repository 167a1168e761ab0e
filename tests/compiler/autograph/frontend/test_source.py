"""Where the source of a function is found, and that it is the source of the code that runs."""

from __future__ import annotations

import ast
import importlib.util
import linecache
import os
import subprocess
import sys
from pathlib import Path
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any

import pytest

import graphc as gx
from graphc.compiler.autograph import NoSourceError
from graphc.compiler.autograph.frontend import source
from graphc.compiler.autograph.frontend.source import find_source
from tests.compiler.autograph.differential import f

TEXT = """
import math

class K:
    def f(self, x):
        y = x * 2.0  # comment
        return -y if y > math.pi else y
"""


def load(file: Path, text: str) -> ModuleType:
    """A module made from a file with this text."""
    file.write_text(text)
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("edited", ["2.0", "comment", "-y if", "x * 2.0  #"])
def test_a_file_that_was_edited_is_refused_unless_it_means_the_same(tmp_path: Path, edited: str) -> None:
    method = load(tmp_path / "user.py", TEXT).K().f
    new = {"2.0": "7.0", "comment": "other", "-y if": "+y if", "x * 2.0  #": "x * 2.0\n        y = y + 1.0  #"}
    (tmp_path / "user.py").write_text(TEXT.replace(edited, new[edited]))
    if edited == "comment":
        assert gx.function(method)(f(1.0)).item() == 2.0
    else:
        with pytest.raises(NoSourceError, match=r"the file has changed since it was loaded .* Reload the module"):
            gx.function(method)(f(1.0))


BRANCH = "def scaled(x):\n    if x > 0:\n        return x * {}\n    return x\n"


def test_a_module_that_is_loaded_again_has_new_code_and_old_functions_are_refused(tmp_path: Path) -> None:
    module = load(tmp_path / "user.py", BRANCH.format(2.0))
    old, caller = module.scaled, gx.function(lambda x: module.scaled(x), on_retrace="ignore")
    assert caller(f(1.0)).item() == 2.0
    text = BRANCH.format(3.0)
    module.__dict__.update(vars(load(tmp_path / "user.py", f"# edited\n{text}")))
    assert caller(f(1.0)).item() == gx.function(module.scaled)(f(1.0)).item() == 3.0
    module.__dict__.update(vars(load(tmp_path / "user.py", text)))  # reloaded before the first use of the new code
    assert caller(f(1.0)).item() == 3.0
    assert gx.function(old)(f(1.0)).item() == 2.0  # converted before
    later = load(tmp_path / "user.py", BRANCH.format(44.0)).scaled
    load(tmp_path / "user.py", BRANCH.format(555.0))
    with pytest.raises(NoSourceError, match=r"'scaled' .* the file has changed since it was loaded .* Reload the"):
        gx.function(later)(f(1.0))


def test_code_that_is_put_into_a_function_in_place_is_compiled(tmp_path: Path) -> None:  # as IPython's autoreload does
    old = load(tmp_path / "user.py", BRANCH.format(2.0)).scaled
    called, around = gx.function(old, on_retrace="ignore"), gx.function(lambda x: old(x), on_retrace="ignore")
    assert called(f(1.0)).item() == around(f(1.0)).item() == 2.0
    old.__code__ = load(tmp_path / "user.py", BRANCH.format(33.0)).scaled.__code__
    assert called(f(1.0)).item() == around(f(1.0)).item() == 33.0


def test_lambdas_of_constants_and_defaults_that_are_lambdas() -> None:
    chosen = [lambda: 1.0, lambda: 2.0, lambda x=(lambda: 3.0): 4.0, lambda x=(lambda: 3.0): x]  # fmt: skip
    ones, twos, fours, threes = map(gx.function, chosen)
    assert (ones(), twos(), fours(), threes()()) == (1.0, 2.0, 4.0, 3.0)
    called = gx.function(lambda x, y=(lambda a, b: b): (y(x, x) + 1, x))  # The inner one takes as many.
    assert called(f(1.0))[0].item() == 2.0


ODD = '''
import math, functools
from pathlib import Path
half = lambda x: x * 0.5; twice = lambda x: x * 2.0

def plain(x):
    # a comment

# another, not indented
    return math.floor(
x) + Path("a").stem.count("a")

@functools.lru_cache(
    maxsize=None
)
def cached(x):
    text = """
begins at the margin"""
    return x, text

if math.pi > 3:
    def in_branch(x, key=lambda x: -x):
        return (lambda y: (lambda z: x + y + z)), key
else:
    pass

class K:
    """
Words at the margin.
    """
    def f(self, x):
        class Inner:
            __hidden = 3
            def g(self, y):
                return self.__hidden + y
        return Inner
'''


@pytest.mark.parametrize(
    ("names", "whole"),
    [
        (
            [
                "half",
                "twice",
                "plain",
                "cached.__wrapped__",
                "in_branch",
                "in_branch.__defaults__[0]",
                "in_branch(1)[0]",
                "in_branch(1)[0](2)",
            ],
            False,
        ),
        (["K().f.__func__", "K().f(1)().g.__func__"], True),
    ],
)
def test_the_block_around_a_function_is_read_or_the_whole_file_if_texts_look_like_statements(
    names: list[str], whole: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = load(tmp_path / "odd.py", ODD)
    wholes: list[list[str]] = []
    find_whole = source._whole  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(source, "_whole", lambda fn, lines: wholes.append(lines) or find_whole(fn, lines))
    for name in names:
        function = eval(name, vars(module))
        wholes.clear()
        found = find_source(function)
        assert bool(wholes) == whole, name
        with monkeypatch.context() as patch:
            patch.setattr(source, "_block", find_whole)
            expected = find_source(function)
        assert ast.dump(found.node, include_attributes=True) == ast.dump(expected.node, include_attributes=True)
        assert found.class_name == expected.class_name


def test_a_cell_with_an_import_is_found_though_a_notebook_compiles_its_statements_one_by_one() -> None:
    loop = "def smooth(x, n):\n    for _ in range(n):\n        x = gx.roll(x, 1) + gx.roll(x, -1)\n    return x\n"
    text = f"import graphc as gx\n{loop}"
    name, namespace = "<ipython-input-3-abcdef012345>", dict[str, Any]()
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    try:
        for statement in ast.parse(text).body:
            exec(compile(ast.Module([statement], []), name, "exec"), namespace)
        assert gx.function(namespace["smooth"])(gx.ones(4), 3).numpy().tolist() == [8.0] * 4
    finally:
        del linecache.cache[name]


def test_what_pytest_has_rewritten_is_found() -> None:
    def asserts(x: Any) -> Any:
        assert x > 0
        return x * 2.0 if x > 1 else x

    assert gx.function(asserts)(f(2.0)).item() == 4.0


def typed(monkeypatch: pytest.MonkeyPatch, *entries: str) -> dict[str, Any]:
    """The names that entries at the prompt bind, which readline remembers."""
    history = ["", *[line for entry in entries for line in entry.splitlines()]]
    length = len(history) - 1
    readline = SimpleNamespace(get_history_item=history.__getitem__, get_current_history_length=lambda: length)
    monkeypatch.setitem(sys.modules, "readline", readline)
    names: dict[str, Any] = {"gx": gx}
    for entry in entries:
        exec(compile(f"{entry}\n", "<stdin>", "single"), names)
    return names


def test_a_function_that_was_typed_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    names = typed(
        monkeypatch,
        "@gx.function\ndef first(x):\n    if x > 0:\n        return x\n\n    return -x\n",
        "def second(x):\n    return x if x > 0 else x * 5.0\n",
        "y = 1.0",
        "third = [1, lambda x: x if x > y else x * 6.0]",
        "def second(x):\n    return x if x > 0 else x * 7.0\n",
    )
    assert names["first"](f(-2.0)).item() == 2.0
    assert gx.function(names["second"])(f(-2.0)).item() == -14.0
    assert gx.function(names["third"][1])(f(-2.0)).item() == -12.0
    source = find_source(names["first"].python_function)
    assert source.node.lineno == 2  # below the decorator
    forgotten = FunctionType(compile("lambda x: x if x else 8", "<stdin>", "eval").co_consts[0], {})
    with pytest.raises(NoSourceError):
        gx.function(forgotten)(f(1.0))


PROGRAM = """
import graphc as gx
@gx.function
def f(x):
    if x > 0: return x
    return -x * 2.0
print(f(gx.asarray(-3.0)))
"""


@pytest.mark.multiprocess
@pytest.mark.parametrize("way", ["-Bc", "file", "pipe"])
def test_a_program_on_the_command_line_or_standard_input(way: str, tmp_path: Path) -> None:
    (tmp_path / "program").write_text(PROGRAM)
    arguments = [] if way in ("file", "pipe") else [way, PROGRAM, "an", "argument"]
    with (tmp_path / "program").open() as file:
        given: dict[str, Any] = {"stdin": file} if way == "file" else {"input": PROGRAM if way == "pipe" else ""}
        found = subprocess.run(
            [sys.executable, *arguments], **given, capture_output=True, text=True, timeout=100,
            env=os.environ | {"JAX_PLATFORMS": "cpu"}, check=False,
        )  # fmt: skip
    if way == "pipe":  # what was read from it is gone
        assert "the source of function 'f' is needed" in found.stderr
        assert "heredoc cannot be read again" in found.stderr
        assert "Run it as `python FILE`, `python < FILE` or `python -c PROGRAM`" in found.stderr
    else:
        assert found.stdout == "6.0\n", found.stderr
