"""graphc keeps the rules of its layers, and the checker of these rules sees every way to break one."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from tests.architecture import FILES_OF_BOTH_MODES, INNER_LAYERS, LAYERS, kind_checks, violations

ROOT = Path(__file__).parent.parent / "graphc"

# The parts from the bottom up; those in one row are siblings.
ORDER = [
    ["base"],
    ["ir"],
    ["devices", "drawing"],
    ["core"],
    ["tracing"],
    ["ops"],
    ["lowering"],
    ["arrays", "costs", "autograph", "gradients", "runtime"],
    ["checks", "composites", "flow", "formats", "function", "nest"],
    ["debug", "queues", "states"],
    ["session", "data", "lax", "layers", "losses", "metrics", "optim", "placement"],
    ["distribute", "testing"],
    ["saving", "train"],
    ["cluster", "serve"],
    ["compat"],
    ["inspect"],
    ["cli"],
    ["__main__"],
]


def tree(root: Path, files: dict[str, str]) -> Path:
    """Writes a package ``graphc`` that keeps every rule, apart from what ``files`` (path to source) brings in."""
    package = root / "graphc"
    folders = {parent for name in files for parent in Path(name).parents if parent != Path()}
    defaults = {(folder / "__init__.py").as_posix(): "__all__ = []" for folder in folders}
    for name, source in ({"__init__.py": "__all__ = []"} | defaults | files).items():
        path = package / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source if source.startswith("# bare") else f'"""A module."""\n{source}\n')
    return package


def test_graphc_keeps_the_rules() -> None:
    assert violations(ROOT) == []


def test_constructs_ask_for_kinds_of_values_ever_less(tmp_path: Path) -> None:
    # A number to lower, never to raise: what is done with a kind becomes a method of its class in autograph/values.
    everywhere = kind_checks(ROOT / "autograph")
    found = [place for place in everywhere if not place.startswith("values/")]
    assert len(everywhere) < 60, "\n".join(everywhere)
    assert len(found) <= 27, "\n".join(found)
    asking = "isinstance(x, int | LoopIndex)\ntype(x) is Choice\ngrowing(x)\nisinstance(x, int)\nLoopIndex(x)"
    for folder in ("constructs", "values"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.py").write_text(asking)
    assert kind_checks(tmp_path) == [
        f"{folder}/a.py:{line}" for folder in ("constructs", "values") for line in (1, 2, 3)
    ]


def test_every_part_has_its_place_in_the_order() -> None:
    assert [sorted(part for part in LAYERS if LAYERS[part] == layer) for layer in sorted(set(LAYERS.values()))] == [
        sorted(row) for row in ORDER
    ]


def test_each_package_says_its_layer() -> None:
    for part, layer in LAYERS.items():
        if (ROOT / part / "__init__.py").exists() and part != "nest":
            assert (ROOT / part / "__init__.py").read_text().startswith(f'"""Layer {layer}: '), part


@pytest.mark.parametrize(
    ("low", "high"),
    [(low, high) for package, order in INNER_LAYERS.items() for low, high in pairwise(f"{package}.{n}" for n in order)],
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
    files = {"autograph/values/a.py": "", "autograph/other/a.py": "from graphc.compiler.autograph.values.a import f"}
    (found,) = violations(tree(tmp_path, files))
    assert found.endswith("other has no place in the order of autograph; give it one in INNER_LAYERS")


@pytest.mark.parametrize(("low", "high"), [(low[0], high[0]) for low, high in pairwise(ORDER)])
def test_imports_go_down_and_never_up(tmp_path: Path, low: str, high: str) -> None:
    down = tree(tmp_path / "down", {f"{low}/a.py": "", f"{high}/a.py": f"from graphc.{low} import f"})
    assert violations(down) == []
    up = tree(tmp_path / "up", {f"{high}/a.py": "", f"{low}/a.py": f"from graphc.{high} import f"})
    (found,) = violations(up)
    assert found.startswith(f"graphc/{low}/a.py:2: {low} (layer ")
    assert f"imports {high} (layer " in found


@pytest.mark.parametrize("row", [row for row in ORDER if len(row) > 1], ids=lambda row: row[0])
def test_siblings_do_not_import_each_other(tmp_path: Path, row: list[str]) -> None:
    pairs = list(zip(row, [*row[1:], row[0]], strict=True))
    files = {f"{a}/a.py": f"def f():\n    from graphc.{b} import g" for a, b in pairs}
    found = violations(tree(tmp_path, files))
    assert len(found) == len(pairs)
    assert all("which is not below it" in text for text in found)


GOOD = {
    "import within a package": {"core/a.py": "from graphc.compiler.core.b import f", "core/b.py": ""},
    "relative import within a package": {"core/a.py": "from .b import f\nfrom . import b", "core/b.py": ""},
    "relative import of a package below": {"core/a.py": "from ..ir import f", "ir/a.py": ""},
    "a file that its package exports": {
        "base/__init__.py": "__all__ = ['errors']",
        "base/errors.py": "",
        "core/a.py": "from graphc.compiler.base import errors\nfrom graphc.compiler.base.errors import E",
    },
    "an exported file two packages down": {
        "ir/__init__.py": "__all__ = ['f'] + ['passes']",
        "ir/passes/__init__.py": "__all__: list[str] = ['dce']",
        "ir/passes/dce.py": "",
        "core/a.py": "from graphc.compiler.ir.passes.dce import f",
    },
    "the face imports every layer": {"__init__.py": "from graphc.cli import main\n__all__ = []", "cli/a.py": ""},
    "the demonstration imports the face": {
        "cli/demo/__init__.py": "__all__ = []",
        "cli/demo/loops.py": "import graphc as gx",
        "base/a.py": "",
    },
    "a file as a part": {"losses.py": "from graphc.compiler.core import f", "core/a.py": ""},
    "a cycle for types only": {
        "core/a.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from graphc.compiler.core.b import B",
        "core/b.py": "import typing\nif typing.TYPE_CHECKING:\n    pass\nelse:\n    from graphc.compiler.core.a import A",
    },
    "a cycle closed inside a function": {
        "core/a.py": "def f():\n    from graphc.compiler.core.b import B",
        "core/b.py": "from graphc.compiler.core.a import A",
    },
    "public JAX": {
        "core/a.py": "import jax\nimport jax.numpy as jnp\nfrom jax import lax\nfrom jax import experimental\n"
        "x = jnp.ones(3), lax.add, jax.core.Tracer, jax.__version__, jax.Array.__add__\n"
        "y = self._src, jaxtyping._src"
    },
    "words about what is not public": {"core/a.py": "x = 'never reach into jax._src'"},
}


@pytest.mark.parametrize("files", GOOD.values(), ids=GOOD.keys())
def test_what_keeps_the_rules_is_let_through(tmp_path: Path, files: dict[str, str]) -> None:
    assert violations(tree(tmp_path, files)) == []


BAD = {
    "up, for types only": (
        {
            "ir/a.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from graphc.compiler.core import T",
            "core/a.py": "",
        },
        "graphc/compiler/ir/a.py:4: ir (layer 1) imports core (layer 3), which is not below it",
    ),
    "up, inside a function": (
        {"ir/a.py": "def f():\n    import graphc.compiler.core", "core/a.py": ""},
        "graphc/compiler/ir/a.py:3: ir (layer 1) imports core (layer 3), which is not below it",
    ),
    "up, relatively": (
        {"ir/a.py": "from .. import core", "core/a.py": ""},
        "graphc/compiler/ir/a.py:2: ir (layer 1) imports core (layer 3), which is not below it",
    ),
    "up, from a folder two deep": (
        {"ir/passes/a.py": "from ...core import T", "core/a.py": ""},
        "graphc/compiler/ir/passes/a.py:2: ir (layer 1) imports core (layer 3), which is not below it",
    ),
    "from a file inside a package": (
        {"core/a.py": "from graphc.compiler.ir.graph import Graph", "ir/graph.py": ""},
        "graphc/compiler/core/a.py:2: imports graphc.compiler.ir.graph, a file inside graphc.compiler.ir; import from graphc.compiler.ir",
    ),
    "a file inside a package, by name": (
        {"core/a.py": "from graphc.compiler.ir import graph", "ir/graph.py": ""},
        "graphc/compiler/core/a.py:2: imports graphc.compiler.ir.graph, a file inside graphc.compiler.ir; import from graphc.compiler.ir",
    ),
    "a file inside a package, by the face": (
        {"__init__.py": "from graphc.compiler.ir.graph import Graph\n__all__ = []", "ir/graph.py": ""},
        "graphc/__init__.py:2: imports graphc.compiler.ir.graph, a file inside graphc.compiler.ir; import from graphc.compiler.ir",
    ),
    "a package inside a package that does not export it": (
        {"core/a.py": "from graphc.compiler.ir.passes import dce", "ir/passes/__init__.py": "__all__ = ['dce']"},
        "graphc/compiler/core/a.py:2: imports graphc.compiler.ir.passes, a file inside graphc.compiler.ir; import from graphc.compiler.ir",
    ),
    "the public face": (
        {"core/a.py": "import graphc as gx"},
        "graphc/compiler/core/a.py:2: imports graphc itself; only users import the public face",
    ),
    "the public face, in a command": (
        {"cli/demo_tools.py": "import graphc as gx"},
        "graphc/cli/demo_tools.py:2: imports graphc itself; only users import the public face",
    ),
    "a name of the public face": (
        {"core/a.py": "from graphc import Tensor"},
        "graphc/compiler/core/a.py:2: imports graphc itself; only users import the public face",
    ),
    "what does not exist": (
        {"core/a.py": "from graphc.compiler.ir.gone import f", "ir/a.py": ""},
        "graphc/compiler/core/a.py:2: imports graphc.compiler.ir.gone, which does not exist",
    ),
    "a cycle of files": (
        {
            "core/a.py": "from graphc.compiler.core import b",
            "core/b.py": "import graphc.compiler.core.c",
            "core/c.py": "if 1:\n    from .a import f",
        },
        "graphc/compiler/core/a.py:1: import cycle: graphc.compiler.core.a -> graphc.compiler.core.b -> graphc.compiler.core.c -> graphc.compiler.core.a",
    ),
    "a cycle through the package's own door": (
        {
            "core/__init__.py": "from graphc.compiler.core.a import f\n__all__ = []",
            "core/a.py": "from graphc.compiler.core import g",
        },
        "graphc/compiler/core/__init__.py:1: import cycle: graphc.compiler.core -> graphc.compiler.core.a -> graphc.compiler.core",
    ),
    "JAX in ir, inside a function": (
        {"ir/a.py": "def f():\n    from jax import lax"},
        "graphc/compiler/ir/a.py:3: ir works without JAX, but imports jax",
    ),
    "private JAX, imported": ({"core/a.py": "from jax._src import core"}, "a.py:2: jax._src.core is not public JAX"),
    "private JAX, a name": ({"core/a.py": "from jax.numpy import _x"}, "a.py:2: jax.numpy._x is not public JAX"),
    "private JAX, an attribute": ({"core/a.py": "import jax\njax._src.f()"}, "a.py:3: jax._src.f is not public JAX"),
    "private JAX, behind an alias": (
        {"core/a.py": "import jax.numpy as jnp\ndef f():\n    return jnp.x._y"},
        "a.py:4: jax.numpy.x._y is not public JAX",
    ),
    "private JAX, in a string": (
        {"core/a.py": "import importlib\nimportlib.import_module('jax._src.core')"},
        "a.py:3: jax._src.core is not public JAX",
    ),
    "a folder without a layer": ({"misc/__init__.py": "__all__ = []"}, "graphc/misc/__init__.py:1: misc has no layer"),
    "a file without a layer": ({"helpers.py": ""}, "graphc/helpers.py:1: helpers has no layer; give it one in LAYERS"),
    "no __all__": ({"core/__init__.py": "x = 1"}, "graphc/compiler/core/__init__.py:1: a package needs an __all__"),
    "no __all__ in the face": ({"__init__.py": ""}, "graphc/__init__.py:1: a package needs an __all__"),
    "no docstring in a package": (
        {"core/__init__.py": "# bare\n__all__ = []"},
        "graphc/compiler/core/__init__.py:1: a module needs a docstring",
    ),
    "no docstring in a file": ({"core/a.py": "# bare"}, "graphc/compiler/core/a.py:1: a module needs a docstring"),
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
    allowed = {"ops/order.py": reads, "core/a.py": reads}
    assert violations(tree(tmp_path / "kept", allowed)) == []
    (found,) = violations(tree(tmp_path / "broken", {"ops/a.py": reads}))
    assert found.startswith(
        "graphc/compiler/ops/a.py:3: reads context.trace; apply an op, or ask graphc.compiler.tracing"
    )


@pytest.mark.parametrize("part", ["base", "ir"])
@pytest.mark.parametrize("library", ["jax", "jax.numpy", "jaxlib.xla_client", "optax", "flax", "equinox", "orbax"])
def test_base_and_ir_work_without_jax(tmp_path: Path, part: str, library: str) -> None:
    found = violations(tree(tmp_path, {f"{part}/sub/a.py": f"import {library} as library"}))
    assert f"graphc/{part}/sub/a.py:2: {part} works without JAX, but imports {library}" in found


@pytest.mark.parametrize("name", ["jax.core", "jax.extend", "jax.interpreters", "jax.lib", "jaxlib"])
def test_what_jax_does_not_promise_to_keep_is_not_public(tmp_path: Path, name: str) -> None:
    root = name.partition(".")[0]
    uses = {"core/a.py": f"from {name} import x", "core/b.py": f"import {name}", "core/c.py": f"import {name} as y"}
    attribute = {"core/d.py": f"import {root}\nz = {name}.x"} if name != root else {}
    found = violations(tree(tmp_path, uses | attribute))
    lines = [
        f"graphc/compiler/core/a.py:2: {name}.x",
        f"graphc/compiler/core/b.py:2: {name}",
        f"graphc/compiler/core/c.py:2: {name}",
    ]
    lines += [f"graphc/compiler/core/d.py:3: {name}.x"] if attribute else []
    assert found == [f"{line} is not public JAX" for line in lines]


def test_a_folder_of_modules_needs_an_init(tmp_path: Path) -> None:
    package = tree(tmp_path, {"core/a.py": ""})
    (package / "core" / "__init__.py").unlink()
    assert violations(package) == ["graphc/compiler/core:1: a folder of modules needs an __init__.py"]
