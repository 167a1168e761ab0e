"""What tests of programs with tensors are written with (``gx.testing``)."""

from graphc.compat.testing.case import GraphTestCase, TestCase
from graphc.compat.testing.threads import CheckedThread

__all__ = ["CheckedThread", "GraphTestCase", "TestCase"]
