"""The implementation of ``graphc.compat.v2``: the tables of names."""

from graphc.compat.tensorflow2.names import LATER, NAMES, NAMESPACE, missing, top_level, use_instead
from graphc.compat.tensorflow2.tables import CLASSES, DTYPES, ELSEWHERE, ROWS

__all__ = [
    "CLASSES", "DTYPES", "ELSEWHERE", "LATER", "NAMES", "NAMESPACE", "ROWS", "missing", "top_level", "use_instead",
]  # fmt: skip
