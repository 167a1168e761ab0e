"""Range analysis: the intervals of a graph's ints and bools, in loops and branches too."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import cast

from graphc.compiler.ir.graph import Graph, Node, Value
from graphc.compiler.ir.opdef import CONSTANT
from graphc.compiler.ir.passes.intervals import (
    COMPARISONS,
    MIRRORED,
    NEGATED,
    Interval,
    hull,
    interval_of,
    meet,
    same_numbers,
    whole,
)
from graphc.compiler.ir.passes.loop_pass import Loop, Ops, underlying

Known = tuple[Interval | None, ...]
Facts = Mapping[Value, Interval]

_EXACT_ROUNDS = 2
"""Number of rounds in which the bounds of carried values grow by an increment before they are those of the dtype."""

_SAME = frozenset({"identity", "stop_gradient", "as_number"})


class Ranges:
    """Finds the intervals of a graph's values."""

    def __init__(self, ops: Ops) -> None:
        self._ops = ops
        self._regions: dict[tuple[int, Known], tuple[Graph, dict[Value, Interval]]] = {}
        self._loops: dict[tuple[int, Known], tuple[Node, tuple[Sequence[Known | None], Known]]] = {}
        self._entries: dict[tuple[int, Known], tuple[Node, Sequence[Known | None]]] = {}

    def facts(self, graph: Graph, inputs: Known) -> Facts:
        """Returns the intervals of a graph's ints and bools from those of its inputs, None where they are unknown."""
        key = (id(graph), inputs)
        found = self._regions.get(key)
        if found is not None:
            return found[1]
        facts: dict[Value, Interval] = {}
        for value, interval in zip(graph.inputs, inputs, strict=True):
            interval = whole(value.type) if interval is None else interval
            if interval is not None:
                facts[value] = interval
        for node in graph.nodes:
            if node.regions:
                for output, interval in zip(node.outputs, self._outputs(node, facts), strict=False):
                    interval = whole(output.type) if interval is None else interval
                    if interval is not None:
                        facts[output] = interval
            elif len(node.outputs) == 1:
                interval = interval_of(node, facts)
                if interval is not None:
                    facts[node.outputs[0]] = interval
            else:
                facts.update({output: limits for output in node.outputs if (limits := whole(output.type)) is not None})
        self._regions[key] = graph, facts
        return facts

    def entries(self, node: Node, facts: Facts) -> Sequence[Known | None]:
        """Returns the intervals of each region's inputs of a node; None if not even that it runs is known."""
        op, _, count = underlying(node, self._ops)
        known = self._known(facts, node.inputs[:count])
        key = (id(node), self._known(facts, node.inputs))
        found = self._entries.get(key)
        if found is None:
            entries: Sequence[Known | None] = [None] * len(node.regions)
            if op.name == "call":
                entries = [known]
            elif op.name == "switch":
                entries = [known[1:]] * len(node.regions)
            elif op.name == "cond":
                entries = [self._branch(node.inputs[:count], facts, truth) for truth in (True, False)]
            elif (loop := Loop.of(node, self._ops)) is not None:
                entries = self._loop(loop, known)[0]
            found = self._entries[key] = node, entries
        return found[1]

    def _known(self, facts: Facts, values: Iterable[Value]) -> Known:
        return tuple([facts.get(value) for value in values])

    def _outputs(self, node: Node, facts: Facts) -> Sequence[Interval | None]:
        """Returns the intervals of the outputs of a node with regions."""
        if node.op.name in ("call", "cond", "switch"):
            branches: list[Known] = []
            for region, entry in zip(node.regions, self.entries(node, facts), strict=True):
                if entry is not None:
                    branches.append(self._known(self.facts(region, entry), region.outputs))
            results = list(branches[0]) if branches else []
            for other in branches[1:]:
                results = [hull(*pair) for pair in zip(results, other, strict=True)]
            return results
        loop = Loop.of(node, self._ops) if node.op.name in ("scan", "while") else None
        if loop is None:
            return [None] * len(node.outputs)
        intervals = self._known(facts, node.inputs)
        return self._loop(loop, intervals)[1]

    def _loop(self, loop: Loop, intervals: Known) -> tuple[Sequence[Known | None], Known]:
        """Returns what is known of the inputs of each region of a loop, and of its outputs."""
        key = (id(loop.node), intervals)
        entry = self._loops.get(key)
        if entry is None:
            result = self._scan(loop, intervals) if loop.test is None else self._while(loop, intervals)
            entry = self._loops[key] = loop.node, result
        return entry[1]

    def _branch(self, inputs: Sequence[Value], facts: Facts, truth: bool) -> Known | None:
        test = inputs[0]
        if facts.get(test) == (int(not truth),) * 2:
            return None
        more = assumed(test, truth, facts)
        return tuple([more.get(value, facts.get(value)) for value in inputs[1:]])

    def _scan(self, loop: Loop, known: Known) -> tuple[Sequence[Known | None], Known]:
        length, start, step = loop.attrs["length"], loop.attrs.get("start", 0), loop.attrs.get("step", 1)
        body, count = loop.body, loop.num_carry
        if not length:
            return [None], (*known[:count], *[None] * (len(loop.types) - count))
        last = start + step * (length - 1)
        index = (min(start, last), max(start, last))
        first, rest = known[:count], known[count:]

        def iteration(carried: Known) -> Known:
            facts = self.facts(body, (index, *carried, *rest))
            return tuple([
                self._counted(loop, place, first[place], length - 1, facts) or facts.get(value)
                for place, value in enumerate(body.outputs[:count])
            ])  # fmt: skip

        carried = _stable(loop, first, iteration)
        facts = self.facts(body, (index, *carried, *rest))
        outputs = list(self._known(facts, body.outputs))
        for place in range(count):
            total = self._counted(loop, place, first[place], length, facts)
            if total is not None:
                outputs[place] = meet(total, facts[body.outputs[place]])
        return [(index, *carried, *rest)], tuple(outputs)

    def _counted(self, loop: Loop, position: int, first: Interval | None, times: int, facts: Facts) -> Interval | None:
        """Returns the bounds of a carried int after at most so many iterations, if each only moves it by steps."""
        value, result = loop.inside[position], loop.body.outputs[position]
        limits = whole(value.type)
        if first is None or limits is None or value.type.dtype.kind not in "iu":
            return None
        drift = self._moved(result, {value: (0, 0)}, facts)
        if drift is None:
            return None
        low, high = first[0] + min(drift[0] * times, 0), first[1] + max(drift[1] * times, 0)
        return (low, high) if limits[0] <= low and high <= limits[1] else None

    def _moved(self, value: Value, moved: dict[Value, Interval | None], facts: Facts) -> Interval | None:
        """Returns the offset of a value from one of those in ``moved``, if it is computed from one by steps."""
        if value not in moved:
            moved[value] = self._steps(value, moved, facts)
        return moved[value]

    def _steps(self, value: Value, moved: dict[Value, Interval | None], facts: Facts) -> Interval | None:
        node = value.node
        if node is None or value.type.dtype.kind not in "iu":
            return None
        name, inputs = node.op.name, node.inputs
        if name in _SAME:
            return self._moved(inputs[0], moved, facts)
        if name in ("add", "subtract"):
            for base, step in (inputs, inputs[::-1]) if name == "add" else (inputs,):
                start, by = self._moved(base, moved, facts), facts.get(step)
                if start is not None and by is not None:
                    low, high = by if name == "add" else (-by[1], -by[0])
                    return start[0] + low, start[1] + high
            return None
        if name == "where":
            return hull(self._moved(inputs[1], moved, facts), self._moved(inputs[2], moved, facts))
        if name == "cond":
            results: list[Interval | None] = []
            for region, entry in zip(node.regions, self.entries(node, facts), strict=True):
                if entry is not None:
                    pairs = zip(region.inputs, inputs[1:], strict=True)
                    within = {inner: self._moved(outer, moved, facts) for inner, outer in pairs}
                    results.append(self._moved(region.outputs[value.index], within, self.facts(region, entry)))
            return hull(results[0], results[-1]) if results else None
        return None

    def _while(self, loop: Loop, known: Known) -> tuple[Sequence[Known | None], Known]:
        test, count = loop.test, loop.num_carry
        assert test is not None
        first, rest = known[:count], known[count:]
        (holds,) = test.outputs

        def entered(carried: Known) -> Known | None:
            facts = self.facts(test, (*carried, *rest))
            if facts.get(holds) == (0, 0):
                return None  # not once
            more = assumed(holds, True, facts)
            return tuple([more.get(value, facts.get(value)) for value in test.inputs])

        def iteration(carried: Known) -> Known | None:
            entry = entered(carried)
            return None if entry is None else self._known(self.facts(loop.body, entry), loop.body.outputs)

        carried = _stable(loop, first, iteration)
        facts, entry = self.facts(test, (*carried, *rest)), entered(carried)
        more = assumed(test.outputs[0], False, facts)
        outputs = tuple([more.get(value, facts.get(value)) for value in test.inputs[:count]])
        return [(*carried, *rest), entry], outputs


def _stable(loop: Loop, first: Known, iteration: Callable[[Known], Known | None]) -> Known:
    """Returns the bounds of carried values in all iterations; ``iteration`` gives those after one, if one runs."""
    carried, rounds = first, 0
    while (after := iteration(carried)) is not None:
        rounds += 1
        wider = tuple([
            _wider(whole(value.type), *pair, exact=rounds <= _EXACT_ROUNDS)
            for value, *pair in zip(loop.body.outputs, carried, after, strict=False)
        ])  # fmt: skip
        if wider == carried:
            break
        carried = wider
    if after is None or rounds <= _EXACT_ROUNDS:
        return carried
    # They grew to the end of the dtype, and an iteration may leave less than that: `n = (n * 5 + 1) % 1000`.
    less = tuple([hull(*pair) for pair in zip(first, after, strict=False)])
    found = iteration(less)
    fits = found is not None and all(hull(*pair) == pair[0] for pair in zip(less, found, strict=False))
    return less if fits else carried


def _wider(limits: Interval | None, before: Interval | None, after: Interval | None, *, exact: bool) -> Interval | None:
    """Returns bounds that contain two others, and all to the end of the dtype where they grew."""
    both = hull(before, after)
    if both is None:
        return limits
    if limits is None or before is None or exact:
        return both
    return limits[0] if both[0] < before[0] else both[0], limits[1] if both[1] > before[1] else both[1]


def assumed(test: Value, truth: bool, facts: Facts) -> dict[Value, Interval]:
    """Returns the intervals that follow from a test being true, or false."""
    intervals: dict[Value, Interval] = {}
    _assume(test, truth, facts, intervals)
    return intervals


def _assume(test: Value, truth: bool, facts: Facts, intervals: dict[Value, Interval]) -> None:
    if test.type.dtype.kind == "b" and not test.type.shape:
        intervals[test] = (int(truth), int(truth))
    node = test.node
    if node is None:
        return
    name = node.op.name
    if name in _SAME or (name == "astype" and node.inputs[0].type.dtype.kind == "b"):
        _assume(node.inputs[0], truth, facts, intervals)
    elif name == "logical_not":
        _assume(node.inputs[0], not truth, facts, intervals)
    elif name == ("logical_and" if truth else "logical_or"):
        for value in node.inputs:
            _assume(value, truth, facts, intervals)
    elif name == "cond" and truth:
        other = node.regions[1].outputs[test.index].node
        if other is not None and other.op is CONSTANT and not other.attrs["value"].array.any():
            _assume(node.inputs[0], True, facts, intervals)
    elif name in COMPARISONS:
        operands = [intervals.get(value, facts.get(value)) for value in node.inputs]
        if None not in operands and same_numbers(node, operands) and not any(value.type.shape for value in node.inputs):
            holds = name if truth else NEGATED[name]
            a, b = cast("Sequence[Interval]", operands)
            _narrow(node.inputs[0], _within(holds, a, b), facts, intervals)
            _narrow(node.inputs[1], _within(MIRRORED[holds], b, a), facts, intervals)


def _within(comparison: str, a: Interval, b: Interval) -> Interval:
    """Returns the bounds of a number that compares this way with another one."""
    if comparison == "equal":
        return meet(a, b)
    if comparison == "not_equal":
        low, high = a
        if b[0] == b[1]:
            low, high = low + (low == b[0]), high - (high == b[0])
        return (low, high) if low <= high else a
    if comparison in ("less", "less_equal"):
        return meet(a, (a[0], b[1] - (comparison == "less")))
    return meet(a, (b[0] + (comparison == "greater"), a[1]))


def _narrow(value: Value, interval: Interval, facts: Facts, intervals: dict[Value, Interval]) -> None:
    """Records the bounds of a value, and of the value that a constant step computes it from."""
    intervals[value] = interval = meet(intervals.get(value, interval), interval)
    node = value.node
    if node is None:
        return
    if node.op.name in _SAME:
        _narrow(node.inputs[0], interval, facts, intervals)
    elif node.op.name in ("add", "subtract"):
        base, step = [facts.get(source) for source in node.inputs]
        limits = whole(value.type)
        if base is None or step is None or limits is None or step[0] != step[1]:
            return
        by = step[0] if node.op.name == "add" else -step[0]
        if limits[0] <= base[0] + by and base[1] + by <= limits[1]:  # it did not wrap around
            narrower = meet(base, (interval[0] - by, interval[1] - by))
            _narrow(node.inputs[0], narrower, facts, intervals)
