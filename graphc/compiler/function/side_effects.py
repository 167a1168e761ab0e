"""Side effects of tracing: calls and changes that happen once, and tensors that a trace leaves in Python objects.

The tensors of a trace have no values, and Python code runs once, when the function is traced. A tensor stored in an
object that outlives the trace, or a changed argument, would mean something else in the compiled function than in eager
code. graphc refuses both, and undoes the stores.
"""

from __future__ import annotations

import gc
import sys
import traceback
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from graphc.compiler.base import Location, collect_since, nest, warn_at, with_article
from graphc.compiler.base.errors import SideEffectWarning, UnimplementedError
from graphc.compiler.function import front_end
from graphc.compiler.tracing import SideEffect, TensorCell, TensorStore, Trace, Write


class RepeatabilityCheck:
    """A record of the containers among the arguments, which detects changes by the function."""

    def __init__(self, name: str, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        self._name = name
        self._arguments = (args, kwargs)
        self._before = nest.flatten(self._arguments)

    def check(self, writes: Sequence[Write]) -> None:
        """Compares the containers with the record."""
        before, structure = self._before
        after, new_structure = nest.flatten(self._arguments)
        if structure == new_structure and all(a is b for a, b in zip(before, after, strict=True)):
            return
        owned = {id(part) for part in _containers(self._arguments)}
        write = next((write for write in writes if id(write.cell.owner) in owned), None)
        how = f"by {write.cell.what}" if write is not None else f"{structure} before, {new_structure} after"
        raise UnimplementedError(
            f"{self._name} changes a list, dict or dataclass among its arguments ({how}); a compiled function works on "
            "a copy, once, when it is traced: return the new value instead, or keep it in a Variable"
        ).at(None if write is None else write.location)


def _containers(value: Any) -> Iterator[Any]:
    yield value
    for part in (nest.children(value) or ((), ()))[1]:
        yield from _containers(part)


@dataclass
class _Owner:
    """An object that the trace changed, with the writes."""

    value: Any
    writes: list[Write]

    def is_left(self) -> bool:
        """Returns True if anything but the journal refers to the object."""
        # Counted, since lists and dicts have no weak references: a list that the function makes, fills with tensors and
        # drops is everyday code, and one that a library or a closure kept is not.
        return sys.getrefcount(self.value) > _UNREFERENCED + len(self.writes)

    def holds_symbols(self) -> bool:
        """Returns True if a written cell holds a tensor of the trace."""
        return any(front_end.holds_symbols(write.cell.get()) for write in self.writes)


def check_stores(trace: Trace, collections: int) -> list[Write]:
    """Refuses tensors of the trace stored in objects that are still alive; undoes the stores."""
    # Returns the writes of Python values to live objects, which happen only when the function is traced.
    for region in list(trace.regions):
        region.forget_objects()
    trace.aliases.forget()
    owners = _owners(trace)
    _drop_dead(owners)
    if not trace.stores and not owners and not trace.made:
        return []
    for owner in owners.values():
        if isinstance(owner.value, BaseException):  # holds the frames that it passed, which hold it in turn
            traceback.clear_frames(owner.value.__traceback__)
    collect_since(collections)  # frees objects that only a cycle of dead closures holds
    _drop_dead(owners)
    if _made(trace) or _escaped(trace.stores) or any(owner.holds_symbols() for owner in owners.values()):
        gc.collect()  # garbage from before is no reason to refuse
        _drop_dead(owners)
    alive = _made(trace)
    if alive:
        for write in reversed([write for owner in owners.values() for write in owner.writes]):
            write.cell.set(write.before)
        value, location = alive[0]
        raise trace.variable_created(f"{with_article(type(value).__qualname__)} that outlives the call", location)
    stored = [write for owner in owners.values() if owner.holds_symbols() for write in owner.writes]
    escaped = _escaped(trace.stores)
    if not stored and not escaped:
        return [write for owner in owners.values() for write in owner.writes]
    culprits = [write for write in stored if front_end.holds_symbols(write.cell.get())]
    what, location = (culprits[0].cell.what, culprits[0].location) if stored else (escaped[0].what, escaped[0].location)
    for write in reversed(stored):
        write.cell.set(write.before)
    for store in reversed(list(trace.stores.values())):
        store.undo(store.owner)
    raise UnimplementedError(
        f"{what} stores a tensor that has no value yet in an object that outlives the function; it would happen "
        "once, when the function is traced: return the tensor, or keep it in a Variable"
    ).at(location)


def check_repeatable(trace: Trace) -> None:
    """Raises if a function cannot be run again from its start, eagerly, because its effects cannot be undone."""
    owners = _owners(trace)
    _drop_dead(owners)
    for owner in owners.values():
        for write in owner.writes:
            write.cell.set(write.before)
            if not (write.cell.restorable or write.cell.holds(write.before)):
                raise UnimplementedError(
                    f"{write.cell.what} comes before {trace.builder.name} makes Variables in its first call, which "
                    "must therefore run again from its start; make the Variables earlier (a layer's `build`), or pass "
                    "the data as an argument"
                ).at(write.location) from None


def is_repeatable(trace: Trace) -> bool:
    """Returns True if all effects of a trace on Python objects can be undone, including effects only the trace sees."""
    writes = (*trace.journal.writes.values(), *trace.journal.native_writes.values())
    return all(write.cell.restorable or write.cell.holds(write.before) for write in writes)


def take_back_tensors(trace: Trace) -> None:
    """Removes the tensors of a failed trace from the objects that hold them, since they are meaningless now."""
    for write in reversed(list(trace.journal.writes.values())):
        if not isinstance(write.cell, TensorCell) and front_end.holds_symbols(write.cell.get()):
            write.cell.set(write.before)
    for store in reversed(list(trace.stores.values())):
        store.undo(store.owner)


def _owners(trace: Trace) -> dict[int, _Owner]:
    """Returns the objects in a trace's journal; empties the journal, unless it may still be needed."""
    owners: dict[int, _Owner] = {}
    for write in (*trace.journal.writes.values(), *trace.journal.native_writes.values()):
        made_here = isinstance(write.cell.owner, type) and write.cell.owner in trace.made_classes
        if not isinstance(write.cell, TensorCell) and not made_here:
            owners.setdefault(id(write.cell.owner), _Owner(write.cell.owner, [])).writes.append(write)
            trace.stores.pop(id(write.cell.owner), None)  # the journal records it, and holds the only reference
    if trace.lifting is None or not trace.lifting.is_used:
        trace.journal.writes.clear()
        trace.journal.native_writes.clear()
    return owners


def _made(trace: Trace) -> list[tuple[Any, Location | None]]:
    """Returns the stateful objects made in the trace that are still alive."""
    return [(created, location) for reference, location in trace.made if (created := reference()) is not None]


def _drop_dead(owners: dict[int, _Owner]) -> None:
    """Drops the objects that only the journal refers to, which may free others in turn."""
    while dead := [key for key, owner in owners.items() if not owner.is_left()]:
        for key in dead:
            del owners[key]


def _escaped(stores: dict[int, TensorStore]) -> list[TensorStore]:
    """Returns the stores whose owner has a reference other than the store's."""
    return [store for store in stores.values() if sys.getrefcount(store.owner) > _UNREFERENCED]


def _references_of_unreferenced() -> int:
    stores = {0: TensorStore(object(), "", None, lambda owner: None)}
    return next(sys.getrefcount(store.owner) for store in stores.values())


_UNREFERENCED = _references_of_unreferenced()
"""Reference count of an object that only a store refers to."""


# Python side effects of tracing: detected, then reported once or refused.
#
# The trace records calls that touch the outside world as they happen. Its journal lists the writes to objects, globals
# and variables of other functions, once it is known which of them outlive the call.


def find_side_effects(trace: Trace, writes: Sequence[Write]) -> list[SideEffect]:
    """Returns the side effects of tracing a function, which calls will not repeat; each once per line."""
    changed = changes(writes)
    if changed and trace.forbids_side_effects:
        first = changed[0]
        for write in reversed(changed):
            write.cell.set(write.before)
        when = "when" if _is_followed(trace, first) else "once, when"
        raise UnimplementedError(
            f"{first.cell.what} would happen {when} {trace.builder.name} is traced, and not at each call, which "
            f"side_effects='error' forbids; {first.cell.remedy or 'return the value, or keep it in a Variable'}"
        ).at(first.location)
    effects = [
        SideEffect(write.cell.what, write.location, _is_followed(trace, write), write.cell.remedy or _STATE)
        for write in changed
    ]
    once: dict[Any, SideEffect] = {}
    for effect in (*trace.side_effects, *effects):
        once.setdefault((effect.what, effect.location), effect)
    return list(once.values())


def changes(writes: Iterable[Write]) -> list[Write]:
    """Returns the writes that changed something."""
    return [write for write in writes if not write.cell.holds(write.before)]


def _is_followed(trace: Trace, write: Write) -> bool:
    """Returns True for a write to an attribute of an argument, which the trace depends on."""
    source = trace.reads.source(write.cell.owner)
    return hasattr(write.cell, "name") and source is not None and source.of_call


_REMEDY = (
    "put code that must run at each call into gx.pyfunc, state into a Variable, and draw random numbers from gx.random"
)
_STATE = (
    "later calls reuse what the function read there when it was traced. Keep what changes in a gx.Variable, or pass it "
    "in and return it; put code that must run at each call into gx.pyfunc"
)


class SideEffects:
    """Reports the side effects of one function, each of them once, however often it is traced."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._told: set[SideEffect] = set()
        self._told_changed = False

    def tell_changed(self, read: str, location: Location | None) -> None:
        """Warns, once, that Python code which a program calls changed what the function had read when it was traced."""
        if not self._told_changed:
            self._told_changed = True
            message = (
                f"Python code that {self._name} calls changed {read}, which {self._name} read when it was traced: what "
                "it reads below the call is from before, and the next call is traced anew. Return what changes from "
                "gx.pyfunc, or keep it in a gx.Variable; if nothing else uses it, let the function of gx.pyfunc "
                "capture it (lambda x: log.append(x)); side_effects='ignore' accepts it"
            )
            warn_at(SideEffectWarning(message), location)

    def tell(self, effects: Iterable[SideEffect]) -> None:
        """Warns of the effects not reported before, each at its own line."""
        for effect in effects:
            if effect in self._told:
                continue
            self._told.add(effect)
            if effect.followed:
                message = (
                    f"{effect.what} happens when {self._name} is traced, and not at each call: graphc traces it anew "
                    "for each value that it finds there. Keep changing state in a Variable; side_effects='ignore' "
                    "accepts it"
                )
                warn_at(SideEffectWarning(message), effect.location)
                continue
            remedy = effect.remedy or _REMEDY
            message = (
                f"{effect.what} happens once, when {self._name} is traced, and not at each call. "
                f"{remedy[0].upper()}{remedy[1:]}; side_effects='ignore' accepts it"
            )
            warn_at(SideEffectWarning(message), effect.location)
