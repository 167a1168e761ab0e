"""Every row of the table, held to NumPy, to its stub and to the rules of rows."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
import pytest
from scipy import special

from graphc.compiler.base.errors import ConcretizationError
from graphc.compiler.core import FUNCTIONS, Tensor
from graphc.compiler.ir import OPS, Graph, Interpreter
from graphc.compiler.ops import constants, distributions, fft, functions, lax, linalg, nn, random
from graphc.compiler.ops import special as special_rows
from graphc.compiler.ops.stubs import render, render_distributions, render_random, stub_path
from graphc.compiler.ops.table import ROWS, Row
from tests.compiler.ops.calls import ALL_ROWS, EXAMPLES, called, is_jax_s
from tests.compiler.ops.examples import Example
from tests.compiler.ops.support import KernelInterpreter, arrays, flat, trace, types

CASES = [
    pytest.param(name, case, id=f"{name}-{number}", marks=pytest.mark.drawn(3) if is_jax_s(name) else ())
    for name, cases in EXAMPLES.items()
    for number, case in enumerate(cases)
]


def numpy_function(name: str) -> Callable[..., Any]:
    """NumPy's function of a row's name, with the names of the array API."""
    namespaces = {"fft": np.fft, "linalg": np.linalg, "special": special, "lax": jax.lax, "": np}
    namespace, _, function = name.rpartition(".")
    return getattr(namespaces[namespace], function)


def test_every_row_has_an_example() -> None:
    assert set(EXAMPLES) == set(ALL_ROWS)


PLATFORMS = ("cpu", "gpu", "tpu")
DECOMPOSING = [name for name, row in ALL_ROWS.items() if name.startswith("linalg.") or row.platforms]


@pytest.mark.parametrize("name", DECOMPOSING)
def test_a_row_says_for_which_devices_jax_has_an_implementation(name: str) -> None:
    call, inputs = called(name, EXAMPLES[name][0])
    graph = trace(call, [jax.numpy.asarray(array) for array in inputs])
    program = jax.jit(Interpreter(graph).run).trace(
        *[jax.ShapeDtypeStruct(value.type.shape, value.type.dtype) for value in graph.inputs]
    )
    said = ALL_ROWS[name].platforms or PLATFORMS
    program.lower(lowering_platforms=tuple("cuda" if platform == "gpu" else platform for platform in said))
    for platform in set(PLATFORMS) - set(said):
        with pytest.raises(NotImplementedError, match=f"not found for platform {platform}"):
            program.lower(lowering_platforms=("cuda" if platform == "gpu" else platform,))


@pytest.mark.parametrize(("name", "case"), CASES)
def test_result_is_that_of_numpy_and_the_graph_has_the_same(name: str, case: Example) -> None:
    # One test: where two ran in two processes, each compiled the kernel.
    call, inputs = called(name, case)
    result = call(*map(Tensor, map(jax.numpy.asarray, inputs)))
    check_against_numpy(name, case, result)
    if ALL_ROWS[name].by_value is not None and "size" not in case.kwargs:
        with pytest.raises(ConcretizationError, match=rf"{name}: .* depends on the values of x1?\b.*; pass size="):
            trace(call, inputs)
    else:
        check_graph(name, trace(call, inputs), inputs, flat(result))


def check_against_numpy(name: str, case: Example, result: Any) -> None:
    expected = flat((case.expected or numpy_function(name))(*case.args, **case.kwargs))
    returns = ALL_ROWS[name].returns
    if returns == "Tensor" or returns.startswith("tuple"):
        assert isinstance(result, tuple) == returns.startswith("tuple")
    elif not returns.startswith("Tensor"):
        assert type(result).__name__ == returns
    outputs = flat(result)
    assert len(outputs) == len(expected)
    for output, right in zip(outputs, expected, strict=True):
        assert type(output) is Tensor
        np.testing.assert_allclose(output.numpy(), right, rtol=2e-5, atol=2e-6)
        assert output.shape == np.shape(right)
        assert output.dtype.kind == np.asarray(right).dtype.kind or np.asarray(right).dtype.itemsize == 8


def check_graph(name: str, graph: Graph, inputs: Sequence[Any], eager: Sequence[Any]) -> None:
    """The graph of an example has the types and values of the eager result."""
    outputs = KernelInterpreter(graph).run(*inputs)
    assert [output.type for output in graph.outputs] == types(eager) == types(outputs)
    assert any(node.op.impl is ALL_ROWS[name].impl or node.op.name.startswith(f"{name}.") for node in graph.nodes)
    if ALL_ROWS[name].differentiable and any(value.dtype.kind in "fc" for value in inputs) and name != "astype":
        assert any(output.type.is_inexact for output in graph.outputs), "mark the row differentiable=False"
    for output, right in zip(arrays(outputs), arrays(eager), strict=True):
        np.testing.assert_allclose(output, right, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("row", ALL_ROWS.values(), ids=ALL_ROWS)
def test_row_is_public_and_documented(row: Row) -> None:
    function = FUNCTIONS[row.name]
    namespaces = {"": functions, "fft.": fft, "linalg.": linalg, "nn.": nn, "special.": special_rows, "lax.": lax}
    for name in (row.function, *row.aliases):
        assert getattr(namespaces[row.namespace], name) is function
        assert name in namespaces[row.namespace].__all__
    doc = inspect.getdoc(function)
    assert doc is not None
    assert doc.startswith(row.doc)
    assert row.doc.endswith(".")
    for parameter in inspect.signature(function).parameters:
        assert f"  {parameter}: " in doc
    assert OPS[row.name].doc == row.doc


@pytest.mark.parametrize("module", ROWS)
def test_stub_is_valid_python(module: str) -> None:
    compile(render(module), str(stub_path(module)), "exec")


def test_stubs_of_random_have_what_is_made_of_the_table() -> None:
    names: dict[str, Any] = {}
    exec(compile(render_distributions(), "distributions.pyi", "exec"), names)
    for draw in distributions.DRAWS:
        made, stub = getattr(distributions.Distributions, draw.name), getattr(names["Distributions"], draw.name)
        assert str(inspect.signature(made)) == str(inspect.signature(stub))
        assert inspect.getdoc(made) == inspect.getdoc(stub)
    assigned = [node.targets[0] for node in ast.parse(render_random()).body if isinstance(node, ast.Assign)]
    assert {*random.METHODS} < {ast.unparse(target) for target in assigned}


def test_public_names_are_unique_and_exist() -> None:
    names = functions.__all__
    assert len(names) == len(set(names))
    assert all(callable(getattr(functions, name)) for name in set(names) - set(constants.__all__))
    assert all(callable(getattr(random, name)) for name in random.__all__)


def test_numpy_functions_of_tensors_run_ours() -> None:
    x = functions.asarray([[1.0, 2.0], [3.0, 4.0]])
    total = np.sum(x, axis=0)
    assert isinstance(total, Tensor)
    np.testing.assert_array_equal(total.numpy(), [4.0, 6.0])
    joined = np.concatenate([x, x], axis=1)
    assert isinstance(joined, Tensor)
    assert joined.shape == (2, 4)
