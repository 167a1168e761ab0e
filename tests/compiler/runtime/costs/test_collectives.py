"""Collectives are counted in the text of compiled programs, also those that run beside others."""

from __future__ import annotations

import pytest

from graphc.compiler.runtime.costs import CollectiveReport, collectives_of, have_groups
from graphc.compiler.runtime.costs.times import KINDS, instructions_of

TEXT = """
  %all-reduce.5 = (f32[], bf16[64,64]{1,0}, /*index=2*/pred[8]{0}) all-reduce(%a, %dot.7, %c), channel_id=1
  %all-gather-start = (f32[8]{0}, f32[64]{0}) all-gather-start(%param.1), channel_id=2
  ROOT %all-gather-done = f32[64]{0} all-gather-done(%all-gather-start)
  %reduce-scatter.1 = c64[4]{0} reduce-scatter(%all-gather-done), channel_id=3
  %fusion = f32[4]{0} fusion(%reduce-scatter.1), calls=%all-reduce.computation
"""


class _Program:
    def as_text(self) -> str:
        return TEXT


def test_each_collective_counts_once_with_the_bytes_of_its_result() -> None:
    assert collectives_of(_Program()) == (
        CollectiveReport("all-gather", 1, 1, 256),
        CollectiveReport("all-reduce", 1, 3, 4 + 8192 + 8),
        CollectiveReport("reduce-scatter", 1, 1, 32),
    )


def test_collectives_have_names() -> None:
    names = {"all-reduce.5", "all-gather-start", "all-gather-done", "reduce-scatter.1"}
    assert instructions_of(_Program(), KINDS) == names


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        ("replica_groups={{0,1,2,3}}", False),
        ("replica_groups={}", False),
        ("replica_groups=[1,4]<=[4]", False),
        ("replica_groups={{0,1},{2,3}}", True),
        ("replica_groups=[2,2]<=[4]", True),
        ("replica_groups=mesh['a'=4,'b'=1,'c'=2] {'a','c'}", False),
        ("replica_groups=mesh['a'=4,'b'=2] {'a'}", True),
        ("replica_groups=mesh['a'=8] {'a':(1)4}", True),
        ("replica_groups={{0,1}}, dimensions={0} all-gather replica_groups={{0},{1}}", True),
        ("source_target_pairs={{0,1},{1,0}}", True),
    ],
)
def test_groups_are_seen(text: str, groups: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_Program, "as_text", lambda _: text)
    assert have_groups(_Program()) == groups
