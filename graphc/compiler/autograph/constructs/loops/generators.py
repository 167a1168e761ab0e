"""Generator expressions, as what a loop runs over by loops in loops.

To Python code that asks for its items one by one such an object is the generator that it would be. A ``for`` loop over
it, and ``sum`` and its like, run the loops that the expression describes, so that these become nodes, and its
conditions branches.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, NoReturn

from graphc.compiler.autograph.constructs.branches.branch import if_stmt, is_symbolic_condition, itself, truth
from graphc.compiler.autograph.constructs.branches.logic import not_
from graphc.compiler.autograph.constructs.calls.call import call
from graphc.compiler.autograph.constructs.exceptions.origins import in_python, items_in_python
from graphc.compiler.autograph.constructs.loops.for_loops import Loopable, run_for
from graphc.compiler.autograph.constructs.loops.iterators import SpaceIterator, asked_to_iterate, iterator_of
from graphc.compiler.autograph.constructs.loops.rolling import Test
from graphc.compiler.autograph.constructs.loops.state import LoopVariables
from graphc.compiler.autograph.constructs.overrides import Functions
from graphc.compiler.autograph.constructs.purity.natives import check_items
from graphc.compiler.autograph.constructs.purity.watch import check_iterator, made
from graphc.compiler.autograph.values.growing_list import check_source, growing
from graphc.compiler.base.errors import UnimplementedError
from graphc.compiler.core import SymbolicTensor
from graphc.compiler.tracing import context, current_trace

Step = Callable[[Any], "Clause"]


@dataclass(frozen=True)
class Clause:
    """The part of a comprehension after ``for target in items``."""

    conditions: tuple[Test, ...]
    then: Callable[[], Any]  # the element; or, if ``nested``, the generator of what the next ``for`` gives
    nested: bool


clause = Clause


def condition(value: Any, what: str = "the condition of this comprehension") -> bool:
    """Returns the truth of a condition of a comprehension, which Python runs."""
    if not isinstance(value, SymbolicTensor):
        return truth(value)
    error = UnimplementedError(
        f"{what} is a tensor without a value ({value.type}, {value.made_at()}), on which it depends how many items "
        "there are; choose by gx.where(condition, x, 0) or a mask, give it to sum(), any(), all(), min(), max() "
        "or list() as a generator expression, or append to a list in a for loop"
    )
    raise value.trace.refuse(error)


def _items(items: Iterator[Any], step: Step, *what: str) -> Generator[Any]:
    """Yields the items, one by one, as Python makes them."""
    for item in items:
        inner = step(item)
        if all(condition(test(), *what) for test in inner.conditions):
            if inner.nested:
                yield from inner.then()
            else:
                yield inner.then()


def generator(items: Any, step: Step, simple: bool) -> Any:
    """Returns a generator expression."""
    # simple: whether that is only an element: there is no ``if`` and no second ``for``.
    if context.trace is None:
        return _items(in_python(iter, items), step)
    return made(GeneratorExpression(_iterator(items), step, simple))


def listed(items: Any, step: Step, simple: bool) -> list[Any]:
    """A list comprehension, with the arguments of :func:`generator`; how many items it has may depend on tensors."""
    if context.trace is None:
        return list(_items(in_python(iter, items), step))
    source = _iterator(items)
    if simple and not isinstance(source, GeneratorExpression | SpaceIterator):
        return [step(item).then() for item in items_in_python(source)]
    if isinstance(source, GeneratorExpression | SpaceIterator):
        # As the loop that appends them, which becomes a scan; 300 rows unrolled take 80 times as long to compile.
        return _collected(made(GeneratorExpression(source, step, simple)))
    result = _Result()
    for item in items_in_python(source):
        inner = step(item)
        _under(inner.conditions, partial(_append_all, inner, result.append), _NOTHING)
    return result.items


class _Result:
    """A list that a loop fills, which nobody sees before the loop has ended."""

    def __init__(self) -> None:
        self.items: list[Any] = made([])
        self._trace = context.trace

    def append(self, item: Any) -> None:
        if context.trace is self._trace and growing(self.items) is None:
            self.items.append(item)  # where Python runs the loop, a tenth of the call's time
        else:
            call(self.items.append)(item)


def _collected(items: Any) -> list[Any]:
    """Returns the list that a ``for`` loop makes that appends each of the items."""
    result = _Result()
    run_for(items, None, result.append, _NOTHING)
    return result.items


def _list(native: Callable[..., Any], *args: Any) -> list[Any]:
    """``list``: what computes its items does so in a loop; how many there are may depend on tensors."""
    items = args[0] if len(args) == 1 else None
    if not isinstance(items, GeneratorExpression | SpaceIterator) or not items.computes():
        return native(*args)
    check_iterator(items)
    return _collected(items)


def _tuple(native: Callable[..., Any], *args: Any) -> Any:
    """``tuple``, likewise; it says itself that how many items there are must not depend on tensors."""
    items = args[0] if len(args) == 1 else None
    return native(*args) if getattr(items, "filters", True) else native(_list(list, items))


def _append_all(inner: Clause, append: Callable[[Any], None]) -> None:
    """Puts into a list what follows ``for target in items``."""
    if inner.nested:
        run_for(inner.then(), None, append, _NOTHING)
    else:
        append(inner.then())


def _no_names() -> tuple[Any, ...]:
    return ()


def _bind_nothing(values: tuple[Any, ...]) -> None:
    del values


_NOTHING = LoopVariables(_no_names, _bind_nothing, ())


def _iterator(items: Any) -> Any:
    """Returns what Python takes the items from."""
    if isinstance(items, GeneratorExpression):
        return items
    items = asked_to_iterate(items)
    iterator = iterator_of(items)
    if iterator is not None:
        return iterator
    check_iterator(items, depth=3)  # past the function that has called this one
    check_items(items)
    return made(in_python(iter, items))


class GeneratorExpression(Loopable, Iterator[Any]):
    """A generator expression while a function is traced; see :func:`generator`."""

    def __init__(self, items: Iterator[Any], step: Step, simple: bool, *what: str) -> None:
        self._source = items
        self._step = step
        self._simple = simple  # whether that is only an element
        self._what = what
        self._lost = False
        self._native: Iterator[Any] | None = None

    def gives_items(self) -> bool:
        """Returns True if the items can be had one by one, and a loop can go on with those that are left."""
        source = self._source
        separable = not isinstance(source, GeneratorExpression | SpaceIterator) or source.gives_items()
        return self._simple and self._native is None and separable

    def is_looped(self) -> bool:
        """Tells if a loop is what gives the items: Python has taken none of them, and may not know which there are."""
        return self._native is None and not self.gives_items()

    def computes(self) -> bool:
        """Returns True unless Python has taken items whose successors only it can find."""
        return self._native is None

    @property
    def filters(self) -> bool:
        """Returns True if there may be conditions."""
        return not self._simple

    def __next__(self) -> Any:
        if self._lost:
            self._refuse()
        if self._native is None:
            # No generator of Python's, so that a loop may still take what is left.
            if self._simple:
                check_source(self._source)
                return self._step(in_python(next, self._source)).then()
            self._native = _items(self._source, self._step, *self._what)
        return in_python(next, self._native)

    def _refuse(self) -> NoReturn:
        error = UnimplementedError(
            "a generator expression is used after a loop over it that may stop early, so that what is left of it is "
            "known at run time only; write the expression anew for each loop"
        )
        raise current_trace().refuse(error)

    def loop(
        self, extra_test: Test | None, body: Callable[[Any], None], variables: LoopVariables, statement: Any, *,
        probing: bool,
    ) -> None:  # fmt: skip
        """Runs the loops of the expression, with ``body`` inside them."""
        if self._lost:
            self._refuse()
        if self._native is not None:  # items were taken one by one before
            run_for(self._native, extra_test, body, variables, statement=statement)
            return
        nested = False

        def each(item: Any) -> None:
            nonlocal nested
            inner_clause = self._step(item)
            nested = inner_clause.nested
            _under(inner_clause.conditions, partial(inside, inner_clause), variables)

        def inside(inner_clause: Clause) -> None:
            if inner_clause.nested:
                run_for(inner_clause.then(), extra_test, body, variables, statement=statement, probing=probing)
            else:
                body(inner_clause.then())

        run_for(self._source, extra_test, each, variables, statement=statement, probing=probing)
        going_on = True if extra_test is None else extra_test()
        # What is left is not known, unless Python has stopped, and in the outermost of the loops.
        self._lost = going_on is not True and (nested or is_symbolic_condition(going_on))


def _under(conditions: tuple[Test, ...], then: Callable[[], None], variables: LoopVariables) -> None:
    """Runs what stands under conditions, of which each is evaluated only if those before it hold."""
    if not conditions:
        then()
        return
    value, rest = conditions[0](), partial(_under, conditions[1:], then, variables)
    if_stmt(value, rest, lambda: None, variables.get, variables.set, variables.names)


def _while(native: Callable[..., Any], predicate: Any, iterable: Any, /) -> Any:
    """``itertools.takewhile`` and ``dropwhile``, whose predicate Python asks for its truth."""
    return made(native(call(predicate), _iterator(iterable)))


def _filter(native: Callable[..., Any], function: Any, iterable: Any, /) -> Any:
    del native
    holds = itself if function is None else call(function)
    return _filtered("filter", holds, _iterator(iterable))


def _filterfalse(native: Callable[..., Any], function: Any, iterable: Any, /) -> Any:
    del native
    holds = itself if function is None else call(function)
    return _filtered("filterfalse", lambda item: not_(holds(item)), _iterator(iterable))


def _filtered(name: str, holds: Callable[[Any], Any], items: Iterator[Any]) -> GeneratorExpression:
    """Those of the items for which a function holds."""

    def step(item: Any) -> Clause:
        return Clause((partial(holds, item),), partial(itself, item), False)

    return made(GeneratorExpression(items, step, False, f"what the function of {name}() gives"))


OVERRIDES: Functions = {
    filter: _filter,
    itertools.dropwhile: _while,
    itertools.filterfalse: _filterfalse,
    itertools.takewhile: _while,
    list: _list,
    tuple: _tuple,
}
