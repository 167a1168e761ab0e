"""Plans of runs: what a run needs, which nodes become one program, and who runs it."""

__all__: list[str] = []
