"""``gx.debug.step``: nodes one after the other, lines, names, breakpoints, loops and branches, Variables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import graphc as gx
from graphc.compiler.base.errors import FailedPreconditionError, InvalidArgumentError, NotFoundError

W = gx.Variable([1.0, 2.0], name="debug_w")
X, THREE = gx.asarray([3.0, 4.0]), gx.asarray(3)


def update(x: Any, n: Any) -> Any:
    total = gx.sum(x * W)  # the product
    for _ in range(n):
        total = total * 1.5  # in the loop
        if total > 20.0:
            total = total - 10.0  # in the branch
    W.assign(W + total)
    return helper(total)


def helper(z: Any) -> Any:
    inner = z + 0.5
    return inner * 2.0  # in the helper


def stopping(x: Any) -> Any:
    while x > 1.0:
        x = x / 2.0
        if x < 3.0:
            gx.debug.breakpoint()
    return x


def summed(rows: Any) -> Any:
    kept = []
    total = gx.zeros(())
    for row in rows:
        total = total + row  # the row
        kept.append(total)
    return total, gx.stack(kept)


def failing(x: Any) -> Any:
    y = x - 1.0
    if y < 0.0:
        raise ValueError(f"below: {y}")
    return y


def line(text: str) -> int:
    source = Path(__file__).read_text(encoding="utf-8").split("\n")
    return next(number for number, found in enumerate(source, 1) if found.endswith(f"# {text}"))


def test_each_node_has_its_line_and_values() -> None:
    stepper = gx.debug.step(update, X, THREE)
    steps = [stepper.next() for _ in range(3)]
    assert [found.op for found in steps if found] == ["read_variable", "multiply", "sum"]
    product = steps[1]
    assert product is not None
    assert product.line is not None
    assert (product.line.line, product.line.function) == (line("the product"), "update")
    assert [value.tolist() for value in product.values] == [[3.0, 8.0]]
    assert product.path == ()
    assert product.iteration is None
    assert "multiply at test_stepper.py" in repr(product)


def test_the_whole_program_gives_what_a_call_gives_and_leaves_variables() -> None:
    before = W.numpy()
    stepper = gx.debug.step(gx.function(update), X, THREE)
    found = list(stepper)
    assert stepper.done
    assert stepper.line is None
    assert stepper.next() is None
    assert W.tolist() == before.tolist()
    assert {one.path for one in found} >= {(), ("while[0]",), ("while[2]",), ("while[1]", "if true")}
    assert found[-1].iteration is None
    assert stepper.value("debug_w").tolist() != before.tolist()
    result = stepper.result().item()
    assert result == pytest.approx(gx.function(update)(X, THREE).item())
    assert stepper.value("debug_w").tolist() == W.tolist()
    W.assign(before)
    stepper.commit()
    assert W.tolist() == stepper.value("debug_w").tolist()
    W.assign(before)


def test_a_line_in_a_loop_and_in_a_branch_is_run_to_again_and_again() -> None:
    stepper = gx.debug.step(update, X, THREE)
    totals = []
    while not stepper.run_to(line("in the loop")).done:
        totals.append(stepper.value("total").item())
    assert totals == [11.0, 16.5, 14.75]
    again = gx.debug.step(update, X, THREE).run_to(f"test_stepper.py:{line('in the branch')}")
    assert again.value("total").item() == 24.75
    assert again.line is not None
    assert again.line.line == line("in the branch")


def test_breakpoints_by_line_and_by_call() -> None:
    stepper = gx.debug.step(update, X, THREE, breakpoints=[line("in the branch"), line("in the helper")])
    assert stepper.run().value("total").item() == 24.75
    stepper.run()
    assert stepper.run().value("inner").item() == stepper.value("z").item() + 0.5
    assert stepper.run().done
    stepper = gx.debug.step(stopping, gx.asarray(20.0)).run()
    assert stepper.value("x").item() == 2.5
    assert stepper.steps[-1].path == ("while[2]",)
    assert not stepper.done
    assert stepper.result().item() == stopping(gx.asarray(20.0)).item()


def test_a_compiled_function_runs_past_its_breakpoints() -> None:
    compiled = gx.function(stopping)
    assert compiled(gx.asarray(20.0)).item() == stopping(gx.asarray(20.0)).item()
    assert "debug.breakpoint" not in str(compiled.graph(gx.asarray(20.0)))


def test_rows_of_a_scan_and_what_it_collects() -> None:
    stepper = gx.debug.step(summed, gx.asarray([1.0, 2.0, 4.0] * 4)).run_to(line("the row"))
    assert stepper.value("row").item() == 1.0
    stepper.run_to(line("the row"))
    assert stepper.value("row").item() == 2.0
    found = stepper.next()
    assert found is not None
    assert found.iteration == 1
    total, kept = stepper.result()
    assert (total.item(), kept.tolist()[-1]) == (28.0, 28.0)


def test_the_first_nan_by_node_and_iteration() -> None:
    def logs(x: Any, n: Any) -> Any:
        for _ in range(n):
            x = gx.log(x)
        return x

    stepper = gx.debug.step(logs, gx.asarray(3.0), gx.asarray(9))
    found = stepper.run_to_nan()
    assert found is not None
    assert (found.op, found.iteration) == ("log", 3)
    assert gx.debug.step(logs, gx.asarray(3.0), gx.asarray(1)).run_to_nan() is None


def test_an_exception_of_the_program_comes_with_the_result() -> None:
    stepper = gx.debug.step(failing, gx.asarray(0.5))
    assert stepper.run().value("y").item() == -0.5
    with pytest.raises(ValueError, match=r"below: -0\.5"):
        stepper.result()


def test_methods_and_layers() -> None:
    layer = gx.layers.Dense(2, in_features=2)
    call = gx.function(layer)
    stepper = gx.debug.step(call, gx.ones((1, 2)))
    assert stepper.result().tolist() == layer(gx.ones((1, 2))).tolist()
    names = [name for name in stepper.values if name.endswith("kernel") or "kernel" in name]
    assert names


def test_gradients_run_too() -> None:
    def slope(x: Any) -> Any:
        with gx.GradientTape() as tape:
            tape.watch(x)
            y = x * x * x
        return tape.gradient(y, x)

    assert gx.debug.step(slope, gx.asarray(2.0)).result().item() == 12.0


def test_the_table_shows_lines_and_values() -> None:
    stepper = gx.debug.step(update, X, THREE)
    stepper.next()
    stepper.next()
    text = repr(stepper)
    assert "total = gx.sum(x * W)  # the product" in text
    assert "[3., 8.]" in text
    assert "-> sum" in text
    assert stepper._repr_mimebundle_()["text/plain"] == text


def test_nodes_by_their_sign() -> None:
    stepper = gx.debug.step(update, X, THREE).run_to(line("in the loop"))
    assert stepper.value("%sum").item() == 11.0
    assert stepper.value("sum").item() == 11.0


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: gx.debug.step(3), InvalidArgumentError, r"gx\.debug\.step: expected a function, got 3"),
        (
            lambda: gx.debug.step(update, X, THREE, breakpoints=["here"]),
            InvalidArgumentError,
            r"a breakpoint is a line, such as 12 or 'file\.py:12', got 'here'",
        ),
        (
            lambda: gx.debug.step(update, X, THREE).run_to(1),
            NotFoundError,
            "nothing is computed on line 1; nodes are on ",
        ),
        (
            lambda: gx.debug.step(update, X, THREE).value("nothing"),
            NotFoundError,
            "there is no value 'nothing' yet; there are 'x', 'n'",
        ),
        (
            lambda: gx.debug.step(update, X, THREE).commit(),
            FailedPreconditionError,
            r"not at its end, and a part of an update is none; call result\(\) first",
        ),
        (
            lambda: gx.function(lambda x: gx.debug.step(helper, x))(X),
            FailedPreconditionError,
            r"gx\.debug\.step is called inside a compiled function; call it outside",
        ),
    ],
)
def test_bad_input_is_answered(call: Any, kind: Any, message: str) -> None:
    with pytest.raises(kind, match=message) as caught:
        call()
    assert "test_stepper.py" in str(caught.value)
