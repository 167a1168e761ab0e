"""A while loop that JAX can differentiate in reverse mode, to any order, with a trip count known only at run time.

JAX cannot store the values of each iteration of a ``lax.while_loop``, since it does not know their number. Here the
backward pass needs the carried values of each iteration, last to first. The forward pass counts the iterations, and
stores the values of the first ones on a stack of fixed size; a loop of at most as many iterations as the stack has
slots is not repeated. Of a longer one, the backward pass keeps some values on that stack, and recomputes the others
from the nearest one before: with 32 slots it repeats a loop of 5,000 iterations about three times.

If the carried values are large, writing them in each iteration would take longer than a loop that changes a few of
their items; and if another loop has this one in its body, JAX would store a stack for each of that loop's iterations.
Then the forward pass only counts.

The backward pass is linear in the cotangents, so that its gradient is again a loop, over values and tangents.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import jax as _jax
import jax.numpy as jnp
from jax import lax
from jax.custom_derivatives import SymbolicZero

from graphc.compiler.ops.derivatives.modes import (
    SLOTS,
    CheckpointStack,
    Program,
    dependence,
    has_custom_vjp,
    is_forward,
    stored,
    stride,
)
from graphc.compiler.ops.host import is_replaying, replaying

# ``jax.custom_vjp`` for functions that also take and return integers.

jax: Any = _jax  # its functions are only partly annotated


def custom_vjp(
    function: Callable[..., Any], forward: Callable[..., Any], backward: Callable[..., Any], *,
    symbolic_zeros: bool = False,
) -> Callable[..., tuple[Any, ...]]:  # fmt: skip
    """Returns a function from arrays to a tuple of arrays, with a custom gradient."""
    # JAX gives integer results tangents of dtype float0, weakly typed or not. A ``lax.cond`` with both cannot be
    # transposed (JAX 0.10 fails in an assertion). Here integers have no tangents.
    wrapped = jax.custom_vjp(function)
    wrapped.defvjp(forward, backward, symbolic_zeros=symbolic_zeros)
    return lambda *values: tuple(map(without_tangent, wrapped(*values)))


def without_tangent(value: Any) -> Any:
    """Returns an integer or boolean without gradients; anything else as it is."""
    dtype = jnp.result_type(value)
    whole = jnp.issubdtype(dtype, jnp.integer) or jnp.issubdtype(dtype, jnp.bool_)
    return lax.bitwise_or(value, lax.full_like(value, 0)) if whole else value


ZERO: Any = SymbolicZero  # represents an array, which it shows only at run time
T = TypeVar("T")
Leaves = tuple[Any, ...]


def while_loop(
    test: Callable[[T, Any], Any], body: Callable[[T, Any], T], carry: T, invariant: Any, slots: int = SLOTS, *,
    stores: bool = False,
) -> T:  # fmt: skip
    """Repeats a body while a test is true; differentiable in reverse mode, and in :func:`forward_mode` in forward mode.

    Args:
      body: neither it nor ``test`` closes over traced values: these must be in ``invariant``.
      slots: the maximum number of iterations whose carried values the backward pass keeps; at least 2.
      stores: whether the forward pass stores the carried values if it is differentiated.
    """
    if is_forward():  # JAX pushes tangents through its own loop, but not through functions with custom pullbacks
        return _forward_loop(test, body, carry, invariant)
    leaves, structure = jax.tree.flatten(carry)
    rest, rest_structure = jax.tree.flatten(invariant)
    if not any(jnp.issubdtype(jnp.result_type(leaf), jnp.inexact) for leaf in leaves):
        # No gradient flows through integers: JAX's own loop is traced and compiled faster (a count by 6 of 50 ms).
        detached = rest_structure.unflatten([jax.lax.stop_gradient(value) for value in rest])
        return jax.tree.map(without_tangent, _forward_loop(test, body, carry, detached))
    count = len(leaves)

    def on_leaves(function: Callable[[T, Any], Any]) -> Callable[..., Any]:
        return lambda *values: function(structure.unflatten(values[:count]), rest_structure.unflatten(values[count:]))

    step = on_leaves(body)
    replay = is_replaying()
    loop = _Loop(on_leaves(test), lambda *values: tuple(jax.tree.leaves(step(*values))), count, slots, replay, stores)
    return structure.unflatten(_with_gradient(loop)(*leaves, *rest))


def _forward_loop(test: Callable[[T, Any], Any], body: Callable[[T, Any], T], carry: T, invariant: Any) -> T:
    def going_on(carry: T) -> Any:
        return test(carry, invariant)

    def iteration(carry: T) -> T:
        return body(carry, invariant)

    return jax.lax.while_loop(going_on, iteration, carry)


@dataclass(frozen=True)
class _Body:
    """A traced loop body; tracing fixes the weak types of its inputs, which the rows of a stack lack."""

    run: Callable[..., Leaves]  # evaluates the body, from inputs to carried values
    program: Program


@jax.tree_util.register_static
@dataclass(frozen=True)
class _Static:
    body: _Body
    perturbed: tuple[bool, ...]  # for each of the inputs, whether its gradient may be requested


Residuals = tuple[tuple[Any, ...], _Static]


def _with_gradient(function: _Loop | _Counted | _Sweep) -> Callable[..., Leaves]:
    # The method has the name in programs.LOOP, which identifies it in a program.
    return custom_vjp(function.graphc_loop, function.forward, function.backward, symbolic_zeros=True)


@dataclass(frozen=True)
class _Loop:
    """A while loop over flat values, the carried ones first."""

    test: Callable[..., Any]  # returns True if there is another iteration
    body: Callable[..., Leaves]
    num_carry: int
    slots: int  # the number of checkpoints that the backward pass keeps
    replay: bool  # whether the loop is traced in a :func:`replaying` scope; JAX calls :meth:`forward` later
    stores: bool  # whether :meth:`forward` stores the carried values of each iteration, as far as the slots go

    def graphc_loop(self, *values: Any) -> Leaves:
        invariant = values[self.num_carry :]

        def going_on(carry: Leaves) -> Any:
            return self.test(*carry, *invariant)

        def iteration(carry: Leaves) -> Leaves:
            return self.body(*carry, *invariant)

        return jax.lax.while_loop(going_on, iteration, values[: self.num_carry])

    def forward(self, *inputs: Any) -> tuple[Leaves, Residuals]:
        outputs, residuals = _Counted(self).forward(*inputs)
        return outputs[: self.num_carry], residuals

    def backward(self, residuals: Residuals, cotangents: Sequence[Any]) -> tuple[Any, ...]:
        (trips, rows, values), static = residuals
        mask = [not isinstance(cotangent, ZERO) for cotangent in cotangents]
        step = _Step(static.body, self.num_carry, _active(static, mask))
        carry, invariant = tuple(values[: self.num_carry]), tuple(values[self.num_carry :])
        gradients = _Gradients(
            [cotangents[index] if mask[index] else jnp.zeros_like(carry[index]) for index in step.active_carry],
            [jnp.zeros_like(invariant[index]) for index in step.active_invariant],
        )
        swept = iter(jax.tree.leaves(_sweep(step, _State(trips, rows, carry, invariant, gradients), self.slots)))
        return tuple(next(swept) if index in step.active else None for index in range(len(values)))


@dataclass(frozen=True)
class _Counted:
    """A while loop that also returns its trip count and, if stored, the carried values before each iteration."""

    # Gradients flow through its carried values only.

    loop: _Loop

    def graphc_loop(self, *values: Any) -> Leaves:
        loop, invariant = self.loop, values[self.loop.num_carry :]
        carry = values[: loop.num_carry]
        rows = CheckpointStack.of(carry, loop.slots).rows if loop.stores else ()

        def going_on(state: tuple[Leaves, Any, Leaves]) -> Any:
            return loop.test(*state[0], *invariant)

        def iteration(state: tuple[Leaves, Any, Leaves]) -> tuple[Leaves, Any, Leaves]:
            carry, trips, rows = state
            return loop.body(*carry, *invariant), trips + 1, stored(rows, carry, trips)

        last, trips, rows = jax.lax.while_loop(going_on, iteration, (carry, jnp.int32(0), rows))
        return (*last, trips, *rows)

    def forward(self, *inputs: Any) -> tuple[Leaves, Residuals]:
        loop, values = self.loop, tuple(value.value for value in inputs)
        with replaying(loop.replay):
            outputs = _with_gradient(self)(*values)
        with replaying():  # the backward pass recomputes, but must not repeat side effects
            body, _ = jax.closure_convert(loop.body, *values)
        program = jax.make_jaxpr(body)(*values).jaxpr
        rows: Leaves = jax.lax.stop_gradient(outputs[loop.num_carry + 1 :])
        static = _Static(_Body(body, program), tuple(value.perturbed for value in inputs))
        return outputs, ((outputs[loop.num_carry], rows, values), static)

    def backward(self, residuals: Residuals, cotangents: Sequence[Any]) -> tuple[Any, ...]:
        return self.loop.backward(residuals, cotangents[: self.loop.num_carry])


def _active(static: _Static, mask: Sequence[bool]) -> list[int]:
    """Returns the positions of the loop's inputs through which gradients flow, given the cotangents of some outputs."""
    # Others are left out, as on a tape: a zero cotangent differs from none if a derivative is infinite, such as that of
    # the norm of a step that has become zero, carried only for the test.
    reach = dependence(static.body.program)
    moved = {index for index, value in enumerate(static.perturbed) if value}
    while added := {index for index, inputs in enumerate(reach) if inputs & moved} - moved:
        moved |= added
    active = {index for index, value in enumerate(mask) if value} & moved
    while added := {index for output in active if output < len(reach) for index in reach[output]} & moved - active:
        active |= added
    return sorted(active)


class _Gradients(NamedTuple):
    """Cotangents of the active carried values, and sums of those of the active invariant ones; or tangents."""

    carry: list[Any]
    invariant: list[Any]


@dataclass(frozen=True)
class _Step:
    """A single iteration, forwards and backwards."""

    body: _Body
    num_carry: int
    active: list[int]

    @property
    def active_carry(self) -> list[int]:
        return [index for index in self.active if index < self.num_carry]

    @property
    def active_invariant(self) -> list[int]:
        return [index - self.num_carry for index in self.active if index >= self.num_carry]

    def __call__(self, carry: Leaves, invariant: Leaves) -> Leaves:
        return self.body.run(*carry, *invariant)

    def pull(self, carry: Leaves, invariant: Leaves, gradients: _Gradients) -> _Gradients:
        """Returns the cotangents before an iteration from those after it."""
        _, pullback, _ = self._linearize(carry, invariant)
        cotangents = pullback(gradients.carry)
        count = len(gradients.carry)
        sums = [total + more for total, more in zip(gradients.invariant, cotangents[count:], strict=True)]
        return _Gradients(list(cotangents[:count]), sums)

    def push(self, carry: Leaves, invariant: Leaves, tangents: _Gradients) -> tuple[Leaves, list[Any]]:
        """Returns the carried values after an iteration, and their tangents."""
        # It transposes the pullback, because functions with custom pullbacks have no other derivative.
        active, pullback, outputs = self._linearize(carry, invariant)
        _, transpose = jax.vjp(pullback, [jnp.zeros_like(value) for value in active])
        (pushed,) = transpose((*tangents.carry, *tangents.invariant))
        return outputs, pushed

    def _linearize(self, carry: Leaves, invariant: Leaves) -> tuple[list[Any], Any, Leaves]:
        """Returns the active outputs, their pullback to the active inputs, and all outputs."""
        values = [*carry, *invariant]

        def function(*chosen: Any) -> tuple[list[Any], Leaves]:
            for position, value in zip(self.active, chosen, strict=True):
                values[position] = value
            outputs = self.body.run(*values)
            return [outputs[index] for index in self.active_carry], outputs

        return jax.vjp(function, *[values[position] for position in self.active], has_aux=True)


class _State(NamedTuple):
    trips: Any  # the number of iterations that the loop ran
    # The stored carried values before each iteration, if there are no more iterations than slots; empty if the forward
    # pass stored none.
    rows: Leaves
    carry: Leaves  # the carried values before the first one
    invariant: Leaves
    gradients: _Gradients  # the cotangents of the active carried values after the last one


def _sweep(step: _Step, state: _State, slots: int) -> _Gradients:
    """Returns the cotangents before the first iteration of a loop."""
    if has_custom_vjp(step.body.program):  # JAX differentiates this pass itself: not through what is stored
        return _run_backwards(step, state._replace(rows=()), slots)
    values, structure = jax.tree.flatten(state)
    leaves = _with_gradient(_Sweep(step, slots, structure))(*values)
    return jax.tree.unflatten(jax.tree.structure(state.gradients), leaves)


@dataclass(frozen=True)
class _Sweep:
    """The backward pass of a loop with linear pullback, itself with a custom gradient."""

    # With J the derivative of the loop, the pass computes the product of J transposed with cotangents c. The product of
    # its result with v is that of c with J v, the tangents that v becomes in the loop, which yields its gradients.

    step: _Step
    slots: int
    structure: Any

    def graphc_loop(self, *values: Any) -> Leaves:
        return tuple(jax.tree.leaves(_run_backwards(self.step, self.structure.unflatten(values), self.slots)))

    def forward(self, *inputs: Any) -> tuple[Leaves, Residuals]:
        values = tuple(value.value for value in inputs)
        outputs = _with_gradient(self)(*values)
        return outputs, (values, _Static(self.step.body, tuple(value.perturbed for value in inputs)))

    def backward(self, residuals: Residuals, cotangents: Sequence[Any]) -> tuple[Any, ...]:
        values, static = list(residuals[0]), residuals[1]
        state: _State = self.structure.unflatten(values)
        flat = [jnp.zeros_like(value) if isinstance(value, ZERO) else value for value in cotangents]
        tangents: _Gradients = jax.tree.unflatten(jax.tree.structure(state.gradients), flat)
        count = len(values) - len(flat)
        moved = [
            index
            for index, value in enumerate(values[:count])
            if static.perturbed[index] and jnp.issubdtype(jnp.result_type(value), jnp.inexact)
        ]

        def end(*chosen: Any) -> list[Any]:
            for position, value in zip(moved, chosen, strict=True):
                values[position] = value
            return _run_tangents(self.step, self.structure.unflatten(values), tangents, self.slots)

        last, pullback = jax.vjp(end, *[values[index] for index in moved])
        pulled = iter(pullback(state.gradients.carry))
        return (*(next(pulled) if index in moved else None for index in range(count)), *last, *tangents.invariant)


def _run_tangents(step: _Step, state: _State, tangents: _Gradients, slots: int) -> list[Any]:
    """Returns the tangents of the active carried values after a loop from those before it."""

    def iteration(running: tuple[Any, Leaves, list[Any]], others: Any) -> tuple[Any, Leaves, list[Any]]:
        done, carry, moving = running
        _, invariant, constant = others
        return done + 1, *step.push(carry, invariant, _Gradients(moving, constant))

    start = (jnp.int32(0), state.carry, tangents.carry)
    others = (state.trips, state.invariant, tangents.invariant)
    return while_loop(
        lambda running, others: running[0] < others[0], iteration, start, others, slots, stores=bool(state.rows)
    )[2]


def _run_backwards(step: _Step, state: _State, slots: int) -> _Gradients:
    """Returns the cotangents before the first iteration of a loop, computed by differentiable loops."""

    def iteration(
        running: tuple[Any, CheckpointStack, _Gradients], invariant: Leaves
    ) -> tuple[Any, CheckpointStack, _Gradients]:
        left, stack, gradients = running
        stack = _reach(step, stack, left - 1, invariant)
        return left - 1, stack.pop(), step.pull(stack.top[1], invariant, gradients)

    stack = CheckpointStack.stored(state.rows, state.trips) if state.rows else CheckpointStack.of(state.carry, slots)
    start = (state.trips, stack, state.gradients)
    return while_loop(lambda running, _: running[0] > 0, iteration, start, state.invariant)[2]


def _reach(step: _Step, stack: CheckpointStack, target: Any, invariant: Leaves) -> CheckpointStack:
    """Pushes checkpoints onto a stack until the last one is that of the iteration ``target``."""

    def advance(stack: CheckpointStack, others: tuple[Any, Leaves]) -> CheckpointStack:
        target, invariant = others
        start, carry = stack.top
        count = stride(target + 1 - start, stack.free)
        return stack.push(start + count, _repeat(step, carry, count, invariant))

    return while_loop(lambda stack, others: stack.top[0] < others[0], advance, stack, (target, invariant))


def _repeat(step: _Step, carry: Leaves, count: Any, invariant: Leaves) -> Leaves:
    """Returns the carried values after ``count`` iterations."""
    return while_loop(
        lambda running, others: running[0] < others[0],
        lambda running, others: (running[0] + 1, step(running[1], others[1])),
        (jnp.int32(0), carry),
        (count, invariant),
    )[1]
