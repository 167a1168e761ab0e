"""How often code is traced: the work must not explode with what is nested or chained."""

from __future__ import annotations

from typing import Any

import graphc as gx


def test_a_long_chained_comparison_is_traced_in_linear_time() -> None:
    # Were the rest of the chain traced twice at each place, this would take 2 ** 24 comparisons.
    @gx.function
    def rising(x: Any) -> Any:
        return (
            x < x + 1 < x + 2 < x + 3 < x + 4 < x + 5 < x + 6 < x + 7 < x + 8 < x + 9 < x + 10 < x + 11 < x + 12
            < x + 13 < x + 14 < x + 15 < x + 16 < x + 17 < x + 18 < x + 19 < x + 20 < x + 21 < x + 22 < x + 23 < x * 4
        )  # fmt: skip

    x = gx.asarray(10.0)
    assert sum(node.op.name == "less" for node in rising.graph(x).walk()) == 24
    assert rising(x).item() is True
    assert rising(gx.asarray(1.0)).item() is False
