"""Methods of a dataset that depend on earlier elements: scan, reduce, unique, rejection_resample, cache, prefetch."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Self, cast

import jax as _jax

from graphc.compiler.base import nest
from graphc.compiler.core import SymbolicTensor, Tensor
from graphc.compiler.devices import find_device
from graphc.compiler.runtime import observer
from graphc.compiler.tracing import content_of
from graphc.training.data.elements import Nested, Row, flatten, spec_of, take_apart, to_tensors, unflatten
from graphc.training.data.functions import user_function
from graphc.training.data.nodes.buffers import Cache, FileCache
from graphc.training.data.nodes.counting import Take
from graphc.training.data.nodes.grouping import IgnoreErrors, RejectionResample, Scan, UniqueElements
from graphc.training.data.nodes.origins import shared
from graphc.training.data.nodes.threads import Prefetch
from graphc.training.data.plan import Epoch
from graphc.training.data.planned_dataset import Planned, count_of, first_row, refuse

# Placement of elements on devices before they are used.

jax: Any = _jax  # its functions are only partly annotated


def placer(to: Any, *, local: bool = False) -> Callable[[Row], Row]:
    """Returns a function that moves a row to its device; while a ``gx.profile`` is open, each is a ``transfer`` event.

    Args:
      to: a device or its name, a sharding of JAX's, or an object with ``shard(batch)``.
      local: whether a row holds this process's part of a batch, for an object with ``from_local(batch)``.
    """
    name = str(getattr(to, "name", None) or (to if isinstance(to, str) else type(to).__name__))
    move = _mover(to, local)

    def place(row: Row) -> Row:
        timeline = observer()
        if timeline is None:
            return move(row)
        start = time.perf_counter()
        moved = jax.block_until_ready(move(row))
        timeline.add(f"a batch to {name}", "transfer", threading.current_thread().name, start)
        return moved

    return place


def _mover(to: Any, local: bool) -> Callable[[Row], Row]:
    shard = getattr(to, "from_local" if local else "shard", None)
    if shard is not None:
        return lambda row: tuple([_raw(shard(leaf)) if _moves(leaf) else leaf for leaf in row])
    target = to if isinstance(to, jax.sharding.Sharding | jax.Device) else find_device(to)
    return lambda row: tuple([jax.device_put(leaf, target) if _moves(leaf) else leaf for leaf in row])


def _moves(leaf: Any) -> bool:
    return not isinstance(leaf, bytes | Nested) and leaf.dtype.kind != "O"


def _raw(leaf: Any) -> Any:
    return leaf.raw if isinstance(leaf, Tensor) else leaf


_AHEAD = 2


class Remembering(Planned):
    """Methods of a dataset that remember elements or keep a state."""

    def _stateful(self, state: Any, function: Callable[..., Any], use: str) -> tuple[Row, Any]:
        """Returns the leaves of an initial state, and a function of states and elements."""
        around = [content_of(cell) for cell in getattr(function, "__closure__", None) or ()]
        for value in nest.flatten([state, around])[0]:
            if isinstance(value, SymbolicTensor):
                text = (
                    f"{value.made_at()} has no value while the compiled function is traced, and a dataset's elements "
                    "are computed then; write `for element in dataset: ...`, or call it outside of the function"
                )
                raise refuse(use, text)
        initial, structure = take_apart(state)
        spec = unflatten(structure, [spec_of(leaf) for leaf in initial])
        plan = self.plan
        sample: Any = lambda: (*initial, *first_row(plan, use))  # noqa: E731
        return initial, user_function(function, (spec, plan.spec), use, sample=sample)

    def scan(self, initial_state: Any, scan_func: Callable[[Any, Any], Any], name: str | None = None) -> Self:
        """Applies a function to each element and to a state that it updates.

        Args:
          initial_state: the first state, a nested structure of tensors.
          scan_func: maps a state and an element to a pair of the next state and an element.

        Example:
          >>> import graphc as gx
          >>> sums = gx.data.Dataset.range(5).scan(0, lambda total, x: (total + x, total + x))
          >>> [int(x) for x in sums]
          [0, 1, 3, 6, 10]
        """
        initial, function = self._stateful(initial_state, scan_func, "scan")
        result: Any = function.spec
        pair: tuple[Any, ...] = cast("tuple[Any, ...]", result) if isinstance(result, tuple) else ()
        if len(pair) != 2:
            raise refuse("scan", f"{function.name} must return a pair of the next state and an element")
        _check_state("scan", function.name, initial, pair[0])
        return self._on(Scan(self.plan, initial, function))

    def reduce(self, initial_state: Any, reduce_func: Callable[[Any, Any], Any], name: str | None = None) -> Any:
        """Applies a function to each element and to a state, and returns the last state.

        Args:
          initial_state: the first state, a nested structure of tensors.
          reduce_func: a function from a state and an element to the next state.

        Example:
          >>> import graphc as gx
          >>> gx.data.Dataset.range(5).reduce(0, lambda total, x: total + x).item()
          10
        """
        state, function = self._stateful(initial_state, reduce_func, "reduce")
        structure = take_apart(initial_state)[1]
        rows = self.optimized.open(Epoch())
        try:
            if function.mode == "blocks" and not function.takes_strings:
                _check_state("reduce", function.name, state, function.spec)
                while (block := rows.block(self.optimized.ahead)) is not None:
                    state = function.folded(state, block)
            else:
                for row in rows:
                    state = function.row((*state, *row))
        finally:
            rows.close()
        return unflatten(structure, to_tensors(tuple(state)))

    def unique(self, name: str | None = None) -> Self:
        """Drops elements that came before.

        Example:
          >>> import graphc as gx
          >>> [int(x) for x in gx.data.Dataset.from_tensor_slices([1, 37, 2, 37, 2, 1]).unique()]
          [1, 37, 2]
        """
        return self._on(UniqueElements(self.plan))

    def rejection_resample(
        self, class_func: Callable[..., Any], target_dist: Sequence[float], initial_dist: Sequence[float] | None = None,
        seed: Any = None, name: str | None = None,
    ) -> Self:  # fmt: skip
        """Drops elements at random, so that classes have target frequencies.

        Args:
          class_func: a function from an element to its class, an int from 0.
          target_dist: the target frequency of each class.
          initial_dist: the frequency of each class in the dataset; None to count.
          seed: the seed of the draws; None as for :meth:`shuffle`.

        Returns:
          A dataset of pairs of a class and an element.
        """
        target = tuple([float(share) for share in target_dist])
        initial = None if initial_dist is None else tuple([float(share) for share in initial_dist])
        if not target or min(target) < 0 or not sum(target) or (initial is not None and len(initial) != len(target)):
            raise refuse(
                "rejection_resample", f"expected a frequency for each class, got {target_dist} and {initial_dist}"
            )
        function = self._function(class_func, "rejection_resample")
        return self._on(RejectionResample(self.plan, function, target, initial, self._seed(seed)))

    def cache(self, filename: Any = "", name: str | None = None) -> Self:
        """Keeps the elements of the first pass for later passes.

        Args:
          filename: a file to keep them in, for other programs too; empty to keep them in memory.
        """
        path = str(filename)
        return self._on(FileCache(self.plan, path) if path else Cache(self.plan))

    def snapshot(self, path: Any, name: str | None = None) -> Self:
        """Keeps the elements of the first pass in a folder, for other programs too.

        Args:
          path: the folder.
        """
        return self._on(FileCache(self.plan, os.path.join(str(path), "elements")))

    def prefetch(self, buffer_size: int = -1, to: Any = None, name: str | None = None) -> Self:
        """Reads ahead in a thread, so that the input and its consumer overlap.

        Args:
          buffer_size: the number of elements to keep ready; ``gx.data.AUTOTUNE`` for 2.
          to: the target of elements: a device such as ``"gpu:0"``, or an object that lays batches out over several,
            such as a ``gx.distribute.DataParallel``; None for the default device, later. Where that spans several
            processes, each reads its own rows of batches that divide evenly, as by :meth:`shard_batches`, and all of
            other batches.
        """
        size = count_of("prefetch", "buffer_size", buffer_size, -1)
        plan, local = shared(self.plan) if hasattr(to, "from_local") else (self.plan, False)
        return self._on(Prefetch(plan, size if size > 0 else _AHEAD, None if to is None else placer(to, local=local)))

    def ignore_errors(self, log_warning: bool = False, name: str | None = None, *, log: bool = False) -> Self:
        """Skips elements that raise errors.

        Args:
          log_warning: whether to log each error, and the number of errors at the end.
          log: the same as ``log_warning``.

        Example:
          >>> import graphc as gx
          >>> def inverse(x):
          ...     return 6 // int(x)
          >>> [int(x) for x in gx.data.Dataset.range(4).map(inverse).ignore_errors()]
          [6, 3, 2]
        """
        return self._on(IgnoreErrors(self.plan, bool(log_warning or log)))

    def get_single_element(self, name: str | None = None) -> Any:
        """Returns the element of a dataset that has exactly one.

        Raises:
          InvalidArgumentError: the dataset has none, or more than one.
        """
        taken = list(self._on(Take(self.plan, 2)))
        if len(taken) != 1:
            raise refuse("get_single_element", f"the dataset has {'no elements' if not taken else 'more than one'}")
        return taken[0]


def _check_state(use: str, name: str, initial: Row, state: Any) -> None:
    """Raises an error for a function whose next state has other types than the first."""
    before = [str(spec_of(leaf)) for leaf in initial]
    after = [str(leaf) for leaf in flatten(state)[0]]
    if before != after:
        raise refuse(use, f"the state has the types {', '.join(before)}, but {name} returns {', '.join(after)}")
