"""Helpers that the steps share which rewrite a function's statements."""

from __future__ import annotations

import ast
from typing import Any, cast

from graphc.compiler.autograph.frontend.emit import assign, constant, load, located, not_, visitor
from graphc.compiler.autograph.frontend.scopes import own_nodes
from graphc.compiler.autograph.frontend.unit import Unit

__all__ = ["Block", "StatementRewriter", "blocks", "if_", "lift_bindings"]

Block = list[ast.stmt]

_HOLDERS = ast.If | ast.For | ast.While | ast.With | ast.Try | ast.TryStar | ast.Match | ast.AsyncFor | ast.AsyncWith


def blocks(node: ast.stmt) -> list[Block]:
    """Returns the blocks of statements inside a statement, of the same function."""
    if not isinstance(node, _HOLDERS):
        return []
    known = vars(node)
    parts = [*known.get("handlers", ()), *known.get("cases", ())]
    return [known[name] for name in ("body", "orelse", "finalbody") if name in known] + [part.body for part in parts]


def if_(test: ast.expr, body: Block, orelse: Block, origin: ast.AST) -> ast.If:
    """Returns an ``if`` statement, at the place of ``origin``; ``body`` must not be empty."""
    return located(ast.If(test=test, body=body, orelse=orelse), origin)


class StatementRewriter(ast.NodeTransformer):
    """Visits all statements of one function, wherever they stand in it; each becomes any number of statements.

    Functions and classes inside it are left alone: a function is rewritten on its own, the body of a class not at all.

    Args:
      unit: the conversion this belongs to, for new names.
    """

    def __init__(self, unit: Unit) -> None:
        self.unit = unit

    def block(self, body: Block) -> Block:
        """Returns what stands in place of some statements."""
        new: Block = []
        for node in body:
            found: Any = self.visit(node)
            new += cast("Block", found if isinstance(found, list) else [found])
        return new

    def visit(self, node: ast.AST) -> Any:
        """Rewrites a node by the method for its kind, or else what is inside it."""
        return getattr(self, visitor(type(node)), self.generic_visit)(node)

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Rewrites the statements inside a statement."""
        if isinstance(node, ast.stmt):
            for block in blocks(node):
                block[:] = self.block(block)
        return node

    def _visit_functiondef(self, node: ast.AST) -> ast.AST:
        return node

    _visit_asyncfunctiondef = _visit_classdef = _visit_functiondef


# Takes a ``while`` loop's test that binds names by ``:=`` into the loop's body.
#
# The operators evaluate the test of a loop as a function of its own, in which a name would not be the loop's. ``while
# (x := f()) > 0: rest`` becomes ``while True: if not (x := f()) > 0: break; rest``.


def lift_bindings(body: Block, unit: Unit) -> Block:
    """Rewrites the ``while`` loops of one function whose tests bind names.

    Args:
      unit: the conversion this belongs to, for new names.
    """
    return _Lifter(unit).block(body)


def _is_options(statement: ast.stmt) -> bool:
    """Returns True if it is ``gx.loop_options(...)``, which stays the first statement of its loop."""
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Name(id="loop_options") | ast.Attribute(attr="loop_options"))):
            return True
        case _:
            return False


class _Lifter(StatementRewriter):
    def _visit_while(self, node: ast.While) -> ast.stmt | Block:
        self.generic_visit(node)
        if not any(isinstance(part, ast.NamedExpr) for part in own_nodes([node.test])):
            return node
        leave: Block = [located(ast.Break(), node.test)]
        before: Block = []
        after: Block = []
        if node.orelse:
            flag = self.unit.fresh("exhausted")
            before = [assign(flag, constant(False), node)]
            leave.insert(0, assign(flag, constant(True), node.test))
            after = [if_(load(flag), node.orelse, [], node.orelse[0])]
        left = if_(located(not_(node.test), node.test), leave, [], node.test)
        first = [statement for statement in node.body[:1] if _is_options(statement)]
        body = [*first, left, *node.body[len(first) :]]
        loop = ast.While(test=located(constant(True), node.test), body=body, orelse=[])
        return [*before, located(loop, node), *after]
