"""TensorFlow's dtypes, which an import of graphc.compat.v2 sets, in these tests alone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import graphc as gx


@pytest.fixture(scope="package", autouse=True)
def dtypes() -> Iterator[None]:
    """64-bit types, 32 bits for numbers without a dtype, and TensorFlow's texts."""
    names = ("enable_x64", "default_dtype_bits", "tensor_text")
    before = [getattr(gx.config, name) for name in names]
    for name, value in zip(names, (True, 32, "tensorflow"), strict=True):  # in all threads, which a scope would not
        setattr(gx.config, name, value)
    yield
    for name, value in zip(names, before, strict=True):
        setattr(gx.config, name, value)
