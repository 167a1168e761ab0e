"""OpDef: the definition of an op as a row with one entry per interpretation.

The ``ir`` package calls no JAX: ``impl`` is opaque to it, and only ``infer``, ``effects`` and ``fold`` are used here.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

import numpy as np

from graphc.compiler.base import Registry
from graphc.compiler.ir.open_inference import infer_open, ints_in, probe
from graphc.compiler.ir.types import OPEN, Attrs, Literal, TensorType

if TYPE_CHECKING:
    from graphc.compiler.ir.graph import Graph, Node

# Effects: the resources that a node reads and writes, as data.
#
# Dead-code elimination, common-subexpression elimination and ordering use effects; no pass has a list of op names.

WORLD = "world"
"""The resource for everything outside the program; no variable has this name."""


def part_of_world(name: str) -> str:
    """Returns the resource for the named part of the outside world, which only effects of this name access."""
    return f"{WORLD}://{name}"


def is_world(resource: str) -> bool:
    """Returns True if a resource is the outside world or a part of it, rather than a variable."""
    return resource == WORLD or resource.startswith(f"{WORLD}://")


class EffectKind(enum.Enum):
    """The kind of access to a resource."""

    READ = "read"
    WRITE = "write"


@dataclass(frozen=True, slots=True)
class Effect:
    """An access to a resource.

    Attributes:
      kind: read or write.
      resource: the name of the resource: a variable's unique name, :data:`WORLD`, or a part of it.
    """

    kind: EffectKind
    resource: str

    def __str__(self) -> str:
        return f"{self.kind.value}({self.resource})"


def reads(resource: str) -> Effect:
    """Returns the effect of reading a resource."""
    return Effect(EffectKind.READ, resource)


def writes(resource: str) -> Effect:
    """Returns the effect of writing a resource."""
    return Effect(EffectKind.WRITE, resource)


def conflicts(first: Iterable[Effect], second: Iterable[Effect]) -> bool:
    """Returns True if nodes with these effects must keep their order: they share a resource that one of them writes."""
    touched = {effect.resource: effect.kind for effect in first if effect.kind is EffectKind.READ}
    touched.update({effect.resource: effect.kind for effect in first if effect.kind is EffectKind.WRITE})
    return any(
        effect.resource in touched and EffectKind.WRITE in (effect.kind, touched[effect.resource]) for effect in second
    )


P = ParamSpec("P")
T = TypeVar("T")
Infer = Callable[[Sequence[TensorType], Attrs, "Sequence[Graph]"], tuple[TensorType, ...]]
"""Infers the output types of a node from its input types, attributes and regions."""

Entry = tuple[TensorType, int | None]
Entries = Callable[[Sequence[TensorType], Attrs, "Sequence[Graph]"], Sequence[Sequence[Entry]]]


def gives(*types: TensorType) -> Infer:
    """Returns the inference of an op whose outputs always have these types."""
    return lambda inputs, attrs, regions: types


def pure(attrs: Mapping[str, Any]) -> tuple[Effect, ...]:
    """Returns no effects, for a pure op."""
    del attrs
    return ()


@dataclass(frozen=True, eq=False)
class OpDef:
    """The definition of an op.

    Attributes:
      name: unique, lower case; dots make namespaces (``random.normal``).
      impl: evaluates the op: ``impl(*values, **attrs)``, with one callable keyword for each region, returns a value or
        a tuple of values. For rows of the op table it is a function that JAX can trace.
      infer: returns the output types for input types, attributes and regions.
      params: the names of the tensor inputs; one that starts with ``*`` takes any number.
      regions: the names of the regions, for ops that have bodies; the last may start with ``*`` and take any number.
      entries: returns the inputs of each region for input types, attributes and regions: their types, each with the
        index of the op's input that it receives, or None. None for an op whose regions stay as they are.
      effects: returns the resources that the op reads and writes, for its attributes.
      fold: a NumPy function with exactly the meaning of ``impl``, for constant folding; None if there is none.
      differentiable: whether gradients flow from outputs to inputs.
      light: whether the op takes a few instructions per element and has no effects, so that on a small array it may be
        computed unnecessarily to save a branch, or again in each iteration of a loop to save memory.
      opaque: whether it runs user code with effects that are not declared, such as ``jax.debug.print``: passes do not
        change how often it runs.
      takes_open: whether ``infer`` accepts types with open sizes; for other ops it is called with trial sizes.
      verify: checks a node beyond its types; raises or returns a message, or returns None.
      platforms: the device types, in lower case, with an implementation; empty for all.
      host: whether it runs in Python on the host: ``impl`` takes and returns NumPy arrays, and may block. Its strings
        are arrays of ``bytes`` objects.
      elementwise: whether a host op computes each element of its results from the input elements at the same position,
        so that many calls can be merged into one.
      explain: explains inputs, or their types, and attributes that ``impl`` refuses: returns an error whose message
        names the parameters, or None to keep the error of ``impl``.
      doc: a one-line description of the result.
      version: the number of changes to its attributes or meaning, from 1; saved graphs of older versions are upgraded.
      caches: data that higher layers cache for the op.
      pullbacks: cached data for the op's gradients.
    """

    name: str
    impl: Callable[..., Any]
    infer: Infer
    params: tuple[str, ...] = ()
    regions: tuple[str, ...] = ()
    entries: Entries | None = None
    effects: Callable[[Mapping[str, Any]], tuple[Effect, ...]] = pure
    fold: Callable[..., Any] | None = None
    differentiable: bool = True
    light: bool = False
    opaque: bool = False
    takes_open: bool = False
    verify: Callable[[Node], str | None] | None = None
    platforms: tuple[str, ...] = ()
    host: bool = False
    elementwise: bool = False
    explain: Callable[[Sequence[Any], Mapping[str, Any]], Exception | None] | None = None
    doc: str = ""
    version: int = 1
    caches: dict[Any, Any] = field(default_factory=dict[Any, Any], repr=False)
    pullbacks: dict[Any, Any] = field(default_factory=dict[Any, Any], repr=False)

    def region_label(self, index: int) -> str:
        """Returns the name of a region; regions of a ``*`` name share it, and surplus ones have none."""
        last = self.regions[-1] if self.regions else ""
        if last.startswith("*") and index >= len(self.regions) - 1:
            return last[1:]
        return self.regions[index] if index < len(self.regions) else ""

    def region_keywords(self, bodies: Sequence[T]) -> dict[str, T | tuple[T, ...]]:
        """Returns the keyword arguments for ``impl`` from one entry for each region; a ``*`` name gets a tuple."""
        named = [name for name in self.regions if not name.startswith("*")]
        keywords: dict[str, T | tuple[T, ...]] = dict(zip(named, bodies, strict=False))
        if len(named) < len(self.regions):
            keywords[self.regions[-1][1:]] = tuple(bodies[len(named) :])
        return keywords

    def __repr__(self) -> str:
        return f"OpDef({self.name})"


OPS: Registry[OpDef] = Registry("op")


def _adding(make: Callable[P, OpDef]) -> Callable[P, OpDef]:
    def define(*args: P.args, **kwargs: P.kwargs) -> OpDef:
        op = make(*args, **kwargs)
        return OPS.add(op.name, op)

    return define


define_op = _adding(OpDef)
"""Makes an :class:`OpDef` of its arguments, adds it to :data:`OPS`, and returns it."""


def infer_types(
    op: OpDef, types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]
) -> tuple[TensorType, ...]:
    """Returns the output types of an op, which may be partly open if its input types are.

    Raises:
      ProbeError: the types do not fit for any value of the open sizes.
      Exception: the error of the op's inference.
    """
    for type in types:  # no generator or is_open: this runs for every node
        if OPEN in type.shape or not type.ranked:
            return infer_open(op, types, attrs, regions)
    return tuple(op.infer(types, attrs, regions))


def _constant_type(types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
    del types, regions
    array: np.ndarray[Any, Any] = attrs["value"].array
    return (TensorType(array.shape, array.dtype, attrs.get("weak", False)),)


def _constant(*, value: Literal, weak: bool = False) -> np.ndarray[Any, Any]:
    del weak
    return value.array


CONSTANT = define_op("constant", impl=_constant, infer=_constant_type, light=True, doc="A literal array.")


def constant_attrs(value: Any, type: TensorType) -> Attrs:
    """Returns the attributes of a constant of this type."""
    literal = Literal(np.asarray(value, type.dtype))
    return Attrs(value=literal, weak=True) if type.weak else Attrs(value=literal)


# Late ops: ops whose static attributes are tensors, such as ``reshape(x, shape)`` with a shape known only at run time.

LATE_MARK = "late"
"""Placeholder, in an attribute, for the value of the next of the node's last inputs."""


def late_op(op: OpDef) -> OpDef:
    """Returns the op that applies another op late."""
    return LATE if op.differentiable else LATE_CONSTANT


def applied_name(op: OpDef, attrs: Mapping[str, Any]) -> str:
    """Returns the name of the op that the user called: a late op's inner op, or the op itself."""
    return attrs["op"] if op in (LATE, LATE_CONSTANT) else op.name


def late_attrs(op: OpDef, attrs: Mapping[str, Any], late: Sequence[str], known: Sequence[Any]) -> Attrs:
    """Returns the attributes of a late node.

    Args:
      op: the op that it applies.
      attrs: the attributes of this op, with ``LATE_MARK`` for each value that an input provides.
      late: the names of the attributes with marks.
      known: for each of these inputs its elements in order, with None for an unknown one; None if their number is
        unknown.
    """
    return Attrs(op=op.name, attrs=tuple(sorted(attrs.items())), late=tuple(sorted(late)), known=tuple(known))


def late_inputs(attrs: Attrs) -> int:
    """Returns the number of last inputs that provide attributes."""
    return len(attrs["known"])


def applied(attrs: Attrs, values: Sequence[Any]) -> tuple[OpDef, Attrs]:
    """Returns the op that a late node applies, with its attributes, to which the ints in ``values`` are added."""
    rest = iter(values)
    items = {name: _filled(value, rest) if name in attrs["late"] else value for name, value in attrs["attrs"]}
    return OPS[attrs["op"]], Attrs(items)


def applied_attrs(attrs: Mapping[str, Any], types: Sequence[Any]) -> tuple[OpDef, Attrs]:
    """Returns the op that a late node applies, with types in place of the attributes that inputs provide.

    Args:
      attrs: the late node's attributes.
      types: the types of its inputs.
    """
    return applied(Attrs(attrs), [str(type) for type in types[len(types) - len(attrs["known"]) :]])


def static_ints(array: Any) -> Any:
    """Returns an array of integers as an attribute value."""
    return _nested_tuple(np.asarray(array).tolist())


def _nested_tuple(value: Any) -> Any:
    return tuple(map(_nested_tuple, cast("list[Any]", value))) if isinstance(value, list) else value


def _filled(value: Any, rest: Iterator[Any]) -> Any:
    if isinstance(value, tuple):
        return tuple([_filled(item, rest) for item in cast("tuple[Any, ...]", value)])
    return next(rest) if value == LATE_MARK else value


def _evaluate(*values: Any, **attrs: Any) -> Any:
    late = Attrs(attrs)
    count = late_inputs(late)
    tensors, numbers = values[: len(values) - count], values[len(values) - count :]
    op, real = applied(late, [static_ints(number) for number in numbers])
    return op.impl(*tensors, **real)


def _infer(types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
    """Infers the output types by trying numbers for the unknown values, as for open sizes."""
    del regions
    count = late_inputs(attrs)
    tensors, numbers = tuple(types[: len(types) - count]), types[len(types) - count :]
    for type in numbers:
        if type.dtype.kind not in "iu":
            raise TypeError(f"{type} cannot be a static attribute, which needs integers")
    unknown = tuple([_unknown(type, partial) for type, partial in zip(numbers, attrs["known"], strict=True)])

    def infer(guessed: tuple[TensorType, ...]) -> Sequence[TensorType]:
        values = [
            _put(type, partial, guess.shape)
            for type, partial, guess in zip(numbers, attrs["known"], guessed[len(tensors) :], strict=True)
        ]
        op, real = applied(attrs, values)
        return op.infer(guessed[: len(tensors)], real, ())

    return probe(infer, (*tensors, *unknown), [*ints_in(attrs["attrs"]), *ints_in(attrs["known"])]).types


def _unknown(type: TensorType, numbers: Any) -> TensorType:
    """Returns a type with an open size for each unknown number."""
    if numbers is None:
        return TensorType((), type.dtype, ranked=False)
    return TensorType((OPEN,) * list(numbers).count(None), type.dtype)


def _put(type: TensorType, numbers: Any, guess: Sequence[int]) -> Any:
    """Returns the value of an input, with guesses for the unknown parts."""
    if numbers is None:
        return tuple(guess)
    rest = iter(guess)
    filled = [next(rest) if item is None else item for item in numbers]
    return static_ints(np.array(filled, object).reshape(type.shape))


def _row(name: str, *, differentiable: bool, impl: Callable[..., Any] = _evaluate) -> OpDef:
    return define_op(
        name,
        impl=impl,
        infer=_infer,
        params=("*values",),
        differentiable=differentiable,
        takes_open=True,
        doc="An op some of whose static attributes are values of its last inputs.",
    )


LATE = _row("late", differentiable=True)
LATE_CONSTANT = _row("late.constant", differentiable=False)
