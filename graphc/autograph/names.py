"""Which names a piece of syntax reads and binds, by Python's scoping rules."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from graphc.autograph.source import Definition, FunctionNode

__all__ = ["Names", "Scope", "collect", "parameters", "scope_of", "target_names"]

# Builtins that run a generator expression before they return: it reads its names at once, as a list would.
_CONSUMERS = frozenset({"all", "any", "dict", "frozenset", "list", "max", "min", "set", "sorted", "sum", "tuple"})

_Comprehension = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp


@dataclass(slots=True)
class Names:
    """What a piece of syntax does to the names of the function it stands in.

    Attributes:
      reads: names read when the piece runs.
      binds: names bound, or unbound by ``del``, whenever the piece runs to its end.
      may_bind: names bound on some ways through the piece only (``:=`` in an operand, patterns).
      deferred: names that functions defined here may read at any later time.
      rebound: names that functions defined here bind by ``nonlocal``.
    """

    reads: set[str] = field(default_factory=set[str])
    binds: set[str] = field(default_factory=set[str])
    may_bind: set[str] = field(default_factory=set[str])
    deferred: set[str] = field(default_factory=set[str])
    rebound: set[str] = field(default_factory=set[str])

    @property
    def assigned(self) -> set[str]:
        """Every name that may be bound."""
        return self.binds | self.may_bind


@dataclass(slots=True)
class Scope:
    """The names of one function.

    Attributes:
      parameters: its parameters, in order.
      names: what its body does.
      local: its local variables, parameters included.
      globals: names it declares ``global``.
      nonlocals: names it declares ``nonlocal``.
    """

    parameters: tuple[str, ...]
    names: Names
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
    """The names of the parameters, in the order of ``co_varnames``."""
    names = [arg.arg for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs)]
    return (*names, *(arg.arg for arg in (args.vararg, args.kwarg) if arg is not None))


def collect(nodes: Iterable[ast.AST]) -> Names:
    """What the nodes do to the names around them; nested statements of the same function are included."""
    collector = _Collector()
    for node in nodes:
        collector.visit(node)
    return collector.names


def target_names(target: ast.expr) -> list[str]:
    """The names that an assignment target binds."""
    return [node.id for node in ast.walk(target) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]


def scope_of(node: Definition, local: frozenset[str] = frozenset()) -> Scope:
    """The scope that a function or a lambda opens.

    Args:
      node: its definition.
      local: names that are local to it even if nothing in the definition binds them.
    """
    names = collect([node.body] if isinstance(node, ast.Lambda) else node.body)
    params = parameters(node.args)
    global_names: set[str] = set()
    nonlocal_names: set[str] = set()
    for statement in [] if isinstance(node, ast.Lambda) else own_nodes(node.body):
        if isinstance(statement, ast.Global):
            global_names.update(statement.names)
        elif isinstance(statement, ast.Nonlocal):
            nonlocal_names.update(statement.names)
    local = local.union(names.assigned, params) - global_names - nonlocal_names
    return Scope(params, names, local, frozenset(global_names), frozenset(nonlocal_names))


def own_nodes(body: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """Every node of a function's body that runs in the function itself, not in a function or class inside it."""
    stack = list(body)
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            stack.extend(ast.iter_child_nodes(node))


class _Collector(ast.NodeVisitor):
    def __init__(self) -> None:
        self.names = Names()
        self.hidden: frozenset[str] = frozenset()  # variables of the comprehensions around
        self.certain = True  # whether this part runs whenever its statement runs to its end
        self.walrus: set[str] = set()  # names that the statement has certainly bound by := so far

    def visit(self, node: ast.AST) -> None:
        if not isinstance(node, ast.stmt):
            return super().visit(node)
        before = self.walrus, self.certain
        self.walrus, self.certain = set(), True
        super().visit(node)
        self.walrus, self.certain = before

    def _perhaps(self, *nodes: ast.AST) -> None:
        """Visits parts that run on some ways only."""
        before, self.certain = self.certain, False
        for node in nodes:
            self.visit(node)
        self.certain = before

    def visit_Name(self, node: ast.Name) -> None:
        if node.id in self.hidden:
            return
        if not isinstance(node.ctx, ast.Store) and node.id not in self.walrus:
            self.names.reads.add(node.id)
        if not isinstance(node.ctx, ast.Load):
            self.names.binds.add(node.id)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.visit(node.value)
        if self.certain:
            self.walrus.add(node.target.id)
            self.names.binds.add(node.target.id)
        else:
            self.names.may_bind.add(node.target.id)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        self.visit(node.values[0])
        self._perhaps(*node.values[1:])

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self.visit(node.test)
        self._perhaps(node.body, node.orelse)

    def visit_Compare(self, node: ast.Compare) -> None:
        self.visit(node.left)
        self.visit(node.comparators[0])
        self._perhaps(*node.comparators[1:])

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.generic_visit(node)
        if isinstance(node.target, ast.Name):
            self.names.reads.add(node.target.id)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is None and isinstance(node.target, ast.Name):
            self.names.may_bind.add(node.target.id)  # it makes the name local, no more
        else:
            for part in (node.target, node.value):
                if part is not None:
                    self.visit(part)

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        self.names.binds.update(alias.asname or alias.name.partition(".")[0] for alias in node.names)

    visit_ImportFrom = visit_Import

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name is not None:
            self.names.binds.add(node.name)
        self.generic_visit(node)

    def visit_MatchAs(self, node: ast.MatchAs | ast.MatchStar) -> None:
        if node.name is not None:
            self.names.may_bind.add(node.name)
        self.generic_visit(node)

    visit_MatchStar = visit_MatchAs

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        if node.rest is not None:
            self.names.may_bind.add(node.rest)
        self.generic_visit(node)

    def visit_FunctionDef(self, node: FunctionNode) -> None:
        self.names.binds.add(node.name)
        for expression in node.decorator_list:
            self.visit(expression)
        for argument in ast.walk(node.args):
            if isinstance(argument, ast.arg) and argument.annotation is not None:
                self.visit(argument.annotation)
        if node.returns is not None:
            self.visit(node.returns)
        self._closure(node)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._closure(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.names.binds.add(node.name)
        for expression in (*node.decorator_list, *node.bases, *(keyword.value for keyword in node.keywords)):
            self.visit(expression)
        inner = collect(node.body)
        # The body runs now and its methods later; names of the class itself are kept too, as it may read outer ones.
        self.names.reads |= inner.reads - self.hidden
        self.names.deferred |= (inner.reads | inner.deferred) - self.hidden
        self.names.rebound |= inner.rebound

    def _closure(self, node: Definition) -> None:
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None:
                self.visit(default)
        scope = scope_of(node)
        free = (scope.names.reads | scope.names.deferred | scope.nonlocals) - scope.local - scope.globals
        self.names.deferred |= free - self.hidden
        self.names.rebound |= (scope.nonlocals | scope.names.rebound) - scope.local
        # A name may be read as soon as the function exists.
        self.names.reads |= free - self.hidden

    def visit_Call(self, node: ast.Call) -> None:
        self.visit(node.func)
        name = node.func.id if isinstance(node.func, ast.Name) else None
        for argument in node.args:
            if isinstance(argument, ast.GeneratorExp) and name in _CONSUMERS:
                self._comprehension(argument)
            else:
                self.visit(argument)
        for keyword in node.keywords:
            self.visit(keyword.value)

    def visit_ListComp(self, node: ast.ListComp | ast.SetComp | ast.DictComp) -> None:
        self._comprehension(node)

    visit_SetComp = visit_ListComp
    visit_DictComp = visit_ListComp

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> None:
        before = self.names
        self.names = Names()
        self._comprehension(node)
        later, self.names = self.names, before
        for name in ("reads", "binds", "may_bind", "deferred", "rebound"):
            getattr(self.names, name).update(getattr(later, name))
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
