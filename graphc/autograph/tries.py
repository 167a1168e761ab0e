"""``try`` statements whose handlers may have to run by the values of tensors.

What is raised where control flow is Python's own, Python's own handlers catch. An exception that tensors decide on is
no exception while the function is traced: the body goes on to its end. Then, if such exceptions were met, what the
handlers would do is traced once for each of them, in a branch that first puts back what the exception found; the other
branch (``otherwise``) is the next turn of the loop. So

    try:                            scope = handlers(lambda: (A, B), names)
        body                        try:
    except A: first                     with scope: body
    except B: second                except A: first
    else: rest                      except B: second
                                    else:
                                        if failed(scope):
                                            for error in caught(scope):
                                                if happened(error):
                                                    names = restored(error)
                                                    try: throw(error)
                                                    except A: first
                                                    except B: second
                                                else: otherwise(error)
                                        else: rest
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Set as AbstractSet

from graphc.autograph.build import LOAD, assign, constant, load, located, operator, store, strings, thunk
from graphc.autograph.names import NameTable, own_nodes
from graphc.autograph.rewriting import Block, blocks
from graphc.autograph.unit import Unit

__all__ = ["ScopedTry", "lift_handlers"]


class ScopedTry(ast.Try):
    """A ``try`` statement whose body runs in a scope that is made before it.

    Attributes:
      scope: the name that holds the scope.
    """

    scope: str


def lift_handlers(body: Block, unit: Unit, shared: AbstractSet[str]) -> Block:
    """Rewrites the ``try`` statements of a function without jumps.

    Args:
      body: its statements; they are changed in place.
      unit: the conversion this belongs to, for new names.
      shared: the names of the function that functions inside it assign, which any call may change.
    """
    new: Block = []
    for node in body:
        for block in blocks(node):
            block[:] = lift_handlers(block, unit, shared)
        if type(node) is ast.Try and node.handlers and _may_raise(node.body):
            new += _lifted(node, unit, shared)
        else:
            new.append(node)
    return new


_DECIDING = ast.If | ast.For | ast.While | ast.IfExp | ast.BoolOp | ast.comprehension
_RAISING = ast.Call | ast.Raise | ast.Assert | ast.Subscript
_DIVIDING = ast.Div | ast.FloorDiv | ast.Mod | ast.Pow


def _may_raise(body: Block) -> bool:
    """Whether statements may raise an exception that tensors decide on, there or in a function that they call."""
    return any(isinstance(part, _DECIDING | _RAISING) or _divides(part) for part in own_nodes(body))


def _divides(node: ast.AST) -> bool:
    return isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, _DIVIDING)


def _lifted(node: ast.Try, unit: Unit, shared: AbstractSet[str]) -> Block:
    number = unit.number()
    scope, error = f"ag__caught_{number}", f"ag__error_{number}"
    names = sorted(NameTable().of_all([*node.body, *node.handlers]).assigned | shared)
    kinds = [handler.type for handler in node.handlers]
    known = [copy.deepcopy(kind) for kind in kinds if kind is not None]
    caught = thunk(ast.Tuple(elts=known, ctx=LOAD)) if len(known) == len(kinds) else constant(None)
    made = assign(
        scope, operator("handlers", caught, constant("a try statement"), strings(map(unit.mangle, names))), node
    )
    handled = located(
        ast.Try(
            body=[located(ast.Expr(value=operator("throw", load(error))), node)],
            handlers=copy.deepcopy(node.handlers), orelse=[], finalbody=[],
        ),
        node,
    )  # fmt: skip
    restored = operator("restored", load(error))
    targets: list[ast.expr] = [ast.Tuple(elts=[store(name) for name in names], ctx=ast.Store())]
    restore = ast.Assign(targets=targets, value=restored) if names else ast.Expr(value=restored)
    other = located(ast.Expr(value=operator("otherwise", load(error))), node)
    one = ast.If(test=operator("happened", load(error)), body=[located(restore, node), handled], orelse=[other])
    each = ast.For(target=store(error), iter=operator("caught", load(scope)), body=[located(one, node)], orelse=[])
    after = ast.If(test=operator("failed", load(scope)), body=[located(each, node)], orelse=node.orelse)
    new = ScopedTry(body=node.body, handlers=node.handlers, orelse=[located(after, node)], finalbody=node.finalbody)
    new.scope = scope
    return [made, located(new, node)]
