"""Sessions: runs of parts of a graph, by fetch and feed."""

import gc
import threading
import tracemalloc
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

import jax
import numpy as np
import pytest
from jax.sharding import NamedSharding, PartitionSpec

import graphc as gx
from graphc.compiler.base import Signal
from graphc.compiler.base.errors import (
    CancelledError,
    DeadlineExceededError,
    FailedPreconditionError,
    InvalidArgumentError,
    InvalidTypeError,
    NotFoundError,
    UnimplementedError,
)
from graphc.compiler.core import apply, current_resources
from graphc.compiler.ir import OPS, Attrs, TensorType, define_op
from graphc.graphs.session import constant, group

pytestmark = pytest.mark.timeout(120)


def _tick(*inputs: Any, name: str) -> Any:
    counts = current_resources().get_or_make("", "counts", dict, dict)
    counts[name] = counts.get(name, 0) + 1
    return np.float32(counts[name])


_NUMBER = TensorType((), np.dtype("float32"))

define_op("tests.tick", _tick, lambda types, attrs, regions: (TensorType((), np.dtype("float32")),), ("*x",), host=True)


def _wait(name: str) -> tuple[()]:
    signal = current_resources().get_or_make("", name, Signal, Signal)
    current_resources().get_or_make("", "begun", threading.Event, threading.Event).set()
    signal.wait(f"the signal {name!r}")
    return ()


define_op("tests.wait", lambda *, name: _wait(name), lambda types, attrs, regions: (), host=True)


def tick(name: str, *inputs: Any) -> Any:
    return apply(OPS["tests.tick"], inputs, Attrs(name=name))


@pytest.fixture
def graph() -> Iterator[gx.Graph]:
    with gx.Graph().as_default() as graph:
        yield graph


def test_a_run_computes_what_is_fetched_in_its_structure(graph: gx.Graph) -> None:
    x = gx.placeholder("float32", shape=(2,), name="x")
    w = gx.Variable(2.0, name="w")
    y = x * w
    with gx.Session() as session:
        session.run(w.initializer)
        found = session.run({"y": y, "both": [w, (y, "x:0")], "op": w.initializer}, {"x:0": [1, 2]})
    assert found["y"].tolist() == [2.0, 4.0]
    assert found["op"] is None
    assert found["both"][1][1].tolist() == [1.0, 2.0]
    assert isinstance(found["both"][0], np.float32)


def test_only_what_is_needed_runs_and_each_node_once(graph: gx.Graph) -> None:
    a, b = tick("a"), tick("b")
    c = a + a + tick("c", a)
    with gx.Session() as session:
        assert session.run([c, c, a])[0] == 3.0
        assert session.resources.find("", "counts", dict) == {"a": 1, "c": 1}
        session.run(b)
        assert session.resources.find("", "counts", dict) == {"a": 1, "c": 1, "b": 1}


def test_a_feed_of_an_inner_tensor_cuts_what_is_behind_it(graph: gx.Graph) -> None:
    a = tick("a")
    inner = a * 2.0
    result = inner + 1.0
    with gx.Session() as session:
        assert session.run(result, {inner: 10.0}) == 11.0
        assert session.resources.find("", "counts", dict) is None
        assert session.run(result, {a: 4.0}) == 9.0


def test_control_inputs_run_too(graph: gx.Graph) -> None:
    a = tick("a")
    with graph.control_dependencies([a]):
        y = gx.identity(constant(1.0)) + 1.0
    with gx.Session() as session:
        assert session.run(y) == 2.0
        assert session.resources.find("", "counts", dict) == {"a": 1}


def test_two_sessions_have_two_values() -> None:
    with gx.Graph().as_default() as graph:
        count = gx.Variable(0, name="count")
        more = count.assign_add(1)
    first, second = gx.Session(graph=graph), gx.Session(graph=graph)
    first.run(count.initializer)
    second.run(count.initializer)
    assert [int(first.run(more)) for _ in range(3)] == [1, 2, 3]
    assert int(second.run(more)) == 1


def test_a_variable_without_a_value_is_named(graph: gx.Graph) -> None:
    w = gx.Variable(1.0, name="w")
    with gx.Session() as session, pytest.raises(FailedPreconditionError, match="uninitialized value w"):
        session.run(w + 1.0)


def test_reads_and_assignments_keep_the_order_of_the_graph(graph: gx.Graph) -> None:
    v = gx.Variable(1.0, name="v")
    before = v * 1.0
    assign = v.assign(5.0)
    after = v * 1.0
    with gx.Session() as session:
        session.run(v.initializer)
        assert session.run([after, assign, before]) == [5.0, 5.0, 1.0]


def test_a_read_comes_after_what_the_run_waits_for(graph: gx.Graph) -> None:
    """A run that waits on the host sees what other runs assigned meanwhile, as a queue's consumer must."""
    v = gx.Variable(1.0, name="v")
    apply(OPS["tests.wait"], (), Attrs(name="go"))
    wait = graph.get_operations()[-1]
    with graph.control_dependencies([wait]):
        seen = v * 1.0
    session = gx.Session()
    session.run(v.initializer)
    found = []
    thread = threading.Thread(target=lambda: found.append(session.run(seen)))
    thread.start()
    begun = session.resources.get_or_make("", "begun", threading.Event, threading.Event)
    assert begun.wait(30)
    session.run(v.initializer, {v.initializer.inputs[0]: 7.0})
    session.resources.find("", "go", Signal).set()
    thread.join(30)
    assert found == [7.0]


def test_assignments_of_many_threads_are_all_kept(graph: gx.Graph) -> None:
    v = gx.Variable(0, name="v")
    more = v.assign_add(1)
    session = gx.Session()
    session.run(v.initializer)
    start = threading.Barrier(8)

    def work() -> None:
        start.wait()
        for _ in range(50):
            session.run(more.op)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert session.run(v) == 400


def test_open_sizes_are_filled_by_what_is_fed(graph: gx.Graph) -> None:
    x = gx.placeholder("float32", shape=(None, 2), name="x")
    mean = gx.mean(x * 2.0, axis=0)
    assert x.shape == (None, 2)
    assert mean.shape == (2,)
    with gx.Session() as session:
        assert session.run(mean, {x: [[1, 2], [3, 4]]}).tolist() == [4.0, 6.0]
        assert session.run(mean, {x: [[1, 2]]}).tolist() == [2.0, 4.0]
        session.run(mean, {x: [[5, 2]]})
        assert [line.rpartition(": ")[2] for line in session.compile_log] == [
            "the first run of these fetches and feeds", "for other shapes",
        ]  # fmt: skip


def test_a_definite_conflict_is_refused_when_the_node_is_made(graph: gx.Graph) -> None:
    x = gx.placeholder("float32", shape=(None, 2))
    with pytest.raises(InvalidArgumentError, match=r"\(\?, ?2\).*\(\?, ?3\)|\[\?,2\].*\[\?,3\]"):
        x + gx.placeholder("float32", shape=(None, 3))


def test_a_timeout_names_what_waited(graph: gx.Graph) -> None:
    apply(OPS["tests.wait"], (), Attrs(name="never"))
    wait = graph.get_operations()[-1]
    with (
        gx.Session() as session,
        pytest.raises(DeadlineExceededError, match=r"signal 'never'.*operation 'wait'") as info,
    ):
        session.run(wait, options=gx.RunOptions(timeout_in_ms=50))
    assert info.value.op is wait


def test_close_cancels_runs_that_wait(graph: gx.Graph) -> None:
    apply(OPS["tests.wait"], (), Attrs(name="never"))
    wait = graph.get_operations()[-1]
    session = gx.Session()
    errors = []

    def work() -> None:
        try:
            session.run(wait)
        except CancelledError as error:
            errors.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    begun = session.resources.get_or_make("", "begun", threading.Event, threading.Event)
    assert begun.wait(30)
    session.close()
    thread.join(30)
    assert "closed" in str(errors[0])
    with pytest.raises(FailedPreconditionError, match="closed Session"):
        session.run(wait)


def test_partial_runs_are_refused_with_what_to_write(graph: gx.Graph) -> None:
    x, y = gx.placeholder("float32", ()), gx.placeholder("float32", ())
    first = x + 1.0
    second = first * y
    with gx.Session() as session:
        assert session.run(second, {first: session.run(first, {x: 2.0}), y: 10.0}) == 30.0
        for method in (session.partial_run_setup, session.partial_run):
            with pytest.raises(UnimplementedError, match="run the first part, and feed its results"):
                method([first, second], [x, y])


def test_a_callable_takes_its_feeds_in_order(graph: gx.Graph) -> None:
    x, y = gx.placeholder("float32", ()), gx.placeholder("float32", ())
    with gx.Session() as session:
        subtract = session.make_callable(x - y, [x, y])
        assert subtract(5.0, 2.0) == 3.0
        with pytest.raises(InvalidArgumentError, match=r"takes 2 values .* 1 were given"):
            subtract(1.0)


@pytest.mark.parametrize(
    ("feed", "kind", "message"),
    [
        (
            [[1.0]],
            InvalidArgumentError,
            r"Cannot feed value of shape \(1, 1\) for Tensor 'x:0', which has shape \(2,\)",
        ),
        (["a", "b"], InvalidTypeError, "given for float32"),
        ([1j, 2], InvalidTypeError, "complex128 given for float32"),
        ([[1.0], [1.0, 2.0]], InvalidTypeError, "no array of float32"),
    ],
)
def test_a_feed_that_does_not_fit_is_refused(graph: gx.Graph, feed: Any, kind: type[Exception], message: str) -> None:
    x = gx.placeholder("float32", shape=(2,), name="x")
    with gx.Session() as session, pytest.raises(kind, match=message):
        session.run(x * 2.0, {x: feed})


def test_what_cannot_be_fetched_is_refused(graph: gx.Graph) -> None:
    x = gx.placeholder("float32", shape=(), name="x")
    with gx.Graph().as_default():
        other = constant(1.0)
    with gx.Session() as session:
        with pytest.raises(InvalidArgumentError, match="'Const:0' is of another graph"):
            session.run(other)
        with pytest.raises(InvalidTypeError, match=r"3 \(int\) is not a tensor or an operation"):
            session.run(3)
        with pytest.raises(NotFoundError, match="no operation 'xx'; did you mean 'x'"):
            session.run("xx:0")
        with pytest.raises(InvalidArgumentError, match=r"feed a value for placeholder tensor 'x' of type f32\[\]"):
            session.run(x + 1.0)
        graph.prevent_feeding(x)
        with pytest.raises(InvalidArgumentError, match="Tensor x:0 may not be fed"):
            session.run(x, {x: 1.0})


def test_strings_are_bytes(graph: gx.Graph) -> None:
    word = gx.placeholder(gx.string, shape=(None,))
    with gx.Session() as session:
        assert session.run([constant("é"), word + "!"], {word: ["a", b"\xff"]})[1].tolist() == [b"a!", b"\xff!"]
        assert session.run(constant("é")) == "é".encode()


def test_random_ops_draw_anew_in_each_run_and_the_same_in_each_session() -> None:
    with gx.Graph().as_default() as graph:
        graph.seed = 7
        draw = gx.random.normal((3,))
    first, second = gx.Session(graph=graph), gx.Session(graph=graph)
    drawn = [first.run(draw).tolist() for _ in range(2)]
    assert drawn[0] != drawn[1]
    assert [second.run(draw).tolist() for _ in range(2)] == drawn


def test_a_group_runs_all(graph: gx.Graph) -> None:
    v, w = gx.Variable(1.0), gx.Variable(2.0)
    init = group(v.initializer, w.initializer)
    with gx.Session() as session:
        init.run()
        assert session.run([v, w]) == [1.0, 2.0]
        assert v.eval() == 1.0


def test_the_graph_prints_and_parses_back(graph: gx.Graph) -> None:
    x = gx.placeholder("float32", shape=(None, 2), name="x")
    gx.sum(x, axis=0)
    text = str(graph)
    assert "%x: f32[?,2] = placeholder()" in text
    assert gx.parse_graph(text) == graph.ir


def test_operations_run_on_the_devices_they_are_pinned_to(graph: gx.Graph) -> None:
    with graph.device("/cpu:1"):
        v = gx.Variable(2.0)
        y = v * 3.0
    with graph.device("/cpu:0"):
        z = y + 1.0
    with gx.Session() as session:
        session.run(v.initializer)
        metadata = gx.RunMetadata()
        assert session.run(z, options=gx.RunOptions(trace_level=3), run_metadata=metadata) == 7.0
    tracks = {event.track for event in metadata.timeline.events if event.kind == "segment"}
    assert tracks == {"/device:CPU:0", "/device:CPU:1"}


def test_ten_thousand_runs_keep_no_memory(graph: gx.Graph) -> None:
    x = gx.placeholder("float32", shape=(4,))
    y = x * 2.0
    with gx.Session() as session:
        for _ in range(50):
            session.run(y, {x: np.ones(4, np.float32)})
        gc.collect()
        tracemalloc.start()
        try:
            for _ in range(10_000):
                session.run(y, {x: np.ones(4, np.float32)})
            gc.collect()
            assert tracemalloc.get_traced_memory()[0] < 100_000
        finally:
            tracemalloc.stop()


def test_resources_belong_to_the_session() -> None:
    first, second = gx.Session(graph=gx.Graph()), gx.Session(graph=gx.Graph())
    first.resources.get_or_make("", "held", list, list)
    assert second.resources.find("", "held", list) is None


def test_a_fed_variable_is_fed_wherever_it_is_read(graph: gx.Graph) -> None:
    v = gx.Variable(1.0)
    y = v + 1.0
    with gx.Session() as session:
        assert session.run([y, v], {v: 5.0}) == [6.0, 5.0]


def test_a_container_that_changes_is_another_fetch(graph: gx.Graph) -> None:
    x = constant(1.0)
    wanted = OrderedDict(a=x)
    with gx.Session() as session:
        assert session.run(wanted) == {"a": 1.0}
        wanted["b"] = x + 1.0
        assert session.run(wanted) == {"a": 1.0, "b": 2.0}


def test_functions_of_gx_take_operations_of_the_graph(graph: gx.Graph) -> None:
    v = gx.Variable(1.0)
    with gx.control_dependencies([v.initializer, [tick("a")]]):
        y = constant(1.0) + 1.0
    with gx.Session() as session:
        assert session.run(y) == 2.0
        assert session.run(v) == 1.0


def test_who_takes_a_fed_tensor_gets_what_is_fed_though_its_operation_runs(graph: gx.Graph) -> None:
    v = gx.Variable(1.0)
    for source in (v.value(), tick("a")):
        with graph.control_dependencies([source]):
            after = constant(1.0) + 1.0
        taken = source * 1.0
        with gx.Session() as session:
            session.run(v.initializer)
            assert session.run([after, taken], {source: 100.0}) == [2.0, 100.0]


def test_a_run_tells_what_it_compiled_however_long_the_log_is(graph: gx.Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphc.graphs.session.session._COMPILED_KEPT", 1)
    y = gx.sum(gx.placeholder("float32", shape=(None,), name="x") * 2.0)
    with gx.Session() as session:
        for size, compiled in ((1, 1), (2, 1), (2, 0)):
            metadata = gx.RunMetadata()
            session.run(y, {"x:0": np.ones(size)}, run_metadata=metadata)
            assert len(metadata.compiled) == compiled


def test_a_callable_checks_its_values_and_gives_arrays_of_its_own() -> None:
    tensor = gx.asarray([1.0, 2.0])
    with gx.Graph().as_default() as graph:
        x, words = gx.placeholder("float32", shape=(2,)), gx.placeholder("string", shape=(2,))
        y = x + 1.0
    with gx.Session(graph=graph) as session:
        call, both = session.make_callable(y, [x]), session.make_callable([y, words], [x, words])
        given = np.ones(2, np.float32)
        first = call(given)
        first[:] = 7.0  # the caller's own
        assert call(given).tolist() == [2.0, 2.0]
        assert call([1, 2]).tolist() == call(tensor).tolist() == [2.0, 3.0]
        assert both(given, np.array(["a", "b"]))[1].tolist() == [b"a", b"b"]
        with pytest.raises(InvalidArgumentError, match="takes 1 values for its feed_list, 2 were given"):
            call(given, given)
        with pytest.raises(InvalidArgumentError, match=r"Cannot feed value of shape \(3,\)"):
            call(np.ones(3, np.float32))
        with pytest.raises(InvalidTypeError, match="which cannot hold it"):
            call(np.array(["a", "b"]))
    with pytest.raises(FailedPreconditionError, match="closed Session"):
        call(given)


def test_a_callable_takes_arrays_on_several_devices() -> None:
    with gx.Graph().as_default() as graph:
        x = gx.placeholder("float32", shape=(8,))
        y = x * 2.0
    mesh = jax.make_mesh((4,), ("data",))
    spread = jax.device_put(np.arange(8, dtype=np.float32), NamedSharding(mesh, PartitionSpec("data")))
    with gx.Session(graph=graph) as session:
        call = session.make_callable(y, [x])
        assert call(np.ones(8, np.float32)).tolist() == [2.0] * 8
        assert call(spread).tolist() == [2.0 * number for number in range(8)]
        assert call(np.ones(8, np.float32)).tolist() == [2.0] * 8
