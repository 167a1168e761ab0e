"""``gx.control_dependencies``, ``group``, ``tuple``, ``no_op``: the edges in the graph, and what XLA makes of them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import graphc as gx
from graphc import Tensor
from graphc.compiler.base.errors import InvalidTypeError, LeakedTensorError, VerificationError
from graphc.compiler.ir import Graph, Node, TensorType
from graphc.compiler.tracing import Controls, Trace

X = gx.asarray([1.0, 2.0, 3.0])


def edges(graph: Graph) -> dict[str, list[str]]:
    """The ops that wait, at any depth, and for which; those that wait for nothing are left out."""
    return {
        node.op.name: [control.op.name for control in node.control_inputs]
        for node in graph.walk()
        if node.control_inputs
    }


def graph_of(function: Callable[..., Any], *args: Any) -> Graph:
    return gx.function(function).graph(*args)


def hlo(function: Callable[..., Any], *args: Any) -> str:
    """The optimized program."""
    return gx.function(function).lower(*args).compile().as_text()


def one(graph: Graph, op: str) -> Node:
    (found,) = [node for node in graph.walk() if node.op.name == op]
    return found


class TestEdges:
    def test_what_begins_inside_waits_and_what_follows_from_it_waits_by_that(self) -> None:
        def f(x: Tensor) -> Tensor:
            a = gx.sin(x)
            with gx.control_dependencies([a]):
                b = gx.cos(x)
                return gx.exp(b) + a

        assert edges(graph_of(f, X)) == {"cos": ["sin"]}

    def test_what_was_made_before_is_not_moved(self) -> None:
        def f(x: Tensor) -> Any:
            a, b = gx.sin(x), gx.cos(x)
            with gx.control_dependencies([a]):
                return a, b

        assert edges(graph_of(f, X)) == {}

    def test_scopes_add_up_and_none_lifts_them(self) -> None:
        def f(x: Tensor) -> Any:
            a, b = gx.sin(x), gx.cos(x)
            with gx.control_dependencies([a]), gx.control_dependencies([b]):
                both = gx.exp(x)
                with gx.control_dependencies(None):
                    none = gx.tanh(x)
                again = gx.sqrt(x)
            return a, b, both, none, again, gx.log(x)

        found = edges(graph_of(f, X))
        assert {op: sorted(controls) for op, controls in found.items()} == {
            "exp": ["cos", "sin"],
            "sqrt": ["cos", "sin"],
        }

    def test_what_nobody_else_needs_is_computed_if_it_is_awaited(self) -> None:
        def f(x: Tensor) -> Tensor:
            with gx.control_dependencies([gx.sin(x)]):
                return gx.cos(x)

        assert edges(graph_of(f, X)) == {"cos": ["sin"]}

    def test_equal_values_that_wait_for_other_things_are_two(self) -> None:
        def f(x: Tensor) -> Any:
            a = gx.sin(x)
            with gx.control_dependencies([gx.sum(a)]):
                b = gx.sin(x)
            return a, b

        assert sum(node.op.name == "sin" for node in graph_of(f, X).nodes) == 2

    def test_a_constant_that_is_folded_still_waits(self) -> None:
        def f(x: Tensor) -> Any:
            a = gx.sin(x)
            with gx.control_dependencies([a]):
                return gx.asarray([1.0, 2.0, 3.0]) + gx.asarray([1.0, 1.0, 1.0]), a

        graph = graph_of(f, X)
        assert [node.op.name for node in graph.nodes if node.control_inputs] == ["constant"]
        np.testing.assert_array_equal(gx.function(f)(X)[0].numpy(), [2.0, 3.0, 4.0])

    def test_rows_that_wait_are_not_stacked_again_as_a_slice(self) -> None:
        def f(x: Tensor) -> Any:
            a = gx.sum(x)
            with gx.control_dependencies([a]):
                rows = [x[0], x[1]]
            return gx.stack(rows), a

        assert edges(graph_of(f, X)) == {"get_item": ["sum"]}

    def test_a_variable_stands_for_its_last_assignment(self) -> None:
        v, w = gx.Variable(1.0), gx.Variable(1.0)

        def f(x: Tensor) -> Tensor:
            v.assign(gx.sum(x))
            with gx.control_dependencies([v, w.assign_add(1.0)]):
                return gx.sin(x)

        graph = graph_of(f, X)
        assert [control.attrs["variable"] for control in one(graph, "sin").control_inputs] == [v.name, w.name]
        assert gx.function(f)(X).shape == (3,)
        assert (v.numpy(), w.numpy()) == (6.0, 2.0)

    def test_a_variable_that_is_not_assigned_is_there_already(self) -> None:
        v = gx.Variable(1.0)

        def f(x: Tensor) -> Tensor:
            with gx.control_dependencies([v, x, gx.asarray(1.0), jnp.ones(2)]):
                return gx.sin(x)

        assert edges(graph_of(f, X)) == {}

    def test_a_block_around_a_branch_holds_for_the_branch(self) -> None:
        def f(x: Tensor) -> Any:
            a = gx.sin(x)
            with gx.control_dependencies([a]):
                if gx.sum(x) > 0:
                    x = gx.exp(x)
                for i in range(3):
                    x = gx.cos(x) * i
            return x, a

        found = edges(graph_of(f, X))
        assert found["sum"] == ["sin"]
        assert "exp" not in found
        assert "cos" not in found

    def test_inside_a_loop(self) -> None:
        def f(x: Tensor, n: Tensor) -> Tensor:
            outside = gx.tanh(x)
            for _ in range(n):
                a = gx.sin(x)
                with gx.control_dependencies([a, outside]):
                    x = gx.cos(x)
            return x

        graph = graph_of(f, X, gx.asarray(3))
        assert edges(graph) == {"cos": ["sin", "identity"]}
        np.testing.assert_allclose(gx.function(f)(X, gx.asarray(3)).numpy(), f(X, gx.asarray(3)).numpy(), rtol=1e-6)

    def test_a_variable_inside_a_loop(self) -> None:
        v = gx.Variable(0.0)

        def f(x: Tensor, n: Tensor) -> Tensor:
            for _ in range(n):
                with gx.control_dependencies([v.assign_add(1.0)]):
                    x = gx.cos(x)
            return x

        gx.function(f)(X, gx.asarray(3))
        assert v.numpy() == 3.0
        assert edges(graph_of(f, X, gx.asarray(3))) == {"cos": ["stop_gradient"]}, "which reads the new value"

    def test_an_attempt_to_roll_a_loop_that_is_given_up_leaves_no_edge(self) -> None:
        def f(x: Tensor) -> Any:
            found = []
            a = gx.sin(x)
            with gx.control_dependencies([a]):
                for i in range(3):
                    found += [gx.reshape(x, (3,) + (1,) * i)]
            return found, a

        controls = [node.control_inputs for node in graph_of(f, X).nodes if node.op.name == "reshape"]
        assert all([control.op.name for control in found] == ["sin"] for found in controls)

    def test_printing_and_parsing(self) -> None:
        def f(x: Tensor) -> Tensor:
            with gx.control_dependencies([gx.group(gx.sin(x), gx.exp(x))]):
                return gx.cos(x)

        graph = graph_of(f, X)
        assert edges(graph) == {"no_op": ["sin", "exp"], "cos": ["no_op"]}
        assert str(gx.parse_graph(str(graph))) == str(graph)
        assert "after(%no_op)" in str(graph)

    def test_no_scope_no_edge(self) -> None:
        assert Controls((), None).before(()) == ()


class TestGroupsAndTuples:
    def test_a_group_can_be_returned_and_listed(self) -> None:
        v, w = gx.Variable(1.0), gx.Variable(2.0)

        def step(x: Tensor) -> gx.Operation:
            return gx.group(v.assign_add(x), [w.assign_sub(x)], gx.no_op())

        for run in (step, gx.function(step)):
            done = run(gx.asarray(1.0))
            assert isinstance(done, gx.Operation)
            with gx.control_dependencies([done]):
                pass
        assert (v.numpy(), w.numpy()) == (3.0, 0.0)

    def test_branches_may_give_operations(self) -> None:
        v = gx.Variable(1.0)

        @gx.function
        def step(x: Tensor) -> Tensor:
            done = gx.cond(x > 0, lambda: gx.group(v.assign_add(x)), gx.no_op)
            with gx.control_dependencies([done]):
                return v * 2

        assert [step(gx.asarray(x)).item() for x in (1.0, -1.0)] == [4.0, 4.0]

    def test_a_no_op_in_a_scope_is_done_when_the_list_is(self) -> None:
        def f(x: Tensor) -> Tensor:
            with gx.control_dependencies([gx.sin(x)]):
                done = gx.no_op()
            with gx.control_dependencies([done]):
                return gx.cos(x)

        assert edges(graph_of(f, X)) == {"no_op": ["sin"], "cos": ["no_op"]}

    def test_tuples(self) -> None:
        v = gx.Variable(1.0)

        def f(x: Tensor) -> Any:
            return gx.tuple([gx.sin(x), None, v], control_inputs=[gx.exp(x)])

        for run in (f, gx.function(f)):
            first, nothing, value = run(X)
            assert nothing is None
            assert value.item() == 1.0
            np.testing.assert_allclose(first.numpy(), np.sin(X.numpy()), rtol=1e-6)
        assert edges(graph_of(f, X)) == {"together": ["exp"]}
        assert gx.tuple((X, X)) == (X, X)

    def test_identity_waits(self) -> None:
        def f(x: Tensor) -> Tensor:
            with gx.control_dependencies([gx.sin(x)]):
                return gx.identity(x)

        assert edges(graph_of(f, X)) == {"identity": ["sin"]}


class TestGradients:
    def test_they_pass_through(self) -> None:
        def f(x: Tensor) -> Tensor:
            a = gx.sin(x)
            with gx.control_dependencies([a]):
                b, c = gx.tuple([gx.cos(x), x * 2])
            return gx.sum(a * b * c)

        def plain(x: Tensor) -> Tensor:
            return gx.sum(gx.sin(x) * gx.cos(x) * (x * 2))

        expected = gx.grad(plain)(X).numpy()
        for run in (gx.grad(f), gx.function(gx.grad(f)), gx.grad(gx.function(f))):
            np.testing.assert_allclose(run(X).numpy(), expected, rtol=1e-5)

    def test_a_gradient_made_in_a_scope_waits(self) -> None:
        def f(x: Tensor) -> Any:
            with gx.GradientTape() as tape:
                tape.watch(x)
                y = gx.sum(gx.sin(x))
            with gx.control_dependencies([gx.exp(x)]):
                return tape.gradient(y, x, output_gradients=gx.sum(gx.cos(x)))

        np.testing.assert_allclose(gx.function(f)(X).numpy(), np.cos(X.numpy()) * np.cos(X.numpy()).sum(), rtol=1e-5)
        assert edges(graph_of(f, X)) == {"cos": ["exp"]}, "from which the rest of the gradient is computed"

    def test_rows(self) -> None:
        def f(x: Tensor) -> Tensor:
            with gx.control_dependencies([gx.sin(x)]):
                return gx.cos(x)

        np.testing.assert_allclose(gx.vectorized_map(f, X).numpy(), np.cos(X.numpy()), rtol=1e-6)


class TestRefusals:
    @pytest.mark.parametrize("make", [lambda f: f, gx.function])
    @pytest.mark.parametrize(
        ("use", "message"),
        [
            (
                lambda x: gx.group(x, [x, "b"]),
                r"gx\.group: item \[1\]\[1\] is 'b', which is not a tensor; list tensors, Var",
            ),
            (
                lambda x: gx.group(x, None),
                r"item \[1\] is None, .*; print and other calls that return None need not be",
            ),
            (lambda x: gx.control_dependencies(3).__enter__(), r"gx\.control_dependencies: 3 is not a tensor; list"),
            (lambda x: gx.tuple([x, 3]), r"gx\.tuple: item \[1\] is 3, which is not a tensor"),
            (lambda x: gx.tuple([x], [object]), r"gx\.tuple: control_inputs: item \[0\] is <class 'object'>"),
            (lambda x: gx.tuple(x), r"gx\.tuple: expected a list or tuple of tensors, got "),
        ],
    )
    def test_what_is_no_tensor(self, make: Any, use: Any, message: str) -> None:
        with pytest.raises(InvalidTypeError, match=message) as caught:
            make(use)(X)
        assert "test_order.py" in str(caught.value)

    @pytest.mark.parametrize("make", [lambda f: f, gx.function])
    def test_a_list_that_holds_what_print_returns(self, make: Any) -> None:
        def f(x: Tensor) -> Tensor:
            with gx.control_dependencies([print("x")]):
                return x

        with pytest.raises(InvalidTypeError, match=r"gx\.control_dependencies: item \[0\] is None"):
            make(f)(X)

    def test_a_tensor_of_another_trace(self) -> None:
        trace = Trace("first")
        tensor = trace.argument(TensorType((), np.dtype(np.float32)), "x")

        def use(x: Tensor) -> Tensor:
            with gx.control_dependencies([tensor]):
                return x

        for run in (use, gx.function(use)):
            with pytest.raises(LeakedTensorError, match=r"the argument 'x'\) is used outside the function.* 'first'"):
                run(X)

    def test_a_cycle(self) -> None:
        text = """graph g(%x: f32[]) -> (f32[]) {
          %a: f32[] = sin(%x) after(%b)
          %b: f32[] = cos(%x) after(%a)
          return %b
        }"""
        with pytest.raises((VerificationError, gx.errors.ParseError), match=r"\bb\b"):
            gx.ir.verify(gx.parse_graph(text))


def waits_for(text: str, late: str, early: str) -> bool:
    """Whether the late op of a program depends on the early one."""
    lines = dict(re.findall(r"^\s*(?:ROOT )?%([\w.\-]+) = (.*)$", text, re.MULTILINE))
    waiting = [name for name, line in lines.items() if late in line]
    seen: set[str] = set()
    while waiting:
        name = waiting.pop()
        for other in re.findall(r"%([\w.\-]+)", lines.get(name, "")):
            if other not in seen:
                seen.add(other)
                waiting.append(other)
    return any(early in lines.get(name, "") for name in seen)


class TestProgram:
    def test_an_edge_is_a_barrier_in_the_optimized_program(self) -> None:
        def f(x: Tensor) -> Any:
            a = gx.sin(x) @ x
            with gx.control_dependencies([a]):
                b = gx.cos(x) @ x
            return a, b

        def free(x: Tensor) -> Any:
            return gx.sin(x) @ x, gx.cos(x) @ x

        x = gx.ones((8, 8))
        assert waits_for(hlo(f, x), "/cos", "/sin")
        assert "opt-barrier(" in hlo(f, x)
        assert not waits_for(hlo(free, x), "/cos", "/sin")
        assert "opt-barrier" not in hlo(free, x)

    def test_equal_values_are_computed_twice_where_one_waits(self) -> None:
        def f(x: Tensor) -> Any:
            a = gx.sin(x)
            with gx.control_dependencies([gx.sum(a)]):
                b = gx.sin(x)
            return a, b

        assert len(re.findall(r" sine\(", hlo(f, X))) == 2
        assert len(re.findall(r" sine\(", hlo(lambda x: (gx.sin(x), gx.sin(x)), X))) == 1

    def test_what_is_computed_from_a_shape_alone_waits_too(self) -> None:
        def f(x: Tensor) -> Any:
            a = gx.sin(x) @ x
            with gx.control_dependencies([a]):
                b = gx.cumulative_sum(gx.ones_like(x), axis=0)
            return a, b

        assert "opt-barrier(" in hlo(f, gx.ones((8, 8)))

    def test_in_the_body_of_a_loop(self) -> None:
        def f(x: Tensor, n: Tensor) -> Tensor:
            for _ in range(n):
                a = gx.sin(x)
                with gx.control_dependencies([a]):
                    x = gx.cos(x)
            return x

        assert "opt-barrier(" in hlo(f, X, gx.asarray(3))

    def test_order_of_effects_costs_no_barrier(self) -> None:
        v = gx.Variable(1.0)

        def f(x: Tensor) -> Tensor:
            with gx.control_dependencies([v.assign_add(1.0)]):
                y = v + 1
                print(y)
                v.assign_sub(1.0)
            return y * x

        graph = graph_of(f, X)
        assert any(node.control_inputs for node in graph.nodes)
        assert "opt-barrier" not in hlo(f, X)

    @pytest.mark.skipif(jax.default_backend() != "cpu", reason="the numbers are those of XLA's CPU compiler")
    def test_delaying_a_large_temporary_saves_memory(self) -> None:
        def f(x: Tensor, w: Tensor, wait: bool) -> Tensor:
            """Values of each of eight layers are used twice; those that wait are computed anew, one after the other."""
            h = x
            for _ in range(8):
                h = gx.sin(h @ w)
            total = gx.zeros_like(x)
            for layer in reversed(range(8)):
                with gx.control_dependencies([total] if wait else []):
                    again = gx.identity(x)
                for _ in range(layer + 1):
                    again = gx.sin(again @ w)
                total = gx.cos(total @ w) + again
            return gx.sum(total) + gx.sum(h)

        x = gx.ones((128, 128)) * 0.01
        function = gx.function(f, unroll=True)
        together, one_by_one = (
            function.lower(x, x, wait).compile().memory_analysis().temp_size_in_bytes for wait in (False, True)
        )
        assert one_by_one < 0.7 * together
        np.testing.assert_allclose(function(x, x, True).numpy(), function(x, x, False).numpy(), rtol=1e-5)


def test_an_edge_inside_a_segment_of_several_holds() -> None:
    @gx.function
    def f(x: Tensor) -> Any:
        with gx.device("cpu:1"):
            y = gx.exp(x)
        with gx.device("cpu:0"):
            a = gx.sin(x) @ x
            with gx.control_dependencies([a]):
                return a, gx.cos(x) @ x, y

    x = gx.ones((4, 4))
    assert f(x)[1].shape == (4, 4)
    steps = f.trace(x).executable.plan.steps  # pyright: ignore[reportAttributeAccessIssue]
    texts = [step.jitted.lower(x.raw).compile().as_text() for step in steps if hasattr(step, "jitted")]
    assert any("opt-barrier(" in text for text in texts)
