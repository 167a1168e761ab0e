"""Lists whose length is known at run time only."""

__all__: list[str] = []
