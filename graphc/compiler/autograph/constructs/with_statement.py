"""``with``: context managers, and the cancellation tokens that a compiled function refuses."""

from __future__ import annotations

import contextlib
import dis
import inspect
import types
from functools import cache
from typing import Any, cast

from graphc.compiler.autograph.constructs.calls.builtin_calls import is_pure_class
from graphc.compiler.autograph.constructs.calls.call import call, is_followed_generator, is_pure_generator
from graphc.compiler.autograph.constructs.exceptions.origins import passes
from graphc.compiler.autograph.constructs.exceptions.try_scope import TryScope, before_try, in_finally, leaving
from graphc.compiler.autograph.constructs.overrides import Functions
from graphc.compiler.autograph.constructs.purity.reading import is_library
from graphc.compiler.autograph.constructs.purity.unconverted import handed
from graphc.compiler.autograph.constructs.purity.watch import operator_method
from graphc.compiler.autograph.values.kinds import found_on
from graphc.compiler.base import CancellationToken, nest, with_article
from graphc.compiler.base.errors import UnimplementedError
from graphc.compiler.tracing import Region, context

# Cancellation tokens in code that is traced, where they would end no wait of the program's.


def refuse_token(value: Any) -> None:
    """Refuses ``with token:`` while a function is traced."""
    if isinstance(value, CancellationToken) and context.trace is not None:
        error = UnimplementedError(
            "`with` on a gx.CancellationToken in a compiled function: the token would be in force while the function "
            "is traced, and not when it runs. Put it around the call"
        )
        raise context.trace.refuse(error)


def _cancel(cancel: Any, token: CancellationToken, *args: Any, **kwargs: Any) -> Any:
    """``token.cancel()``."""
    del token
    if context.trace is not None:
        context.trace.side_effect("the call of CancellationToken.cancel", certain=True)  # runs once, not at each call
    return cancel(*args, **kwargs)


OVERRIDES: Functions = {CancellationToken.cancel: _cancel}


# ``with``: context managers of the user's, whose methods are converted as all else that is called.


def manager(value: Any) -> Any:
    """Returns what ``with`` enters in place of a context manager."""
    trace = context.trace
    if trace is None:
        return value
    refuse_token(value)
    if isinstance(value, contextlib.redirect_stdout | contextlib.redirect_stderr):
        error = UnimplementedError(
            f"{_title(value)} in a compiled function: the program prints when it runs, and the block is over when the "
            "function has been traced; put it around the call"
        )
        raise trace.refuse(error)
    if isinstance(value, _AT_TRACE_TIME):
        trace.side_effect(f"what {_title(value)} does", certain=True)
        return cast("Any", value)
    if is_library(cast("type[Any]", type(value))):
        handed((value,))  # its methods run as they are, and may read all that it holds
    _, leave = [operator_method(value, name) for name in ("__enter__", "__exit__")]  # tells of each, absent ones too
    if _is_harmless(value):
        # suppress does no harm itself, but may catch an exception that tensors decide on.
        return _Catching(value) if isinstance(value, contextlib.suppress) else value
    if is_followed_generator(value):
        return _Suspended(value)
    # In a branch its methods would run when it is traced, taken or not.
    if isinstance(trace, Region) and not _is_followed(value):
        trace.side_effect(_title(value))
    return _Catching(value) if leave is None or not _only_cleans_up(leave.__code__) else _Finishing(value)


_AT_TRACE_TIME = (contextlib.ExitStack, contextlib.chdir, contextlib.closing)
"""Those of the standard library that change the world, or call what nobody has converted."""


class _Watched:
    """A context manager that is entered and left by methods that may be the user's."""

    __slots__ = ("_manager",)

    def __init__(self, manager: Any) -> None:
        self._manager = manager

    def _call(self, name: str, *args: Any) -> Any:
        method = operator_method(self._manager, name)
        if method is None or _does_nothing(name, method):
            return getattr(self._manager, name)(*args)
        return call(types.MethodType(method, self._manager))(*args)

    def _leave(self, *exception: Any) -> Any:
        """Calls ``__exit__``, which cleans up after whatever was raised, but catches the program's exceptions only."""
        passing = True
        try:
            passing = passes(exception[1])  # may raise: __exit__ still has to run, to give back locks and files
        finally:
            with leaving():
                left = self._call("__exit__", *exception)
        return not passing and left  # a true __exit__ must not swallow a failure of graphc's own


class _Catching(_Watched):
    """A context manager that may catch exceptions."""

    __slots__ = ("_scope",)

    def __init__(self, manager: Any) -> None:
        super().__init__(manager)
        self._scope = TryScope(None, _title(manager))

    def __enter__(self) -> Any:
        entered = self._call("__enter__")
        self._scope.__enter__()  # after __enter__, whose own exceptions __exit__ does not see
        return entered

    def __exit__(self, *exception: Any) -> Any:
        self._scope.__exit__(*exception)
        return self._leave(*exception)


class _Finishing(_Watched):
    """A context manager that does the same whether there was an exception or not, as a ``finally`` block does."""

    __slots__ = ("_before",)

    def __enter__(self) -> Any:
        entered = self._call("__enter__")
        self._before = before_try(_title(self._manager))
        return entered

    def __exit__(self, *exception: Any) -> Any:
        with in_finally(self._before):
            return self._leave(*exception)


class _Suspended(_Watched):
    """A generator that was converted: what it does about exceptions, ``try`` statements of its own say."""

    __slots__ = ()

    def __enter__(self) -> Any:
        return self._call("__enter__")

    def __exit__(self, *exception: Any) -> Any:
        return self._leave(*exception)


def _title(manager: Any) -> str:
    """Returns the statement, for messages."""
    generator = getattr(manager, "gen", None)
    return f"`with {generator.__name__}(...)`" if generator else f"`with` on {with_article(type(manager).__name__)}"


def _is_harmless(value: Any) -> bool:
    methods = _methods(value)
    if is_pure_class(cast("type[Any]", type(value))) or not any(isinstance(one, types.FunctionType) for one in methods):
        return True
    return is_pure_generator(value)


def _is_followed(value: Any) -> bool:
    """Returns True if entering and leaving is code that is converted."""
    names = ("__enter__", "__exit__")
    return all(
        operator_method(value, name) is not None or _does_nothing(name, method)
        for name, method in zip(names, _methods(value), strict=True)
    )


def _methods(value: Any) -> tuple[Any, Any]:
    kind = cast("type[Any]", type(value))
    return found_on(kind, "__enter__"), found_on(kind, "__exit__")


def _does_nothing(name: str, method: Any) -> bool:
    """Returns True if a method is inherited from the abstract base class, whose methods do nothing."""
    return method is found_on(contextlib.AbstractContextManager, name)


@cache
def _only_cleans_up(code: types.CodeType) -> bool:
    """Returns True if ``__exit__`` neither looks at the exception that it is given nor catches it."""
    flags = (inspect.CO_VARARGS, inspect.CO_VARKEYWORDS)
    num_given = code.co_argcount + code.co_kwonlyargcount + sum(bool(code.co_flags & flag) for flag in flags)
    parameters = set(code.co_varnames[1:num_given])  # without self, which it may use as it likes
    before: dis.Instruction | None = None
    for instruction in dis.get_instructions(code):
        names = nest.as_tuple(instruction.argval)  # those of joined instructions (LOAD_FAST_LOAD_FAST) are tuples
        # MAKE_CELL: a function inside may look at it later.
        if instruction.opname.startswith(("LOAD", "MAKE_CELL", "STORE")) and not parameters.isdisjoint(map(str, names)):
            return False
        if instruction.opname == "RETURN_CONST" and instruction.argval:
            return False
        if instruction.opname == "RETURN_VALUE":
            constant = before is not None and before.opname == "LOAD_CONST" and not before.argval
            if not constant or instruction.is_jump_target:  # a jump brings another value here: `return x or None`
                return False
        before = instruction
    return True
