"""A user's step as a program that a worker runs: Variables come from the servers, gradients go there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax as _jax
import numpy as np

from graphc.cluster.parameters.layout import ShardLayout, SharedProgram
from graphc.cluster.parameters.shard import Cover
from graphc.compiler.autograph import call
from graphc.compiler.base import nest
from graphc.compiler.base.errors import InvalidTypeError, UnimplementedError
from graphc.compiler.core import Tensor, Variable, as_dtype, replica_scope, updates_scope
from graphc.compiler.function import to_jax
from graphc.compiler.ops import call_jax, is_random_state
from graphc.compiler.tracing import reads_here
from graphc.graphs.refusals import user_error
from graphc.training.optim import Optimizer

jax: Any = _jax  # its functions are only partly annotated
jnp: Any = jax.numpy

_ARRAY = object()
"""The placeholder of a leaf that is an array."""


@dataclass(frozen=True)
class StepText:
    """The description of a step that a worker receives.

    Attributes:
      program: the step's program. It takes the buffers of each server, other values, the number of the step and its
        arguments; it returns the results and, for each server, gradients, amounts to add, and changes to average.
      gradients: for each server, the buffers and elements that it has gradients for.
    """

    program: SharedProgram
    pulled: tuple[tuple[int, ...], ...]
    gradients: tuple[tuple[tuple[int, Cover], ...], ...]
    added: tuple[tuple[tuple[int, Cover], ...], ...]
    averaged: tuple[tuple[tuple[int, Cover], ...], ...]
    pushes: bool


class Taker:
    """Records the updates of a step while it is traced, and stands in for the worker that will run it."""

    num_replicas = 1
    weights: Any = None

    def __init__(self, number: Tensor) -> None:
        self._number = number
        self.optimizer: Optimizer | None = None
        self.updated: set[str] = set()
        self.targets: list[Variable] = []
        self.gradients: dict[str, Any] = {}
        self.sums: set[str] = set()

    def take(self, optimizer: Any, gradients: Sequence[Any], variables: Sequence[Any]) -> None:
        """Records an update of an optimizer, which the servers run."""
        if self.optimizer is not None:
            raise user_error(
                "ParameterServer: a step may call apply_gradients once; pass all gradients to one optimizer, such as "
                "gx.optim.Optimizer(optax.multi_transform(...))",
                UnimplementedError,
            )
        self.optimizer, self.updated = optimizer, {variable.name for variable in variables}
        self.targets = list(variables)
        pairs = zip(gradients, variables, strict=True)
        self.gradients = {variable.name: gradient for gradient, variable in pairs if gradient is not None}

    def note_sum(self, variable: Any) -> None:
        """Records that the changes of a Variable are summed, like those of ``assign_add``."""
        self.sums.add(variable.name)

    def mean(self, tensors: Sequence[Any]) -> list[Any]:
        """Returns the tensors unchanged: workers know nothing about each other."""
        return list(tensors)

    def total(self, tensors: Sequence[Any]) -> list[Any]:
        """Returns the tensors unchanged; see :meth:`mean`."""
        return list(tensors)

    def fold_key(self, key: Any) -> Any:
        """Returns key data that differs between steps."""

        def fold(data: Any, number: Any) -> Any:
            return jax.random.key_data(jax.random.fold_in(jax.random.wrap_key_data(data), number))

        return call_jax(fold, key, self._number)


class TracedStep:
    """A step, traced for arguments of certain types and values.

    Attributes:
      captured: the arrays that it read from its surroundings when it was traced.
    """

    __graphc_opaque__ = True  # what it records while it is traced is not state of the step

    def __init__(self, step: Callable[..., Any], arguments: tuple[Any, Mapping[str, Any]]) -> None:
        leaves = nest.flatten(arguments)[0]
        self._taker: Taker | None = None
        self._results: Any = None
        self._pure = to_jax(self._traced(step, arguments))
        arrays = [_array(leaf) for leaf in leaves if _is_array(leaf)]
        self._types = [jax.ShapeDtypeStruct(array.shape, array.dtype) for array in arrays]
        self._start = self._pure.init(np.int32(0), *arrays)
        self._trace, captured = self._pure.captured(np.int32(0), *arrays)
        self.captured = [np.asarray(_array(array)) for array in captured]
        self.variables = {name: variable for name, variable in self._pure.variables.items() if name in self._start}
        taker = self.taker
        self.optimizer, self.updated, self.trained = taker.optimizer, taker.updated, set(taker.gradients)

    @property
    def taker(self) -> Taker:
        """Returns the object that recorded the updates of the step when it was traced."""
        assert self._taker is not None
        return self._taker

    def _note(self, taker: Taker) -> Taker:
        self._taker = taker  # in a method of its own: while a step is traced, it would be an assignment of the step's
        return taker

    def _traced(self, step: Callable[..., Any], arguments: Any) -> Callable[..., Any]:
        """Returns the step as a function of its number and arrays, with only the step's guards."""
        leaves, structure = nest.flatten(arguments)
        template = tuple(_ARRAY if _is_array(leaf) else leaf for leaf in leaves)

        def traced(number: Any, *arrays: Any) -> Any:
            remaining = iter(arrays)
            args, kwargs = nest.unflatten(structure, [next(remaining) if leaf is _ARRAY else leaf for leaf in template])
            if (reads := reads_here()) is not None:  # otherwise its Variables are new
                reads.function(step)
            taker = self._note(Taker(number))
            with updates_scope(taker), replica_scope(taker):
                result = call(step)(*args, **kwargs)
            return result, list(taker.gradients.values())

        return traced

    def text(self, layout: ShardLayout) -> StepText:
        """Returns the description of the step for workers, for a layout of the servers' values."""
        served = [name for name in self.variables if name in layout.shapes]
        self._others = [name for name in self.variables if name not in layout.shapes]
        covers: dict[str, Any] = {"gradients": [], "added": [], "averaged": []}
        servers = range(len(layout.servers))
        pulled = [
            [index for index, buffer in enumerate(buffers) if any(piece.name in served for piece in buffer.pieces)]
            for buffers in layout.servers
        ]

        def program(buffers: Any, others: Any, read: Any, number: Any, arrays: Any) -> Any:
            flats = [dict(zip(indices, pieces, strict=True)) for indices, pieces in zip(pulled, buffers, strict=True)]
            variables = {**layout.join(served, flats), **dict(zip(self._others, others, strict=True))}
            (result, gradients), new = self._pure.compute(variables, read, number, *arrays)
            by_name = dict(zip(self.taker.gradients, gradients, strict=True))
            self._check_assigned([name for name in new if new[name] is not variables[name]], layout)
            changes = {name: new[name] - variables[name] for name in served if new[name] is not variables[name]}
            dense = {name: gradient for name, gradient in by_name.items() if name in layout.shapes}
            flat: dict[str, list[list[Any]]] = {}
            # Of floats that are assigned a round adds the mean change; sums are summed.
            inexact = {name for name in changes if self.variables[name].type.is_inexact}
            mean = {name: changes[name] for name in changes if name in inexact and name not in self.taker.sums}
            added = {name: changes[name] for name in changes if name not in mean}
            for kind, arrays_of in (("gradients", dense), ("added", added), ("averaged", mean)):
                cuts = [layout.cut(s, arrays_of) for s in servers]
                covers[kind] = [tuple((index, cover) for index, (_, cover) in cut.items()) for cut in cuts]
                flat[kind] = [[array for array, _ in cut.values()] for cut in cuts]
            return self._flat(result), flat["gradients"], flat["added"], flat["averaged"]

        types = (
            [
                [jax.ShapeDtypeStruct((buffers[index].size,), buffers[index].dtype) for index in indices]
                for buffers, indices in zip(layout.servers, pulled, strict=True)
            ],
            [jax.ShapeDtypeStruct(self._start[name].shape, self._start[name].dtype) for name in self._others],
            [jax.ShapeDtypeStruct(array.shape, array.dtype) for array in self.captured],
            jax.ShapeDtypeStruct((), np.int32), self._types,
        )  # fmt: skip
        jax.eval_shape(program, *types)
        return StepText(
            SharedProgram(program, types), tuple(map(tuple, pulled)), tuple(covers["gradients"]),
            tuple(covers["added"]), tuple(covers["averaged"]), any(map(any, covers.values())),
        )  # fmt: skip

    def _check_assigned(self, names: Sequence[str], layout: ShardLayout) -> None:
        for name in names:
            variable = self.variables[name]
            if name not in layout.shapes and not is_random_state(variable):
                raise user_error(
                    f"ParameterServer: the step assigns Variable {name!r}, which no server keeps; make it in "
                    "server.scope(), or return the value from the step"
                )
            if name in layout.shapes and variable.dtype == np.bool_:
                raise user_error(
                    f"ParameterServer: the step assigns Variable {name!r} of dtype bool, but servers sum changes; "
                    "make it an int8 Variable",
                    InvalidTypeError,
                )

    def _flat(self, result: Any) -> list[Any]:
        leaves, structure = nest.flatten(result)
        self._results = structure, [_ARRAY if _is_array(leaf) else leaf for leaf in leaves]
        return [leaf for leaf in leaves if _is_array(leaf)]

    def arrays(self, arguments: Any) -> list[Any]:
        """Returns the arrays among the arguments of a call."""
        return [_array(leaf) for leaf in nest.flatten(arguments)[0] if _is_array(leaf)]

    def read(self, arguments: Any) -> list[Any] | None:
        """Returns the current arrays that the step reads from its surroundings.

        None if a Python value there has changed since the step was traced.
        """
        captured = self._pure.still_captured(self._trace, np.int32(0), *self.arrays(arguments))
        return None if captured is None else [np.asarray(_array(array)) for array in captured]

    def others(self) -> list[Any]:
        """Returns the current values of the Variables that the step reads and no server keeps."""
        return [self.variables[name].numpy() for name in self._others]

    def result(self, arrays: Sequence[Any]) -> Any:
        """Returns the step's result, from the arrays that the program returned."""
        structure, template = self._results
        remaining = iter(arrays)
        leaves = [Tensor(jnp.asarray(next(remaining))) if leaf is _ARRAY else leaf for leaf in template]
        return nest.unflatten(structure, leaves)


def signature(arguments: Any) -> Any:
    """Returns the key of a trace: the types of arrays, and all other values."""
    leaves, structure = nest.flatten(arguments)
    kinds: list[Any] = [
        (_array(leaf).shape, str(_array(leaf).dtype)) if _is_array(leaf) else (leaf.__class__, leaf) for leaf in leaves
    ]
    return structure, tuple(kinds)


def _is_array(leaf: Any) -> bool:
    return isinstance(leaf, Tensor | Variable | jax.Array | np.ndarray | np.generic)


def _array(leaf: Any) -> Any:
    if isinstance(leaf, Tensor | Variable):
        return leaf.raw
    dtype = as_dtype(leaf.dtype)  # 32 bits, unless 64-bit types are enabled
    return leaf if dtype == leaf.dtype else np.asarray(leaf, dtype)
