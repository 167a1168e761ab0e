"""One name of a loop, or one cell that its body writes: the value before the loop as slots, and what comes of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from graphc.compiler.autograph.constructs.loops.counts import Count
from graphc.compiler.autograph.constructs.loops.list_state import ListState, changes_length, settled
from graphc.compiler.autograph.constructs.loops.slots import Followed, Jump, LoopInfo, Slot, Trial, slot_of, zeros_slot
from graphc.compiler.autograph.constructs.storage.cells import ContentsCell, held
from graphc.compiler.autograph.values.choice import as_choices, holds_choice
from graphc.compiler.autograph.values.course import HostSequence, HostSequences, plain_kind
from graphc.compiler.autograph.values.growing_list import FEWEST, growing
from graphc.compiler.autograph.values.index import LoopIndex
from graphc.compiler.autograph.values.join import describe, interchangeable, is_tensor, note_aliases, to_tensors
from graphc.compiler.autograph.values.number import span_of
from graphc.compiler.autograph.values.protocol import Unbound, is_bound
from graphc.compiler.autograph.values.spans import ValueRange
from graphc.compiler.base import nest
from graphc.compiler.base.errors import UndefinedNameError
from graphc.compiler.core import FUNCTIONS, SymbolicTensor
from graphc.compiler.ir import OPS, Attrs, TensorType, Value
from graphc.compiler.ops import rows_of
from graphc.compiler.tracing import Cell, Region, Trace, late_rows

_HELD = 2
"""How many references to a tensor before the loop a variable and its slot hold."""


class LoopVariable:
    """One name."""

    # A container inside the value that every iteration leaves where it is stays the object that it is, since other
    # names may hold it too; what is changed in it is a cell of its own.

    is_contents = False
    """True if the value is a copy itself, of what a container holds."""

    def __init__(self, name: str, value: Any, loop: LoopInfo) -> None:
        self.name = name
        # The identities of the containers in it of which no iteration is known that puts others in their place.
        self.fixed = _inner_containers(value)
        self.bound: Any = None  # what it holds at the start of the iteration that is traced
        self.last: Any = None
        self.frozen = False  # whether something in that must not be changed
        self._loop = loop
        self._remade = False
        self._before_choice: tuple[Any] | None = None
        self._after: tuple[Any] | None = None
        self._packing = Packing()
        self._start_at(value)
        if loop.follows and self._structure == nest.LEAF and plain_kind(value) in (int, float):
            self.slots = [self.slots[0].followed()]  # in the first trial already

    def _start_at(self, value: Any) -> None:
        """Sets what it holds before the loop."""
        leaves, self._structure = nest.flatten(value, self.fixed)
        self.value, self.slots = value, list(map(slot_of, leaves))

    def be_jump(self) -> None:
        """Makes it a name of ours that says if the loop was left."""
        self.slots = [Jump()]

    def expect(self) -> None:
        """Carries a number before an iteration has changed it."""
        if self._structure == nest.LEAF and not isinstance(self.slots[0], Jump):
            self.slots = [self.slots[0].expected()]

    @property
    def original(self) -> Any:
        """The value before the loop, as it was."""
        return self.value if self._before_choice is None else self._before_choice[0]

    @property
    def carried(self) -> bool:
        """True if tensors are carried for it."""
        return any(slot.type is not None for slot in self.slots)

    @property
    def is_new(self) -> bool:
        """True if the name holds another object in each iteration; a list or dict may be one for all its leaves."""
        return self._remade or any(slot.is_new for slot in self.slots)

    @property
    def courses(self) -> list[tuple[Followed, HostSequence]]:
        """The slots of numbers that Python computes, with the courses that the iteration began with."""
        slots = [slot for slot in self.slots if isinstance(slot, Followed)]
        return [(slot, slot.course) for slot in slots if slot.course is not None]

    def types(self) -> list[TensorType]:
        """Returns the types of the tensors that are carried for it."""
        return self._packing.types([slot.type for slot in self.slots if slot.type is not None])

    def initial(self) -> list[SymbolicTensor]:
        """Returns the tensors that are carried for it, as they are before the loop."""
        trace = self._loop.trace
        return self._tensors(trace, [slot.before(trace) for slot in self.slots]) if self.carried else []

    def results(self, region: Trace, value: Any) -> list[SymbolicTensor]:
        """Returns the tensors that are carried for it, where an iteration leaves a value."""
        return self._tensors(region, self.leaves(value)) if self.carried else []

    def _tensors(self, trace: Trace, leaves: Sequence[Any]) -> list[SymbolicTensor]:
        return self._packing.tensors(to_tensors(trace, leaves, [slot.type for slot in self.slots]))

    def leaves(self, value: Any) -> Sequence[Any]:
        """Returns the leaves of a value that an iteration leaves in it."""
        return nest.flatten(value, self.fixed)[0]

    def check_starts(self, region: Region, starts: Iterator[SymbolicTensor], outputs: set[Value]) -> None:
        """Gives up an attempt that takes numbers for tensors which are not what these would be."""
        slots = [slot for slot in self.slots if slot.type is not None]
        tensors = [next(starts) for _ in self.types()]
        for slot, tensor in zip(slots, self._packing.tensors_of(slots, tensors), strict=True):
            slot.check_start(tensor, region, outputs)

    def begin(self, courses: HostSequences | None) -> None:
        """Is called before an iteration is traced, with the numbers that Python computes for all iterations."""
        for slot in self.slots:
            slot.begin(courses)

    def start(self, carried: Iterator[Any], *, stays: bool) -> Any:
        """Returns what it holds at the start of an iteration or of a test."""
        # stays: whether the loop has not been left there.
        if not self.is_new:
            return self.value
        rows = self._packing.rows(carried, len(self.slots))
        return nest.unflatten(self._structure, [slot.start(rows, stays=stays) for slot in self.slots])

    def bind(self, value: Any) -> None:
        """Takes note of what it holds at the start of an iteration that is about to be traced."""
        self.bound = value
        if self.carried or self._remade:
            note_aliases(self._loop.trace, self.name, value, [self.value], holders=_HELD, shared=self.fixed)

    def follow(self) -> None:
        """Takes note, at the end, that an iteration may start with a tensor that the one before has passed on."""
        aliases = self._loop.trace.root.aliases
        for bound, last in zip(self.leaves(self.bound), self.leaves(self.last), strict=False):
            # What an iteration has made itself is another tensor in each.
            own = isinstance(last, SymbolicTensor) and last.trace is getattr(bound, "trace", None)
            if is_tensor(last) and not (own and aliases.get(last) is None):
                aliases.extend(bound, last)

    def end(self, carried: Iterator[Any]) -> Any:
        """Returns what the loop leaves in it; ``carried`` gives the next tensor."""
        if not self.is_new:
            return self.value
        rows = self._packing.rows_after(carried, len(self.slots))
        return nest.unflatten(self._structure, [slot.end(rows) for slot in self.slots])

    def leave(self, value: Any, trips: int | None) -> Any:
        """Returns what it holds after the loop."""
        del trips
        if self._after is not None:
            return self._after[0]
        if self.is_new:
            # Zero iterations leave the value from before. Nobody knows what else may be seen of a frozen one.
            sources = None if self.frozen else [self.last] if self._loop.runs else [self.value, self.last]
            note_aliases(self._loop.trace, self.name, value, sources, shared=self.fixed)
        return value

    def mix(self, value: Any, trial: Trial) -> bool:
        """Tells if it holds one of several values from the start if in the end it does, or can meet only so."""
        if trial.region.attempt is not None and not (holds_choice(value) or holds_choice(self.value)):
            return True
        start, _ = self._as_choices(value, trial)
        if start is self.value:
            return True
        self._before_choice = self._before_choice or (self.value,)
        self._start_at(start)
        return False

    def alike(self, value: Any, trial: Trial) -> Any:
        """Returns what a trial leaves in it, in the form that it has at the start."""
        return self._as_choices(value, trial)[1] if holds_choice(self.value) else value

    def _as_choices(self, value: Any, trial: Trial) -> tuple[Any, Any]:
        traces = trial.loop.trace, trial.region
        return as_choices(self.value, value, traces, growing=True, contents=self.is_contents)

    def settle(self, value: Any, trial: Trial) -> bool:
        """Compares it after a trial with its start; False if it must be carried in another way."""
        self._after = None  # of an earlier trial, in which another name may still have been a number
        unchanged = self.fixed & nest.shared(self.value, value) if self.fixed else self.fixed
        if unchanged != self.fixed:  # the iteration replaces containers that should stay
            self.fixed = unchanged
            self._start_at(self.value)
            return False
        if not is_bound(self.value):
            if not self.is_new:
                return self._settle_unbound(value, trial)
        elif not is_bound(value):
            raise trial.loop.trace.refuse(
                UndefinedNameError(
                    f"name {self.name!r} is bound before the loop, but after an iteration {value.reason}; bind it on "
                    "every way through the loop's body"
                )
            )
        leaves, structure = nest.flatten(value, self.fixed)
        trial.join.structures(self.name, (self.value, value), (self._structure, structure))
        columns = zip(self.slots, self.leaves(self.bound), leaves, strict=True)
        outcomes = [slot.settle(start, leaf, trial) for slot, start, leaf in columns]
        self.slots = [slot for slot, _ in outcomes]
        # The same leaves, in a list or dict that the iteration has made anew.
        if not self.is_new and not interchangeable(self.value, value):
            self._remade = True
            return False
        return all(fits for _, fits in outcomes) and self._packing.settle(self._packs(leaves))

    def _settle_unbound(self, value: Any, trial: Trial) -> bool:
        """Settles a name that was not bound before the loop."""
        if not is_bound(value):
            return True
        if not trial.loop.runs and not self.value.filler:
            self._after = (Unbound(self.name, "it is bound only inside a loop that may run zero times"),)
            return True
        leaves, structure = nest.flatten(value)
        if any(isinstance(leaf, LoopIndex) for leaf in leaves):
            trial.number_changes()
        for leaf in leaves:
            if trial.region.journal.owns(leaf):
                # Each iteration makes an object of its own; what a trace of the body made is none of them.
                trial.region.side_effect(f"the use of {self.name!r}, {describe(leaf)} made in a loop, after it")
        if not any(is_tensor(leaf) for leaf in leaves):
            self._after = (value,)
            return True
        # It is bound from the first iteration on, and nobody looks before; zeros stand for it until then.
        self._structure, self.slots = structure, list(map(zeros_slot, leaves))
        return False

    def _packs(self, leaves: Sequence[Any]) -> bool:
        """Returns True if the leaves that a trial leaves are the rows of one tensor, and worth carrying as such."""
        types = {slot.type for slot in self.slots}
        common = next(iter(types)) if len(types) == 1 and type(self.value) in (list, tuple) else None
        # A stack is not weak: its rows would promote other than the Python numbers they were.
        fits = common is not None and not common.weak and len(self.slots) >= FEWEST
        return fits and self._structure.children == (nest.LEAF,) * len(leaves) and rows_of(leaves) is not None

    def counts(self, value: Any) -> list[tuple[Count | None, ValueRange | None]]:
        """Returns its slots that are ints, each with the span of what a trial leaves."""
        pairs: list[tuple[Slot, Any]] = list(zip(self.slots, self.leaves(value), strict=False))
        return [(slot.count, span_of(leaf)) for slot, leaf in pairs if slot.type is not None]


class LoopCell(LoopVariable):
    """A cell that an iteration writes; what it holds is carried as the value of a name is."""

    def __init__(self, cell: Cell, before: Any, loop: LoopInfo, *, likely: bool = False) -> None:
        super().__init__(cell.title, held(cell, before), loop)
        self.cell = cell
        # Whether it is carried because that is likely, and no trial has shown yet that an iteration writes it.
        self._likely = likely
        self.is_contents = isinstance(cell, ContentsCell)
        self._list: ListState | None = None
        self.settle_length()  # so that the next trial knows already that it grows

    def is_needed(self) -> bool:
        """Returns False after the first trial if it was likely that an iteration writes the cell, and none does."""
        likely, self._likely = self._likely, False
        return not likely or self.cell.get().raw is not self.bound.raw

    def now(self) -> Any:
        """Returns what the cell holds at the end of an iteration."""
        value = self.cell.get()
        return settled(held(self.cell, value if self._list is None else self._list.at_end(value)))

    def bind(self, value: Any) -> None:
        """As that of a name."""
        super().bind(value)
        if self._list is not None:
            self._list.bind(value)

    def counted(self, value: Any, courses: HostSequences | None, *, whole: bool) -> Any:
        """Returns what it holds at the start of an iteration; see :meth:`ListState.counted`."""
        return value if self._list is None else self._list.counted(value, courses, whole=whole)

    def settle_length(self) -> bool:
        """Returns True if a list is carried that has as much room as it needs."""
        if not isinstance(self.cell.owner, list):
            return True
        if self._list is None:
            grows = growing(self.value) is not None
            if not grows and not changes_length(self.value, self.cell.get()):
                return True
            loop = self._loop
            self._list = ListState(loop.trace, self.cell.what, self.value, loop.max_trips, loop.tapes)
            if grows:
                if self._list.value is not self.value:
                    self._start_at(self._list.value)
                return False  # what a trial puts in is counted from its start
        if self._list.settle(self.cell.get()):
            return True
        self._start_at(self._list.value)
        return False

    def leave(self, value: Any, trips: int | None) -> Any:
        """As that of a name; a list is one of Python's again where its length is known."""
        return super().leave(value, trips) if self._list is None else self._list.leave(value, trips)


class Packing:
    """Carries the items of a list as the rows of one tensor, if every iteration leaves them as such."""

    def __init__(self) -> None:
        self._packs = self._given_up = False

    def types(self, types: list[TensorType]) -> list[TensorType]:
        """Returns the types of the tensors that are carried for leaves of these types."""
        return [TensorType((len(types), *types[0].shape), types[0].dtype)] if self._packs else types

    def tensors(self, leaves: list[SymbolicTensor]) -> list[SymbolicTensor]:
        """Returns the tensors that are carried for leaves."""
        return [FUNCTIONS["stack"](leaves)] if self._packs else leaves

    def tensors_of(self, slots: Sequence[Slot], tensors: list[SymbolicTensor]) -> list[SymbolicTensor]:
        """Returns for each slot the tensor that carries it."""
        return tensors * len(slots) if self._packs else tensors

    def rows(self, carried: Iterator[Any], count: int) -> Iterator[Any]:
        """Returns the leaves at the start of an iteration; ``carried`` gives the next tensor."""
        if not self._packs:
            return carried
        whole = next(carried)
        get_item = OPS["get_item"]
        return iter([whole.trace.apply(get_item, (whole,), Attrs(index=(row,)))[0] for row in range(count)])

    def rows_after(self, carried: Iterator[Any], count: int) -> Iterator[Any]:
        """Returns the leaves after the loop; ``carried`` gives the next tensor."""
        if not self._packs:
            return carried
        # Late: of a list that is used as a whole, no row becomes a node.
        return iter(late_rows(next(carried), 0, count))

    def settle(self, packs: bool) -> bool:
        """Takes note of whether a trial leaves the items as rows; False if they were carried in another way."""
        if self._given_up or self._packs == packs:
            return True
        # Given up for good where packed items came back unpacked, or trials would alternate forever.
        self._packs, self._given_up = not self._packs, self._packs
        return False


def _inner_containers(value: Any) -> frozenset[int]:
    """Returns the identities of the containers inside a value that can be changed."""
    # By identity: lists and dicts have no hash, and equal ones are not the same.
    ids: set[int] = set()

    def walk(part: Any) -> None:
        for item in (nest.children(part) or ((), ()))[1]:
            if nest.is_mutable(item):
                ids.add(id(item))
            walk(item)

    walk(value)
    return frozenset(ids)
