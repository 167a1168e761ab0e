"""Every differentiable row: its gradient in float64, eager and compiled, and the gradient of that for those drawn.

They are held to central differences of the row itself along one direction. Of each row the first example with floating
inputs is taken, a little off its values, where kinks and ties are. Where the row is drawn (see ``tests/stepwise.py``)
XLA compiles the function whose gradient it is, what JAX makes of the row's callable is looked at too, and the second
order, which is the same code of graphc for all rows and takes as long as all else. Rows share what is compiled as one
program, four at a time: a program by itself costs as much as the gradients of a row.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import graphc as gx
from graphc.compiler.core import Tensor, type_of
from graphc.compiler.ir import Interpreter
from tests.compiler.ops.calls import ALL_ROWS, EXAMPLES, called, is_jax_s
from tests.compiler.ops.examples import Example
from tests.compiler.ops.support import flat, trace
from tests.draws import is_drawn
from tests.stepwise import stepwise

Call = Callable[..., Any]
Arrays = list[Any]

_STEP = 1e-6
_TOGETHER = 4
_WIDE = {"f": np.float64, "c": np.complex128}

FIRST_ORDER_ONLY = {
    **dict.fromkeys(("linalg.eigvals", "roots"), "Derivatives of non-symmetric eigenvectors"),
    **dict.fromkeys(("special.gammainc", "special.gammaincc"), "Differentiation rule for 'igamma_grad_a'"),
    **dict.fromkeys(("special.hyp1f1", "special.hyp2f1"), "Reverse-mode differentiation does not work"),
}
if jax.__version_info__ < (0, 12):
    FIRST_ORDER_ONLY |= dict.fromkeys(("special.exp1", "special.expn"), "No constant handler")
else:
    FIRST_ORDER_ONLY["special.erfcx"] = "select cases must have the same shapes"
"""Rows of which JAX has no second derivative, with what it says."""

LEFT_OUT = frozenset(
    {
        *("corrcoef", "polydiv", "polyfit", "special.bessel_jn", "special.beta", "special.betaln", "special.comb"),
        *("special.dawsn", "special.fresnel", "special.ndtri", "special.owens_t", "special.poch"),
        *("special.sph_harm_y", "special.spence", "special.wofz", "special.zeta"),
    }
)
"""Rows whose second order takes seconds to compile; it is as right as the first, and left out to save the time.

So are those of ``lax``, which are JAX's own."""

SLOW = "special.hyp2f1"
"""Its gradient takes as long as those of ten other rows."""


def orders_of(name: str) -> int:
    """How many orders of gradients a row is tested with; of ``special`` only the first, but in the slow tests."""
    return 1 if name in FIRST_ORDER_ONLY or name in LEFT_OUT or name.startswith(("lax.", "special.")) else 2


NO_GRADIENT = {
    "linalg.eig": "Derivatives of non-symmetric eigenvectors",
    "lax.betainc": "gradient with respect to a and b not supported",
    "lax.polygamma": "gradient with respect to m is not supported",
    "lax.zeta": "Differentiation rule for 'zeta' not implemented",
    "special.betainc": "gradient with respect to a and b not supported",
}
"""Rows that are differentiable in parts only, of which JAX has no gradient for the example, with what it says."""

NOT_BY_DIFFERENCES = {
    "lax.reduce_precision": 1e-8,  # it goes in steps, and its gradient is that of no rounding
    "nn.dot_product_attention": 1e-5,  # JAX computes it in float32, whatever it is given
    "special.expn": 1e-8,  # JAX gives nan for the gradient of order 0
}
"""Rows of which differences tell nothing, and how close their gradients are to JAX's."""


@pytest.fixture(autouse=True)
def _wide() -> Iterator[None]:
    with gx.config.scope(enable_x64=True):
        yield


@dataclass
class Sample:
    """A row's example in float64, as a function of its floating inputs.

    Attributes:
      name: the row's, or what else says which sample fails.
      call: the function: floating inputs to floating outputs.
      inputs: where the gradient is taken.
      direction: along which differences are taken; it is the cotangent of the gradient in the second order.
      weights: the cotangents of the outputs.
      orders: how many orders of gradients are compared.
      rtol: how close they are to JAX's; differences tell something only where that is the usual.
    """

    name: str
    call: Call
    inputs: Arrays
    direction: Arrays
    weights: Arrays
    orders: int = 2
    rtol: float = 1e-9


def _inexact(value: Any) -> bool:
    return np.asarray(value).dtype.kind in "fc"


def example_of(name: str) -> Example | None:
    """The first example that a gradient can be taken of."""
    static = ALL_ROWS[name].by_value is not None
    for case in EXAMPLES[name]:
        inputs = called(name, case)[1]
        # What is NaN has no part in the functions that leave it out; nor has it a gradient.
        finite = (name.startswith("nan") and name != "nan_to_num") or all(
            np.isfinite(value).all() for value in inputs if _inexact(value)
        )
        if any(map(_inexact, inputs)) and finite and (not static or "size" in case.kwargs):
            return case
    return None


def sample_of(name: str, orders: int | None = None) -> Sample:
    """The sample of a row, of as many orders as it is tested with unless others are asked for."""
    case = example_of(name)
    assert case is not None
    call, values = called(name, case)
    draw = np.random.default_rng(len(name))
    places = [place for place, value in enumerate(values) if _inexact(value)]

    def like(value: Any) -> Any:
        drawn = draw.uniform(0.5, 1.0, np.shape(value)) * draw.choice([-1.0, 1.0], np.shape(value))
        return drawn + 1j * draw.uniform(0.5, 1.0, np.shape(value)) if np.iscomplexobj(value) else drawn

    inputs = [np.asarray(values[place], _WIDE[values[place].dtype.kind]) for place in places]
    inputs = [value + 1e-2 * like(value) for value in inputs]

    def wide(*given: Any) -> Any:
        full = [gx.asarray(value) if not _inexact(value) else value for value in values]
        for place, value in zip(places, given, strict=True):
            full[place] = value
        return [output for output in flat(call(*full)) if output.type.is_inexact]

    outputs = wide(*map(gx.asarray, inputs))
    weights = [like(output.numpy()).astype(output.dtype) for output in outputs]
    direction = [like(value) for value in inputs]
    rtol = NOT_BY_DIFFERENCES.get(name, 1e-9)
    return Sample(name, wide, inputs, direction, weights, orders or orders_of(name), rtol)


def gradient(sample: Sample, inputs: Sequence[Tensor]) -> list[Any]:
    with gx.GradientTape() as tape:
        tape.watch(list(inputs))
        outputs = sample.call(*inputs)
    return tape.gradient(outputs, list(inputs), output_gradients=list(map(gx.asarray, sample.weights)))


def both_orders(sample: Sample, inputs: Sequence[Tensor]) -> tuple[list[Any], list[Any]]:
    """The gradient, and that of the gradient's product with the direction."""
    with gx.GradientTape() as tape:
        tape.watch(list(inputs))
        found = gradient(sample, inputs)
    pairs = [(one, gx.asarray(along)) for one, along in zip(found, sample.direction, strict=True) if one is not None]
    second = tape.gradient([one for one, _ in pairs], list(inputs), output_gradients=[along for _, along in pairs])
    return found, second


def gradients(sample: Sample, inputs: Sequence[Tensor]) -> tuple[list[Any], ...]:
    """Those of each order that is compared."""
    with naming(sample):
        return both_orders(sample, inputs) if sample.orders == 2 else (gradient(sample, inputs),)


def jax_s(sample: Sample) -> Callable[..., Any]:
    """The same by JAX alone: the row's callable in a function that JAX differentiates."""
    graph = trace(sample.call, list(map(jnp.asarray, sample.inputs)))

    def pulled(*inputs: Any) -> Any:
        _, pullback = jax.vjp(Interpreter(graph).run, *inputs)
        return pullback(tuple(map(jnp.asarray, sample.weights)))

    return pulled


def jax_s_gradients(sample: Sample, inputs: Sequence[Any]) -> tuple[Any, ...]:
    """JAX's gradients of each order that is compared."""
    with naming(sample):
        if sample.orders == 1:
            return (jax_s(sample)(*inputs),)
        return jax.jvp(jax_s(sample), tuple(inputs), tuple(map(jnp.asarray, sample.direction)))


@contextlib.contextmanager
def naming(sample: Sample) -> Iterator[None]:
    """Says whose gradients fail, of those that share a test."""
    try:
        yield
    except Exception as error:
        error.add_note(f"these are the gradients of {sample.name}")
        raise


def _filled(found: Sequence[Any], inputs: Sequence[Any]) -> Arrays:
    """Gradients as arrays; zeros for None."""
    return [np.zeros_like(value) if one is None else np.asarray(one) for one, value in zip(found, inputs, strict=True)]


def _check(found: Sequence[Any], expected: Sequence[Any], rtol: float, what: str) -> None:
    for one, other in zip(found, expected, strict=True):
        scale = max(1.0, float(np.max(np.abs(other), initial=0.0)))
        np.testing.assert_allclose(one, other, rtol=rtol, atol=rtol * scale, err_msg=what)


def _pairing(first: Sequence[Any], second: Sequence[Any]) -> float:
    """What a cotangent says of a tangent."""
    return float(
        sum(np.sum(np.asarray(one) * np.asarray(other)).real for one, other in zip(first, second, strict=True))
    )


def _moved(sample: Sample, step: float) -> list[Tensor]:
    return [gx.asarray(value + step * along) for value, along in zip(sample.inputs, sample.direction, strict=True)]


DIFFERENTIABLE = [name for name, row in ALL_ROWS.items() if row.differentiable and example_of(name) is not None]


def test_every_differentiable_row_of_tensors_has_an_example() -> None:
    without = {name for name, row in ALL_ROWS.items() if row.differentiable} - set(DIFFERENTIABLE)
    assert [name for name in without if any(called(name, case)[1] for case in EXAMPLES[name])] == []


def together(names: Iterable[str], *marks: pytest.MarkDecorator) -> list[Any]:
    """Parameters: samples whose gradients are compiled in one program."""
    rest = list(names)
    groups = [rest[start : start + _TOGETHER] for start in range(0, len(rest), _TOGETHER)]
    return [pytest.param(group, id=" ".join(group), marks=marks) for group in groups]


_WITH_GRADIENT = [name for name in DIFFERENTIABLE if name not in NO_GRADIENT]


@pytest.mark.parametrize(
    "names",
    [
        *together(name for name in _WITH_GRADIENT if name != SLOW and not is_jax_s(name)),
        *together((name for name in _WITH_GRADIENT if name != SLOW and is_jax_s(name)), pytest.mark.drawn(8)),
        pytest.param((SLOW,), id=SLOW, marks=pytest.mark.slow),
    ],
)
def test_gradients(names: Sequence[str]) -> None:
    whole = is_drawn(names[0])
    check(*(sample_of(name, None if whole else 1) for name in names), whole=whole)


@pytest.mark.parametrize("name", NO_GRADIENT)
def test_where_jax_has_no_gradient_it_says_so(name: str) -> None:
    sample = sample_of(name)
    with pytest.raises(Exception, match=NO_GRADIENT[name]):
        jax_s(sample)(*map(jnp.asarray, sample.inputs))
    with pytest.raises(Exception, match=NO_GRADIENT[name]):
        gradient(sample, list(map(gx.asarray, sample.inputs)))


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name == SLOW else []) for name in FIRST_ORDER_ONLY]
)
def test_where_jax_has_no_second_order_it_says_so(name: str) -> None:
    sample = sample_of(name)
    with pytest.raises(Exception, match=FIRST_ORDER_ONLY[name]):
        both_orders(sample, list(map(gx.asarray, sample.inputs)))


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [name for name in _WITH_GRADIENT if name.startswith("special.") and name not in LEFT_OUT | FIRST_ORDER_ONLY.keys()],
)
def test_gradients_of_both_orders(name: str) -> None:
    check(sample_of(name, orders=2))


def check(*samples: Sample, whole: bool = True) -> None:
    """Compares the gradients of samples, eager and compiled, to JAX's and to differences.

    Args:
      *samples: all that graphc compiles of them is one program, and all that JAX does another.
      whole: whether XLA compiles them; else they run step by step, and JAX's are computed only where differences tell
        nothing.
    """
    inputs = [list(map(gx.asarray, sample.inputs)) for sample in samples]
    eager = list(map(gradients, samples, inputs))
    with contextlib.nullcontext() if whole else stepwise():
        compiled = gx.function(lambda xs: list(map(gradients, samples, xs)), autograph=False)(inputs)
    with_jax = [sample for sample in samples if whole or not _told_by_differences(sample)]
    arrays = [list(map(jnp.asarray, sample.inputs)) for sample in with_jax]
    by_jax = iter(jax.jit(lambda xs: list(map(jax_s_gradients, with_jax, xs)))(arrays) if with_jax else ())
    for sample, found, other in zip(samples, eager, compiled, strict=True):
        with naming(sample):
            _check_types(sample, found)
            if sample in with_jax:
                right = next(by_jax)
                _check_close(sample, found, right, "eager against JAX")
                _check_close(sample, other, right, "compiled against JAX")
            else:
                _check_close(sample, other, found, "compiled against eager")
            if _told_by_differences(sample):
                _check_against_differences(sample, found)


def _check_types(sample: Sample, eager: Any) -> None:
    for found in eager:
        for one, value in zip(found, sample.inputs, strict=True):
            assert one is None or one.type == type_of(value)


def _check_close(sample: Sample, found: Any, expected: Any, what: str) -> None:
    for order, (one, right) in enumerate(zip(found, expected, strict=True), 1):
        filled = [_filled(values, sample.inputs) for values in (one, right)]
        _check(*filled, sample.rtol, f"order {order}: {what}")


def _told_by_differences(sample: Sample) -> bool:
    return sample.rtol <= 1e-9 and all(weight.dtype.itemsize >= 8 for weight in sample.weights)


def _check_against_differences(sample: Sample, eager: Any) -> None:
    ahead, behind = _moved(sample, _STEP), _moved(sample, -_STEP)
    values = [_pairing(sample.weights, sample.call(*moved)) for moved in (ahead, behind)]
    slope = (values[0] - values[1]) / (2 * _STEP)
    _check([_pairing(_filled(eager[0], sample.inputs), sample.direction)], [slope], 1e-5, "against differences")
    if sample.orders == 2:
        sides = [_filled(gradient(sample, moved), sample.inputs) for moved in (ahead, behind)]
        curved = [(one - other) / (2 * _STEP) for one, other in zip(*sides, strict=True)]
        _check(_filled(eager[1], sample.inputs), curved, 1e-4, "second order against differences")


_MATRIX = np.sin(np.arange(1.0, 13.0)).reshape(3, 4)

INDEXING: dict[str, Call] = {
    "slices": lambda x: x[1:, ::-2] ** 2,
    "None and ellipsis": lambda x: x[..., None, 1] ** 2,
    "integers": lambda x: x[np.asarray([2, 0, 2]), np.asarray([1, 1, 1])] ** 2,
    "a boolean mask": lambda x: x[_MATRIX > 0.5] ** 2,
    "a tensor": lambda x: x[gx.asarray([1, 1])] ** 3,
    "set": lambda x: x.at[1].set(x[0] ** 2) ** 2,
    "add": lambda x: x.at[:, np.asarray([0, 0])].add(x[:, 2:] ** 2) ** 2,
    "sorted": lambda x: gx.sort(x, axis=1) ** 2,
    "taken by argsort": lambda x: gx.take_along_axis(x, gx.argsort(x, axis=0), axis=0) ** 3,
    "where": lambda x: gx.where(x > 0, gx.exp(x), x**2),
    "maximum of all": lambda x: gx.max(x, axis=0) ** 2,
}


@pytest.mark.parametrize("names", together(INDEXING))
def test_gradients_through_indexing(names: Sequence[str]) -> None:
    def sample(name: str) -> Sample:
        draw, index = np.random.default_rng(0), INDEXING[name]
        weights = draw.normal(size=index(gx.asarray(_MATRIX)).shape)
        return Sample(name, lambda x: [index(x)], [_MATRIX], [draw.normal(size=_MATRIX.shape)], [weights])

    check(*map(sample, names))


def test_where_does_not_hide_what_is_not_finite_on_the_other_side() -> None:
    # As in JAX: the side that is not taken gets a gradient of zero, and zero times infinity is no number.
    def leaks(x: Any) -> Any:
        return gx.where(x > 0, gx.sqrt(x), 0.0)

    def safe(x: Any) -> Any:
        return gx.where(x > 0, gx.sqrt(gx.where(x > 0, x, 1.0)), 0.0)

    x = np.asarray([-1.0, 0.0, 4.0])
    for function, expected in ((leaks, [np.nan, np.nan, 0.25]), (safe, [0.0, 0.0, 0.25])):
        sample = Sample("where", lambda x, function=function: [function(x)], [x], [np.ones(3)], [np.ones(3)])
        for found in (
            gradient(sample, [gx.asarray(x)]),
            gx.function(lambda x, sample=sample: gradient(sample, [x]))(gx.asarray(x)),
            jax_s(sample)(x),
        ):
            np.testing.assert_array_equal(np.asarray(found[0]), expected)


GUARDED: dict[str, tuple[Call, Call]] = {
    "sqrt": (lambda x: x > 0, gx.sqrt),
    "log": (lambda x: x > 0, gx.log),
    "division": (lambda x: x != 0, lambda x: 1 / x),
    "power": (lambda x: x > 0, lambda x: x**0.5),
    "norm": (lambda x: x != 0, lambda x: x / gx.sqrt(x * x)),
    "acos": (lambda x: gx.abs(x) < 1, gx.acos),
    "log1p": (lambda x: x > -1, gx.log1p),
}
"""Functions that are not finite everywhere, and where they are."""


@pytest.mark.parametrize("taken", [True, False], ids=["the first side", "the second side"])
@pytest.mark.parametrize("names", together(GUARDED))
def test_where_with_a_guarded_side_has_no_nan(names: Sequence[str], taken: bool) -> None:
    x = np.asarray([-1.0, -0.5, 0.0, 0.25, 3.0])

    def sample(name: str) -> Sample:
        good, function = GUARDED[name]

        def guarded(x: Any) -> Any:
            inside = good(x)
            value = function(gx.where(inside, x, 0.5))
            return [gx.where(inside, value, x * x) if taken else gx.where(~inside, x * x, value)]

        direction = [np.asarray([1.0, 0.5, -1.0, 2.0, 1.0])]
        return Sample(name, guarded, [x], direction, [np.ones(5)], rtol=1e-8)  # at zero, where the sides meet

    samples = list(map(sample, names))
    check(*samples)
    for one in samples:
        assert np.isfinite(gradient(one, [gx.asarray(x)])[0].numpy()).all(), one.name


CONSTANT = [name for name, row in ALL_ROWS.items() if not row.differentiable and example_of(name) is not None]


def _gradients(call: Call, values: Sequence[Any], asked: Callable[[Any], bool]) -> list[Any]:
    """The gradients of an example with respect to those of its inputs that are asked for."""
    inputs = list(map(gx.asarray, values))
    sources = list(filter(asked, inputs))
    with gx.GradientTape() as tape:
        tape.watch([source for source in sources if source.type.is_inexact])
        # A target is of floats: what comes by way of ints and truth values has no gradient.
        outputs = [output if output.type.is_inexact else output.astype("float64") for output in flat(call(*inputs))]
    return tape.gradient(outputs, sources)


def _in_both_modes(call: Call, values: Sequence[Any], asked: Callable[[Any], bool]) -> list[Any]:
    """The same in eager code and while a function is traced; the graph is not compiled, since None takes no part."""
    found: list[Any] = []

    def traced(*tensors: Any) -> Any:
        found.extend(_gradients(call, tensors, asked))
        return tensors

    trace(traced, values)
    return found + _gradients(call, values, asked)


@pytest.mark.drawn(3)
@pytest.mark.parametrize("name", CONSTANT)
def test_rows_without_gradients_give_none(name: str) -> None:
    case = example_of(name)
    assert case is not None
    found = _in_both_modes(*called(name, case), lambda value: value.type.is_inexact)
    assert found
    assert all(gradient is None for gradient in found)


_WITH_INTS = [
    (name, case)
    for name, row in ALL_ROWS.items()
    for case in EXAMPLES[name]
    if (row.by_value is None or "size" in case.kwargs) and not all(map(_inexact, called(name, case)[1]))
]


def test_ints_and_truth_values_give_none() -> None:
    wrong = [
        (name, case)
        for name, case in _WITH_INTS
        if is_drawn(name, 4)
        and any(one is not None for one in _in_both_modes(*called(name, case), lambda value: not value.type.is_inexact))
    ]
    assert wrong == []
