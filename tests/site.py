"""What a built site must hold, as a checker; ``python -m tests.site site`` runs it, and ``test_site.py`` tests it.

Every page is found by the words of its headings, pages load nothing from elsewhere, and pictures say what they show.
"""

from __future__ import annotations

import json
import re
import sys
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote

__all__ = ["QUESTIONS", "faults", "found"]

# What a reader types, and a page that must be among the first ten that have all the words.
QUESTIONS = {
    "learning rate": "how-to/training/",
    "nan": "how-to/nan/",
    "queue runner": "how-to/readers/",
    "uneven batches": "how-to/distributed/",
    "last batch": "tutorials/eight-devices/",
    "pytorch": "start/from-pytorch/",
    "side effects": "explanation/compiled/",
    "deadline": "how-to/waiting/",
    "placeholder session": "how-to/graphs/",
    "int32 overflow": "reference/numbers/",
    "unrolled loop": "reference/loops/",
    "stale gradients": "tutorials/parameter-servers/",
    "csv": "how-to/files/",
    "guards": "explanation/compiled/",
    "load another process": "how-to/saved-functions/",
    "gx.matmul": "reference/api/functions/linear_algebra/",
}
_LOADS = {
    "script": "src",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "link": "href",
    "audio": "src",
    "video": "src",
}
_ABSOLUTE = re.compile(r"^([a-z]+:|/)")
_ELSEWHERE = re.compile(r"^(https?:)?//")
_IN_STYLES = re.compile(r"(?:url\(|@import)\s*[\"']?((?:https?:)?//[^\"')]+)")


class _Page(HTMLParser):
    """Collects what a page loads, its pictures without words, its links and what links can name in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.wordless: list[str] = []
        self.names: set[str] = set()
        self.links: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        where = given.get(_LOADS.get(tag, "")) or ""
        if tag in _LOADS and given.get("rel") not in ("canonical", "next", "prev", "edit", "alternate"):
            self.loaded.append(where)
        if tag == "img" and not given.get("alt"):
            self.wordless.append(where)
        self.names |= {name for name in (given.get("id"), given.get("name")) if name}
        if tag == "a" and (link := given.get("href")) and not _ABSOLUTE.match(link):
            self.links.append(link)


def faults(site: Path) -> list[str]:
    """Returns what is wrong with a built site, a line for each fault."""
    entries = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))["docs"]
    listed = {entry["location"].partition("#")[0] for entry in entries}
    pages = {path.resolve(): _Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    wrong: list[str] = []
    for path, page in pages.items():
        place = path.relative_to(site.resolve()).as_posix()
        wrong += [
            f"{place} links to {link}, which is not there" for link in page.links if _is_broken(path, link, pages)
        ]
        wrong += [f"{place} loads {where}" for where in page.loaded if _ELSEWHERE.match(where)]
        wrong += [f"{place} has a picture without words: {where}" for where in page.wordless]
        if place != "404.html" and place.removesuffix("index.html") not in listed:
            wrong.append(f"{place} is not in the search")
    for path in sorted(site.rglob("*.css")):
        loaded = _IN_STYLES.findall(path.read_text(encoding="utf-8"))
        wrong += [f"{path.relative_to(site).as_posix()} loads {where}" for where in loaded]
    for words, expected in QUESTIONS.items():
        if expected in listed and expected not in (pages := found(entries, words)):
            wrong.append(f"the search for {words!r} finds {', '.join(pages) or 'nothing'}, not {expected}")
    return wrong


def _is_broken(path: Path, link: str, pages: dict[Path, _Page]) -> bool:
    """Returns True for a link of a page to a file or a heading that the site does not have."""
    place, _, name = link.partition("#")
    target = (path.parent / unquote(place.partition("?")[0])).resolve() if place else path
    target = target / "index.html" if target.is_dir() else target
    if not target.exists():
        return True
    return bool(name) and target in pages and not name.startswith("__") and unquote(name) not in pages[target].names


def found(entries: list[dict[str, Any]], words: str) -> list[str]:
    """Returns the ten pages that match best: titles count more than text, and all words must occur, as on the site.

    Args:
      entries: the entries of the site's index, one for each heading.
      words: what a reader types.
    """
    scores: dict[str, float] = {}
    for entry in entries:
        title, text = (unescape(re.sub(r"<[^>]*>", " ", entry[part])).lower() for part in ("title", "text"))
        counts = [(1000 * title.count(word) + text.count(word)) for word in words.lower().split()]
        if all(counts):
            page = entry["location"].partition("#")[0]
            scores[page] = max(scores.get(page, 0), sum(counts) / (100 + len(text)))
    return sorted(scores, key=lambda page: -scores[page])[:10]


def main(site: str) -> int:
    """Prints the faults of a site; returns 1 if there are any."""
    wrong = faults(Path(site))
    print("\n".join(wrong))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
