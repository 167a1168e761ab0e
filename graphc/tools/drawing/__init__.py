"""Pictures of graphs and of measurements, with no JAX in it: layouts, SVG, pages and notebooks."""

from graphc.tools.drawing.charts import Bar, TimeSpan, bars, lanes
from graphc.tools.drawing.draw import draw_graph, explorer, graph_page, notebook_graph, notebook_timeline, page, shown
from graphc.tools.drawing.picture import Box, Link, Picture
from graphc.tools.drawing.svg import colours_of, style_sheet, svg_document, svg_element
from graphc.tools.drawing.viewing import LIMIT, Note, kind_of, views

__all__ = [
    "LIMIT", "Bar", "Box", "Link", "Note", "Picture", "TimeSpan", "bars", "colours_of", "draw_graph", "explorer",
    "graph_page", "kind_of", "lanes", "notebook_graph", "notebook_timeline", "page", "shown", "style_sheet",
    "svg_document", "svg_element", "views",
]  # fmt: skip
