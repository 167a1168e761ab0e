"""The collectives that XLA put into a program, read from its compiled text."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

__all__ = ["KINDS", "CollectiveReport", "collectives_of", "have_groups", "instructions_of"]

KINDS = "ragged-all-to-all|all-reduce|all-gather|reduce-scatter|all-to-all|collective-permute|collective-broadcast"
"""The names of collectives in XLA's programs, as a regular expression."""
# A collective that runs beside others is two instructions; the second has the type of the result.
_INSTRUCTION = re.compile(rf"= (?P<type>\(.*?\)|\S+) (?P<kind>{KINDS})(?:-done)?\(")
_GROUPS = re.compile(
    r"source_target_pairs=|"
    r"replica_groups=(?P<all>\{\}|\{\{[\d,]*\}\}|\[1,|mesh\[(?P<mesh>[^\]]*)\] \{(?P<axes>[^}]*)\})?"
)
_ARRAY = re.compile(r"(?P<dtype>[a-z]+(?P<bits>\d*)\w*)\[(?P<shape>[\d,]*)\]")


@dataclass(frozen=True)
class CollectiveReport:
    """Collectives of one kind in a program.

    Attributes:
      kind: such as ``"all-reduce"``.
      count: the number of collectives; one in the body of a loop counts once.
      arrays: the total number of arrays that they process.
      bytes: the size of their results on each device.
    """

    kind: str
    count: int
    arrays: int
    bytes: int


def collectives_of(executable: Any) -> tuple[CollectiveReport, ...]:
    """Lists the collectives of a compiled program.

    Args:
      executable: JAX's (``jax.stages.Compiled``).
    """
    counts: Counter[str] = Counter()
    arrays: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    for found in _INSTRUCTION.finditer(executable.as_text() or ""):
        given = [_bytes(array) for array in _ARRAY.finditer(found["type"])]
        counts[found["kind"]] += 1
        arrays[found["kind"]] += len(given)
        sizes[found["kind"]] += sum(given)
    return tuple(CollectiveReport(kind, count, arrays[kind], sizes[kind]) for kind, count in sorted(counts.items()))


def have_groups(executable: Any) -> bool:
    """Returns True if some collective of a compiled program joins only some of the devices."""
    return any(map(_is_grouped, _GROUPS.finditer(executable.as_text() or "")))


def _is_grouped(found: re.Match[str]) -> bool:
    if found["mesh"] is None:
        return found["all"] is None
    axes = {name for name, size in re.findall(r"'([^']+)'=(\d+)", found["mesh"]) if size != "1"}
    return bool(axes - set(re.findall(r"'([^']+)'(?!:)", found["axes"])))  # after a colon stands a part of an axis


def instructions_of(executable: Any, kinds: str) -> frozenset[str]:
    """Returns the names of a compiled program's instructions of some kinds, which a regular expression gives."""
    found = re.finditer(rf"([\w.-]+) = (?:\(.*?\)|\S+) (?:{kinds})(?:-start|-done)?\(", executable.as_text() or "")
    return frozenset(instruction[1] for instruction in found)


def _bytes(array: re.Match[str]) -> int:
    """Returns the bytes of an array by its type, such as ``bf16[64,8]``; ``pred`` has one each."""
    count = 1
    for size in filter(None, array["shape"].split(",")):
        count *= int(size)
    return count * int(array["bits"] or 8) // 8
