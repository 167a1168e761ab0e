"""Signatures of saved functions: the arguments, with a TensorSpec or an example for each tensor."""

from __future__ import annotations

import base64
import builtins
import dataclasses
import itertools
import json
import keyword
import math
from collections import namedtuple
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

import numpy as np

from graphc.compiler.autograph import require
from graphc.compiler.base import Location, errors, nest
from graphc.compiler.base.errors import GraphcError, InvalidArgumentError, InvalidTypeError
from graphc.compiler.core import StringTensor, Tensor, Variable, apply, as_dtype
from graphc.compiler.function import TensorSpec
from graphc.compiler.ir import OPS, dtype_from_short, short_dtype
from graphc.compiler.ops import asarray
from graphc.compiler.tracing import is_array

# Sizes that are open: expressions that give a number for each of several sizes that were tried.

Sizes = Mapping[str, int]
"""A size for each symbol."""

_PRIMES = (11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97, 101, 103, 107, 109, 113)
_TRIED = 3
"""Number of traces that a graph is made from: two points define a line, and the third checks it."""
_SETS = 3
_DIVISORS = range(2, 17)


@dataclass(frozen=True)
class Expression:
    """``(factor * product of symbols + offset) // divisor``."""

    symbols: tuple[str, ...]  # the names of the sizes to multiply
    factor: int = 1
    offset: int = 0
    divisor: int = 1

    def __call__(self, sizes: Sizes) -> int:
        """Returns the number for some sizes."""
        product = math.prod([sizes[symbol] for symbol in self.symbols])
        return (self.factor * product + self.offset) // self.divisor

    @property
    def tree(self) -> Any:
        """The expression as JSON."""
        return {"size": [list(self.symbols), self.factor, self.offset, self.divisor]}

    def __str__(self) -> str:
        text = "*".join([*([] if self.factor == 1 else [str(self.factor)]), *self.symbols])
        text += f" + {self.offset}" if self.offset else ""
        return text if self.divisor == 1 else f"floordiv({text}, {self.divisor})"


def expressions(numbers: Sequence[int], sizes: Sequence[Sizes]) -> Iterator[Expression]:
    """Yields what gives ``numbers`` for ``sizes``, the simplest first: ``2*n + 1`` for 23 and 27 at n = 11 and 13."""
    symbols = sorted(sizes[0])
    groups = [group for count in range(1, len(symbols) + 1) for group in itertools.combinations(symbols, count)]
    for divisor, group in itertools.product((1, *_DIVISORS), groups):
        products = [math.prod([one[symbol] for symbol in group]) for one in sizes]
        rise, run = numbers[1] - numbers[0], products[1] - products[0]
        # Of those that are rounded only the plain ones are tried: n // 2, and (n + 1) // 2 as strides give it.
        factors = [rise // run] if divisor == 1 and run and rise % run == 0 else [1] if divisor > 1 else []
        for factor in factors:
            offsets = [numbers[0] - factor * products[0]] if divisor == 1 else range(-divisor, divisor + 1)
            for offset in sorted(offsets, key=abs):
                expression = Expression(group, factor, offset, divisor)
                if factor and all(expression(one) == number for one, number in zip(sizes, numbers, strict=True)):
                    yield expression


def samples(symbols: Sequence[str]) -> Iterator[Sequence[Sizes]]:
    """Yields sizes to trace with: several sets, should one meet a number of the program."""
    count = len(symbols)
    step = _TRIED * count
    for start in range(0, len(_PRIMES) - step + 1, step)[:_SETS]:
        rows = [_PRIMES[start + row * count : start + (row + 1) * count] for row in range(_TRIED)]
        yield [dict(zip(symbols, row, strict=True)) for row in rows]


def equal_sizes(symbols: Sequence[str], size: int) -> Sizes:
    """Returns one size for all symbols."""
    return dict.fromkeys(symbols, size)


_LARGEST = 1 << 20
"""Maximum number of elements of a tensor used as an example."""


class Signature:
    """The arguments of a call that a function is saved for.

    Args:
      *args: a :class:`TensorSpec` or an example for each tensor; Python values become part of the program.
      **kwargs: the same by name.

    Example:
      >>> import graphc as gx
      >>> gx.saving.Signature(gx.TensorSpec((None, 3)), training=False)
      Signature(float32[?,3], training=False)
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.args: tuple[Any, ...] = args
        self.kwargs: dict[str, Any] = kwargs

    def __repr__(self) -> str:
        shown = [_shown(value) for value in self.args]
        shown += [f"{name}={_shown(value)}" for name, value in self.kwargs.items()]
        return f"Signature({', '.join(shown)})"


def _shown(value: Any) -> str:
    return str(value) if isinstance(value, TensorSpec) else f"{value!r:.60}"


def as_signature(signature: Any) -> Signature:
    """Normalizes a given signature: a tuple holds all arguments, anything else is a single one."""
    if isinstance(signature, Signature):
        return signature
    return Signature(*cast("tuple[Any, ...]", signature)) if type(signature) is tuple else Signature(signature)


@dataclass(frozen=True)
class OpenSpec:
    """A tensor argument: its dtype and its sizes, with a symbol for each open size."""

    shape: tuple[int | str, ...]
    dtype: np.dtype[Any]
    name: str

    def example(self, sizes: Sizes) -> Any:
        """Returns a tensor of these sizes; a large one is an array without its own memory."""
        shape = [sizes[size] if isinstance(size, str) else size for size in self.shape]
        zeros = np.broadcast_to(np.zeros((), self.dtype), shape)
        return asarray(zeros) if zeros.size <= _LARGEST else zeros

    @property
    def spec(self) -> TensorSpec:
        """The TensorSpec, without symbols."""
        return TensorSpec([None if isinstance(size, str) else size for size in self.shape], self.dtype, self.name)

    def __str__(self) -> str:
        return f"{self.dtype.name}[{','.join(map(str, self.shape))}]"


class _Leaf:
    """A box that hides an OpenSpec, which is a dataclass, from nest."""

    __slots__ = ("spec",)

    def __init__(self, spec: OpenSpec) -> None:
        self.spec = spec


def with_symbols(values: Mapping[str, Any], tied: str) -> dict[str, Any]:
    """Returns arguments by name, with a boxed OpenSpec for each tensor."""
    # ``tied`` says which open sizes are equal: ``"none"``, those of the first axes (``"rows"``), or ``"all"``.
    names = (f"n{number}" for number in range(1_000))

    def spec_of(value: Any, name: str) -> OpenSpec | None:
        if isinstance(value, TensorSpec):
            if value.of_strings:
                raise _of_strings(name)
            if value.shape is None:
                raise InvalidArgumentError(
                    f"gx.save: the argument {name!r} is {value}; give the number of axes, and None for each open size"
                ).here()
            shape = [_symbol(axis) if size is None else size for axis, size in enumerate(value.shape)]
            return OpenSpec(tuple(shape), as_dtype(value.dtype), value.name or name)
        if isinstance(value, StringTensor):
            raise _of_strings(name)
        if is_array(value) or (isinstance(value, Tensor) and not isinstance(value, Variable)):
            return OpenSpec(tuple(value.shape), as_dtype(value.dtype), name)
        return None

    def _symbol(axis: int) -> str:
        return next(names) if tied == "none" or (tied == "rows" and axis) else "rows" if tied == "rows" else "size"

    def boxed(value: Any, name: str) -> Any:
        spec = spec_of(value, name)
        if spec is not None:
            return _Leaf(spec)
        parts = nest.children(value)
        return value if parts is None else nest.rebuilt(value, [boxed(part, name) for part in parts[1]])

    return {name: boxed(value, name) for name, value in values.items()}


def _of_strings(name: str) -> InvalidTypeError:
    return InvalidTypeError(
        f"gx.save: the argument {name!r} is a tensor of strings, which are Python values to a compiled function; do "
        "what needs them outside"
    ).here()


def specs_in(value: Any) -> Iterator[OpenSpec]:
    """Yields the specifications in arguments, in the order of the tensors."""
    for leaf in nest.flatten(value)[0]:
        if isinstance(leaf, _Leaf):
            yield leaf.spec


def symbols_of(values: Any) -> Sequence[str]:
    """Returns the symbols of arguments, each once."""
    return list(dict.fromkeys(size for spec in specs_in(values) for size in spec.shape if isinstance(size, str)))


def examples(value: Any, sizes: Sizes) -> Any:
    """Returns arguments with an array for each tensor."""
    if isinstance(value, _Leaf):
        return value.spec.example(sizes)
    parts = nest.children(value)
    return value if parts is None else nest.rebuilt(value, [examples(part, sizes) for part in parts[1]])


def spec_leaf(value: Any) -> Any:
    """Returns the JSON of a tensor argument; None for anything else."""
    if not isinstance(value, _Leaf):
        return None
    spec = value.spec
    return {"tensor": {"shape": list(spec.shape), "dtype": spec.dtype.name, "name": spec.name}}


# Nested values as JSON: structures of tensors and Python values, among arguments and results.

Tree = Any
"""A JSON value: None, bool, int, str, a finite float, or an object whose one key names its kind."""

_SPECIAL = {"inf": float("inf"), "-inf": float("-inf"), "nan": float("nan")}


def encoded(value: Any, leaf: Callable[[Any], Tree | None]) -> Tree:
    """Returns a nested value as JSON; ``leaf`` encodes what is not a Python value, and returns None if it cannot."""
    encoded_leaf = leaf(value)
    if encoded_leaf is not None:
        return encoded_leaf
    kind = cast("type[Any]", type(value))
    if value is None or kind in (bool, int, str):
        return value
    if kind is float:
        return value if value - value == 0 else {"float": str(value)}
    if kind is complex:
        return {"complex": [encoded(value.real, leaf), encoded(value.imag, leaf)]}
    if kind is bytes:
        return {"bytes": base64.b64encode(value).decode()}
    if isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.generic)):
        return {"dtype": short_dtype(np.dtype(cast("Any", value)))}
    parts = nest.children(value)
    if parts is None:
        raise InvalidTypeError(f"{kind.__name__} {value!r:.60}")
    items = [encoded(item, leaf) for item in parts[1]]
    match kind_of(value):
        case "dict", _:
            return {"dict": [[encoded(key, leaf), item] for key, item in zip(parts[0], items, strict=True)]}
        case "list" | "tuple" as sort, _:
            return {sort: items}
        case sort, name:
            return {sort: name, "fields": [[key, item] for key, item in zip(parts[0], items, strict=True)]}


def kind_of(value: Any) -> tuple[str, str]:
    """Returns the kind of a container as JSON has it, and the name of a class with fields."""
    kind = cast("type[Any]", type(value))
    if isinstance(value, dict) or kind in (list, tuple):
        return "dict" if isinstance(value, dict) else kind.__name__, ""
    return "namedtuple" if isinstance(value, tuple) else "dataclass", kind.__name__


def decoded(tree: Tree, leaf: Callable[[str, Any], Any]) -> Any:  # leaf: from a kind and its content
    """Returns the value that :func:`encoded` took apart; named tuples and dataclasses are of classes like theirs."""
    if tree is None or type(tree) in (bool, int, float, str):
        return tree
    (sort, content), *rest = tree.items()
    if sort in ("namedtuple", "dataclass"):
        fields = [(name, decoded(item, leaf)) for name, item in tree["fields"]]
        return _record(sort, content, fields)
    if rest:
        raise ValueError(f"an object of one key is expected, not {sorted(tree)}")
    match sort:
        case "float":
            return _SPECIAL[content]
        case "complex":
            return complex(*[decoded(part, leaf) for part in content])
        case "bytes":
            return base64.b64decode(content, validate=True)
        case "dtype":
            return dtype_from_short(content)
        case "list" | "tuple":
            items = [decoded(item, leaf) for item in content]
            return items if sort == "list" else tuple(items)
        case "dict":
            return {decoded(key, leaf): decoded(item, leaf) for key, item in content}
        case _:
            return leaf(sort, content)


def _record(sort: str, name: str, fields: Sequence[tuple[str, Any]]) -> Any:
    names = tuple(field for field, _ in fields)
    values = [value for _, value in fields]
    kind = _class_of(sort, name, names)
    return nest.unflatten(nest.Structure(kind, names, (nest.LEAF,) * len(names)), values)


@cache
def _class_of(sort: str, name: str, names: tuple[str, ...]) -> type[Any]:
    # Python makes the classes from a text with these names in it.
    for text in (name, *names):
        if not (text.isidentifier() and not keyword.iskeyword(text)):
            raise ValueError(f"{text!r:.40} is no name")
    if sort == "namedtuple":
        return cast("type[Any]", namedtuple(name, names))  # pyright: ignore[reportUntypedNamedTuple]
    return dataclasses.make_dataclass(name, names)


def leaves_of(tree: Tree, sort: str) -> Iterator[Any]:
    """Yields the contents of the leaves of one sort, in order."""
    if isinstance(tree, Mapping):
        fields = cast("Mapping[str, Any]", tree)
        if sort in fields:
            yield fields[sort]
            return
        for part in fields.values():
            yield from leaves_of(part, sort)
    elif isinstance(tree, list):
        for part in cast("list[Any]", tree):
            yield from leaves_of(part, sort)


def is_same(first: Tree, second: Tree) -> bool:
    """Returns True if two values, as JSON, are the same: 1, 1.0 and True are three."""
    return json.dumps(first) == json.dumps(second)


def sized(tree: Tree, sizes: Sizes) -> Tree:
    """Returns a value, as JSON, with the numbers that follow from open sizes, which are also in texts."""
    if isinstance(tree, list):
        return [sized(part, sizes) for part in cast("list[Any]", tree)]
    if not isinstance(tree, Mapping):
        return tree
    fields = {key: sized(part, sizes) for key, part in cast("Mapping[str, Any]", tree).items()}
    if fields.keys() == {"size"}:
        symbols, *numbers = fields["size"]
        if list(map(type, numbers)) != [int, int, int] or numbers[2] < 1:
            raise ValueError(f"{numbers!r:.40} are no numbers of a size")
        return Expression(tuple(symbols), *numbers)(sizes)
    return "".join(map(str, fields["text"])) if fields.keys() == {"text"} else fields


# The exceptions of a saved function: Python's and graphc's own classes, by the status of the call.


LOST = "the message has {}, which the saved function does not hold"


def raised(exceptions: Mapping[int, tuple[BaseException | None, type[BaseException], Sequence[Location]]]) -> Tree:
    """Converts exceptions to JSON, by the status of a call that raises one; None is one with tensors in it."""
    trees: dict[str, Tree] = {}
    for number, (error, kind, locations) in exceptions.items():
        base_class = next(base for base in kind.__mro__ if _class_named(base.__name__) is base)
        prefix = "" if base_class is kind else f"{kind.__name__}: "
        args = (LOST.format("values of tensors"),)
        if error is not None:
            try:
                args = tuple(error.args)
                encoded(args, _no_leaf)
            except InvalidTypeError:
                args = (str(error),)
        if prefix:
            args = (prefix + (str(args[0]) if args else ""), *args[1:])
        origin = f"{locations[-1].short}, in {locations[-1].function}" if locations else ""
        trees[str(number)] = {"class": base_class.__name__, "args": encoded(args, _no_leaf), "place": origin}
    return trees


def _no_leaf(value: Any) -> None:
    del value


def _class_named(name: str) -> type[BaseException] | None:
    """Returns an exception class of Python or graphc by name; files can raise no others."""
    for home in (builtins, errors):
        candidate = vars(home).get(name)
        if isinstance(candidate, type) and issubclass(candidate, Exception):
            return candidate
    return Exception if name in ("BaseException", "object") else None


def raise_by_status(raises: Mapping[str, Tree], name: str) -> Callable[[Any], None]:
    """Returns a function that raises the exception for a call's status."""
    makers = {int(number): _maker(tree, name) for number, tree in raises.items()}

    def check(status: Any) -> None:
        for number, make in makers.items():
            require(apply(OPS["not_equal"], (status, number)), make)

    return check


def _maker(tree: Mapping[str, Any], name: str) -> Callable[[], Exception]:
    kind, args, origin = _class_named(tree["class"]), decoded(tree["args"], _refuse_leaf), str(tree["place"])
    if kind is None or not isinstance(args, tuple):
        raise ValueError(f"{tree['class']!r:.40} is no exception of Python's or graphc's")

    def make() -> Exception:
        try:
            error = cast("Any", kind)(*cast("tuple[Any, ...]", args))
        except TypeError:  # an exception that takes other arguments
            error = GraphcError(f"{tree['class']}: {args}")
        error.add_note(f"raised by the saved function {name!r}" + (f" ({origin})" if origin else ""))
        return error

    return make


def _refuse_leaf(sort: str, content: Any) -> Any:
    raise ValueError(f"{sort!r:.40} in an exception: {content!r:.40}")
