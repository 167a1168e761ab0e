"""The stub files beside the modules of rows, generated from the rows: ``python -m graphc.compiler.ops.stubs``.

The functions of the table are made at first use, those of ``gx.random`` from the table of distributions; the stubs
describe them to editors and type checkers.
"""

from __future__ import annotations

import re
import sys
import textwrap
from pathlib import Path

import graphc.compiler.ops.signature as signature
from graphc.compiler.ops import distributions, random
from graphc.compiler.ops.signature import RowSignature
from graphc.compiler.ops.table import ROWS, Row, docstring

_WIDTH = 120


def stub_path(module: str) -> Path:
    """Returns the path of a row module's stub file."""
    return Path(str(sys.modules[module].__file__)).with_suffix(".pyi")


def render(module: str) -> str:
    """Returns the text of a row module's stub file, formatted like the linter's output."""
    rows = sorted(ROWS[module], key=lambda row: row.function)
    functions = "\n".join(_function(row) for row in rows)
    used = set(re.findall(r"\w+", " ".join(RowSignature.parse(row.signature).typed for row in rows)))
    types = sorted(used.intersection(signature.__all__), key=str.lower)
    names = sorted((name for row in rows for name in (row.function, *row.aliases)), key=_natural)
    parts = [
        f'"""{str(sys.modules[module].__doc__).strip()}',
        "",
        "Written by ``python -m graphc.compiler.ops.stubs`` from the rows.",
        '"""',
        "",
        "from graphc.compiler.core import ArrayLike, Tensor"
        if "ArrayLike" in used
        else "from graphc.compiler.core import Tensor",
    ]
    named = sorted({row.returns for row in rows}.intersection(signature.__all__), key=str.lower)
    if types:
        parts.append(f"from graphc.compiler.ops.signature import {', '.join(types)}")
    if named:
        parts.append(f"from graphc.compiler.ops.signature import {', '.join(named)}")
    parts += ["", "__all__ = [", *(f'    "{name}",' for name in names), "]", ""]
    return "\n".join(parts) + "\n" + functions


def render_distributions() -> str:
    """Returns the text of the stub file of the distributions, whose class gets its methods from a table."""
    methods = "\n".join(
        f"    def {draw.name}(self, {draw.parsed.typed}) -> Tensor:\n"
        + textwrap.indent(f'"""{draw.docstring}\n"""\n', "        ")
        for draw in distributions.DRAWS
    )
    return f"{_DISTRIBUTIONS}\n{methods}"


def render_random() -> str:
    """Returns the text of the stub file of ``gx.random``, whose functions are methods of a generator."""
    names = "".join(f'    "{name}",\n' for name in random.__all__)
    functions = "".join(f"{name} = _default.{name}\n" for name in sorted((*random.METHODS, "host_seed")))
    return _RANDOM.format(names=names, functions=functions)


_DISTRIBUTIONS = """\
from typing import Any

from graphc.compiler.core import ArrayLike, Tensor
from graphc.compiler.ops.signature import DType, Shape, RowSignature
from graphc.compiler.ops.table import Row

IMPLEMENTATION: str

def key_of(data: Any) -> Any: ...
def floating(dtype: Any) -> Any: ...

class Draw:
    name: str
    parsed: RowSignature
    docstring: str

DRAWS: tuple[Draw, ...]
ROWS: tuple[Row, ...]

class Distributions:
    def _draw(self, name: str, values: tuple[Any, ...], **attrs: Any) -> Tensor: ...
"""

_RANDOM = """\
from graphc.compiler.ops.generator import Generator

__all__ = [
{names}]

METHODS: tuple[str, ...]
_default: Generator
{functions}
def get_global_generator() -> Generator: ...
"""


def write() -> None:
    """Writes every stub file, and removes those of modules that are gone."""
    texts = {stub_path(module): render(module) for module in ROWS}
    texts[stub_path(distributions.__name__)] = render_distributions()
    texts[stub_path(random.__name__)] = render_random()
    for old in Path(__file__).parent.rglob("*.pyi"):
        if old not in texts:
            old.unlink()
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")


def _natural(name: str) -> list[tuple[int, str]]:
    """Returns a sort key that puts log2 before log10, as the linter requires."""
    return [(int(digits or 0), text) for digits, text in re.findall(r"(\d*)(\D*)", name)]


def _function(row: Row) -> str:
    signature = RowSignature.parse(row.signature).typed.replace("'", '"')
    head = f"def {row.function}({signature}) -> {row.returns}:"
    if len(head) > _WIDTH:
        if len(signature) + 4 > _WIDTH:
            signature = ",\n    ".join(RowSignature.parse(row.signature).parameters).replace("'", '"') + ","
        head = f"def {row.function}(\n    {signature}\n) -> {row.returns}:"
    body = textwrap.indent(docstring(row) + "\n", "    ")
    text = f'{head}\n    """{body.lstrip()}    """\n'
    return text + "".join(f"\n{alias} = {row.function}\n" for alias in row.aliases)


if __name__ == "__main__":
    write()
