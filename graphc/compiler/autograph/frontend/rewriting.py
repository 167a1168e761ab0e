"""Helpers that the steps share which rewrite a function's statements."""

from __future__ import annotations

import ast
from typing import Any, cast

from graphc.compiler.autograph.frontend.emit import located, visitor
from graphc.compiler.autograph.frontend.unit import Unit

__all__ = ["Block", "StatementRewriter", "blocks", "if_"]

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
