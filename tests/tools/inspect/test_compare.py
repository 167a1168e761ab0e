"""gx.compare: equality of values, Variables and gradients, and what is measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import graphc as gx
from graphc.compiler.core import count_launches
from graphc.tools.inspect import Comparison


def compare(fn: Any, *args: Any, **options: Any) -> Comparison:
    return gx.compare(fn, *args, **{"rounds": 0, "show": False, **options})


def polynomial(x: Any) -> Any:
    return 3 * x**2 + 2 * x + 1


def test_a_function_that_does_the_same_is_equal_in_values_and_gradients() -> None:
    found = compare(polynomial, gx.asarray([1.0, 2.0]))
    assert found.equal
    compiled = found.mode("compiled")
    assert compiled.values is not None
    assert [difference.path for difference in compiled.values.differences] == ["result"]
    assert compiled.gradients is not None
    assert [difference.path for difference in compiled.gradients.differences] == ["the gradient of x"]
    assert found.mode("eager").values is None


@pytest.mark.parametrize("argument", [gx.asarray([1.0, 2.0]), np.ones(2, np.float32), jnp.ones(2)], ids=type)
def test_arrays_of_any_kind_are_tensors_in_both_modes(argument: Any) -> None:
    def function(x: gx.Tensor) -> gx.Tensor:
        assert isinstance(x, gx.Tensor)
        return x + 1

    assert compare(function, argument).equal


def test_a_compiled_function_keeps_its_options_and_its_traces() -> None:
    function = gx.function(polynomial, name="p", unroll=True)
    found = function.compare(gx.asarray(2.0), rounds=0, show=False)
    assert found.equal
    assert found.function == "p"
    assert function.num_traces == 0


def test_a_side_effect_is_told_once_though_the_gradients_are_traced_too() -> None:
    kept: list[int] = []

    def keeping(x: gx.Tensor) -> gx.Tensor:
        kept.append(1)
        return x * 2

    with pytest.warns(gx.errors.SideEffectWarning) as told:
        assert compare(keeping, gx.asarray([1.0, 2.0]), rounds=0).equal
    assert [str(one.message).partition(", and")[0] for one in told] == [
        "the call of list.append happens once, when keeping is traced"
    ]


counter = 0


def test_a_function_that_depends_on_a_python_counter_is_unequal_and_is_not_timed() -> None:
    global counter
    counter = 0

    def counting(x: gx.Tensor) -> gx.Tensor:
        global counter
        counter += 1
        return x * counter

    with pytest.warns(gx.errors.SideEffectWarning, match="the assignment to the global 'counter' happens once"):
        found = compare(counting, gx.asarray([1.0, 2.0]), rounds=3)
    assert not found.equal
    compiled = found.mode("compiled")
    assert compiled.values is not None
    worst = compiled.values.worst
    assert worst is not None
    assert worst.path == "result"
    assert worst.index == (1,)
    assert "eager code gives" in worst.problem
    assert all(mode.timing is None for mode in found.modes)
    assert found.speedup() is None
    assert found.break_even is None
    assert any("nothing was timed" in note for note in found.notes)


def test_a_wrong_gradient_is_found_where_the_values_agree() -> None:
    @gx.custom_gradient
    def wrong(x: gx.Tensor) -> Any:
        eager = not hasattr(x, "trace")
        return x * 2.0, lambda gradient: gradient * (2.0 if eager else 3.0)

    found = compare(lambda x: wrong(x), gx.asarray([1.0, 2.0]))
    compiled = found.mode("compiled")
    assert compiled.values is not None
    assert compiled.gradients is not None
    assert compiled.values.equal
    assert not compiled.gradients.equal
    assert not found.equal
    assert not compare(lambda x: wrong(x), gx.asarray([1.0]), gradients=True).equal
    assert compare(lambda x: wrong(x), gx.asarray([1.0]), gradients=False).equal


@pytest.mark.parametrize(("size", "equal"), [(1e-5, True), (2e-2, False)])
def test_a_gradient_of_terms_that_cancel_is_judged_by_the_terms(size: float, equal: bool) -> None:
    @gx.custom_gradient
    def converged(x: gx.Tensor) -> Any:  # its gradient is noise, which depends on the last bit of x
        noise = gx.sin if not hasattr(x, "trace") else gx.cos
        return x * 1.0, lambda gradient: gradient * size * noise(x * 1e7)

    found = compare(lambda x: converged(x), gx.asarray(1.5))
    assert found.equal is equal


def test_gradients_are_weighted_so_that_a_softmax_has_one() -> None:
    compiled = compare(gx.nn.softmax, gx.asarray([1.0, 2.0, 3.0])).mode("compiled")
    assert compiled.gradients is not None
    worst = compiled.gradients.worst
    assert worst is not None
    assert worst.allowed is not None
    assert worst.allowed > 1e-6


def test_gradients_are_taken_of_nested_floating_inputs_and_outputs() -> None:
    def function(pair: Any, *, scale: Any, count: Any) -> Any:
        return {"y": pair["a"] * scale, "n": count + 1}, gx.sum(pair["b"] * pair["a"])

    a, b = gx.asarray([1.0, 2.0]), gx.asarray([3.0, 4.0])
    compiled = compare(function, {"a": a, "b": b}, scale=gx.asarray(2.0), count=gx.asarray(1)).mode("compiled")
    assert compiled.gradients is not None
    paths = [difference.path for difference in compiled.gradients.differences]
    assert paths == ["the gradient of pair['a']", "the gradient of pair['b']", "the gradient of scale"]
    assert compiled.equal


def test_without_floating_inputs_there_are_no_gradients_and_no_note() -> None:
    found = compare(lambda n: n + 1, gx.asarray(1))
    assert found.mode("compiled").gradients is None
    assert found.notes == ()


def test_a_gradient_that_is_refused_is_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(tape: Any, *args: Any, **options: Any) -> None:
        raise gx.errors.UnimplementedError("this op has no gradient\n  at a line")

    monkeypatch.setattr(gx.GradientTape, "gradient", refuse)
    found = compare(polynomial, gx.asarray([4.0, 2.0]))
    assert found.equal
    assert found.mode("compiled").gradients is None
    assert found.notes == ("gradients were not compared: this op has no gradient",)


class Model:
    def __init__(self) -> None:
        self.w = gx.Variable([1.0, 2.0], name="weights")

    @gx.function
    def step(self, x: gx.Tensor) -> gx.Tensor:
        with gx.GradientTape() as tape:
            loss = gx.sum((self.w * x - 1.0) ** 2)
        self.w.assign_sub(0.1 * tape.gradient(loss, self.w))
        return loss


def test_modes_start_from_the_same_variables_and_leave_them_as_they_were() -> None:
    model = Model()
    found = compare(model.step, gx.asarray([1.0, 3.0]), rounds=3)
    assert found.equal
    compiled = found.mode("compiled")
    assert compiled.values is not None
    assert [difference.path for difference in compiled.values.differences][1].startswith("Variable 'weights")
    assert model.w.numpy().tolist() == [1.0, 2.0]
    assert model.step.compare(gx.asarray([1.0, 3.0]), rounds=0, show=False).equal


def test_modes_draw_the_same_random_numbers() -> None:
    gx.random.seed(3)
    expected = gx.random.normal((4,)).numpy()
    gx.random.seed(3)
    assert compare(lambda x: x + gx.random.normal((4,)), gx.zeros((4,)), rounds=3).equal
    assert (gx.random.normal((4,)).numpy() == expected).all()


def test_a_wrong_variable_makes_modes_unequal() -> None:
    v = gx.Variable(0.0, name="written")
    calls: list[int] = []

    @gx.do_not_convert
    def function(x: gx.Tensor) -> gx.Tensor:
        calls.append(1)
        v.assign(x * len(calls))
        return x

    found = compare(function, gx.asarray(1.0), gradients=False)
    assert not found.equal
    values = found.mode("compiled").values
    assert values is not None
    worst = values.worst
    assert worst is not None
    assert worst.path.startswith("Variable 'written")
    assert v.item() == 0.0


def test_variables_made_in_the_first_call_are_compared_too() -> None:
    network = gx.layers.Sequential([gx.layers.Dense(3), gx.layers.Dense(1)])
    found = compare(lambda x: network(x), gx.ones((2, 4)))
    assert found.equal
    assert len(network.variables) == 4


def test_the_first_call_that_makes_variables_leaves_the_others_as_they_were() -> None:
    counter, made = gx.Variable(0.0), []

    def function(x: gx.Tensor) -> gx.Tensor:
        if not made:
            made.append(gx.Variable(1.0))
        counter.assign_add(1.0)
        made[0].assign_add(x)
        return made[0] * counter

    gx.random.seed(3)
    expected = gx.random.normal(()).item()
    gx.random.seed(3)
    assert compare(function, gx.asarray(2.0)).equal
    assert (counter.item(), made[0].item(), gx.random.normal(()).item()) == (0, 1, expected)


def test_a_function_that_makes_variables_in_every_call_is_refused() -> None:
    with pytest.raises(gx.errors.VariableCreationError, match="makes a Variable again after its first call"):
        compare(lambda x: x * gx.Variable(1.0), gx.asarray(2.0))


def test_compiled_functions_inside_run_eagerly_in_the_eager_mode() -> None:
    @gx.function
    def inner(x: gx.Tensor) -> gx.Tensor:
        return x + 1

    inner(gx.asarray(1.0))  # from now on it takes its fast path

    @gx.function
    def outer(x: gx.Tensor) -> gx.Tensor:
        for _ in range(6):
            x = inner(x) * 2
        return x

    found = compare(outer, gx.asarray(1.0))
    assert found.equal
    assert found.mode("eager").launches == 12
    assert found.mode("compiled").launches == 1


def test_launches_count_the_copy_of_a_variable_that_is_in_use() -> None:
    v, x = gx.Variable([1.0, 2.0]), gx.ones((2,))
    step = gx.function(lambda x: v.assign_add(x).value())
    step(x)
    with count_launches() as alone:
        step(x)
    before = v.value()
    with count_launches() as shared:
        step(x)
    assert (alone.count, shared.count) == (1, 2)
    assert before.tolist() == [3.0, 4.0]


def test_a_function_over_several_devices_is_compared_and_timed() -> None:
    with gx.device("cpu:2"):
        total = gx.Variable(1.0, name="total")

    def step(x: Any) -> Any:
        with gx.device("cpu:1"):
            y = gx.sin(x) @ x
        total.assign_add(gx.sum(y))
        return y * total

    found = gx.compare(step, gx.eye(2), rounds=3, show=False)
    compiled = found.mode("compiled")
    assert found.equal
    assert compiled.values is not None
    titles = [difference.path for difference in compiled.values.differences]
    assert titles == ["result", f"Variable {total.name!r}"]
    assert compiled.gradients is not None
    assert compiled.timing is not None
    assert compiled.memory is None
    assert found.cost.lower == 0
    assert 0 < found.cost.compile < compiled.first_call
    (note,) = [note for note in found.notes if note.startswith("compiled runs as ")]
    assert "steps on /device:CPU:1, /device:CPU:2, /device:CPU:0, which its first call compiles" in note
    assert (total.item(), total.device) == (1.0, "/device:CPU:2")


def test_a_function_of_steps_on_one_device_is_compared() -> None:
    def step(x: Any) -> Any:
        return gx.pyfunc(lambda v: v + 1, gx.TensorSpec((2,)), x, ordered=False) * 2

    found = compare(step, gx.ones(2))
    assert found.equal
    assert any("steps, which its first call compiles" in note for note in found.notes), found.notes


def test_both_modes_of_a_pinned_function_run_where_it_is_pinned() -> None:
    seen: list[str] = []

    def where(x: Any) -> Any:
        seen.append(x.device)
        return x

    step = gx.function(lambda x: gx.pyfunc(where, gx.TensorSpec((2,)), x + 1), device="cpu:1")
    assert compare(step, gx.ones(2), gradients=False).equal
    assert seen[0] == "/device:CPU:1"  # in eager code; compiled code hands over copies


def test_baselines_are_compared_and_timed_in_the_same_turns() -> None:
    x = gx.asarray([1.0, 2.0])
    found = compare(
        polynomial, x, baselines={"jit": jax.jit(polynomial), "numpy": lambda x: polynomial(np.asarray(x))}, rounds=3
    )
    assert [mode.name for mode in found.modes] == ["eager", "compiled", "jit", "numpy"]
    assert found.equal
    timings = [mode.timing for mode in found.modes]
    assert [len(timing.samples) for timing in timings if timing is not None] == [3, 3, 3, 3]
    assert found.mode("jit").launches is None
    assert found.mode("jit").memory is not None
    assert found.mode("numpy").memory is None


def test_a_compiled_baseline_gets_tensors() -> None:
    found = compare(polynomial, gx.asarray([1.0, 2.0]), baselines={"other": gx.function(polynomial)})
    assert found.equal
    assert found.mode("other").launches == 1


def test_a_wrong_baseline_is_reported_and_only_it_is_not_timed() -> None:
    found = compare(polynomial, gx.asarray([1.0, 2.0]), baselines={"wrong": lambda x: x}, rounds=3)
    assert not found.equal
    assert found.mode("compiled").equal
    assert found.mode("compiled").timing is not None
    assert found.mode("wrong").timing is None


def test_the_arguments_survive_a_baseline_that_donates_them() -> None:
    x = gx.asarray([1.0, 2.0])
    donating = jax.jit(polynomial, donate_argnums=0)
    with pytest.raises(gx.errors.InvalidArgumentError, match=r"the baseline 'jit' donates its arguments.*copy them"):
        compare(polynomial, x, baselines={"jit": donating})
    assert x.tolist() == [1.0, 2.0]


def test_what_a_timed_comparison_holds() -> None:
    found = compare(polynomial, gx.asarray([1.0, 2.0]), rounds=3)
    for mode in found.modes:
        assert mode.first_call > 0
        assert mode.timing is not None
        assert len(mode.timing.samples) == 3
        assert min(mode.timing.samples) > 0
    assert found.cost.total == pytest.approx(found.cost.trace + found.cost.lower + found.cost.compile)
    memory = found.mode("compiled").memory
    assert memory is not None
    assert memory.arguments == 8
    assert memory.total == memory.arguments + memory.outputs + memory.temporaries - memory.aliased
    assert found.machine.jax == jax.__version__
    assert found.machine.num_devices == len(jax.devices())


def test_it_prints_a_table_unless_told_not_to(capsys: pytest.CaptureFixture[str]) -> None:
    gx.compare(polynomial, gx.asarray(1.0), rounds=0)
    assert "polynomial" in capsys.readouterr().out
    compare(polynomial, gx.asarray(1.0))
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"baselines": {"jit": 3}}, r"the baseline 'jit' must be a function, got 3"),
        ({"baselines": {"eager": polynomial}}, r"a baseline cannot be called 'eager'; give it another name"),
        ({"rounds": -1}, r"rounds must be at least 0 and seconds above 0, got rounds=-1 and seconds=2.0"),
        ({"seconds": 0}, r"rounds must be at least 0 and seconds above 0, got rounds=0 and seconds=0"),
    ],
)
def test_options_out_of_range_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(gx.errors.InvalidArgumentError, match=f"{message}\n  at .*{Path(__file__).name}"):
        compare(polynomial, gx.asarray(1.0), **options)


def test_something_that_is_no_function_is_refused() -> None:
    with pytest.raises(gx.errors.InvalidArgumentError, match="expected a function, got 3; its arguments come after it"):
        compare(3, gx.asarray(1.0))


def test_what_cannot_be_compiled_is_refused_with_the_users_line() -> None:
    with pytest.raises(gx.errors.GraphcError, match=Path(__file__).name):
        compare(lambda x: x + x.numpy(), gx.asarray(1.0))


def test_what_is_timed_prints_only_in_the_first_calls(capsys: pytest.CaptureFixture[str]) -> None:
    def loud(x: Any) -> Any:
        gx.print("value", x)
        return x * 2

    found = gx.compare(loud, gx.asarray(1.0), rounds=4, show=False, gradients=False)
    assert len(found.mode("eager").timing.samples) == 4  # pyright: ignore[reportOptionalMemberAccess]
    assert capsys.readouterr().out.count("value") == 2


def test_what_differs_a_little_more_than_allowed_is_timed_and_is_not_equal() -> None:
    def function(x: Any) -> Any:
        return x * (1.0 if hasattr(x, "trace") else 1.0 + 5e-7)

    found = compare(function, gx.asarray([1.0, 2.0]), rounds=3, rtol=1e-7, atol=0.0)
    assert not found.equal
    compiled = found.mode("compiled")
    assert compiled.close
    assert compiled.timing is not None
    assert not any("nothing was timed" in note for note in found.notes)


def test_rounding_of_variables_and_of_iterations_is_allowed_for() -> None:
    w = gx.Variable(100.0)

    def total(x: Any) -> Any:
        for _ in range(400):
            x = x + w - 100.0
        return x

    worst = compare(total, gx.asarray(0.0), rounds=0, gradients=False).mode("compiled").values
    assert worst is not None
    difference = next(each for each in worst.differences if each.path == "result")
    assert difference.allowed == pytest.approx(4 * 2.0**-23 * 100 * 20)
