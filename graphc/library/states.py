"""Stateful: what holds Variables, by names that are the same in every run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import jax.numpy as jnp
import numpy as np

from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError
from graphc.compiler.core import Variable
from graphc.compiler.tracing import refuse_in_trace

_KINDS = (jnp.bool_, jnp.integer, jnp.floating, jnp.complexfloating)


class Stateful:
    """An object whose Variables can be saved and loaded; a subclass overrides :meth:`named_variables`."""

    def named_variables(self) -> dict[str, Variable]:
        """Returns the Variables by names that are the same in every run."""
        return {}

    def state_dict(self) -> dict[str, np.ndarray[Any, Any]]:
        """Returns a copy of each Variable's value as a NumPy array, by the names of :meth:`named_variables`.

        Example:
          >>> import graphc as gx
          >>> model = gx.layers.Sequential([gx.layers.Dense(2), gx.layers.Dense(1)])
          >>> _ = model(gx.ones((1, 3)))
          >>> {name: array.shape for name, array in model.state_dict().items()}
          {'dense/kernel': (3, 2), 'dense/bias': (2,), 'dense_1/kernel': (2, 1), 'dense_1/bias': (1,)}
          >>> model.load_state_dict(model.state_dict())
        """
        return {name: variable.numpy() for name, variable in self.named_variables().items()}

    def load_state_dict(self, state: Mapping[str, Any], *, strict: bool = True) -> None:
        """Assigns the values that :meth:`state_dict` gave; none of them where one does not fit.

        Args:
          state: arrays by name. Floating dtypes are converted to that of the Variable, integers likewise.
          strict: whether the names must be the same; else those that are in both are loaded.

        Raises:
          InvalidArgumentError: names are missing or additional, or shapes differ; the message lists them all.
          InvalidTypeError: a value is of another kind of numbers, such as integers for a floating Variable.
          UnimplementedError: called in a compiled function.
        """
        _load(f"{type(self).__name__} {getattr(self, 'name', '')!r}", self.named_variables(), state, strict=strict)


def _load(owner: str, variables: Mapping[str, Variable], state: Mapping[str, Any], *, strict: bool) -> None:
    refuse_in_trace(
        f"{owner}: values are loaded outside compiled functions, which would load the same ones at each call"
    )
    faults: list[str] = []
    if strict:
        faults += _listed("missing", [name for name in variables if name not in state])
        faults += _listed("additional", [name for name in state if name not in variables])
    arrays = {name: _array(state[name]) for name in variables if name in state}
    for name, array in arrays.items():
        if array.shape != variables[name].shape:
            faults.append(f"{name!r} has shape {tuple(array.shape)}, shape {variables[name].shape} is expected")
    if faults:
        unbuilt = "" if variables else "; it has no Variables yet, so build it before, or call it once"
        raise InvalidArgumentError(f"{owner}: the state does not fit: {'; '.join(faults)}{unbuilt}").here()
    for name, array in arrays.items():
        dtype = variables[name].dtype
        if not any(jnp.issubdtype(array.dtype, kind) and jnp.issubdtype(dtype, kind) for kind in _KINDS):
            raise InvalidTypeError(f"{owner}: {name!r} has dtype {array.dtype}, dtype {dtype} is expected").here()
    for name, array in arrays.items():
        variables[name].assign(jnp.asarray(array, variables[name].dtype))


def _array(value: Any) -> Any:
    raw = getattr(value, "raw", value)
    return raw if hasattr(raw, "dtype") else np.asarray(raw)


def _listed(what: str, names: Iterable[str]) -> list[str]:
    text = ", ".join(map(repr, names))
    return [f"{what}: {text}"] if text else []
