"""Scopes of Variables: names, sharing and defaults for ``get_variable``, as TensorFlow 1 has them."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, Final, Literal

import numpy as np

from graphc.compiler.base.errors import GraphcError, InvalidArgumentError, InvalidTypeError, UnimplementedError
from graphc.compiler.core import FUNCTIONS
from graphc.compiler.ir import OPEN, TensorType, compatible_shapes
from graphc.graphs.refusals import user_error
from graphc.graphs.session.graphs.graph import Graph, default_graph
from graphc.graphs.session.graphs.naming import GraphKeys
from graphc.graphs.session.graphs.placeholders import graph_dtype
from graphc.graphs.session.graphs.tensor import sizes_of
from graphc.graphs.session.variables.initializers import glorot_uniform_initializer
from graphc.graphs.session.variables.variable import GraphVariable

# The Variables that ``get_variable`` has made, by name: those that scopes share.


class _Auto(Enum):
    AUTO_REUSE = 1

    def __repr__(self) -> str:
        return "AUTO_REUSE"


AUTO_REUSE: Final = _Auto.AUTO_REUSE
"""The way of a scope that makes Variables that are not there, and gives those that are."""

Reuse = bool | Literal[_Auto.AUTO_REUSE] | None


@dataclass(frozen=True, kw_only=True)
class Wish:
    """The arguments of a call of ``get_variable``."""

    name: str
    shape: Any
    dtype: Any
    initializer: Any  # a value, or a function of shape and dtype or of nothing; None for the default initializer
    regularizer: Callable[[Any], Any] | None
    reuse: Reuse
    options: dict[str, Any] = field(default_factory=dict[str, Any])  # further arguments for the Variable


class VariableStore:
    """The Variables of a graph that ``get_variable`` has made, and how often each scope was opened."""

    def __init__(self) -> None:
        self.variables: dict[str, GraphVariable] = {}
        self.opened: dict[str, int] = {}

    def get(self, graph: Graph, wish: Wish) -> GraphVariable:
        """Returns the Variable that is asked for; makes it if that is what is wanted."""
        variable = self.variables.get(wish.name)
        if variable is not None:
            return self._shared(variable, wish)
        if wish.reuse is True:
            raise user_error(
                f"Variable {wish.name} does not exist, or was not created with get_variable(); use reuse=AUTO_REUSE in "
                "the scope to make it when it is first asked for"
            )
        variable = self.variables[wish.name] = _made(graph, wish)
        return variable

    def _shared(self, variable: GraphVariable, wish: Wish) -> GraphVariable:
        if not wish.reuse:
            raise user_error(
                f"Variable {wish.name} already exists, disallowed; use reuse=True or reuse=AUTO_REUSE in the scope to "
                f"share it. It was made at {variable.made_at}"
            )
        sizes = sizes_of(wish.shape)
        requested = TensorType(sizes or (), variable.type.dtype, ranked=sizes is not None)
        if not compatible_shapes(requested, variable.type):
            raise user_error(
                f"Trying to share variable {wish.name}, but specified shape {tuple(sizes or ())} and found shape "
                f"{variable.shape}. It was made at {variable.made_at}"
            )
        if wish.dtype is not None and graph_dtype(wish.dtype) != variable.type.dtype:
            raise user_error(
                f"Trying to share variable {wish.name}, but specified dtype {graph_dtype(wish.dtype).name} and found "
                f"dtype {variable.type.dtype.name}. It was made at {variable.made_at}"
            )
        return variable

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
            actual = getattr(value, "dtype", None)
            if dtype is not None and actual is not None and actual != graph_dtype(dtype):
                raise user_error(
                    f"Variable {wish.name}: Initializer type {str(actual)!r} and explicit dtype "
                    f"{graph_dtype(dtype).name!r} don't match; convert the value"
                )
            if wish.shape is not None:
                raise user_error(f"Variable {wish.name}: If initializer is a constant, do not specify shape.")
        options = {name: option for name, option in wish.options.items() if name != "given_dtype"}
        variable: Any = GraphVariable(value, name=wish.name, dtype=dtype, **options)
    if wish.regularizer is not None:
        with graph.entered(), graph.name_scope(f"{wish.name}/Regularizer/"):
            loss = wish.regularizer(variable.value())
        if loss is not None:
            graph.add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)
    return variable


def _called(initializer: Callable[..., Any], wish: Wish) -> Callable[[], Any]:
    """Returns a function of no arguments that gives the initial value."""
    sizes = sizes_of(wish.shape)
    if not _takes_arguments(initializer):
        if wish.shape is not None and sizes != ():
            expected: Any = sizes

            def shaped() -> Any:
                initial = initializer()
                if tuple(getattr(initial, "shape", np.shape(initial))) != tuple(expected):
                    raise user_error(
                        f"Variable {wish.name}: shape {expected} wanted, the initializer gives {initial!r:.80}"
                    )
                return initial

            return shaped
        return initializer
    if sizes is None or OPEN in sizes:
        raise user_error(
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
    raise user_error(f"An initializer for variable {wish.name} of {dtype} is required")


def store_of(graph: Graph) -> VariableStore:
    """Returns the store of a graph."""
    return graph.parts.setdefault(VariableStore, VariableStore())


def no_regularizer(_: Any) -> None:
    """Stands for no regularizer at all, where the scope around has one."""


@dataclass(eq=False)
class VariableScope:
    """A variable scope: the settings that ``get_variable`` uses inside it.

    Attributes:
      reuse: True to require that Variables exist, False to require that they do not, ``AUTO_REUSE`` for either.
      name: the prefix of their names.
      initializer: the initializer of new Variables.
      regularizer: a function from a Variable to a loss, which is added to a collection.
      dtype: the dtype of new Variables.
      original_name_scope: the name scope that was opened together with this scope.
      caching_device: ignored.
      partitioner: ignored.
      use_resource: ignored.
      constraint: a function that optimizers apply to the values after each update.
    """

    reuse: Reuse
    name: str = ""
    initializer: Any = None
    regularizer: Any = None
    caching_device: Any = None
    partitioner: Any = None
    original_name_scope: str = ""
    dtype: Any = "float32"
    use_resource: Any = None
    constraint: Any = None

    def reuse_variables(self) -> None:
        """Makes the scope share existing Variables from now on."""
        self.reuse = True

    def get_collection(self, name: str) -> list[Any]:
        """Returns what a collection has whose name begins with that of the scope."""
        return default_graph().get_collection(name, f"{self.name}/" if self.name else None)

    def global_variables(self) -> list[Any]:
        """Returns the global Variables of the scope."""
        return self.get_collection(GraphKeys.GLOBAL_VARIABLES)

    def local_variables(self) -> list[Any]:
        """Returns the local Variables of the scope."""
        return self.get_collection(GraphKeys.LOCAL_VARIABLES)

    def trainable_variables(self) -> list[Any]:
        """Returns the Variables of the scope that optimizers change."""
        return self.get_collection(GraphKeys.TRAINABLE_VARIABLES)

    def get_variable(self, name: str, shape: Any = None, dtype: Any = None, **options: Any) -> Any:
        """Returns a Variable of the scope; see :func:`get_variable`."""
        return _found(self, f"{self.name}/{name}" if self.name else name, shape=shape, dtype=dtype, **options)


class _Scopes(threading.local):
    """The scope of a graph that is open in this thread."""

    def __init__(self) -> None:
        self.open = VariableScope(False)


def _scopes(graph: Graph) -> _Scopes:
    return graph.parts.setdefault(_Scopes, _Scopes())


def get_variable_scope() -> VariableScope:
    """Returns the scope that is open in the default graph."""
    return _scopes(default_graph()).open


def scoped_name(name: str) -> str:
    """Returns a name in the scope of Variables that is open."""
    scope = get_variable_scope().name
    return f"{scope}/{name}" if scope else name


def get_variable(
    name: str, shape: Any = None, dtype: Any = None, initializer: Any = None, regularizer: Any = None,
    trainable: bool | None = None, collections: Sequence[str] | None = None, caching_device: Any = None,
    partitioner: Any = None, validate_shape: bool = True, use_resource: bool | None = None, custom_getter: Any = None,
    constraint: Any = None, synchronization: Any = None, aggregation: Any = None,
) -> Any:  # fmt: skip
    """Returns the Variable of a name in the scope that is open; makes it where the scope does not share.

    Args:
      name: its name in the scope.
      shape: the shape of a new one; it is checked where there is one.
      dtype: the dtype of a new one; float32 if None.
      initializer: the initializer of a new Variable: a value, or a function of shape and dtype; Glorot uniform if None.
      regularizer: a function from the value to a loss, which goes to the collection of regularization losses.
      trainable: whether optimizers change it; True if None.
      collections: the collections that it goes to; those of global Variables if None.
      caching_device: ignored.
      partitioner: refused: Variables are not cut.
      validate_shape: whether the shape stays.
      use_resource: ignored.
      custom_getter: refused.
      constraint: a function that optimizers apply to the value after each update.
      synchronization: ignored.
      aggregation: ignored.

    Raises:
      InvalidArgumentError: it is there and the scope does not share it, or the other way round; or it has another
        shape or dtype.
      UnimplementedError: a partitioner or a custom getter is given.

    Example:
      >>> import graphc as gx
      >>> with gx.Graph().as_default():
      ...     with gx.variable_scope("layer"):
      ...         w = gx.get_variable("w", [2, 3])
      ...     with gx.variable_scope("layer", reuse=True):
      ...         gx.get_variable("w") is w
      True
    """
    del caching_device, use_resource, synchronization, aggregation
    _check_plain(partitioner, custom_getter)
    options: dict[str, Any] = {
        "initializer": initializer, "regularizer": regularizer, "trainable": trainable, "collections": collections,
        "validate_shape": validate_shape, "constraint": constraint,
    }  # fmt: skip
    return get_variable_scope().get_variable(name, shape, dtype, **options)


def get_local_variable(name: str, shape: Any = None, dtype: Any = None, **options: Any) -> Any:
    """Returns a Variable that is local to the process and that no optimizer changes; see :func:`get_variable`."""
    requested: list[str] = list(options.pop("collections", None) or [])
    collections = [*requested, GraphKeys.LOCAL_VARIABLES]
    options.pop("trainable", None)
    return get_variable(name, shape, dtype, trainable=False, collections=collections, **options)


def _found(scope: VariableScope, name: str, **settings: Any) -> GraphVariable:
    """Returns the Variable of a whole name, as the scope says what it is made of."""
    dtype, regularizer = settings.pop("dtype", None), settings.pop("regularizer", None) or scope.regularizer
    shape, initializer = settings.pop("shape", None), settings.pop("initializer", None)
    reuse = settings.pop("reuse", None)
    graph = default_graph()
    constraint = settings.pop("constraint", None) or scope.constraint
    wish = Wish(
        name=name, shape=shape, dtype=dtype if dtype is not None else scope.dtype,
        initializer=scope.initializer if initializer is None else initializer,
        regularizer=None if regularizer is no_regularizer else regularizer,
        reuse=scope.reuse if reuse is None else reuse,
        options={**settings, "constraint": constraint, "given_dtype": dtype is not None},
    )  # fmt: skip
    if dtype is None and wish.initializer is not None and not callable(wish.initializer):
        wish = replace(wish, dtype=None)
    return store_of(graph).get(graph, wish)


def _check_plain(partitioner: Any, custom_getter: Any) -> None:
    problem = None
    if partitioner is not None:
        problem = "a partitioner: Variables are not cut into parts; pin them by gx.device instead"
    elif custom_getter is not None:
        problem = "a custom_getter: call your own function, which calls get_variable"
    if problem is not None:
        raise user_error(problem, UnimplementedError)


@contextmanager
def variable_scope(
    name_or_scope: str | VariableScope | None, default_name: str | None = None, values: Any = None,
    initializer: Any = None, regularizer: Any = None, caching_device: Any = None, partitioner: Any = None,
    custom_getter: Any = None, reuse: Reuse = None, dtype: Any = None, use_resource: bool | None = None,
    constraint: Any = None, auxiliary_name_scope: bool = True,
) -> Generator[VariableScope]:  # fmt: skip
    """Opens a scope for ``get_variable``, and one of the same name for operations.

    Args:
      name_or_scope: a name inside the scope that is open, or a scope that was open before, which is entered again.
      default_name: the name where ``name_or_scope`` is None, made unique by a number.
      values: ignored: the default graph is used.
      initializer: the default initializer of Variables.
      regularizer: likewise.
      caching_device: ignored.
      partitioner: refused.
      custom_getter: refused.
      reuse: whether Variables are there (True), or may be (``AUTO_REUSE``); None for what the scope around says.
      dtype: the default dtype of Variables.
      use_resource: ignored.
      constraint: the default constraint of Variables.
      auxiliary_name_scope: whether the scope for operations is opened too.

    Raises:
      InvalidTypeError: the name is none.
      InvalidArgumentError: there is neither name nor default name, or a default name is to be shared.
    """
    del values, caching_device, use_resource
    _check_plain(partitioner, custom_getter)
    graph, outer = default_graph(), get_variable_scope()
    store = store_of(graph)
    _check_scope(name_or_scope, default_name, reuse)
    changes = {
        "initializer": initializer, "regularizer": regularizer, "dtype": dtype, "constraint": constraint,
    }  # fmt: skip
    with ExitStack() as stack:
        stack.enter_context(graph.entered())
        last = _last_name(name_or_scope, default_name)
        named = ""
        if auxiliary_name_scope and last:
            named = stack.enter_context(graph.name_scope(last))
        else:
            named = graph.trace.builder.scope
        scope = _inner(store, outer, name_or_scope, default_name, reuse)
        if not isinstance(name_or_scope, VariableScope):
            scope.original_name_scope = named
        for name, value in changes.items():
            if value is not None:
                setattr(scope, name, value)
        counts = dict(store.opened)
        store.enter(scope.name)
        _scopes(graph).open = scope
        try:
            yield scope
        finally:
            _scopes(graph).open = outer
            store.leave(scope.name)
            if isinstance(name_or_scope, VariableScope):
                store.opened = counts


def _last_name(name_or_scope: str | VariableScope | None, default_name: str | None) -> str:
    if isinstance(name_or_scope, VariableScope):
        return name_or_scope.name.rpartition("/")[2]
    return (name_or_scope if name_or_scope is not None else default_name) or ""


def _check_scope(name_or_scope: Any, default_name: str | None, reuse: Reuse) -> None:
    error: GraphcError | None = None
    if name_or_scope is None and default_name is None:
        error = InvalidArgumentError("variable_scope: if default_name is None then name_or_scope is required")
    elif name_or_scope is None and reuse:
        error = InvalidArgumentError("variable_scope: reuse=True cannot be used without a name_or_scope")
    elif name_or_scope is not None and not isinstance(name_or_scope, str | VariableScope):
        error = InvalidTypeError(f"variable_scope: expected a name or a VariableScope, got {name_or_scope!r:.60}")
    if error is not None:
        raise error.here()


def _inner(
    store: VariableStore, outer: VariableScope, target: str | VariableScope | None, default_name: str | None,
    reuse: Reuse,
) -> VariableScope:  # fmt: skip
    """Returns the scope that is opened, without what its arguments say but for its name and sharing."""
    if isinstance(target, VariableScope):
        return replace(target, reuse=reuse or target.reuse)
    name = store.free_name(outer.name, default_name or "") if target is None else target
    whole = f"{outer.name}/{name}" if outer.name and name else outer.name or name
    return replace(outer, name=whole, reuse=reuse or outer.reuse)
