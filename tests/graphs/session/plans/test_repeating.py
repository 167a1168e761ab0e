"""Many runs of an operation as one: the same elements as run by run, and only where nobody can tell."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import graphc as gx
from graphc.compiler.base.errors import CancelledError, FailedPreconditionError, InvalidArgumentError
from graphc.graphs.queues import Coordinator, FIFOQueue, FixedLengthRecordReader, TextLineReader
from graphc.graphs.session import ConfigProto, Graph, Session
from graphc.graphs.session.plans.repeating import repeated
from graphc.graphs.session.runners import QueueRunner
from tests.graphs.session.test_readers import until_the_end


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text("".join(f"{i},{i}.5\n" for i in range(150)))
    Path("bad.csv").write_text("0,0\n1,1\n2,x\n3,3\n")
    Path("bytes.bin").write_bytes(bytes(range(40)))


def columns(names: Any) -> Any:
    _, line = TextLineReader().read(names)
    return gx.strings.decode_csv(line, [[0], [0.0]])


def pipeline(make: Callable[[Any, Any], Any], *files: str, dtypes: Any, shapes: Any, capacity: int = 200) -> Any:
    """Makes a queue of names, one of elements, what enqueues in it, and what fills the names."""
    names = FIFOQueue(9, gx.string, shapes=[[]], name="names")
    queue = FIFOQueue(capacity, dtypes, shapes, name="elements")
    fill = [names.enqueue_many([list(files)]), names.close()]
    return names, queue, make(names, queue), fill


def elements(operation: Any, queue: Any, fill: list[Any], session: Session, call: Callable[[], Any]) -> Any:
    """What a queue has at the end of all calls; also how many calls that were."""
    for op in fill:
        session.run(op)
    calls = len(until_the_end(call))
    close, rest = queue.close(), queue.dequeue_up_to(500)
    session.run(close)
    found = session.run(rest)
    return [part.tolist() for part in (found if isinstance(found, list) else [found])], calls


FORMS: dict[str, tuple[Callable[[Any, Any], Any], tuple[str, ...], Any, Any]] = {
    "numbers of lines": (
        lambda names, queue: queue.enqueue((lambda n, x: [x * 2.0 + 1.0, n])(*columns(names))),
        ("rows.csv", "rows.csv"),
        ["float32", "int32"],
        [[], []],
    ),
    "stacked, and constants": (
        lambda names, queue: queue.enqueue((lambda n, x: [gx.stack([x, x * x]), 7])(*columns(names))),
        ("rows.csv",),
        ["float32", "int32"],
        [[2], []],
    ),
    "key and line themselves": (
        lambda names, queue: queue.enqueue(list(TextLineReader().read(names))),
        ("rows.csv",),
        [gx.string, gx.string],
        [[], []],
    ),
    "bytes as numbers of a narrow dtype": (
        lambda names, queue: queue.enqueue(
            gx.astype(
                gx.strings.decode_raw(FixedLengthRecordReader(4).read(names).value, "int16", fixed_length=4), "bfloat16"
            )
            * 2.0
        ),
        ("bytes.bin",),
        ["bfloat16"],
        [[2]],
    ),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
def test_the_queue_gets_what_single_runs_give_it_in_fewer_calls(form: Any) -> None:
    make, files, dtypes, shapes = form
    found = list[Any]()
    for at_once in (False, True):
        with Graph().as_default(), Session() as session:
            _, queue, operation, fill = pipeline(make, *files, dtypes=dtypes, shapes=shapes, capacity=400)
            many = repeated(session, operation)
            assert many is not None
            call = many if at_once else session.make_callable(operation)
            found.append(elements(operation, queue, fill, session, call))
    (alone, runs), (together, calls) = found
    assert together == alone
    assert calls * 4 <= runs


def test_records_before_a_bad_one_are_enqueued_and_its_own_run_fails() -> None:
    with Graph().as_default(), Session() as session:
        _, queue, operation, fill = pipeline(
            lambda names, queue: queue.enqueue(columns(names)), "bad.csv", dtypes=["int32", "float32"], shapes=[[], []]
        )
        for op in fill:
            session.run(op)
        many, size = repeated(session, operation), queue.size()
        assert many is not None
        message = r"field 1 of record 0 is 'x', which is not a number of dtype float32 \[operation 'decode_csv'\]"
        with pytest.raises(InvalidArgumentError, match=message):
            many()
        assert session.run(size) == 2


def test_a_queue_with_less_room_makes_it_wait_and_nothing_is_lost() -> None:
    with Graph().as_default(), Session() as session:
        _, queue, operation, fill = pipeline(
            lambda names, queue: queue.enqueue(columns(names)),
            "rows.csv", dtypes=["int32", "float32"], shapes=[[], []], capacity=8,
        )  # fmt: skip
        row, coord = queue.dequeue(), Coordinator()
        for op in fill:
            session.run(op)
        threads = QueueRunner(queue, [operation]).create_threads(session, coord, start=True)
        assert [int(number) for number, _ in until_the_end(lambda: session.run(row))] == list(range(150))
        coord.join(threads)


NOT_AT_ONCE: dict[str, Callable[[Any, Any], Any]] = {
    "a Variable": lambda names, queue: queue.enqueue(columns(names)[1] + gx.Variable(1.0)),
    "random numbers": lambda names, queue: queue.enqueue(columns(names)[1] + gx.random.normal([])),
    "two readers": lambda names, queue: queue.enqueue(columns(names)[1] + columns(names)[1]),
    "another queue": lambda names, queue: queue.enqueue(columns(names)[1] + queue.dequeue()),
    "no reader": lambda names, queue: queue.enqueue(1.0),
    "no enqueue": lambda names, queue: columns(names)[1].op,
}


@pytest.mark.parametrize("make", NOT_AT_ONCE.values(), ids=NOT_AT_ONCE.keys())
def test_what_somebody_could_tell_is_run_one_by_one(make: Callable[[Any, Any], Any]) -> None:
    with Graph().as_default(), Session() as session:
        assert repeated(session, pipeline(make, "rows.csv", dtypes=["float32"], shapes=[[]])[2]) is None


def test_short_queues_and_timeouts_run_one_by_one() -> None:
    def make(names: Any, queue: Any) -> Any:
        return queue.enqueue(columns(names)[1])

    with Graph().as_default(), Session(config=ConfigProto(operation_timeout_in_ms=60_000)) as session:
        assert repeated(session, pipeline(make, "rows.csv", dtypes=["float32"], shapes=[[]])[2]) is None
    with Graph().as_default(), Session() as session:
        short = pipeline(make, "rows.csv", dtypes=["float32"], shapes=[[]], capacity=3)[2]
        assert repeated(session, short) is None


def test_the_end_of_the_session_ends_it() -> None:
    with Graph().as_default() as graph:
        _, _, operation, _ = pipeline(
            lambda names, queue: queue.enqueue(columns(names)[1]), "rows.csv", dtypes=["float32"], shapes=[[]]
        )
    session = Session(graph=graph)
    many = repeated(session, operation)
    assert many is not None
    session.close()
    with pytest.raises((CancelledError, FailedPreconditionError)):
        many()


def test_operations_that_compute_alike_share_what_is_compiled() -> None:
    def make(factor: float) -> Any:
        return pipeline(
            lambda names, queue: queue.enqueue(columns(names)[1] * factor), "rows.csv", dtypes=["float32"], shapes=[[]]
        )[2]

    found = list[Any]()
    for factor in (2.0, 2.0, 3.0):
        with Graph().as_default(), Session() as session:
            many: Any = repeated(session, make(factor))
            found.append(many._program)
    assert found[0] is found[1]
    assert found[2] is not found[0]
