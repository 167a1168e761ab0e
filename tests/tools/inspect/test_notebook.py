"""What a notebook's cells show: each value once, as a picture or a table."""

from __future__ import annotations

from typing import Any

import pytest

CELLS = [
    "import graphc as gx\n@gx.function\ndef step(x):\n    return gx.tanh(x @ x)\nx = gx.ones((4, 4))",
    "gx.explain(step, x)",
    "gx.compare(step, x, rounds=3)",
    "step.graph(x)",
    "x",
    "with gx.profile() as timeline:\n    step(x).wait()\ntimeline",
]


@pytest.mark.multiprocess
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of nbclient's and zmq's own
def test_each_value_is_shown_once_and_as_html() -> None:
    client: Any = pytest.importorskip("nbclient")
    formats: Any = pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    notebook = formats.v4.new_notebook(cells=[formats.v4.new_code_cell(cell) for cell in CELLS])
    client.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    shown = [cell.outputs for cell in notebook.cells]
    assert shown[0] == []
    for cell, outputs in zip(CELLS[1:], shown[1:], strict=True):
        assert [output.output_type for output in outputs] == ["execute_result"], (cell, outputs)
        assert "text/html" in outputs[0].data, cell
