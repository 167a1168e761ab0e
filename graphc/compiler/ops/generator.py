"""Generator: a source of random numbers with its state in a Variable."""

from __future__ import annotations

import weakref
from typing import Any, cast

import jax
import jax.numpy as jnp
import numpy as np

from graphc.compiler.base import user_location
from graphc.compiler.base.errors import GraphcError, InvalidArgumentError, InvalidTypeError, UnimplementedError
from graphc.compiler.core import ArrayLike, LateValue, Tensor, Variable, apply, context, operand, shorten, trace_scope
from graphc.compiler.ir import OPS, Attrs, TensorType
from graphc.compiler.ops.distributions import IMPLEMENTATION, ROWS, Distributions, floating, key_of
from graphc.compiler.ops.public import as_tuple, static_value
from graphc.compiler.ops.signature import Shape
from graphc.compiler.ops.table import define_ops, row
from graphc.compiler.tracing import Cell, Region, current_trace, graph_by_hand, is_tracing, refusal, type_of_any


def _split_key(state: Any) -> tuple[Any, Any]:
    new, key = jax.random.split(key_of(state))
    return jax.random.key_data(new), jax.random.key_data(key)


def _split(key: Any, n: int) -> tuple[Any, ...]:
    return tuple(jax.random.key_data(jax.random.split(key_of(key), n)))


def _split_rows(state: Any, n: int) -> tuple[Any, Any]:
    new, key = jax.random.split(key_of(state))
    return jax.random.key_data(new), jax.random.key_data(jax.random.split(key, n))


def _seeded(seed: Any) -> jax.Array:
    """Returns the state for a seed tensor: the result of :func:`_words` for its value."""
    seed = jnp.asarray(seed)  # the index of a loop that is unrolled is an int
    words = [jnp.zeros((), np.uint32), seed.astype(np.uint32)]
    if seed.dtype.itemsize == 8:
        narrow = seed <= _LARGEST if seed.dtype.kind == "u" else (seed >= _SMALLEST) & (seed <= _LARGEST)
        words[0] = jnp.where(narrow, words[0], (seed >> 32).astype(np.uint32))
    return jnp.stack(words)


define_ops(
    (
        row("random.split_key", _split_key, "state", "The next state and a key to draw with.", differentiable=False),
        row("random.split", _split, "key, n: int", "The states of n generators.", differentiable=False),
        row("random.split_rows", _split_rows, "state, n: int",
            "The next state, and states for n rows.", differentiable=False),
        row("random.seeded", _seeded, "seed", "The state that a seed starts.", differentiable=False),
        *ROWS,
    )
)  # fmt: skip
_SMALLEST, _LARGEST = -(2**31), 2**32 - 1  # the seeds that JAX accepts in 32 bits
_SEED = "a seed must be an int of at most 64 bits, or a tensor of one"
_STATE = "expected a state: uint32[2], such as generator.state or generator.key(), or a JAX key"


class _StatePlace(Cell):
    """The state of a generator made while a function is traced: a value like those of variables."""

    __slots__ = ()

    owner: Generator

    def __init__(self, owner: Generator) -> None:
        super().__init__(owner, "the state of a gx.random.Generator", "the draw of random numbers")

    def get(self) -> Tensor | None:
        return self.owner.local_state

    def set(self, value: Any) -> None:
        self.owner.local_state = value


class Generator(Distributions):
    """A source of random numbers with its own state.

    It has the functions of ``gx.random`` as methods. A generator made in a compiled function is made anew at each call,
    as in Python; make one that the function returns or stores outside the function.

    Args:
      seed: an int or an integer tensor; two generators with the same seed draw the same numbers.

    Raises:
      InvalidTypeError: the seed is not an integer.
      InvalidArgumentError: the seed has more than 64 bits, or is not a scalar.

    Attributes:
      local_state: the state of a generator made in a traced function; None for others.

    Example:
      >>> import graphc as gx
      >>> first, second = gx.random.Generator(7), gx.random.Generator(7)
      >>> bool(first.normal() == second.normal())
      True
    """

    def __init__(self, seed: Any = 0) -> None:
        self._start(_state_of_seed(seed, "Generator"))

    def __repr__(self) -> str:
        return f"<Generator, {'made in a trace' if self.local_state is not None else 'with a state of its own'}>"

    @classmethod
    def from_seed(cls, seed: Any) -> Generator:
        """Returns a generator with a seed (TensorFlow's name of the constructor).

        Args:
          seed: as for the constructor.
        """
        return cls(seed)

    @classmethod
    def from_state(cls, state: Any) -> Generator:
        """Returns a generator that continues from a state.

        Args:
          state: ``uint32[2]``, such as another generator's ``state`` or its ``tolist()``, or a JAX key.

        Raises:
          InvalidArgumentError: the value is not a state.

        Example:
          >>> import graphc as gx
          >>> import jax
          >>> generator = gx.random.Generator.from_state(jax.random.key(7))
          >>> bool(generator.normal() == gx.random.Generator(7).normal())
          True
        """
        generator = cls.__new__(cls)
        generator._start(_checked_state(state, "Generator.from_state"))
        return generator

    @classmethod
    def at_import(cls) -> Generator:
        """Returns the generator with seed 0; its state is made at first use, so that the import does not start JAX."""
        generator = cls.__new__(cls)
        generator._state = generator.local_state = None
        generator._is_local = False
        generator._draws_in_graphs = True
        return generator

    def _start(self, state: Any) -> None:
        self._state: Variable | None = None
        self.local_state: Tensor | None = None
        self._is_local = is_tracing()
        if not self._is_local:
            self._state = _variable(state)
            return
        trace = current_trace()
        if isinstance(trace, Region):
            trace.journal.own(self)
        trace.root.made.append((weakref.ref(self), user_location()))
        self._assign(state)

    @property
    def state(self) -> Variable:
        """The Variable with the state, ``uint32[2]``; its value can be saved and passed to :meth:`reset`.

        Raises:
          UnimplementedError: the generator was made in a compiled function, where its state is not a Variable.
        """
        if self._is_local:
            error = UnimplementedError(
                "the state of a gx.random.Generator made in a compiled function is not a Variable; make the "
                "generator outside the function, or restart it with .seed()"
            )
            raise refusal(error)
        if self._state is None:
            with trace_scope(None):  # a trace would see a new Variable
                self._state = _variable(_words(0, "Generator"))
        return self._state

    _draws_in_graphs: bool = False
    """True if each draw in a hand-built graph has its own state, which each Session starts anew."""

    def _value(self) -> Tensor:
        graph = graph_by_hand() if self._draws_in_graphs else None
        if graph is not None:
            return current_trace().read(cast("Any", graph).new_random_state())
        return self.state.value() if self.local_state is None else self.local_state

    def _assign(self, value: Any) -> None:
        graph = graph_by_hand() if self._draws_in_graphs else None
        if graph is not None:
            current_trace().assign(cast("Any", graph).random_state, value)
            return
        if not self._is_local:
            self.state.assign(value)
            return
        trace = current_trace()
        trace.writing(_StatePlace(self))
        self.local_state = trace.lift(value)

    def seed(self, seed: Any) -> None:
        """Restarts the generator from a seed.

        Args:
          seed: an int, or a tensor of an integer dtype.

        Raises:
          InvalidTypeError: the seed is not an integer.
          InvalidArgumentError: the seed has more than 64 bits, or is not a scalar.

        Example:
          >>> import graphc as gx
          >>> gx.random.seed(1)
          >>> first = gx.random.normal()
          >>> gx.random.seed(1)
          >>> bool(first == gx.random.normal())
          True
        """
        self._assign(_state_of_seed(seed, "seed"))
        if not is_tracing() and isinstance(seed, int | np.integer):
            self._host_seed = int(cast("Any", seed)), 0

    _host_seed: tuple[int, int] | None = None

    def host_seed(self) -> int | None:
        """Returns a new seed at each call for random work on the host, such as a shuffle.

        The seeds follow from the generator's seed only, and draws do not affect them. None if no seed was given.
        """
        if self._host_seed is None:
            return None
        seed, number = self._host_seed
        self._host_seed = seed, number + 1
        return int(np.random.SeedSequence([seed % 2**64, number]).generate_state(1)[0])

    def reset(self, state: Any) -> None:
        """Sets the generator to a state.

        Args:
          state: as for :meth:`from_state`.

        Raises:
          InvalidArgumentError: the value is not a state.

        Example:
          >>> import graphc as gx
          >>> generator = gx.random.Generator(7)
          >>> before = generator.state.numpy()
          >>> first = generator.normal()
          >>> generator.reset(before)
          >>> bool(generator.normal() == first)
          True
        """
        self._assign(_checked_state(state, "reset"))

    def split(self, n: int = 2) -> list[Generator]:
        """Returns new generators that are independent of each other and of this one's further draws.

        This one advances to its next state, as with a draw. NumPy calls this :meth:`spawn`.

        Args:
          n: the number of generators, at least 1. Static.

        Raises:
          InvalidArgumentError: ``n`` is below 1.
          InvalidTypeError: ``n`` is not an int.

        Example:
          >>> import graphc as gx
          >>> for_weights, for_dropout = gx.random.Generator(7).split(2)
        """
        count = static_value(OPS["random.split"], "n", n)
        if isinstance(count, bool) or not isinstance(count, int):
            raise InvalidTypeError(f"Generator.split: n must be an int, got {n!r:.60}").here()
        if count < 1:
            raise InvalidArgumentError(f"Generator.split: n must be at least 1, got {count}").here()
        new, key = self._next()
        states = as_tuple(apply(OPS["random.split"], (key,), Attrs(n=count)))
        self._assign(new)
        return [self.from_state(state) for state in states]

    spawn = split

    def fork(self) -> Generator:
        """Returns one new, independent generator, as :meth:`split` returns several."""
        return self.from_state(self.key())

    def copy(self) -> Generator:
        """Returns a generator in the same state, which draws the same numbers from now on."""
        return self.from_state(self._value())

    __copy__ = copy

    def key(self) -> Any:
        """Returns a key for JAX's random functions; each call returns another one, as a draw does.

        The key is raw data, ``uint32[2]``: in eager code a ``jax.Array``, which all of ``jax.random`` accepts; in
        compiled code a tensor, to be passed to a function with ``gx.call_jax``.

        Example:
          >>> import graphc as gx
          >>> import jax
          >>> generator = gx.random.Generator(7)
          >>> drawn = jax.random.normal(generator.key(), (2,))
          >>> bool((gx.random.Generator(7).normal((2,)) == gx.asarray(drawn)).all())
          True
        """
        new, key = self._next()
        self._assign(new)
        return key if is_tracing() else key.raw

    def _next(self) -> tuple[Tensor, Tensor]:
        """Returns the next state, and a key to draw with."""
        new, key = apply(OPS["random.split_key"], (self._value(),))
        return new, key if context.replica is None else context.replica.fold_key(key)

    def _draw(self, name: str, values: tuple[Any, ...], **attrs: Any) -> Tensor:
        op = OPS[f"random.{name}"]
        for attribute, value in attrs.items():
            attrs[attribute] = static_value(op, attribute, value)
        shape = attrs.get("shape")
        if isinstance(shape, int) or (isinstance(shape, LateValue) and not shape.tensor.shape):
            attrs["shape"] = (attrs["shape"],)
        try:
            new, key = self._next()
            drawn = apply(op, (key, *values), Attrs(attrs))
        except Exception as error:
            shorten(error)
            raise
        # Last, so that a failed draw leaves the state unchanged.
        self._assign(new)
        return drawn

    def normal(self, shape: Shape = (), dtype: Any = None, *, loc: ArrayLike = 0.0, scale: ArrayLike = 1.0) -> Tensor:
        """Draws from the normal distribution.

        Args:
          shape: the shape of the result. Static.
          dtype: a floating dtype; None for the default.
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

    def integers(
        self, low: ArrayLike, high: ArrayLike | None = None, shape: Shape = (), dtype: Any = "int32"
    ) -> Tensor:
        """Draws integers ``low <= n < high``, uniformly, like :meth:`randint` with NumPy's arguments.

        Args:
          low: the smallest value, broadcast against ``shape``; if ``high`` is None, the exclusive upper bound, from 0.
          high: the exclusive upper bound, broadcast against ``shape``.
          shape: the shape of the result. Static.
          dtype: an integer dtype.

        Raises:
          InvalidArgumentError: ``low`` and ``high`` are Python ints that leave no value.

        Example:
          >>> import graphc as gx
          >>> {*gx.random.integers(1, 7, 100).tolist()} <= {1, 2, 3, 4, 5, 6}
          True
        """
        first, last = (0, low) if high is None else (low, high)
        if isinstance(first, int) and isinstance(last, int) and first >= last:
            raise InvalidArgumentError(f"integers: the range from {first} to below {last} is empty").here()
        return self.randint(shape, first, last, dtype)

    def permutation(self, x: ArrayLike, axis: int = 0) -> Tensor:
        """Shuffles a tensor along an axis.

        Args:
          x: a tensor, or a Python int n for 0, 1, ..., n - 1.
          axis: the axis along which slices are permuted.

        Example:
          >>> import graphc as gx
          >>> gx.random.permutation(5).shape
          (5,)
        """
        return self._draw("permutation", (_values(x),), axis=axis)

    def choice(
        self, x: ArrayLike, shape: Shape = (), replace: bool = True, p: ArrayLike | None = None, axis: int = 0
    ) -> Tensor:
        """Draws from given values.

        Args:
          x: a tensor, or a Python int n for 0, 1, ..., n - 1.
          shape: the shape of the draws. Static.
          replace: whether a value may be drawn repeatedly.
          p: the probability of each slice of ``x`` along ``axis``; None for equal ones.
          axis: the axis of ``x`` to choose from.

        Example:
          >>> import graphc as gx
          >>> gx.random.choice([1.0, 2.0, 3.0], (4,)).shape
          (4,)
        """
        weights = () if p is None else (p,)
        return self._draw("choice", (_values(x), *weights), shape=shape, replace=replace, axis=axis)


_states: weakref.WeakValueDictionary[str, Variable] = weakref.WeakValueDictionary()


def _variable(state: Any) -> Variable:
    variable = Variable(state, trainable=False, name="random_state")
    _states[variable.name] = variable
    return variable


def is_random_state(variable: Variable) -> bool:
    """Returns True if a Variable is the state of a generator."""
    return _states.get(variable.name) is variable


def split_state(state: Tensor, n: int) -> tuple[Tensor, Tensor]:
    """Returns the next state of a generator, and independent states for ``n`` rows, ``uint32[n, 2]``."""
    return apply(OPS["random.split_rows"], (state,), Attrs(n=n))


def _state_of_seed(seed: Any, use: str) -> Any:
    """Returns the state for a seed, computed by NumPy for a Python int, which does not start JAX."""
    if isinstance(seed, int | np.integer) and not isinstance(seed, bool):
        return _words(int(cast("int", seed)), use)
    value, tensor_type = _operand(seed)
    if tensor_type is None or isinstance(seed, bool) or tensor_type.dtype.kind not in "iu":
        raise InvalidTypeError(f"{use}: {_SEED}, got {_short(seed, tensor_type)}").here()
    if tensor_type.shape:
        raise InvalidArgumentError(f"{use}: {_SEED}, got shape {tensor_type.shape}").here()
    return apply(OPS["random.seeded"], (value,))


def _words(seed: int, use: str) -> np.ndarray[Any, Any]:
    """Returns the state for an int of 32 bits: JAX's, with or without 64-bit mode."""
    # For longer ones it is that of JAX's 64-bit mode; without it JAX would use only their lower half.
    if not -(2**63) <= seed < 2**64:
        raise InvalidArgumentError(f"{use}: {_SEED}, got {str(seed)[:40]}; take seed % 2**64").here()
    high = 0 if _SMALLEST <= seed <= _LARGEST else seed >> 32
    return np.asarray([high & _LARGEST, seed & _LARGEST], np.uint32)


def _checked_state(state: Any, use: str) -> Any:
    """Returns a given state as an array or tensor of the right type."""
    dtype = getattr(state, "dtype", None)
    if dtype is not None and jnp.issubdtype(dtype, jax.dtypes.prng_key):
        kind: Any = jax.random.key_impl(state)
        if kind != jax.random.key_impl(jax.random.key(0, impl=IMPLEMENTATION)):
            raise InvalidArgumentError(
                f"{use}: the key is for {kind}, but graphc uses {IMPLEMENTATION}; make it with "
                f"jax.random.key(seed, impl={IMPLEMENTATION!r})"
            ).here()
        state = jax.random.key_data(state)
    elif isinstance(state, list | tuple | np.ndarray):
        array = np.asarray(cast("Any", state))
        if array.dtype.kind in "iu" and array.size and array.min() >= 0 and array.max() <= _LARGEST:
            state = array.astype(np.uint32)
    value, tensor_type = _operand(state)
    if tensor_type is None or tensor_type.shape != (2,) or tensor_type.dtype != np.uint32:
        raise InvalidArgumentError(f"{use}: {_STATE}; got {_short(state, tensor_type)}").here()
    return value


def _operand(value: Any) -> tuple[Any, TensorType | None]:
    """Returns a value as an array or a tensor, and its type; None for the type of other values."""
    try:
        converted = operand(value)
        return converted, type_of_any(converted)
    except GraphcError:
        return value, None


def _short(value: Any, tensor_type: Any) -> str:
    return (
        f"{type(value).__name__} {value!r:.60}" if tensor_type is None or isinstance(value, bool) else str(tensor_type)
    )


def _is_number(value: Any, number: int) -> bool:
    return isinstance(value, int | float) and value == number


def _values(x: Any) -> Any:
    return np.arange(x, dtype=np.int32) if isinstance(x, int) else x
