"""Variables of graphs: values in each Session, initial values, assignments, what is refused."""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base.errors import FailedPreconditionError, InvalidArgumentError, InvalidTypeError, OutOfRangeError
from graphc.graphs import session

Variable: Any = gx.Variable
"""What it makes in a graph has more methods than in eager code."""


@pytest.fixture
def graph() -> Any:
    with gx.Graph().as_default() as graph:
        yield graph


def test_names_and_dtypes_are_tensorflows(graph: gx.Graph) -> None:
    with graph.name_scope("layer"):
        weights = Variable([1.0, 2.0], name="weights")
    counter = Variable(3)
    again = Variable(True, name="layer/weights")
    assert [weights.name, counter.name, again.name] == ["layer/weights:0", "Variable:0", "layer/weights_1:0"]
    assert [weights.dtype, counter.dtype, again.dtype] == [np.float32, np.int32, np.bool_]
    assert weights.op.name == "layer/weights"
    assert weights.initializer.name == "layer/weights/Assign"
    assert weights.initial_value.name == "layer/weights/Initializer/initial_value:0"
    assert graph.get_tensor_by_name("layer/weights:0") is weights.read_once
    assert repr(weights) == "<Variable 'layer/weights:0' f32[2]>"


def test_each_session_has_its_own_value(graph: gx.Graph) -> None:
    count = Variable(0, name="count")
    step = count.assign_add(1)
    with gx.Session(graph=graph) as first, gx.Session(graph=graph) as second:
        first.run(count.initializer)
        second.run(count.initializer)
        assert [int(first.run(step)) for _ in range(3)] == [1, 2, 3]
        assert int(second.run(count)) == 0
        assert int(first.run("count:0")) == 3


def test_reading_what_has_no_value_names_it(graph: gx.Graph) -> None:
    v = Variable(1.0, name="v")
    with gx.Session(graph=graph) as run, pytest.raises(FailedPreconditionError, match="uninitialized value v: "):
        run.run(v + 1.0)


def test_initial_values_run_in_the_order_in_which_they_were_made(graph: gx.Graph) -> None:
    a = Variable(gx.random.normal((3,)), name="a")
    b = Variable(a.initialized_value() * 2.0, name="b")
    c = Variable(b + a, name="c")
    init = gx.global_variables_initializer()
    with gx.Session(graph=graph) as run:
        run.run(init)
        values = run.run([a, b, c])
    np.testing.assert_allclose(values[1], 2.0 * values[0], rtol=1e-6)
    np.testing.assert_allclose(values[2], 3.0 * values[0], rtol=1e-6)


def test_initialized_value_is_the_value_where_there_is_one(graph: gx.Graph) -> None:
    a = Variable(1.0, name="a")
    b = Variable(a.initialized_value() * 10.0, name="b")
    with gx.Session(graph=graph) as run:
        run.run(b.initializer)
        assert float(run.run(b)) == 10.0
        run.run(a.initializer)
        run.run(a.assign(5.0))
        run.run(b.initializer)
        assert float(run.run(b)) == 50.0


def test_collections(graph: gx.Graph) -> None:
    a = Variable(1.0, name="a")
    b = Variable(1.0, name="b", trainable=False)
    c = Variable(1.0, name="c", collections=[])
    d = Variable(1.0, name="d", trainable=False, collections=[gx.GraphKeys.LOCAL_VARIABLES])
    assert session.global_variables() == [a, b]
    assert gx.trainable_variables() == [a]
    assert session.local_variables() == [d]
    assert session.global_variables("b") == [b]
    assert set(graph.get_all_collection_keys()) == {"variables", "trainable_variables", "local_variables"}
    missing = session.report_uninitialized_variables()
    local = gx.local_variables_initializer()
    with gx.Session(graph=graph) as run:
        assert run.run(missing).tolist() == [b"a", b"b", b"d"]
        run.run(local)
        assert run.run(missing).tolist() == [b"a", b"b"]
        run.run([gx.global_variables_initializer(), c.initializer])
        assert run.run(missing).tolist() == []
        assert run.run([c, d]) == [1.0, 1.0]


def test_asking_whether_there_is_a_value(graph: gx.Graph) -> None:
    with graph.container("kept"):
        v = Variable(1.0, name="v")
    there = session.is_variable_initialized(v)
    check = session.assert_variables_initialized([v])
    with gx.Session(graph=graph) as run:
        assert not run.run(there)
        with pytest.raises(FailedPreconditionError, match="uninitialized value v"):
            run.run(check)
        run.run(v.initializer)
        assert run.run([there, check]) == [True, None]
        assert run.run(v) == 1.0
        run.resources.reset(["kept"])
        assert not run.run(there)
        with pytest.raises(FailedPreconditionError, match="uninitialized value v"):
            run.run(v)


def test_assignments_give_the_new_value(graph: gx.Graph) -> None:
    v = Variable([1.0, 2.0], name="v")
    n = Variable(4, name="n")
    with gx.Session(graph=graph) as run:
        run.run(gx.global_variables_initializer())
        assert run.run(session.assign(v, [5, 6], name="set")).tolist() == [5.0, 6.0]
        assert run.run(session.assign_add(v, [1.0, 1.0])).tolist() == [6.0, 7.0]
        assert run.run(session.assign_sub(v, v)).tolist() == [0.0, 0.0]
        assert run.run(n.assign_add(3)) == 7
        operation = v.assign([2.0, 3.0], read_value=False, name="only")
        assert (operation.name, run.run(operation)) == ("only", None)
        assert run.run(v).tolist() == [2.0, 3.0]
        v.load(np.array([7.0, 8.0]), run)
        assert v.eval(run).tolist() == [7.0, 8.0]
    assert graph.get_tensor_by_name("set:0").op.type == "Identity"


def test_rows_are_assigned(graph: gx.Graph) -> None:
    v = Variable(np.zeros((3, 2), np.float32), name="v")
    rows = gx.placeholder("int32", shape=(None,))
    ones = gx.ones((2, 2))
    with gx.Session(graph=graph) as run:
        run.run(v.initializer)
        run.run(session.scatter_update(v, [0, 2], ones))
        assert run.run(v)[:, 0].tolist() == [1.0, 0.0, 1.0]
        run.run(session.scatter_add(v, [1, 1], ones))
        run.run(session.scatter_sub(v, [0], [[3, 3]]))
        run.run(session.scatter_mul(v, [1], [[5, 5]]))
        run.run(session.scatter_div(v, [1], [[2.0, 2.0]]))
        run.run(session.scatter_max(v, [2], [[4.0, 0.0]]))
        run.run(session.scatter_min(v, [0], [[-9.0, 0.0]]))
        assert run.run(v).tolist() == [[-9.0, -2.0], [5.0, 5.0], [4.0, 1.0]]
        run.run(session.scatter_nd_update(v, [[0, 1], [2, 0]], [10.0, 20.0]))
        run.run(session.scatter_nd_add(v, [[1], [1]], ones))
        run.run(session.scatter_nd_sub(v, [[1, 0]], [1.0]))
        assert run.run(v).tolist() == [[-9.0, 10.0], [6.0, 7.0], [20.0, 1.0]]
    with pytest.raises(OutOfRangeError, match="3"):
        session.scatter_update(v, [3], [[1.0, 1.0]])
    del rows


class _Rows(NamedTuple):
    indices: Any
    values: Any


def test_rows_are_assigned_by_methods(graph: gx.Graph) -> None:
    v = Variable([1.0, 2.0, 3.0], name="v")
    rows = _Rows([0, 2], [2.0, 4.0])
    changes = [
        v.scatter_update,
        v.scatter_add,
        v.scatter_mul,
        v.scatter_sub,
        v.scatter_div,
        v.scatter_min,
        v.scatter_max,
    ]
    assigned = [change(rows) for change in changes]
    nd = [v.scatter_nd_update([[1]], [5.0]), v.scatter_nd_add([[1]], [1.0]), v.scatter_nd_sub([[1]], [2.0])]
    with gx.Session(graph=graph) as run:
        run.run(v.initializer)
        found = [run.run(change).tolist() for change in assigned]
        assert found == [
            [2.0, 2.0, 4.0], [4.0, 2.0, 8.0], [8.0, 2.0, 32.0], [6.0, 2.0, 28.0], [3.0, 2.0, 7.0], [2.0, 2.0, 4.0],
            [2.0, 2.0, 4.0],
        ]  # fmt: skip
        assert [run.run(change)[1] for change in nd] == [5.0, 6.0, 4.0]
        assert run.run(v.sparse_read([2, 0])).tolist() == [4.0, 2.0]


def test_a_counter_ends_with_out_of_range(graph: gx.Graph) -> None:
    epoch = Variable(0, name="epoch")
    following = session.count_up_to(epoch, 2, name="next")
    with gx.Session(graph=graph) as run:
        with pytest.raises(FailedPreconditionError, match="uninitialized value epoch"):
            run.run(following)
        run.run(epoch.initializer)
        assert [run.run(following), run.run(following), run.run(epoch)] == [0, 1, 2]
        with pytest.raises(OutOfRangeError, match="Reached limit of 2"):
            run.run(following)
        assert run.run(epoch) == 2
    with pytest.raises(InvalidTypeError, match="no scalar integer"):
        Variable(1.0).count_up_to(3)


def test_a_counter_gives_each_number_once_to_threads(graph: gx.Graph) -> None:
    epoch = Variable(0, name="epoch")
    following = epoch.count_up_to(40)
    seen: list[int] = []
    with gx.Session(graph=graph) as run:
        run.run(epoch.initializer)
        start = threading.Barrier(4)

        def work() -> None:
            start.wait(30)
            seen.extend(int(run.run(following)) for _ in range(10))

        threads = [threading.Thread(target=work, daemon=True) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    assert sorted(seen) == list(range(40))


def test_an_assignment_in_a_branch_happens_only_there(graph: gx.Graph) -> None:
    v = Variable(1.0, name="v")
    up = gx.placeholder("bool", shape=())
    found = session.cond(up, lambda: v.assign_add(1.0), lambda: v.value())
    with gx.Session(graph=graph) as run:
        run.run(v.initializer)
        assert [float(run.run(found, {up: value})) for value in (True, False, True)] == [2.0, 2.0, 3.0]


def test_what_is_refused(graph: gx.Graph) -> None:
    v = Variable([1.0, 2.0], name="v")
    with pytest.raises(InvalidArgumentError, match="expected an initial value"):
        Variable()
    with pytest.raises(InvalidTypeError, match="strings given"):
        Variable("text")
    with pytest.raises(InvalidArgumentError, match=r"v:0.*f32\[3\] given, f32\[2\] expected"):
        v.assign([1.0, 2.0, 3.0])
    with pytest.raises(InvalidTypeError, match="convert with gx"):
        Variable(1).assign(2.5)
    with pytest.raises(InvalidTypeError, match="assign: expected a Variable of a graph, got GraphTensor"):
        session.assign(v + 1.0, 2.0)
    with pytest.raises(InvalidArgumentError, match="shape \\(3,\\) expected"):
        Variable([1.0], shape=(3,))
    with pytest.raises(TypeError, match="trainabel"):
        Variable(1.0, trainabel=False)
    with pytest.raises(InvalidTypeError, match="has a value in each Session"):
        v.numpy()
    with pytest.raises(InvalidTypeError, match="indices and values"):
        v.scatter_add([1.0])


def test_finalized_graphs_take_no_variables(graph: gx.Graph) -> None:
    graph.finalize()
    with pytest.raises(FailedPreconditionError, match="finalized"):
        Variable(1.0)


def test_data_that_is_loaded_once_may_have_any_number_of_rows(graph: gx.Graph) -> None:
    rows = gx.placeholder("float32", shape=(None, 2))
    data = Variable(rows, trainable=False, collections=[], name="data")
    total, count = gx.sum(data), gx.shape(data)[0]
    assert data.shape == (None, 2)
    with gx.Session(graph=graph) as run:
        with pytest.raises(FailedPreconditionError, match="uninitialized value data: "):
            run.run(total)
        for size in (3, 5, 3, 1):
            run.run(data.initializer, {rows: np.ones((size, 2))})
            assert run.run([total, count]) == [2.0 * size, size]
        assert run.run(data).shape == (1, 2)
        with pytest.raises(InvalidArgumentError, match="Cannot feed"):
            run.run(data.initializer, {rows: np.ones((3, 3))})


def test_a_variable_of_any_shape_is_assigned_and_read_in_one_run(graph: gx.Graph) -> None:
    v = Variable([1.0], validate_shape=False, name="v")
    longer = v.assign(gx.concat([gx.reshape(v, (-1,)), [7.0]]))
    with gx.control_dependencies([longer]):
        after = gx.sum(v.value())
    with gx.Session(graph=graph) as run:
        run.run(v.initializer)
        assert [run.run([longer, after])[1] for _ in range(3)] == [8.0, 15.0, 22.0]
        assert run.run(v.assign([[1.0, 2.0]])).tolist() == [[1.0, 2.0]]
        assert run.run(v).shape == (1, 2)


def test_a_variable_lives_where_it_is_pinned(graph: gx.Graph) -> None:
    with gx.device("cpu:1"):
        v = Variable([1.0, 2.0], name="v")
    with gx.Session(graph=graph) as run:
        run.run(v.initializer)
        held: Any = run.state.find("v")
        assert held.device == "/device:CPU:1"
        assert run.run(v + 1.0).tolist() == [2.0, 3.0]
    assert v.device.lower().endswith("cpu:1")


def test_values_that_read_others_are_made_anew_together(graph: gx.Graph) -> None:
    a = Variable(gx.random.normal((3,)), name="a")
    b = Variable(a.initialized_value(), name="b")
    init = gx.global_variables_initializer()
    with gx.Session(graph=graph) as run:
        for _ in range(3):
            run.run(init)
            first, second = run.run([a, b])
            assert first.tolist() == second.tolist()


def test_counters_keep_the_order_of_the_graph_in_a_run(graph: gx.Graph) -> None:
    n = Variable(0, name="n")
    before = n.value()
    following = n.count_up_to(10)
    after = n.value() * 10
    with gx.Session(graph=graph) as run:
        run.run(n.initializer)
        assert run.run([after, following, before]) == [10, 0, 0]
        assert run.run([before + 1, after, following]) == [2, 20, 1]


def test_a_variable_is_fed_by_its_name_as_by_itself(graph: gx.Graph) -> None:
    with graph.container("kept"):
        v = Variable([1.0, 2.0], name="v")
    doubled = v * 2.0
    with gx.Session(graph=graph) as run:
        for key in (v, "v:0", v.read_once):
            assert run.run([doubled, v], {key: [5.0, 6.0]})[0].tolist() == [10.0, 12.0]
