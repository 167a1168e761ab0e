"""Modules of flax and equinox as layers, with their parameters in Variables."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, cast

import jax as _jax
import jax.numpy as jnp

from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError
from graphc.compiler.core import Variable
from graphc.compiler.ops import call_jax, random
from graphc.training.layers.layer import Layer

jax: Any = _jax  # its functions are only partly annotated

_OPPOSITE = ("deterministic", "use_running_average", "inference")


class _Foreign(Layer):
    """A pure function of JAX, with what it is a function of in Variables.

    Args:
      function: takes parameters, state, a key, the inputs, the options by name and ``training``, which is static, and
        returns the outputs and the new state.
      asks: the signature of the module, for what it wants to know of training.
    """

    def __init__(self, function: Callable[..., Any], params: Any, state: Any, asks: Any, name: str) -> None:
        super().__init__(name)
        self.built = True
        self._functions = {training: partial(function, training=training) for training in (False, True)}
        self._params, self._state = self._made(params, trainable=True), self._made(state, trainable=False)
        self._asks = frozenset(inspect.signature(asks).parameters)

    def _made(self, tree: Any, *, trainable: bool) -> Any:
        def make(path: Any, array: Any) -> Variable:
            name = jax.tree_util.keystr(path, simple=True, separator="/").removesuffix("/value")
            trained = trainable and bool(jnp.issubdtype(array.dtype, jnp.inexact))
            variable = Variable(array, trainable=trained, name=f"{self.name}/{name}")
            self._named[name] = variable
            return variable

        return jax.tree_util.tree_map_with_path(make, tree)

    @property
    def _named(self) -> dict[str, Variable]:
        return self.__dict__.setdefault("_variables", {})

    def _parts(self) -> Iterator[tuple[str, Any]]:
        yield from self._named.items()

    def call(self, *inputs: Any, training: bool = False, **options: Any) -> Any:
        """Computes what the module gives for these inputs."""
        for name in ("training", "train", "is_training", *_OPPOSITE):
            if name in self._asks:
                options.setdefault(name, training != (name in _OPPOSITE))
        key = random.get_global_generator().key() if training else None
        outputs, state = call_jax(self._functions[bool(training)], self._params, self._state, key, inputs, options)
        if training:
            for variable, value in zip(jax.tree.leaves(self._state), jax.tree.leaves(state), strict=True):
                variable.assign(value)
        return outputs


def from_flax(module: Any, variables: Mapping[str, Any] | None = None) -> Layer:
    """Makes a layer of a module of flax, ``linen`` or ``nnx``.

    The parameters are Variables that are trained; other collections, such as batch statistics, are Variables that are
    not, and are updated while training. Dropout draws from ``gx.random``. A module that takes ``train``, ``training``,
    ``deterministic`` or ``use_running_average`` is told whether the layer trains.

    Args:
      module: a ``flax.linen.Module``, or a ``flax.nnx.Module``, which stays as it is.
      variables: of a linen module, what ``module.init(key, x)`` gave.

    Raises:
      InvalidTypeError: ``module`` is of neither kind.
      InvalidArgumentError: the variables of a linen module are missing.

    Example:
      >>> import graphc as gx
      >>> import flax.linen as nn, jax  # doctest: +SKIP
      >>> module = nn.Dense(4)  # doctest: +SKIP
      >>> layer = gx.layers.from_flax(module, module.init(jax.random.key(0), jax.numpy.ones((1, 3))))  # doctest: +SKIP
      >>> [*layer.named_variables()]  # doctest: +SKIP
      ['params/bias', 'params/kernel']
    """
    kind = type(module).__name__.lower()
    if hasattr(module, "init") and hasattr(module, "apply"):
        if not isinstance(variables, Mapping) or "params" not in variables:
            raise InvalidArgumentError(
                f"from_flax: give the variables of {type(module).__name__}: from_flax(module, module.init(key, x))"
            ).here()
        params = {"params": variables["params"]}
        state = {name: collection for name, collection in variables.items() if name != "params"}
        return _Foreign(partial(_linen, module), params, state, type(module).__call__, kind)
    if not _is_of(module, "flax.nnx"):
        text = f"from_flax: expected a module of flax.linen or flax.nnx, got {type(module).__name__}"
        raise InvalidTypeError(text).here()
    nnx = _imported("flax.nnx")
    copies = {training: nnx.clone(module) for training in (False, True)}
    copies[True].train()
    copies[False].eval()
    split = {training: nnx.split(copy, nnx.Param, nnx.RngState, ...) for training, copy in copies.items()}
    definitions = {training: parts[0] for training, parts in split.items()}
    _, params, rngs, state = split[True]
    return _Foreign(partial(_nnx, definitions, rngs), params, state, type(module).__call__, kind)


def from_equinox(module: Any, *, batched: bool = True) -> Layer:
    """Makes a layer of a module of equinox.

    Its floating arrays are Variables that are trained. A module that takes ``key`` is given one of ``gx.random`` while
    training, and works in equinox's inference mode otherwise.

    Args:
      module: an ``equinox.Module`` without state of ``equinox.nn.State``.
      batched: whether it is called for each row of a batch, as modules of equinox take one example.

    Raises:
      InvalidTypeError: ``module`` is no module of equinox.

    Example:
      >>> import graphc as gx
      >>> import equinox, jax  # doctest: +SKIP
      >>> layer = gx.layers.from_equinox(equinox.nn.Linear(3, 4, key=jax.random.key(0)))  # doctest: +SKIP
      >>> layer(gx.ones((2, 3))).shape, [*layer.named_variables()]  # doctest: +SKIP
      ((2, 4), ['weight', 'bias'])
    """
    if not _is_of(module, "equinox"):
        text = f"from_equinox: expected a module of equinox, got {type(module).__name__}"
        raise InvalidTypeError(text).here()
    equinox = _imported("equinox")
    modules = {training: equinox.nn.inference_mode(module, value=not training) for training in (False, True)}
    static = {training: equinox.partition(one, equinox.is_inexact_array)[1] for training, one in modules.items()}
    params = equinox.filter(module, equinox.is_inexact_array)
    takes_key = "key" in inspect.signature(type(module).__call__).parameters
    function = partial(_equinox, static, takes_key, batched)
    return _Foreign(function, params, {}, type(module).__call__, type(module).__name__.lower())


def _imported(name: str) -> Any:
    from importlib import import_module

    return import_module(name)


def _is_of(module: Any, library: str) -> bool:
    kinds = cast("type[Any]", type(module)).__mro__
    return any(kind.__module__.startswith(f"{library}.") and kind.__name__ == "Module" for kind in kinds)


def _linen(
    module: Any, params: Any, state: Any, key: Any, inputs: Any, options: Any, *, training: bool
) -> tuple[Any, Any]:
    if not training:
        return module.apply({**params, **state}, *inputs, **options), state
    rngs = {"dropout": jax.random.wrap_key_data(key)}
    return module.apply({**params, **state}, *inputs, rngs=rngs, mutable=[*state], **options)


def _nnx(
    definitions: Any, rngs: Any, params: Any, state: Any, key: Any, inputs: Any, options: Any, *, training: bool
) -> tuple[Any, Any]:
    nnx = _imported("flax.nnx")
    if training:  # each stream of random numbers goes on from the key of this call
        leaves, structure = jax.tree.flatten(rngs)
        keys = jax.random.split(jax.random.wrap_key_data(key), len(leaves) or 1)
        fresh = [
            keys[index] if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key) else leaf
            for index, leaf in enumerate(leaves)
        ]
        rngs = jax.tree.unflatten(structure, fresh)
    module = nnx.merge(definitions[training], params, rngs, state)
    outputs = module(*inputs, **options)
    return outputs, nnx.split(module, nnx.Param, nnx.RngState, ...)[3]


def _equinox(
    static: Any, takes_key: bool, batched: bool, params: Any, state: Any, key: Any, inputs: Any, options: Any, *,
    training: bool,
) -> tuple[Any, Any]:  # fmt: skip
    module = _imported("equinox").combine(params, static[training])
    count = inputs[0].shape[0] if batched and inputs else 1
    keys: Any = None
    if takes_key and training:
        keys = jax.random.wrap_key_data(key)
        keys = jax.random.split(keys, count) if batched else keys

    def one(key: Any, *inputs: Any) -> Any:
        return module(*inputs, **options, **({} if key is None else {"key": key}))

    call = jax.vmap(one, in_axes=(None if keys is None else 0, *[0] * len(inputs))) if batched else one
    try:
        return call(keys, *inputs), state
    except (TypeError, ValueError) as error:
        if batched:
            rows = "the module is called for each row of a batch; for one example, write batched=False in from_equinox"
            error.args = (f"{error} ({rows})",)
        raise
