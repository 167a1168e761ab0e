"""``next``, ``functools.reduce``, ``itertools.accumulate`` and the like, ``math.prod`` and ``math.fsum``.

They do what the ``for`` loop does that one would write in their place, with the functions that they call converted.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, cast

from graphc.compiler.autograph.builtins.reductions import Box, holds_symbols, is_looped, run_over, total
from graphc.compiler.autograph.constructs.branches.branch import is_symbolic_condition
from graphc.compiler.autograph.constructs.branches.checks import require
from graphc.compiler.autograph.constructs.branches.logic import if_exp, not_
from graphc.compiler.autograph.constructs.calls.call import call
from graphc.compiler.autograph.constructs.exceptions.origins import in_python
from graphc.compiler.autograph.constructs.expressions.operators import binary
from graphc.compiler.autograph.constructs.loops.generators import GeneratorExpression
from graphc.compiler.autograph.constructs.loops.iterators import iterator_of
from graphc.compiler.autograph.constructs.overrides import Functions
from graphc.compiler.autograph.constructs.purity.opaque import report_call
from graphc.compiler.autograph.constructs.purity.watch import check_iterator, made
from graphc.compiler.autograph.values.growing_list import check_source
from graphc.compiler.autograph.values.unbound import Unbound
from graphc.compiler.base.errors import UnimplementedError
from graphc.compiler.tracing import current_trace

__all__ = ["OVERRIDES"]

Native = Callable[..., Any]


# --- the first item


def _next(native: Native, iterator: Any, /, *default: Any) -> Any:
    """``next``; of a generator expression with conditions, the search for the first item."""
    if not isinstance(iterator, GeneratorExpression) or not iterator.is_looped() or len(default) > 1:
        check_source(iterator)
        return report_call(native, "the call of next")(iterator, *default)
    outer = current_trace()
    nothing = Unbound("the result of next", "there is no item", filler=True)
    box = Box(("whether there is an item", "the result of next"), False, nothing)

    def take(item: Any) -> None:
        trace = current_trace()
        # In a loop that is traced for all iterations a tensor, which the loop can carry.
        box.set((True if trace is outer else trace.constant(True), item))

    run_over(iterator, lambda: not_(box.values[0]), take, box.variables)
    found, item = box.values
    if not is_symbolic_condition(found):
        return item if found else native(iter(()), *default)
    if not default:
        require(found, StopIteration)
        return item
    return if_exp(found, lambda: item, lambda: default[0])


# --- what is made of all items


def _reduce(native: Native, function: Any, iterable: Any, /, *initial: Any) -> Any:
    """``functools.reduce``."""
    step = partial(in_python, call(function))
    if not is_looped(iterable) or len(initial) > 1:
        return native(step, iterable, *initial)
    if not initial:
        iterable = made(iterator_of(iterable) or iterable)
        if not iterable.gives_items():
            error = UnimplementedError(
                "functools.reduce() without a start value, over items of which it depends on tensors how many there "
                "are; pass a start value of the kind of the items: reduce(f, items, start)"
            )
            raise current_trace().refuse(error)
        check_iterator(iterable)
        initial = tuple(itertools.islice(iterable, 1))
        if not initial:
            return native(step, ())  # says what Python says
    box = Box(("the result of reduce",), *initial)
    run_over(iterable, None, lambda item: box.set((step(box.values[0], item),)), box.variables)
    return box.values[0]


def _prod(native: Native, iterable: Any, /, *, start: Any = 1) -> Any:
    """``math.prod``."""
    if not (is_looped(iterable) or holds_symbols(iterable)):
        return native(iterable, start=start)
    return total("*", iterable, start)


def _fsum(native: Native, iterable: Any, /) -> Any:
    """``math.fsum``: a float."""
    if isinstance(iterable, Iterator) and not is_looped(iterable):
        iterable = list(cast("Iterable[Any]", iterable))
    if not (is_looped(iterable) or holds_symbols(iterable)):
        return native(iterable)
    box = Box(("the sum",), 0.0)

    def add(item: Any) -> None:
        box.set((binary("+", box.values[0], call(float)(item)),))

    run_over(iterable, None, add, box.variables)
    return box.values[0]


# --- iterators, of which Python takes the items one by one


def _accumulate(native: Native, iterable: Any, func: Any = None, *, initial: Any = None) -> Any:
    """``itertools.accumulate``."""
    step = partial(binary, "+") if func is None else call(func)
    return made(native(iterable, step, initial=initial))


def _starmap(native: Native, function: Any, iterable: Any, /) -> Any:
    """``itertools.starmap``."""
    return made(native(call(function), iterable))


OVERRIDES: Functions = {
    functools.reduce: _reduce,
    itertools.accumulate: _accumulate,
    itertools.starmap: _starmap,
    math.fsum: _fsum,
    math.prod: _prod,
    next: _next,
}
