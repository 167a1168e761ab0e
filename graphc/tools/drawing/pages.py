"""Pages of their own: one file with its style and script, which loads nothing."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from graphc.tools.drawing.palette import style_sheet
from graphc.tools.drawing.picture import Picture
from graphc.tools.drawing.svg import asset, legend, svg_element, token

__all__ = ["explorer", "graph_page", "page", "shown"]

_HINT = "Click a box to see what it is. Drag to move; zoom with the buttons, the keys + - 0, or Ctrl and the wheel."
_HIDDEN = ' hidden="hidden"'
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"


def page(title: str, body: str) -> str:
    """Returns a page.

    Args:
      title: the title of the window.
      body: the content, as HTML.
    """
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8"/>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1"/>\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}"/>\n'
        f"<title>{escape(title)}</title>\n"
        f"<style>\n{style_sheet()}\n{asset('graph.css')}{asset('page.css')}</style>\n</head>\n"
        f"<body>\n{body}\n<script>\n//<![CDATA[\n{asset('page.js')}//]]>\n</script>\n</body>\n</html>\n"
    )


def explorer(pictures: Sequence[Picture]) -> str:
    """Returns pictures of a graph as a piece of a page in which one can move, zoom and look inside boxes.

    Args:
      pictures: the first is shown at first.
    """
    figures = "".join(
        f'<figure class="gx-figure" data-key="{escape(token(picture.key))}" data-title="{escape(picture.title)}"'
        f"{_HIDDEN if number else ''}>{svg_element(picture)}</figure>\n"
        for number, picture in enumerate(pictures)
    )
    return (
        '<div class="gx-explorer"><div class="gx-bar"><nav class="gx-crumbs" aria-label="Which part is shown"></nav>'
        '<span><input type="search" placeholder="Find a node" aria-label="Find a node"/> '
        '<button data-do="out" title="Smaller">&#8722;</button> <button data-do="in" title="Larger">+</button> '
        '<button data-do="fit">Fit</button></span></div>'
        f'<div class="gx-stage" tabindex="0">{figures}</div>'
        f'<div class="gx-details" aria-live="polite">{_HINT}</div></div>{legend(pictures)}'
    )


def graph_page(title: str, text: str, pictures: Sequence[Picture]) -> str:
    """Returns a page that shows a graph and its text.

    Args:
      title: above it.
      text: the graph's.
      pictures: the pictures of the graph.
    """
    body = (
        f"<h1>{escape(title)}</h1>{explorer(pictures)}"
        f'<details><summary>The graph as text</summary><pre class="gx-text">{escape(text)}</pre></details>'
    )
    return page(title, body)


def shown(content: str) -> str:
    """Returns a piece of HTML with the style that it needs in a notebook, whose own looks stay as they are."""
    style = f"{style_sheet().replace(':root', '.gx-shown')}{asset('graph.css')}{asset('notebook.css')}"
    return f'<div class="gx-shown"><style>{style}</style>{content}</div>'
