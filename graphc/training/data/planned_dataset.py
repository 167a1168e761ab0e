"""The base of every dataset: a plan that can be inspected and iterated."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import numpy as np

from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError
from graphc.compiler.core import SymbolicTensor, as_dtype
from graphc.compiler.function import TensorSpec
from graphc.compiler.ops import random
from graphc.training.data.elements import DatasetSpec, Nested, Row, described, flatten
from graphc.training.data.functions import UserFunction, user_function
from graphc.training.data.iterator import DatasetIterator
from graphc.training.data.late import LateSeed, in_program
from graphc.training.data.nodes.batching import Batch, PaddedBatch, Rebatch
from graphc.training.data.nodes.buffers import Shuffle
from graphc.training.data.nodes.counting import Repeat, Shard, Skip, Take
from graphc.training.data.nodes.maps import Map
from graphc.training.data.nodes.origins import Gather, Numbers
from graphc.training.data.nodes.threads import Prefetch
from graphc.training.data.plan import Epoch, PlanNode, replaced, walk
from graphc.training.data.sources import INFINITE

# Passes: they turn a plan into a faster one with the same elements; and the options that control them.


@dataclass
class ThreadingOptions:
    """The threads of a pipeline.

    Attributes:
      private_threadpool_size: the maximum number of threads of one transformation; None for what it asks for.
    """

    private_threadpool_size: int | None = None


@dataclass
class Options:
    """The options of a pipeline (TensorFlow's ``tf.data.Options``).

    Attributes:
      deterministic: False lets parallel maps return elements as they finish, unless a map sets its own.
      optimize: whether passes optimize the plan, which does not change the elements.
      prefetch: whether a thread reads two elements ahead where the pipeline reads files or runs Python.
      threading: the threads.

    Example:
      >>> import graphc as gx
      >>> options = gx.data.Options()
      >>> options.prefetch = False
      >>> gx.data.Dataset.range(3).with_options(options).options().prefetch
      False
    """

    deterministic: bool | None = None
    optimize: bool = True
    prefetch: bool = True
    threading: ThreadingOptions = field(default_factory=ThreadingOptions)


def apply_options(node: PlanNode, options: Options) -> PlanNode:
    """Returns a plan whose maps use the threads and the order of the options."""
    node = replaced(node, lambda inner: apply_options(inner, options))
    if not isinstance(node, Map) or node.num_parallel_calls is None:
        return node
    most = options.threading.private_threadpool_size or node.num_parallel_calls
    ordered = options.deterministic if node.deterministic is None else node.deterministic
    return dataclasses.replace(node, num_parallel_calls=min(node.num_parallel_calls, most), deterministic=ordered)


_ORDERING = (Take, Skip, Shard, Repeat, Shuffle)


def push_down(node: PlanNode) -> PlanNode:
    """Returns a plan that maps after selecting elements where maps are pure, and whose sources read only these."""
    node = replaced(node, push_down)
    return _below(node) if isinstance(node, _ORDERING) else node


def _below(node: Any) -> PlanNode:
    inner = node.source
    if isinstance(inner, Map) and inner.function.mode == "blocks":
        return dataclasses.replace(inner, source=_below(dataclasses.replace(node, source=inner.source)))
    if isinstance(inner, Gather):
        return dataclasses.replace(inner, numbers=_below(dataclasses.replace(node, source=inner.numbers)))
    return _fewer(node, inner) if isinstance(inner, Numbers) and inner.length != INFINITE else node


def _fewer(node: Any, numbers: Numbers) -> PlanNode:
    """Selects some of a range of numbers, as a smaller range."""
    start, length, step = numbers.start, int(numbers.length), numbers.step
    if isinstance(node, Take):
        return dataclasses.replace(numbers, length=int(min(length, node.count)))
    if isinstance(node, Skip):
        skipped = int(min(length, node.count))
        return dataclasses.replace(numbers, start=start + skipped * step, length=length - skipped)
    if isinstance(node, Shard):
        left = max(0, -(-(length - node.index) // node.num_shards))
        return dataclasses.replace(numbers, start=start + node.index * step, length=left, step=step * node.num_shards)
    return node


def fuse_maps(node: PlanNode) -> PlanNode:
    """Returns a plan in which consecutive functions that only compute are one function."""
    node = replaced(node, fuse_maps)
    if not isinstance(node, Map) or not isinstance(node.source, Map):
        return node
    first, second = node.source.function, node.function
    if first.mode != "blocks" or second.mode != "blocks" or second.takes_strings:
        return node
    return Map(node.source.source, second.after(first))


_AHEAD = 2


def add_prefetch(plan: PlanNode) -> PlanNode:
    """Returns a plan that prefetches batches if their elements come from files or from Python."""
    # Single elements are not worth a thread: handing one over takes longer than producing it usually does.
    nodes = list(walk(plan))
    reads_ahead = any(isinstance(node, Prefetch) for node in nodes)
    makes_batches = any(isinstance(node, Batch | PaddedBatch | Rebatch) for node in nodes)
    is_slow = any(node.slow for node in nodes)
    return Prefetch(plan, _AHEAD) if is_slow and makes_batches and not reads_ahead else plan


def improved(plan: PlanNode) -> PlanNode:
    """Returns a faster plan with the same elements, without threads of its own."""
    return fuse_maps(push_down(plan))


def optimized(plan: PlanNode, options: Options) -> PlanNode:
    """Returns the plan to run."""
    plan = apply_options(plan, options)
    if options.optimize:
        plan = improved(plan)
    return add_prefetch(plan) if options.prefetch else plan


INFINITE_CARDINALITY, UNKNOWN_CARDINALITY = -1, -2
AUTOTUNE = -1


def refuse(use: str, problem: str, kind: type[InvalidArgumentError] = InvalidArgumentError) -> InvalidArgumentError:
    """Makes an error with the user's line."""
    return kind(f"{use}: {problem}").here()


def count_of(use: str, name: str, value: Any, least: int = 0) -> int:
    """Converts a user's value to an int."""
    if isinstance(value, SymbolicTensor):
        remedy = "datasets are made before it runs: pass a Python number"
        raise refuse(use, f"{name} must be an int, got {value!r:.60}, a tensor of a graph; {remedy}", InvalidTypeError)
    number = value.item() if hasattr(value, "item") else value
    if isinstance(number, bool) or not hasattr(number, "__index__"):
        raise refuse(use, f"{name} must be an int, got {value!r:.60}", InvalidTypeError)
    if number < least:
        raise refuse(use, f"{name} must be at least {least}, got {number}")
    return int(number)


def threads_of(use: str, num_parallel_calls: Any) -> int:
    """Converts a user's number of threads; AUTOTUNE means one per core."""
    if num_parallel_calls is None:
        return 1
    threads = count_of(use, "num_parallel_calls", num_parallel_calls, AUTOTUNE)
    return threads if threads > 0 else max(2, os.cpu_count() or 1)


def plan_of(dataset: Any, use: str) -> PlanNode:
    """Returns the plan of a user's dataset."""
    if not isinstance(dataset, Planned):
        raise refuse(use, f"expected a gx.data.Dataset, got {dataset!r:.60}", InvalidTypeError)
    return dataset.plan


class Planned(Nested, Iterable[Any]):
    """An immutable plan that can be iterated again and again.

    Attributes:
      plan: the transformations.
    """

    __graphc_opaque__ = True

    def __init__(self, plan: PlanNode, options: Options | None = None) -> None:
        self.plan = plan
        self.given_options = Options() if options is None else options

    def _on(self, plan: PlanNode) -> Self:
        """Returns a dataset of a plan whose input is this dataset's plan."""
        return type(self)(plan, self.given_options)

    def _function(self, function: Any, use: str, *, compiled: bool = True) -> UserFunction:
        """Returns a user's function of the elements."""
        plan = self.plan
        return user_function(function, plan.spec, use, compiled=compiled, sample=lambda: first_row(plan, use))

    @classmethod
    def _seed(cls, seed: Any) -> int | LateSeed:
        """Returns a user's seed; else one derived from the program's seed; else a random one."""
        if seed is None and in_program():
            return LateSeed(cls._new_seed)
        return cls._new_seed() if seed is None else count_of("seed", "a seed", seed)

    @classmethod
    def _new_seed(cls) -> int:
        seed = cls.seed_of_program()
        return int(np.random.SeedSequence().generate_state(1)[0]) if seed is None else seed

    @classmethod
    def seed_of_program(cls) -> int | None:
        """Returns the next seed derived from ``gx.random.seed``; None if that was not called."""
        return random.host_seed()

    @cached_property
    def optimized(self) -> PlanNode:
        """The plan to run."""
        return optimized(self.plan, self.given_options)

    def optimized_as(self, plan: PlanNode) -> PlanNode:
        """Returns the plan to run for a plan that differs from this one only in its seeds."""
        return self.optimized if plan is self.plan else optimized(plan, self.given_options)

    @property
    def element_spec(self) -> Any:
        """The types of an element: its structure, with a ``gx.TensorSpec`` for each leaf."""
        return self.plan.spec

    def cardinality(self) -> int:
        """Returns the number of elements; -1 for an endless dataset, and -2 where only reading it tells."""
        length = self.plan.cardinality
        return UNKNOWN_CARDINALITY if length is None else INFINITE_CARDINALITY if length == INFINITE else int(length)

    def __len__(self) -> int:
        length = self.plan.cardinality
        if length is None or length == INFINITE:
            what = "is infinite" if length else "is unknown before it is read"
            raise refuse("len(dataset)", f"its length {what}", InvalidTypeError)
        return int(length)

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> DatasetIterator:
        return DatasetIterator(self)

    def as_numpy_iterator(self) -> Iterator[Any]:
        """Returns an iterator over the elements as NumPy arrays on the host, strings as ``bytes``."""
        return DatasetIterator(self, as_numpy=True)

    def __str__(self) -> str:
        return "\n".join(_lines(self.plan))

    def __repr__(self) -> str:
        count = self.cardinality()
        length = {UNKNOWN_CARDINALITY: "of unknown length", INFINITE_CARDINALITY: "without end"}.get(count)
        return f"<Dataset of {types_of(self.plan)}, {length or f'{count} elements'}>"


def first_row(plan: PlanNode, use: str) -> Row:
    """Returns one row of a plan, to learn the types of results; a row of zeros if the plan is empty."""
    rows = plan.open(Epoch())
    try:
        for row in rows:
            return row
    finally:
        rows.close()
    leaves = flatten(plan.spec)[0]
    if any(isinstance(leaf, DatasetSpec) or leaf.shape is None for leaf in leaves):
        raise refuse(use, "the types of its results are unknown, because there is no element to call it with")
    return tuple([_blank(leaf) for leaf in leaves])


def _blank(spec: TensorSpec) -> Any:
    """Returns a leaf of zeros, or of empty strings; open sizes are 1."""
    shape = tuple([1 if size is None else size for size in spec.shape or ()])
    if spec.of_strings:
        return np.full(shape, b"", object) if shape else b""
    return np.zeros(shape, as_dtype(spec.dtype))[()]


def types_of(plan: PlanNode) -> str:
    """Returns the types of elements in words, without running anything."""
    traced = all(function.is_known for function in functions_of(plan))
    return described(plan.spec) if traced else "types not known yet"


def functions_of(plan: PlanNode) -> list[UserFunction]:
    """Returns the user's functions in a plan."""
    return [value for node in walk(plan) for value in vars(node).values() if isinstance(value, UserFunction)]


def _lines(node: PlanNode, indent: str = "") -> list[str]:
    """Returns a plan as lines of text, one for each transformation, the source first."""
    inputs = node.inputs
    lines: list[str] = []
    for inner in inputs:
        lines += _lines(inner, indent + "  " if len(inputs) > 1 else indent)
    text = f"{indent}{node}"
    return [*lines, f"{text:<40} {types_of(node)}"]
