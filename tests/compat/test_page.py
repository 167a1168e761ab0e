"""The page about TensorFlow's names is that of the tables."""

from __future__ import annotations

import graphc.compat.v2 as tf
from graphc.compat.tensorflow2.tables import ROWS
from tests.compat.page import PAGE, THEMES, page


def test_the_page_is_up_to_date_and_has_every_name() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text == page(text), "run python -m tests.compat.page"
    assert {row.names[0].rpartition(".")[0].partition(".")[0] for row in ROWS} == set(THEMES)
    assert all(f"`tf.{name}`" in text for row in ROWS for name in row.names)


def test_the_page_names_the_version_of_tensorflow() -> None:
    assert f"TensorFlow {tf.__version__}" in PAGE.read_text(encoding="utf-8")
