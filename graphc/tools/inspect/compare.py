"""``compare``: eager versus compiled code: equality first, then honest timings."""

from __future__ import annotations

import inspect
import io
import os
import platform
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from rich.console import Console

from graphc.compiler.base import nest
from graphc.compiler.base.errors import GraphcError, InvalidArgumentError
from graphc.compiler.core import Tensor
from graphc.compiler.devices import devices
from graphc.compiler.function import Function, functions_run_eagerly
from graphc.compiler.gradients import GradientTape
from graphc.compiler.ir import Graph
from graphc.compiler.ops import SCAN
from graphc.tools.inspect.equality import Agreement, Difference, Tolerance, compare_leaves, compare_results
from graphc.tools.inspect.modes import (
    ComparedCall,
    Compiled,
    Outcome,
    RunMode,
    State,
    baseline_mode,
    baseline_variables,
    compile_call,
    compiled_mode,
    eager_mode,
)
from graphc.tools.inspect.report import Comparison, CompileCost, Machine, ModeReport
from graphc.tools.inspect.timing import CallTiming, measure

# Gradients of a call, taken eagerly and inside a compiled function.


def compare_gradients(
    call: ComparedCall, result: Any, state: State, tolerance: Tolerance
) -> tuple[Agreement | None, str]:
    """Compares the gradients of a call's floating outputs with respect to its floating inputs."""
    # What is differentiated is the sum of the outputs, each element with a weight of its own: the plain sum of a
    # softmax has no gradient, and would hide a wrong one.
    signature = inspect.signature(call.function.python_function)
    outputs = [position for position, leaf in enumerate(nest.flatten(result)[0]) if _is_floating(leaf)]
    paths = [path for path, _ in _floating_inputs(signature, call.args, call.kwargs)]
    if not outputs or not paths:
        return None, ""
    weights = [_weights(nest.flatten(result)[0][position]) for position in outputs]

    def gradients_of(fn: Callable[..., Any]) -> Callable[..., Any]:
        def gradients(weights: Any, args: Any, kwargs: Any) -> Any:
            inputs = [leaf for _, leaf in _floating_inputs(signature, args, kwargs)]
            with GradientTape() as tape:
                tape.watch(inputs)
                leaves = nest.flatten(fn(*args, **kwargs))[0]
            targets = [leaves[position] for position in outputs]
            return tape.gradient(targets, inputs, weights, unconnected_gradients="zero")

        return gradients

    arguments = weights, call.args, call.kwargs
    try:
        state.restore()
        with functions_run_eagerly():
            expected = gradients_of(call.function.python_function)(*arguments)
        state.restore()
        # The call inside is traced as part of the whole, so that the tape is inside the compiled function too.
        actual = Function(gradients_of(call.function), autograph=False, side_effects="ignore")(*arguments)
    except (GraphcError, ValueError, TypeError, NotImplementedError) as error:  # the last three are JAX's refusals
        return None, f"gradients were not compared: {str(error).splitlines()[0]}"
    pairs = [(f"the gradient of {path}", one, other) for path, one, other in zip(paths, expected, actual, strict=True)]
    agreement = compare_leaves(pairs, tolerance, strict=True)
    if agreement.equal:
        return agreement, ""
    # The gradient of an iteration that has converged is a sum whose terms cancel. How much of it is rounding, the
    # gradients show of inputs that are one unit in the last place away.
    noise = [0.0] * len(pairs)
    for direction in (-1, 1):
        state.restore()
        with functions_run_eagerly():
            moved = gradients_of(call.function.python_function)(weights, *_moved((call.args, call.kwargs), direction))
        noise = [max(level, _distance(one, other)) for level, one, other in zip(noise, expected, moved, strict=True)]
    largest = max(_size(leaf) for leaf in nest.flatten(result)[0] if _is_floating(leaf))
    inputs = [leaf for _, leaf in _floating_inputs(signature, call.args, call.kwargs)]
    differences: list[Difference] = []
    for pair, one, leaf in zip(pairs, noise, inputs, strict=True):
        # At a kink the gradients differ for good: only so much is rounding in a result of this size.
        limit = _ROUNDING * largest / (_size(leaf) or 1.0)
        differences += compare_leaves([pair], replace(tolerance, noise=min(one, limit)), strict=True).differences
    return Agreement(tuple(differences)), ""


_ROUNDING = 2.0**-17
"""Of the largest output by the largest input, the most that counts as rounding of a gradient."""


def _moved(structure: Any, direction: int) -> Any:
    """Returns a structure with its floating tensors moved by one unit in the last place."""

    def moved(leaf: Any) -> Any:
        return Tensor(leaf.raw * (1 + direction * jnp.finfo(leaf.dtype).eps)) if _is_floating(leaf) else leaf

    return nest.map_structure(moved, structure)


def _distance(first: Tensor, second: Tensor) -> float:
    return float(jnp.max(jnp.nan_to_num(jnp.abs(first.raw - second.raw)), initial=0.0))


def _size(tensor: Tensor) -> float:
    return float(jnp.max(jnp.nan_to_num(jnp.abs(tensor.raw), posinf=0.0), initial=0.0))


def _floating_inputs(signature: inspect.Signature, args: Any, kwargs: Any) -> list[tuple[str, Tensor]]:
    """Returns the floating tensors among the arguments, each with the expression that reaches it."""
    bound = signature.bind(*args, **kwargs).arguments
    leaves = [pair for name, value in bound.items() for pair in nest.flatten_with_paths(value, name)]
    return [(path, leaf) for path, leaf in leaves if _is_floating(leaf)]


def _is_floating(leaf: Any) -> bool:
    return isinstance(leaf, Tensor) and leaf.type.is_inexact


def _weights(output: Tensor) -> Tensor:
    return Tensor(jnp.cos(jnp.arange(output.size, dtype="float32")).reshape(output.shape).astype(output.dtype))


DOUBTFUL_SPREAD = 0.2
"""Interquartile range, relative to the median, from which the report warns."""

DOUBTFUL_DRIFT = 0.25
"""Relative difference between the first and the second half of the rounds from which it warns, too."""

PRODUCT_ROUNDING = {"gpu": 2.0**-10, "tpu": 2.0**-7}
"""Relative rounding of the factors of float32 products on these platforms by default (TF32, bfloat16)."""


def compare(
    fn: Callable[..., Any],
    *args: Any,
    baselines: Mapping[str, Callable[..., Any]] | None = None,
    rounds: int = 30,
    seconds: float = 2.0,
    rtol: float | None = None,
    atol: float | None = None,
    gradients: bool = True,
    show: bool | None = None,
    **kwargs: Any,
) -> Comparison:
    """Runs a function eagerly and compiled, checks that both agree, and then times both.

    It compares values, the Variables after the call, and gradients first, and times only what agrees, or differs by no
    more than ten times what is allowed, as rounding may. Each mode starts from the same Variables and random state,
    which are restored afterwards. Every call is then waited for, the modes take turns, and the one-time costs of
    tracing, lowering and compiling are listed separately. The function's output is shown in the first call of each
    mode, but not while it is timed.

    Args:
      fn: a compiled function, or a plain one, which is compiled for the comparison.
      *args: the arguments; arrays among them become tensors.
      baselines: other functions that should compute the same, by name; timed in the same rounds. A compiled function
        receives tensors; any other, such as one of ``jax.jit``, receives each tensor as a ``jax.Array``, and its result
        is waited for.
      rounds: the maximum number of samples of each mode; 0 to compare without timing.
      seconds: the time after which no further round begins, once there are three.
      rtol: the allowed relative error; by default one for the dtype, ``eps ** (2 / 3)``.
      atol: the additional allowed absolute error; by default one for the magnitude of the values.
      gradients: whether to compare gradients of floating outputs with respect to floating inputs. A tape keeps every
        intermediate result of the eager run in memory.
      show: whether to print the table; None prints it except in a notebook, which displays the returned report.
      **kwargs: keyword arguments of ``fn``.

    Returns:
      The report. Differing modes are not an error: check ``equal``.

    Raises:
      InvalidArgumentError: ``fn`` or a baseline is not a function, or an option is out of range.
      GraphcError: ``fn`` cannot be compiled.

    Example:
      >>> import graphc as gx
      >>> found = gx.compare(lambda x: gx.sum(gx.exp(x)), gx.asarray([0.0, 1.0]), rounds=3, show=False)
      >>> found.equal
      True
    """
    baseline_functions = dict(baselines or {})
    _check_options(baseline_functions, rounds, seconds)
    call = ComparedCall.of(fn, args, kwargs)
    compiled = compile_call(call)
    variables = [
        variable for baseline in baseline_functions.values() for variable in baseline_variables(baseline, call)
    ]
    state = State([*compiled.traced.variables.values(), *variables], call.tensors())
    modes = [
        eager_mode(call, state),
        compiled_mode(call, compiled, state),
        *(baseline_mode(name, baseline, call, state) for name, baseline in baseline_functions.items()),
    ]
    tolerance = _tolerance(rtol, atol, call, compiled)
    try:
        reports, notes = _check(call, modes, state, tolerance, gradients)
        timings = _time(modes, reports, rounds, seconds) if reports[1].close else {}
    finally:
        state.restore()
    if not reports[1].close:
        notes.append(
            "nothing was timed, because the compiled function computes something else than the eager one; if that is "
            "rounding, allow it: gx.compare(..., rtol=..., atol=...)"
        )
    timed = tuple(replace(report, timing=timings.get(report.name)) for report in reports)
    cost = compiled.cost
    if (plan := compiled.traced.plan) is not None:
        cost = _cost_of_steps(cost, timed[1])
        where = ", ".join(compiled.traced.devices)
        notes.append(
            f"compiled runs as {len(plan.steps)} steps{where and f' on {where}'}, which its first call compiles: what "
            "that takes longer than others is the time to compile"
        )
    comparison = Comparison(call.function.name, timed, cost, (*notes, *find_doubts(timed)), _machine())
    console = Console()
    if show or (show is None and not console.is_jupyter):
        console.print(comparison)
    return comparison


def _check_options(baselines: Mapping[str, Any], rounds: int, seconds: float) -> None:
    error: InvalidArgumentError | None = None
    for name, baseline in baselines.items():
        if not callable(baseline):
            error = InvalidArgumentError(f"gx.compare: the baseline {name!r} must be a function, got {baseline!r:.60}")
        if name in ("eager", "compiled"):
            error = InvalidArgumentError(f"gx.compare: a baseline cannot be called {name!r}; give it another name")
    if rounds < 0 or seconds <= 0:
        error = InvalidArgumentError(
            f"gx.compare: rounds must be at least 0 and seconds above 0, got rounds={rounds} and seconds={seconds}"
        )
    if error is not None:
        raise error.here()


def _tolerance(rtol: float | None, atol: float | None, call: ComparedCall, compiled: Compiled) -> Tolerance:
    tensors = [leaf for leaf in nest.flatten((call.args, call.kwargs))[0] if isinstance(leaf, Tensor)]
    captured = compiled.traced.captured(call.function.bind(*call.args, **call.kwargs))
    variables = [variable.value() for variable in compiled.traced.variables.values()]
    inputs = [*tensors, *captured, *variables]
    arrays = [tensor.numpy().astype(np.complex128) for tensor in inputs if tensor.type.is_inexact and tensor.size]
    scale = max((float(np.max(np.abs(array), where=np.isfinite(array), initial=0.0)) for array in arrays), default=0.0)
    products = PRODUCT_ROUNDING.get(devices()[0].platform, 0.0) if compiled.multiplies else 0.0
    return Tolerance(rtol, atol, scale, products, _iterations(compiled.traced.graph))


def _iterations(graph: Graph) -> int:
    """Returns how often the loops of a graph run their bodies at most; a loop that ends by a test counts once."""
    lengths = [
        (node.attrs["length"] if node.op is SCAN else 1) * max(map(_iterations, node.regions))
        for node in graph.nodes
        if node.regions
    ]
    return max(lengths, default=1)


def _check(
    call: ComparedCall, modes: Sequence[RunMode], state: State, tolerance: Tolerance, gradients: bool
) -> tuple[list[ModeReport], list[str]]:
    """Runs each mode once, and compares it with the first one."""
    notes: list[str] = []
    outcomes = [mode.first_call() for mode in modes]
    eager = outcomes[0]
    gradient_agreement = None
    if gradients:
        gradient_agreement, reason = compare_gradients(call, eager.result, state, tolerance)
        notes += [reason] if reason else []
    reports: list[ModeReport] = []
    for mode, outcome in zip(modes, outcomes, strict=True):
        is_compiled = mode.name == "compiled"
        values = None if mode.name == "eager" else _agreement(eager, outcome, state, tolerance, strict=is_compiled)
        launches = outcome.launches if mode.is_graphc else None
        agreement = gradient_agreement if is_compiled else None
        reports.append(ModeReport(mode.name, values, agreement, outcome.seconds, launches, mode.memory))
    return reports, notes


def _agreement(eager: Outcome, other: Outcome, state: State, tolerance: Tolerance, *, strict: bool) -> Agreement:
    values = compare_results(eager.result, other.result, tolerance, "result", strict=strict)
    if not strict:
        return values

    def left(outcome: Outcome, title: str) -> Any:
        return outcome.state[title] if title in outcome.state else state.before(title)

    titles = dict.fromkeys((*eager.state, *other.state))
    pairs = [(title, left(eager, title), left(other, title)) for title in titles]
    after = compare_leaves(pairs, tolerance, strict=True)
    return Agreement((*values.differences, *after.differences))


def _time(
    modes: Sequence[RunMode], reports: Sequence[ModeReport], rounds: int, seconds: float
) -> dict[str, CallTiming]:
    close = [mode for mode, report in zip(modes, reports, strict=True) if report.close]
    if not rounds:
        return {}
    with redirect_stdout(io.StringIO()):  # its output was shown in the first calls
        return measure(close, rounds, seconds)


def _cost_of_steps(cost: CompileCost, report: ModeReport) -> CompileCost:
    """Returns the compile cost of a function of several programs, which its first call compiles."""
    usual = 0.0 if report.timing is None else report.timing.median
    return replace(cost, compile=max(report.first_call - usual, 0.0))


def find_doubts(modes: Sequence[ModeReport]) -> list[str]:
    """Returns notes on anything that makes the times doubtful."""
    timed = {mode.name: mode.timing for mode in modes if mode.timing is not None}
    notes = [
        f"the times of {name} spread widely: the middle half covers {timing.spread:.0%} of the median"
        for name, timing in timed.items()
        if timing.spread > DOUBTFUL_SPREAD
    ]
    changed = [name for name, timing in timed.items() if timing.drift > DOUBTFUL_DRIFT]
    if changed:
        notes.append(
            f"the machine's load changed while {' and '.join(changed)} ran: the figures are uncertain; close what else "
            "runs, and compare again, with more rounds and seconds"
        )
    compiled = timed.get("compiled")
    for name, timing in timed.items():
        if compiled is not None and name != "compiled" and timing.overlaps(compiled):
            notes.append(f"the middle halves of {name} and compiled overlap: which of the two is faster is not certain")
    if compiled is not None and compiled.median >= timed["eager"].median:
        notes.append("compiling does not pay off here: a compiled call takes no less time than an eager one")
    return notes


def _machine() -> Machine:
    device = devices()[0]
    memory = device.memory_stats() or {}
    return Machine(
        device=device.device_kind,
        platform=device.platform,
        num_devices=sum(other.platform == device.platform for other in devices()),
        cpus=os.cpu_count() or 1,
        jax=jax.__version__,
        python=platform.python_version(),
        memory_in_use=memory.get("bytes_in_use"),
        peak_memory=memory.get("peak_bytes_in_use"),
    )
