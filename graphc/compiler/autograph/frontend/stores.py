"""Rewrites assignments: stores into objects go through operators, names are bound as Python binds them."""

from __future__ import annotations

import ast

from graphc.compiler.autograph.frontend.dataflow import Bindings
from graphc.compiler.autograph.frontend.emit import assign, constant, load, located, operator, store, strings
from graphc.compiler.autograph.frontend.expressions import BINARY, Expressions, first_parameter
from graphc.compiler.autograph.frontend.rewriting import ConversionUnit
from graphc.compiler.autograph.frontend.scopes import NameTable, Scope

Block = list[ast.stmt]


class Stores(Expressions):
    """The rewriting of assignments, in one function."""

    def __init__(
        self, node: ast.FunctionDef, unit: ConversionUnit, scope: Scope, table: NameTable, bindings: Bindings,
        outer_local: frozenset[str],
    ) -> None:  # fmt: skip
        super().__init__(unit, (outer_local | scope.local) - scope.globals, first_parameter(node.args), table)
        self._scope = scope
        self._bindings = bindings

    def _assign(self, node: ast.Assign) -> Block:
        plain = all(only_names(target) for target in node.targets)
        unpacks = any(isinstance(target, ast.Tuple | ast.List) for target in node.targets)
        if unpacks and not isinstance(node.value, ast.Tuple):
            value = self.consumed("items", node.value)
        else:
            value = self.expression(node.value)
        if plain:
            node.value = value
            return [node]
        if len(node.targets) == 1 and self._order_is_free(node.targets[0], node.value, value):
            return self._store(node.targets[0], value, node)
        name = self.unit.fresh("value")
        new: Block = [assign(name, value, node)]
        for target in node.targets:
            new += self._store(target, load(name), node)
        return new

    def _order_is_free(self, target: ast.expr, old: ast.expr, value: ast.expr) -> bool:
        """Returns True if it cannot be seen if the target's parts are evaluated before the value."""
        if isinstance(target, ast.Attribute | ast.Subscript):
            parts = [target.value, target.slice] if isinstance(target, ast.Subscript) else [target.value]
            return self._is_stable(value) or (
                not self.binds_in_place(old) and all(self._is_stable(part) for part in parts)
            )
        return True

    def _is_stable(self, node: ast.expr) -> bool:
        """Returns True if an expression has the same value whenever it is evaluated around here, and no effect."""
        if isinstance(node, ast.Name):
            return node.id in self._scope.local - self._scope.always_live - self.doubtful or node.id.startswith("ag__")
        return isinstance(node, ast.Constant)

    def _store(self, target: ast.expr, value: ast.expr, origin: ast.stmt) -> Block:
        """Statements that store a value (whose evaluation has no effect left) into any target."""
        match target:
            case ast.Attribute():
                name = constant(self.unit.mangle(target.attr))
                return [self._run("store_attr", origin, self.expression(target.value), name, value)]
            case ast.Subscript():
                index = self.index(target.slice)
                return [self._run("store_item", origin, self.expression(target.value), index, value)]
            case ast.Tuple() | ast.List() if not only_names(target):
                return self._unpack(target, value, origin)
            case _:
                return [located(ast.Assign(targets=[target], value=value), origin)]

    def _unpack(self, target: ast.Tuple | ast.List, value: ast.expr, origin: ast.stmt) -> Block:
        """Unpacks into names, then stores from left to right."""
        later: list[tuple[ast.expr, str]] = []

        def simplified(part: ast.expr) -> ast.expr:
            if isinstance(part, ast.Tuple | ast.List | ast.Starred):
                if isinstance(part, ast.Starred):
                    part.value = simplified(part.value)
                else:
                    part.elts = [simplified(element) for element in part.elts]
                return part
            if isinstance(part, ast.Name) and not later:
                return part
            later.append((part, self.unit.fresh("value")))
            return located(store(later[-1][1]), part)

        new: Block = [located(ast.Assign(targets=[simplified(target)], value=value), origin)]
        for part, name in later:
            new += self._store(part, load(name), origin)
        return new

    def _run(self, name: str, origin: ast.stmt, *args: ast.expr) -> ast.stmt:
        return located(ast.Expr(value=located(operator(name, *args), origin)), origin)

    def _annassign(self, node: ast.AnnAssign) -> Block:
        if node.value is None:
            if not isinstance(node.target, ast.Name):
                return [located(ast.Pass(), node)]
            # It is not bound, but local, which a function inside that assigns it asks for.
            never = ast.If(test=constant(False), body=[assign(node.target.id, constant(None), node)], orelse=[])
            return [located(never, node)]
        return self._assign(located(ast.Assign(targets=[node.target], value=node.value), node))

    def _augassign(self, node: ast.AugAssign) -> Block:
        symbol = constant(BINARY[type(node.op)])
        target = node.target
        if isinstance(target, ast.Name):
            old = self.expression(located(load(target.id), target))
            value = operator("inplace", symbol, old, self.expression(node.value))
            return [assign(target.id, located(value, node), node)]
        new: Block = []
        holder = self._once(self.expression(target.value), node, new)
        if isinstance(target, ast.Attribute):
            key: ast.expr = constant(self.unit.mangle(target.attr))
            old = operator("load_attr", holder, key)
        else:
            key = self._once(self.index(target.slice), node, new)
            old = operator("load_part", holder, key)
        value = located(operator("inplace", symbol, old, self.expression(node.value)), node)
        stored = "store_attr" if isinstance(target, ast.Attribute) else "store_item"
        return [*new, self._run(stored, node, holder, key, value)]

    def _once(self, value: ast.expr, origin: ast.stmt, new: Block) -> ast.expr:
        """Returns an expression that can be written twice, evaluated once."""
        if self._is_stable(value):
            return value
        new.append(assign(name := self.unit.fresh("part"), value, origin))
        return load(name)

    def _classdef(self, node: ast.ClassDef) -> Block:
        before, after = constant(node.name), load(node.name)
        return [self._run("defining_class", node, before), node, self._run("defined_class", node, after)]

    def _importfrom(self, node: ast.ImportFrom) -> Block:
        names = strings(alias.name for alias in node.names)
        module, level = constant(node.module or ""), constant(node.level)
        return [self._run("importing", node, module, level), node, self._run("imported", node, module, level, names)]

    def _import(self, node: ast.Import) -> Block:
        level, nothing = constant(0), strings(())
        modules = [constant(alias.name) for alias in node.names]
        before = [self._run("importing", node, module, level) for module in modules]
        return [*before, node, *(self._run("imported", node, module, level, nothing) for module in modules)]

    def _delete(self, node: ast.Delete) -> Block:
        new: Block = []
        for target in node.targets:
            new += self._delete_one(target, node)
        return new

    def _delete_one(self, target: ast.expr, origin: ast.stmt) -> Block:
        match target:
            case ast.Attribute():
                name = constant(self.unit.mangle(target.attr))
                return [self._run("delete_attr", origin, self.expression(target.value), name)]
            case ast.Subscript():
                holder = self.expression(target.value)
                return [self._run("delete_item", origin, holder, self.index(target.slice))]
            case ast.Tuple() | ast.List():
                return [statement for part in target.elts for statement in self._delete_one(part, origin)]
            case ast.Name(id=name) if name in self._bindings.undefined:
                check: Block = [self._run("load", origin, load(name))] if name in self.doubtful else []
                return [*check, assign(name, operator("unbound", constant(name)), origin)]
            case _:
                return [located(ast.Delete(targets=[target]), origin)]


def only_names(target: ast.expr) -> bool:
    """Returns True if a target binds names and stores into nothing."""
    if isinstance(target, ast.Tuple | ast.List):
        return all(only_names(element) for element in target.elts)
    return only_names(target.value) if isinstance(target, ast.Starred) else isinstance(target, ast.Name)
