"""From a graph to pictures of it: one where it is small, else one of the whole and one of each part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from graphc.compiler.ir import CONSTANT, Graph, Node, Value, is_world, print_node, print_value
from graphc.tools.drawing.picture import Box, Link, Picture, arrange, ranks_of

LIMIT = 150
"""So many nodes one picture shows at most, where nothing else is asked for."""

_SPAN = 8
"""A line that would pass more ranks is drawn as a reference instead."""
_GROUP = 40
"""So many nodes a group has at least, and so many groups a picture at most."""
_TITLE = 30
"""So many characters of a name are shown."""


@dataclass(frozen=True)
class Note:
    """The text in the box of a node. ``heat``: its share of the total cost, from 0 to 1."""

    lines: tuple[str, ...] = ()
    heat: float = 0.0


def views(graph: Graph, *, limit: int | None = LIMIT, notes: Mapping[Node, Note] | None = None) -> list[Picture]:
    """Draws a graph; of one with more nodes than ``limit``, bodies and groups of nodes get pictures of their own."""
    return _Views(graph, limit, notes or {}).found


@dataclass(frozen=True)
class _Part:
    """Nodes that one picture shows: a whole graph, or neighbours in one."""

    graph: Graph
    nodes: tuple[Node, ...]
    key: str
    title: str
    scope: str

    @property
    def is_whole(self) -> bool:
        return len(self.nodes) == len(self.graph.nodes)


class _Views:
    """Makes the pictures of a graph, those of parts when they are needed."""

    def __init__(self, graph: Graph, limit: int | None, notes: Mapping[Node, Note]) -> None:
        self._limit = limit
        self._notes = notes
        self._sizes: dict[int, int] = {}
        self.found: list[Picture] = []
        waiting = [_Part(graph, graph.nodes, "", graph.name, "")]
        for part in waiting:  # it grows meanwhile
            picture, more = self._picture(part)
            arrange(picture)
            self.found.append(picture)
            waiting += more

    def _size(self, graph: Graph) -> int:
        """Returns the nodes of a graph, those of regions included."""
        if id(graph) not in self._sizes:
            self._sizes[id(graph)] = sum(1 + sum(map(self._size, node.regions)) for node in graph.nodes)
        return self._sizes[id(graph)]

    def _picture(self, part: _Part) -> tuple[Picture, list[_Part]]:
        """Returns the picture of a part, and the parts that need pictures of their own."""
        more: list[_Part] = []
        inline = self._inline(part.nodes)
        groups = self._groups(part)
        maker = _Maker(part)
        for group in groups:
            if len(group) == 1:
                maker.add(group, self._box(group[0], part.scope, inline, more))
            else:
                maker.add(group, _group_box(group, part, more))
        return maker.finish(), more

    def _inline(self, nodes: Sequence[Node]) -> set[Node]:
        """Returns the nodes whose regions are drawn in the same picture: the small ones, as long as there is room."""
        if self._limit is None:
            return set(nodes)
        room = self._limit - len(nodes)
        chosen: set[Node] = set()
        for node in sorted(nodes, key=lambda node: sum(map(self._size, node.regions))):
            room -= sum(map(self._size, node.regions))
            if room < 0:
                break
            chosen.add(node)
        return chosen

    def _groups(self, part: _Part) -> list[tuple[Node, ...]]:
        """Returns the nodes, each by itself; or neighbours together, where there are too many."""
        nodes = part.nodes
        if self._limit is None or len(nodes) <= self._limit:
            return [(node,) for node in nodes]
        size = max(min(_GROUP, self._limit), -(-len(nodes) // _GROUP))
        cuts = [0]
        while len(nodes) - cuts[-1] > size * 1.5:
            aim = cuts[-1] + size
            near = range(aim - size // 4, aim + size // 4)
            # Neighbours in the graph's order never lead back into a group before theirs.
            cuts.append(next((cut for cut in near if nodes[cut].location != nodes[cut - 1].location), aim))
        if len(cuts) == 1:
            return [(node,) for node in nodes]
        return [nodes[start:end] for start, end in zip(cuts, [*cuts[1:], len(nodes)], strict=True)]

    def _box(self, node: Node, scope: str, inline: set[Node], more: list[_Part]) -> Box:
        note = self._notes.get(node, Note())
        key = node.path(scope)
        location = node.location.short if node.location else ""
        box = Box(key, kind_of(node), _title(node), details=_details(node, note), place=location, heat=note.heat)
        lines = [] if node.op is CONSTANT else [_types(node.outputs)]
        lines += [line for line in (_attrs(node), f"on {node.device}" if node.device else "", *note.lines) if line]
        if node.op is CONSTANT:
            lines = [str(node.outputs[0].type)] if node.outputs[0].type.size != 1 else []
        bodies = [_body(node, index, scope) for index in range(len(node.regions))]
        if bodies and node in inline:
            box.inner = tuple(self._inner(body, more) for body in bodies)
        elif bodies:
            box.opens = tuple(body.key for body in bodies)
            lines.append(f"{sum(map(self._size, node.regions))} nodes inside")
            more += bodies
        box.lines = tuple(line for line in lines if line)
        return box

    def _inner(self, part: _Part, more: list[_Part]) -> Picture:
        maker = _Maker(part)
        for node in part.nodes:
            maker.add((node,), self._box(node, part.scope, set(part.nodes), more))
        return maker.finish()


class _Maker:
    """Puts boxes into a picture and finds the lines between them."""

    def __init__(self, part: _Part) -> None:
        self._part = part
        self._picture = Picture(part.key, part.title)
        self._places: dict[Node | None, dict[int, int]] = {None: {}}
        self._edges: dict[tuple[int, int], Link] = {}
        self._users: list[tuple[tuple[Node, ...], int]] = []
        if part.is_whole:
            for value in part.graph.inputs:
                name = value.name or f"arg{value.index}"
                box = Box(f"{part.scope}{name}", "input", _cut(name), (str(value.type),), f"%{name}: {value.type}")
                self._places[None][value.index] = self._put(box)

    def _put(self, box: Box) -> int:
        self._picture.boxes.append(box)
        return len(self._picture.boxes) - 1

    def add(self, nodes: Sequence[Node], box: Box) -> None:
        """Adds the box of a node, or of several."""
        index = self._put(box)
        for node in nodes:
            self._places[node] = dict.fromkeys(range(max(len(node.outputs), 1)), index)
        self._users.append((tuple(nodes), index))

    def finish(self) -> Picture:
        """Returns the picture."""
        for nodes, position in self._users:
            inside = set(nodes)
            for node in nodes:
                for value in dict.fromkeys(node.inputs):
                    if value.node not in inside:
                        self._link(value, position)
                for control in node.control_inputs:
                    if control not in inside:
                        self._control(control, position)
        if self._part.is_whole:
            for index, value in enumerate(self._part.graph.outputs):
                key = f"{self._part.scope}return {index}"
                self._link(
                    value, self._put(Box(key, "output", "return", (str(value.type),), f"output {index}: {value.type}"))
                )
        self._picture.links = list(self._edges.values())
        self._shorten()
        return self._picture

    def _link(self, value: Value, target: int) -> None:
        source = self._places.get(value.node, {}).get(value.index)
        if source is None:  # it is outside this part
            source = self._reference(_use(value), self._part.scope + (value.node.name if value.node else value.name))
            self._places.setdefault(value.node, {})[value.index] = source
        link = self._edges.setdefault((source, target), Link(source, target))
        link.control = False
        link.details = ", ".join(filter(None, [link.details, f"%{_use(value)}: {value.type}"]))

    def _control(self, control: Node, target: int) -> None:
        source = self._places.get(control, {}).get(0)
        if source is None:
            source = self._reference(control.name, self._part.scope + control.name)
            self._places[control] = {0: source}
        self._edges.setdefault((source, target), Link(source, target, True, f"%{control.name} runs first"))

    def _reference(self, name: str, key: str) -> int:
        return self._put(
            Box(f"{key} (again)", "reference", f"↑ {_cut(name)}", details=f"%{name}, which is made further up")
        )

    def _shorten(self) -> None:
        """Puts references in the place of lines that would pass many ranks."""
        boxes, links = self._picture.boxes, self._picture.links
        ranks = ranks_of(len(boxes), [(link.source, link.target) for link in links])
        for number, link in enumerate(links):
            if ranks[link.target] - ranks[link.source] > _SPAN:
                source = boxes[link.source]
                index = self._reference(source.key.rpartition("/")[2], source.key)
                links[number] = Link(index, link.target, link.control, link.details)


def kind_of(node: Node) -> str:
    """Returns what the box of a node looks like."""
    if node.op is CONSTANT:
        return "constant"
    if node.regions and node.op.regions:
        return "flow"
    effects = node.op.effects(node.attrs)
    if node.op.host or any(is_world(effect.resource) for effect in effects):
        return "host"
    if effects:
        return "state"
    return "collective" if "axis_name" in node.attrs else "compute"


def _title(node: Node) -> str:
    if node.op is CONSTANT:
        value = node.attrs["value"].array
        return _cut(str(value.reshape(-1)[0]) if value.size == 1 else node.name)
    title = node.name if node.name.startswith(node.op.name) else f"{node.name} = {node.op.name}"
    return _cut(f"{title} {node.attrs['variable']}" if "variable" in node.attrs else title)


def _attrs(node: Node) -> str:
    """Returns the attributes that fit into a line; of loops how often they run."""
    if node.op.name == "scan":
        return f"{node.attrs['length']} iterations"
    if node.op.name in ("vjp", "jvp"):
        return f"of {node.attrs['op']}"
    if node.regions or node.op is CONSTANT or "variable" in node.attrs:
        return ""
    texts = [f"{name}={print_value(value)}" for name, value in node.attrs.items() if value is not None]
    return _cut(", ".join(text for text in texts if len(text) <= _TITLE), 40)


def _body(node: Node, index: int, scope: str) -> _Part:
    """Returns what the picture of a region shows."""
    region, key = node.regions[index], node.path(scope, index)
    return _Part(region, region.nodes, key, _body_title(node, index), f"{key}/")


def _body_title(node: Node, index: int) -> str:
    return f"{node.op.region_label(index) or 'body'}{node.region_number(index)}"


def _details(node: Node, note: Note) -> str:
    text = print_node(node, locations=False)
    text = text if len(text) <= 1200 else f"{text[:1200]}…"
    origin = f"\n{node.location.short} in {node.location.function}" if node.location else ""
    return "\n".join([text + origin, *note.lines])


def _types(values: Sequence[Value]) -> str:
    texts = [str(value.type) for value in values]
    return ", ".join(texts) if len(texts) <= 2 else f"{texts[0]}, … {len(texts)} outputs"


def _use(value: Value) -> str:
    if value.node is None:
        return value.name or f"arg{value.index}"
    return value.node.name if len(value.node.outputs) == 1 else f"{value.node.name}#{value.index}"


def _cut(text: str, most: int = _TITLE) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _group_box(nodes: Sequence[Node], part: _Part, more: list[_Part]) -> Box:
    key = f"{part.scope}{nodes[0].name}…{nodes[-1].name}"
    more.append(_Part(part.graph, tuple(nodes), key, f"{nodes[0].name} … {nodes[-1].name}", part.scope))
    lines = [f"{len(nodes)} nodes", _lines_of(nodes)]
    return Box(key, "group", f"{_cut(nodes[0].name, 16)} … {_cut(nodes[-1].name, 16)}", tuple(filter(None, lines)),
               _names(nodes), opens=(key,))  # fmt: skip


def _names(nodes: Sequence[Node]) -> str:
    return ", ".join(node.name for node in nodes)


def _lines_of(nodes: Sequence[Node]) -> str:
    """Returns the lines of the user's code that nodes are of, where those are of one function."""
    locations = [node.location for node in nodes if node.location]
    if not locations or len({location.function for location in locations}) > 1:
        return ""
    first, last = min(location.line for location in locations), max(location.line for location in locations)
    return f"{_cut(locations[0].function, 20)}:{first}" + (f"-{last}" if last > first else "")
