"""The public face: what `import graphc as gx` gives."""

from __future__ import annotations

import importlib
import pickle

import pytest

import graphc as gx


def test_every_public_name_is_there_and_no_builtin_machinery() -> None:
    assert len(set(gx.__all__)) == len(gx.__all__)
    for name in gx.__all__:
        assert hasattr(gx, name)
    for name in ("Coordinator", "QueueRunner", "start_queue_runners", "queues", "producers"):
        assert name in gx.__all__
    for name in ("function", "GradientTape", "Variable", "compare", "parse_graph", "sum", "matmul", "scan"):
        assert name in gx.__all__


def test_dir_shows_public_names_alone() -> None:  # what Tab offers
    for module in (gx, gx.layers, gx.optim, gx.nn, gx.data, gx.train):
        assert {name for name in dir(module) if not name.startswith("_")} == set(module.__all__)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("sofmax", "gx.nn.softmax"),
        ("matmull", "gx.matmul"),
        ("GradTape", "gx.GradientTape"),
        ("normall", "gx.random.normal"),
    ],
)
def test_a_missing_name_suggests_what_is_near(name: str, hint: str) -> None:
    with pytest.raises(AttributeError, match=f"graphc has no '{name}'; did you mean .*{hint}"):
        getattr(gx, name)


def test_python_adds_no_suggestion_to_ours() -> None:
    for missing in ("sofmax", "layers.Densee"):
        with pytest.raises(AttributeError) as caught:
            exec(f"gx.{missing}", {"gx": gx})
        assert "id you mean" in str(caught.value)
        assert caught.value.obj is None  # of which Python would suggest names


def test_a_name_like_no_other_is_just_missing() -> None:
    assert not hasattr(gx, "qqqqqq")


def test_private_names_are_missing_without_a_search() -> None:  # pytest asks each module that imports graphc for some
    with pytest.raises(AttributeError, match=r"^module 'graphc' has no attribute '__wrapped__'$"):
        gx.__wrapped__  # noqa: B018


@pytest.mark.parametrize("name", ["errors", "layers", "queues", "session", "testing", "ir"])
def test_modules_are_imported_by_their_public_names(name: str) -> None:
    module = importlib.import_module(f"graphc.{name}")
    assert module.__spec__ is not None
    assert module.__spec__.name == module.__name__  # it keeps the spec of the place where it is
    assert module is getattr(gx, name, module)


def test_modules_inside_have_one_copy() -> None:
    by_name = importlib.import_module("graphc.session.producers")
    assert by_name is importlib.import_module("graphc.graphs.session.producers")
    with pytest.raises(ModuleNotFoundError, match=r"graphc\.training\.layers\.gone"):
        importlib.import_module("graphc.layers.gone")
    error = pickle.loads(pickle.dumps(gx.errors.NotFoundError("no file")))
    assert type(error) is gx.errors.NotFoundError
    assert type(error).__module__ == "graphc.errors"


def test_a_function_that_is_named_like_its_file_stays_a_function() -> None:
    auto = gx.placement.auto
    with pytest.raises(ModuleNotFoundError, match=r"graphc\.placement\.auto"):
        importlib.import_module("graphc.placement.auto")
    assert gx.placement.auto is auto
