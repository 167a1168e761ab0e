"""``custom_gradient``: functions with user-defined gradients."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ParamSpec, TypeVar

import jax

from graphc.compiler.base import nest
from graphc.compiler.base.errors import InvalidArgumentError, UnimplementedError
from graphc.compiler.core import (
    SymbolicTensor,
    Tensor,
    Variable,
    apply,
    apply_all,
    context,
    converted,
    joining_scope,
    operand,
    shorten,
    tape_scope,
    tapes_following,
    trace_scope,
    unexamined,
)
from graphc.compiler.gradients.tape import GradientTape
from graphc.compiler.ir import OPS, Attrs, Graph, TensorType, define_op
from graphc.compiler.ops import custom_vjp
from graphc.compiler.tracing import Region, current_trace, is_tracing, type_of_any

P = ParamSpec("P")
R = TypeVar("R")


def _custom(
    *values: Any, num_outputs: int, num_states: int, num_primals: int, forward: Callable[..., Any],
    backward: Callable[..., Any],
) -> Any:  # fmt: skip
    """Returns the function's outputs and, without gradients, the new values of the states that it assigns."""
    count = len(values)

    def pull(saved: Any, cotangents: Any) -> Any:
        residuals, others = saved
        zeros = [jax.numpy.zeros_like(other) for other in others]
        return (*backward(*residuals, *cotangents[: num_outputs - num_states]), *zeros)

    # The same with known outputs and residuals, which follow the primals.
    def known_outputs(*arrays: Any) -> Any:
        return arrays[count : count + num_outputs]

    def with_known_residuals(*arrays: Any) -> Any:
        return differentiable(*arrays), (arrays[count + num_outputs :], arrays[num_primals:count])

    def pull_known(saved: Any, cotangents: Any) -> Any:
        return (*pull(saved, cotangents), *[None] * (num_outputs + len(saved[0])))

    differentiable = custom_vjp(known_outputs, with_known_residuals, pull_known)

    def function(*primals: Any) -> Any:
        return tuple(forward(*primals))[:num_outputs]

    def with_residuals(*primals: Any) -> Any:
        results = tuple(forward(*primals))
        outputs, residuals = results[:num_outputs], results[num_outputs:]
        # A gradient of the gradient differentiates the outputs by the given gradient too, as an outer tape does in
        # eager code, and the gradient function's other inputs as they are computed.
        return differentiable(*primals, *map(jax.lax.stop_gradient, outputs), *residuals), (
            residuals,
            primals[num_primals:],
        )

    return custom_vjp(function, with_residuals, pull)(*values)


def _custom_types(types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
    del types
    return tuple(value.type for value in regions[0].outputs[: attrs["num_outputs"]])


def _entries(
    types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]
) -> list[list[tuple[TensorType, int | None]]]:
    """Returns the inputs of each graph: values for the forward one, residuals and cotangents for the backward one."""
    count = attrs["num_outputs"]
    results = [value.type for value in regions[0].outputs]
    pairs = zip([*results[count:], *results[:count]], regions[1].inputs, strict=False)
    backward: list[tuple[TensorType, int | None]] = [(replace(type, weak=old.type.weak), None) for type, old in pairs]
    return [[(type, index) for index, type in enumerate(types)], backward]


CUSTOM = define_op(
    "custom_gradient",
    impl=_custom,
    infer=_custom_types,
    params=("*values",),
    regions=("forward", "backward"),
    entries=_entries,
    doc="A function with a gradient of its own.",
)


def custom_gradient(function: Callable[P, tuple[R, Callable[..., Any]]]) -> Callable[P, R]:
    """Gives a function a user-defined gradient (TensorFlow's ``custom_gradient``).

    Args:
      function: takes floating tensors and returns ``(outputs, gradient_function)``: a tensor or a tuple of them, and a
        function from one cotangent for each output to one gradient for each argument (one gradient, or a tuple of
        them).

    Returns:
      A function of the same arguments that returns ``outputs``. ``function`` receives copies of the arguments, so that
      it may assign to their items.

    Raises:
      InvalidArgumentError: when called: ``function`` does not return a pair, or returns too few gradients.

    Example:
      >>> import graphc as gx
      >>> @gx.custom_gradient
      ... def clipped(x):
      ...     return x, lambda upstream: gx.clip(upstream, -1.0, 1.0)
      >>> gx.grad(lambda x: clipped(x) * 5.0)(2.0).item()
      1.0
    """

    @functools.wraps(function)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> Any:
        if kwargs:
            names = ", ".join(kwargs)
            text = f"custom_gradient: pass the differentiated arguments by position; got {names} by keyword"
            raise InvalidArgumentError(text).here()
        try:
            tensors = [apply(OPS["identity"], (operand(argument),)) for argument in args]
            if is_tracing():
                return _call_in_trace(function, tensors)
            with joining_scope(tapes_following(lambda: tensors)):
                return _call_eagerly(function, tensors)
        except Exception as error:
            shorten(error)
            raise

    return wrapped


def _split(function: Callable[..., Any], result: Any) -> tuple[list[Tensor], nest.Structure, Callable[..., Any]]:
    pair = nest.as_tuple(result)
    if not (isinstance(result, tuple) and len(pair) == 2 and callable(pair[1])):
        name = getattr(function, "__name__", "the function")
        raise InvalidArgumentError(
            f"custom_gradient: {name} must return (outputs, gradient_function), but it returned {result!r:.60}"
        ).here()
    outputs, structure = nest.flatten(pair[0])
    return outputs, structure, pair[1]


def _gradients(pull: Callable[..., Any], cotangents: Sequence[Any], arguments: Sequence[Tensor]) -> list[Any]:
    """Returns the results of the user's gradient function: one gradient or None for each argument."""
    gradients = list(nest.as_tuple(pull(*[cotangent.fork() for cotangent in cotangents])))
    if len(gradients) != len(arguments):
        raise InvalidArgumentError(
            f"custom_gradient: the gradient function returned {len(gradients)} gradients for {len(arguments)} arguments"
        ).here()
    for position, (gradient, argument) in enumerate(zip(gradients, arguments, strict=True)):
        shape = argument.shape if gradient is None else type_of_any(operand(gradient)).shape
        if shape != argument.shape:
            raise InvalidArgumentError(
                f"custom_gradient: the gradient function returned shape {shape} for argument {position}, which has "
                f"shape {argument.shape}"
            ).here()
    return gradients


def _call_eagerly(function: Callable[..., Any], tensors: Sequence[Tensor]) -> Any:
    # Tapes record the function's ops, which the gradient function may use and second-order gradients go through; but
    # the outputs are separate tensors, which depend only on this call.
    inputs = [tensor.snapshot() for tensor in tensors]  # the function may assign to their items
    raw, structure, pull = _split(function, function(*tensors))
    with tape_scope(()):
        outputs = [apply(OPS["identity"], (output,)) for output in raw]
    _record(inputs, outputs, pull)
    return nest.unflatten(structure, outputs)


def _record(inputs: Sequence[Tensor], outputs: Sequence[Tensor], pull: Callable[..., Any]) -> None:
    """Records a call on the open tapes, with the gradient function to call when they are asked for gradients."""

    def pullback(wrt: Sequence[int], cotangents: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
        filled = [
            apply(OPS["zeros_like"], (output,)) if cotangent is None else cotangent
            for output, cotangent in zip(outputs, cotangents, strict=True)
        ]
        gradients = _gradients(converted(pull), filled, inputs)  # a jacobian pulls back while it traces
        return [None if gradients[position] is None else gradients[position] for position in wrt]

    for tape in context.tapes:
        if isinstance(tape, GradientTape):
            tape.record_custom(inputs, outputs, pullback)


def _refuse_states(backward: Region, name: str) -> None:
    """Refuses side effects of a gradient function, which may be called at any time, or never."""
    written = backward.written()
    if not written:
        return
    first = written[0]
    does = (
        f"assigns the Variable {first.name!r}" if isinstance(first, Variable) else "prints, raises or calls gx.pyfunc"
    )
    error = UnimplementedError(
        f"the gradient function of {name!r} {does}, but in a compiled function it may only compute; do this where the "
        "gradients are used"
    )
    raise backward.parent.refuse(error)


def _call_in_trace(function: Callable[..., Any], tensors: Sequence[Tensor]) -> Any:
    """Records the call as one node with the function and its gradient as regions, so that enclosing loops keep both."""
    name = getattr(function, "__name__", "function")
    forward = Region(current_trace(), f"the custom-gradient function {name!r}")
    arguments = [forward.argument(tensor.type, f"argument_{i}") for i, tensor in enumerate(tensors)]
    with forward.tracing(), unexamined():
        raw, structure, pull = _split(function, converted(function)(*[argument.fork() for argument in arguments]))
        outputs = [forward.lift(operand(output)).snapshot() for output in raw]
    forward.refuse_writes(f"the custom-gradient function {name!r}")
    backward = Region(forward, f"the gradient of {name!r}")
    upstream = [backward.argument(TensorType(o.shape, o.dtype), f"cotangent_{i}") for i, o in enumerate(outputs)]
    with backward.tracing(), unexamined():
        gradients = [
            backward.cast(
                apply(OPS["zeros_like"], (argument,)) if gradient is None else operand(gradient), argument.type
            )
            for gradient, argument in zip(_gradients(converted(pull), upstream, arguments), arguments, strict=True)
        ]
    backward.refuse_writes(f"the gradient of {name!r}")
    _refuse_states(backward, name)
    with trace_scope(forward):
        residuals = [forward.lift(outer) for outer, _ in backward.captures.values()]
        residuals += [forward.lift(state.variable.value()) for state in backward.states.values()]
    saved: list[SymbolicTensor] = [inner for _, inner in backward.captures.values()]
    saved += [state.entry for state in backward.states.values()]
    written = forward.written()
    states = [forward.states[variable.name].current for variable in written]
    graphs = (
        forward.close(
            [
                *arguments,
                *(inner for _, inner in forward.captures.values()),
                *(s.entry for s in forward.states.values()),
            ],
            [*outputs, *states, *residuals],
        ),
        backward.close([*saved, *upstream], gradients),
    )
    # Gradients flow to the arguments only, as in eager mode, where the tape does not see inside the function.
    others = [apply(OPS["stop_gradient"], (outer,)) for outer, _ in forward.captures.values()]
    others += [apply(OPS["stop_gradient"], (state.variable.value(),)) for state in forward.states.values()]
    attrs = Attrs(num_outputs=len(outputs) + len(states), num_states=len(states), num_primals=len(tensors))
    inputs = [tensor.snapshot() for tensor in tensors]
    # A tape that is open in this trace calls the gradient function later, when its operands may have changed. That
    # function comes from a second call, whose outputs are dropped.
    late = bool(context.tapes) and not written
    with tape_scope(() if late else context.tapes):
        results = apply_all(CUSTOM, (*inputs, *others), attrs, graphs)
    for variable, value in zip(written, results[len(outputs) :], strict=True):
        variable.assign(value)
    results = results[: len(outputs)]
    if late:
        _record(inputs, results, converted(_split(function, converted(function)(*tensors))[2]))
    return nest.unflatten(structure, results)
