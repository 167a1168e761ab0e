"""Cases of :mod:`.staleness`: state of functions that a wrapper, a layer or a descriptor calls."""

from __future__ import annotations

import contextlib
import types
from collections.abc import Callable, Generator
from functools import partial, singledispatch
from typing import Any

import graphc as gx
from tests.compiler.function.staleness import Made, for_kind

FUNCTIONS = "functions and methods"
_Wrap = Callable[[Callable[[Any], Any]], Callable[[Any], Any]]


def _times(x: Any, upstream: Any) -> Any:
    return upstream * x


def _of_custom_gradient(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def pair(x: Any) -> Any:
        return function(x), partial(_times, x)

    return gx.custom_gradient(pair)


def _of_backward(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def backward(upstream: Any) -> Any:
        return upstream * function(1.0)

    def pair(x: Any) -> Any:
        return x * 1.0, backward

    return gx.grad(gx.custom_gradient(pair))


def _of_hessian(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def squared(x: Any) -> Any:
        return function(x) * x

    return gx.hessian(squared)


def _second(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    both = gx.value_and_grad(function)
    return lambda x: both(x)[1]


def _of_vmap(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    each = gx.vmap(gx.grad(function))
    return lambda x: each(gx.stack([x, x]))


def _of_sequential(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    model: Any = gx.layers.Sequential([function])
    return lambda x: model(x)


def _of_activation(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    model: Any = gx.layers.Dense(2, activation=lambda x: function(x * 0.0 + 1.0))
    model(gx.ones((1, 1)))
    return lambda x: model(gx.reshape(x, (1, 1)))


@contextlib.contextmanager
def _nothing() -> Generator[None]:
    yield


_WRAPPERS: dict[str, _Wrap] = {
    "`gx.grad`": gx.grad,
    "`gx.value_and_grad`": _second,
    "`gx.jacobian`": gx.jacobian,
    "`gx.jacfwd`": gx.jacfwd,
    "`gx.hessian`": _of_hessian,
    "`gx.vmap` of `gx.grad`": _of_vmap,
    "`gx.remat`": gx.remat,
    "`gx.custom_gradient`": _of_custom_gradient,
    "`gx.custom_gradient`, in the gradient": _of_backward,
    "`functools.singledispatch`": singledispatch,
    "`contextlib.contextmanager`": _nothing(),
    "`gx.layers.Sequential`": _of_sequential,
    "an `activation`": _of_activation,
}


def _variable(wrap: _Wrap) -> Made:
    factor = 2.0

    def change() -> None:
        nonlocal factor
        factor = 3.0

    return wrap(lambda x: x * factor), change


def _item(wrap: _Wrap) -> Made:
    factors = [2.0]
    return wrap(lambda x: x * factors[0]), lambda: factors.__setitem__(0, 3.0)


class _Scaling:
    def __init__(self) -> None:
        self.factor = 2.0

    def __call__(self, x: Any) -> Any:
        return x * self.factor

    def scaled(self, x: Any) -> Any:
        return x * self.factor

    @gx.function
    def compiled(self, x: Any) -> Any:
        return x * self.factor


def _attribute(wrap: _Wrap) -> Made:
    scaling = _Scaling()
    return wrap(lambda x: x * scaling.factor), lambda: setattr(scaling, "factor", 3.0)


def _doubled(x: Any) -> Any:
    return x * 2.0


def _tripled(x: Any) -> Any:
    return x * 3.0


def _replaced(wrap: _Wrap) -> Made:
    holder: Any = types.SimpleNamespace(function=_doubled)
    return wrap(lambda x: holder.function(x)), lambda: setattr(holder, "function", _tripled)


def _tensor(wrap: _Wrap) -> Made:
    factor = gx.asarray(2.0)

    def change() -> None:
        nonlocal factor
        factor = gx.asarray(3.0)

    return wrap(lambda x: x * factor), change


for _name, _wrap in _WRAPPERS.items():
    for_kind(FUNCTIONS, f"a closure variable of the function inside {_name}", "followed")(partial(_variable, _wrap))

for _name, _make in {
    "an item of a list in the closure": _item,
    "an attribute of an object in the closure": _attribute,
    "a replaced function in the closure": _replaced,
    "another tensor in the closure": _tensor,
}.items():
    for _inside in ("`gx.grad`", "`gx.layers.Sequential`", "`contextlib.contextmanager`"):
        for_kind(FUNCTIONS, f"{_name} of the function inside {_inside}", "followed")(partial(_make, _WRAPPERS[_inside]))


@for_kind(FUNCTIONS, "an attribute that a bound method inside `gx.grad` reads", "followed")
def _() -> Made:
    scaling = _Scaling()
    return gx.grad(scaling.scaled), lambda: setattr(scaling, "factor", 3.0)


@for_kind(FUNCTIONS, "the defaults of the function inside `gx.grad`", "followed")
def _() -> Made:
    def scaled(x: Any, factor: float = 2.0) -> Any:
        return x * factor

    return gx.grad(scaled), lambda: setattr(scaled, "__defaults__", (3.0,))


class _Differentiated:
    factor = 2.0

    @partial(gx.grad, argnums=1)
    def derivative(self, x: Any) -> Any:
        return x * self.factor


@for_kind(FUNCTIONS, "an attribute that a method reads which `gx.grad` decorates", "followed")
def _() -> Made:
    owner: Any = _Differentiated()
    return owner.derivative, lambda: setattr(owner, "factor", 3.0)


@for_kind(FUNCTIONS, "an attribute that a bound method reads which is an `activation`", "followed")
def _() -> Made:
    scaling = _Scaling()
    return _of_activation(scaling.scaled), lambda: setattr(scaling, "factor", 3.0)


_HOLDERS: dict[str, Callable[[Any], Any]] = {
    "held by a name": lambda method: partial(_calls_first, method),
    "in a list": lambda method: partial(_calls_item, [method]),
    "in a `functools.partial`": partial,
    "passed to `gx.function`": lambda method: method,
    "inside `gx.grad`": gx.grad,
}


def _calls_first(method: Any, x: Any) -> Any:
    return method(x)


def _calls_item(methods: Any, x: Any) -> Any:
    return methods[0](x)


def _of_compiled_method(hold: Callable[[Any], Any]) -> Made:
    scaling = _Scaling()
    return hold(scaling.compiled), lambda: setattr(scaling, "factor", 3.0)


for _where, _hold in _HOLDERS.items():
    for_kind(FUNCTIONS, f"an attribute of the object of a compiled bound method {_where}", "followed")(
        partial(_of_compiled_method, _hold)
    )


class _Scaled:
    """A descriptor with the functions that it is given."""

    def __init__(self, factor: Callable[[], float]) -> None:
        self.factor = factor

    def __get__(self, owner: Any, kind: Any = None) -> Any:
        return owner.held

    def __set__(self, owner: Any, value: Any) -> None:
        owner.held = value * self.factor()

    def __delete__(self, owner: Any) -> None:
        owner.held = owner.held * self.factor()


def _assigned(kind: Any) -> Callable[[Any], Any]:
    def program(x: Any) -> Any:
        owner = kind()
        owner.value = x
        return owner.held

    return program


def _by_setattr(kind: Any) -> Callable[[Any], Any]:
    def program(x: Any) -> Any:
        owner = kind()
        setattr(owner, "value", x)  # noqa: B010
        return owner.held

    return program


def _deleted(kind: Any) -> Callable[[Any], Any]:
    def program(x: Any) -> Any:
        owner = kind()
        owner.held = x
        del owner.value
        return owner.held

    return program


def _of_property(program: Callable[[Any], Callable[[Any], Any]]) -> Made:
    factor = 2.0

    class Owner:
        def _get(self) -> Any:
            return self.held

        def _set(self, value: Any) -> None:
            self.held = value * factor

        def _delete(self) -> None:
            self.held = self.held * factor

        value = property(_get, _set, _delete)

    def change() -> None:
        nonlocal factor
        factor = 3.0

    return program(Owner), change


def _of_descriptor(program: Callable[[Any], Callable[[Any], Any]]) -> Made:
    factor = 2.0

    class Owner:
        value = _Scaled(lambda: factor)

    def change() -> None:
        nonlocal factor
        factor = 3.0

    return program(Owner), change


for _text, _program in {
    "an assignment calls": _assigned,
    "`setattr` calls": _by_setattr,
    "`del` calls": _deleted,
}.items():
    for _what, _made in {"function of a property": _of_property, "method of a descriptor": _of_descriptor}.items():
        for_kind(FUNCTIONS, f"a closure variable of the {_what} that {_text}", "followed")(partial(_made, _program))


@for_kind(FUNCTIONS, "the setter of a property, replaced by another property", "followed")
def _() -> Made:
    class Owner:
        held: Any

        def _set(self, value: Any) -> None:
            self.held = value * 2.0

        value = property(None, _set)

    def other(owner: Any, value: Any) -> None:
        owner.held = value * 3.0

    return _assigned(Owner), lambda: setattr(Owner, "value", property(None, other))
