"""A graph as text, one line per node.

The grammar, which the parser reads exactly. Spaces and line ends separate tokens and have no other meaning::

    graph    = "graph" name signature
    signature= "(" [input {"," input}] ")" "->" types "{" {node} "return" [use {"," use}] "}"
    input    = "%" name ":" type
    node     = "%" name ":" types "=" op "(" [use {"," use}] ")" [attrs] [device] [after] [loc] [bodies]
    use      = "%" name ["#" integer]           an input of the graph, or the output of a node; "#" if it has several
    types    = type | "(" [type {"," type}] ")" the types of a node's outputs: a single type, or a list
    type     = ["~"] dtype "[" ["*" | size {"," size}] "]"                              "~" marks a weak type
    size     = integer | "?"                    "?" is a size, "*" a number of axes, known only when the graph runs
    attrs    = "{" name "=" value {"," name "=" value} "}"
    device   = "@" string
    after    = "after" "(" "%" name {"," "%" name} ")"                                   the control inputs
    loc      = "loc" "(" [string] ":" integer ["in" string] ")"       file (or that of the loc before), line, function
    bodies   = "{" {name [":" name] signature} "}"       the regions: the op's name for it, the graph's own if another
    value    = "None" | "True" | "False" | integer | float | "complex" "(" float "," float ")" | string
             | dtype | type | type "(" (list | "zlib" string | "stored" string) ")" | "(" [value ","] ... ")"
    name, op = word | string                    a word is made of letters, digits and ``_ . /``
    string   = as in JSON

A node keeps its name in the text. Array literals of up to 16 elements are nested lists; larger ones, and those that a
list would not reproduce bit by bit, are their compressed bytes in base64. Literals of strings, whose dtype is ``str``,
are always lists; bytes that are not UTF-8 become the lone surrogates of Python's ``surrogateescape``. A ``stored``
literal is kept beside the text, under that name. A value without a textual form (a Python function, for example) prints
as ``<its description>``, which the parser refuses.
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias, cast

import numpy as np

from graphc.compiler.base import Location, UniqueNames
from graphc.compiler.ir.graph import Graph, Node, Value
from graphc.compiler.ir.types import Attrs, Literal, TensorType, short_dtype

Store: TypeAlias = Callable[[Literal], str | None]
"""Stores a literal beside the text and returns its name; None leaves it in the text."""

_LIST_LIMIT = 16
_WORD = re.compile(r"[A-Za-z0-9_./]+", re.ASCII)
_UNSAFE = re.compile(r"[^A-Za-z0-9_.]", re.ASCII)


def print_graph(graph: Graph, *, locations: bool = True, store: Store | None = None) -> str:
    """Returns the graph as text; see the module's docstring for the grammar.

    Args:
      graph: the graph to print.
      locations: whether to print the user's file and line for each node.
      store: stores literals beside the text; None writes all of them into it.

    Example:
      >>> import numpy as np
      >>> from graphc.compiler.ir import CONSTANT, Attrs, GraphBuilder
      >>> builder = GraphBuilder("answer")
      >>> x = builder.input(TensorType((2,), np.dtype("float32")), "x")
      >>> node = builder.append(CONSTANT, (), Attrs(value=Literal(np.float32(42))))
      >>> print(print_graph(builder.build([x, *node.outputs])))
      graph answer(%x: f32[2]) -> (f32[2], f32[]) {
        %constant: f32[] = constant() {value = f32[](42.0)}
        return %x, %constant
      }
    """
    files = _Files() if locations else None
    return "\n".join(_graph_lines(graph, f"graph {_name(graph.name)}", "", files, store))


def print_node(node: Node, *, locations: bool = True) -> str:
    """Returns the node's line of text, without its regions."""
    return _node_line(node, {}, _Files() if locations else None, None)


class _Files:
    """The file of the last location: the next one names it only if it is another."""

    last = ""


def has_text(value: Any) -> bool:
    """Returns True if the text of an attribute's value parses back.

    Example:
      >>> has_text((1, "same")), has_text(print)
      (True, False)
    """
    if isinstance(value, tuple):
        return all(map(has_text, cast("tuple[Any, ...]", value)))
    return value is None or isinstance(value, bool | int | float | complex | str | Literal | TensorType | np.dtype)


def print_value(value: Any, store: Store | None = None) -> str:
    """Returns an attribute's value as text.

    Args:
      value: the value.
      store: as for :func:`print_graph`.

    Example:
      >>> print_value((1, -0.0, None, np.dtype("int32"), Literal(np.arange(3))))
      '(1, -0.0, None, i32, i64[3]([0, 1, 2]))'
    """
    kind = cast("type[Any]", type(value))
    if value is None or kind in (bool, int, float):
        return repr(value)
    if isinstance(value, str):
        return _string(value)
    if kind is complex:
        return f"complex({value.real!r}, {value.imag!r})"
    if kind is tuple:
        items = ", ".join([print_value(item, store) for item in value])
        return f"({items},)" if len(value) == 1 else f"({items})"
    if kind is Literal:
        name = None if store is None else store(value)
        return _literal(value.array) if name is None else f"{_type_of(value.array)}(stored {_string(name)})"
    if kind is TensorType:
        return str(value)
    if isinstance(value, np.dtype):
        return short_dtype(value)  # pyright: ignore[reportUnknownArgumentType]
    described = getattr(value, "__qualname__", kind.__qualname__)
    return f"<{_UNSAFE.sub('', described)}>"


def _graph_lines(graph: Graph, head: str, indent: str, files: _Files | None, store: Store | None) -> Iterator[str]:
    inputs = _input_names(graph)
    parameters = ", ".join(f"%{inputs[value]}: {value.type}" for value in graph.inputs)
    yield f"{indent}{head}({parameters}) -> {_types(graph.outputs, always_list=True)} {{"
    inner = indent + "  "
    for node in graph.nodes:
        line = inner + _node_line(node, inputs, files, store)
        if not node.regions:
            yield line
            continue
        yield line + " {"
        for index, region in enumerate(node.regions):
            label = node.op.region_label(index)
            head = _name(label) if region.name == label else f"{_name(label)}: {_name(region.name)}"
            yield from _graph_lines(region, head, inner + "  ", files, store)
        yield inner + "}"
    yield f"{inner}return {', '.join(_use(value, inputs) for value in graph.outputs)}".rstrip()
    yield indent + "}"


def _input_names(graph: Graph) -> dict[Value, str]:
    """Returns a name for each input, unique among the graph's inputs and nodes."""
    if not graph.inputs:
        return {}
    unique = UniqueNames()
    for node in graph.nodes:
        unique(node.name)
    return {value: _name(unique(value.name or f"arg{value.index}")) for value in graph.inputs}


def _node_line(node: Node, inputs: dict[Value, str], files: _Files | None, store: Store | None) -> str:
    uses = ", ".join([_use(value, inputs) for value in node.inputs])
    parts = [f"%{_name(node.name)}: {_types(node.outputs)} = {_name(node.op.name)}({uses})"]
    if node.attrs:
        parts.append(_attrs(node.attrs, store))
    if node.device:
        parts.append(f"@{_string(node.device)}")
    if node.control_inputs:
        parts.append(f"after({', '.join(f'%{_name(control.name)}' for control in node.control_inputs)})")
    if files is not None and node.location is not None:
        parts.append(_location(node.location, files))
    return " ".join(parts)


def _use(value: Value, inputs: dict[Value, str]) -> str:
    if value.node is None:
        return f"%{inputs.get(value) or _name(value.name or f'arg{value.index}')}"
    name = f"%{_name(value.node.name)}"
    return name if len(value.node.outputs) == 1 else f"{name}#{value.index}"


def _types(values: tuple[Value, ...], always_list: bool = False) -> str:
    if len(values) == 1 and not always_list:
        return str(values[0].type)
    return f"({', '.join(str(value.type) for value in values)})"


def _attrs(attrs: Attrs, store: Store | None) -> str:
    return f"{{{', '.join(f'{_name(name)} = {print_value(value, store)}' for name, value in attrs.items())}}}"


def _location(location: Location, files: _Files) -> str:
    function = "" if location.function == "<module>" else f" in {_string(location.function)}"
    file = "" if location.file == files.last else _string(location.file)
    files.last = location.file
    return f"loc({file}:{location.line}{function})"


def _string(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _name(text: str) -> str:
    return text if _WORD.fullmatch(text) else _string(text)


def _type_of(array: np.ndarray[Any, Any]) -> TensorType:
    return TensorType(array.shape, array.dtype)


def _literal(array: np.ndarray[Any, Any]) -> str:
    type = _type_of(array)
    if array.dtype.kind == "O":
        return f"{type}({_nested(array)})"
    if array.size <= _LIST_LIMIT:
        nested = _nested(array)
        if np.array(_numbers(array), array.dtype).tobytes() == array.tobytes():
            return f"{type}({nested})"
    packed = base64.b64encode(zlib.compress(array.tobytes())).decode("ascii")
    return f'{type}(zlib "{packed}")'


def _numbers(array: np.ndarray[Any, Any]) -> list[bool | int | float | complex]:
    """Returns the elements as the parser reads them from :func:`_element`'s text, in C order."""
    kind = array.dtype.kind
    if kind == "c":
        return [complex(float(str(item.real)), float(str(item.imag))) for item in array.ravel()]
    if kind in "biu":
        return array.ravel().tolist()
    return [float(_element(item)) for item in array.ravel()]


def _nested(array: Any) -> str:
    """Returns nested lists of elements."""
    if isinstance(array, bytes):
        return _element(array)
    return f"[{', '.join(map(_nested, array))}]" if array.ndim else _element(array[()])


def _element(item: Any) -> str:
    """Returns the shortest text that reproduces an element, a NumPy scalar, in its own precision."""
    if isinstance(item, bytes):
        text = item.decode("utf-8", "surrogateescape")
        # Characters that UTF-8 cannot encode are escaped, so that the text can be written to a file.
        return json.dumps(text, ensure_ascii=not text.isprintable())
    kind = item.dtype.kind
    if kind == "c":
        return f"complex({item.real}, {item.imag})"
    # The small types of ml_dtypes have kind V; float64 holds all of them.
    return str(item if kind in "biuf" else np.float64(item))
