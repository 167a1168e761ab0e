"""Python numbers that depend on tensors, while a function is traced.

What arithmetic with them means is in :mod:`graphc.compiler.autograph.values.number_operators`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, ClassVar, cast

from graphc.compiler.autograph.values.facts import Between, known_of
from graphc.compiler.autograph.values.overflow import require_within
from graphc.compiler.autograph.values.protocol import Kinds, Symbolic, course_in
from graphc.compiler.autograph.values.spans import ANY_INT, TRUTH, Span, span_of_dtype
from graphc.compiler.base import Location, at, with_article
from graphc.compiler.base.errors import ConcretizationError
from graphc.compiler.core import SymbolicTensor, apply
from graphc.compiler.ir import Attrs
from graphc.compiler.ops import AS_NUMBER

__all__ = [
    "KINDS",
    "Kinds",
    "SymbolicNumber",
    "any_joined",
    "common_kind",
    "example_of",
    "has_attribute",
    "is_whole",
    "joined",
    "kind_of",
    "kinds_of",
    "number",
    "numbered",
    "span_of",
]

KINDS = (bool, int, float, complex)  # narrowest first: the last of several holds the values of all


class SymbolicNumber(SymbolicTensor, Symbolic):
    """A Python number that depends on tensors.

    Args:
      tensor: its value, a 0-d tensor; of weak type but for a bool.
      kind: the Python type that it has in eager code.
      kinds: the Python types of which it has one; that of ``kind``, which holds the values of all, if None.
      joined: whether it is one of several numbers, by what tensors hold (branches and loops bind such), or was computed
        of one. A compiled function returns it as a tensor, so that nobody has to wait for it.
      span: between which ints it lies, if it is one; None for any.
    """

    __slots__ = ("joined", "kind", "kinds", "span")

    __graphc_number__ = True

    methods: ClassVar[dict[str, Callable[[Any], Any]]] = {}
    """By the names of attributes of Python's numbers, what gives them for a number that depends on tensors."""

    def __init__(
        self,
        tensor: SymbolicTensor,
        kind: type[Any],
        kinds: Kinds | None = None,
        *,
        joined: bool = False,
        span: Span | None = None,
    ) -> None:
        super().__init__(tensor.raw, tensor.trace)
        self.kind = kind
        self.kinds = kinds or frozenset((kind,))
        self.joined = joined
        self.span = span

    def python_type(self) -> type[Any]:
        """Returns the type of which it is a number in plain Python, the widest where there are several."""
        return self.kind

    def python_types(self) -> Kinds:
        """Returns the types of which it has one in plain Python."""
        return self.kinds

    def bounds(self) -> Span | None:
        """Returns between which ints it lies, by the conditions that hold at this point; None if it is no int."""
        if self.kind is not int:
            return TRUTH if self.kind is bool else None
        span, known = self.span or ANY_INT, known_of(self)
        if not isinstance(known, Between):
            return span
        low, high = max(span.low, known.low), min(span.high, known.high)
        if low > high:  # nobody comes here
            return span
        return Span(low, high, span.counted and (low, high) == (span.low, span.high), span.drifts, span.counters)

    def describe(self) -> str:
        """Returns the number, for messages."""
        return "<a number that depends on tensors>"

    def check_kind(self, use: str, location: Location | None = None) -> None:
        """Refuses a use for which it matters whether a number is an int or a float, if this one may be either.

        Args:
          use: what it is, for the message.
          location: of the use; None for where the trace stands.
        """
        if len(self.kinds) == 1:
            return
        kinds = sorted(self.kinds, key=KINDS.index)
        error = ConcretizationError(
            f"{use} shows whether a number is {' or '.join(with_article(kind.__name__) for kind in kinds)}, and for "
            f"this one ({self.made_at()}) that depends on tensors; give it one kind on all paths (1.0 instead of 1), "
            f"or convert it with {kinds[-1].__name__}()"
        )
        raise self.trace.refuse(error) if location is None else at(error, location)

    def require_within(self, low: int, high: int, error: Callable[[], Exception]) -> None:
        """Raises an error where it is an int that does not lie between two."""
        if self.kind is int:
            require_within(self, self.bounds() or ANY_INT, low, high, error)

    def snapshot(self) -> SymbolicNumber:
        """Returns the number itself, which has no items to assign."""
        return self

    fork = snapshot

    def __getattr__(self, name: str) -> Any:
        # Protocols such as copy's probe for special names, and take only AttributeError for no.
        if name.startswith("__") or not hasattr(self.kind, name):
            raise AttributeError(f"{self.kind.__name__!r} object has no attribute {name!r}")
        found = self.methods.get(name)
        if found is not None:
            return found(self)
        error = ConcretizationError(
            f"{self.kind.__name__}.{name} needs a value, but this number ({self.made_at()}) depends on tensors and has "
            "none while the function is traced; compute it with operators and functions of math, or of the result"
        )
        raise self.trace.refuse(error)

    def __hash__(self) -> int:
        error = ConcretizationError(
            f"a number that depends on tensors ({self.made_at()}) is used where its value is needed: as a size or "
            "another static argument, as a key of a dict, or in a set; pass a Python int for a size, choose with "
            "gx.switch, or index a tensor"
        )
        raise self.trace.refuse(error)


def number(value: Any, kind: type[Any]) -> SymbolicNumber:
    """Returns what ``kind(value)`` is, without the checks that it can be.

    Args:
      value: a tensor of one element.
      kind: bool, int, float or complex.
    """
    if isinstance(value, SymbolicNumber) and value.kinds == frozenset((kind,)):
        # A joined number leaves the function as a tensor; int() asks for a Python number, which is waited for.
        return SymbolicNumber(value, kind, span=value.span) if value.joined else value
    span = None
    if kind is int:
        span = span_of(value) or (_span_of_tensor(value) if isinstance(value, SymbolicTensor) else None)
    found = cast("SymbolicTensor", apply(AS_NUMBER, (value,), Attrs(kind=kind.__name__)))
    return SymbolicNumber(found, kind, span=span)


def _span_of_tensor(tensor: SymbolicTensor) -> Span:
    """Between which ints the element of a tensor lies, as far as its dtype and what computed it tell."""
    node = tensor.raw.node
    if node is not None and node.op.name in ("argmax", "argmin"):
        return Span(0, max(math.prod(node.inputs[0].type.shape) - 1, 0))  # of all axes: along one it is less
    return span_of_dtype(tensor.dtype)


def kind_of(value: Any) -> type[Any] | None:
    """Returns the Python type of a number, known or not; None for what is no number."""
    if isinstance(value, Symbolic):
        return value.python_type()
    kind = cast("type[Any]", type(value))
    return kind if kind in KINDS else None  # exactly: np.float64 is a float, too, but has NumPy's operators


def kinds_of(value: Any) -> Kinds | None:
    """Returns the Python types that a number, known or not, may have; None for what is no number."""
    if isinstance(value, Symbolic):
        return value.python_types()
    kind = kind_of(value)
    return None if kind is None else frozenset((kind,))


def is_whole(value: Any) -> bool | None:
    """Returns True if a number, known or not, is an int whatever tensors hold; None for what is no number."""
    kinds = kinds_of(value)
    return None if kinds is None else kinds <= {bool, int}


def any_joined(values: Iterable[Any]) -> bool:
    """Returns True if one of the values is one of several numbers, by what tensors hold."""
    return any(isinstance(value, SymbolicNumber) and value.joined for value in values)


def example_of(value: Any) -> Any:
    """Returns a number of the type that one which depends on tensors has in plain Python; any other value as it is."""
    kind = value.python_type() if isinstance(value, Symbolic) else None
    return value if kind is None else kind(1)


def has_attribute(value: Any, name: str) -> bool:
    """Returns True if a tensor, or a number that depends on tensors, has an attribute in plain Python."""
    kinds = kinds_of(value) or (cast("type[Any]", type(value)),)
    if isinstance(value, SymbolicNumber) and len({hasattr(kind, name) for kind in kinds}) > 1:
        value.check_kind(f"the attribute {name!r}")
    return all(hasattr(kind, name) for kind in kinds)


def span_of(value: Any) -> Span | None:
    """Between which ints a number, known or not, lies; None for what is no int."""
    if isinstance(value, Symbolic):
        return value.bounds()
    return Span(int(value), int(value)) if type(value) in (bool, int) else None


def joined(tensor: Any, kinds: Kinds | None, span: Span | None = None) -> Any:
    """Returns the tensor that values were joined in, as the number that it is if all of them are numbers.

    Args:
      kinds: the types that they have; None if one of them is no number.
      span: between which ints they lie, if they are ints and that is known.
    """
    if kinds is None:
        return tensor
    return SymbolicNumber(tensor, max(kinds, key=KINDS.index), kinds, joined=True, span=span)


def common_kind(values: Iterable[Any]) -> type[Any] | None:
    """Returns the Python type that all of the values have as numbers; None if there is none."""
    kinds = {kinds_of(value) for value in values}
    kind = kinds.pop() if len(kinds) == 1 else None
    return next(iter(kind)) if kind is not None and len(kind) == 1 else None


def numbered(value: Any, kind: type[Any] | None) -> Any:
    """Returns a tensor that holds a number of this kind, as that number; other values as they are."""
    if kind is None or not isinstance(value, SymbolicTensor) or (kinds_of(value) or {kind}) != {kind}:
        return value
    # A new number would lose the course, which Python computes exactly.
    if course_in(value) is not None:
        return value
    return SymbolicNumber(value, kind, span=span_of(value))
