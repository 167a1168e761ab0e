"""Saved functions for an application: their forms, and the batch sizes that they were saved for."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping
from typing import Any, cast

from graphc.compiler.base import logs, nest
from graphc.compiler.base.errors import InvalidArgumentError, NotFoundError
from graphc.compiler.base.files import PathLike
from graphc.compiler.function import Function, TensorSpec
from graphc.saving import CALL, LEFT_OUT, LoadedSignature, Saved, load
from graphc.serve.http.endpoint import Offer
from graphc.serve.http.forms import Form

__all__ = ["offers"]


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
    found: dict[str, Offer] = {}
    problems: list[str] = []
    for name, key in named.items():
        if only in (None, name):
            try:
                found[name] = _offer(name, saved.functions[key], saved.signatures_of(key))
            except InvalidArgumentError as error:
                problems.append(error.message)
    if not found:
        raise InvalidArgumentError("; ".join(problems) or f"{source}: there are no functions")
    for problem in problems:
        logs.logger().warning("App: not served: %s", problem)
    return found


def _offer(name: str, function: Function, signatures: tuple[LoadedSignature, ...]) -> Offer:
    forms: list[Form] = []
    constants: list[Mapping[str, Any]] = []
    rows: set[int | None] = set()
    for place, signature in enumerate(signatures):
        if signature.written:
            raise InvalidArgumentError(
                f"{name}: it assigns the Variable {signature.written[0]!r}, of which each replica has a copy; only "
                "functions that read Variables can answer queries"
            )
        tensors, others = _split_arguments(signature, _variadic(function))
        if not tensors:
            raise InvalidArgumentError(f"{name}: it takes no tensors, so there are no rows to query")
        form = _form("default" if len(signatures) == 1 else str(place + 1), function, tensors)
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
    found = nest.children(value)
    return found is not None and any(map(_holds_spec, found[1]))


def _form(signature: str, function: Function, tensors: dict[str, Any]) -> Form:
    """Returns the form: the leading parameters are positional as long as they have tensors, the others are keywords."""
    args: list[Any] = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name not in tensors or parameter.kind is parameter.KEYWORD_ONLY:
            break
        given = tensors.pop(parameter.name)
        args += given if parameter.kind is parameter.VAR_POSITIONAL else [given]
    return Form.of(signature, function, args, tensors)
