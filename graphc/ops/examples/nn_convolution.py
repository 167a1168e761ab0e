"""Examples of the rows of ``graphc.ops.nn.convolution``, which the tests run."""

__all__ = ["EXAMPLES"]

EXAMPLES = {
    "nn.conv1d": """\
>>> gx.nn.conv1d(gx.ones((8, 32, 3)), gx.ones((5, 3, 16))).shape
(8, 32, 16)
""",
    "nn.conv1d_transpose": """\
>>> gx.nn.conv1d_transpose(gx.ones((8, 16, 3)), gx.ones((2, 3, 4)), 2, "SAME").shape
(8, 32, 4)
""",
    "nn.conv2d": """\
>>> images, filters = gx.ones((8, 28, 28, 3)), gx.ones((3, 3, 3, 16))
>>> gx.nn.conv2d(images, filters, strides=2, padding="SAME").shape
(8, 14, 14, 16)
""",
    "nn.conv2d_transpose": """\
>>> gx.nn.conv2d_transpose(gx.ones((8, 14, 14, 3)), gx.ones((2, 2, 3, 4)), 2, "SAME").shape
(8, 28, 28, 4)
""",
    "nn.conv3d": """\
>>> gx.nn.conv3d(gx.ones((1, 8, 8, 8, 2)), gx.ones((3, 3, 3, 2, 4))).shape
(1, 8, 8, 8, 4)
""",
    "nn.conv3d_transpose": """\
>>> gx.nn.conv3d_transpose(gx.ones((1, 4, 4, 4, 2)), gx.ones((2, 2, 2, 2, 3)), 2, "SAME").shape
(1, 8, 8, 8, 3)
""",
    "nn.depthwise_conv2d": """\
>>> gx.nn.depthwise_conv2d(gx.ones((8, 28, 28, 3)), gx.ones((3, 3, 3, 2))).shape
(8, 28, 28, 6)
""",
}
