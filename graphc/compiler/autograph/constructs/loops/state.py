"""What the names of a loop hold from one iteration to the next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from graphc.compiler.autograph.constructs.loops.counts import settle_counts
from graphc.compiler.autograph.constructs.loops.loop_variable import LoopCell, LoopVariable
from graphc.compiler.autograph.constructs.loops.slots import LoopInfo, Trial
from graphc.compiler.autograph.constructs.storage.cells import describe_path, write
from graphc.compiler.autograph.frontend.lower_jumps import CONTINUE, is_flag
from graphc.compiler.autograph.values.course import HostSequence, HostSequences, PerIterationNumber
from graphc.compiler.autograph.values.index import LoopIndex, held_as_int
from graphc.compiler.autograph.values.join import leaf_type
from graphc.compiler.autograph.values.number import SymbolicNumber
from graphc.compiler.autograph.values.spans import ValueRange
from graphc.compiler.base import nest
from graphc.compiler.base.errors import GraphcError, UnimplementedError
from graphc.compiler.core import SymbolicTensor, Tensor, apply, trace_scope
from graphc.compiler.ir import OPS, Attrs, TensorType
from graphc.compiler.ops import AS_NUMBER
from graphc.compiler.tracing import Alias, Region, TensorCell, Trace, context

# Puts the numbers that Python computes for all iterations into a loop's program (see ``values.course``).


class TakenRows(HostSequences):
    """A scan takes one row of an array in each iteration, which holds the numbers."""

    def __init__(self, region: Region, counter: SymbolicTensor, order: range) -> None:
        super().__init__(region, order)
        self._counter = counter  # its input that is one of ``order`` in each iteration
        self._rows: dict[HostSequence, SymbolicTensor] = {}

    def take(self, course: HostSequence) -> SymbolicTensor:
        """Returns a row, or what the counter gives by arithmetic, which needs none."""
        progression = _progression(self._counter, course, self.region)
        if progression is not None:
            return progression
        argument = self._rows.get(course)
        if argument is None:
            argument = self._rows[course] = self.region.argument(_type(course), "row")
        return _as_number(argument, course)

    def arguments(self) -> list[SymbolicTensor]:
        """Returns the inputs of the body that are such numbers."""
        return list(self._rows.values())

    def arrays(self, trace: Trace) -> list[Tensor]:
        """Returns what the loop takes them of."""
        return [trace.constant(_array(course)) for course in self._rows]


class LookedUp(HostSequences):
    """A while looks the numbers up in tables; see :class:`TakenRows`."""

    def __init__(self, region: Region, position: SymbolicTensor, order: range) -> None:
        super().__init__(region, order)
        self._position = position

    def take(self, course: HostSequence) -> SymbolicTensor:
        """Returns an item of a table; where that is not known yet, anything: the body is traced once more."""
        region, values = self.region, course.values
        if values is None:
            self.asked = True
            return _as_number(region.argument(_type(course), "number"), course)
        index = LoopIndex(self._position.snapshot(), 0, len(values) - 1, region, None)
        with trace_scope(region):
            return _as_number(region.constant(_array(course))[index], course)


def _type(course: HostSequence) -> TensorType:
    return TensorType((), leaf_type(course.first).dtype)


def _array(course: HostSequence) -> np.ndarray[Any, Any]:
    values = course.row()
    assert values is not None
    with np.errstate(over="ignore"):  # Python's floats have 64 bits, of which 1e300 is inf in 32
        return values.astype(_type(course).dtype)


def _as_number(tensor: Any, course: HostSequence) -> SymbolicTensor:
    """Returns an element of a row with the weak type of Python's numbers."""
    if course.kind is bool:  # no number to promote: bools have no weak type
        return tensor
    return tensor.trace.apply(AS_NUMBER, (tensor,), Attrs(kind=course.kind.__name__))[0]


def _progression(counter: SymbolicTensor, course: HostSequence, region: Region) -> SymbolicTensor | None:
    """Returns a number that grows evenly as what the loop's counter makes of it; None if it does not."""
    values, order = course.values, course.loop.order
    if values is None or course.kind is not int or len(values) < 2:
        return None
    by, rest = divmod(values[1] - values[0], order.step)
    if rest or not by or any(value != values[0] + step * by * order.step for step, value in enumerate(values)):
        return None
    course.row()  # which 32 bits must hold
    offset = values[0] - by * order.start
    with trace_scope(region):
        number: Any = held_as_int(counter.snapshot())
        if by != 1:
            number = apply(OPS["multiply"], (number, by))
        return apply(OPS["add"], (number, offset)) if offset else number


def number_after(trace: Trace, values: Sequence[Any], done: SymbolicTensor) -> SymbolicNumber:
    """Returns a number after a loop of which it is not known when it stops."""
    kind = cast("type[Any]", type(values[0]))
    table = trace.constant(np.array(values, leaf_type(values[0]).dtype))
    # The span proves the index right, so that it is not checked at run time.
    number: Any = table[SymbolicNumber(done, int, span=ValueRange(0, len(values) - 1))]
    if kind is not bool:
        number = trace.apply(AS_NUMBER, (number,), Attrs(kind=kind.__name__))[0]
    return SymbolicNumber(number, kind, joined=True, span=ValueRange(min(values), max(values)) if kind is int else None)


@dataclass(frozen=True)
class LoopVariables:
    """The names that a loop carries, and how to get and set them in the user's function."""

    get: Callable[[], tuple[Any, ...]]
    set: Callable[[tuple[Any, ...]], None]
    names: Sequence[str]
    # Returns the values of other names, to whose items the body assigns.
    stored: Callable[[], tuple[Any, ...]] = field(default=tuple, kw_only=True)

    def tensors_stored(self) -> list[SymbolicTensor]:
        """Returns the tensors to whose items the body assigns, as far as its source tells."""
        try:
            values = self.stored()
        except NameError:
            return []  # one of the names is not bound yet
        return list({id(value): value for value in values if type(value) is SymbolicTensor}.values())

    def own(self, region: Region) -> None:
        """Lets functions that are called in the region assign the names, as ``nonlocal`` allows."""
        for cell in getattr(self.get, "__closure__", None) or ():
            region.journal.own(cell)


class LoopState:
    """The values of a loop's names at the start of an iteration."""

    # Tensors are carried from the start; a number once an iteration turns it into a tensor or, where the trip count is
    # not known, changes it; what it changes in Python objects, as names are. :meth:`settle` finds out after a trial
    # iteration.

    def __init__(
        self, variables: LoopVariables, trace: Trace, runs: bool, max_trips: int | None = None, *, jumps: bool = False,
        follows: bool = False, expects: bool = False,
    ) -> None:  # fmt: skip
        self._names = variables
        self._num_aliases = len(trace.root.aliases)
        self._loop = LoopInfo(trace, context.tapes, runs, max_trips, follows)
        self._discoveries = 0
        self._courses: HostSequences | None = None
        pairs = zip(variables.names, variables.get(), strict=True)
        self._variables = [LoopVariable(name, value, self._loop) for name, value in pairs]
        cells = map(TensorCell, variables.tensors_stored())
        self._cells = [LoopCell(cell, cell.get(), self._loop, likely=True) for cell in cells]
        for variable in self._variables:
            # A flag says that the loop is left; `continue` ends an iteration, not the loop.
            name = variable.name
            if jumps and is_flag(name) and not name.startswith(CONTINUE) and variable.value is False:
                variable.be_jump()
            if expects:
                variable.expect()

    @property
    def _all(self) -> list[LoopVariable]:
        return [*self._variables, *self._cells]

    def own(self, region: Region) -> None:
        """As :meth:`LoopVariables.own`."""
        self._names.own(region)

    def types(self) -> list[TensorType]:
        """Returns the types of the carried leaves, in order."""
        return [type for variable in self._all for type in variable.types()]

    def titles(self) -> list[str]:
        """Returns what the carried leaves are part of, in order."""
        return [variable.name for variable in self._all for _ in variable.types()]

    def initial(self) -> list[SymbolicTensor]:
        """Returns the carried leaves before the loop."""
        return [tensor for variable in self._all for tensor in variable.initial()]

    def check_starts(
        self, region: Region, carried: Sequence[SymbolicTensor], results: Sequence[SymbolicTensor]
    ) -> None:
        """Gives up an attempt that takes numbers for tensors which are not what these would be."""
        supply, outputs = iter(carried), {result.raw for result in results}
        for variable in self._all:
            variable.check_starts(region, supply, outputs)

    def bind(self, tensors: Sequence[Any], *, iteration: bool = False, courses: HostSequences | None = None) -> None:
        """Binds the names for an iteration or a test, the carried leaves to ``tensors``."""
        # iteration: whether it is an iteration of a loop that has not been left.
        self._courses = courses
        for variable in self._all:
            variable.begin(courses)
        supply = iter([tensor.snapshot() for tensor in tensors])  # code may assign to items of what it is given
        names = [variable.start(supply, stays=iteration) for variable in self._variables]
        cells = [cell.start(supply, stays=iteration) for cell in self._cells]
        self._names.set(tuple(names))
        for variable, value in zip(self._all, [*names, *cells], strict=True):
            variable.bind(value)
        pairs = list(zip(self._cells, cells, strict=True))
        counted = [(cell.cell, cell.counted(value, courses, whole=not iteration)) for cell, value in pairs]
        if counted and (tensors or courses is not None):
            region = tensors[0].trace if courses is None else courses.region
            region.bound = counted

    def restore(self) -> None:
        """Binds the names to what they held before the loop."""
        self._names.set(tuple([variable.original for variable in self._variables]))

    def _now(self, region: Region) -> list[tuple[LoopVariable, Any, Trial]]:
        """Returns what the names and the cells hold after a trial."""
        values = [*self._names.get(), *(cell.now() for cell in self._cells)]
        return [(one, value, self._trial(one.name, region)) for one, value in zip(self._all, values, strict=True)]

    def settle(self, region: Region) -> bool:
        """Compares the names after a trial iteration with their start."""
        # Returns whether what is carried fits; if not, it has been widened, and the body must be traced again.
        # Lists first: one that has grown has another structure than its start, which would be refused below.
        if not all(cell.settle_length() for cell in self._cells):
            return False
        current = self._now(region)
        # Lists where a generator would stop at the first misfit: each misfit would cost a trial of its own.
        mixed = [variable.mix(value, trial) for variable, value, trial in current]
        if not all(mixed):
            return False
        current = [(variable, variable.alike(value, trial), trial) for variable, value, trial in current]
        fits = [variable.settle(value, trial) for variable, value, trial in current]
        after = [(variable, value) for variable, value, _ in current]
        self._check_changed(after, region)
        if not self._settle_cells(region) or not all(fits):
            return False
        counts = [count for variable, value in after for count in variable.counts(value)]
        return settle_counts(counts, self._loop.max_trips) and self._settle_courses(region)

    def _trial(self, name: str, region: Region) -> Trial:
        def refuse(error: GraphcError) -> GraphcError:
            # Python may run one iteration by itself, after which shape and dtype may stay.
            region.abort(str(error), unsettled=True)
            cells = [cell.cell for cell in self._cells if cell.name == name]
            return self._loop.trace.refuse(describe_path(error, cells))

        return Trial(name, self._loop, region, self._courses, refuse)

    def _settle_cells(self, region: Region) -> bool:
        """Returns True if just the cells that the iteration wrote are carried; from the next on, just those are."""
        keys = {cell.cell.key for cell in self._cells}
        needed = [cell for cell in self._cells if cell.is_needed()]
        fits, self._cells = len(needed) == len(self._cells), needed
        written_cells = [written for key, written in region.journal.writes.items() if key not in keys]
        self._cells += [LoopCell(written.cell, written.before, self._loop) for written in written_cells]
        self._discoveries += bool(written_cells)
        if self._discoveries > _MAX_DISCOVERIES:
            error = UnimplementedError(
                f"{written_cells[0].cell.what} changes an object that the loop's body makes anew in each iteration, "
                "in a way that cannot be followed; make the object before the loop"
            )
            raise self._loop.trace.refuse(error.at(written_cells[0].location))
        return fits and not written_cells

    def _settle_courses(self, region: Region) -> bool:
        """Computes what the numbers are in each iteration; False if the body must be traced again to make use of it."""
        slots = [pair for variable in self._all for pair in variable.courses]
        courses = self._courses
        if courses is None or not slots:
            return True
        new = {start: slot.after for slot, start in slots if slot.values is None}
        for (slot, start), last in zip([pair for pair in slots if pair[1] in new], courses.follow(new), strict=True):
            slot.values = [*(start.values or ()), last]
        for slot, _ in slots:
            computed = slot.after.values if isinstance(slot.after, HostSequence) else [slot.after] * len(courses.order)
            assert slot.values is not None
            assert computed is not None
            # By repr: nan != nan, but 1 == 1.0 == True and 0.0 == -0.0.
            if list(map(repr, computed)) != list(map(repr, slot.values[1:])):
                region.abort("what the body makes of a Python number depends on what the number is")
        if not courses.asked:
            courses.check()
        return not courses.asked

    def _check_changed(self, after: Sequence[tuple[LoopVariable, Any]], region: Region) -> None:
        """Refuses a change of an object that another name, too, holds at the end of an iteration."""
        aliases = self._loop.trace.root.aliases
        plain = [(variable, _without_courses(value)) for variable, value in after]
        columns = [(variable, value, variable.leaves(value)) for variable, value in plain]
        tensors = Counter(id(leaf) for _, _, leaves in columns for leaf in leaves)
        for variable, value, leaves in columns:
            variable.frozen = any(map(aliases.is_frozen, leaves))
            variable.last = value
            for bound, leaf in zip(variable.leaves(variable.bound), leaves, strict=False):
                if not isinstance(leaf, SymbolicTensor):
                    continue
                alias = aliases.get(bound)
                written = region.journal.writes.get(TensorCell(leaf).key)
                shared = tensors[id(leaf)] > 1 or aliases.is_frozen(leaf) or leaf.trace is not region
                if written is not None and leaf is not bound:
                    # The next iteration would change what the name holds from this one on.
                    alias = Alias(leaf, variable.name, None)
                elif alias is None or not alias.changed or not shared:
                    continue
                raise self._loop.trace.refuse(alias.error("the assignment to items of a tensor"))

    def results(self, region: Region) -> list[SymbolicTensor]:
        """Returns the carried leaves after an iteration."""
        alike = [(variable, variable.alike(value, trial)) for variable, value, trial in self._now(region)]
        return [tensor for variable, value in alike for tensor in variable.results(region, value)]

    def leave(self, tensors: Sequence[Any], trips: int | None = None, *, done: SymbolicTensor | None = None) -> None:
        """Binds the names after the loop."""
        # done: how often it ran, where it may stop early.
        for slot, _ in [pair for variable in self._all for pair in variable.courses]:
            # A loop that may stop early has not always come to the last of the values.
            if done is not None and slot.values is not None and len(set(map(repr, slot.values))) > 1:
                slot.values = [*slot.values, number_after(self._loop.trace, slot.values, done)]
        supply = iter(tensors)
        values = [variable.leave(variable.end(supply), trips) for variable in self._all]
        for variable in self._all:
            variable.follow()
        self._loop.trace.root.aliases.release(self._num_aliases)
        count = len(self._variables)
        self._names.set(tuple(values[:count]))
        try:
            for cell, value in zip(self._cells, values[count:], strict=True):
                write(cell.cell, value)
        except BaseException:  # the write is refused, and the loop may be unrolled instead
            self.restore()
            raise


_MAX_DISCOVERIES = 10
"""A body whose trials find new cells more often than this changes objects that it makes itself."""


def _without_courses(value: Any) -> Any:
    """Returns a value with other numbers in the place of those that have a course."""
    leaves, structure = nest.flatten(value)
    if not any(isinstance(leaf, PerIterationNumber) for leaf in leaves):
        return value
    plain = [leaf.course.first if isinstance(leaf, PerIterationNumber) else leaf for leaf in leaves]
    return nest.unflatten(structure, plain)
