"""Module: an object that holds Variables and other modules."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, cast

from graphc.compiler.base.errors import InvalidArgumentError
from graphc.compiler.core import ArrayLike, Variable, name_scope
from graphc.compiler.ops import linalg, ones, permute_dims, random, reshape, sign, zeros
from graphc.library.nest import flatten
from graphc.library.states import Stateful

_WORDS = re.compile(r"((?<=[a-z0-9])[A-Z]|(?!^)[A-Z](?=[a-z]))")


class Module(Stateful):
    """An object that holds Variables and other modules (TensorFlow's Module). Derive from it.

    Variables and modules are found in the attributes, and in lists, tuples and dicts there, in the order of the
    attributes' names: first the module's own, then those of the modules in it.

    Args:
      name: a Python identifier; that of the class in snake case when None.

    Raises:
      InvalidArgumentError: ``name`` is none.

    Example:
      >>> import graphc as gx
      >>> class Linear(gx.layers.Module):
      ...     def __init__(self, size):
      ...         super().__init__()
      ...         with self.name_scope:
      ...             self.w = gx.Variable(gx.ones(size), name="w")
      ...             self.steps = gx.Variable(0, trainable=False, name="steps")
      ...     def __call__(self, x):
      ...         return gx.sum(x * self.w)
      >>> linear = Linear(3)
      >>> [variable.name for variable in linear.variables], len(linear.trainable_variables)
      (['linear/steps', 'linear/w'], 1)
    """

    _name: str | None = None
    _scope: str | None = None

    def __init__(self, name: str | None = None) -> None:
        own = _WORDS.sub(r"_\1", type(self).__name__).lower() if name is None else name
        if not (isinstance(own, str) and own.isidentifier()):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidArgumentError(f"Module: name must be a Python identifier, got {name!r:.60}").here()
        self._name = own
        with name_scope(own) as scope:
            self._scope = scope

    @property
    def name(self) -> str:
        """The name that was given, or the class's."""
        return self._name or type(self).__name__.lower()

    @property
    def name_scope(self) -> name_scope:
        """The scope of the module's own names, to be entered by ``with``."""
        return name_scope(f"{self.name}/" if self._scope is None else self._scope)

    @classmethod
    def with_name_scope(cls, method: Callable[..., Any]) -> Callable[..., Any]:
        """Decorates a method that is to run in :attr:`name_scope`."""

        @functools.wraps(method)
        def scoped(self: Module, *args: Any, **kwargs: Any) -> Any:
            with self.name_scope:
                return method(self, *args, **kwargs)

        return scoped

    @property
    def variables(self) -> Any:
        """The Variables of the module and of the modules in it, each once."""
        return tuple(leaf for leaf in _leaves(self, {id(self)}) if isinstance(leaf, Variable))

    @property
    def trainable_variables(self) -> Any:
        """The Variables that are trained."""
        return tuple(variable for variable in self.variables if variable.trainable)

    @property
    def non_trainable_variables(self) -> Any:
        """The Variables that are not trained."""
        return tuple(variable for variable in self.variables if not variable.trainable)

    def named_variables(self) -> dict[str, Variable]:
        """Returns the Variables by where they are found, such as ``encoder/dense/kernel``.

        The parts of a name are attributes, positions in lists and keys of dicts; the layers of a Sequential have their
        own names. So the names are the same in every run, whatever was made before. A Variable that is found twice has
        the name of the first place.

        Raises:
          InvalidArgumentError: two Variables have one name, by a key with a slash.
        """
        named: dict[str, Variable] = {}
        for path, variable in _named(self, "", set()):
            if path in named:
                raise InvalidArgumentError(f"{self.name}: two Variables are named {path!r}").here()
            named[path] = variable
        return named

    def _parts(self) -> Iterable[tuple[str, Any]]:
        """Returns what the module holds, by name."""
        return vars(self).items()

    @property
    def submodules(self) -> tuple[Module, ...]:
        """The modules in this one, and those in them."""
        return tuple(leaf for leaf in _leaves(self, {id(self)}) if isinstance(leaf, Module))


def _leaves(module: Module, seen: set[int]) -> Iterator[Any]:
    """Yields the Variables and modules in a module, its own first, each once."""
    inner: list[Module] = []
    for _, attribute in sorted(vars(module).items()):
        for leaf in flatten(attribute) if not isinstance(attribute, Variable) else [attribute]:
            if isinstance(leaf, Variable | Module) and id(leaf) not in seen:
                seen.add(id(leaf))
                yield leaf
                if isinstance(leaf, Module):
                    inner.append(leaf)
    for one in inner:
        yield from _leaves(one, seen)


def _named(value: Any, path: str, seen: set[int]) -> Iterator[tuple[str, Variable]]:
    """Yields the Variables in an object, each once, with where they are found."""
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, Variable):
        yield path, value
        return
    parts: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, Module):
        parts = value._parts()  # pyright: ignore[reportPrivateUsage]  a subclass says what it holds
    elif isinstance(value, Mapping):
        parts = cast("Mapping[Any, Any]", value).items()
    elif isinstance(value, list | tuple):
        parts = enumerate(cast("list[Any]", value))
    for name, part in parts:
        yield from _named(part, f"{path}/{name}" if path else str(name), seen)


# Initial values of weights.

Initializer = Callable[..., ArrayLike]
"""A function of shape and dtype."""


def glorot_uniform(shape: tuple[int, ...], dtype: Any) -> ArrayLike:
    """Uniform draws whose variance keeps that of activations and gradients alike (Glorot and Bengio, 2010)."""
    return _uniform(2.0 / max(sum(_fans(shape)), 1), shape, dtype)


def glorot_normal(shape: tuple[int, ...], dtype: Any) -> ArrayLike:
    """Normal draws of the same variance."""
    return _normal(2.0 / max(sum(_fans(shape)), 1), shape, dtype)


def he_uniform(shape: tuple[int, ...], dtype: Any) -> ArrayLike:
    """Uniform draws whose variance keeps that of activations through layers of ReLU (He and others, 2015)."""
    return _uniform(2.0 / max(_fans(shape)[0], 1), shape, dtype)


def he_normal(shape: tuple[int, ...], dtype: Any) -> ArrayLike:
    """Normal draws of the same variance."""
    return _normal(2.0 / max(_fans(shape)[0], 1), shape, dtype)


def lecun_uniform(shape: tuple[int, ...], dtype: Any) -> ArrayLike:
    """Uniform draws whose variance keeps that of activations through linear layers (LeCun and others, 1998)."""
    return _uniform(1.0 / max(_fans(shape)[0], 1), shape, dtype)


def lecun_normal(shape: tuple[int, ...], dtype: Any) -> ArrayLike:
    """Normal draws of the same variance."""
    return _normal(1.0 / max(_fans(shape)[0], 1), shape, dtype)


def uniform(shape: tuple[int, ...], dtype: Any) -> ArrayLike:
    """Uniform draws from -0.05 to 0.05."""
    return random.uniform(shape, dtype, -0.05, 0.05)


def normal(shape: tuple[int, ...], dtype: Any) -> ArrayLike:
    """Normal draws of standard deviation 0.05."""
    return random.normal(shape, dtype, scale=0.05)


def orthogonal(shape: tuple[int, ...], dtype: Any) -> ArrayLike:
    """A random matrix with orthonormal rows or columns (Saxe and others, 2014)."""
    rows, columns = math.prod(shape[:-1]), shape[-1]
    q, r = linalg.qr(random.normal((max(rows, columns), min(rows, columns)), dtype))
    q = q * sign(linalg.diagonal(r))  # else the matrix is not uniformly random
    return reshape(q if rows >= columns else permute_dims(q, (1, 0)), shape)


def _fans(shape: tuple[int, ...]) -> tuple[int, int]:
    """Returns the fan-in and fan-out of a matrix, or of a kernel ``(*space, in, out)``."""
    space = math.prod(shape[:-2])
    return space * shape[-2], space * shape[-1]


def _uniform(variance: float, shape: tuple[int, ...], dtype: Any) -> ArrayLike:
    limit = math.sqrt(3.0 * variance)
    return random.uniform(shape, dtype, -limit, limit)


def _normal(variance: float, shape: tuple[int, ...], dtype: Any) -> ArrayLike:
    return random.normal(shape, dtype, scale=math.sqrt(variance))


# Functions of the module, not closures: a layer that holds one can be pickled.
_INITIALIZERS: dict[str, Initializer] = {
    "glorot_normal": glorot_normal,
    "glorot_uniform": glorot_uniform,
    "he_normal": he_normal,
    "he_uniform": he_uniform,
    "lecun_normal": lecun_normal,
    "lecun_uniform": lecun_uniform,
    "normal": normal,
    "ones": ones,
    "orthogonal": orthogonal,
    "uniform": uniform,
    "zeros": zeros,
}


def initializer(name: str | Initializer, argument: str) -> Initializer:
    """Returns an initializer by name, or the function itself; ``argument`` is the user's argument, for the message."""
    if callable(name):
        return name
    function = _INITIALIZERS.get(name) if isinstance(name, str) else None  # pyright: ignore[reportUnnecessaryIsInstance]
    if function is None:
        raise InvalidArgumentError(
            f"{argument} must be a function of shape and dtype, or one of {', '.join(map(repr, _INITIALIZERS))}; got "
            f"{name!r:.60}"
        ).here()
    return function
