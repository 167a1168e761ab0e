"""``save``: writes functions to files."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, cast

import jax
import numpy as np

from graphc.compiler.base import VERSION as VERSION_OF_GRAPHC
from graphc.compiler.base import UniqueNames, config
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError
from graphc.compiler.base.files import PathLike, as_path
from graphc.compiler.core import Variable
from graphc.compiler.function import BoundFunction, ConcreteFunction, Function
from graphc.compiler.ir import OPS, Graph, Literal, print_graph
from graphc.library.states import Stateful
from graphc.saving.exporting import Portable, renamed
from graphc.saving.folder import VERSION, FolderWriter
from graphc.saving.signature import Signature, as_signature, encoded
from graphc.saving.tracing import Traced, as_function, traced_for

CALL = "__call__"
"""The name of the function that calls of the loaded object call."""

_LARGE = 256
"""Minimum number of elements of a constant that is stored outside the graph's text."""


def save(f: Any, folder: PathLike, *signatures: Any) -> None:
    """Writes compiled functions, with their Variables, to a folder, from which :func:`load` restores them.

    The folder holds the graph of each signature as text, the Variables in the safetensors format, and a manifest with
    checksums, which is written last: a save that is killed leaves the previous contents. Nothing is pickled.

    Args:
      f: the object to save: a compiled function, a method, a layer or another callable; a dict of these by name; or an
        object with compiled methods, all of which are saved.
      folder: the folder; it must be new, empty, or hold saved functions, which are replaced.
      *signatures: the arguments to save it for. Each is one call: a :class:`TensorSpec` or an example for each tensor,
        in a tuple where there are several arguments, or a :class:`saving.Signature` where some are given by name. Sizes
        that are None stay open. Python values become part of the program. For several functions, one dict with a
        signature, or a list of them, by name. Functions with ``input_signature`` need none.

    Raises:
      InvalidArgumentError: there is nothing to save, a signature is missing, or the function depends on an open size.
      UnimplementedError: a function does something that a file cannot hold, such as calling Python; the error has the
        line.
      FailedPreconditionError: the folder holds something else.

    Example:
      >>> import tempfile
      >>> import graphc as gx
      >>> model = gx.layers.Dense(2, in_features=3)
      >>> folder = tempfile.mkdtemp()
      >>> gx.save(model, folder, gx.TensorSpec((None, 3)))
      >>> loaded = gx.load(folder)
      >>> loaded(gx.ones((5, 3))).shape, len(loaded.trainable_variables)
      ((5, 2), 2)
    """
    functions = dict(_functions(f, signatures))
    _Save(as_path(folder), f, functions).run()


def _functions(f: Any, signatures: Sequence[Any]) -> Iterator[tuple[str, tuple[Any, list[Signature]]]]:
    """Yields the functions by name, each with its signatures."""
    if isinstance(f, ConcreteFunction):
        args, kwargs = f.structured_input_signature
        instance: tuple[Any, ...] = getattr(f, "_instance", ())
        function = cast("Any", f).function
        function = function.__get__(instance[0]) if instance else function
        yield CALL, (function, [Signature(*args, **kwargs)])
        return
    by_name = _by_name(f, signatures)
    if isinstance(f, Mapping) or by_name is not None or not callable(f) or (not signatures and _methods(f)):
        if signatures and by_name is None:
            raise _error("for several functions give one dict: a signature, or a list of signatures, by name")
        yield from _several(f, by_name or {})
        return
    # A list is an argument, as in f([x, y]), but for one that holds what no argument can be.
    requested: list[Any] = []
    for one in signatures:
        parts = cast("list[Any]", one) if type(one) is list else []
        requested += parts if any(isinstance(part, Signature) for part in parts) else [one]
    yield CALL, (f, list(map(as_signature, requested)) or [_own_signature(f, "the function")])


def _by_name(f: Any, signatures: Sequence[Any]) -> Mapping[str, Any] | None:
    """Returns signatures by function name; None for the signatures of one function, which may be dicts of tensors."""
    if len(signatures) != 1 or type(signatures[0]) is not dict:
        return None
    mapping = cast("dict[str, Any]", signatures[0])
    names = {*_methods(f), *([CALL] if callable(f) else [])}
    return mapping if isinstance(f, Mapping) or (mapping and mapping.keys() <= names) else None


def _several(f: Any, signatures: Mapping[str, Any]) -> Iterator[tuple[str, tuple[Any, list[Signature]]]]:
    functions: dict[str, Any] = dict(cast("Mapping[str, Any]", f)) if isinstance(f, Mapping) else _methods(f)
    if not isinstance(f, Mapping) and CALL in signatures:
        functions[CALL] = f
    for name in functions:
        if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise _error(f"functions have names, not {name!r:.40}")
    unknown = [name for name in signatures if name not in functions]
    if unknown:
        raise _error(f"there is no function {unknown[0]!r:.60} to save; there are {', '.join(functions) or 'none'}")
    if not functions:
        raise _error(
            f"there is nothing to save in {f!r:.60}: expected a function, a dict of functions, or an object with "
            "methods that @gx.function decorates"
        )
    for name, function in functions.items():
        if isinstance(function, ConcreteFunction):
            yield name, next(_functions(function, ()))[1]
            continue
        if name in signatures:
            one = signatures[name]
            several = cast("list[Any]", one) if type(one) is list else [one]
            yield name, (function, list(map(as_signature, several)))
        else:
            yield name, (function, [_own_signature(function, f"the function {name!r}")])


def _methods(f: Any) -> dict[str, Any]:
    """Returns the compiled methods of an object, and the compiled functions among its attributes."""
    kind = cast("type[Any]", type(f))
    if isinstance(f, Function | BoundFunction | type) or not hasattr(f, "__dict__"):
        return {}
    names = [name for name in dir(kind) if isinstance(inspect.getattr_static(kind, name, None), Function)]
    attributes = cast("dict[str, Any]", vars(f))
    names += [name for name, value in attributes.items() if isinstance(value, Function | BoundFunction)]
    return {name: getattr(f, name) for name in names if not name.startswith("_") or name == CALL}


def _own_signature(function: Any, what: str) -> Signature:
    own = getattr(function, "input_signature", None)
    if own is None and _parameters(*as_function(function)):
        raise _error(
            f"{what} has no signature; pass the arguments to save it for, such as gx.TensorSpec((None, 3)), give it an "
            "input_signature, or save a dict of the functions that you need"
        )
    return Signature(*(own or ()))


def _error(message: str) -> InvalidArgumentError:
    return InvalidArgumentError(f"gx.save: {message}").here()


class _Save:
    """One save."""

    def __init__(self, folder: Any, owner: Any, functions: Mapping[str, tuple[Any, list[Signature]]]) -> None:
        self._folder = folder
        self._owner = owner
        self._functions = functions
        self._paths = _paths_of(owner)
        self._names: dict[int, str] = {}
        self._unique = UniqueNames()
        self._variables: dict[str, Variable] = {}
        self._constants: dict[str, np.ndarray[Any, Any]] = {}
        self._literals: dict[Literal, str] = {}
        self._programs: dict[str, Any] = {}
        self._ops: set[str] = set()

    def run(self) -> None:
        """Traces all functions, then writes."""
        traced: dict[str, list[tuple[Any, Graph]]] = {}
        parameters: dict[str, Any] = {}
        for name, (target, signatures) in self._functions.items():
            function, instance = as_function(target)
            label = function.name if name == CALL else name
            traces = [traced_for(label, function, instance, signature) for signature in signatures]
            traced[name] = [(one, self._portable(label, one)) for one in traces]
            parameters[name] = {"label": function.name, "parameters": _parameters(function, instance)}
        for variable in self._paths.values():
            self._name(variable)
        writer = FolderWriter(self._folder)
        try:
            self._write(writer, traced, parameters)
        except BaseException:
            writer.abandon()
            raise

    def _portable(self, name: str, traced: Traced) -> Graph:
        portable = Portable(name, traced.rows, traced.sizes)
        graph = portable.graph(traced.graph)
        self._programs.update(portable.programs)
        graph = renamed(graph, {label: self._name(variable) for label, variable in traced.variables.items()})
        for node in graph.walk():
            self._ops.add(node.op.name)
            if isinstance(inner := node.attrs.get("op"), str) and inner in OPS:
                self._ops.add(inner)
        return graph

    def _name(self, variable: Variable) -> str:
        """Returns the name of a Variable in the files."""
        name = self._names.get(id(variable))
        if name is None:
            path = next((path for path, candidate in self._paths.items() if candidate is variable), variable.name)
            name = self._names[id(variable)] = self._unique(path)
            self._variables[name] = variable
        return name

    def _write(self, writer: FolderWriter, traced: Mapping[str, Any], parameters: Mapping[str, Any]) -> None:
        functions = {
            name: {**parameters[name],
                   "signatures": [self._signature(writer, f"{name}-{index}", one, graph)
                                  for index, (one, graph) in enumerate(pairs)]}
            for name, pairs in traced.items()
        }  # fmt: skip
        arrays = {name: variable.numpy() for name, variable in self._variables.items()}
        programs = {
            name: {**program.about, "file": writer.blob(f"{name}.jax", program.blob)}
            for name, program in self._programs.items()
        }
        writer.finish(
            {
                "version": VERSION,
                "graphc": VERSION_OF_GRAPHC,
                "jax": jax.__version__,
                "saved": datetime.now(UTC).isoformat(timespec="seconds"),
                "rules": {"enable_x64": config.enable_x64, "default_dtype_bits": config.default_dtype_bits},
                "ops": {name: OPS[name].version for name in sorted(self._ops)},
                "functions": functions,
                "variables": writer.arrays("variables.safetensors", arrays),
                "trainable": [name for name, variable in self._variables.items() if variable.trainable],
                "constants": writer.arrays("constants.safetensors", self._constants),
                "programs": programs,
            }
        )

    def _signature(self, writer: FolderWriter, name: str, traced: Traced, graph: Graph) -> dict[str, Any]:
        captured = [self._constant(np.asarray(tensor.numpy())) for tensor in traced.captured]
        result = _with_names(traced.result, {label: self._name(one) for label, one in traced.variables.items()})
        return {
            "graph": writer.text(f"{name}.graph", print_graph(graph, store=self._store) + "\n"),
            "arguments": dict(traced.arguments),
            "least": dict(traced.least),
            "captured": captured,
            "result": result,
            "raises": traced.raises,
        }

    def _constant(self, array: np.ndarray[Any, Any]) -> str:
        if array.dtype.kind == "O":
            raise InvalidTypeError("gx.save: a tensor of strings that is found outside cannot be saved").here()
        name = f"c{len(self._constants)}"
        self._constants[name] = array
        return name

    def _store(self, literal: Literal) -> str | None:
        if literal.array.size < _LARGE or literal.array.dtype.kind == "O":
            return None
        if literal not in self._literals:
            self._literals[literal] = self._constant(literal.array)
        return self._literals[literal]


def _with_names(tree: Any, names: Mapping[str, str]) -> Any:
    """Returns a result with the Variables' names in the files."""
    if isinstance(tree, list):
        return [_with_names(item, names) for item in cast("list[Any]", tree)]
    if not isinstance(tree, dict):
        return tree
    fields = cast("dict[str, Any]", tree)
    if set(fields) == {"variable"}:
        return {"variable": names[fields["variable"]]}
    return {key: _with_names(item, names) for key, item in fields.items()}


def _paths_of(owner: Any) -> dict[str, Variable]:
    """Returns the Variables of a model, by names that are the same in every run."""
    if isinstance(owner, BoundFunction):
        owner = owner.__self__
    if isinstance(owner, Stateful) or callable(getattr(owner, "named_variables", None)):
        return dict(owner.named_variables())
    paths: dict[str, Variable] = {}
    attributes = cast("dict[str, Any]", {} if callable(owner) else getattr(owner, "__dict__", {}))
    for name, value in sorted(attributes.items()):
        if isinstance(value, Variable):
            paths[name] = value
        elif isinstance(value, Stateful):
            paths.update({f"{name}/{path}": variable for path, variable in value.named_variables().items()})
    return paths


def _parameters(function: Function, instance: tuple[Any, ...]) -> list[Any]:
    """Returns the parameters as JSON: name, kind, and the default in a list if it has a JSON form."""
    remaining = [*inspect.signature(function.python_function).parameters.values()][len(instance) :]
    return [[parameter.name, parameter.kind.name, _default(parameter)] for parameter in remaining]


def _default(parameter: inspect.Parameter) -> Any:
    if parameter.default is inspect.Parameter.empty:
        return None
    try:
        return [encoded(parameter.default, lambda value: None)]
    except InvalidTypeError as error:
        return [{"object": str(error.args[0])}]
