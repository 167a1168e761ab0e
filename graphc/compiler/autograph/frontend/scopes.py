"""Finds the names that a piece of syntax reads and binds, by Python's scoping rules."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from graphc.compiler.autograph.frontend.emit import children, visitor
from graphc.compiler.autograph.frontend.source import Definition, FunctionNode

# Builtins that run a generator expression before they return: it reads its names at once, as a list would.
_CONSUMERS = frozenset({"all", "any", "dict", "frozenset", "list", "max", "min", "set", "sorted", "sum", "tuple"})

_Comprehension = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp

# What holds statements of the same function, which a step of the transformation may change.
_HOLDERS = (
    ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.TryStar, ast.Match,
    ast.ExceptHandler, ast.match_case,
)  # fmt: skip

NOTHING: AbstractSet[str] = frozenset()


@dataclass(slots=True)
class NameEffects:
    """The effects of a piece of syntax on the names of its function."""

    reads: set[str] = field(default_factory=set[str])
    # Names bound, or unbound by ``del``, whenever the piece runs to its end.
    binds: set[str] = field(default_factory=set[str])
    # Most pieces have none of these, and there are thousands of pieces.
    # Names bound on some ways through the piece only (``:=`` in an operand, patterns).
    may_bind: AbstractSet[str] = NOTHING
    in_place: AbstractSet[str] = NOTHING
    deferred: AbstractSet[str] = NOTHING  # names that functions defined here may read at any later time
    rebound: AbstractSet[str] = NOTHING  # names that functions defined here bind by ``nonlocal``
    deleted: AbstractSet[str] = NOTHING  # names that may be unbound, by ``del`` or at the end of an ``except`` clause
    globals: AbstractSet[str] = NOTHING
    nonlocals: AbstractSet[str] = NOTHING
    stored: tuple[str, ...] = ()  # names to whose items something is assigned here, in order
    # The last ``yield`` or ``await`` here, or what else makes the function a generator or a coroutine.
    suspension: ast.AST | None = None

    @property
    def assigned(self) -> AbstractSet[str]:
        """Every name that may be bound."""
        return self.binds | self.may_bind if self.may_bind else self.binds

    def add(self, other: NameEffects) -> None:
        """Adds what another piece does."""
        self.reads |= other.reads
        self.binds |= other.binds
        for name in _RARE:
            if more := getattr(other, name):
                setattr(self, name, getattr(self, name) | more)
        if other.stored:
            self.stored += other.stored
        self.suspension = other.suspension or self.suspension


_RARE = ("may_bind", "in_place", "deferred", "rebound", "deleted", "globals", "nonlocals")


class NameTable:
    """The names of the statements and expressions of a function and of those inside it, each found once."""

    def __init__(self) -> None:
        self._known: dict[ast.AST, NameEffects] = {}
        self.binds_in_place: bool = False

    def renewed(self) -> NameTable:
        """Returns a table for statements that were moved, with expressions and simple statements unchanged."""
        table = NameTable()
        table._known = {node: names for node, names in self._known.items() if not isinstance(node, _HOLDERS)}
        table.binds_in_place = self.binds_in_place
        return table

    def of(self, node: ast.AST) -> NameEffects:
        """Returns what a node does to the names around it; statements inside it, of the same function, are included."""
        names = self._known.get(node)
        if names is None:
            collector = _Collector(self)
            collector.visit(node)
            names = self._known[node] = collector.names
        return names

    def of_all(self, nodes: Iterable[ast.AST]) -> NameEffects:
        """Returns what several nodes do."""
        names = NameEffects()
        for node in nodes:
            names.add(self.of(node))
        return names


@dataclass(slots=True)
class Scope:
    """The names of one function."""

    parameters: tuple[str, ...]
    names: NameEffects
    local: frozenset[str]
    globals: frozenset[str]
    nonlocals: frozenset[str]

    @property
    def declared(self) -> frozenset[str]:
        """Names that belong to an outer scope, by declaration."""
        return self.globals | self.nonlocals

    @property
    def always_live(self) -> frozenset[str]:
        """Names that somebody else may read at any time."""
        return self.declared | (self.names.deferred & self.local)


def parameters(args: ast.arguments) -> tuple[str, ...]:
    """Returns the names of the parameters, in the order of ``co_varnames``."""
    names = [arg.arg for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs)]
    return (*names, *(arg.arg for arg in (args.vararg, args.kwarg) if arg is not None))


def target_names(target: ast.expr) -> list[str]:
    """Returns the names that an assignment target binds."""
    return [node.id for node in ast.walk(target) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]


def scope_of(node: Definition, table: NameTable, local: frozenset[str] = frozenset()) -> Scope:
    """Returns the scope that a function or a lambda opens."""
    # local: names that are local to it even if nothing in the definition binds them.
    names = table.of_all([node.body] if isinstance(node, ast.Lambda) else node.body)
    params = parameters(node.args)
    local = local.union(names.assigned, params) - names.globals - names.nonlocals
    return Scope(params, names, local, frozenset(names.globals), frozenset(names.nonlocals))


def own_nodes(body: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """Every node of a function's body that runs in the function itself, not in a function or class inside it."""
    stack = list(body)
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            stack += children(node)


class _Collector(ast.NodeVisitor):
    def __init__(self, table: NameTable) -> None:
        self.table = table
        self.names = NameEffects()
        self.hidden: frozenset[str] = frozenset()  # variables of the comprehensions around
        self.certain = True  # whether this part runs whenever its statement runs to its end
        self.walrus: set[str] = set()  # names that the statement has certainly bound by := so far

    def visit(self, node: ast.AST) -> None:
        getattr(self, visitor(type(node)), self.generic_visit)(node)

    def generic_visit(self, node: ast.AST) -> None:
        """Collects the names inside a node."""
        for child in children(node):
            if isinstance(child, ast.stmt):
                self.names.add(self.table.of(child))
            else:
                self.visit(child)

    def _visit_if(self, node: ast.If | ast.While | ast.For) -> None:
        # The names of the header are asked for by themselves, too.
        for child in children(node):
            self.names.add(self.table.of(child))

    _visit_mask = _visit_while = _visit_for = _visit_maskedfor = _visit_if

    def _visit_constant(self, node: ast.Constant) -> None:
        pass

    def _visit_yield(self, node: ast.AST) -> None:
        self.generic_visit(node)
        self.names.suspension = node

    _visit_yieldfrom = _visit_await = _visit_asyncfor = _visit_asyncwith = _visit_yield

    def _perhaps(self, *nodes: ast.AST) -> None:
        """Visits parts that run on some ways only."""
        before, self.certain = self.certain, False
        for node in nodes:
            self.visit(node)
        self.certain = before

    def _visit_name(self, node: ast.Name) -> None:
        if node.id in self.hidden:
            return
        if not isinstance(node.ctx, ast.Store) and node.id not in self.walrus:
            self.names.reads.add(node.id)
        if not isinstance(node.ctx, ast.Load):
            self.names.binds.add(node.id)
        if isinstance(node.ctx, ast.Del):
            self.names.deleted |= {node.id}

    def _visit_subscript(self, node: ast.Subscript) -> None:
        if isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name):
            self.names.stored += (node.value.id,)
        self.generic_visit(node)

    def _visit_namedexpr(self, node: ast.NamedExpr) -> None:
        self.visit(node.value)
        self.table.binds_in_place = True
        self.names.in_place |= {node.target.id}
        if self.certain:
            self.walrus.add(node.target.id)
            self.names.binds.add(node.target.id)
        else:
            self.names.may_bind |= {node.target.id}

    def _visit_boolop(self, node: ast.BoolOp) -> None:
        self.visit(node.values[0])
        self._perhaps(*node.values[1:])

    def _visit_ifexp(self, node: ast.IfExp) -> None:
        self.visit(node.test)
        self._perhaps(node.body, node.orelse)

    def _visit_compare(self, node: ast.Compare) -> None:
        self.visit(node.left)
        self.visit(node.comparators[0])
        self._perhaps(*node.comparators[1:])

    def _visit_augassign(self, node: ast.AugAssign) -> None:
        self.generic_visit(node)
        if isinstance(node.target, ast.Name):
            self.names.reads.add(node.target.id)

    def _visit_annassign(self, node: ast.AnnAssign) -> None:
        if node.value is None and isinstance(node.target, ast.Name):
            self.names.may_bind |= {node.target.id}  # it makes the name local, no more
        else:
            for part in (node.target, node.value):
                if part is not None:
                    self.visit(part)

    def _visit_import(self, node: ast.Import | ast.ImportFrom) -> None:
        self.names.binds.update(alias.asname or alias.name.partition(".")[0] for alias in node.names)

    _visit_importfrom = _visit_import

    def _visit_global(self, node: ast.Global) -> None:
        self.names.globals |= {*node.names}

    def _visit_nonlocal(self, node: ast.Nonlocal) -> None:
        self.names.nonlocals |= {*node.names}

    def _visit_excepthandler(self, node: ast.ExceptHandler) -> None:
        if node.name is not None:
            self.names.binds.add(node.name)
            self.names.deleted |= {node.name}
        self.generic_visit(node)

    def _visit_matchas(self, node: ast.MatchAs | ast.MatchStar) -> None:
        if node.name is not None:
            self.names.may_bind |= {node.name}
        self.generic_visit(node)

    _visit_matchstar = _visit_matchas

    def _visit_functiondef(self, node: FunctionNode) -> None:
        self.names.binds.add(node.name)
        for expression in node.decorator_list:
            self.visit(expression)
        for argument in ast.walk(node.args):
            if isinstance(argument, ast.arg) and argument.annotation is not None:
                self.visit(argument.annotation)
        if node.returns is not None:
            self.visit(node.returns)
        self._closure(node)

    _visit_asyncfunctiondef = _visit_functiondef

    def _visit_lambda(self, node: ast.Lambda) -> None:
        self._closure(node)

    def _visit_classdef(self, node: ast.ClassDef) -> None:
        self.names.binds.add(node.name)
        for expression in (*node.decorator_list, *node.bases, *(keyword.value for keyword in node.keywords)):
            self.visit(expression)
        inner = self.table.of_all(node.body)
        # The body runs now and its methods later; names of the class itself are kept too, as it may read outer ones.
        self.names.reads |= inner.reads - self.hidden
        self.names.deferred |= (inner.reads | inner.deferred) - self.hidden
        self.names.rebound |= inner.rebound

    def _closure(self, node: Definition) -> None:
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None:
                self.visit(default)
        scope = scope_of(node, self.table)
        free = (scope.names.reads | scope.names.deferred | scope.nonlocals) - scope.local - scope.globals
        self.names.deferred |= free - self.hidden
        self.names.rebound |= (scope.nonlocals | scope.names.rebound) - scope.local
        # A name may be read as soon as the function exists.
        self.names.reads |= free - self.hidden

    def _visit_call(self, node: ast.Call) -> None:
        self.visit(node.func)
        name = node.func.id if isinstance(node.func, ast.Name) else None
        for argument in node.args:
            if isinstance(argument, ast.GeneratorExp) and name in _CONSUMERS:
                self._comprehension(argument)
            else:
                self.visit(argument)
        for keyword in node.keywords:
            self.visit(keyword.value)

    def _visit_listcomp(self, node: ast.ListComp | ast.SetComp | ast.DictComp) -> None:
        self._comprehension(node)

    _visit_setcomp = _visit_listcomp
    _visit_dictcomp = _visit_listcomp

    def _visit_generatorexp(self, node: ast.GeneratorExp) -> None:
        before = self.names
        self.names = NameEffects()
        self._comprehension(node)
        later, self.names = self.names, before
        self.names.add(later)
        self.names.deferred |= later.reads
        self.names.rebound |= later.may_bind

    def _comprehension(self, node: _Comprehension) -> None:
        self.visit(node.generators[0].iter)
        outer = self.hidden
        self.hidden = outer.union(*(target_names(generator.target) for generator in node.generators))
        for position, generator in enumerate(node.generators):
            self._perhaps(generator.target)
            if position:
                self._perhaps(generator.iter)
            self._perhaps(*generator.ifs)
        self._perhaps(*((node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,)))
        self.hidden = outer
