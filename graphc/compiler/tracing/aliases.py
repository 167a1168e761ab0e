"""Aliases: objects that at run time are one of several other objects.

After ``if c: x = y``, Python's ``x`` is either the object that it was before or the very object ``y``. The trace makes
a new object that holds the values of one or the other. The two differ only when the object is changed in place (an
item assignment, an append): Python's change would be visible through every name of the chosen object, the trace's
change only through names of the new object. graphc therefore refuses such a change, unless no other code can see the
source objects.

The values of a graph, too, may be one tensor of the program. Eager code knows tensors by their objects, so two names of
one tensor are one for a tape. In a trace, a name that a branch or loop assigns has a value of its own, although it may
hold a tensor that has other names. What branches and loops merely pass on tells which; :func:`keep_apart` refuses two
values that may be one tensor.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from graphc.compiler.base.errors import GraphcError, UnimplementedError
from graphc.compiler.core import SymbolicTensor, Tensor
from graphc.compiler.ir import Graph, Node, TensorType, Value
from graphc.compiler.tracing.guard_kinds import ReadGuard
from graphc.compiler.tracing.sources import Source, fixed

if TYPE_CHECKING:
    from graphc.compiler.tracing.trace import Trace


_RETURN = "ag__return"
"""Name of the variable that holds the return value of a converted function."""


@dataclass(eq=False)
class Alias:
    """An object that represents one of several source objects."""

    value: Any
    name: str  # the variable that held it first
    # The objects that it may be; None if they are unknown, in which case it must never be changed.
    sources: tuple[Any, ...] | None
    held: int = 0  # the number of references to each source that the user's code cannot see
    changed: bool = False  # True once the object has been changed
    # The Python types that it may have in plain Python, if some of its sources are numbers.
    numbers: frozenset[type[Any]] = frozenset()
    # True if it is the return value of a function that may have returned already, depending on tensors. Code that is
    # still to run executes only if the function has not returned, and so cannot see the object, except for code that
    # runs in both cases.
    pending: bool = False
    # The arguments, by position, whose memory it may have if they are NumPy arrays; None if its value tells.
    memory: frozenset[int] | None = None
    before: Alias | None = None  # what was known of it before it was put into a list

    def error(self, what: str) -> UnimplementedError:
        """Returns the error that refuses a change."""
        name = "the return value" if self.name == _RETURN else self.name
        name = name if name.startswith(("the ", "a ")) else repr(name)
        return UnimplementedError(
            f"{what} changes an object that {name} may or may not be at run time, depending on tensors: "
            "after an assignment in a branch or loop, or in a list whose length is known only at run time, other names "
            "may or may not see the change. Change a copy (x = x.copy(), x = list(x)), or make a new object instead "
            "(x = x.at[index].set(value), x = [*x, value])"
        )


# Counted, since without the counts `y = x + 1 if c else x * 2; y[0] = 5.0` would be refused: nobody sees the sources.
def _references(values: tuple[Any, ...]) -> list[int]:
    return [sys.getrefcount(value) for value in values]


(_UNSEEN,) = _references((object(),))
"""Reference count of an object that only a tuple refers to."""


def _references_of_value() -> int:
    alias = Alias(object(), "", None)
    return sys.getrefcount(alias.value)


_UNSEEN_VALUE = _references_of_value()


class AliasSet:
    """All aliases of a function that is being traced."""

    def __init__(self) -> None:
        self.num_leaving = 0  # the number of open blocks that are traced whether or not the function has returned
        self._by_value: dict[int, Alias] = {}
        self._by_source: dict[int, list[Alias]] = {}

    def __len__(self) -> int:
        return len(self._by_value)

    def add(
        self, value: Any, name: str, sources: tuple[Any, ...] | None, references: int = 0,
        numbers: frozenset[type[Any]] = frozenset(),
    ) -> None:  # fmt: skip
        """Registers an object as an alias of several others, or of a number."""
        alias = Alias(value, name, sources, references, numbers=numbers, pending=name == _RETURN)
        self._by_value[id(value)] = alias
        for source in sources or ():
            self._by_source.setdefault(id(source), []).append(alias)

    def settle(self, values: Iterable[Any]) -> None:
        """Notes that a function has returned objects, which its caller may see from now on."""
        for value in values:
            alias = self._by_value.get(id(value))
            if alias is not None:
                alias.pending = False

    def get(self, value: Any) -> Alias | None:
        """Returns the alias record of an object; None if it has none."""
        return self._by_value.get(id(value))

    def freeze(self, value: Any, name: str, memory: frozenset[int] | None = None) -> None:
        """Marks an object as unchangeable, because copies represent it elsewhere."""
        before = self.get(value)
        self.add(value, name, None)
        alias = self._by_value[id(value)]
        alias.memory, alias.before = memory, before

    def is_frozen(self, value: Any) -> bool:
        """Returns True if an object may never be changed."""
        alias = self._by_value.get(id(value))
        return alias is not None and alias.sources is None

    def tensors(self) -> list[SymbolicTensor]:
        """Returns the tensors that represent others and have a node."""
        values = [alias.value for alias in self._by_value.values()]
        return [one for one in values if isinstance(one, SymbolicTensor) and getattr(one, "is_used", True)]

    def chosen(self) -> set[Value]:
        """Returns the graph's values that an index chose of several, such as items of lists."""
        values: set[Value] = set()
        for alias in self._by_value.values():
            if isinstance(alias.value, SymbolicTensor) and getattr(alias.value, "is_used", True):
                node = alias.value.raw.node
                link: Alias | None = alias
                while link is not None:
                    # A frozen tensor with a memory was taken from a list; without, it was put into one.
                    if link.memory is not None or (link.sources and node is not None and not node.regions):
                        values.add(alias.value.raw)
                    link = link.before
        return values

    def changing(self, value: Any) -> Alias | None:
        """Notes that an object is about to be changed; returns the alias that forbids the change, if any."""
        own = self._by_value.get(id(value))
        if own is not None:
            chain = self._chain(own)
            if chain is None or self._is_seen(chain):
                return own
            own.changed = True
            # Two names may hold one of the sources although no name holds that source itself.
            for source in [source for link in chain for source in link.sources or ()]:
                for twin in self._standing_for(source):
                    if twin not in chain and self._is_visible(twin):
                        return twin
        for other in self._standing_for(value):
            if self._is_visible(other):
                return other
        return None

    def _standing_for(self, value: Any) -> list[Alias]:
        """Returns the aliases of an object, the aliases of those, and so on."""
        aliases = list(self._by_source.get(id(value), ()))
        for link in aliases:
            further = self._by_source.get(id(link.value), ())
            aliases.extend([other for other in further if other not in aliases])
        return aliases

    def _chain(self, alias: Alias) -> list[Alias] | None:
        """Returns an alias and, transitively, its sources that are aliases; None if one of them has unknown sources."""
        chain = [alias]
        for link in chain:
            if link.sources is None:
                return None
            further = [self._by_value.get(id(source)) for source in link.sources]
            chain.extend([other for other in further if other is not None and other not in chain])
        return chain

    def _is_visible(self, alias: Alias) -> bool:
        """Returns True if code that is still to run can see the alias's object."""
        return (self.num_leaving > 0 or not alias.pending) and self._is_alive(alias)

    def _is_alive(self, alias: Alias) -> bool:
        """Returns True if the user's code can still see the alias's object."""
        return sys.getrefcount(alias.value) > _UNSEEN_VALUE + len(self._by_source.get(id(alias.value), ()))

    def _is_seen(self, chain: list[Alias]) -> bool:
        """Returns True if the user's code can see a source of an alias in the chain."""

        def seen() -> bool:
            return any(
                count > _UNSEEN + own
                for link in chain
                for count, own in zip(_references(link.sources or ()), self._known(link), strict=True)
            )

        if seen():
            gc.collect()  # frees objects that only a cycle of dead objects holds
        return seen()

    def _known(self, alias: Alias) -> list[int]:
        """Returns, for each source, the number of references that neither the alias nor the user's code holds."""
        return [
            alias.held + len(self._by_source[id(source)]) - 1 + (id(source) in self._by_value)
            for source in alias.sources or ()
        ]

    def extend(self, value: Any, source: Any) -> None:
        """Adds an object to those that an alias may be, if the others are known."""
        alias = self._by_value.get(id(value))
        if alias is None or alias.sources is None or any(source is one for one in (value, *alias.sources)):
            return
        alias.sources += (source,)
        self._by_source.setdefault(id(source), []).append(alias)

    def release(self, start: int) -> None:
        """Notes that the loop is over that held sources of the aliases added after the first ``start``."""
        for alias in list(self._by_value.values())[start:]:
            alias.held = 0

    def forget(self, start: int = 0) -> None:
        """Drops the aliases added after the first ``start``."""
        for alias in list(self._by_value.values())[start:]:
            del self._by_value[id(alias.value)]
            for source in alias.sources or ():
                self._by_source[id(source)].remove(alias)


Refusal: TypeAlias = "Callable[[], GraphcError]"
"""Makes the error for two values that may be one tensor."""

Distinct: TypeAlias = tuple[Value, Value, Refusal]
"""Two inputs of a loop's body that must not be one tensor in any iteration."""

_BRANCHES = ("cond", "switch")
_FIRST_CARRY = {"scan": 1, "while": 0}
"""The position of the first carried value among the inputs of a loop's body."""

_PACKING = frozenset(
    (
        "astype", "concat", "expand_dims", "flip", "get_item", "permute_dims", "reshape", "squeeze", "stack", "take",
        "update_item", "where",
    )
)  # fmt: skip
"""The ops by which the items of a list become an array, and items again."""


@dataclass(frozen=True)
class _Inside:
    """A place inside a body of a node."""

    node: Node
    body: Graph
    around: _Inside | None  # where the node stands; None for the graph that is asked about


@dataclass
class _Origins:
    """A search for the tensors that a value may be."""

    items: Container[Value]  # the values that stand for items of lists
    stop: Value | None = None  # a value that is not followed further
    found: set[Value] = field(default_factory=set[Value])
    # Those that a body makes and puts into a list once, so that two items of the list are not both of one run.
    single: set[Value] = field(default_factory=set[Value])
    # Arrays from outside the graph that hold lists with the tensor.
    lists: set[Value] = field(default_factory=set[Value])

    def search(self, value: Value) -> _Origins:
        # A value, where it stands, and the type of the item that is looked for in an array.
        todo: list[tuple[Value, _Inside | None, TensorType | None]] = [(value, None, None)]
        for each in todo:  # grows on the way
            for step in self._steps(*each):
                item = step[2]
                if item is None or not _alike(step[0].type, item):
                    todo += [] if step in todo else [step]
                elif step in todo:
                    self.single.discard(step[0])
                else:
                    todo.append(step)
                    if step[1] is not None and step[0].node is not None:
                        self.single.add(step[0])
        return self

    def _steps(
        self, value: Value, inside: _Inside | None, item: TensorType | None
    ) -> Iterable[tuple[Value, _Inside | None, TensorType | None]]:
        node = value.node
        if item is not None and _alike(value.type, item):
            item = None  # one that was put into the array
        if item is None and value in self.items and value is not self.stop:
            item = value.type
            if node is not None:
                return _packed(node, inside, item)
        if value is self.stop or (node is None and inside is None):
            (self.found if item is None else self.lists).add(value)
        elif node is None:
            assert inside is not None
            return self._outside(value, inside, item)
        elif node.op.name in _BRANCHES:
            return [(body.outputs[value.index], _Inside(node, body, inside), item) for body in node.regions]
        elif node.op.name in _FIRST_CARRY and (item is not None or value.index < node.attrs["num_carry"]):
            body = node.regions[-1]
            last = body.outputs[value.index], _Inside(node, body, inside), item
            runs = value.index >= node.attrs["num_carry"] or node.attrs.get("length", 0) > 0
            return [last] if runs else [last, (node.inputs[value.index], inside, item)]
        elif item is not None:
            return _packed(node, inside, item) if node.op.name in _PACKING else []
        elif node.op.name == "astype" and node.inputs[0].type.weak and _alike(node.inputs[0].type, value.type):
            return [(node.inputs[0], inside, None)]  # as where another branch has a strong type
        else:
            self.found.add(value)
        return []

    def _outside(
        self, value: Value, inside: _Inside, item: TensorType | None
    ) -> Iterable[tuple[Value, _Inside | None, TensorType | None]]:
        """Returns what an input of a body stands for."""
        node, around = inside.node, inside.around
        if node.op.name in _BRANCHES:
            return [(node.inputs[1 + value.index], around, item)]
        position, count = value.index - _FIRST_CARRY[node.op.name], node.attrs["num_carry"]
        if position < 0 or (item is None and count <= position < count + node.attrs.get("num_xs", 0)):
            self.found.add(value)  # a row, which is a tensor of its own
            return []
        again = [(inside.body.outputs[position], inside, item)] if position < count else []
        return [(node.inputs[position], around, item), *again]


def _packed(node: Node, inside: _Inside | None, item: TensorType) -> list[tuple[Value, _Inside | None, TensorType]]:
    """Returns the operands of a node that may hold an item: no indices."""
    return [(operand, inside, item) for operand in node.inputs if operand.type.dtype == item.dtype]


def _alike(one: TensorType, other: TensorType) -> bool:
    return one.shape == other.shape and one.dtype == other.dtype


def keep_apart(trace: Trace, first: Value, second: Value, refuse: Refusal, stop: Value | None = None) -> None:
    """Refuses two values of a trace that may be one tensor."""
    # For a loop that is still traced, :func:`check_loop` decides; for the arguments of a function, a guard at each
    # call.
    # stop: a value whose own origins do not count for ``second``.
    items = trace.root.aliases.chosen()
    mine, theirs = _Origins(items).search(first), _Origins(items, stop).search(second)
    others = theirs.found - {stop}
    shared = mine.found & others
    if _are_two_items(first, second):
        shared -= mine.single
    if shared or _may_hold(trace, mine.lists, theirs) or _may_hold(trace, theirs.lists, mine):
        raise _refused(trace, refuse())
    for one in mine.found:
        for other in others:
            if _alike(one.type, other.type):
                _keep_inputs_apart(trace, one, other, refuse)


def _are_two_items(first: Value, second: Value) -> bool:
    """Returns True if two values are items at different known places of one array."""
    nodes = [value.node for value in (first, second)]
    if not all(node is not None and node.op.name == "get_item" and len(node.inputs) == 1 for node in nodes):
        return False
    arrays, indices = {node.inputs[0] for node in nodes if node}, [node.attrs["index"] for node in nodes if node]
    constant = all(len(index) == 1 and type(index[0]) is int and index[0] >= 0 for index in indices)
    return len(arrays) == 1 and constant and indices[0] != indices[1]


def _may_hold(trace: Trace, lists: set[Value], other: _Origins) -> bool:
    """Returns True if lists from outside a graph may hold a tensor: they hold none that the graph itself makes."""
    return bool(lists) and (bool(other.lists) or any(_is_input_of(trace, value) for value in other.found))


def _refused(trace: Trace, error: GraphcError) -> GraphcError:
    trace.abort_attempts(str(error))
    return trace.note_refusal(error)


def _keep_inputs_apart(trace: Trace, one: Value, other: Value, refuse: Refusal) -> None:
    """Refuses two inputs of a trace that may be one tensor; a value that is no input is a tensor of its own."""
    if not _is_input_of(trace, one) or not _is_input_of(trace, other):
        return
    if trace.parent is None:
        _keep_arguments_apart(trace, one, other, refuse)
        return
    outer = _captured(trace)
    if one in outer and other in outer:
        keep_apart(trace.parent, outer[one], outer[other], refuse)
    elif all((one, other) != pair[:2] for pair in trace.distinct):
        trace.distinct.append((one, other, refuse))


def _is_input_of(trace: Trace, value: Value) -> bool:
    inputs = trace.builder.inputs
    return value.node is None and value.index < len(inputs) and inputs[value.index] is value


def _captured(trace: Trace) -> dict[Value, Value]:
    """Returns the enclosing trace's values of a region's inputs for tensors from outside."""
    pairs = trace.captures.values()
    return {inner.raw: outer.raw for outer, inner in pairs if isinstance(outer, SymbolicTensor)}


def check_loop(
    region: Trace, carried: Sequence[SymbolicTensor], body: Trace, outputs: Sequence[SymbolicTensor],
    initial: Sequence[Tensor],
) -> None:  # fmt: skip
    """Refuses a loop if two inputs of its test or body that must be distinct are one tensor in some iteration."""
    if not region.distinct or region.parent is None:
        return
    positions = {argument.raw: index for index, argument in enumerate(carried)}
    outer = _captured(region)
    for one, other, refuse in region.distinct:  # grows on the way, if the region is the body
        if not all(value in positions or value in outer for value in (one, other)):
            continue  # another input, such as a row, is a tensor of its own
        around = [
            region.parent.lift(initial[positions[value]]) if value in positions else region.parent.wrap(outer[value])
            for value in (one, other)
        ]
        start = [tensor.raw for tensor in around]
        following = [
            (outputs[positions[value]] if value in positions else body.lift(tensor)).raw
            for value, tensor in zip((one, other), around, strict=True)
        ]
        try:
            keep_apart(region.parent, start[0], start[1], refuse)
        except GraphcError as error:
            region.abort(str(error))
            raise
        keep_apart(body, following[0], following[1], refuse)


def _keep_arguments_apart(trace: Trace, one: Value, other: Value, refuse: Refusal) -> None:
    """Refuses a call in which two inputs of the function are one tensor; guards the trace against such calls."""
    (first, source), (second, other_source) = _given(trace, one), _given(trace, other)
    if not isinstance(first, Tensor) or not isinstance(second, Tensor):
        return  # a tape follows no other array
    if first.snapshot() is second.snapshot():
        raise _refused(trace, refuse())
    if source.of_call or other_source.of_call or source.base is not None or other_source.base is not None:
        guard = ReadGuard(source, "{v} is not {s0}", (), others=(other_source,))
        trace.reads.guards.setdefault(("is not", source.key, other_source.key), guard)


def _given(trace: Trace, value: Value) -> tuple[object, Source]:
    """Returns what this call gives for an input of the function, and where a call finds it."""
    if value.index < len(trace.reads.inputs):
        return trace.memory.given(value.index), trace.reads.inputs[value.index]
    outer = next(outer for outer, inner in trace.captures.values() if inner.raw is value)
    return outer, trace.reads.source(outer) or fixed(outer, "a tensor from outside")
