"""Layers of one tensor: Dense, Dropout, and those that change shapes or look strings up."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any, NoReturn, cast

from graphc.compiler.autograph import call
from graphc.compiler.base import UniqueNames
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError
from graphc.compiler.core import ArrayLike, Variable, as_dtype
from graphc.compiler.ops import as_numbers, asarray, matmul, random, reshape, strings, take, where, zeros
from graphc.training.layers.layer import ActivationLike, TensorLayer, activation_of, size
from graphc.training.layers.module import Initializer, Module, initializer

# Dense: the fully connected layer.


class Dense(TensorLayer):
    """``activation(x @ kernel + bias)``.

    Args:
      units: the size of the output's last axis.
      activation: a function of one tensor, the name of one in ``gx.nn``, or None.
      use_bias: whether a bias is added.
      kernel_initializer: what the kernel starts with: ``"glorot_uniform"``, ``"glorot_normal"``, ``"he_uniform"``,
        ``"he_normal"``, ``"lecun_uniform"``, ``"lecun_normal"``, ``"zeros"``, ``"ones"``, or a function of shape and
        dtype. The draws are those of ``gx.random``. The bias starts at zero.
      name: for people.
      in_features: the size of the input's last axis; when it is given the Variables are made at once, else at the first
        call.
      dtype: the dtype of the Variables.

    Attributes:
      kernel: the Variable ``[in_features, units]``; None before the first call.
      bias: the Variable ``[units]``; None before the first call, or without bias.

    Raises:
      InvalidArgumentError: a size that is none, or an unknown activation or initializer.

    Example:
      >>> import graphc as gx
      >>> layer = gx.layers.Dense(2, "relu", kernel_initializer="ones")
      >>> layer([[1.0, 2.0, 3.0]]).numpy()
      array([[6., 6.]], dtype=float32)
      >>> layer.kernel.shape
      (3, 2)
    """

    __graphc_reads__ = ("kernel", "bias", "_activation", "built", "_compute_dtype")

    def __init__(
        self,
        units: int,
        activation: str | ActivationLike | None = None,
        use_bias: bool = True,
        kernel_initializer: str | Initializer = "glorot_uniform",
        name: str | None = None,
        in_features: int | None = None,
        *,
        dtype: Any = "float32",
    ) -> None:
        super().__init__(name)
        self.units = size("Dense: units", units)
        self.use_bias = use_bias
        self.dtype = as_dtype(dtype)
        self.kernel: Variable | None = None
        self.bias: Variable | None = None
        self._activation = activation_of("Dense", activation)
        self._kernel_initializer = initializer(kernel_initializer, "Dense: kernel_initializer")
        if in_features is not None:
            self.build((size("Dense: in_features", in_features),))

    def build(self, input_shape: Any) -> None:
        """Makes kernel and bias.

        Args:
          input_shape: the last size is the number of the input's features.

        Raises:
          InvalidArgumentError: there is no last size.
        """
        if not input_shape:
            raise InvalidArgumentError(
                f"layer {self.name!r} takes a tensor of at least one axis, the last for the features; its shape is "
                f"{input_shape}"
            ).here()
        shape = (size("Dense: the last size of the input", input_shape[-1]), self.units)
        # By a function, so that under a trace Variable can refuse before anything random is drawn.
        kernel = Variable(
            lambda: self._kernel_initializer(shape, self.dtype), name=f"{self.name}/kernel", dtype=self.dtype
        )
        if kernel.shape != shape:
            raise InvalidArgumentError(
                f"layer {self.name!r}: kernel_initializer gave a kernel of shape {kernel.shape}, shape {shape} was "
                "asked for"
            ).here()
        if self.use_bias:
            self.bias = Variable(lambda: zeros(self.units, self.dtype), name=f"{self.name}/bias")
        self.kernel = kernel
        self.built = True

    def call(self, x: ArrayLike) -> Any:
        """Computes the output, of the input's shape with the last size ``units``.

        Raises:
          InvalidArgumentError: the input's last size is not that of the kernel.
        """
        value = self.cast(as_numbers(x))
        if self.kernel is None or value.shape[-1:] != self.kernel.shape[:1]:
            expected = "?" if self.kernel is None else self.kernel.shape[0]
            raise InvalidArgumentError(
                f"layer {self.name!r} takes tensors of shape (..., {expected}), got shape {value.shape}; a layer's "
                "sizes are fixed by its first call, so make another layer for another size"
            ).here()
        result = matmul(value, self.cast(self.kernel))
        if self.bias is not None:
            result = result + self.cast(self.bias)
        return result if self._activation is None else call(self._activation)(result)


# Dropout.


class Dropout(TensorLayer):
    """Sets numbers to zero at random while training, and scales up the others, so that the mean stays.

    The draws are those of ``gx.random``: fresh at each call, compiled or not, and repeatable by its seed. From
    Srivastava and others, 2014.

    Args:
      rate: the probability of zero: 0 <= rate < 1.
      name: for people.

    Raises:
      InvalidArgumentError: ``rate`` is none.

    Example:
      >>> import graphc as gx
      >>> dropout = gx.layers.Dropout(0.5)
      >>> dropout([1.0, 2.0]).numpy()
      array([1., 2.], dtype=float32)
      >>> sorted({*dropout(gx.ones(100), training=True).tolist()})
      [0.0, 2.0]
    """

    __graphc_reads__ = ("rate", "built", "_compute_dtype")

    def __init__(self, rate: float, name: str | None = None) -> None:
        super().__init__(name)
        if not (isinstance(rate, Real) and 0 <= rate < 1):
            raise InvalidArgumentError(f"Dropout: rate must be a number with 0 <= rate < 1, got {rate!r:.60}").here()
        self.rate = float(rate)

    def call(self, x: ArrayLike, training: bool = False) -> Any:
        """Returns the tensor as it is, or with numbers dropped if ``training``."""
        value = as_numbers(x)
        if not training or not self.rate:
            return value
        keep = 1.0 - self.rate
        return where(random.bernoulli(keep, value.shape), value / keep, 0)


# Layers without Variables that change shapes or numbers: Activation, Flatten, Reshape; and Embedding.


class Activation(TensorLayer):
    """A function of one tensor as a layer.

    Args:
      activation: the function, or the name of one in ``gx.nn``.
      name: for people.

    Raises:
      InvalidArgumentError: an unknown name.
      InvalidTypeError: it is neither.

    Example:
      >>> import graphc as gx
      >>> gx.layers.Activation("relu")([-1.0, 1.0]).tolist()
      [0.0, 1.0]
    """

    __graphc_reads__ = ("_activation", "built", "_compute_dtype")

    def __init__(self, activation: str | ActivationLike, name: str | None = None) -> None:
        super().__init__(name)
        self._activation = activation_of("Activation", activation)

    def call(self, x: ArrayLike) -> Any:
        """Computes what the function gives."""
        return x if self._activation is None else call(self._activation)(x)


class Flatten(TensorLayer):
    """Joins all axes but the first: ``(batch, ...)`` to ``(batch, features)``.

    Args:
      name: for people.

    Example:
      >>> import graphc as gx
      >>> gx.layers.Flatten()(gx.ones((2, 3, 4))).shape
      (2, 12)
    """

    __graphc_reads__ = ("built", "_compute_dtype")

    def call(self, x: ArrayLike) -> Any:
        """Returns the tensor with two axes."""
        value = as_numbers(x)
        if value.ndim < 1:
            raise InvalidArgumentError(f"layer {self.name!r} takes a batch, got a scalar").here()
        count = 1
        for length in value.shape[1:]:
            count *= length
        return reshape(value, (value.shape[0], count))


class Reshape(TensorLayer):
    """Gives each example another shape.

    Args:
      target_shape: without the axis of the batch; one size may be -1.
      name: for people.

    Example:
      >>> import graphc as gx
      >>> gx.layers.Reshape((-1, 2))(gx.ones((3, 4))).shape
      (3, 2, 2)
    """

    __graphc_reads__ = ("target_shape", "built", "_compute_dtype")

    def __init__(self, target_shape: Sequence[int], name: str | None = None) -> None:
        super().__init__(name)
        self.target_shape = tuple(target_shape)

    def call(self, x: ArrayLike) -> Any:
        """Returns the tensor in the other shape."""
        value = as_numbers(x)
        return reshape(value, (*value.shape[:1], *self.target_shape))


class Embedding(TensorLayer):
    """Gives each number of a category a vector that is trained.

    Args:
      input_dim: how many categories there are; their numbers start at 0.
      output_dim: the size of the vectors.
      embeddings_initializer: what they start with, as ``kernel_initializer`` of :class:`Dense`.
      name: for people.

    Attributes:
      embeddings: the Variable ``[input_dim, output_dim]``.

    Raises:
      InvalidArgumentError: a size that is none, or an unknown initializer.

    Example:
      >>> import graphc as gx
      >>> gx.layers.Embedding(10, 4)([[1, 2, 9]]).shape
      (1, 3, 4)
    """

    __graphc_reads__ = ("embeddings", "input_dim", "built", "_compute_dtype")

    def __init__(
        self,
        input_dim: int,
        output_dim: int,
        embeddings_initializer: str | Initializer = "uniform",
        name: str | None = None,
    ) -> None:
        super().__init__(name)
        self.input_dim, self.output_dim = (
            size("Embedding: input_dim", input_dim),
            size("Embedding: output_dim", output_dim),
        )
        self.embeddings: Variable | None = None
        self._initializer = initializer(embeddings_initializer, "Embedding: embeddings_initializer")

    def build(self, input_shape: Any) -> None:
        """Makes the vectors.

        Args:
          input_shape: of any input.
        """
        del input_shape
        shape = (self.input_dim, self.output_dim)
        self.embeddings = Variable(lambda: self._initializer(shape, "float32"), name=f"{self.name}/embeddings")
        self.built = True

    def call(self, x: ArrayLike) -> Any:
        """Returns the vectors, along a new last axis; NaN for the number of no category.

        Raises:
          InvalidTypeError: the input is no integers.
        """
        value = as_numbers(x)
        if value.dtype.kind not in "iu":
            raise InvalidTypeError(
                f"layer {self.name!r} takes integers, the numbers of categories; got {value.type}"
            ).here()
        # A negative number must not count from the end, as an index does; past the end it gives NaN.
        return take(self.cast(self.embeddings), where(value < 0, self.input_dim, value), axis=0)


# StringLookup: strings as numbers.


class StringLookup:
    """Turns strings into their numbers in a vocabulary, or numbers into the strings (Keras's layer).

    Args:
      vocabulary: the strings.
      num_oov_indices: 1 where strings that are not in the vocabulary have a number of their own, 0 to refuse them.
      mask_token: a string that has the first number; None for none.
      oov_token: what stands for strings that are not in the vocabulary, where numbers become strings.
      invert: whether numbers become strings.
      output_mode: ``"int"``.

    Raises:
      InvalidArgumentError: there is no vocabulary, or something else is asked for.

    Example:
      >>> import graphc as gx
      >>> lookup = gx.layers.StringLookup(["a", "b"])
      >>> lookup(["b", "rose"]).tolist(), lookup.get_vocabulary()
      ([2, 0], ['[UNK]', 'a', 'b'])
    """

    def __init__(
        self,
        vocabulary: Sequence[str] | None,
        num_oov_indices: int = 1,
        mask_token: str | None = None,
        oov_token: str = "[UNK]",
        invert: bool = False,
        output_mode: str = "int",
    ) -> None:
        if num_oov_indices not in (0, 1) or vocabulary is None or output_mode != "int":
            raise InvalidArgumentError(
                "StringLookup: here a vocabulary is given, num_oov_indices is 0 or 1, and output_mode is 'int'; got "
                f"vocabulary={vocabulary!r:.60}, num_oov_indices={num_oov_indices!r}, output_mode={output_mode!r}"
            ).here()
        entries: list[str] = asarray(cast("Any", vocabulary), dtype=str).tolist()
        special = [*([] if mask_token is None else [mask_token]), *([oov_token] if num_oov_indices else [])]
        # A saved vocabulary has the special strings in front.
        words = entries if special and entries[: len(special)] == special else [*special, *entries]
        default = len(special) - 1 if num_oov_indices else None
        self._invert = invert
        self._words = words
        self._special = len(special)
        self._vocabulary = strings.Vocabulary(words, default)

    def __call__(self, inputs: Any) -> Any:
        """Returns the numbers of strings, or the strings of numbers."""
        return self._vocabulary.strings(inputs) if self._invert else self._vocabulary.lookup(inputs)

    def get_vocabulary(self, include_special_tokens: bool = True) -> list[str]:
        """Returns the strings, in the order of their numbers."""
        return self._words[0 if include_special_tokens else self._special :]

    def vocabulary_size(self) -> int:
        """Returns how many numbers there are."""
        return len(self._words)


# Layers made of layers.


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
            raise InvalidArgumentError(f"{self.name}: pop() of a Sequential without layers").here()
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
        raise InvalidTypeError(
            f"Sequential: layers[{position}] must be a layer or a function of one tensor, got {layer!r:.60}"
        ).here()
    return layer


def _name(function: Any) -> str:
    return str(getattr(function, "__name__", type(function).__name__))
