"""Comparison of graphs by structure, ignoring names and the order of independent nodes."""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from difflib import SequenceMatcher, unified_diff

from graphc.compiler.ir.graph import Graph, Node, Value
from graphc.compiler.ir.opdef import EffectKind
from graphc.compiler.ir.printer import print_graph


def difference(before: Graph, after: Graph, *, context: int = 3) -> str:
    """Compares two graphs by structure.

    It matches nodes that compute the same value, then nodes of the same op and types in the same order. The second
    graph is printed with the names of the first, in its order as far as its edges allow; the diff of the two texts is
    the result. Names, source lines and the order of independent nodes do not count.

    Args:
      before: the first graph.
      after: the second graph.
      context: the number of equal lines shown around each difference.

    Returns:
      The differing lines in unified diff format, ``-`` for the first graph and ``+`` for the second; empty if none
      differ.

    Example:
      >>> from graphc.compiler.ir import parse_graph
      >>> one = parse_graph("graph f(%x: f32[]) -> (f32[]) {%c: f32[] = constant() {value = f32[](1.0)} return %c}")
      >>> two = parse_graph("graph g(%y: f32[]) -> (f32[]) {%k: f32[] = constant() {value = f32[](2.0)} return %k}")
      >>> print(difference(one, two, context=0))
      @@ -2 +2 @@
      -  %c: f32[] = constant() {value = f32[](1.0)}
      +  %c: f32[] = constant() {value = f32[](2.0)}
    """
    one, other = (print_graph(aligned(before, graph), locations=False).splitlines() for graph in (before, after))
    lines = unified_diff(one, other, n=context, lineterm="")
    return "\n".join(line for line in lines if line not in ("--- ", "+++ ", "---", "+++"))


def aligned(before: Graph, after: Graph) -> Graph:
    """Returns a graph with the names and the order of another, as far as their nodes match.

    Of several nodes that compute the same value, all users take the first; the others stay, unused.

    Args:
      before: the graph that provides names and order.
      after: the graph to align.
    """
    matches = _matches(before, after)
    names = _names(before, after, matches)
    twins = _twins(after)
    merged = _merged(after, twins)
    order = _order(before, after, matches, twins)
    named = before.inputs if len(before.inputs) == len(after.inputs) else after.inputs
    inputs = [Value(value.type, None, value.index, same.name) for value, same in zip(after.inputs, named, strict=True)]
    values: dict[Value, Value] = dict(zip(after.inputs, inputs, strict=True))
    nodes: dict[Node, Node] = {}
    for node in order:
        same = matches.get(node)
        regions = list(node.regions)
        if same is not None and len(same.regions) == len(regions):
            regions = [aligned(one, other) for one, other in zip(same.regions, regions, strict=True)]
        copy = Node(
            node.op,
            [values[merged[value]] for value in node.inputs],
            node.attrs,
            [value.type for value in node.outputs],
            regions=regions,
            control_inputs=sorted({nodes[twins[control]] for control in node.control_inputs}, key=lambda one: one.name),
            device=node.device,
            name=names[node],
            location=node.location,
        )
        nodes[node] = copy
        values.update(zip(node.outputs, copy.outputs, strict=True))
    return Graph(inputs, list(nodes.values()), [values[merged[value]] for value in after.outputs], before.name)


def _matches(before: Graph, after: Graph) -> dict[Node, Node]:
    """Returns, for each matched node of the second graph, its counterpart in the first."""
    pairs = _same_computations(before, after)
    for key in (_like, _kind):
        taken = set(pairs.values())
        left = [node for node in before.nodes if node not in taken]
        right = [node for node in after.nodes if node not in pairs]
        matcher = SequenceMatcher(None, [*map(key, left)], [*map(key, right)], autojunk=False)
        for block in matcher.get_matching_blocks():
            for step in range(block.size):
                pairs[right[block.b + step]] = left[block.a + step]
    return pairs


def _same_computations(before: Graph, after: Graph) -> dict[Node, Node]:
    """Returns the nodes that compute the same from the graphs' inputs, paired in order if there are several."""
    waiting: defaultdict[Hashable, deque[Node]] = defaultdict(deque)
    numbers: dict[Hashable, int] = {}
    for node, key in _computations(before, numbers):
        waiting[key].append(node)
    return {node: waiting[key].popleft() for node, key in _computations(after, numbers) if waiting[key]}


def _computations(graph: Graph, numbers: dict[Hashable, int]) -> Iterator[tuple[Node, int]]:
    """Yields each node with a number for its computation, equal for equal computations in both graphs."""
    # A read of a resource is the same computation until a write; no two writes are the same.
    keys = _input_keys(graph)
    own: dict[Node, int] = {}
    writes: Counter[str] = Counter()
    for node in graph.nodes:
        regions = tuple(_structure(region, numbers) for region in node.regions)
        controls = frozenset(own[control] for control in node.control_inputs)
        effects = node.effects
        versions = tuple((effect.resource, writes[effect.resource]) for effect in effects)
        key = (*_like(node), regions, tuple(keys[value] for value in node.inputs), controls, versions)
        own[node] = numbers.setdefault(key, len(numbers))
        writes.update(effect.resource for effect in effects if effect.kind is EffectKind.WRITE)
        keys.update({value: (own[node], value.index) for value in node.outputs})
        yield node, own[node]


def _structure(region: Graph, numbers: dict[Hashable, int]) -> Hashable:
    """Returns a key for a region's computation and effects, ignoring node names and order."""
    keys = _input_keys(region)
    nodes: Counter[int] = Counter()
    for node, number in _computations(region, numbers):
        nodes[number] += 1
        keys.update({value: (number, value.index) for value in node.outputs})
    types = tuple(value.type for value in region.inputs)
    return types, frozenset(nodes.items()), tuple(keys[value] for value in region.outputs)


def _input_keys(graph: Graph) -> dict[Value, Hashable]:
    return {value: ("input", value.index, value.type) for value in graph.inputs}


def _twins(graph: Graph) -> dict[Node, Node]:
    """Maps each node to the first one that computes the same: the choice between equal nodes does not count."""
    first: dict[Hashable, Node] = {}
    return {node: first.setdefault(number, node) for node, number in _computations(graph, {})}


def _merged(graph: Graph, twins: dict[Node, Node]) -> dict[Value, Value]:
    """Maps each value to that of the first node that computes the same."""
    merged: dict[Value, Value] = {value: value for value in graph.inputs}
    for node, twin in twins.items():
        merged.update(zip(node.outputs, twin.outputs, strict=True))
    return merged


def _like(node: Node) -> tuple[Hashable, ...]:
    return node.op.name, node.attrs, node.device, tuple(value.type for value in node.outputs)


def _kind(node: Node) -> Hashable:
    return node.op.name


def _names(before: Graph, after: Graph, matches: dict[Node, Node]) -> dict[Node, str]:
    """Returns the names for the second graph's nodes: that of the match, or a new one."""
    taken = {node.name for node in before.nodes}
    names: dict[Node, str] = {}
    for node in after.nodes:
        if node in matches:
            names[node] = matches[node].name
            continue
        name, number = node.name, 1
        while name in taken:
            name, number = f"{node.name}_new{number}", number + 1
        taken.add(name)
        names[node] = name
    return names


def _order(before: Graph, after: Graph, matches: dict[Node, Node], twins: dict[Node, Node]) -> Sequence[Node]:
    """Returns the nodes of the second graph in the order of the first, as far as its edges allow."""
    position: Callable[[Node], int] = {node: number for number, node in enumerate(before.nodes)}.__getitem__
    wanted: dict[Node, tuple[int, int]] = {}
    last = -1
    for number, node in enumerate(after.nodes):
        last = position(matches[node]) if node in matches else last  # an unmatched node stays behind its predecessor
        wanted[node] = (last, number)
    needs: dict[Node, set[Node]] = {}
    for node in after.nodes:
        sources = [value.node for value in node.inputs if value.node is not None]
        needs[node] = {twins[source] for source in (*node.control_inputs, *sources)}
    users: defaultdict[Node, list[Node]] = defaultdict(list)
    for node, sources in needs.items():
        for source in sources:
            users[source].append(node)
    missing = {node: len(sources) for node, sources in needs.items()}
    ready = [(wanted[node], node.name, node) for node in after.nodes if not missing[node]]
    heapq.heapify(ready)
    ordered: list[Node] = []
    while ready:
        node = heapq.heappop(ready)[2]
        ordered.append(node)
        for user in users[node]:
            missing[user] -= 1
            if not missing[user]:
                heapq.heappush(ready, (wanted[user], user.name, user))
    return ordered
