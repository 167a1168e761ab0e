"""TensorFlow 1's initializers: objects that are called with a shape and a dtype."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from graphc.compiler.core import FUNCTIONS, apply
from graphc.compiler.ir import Attrs
from graphc.compiler.ops import linalg, random
from graphc.graphs.refusals import user_error
from graphc.graphs.session.graphs.control_flow import group
from graphc.graphs.session.graphs.graph import default_graph
from graphc.graphs.session.graphs.naming import GraphKeys
from graphc.graphs.session.graphs.placeholders import graph_dtype
from graphc.graphs.session.graphs.tensor import GraphTensor, Operation
from graphc.graphs.session.state import ASSERT_INITIALIZED, NAMES_OF_UNINITIALIZED
from graphc.graphs.session.variables.assigning import variable_of
from graphc.graphs.session.variables.variable import GraphVariable


class Initializer:
    """Makes initial values.

    Args:
      dtype: the dtype of the values where a call names none.
    """

    def __init__(self, dtype: Any = "float32") -> None:
        self.dtype = dtype

    def __call__(self, shape: Sequence[int], dtype: Any = None, partition_info: Any = None) -> Any:
        """Returns a value of a shape.

        Args:
          shape: the sizes.
          dtype: the dtype; the initializer's if None.
          partition_info: ignored.
        """
        del partition_info
        return self.make(tuple(int(size) for size in shape), graph_dtype(self.dtype if dtype is None else dtype))

    def make(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
        """Returns a value of a shape and a dtype."""
        raise NotImplementedError


class zeros_initializer(Initializer):  # noqa: N801  TensorFlow's name
    """Makes zeros."""

    def make(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
        return FUNCTIONS["zeros"](shape, dtype=dtype)


class ones_initializer(Initializer):  # noqa: N801
    """Makes ones."""

    def make(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
        return FUNCTIONS["ones"](shape, dtype=dtype)


class constant_initializer(Initializer):  # noqa: N801
    """Makes values that are given.

    Args:
      value: a number for all elements, or a list or array of as many as the shape has.
      dtype: the dtype of the values where a call names none.
      verify_shape: whether the shape must be that of the value.

    Example:
      >>> import graphc as gx
      >>> from graphc.graphs.session import constant_initializer
      >>> with gx.Graph().as_default() as graph:
      ...     w = gx.get_variable("w", [2, 2], initializer=constant_initializer([1, 2, 3, 4]))
      >>> with gx.Session(graph=graph) as session:
      ...     session.run(w.initializer)
      ...     session.run(w).tolist()
      [[1.0, 2.0], [3.0, 4.0]]
    """

    def __init__(self, value: Any = 0, dtype: Any = "float32", verify_shape: bool = False) -> None:
        super().__init__(dtype)
        self.value = value
        self.verify_shape = verify_shape

    def make(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
        array = np.asarray(self.value).astype(dtype)
        size = math.prod(shape)
        fits = array.shape == shape if self.verify_shape else array.size in (1, size)
        if not fits:
            raise user_error(
                f"constant_initializer: {array.size} values of shape {array.shape} given for shape {shape}"
            )
        array = np.full(shape, array.reshape(-1)[0]) if array.size == 1 else array.reshape(shape)
        return default_graph().trace.array(array)


class _Random(Initializer):
    """Draws from the seeds of the graph, or from a seed of its own."""

    def __init__(self, seed: int | None, dtype: Any) -> None:
        super().__init__(dtype)
        self.seed = seed

    def make(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
        with default_graph().seeded(self.seed):
            return self.draw(shape, dtype)

    def draw(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
        raise NotImplementedError


class random_uniform_initializer(_Random):  # noqa: N801
    """Draws uniform numbers.

    Args:
      minval: the least.
      maxval: the bound above; 1 for floats if None.
      seed: a seed of its own; None for the graph's seed.
      dtype: the dtype of the values where a call names none.
    """

    def __init__(
        self, minval: float = 0.0, maxval: float | None = None, seed: int | None = None, dtype: Any = "float32"
    ) -> None:
        super().__init__(seed, dtype)
        self.minval, self.maxval = minval, maxval

    def draw(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
        if dtype.kind in "iu":
            bound = np.iinfo(dtype).max if self.maxval is None else int(self.maxval)
            return random.randint(shape, int(self.minval), bound, dtype)
        return random.uniform(shape, dtype, self.minval, 1.0 if self.maxval is None else self.maxval)


class random_normal_initializer(_Random):  # noqa: N801
    """Draws normal numbers.

    Args:
      mean: the mean of the numbers.
      stddev: their standard deviation.
      seed: a seed of its own; None for the graph's seed.
      dtype: the dtype of the values where a call names none.
    """

    def __init__(self, mean: float = 0.0, stddev: float = 1.0, seed: int | None = None, dtype: Any = "float32") -> None:
        super().__init__(seed, dtype)
        self.mean, self.stddev = mean, stddev

    def draw(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
        return random.normal(shape, dtype, loc=self.mean, scale=self.stddev)


class truncated_normal_initializer(random_normal_initializer):  # noqa: N801
    """Draws normal numbers no further than two standard deviations from the mean."""

    def draw(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
        return random.truncated_normal(-2.0, 2.0, shape, dtype) * self.stddev + self.mean


class variance_scaling_initializer(_Random):  # noqa: N801
    """Draws numbers whose variance is ``scale / n``.

    Args:
      scale: a positive number.
      mode: the definition of n: ``"fan_in"``, ``"fan_out"`` or ``"fan_avg"``, the numbers of inputs and outputs of a
        layer.
      distribution: ``"truncated_normal"`` (or ``"normal"``), ``"untruncated_normal"`` or ``"uniform"``.
      seed: a seed of its own; None for the graph's seed.
      dtype: the dtype of the values where a call names none.

    Raises:
      InvalidArgumentError: another mode or distribution, or no positive scale.
    """

    def __init__(
        self, scale: float = 1.0, mode: str = "fan_in", distribution: str = "truncated_normal",
        seed: int | None = None, dtype: Any = "float32",
    ) -> None:  # fmt: skip
        super().__init__(seed, dtype)
        kinds = ("normal", "truncated_normal", "untruncated_normal", "uniform")
        if scale <= 0 or mode not in ("fan_in", "fan_out", "fan_avg") or distribution not in kinds:
            raise user_error(
                f"variance_scaling_initializer: scale {scale}, mode {mode!r} and distribution {distribution!r} given; "
                f"expected a positive scale, fan_in, fan_out or fan_avg, and one of {', '.join(kinds)}"
            )
        self.scale, self.mode, self.distribution = scale, mode, distribution

    def draw(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
        fan_in, fan_out = fans(shape)
        count = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2.0}[self.mode]
        variance = self.scale / max(1.0, count)
        if self.distribution == "uniform":
            limit = math.sqrt(3.0 * variance)
            return random.uniform(shape, dtype, -limit, limit)
        if self.distribution == "untruncated_normal":
            return random.normal(shape, dtype, scale=math.sqrt(variance))
        # The standard deviation of a normal distribution that is cut at two of its own.
        return random.truncated_normal(-2.0, 2.0, shape, dtype) * (math.sqrt(variance) / 0.87962566103423978)


def fans(shape: Sequence[int]) -> tuple[float, float]:
    """Returns the numbers of inputs and of outputs of a layer whose weights have this shape."""
    if len(shape) < 2:
        size = float(shape[0]) if shape else 1.0
        return size, size
    field = math.prod(shape[:-2])
    return float(shape[-2] * field), float(shape[-1] * field)


class glorot_uniform_initializer(variance_scaling_initializer):  # noqa: N801
    """Draws uniform numbers that keep the variance of activations and gradients alike (Glorot and Bengio 2010)."""

    def __init__(self, seed: int | None = None, dtype: Any = "float32") -> None:
        super().__init__(1.0, "fan_avg", "uniform", seed, dtype)


class glorot_normal_initializer(variance_scaling_initializer):  # noqa: N801
    """Draws normal numbers that keep the variance of activations and gradients alike (Glorot and Bengio 2010)."""

    def __init__(self, seed: int | None = None, dtype: Any = "float32") -> None:
        super().__init__(1.0, "fan_avg", "truncated_normal", seed, dtype)


class orthogonal_initializer(_Random):  # noqa: N801
    """Draws matrices with orthonormal rows or columns (Saxe and others 2013).

    Args:
      gain: the factor of the values.
      seed: a seed of its own; None for the graph's seed.
      dtype: the dtype of the values where a call names none.
    """

    def __init__(self, gain: float = 1.0, seed: int | None = None, dtype: Any = "float32") -> None:
        super().__init__(seed, dtype)
        self.gain = gain

    def draw(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
        if len(shape) < 2:
            raise user_error(f"orthogonal_initializer: expected a shape of two axes or more, got {shape}")
        rows, columns = math.prod(shape[:-1]), shape[-1]
        drawn = random.normal((max(rows, columns), min(rows, columns)), dtype)
        q, r = linalg.qr(drawn)
        q = q * FUNCTIONS["sign"](FUNCTIONS["diagonal"](r))
        q = FUNCTIONS["matrix_transpose"](q) if rows < columns else q
        return FUNCTIONS["reshape"](q, shape) * self.gain


def he_normal(seed: int | None = None) -> variance_scaling_initializer:
    """Returns an initializer that keeps the variance through layers of ReLU (He and others 2015)."""
    return variance_scaling_initializer(2.0, "fan_in", "truncated_normal", seed)


def he_uniform(seed: int | None = None) -> variance_scaling_initializer:
    """Returns the uniform form of :func:`he_normal`."""
    return variance_scaling_initializer(2.0, "fan_in", "uniform", seed)


def lecun_normal(seed: int | None = None) -> variance_scaling_initializer:
    """Returns an initializer that keeps the variance through linear layers (LeCun and others 1998)."""
    return variance_scaling_initializer(1.0, "fan_in", "truncated_normal", seed)


def lecun_uniform(seed: int | None = None) -> variance_scaling_initializer:
    """Returns the uniform form of :func:`lecun_normal`."""
    return variance_scaling_initializer(1.0, "fan_in", "uniform", seed)


# Initial values: the lists of a graph's Variables, the operations that initialize them, and what has no value yet.


def global_variables(scope: str | None = None) -> list[Any]:
    """Returns the Variables of the default graph that are global, which is where they go if nothing else is said.

    Args:
      scope: a regular expression that their names begin with; None for all.
    """
    return default_graph().get_collection(GraphKeys.GLOBAL_VARIABLES, scope)


def local_variables(scope: str | None = None) -> list[Any]:
    """Returns the Variables of the default graph that are local to a process; see :func:`global_variables`."""
    return default_graph().get_collection(GraphKeys.LOCAL_VARIABLES, scope)


def trainable_variables(scope: str | None = None) -> list[Any]:
    """Returns the Variables of the default graph that optimizers change; see :func:`global_variables`."""
    return default_graph().get_collection(GraphKeys.TRAINABLE_VARIABLES, scope)


def model_variables(scope: str | None = None) -> list[Any]:
    """Returns the Variables of the default graph that belong to a model; see :func:`global_variables`."""
    return default_graph().get_collection(GraphKeys.MODEL_VARIABLES, scope)


def moving_average_variables(scope: str | None = None) -> list[Any]:
    """Returns the Variables of which moving averages are kept; see :func:`global_variables`."""
    return default_graph().get_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, scope)


all_variables = global_variables


def variables_initializer(var_list: Iterable[Any], name: str = "init") -> Operation:
    """Makes an operation that gives Variables their initial values, in the order in which they were made.

    An initial value that reads another Variable of the list sees its initial value.

    Args:
      var_list: the Variables.
      name: the name of the operation.

    Raises:
      InvalidTypeError: something is no Variable of a graph.
    """
    variables = [variable_of("variables_initializer", variable) for variable in var_list]
    graph = variables[0].graph if variables else default_graph()
    with graph.as_default():
        return group(*[variable.initializer for variable in variables], name=name)


def global_variables_initializer() -> Operation:
    """Makes an operation that gives all global Variables of the default graph their initial values.

    Example:
      >>> import graphc as gx
      >>> with gx.Graph().as_default() as graph:
      ...     a = gx.Variable(2.0, name="a")
      ...     b = gx.Variable(a.initialized_value() * 3.0, name="b")
      ...     init = gx.global_variables_initializer()
      >>> with gx.Session(graph=graph) as session:
      ...     session.run(init)
      ...     float(session.run(b))
      6.0
    """
    return variables_initializer(global_variables())


def local_variables_initializer() -> Operation:
    """Makes an operation that gives all local Variables of the default graph their initial values."""
    return variables_initializer(local_variables(), "init_local")


initialize_variables = variables_initializer
initialize_all_variables = global_variables_initializer
initialize_local_variables = local_variables_initializer


def is_variable_initialized(variable: Any) -> GraphTensor:
    """Makes a tensor that says whether a Variable has a value in the Session.

    Args:
      variable: the Variable.
    """
    return variable_of("is_variable_initialized", variable).is_initialized()


def report_uninitialized_variables(
    var_list: Iterable[Any] | None = None, name: str = "report_uninitialized_variables"
) -> GraphTensor:
    """Makes a tensor of the names of the Variables that have no value in the Session: strings, an open number of them.

    Args:
      var_list: the Variables; all global and local ones of the default graph if None.
      name: the name of the operation.

    Example:
      >>> import graphc as gx
      >>> from graphc.graphs.session import report_uninitialized_variables
      >>> with gx.Graph().as_default() as graph:
      ...     a, b = gx.Variable(1, name="a"), gx.Variable(2, name="b")
      ...     missing = report_uninitialized_variables()
      >>> with gx.Session(graph=graph) as session:
      ...     session.run(a.initializer)
      ...     print(session.run(missing))
      [b'b']
    """
    variables = _given("report_uninitialized_variables", var_list)
    graph = variables[0].graph if variables else default_graph()
    with graph.making(name):
        names: list[Any] = []
        for local in _by_place(variables):
            with graph.colocate_with(local[0]) if local else nullcontext():
                names.append(apply(NAMES_OF_UNINITIALIZED, (), Attrs(variables=_resources(local))))
        return graph.named(names[0] if len(names) == 1 else FUNCTIONS["concat"](names), name)


def assert_variables_initialized(var_list: Iterable[Any] | None = None) -> Operation | None:
    """Makes an operation that fails if a Variable has no value in the Session.

    Args:
      var_list: the Variables; all global and local ones of the default graph if None.

    Returns:
      The operation, which raises FailedPreconditionError; None if there are no Variables.
    """
    variables = _given("assert_variables_initialized", var_list)
    if not variables:
        return None
    graph = variables[0].graph
    checks: list[Operation] = []
    for local in _by_place(variables):
        with graph.entered(), graph.colocate_with(local[0]):
            graph.trace.apply(ASSERT_INITIALIZED, (), Attrs(variables=_resources(local)))
            checks.append(graph.operation_of(graph.trace.builder.nodes[-1]))
    return checks[0] if len(checks) == 1 else group(*checks)


def _by_place(variables: Sequence[GraphVariable]) -> list[list[GraphVariable]]:
    """Returns Variables by where they are kept, which is asked there; one list if there are none."""
    local = set(map(id, variables[0].graph.get_collection(GraphKeys.LOCAL_VARIABLES))) if variables else ()
    groups: dict[Any, list[GraphVariable]] = {}
    for variable in variables:
        groups.setdefault((variable.pin, not variable.pin and id(variable) in local), []).append(variable)
    return list(groups.values()) or [[]]


def _given(what: str, var_list: Iterable[Any] | None) -> list[GraphVariable]:
    if var_list is None:
        var_list = [*global_variables(), *local_variables()]
    return [variable_of(what, variable) for variable in var_list]


def _resources(variables: Sequence[GraphVariable]) -> tuple[str, ...]:
    return tuple([variable.resource for variable in variables])
