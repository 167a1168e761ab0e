"""Where in the user's code something happens."""

from __future__ import annotations

import functools
import importlib.util
import inspect
import os
import sys
import types
from types import FrameType

import numpy as np
import pytest

import graphc.compiler.base
from graphc.compiler.base import Location, is_graphc_file, is_internal_file, user_frame, user_location, warn_at


def test_the_line_of_the_caller_is_the_users() -> None:
    here = inspect.currentframe()
    assert here is not None
    location = user_location()
    assert location == Location(__file__, here.f_lineno - 1, "test_the_line_of_the_caller_is_the_users")


def test_one_line_has_one_location_object() -> None:
    first, second = (user_location() for _ in range(2))
    assert first is second


def test_libraries_are_passed_over() -> None:
    assert is_internal_file(graphc.compiler.base.__file__)
    assert is_internal_file(np.__file__)
    jax = importlib.util.find_spec("jax")
    assert jax is not None
    assert is_internal_file(str(jax.origin))
    assert is_internal_file(functools.__file__)
    assert is_internal_file("<frozen importlib._bootstrap>")
    assert not is_internal_file(__file__)
    demo = os.path.join(os.path.dirname(os.path.dirname(graphc.compiler.base.__file__)), "cli", "demo", "digits.py")
    assert not is_internal_file(demo)
    assert not is_internal_file(os.__file__)


def test_a_frame_of_a_library_between_is_not_the_users() -> None:
    found: list[FrameType | None] = []
    exec(compile("found.append(user_frame())", np.__file__, "exec"), {"found": found, "user_frame": user_frame})
    (frame,) = found
    assert frame is inspect.currentframe()


def test_a_location_prints_as_in_a_traceback() -> None:
    location = Location(__file__, 1)
    text = '"""Where in the user\'s code something happens."""'
    assert str(location) == f'File "{__file__}", line 1, in <module>\n    {text}'
    assert str(Location("missing.py", 3, "f")) == 'File "missing.py", line 3, in f'
    assert Location("a/b/train.py", 12).short == "train.py:12"


def test_files_of_graphc() -> None:
    assert is_graphc_file(graphc.compiler.base.__file__)
    assert is_graphc_file("<graphc op add>")
    assert not is_graphc_file(np.__file__)
    assert not is_graphc_file(__file__)
    assert not is_graphc_file(
        os.path.join(os.path.dirname(os.path.dirname(graphc.compiler.base.__file__)), "cli", "demo", "a.py")
    )


def test_a_warning_is_given_at_its_line_each_time() -> None:
    location = Location(__file__, 7)
    for _ in range(2):
        with pytest.warns(UserWarning, match="again") as caught:
            warn_at(UserWarning("again"), location)
        assert [(warning.filename, warning.lineno) for warning in caught] == [(__file__, 7)]
    with pytest.warns(UserWarning, match="again"):
        warn_at(UserWarning("again"), None)


def test_a_line_of_a_notebook_has_the_name_of_its_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    compiler = types.SimpleNamespace(format_code_name=lambda file: ("Cell", "In[2]") if "ipykernel" in file else None)
    shell = types.SimpleNamespace(compile=compiler)
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    assert Location("/tmp/ipykernel_7/12.py", 3).short == "In[2]:3"
    assert Location("/a/file.py", 3).short == "file.py:3"
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: None))
    assert Location("/tmp/ipykernel_7/12.py", 3).short == "12.py:3"
