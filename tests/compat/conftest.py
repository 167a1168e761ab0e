"""TensorFlow's dtypes, which an import of graphc.compat.v2 sets, in these tests alone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import graphc as gx


@pytest.fixture(scope="package", autouse=True)
def dtypes() -> Iterator[None]:
    """64-bit types, and 32 bits for numbers without a dtype."""
    before = gx.config.enable_x64, gx.config.default_dtype_bits
    gx.config.enable_x64, gx.config.default_dtype_bits = True, 32  # in all threads, which a scope would not
    yield
    gx.config.enable_x64, gx.config.default_dtype_bits = before
