"""Variables of graphs: made, shared by name, initialized and assigned."""

__all__: list[str] = []
