"""Variables of graphs: made, shared by name, initialized and assigned."""
