"""Retraces: their reasons, the warning, the bound of the cache."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphc as gx


def scalar(value: float = 1.0) -> gx.Tensor:
    return gx.asarray(value)


LIST = [1]


@pytest.mark.parametrize(
    ("calls", "reason"),
    [
        ([(gx.ones((2,)), 1), (gx.ones((3,)), 1)], "x was f32[2], is f32[3]"),
        ([(gx.ones((2,)), 1), (gx.ones((2,), dtype="int32"), 1)], "x was f32[2], is i32[2]"),
        ([(scalar(), 1), (scalar(), 2)], "n was 1, is 2"),
        ([(scalar(), 1), (scalar(), 1.0)], "n was 1, is 1.0"),
        ([(scalar(), {"k": (1, "a")}), (scalar(), {"k": (1, "b")})], "n['k'][1] was 'a', is 'b'"),
        ([(scalar(), [1]), (scalar(), [1, 2])], "n[1] is new"),
        ([(scalar(), [1, 2]), (scalar(), [1])], "n[1] is gone"),
        ([(scalar(), 1), (scalar(), 2), (gx.ones((2,)), 2)], "x was f32[], is f32[2]"),
        ([(scalar(), {"k": 1, "j": 2}), (scalar(), {"j": 2, "k": 1})], "n['j'] comes before n['k']"),
        ([(scalar(), [LIST, LIST]), (scalar(), [[1], [1]])], "n[1] was the same object as n[0], is another one"),
    ],
)
def test_the_reason_names_the_argument_its_old_and_its_new_value(calls: list[Any], reason: str) -> None:
    function = gx.function(lambda x, n: x)
    for args in calls:
        function(*args)
    reports = function.trace_report()
    assert [report.number for report in reports] == list(range(1, len(calls) + 1))
    assert reports[0].reason == "the first call"
    assert reports[-1].reason == reason
    assert reports[-1].location is not None
    assert reports[-1].location.file.endswith("test_retrace.py")
    assert reports[-1].seconds > 0
    assert str(reports[-1]).startswith(f"trace {len(calls)} at test_retrace.py:")


def test_the_reason_names_attributes() -> None:
    class Settings:
        def __init__(self) -> None:
            self.rates = {"low": 1.0}
            self.inner: Any = None

    settings = Settings()
    function = gx.function(lambda x, settings: x * settings.rates["low"])
    function(scalar(), settings)
    settings.rates["low"] = 2.0
    function(scalar(), settings)
    settings.inner = Settings()  # which nobody reads
    function(scalar(), settings)
    reasons = [report.reason for report in function.trace_report()]
    assert reasons[1:] == ["settings.rates['low'] was 1.0, is 2.0"]


def test_a_method_that_a_class_gets_later_is_seen_although_python_gave_it_annotations_meanwhile() -> None:
    class Flag:
        pass

    flag = Flag()
    function = gx.function(lambda x: (x, len(Flag.__annotations__), bool(flag)))  # Before 3.14 asking adds them.
    assert function(scalar())[1:] == function(scalar())[1:] == (0, True)
    Flag.__bool__ = lambda self: False  # pyright: ignore[reportAttributeAccessIssue]
    assert function(scalar())[1:] == (0, False)
    assert function.trace_report()[-1].reason == "Flag.__bool__ is new"


def test_the_first_call_that_creates_variables_is_reported_and_its_retrace_is_not_counted() -> None:
    layers = [gx.layers.Dense(1), gx.layers.Dense(1)]

    @gx.function(on_retrace="error")
    def apply(layer: Any, x: Any) -> Any:
        return layer(x)

    for layer in [*layers, *layers]:
        apply(layer, gx.ones((2, 3)))
    apply(layers[0], gx.ones((4, 3)))
    first, *others = apply.trace_report()
    assert first.number == 1
    creates = r"; it creates the Variable 'dense\w*/kernel\w*' and \d others? \(test_retrace\.py:\d+\)"
    assert re.fullmatch("the first call" + creates, first.reason)
    assert re.fullmatch(f"the first call with other objects{creates}", others[0].reason)
    assert [report.reason for report in others[1:]] == [
        "the first call created Variables, which exist now", "x was f32[2,3], is f32[4,3]"
    ]  # fmt: skip
    assert [report.number for report in others] == [2, 3, 4]
    assert all(report.seconds > 0 for report in (first, *others))


def test_a_first_call_that_runs_in_python_is_reported() -> None:
    made: list[Any] = []

    @gx.function(autograph=False, on_retrace="error")
    def apply(x: Any) -> Any:
        if not made:
            made.extend(gx.Variable(1.0, name=name) for name in ("scale", "offset"))
        return x * made[0] + made[1]

    for _ in range(3):
        apply(scalar())
    reasons = [report.reason for report in apply.trace_report()]
    assert reasons == [
        "this call ran as plain Python; it creates the Variable 'scale' and 1 more",
        "the first call created Variables, which exist now",
    ]


def retrace(function: Callable[..., Any], times: int) -> None:
    for size in range(1, times + 1):
        function(gx.ones((size,)))


def test_the_third_retrace_warns_at_the_users_line() -> None:
    function = gx.function(lambda x: x + 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        retrace(function, 3)
    with pytest.warns(
        gx.errors.RetraceWarning, match=r"4th time: x was f32\[3\], is f32\[4\].*input_signature"
    ) as caught:
        function(gx.ones((4,)))  # traced here
    assert caught[0].filename.endswith("test_retrace.py")
    function(gx.ones((4,)))  # known now


def test_shapes_that_the_signature_leaves_open_are_reported_and_not_warned_of() -> None:
    spec = [gx.TensorSpec([None, 2]), {"k": [gx.TensorSpec(None)]}]
    function = gx.function(lambda x, y, n: gx.sum(x) * gx.sum(y["k"][0]) * n, input_signature=spec, on_retrace="error")
    for size in range(1, 7):
        shape = (size,) * (size % 3)
        found = function(gx.ones((size, 2)), {"k": [gx.ones(shape)]}, 2)
        assert found.item() == 4 * size * np.prod(shape)
    assert function.num_traces == 6
    last = function.trace_report()[-1].reason
    assert last.startswith("x was f32[")
    assert last.endswith("; input_signature leaves this open")
    for n in range(3, 5):
        function(gx.ones((1, 2)), {"k": [gx.ones(())]}, n)
    with pytest.raises(gx.errors.InvalidArgumentError, match="was traced again, for the 9th time: n was 4, is 5"):
        function(gx.ones((1, 2)), {"k": [gx.ones(())]}, 5)


def test_the_warning_comes_again_when_retraces_have_doubled() -> None:
    function = gx.function(lambda x: x + 1)
    warned: list[int] = []
    for number in range(1, 15):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            function.trace(gx.ones((number,)))
        warned += [number for warning in caught if warning.category is gx.errors.RetraceWarning]
    assert warned == [4, 7, 13]


def test_retraces_can_be_ignored_or_errors() -> None:
    retrace(gx.function(lambda x: x, on_retrace="ignore"), 6)
    strict = gx.function(lambda x: x, on_retrace="error")
    retrace(strict, 3)
    with pytest.raises(gx.errors.InvalidArgumentError, match="was traced again, for the 4th time") as caught:
        strict(gx.ones((4,)))
    assert "strict(gx.ones((4,)))" in str(caught.value)
    assert strict(gx.ones((2,))).tolist() == [1, 1]


def test_the_cache_is_bounded_and_drops_what_was_unused_longest() -> None:
    traced: list[tuple[int, ...]] = []

    @gx.function(max_traces=2, on_retrace="ignore", side_effects="ignore")
    def function(x: Any) -> Any:
        traced.append(x.shape)
        return x * 2

    def call(*sizes: int) -> None:
        for size in sizes:
            assert function(gx.ones((size,))).tolist() == [2.0] * size

    call(1, 2, 1, 3)  # drops 2
    call(1, 3)
    assert traced == [(1,), (2,), (3,)]
    call(2)
    assert len(traced) == 4
    assert function.num_traces == 2


def test_clearing_the_cache() -> None:
    factor = [2.0]
    function = gx.function(lambda x: x * factor[0])
    assert [function(scalar()).item(), function(scalar()).item()] == [2, 2]
    factor[0] = 3.0
    function.clear_cache()
    assert function.num_traces == 0
    assert function(scalar()).item() == 3
    assert repr(function) == "<compiled function lambda, 1 trace>"


def test_a_clone_has_the_options_and_no_traces() -> None:
    function = gx.function(lambda x: x * 2, device="cpu:1", max_traces=3, name="double")
    function(scalar())
    clone = function.clone()
    assert (clone.name, clone.num_traces) == ("double", 0)
    assert clone(scalar()).device == "/device:CPU:1"
