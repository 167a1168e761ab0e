"""``for`` loops over datasets in compiled functions.

If elements follow from row numbers alone (see :class:`Rolled`), the loop is part of the program, and the host
passes it the order of the rows. Otherwise the host passes the elements one after the other.
"""

from __future__ import annotations

import dataclasses
import itertools
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import jax as _jax
import jax.numpy as jnp
import numpy as np

from graphc.compiler.autograph import Loopable, LoopVariables, cond, open_loop, pyfunc, run_for, while_stmt
from graphc.compiler.base.errors import GraphcError, OutOfRangeError, UnimplementedError
from graphc.compiler.core import Tensor
from graphc.compiler.function import TensorSpec
from graphc.compiler.ops import call_jax
from graphc.compiler.tracing import current_trace
from graphc.training.data.elements import Row, described, flatten, is_static, row_bytes, unflatten
from graphc.training.data.functions import UserFunction
from graphc.training.data.iterator import DatasetIterator, next_run
from graphc.training.data.late import LateSeed
from graphc.training.data.nodes.batching import Batch
from graphc.training.data.nodes.buffers import Shuffle
from graphc.training.data.nodes.counting import Repeat, Shard, Skip, Take, Zip
from graphc.training.data.nodes.maps import Map
from graphc.training.data.nodes.origins import Gather, Numbers
from graphc.training.data.nodes.threads import Prefetch
from graphc.training.data.plan import Epoch, PlanNode, replaced, walk
from graphc.training.data.planned_dataset import Planned, functions_of, improved
from graphc.training.data.sources import INFINITE, Iterated, Slices

# Plans that compute elements from row numbers alone, so that a loop over them becomes part of a program.
#
# Such a plan has two parts: an order (the same plan over row numbers, which the host runs in no time) and a JAX
# function from the numbers of an element to its leaves, through arrays on the device.

jax: Any = _jax  # its functions are only partly annotated

_MOST_NUMBERS = 2**28


class NotRolled(GraphcError):
    """The reason why a plan cannot be part of a compiled program."""


@dataclass
class Rolled:
    """A plan in two parts."""

    plan: PlanNode
    order: PlanNode  # the plan over row numbers
    columns: list[Any]
    shapes: list[Sequence[tuple[int, ...]]]  # of the numbers of an element, and of the last if it differs
    length: int  # the number of elements of the first shapes

    @classmethod
    def of(cls, plan: PlanNode) -> Rolled:
        """Splits a plan into its parts."""
        order = _order(plan)
        if plan.cardinality is None or plan.cardinality == INFINITE:
            raise NotRolled("it does not end")
        columns = [column for node in walk(plan) if isinstance(node, Gather) for column in _columns(node)]
        rows = _elements(order, 0)
        shapes = [[np.shape(leaf) for leaf in row] for row in rows]
        if not rows or any(shape != shapes[0] for shape in shapes[:-1]):
            raise NotRolled("it has no elements" if not rows else "its elements differ in shape before the last")
        uneven = len(rows) > 1 and shapes[-1] != shapes[0]
        return cls(plan, order, columns, [shapes[0], *([shapes[-1]] if uneven else [])], len(rows) - uneven)

    @property
    def is_random(self) -> bool:
        """True if each pass, or each call, has a different order."""
        return any(
            isinstance(node, Shuffle) and (node.reshuffle_each_iteration or isinstance(node.seed, LateSeed))
            for node in walk(self.order)
        )

    def numbers(self) -> list[Any]:
        """Returns the row numbers of the elements of the next pass, and those of the last element if it differs."""
        return self._numbers(next_run(self.order))

    def types(self) -> list[TensorSpec]:
        """Returns the types of :meth:`numbers`."""
        return [TensorSpec(array.shape, array.dtype) for array in self._numbers(0)]

    def _numbers(self, run: int) -> list[Any]:
        rows = _elements(self.order, run)
        packed = [np.concatenate([np.ravel(leaf) for leaf in row]).astype(np.int32) for row in rows]
        return [np.stack(packed[: self.length]), *packed[self.length :]]

    def leaves(self, columns: Sequence[Any], numbers: Any, last: bool = False) -> Row:
        """Computes an element from its numbers with JAX."""
        parts: list[Any] = []
        start = 0
        for shape in self.shapes[-1 if last else 0]:
            size = int(np.prod(shape))
            parts.append(numbers[start : start + size].reshape(shape))
            start += size
        return _leaves(self.plan, iter(columns), iter(parts), 0)


def _elements(order: PlanNode, run: int) -> list[Row]:
    rows = order.open(Epoch(run))
    elements = list(rows)
    if sum(np.size(leaf) for row in elements for leaf in row) > _MOST_NUMBERS:
        raise NotRolled(f"it has more than {_MOST_NUMBERS} rows")
    return elements


def _columns(node: Gather) -> list[Any]:
    source = node.source
    if not isinstance(source, Slices):
        raise NotRolled(f"{source} is not in memory")
    if any(column.dtype.kind == "O" for column in source.columns):
        raise NotRolled("it has strings, which no compiled program holds")
    return source.on_device()


def _order(node: PlanNode) -> PlanNode:
    """Returns the plan over row numbers."""
    if isinstance(node, Gather):
        _columns(node)
        return _order(node.numbers)
    if isinstance(node, Map):
        if node.function.mode not in ("blocks", "rows"):
            raise NotRolled(f"{node.function.name} is called for each element: {node.function.reason}")
        if node.function.is_method:
            raise NotRolled(f"{node.function.name} is a compiled method, whose object can change")
        return _order(node.source)
    if isinstance(node, Prefetch):
        return _order(node.source)
    if isinstance(node, Numbers | Take | Skip | Repeat | Shard | Shuffle | Batch | Zip):
        return replaced(node, _order)
    raise NotRolled(f"{node} chooses or makes elements by their values, or keeps some of them")


def _leaves(node: Any, columns: Iterator[Any], numbers: Iterator[Any], batches: int) -> Row:
    """Returns the leaves of an element of a node, which may be inside several batches."""
    if isinstance(node, Gather):
        indices = next(numbers)
        return tuple([jnp.take(next(columns), indices, axis=0, mode="clip") for _ in _columns(node)])
    if isinstance(node, Numbers):
        return (next(numbers).astype(node.dtype),)
    if isinstance(node, Zip):
        return tuple([leaf for part in node.parts for leaf in _leaves(part, columns, numbers, batches)])
    inner = _leaves(node.source, columns, numbers, batches + isinstance(node, Batch))
    if not isinstance(node, Map):
        return inner
    compute: Callable[..., Row] = node.function.for_types(inner) if not batches else node.function.compute
    for _ in range(batches):
        compute = jax.vmap(compute)
    return compute(*inner)


Test = Callable[[], Any]

_MOST_OPEN = 8
_MOST_AT_ONCE, _BYTES_AT_ONCE = 16, 2**18  # the limits of a copy in each iteration


class Looping(Planned, Loopable):
    """The ``for`` loop over a dataset in a compiled function."""

    def loop(
        self,
        extra_test: Test | None,
        body: Callable[[Any], None],
        variables: LoopVariables,
        statement: Any,
        *,
        probing: bool = False,
    ) -> None:
        """Traces a ``for`` loop over the elements.

        Args:
          extra_test: a condition to continue; None to always continue.
          body: one iteration.
          variables: the loop's variables.
          statement: the body that the user wrote.
          probing: is of no use here: what computes on no tensor is no element.
        """
        del probing
        dataset = self._on(_as_now(self.plan))  # the program calls functions when what they read may be something else
        _refuse_state(dataset.plan)
        try:
            rolled = Rolled.of(improved(dataset.plan))
            if len(rolled.shapes) > 1 and extra_test is not None:
                raise NotRolled("it may stop early, and its last batch is smaller")
        except NotRolled as reason:
            current_trace().report_loop("dataset", f"the host feeds it the elements of the dataset, since {reason}")
            dataset._loop_by_host(extra_test, body, variables, statement)
            return
        current_trace().report_loop("dataset", "rows of arrays in memory: the dataset is part of the program")
        structure = flatten(dataset.element_spec)[1]

        def element(numbers: Any, build: Any) -> None:
            body(unflatten(structure, call_jax(build, rolled.columns, numbers)))

        def last(columns: Any, numbers: Any) -> Any:
            return rolled.leaves(columns, numbers, last=True)

        numbers, *rest = _order_of(rolled)
        run_for(numbers, extra_test, lambda row: element(row, rolled.leaves), variables, statement=statement)
        if rest:
            with open_loop(current_trace(), statement):
                element(rest[0], last)
        _tell_of_reads(rolled.plan)

    def _loop_by_host(
        self, extra_test: Test | None, body: Callable[[Any], None], variables: LoopVariables, statement: Any
    ) -> None:
        spec = self.element_spec
        if not is_static(spec):
            error = UnimplementedError(
                f"a loop over a dataset in a compiled function needs elements of numbers with known shapes, but this "
                f"one has {described(spec)}; pass drop_remainder=True to batch, set the shapes of Python's results "
                "with gx.reshape in a map, or loop outside and call a compiled step"
            )
            raise current_trace().refuse(error)
        leaves, structure = flatten(spec)
        size = _taken_at_once(spec)
        types = [TensorSpec((size, *leaf.shape), leaf.dtype) for leaf in leaves]
        handle = pyfunc(lambda: self._start(size), "int32")
        state: list[Any] = []  # the elements left of the last transfer, their total, and their leaves

        def read() -> list[Any]:
            outputs = pyfunc(_read, [TensorSpec((), "int32"), *types], handle)
            return [outputs[0], *outputs]

        def going_on() -> Any:
            return state[0] > 0 if extra_test is None else (state[0] > 0) & extra_test()

        def iteration() -> None:
            left, count, *columns = state
            body(unflatten(structure, [column[count - left] for column in columns]))
            state[0] = left - 1
            needs_more = state[0] == 0 if extra_test is None else (state[0] == 0) & extra_test()
            state[:] = cond(needs_more, read, lambda: list(state))

        def get() -> tuple[Any, ...]:
            return (*variables.get(), *state)

        def put(values: tuple[Any, ...]) -> None:
            count = len(variables.names)
            variables.set(values[:count])
            state[:] = values[count:]

        state[:] = read()
        names = [*variables.names, "how many elements are left", "how many came"]
        names += [f"the dataset's leaf {index}" for index in range(len(types))]
        while_stmt(going_on, iteration, get, put, names, statement=statement)
        pyfunc(_finish, None, handle)

    def _start(self, size: int) -> Any:
        """Opens an iterator that reads ahead, and returns its number."""
        ahead = self if isinstance(self.plan, Prefetch) else self._on(Prefetch(self.plan, size))
        with _lock:
            number = next(_numbers)
            _open[number] = _Feed(DatasetIterator(ahead, as_numpy=True), self.element_spec, size)
            while len(_open) > _MOST_OPEN:  # left by calls that failed
                _open.pop(next(iter(_open))).iterator.close()
        return np.int32(number)


def _taken_at_once(spec: Any) -> int:
    """Returns the maximum number of elements that the host passes at once."""
    return max(1, min(_MOST_AT_ONCE, _BYTES_AT_ONCE // row_bytes(spec)))


@dataclass
class _Feed:
    """Feeds the elements of an iterator to a loop, all that are ready at once."""

    iterator: DatasetIterator
    spec: Any
    size: int  # the maximum number of elements to return at once
    error: Exception | None = None  # that followed the last returned elements

    def read(self) -> list[Any]:
        """Waits for an element, and returns the number of elements, and each leaf of them, padded."""
        if self.error is not None:
            raise self.error
        rows: list[list[Any]] = []
        try:
            for element in self.iterator:
                rows.append(flatten(element)[0])
                if len(rows) == self.size or not self.iterator.is_ready:
                    break
        except Exception as error:
            if not rows:
                raise
            self.error = error
        columns = [np.zeros((self.size, *leaf.shape), leaf.dtype) for leaf in flatten(self.spec)[0]]
        for number, row in enumerate(rows):
            for column, leaf in zip(columns, row, strict=True):
                column[number] = leaf
        return [np.int32(len(rows)), *columns]


def _read(handle: Any) -> list[Any]:
    feed = _open.get(int(handle))
    if feed is None:
        raise OutOfRangeError(f"more than {_MOST_OPEN} loops over datasets are running at once")
    return feed.read()


def _finish(handle: Any) -> None:
    feed = _open.pop(int(handle), None)
    if feed is not None:
        feed.iterator.close()


_open: dict[int, _Feed] = {}
_numbers = itertools.count()
_lock = threading.Lock()


def _as_now(plan: PlanNode) -> PlanNode:
    """Returns a plan whose functions, where the open trace has made them, hold what they capture now."""
    plan = replaced(plan, _as_now)
    parts = {name: value for name, value in vars(plan).items() if isinstance(value, UserFunction | Iterated)}
    now = {name: value.as_now() for name, value in parts.items()}
    return dataclasses.replace(plan, **now) if any(now[name] is not parts[name] for name in now) else plan


def _refuse_state(plan: PlanNode) -> None:
    """Refuses functions that keep state: the host would call them while the program holds the Variables."""
    for function in functions_of(plan):
        if function.keeps_state:
            where = f"\n  {function} at {function.location}" if function.location else ""
            error = UnimplementedError(
                f"a loop over a dataset in a compiled function: {function.use}({function}) uses Variables or random "
                f"numbers; call {function} in the body of the loop instead, or loop outside and call a compiled step"
                f"{where}"
            )
            raise current_trace().refuse(error)


def _tell_of_reads(plan: PlanNode) -> None:
    """Adds the reads of the plan's functions to the trace, so that calls check whether they have changed."""
    guards = current_trace().root.reads.guards
    for function in functions_of(plan):
        for guard in function.guards():
            guards.setdefault((*guard.source.key, "in", id(function), guard.test), guard)


def _order_of(rolled: Rolled) -> list[Any]:
    """Returns the indices of the elements, drawn anew for each call if the order is random."""
    if rolled.is_random:
        return pyfunc(rolled.numbers, rolled.types())
    return [Tensor(jnp.asarray(array)) for array in rolled.numbers()]
