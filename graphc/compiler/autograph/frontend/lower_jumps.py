"""Takes ``return``, ``break`` and ``continue`` out of a function, so that its constructs nest without jumps.

A branch that always jumps takes no flag: the statements after it move into the other branch. Otherwise the jump sets
a flag, the statements after it are guarded by the flag, and the loops around it stop by the flag. The result is
ordinary Python with the same meaning, with at most one ``return``, at its very end.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from graphc.compiler.autograph.frontend.emit import assign, constant, load, located, not_
from graphc.compiler.autograph.frontend.rewriting import Block, ConversionUnit, blocks
from graphc.compiler.base import Location

RETURN = "ag__return"
DONE = "ag__done"
BREAK = "ag__break_"
CONTINUE = "ag__continue_"


class Mask(ast.If):
    """The statements that run only if no jump was taken before them."""

    flags: frozenset[str]


class MaskedFor(ast.For):
    """A ``for`` loop that goes on only while the expression ``keep_going`` holds."""

    keep_going: ast.expr


def is_flag(name: str) -> bool:
    """Returns True if a name says that a jump was taken."""
    return name == DONE or name.startswith((BREAK, CONTINUE))


def remove_jumps(body: Block, unit: ConversionUnit) -> Block:
    """Rewrites the body of one function without jumps."""
    # Returns statements with the same meaning. Where the function returns in more than one place they end in ``return
    # ag__return``, and the value returned was bound to that name.
    returns = _returns(body)
    if not returns or returns == [body[-1]]:
        block, _ = _Lowering(unit, valued=False).block([s for s in body if s not in returns], tail=True, loop=None)
        return block + returns
    valued = any(not _is_none(node.value) for node in returns)
    if valued and not _terminates(body, through_with=True):
        body.append(located(ast.Return(value=constant(None)), body[-1]))
    block, flags = _Lowering(unit, valued=valued).block(body, tail=True, loop=None)
    if DONE in flags:
        block.insert(_has_docstring(body), assign(DONE, constant(False), body[0]))
    if valued:
        block.append(located(ast.Return(value=load(RETURN)), returns[-1]))
    return block


def _is_none(value: ast.expr | None) -> bool:
    return value is None or (isinstance(value, ast.Constant) and value.value is None)


def _has_docstring(body: Sequence[ast.stmt]) -> bool:
    first = body[0]
    return isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)


def _returns(body: Block) -> list[ast.Return]:
    returns: list[ast.Return] = []
    for node in body:
        if isinstance(node, ast.Return):
            returns.append(node)
        for block in blocks(node):
            returns += _returns(block)
    return returns


def _escape(body: Block) -> ast.stmt | None:
    """Returns the first jump inside the statements that leaves them."""
    for node in body:
        if isinstance(node, ast.Return | ast.Break | ast.Continue):
            return node
        if isinstance(node, ast.For | ast.While):
            exit_jump: ast.stmt | None = next(iter(_returns(node.body)), None) or _escape(node.orelse)
        else:
            exit_jump = next((jump for block in blocks(node) if (jump := _escape(block))), None)
        if exit_jump is not None:
            return exit_jump
    return None


def _breaks(body: Block) -> bool:
    """Returns True if a ``break`` in a loop's body leaves that loop."""
    for node in body:
        if isinstance(node, ast.Break):
            return True
        inner = [node.orelse] if isinstance(node, ast.For | ast.While) else blocks(node)
        if any(_breaks(block) for block in inner):
            return True
    return False


def _terminates(body: Block, through_with: bool = False) -> bool:
    """Returns True if no way through the statements reaches their end."""
    # through_with: take it that no context manager swallows an exception.
    return any(_never_falls_through(node, through_with) for node in body)


def _never_falls_through(node: ast.stmt, through_with: bool) -> bool:
    def ends(block: Block) -> bool:
        return _terminates(block, through_with)

    match node:
        case ast.Return() | ast.Raise() | ast.Break() | ast.Continue():
            return True
        case ast.If():
            return ends(node.body) and ends(node.orelse)
        case ast.While(test=ast.Constant(value=value)):
            return bool(value) and not _breaks(node.body)
        case ast.With():
            return through_with and ends(node.body)
        case ast.Try() | ast.TryStar():
            normal = ends(node.body) or ends(node.orelse)
            return normal and all(ends(handler.body) for handler in node.handlers)
        case _:
            return False


@dataclass(frozen=True, slots=True)
class _Loop:
    break_flag: str
    continue_flag: str


def _unset(flags: Iterable[str]) -> ast.expr:
    """Returns the expression that holds while none of the flags is set."""
    tests: list[ast.expr] = [not_(load(flag)) for flag in sorted(flags)]
    return tests[0] if len(tests) == 1 else ast.BoolOp(op=ast.And(), values=tests)


def _guarded(flags: Iterable[str], body: Block) -> Block:
    """Returns the statements, run only while none of the flags is set."""
    guard = located(Mask(test=_unset(flags), body=body, orelse=[]), body[0])
    guard.flags = frozenset(flags)
    return [guard]


class _Lowering:
    """Rewrites blocks. ``flags`` are the flags that a block may have set when control reaches its end."""

    def __init__(self, unit: ConversionUnit, valued: bool) -> None:
        self._unit = unit
        self._valued = valued

    def block(self, body: Block, tail: bool, loop: _Loop | None) -> tuple[Block, set[str]]:
        """Returns the statements rewritten, and the flags that they may set."""
        # tail: whether the end of the block is the end of the loop's body (of the function, outside loops), so that
        # ``continue`` (``return``) need only come to that end.
        done: Block = []
        flags: set[str] = set()
        queue = list(body)
        while queue:
            node = queue.pop(0)
            if isinstance(node, ast.Return | ast.Break | ast.Continue):
                new, flag = self._jump(node, tail, loop)
                return done + new, flags | flag
            if _never_falls_through(node, through_with=False):
                queue = []
            if isinstance(node, ast.If) and queue and _escape([node]) is not None:
                # A branch that always jumps needs no flag: the rest belongs to the other branch.
                if _terminates(node.body):
                    node.orelse, queue = node.orelse + queue, []
                elif _terminates(node.orelse):
                    node.body, queue = node.body + queue, []
            if isinstance(node, ast.For | ast.While):
                new, set_here, after = self._loop(node)
                queue = after + queue
            else:
                new, set_here = self._compound(node, tail and not queue, loop)
            done += new
            flags |= set_here
            if set_here and queue:
                rest, set_later = self.block(queue, tail, loop)
                return done + _guarded(set_here, rest), flags | set_later
        return done, flags

    def _jump(self, node: ast.stmt, tail: bool, loop: _Loop | None) -> tuple[Block, set[str]]:
        new: Block = []
        flag: str | None = None
        if isinstance(node, ast.Return):
            if self._valued:
                new.append(assign(RETURN, node.value or constant(None), node))
            flag = None if tail and loop is None else DONE
        elif loop is not None and isinstance(node, ast.Break):
            flag = loop.break_flag
        elif loop is not None and not tail:
            flag = loop.continue_flag
        if flag is None:
            return new or [located(ast.Pass(), node)], set()
        return [*new, assign(flag, constant(True), node)], {flag}

    def _compound(self, node: ast.stmt, tail: bool, loop: _Loop | None) -> tuple[Block, set[str]]:
        flags: set[str] = set()
        match node:
            case ast.If():
                node.body, flags = self.block(node.body, tail, loop)
                node.orelse, more = self.block(node.orelse, tail, loop)
                flags |= more
            case ast.With():
                node.body, flags = self.block(node.body, tail, loop)
            case ast.Try() | ast.TryStar():
                flags = self._try(node, tail, loop)
            case _:
                pass
        return [node], flags

    def _try(self, node: ast.Try | ast.TryStar, tail: bool, loop: _Loop | None) -> set[str]:
        if (jump := _escape(node.finalbody)) is not None:
            raise self._unit.refuse(
                jump,
                "A `finally` block that leaves by `return`, `break` or `continue` swallows the exception in flight, "
                "which cannot be compiled. Set a variable there and jump after the `try` statement.",
            )
        node.finalbody, _ = self.block(node.finalbody, tail=False, loop=None)
        node.body, in_body = self.block(node.body, tail and not node.orelse, loop)
        flags = set(in_body)
        orelse, more = self.block(node.orelse, tail, loop)
        if in_body and orelse:
            orelse = _guarded(in_body, orelse)
        node.orelse = orelse
        flags |= more
        for handler in node.handlers:
            body, more = self.block(handler.body, tail, loop)
            # An exception on the way out of the body cancels the jump that the body had begun.
            handler.body = [*(assign(flag, constant(False), handler) for flag in sorted(in_body)), *body]
            flags |= more
        return flags

    def _loop(self, node: ast.For | ast.While) -> tuple[Block, set[str], Block]:
        """The loop without jumps and without ``else``, the flags it may leave set, and the statements after it."""
        number = self._unit.number()
        loop = _Loop(f"{BREAK}{number}", f"{CONTINUE}{number}")
        before: Block = []
        after: Block = node.orelse
        node.body, flags = self.block(node.body, tail=True, loop=loop)
        node.orelse = []
        if loop.continue_flag in flags:
            node.body.insert(0, assign(loop.continue_flag, constant(False), node.body[0]))
        if loop.break_flag in flags:
            before.append(assign(loop.break_flag, constant(False), node))
            if after:
                after = _guarded({loop.break_flag}, after)
        stop = flags & {loop.break_flag, DONE}
        return [*before, self._stopped_by(node, stop)], flags & {DONE}, after

    def _stopped_by(self, node: ast.For | ast.While, flags: set[str]) -> ast.stmt:
        if not flags:
            return node
        going = located(_unset(flags), node.test if isinstance(node, ast.While) else node.iter)
        if isinstance(node, ast.For):
            guarded = located(MaskedFor(target=node.target, iter=node.iter, body=node.body, orelse=[]), node)
            guarded.keep_going = going
            return guarded
        if not (isinstance(node.test, ast.Constant) and node.test.value):
            tests = going.values if isinstance(going, ast.BoolOp) else [going]
            going = located(ast.BoolOp(op=ast.And(), values=[*tests, node.test]), node.test)
        node.test = going
        return node


# Lists a function's returns, for the error of a function whose paths return different things.

_FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef


def where_it_returns(location: Location | None) -> str:
    """Returns the lines on which the function around a line returns, in words; empty where its source is not there."""
    if location is None:
        return ""
    try:
        tree = ast.parse("".join(linecache.getlines(location.file)))
    except SyntaxError:
        return ""
    around = [node for node in ast.walk(tree) if isinstance(node, _FUNCTIONS) and _holds(node, location.line)]
    if not around:
        return ""
    function = max(around, key=lambda node: node.lineno)
    lines = sorted({node.lineno for node in _own_returns(function.body)})
    ways = [f"returns at line{'s' * (len(lines) > 1)} {' and '.join(map(str, lines))}"] if lines else []
    if not _always_ends(function.body):
        ways.append(f"ends without a return after line {function.end_lineno}")
    return f"; {function.name} {' and '.join(ways)}" if ways else ""


def _holds(node: ast.FunctionDef | ast.AsyncFunctionDef, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def _own_returns(body: Sequence[ast.AST]) -> Iterator[ast.Return]:
    """Yields the ``return`` statements of a function, without those of functions inside it."""
    for node in body:
        if isinstance(node, ast.Return):
            yield node
        elif not isinstance(node, _FUNCTIONS | ast.ClassDef | ast.Lambda):
            yield from _own_returns(list(ast.iter_child_nodes(node)))


def _always_ends(body: Sequence[ast.stmt]) -> bool:
    """Returns True if a block certainly returns or raises, as far as its last statement tells."""
    last = body[-1]
    if isinstance(last, ast.If):
        return bool(last.orelse) and _always_ends(last.body) and _always_ends(last.orelse)
    if isinstance(last, ast.With | ast.AsyncWith):
        return _always_ends(last.body)
    if isinstance(last, ast.While):
        return isinstance(last.test, ast.Constant) and bool(last.test.value)
    return isinstance(last, ast.Return | ast.Raise)
