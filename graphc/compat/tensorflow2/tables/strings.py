"""Rows: strings, and lines of files."""

from graphc.compat.alias import alias

ROWS = (
    alias(
        'strings.as_string as_string(input, precision=-1, scientific=False, shortest=False, width=-1, fill="", '
        "name=None)",
        "gx.strings.as_string(...)",
        "[1.5, 2.0], precision=2",
    ),
    alias(
        'strings.format(template, inputs, placeholder="{}", summarize=3, name=None)',
        "gx.strings.format(...)",
        '"step {}: {}", (3, tf.constant([1.5, 2.0]))',
    ),
    alias(
        'strings.join(inputs, separator="", name=None)',
        "gx.strings.join(inputs, separator)",
        '["data", ["a", "b"]], separator="/"',
    ),
    alias('strings.length(input, unit="BYTE", name=None)', "gx.strings.length(input, unit)", '["a", "h\\u00e9llo"]'),
    alias('strings.lower(input, encoding="", name=None)', "gx.strings.lower(input, encoding)", '["Cat", "\\u00c4"]'),
    alias(
        'strings.upper(input, encoding="", name=None)',
        "gx.strings.upper(input, encoding)",
        '["cat", "\\u00e4"], encoding="utf-8"',
    ),
    alias("strings.strip(input, name=None)", "gx.strings.strip(input)", '[" a ", "b\\n"]'),
    alias(
        "strings.split(input, sep=None, maxsplit=-1, name=None)",
        "gx.strings.split(input, sep, maxsplit)",
        '"a,b,,c", ",", maxsplit=2',
    ),
    alias(
        'strings.substr(input, pos, len, unit="BYTE", name=None)',
        "gx.strings.substr(...)",
        '["hello", "world"], [1, -3], [3, 2]',
    ),
    alias(
        'strings.reduce_join(inputs, axis=None, keepdims=False, separator="", name=None)',
        "gx.strings.reduce_join(...)",
        '[["a", "b"], ["c", "d"]], axis=0, separator="-"',
    ),
    alias(
        "strings.regex_full_match(input, pattern, name=None)",
        "gx.strings.regex_full_match(input, pattern)",
        '["a.csv", "a.txt"], ".*csv"',
    ),
    alias(
        "strings.regex_replace(input, pattern, rewrite, replace_global=True, name=None)",
        "gx.strings.regex_replace(...)",
        '["img_07.png"], "img_([0-9]+)", "\\\\1-\\\\0"',
    ),
    alias(
        "strings.to_number(input, out_type=float32, name=None)",
        "gx.strings.to_number(input, out_type)",
        '["1.5", " -2e1 "]',
    ),
    alias(
        'io.decode_csv(records, record_defaults, field_delim=",", use_quote_delim=True, na_value="", '
        "select_cols=None, name=None)",
        "gx.strings.decode_csv(...)",
        '["1,a,", "2,\\"b,c\\",NA"], [[0], [""], [0.5]], na_value="NA"',
    ),
    alias(
        'keras.layers.StringLookup(max_tokens=None, num_oov_indices=1, mask_token=None, oov_token="[UNK]", '
        'vocabulary=None, idf_weights=None, invert=False, output_mode="int", pad_to_max_tokens=False, '
        'sparse=False, encoding="utf-8", name=None, salt=None, **kwargs)',
        "gx.layers.StringLookup(vocabulary, num_oov_indices, mask_token, oov_token, invert, output_mode)",
        'vocabulary=["a", "b"]',
    ),
)
