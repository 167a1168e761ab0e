"""Trees: nested lists and dicts of plain values, whose many guards become one.

The guards of a list of lists compare each row by itself, at up to a microsecond a row. As long as nobody has changed
any of the containers, one look at the identities of all that they hold says so, at some nanoseconds an item. If
something has changed, the guards themselves decide.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from typing import Any, cast

from graphc.compiler.function.guards import MISS, Writer
from graphc.compiler.tracing import ReadGuard, Source, addresses, counts_changes, is_fixed, version_of

__all__ = ["folded"]

_FEWEST = 4
"""Fewer guards than this take no longer than a tree."""

# Measured costs, in those of a guard without a call, about 15 ns.
_CALL = 25  # a guard that calls a helper
_KEYS = 10  # a guard of a dict's keys
_LOOK = 50  # a look at a tree
_CONTAINER = 4  # each container in it
_ITEM = 1 / 3  # an item, in a guard that compares many or in a look

_UNREAD = 4
"""A tree may hold so many times as many items as have guards."""

_PATIENCE = 20
"""After so many changes without effect on the guards, they are checked at once."""

_OF_CONTENTS = (
    "type({v}) is {0}",
    "{v} is {0} or type({v}) is {1} and ",
    "{v} is {1} or type({v}) is {0} and ",
    "{v} is {0}",
    "{0}({v})",
)
"""How the tests begin that depend on the class and the contents of a container, or on a plain value, alone.

Others ask for what may change meanwhile: ``isinstance``, which an abstract class may answer anew, or another source."""


def folded(guards: Sequence[ReadGuard], find: Callable[[Source], Any]) -> list[ReadGuard]:
    """Returns guards of which those of nested containers are one guard for each tree of them.

    Args:
      guards: the guards.
      find: returns the current value of a source.
    """
    groups: dict[Any, tuple[Source, list[ReadGuard]]] = {}
    for guard in guards:
        root = guard.source
        while _is_item(root):
            root = cast("Source", root.base)
        groups.setdefault(root.key, (root, []))[1].append(guard)
    found: list[ReadGuard] = []
    for root, group in groups.values():
        parts = [guard for guard in group if not guard.others and guard.test.startswith(_OF_CONTENTS)]
        tree = _Tree(root, parts) if len(parts) > _FEWEST else None
        if tree is None or not tree.hold(find(root)):
            found += group
        else:
            found += [
                ReadGuard(root, "{0}.is_held({v}) or {0}.compared({v})", (tree,)),
                *(guard for guard in group if guard not in parts),
            ]
    return found


def _is_item(source: Source) -> bool:
    """Returns True for an item of a list, tuple or dict, by a plain index or key."""
    base, key = source.base, source.key
    return base is not None and key[:-3] == base.key and key[-3] == "[]" and key[-2] in (int, str)


class _Tree:
    """Checks the contents of nested containers.

    Args:
      root: the source of the outermost container.
      parts: the guards that it stands for.
    """

    def __init__(self, root: Source, parts: Sequence[ReadGuard]) -> None:
        writer = Writer(["root"])
        writer.stands_for(root, "root")
        for guard in parts:
            writer.guard(guard)
        self._match = writer.function("root", [*writer.guarded(), "return True"])
        self._parts = parts
        self._left = _PATIENCE
        self.is_held: Callable[[Any], bool] = _never

    def compared(self, value: Any) -> bool:
        """Returns True if the guards hold for the outermost container."""
        if self._match(value) is MISS:
            return False
        if self._left:
            self._left -= 1
            self.hold(value)
        return True

    def hold(self, value: Any) -> bool:
        """Remembers the containers in a value, if the guards hold for it; returns True if it does and that pays."""
        self.is_held = _never
        containers = _containers(value, _UNREAD * sum(guard.size for guard in self._parts))
        if containers is None:
            return False
        is_held, num_items = _remembered(value, containers)
        # Another thread may have changed them meanwhile.
        if self._match(value) is MISS or not is_held(value):
            return False
        self.is_held = is_held
        return sum(map(_cost, self._parts)) > _LOOK + _CONTAINER * len(containers) + _ITEM * num_items


def _cost(guard: ReadGuard) -> float:
    if "[*" in guard.test:
        return _KEYS
    return _CALL + _ITEM * guard.size if "same_" in guard.test else 1


def _never(value: Any) -> bool:
    del value
    return False


def _containers(value: Any, most: int) -> list[Any] | None:
    """Returns the lists, dicts and sets in a value; None if they hold objects, or more than ``most`` items."""
    found: dict[int, Any] = {}
    todo = [value]
    while todo:
        one: Any = todo.pop()
        kind = cast("type[Any]", type(one))
        if is_fixed(one) or isinstance(one, enum.Enum | type):
            continue
        if kind not in (list, dict, tuple, set):
            return None
        if id(one) in found:
            continue
        if kind is not tuple:
            found[id(one)] = one
        if kind is dict and not all(map(is_fixed, one)):
            return None
        most -= len(one)
        if most < 0:
            return None
        todo += one.values() if kind is dict else one
    return list(found.values())


def _remembered(root: Any, containers: Sequence[Any]) -> tuple[Callable[[Any], bool], int]:
    """Returns a function that returns True for the outermost container if none has changed, and the number of items.

    Written out, it takes half the time of loops over the containers.
    """
    names: dict[str, Any] = {"root": root, "containers": containers, "end": object(), "addresses": addresses}
    items, changes = "", ""
    for place, one in enumerate(containers):
        is_dict = cast("type[Any]", type(one)) is dict
        if is_dict and counts_changes:
            names[f"v{place}"] = version_of(one)
            changes += f"v{place}.value, "
        else:
            names[f"c{place}"] = one
            items += f"*c{place}, *c{place}.values(), end, " if is_dict else f"*c{place}, end, "
    exec(f"def look(): return ({items}), ({changes})", names)
    names["items"], names["changes"] = names["look"]()  # no other objects have these identities while these live
    names["places"] = addresses(names["items"])
    tests = ["value is root"]
    tests += [f"({changes}) == changes"] * bool(changes) + [f"addresses(({items})) == places"] * bool(items)
    exec(f"def is_held(value): return {' and '.join(tests)}", names)
    return names["is_held"], len(names["items"])
