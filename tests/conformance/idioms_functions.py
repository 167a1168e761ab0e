"""Functions: nested, closures, decorators, recursion, functools; functions without source."""

from __future__ import annotations

import functools
import linecache
import operator
from collections.abc import Callable
from typing import Any

import graphc as gx
from tests.conformance.harness import f, program

NESTED = "nested functions, closures, `nonlocal`"
LAMBDA = "lambdas"
FUNCTOOLS = "`functools.partial`, `reduce`, `wraps`"
DECORATED = "decorators with `__wrapped__`"
OPERATOR = "functions of the module `operator`"
RECURSION = "recursion on static values"
CALLS = "calls: defaults, keywords, `*args`, `**kwargs`"
COMPILED = "compiled functions that call each other"
SOURCE = "functions from `exec`, with source in `linecache`"


@program("functions/nested with a branch", inputs=[(f(1.0),), (f(-1.0),)], construct=NESTED, gradient=True)
def nested_function(x: Any) -> Any:
    def shape(value: Any, slope: Any) -> Any:
        if value > 0:
            return value
        return value * slope

    return shape(x, 0.1) + shape(-x, x)


@program(
    "functions/nonlocal of a helper that a branch calls",
    inputs=[(f(1, 2, -3, 4, 5, 6),), (f(-1, 2, 3, 4, 0, 6),)],
    construct=NESTED,
    gradient=True,
)
def nonlocal_of_helper(x: Any) -> Any:
    def steepest(rows: Any) -> Any:
        best = rows[0]

        def take(row: Any) -> Any:
            nonlocal best
            if row > best:
                best = best + row * row
            return best

        found = [take(row) for row in rows]
        return found[-1] * found[2]

    result = x[0] * 0
    if x[0] > 0:
        result = steepest(x)
    return result


@program("functions/closure over a loop's value", inputs=[(f(1.0),), (f(-2.0),)], construct=NESTED, gradient=True)
def late_binding(x: Any) -> Any:
    late = [lambda v: v * k for k in range(3)]  # noqa: B023
    early = [lambda v, k=k: v * k for k in range(3)]
    return late[0](x), early[0](x + 1), early[2](x)


@program("functions/nonlocal", inputs=[(f(1.0),), (f(-2.0),)], construct=NESTED, gradient=True)
def nonlocal_counter(x: Any) -> Any:
    total = x * 0
    calls = 0

    def add(value: Any) -> None:
        nonlocal total, calls
        total = total + value
        calls += 1

    add(x)
    add(x * x)
    return total, calls


@program(
    "functions/nonlocal in a branch and a loop",
    inputs=[(f(1, -2, 3),), (f(-1, -2, -3),)],
    construct=NESTED,
    gradient=True,
)
def nonlocal_in_loop(x: Any) -> Any:
    total = gx.zeros(())

    def add(value: Any) -> None:
        nonlocal total
        if value > 0:
            total = total + value * value

    for value in x:
        add(value)
    return total


@program(
    "functions/nonlocal of a function that a branch of another one calls",
    inputs=[(f(1.0),), (f(5.0),), (f(-1.0),)],
    construct=NESTED,
    gradient=True,
    python_numbers=True,
)
def nonlocal_through_a_helper(x: Any) -> Any:
    count, best = 0, x

    def add() -> None:
        nonlocal count, best
        count += 1
        best = best * 2

    def maybe(v: Any) -> None:
        if v > 0:
            add()

    maybe(x)
    maybe(x - 3)
    return count, best


@program(
    "functions/nonlocal of a function that a loop of another one calls",
    inputs=[(f(1.0, -2.0, 3.0),), (f(1.0, -5.0, 3.0),)],
    construct=NESTED,
    gradient=True,
    python_numbers=True,
)
def nonlocal_through_a_loop(xs: Any) -> Any:
    total, seen = 0.0, 0

    def put(v: Any) -> None:
        nonlocal total, seen
        total = total + v
        seen += 1

    def put_all(values: Any) -> None:
        for v in values:
            if v > 0:
                put(v)
            elif v < -3:
                break

    put_all(xs)
    return total, seen


@program(
    "functions/nonlocal that only one branch binds",
    inputs=[(f(1.0),), (f(-1.0),)],
    construct=NESTED,
    refused=(gx.errors.UndefinedNameError, "'y' of another function is set on some paths only"),
)
def nonlocal_bound_in_one_branch(x: Any) -> Any:
    y: Any

    def setup() -> None:
        nonlocal y
        y = x * 3

    def maybe(v: Any) -> None:
        if v > 0:
            setup()

    maybe(x)
    return y if x > 0 else x


@program("functions/nonlocal in a while loop", inputs=[(f(8.0),), (f(0.5),)], construct=NESTED, python_numbers=True)
def nonlocal_in_while(x: Any) -> Any:
    steps = 0

    def halve(value: Any) -> Any:
        nonlocal steps
        steps += 1
        return value / 2

    while x > 1:
        x = halve(x)
    return x, steps


@program("functions/function returned", inputs=[(f(1.0), 2), (f(-2.0), 3)], construct=NESTED, gradient=True)
def function_returned(x: Any, n: int) -> Any:
    def power(exponent: int) -> Callable[[Any], Any]:
        def raised(value: Any) -> Any:
            result = value
            for _ in range(exponent - 1):
                result = result * value
            return result

        return raised

    return power(n)(x) + power(1)(x)


@program(
    "functions/function chosen by Python", inputs=[(f(1.0), "sin"), (f(-2.0), "sq")], construct=LAMBDA, gradient=True
)
def dispatch_table(x: Any, name: str) -> Any:
    table = {"sin": gx.sin, "sq": lambda v: v * v if v > 0 else -v * v}
    return table[name](x)


@program(
    "functions/function chosen by a tensor",
    inputs=[(f(1.0),), (f(-2.0),)],
    construct="an object or function chosen by a tensor",
    gradient=True,
)
def function_chosen_by_tensor(x: Any) -> Any:
    if x > 0:
        act = gx.sin
    else:
        act = gx.cos
    return act(x)


@program("functions/lambda with a ternary", inputs=[(f(1.0),), (f(-2.0),)], construct=LAMBDA, gradient=True)
def lambda_ternary(x: Any) -> Any:
    relu = lambda v: v if v > 0 else v * 0  # noqa: E731
    return (lambda g, v: g(v) + g(-v) * 2)(relu, x)


@program("functions/partial", inputs=[(f(1.0), f(3.0)), (f(-2.0), f(3.0))], construct=FUNCTOOLS, gradient=True)
def with_partial(x: Any, y: Any) -> Any:
    clip = functools.partial(_clip, high=2.0)
    return clip(y, low=-1.0) * functools.partial(clip, x)(low=0.0)


def _clip(value: Any, low: Any, high: Any) -> Any:
    if value < low:
        return value * 0 + low
    if value > high:
        return value * 0 + high
    return value


@program("functions/reduce", inputs=[(f(1, 5, 3),), (f(-1, -5, -3),)], construct=FUNCTOOLS, gradient=True)
def with_reduce(x: Any) -> Any:
    largest = functools.reduce(lambda a, c: a if a > c else c, x)  # noqa: FURB136
    return largest, functools.reduce(lambda a, c: a * 2 + c, list(x), gx.ones(()))


def traced(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator as people write it."""

    @functools.wraps(fn)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        result = fn(*args, **kwargs)
        if result > 10:
            result = result / 10
        return result

    return wrapper


def scaled(factor: float) -> Any:
    """A decorator with an argument."""

    def decorate(fn: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(fn)
        def wrapper(*args: Any) -> Any:
            return fn(*args) * factor

        return wrapper

    return decorate


@traced
@scaled(2.0)
def _decorated(x: Any) -> Any:
    return x * x if x > 0 else x - 1


@program("functions/decorated callee", inputs=[(f(1.0),), (f(5.0),), (f(-2.0),)], construct=DECORATED, gradient=True)
def calls_decorated(x: Any) -> Any:
    return _decorated(x) + 1, _decorated.__name__


program("functions/decorated program", inputs=[(f(1.0),), (f(5.0),), (f(-2.0),)], construct=DECORATED, gradient=True)(
    traced(scaled(3.0)(_decorated))
)


@functools.cache
def _binomial(n: int, k: int) -> int:
    return 1 if k in (0, n) else _binomial(n - 1, k - 1) + _binomial(n - 1, k)


@program(
    "functions/cached helper of Python values", inputs=[(f(2.0), 4), (f(-1.0), 3)], construct=FUNCTOOLS, gradient=True
)
def binomial_sum(x: Any, n: int) -> Any:
    return sum(_binomial(n, k) * x**k for k in range(n + 1))


@program(
    "functions/recursion on a Python number", inputs=[(f(2.0), 5), (f(-1.0), 0)], construct=RECURSION, gradient=True
)
def static_recursion(x: Any, n: int) -> Any:
    if n == 0:
        return x * 0 + 1
    half = static_recursion(x, n // 2)
    return half * half * (x if n % 2 else 1)


@program(
    "functions/recursion over a tree",
    inputs=[([f(1.0), [f(2.0), f(-3.0)]],), ([[[f(4.0)]], f(0.0)],)],
    construct=RECURSION,
)
def tree_recursion(tree: Any) -> Any:
    if isinstance(tree, list):
        return sum(tree_recursion(branch) for branch in tree)
    return tree if tree > 0 else -tree


@program(
    "functions/recursion that depends on a tensor",
    inputs=[(f(3.0),)],
    construct="recursion that depends on a tensor",
    refused=(
        gx.errors.GraphcError,
        r"(?is)tensor_recursion.*(calls itself|recurs)|(calls itself|recurs).*tensor_recursion",
    ),
)
def tensor_recursion(x: Any) -> Any:
    if x < 1:
        return x
    return tensor_recursion(x - 1) * 2


@program(
    "functions/arguments of all kinds", inputs=[(f(1.0), f(2.0)), (f(-1.0), f(2.0))], construct=CALLS, gradient=True
)
def argument_kinds(x: Any, y: Any) -> Any:
    def mix(a: Any, /, c: Any = 2.0, *rest: Any, scale: Any = 1.0, **named: Any) -> Any:
        total = a + c * scale
        for value in rest:
            total = total + value if value > 0 else total - value
        for name, value in named.items():
            total = total * value + len(name)
        return total

    more = {"first": x, "second": y}
    return mix(x), mix(x, y, y, x, scale=3), mix(*[x, y], **more)


@program(
    "functions/default from a tensor",
    inputs=[(f(1.0),), (f(-1.0),)],
    construct=CALLS,
    gradient=True,
    python_numbers=True,
)
def tensor_default(x: Any, y: Any = 3.0) -> Any:
    def inner(value: Any = x * 2) -> Any:
        return value if value > 0 else y

    return inner() + inner(x)


@program("functions/several results", inputs=[(f(1.0),), (f(-1.0),)], construct=CALLS, gradient=True)
def several_results(x: Any) -> Any:
    low, high = _ordered(x, x * x)
    (a, c), rest = _ordered(low, high), {"sum": low + high}
    return high - low, a * c, rest


def _ordered(a: Any, c: Any) -> Any:
    if a < c:
        return a, c
    return c, a


@gx.function
def _compiled_relu(x: Any) -> Any:
    return x if x > 0 else x * 0


@program(
    "functions/compiled function called in a loop",
    inputs=[(f(1, -2, 3),), (f(-1, -1, -1),)],
    construct=COMPILED,
    gradient=True,
)
def calls_compiled(x: Any) -> Any:
    total = gx.zeros(())
    for value in x:
        if value < 3:
            total = total + _compiled_relu(value) * 2
    return total


@program("functions/do_not_convert", inputs=[(f(1.0),), (f(-1.0),)], construct="`gx.do_not_convert`", gradient=True)
def calls_unconverted(x: Any) -> Any:
    return _unconverted(x) * 2


@gx.do_not_convert
def _unconverted(x: Any) -> Any:
    return gx.where(x > 0, x, -x)


@program(
    "functions/explicit control flow",
    inputs=[(f(1.0),), (f(-9.0),)],
    construct="`gx.cond`, `gx.while_loop`, `gx.scan`",
    gradient=True,
)
def explicit(x: Any) -> Any:
    y = gx.cond(x > 0, lambda v: v * 2, lambda v: v * v, x)
    return gx.fori_loop(0, 3, lambda k, v: v + k * x, y)


def _made(source: str, name: str, *, keep: bool) -> Any:
    """A function made from text; ``keep`` says whether its source can be found."""
    filename = f"<made for {name}>"
    if keep:
        linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    namespace: dict[str, Any] = {"gx": gx}
    exec(compile(source, filename, "exec"), namespace)
    return namespace[name]


program("functions/exec with source in linecache", inputs=[(f(1.0),), (f(-3.0),)], construct=SOURCE, gradient=True)(
    _made("def kept(x):\n    if x > 0:\n        return x * 2\n    return x * x\n", "kept", keep=True)
)

program(
    "functions/exec without source, no control flow",
    inputs=[(f(1.0),), (f(-3.0),)],
    construct="functions without source and without control flow",
    gradient=True,
)(_made("def plain(x, n=3):\n    return x * 2 + n\n", "plain", keep=False))

program(
    "functions/exec without source, branch on a tensor",
    inputs=[(f(1.0),), (f(-3.0),)],
    construct="control flow in functions without source",
    refused=(gx.errors.GraphcError, "source"),
    file="<made for lost>",
)(_made("def lost(x):\n    if x > 0:\n        return x * 2\n    return x\n", "lost", keep=False))

program("functions/lambda as program", inputs=[(f(1.0), f(2.0)), (f(-1.0), f(2.0))], construct=LAMBDA, gradient=True)(
    lambda x, y: x * y if x > 0 else y - x
)

program(
    "functions/partial as program", inputs=[(f(1.0),), (f(7.0),)], construct=FUNCTOOLS, gradient=True, file=__file__
)(functools.partial(_clip, low=2.0, high=f(5.0)))


class Smooth:
    """A callable object."""

    def __init__(self, rate: float) -> None:
        self.rate = rate

    def __call__(self, x: Any) -> Any:
        total = gx.zeros(())
        for value in x:
            total = total + self.rate * (value - total)
        return total


program("functions/bound method as program", inputs=[(f(1, 2),), (f(7, -1),)], construct="methods", gradient=True)(
    Smooth(0.5).__call__
)
program(
    "functions/callable object as program",
    inputs=[(f(1, 2),), (f(7, -1),)],
    construct="methods",
    gradient=True,
    file=__file__,
)(Smooth(0.25))


class Weighed:
    """A number with operators of its own, which branch."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __add__(self, other: Weighed) -> Any:
        return self.value + other.value if self.value > other.value else self.value - other.value

    @property
    def double(self) -> Any:
        return self.value * 2 if self.value > 0 else self.value

    def plain(self, factor: Any) -> Any:
        return self.value * factor


@program(
    "functions/operators by name in branches",
    inputs=[(f(3.0), f(2.0)), (f(1.0), f(2.0))],
    construct=OPERATOR,
    gradient=True,
)
def operator_table(a: Any, c: Any) -> Any:
    found = []
    for function in (operator.add, operator.sub, operator.mul, operator.truediv, operator.mod, operator.pow):
        if operator.gt(a, c):
            found.append(function(a, c))
        else:
            found.append(function(c, a))
    return found, operator.lt(a, c), operator.contains([1, 2, 3], a)


@program(
    "functions/operators by name in a rolled loop",
    inputs=[(f(3.0), f(2.0)), (f(1.0), f(30.0))],
    construct=OPERATOR,
    gradient=True,
)
def operator_loop(a: Any, c: Any) -> Any:
    rows = [c]
    for k in range(10):
        a = operator.iadd(a, operator.mul(c, k))
        if operator.gt(a, 20.0):
            break
    if operator.not_(a > 25):
        operator.setitem(rows, 0, a)
    return a, rows, operator.concat(rows, [a])


@program("functions/operators by name on numbers", inputs=[(f(3.2),), (f(0.0),)], construct=OPERATOR)
def operator_numbers(x: Any) -> Any:
    n = int(x)
    return operator.index(n), operator.neg(n), operator.truth(n), operator.not_(n), operator.abs(-n), operator.inv(n)


@program(
    "functions/itemgetter, attrgetter, methodcaller",
    inputs=[(f(3.0), f(2.0)), (f(1.0), f(2.0))],
    construct=OPERATOR,
    gradient=True,
)
def operator_getters(a: Any, c: Any) -> Any:
    rows, weighed = [a, c, a * c], Weighed(a)
    pair = operator.itemgetter(0, 2)(rows)
    if a > c:
        pair = operator.itemgetter(1, 0)(rows)
    total = operator.add(weighed, Weighed(c))
    best = max([(a, c), (c, a)], key=operator.itemgetter(0))
    return pair, total, best, operator.attrgetter("value")(weighed), operator.methodcaller("plain", 3)(weighed)


@program("functions/attrgetter of a property with a condition on a tensor", inputs=[(f(3.0),)], construct=OPERATOR)
def operator_getter_of_property(a: Any) -> Any:
    return operator.attrgetter("double")(Weighed(a))
