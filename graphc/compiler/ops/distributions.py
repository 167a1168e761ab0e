"""The distributions of ``jax.random``: a table, from which the methods of :class:`Distributions` are made."""

from __future__ import annotations
import __future__

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax

from graphc.compiler.core import ArrayLike, Tensor, as_dtype  # noqa: F401  # pyright: ignore[reportUnusedImport]
from graphc.compiler.ops.signature import DType, RowSignature, Shape  # noqa: F401  # pyright: ignore[reportUnusedImport]
from graphc.compiler.ops.table import Row, row

IMPLEMENTATION = "threefry2x32"
"""The implementation of JAX's keys."""


def key_of(data: Any) -> Any:
    """Returns a JAX key from its raw data."""
    wrap: Callable[..., Any] = jax.random.wrap_key_data
    return wrap(data, impl=IMPLEMENTATION)


def _keyed(sample: Callable[..., Any], tensors: tuple[str, ...] = ()) -> Callable[..., Any]:
    """Returns a jax.random sampler that takes the raw data of a key, with its tensors by position."""

    def impl(key: Any, *values: Any, **attrs: Any) -> jax.Array:
        return sample(key_of(key), **dict(zip(tensors, values, strict=True)), **attrs)

    return impl


def floating(dtype: Any) -> Any:
    """Returns the dtype of real-valued draws; the default one for None."""
    return as_dtype(float if dtype is None else dtype)


@dataclass(frozen=True)
class Draw:
    """A distribution: a line of the table."""

    name: str  # the name in ``jax.random``, of the op, and of the method
    signature: str  # the method's parameters; those without annotation are tensors
    doc: str  # the first line of the method's docstring
    example: str  # arguments to call it with, and the shape of what they give
    differentiable: bool
    words: dict[str, str]

    @property
    def parsed(self) -> RowSignature:
        """The signature, parsed."""
        return RowSignature.parse(self.signature)

    @property
    def row(self) -> Row:
        """The row of the op: first the key, then the tensors, then the attributes, all required."""
        attributes = [f"{name}: {kind.removesuffix(' | None')}" for name, kind in self.parsed.annotations.items()]
        signature = ", ".join(("key", *self.parsed.tensors, *attributes))
        impl = _keyed(getattr(jax.random, self.name), self.parsed.tensors)
        return row(f"random.{self.name}", impl, signature, self.doc, differentiable=self.differentiable)

    @property
    def docstring(self) -> str:
        """The docstring of the method."""
        words: dict[str, str] = {}
        for name in self.parsed.words:
            words[name] = self.words.get(name) or self._usual_words(name)
        arguments, shape = self.example.split(" -> ")
        example = ["  >>> import graphc as gx", f"  >>> gx.random.{self.name}({arguments}).shape", f"  {shape}"]
        return "\n".join(
            [self.doc, "", "Args:", *(f"  {name}: {text}" for name, text in words.items()), "", "Example:", *example]
        )

    def _usual_words(self, parameter: str) -> str:
        if parameter == "shape":
            like = "; None for that of the parameters" if _LIKE in self.signature else ""
            return f"the shape of the result{like}. Static."
        default = self.parsed.defaults["dtype"]
        kind = {
            None: "a floating dtype; None for the default",
            "int32": "an integer dtype",
            "uint32": "an unsigned dtype",
        }
        return f"{kind[default]}."

    @property
    def source(self) -> str:
        """The code of the method."""
        convert = "floating" if self.parsed.defaults.get("dtype") is None else "as_dtype"
        attributes = [f"{name}={f'{convert}(dtype)' if name == 'dtype' else name}" for name in self.parsed.defaults]
        tensors = "".join(f"{name}, " for name in self.parsed.tensors)
        call = f"self._draw({', '.join([repr(self.name), f'({tensors})', *attributes])})"
        return f"def {self.name}(self, {self.parsed.typed}) -> Tensor:\n    return {call}\n"


def _draw(name: str, signature: str, doc: str, example: str, *, differentiable: bool = True, **words: str) -> Draw:
    return Draw(name, signature, doc, example, differentiable, words)


_LIKE = "shape: Shape | None = None"
_PARAMETERS = f"{_LIKE}, dtype: DType = None"
_GIVEN = "shape: Shape = (), dtype: DType = None"
_BROADCAST = "broadcast against ``shape``."
_BATCH = "the shape of the batch. Static."
_BATCHES = "the shape of the batch; None for that of the parameters. Static."
_POSITIVE = "a positive number."

DRAWS = (
    _draw("ball", f"d: int, p: float = 2, {_GIVEN}",
        "Draws points uniformly from the unit ball.", "3, shape=(2,) -> (2, 3)", d="the number of dimensions.",
        p="the norm of the ball; 2 is the Euclidean norm.", shape=_BATCH),
    _draw("bernoulli", f"p=0.5, {_LIKE}",
        "Draws booleans that are True with probability ``p``.", "0.5, (4,) -> (4,)", differentiable=False,
        p="the probability, between 0 and 1."),
    _draw("beta", f"a, b, {_PARAMETERS}",
        "Draws from the beta distribution.", "2.0, 3.0, (4,) -> (4,)", a=_POSITIVE, b=_POSITIVE),
    _draw("binomial", f"n, p, {_PARAMETERS}",
        "Draws from the binomial distribution: the number of successes in ``n`` trials.", "10.0, 0.5, (4,) -> (4,)",
        differentiable=False, n="the number of trials, nonnegative.", p="the probability of success."),
    _draw("bits", "shape: Shape = (), dtype: DType = 'uint32'",
        "Draws random bits, as unsigned integers.", "(4,) -> (4,)", differentiable=False),
    _draw("categorical", f"logits, axis: int = -1, {_LIKE}",
        "Draws classes 0, 1, ... by their unnormalized log-probabilities.",
        "[[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]] -> (2,)", differentiable=False,
        logits="the log-probabilities, up to a constant.", axis="the axis of ``logits`` with the classes.",
        shape="the shape of the result; None for that of ``logits`` without ``axis``. Static."),
    _draw("cauchy", _GIVEN, "Draws from Cauchy's distribution.", "(2, 3) -> (2, 3)"),
    _draw("chisquare", f"df, {_PARAMETERS}",
        "Draws from the chi-square distribution.", "3.0, (4,) -> (4,)", df="the degrees of freedom, positive."),
    _draw("dirichlet", f"alpha, {_PARAMETERS}",
        "Draws from Dirichlet's distribution: fractions that sum to 1, on a new last axis.",
        "[1.0, 2.0, 3.0], (4,) -> (4, 3)", alpha="the concentrations along the last axis, positive.", shape=_BATCHES),
    _draw("double_sided_maxwell", f"loc, scale, {_GIVEN}",
        "Draws from the two-sided Maxwell distribution.", "0.0, 1.0, (4,) -> (4,)", loc="the centre.",
        scale="the width, positive."),
    _draw("exponential", _GIVEN, "Draws from the exponential distribution of mean 1.", "(2, 3) -> (2, 3)"),
    _draw("f", f"dfnum, dfden, {_PARAMETERS}",
        "Draws from the F distribution.", "3.0, 5.0, (4,) -> (4,)", dfnum="the degrees of freedom of the numerator.",
        dfden="the degrees of freedom of the denominator."),
    _draw("gamma", f"a, {_PARAMETERS}",
        "Draws from the gamma distribution of scale 1.", "[1.0, 2.0, 3.0] -> (3,)",
        a="the shape parameter, positive; gradients flow to it."),
    _draw("generalized_normal", f"p: float, {_GIVEN}",
        "Draws from the generalised normal distribution.", "2.0, (4,) -> (4,)",
        p="the exponent: 2 for a normal distribution, 1 for Laplace's."),
    _draw("geometric", f"p, {_LIKE}, dtype: DType = 'int32'",
        "Draws from the geometric distribution: the number of trials up to the first success.", "0.5, (4,) -> (4,)",
        differentiable=False, p="the probability of success, positive."),
    _draw("gumbel", _GIVEN, "Draws from Gumbel's distribution.", "(2, 3) -> (2, 3)"),
    _draw("laplace", _GIVEN, "Draws from Laplace's distribution.", "(2, 3) -> (2, 3)"),
    _draw("loggamma", f"a, {_PARAMETERS}",
        "Draws logarithms of gamma-distributed numbers, precise for small ``a``.", "2.0, (4,) -> (4,)",
        a="the shape parameter, positive."),
    _draw("logistic", _GIVEN, "Draws from the logistic distribution.", "(2, 3) -> (2, 3)"),
    _draw("lognormal", f"sigma=1.0, {_PARAMETERS}",
        "Draws from the log-normal distribution.", "0.5, (4,) -> (4,)",
        sigma="the standard deviation of the logarithm."),
    _draw("maxwell", _GIVEN, "Draws from Maxwell's distribution.", "(4,) -> (4,)"),
    _draw("multinomial", f"n, p, {_PARAMETERS}",
        "Draws from the multinomial distribution: the count of each outcome, on a new last axis.",
        "10.0, [0.2, 0.3, 0.5] -> (3,)", differentiable=False, n="the number of trials.",
        p="the probability of each outcome, along the last axis.",
        shape="the shape of the result. Static. None for one draw each."),
    _draw("multivariate_normal", f"mean, cov, {_PARAMETERS}",
        "Draws vectors from the multivariate normal distribution.",
        "[0.0, 1.0], [[1.0, 0.5], [0.5, 2.0]], (4,) -> (4, 2)", mean="the mean vectors, along the last axis.",
        cov="the covariance matrices, on the last two axes.", shape=_BATCHES),
    _draw("orthogonal", f"n: int, {_GIVEN}",
        "Draws uniformly distributed orthogonal matrices.", "3 -> (3, 3)", n="the number of rows and columns.",
        shape=_BATCH),
    _draw("pareto", f"b, {_PARAMETERS}",
        "Draws from Pareto's distribution.", "2.0, (4,) -> (4,)", b="the exponent, positive."),
    _draw("poisson", f"lam, {_LIKE}, dtype: DType = 'int32'",
        "Draws from the Poisson distribution.", "[1.0, 10.0] -> (2,)", differentiable=False,
        lam="the mean, nonnegative."),
    _draw("rademacher", "shape: Shape = (), dtype: DType = 'int32'",
        "Draws -1 and 1 with equal probability.", "(4,) -> (4,)", differentiable=False),
    _draw("randint", "shape: Shape, minval, maxval, dtype: DType = 'int32'",
        "Draws integers ``minval <= n < maxval``, uniformly.", "(4,), 0, 10 -> (4,)", differentiable=False,
        minval=f"the smallest value, {_BROADCAST}", maxval=f"the exclusive upper bound, {_BROADCAST}"),
    _draw("rayleigh", f"scale, {_PARAMETERS}",
        "Draws from Rayleigh's distribution.", "2.0, (4,) -> (4,)", scale=_POSITIVE),
    _draw("t", f"df, {_PARAMETERS}",
        "Draws from Student's t distribution.", "3.0, (4,) -> (4,)", df="the degrees of freedom, positive."),
    _draw("triangular", f"left, mode, right, {_PARAMETERS}",
        "Draws from the triangular distribution.", "0.0, 1.0, 3.0, (4,) -> (4,)", left="the smallest value.",
        mode="the most likely value.", right="the largest value."),
    _draw("truncated_normal", f"lower=-2.0, upper=2.0, {_GIVEN}",
        "Draws from the normal distribution of mean 0 and variance 1, cut to ``[lower, upper]``.",
        "-1.0, 1.0, (4,) -> (4,)", lower=f"the lower limit, {_BROADCAST}", upper=f"the upper limit, {_BROADCAST}"),
    _draw("uniform", f"{_GIVEN}, minval=0.0, maxval=1.0",
        "Draws from the uniform distribution over ``[minval, maxval)``.", "(2, 3), minval=-1.0 -> (2, 3)",
        minval=f"the smallest value, {_BROADCAST}", maxval=f"the exclusive upper bound, {_BROADCAST}"),
    _draw("wald", f"mean, {_PARAMETERS}",
        "Draws from Wald's distribution, the inverse Gaussian one.", "1.0, (4,) -> (4,)", mean=_POSITIVE),
    _draw("weibull_min", f"scale, concentration, {_GIVEN}",
        "Draws from Weibull's distribution.", "1.0, 2.0, (4,) -> (4,)", scale=_POSITIVE, concentration=_POSITIVE),
)  # fmt: skip
"""The distributions whose methods are made from the table."""


class Distributions:
    """A source of random numbers from the distributions of the table; a subclass implements the draw."""

    def _draw(self, name: str, values: tuple[Any, ...], **attrs: Any) -> Tensor:
        raise NotImplementedError


def _make_methods() -> None:
    namespace: dict[str, Any] = {}
    flags = __future__.annotations.compiler_flag
    code = compile("\n".join([draw.source for draw in DRAWS]), "<graphc random>", "exec", flags, dont_inherit=True)
    exec(code, globals(), namespace)  # with this module's names: annotations find them, and doctest the methods
    for draw in DRAWS:
        method = namespace[draw.name]
        method.__module__, method.__qualname__, method.__doc__ = __name__, f"Distributions.{draw.name}", draw.docstring
        setattr(Distributions, draw.name, method)


_make_methods()


def _choice(key: Any, x: Any, *p: Any, shape: Any, replace: bool, axis: int) -> jax.Array:
    return jax.random.choice(key_of(key), x, shape, replace, *p, axis=axis)


def _permutation(key: Any, x: Any, axis: int) -> jax.Array:
    return jax.random.permutation(key_of(key), x, axis)


ROWS = (
    row("random.normal", _keyed(jax.random.normal), "key, shape: Shape, dtype: DType", "Normal draws."),
    row("random.permutation", _permutation, "key, x, axis: int", "A random permutation along axis."),
    row("random.choice", _choice, "key, x, *p, shape: Shape, replace: bool, axis: int", "Choices from given values."),
    *[draw.row for draw in DRAWS],
)
"""The rows of all distributions' ops."""
