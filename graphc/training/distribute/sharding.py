"""Sharding: the layout of batches and Variables on a mesh of devices, by rules."""

from __future__ import annotations

import re
import threading
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from typing import Any, TypeAlias, cast

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from graphc.compiler.base import nest
from graphc.compiler.base.errors import (
    FailedPreconditionError,
    GraphcError,
    InvalidArgumentError,
    InvalidTypeError,
    UnimplementedError,
)
from graphc.compiler.core import (
    ArrayLike,
    SymbolicTensor,
    Tensor,
    Variable,
    apply,
    canonical_array,
    context,
    mesh_text,
    note_spread,
    variable_lock,
    variable_placement,
    whole_on,
)
from graphc.compiler.devices import all_devices, device_name, devices, find_device, laid_out, placed
from graphc.compiler.ir import Attrs, Graph, TensorType, define_op
from graphc.compiler.lowering import BATCH_AXES
from graphc.compiler.ops import asarray
from graphc.compiler.tracing import ReadGuard, attribute, fixed, is_array, is_tracing, reads_here
from graphc.training.distribute.layout import split_mesh
from graphc.training.distribute.processes import check_joined, compares_batch, mark_batch

# ``shard``: an op that fixes the layout of a tensor on a mesh for XLA.

Axes: TypeAlias = Sequence[str | tuple[str, ...] | None]


class _Current(threading.local):
    """The current mesh of each thread, set by sharding scopes."""

    mesh: Mesh | None = None


current = _Current()


def named(mesh: Mesh, axes: Any, shape: Sequence[int] | None, what: str) -> NamedSharding:  # shape: None if unknown
    """Makes a sharding from axes: for each of the array, the name of a mesh axis, a tuple of several, or None."""
    if not isinstance(axes, tuple | list | P):
        message = f"{what}: expected a tuple with the name of a mesh axis or None for each axis, got {axes!r:.60}"
        raise InvalidTypeError(message).here()
    requested: list[Any] = list(cast("Any", axes))
    parts = list(map(_names, requested))
    names = [name for part in parts for name in part]
    problem = ""
    if unknown := [name for name in names if name not in mesh.axis_names]:
        problem = f"the mesh has no axis {unknown[0]!r}; it has {', '.join(map(repr, mesh.axis_names))}"
    elif len(set(names)) < len(names):
        problem = f"{tuple(requested)} names an axis of the mesh twice"
    elif shape is not None and len(parts) > len(shape):
        problem = f"{tuple(requested)} has more axes than the shape {tuple(shape)}"
    else:
        for index, (part, size) in enumerate(zip(parts, shape or (), strict=False)):
            count = int(np.prod([mesh.shape[name] for name in part]))
            if size % count:
                problem = (
                    f"axis {index} of shape {tuple(shape or ())} does not divide by the {count} devices along {part}"
                )
                break
    if problem:
        raise InvalidArgumentError(f"{what}: {problem}").here()
    return NamedSharding(mesh, P(*requested))


def _names(part: Any) -> tuple[Any, ...]:
    """Returns the mesh axes that one axis of an array is split over."""
    return () if part is None else cast("tuple[Any, ...]", part) if isinstance(part, tuple) else (part,)


def shard(x: ArrayLike, axes: Axes, *, mesh: Mesh | None = None) -> Tensor:
    """Fixes the layout of a tensor on the devices of a mesh, without changing its values.

    In a compiled function, XLA keeps this layout, and partitions everything else around it; gradients have the layout
    of the tensor. In tensor-parallel layers, it defines how activations are split.

    Args:
      x: a tensor.
      axes: for each axis, the name of the mesh axis that it is split over, a tuple of several, or None for whole; axes
        that are left out are whole.
      mesh: the devices; that of the scope around (:meth:`Sharding.scope`) when None.

    Raises:
      FailedPreconditionError: there is neither a mesh nor a sharding scope.
      InvalidArgumentError: the mesh has no such axis, or the tensor cannot be divided so.
      UnimplementedError: called in a step that runs on each replica separately.

    Example:
      >>> import graphc as gx
      >>> with gx.distribute.Sharding({"data": 1}).scope():
      ...     y = gx.distribute.shard(gx.ones((4, 2)), ("data", None))
      >>> y.sharding.num_devices
      1
    """
    if context.replica is not None:
        message = (
            "distribute.shard in a step that runs on each replica by itself, which sees its part alone; leave it out"
        )
        raise UnimplementedError(message).here()
    mesh = _current_mesh() if mesh is None else mesh
    x = asarray(x)
    sharding = named(mesh, axes, x.shape, "distribute.shard")
    if not is_tracing():
        note_spread(sharding)
    return apply(SHARD, (x,), Attrs(axes=tuple(axes), mesh=_text(mesh)))


def _current_mesh() -> Mesh:
    """Returns the mesh of the enclosing scope; a trace keeps it for calls without a scope."""
    mesh = current.mesh
    if mesh is None:
        message = "distribute.shard: which mesh? Call it inside `with sharding.scope():`, or give mesh="
        raise FailedPreconditionError(message).here()
    if (reads := reads_here()) is not None:
        source = attribute(fixed(current, "the scope of a sharding"), "mesh")
        guard = ReadGuard(source, "{v} is {0} or {v} is None", (mesh,), mesh_text(mesh))
        reads.add(guard)
    return mesh


def _text(mesh: Mesh) -> str:
    """Formats a mesh for a graph: its axes, and its devices unless they are the first of the default platform."""
    sizes = mesh_text(mesh)
    members = [*mesh.devices.flat]
    if members == [*devices()][: len(members)]:
        return sizes
    return f"{sizes} on {', '.join(device_name(device).removeprefix('/device:').lower() for device in members)}"


@lru_cache(maxsize=64)
def _mesh(text: str) -> Mesh:
    """Returns the mesh for a text from :func:`_text`."""
    sizes, _, names = text.partition(" on ")
    axes = dict(part.split("=") for part in sizes.split(", "))
    shape = tuple(map(int, axes.values()))
    members = [*map(find_device, names.split(", "))] if names else [*devices()][: int(np.prod(shape))]
    return Mesh(np.array(members).reshape(shape), tuple(axes))


def _shard(x: Any, *, axes: Axes, mesh: str) -> Any:
    return jax.lax.with_sharding_constraint(x, NamedSharding(_mesh(mesh), P(*axes)))


def _same(types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
    del attrs, regions
    return tuple(types)


SHARD = define_op(
    "distribute.shard",
    impl=_shard,
    infer=_same,
    takes_open=True,
    params=("x",),
    doc="The tensor, laid out on a mesh of devices.",
)


Rules: TypeAlias = Mapping[Any, Axes | str] | Iterable[tuple[Any, Axes | str]]


class Sharding:
    """Rules for the layout of batches and Variables on a mesh of devices with named axes.

    A batch is split over one axis of the mesh. A Variable is whole on every device unless a rule says otherwise:

    * ``{"adam/": "data"}`` splits the optimizer's state over the devices that the batch is split over (ZeRO 1);
    * ``{"kernel": "data"}`` splits parameters over them, too; they are gathered when they are used (FSDP);
    * ``{"up/kernel": (None, "model")}`` splits a layer's work over another axis of the mesh (tensor parallel).

    XLA partitions the programs accordingly and inserts the collectives, which :func:`graphc.explain` lists. Rules never
    change the numbers.

    Args:
      mesh: a ``jax.sharding.Mesh``, or the size of each axis by name, such as ``{"data": 4, "model": 2}``, of the
        first devices of the default platform.
      rules: the split of each Variable: a dict, or pairs. A key is a regular expression that is searched for in
        the Variable's name or, in a pair, a Variable; the first that fits counts. A value is a tuple with the name of a
        mesh axis, a tuple of several or None for each axis of the Variable. Or it is the name of one mesh axis: the
        Variable's largest axis that can be divided by it is split, or none. An optimizer's state follows its Variable
        if no rule fits.
      batch: the axis of the mesh that batches are split over; the first when None.

    Raises:
      InvalidArgumentError: the mesh has no such axis, or there are too few devices.
      InvalidTypeError: a rule is none.

    Example:
      >>> import graphc as gx
      >>> sharding = gx.distribute.Sharding({"data": 1}, {"kernel": "data"})
      >>> with sharding.scope():
      ...     kernel = gx.Variable(gx.ones((8, 4)), name="kernel")
      >>> tuple(kernel.sharding.spec)
      ('data', None)
    """

    def __init__(self, mesh: Mesh | Mapping[str, int], rules: Rules = (), *, batch: str | None = None) -> None:
        self.mesh = mesh if isinstance(mesh, Mesh) else _sharding_mesh(mesh)
        self.batch = self.mesh.axis_names[0] if batch is None else batch
        BATCH_AXES[self.mesh] = self.batch
        pairs: list[tuple[Any, Any]] = list(cast("Any", rules.items() if isinstance(rules, Mapping) else rules))
        self._rules = [(_key(key), axes) for key, axes in pairs]
        self.replicated = whole_on(self.mesh)
        for what, axes in [("the batch", (self.batch,)), *((repr(key), axes) for key, axes in pairs)]:
            axes = (axes,) if isinstance(axes, str) else axes
            named(self.mesh, axes, None, f"Sharding: {what}")

    @contextmanager
    def scope(self) -> Generator[Sharding]:
        """Lays out Variables made inside by the rules, and sets the mesh of :func:`graphc.distribute.shard`."""
        saved = variable_placement.choose, current.mesh
        variable_placement.choose, current.mesh = self._choose, self.mesh
        try:
            yield self
        finally:
            variable_placement.choose, current.mesh = saved

    def shard(self, batch: Any, *, axis: int = 0, even: bool = False) -> Any:
        """Lays a batch out over the devices, along its rows.

        Host arrays go directly to their devices; no device holds the whole batch. If the number of rows does not divide
        by the number of devices, r = gcd(rows, devices) groups of devices hold different rows, and the devices of a
        group the same, so that nothing is padded and results are exact. With several processes, each passes the whole
        batch, which they compare at the first call and at intervals (``gx.distribute.initialize(check_every=)``).

        Args:
          batch: tensors and arrays, also in nested structures. Scalars, and objects that are not arrays, stay as they
            are.
          axis: the axis of the rows; 1 for batches that are stacked along axis 0.
          even: whether to raise an error if the rows do not divide evenly.

        Returns:
          The same structure with tensors on all devices; in a compiled function, tensors that will have this layout.

        Raises:
          InvalidArgumentError: an array has no such axis, or its rows do not divide and ``even`` is True.

        Example:
          >>> import graphc as gx
          >>> sharding = gx.distribute.Sharding({"data": 1})
          >>> tuple(sharding.shard({"x": gx.ones((6, 2))})["x"].sharding.spec)
          ('data',)
        """
        compares = not is_tracing() and compares_batch()
        return nest.map_structure(partial(self._shard_leaf, axis, even, compares), batch)

    def _shard_leaf(self, axis: int, even: bool, compares: bool, leaf: Any) -> Any:
        if not (is_array(leaf) and leaf.shape):
            return leaf
        if not isinstance(axis, int) or not 0 <= axis < len(leaf.shape):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidArgumentError(f"shard: an array of shape {tuple(leaf.shape)} has no axis {axis!r}").here()
        mesh = self.mesh
        if leaf.shape[axis] % mesh.shape[self.batch]:
            if even:
                message = f"shard: {leaf.shape[axis]} rows do not divide by {mesh.shape[self.batch]} devices"
                raise InvalidArgumentError(message).here()
            mesh = split_mesh(mesh, self.batch, leaf.shape[axis])
        axes = (*[None] * axis, self.batch)
        if isinstance(leaf, SymbolicTensor):
            return shard(leaf, axes, mesh=mesh)
        sharding = NamedSharding(mesh, P(*axes))
        note_spread(sharding)
        array = leaf.raw if isinstance(leaf, Tensor) else leaf if isinstance(leaf, jax.Array) else canonical_array(leaf)
        spread = laid_out(array, sharding)
        if compares and not sharding.is_fully_addressable and getattr(array, "is_fully_addressable", True):
            mark_batch(spread, array)
        return Tensor(spread)

    def place(self, variables: Iterable[Variable]) -> None:
        """Moves Variables made outside the scope to their layout by the rules.

        Raises:
          InvalidArgumentError: a Variable cannot be split as its rule says.
        """
        note_spread(self.replicated)
        for variable in variables:
            layout = self._fitting(variable.name, variable.shape, variable) or self.replicated
            with variable_lock:
                variable.raw = placed(variable.raw, layout)

    def _choose(self, name: str, array: Any) -> NamedSharding:
        """Returns the layout of a new Variable: by a rule, or that of an initial value on several devices."""
        layout = self._fitting(name, array.shape)
        if layout is None and isinstance(array, jax.Array) and isinstance(array.sharding, NamedSharding):
            same = array.sharding.device_set == self.replicated.device_set
            return array.sharding if same else self.replicated
        return layout or self.replicated

    def _fitting(self, name: str, shape: Sequence[int], variable: Variable | None = None) -> NamedSharding | None:
        for key, axes in self._rules:
            if key is variable if isinstance(key, Variable) else key.search(name):
                axes = self._along(axes, shape) if isinstance(axes, str) else axes
                return named(self.mesh, axes, shape, f"Sharding: Variable {name!r}")
        return None

    def _along(self, axis: str, shape: Sequence[int]) -> Axes:
        """Returns the axes for a Variable whose largest divisible axis is split over one axis of the mesh."""
        fits = [position for position, size in enumerate(shape) if size and size % self.mesh.shape[axis] == 0]
        if not fits:
            return ()
        position = max(fits, key=lambda position: shape[position])
        return tuple([axis if other == position else None for other in range(len(shape))])

    def __repr__(self) -> str:
        rules = [(key.name if isinstance(key, Variable) else key.pattern, axes) for key, axes in self._rules]
        return f"Sharding({dict(self.mesh.shape)}, {rules}, batch={self.batch!r})"


def _key(key: Any) -> Any:
    if isinstance(key, Variable):
        return key
    try:
        return re.compile(key)
    except (TypeError, re.error) as error:
        kind = InvalidArgumentError if isinstance(key, str) else InvalidTypeError
        message = f"Sharding: a rule is for a Variable, or for names that fit a regular expression, got {key!r:.60}"
        raise kind(f"{message} ({error})").here() from None


def _sharding_mesh(sizes: Mapping[str, int]) -> Mesh:
    check_joined()
    available = all_devices()
    try:
        count = int(np.prod(list(sizes.values())))
        return Mesh(np.array(available[:count]).reshape(tuple(sizes.values())), tuple(sizes))
    except (TypeError, ValueError, AttributeError):
        error: GraphcError = InvalidArgumentError(
            f"Sharding: the mesh must be a jax.sharding.Mesh, or a size for each axis that {len(available)} devices "
            f"suffice for, such as {{'data': {len(available)}}}, got {sizes!r:.60}"
        )
        raise error.here() from None
