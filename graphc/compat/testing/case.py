"""TestCase: unittest's, with assertions about tensors and Sessions (TensorFlow's ``tf.test.TestCase``)."""

# ruff: noqa: N802, N815, PT009, PT027  the names and assertions are unittest's and TensorFlow's

from __future__ import annotations

import random
import shutil
import tempfile
import threading
import unittest
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, cast

import numpy as np

from graphc.compiler.base import nest
from graphc.compiler.base.errors import GraphcError
from graphc.compiler.core import ArrayMethods, StringTensor
from graphc.compiler.ops import random as draws
from graphc.compiler.tracing import is_tracing
from graphc.graphs.session import (
    Graph,
    GraphTensor,
    GraphVariable,
    Operation,
    Session,
    default_graph,
    reset_default_graph,
)
from graphc.library.composites import IndexedSlices, RaggedTensor, SparseTensor

__all__ = ["CheckedThread", "GraphTestCase", "TestCase"]

# Threads of a test, whose failures are the test's.


class CheckedThread:
    """A thread of a test: what it raises fails the test that joins it (TensorFlow's ``checkedThread``).

    Args:
      case: the test.
      target: what the thread runs.
      args: its arguments.
      kwargs: those by name.
    """

    def __init__(
        self,
        case: unittest.TestCase,
        target: Callable[..., Any],
        args: Sequence[Any] | None = None,
        kwargs: Mapping[str, Any] | None = None,
    ) -> None:
        self._case = case
        self._call = (target, tuple(args or ()), dict(kwargs or {}))
        self._error: BaseException | None = None
        self._joined = False
        # A test that fails must not wait for its threads for ever.
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        target, args, kwargs = self._call
        try:
            target(*args, **kwargs)
        except BaseException as error:
            self._error = error

    def start(self) -> None:
        """Starts the thread."""
        self._thread.start()

    def join(self, timeout: float | None = None) -> None:
        """Waits for the thread, and fails the test if it has failed, or runs still.

        Args:
          timeout: how many seconds to wait at most; None for no bound.
        """
        self._thread.join(timeout)
        if self._thread.is_alive():
            self._case.fail(f"the thread still runs after {timeout} seconds")
        self._joined = True
        if self._error is not None:
            error, self._error = self._error, None
            raise self._case.failureException(f"error in a checked thread: {error!r}") from error

    def is_alive(self) -> bool:
        """Returns whether the thread runs still."""
        return self._thread.is_alive()

    def check_termination(self) -> None:
        """Fails the test unless the thread was joined; each test calls this at its end."""
        if not self._joined:
            state = "runs still" if self.is_alive() else "has ended"
            self._case.fail(f"a checked thread was not joined; it {state}")


SEED = 87654321
"""Seed of the random generators in each test, as in TensorFlow."""

_HALF = ("float16", "bfloat16")


class TestCase(unittest.TestCase):
    """A test case whose assertions take tensors, eagerly and of graphs that are built by hand.

    Each test starts with the same random numbers. Tensors of a graph are computed by the Session of
    :meth:`cached_session`, or by the default one.

    Attributes:
      by_graphs: whether tests build the default graph also where they do not enter one, as those of TensorFlow 1.

    Example:
      >>> import graphc as gx
      >>> class Sums(gx.testing.TestCase):
      ...     def test_sum(self):
      ...         self.assertAllClose(gx.sum(gx.ones(3)), 3.0)
      >>> Sums("test_sum").debug()
    """

    by_graphs: bool = False

    def setUp(self) -> None:
        """Sets the seeds of all generators."""
        super().setUp()
        random.seed(SEED)
        np.random.seed(SEED)
        draws.seed(SEED)
        self._cached: Session | None = None
        self._folder: str | None = None
        self._threads: list[CheckedThread] = []

    def tearDown(self) -> None:
        """Looks whether all threads were joined, closes the Session and removes the folder of the test."""
        for thread in self._threads:
            thread.check_termination()
        if self._cached is not None:
            self._cached.close()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
        super().tearDown()

    def get_temp_dir(self) -> str:
        """Returns a folder that is removed after the test."""
        if self._folder is None:
            self._folder = tempfile.mkdtemp()
        return self._folder

    def checkedThread(
        self, target: Callable[..., Any], args: Sequence[Any] | None = None, kwargs: Mapping[str, Any] | None = None
    ) -> CheckedThread:
        """Returns a thread that fails the test if it raises, and that the test must join.

        Args:
          target: what it runs.
          args: its arguments.
          kwargs: those by name.
        """
        thread = CheckedThread(self, target, args, kwargs)
        self._threads.append(thread)
        return thread

    def evaluate(self, tensors: Any) -> Any:
        """Returns the values of tensors, as NumPy's arrays, in the structure that they stand in.

        Args:
          tensors: tensors, Variables and operations, nested; what is none of these stays.
        """
        leaves, structure = nest.flatten(tensors)
        if self._cached is not None and any(map(_is_of_graph, leaves)):
            return nest.unflatten(structure, [self._run(leaf) if _is_of_graph(leaf) else leaf for leaf in leaves])
        return nest.unflatten(structure, [_value(leaf) for leaf in leaves])

    def _run(self, leaf: Any) -> Any:
        assert self._cached is not None
        return self._cached.run(leaf)

    @contextmanager
    def session(self, graph: Graph | None = None, config: Any = None, **options: Any) -> Generator[Any]:
        """Opens a Session for a block: of a graph that is built by hand, or else one that runs eager values.

        Args:
          graph: the graph; the default one when None.
          config: of the Session.
          **options: taken as TensorFlow's tests give them (``use_gpu``, ``force_gpu``).
        """
        del options
        if graph is None and not is_tracing() and not self.by_graphs:
            yield _EagerSession(self)
            return
        with Session(graph=graph, config=config) as session:
            before, self._cached = self._cached, session
            try:
                yield session
            finally:
                self._cached = before

    @contextmanager
    def cached_session(self, graph: Graph | None = None, config: Any = None, **options: Any) -> Generator[Any]:
        """Opens the Session of this test for a block; see :meth:`session`. It is the same in each block."""
        del options
        if graph is None and not is_tracing() and not self.by_graphs:
            yield _EagerSession(self)
            return
        if self._cached is None:
            self._cached = Session(graph=graph, config=config)
        with self._cached.graph.as_default(), self._cached.as_default():
            yield self._cached

    def _array(self, value: Any) -> np.ndarray[Any, Any]:
        if isinstance(value, SparseTensor | IndexedSlices):
            value = value.to_dense()
        elif isinstance(value, RaggedTensor):
            value = value.to_list()
        return np.asarray(self.evaluate(value))

    def assertAllEqual(self, a: Any, b: Any, msg: str | None = None) -> None:
        """Fails unless two tensors have the same shape and the same elements; NaN equals NaN."""
        if isinstance(a, RaggedTensor) or isinstance(b, RaggedTensor):
            lists = [value.to_list() if isinstance(value, RaggedTensor) else self._list(value) for value in (a, b)]
            self.assertEqual(lists[0], lists[1], msg)
            return
        first, second = self._array(a), self._array(b)
        self.assertEqual(first.shape, second.shape, f"the shapes differ{'' if msg is None else f': {msg}'}")
        same = first == second
        if first.dtype.kind in "fc" and second.dtype.kind in "fc":
            same = same | (np.isnan(first) & np.isnan(second))
        if not np.all(same):
            np.testing.assert_array_equal(first, second, err_msg=msg or "")
            self.fail(msg)

    def _list(self, value: Any) -> Any:
        return value.tolist() if hasattr(value, "tolist") else value

    def assertNotAllEqual(self, a: Any, b: Any, msg: str | None = None) -> None:
        """Fails if two tensors have the same shape and the same elements."""
        with self.assertRaises(AssertionError, msg=msg or "the tensors are equal"):
            self.assertAllEqual(a, b)

    def assertAllClose(self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, msg: str | None = None) -> None:
        """Fails unless two structures of tensors are near each other: ``|a - b| <= atol + rtol * |b|``."""
        parts, others = _children(a), _children(b)
        if parts is not None and others is not None:
            self.assertEqual(parts[0], others[0], msg)
            for one, other in zip(parts[1], others[1], strict=True):
                self.assertAllClose(one, other, rtol, atol, msg)
            return
        first, second = self._array(a), self._array(b)
        self.assertEqual(first.shape, second.shape, f"the shapes differ{'' if msg is None else f': {msg}'}")
        first, second = (array.astype(np.float32) if array.dtype.name in _HALF else array for array in (first, second))
        np.testing.assert_allclose(first, second, rtol, atol, err_msg=msg or "")

    def assertNotAllClose(self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, msg: str | None = None) -> None:
        """Fails if two structures of tensors are near each other."""
        with self.assertRaises(AssertionError, msg=msg or "the tensors are near each other"):
            self.assertAllClose(a, b, rtol, atol)

    def assertAllCloseAccordingToType(
        self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, float_rtol: float = 1e-6,
        float_atol: float = 1e-6, half_rtol: float = 1e-3, half_atol: float = 1e-3, bfloat16_rtol: float = 1e-2,
        bfloat16_atol: float = 1e-2, msg: str | None = None,
    ) -> None:  # fmt: skip
        """Fails unless two tensors are near each other, by the tolerance of the less exact dtype."""
        names = {cast("str", self._array(value).dtype.name) for value in (a, b)}
        if names & {"float32", "complex64"}:
            rtol, atol = max(rtol, float_rtol), max(atol, float_atol)
        if "float16" in names:
            rtol, atol = max(rtol, half_rtol), max(atol, half_atol)
        if "bfloat16" in names:
            rtol, atol = max(rtol, bfloat16_rtol), max(atol, bfloat16_atol)
        self.assertAllClose(a, b, rtol, atol, msg)

    def _assert_all(self, holds: Any, value: Any, what: str) -> None:
        if not np.all(holds):
            self.fail(f"not all elements {what}: {value}")

    def assertAllGreater(self, a: Any, comparison_target: Any) -> None:
        """Fails unless all elements are greater than a number."""
        array = self._array(a)
        self._assert_all(array > comparison_target, array, f"are greater than {comparison_target}")

    def assertAllLess(self, a: Any, comparison_target: Any) -> None:
        """Fails unless all elements are less than a number."""
        array = self._array(a)
        self._assert_all(array < comparison_target, array, f"are less than {comparison_target}")

    def assertAllGreaterEqual(self, a: Any, comparison_target: Any) -> None:
        """Fails unless all elements are at least a number."""
        array = self._array(a)
        self._assert_all(array >= comparison_target, array, f"are at least {comparison_target}")

    def assertAllLessEqual(self, a: Any, comparison_target: Any) -> None:
        """Fails unless all elements are at most a number."""
        array = self._array(a)
        self._assert_all(array <= comparison_target, array, f"are at most {comparison_target}")

    def assertAllInRange(
        self, target: Any, lower_bound: Any, upper_bound: Any, open_lower_bound: bool = False,
        open_upper_bound: bool = False,
    ) -> None:  # fmt: skip
        """Fails unless all elements lie between two numbers."""
        array = self._array(target)
        above = array > lower_bound if open_lower_bound else array >= lower_bound
        below = array < upper_bound if open_upper_bound else array <= upper_bound
        self._assert_all(above & below, array, f"lie between {lower_bound} and {upper_bound}")

    def assertAllInSet(self, target: Any, expected_set: Any) -> None:
        """Fails unless all elements are in a set."""
        array = self._array(target)
        self._assert_all(np.isin(array, list(expected_set)), array, f"are in {expected_set}")

    def assertNear(self, f1: Any, f2: Any, err: float, msg: str | None = None) -> None:
        """Fails unless two numbers differ by at most ``err``."""
        first, second = float(self._array(f1)), float(self._array(f2))
        self.assertTrue(first == second or abs(first - second) <= err, msg or f"{first} and {second} differ by more")

    def assertArrayNear(self, farray1: Any, farray2: Any, err: float, msg: str | None = None) -> None:
        """Fails unless two vectors differ by at most ``err`` in each element."""
        first, second = self._array(farray1), self._array(farray2)
        self.assertEqual(first.shape, second.shape, msg)
        self._assert_all(np.abs(first - second) <= err, (first, second), f"differ by at most {err}")

    assertNDArrayNear = assertArrayNear

    def assertShapeEqual(self, input_a: Any, input_b: Any, msg: str | None = None) -> None:
        """Fails unless two tensors have the same shape."""
        self.assertEqual(tuple(input_a.shape), tuple(input_b.shape), msg)

    def assertDTypeEqual(self, target: Any, expected_dtype: Any) -> None:
        """Fails unless a tensor has a dtype."""
        self.assertEqual(np.dtype(expected_dtype), self._array(target).dtype)

    def assertEmpty(self, container: Any, msg: str | None = None) -> None:
        """Fails unless there is nothing in a container."""
        self.assertEqual(len(container), 0, msg)

    def assertNotEmpty(self, container: Any, msg: str | None = None) -> None:
        """Fails if there is nothing in a container."""
        self.assertNotEqual(len(container), 0, msg)

    def assertLen(self, container: Any, expected_len: int, msg: str | None = None) -> None:
        """Fails unless there are so many things in a container."""
        self.assertEqual(len(container), expected_len, msg)

    def assertItemsEqual(self, first: Iterable[Any], second: Iterable[Any], msg: str | None = None) -> None:
        """Fails unless two lists hold the same things as often, in whatever order."""
        self.assertCountEqual(first, second, msg)

    def assertContainsSubset(self, expected_subset: Any, actual_set: Any, msg: str | None = None) -> None:
        """Fails unless all things of one container are in another."""
        self.assertEqual(set(expected_subset) - set(actual_set), set(), msg)

    def assertBetween(self, value: Any, minv: Any, maxv: Any, msg: str | None = None) -> None:
        """Fails unless a number lies between two others."""
        self.assertTrue(minv <= value <= maxv, msg or f"{value} does not lie between {minv} and {maxv}")

    def assertStartsWith(self, actual: str, expected_start: str, msg: str | None = None) -> None:
        """Fails unless a text begins with another."""
        self.assertTrue(actual.startswith(expected_start), msg or f"{actual!r} does not begin with {expected_start!r}")

    def assertEndsWith(self, actual: str, expected_end: str, msg: str | None = None) -> None:
        """Fails unless a text ends with another."""
        self.assertTrue(actual.endswith(expected_end), msg or f"{actual!r} does not end with {expected_end!r}")

    def assertRaisesWithPredicateMatch(
        self, exception_type: Any, expected_err_re_or_predicate: str | Callable[[BaseException], bool]
    ) -> AbstractContextManager[Any]:
        """Fails unless a block raises an exception whose text has a pattern, or for which a function is true."""
        if isinstance(expected_err_re_or_predicate, str):
            return self.assertRaisesRegex(exception_type, expected_err_re_or_predicate)
        return self._raises(exception_type, expected_err_re_or_predicate)

    @contextmanager
    def _raises(self, kind: Any, holds: Callable[[BaseException], bool]) -> Generator[Any]:
        with self.assertRaises(kind) as caught:
            yield caught
        self.assertTrue(holds(caught.exception), f"the exception is another one: {caught.exception}")

    def assertRaisesOpError(self, expected_err_re_or_predicate: Any) -> AbstractContextManager[Any]:
        """Fails unless a block raises an error of graphc's: with a pattern in its text, or that a function takes."""
        return self.assertRaisesWithPredicateMatch(GraphcError, expected_err_re_or_predicate)


class _EagerSession:
    """A substitute for a Session where values are computed eagerly."""

    def __init__(self, case: TestCase) -> None:
        self._case = case

    def run(self, fetches: Any, feed_dict: Any = None) -> Any:
        del feed_dict
        return self._case.evaluate(fetches)


def _is_of_graph(value: Any) -> bool:
    return isinstance(value, GraphTensor | GraphVariable | Operation)


def _value(leaf: Any) -> Any:
    if isinstance(leaf, GraphTensor | GraphVariable):
        return leaf.eval()
    if isinstance(leaf, Operation):
        return leaf.run()
    return leaf.numpy() if isinstance(leaf, ArrayMethods | StringTensor) else leaf


def _children(value: Any) -> tuple[tuple[Any, ...], Sequence[Any]] | None:
    """Returns the parts of a structure of tensors; a list of numbers is a tensor."""
    if isinstance(value, SparseTensor | RaggedTensor | IndexedSlices):
        return None
    parts = nest.children(value)
    if parts is None or isinstance(value, dict):
        return parts
    tensors = any(isinstance(leaf, ArrayMethods | np.ndarray) for leaf in nest.flatten(value)[0])
    return parts if tensors else None


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
