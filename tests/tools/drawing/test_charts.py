"""Charts for notebooks."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import graphc as gx
from graphc.tools.drawing import Bar, TimeSpan, bars, lanes


def test_bars_begin_at_zero_and_have_their_texts() -> None:
    text = bars([Bar("eager", 2.0, 1.5, 2.5, "2 s"), Bar("<compiled>", 1.0, 0.9, 1.1, "1 s")])
    root = ElementTree.fromstring(text)
    widths = [float(rect.get("width") or 0) for rect in root.iter("rect") if rect.get("class") == "gx-median"]
    assert abs(widths[0] / widths[1] - 2) < 0.01
    assert "&lt;compiled&gt;" in text


def test_what_ran_at_the_same_time_stands_in_rows() -> None:
    spans = [TimeSpan("/device:CPU:0", "op", "add", 0.0, 1.0), TimeSpan("/device:CPU:0", "op", "sum", 0.5, 1.5)]
    root = ElementTree.fromstring(f"<div>{lanes([*spans, TimeSpan('host', 'wait', 'x', 1.0, 2.0)])}</div>")
    tops = [rect.get("y") for rect in root.iter("rect") if rect.get("height") == "16"]
    assert len(set(tops)) == 3
    assert lanes([])


def test_a_notebook_shows_a_timeline_as_lanes() -> None:
    with gx.profile() as timeline:
        gx.ones(3).wait()
    html: Any = timeline._repr_html_()
    assert "ones" in html
    assert "/device:CPU:0" in html
