"""Arguments of compiled functions: structures, keywords, what is static, signatures, and what a trace is shared by."""

from __future__ import annotations

import collections
import enum
import functools
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
import pytest

import graphc as gx
from graphc.compiler.core import context


class Point(NamedTuple):
    x: Any
    y: Any


@dataclass
class Batch:
    data: Any
    label: Any = None


X = np.asarray([1.0, 2.0], np.float32)


@pytest.mark.parametrize(
    "make",
    [
        lambda x: (x, [x, (x, 2.0)]),
        lambda x: {"b": x, "a": {"c": [x]}},
        lambda x: Point(x, {"k": x}),
        lambda x: Batch(x, Point(x, None)),
        lambda x: collections.OrderedDict(z=x, a=x),
        lambda x: [],
        lambda x: (None, x, "text"),
    ],
)
def test_nested_structures_go_in_and_come_out(make: Callable[[Any], Any]) -> None:
    seen: list[Any] = []

    @gx.function(side_effects="ignore")
    def function(value: Any) -> Any:
        seen.append(type(value))
        return value

    given = make(gx.asarray(X))
    result = function(given)
    assert type(result) is type(given)
    assert seen[0] is type(given)
    leaves, structure = gx.base.nest.flatten(result)
    wanted, wanted_structure = gx.base.nest.flatten(given)
    assert structure == wanted_structure
    for leaf, expected in zip(leaves, wanted, strict=True):
        assert type(leaf) is type(expected)
        np.testing.assert_array_equal(np.asarray(leaf), np.asarray(expected))


def test_every_kind_of_parameter() -> None:
    @gx.function
    def function(a: Any, b: Any = 2.0, *rest: Any, c: Any, d: Any = 4.0, **more: Any) -> Any:
        return (a, b, rest, c, d, more)

    one, two = gx.asarray(1.0), gx.asarray(2.0)

    def plain(value: Any) -> Any:
        return gx.base.nest.map_structure(lambda leaf: leaf.item() if isinstance(leaf, gx.Tensor) else leaf, value)

    assert plain(function(one, c=two)) == (1, 2.0, (), 2, 4.0, {})
    assert plain(function(one, two, one, two, c=3, d=one, e=two, f="g")) == (1, 2, (1, 2), 3, 1, {"e": 2, "f": "g"})
    assert plain(function(c=one, a=two)) == (2, 2.0, (), 1, 4.0, {})
    for match, call in (
        (r"function: missing a required.* 'c'; it takes \(a: 'Any', b: 'Any' = 2.0", lambda: function(one)),
        ("function: multiple values for argument 'a'", lambda: function(one, a=one, c=one)),
    ):
        with pytest.raises(TypeError, match=match) as caught:
            call()
        assert isinstance(caught.value, gx.errors.InvalidTypeError)
        assert "test_arguments.py" in str(caught.value)


def test_keywords_and_positions_share_a_trace() -> None:
    function = gx.function(lambda a, b: a - b)
    one, two = gx.asarray(1.0), gx.asarray(2.0)
    assert [function(one, two).item(), function(b=two, a=one).item(), function(one, b=two).item()] == [-1, -1, -1]
    assert function.num_traces == 1


def test_a_tensor_as_default_and_numpy_scalars() -> None:
    default = gx.asarray(3.0)
    function = gx.function(lambda x, y=default: x * y)
    assert function(gx.asarray(2.0)).item() == 6
    assert function(np.float32(2.0)).item() == 6
    assert function(np.float32(3.0)).item() == 9
    assert function(jnp.float32(4.0)).item() == 12
    assert function.num_traces == 1


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Slotted:
    __slots__ = ("__hidden", "value")

    def __init__(self, value: Any, hidden: Any = 0) -> None:
        self.value = value
        self.__hidden = hidden

    def total(self) -> Any:
        return self.value + self.__hidden


class Plain:
    def __init__(self, value: Any) -> None:
        self.value = value

    def one(self, x: Any) -> Any:
        return x + 1

    def two(self, x: Any) -> Any:
        return x + 2

    def mine(self, x: Any) -> Any:
        return x + self.value


class Numbers(list[Any]):
    pass


class Celsius(float):
    pass


def add(n: Any, x: Any) -> Any:
    return x + n


def by_value(option: Any, x: Any) -> Any:
    value = getattr(option, "value", option)
    return x + value


PLAIN = Plain(1)
STATIC: list[tuple[Callable[[Any, Any], Any], list[Any]]] = [
    (by_value, [1, 2, 1.0, True, 2.5, -0.0]),
    (lambda option, x: x * (1 if option == "sum" else 2), ["sum", "mean"]),
    (lambda option, x: x + option.value, [Colour.RED, Colour.BLUE]),
    (lambda option, x: option(x), [gx.exp, gx.sin, PLAIN.one, PLAIN.two, Plain(3).mine, Plain(4).mine]),
    (lambda option, x: option(x), [functools.partial(add, 1), functools.partial(add, 2), functools.partial(add, 3.5)]),
    (lambda option, x: x + option.total(), [Slotted(1), Slotted(2), Slotted(1, 5)]),
    (lambda option, x: x + option[0], [Numbers([1]), Numbers([2]), collections.deque([3]), collections.deque([4])]),
    (lambda option, x: x + sum(option), [{1}, {1, 2}, frozenset({3})]),
    (lambda option, x: x + float(option), [Celsius(1.0), Celsius(2.0)]),
    (lambda option, x: x + len(str(option)), [ValueError("a"), ValueError("bb"), bytearray(b"ccc")]),
    (lambda option, x: x + sum(range(5)[option]), [slice(0, 2), slice(1, 3)]),
    (lambda option, x: x.astype(option), [np.dtype("int32"), np.dtype("float32"), "int32", float]),
]


@pytest.mark.parametrize(("function", "options"), STATIC)
def test_python_values_are_static_parts_of_the_key(function: Callable[..., Any], options: list[Any]) -> None:
    compiled = gx.function(function, on_retrace="ignore")
    for _ in range(2):
        for option in options:
            result, expected = compiled(option, gx.asarray(X)), function(option, gx.asarray(X))
            np.testing.assert_allclose(result.numpy(), expected.numpy(), rtol=1e-6)
            assert result.dtype == expected.dtype
    assert compiled.num_traces == len(options)


@pytest.mark.parametrize(
    ("value", "change"),
    [
        (Plain(1), lambda value: setattr(value, "value", 7)),
        (Slotted(1), lambda value: setattr(value, "value", 7)),
        (Plain(Plain(1)), lambda value: setattr(value.value, "value", 7)),
        (Plain([1]), lambda value: value.value.append(6)),
        (Plain({"a": 1}), lambda value: value.value.update(a=7)),
        (Plain({1}), lambda value: value.value.add(6)),
        (Numbers([1]), lambda value: value.append(6)),
        (functools.partial(Plain(1).mine, 0), lambda value: setattr(value.func.__self__, "value", 7)),
    ],
)
def test_objects_that_change_lead_to_a_retrace(value: Any, change: Callable[[Any], None]) -> None:
    def total(item: Any) -> Any:
        if isinstance(item, functools.partial):
            return item()
        if isinstance(item, Plain | Slotted):
            return total(item.value)
        return sum(item.values() if isinstance(item, dict) else item) if hasattr(item, "__iter__") else item

    compiled = gx.function(lambda item, x: x + total(item))
    x = gx.asarray(0.0)
    assert (compiled(value, x).item(), compiled(value, x).item()) == (1, 1)
    assert compiled.num_traces == 1
    change(value)
    assert compiled(value, x).item() == 7


def test_a_compiled_function_as_argument_and_attribute_stands_for_itself() -> None:
    inner = gx.function(lambda x: x * 2)
    holder = Plain(inner)
    outer = gx.function(lambda function, held, x: function(x) + held.value(x))
    for size in (1, 2, 3):
        inner(gx.ones((size,)))
        assert outer(inner, holder, gx.asarray(1.0)).item() == 4
    assert outer.num_traces == 1


def test_state_of_bound_methods_partials_and_callables_is_part_of_the_key() -> None:
    class Scale:
        def __init__(self) -> None:
            self.factor = 2.0
            self.weight = gx.Variable(1.0)

        def method(self, x: Any) -> Any:
            return x * self.factor * self.weight

        __call__ = method

    scale = Scale()
    functions = [gx.function(scale.method), gx.function(scale), gx.function(functools.partial(Scale.method, scale))]
    x = gx.asarray(1.0)
    for function in functions:
        scale.factor = 2.0
        assert [function(x).item(), function(x).item()] == [2, 2]
        scale.factor = 5.0
        assert function(x).item() == 5
        scale.weight.assign(2.0)
        assert function(x).item() == 10
        scale.weight.assign(1.0)


def test_variables_as_arguments_share_a_trace() -> None:
    @gx.function
    def move(source: gx.Variable, target: gx.Variable) -> None:
        target.assign_add(source)
        source.assign(0.0)

    a, b, c = gx.Variable(1.0), gx.Variable(2.0), gx.Variable(3.0)
    move(a, b)
    move(b, c)
    assert (a.item(), b.item(), c.item()) == (0, 0, 6)
    assert move.num_traces == 1
    move(c, c)
    assert c.item() == 0
    assert move.num_traces == 2


def test_an_argument_that_the_function_also_reaches_by_itself() -> None:
    known, other = gx.Variable(1.0), gx.Variable(10.0)

    def inner() -> Any:
        return known.value()

    @gx.function
    def function(variable: gx.Variable) -> Any:
        variable.assign_add(1.0)
        return variable + inner()

    assert [function(known).item(), function(other).item(), function(known).item()] == [4, 13, 6]
    again = gx.function(lambda variable: variable + known)
    assert [again(other).item(), again(known).item()] == [14, 6]


SIGNATURE = [gx.TensorSpec((None, 2), "float32"), {"k": gx.TensorSpec((), "int32")}]


@pytest.mark.parametrize(
    ("args", "error", "message"),
    [
        (
            (gx.ones((3,)), {"k": gx.asarray(1)}),
            ValueError,
            r"argument 'x' is f32\[3\], but input_signature requires float32\[\?,2\]",
        ),
        ((gx.ones((3, 4)), {"k": gx.asarray(1)}), ValueError, r"argument 'x' is f32\[3,4\]"),
        ((gx.ones((3, 2), dtype="int32"), {"k": gx.asarray(1)}), ValueError, r"argument 'x' is i32\[3,2\]"),
        (
            (gx.ones((3, 2)), gx.asarray(1)),
            ValueError,
            r"argument 'y' has the structure \*, but input_signature requires \{k: \*\}",
        ),
        ((gx.ones((3, 2)), {"j": gx.asarray(1)}), ValueError, r"argument 'y' has the structure \{j: \*\}"),
        ((gx.ones((3, 2)), {"k": "1"}), TypeError, r"argument 'y' must be a tensor \(int32\[\]\), got '1'"),
        (
            (gx.ones((3, 2)), {"k": gx.asarray(1)}, gx.asarray(2.0)),
            ValueError,
            r"got 3 arguments, but input_signature has 2; the tensor 'n'",
        ),
    ],
)
def test_what_does_not_fit_the_signature(args: tuple[Any, ...], error: type[Exception], message: str) -> None:
    @gx.function(input_signature=SIGNATURE)
    def function(x: Any, y: Any, n: Any = 2) -> Any:
        return x * n + y["k"]

    assert function(gx.ones((1, 2)), {"k": gx.asarray(1)}).tolist() == [[3, 3]]
    with pytest.raises(error, match=message) as caught:
        function(*args)
    assert isinstance(caught.value, gx.errors.InvalidArgumentError)
    assert "function(*args)" in str(caught.value)


def test_a_signature_does_not_count_self() -> None:
    class Model:
        @gx.function(input_signature=[gx.TensorSpec((2,))])
        def double(self, x: Any) -> Any:
            return x * 2

    assert Model().double(gx.asarray(X)).tolist() == [2, 4]
    with pytest.raises(ValueError, match="argument 'x'"):
        Model().double(gx.ones((3,)))


def test_bad_arguments_name_the_argument_and_the_line() -> None:
    function = gx.function(lambda x, names: x)
    with pytest.raises(TypeError, match=r"argument 'names': cannot make a tensor.*is not numeric") as caught:
        function(gx.asarray(1.0), np.asarray(["a"]))
    assert "test_arguments.py" in str(caught.value)
    with pytest.raises(gx.errors.InvalidArgumentError, match="expected a function, got 3"):
        gx.function(3)  # pyright: ignore[reportArgumentType]
    with pytest.raises(
        gx.errors.InvalidArgumentError, match="on_retrace must be 'warn', 'error' or 'ignore', got 'no'"
    ):
        gx.function(lambda: 0, on_retrace="no")  # pyright: ignore[reportArgumentType]
    message = "gx.function: 'deadline' is not an option; the options are input_signature, autograph, unroll"
    with pytest.raises(gx.errors.InvalidArgumentError, match=message) as caught:
        gx.function(deadline=3)  # pyright: ignore[reportCallIssue]
    assert "gx.function(deadline=3)" in str(caught.value)
    with pytest.raises(LookupError, match="there is no device gpu:5"):
        gx.function(lambda: 0, device="gpu:5")


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("static_argnames", "the option 'static_argnames' is not needed: a Python value is static, a tensor is not"),
        ("donate_argnums", "not needed: a gx.Variable is updated in place"),
        ("jit_compile", "not needed: XLA compiles the whole function"),
        ("reduce_retracing", "not supported: each size is compiled separately"),
        ("fullgraph", "not needed: the whole function becomes one graph, or is refused with the line"),
        ("backend", "is called device"),
        ("unrol", r"'unrol' is not an option \(did you mean 'unroll'\?\); the options are input_signature"),
    ],
)
def test_an_option_of_another_library_is_answered(option: str, message: str) -> None:
    with pytest.raises(gx.errors.InvalidTypeError, match=message) as caught:
        gx.function(**{option: True})  # pyright: ignore[reportArgumentType]
    assert "gx.function(**{option: True})" in caught.value.message


@dataclass
class Extended:
    weight: Any
    factor: float = 2.0

    def __post_init__(self) -> None:
        self.extra = 3.0

    @gx.function(on_retrace="ignore")
    def scale(self, x: Any) -> Any:
        return x * self.weight * self.factor * self.extra


@pytest.mark.parametrize("make", [gx.Variable, gx.asarray], ids=["variable", "tensor"])
def test_a_dataclass_with_more_attributes_than_fields_is_an_object(make: Callable[[float], Any]) -> None:
    model, x = Extended(make(1.0)), gx.asarray(1.0)
    assert model.scale(x).item() == 6
    model.extra = 5.0
    assert model.scale(x).item() == 10
    model.factor = 1.0
    assert model.scale(x).item() == 5


def test_objects_that_refer_to_each_other() -> None:
    first, second = Plain(1), Plain(None)
    first.other, second.other = second, first  # pyright: ignore[reportAttributeAccessIssue]
    function = gx.function(lambda x, node: x + node.other.other.value)
    x = gx.asarray(0.0)
    assert function(x, first).item() == 1
    first.value = 5
    assert function(x, first).item() == 5
    assert function.trace_report()[-1].reason == "node.value was 1, is 5"


@pytest.mark.parametrize("held", [lambda: [gx.asarray(1.0)], lambda: {"a": gx.asarray(1.0)}, lambda: [1, 2]])
def test_a_container_that_is_given_twice_is_one(held: Any) -> None:
    @gx.function(on_retrace="ignore")
    def f(a: Any, b: Any, *, c: Any, owner: Any) -> list[float]:
        return [1.0 if same else 0.0 for same in (a is b, b is not c[0], owner.held is a)]

    one, other, owner = held(), held(), SimpleNamespace()
    calls = (one, one, other), (one, other, one), (other, one, other), (one, other, other), (one, one, one)
    for a, b, c in (*calls, *calls):
        owner.held = one
        wanted = [float(same) for same in (a is b, b is not c, one is a)]
        assert f(a, b, c=(c, a), owner=owner) == wanted


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (np.sin, r"gx\.function: sin is a ufunc, not a Python function; wrap it, as in `lambda x: np\.sin\(x\)`"),
        (max, "Python does not know the signature of max; wrap it"),
        (
            staticmethod(len),
            "gx.function is applied on top of @staticmethod; put @staticmethod first, and @gx.function below",
        ),
        (
            classmethod(len),
            "gx.function is applied on top of @classmethod; put @classmethod first, and @gx.function below",
        ),
    ],
)
def test_what_is_no_function_of_pythons_is_answered(function: Any, message: str) -> None:
    with pytest.raises(gx.errors.InvalidArgumentError, match=message) as caught:
        gx.function(function)(gx.ones(1))
    assert "test_arguments.py" in str(caught.value)


def test_a_block_ends_eager_mode() -> None:
    compiled = gx.function(lambda: context.trace is None)
    with gx.run_functions_eagerly(True):
        assert compiled()
        with gx.run_functions_eagerly(False):
            assert not compiled()
        assert compiled()
    assert not compiled()


class Answering(dict[str, Any]):
    __getattr__ = dict.__getitem__  # type: ignore[assignment]


class Asking:
    def __init__(self, held: dict[str, Any]) -> None:
        self.__dict__["held"] = held

    def __getattr__(self, name: str) -> Any:
        return self.held[name]


@pytest.mark.parametrize("make", [Answering, Asking])
def test_objects_may_raise_any_error_for_a_name_that_they_lack(make: Callable[[Any], Any]) -> None:
    compiled = gx.function(lambda x, settings: x * settings.rate)
    for rate in (2.0, 3.0):
        assert float(compiled(gx.asarray(1.0), make({"rate": rate}))) == rate
