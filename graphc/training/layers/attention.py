"""Attention: each position of a sequence takes from those of another what resembles it."""

from __future__ import annotations

from typing import Any, Never

from graphc.compiler.base import at, refuse_options, user_location
from graphc.compiler.base.errors import InvalidArgumentError
from graphc.compiler.core import ArrayLike, Tensor
from graphc.compiler.ops import as_numbers, nn, reshape
from graphc.training.layers.core import Dense
from graphc.training.layers.initializers import Initializer
from graphc.training.layers.layer import TensorLayer, size

__all__ = ["MultiHeadAttention"]

_INSTEAD = {
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
        refuse_options("MultiHeadAttention", unsupported, _INSTEAD)
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
        given = [as_numbers(one) for one in (query, value if key is None else key, value)]
        if any(one.ndim != 3 for one in given) or self.output is None:
            shapes = ", ".join(str(one.shape) for one in given)
            raise self._wrong(f"takes tensors of shape (batch, time, features), got shapes {shapes}")
        queries, keys, values = (
            reshape(layer(one), (*one.shape[:2], self.num_heads, self.key_dim))
            for layer, one in zip((self.query, self.key, self.value), given, strict=True)
        )
        mask = None if attention_mask is None else self._mask(as_numbers(attention_mask), given[0], given[2])
        mixed = nn.dot_product_attention(queries, keys, values, mask=mask, is_causal=use_causal_mask)
        return self.output(reshape(mixed, (*given[0].shape[:2], self.num_heads * self.key_dim)))

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
        return at(InvalidArgumentError(f"layer {self.name!r} {problem}"), user_location())
