"""What other threads computed from Variables that a tape watches, while it was open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphc.compiler.base import Location, user_location, warn_at
from graphc.compiler.base.errors import GradientWarning
from graphc.compiler.core import Tensor

__all__ = ["Elsewhere"]


class Elsewhere:
    """The tensors that depend on watched Variables by reads of other threads, which a tape does not follow.

    Attributes:
      computed: these tensors' current values by identity, each with the Variable's name and the line of the read.
    """

    def __init__(self) -> None:
        self.computed: dict[int, tuple[Tensor, tuple[str, Location | None]]] = {}
        self._read: dict[str, tuple[str, Location | None]] = {}
        self._told: set[str] = set()

    def clear(self) -> None:
        """Forgets all tensors."""
        self.computed.clear()

    def source(self, tensor: Tensor) -> tuple[str, Location | None] | None:
        """Returns the Variable that a tensor depends on, with the line that read it; None if it depends on none."""
        found = self.computed.get(id(tensor.snapshot())) if self.computed else None
        return None if found is None else found[1]

    def read(self, name: str, results: Sequence[Any]) -> None:
        """Adds what a thread computed from a Variable that it reads here."""
        source = self._read.get(name)
        if source is None:
            source = self._read[name] = name, user_location()
        self.add(source, results)

    def add(self, source: tuple[str, Location | None], results: Sequence[Any]) -> None:
        """Adds what a thread computed from a Variable that it read, or from a tensor that depends on it."""
        for result in results:
            if isinstance(result, Tensor) and result.type.is_inexact:
                snapshot = result.snapshot()
                self.computed[id(snapshot)] = snapshot, source

    def check(self, snapshot: Tensor) -> None:
        """Warns if the tape gets such a tensor, once for each Variable."""
        found = self.computed.get(id(snapshot))
        if found is None or found[1][0] in self._told:
            return
        name, location = found[1]
        self._told.add(name)
        where = "" if location is None else f" ({str(location).splitlines()[0]})"
        warning = GradientWarning(
            f"no gradient flows to the Variable {name!r} through a value that another thread computed{where}: a "
            "GradientTape records the Variables that its own thread reads. Read it there and pass the tensor to the "
            "other thread (w = variable.value()), or apply gx.stop_gradient to the value if no gradient is wanted"
        )
        warn_at(warning, user_location())
