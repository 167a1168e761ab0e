"""The namespace ``random``: random numbers from a generator whose state is a Variable.

A compiled function reads and writes the state like any variable, so it draws fresh numbers at every call and in every
loop iteration, and the same numbers from the same seed as eager code. The bits are those of JAX's Threefry generator:
each draw splits the state into the next state and a key.
"""

from __future__ import annotations

from graphc.compiler.base import hint_missing
from graphc.compiler.ops.generator import Generator

__all__ = [
    "Generator",
    "ball",
    "bernoulli",
    "beta",
    "binomial",
    "bits",
    "categorical",
    "cauchy",
    "chisquare",
    "choice",
    "dirichlet",
    "double_sided_maxwell",
    "exponential",
    "f",
    "gamma",
    "generalized_normal",
    "geometric",
    "get_global_generator",
    "gumbel",
    "integers",
    "laplace",
    "loggamma",
    "logistic",
    "lognormal",
    "maxwell",
    "multinomial",
    "multivariate_normal",
    "normal",
    "orthogonal",
    "pareto",
    "permutation",
    "poisson",
    "rademacher",
    "randint",
    "rayleigh",
    "seed",
    "t",
    "triangular",
    "truncated_normal",
    "uniform",
    "wald",
    "weibull_min",
]

_default = Generator.at_import()
seed = _default.seed
host_seed = _default.host_seed
normal = _default.normal
uniform = _default.uniform
truncated_normal = _default.truncated_normal
exponential = _default.exponential
gumbel = _default.gumbel
gamma = _default.gamma
poisson = _default.poisson
randint = _default.randint
integers = _default.integers
bernoulli = _default.bernoulli
categorical = _default.categorical
permutation = _default.permutation
choice = _default.choice
ball = _default.ball
beta = _default.beta
binomial = _default.binomial
bits = _default.bits
cauchy = _default.cauchy
chisquare = _default.chisquare
dirichlet = _default.dirichlet
double_sided_maxwell = _default.double_sided_maxwell
f = _default.f
generalized_normal = _default.generalized_normal
geometric = _default.geometric
laplace = _default.laplace
loggamma = _default.loggamma
logistic = _default.logistic
lognormal = _default.lognormal
maxwell = _default.maxwell
multinomial = _default.multinomial
multivariate_normal = _default.multivariate_normal
orthogonal = _default.orthogonal
pareto = _default.pareto
rademacher = _default.rademacher
rayleigh = _default.rayleigh
t = _default.t
triangular = _default.triangular
wald = _default.wald
weibull_min = _default.weibull_min


def get_global_generator() -> Generator:
    """Returns the generator behind the functions of ``gx.random``, to split it, or to save and restore its state.

    Example:
      >>> import graphc as gx
      >>> generator = gx.random.get_global_generator()
      >>> before = generator.state.numpy()
      >>> drawn = gx.random.normal()
      >>> generator.reset(before)
      >>> bool(gx.random.normal() == drawn)
      True
    """
    return _default


hint_missing(globals(), "gx.random")
