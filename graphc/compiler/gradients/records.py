"""The records of a tape: each holds a step's inputs, its outputs and the function that pulls cotangents back."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from typing import Any

from graphc.compiler.core import (
    FAILED,
    NO_ATTRS,
    SymbolicTensor,
    Tensor,
    apply_all,
    call_kernel,
    is_examining,
    kernel,
    pulling_back,
)
from graphc.compiler.gradients.forward_pass import ForwardPass
from graphc.compiler.gradients.reach import reach, reach_of_gradients
from graphc.compiler.ir import Attrs, Graph, OpDef
from graphc.compiler.ops import VJP, vjp_attrs
from graphc.compiler.tracing import context, type_of_any

__all__ = ["Gradients", "Pullback", "Record", "key_of", "key_of_any"]

Gradients = Sequence[Tensor | None]
Pullback = Callable[[Sequence[int], Gradients], Gradients]


def key_of(snapshot: Tensor) -> int:
    """Returns the identity of a snapshot on a tape: the object's if eager, its graph value's if symbolic."""
    return id(snapshot.raw) if isinstance(snapshot, SymbolicTensor) else id(snapshot)


def key_of_any(value: Any) -> int:
    """Returns the key of a value as :func:`_key` does; for a value that is not a tensor, a key that no tensor has."""
    return key_of(value) if isinstance(value, Tensor) else -1


@dataclass(slots=True)  # not frozen, which would cost a microsecond per op
class Record:
    """A step on a tape, with the pullback from its outputs' cotangents to its inputs.

    The tensors are snapshots: the user may assign items of the originals.

    Attributes:
      inputs: tensors and numbers.
      outputs: the tensors computed from them.
      pullback: maps input positions and one cotangent or None for each output to gradients; None for the op's own.
      op: the applied op, if there is no other pullback.
      attrs: the op's attributes.
      regions: the op's bodies.
      forward: the replacement of its kernel that ran.
    """

    inputs: Sequence[Any]
    outputs: Sequence[Tensor]
    pullback: Pullback | None
    op: OpDef | None = None
    attrs: Attrs = NO_ATTRS
    regions: Sequence[Graph] = ()
    forward: ForwardPass | None = None

    def reached(self, wrt: Sequence[int]) -> Sequence[Tensor]:
        """Returns the outputs that depend on the inputs at these positions, as far as the bodies show."""
        places = self._reach()
        if places is None:
            return self.outputs
        return [output for output, used in zip(self.outputs, places, strict=True) if not used.isdisjoint(wrt)]

    def reaching(self, wrt: tuple[int, ...], cotangents: Sequence[object]) -> tuple[int, ...]:
        """Returns those positions whose inputs reach an output with a cotangent."""
        places = self._reach()
        return wrt if places is None else _that_reach(wrt, places, cotangents)

    def depending(self, wrt: tuple[int, ...], cotangents: Gradients) -> tuple[int, ...]:
        """Returns those positions whose inputs the outputs with a cotangent depend on; the other gradients are zero.

        Only for a ``vjp`` is more known than that every output depends on every input.
        """
        if self.op is not VJP or self.regions:
            return wrt
        places = reach_of_gradients(self.attrs, [type_of_any(value) for value in self.inputs])
        return wrt if places is None else _that_reach(wrt, places, cotangents)

    def _reach(self) -> Sequence[frozenset[int]] | None:
        return None if self.op is None else reach(self.op, self.attrs, self.regions)

    def pull(self, wrt: tuple[int, ...], cotangents: Gradients) -> Gradients:
        """Returns the gradients of the inputs at these positions."""
        if self.op is None:
            assert self.pullback is not None
            return self.pullback(wrt, cotangents)
        if self.forward is not None:
            found = self.forward.pull(self.inputs, wrt, cotangents)
            if found is not None:
                return found
        given = [cotangent for cotangent in cotangents if cotangent is not None]
        mask = tuple([cotangent is not None for cotangent in cotangents])
        if context.eager and not self.regions and not self.op.platforms:
            compiled = _compiled(self.op, self.attrs, wrt, mask)
            arrays = call_kernel(compiled, (*self.inputs, *given), Tensor)
            if arrays is not FAILED:
                return list(map(Tensor, arrays))
        vjp = vjp_attrs(self.op, self.attrs, wrt, mask)
        if not is_examining():
            return apply_all(VJP, (*self.inputs, *given), vjp, self.regions)
        with pulling_back(self.outputs):
            return apply_all(VJP, (*self.inputs, *given), vjp, self.regions)


def _that_reach(wrt: tuple[int, ...], places: Sequence[Set[int]], cotangents: Sequence[object]) -> tuple[int, ...]:
    used = [found for found, given in zip(places, cotangents, strict=True) if given is not None]
    return tuple([place for place in wrt if any(place in found for found in used)])


def _compiled(op: OpDef, attrs: Attrs, wrt: tuple[int, ...], mask: tuple[bool, ...]) -> Callable[..., Any]:
    """Returns the compiled pullback of an op, from primals and cotangents to gradients."""
    key = (attrs, wrt, mask)
    found = op.pullbacks.get(key)
    if found is None:
        if len(op.pullbacks) >= _PULLBACKS_KEPT:
            op.pullbacks.clear()
        found = op.pullbacks[key] = kernel(VJP, vjp_attrs(op, attrs, wrt, mask))
    return found


_PULLBACKS_KEPT = 64
