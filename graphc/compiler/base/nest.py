"""Nested structures: tuples, lists, dicts, namedtuples, dataclasses and None, with leaves in a fixed order.

This is the idea of ``tf.nest`` and of JAX's pytrees, without JAX, and with dataclasses as structures. A structure's
definition is hashable, so it can be part of a cache key. A dict's order is part of it, since a program can depend on
it: unlike in JAX, its leaves are in insertion order.
"""

from __future__ import annotations

import dataclasses
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import islice
from typing import Any, NamedTuple, cast

from graphc.compiler.base.errors import InvalidArgumentError, UnimplementedError
from graphc.compiler.base.registry import with_article


class Structure(NamedTuple):
    """The structure of a nested value: its kind, the data to rebuild it, and its children."""

    kind: type | None  # the class of the container; None for a leaf
    keys: tuple[Any, ...]  # dict keys or field names, in the order of the children
    children: tuple[Structure, ...]
    factory: Any = None  # of missing values, for a ``defaultdict``

    def __str__(self) -> str:
        if self.kind is None:
            return "*"
        inner = ", ".join(
            str(child) if self.kind in (tuple, list) else f"{key}: {child}"
            for key, child in zip(self.keys, self.children, strict=True)
        )
        if self.kind is type(None):
            return "None"
        opening, closing = {tuple: "()", list: "[]", dict: "{}"}.get(self.kind, (f"{self.kind.__name__}(", ")"))
        return f"{opening}{inner}{closing}"

    @property
    def num_leaves(self) -> int:
        """The number of leaves of a value with this structure."""
        return 1 if self.kind is None else sum(child.num_leaves for child in self.children)


LEAF = Structure(None, (), ())


def _is_namedtuple(kind: type[Any]) -> bool:
    return issubclass(kind, tuple) and hasattr(kind, "_fields")  # pyright: ignore[reportUnknownArgumentType]


def children(value: Any) -> tuple[tuple[Any, ...], Sequence[Any]] | None:
    """Returns the keys and children of a container, or None for a leaf."""
    kind = cast("type[Any]", type(value))
    if value is None:
        return (), ()
    if kind in (tuple, list):
        return tuple(range(len(value))), value
    if kind in (dict, OrderedDict, defaultdict):
        mapping = cast("dict[Any, Any]", value)
        return tuple(mapping), list(mapping.values())
    if _is_namedtuple(kind):
        return tuple(kind._fields), value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = tuple(field.name for field in dataclasses.fields(value))
        if not getattr(value, "__dict__", {}).keys() <= set(names):
            return None  # an instance with extra attributes is an ordinary object
        return names, [getattr(value, name) for name in names]
    return None


def level(value: Any) -> Structure:
    """Returns the structure of a container, with its children as leaves."""
    parts = children(value)
    if parts is None:
        return LEAF
    kind = cast("type[Any]", type(value))
    factory = getattr(value, "default_factory", None) if kind is defaultdict else None
    return Structure(kind, parts[0], (LEAF,) * len(parts[1]), factory)


def as_tuple(value: Any) -> tuple[Any, ...]:
    """Returns a tuple or list as a tuple, and any other value as a tuple of one."""
    return tuple(cast("Sequence[Any]", value)) if isinstance(value, tuple | list) else (value,)


def flatten(
    value: Any, opaque: AbstractSet[int] = frozenset(), *, repeats: bool = False
) -> tuple[list[Any], Structure]:
    """Returns the leaves of a nested value and its structure; containers whose ids are in ``opaque`` are leaves.

    Example:
      >>> leaves, structure = flatten({"b": 1, "a": (2, [3])})
      >>> leaves, str(structure)
      ([1, 2, 3], '{b: *, a: (*, [*])}')
    """
    # With ``repeats``, the structure records repeated mutable containers, so that :func:`unflatten` builds each once.
    leaves: list[Any] = []
    try:
        return leaves, _take_apart(value, leaves, opaque, {} if repeats else None)
    except RecursionError:
        if not _contains_itself(value):
            raise
    raise UnimplementedError(
        f"{with_article(type(value).__name__)} that contains itself, or an object that refers to it, cannot be traced: "
        "graphc takes containers and dataclasses apart into tensors; keep the tensors in one container, and refer to "
        "them by index, key or name"
    ).here()


def _contains_itself(value: Any) -> bool:
    around, waiting = set[int](), [(value, False)]
    while waiting:
        part, is_done = waiting.pop()
        if is_done:
            around.discard(id(part))
        elif id(part) in around:
            return True
        elif (parts := children(part)) is not None:
            around.add(id(part))
            waiting += [(part, True), *((item, False) for item in parts[1])]
    return False


class SharedContainer:
    """Marks a repeated container in a structure; its key is the position in building order."""


def _take_apart(
    value: Any, leaves: list[Any], opaque: AbstractSet[int], numbers: dict[int, int] | None = None
) -> Structure:
    """Returns a value's structure and appends its leaves to ``leaves``; ``numbers`` numbers the containers so far."""
    if numbers and id(value) in numbers:
        return Structure(SharedContainer, (numbers[id(value)],), ())
    parts = None if opaque and id(value) in opaque else children(value)
    if parts is None:
        leaves.append(value)
        return LEAF
    keys, items = parts
    kind = cast("type[Any]", type(value))
    inner = tuple([_take_apart(item, leaves, opaque, numbers) for item in items])
    if numbers is not None and is_mutable(value):
        numbers[id(value)] = len(numbers)
    return Structure(kind, keys, inner, _factory(value))


def _factory(value: Any) -> Any:
    return getattr(cast("Any", value), "default_factory", None) if type(value) is defaultdict else None


def is_mutable(value: Any) -> bool:
    """Returns True if a value is a mutable container, whose identity matters."""
    if isinstance(value, list | dict):
        return True
    parameters = getattr(cast("type[Any]", type(value)), "__dataclass_params__", None)
    return parameters is not None and not parameters.frozen and not isinstance(value, type)


def shared(first: Any, second: Any) -> frozenset[int]:
    """Returns the ids of the mutable containers that two nested values share at all of their positions."""
    same: set[int] = set()
    other: set[int] = set()
    _compare(first, second, same, other)
    return frozenset(same - other)


def _compare(first: Any, second: Any, same: set[int], other: set[int]) -> None:
    if first is second and is_mutable(first):
        same.add(id(first))
        return
    other.update((id(first), id(second)))
    parts, others = children(first), children(second)
    if parts is None or others is None:
        return
    counterparts = dict(zip(*others, strict=True))
    for key, item in zip(*parts, strict=True):
        if key in counterparts:
            _compare(item, counterparts[key], same, other)


def rebuilt(value: Any, items: Iterable[Any], keys: Sequence[Any] | None = None) -> Any:
    """Returns a container like ``value`` with other contents; ``keys`` replaces its keys."""
    contents = list(items)
    names = tuple(keys) if keys is not None else (children(value) or ((), ()))[0]
    return unflatten(
        Structure(cast("type[Any]", type(value)), names, (LEAF,) * len(contents), _factory(value)), contents
    )


def flatten_with_paths(value: Any, root: str = "") -> list[tuple[str, Any]]:
    """Returns the leaves of a nested value, each with the expression that reaches it.

    Example:
      >>> flatten_with_paths({"a": (2, 3)}, "x")
      [("x['a'][0]", 2), ("x['a'][1]", 3)]
    """
    pairs: list[tuple[str, Any]] = []

    def walk(item: Any, path: str) -> None:
        parts = children(item)
        if parts is None:
            pairs.append((path, item))
            return
        fields = _is_namedtuple(cast("type[Any]", type(item))) or dataclasses.is_dataclass(item)
        for key, child in zip(*parts, strict=True):
            walk(child, f"{path}.{key}" if fields else f"{path}[{key!r}]")

    walk(value, root)
    return pairs


def unflatten(structure: Structure, leaves: Iterable[Any]) -> Any:
    """Rebuilds the nested value that :func:`flatten` flattened."""
    iterator = iter(leaves)
    value = _build(structure, iterator, [])
    if next(iterator, _END) is not _END:
        raise InvalidArgumentError(f"more leaves than the structure {structure} has ({structure.num_leaves})")
    return value


_END = object()


def _build(structure: Structure, leaves: Iterator[Any], built: list[Any]) -> Any:
    """Returns a value of a structure; appends its mutable containers to ``built``."""
    kind = structure.kind
    if kind is None:
        leaf = next(leaves, _END)
        if leaf is _END:
            raise InvalidArgumentError("fewer leaves than the structure has")
        return leaf
    if kind is type(None):
        return None
    if kind is SharedContainer:
        return built[structure.keys[0]]
    inner = structure.children
    if inner.count(LEAF) == len(inner):
        items = list(islice(leaves, len(inner)))
        if len(items) < len(inner):
            raise InvalidArgumentError("fewer leaves than the structure has")
    else:
        items = [_build(child, leaves, built) for child in inner]
    if kind is tuple:
        return tuple(items)
    value = items if kind is list else container(structure, items)
    if kind is list or is_mutable(value):
        built.append(value)
    return value


def container(structure: Structure, items: Sequence[Any]) -> Any:
    """Returns a container of this structure, other than a tuple or a list, with these items."""
    kind = structure.kind
    if kind is defaultdict:
        return defaultdict(structure.factory, zip(structure.keys, items, strict=True))
    make = cast("Callable[..., Any]", kind)
    if issubclass(cast("type[Any]", kind), dict):
        return make(zip(structure.keys, items, strict=True))
    if issubclass(cast("type[Any]", kind), tuple):
        return make(*items)
    return _rebuild_dataclass(cast("type[Any]", kind), structure.keys, items)


def _rebuild_dataclass(kind: type[Any], names: Sequence[str], values: Sequence[Any]) -> Any:
    """Returns a dataclass instance with these fields, without running ``__init__`` and ``__post_init__``."""
    instance: Any = object.__new__(kind)
    for name, value in zip(names, values, strict=True):
        object.__setattr__(instance, name, value)
    return instance


def map_structure(function: Callable[..., Any], value: Any, *others: Any) -> Any:
    """Applies a function to corresponding leaves of values with the same structure."""
    leaves, structure = flatten(value)
    columns = [leaves]
    for other in others:
        other_leaves, other_structure = flatten(other)
        if other_structure != structure:
            raise InvalidArgumentError(f"the structures differ: {structure} and {other_structure}")
        columns.append(other_leaves)
    return unflatten(structure, [function(*row) for row in zip(*columns, strict=True)])
