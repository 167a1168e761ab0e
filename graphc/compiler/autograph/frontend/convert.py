"""``convert``: a Python function whose control flow goes through the operators.

Only code is compiled and cached, never a function: closures, globals and defaults are those of the function at hand,
so two closures of one definition share the work, and a variable that is rebound later is seen.
"""

from __future__ import annotations

import ast
import inspect
import re
import threading
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MethodWrapperType, WrapperDescriptorType
from typing import TypeAlias

from graphc.compiler.autograph.frontend.emit import NOTHING, PREFIX, THUNK, arguments, constant, fix_locations, function
from graphc.compiler.autograph.frontend.item_uses import mark_item_uses
from graphc.compiler.autograph.frontend.rewriting import ConversionUnit
from graphc.compiler.autograph.frontend.source import FUTURE_FLAGS, Definition, FunctionSource, find_source
from graphc.compiler.autograph.frontend.statements import rewrite
from graphc.compiler.base import ABOVE, collection_paused, deep_recursion, errors, remember

_MARK = "ag__converted"  # the last constant of every converted code object
_PART = "ag__part"  # the constant before it, where the code is a branch, a loop's body or an operand
_PLUMBING = ("ag__get_state_", "ag__set_state_")  # functions that stand for nothing that the user wrote
_FACTORY = "ag__factory"
_FUNCTION = "ag__function"
_GENERATED = re.compile(r"\.<locals>\.ag__\w+")


def now(value: object) -> object:
    """Returns a function of no arguments that returns what is known already."""
    return lambda: value


def nothing(*values: object) -> tuple[()]:
    """Stands for a branch that is empty, and for the two functions of a state that is."""
    del values
    return ()


_HELPERS = {"ag__now": CellType(now), NOTHING: CellType(nothing), "ag__slice": CellType(slice)}


@dataclass(frozen=True, slots=True)
class _Converted:
    code: CodeType
    # Where its free variables come from: an index into the original closure, or a cell of ours.
    cells: tuple[int | CellType, ...]

    def bind(self, fn: FunctionType) -> FunctionType:
        """Returns the function that runs this code in place of ``fn``'s."""
        closure = fn.__closure__ or ()
        cells = tuple(closure[cell] if isinstance(cell, int) else cell for cell in self.cells)
        new = FunctionType(self.code, fn.__globals__, fn.__name__, fn.__defaults__, cells)
        new.__kwdefaults__ = fn.__kwdefaults__
        new.__qualname__ = fn.__qualname__
        new.__module__ = fn.__module__
        new.__doc__ = fn.__doc__
        if fn.__annotations__:
            new.__annotations__ = fn.__annotations__
        if fn.__dict__:
            new.__dict__.update(fn.__dict__)
        return new


@dataclass(frozen=True, slots=True)
class _Refused:
    kind: type[errors.UnsupportedSyntaxError]
    message: str


_Outcome: TypeAlias = _Converted | _Refused
# By identity: equal code objects of two files differ in the lines that their users see.
_outcomes: dict[tuple[int, int, bool], tuple[_Outcome, object]] = {}
_lock = threading.RLock()
_only_asked: dict[int, frozenset[str]] = {}
_NO_NAMES: frozenset[str] = frozenset()


def convert(fn: FunctionType, *, operators: object | None = None, suspended: bool = False) -> FunctionType:
    """Rewrites a function so that its control flow goes through the operators.

    Args:
      operators: what ``ag__`` stands for in the new code; ``graphc.compiler.autograph.operators`` by default.
      suspended: whether a generator is taken that yields outside its loops and branches, as a context manager does.
    """
    code = fn.__code__
    if is_converted(code):
        return fn
    if operators is None:
        operators = ABOVE["operators"]
    key = (id(code), id(operators), suspended)
    cached = _outcomes.get(key)
    if cached is None:
        with _lock:
            cached = _outcomes.get(key)
            if cached is None:
                with deep_recursion(), collection_paused():
                    cached = _outcomes[key] = (_outcome(fn, operators, suspended), operators)
                weakref.finalize(code, _outcomes.pop, key, None).atexit = False
    outcome = cached[0]
    if isinstance(outcome, _Refused):
        raise outcome.kind(outcome.message)
    return outcome.bind(fn)


def is_converted(fn: FunctionType | CodeType) -> bool:
    """Returns True if a function, or a code object, is the work of :func:`convert`."""
    code = fn if isinstance(fn, CodeType) else fn.__code__
    return bool(code.co_consts) and isinstance(code.co_consts[-1], str) and code.co_consts[-1] == _MARK


def names_asked(code: CodeType) -> frozenset[str]:
    """Gives the names that converted code, and the code around it, uses to ask for items only, and for nothing else."""
    return _only_asked.get(id(code), _NO_NAMES)


def is_part(code: CodeType) -> bool:
    """Returns True if code is a branch, a loop's body or an operand of a converted function: generated, not written."""
    return len(code.co_consts) > 1 and is_converted(code) and code.co_consts[-2] == _PART


def is_part_of(code: CodeType, function: CodeType) -> bool:
    """Returns True if code is a part (:func:`is_part`) of just this function, at whatever depth."""
    if not is_part(code):
        return False
    inner = [value for value in function.co_consts if isinstance(value, CodeType) and is_part(value)]
    return any(part is code or is_part_of(code, part) for part in inner)


def to_source(fn: Callable[..., object]) -> str:
    """Returns the function as :func:`convert` rewrites it, as readable text.

    Args:
      fn: a Python function, lambda or method, compiled or not.

    Raises:
      InvalidTypeError: ``fn`` is not made of a Python function.
      NoSourceError, UnsupportedSyntaxError: as :func:`convert`.

    Example:
      >>> def sign(x):
      ...     return -1 if x < 0 else 1
      >>> print(to_source(sign))
      def sign(x):
          return ag__.if_exp(ag__.compare('<', x, 0), lambda: -1, lambda: 1)
    """
    function = _python_function(fn)
    with deep_recursion():
        node, _ = _rewritten(function, find_source(function))
        if isinstance(node, ast.FunctionDef):
            node.decorator_list = []
        return ast.unparse(fix_locations(node)).replace(f"lambda *{THUNK}:", "lambda:").replace(f", *{THUNK}:", ":")


def _python_function(value: object) -> FunctionType:
    """The Python function inside whatever is called: a method, a partial, a decorated function, a callable object."""
    current: object = value
    while not isinstance(current, FunctionType):
        inside = (getattr(current, name, None) for name in ("__wrapped__", "__func__", "func"))
        method = getattr(type(current), "__call__", None)  # noqa: B004  the function itself is wanted
        current = next((part for part in inside if part is not None), method if callable(method) else None)
        if current is None or isinstance(current, WrapperDescriptorType | MethodWrapperType | BuiltinFunctionType):
            raise errors.InvalidTypeError(f"to_source: expected a Python function, got {value!r:.60}").here()
    return current


def _rewritten(fn: FunctionType, source: FunctionSource, suspended: bool = False) -> tuple[Definition, frozenset[str]]:
    """Returns the definition rewritten, and the names that it only asks for items."""
    outside: dict[str, object] = dict(fn.__globals__)
    for name, cell in zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True):
        try:
            outside[name] = cell.cell_contents
        except ValueError:
            outside.pop(name, None)
    unit = ConversionUnit(source.file, fn.__name__, source.class_name, outside)
    taken = next((name for name in _names_in(fn.__code__) if name.startswith(PREFIX)), None)
    if taken is not None:
        raise unit.refuse(
            source.node, f"the name {taken!r} begins as those of the converted code do; choose another one"
        )
    node = rewrite(source.node, unit, suspended)
    return node, mark_item_uses(node)


def _remember_asked(code: CodeType, names: frozenset[str]) -> None:
    """Notes of code, and of all code in it, which names are only asked for items."""
    remember(_only_asked, code, names)
    for value in code.co_consts:
        if isinstance(value, CodeType):
            _remember_asked(value, names)


def _names_in(code: CodeType) -> Iterator[str]:
    """Yields the variables that a function and those inside it read or write."""
    yield from (*code.co_varnames, *code.co_cellvars, *code.co_names)
    for value in code.co_consts:
        if isinstance(value, CodeType):
            yield from _names_in(value)


def _outcome(fn: FunctionType, operators: object, suspended: bool) -> _Outcome:
    try:
        source = find_source(fn)
        node, asked = _rewritten(fn, source, suspended)
    except errors.UnsupportedSyntaxError as error:
        return _Refused(type(error), str(error))
    code = _compile(fn.__code__, node, source)
    if asked:
        _remember_asked(code, asked)
    return _Converted(code, _cells(fn.__code__, code, operators))


def _cells(old: CodeType, new: CodeType, operators: object) -> tuple[int | CellType, ...]:
    ours = {**_HELPERS, PREFIX: CellType(operators)}
    return tuple(ours[name] if name in ours else old.co_freevars.index(name) for name in new.co_freevars)


def _compile(old: CodeType, node: Definition, source: FunctionSource) -> CodeType:
    """Compiles the definition where its free variables are bound, and takes the code of the function out."""
    # Defaults are evaluated outside the function, and may hold code that is not the function's.
    node.args.defaults = [constant(None) for _ in node.args.defaults]
    node.args.kw_defaults = [None if default is None else constant(None) for default in node.args.kw_defaults]
    if isinstance(node, ast.Lambda):
        inner: ast.stmt = ast.copy_location(ast.Expr(value=node), node)
    else:
        assert isinstance(node, ast.FunctionDef)
        inner = _bare(node)
    if source.class_name is not None:
        # Python mangles private names by the class around; more underscores keep the class's own name free.
        name = "_" * 9 + source.class_name.lstrip("_")
        inner = ast.copy_location(
            ast.ClassDef(name=name, bases=[], keywords=[], body=[inner], decorator_list=[]), inner
        )
    free = [name for name in old.co_freevars if source.class_name is None or name != "__class__"]
    factory = function(_FACTORY, arguments(*free, PREFIX, *_HELPERS), [inner], inner)
    module = fix_locations(ast.Module(body=[factory], type_ignores=[]))
    flags = old.co_flags & FUTURE_FLAGS
    code = compile(module, source.file, "exec", flags=flags, dont_inherit=True)
    wanted = "<lambda>" if isinstance(node, ast.Lambda) else _FUNCTION
    while code.co_name != wanted:
        code = next(constant for constant in code.co_consts if isinstance(constant, CodeType))
    finished = _finished(code, old.co_name, code.co_qualname, old.co_qualname)
    # Generators are not marked as such, since those inside a function are not rewritten; this one was.
    return finished if is_converted(finished) else finished.replace(co_consts=(*finished.co_consts, _MARK))


def _bare(node: ast.FunctionDef) -> ast.FunctionDef:
    """The definition without what is evaluated outside the function; Python's first line is that of a decorator."""
    args = node.args
    for argument in (*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg):
        if argument is not None:
            argument.annotation = None
    node.name = _FUNCTION
    node.returns = None
    node.decorator_list = [ast.copy_location(constant(None), decorator) for decorator in node.decorator_list[:1]]
    if "type_params" in node._fields:
        node.type_params = []  # pyright: ignore[reportAttributeAccessIssue]
    return node


def _no_lines(code: CodeType) -> bytes:
    """The table of lines for code that is on no line, so that no breakpoint stops in it and no step leads into it."""
    # In the format of Python 3.11 and later: for each 8 code units at most, that they have none.
    whole, rest = divmod(len(code.co_code) // 2, 8)
    return b"\xff" * whole + (bytes([0xF8 | (rest - 1)]) if rest else b"")


def _finished(code: CodeType, name: str, prefix: str, qualname: str, mark: bool = True, part_of: str = "") -> CodeType:
    """Marks the code and everything in it, and gives each function the name that its user knows."""
    # mark: whether the code was rewritten; the methods of classes inside it were not.
    # part_of: the qualified name of the user's function that it is a part of; empty where it is one itself.
    own = part_of or _GENERATED.sub("", qualname + code.co_qualname.removeprefix(prefix))
    is_class = not code.co_flags & inspect.CO_OPTIMIZED
    consts: list[object] = []
    for value in code.co_consts:
        if isinstance(value, CodeType):
            rewritten = mark and not is_class
            part = value.co_name.startswith(PREFIX) or THUNK in value.co_varnames[:2]
            inner_name = name if part else value.co_name
            value = _finished(value, inner_name, prefix, qualname, rewritten, own if part else "")
        elif is_class and value == code.co_qualname:
            value = own  # what the class stores as its __qualname__
        consts.append(value)
    suspends = code.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR)
    if mark and not is_class and not suspends:
        consts += [_PART, _MARK] if part_of else [_MARK]
    lines = _no_lines(code) if code.co_name.startswith(_PLUMBING) else code.co_linetable
    return code.replace(co_consts=tuple(consts), co_name=name, co_qualname=own, co_linetable=lines)
