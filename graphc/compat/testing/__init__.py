"""What tests of programs with tensors are written with (``gx.testing``)."""

from graphc.compat.testing.case import CheckedThread, GraphTestCase, TestCase

__all__ = ["CheckedThread", "GraphTestCase", "TestCase"]
