"""One leaf of what a loop carries: a class for each way in which it comes from one iteration to the next.

Which way it is, a trial iteration shows: :meth:`Slot.settle` compares the leaf at the end of the trial with its start,
and returns the slot that the next trial begins with.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphc.compiler.autograph.constructs.loops.counts import Count
from graphc.compiler.autograph.values.course import (
    HostSequence,
    HostSequences,
    PerIterationNumber,
    host_sequence_of,
    plain_kind,
)
from graphc.compiler.autograph.values.index import LoopIndex
from graphc.compiler.autograph.values.join import Join, is_number, is_tensor, leaf_type, same
from graphc.compiler.autograph.values.number import Kinds, joined, kinds_of, span_of
from graphc.compiler.autograph.values.protocol import is_filler
from graphc.compiler.base.errors import GraphcError
from graphc.compiler.core import Recorder, SymbolicTensor
from graphc.compiler.ir import OPS, Attrs, TensorType, Value
from graphc.compiler.tracing import Region, Trace

# Numbers that become tensors in the first iteration of a loop, as the ``s`` of ``s = 0`` and ``s = s + x`` does.
#
# Where each element of such a tensor is computed of the number alone and of other elements at the same place, the
# number may as well be a tensor of that shape from the start: the loop carries it, and no iteration is traced by
# itself.

_ELEMENTWISE = frozenset({
    "abs", "add", "equal", "exp", "greater", "greater_equal", "less", "less_equal", "logical_and", "logical_not",
    "logical_or", "maximum", "minimum", "multiply", "not_equal", "sigmoid", "subtract", "tanh", "where",
})  # fmt: skip
"""Ops that make of a number what they make of a tensor that holds it everywhere, in whatever dtype that holds it."""


def common_type(number: Any, after: Any) -> TensorType | None:
    """Returns the type of a tensor in which a number may start that becomes ``after``; None if there is none."""
    if not is_number(number) or not isinstance(after, SymbolicTensor) or not is_tensor(after) or not after.shape:
        return None
    type, own = after.type, leaf_type(number)
    # An int fits a tensor of floats, never the reverse; find() gives -1 for all other kinds.
    holds = "bif".find(type.dtype.kind) >= "bif".find(own.dtype.kind) >= 0
    if not holds or (own.dtype.kind == "b") != (type.dtype.kind == "b"):
        return None
    with np.errstate(over="ignore"):  # 1e300 is inf in float32
        stored = np.asarray(number).astype(type.dtype).item()
    # A float may round, but neither to 0 (1e-50 in float32) nor to inf.
    rounded = type.dtype.kind == "f" and bool(stored) == bool(number) and math.isfinite(stored) == math.isfinite(number)
    return type if stored == number or (own.dtype.kind == "f" and rounded) else None


def filled(trace: Trace, number: Any, type: TensorType) -> SymbolicTensor:
    """Returns a tensor of that type that holds a number everywhere."""
    one = trace.lift(type.dtype.type(number).item())
    one = one if type.weak else trace.cast(one, TensorType((), type.dtype))
    return trace.apply(OPS["broadcast_to"], (one,), Attrs(shape=type.shape))[0]


def is_as_of_number(region: Region, start: Value, number: Any, outputs: Iterable[Value]) -> bool:
    """Returns True if an iteration that is given a tensor gives what it would give of the number that it holds."""
    types = {start: leaf_type(number)}  # of what differs from what the number would give
    for node in region.builder.nodes:
        operands = [types.get(value, value.type) for value in node.inputs]
        if not any(value in types for value in node.inputs):
            continue
        # A sum over the tensor, for one, adds the number up as often as there are elements.
        if node.op.name not in _ELEMENTWISE or node.regions:
            return False
        inferred = node.op.infer(operands, node.attrs, ())
        types.update({value: type for value, type in zip(node.outputs, inferred, strict=True) if type != value.type})
    return not any(value in types for value in outputs)


@dataclass(frozen=True)
class LoopInfo:
    """What is known of a loop before its body is traced."""

    trace: Trace
    tapes: tuple[Recorder, ...]
    runs: bool  # whether it runs at least once, so that what its body binds is bound after it
    max_trips: int | None  # how often it runs at most; None if that is not known
    # Whether numbers that do not depend on tensors are taken for such as Python computes for all iterations.
    follows: bool


@dataclass(frozen=True)
class Trial:
    """An iteration that has been traced, as one name of the loop sees it."""

    name: str
    loop: LoopInfo
    region: Region
    courses: HostSequences | None  # the numbers that Python computes for all iterations; None where it does not
    refuse: Callable[[GraphcError], GraphcError]  # makes an error about the name ready to be raised

    @property
    def join(self) -> Join:
        """Returns how the value before the loop and the one after an iteration become one."""
        return Join(("before the loop", "after an iteration"), self.refuse)

    def followed(self, value: Any) -> Any:
        """Returns the course or the number that Python computes for all iterations; None for other values."""
        course = None if self.courses is None else host_sequence_of(value)
        if course is not None and course.loop is self.courses:
            return course
        return None if self.courses is None or plain_kind(value) is None else value

    def number_changes(self) -> None:
        """Ends an attempt to roll the loop: a Python number changes from one iteration to the next."""
        self.region.abort(f"the Python number {self.name!r} changes from one iteration to the next")


Settled = tuple["Slot", bool]
"""The slot that the next trial begins with, and True if the trial holds for this one."""


class Slot:
    """A leaf that is the same object in every iteration, as far as is known."""

    type: TensorType | None = None  # of the tensor that is carried for it; None if none is
    is_new = False

    def __init__(self, leaf: Any, kinds: Kinds | None, count: Count | None) -> None:
        self.leaf = leaf
        self.kinds = kinds  # the Python types that it may have, if it is a number in every iteration
        self.count = count  # between which ints it lies, if it is an int

    def before(self, trace: Trace) -> Any:
        """Returns what it is before the loop, of the shape that it has in the loop."""
        del trace
        return self.leaf

    def expected(self) -> Slot:
        """Returns a slot that carries a number before an iteration has changed it, since that is likely."""
        if self.kinds is None or len(self.kinds) > 1:
            return self
        (kind,) = self.kinds
        return Carried(self.leaf, leaf_type(kind(0)), self.kinds, self.count, likely=True).expected()

    def followed(self) -> Slot:
        """Returns a slot for a number that Python computes for all iterations, since that is likely."""
        return Followed(self.leaf, self.kinds, self.count)

    def begin(self, courses: HostSequences | None) -> None:
        """Is called before an iteration is traced, with the numbers that Python computes for all iterations."""

    def check_start(self, tensor: SymbolicTensor, region: Region, outputs: Collection[Value]) -> None:
        """Gives up an attempt in which a tensor stands for what is none before the loop, and that shows."""

    def start(self, carried: Iterator[Any], *, stays: bool) -> Any:
        """Returns what it is at the start of an iteration or of a test."""
        del carried, stays
        return self.leaf

    def end(self, carried: Iterator[Any]) -> Any:
        """Returns what it is after the loop; ``carried`` gives the next tensor."""
        del carried
        return self.leaf

    def settle(self, bound: Any, after: Any, trial: Trial) -> Settled:
        """Compares it after a trial with its start."""
        if same(self.leaf, after):
            return self, True
        if is_filler(self.leaf) and is_tensor(after):
            return zeros_slot(after), False  # a part that every iteration puts there; zeros stand for it before
        if plain_kind(self.leaf) is not None and trial.followed(after) is not None:
            return self.followed(), False
        # Only an attempt, since check_start may have to give it up.
        if trial.region.attempt is not None and (filling := common_type(self.leaf, after)) is not None:
            return Filled(self.leaf, filling, None, None), False
        type, kinds = self._joined(after, trial)
        if self.count is not None:
            self.count.expect(span_of(after), trial.loop.max_trips)
        return Carried(self.leaf, type, kinds, self.count), False

    def _joined(self, after: Any, trial: Trial) -> tuple[TensorType, Kinds | None]:
        """Returns the type of a tensor that is this and what an iteration makes of it, and the number's types."""
        numbers = is_number(self.leaf) or isinstance(self.leaf, PerIterationNumber)
        if isinstance(after, LoopIndex | PerIterationNumber) or (numbers and is_number(after)):
            trial.number_changes()
        type = trial.join.leaf(trial.name, (self.leaf, after), self.type)
        kinds = kinds_of(after)
        return type, None if self.kinds is None or kinds is None else self.kinds | kinds


class Followed(Slot):
    """A number that Python computes for all iterations, as far as is known."""

    is_new = True
    # What it is in each iteration, and after the last one; None where that is not known yet.
    values: list[Any] | None = None
    # What it is at the start of the iteration that is traced; None where numbers are not followed.
    course: HostSequence | None = None
    after: Any = None  # what that iteration leaves in it: a course, or a number

    def begin(self, courses: HostSequences | None) -> None:
        """Sets the course that an iteration starts with."""
        numbers = None if self.values is None else self.values[:-1]
        self.course = None if courses is None else courses.start(self.leaf, numbers)
        self.after = None

    def start(self, carried: Iterator[Any], *, stays: bool) -> Any:
        """Returns the number."""
        return super().start(carried, stays=stays) if self.course is None else PerIterationNumber(self.course)

    def end(self, carried: Iterator[Any]) -> Any:
        """Returns the number after the last iteration."""
        if self.course is None:
            return super().end(carried)
        assert self.values is not None
        return self.values[-1]

    def settle(self, bound: Any, after: Any, trial: Trial) -> Settled:
        """Keeps the course that a trial leaves, if Python computes it."""
        course = None if self.course is None else trial.followed(after)
        if course is None:
            return super().settle(bound, after, trial)
        self.after = course
        return self, True


class Carried(Slot):
    """A leaf that is carried as a tensor."""

    is_new = True

    def __init__(
        self, leaf: Any, type: TensorType, kinds: Kinds | None, count: Count | None, *, likely: bool = False
    ) -> None:
        super().__init__(leaf, kinds, count)
        self.type = type
        # Whether it is carried because that is likely, and no trial has shown yet that an iteration changes it.
        self._likely = likely

    def expected(self) -> Slot:
        """Returns itself, with the bounds that an int most often has."""
        if self.count is not None:
            self.count.expect_any()
        return self

    def start(self, carried: Iterator[Any], *, stays: bool) -> Any:
        """Returns the tensor, as the number that it is if it is one."""
        del stays
        tensor = next(carried)
        return joined(tensor, self.kinds, None if self.count is None else self.count.at_start)

    def end(self, carried: Iterator[Any]) -> Any:
        """Returns the tensor, as the number that it is if it is one."""
        tensor = next(carried)
        return joined(tensor, self.kinds, None if self.count is None else self.count.after)

    def settle(self, bound: Any, after: Any, trial: Trial) -> Settled:
        """Widens the type to hold what a trial leaves, too."""
        likely, self._likely = self._likely, False
        # Unchanged, it stays a Python number, which shapes and tuples' indices need.
        if likely and (after is bound or same(self.leaf, after)):
            return Slot(self.leaf, self.kinds, Count.of(self.leaf)), False
        before = self.type, self.kinds
        self.type, self.kinds = self._joined(after, trial)
        return self, (self.type, self.kinds) == before


class Filled(Carried):
    """A number that becomes a tensor: it starts as one that holds the number everywhere (see ``starts``)."""

    def before(self, trace: Trace) -> Any:
        """Returns that tensor."""
        assert self.type is not None
        return filled(trace, self.leaf, self.type)

    def check_start(self, tensor: SymbolicTensor, region: Region, outputs: Collection[Value]) -> None:
        """Gives the attempt up if the iteration makes something else of the tensor than of the number."""
        if not is_as_of_number(region, tensor.raw, self.leaf, outputs):
            region.abort("a number becomes a tensor in its first iteration", unsettled=True)


class Jump(Carried):
    """A name of ours that says if the loop was left; carried from the start, since it mostly becomes a tensor."""

    def __init__(self) -> None:
        super().__init__(False, leaf_type(False), kinds_of(False), None)

    def start(self, carried: Iterator[Any], *, stays: bool) -> Any:
        """Returns the tensor before a test, and False in an iteration."""
        flag = super().start(carried, stays=stays)
        return False if stays else flag

    def settle(self, bound: Any, after: Any, trial: Trial) -> Settled:
        """Carries nothing where no jump depends on tensors."""
        return (slot_of(False), False) if after is False else super().settle(bound, after, trial)


def slot_of(leaf: Any) -> Slot:
    """Returns the slot of a leaf of which no iteration has shown anything."""
    # A tensor is carried from the start, but not the index of a loop around this one. An array of NumPy's is carried
    # once an iteration puts another value in its place. Until then it is the array itself, so that code that changes it
    # in place (``a += 1``, ``a[0] = 1``, a view of it) is seen, and needs Python: other names may hold the array too.
    own = isinstance(leaf, LoopIndex | PerIterationNumber | np.ndarray)
    type = leaf_type(leaf) if is_tensor(leaf) and not own else None
    kinds, count = kinds_of(leaf), Count.of(leaf)
    return Slot(leaf, kinds, count) if type is None else Carried(leaf, type, kinds, count)


def zeros_slot(leaf: Any) -> Slot:
    """Returns the slot of a leaf that each iteration binds, and nobody reads before; zeros stand for it until then."""
    if not is_tensor(leaf):
        return Slot(leaf, kinds_of(leaf), None)
    if isinstance(leaf, PerIterationNumber):
        return Followed(leaf.kind(0), kinds_of(leaf), None)
    type = leaf_type(leaf)
    zero = np.zeros(type.shape, type.dtype)
    # An array would make the type strong, and `x * n` promote another way.
    return Carried(zero.item() if type.weak else zero, type, kinds_of(leaf), Count.of_new(leaf))
