"""Helpers that the steps share which rewrite a function's statements."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from types import ModuleType
from typing import Any, cast

from graphc.compiler.autograph.frontend.emit import PREFIX, assign, constant, load, located, not_, visitor
from graphc.compiler.autograph.frontend.scopes import own_nodes
from graphc.compiler.autograph.frontend.source import mangle
from graphc.compiler.base import Location, errors, held_by, is_kept, is_library_module

# The function that is being converted: its file, its class, and the modules that its names refer to.


class ConversionUnit:
    """One conversion: a function and everything defined inside it."""

    def __init__(self, file: str, function: str, class_name: str | None, outside: Mapping[str, object]) -> None:
        self.file = file
        self.function = function
        self.class_name = class_name  # the class by which private names are mangled, or None
        self._outside = outside  # the names that the function can see outside itself, and their values now
        self._count = 0

    def number(self) -> int:
        """Returns a number that no other construct of this unit has."""
        self._count += 1
        return self._count

    def fresh(self, role: str) -> str:
        """Returns a new name for a generated variable."""
        return f"{PREFIX}{role}_{self.number()}"

    def mangle(self, name: str) -> str:
        """Returns the attribute name that Python would look up."""
        return mangle(name, self.class_name)

    def library(self, node: ast.expr) -> ModuleType | None:
        """Returns the library's module that an expression stands for, as far as that is known without running it."""
        # Nobody looks at the names of a library again; those of the user's own modules may change.
        module = self._module(node)
        return module if module is not None and is_library_module(module.__name__) else None

    def is_kept(self, node: ast.Attribute) -> bool:
        """Returns True if the attribute of a library's module holds the same for good."""
        module = self.library(node.value)
        if module is None:
            return False
        return node.attr not in vars(module) or is_kept(node.attr, held_by(module, node.attr))

    def _module(self, node: ast.expr) -> ModuleType | None:
        value: Any = None
        if isinstance(node, ast.Name):
            value = self._outside.get(node.id)
        elif isinstance(node, ast.Attribute) and (holder := self._module(node.value)) is not None:
            value = held_by(holder, node.attr)
        return value if issubclass(type(value), ModuleType) else None  # not isinstance, which asks the object

    def refuse(self, node: ast.AST, message: str) -> errors.UnsupportedSyntaxError:
        """Returns the error for a construct that cannot be converted, with its place."""
        location = Location(self.file, getattr(node, "lineno", 1), self.function)
        return errors.UnsupportedSyntaxError(message).at(location)


Block = list[ast.stmt]

_HOLDERS = ast.If | ast.For | ast.While | ast.With | ast.Try | ast.TryStar | ast.Match | ast.AsyncFor | ast.AsyncWith


def blocks(node: ast.stmt) -> list[Block]:
    """Returns the blocks of statements inside a statement, of the same function."""
    if not isinstance(node, _HOLDERS):
        return []
    fields = vars(node)
    parts = [*fields.get("handlers", ()), *fields.get("cases", ())]
    return [fields[name] for name in ("body", "orelse", "finalbody") if name in fields] + [part.body for part in parts]


def if_(test: ast.expr, body: Block, orelse: Block, origin: ast.AST) -> ast.If:
    """Returns an ``if`` statement, at the place of ``origin``; ``body`` must not be empty."""
    return located(ast.If(test=test, body=body, orelse=orelse), origin)


class StatementRewriter(ast.NodeTransformer):
    """Visits all statements of one function, wherever they stand in it; each becomes any number of statements."""

    # It leaves functions and classes inside alone: a function is rewritten on its own, the body of a class not at all.

    def __init__(self, unit: ConversionUnit) -> None:
        self.unit = unit  # the conversion this belongs to, for new names

    def block(self, body: Block) -> Block:
        """Returns what stands in place of some statements."""
        new: Block = []
        for node in body:
            visited: Any = self.visit(node)
            new += cast("Block", visited if isinstance(visited, list) else [visited])
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


def lift_bindings(body: Block, unit: ConversionUnit) -> Block:
    """Rewrites the ``while`` loops of one function whose tests bind names."""
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
