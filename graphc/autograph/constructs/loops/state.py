"""What the names of a loop hold from one iteration to the next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphc.autograph.constructs.loops.counts import Count, settle_counts
from graphc.autograph.constructs.loops.courses import number_after
from graphc.autograph.constructs.loops.list_state import ListState, changes_length, settled
from graphc.autograph.constructs.loops.starts import common_type, filled, is_as_of_number
from graphc.autograph.constructs.storage.cells import ContentsCell, held, named_by_user, write
from graphc.autograph.frontend.lower_jumps import CONTINUE, is_flag
from graphc.autograph.values.choice_join import as_choices, holds_choice
from graphc.autograph.values.course import Course, Courses, plain_kind
from graphc.autograph.values.course_number import CourseNumber, course_in
from graphc.autograph.values.growing_list import growing
from graphc.autograph.values.index import LoopIndex
from graphc.autograph.values.join import (
    Join,
    interchangeable,
    is_number,
    is_tensor,
    leaf_type,
    note_aliases,
    same,
    to_tensors,
)
from graphc.autograph.values.number import Kinds, joined, kinds_of, span_of
from graphc.autograph.values.one_buffer import FEWEST
from graphc.autograph.values.protocol import is_bound
from graphc.autograph.values.unbound import Unbound, is_filler
from graphc.base import at, nest
from graphc.base.errors import GraphcError, UndefinedNameError, UnimplementedError
from graphc.core import FUNCTIONS, SymbolicTensor
from graphc.ir import OPS, Attrs, TensorType
from graphc.ops import rows_of
from graphc.tracing import Alias, Cell, Region, TensorCell, Trace, context

__all__ = ["LoopState", "LoopVariables"]


@dataclass(frozen=True)
class LoopVariables:
    """The names that a loop carries, and how to get and set them in the user's function."""

    get: Callable[[], tuple[Any, ...]]
    set: Callable[[tuple[Any, ...]], None]
    names: Sequence[str]

    def own(self, region: Region) -> None:
        """Lets functions that are called in the region assign the names, as ``nonlocal`` allows."""
        for cell in getattr(self.get, "__closure__", None) or ():
            region.journal.own(cell)


@dataclass
class _Slot:
    """One leaf of a name's value: carried as a tensor if it has a type, else the same object in every iteration.

    Attributes:
      leaf: what it is before the loop.
      type: of the tensor.
      kinds: the Python types that it may have, if it is a number in every iteration.
      count: between which ints it lies, if it is an int.
      follows: whether Python computes what it is in each iteration, as far as is known.
      values: what it is in each iteration then, and after the last one; None where that is not known yet.
      start: its course in the iteration that is traced.
      after: what that iteration leaves in it: a course, or a number.
      fills: whether it is a number that stands for a tensor which holds it everywhere.
      expected: whether it is carried because that is likely, and no trial has shown yet that an iteration changes it.
    """

    leaf: Any
    type: TensorType | None
    kinds: Kinds | None
    count: Count | None
    follows: bool = False
    values: list[Any] | None = None
    start: Course | None = None
    after: Any = None
    fills: bool = False
    expected: bool = False

    @classmethod
    def of(cls, leaf: Any) -> _Slot:
        return cls(leaf, _entry_type(leaf), kinds_of(leaf), Count.of(leaf))

    def become(self, other: _Slot) -> None:
        """Takes the place of a slot of which it is known now what it carries."""
        self.leaf, self.type, self.kinds, self.count = other.leaf, other.type, other.kinds, other.count
        self.follows, self.values = other.follows, other.values

    def before(self, trace: Trace) -> Any:
        """Returns what it is before the loop, of the shape that it has in the loop."""
        return filled(trace, self.leaf, self.type) if self.fills and self.type is not None else self.leaf

    def expect(self) -> None:
        """Carries a number before an iteration has changed it."""
        if self.type is None and self.kinds is not None and len(self.kinds) == 1:
            (kind,) = self.kinds
            self.type, self.expected = leaf_type(kind(0)), True
        if self.type is not None and self.count is not None:
            self.count.expect_any()

    def begin(self, courses: Courses | None) -> None:
        """Sets what it is at the start of an iteration that is about to be traced, if Python computes it."""
        known = None if self.values is None else self.values[:-1]
        self.start = courses.start(self.leaf, known) if courses is not None and self.follows else None
        self.after = None

    def number(self, *, after: bool) -> Any:
        """Returns what no tensor is carried for, as :meth:`joined`."""
        if self.start is None:
            return self.leaf
        if not after:
            return CourseNumber(self.start)
        assert self.values is not None
        return self.values[-1]

    def joined(self, tensor: Any, *, after: bool) -> Any:
        """Returns the value of a tensor that is carried, at the start of an iteration or after the loop."""
        if self.count is None:
            return joined(tensor, self.kinds)
        return joined(tensor, self.kinds, self.count.after if after else self.count.at_start)


@dataclass
class _Entry:
    """One name: its value before the loop, as slots, and what replaces it after the loop.

    A container inside the value that every iteration leaves where it is stays the object that it is, since other names
    may hold it too; what is changed in it is a place of its own. Those that it is not known of yet that an iteration
    puts others in their place are ``same``. A ``jump`` is a name of ours that says whether the loop was left, which it
    was not where an iteration begins; it is taken for a tensor from the start, since it mostly becomes one. The items
    of a ``packed`` list are carried as the rows of one tensor, as an iteration leaves them; None says that one did not.
    """

    name: str
    value: Any
    structure: nest.Structure
    slots: list[_Slot]
    same: frozenset[int] = frozenset()
    after: Any = None
    replaced: bool = False
    bound: Any = None
    frozen: bool = False
    last: Any = None
    remade: bool = False
    original: Any = None
    mixed: bool = False
    contents: bool = False
    list: ListState | None = None
    jump: bool = False
    packed: bool | None = False

    @classmethod
    def of(cls, name: str, value: Any) -> _Entry:
        entry = cls(name, value, nest.LEAF, [], _inner_containers(value))
        entry.start_at(value)
        return entry

    def start_at(self, value: Any) -> None:
        """Sets what the name holds before the loop."""
        leaves, self.structure = nest.flatten(value, self.same)
        self.value, self.slots = value, list(map(_Slot.of, leaves))

    def keeps(self, value: Any) -> bool:
        """Tells if an iteration that leaves the name with this value leaves the containers in it that should stay."""
        kept = self.same & nest.shared(self.value, value) if self.same else self.same
        if kept == self.same:
            return True
        self.same = kept
        self.start_at(self.value)
        return False

    def sources(self, runs: bool) -> list[Any] | None:
        """Returns what the name's value after the loop may be."""
        if self.frozen:
            return None
        return [self.last] if runs else [self.value, self.last]

    @property
    def is_new(self) -> bool:
        """True if the name holds another object in each iteration; a list or dict may be one for all its leaves."""
        return self.carried or self.remade or any(slot.follows for slot in self.slots)

    @property
    def carried(self) -> bool:
        return any(slot.type is not None for slot in self.slots)

    def replace(self, after: Any) -> bool:
        self.after, self.replaced = after, True
        return True

    def held_in(self, cell: Cell) -> Any:
        """Returns what the cell holds that it is about, at the end of an iteration."""
        return held(cell, cell.get() if self.list is None else self.list.at_end(cell.get()))

    def types(self) -> list[TensorType]:
        """Returns the types of the tensors that are carried for it."""
        types = [slot.type for slot in self.slots if slot.type is not None]
        return [TensorType((len(types), *types[0].shape), types[0].dtype)] if self.packed else types

    def tensors(self, trace: Trace, leaves: Sequence[Any]) -> list[SymbolicTensor]:
        """Returns the tensors that are carried for some leaves, in the trace that is open."""
        found = to_tensors(trace, leaves, [slot.type for slot in self.slots])
        return [FUNCTIONS["stack"](found)] if self.packed else found

    def rows(self, supply: Iterator[Any], *, after: bool) -> Iterator[Any]:
        """Returns the leaves that are tensors, of what is carried for it at the start of an iteration or after all."""
        if not self.packed:
            return supply
        whole, places = next(supply), range(len(self.slots))
        if after:
            return iter([whole[place] for place in places])
        return iter([whole.trace.apply(OPS["get_item"], (whole,), Attrs(index=(place,)))[0] for place in places])

    def settle_packing(self, leaves: Sequence[Any]) -> bool:
        """Decides by what an iteration leaves in a list how it is carried; False if that is another way than it was."""
        types = {slot.type for slot in self.slots}
        common = next(iter(types)) if len(types) == 1 and type(self.value) in (list, tuple) else None
        fits = common is not None and not common.weak and len(self.slots) >= FEWEST
        fits = fits and self.structure.children == (nest.LEAF,) * len(self.slots) and rows_of(leaves) is not None
        if self.packed is None or bool(self.packed) == fits:
            return True
        self.packed = None if self.packed else True
        return False


def _inner_containers(value: Any) -> frozenset[int]:
    """Returns the identities of the containers inside a value that can be changed."""
    found: set[int] = set()

    def walk(part: Any) -> None:
        for item in (nest.children(part) or ((), ()))[1]:
            if nest.is_mutable(item):
                found.add(id(item))
            walk(item)

    walk(value)
    return frozenset(found)


def _entry_type(leaf: Any) -> TensorType | None:
    """Returns the type of a leaf that is carried from the start: a tensor, but not the index of a loop around this one.

    An array of NumPy's is carried once an iteration puts another value in its place. Until then it is the array itself,
    so that code that changes it in place (``a += 1``, ``a[0] = 1``, a view of it) is seen, and needs Python: other
    names may hold the array too.
    """
    own = isinstance(leaf, LoopIndex | CourseNumber | np.ndarray)
    return leaf_type(leaf) if is_tensor(leaf) and not own else None


class LoopState:
    """The values of a loop's names at the start of an iteration.

    Tensors are carried from the start. A number is carried once an iteration turns it into a tensor or, in a loop
    whose trip count is not known, changes it. :meth:`settle` finds out after a trial iteration.

    What an iteration changes in Python objects (an attribute, the contents of a list, the items of a tensor) is found
    out by then too, and is carried as a name is.

    Args:
      variables: the names.
      trace: the trace around the loop.
      runs: whether the loop runs at least once, so that what its body binds is bound after it.
      max_trips: how often it runs at most; None if that is not known.
      jumps: whether it ends as soon as one of its names says that it is left.
      follows: whether numbers that do not depend on tensors are taken for such as Python computes for all iterations.
      expects: whether numbers are carried from the start, since the body assigns them and nobody knows how often.
    """

    def __init__(
        self,
        variables: LoopVariables,
        trace: Trace,
        runs: bool,
        max_trips: int | None = None,
        *,
        jumps: bool = False,
        follows: bool = False,
        expects: bool = False,
    ) -> None:
        self._variables = variables
        self._trace = trace
        self._runs = runs
        self._max_trips = max_trips
        self._tapes = context.tapes
        self._places: list[Cell] = []
        self._discoveries = 0
        self._courses: Courses | None = None
        self._follows = follows
        self._entries = [_Entry.of(name, value) for name, value in zip(variables.names, variables.get(), strict=True)]
        for entry in self._entries if jumps else ():
            if is_flag(entry.name) and not entry.name.startswith(CONTINUE) and entry.value is False:
                entry.jump = True
                entry.slots[0].type, entry.slots[0].count = leaf_type(False), None
        for entry in self._entries:
            self._follow(entry)
            if expects and entry.structure == nest.LEAF and not entry.jump:
                entry.slots[0].expect()

    def _follow(self, entry: _Entry) -> None:
        """Takes a number for one that changes, in the first trial already."""
        if self._follows and entry.structure == nest.LEAF and plain_kind(entry.value) in (int, float):
            entry.slots[0].follows = True

    def own(self, region: Region) -> None:
        """As :meth:`LoopVariables.own`."""
        self._variables.own(region)

    def types(self) -> list[TensorType]:
        """Returns the types of the carried leaves, in order."""
        return [type for entry in self._entries for type in entry.types()]

    def titles(self) -> list[str]:
        """Returns what the carried leaves are part of, in order."""
        return [entry.name for entry in self._entries for _ in entry.types()]

    def initial(self) -> list[SymbolicTensor]:
        """Returns the carried leaves before the loop."""
        return [
            tensor
            for entry in self._entries
            if entry.carried
            for tensor in entry.tensors(self._trace, [slot.before(self._trace) for slot in entry.slots])
        ]

    def check_starts(
        self, region: Region, carried: Sequence[SymbolicTensor], results: Sequence[SymbolicTensor]
    ) -> None:
        """Gives up an attempt that takes numbers for tensors which are not what these would be.

        Args:
          region: the iteration.
          carried: the tensors that it is given.
          results: those that it gives.
        """
        supply, outputs = iter(carried), {result.raw for result in results}
        for entry in self._entries:
            given = [next(supply) for _ in entry.types()]
            slots = [slot for slot in entry.slots if slot.type is not None]
            for slot, tensor in zip(slots, given * len(slots) if entry.packed else given, strict=True):
                if slot.fills and not is_as_of_number(region, tensor.raw, slot.leaf, outputs):
                    region.abort("a number becomes a tensor in its first iteration", unsettled=True)

    def bind(self, tensors: Sequence[Any], *, iteration: bool = False, courses: Courses | None = None) -> None:
        """Binds the names for an iteration or a test, the carried leaves to ``tensors``.

        Args:
          tensors: one for each leaf that is carried.
          iteration: whether it is an iteration of a loop that has not been left.
          courses: the numbers that Python computes for all iterations; None where it does not.
        """
        self._courses = courses
        for entry in self._entries:
            for slot in entry.slots:
                slot.begin(courses)
        supply = iter([tensor.snapshot() for tensor in tensors])  # code may assign to items of what it is given
        values: list[Any] = [self._bound(entry, supply, after=False) for entry in self._entries]
        if iteration:  # the loop has not been left
            values = [False if entry.jump else value for entry, value in zip(self._entries, values, strict=True)]
        count = len(values) - len(self._places)
        self._variables.set(tuple(values[:count]))
        for entry, value in zip(self._entries, values, strict=True):
            entry.bound = value
            if entry.carried or entry.remade:
                note_aliases(self._trace, entry.name, value, [entry.value], held=_HELD, shared=entry.same)
            if entry.list is not None:
                entry.list.bind(value)
        pairs = zip(self._entries, values, strict=True)
        values = [
            value if entry.list is None else entry.list.counted(value, courses, whole=not iteration)
            for entry, value in pairs
        ]
        if self._places and (tensors or courses is not None):
            region = tensors[0].trace if courses is None else courses.region
            region.bound = list(zip(self._places, values[count:], strict=True))

    def _values(self) -> tuple[Any, ...]:
        """Returns what the names and the places hold."""
        places = zip(self._places, self._entries[self._num_names :], strict=True)
        return (*self._variables.get(), *(settled(entry.held_in(cell)) for cell, entry in places))

    @staticmethod
    def _bound(entry: _Entry, supply: Any, *, after: bool) -> Any:
        if not entry.is_new:
            return entry.value
        rows = entry.rows(supply, after=after)
        leaves = [
            slot.number(after=after) if slot.type is None else slot.joined(next(rows), after=after)
            for slot in entry.slots
        ]
        return nest.unflatten(entry.structure, leaves)

    def restore(self) -> None:
        """Binds the names to what they held before the loop."""
        entries = self._entries[: self._num_names]
        self._variables.set(tuple([entry.original if entry.mixed else entry.value for entry in entries]))

    @property
    def _num_names(self) -> int:
        return len(self._entries) - len(self._places)

    def settle(self, region: Region) -> bool:
        """Compares the names after a trial iteration with their start.

        Returns:
          Whether what is carried fits; if not, it has been widened, and the body must be traced again.

        Raises:
          RegionAborted: a Python number changes, and the region is an attempt to roll the loop.
          InvalidArgumentError: a shape or structure changes.
          InvalidTypeError: a dtype changes.
          UnimplementedError: a Python value changes that is no number.
        """
        for cell, entry in zip(self._places, self._entries[self._num_names :], strict=True):
            if isinstance(cell.owner, list) and not self._settle_list(cell, entry):
                return False
        values = self._values()
        if not self._mix(values, region):
            return False
        values = self._alike(values, region)
        fits = [self._settle_entry(entry, value, region) for entry, value in zip(self._entries, values, strict=True)]
        self._check_changed(values, region)
        done = self._settle_places(region) and all(fits) and self._settle_counts(values)
        return done and self._settle_courses(region)

    def _settle_courses(self, region: Region) -> bool:
        """Computes what the numbers are in each iteration; False if the body must be traced again to make use of it."""
        slots = [(slot, slot.start) for entry in self._entries for slot in entry.slots if slot.start is not None]
        courses = self._courses
        if courses is None or not slots:
            return True
        new = {start: slot.after for slot, start in slots if slot.values is None}
        for (slot, start), last in zip([pair for pair in slots if pair[1] in new], courses.follow(new), strict=True):
            slot.values = [*(start.values or ()), last]
        for slot, _ in slots:
            found = slot.after.values if isinstance(slot.after, Course) else [slot.after] * len(courses.order)
            assert slot.values is not None
            assert found is not None
            if list(map(repr, found)) != list(map(repr, slot.values[1:])):
                region.abort("what the body makes of a Python number depends on what the number is")
        if not courses.asked:
            courses.check()
        return not courses.asked

    def _settle_counts(self, values: Sequence[Any]) -> bool:
        """Returns True if what is known of the bounds of ints held for what the trial made of them."""
        slots: list[tuple[_Slot, Any]] = []
        for entry, value in zip(self._entries, values, strict=True):
            slots += zip(entry.slots, nest.flatten(value, entry.same)[0], strict=False)
        counts = [(slot.count, span_of(leaf)) for slot, leaf in slots if slot.type is not None]
        return settle_counts(counts, self._max_trips)

    def _mix(self, values: Sequence[Any], region: Region) -> bool:
        """Tells if the names hold one of several values from the start that in the end do, or can meet only so."""
        done = True
        for entry, value in zip(self._entries, values, strict=True):
            if not (region.attempt is None or holds_choice(value) or holds_choice(entry.value)):
                continue
            start, _ = self._both(entry, value, region)
            if start is not entry.value:
                if not entry.mixed:
                    entry.original, entry.mixed = entry.value, True
                entry.start_at(start)
                done = False
        return done

    def _alike(self, values: Sequence[Any], region: Region) -> list[Any]:
        """Returns what the names hold after an iteration, in the form that it has at the start."""
        pairs = zip(self._entries, values, strict=True)
        return [self._both(entry, value, region)[1] if holds_choice(entry.value) else value for entry, value in pairs]

    def _both(self, entry: _Entry, value: Any, region: Region) -> tuple[Any, Any]:
        traces = self._trace, region
        return as_choices(entry.value, value, traces, growing=True, contents=entry.contents)

    def _check_changed(self, values: Sequence[Any], region: Region) -> None:
        """Refuses a change of an object that another name, too, holds at the end of an iteration."""
        aliases = self._trace.root.aliases
        values = [_without_courses(value) for value in values]
        after = [nest.flatten(value, entry.same)[0] for entry, value in zip(self._entries, values, strict=True)]
        tensors = Counter(id(leaf) for leaves in after for leaf in leaves)
        for entry, value, leaves in zip(self._entries, values, after, strict=True):
            entry.frozen = any(map(aliases.is_frozen, leaves))
            entry.last = value
            for bound, leaf in zip(nest.flatten(entry.bound, entry.same)[0], leaves, strict=False):
                if not isinstance(leaf, SymbolicTensor):
                    continue
                alias = aliases.get(bound)
                written = region.journal.writes.get(TensorCell(leaf).key)
                shared = tensors[id(leaf)] > 1 or aliases.is_frozen(leaf) or leaf.trace is not region
                if written is not None and leaf is not bound:
                    # The next iteration would change what the name holds from this one on.
                    alias = Alias(leaf, entry.name, None)
                elif alias is None or not alias.changed or not shared:
                    continue
                raise self._trace.refuse(alias.error("the assignment to items of a tensor"))

    def _settle_list(self, cell: Cell, entry: _Entry) -> bool:
        """Returns True if a list is carried that has as much room as it needs."""
        if entry.list is None and growing(entry.value) is None and not changes_length(entry.value, cell.get()):
            return True
        if entry.list is None:
            entry.list = ListState(self._trace, cell.what, entry.value, self._max_trips, self._tapes)
            if growing(entry.value) is not None:
                if entry.list.value is not entry.value:
                    entry.start_at(entry.list.value)
                return False  # what a trial puts in is counted from its start
        if entry.list.settle(cell.get()):
            return True
        entry.start_at(entry.list.value)
        return False

    def _settle_places(self, region: Region) -> bool:
        """Returns True if all places that the iteration wrote are carried; those that were not will be."""
        known = {cell.key for cell in self._places}
        found = [written for key, written in region.journal.writes.items() if key not in known]
        for written in found:
            cell = written.cell
            self._places.append(cell)
            entry = _Entry.of(cell.title, held(cell, written.before))
            self._follow(entry)
            entry.contents = isinstance(cell, ContentsCell)
            self._entries.append(entry)
            if isinstance(cell.owner, list):
                self._settle_list(cell, entry)  # so that the next trial knows already that it grows
        self._discoveries += bool(found)
        if self._discoveries > _MAX_DISCOVERIES:
            error = UnimplementedError(
                f"{found[0].cell.what} changes an object that the loop's body makes anew in each iteration, in a way "
                "that cannot be followed; make the object before the loop"
            )
            raise self._trace.refuse(at(error, found[0].location))
        return not found

    def _settle_entry(self, entry: _Entry, value: Any, region: Region) -> bool:
        entry.replaced = False  # by an earlier trial, in which another name may still have been a number
        if not entry.keeps(value):
            return False
        if entry.jump and value is False:  # no jump depends on tensors
            entry.jump = False
            entry.start_at(False)
            return False
        leaves, structure = nest.flatten(value, entry.same)
        unbound = None if is_bound(entry.value) else entry.value
        if unbound is not None and not entry.is_new:
            return self._settle_unbound(entry, unbound, value, region)
        if unbound is None and not is_bound(value):
            raise self._trace.refuse(
                UndefinedNameError(
                    f"name {entry.name!r} is bound before the loop, but after an iteration {value.reason}; bind it on "
                    "every way through the loop's body"
                )
            )
        join = self._join(region, entry.name)
        join.structures(entry.name, (entry.value, value), (entry.structure, structure))
        starts = nest.flatten(entry.bound, entry.same)[0]
        fits = [
            self._settle_slot(entry.name, slot, start, leaf, region)
            for slot, start, leaf in zip(entry.slots, starts, leaves, strict=True)
        ]
        if not entry.is_new and not interchangeable(entry.value, value):
            entry.remade = True
            return False
        return all(fits) and entry.settle_packing(leaves)

    def _settle_unbound(self, entry: _Entry, unbound: Unbound, value: Any, region: Region) -> bool:
        """Returns a name that was not bound before the loop."""
        if not is_bound(value):
            return True
        if not self._runs and not unbound.filler:
            return entry.replace(Unbound(entry.name, "it is bound only inside a loop that may run zero times"))
        leaves, structure = nest.flatten(value)
        if any(isinstance(leaf, LoopIndex) for leaf in leaves):
            _number_changes(region, entry.name)
        for leaf in leaves:
            if region.journal.owns(leaf):
                # Each iteration makes an object of its own; what a trace of the body made is none of them.
                region.side_effect(f"the use of {entry.name!r}, a {type(leaf).__name__} made in a loop, after it")
        if not any(is_tensor(leaf) for leaf in leaves):
            return entry.replace(value)
        # It is bound from the first iteration on, and nobody looks before; zeros stand for it until then.
        entry.structure = structure
        entry.slots = [_zeros_slot(leaf) for leaf in leaves]
        return False

    def _settle_slot(self, name: str, slot: _Slot, bound: Any, after: Any, region: Region) -> bool:
        if slot.type is None and slot.start is None and same(slot.leaf, after):
            return True
        if slot.type is None and is_filler(slot.leaf) and is_tensor(after):
            slot.become(_zeros_slot(after))  # a part that every iteration puts there; zeros stand for it before
            return False
        if self._courses is not None and plain_kind(slot.leaf) is not None and slot.type is None:
            course = course_in(after)
            if (course is not None and course.loop is self._courses) or plain_kind(after) is not None:
                slot.after = after if course is None else course
                known, slot.follows = slot.start is not None, True
                return known
        if slot.expected:
            slot.expected = False
            if after is bound or same(slot.leaf, after):
                slot.type, slot.count = None, Count.of(slot.leaf)
                return False
        slot.follows = False
        if region.attempt is not None and slot.type is None and (filling := common_type(slot.leaf, after)) is not None:
            slot.type, slot.kinds, slot.count, slot.fills = filling, None, None, True
            return False
        numbers = is_number(slot.leaf) or isinstance(slot.leaf, CourseNumber)
        if isinstance(after, LoopIndex | CourseNumber) or (numbers and is_number(after)):
            _number_changes(region, name)
        type = self._join(region, name).leaf(name, (slot.leaf, after), slot.type)
        after_kinds = kinds_of(after)
        kinds = None if slot.kinds is None or after_kinds is None else slot.kinds | after_kinds
        fits = (type, kinds) == (slot.type, slot.kinds)
        if slot.type is None and slot.count is not None:
            slot.count.expect(span_of(after), self._max_trips)
        slot.type, slot.kinds = type, kinds
        return fits

    def _join(self, region: Region, name: str) -> Join:
        def refuse(error: GraphcError) -> GraphcError:
            region.abort(str(error), unsettled=True)
            return self._trace.refuse(named_by_user(error, [cell for cell in self._places if cell.title == name]))

        return Join(("before the loop", "after an iteration"), refuse)

    def results(self, region: Region) -> list[SymbolicTensor]:
        """Returns the carried leaves after an iteration."""
        return [
            tensor
            for entry, value in zip(self._entries, self._alike(self._values(), region), strict=True)
            if entry.carried
            for tensor in entry.tensors(region, nest.flatten(value, entry.same)[0])
        ]

    def leave(self, tensors: Sequence[Any], trips: int | None = None, *, done: SymbolicTensor | None = None) -> None:
        """Binds the names after the loop.

        Args:
          tensors: the carried leaves.
          trips: how often the loop runs, if that is known.
          done: how often it ran, where it may stop early.
        """
        for slot in [slot for entry in self._entries for slot in entry.slots if slot.start is not None]:
            if done is not None and slot.values is not None and len(set(map(repr, slot.values))) > 1:
                slot.values = [*slot.values, number_after(self._trace, slot.values, done)]
        supply = iter(tensors)
        values: list[Any] = []
        for entry in self._entries:
            value = self._bound(entry, supply, after=True)
            if entry.replaced:
                value = entry.after
            elif entry.list is not None:
                value = entry.list.leave(value, trips)
            elif entry.is_new:
                note_aliases(self._trace, entry.name, value, entry.sources(self._runs), shared=entry.same)
            values.append(value)
        self._variables.set(tuple(values[: self._num_names]))
        for cell, value in zip(self._places, values[self._num_names :], strict=True):
            write(cell, value)


_HELD = 2
"""How many references to a tensor before the loop an entry and its slot hold."""

_MAX_DISCOVERIES = 10
"""A body whose trials find new places more often than this changes objects that it makes itself."""


def _without_courses(value: Any) -> Any:
    """Returns a value with other numbers in the place of those that have a course."""
    leaves, structure = nest.flatten(value)
    if not any(isinstance(leaf, CourseNumber) for leaf in leaves):
        return value
    plain = [leaf.course.first if isinstance(leaf, CourseNumber) else leaf for leaf in leaves]
    return nest.unflatten(structure, plain)


def _zeros_slot(leaf: Any) -> _Slot:
    if not is_tensor(leaf):
        return _Slot(leaf, None, kinds_of(leaf), None)
    if isinstance(leaf, CourseNumber):
        return _Slot(leaf.kind(0), None, kinds_of(leaf), None, follows=True)
    type = leaf_type(leaf)
    zero = np.zeros(type.shape, type.dtype)
    return _Slot(zero.item() if type.weak else zero, type, kinds_of(leaf), Count.of_new(leaf))


def _number_changes(region: Region, name: str) -> None:
    """A Python number changes from one iteration to the next: an attempt to roll the loop ends."""
    region.abort(f"the Python number {name!r} changes from one iteration to the next")
