"""Cases of :mod:`.staleness`: names, functions and their defaults."""

from __future__ import annotations

import builtins
import collections
import contextlib
import functools
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np

import graphc as gx
from tests.compiler.function.staleness import Made, for_kind

G: dict[str, Any] = globals()

NAMES, FUNCTIONS = "names", "functions and methods"


def _rebinding(name: str, before: Any, after: Any, program: Any) -> Made:
    G[name] = before
    return program, lambda: G.update({name: after})


NUMBER: Any = None
HELPER: Any = None
KIND: Any = None


@for_kind(NAMES, "a global number", "followed")
def _() -> Made:
    return _rebinding("NUMBER", 2.0, 3.0, lambda x: x * NUMBER)


@for_kind(NAMES, "a global string", "followed")
def _() -> Made:
    return _rebinding("NUMBER", "a", "b", lambda x: x * 2 if NUMBER == "a" else x * 3)


@for_kind(NAMES, "a global that holds another list", "followed")
def _() -> Made:
    return _rebinding("NUMBER", [2.0], [3.0, 1.0], lambda x: x * sum(NUMBER))


@for_kind(NAMES, "a global that holds another tensor", "followed")
def _() -> Made:
    return _rebinding("NUMBER", gx.asarray(2.0), gx.asarray(3.0), lambda x: x * NUMBER)


@for_kind(NAMES, "a global that holds another NumPy array", "followed")
def _() -> Made:
    return _rebinding("NUMBER", np.float32([2, 2]), np.float32([3, 3]), lambda x: x * NUMBER)


@for_kind(NAMES, "a global that holds another Variable", "followed")
def _() -> Made:
    return _rebinding("NUMBER", gx.Variable(2.0), gx.Variable(3.0), lambda x: x * NUMBER)


@for_kind(NAMES, "the value of a Variable", "followed")
def _() -> Made:
    variable = gx.Variable(2.0)
    return lambda x: x * variable, lambda: variable.assign(3.0)


@for_kind(NAMES, "a global that replaces a builtin", "followed")
def _() -> Made:
    G.pop("abs", None)

    def program(x: Any) -> Any:
        return x * abs(-2.0)

    return program, lambda: G.update(abs=lambda value: 3.0)


@for_kind(NAMES, "a name that is added to `builtins`", "followed")
def _() -> Made:
    def program(x: Any) -> Any:
        return x * graphc_factor()  # type: ignore[name-defined]  # noqa: F821

    vars(builtins)["graphc_factor"] = lambda: 2.0
    return program, lambda: vars(builtins).update(graphc_factor=lambda: 3.0)


@for_kind(NAMES, "`name in globals()`, `globals().get(name)`", "followed")
def _() -> Made:
    G.pop("ABSENT", None)

    def program(x: Any) -> Any:
        return x * globals().get("ABSENT", 2.0) * (3.0 if "ABSENT" in globals() else 2.0)

    return program, lambda: G.update(ABSENT=3.0)


@for_kind(NAMES, "a variable of the enclosing function", "followed")
def _() -> Made:
    number = 2.0

    def change() -> None:
        nonlocal number
        number = 3.0

    return lambda x: x * number, change


@for_kind(NAMES, "a variable of the enclosing function, read in a helper", "followed")
def _() -> Made:
    number = 2.0

    def change() -> None:
        nonlocal number
        number = 3.0

    def helper() -> float:
        return number

    return lambda x: x * helper(), change


def _inside_a_branch(x: Any) -> Any:
    def inside(y: Any) -> Any:
        return y * NUMBER if y > 0 else y

    return inside(x)


def _inside_a_loop(x: Any) -> Any:
    def inside(y: Any) -> Any:
        for _ in range(3):
            y = y * NUMBER
        return y

    return inside(x)


def _inside_a_comprehension(x: Any) -> Any:
    inside = lambda y: sum([y * NUMBER for _ in range(2)])  # noqa: E731
    return inside(x)


def _inside_a_class(x: Any) -> Any:
    class Inside:
        factor = NUMBER

    return x * Inside.factor


for _place, _program in {
    "the body of a class": _inside_a_class,
    "a branch of an inner function": _inside_a_branch,
    "a loop of an inner function": _inside_a_loop,
    "a comprehension of an inner function": _inside_a_comprehension,
}.items():
    for_kind(NAMES, f"a global number, read in {_place}", "followed")(
        functools.partial(_rebinding, "NUMBER", 2.0, 3.0, _program)
    )


@for_kind(NAMES, "`globals()[name]`", "followed")
def _() -> Made:
    return _rebinding("NUMBER", 2.0, 3.0, lambda x: x * globals()["NUMBER"])


@for_kind(NAMES, "a global that `eval` reads", "followed")
def _() -> Made:
    return _rebinding("NUMBER", 2.0, 3.0, lambda x: x * eval("NUMBER + 1"))


@for_kind(NAMES, "a name that the function imports from a module", "followed")
def _() -> Made:
    module: Any = types.ModuleType("a_module_of_the_user")
    module.number = 2.0
    sys.modules[module.__name__] = module

    def program(x: Any) -> Any:
        from a_module_of_the_user import number  # pyright: ignore

        return x * number

    return program, lambda: setattr(module, "number", 3.0)


@for_kind(FUNCTIONS, "a global function that is redefined", "followed")
def _() -> Made:
    return _rebinding("HELPER", lambda x: x * 2, lambda x: x * 3, lambda x: HELPER(x))


@for_kind(FUNCTIONS, "a global class that is redefined", "followed")
def _() -> Made:
    return _rebinding("KIND", type("A", (), {"n": 2.0}), type("A", (), {"n": 3.0}), lambda x: x * KIND().n)


@for_kind(FUNCTIONS, "a function in a variable of the enclosing function", "followed")
def _() -> Made:
    def helper(x: Any) -> Any:
        return x * 2

    def change() -> None:
        nonlocal helper
        helper = lambda x: x * 3  # noqa: E731

    return lambda x: helper(x), change


def _scaling(number: float) -> Any:
    return lambda x: x * number


@for_kind(FUNCTIONS, "another function with the same code, whose closure holds something else", "followed")
def _() -> Made:
    return _rebinding("HELPER", _scaling(2.0), _scaling(3.0), lambda x: HELPER(x))


@for_kind(FUNCTIONS, "such a function in a list", "followed")
def _() -> Made:
    helpers = [_scaling(2.0)]
    return lambda x: helpers[0](x), lambda: helpers.__setitem__(0, _scaling(3.0))


@for_kind(FUNCTIONS, "one of two functions that shared a variable", "followed")
def _() -> Made:
    def sharing(number: float) -> list[Any]:
        return [lambda x: x * number, lambda x: x + number]

    helpers = sharing(2.0)
    return lambda x: helpers[0](x) + helpers[1](x), lambda: helpers.__setitem__(1, sharing(3.0)[1])


for _kind, _wrap in {
    "`gx.function`": gx.function,
    "`gx.grad`": gx.grad,
    "`gx.custom_gradient`": lambda function: gx.custom_gradient(lambda x: (function(x), lambda upstream: upstream)),
    "`gx.call_jax`": lambda function: lambda x: gx.call_jax(lambda value: function(value), x),
}.items():

    def _make_wrapped(wrap: Any = _wrap) -> Made:
        number = 2.0

        def change() -> None:
            nonlocal number
            number = 3.0

        helper = wrap(lambda x: x * x * number)
        return lambda x: helper(x) + 1.0, change

    for_kind(FUNCTIONS, f"a variable of the function that encloses the argument of {_kind}", "followed")(_make_wrapped)


@for_kind(FUNCTIONS, "a compiled method that is patched, called by another", "followed")
def _() -> Made:
    class Kind:
        @gx.function
        def helper(self, x: Any) -> Any:
            return x * 2

    value = Kind()
    return lambda x: value.helper(x), lambda: setattr(Kind, "helper", gx.function(lambda self, x: x * 3))


@for_kind(FUNCTIONS, "the value that a `contextlib.contextmanager` yields", "followed")
def _() -> Made:
    values = {"a": 2.0}

    @contextlib.contextmanager
    def yielding() -> Any:
        yield values["a"]

    def program(x: Any) -> Any:
        with yielding() as value:
            return x * value

    return program, lambda: values.update(a=3.0)


@for_kind(FUNCTIONS, "an implementation registered later with a `functools.singledispatch`", "followed")
def _() -> Made:
    @functools.singledispatch
    def helper(value: Any) -> float:
        return 2.0

    def register() -> None:
        helper.register(str, lambda value: 3.0)

    return lambda x: x * helper("a"), register


@for_kind(FUNCTIONS, "an implementation registered later with a `functools.singledispatchmethod`", "followed")
def _() -> Made:
    class Kind:
        @functools.singledispatchmethod
        def helper(self, value: Any) -> float:
            return 2.0

    def register() -> None:
        Kind.helper.register(str, lambda self, value: 3.0)  # pyright: ignore

    value = Kind()
    return lambda x: x * value.helper("a"), register


@for_kind(FUNCTIONS, "the result of `__class_getitem__`", "followed")
def _() -> Made:
    class Kind:
        values: dict[str, float] = {"a": 2.0}  # noqa: RUF012

        def __class_getitem__(cls, name: str) -> float:
            return cls.values[name]

    return lambda x: x * Kind["a"], lambda: Kind.values.update(a=3.0)


@for_kind(FUNCTIONS, "`layer.call = ...` on one layer", "followed")
def _() -> Made:
    layer = gx.layers.Dropout(0.0)
    return lambda x: layer(x), lambda: setattr(layer, "call", lambda x, training=False: x * 3.0)


@for_kind(FUNCTIONS, "the code of a function (`f.__code__ = ...`)", "followed")
def _() -> Made:
    def helper(x: Any) -> Any:
        return x * 2

    def other(x: Any) -> Any:
        return x * 3

    return lambda x: helper(x), lambda: setattr(helper, "__code__", other.__code__)


@for_kind(FUNCTIONS, "the defaults of a function (`f.__defaults__ = ...`)", "followed")
def _() -> Made:
    def helper(x: Any, factor: float = 2.0) -> Any:
        return x * factor

    return lambda x: helper(x), lambda: setattr(helper, "__defaults__", (3.0,))


@for_kind(FUNCTIONS, "the defaults of the compiled function itself", "followed", direct=True)
def _() -> Made:
    def scaled(x: Any, factor: float = 2.0, *, other: float = 2.0) -> Any:
        return x * factor * other

    def change() -> None:
        scaled.__defaults__ = (3.0,)
        scaled.__kwdefaults__["other"] = 3.0

    return gx.function(scaled), change


@for_kind(FUNCTIONS, "the defaults of a named tuple (`__new__.__defaults__`)", "followed")
def _() -> Made:
    kind: Any = collections.namedtuple("Kind", "factor", defaults=(2.0,))
    return lambda x: x * kind().factor, lambda: setattr(kind.__new__, "__defaults__", (3.0,))


@for_kind(FUNCTIONS, "the keyword defaults of a function", "followed")
def _() -> Made:
    def helper(x: Any, *, factor: float = 2.0) -> Any:
        return x * factor

    return lambda x: helper(x), lambda: setattr(helper, "__kwdefaults__", {"factor": 3.0})


@for_kind(FUNCTIONS, "the contents of a default argument", "followed")
def _() -> Made:
    factors = [2.0]

    def program(x: Any, given: Any = factors) -> Any:
        return x * given[0]

    return program, lambda: factors.__setitem__(0, 3.0)


@for_kind(FUNCTIONS, "an attribute of a default argument", "followed")
def _() -> Made:
    settings = types.SimpleNamespace(factor=2.0)

    def program(x: Any, given: Any = settings) -> Any:
        return x * given.factor

    return program, lambda: setattr(settings, "factor", 3.0)


@for_kind(FUNCTIONS, "a `functools.partial` in a global", "followed")
def _() -> Made:
    def scaled(factor: float, x: Any) -> Any:
        return x * factor

    return _rebinding("HELPER", functools.partial(scaled, 2.0), functools.partial(scaled, 3.0), lambda x: HELPER(x))


@for_kind(FUNCTIONS, "the keywords of a `functools.partial`", "followed")
def _() -> Made:
    helper = functools.partial(lambda x, factor: x * factor, factor=2.0)
    return lambda x: helper(x), lambda: helper.keywords.update(factor=3.0)


@for_kind(FUNCTIONS, "a function in a dict", "followed")
def _() -> Made:
    table: dict[str, Any] = {"f": lambda x: x * 2}
    return lambda x: table["f"](x), lambda: table.update(f=lambda x: x * 3)


class _Base:
    def factor(self) -> float:
        return 2.0

    def __call__(self) -> float:
        return 2.0

    def __mul__(self, other: Any) -> Any:
        return other * 2.0

    @property
    def fixed(self) -> float:
        return 2.0

    @staticmethod
    def static() -> float:
        return 2.0


def _patched(name: str, after: Any, program: Any, *, of_base: bool = False) -> Made:
    """A program of an object whose class is patched."""
    base = type("Base", (_Base,), dict(vars(_Base)))
    kind = type("Kind", (base,), {})
    value = kind()
    return lambda x: program(value, x), lambda: setattr(base if of_base else kind, name, after)


@for_kind(FUNCTIONS, "a method that is patched", "followed")
def _() -> Made:
    return _patched("factor", lambda self: 3.0, lambda value, x: x * value.factor())


@for_kind(FUNCTIONS, "a method of a base class that is patched", "followed")
def _() -> Made:
    return _patched("factor", lambda self: 3.0, lambda value, x: x * value.factor(), of_base=True)


@for_kind(FUNCTIONS, "`__call__` that is patched", "followed")
def _() -> Made:
    return _patched("__call__", lambda self: 3.0, lambda value, x: x * value())


@for_kind(FUNCTIONS, "an operator (`__mul__`) that is patched", "followed")
def _() -> Made:
    return _patched("__mul__", lambda self, other: other * 3.0, lambda value, x: value * x)


@for_kind(FUNCTIONS, "a property that is patched", "followed")
def _() -> Made:
    return _patched("fixed", property(lambda self: 3.0), lambda value, x: x * value.fixed)


@for_kind(FUNCTIONS, "a static method that is patched", "followed")
def _() -> Made:
    return _patched("static", staticmethod(lambda: 3.0), lambda value, x: x * value.static())


@for_kind(FUNCTIONS, "a method of one object that is patched", "followed")
def _() -> Made:
    value = _Base()
    return lambda x: x * value.factor(), lambda: setattr(value, "factor", lambda: 3.0)


@for_kind(FUNCTIONS, "a function of a module that is patched", "followed")
def _() -> Made:
    module = types.ModuleType("module")
    module.factor = lambda: 2.0  # type: ignore[attr-defined]
    return lambda x: x * module.factor(), lambda: setattr(module, "factor", lambda: 3.0)


@for_kind(FUNCTIONS, "the result of a `functools.lru_cache`", "followed")
def _() -> Made:
    numbers = [2.0]
    cached = functools.lru_cache(lambda: numbers[0])

    def change() -> None:
        numbers[0] = 3.0
        cached.cache_clear()

    return lambda x: x * cached(), change


_numbers: list[float] = []


class _Caching:
    @functools.lru_cache  # noqa: B019
    def at(self, place: int) -> float:
        return _numbers[place]

    @functools.lru_cache  # noqa: B019
    def all(self) -> list[float]:
        return [*_numbers]


def _cleared(read: Callable[[_Caching, Any], Any]) -> Made:
    _numbers[:], caching = [2.0], _Caching()
    read(caching, 1.0)  # so that the trace finds the result in the cache

    def change() -> None:
        _numbers[0] = 3.0
        _Caching.at.cache_clear()
        caching.all()[0] = 5.0

    return lambda x: read(caching, x), change


_CACHED: dict[str, Callable[[_Caching, Any], Any]] = {
    "what a `functools.lru_cache` keeps when the function is traced, and then clears": lambda caching, x: (
        x * caching.at(place=0)
    ),
    "what is changed in place in the result of a `functools.lru_cache`": lambda caching, x: x * caching.all()[0],
}
for _kind, _read in _CACHED.items():
    for_kind(FUNCTIONS, _kind, "followed")(functools.partial(_cleared, _read))


@for_kind(NAMES, "a name that is not defined at first", "followed")
def _() -> Made:
    G.pop("LATER", None)

    def program(x: Any) -> Any:
        try:
            return x * LATER  # type: ignore[name-defined]
        except NameError:
            return x * 2.0

    return program, lambda: G.update(LATER=3.0)


@for_kind(FUNCTIONS, "a method found by `super()`", "followed")
def _() -> Made:
    class Kind(_Base):
        rate = 5.0

        def factor(self) -> float:
            return super().factor() * super().rate

    class Base(_Base):
        rate = 1.0

    Kind.__bases__ = (Base,)
    value = Kind()
    return lambda x: x * value.factor(), lambda: setattr(Base, "rate", 1.5)


@for_kind(FUNCTIONS, "a method, a class attribute and `__init__` of a class that the function instantiates", "followed")
def _() -> Made:
    class Kind:
        rate = 1.0

        def __init__(self) -> None:
            self.two = 2.0

        def factor(self) -> float:
            return self.two * self.rate

    def change() -> None:
        Kind.rate, Kind.factor = 1.5, lambda self: self.two * self.rate + 1.0
        Kind.__init__ = lambda self: setattr(self, "two", 3.0)

    return lambda x: x * Kind().factor(), change


@for_kind(FUNCTIONS, "a variable of the function that encloses a property", "followed")
def _() -> Made:
    number = 2.0

    class Kind:
        @property
        def factor(self) -> float:
            return number

    def change() -> None:
        nonlocal number
        number = 3.0

    value = Kind()
    return lambda x: x * value.factor, change


UNCONVERTED = "code that is not converted"
RATE: Any = None
HOLDER: Any = None


def _rate() -> Any:
    return RATE * HOLDER.parts[0].rate


class _Iterated:
    def __iter__(self) -> Any:
        yield _rate()


@gx.do_not_convert
def _as_it_is() -> Any:
    return _rate()


_namespace: dict[str, Any] = {"rate": _rate}
exec("def _no_source(): return rate()", _namespace)

for _kind, _program in {
    "code under `do_not_convert`": lambda x: x * _as_it_is(),
    "a function without source": lambda x: x * _namespace["_no_source"](),
    "a callback of a library": lambda x: x * np.vectorize(lambda value: value * _rate())(np.ones(2, np.float32)),
    "an `__iter__` that yields, in `sum`": lambda x: x * sum(_Iterated()),
}.items():

    def _make(program: Any = _program) -> Made:
        G.update(RATE=2.0, HOLDER=types.SimpleNamespace(parts=[types.SimpleNamespace(rate=1.0)]))
        return program, lambda: setattr(HOLDER.parts[0], "rate", 1.5)

    _told = "do_not_convert" in _kind or "source" in _kind
    for_kind(UNCONVERTED, f"a global and an attribute, read by {_kind}", "followed", told=_told)(_make)
