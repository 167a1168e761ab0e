"""The memory of a compiled program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["Memory", "memory_of"]


@dataclass(frozen=True)
class Memory:
    """The memory that a compiled program needs, in bytes.

    Attributes:
      arguments: its inputs, Variables included.
      outputs: its outputs.
      temporaries: the additional memory while it runs.
      aliased: outputs that take over the buffers of inputs.
    """

    arguments: int
    outputs: int
    temporaries: int
    aliased: int

    @property
    def total(self) -> int:
        """Returns what is in use at the most."""
        return self.arguments + self.outputs + self.temporaries - self.aliased


def memory_of(executable: Any) -> Memory | None:
    """Returns what a program of JAX's needs, where the backend tells."""
    try:
        found = executable.memory_analysis()
    except NotImplementedError:
        return None
    if found is None:
        return None
    return Memory(
        arguments=found.argument_size_in_bytes,
        outputs=found.output_size_in_bytes,
        temporaries=found.temp_size_in_bytes,
        aliased=found.alias_size_in_bytes,
    )
