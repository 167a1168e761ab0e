"""Comparisons, chained comparisons and ``in``."""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable, Iterable, Sequence, Set
from functools import partial
from types import FunctionType
from typing import Any, cast

from graphc.compiler.autograph.constructs.branches.branch import itself
from graphc.compiler.autograph.constructs.branches.logic import and_, and_if_plain, not_, or_, truth_value
from graphc.compiler.autograph.constructs.calls.attributes import load_attr
from graphc.compiler.autograph.constructs.calls.call import call
from graphc.compiler.autograph.constructs.exceptions.origins import in_python
from graphc.compiler.autograph.constructs.expressions.operators import answers
from graphc.compiler.autograph.constructs.overrides import Functions
from graphc.compiler.autograph.constructs.purity.natives import check_items, check_methods
from graphc.compiler.autograph.constructs.purity.opaque import check_read
from graphc.compiler.autograph.constructs.purity.reading import read_inherited, read_namespace
from graphc.compiler.autograph.constructs.purity.unconverted import asked
from graphc.compiler.autograph.constructs.purity.watch import (
    HASHED,
    asks_for_key,
    check_iterator,
    holds_item,
    operator_method,
)
from graphc.compiler.autograph.constructs.storage.native_state import note_identity
from graphc.compiler.autograph.values.choice import Choice, Question, ask, decide, for_each, is_simple, over_choices
from graphc.compiler.autograph.values.index import is_symbolic
from graphc.compiler.autograph.values.join import describe, is_number
from graphc.compiler.autograph.values.kinds import PLAIN, found_on, stands_for_bool
from graphc.compiler.autograph.values.number import SymbolicNumber, kind_of
from graphc.compiler.autograph.values.protocol import alternatives, look_into
from graphc.compiler.base import nest
from graphc.compiler.base.errors import GraphcError, UnimplementedError
from graphc.compiler.core import SymbolicTensor, Tensor, apply, operand
from graphc.compiler.ir import OPS
from graphc.compiler.tracing import Trace, context, current_trace

# ``is`` and ``is not``.


def is_(left: Any, right: Any) -> Any:
    """Returns ``left is right``; refuses it where the trace does not tell."""
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
    if any(value is None for sources in origins for value in sources):
        return True
    if any(one is other for one in origins[0] for other in origins[1]):
        return True
    return any(_is_given(one) and _is_given(other) for one in origins[0] for other in origins[1])


def _origins(trace: Trace, value: Any) -> list[Any]:
    """Returns the objects of which a value is one; None among them stands for any object."""
    origins = [value]
    for link in origins:  # grows on the way, until no value stands for another
        alias = trace.root.aliases.get(link)
        if alias is None or link is None:
            continue
        # What is held stands for a variable at the start of an iteration, which may hold something else in the next.
        sources = (None,) if alias.sources is None or alias.held else alias.sources
        origins.extend([source for source in sources if all(source is not origin for origin in origins)])
    return origins


def _is_given(value: Any) -> bool:
    """Returns True if a value is a tensor that comes from outside the function: the same one may come in two ways."""
    if not isinstance(value, SymbolicTensor):
        return isinstance(value, Tensor)
    return value.trace.parent is None and value.raw.node is None


Thunk = Callable[[], Any]

_METHODS: dict[str, tuple[Callable[[Any, Any], Any], str, str]] = {
    "<": (operator.lt, "__lt__", "__gt__"),
    "<=": (operator.le, "__le__", "__ge__"),
    ">": (operator.gt, "__gt__", "__lt__"),
    ">=": (operator.ge, "__ge__", "__le__"),
    "==": (operator.eq, "__eq__", "__eq__"),
    "!=": (operator.ne, "__ne__", "__ne__"),
}
_OTHERS: dict[str, Callable[[Any, Any], Any]] = {
    "is": is_,
    "is not": is_not,
    "in": lambda a, b: contains(a, b),
    "not in": lambda a, b: not_(contains(a, b)),
}


def _of_one(value: Choice, test: Callable[[Any], Any]) -> Any:
    """Returns what a comparison says of one of several values."""
    return decide(value, test) if all(map(is_simple, value.options)) else ask(value, test)


def _question(other: Any, *names: str) -> Question:
    """Returns how one of several values is compared with another, whose own methods may change something."""
    if alternatives(other) is not None:
        return _of_one
    changes = operator_method(other, *names) is not None or found_on(cast("type[Any]", type(other)), "__next__")
    return ask if changes else _of_one


def compare(symbol: str, left: Any, right: Any) -> Any:
    """``left symbol right``, for the six orders of Python."""
    if alternatives(left) is None and alternatives(right) is None:
        return _compare(symbol, left, right)
    _, forward, reflected = _METHODS[symbol]
    questions: dict[int | str, Question] = {
        1: _question(right, reflected, "__eq__"),
        2: _question(left, forward, "__eq__"),
    }
    return for_each(_compare, questions.get)(symbol, left, right)


def _compare(symbol: str, left: Any, right: Any) -> Any:
    native, forward, reflected = _METHODS[symbol]
    look_into(left, right)
    # Python would ask each `==` of two items for its truth, which a tensor does not have yet.
    if type(left) in (list, tuple) and _holds_symbols((left, right)):
        return _compare_sequences(symbol, left, right)
    if context.trace is None or (type(left) in PLAIN and type(right) in PLAIN):
        asked((left, right), (forward, "__eq__"))
        return in_python(native, left, right)
    kind, generated = cast("type[Any]", type(left)), "__eq__" if symbol == "!=" else forward  # it makes no __ne__
    if kind is type(right) and _compares_fields(kind, generated):
        read_inherited(kind, generated)
        return compare(symbol, _fields(left), _fields(right))
    mine, theirs = _method(left, forward), _method(right, reflected)
    if mine is None and theirs is None:
        asked((left, right), (forward, reflected, "__eq__"))
        return in_python(native, left, right)
    kinds = cast("tuple[type[Any], type[Any]]", (type(left), type(right)))
    # Unlike in arithmetic, a subclass need not override it to be asked first.
    theirs_first = kinds[0] is not kinds[1] and issubclass(kinds[1], kinds[0])
    result = answers((left, right), (mine, theirs), theirs_first, forward)
    # Python falls back to identity for == and !=, and raises for an order.
    return in_python(native, left, right) if result is NotImplemented else result


class Compared:
    """An object that Python compares by methods of the user's: these are called as all code of theirs is."""

    __slots__ = ("value",)
    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __init__(self, value: Any) -> None:
        self.value = value

    def __lt__(self, other: Any) -> Any:
        return compare("<", self.value, other.value if isinstance(other, Compared) else other)

    def __gt__(self, other: Any) -> Any:  # max asks for > and sorted for <
        return compare(">", self.value, other.value if isinstance(other, Compared) else other)

    def __eq__(self, other: object) -> Any:
        return compare("==", self.value, other.value if isinstance(other, Compared) else other)


def compared(value: Any) -> Any:
    """Returns what Python may compare in place of a value where it looks for an order."""
    return Compared(value) if any(operator_method(value, name) for name in ("__lt__", "__gt__")) else value


def ordered(value: Any) -> Any:
    """Returns what Python compares where objects of a dataclass are compared: their fields."""
    if not isinstance(value, tuple):
        return _fields(value) if _compares_fields(cast("type[Any]", type(value)), "__lt__") else compared(value)
    before = cast("tuple[Any, ...]", value)
    items = tuple([ordered(item) for item in before])
    return items if any(map(operator.is_not, items, before)) else before


def _compares_fields(kind: type[Any], method: str) -> bool:
    """Returns True if a comparison is the one that ``dataclass`` generates."""
    if not dataclasses.is_dataclass(kind):
        return False
    code = getattr(found_on(kind, method), "__code__", None)
    return code is not None and code.co_filename == "<string>"  # generated: it has no source to convert


def _fields(value: Any) -> tuple[Any, ...]:
    return tuple([load_attr(value, field.name) for field in dataclasses.fields(value) if field.compare])


def _holds_symbols(values: Any) -> bool:
    """Returns True if lists and tuples, as deep as they are nested, hold tensors without values."""
    if isinstance(values, list | tuple):
        return any(map(_holds_symbols, nest.as_tuple(values)))
    return isinstance(values, SymbolicTensor)


def _compare_sequences(symbol: str, left: Any, right: Any) -> Any:
    """Lists or tuples that hold tensors without values, compared as Python compares them."""
    native = _METHODS[symbol][0]
    if isinstance(left, list) is not isinstance(right, list) or not isinstance(right, list | tuple):
        return in_python(native, (), [])  # says what Python says of different kinds
    firsts, seconds = nest.as_tuple(left), nest.as_tuple(right)
    if symbol in ("==", "!="):
        equal: Any = len(firsts) == len(seconds)
        for first, second in zip(firsts, seconds, strict=False):
            equal = and_(partial(itself, equal), partial(equal_items, first, second))
        return _truth(equal if symbol == "==" else not_(equal))
    # The first two that differ decide; if none do, the lengths.
    result: Any = native(len(firsts), len(seconds))
    pairs: list[tuple[Any, Any, Any]] = []
    for first, second in zip(firsts, seconds, strict=False):
        pairs.append((first, second, equal_items(first, second)))
        if pairs[-1][-1] is False:
            break  # Python looks no further
    while pairs:
        first, second, equal = pairs.pop()
        try:
            differing = and_(partial(not_, equal), partial(compare, symbol, first, second))
        except TypeError as error:
            if isinstance(error, GraphcError) or all(decided is True for _, _, decided in pairs):
                raise
            raise current_trace().refuse(UnimplementedError(_NO_ORDER.format(error, len(pairs)))) from error
        result = or_(partial(itself, differing), partial(and_, partial(itself, equal), partial(itself, result)))
    return result


_NO_ORDER = (
    "{}: Python compares the items at index {} only where those before them are equal, which depends on tensors here; "
    "compare the items that have an order, such as `if v > best[0]: best = (v, i)`, or begin with items of the same "
    "kinds, such as -1 in place of None"
)


def equal_items(first: Any, second: Any) -> Any:
    """Returns whether two items of lists are equal."""
    # Identity first, as Python's lists do: one NaN in both is equal.
    return first is second or compare("==", first, second)


def _truth(value: Any) -> Any:
    return truth_value(value) if isinstance(value, SymbolicTensor) else value


def _method(owner: Any, name: str) -> FunctionType | None:
    """Returns the user's method for a comparison; ``!=`` is the opposite of ``==`` where it is not defined."""
    method = operator_method(owner, name)  # which tells that there is none, too
    if name != "__ne__" or found_on(cast("type[Any]", type(owner)), name) is not object.__ne__:
        return method
    equal = operator_method(owner, "__eq__")
    if equal is None:
        return None

    def unequal(owner: Any, other: Any) -> Any:
        result = call(equal)(owner, other)
        return result if result is NotImplemented else not_(result)

    return unequal


def compare_chain(left: Any, operators: Sequence[str], operands: Sequence[Thunk]) -> Any:
    """``a < b <= c``: each operand is evaluated once, and only while the comparisons before it hold."""
    right = operands[0]()
    result = _compare_any(operators[0], left, right)
    for index in range(1, len(operators)):
        last: list[Any] = []

        def following(index: int = index, left: Any = right, last: list[Any] = last) -> Any:
            last[:] = [operands[index]()]
            return _compare_any(operators[index], left, last[0])

        both = and_if_plain(result, following)
        if both is None:
            rest = partial(compare_chain, right, operators[index:], operands[index:])
            return and_(partial(itself, result), rest)
        # The operand was evaluated for good, so that the next comparison takes it: nothing is traced twice and again.
        result, right = both, last[0]
    return result


def _compare_any(symbol: str, left: Any, right: Any) -> Any:
    return compare(symbol, left, right) if symbol in _METHODS else _OTHERS[symbol](left, right)


def _is_among(item: Any, elements: Iterable[Any]) -> Any:
    contained: Any = False
    for element in elements:
        contained = or_(
            partial(itself, contained), partial(equal_items, element, item)
        )  # Python has the element on the left
        if contained is True:
            return True
    return call(bool)(contained)  # `in` gives a bool, whatever __eq__ gives


def _in_range(item: SymbolicTensor, numbers: range) -> Any:
    if not numbers:
        return False
    low, high = min(numbers[0], numbers[-1]), max(numbers[0], numbers[-1])
    # One op for any step, where `==` with each number would be one op an item.
    on_grid = partial(compare, "==", (item - numbers[0]) % abs(numbers.step), 0)
    return _truth(and_(partial(compare, ">=", item, low), partial(compare, "<=", item, high), on_grid))


def contains(item: Any, container: Any) -> Any:
    """``item in container``."""
    if alternatives(item) is None and alternatives(container) is None:
        return _contains(item, container)
    questions: dict[int | str, Question] = {0: _question(container, "__contains__", "__iter__", "__getitem__"), 1: ask}
    return for_each(_contains, questions.get)(item, container)


def _contains(item: Any, container: Any) -> Any:
    if asks_for_key(container, item):
        return holds_item(container, item)
    if read_namespace(container, item):
        return item in container
    if isinstance(container, SymbolicTensor) and container.ndim == 1 and not getattr(operand(item), "shape", ()):
        # One op, where item by item each would be one.
        return truth_value(apply(OPS["any"], (apply(OPS["equal"], (container, operand(item))),)))
    if isinstance(container, range) and isinstance(item, SymbolicTensor) and not item.shape:
        return _in_range(item, container)
    method, kind = operator_method(container, "__contains__"), cast("type[Any]", type(container))
    if method is not None:
        return call(bool)(call(method)(container, item))  # `in` gives a bool, whatever __contains__ gives
    if isinstance(container, SymbolicTensor):
        return _is_among(item, cast("Iterable[Any]", container))
    if builtin := next((one for one in (list, tuple) if found_on(kind, "__contains__") is one.__contains__), None):
        return _is_among(item, cast("Any", builtin).__iter__(container))  # which asks no __iter__ of a subclass
    if isinstance(item, SymbolicTensor) and kind_of(item) is not None and isinstance(container, Set | dict):
        # It has no hash before the run; only numbers may equal it.
        return _is_among(item, [element for element in cast("Set[Any]", container) if kind_of(element) is not None])
    check_methods(item, HASHED)
    asked(container, ("__contains__",))
    check_read(container)
    if found_on(kind, "__contains__") is None:  # Python then iterates
        check_iterator(container, depth=3)  # past the frame that looks for choices
        check_items(container)
    return in_python(operator.contains, container, item)
