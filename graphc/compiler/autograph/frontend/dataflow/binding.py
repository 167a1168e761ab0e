"""Finds the reads of variables that may be unbound.

A forward pass. A construct reads its state before it runs, so a name of the state that may be unbound there starts as
the mark ``ag__.unbound(name)``, and every read of it that may see the mark goes through ``ag__.load``.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from graphc.compiler.autograph.frontend.dataflow.liveness import Branch, Construct, Frame, swallows
from graphc.compiler.autograph.frontend.lower_jumps import MaskedFor
from graphc.compiler.autograph.frontend.lower_try import ScopedTry
from graphc.compiler.autograph.frontend.scopes import NameTable, Scope

__all__ = ["Bindings"]

Bound: TypeAlias = frozenset[str] | None  # None: control does not come here


def _both(first: Bound, second: Bound) -> Bound:
    if first is None or second is None:
        return second if first is None else first
    return first & second


class Bindings:
    """The variables of one function that may be unbound, at each point.

    Args:
      body: the function's statements, without jumps.
      scope: the function's names.
      constructs: the state of its constructs; the frames in it learn which names start undefined.
      table: the names of its statements.

    Attributes:
      frame: the variables of the function itself.
      undefined: the names that may hold the mark, in any frame.
    """

    def __init__(
        self, body: Sequence[ast.stmt], scope: Scope, constructs: Mapping[ast.stmt, Construct], table: NameTable
    ) -> None:
        self._names = table.of
        self.frame = Frame(scope.local)
        self.undefined: set[str] = set()
        self._constructs = constructs
        self._declared = scope.declared
        self._frames = [self.frame]
        self._bound: dict[ast.AST, frozenset[str]] = {}
        self._block(body, frozenset(scope.parameters))
        self._need(scope.local - scope.names.assigned, frozenset(scope.parameters))
        held = {name for construct in constructs.values() for name in _held(construct)}
        # A name that a construct holds must not become unbound in Python's way: that would break its reader.
        self.undefined |= (scope.names.deleted & held) - scope.declared

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

    def _inside(self, branch: Branch, body: Sequence[ast.stmt], bound: frozenset[str]) -> Bound:
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
        if isinstance(node, ScopedTry):
            after = _both(bound - self._deleted(node.body), after)  # its scope may swallow what the body ends in
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
