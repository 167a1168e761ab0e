"""``load``: loads functions from files, without their source."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeAlias, cast

import jax

from graphc.compiler.base import config
from graphc.compiler.base.errors import DataLossError, FailedPreconditionError, GraphcError, NotFoundError, ParseError
from graphc.compiler.base.files import PathLike, as_path
from graphc.compiler.core import DeviceChoice, Tensor, Variable
from graphc.compiler.core import device as device_of
from graphc.compiler.devices import Device
from graphc.compiler.function import Function
from graphc.compiler.ir import Attrs, DeviceSpec, Graph, Node, OpDef, dtype_from_short, parse_graph
from graphc.library.states import Stateful
from graphc.saving.exporting import allowed, mapped, renamed
from graphc.saving.folder import VERSION, Arrays, FolderReader, check_version, damaged, known_ops
from graphc.saving.loaded import LEFT_OUT, LoadedFunction, LoadedSignature
from graphc.saving.programs import ExportedProgram, ProgramName
from graphc.saving.save import CALL
from graphc.saving.signature import decoded, leaves_of, raise_by_status, sized
from graphc.training.optim import remade

DeviceLike: TypeAlias = str | DeviceSpec | Device | DeviceChoice

_READ_AGAIN = 3
"""Maximum number of attempts to read a folder that another process is replacing."""


class Saved(Stateful):
    """Functions that :func:`load` has read.

    They are attributes, ``saved.predict(x)``, and items, ``saved["predict"]``. A function whose name is an attribute of
    this object, such as ``variables``, is only an item. Each is an ordinary compiled function: gradients flow through
    it, other compiled functions can call it, and ``.graph``, ``.explain`` and ``.lower`` work. If a single function was
    saved, calling the object calls it.

    Attributes:
      functions: the functions by name.
    """

    def __init__(self, folder: str, functions: Mapping[str, Function], variables: Mapping[str, Variable]) -> None:
        self._folder = folder
        self._variables = dict(variables)
        self.functions = dict(functions)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the function that was saved alone, or as ``__call__``.

        Raises:
          AttributeError: several functions were saved, and none as ``__call__``.
        """
        function = self.functions.get(CALL)
        if function is None and len(self.functions) == 1:
            (function,) = self.functions.values()
        if function is None:
            raise AttributeError(
                f"{self!r} has several functions; call one of them, such as .{next(iter(self.functions))}"
            )
        return function(*args, **kwargs)

    def __getitem__(self, name: str) -> Function:
        """Returns a function by its name.

        Raises:
          NotFoundError: the function does not exist.
        """
        if name not in self.functions:
            raise NotFoundError(f"there is no saved function {name!r}; there are {', '.join(self.functions)}").here()
        return self.functions[name]

    def __getattr__(self, name: str) -> Function:
        """Returns a function by its name."""
        match = self.__dict__.get("functions", {}).get(name)
        if match is None:
            names = ", ".join(self.__dict__.get("functions", {}))
            raise AttributeError(f"there is no saved function {name!r}; there are {names}")
        return match

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.functions})

    @property
    def signatures(self) -> dict[str, list[str]]:
        """The arguments that each function was saved for, as text."""
        return {name: cast("Any", function.python_function).texts for name, function in self.functions.items()}

    def signatures_of(self, name: str) -> tuple[LoadedSignature, ...]:
        """Returns the signatures of a function, with the TensorSpecs of their arguments."""
        return cast("Any", self.functions[name].python_function).signatures

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The Variables, in the order in which they were saved."""
        return tuple(self._variables.values())

    @property
    def trainable_variables(self) -> tuple[Variable, ...]:
        """The trainable Variables."""
        return tuple(variable for variable in self.variables if variable.trainable)

    @property
    def non_trainable_variables(self) -> tuple[Variable, ...]:
        """The other Variables."""
        return tuple(variable for variable in self.variables if not variable.trainable)

    def named_variables(self) -> dict[str, Variable]:
        """Returns the Variables, by their names in the files."""
        return dict(self._variables)

    def __repr__(self) -> str:
        texts = [f"{name}({text})" for name, formatted in self.signatures.items() for text in formatted]
        return f"<saved functions of {self._folder}: {'; '.join(texts)}; {len(self._variables)} Variables>"


def load(folder: PathLike, *, device: DeviceLike | None = None, trust: bool = False) -> Saved:
    """Reads functions that :func:`save` has written, in any process, without their source.

    Files run nothing but graphs of ops that only compute: no pickles, no Python. If a checksum or the parser fails, the
    error names the file.

    Args:
      folder: their folder.
      device: the device for their Variables and for running them, instead of the devices that they were pinned to. None
        keeps pins, and puts Variables on the default device.
      trust: whether functions of JAX in the folder (of :func:`call_jax`) may call kernels of XLA, such as LAPACK's.
        With sizes that its author made up, a kernel writes to any memory.

    Returns:
      A :class:`saving.Saved`, whose attributes are the functions.

    Raises:
      NotFoundError: the folder has no saved functions.
      DataLossError: a file is damaged, missing or not what :func:`save` writes.
      FailedPreconditionError: they were saved by a newer graphc.
      PermissionDeniedError: a function of JAX calls kernels, and ``trust`` is False.

    Example:
      >>> import tempfile
      >>> import graphc as gx
      >>> @gx.function
      ... def scaled(x, factor=2.0):
      ...     return {"y": x * factor}
      >>> folder = tempfile.mkdtemp()
      >>> gx.save(scaled, folder, gx.TensorSpec((None,)))
      >>> gx.load(folder)(gx.ones(3))["y"].tolist()
      [2.0, 2.0, 2.0]
    """
    path = as_path(folder)
    for _ in range(_READ_AGAIN):
        reader = FolderReader(path)
        try:
            return _Load(reader, device, trust).saved()
        except DataLossError:
            if FolderReader(path).content == reader.content:
                raise
    raise damaged(path, "it is replaced again and again while it is read")


class _Load:
    """One load."""

    def __init__(self, reader: FolderReader, device: DeviceLike | None, trust: bool) -> None:
        self._reader = reader
        self._trust = trust
        self._device = device

    def _check_rules(self, rules: Mapping[str, Any]) -> None:
        if rules.get("enable_x64") and not config.enable_x64:
            raise FailedPreconditionError(
                f"{self._reader.folder}: it was saved with 64-bit types, which are off here; set "
                "gx.config.enable_x64 = True before you load it"
            )

    def saved(self) -> Saved:
        """Reads all."""
        with _naming_folder(self._reader):
            content = self._reader.content
            check_version(content["version"], "the format", VERSION, content.get("graphc"))
            ops = known_ops(content["ops"], content["graphc"], allowed)
            self._check_rules(content.get("rules", {}))
            trainable = set(content["trainable"])
            with device_of(self._device):
                variables = {
                    name: Variable(array, name=_plain(name), trainable=name in trainable)
                    for name, array in self._reader.arrays(content["variables"]).items()
                }
            constants = self._reader.arrays(content["constants"])
            programs = self._programs(content["programs"])
            functions = {
                name: self._function(about, ops, constants, variables, programs)
                for name, about in cast("Mapping[str, Any]", content["functions"]).items()
            }
            return Saved(str(self._reader.folder), functions, variables)

    def _programs(self, about: Mapping[str, Any]) -> dict[str, ProgramName]:
        loaded: dict[str, ProgramName] = {}
        for name, one in about.items():
            program = ExportedProgram(
                self._reader.blob(one["file"]), one, str(self._reader.folder / one["file"]), self._trust
            )
            if program.name != name:
                raise damaged(self._reader.folder / one["file"], "it is another function than its name says")
            with suppress(FailedPreconditionError):  # JAX does not read it: calls say so, other functions work
                _ = program.function
            loaded[name] = ProgramName(program)
        return loaded

    def _function(
        self, about: Mapping[str, Any], ops: Mapping[str, Any], constants: Arrays,
        variables: Mapping[str, Variable], programs: Mapping[str, ProgramName],
    ) -> Function:  # fmt: skip
        label = str(about["label"])
        signatures = [self._signature(label, one, ops, constants, variables, programs) for one in about["signatures"]]
        loaded = LoadedFunction(label, _signature_of(about["parameters"]), signatures, _defaults(about["parameters"]))
        return Function(
            loaded.function, autograph=False, on_retrace="ignore", side_effects="ignore", device=self._device,
            name=label, input_signature=loaded.input_signature,
        )  # fmt: skip

    def _signature(
        self, name: str, about: Mapping[str, Any], ops: Mapping[str, Any], constants: Arrays,
        variables: Mapping[str, Variable], programs: Mapping[str, ProgramName],
    ) -> LoadedSignature:  # fmt: skip
        file = about["graph"]
        path = self._reader.folder / file
        try:
            graph = parse_graph(self._reader.text(file), ops, constants)
        except ParseError as error:
            raise damaged(path, f"it is no graph: {error}") from None
        except RecursionError:
            raise damaged(path, "it is nested too deep") from None
        _check(graph, path, ops, set(variables), set(programs))
        graph = mapped(graph, lambda node: _of_this_process(node, programs))
        if self._device is not None:
            graph = _unpinned(graph)
        graph = renamed(graph, {saved: variable.name for saved, variable in variables.items()})
        _check_signature(about, len(graph.outputs), set(variables))
        tensors = [*leaves_of(about["arguments"], "tensor")]
        if len(tensors) + len(about["captured"]) != len(graph.inputs):
            raise damaged(path, f"it has {len(graph.inputs)} inputs, {len(tensors)} arguments are tensors")
        signature = LoadedSignature(
            file=str(path), graph=graph, arguments=about["arguments"], least=about["least"],
            captured=[Tensor(jax.numpy.asarray(constants[one])) for one in about["captured"]], result=about["result"],
            raises=about["raises"],
            variables={variable.name: variable for variable in variables.values()},
            named={**variables},
        )  # fmt: skip
        with suppress(FailedPreconditionError):
            signature.check()
        return signature


class _naming_folder:  # noqa: N801  a scope
    """Says of what is wrong with the content of a manifest which file it is."""

    def __init__(self, reader: FolderReader) -> None:
        self._reader = reader

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, traceback: Any) -> None:
        if isinstance(error, GraphcError):
            if str(self._reader.folder) not in str(error.args[0] if error.args else ""):
                error.args = (f"{self._reader.folder}: {error.args[0]}", *error.args[1:])
            error.here()
        elif isinstance(error, KeyError | ValueError | TypeError | AttributeError | IndexError | RecursionError):
            raise damaged(self._reader.manifest, f"{type(error).__name__}: {error}") from error


def _check(graph: Graph, path: Any, ops: Mapping[str, Any], variables: set[str], programs: set[str]) -> None:
    """Refuses a graph that refers to what is not in the folder."""
    for node in graph.walk():
        for op, attrs in _applied(node):
            where = f"the node {node.name!r:.60}"
            if op != node.op.name and op not in ops:
                raise damaged(path, f"{where} applies {op!r:.60}, which the manifest does not list")
            variable = attrs.get("variable")
            if variable is not None and variable not in variables:
                raise damaged(path, f"{where} is about the Variable {variable!r:.60}, which is not there")
            if op == "jax_program" and attrs.get("program") not in programs:
                raise damaged(path, f"{where} calls a function of JAX that is not there")


def _applied(node: Node) -> Iterator[tuple[Any, Mapping[str, Any]]]:
    """Yields the op of a node with its attributes, and those that it applies, as a backward pass does."""
    op: Any = node.op.name
    attrs: Mapping[str, Any] = node.attrs
    while op is not None:
        yield op, attrs
        op, attrs = attrs.get("op"), dict(attrs.get("attrs", ()))


def _of_this_process(node: Node, programs: Mapping[str, ProgramName]) -> tuple[OpDef, Attrs]:
    """Returns an op and its attributes with rules of optimizers and programs of this process."""
    if node.op.name != "optim.update":
        attrs = _with_programs(tuple(node.attrs.items()), programs) if programs else node.attrs
        return node.op, Attrs(dict(attrs))
    rule = remade(node.attrs["transformation"])
    if rule is None:
        raise ValueError(f"{node.attrs['transformation']!r:.60} is no rule of an optimizer")
    return node.op, Attrs({**node.attrs, "transformation": rule})


def _with_programs(value: Any, programs: Mapping[str, ProgramName]) -> Any:
    """Returns an attribute with the names that hold their programs, also in what a backward pass applies."""
    if isinstance(value, tuple):
        return tuple([_with_programs(item, programs) for item in cast("tuple[Any, ...]", value)])
    return programs.get(value, value) if isinstance(value, str) else value


def _check_signature(about: Mapping[str, Any], outputs: int, variables: set[str]) -> None:
    """Raises what the content of a manifest leads to that is none of :func:`save`."""
    least: dict[str, int] = about["least"]
    if not all(type(size) is int for size in least.values()):
        raise ValueError("the smallest sizes are no numbers")

    def argument(sort: str, content: Any) -> None:
        if sort == "object":
            return
        valid = [size in least if isinstance(size, str) else type(size) is int for size in content["shape"]]
        dtype_from_short(content["dtype"])
        if sort != "tensor" or not all(valid) or not isinstance(content["name"], str):
            raise ValueError(f"{sort!r:.40} among the arguments")

    def result(sort: str, content: Any) -> None:
        fits = content in variables if sort == "variable" else type(content) is int and 0 <= content < outputs
        if sort not in ("tensor", "number", "variable") or not fits:
            raise ValueError(f"{sort!r:.40} in the result")

    for tree in about["arguments"].values():
        decoded(tree, argument)
    shapes = [content["shape"] for content in leaves_of(about["arguments"], "tensor")]
    sizes = {size: least[size] for shape in shapes for size in shape if isinstance(size, str)}
    decoded(sized(about["result"], sizes), result)
    raise_by_status(sized(about["raises"], sizes), "")


def _unpinned(graph: Graph) -> Graph:
    return mapped(graph, lambda node: (node.op, node.attrs), pinned=False)


def _plain(name: str) -> str:
    return name.replace("\\", "/") or "Variable"


def _signature_of(parameters: Sequence[Any]) -> inspect.Signature:
    return inspect.Signature([_parameter(*one) for one in parameters])


def _defaults(parameters: Sequence[Any]) -> dict[str, Any]:
    """Returns the defaults by name, those that a file can hold."""
    defaults: dict[str, Any] = {}
    for name, kind, default in parameters:
        if kind in ("VAR_POSITIONAL", "VAR_KEYWORD"):
            defaults[name] = () if kind == "VAR_POSITIONAL" else {}
        elif default is not None and not (isinstance(default[0], dict) and "object" in default[0]):
            defaults[name] = decoded(default[0], lambda sort, content: LEFT_OUT)
    return defaults


def _parameter(name: str, kind: str, default: Any) -> inspect.Parameter:
    variadic = kind in ("VAR_POSITIONAL", "VAR_KEYWORD")
    sort = getattr(inspect.Parameter, kind)
    if variadic:
        return inspect.Parameter(name, sort)
    return inspect.Parameter(name, sort, default=inspect.Parameter.empty if default is None else LEFT_OUT)
