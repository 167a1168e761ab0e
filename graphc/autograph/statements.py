"""Rewrites statements: constructs become calls of operators, with their bodies as functions."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from graphc.autograph.binding import Bindings
from graphc.autograph.build import (
    LOAD,
    arguments,
    assign,
    call,
    constant,
    function,
    load,
    located,
    operator,
    store,
    strings,
    thunk,
)
from graphc.autograph.expressions import Expressions, binds_in_place, first_parameter
from graphc.autograph.jumps import RETURN, GuardedFor, remove_jumps
from graphc.autograph.liveness import Branch, Construct, find_state
from graphc.autograph.names import Scope, own_nodes, parameters, scope_of
from graphc.autograph.source import Definition
from graphc.autograph.unit import Unit

__all__ = ["rewrite"]

_SYMBOLS: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.MatMult: "@",
    ast.Pow: "**",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
}

Block = list[ast.stmt]


def rewrite(node: Definition, unit: Unit) -> Definition:
    """Rewrites a function or a lambda.

    Args:
      node: its definition, which is changed in place.
      unit: the conversion this belongs to.

    Raises:
      UnsupportedSyntaxError: it is a generator or a coroutine, or uses a construct that cannot be converted.
    """
    _refuse_suspension(node, unit)
    if isinstance(node, ast.FunctionDef):
        return _rewrite_function(node, unit, frozenset(), frozenset())
    assert isinstance(node, ast.Lambda)
    rewriter = Expressions(unit, frozenset(parameters(node.args)), first_parameter(node.args))
    node.body = rewriter.expression(node.body)
    return node


def _suspends(node: Definition) -> ast.AST | None:
    """What makes a function a generator or a coroutine."""
    if isinstance(node, ast.AsyncFunctionDef):
        return node
    body = [node.body] if isinstance(node, ast.Lambda) else node.body
    for part in own_nodes(body):
        if isinstance(part, ast.Yield | ast.YieldFrom | ast.Await | ast.AsyncFor | ast.AsyncWith):
            return part
    return None


def _refuse_suspension(node: Definition, unit: Unit) -> None:
    cause = _suspends(node)
    if isinstance(cause, ast.Yield | ast.YieldFrom):
        raise unit.refuse(
            cause, "A generator cannot be compiled: `yield` leaves the function half run. Return the values in a list."
        )
    if cause is not None:
        raise unit.refuse(
            cause, "A coroutine cannot be compiled. Compile the part without `async` and `await`, and await around it."
        )


def _rewrite_function(
    node: ast.FunctionDef, unit: Unit, outer_local: frozenset[str], outer_undefined: frozenset[str]
) -> ast.FunctionDef:
    local = scope_of(node).local
    node.body = remove_jumps(node.body, unit)
    scope = scope_of(node, local)  # a name stays local although what binds it was never reached and is gone
    constructs = find_state(node.body, scope)
    bindings = Bindings(node.body, scope, constructs)
    rewriter = _Statements(node, unit, scope, constructs, bindings, outer_local, outer_undefined)
    node.body = rewriter.function(node.body)
    return node


class _Statements(Expressions):
    def __init__(
        self,
        node: ast.FunctionDef,
        unit: Unit,
        scope: Scope,
        constructs: Mapping[ast.stmt, Construct],
        bindings: Bindings,
        outer_local: frozenset[str],
        outer_undefined: frozenset[str],
    ) -> None:
        super().__init__(unit, (outer_local | scope.local) - scope.globals, first_parameter(node.args))
        self._scope = scope
        self._constructs = constructs
        self._bindings = bindings
        self._outer_undefined = outer_undefined - scope.local - scope.globals
        self.undefined = self._outer_undefined | bindings.undefined

    def function(self, body: Block) -> Block:
        """Rewrites the whole body of the function."""
        first = body[0]
        has_docstring = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
        docstring = [first] if has_docstring else []
        declarations: Block = []
        for kind, names in ((ast.Global, self._scope.globals), (ast.Nonlocal, self._scope.nonlocals)):
            if names:
                declarations.append(located(kind(names=sorted(names)), first))
        start = self._undefined(self._bindings.frame.undefined.difference(self._scope.parameters), first)
        return [*docstring, *declarations, *start, *self.block(body[has_docstring:])]

    def _undefined(self, names: set[str], origin: ast.AST) -> Block:
        return [
            assign(
                name,
                operator("undefined_return") if name == RETURN else operator("undefined", constant(name)),
                origin,
            )
            for name in sorted(names)
        ]

    def block(self, body: Sequence[ast.stmt]) -> Block:
        """Rewrites statements."""
        new: Block = []
        for node in body:
            self._at(node)
            new += self._statement(node)
        return new

    def _at(self, node: ast.AST) -> None:
        self.doubtful = self._bindings.doubtful(node) | self._outer_undefined

    def _statement(self, node: ast.stmt) -> Block:
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        return [node] if method is None else method(node)

    # Constructs

    def _if(self, node: ast.If) -> Block:
        construct = self._constructs[node]
        before: Block = []
        test = self.expression(node.test)
        if binds_in_place(node.test):
            # The branches may take copies of names that the test binds.
            before = [assign(name := self.unit.fresh("test"), test, node.test)]
            test = load(name)
        number = self.unit.number()
        state = self._state(construct, number, node)
        body = self._function(f"ag__body_{number}", (), construct, construct.body, node.body, node)
        orelse = self._function(f"ag__orelse_{number}", (), construct, construct.orelse, node.orelse, node)
        run = operator("if_stmt", test, load(body.name), load(orelse.name), *self._state_names(construct, number))
        return [*before, *state, body, orelse, located(ast.Expr(value=located(run, node.test)), node.test)]

    def _while(self, node: ast.While) -> Block:
        construct = self._constructs[node]
        number = self.unit.number()
        test = self._condition(node.test)
        state = self._state(construct, number, node)
        body = self._function(f"ag__body_{number}", (), construct, construct.body, node.body, node)
        run = operator("while_stmt", test, load(body.name), *self._state_names(construct, number))
        return [*state, body, located(ast.Expr(value=located(run, node.test)), node.test)]

    def _for(self, node: ast.For) -> Block:
        construct = self._constructs[node]
        number = self.unit.number()
        over = self.expression(node.iter)
        going: ast.expr = constant(None)
        if isinstance(node, GuardedFor):
            self._at(node.keep_going)
            going = self._condition(node.keep_going)
        self._at(node)
        state = self._state(construct, number, node)
        binding = located(ast.Assign(targets=[node.target], value=load("ag__item")), node.target)
        body = self._function(
            f"ag__body_{number}", ("ag__item",), construct, construct.body, [binding, *node.body], node
        )
        run = operator("for_stmt", over, going, load(body.name), *self._state_names(construct, number))
        return [*state, body, located(ast.Expr(value=located(run, node.iter)), node.iter)]

    _guardedfor = _for

    def _condition(self, test: ast.expr) -> ast.expr:
        before, self.in_control = self.in_control, True
        condition = located(thunk(self.expression(test)), test)
        self.in_control = before
        return condition

    def _state_names(self, construct: Construct, number: int) -> tuple[ast.expr, ast.expr, ast.expr]:
        return load(f"ag__get_state_{number}"), load(f"ag__set_state_{number}"), strings(construct.state)

    def _state(self, construct: Construct, number: int, origin: ast.AST) -> Block:
        """The two functions that read and write the state of a construct."""
        getter: Block = self._declarations(frozenset(construct.state) & self._scope.globals)
        values: list[ast.expr] = []
        setter: Block = self._declarations(frozenset(construct.state))
        checks: Block = []
        for name in construct.state:
            if name not in self._scope.declared:
                values.append(load(name))
                continue
            # A variable of an outer scope cannot be bound to the mark beforehand: others would see it.
            mark = operator("undefined", constant(name))
            caught = ast.ExceptHandler(
                type=load("NameError"), name=None, body=[ast.Assign(targets=[store(f"ag__{name}")], value=mark)]
            )
            attempt: Block = [ast.Assign(targets=[store(f"ag__{name}")], value=load(name))]
            getter.append(ast.Try(body=attempt, handlers=[caught], orelse=[], finalbody=[]))
            values.append(load(f"ag__{name}"))
            kinds = [ast.Attribute(value=value, attr="__class__", ctx=LOAD) for value in (load(name), mark)]
            same = ast.Compare(left=kinds[0], ops=[ast.Is()], comparators=[kinds[1]])
            unbind = ast.Delete(targets=[ast.Name(id=name, ctx=ast.Del())])
            checks.append(ast.If(test=same, body=[unbind], orelse=[]))
        getter.append(ast.Return(value=ast.Tuple(elts=values, ctx=LOAD)))
        if construct.state:
            targets = ast.Tuple(elts=[store(name) for name in construct.state], ctx=ast.Store())
            setter.append(ast.Assign(targets=[targets], value=load("ag__values")))
        return [
            function(f"ag__get_state_{number}", arguments(), getter, origin),
            function(f"ag__set_state_{number}", arguments("ag__values"), setter + checks, origin),
        ]

    def _declarations(self, names: frozenset[str]) -> Block:
        declared: Block = []
        if outside := names & self._scope.globals:
            declared.append(ast.Global(names=sorted(outside)))
        if around := names - self._scope.globals:
            declared.append(ast.Nonlocal(names=sorted(around)))
        return declared

    def _function(
        self,
        name: str,
        params: tuple[str, ...],
        construct: Construct,
        branch: Branch,
        body: Sequence[ast.stmt],
        origin: ast.stmt,
    ) -> ast.FunctionDef:
        captured = sorted(branch.captured)
        args = arguments(*params, *captured, defaults=[load(name) for name in captured])
        declared = self._declarations(branch.assigned & frozenset(construct.state))
        start = self._undefined(branch.frame.undefined - branch.captured, origin)
        before, self.in_control = self.in_control, True
        new = self.block(body)
        self.in_control = before
        return function(name, args, [*declared, *start, *new], origin)

    # Assignment

    def _assign(self, node: ast.Assign) -> Block:
        plain = all(_only_names(target) for target in node.targets)
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
        """Whether it cannot be seen if the target's parts are evaluated before the value."""
        if isinstance(target, ast.Attribute | ast.Subscript):
            parts = [target.value, target.slice] if isinstance(target, ast.Subscript) else [target.value]
            return self._is_stable(value) or (not binds_in_place(old) and all(self._is_stable(part) for part in parts))
        return True

    def _is_stable(self, node: ast.expr) -> bool:
        """Whether an expression has the same value whenever it is evaluated around here, and no effect."""
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
                index = self._index(target.slice)
                return [self._run("store_item", origin, self.expression(target.value), index, value)]
            case ast.Tuple() | ast.List() if not _only_names(target):
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

    def _index(self, node: ast.expr) -> ast.expr:
        """An index as a value: slices become calls of ``slice``."""
        if isinstance(node, ast.Slice):
            parts = [constant(None) if part is None else self.expression(part) for part in _bounds(node)]
            return located(call(load("ag__slice"), *parts), node)
        if isinstance(node, ast.Tuple):
            node.elts = [self._index(element) for element in node.elts]
            return node
        return self.expression(node)

    def _annassign(self, node: ast.AnnAssign) -> Block:
        if node.value is None:
            return [located(ast.Pass(), node)]
        return self._assign(located(ast.Assign(targets=[node.target], value=node.value), node))

    def _augassign(self, node: ast.AugAssign) -> Block:
        symbol = constant(_SYMBOLS[type(node.op)])
        target = node.target
        if isinstance(target, ast.Name):
            old = self.expression(located(load(target.id), target))
            value = operator("inplace", symbol, old, self.expression(node.value))
            return [assign(target.id, located(value, node), node)]
        new: Block = []
        holder = self._once(self.expression(target.value), node, new)
        if isinstance(target, ast.Attribute):
            name = self.unit.mangle(target.attr)
            old: ast.expr = ast.Attribute(value=holder, attr=target.attr, ctx=LOAD)
            if self.in_control:
                old = operator("load_attr", holder, constant(name))
            key: ast.expr = constant(name)
        else:
            key = self._once(self._index(target.slice), node, new)
            old = ast.Subscript(value=holder, slice=key, ctx=LOAD)
        value = located(operator("inplace", symbol, old, self.expression(node.value)), node)
        stored = "store_attr" if isinstance(target, ast.Attribute) else "store_item"
        return [*new, self._run(stored, node, holder, key, value)]

    def _once(self, value: ast.expr, origin: ast.stmt, new: Block) -> ast.expr:
        """An expression that can be written twice, evaluated once."""
        if self._is_stable(value):
            return value
        new.append(assign(name := self.unit.fresh("part"), value, origin))
        return load(name)

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
                return [self._run("delete_item", origin, holder, self._index(target.slice))]
            case ast.Tuple() | ast.List():
                return [statement for part in target.elts for statement in self._delete_one(part, origin)]
            case ast.Name(id=name) if name in self._bindings.undefined:
                check: Block = [self._run("load", origin, load(name))] if name in self.doubtful else []
                return [*check, assign(name, operator("undefined", constant(name)), origin)]
            case _:
                return [located(ast.Delete(targets=[target]), origin)]

    # Other statements

    def _expr(self, node: ast.Expr) -> Block:
        node.value = self.expression(node.value)
        return [node]

    def _return(self, node: ast.Return) -> Block:
        if isinstance(node.value, ast.Name) and node.value.id == RETURN:
            node.value = located(operator("return_value", node.value), node)
        else:
            node.value = self.optional(node.value)
        return [node]

    def _assert(self, node: ast.Assert) -> Block:
        if not __debug__:
            return [located(ast.Pass(), node)]
        message = constant(None) if node.msg is None else self.delayed(node.msg, "the message of `assert`")
        return [self._run("assert_stmt", node, self.expression(node.test), message)]

    def _raise(self, node: ast.Raise) -> Block:
        if node.exc is None:
            return [node]
        cause = constant(None) if node.cause is None else self.delayed(node.cause, "the cause of `raise`")
        return [self._run("raise_stmt", node, self.delayed(node.exc, "`raise`"), cause)]

    def _global(self, node: ast.Global | ast.Nonlocal) -> Block:
        return []  # stands at the start of the function

    _nonlocal = _global

    def _with(self, node: ast.With) -> Block:
        stores: Block = []
        for item in node.items:
            item.context_expr = self.expression(item.context_expr)
            target = item.optional_vars
            if target is not None and not _only_names(target):
                name = self.unit.fresh("value")
                item.optional_vars = located(store(name), target)
                stores += self._store(target, load(name), located(ast.Pass(), target))
        node.body = [*stores, *self.block(node.body)]
        return [node]

    def _try(self, node: ast.Try | ast.TryStar) -> Block:
        node.body = self.block(node.body)
        for handler in node.handlers:
            self._at(handler)
            handler.type = self.optional(handler.type)
            handler.body = self.block(handler.body)
            if handler.name in self._bindings.undefined:
                self._rename(handler, handler.name)
        node.orelse = self.block(node.orelse)
        node.finalbody = self.block(node.finalbody)
        return [node]

    _trystar = _try

    def _rename(self, handler: ast.ExceptHandler, name: str) -> None:
        """Python unbinds the name of a handler at its end; a name that a construct holds takes the mark instead."""
        handler.name = self.unit.fresh("error")
        unbind = assign(name, operator("undefined", constant(name)), handler)
        body = located(ast.Try(body=handler.body, handlers=[], orelse=[], finalbody=[unbind]), handler)
        handler.body = [assign(name, load(handler.name), handler), body]

    def _match(self, node: ast.Match) -> Block:
        node.subject = self.expression(node.subject)
        for case in node.cases:
            self._at(node)
            case.guard = self.optional(case.guard)
            case.body = self.block(case.body)
        return [node]

    def _functiondef(self, node: ast.FunctionDef) -> Block:
        node.decorator_list = [self.expression(decorator) for decorator in node.decorator_list]
        node.args = self.arguments(node.args)
        if _suspends(node) is None:
            _rewrite_function(node, self.unit, self.local, self.undefined)
        return [node]


def _only_names(target: ast.expr) -> bool:
    if isinstance(target, ast.Tuple | ast.List):
        return all(_only_names(element) for element in target.elts)
    return _only_names(target.value) if isinstance(target, ast.Starred) else isinstance(target, ast.Name)


def _bounds(node: ast.Slice) -> tuple[ast.expr | None, ast.expr | None, ast.expr | None]:
    return node.lower, node.upper, node.step
