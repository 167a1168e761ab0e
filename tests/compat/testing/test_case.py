"""gx.testing.TestCase: its assertions pass and fail as TensorFlow's, eagerly and with Sessions."""

# ruff: noqa: PT027  unittest's assertions are what is tested

from __future__ import annotations

import os
import threading
import unittest
from typing import Any

import numpy as np

import graphc as gx

NAN = float("nan")


class Cases(gx.testing.TestCase):
    def test_evaluate(self) -> None:
        found = self.evaluate({"a": [gx.ones(2), gx.Variable(3.0)], "b": "text"})
        assert found["a"][0].tolist() == [1, 1]
        assert (found["a"][1], found["b"]) == (3.0, "text")
        with self.session() as session:
            assert session.run(gx.ones(())) == 1

    def test_sessions(self) -> None:
        with gx.Graph().as_default():
            x = gx.placeholder("float32", shape=())
            y, v = x * 2.0, gx.asarray(5.0) + 1.0
            with self.cached_session() as first:
                assert first.run(y, {x: 4.0}) == 8.0
                assert self.evaluate([v, 7]) == [6.0, 7]
                self.assertAllClose(v, 6.0)
            with self.cached_session() as again:
                assert again is first
            with self.session() as other:
                assert other is not first
                self.assertAllEqual(v, 6.0)

    def test_the_same_numbers_each_time(self) -> None:
        drawn.append((gx.random.uniform(()).item(), np.random.rand()))
        folders.append(self.get_temp_dir())
        assert os.path.isdir(folders[-1])

    def test_all(self) -> None:
        for check, *args in PASS:
            check(self, *args)
        for check, *args in FAIL:
            with self.assertRaises(AssertionError, msg=str(args)):
                check(self, *args)

    def test_threads(self) -> None:
        done: list[int] = []
        thread = self.checkedThread(done.append, args=(3,))
        thread.start()
        thread.join(60)
        assert (done, thread.is_alive()) == ([3], False)

        def fail() -> None:
            raise ZeroDivisionError("in the thread")

        failing = self.checkedThread(fail)
        failing.start()
        with self.assertRaisesRegex(AssertionError, "error in a checked thread: ZeroDivisionError"):
            failing.join(60)

    def test_raises(self) -> None:
        with self.assertRaisesOpError("x and y differ"):
            gx.checks.assert_equal(1, 2)
        with self.assertRaisesOpError(lambda error: "differ" in str(error)):
            gx.checks.assert_equal(1, 2)
        with self.assertRaises(AssertionError), self.assertRaisesOpError("other"):
            gx.checks.assert_equal(1, 2)
        with self.assertRaises(AssertionError), self.assertRaisesOpError(lambda error: False):
            gx.checks.assert_equal(1, 2)


drawn: list[Any] = []
folders: list[str] = []
C = Cases
PASS: list[Any] = [
    (C.assertAllEqual, gx.asarray([1.0, NAN]), [1.0, NAN]),
    (C.assertAllEqual, gx.RaggedTensor.constant([[1], [2, 3]]), [[1], [2, 3]]),
    (C.assertNotAllEqual, gx.asarray([1.0]), [2.0]),
    (C.assertAllClose, {"a": gx.ones(2), "b": [gx.zeros(())]}, {"a": [1, 1.0000001], "b": [0.0]}),
    (C.assertNotAllClose, gx.ones(2), [1, 2]),
    (C.assertAllCloseAccordingToType, gx.ones(2, "float16"), np.asarray([1, 1.0005])),
    (C.assertAllInRange, gx.ones(2), 0, 1),
    (C.assertAllInSet, gx.ones(2), {1, 2}),
    (C.assertAllGreater, gx.ones(2), 0),
    (C.assertAllLessEqual, gx.ones(2), 1),
    (C.assertShapeEqual, np.ones((2, 3)), gx.ones((2, 3))),
    (C.assertDTypeEqual, gx.ones(2), np.float32),
    (C.assertNear, gx.asarray(1.0), 1.05, 0.1),
    (C.assertArrayNear, gx.ones(2), [1.05, 1], 0.1),
    (C.assertEmpty, []),
    (C.assertLen, [1], 1),
    (C.assertStartsWith, "abc", "ab"),
    (C.assertBetween, 1, 0, 2),
    (C.assertItemsEqual, [1, 2, 2], (2, 1, 2)),
    (C.assertContainsSubset, {1}, [1, 2]),
]
FAIL: list[Any] = [
    (C.assertAllEqual, gx.asarray([1.0]), [2.0]),
    (C.assertAllEqual, gx.asarray([1.0]), [1.0, 1.0]),
    (C.assertNotAllEqual, gx.asarray([1.0]), [1.0]),
    (C.assertAllClose, {"a": gx.ones(2)}, {"a": [1, 1.1]}),
    (C.assertAllClose, {"a": gx.ones(2)}, {"b": gx.ones(2)}),
    (C.assertAllClose, gx.ones(2), gx.ones(1)),
    (C.assertNotAllClose, gx.ones(2), [1, 1]),
    (C.assertAllInRange, gx.ones(2), 0, 1, False, True),
    (C.assertAllInSet, gx.ones(2), {2}),
    (C.assertAllLess, gx.ones(2), 1),
    (C.assertAllGreaterEqual, gx.ones(2), 2),
    (C.assertShapeEqual, np.ones(2), gx.ones((2, 1))),
    (C.assertDTypeEqual, gx.ones(2), np.int32),
    (C.assertNear, 1.0, 2.0, 0.1),
    (C.assertArrayNear, [1.0], [2.0], 0.1),
    (C.assertEmpty, [1]),
    (C.assertNotEmpty, []),
    (C.assertLen, [1], 2),
    (C.assertEndsWith, "abc", "ab"),
    (C.assertBetween, 3, 0, 2),
    (C.assertItemsEqual, [1, 2], [1, 1]),
    (C.assertContainsSubset, {3}, [1, 2]),
]


def test_tests_start_with_the_same_numbers_and_clean_up() -> None:
    result = unittest.TestResult()
    for _ in range(2):
        Cases("test_the_same_numbers_each_time").run(result)
    assert result.wasSuccessful()
    assert len({*drawn}) == 1
    assert not any(map(os.path.exists, folders))


class Careless(gx.testing.TestCase):
    """A test that leaves a thread behind, and fails: so pytest must not collect it."""

    __test__ = False

    def test_thread(self) -> None:
        release = threading.Event()
        waiting = self.checkedThread(release.wait, args=(60,))
        waiting.start()
        with self.assertRaisesRegex(AssertionError, "the thread still runs after 0.01 seconds"):
            waiting.join(0.01)
        release.set()


def test_a_thread_that_is_not_joined_fails_the_test() -> None:
    result = unittest.TestResult()
    Careless("test_thread").run(result)
    assert not result.errors
    assert "a checked thread was not joined; it " in result.failures[0][1]
