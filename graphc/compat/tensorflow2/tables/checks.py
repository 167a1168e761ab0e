"""Rows: what must hold, and what is said of dtypes."""

from graphc.compat.alias import alias

_TWO = {
    "equal": ("", "[1.0, 2.0], [1.0, 2.0]"),
    "greater": ("", "[1.0, 2.0], 0.0"),
    "less": ("", "[1.0, 2.0], 3.0"),
    "greater_equal": ("debugging", "[1.0, 2.0], 1.0"),
    "less_equal": ("debugging", "[1.0, 2.0], 2.0"),
}
_ONE = {
    "positive": "[1.0, 2.0]",
    "non_positive": "[-1.0, 0.0]",
    "negative": "[-1.0, -2.0]",
    "non_negative": "[1.0, 0.0]",
}

ROWS = (
    *[
        alias(
            f"{'' if space else f'assert_{name} '}debugging.assert_{name}"
            "(x, y, message=None, summarize=None, name=None)",
            f"gx.checks.assert_{name}(x, y, message)",
            example,
        )
        for name, (space, example) in _TWO.items()
    ],
    alias(
        "debugging.assert_none_equal(x, y, summarize=None, message=None, name=None)",
        "gx.checks.assert_none_equal(x, y, message)",
        "[1.0, 2.0], [3.0, 4.0]",
    ),
    *[
        alias(
            f"debugging.assert_{name}(x, message=None, summarize=None, name=None)",
            f"gx.checks.assert_{name}(x, message)",
            example,
        )
        for name, example in _ONE.items()
    ],
    alias(
        "debugging.assert_near(x, y, rtol=None, atol=None, message=None, summarize=None, name=None)",
        "gx.checks.assert_near(x, y, rtol, atol, message)",
        "[1.0, 2.0], [1.0, 2.0000001]",
    ),
    alias(
        "debugging.assert_all_finite(x, message, name=None)",
        "gx.checks.assert_all_finite(x, message)",
        '[1.0, 2.0], "not finite"',
    ),
    alias(
        "debugging.check_numerics(tensor, message, name=None)",
        "gx.check_numerics(tensor, message)",
        '[1.0, 2.0], "not finite"',
    ),
    alias(
        "debugging.enable_check_numerics(stack_height_limit=30, path_length_limit=50)",
        'setattr(gx.config, "check_numerics", True)',
        "",
    ),
    alias("debugging.disable_check_numerics()", 'setattr(gx.config, "check_numerics", False)', ""),
    alias(
        "assert_rank debugging.assert_rank(x, rank, message=None, name=None)",
        "gx.checks.assert_rank(x, rank, message)",
        "[1.0, 2.0], 1",
    ),
    alias(
        "debugging.assert_rank_at_least(x, rank, message=None, name=None)",
        "gx.checks.assert_rank_at_least(x, rank, message)",
        "[1.0, 2.0], 1",
    ),
    alias(
        "debugging.assert_rank_in(x, ranks, message=None, name=None)",
        "gx.checks.assert_rank_in(x, ranks, message)",
        "[1.0, 2.0], (0, 1)",
    ),
    alias(
        "debugging.assert_scalar(tensor, message=None, name=None)", "gx.checks.assert_scalar(tensor, message)", "1.0"
    ),
    alias(
        "debugging.assert_shapes(shapes, data=None, summarize=None, message=None, name=None)",
        "gx.checks.assert_shapes(shapes, message)",
        '[(tf.ones([2, 3]), ("N", 3)), (tf.ones([2]), ("N",))]',
    ),
    alias(
        "debugging.assert_type(tensor, tf_type, message=None, name=None)",
        "gx.checks.assert_type(tensor, tf_type, message)",
        "[1.0, 2.0], tf.float32",
    ),
    alias("debugging.assert_integer(x, message=None, name=None)", "gx.checks.assert_integer(x, message)", "[1, 2]"),
    alias(
        "debugging.assert_same_float_dtype(tensors=None, dtype=None)",
        "gx.checks.assert_same_float_dtype(tensors, dtype)",
        "[tf.ones([2]), tf.ones([3])]",
    ),
    alias("debugging.assert_proper_iterable(values)", "gx.checks.assert_proper_iterable(values)", "[tf.ones([2])]"),
    alias("debugging.is_numeric_tensor(tensor)", "gx.checks.is_numeric_tensor(tensor)", "[1.0, 2.0]"),
    alias(
        "Assert debugging.Assert(condition, data, summarize=None, name=None)",
        "gx.checks.assert_true(condition, data)",
        'True, ["never"]',
    ),
    alias("as_dtype dtypes.as_dtype(type_value)", "gx.DTypeName.of(type_value)", '"float32"'),
)
