"""Device specs: TensorFlow's notation, in parts and in any case."""

from __future__ import annotations

import dataclasses
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphc.compiler.base import errors
from graphc.compiler.ir import DeviceSpec

indices = st.none() | st.integers(0, 99)


@st.composite
def specs(draw: st.DrawFn) -> DeviceSpec:
    type = draw(st.none() | st.sampled_from(["CPU", "GPU", "TPU", "XLA_GPU"]))
    job = draw(st.none() | st.sampled_from(["worker", "ps", "Job_1"]))
    return DeviceSpec(job, draw(indices), draw(indices), type, draw(indices))


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
        ("/device:*:1", "/device:*:1"),
        ("/device:*:*", ""),
        ("Device:*/TASK:3", "/task:3"),
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
    with pytest.raises(errors.InvalidArgumentError, match=f"the device '{text}' sets .* more than once"):
        DeviceSpec.parse(text)


@pytest.mark.parametrize(
    ("outer", "inner", "merged"),
    [
        ("/job:ps/task:1", "/gpu:0", "/job:ps/task:1/device:GPU:0"),
        ("/job:ps/task:1", "/job:worker", "/job:worker/task:1"),
        ("/gpu:1", "/gpu", "/device:GPU:1"),
        ("/gpu:1", "/cpu", "/device:CPU:*"),
        ("/gpu:1", "/cpu:0", "/device:CPU:0"),
        ("/gpu", "/device:*:1", "/device:GPU:1"),
        ("/gpu:0", "/device:*:1", "/device:GPU:1"),
        ("/device:*:1", "/gpu", "/device:GPU:1"),
        ("/job:localhost", "cpu:1", "/job:localhost/device:CPU:1"),
        ("/gpu:1", "", "/device:GPU:1"),
        ("", "/task:0", "/task:0"),
    ],
)
def test_the_inner_spec_wins_where_it_says_something(outer: str, inner: str, merged: str) -> None:
    assert str(DeviceSpec.parse(outer).merge(DeviceSpec.parse(inner))) == merged


@given(specs())
def test_merging_has_a_unit_and_is_idempotent(spec: DeviceSpec) -> None:
    assert spec.merge(DeviceSpec()) == DeviceSpec().merge(spec) == spec.merge(spec) == spec


@given(specs(), specs())
def test_a_merged_spec_says_what_the_inner_one_says_and_nothing_that_neither_says(
    outer: DeviceSpec, inner: DeviceSpec
) -> None:
    merged = outer.merge(inner)
    for field in dataclasses.fields(DeviceSpec):
        said, before, now = (getattr(spec, field.name) for spec in (inner, outer, merged))
        assert now == said if said is not None else now in (before, None)
    if None in (inner.device_type, outer.device_type) or inner.device_type == outer.device_type:
        assert all(getattr(merged, field.name) is not None for field in dataclasses.fields(DeviceSpec)
                   if getattr(outer, field.name) is not None)  # fmt: skip


@given(specs(), specs(), specs())
def test_merging_is_associative_where_no_index_is_lost_with_its_type(
    outer: DeviceSpec, middle: DeviceSpec, inner: DeviceSpec
) -> None:
    """``/gpu:1``, ``/cpu``, ``/gpu``: the index 1 is lost with its type if the outer two are merged first."""
    named = {spec.device_type for spec in (outer, middle, inner)} - {None}
    if len(named) <= 1 or inner.device_index is not None:
        assert outer.merge(middle).merge(inner) == outer.merge(middle.merge(inner))


@given(specs(), st.randoms())
def test_the_case_of_words_and_the_order_of_parts_make_no_difference(spec: DeviceSpec, random: Random) -> None:
    parts = [part.split(":", 1) for part in str(spec).split("/")[1:]]
    random.shuffle(parts)
    anyhow = "".join(
        f"/{''.join(map(random.choice, zip(key.lower(), key.upper(), strict=True)))}"
        f":{value.lower() if key == 'device' else value}"
        for key, value in parts
    )
    assert DeviceSpec.parse(anyhow) == DeviceSpec.parse(anyhow.removeprefix("/")) == spec


def test_tensorflows_names() -> None:
    spec = DeviceSpec.from_string("/job:ps/gpu:1")
    assert spec.to_string() == "/job:ps/device:GPU:1"
    assert spec.make_merged_spec(DeviceSpec(task=1)).to_string() == "/job:ps/task:1/device:GPU:1"
    assert spec.replace(job=None, device_index=2) == DeviceSpec.parse("gpu:2")
    with pytest.raises(errors.InvalidArgumentError, match="a device spec has no field 'index'; the fields are job"):
        spec.replace(index=2)


def test_the_type_is_kept_in_upper_case() -> None:
    assert DeviceSpec(device_type="gpu", device_index=0) == DeviceSpec.parse("GPU:0")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"task": -1}, "task is -1; expected at least 0"),
        ({"device_type": "GPU", "device_index": -2}, "device_index is -2; expected at least 0"),
        ({"job": "a/b"}, "'a/b' is not a job name"),
        ({"device_type": "G:0"}, "'G:0' is not a device type"),
        ({"job": 3}, "job is 3; expected a string or None"),
        ({"task": "1"}, "task is '1'; expected an int or None"),
        ({"replica": True}, "replica is True; expected an int or None"),
    ],
)
def test_a_spec_that_cannot_be_is_refused(fields: dict[str, object], message: str) -> None:
    with pytest.raises(errors.InvalidArgumentError, match=message):
        DeviceSpec(**fields)  # type: ignore[arg-type]
