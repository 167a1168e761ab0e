"""Rewrites statements: constructs become calls of operators, with their bodies as functions."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Mapping, Sequence

from graphc.compiler.autograph.frontend.dataflow import Bindings, Construct, ConstructBody, always_bound, find_state
from graphc.compiler.autograph.frontend.emit import (
    LOAD,
    NOTHING,
    PREFIX,
    arguments,
    assign,
    constant,
    function,
    load,
    located,
    operator,
    store,
    strings,
    thunk,
)
from graphc.compiler.autograph.frontend.expressions import Expressions, first_parameter
from graphc.compiler.autograph.frontend.lower_jumps import RETURN, MaskedFor, remove_jumps
from graphc.compiler.autograph.frontend.lower_match import remove_matches
from graphc.compiler.autograph.frontend.rewriting import ConversionUnit, lift_bindings
from graphc.compiler.autograph.frontend.scopes import NameTable, Scope, own_nodes, scope_of
from graphc.compiler.autograph.frontend.source import Definition, clone
from graphc.compiler.autograph.frontend.stores import Block, Stores, only_names


def rewrite(node: Definition, unit: ConversionUnit, suspended: bool = False) -> Definition:
    """Rewrites a function or a lambda."""
    # suspended: whether it may be a generator that yields outside its constructs.
    table = NameTable()
    scope = scope_of(node, table)
    if not (suspended and isinstance(node, ast.FunctionDef)):
        cause = node if isinstance(node, ast.AsyncFunctionDef) else scope.names.suspension
        _refuse_suspension(cause, unit)
    if isinstance(node, ast.FunctionDef):
        return _rewrite_function(node, unit, scope, table, frozenset(), frozenset(), suspended)
    assert isinstance(node, ast.Lambda)
    rewriter = Expressions(unit, frozenset(scope.parameters), first_parameter(node.args), table)
    node.body = rewriter.expression(node.body)
    return node


_SUSPENDING = (ast.Yield, ast.YieldFrom, ast.Await, ast.AsyncFor, ast.AsyncWith)


def _suspends_inside(body: Block) -> ast.AST | None:
    """Returns what suspends a function without jumps where it cannot be: in a construct, which becomes a function."""
    outside = {id(part) for part in _yields(body)}
    inside = (part for part in own_nodes(body) if isinstance(part, _SUSPENDING) and id(part) not in outside)
    return next(inside, None)


def _yields(body: Block) -> Iterator[ast.Yield]:
    """Each ``yield`` that is a statement, or is assigned, and stands in no construct."""
    for node in body:
        if isinstance(node, ast.Expr | ast.Assign) and isinstance(node.value, ast.Yield):
            yield node.value
        elif isinstance(node, ast.With):
            yield from _yields(node.body)
        elif isinstance(node, ast.Try):
            yield from _yields([*node.body, *node.orelse, *node.finalbody])


def _refuse_suspension(cause: ast.AST | None, unit: ConversionUnit) -> None:
    if isinstance(cause, ast.Yield | ast.YieldFrom):
        raise unit.refuse(
            cause, "A generator cannot be compiled: `yield` leaves the function half run. Return the values in a list."
        )
    if cause is not None:
        raise unit.refuse(
            cause, "A coroutine cannot be compiled. Compile the part without `async` and `await`, and await around it."
        )


def _rewrite_function(
    node: ast.FunctionDef, unit: ConversionUnit, before: Scope, table: NameTable, outer_local: frozenset[str],
    outer_undefined: frozenset[str], suspended: bool = False,
) -> ast.FunctionDef:  # fmt: skip
    certain = always_bound(node.body, before, table)
    steps = (remove_matches, *([lift_bindings] if before.names.in_place else []), remove_jumps)
    for step in steps:
        node.body = step(node.body, unit)
    if suspended:
        _refuse_suspension(_suspends_inside(node.body), unit)
    table = NameTable() if before.names.in_place else table.renewed()
    # A name stays local although the statement that bound it could not be reached and is gone.
    scope = scope_of(node, table, before.local)
    constructs = find_state(node.body, scope, table)
    bindings = Bindings(node.body, scope, constructs, table)
    rewriter = _Statements(node, unit, scope, table, constructs, bindings, outer_local, outer_undefined, certain)
    node.body = rewriter.function(node.body)
    return node


@functools.cache
def _method(kind: type[ast.stmt]) -> str:
    """Returns the name of the method that rewrites a kind of statement."""
    return f"_{kind.__name__.lower()}"


class _Statements(Stores):
    def __init__(
        self, node: ast.FunctionDef, unit: ConversionUnit, scope: Scope, table: NameTable,
        constructs: Mapping[ast.stmt, Construct], bindings: Bindings, outer_local: frozenset[str],
        outer_undefined: frozenset[str], certain: frozenset[str],
    ) -> None:  # fmt: skip
        super().__init__(node, unit, scope, table, bindings, outer_local)
        self._constructs = constructs
        self._certain = certain
        self._outer_undefined = outer_undefined - scope.local - scope.globals
        self.undefined = self._outer_undefined | bindings.undefined

    def function(self, body: Block) -> Block:
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
        marks: Block = []
        for name in sorted(names):
            certain = [constant(True)] if name in self._certain else []
            is_return = name.startswith(PREFIX)
            mark = operator("unbound_return") if is_return else operator("unbound", constant(name), *certain)
            marks.append(assign(name, mark, origin))
        return marks

    def block(self, body: Sequence[ast.stmt]) -> Block:
        new: Block = []
        for node in body:
            self._at(node)
            method = getattr(self, _method(type(node)), None)
            new += [node] if method is None else method(node)
        return new

    def _at(self, node: ast.AST) -> None:
        self.doubtful = self._bindings.doubtful(node) | self._outer_undefined

    # Constructs

    def _if(self, node: ast.If) -> Block:
        construct = self._constructs[node]
        before: Block = []
        test = self.condition(node.test)
        if self.binds_in_place(node.test):
            # The branches may take copies of names that the test binds.
            before = [assign(name := self.unit.fresh("test"), test, node.test)]
            test = load(name)
        number = self.unit.number()
        state = self._state(construct, number, node)
        body = self._function(f"ag__body_{number}", (), construct, construct.body, node.body, node)
        orelse: list[ast.FunctionDef] = []
        if node.orelse:
            orelse = [self._function(f"ag__orelse_{number}", (), construct, construct.orelse, node.orelse, node)]
        other = load(orelse[0].name if orelse else NOTHING)
        # The names that do not matter once a jump has been taken, by its flag.
        flags = [*map(constant, construct.unread)]
        names = map(strings, construct.unread.values())
        unread = [ast.Dict(keys=[*flags], values=[*names])] if flags else []
        run = operator("if_stmt", test, load(body.name), other, *self._state_names(construct, number), *unread)
        return [*before, *state, body, *orelse, located(ast.Expr(value=located(run, node.test)), node.test)]

    _mask = _if

    def _while(self, node: ast.While) -> Block:
        construct = self._constructs[node]
        number = self.unit.number()
        self._at(node.test)
        test = self._condition(node.test)
        state = self._state(construct, number, node)
        body = self._function(f"ag__body_{number}", (), construct, construct.body, node.body, node)
        run = operator(
            "while_stmt", test, load(body.name), *self._state_names(construct, number), *self._stored(construct)
        )
        return [*state, body, located(ast.Expr(value=located(run, node.test)), node.test)]

    def _for(self, node: ast.For) -> Block:
        construct = self._constructs[node]
        number = self.unit.number()
        over = self.expression(node.iter)
        going: ast.expr = constant(None)
        if isinstance(node, MaskedFor):
            self._at(node.keep_going)
            going = self._condition(node.keep_going)
        self._at(node)
        state = self._state(construct, number, node)
        binding = located(ast.Assign(targets=[node.target], value=load("ag__item")), node.target)
        body = self._function(
            f"ag__body_{number}", ("ag__item",), construct, construct.body, [binding, *node.body], node
        )
        state_names = self._state_names(construct, number)
        run = operator("for_stmt", over, going, load(body.name), *state_names, *self._stored(construct))
        return [*state, body, located(ast.Expr(value=located(run, node.iter)), node.iter)]

    _maskedfor = _for

    def _condition(self, test: ast.expr) -> ast.expr:
        before, self.in_control = self.in_control, True
        condition = located(thunk(self.condition(test)), test)
        self.in_control = before
        return condition

    def _state_names(self, construct: Construct, number: int) -> tuple[ast.expr, ast.expr, ast.expr]:
        if not construct.state:
            return load(NOTHING), load(NOTHING), strings(())
        return load(f"ag__get_state_{number}"), load(f"ag__set_state_{number}"), strings(construct.state)

    def _stored(self, construct: Construct) -> list[ast.expr]:
        """Returns what gives the tensors to whose items a loop's body assigns, if there may be any."""
        names = [load(name) for name in construct.stored if name in self.local]
        return [thunk(ast.Tuple(elts=[*names], ctx=LOAD))] if names else []

    def _state(self, construct: Construct, number: int, origin: ast.AST) -> Block:
        """Returns the two functions that read and write the state of a construct, if it has one."""
        if (
            not construct.state
        ):  # so is it of every other construct, and functions are most of what Python compiles here
            return []
        getter: Block = self._declarations(frozenset(construct.state) & self._scope.globals)
        values: list[ast.expr] = []
        setter: Block = self._declarations(frozenset(construct.state))
        checks: Block = []
        for name in construct.state:
            if name not in self._scope.declared:
                values.append(load(name))
                continue
            # A variable of an outer scope cannot be bound to the mark beforehand: others would see it.
            mark = operator("unbound", constant(name))
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
        self, name: str, params: tuple[str, ...], construct: Construct, branch: ConstructBody, body: Sequence[ast.stmt],
        origin: ast.stmt,
    ) -> ast.FunctionDef:  # fmt: skip
        captured = sorted(branch.captured)
        args = arguments(*params, *captured, defaults=[load(name) for name in captured])
        declared = self._declarations(branch.assigned & frozenset(construct.state))
        start = self._undefined(branch.frame.undefined - branch.captured, origin)
        before, self.in_control = self.in_control, True
        new = self.block(body)
        self.in_control = before
        return function(name, args, [*declared, *start, *new], origin)

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
        return [self._run("assert_stmt", node, self.condition(node.test), message)]

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
            item.context_expr = located(operator("manager", self.expression(item.context_expr)), item.context_expr)
            target = item.optional_vars
            if target is not None and not only_names(target):
                name = self.unit.fresh("value")
                item.optional_vars = located(store(name), target)
                stores += self._store(target, load(name), located(ast.Pass(), target))
        node.body = [*stores, *self.block(node.body)]
        return [node]

    def _try(self, node: ast.Try | ast.TryStar) -> Block:
        node.body = self.block(node.body)
        if node.handlers:
            node.body = [self._in_scope(operator("TryScope", self._caught(node)), node.body, node)]
        for handler in node.handlers:
            self._at(handler)
            handler.type = self.optional(handler.type)
            handler.body = self.block(handler.body)
            if handler.name in self._bindings.undefined:
                self._rename(handler, handler.name)
        if node.handlers and isinstance(node, ast.Try):
            again = located(ast.Raise(exc=None, cause=None), node.handlers[0])
            passing = ast.ExceptHandler(type=operator("passing"), name=None, body=[again])
            node.handlers.insert(0, ast.copy_location(passing, node.handlers[0]))
        node.orelse = self.block(node.orelse)
        if not node.finalbody:
            return [node]
        before = self.unit.fresh("before")
        first = node.finalbody[0]
        node.finalbody = [self._in_scope(operator("in_finally", load(before)), self.block(node.finalbody), first)]
        return [assign(before, operator("before_try"), node), node]

    _trystar = _try

    def _caught(self, node: ast.Try | ast.TryStar) -> ast.expr:
        """A function of no arguments that gives the classes of the exceptions that are caught, or None for all."""
        kinds = [handler.type for handler in node.handlers]
        if isinstance(node, ast.TryStar) or None in kinds:
            return constant(None)
        self._at(node.handlers[0])
        classes = [self.expression(clone(kind)) for kind in kinds if kind is not None]
        return located(thunk(ast.Tuple(elts=classes, ctx=LOAD)), node)

    def _in_scope(self, scope: ast.expr, body: Block, origin: ast.stmt) -> ast.stmt:
        item = ast.withitem(context_expr=located(scope, origin), optional_vars=None)
        return located(ast.With(items=[item], body=body), origin)

    def _rename(self, handler: ast.ExceptHandler, name: str) -> None:
        """Python unbinds the name of a handler at its end; a name that a construct holds takes the mark instead."""
        handler.name = self.unit.fresh("error")
        unbind = assign(name, operator("unbound", constant(name)), handler)
        body = located(ast.Try(body=handler.body, handlers=[], orelse=[], finalbody=[unbind]), handler)
        handler.body = [assign(name, load(handler.name), handler), body]

    def _functiondef(self, node: ast.FunctionDef) -> Block:
        node.decorator_list = [self.expression(decorator) for decorator in node.decorator_list]
        node.args = self.arguments(node.args)
        scope = scope_of(node, self.table)
        if scope.names.suspension is None:
            _rewrite_function(node, self.unit, scope, self.table, self.local, self.undefined)
        return [node]
