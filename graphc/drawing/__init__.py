"""Layer 2: pictures of graphs and of measurements, with no JAX in it: layouts, SVG, pages and notebooks."""

from graphc.drawing.draw import draw_graph, notebook_graph
from graphc.drawing.pages import explorer, graph_page, page
from graphc.drawing.palette import style_sheet
from graphc.drawing.picture import Box, Link, Picture
from graphc.drawing.svg import svg_document, svg_element
from graphc.drawing.viewing import LIMIT, Note, path_of, views

__all__ = [
    "LIMIT",
    "Box",
    "Link",
    "Note",
    "Picture",
    "draw_graph",
    "explorer",
    "graph_page",
    "notebook_graph",
    "page",
    "path_of",
    "style_sheet",
    "svg_document",
    "svg_element",
    "views",
]
