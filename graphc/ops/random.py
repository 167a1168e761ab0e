"""The namespace ``random``: draws from a generator whose state is a Variable.

A compiled function reads and writes the state as any variable's, so it draws fresh numbers at every call and in every
iteration of a loop, and the same numbers from the same seed as eager code. The bits are those of JAX's Threefry
generator: each draw splits the state into the next state and a key of its own.
"""

from __future__ import annotations

import weakref
from typing import Any

import jax
import numpy as np

from graphc.base import at, user_location
from graphc.base.errors import UnimplementedError
from graphc.core import (
    ArrayLike,
    Place,
    Region,
    Tensor,
    Variable,
    apply,
    as_dtype,
    context,
    current_trace,
    trace_scope,
)
from graphc.ir import Attrs
from graphc.ops.annotations import Shape
from graphc.ops.attributes import static_value
from graphc.ops.distributions import IMPLEMENTATION, ROWS, Distributions, floating, key_of, keyed
from graphc.ops.table import define_ops, row

__all__ = [
    "Generator",
    "ball",
    "bernoulli",
    "beta",
    "binomial",
    "bits",
    "categorical",
    "cauchy",
    "chisquare",
    "choice",
    "dirichlet",
    "double_sided_maxwell",
    "exponential",
    "f",
    "gamma",
    "generalized_normal",
    "geometric",
    "gumbel",
    "laplace",
    "loggamma",
    "logistic",
    "lognormal",
    "maxwell",
    "multinomial",
    "multivariate_normal",
    "normal",
    "orthogonal",
    "pareto",
    "permutation",
    "poisson",
    "rademacher",
    "randint",
    "rayleigh",
    "seed",
    "t",
    "triangular",
    "truncated_normal",
    "uniform",
    "wald",
    "weibull_min",
]


def _split_key(state: Any) -> tuple[Any, Any]:
    new, key = jax.random.split(key_of(state))
    return jax.random.key_data(new), jax.random.key_data(key)


def _uniform(key: Any, minval: Any, maxval: Any, shape: Any, dtype: Any) -> jax.Array:
    return jax.random.uniform(key_of(key), shape, dtype, minval, maxval)


def _randint(key: Any, minval: Any, maxval: Any, shape: Any, dtype: Any) -> jax.Array:
    return jax.random.randint(key_of(key), shape, minval, maxval, dtype)


def _truncated_normal(key: Any, lower: Any, upper: Any, shape: Any, dtype: Any) -> jax.Array:
    return jax.random.truncated_normal(key_of(key), lower, upper, shape, dtype)


def _choice(key: Any, x: Any, *p: Any, shape: Any, replace: bool, axis: int) -> jax.Array:
    return jax.random.choice(key_of(key), x, shape, replace, *p, axis=axis)


_OPS = define_ops(
    (
        row("random.split_key", _split_key, "state", "The next state and a key to draw with.", differentiable=False),
        row("random.normal", keyed(jax.random.normal), "key, shape: Shape, dtype: DType", "Normal draws."),
        row("random.uniform", _uniform, "key, minval, maxval, shape: Shape, dtype: DType", "Uniform draws."),
        row(
            "random.truncated_normal",
            _truncated_normal,
            "key, lower, upper, shape: Shape, dtype: DType",
            "Normal draws.",
        ),
        row(
            "random.exponential",
            keyed(jax.random.exponential),
            "key, shape: Shape, dtype: DType",
            "Exponential draws.",
        ),
        row("random.gumbel", keyed(jax.random.gumbel), "key, shape: Shape, dtype: DType", "Gumbel draws."),
        row("random.gamma", keyed(jax.random.gamma), "key, a, shape: Shape, dtype: DType", "Gamma draws."),
        row("random.permutation", keyed(jax.random.permutation), "key, x, axis: int", "Shuffled along axis."),
        row("random.choice", _choice, "key, x, *p, shape: Shape, replace: bool, axis: int", "Draws from given values."),
        row(
            "random.randint",
            _randint,
            "key, minval, maxval, shape: Shape, dtype: DType",
            "Draws of integers.",
            differentiable=False,
        ),
        row(
            "random.bernoulli",
            keyed(jax.random.bernoulli),
            "key, p, shape: Shape",
            "Draws of truth values.",
            differentiable=False,
        ),
        row(
            "random.categorical",
            keyed(jax.random.categorical),
            "key, logits, axis: int, shape: Shape",
            "Draws of classes.",
            differentiable=False,
        ),
        row(
            "random.poisson",
            keyed(jax.random.poisson),
            "key, lam, shape: Shape, dtype: DType",
            "Poisson draws.",
            differentiable=False,
        ),
        *ROWS,
    )
)


class _StatePlace(Place):
    """The state of a generator that was made while a function is traced: a value like those that names hold."""

    __slots__ = ()

    owner: Generator

    def __init__(self, owner: Generator) -> None:
        super().__init__(owner, "the state of a gx.random.Generator", "the draw of random numbers")

    def get(self) -> Tensor | None:
        """The state."""
        return self.owner.local_state

    def set(self, value: Any) -> None:
        """Puts a state back."""
        self.owner.local_state = value


class Generator(Distributions):
    """A source of random numbers with a state of its own.

    One that is made in a compiled function is made anew at each call, as in Python; what such a function returns or
    stores is to be made outside.

    Args:
      seed: two generators of one seed draw the same numbers.

    Attributes:
      local_state: the state of a generator that is made in a function that is traced; None for all others.

    Example:
      >>> import graphc as gx
      >>> first, second = gx.random.Generator(7), gx.random.Generator(7)
      >>> bool(first.normal() == second.normal())
      True
    """

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed
        self._state: Variable | None = None
        self.local_state: Tensor | None = None
        self._is_local = (trace := context.trace) is not None
        if trace is not None:
            if isinstance(trace, Region):
                trace.own(self)
            trace.root.made.append((weakref.ref(self), user_location()))
            self._assign(_initial_state(seed))

    @property
    def state(self) -> Variable:
        """The Variable that holds the state, ``uint32[2]``.

        Raises:
          UnimplementedError: the generator is made in a compiled function, where its state is no Variable.
        """
        if self._is_local:
            error = UnimplementedError(
                "the state of a gx.random.Generator that is made in a compiled function is no Variable; make the "
                "generator outside the function, or start it again with .seed()"
            )
            raise at(error, user_location()) if context.trace is None else context.trace.refuse(error)
        if self._state is None:
            # Not made at import, which would start JAX; and never by a trace, to which it would be a new Variable.
            with trace_scope(None):
                self._state = Variable(_initial_state(self._seed), trainable=False, name="random_state")
        return self._state

    def _value(self) -> Tensor:
        return self.state.value() if self.local_state is None else self.local_state

    def _assign(self, value: Any) -> None:
        if not self._is_local:
            self.state.assign(value)
            return
        trace = current_trace()
        trace.writing(_StatePlace(self))
        self.local_state = trace.lift(value)

    def seed(self, seed: int) -> None:
        """Starts the generator again.

        Args:
          seed: a Python int.
        """
        self._assign(_initial_state(seed))

    def normal(self, shape: Shape = (), dtype: Any = None, *, loc: ArrayLike = 0.0, scale: ArrayLike = 1.0) -> Tensor:
        """Draws from the normal distribution.

        Args:
          shape: of the result, static.
          dtype: a floating dtype; float32 for None.
          loc: the mean, broadcast against ``shape``; gradients flow to it.
          scale: the standard deviation, broadcast against ``shape``; gradients flow to it.

        Example:
          >>> import graphc as gx
          >>> gx.random.normal((2, 3)).shape
          (2, 3)
        """
        drawn: Any = self._draw("normal", (), shape=shape, dtype=floating(dtype))
        if not _is_number(scale, 1):
            drawn = drawn * scale
        return drawn if _is_number(loc, 0) else drawn + loc

    def uniform(self, shape: Shape = (), dtype: Any = None, minval: ArrayLike = 0.0, maxval: ArrayLike = 1.0) -> Tensor:
        """Draws from the uniform distribution over ``[minval, maxval)``.

        Args:
          shape: of the result, static.
          dtype: a floating dtype; float32 for None.
          minval: the smallest value, broadcast against ``shape``.
          maxval: the value above all drawn, broadcast against ``shape``.
        """
        return self._draw("uniform", (minval, maxval), shape=shape, dtype=floating(dtype))

    def truncated_normal(
        self, lower: ArrayLike = -2.0, upper: ArrayLike = 2.0, shape: Shape = (), dtype: Any = None
    ) -> Tensor:
        """Draws from the normal distribution of mean 0 and variance 1, cut to ``[lower, upper]``.

        Args:
          lower: the lower limit, broadcast against ``shape``.
          upper: the upper limit, broadcast against ``shape``.
          shape: of the result, static.
          dtype: a floating dtype; float32 for None.
        """
        return self._draw("truncated_normal", (lower, upper), shape=shape, dtype=floating(dtype))

    def exponential(self, shape: Shape = (), dtype: Any = None) -> Tensor:
        """Draws from the exponential distribution of mean 1.

        Args:
          shape: of the result, static.
          dtype: a floating dtype; float32 for None.
        """
        return self._draw("exponential", (), shape=shape, dtype=floating(dtype))

    def gumbel(self, shape: Shape = (), dtype: Any = None) -> Tensor:
        """Draws from Gumbel's distribution.

        Args:
          shape: of the result, static.
          dtype: a floating dtype; float32 for None.
        """
        return self._draw("gumbel", (), shape=shape, dtype=floating(dtype))

    def gamma(self, a: ArrayLike, shape: Shape | None = None, dtype: Any = None) -> Tensor:
        """Draws from the gamma distribution of scale 1.

        Args:
          a: the shape parameter, above zero; gradients flow to it.
          shape: of the result, static; that of ``a`` for None.
          dtype: a floating dtype; float32 for None.
        """
        return self._draw("gamma", (a,), shape=shape, dtype=floating(dtype))

    def poisson(self, lam: ArrayLike, shape: Shape | None = None, dtype: Any = "int32") -> Tensor:
        """Draws from the Poisson distribution.

        Args:
          lam: the mean, at least zero.
          shape: of the result, static; that of ``lam`` for None.
          dtype: an integer dtype.
        """
        return self._draw("poisson", (lam,), shape=shape, dtype=as_dtype(dtype))

    def randint(self, shape: Shape, minval: ArrayLike, maxval: ArrayLike, dtype: Any = "int32") -> Tensor:
        """Draws of integers ``minval <= n < maxval``, each equally likely.

        Args:
          shape: of the result, static.
          minval: the smallest, broadcast against ``shape``.
          maxval: the one after the largest, broadcast against ``shape``.
          dtype: an integer dtype.
        """
        return self._draw("randint", (minval, maxval), shape=shape, dtype=as_dtype(dtype))

    def bernoulli(self, p: ArrayLike = 0.5, shape: Shape | None = None) -> Tensor:
        """Draws that are True with probability ``p``.

        Args:
          p: between 0 and 1.
          shape: of the result, static; that of ``p`` for None.
        """
        return self._draw("bernoulli", (p,), shape=shape)

    def categorical(self, logits: ArrayLike, axis: int = -1, shape: Shape | None = None) -> Tensor:
        """Draws of classes 0, 1, ... by their unnormalised log-probabilities.

        Args:
          logits: log-probabilities up to a constant.
          axis: the axis of ``logits`` along which the classes lie.
          shape: of the result, static; that of ``logits`` without ``axis`` for None.
        """
        return self._draw("categorical", (logits,), axis=axis, shape=shape)

    def permutation(self, x: ArrayLike, axis: int = 0) -> Tensor:
        """Shuffles along an axis.

        Args:
          x: a tensor, or a Python int n for 0, 1, ..., n - 1.
          axis: the axis whose slices change places.
        """
        return self._draw("permutation", (_values(x),), axis=axis)

    def choice(
        self, x: ArrayLike, shape: Shape = (), replace: bool = True, p: ArrayLike | None = None, axis: int = 0
    ) -> Tensor:
        """Draws from given values.

        Args:
          x: a tensor, or a Python int n for 0, 1, ..., n - 1.
          shape: of the draws, static.
          replace: whether a value may be drawn again.
          p: the probability of each slice of ``x`` along ``axis``; equal ones for None.
          axis: the axis of ``x`` along which the choices lie.
        """
        weights = () if p is None else (p,)
        return self._draw("choice", (_values(x), *weights), shape=shape, replace=replace, axis=axis)

    def _draw(self, name: str, values: tuple[Any, ...], **attrs: Any) -> Tensor:
        op = _OPS[name]
        for attribute, value in attrs.items():
            attrs[attribute] = static_value(op, attribute, value)
        if isinstance(attrs.get("shape"), int):
            attrs["shape"] = (attrs["shape"],)
        new, key = apply(_OPS["split_key"], (self._value(),))
        if context.replica is not None:
            key = context.replica.fold_key(key)
        drawn = apply(op, (key, *values), Attrs(attrs))
        # Last, so that a draw that fails leaves the state as it was.
        self._assign(new)
        return drawn


def _initial_state(seed: int) -> np.ndarray[Any, Any]:
    return np.asarray(jax.random.key_data(jax.random.key(seed, impl=IMPLEMENTATION)))


def _is_number(value: Any, number: int) -> bool:
    return isinstance(value, int | float) and value == number


def _values(x: Any) -> Any:
    return np.arange(x, dtype=np.int32) if isinstance(x, int) else x


_default = Generator()
seed = _default.seed
normal = _default.normal
uniform = _default.uniform
truncated_normal = _default.truncated_normal
exponential = _default.exponential
gumbel = _default.gumbel
gamma = _default.gamma
poisson = _default.poisson
randint = _default.randint
bernoulli = _default.bernoulli
categorical = _default.categorical
permutation = _default.permutation
choice = _default.choice
ball = _default.ball
beta = _default.beta
binomial = _default.binomial
bits = _default.bits
cauchy = _default.cauchy
chisquare = _default.chisquare
dirichlet = _default.dirichlet
double_sided_maxwell = _default.double_sided_maxwell
f = _default.f
generalized_normal = _default.generalized_normal
geometric = _default.geometric
laplace = _default.laplace
loggamma = _default.loggamma
logistic = _default.logistic
lognormal = _default.lognormal
maxwell = _default.maxwell
multinomial = _default.multinomial
multivariate_normal = _default.multivariate_normal
orthogonal = _default.orthogonal
pareto = _default.pareto
rademacher = _default.rademacher
rayleigh = _default.rayleigh
t = _default.t
triangular = _default.triangular
wald = _default.wald
weibull_min = _default.weibull_min
