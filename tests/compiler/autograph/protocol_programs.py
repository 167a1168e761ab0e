"""Writes random programs about what Python asks an object for: texts, truth, numbers, items, attributes, comparisons.

Each has a class, of a random base, with random special methods, some written in Python and some in C, a property or a
descriptor, and a change of the class or the object between two calls. Eager code is plain Python; compiled code must
give the same, or be refused.
"""

from __future__ import annotations

import linecache
import random
import re
import warnings
from typing import Any

import graphc as gx
from graphc.compiler.base.errors import GraphcError, SideEffectWarning

__all__ = ["check_program", "program"]

BASES = {
    "object": "",
    "int": "3",
    "float": "2.5",
    "str": '"ab"',
    "list": "[1, 2]",
    "tuple": "(1, 2)",
    "dict": 'dict(a=1, z="z")',
    "ValueError": '"why", 2',
    "enum.IntEnum": "1",
    "enum.StrEnum": '"low"',
    "enum.IntFlag": "1",
    "enum.Enum": "2",
}
ENUMS = ("enum.IntEnum", "enum.StrEnum", "enum.IntFlag", "enum.Enum")
# By the name of a method its parameters, and what it may give.
PYTHON: dict[str, tuple[str, tuple[str, ...]]] = {
    "__str__": ("", ('"s"', 'f"<{self.z}>"', "5", "repr(self.z)")),
    "__repr__": ("", ('"r"', 'f"[{self.z!r}]"', '"é"')),
    "__format__": (", spec", ('"f" + spec', 'format(self.z, "")', "spec")),
    "__bool__": ("", ("False", "True", "self.z > 1", "1")),
    "__len__": ("", ("0", "2", "int(self.z)", "-1")),
    "__int__": ("", ("7", "int(self.z)", "True", "1.0")),
    "__float__": ("", ("1.5", "float(self.z)", "1")),
    "__index__": ("", ("1", "int(self.z)", "True", "2.0")),
    "__complex__": ("", ("2j", "complex(self.z)")),
    "__trunc__": ("", ("4",)),
    "__round__": (", digits=None", ("5", "digits")),
    "__abs__": ("", ("6", "self.z")),
    "__floor__": ("", ("8",)),
    "__neg__": ("", ("self.z", "0")),
    "__contains__": (", item", ("True", "item == 1", "0", '"x"')),
    "__iter__": ("", ("iter([1, 3])", "iter([self.z])", "[1]")),
    "__getitem__": (", place", ("[4, 5][place]", "(self.z,)[place]")),
    "__reversed__": ("", ("iter([9])", "[9]")),
    "__eq__": (", other", ("True", "other == 1", "NotImplemented", "0")),
    "__hash__": ("", ("3",)),
    "__lt__": (", other", ("True", "other > 0", "NotImplemented")),
    "__add__": (", other", ("self.z + other", "NotImplemented", '"sum"')),
    "__radd__": (", other", ("other", "NotImplemented")),
    "__getattr__": (", name", ("name", "len(name)")),
    "__call__": ("", ("self.z",)),
}
NATIVE = {
    "__str__": (
        "int.__repr__",
        "str.__str__",
        "object.__str__",
        "object.__repr__",
        "str.upper",
        "BaseException.__str__",
    ),
    "__repr__": ("int.__repr__", "str.__repr__", "float.__repr__", "object.__repr__", "str.lower"),
    "__format__": ("int.__format__", "str.__format__", "object.__format__"),
    "__bool__": ("int.__bool__", "float.__bool__"),
    "__len__": ("str.__len__", "list.__len__", "dict.__len__", "int.__int__"),
    "__int__": ("int.__int__", "float.__int__", "len"),
    "__float__": ("float.__float__", "int.__float__"),
    "__index__": ("int.__index__", "int.__neg__"),
    "__contains__": ("list.__contains__", "str.__contains__", "tuple.__contains__", "dict.__contains__", "None"),
    "__iter__": ("list.__iter__", "tuple.__iter__", "str.__iter__", "dict.__iter__", "None"),
    "__getitem__": ("list.__getitem__", "dict.__getitem__", "dict.get", "str.__getitem__"),
    "__eq__": ("int.__eq__", "object.__eq__", "str.__eq__"),
    "__hash__": ("object.__hash__", "int.__hash__", "None"),
    "__getattr__": ("dict.__getitem__", "dict.get"),
    "__setattr__": ("dict.__setitem__", "object.__setattr__"),
}
ATTRIBUTES = (
    "p = property(operator.attrgetter('z'))",
    "p = property(lambda self: self.z + 1)",
    "p = property(len)",
    "p = property(type)",
    "p = Twice()",
    "p = Unseen()",
    "p = str.upper",
    "p = dict.get",
    "p = staticmethod(len)",
    "p = classmethod(lambda cls: cls.w)",
    "p = functools.partialmethod(getattr, 'z')",
    "p = 4",
)
USES = (
    *("str(o)", "repr(o)", "ascii(o)", "f'{o}'", "f'{o!r:>9}'", "f'{o:>9}'", "format(o)", "format(o, '')", "f'{o!s}'"),
    *("'%s|%r|%a' % (o, o, o)", "'%d' % o", "'%x' % (o,)", "'%5.1f' % (o,)", "'%(k)d %(k)s' % {'k': o}"),
    *("'{}|{!r:>9}|{!a}'.format(o, o, o)", "'{:d}'.format(o)", "'{0.z}'.format(o)", "'{k}'.format_map({'k': o})"),
    *("'{:{}}'.format(o, 6)", "str([o])", "f'{(o, 1)}'", "str({'k': o})", "str(ValueError(o))", "'-'.join([str(o)])"),
    *("bool(o)", "not o", "1 if o else 2", "bool(o and 1)", "any([o])", "all((o, 1))", "len(o)", "int(o)", "float(o)"),
    *("complex(o)", "operator.index(o)", "round(o)", "round(o, 1)", "abs(o)", "math.floor(o)", "math.trunc(o)", "-o"),
    *(
        "math.sqrt(o)",
        "math.hypot(o, 1)",
        "1 in o",
        "'a' in o",
        "5 not in o",
        "o in [o]",
        "o in (1, 2)",
        "[1].count(o)",
    ),
    *("list(o)", "tuple(o)", "sorted(o)", "max(o)", "sum(o)", "[e for e in o]", "next(iter(o))", "list(reversed(o))"),
    *("o[0]", "o['a']", "hash(o)", "o == 1", "o != o", "o < 2", "1 > o", "o + 1", "1 + o", "divmod(o, 2)", "{o: 1}[o]"),
    *("isinstance(o, int)", "o.p", "o.p()", "o.p(o)", "getattr(o, 'w', 5)", "hasattr(o, 'v')", "o.v", "range(o)"),
    *("[1, 2, 3][o]", "callable(o)", "o()", "max(o, 2)", "operator.contains(o, 1)", "operator.truth(o)", "bytes(o)"),
)
OF_TENSORS = ("str(m)", "f'{m}'", "'%s' % m", "bool(m)", "1 if m else 2", "int(m)", "float(m)", "len(m)", "m.p", "-m")
CHANGES = (
    "o.z = 5",
    "K.w = 6",
    "K.p = property(operator.attrgetter('y'))",
    "K.p = str.title",
    "K.p = 8",
    "Twice.__get__ = lambda self, o, kind: 11",
    "K.__str__ = lambda self: 'new'",
    "K.__repr__ = lambda self: 'other'",
    "K.__str__ = object.__str__",
    "K.__bool__ = lambda self: False",
    "K.__int__ = lambda self: 12",
    "K.__contains__ = lambda self, item: False",
    "K.__format__ = lambda self, spec: 'm'",
    "K.v = 1",
)
HEADER = """
class Twice:
    def __get__(self, o, kind):
        return o.z * 2

exec("class Unseen:\\n    def __get__(self, o, kind):\\n        return o.z * 2\\n")
"""


def program(number: int) -> tuple[str, str]:
    """Returns the text of a program, and of a statement that changes what it reads."""
    draw = random.Random(number)
    base = draw.choice(list(BASES))
    lines = [] if base in ENUMS else ["w = 3"]
    for name in draw.sample(list({**PYTHON, **NATIVE}), draw.randint(0, 4)):
        if name in NATIVE and (name not in PYTHON or draw.random() < 0.3):
            lines.append(f"{name} = {draw.choice(NATIVE[name])}")
        else:
            parameters, results = PYTHON[name]
            lines += [f"def {name}(self{parameters}):", f"    return {draw.choice(results)}"]
    lines.append("z = property(lambda self: 2)" if base in ENUMS else draw.choice(ATTRIBUTES))
    if base in ENUMS:
        lines.append(f"A = {BASES[base]}")
    head, made = (f"class K({base}):", "K.A" if base in ENUMS else f"K({BASES[base]})")
    uses = draw.sample(USES, 3) + ([draw.choice(OF_TENSORS)] if base not in ENUMS and draw.random() < 0.3 else [])
    body = (
        [f"m = K({BASES[base]})", "m.z = x"]
        if any("(m" in use or " m" in use or "{m" in use or "m." in use or use == "-m" for use in uses[3:])
        else []
    )
    for use in uses:
        body += [
            "try:",
            f"    r = {use}",
            f"except {draw.choice(('Exception', 'TypeError', '(TypeError, ValueError)'))}:",
        ]
        body += ["    r = 'failed'", "found.append(r)"]
        if draw.random() < 0.2:
            body += ["if x > 1:", "    found.append(x + 1)", "else:", "    found.append(x)"]
    text = "\n".join(
        [HEADER, head, *(f"    {line}" for line in lines), "", f"o = {made}"]
        + ([] if base in ENUMS else ["o.z, o.y = 2, 7"])
        + ["", "def program(x):", "    found = []", *(f"    {line}" for line in body), "    return found"]
    )
    return text + "\n", draw.choice([change for change in CHANGES if base not in ENUMS or change.startswith("K.__")])


def check_program(number: int) -> str:
    """Runs a program eagerly and compiled, before and after the change; returns ``"same"`` or ``"refused"``.

    Raises:
      AssertionError: they differ.
    """
    text, change = program(number)
    file = f"<protocols {number}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    imports = "import enum, functools, math, operator"
    namespace: dict[str, Any] = {"__name__": "protocols"}
    try:
        exec(imports, namespace)
        exec(compile(text, file, "exec"), namespace)
    except Exception:  # such as a __setattr__ that refuses; nothing to compare
        return "refused"
    fn, told = namespace["program"], False
    compiled = gx.function(fn, on_retrace="ignore")
    for step in ("before", change):
        if step is change:
            try:
                exec(change, namespace)
            except Exception:
                return "same"
        for x in (1.0, 3.0):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                expected, wanted = _outcome(fn, x)
                found, given = _outcome(compiled, x)
            told = told or any(issubclass(one.category, SideEffectWarning) for one in caught)
            if isinstance(given, GraphcError):
                return "refused"
            if step is change and told:  # the user was told that it would not be seen
                return "same"
            if type(wanted) is not type(given) or not _same(expected, found):
                raise AssertionError(
                    f"program {number}, {step}, x = {x}\n{text}\neager    {expected!r} {wanted!r}\n"
                    f"compiled {found!r} {given!r}"
                )
    return "same"


_ADDRESS = re.compile(" at 0x[0-9a-f]+")


def _outcome(fn: Any, x: float) -> tuple[Any, Exception | None]:
    try:
        return fn(gx.asarray(x)), None
    except Exception as error:
        return None, error


def _same(eager: Any, compiled: Any) -> bool:
    if isinstance(eager, gx.Tensor) or isinstance(compiled, gx.Tensor):  # which a number that depends on one becomes
        values = [value.item() if isinstance(value, gx.Tensor) else value for value in (eager, compiled)]
        return isinstance(values[1], int | float | complex) and abs(values[0] - values[1]) < 1e-5
    if type(eager) is not type(compiled):
        return False
    if type(eager) in (list, tuple):
        return len(eager) == len(compiled) and all(map(_same, eager, compiled))
    if type(eager) is str:
        return _ADDRESS.sub("", eager) == _ADDRESS.sub("", compiled)
    if type(eager) in (int, bool, float, complex, str, bytes, range, type(None)):
        return eager == compiled or eager != eager
    return True  # an object of a class of the program's, whose == is its own
