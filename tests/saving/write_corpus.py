"""Writes a folder of the corpus: functions that later versions must still load.

Run ``python -m tests.saving.write_corpus``.
Folders that are there are never written again: they are what the version of their time has saved.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

import graphc as gx

CORPUS = Path(__file__).parent / "corpus"


def functions() -> dict[str, tuple[Any, tuple[Any, ...], list[list[Any]]]]:
    """Functions, for what they are saved, and arguments to call them with."""
    model = gx.layers.Sequential([gx.layers.Dense(3, "relu", in_features=2), gx.layers.Dense(1, in_features=3)])
    for number, variable in enumerate(model.variables):
        variable.assign(gx.reshape(gx.arange(float(variable.value().size)), variable.shape) / 10 - number / 5)
    optimizer = gx.optim.Adam(0.1)
    optimizer.build(model.trainable_variables)
    rows, targets = gx.TensorSpec((None, 2)), gx.TensorSpec((None, 1))

    def step(x: Any, y: Any) -> Any:
        return optimizer.minimize(lambda: gx.mean((model(x) - y) ** 2), model.trainable_variables)

    def control(x: Any) -> Any:
        for _ in range(20):
            x = gx.where(x > 2, x / 2, x + 1)
        while gx.sum(x) > 3:
            x = x - gx.mean(x) / x.shape[0]
        if gx.max(x) > 100:
            raise ValueError("too large")
        return gx.cumsum(gx.sort(x))

    batch, row = [[1.0, 2.0], [3.0, -1.0]], [1.0, 5.0, 2.0, 0.5]
    return {
        "predict": (model, (rows,), [[batch]]),
        "step": (gx.function(step), (rows, targets), [[batch, [[1.0], [0.0]]]] * 2),
        "control": (gx.function(control), (gx.TensorSpec((None,)),), [[row]]),
    }


def main(name: str) -> None:
    """Writes one folder."""
    folder = CORPUS / name
    if folder.exists():
        sys.exit(f"{folder} is there; the corpus keeps what older versions have saved")
    known = functions()
    saved = {name: function for name, (function, _, _) in known.items()}
    gx.save(saved, folder / "saved", {name: signature for name, (_, signature, _) in known.items()})
    loaded = gx.load(folder / "saved")
    cases = [
        {"function": name, "arguments": arguments, "result": np.asarray(
            loaded[name](*[gx.asarray(np.asarray(value, "float32")) for value in arguments])).tolist()}
        for name, (_, _, calls) in known.items()
        for arguments in calls
    ]  # fmt: skip
    (folder / "results.json").write_text(json.dumps(cases, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else f"graphc-{gx.__version__}-format-1")
