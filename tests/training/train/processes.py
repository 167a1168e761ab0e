"""What one of two processes does that save together: a program of its own."""

from __future__ import annotations

import os
import sys
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P


def main() -> None:
    os.environ.pop("GRAPHC_CPU_DEVICES", None)
    names = ("GRAPHC_COORDINATOR", "GRAPHC_PROCESS_ID", "GRAPHC_PROCESSES", "GRAPHC_AUTHKEY")
    os.environ.update(zip(names, (*sys.argv[1:3], "2", "secret"), strict=True))
    import graphc as gx

    gx.distribute.initialize(timeout=60)
    rows = NamedSharding(Mesh(np.array(jax.devices()), ("rows",)), P("rows"))
    numbers = np.arange(12, dtype=np.float32).reshape(6, 2)

    def made(content: np.ndarray[Any, Any]) -> gx.Variable:
        variable = gx.Variable(np.zeros((6, 2), np.float32))
        variable._array = jax.make_array_from_callback((6, 2), rows, lambda index: content[index])
        return variable

    split, own = made(numbers), gx.Variable([7.0])
    gx.train.Checkpoint(sys.argv[3], split=split, own=own).save(1, wait=True)
    split, own = made(numbers * 0), gx.Variable([0.0])
    gx.train.Checkpoint(sys.argv[3], split=split, own=own).restore()
    (shard,) = split._array.addressable_shards
    print(np.asarray(shard.data).tolist(), own.numpy().tolist())


if __name__ == "__main__":
    main()
