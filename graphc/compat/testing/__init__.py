"""Layer 11: what tests of programs with tensors are written with (``gx.testing``)."""

from graphc.compat.testing.case import TestCase
from graphc.compat.testing.graphs import GraphTestCase
from graphc.compat.testing.threads import CheckedThread

__all__ = ["CheckedThread", "GraphTestCase", "TestCase"]
