"""Scaffold: the operations that every training needs, taken from the graph or made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphc.compiler.base import at, user_location
from graphc.compiler.base.errors import FailedPreconditionError, InvalidTypeError
from graphc.graphs.session.graphs.control_flow import group
from graphc.graphs.session.graphs.graph import default_graph
from graphc.graphs.session.graphs.keys import GraphKeys
from graphc.graphs.session.saver import Saver
from graphc.graphs.session.summaries import merge_all
from graphc.graphs.session.variables.initializing import (
    global_variables,
    global_variables_initializer,
    local_variables_initializer,
    report_uninitialized_variables,
)

__all__ = ["Scaffold"]


class Scaffold:
    """The operations that initialize, check, save and summarize a graph.

    Omitted ones are taken from the graph's collections when :meth:`finalize` is called, or made and added there.

    Args:
      init_op: an operation that initializes the global Variables.
      init_feed_dict: the feeds of ``init_op``.
      init_fn: a function called with the scaffold and the Session after ``init_op``.
      ready_op: returns the names of uninitialized Variables: a tensor of strings.
      ready_for_local_init_op: the same for the Variables that ``local_init_op`` needs.
      local_init_op: an operation that initializes the state of each process.
      summary_op: returns the summaries.
      saver: the saver of the Variables.
      copy_from_scaffold: another scaffold to take omitted operations from.
      local_init_feed_dict: the feeds of ``local_init_op``.

    Raises:
      InvalidTypeError: ``copy_from_scaffold`` is not a scaffold.

    Example:
      >>> import graphc as gx
      >>> from graphc.graphs.session.monitored import Scaffold
      >>> with gx.Graph().as_default() as graph:
      ...     v = gx.Variable(1.0, name="v")
      ...     scaffold = Scaffold().finalize()
      >>> with gx.Session(graph=graph) as session:
      ...     print(session.run(scaffold.ready_op))
      ...     session.run(scaffold.init_op)
      ...     print(session.run(scaffold.ready_op))
      [b'v']
      []
    """

    def __init__(
        self, init_op: Any = None, init_feed_dict: Any = None, init_fn: Callable[[Scaffold, Any], Any] | None = None,
        ready_op: Any = None, ready_for_local_init_op: Any = None, local_init_op: Any = None, summary_op: Any = None,
        saver: Any = None, copy_from_scaffold: Scaffold | None = None, local_init_feed_dict: Any = None,
    ) -> None:  # fmt: skip
        other: Any = copy_from_scaffold
        if other is not None and not isinstance(other, Scaffold):
            problem = f"Scaffold: copy_from_scaffold must be a Scaffold, got {other!r:.60}"
            raise at(InvalidTypeError(problem), user_location())

        def given(name: str, value: Any) -> Any:
            return getattr(other, name, None) if value is None else value

        self._init_fn = given("_init_fn", init_fn)
        self.init_op = given("init_op", init_op)
        self.init_feed_dict = given("init_feed_dict", init_feed_dict)
        self.ready_op = given("ready_op", ready_op)
        self.ready_for_local_init_op = given("ready_for_local_init_op", ready_for_local_init_op)
        self.local_init_op = given("local_init_op", local_init_op)
        self.local_init_feed_dict = given("local_init_feed_dict", local_init_feed_dict)
        self.summary_op = given("summary_op", summary_op)
        self.saver = given("saver", saver)

    @property
    def init_fn(self) -> Callable[[Any], Any] | None:
        """The function called with the Session after ``init_op``, or None."""
        function = self._init_fn
        return None if function is None else lambda session: function(self, session)

    def finalize(self) -> Scaffold:
        """Makes missing operations, and finalizes the graph; returns the scaffold.

        Raises:
          FailedPreconditionError: a collection of the graph has several candidates.
        """
        defaults: tuple[tuple[str, str, Callable[[], Any]], ...] = (
            ("init_op", GraphKeys.INIT_OP, global_variables_initializer),
            ("ready_op", GraphKeys.READY_OP, report_uninitialized_variables),
            (
                "ready_for_local_init_op", GraphKeys.READY_FOR_LOCAL_INIT_OP,
                lambda: report_uninitialized_variables(global_variables(), name="report_uninitialized_globals"),
            ),
            ("local_init_op", GraphKeys.LOCAL_INIT_OP, Scaffold.default_local_init_op),
            ("summary_op", GraphKeys.SUMMARY_OP, merge_all),
            ("saver", GraphKeys.SAVERS, lambda: Saver(allow_empty=True)),
        )  # fmt: skip
        for name, key, make in defaults:
            if getattr(self, name) is None:
                setattr(self, name, Scaffold.get_or_default(name, key, make))
        self.saver.build()
        default_graph().finalize()
        return self

    @staticmethod
    def get_or_default(arg_name: str, collection_key: str, default_constructor: Callable[[], Any]) -> Any:
        """Returns the item of a collection of the default graph; makes and adds it if the collection is empty.

        Args:
          arg_name: the name of the argument of the scaffold.
          collection_key: the name of the collection.
          default_constructor: a function that makes it; it may return None.

        Raises:
          FailedPreconditionError: there are several.
        """
        graph = default_graph()
        found = graph.get_collection(collection_key)
        if len(found) > 1:
            problem = (
                f"the collection {collection_key!r} of the graph has {len(found)} items; give Scaffold({arg_name}=...)"
            )
            raise at(FailedPreconditionError(problem), user_location())
        if found:
            return found[0]
        made = default_constructor()
        if made is not None:
            graph.add_to_collection(collection_key, made)
        return made

    @staticmethod
    def default_local_init_op() -> Any:
        """Returns the operation that initializes local Variables, and the graph's tables."""
        tables = default_graph().get_collection(GraphKeys.TABLE_INITIALIZERS)
        return group(local_variables_initializer(), *tables)
