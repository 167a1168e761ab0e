"""``sorted`` of Python values, ``next``, ``functools.reduce``, ``itertools.accumulate`` and ``math.prod``.

The functions that they call are converted. Python goes through the items, and orders them, by itself: what tensors
would have to decide is refused.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections import deque
from collections.abc import Callable, ItemsView, Iterable, Iterator, KeysView, Sequence, ValuesView
from functools import partial, reduce
from itertools import combinations, takewhile
from typing import Any, cast

import numpy as np

from graphc.compiler.autograph.constructs.branches.branch import choose, is_symbolic_condition, itself, predicate, truth
from graphc.compiler.autograph.constructs.branches.logic import not_, or_, require, truth_value
from graphc.compiler.autograph.constructs.calls.call import call
from graphc.compiler.autograph.constructs.exceptions.origins import in_python
from graphc.compiler.autograph.constructs.expressions.comparisons import Compared, compare, compared, ordered
from graphc.compiler.autograph.constructs.expressions.operators import binary
from graphc.compiler.autograph.constructs.loops.for_loops import run_for
from graphc.compiler.autograph.constructs.loops.generators import GeneratorExpression
from graphc.compiler.autograph.constructs.loops.iterators import SpaceIterator, iterator_of
from graphc.compiler.autograph.constructs.loops.ranges import TensorRange
from graphc.compiler.autograph.constructs.loops.state import LoopVariables
from graphc.compiler.autograph.constructs.overrides import Functions, of_values
from graphc.compiler.autograph.constructs.purity.opaque import report_call
from graphc.compiler.autograph.constructs.purity.watch import check_iterator, made
from graphc.compiler.autograph.constructs.storage.cells import ContentsCell
from graphc.compiler.autograph.values.growing_list import check_source, growing
from graphc.compiler.autograph.values.index import is_symbolic, limited
from graphc.compiler.autograph.values.join import Join, is_number, is_tensor, note_aliases, same_values, to_tensors
from graphc.compiler.autograph.values.number import kind_of, numbered
from graphc.compiler.autograph.values.protocol import Unbound, alternatives
from graphc.compiler.base import nest
from graphc.compiler.base.errors import UnimplementedError
from graphc.compiler.core import FUNCTIONS, SymbolicTensor, Variable, read
from graphc.compiler.tracing import current_trace

# ``sum``, ``any``, ``all``, ``min`` and ``max`` of tensors, of lists of them, and of what loops run over.

Native = Callable[..., Any]
Test = Callable[[], Any]

_MISSING: Any = object()
_LOOPED = (GeneratorExpression, SpaceIterator, SymbolicTensor, TensorRange)
"""The classes of values that loops run over as a whole."""
_CONTAINERS: tuple[type[Any], ...] = (list, tuple, deque, set, frozenset, dict, KeysView, ValuesView, ItemsView)


def holds_symbols(values: Any) -> bool:
    """Returns True if a container holds tensors without values, or structures of them."""
    return isinstance(values, _CONTAINERS) and any(
        map(is_symbolic, nest.flatten(list(cast("Iterable[Any]", values)))[0])
    )


def is_looped(values: Any) -> bool:
    """Returns True if loops take the values as a whole."""
    return isinstance(values, _LOOPED) or growing(values) is not None


def run_over(
    iterable: Any,
    extra_test: Test | None,
    body: Callable[[Any], None],
    variables: LoopVariables,
    *,
    probing: bool = True,
) -> None:
    """A loop over what loops run over, or over a container; ``probing`` as of :func:`run_for`."""
    if is_looped(iterable):
        check_iterator(iterable)
        run_for(iterable, extra_test, body, variables, probing=probing)
        return
    for item in iterable:
        body(item)


class CarriedValues:
    """Holds the values that a loop carries, as the statement operators see them; messages call them ``names``."""

    def __init__(self, names: tuple[str, ...], *values: Any) -> None:
        self.values = values
        self.variables = LoopVariables(lambda: self.values, self.set, names)

    def set(self, values: tuple[Any, ...]) -> None:
        """Puts new values in."""
        self.values = values


# --- sums and truth


def _sum(native: Native, iterable: Any, /, start: Any = 0) -> Any:
    """``sum``."""
    if not (is_looped(iterable) or holds_symbols(iterable)) or isinstance(start, str | bytes | bytearray):
        return native(iterable, start)
    if isinstance(iterable, list | tuple) and not is_looped(iterable):
        # Python adds plain floats with less error than one by one.
        items = nest.as_tuple(iterable)
        count = next(index for index, item in enumerate(items) if kind_of(item) is None or is_symbolic(item))
        start, iterable = native(items[:count], start), items[count:]
    return total("+", iterable, start)


def total(symbol: str, iterable: Any, start: Any) -> Any:
    """Returns what is left when each item is added to, or multiplied with, what is there so far."""
    box, kinds = CarriedValues(("the sum" if symbol == "+" else "the product",), start), {kind_of(start)}

    def add(item: Any) -> None:
        kinds.add(kind_of(item))
        box.set((binary(symbol, box.values[0], item),))

    run_over(iterable, None, add, box.variables, probing=False)
    return numbered(box.values[0], int if kinds <= {bool, int} else None)


def _truth_of(value: Any) -> Any:
    value = read(value)
    return truth_value(value) if isinstance(value, SymbolicTensor) else truth(value)


def _quantifier(name: str) -> Callable[[Native, Any], Any]:
    """``any``, which stops at what is true, or ``all``."""
    stop = name == "any"

    def found(native: Native, iterable: Any, /) -> Any:
        if isinstance(iterable, SymbolicTensor) and iterable.ndim == 1:
            return truth_value(FUNCTIONS[name](iterable))
        if not is_looped(iterable):
            return _quantify(iterable, stop) if holds_symbols(iterable) else native(iterable)
        box = CarriedValues((f"the result of {name}",), not stop)

        def goes_on() -> Any:
            return not_(box.values[0]) if stop else box.values[0]

        run_over(iterable, goes_on, lambda item: box.set((_truth_of(item),)), box.variables)
        return _truth_of(box.values[0])

    return found


def _quantify(values: Iterable[Any], stop: bool) -> Any:
    """As :func:`_quantifier`, of values that are there already."""
    result: Any = False
    for value in values:
        decided = _truth_of(value)
        result = or_(partial(itself, result), partial(itself, decided if stop else not_(decided)))
        if result is True:
            break
    return _truth_of(result if stop else not_(result))


# --- the largest and the smallest


def _extreme(name: str, symbol: str, op: str) -> Callable[..., Any]:
    """``max`` or ``min``: the first item that no other one is larger, or smaller, than."""

    def found(native: Native, *args: Any, key: Any = None, default: Any = _MISSING) -> Any:
        values: Any = args if len(args) > 1 else read(args[0]) if args else ()
        looped = is_looped(values)
        if not looped and (key is not None or isinstance(values, Iterator)):
            values = call(list)(values)
        # It gives the Variable itself, of which an assignment and a tape know.
        variables = type(values) in (list, tuple) and any(isinstance(item, Variable) for item in values)
        if not (looped or holds_symbols(values) or key is not None or variables):
            options = {} if default is _MISSING else {"default": default}
            operands = map(compared, args) if len(args) > 1 else [_all_compared(values)] if args else ()
            result = native(*operands, **options)
            return result.value if isinstance(result, Compared) else result
        if len(args) > 1 and default is not _MISSING:
            return native(*args, default=default)  # says what Python says
        if key is None and not looped and all(map(_is_bounded_int, values)):
            return reduce(partial(limited, op), values)
        search = _Search(name, symbol, None if key is None else partial(in_python, call(key)), native)
        search.look_through(values)
        return search.result(default)

    return found


def _is_bounded_int(value: Any) -> bool:
    """Returns True for an int, the index of a loop among them, the larger of two of which is one as well."""
    return kind_of(value) is int and not isinstance(value, SymbolicTensor)


def _all_compared(values: Any) -> Any:
    return [compared(value) for value in nest.as_tuple(values)] if isinstance(values, list | tuple) else values


class _Search:
    """The search for the largest or smallest item."""

    def __init__(self, name: str, symbol: str, key: Callable[[Any], Any] | None, native: Native) -> None:
        self._symbol = symbol  # ">" or "<": how an item must compare to the best so far to replace it
        self._key = key  # what is compared of each item; None for the item itself
        self._native = native  # Python's function, for the error about an empty argument
        self._what = f"the result of {name}"
        self._trace = current_trace()
        # Whether there was an item, the best so far, its key. No item: zeros stand for it where a loop carries one.
        nothing = Unbound(self._what, "there is no item", filler=True)
        keyless = None if key is None else nothing
        self._kinds: list[type[Any] | None] | None = None  # of the leaves of all items
        self._box = CarriedValues(("whether there is an item", self._what, "its key"), False, nothing, keyless)

    def look_through(self, values: Any) -> None:
        """Looks at all items."""
        if is_looped(values) and not isinstance(values, Iterator):
            values = made(iterator_of(values))
        if isinstance(values, GeneratorExpression | SpaceIterator) and values.gives_items():
            # So that there is one from the start, and the loop need not ask.
            check_iterator(values)
            for first in values:
                self._look_at(first)
                break
        run_over(values, None, self._look_at, self._box.variables)

    def _look_at(self, item: Any) -> None:
        exists, best, best_key = self._box.values
        # In a loop that is traced for all iterations a tensor, which the loop can carry.
        trace = current_trace()
        always = True if trace is self._trace else trace.constant(True)
        kinds = [kind_of(leaf) for leaf in nest.flatten(item)[0]]
        before = self._kinds or kinds
        self._kinds = [kind if kind is other else None for kind, other in zip(kinds, before, strict=False)]
        key = item if self._key is None else self._key(item)
        if exists is False:
            self._box.set((always, item, None if self._key is None else key))
            return
        compared = best if self._key is None else best_key
        takes = or_(lambda: not_(exists), lambda: compare(self._symbol, key, compared))
        new_key = None if self._key is None else _select(takes, key, best_key, "its key")
        self._box.set((always, _select(takes, item, best, self._what), new_key))

    def result(self, default: Any) -> Any:
        """Returns what was found."""
        exists, best, _ = self._box.values
        if exists is False:
            return self._native(()) if default is _MISSING else default
        if is_symbolic_condition(exists):
            if default is not _MISSING:
                return _select(exists, best, default, self._what)
            require(exists, self._error)
        leaves, structure = nest.flatten(best)
        kinds = self._kinds or []
        if len(kinds) != len(leaves):  # one of several objects, which is a structure of its own
            kinds = [None] * len(leaves)
        return nest.unflatten(structure, map(numbered, leaves, kinds))

    def _error(self) -> Exception:
        try:
            self._native(())
        except ValueError as error:
            return error
        raise AssertionError


def _select(condition: Any, first: Any, second: Any, name: str) -> Any:
    """One of two values that are there already."""
    if not is_symbolic_condition(condition):
        return first if truth(condition) else second
    if not same_values(nest.map_structure(_choosable, first), nest.map_structure(_choosable, second)):
        return choose(condition, lambda: first, lambda: second)
    trace = current_trace()
    chosen = predicate(trace, condition)
    join = Join(("as one item", "as another"), trace.refuse).values(name, first, second)
    pairs = [to_tensors(trace, nest.flatten(value)[0], join.leaves) for value in (first, second)]
    chosen_ones = (FUNCTIONS["where"](chosen, *pair) for pair in zip(*pairs, strict=True))
    leaves = [leaf if type is None else next(chosen_ones) for leaf, type in zip(join.kept, join.leaves, strict=True)]
    result = nest.unflatten(join.structure, leaves)
    note_aliases(trace, name, result, [first, second])
    return result


def _choosable(leaf: Any) -> Any:
    """Returns what two leaves must have in common so that a selection can choose between them: their kind, or all."""
    return True if is_tensor(leaf) or is_number(leaf) else leaf


REDUCTIONS: Functions = {
    sum: of_values(_sum),
    any: of_values(_quantifier("any")),
    all: of_values(_quantifier("all")),
    max: _extreme("max", ">", "maximum"),
    min: _extreme("min", "<", "minimum"),
}


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

    def key_of(index: int) -> Any:
        return keys[index]

    return made([items[index] for index in native(range(len(items)), key=key_of, reverse=reverse)])


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


# Functions of arrays that call a function of the user's for rows, axes, pieces or indices.

_NAMES = ("apply_along_axis", "apply_over_axes", "fromfunction", "piecewise")


def _with_converted(native: Any, /, *args: Any, **kwargs: Any) -> Any:
    """Calls a function with functions that convert those of the user's, so that what these read is followed."""
    options = {name: _converted(value) for name, value in kwargs.items()}
    return native(*map(_converted, args), **options)


def _converted(value: Any) -> Any:
    """Returns an argument, with functions in it, also in a list, that convert the given ones when they are called."""
    if isinstance(value, list | tuple) and any(map(callable, items := cast("list[Any]", value))):
        return [_converted(item) for item in items]
    if not callable(function := cast("Any", value)):
        return function

    def converting(*args: Any, **kwargs: Any) -> Any:
        return call(function)(*args, **kwargs)

    return converting


CALLBACKS: Functions = dict.fromkeys(
    [*map(FUNCTIONS.__getitem__, _NAMES), np.apply_along_axis, np.apply_over_axes, np.piecewise], _with_converted
)
