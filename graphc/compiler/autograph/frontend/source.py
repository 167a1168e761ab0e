"""Finds the syntax tree of a function that Python has already compiled.

The text is read once (see :mod:`graphc.compiler.autograph.frontend.source`). The unindented block around a function is
parsed, or the whole text if that does not do, and searched for the function or lambda that begins on the line. What
stands there must compile to the code that the function runs, or it has been edited since. A function found there is
parsed afresh, so that the transformation may change its tree, and every node keeps the line and column that the user
sees.
"""

from __future__ import annotations
import __future__

import ast
import dis
import linecache
import os
import re
import stat
import sys
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any, TypeAlias, TypeVar, cast

from graphc.compiler.autograph.frontend.emit import children
from graphc.compiler.base import errors, is_graphc_file

# Finds the text of a program: in a file, in a notebook cell, on the command line, or in typed input.

_TYPED = 2_000
"""A typed definition is searched for in this many last lines."""
_BEGINS = re.compile(r"\s*(@|def\b|async\b|class\b)|.*\blambda\b")


def texts_of(code: CodeType, names: Mapping[str, object]) -> Iterator[list[str]]:
    """Yields the texts that may hold the source of some code, each as lines."""
    lines = linecache.getlines(code.co_filename, cast("dict[str, Any]", names))
    if lines:
        yield lines
        linecache.checkcache(code.co_filename)  # a module that was reloaded: Python keeps the text of the file before
        again = linecache.getlines(code.co_filename, cast("dict[str, Any]", names))
        if again and again != lines:
            yield again
        return
    if code.co_filename == "<string>":
        yield from _command_line()
    elif code.co_filename == "<stdin>":
        yield from _standard_input()
    if code.co_filename in ("<stdin>", "<console>"):
        yield from _typed(code.co_firstlineno)


def _command_line() -> Iterator[list[str]]:
    """Yields the program of ``python -c``; Python 3.13 and later keep it in ``linecache``."""
    if sys.argv[:1] == ["-c"]:
        text = sys.orig_argv[-len(sys.argv)]
        yield text.splitlines(keepends=True)
        yield re.sub(r"^-\w*?c", "", text).splitlines(keepends=True)  # as in `python -c"print()"`


def _standard_input() -> Iterator[list[str]]:
    """Yields the program that was given as a file to be read from standard input; what came by a pipe is gone."""
    try:
        status = os.fstat(0)
        if stat.S_ISREG(status.st_mode):
            yield os.pread(0, status.st_size, 0).decode(errors="replace").splitlines(keepends=True)
    except OSError:
        return


def _typed(first: int) -> Iterator[list[str]]:
    """Yields what was typed into an interactive interpreter, by readline's history, the latest first."""
    # first: the line, of the statement that was typed, on which the definition begins.
    readline: Any = sys.modules.get("readline")
    if readline is None:
        return
    item: Callable[[int], str | None] = readline.get_history_item
    count = cast("int", readline.get_current_history_length())
    entries = [item(index) or "" for index in range(max(1, count - _TYPED), count + 1)]
    lines = [f"{line}\n" for entry in entries for line in entry.split("\n")]
    for start in range(len(lines) - 1, -1, -1):
        if _BEGINS.match(lines[start]) and start >= first - 1 and not lines[start - 1].lstrip().startswith("@"):
            statement = lines[start - first + 1 :]
            yield statement[: first + _length(statement[first:])]


def _length(lines: Sequence[str]) -> int:
    """Returns how many lines continue the statement that begins before them."""
    for index, line in enumerate(lines):
        if not line[:1].isspace() and not _BEGINS.match(line) and line[:1] not in ")]}":
            return index
    return len(lines)


FunctionNode: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
Definition: TypeAlias = FunctionNode | ast.Lambda


FUTURE_FLAGS = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)


class NoSourceError(errors.UnsupportedSyntaxError):
    """The source of a function cannot be found, or is not the source it was compiled from."""


@dataclass(frozen=True, slots=True)
class FunctionSource:
    """The syntax tree of one function."""

    node: Definition  # the function's own definition, free to be changed
    file: str  # the file it was compiled from
    class_name: str | None  # the innermost class around it, by which private names are mangled, or None


@dataclass(frozen=True, slots=True)
class _Entry:
    node: Definition
    class_name: str | None
    statement: ast.stmt  # the statement of the module that it is or stands in


@dataclass(slots=True)
class _File:
    """A parsed file, or a block of it."""

    lines: list[str]
    statements: list[ast.stmt]  # of the module, or of the block
    # The names that the module itself imports, which Python calls in its own way; of a block, those that probably are.
    imports: frozenset[str]
    # Of the statements searched so far, by identity: the statements directly inside, the lambdas by line.
    parts: dict[int, _Parts] = field(default_factory=dict[int, "_Parts"])
    # What is in the statements compiled so far, by their identity, the flags, and the imports beside them.
    codes: dict[tuple[int, int, frozenset[str]], list[CodeType]] = field(
        default_factory=dict[tuple[int, int, frozenset[str]], list[CodeType]]
    )


_Parts: TypeAlias = tuple[list[ast.stmt], dict[int, list[ast.Lambda]]]

_FILES_KEPT = 32
_files: OrderedDict[tuple[str, int], _File] = OrderedDict()
"""By the name of the file and the first line of the block; 0 for all of it."""


def find_source(fn: FunctionType) -> FunctionSource:
    """Finds the definition of a function."""
    code = fn.__code__
    problem = _no_source(code, _UNREADABLE)
    for lines in texts_of(code, fn.__globals__):
        for parse in (_block, _whole):
            try:
                return _found(fn, parse(fn, lines))
            except NoSourceError as error:
                if not code.co_filename.startswith("<"):  # else it is the text of another program, or of other lines
                    problem = error
    raise problem


def _found(fn: FunctionType, file: _File) -> FunctionSource:
    code = fn.__code__
    entry = _match(code, [*_entries(file, code.co_firstlineno)])
    _check_unchanged(code, file, entry)
    node = clone(entry.node) if isinstance(entry.node, ast.Lambda) else _reparse(entry.node, file.lines)
    return FunctionSource(node, code.co_filename, entry.class_name)


_UNREADABLE = "the file cannot be read"


_CHANGED = "the file has changed since it was loaded"


def _no_source(code: CodeType, reason: str) -> NoSourceError:
    others = ", or use gx.cond, gx.where and gx.while_loop with autograph=False"
    remedy = f"Define it in a file or a notebook cell{others}"
    if reason.endswith(_CHANGED):
        remedy = "Reload the module (importlib.reload), and use the function that it has then"
    elif code.co_filename == "<stdin>" and not _typed_in():
        reason = "a program that comes through a pipe or a heredoc cannot be read again"
        remedy = f"Run it as `python FILE`, `python < FILE` or `python -c PROGRAM`{others}"
    return NoSourceError(
        f"the source of function {code.co_name!r} is needed to compile its Python control flow, but {reason} "
        f'(File "{code.co_filename}", line {code.co_firstlineno}). {remedy}'
    )


def _typed_in() -> bool:
    """Returns True if a person types the program."""
    return bool(sys.flags.interactive) or (sys.stdin is not None and sys.stdin.isatty())  # pyright: ignore[reportUnnecessaryComparison]  pythonw


def has_control_flow(function: object) -> bool:
    """Tells if a Python function of the user's has branches, loops or handlers, which take its source to compile."""
    code = getattr(function, "__code__", None)
    if not isinstance(code, CodeType) or is_graphc_file(code.co_filename):
        return False
    jumps = {*dis.hasjrel, *dis.hasjabs}
    return any(instruction.opcode in jumps for instruction in dis.get_instructions(code))


def _whole(fn: FunctionType, lines: list[str]) -> _File:
    return _parsed(fn.__code__, lines, 0, lambda: "".join(lines), lambda tree: _imported(tree.body))


def _block(fn: FunctionType, lines: list[str]) -> _File:
    """Parses what is probably the statement of the module around a function: between lines that are not indented."""
    # A text over several lines may mislead it; then the code differs, or it does not parse. In a file of 340 lines it
    # spares 5 ms of the first call.
    code = fn.__code__
    first, last = code.co_firstlineno, max(line for *_, line in code.co_lines() if line is not None)
    if last > len(lines) or _is_rewritten(code):
        raise _no_source(code, _CHANGED)
    while first > 1 and _INSIDE.match(lines[first - 1]):
        first -= 1
    while last < len(lines) and _INSIDE.match(lines[last]):
        last += 1
    text = "\n" * (first - 1) + "".join(lines[first - 1 : last])
    return _parsed(code, lines, first, lambda: text, lambda _: _foreign(fn.__globals__))


_INSIDE = re.compile(r"[\s)\]}#]")
"""Matches what a line begins with that does not begin a statement of the module; blank lines, too."""


def _parsed(
    code: CodeType, lines: list[str], first: int, text: Callable[[], str],
    imports: Callable[[ast.Module], Iterable[str]],
) -> _File:  # fmt: skip
    key = code.co_filename, first
    cached = _files.get(key)
    if cached is not None and (cached.lines is lines or cached.lines == lines):
        _files.move_to_end(key)
        return cached
    try:
        tree = ast.parse(text())
    except SyntaxError as error:
        raise _no_source(code, f"the file does not parse now: {error}") from error
    _files[key] = parsed = _File(lines, tree.body, frozenset(imports(tree)))
    while len(_files) > _FILES_KEPT:
        _files.popitem(last=False)
    return parsed


def _is_rewritten(code: CodeType) -> bool:
    """Returns True if pytest has rewritten the function's assertions; it watches its files itself."""
    return any(name.startswith("@py") for name in code.co_names)


def _check_unchanged(code: CodeType, file: _File, entry: _Entry) -> None:
    """Refuses a text that does not compile to the code that runs: the file was edited after it was loaded."""
    if _is_rewritten(code):
        return
    wanted = _without_places(code)
    for imports in (file.imports, _NO_IMPORTS):  # a notebook compiles each statement of a cell by itself
        same = [one for one in _compiled(code, file, entry.statement, imports) if one.co_name == code.co_name]
        if any(one.co_firstlineno == code.co_firstlineno and _without_places(one) == wanted for one in same):
            return
    raise _no_source(code, f"what stands there is not the code that runs: {_CHANGED}")


_NO_IMPORTS: frozenset[str] = frozenset()


def _compiled(code: CodeType, file: _File, statement: ast.stmt, imports: frozenset[str]) -> list[CodeType]:
    """Returns the code of all functions of a statement; Python calls the names of the imports beside it differently."""
    flags = code.co_flags & FUTURE_FLAGS
    key = id(statement), flags, imports
    if key not in file.codes:
        beside = [ast.fix_missing_locations(ast.Import([ast.alias(name) for name in imports]))] if imports else []
        module = ast.Module(body=[*beside, statement], type_ignores=[])
        file.codes[key] = [*_codes_in(compile(module, code.co_filename, "exec", flags=flags, dont_inherit=True))]
    return file.codes[key]


def _codes_in(code: CodeType) -> Iterator[CodeType]:
    for value in code.co_consts:
        if isinstance(value, CodeType):
            yield value
            yield from _codes_in(value)


def _without_places(code: CodeType) -> CodeType:
    """Returns the code without file and lines; an edited comment changes nothing else."""
    consts = tuple([_without_places(value) if isinstance(value, CodeType) else value for value in code.co_consts])
    return code.replace(co_filename="", co_firstlineno=1, co_linetable=b"", co_consts=consts)


def _imported(body: Iterable[ast.AST]) -> Iterator[str]:
    """Yields the names that statements import which run with them: not those of functions and classes among them."""
    for node in body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from [alias.asname or alias.name.partition(".")[0] for alias in node.names if alias.name != "*"]
        elif not isinstance(node, _SCOPES):
            for name in _BLOCKS:
                yield from _imported(getattr(node, name, ()))


def _foreign(names: Mapping[str, object]) -> Iterator[str]:
    """Yields the globals that are modules, or made in other modules."""
    for name, value in names.items():
        kind = type(value)
        if issubclass(kind, ModuleType) or (
            kind in _OF_MODULES and getattr(value, "__module__", 0) != names.get("__name__")
        ):
            yield name


_OF_MODULES = (FunctionType, BuiltinFunctionType, type)
_SCOPES = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")


def _entries(file: _File, line: int) -> Iterator[_Entry]:
    """Yields the definitions that begin on a line, an outer one before those in it."""
    for statement in file.statements:
        if _first_line(statement) <= line <= (statement.end_lineno or 0):
            yield from _entries_in(file, statement, line, None, statement)


def _entries_in(
    file: _File, node: ast.stmt, line: int, class_name: str | None, statement: ast.stmt
) -> Iterator[_Entry]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and _first_line(node) == line:
        yield _Entry(node, class_name, statement)
    if isinstance(node, ast.ClassDef):
        class_name = node.name
    if id(node) not in file.parts:
        file.parts[id(node)] = _parts(node)
    inside, lambdas = file.parts[id(node)]
    for function in lambdas.get(line, ()):
        yield _Entry(function, class_name, statement)
    for inner in inside:
        if _first_line(inner) <= line <= (inner.end_lineno or 0):
            yield from _entries_in(file, inner, line, class_name, statement)


def _parts(node: ast.stmt) -> _Parts:
    """Returns the statements directly inside a statement, and the lambdas of its own expressions by line."""
    inside: list[ast.stmt] = []
    lambdas: dict[int, list[ast.Lambda]] = {}
    todo = children(node)[::-1]
    while todo:
        part = todo.pop()
        if isinstance(part, ast.stmt):
            inside.append(part)
            continue
        if isinstance(part, ast.Lambda):
            lambdas.setdefault(part.lineno, []).append(part)
        todo += children(part)[::-1]
    return inside, lambdas


def _first_line(node: ast.stmt) -> int:
    """Returns the line that Python writes into ``co_firstlineno``: of the first decorator, where there is one."""
    decorators = node.decorator_list if isinstance(node, _SCOPES) else ()
    return decorators[0].lineno if decorators else node.lineno


def _match(code: CodeType, entries: list[_Entry]) -> _Entry:
    name = code.co_name
    matches = [
        entry
        for entry in entries
        if (name == "<lambda>" if isinstance(entry.node, ast.Lambda) else name == entry.node.name)
        and _parameters(entry) == code.co_varnames[: len(_parameters(entry))]
        and len(_parameters(entry)) == _parameter_count(code)
    ]
    if not matches:
        raise _no_source(code, f"what stands there is another function: {_CHANGED}")
    if len(matches) > 1:
        matches = _by_columns(code, matches)
    return matches[0]


def _parameter_count(code: CodeType) -> int:
    return code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 0x04) + bool(code.co_flags & 0x08)


def _parameters(entry: _Entry) -> tuple[str, ...]:
    args = entry.node.args
    names = [arg.arg for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs)]
    names += [arg.arg for arg in (args.vararg, args.kwarg) if arg is not None]
    return tuple(mangle(name, entry.class_name) for name in names)


def mangle(name: str, class_name: str | None) -> str:
    """Returns the name under which Python keeps a private ``__name`` that is written inside a class."""
    if class_name is None or not name.startswith("__") or name.endswith("__") or "." in name:
        return name
    stripped = class_name.lstrip("_")
    return f"_{stripped}{name}" if stripped else name


def _by_columns(code: CodeType, candidates: list[_Entry]) -> list[_Entry]:
    """Tells several lambdas on one line apart by the columns of their instructions."""
    spans = {
        ((line, column), (end_line, end_column))
        for line, end_line, column, end_column in code.co_positions()
        if line is not None and end_line is not None and column is not None and end_column is not None
        and (line, column) != (end_line, end_column)
    }  # fmt: skip
    inside: list[_Entry] = []
    for entry in candidates:
        assert isinstance(entry.node, ast.Lambda)
        body = entry.node.body
        begin, end = (body.lineno, body.col_offset), (body.end_lineno or 0, body.end_col_offset or 0)
        # Since Python 3.12 what returns a constant has no columns at all; it is the only kind without.
        if all(begin <= low and high <= end for low, high in spans) if spans else _runs(entry.node, code):
            inside.append(entry)
    if not inside:
        if len({ast.dump(entry.node) for entry in candidates}) == 1:
            return candidates
        raise _no_source(code, "several lambdas begin on this line: write them on lines of their own")
    # A lambda that returns a lambda contains both; the entries are in the order of the tree, so the last is innermost.
    return inside[-1:]


def _runs(node: ast.Lambda, code: CodeType) -> bool:
    """Returns True if a lambda without free names compiles to some code."""
    constants = compile(ast.Expression(node), code.co_filename, "eval").co_consts
    compiled = [part for part in constants if isinstance(part, CodeType)][-1]  # Behind those of its defaults.
    return (compiled.co_code, repr(compiled.co_consts)) == (code.co_code, repr(code.co_consts))


def _reparse(node: FunctionNode, lines: list[str]) -> FunctionNode:
    first, last = _first_line(node), node.end_lineno or node.lineno
    text = "".join(lines[first - 1 : last])
    nested = node.col_offset > 0
    # An indented definition is a block of its own; dedenting it would change the strings that span lines.
    above = "\n" * (first - 1 - nested)
    module = ast.parse(f"{above}if 1:\n{text}" if nested else above + text)
    holder = module.body[0]
    fresh = holder.body[0] if isinstance(holder, ast.If) else holder
    assert isinstance(fresh, ast.FunctionDef | ast.AsyncFunctionDef)
    return fresh


N = TypeVar("N", bound=ast.AST)


def clone(node: N) -> N:
    """Returns a deep copy of a tree, some ten times faster than ``copy.deepcopy``."""
    parts = vars(node).copy()
    for name, value in parts.items():
        if isinstance(value, ast.AST):
            parts[name] = clone(value)
        elif isinstance(value, list):
            items = cast("list[object]", value)
            parts[name] = [clone(item) if isinstance(item, ast.AST) else item for item in items]
    new = type(node).__new__(type(node))
    vars(new).update(parts)
    return new
