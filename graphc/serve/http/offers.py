"""Offers: functions and folders of saved ones, with what is known about their queries, and their endpoints."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from graphc.compiler.base import logs, nest
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError, NotFoundError
from graphc.compiler.base.files import PathLike
from graphc.compiler.function import Function, TensorSpec
from graphc.saving import CALL, LEFT_OUT, LoadedSignature, Saved, load
from graphc.serve.http.arrays import BodyArguments, Form, natural, shown
from graphc.serve.http.problems import ProblemError
from graphc.serve.replicas import Replicas

Served = Callable[..., Any] | Replicas

_NAME = re.compile(r"[A-Za-z0-9_.-]+")
_DEFAULT = "default"


@dataclass(frozen=True, eq=False)
class Endpoint:
    """A function served under a name."""

    name: str
    replicas: Replicas
    own: bool
    forms: tuple[Form, ...]

    def arguments(self, request: BodyArguments) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Converts the arguments of a request to the function's."""
        forms = [form for form in self.forms if request.signature in ("", form.name)]
        if request.signature and not forms:
            names = ", ".join(form.name for form in self.forms) or "none"
            raise ProblemError(404, f"{self.name} has no signature {shown(request.signature)}; it has: {names}")
        problems: list[str] = []
        try:
            if not forms:
                args = tuple([natural(value, f"args[{index}]") for index, value in enumerate(request.args)])
                return args, {name: natural(value, name) for name, value in request.kwargs.items()}
            for form in forms:
                try:
                    return form.fit(request)
                except InvalidArgumentError as error:
                    problems.append(error.message if len(forms) == 1 else f"{form.name}: {error.message}")
        except RecursionError:
            problems.append("the body nests too deep")
        except InvalidArgumentError as error:
            problems.append(error.message)
        raise ProblemError(400, f"{self.name}: {'; '.join(problems)}", kind="InvalidArgumentError")

    def warm_up(self) -> None:
        """Compiles all sizes of all signatures with known shapes."""
        for form in self.forms:
            if (example := form.example()) is not None:
                self.replicas.warm_up(*example[0], **example[1])

    def to_dict(self) -> dict[str, Any]:
        """Returns the name and the signatures as plain dicts and strings."""
        return {"name": self.name, "signatures": [form.to_dict() for form in self.forms]}


@dataclass(frozen=True)
class Offer:
    """A function, with what is known about its queries.

    Attributes:
      function: the function, or replicas of it.
      forms: the forms of its signatures; none if unknown.
      sizes: the numbers of rows that it accepts; None for any number.
      least: the minimum number of rows.
    """

    function: Served
    forms: tuple[Form, ...] = ()
    sizes: tuple[int, ...] | None = None
    least: int = 1

    def options(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the options of :class:`Replicas`, with the sizes that the function supports."""
        if self.sizes is not None:
            return {**given, "sizes": self.sizes, "max_batch": self.sizes[-1]}
        if self.least > 1 and given.get("sizes") is None:
            most = max(given.get("max_batch", 32), self.least)
            powers = [2**power for power in range(most.bit_length()) if self.least <= 2**power < most]
            return {**given, "sizes": [*powers, most], "max_batch": most}
        return dict(given)


def offer(name: str, served: Served, example: Any = None) -> Offer:
    """Returns the offer of a function.

    Args:
      name: the name of the function.
      served: the function, or replicas of it.
      example: example arguments of a query as a tuple, with TensorSpecs for arrays of any values; or a dict of such
        tuples by signature name. None for the ``input_signature`` of a compiled function.

    Raises:
      InvalidTypeError: the example has another form.

    Example:
      >>> import graphc as gx
      >>> str(gx.serve.offer("norm", gx.linalg.norm, (gx.ones((1, 3)),)).forms[0])
      'x: float32[?,3]'
    """
    if example is None:
        example = getattr(served, "input_signature", None)
    by_name = cast("Any", example) if isinstance(example, Mapping) else {} if example is None else {_DEFAULT: example}
    forms: list[Form] = []
    for signature, args in cast("Mapping[str, Any]", by_name).items():
        if not isinstance(args, tuple | list):
            raise InvalidTypeError(
                f"App: the example of {name!r} is a tuple of its arguments, or a dict of such tuples by signature, got "
                f"{type(args).__name__} {args!r:.60}"
            )
        forms.append(Form.of(signature, served, cast("Sequence[Any]", args), {}))
    return Offer(served, tuple(forms))


def endpoint(name: str, offered: Offer, options: Mapping[str, Any]) -> Endpoint:
    """Makes the endpoint of a function."""
    if not _NAME.fullmatch(name):
        raise InvalidArgumentError(f"App: a name has letters, digits, '_', '-' and '.', got {name!r}")
    if isinstance(offered.function, Replicas):
        return Endpoint(name, offered.function, False, offered.forms)
    return Endpoint(name, Replicas(offered.function, name=name, **offered.options(options)), True, offered.forms)


def offers(source: PathLike | Saved, only: str | None = None) -> dict[str, Offer]:
    """Returns the functions of a saved folder that can be served.

    A function can be served if all its tensors have a row axis and it assigns no Variable (a training step does). The
    log names those that cannot.

    Args:
      source: the folder, or the object loaded from it.
      only: the name of the function to serve; None for all.

    Raises:
      NotFoundError: the function does not exist.
      InvalidArgumentError: none of them can be served.
      Exception: an error of :func:`graphc.load`.

    Example:
      >>> import tempfile
      >>> import graphc as gx
      >>> folder = tempfile.mkdtemp()
      >>> gx.save({"double": gx.function(lambda x: x * 2)}, folder, {"double": gx.TensorSpec((None, 3))})
      >>> str(gx.serve.offers(folder)["double"].forms[0])
      'x: float32[?,3]'
    """
    saved = source if isinstance(source, Saved) else load(source)
    named = {function.name if name == CALL else name: name for name, function in saved.functions.items()}
    if only is not None and only not in named:
        raise NotFoundError(f"{source}: there is no saved function {only!r}; there are {', '.join(named)}")
    offered: dict[str, Offer] = {}
    problems: list[str] = []
    for name, key in named.items():
        if only in (None, name):
            try:
                offered[name] = _offer(name, saved.functions[key], saved.signatures_of(key))
            except InvalidArgumentError as error:
                problems.append(error.message)
    if not offered:
        raise InvalidArgumentError("; ".join(problems) or f"{source}: there are no functions")
    for problem in problems:
        logs.logger().warning("App: not served: %s", problem)
    return offered


def _offer(name: str, function: Function, signatures: tuple[LoadedSignature, ...]) -> Offer:
    forms: list[Form] = []
    constants: list[Mapping[str, Any]] = []
    rows: set[int | None] = set()
    for index, signature in enumerate(signatures):
        if signature.written:
            raise InvalidArgumentError(
                f"{name}: it assigns the Variable {signature.written[0]!r}, of which each replica has a copy; only "
                "functions that read Variables can answer queries"
            )
        tensors, others = _split_arguments(signature, _variadic(function))
        if not tensors:
            raise InvalidArgumentError(f"{name}: it takes no tensors, so there are no rows to query")
        form = _form("default" if len(signatures) == 1 else str(index + 1), function, tensors)
        sizes = {spec.shape[0] if spec.shape else -1 for spec in form.specs}
        if len(sizes) != 1 or -1 in sizes:
            raise InvalidArgumentError(f"{name}: all tensors need a row axis of the same size, but it takes ({form})")
        rows |= sizes
        forms.append(form.of_rows())
        constants.append(others)
    shapes = {str([(*cast("tuple[Any, ...]", spec.shape)[1:], spec.dtype) for spec in form.specs]) for form in forms}
    if rows != {None} and (None in rows or len(shapes) > 1):
        raise InvalidArgumentError(
            f"{name}: it was saved for sizes of batches that go with other shapes ({'; '.join(map(str, forms))}); "
            "leave the number of rows open, or save each shape under a name of its own"
        )
    if any(repr(others) != repr(constants[0]) for others in constants):
        raise InvalidArgumentError(
            f"{name}: it was saved for several values of {', '.join(constants[0])}; save one each"
        )
    served = functools.partial(function, **constants[0]) if constants[0] else function
    least = max(signature.least_rows for signature in signatures)
    fixed = None if None in rows else tuple(sorted(size for size in rows if size is not None))
    return Offer(served, tuple(forms), fixed, least)


def _variadic(function: Function) -> dict[Any, str]:
    """Returns the names of ``*args`` and ``**kwargs``, by their kinds."""
    return {each.kind: each.name for each in inspect.signature(function).parameters.values()}


def _split_arguments(signature: LoadedSignature, variadic: Mapping[Any, str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Splits the arguments into those with tensors, and the others, which are the same for all queries."""
    named = signature.specs()
    named.update(named.pop(variadic.get(inspect.Parameter.VAR_KEYWORD, ""), {}))
    tensors: dict[str, Any] = {}
    others: dict[str, Any] = {}
    for name, value in named.items():
        if _holds_spec(value):
            tensors[name] = value
        elif value is not LEFT_OUT and not (name == variadic.get(inspect.Parameter.VAR_POSITIONAL) and not value):
            others[name] = value
    return tensors, others


def _holds_spec(value: Any) -> bool:
    if isinstance(value, TensorSpec):
        return True
    parts = nest.children(value)
    return parts is not None and any(map(_holds_spec, parts[1]))


def _form(signature: str, function: Function, tensors: dict[str, Any]) -> Form:
    """Returns the form: the leading parameters are positional as long as they have tensors, the others are keywords."""
    args: list[Any] = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name not in tensors or parameter.kind is parameter.KEYWORD_ONLY:
            break
        tensor = tensors.pop(parameter.name)
        args += tensor if parameter.kind is parameter.VAR_POSITIONAL else [tensor]
    return Form.of(signature, function, args, tensors)
