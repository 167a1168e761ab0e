"""Layer: the base class of layers and of models."""

from __future__ import annotations

import inspect
import threading
from functools import cache
from typing import Any, ClassVar, cast

import numpy as np

from graphc.autograph import call
from graphc.base import at, user_location
from graphc.base.errors import InvalidTypeError, UnimplementedError
from graphc.core import CreationInTrace, Variable, context
from graphc.layers.module import Module
from graphc.ops import is_random_state

__all__ = ["Layer"]


class _Mode(threading.local):
    """Whether the call that is going on in this thread trains; layers inside it do as it does."""

    training = False


_mode = _Mode()


class Layer(Module):
    """A function with Variables. Derive from it to write layers and models.

    A subclass overrides :meth:`call`, and :meth:`build` if the sizes of its Variables depend on the input. Variables
    and layers are found in its attributes, and in lists, tuples and dicts there; nothing needs to be declared. In a
    compiled function ``call`` is converted like any code of the user's, so it may branch and loop over tensors.

    Args:
      name: for people, and the start of its Variables' names; that of the class when None.

    Attributes:
      built: whether :meth:`build` has run.

    Example:
      >>> import graphc as gx
      >>> class Scale(gx.layers.Layer):
      ...     def build(self, input_shape):
      ...         self.factor = gx.Variable(gx.ones(input_shape[-1]), name="factor")
      ...     def call(self, x):
      ...         return x * self.factor
      >>> scale = Scale()
      >>> scale([[1.0, 2.0]]).numpy()
      array([[1., 2.]], dtype=float32)
      >>> [variable.shape for variable in scale.trainable_variables]
      [(2,)]
    """

    __graphc_reads__: ClassVar[tuple[str, ...]]
    """What calls of just this class read of its attributes, where not all of them; compiled functions guard these."""

    __graphc_called__ = ("call",)
    """Methods that calls of a layer look up on the layer itself, where a function may have been put in place of one."""

    built = False

    def __init__(self, name: str | None = None) -> None:  # any text is a name here, and no scope is asked for
        self._name = name

    @property
    def name(self) -> str:
        """The name that was given, or the class's in lower case."""
        # Not made unique: it would tell apart models that are equal, so that they could not share compiled methods.
        return self._name or type(self).__name__.lower()

    def build(self, input_shape: Any) -> None:
        """Makes the Variables; the first call does this, unless it was done before. It runs eagerly, as Python.

        Args:
          input_shape: the shape of the first input; None if that is no tensor.
        """
        del input_shape

    def call(self, *inputs: Any, **options: Any) -> Any:
        """Computes the output; subclasses override it, with a parameter ``training`` if they want to know."""
        del inputs, options
        kind = type(self).__name__
        raise at(
            UnimplementedError(f"{kind} is a Layer without a call method; write {kind}.call(self, x)"), user_location()
        )

    def __call__(self, *inputs: Any, training: bool | None = None, **options: Any) -> Any:
        """Computes the output.

        Args:
          *inputs: what :meth:`call` takes; arrays and lists of numbers will do for tensors.
          training: whether this is for training; as the layer around this one when None, and False without one.
          **options: what else :meth:`call` takes.

        Raises:
          InvalidTypeError: ``training`` is no truth value of Python's.
        """
        outer = _mode.training
        if training is None:
            training = outer
        elif type(training) not in (bool, np.bool_):
            error = InvalidTypeError(
                f"layer {self.name!r}: training must be True or False, got {type(training).__name__} {training!r:.60}; "
                "it decides what is compiled, so it cannot be a tensor"
            )
            raise at(error, user_location())
        if not self.built:
            self._build_for(inputs)
        if _takes_training(type(self)):
            options["training"] = training
        _mode.training = bool(training)
        try:
            return call(self.call)(*inputs, **options)
        finally:
            _mode.training = outer

    def _build_for(self, inputs: tuple[Any, ...]) -> None:
        trace = context.trace
        if trace is not None and trace.root.may_create and type(self).build is not Layer.build:
            if any(map(is_random_state, trace.root.variables.values())):
                raise CreationInTrace  # build may draw, for which it is too late; it must not be begun twice
            with trace.making():
                self._build_for(inputs)
            return
        if context.creating is not None:
            context.creating.note_built(self)
        call(self.build)(_shape(inputs[0]) if inputs else None)
        self.built = True

    @property
    def variables(self) -> list[Variable]:
        """The Variables of the layer and of the layers in it, each once: in the order in which attributes were set."""
        return list(self.named_variables().values())

    @property
    def weights(self) -> list[Variable]:
        """The Variables, as Keras calls them."""
        return self.variables

    @property
    def trainable_weights(self) -> list[Variable]:
        """The Variables that are trained, as Keras calls them."""
        return self.trainable_variables

    @property
    def trainable_variables(self) -> list[Variable]:
        """The Variables that are trained."""
        return [variable for variable in self.variables if variable.trainable]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}>"


@cache
def _takes_training(kind: type[Layer]) -> bool:
    parameters = inspect.signature(kind.call).parameters.values()
    return any(parameter.name == "training" or parameter.kind is parameter.VAR_KEYWORD for parameter in parameters)


def _shape(value: Any) -> tuple[int, ...] | None:
    if isinstance(value, list | int | float):
        return np.shape(cast("Any", value))
    shape = getattr(value, "shape", None)
    return None if shape is None else tuple(shape)
