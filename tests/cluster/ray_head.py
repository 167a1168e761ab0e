"""A Ray of its own for the tests of a run: prints its address, and ends with the process whose number it is given."""

from __future__ import annotations

import os
import sys
import time

from graphc.cluster.carriers.rays import connect, listens_at


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


if __name__ == "__main__":
    connect(num_cpus=8, object_store_memory=200 << 20)
    print(listens_at(), flush=True)
    while _lives(int(sys.argv[1])):
        time.sleep(0.5)
