"""Scopes of Variables: names, sharing, defaults, templates. The names are those that TensorFlow 2.21 gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError, UnimplementedError
from graphc.graphs import session


@pytest.fixture(autouse=True)
def graph() -> Any:
    with gx.Graph().as_default() as graph:
        yield graph


def test_names(graph: gx.Graph) -> None:
    with gx.variable_scope("s") as scope, graph.name_scope("inner"):
        w = gx.get_variable("w", [2])
        plain = gx.Variable(1.0)
    assert (w.name, w.initializer.name, plain.name) == ("s/w:0", "s/w/Assign", "s/inner/Variable:0")
    with gx.variable_scope("s"), gx.variable_scope("deep/er"):
        assert gx.get_variable("w", [1]).name == "s/deep/er/w:0"
        assert gx.Variable(1.0).name == "s_1/deep/er/Variable:0"
    with gx.variable_scope("other"), gx.variable_scope(scope):
        assert gx.get_variable("v", [1]).name == "s/v:0"
        assert gx.Variable(1.0).name == "other/s/Variable:0"
        assert session.get_variable_scope().original_name_scope == "s/"
    with gx.variable_scope("bare", auxiliary_name_scope=False):
        assert (gx.get_variable("v", [1]).name, gx.Variable(1.0).name) == ("bare/v:0", "Variable:0")


def test_default_names_are_made_unique() -> None:
    names: list[str] = []
    for _ in range(2):
        with gx.variable_scope(None, "d") as outer, gx.variable_scope(None, "d") as inner:
            names += [outer.name, inner.name]
    assert names == ["d", "d/d", "d_1", "d_1/d"]
    with gx.variable_scope("again"), gx.variable_scope(None, "d") as first:
        pass
    with gx.variable_scope("again"), gx.variable_scope(None, "d") as second:
        pass
    assert first.name == second.name == "again/d"


def test_sharing() -> None:
    with gx.variable_scope("s") as scope:
        w = gx.get_variable("w", [2])
    with gx.variable_scope("s", reuse=True), gx.variable_scope(""):
        assert gx.get_variable("w") is w
    with gx.variable_scope(scope):
        session.get_variable_scope().reuse_variables()
        assert gx.get_variable("w", [None]) is w
    for _ in range(2):
        with gx.variable_scope("s", reuse=session.AUTO_REUSE):
            assert gx.get_variable("w", [2]) is w
            gx.get_variable("b", [1])
    assert [v.name for v in session.global_variables()] == ["s/w:0", "s/b:0"]


def test_what_sharing_refuses() -> None:
    with gx.variable_scope("s"):
        gx.get_variable("w", [2])
    with (
        gx.variable_scope("s"),
        pytest.raises(InvalidArgumentError, match=r"s/w already exists.*\n?.*gx.get_variable\("),
    ):
        gx.get_variable("w", [2])
    with gx.variable_scope("s", reuse=True):
        with pytest.raises(InvalidArgumentError, match=r"specified shape \(3,\) and found shape \(2,\)"):
            gx.get_variable("w", [3])
        with pytest.raises(InvalidArgumentError, match="specified dtype int32 and found dtype float32"):
            gx.get_variable("w", [2], dtype="int32")
        with pytest.raises(InvalidArgumentError, match="s/z does not exist"):
            gx.get_variable("z", [2])


def test_what_new_variables_refuse() -> None:
    with pytest.raises(InvalidArgumentError, match="must be fully defined, but instead was <unknown>"):
        gx.get_variable("k")
    with pytest.raises(InvalidArgumentError, match=r"must be fully defined, but instead was \[None, 2\]"):
        gx.get_variable("k", [None, 2])
    with pytest.raises(InvalidArgumentError, match="If initializer is a constant, do not specify shape"):
        gx.get_variable("k", [2], initializer=np.ones(2, np.float32))
    with pytest.raises(InvalidArgumentError, match="Initializer type 'float32' and explicit dtype 'int32' don't match"):
        gx.get_variable("k", dtype="int32", initializer=np.ones(2, np.float32))
    with pytest.raises(UnimplementedError, match="partitioner"):
        gx.get_variable("k", [2], partitioner=object())
    with pytest.raises(InvalidArgumentError, match="name_or_scope is required"), gx.variable_scope(None):
        pass
    with (
        pytest.raises(InvalidArgumentError, match="reuse=True cannot be used"),
        gx.variable_scope(None, "d", reuse=True),
    ):
        pass
    with pytest.raises(InvalidTypeError, match="expected a name or a VariableScope"), gx.variable_scope(3):  # pyright: ignore
        pass


def test_what_a_scope_says_of_its_variables(graph: gx.Graph) -> None:
    def square(value: Any) -> Any:
        return gx.sum(value * value)

    with gx.variable_scope("s", initializer=session.constant_initializer(3.0), regularizer=square, dtype="float16"):
        a = gx.get_variable("a", [2])
        b = gx.get_variable("b", [2], dtype="int32", regularizer=session.no_regularizer)
        c = gx.get_variable("c", initializer=np.array([1, 2], np.int32), regularizer=session.no_regularizer)
        d = session.get_local_variable("d", [])
    assert [v.dtype.name for v in (a, b, c, d)] == ["float16", "int32", "int32", "float16"]
    assert session.local_variables() == [d]
    assert not d.trainable
    losses = graph.get_collection(gx.GraphKeys.REGULARIZATION_LOSSES)
    assert [loss.name.partition("/Reg")[0] for loss in losses] == ["s/a", "s/d"]
    with gx.Session(graph=graph) as run:
        run.run([gx.global_variables_initializer(), gx.local_variables_initializer()])
        assert float(run.run(losses[0])) == 18.0
        assert run.run([b, c])[0].tolist() == [3, 3]


def test_initializers_that_are_functions(graph: gx.Graph) -> None:
    def twos(shape: Any, dtype: Any) -> Any:
        return gx.full(shape, 2.0, dtype=dtype)

    a = gx.get_variable("a", [2], initializer=twos)
    b = gx.get_variable("b", initializer=lambda: gx.asarray([1.0, 2.0]))
    c = gx.get_variable("c", [2], initializer=session.ones_initializer)
    with gx.Session(graph=graph) as run:
        run.run(gx.global_variables_initializer())
        assert [value.tolist() for value in run.run([a, b, c])] == [[2.0, 2.0], [1.0, 2.0], [1.0, 1.0]]


def test_custom_getters_are_refused_with_what_to_write() -> None:
    with pytest.raises(UnimplementedError, match="call your own function, which calls get_variable"):
        gx.get_variable("w", [1], custom_getter=print)
    with (
        pytest.raises(UnimplementedError, match="call your own function, which calls get_variable"),
        gx.variable_scope("s", custom_getter=print),
    ):
        pass
