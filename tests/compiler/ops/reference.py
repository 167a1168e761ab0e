"""Writes the pages of ``docs/reference/api/functions`` from the op table: ``python -m tests.compiler.ops.reference``.

What a row says, and what is found by asking: which dtypes a tensor may have and which the result has, by inference on
the row's example; who else has a function of this name, by looking.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import scipy.special

import graphc as gx
from graphc.compiler.ir import OPS
from graphc.compiler.ops.signature import RowSignature
from graphc.compiler.ops.table import Row
from tests.compiler.ops.calls import ALL_ROWS
from tests.compiler.ops.docstrings import Docstring
from tests.compiler.ops.dtype_rules import DtypeRules
from tests.compiler.ops.standard import ARRAY_API

__all__ = ["FOLDER", "PAGES", "Entry", "Page", "entries", "index", "page"]

FOLDER = Path(__file__).parents[3] / "docs" / "reference" / "api" / "functions"
_NAMES = {name: row for row in ALL_ROWS.values() for name in (row.name, *(row.namespace + a for a in row.aliases))}


@dataclass(frozen=True)
class Page:
    """A page of the reference.

    Attributes:
      file: its name.
      title: what it is about.
      modules: the modules of ``graphc.compiler.ops`` whose functions it has, in order.
      prefix: what stands before its functions' names.
      intro: what is said first.
    """

    file: str
    title: str
    modules: tuple[str, ...]
    prefix: str = "gx."
    intro: str = ""


_DRAWS = """\
These functions draw from one generator, whose state is a Variable: `gx.random.seed(n)` starts it again. A compiled
function draws fresh numbers at every call and in every iteration of a loop, and the same ones as eager code from the
same seed. Each is a method of `gx.random.Generator` too, which has a state of its own;
`gx.random.get_global_generator()` is the one that the functions draw from.

::: graphc.compiler.ops.generator.Generator
    options: {heading_level: 2, inherited_members: false}
"""

_STRINGS = """\
Tensors of strings are values on the host: these functions compute at once, also where a function is traced, and what
they are given must be known then. Among the array functions those that rearrange, join, choose, compare and sort take
tensors of strings too.

::: graphc.compiler.ops.strings.numbers.Vocabulary
    options: {heading_level: 2}
"""

_LAX = """\
The functions of `jax.lax` by the same names, with the same arguments and the same strict rules: tensors must agree in
dtype, and in their number of axes unless one is a scalar. `GatherDimensionNumbers`, `ScatterDimensionNumbers`,
`GatherScatterMode`, `Precision` and `RoundingMethod` are JAX's. A name of `jax.lax` that is missing raises an
`AttributeError` that says how `gx.call_jax` calls it.

::: graphc.library.lax
    options: {heading_level: 2, members: [cond, switch, while_loop, fori_loop, scan, map]}
"""

PAGES = (
    Page("creation", "Creation functions", ("conversion", "creation", "building")),
    Page("elementwise", "Element-wise functions", ("elementwise",)),
    Page("statistical", "Statistics and polynomials", ("statistical", "histograms")),
    Page("manipulation", "Manipulation functions", ("manipulation", "facts")),
    Page("searching", "Searching, sorting, sets and indexing", ("searching", "choosing", "indexing")),
    Page("linear_algebra", "Linear algebra and convolution", ("linear_algebra",)),
    Page("dtypes", "Dtypes and constants", ("dtypes", "constants")),
    Page("nn", "Neural networks: gx.nn", ("nn.functions",), "gx.nn."),
    Page("linalg", "Linear algebra: gx.linalg", ("linalg",), "gx.linalg."),
    Page("fft", "Fourier transforms: gx.fft", ("fft",), "gx.fft."),
    Page("special", "Special functions: gx.special", ("special",), "gx.special."),
    Page(
        "lax",
        "JAX's own operations: gx.lax",
        tuple(f"lax.{module}" for module in ("elementwise", "arrays", "sorting")),
        "gx.lax.",
        _LAX,
    ),
    Page(
        "strings",
        "Strings: gx.strings",
        tuple(f"strings.{module}" for module in ("texts", "numbers", "lines", "raw")),
        "gx.strings.",
        _STRINGS,
    ),
    Page("random", "Random numbers: gx.random", ("random",), "gx.random.", _DRAWS),
)

_INDEX = """\
# Functions

Every array function, by theme. The pages are made from the op table itself and from the examples that the tests hold
each function to, so they say what is there.

- **From** names who defines the function: the [Python array API standard
  2024.12](https://data-apis.org/array-api/2024.12/), else NumPy, SciPy, JAX or TensorFlow, whose function of this name
  it follows; *graphc* where none of them has it.
- **Gradient** is *yes* where gradients flow, in both modes and to any order. *None* is what a tape gives for an input
  through a function that has none (comparisons, positions, integers); `-` stands where no tensor comes out. Integer and
  boolean inputs have none anywhere.
- **Dtypes** are given for each tensor as bool, int, float and complex; float8, bfloat16, float16 and float64 go with
  float32, the other integers with int32. Tensors of several dtypes are promoted together as in JAX.
- **size=** marks results whose shape depends on values: eager code finds them, and compiled code takes the shape from
  `size=`. *eager* marks the few that compiled code refuses for this reason.

*A tensor or array-like* means a `gx.Tensor`, a Variable, a NumPy or JAX array, a
number, or a nested list of numbers. What is *static* is a Python value, known while a function is traced. Shapes,
dtypes and attributes that do not fit raise `gx.errors.InvalidArgumentError`, what is no tensor
`gx.errors.InvalidTypeError`, in both modes and with the line of the call.
"""

# What the functions written by hand have no row to say: whether gradients flow, "-" where no tensor comes out.
_GRADIENT = {
    **dict.fromkeys(
        (
            *("asarray", "clip", "get_item", "update_item", "array", "block", "apply_along_axis", "apply_over_axes"),
            *("fromfunction", "compress", "extract", "piecewise", "select", "trim_zeros", "histogram_bin_edges"),
            *("random.normal", "lax.sort"),
        ),
        "yes",
    ),
    **dict.fromkeys(("from_dlpack", "mask_indices", "histogram", "histogram2d", "histogramdd"), "None"),
    **dict.fromkeys(
        (f"strings.{name}" for name in ("decode_raw", "length", "lookup", "regex_full_match", "to_number")), "None"
    ),
    **dict.fromkeys(
        (
            *(
                "einsum_path",
                "broadcast_shapes",
                "iscomplexobj",
                "isrealobj",
                "isscalar",
                "ndim",
                "shape",
                "shape_tensor",
                "size",
            ),
            *("can_cast", "finfo", "iinfo", "isdtype", "issubdtype", "promote_types", "result_type", "random.seed"),
            "random.get_global_generator",
            *(f"strings.{name}" for name in ("as_string", "decode_csv", "format", "join", "lower", "reduce_join")),
            *(f"strings.{name}" for name in ("regex_replace", "split", "strip", "substr", "upper")),
        ),
        "-",
    ),
}
_EAGER = ("compress", "extract", "trim_zeros")
_TENSORFLOW = (
    *("nn.conv1d", "nn.conv2d", "nn.conv3d", "nn.conv1d_transpose", "nn.conv2d_transpose", "nn.conv3d_transpose"),
    *(f"strings.{name}" for name in ("as_string", "format", "join", "length", "lower", "reduce_join", "split")),
    *(f"strings.{name}" for name in ("regex_full_match", "regex_replace", "strip", "substr", "upper")),
    "strings.to_number",
    *("nn.depthwise_conv2d", "nn.max_pool", "nn.avg_pool", "nn.moments", "nn.embedding_lookup"),
)


@dataclass(frozen=True)
class Entry:
    """A function as the reference shows it.

    Attributes:
      name: its name behind ``gx.``.
      aliases: its other names.
      function: the public function.
      row: the row it is made from; None for one written by hand.
    """

    name: str
    aliases: tuple[str, ...]
    function: Callable[..., Any]
    row: Row | None

    @property
    def anchor(self) -> str:
        """Its heading's name in a link."""
        return f"gx.{self.name}".replace(".", "").lower()

    @property
    def doc(self) -> Docstring:
        """What its docstring says."""
        return Docstring.parse(inspect.getdoc(self.function) or "")

    @property
    def gradient(self) -> str:
        """``yes``, ``None`` or ``-``."""
        if self.row is not None:
            signature = RowSignature.parse(self.row.signature)
            return "yes" if self.row.differentiable and (signature.tensors or signature.optional) else "None"
        if self.name in _GRADIENT:
            return _GRADIENT[self.name]
        # Of gx.random: gradients flow to what parameters there are, the key is none.
        op = OPS[self.name.replace("integers", "randint")]
        return "yes" if op.differentiable and len(op.params) > 1 else "None"

    @property
    def by_values(self) -> str:
        """How the shape of the result depends on values; empty where it does not."""
        if self.row is not None and self.row.by_value is not None:
            return "size="
        return "eager" if self.name in _EAGER else ""

    @property
    def sources(self) -> list[str]:
        """Who else has this function, the one that defines it first."""
        namespace, _, short = self.name.rpartition(".")
        jax_places = [(jnp, "jax.numpy"), (jax.lax, "jax.lax")]
        places: dict[str, list[tuple[Any, str]]] = {
            "": [(np, "numpy"), *(jax_places if hasattr(np, short) else reversed(jax_places))],
            "linalg": [(np.linalg, "numpy.linalg"), (jnp.linalg, "jax.numpy.linalg")],
            "fft": [(np.fft, "numpy.fft"), (jnp.fft, "jax.numpy.fft")],
            "special": [(scipy.special, "scipy.special"), (jax.scipy.special, "jax.scipy.special")],
            "nn": [(jax.nn, "jax.nn")],
            "lax": [(jax.lax, "jax.lax")],
            "strings": [],
            "random": [(jax.random, "jax.random"), (np.random.Generator, "numpy.random.Generator")],
        }
        found = ["array API"] if self.name in ARRAY_API else []
        libraries: dict[str, str] = {}
        for module, path in places[namespace]:
            if hasattr(module, short):
                libraries.setdefault(path.split(".")[0], f"{path}.{short}")
        found += libraries.values()
        return [*found, f"tf.{self.name}"] if self.name in _TENSORFLOW else found

    @property
    def origin(self) -> str:
        """Who defines it, in a word."""
        words = {"array API": "array API", "numpy": "NumPy", "jax": "JAX", "scipy": "SciPy", "tf": "TensorFlow"}
        return words[self.sources[0].split(".")[0]] if self.sources else "graphc"


def entries(page: Page) -> list[Entry]:
    """The functions of a page, those of a module together, by name."""
    return [entry for module in page.modules for entry in _of_module(module, page.prefix.removeprefix("gx."))]


def _of_module(module: str, prefix: str) -> list[Entry]:
    path = __import__(f"graphc.compiler.ops.{module}", fromlist=["__all__"])
    found: dict[str, Entry] = {}
    for name in sorted(path.__all__, key=str.lower):
        row = _NAMES.get(prefix + name)
        function = getattr(path, name)
        if row is not None:
            aliases = tuple(row.namespace + alias for alias in row.aliases)
            found[row.name] = Entry(row.name, aliases, function, row)
        elif inspect.isroutine(function):
            found[prefix + name] = Entry(prefix + name, (), function, None)
    return sorted(found.values(), key=lambda entry: entry.name.lower())


def index() -> str:
    """The page that lists all functions."""
    tables = [
        f"\n## [{shown.title}]({shown.file}.md)\n\n" + _table(entries(shown), f"{shown.file}.md") for shown in PAGES
    ]
    return "".join([_INDEX, *tables])


def page(shown: Page) -> str:
    """A whole page."""
    found = entries(shown)
    parts = [f"# {shown.title}\n\n", f"{shown.intro}\n" if shown.intro else "", _table(found, "")]
    if "dtypes" in shown.modules:
        parts.append(_dtypes_and_constants())
    return "".join([*parts, *map(_section, found)])


def _table(found: list[Entry], file: str) -> str:
    head = "| function | what it gives | from | gradient | shape by values |\n|---|---|---|---|---|\n"
    return head + "".join(
        f"| [`gx.{entry.name}`]({file}#{entry.anchor}) | {_in_code_style(entry.doc.summary)} | {entry.origin} "
        f"| {entry.gradient} | {entry.by_values} |\n"
        for entry in found
    )


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace(" * ", " \\* ").replace("**", "\\*\\*")


def _section(entry: Entry) -> str:
    doc = entry.doc
    parts = [f"\n## gx.{entry.name}\n\n```py\n{_signature(entry)}\n```\n\n{_in_code_style(doc.summary)}\n"]
    if doc.body:
        parts.append(f"\n{_in_code_style(doc.body)}\n")
    rules = DtypeRules.of(entry.row) if entry.row is not None else DtypeRules({}, "")
    if doc.parameters:
        parts.append("\n")
        for name, text in doc.parameters.items():
            kinds = rules.parameters.get(name.lstrip("*"), "")
            parts.append(f"- `{name}`: {_in_code_style(text)}{kinds and f' {kinds}'}\n")
    if doc.returns:
        parts.append(f"\n*Returns:* {_in_code_style(doc.returns)}\n")
    facts = [
        f"*From:* {', '.join(_source(name) for name in entry.sources) or 'graphc'}",
        f"*gradient:* {entry.gradient}",
    ]
    if entry.aliases:
        facts.append("*also:* " + ", ".join(f"`gx.{alias}`" for alias in entry.aliases))
    if rules.result:
        facts.append(f"*dtype of the result:* {rules.result}")
    if entry.by_values:
        how = "given by `size=` in compiled code" if entry.by_values == "size=" else "refused in compiled code"
        facts.append(f"*shape of the result:* depends on values, {how}")
    parts.append("\n" + "; ".join(facts) + ".\n")
    if doc.example:
        parts.append(f"\n```pycon\n{doc.example}\n```\n")
    return "".join(parts)


def _source(name: str) -> str:
    return "array API 2024.12" if name == "array API" else f"`{name}`"


def _in_code_style(text: str) -> str:
    return _cell(text.replace("``", "`"))


def _signature(entry: Entry) -> str:
    """The call as the formatter writes it, without annotations, which the parameters' words say better."""
    signature = inspect.signature(entry.function)
    plain = [item.replace(annotation=inspect.Parameter.empty) for item in signature.parameters.values()]
    text = str(signature.replace(parameters=plain, return_annotation=inspect.Signature.empty))
    call = f"gx.{entry.name}{text}".replace("'", '"')
    if len(call) <= 120:
        return call
    if len(text) <= 118:  # between the parentheses, indented
        return f"gx.{entry.name}(\n    {call.removeprefix(f'gx.{entry.name}(')[:-1]}\n)"
    lines: list[str] = []
    keyword_only = False
    for item in plain:
        if item.kind is item.KEYWORD_ONLY and not keyword_only:
            keyword_only = True
            if not any(other.kind is other.VAR_POSITIONAL for other in plain):
                lines.append("    *,")
        lines.append(f"    {item},".replace("'", '"'))
    return "\n".join([f"gx.{entry.name}(", *lines, ")"])


def _dtypes_and_constants() -> str:
    """The names of these pages that are no functions."""
    names = sorted(name for name in gx.functions.__all__ if isinstance(getattr(gx, name), gx.functions.DTypeName))
    listed = ", ".join(f"`gx.{name}`" for name in names)
    constants = "".join(f"| `gx.{name}` | {getattr(gx, name)} |\n" for name in sorted(gx.functions.constants.__all__))
    return (
        "\n## Dtypes by name\n\nEach is equal to the NumPy dtype, may stand wherever a dtype is asked for, and "
        f"converts when it is called: `gx.float16(x)`.\n\n{listed}.\n\n64-bit dtypes are those that JAX has when its "
        "`jax_enable_x64` is on; without it they become 32-bit ones.\n\n## Constants\n\n"
        f"| name | value |\n|---|---|\n{constants}"
    )


def main() -> None:
    """Writes every page."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / "index.md").write_text(index(), encoding="utf-8")
    for shown in PAGES:
        (FOLDER / f"{shown.file}.md").write_text(page(shown), encoding="utf-8")


if __name__ == "__main__":
    main()
