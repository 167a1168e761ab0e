"""The table of other libraries' names: each answer is a name that graphc has, and no name hides one of graphc's."""

from __future__ import annotations

import re
from typing import Any

import pytest

import graphc as gx
from graphc.compiler.base.hints import HINTS

NAMESPACES = (
    "distribute",
    "data",
    "fft",
    "layers",
    "linalg",
    "losses",
    "metrics",
    "nn",
    "optim",
    "queues",
    "random",
    "train",
)


@pytest.mark.parametrize("name", HINTS)
def test_each_answer_names_what_is_there(name: str) -> None:
    for path in re.findall(r"\bgx(?:\.[a-zA-Z_]\w*)+", HINTS[name]):
        found: Any = gx
        for part in path.split(".")[1:]:
            found = getattr(found, part)
    assert name not in gx.__all__ or name == "split"  # as a name of gx.random


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("reduce_mean", "use gx.mean"),
        ("constant", "use gx.asarray"),
        ("cat", "use gx.concat"),
        ("jit", "use gx.function"),
        ("manual_seed", "use gx.random.seed"),
        ("tensor", "use gx.asarray"),
        ("enable_eager_execution", "use no call for it"),
        ("nn.Linear", "gx.nn has no 'Linear': use gx.layers.Dense"),
        ("random.PRNGKey", r"gx.random has no 'PRNGKey': use gx.random.seed\(0\)"),
        ("layers.Dens", r"gx.layers has no 'Dens'; did you mean gx.layers.Dense\?"),
        ("optim.qqqqqq", "gx.optim has no 'qqqqqq'$"),
    ],
)
def test_a_name_of_another_library_leads_to_graphcs(name: str, answer: str) -> None:
    *path, last = name.split(".")
    place: Any = gx
    for part in path:
        place = getattr(place, part)
    with pytest.raises(AttributeError, match=answer):
        getattr(place, last)


@pytest.mark.parametrize("name", NAMESPACES)
def test_namespaces_answer_and_tools_get_pythons_error(name: str) -> None:
    module = getattr(gx, name)
    with pytest.raises(AttributeError, match=f"gx.{name} has no 'Linear': use gx.layers.Dense"):
        module.Linear  # noqa: B018
    with pytest.raises(AttributeError, match=f"^module '{re.escape(module.__name__)}' has no attribute '__wrapped__'$"):
        module.__wrapped__  # noqa: B018
