"""``gx.nest``: nested structures, taken apart and put together (TensorFlow's ``tf.nest``).

A structure is a list, a tuple, a named tuple or a mapping; anything else is a leaf, None too. The leaves of a mapping
stand in the order of its keys, sorted where they can be, as in TensorFlow and in JAX. Composite values, such as
:class:`graphc.SparseTensor`, are leaves unless ``expand_composites`` is set, and then structures of their tensors.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast

from graphc.compiler.base import nest, with_article
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError
from graphc.compiler.core import TensorShape, converted

__all__ = ["assert_same_structure", "flatten", "is_nested", "map_structure", "pack_sequence_as"]


def is_nested(structure: Any) -> bool:
    """Returns whether a value is a structure, and no leaf.

    Args:
      structure: anything.

    Example:
      >>> import graphc as gx
      >>> gx.nest.is_nested([1]), gx.nest.is_nested("ab"), gx.nest.is_nested(None)
      (True, False, False)
    """
    return isinstance(structure, list | tuple | Mapping) and not isinstance(structure, TensorShape)


def flatten(structure: Any, expand_composites: bool = False) -> list[Any]:
    """Returns the leaves of a structure, as a list.

    Args:
      structure: anything; a leaf gives a list of itself.
      expand_composites: whether composite values are taken apart, too.

    Example:
      >>> import graphc as gx
      >>> gx.nest.flatten({"b": 1, "a": (2, [3])})
      [2, 3, 1]
    """
    parts = _parts(structure, expand_composites)
    if parts is None:
        return [structure]
    return [leaf for _, part in parts for leaf in flatten(part, expand_composites)]


def pack_sequence_as(structure: Any, flat_sequence: Sequence[Any], expand_composites: bool = False) -> Any:
    """Returns a structure like another with other leaves.

    Args:
      structure: what is copied.
      flat_sequence: the leaves, in the order of :func:`flatten`.
      expand_composites: whether composite values are put together, too.

    Raises:
      InvalidTypeError: ``flat_sequence`` is no list or tuple.
      InvalidArgumentError: the number of leaves is another.

    Example:
      >>> import graphc as gx
      >>> gx.nest.pack_sequence_as({"b": 0, "a": (0, [0])}, [2, 3, 1])
      {'b': 1, 'a': (2, [3])}
    """
    if not is_nested(flat_sequence):
        what = f"{type(flat_sequence).__name__} {flat_sequence!r:.60}"
        raise InvalidTypeError(f"pack_sequence_as: the leaves must be in a list or a tuple, got {what}").here()
    wanted, leaves = len(flatten(structure, expand_composites)), list(flat_sequence)
    if wanted != len(leaves):
        raise InvalidArgumentError(
            f"pack_sequence_as: the structure has {wanted} leaves, {len(leaves)} are given; it is {structure!r:.200}"
        ).here()
    return _packed(structure, iter(leaves), expand_composites)


def map_structure(
    func: Callable[..., Any], *structure: Any, check_types: bool = True, expand_composites: bool = False
) -> Any:
    """Returns a structure of what a function gives for the leaves, one of each structure at a time.

    Args:
      func: takes as many leaves as there are structures.
      *structure: one or more, all alike.
      check_types: whether the kinds of their lists, tuples and mappings must be the same, too.
      expand_composites: whether composite values are taken apart, too.

    Raises:
      InvalidTypeError: ``func`` cannot be called, or the structures are of other kinds.
      InvalidArgumentError: there is no structure, or they are not alike.

    Example:
      >>> import graphc as gx
      >>> gx.nest.map_structure(lambda a, b: a + b, {"x": (1, 2)}, {"x": (10, 20)})
      {'x': (11, 22)}
    """
    if not callable(func):
        raise InvalidTypeError(f"map_structure: func must be a function, got {func!r:.60}").here()
    if not structure:
        raise InvalidArgumentError("map_structure: give at least one structure").here()
    first, *others = structure
    for other in others:
        _check("map_structure", first, other, check_types, expand_composites)
    columns = [flatten(one, expand_composites) for one in structure]
    call = converted(func)
    return pack_sequence_as(first, [call(*row) for row in zip(*columns, strict=True)], expand_composites)


def assert_same_structure(nest1: Any, nest2: Any, check_types: bool = True, expand_composites: bool = False) -> None:
    """Raises an error unless two structures are alike.

    Args:
      nest1: a structure.
      nest2: another.
      check_types: whether the kinds of their lists, tuples and mappings must be the same, too.
      expand_composites: whether composite values are taken apart, too.

    Raises:
      InvalidTypeError: a list, tuple or mapping is of another kind.
      InvalidArgumentError: there is a leaf where the other has a structure, or another number of parts or other keys.

    Example:
      >>> import graphc as gx
      >>> gx.nest.assert_same_structure([1, (2,)], ["a", ("b",)])
    """
    _check("assert_same_structure", nest1, nest2, check_types, expand_composites)


def _composite(value: Any) -> tuple[tuple[Any, ...], Sequence[Any]] | None:
    """Returns the tensors of a composite value."""
    return nest.children(value) if getattr(cast("type[Any]", type(value)), "__graphc_composite__", False) else None


def _parts(value: Any, expand_composites: bool) -> list[tuple[Any, Any]] | None:
    """Returns the keys and parts of a structure in their order; None for a leaf."""
    if is_nested(value):
        if isinstance(value, Mapping):
            mapping = cast("Mapping[Any, Any]", value)
            return [(key, mapping[key]) for key in _sorted(mapping)]
        names = getattr(value, "_fields", None)
        return list(zip(range(len(value)) if names is None else names, value, strict=True))
    if expand_composites and (pair := _composite(value)) is not None:
        return [
            (key, part)
            for key, part in zip(*pair, strict=True)
            if hasattr(part, "dtype") or _composite(part) is not None
        ]
    return None


def _sorted(mapping: Mapping[Any, Any]) -> list[Any]:
    try:
        return sorted(mapping)
    except TypeError:
        raise InvalidTypeError(
            f"the keys of a mapping in a structure must have an order, got {list(mapping)!r:.120}"
        ).here() from None


def _packed(structure: Any, leaves: Iterator[Any], expand_composites: bool) -> Any:
    parts = _parts(structure, expand_composites)
    if parts is None:
        return next(leaves)
    packed = {key: _packed(part, leaves, expand_composites) for key, part in parts}
    if not is_nested(structure):
        keys, items = _composite(structure) or ((), ())
        return nest.rebuilt(structure, [packed.get(key, item) for key, item in zip(keys, items, strict=True)])
    kind: Any = structure.__class__
    if isinstance(structure, Mapping):
        ordered = [(key, packed[key]) for key in cast("Mapping[Any, Any]", structure)]
        factory: Any = getattr(cast("Any", structure), "default_factory", None)
        return defaultdict(factory, ordered) if kind is defaultdict else kind(ordered)
    return kind(*packed.values()) if hasattr(kind, "_fields") else kind(packed.values())


def _check(function: str, first: Any, second: Any, check_types: bool, expand_composites: bool) -> None:
    try:
        _compare(first, second, check_types, expand_composites)
    except (InvalidArgumentError, InvalidTypeError) as error:
        what = f"{function}: the structures differ: {error.args[0]}\n  first: {first!r:.200}\n  second: {second!r:.200}"
        raise type(error)(what).here() from None


def _compare(first: Any, second: Any, check_types: bool, expand_composites: bool) -> None:
    mine, theirs = _parts(first, expand_composites), _parts(second, expand_composites)
    if mine is None or theirs is None:
        if (mine is None) is not (theirs is None):
            leaf, other = (first, second) if mine is None else (second, first)
            raise InvalidArgumentError(f"{leaf!r:.60} is a leaf, and {other!r:.60} is none")
        return
    kinds = [cast("type[Any]", type(value)) for value in (first, second)]
    if check_types and not _same_kind(kinds[0], kinds[1]):
        raise InvalidTypeError(f"one is {with_article(kinds[0].__name__)}, the other {with_article(kinds[1].__name__)}")
    if len(mine) != len(theirs):
        raise InvalidArgumentError(f"one has {len(mine)} parts, the other {len(theirs)}")
    mapped = isinstance(first, Mapping) and isinstance(second, Mapping)
    for (key, part), (other_key, other) in zip(mine, theirs, strict=True):
        if mapped and key != other_key:
            raise InvalidArgumentError(f"one has the key {key!r}, the other {other_key!r}")
        _compare(part, other, check_types, expand_composites)


def _same_kind(first: type[Any], second: type[Any]) -> bool:
    """Tells if two classes of containers are the same; all mappings are, and named tuples of one name and fields."""
    both: list[Any] = [first, second]
    if all(issubclass(kind, Mapping) for kind in both):
        return True
    named = [getattr(kind, "_fields", None) for kind in both]
    return first is second or (None not in named and named[0] == named[1] and first.__name__ == second.__name__)
