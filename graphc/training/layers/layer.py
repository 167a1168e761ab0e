"""Layer: the base class of layers and of models."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from graphc.compiler.autograph import call
from graphc.compiler.base import at, user_location
from graphc.compiler.base.errors import InvalidTypeError, UnimplementedError
from graphc.compiler.core import Variable, context, shorten
from graphc.compiler.ops import as_numbers, astype, is_random_state
from graphc.compiler.tracing import CreationInTrace, attribute, fixed, making_state, reads_here, root_trace
from graphc.training.layers.module import Module
from graphc.training.layers.policy import compute_dtype
from graphc.training.layers.summary import print_summary

if TYPE_CHECKING:
    from graphc.compiler.core import ArrayLike, Tensor

__all__ = ["Layer", "TensorLayer"]


# Of a Variable that would be trained if its layer were: false like False, and told apart by identity.
_FROZEN = cast("bool", 0)


class _Mode(threading.local):
    """The training flag of the call in progress in this thread, which layers inside it share.

    Attributes:
      training: whether it does.
      trace: the trace that the call belongs to; None for none.
    """

    training = False
    trace: Any = None


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
    """The attributes that calls of exactly this class read, if not all; compiled functions guard these."""

    __graphc_called__ = ("call",)
    """Methods that calls of a layer look up on the layer itself, where a function may have been put in place of one."""

    built = False

    _trainable = True
    _compute_dtype: np.dtype[Any] | None = None

    def __init__(self, name: str | None = None) -> None:  # any text is a name here, and no scope is asked for
        self._name = name
        if (dtype := compute_dtype()) is not None:
            self._compute_dtype = dtype

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
        outer, begun = _mode.training, _mode.trace
        trace = root_trace()
        if training is None:
            training = outer
            if trace is not None and begun is not trace:  # a compiled function in a layer does as that layer
                trace.reads.record(attribute(fixed(_mode, "the mode of the layers around"), "training"), outer)
        elif type(training) not in (bool, np.bool_):
            error = InvalidTypeError(
                f"layer {self.name!r}: training must be True or False, got {type(training).__name__} {training!r:.60}; "
                "it decides what is compiled, so it cannot be a tensor"
            )
            raise at(error, user_location())
        if not self.built:
            try:
                self._build_for(inputs)
            except Exception as error:
                shorten(error)
                raise
        if _takes_training(type(self)):
            options["training"] = training
        if self._compute_dtype is not None:
            inputs = tuple(self.cast(value) if hasattr(value, "dtype") else value for value in inputs)
        _mode.training, _mode.trace = bool(training), trace
        try:
            return call(self.call)(*inputs, **options)
        except Exception as error:
            shorten(error)
            raise
        finally:
            _mode.training, _mode.trace = outer, begun

    def _build_for(self, inputs: tuple[Any, ...]) -> None:
        trace = root_trace()
        if trace is not None and trace.may_create and type(self).build is not Layer.build:
            if any(map(is_random_state, trace.variables.values())):
                raise CreationInTrace  # build may draw, for which it is too late; it must not be begun twice
            with making_state():
                self._build_for(inputs)
            return
        if context.creating is not None:
            context.creating.note_built(self)
        call(self.build)(_shape(inputs[0]) if inputs else None)
        self.built = True
        if not self._trainable:
            self.trainable = False  # also what was made now

    @property
    def compute_dtype(self) -> np.dtype[Any] | None:
        """The dtype that the layer computes in, see :func:`mixed_precision`; None for that of inputs and Variables."""
        return self._compute_dtype

    def cast(self, value: Any) -> Any:
        """Converts a tensor or Variable of a floating dtype to the one that the layer computes in.

        Args:
          value: a tensor; of another kind of dtype, or in a layer without such a dtype, it is returned as it is.
        """
        if self._compute_dtype is None:
            return value
        tensor = as_numbers(value)
        floating = tensor.type.is_inexact and tensor.dtype.kind != "c"
        return astype(tensor, self._compute_dtype) if floating else tensor

    @property
    def trainable(self) -> bool:
        """True if the layer's Variables are trained. Setting it sets it for the layers inside too.

        A frozen layer has no ``trainable_variables``, and tapes do not watch its Variables. Those that were made with
        ``trainable=False`` stay as they are whatever is set.

        Raises:
          InvalidTypeError: it is set to no truth value of Python's.

        Example:
          >>> import graphc as gx
          >>> layer = gx.layers.Dense(2, in_features=3)
          >>> layer.trainable = False
          >>> layer.trainable_variables
          []
        """
        reads = reads_here()
        if reads is not None and (source := reads.source(self)) is not None:
            reads.record(attribute(source, "_trainable"), self._trainable)
        return self._trainable

    @trainable.setter
    def trainable(self, value: bool) -> None:
        if type(value) is not bool:
            error = InvalidTypeError(f"layer {self.name!r}: trainable must be True or False, got {value!r:.60}")
            raise at(error, user_location())
        for layer in (self, *self.submodules):
            if isinstance(layer, Layer):
                layer._trainable = value
        for variable in self.variables:
            if value and variable.trainable is _FROZEN:
                variable.trainable = True
            elif not value and variable.trainable:
                variable.trainable = _FROZEN

    def summary(self, input_shape: Sequence[int] | None = None) -> None:
        """Prints the layers inside, with the numbers of their parameters.

        Args:
          input_shape: of an example of the input, without the batch: the layers are built for it and called, and the
            shapes of what they give are printed; None for what is known.

        Example:
          >>> import graphc as gx
          >>> gx.layers.Sequential([gx.layers.Dense(8), gx.layers.Dense(1)]).summary((4,))
          Sequential 'sequential'
          ...
        """
        print_summary(self, input_shape)

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


class TensorLayer(Layer):
    """A layer that gives one tensor, as type checkers are to know."""

    if TYPE_CHECKING:

        def __call__(self, *inputs: ArrayLike, training: bool | None = None, **options: Any) -> Tensor:
            """Computes the output; see :meth:`Layer.__call__`."""
            ...
