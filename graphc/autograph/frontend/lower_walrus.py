"""Makes statements of expressions that bind names by ``:=`` only if a part of them before it asks for it.

``if a and (b := f(a)): rest`` becomes ``test = False``, ``if a: b = f(a); if b: test = True``, ``if test: rest``. This
is done where the expression is all that a statement evaluates first: a test, what is returned, assigned or asserted.
A ``while`` loop whose test binds names takes the test into its body, since the operators evaluate a test without
effects.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from graphc.autograph.frontend.emit import PREFIX, assign, constant, load, located, not_, store
from graphc.autograph.frontend.rewriting import Block, StatementRewriter, if_
from graphc.autograph.frontend.scopes import NameTable, own_nodes
from graphc.autograph.frontend.unit import Unit

__all__ = ["lift_bindings"]

Kept = tuple[tuple[str, str], ...]


def lift_bindings(body: Block, unit: Unit) -> Block:
    """Rewrites the body of one function so that ``:=`` binds whenever its statement is run.

    Args:
      body: its statements; they are changed in place.
      unit: the conversion this belongs to, for new names.
    """
    return _Lifter(unit).block(body)


def _binds(*nodes: ast.expr) -> bool:
    return any(isinstance(part, ast.NamedExpr) for part in own_nodes(nodes))


def _binds_perhaps(node: ast.expr) -> bool:
    """Returns True if a name is bound only if a part of the expression asks for it."""
    for part in own_nodes([node]):
        match part:
            case ast.BoolOp(values=[_, *others]) | ast.Compare(comparators=[_, *others]):
                found = _binds(*others)
            case ast.IfExp():
                found = _binds(part.body, part.orelse)
            case _:
                found = False
        if found:
            return True
    return False


def _is_options(statement: ast.stmt) -> bool:
    """Returns True if it is ``gx.loop_options(...)``, which stays the first statement of its loop."""
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Name(id="loop_options") | ast.Attribute(attr="loop_options"))):
            return True
        case _:
            return False


@dataclass(frozen=True)
class _Condition:
    """A test.

    Attributes:
      before: statements to run first.
      test: the expression.
      if_true: names that are bound if it holds, and the names of ours that hold their values.
      if_false: the same if it does not hold.
    """

    before: Block
    test: ast.expr
    if_true: Kept = ()
    if_false: Kept = ()

    def bind(self, kept: Kept) -> Block:
        """Statements that bind names once more: where tensors decide, no other branch binds them."""
        return [assign(name, load(value), self.test) for name, value in kept]


def _chosen(condition: _Condition, holds: bool, body: Block, orelse: Block, origin: ast.AST) -> Block:
    """Statements that are run if a condition holds (or does not), and others if not."""
    when, unless = condition.if_true, condition.if_false
    test = condition.test
    if not holds:
        when, unless = unless, when
        test = located(not_(test), test)
    chosen = if_(test, [*condition.bind(when), *body], [*condition.bind(unless), *orelse], origin)
    return [*condition.before, chosen]


class _Lifter(StatementRewriter):
    # Statements

    def _visit_if(self, node: ast.If) -> ast.stmt | Block:
        self.generic_visit(node)
        if not _binds_perhaps(node.test):
            return node
        return _chosen(self._condition(node.test), True, node.body, node.orelse, node)

    def _visit_while(self, node: ast.While) -> ast.stmt | Block:
        self.generic_visit(node)
        if not _binds(node.test):
            return node
        leave: Block = [located(ast.Break(), node.test)]
        before: Block = []
        after: Block = []
        if node.orelse:
            flag = self.unit.fresh("exhausted")
            before = [assign(flag, constant(False), node)]
            leave.insert(0, assign(flag, constant(True), node.test))
            after = [if_(load(flag), node.orelse, [], node.orelse[0])]
        left = _chosen(self._condition(node.test), False, leave, [], node.test)
        first = [statement for statement in node.body[:1] if _is_options(statement)]
        body = [*first, *left, *node.body[len(first) :]]
        loop = ast.While(test=located(constant(True), node.test), body=body, orelse=[])
        return [*before, located(loop, node), *after]

    def _visit_assert(self, node: ast.Assert) -> ast.stmt | Block:
        if not __debug__ or not _binds_perhaps(node.test):
            return node
        condition = self._condition(node.test)
        node.test = condition.test
        return [*condition.before, node, *condition.bind(condition.if_true)]

    def _visit_assign(self, node: ast.Assign | ast.Return | ast.Expr | ast.AnnAssign) -> ast.stmt | Block:
        if node.value is None or not _binds_perhaps(node.value):
            return node
        before, node.value = self._value(node.value)
        return [*before, node]

    _visit_return = _visit_expr = _visit_annassign = _visit_assign

    # Expressions

    def _condition(self, node: ast.expr) -> _Condition:
        """Returns an expression of which it only matters whether it counts as true."""
        match node:
            case ast.UnaryOp(op=ast.Not()):
                inner = self._condition(node.operand)
                return _Condition(inner.before, located(not_(inner.test), node), inner.if_false, inner.if_true)
            case ast.BoolOp() if _binds_perhaps(node):
                return self._joined(node, node.values, isinstance(node.op, ast.And))
            case ast.Compare() if _binds_perhaps(node):
                return self._joined(node, self._links(node), True)
            case ast.IfExp() if _binds_perhaps(node):
                before, value = self._value(node)
                return _Condition(before, value)
            case _:
                return _Condition([], node)

    def _joined(self, node: ast.expr, values: Sequence[ast.expr], is_and: bool) -> _Condition:
        """``and``, ``or``: all values must be true (false) for the last one to be looked at."""
        flag = self.unit.fresh("test")
        conditions = [self._condition(value) for value in values]
        names: set[str] = set()
        for value, condition in zip(values, conditions, strict=True):
            names |= (
                NameTable()
                .of(value)
                .binds.union(name for name, _ in (condition.if_true if is_and else condition.if_false))
            )
        kept = tuple((name, self.unit.fresh("value")) for name in sorted(names) if not name.startswith(PREFIX))
        block: Block = [assign(value, load(name), node) for name, value in kept]
        block.append(assign(flag, constant(is_and), node))
        for condition in reversed(conditions):
            block = _chosen(condition, is_and, block, [], node)
        before: Block = [assign(flag, constant(not is_and), node), *block]
        return _Condition(before, located(load(flag), node), *((kept, ()) if is_and else ((), kept)))

    def _links(self, node: ast.Compare) -> list[ast.expr]:
        """Returns the comparisons of a chain."""
        links: list[ast.expr] = []
        left = node.left
        for position, (op, right) in enumerate(zip(node.ops, node.comparators, strict=True)):
            following = left
            if position < len(node.ops) - 1:
                name = self.unit.fresh("value")
                right = located(ast.NamedExpr(target=store(name), value=right), right)
                following = located(load(name), right)
            links.append(located(ast.Compare(left=left, ops=[op], comparators=[right]), node))
            left = following
        return links

    def _value(self, node: ast.expr) -> tuple[Block, ast.expr]:
        """Statements to run first, and the expression that then has the value of another one."""
        if not _binds_perhaps(node):
            return [], node
        match node:
            case ast.BoolOp():
                return self._last(node, node.values, isinstance(node.op, ast.And))
            case ast.Compare() if len(node.ops) > 1:
                return self._last(node, self._links(node), True)
            case ast.IfExp():
                name = self.unit.fresh("value")
                condition = self._condition(node.test)
                body, orelse = self._stored(name, node.body), self._stored(name, node.orelse)
                return _chosen(condition, True, body, orelse, node), located(load(name), node)
            case ast.UnaryOp(op=ast.Not()):
                condition = self._condition(node.operand)
                return condition.before, located(not_(condition.test), node)
            case ast.NamedExpr():
                before, node.value = self._value(node.value)
                return before, node
            case _:
                return [], node

    def _stored(self, name: str, node: ast.expr) -> Block:
        before, value = self._value(node)
        return [*before, assign(name, value, node)]

    def _last(self, node: ast.expr, values: Sequence[ast.expr], is_and: bool) -> tuple[Block, ast.expr]:
        """Returns the value of ``and`` or ``or``: that of the last operand that was looked at."""
        name = self.unit.fresh("value")
        block: Block = []
        for value in reversed(values):
            test: ast.expr = located(load(name), value)
            more = [if_(test if is_and else located(not_(test), value), block, [], value)] if block else []
            block = [*self._stored(name, value), *more]
        return block, located(load(name), node)
