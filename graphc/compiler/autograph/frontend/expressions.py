"""Rewrites expressions: what Python decides by itself, such as ``and`` or a call, goes through an operator."""

from __future__ import annotations

import ast
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar, cast

from graphc.compiler.autograph.frontend.emit import (
    PREFIX,
    call,
    constant,
    load,
    located,
    operator,
    store,
    strings,
    thunk,
    visitor,
)
from graphc.compiler.autograph.frontend.item_uses import FRAME_BUILTINS
from graphc.compiler.autograph.frontend.rewriting import ConversionUnit
from graphc.compiler.autograph.frontend.scopes import NameTable, own_nodes, parameters, target_names

_COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}
_UNARY: dict[type[ast.unaryop], str] = {ast.USub: "-", ast.UAdd: "+", ast.Invert: "~"}
BINARY: dict[type[ast.operator], str] = {
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
"""The text of each of Python's operators."""

# Literals, whose kinds are Python's own.
_HARMLESS = (ast.Constant, ast.JoinedStr, ast.List, ast.ListComp, ast.Dict, ast.DictComp, ast.GeneratorExp)

# What takes all items of a generator expression before it returns.
_CONSUMERS = frozenset(("all", "any", "dict", "list", "max", "min", "set", "sorted", "sum", "tuple"))

# What makes a new list or dict.
_CONTAINERS = frozenset([ast.List, ast.ListComp, ast.Dict, ast.DictComp])

E = TypeVar("E", bound=ast.expr)


class Expressions(ast.NodeTransformer):
    """The rewriting of expressions."""

    def __init__(
        self, unit: ConversionUnit, local: frozenset[str], first_parameter: str | None, table: NameTable
    ) -> None:
        self.unit = unit
        self.table = table
        self.local = local  # the variables of the function and of the converted functions around it
        # The names that may hold the mark for an unbound name where the expression runs.
        self.doubtful: frozenset[str] = frozenset()
        # The names that may hold it anywhere, which is what a function defined here may see.
        self.undefined: frozenset[str] = frozenset()
        self.in_control: bool = False  # whether the expression stands in a branch or a loop
        self._in_thunk: bool = False
        self._asked: set[ast.BoolOp] = set()
        self._first_parameter = first_parameter  # the function's first parameter, for ``super()``, or None

    def binds_in_place(self, node: ast.expr) -> bool:
        """Returns True if an expression binds a name of its function by ``:=``."""
        return self.table.binds_in_place and any(isinstance(part, ast.NamedExpr) for part in own_nodes([node]))

    def expression(self, node: ast.expr) -> ast.expr:
        """Rewrites one expression."""
        return self.visit(node)

    def condition(self, node: ast.expr) -> ast.expr:
        """Rewrites an expression of which only the truth is asked; so it is of the operands of `and` and `or` then."""
        parts = [node]
        for part in parts:
            if isinstance(part, ast.BoolOp):
                self._asked.add(part)
                parts.extend(part.values)
            elif isinstance(part, ast.UnaryOp) and isinstance(part.op, ast.Not):
                parts.append(part.operand)
        return self.visit(node)

    def optional(self, node: ast.expr | None) -> ast.expr | None:
        """Rewrites an expression that may be absent."""
        return None if node is None else self.visit(node)

    def delayed(self, node: ast.expr, what: str) -> ast.Lambda:
        """Rewrites an expression and makes it a function of no arguments."""
        if self.binds_in_place(node):
            raise self.unit.refuse(
                node,
                f"`:=` inside {what} binds a name only when that part is evaluated, which cannot be compiled. "
                "Assign the name on a line of its own, before this one.",
            )
        return self._thunk(node)

    def _thunk(self, node: ast.expr, *, asked: bool = False) -> ast.Lambda:
        """Rewrites an expression, of which perhaps only the truth is asked, and makes it a function of no arguments."""
        before, self._in_thunk = self._in_thunk, True
        value = self._operand(node, asked)
        self._in_thunk = before
        return located(thunk(value), node)

    def _operand(self, node: ast.expr, asked: bool) -> ast.expr:
        value = self.visit(node)
        is_bool = isinstance(node, ast.Compare | ast.BoolOp) or (isinstance(node, ast.Constant) and node.value is True)
        if not asked or is_bool:
            return value
        return located(operator("asked", value), node)

    def _first(self, node: ast.expr, *, asked: bool = False) -> ast.expr:
        """A part that is always evaluated, and first: it may bind names, then it is evaluated before the operator."""
        if self.binds_in_place(node):
            return located(call(load("ag__now"), self._operand(node, asked)), node)
        return self._thunk(node, asked=asked)

    def visit(self, node: ast.AST) -> Any:
        """Rewrites a node by the method for its kind, or else what is inside it."""
        kind = type(node)
        method = getattr(self, visitor(kind), None)
        new: Any = self.generic_visit(node) if method is None else method(node)
        # A list or dict that a branch or iteration makes is its own to change.
        if kind in _CONTAINERS and not isinstance(getattr(node, "ctx", None), ast.Store | ast.Del):
            return located(operator("made", new), node)
        return new

    @contextmanager
    def hiding(self, names: frozenset[str]) -> Generator[None]:
        """Inside, the names are variables of a comprehension or a lambda."""
        before = self.local, self.doubtful, self.undefined
        self.local, self.doubtful, self.undefined = self.local | names, self.doubtful - names, self.undefined - names
        yield
        self.local, self.doubtful, self.undefined = before

    def _visit_constant(self, node: ast.Constant) -> ast.expr:
        return node

    def _visit_name(self, node: ast.Name) -> ast.expr:
        if isinstance(node.ctx, ast.Load) and node.id in self.doubtful:
            return located(operator("load", node), node)
        return node

    def _visit_ifexp(self, node: ast.IfExp) -> ast.expr:
        if self.binds_in_place(node.body) or self.binds_in_place(node.orelse):
            return self._decided(node.test, self.visit(node.body), self.visit(node.orelse), node)
        sides = self._thunk(node.body), self._thunk(node.orelse)
        return located(operator("if_exp", self.condition(node.test), *sides), node)

    def _visit_boolop(self, node: ast.BoolOp) -> ast.expr:
        name = "and" if isinstance(node.op, ast.And) else "or"
        if any(map(self.binds_in_place, node.values[1:])):
            return self._bound_on_the_way(node.values, name == "and", node)
        asked = node in self._asked
        first, *others = node.values
        operands = [self._first(first, asked=asked), *(self._thunk(value, asked=asked) for value in others)]
        return located(operator(f"{name}_", *operands), node)

    def _visit_tests(self, node: ast.BoolOp) -> ast.expr:
        return located(ast.BoolOp(op=node.op, values=[self.visit(value) for value in node.values]), node)

    def _decided(self, test: ast.expr, body: ast.expr, orelse: ast.expr, node: ast.expr) -> ast.expr:
        """Python's own conditional expression, in which ``:=`` binds names of the function: no tensor may decide it."""
        condition = located(operator("known_truth", self.condition(test)), test)
        return located(ast.IfExp(test=condition, body=body, orelse=orelse), node)

    def _bound_on_the_way(self, values: Sequence[ast.expr], is_and: bool, node: ast.expr) -> ast.expr:
        """``and`` or ``or`` whose later operands bind names: each operand is kept, and asked, before the next one."""
        first, *others = values
        if not others:
            return self.visit(first)
        name = self.unit.fresh("value")
        stored: ast.expr = located(ast.NamedExpr(target=store(name), value=first), first)
        rest = self._bound_on_the_way(others, is_and, node)
        loaded = load(name)
        return self._decided(stored, *((rest, loaded) if is_and else (loaded, rest)), node)

    def _visit_unaryop(self, node: ast.UnaryOp) -> ast.expr:
        if isinstance(node.op, ast.Not):
            return located(operator("not_", self.condition(node.operand)), node)
        if _is_constant(node):
            return node
        return located(operator("unary", constant(_UNARY[type(node.op)]), self.visit(node.operand)), node)

    def _visit_binop(self, node: ast.BinOp) -> ast.expr:
        if _is_constant(node):
            return node
        symbol = constant(BINARY[type(node.op)])
        return located(operator("binary", symbol, self.visit(node.left), self.visit(node.right)), node)

    def _visit_subscript(self, node: ast.Subscript) -> ast.expr:
        return located(operator("load_item", self.visit(node.value), self.index(node.slice)), node)

    def index(self, node: ast.expr) -> ast.expr:
        """Rewrites an index to a value: slices become calls of ``slice``."""
        if isinstance(node, ast.Slice):
            bounds = (node.lower, node.upper, node.step)
            parts = [constant(None) if part is None else self.expression(part) for part in bounds]
            return located(call(load("ag__slice"), *parts), node)
        if isinstance(node, ast.Tuple):
            node.elts = [self.index(element) for element in node.elts]
            return node
        return self.expression(node)

    def _visit_compare(self, node: ast.Compare) -> ast.expr:
        if len(node.ops) > 1:
            return located(self._chain(node), node)
        left, right = self.visit(node.left), self.visit(node.comparators[0])
        if isinstance(node.ops[0], ast.Is | ast.IsNot):
            return located(operator("is_" if isinstance(node.ops[0], ast.Is) else "is_not", left, right), node)
        if not isinstance(node.ops[0], ast.In | ast.NotIn):
            return located(operator("compare", constant(_COMPARISONS[type(node.ops[0])]), left, right), node)
        contained = located(operator("contains", left, right), node)
        return contained if isinstance(node.ops[0], ast.In) else located(operator("not_", contained), node)

    def _chain(self, node: ast.Compare) -> ast.expr:
        if any(map(self.binds_in_place, node.comparators[1:])):
            return self._bound_on_the_way(self._links(node), True, node)
        left = self.visit(node.left)
        first, *others = node.comparators
        operands = [self._first(first), *map(self._thunk, others)]
        symbols = strings(_COMPARISONS[type(op)] for op in node.ops)
        return operator("compare_chain", left, symbols, ast.Tuple(elts=operands, ctx=ast.Load()))

    def _links(self, node: ast.Compare) -> list[ast.expr]:
        """Returns the comparisons of a chain; each keeps its right operand for the next one."""
        links: list[ast.expr] = []
        left, last = node.left, len(node.ops) - 1
        for position, (op, right) in enumerate(zip(node.ops, node.comparators, strict=True)):
            following = load(self.unit.fresh("value"))
            if position < last:
                right = located(ast.NamedExpr(target=store(following.id), value=right), right)
            links.append(located(ast.Compare(left=left, ops=[op], comparators=[right]), node))
            left = located(following, right)
        return links

    def _visit_lambda(self, node: ast.Lambda) -> ast.expr:
        node.args = self.arguments(node.args)
        before = self.doubtful, self._first_parameter, self.in_control, self._in_thunk
        self.doubtful, self._first_parameter = self.undefined, first_parameter(node.args)
        self.in_control = self._in_thunk = False
        with self.hiding(frozenset(parameters(node.args))):
            node.body = self.visit(node.body)
        self.doubtful, self._first_parameter, self.in_control, self._in_thunk = before
        return node

    def arguments(self, node: ast.arguments) -> ast.arguments:
        """Rewrites the default values of parameters."""
        node.defaults = [self.visit(default) for default in node.defaults]
        node.kw_defaults = [self.optional(default) for default in node.kw_defaults]
        return node

    def _comprehension(self, node: E, generators: list[ast.comprehension], elements: Callable[[], None]) -> E:
        generators[0].iter = self._iterable(generators[0])
        targets = frozenset(name for generator in generators for name in target_names(generator.target))
        with self.hiding(targets):
            for position, generator in enumerate(generators):
                if position:
                    generator.iter = self._iterable(generator)
                generator.ifs = [located(operator("condition", self.condition(test)), test) for test in generator.ifs]
            elements()
        return node

    def _iterable(self, generator: ast.comprehension) -> ast.expr:
        if isinstance(generator.target, ast.Name):
            return self.consumed("items", generator.iter)
        return located(operator("rows", self.visit(generator.iter)), generator.iter)

    def consumed(self, name: str, node: ast.expr) -> ast.expr:
        """Rewrites what Python consumes by itself, where the operator ``name`` is to look at it first."""
        value = self.visit(node)
        return value if isinstance(node, _HARMLESS) else located(operator(name, value), node)

    def _visit_listcomp(self, node: ast.ListComp | ast.GeneratorExp) -> ast.expr:
        if isinstance(node, ast.ListComp) and self._is_loop(node):
            return located(self._generator(node.generators, node.elt, "listed"), node)

        def element() -> None:
            node.elt = self.visit(node.elt)

        return self._comprehension(node, node.generators, element)

    def _is_loop(self, node: ast.ListComp) -> bool:
        """Tells if a list comprehension may be run as the loop that it stands for, which may depend on tensors."""
        # A function that is defined inside shares the variables of Python's comprehension, which later items change.
        # What the first `for` runs over is evaluated outside.
        inside = [
            node.elt,
            *(part for generator in node.generators for part in (generator.target, generator.iter, *generator.ifs)),
        ]
        inside.remove(node.generators[0].iter)
        functions = ast.NamedExpr | ast.Lambda | ast.GeneratorExp | ast.Await
        parts = [part for root in inside for part in ast.walk(root)]
        consumed = [part.args[0] for part in parts if isinstance(part, ast.Call) and self._consumes(part)]
        if any(isinstance(part, functions) and part not in consumed for part in parts):
            return False
        return not any(part.is_async for part in node.generators)

    def _consumes(self, node: ast.Call) -> bool:
        """Returns True for the call of a builtin that takes all items of a generator expression before it returns."""
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        return name in _CONSUMERS and name not in self.local and len(node.args) == 1

    def _visit_generatorexp(self, node: ast.GeneratorExp) -> ast.expr:
        if self.binds_in_place(node) or any(part.is_async for part in node.generators):
            return self._visit_listcomp(node)
        return located(self._generator(node.generators, node.elt), node)

    def _generator(self, generators: list[ast.comprehension], element: ast.expr, name: str = "generator") -> ast.expr:
        """``generator(items, step, simple)``: the loops of a generator expression from the first of these on."""
        first, *rest = generators
        items = self.visit(first.iter)
        before, self._in_thunk = self._in_thunk, True
        with self.hiding(frozenset(target_names(first.target))):
            tests: list[ast.expr] = [located(thunk(self.condition(test)), test) for test in first.ifs]
            then = self._generator(rest, element) if rest else self.visit(element)
        self._in_thunk = before
        parts = ast.Tuple(elts=tests, ctx=ast.Load()), located(thunk(then), element), constant(bool(rest))
        step = _function_of(first.target, located(operator("clause", *parts), first.target))
        return operator(name, items, step, constant(not tests and not rest))

    def _visit_setcomp(self, node: ast.SetComp) -> ast.expr:
        def element() -> None:
            node.elt = self.consumed("hashed", node.elt)

        return self._comprehension(node, node.generators, element)

    def _visit_dictcomp(self, node: ast.DictComp) -> ast.expr:
        def element() -> None:
            node.key, node.value = self.consumed("hashed", node.key), self.visit(node.value)

        return self._comprehension(node, node.generators, element)

    def _visit_starred(self, node: ast.Starred) -> ast.expr:
        node.value = self.consumed("spread", node.value)
        return node

    def _visit_set(self, node: ast.Set) -> ast.expr:
        node.elts = [
            self.visit(part) if isinstance(part, ast.Starred) else self.consumed("hashed", part) for part in node.elts
        ]
        return node

    def _visit_dict(self, node: ast.Dict) -> ast.expr:
        for position, (key, value) in enumerate(zip(node.keys, node.values, strict=True)):
            node.keys[position] = None if key is None else self.consumed("hashed", key)
            node.values[position] = self.consumed("mapping", value) if key is None else self.visit(value)
        return node

    def _visit_joinedstr(self, node: ast.JoinedStr) -> ast.expr:
        if all(isinstance(part, ast.Constant) for part in node.values):
            return located(constant("".join(str(cast("ast.Constant", part).value) for part in node.values)), node)
        # Python 3.12.1 ends a format with an empty text.
        parts = [part for part in node.values if not (isinstance(part, ast.Constant) and part.value == "")]
        return located(operator("joined", *map(self.visit, parts)), node)

    def _visit_formattedvalue(self, node: ast.FormattedValue) -> ast.expr:
        conversion = constant("" if node.conversion < 0 else chr(node.conversion))
        spec = constant("") if node.format_spec is None else self.visit(node.format_spec)
        return located(operator("formatted", self.visit(node.value), conversion, spec), node)

    def _visit_attribute(self, node: ast.Attribute) -> ast.expr:
        if self._is_module(node.value) and self.unit.is_kept(node):
            self.generic_visit(node)
            return node
        name = constant(self.unit.mangle(node.attr))
        return located(operator("load_attr", self.visit(node.value), name), node)

    def _visit_call(self, node: ast.Call) -> ast.expr:
        function = node.func
        if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name) and function.value.id == PREFIX:
            node.args = [self.visit(argument) for argument in node.args]  # an operator that was put here before
            return node
        if isinstance(function, ast.Name) and self._looks_at_frame(node, function.id):
            self._check_frame(node, function.id)
            if function.id == "super" and not node.args and self.unit.class_name is not None:
                node.args = [load("__class__"), load(self._first_parameter)] if self._first_parameter else []
        elif isinstance(function, ast.Attribute) and not self._is_module(function.value):
            name = constant(self.unit.mangle(function.attr))
            node.func = located(operator("call_method", self.visit(function.value), name), function)
        else:
            node.func = located(operator("call", self.visit(function)), function)
        node.args = [self.visit(argument) for argument in node.args]
        for keyword in node.keywords:
            value = keyword.value
            keyword.value = self.consumed("mapping", value) if keyword.arg is None else self.visit(value)
        text = isinstance(function, ast.Name) and function.id in ("eval", "exec") and function.id not in self.local
        if text and len(node.args) == 1 and not isinstance(node.args[0], ast.Starred):
            node.args[0] = located(operator("evaluated", node.args[0]), node.args[0])
        return node

    def _looks_at_frame(self, node: ast.Call, name: str) -> bool:
        """Tells if a builtin is called that looks at the frame it is called in; ``vars`` of an object does not."""
        return (
            name in FRAME_BUILTINS - {"breakpoint"}
            and name not in self.local
            and not (name in ("dir", "vars") and bool(node.args))
        )

    def _check_frame(self, node: ast.Call, name: str) -> None:
        """Refuses a look at the function's variables from a place that becomes a function of its own."""
        count = len(node.args) + len(node.keywords)
        looks = name == "locals" or count < {"vars": 1, "dir": 1, "eval": 2, "exec": 2}.get(name, 0)
        if looks and (self.in_control or self._in_thunk):
            raise self.unit.refuse(
                node,
                f"`{name}` looks at the variables of the function around it, which a branch, a loop or an operand "
                "cannot do in compiled code. Call it at the start of the function, or pass the variables to it.",
            )

    def _is_module(self, node: ast.expr) -> bool:
        """Returns True if an attribute of the expression is a plain lookup in a module of a library."""
        root = node
        while isinstance(root, ast.Attribute):
            root = root.value
        return isinstance(root, ast.Name) and root.id not in self.local and self.unit.library(node) is not None


def _function_of(target: ast.expr, value: ast.expr) -> ast.Lambda:
    """Returns a function of one argument, which binds the target of an assignment, and evaluates an expression."""
    if isinstance(target, ast.Name):
        return located(thunk(value, target.id), target)
    # A comprehension over that one item takes it apart.
    item = ast.Tuple(elts=[operator("items", load("ag__item"))], ctx=ast.Load())
    part = ast.comprehension(target=target, iter=item, ifs=[], is_async=0)
    bound = ast.Subscript(value=ast.ListComp(elt=value, generators=[part]), slice=ast.Constant(value=0), ctx=ast.Load())
    return located(thunk(located(bound, target), "ag__item"), target)


def _is_constant(node: ast.expr) -> bool:
    """Returns True if an expression is made of constants only, as ``-1`` is."""
    if isinstance(node, ast.BinOp):
        return _is_constant(node.right) and _is_constant(node.left)
    return _is_constant(node.operand) if isinstance(node, ast.UnaryOp) else isinstance(node, ast.Constant)


def first_parameter(args: ast.arguments) -> str | None:
    """Returns the parameter that ``super()`` takes for the instance."""
    positional = (*args.posonlyargs, *args.args)
    return positional[0].arg if positional else None
