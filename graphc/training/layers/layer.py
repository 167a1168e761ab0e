"""Layer: the base class of layers and of models."""

from __future__ import annotations

import inspect
import math
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from graphc.compiler.autograph import call
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError, UnimplementedError
from graphc.compiler.core import Variable, as_dtype, context, shorten
from graphc.compiler.ops import as_numbers, astype, is_random_state, nn, zeros
from graphc.compiler.tracing import CreationInTrace, attribute, fixed, making_state, reads_here, root_trace
from graphc.training.layers.module import Module

if TYPE_CHECKING:
    from graphc.compiler.core import ArrayLike, Tensor

# Mixed precision: layers that compute in a dtype of half precision, with parameters and reductions in float32.


class _Policy(threading.local):
    """The dtype that layers made in this thread compute in; None for that of their inputs and Variables."""

    dtype: np.dtype[Any] | None = None


_policy = _Policy()


def compute_dtype() -> np.dtype[Any] | None:
    """Returns the dtype that a layer made now computes in; None for that of its inputs and Variables."""
    return _policy.dtype


@contextmanager
def mixed_precision(dtype: Any = "bfloat16") -> Generator[None]:
    """Opens a scope for making layers that compute in a dtype of half precision (Micikevicius and others, 2018).

    Their Variables stay float32, and so do gradients, optimizers and sums: matrix products and convolutions add up in
    float32, normalisations and losses convert what they are given. Inputs of floating dtypes are converted when such a
    layer is called; a layer of your own converts its Variables with :meth:`graphc.layers.Layer.cast`. For float16,
    whose small gradients vanish, give the optimizer ``loss_scale="dynamic"``.

    Args:
      dtype: ``"bfloat16"`` or ``"float16"``; ``"float32"`` or None to end the policy of a scope around.

    Raises:
      InvalidArgumentError: another dtype.

    Example:
      >>> import graphc as gx
      >>> with gx.layers.mixed_precision("bfloat16"):
      ...     layer = gx.layers.Dense(2, in_features=3)
      >>> layer(gx.ones((1, 3))).dtype.name, layer.kernel.dtype.name
      ('bfloat16', 'float32')
    """
    compute = None if dtype is None else as_dtype(dtype)
    if compute is not None and compute.name not in ("bfloat16", "float16", "float32"):
        raise InvalidArgumentError(
            f"mixed_precision: the dtype must be 'bfloat16' or 'float16', got {dtype!r:.40}"
        ).here()
    before, _policy.dtype = _policy.dtype, compute if compute is not None and compute.itemsize == 2 else None
    try:
        yield
    finally:
        _policy.dtype = before


# The table of a model's layers.


def print_summary(model: Any, input_shape: Sequence[int] | None = None) -> None:
    """Prints the layers of a model, with the numbers of their parameters and, for an input's shape, their outputs'."""
    from rich.console import Console
    from rich.table import Table

    outputs = {} if input_shape is None else _output_shapes(model, zeros((1, *input_shape)))
    table = Table("layer", "kind", *(["output"] if outputs else []))  # only a call for a shape tells them
    table.add_column("parameters", justify="right")
    for name, part in model._parts():
        if isinstance(part, Module):
            count = "not built" if not getattr(part, "built", True) else f"{_count(part.variables):,}"
            table.add_row(name, type(part).__name__, *([outputs.get(id(part), "")] if outputs else []), count)
    total, trained = _count(model.variables), _count(model.trainable_variables)
    console = Console()
    console.print(f"{type(model).__name__} {model.name!r}", highlight=False)
    console.print(table)
    console.print(f"{total:,} parameters, {trained:,} of them trained", highlight=False)


def _output_shapes(model: Any, value: Any) -> dict[int, str]:
    """The shape that each layer gives, by calling them; of other models than a Sequential only the call itself."""
    if not hasattr(model, "layers"):
        model(value)
        return {}
    shapes: dict[int, str] = {}
    for layer in cast("list[Any]", model.layers):
        value = layer(value)
        shapes[id(layer)] = f"({', '.join(['batch', *map(str, value.shape[1:])])})"
    return shapes


def _count(variables: Sequence[Any]) -> int:
    return sum(math.prod(variable.shape) for variable in variables)


# Of a Variable that would be trained if its layer were: false like False, and told apart by identity.
_FROZEN = cast("bool", 0)


class _Mode(threading.local):
    """The training flag of the call in progress in this thread, which layers inside it share."""

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
        raise UnimplementedError(f"{kind} is a Layer without a call method; write {kind}.call(self, x)").here()

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
            raise InvalidTypeError(
                f"layer {self.name!r}: training must be True or False, got {type(training).__name__} {training!r:.60}; "
                "it decides what is compiled, so it cannot be a tensor"
            ).here()
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
            raise InvalidTypeError(f"layer {self.name!r}: trainable must be True or False, got {value!r:.60}").here()
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


# Argument checks of layers.

ActivationLike = Callable[[Any], Any]


def size(what: str, value: Any, least: int = 1) -> int:
    """Returns a size as an int, such as one of NumPy's."""
    if isinstance(value, bool) or not hasattr(value, "__index__") or value.__index__() < least:
        raise InvalidArgumentError(f"{what} must be an int of at least {least}, got {value!r:.60}").here()
    return value.__index__()


def sizes(what: str, value: Any, count: int) -> tuple[int, ...]:
    """Returns one size for each axis of space, from one for all or one for each."""
    if not isinstance(value, Sequence):
        return (size(what, value),) * count
    values = cast("Sequence[Any]", value)
    if len(values) != count:
        raise InvalidArgumentError(f"{what} must be an int, or one for each of {count} axes, got {value!r:.60}").here()
    return tuple(size(what, one) for one in values)


def padding_of(layer: str, value: Any) -> str:
    """Returns a padding by Keras's name, as ``gx.nn`` has it."""
    if not isinstance(value, str) or value.lower() not in ("valid", "same"):
        raise InvalidArgumentError(f"{layer}: padding must be 'valid' or 'same', got {value!r:.60}").here()
    return value.upper()


def activation_of(layer: str, requested: Any) -> ActivationLike | None:
    """Returns an activation by name, or the function itself; None for none."""
    if requested is None or callable(requested):
        return requested
    if isinstance(requested, str):
        if requested in nn.__all__:
            return getattr(nn, requested)
        error = InvalidArgumentError(
            f"{layer}: there is no activation {requested!r}; any function of one tensor will do, and these names: "
            f"{', '.join(nn.__all__)}"
        )
    else:
        error = InvalidTypeError(f"{layer}: activation must be a function, a name or None, got {requested!r:.60}")
    raise error.here()
