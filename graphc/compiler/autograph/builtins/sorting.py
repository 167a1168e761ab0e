"""``sorted`` of tensors without values, and of what has such a tensor for its key."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import combinations, takewhile
from typing import Any, NoReturn, cast

from graphc.compiler.autograph.constructs.branches.branch import itself, truth
from graphc.compiler.autograph.constructs.branches.checks import require_limit
from graphc.compiler.autograph.constructs.calls.call import call
from graphc.compiler.autograph.constructs.exceptions.origins import in_python
from graphc.compiler.autograph.constructs.expressions.comparisons import ordered
from graphc.compiler.autograph.constructs.expressions.list_methods import choose_item, columns_of
from graphc.compiler.autograph.constructs.loops.generators import GeneratorExpression
from graphc.compiler.autograph.constructs.loops.iterators import SpaceIterator
from graphc.compiler.autograph.constructs.overrides import Functions
from graphc.compiler.autograph.constructs.purity.watch import made
from graphc.compiler.autograph.constructs.storage.cells import ContentsCell
from graphc.compiler.autograph.values.choice import Choice
from graphc.compiler.autograph.values.choice_join import holds_choice, is_constant
from graphc.compiler.autograph.values.index import is_symbolic
from graphc.compiler.autograph.values.join import leaf_type, note_aliases, same, to_tensors
from graphc.compiler.autograph.values.number import common_kind, kind_of, number, numbered
from graphc.compiler.autograph.values.protocol import alternatives
from graphc.compiler.base import nest
from graphc.compiler.base.errors import UnimplementedError
from graphc.compiler.core import FUNCTIONS, SymbolicTensor, Variable, read
from graphc.compiler.tracing import current_trace

__all__ = ["OVERRIDES"]

_REMEDY = (
    "pass a key that gives one number for each item, as in sorted(pairs, key=lambda pair: pair[0]), or use "
    "gx.sort(x) or gx.argsort(x) of one tensor, with a list as gx.stack(items)"
)


def _sorted(native: Callable[..., Any], iterable: Any, /, *, key: Any = None, reverse: Any = False) -> list[Any]:
    """``sorted``."""
    iterable = read(iterable)
    items: list[Any] = list(iterable) if isinstance(iterable, _ITERATED) else call(list)(iterable)
    convert = itself if key is None else partial(in_python, call(key))
    keys = [ordered(read(convert(item))) for item in items]
    if len(items) > 1 and any(map(_is_late, _parts(keys))):
        if not any(map(_is_sequence, keys)):
            return made(_in_order(items, FUNCTIONS["argsort"](_stacked(keys), descending=truth(reverse), stable=True)))
        keys = _heads(keys)

    def key_of(place: int) -> Any:
        return keys[place]

    return made([items[place] for place in native(range(len(items)), key=key_of, reverse=reverse)])


_ITERATED = (SymbolicTensor, SpaceIterator, GeneratorExpression)


def _refuse(what: str) -> NoReturn:
    error = UnimplementedError(f"sorted() {what}, whose values are not known while the function is traced; {_REMEDY}")
    raise current_trace().refuse(error)


def _heads(keys: list[Any]) -> list[Any]:
    """Returns what orders keys such as ``("name", tensor)``: the parts before the first tensor, which all differ.

    Raises:
      UnimplementedError: they do not, so that tensors would be compared.
    """
    if not all(map(_is_sequence, keys)):
        _refuse("would compare tensors with lists or tuples of tensors")
    heads = [list(takewhile(_is_known, nest.as_tuple(key))) for key in keys]
    size = min(map(len, heads))
    heads = [head[:size] for head in heads]
    if any(one == other for one, other in combinations(heads, 2)):
        _refuse("would compare lists, tuples or objects that hold tensors")
    return heads


def _is_known(part: Any) -> bool:
    return not any(map(_is_late, _parts(part)))


def _parts(key: Any) -> list[Any]:
    """Returns what Python compares of a key, in its order."""
    return [part for item in cast("Sequence[Any]", key) for part in _parts(item)] if _is_sequence(key) else [key]


def _is_sequence(key: Any) -> bool:
    return isinstance(key, list | tuple)


def _is_late(part: Any) -> bool:
    return is_symbolic(part) or alternatives(part) is not None


def _stacked(keys: list[Any]) -> SymbolicTensor:
    """Returns the keys of all items as one tensor."""
    trace = current_trace()
    if not all(isinstance(key, SymbolicTensor) or kind_of(key) in (bool, int, float) for key in keys):
        _refuse("would compare what are no numbers")
    (keys,), (type,), _ = columns_of(trace, keys)
    type = leaf_type(keys[0]) if type is None else type  # None where all keys are one object
    if type.shape:
        _refuse(f"would compare tensors of the shape {type.shape}")
    stacked = FUNCTIONS["stack"](to_tensors(trace, keys, [type] * len(keys)))
    if type.dtype.kind in "fV":
        message = f"sorted() of NaN gives an order in Python that depends on how it sorts; {_REMEDY}"
        require_limit(FUNCTIONS["all"](stacked == stacked), lambda: UnimplementedError(message))
    return stacked


def _in_order(items: list[Any], order: Any) -> list[Any]:
    """Items at the places that a tensor says."""
    trace = current_trace()
    places = range(len(items))
    if all(is_constant(item, trace) for item in items):
        return [Choice(number(order[place], int), tuple(items)) for place in places]
    if any(isinstance(item, Variable) or holds_choice(item) for item in items):
        return [choose_item(items, order[place]) for place in places]
    structures = {nest.flatten(item)[1] for item in items}
    if len(structures) > 1:
        columns_of(trace, items)  # says how they differ
    columns: list[list[Any]] = []
    for column in zip(*[nest.flatten(item)[0] for item in items], strict=True):
        if all(is_constant(leaf, trace) for leaf in column) and not all(same(column[0], leaf) for leaf in column):
            columns.append([Choice(number(order[place], int), column) for place in places])
            continue
        (leaves,), (type,), _ = columns_of(trace, column)
        if type is not None:
            rows = FUNCTIONS["stack"](to_tensors(trace, leaves, [type] * len(items)))[order]
            kind = common_kind(leaves)
            leaves = [numbered(rows[place], kind) for place in places]
        columns.append(leaves)
    result = [nest.unflatten(structures.copy().pop(), leaves) for leaves in zip(*columns, strict=True)]
    for value in result:
        note_aliases(trace, "an item of what sorted() gives", value, items)
    return result


def _sort(native: Callable[..., Any], owner: list[Any], /, *, key: Any = None, reverse: Any = False) -> None:
    """``list.sort``: the list gets what ``sorted`` gives."""
    del native
    new = call(sorted)(owner, key=key, reverse=reverse)
    current_trace().writing(ContentsCell(owner, "the call of list.sort"))
    owner[:] = new


OVERRIDES: Functions = {
    sorted: _sorted,
    list.sort: _sort,
}
