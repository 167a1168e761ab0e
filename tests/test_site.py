"""The checker of the built site finds what it is there to find."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests import site
from tests.site import faults, found

PAGE = "<html><head>{head}</head><body><h1>Title</h1>{body}</body></html>"
ENTRIES = [
    {"location": "a/", "title": "Queues", "text": "<p>A queue hands over tensors.</p>"},
    {"location": "a/#close", "title": "Closing", "text": "<code>close</code> a queue, &amp; join"},
    {"location": "b/", "title": "Other", "text": "tensors"},
]


def make(folder: Path, head: str = "", body: str = "", style: str = "") -> Path:
    (folder / "search").mkdir()
    (folder / "search" / "search_index.json").write_text(json.dumps({"docs": ENTRIES}))
    for name in ("a", "b"):
        (folder / name).mkdir()
        (folder / name / "index.html").write_text(PAGE.format(head=head, body=body))
    (folder / "style.css").write_text(style)
    return folder


def test_a_good_site(tmp_path: Path) -> None:
    head = '<link rel="canonical" href="https://x.org/"><link rel="stylesheet" href="../style.css">'
    body = '<a href="../b/#end">B</a><h2 id="end">End</h2><img src="x.svg" alt="a graph">'
    assert faults(make(tmp_path, head, body, "body { background: url(x.png) }")) == []


@pytest.mark.parametrize(
    ("head", "body", "style", "fault"),
    [
        ('<script src="https://cdn.org/x.js"></script>', "", "", "a/index.html loads https://cdn.org/x.js"),
        ('<link rel="stylesheet" href="//fonts.org/x.css">', "", "", "a/index.html loads //fonts.org/x.css"),
        ("", '<img src="x.svg">', "", "a/index.html has a picture without words: x.svg"),
        ("", '<a href="../c/">C</a>', "", "a/index.html links to ../c/, which is not there"),
        ("", '<a href="../b/#end">B</a>', "", "a/index.html links to ../b/#end, which is not there"),
        ("", "", "@import 'https://fonts.org/x.css'", "style.css loads https://fonts.org/x.css"),
    ],
)
def test_a_fault(tmp_path: Path, head: str, body: str, style: str, fault: str) -> None:
    assert fault in faults(make(tmp_path, head, body, style))


def test_a_page_that_the_search_does_not_know(tmp_path: Path) -> None:
    made = make(tmp_path)
    (made / "c").mkdir()
    (made / "c" / "index.html").write_text(PAGE.format(head="", body=""))
    assert faults(made) == ["c/index.html is not in the search"]


def test_a_question_without_its_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site, "QUESTIONS", {"hands over": "b/", "join": "a/"})
    assert faults(make(tmp_path)) == ["the search for 'hands over' finds a/, not b/"]


def test_titles_come_first() -> None:
    assert found(ENTRIES, "tensors") == ["b/", "a/"]
    assert found(ENTRIES, "queue tensors") == ["a/"]
    assert found(ENTRIES, "nothing of this") == []
