"""Cases of :mod:`tests.compiler.function.staleness`: attributes, containers and arrays."""

from __future__ import annotations

import array
import collections
import dataclasses
import enum
import threading
import types
import weakref
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

import graphc as gx
from tests.compiler.function.staleness import Made, for_kind

ATTRIBUTES, CONTAINERS, ARRAYS = "attributes", "containers", "arrays and tensors"


class _Plain:
    factor = 2.0


class _Slotted:
    __slots__ = ("factor",)

    def __init__(self) -> None:
        self.factor = 2.0


@dataclasses.dataclass
class _Settings:
    factor: float = 2.0


@dataclasses.dataclass(frozen=True)
class _Frozen:
    factor: float = 2.0


class _Pair(NamedTuple):
    factor: float


class _Computed:
    def __init__(self) -> None:
        self.parts = {"factor": 2.0}

    @property
    def factor(self) -> float:
        return self.parts["factor"]


class _Dynamic(_Computed):
    factor = property()  # type: ignore[assignment]

    def __getattribute__(self, name: str) -> Any:
        return super().__getattribute__("parts")["factor"] if name == "factor" else super().__getattribute__(name)


def _attribute(value: Any) -> Made:
    """A program that reads an attribute of an object from outside."""
    return lambda x: x * value.factor, lambda: setattr(value, "factor", 3.0)


@for_kind(ATTRIBUTES, "an attribute of an argument", "followed", direct=True)
def _() -> Made:
    value = _Settings()
    program = gx.function(lambda settings, x: x * settings.factor)
    return lambda x: program(value, x), lambda: setattr(value, "factor", 3.0)


@for_kind(ATTRIBUTES, "an attribute of an object from outside", "followed")
def _() -> Made:
    value = _Plain()
    value.factor = 2.0
    return _attribute(value)


@for_kind(ATTRIBUTES, "an attribute in a slot", "followed")
def _() -> Made:
    return _attribute(_Slotted())


@for_kind(ATTRIBUTES, "an attribute set on a dict whose class has `__getattr__ = dict.get`", "followed")
def _() -> Made:
    kind = type("Settings", (dict,), {"__getattr__": dict.get})
    settings: Any = kind(factor=2.0)
    return lambda x: x * settings.factor, lambda: setattr(settings, "factor", 3.0)


@for_kind(ATTRIBUTES, "a field of a dataclass", "followed")
def _() -> Made:
    return _attribute(_Settings())


@for_kind(ATTRIBUTES, "a field of a `types.SimpleNamespace`", "followed")
def _() -> Made:
    return _attribute(types.SimpleNamespace(factor=2.0))


@for_kind(ATTRIBUTES, "an attribute of a `threading.local`", "followed")
def _() -> Made:
    value = threading.local()
    value.factor = 2.0
    return _attribute(value)


@for_kind(ATTRIBUTES, "an attribute of a function", "followed")
def _() -> Made:
    def helper() -> None: ...

    helper.factor = 2.0  # type: ignore[attr-defined]
    return _attribute(helper)


@for_kind(ATTRIBUTES, "a class attribute", "followed")
def _() -> Made:
    return _attribute(type("Kind", (_Plain,), {"factor": 2.0}))


@for_kind(ATTRIBUTES, "a class attribute, read by an object", "followed")
def _() -> Made:
    kind = type("Kind", (_Plain,), {})
    value = kind()
    return lambda x: x * value.factor, lambda: setattr(kind, "factor", 3.0)


@for_kind(ATTRIBUTES, "a class attribute of a base class", "followed")
def _() -> Made:
    base = type("Base", (), {"factor": 2.0})
    value = type("Kind", (base,), {})()
    return lambda x: x * value.factor, lambda: setattr(base, "factor", 3.0)


@for_kind(ATTRIBUTES, "a class attribute of the class of an argument", "followed", direct=True)
def _() -> Made:
    kind = type("Kind", (_Plain,), {"factor": 2.0})
    value, program = kind(), gx.function(lambda given, x: x * given.factor)
    return lambda x: program(value, x), lambda: setattr(kind, "factor", 3.0)


@for_kind(ATTRIBUTES, "an attribute of a module", "followed")
def _() -> Made:
    module = types.ModuleType("module")
    module.factor = 2.0  # type: ignore[attr-defined]
    return _attribute(module)


@for_kind(ATTRIBUTES, "an attribute of an attribute", "followed")
def _() -> Made:
    value = types.SimpleNamespace(inner=_Settings())
    return lambda x: x * value.inner.factor, lambda: setattr(value.inner, "factor", 3.0)


@for_kind(ATTRIBUTES, "an attribute that holds another object", "followed")
def _() -> Made:
    value = types.SimpleNamespace(inner=_Frozen())
    return lambda x: x * value.inner.factor, lambda: setattr(value, "inner", _Frozen(3.0))


@for_kind(ATTRIBUTES, "an attribute that holds another named tuple", "followed")
def _() -> Made:
    value = types.SimpleNamespace(inner=_Pair(2.0))
    return lambda x: x * value.inner.factor, lambda: setattr(value, "inner", _Pair(3.0))


@for_kind(ATTRIBUTES, "state that a property reads", "followed")
def _() -> Made:
    value = _Computed()
    return lambda x: x * value.factor, lambda: value.parts.update(factor=3.0)


@for_kind(ATTRIBUTES, "state that `__getattribute__` reads", "followed")
def _() -> Made:
    value = _Dynamic()
    return lambda x: x * value.factor, lambda: value.parts.update(factor=3.0)


@for_kind(ATTRIBUTES, "an attribute that is deleted", "followed")
def _() -> Made:
    value = types.SimpleNamespace(factor=2.0)
    return lambda x: x * getattr(value, "factor", 3.0), lambda: delattr(value, "factor")


@for_kind(ATTRIBUTES, "an attribute that is first set after the first call", "followed")
def _() -> Made:
    value = types.SimpleNamespace()
    return lambda x: x * (3.0 if hasattr(value, "factor") else 2.0), lambda: setattr(value, "factor", 1.0)


@for_kind(ATTRIBUTES, "the class of an object (`o.__class__ = ...`)", "followed")
def _() -> Made:
    first, second = type("A", (), {"factor": 2.0}), type("B", (), {"factor": 3.0})
    value = first()
    return lambda x: x * value.factor, lambda: setattr(value, "__class__", second)


@for_kind(ATTRIBUTES, "the result of `dir(object)`", "followed")
def _() -> Made:
    value = type("Kind", (), {})()
    return lambda x: x * (3.0 if "factor" in dir(value) else 2.0), lambda: setattr(value, "factor", 1.0)


@for_kind(ATTRIBUTES, "a class attribute, read by `vars(Class)`", "followed")
def _() -> Made:
    kind: Any = type("Kind", (), {"factor": 2.0})
    return lambda x: x * vars(kind)["factor"], lambda: setattr(kind, "factor", 3.0)


@for_kind(ATTRIBUTES, "the object that its class's `__new__` keeps", "followed")
def _() -> Made:
    class Kind:
        only: Any = None

        def __new__(cls) -> Any:
            cls.only = cls.only or object.__new__(cls)
            return cls.only

    Kind().factor = 2.0
    return lambda x: x * Kind().factor, lambda: setattr(Kind.only, "factor", 3.0)


@for_kind(ATTRIBUTES, "the class of an object, read by `isinstance`", "followed")
def _() -> Made:
    first, second = type("A", (), {}), type("B", (), {})
    value = first()
    return lambda x: x * (3.0 if isinstance(value, second) else 2.0), lambda: setattr(value, "__class__", second)


@for_kind(ATTRIBUTES, "the value of a member of an enumeration", "followed")
def _() -> Made:
    class Kind(enum.Enum):
        ONE = 2.0

    return lambda x: x * Kind.ONE.value, lambda: setattr(Kind.ONE, "_value_", 3.0)


@for_kind(ATTRIBUTES, "an attribute of a member of an enumeration", "followed")
def _() -> Made:
    class Kind(enum.Enum):
        ONE = (2.0,)

        def __init__(self, factor: float) -> None:
            self.factor = factor

        def doubled(self) -> float:
            return 2 * self.factor

    return lambda x: x * Kind.ONE.doubled(), lambda: setattr(Kind.ONE, "factor", 3.0)


@for_kind(ATTRIBUTES, "an attribute of such a member among the arguments", "followed", direct=True)
def _() -> Made:
    kind: Any = enum.Enum("Kind", "ONE")
    kind.ONE.factor = 2.0
    program = gx.function(lambda member, x: x * member.factor)
    return lambda x: program(kind.ONE, x), lambda: setattr(kind.ONE, "factor", 3.0)


@for_kind(ATTRIBUTES, "a class attribute that is None, set later on an object", "followed")
def _() -> Made:
    value = type("Kind", (), {"factor": None})()
    return lambda x: x * (2.0 if value.factor is None else value.factor), lambda: setattr(value, "factor", 3.0)


@for_kind(ATTRIBUTES, "state that a property reads, found by `super()`", "followed")
def _() -> Made:
    class Kind(_Computed):
        @property
        def factor(self) -> float:
            return super().factor

    value = Kind()
    return lambda x: x * value.factor, lambda: value.parts.update(factor=3.0)


class _Array(_Plain):
    def __hash__(self) -> int:
        return int(self.factor)

    def __jax_array__(self) -> Any:
        return jnp.float32(self.factor)


@for_kind(ATTRIBUTES, "state that `__hash__` reads", "followed")
def _() -> Made:
    value = _Array()
    return lambda x: x * hash(value), lambda: setattr(value, "factor", 3.0)


@for_kind(ATTRIBUTES, "state that `__jax_array__` reads", "followed")
def _() -> Made:
    value = _Array()
    return lambda x: gx.multiply(x, value), lambda: setattr(value, "factor", 3.0)


@for_kind(ATTRIBUTES, "whether a layer is trainable", "followed")
def _() -> Made:
    class Scale(gx.layers.Layer):
        def call(self, x: Any) -> Any:
            return x * (2.0 if self.trainable else 3.0)

    layer = Scale()
    return lambda x: layer(x), lambda: setattr(layer, "trainable", False)


@for_kind(ATTRIBUTES, "an attribute of the object behind a weak reference", "followed")
def _() -> Made:
    value = _Settings()
    reference = weakref.ref(value)
    return lambda x: x * reference().factor, lambda: setattr(value, "factor", 3.0)


@for_kind(ATTRIBUTES, "an attribute added to a dataclass among the arguments", "followed", direct=True)
def _() -> Made:
    value: Any = _Settings()
    program = gx.function(lambda settings, x: x * getattr(settings, "other", 2.0))
    return lambda x: program(value, x), lambda: setattr(value, "other", 3.0)


@for_kind(ATTRIBUTES, "state that a dataclass's `default_factory` reads", "followed")
def _() -> Made:
    rates = {"factor": 2.0}

    @dataclasses.dataclass
    class Rates:
        all_of_them: dict[str, float] = dataclasses.field(default_factory=lambda: dict(rates))

    return lambda x: x * Rates().all_of_them["factor"], lambda: rates.update(factor=3.0)


@for_kind(ATTRIBUTES, "state that a metaclass's `__call__` reads", "followed")
def _() -> Made:
    class Meta(type):
        factor = 2.0

        def __call__(cls) -> Any:
            made = super().__call__()
            made.factor = Meta.factor
            return made

    class Kind(metaclass=Meta):
        factor: float

    return lambda x: x * Kind().factor, lambda: setattr(Meta, "factor", 3.0)


@for_kind(ATTRIBUTES, "the attribute `self.factor` of a compiled method", "followed", direct=True)
def _() -> Made:
    class Scale:
        def __init__(self) -> None:
            self.factor = 2.0

        @gx.function
        def __call__(self, x: Any) -> Any:
            return x * self.factor

    scale = Scale()
    return lambda x: scale(x), lambda: setattr(scale, "factor", 3.0)


@for_kind(ATTRIBUTES, "a list in an attribute of `self`", "followed", direct=True)
def _() -> Made:
    class Scale:
        def __init__(self) -> None:
            self.factors = [2.0]

        @gx.function
        def __call__(self, x: Any) -> Any:
            return x * self.factors[0]

    scale = Scale()
    return lambda x: scale(x), lambda: scale.factors.__setitem__(0, 3.0)


# --- containers


def _item(values: Any, key: Any = 0, after: Any = 3.0) -> Made:
    return lambda x: x * values[key], lambda: values.__setitem__(key, after)


@for_kind(CONTAINERS, "an item of a list", "followed")
def _() -> Made:
    return _item([2.0])


@for_kind(CONTAINERS, "an item of a dict", "followed")
def _() -> Made:
    return _item({"a": 2.0}, "a")


@for_kind(
    CONTAINERS, "an item of a list, dict or set in which the function puts something and takes it out", "followed"
)
def _() -> Made:
    table, ordered, items, elements = {"a": 2.0}, collections.OrderedDict(a=2.0), [2.0], {2.0}

    def program(x: Any) -> Any:
        nonlocal items, elements
        table["w"] = ordered["w"] = 5.0
        items += [3.0]
        elements |= {5.0}
        found = x * table["a"] * table.pop("w") + ordered["a"] + items[0] * items.pop() + sum(elements)
        elements.remove(5.0)
        ordered.move_to_end("w", last=False)
        ordered.popitem(last=False)
        return found

    def change() -> None:
        table["a"] = ordered["a"] = items[0] = 3.0
        elements.add(7.0)

    return program, change


@for_kind(CONTAINERS, "an item of a list in a dict", "followed")
def _() -> Made:
    values = {"a": [2.0]}
    return lambda x: x * values["a"][0], lambda: values["a"].__setitem__(0, 3.0)


@for_kind(CONTAINERS, "an item of a list in a tuple", "followed")
def _() -> Made:
    values = ([2.0],)
    return lambda x: x * values[0][0], lambda: values[0].__setitem__(0, 3.0)


@for_kind(CONTAINERS, "the length of a list", "followed")
def _() -> Made:
    values = [1.0, 1.0]
    return lambda x: x * len(values), lambda: values.append(1.0)


@for_kind(CONTAINERS, "the items that a loop over a list reads", "followed")
def _() -> Made:
    values = [1.0, 1.0]

    def program(x: Any) -> Any:
        for value in values:
            x = x + value
        return x

    return program, lambda: values.append(1.0)


@for_kind(CONTAINERS, "the keys of a dict", "followed")
def _() -> Made:
    values = {"a": 1.0}
    return lambda x: x * (3.0 if "b" in values else 2.0), lambda: values.update(b=1.0)


@for_kind(CONTAINERS, "the keys that a loop over a dict reads", "followed")
def _() -> Made:
    values = {"a": 1.0}
    return lambda x: x * sum(value for value in values.values()), lambda: values.update(b=1.0)


@for_kind(CONTAINERS, "the view of a dict's values", "followed")
def _() -> Made:
    values = {"a": 1.0}
    view = values.values()
    return lambda x: x * sum(view), lambda: values.update(b=1.0)


@for_kind(CONTAINERS, "the elements of a set", "followed")
def _() -> Made:
    values = {1}
    return lambda x: x * (3.0 if 2 in values else 2.0), lambda: values.add(2)


@for_kind(CONTAINERS, "an item of a `deque`", "followed")
def _() -> Made:
    return _item(collections.deque([2.0]))


@for_kind(CONTAINERS, "an item of a `defaultdict`", "followed")
def _() -> Made:
    return _item(collections.defaultdict(float, a=2.0), "a")


@for_kind(CONTAINERS, "an item of an `OrderedDict`", "followed")
def _() -> Made:
    return _item(collections.OrderedDict(a=2.0), "a")


@for_kind(CONTAINERS, "an item of a `Counter`", "followed")
def _() -> Made:
    return _item(collections.Counter(a=2), "a", 3)


@for_kind(CONTAINERS, "an item of a `UserList`", "followed")
def _() -> Made:
    return _item(collections.UserList([2.0]))


@for_kind(CONTAINERS, "an item of a `ChainMap`", "followed")
def _() -> Made:
    return _item(collections.ChainMap({"a": 2.0}), "a")


@for_kind(CONTAINERS, "an item behind a `MappingProxyType`", "followed")
def _() -> Made:
    values = {"a": 2.0}
    proxy = types.MappingProxyType(values)
    return lambda x: x * proxy["a"], lambda: values.update(a=3.0)


@for_kind(CONTAINERS, "an item of a `WeakKeyDictionary`", "followed")
def _() -> Made:
    key = _Plain()
    return _item(weakref.WeakKeyDictionary({key: 2.0}), key)


@for_kind(CONTAINERS, "the elements of a `WeakSet`", "followed")
def _() -> Made:
    kept = [_Plain(), _Plain()]
    value = weakref.WeakSet(kept[:1])
    return lambda x: x * len(value), lambda: value.add(kept[1])


@for_kind(CONTAINERS, "an item of a `bytearray`", "followed")
def _() -> Made:
    return _item(bytearray([2]), 0, 3)


@for_kind(CONTAINERS, "an item of an `array.array`", "followed")
def _() -> Made:
    return _item(array.array("d", [2.0]))


@for_kind(CONTAINERS, "an item behind a `memoryview`", "followed")
def _() -> Made:
    values = bytearray([2])
    view = memoryview(values)
    return lambda x: x * view[0], lambda: values.__setitem__(0, 3)


@for_kind(CONTAINERS, "an item of a list among the arguments", "followed", direct=True)
def _() -> Made:
    values, program = [2.0], gx.function(lambda given, x: x * given[0])
    return lambda x: program(values, x), lambda: values.__setitem__(0, 3.0)


@for_kind(CONTAINERS, "an item of a dict among the arguments", "followed", direct=True)
def _() -> Made:
    values, program = {"a": 2.0}, gx.function(lambda given, x: x * given["a"])
    return lambda x: program(values, x), lambda: values.update(a=3.0)


# --- arrays


@for_kind(ARRAYS, "an element of a NumPy array", "followed")
def _() -> Made:
    values = np.float32([2, 2])
    return lambda x: x * values, lambda: values.__setitem__(0, 3)


@for_kind(ARRAYS, "an element of a NumPy array, changed through a view", "followed")
def _() -> Made:
    values = np.zeros((2, 2), np.float32)
    return lambda x: x + values, lambda: values[0].fill(3)


@for_kind(ARRAYS, "an element of a NumPy array of more than 1 MiB that may be written to", "warned")
def _() -> Made:
    values = np.zeros(300_000, np.float32)
    return lambda x: x + gx.sum(gx.asarray(values)), lambda: values.__setitem__(0, 3)


@for_kind(ARRAYS, "an element of a NumPy array of objects", "followed")
def _() -> Made:
    return _item(np.array([2.0, None], object))


@for_kind(ARRAYS, "a field of a NumPy array of records", "followed")
def _() -> Made:
    values = np.zeros(1, [("a", np.float32)])
    return lambda x: x + values["a"], lambda: values["a"].fill(3)


@for_kind(ARRAYS, "the mask of a masked array", "followed")
def _() -> Made:
    values = np.ma.array([1.0, 2.0])
    return lambda x: x * float(values.sum()), lambda: values.__setitem__(1, np.ma.masked)


@for_kind(ARRAYS, "the mask of a masked array, over an item that equals `fill_value`", "followed")
def _() -> Made:
    values = np.ma.array([1e20, 2.0])
    return lambda x: x * float(values.mean()), lambda: values.__setitem__(0, np.ma.masked)


@for_kind(ARRAYS, "an element of a NumPy array among the arguments", "followed", direct=True)
def _() -> Made:
    values, program = np.float32([2, 2]), gx.function(lambda given, x: x * given)
    return lambda x: program(values, x), lambda: values.__setitem__(0, 3)


@for_kind(ARRAYS, "the items of a tensor", "followed")
def _() -> Made:
    values = gx.asarray([2.0, 2.0])
    return lambda x: x * values, lambda: values.__setitem__(0, 3.0)


@for_kind(ARRAYS, "a list that holds another `jax.Array`", "followed")
def _() -> Made:
    return _item([jnp.asarray(2.0)], 0, jnp.asarray(3.0))


# --- identity


def _keyed(program: Any) -> Made:
    """A program that is given one of two objects with equal attributes, first one and then the other."""
    first, second = _Plain(), _Plain()
    given, compiled = [first], gx.function(lambda value, x: program(value, first, x))
    return lambda x: compiled(given[0], x), lambda: given.__setitem__(0, second)


IDENTITY = "which object an argument is"


@for_kind(IDENTITY, "`argument is known`", "followed", direct=True)
def _() -> Made:
    return _keyed(lambda value, first, x: x * (2.0 if value is first else 3.0))


@for_kind(IDENTITY, "`table[argument]`", "followed", direct=True)
def _() -> Made:
    return _keyed(lambda value, first, x: x * {first: 2.0}.get(value, 3.0))


@for_kind(IDENTITY, "`argument in known`", "followed", direct=True)
def _() -> Made:
    return _keyed(lambda value, first, x: x * (2.0 if value in [first, None] else 3.0))


@for_kind(IDENTITY, "`id(argument)`", "followed", direct=True)
def _() -> Made:
    return _keyed(lambda value, first, x: x * (2.0 if id(value) == id(first) else 3.0))


@for_kind(IDENTITY, "`hash(argument)`", "followed", direct=True)
def _() -> Made:
    return _keyed(lambda value, first, x: x * (2.0 if hash(value) == hash(first) else 3.0))


@for_kind(IDENTITY, "`repr(argument)`, `str` and f-strings, where the class has no `__repr__`", "followed", direct=True)
def _() -> Made:
    return _keyed(lambda value, first, x: x * (2.0 if f"{value}" == repr(first) else 3.0))


@dataclasses.dataclass
class _Field:
    factor: float = 2.0


_TEXT = "{0.factor}"

for _kind, _number in {
    "`==` of dataclasses": lambda field: 2.0 if field == _Field() else 3.0,
    "`==` of lists of them": lambda field: 2.0 if [field] == [_Field()] else 3.0,
    "`in` a list of them": lambda field: 2.0 if _Field() in [field, None] else 3.0,
    "`repr`, f-strings": lambda field: len(f"{field!r}{field}"),
    "`str.format`, by a name in the text": lambda field: len(_TEXT.format(field)),
    "`vars`, `__dict__`": lambda field: vars(field)["factor"] + field.__dict__["factor"],
    "`getattr` with a default": lambda field: getattr(field, "other", field.factor),
}.items():

    def _make(number: Any = _number) -> Made:
        field = _Field()
        return lambda x: x * number(field), lambda: setattr(field, "factor", 2.25)

    for_kind(ATTRIBUTES, f"a field, read by {_kind}", "followed")(_make)


@for_kind(ATTRIBUTES, "the state of a descriptor", "followed")
def _() -> Made:
    class Descriptor:
        factor = 2.0

        def __get__(self, owner: Any, kind: Any) -> float:
            return self.factor

    class Kind:
        factor = Descriptor()

    value = Kind()
    return lambda x: x * value.factor, lambda: setattr(vars(Kind)["factor"], "factor", 3.0)


@for_kind(CONTAINERS, "an attribute of an element of a set", "followed")
def _() -> Made:
    element = type("Element", (), {"factor": 2.0})()
    elements = {element}
    return lambda x: x * sum([one.factor for one in elements]), lambda: setattr(element, "factor", 3.0)


class _Two:
    def __get__(self, owner: Any, kind: Any) -> float:
        return 2.0


@for_kind(ATTRIBUTES, "an attribute that is set where a descriptor without `__set__` answered", "followed")
def _() -> Made:
    class Described:
        factor = _Two()

    state = Described()
    return lambda x: x * state.factor, lambda: vars(state).update(factor=3.0)


@for_kind(ATTRIBUTES, "an attribute that is set where a static or a class method answered", "followed")
def _() -> Made:
    class Methods:
        @staticmethod
        def double(x: Any) -> Any:
            return x * 2.0

        @classmethod
        def add(cls, x: Any) -> Any:
            return x + 1.0

    state: Any = Methods()

    def change() -> None:
        state.double, state.add = (lambda x: x * 5.0), (lambda x: x + 7.0)

    return lambda x: state.double(x) + state.add(x), change


@for_kind(ATTRIBUTES, "a `__getattr__` that a class is given later", "followed")
def _() -> Made:
    class Plain:
        pass

    state: Any = Plain()
    kind: Any = Plain
    return lambda x: x * getattr(state, "factor", 2.0), lambda: setattr(kind, "__getattr__", lambda _, name: 3.0)


@for_kind(ATTRIBUTES, "a `__new__` and an `__init__` that a class is given later", "followed")
def _() -> Made:
    class Plain:
        factor = 2.0

    class Other:
        factor = 2.0

    def new(kind: Any) -> Any:
        made: Any = object.__new__(kind)
        made.factor = 3.0
        return made

    kinds: Any = Plain, Other

    def change() -> None:
        kinds[0].__new__, kinds[1].__init__ = new, lambda made: setattr(made, "factor", 5.0)

    return lambda x: x * Plain().factor + Other().factor, change


@for_kind(CONTAINERS, "a function from outside that makes the defaults of a `defaultdict`", "warned")
def _() -> Made:
    factor = [2.0]
    table: Any = collections.defaultdict(lambda: factor[0])
    return lambda x: x * table["factor"], table.clear


@for_kind(ATTRIBUTES, "an attribute of a named tuple among the arguments", "followed", direct=True)
def _() -> Made:
    class Point(collections.namedtuple("Point", "x")):
        factor: float

    point = Point(1.0)
    point.factor = 2.0
    scaled = gx.function(lambda point, x: x * point.x * point.factor)
    return lambda x: scaled(point, x), lambda: setattr(point, "factor", 3.0)


@for_kind(
    CONTAINERS, "an item of a list, dict, set or deque of which the function changes another item", "followed",
    direct=True,
)  # fmt: skip
def _() -> Made:
    table, items, elements = {"a": 2.0, "options": {"b": 2.0}}, [0.0, 2.0], {2.0}
    many = [float(place) for place in range(40)]
    waiting = collections.deque(items)

    def program(x: Any) -> Any:
        table["shape"] = x.shape
        items[0] = many[0] = waiting[0] = 9.0
        elements.add(9.0)
        first = table["a"] + table["options"]["b"] + items[1] + sum(elements)
        return x * first + sum(many) + waiting[1]

    def change() -> None:
        table.update(a=3.0)
        table["options"]["b"] = items[1] = many[7] = waiting[1] = 5.0
        elements.discard(2.0)

    return gx.function(program, side_effects="ignore"), change


@for_kind(ARRAYS, "an element of a NumPy array of which the function changes another element", "followed", direct=True)
def _() -> Made:
    array = np.asarray([0.0, 2.0], np.float32)

    def program(x: Any) -> Any:
        array[0] = 9.0
        return x * array[1]

    return gx.function(program, side_effects="ignore"), lambda: array.__setitem__(1, 5.0)


@for_kind(CONTAINERS, "an item of a list, dict or set that the function itself puts in", "warned")
def _() -> Made:
    memo = dict[int, int]()

    def program(x: Any) -> Any:
        if 4 not in memo:
            memo[4] = 16
        return x * memo[4]

    return program, lambda: memo.update({4: 100})
