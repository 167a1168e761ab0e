"""A function that was loaded: it finds the signature that fits a call, and replays its graph."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

import numpy as np

from graphc.compiler.autograph import SymbolicNumber
from graphc.compiler.base import nest
from graphc.compiler.base.errors import DataLossError, FailedPreconditionError, GraphcError, InvalidArgumentError
from graphc.compiler.core import SCALARS, ArrayMethods, SymbolicTensor, Tensor, Variable, operand
from graphc.compiler.function import Replay, TensorSpec
from graphc.compiler.ir import EffectKind, Graph, TensorType, dtype_from_short, verify
from graphc.compiler.ir.passes import is_open, specialize
from graphc.compiler.lowering import evaluate
from graphc.compiler.ops import asarray
from graphc.compiler.tracing import is_array, type_of_any
from graphc.saving.folder import damaged
from graphc.saving.opening import check_types, plain
from graphc.saving.signature import decoded, encoded, is_same, kind_of, leaves_of, raise_by_status, sized


class _LeftOut:
    """Stands for an argument that is left out."""

    __graphc_opaque__ = True

    def __repr__(self) -> str:
        return "..."


LEFT_OUT = _LeftOut()


class _MisfitError(Exception):
    """The reason why arguments do not match a signature."""


@dataclass(frozen=True)
class LoadedSignature:
    """One signature.

    Attributes:
      file: the file of its graph.
      graph: the graph, which may have open sizes.
      arguments: the arguments by name, as JSON.
      least: the smallest size of each symbol.
      captured: the tensors that the graph takes after those of the arguments.
      result: the structure of the result, as JSON.
      raises: the exceptions by the status of a call, as JSON.
      variables: the Variables, by the names that the graph has for them.
      named: the same by the names that they were saved by.
    """

    file: str
    graph: Graph
    arguments: Mapping[str, Any]
    least: Mapping[str, int]
    captured: Sequence[Tensor]
    result: Any
    raises: Mapping[str, Any]
    variables: Mapping[str, Variable]
    named: Mapping[str, Variable]
    _verified: list[bool] = field(default_factory=list[bool])

    def __str__(self) -> str:
        return ", ".join(f"{name}: {_text(tree)}" for name, tree in self.arguments.items())

    def specs(self) -> dict[str, Any]:
        """Returns the arguments by name: a TensorSpec for each tensor, in their structures, beside other values."""
        return {name: decoded(tree, _spec) for name, tree in self.arguments.items()}

    @property
    def written(self) -> tuple[str, ...]:
        """The names of the Variables that a call assigns, as they were saved; the state of random numbers is one."""
        effects = [effect for node in self.graph.walk() for effect in node.op.effects(node.attrs)]
        assigned = {effect.resource for effect in effects if effect.kind is EffectKind.WRITE}
        written_ids = {id(self.variables[name]) for name in assigned.intersection(self.variables)}
        return tuple(name for name, variable in self.named.items() if id(variable) in written_ids)

    @property
    def least_rows(self) -> int:
        """The smallest size that the first axes of the tensors may have, where that is open."""
        shapes = [about["shape"] for tree in self.arguments.values() for about in leaves_of(tree, "tensor")]
        return max([self.least[shape[0]] for shape in shapes if shape and isinstance(shape[0], str)], default=1)

    def check(self) -> None:
        """Verifies the graph, for the smallest sizes that it may be called with, from two.

        Raises:
          GraphcError: it is none that :func:`save` writes; the message names the file and the node.
        """
        sizes = {symbol: max(2, least) for symbol, least in self.least.items()}
        types = [_type_of(about, sizes) for tree in self.arguments.values() for about in leaves_of(tree, "tensor")]
        self._for([*types, *map(type_of_any, self.captured)])

    def tensors(self, given: Mapping[str, Any], left_out: Container[str] = ()) -> tuple[list[Any], dict[str, int]]:
        """Returns the tensors of a call, and its open sizes.

        Args:
          given: its arguments, by name.
          left_out: the names of those that are defaults.

        Raises:
          _MisfitError: the call does not fit.
        """
        leaves: list[Any] = []
        sizes: dict[str, int] = {}
        for name, tree in self.arguments.items():
            value = given.get(name, LEFT_OUT)
            try:
                self._take(name, tree, value, leaves, sizes)
            except _MisfitError:
                if name not in left_out:
                    raise
                text = f"{name} is left out, which means {value!r:.40}; it was saved for {_text(tree)}"
                raise _MisfitError(text) from None
        for symbol, size in sizes.items():
            if size < self.least[symbol]:
                raise _MisfitError(f"a size of {size} where it was saved for {self.least[symbol]} and more")
        return leaves, sizes

    def _take(self, name: str, tree: Any, value: Any, leaves: list[Any], sizes: dict[str, int]) -> None:
        if isinstance(tree, dict) and set(cast("dict[str, Any]", tree)) == {"tensor"}:
            leaves.append(_tensor(name, cast("dict[str, Any]", tree)["tensor"], value, sizes))
            return
        inner = _children(tree)
        if inner is None:
            if value is LEFT_OUT and not _is_object(tree):
                raise _MisfitError(f"{name} is missing, it was saved for {_text(tree)}")
            if value is not LEFT_OUT and not _is_value(tree, value):
                raise _MisfitError(f"{name}={value!r:.40} where it was saved for {_text(tree)}")
            return
        keys, trees = inner
        parts = None if value is LEFT_OUT else nest.children(value)
        # Code may depend on the kind of a container, on 1 or True for a key, and on the order of keys.
        (sort, content), *fields = cast("dict[str, Any]", tree).items()
        kind = sort, content if fields else ""
        if parts is not None and kind_of(value) != kind:
            raise _MisfitError(f"{name} is a {type(value).__name__}, it was saved for a {kind[1] or sort}")
        actual = None if parts is None or keys is None else list(parts[0])
        if actual is not None and actual != keys and set(actual) == set(cast("list[Any]", keys)):
            raise _MisfitError(f"the keys of {name} come in the order {actual}, it was saved for {keys}")
        if parts is None or len(parts[1]) != len(trees) or (actual is not None and repr(actual) != repr(keys)):
            raise _MisfitError(
                f"{name} is {'missing' if value is LEFT_OUT else repr(value)[:40]}, expected {_text(tree)}"
            )
        for key, part, item in zip(parts[0], trees, parts[1], strict=True):
            self._take(f"{name}[{key!r}]", part, item, leaves, sizes)

    def run(self, name: str, tensors: Sequence[Any], sizes: Mapping[str, int]) -> Any:
        """Runs the graph of the function of this name; gives the result."""
        inputs = [*tensors, *self.captured]
        graph = self._for([type_of_any(operand(tensor)) for tensor in inputs])
        raise_for = raise_by_status(sized(self.raises, sizes), name) if self.raises else None
        outputs = Replay(graph, self.variables, raise_for, checked=True).run(*inputs)

        def leaf(sort: str, content: Any) -> Any:
            if sort == "variable":
                return self.named[content]
            if sort not in ("tensor", "number"):
                raise ValueError(f"{sort!r:.40} in a result")
            return outputs[content] if sort == "tensor" else _number(outputs[content])

        try:
            return decoded(sized(self.result, sizes), leaf)
        except (ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
            raise damaged(cast("Any", self.file), f"its result is not understood: {error}") from error

    def _for(self, types: Sequence[TensorType]) -> Graph:
        """Returns the graph for tensors of these types."""
        try:
            graph = specialize(self.graph, types, evaluate) if is_open(self.graph) else self.graph
            if graph is not self.graph or not self._verified:
                verify(graph)
                check_types(self.graph, graph)
                self._verified.append(True)
            graph = plain(graph)
        except GraphcError as failure:
            error = (
                failure.__cause__ if isinstance(failure.__cause__, DataLossError | FailedPreconditionError) else failure
            )
            if error is failure:  # and no program of JAX's, which names its own file
                error.args = (f"{self.file}: {error.args[0]}", *error.args[1:])
            raise error.here() from None
        return graph


def _number(value: Tensor) -> Any:
    """Returns the Python number that a tensor holds."""
    kind = cast("type[Any]", type(np.zeros((), value.dtype).item()))
    return SymbolicNumber(value, kind) if isinstance(value, SymbolicTensor) else value.item()


class LoadedFunction:
    """A function that was loaded. ``defaults``: the defaults of its parameters by name, where they have some."""

    def __init__(
        self,
        name: str,
        signature: inspect.Signature,
        signatures: Sequence[LoadedSignature],
        defaults: Mapping[str, Any],
    ) -> None:
        self._name = name
        self._signature = signature
        self._signatures = signatures
        self._defaults = defaults

    @cached_property
    def function(self) -> Callable[..., Any]:
        """The function itself, which replays a graph."""

        def loaded(*args: Any, **kwargs: Any) -> Any:
            return self._run(args, kwargs)

        loaded.__name__ = loaded.__qualname__ = self._name
        loaded.__doc__ = "Loaded from a file; it was saved for (" + "), (".join(map(str, self._signatures)) + ")."
        described: Any = loaded
        described.__signature__ = self._signature
        described.texts = [str(signature) for signature in self._signatures]
        described.signatures = tuple(self._signatures)
        return loaded

    @property
    def input_signature(self) -> tuple[Any, ...] | None:
        """The TensorSpecs of the arguments, where there is one signature whose first arguments are all tensors."""
        if len(self._signatures) != 1:
            return None
        specs: list[TensorSpec] = []
        for index, tree in enumerate(self._signatures[0].arguments.values()):
            if isinstance(tree, dict) and set(cast("dict[str, Any]", tree)) == {"tensor"}:
                if len(specs) < index:
                    return None
                about = cast("dict[str, Any]", tree)["tensor"]
                shape = [None if isinstance(size, str) else size for size in about["shape"]]
                specs.append(TensorSpec(shape, about["dtype"], about["name"]))
            elif _has_tensor(tree):
                return None
        return tuple(specs) if specs else None

    def _run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        bound = self._signature.bind_partial(*args, **kwargs)
        values = {name: value for name, value in bound.arguments.items() if value is not LEFT_OUT}
        left_out = self._defaults.keys() - values.keys()
        values = {**self._defaults, **values}
        reasons: list[str] = []
        for signature in self._signatures:
            try:
                tensors, sizes = signature.tensors(values, left_out)
            except _MisfitError as error:
                reasons.append(f"({signature}): {error}")
                continue
            return signature.run(self._name, tensors, sizes)
        listed = "; ".join(dict.fromkeys(reasons))
        raise InvalidArgumentError(
            f"{self._name}: these arguments fit none of the signatures that it was saved for: {listed}"
        ).here()


def _tensor(name: str, about: Mapping[str, Any], value: Any, sizes: dict[str, int]) -> Any:
    dtype, wanted = dtype_from_short(about["dtype"]), about["shape"]
    if value is LEFT_OUT:
        raise _MisfitError(f"{name} is missing")
    if not (is_array(value) or isinstance(value, ArrayMethods)):
        if type(value) not in SCALARS and not isinstance(value, list | tuple):
            raise _MisfitError(f"{name} is {type(value).__name__}, expected a tensor")
        value = asarray(np.asarray(value, dtype))
    actual = type_of_any(operand(value))
    fits = len(actual.shape) == len(wanted) and actual.dtype == dtype
    for size, other in zip(actual.shape, wanted, strict=False):
        fits = fits and (sizes.setdefault(other, size) == size if isinstance(other, str) else other == size)
    if not fits:
        raise _MisfitError(f"{name} is {actual}")
    return value


def _type_of(about: Mapping[str, Any], sizes: Mapping[str, int]) -> TensorType:
    """Returns the type of an argument with these sizes."""
    shape = [sizes[size] if isinstance(size, str) else size for size in about["shape"]]
    return TensorType(tuple(shape), dtype_from_short(about["dtype"]))


def _spec(sort: str, content: Any) -> Any:
    if sort != "tensor":
        return LEFT_OUT
    shape = [None if isinstance(size, str) else size for size in content["shape"]]
    return TensorSpec(shape, dtype_from_short(content["dtype"]), content["name"])


def _is_object(tree: Any) -> bool:
    """Returns True for what a file cannot hold: nobody can give it to a loaded function."""
    return isinstance(tree, dict) and "object" in tree


def _is_value(tree: Any, value: Any) -> bool:
    """Returns True if a Python value is the one that was saved."""
    try:
        return is_same(encoded(value, lambda leaf: None), tree)
    except GraphcError:
        return False


def _children(tree: Any) -> tuple[list[Any] | None, list[Any]] | None:
    """Returns the keys and parts of a container as JSON; None for a leaf."""
    if not isinstance(tree, dict):
        return None
    content = cast("dict[str, Any]", tree)
    if "fields" in content:
        return [name for name, _ in content["fields"]], [item for _, item in content["fields"]]
    for sort in ("list", "tuple"):
        if sort in content:
            return None, content[sort]
    if "dict" in content:
        return [decoded(key, _refuse) for key, _ in content["dict"]], [item for _, item in content["dict"]]
    return None


def _refuse(sort: str, content: Any) -> Any:
    raise ValueError(f"{sort!r:.40} as a key: {content!r:.40}")


def _has_tensor(tree: Any) -> bool:
    if isinstance(tree, dict):
        content = cast("dict[str, Any]", tree)
        return "tensor" in content or any(map(_has_tensor, content.values()))
    return isinstance(tree, list) and any(map(_has_tensor, cast("list[Any]", tree)))


def _text(tree: Any) -> str:
    if isinstance(tree, dict) and "tensor" in tree:
        about = cast("dict[str, Any]", tree)["tensor"]
        return f"{about['dtype']}[{','.join('?' if isinstance(size, str) else str(size) for size in about['shape'])}]"
    inner = _children(tree)
    if inner is None:
        return str(cast("dict[str, Any]", tree).get("object", tree)) if isinstance(tree, dict) else repr(tree)
    keys, parts = inner
    texts = [_text(part) for part in parts]
    return f"[{', '.join(texts)}]" if keys is None else f"{{{', '.join(map('{!r}: {}'.format, keys, texts))}}}"
