"""Calls that graphc does not look into: told once and refused in branches, but for modules that only compute."""

from __future__ import annotations

import ast
import bisect
import colorsys
import copy
import heapq
import json
import posixpath
import re
import shutil
import statistics
import string
import struct
import textwrap
import threading
import urllib.parse
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

import graphc as gx
from graphc.compiler.base.errors import SideEffectWarning, UnimplementedError
from tests.compiler.autograph.differential import check

_SETTINGS = {"rates": [1, 2]}


class _Record:
    def __init__(self) -> None:
        self.rate, self.rates = 2.0, [1.0, 3.0]


_RECORD = _Record()


def _changed_copy() -> float:
    new = copy.deepcopy(_RECORD)
    new.rate += 1.0
    new.rates.append(1.0)
    return new.rate + len(new.rates) + len(_RECORD.rates) + copy.copy(_RECORD).rate


_PURE: dict[str, Callable[[], float]] = {
    "re.search": lambda: 2.0 if re.search("a+", "baa") else 3.0,
    "re.compile": lambda: float(re.compile(r"(\d+)", re.IGNORECASE).fullmatch("12").group(1)),
    "re.sub": lambda: len(re.sub("a", "bb", "aa")),
    "json": lambda: json.loads(json.dumps(_SETTINGS))["rates"][1],
    "textwrap": lambda: len(textwrap.fill(textwrap.dedent("  a b"), 2)),
    "bisect": lambda: bisect.bisect([1, 2, 3], 2) + bisect.bisect_left([1, 2], 2),
    "heapq": lambda: heapq.nsmallest(1, [2, 1])[0],
    "statistics": lambda: statistics.mean([1, 2]),
    "struct": lambda: len(struct.pack("<f", 1.0)),
    "literals": lambda: ast.literal_eval("[3]")[0],
    "colors": lambda: colorsys.rgb_to_hsv(0.0, 1.0, 0.0)[0],
    "paths": lambda: len(posixpath.join("a", "b")) + len(urllib.parse.quote("a b")),
    "strings": lambda: len("abc".translate(str.maketrans("a", "b"))) + len(string.capwords("a b")),
    "Fraction": lambda: float(Fraction(1, 2) + 1),
    "deepcopy": _changed_copy,
}


@pytest.mark.parametrize("compute", _PURE.values(), ids=_PURE)
def test_what_only_computes_is_allowed(compute: Callable[[], float]) -> None:
    def program(x: Any) -> Any:
        y = x * compute() if x > 0 else x
        while y < 3:
            y = y + compute() + 1
        return y

    for value in (2.0, -2.0):
        check(program, gx.asarray(value))


@pytest.mark.parametrize(
    "compute",
    [
        lambda: len(re.sub("a", lambda found: _SETTINGS.setdefault(found[0], []) or "b", "aa")),
        lambda: len(json.dumps({"a": _RECORD}, default=vars)),
        lambda: bisect.insort([1, 3], 2) or 1.0,
    ],
)
def test_what_calls_code_of_the_users_or_changes_something_is_refused(compute: Callable[[], float]) -> None:
    with pytest.raises(UnimplementedError, match="inside the true branch of an if"):
        gx.function(lambda x: x * compute() if x > 0 else x)(gx.asarray(1.0))


@gx.do_not_convert
def _as_it_is() -> float:
    return 1.0


_OPAQUE: dict[str, Callable[[], Any]] = {
    "shutil.get_terminal_size": lambda: shutil.get_terminal_size().lines,
    "threading.Event": lambda: 1.0 if threading.Event() else 2.0,
    "_as_it_is, which is not converted,": lambda: _as_it_is(),
}


@pytest.mark.parametrize("name", _OPAQUE)
def test_any_other_call_is_told_once_and_refused_in_a_branch(name: str) -> None:
    compute = _OPAQUE[name]
    twice = gx.function(lambda x: x * 0.0 * compute() + compute())
    with pytest.warns(SideEffectWarning, match="happens once, when") as told:
        twice(gx.asarray(1.0))
    assert [str(warning.message).partition(" happens")[0] for warning in told] == [f"the call of {name}"]
    with pytest.raises(UnimplementedError, match=rf"the call of {name} inside the true branch of an if"):
        gx.function(lambda x: x * compute() if x > 0 else x)(gx.asarray(1.0))
