"""Tells which class a tensor without a value has in plain Python: a tensor, or a number that depends on tensors."""

from __future__ import annotations

import dataclasses
import reprlib
import sys
import types
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np

from graphc.compiler.autograph.values.course import PerIterationNumber
from graphc.compiler.autograph.values.index import is_symbolic
from graphc.compiler.autograph.values.join import describe
from graphc.compiler.autograph.values.number import Kinds, kind_of, kinds_of
from graphc.compiler.base import is_installed_file, is_library_module, nest
from graphc.compiler.base.errors import GraphcError, UnimplementedError
from graphc.compiler.core import SymbolicTensor, converted, kind_of_dtype
from graphc.compiler.ir import Value
from graphc.compiler.tracing import Alias, attribute, context, fixed, item, trace_of

_EXAMPLES: dict[str, tuple[Any, ...]] = {"b": (True,), "i": (1,), "f": (1.0, 1), "c": (1j, 1.0, 1)}
"""By the kind of a tensor's dtype, an example of each Python number that may have become such a tensor."""


_KINDS: dict[str, type[Any]] = {"b": bool, "i": int, "u": int, "f": float, "c": complex}


def kinds_of_mixed(value: Any) -> Kinds:
    """Returns the types of the numbers that a tensor may be in plain Python where it may be a tensor, too."""
    kinds = _numbers_behind(value)
    computed = isinstance(value, SymbolicTensor) and not value.shape and kind_of(value) is None
    if kinds or not computed or value.raw.node is None or value.raw.node.op.name not in _ARITHMETIC:
        return kinds
    tensors = trace_of(value).root.aliases.tensors()
    return _mixed_before(value.raw, {one.raw: _numbers_behind(one) for one in tensors})


def _numbers_behind(value: Any) -> Kinds:
    return frozenset[Any]().union(*[alias.numbers for _, alias in _behind(value) if alias is not None])


_ARITHMETIC = frozenset(
    ["abs", "add", "divide", "floor_divide", "multiply", "negative", "pow", "remainder", "subtract"]
)


def _mixed_before(value: Value, mixed: Mapping[Value, Kinds]) -> Kinds:
    """Returns the number types that a result of arithmetic may have, if all its operands may be numbers."""
    node = value.node
    if not mixed or node is None or node.op.name not in _ARITHMETIC or value.type.shape:
        return frozenset()
    kinds = [mixed.get(operand) or _mixed_before(operand, mixed) for operand in node.inputs]
    numbers = all(operand_kinds or operand.type.weak for operand_kinds, operand in zip(kinds, node.inputs, strict=True))
    return frozenset[Any]().union(*kinds) if numbers else frozenset()


def _behind(value: Any, *, numbers: bool = False) -> Iterator[tuple[Any, Alias | None]]:
    """Yields a scalar and what it stands for, with its alias; ``numbers``: also numbers that depend on tensors."""
    # Each once: values that are joined again and again, as in `a, b = b, a` in a branch, stand for each other.
    waiting, seen = [value], set[int]()
    for link in waiting:
        if id(link) in seen or not isinstance(link, SymbolicTensor) or link.shape:
            continue
        if kind_of(link) is not None and not numbers:
            continue
        seen.add(id(link))
        alias = trace_of(link).root.aliases.get(link)
        yield link, alias
        waiting.extend(() if alias is None else alias.sources or ())


def check_shown(value: Any, use: str, *, as_text: bool) -> None:
    """Refuses what shows whether a value is a number or a tensor, if it may be either.

    Args:
      as_text: whether only the text that ``str`` makes is seen, which is the same for both if they are of one kind.
    """
    if isinstance(value, BaseException):
        # The text of one argument is its own, except for a key; that of several shows each by repr.
        alone = as_text and len(value.args) == 1 and not isinstance(value, KeyError)
        for part in nest.flatten(value.args)[0]:
            check_shown(part, use, as_text=alone and part is value.args[0])
        for part in nest.flatten(value.__dict__)[0]:
            check_shown(part, use, as_text=True)  # which its __str__ may show
        return
    if isinstance(value, PerIterationNumber) and value.kind is float:
        value.give_up(use)  # the program holds it in fewer bits
    kinds = kinds_of_mixed(value)
    alike = all(
        np.dtype(cast("Any", kind)).kind == value.dtype.kind
        if issubclass(kind, np.generic)
        else kind is _KINDS.get(kind_of_dtype(value.dtype))
        for kind in kinds
    )
    if not kinds or (as_text and alike):
        return
    names = " or ".join(sorted(kind.__name__ for kind in kinds))
    error = UnimplementedError(
        f"{use} shows whether {describe(value)} is a tensor or, as in plain Python on some paths, a number ({names}); "
        "make it a tensor of one dtype where it is first bound (gx.asarray(1.0)), or show int() or float() of it"
    )
    raise value.trace.refuse(error)


def examples(value: Any) -> tuple[Any, ...]:
    """Returns what an object may be in plain Python: the object, numbers, or both."""
    if is_symbolic(value) and (kinds := kinds_of(value)) is not None:
        return tuple([kind(1) for kind in kinds])
    if not isinstance(value, SymbolicTensor) or value.shape:
        return (value,)
    mixed = kinds_of_mixed(value)
    if mixed:
        return (value, *[kind(1) for kind in mixed])
    numbers = _EXAMPLES.get(kind_of_dtype(value.dtype), ())
    if _is_number(value):
        return numbers
    return (value, *numbers) if _may_be_number(value) else (value,)


def _is_number(value: Any) -> bool:
    """Returns True if the object is one of several numbers: branches on tensors have bound one of them to a name."""
    # What is held stands for a variable at the start of an iteration, which may hold something else in the next.
    return all(
        alias is not None
        and not alias.held
        and alias.sources is not None
        and all(isinstance(source, SymbolicTensor) for source in alias.sources)
        for _, alias in _behind(value, numbers=True)
    )


def _may_be_number(value: SymbolicTensor) -> bool:
    for link, alias in _behind(value, numbers=True):
        sources = None if alias is None else alias.sources
        if sources is None and _is_doubtful(link.raw, link):
            return True
        if sources is not None and (link.type.weak or not any(isinstance(one, SymbolicTensor) for one in sources)):
            return True
    return False


def _is_doubtful(value: Value, tensor: SymbolicTensor) -> bool:
    """Returns True if a value was computed of numbers only, as far as the graph tells."""
    # JAX has no weak bool, so only the inputs of a truth value tell that it was made of numbers.
    if value.type.weak or value.type.shape or value.type.dtype.kind != "b":
        return value.type.weak
    if value.node is None:
        return tensor.trace.parent is not None  # what an input of a branch or a loop stands for is not known here
    inputs = value.node.inputs
    return bool(value.node.regions) or (bool(inputs) and all(_is_doubtful(part, tensor) for part in inputs))


def _refuse(value: SymbolicTensor, kind: str) -> GraphcError:
    error = UnimplementedError(
        f"whether {describe(value)} is {kind} is not known while the function is traced: it was computed from Python "
        "numbers, so that in plain Python it may be a number or a tensor; compare values instead of kinds, or make it "
        "a tensor with gx.asarray where it is first bound"
    )
    return value.trace.refuse(error)


def is_instance(value: Any, kind: type[Any]) -> bool:
    """Returns ``isinstance(value, kind)``, by what the value is in plain Python; refuses it where that is open."""
    answers = {bool(_asked(example, kind)) for example in examples(value)}
    if len(answers) > 1:
        raise _refuse(value, f"of the class {getattr(kind, '__name__', kind)}")
    return answers.pop()


def _asked(example: Any, kind: Any) -> Any:
    # The converted isinstance of a tensor ends up here again.
    return isinstance(example, kind) if isinstance(example, SymbolicTensor) else converted(isinstance)(example, kind)


def stands_for_bool(value: Any) -> bool:
    """Tells if an object is a bool in plain Python that depends on tensors; refuses it where that is not certain."""
    if not isinstance(value, SymbolicTensor):
        return False
    answers = {isinstance(example, bool) for example in examples(value)}
    if len(answers) > 1:
        raise _refuse(value, "True or False itself")
    return answers.pop()


# Python objects as they are: what a class defines, and which of its methods are the user's.

PLAIN: set[type[Any]] = set()
"""Types, of those seen so far, whose values answer Python's operators without code of the user's."""

_PLAIN_PACKAGES = frozenset({"builtins", "graphc", "jax", "jaxlib", "ml_dtypes", "numpy"})


def found_on(kind: type[Any], name: str) -> Any:
    """Returns what Python finds for an attribute in a class and its bases, as it is there; None for nothing."""
    for base in kind.__mro__:  # getattr would bind a classmethod, and ask the metaclass
        if name in base.__dict__:
            return base.__dict__[name]
    return None


def first_on(kind: type[Any], names: Sequence[str]) -> tuple[str, Any]:
    """Returns the name of the first of these methods that a class has, and the method, whatever it is written in."""
    # What each object has from `object` passes the question on to the next name, as object.__str__ does to __repr__.
    for name in names:
        method = found_on(kind, name)
        if method is not None and (method is not found_on(object, name) or name == names[-1]):
            return name, method
    return names[-1], None


def users_method(owner: Any, *names: str) -> types.FunctionType | None:
    """Returns the method of the user's with which an object answers Python, in a trace; None if there is none.

    Args:
      *names: in Python's order. Only the first one that the class has counts: one written in C hides those behind it.
    """
    # A library's class (a fraction, a path) is taken for pure, and generated methods (a dataclass's) have no source.
    kind = cast("type[Any]", type(owner))
    if context.trace is None or kind in PLAIN:
        return None
    if _package(kind) in _PLAIN_PACKAGES:
        if not (kind.__dictoffset__ and _package(kind) == "numpy"):  # a polynomial, whose attributes are looked at
            PLAIN.add(kind)
        return None
    name, method = first_on(kind, names)
    root = context.trace.root
    if name != names[0] or not isinstance(method, types.FunctionType):
        root.reads.names_of_class(kind, root.made_classes)  # which may get a method later
    if not isinstance(method, types.FunctionType):  # nothing else has code to convert
        base = next((base for base in kind.__mro__ if name in vars(base)), object)
        if not is_library_module(base.__module__) and base not in root.made_classes:  # `__str__ = str.upper`
            root.reads.held(item(attribute(fixed(base, base.__name__), "__dict__"), name), method)
        return None
    if not is_users(kind, method):
        if _is_generated(method):
            root.reads.whole(owner)
            root.reads.held(attribute(fixed(kind, kind.__name__), name), method)
        return None
    root.reads.record(attribute(fixed(kind, kind.__name__), name), method)
    return method


def is_users(kind: type[Any], method: types.FunctionType) -> bool:
    """Tells if a method is to be watched: it is not generated, nor a library's for a class of the library's own."""
    file = method.__code__.co_filename
    home = getattr(sys.modules.get(str(kind.__module__)), "__file__", None) or ""
    return not _is_generated(method) and not (is_installed_file(file) and is_installed_file(home))


def _is_generated(method: types.FunctionType) -> bool:
    """Tells if no file holds a method's code; the representation of a dataclass is generated, and then wrapped."""
    file = method.__code__.co_filename
    if file in (dataclasses.__file__, reprlib.__file__):
        inner = (cell.cell_contents for cell in method.__closure__ or ())
        return any(isinstance(part, types.FunctionType) and _is_generated(part) for part in inner)
    return file == "<string>"


def _package(kind: type[Any]) -> str:
    return str(kind.__module__).split(".")[0]
