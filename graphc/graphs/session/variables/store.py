"""The Variables that ``get_variable`` has made, by name: those that scopes share."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final, Literal

import numpy as np

from graphc.compiler.base import at, user_location
from graphc.compiler.base.errors import InvalidArgumentError
from graphc.compiler.core import FUNCTIONS
from graphc.compiler.ir import OPEN, TensorType, compatible_shapes
from graphc.graphs.session.graphs.graph import Graph
from graphc.graphs.session.graphs.naming import GraphKeys
from graphc.graphs.session.graphs.placeholders import graph_dtype
from graphc.graphs.session.graphs.tensor import sizes_of
from graphc.graphs.session.variables.initializers import glorot_uniform_initializer
from graphc.graphs.session.variables.variable import GraphVariable

__all__ = ["AUTO_REUSE", "Reuse", "VariableStore", "Wish", "store_of"]


class _Auto(Enum):
    AUTO_REUSE = 1

    def __repr__(self) -> str:
        return "AUTO_REUSE"


AUTO_REUSE: Final = _Auto.AUTO_REUSE
"""The way of a scope that makes Variables that are not there, and gives those that are."""

Reuse = bool | Literal[_Auto.AUTO_REUSE] | None


@dataclass(frozen=True, kw_only=True)
class Wish:
    """The arguments of a call of ``get_variable``.

    Attributes:
      shape: the shape; None for the shape of the initial value.
      dtype: the dtype; None for the dtype of the initial value.
      initializer: a value, or a function of shape and dtype or of nothing; None for the default initializer.
      regularizer: a function from the Variable to a loss; None for none.
      reuse: whether the Variable must exist, must not, or may.
      options: further arguments for the Variable.
    """

    name: str
    shape: Any
    dtype: Any
    initializer: Any
    regularizer: Callable[[Any], Any] | None
    reuse: Reuse
    options: dict[str, Any] = field(default_factory=dict[str, Any])


class VariableStore:
    """The Variables of a graph that ``get_variable`` has made, and how often each scope was opened."""

    def __init__(self) -> None:
        self.variables: dict[str, GraphVariable] = {}
        self.opened: dict[str, int] = {}

    def get(self, graph: Graph, wish: Wish) -> GraphVariable:
        """Returns the Variable that is asked for; makes it if that is what is wanted.

        Raises:
          InvalidArgumentError: it is there and must not be, or is not and must be, or is another one.
        """
        found = self.variables.get(wish.name)
        if found is not None:
            return self._shared(found, wish)
        if wish.reuse is True:
            raise _error(
                f"Variable {wish.name} does not exist, or was not created with get_variable(); use reuse=AUTO_REUSE in "
                "the scope to make it when it is first asked for"
            )
        found = self.variables[wish.name] = _made(graph, wish)
        return found

    def _shared(self, found: GraphVariable, wish: Wish) -> GraphVariable:
        if not wish.reuse:
            raise _error(
                f"Variable {wish.name} already exists, disallowed; use reuse=True or reuse=AUTO_REUSE in the scope to "
                f"share it. It was made at {found.made_at}"
            )
        sizes = sizes_of(wish.shape)
        given = TensorType(sizes or (), found.type.dtype, ranked=sizes is not None)
        if not compatible_shapes(given, found.type):
            raise _error(
                f"Trying to share variable {wish.name}, but specified shape {tuple(sizes or ())} and found shape "
                f"{found.shape}. It was made at {found.made_at}"
            )
        if wish.dtype is not None and graph_dtype(wish.dtype) != found.type.dtype:
            raise _error(
                f"Trying to share variable {wish.name}, but specified dtype {graph_dtype(wish.dtype).name} and found "
                f"dtype {found.type.dtype.name}. It was made at {found.made_at}"
            )
        return found

    def enter(self, scope: str) -> None:
        """Notes that a scope is opened."""
        self.opened[scope] = self.opened.get(scope, 0) + 1

    def leave(self, scope: str) -> None:
        """Notes that a scope is closed: scopes inside it count from the start when it is opened again."""
        for name in self.opened:
            if not scope or name.startswith(scope + "/"):
                self.opened[name] = 0

    def free_name(self, outer: str, wish: str) -> str:
        """Returns the name of a scope inside another one that was not opened since that was."""
        prefix = f"{outer}/" if outer else ""
        name, count = wish, 0
        while self.opened.get(prefix + name):
            count += 1
            name = f"{wish}_{count}"
        return name


def _made(graph: Graph, wish: Wish) -> GraphVariable:
    value = wish.initializer() if isinstance(wish.initializer, type) else wish.initializer
    if value is None:
        value = _default_initializer(wish)
    with graph.entered(), graph.name_scope(None):
        if callable(value):
            value = _called(value, wish)
            dtype = wish.dtype
        else:
            dtype = wish.dtype if wish.options.get("given_dtype") else None
            given = getattr(value, "dtype", None)
            if dtype is not None and given is not None and given != graph_dtype(dtype):
                raise _error(
                    f"Variable {wish.name}: Initializer type {str(given)!r} and explicit dtype "
                    f"{graph_dtype(dtype).name!r} don't match; convert the value"
                )
            if wish.shape is not None:
                raise _error(f"Variable {wish.name}: If initializer is a constant, do not specify shape.")
        options = {name: option for name, option in wish.options.items() if name != "given_dtype"}
        made: Any = GraphVariable(value, name=wish.name, dtype=dtype, **options)
    if wish.regularizer is not None:
        with graph.entered(), graph.name_scope(f"{wish.name}/Regularizer/"):
            loss = wish.regularizer(made.value())
        if loss is not None:
            graph.add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)
    return made


def _called(initializer: Callable[..., Any], wish: Wish) -> Callable[[], Any]:
    """Returns a function of no arguments that gives the initial value."""
    sizes = sizes_of(wish.shape)
    if not _takes_arguments(initializer):
        if wish.shape is not None and sizes != ():
            known: Any = sizes

            def shaped() -> Any:
                found = initializer()
                if tuple(getattr(found, "shape", np.shape(found))) != tuple(known):
                    raise _error(f"Variable {wish.name}: shape {known} wanted, the initializer gives {found!r:.80}")
                return found

            return shaped
        return initializer
    if sizes is None or OPEN in sizes:
        raise _error(
            f"Shape of a new variable ({wish.name}) must be fully defined, but instead was "
            f"{'<unknown>' if sizes is None else wish.shape}; give a shape, or an initializer that is a value"
        )
    dtype = graph_dtype("float32" if wish.dtype is None else wish.dtype)
    return lambda: initializer(list(sizes), dtype=dtype)


def _takes_arguments(initializer: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(initializer).parameters.values()
    except (TypeError, ValueError):
        return True
    return any(item.kind is not inspect.Parameter.KEYWORD_ONLY for item in parameters)


def _default_initializer(wish: Wish) -> Any:
    dtype = graph_dtype("float32" if wish.dtype is None else wish.dtype)
    if dtype.kind in "fV" or dtype.name == "bfloat16":
        return glorot_uniform_initializer()
    if dtype.kind in "iubc":
        return lambda shape, dtype: FUNCTIONS["zeros"](tuple(shape), dtype=dtype)  # pyright: ignore
    raise _error(f"An initializer for variable {wish.name} of {dtype} is required")


def store_of(graph: Graph) -> VariableStore:
    """Returns the store of a graph."""
    return graph.parts.setdefault(VariableStore, VariableStore())


def _error(message: str) -> InvalidArgumentError:
    return at(InvalidArgumentError(message), user_location())
