"""Layouts: nothing overlaps, lines lead downwards, chains are straight."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from graphc.tools.drawing.picture import Item, PictureLayout, ranks_of, spread
from tests.draws import examples


@st.composite
def nets(draw: st.DrawFn) -> tuple[list[Item], list[tuple[int, int]]]:
    """Boxes of several sizes, and lines from earlier ones to later ones."""
    count = draw(st.integers(1, 14))
    sizes = st.tuples(st.integers(10, 300), st.integers(10, 200))
    items = [Item(*draw(sizes)) for _ in range(count)]
    pairs = [(upper, lower) for lower in range(count) for upper in range(lower)]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=20)) if pairs else []
    return items, edges


def boxes_of(items: list[Item], found: PictureLayout) -> list[tuple[float, float, float, float]]:
    return [(x, y, x + box.width, y + box.height) for box, (x, y) in zip(items, found.places, strict=True)]


@given(nets())
@settings(deadline=None, max_examples=examples(60))
def test_boxes_are_apart_and_lines_lead_downwards(net: tuple[list[Item], list[tuple[int, int]]]) -> None:
    items, edges = net
    found = spread(items, edges)
    boxes = boxes_of(items, found)
    for place, (left, top, right, bottom) in enumerate(boxes):
        assert left >= -1e-6
        assert right <= found.width + 1e-6
        assert bottom <= found.height + 1e-6
        for other in boxes[place + 1 :]:
            beside = right <= other[0] + 1e-6 or other[2] <= left + 1e-6
            assert beside or bottom <= other[1] or other[3] <= top
    for (upper, lower), route in zip(edges, found.routes, strict=True):
        heights = [y for _, y in route]
        assert heights == sorted(heights)
        assert boxes[upper][0] <= route[0][0] <= boxes[upper][2]
        assert route[0][1] == boxes[upper][3]
        assert boxes[lower][0] <= route[-1][0] <= boxes[lower][2]
        assert route[-1][1] == boxes[lower][1]


@given(nets())
@settings(deadline=None, max_examples=examples(40))
def test_ranks_respect_every_edge(net: tuple[list[Item], list[tuple[int, int]]]) -> None:
    items, edges = net
    ranks = ranks_of(len(items), edges)
    assert all(ranks[upper] < ranks[lower] for upper, lower in edges)


def test_what_nothing_leads_to_stands_above_its_user() -> None:
    assert ranks_of(5, [(0, 1), (1, 2), (2, 3), (4, 3)]) == [0, 1, 2, 3, 2]


def test_a_chain_with_constants_beside_it_is_straight() -> None:
    items = [Item(100, 40)] * 10 + [Item(80, 20)] * 9
    edges = [(place, place + 1) for place in range(9)] + [(10 + place, place + 1) for place in range(9)]
    xs = [x for x, _ in spread(items, edges).places[1:10]]
    assert max(xs) - min(xs) < 40


def test_a_net_that_can_be_drawn_without_crossings_is() -> None:
    edges = [(0, 5), (1, 4), (2, 3)]  # in the order of the numbers all three cross
    found = spread([Item(50, 20)] * 6, edges)
    starts = [found.places[upper][0] for upper, _ in edges]
    ends = [found.places[lower][0] for _, lower in edges]
    order = sorted(range(3), key=starts.__getitem__)
    assert order == sorted(range(3), key=ends.__getitem__)


def test_nothing_takes_no_room() -> None:
    assert spread([], []) == PictureLayout((), (), 0.0, 0.0)
