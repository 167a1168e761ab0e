"""``vmap`` and ``vectorized_map``: functions of one row, applied to all rows at once."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from types import FunctionType
from typing import Any

from graphc.compiler.base import nest
from graphc.compiler.base.errors import GraphcError, InvalidArgumentError, InvalidTypeError
from graphc.compiler.core import FUNCTIONS, Tensor, Variable, context, converted, operand
from graphc.compiler.function.arguments import Arguments
from graphc.compiler.function.function import Function
from graphc.compiler.function.traced import TracedFunction
from graphc.compiler.ir import TensorType
from graphc.compiler.ops import MappedRegion, emit_vmap
from graphc.compiler.tracing import ReadGuard, Region, current_trace, is_array, is_tracing


def vmap(fn: Callable[..., Any], in_axes: Any = 0, out_axes: Any = 0) -> Callable[..., Any]:
    """Returns a function that applies ``fn`` to all rows of its arguments at once (``jax.vmap``).

    It is compiled, in eager code too, once for each ``fn`` and each combination of types: graphc traces ``fn`` for one
    row, control flow included, and JAX vectorizes its ops. (A function made anew for each call that refers to variables
    of its enclosing function is compiled at each call; other functions are recognized.)

    A branch that depends on tensors computes both sides for all rows; a ``while`` loop runs until it has ended for all.

    Args:
      fn: a function of one row of each argument. It may read Variables but not assign them; each row draws its own
        random numbers, all from one step of the generator. Its arguments are copies, whose items it may assign. An
        exception that it raises for some rows is raised as for the first of them.
      in_axes: the argument axis that holds the rows: an int, None for an argument that is the same for all rows, or a
        tuple or list with one of these, or a nested structure of them, for each positional argument. Keyword arguments
        have the rows on axis 0.
      out_axes: the result axis that holds the rows: an int, or a nested structure of ints for parts of the result; None
        for a part that is the same for all rows.

    Returns:
      The function of all rows. Numbers returned by ``fn`` become tensors.

    Raises:
      InvalidTypeError: ``fn`` is not a function; when called: a mapped argument is not a tensor, or ``fn`` returns
        something other than tensors and numbers.
      InvalidArgumentError: when called: arguments differ in their number of rows, or lack the axis.
      UnimplementedError: when called: ``fn`` assigns a Variable, prints, or changes an object from outside.

    Example:
      >>> import graphc as gx
      >>> def collatz(n):
      ...     steps = 0
      ...     while n != 1:
      ...         n = n // 2 if n % 2 == 0 else 3 * n + 1
      ...         steps += 1
      ...     return steps
      >>> gx.vmap(collatz)(gx.arange(1, 8)).tolist()
      [0, 1, 7, 2, 5, 8, 16]
    """
    if not callable(fn):
        raise InvalidTypeError(f"vmap: expected a function, got {fn!r:.60}").here()
    try:
        compiled = _kept(SameFunction(fn), in_axes, out_axes)
    except TypeError:  # something cannot be hashed
        compiled = _made(fn, in_axes, out_axes)

    @functools.wraps(fn)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        return compiled(*args, **kwargs)

    return mapped


def vectorized_map(fn: Callable[[Any], Any], elems: Any) -> Any:
    """Applies ``fn`` to all rows of ``elems`` at once (TensorFlow's ``vectorized_map``).

    Args:
      fn: a function of one argument, a row of ``elems``; :func:`vmap` lists its restrictions and when it is compiled.
      elems: a tensor, or a nested structure of tensors, with the same size of axis 0.

    Returns:
      The results of ``fn``, with an axis 0 for the rows.

    Raises:
      InvalidTypeError, InvalidArgumentError, UnimplementedError: as for the function returned by :func:`vmap`.

    Example:
      >>> import graphc as gx
      >>> gx.vectorized_map(lambda row: gx.outer(row, row), gx.asarray([[1.0, 2.0], [3.0, 4.0]])).shape
      (2, 2, 2)
    """
    return vmap(fn)(elems)


class SameFunction:
    """A function as a key; one made anew, such as a lambda in a loop, is compared by its code and contents."""

    __slots__ = ("fn", "key")

    def __init__(self, fn: Callable[..., Any]) -> None:
        self.fn = fn
        self.key: Any = fn
        alone = isinstance(fn, FunctionType) and not (fn.__closure__ or fn.__defaults__ or fn.__kwdefaults__)
        if alone:
            self.key = fn.__code__, id(fn.__globals__), fn.__name__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SameFunction) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


@lru_cache(maxsize=64, typed=True)
def _kept(same: SameFunction, in_axes: Any, out_axes: Any) -> MappedFunction:
    return _made(same.fn, in_axes, out_axes)


def _made(fn: Callable[..., Any], in_axes: Any, out_axes: Any) -> MappedFunction:
    return MappedFunction(partial(_for_rows, fn, in_axes, out_axes), on_retrace="ignore", name=_name(fn))


def _name(fn: Callable[..., Any]) -> str:
    return str(getattr(fn, "__name__", type(fn).__name__))


class MappedFunction(Function):
    """A function that is always compiled, since mapping requires it."""

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        arguments = self._binder.bind(args, kwargs)
        traced = self._cache.find(arguments)
        return self._first_call(args, kwargs) if traced is None else self._run(traced, arguments)

    def _run(self, traced: TracedFunction, arguments: Arguments) -> Any:
        if context.creating is not None:  # an enclosing call may be undone
            for variable in traced.bound_variables(arguments):
                context.creating.note(variable)
        return super()._run(traced, arguments)

    def _create(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], *, keep: bool = True, is_certain: bool = True,
        guards: Sequence[ReadGuard] = (),
    ) -> Any:  # fmt: skip
        """Makes the Variables by calling the function on the first row, and then maps it."""
        del is_certain  # the trace that follows must not end here again
        super()._create(args, kwargs, keep=False, guards=guards)
        return self._call(args, kwargs) if keep else None


def _for_rows(fn: Callable[..., Any], in_axes: Any, out_axes: Any, /, *args: Any, **kwargs: Any) -> Any:
    name = _name(fn)
    mapped = MappedArguments.of("vmap", name, in_axes, args, kwargs)
    if not is_tracing():  # for the Variables that it makes
        rows = {index: FUNCTIONS["take"](value, 0, axis=mapped.axes[index]) for index, value in mapped.values.items()}
        positional, named = mapped.rebuilt(rows)
        fn(*positional, **named)
        return None
    what = f"the function {name!r} that gx.vmap maps"
    region = MappedRegion(current_trace(), what)
    arguments = [
        region.argument(_row_type(value.type, mapped.axes[index]), mapped.paths[index])
        for index, value in mapped.values.items()
    ]
    outputs, structure, result = mapped.traced(region, fn, arguments, "vmap", name)
    region.refuse_writes(what)
    axes = axes_of_results("vmap", out_axes, result, outputs)
    tensors = [current_trace().lift(value) for value in mapped.values.values()]
    results = emit_vmap(region, arguments, outputs, tensors, [*mapped.axes.values()], axes, mapped.size)
    return nest.unflatten(structure, results)


@dataclass(frozen=True)
class MappedArguments:
    """The arguments of a function that is mapped over axes of some of them."""

    leaves: list[Any]  # all leaves of the positional and keyword arguments
    structure: nest.Structure
    paths: list[str]
    values: dict[int, Any]  # the mapped leaves as tensors, by leaf index
    axes: dict[int, int]  # the mapped axis of each of them, by leaf index
    size: int
    # The expressions of the arguments whose items the function assigns, known once it is traced.
    assigned: list[str] = field(default_factory=list[str])

    @classmethod
    def of(cls, what: str, name: str, in_axes: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> MappedArguments:
        """Flattens the arguments of a call and finds their axes."""
        leaves, structure = nest.flatten((args, kwargs))
        pairs = (*nest.flatten_with_paths(args, "args"), *nest.flatten_with_paths(kwargs, "kwargs"))
        paths = [path for path, _ in pairs]
        numbered = enumerate(_axes_of_arguments(what, in_axes, args, kwargs))
        axes = {index: axis for index, axis in numbered if axis is not None}
        values: dict[int, Any] = {index: _tensor(what, leaves[index], paths[index], axes[index]) for index in axes}
        normal = {
            index: _axis(what, axes[index], len(value.shape), paths[index], value) for index, value in values.items()
        }
        return cls(leaves, structure, paths, values, normal, _size(what, values, normal, paths, name))

    def rebuilt(self, new: dict[int, Any]) -> tuple[Any, Any]:
        """Returns the positional and keyword arguments with some leaves replaced."""
        return nest.unflatten(self.structure, [new.get(index, leaf) for index, leaf in enumerate(self.leaves)])

    def traced(
        self, region: Region, fn: Callable[..., Any], parts: Sequence[Any], what: str, name: str, *, lifts: bool = True
    ) -> tuple[list[Any], nest.Structure, Any]:
        """Runs the function in a region, with ``parts`` in place of the mapped values."""
        # Returns the leaves of its result as tensors of the region, their structure, and the result itself. Without
        # ``lifts``, Python values stay as they are.
        replaced = {index: part.fork() for index, part in zip(self.values, parts, strict=True)}
        before = {index: part.raw for index, part in replaced.items()}
        with region.tracing():
            for index, leaf in enumerate(self.leaves):
                if index not in replaced and is_array(leaf):
                    replaced[index] = region.lift(operand(leaf)).snapshot()
            positional, named = self.rebuilt(replaced)
            result = converted(fn)(*positional, **named)
            self.assigned.extend(self.paths[index] for index, raw in before.items() if replaced[index].raw is not raw)
            leaves, structure = nest.flatten(result)
            outputs = [
                region.lift(_result(what, leaf, name)).snapshot() if lifts or is_array(leaf) else leaf
                for leaf in leaves
            ]
            return outputs, structure, result


def axes_of_results(what: str, out_axes: Any, result: Any, outputs: Sequence[Any]) -> list[int | None]:
    """Returns the axis of each leaf of a mapped function's result, whose rows are ``outputs``."""
    return [
        None if axis is None else _axis(what, axis, len(output.shape) + 1, f"out_axes={out_axes!r}", output)
        for axis, output in zip(_spread(what, out_axes, result, "out_axes"), outputs, strict=True)
    ]


def _axes_of_arguments(what: str, in_axes: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[int | None]:
    """Returns the axis of each leaf of the arguments."""
    if not isinstance(in_axes, tuple | list):
        in_axes = (in_axes,) * len(args)
    each = nest.as_tuple(in_axes)
    if len(each) != len(args):
        raise InvalidArgumentError(
            f"{what}: in_axes={in_axes!r} is for {len(each)} positional arguments, got {len(args)}"
        ).here()
    positional = [axis for axes, arg in zip(each, args, strict=True) for axis in _spread(what, axes, arg, "in_axes")]
    return [*positional, *[0] * len(nest.flatten(kwargs)[0])]


def _spread(what: str, axes: Any, value: Any, name: str) -> Iterator[int | None]:
    """Yields the axis of each leaf of a value; an entry of ``axes`` applies to everything below it."""
    if axes is None or (isinstance(axes, int) and not isinstance(axes, bool)):
        yield from [axes] * len(nest.flatten(value)[0])
        return
    wanted, parts = nest.children(axes), nest.children(value)
    if wanted is None:
        raise InvalidTypeError(f"{what}: {name} must be made of ints and None, got {axes!r:.60}").here()
    if parts is None or type(axes) is not type(value) or wanted[0] != parts[0]:
        raise InvalidArgumentError(
            f"{what}: {name} has the structure {nest.flatten(axes)[1]}, but the value has {nest.flatten(value)[1]}; "
            "pass one axis for all of it, or match its structure"
        ).here()
    for axis, part in zip(wanted[1], parts[1], strict=True):
        yield from _spread(what, axis, part, name)


def _tensor(what: str, leaf: Any, path: str, axis: Any) -> Any:
    if not is_array(leaf) and not isinstance(leaf, Variable):
        raise InvalidTypeError(
            f"{what}: {path} is {leaf!r:.60}, which has no axis {axis} to map over; set it to None in in_axes, so "
            "that it is the same for all rows"
        ).here()
    value: Any = operand(leaf)
    return value if isinstance(value, Tensor) else FUNCTIONS["asarray"](value)


def _axis(what: str, axis: Any, count: int, path: str, value: Any) -> int:
    if not -count <= axis < count:
        raise InvalidArgumentError(f"{what}: {path}: there is no axis {axis}, the type is {value.type}").here()
    return axis % count


def _size(what: str, values: dict[int, Any], axes: dict[int, int], paths: Sequence[str], name: str) -> int:
    sizes = {index: value.shape[axes[index]] for index, value in values.items()}
    if not sizes:
        raise InvalidArgumentError(f"{what}: no argument of {name!r} is mapped over; in_axes must have an int").here()
    first, size = next(iter(sizes.items()))
    for index, other in sizes.items():
        if other != size:
            raise InvalidArgumentError(
                f"{what}: {paths[first]} has {size} rows (axis {axes[first]} of {values[first].type}), {paths[index]} "
                f"has {other} (axis {axes[index]} of {values[index].type})"
            ).here()
    return size


def _row_type(type: TensorType, axis: int) -> TensorType:
    return TensorType((*type.shape[:axis], *type.shape[axis + 1 :]), type.dtype, type.weak)


def _result(what: str, leaf: Any, name: str) -> Any:
    try:
        return operand(FUNCTIONS["asarray"](leaf))
    except GraphcError:
        raise InvalidTypeError(
            f"{what}: {name!r} returned {leaf!r:.60}; a mapped function must return tensors and numbers, possibly "
            "nested"
        ).here() from None
