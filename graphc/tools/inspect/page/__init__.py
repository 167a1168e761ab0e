"""An explanation as a page: the source, the drawing of the graph, costs, memory, traces."""

from graphc.tools.inspect.page.explained import explanation_page

__all__ = ["explanation_page"]
