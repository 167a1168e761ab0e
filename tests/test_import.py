"""What an import of graphc brings, and what it leaves for later; each test runs Python anew."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import graphc as gx

LOADED = """
import sys
import jax, jax.numpy  # which bring more where etils is installed, with asyncio
known = set(sys.modules)
import graphc as gx
@gx.function
def step(x):
    return x + 1
new = set(sys.modules) - known
parts = {".".join(name.split(".")[:2]) for name in new} | {name.split(".")[0] for name in new}
print(len([name for name in sys.modules if name.startswith("graphc")]), *sorted(parts))
"""

THREADS = """
import threading
import graphc as gx
together = threading.Barrier(8)
found, failed = [], []
def use():
    together.wait()
    try:
        x = gx.sum(gx.nn.relu(gx.asarray([1.0, 2.0])))
        y = gx.linalg.norm(gx.special.erf(x)) + gx.optim.SGD(0.1).learning_rate
        found.append((float(y), gx.sum, gx.optim.Adam, gx.GradientTape, gx.compare, gx.distribute))
    except Exception as error:
        failed.append(error)
threads = [threading.Thread(target=use) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert not failed, failed
print(len(found), len(set(found)))
"""

IN_A_TRACE = """
import graphc as gx
@gx.function
def step(w):
    with gx.GradientTape() as tape:
        tape.watch(w)
        loss = gx.losses.mean_squared_error(gx.nn.relu(w), gx.special.erf(w)) + gx.random.normal(()) * 0
    return tape.gradient(loss, w), gx.linalg.norm(w), gx.lax.sort(w)
print(gx.to_source(step).count("ag__.call(gx.nn.relu)"))
first, *rest = step(gx.asarray([1.0, 2.0]))
again, *_ = step(gx.asarray([1.0, 2.0]))
print(first.shape, bool((first == again).all()), len(rest))
"""


LOOKED_FOR = '''
import numpy as np
import graphc as gx
x = gx.asarray([3.0, 4.0])
gx.config.check_numerics = True
try:
    gx.log(x - 9)
except gx.errors.NumericsError:
    gx.config.check_numerics = False
print(gx.config.check_numerics, np.linalg.norm(x).item(), bool(gx.asarray("a") == "a"))
text = """graph g(%x: f32[2]) -> (f32[]) {
  %y: f32[] = losses.mean_squared_error(%x, %x) {reduction = "mean"}
  return %y
}"""
print(gx.from_graph(gx.parse_graph(text))(x).item())
'''


GRADIENT_FIRST = """
import graphc as gx
def f(x):
    for _ in range(20):
        x = gx.sin(x)
    return x
print([node.op.name for node in gx.function(gx.grad(f)).graph(1.0).walk()].count("sin"))
"""


def run(program: str, folder: Path) -> str:
    file = folder / "program.py"  # functions without a file are not rewritten
    file.write_text(program, encoding="utf-8")
    command = [sys.executable, str(file)]
    found = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert found.returncode == 0, found.stderr
    return found.stdout


@pytest.mark.multiprocess
def test_an_import_brings_what_a_decorated_function_needs_and_no_more(tmp_path: Path) -> None:
    count, *parts = run(LOADED, tmp_path).split()
    later = {
        *("optax", "rich", "matplotlib", "sklearn", "absl", "asyncio", "jax.scipy.stats"),
        *(
            f"graphc.{part}"
            for part in ("autograph", "cli", "compat", "distribute", "gradients", "inspect", "lax", "layers")
        ),
        *(f"graphc.{part}" for part in ("losses", "optim", "placement", "train")),
    }
    assert not later.intersection(parts)
    assert int(count) <= 240, "each module costs half a millisecond; is the new one needed at import?"


@pytest.mark.multiprocess
def test_what_comes_later_comes_whole_to_several_threads_at_once(tmp_path: Path) -> None:
    assert run(THREADS, tmp_path) == "8 1\n"


@pytest.mark.multiprocess
def test_what_is_looked_for_by_name_is_found_before_its_module_is_used(tmp_path: Path) -> None:
    assert run(LOOKED_FOR, tmp_path) == "False 5.0 True\n0.0\n"


@pytest.mark.multiprocess
def test_what_comes_later_may_come_while_a_function_is_traced(tmp_path: Path) -> None:
    assert run(IN_A_TRACE, tmp_path) == "1\n(2,) True 2\n"


@pytest.mark.multiprocess
def test_a_gradient_may_be_the_first_function_that_is_traced(tmp_path: Path) -> None:
    assert run(GRADIENT_FIRST, tmp_path) == "2\n"  # in a loop, and in its gradient


def test_type_checkers_are_told_where_each_later_name_comes_from() -> None:
    tree = ast.parse(Path(str(gx.__file__)).read_text(encoding="utf-8"))
    (told,) = [node for node in tree.body if isinstance(node, ast.If)]
    imports = [node for node in told.body if isinstance(node, ast.ImportFrom) and node.names[0].name != "*"]
    homes = {
        (node.module or "").removesuffix(f".{name.name}") + f" {name.name}" for node in imports for name in node.names
    }
    expected = {
        f"{home.removesuffix(f'.{name}')} {name}" for home, names in gx._HOMES.items() for name in names.split()
    }
    assert homes == expected


def test_later_names_are_listed_and_can_be_imported() -> None:
    from graphc import Graph, add, linalg

    assert add is gx.add
    assert linalg is gx.linalg
    assert Graph is gx.Graph
    assert set(gx.__all__) <= set(dir(gx))
    star: dict[str, object] = {}
    exec("from graphc import *", star)
    assert star["explain"] is gx.explain
    assert star["sum"] is gx.sum
    assert star["function"] is gx.function
