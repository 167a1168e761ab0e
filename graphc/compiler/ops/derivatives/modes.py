"""The differentiation mode of the current JAX trace."""

from __future__ import annotations

import math
import threading
from collections.abc import Generator, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import lax as _lax

from graphc.compiler.base import nest


class _Mode(threading.local):
    """The innermost mode; empty if nothing is differentiated."""

    name: str = ""
    repeated: bool = False


_mode = _Mode()


def current_mode() -> str:
    """Returns ``"forward"``, ``"reverse"``, or an empty string; traces of one mode are invalid in another."""
    return _mode.name


def is_forward() -> bool:
    """Returns True if JAX pushes tangents through the current trace, without pulling back cotangents."""
    return _mode.name == "forward"


def is_reverse() -> bool:
    """Returns True if cotangents will be pulled back through the current trace."""
    return _mode.name == "reverse"


@contextmanager
def _scope(name: str) -> Generator[None]:
    before, _mode.name = _mode.name, name
    try:
        yield
    finally:
        _mode.name = before


def forward_mode() -> AbstractContextManager[None]:
    """Returns the scope for a call of ``jax.jvp``."""
    return _scope("forward")


def reverse_mode() -> AbstractContextManager[None]:
    """Returns the scope for a call of ``jax.vjp``."""
    return _scope("reverse")


def is_repeated() -> bool:
    """Returns True inside :func:`repeated`."""
    return _mode.repeated


@contextmanager
def repeated() -> Generator[None]:
    """Marks the trace of a body that JAX runs many times at once, or whose residuals it stores for each iteration."""
    before, _mode.repeated = _mode.repeated, True
    try:
        yield
    finally:
        _mode.repeated = before


# The differentiability of a JAX program (a jaxpr), from its structure.
#
# A program has ``invars``, ``outvars`` and ``eqns``; an equation has the same variables, a ``primitive`` and
# ``params``, which include the programs of branches and bodies. A variable is a literal if it has a ``val``.

Program = Any  # the jaxpr from jax.make_jaxpr, whose class has no public name
Inputs = frozenset[int]
NONE: Inputs = frozenset()

LOOP = "graphc_loop"
"""The name of graphc's functions with a custom pullback that equals the derivative of their body."""


def dependence(program: Program) -> list[Inputs]:
    """Returns, for each output, the positions of the inputs that it depends on differentiably."""
    # Integers, booleans and ``stop_gradient`` are not differentiable. Branches, loops and calls are analysed; outputs
    # of functions with custom derivatives count as dependent on all inputs, except those of :data:`LOOP`.
    return _outputs(program, [frozenset([index]) for index in range(len(program.invars))])


def has_custom_vjp(program: Program, *, loops: bool = False) -> bool:
    """Returns True if part of the program, bodies included, has a custom pullback, which need not be linear."""
    return any(
        (equation.primitive.name == "custom_vjp_call" and (loops or not _is_loop(equation)))
        or any(has_custom_vjp(body, loops=loops) for body in _bodies(equation))
        for equation in program.eqns
    )


def _is_loop(equation: Any) -> bool:
    return equation.params["call_jaxpr"].jaxpr.debug_info.func_name == LOOP


def _bodies(equation: Any) -> Iterator[Program]:
    for value in equation.params.values():
        for part in nest.as_tuple(value):
            if hasattr(part, "eqns"):
                yield part.jaxpr if hasattr(part, "jaxpr") else part


def _outputs(program: Program, inputs: Sequence[Inputs]) -> list[Inputs]:
    """Returns the dependence of outputs like :func:`dependence`, with a set of positions for each input."""
    dependences: dict[Any, Inputs] = {}

    def note(variables: Sequence[Any], values: Sequence[Inputs]) -> None:
        for variable, value in zip(variables, values, strict=True):
            dependences[variable] = value if _is_inexact(variable) else NONE

    def read(variables: Sequence[Any]) -> list[Inputs]:
        return [NONE if hasattr(value, "val") else dependences.get(value, NONE) for value in variables]

    note(program.invars, inputs)
    for equation in program.eqns:
        note(equation.outvars, _equation(equation, read(equation.invars)))
    return read(program.outvars)


def _is_inexact(variable: Any) -> bool:
    dtype = getattr(variable.aval, "dtype", None)  # tokens have none
    return dtype is not None and jnp.issubdtype(dtype, jnp.inexact)


def _equation(equation: Any, inputs: list[Inputs]) -> list[Inputs]:
    params: dict[str, Any] = equation.params
    match equation.primitive.name:
        case "stop_gradient":
            return [NONE] * len(inputs)
        case "jit":
            return _outputs(params["jaxpr"].jaxpr, inputs)
        case "custom_vjp_call" if _is_loop(equation):
            return _outputs(params["call_jaxpr"].jaxpr, inputs)
        case "cond":
            branches = [_outputs(branch.jaxpr, inputs[1:]) for branch in params["branches"]]
            return [NONE.union(*alternatives) for alternatives in zip(*branches, strict=True)]
        case "while":
            first, count = params["cond_nconsts"], params["body_nconsts"]
            return _settled(params["body_jaxpr"].jaxpr, inputs[first:], count, len(equation.outvars))
        case "scan":
            body = params["jaxpr"].jaxpr
            rows, collected = _num_rows(equation.invars, body.invars), _num_rows(equation.outvars, body.outvars)
            num_carry = len(equation.outvars) - collected
            return _settled(body, inputs, len(inputs) - num_carry - rows, num_carry)
        case _:
            return [NONE.union(*inputs)] * len(equation.outvars)


def _num_rows(outside: Sequence[Any], inside: Sequence[Any]) -> int:
    """Returns the number of a scan's arrays, from the last, that its body receives row by row."""
    return sum(whole.aval.shape != part.aval.shape for whole, part in zip(outside, inside, strict=True))


def _settled(body: Program, inputs: list[Inputs], num_constants: int, num_carry: int) -> list[Inputs]:
    """Returns the outputs of a loop: those of its body once another iteration adds no dependence."""
    end = num_constants + num_carry
    while True:
        outputs = _outputs(body, inputs)
        carry = [before | after for before, after in zip(inputs[num_constants:end], outputs, strict=False)]
        if carry == inputs[num_constants:end]:
            return [*carry, *outputs[num_carry:]]
        inputs = [*inputs[:num_constants], *carry, *inputs[end:]]


# Checkpoints of a loop's backward pass: the choice of iterations whose values to keep, and their stack.

lax: Any = _lax  # its functions are only partly annotated
SLOTS = 32
"""Minimum number of checkpoints that the backward pass keeps if no bound on the iterations is known."""

_UNBOUNDED_BYTES = 1 << 20
"""Maximum memory in bytes for more checkpoints than that, of a loop without a known bound; clearing them takes about 30
microseconds, even for a loop of few iterations."""

_UNBOUNDED_SLOTS = 1 << 10
"""Maximum number of checkpoints of a loop without a known bound."""

_STORED_BYTES = 1 << 16
"""Maximum size in bytes of carried values that the forward pass stores."""

_BYTES = 1 << 23
"""Maximum memory in bytes for more checkpoints than that. They save at most a third of the time, and clearing them
takes about a millisecond, even for a loop that ends long before its bound."""


class CheckpointStack(NamedTuple):
    """A stack of checkpoints: their number, the iteration that follows each, and the carried values there, by row."""

    size: Any
    iterations: Any
    rows: tuple[Any, ...]

    @classmethod
    def of(cls, carry: tuple[Any, ...], slots: int) -> CheckpointStack:
        """Returns a stack with a single checkpoint, the start."""
        rows = tuple(jnp.broadcast_to(value, (slots, *jnp.shape(value))) for value in carry)
        return cls(jnp.int32(1), jnp.zeros(slots, jnp.int32), rows)

    @classmethod
    def stored(cls, rows: tuple[Any, ...], trips: Any) -> CheckpointStack:
        """Returns a stack of what :func:`stored` wrote: the values before each of ``trips`` iterations."""
        # If there were more of them than slots, only the start remains.
        (slots,) = {row.shape[0] for row in rows}
        return cls(jnp.where(trips <= slots, trips, 1), jnp.arange(slots, dtype=jnp.int32), rows)

    @property
    def top(self) -> tuple[Any, tuple[Any, ...]]:
        """The iteration and the carried values of the last checkpoint."""
        last = self.size - 1
        return self.iterations[last], tuple(lax.dynamic_index_in_dim(row, last, keepdims=False) for row in self.rows)

    @property
    def free(self) -> Any:
        """The number of free slots."""
        return self.iterations.shape[0] - self.size

    def push(self, iteration: Any, carry: tuple[Any, ...]) -> CheckpointStack:
        """Returns the stack with another checkpoint."""
        rows = tuple(
            lax.dynamic_update_index_in_dim(row, value, self.size, 0)
            for row, value in zip(self.rows, carry, strict=True)
        )
        iterations = lax.dynamic_update_index_in_dim(self.iterations, iteration, self.size, 0)
        return CheckpointStack(self.size + 1, iterations, rows)

    def pop(self) -> CheckpointStack:
        """Returns the stack without its last checkpoint."""
        return self._replace(size=self.size - 1)


def stored(rows: tuple[Any, ...], carry: tuple[Any, ...], iteration: Any) -> tuple[Any, ...]:
    """Returns rows in which the carried values before an iteration are written; of surplus ones, the last slot is."""
    return tuple(
        lax.dynamic_update_index_in_dim(row, value, jnp.minimum(iteration, row.shape[0] - 1), 0)
        for row, value in zip(rows, carry, strict=False)
    )


def stride(span: Any, free: Any) -> Any:
    """Returns the distance from a checkpoint to the next one, with ``span`` iterations, at least 2, after it."""
    # With ``free`` slots and at most ``passes`` evaluations of each, binomial(free + passes, passes) iterations can be
    # run backwards. The iterations before the next checkpoint are evaluated once more than those behind it, which have
    # one slot less; this distance minimizes the sum. Rounding costs only time, so float32 suffices. The last slot is
    # for the end of the span.
    # In lax, which traces in a fraction of the time of jax.numpy. Eight passes suffice for 77 million iterations in 32
    # slots.
    slots, wide = (lax.convert_element_type(value, jnp.float32) for value in (free, span))
    before = behind = reach = lax.full_like(wide, 1)
    for passes in range(1, 9):
        share, reach = (
            lax.mul(reach, np.float32(1 / passes)),
            lax.mul(lax.mul(reach, lax.add(slots, np.float32(passes))), np.float32(1 / passes)),
        )
        more = lax.lt(reach, wide)
        before = lax.select(more, reach, before)
        behind = lax.select(more, lax.mul(share, slots), behind)
    distance = lax.convert_element_type(lax.min(before, lax.sub(wide, behind)), jnp.int32)
    most = span - 1
    return lax.select(lax.eq(free, np.int32(1)), most, lax.clamp(np.int32(1), distance, most))


def slots_for(carry: Sequence[Any], max_iterations: int | None) -> int:
    """Returns the number of checkpoints to keep: one for each iteration, if they are small enough."""
    size = max(1, _size(carry))
    if max_iterations is None:
        return max(SLOTS, min(_UNBOUNDED_SLOTS, _UNBOUNDED_BYTES // size))
    return max(2, min(max_iterations, max(SLOTS, _BYTES // size)))


def is_stored(carry: Sequence[Any]) -> bool:
    """Returns True if the forward pass should store the carried values in each iteration: if they are small."""
    return not is_repeated() and _size(carry) <= _STORED_BYTES


def _size(carry: Sequence[Any]) -> int:
    return sum(math.prod(jnp.shape(value)) * jnp.result_type(value).itemsize for value in carry)
