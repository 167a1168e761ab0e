"""The program's Variables that servers keep: read from the servers, and written back when the program assigns them."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any

from graphc.cluster.parameters.group import ServerGroup
from graphc.compiler.core import Variable
from graphc.training.optim import Optimizer

__all__ = ["LocalCopies"]


class LocalCopies:
    """The program's copies of the Variables that servers keep, and of the optimizer's state.

    Args:
      servers: the servers.
      variables: their Variables, by name.
    """

    def __init__(self, servers: ServerGroup, variables: Mapping[str, Variable]) -> None:
        self._servers, self._variables = servers, variables
        self._optimizer: Optimizer | None = None
        self._seen: dict[Any, Any] = {}
        self._lock = threading.RLock()

    def note(self) -> None:
        """Records that the servers have the current local values."""
        for key, variable in self._all().items():
            self._seen[key] = variable.raw

    def begin(self, optimizer: Optimizer, targets: Sequence[Variable], *, fresh: bool) -> None:
        """Records the optimizer; the servers take over its state if it has one and theirs is ``fresh``."""
        with self._lock:
            had = bool(optimizer.targets)
            optimizer.build(targets)
            self._optimizer = optimizer
            for name, variable in optimizer.named_variables().items():
                self._seen["state", name] = None if had and fresh else variable.raw
            self.write()

    def write(self) -> None:
        """Writes local assignments since the last sync to the servers."""
        with self._lock:
            if not self._seen:
                return
            found = self._all()
            changed = [key for key, variable in found.items() if variable.raw is not self._seen.get(key)]
            if changed:
                raws = {key: found[key].raw for key in changed}
                parts = [{name: raw for (kind, name), raw in raws.items() if kind == of} for of in ("value", "state")]
                self._servers.put(*parts)
                self._seen |= raws

    def pull(self) -> None:
        """Updates the local Variables from the servers."""
        with self._lock:
            self.write()
            found = self._all()
            values = {("value", name): value for name, value in self._servers.values().items()}
            values |= {("state", name): value for name, value in self._servers.state().items()}
            for key, value in values.items():
                found[key].assign(value)
                self._seen[key] = found[key].raw

    def _all(self) -> dict[tuple[str, str], Variable]:
        kept = self._servers.layout.variables if self._servers.layout is not None else self._variables
        found = {("value", name): variable for name, variable in self._variables.items() if name in kept}
        if self._optimizer is not None:
            found |= {("state", name): variable for name, variable in self._optimizer.named_variables().items()}
        return found
