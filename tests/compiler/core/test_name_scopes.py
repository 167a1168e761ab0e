"""Name scopes, and references to tensors and Variables."""

from __future__ import annotations

import pytest

import graphc as gx
from graphc.compiler.base.errors import InvalidArgumentError


def test_scopes_nest_and_end() -> None:
    with gx.name_scope("ns_a") as outer:
        with gx.name_scope("b") as inner:
            assert gx.Variable(1.0, name="w").name == "ns_a/b/w"
        with gx.name_scope(inner) as again, gx.name_scope("") as top:
            assert gx.Variable(1.0, name="ns_top").name == "ns_top"
    assert (outer, inner, again, top) == ("ns_a/", "ns_a/b/", "ns_a/b/", "")
    scope = gx.name_scope("ns_c")
    with scope, scope as path:
        assert path == "ns_c/ns_c/"
    with pytest.raises(ZeroDivisionError), scope:
        _ = 1 / 0
    assert gx.Variable(1.0, name="ns_after").name == "ns_after"
    with pytest.raises(InvalidArgumentError, match="name_scope: the name must be a string, got None"):
        gx.name_scope(None)  # type: ignore[arg-type]


def test_compiled_functions_may_open_scopes() -> None:
    @gx.function
    def f(x: gx.Tensor) -> gx.Tensor:
        for _ in range(3):
            with gx.name_scope("block"):
                if x < 10:
                    x = x * 2
        return x

    assert f(gx.asarray(3.0)).item() == 12.0


def test_references_are_keys_of_very_objects() -> None:
    x, v = gx.asarray([1.0]), gx.Variable([1.0])
    known = {x.ref(): "x", v.ref(): "v"}
    assert known[x.ref()] == "x"
    assert v.ref() in known
    assert gx.asarray([1.0]).ref() not in known
    assert v.ref().deref() is v
    assert x.ref() != 3
    assert v.read_value().tolist() == [1.0]
