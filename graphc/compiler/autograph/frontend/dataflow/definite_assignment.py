"""Finds the names that are bound on every path to each of their reads.

A forward pass over a function as the user wrote it, with its jumps. ``found = k; break`` in a loop and ``found = -1``
in its ``else`` bind ``found`` on every way; once the jumps are flags, that is no longer to be seen. In place of what
such a name holds where it is not bound yet anything may stand, since nobody looks at it.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from graphc.compiler.autograph.frontend.dataflow.liveness import swallows
from graphc.compiler.autograph.frontend.scopes import NameTable, Scope

__all__ = ["always_bound"]

Bound: TypeAlias = frozenset[str] | None  # None: control does not come here


def always_bound(body: Sequence[ast.stmt], scope: Scope, table: NameTable) -> frozenset[str]:
    """Returns the local variables of a function that no way through it reads unbound.

    Args:
      body: its statements, with jumps.
      scope: its names.
      table: the names of its statements.
    """
    found = _Ways(table)
    found.block(body, frozenset(scope.parameters))
    names = scope.names
    return scope.local - scope.declared - names.deferred - names.rebound - names.deleted - found.doubtful


def _both(first: Bound, second: Bound) -> Bound:
    if first is None or second is None:
        return second if first is None else first
    return first & second


@dataclass(slots=True)
class _Ways:
    """The ways through a function.

    Attributes:
      doubtful: the names that one of them reads unbound.
      left: for each loop around, what is bound wherever it is left by ``break``.
    """

    table: NameTable
    doubtful: set[str] = field(default_factory=set[str])
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
