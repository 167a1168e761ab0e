"""Python numbers that depend on tensors, while a function is traced.

What arithmetic with them means is in :mod:`graphc.compiler.autograph.values.number_operators`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, cast
from weakref import WeakKeyDictionary

from graphc.compiler.autograph.values.overflow import require_within
from graphc.compiler.autograph.values.protocol import Kinds, Symbolic, host_sequence_of
from graphc.compiler.autograph.values.spans import ANY_INT, TRUTH, ValueRange, span_of_dtype
from graphc.compiler.base import Location, with_article
from graphc.compiler.base.errors import ConcretizationError
from graphc.compiler.core import FUNCTIONS, SymbolicTensor, apply, kind_of_dtype
from graphc.compiler.ir import Attrs, Value
from graphc.compiler.ops import AS_NUMBER
from graphc.compiler.tracing import Trace, context, current_trace

# Keeps what conditions say of ints that depend on tensors, where they hold and where they do not.


@dataclass(frozen=True)
class Between:
    """The ints from ``low`` to ``high``."""

    low: int
    high: int

    def __and__(self, other: Between) -> Between:
        return Between(max(self.low, other.low), min(self.high, other.high))


Facts = Mapping[Value, Any]
"""By ints of the program, which of them they may be: some, or those between two."""

_NO_FACTS: Facts = MappingProxyType({})
# Weak, so that facts go with their graph.
_conditions: WeakKeyDictionary[Value, tuple[Facts, Facts]] = WeakKeyDictionary()
_assumed: WeakKeyDictionary[Trace, dict[Value, Any]] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class _Passed:
    """The facts of a check that fails the call where they do not hold."""

    # It stands among the notes of its trace, so that rolling the trace back to before the check takes them away.

    facts: Facts


_passed: WeakKeyDictionary[Trace, list[_Passed]] = WeakKeyDictionary()


def note_condition(condition: SymbolicTensor, number: SymbolicTensor, true: Any, false: Any) -> None:
    """Notes which a number may be where a condition holds, and where not: frozensets, or a :class:`Between`."""
    _conditions[condition.raw] = ({number.raw: true}, {number.raw: false})


def known_of(number: SymbolicTensor) -> Any:
    """Gives which ints a number may be at this point, as :func:`note_condition`; None if no condition says anything."""
    possible, trace = None, context.trace
    while trace is not None:  # an inner branch knows what the outer ones do
        here = [_assumed.get(trace, _NO_FACTS)]
        here += [check.facts for check in _passed.get(trace, ()) if number.raw in check.facts and _holds(trace, check)]
        for facts in here:
            fact = facts.get(number.raw)
            if fact is not None:
                possible = fact if possible is None else possible & fact
        trace = trace.parent
    return possible


def _holds(trace: Trace, check: _Passed) -> bool:
    """Returns True if a check is still part of the program."""
    return any(check is note for note in trace.root.notes)


def _facts(condition: Any, truth: bool) -> Facts:
    """Returns what is known where a condition has this truth."""
    if not isinstance(condition, SymbolicTensor):
        return _NO_FACTS
    return _conditions.get(condition.raw, (_NO_FACTS, _NO_FACTS))[0 if truth else 1]


def assume(trace: Trace, condition: Any, truth: bool) -> None:
    """Notes that what a trace holds counts only where a condition has this truth."""
    _assume(trace, _facts(condition, truth))


def _assume(trace: Trace, facts: Facts) -> None:
    if facts:
        _assumed[trace] = _joined(_assumed.get(trace, {}), facts)  # a new dict: `assuming` puts the old one back


def assume_carried(body: Trace, condition: Any, pairs: Iterable[tuple[SymbolicTensor, SymbolicTensor]]) -> None:
    """Notes that a loop's body runs where its test holds; ``pairs``: what it carries, as test and body see it."""
    facts = _facts(condition, True)
    _assume(body, {inner.raw: facts[outer.raw] for outer, inner in pairs if outer.raw in facts})


def assume_true(trace: Trace, condition: Any, truth: bool) -> None:
    """Notes that the call has failed by now, for good, unless a condition has this truth."""
    # What a trace computes after a failure nobody sees: there the condition may be taken to hold. The caller makes sure
    # that no handler catches the failure.
    facts = _facts(condition, truth)
    if facts:
        check = _Passed(facts)
        trace.root.notes.append(check)
        _passed.setdefault(trace, []).append(check)


@contextmanager
def assuming(condition: Any, truth: bool) -> Generator[None]:
    """Inside, what is traced counts only where a condition has this truth."""
    trace = current_trace()
    before = _assumed.get(trace)
    assume(trace, condition, truth)
    try:
        yield
    finally:
        if before is None:
            _assumed.pop(trace, None)
        else:
            _assumed[trace] = before


def _joined(first: Facts, second: Facts) -> dict[Value, Any]:
    return {**first, **{key: values & first.get(key, values) for key, values in second.items()}}


def both(result: Any, first: Any, second: Any, truth: bool) -> Any:
    """Notes that a condition has this truth only where two others have; returns it."""
    facts = _joined(_facts(first, truth), _facts(second, truth))
    if facts and isinstance(result, SymbolicTensor):
        # Where `a and b` is false, each may be true.
        _conditions[result.raw] = (facts, _NO_FACTS) if truth else (_NO_FACTS, facts)
    return result


def negated(result: Any, condition: Any) -> Any:
    """Notes that a condition is the opposite of another; returns it."""
    if isinstance(condition, SymbolicTensor) and isinstance(result, SymbolicTensor):
        outcomes = _conditions.get(condition.raw)
        if outcomes is not None:
            _conditions[result.raw] = (outcomes[1], outcomes[0])
    return result


KINDS = (bool, int, float, complex)  # narrowest first: the last of several holds the values of all


class SymbolicNumber(SymbolicTensor, Symbolic):
    """A Python number that depends on tensors."""

    __slots__ = ("joined", "kind", "kinds", "span")

    __graphc_number__ = True

    methods: ClassVar[dict[str, Callable[[Any], Any]]] = {}
    """By the names of attributes of Python's numbers, what gives them for a number that depends on tensors."""

    def __init__(
        self,
        tensor: SymbolicTensor,  # its value, a 0-d tensor; of weak type but for a bool
        kind: type[Any],  # the Python type that it has in eager code
        kinds: Kinds | None = None,  # the types of which it has one; None for ``kind``, which holds the values of all
        *,
        # One of several numbers, by what tensors hold (branches and loops bind such), or computed of one. A function
        # returns it as a tensor, so that nobody has to wait for it.
        joined: bool = False,
        span: ValueRange | None = None,  # between which ints it lies, if it is one; None for any
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

    def bounds(self) -> ValueRange | None:
        """Returns between which ints it lies, by the conditions that hold at this point; None if it is no int."""
        if self.kind is not int:
            return TRUTH if self.kind is bool else None
        span, fact = self.span or ANY_INT, known_of(self)
        if not isinstance(fact, Between):
            return span
        low, high = max(span.low, fact.low), min(span.high, fact.high)
        if low > high:  # nobody comes here
            return span
        return ValueRange(low, high, span.counted and (low, high) == (span.low, span.high), span.drifts, span.counters)

    def describe(self) -> str:
        """Returns the number, for messages."""
        return "<a number that depends on tensors>"

    def check_kind(self, use: str, location: Location | None = None) -> None:
        """Refuses a use that shows whether a number is an int or a float, if this one may be either."""
        if len(self.kinds) == 1:
            return
        kinds = sorted(self.kinds, key=KINDS.index)
        error = ConcretizationError(
            f"{use} shows whether a number is {' or '.join(with_article(kind.__name__) for kind in kinds)}, and for "
            f"this one ({self.made_at()}) that depends on tensors; give it one kind on all paths (1.0 instead of 1), "
            f"or convert it with {kinds[-1].__name__}()"
        )
        raise self.trace.refuse(error) if location is None else error.at(location)

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
        method = self.methods.get(name)
        if method is not None:
            return method(self)
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
    """Returns what ``kind(value)`` is of a tensor of one element, without the checks that it can be."""
    if isinstance(value, SymbolicNumber) and value.kinds == frozenset((kind,)):
        # A joined number leaves the function as a tensor; int() asks for a Python number, which is waited for.
        return SymbolicNumber(value, kind, span=value.span) if value.joined else value
    if value.dtype.kind == "V" and kind_of_dtype(value.dtype) != "f":
        value = FUNCTIONS["astype"](value, "int8")  # JAX hardly computes with 2 and 4 bits
    span = None
    if kind is int:
        span = span_of(value) or (_span_of_tensor(value) if isinstance(value, SymbolicTensor) else None)
    converted = cast("SymbolicTensor", apply(AS_NUMBER, (value,), Attrs(kind=kind.__name__)))
    return SymbolicNumber(converted, kind, span=span)


def _span_of_tensor(tensor: SymbolicTensor) -> ValueRange:
    """Between which ints the element of a tensor lies, as far as its dtype and what computed it tell."""
    node = tensor.raw.node
    if node is not None and node.op.name in ("argmax", "argmin"):
        return ValueRange(0, max(math.prod(node.inputs[0].type.shape) - 1, 0))  # of all axes: along one it is less
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


def span_of(value: Any) -> ValueRange | None:
    """Between which ints a number, known or not, lies; None for what is no int."""
    if isinstance(value, Symbolic):
        return value.bounds()
    return ValueRange(int(value), int(value)) if type(value) in (bool, int) else None


def joined(tensor: Any, kinds: Kinds | None, span: ValueRange | None = None) -> Any:
    """Returns the tensor that values were joined in, as a number unless ``kinds`` is None: one of them is none."""
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
    if host_sequence_of(value) is not None:
        return value
    return SymbolicNumber(value, kind, span=span_of(value))
