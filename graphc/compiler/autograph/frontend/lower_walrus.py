"""Takes a ``while`` loop's test that binds names by ``:=`` into the loop's body.

The operators evaluate the test of a loop as a function of its own, in which a name would not be the loop's.
``while (x := f()) > 0: rest`` becomes ``while True: if not (x := f()) > 0: break; rest``.
"""

from __future__ import annotations

import ast

from graphc.compiler.autograph.frontend.emit import assign, constant, load, located, not_
from graphc.compiler.autograph.frontend.rewriting import Block, StatementRewriter, if_
from graphc.compiler.autograph.frontend.scopes import own_nodes
from graphc.compiler.autograph.frontend.unit import Unit

__all__ = ["lift_bindings"]


def lift_bindings(body: Block, unit: Unit) -> Block:
    """Rewrites the ``while`` loops of one function whose tests bind names.

    Args:
      body: its statements; they are changed in place.
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
