"""Dataflow analyses of a function's variables: definite assignment, binding and liveness."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from graphc.compiler.autograph.frontend.emit import PREFIX
from graphc.compiler.autograph.frontend.lower_jumps import CONTINUE, DONE, RETURN, Mask, MaskedFor, is_flag
from graphc.compiler.autograph.frontend.scopes import NameTable, Scope, own_nodes

# Finds the state of each construct: the variables that it may rebind and that are read afterwards.
#
# A backward pass over a function without jumps. A name is live at a point when its value there may still be read. The
# state of an ``if`` is what its branches bind and is live behind it; the state of a loop is what it binds and is live
# at its head, that is, behind it or in its next iteration. Any other name that is bound inside stays a local variable
# of the generated function that holds the body.

NameSet: TypeAlias = frozenset[str]
NOTHING: NameSet = frozenset()

# Context managers known to swallow exceptions: what follows them may run although their body did not run to its end.
_SWALLOWING = frozenset({"suppress", "raises", "assertRaises", "assertRaisesRegex", "ignored"})


@dataclass(slots=True)
class Frame:
    """The local variables of one function of the result: the user's own, or the body of a construct."""

    owned: NameSet  # the user's variables that are local to it
    undefined: set[str] = field(default_factory=set[str])  # those of them that start as the mark for an unbound name


@dataclass(slots=True)
class ConstructBody:
    """The body of a construct."""

    assigned: NameSet
    captured: NameSet  # names it reads before it binds them, and that nobody reads after it: it works on a copy
    frame: Frame


@dataclass(slots=True)
class Construct:
    """The facts from which the code of an ``if``, ``while`` or ``for`` is generated."""

    state: tuple[str, ...]  # the names that the operator reads and writes, sorted
    body: ConstructBody  # its body, or the branch for true
    orelse: ConstructBody  # the branch for false; empty for a loop
    stored: tuple[str, ...] = ()  # names that a loop's body does not bind, and to whose items it assigns, in order
    # The names of the state that nobody reads after a jump, by the flag that a branch sets when it jumps; the flag
    # ``""`` stands for the jumps that were taken before, if the branch for false is run.
    unread: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])


def find_state(body: Sequence[ast.stmt], scope: Scope, table: NameTable) -> dict[ast.stmt, Construct]:
    """Finds the state of every construct of a function."""
    liveness = _Liveness(scope, table)
    liveness.block(body, scope.always_live, NOTHING)
    return liveness.constructs


def swallows(node: ast.With) -> bool:
    """Returns True if one of the context managers is known to swallow exceptions."""
    for item in node.items:
        function = item.context_expr.func if isinstance(item.context_expr, ast.Call) else item.context_expr
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        if name in _SWALLOWING:
            return True
    return False


def _is_ours(loop: ast.For | ast.While) -> bool:
    """Returns True if the user wrote no such loop, so that no jump leads to it."""
    return isinstance(loop, ast.For) and isinstance(loop.target, ast.Name) and loop.target.id.startswith(PREFIX)


class _Liveness:
    """Walks backwards. ``live`` is what is live behind a piece, ``caught`` what is live where an exception leads."""

    def __init__(self, scope: Scope, table: NameTable) -> None:
        self.constructs: dict[ast.stmt, Construct] = {}
        self._always = scope.always_live
        # What a function defined inside may rebind whenever it is called.
        self._shared: NameSet = frozenset(scope.names.rebound & scope.local)
        self._declared = scope.declared
        self._names = table.of
        # What is live where a jump leads, by its flag; and in the code on its way, such as ``finally`` blocks.
        self._targets: dict[str, NameSet] = {DONE: self._always | {RETURN}}
        self._on_the_way: NameSet = NOTHING

    def block(self, body: Sequence[ast.stmt], live: NameSet, caught: NameSet) -> NameSet:
        for node in reversed(body):
            live = self._statement(node, live, caught)
        return live

    def _reads(self, *nodes: ast.AST | None) -> NameSet:
        return NOTHING.union(*[self._names(node).reads for node in nodes if node is not None])

    def _assigned(self, body: Sequence[ast.AST]) -> NameSet:
        return NOTHING.union(*[self._names(node).assigned for node in body])

    def _without(self, live: NameSet, bound: set[str]) -> NameSet:
        return live - (bound - self._always)

    def _statement(self, node: ast.stmt, live: NameSet, caught: NameSet) -> NameSet:
        match node:
            case ast.If():
                return self._if(node, live, caught)
            case ast.While():
                return self._loop(node, self._reads(node.test), live, caught)
            case ast.For():
                going = self._reads(node.keep_going) if isinstance(node, MaskedFor) else NOTHING
                return self._loop(node, going, live, caught) | self._reads(node.iter)
            case ast.Try() | ast.TryStar():
                return self._try(node, live, caught)
            case ast.With():
                header = [part for item in node.items for part in (item.context_expr, item.optional_vars) if part]
                around, self._on_the_way = self._on_the_way, self._on_the_way | caught
                live = self.block(node.body, live, caught | live if swallows(node) else caught)
                self._on_the_way = around
                for part in header:
                    live = self._without(live, self._names(part).binds)
                return live | self._reads(*header) | caught
            case ast.Raise():
                return caught | self._always | self._reads(node)
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=True)) if name in self._targets:
                return self._after_jump([name], live) | caught
            case _:
                names = self._names(node)
                return self._without(live, names.binds).union(names.reads, caught)

    def _last(self, node: ast.Try | ast.TryStar, live: NameSet, caught: NameSet) -> NameSet:
        """Walks a ``finally`` block, which runs whether the function has jumped or not."""
        return self.block(node.finalbody, live, caught)

    def _branch(self, body: Sequence[ast.stmt], assigned: NameSet, state: NameSet, before: NameSet) -> ConstructBody:
        captured = (assigned - state) & before
        return ConstructBody(assigned, captured, Frame(assigned - state - self._declared))

    def _if(self, node: ast.If, live: NameSet, caught: NameSet) -> NameSet:
        passed = self._after_jump(node.flags, live) if isinstance(node, Mask) else live
        body, orelse = self.block(node.body, live, caught), self.block(node.orelse, passed, caught)
        in_body, in_orelse = self._assigned(node.body), self._assigned(node.orelse)
        state = (in_body | in_orelse | self._shared) & (live | caught)
        self.constructs[node] = Construct(
            tuple(sorted(state)),
            self._branch(node.body, in_body, state, body),
            self._branch(node.orelse, in_orelse, state, orelse),
            unread=self._unread(node, state, in_body | in_orelse),
        )
        return self._without(body | orelse, self._names(node.test).binds) | self._reads(node.test) | caught

    def _after_jump(self, flags: Iterable[str], live: NameSet) -> NameSet:
        """Returns what is live where some jumps lead, and on the way there."""
        if not all(flag in self._targets for flag in flags):
            return live
        ours = frozenset(name for name in live if name.startswith(PREFIX))
        return ours.union(self._on_the_way, *(self._targets[flag] for flag in flags))

    def _unread(self, node: ast.If, state: NameSet, assigned: NameSet) -> dict[str, tuple[str, ...]]:
        jumps = {flag: [flag] for flag in sorted(state & assigned) if flag in self._targets}
        if isinstance(node, Mask):
            jumps[""] = [*node.flags]
        unread = {flag: sorted(state - self._after_jump(flags, state)) for flag, flags in jumps.items()}
        return {flag: tuple(names) for flag, names in unread.items() if names}

    def _own_jumps(self, node: ast.For | ast.While) -> set[str]:
        """The flags of the jumps whose target is a loop, which no loop inside it sets; none for a loop of ours."""
        flags = {name for name in self._assigned(node.body) if is_flag(name)} - {DONE}
        if not flags or _is_ours(node):
            return set()
        loops = [part for part in own_nodes(node.body) if isinstance(part, ast.For | ast.While) and not _is_ours(part)]
        return flags - self._assigned(loops)

    def _loop(self, node: ast.For | ast.While, reads: NameSet, live: NameSet, caught: NameSet) -> NameSet:
        head, before = live | reads | caught, None
        around = self._targets
        jumps = self._own_jumps(node)
        while head != before:
            before = head
            self._targets = {**around, **{name: head if name.startswith(CONTINUE) else live for name in jumps}}
            inside = self.block(node.body, head, caught)
            if isinstance(node, ast.For):
                inside = self._without(inside, self._names(node.target).binds) | self._reads(node.target)
            head |= inside
        self._targets = around
        target = self._names(node.target).assigned if isinstance(node, ast.For) else set[str]()
        assigned = self._assigned(node.body) | target
        state = (assigned | self._shared) & head
        body = self._branch(node.body, assigned, state, NOTHING)
        stored = dict.fromkeys(name for part in node.body for name in self._names(part).stored if name not in assigned)
        self.constructs[node] = Construct(
            tuple(sorted(state)), body, ConstructBody(NOTHING, NOTHING, Frame(NOTHING)), (*stored,)
        )
        return head

    def _try(self, node: ast.Try | ast.TryStar, live: NameSet, caught: NameSet) -> NameSet:
        around = self._on_the_way
        if node.finalbody:
            # An exception goes on when the block ends. The last pass is the one that counts for its constructs.
            in_flight = self._last(node, caught, caught)
            live = self._last(node, live | caught, caught)
            caught = in_flight
            self._on_the_way |= in_flight
        handled = caught
        for handler in node.handlers:
            bound = {handler.name} if handler.name is not None else set[str]()
            handled |= self._without(self.block(handler.body, live, caught), bound) | self._reads(handler.type)
        after = self.block(node.orelse, live, caught)
        before = self.block(node.body, after, handled) | handled
        self._on_the_way = around
        return before


# Finds the reads of variables that may be unbound.
#
# A forward pass. A construct reads its state before it runs, so a name of the state that may be unbound there starts as
# the mark ``ag__.unbound(name)``, and every read of it that may see the mark goes through ``ag__.load``.

Bound: TypeAlias = frozenset[str] | None  # None: control does not come here


def _both(first: Bound, second: Bound) -> Bound:
    if first is None or second is None:
        return second if first is None else first
    return first & second


class Bindings:
    """The variables of one function that may be unbound, at each point."""

    def __init__(
        self, body: Sequence[ast.stmt], scope: Scope, constructs: Mapping[ast.stmt, Construct], table: NameTable
    ) -> None:
        self._names = table.of
        self.frame = Frame(scope.local)
        self.undefined: set[str] = set()  # the names that may hold the mark, in any frame
        self._constructs = constructs  # the state of its constructs; the frames in it learn which names start undefined
        self._declared = scope.declared
        self._frames = [self.frame]
        self._bound: dict[ast.AST, frozenset[str]] = {}
        self._block(body, frozenset(scope.parameters))
        self._need(scope.local - scope.names.assigned, frozenset(scope.parameters))
        carried = {name for construct in constructs.values() for name in _held(construct)}
        # A name that a construct holds must not become unbound in Python's way: that would break its reader.
        self.undefined |= (scope.names.deleted & carried) - scope.declared

    def doubtful(self, node: ast.AST) -> frozenset[str]:
        """Returns the names that may hold the mark where a statement begins."""
        return frozenset(self.undefined) - self._bound.get(node, frozenset())

    def _block(self, body: Sequence[ast.stmt], bound: Bound) -> Bound:
        for node in body:
            self._bound[node] = bound or frozenset()
            bound = self._statement(node, bound) if bound is not None else self._unreachable(node)
        return bound

    def _unreachable(self, node: ast.stmt) -> None:
        self._statement(node, frozenset())

    def _statement(self, node: ast.stmt, bound: frozenset[str]) -> Bound:
        match node:
            case ast.If():
                return self._if(node, bound)
            case ast.While() | ast.For():
                return self._loop(node, bound)
            case ast.Try() | ast.TryStar():
                return self._try(node, bound)
            case ast.With():
                inside = bound.union(
                    *(self._names(item.optional_vars).binds for item in node.items if item.optional_vars)
                )
                after = self._block(node.body, inside)
                return _both(inside - self._deleted(node.body), after) if swallows(node) else after
            case ast.Raise():
                return None
            case ast.Delete():
                return bound - self._names(node).binds
            case _:
                return bound | self._names(node).binds

    def _deleted(self, body: Sequence[ast.AST]) -> frozenset[str]:
        """Names that somewhere in the statements may become unbound."""
        return frozenset[str]().union(*(self._names(node).deleted for node in body))

    def _need(self, names: frozenset[str], bound: frozenset[str]) -> None:
        """A construct reads these names before it runs."""
        for name in names - bound - self._declared:
            owner = next(frame for frame in reversed(self._frames) if name in frame.owned)
            owner.undefined.add(name)
            self.undefined.add(name)

    def _inside(self, branch: ConstructBody, body: Sequence[ast.stmt], bound: frozenset[str]) -> Bound:
        self._frames.append(branch.frame)
        after = self._block(body, bound - (branch.frame.owned - branch.captured))
        self._frames.pop()
        return after

    def _if(self, node: ast.If, bound: frozenset[str]) -> Bound:
        construct = self._constructs[node]
        state = frozenset(construct.state)
        bound |= self._names(node.test).binds
        self._need(_held(construct), bound)
        body = self._inside(construct.body, node.body, bound)
        orelse = self._inside(construct.orelse, node.orelse, bound)
        after = _both(body, orelse)
        return None if after is None else (bound - state) | (after & state)

    def _loop(self, node: ast.For | ast.While, bound: frozenset[str]) -> frozenset[str]:
        construct = self._constructs[node]
        self._need(frozenset(construct.state), bound)
        bound -= self._deleted(node.body)
        target = self._names(node.target).binds if isinstance(node, ast.For) else set[str]()
        frame = construct.body.frame
        self._frames.append(frame)
        self._block(node.body, (bound - frame.owned) | target)
        self._frames.pop()
        if isinstance(node, MaskedFor | ast.While):
            self._bound[node.keep_going if isinstance(node, MaskedFor) else node.test] = bound
        return bound

    def _try(self, node: ast.Try | ast.TryStar, bound: frozenset[str]) -> Bound:
        after = self._block(node.body, bound)
        if node.orelse:
            after = self._block(node.orelse, after) if after is not None else None
        start = bound - self._deleted(node.body)
        for handler in node.handlers:
            self._bound[handler] = start
            name = frozenset[str]() if handler.name is None else frozenset({handler.name})
            end = self._block(handler.body, start | name)
            after = _both(after, None if end is None else end - name)
        if node.finalbody:
            final = self._block(node.finalbody, start - self._deleted([*node.handlers, *node.orelse]))
            after = None if final is None or after is None else (after - self._deleted(node.finalbody)) | final
        return after


def _held(construct: Construct) -> frozenset[str]:
    """Returns the names that a construct reads before it runs."""
    return construct.body.captured.union(construct.orelse.captured, construct.state)


# Finds the names that are bound on every path to each of their reads.
#
# A forward pass over a function as the user wrote it, with its jumps. ``found = k; break`` in a loop and ``found = -1``
# in its ``else`` bind ``found`` on every way; once the jumps are flags, that is no longer to be seen. In place of what
# such a name holds where it is not bound yet anything may stand, since nobody looks at it.


def always_bound(body: Sequence[ast.stmt], scope: Scope, table: NameTable) -> frozenset[str]:
    """Returns the local variables of a function that no way through it reads unbound."""
    ways = _Ways(table)
    ways.block(body, frozenset(scope.parameters))
    names = scope.names
    return scope.local - scope.declared - names.deferred - names.rebound - names.deleted - ways.doubtful


@dataclass(slots=True)
class _Ways:
    """The ways through a function."""

    table: NameTable
    doubtful: set[str] = field(default_factory=set[str])  # the names that one of them reads unbound
    # For each loop around, what is bound wherever it is left by ``break``.
    left: list[Bound] = field(default_factory=list[Bound])

    def block(self, body: Sequence[ast.stmt], bound: Bound) -> Bound:
        """Returns what is bound after some statements."""
        for node in body:
            if bound is None:
                return None
            bound = self._statement(node, bound)
        return bound

    def _read(self, bound: frozenset[str], *nodes: ast.AST | None) -> frozenset[str]:
        """Returns what is bound after some expressions."""
        for node in nodes:
            if node is not None:
                names = self.table.of(node)
                self.doubtful |= names.reads - bound
                bound |= names.binds
        return bound

    def _statement(self, node: ast.stmt, bound: frozenset[str]) -> Bound:
        match node:
            case ast.If():
                bound = self._read(bound, node.test)
                return _both(self.block(node.body, bound), self.block(node.orelse, bound))
            case ast.While():
                forever = isinstance(node.test, ast.Constant) and bool(node.test.value)
                return self._loop(node, self._read(bound, node.test), frozenset(), forever)
            case ast.For():
                bound = self._read(bound, node.iter)
                targets = self.table.of(node.target)
                self.doubtful |= targets.reads - bound
                return self._loop(node, bound, frozenset(targets.binds), False)
            case ast.Try() | ast.TryStar():
                return self._try(node, bound)
            case ast.With():
                inside = self._read(
                    bound, *[part for item in node.items for part in (item.context_expr, item.optional_vars)]
                )
                after = self.block(node.body, inside)
                return _both(inside, after) if swallows(node) else after
            case ast.Match():
                return self._match(node, self._read(bound, node.subject))
            case ast.Return() | ast.Raise():
                self._read(bound, node)
                return None
            case ast.Break():
                self.left[-1] = _both(self.left[-1], bound)
                return None
            case ast.Continue():
                return None
            case _:
                return self._read(bound, node)

    def _loop(self, node: ast.For | ast.While, bound: frozenset[str], targets: frozenset[str], forever: bool) -> Bound:
        self.left.append(None)
        self.block(node.body, bound | targets)
        left = self.left.pop()
        return left if forever else _both(self.block(node.orelse, bound), left)

    def _try(self, node: ast.Try | ast.TryStar, bound: frozenset[str]) -> Bound:
        # A jump out of the body runs the last block too, which only adds to what is bound.
        after = self.block(node.orelse, self.block(node.body, bound))
        for handler in node.handlers:
            name = frozenset[str]() if handler.name is None else frozenset({handler.name})
            after = _both(after, self.block(handler.body, self._read(bound, handler.type) | name))
        final = self.block(node.finalbody, bound)
        return None if after is None or final is None else after | final

    def _match(self, node: ast.Match, bound: frozenset[str]) -> Bound:
        after: Bound = None
        for case in node.cases:
            names = self.table.of(case.pattern)
            self.doubtful |= names.reads - bound
            inside = self._read(bound | names.assigned, case.guard)
            after = _both(after, self.block(case.body, inside))
        last = node.cases[-1]
        certain = last.guard is None and isinstance(last.pattern, ast.MatchAs) and last.pattern.pattern is None
        return after if certain else _both(after, bound)
