"""Write-back of item assignments: the caller's tensors receive the new values of their items after each call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphc.compiler.base import Location, at, nest, user_location
from graphc.compiler.base.errors import GraphcError, InvalidArgumentError, UnimplementedError
from graphc.compiler.core import SymbolicTensor, Tensor
from graphc.compiler.function.arguments import Arguments
from graphc.compiler.tracing import TensorCell, Trace, is_array

__all__ = ["WriteBack", "array_leaves", "check_changed"]


def array_leaves(arguments: Arguments) -> list[tuple[str, Any]]:
    """Returns the tensors and arrays among the arguments, each with the expression that reaches it."""
    return [
        (path, leaf)
        for name, value in arguments.values.items()
        for path, leaf in nest.flatten_with_paths(value, name)
        if is_array(leaf)
    ]


def check_changed(name: str, changed: Mapping[int, tuple[str, Location | None]], arguments: Arguments) -> None:
    """Refuses a call with a NumPy array that the Python function changes in place, itself or through a view.

    Args:
      name: the function's name, for messages.
      changed: by the position of an argument, the operator, empty for an item assignment, and the line.

    Raises:
      InvalidArgumentError: one of these arguments is a NumPy array.
    """
    leaves = array_leaves(arguments)
    for place, (symbol, location) in changed.items():
        path, leaf = leaves[place]
        if isinstance(leaf, np.ndarray):
            how = f"changes the argument {path!r} with {symbol}=" if symbol else f"assigns items of a view of {path!r}"
            error = InvalidArgumentError(
                f"{name} {how}, which was passed as a NumPy array: the compiled function would change a copy. Pass a "
                "tensor, made with gx.asarray, or change a copy made inside with gx.copy"
            )
            raise at(error, location or user_location())


@dataclass(frozen=True)
class _Assigned:
    """An argument whose items are assigned.

    Attributes:
      index: its position among the tensors of the arguments.
      location: the line of the first assignment.
    """

    index: int
    path: str
    location: Location | None


class WriteBack:
    """Stores the values that the program assigned to items into the call's tensors; an :class:`AfterCall`.

    Args:
      name: the function's name, for messages.
    """

    def __init__(self, name: str, assigned: Sequence[_Assigned], values: Sequence[SymbolicTensor]) -> None:
        self._name = name
        self._assigned = assigned
        self._values = values
        paths = ", ".join(repr(argument.path) for argument in assigned)
        self.what = f"it assigns items of the argument{'s' * (len(assigned) > 1)} {paths}"

    @classmethod
    def of(
        cls, trace: Trace, name: str, arguments: Arguments, tensors: Sequence[SymbolicTensor], before: Sequence[Any]
    ) -> WriteBack | None:
        """Returns the write-back of a trace; None if it assigned no items of arguments.

        Args:
          name: the function's name, for messages.
        """
        changed = [index for index, tensor in enumerate(tensors) if tensor.raw is not before[index]]
        if not changed:
            return None
        paths = [path for path, _ in array_leaves(arguments)]
        writes = [trace.journal.writes.get(TensorCell(tensors[index]).key) for index in changed]
        assigned = [
            _Assigned(index, paths[index], None if write is None else write.location)
            for index, write in zip(changed, writes, strict=True)
        ]
        return cls(name, assigned, [tensors[index].snapshot() for index in changed])

    @property
    def places(self) -> list[int]:
        """The positions of these arguments among the tensors of the arguments."""
        return [argument.index for argument in self._assigned]

    def tensors(self, trace: Trace) -> Sequence[SymbolicTensor]:
        """Returns the final values of the assigned arguments."""
        return [trace.lift(value) for value in self._values]

    def run(self, arrays: Sequence[Any], arguments: Any) -> None:
        """Stores the new values in the arguments: arrays, or tensors that tapes know."""
        leaves = array_leaves(arguments)
        for argument, array in zip(self._assigned, arrays, strict=True):
            leaves[argument.index][1].become(array if isinstance(array, Tensor) else Tensor(array))

    def check(self, arguments: Arguments, captured: Sequence[Tensor]) -> None:
        """Refuses a call that would leave tensors in another state than the Python function.

        Raises:
          InvalidArgumentError: an assigned argument is not a tensor, or was made from Python numbers.
          UnimplementedError: the function reaches the tensor in two ways, of which only one would see the assignment.
        """
        leaves = array_leaves(arguments)
        given = {id(leaf) for leaf in nest.flatten(arguments.given)[0]}
        for argument in self._assigned:
            path, leaf = leaves[argument.index]
            if not isinstance(leaf, Tensor) or id(leaf) not in given:
                raise self._error(
                    InvalidArgumentError,
                    argument,
                    f"which was passed as {_described(leaf)}: the compiled function would change a copy. Pass a "
                    "tensor, made with gx.asarray, or assign to the items of a copy made inside with gx.copy",
                )
            others = [other for other, value in leaves if value is leaf and other != path]
            if others:
                raise self._error(
                    UnimplementedError,
                    argument,
                    f"but the same tensor is also passed as {others[0]!r}, which the compiled function would not see "
                    "changed; pass a copy, made with gx.copy",
                )
            if any(value is leaf for value in captured):
                raise self._error(
                    UnimplementedError,
                    argument,
                    "but the function also uses the same tensor from outside, which it would not see changed; use "
                    "the argument only, or pass a copy",
                )

    def _error(self, kind: type[GraphcError], argument: _Assigned, why: str) -> GraphcError:
        return at(
            kind(f"{self._name} assigns items of the argument {argument.path!r}, {why}"),
            argument.location or user_location(),
        )


def _described(leaf: Any) -> str:
    """Returns a description of an argument that is not a tensor."""
    if isinstance(leaf, Tensor):
        return "Python numbers"
    return "a NumPy array" if isinstance(leaf, np.ndarray | np.generic) else "a jax.Array"
