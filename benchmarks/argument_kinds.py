"""Two dozen more kinds of arguments, results and functions, called on small arrays, against `jax.jit`: one row."""

from __future__ import annotations

import collections
import dataclasses
import functools
import math
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

import graphc as gx
from benchmarks.harness import Contender, Duel, Row, batch

__all__ = ["CASES", "ROWS"]


class _Mode(Enum):
    DOUBLE = 2
    TRIPLE = 3


class _Pair(NamedTuple):
    first: Any
    times: int = 2


@dataclasses.dataclass
class _Fields:
    first: Any
    second: Any


jax.tree_util.register_dataclass(_Fields, ["first", "second"], [])


@dataclasses.dataclass
class _Settings:
    factor: ClassVar[float] = 3.0
    rate: float = 2.0
    steps: tuple[int, ...] = (1, 2)


_SETTINGS = {"model": _Settings(), "unread": [1, 2, 3]}
_RATES = [0.5 * k for k in range(200)]
_LIMITS = {f"layer{k}": 0.5 * k for k in range(50)}
_COUNTS = collections.Counter(range(1000))
_SPARSE = {3 * k: 0.5 * k for k in range(1000)}
_PAIRS = [(k, 0.5 * k) for k in range(300)]
_TABLE = [[0.5 * k + row for k in range(10)] for row in range(10)]
_SOME = frozenset(range(1000))
_NUMBERS = [np.float32(k) for k in range(100)]
_WHOLE = np.arange(16, dtype=np.float32).reshape(4, 4)


def _scaled(xp: Any, x: Any) -> Any:
    settings: Any = _SETTINGS["model"]
    return x * settings.rate * settings.steps[1] + xp.asarray(_WHOLE)


_PARTS = [_WHOLE + k for k in range(8)]


def _nothing(value: Any) -> Any:
    return value


# The function, given the namespace; its arguments, given what makes arrays; the places of what is static for JAX.
CASES: dict[str, tuple[Callable[..., Any], Callable[[Any], tuple[Any, ...]], tuple[int, ...]]] = {
    "*args": (lambda xp, *args: args[0] + args[1], lambda of: (of(0), of(1)), ()),
    "100 arguments": (lambda xp, *args: args[0] + args[99], lambda of: tuple(map(of, range(100))), ()),
    "tuple of 50": (lambda xp, t: sum(t), lambda of: (tuple(map(of, range(50))),), ()),
    "dict of 100": (lambda xp, d: d["3"] + d["9"], lambda of: ({str(k): of(k) for k in range(100)},), ()),
    "dict of 20 NumPy arrays": (lambda xp, d: d["3"], lambda of: ({str(k): _WHOLE + k for k in range(20)},), ()),
    "dataclass": (lambda xp, f: f.first + f.second, lambda of: (_Fields(of(0), of(1)),), ()),
    "named tuple with a number": (lambda xp, p: p.first * 2, lambda of: (_Pair(of(0)),), ()),
    "None": (lambda xp, x, y: x * 2 if y is None else x, lambda of: (of(0), None), ()),
    "member of an enum": (lambda xp, x, mode: x * mode.value, lambda of: (of(0), _Mode.TRIPLE), (1,)),
    "frozenset": (lambda xp, x, s: x * len(s), lambda of: (of(0), frozenset((1, 2))), (1,)),
    "function": (lambda xp, x, f: f(x) * 2, lambda of: (of(0), _nothing), (1,)),
    "class": (lambda xp, x, kind: x * kind.factor, lambda of: (of(0), _Settings), (1,)),
    "float32 of NumPy": (lambda xp, x, n: x * n, lambda of: (of(0), np.float32(2)), ()),
    "int32 of NumPy": (lambda xp, x, n: x * n, lambda of: (of(0), np.int32(2)), ()),
    "array without axes": (lambda xp, x, n: x * n, lambda of: (of(0), np.array(2, np.float32)), ()),
    "NumPy array as a default": (lambda xp, x, y=_WHOLE: x + y, lambda of: (of(0),), ()),
    "transposed NumPy array": (lambda xp, x: x * 2, lambda of: (_WHOLE.T,), ()),
    "settings of a dataclass in a global dict": (lambda xp, x: _scaled(xp, x), lambda of: (of(0),), ()),
    "list of 200 numbers from outside": (lambda xp, x: x * sum(_RATES), lambda of: (of(0),), ()),
    "dict of 50 numbers from outside": (lambda xp, x: x * sum(_LIMITS.values()), lambda of: (of(0),), ()),
    "dict of 1000 ints as keys from outside": (lambda xp, x: x * sum(_SPARSE.values()), lambda of: (of(0),), ()),
    "Counter of 1000 from outside": (lambda xp, x: x * _COUNTS[5], lambda of: (of(0),), ()),
    "300 pairs from outside": (lambda xp, x: x * sum(second for _, second in _PAIRS), lambda of: (of(0),), ()),
    "10 lists of 10 numbers from outside": (lambda xp, x: x * sum(map(sum, _TABLE)), lambda of: (of(0),), ()),
    "frozenset of 1000 from outside": (lambda xp, x: x * len(_SOME), lambda of: (of(0),), ()),
    "100 numbers of NumPy from outside": (lambda xp, x: x * sum(map(float, _NUMBERS)), lambda of: (of(0),), ()),
    "8 NumPy arrays from outside": (lambda xp, x: x + sum(map(xp.asarray, _PARTS)), lambda of: (of(0),), ()),
    "functions of modules": (lambda xp, x: xp.tanh(xp.sin(x * math.pi)) * math.sqrt(2.0), lambda of: (of(0),), ()),
    "no arguments": (lambda xp: xp.ones((4, 4)) * 2, lambda of: (), ()),
    "50 results": (lambda xp, x: [x + k for k in range(50)], lambda of: (of(0),), ()),
    "dataclass as the result": (lambda xp, x: _Fields(x + 1, x + 2), lambda of: (of(0),), ()),
    "result that is an argument": (lambda xp, x: (x, x + 1), lambda of: (of(0),), ()),
    "branch on a tensor": (lambda xp, x: xp.where(xp.sum(x) > 0, x * 2, x * 3), lambda of: (of(0),), ()),
}


def _duels(quick: bool) -> Mapping[str, Duel]:
    calls = 2 if quick else 50

    def duel(function: Callable[..., Any], given: Callable[[Any], tuple[Any, ...]], static: tuple[int, ...]) -> Duel:
        compiled = gx.function(functools.partial(function, gx))
        jitted = jax.jit(functools.partial(function, jnp), static_argnums=static)
        ours, theirs = given(lambda k: gx.asarray(_WHOLE + k)), given(lambda k: jnp.asarray(_WHOLE + k))
        return Duel(
            Contender("graphc", batch(compiled, ours, calls), calls),
            Contender("jax.jit", batch(jitted, theirs, calls), calls),
            lambda: [(_plain(compiled(*ours)), _plain(jitted(*theirs)))],
        )

    chosen = list(CASES.items())[-6:] if quick else CASES.items()
    return {name: duel(*case) for name, case in chosen}


def _plain(result: Any) -> Any:
    return [result.first, result.second] if isinstance(result, _Fields) else result


ROWS = (Row("call-kinds", f"{len(CASES)} more kinds of calls", 2.0, _duels, rounds=300),)
