"""Layers over sequences: LSTM, GRU and attention."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Never, cast

from graphc.compiler.autograph import call, scan
from graphc.compiler.base import refuse_options
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError
from graphc.compiler.core import ArrayLike, Tensor, Variable
from graphc.compiler.ops import as_numbers, concat, flip, matmul, nn, ones, permute_dims, reshape, where, zeros
from graphc.training.layers.core import Dense
from graphc.training.layers.layer import ActivationLike, TensorLayer, activation_of, size
from graphc.training.layers.module import Initializer, initializer

# Recurrent layers: one rolled loop over the time steps of a batch of sequences.

_INSTEAD = {
    "dropout": "put a gx.layers.Dropout before the layer",
    "recurrent_dropout": "put a gx.layers.Dropout before the layer",
    "stateful": "pass initial_state= to the call, and return_state=True to the layer",
    "unroll": "decorate the step by gx.function(unroll=True)",
    "reset_after": "the reset gate acts after the product, as in Keras's default and in cuDNN",
}
_READS = (
    *("kernel", "recurrent_kernel", "bias", "units", "return_sequences", "return_state", "go_backwards"),
    *("_activation", "_recurrent_activation", "built", "_compute_dtype"),
)


class Recurrent(TensorLayer):
    """What LSTM and GRU share: their weights, and the loop."""

    _gates: ClassVar[int]
    _states: ClassVar[int]

    def __init__(
        self,
        units: int,
        activation: str | ActivationLike | None = "tanh",
        recurrent_activation: str | ActivationLike | None = "sigmoid",
        use_bias: bool = True,
        kernel_initializer: str | Initializer = "glorot_uniform",
        recurrent_initializer: str | Initializer = "orthogonal",
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        name: str | None = None,
        **unsupported: Never,
    ) -> None:
        super().__init__(name)
        kind = type(self).__name__
        refuse_options(kind, unsupported, _INSTEAD)
        self.units = size(f"{kind}: units", units)
        self.use_bias, self.return_sequences = use_bias, return_sequences
        self.return_state, self.go_backwards = return_state, go_backwards
        self.kernel: Variable | None = None
        self.recurrent_kernel: Variable | None = None
        self.bias: Variable | None = None
        self._activation = activation_of(kind, activation)
        self._recurrent_activation = activation_of(kind, recurrent_activation)
        self._kernel_initializer = initializer(kernel_initializer, f"{kind}: kernel_initializer")
        self._recurrent_initializer = initializer(recurrent_initializer, f"{kind}: recurrent_initializer")

    def build(self, input_shape: Any) -> None:
        """Makes the weights.

        Args:
          input_shape: (batch, time, features).

        Raises:
          InvalidArgumentError: it has not three axes.
        """
        if input_shape is None or len(input_shape) != 3:
            raise self._wrong(f"takes tensors of shape (batch, time, features), got shape {input_shape}")
        width = self.units * self._gates
        shapes = (input_shape[-1], width), (self.units, width)
        self.kernel = Variable(lambda: self._kernel_initializer(shapes[0], "float32"), name=f"{self.name}/kernel")
        self.recurrent_kernel = Variable(
            lambda: self._recurrent_initializer(shapes[1], "float32"), name=f"{self.name}/recurrent_kernel"
        )
        if self.use_bias:
            self.bias = Variable(self._first_bias, name=f"{self.name}/bias")
        self.built = True

    def call(self, x: ArrayLike, mask: Any = None, initial_state: Any = None) -> Any:
        """Goes through the time steps.

        Args:
          x: (batch, time, features).
          mask: (batch, time), False for the steps that leave the state as it is, such as padding; None for none.
          initial_state: the first state, (batch, units), or a pair of them for an LSTM; zeros when None.

        Returns:
          The last output, or all of them with ``return_sequences``; with ``return_state``, a tuple of it and the last
          states.

        Raises:
          InvalidArgumentError: a shape is another one.
        """
        value = self.cast(as_numbers(x))
        if self.kernel is None or value.ndim != 3 or value.shape[-1] != self.kernel.shape[0] or not value.shape[1]:
            expected = "features" if self.kernel is None else self.kernel.shape[0]
            raise self._wrong(f"takes tensors of shape (batch, time > 0, {expected}), got shape {value.shape}")
        batch, time, _ = value.shape
        rows: tuple[Tensor, ...] = (self._inputs(permute_dims(value, (1, 0, 2))),)
        if mask is not None:
            mask = as_numbers(mask)
            if mask.shape != (batch, time) or mask.dtype.kind != "b":
                raise self._wrong(f"takes a mask of bool[{batch}, {time}], got {mask.type}")
            rows = (*rows, permute_dims(mask, (1, 0))[:, :, None])
        recurrent = self.cast(self.recurrent_kernel)
        step, bias = self._step, self._state_bias()

        def advance(state: tuple[Tensor, ...], row: tuple[Tensor, ...]) -> tuple[tuple[Tensor, ...], Tensor]:
            products = matmul(state[0], recurrent)
            new = step(row[0], products if bias is None else products + bias, state)
            if len(row) > 1:
                new = tuple([where(row[1], after, before) for after, before in zip(new, state, strict=True)])
            return new, new[0]

        last, outputs = scan(advance, self._first_state(initial_state, batch, rows[0]), rows, reverse=self.go_backwards)
        result = last[0]
        if self.return_sequences:
            result = permute_dims(outputs, (1, 0, 2))
            result = flip(result, axis=1) if self.go_backwards else result
        return (result, *last) if self.return_state else result

    def _first_state(self, initial: Any, batch: int, like: Tensor) -> tuple[Tensor, ...]:
        if initial is None:
            return (zeros((batch, self.units), like.dtype),) * self._states
        several = cast("Sequence[Any]", initial if isinstance(initial, list | tuple) else (initial,))
        states = tuple([self.cast(as_numbers(one)) for one in several])
        if [state.shape for state in states] != [(batch, self.units)] * self._states:
            shapes = ", ".join(str(state.shape) for state in states)
            raise self._wrong(f"takes an initial_state of {self._states} x {(batch, self.units)}, got {shapes}")
        return states

    def _wrong(self, problem: str) -> InvalidArgumentError:
        return InvalidArgumentError(f"layer {self.name!r} {problem}").here()

    def _first_bias(self) -> Tensor:
        raise NotImplementedError

    def _inputs(self, x: Tensor) -> Tensor:
        """Returns the products of all inputs, which do not wait for the states."""
        products = matmul(x, self.cast(self.kernel))
        return products if self.bias is None else products + self._input_bias(self.cast(self.bias))

    def _input_bias(self, bias: Tensor) -> Tensor:
        return bias

    def _state_bias(self) -> Tensor | None:
        return None

    def _step(self, x: Tensor, h: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """Returns the next states, of the products of the input and of the last output."""
        raise NotImplementedError

    def _gate(self, x: Tensor) -> Any:
        return x if self._recurrent_activation is None else call(self._recurrent_activation)(x)

    def _active(self, x: Tensor) -> Any:
        return x if self._activation is None else call(self._activation)(x)


class LSTM(Recurrent):
    """Long short-term memory (Hochreiter and Schmidhuber, 1997), with Keras's arguments and weights.

    The loop over the time steps is one rolled loop; the products with the inputs are computed before it, all at once.

    Args:
      units: the size of the output.
      activation: of the cell and of the output.
      recurrent_activation: of the gates.
      use_bias: whether a bias is added; that of the forget gate starts at one.
      kernel_initializer: what the weights of the input start with, as in :class:`Dense`.
      recurrent_initializer: what the weights of the state start with.
      return_sequences: whether the output of each step is returned, (batch, time, units), or the last one.
      return_state: whether the last states are returned too: a tuple of the output, the hidden and the cell state.
      go_backwards: whether the loop starts at the last step; the outputs come in this order.
      name: for people.

    Attributes:
      kernel: the Variable ``[features, 4 * units]``, for input, forget, cell and output gate; None before the first
        call.
      recurrent_kernel: the Variable ``[units, 4 * units]``; None before.
      bias: the Variable ``[4 * units]``; None before, or without bias.

    Raises:
      InvalidArgumentError: a size that is none, or an unknown activation or initializer.
      InvalidTypeError: an option of Keras's that there is not here; the message says what to write.

    Example:
      >>> import graphc as gx
      >>> x = gx.ones((2, 5, 3))  # batch, time, features
      >>> gx.layers.LSTM(4)(x).shape
      (2, 4)
      >>> padded = gx.asarray([[True, True, True, False, False], [True] * 5])
      >>> gx.layers.LSTM(4, return_sequences=True)(x, mask=padded).shape
      (2, 5, 4)
    """

    __graphc_reads__ = _READS
    _gates, _states = 4, 2

    def _first_bias(self) -> Tensor:
        return concat([zeros(self.units), ones(self.units), zeros(2 * self.units)])

    def _step(self, x: Tensor, h: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        z, n = x + h, self.units
        remembered = self._gate(z[:, n : 2 * n]) * state[1]
        cell = remembered + self._gate(z[:, :n]) * self._active(z[:, 2 * n : 3 * n])
        return self._gate(z[:, 3 * n :]) * self._active(cell), cell


class GRU(Recurrent):
    """Gated recurrent unit (Cho and others, 2014), with Keras's arguments and weights.

    As :class:`LSTM`, with one state. The reset gate acts after the product with the state, as in Keras's default and in
    cuDNN.

    Args:
      units: the size of the output.
      activation: of the candidate.
      recurrent_activation: of the gates.
      use_bias: whether biases are added.
      kernel_initializer: what the weights of the input start with, as in :class:`Dense`.
      recurrent_initializer: what the weights of the state start with.
      return_sequences: whether the output of each step is returned, (batch, time, units), or the last one.
      return_state: whether the last state is returned too: a tuple of the output and the state.
      go_backwards: whether the loop starts at the last step; the outputs come in this order.
      name: for people.

    Attributes:
      kernel: the Variable ``[features, 3 * units]``, for update and reset gate and the candidate; None before the first
        call.
      recurrent_kernel: the Variable ``[units, 3 * units]``; None before.
      bias: the Variable ``[2, 3 * units]``, for the products of the input and of the state; None before, or without.

    Raises:
      InvalidArgumentError: a size that is none, or an unknown activation or initializer.
      InvalidTypeError: an option of Keras's that there is not here; the message says what to write.

    Example:
      >>> import graphc as gx
      >>> output, state = gx.layers.GRU(4, return_state=True)(gx.ones((2, 5, 3)))
      >>> output.shape, state.shape
      ((2, 4), (2, 4))
    """

    __graphc_reads__ = _READS
    _gates, _states = 3, 1

    def _first_bias(self) -> Tensor:
        return zeros((2, 3 * self.units))

    def _input_bias(self, bias: Tensor) -> Tensor:
        return bias[0]

    def _state_bias(self) -> Tensor | None:
        return None if self.bias is None else self.cast(self.bias)[1]

    def _step(self, x: Tensor, h: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        n = self.units
        gates = self._gate(x[:, : 2 * n] + h[:, : 2 * n])
        update, reset = gates[:, :n], gates[:, n:]
        candidate = self._active(x[:, 2 * n :] + reset * h[:, 2 * n :])
        return (update * state[0] + (1.0 - update) * candidate,)


_MERGED: dict[str, Callable[[Tensor, Tensor], Any]] = {
    "concat": lambda forward, backward: concat([forward, backward], axis=-1),
    "sum": lambda forward, backward: forward + backward,
    "mul": lambda forward, backward: forward * backward,
    "ave": lambda forward, backward: (forward + backward) / 2,
}


class Bidirectional(TensorLayer):
    """Runs a recurrent layer in both directions of time (Schuster and Paliwal, 1997).

    Args:
      layer: an :class:`LSTM` or :class:`GRU`; a copy of it, with weights of its own, goes backwards.
      merge_mode: how the two outputs become one: ``"concat"`` along the last axis, ``"sum"``, ``"mul"`` or ``"ave"``.
      name: for people.

    Attributes:
      forward_layer: the layer.
      backward_layer: its copy.

    Raises:
      InvalidTypeError: ``layer`` is no recurrent layer.
      InvalidArgumentError: it has been called, goes backwards or returns its state, or ``merge_mode`` is none of these.

    Example:
      >>> import graphc as gx
      >>> layer = gx.layers.Bidirectional(gx.layers.LSTM(4, return_sequences=True))
      >>> layer(gx.ones((2, 5, 3))).shape
      (2, 5, 8)
    """

    __graphc_reads__ = ("forward_layer", "backward_layer", "merge_mode", "built", "_compute_dtype")

    def __init__(self, layer: Recurrent, merge_mode: str = "concat", name: str | None = None) -> None:
        super().__init__(name)
        if not isinstance(layer, Recurrent):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidTypeError(f"Bidirectional takes a gx.layers.LSTM or GRU, got {layer!r:.60}").here()
        if layer.built or layer.go_backwards or layer.return_state:
            raise InvalidArgumentError(
                f"Bidirectional: {layer.name!r} must be a new layer, without go_backwards and return_state"
            ).here()
        if merge_mode not in _MERGED:
            raise InvalidArgumentError(
                f"Bidirectional: merge_mode must be one of {', '.join(map(repr, _MERGED))}, got {merge_mode!r:.60}"
            ).here()
        self.forward_layer, self.backward_layer, self.merge_mode = layer, copy.copy(layer), merge_mode
        self.backward_layer.go_backwards = True

    def call(self, x: ArrayLike, mask: Any = None) -> Any:
        """Computes both directions; see :meth:`Recurrent.call`."""
        forward, backward = self.forward_layer(x, mask=mask), self.backward_layer(x, mask=mask)
        if self.backward_layer.return_sequences:
            backward = flip(backward, axis=1)
        return _MERGED[self.merge_mode](forward, backward)


# Attention: each position of a sequence takes from those of another what resembles it.

_ATTENTION_INSTEAD = {
    "dropout": "put a gx.layers.Dropout behind the layer",
    "value_dim": "the values have the size key_dim",
    "output_shape": "put a gx.layers.Dense behind the layer",
    "attention_axes": "reshape the input to (batch, time, features)",
}


class MultiHeadAttention(TensorLayer):
    """Attention of several heads (Vaswani and others, 2017), with Keras's arguments.

    It projects to queries, keys and values, calls ``gx.nn.dot_product_attention``, and projects the heads' results to
    the size of the query.

    Args:
      num_heads: how many heads there are.
      key_dim: the size of each head.
      use_bias: whether the projections add a bias.
      kernel_initializer: what their weights start with, as in :class:`Dense`.
      name: for people.

    Attributes:
      query: the projection to queries, a :class:`Dense` layer; and so ``key``, ``value`` and ``output``, which is None
        before the first call.

    Raises:
      InvalidArgumentError: a size that is none, or an unknown initializer.
      InvalidTypeError: an option of Keras's that there is not here; the message says what to write.

    Example:
      >>> import graphc as gx
      >>> attention = gx.layers.MultiHeadAttention(num_heads=2, key_dim=4)
      >>> x = gx.ones((3, 5, 8))  # batch, time, features
      >>> attention(x, x, use_causal_mask=True).shape
      (3, 5, 8)
    """

    __graphc_reads__ = ("query", "key", "value", "output", "num_heads", "key_dim", "built", "_compute_dtype")

    def __init__(
        self,
        num_heads: int,
        key_dim: int,
        use_bias: bool = True,
        kernel_initializer: str | Initializer = "glorot_uniform",
        name: str | None = None,
        **unsupported: Never,
    ) -> None:
        super().__init__(name)
        refuse_options("MultiHeadAttention", unsupported, _ATTENTION_INSTEAD)
        self.num_heads = size("MultiHeadAttention: num_heads", num_heads)
        self.key_dim = size("MultiHeadAttention: key_dim", key_dim)
        self.output: Dense | None = None
        self._options: tuple[bool, str | Initializer] = (use_bias, kernel_initializer)
        width = self.num_heads * self.key_dim
        self.query, self.key, self.value = (self._projection(part, width) for part in ("query", "key", "value"))

    def _projection(self, part: str, units: int) -> Dense:
        return Dense(units, None, *self._options, name=f"{self.name}/{part}")

    def build(self, input_shape: Any) -> None:
        """Makes the projection of the output.

        Args:
          input_shape: that of the query, (batch, time, features).

        Raises:
          InvalidArgumentError: it has not three axes.
        """
        if input_shape is None or len(input_shape) != 3:
            raise self._wrong(f"takes a query of shape (batch, time, features), got shape {input_shape}")
        self.output = self._projection("output", input_shape[-1])
        self.built = True

    def call(
        self, query: ArrayLike, value: ArrayLike, key: ArrayLike | None = None, attention_mask: Any = None,
        use_causal_mask: bool = False,
    ) -> Any:  # fmt: skip
        """Computes the attention of ``query`` to ``value``: to itself where both are one tensor.

        Args:
          query: (batch, time, features).
          value: (batch, steps, features).
          key: of the shape of ``value``, which it is when None.
          attention_mask: bool, of a shape that broadcasts to (batch, time, steps), or with a head axis to (batch,
            heads, time, steps): True where a position may attend to a step. ``valid[:, None, :]`` hides padding.
          use_causal_mask: whether a position sees none of the later steps.

        Returns:
          A tensor of the query's shape.

        Raises:
          InvalidArgumentError: a tensor has not three axes, or the mask has another shape or dtype.
        """
        inputs = [as_numbers(one) for one in (query, value if key is None else key, value)]
        if any(one.ndim != 3 for one in inputs) or self.output is None:
            shapes = ", ".join(str(one.shape) for one in inputs)
            raise self._wrong(f"takes tensors of shape (batch, time, features), got shapes {shapes}")
        queries, keys, values = (
            reshape(layer(one), (*one.shape[:2], self.num_heads, self.key_dim))
            for layer, one in zip((self.query, self.key, self.value), inputs, strict=True)
        )
        mask = None if attention_mask is None else self._mask(as_numbers(attention_mask), inputs[0], inputs[2])
        mixed = nn.dot_product_attention(queries, keys, values, mask=mask, is_causal=use_causal_mask)
        return self.output(reshape(mixed, (*inputs[0].shape[:2], self.num_heads * self.key_dim)))

    def _mask(self, mask: Tensor, query: Tensor, value: Tensor) -> Tensor:
        whole = (query.shape[0], self.num_heads, query.shape[1], value.shape[1])
        # Of three axes the first is the batch's: the one that is missing is that of the heads.
        aligned = (mask.shape[0], 1, *mask.shape[1:]) if mask.ndim == 3 else (1,) * (4 - mask.ndim) + mask.shape
        fits = len(aligned) == 4 and all(one in (1, full) for one, full in zip(aligned, whole, strict=True))
        if mask.dtype.kind != "b" or not fits:
            batch, _, time, steps = whole
            raise self._wrong(
                f"takes an attention_mask that broadcasts to bool[{batch}, {time}, {steps}], or with a second axis for "
                f"{self.num_heads} heads, got {mask.type}"
            )
        return reshape(mask, aligned)

    def _wrong(self, problem: str) -> InvalidArgumentError:
        return InvalidArgumentError(f"layer {self.name!r} {problem}").here()
