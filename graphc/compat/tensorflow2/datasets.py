"""``tf.data.experimental``: names that became methods of datasets, as a table, and datasets of CSV files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from graphc.compat.alias import alias
from graphc.compiler.ops.strings import decode_csv
from graphc.training.data import Dataset, text_lines

_TRANSFORMATIONS = {
    "bucket_by_sequence_length": (
        "element_length_func, bucket_boundaries, bucket_batch_sizes, padded_shapes=None, padding_values=None, "
        "pad_to_bucket_boundary=False, no_padding=False, drop_remainder=False",
        "bucket_by_sequence_length(element_length_func, bucket_boundaries, bucket_batch_sizes, padded_shapes, "
        "padding_values, pad_to_bucket_boundary, no_padding, drop_remainder)",
    ),
    "enumerate_dataset": ("start=0", "enumerate(start)"),
    "group_by_window": (
        "key_func, reduce_func, window_size=None, window_size_func=None",
        "group_by_window(key_func, reduce_func, window_size, window_size_func)",
    ),
    "ignore_errors": ("log_warning=False", "ignore_errors(log_warning)"),
    "map_and_batch": (
        "map_func, batch_size, num_parallel_batches=None, drop_remainder=False, num_parallel_calls=None",
        "map(map_func, num_parallel_calls).batch(batch_size, drop_remainder)",
    ),
    "parallel_interleave": (
        "map_func, cycle_length, block_length=1, sloppy=False, buffer_output_elements=None, "
        "prefetch_input_elements=None",
        "interleave(map_func, cycle_length, block_length, cycle_length, not sloppy)",
    ),
    "prefetch_to_device": ("device, buffer_size=None", "prefetch(-1 if buffer_size is None else buffer_size, device)"),
    "rejection_resample": (
        "class_func, target_dist, initial_dist=None, seed=None",
        "rejection_resample(class_func, target_dist, initial_dist, seed)",
    ),
    "scan": ("initial_state, scan_func", "scan(initial_state, scan_func)"),
    "shuffle_and_repeat": ("buffer_size, count=None, seed=None", "shuffle(buffer_size, seed).repeat(count)"),
    "take_while": ("predicate", "take_while(predicate)"),
    "unbatch": ("", "unbatch()"),
    "unique": ("", "unique()"),
}
"""The functions that return an argument for ``dataset.apply``: parameters, and the dataset methods behind them."""

_FUNCTIONS = {
    "Counter": ("start=0, step=1, dtype='int64'", "Dataset.counter(start, step, dtype)"),
    "RandomDataset": ("seed=None", "Dataset.random(seed)"),
    "cardinality": ("dataset", "dataset.cardinality()"),
    "choose_from_datasets": (
        "datasets, choice_dataset, stop_on_empty_dataset=False",
        "type(datasets[0]).choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset)",
    ),
    "get_single_element": ("dataset", "dataset.get_single_element()"),
    "get_structure": ("dataset_or_iterator", "dataset_or_iterator.element_spec"),
    "sample_from_datasets": (
        "datasets, weights=None, seed=None, stop_on_empty_dataset=False",
        "type(datasets[0]).sample_from_datasets(datasets, weights, seed, stop_on_empty_dataset)",
    ),
}
"""Functions: parameters, and what they stand for."""


def csv_dataset(
    filenames: Any, record_defaults: Sequence[Any], compression_type: str | None = None, buffer_size: int | None = None,
    header: bool = False, field_delim: str = ",", use_quote_delim: bool = True, na_value: str = "",
    select_cols: Sequence[int] | None = None,
) -> Dataset:  # fmt: skip
    """Makes a dataset of the rows of CSV files as tuples (TensorFlow's ``CsvDataset``); a row is a line.

    Args:
      filenames: the name of a file, or a list of names.
      record_defaults: see ``gx.strings.decode_csv``; likewise the arguments that are not listed here.
      compression_type: ``"GZIP"``, ``"ZLIB"``, or None.
      buffer_size: ignored.
      header: whether the first line of each file is left out.
      field_delim: likewise.
      use_quote_delim: likewise.
      na_value: likewise.
      select_cols: likewise.
    """

    def opened(name: Any) -> Dataset:
        return text_lines(name, compression_type).skip(1 if header else 0)

    def row(line: Any) -> tuple[Any, ...]:
        return tuple(decode_csv(line, record_defaults, field_delim, use_quote_delim, na_value, select_cols))

    names = [filenames] if isinstance(filenames, str) else list(filenames)
    return Dataset.from_tensor_slices(names).flat_map(opened).map(row)


def _made(name: str, signature: str, call: str) -> Callable[..., Any]:
    return alias(f"data.experimental.{name}({signature})", call, "").function(
        "tf", "graphc.compat.v2", {"Dataset": Dataset}
    )


EXPERIMENTAL: dict[str, Any] = {
    **{name: _made(name, given, f"lambda dataset: dataset.{call}") for name, (given, call) in _TRANSFORMATIONS.items()},
    **{name: _made(name, given, call) for name, (given, call) in _FUNCTIONS.items()},
    "CsvDataset": csv_dataset,
}
"""The functions by name."""
