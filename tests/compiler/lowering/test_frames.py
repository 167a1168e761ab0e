"""Frames at the user's lines."""

import ctypes
import json
import traceback

import pytest

from graphc.compiler.base import Location
from graphc.compiler.lowering.lower import call_at, raise_at

PLACE = Location("program.py", 7, "step")


def test_c_code_imports_from_such_a_frame() -> None:
    """NumPy imports parts of itself so, at their first use; without builtins it is a KeyError."""
    load = ctypes.pythonapi.PyImport_Import
    load.restype, load.argtypes = ctypes.py_object, [ctypes.py_object]
    assert call_at(PLACE, load, "json") is json


def test_an_exception_is_raised_at_the_lines() -> None:
    with pytest.raises(ValueError, match="no") as found:
        raise_at([PLACE, PLACE], ValueError("no"))
    last = traceback.extract_tb(found.tb)[-2:]
    assert [(frame.filename, frame.lineno, frame.name) for frame in last] == [("program.py", 7, "step")] * 2
