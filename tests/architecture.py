"""The rules of the layers, as a checker of a source tree; ``test_architecture.py`` runs it and tests it.

It reads the files and imports none of them, so it also sees imports inside functions and under ``TYPE_CHECKING``.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

FACE = "graphc"

# The neighbourhoods of graphc/, and the others of which each may import what they export.
NEIGHBOURHOODS: Mapping[str, frozenset[str]] = {
    "compiler": frozenset(),
    "library": frozenset({"compiler"}),
    "graphs": frozenset({"compiler", "library"}),
    "training": frozenset({"compiler", "library", "graphs"}),
    "saving": frozenset({"compiler", "library", "training"}),
    "serve": frozenset({"compiler", "library", "saving"}),
    "tools": frozenset({"compiler", "library", "saving"}),
    "cluster": frozenset({"compiler", "library", "graphs", "training"}),
    "compat": frozenset({"compiler", "library", "graphs", "training", "saving", "cluster", "tools"}),
    "cli": frozenset({"compiler", "library", "graphs", "training", "saving", "serve", "cluster", "compat", "tools"}),
    "__main__": frozenset({"cli"}),
}

# The parts of neighbourhoods that have parts, from the bottom up; a part imports only from rows above its own.
PARTS: Mapping[str, tuple[str, ...]] = {
    "compiler": (
        "base", "ir", "devices", "core", "tracing", "ops", "lowering", "autograph gradients runtime", "function",
    ),
    "library": ("arrays checks flow formats lax nest states", "composites"),
    "graphs": ("refusals", "queues", "session"),
    "training": ("data layers losses metrics optim", "distribute", "train"),
    "tools": ("drawing", "debug inspect placement"),
}  # fmt: skip
LAYERS: Mapping[str, int] = {
    f"{neighbourhood}.{part}": layer
    for neighbourhood, rows in PARTS.items()
    for layer, row in enumerate(rows)
    for part in row.split()
}

# The order inside parts that need one, in rows: a folder (or file) imports only from its own row and those before it.
# Values and constructs are one row, since they need each other: a conditional joins choices, and a choice is used by a
# conditional. Such an import stands inside a function, as eager ones would be a cycle.
INNER_LAYERS: Mapping[str, tuple[str, ...]] = {
    "compiler.autograph": ("frontend", "values constructs", "builtins", "operators", "functional"),
    "compiler.autograph.constructs": (
        "overrides",
        "exceptions",
        "storage",
        "purity",
        "calls",
        "branches",
        "expressions",
        "host",
        "loops",
        "with_statement",
        "numerics",
        "matching",
    ),
}

# Outside these parts only a few files know whether a function is traced; the others ask graphc.compiler.tracing.
PARTS_OF_BOTH_MODES = frozenset({"compiler.core", "compiler.tracing", "compiler.autograph"})
FILES_OF_BOTH_MODES = frozenset(
    {
        "graphc.compiler.function.function",
        "graphc.compiler.gradients.tape",
        "graphc.compiler.ops.order",
        "graphc.graphs.session.graphs.graph",
    }
)

# The demonstration is a user's program that comes with the package: it, and no other part, imports the public face.
USERS_PROGRAM = "graphc.cli.demo"

# These parts work without JAX, and so without what is built on it.
WITHOUT_JAX = frozenset({"compiler.base", "compiler.ir", "tools.drawing"})
JAX_FAMILY = frozenset({"jax", "jaxlib", "optax", "flax", "equinox", "orbax"})

# What JAX itself excludes from its promise of compatibility although no underscore says so.
NOT_PUBLIC = ("jax.core", "jax.interpreters", "jax.lib", "jax.extend", "jaxlib")
PUBLIC_AFTER_ALL = frozenset({"jax.core.Tracer"})

_DOTTED_PRIVATE = re.compile(r"(jax|jaxlib)(\.\w+)*\._\w+(\.\w+)*")


@dataclass(frozen=True)
class Import:
    """One imported name: ``module`` is imported, or ``name`` from it.

    Attributes:
      eager: it runs when the file is imported, neither inside a function nor under ``TYPE_CHECKING``.
    """

    module: str
    name: str | None
    bound: str
    line: int
    eager: bool


@dataclass(frozen=True)
class Module:
    """One source file."""

    name: str
    path: Path
    text: str
    tree: ast.Module
    imports: tuple[Import, ...]

    @property
    def is_package(self) -> bool:
        return self.path.name == "__init__.py"

    @property
    def part(self) -> str:
        """The folder or file of graphc/ that it belongs to; empty for ``graphc/__init__.py`` itself."""
        return _part(self.name)

    @functools.cached_property
    def exported(self) -> frozenset[str] | None:
        """The names in a written-out ``__all__``, also where ``__all__`` is a sum; None if there is no ``__all__``."""
        statements = [node for node in self.tree.body if "__all__" in _assigned(node)]
        if not statements:
            return None
        constants = (node.value for stmt in statements for node in ast.walk(stmt) if isinstance(node, ast.Constant))
        return frozenset(text for text in constants if isinstance(text, str))


# The classes of values whose value is not known while a function is traced, and the functions that ask for one of them.
SYMBOLIC_KINDS = frozenset({"Choice", "Deferred", "Growing", "LoopIndex", "SymbolicNumber", "Text", "Unbound"})
ASKING_KINDS = frozenset({"growing"})


def kind_checks(autograph: Path) -> list[str]:
    """Returns each place that asks which kind of symbolic value it is given, as ``file:line``.

    What is to be done with a kind is a method of its class in ``autograph/values``, which others call by the functions
    of ``values/protocol.py``; a place that asks for a kind has to know all of them.
    """
    found: list[str] = []
    for path in sorted(autograph.rglob("*.py")):
        name = path.relative_to(autograph).as_posix()
        lines = sorted(map(_kind_check, ast.walk(ast.parse(path.read_text()))))
        found += [f"{name}:{line}" for line in lines if line]
    return found


def _kind_check(node: ast.AST) -> int:
    """Returns the line of a node that asks for a kind; 0 for other nodes."""
    if isinstance(node, ast.Compare):
        asks = any(map(_names_kind, node.comparators))
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        tests_class = node.func.id == "isinstance" and len(node.args) == 2 and _names_kind(node.args[1])
        asks = tests_class or node.func.id in ASKING_KINDS
    else:
        return 0
    return node.lineno if asks else 0


def _names_kind(node: ast.AST) -> bool:
    return any(isinstance(part, ast.Name) and part.id in SYMBOLIC_KINDS for part in ast.walk(node))


def violations(root: Path) -> list[str]:
    """Every broken rule in the package at ``root`` (the folder ``graphc``), as ``file:line: what is wrong``."""
    modules = read_modules(root)
    found: list[str] = [*_folders_without_init(root)]
    for module in modules.values():
        found += _shape(module)
        found += [f"{_where(module, line)}: {text}, by name" for line, text in _string_rules(module, modules)]
        for item in module.imports:
            found += [f"{_where(module, item.line)}: {text}" for text in _import_rules(module, item, modules)]
        found += [f"{_where(module, line)}: {text}" for line, text in (*_jax_rules(module), *_mode_rules(module))]
    found += _cycles(modules)
    return sorted(set(found))


def read_modules(root: Path) -> dict[str, Module]:
    """The source files under ``root``, by dotted name."""
    modules: dict[str, Module] = {}
    for path in sorted(root.rglob("*.py")):
        parts = [FACE, *path.relative_to(root).with_suffix("").parts]
        is_package = parts[-1] == "__init__"
        name = ".".join(parts[:-1] if is_package else parts)
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text, str(path))
        package = name if is_package else name.rpartition(".")[0]
        imports = tuple(_imports(tree.body, package, True))
        modules[name] = Module(name, path.relative_to(root.parent), text, tree, imports)
    return modules


def _imports(nodes: Iterable[ast.AST], package: str, eager: bool) -> Iterator[Import]:
    for node in nodes:
        if not isinstance(node, ast.stmt | ast.excepthandler | ast.match_case):
            continue  # imports are no part of expressions, which are most of the nodes
        if isinstance(node, ast.Import):
            for alias in node.names:
                bound = alias.asname or alias.name.partition(".")[0]
                yield Import(alias.name, None, bound, node.lineno, eager)
        elif isinstance(node, ast.ImportFrom):
            base = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            for alias in node.names:
                yield Import(module, alias.name, alias.asname or alias.name, node.lineno, eager)
        elif isinstance(node, ast.If) and _is_type_checking(node.test):
            yield from _imports(node.body, package, False)
            yield from _imports(node.orelse, package, eager)
        else:
            is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            yield from _imports(ast.iter_child_nodes(node), package, eager and not is_function)


def _assigned(node: ast.stmt) -> set[str]:
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AnnAssign | ast.AugAssign):
        targets = [node.target]
    else:
        targets = []
    return {target.id for target in targets if isinstance(target, ast.Name)}


def _is_type_checking(test: ast.expr) -> bool:
    return (isinstance(test, ast.Name) and test.id == "TYPE_CHECKING") or (
        isinstance(test, ast.Attribute) and test.attr == "TYPE_CHECKING"
    )


def _part(name: str) -> str:
    """Returns the part of graphc/ that a module belongs to, as ``compiler.ir`` or ``saving``; empty for none."""
    first, second = [*name.split("."), "", ""][1:3]
    return f"{first}.{second}" if first in PARTS and second else "" if first in PARTS else first


def _where(module: Module, line: int) -> str:
    return f"{module.path.as_posix()}:{line}"


def _folders_without_init(root: Path) -> Iterator[str]:
    for folder in sorted({path.parent for path in root.rglob("*.py")}):
        if not (folder / "__init__.py").exists():
            yield f"{folder.relative_to(root.parent).as_posix()}:1: a folder of modules needs an __init__.py"


def _shape(module: Module) -> Iterator[str]:
    if module.part and module.part not in LAYERS and module.part not in NEIGHBOURHOODS:
        yield f"{_where(module, 1)}: {module.part} is no part of graphc/; add it to PARTS or NEIGHBOURHOODS"
    if ast.get_docstring(module.tree) is None:
        yield f"{_where(module, 1)}: a module needs a docstring"
    if module.is_package and module.exported is None:
        yield f"{_where(module, 1)}: a package needs an __all__"


def _targets(item: Import, modules: Mapping[str, Module]) -> list[str]:
    """The graphc module that an import reaches: the submodule, where the imported name is one."""
    if item.name is not None and f"{item.module}.{item.name}" in modules:
        return [f"{item.module}.{item.name}"]
    return [item.module]


def _import_rules(module: Module, item: Import, modules: Mapping[str, Module]) -> Iterator[str]:
    root = item.module.partition(".")[0]
    if root in JAX_FAMILY and module.part in WITHOUT_JAX:
        yield f"{module.part} works without JAX, but imports {item.module}"
    if root != FACE:
        return
    for target in _targets(item, modules):
        part = _part(target)
        if not part:
            if not f"{module.name}.".startswith(f"{USERS_PROGRAM}."):
                yield f"imports {FACE} itself; only users import the public face"
        elif target not in modules:
            yield f"imports {target}, which does not exist"
        elif part != module.part:
            # graphc/__init__.py is no part: it stands above all layers, and keeps only the rule of the doors.
            yield from _layer_rules(module.part, part)
            yield from _door_rules(target, modules)
        else:
            yield from _inner_rules(module.name, target)


def _string_rules(module: Module, modules: Mapping[str, Module]) -> Iterator[tuple[int, str]]:
    """Modules that are named in a string, and so imported where no import statement shows it."""
    if not module.part or f"{FACE}." not in module.text:
        return  # the lazy public face names all others
    nodes = list(ast.walk(module.tree))
    calls = [node for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
    asked = {id(argument) for call in calls if ast.unparse(call.func).endswith(".startswith") for argument in call.args}
    for node in nodes:
        if id(node) not in asked and isinstance(node, ast.Constant) and str(node.value) in modules:
            part = _part(str(node.value))
            same = part == module.part
            broken = _inner_rules(module.name, str(node.value)) if same else _layer_rules(module.part, part)
            yield from ((node.lineno, text) for text in broken if part)


def _inner_rules(importer: str, imported: str) -> Iterator[str]:
    for package, rows in INNER_LAYERS.items():
        order = {name: layer for layer, row in enumerate(rows) for name in row.split()}
        prefix = f"{FACE}.{package}."
        if not all(f"{name}.".startswith(prefix) for name in (importer, imported)):
            continue
        above, below = (f"{name}."[len(prefix) :].partition(".")[0] for name in (importer, imported))
        if above == below or not above:
            continue
        for name in (above, below):
            if name and name not in order:
                yield f"{name} has no place in the order of {package}; give it one in INNER_LAYERS"
        if above in order and below in order and order[below] > order[above]:
            yield f"{above} imports {below}, which is not below it"


def _layer_rules(importer: str, imported: str) -> Iterator[str]:
    above, below = importer.partition(".")[0], imported.partition(".")[0]
    if above not in NEIGHBOURHOODS or below not in NEIGHBOURHOODS:
        return  # a part that does not exist is reported once, where it stands
    if above != below:
        if below not in NEIGHBOURHOODS[above]:
            yield f"{above} imports {imported}, and may not know {below}"
    elif importer in LAYERS and imported in LAYERS and LAYERS[imported] >= LAYERS[importer]:
        yield f"{importer} imports {imported}, which is not below it"


def _door_rules(target: str, modules: Mapping[str, Module]) -> Iterator[str]:
    """A file inside a package may be imported from outside only if the package lists it in ``__all__``."""
    segments = target.split(".")
    for end in range(3, len(segments) + 1):
        package, name = ".".join(segments[: end - 1]), segments[end - 1]
        if package in modules and name not in (modules[package].exported or ()):
            yield f"imports {'.'.join(segments[:end])}, a file inside {package}; import from {package}"
            return


def _mode_rules(module: Module) -> Iterator[tuple[int, str]]:
    """Reads of the trace that is open."""
    known = module.part in PARTS_OF_BOTH_MODES or module.name in FILES_OF_BOTH_MODES
    if known or "trace" not in module.text:
        return
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Attribute) and node.attr == "trace" and ast.unparse(node) == "context.trace":
            yield (
                node.lineno,
                "reads context.trace; apply an op, or ask graphc.compiler.tracing (refuse_in_trace, lifted, ...)",
            )


def _jax_rules(module: Module) -> Iterator[tuple[int, str]]:
    """Reaches into what JAX does not promise to keep: by import, by attribute, or by a dotted name in a string."""
    if "jax" not in module.text:
        return
    names: dict[str, str] = {}
    for item in module.imports:
        if item.module.partition(".")[0] not in {"jax", "jaxlib"}:
            continue
        full = f"{item.module}.{item.name}" if item.name else item.module
        names[item.bound] = full if item.name or item.bound != item.module.partition(".")[0] else item.bound
        if _is_private(full):
            yield item.line, f"{full} is not public JAX"
    nodes = list(ast.walk(module.tree))
    inner = {id(node.value) for node in nodes if isinstance(node, ast.Attribute)}
    for node in nodes:
        if isinstance(node, ast.Attribute) and id(node) not in inner:
            path = _dotted(node, names)
            if path is not None and _is_private(path):
                yield node.lineno, f"{path} is not public JAX"
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and _DOTTED_PRIVATE.fullmatch(node.value):
            yield node.lineno, f"{node.value} is not public JAX"


def _dotted(node: ast.expr, names: Mapping[str, str]) -> str | None:
    if isinstance(node, ast.Name):
        return names.get(node.id)
    if isinstance(node, ast.Attribute):
        value = _dotted(node.value, names)
        return None if value is None else f"{value}.{node.attr}"
    return None


def _is_private(path: str) -> bool:
    segments = path.split(".")
    if any(s.startswith("_") and not (s.startswith("__") and s.endswith("__")) for s in segments):
        return True
    if any(path == name or path.startswith(f"{name}.") for name in PUBLIC_AFTER_ALL):
        return False
    return any(path.startswith(f"{name}.") for name in NOT_PUBLIC) or path in NOT_PUBLIC


def _cycles(modules: Mapping[str, Module]) -> list[str]:
    """Cycles among the imports that run when a file is imported, each reported once, at its first module."""
    edges = {
        name: sorted(
            {target for item in module.imports if item.eager for target in _targets(item, modules) if target in modules}
        )
        for name, module in modules.items()
    }
    first_lines = {name: _where(module, 1) for name, module in modules.items()}
    found: list[str] = []
    done: set[str] = set()

    def visit(name: str, path: list[str]) -> None:
        if name in path:
            cycle = path[path.index(name) :]
            first = cycle.index(min(cycle))
            ring = [*cycle[first:], *cycle[:first], min(cycle)]
            found.append(f"{first_lines[ring[0]]}: import cycle: {' -> '.join(ring)}")
        elif name not in done:
            for target in edges[name]:
                visit(target, [*path, name])
            done.add(name)

    for name in modules:
        visit(name, [])
    return found


# What a neighbourhood may have at most: lines, lines of code, files. Numbers to lower, never to raise without a word of
# what it buys in the commit.
BUDGET: Mapping[str, tuple[int, int, int]] = {
    "graphc": (285, 253, 1),
    "__main__": (8, 4, 1),
    "compiler": (67401, 45666, 286),
    "library": (4804, 2186, 22),
    "graphs": (13311, 8101, 57),
    "training": (20487, 12621, 79),
    "saving": (2711, 1990, 10),
    "serve": (2895, 2013, 13),
    "tools": (4732, 3294, 22),
    "cluster": (6222, 4192, 28),
    "compat": (3606, 2848, 28),
    "cli": (2085, 1562, 13),
}

# How many files of graphc a small program may pass, by the names of benchmarks/walks.py.
WALKS: Mapping[str, int] = {
    "eager a + b, hot": 1,
    "straight line, first call": 60,
    "straight line, hot call": 1,
    "rolled for, first call": 92,
    "rolled for, hot call": 1,
    "session with a queue, first": 48,
    "session with a queue, hot": 21,
    "dataset next, first": 25,
    "dataset next, hot": 6,
    "data-parallel step, first": 84,
    "data-parallel step, hot": 12,
}

# What layers above put code into, each listed in docs/explanation/internals.md, and uses of names that say nothing.
HOOKS, FILLERS = 19, 260
_FILLERS = frozenset(("found", "given", "held", "kept", "known", "made", "place", "places", "said", "told"))


def sizes(modules: Iterable[Module]) -> dict[str, tuple[int, int, int]]:
    """Returns for each neighbourhood its lines, its lines of code and its files."""
    found: dict[str, tuple[int, int, int]] = {}
    for module in modules:
        name = module.name.split(".")[1] if "." in module.name else FACE
        lines, code, files = found.get(name, (0, 0, 0))
        found[name] = (lines + module.text.count("\n"), code + _lines_of_code(module), files + 1)
    return found


def _lines_of_code(module: Module) -> int:
    """Counts the lines with code: neither blank, nor a comment, nor of a docstring."""
    documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    documentation = {
        line
        for node in ast.walk(module.tree)
        if isinstance(node, documented) and ast.get_docstring(node, clean=False) is not None
        for line in range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1)
    }
    lines = enumerate(module.text.splitlines(), 1)
    return sum(bool(text.strip()) and text.strip()[0] != "#" and line not in documentation for line, text in lines)


def hooks(modules: Mapping[str, Module]) -> set[tuple[str, str]]:
    """Returns what modules put code of theirs into, each by its name and file: registries, functions, tables, objects.

    A function is a hook if it is named so, keeps an argument in a global, or dispatches on a class. A collection is one
    if modules that import it fill it, and an object or class if they set attributes of it. ``config`` is none: a
    setting is a value.
    """
    found: set[tuple[str, str]] = set()
    for module in modules.values():
        if module.name.startswith(USERS_PROGRAM):
            continue
        found |= {(name, module.name) for node in module.tree.body for name in _owned_hooks(node)}
        homes = {item.bound: _home(item.name, item.module, modules) for item in module.imports if item.name}
        for name, is_object in map(_filled, ast.walk(module.tree)):
            if name in homes and (is_object or _is_collection(*homes[name], modules)):
                found.add(homes[name])
    files = {module.name: module.path.relative_to(FACE).as_posix() for module in modules.values()}
    return {(name, files[home]) for name, home in found if home in modules and name != "config"}


def _owned_hooks(node: ast.stmt) -> Iterator[str]:
    """Yields the hook that a statement at the top of a module defines, if it does."""
    if isinstance(node, ast.FunctionDef):
        parts = list(ast.walk(node))
        kept = {name for part in parts if isinstance(part, ast.Global) for name in part.names}
        values = [part.value for part in parts if isinstance(part, ast.Assign) and kept & _names(part.targets)]
        keeps = node.name[0] != "_" and _names(values) & {part.arg for part in parts if isinstance(part, ast.arg)}
        if keeps or node.name.startswith("register_") or "singledispatch" in map(ast.unparse, node.decorator_list):
            yield node.name
    elif isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Call):
        yield from _assigned(node) if ast.unparse(node.value).startswith("Registry") else ()


def _names(nodes: Iterable[ast.AST]) -> set[str]:
    return {part.id for node in nodes for part in ast.walk(node) if isinstance(part, ast.Name)}


def _filled(node: ast.AST) -> tuple[str, bool]:
    """Returns the name of what a node adds to, and whether it sets an attribute of it; no name for other nodes."""
    is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _FILLING
    if is_call or (isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store)):
        target = node.func.value if isinstance(node, ast.Call) else node.value
        return (target.id if isinstance(target, ast.Name) else ""), isinstance(node, ast.Attribute)
    return "", False


_FILLING = frozenset(("add", "append", "extend", "insert", "setdefault", "update"))


def _home(name: str, module: str, modules: Mapping[str, Module]) -> tuple[str, str]:
    """Returns the name and the module in which an imported name is defined."""
    imports = modules[module].imports if module in modules and f"{module}.{name}" not in modules else ()
    item = next((item for item in imports if item.bound == name and item.name and item.eager), None)
    return (name, module) if item is None else _home(item.name or name, item.module, modules)


def _is_collection(name: str, module: str, modules: Mapping[str, Module]) -> bool:
    """Returns True if a module defines a name as a dict, list or set."""
    nodes = modules[module].tree.body if module in modules else []
    values = [node.value for node in nodes if isinstance(node, ast.Assign | ast.AnnAssign) and name in _assigned(node)]
    empty = {"dict()", "list()", "set()"}
    return any(isinstance(v, ast.Dict | ast.List | ast.Set) or (v and ast.unparse(v) in empty) for v in values)


# Public names that TensorFlow 1 and gx both have, and a node of a dataset's plan that is named like its method.
TWINS = frozenset({
    "Checkpoint", "Dataset", "ExponentialMovingAverage", "Flatten", "Graph", "Operation", "Optimizer", "Options",
    "Shard", "Unique", "UniqueWithCounts",
})  # fmt: skip


def twins(modules: Iterable[Module]) -> dict[str, list[str]]:
    """Returns the names that classes of several modules have, with the modules; private ones stay in their file."""
    homes: dict[str, list[str]] = {}
    for module in modules:
        for node in module.tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(module.name)
    return {name: names for name, names in homes.items() if len(names) > 1}


def fillers(modules: Iterable[Module]) -> int:
    """Counts the uses of names that say nothing of what they hold."""
    return sum(
        (node.id if isinstance(node, ast.Name) else node.arg) in _FILLERS
        for module in modules
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Name | ast.arg)
    )
