"""Effects: the resources that a node reads and writes, as data.

Dead-code elimination, common-subexpression elimination and ordering use effects; no pass has a list of op names.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["WORLD", "Effect", "EffectKind", "conflicts", "is_world", "part_of_world", "reads", "writes"]

WORLD = "world"
"""The resource for everything outside the program; no variable has this name."""


def part_of_world(name: str) -> str:
    """Returns the resource for the named part of the outside world, which only effects of this name access."""
    return f"{WORLD}://{name}"


def is_world(resource: str) -> bool:
    """Returns True if a resource is the outside world or a part of it, rather than a variable."""
    return resource == WORLD or resource.startswith(f"{WORLD}://")


class EffectKind(enum.Enum):
    """The kind of access to a resource."""

    READ = "read"
    WRITE = "write"


@dataclass(frozen=True, slots=True)
class Effect:
    """An access to a resource.

    Attributes:
      kind: read or write.
      resource: the name of the resource: a variable's unique name, :data:`WORLD`, or a part of it.
    """

    kind: EffectKind
    resource: str

    def __str__(self) -> str:
        return f"{self.kind.value}({self.resource})"


def reads(resource: str) -> Effect:
    """Returns the effect of reading a resource."""
    return Effect(EffectKind.READ, resource)


def writes(resource: str) -> Effect:
    """Returns the effect of writing a resource."""
    return Effect(EffectKind.WRITE, resource)


def conflicts(first: Iterable[Effect], second: Iterable[Effect]) -> bool:
    """Returns True if nodes with these effects must keep their order: they share a resource that one of them writes."""
    touched = {effect.resource: effect.kind for effect in first if effect.kind is EffectKind.READ}
    touched.update({effect.resource: effect.kind for effect in first if effect.kind is EffectKind.WRITE})
    return any(
        effect.resource in touched and EffectKind.WRITE in (effect.kind, touched[effect.resource]) for effect in second
    )
