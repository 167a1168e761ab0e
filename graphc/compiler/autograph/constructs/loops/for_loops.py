"""``for``: run by Python, or traced once into one loop node.

A loop over ``range``, a tensor, or ``zip`` and its like of those is rolled when its body does the same graph work in
every iteration. To find out, the body is traced once, with a :class:`LoopIndex` for a number, in a region that gives up
at the first thing that only Python can do (an *attempt*); the loop is then unrolled, and nothing of the attempt
remains.
"""

from __future__ import annotations

import itertools
import sys
import time
import types
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from dataclasses import replace
from functools import partial
from typing import Any, cast
from weakref import WeakKeyDictionary

from graphc.compiler.autograph.constructs.branches.branch import if_stmt, is_symbolic_condition
from graphc.compiler.autograph.constructs.calls.call import call
from graphc.compiler.autograph.constructs.exceptions.origins import in_python
from graphc.compiler.autograph.constructs.loops.bodies import (
    BUILD_BEFORE,
    ListLengths,
    VariableCreations,
    creates,
    expecting,
)
from graphc.compiler.autograph.constructs.loops.iterators import SpaceIterator, asked_to_iterate, iterator_of
from graphc.compiler.autograph.constructs.loops.options import OpenLoop, open_loop, report_unrolled, with_options
from graphc.compiler.autograph.constructs.loops.rolling import EarlyExit, ForLoop, Test, roll, trace_counted
from graphc.compiler.autograph.constructs.loops.spaces import IterationDomain
from graphc.compiler.autograph.constructs.loops.state import LoopVariables
from graphc.compiler.autograph.constructs.purity.natives import check_items
from graphc.compiler.autograph.constructs.purity.watch import check_iterator, made, operator_method
from graphc.compiler.autograph.frontend.lower_jumps import is_flag
from graphc.compiler.autograph.values.choice import Choice
from graphc.compiler.autograph.values.course import plain_kind
from graphc.compiler.autograph.values.growing_list import check_source
from graphc.compiler.autograph.values.kinds import found_on
from graphc.compiler.base import Location, config, user_location, warn_at, with_article
from graphc.compiler.base.errors import GraphcWarning, InvalidArgumentError, UnimplementedError
from graphc.compiler.ir import Node
from graphc.compiler.tracing import LoopReport, RegionAborted, Trace, context, current_trace

# Loops that Python runs while a function is traced: each iteration becomes nodes of its own.

# The cost of the copies of a body that an unrolled loop leaves in the graph, for reports and a warning.

MANY_COPIES = 200
"""So many copies of a body are made without a warning. XLA's time grows with them, at worst with their square."""

_MANY_NODES, _LONG = 2000, 5.0
"""Copies with more nodes, or that take more seconds to trace, are warned of where another body could be rolled."""

_warned: WeakKeyDictionary[Trace, set[Location | None]] = WeakKeyDictionary()
"""For each trace of a function the loops that were warned of."""


class BodyCopies:
    """The copies of a body."""

    def __init__(self, trace: Trace, what: str, remedy: str | None, total: int | None, *, counts: bool = False) -> None:
        self._trace = trace
        self._what = what  # the loop and why it is unrolled: "this for loop is unrolled, because ..."
        self._remedy = remedy  # what to write instead; None if the user asked for the copies
        self._total = total  # how many there will be, if that is known
        self._location = user_location()
        # Whether the loop counts, so that another body could be rolled; items of a list are taken one by one.
        self._counts = counts
        self._start = time.perf_counter()
        self._copies = self._nodes = 0

    def count(self, copies: int, nodes: int) -> None:
        """Takes note of the copies that are there, and how many nodes they have; warns of too many."""
        self._copies, self._nodes = copies, nodes
        # A body that computes on Python numbers adds no nodes, and costs nothing.
        many = copies == MANY_COPIES + 1 and nodes >= copies
        if self._remedy is not None and (many or (self._counts and self._is_slow())):
            warned = _warned.setdefault(self._trace.root, set())
            if self._location not in warned:
                warned.add(self._location)
                warn_at(GraphcWarning(self._warning()), self._location)

    def _is_slow(self) -> bool:
        return self._copies > 1 and (self._nodes > _MANY_NODES or time.perf_counter() - self._start > _LONG)

    def _warning(self) -> str:
        each = max(1, round(self._nodes / self._copies))
        total = f"more than {self._copies - 1:,}" if self._total is None else f"{self._total:,}"
        return (
            f"{self._what}; it becomes {total} copies of its body of about {each:,} nodes each, which take long to "
            f"compile, where a rolled loop has one. {self._remedy}"
        )

    def put_into(self, report: LoopReport) -> None:
        """Adds what the copies cost to the report on the loop, if that still stands."""
        reports = self._trace.root.loops
        for position, other in enumerate(reports):
            if other is report:  # equal ones may be those of other loops
                reports[position] = replace(report, copies=self._copies, nodes=self._nodes)


BY_HAND = "unroll=True"
"""The reason where the user asks for it."""

_TRIAL = 0.01
"""The part of the nodes allowed that a loop adds before a guess is made at how many it would add in all."""


class NodeLimit:
    """Looks that an unrolled loop does not add more nodes to the graph than are allowed."""

    def __init__(
        self, trace: Trace, kind: str, reason: str, remedy: str, total: int | None, *, counts: bool = False
    ) -> None:
        self.done = self.added = 0
        self._trace = trace
        self._what = f"this {kind} loop is unrolled, because {reason}"
        self.copies = BodyCopies(trace, self._what, None if reason == BY_HAND else remedy, total, counts=counts)
        self._remedy = remedy
        self._total = total  # how many iterations there are, if that is known
        self._counted = len(trace.builder.nodes)
        self._before = (0, 0)

    def check(self) -> None:
        """Is called after each iteration."""
        self.done += 1
        nodes = self._trace.builder.nodes
        self.added += sum(map(_size, nodes[self._counted :]))
        self._counted = len(nodes)
        self.copies.count(self.done, self.added)
        limit = config.max_unrolled_nodes
        if self.added > limit:
            raise self._refused(f"has added {self.added:,} nodes")
        # At powers of two, so that each guess rests on as many new iterations as all before it.
        if self._total is not None and not self.done & (self.done - 1):
            done, nodes_then = self._before
            rate = (self.added - nodes_then) / (self.done - done)
            guess = self.added + round(rate * (self._total - self.done))
            if self.done > 1 and guess > limit and self.added >= _TRIAL * limit:
                raise self._refused(f"would add about {guess:,} nodes in all")
            self._before = (self.done, self.added)

    def _refused(self, problem: str) -> Exception:
        total = "" if self._total is None else f" of {self._total:,}"
        error = InvalidArgumentError(
            f"{self._what}; after {self.done:,}{total} iterations it {problem}, more than the "
            f"{config.max_unrolled_nodes:,} of gx.config.max_unrolled_nodes. {self._remedy}, or allow more nodes"
        )
        return self._trace.refuse(error)


def _size(node: Node) -> int:
    """Returns how many nodes a node is, with those of its regions."""
    return 1 + sum(_size(inner) for region in node.regions for inner in region.nodes)


def run_in_python(
    loop: ForLoop, items: Iterable[Any], limit: NodeLimit, going_on: Any = True,
    enough: Callable[[], bool] = lambda: False,
) -> Any:  # fmt: skip
    """Runs a ``for`` loop as Python does; returns whether a further iteration would be run."""
    # enough: is asked after each iteration, and returns True to stop there.
    variables = loop.variables
    iterator = in_python(iter, items)
    while True:
        # Before next(): after a `break`, Python takes no further item.
        if not is_symbolic_condition(going_on) and not going_on:
            break
        try:
            check_source(iterator)
            item = in_python(next, iterator)
        except StopIteration:
            break
        if is_symbolic_condition(going_on):
            # A break or return on a tensor: the iterations after it are there, but do nothing.
            if_stmt(going_on, partial(loop.body, item), _nothing, variables.get, variables.set, variables.names)
        else:
            loop.body(item)
        limit.check()
        going_on = True if loop.extra_test is None else loop.extra_test()
        if enough():
            break
    return going_on


def _nothing() -> None:
    pass


UNROLL_BELOW = 5
"""A loop over numbers with fewer iterations than this is unrolled without an attempt to roll it."""


_ATTEMPTS = 4
"""How many times iterations that create Variables (of a model, of an optimizer) are run before a loop is unrolled."""


class Loopable(ABC):
    """An iterable that traces a ``for`` loop over itself in a way of its own."""

    @abstractmethod
    def loop(
        self,
        extra_test: Test | None,
        body: Callable[[Any], None],
        variables: LoopVariables,
        statement: Any,
        *,
        probing: bool,
    ) -> None:
        """Runs the loop; see :func:`run_for`."""


def for_stmt(
    iterable: Any, extra_test: Test | None, body: Callable[[Any], None], get_state: Callable[[], tuple[Any, ...]],
    set_state: Callable[[tuple[Any, ...]], None], names: Sequence[str], stored: Callable[[], tuple[Any, ...]] = tuple,
) -> None:  # fmt: skip
    """A ``for`` statement."""
    # extra_test: whether to go on, where the body may break or return; None where it cannot.
    # stored: the values of other names, to whose items the body assigns.
    if context.trace is None:
        for item in iterable:
            body(item)
            if extra_test is not None and not extra_test():
                return
        return
    # What is left of an iterator after a `break` matters only if somebody else can ask for it. Counted, since no rule
    # over the text tells `iter(rows)`, a new iterator, from `iter(it)`, which is the caller's.
    referenced = sys.getrefcount(iterable) > _UNHELD
    check_iterator(iterable)
    run_for(
        iterable, extra_test, body, LoopVariables(get_state, set_state, names, stored=stored), referenced=referenced
    )


def _references(iterable: Any) -> int:
    return sys.getrefcount(iterable)


# Measured, since how many references a call itself holds is up to the interpreter.
_UNHELD = _references(iter(()))
"""The reference count of an argument that nobody but the call refers to."""


def run_for(
    iterable: Any, extra_test: Test | None, body: Callable[[Any], None], variables: LoopVariables,
    *, statement: Any = None, referenced: bool = False, probing: bool = False,
) -> None:  # fmt: skip
    """Runs or traces a loop; see :func:`for_stmt`."""
    # statement: the body that the user wrote, which may say the loop's options; None if it is ``body``.
    # probing: whether iterations over numbers are run by Python for as long as they compute on no tensor.
    trace = current_trace()
    if isinstance(iterable, Choice):
        _run_over_one(iterable, lambda one: run_for(one, extra_test, body, variables, statement=statement), variables)
        return
    statement = body if statement is None else statement
    if isinstance(iterable, Loopable):
        iterable.loop(extra_test, body, variables, statement, probing=probing)
        return
    if (iterator := asked_to_iterate(iterable)) is not iterable:
        iterable = iterator
        check_iterator(iterable)
    # In the class, where Python looks special methods up; an instance's __iter__ does not count.
    elif found_on(cast("type[Any]", type(iterable)), "__iter__") is None:
        item_at = operator_method(iterable, "__getitem__")
        if item_at is not None:
            iterable = made(_items_by_place(call(types.MethodType(item_at, iterable))))
    with open_loop(trace, statement) as options:
        loop = ForLoop(trace, extra_test, body, variables, options, referenced and isinstance(iterable, Iterator))
        iterator = iterator_of(iterable)
        if iterator is None:
            if trace.parent is None:
                check_items(iterable)
            _run_over_items(loop, cast("Iterable[Any]", iterable))
            return
        mark = iterator.mark()

        def run() -> None:
            iterator.reset(mark)  # with_options may run this twice
            going_on = _run_while_numbers(loop, iterator) if probing else True
            _run_over_space(loop, iterator, going_on)

        with_options(trace, options, run)
        iterator.check_lists()


def _items_by_place(item_at: Callable[[int], Any]) -> Iterator[Any]:
    """Yields what Python finds where an object has no ``__iter__``: its items from the first one on."""
    for index in itertools.count():
        try:
            item = item_at(index)
        except IndexError:
            return
        yield item


def _run_over_one(iterable: Choice, run: Callable[[Any], None], variables: LoopVariables) -> None:
    """A loop over one of several values."""
    first, *others = iterable.left
    this = partial(run, iterable.options[first])
    if not others:
        this()
        return
    rest = partial(_run_over_one, iterable, run, variables)
    if_stmt(iterable.is_among((first,)), this, rest, variables.get, variables.set, variables.names)


def _run_over_items(loop: ForLoop, iterable: Iterable[Any]) -> None:
    """A loop over a list or anything else that Python asks for its items."""
    kind = type(iterable).__name__
    reason = f"it runs over {with_article(kind)}, whose items Python takes one by one"
    limit = NodeLimit(loop.trace, "for", reason, _ITEMS_REMEDY, _known_length(iterable))
    going_on = run_in_python(loop, iterable, limit)
    if loop.held and is_symbolic_condition(going_on):
        error = UnimplementedError(
            f"this loop over an iterator ({with_article(kind)}) may stop early, which depends on tensors, so that what "
            "is left of the iterator is not known; loop over a new iterator that nothing else refers to, or over a list"
        )
        raise loop.trace.refuse(error)
    if limit.done:
        limit.copies.put_into(report_unrolled(loop.trace, loop.options, reason))


def _known_length(iterable: Any) -> int | None:
    """Returns the number of items, where nobody's code has to be asked for it."""
    kind = cast("type[Any]", type(iterable))
    return len(iterable) if kind.__module__ in ("builtins", "numpy") and issubclass(kind, Sized) else None


_ITEMS_REMEDY = "Stack the items into one tensor and loop over its rows, so that it becomes one node"
_SPACE_REMEDY = "Write its body without what keeps it from being rolled into one node, or call gx.fori_loop"


def _run_over_space(loop: ForLoop, iterator: SpaceIterator, going_on: Any) -> None:
    """A loop over what can be taken as a whole."""
    space = iterator.left()
    unsettled = False
    if space is None:
        reason = "it runs over iterators that are not independent of each other"
    elif not isinstance(space.length, int):
        _run_as_often_as_a_tensor_says(loop, iterator, space)
        return
    elif not space.length or going_on is False:
        if going_on is not False:
            iterator.exhaust(0)
        return
    elif (reason := _why_unrolled(loop, space)) is None:
        stops, reason, unsettled = _attempt(loop, space)
        if reason is None and stops is not None and stops.trips is not None:
            _run_until(loop, iterator, space, stops.trips)
            return
        if reason is None:
            if stops is None:
                iterator.exhaust(space.length)
            else:
                iterator.spoil("that may stop early")
            return
    peeled, remedy, makes = loop.peeled or VariableCreations(loop.trace), _SPACE_REMEDY, creates(reason)
    if makes:
        reason, remedy = peeled.unrolled(reason), BUILD_BEFORE
    most = None if space is None else space.most
    limit = NodeLimit(loop.trace, "for", reason, remedy, most, counts=most is None or most >= UNROLL_BELOW)
    if unsettled and (loop.peeled is None or (makes and peeled.attempts < _ATTEMPTS)):
        # `s = 0` before `s = s + x`: after one iteration run by itself, s has the type it keeps. An optimizer or a
        # layer that builds itself when it is first used has its Variables then.
        peeled.attempts += 1
        going_on = run_in_python(loop, iterator, limit, going_on, lambda: peeled.end_iteration() or not makes)
        if peeled.news or not makes:
            _run_over_space(replace(loop, peeled=peeled), iterator, going_on)
            return
    if loop.windows is None and not makes and reason != BY_HAND and space is not None and _is_long(space):
        # `window = [*window, x][-5:]`: after a while, each list keeps its length.
        windows = ListLengths(loop.variables)
        going_on = run_in_python(loop, iterator, limit, going_on, windows.end_iteration)
        if windows.are_steady:
            _run_over_space(replace(loop, windows=windows), iterator, going_on)
            return
    if loop.options.unroll is False:
        raise loop.trace.refuse(UnimplementedError(f"unroll=False, but this loop cannot be rolled: {reason}"))
    reports = loop.trace.root.loops
    position = len(reports)
    report = loop.trace.report_loop("unrolled", reason)
    if is_symbolic_condition(run_in_python(loop, iterator, limit, going_on)):
        iterator.spoil("that may stop early")
    limit.copies.put_into(report)
    if not limit.added:
        del reports[position]  # Python has computed on numbers, which costs the program nothing


def _is_long(space: IterationDomain) -> bool:
    return isinstance(space.length, int) and space.length >= 2 * ListLengths.MOST


def _why_unrolled(loop: ForLoop, space: IterationDomain) -> str | None:
    """Why it is not even tried to roll the loop."""
    unroll = loop.options.unroll
    if unroll is True:
        return BY_HAND
    # XLA fuses the iterations of a short loop better where they are unrolled.
    if unroll is None and not space.tensors() and len(space.order) < UNROLL_BELOW:
        return f"it has fewer than {UNROLL_BELOW} iterations"
    return None


def _attempt(loop: ForLoop, space: IterationDomain) -> tuple[EarlyExit | None, str | None, bool]:
    """Tries to roll the loop."""
    # Whether, or when, the loop stops early; why it could not be rolled, or None; and whether another attempt may
    # succeed after one iteration has been run.
    space.tensors()  # some are made here, where no attempt takes them back
    outcome = _attempt_once(loop, space)
    follows = loop.follows and any(plain_kind(value) in (int, float) for value in loop.variables.get())
    if outcome[1] is None or outcome[2] or not follows:
        return outcome
    # A number that the body assigns may stay what it is, and be of use as a Python number only.
    other = _attempt_once(replace(loop, follows=False), space)
    return other if other[1] is None or other[2] else outcome


def _attempt_once(loop: ForLoop, space: IterationDomain) -> tuple[EarlyExit | None, str | None, bool]:
    trace, identity = loop.trace, object()
    before = trace.checkpoint()
    try:
        stops = roll(loop, identity, space)
    except RegionAborted as aborted:
        if aborted.attempt is not identity:  # an attempt around this loop ends, not this one
            raise
        trace.rollback(before)
        return None, aborted.reason, aborted.unsettled
    except Exception as error:
        # Where Python has a number, a trace of the body has an index without a value, and may fail for that alone.
        # Unrolled, the body fails again if the fault is the user's.
        if loop.options.unroll is False:
            raise
        trace.rollback(before)
        return None, f"tracing its body once for all iterations failed: {error}", False
    if stops is None or stops.trips is None:
        creating = loop.peeled is not None and loop.peeled.any
        why = loop.peeled.rolled() if loop.peeled is not None and creating else space.what
        if loop.windows is not None:
            why = f"{loop.windows.rolled()}; {why}"
        trace.report_loop("rolled", why + _at_a_time(loop.options), creates=creating)
    return stops, None, False


def _run_until(loop: ForLoop, iterator: SpaceIterator, space: IterationDomain, trips: int) -> None:
    """A loop that its index alone ends after so many iterations: the last is run by Python, which knows its index."""
    before, reason = trips - 1, f"it has fewer than {UNROLL_BELOW} iterations before the one in which it ends"
    if before >= UNROLL_BELOW or (loop.options.unroll is False and before):
        start = dict(zip(loop.variables.names, loop.variables.get(), strict=True))
        # None of these iterations stops the loop, so they need no test.
        _, why, _ = _attempt(replace(loop, extra_test=None), space.part(0, before))
        if why is None:
            iterator.advance(before)
            names = zip(loop.variables.names, loop.variables.get(), strict=True)
            # No jump was taken yet: with its flags False again, Python runs the last iteration.
            loop.variables.set(tuple([start[name] if is_flag(name) else value for name, value in names]))
        elif loop.options.unroll is False:
            raise loop.trace.refuse(UnimplementedError(f"unroll=False, but this loop cannot be rolled: {why}"))
        reason = why
    limit = NodeLimit(loop.trace, "for", reason or "it ends here", _SPACE_REMEDY, trips)
    run_in_python(loop, iterator, limit)
    if reason is not None:
        limit.copies.put_into(loop.trace.report_loop("unrolled", reason))


def _at_a_time(options: OpenLoop) -> str:
    """Returns how many iterations a step of the loop does, for its report."""
    if options.per_step == 1:
        return ""
    why = "as its body is cheap arithmetic on large arrays" if options.unroll is None else f"by unroll={options.unroll}"
    return f"; {options.per_step} iterations at a time, {why}"


def _run_as_often_as_a_tensor_says(loop: ForLoop, iterator: SpaceIterator, space: IterationDomain) -> None:
    expecting(loop.trace, loop.options.code, lambda expects: trace_counted(loop, space, expects=expects))
    # The body says its options, so they are known only when it has been traced.
    if loop.options.said is not None and loop.options.said.unroll is True:
        raise loop.trace.refuse(UnimplementedError(f"unroll=True, but this loop cannot be unrolled: {space.what}"))
    loop.trace.report_loop("while", space.what)
    iterator.spoil("that runs as often as a tensor says")


def _run_while_numbers(loop: ForLoop, iterator: SpaceIterator) -> Any:
    """Runs the first iterations over numbers by Python, for as long as nothing is computed on tensors."""
    space = iterator.left()
    if space is None or space.tensors() or not isinstance(space.length, int):
        return True
    limit = NodeLimit(loop.trace, "for", "it has computed on numbers only so far", _SPACE_REMEDY, None)
    going_on: Any = True
    for _ in range(space.length):
        before = len(loop.trace.builder.nodes)
        going_on = run_in_python(loop, iterator, limit, enough=lambda: True)
        # Numbers alone cost no nodes; the first node shows that the rest is worth rolling.
        if len(loop.trace.builder.nodes) != before or going_on is not True:
            break
    return going_on
