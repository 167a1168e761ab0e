"""``try`` statements whose handlers may have to run by the values of tensors.

What is raised where control flow is Python's own, Python's own handlers catch. An exception that tensors decide on is
no exception while the function is traced: the body goes on to its end. Then, if such exceptions were met, what the
handlers would do is traced once for each of them, in a branch that first puts back what the exception found; the other
branch (``otherwise``) is the next turn of the loop. So

    try:                            scope = TryScope(lambda: (A, B), names)
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

A ``finally`` block runs once, for both: what the names held where an exception was raised is put back first, in a
branch, and the exception is raised again after the block. So

    try: body                       scope = TryScope(None, names, final)
    finally: last                   try:
                                        with scope: body
                                    finally:
                                        if failed(scope):
                                            for error in caught(scope):
                                                if happened(error): names = restored(error)
                                                else: otherwise(error)
                                        last
                                    if failed_still(scope):
                                        for error in caught(scope):
                                            if happened(error): throw_again(error)
                                            else: otherwise(error)
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from graphc.compiler.autograph.frontend.emit import (
    LOAD,
    assign,
    constant,
    load,
    located,
    operator,
    store,
    strings,
    thunk,
)
from graphc.compiler.autograph.frontend.rewriting import Block, blocks
from graphc.compiler.autograph.frontend.scopes import NameTable, own_nodes
from graphc.compiler.autograph.frontend.source import clone
from graphc.compiler.autograph.frontend.unit import Unit

__all__ = ["ScopedTry", "lift_handlers"]


class ScopedTry(ast.Try):
    """A ``try`` statement whose body runs in a scope that is made before it.

    Attributes:
      scope: the name that holds the scope.
      num_before: how many statements stand in the ``finally`` block before the user's: what asks whether there was an
        exception, and what puts back what it found.
    """

    scope: str
    num_before = 0


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
        new += _rewritten(node, unit, shared)
    return new


def _rewritten(node: ast.stmt, unit: Unit, shared: AbstractSet[str]) -> Block:
    if type(node) is not ast.Try:
        return [node]
    handling = [statement for handler in node.handlers for statement in handler.body]
    raising = _may_raise([*node.body, *handling, *node.orelse])
    suspended = any(isinstance(part, ast.Yield | ast.YieldFrom | ast.Await) for part in own_nodes([node]))
    if node.finalbody and raising and not suspended:
        last, node.finalbody = node.finalbody, []
        inner = _rewritten(node, unit, shared) if node.handlers else node.body
        return _with_last(located(ast.Try(body=inner, handlers=[], orelse=[], finalbody=last), node), unit, shared)
    return _lifted(node, unit, shared) if node.handlers and _may_raise(node.body) else [node]


def _with_last(node: ast.Try, unit: Unit, shared: AbstractSet[str]) -> Block:
    """Returns a ``try`` statement with a ``finally`` block and no handlers."""
    number = unit.number()
    scope, failed = f"ag__caught_{number}", f"ag__failed_{number}"
    names = sorted(NameTable().of_all(node.body).assigned | shared)
    made = operator(
        "TryScope", constant(None), constant("a finally block"), strings(map(unit.mangle, names)), constant(True)
    )

    asked = assign(failed, operator("failed", load(scope)), node)  # before the block, which clears the status
    error, again = f"ag__error_{number}", f"ag__error_{unit.number()}"
    put_back = _for_each(scope, error, [_restore(names, error, node)], node)
    throw = _for_each(scope, again, [located(ast.Expr(value=operator("throw_again", load(again))), node)], node)
    first = [asked, located(ast.If(test=load(failed), body=[put_back], orelse=[]), node)]
    after = ast.If(test=operator("failed_still", load(scope)), body=[throw], orelse=[])
    new = ScopedTry(body=node.body, handlers=[], orelse=[], finalbody=[*first, *node.finalbody])
    new.scope, new.num_before = scope, len(first)
    return [assign(scope, made, node), assign(failed, constant(False), node), located(new, node), located(after, node)]


def _for_each(scope: str, error: str, action: Block, node: ast.stmt) -> ast.stmt:
    """Returns a loop that does something about the exception that was raised, of those of a scope."""
    other = located(ast.Expr(value=operator("otherwise", load(error))), node)
    one = ast.If(test=operator("happened", load(error)), body=action, orelse=[other])
    each = ast.For(target=store(error), iter=operator("caught", load(scope)), body=[located(one, node)], orelse=[])
    return located(each, node)


def _restore(names: Sequence[str], error: str, node: ast.stmt) -> ast.stmt:
    """Binds the names to what they held where an exception was raised."""
    restored = operator("restored", load(error))
    targets: list[ast.expr] = [ast.Tuple(elts=[store(name) for name in names], ctx=ast.Store())]
    return located(ast.Assign(targets=targets, value=restored) if names else ast.Expr(value=restored), node)


_DECIDING = ast.If | ast.For | ast.While | ast.IfExp | ast.BoolOp | ast.comprehension
_RAISING = ast.Call | ast.Raise | ast.Assert | ast.Subscript
_DIVIDING = ast.Div | ast.FloorDiv | ast.Mod | ast.Pow


def _may_raise(body: Block) -> bool:
    """Tells if statements may raise an exception that tensors decide on, there or in a function that they call."""
    return any(isinstance(part, _DECIDING | _RAISING) or _divides(part) for part in own_nodes(body))


def _divides(node: ast.AST) -> bool:
    return isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, _DIVIDING)


def _lifted(node: ast.Try, unit: Unit, shared: AbstractSet[str]) -> Block:
    number = unit.number()
    scope, error = f"ag__caught_{number}", f"ag__error_{number}"
    names = sorted(NameTable().of_all([*node.body, *node.handlers]).assigned | shared)
    kinds = [handler.type for handler in node.handlers]
    known = [clone(kind) for kind in kinds if kind is not None]
    caught = thunk(ast.Tuple(elts=known, ctx=LOAD)) if len(known) == len(kinds) else constant(None)
    made = assign(
        scope, operator("TryScope", caught, constant("a try statement"), strings(map(unit.mangle, names))), node
    )
    handled = located(
        ast.Try(
            body=[located(ast.Expr(value=operator("throw", load(error))), node)],
            handlers=[clone(handler) for handler in node.handlers], orelse=[], finalbody=[],
        ),
        node,
    )  # fmt: skip
    each = _for_each(scope, error, [_restore(names, error, node), handled], node)
    after = ast.If(test=operator("failed", load(scope)), body=[each], orelse=node.orelse)
    new = ScopedTry(body=node.body, handlers=node.handlers, orelse=[located(after, node)], finalbody=node.finalbody)
    new.scope = scope
    return [made, located(new, node)]
