"""Layer 11: what tests of programs with tensors are written with (``gx.testing``)."""

from graphc.testing.case import TestCase
from graphc.testing.graphs import GraphTestCase
from graphc.testing.threads import CheckedThread

__all__ = ["CheckedThread", "GraphTestCase", "TestCase"]
