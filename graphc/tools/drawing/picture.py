"""The parts of a graph's drawing, with their sizes."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

# Layout of boxes and lines: layers from top to bottom, with as few crossings as a few sweeps find.
#
# The method is that of Sugiyama, Tagawa and Toda (1981): ranks by the longest path, places for lines that pass ranks,
# orders by the mean of the neighbours, and x coordinates that stay as near to the neighbours as the order allows. The
# last step is an isotonic regression, solved by pooling adjacent violators.

Point = tuple[float, float]

GAP_X = 18.0
GAP_Y = 30.0
_LINE = 8.0
"""Width of a line that passes a rank."""
_INSET = 10.0
"""So far from the corners of a box its lines begin and end."""
_PORT_GAP = 14.0
_LIGHT = 0.02
_SWEEPS = 12
_MANY = 3000
"""From so many places on fewer sweeps are made."""


@dataclass(frozen=True)
class Item:
    """A box to be placed."""

    width: float
    height: float


@dataclass(frozen=True)
class PictureLayout:
    """The positions of all parts, in pixels from the upper left corner."""

    places: tuple[Point, ...]
    routes: tuple[tuple[Point, ...], ...]  # the points of each edge, from the item above to that below
    width: float
    height: float


def ranks_of(count: int, edges: Sequence[tuple[int, int]]) -> list[int]:  # edges: downwards, without cycles
    """Returns the rank of each item: below all that lead to it; what nothing leads to is just above its first user."""
    after: list[list[int]] = [[] for _ in range(count)]
    missing = [0] * count
    for source, target in edges:
        after[source].append(target)
        missing[target] += 1
    is_source = [number == 0 for number in missing]
    ranks = [0] * count
    ready = [item for item in range(count) if is_source[item]]
    for item in ready:  # it grows meanwhile
        for target in after[item]:
            ranks[target] = max(ranks[target], ranks[item] + 1)
            missing[target] -= 1
            if not missing[target]:
                ready.append(target)
    for item in range(count):
        if is_source[item] and after[item]:
            ranks[item] = min(ranks[target] for target in after[item]) - 1
    return ranks


def spread(items: Sequence[Item], edges: Sequence[tuple[int, int]]) -> PictureLayout:
    """Places items in ranks, so that edges lead downwards; edges are pairs of their places, without cycles."""
    if not items:
        return PictureLayout((), (), 0.0, 0.0)
    ranks = ranks_of(len(items), edges)
    net = _Net(items, edges, ranks)
    net.order()
    xs = net.coordinates()
    tops, heights = _rows(items, ranks)
    left = min(x - net.widths[vertex] / 2 for vertex, x in enumerate(xs))
    xs = [x - left for x in xs]
    corners = tuple((xs[item] - box.width / 2, tops[ranks[item]]) for item, box in enumerate(items))
    routes = _routes(items, edges, net, xs, corners, tops, heights)
    return PictureLayout(
        corners, routes, max(x + net.widths[vertex] / 2 for vertex, x in enumerate(xs)), tops[-1] + heights[-1]
    )


def _rows(items: Sequence[Item], ranks: Sequence[int]) -> tuple[list[float], list[float]]:
    """Returns the top and the height of each rank."""
    heights = [0.0] * (max(ranks) + 1)
    for box, rank in zip(items, ranks, strict=True):
        heights[rank] = max(heights[rank], box.height)
    tops = [0.0]
    for height in heights[:-1]:
        tops.append(tops[-1] + height + GAP_Y)
    return tops, heights


def _routes(
    items: Sequence[Item], edges: Sequence[tuple[int, int]], net: _Net, xs: Sequence[float],
    corners: Sequence[Point], tops: Sequence[float], heights: Sequence[float],
) -> tuple[tuple[Point, ...], ...]:  # fmt: skip
    """Returns the points of each edge: straight down beside the boxes of a rank, aslant between ranks."""
    leaving: dict[int, list[int]] = {}
    entering: dict[int, list[int]] = {}
    for number, (source, target) in enumerate(edges):
        leaving.setdefault(source, []).append(number)
        entering.setdefault(target, []).append(number)
    starts = _ports(items, corners, leaving, lambda number: xs[net.chains[number][1]])
    ends = _ports(items, corners, entering, lambda number: xs[net.chains[number][-2]])
    routes: list[tuple[Point, ...]] = []
    for number, (source, target) in enumerate(edges):
        rank = net.ranks[source]
        points = [
            (starts[number], corners[source][1] + items[source].height),
            (starts[number], tops[rank] + heights[rank]),
        ]
        for vertex in net.chains[number][1:-1]:
            rank = net.ranks[vertex]
            points += [(xs[vertex], tops[rank]), (xs[vertex], tops[rank] + heights[rank])]
        points.append((ends[number], corners[target][1]))
        routes.append(tuple(points))
    return tuple(routes)


def _ports(
    items: Sequence[Item], corners: Sequence[Point], edges: dict[int, list[int]], other: Callable[[int], float]
) -> dict[int, float]:
    """Returns the x where each edge meets its box: below or above its other end, as far as the box is wide."""
    ports: dict[int, float] = {}
    for item, numbers in edges.items():
        numbers.sort(key=other)
        left = corners[item][0] + _INSET
        room = items[item].width - 2 * _INSET
        step = min(_PORT_GAP, room / max(len(numbers) - 1, 1))
        xs = [min(max(other(number), left), left + room) for number in numbers]
        for index in range(1, len(xs)):
            xs[index] = max(xs[index], xs[index - 1] + step)
        limit = left + room
        for index in reversed(range(len(xs))):
            xs[index] = limit = min(xs[index], limit)
            limit -= step
        ports.update(zip(numbers, xs, strict=True))
    return ports


class _Net:
    """Items and the places of lines that pass ranks, in an order for each rank."""

    def __init__(self, items: Sequence[Item], edges: Sequence[tuple[int, int]], ranks: Sequence[int]) -> None:
        self.ranks = list(ranks)
        self.widths = [box.width for box in items]
        self.chains: list[list[int]] = []
        for source, target in edges:
            chain = [source]
            for rank in range(ranks[source] + 1, ranks[target]):
                chain.append(len(self.ranks))
                self.ranks.append(rank)
                self.widths.append(_LINE)
            self.chains.append([*chain, target])
        self.num_items = len(items)
        self.above: list[list[int]] = [[] for _ in self.ranks]
        self.below: list[list[int]] = [[] for _ in self.ranks]
        for chain in self.chains:
            for upper, lower in pairwise(chain):
                self.below[upper].append(lower)
                self.above[lower].append(upper)
        self.rows: list[list[int]] = [[] for _ in range(max(self.ranks) + 1)]
        for vertex in self._walk():
            self.rows[self.ranks[vertex]].append(vertex)

    def _walk(self) -> list[int]:
        """All places, each near those that it is connected with: depth first, from the first item on."""
        seen = [False] * len(self.ranks)
        visited: list[int] = []
        for start in range(len(self.ranks)):
            stack = [start]
            while stack:
                vertex = stack.pop()
                if not seen[vertex]:
                    seen[vertex] = True
                    visited.append(vertex)
                    stack += reversed([*self.above[vertex], *self.below[vertex]])
        return visited

    def order(self) -> None:
        """Sorts each rank by the mean place of the neighbours, downwards and upwards in turn, and keeps the best."""
        best, fewest = [list(row) for row in self.rows], self._crossings()
        for sweep in range(_SWEEPS if len(self.ranks) < _MANY else 4):
            if not fewest:
                break
            down = sweep % 2 == 0
            neighbours = self.above if down else self.below
            order = range(1, len(self.rows)) if down else range(len(self.rows) - 2, -1, -1)
            at = [0.0] * len(self.ranks)
            for row in self.rows:
                for index, vertex in enumerate(row):
                    at[vertex] = float(index)
            for rank in order:
                row = self.rows[rank]
                keys = {vertex: _mean([at[other] for other in neighbours[vertex]], at[vertex]) for vertex in row}
                row.sort(key=keys.__getitem__)
                for index, vertex in enumerate(row):
                    at[vertex] = float(index)
            crossings = self._crossings()
            if crossings < fewest:
                best, fewest = [list(row) for row in self.rows], crossings
        self.rows = best

    def _crossings(self) -> int:
        """Returns how often lines between neighbouring ranks cross."""
        at = [0] * len(self.ranks)
        for row in self.rows:
            for index, vertex in enumerate(row):
                at[vertex] = index
        total = 0
        for row in self.rows:
            seen: list[int] = []
            for vertex in row:
                ends = sorted(at[other] for other in self.below[vertex])
                total += sum(len(seen) - bisect_right(seen, end) for end in ends)
                for end in ends:
                    insort(seen, end)
        return total

    def coordinates(self) -> list[float]:
        """Returns the middle of each place: as near to the neighbours' as the order and the widths allow."""
        xs = [0.0] * len(self.ranks)
        for row in self.rows:
            for left, right in pairwise(row):
                xs[right] = xs[left] + self._apart(left, right)
        last = len(self.rows) - 1
        for sweep in range(8):
            down = sweep % 2 == 0
            for rank in range(1, last + 1) if down else range(last - 1, -1, -1):
                row = self.rows[rank]
                wanted = [self._wanted(vertex, xs, down) for vertex in row]
                for vertex, x in zip(row, self._separated(row, wanted), strict=True):
                    xs[vertex] = x
        self._gather(xs)
        return xs

    def _gather(self, xs: list[float]) -> None:
        """Moves what is connected with nothing next to its neighbour in the rank."""
        for row in self.rows:
            for left, right in pairwise(row):
                if not self.above[right] and not self.below[right]:
                    xs[right] = xs[left] + self._apart(left, right)

    def _wanted(self, vertex: int, xs: Sequence[float], down: bool) -> tuple[float, float]:
        """Returns where a place should be, and how much that matters: lines that pass should be straight."""
        near = self.above[vertex] if down else self.below[vertex]
        other = self.below[vertex] if down else self.above[vertex]
        weight = _LIGHT if self._is_leaf(vertex) else 4.0 if vertex >= self.num_items else 1.0
        if not near:
            return _mean([xs[end] for end in other], xs[vertex]), _LIGHT
        weights = [_LIGHT if self._is_leaf(end) else 1.0 if end < self.num_items else 0.1 for end in near]
        middle = sum(xs[end] * share for end, share in zip(near, weights, strict=True)) / sum(weights)
        return middle, weight

    def _is_leaf(self, vertex: int) -> bool:
        """Returns True if a place is that of a constant or the like, which follows its user and does not pull at it."""
        return len(self.above[vertex]) + len(self.below[vertex]) == 1

    def _apart(self, left: int, right: int) -> float:
        both_lines = left >= self.num_items and right >= self.num_items
        return (self.widths[left] + self.widths[right]) / 2 + (2.0 if both_lines else GAP_X)

    def _separated(self, row: Sequence[int], wanted: Sequence[tuple[float, float]]) -> list[float]:
        """Returns the x coordinates next to those wanted, by squares, in which neighbours do not overlap."""
        offsets = [0.0]
        for left, right in pairwise(row):
            offsets.append(offsets[-1] + self._apart(left, right))
        blocks: list[tuple[float, float, int]] = []  # the mean, the weight and the number of places that move together
        for (x, weight), offset in zip(wanted, offsets, strict=True):
            mean, total, count = x - offset, weight, 1
            while blocks and blocks[-1][0] >= mean:
                other, more, size = blocks.pop()
                mean = (mean * total + other * more) / (total + more)
                total, count = total + more, count + size
            blocks.append((mean, total, count))
        means = [mean for mean, _, count in blocks for _ in range(count)]
        return [mean + offset for mean, offset in zip(means, offsets, strict=True)]


def _mean(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


CHARACTER = 6.63
"""The width of a character of a monospaced font of 11 pixels."""
OPENS = " ⊞"
"""Suffix of the title of a box with a picture of its own."""
BOLD = 7.25
"""The same, bold and of 12 pixels."""
LINE_HEIGHT = 14.0
HEADER = 18.0
PADDING = 8.0
_INNER_GAP = 14.0


@dataclass
class Box:
    """A node, an input, an output, or a group of nodes that has a picture of its own."""

    key: str  # the names of the nodes around it and its own, with slashes between
    kind: str
    title: str
    lines: tuple[str, ...] = ()
    details: str = ""
    place: str = ""
    opens: tuple[str, ...] = ()  # the keys of the pictures of what is inside, where that is not drawn here
    heat: float = 0.0  # its share of the total cost, from 0 to 1
    inner: tuple[Picture, ...] = ()
    x: float = 0.0
    y: float = 0.0
    width: float = 0.0
    height: float = 0.0

    @property
    def is_pill(self) -> bool:
        """Returns True if it is drawn as a single line with round ends."""
        return self.kind in ("input", "output", "constant", "reference")


@dataclass
class Link:
    """A line from a box to another. ``control``: whether it says only what runs first."""

    source: int
    target: int
    control: bool = False
    details: str = ""
    points: tuple[Point, ...] = ()


@dataclass
class Picture:
    """Boxes with lines between them."""

    key: str  # that of the box whose inside it shows; empty for the whole
    title: str
    boxes: list[Box] = field(default_factory=list[Box])
    links: list[Link] = field(default_factory=list[Link])
    width: float = 0.0
    height: float = 0.0


def text_width(text: str, bold: bool = False) -> float:
    """Returns the width of a line of text, in pixels."""
    return len(text) * (BOLD if bold else CHARACTER)


def arrange(picture: Picture) -> None:
    """Gives every box of a picture its size and its place, from the inside out."""
    for box in picture.boxes:
        for inner in box.inner:
            arrange(inner)
        box.width, box.height = _size(box)
    edges = [(link.source, link.target) for link in picture.links]
    layout = spread([Item(box.width, box.height) for box in picture.boxes], edges)
    for box, (x, y) in zip(picture.boxes, layout.places, strict=True):
        box.x, box.y = x, y
    for link, points in zip(picture.links, layout.routes, strict=True):
        link.points = points
    picture.width, picture.height = layout.width, layout.height


def inner_places(box: Box) -> Sequence[Point]:
    """Returns the upper left corner of the frame of each picture inside a box, in the box."""
    x, corners = PADDING, list[Point]()
    top = HEADER + len(box.lines) * LINE_HEIGHT + PADDING
    for inner in box.inner:
        corners.append((x, top))
        x += frame_size(inner)[0] + _INNER_GAP
    return corners


def frame_size(picture: Picture) -> Point:
    """Returns the width and height of the frame around a picture in a box."""
    width = max(picture.width, text_width(picture.title)) + 2 * PADDING + 4
    return width, picture.height + LINE_HEIGHT + 3 * PADDING


def _size(box: Box) -> Point:
    widest = max([text_width(box.title + OPENS * bool(box.opens), bold=True), *map(text_width, box.lines)])
    if box.is_pill:
        text = text_width(" ".join([box.title, *box.lines]))
        return text + 20.0, 20.0
    width, height = widest + 2 * PADDING + 4, HEADER + len(box.lines) * LINE_HEIGHT + PADDING
    if box.inner:
        frames = [frame_size(inner) for inner in box.inner]
        across = sum(frame[0] for frame in frames) + _INNER_GAP * (len(frames) - 1) + 2 * PADDING
        return max(width, across), height + max(frame[1] for frame in frames) + PADDING
    return width, height
