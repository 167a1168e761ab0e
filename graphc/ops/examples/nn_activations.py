"""Examples of the rows of ``graphc.ops.nn.activations``, which the tests run."""

__all__ = ["EXAMPLES"]

EXAMPLES = {
    "nn.celu": """\
>>> gx.nn.celu([-2.5, 0.5, 3.0]).numpy().round(3)
array([-0.918,  0.5  ,  3.   ], dtype=float32)
""",
    "nn.elu": """\
>>> gx.nn.elu([-2.5, 0.5, 3.0]).numpy().round(3)
array([-0.918,  0.5  ,  3.   ], dtype=float32)
""",
    "nn.gelu": """\
>>> gx.nn.gelu([-2.5, 0.5, 3.0]).numpy().round(3)
array([-0.015,  0.346,  2.996], dtype=float32)
""",
    "nn.glu": """\
>>> gx.nn.glu([[-5.0, -4.0], [-1.0, 0.0]]).numpy().round(3)
array([[-0.09],
       [-0.5 ]], dtype=float32)
""",
    "nn.hard_sigmoid": """\
>>> gx.nn.hard_sigmoid([-2.5, 0.5, 3.0]).numpy().round(3)
array([0.083, 0.583, 1.   ], dtype=float32)
""",
    "nn.hard_silu": """\
>>> gx.nn.hard_silu([-2.5, 0.5, 3.0]).numpy().round(3)
array([-0.208,  0.292,  3.   ], dtype=float32)
""",
    "nn.hard_tanh": """\
>>> gx.nn.hard_tanh([-2.5, 0.5, 3.0])
Tensor([-1. ,  0.5,  1. ], shape=(3,), dtype=float32)
""",
    "nn.identity": """\
>>> gx.nn.identity([-2.5, 0.5, 3.0])
Tensor([-2.5,  0.5,  3. ], shape=(3,), dtype=float32)
""",
    "nn.leaky_relu": """\
>>> gx.nn.leaky_relu([-2.5, 0.5, 3.0], negative_slope=0.1)
Tensor([-0.25,  0.5 ,  3.  ], shape=(3,), dtype=float32)
""",
    "nn.log1mexp": """\
>>> gx.nn.log1mexp([0.25, 2.0, 7.0]).numpy().round(3)
array([-1.509e+00, -1.450e-01, -1.000e-03], dtype=float32)
""",
    "nn.log_sigmoid": """\
>>> gx.nn.log_sigmoid([-2.5, 0.5, 3.0]).numpy().round(3)
array([-2.579, -0.474, -0.049], dtype=float32)
""",
    "nn.log_softmax": """\
>>> gx.nn.log_softmax([[-5.0, -4.0], [-1.0, 0.0]]).numpy().round(3)
array([[-1.313, -0.313],
       [-1.313, -0.313]], dtype=float32)
""",
    "nn.logmeanexp": """\
>>> gx.nn.logmeanexp(gx.arange(8.0).reshape(2, 2, 2), axis=1).numpy().round(3)
array([[1.434, 2.434],
       [5.434, 6.434]], dtype=float32)
""",
    "nn.logsumexp": """\
>>> gx.nn.logsumexp(gx.arange(8.0).reshape(2, 2, 2), axis=1).numpy().round(3)
array([[2.127, 3.127],
       [6.127, 7.127]], dtype=float32)
""",
    "nn.mish": """\
>>> gx.nn.mish([-2.5, 0.5, 3.0]).numpy().round(3)
array([-0.197,  0.375,  2.987], dtype=float32)
""",
    "nn.one_hot": """\
>>> gx.nn.one_hot([2, 0, 5], 3)
Tensor([[0., 0., 1.],
 [1., 0., 0.],
 [0., 0., 0.]], shape=(3, 3), dtype=float32)
""",
    "nn.relu": """\
>>> gx.nn.relu([-2.5, 0.5, 3.0])
Tensor([0. , 0.5, 3. ], shape=(3,), dtype=float32)
""",
    "nn.relu6": """\
>>> gx.nn.relu6([-10.0, 2.0, 12.0])
Tensor([0., 2., 6.], shape=(3,), dtype=float32)
""",
    "nn.selu": """\
>>> gx.nn.selu([-2.5, 0.5, 3.0]).numpy().round(3)
array([-1.614,  0.525,  3.152], dtype=float32)
""",
    "nn.sigmoid": """\
>>> gx.nn.sigmoid([-2.5, 0.5, 3.0]).numpy().round(3)
array([0.076, 0.622, 0.953], dtype=float32)
""",
    "nn.silu": """\
>>> gx.nn.silu([-2.5, 0.5, 3.0]).numpy().round(3)
array([-0.19 ,  0.311,  2.858], dtype=float32)
""",
    "nn.soft_sign": """\
>>> gx.nn.soft_sign([-2.5, 0.5, 3.0]).numpy().round(3)
array([-0.714,  0.333,  0.75 ], dtype=float32)
""",
    "nn.softmax": """\
>>> gx.nn.softmax([[-5.0, -4.0], [-1.0, 0.0]]).numpy().round(3)
array([[0.269, 0.731],
       [0.269, 0.731]], dtype=float32)
""",
    "nn.softplus": """\
>>> gx.nn.softplus([-2.5, 0.5, 3.0]).numpy().round(3)
array([0.079, 0.974, 3.049], dtype=float32)
""",
    "nn.sparse_plus": """\
>>> gx.nn.sparse_plus([-2.5, 0.5, 3.0]).numpy().round(3)
array([0.   , 0.562, 3.   ], dtype=float32)
""",
    "nn.sparse_sigmoid": """\
>>> gx.nn.sparse_sigmoid([-2.5, 0.5, 3.0])
Tensor([0.  , 0.75, 1.  ], shape=(3,), dtype=float32)
""",
    "nn.squareplus": """\
>>> gx.nn.squareplus([-2.5, 0.5, 3.0]).numpy().round(3)
array([0.351, 1.281, 3.303], dtype=float32)
""",
    "nn.tanh": """\
>>> gx.nn.tanh([-2.5, 0.5, 3.0]).numpy().round(3)
array([-0.987,  0.462,  0.995], dtype=float32)
""",
}
