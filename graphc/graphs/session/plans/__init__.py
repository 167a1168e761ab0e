"""Plans of runs: the nodes of a run, their grouping into programs, and their execution."""

__all__: list[str] = []
