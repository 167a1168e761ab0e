"""Rows of the namespace ``nn``: activations, softmax, and one-hot encoding."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from graphc.compiler.ops.table import define, row

_SOFTMAX = "x, axis: Axis = -1"

_ROWS = (
    row("nn.relu", jax.nn.relu, "x", "max(x, 0); its gradient at 0 is 0."),
    row("nn.relu6", jax.nn.relu6, "x", "min(max(x, 0), 6)."),
    row(
        "nn.leaky_relu",
        jax.nn.leaky_relu,
        "x, negative_slope: float = 0.01",
        "x if positive, else negative_slope * x.",
    ),
    row("nn.elu", jax.nn.elu, "x, alpha: float = 1.0", "x if positive, else alpha * (exp(x) - 1)."),
    row("nn.celu", jax.nn.celu, "x, alpha: float = 1.0", "x if positive, else alpha * (exp(x / alpha) - 1)."),
    row("nn.selu", jax.nn.selu, "x", "Scaled ELU, which preserves mean 0 and variance 1 through layers."),
    row(
        "nn.gelu",
        jax.nn.gelu,
        "x, approximate: bool = True",
        "x times the normal distribution function of x; approximate uses the tanh formula.",
    ),
    row("nn.silu", jax.nn.silu, "x", "x * sigmoid(x).", aliases=("swish",)),
    row("nn.mish", jax.nn.mish, "x", "x * tanh(softplus(x))."),
    row("nn.sigmoid", jax.nn.sigmoid, "x", "1 / (1 + exp(-x))."),
    row("nn.log_sigmoid", jax.nn.log_sigmoid, "x", "log(sigmoid(x)), without overflow."),
    row("nn.hard_sigmoid", jax.nn.hard_sigmoid, "x", "min(max(x + 3, 0), 6) / 6."),
    row(
        "nn.hard_silu",
        jax.nn.hard_silu,
        "x",
        "x * hard_sigmoid(x).",
        aliases=("hard_swish",),
    ),
    row("nn.hard_tanh", jax.nn.hard_tanh, "x", "x clipped to [-1, 1]."),
    row("nn.softplus", jax.nn.softplus, "x", "log(1 + exp(x)), without overflow."),
    row("nn.squareplus", jax.nn.squareplus, "x, b=4", "(x + sqrt(x ** 2 + b)) / 2."),
    row("nn.sparse_plus", jax.nn.sparse_plus, "x", "0 below -1, x above 1, a parabola between."),
    row("nn.sparse_sigmoid", jax.nn.sparse_sigmoid, "x", "x clipped to [-1, 1] and mapped to [0, 1]."),
    row("nn.log1mexp", jax.nn.log1mexp, "x", "log(1 - exp(-x)), for positive x."),
    row("nn.identity", jax.nn.identity, "x", "The tensor unchanged."),
    row("nn.soft_sign", jax.nn.soft_sign, "x", "x / (1 + |x|)."),
    row("nn.tanh", jnp.tanh, "x", "The hyperbolic tangent."),
    row("nn.glu", jax.nn.glu, "x, axis: int = -1", "One half along axis times the sigmoid of the other."),
    row("nn.softmax", jax.nn.softmax, _SOFTMAX, "exp(x) / sum(exp(x)) over axis."),
    row("nn.log_softmax", jax.nn.log_softmax, _SOFTMAX, "log(softmax(x)), without overflow."),
    row(
        "nn.logsumexp",
        jax.nn.logsumexp,
        "x, axis: Axis = None, keepdims: bool = False",
        "log(sum(exp(x))) over axis, without overflow.",
    ),
    row(
        "nn.logmeanexp",
        jax.nn.logmeanexp,
        "x, axis: Axis = None, keepdims: bool = False",
        "log(mean(exp(x))) over axis, without overflow.",
    ),
    row(
        "nn.one_hot",
        jax.nn.one_hot,
        "x, num_classes: int, dtype: DType = None, axis: int = -1",
        "1 at position x on the new axis, 0 elsewhere; all 0 if x is out of range.",
        differentiable=False,
    ),
)

define(globals(), light=_ROWS)
