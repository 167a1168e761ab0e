"""Guards of large containers from outside."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphc as gx

X = gx.asarray([1.0, 2.0])
MANY = 50


def _dict() -> dict[Any, Any]:
    return {f"n{k}": float(k) for k in range(MANY)}


def _store(key: Any, value: Any) -> Callable[[Any], None]:
    return lambda held: held.__setitem__(key, value)


def _swap(held: Any) -> None:
    held.remove(3)
    held.add(-1)


def _swap_equal(held: Any) -> None:
    held.remove(1)
    held.add(True)


def _move(held: Any) -> None:
    held.move_to_end("n3")


# How the container is made, and what changes it; a copy of its old contents is put back afterwards.
KINDS: dict[str, tuple[Callable[[], Any], Callable[[Any], None]]] = {
    "value": (_dict, _store("n3", 7.0)),
    "value of another type": (_dict, _store("n1", True)),
    "zero": (_dict, _store("n0", -0.0)),
    "new key": (_dict, _store("new", 7.0)),
    "key of ints": (lambda: dict.fromkeys(range(MANY), 1.0), _store(3, 2.0)),
    "counter": (lambda: Counter(range(MANY)), lambda held: held.update([3])),
    "defaultdict": (lambda: defaultdict(float, _dict()), lambda held: held["new"]),
    "order": (lambda: OrderedDict(_dict()), _move),
    "set": (lambda: set(range(MANY)), _swap),
    "set of another type": (lambda: set(range(MANY)), _swap_equal),
    "pairs": (lambda: [(k, 0.5 * k) for k in range(MANY)], _store(1, (True, 0.5))),
    "frozensets": (lambda: [frozenset((k, k + 1)) for k in range(MANY)], _store(1, frozenset((True, 2)))),
    "NumPy's numbers": (lambda: [np.float32(k) for k in range(MANY)], _store(3, np.float64(3))),
    "deque": (lambda: deque(range(MANY)), _store(1, True)),
    "array in the order of columns": (lambda: np.zeros((50, 40), np.float32).T, _store((3, 4), 1.0)),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_change_of_a_large_container_from_outside_is_seen(kind: str) -> None:
    make, change = KINDS[kind]
    held = make()

    @gx.function(on_retrace="ignore")
    def f(x: Any) -> Any:
        return x * float(str(held).count("1"))  # all of its contents

    first = f.trace(X)
    assert f.trace(X) is first
    change(held)
    second = f.trace(X)
    assert second is not first
    assert f.trace(X) is second
    held = make()  # another object with the contents of before
    assert f.trace(X) is first


def test_attributes_of_an_object_read_as_a_dict_are_followed() -> None:
    class Settings:
        pass

    settings = Settings()
    for number in range(MANY):
        setattr(settings, f"n{number}", 1.0)
    held = vars(settings)

    @gx.function(on_retrace="ignore")
    def f(x: Any) -> Any:
        return x * sum(held.values())

    first = f.trace(X)
    for number in range(MANY):
        settings.n3 = 2.0 + number  # pyright: ignore[reportAttributeAccessIssue]
        assert f.trace(X) is not first
    settings.n3 = 1.0  # pyright: ignore[reportAttributeAccessIssue]
    assert f.trace(X) is first
