"""``is`` and ``is not``.

A tensor, list or dict that a name holds after a branch, or in a loop, stands for one of several objects (see
:mod:`graphc.compiler.tracing.aliases`), and the tensors among the arguments stand for those of each call. Whether two
of these are one object may depend on tensors or on the call; where it does, that is refused.
"""

from __future__ import annotations

from typing import Any

from graphc.compiler.autograph.constructs.branches.logic import not_
from graphc.compiler.autograph.constructs.overrides import Functions
from graphc.compiler.autograph.constructs.storage.native_state import note_identity
from graphc.compiler.autograph.values.choice import decide, over_choices
from graphc.compiler.autograph.values.index import is_symbolic
from graphc.compiler.autograph.values.join import describe, is_number
from graphc.compiler.autograph.values.kinds import stands_for_bool
from graphc.compiler.autograph.values.number import SymbolicNumber, kind_of
from graphc.compiler.base import nest
from graphc.compiler.base.errors import UnimplementedError
from graphc.compiler.core import SymbolicTensor, Tensor
from graphc.compiler.tracing import Trace, context

__all__ = ["OVERRIDES", "is_", "is_not"]


def is_(left: Any, right: Any) -> Any:
    """``left is right``.

    Raises:
      UnimplementedError: whether they are one object is not known while the function is traced.
    """
    return left is right or _is_one(left, right)


@over_choices(decide, decide)
def _is_one(left: Any, right: Any) -> Any:
    trace = context.trace
    if trace is None or left is None or right is None:  # None is one object, for which no tensor or container stands
        return left is right
    reads = trace.root.reads
    left, right = reads.original(left), reads.original(right)  # containers among the arguments are traced as copies
    reads.compared(left, right)
    if left is right:
        return True
    for value, other in ((left, right), (right, left)):
        # True and False are one object each: `is` says what == does.
        if type(other) is bool and isinstance(value, SymbolicTensor):
            if not stands_for_bool(value):
                return False
            number = SymbolicNumber(value, bool)
            return number if other else not_(number)
    if _may_be_one(trace, left, right):
        error = UnimplementedError(
            f"whether {describe(left)} `is` {describe(right)} is not known while the function is traced, as that "
            "depends on the call or on what tensors hold; compare values with ==, or keep a flag that says so"
        )
        raise trace.refuse(error)
    return False


def is_not(left: Any, right: Any) -> Any:
    """``left is not right``."""
    return not_(is_(left, right))


def _id(native: Any, value: Any, /) -> int:
    """``id``."""
    note_identity(value, "the call of id")
    return native(value)


def _hash(native: Any, value: Any, /) -> Any:
    """``hash``, which of most objects says no more than which object it is."""
    if type(value).__hash__ is object.__hash__:
        note_identity(value, "the call of hash")
    elif context.trace is not None:  # a method of the user's, which runs as it is
        context.trace.root.reads.whole(value)
    return native(value)


OVERRIDES: Functions = {id: _id, hash: _hash}


def _may_be_one(trace: Trace, left: Any, right: Any) -> bool:
    """Returns True if two things that are not one object now may stand for one."""
    # CPython shares small ints, so that equal numbers may be one object or two.
    if any(is_symbolic(value) and kind_of(value) is not None for value in (left, right)):
        return kind_of(left) is not None and kind_of(right) is not None
    if not all(isinstance(value, Tensor) or nest.children(value) is not None for value in (left, right)):
        return False
    if isinstance(left, Tensor) is not isinstance(right, Tensor) or is_number(left) or is_number(right):
        return False
    origins = [_origins(trace, value) for value in (left, right)]
    if any(value is None for found in origins for value in found):
        return True
    if any(one is other for one in origins[0] for other in origins[1]):
        return True
    return any(_is_given(one) and _is_given(other) for one in origins[0] for other in origins[1])


def _origins(trace: Trace, value: Any) -> list[Any]:
    """Returns the objects of which a value is one; None among them stands for any object."""
    found = [value]
    for link in found:  # grows on the way, until no value stands for another
        alias = trace.root.aliases.get(link)
        if alias is None or link is None:
            continue
        # What is held stands for a variable at the start of an iteration, which may hold something else in the next.
        sources = (None,) if alias.sources is None or alias.held else alias.sources
        found.extend([source for source in sources if all(source is not known for known in found)])
    return found


def _is_given(value: Any) -> bool:
    """Returns True if a value is a tensor that comes from outside the function: the same one may come in two ways."""
    if not isinstance(value, SymbolicTensor):
        return isinstance(value, Tensor)
    return value.trace.parent is None and value.raw.node is None
