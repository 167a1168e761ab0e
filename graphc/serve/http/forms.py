"""Forms: the arguments that a served function takes, and the conversion of a request's arguments to them."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np

from graphc.compiler.base import nest
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError
from graphc.compiler.core import Tensor, Variable, as_dtype, canonical_array
from graphc.compiler.function import TensorSpec
from graphc.serve.http.arrays import array_of, shown

__all__ = ["Arguments", "Branch", "Form", "Tree"]


@dataclass(frozen=True)
class Arguments:
    """The arguments in the body of a request: arrays, or JSON values, in structures.

    Attributes:
      signature: the name of the form that they must fit; empty for the first that they fit.
    """

    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict[str, Any])
    signature: str = ""


@dataclass(frozen=True)
class Branch:
    """A container in the arguments of a function."""

    level: nest.Structure
    items: tuple[Tree, ...]

    def __str__(self) -> str:
        return f"{{{', '.join(f'{key}: {item}' for key, item in zip(self.level.keys, self.items, strict=True))}}}"


Tree = TensorSpec | Branch
"""The form of an argument: a tensor, or a structure of tensors."""


@dataclass(frozen=True)
class Form:
    """The arguments of one signature of a function."""

    name: str
    args: tuple[Tree, ...]
    kwargs: Mapping[str, Tree]
    names: tuple[str, ...] = ()

    @classmethod
    def of(cls, name: str, f: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Form:
        """Returns the form of a call."""
        try:
            parameters = list(inspect.signature(f).parameters.values())
        except (TypeError, ValueError):
            parameters = []
        named = [each.name for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD]
        trees = {key: _tree(value) for key, value in kwargs.items()}
        return cls(name, tuple([_tree(value) for value in args]), trees, tuple(named[: len(args)]))

    @property
    def specs(self) -> list[TensorSpec]:
        """The specs of all arrays."""
        return [spec for tree in (*self.args, *self.kwargs.values()) for spec in _specs(tree)]

    def fit(self, given: Arguments) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Converts the arguments of a request to the function's."""
        args, kwargs = list(given.args), dict(given.kwargs)
        for name in self.names[len(args) : len(self.args)]:
            if name not in kwargs:
                break
            args.append(kwargs.pop(name))
        if len(args) != len(self.args) or kwargs.keys() != self.kwargs.keys():
            names = ", ".join([*map(self._name, range(len(args))), *kwargs]) or "none"
            raise InvalidArgumentError(f"expected the arguments ({self}), got {names}")
        return (
            tuple([_fit(tree, args[place], self._name(place)) for place, tree in enumerate(self.args)]),
            {name: _fit(tree, kwargs[name], name) for name, tree in self.kwargs.items()},
        )

    def elements(self, rows: int) -> int | None:
        """Returns the number of elements of all arrays for a number of rows; None if an axis is open."""
        if any(spec.shape is None or None in spec.shape[1:] for spec in self.specs):
            return None
        return sum(rows * math.prod(size or 0 for size in (spec.shape or ())[1:]) for spec in self.specs)

    def example(self) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
        """Returns arguments with one row of zeros; None if an axis other than the row axis has an open size."""
        if self.elements(1) is None:
            return None
        return tuple(map(_zeros, self.args)), {name: _zeros(tree) for name, tree in self.kwargs.items()}

    def of_rows(self) -> Form:
        """Returns the form with any number of rows."""
        kwargs = {name: _of_rows(tree) for name, tree in self.kwargs.items()}
        return replace(self, args=tuple(map(_of_rows, self.args)), kwargs=kwargs)

    def to_dict(self) -> dict[str, Any]:
        """Returns the form as plain dicts and strings."""
        arguments = {name: _plain(tree) for name, tree in self._named()}
        return {"name": self.name, "arguments": arguments, "positional": len(self.args)}

    def __str__(self) -> str:
        return ", ".join([f"{name}: {tree}" for name, tree in self._named()])

    def _named(self) -> list[tuple[str, Tree]]:
        return [*((self._name(place), tree) for place, tree in enumerate(self.args)), *self.kwargs.items()]

    def _name(self, place: int) -> str:
        return self.names[place] if place < len(self.names) else f"args[{place}]"


def _tree(value: Any) -> Tree:
    if isinstance(value, TensorSpec):
        return value
    parts = nest.children(value)
    if parts is not None:
        return Branch(nest.level(value), tuple(map(_tree, parts[1])))
    if not (hasattr(value, "shape") and hasattr(value, "dtype")):
        raise InvalidTypeError(
            f"App: an example has arrays or gx.TensorSpecs with a row for each query, got {type(value).__name__} "
            f"{shown(value)}; bind arguments that are the same for all queries with functools.partial"
        )
    array = canonical_array(value.numpy() if isinstance(value, Tensor | Variable) else value)
    if not array.ndim:
        raise InvalidArgumentError(f"App: an array of an example needs an axis of rows, got {array!r}; give x[None]")
    return TensorSpec((None, *array.shape[1:]), array.dtype)


def _specs(tree: Tree) -> Iterator[TensorSpec]:
    if isinstance(tree, TensorSpec):
        yield tree
    else:
        for item in tree.items:
            yield from _specs(item)


def _of_rows(tree: Tree) -> Tree:
    if isinstance(tree, TensorSpec):
        return tree if tree.shape is None else replace(tree, shape=(None, *tree.shape[1:]))
    return Branch(tree.level, tuple(map(_of_rows, tree.items)))


def _zeros(tree: Tree) -> Any:
    if isinstance(tree, TensorSpec):
        return np.zeros((1, *[size or 0 for size in (tree.shape or ())[1:]]), as_dtype(tree.dtype))
    return nest.unflatten(tree.level, map(_zeros, tree.items))


def _plain(tree: Tree) -> Any:
    if isinstance(tree, TensorSpec):
        return {"dtype": as_dtype(tree.dtype).name, "shape": None if tree.shape is None else list(tree.shape)}
    return {str(key): _plain(item) for key, item in zip(tree.level.keys, tree.items, strict=True)}


def _fit(tree: Tree, value: Any, path: str) -> Any:
    if isinstance(tree, TensorSpec):
        return array_of(value, path, tree)
    keys = tuple(map(str, tree.level.keys))
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        if fields.keys() != {*keys}:
            wanted, got = ", ".join(keys), ", ".join(map(str, fields)) or "none"
            raise InvalidArgumentError(f"{path}: expected the fields {wanted}, got {got}")
        values = [fields[key] for key in keys]
    elif isinstance(value, list) and tree.level.kind is not dict:
        values = cast("list[Any]", value)
        if len(values) != len(keys):
            raise InvalidArgumentError(f"{path}: expected a list of {len(keys)} items, got {len(values)}")
    elif value is None and not keys:
        values = list[Any]()
    else:
        raise InvalidArgumentError(f"{path}: expected {tree}, got {shown(value)}")
    fitted = [_fit(item, part, f"{path}.{key}") for item, part, key in zip(tree.items, values, keys, strict=True)]
    return nest.unflatten(tree.level, fitted)
