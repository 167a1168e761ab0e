"""graphc keeps the rules of its layers, and the checker of these rules sees every way to break one."""

# ruff: noqa: E501  a message is one line

from __future__ import annotations

import os
import re
import subprocess
import sys
from itertools import pairwise
from operator import gt
from pathlib import Path

import pytest

from graphc.compiler.base import ABOVE
from tests.architecture import (
    BUDGET,
    FILES_OF_BOTH_MODES,
    FILLERS,
    HOOKS,
    INNER_LAYERS,
    NEIGHBOURHOODS,
    PARTS,
    TWINS,
    WALKS,
    fillers,
    hooks,
    kind_checks,
    read_modules,
    sizes,
    twins,
    violations,
)

ROOT = Path(__file__).parent.parent / "graphc"

# Pairs of parts of a neighbourhood, the lower one first.
ROWS = [(name, [row.split() for row in rows]) for name, rows in PARTS.items()]
PAIRS = [(f"{name}.{a[0]}", f"{name}.{b[0]}") for name, rows in ROWS for a, b in pairwise(rows)]


def tree(root: Path, files: dict[str, str]) -> Path:
    """Writes a package ``graphc`` that keeps every rule, apart from what ``files`` (path to source) brings in."""
    package = root / "graphc"
    folders = {parent for name in files for parent in Path(name).parents if parent != Path()}
    defaults = {
        (folder / "__init__.py").as_posix(): f"__all__ = {' '.join(PARTS.get(folder.as_posix(), ())).split()}"
        for folder in folders
    }
    for name, source in ({"__init__.py": "__all__ = []"} | defaults | files).items():
        path = package / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source if source.startswith("# bare") else f'"""A module."""\n{source}\n')
    return package


def test_graphc_keeps_the_rules() -> None:
    assert violations(ROOT) == []


def test_constructs_ask_for_kinds_of_values_ever_less(tmp_path: Path) -> None:
    # A number to lower, never to raise: what is done with a kind becomes a method of its class in autograph/values.
    everywhere = kind_checks(ROOT / "compiler/autograph")
    assert everywhere
    found = [place for place in everywhere if not place.startswith("values/")]
    assert len(everywhere) <= 60, "\n".join(everywhere)
    assert len(found) <= 27, "\n".join(found)
    asking = "isinstance(x, int | LoopIndex)\ntype(x) is Choice\ngrowing(x)\nisinstance(x, int)\nLoopIndex(x)"
    for folder in ("constructs", "values"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.py").write_text(asking)
    assert kind_checks(tmp_path) == [
        f"{folder}/a.py:{line}" for folder in ("constructs", "values") for line in (1, 2, 3)
    ]


@pytest.mark.parametrize(
    ("low", "high"),
    [
        (f"{package}.{low.split()[-1]}", f"{package}.{high.split()[0]}")
        for package, rows in INNER_LAYERS.items()
        for low, high in pairwise(rows)
    ],
)
def test_folders_inside_packages_have_an_order_too(tmp_path: Path, low: str, high: str) -> None:
    files = {f"{part.replace('.', '/')}/a.py": "" for part in (low, high)}
    down = {f"{high.replace('.', '/')}/a.py": f"from graphc.{low}.a import f"}
    assert violations(tree(tmp_path / "down", {**files, **down})) == []
    up = {f"{low.replace('.', '/')}/a.py": f"from graphc.{high}.a import f"}
    (found,) = violations(tree(tmp_path / "up", {**files, **up}))
    below, above = (part.rpartition(".")[2] for part in (low, high))
    assert found.endswith(f"{below} imports {above}, which is not below it")


def test_a_folder_inside_an_ordered_package_needs_a_place(tmp_path: Path) -> None:
    files = {
        "compiler/autograph/values/a.py": "",
        "compiler/autograph/other/a.py": "from graphc.compiler.autograph.values.a import f",
    }
    (found,) = violations(tree(tmp_path, files))
    assert found.endswith("other has no place in the order of compiler.autograph; give it one in INNER_LAYERS")


@pytest.mark.parametrize(("low", "high"), PAIRS)
def test_imports_go_down_and_never_up(tmp_path: Path, low: str, high: str) -> None:
    lower, higher = low.replace(".", "/"), high.replace(".", "/")
    down = tree(tmp_path / "down", {f"{lower}/a.py": "", f"{higher}/a.py": f"from graphc.{low} import f"})
    assert violations(down) == []
    up = tree(tmp_path / "up", {f"{higher}/a.py": "", f"{lower}/a.py": f"from graphc.{high} import f"})
    assert violations(up) == [f"graphc/{lower}/a.py:2: {low} imports {high}, which is not below it"]


@pytest.mark.parametrize(
    ("neighbourhood", "row"), [(name, row) for name, rows in ROWS for row in rows if len(row) > 1], ids=str
)
def test_siblings_do_not_import_each_other(tmp_path: Path, neighbourhood: str, row: list[str]) -> None:
    pairs = list(zip(row, [*row[1:], row[0]], strict=True))
    files = {f"{neighbourhood}/{a}/a.py": f"def f():\n    from graphc.{neighbourhood}.{b} import g" for a, b in pairs}
    found = violations(tree(tmp_path, files))
    assert len(found) == len(pairs)
    assert all("which is not below it" in text for text in found)


@pytest.mark.parametrize("importer", NEIGHBOURHOODS)
def test_neighbourhoods_know_few_others(tmp_path: Path, importer: str) -> None:
    def module(name: str) -> str:
        return f"{name}.{ROWS[list(PARTS).index(name)][1][0][0]}" if name in PARTS else name

    others = [name for name in NEIGHBOURHOODS if name not in (importer, "__main__")]
    path = f"{module(importer).replace('.', '/')}/a.py"
    package = tree(tmp_path, {f"{module(name).replace('.', '/')}/b.py": "" for name in others} | {path: ""})
    for form in ("from graphc.{} import f", "def f():\n    import_module('graphc.{}')"):
        for other in others:
            (package / path).write_text(f'"""A module."""\n{form.format(module(other))}\n')
            text = f"{importer} imports {module(other)}, and may not know {other}"
            found = violations(package)
            assert len(found) == (other not in NEIGHBOURHOODS[importer]), found
            assert all(text in line for line in found)


GOOD = {
    "import within a package": {"compiler/core/a.py": "from graphc.compiler.core.b import f", "compiler/core/b.py": ""},
    "relative import within a package": {
        "compiler/core/a.py": "from .b import f\nfrom . import b",
        "compiler/core/b.py": "",
    },
    "relative import of a package below": {"compiler/core/a.py": "from ..ir import f", "compiler/ir/a.py": ""},
    "a file that its package exports": {
        "compiler/base/__init__.py": "__all__ = ['errors']",
        "compiler/base/errors.py": "",
        "compiler/core/a.py": "from graphc.compiler.base import errors\nfrom graphc.compiler.base.errors import E",
    },
    "an exported file two packages down": {
        "compiler/ir/__init__.py": "__all__ = ['f'] + ['passes']",
        "compiler/ir/passes/__init__.py": "__all__: list[str] = ['simplify']",
        "compiler/ir/passes/simplify.py": "",
        "compiler/core/a.py": "from graphc.compiler.ir.passes.simplify import f",
    },
    "the face imports every layer": {"__init__.py": "from graphc.cli import main\n__all__ = []", "cli/a.py": ""},
    "the demonstration imports the face": {
        "cli/demo/__init__.py": "__all__ = []",
        "cli/demo/loops.py": "import graphc as gx",
        "compiler/base/a.py": "",
    },
    "a file as a part": {"library/nest.py": "from graphc.compiler.core import f", "compiler/core/a.py": ""},
    "a cycle for types only": {
        "compiler/core/a.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from graphc.compiler.core.b import B",
        "compiler/core/b.py": "import typing\nif typing.TYPE_CHECKING:\n    pass\nelse:\n    from graphc.compiler.core.a import A",
    },
    "a cycle closed inside a function": {
        "compiler/core/a.py": "def f():\n    from graphc.compiler.core.b import B",
        "compiler/core/b.py": "from graphc.compiler.core.a import A",
    },
    "public JAX": {
        "compiler/core/a.py": "import jax\nimport jax.numpy as jnp\nfrom jax import lax\nfrom jax import experimental\n"
        "x = jnp.ones(3), lax.add, jax.core.Tracer, jax.__version__, jax.Array.__add__\n"
        "y = self._src, jaxtyping._src"
    },
    "words about what is not public": {"compiler/core/a.py": "x = 'never reach into jax._src'"},
}


@pytest.mark.parametrize("files", GOOD.values(), ids=GOOD.keys())
def test_what_keeps_the_rules_is_let_through(tmp_path: Path, files: dict[str, str]) -> None:
    assert violations(tree(tmp_path, files)) == []


BAD = {
    "up, for types only": (
        {
            "compiler/ir/a.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from graphc.compiler.core import T",
            "compiler/core/a.py": "",
        },
        "graphc/compiler/ir/a.py:4: compiler.ir imports compiler.core, which is not below it",
    ),
    "up, inside a function": (
        {"compiler/ir/a.py": "def f():\n    import graphc.compiler.core", "compiler/core/a.py": ""},
        "graphc/compiler/ir/a.py:3: compiler.ir imports compiler.core, which is not below it",
    ),
    "up, relatively": (
        {"compiler/ir/a.py": "from .. import core", "compiler/core/a.py": ""},
        "graphc/compiler/ir/a.py:2: compiler.ir imports compiler.core, which is not below it",
    ),
    "up, from a folder two deep": (
        {"compiler/ir/passes/a.py": "from ...core import T", "compiler/core/a.py": ""},
        "graphc/compiler/ir/passes/a.py:2: compiler.ir imports compiler.core, which is not below it",
    ),
    "from a file inside a package": (
        {"compiler/core/a.py": "from graphc.compiler.ir.graph import Graph", "compiler/ir/graph.py": ""},
        "graphc/compiler/core/a.py:2: imports graphc.compiler.ir.graph, a file inside graphc.compiler.ir; import from graphc.compiler.ir",
    ),
    "a file inside a package, by name": (
        {"compiler/core/a.py": "from graphc.compiler.ir import graph", "compiler/ir/graph.py": ""},
        "graphc/compiler/core/a.py:2: imports graphc.compiler.ir.graph, a file inside graphc.compiler.ir; import from graphc.compiler.ir",
    ),
    "a file inside a package, by the face": (
        {"__init__.py": "from graphc.compiler.ir.graph import Graph\n__all__ = []", "compiler/ir/graph.py": ""},
        "graphc/__init__.py:2: imports graphc.compiler.ir.graph, a file inside graphc.compiler.ir; import from graphc.compiler.ir",
    ),
    "a package inside a package that does not export it": (
        {
            "compiler/core/a.py": "from graphc.compiler.ir.passes import dce",
            "compiler/ir/passes/__init__.py": "__all__ = ['dce']",
        },
        "graphc/compiler/core/a.py:2: imports graphc.compiler.ir.passes, a file inside graphc.compiler.ir; import from graphc.compiler.ir",
    ),
    "the public face": (
        {"compiler/core/a.py": "import graphc as gx"},
        "graphc/compiler/core/a.py:2: imports graphc itself; only users import the public face",
    ),
    "the public face, in a command": (
        {"cli/demo_tools.py": "import graphc as gx"},
        "graphc/cli/demo_tools.py:2: imports graphc itself; only users import the public face",
    ),
    "a name of the public face": (
        {"compiler/core/a.py": "from graphc import Tensor"},
        "graphc/compiler/core/a.py:2: imports graphc itself; only users import the public face",
    ),
    "what does not exist": (
        {"compiler/core/a.py": "from graphc.compiler.ir.gone import f", "compiler/ir/a.py": ""},
        "graphc/compiler/core/a.py:2: imports graphc.compiler.ir.gone, which does not exist",
    ),
    "a cycle of files": (
        {
            "compiler/core/a.py": "from graphc.compiler.core import b",
            "compiler/core/b.py": "import graphc.compiler.core.c",
            "compiler/core/c.py": "if 1:\n    from .a import f",
        },
        "graphc/compiler/core/a.py:1: import cycle: graphc.compiler.core.a -> graphc.compiler.core.b -> graphc.compiler.core.c -> graphc.compiler.core.a",
    ),
    "a cycle through the package's own door": (
        {
            "compiler/core/__init__.py": "from graphc.compiler.core.a import f\n__all__ = []",
            "compiler/core/a.py": "from graphc.compiler.core import g",
        },
        "graphc/compiler/core/__init__.py:1: import cycle: graphc.compiler.core -> graphc.compiler.core.a -> graphc.compiler.core",
    ),
    "JAX in ir, inside a function": (
        {"compiler/ir/a.py": "def f():\n    from jax import lax"},
        "graphc/compiler/ir/a.py:3: compiler.ir works without JAX, but imports jax",
    ),
    "private JAX, imported": (
        {"compiler/core/a.py": "from jax._src import core"},
        "a.py:2: jax._src.core is not public JAX",
    ),
    "private JAX, a name": (
        {"compiler/core/a.py": "from jax.numpy import _x"},
        "a.py:2: jax.numpy._x is not public JAX",
    ),
    "private JAX, an attribute": (
        {"compiler/core/a.py": "import jax\njax._src.f()"},
        "a.py:3: jax._src.f is not public JAX",
    ),
    "private JAX, behind an alias": (
        {"compiler/core/a.py": "import jax.numpy as jnp\ndef f():\n    return jnp.x._y"},
        "a.py:4: jax.numpy.x._y is not public JAX",
    ),
    "private JAX, in a string": (
        {"compiler/core/a.py": "import importlib\nimportlib.import_module('jax._src.core')"},
        "a.py:3: jax._src.core is not public JAX",
    ),
    "a folder that is no part": (
        {"misc/__init__.py": "__all__ = []"},
        "graphc/misc/__init__.py:1: misc is no part of graphc/",
    ),
    "a file that is no part": (
        {"helpers.py": ""},
        "graphc/helpers.py:1: helpers is no part of graphc/; add it to PARTS or NEIGHBOURHOODS",
    ),
    "no __all__": (
        {"compiler/core/__init__.py": "x = 1"},
        "graphc/compiler/core/__init__.py:1: a package needs an __all__",
    ),
    "no __all__ in the face": ({"__init__.py": ""}, "graphc/__init__.py:1: a package needs an __all__"),
    "no docstring in a package": (
        {"compiler/core/__init__.py": "# bare\n__all__ = []"},
        "graphc/compiler/core/__init__.py:1: a module needs a docstring",
    ),
    "no docstring in a file": (
        {"compiler/core/a.py": "# bare"},
        "graphc/compiler/core/a.py:1: a module needs a docstring",
    ),
}


@pytest.mark.parametrize(("files", "message"), BAD.values(), ids=BAD.keys())
def test_what_breaks_a_rule_is_reported(tmp_path: Path, files: dict[str, str], message: str) -> None:
    found = violations(tree(tmp_path, files))
    assert len(found) == 1, found
    assert message in found[0]


def test_few_files_know_both_modes(tmp_path: Path) -> None:
    assert len(FILES_OF_BOTH_MODES) <= 5
    for name in FILES_OF_BOTH_MODES:
        assert "context.trace" in (ROOT.parent / f"{name.replace('.', '/')}.py").read_text()
    reads = "def f():\n    return context.trace is None"
    allowed = {"compiler/ops/order.py": reads, "compiler/core/a.py": reads}
    assert violations(tree(tmp_path / "kept", allowed)) == []
    (found,) = violations(tree(tmp_path / "broken", {"compiler/ops/a.py": reads}))
    assert found.startswith(
        "graphc/compiler/ops/a.py:3: reads context.trace; apply an op, or ask graphc.compiler.tracing"
    )


@pytest.mark.parametrize("part", ["base", "ir"])
@pytest.mark.parametrize("library", ["jax", "jax.numpy", "jaxlib.xla_client", "optax", "flax", "equinox", "orbax"])
def test_base_and_ir_work_without_jax(tmp_path: Path, part: str, library: str) -> None:
    found = violations(tree(tmp_path, {f"compiler/{part}/sub/a.py": f"import {library} as library"}))
    assert f"graphc/compiler/{part}/sub/a.py:2: compiler.{part} works without JAX, but imports {library}" in found


@pytest.mark.parametrize("name", ["jax.core", "jax.extend", "jax.interpreters", "jax.lib", "jaxlib"])
def test_what_jax_does_not_promise_to_keep_is_not_public(tmp_path: Path, name: str) -> None:
    root = name.partition(".")[0]
    uses = {
        "compiler/core/a.py": f"from {name} import x",
        "compiler/core/b.py": f"import {name}",
        "compiler/core/c.py": f"import {name} as y",
    }
    attribute = {"compiler/core/d.py": f"import {root}\nz = {name}.x"} if name != root else {}
    found = violations(tree(tmp_path, uses | attribute))
    lines = [
        f"graphc/compiler/core/a.py:2: {name}.x",
        f"graphc/compiler/core/b.py:2: {name}",
        f"graphc/compiler/core/c.py:2: {name}",
    ]
    lines += [f"graphc/compiler/core/d.py:3: {name}.x"] if attribute else []
    assert found == [f"{line} is not public JAX" for line in lines]


def test_a_folder_of_modules_needs_an_init(tmp_path: Path) -> None:
    package = tree(tmp_path, {"compiler/core/a.py": ""})
    (package / "compiler" / "core" / "__init__.py").unlink()
    assert violations(package) == ["graphc/compiler/core:1: a folder of modules needs an __init__.py"]


def test_nothing_grows() -> None:
    modules = list(read_modules(ROOT).values())
    grown = {name: size for name, size in sizes(modules).items() if any(map(gt, size, BUDGET.get(name, (0, 0, 0))))}
    assert not grown, f"lines, lines of code and files that are more than the budget: {grown}"
    assert fillers(modules) <= FILLERS


@pytest.mark.multiprocess
def test_walks_do_not_grow() -> None:
    command = [sys.executable, "-m", "benchmarks.walks", *WALKS]
    users = {name: value for name, value in os.environ.items() if not name.startswith(("GRAPHC_", "JAX_", "XLA_"))}
    output = subprocess.run(
        command, cwd=ROOT.parent, env=users, capture_output=True, text=True, check=True, timeout=240
    ).stdout
    rows = [line.rsplit(maxsplit=4) for line in output.splitlines()[1:]]
    grown = {name: int(files) for name, files, *_ in rows if int(files) > WALKS[name]}
    assert len(rows) == len(WALKS)
    assert not grown, f"files that a program passes, more than the budget: {grown}"


def test_one_class_name_is_one_thing(tmp_path: Path) -> None:
    assert twins(read_modules(ROOT).values()).keys() == TWINS
    files = {"ir/a.py": "class Rows: ...\nclass _Own: ...", "ir/b.py": "class Rows: ...\nclass _Own: ..."}
    assert [*twins(read_modules(tree(tmp_path, files)).values())] == ["Rows"]


def test_sizes_are_counted(tmp_path: Path) -> None:
    source = '# bare\n\ndef register_f(found):\n    """Does.\n\n    Much.\n    """\n    place = found  # why\n    return place'
    modules = [
        module for module in read_modules(tree(tmp_path, {"cli/a.py": source})).values() if module.name[-1] == "a"
    ]
    assert sizes(modules) == {"cli": (8, 3, 1)}
    assert fillers(modules) == 4


def test_the_page_lists_all_hooks_and_they_are_few() -> None:
    page = (ROOT.parent / "docs" / "explanation" / "internals.md").read_text()
    listed = re.findall(r"^\| `(\w+)` \| `([\w/]+\.py)` \|", page, re.MULTILINE)
    assert sorted(listed) == sorted(hooks(read_modules(ROOT)))
    assert len(listed) <= HOOKS
    rows = page.partition("| name in `ABOVE` |")[2].partition("\n\n")[0].splitlines()[2:]
    assert {name for row in rows for name in re.findall(r"`(\w+)`", row.split("|")[1])} == set(ABOVE)


HOOK_SOURCES = {
    "registry": "x: Registry[int] = Registry('row')",
    "register": "def register_x(f): _all.append(f)",
    "kept": "def observe_x(f):\n    global _f\n    _f = f",
    "dispatch": "@singledispatch\ndef x(value): pass",
}
FILLED = {
    "added to": ("x: list[int] = []", "x.append(1)"),
    "an item": ("x = {}", "x['a'] = f"),
    "an attribute": ("x = X()", "def f():\n    x.made = f"),
    "an attribute of a class": ("class x: pass", "x.made, y = f, 1"),
}
NO_HOOKS = {
    "a cache": ("_x = {}\ndef x(key):\n    _x[key] = key", ""),
    "a private setting": ("def _x(value):\n    global _v\n    _v = value", ""),
    "a method": ("x = X()", "x.add(1)"),
    "reads": ("x = {}", "y = x['a'], x.get(1)"),
}


@pytest.mark.parametrize("source", HOOK_SOURCES.values(), ids=HOOK_SOURCES.keys())
def test_hooks_are_found_where_they_are_defined(tmp_path: Path, source: str) -> None:
    ((name, file),) = hooks(read_modules(tree(tmp_path, {"compiler/core/a.py": source})))
    assert (name.endswith("x"), file) == (True, "compiler/core/a.py")


@pytest.mark.parametrize(("owner", "filler"), FILLED.values(), ids=FILLED.keys())
def test_hooks_are_found_where_they_are_filled(tmp_path: Path, owner: str, filler: str) -> None:
    face = "from graphc.compiler.core.a import x\n__all__ = ['x']"
    files = {"compiler/core/a.py": owner, "compiler/core/__init__.py": face}
    files["compiler/ops/b.py"] = f"from graphc.compiler.core import x\n{filler}"
    assert hooks(read_modules(tree(tmp_path, files))) == {("x", "compiler/core/a.py")}


@pytest.mark.parametrize(("owner", "user"), NO_HOOKS.values(), ids=NO_HOOKS.keys())
def test_what_takes_no_code_is_no_hook(tmp_path: Path, owner: str, user: str) -> None:
    files = {"compiler/core/a.py": owner, "compiler/ops/b.py": f"from graphc.compiler.core.a import x\n{user}"}
    assert hooks(read_modules(tree(tmp_path, files))) == set()
