"""``if``, ternaries, ``and``, ``or``, ``not``, ``assert`` and ``raise``."""

__all__: list[str] = []
