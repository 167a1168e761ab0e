"""Rows: strings with older arguments."""

from graphc.compat.alias import alias

ROWS = (
    alias(
        'reduce_join strings.reduce_join(inputs, axis=None, keep_dims=None, separator="", name=None, '
        "reduction_indices=None, keepdims=None)",
        'v2.strings.reduce_join(inputs, either("axis", axis, "reduction_indices", reduction_indices), '
        'flag("keepdims", keepdims, "keep_dims", keep_dims), separator)',
        '[["a", "b"], ["c", "d"]], reduction_indices=0, separator="-"',
    ),
    alias('strings.length(input, name=None, unit="BYTE")', "v2.strings.length(input, unit)", '["a", "h\\u00e9llo"]'),
    alias(
        'strings.substr substr(input, pos, len, name=None, unit="BYTE")',
        "v2.strings.substr(...)",
        '["hello", "world"], [1, -3], [3, 2]',
    ),
    alias(
        "string_to_number strings.to_number(string_tensor=None, out_type=float32, name=None, input=None)",
        'v2.strings.to_number(needed("tf.string_to_number()", "input", input, "string_tensor", string_tensor), '
        "out_type)",
        '["1.5", " -2e1 "]',
    ),
    alias(
        'decode_csv io.decode_csv(records, record_defaults, field_delim=",", use_quote_delim=True, name=None, '
        'na_value="", select_cols=None)',
        "v2.io.decode_csv(...)",
        '["1,a,", "2,\\"b,c\\",NA"], [[0], [""], [0.5]], na_value="NA"',
    ),
)
