"""A list that a loop's body makes longer or shorter: how much room it needs, and what it is after the loop."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import jax
import numpy as np
from jax import lax as _lax

from graphc.compiler.autograph.values.course import HostSequences, PerIterationNumber
from graphc.compiler.autograph.values.growing_list import Growing, growing, grown, rows, samples
from graphc.compiler.autograph.values.join import is_number
from graphc.compiler.autograph.values.protocol import host_sequence_of
from graphc.compiler.base import has_mark, nest
from graphc.compiler.base.errors import InvalidArgumentError
from graphc.compiler.core import Recorder, SymbolicTensor, tape_scope, trace_scope
from graphc.compiler.ir import Graph, Node, Value
from graphc.compiler.ops import COND, SCAN, WHILE
from graphc.compiler.tracing import Trace, context, trace_of

# Numbers of a graph that depend on no tensor whose values are unknown, so that they can be told before it runs.
#
# ``for step in range(60): ... if step >= 40: kept.append(x)`` is traced once for all steps, and that trace cannot tell
# whether the list grows. After the loop one can: how many items there are was computed of constants alone.

lax: Any = _lax  # its functions are only partly annotated
Given = Callable[[Value], Any]


def known_numbers(tensor: Any) -> int | None:
    """The value of an integer scalar of the graph that is being traced; None where it depends on what tensors hold."""
    # Loops and branches are followed as far as the number needs them.
    if not isinstance(tensor, SymbolicTensor):
        return int(tensor)
    try:
        return int(_in_trace(trace_of(tensor), tensor.raw))
    except _Unknown:
        return None


class _Unknown(Exception):
    """A number depends on what tensors hold."""


def _in_trace(trace: Trace, value: Value) -> Any:
    """Returns a scalar of a trace that is not finished yet."""
    outer = {argument.raw: captured for captured, argument in trace.captures.values()}
    scalars: dict[Value, Any] = {}
    for needed in _inputs_of([value]):
        captured = outer.get(needed)
        if not isinstance(captured, SymbolicTensor):
            raise _Unknown
        scalars[needed] = _in_trace(trace_of(captured), captured.raw)
    return _values([value], scalars.__getitem__)[0]


# --- what a number is computed of


def _inputs_of(values: Iterable[Value]) -> list[Value]:
    """Returns the inputs of a graph that some of its scalars need."""
    seen: dict[Value, None] = {}
    waiting = list(values)
    while waiting:
        value = waiting.pop()
        if value in seen:
            continue
        if value.type.shape and not _is_table(value):
            raise _Unknown
        seen[value] = None
        if value.node is not None:
            waiting += _operands(value.node, value.index)
    return [value for value in seen if value.node is None]


def _is_table(value: Value) -> bool:
    """Returns True for an array whose values are known, as those that Python has computed for all iterations are."""
    return value.node is not None and value.node.op.name == "constant"


def _operands(node: Node, output: int) -> list[Value]:
    """Returns what one output of a node needs of the node's inputs."""
    if node.op is COND:
        positions = {position for graph in node.regions for position in _places(graph, [output])}
        return [node.inputs[0], *(node.inputs[1 + position] for position in positions)]
    if node.op in (SCAN, WHILE):
        loop = _Loop(node, output)
        return [node.inputs[output] for output in (*loop.carried, *loop.rows, *loop.invariant)]
    if node.regions or node.effects or len(node.outputs) > 1:
        raise _Unknown
    return list(node.inputs)


def _places(graph: Graph, outputs: Sequence[int]) -> list[int]:
    """Returns the places of the inputs that some outputs of a graph need."""
    needed = _inputs_of([graph.outputs[output] for output in outputs])
    return sorted(graph.inputs.index(value) for value in needed)


class _Loop:
    """The part of a loop that one of the values it carries needs."""

    def __init__(self, node: Node, index: int) -> None:
        num_carry = node.attrs["num_carry"]
        if index >= num_carry:
            raise _Unknown
        self.node = node  # a scan or a while
        self.body = node.regions[-1]
        self.offset = 1 if node.op is SCAN else 0  # the index comes first
        self.carried = [index]  # the places of the carried values among the node's inputs
        # How often a while runs decides about each of its results.
        test = [] if node.op is SCAN else _places(node.regions[0], [0])
        # To a fixpoint: a carried value that is needed may need others.
        while True:
            needed = {index - self.offset for index in _places(self.body, self.carried)} | set(test)
            needed.discard(-1)  # the index of a scan, which is no input of the node
            new = [index for index in sorted(needed) if index < num_carry and index not in self.carried]
            if not new:
                break
            self.carried += new
        others = sorted(index for index in needed if index >= num_carry)
        first = num_carry + node.attrs.get("num_xs", 0)
        # The places there of the tables of which each iteration takes a row.
        self.rows = [index for index in others if index < first]
        # The places there of what is the same in every iteration.
        self.invariant = [index for index in others if index >= first]

    def run(self, of: Given) -> Any:
        """Returns the first of the carried values after the loop."""
        node = self.node
        first = [node.inputs[position] for position in self.carried]
        start = tuple([jax.numpy.asarray(of(value), value.type.dtype) for value in first])
        fixed = [of(node.inputs[position]) for position in self.invariant]

        def part(graph: Graph, offset: int, outputs: Sequence[int], values: Sequence[Any], index: Any) -> list[Any]:
            bindings = dict(zip((*self.carried, *self.invariant), (*values, *fixed), strict=True))
            if offset:
                bindings.update(zip(self.rows, index[1:], strict=True))
            inputs = {graph.inputs[position + offset]: value for position, value in bindings.items()}
            if offset:
                inputs[graph.inputs[0]] = index[0]
            return _values([graph.outputs[position] for position in outputs], inputs.__getitem__)

        def going_on(values: Any) -> Any:
            return part(node.regions[0], 0, [0], values, None)[0]

        def step(values: Any, index: Any = None) -> Any:
            return tuple(part(self.body, self.offset, self.carried, values, index))

        if node.op is WHILE:
            return lax.while_loop(going_on, step, start)[0]
        attrs = node.attrs
        order = attrs.get("start", 0) + attrs.get("step", 1) * np.arange(attrs["length"], dtype=np.int32)

        def iteration(values: Any, index: Any) -> Any:
            return step(values, index), None

        xs = (order, *[of(node.inputs[position]) for position in self.rows])
        return lax.scan(iteration, start, xs, reverse=attrs.get("reverse", False))[0][0]


# --- its value


def _values(wanted: Sequence[Value], source: Given) -> list[Any]:
    """Scalars of a graph, of which :func:`_inputs_of` has said that nothing unknown is needed."""
    computed: dict[Value, Any] = {}

    def of(value: Value) -> Any:
        if value not in computed:
            computed[value] = source(value) if value.node is None else _output(value.node, value.index, of)
        return computed[value]

    return [jax.numpy.asarray(of(value), value.type.dtype) for value in wanted]


def _output(node: Node, output: int, of: Given) -> Any:
    if node.op in (SCAN, WHILE):
        return _Loop(node, output).run(of)
    if node.op is not COND:
        return node.op.impl(*map(of, node.inputs), **node.attrs)

    def side(graph: Graph) -> Callable[[], Any]:
        inputs = {graph.inputs[operand]: of(node.inputs[1 + operand]) for operand in _places(graph, [output])}
        return lambda: _values([graph.outputs[output]], inputs.__getitem__)[0]

    return lax.cond(of(node.inputs[0]), *map(side, node.regions))


_MAX_ROWS = 10_000
"""A list of more items than this stays one buffer after a loop: each item would be a node."""


def settled(value: Any) -> Any:
    """Returns a list's contents at the end of an iteration, with nothing added."""
    contents = growing(value)
    return value if contents is None else [contents.settled()]


def changes_length(before: list[Any], after: list[Any]) -> bool:
    """Tells if an iteration leaves a list longer or shorter than it was, or of a length known at run time only."""
    return len(before) != len(after) or growing(after) is not None


def _is_number(leaf: Any) -> bool:
    return is_number(leaf) or host_sequence_of(leaf) is not None or has_mark(leaf, "__graphc_index__")


def _is_told(number: Any) -> bool:
    """Returns True if Python can tell what a number is in each iteration of a loop."""
    return is_number(number) or host_sequence_of(number) is not None


def _in_iteration(number: Any, trip: int) -> Any:
    course = host_sequence_of(number)
    values = None if course is None else course.values
    return number if values is None else values[trip]


class ListState:
    """One list, while a loop is traced."""

    # Where each iteration puts in as many items as the others, each knows their number (see values.course), so that no
    # index of the list needs a check. What of the items is a number with a course stays one after the loop.

    def __init__(
        self, trace: Trace, title: str, items: list[Any], max_trips: int | None, tapes: tuple[Recorder, ...]
    ) -> None:
        self.value = items  # what it holds before the loop, with room for what the loop puts in
        self._trace = trace
        self._title = title
        self._max_trips = max_trips  # how often the loop runs at most; None if that is not known
        self._before = growing(items)
        self._items = None if self._before is not None else items
        self._entered = self._before
        if self._before is not None and host_sequence_of(self._before.count) is not None:
            # The number of items is known in each iteration of the loop around this one, not of this one.
            count = SymbolicTensor(self._before.count.raw, trace)
            self._before = replace(self._before, count=count)
        if self._before is not None:
            # What the iteration of the loop around this one has added so far is the same in all iterations of this one.
            with trace_scope(trace), tape_scope(tapes):
                self._before = self._before.settled()
            self.value = [self._before]
        self._put: int | None = None
        self._known: Growing | None = None
        self._whole = False
        self._log: list[list[Any]] = []
        self._numbers: set[int] = set()
        self._per_trip = 0
        self._growth: int | None = None
        self._bound: Growing | None = None
        self._appended = self._appended_before = 0
        self._tapes = tapes  # those that are open around the loop, which see how the buffer is made of the items

    def bind(self, value: list[Any]) -> None:
        """Takes note of what the list holds at the start of an iteration that is about to be traced."""
        self._bound = growing(value)
        if self._bound is not None:
            body = nest.flatten(self._bound.buffer)[0][0].trace
            if body is not self._trace:
                self._bound.appends.bodies.add(body)
            self._appended = self._bound.appends.count
            if self._items is not None:
                self._bound.appends.log = []
            if self._items is None and not self._appended_before:
                self._appended_before = self._appended

    def counted(self, value: list[Any], courses: HostSequences | None, *, whole: bool) -> list[Any]:
        """Returns what the list holds at the start of an iteration, with a length that is known if that is likely."""
        # whole: whether the loop runs all iterations, so that its length needs not be carried.
        self._known, self._whole = None, whole
        if self._bound is not None and self._put and self._items is not None and courses is not None:
            lengths = [len(self._items) + self._put * trip for trip in range(len(courses.order))]
            self._known = replace(self._bound, count=PerIterationNumber(courses.start(lengths[0], lengths)))
            return [self._known]
        return value

    def at_end(self, after: list[Any]) -> list[Any]:
        """Returns what an iteration leaves in the list, with the length that the loop carries."""
        contents = growing(after)
        if contents is not None and self._known is not None and contents.count is self._known.count:
            assert self._bound is not None
            return [replace(contents, count=self._bound.count, added=0 if self._whole else contents.added)]
        return after

    def settle(self, after: list[Any]) -> bool:
        """Looks at the list after a trial iteration; False if it needs more room, and the body another trial."""
        contents = growing(after)
        if self._bound is None:
            assert self._items is not None
            self._put = len(after) - len(self._items) if contents is None else contents.added
            # A tensor where a branch decides how many items an iteration puts in.
            self._put = self._put if type(self._put) is int and self._put > 0 else None
            self._check_kinds(after[len(self._items) :] if contents is None else samples(after))
            longer = (len(after) if contents is None else contents.capacity) - len(self._items)
            self._make_room(max(longer, 1), samples(after))
            return False
        if contents is None:
            self._bound.fail()
        same = (
            type(contents.added) is int and contents.added == self._put
        )  # not where a tensor decides what is taken out
        if self._known is not None and not (same and contents.count is self._known.count):
            self._put = None  # as branches put items in, or take some out
            return False
        appended = contents.appends.count - self._appended
        if appended > self._per_trip:
            if self._items is not None:
                self._make_room(appended, samples(after))
                return False
            self._per_trip = appended
            trips = self._check_bound()
            if self._before is not None and not contents.appends.are_awaited(self._trace):
                with trace_scope(self._trace), tape_scope(self._tapes):
                    self.value = [self._before.with_room(trips * appended)]
                return False
        same = self._known is not None or contents.count.raw is self._bound.count.raw
        self._growth = contents.added if same and isinstance(contents.added, int) else None
        if self._numbers:
            self._take_log(contents)
        return True

    def _check_kinds(self, items: list[Any]) -> None:
        """Gives up an attempt to roll the loop where Python numbers are put into the list that no course tells."""
        columns = [nest.flatten(item)[0] for item in items]
        numbers = {column for leaves in columns for column, leaf in enumerate(leaves) if _is_number(leaf)}
        trace = context.trace
        if not numbers or trace is None:
            return
        predicted = all(_is_told(leaf) for leaves in columns for leaf in leaves if _is_number(leaf))
        # A longer list stays one buffer after the loop, which holds no Python numbers.
        few = self._put is not None and (self._max_trips or 0) * self._put + len(self._items or ()) <= _MAX_ROWS
        # Where nothing but numbers is computed, Python is done sooner.
        computes = any(not output.type.weak for node in trace.builder.nodes for output in node.outputs)
        if not (predicted and few and computes):
            trace.abort(f"{self._title} with a Python number")
        self._numbers = numbers

    def _take_log(self, contents: Growing) -> None:
        """Keeps the items that a trial has put in, whose numbers are needed after the loop."""
        trace, log = context.trace, contents.appends.log
        assert trace is not None
        predicted = all(_is_told(leaf) for _, leaves in log or () for leaf in leaves if _is_number(leaf))
        if (
            log is None
            or not predicted
            or self._known is None
            or not self._whole
            or any(origin is not trace for origin, _ in log)
        ):
            trace.abort(f"{self._title} with a Python number")
        self._log = [leaves for _, leaves in log or ()]

    def _with_numbers(self, items: list[Any]) -> list[Any]:
        """Returns the items after the loop with the numbers among their leaves."""
        before = [nest.flatten(item)[0] for item in self._items or ()]
        new: list[Any] = []
        for position, item in enumerate(items):
            leaves, structure = nest.flatten(item)
            leaves = list(leaves)
            trip, each = divmod(position - len(before), len(self._log))  # trip < 0: it was there before the loop
            for column in self._numbers:
                leaf = before[position][column] if trip < 0 else self._log[each][column]
                if _is_number(leaf):
                    leaves[column] = _in_iteration(leaf, trip)
            new.append(nest.unflatten(structure, leaves))
        return new

    def _make_room(self, per_trip: int, kinds: list[Any]) -> None:
        self._per_trip = per_trip
        trips = self._check_bound()
        assert self._items is not None
        with trace_scope(self._trace), tape_scope(self._tapes):
            # XLA's shapes are fixed: a buffer cannot grow while the loop runs.
            capacity = len(self._items) + trips * per_trip
            buffer = grown(self._trace, self._title, self._items, kinds, capacity)
        buffer.appends.numbers = bool(self._numbers)
        self.value = [buffer]

    def _check_bound(self) -> int:
        if self._max_trips is None:
            error = InvalidArgumentError(
                f"{self._title} in a loop of which it is not known how often it runs, so that there is no telling how "
                "much room the list needs; give the loop a bound: gx.loop_options(max_iterations=...) as the first "
                "statement of its body"
            )
            raise self._trace.refuse(error)
        return self._max_trips

    def leave(self, value: list[Any], trips: int | None) -> list[Any]:
        """Returns what the list holds after the loop."""
        contents = growing(value)
        assert contents is not None
        if self._items is None:
            contents.appends.count = self._appended_before + self._per_trip * (self._max_trips or 0)
        grown_by = None if trips is None or self._growth is None else self._growth * trips
        if self._items is None:
            before = self._entered
            assert before is not None
            return value if grown_by is None else [replace(contents, count=before.count, added=before.added + grown_by)]
        if self._known is not None and self._whole and grown_by is not None:
            contents = replace(contents, count=self._trace.constant(len(self._items) + grown_by), added=0)
            value = [contents]
        if contents.capacity > _MAX_ROWS:
            return value
        total = known_numbers(contents.length) if grown_by is None else len(self._items) + grown_by
        contents.appends.numbers = False
        items = None if total is None else rows(contents, 0, total)
        return value if items is None else self._with_numbers(items) if self._numbers else items
