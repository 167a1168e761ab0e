"""Saver: saves the values of a Session's Variables as checkpoints, and restores them."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np

from graphc.compiler.base.errors import InvalidTypeError
from graphc.graphs.refusals import user_error
from graphc.graphs.session.checkpoints import (
    CheckpointReader,
    checkpoint_exists,
    remove_checkpoint,
    update_checkpoint_state,
    write_arrays,
)
from graphc.graphs.session.graphs.graph import Graph, default_graph
from graphc.graphs.session.graphs.naming import GraphKeys
from graphc.graphs.session.graphs.placeholders import placeholder
from graphc.graphs.session.graphs.tensor import GraphTensor, Operation
from graphc.graphs.session.session import Session
from graphc.graphs.session.variables.variable import GraphVariable


class Saver:
    """Saves Variables of Sessions as checkpoints, and restores them.

    Args:
      var_list: the Variables, or a dict of them by the names that they have in the file; all global ones if None.
      reshape: whether to restore values of other shapes with the same number of elements.
      max_to_keep: the number of checkpoints to keep; None or 0 for all.
      keep_checkpoint_every_n_hours: the hours between checkpoints that are kept in addition.
      name: the scope of the operations.
      allow_empty: whether there may be no Variables.
      pad_step_number: whether to pad step numbers to eight digits, so that names sort by step.
      defer_build: whether to look up the Variables at the first use.
      **ignored: arguments of TensorFlow that have no effect here (``sharded``, ``write_version``).

    Raises:
      InvalidArgumentError: there are no Variables, or two have the same name.

    Example:
      >>> import tempfile
      >>> from graphc.graphs.session import Graph, GraphVariable, Saver, Session
      >>> with Graph().as_default() as graph:
      ...     w = GraphVariable([1.0, 2.0], name="w")
      ...     saver = Saver()
      >>> with Session(graph=graph) as session:
      ...     session.run(w.initializer)
      ...     path = saver.save(session, tempfile.mkdtemp() + "/model", global_step=3)
      >>> with Session(graph=graph) as session:
      ...     saver.restore(session, path)
      ...     session.run(w).tolist()
      [1.0, 2.0]
    """

    def __init__(
        self, var_list: Any = None, reshape: bool = False, *, max_to_keep: int | None = 5,
        keep_checkpoint_every_n_hours: float = 10000.0, name: str | None = None, allow_empty: bool = False,
        pad_step_number: bool = False, defer_build: bool = False, **ignored: Any,
    ) -> None:  # fmt: skip
        del ignored
        self._given = var_list
        self._reshape = reshape
        self._max_to_keep = max_to_keep or 0
        self._every = keep_checkpoint_every_n_hours * 3600
        self._name = name or "save"
        self._allow_empty = allow_empty
        self._pad = pad_step_number
        self._kept: list[tuple[str, float]] = []
        self._next_to_keep = time.time() + self._every
        self._variables: dict[str, GraphVariable] = {}
        self._feeds: dict[str, GraphTensor] = {}
        self._restores: dict[str, Operation] = {}
        if not defer_build:
            self.build()

    def build(self) -> None:
        """Looks up the Variables, and makes the operations that restore them."""
        if self._restores:
            return
        graph = default_graph()
        self._variables = _by_name(self._given, graph)
        if not self._variables and not self._allow_empty:
            raise user_error("No variables to save: make the Variables before the Saver, or pass var_list")
        if not self._variables:
            return
        graph = next(iter(self._variables.values())).graph
        with graph.as_default(), graph.name_scope(self._name), graph.control_dependencies(None):
            for key, variable in self._variables.items():
                type = variable.type
                feed = placeholder(type.dtype, None if self._reshape else variable.shape, name="value")
                self._feeds[key] = feed
                self._restores[key] = Operation(graph, graph.trace.append_assignment(variable, feed))

    def save(
        self, sess: Session, save_path: str, global_step: Any = None, latest_filename: str | None = None,
        write_state: bool = True, **ignored: Any,
    ) -> str:  # fmt: skip
        """Saves the Variables' values in a Session.

        Args:
          sess: the Session.
          save_path: the prefix of the checkpoint's name; its folder is created.
          global_step: the step, a number or a Variable or tensor of the Session, which the name ends with.
          latest_filename: the name of the file that lists the checkpoints; ``checkpoint`` if None.
          write_state: whether to write that file.
          **ignored: arguments of TensorFlow about the graph's own file, which is not written.

        Returns:
          The checkpoint's name, for :meth:`restore`.

        Raises:
          FailedPreconditionError: a Variable has no value.
        """
        del ignored
        self.build()
        prefix = self._prefix(sess, save_path, global_step)
        names = list(self._variables)
        values: list[Any] = sess.run([self._variables[name] for name in names])
        write_arrays(prefix, {name: np.asarray(value) for name, value in zip(names, values, strict=True)})
        self._keep(prefix)
        if write_state:
            update_checkpoint_state(str(Path(prefix).parent), prefix, self.last_checkpoints, latest_filename)
        return prefix

    def _prefix(self, sess: Session, save_path: str, global_step: Any) -> str:
        if global_step is None:
            return str(save_path)
        number: Any = sess.run(global_step) if isinstance(global_step, GraphTensor | GraphVariable) else global_step
        step = int(number)
        return f"{save_path}-{step:08d}" if self._pad else f"{save_path}-{step}"

    def _keep(self, prefix: str) -> None:
        """Records a checkpoint, and removes surplus ones."""
        self._kept = [(path, when) for path, when in self._kept if path != prefix]
        self._kept.append((prefix, time.time()))
        while self._max_to_keep and len(self._kept) > self._max_to_keep:
            oldest, when = self._kept.pop(0)
            if when >= self._next_to_keep:
                self._next_to_keep += self._every
            else:
                remove_checkpoint(oldest)

    def restore(self, sess: Session, save_path: str) -> None:
        """Restores the Variables from a checkpoint, in a Session; they need not be initialized.

        Args:
          sess: the Session.
          save_path: the checkpoint, as :meth:`save` or ``latest_checkpoint`` returns it.

        Raises:
          InvalidArgumentError: it is not a checkpoint, or a value has another shape.
          NotFoundError: the checkpoint has no value for a Variable.
        """
        self.build()
        path: Any = save_path
        if path is None or not checkpoint_exists(str(path)):
            raise user_error(
                f"The passed save_path is not a valid checkpoint: {save_path}; see latest_checkpoint(folder)"
            )
        reader = CheckpointReader(str(save_path))
        feeds: dict[Any, Any] = {}
        for key, feed in self._feeds.items():
            array = reader.get_tensor(key)
            variable = self._variables[key]
            feeds[feed] = self._fitted(key, array, variable)
        sess.run(list(self._restores.values()), feeds)

    def _fitted(self, key: str, array: np.ndarray[Any, Any], variable: GraphVariable) -> np.ndarray[Any, Any]:
        shape = cast("Sequence[int | None]", variable.shape)
        fits = len(shape) == array.ndim and all(a in (None, b) for a, b in zip(shape, array.shape, strict=True))
        if self._reshape and not fits and None not in shape and array.size == np.prod([size or 0 for size in shape]):
            return array.reshape([size or 0 for size in shape])
        if fits:
            return array
        raise user_error(
            f"Assign requires shapes of both tensors to match: the checkpoint's {key!r} has {list(array.shape)}, the "
            f"Variable {variable.name!r} has {list(shape)}"
        )

    @property
    def last_checkpoints(self) -> list[str]:
        """The checkpoints that are kept, oldest first."""
        return [path for path, _ in self._kept]

    def set_last_checkpoints(self, last_checkpoints: Sequence[str]) -> None:
        """Sets the existing checkpoints of an earlier run of the program, oldest first."""
        self._kept = [(path, time.time()) for path in last_checkpoints]

    def recover_last_checkpoints(self, checkpoint_paths: Sequence[str]) -> None:
        """Sets the checkpoints that still exist among the given ones; see :meth:`set_last_checkpoints`."""
        self.set_last_checkpoints([path for path in checkpoint_paths if checkpoint_exists(path)])


def _by_name(variables: Any, graph: Graph) -> dict[str, GraphVariable]:
    if variables is None:
        keys = (GraphKeys.GLOBAL_VARIABLES, GraphKeys.SAVEABLE_OBJECTS)
        variables = list(dict.fromkeys(one for key in keys for one in graph.get_collection(key)))
    named: dict[str, Any] = {}
    if isinstance(variables, Mapping):
        named.update(cast("Mapping[str, Any]", variables))
    else:
        for variable in cast("Sequence[Any]", variables):
            key = str(getattr(variable, "name", "")).removesuffix(":0")
            if key in named:
                raise user_error(f"Saver: two Variables have the name {key!r}")
            named[key] = variable
    for key, variable in named.items():
        if not isinstance(variable, GraphVariable):
            raise InvalidTypeError(f"Saver: expected Variables of a graph, got {variable!r:.60} for {key!r}").here()
    return named
