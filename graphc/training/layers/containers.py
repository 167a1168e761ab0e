"""Layers made of layers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, NoReturn

from graphc.compiler.autograph import call
from graphc.compiler.base import UniqueNames, at, user_location
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError
from graphc.training.layers.layer import TensorLayer
from graphc.training.layers.module import Module

__all__ = ["Sequential"]


class _Elsewhere:
    """A method of Keras models that graphc has as functions: using it raises an AttributeError that names them."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type) -> NoReturn:
        raise AttributeError(
            f"{owner.__name__!r} object has no attribute {self.name!r}; gx.train.fit(step, dataset) trains, by a step "
            "that calls optimizer.minimize, and a call of the model predicts"
        )


class Sequential(TensorLayer):
    """Layers one after the other.

    Args:
      layers: layers, or any functions of one tensor such as ``gx.nn.relu``; None for none yet, see :meth:`add`.
      name: for people.

    Attributes:
      layers: the layers, as a list that may be changed.

    Raises:
      InvalidTypeError: something in ``layers`` cannot be called.

    Example:
      >>> import graphc as gx
      >>> model = gx.layers.Sequential([gx.layers.Dense(8, "relu"), gx.layers.Dropout(0.5), gx.layers.Dense(3)])
      >>> model(gx.zeros((2, 4)), training=True).shape
      (2, 3)
      >>> len(model.trainable_variables)
      4
    """

    __graphc_reads__ = ("layers", "built", "_compute_dtype")
    if not TYPE_CHECKING:  # a subclass may have its own
        compile, fit, evaluate, predict = _Elsewhere(), _Elsewhere(), _Elsewhere(), _Elsewhere()

    def __init__(self, layers: Iterable[Callable[..., Any]] | None = None, name: str | None = None) -> None:
        super().__init__(name)
        self.layers: list[Callable[..., Any]] = []
        for layer in layers or ():
            self.add(layer)

    def add(self, layer: Callable[..., Any]) -> None:
        """Puts a layer behind the others.

        Args:
          layer: a layer, or a function of one tensor.

        Raises:
          InvalidTypeError: it cannot be called.

        Example:
          >>> import graphc as gx
          >>> model = gx.layers.Sequential()
          >>> model.add(gx.layers.Dense(3))
          >>> model(gx.zeros((2, 4))).shape
          (2, 3)
        """
        self.layers.append(_checked(layer, len(self.layers)))

    def pop(self) -> Callable[..., Any]:
        """Takes the last layer away.

        Returns:
          The layer.

        Raises:
          InvalidArgumentError: there is none.
        """
        if not self.layers:
            raise at(InvalidArgumentError(f"{self.name}: pop() of a Sequential without layers"), user_location())
        return self.layers.pop()

    def _parts(self) -> Iterator[tuple[str, Any]]:
        names = UniqueNames()
        for layer in self.layers:
            if isinstance(layer, Module):
                yield names(layer.name), layer
        yield from ((names(name), part) for name, part in super()._parts() if name != "layers")

    def __repr__(self) -> str:
        names = UniqueNames()  # as in the summary
        layers = ", ".join(
            f"{type(layer).__name__} {names(layer.name)!r}" if isinstance(layer, Module) else _name(layer)
            for layer in self.layers
        )
        return f"<Sequential {self.name!r}: {layers}>"

    def call(self, x: Any) -> Any:
        """Computes the output of the last layer."""
        for layer in self.layers:
            x = call(layer)(x)
        return x


def _checked(layer: Any, position: int) -> Callable[..., Any]:
    if not callable(layer) or isinstance(layer, type):
        error = InvalidTypeError(
            f"Sequential: layers[{position}] must be a layer or a function of one tensor, got {layer!r:.60}"
        )
        raise at(error, user_location())
    return layer


def _name(function: Any) -> str:
    return str(getattr(function, "__name__", type(function).__name__))
