"""Rows: checks of values, ranks and dtypes, with ``data`` to print, which messages here leave out."""

from graphc.compat.alias import Alias, alias


def _pair(name: str, example: str) -> Alias:
    return alias(
        f"assert_{name} debugging.assert_{name}",
        "x, y, data=None, summarize=None, message=None, name=None",
        f"v2.debugging.assert_{name}(x, y, message=message)",
        example,
    )


def _single(name: str, example: str) -> Alias:
    return alias(
        f"assert_{name} debugging.assert_{name}",
        "x, data=None, summarize=None, message=None, name=None",
        f"v2.debugging.assert_{name}(x, message=message)",
        example,
    )


ROWS = (
    _pair("equal", "[1.0, 2.0], [1.0, 2.0]"),
    _pair("none_equal", "[1.0, 2.0], [3.0, 4.0]"),
    _pair("greater", "[1.0, 2.0], 0.0"),
    _pair("greater_equal", "[1.0, 2.0], 1.0"),
    _pair("less", "[1.0, 2.0], 3.0"),
    _pair("less_equal", "[1.0, 2.0], 2.0"),
    _single("positive", "[1.0, 2.0]"),
    _single("non_positive", "[-1.0, 0.0]"),
    _single("negative", "[-1.0, -2.0]"),
    _single("non_negative", "[1.0, 0.0]"),
    alias(
        "assert_near debugging.assert_near",
        "x, y, rtol=None, atol=None, data=None, summarize=None, message=None, name=None",
        "v2.debugging.assert_near(x, y, rtol, atol, message)",
        "[1.0, 2.0], [1.0, 2.0000001]",
    ),
    alias(
        "verify_tensor_all_finite debugging.assert_all_finite",
        "t=None, msg=None, name=None, x=None, message=None",
        'v2.debugging.assert_all_finite(needed("tf.verify_tensor_all_finite()", "x", x, "t", t), '
        'either("message", message, "msg", msg))',
        '[1.0, 2.0], "not finite"',
    ),
    alias(
        "assert_rank debugging.assert_rank",
        "x, rank, data=None, summarize=None, message=None, name=None",
        "v2.debugging.assert_rank(x, rank, message)",
        "[1.0, 2.0], 1",
    ),
    alias(
        "assert_rank_at_least debugging.assert_rank_at_least",
        "x, rank, data=None, summarize=None, message=None, name=None",
        "v2.debugging.assert_rank_at_least(x, rank, message)",
        "[1.0, 2.0], 1",
    ),
    alias(
        "assert_rank_in debugging.assert_rank_in",
        "x, ranks, data=None, summarize=None, message=None, name=None",
        "v2.debugging.assert_rank_in(x, ranks, message)",
        "[1.0, 2.0], (0, 1)",
    ),
    alias(
        "assert_scalar debugging.assert_scalar",
        "tensor, name=None, message=None",
        "v2.debugging.assert_scalar(tensor, message)",
        "1.0",
    ),
)
