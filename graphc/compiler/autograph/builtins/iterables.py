"""``sorted`` of Python values, ``next``, ``functools.reduce``, ``itertools.accumulate`` and ``math.prod``.

The functions that they call are converted. Python goes through the items, and orders them, by itself: what tensors
would have to decide is refused.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from functools import partial
from itertools import combinations, takewhile
from typing import Any, cast

from graphc.compiler.autograph.builtins.reductions import holds_symbols, is_looped, total
from graphc.compiler.autograph.constructs.branches.branch import itself
from graphc.compiler.autograph.constructs.calls.call import call
from graphc.compiler.autograph.constructs.exceptions.origins import in_python
from graphc.compiler.autograph.constructs.expressions.comparisons import ordered
from graphc.compiler.autograph.constructs.expressions.operators import binary
from graphc.compiler.autograph.constructs.loops.generators import GeneratorExpression
from graphc.compiler.autograph.constructs.loops.iterators import SpaceIterator
from graphc.compiler.autograph.constructs.overrides import Functions
from graphc.compiler.autograph.constructs.purity.opaque import report_call
from graphc.compiler.autograph.constructs.purity.watch import made
from graphc.compiler.autograph.constructs.storage.cells import ContentsCell
from graphc.compiler.autograph.values.growing_list import check_source
from graphc.compiler.autograph.values.index import is_symbolic
from graphc.compiler.autograph.values.protocol import alternatives
from graphc.compiler.base import nest
from graphc.compiler.base.errors import UnimplementedError
from graphc.compiler.core import SymbolicTensor, read
from graphc.compiler.tracing import current_trace

__all__ = ["OVERRIDES"]

Native = Callable[..., Any]


# --- sorting


def _sorted(native: Native, iterable: Any, /, *, key: Any = None, reverse: Any = False) -> list[Any]:
    """``sorted``; of keys such as ``("name", tensor)`` Python compares the names only, as long as they differ."""
    iterable = read(iterable)
    items: list[Any] = list(iterable) if isinstance(iterable, _ITERATED) else call(list)(iterable)
    convert = itself if key is None else partial(in_python, call(key))
    keys: list[Any] = [ordered(read(convert(item))) for item in items]
    if len(items) > 1 and not all(map(_is_known, keys)):
        heads = [list(takewhile(_is_known, nest.as_tuple(key))) if _is_sequence(key) else [] for key in keys]
        size = min(map(len, heads))
        keys = [head[:size] for head in heads]
        if any(one == other for one, other in combinations(keys, 2)):
            error = UnimplementedError(
                "sorted() would compare tensors, whose values are not known while the function is traced; use "
                "gx.sort(x) or gx.argsort(x) of one tensor, with a list as gx.stack(items)"
            )
            raise current_trace().refuse(error)

    def key_of(place: int) -> Any:
        return keys[place]

    return made([items[place] for place in native(range(len(items)), key=key_of, reverse=reverse)])


_ITERATED = (SymbolicTensor, SpaceIterator, GeneratorExpression)


def _is_known(key: Any) -> bool:
    """Returns True if Python can compare a key, with all that is in it."""
    if _is_sequence(key):
        return all(map(_is_known, cast("Sequence[Any]", key)))
    return not is_symbolic(key) and alternatives(key) is None


def _is_sequence(key: Any) -> bool:
    return isinstance(key, list | tuple)


def _sort(native: Native, owner: list[Any], /, *, key: Any = None, reverse: Any = False) -> None:
    """``list.sort``: the list gets what ``sorted`` gives."""
    del native
    new = call(sorted)(owner, key=key, reverse=reverse)
    current_trace().writing(ContentsCell(owner, "the call of list.sort"))
    owner[:] = new


# --- items one by one


def _next(native: Native, iterator: Any, /, *default: Any) -> Any:
    check_source(iterator)
    return report_call(native, "the call of next")(iterator, *default)


def _reduce(native: Native, function: Any, iterable: Any, /, *initial: Any) -> Any:
    return native(partial(in_python, call(function)), iterable, *initial)


def _accumulate(native: Native, iterable: Any, func: Any = None, *, initial: Any = None) -> Any:
    step = partial(binary, "+") if func is None else call(func)
    return made(native(iterable, step, initial=initial))


def _starmap(native: Native, function: Any, iterable: Any, /) -> Any:
    return made(native(call(function), iterable))


def _prod(native: Native, iterable: Any, /, *, start: Any = 1) -> Any:
    """``math.prod``."""
    if not (is_looped(iterable) or holds_symbols(iterable)):
        return native(iterable, start=start)
    return total("*", iterable, start)


OVERRIDES: Functions = {
    sorted: _sorted,
    list.sort: _sort,
    next: _next,
    functools.reduce: _reduce,
    itertools.accumulate: _accumulate,
    itertools.starmap: _starmap,
    math.prod: _prod,
}
