"""The parts of a graph's drawing, with their sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from graphc.tools.drawing.layout import Item, Point, spread

__all__ = [
    "HEADER",
    "LINE_HEIGHT",
    "OPENS",
    "PADDING",
    "Box",
    "Link",
    "Picture",
    "arrange",
    "frame_size",
    "inner_places",
    "text_width",
]

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
    """A node, an input, an output, or a group of nodes that has a picture of its own.

    Attributes:
      key: what it is called in the whole drawing: the names of the nodes around it and its own, with slashes between.
      kind: one of :data:`graphc.drawing.palette.KINDS`.
      title: the first line.
      lines: those below.
      details: all there is to say of it, which shows where somebody points at it.
      place: the user's file and line, as ``train.py:12``; empty for none.
      opens: the keys of the pictures of what is inside, where that is not drawn here.
      heat: its share of the total cost, from 0 to 1.
      inner: the pictures inside.
      x: of the upper left corner, in the picture that it is part of; so is ``y``.
    """

    key: str
    kind: str
    title: str
    lines: tuple[str, ...] = ()
    details: str = ""
    place: str = ""
    opens: tuple[str, ...] = ()
    heat: float = 0.0
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
    """A line from a box to another.

    Attributes:
      source: the place of the box that it comes from.
      target: the place of the box that it leads to.
      control: whether it says only what runs first.
      details: the type of what it carries.
      points: the points of the line, from top to bottom.
    """

    source: int
    target: int
    control: bool = False
    details: str = ""
    points: tuple[Point, ...] = ()


@dataclass
class Picture:
    """Boxes with lines between them.

    Attributes:
      key: what it is called: that of the box whose inside it shows; empty for the whole.
      title: the title of the picture.
      boxes: the boxes.
      links: the lines between them.
      width: in pixels, once it is arranged; so is ``height``.
    """

    key: str
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
    found = spread([Item(box.width, box.height) for box in picture.boxes], edges)
    for box, (x, y) in zip(picture.boxes, found.places, strict=True):
        box.x, box.y = x, y
    for link, points in zip(picture.links, found.routes, strict=True):
        link.points = points
    picture.width, picture.height = found.width, found.height


def inner_places(box: Box) -> Sequence[Point]:
    """Returns the upper left corner of the frame of each picture inside a box, in the box."""
    x, places = PADDING, list[Point]()
    top = HEADER + len(box.lines) * LINE_HEIGHT + PADDING
    for inner in box.inner:
        places.append((x, top))
        x += frame_size(inner)[0] + _INNER_GAP
    return places


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
