"""Entries: the fast path of a call, generated for one trace and one kind of arguments.

An entry takes the arguments of the user's function, checks the guards of its trace, collects the arrays and Variables,
and calls the program. The only entry of a function becomes its ``__call__``, so that a call is one Python frame; if
there are several, the function tries them in turn, and each returns MISS if it does not fit.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping, Sequence
from itertools import cycle, repeat
from typing import Any, cast

import jax
import numpy as np

from graphc.compiler.base import nest
from graphc.compiler.core import SCALARS, SymbolicTensor, Tensor
from graphc.compiler.function.arguments import Arguments, Binder
from graphc.compiler.function.guards import MISS, Binding, GuardWriter, Signals
from graphc.compiler.function.running import ProgramRun, run_trace
from graphc.compiler.function.traced import TracedFunction
from graphc.compiler.tracing import ReadGuard, Source, addresses, is_array, is_fixed

# Trees: nested lists and dicts of plain values, whose many guards become one.
#
# The guards of a list of lists compare each row by itself, at up to a microsecond a row. As long as nobody has changed
# any of the containers, one look at the identities of all that they hold says so, at some nanoseconds an item. If
# something has changed, the guards themselves decide.

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
    """Returns guards of which those of nested containers are one guard for each tree of them."""
    groups: dict[Any, tuple[Source, list[ReadGuard]]] = {}
    for guard in guards:
        root = guard.source
        while _is_item(root):
            root = cast("Source", root.base)
        groups.setdefault(root.key, (root, []))[1].append(guard)
    merged: list[ReadGuard] = []
    for root, group in groups.values():
        parts = [guard for guard in group if not guard.others and guard.test.startswith(_OF_CONTENTS)]
        tree = _Tree(root, parts) if len(parts) > _FEWEST else None
        if tree is None or not tree.hold(find(root)):
            merged += group
        else:
            merged += [
                ReadGuard(root, "{0}.is_held({v}) or {0}.compared({v})", (tree,)),
                *(guard for guard in group if guard not in parts),
            ]
    return merged


def _is_item(source: Source) -> bool:
    """Returns True for an item of a list, tuple or dict, by a plain index or key."""
    base, key = source.base, source.key
    return base is not None and key[:-3] == base.key and key[-3] == "[]" and key[-2] in (int, str)


class _Tree:
    """Checks the contents of nested containers."""

    def __init__(self, root: Source, parts: Sequence[ReadGuard]) -> None:
        writer = GuardWriter(["root"])
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
    containers: dict[int, Any] = {}
    todo = [value]
    while todo:
        one: Any = todo.pop()
        kind = cast("type[Any]", type(one))
        if is_fixed(one) or isinstance(one, enum.Enum | type):
            continue
        if kind not in (list, dict, tuple, set):
            return None
        if id(one) in containers:
            continue
        if kind is not tuple:
            containers[id(one)] = one
        if kind is dict and not all(map(is_fixed, one)):
            return None
        most -= len(one)
        if most < 0:
            return None
        todo += one.values() if kind is dict else one
    return list(containers.values())


def _remembered(root: Any, containers: Sequence[Any]) -> tuple[Callable[[Any], bool], int]:
    """Returns a function that returns True for the outermost container if none has changed, and the number of items."""
    # Written out, it takes half the time of loops over the containers.
    names: dict[str, Any] = {"root": root, "containers": containers, "end": object(), "addresses": addresses}
    items = ""
    for index, one in enumerate(containers):
        names[f"c{index}"] = one
        items += f"*c{index}, *c{index}.values(), end, " if type(one) is dict else f"*c{index}, end, "
    exec(f"def look(): return ({items})", names)
    names["items"] = names["look"]()  # no other objects have these identities while these live
    names["places"] = addresses(names["items"])
    exec(f"def is_held(value): return value is root and addresses(({items})) == places", names)
    return names["is_held"], len(names["items"])


_LISTS = (list, tuple)
_MOST_REMEMBERED = 1000
_PLAIN = frozenset((bool, int, float, str, type(None)))
_KINDS = (Tensor, *SCALARS, *_LISTS)


def kinds_of(arguments: Arguments, traced: TracedFunction) -> tuple[Any, ...] | None:
    """Returns the kinds of the array arguments, which distinguish the entries of one trace."""
    # None if there can be no entry: the arguments are not the trace's operands.
    leaves = _leaves(arguments)
    if leaves is None or (arguments.values is not arguments.given and not traced.is_simple):
        return None
    plain = all(type(leaf) in _KINDS or isinstance(leaf, jax.Array | np.ndarray | np.generic) for leaf in leaves)
    if not plain or any(isinstance(leaf, SymbolicTensor) for leaf in leaves):
        return None
    return tuple([(type(leaf), _dtype(leaf)) for leaf in leaves])


def _dtype(leaf: Any) -> Any:
    return np.asarray(leaf).dtype if type(leaf) in _LISTS else getattr(leaf, "dtype", None)


def _leaves(arguments: Arguments) -> list[Any] | None:
    """Returns the array arguments, and the numbers that input_signature made tensors; None if they are in lists."""
    leaves: list[Any] = []
    for name, value in arguments.values.items():
        original = arguments.given[name]
        if (
            value is not original
            and type(original) not in SCALARS
            and not (type(original) in _LISTS and type(value) is Tensor)
        ):
            return None
        leaves += [original] if value is not original else filter(is_array, nest.flatten(value)[0])
    return leaves


def _defaults(arguments: Arguments, binder: Binder) -> set[int]:
    """Returns the identities of the array arguments that are parameters' defaults, or in one."""
    parameters = binder.signature.parameters
    chosen = [value for name, value in arguments.values.items() if value is parameters[name].default]
    return {id(leaf) for value in chosen for leaf in nest.flatten(value)[0]}


def entry(
    traced: TracedFunction, arguments: Arguments, binder: Binder, signals: Signals, *, alone: bool
) -> Callable[..., Any]:
    """Returns the entry of a trace for arguments of these kinds; the entry takes all parameters by position."""
    writer = GuardWriter(arguments.values)
    body = _body(traced, writer, arguments, binder, signals, alone=alone)
    return writer.function(", ".join(writer.parameters.values()), body)


def only_entry(
    traced: TracedFunction, arguments: Arguments, binder: Binder, signals: Signals, *, alone: bool = True,
    bounded: bool = False, fixed: Mapping[str, Any] | None = None, passes: Callable[[], bool] | None = None,
) -> Callable[..., Any]:  # fmt: skip
    """Returns the entry of a function with a single entry, which becomes its ``__call__``."""
    # alone: as for :func:`entry`; False if there are entries for other device scopes.
    # fixed: for a concrete function, the required values of the arguments that are not tensors.
    # passes: returns True if the entry may run in a thread that is busy.
    writer = GuardWriter(arguments.values, miss="break")
    for name, value in (fixed or {}).items():
        writer.require(f"{writer.parameters[name]} == {writer.constant(value)}")
    body = _body(traced, writer, arguments, binder, signals, alone=alone, bounded=bounded)
    arrays = [name for name, value in arguments.values.items() if is_array(value)]
    return _method(writer, Binding.of(binder.signature, writer, signals, arrays, fixed, passes), body)


def chooser(
    binder: Binder, signals: Signals, used: set[Callable[..., Any]], promote: Callable[[Any], None],
    patience: tuple[int, int], passes: Callable[[], bool],
) -> Callable[..., Any]:  # fmt: skip
    """Returns a function that tries several entries in turn, from its globals ``ag__first`` and ``ag__others``."""
    # Where there are ``ag__many``, it remembers which entry served arguments like these, and tries that before it goes
    # through them all.
    # patience: the number of calls served by other entries before one is promoted; then the number of those served by
    # remembered entries.
    # passes: returns True if an entry may run in a thread that is busy.
    writer = GuardWriter(binder.signature.parameters, miss="break")
    turns, rare_turns = (cycle([*repeat(False, calls - 1), True]) for calls in patience)
    writer.namespace.update(
        ag__used=used, ag__promote=promote, ag__turns=turns, ag__rare_turns=rare_turns, ag__next=next,
        ag__plain=_PLAIN, ag__array=np.ndarray, ag__known={}, Tensor=Tensor,
    )  # fmt: skip
    passed = ", ".join(writer.parameters.values())
    served, recalled = (
        ["ag__used.add(ag__entry)", f"if ag__next({turns}): ag__promote(ag__entry)", "return results"]
        for turns in ("ag__turns", "ag__rare_turns")
    )
    body = [
        f"results = ag__first({passed})",
        "if results is not MISS: return results",
        "if ag__many:",
        f"    ag__key = ({''.join(map(_hint, writer.parameters.values()))})",
        "    ag__entry = ag__known.get(ag__key)",
        "    if ag__entry is not None:",
        f"        results = ag__entry({passed})",
        "        if results is not MISS:",
        *(f"            {line}" for line in recalled),
        "for ag__entry in ag__others:",
        f"    results = ag__entry({passed})",
        "    if results is not MISS:",
        "        if ag__many:",
        f"            if len(ag__known) == {_MOST_REMEMBERED}: ag__known.clear()",
        "            ag__known[ag__key] = ag__entry",
        *(f"        {line}" for line in served),
        "break",
    ]
    return _method(writer, Binding.of(binder.signature, writer, signals, passes=passes), body)


def _hint(name: str) -> str:
    """Returns what tells a call's traces apart, most often and in a tenth of a microsecond, of one argument."""
    of_array = f"{name}.shape if type({name}) is ag__array else type({name})"
    return f"{name}.raw.aval if type({name}) is Tensor else {name} if type({name}) in ag__plain else {of_array}, "


def _method(writer: GuardWriter, binding: Binding, body: list[str]) -> Callable[..., Any]:
    """Returns a method that binds the call's arguments and runs lines that stop at a miss."""
    lines = ["while True:", *(f"    {line}" for line in (*binding.lines, *body)), *binding.missed]
    return writer.function(binding.parameters, lines)


def _body(
    traced: TracedFunction, writer: GuardWriter, arguments: Arguments, binder: Binder, signals: Signals, *, alone: bool,
    bounded: bool = False,
) -> list[str]:  # fmt: skip
    """Returns the code that checks the guards and calls the program."""
    alone = alone and traced.is_simple
    arrays = dict[Any, str]()
    leaves = _leaves(arguments) or []
    pairs = list(zip(traced.inputs, leaves, strict=True))
    types = dict(zip(traced.inputs, traced.types, strict=True))
    unused, defaults = traced.unused_inputs, _defaults(arguments, binder)

    def array(source: Source, leaf: Any) -> str:
        used, is_default = source not in unused, id(leaf) in defaults
        return writer.array(source, leaf, alone=alone, used=used, is_default=is_default)

    # Most selective first: the types of array arguments, then the contents of other arguments.
    for source, leaf in pairs:
        if type(leaf) in SCALARS:
            arrays[source] = writer.number(source, leaf, types[source].dtype)
        elif type(leaf) in _LISTS:
            arrays[source] = writer.numbers(source, leaf, types[source])
        elif source.base is None:
            arrays[source] = array(source, leaf)
    every = folded(traced.guards, lambda source: traced.value_of(source, arguments))
    guards = [guard for guard in every if guard.source.of_call]
    outside = [guard for guard in every if not guard.source.of_call]
    for guard in guards:
        writer.guard(guard)
    for source, leaf in pairs:
        if source.base is not None:
            arrays[source] = array(source, leaf)
    for guard in outside:
        writer.guard(guard)
    writer.distinct(*traced.distinct)
    operands = [writer.find(source) for source in traced.wanted]
    inputs = [arrays[source] for source in traced.inputs]
    if not traced.is_simple:
        tail = run_trace(traced, writer, inputs, operands)
    else:
        tensors = [writer.find(source) if type(leaf) is Tensor else "" for source, leaf in pairs]
        whole = [arrays[source] for source, leaf in pairs if isinstance(leaf, Tensor | jax.Array)]
        run = ProgramRun(traced, writer, operands, bounded=bounded)
        tail = run.lines(inputs, tensors, whole if signals.looks else None)
    return [*writer.guarded(), *tail]
