"""Arrays over the devices of several processes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from graphc.compiler.base.errors import InvalidArgumentError
from graphc.training.distribute.processes import from_local_rows


@dataclass(frozen=True)
class Device:
    """What of a device of another process is looked at."""

    process_index: int
    id: int


def test_rows_that_would_be_the_same_on_two_processes_are_refused() -> None:
    devices = [Device(number // 2, number) for number in range(6)]
    with pytest.raises(
        InvalidArgumentError, match=r"3 rows of each of 3 processes .* 6 devices; .* multiple of 2 rows"
    ):
        from_local_rows(devices, 0, np.ones((3, 2), np.float32))
