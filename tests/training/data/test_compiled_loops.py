"""``for batch in dataset`` in compiled functions: the same elements in the same order as in eager code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base.errors import UnimplementedError
from graphc.training.data import Dataset

XS, YS = np.arange(24, dtype=np.float32).reshape(12, 2), np.arange(12)


def rows() -> Any:
    return Dataset.from_tensor_slices((XS, YS))


def in_python(x: Any) -> Any:
    return np.asarray(x)


def fixed(x: Any, y: Any) -> Any:
    return gx.reshape(x, (2,)), y


def last_and_sum(dataset: Any) -> Callable[[], Any]:
    def run() -> Any:
        total, last = gx.asarray(0.0), gx.zeros((4, 2))
        for x, y in dataset:
            total = total * 1.5 + gx.sum(x * gx.astype(y, "float32")[:, None])  # depends on the order
            last = x
        return total, last

    return run


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (lambda: rows().batch(4), "part of the program"),
        (lambda: rows().shuffle(12, seed=1).repeat(3).batch(4), "part of the program"),
        (lambda: rows().shuffle(5, seed=1).batch(4).repeat(2).skip(1), "part of the program"),
        (lambda: rows().map(lambda x, y: (x + 1, y * 2)).batch(4).shuffle(3, seed=2), "part of the program"),
        (lambda: rows().batch(4).map(lambda x, y: (x - gx.mean(x), y)), "part of the program"),
        (lambda: rows().batch(4, drop_remainder=True).map(lambda x, y: (x - gx.mean(x), y)), "part of the program"),
        (lambda: Dataset.zip(rows().batch(4), rows().batch(4).shuffle(3, seed=1)).map(lambda a, b: (a[0], b[1])),
         "part of the program"),
        (lambda: rows().map(lambda x, y: (in_python(x), y)).map(fixed).batch(4, drop_remainder=True),
         "called for each element"),
        (lambda: rows().filter(lambda x, y: y % 3 != 0).batch(4, drop_remainder=True), "by their values"),
    ],
)  # fmt: skip
def test_compiled_loops_agree_with_eager_ones(make: Callable[[], Any], kind: str) -> None:
    run = last_and_sum(make())
    eager = [[value.tolist() for value in run()] for _ in range(2)]
    compiled = gx.function(last_and_sum(make()))
    assert [[value.tolist() for value in compiled()] for _ in range(2)] == eager
    assert any(kind in loop.reason for loop in gx.explain(compiled).loops)
    assert compiled.num_traces == 1


def test_the_last_batch_may_be_smaller() -> None:
    def total(dataset: Any) -> Any:
        found = gx.asarray(0.0)
        for x, y in dataset:
            found = found * 2 + gx.sum(x) + gx.sum(y)
        return found

    assert gx.function(total)(rows().batch(5)).item() == total(rows().batch(5)).item()


def test_loops_stop_early() -> None:
    def until(dataset: Any, limit: Any) -> Any:
        seen = gx.asarray(0)
        for _, y in dataset:
            if gx.sum(y) > limit:
                break
            seen += 1
        return seen

    for dataset in (rows().batch(4), rows().batch(4, drop_remainder=True).prefetch(1).cache()):
        compiled = gx.function(until)
        assert [compiled(dataset, gx.asarray(limit)).item() for limit in (0, 10, 100)] == [0, 1, 3]


def test_epochs_reshuffle_and_gradients_flow() -> None:
    w = gx.Variable([0.1, 0.1])
    dataset = rows().shuffle(12, seed=4).batch(4)

    @gx.function
    def train() -> Any:
        loss = gx.asarray(0.0)
        for _ in range(2):
            for x, y in dataset:
                with gx.GradientTape() as tape:
                    loss = gx.mean((x @ w.value() - y) ** 2)
                w.assign_sub(0.001 * tape.gradient(loss, w))
        return loss

    first = train().item()
    assert train().item() != first
    assert train.num_traces == 1


class Scale:
    """What the functions of a dataset read."""

    def __init__(self) -> None:
        self.number, self.table, self.array, self.tensor = 1, {"k": 1}, np.array(1), gx.asarray(1)

    def change(self) -> None:
        self.number, self.table["k"], self.array[...], self.tensor = 10, 10, 10, gx.asarray(10)

    @gx.function
    def compiled(self, x: Any) -> Any:
        return x * self.number


def test_functions_of_a_dataset_read_what_is_there_now() -> None:
    scale = Scale()
    numbers = Dataset.range(4)
    datasets = [
        numbers.map(lambda x: x * scale.number).map(lambda x: x + 0),
        numbers.map(lambda x: x * scale.table["k"]).batch(2),
        numbers.batch(3).map(lambda x: x * scale.array),
        numbers.map(lambda x: x * scale.tensor),
        numbers.map(scale.compiled),
    ]

    def total(dataset: Any) -> Any:
        found = gx.asarray(0)
        for x in dataset:
            found += gx.sum(x)
        return found

    compiled = [gx.function(lambda dataset=dataset: total(dataset)) for dataset in datasets]
    for expected in (6, 6):
        assert [run().item() for run in compiled] == [expected] * len(datasets)
    assert [run.num_traces for run in compiled] == [1] * len(datasets)
    scale.change()
    assert [total(dataset).item() for dataset in datasets] == [60] * len(datasets)
    assert [run().item() for run in compiled] == [60] * len(datasets)


def test_what_is_refused() -> None:
    def total(dataset: Any) -> Any:
        found = gx.asarray(0.0)
        for x in dataset:
            found += gx.sum(x)
        return found

    with pytest.raises(UnimplementedError, match=r"(?s)float32\[\?,2\].*drop_remainder=True.*in total"):
        gx.function(total)(Dataset.from_tensor_slices(XS).filter(lambda x: x[0] > 1).batch(5))

    weight = gx.Variable(2)
    for stateful in (lambda x: x * weight, lambda x: x + gx.random.uniform(())):
        with pytest.raises(
            UnimplementedError, match=r"(?s)map\(<lambda>\).*body of the loop.*test_compiled_loops.*in total"
        ):
            gx.function(total)(Dataset.range(3).map(stateful))
        with pytest.raises(UnimplementedError, match="uses Variables or random numbers"):
            gx.function(total)(Dataset.range(3).batch(2).map(stateful))

    @gx.function
    def counted(dataset: Any) -> Any:
        found = gx.asarray(0)
        for i, _ in enumerate(dataset):
            found += i
        return found

    with pytest.raises(UnimplementedError, match=r"dataset\.enumerate"):
        counted(Dataset.range(3))
    uses: list[Callable[[Any], Any]] = [
        lambda iterator: next(iterator), lambda iterator: iterator.get_next(), total,
        lambda iterator: sum(iterator), lambda iterator: next(iter(iterator.get_next_as_optional().get_value())),
    ]  # fmt: skip
    for iterator in (iter(Dataset.range(3)), Dataset.range(3).as_numpy_iterator()):
        for use in uses:
            with pytest.raises(UnimplementedError, match=r"would take elements once.*next\(iterator\) outside"):
                gx.function(use)(iterator)
            with pytest.raises(UnimplementedError, match="would take elements once"):
                gx.function(lambda use=use, iterator=iterator: use(iterator))()
        assert next(iterator) == 0  # none was taken


def fixed_scalar(x: Any) -> Any:
    return gx.reshape(x, ())


def test_elements_that_come_together_keep_breaks_errors_and_names() -> None:
    seen: list[int] = []

    def told(x: Any) -> Any:
        seen.append(int(np.asarray(x)))
        if seen[-1] == 30:
            raise ValueError("thirty")
        return np.float32(seen[-1])

    numbers = Dataset.range(40).map(told).map(fixed_scalar)

    def until(limit: Any) -> Any:
        total, last = gx.asarray(0.0), gx.asarray(-1.0)
        for x in numbers:
            last = x
            if x > limit:
                break
            total += x
        return total, last

    run = gx.function(until)
    assert [value.item() for value in run(gx.asarray(20.0))] == [210.0, 21.0]
    assert len(seen) < 21 + 40
    with pytest.raises(ValueError, match="thirty"):
        run(gx.asarray(100.0))
    assert run.num_traces == 1

    def doubled() -> Any:
        for x in numbers.take(3):
            y = x * 2
        return y

    assert gx.function(doubled)().item() == 4.0


@pytest.mark.parametrize(
    "program",
    [
        lambda x: gx.data.Dataset.range(3).reduce(x, lambda a, b: a + b),
        lambda x: gx.data.Dataset.range(3).reduce(0, lambda a, b: a + b + x),
        lambda x: gx.data.Dataset.range(3).scan(x, lambda a, b: (a + b, b)),
    ],
)
def test_a_tensor_of_a_trace_in_a_reduction_is_refused(program: Any) -> None:
    with pytest.raises(gx.errors.InvalidArgumentError, match=r"the argument 'x' has no value .* write `for element in"):
        gx.function(program)(gx.asarray(1))


@pytest.mark.parametrize(
    "make",
    [
        lambda: Dataset.range(10).filter(lambda x: x % 2 == 1),
        lambda: Dataset.range(10).batch(1).unbatch(),
        lambda: Dataset.range(10).take(0),
    ],
)
def test_a_list_grows_in_a_loop_that_the_host_feeds_if_it_has_a_bound(make: Callable[[], Any]) -> None:
    dataset = make()

    @gx.function
    def collect() -> Any:
        rows = []
        for x in dataset:
            gx.loop_options(max_iterations=20)
            rows.append(x * 2)
        return rows

    assert [row.item() for row in collect()] == [x.item() * 2 for x in dataset]


def test_the_options_of_a_loop_hold_for_its_smaller_last_batch_too() -> None:
    dataset = Dataset.range(10).batch(4)

    @gx.function
    def total() -> Any:
        result = gx.asarray(0)
        for batch in dataset:
            gx.loop_options(max_iterations=3)
            result = result + gx.sum(batch)
        return result

    assert total().item() == 45


NUMBERS = Dataset.from_tensor_slices(np.arange(4, dtype=np.float32))
USES: dict[str, Callable[[Any], Any]] = {
    "map": lambda get: NUMBERS.map(lambda x: x * get()),
    "filter": lambda get: NUMBERS.filter(lambda x: x > get()),
    "take_while": lambda get: NUMBERS.take_while(lambda x: x < get()),
    "scan": lambda get: NUMBERS.scan(0.0, lambda state, x: (state + x * get(), state)),
    "flat_map": lambda get: NUMBERS.flat_map(lambda x: Dataset.range(get()).map(lambda y: gx.astype(y, "float32"))),
    "from_generator": lambda get: Dataset.from_generator(
        lambda: iter([float(get())]), output_signature=gx.TensorSpec((), "float32")
    ),
}


def total_of(dataset: Any) -> Any:
    total = gx.asarray(0.0)
    for x in dataset:
        total = total + x
    return total


@pytest.mark.parametrize("use", USES)
def test_functions_of_a_dataset_made_here_hold_what_they_captured_when_the_loop_starts(use: str) -> None:
    def of_parameter(k: int) -> Any:
        return total_of(USES[use](lambda: k))

    def program() -> Any:
        k = 1
        dataset = USES[use](lambda: k)
        k = 2
        found = [total_of(dataset)]
        k = 3
        found.append(total_of(USES[use](lambda: k)))
        total = gx.asarray(0.0)
        for index in range(6):
            total = total * 2 + of_parameter(index)
        return gx.stack([*found, total])

    expected = program().tolist()
    compiled = gx.function(program)
    assert [compiled().tolist() for _ in range(2)] == [expected] * 2


def test_a_dataset_made_here_cannot_use_what_the_program_computes() -> None:
    def program(x: Any) -> Any:
        twice = x * 2
        return total_of(NUMBERS.filter(lambda y: y < twice))

    with pytest.raises(UnimplementedError, match="use it in the body of the loop"):
        gx.function(program)(gx.asarray(1.0))


def order_of(dataset: Any) -> Any:
    order = gx.asarray(0)
    for x in dataset:
        order = order * 10 + x
    return order


DIGITS = Dataset.range(6)


def shuffled_in_each_epoch() -> Any:
    return gx.stack([order_of(DIGITS.shuffle(6, seed=5)) for _ in range(6)])


def shuffled_once() -> Any:
    dataset = DIGITS.shuffle(6, seed=5)
    return gx.stack([order_of(dataset) for _ in range(3)])


def shuffled_by_the_host() -> Any:
    return order_of(DIGITS.shuffle(6, seed=5).filter(lambda x: x > 0))


def made_in_a_rolled_loop() -> Any:
    total = gx.asarray(0)
    for _ in range(6):
        total = total * 3 + order_of(DIGITS.shuffle(6, seed=5))
    return total


def unseeded() -> Any:
    kept = DIGITS.shuffle(6, reshuffle_each_iteration=False)
    return gx.stack([order_of(DIGITS.shuffle(6)), order_of(kept), order_of(kept)])


def drawn_among_datasets() -> Any:
    parts = [DIGITS, DIGITS.map(lambda x: x + 4)]
    dataset = Dataset.sample_from_datasets(parts, rerandomize_each_iteration=True)
    return gx.stack([order_of(dataset), order_of(dataset), order_of(Dataset.sample_from_datasets(parts))])


@pytest.mark.parametrize(
    "program",
    [
        shuffled_in_each_epoch, shuffled_once, shuffled_by_the_host, made_in_a_rolled_loop, unseeded,
        drawn_among_datasets,
    ],
)  # fmt: skip
def test_a_dataset_made_here_starts_anew_at_each_call(program: Callable[[], Any]) -> None:
    gx.random.seed(3)
    expected = [program().tolist() for _ in range(3)]
    gx.random.seed(3)
    compiled = gx.function(program)
    assert [compiled().tolist() for _ in range(3)] == expected
