"""Aliases: a name and signature of another library, and the call of graphc's functions that it stands for."""

from __future__ import annotations
import __future__

import ast
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

from graphc.compiler.ops import ROWS, RowSignature, asarray, sized

_ANNOTATIONS = __future__.annotations.compiler_flag
_PLAIN_CALL = re.compile(r"gx\.(\w+(?:\.\w+)*)\(([^()]*)\)")
_GIVEN = {
    "v": "v = {}.Variable([1.0, 2.0, 3.0])",
    "x": "x = {}.constant([1.0, 2.0])",
    "y": "x = {0}.constant([1.0, 2.0]); y = {0}.reduce_sum(x * x)",
}
"""The subjects of TensorFlow 1's examples: each a name, with the line that makes it."""

_TARGET = re.compile(r"\b(gx|v2|files|logs|flags|errors|session|queues|weighted)\.(\w+(?:\.\w+)*)\(")


@dataclass(frozen=True)
class NameRow:
    """One row of a table of names.

    Attributes:
      names: the function's dotted names below the library's own name; the first is its main name.
      signature: the parameters as the library has them, in Python's syntax.
      call: the call that it stands for: of ``gx.FUNCTION``, of TensorFlow 2's
        ``v2.FUNCTION``, or of a module of graphc's (``files.FUNCTION``).
    """

    names: tuple[str, ...]
    signature: str
    call: str
    example: str

    @property
    def target(self) -> tuple[str, str] | None:
        """Returns what is called, ``("gx", "sum")``; None where nothing of graphc's is."""
        match = _TARGET.search(self.call)
        return None if match is None else (match[1], match[2])

    def function(
        self, library: str, module: str, namespace: Mapping[str, Any], operation: str | None = None
    ) -> Callable[..., Any]:
        """Returns the function, compiled from the signature, so that Python itself binds the arguments.

        Args:
          operation: where calls make operations of a graph, their name unless the argument ``name`` is given;
            ``making`` of the namespace is entered with that, and gives what names the result.
        """
        function = self._compiled(library, namespace, f"{_first_steps(self.call)}    return {self.call}\n")
        if operation is not None:
            wish = f"name or {operation!r}" if re.search(r"\bname\b", self.signature) else repr(operation)
            if re.search(r"\bseed=None\b", self.signature):
                wish += ", seed"
            body = (
                f"    with making({wish}) as _named:\n        return _named(_sized(_plain, {_passed_on(function)}))\n"
            )
            function = self._compiled(library, {**namespace, "_plain": function, "_sized": sized}, body)
        function.__module__ = module
        # Python's own messages about arguments begin with this name.
        function.__qualname__ = f"{library}.{self.names[0]}"
        function.__doc__ = self._docstring(library, module, namespace)
        return function

    def _compiled(self, library: str, namespace: Mapping[str, Any], body: str) -> Callable[..., Any]:
        name = self.names[0].rpartition(".")[2]
        source = f"def {name}({self.signature}):\n{body}"
        scope: dict[str, Any] = {}
        code = compile(source, f"<graphc alias {library}.{self.names[0]}>", "exec", _ANNOTATIONS, dont_inherit=True)
        exec(code, {**namespace, "_asarray": asarray, "_are_numbers": _are_numbers}, scope)
        return scope[name]

    def _docstring(self, library: str, module: str, namespace: Mapping[str, Any]) -> str:
        says = self._says(namespace)
        lines = [says, ""] if says else []
        lines += [f"TensorFlow's name for ``{self.call}``."]
        main, *others = self.names
        if others:
            also = "``, ``".join([f"{library}.{name}" for name in others])
            lines += [f"Also ``{also}``."]
        lines += ["", "Example:", f"  >>> import {module} as {library}"]
        used = set(re.findall(r"\b\w+\b(?!=)", self.example)) if module.endswith("v1") else set[str]()
        lines += [f"  >>> {line.format(library)}" for name, line in _GIVEN.items() if name in used]
        lines += [f"  >>> result = {library}.{main}({self.example})"]
        return "\n".join(lines)

    def _says(self, namespace: Mapping[str, Any]) -> str:
        """Returns the first line of what the function that is called says of itself."""
        target = self.target
        if target is None:
            return ""
        where, path = target
        called = namespace[where]
        for part in path.split("."):
            called = getattr(called, part)
        return (getattr(called, "__doc__", None) or "").partition("\n")[0]


def _passed_on(function: Callable[..., Any]) -> str:
    """Returns the arguments that a function of the same signature passes on: a tuple and a dict."""
    parameters = list(inspect.signature(function).parameters.values())
    of_kind = {kind: [one.name for one in parameters if one.kind is kind] for kind in _KINDS}
    plain, several, named, more = of_kind.values()
    positional = [*plain, *[f"*{name}" for name in several]] if several else []
    keywords = [f"{name!r}: {name}" for name in ([] if several else plain) + named] + [f"**{name}" for name in more]
    return f"({''.join(f'{name}, ' for name in positional)}), {{{', '.join(keywords)}}}"


_KINDS = (
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
    inspect.Parameter.VAR_POSITIONAL,
    inspect.Parameter.KEYWORD_ONLY,
    inspect.Parameter.VAR_KEYWORD,
)


def _first_steps(call: str) -> str:
    """Returns what is done first where a function of the op table is called with the parameters themselves.

    If all tensors are Python numbers, the first is made one: by TensorFlow's rules it then has 32 bits.
    """
    match = _PLAIN_CALL.fullmatch(call)
    tensors = None if match is None else _tensors().get(match[1])
    if match is None or not tensors:
        return ""
    arguments = match[2].split(", ")[: len(tensors)]
    if len(arguments) < len(tensors) or not all(map(str.isidentifier, arguments)):
        return ""
    return f"    if _are_numbers({', '.join(arguments)}):\n        {arguments[0]} = _asarray({arguments[0]})\n"


@cache
def _tensors() -> Mapping[str, Sequence[str]]:
    """Returns the tensor parameters of the functions of the op table that take a fixed number of them."""
    signatures = {row.name: RowSignature.parse(row.signature) for rows in ROWS.values() for row in rows}
    return {
        name: signature.tensors
        for name, signature in signatures.items()
        if not signature.sequences and not any(tensor.startswith("*") for tensor in signature.tensors)
    }


def _are_numbers(*values: Any) -> bool:
    return all(type(value) in (int, float, complex) for value in values)


def rows(text: str) -> tuple[NameRow, ...]:
    """Returns the rows of a table.

    Args:
      text: for each row ``names(parameters) => call e.g. arguments``, the fields of :func:`alias`; indented lines go
        on, and lines with ``#`` are comments.
    """
    entries: list[str] = []
    for line in text.splitlines():
        if line.startswith(" "):
            entries[-1] += f" {line.strip()}"
        elif line and not line.startswith("#"):
            entries.append(line)
    columns = [(header, *rest.partition(" e.g. ")) for header, _, rest in (row.partition(" => ") for row in entries)]
    return tuple([alias(header, call, example) for header, call, _, example in columns])


def alias(header: str, call: str, example: str) -> NameRow:
    """Returns a row of a table; see :class:`NameRow` for the fields.

    Args:
      header: the names, separated by spaces, and the parameters: ``abs math.abs(x, name=None)``.
      call: the call that it stands for; ``...`` in it passes on all parameters but ``name``.
    """
    names, _, rest = header.partition("(")
    signature = rest[:-1]
    if "..." in call:
        parameters = ast.parse(f"def f({signature}): ...").body[0]
        passed = [one.arg for one in cast("ast.FunctionDef", parameters).args.args if one.arg != "name"]
        call = call.replace("...", ", ".join(passed))
    return NameRow(tuple(names.split()), signature, call, example)
