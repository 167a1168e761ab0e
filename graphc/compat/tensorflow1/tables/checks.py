"""Rows: checks of values, which are operations that fail the run; ranks and dtypes are checked at once."""

from graphc.compat.alias import Alias, alias


def _pair(name: str, holds: str, example: str) -> Alias:
    return alias(
        f"assert_{name} debugging.assert_{name}(x, y, data=None, summarize=None, message=None, name=None)",
        f'session.Assert(v2.{holds}(x, y), failed("x {name} y", data, message, x=x, y=y), summarize)',
        example,
    )


def _single(name: str, holds: str, example: str) -> Alias:
    return alias(
        f"assert_{name} debugging.assert_{name}(x, data=None, summarize=None, message=None, name=None)",
        f'session.Assert(v2.{holds}(x, 0), failed("x {name}", data, message, x=x), summarize)',
        example,
    )


ROWS = (
    _pair("equal", "equal", "[1.0, 2.0], [1.0, 2.0]"),
    _pair("none_equal", "not_equal", "[1.0, 2.0], [3.0, 4.0]"),
    _pair("greater", "greater", "[1.0, 2.0], 0.0"),
    _pair("greater_equal", "greater_equal", "[1.0, 2.0], 1.0"),
    _pair("less", "less", "[1.0, 2.0], 3.0"),
    _pair("less_equal", "less_equal", "[1.0, 2.0], 2.0"),
    _single("positive", "greater", "[1.0, 2.0]"),
    _single("non_positive", "less_equal", "[-1.0, 0.0]"),
    _single("negative", "less", "[-1.0, -2.0]"),
    _single("non_negative", "greater_equal", "[1.0, 0.0]"),
    alias(
        "assert_near debugging.assert_near(x, y, rtol=None, atol=None, data=None, summarize=None, message=None, "
        "name=None)",
        'session.Assert(near(x, y, rtol, atol), failed("x near y", data, message, x=x, y=y), summarize)',
        "[1.0, 2.0], [1.0, 2.0000001]",
    ),
    alias(
        "verify_tensor_all_finite debugging.assert_all_finite(t=None, msg=None, name=None, x=None, message=None)",
        'finite(needed("tf.verify_tensor_all_finite()", "x", x, "t", t), either("message", message, "msg", msg))',
        '[1.0, 2.0], "not finite"',
    ),
    alias(
        "debugging.check_numerics check_numerics(tensor, message, name=None)",
        "finite(tensor, message)",
        '[1.0, 2.0], "not finite"',
    ),
    alias(
        "assert_rank debugging.assert_rank(x, rank, data=None, summarize=None, message=None, name=None)",
        "checked(v2.debugging.assert_rank(x, rank, message))",
        "[1.0, 2.0], 1",
    ),
    alias(
        "assert_rank_at_least debugging.assert_rank_at_least(x, rank, data=None, summarize=None, message=None, "
        "name=None)",
        "checked(v2.debugging.assert_rank_at_least(x, rank, message))",
        "[1.0, 2.0], 1",
    ),
    alias(
        "assert_rank_in debugging.assert_rank_in(x, ranks, data=None, summarize=None, message=None, name=None)",
        "checked(v2.debugging.assert_rank_in(x, ranks, message))",
        "[1.0, 2.0], (0, 1)",
    ),
    alias(
        "assert_scalar debugging.assert_scalar(tensor, name=None, message=None)",
        "tensor_after(v2.debugging.assert_scalar(tensor, message), tensor)",
        "1.0",
    ),
    alias(
        "assert_type debugging.assert_type(tensor, tf_type, message=None, name=None)",
        "checked(v2.debugging.assert_type(tensor, tf_type, message))",
        "[1.0, 2.0], tf.float32",
    ),
    alias(
        "assert_integer debugging.assert_integer(x, message=None, name=None)",
        "checked(v2.debugging.assert_integer(x, message))",
        "[1, 2]",
    ),
)
