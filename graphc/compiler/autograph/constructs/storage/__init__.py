"""Cells that branches and loops carry: names of other scopes, attributes, contents of containers, state of objects."""

__all__: list[str] = []
