"""Device specs: TensorFlow's notation, in parts and in any case."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphc.base import errors
from graphc.ir import DeviceSpec

indices = st.none() | st.integers(0, 99)


@st.composite
def specs(draw: st.DrawFn) -> DeviceSpec:
    type = draw(st.none() | st.sampled_from(["CPU", "GPU", "TPU", "XLA_GPU"]))
    job = draw(st.none() | st.sampled_from(["worker", "ps", "Job_1"]))
    return DeviceSpec(job, draw(indices), draw(indices), type, draw(indices) if type else None)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("/job:worker/replica:0/task:1/device:GPU:0", "/job:worker/replica:0/task:1/device:GPU:0"),
        ("/gpu:0", "/device:GPU:0"),
        ("cpu:1", "/device:CPU:1"),
        ("GPU", "/device:GPU:*"),
        ("/device:gpu:*", "/device:GPU:*"),
        ("/DEVICE:Tpu:3", "/device:TPU:3"),
        ("/device:NPU", "/device:NPU:*"),
        ("/cpu:0/task:2/JOB:ps", "/job:ps/task:2/device:CPU:0"),
        ("/job:Worker/task:*", "/job:Worker"),
        ("/job:my-job.1", "/job:my-job.1"),
        ("", ""),
    ],
)
def test_parses_every_form_and_prints_the_canonical_one(text: str, canonical: str) -> None:
    assert str(DeviceSpec.parse(text)) == canonical


@given(specs())
def test_the_canonical_form_parses_back(spec: DeviceSpec) -> None:
    assert DeviceSpec.parse(str(spec)) == spec


MALFORMED = """
    / //cpu:0 /cpu:0/ /gpu:x /gpu:-1 /gpu:0:1 foo:0 /jbo:worker /job: /job:a:b /job:a_? /task:one /task:1:2
    /device /device: /device:0 /device:GPU: /device:GPU:0:0
"""


@pytest.mark.parametrize("text", [*MALFORMED.split(), " /cpu:0"])
def test_malformed_text_is_refused_with_the_forms_that_are_taken(text: str) -> None:
    with pytest.raises(errors.InvalidArgumentError) as caught:
        DeviceSpec.parse(text)
    assert f"the device {text!r} has the part" in str(caught.value)
    assert 'write "/job:worker/replica:0/task:1/device:GPU:0" or a part of it' in str(caught.value)


@pytest.mark.parametrize("text", ["/gpu:0/cpu:0", "/task:1/task:1", "/device:CPU:0/cpu"])
def test_a_part_that_is_given_twice_is_refused(text: str) -> None:
    with pytest.raises(errors.InvalidArgumentError, match=f"the device '{text}' gives .* more than once"):
        DeviceSpec.parse(text)


@pytest.mark.parametrize(
    ("outer", "inner", "merged"),
    [
        ("/job:ps/task:1", "/gpu:0", "/job:ps/task:1/device:GPU:0"),
        ("/job:ps/task:1", "/job:worker", "/job:worker/task:1"),
        ("/gpu:1", "/gpu", "/device:GPU:1"),
        ("/gpu:1", "/cpu", "/device:CPU:*"),
        ("/gpu:1", "/cpu:0", "/device:CPU:0"),
        ("/gpu:1", "", "/device:GPU:1"),
        ("", "/task:0", "/task:0"),
    ],
)
def test_the_inner_spec_wins_where_it_says_something(outer: str, inner: str, merged: str) -> None:
    assert str(DeviceSpec.parse(outer).merge(DeviceSpec.parse(inner))) == merged


@given(specs())
def test_merging_has_a_unit_and_is_idempotent(spec: DeviceSpec) -> None:
    assert spec.merge(DeviceSpec()) == DeviceSpec().merge(spec) == spec.merge(spec) == spec


def test_the_type_is_kept_in_upper_case() -> None:
    assert DeviceSpec(device_type="gpu", device_index=0) == DeviceSpec.parse("GPU:0")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"task": -1}, "task is -1; it counts from 0"),
        ({"device_type": "GPU", "device_index": -2}, "device_index is -2; it counts from 0"),
        ({"device_index": 0}, "device_index is 0 but device_type is None"),
        ({"job": "a/b"}, "'a/b' is no name of a job"),
        ({"device_type": "G:0"}, "'G:0' is no type of device"),
    ],
)
def test_a_spec_that_cannot_be_is_refused(fields: dict[str, object], message: str) -> None:
    with pytest.raises(errors.InvalidArgumentError, match=message):
        DeviceSpec(**fields)  # type: ignore[arg-type]
