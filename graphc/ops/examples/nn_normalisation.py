"""Examples of the rows of ``graphc.ops.nn.normalisation``, which the tests run."""

__all__ = ["EXAMPLES"]

EXAMPLES = {
    "nn.batch_norm": """\
>>> x = [[-5.0, -4.0, -3.0], [-1.0, 0.0, 1.0], [3.0, 4.0, 5.0]]
>>> gx.nn.batch_norm(x, [0.0, 1.0, 2.0], [1.0, 2.0, 3.0], offset=[1.0, 1.0, 0.0]).numpy().round(3)
array([[-3.998, -2.535, -2.886],
       [ 0.   ,  0.293, -0.577],
       [ 3.999,  3.121,  1.732]], dtype=float32)
""",
    "nn.group_norm": """\
>>> gx.nn.group_norm(gx.ones((8, 28, 28, 4)), 2).shape
(8, 28, 28, 4)
""",
    "nn.layer_norm": """\
>>> gx.nn.layer_norm([[-5.0, -4.0], [-1.0, 0.0]]).numpy().round(3)
array([[-1.,  1.],
       [-1.,  1.]], dtype=float32)
""",
    "nn.moments": """\
>>> print(*gx.nn.moments([[-5.0, -4.0], [-1.0, 0.0]], axis=0))
[-3. -2.] [4. 4.]
""",
    "nn.rms_norm": """\
>>> gx.nn.rms_norm([[-5.0, -4.0], [-1.0, 0.0]]).numpy().round(3)
array([[-1.104, -0.883],
       [-1.414,  0.   ]], dtype=float32)
""",
    "nn.standardize": """\
>>> gx.nn.standardize([[-5.0, -4.0], [-1.0, 0.0]]).numpy().round(3)
array([[-1.,  1.],
       [-1.,  1.]], dtype=float32)
""",
}
