"""The page of an explanation, as Chromium shows it, and the graph of the same training step."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import graphc as gx

__all__ = ["write_graph", "write_page"]

_WEIGHTS = gx.Variable(gx.ones((64, 64)) * 0.01, name="weights")
_RATE = 0.1


def train(x: gx.Tensor, target: gx.Tensor) -> gx.Tensor:
    """Takes twenty steps of gradient descent."""
    loss = gx.zeros(())
    for _ in range(20):
        with gx.GradientTape() as tape:
            error = gx.tanh(x @ _WEIGHTS) - target
            loss = gx.mean(error * error)
        _WEIGHTS.assign_sub(_RATE * tape.gradient(loss, _WEIGHTS))
    if loss > 100.0:
        gx.print("it diverges:", loss)
    return loss


_ARGUMENTS = gx.ones((128, 64)), gx.zeros((128, 64))
_CHROMIUM = (
    "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--hide-scrollbars", "--window-size=1160,1500",
)  # fmt: skip


def write_graph(path: Path) -> None:
    """Draws the graph."""
    gx.function(train).graph(*_ARGUMENTS).draw(path)


def write_page(path: Path) -> None:
    """Makes a picture of the page, where Chromium is installed; otherwise the one that is there stays."""
    if shutil.which("chromium") is None:
        print("no chromium: the picture of the page stays as it is")
        return
    with TemporaryDirectory() as name:
        folder = Path(name)
        compiled = gx.function(train)
        compiled(*_ARGUMENTS).wait()
        with gx.profile(jax_profiler=folder / "profile"):
            compiled(*_ARGUMENTS).wait()
        page = folder / "page.html"
        page.write_text(gx.explain(compiled, *_ARGUMENTS, profile=folder / "profile").html(), encoding="utf-8")
        picture = f"--screenshot={path.with_suffix('.png').resolve()}"
        command = ["chromium", *_CHROMIUM, f"--user-data-dir={folder / 'browser'}", picture, page.as_uri()]
        subprocess.run(command, check=True, timeout=60, capture_output=True)
