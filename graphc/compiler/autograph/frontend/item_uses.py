"""Finds the containers of which a function reads single items only: ``config["rate"]``, ``config.get("rate")``.

Of such a container a trace depends on the items that were asked for, and not on the others. That is known only if
every use is one of these. So the converted code is looked through: what is passed on, returned, iterated over or
stored, or stands anywhere else, counts as a whole.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from graphc.compiler.autograph.frontend.emit import PREFIX, children, constant

FRAME_BUILTINS = frozenset({"breakpoint", "dir", "eval", "exec", "globals", "locals", "super", "vars"})
"""Builtins that look at the frame that calls them; all but ``super`` may find any variable there."""

_ASKING = {"load_item": (0,), "call_method": (0,), "contains": (1,), "is_": (0, 1), "is_not": (0, 1)}
"""By operator, the operands that it asks for items or for their identity, and does nothing else with."""

_LOADING = frozenset(("load_attr", "load_item"))


@dataclass
class _Uses:
    """The uses of names in a function."""

    asked: set[str] = field(default_factory=set[str])  # names that are asked for items somewhere
    whole: set[str] = field(default_factory=set[str])  # names that are used in any other way
    # Pairs of names of which the first is assigned the second.
    aliases: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    # Calls that load a container to ask it for items, each with the name that it is assigned to, if any.
    loads: list[tuple[ast.Call, str]] = field(default_factory=list[tuple[ast.Call, str]])


def mark_item_uses(root: ast.AST) -> frozenset[str]:
    """Marks what loads a container to ask it for items (``by_item=True``); returns the names only asked for items."""
    uses = _Uses()
    todo = [root]
    while todo:
        node = todo.pop()
        look = _LOOKS.get(type(node))
        if look is None:
            todo += children(node)
        else:
            look(node, uses, todo)
    if uses.whole & (FRAME_BUILTINS - {"super"}):
        return frozenset()
    grown = True
    while grown:
        names = {name for target, name in uses.aliases if target in uses.whole} - uses.whole
        uses.whole |= names
        grown = bool(names)
    for load, target in uses.loads:
        if target not in uses.whole:
            load.keywords.append(ast.keyword(arg="by_item", value=constant(True)))
    return frozenset(uses.asked | {name for _, name in uses.aliases}) - uses.whole


def _name(node: ast.Name, uses: _Uses, todo: list[ast.AST]) -> None:
    del todo
    if not isinstance(node.ctx, ast.Store):
        uses.whole.add(node.id)


def _declaration(node: ast.Global | ast.Nonlocal, uses: _Uses, todo: list[ast.AST]) -> None:
    del todo
    uses.whole.update(node.names)


def _class(node: ast.ClassDef, uses: _Uses, todo: list[ast.AST]) -> None:
    """The names of its body become attributes, and its methods are not converted."""
    del todo
    uses.whole.update(part.id for part in ast.walk(node) if isinstance(part, ast.Name))


def _assignment(node: ast.Assign, uses: _Uses, todo: list[ast.AST]) -> None:
    target, value = node.targets[0], node.value
    if len(node.targets) == 1 and isinstance(target, ast.Name):
        if isinstance(value, ast.Name):
            uses.aliases.append((target.id, value.id))
            return
        if isinstance(value, ast.Call) and _operator(value) in _LOADING:
            uses.loads.append((value, target.id))
    todo += children(node)


def _augmented(node: ast.AugAssign, uses: _Uses, todo: list[ast.AST]) -> None:
    if isinstance(node.target, ast.Name):
        uses.whole.add(node.target.id)
    todo += children(node)


def _call(node: ast.Call, uses: _Uses, todo: list[ast.AST]) -> None:
    name = _operator(node)
    positions = _ASKING.get(name, ())
    if name == "call_method" and not (isinstance(node.args[1], ast.Constant) and node.args[1].value == "get"):
        positions = ()
    for position, operand in enumerate(node.args):
        if position not in positions:
            todo.append(operand)
        elif isinstance(operand, ast.Name):
            uses.asked.add(operand.id)
        else:
            if isinstance(operand, ast.Call) and _operator(operand) in _LOADING:
                uses.loads.append((operand, ""))
            todo.append(operand)
    if not name:
        todo.append(node.func)
    todo += [keyword.value for keyword in node.keywords]


_LOOKS: dict[type[ast.AST], Callable[[Any, _Uses, list[ast.AST]], None]] = {
    ast.Name: _name,
    ast.Global: _declaration,
    ast.Nonlocal: _declaration,
    ast.ClassDef: _class,
    ast.Assign: _assignment,
    ast.AugAssign: _augmented,
    ast.Call: _call,
}


def _operator(node: ast.Call) -> str:
    """Returns the name of the operator that is called; empty for another call."""
    function = node.func
    if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name) and function.value.id == PREFIX:
        return function.attr
    return ""
