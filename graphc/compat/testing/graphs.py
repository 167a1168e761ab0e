"""A test case for programs that build the default graph, as those of TensorFlow 1 do."""

from __future__ import annotations

from graphc.compat.testing.case import SEED, TestCase
from graphc.graphs.session import default_graph, reset_default_graph

__all__ = ["GraphTestCase"]


class GraphTestCase(TestCase):
    """A test case whose sessions run graphs: each test has a default graph of its own.

    Example:
      >>> import graphc as gx
      >>> class Sums(GraphTestCase):
      ...     def test_sum(self):
      ...         with self.cached_session() as session:
      ...             x = gx.placeholder("float32", (None,))
      ...             self.assertAllClose(session.run(gx.sum(x), {x: [1.0, 2.0]}), 3.0)
      >>> Sums("test_sum").debug()
    """

    by_graphs = True

    def setUp(self) -> None:
        """Sets the seeds of all generators and of a new default graph."""
        super().setUp()
        reset_default_graph()
        default_graph().seed = SEED
