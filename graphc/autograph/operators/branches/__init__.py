"""``if``, ``and``, ``or``, ``not``, ternaries and choices by a tensor: what becomes a cond."""

__all__: list[str] = []
