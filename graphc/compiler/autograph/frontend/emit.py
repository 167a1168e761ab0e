"""Builds the pieces of syntax that the transformation writes."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar, cast

LOAD = ast.Load()
STORE = ast.Store()
PREFIX = "ag__"
THUNK = "ag__thunk"
NOTHING = "ag__nothing"  # a function that does nothing: a branch that is empty, the state of what has none

N = TypeVar("N", bound=ast.AST)
S = TypeVar("S", bound=ast.stmt | ast.expr)


_PLAIN = frozenset(
    [
        "arg",
        "asname",
        "attr",
        "conversion",
        "ctx",
        "id",
        "is_async",
        "kind",
        "kwd_attrs",
        "level",
        "module",
        "names",
        "op",
        "ops",
        "simple",
        "type_comment",
    ]
)
"""The fields of nodes that hold texts, numbers, operators (``ast.Add``), contexts (``ast.Load``) and plain names."""

_WITH_GAPS = frozenset(["keys", "kw_defaults"])
"""The fields that hold lists in which None stands for what is not there."""


@functools.cache
def _fields(kind: type[ast.AST]) -> tuple[str, ...]:
    """Returns the fields of a kind of node that hold nodes which say something."""
    return () if kind is ast.Constant else tuple(name for name in kind._fields if name not in _PLAIN)


def children(node: ast.AST) -> list[ast.AST]:
    """Gives the nodes directly inside a node, in the order of the text, four times faster than ``ast`` finds them."""
    # Operators (``ast.Add``), contexts (``ast.Load``) and the names of an ``import`` are left out.
    nodes: list[ast.AST] = []
    fields = vars(node)
    for name in _fields(type(node)):
        value: object = fields.get(name)
        if isinstance(value, list):
            parts = cast("list[Any]", value)
            nodes += [part for part in parts if part is not None] if name in _WITH_GAPS else parts
        elif isinstance(value, ast.AST):
            nodes.append(value)
    return nodes


def fix_locations(root: N) -> N:
    """Gives every node without a place that of the node around it; as ``ast.fix_missing_locations``, but faster."""
    stack: list[tuple[Any, dict[str, Any]]] = [
        (root, {"lineno": 1, "col_offset": 0, "end_lineno": 1, "end_col_offset": 1})
    ]
    take, add = stack.pop, stack.append
    while stack:  # a third of what Python's compiler takes; with calls inside it took a half
        node, position = take()
        fields = node.__dict__
        if "lineno" in fields:
            position = fields
        elif node._attributes:
            fields["lineno"], fields["col_offset"] = position["lineno"], position["col_offset"]
            fields["end_lineno"], fields["end_col_offset"] = position["end_lineno"], position["end_col_offset"]
        for name in _fields(node.__class__):
            value = fields.get(name)
            if value.__class__ is list:
                for part in value:
                    if part is not None:
                        add((part, position))
            elif isinstance(value, ast.AST):
                add((value, position))
    return root


def located(node: S, origin: ast.AST) -> S:
    """Gives a new node the place of the user's node it stands for; as ``ast.copy_location``, but faster."""
    fields, position = vars(node), vars(origin)
    if "lineno" in position:
        fields["lineno"], fields["col_offset"] = position["lineno"], position["col_offset"]
        fields["end_lineno"], fields["end_col_offset"] = position["end_lineno"], position["end_col_offset"]
    return node


@functools.cache
def visitor(kind: type[ast.AST]) -> str:
    """Returns the name of the method that a visitor has for a kind of node: ``_visit_ifexp`` for ``ast.IfExp``."""
    return f"_visit_{kind.__name__.lower()}"


def load(name: str) -> ast.Name:
    """Reads a name."""
    return ast.Name(id=name, ctx=LOAD)


def store(name: str) -> ast.Name:
    """Binds a name, in a target."""
    return ast.Name(id=name, ctx=STORE)


def constant(value: str | bool | int | None) -> ast.Constant:
    """Returns a constant."""
    return ast.Constant(value=value)


def strings(values: Iterable[str]) -> ast.Tuple:
    """Returns a tuple of texts."""
    return ast.Tuple(elts=[constant(value) for value in values], ctx=LOAD)


def call(function: ast.expr, *args: ast.expr) -> ast.Call:
    """Returns a call with positional arguments."""
    return ast.Call(func=function, args=list(args), keywords=[])


def operator(name: str, *args: ast.expr) -> ast.Call:
    """Returns a call of an operator: ``ag__.name(*args)``."""
    return call(ast.Attribute(value=load(PREFIX), attr=name, ctx=LOAD), *args)


def arguments(*names: str, defaults: Sequence[ast.expr] = ()) -> ast.arguments:
    """Parameters of a function; the defaults belong to the last of them."""
    args = [ast.arg(arg=name) for name in names]
    return ast.arguments(posonlyargs=[], args=args, kwonlyargs=[], kw_defaults=[], defaults=list(defaults))


def thunk(value: ast.expr, *parameters: str) -> ast.Lambda:
    """Returns a function that evaluates the expression, of no arguments or of one: ``lambda: value``."""
    # A parameter that nobody gives tells its code from that of the user's lambdas.
    args = arguments(*parameters)
    args.vararg = ast.arg(arg=THUNK)
    return ast.Lambda(args=args, body=value)


def assign(name: str, value: ast.expr, origin: ast.AST) -> ast.Assign:
    """``name = value``, at the place of ``origin``."""
    return located(ast.Assign(targets=[store(name)], value=value), origin)


def not_(value: ast.expr) -> ast.UnaryOp:
    """``not value``, as the user would write it."""
    return ast.UnaryOp(op=ast.Not(), operand=value)


def function(name: str, args: ast.arguments, body: list[ast.stmt], origin: ast.AST) -> ast.FunctionDef:
    """Returns a function definition, at the place of ``origin``."""
    node = ast.FunctionDef(name=name, args=args, body=body or [ast.Pass()], decorator_list=[])
    return located(node, origin)
