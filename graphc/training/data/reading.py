"""Functions that make datasets of files and of Python objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graphc.compiler.base.errors import InvalidArgumentError
from graphc.library.formats import checked_compression
from graphc.training.data.dataset import Dataset
from graphc.training.data.planned_dataset import Planned
from graphc.training.data.sources import (
    FileFormat,
    FileSource,
    FixedLengthRecords,
    NumpyFiles,
    QueueSource,
    TextLines,
    TFRecords,
    csv_files,
    file_names,
    matching_files,
    python_source,
    table_arrays,
    table_files,
)


def _of_files(filenames: Any, use: str, format: FileFormat, parallel: Any) -> Dataset:
    """Returns the dataset of files: in sequence, or interleaved from ``parallel`` files."""
    if isinstance(filenames, Planned):

        def opened(name: Any) -> Dataset:
            return _of_files(name, use, format, None)

        dataset: Any = filenames
        return dataset.interleave(opened, cycle_length=1 if parallel is None else parallel)
    names = file_names(filenames, use)
    if parallel is None or len(names) == 1:
        return Dataset.from_source(FileSource(names, format))
    return _of_files(Dataset.from_tensor_slices(list(names)), use, format, parallel)


def text_lines(
    filenames: Any,
    compression_type: str | None = None,
    buffer_size: int | None = None,
    num_parallel_reads: int | None = None,
    name: str | None = None,
) -> Dataset:
    """Makes a dataset of the lines of text files, without their ends (TensorFlow's ``TextLineDataset``).

    Args:
      filenames: the name of a file, a list of names, or a dataset of them.
      compression_type: ``"GZIP"``, ``"ZLIB"``, or None.
      buffer_size: ignored.
      num_parallel_reads: the number of files to interleave lines from; None to read the files in sequence.
      name: ignored.

    Raises:
      InvalidTypeError: these are not file names.
      FileMissingError: a file does not exist when it is read.

    Example:
      >>> import os, tempfile
      >>> import graphc as gx
      >>> path = os.path.join(tempfile.mkdtemp(), "words")
      >>> with open(path, "w") as file:
      ...     _ = file.write("one" + os.linesep + "two" + os.linesep)
      >>> [line.item() for line in gx.data.text_lines(path)]
      ['one', 'two']
    """
    format = TextLines(checked_compression(compression_type, "text_lines"))
    return _of_files(filenames, "text_lines", format, num_parallel_reads)


def fixed_length_records(
    filenames: Any,
    record_bytes: int,
    header_bytes: int | None = None,
    footer_bytes: int | None = None,
    buffer_size: int | None = None,
    compression_type: str | None = None,
    num_parallel_reads: int | None = None,
    name: str | None = None,
) -> Dataset:
    """Makes a dataset of the records of binary files (TensorFlow's ``FixedLengthRecordDataset``).

    Args:
      filenames: the name of a file, a list of names, or a dataset of them.
      record_bytes: the size of a record.
      header_bytes: the number of bytes to skip at the start of each file.
      footer_bytes: the number of bytes to ignore at the end of each file.
      buffer_size: ignored.
      compression_type: ``"GZIP"``, ``"ZLIB"``, or None.
      num_parallel_reads: the number of files to interleave records from; None to read the files in sequence.
      name: ignored.
    """
    sizes = int(record_bytes), int(header_bytes or 0), int(footer_bytes or 0)
    if sizes[0] < 1 or min(sizes) < 0:
        problem = f"fixed_length_records: record_bytes must be at least 1, the others at least 0, got {sizes}"
        raise InvalidArgumentError(problem).here()
    format = FixedLengthRecords(*sizes, checked_compression(compression_type, "fixed_length_records"))
    return _of_files(filenames, "fixed_length_records", format, num_parallel_reads)


def tf_records(
    filenames: Any,
    compression_type: str | None = None,
    buffer_size: int | None = None,
    num_parallel_reads: int | None = None,
    name: str | None = None,
) -> Dataset:
    """Makes a dataset of TFRecords; ``gx.queues.parse_example`` parses a batch of Examples.

    Args:
      filenames: the name of a file, a list of names, or a dataset of them.
      compression_type: ``"GZIP"``, ``"ZLIB"``, or None.
      buffer_size: ignored.
      num_parallel_reads: the number of files to interleave records from; None to read the files in sequence.
      name: ignored.

    Example:
      >>> import os, tempfile
      >>> import graphc as gx
      >>> path = os.path.join(tempfile.mkdtemp(), "two.tfrecord")
      >>> with gx.queues.TFRecordWriter(path) as writer:
      ...     writer.write(gx.queues.make_example({"x": 1.0}).SerializeToString())
      ...     writer.write(gx.queues.make_example({"x": 2.0}).SerializeToString())
      >>> features = {"x": gx.queues.FixedLenFeature([], gx.float32)}
      >>> dataset = gx.data.tf_records(path).batch(2).map(lambda records: gx.queues.parse_example(records, features))
      >>> next(iter(dataset))["x"].tolist()
      [1.0, 2.0]
    """
    format = TFRecords(checked_compression(compression_type, "tf_records"))
    return _of_files(filenames, "tf_records", format, num_parallel_reads)


def csv(
    filenames: Any,
    *,
    column_names: Sequence[str] | None = None,
    column_defaults: Sequence[Any] | Mapping[str, Any] | None = None,
    select_columns: Sequence[str | int] | None = None,
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    header: bool = True,
    num_rows_for_inference: int = 100,
    compression_type: str | None = None,
) -> Dataset:
    """Makes a dataset of the rows of CSV files (RFC 4180), as dicts of the columns; it needs the extra ``data``.

    Args:
      filenames: the name of a file, or a list of names.
      column_names: the names of all columns; None to read the header.
      column_defaults: the value of an empty field, for each column that is read, or by name: a value, whose dtype is
        that of the column, or a dtype if no field may be empty. None for inferred dtypes, and 0 or an empty string.
      select_columns: the names or places of the columns to read; None for all.
      field_delim: the delimiter between fields.
      use_quote_delim: whether fields in double quotes may hold delimiters, line feeds and doubled quotes.
      na_value: another text that counts as empty.
      header: whether each file starts with the names.
      num_rows_for_inference: the number of rows to infer dtypes from: int32, int64, float32, float64, else string.
      compression_type: ``"GZIP"``, ``"ZLIB"``, or None.

    Raises:
      InvalidArgumentError: the arguments do not fit the columns.
      DataLossError: raised while reading, for a row with other fields, or with a field that does not convert. The error
        names the file, line, column and text; the next element is the row after it.

    Example:
      >>> import os, tempfile
      >>> import graphc as gx
      >>> path = os.path.join(tempfile.mkdtemp(), "people.csv")
      >>> with open(path, "w") as file:
      ...     print("name,age", "Ann,31", "Bob,42", sep=os.linesep, file=file)
      >>> for row in gx.data.csv(path).as_numpy_iterator():
      ...     print(row["name"], row["age"])
      b'Ann' 31
      b'Bob' 42
    """
    return Dataset.from_source(
        csv_files(
            filenames,
            column_names=column_names,
            column_defaults=column_defaults,
            select_columns=select_columns,
            delimiter=field_delim,
            quotes=use_quote_delim,
            na_value=na_value,
            header=header,
            rows_for_inference=num_rows_for_inference,
            compression=compression_type,
        )
    )


def make_csv_dataset(
    file_pattern: Any,
    batch_size: int,
    column_names: Sequence[str] | None = None,
    column_defaults: Sequence[Any] | None = None,
    label_name: str | None = None,
    select_columns: Sequence[str | int] | None = None,
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    header: bool = True,
    num_epochs: int | None = None,
    shuffle: bool = True,
    shuffle_buffer_size: int = 10000,
    shuffle_seed: int | None = None,
    num_rows_for_inference: int = 100,
    compression_type: str | None = None,
) -> Dataset:
    """Makes a dataset of batches of rows of CSV files, shuffled and repeated (TensorFlow's function of this name).

    Args:
      file_pattern: a pattern of files, or a list of patterns.
      batch_size: the number of rows in a batch.
      column_names: see :func:`csv`; likewise the arguments that are not listed here.
      column_defaults: likewise.
      label_name: a column to return next to the dict of the others; None for none.
      select_columns: likewise.
      field_delim: likewise.
      use_quote_delim: likewise.
      na_value: likewise.
      header: likewise.
      num_epochs: the number of passes over the rows; None for endless repetition.
      shuffle: whether to shuffle the rows.
      shuffle_buffer_size: the size of the shuffle buffer in rows.
      shuffle_seed: the seed of the order.
      num_rows_for_inference: likewise.
      compression_type: likewise.
    """
    dataset = csv(
        matching_files(file_pattern, "make_csv_dataset"),
        column_names=column_names,
        column_defaults=column_defaults,
        select_columns=select_columns,
        field_delim=field_delim,
        use_quote_delim=use_quote_delim,
        na_value=na_value,
        header=header,
        num_rows_for_inference=num_rows_for_inference,
        compression_type=compression_type,
    )
    if label_name is not None and label_name not in dataset.element_spec:
        problem = f"make_csv_dataset: label_name is {label_name!r}, but the columns are {list(dataset.element_spec)}"
        raise InvalidArgumentError(problem).here()
    if shuffle:
        dataset = dataset.shuffle(shuffle_buffer_size, shuffle_seed)
    dataset = dataset.repeat(num_epochs).batch(batch_size, drop_remainder=num_epochs is None)
    if label_name is None:
        return dataset

    def with_label(columns: dict[str, Any]) -> Any:
        rest = dict(columns)
        return rest, rest.pop(label_name)

    return dataset.map(with_label)


def parquet(filenames: Any, columns: Sequence[str] | None = None) -> Dataset:
    """Makes a dataset of the rows of Parquet files, as dicts of the columns; it needs the extra ``data``.

    Row groups are read in sequence, so its position is a row group and a row.

    Args:
      filenames: the name of a file, or a list of names.
      columns: the names of the columns to read; None for all.

    Raises:
      DataLossError: a file is none of Parquet's, or a column has no array: ints with missing values, lists of several
        lengths.
    """
    return Dataset.from_source(table_files("parquet", filenames, columns))


def arrow(data: Any, columns: Sequence[str] | None = None) -> Dataset:
    """Makes a dataset of the rows of Arrow files (IPC format, also Feather), or of a pyarrow table.

    Args:
      data: the name of a file, a list of names, or a ``pyarrow.Table``.
      columns: the names of the columns to read; None for all.
    """
    if hasattr(data, "schema") and hasattr(data, "column_names"):
        return Dataset.from_tensor_slices(table_arrays(data, columns))
    return Dataset.from_source(table_files("arrow", data, columns))


def numpy_files(paths: Any) -> Dataset:
    """Makes a dataset of the rows of arrays in ``.npy`` files, which are mapped into memory.

    A shuffle permutes row numbers, and only the rows of a batch are read.

    Args:
      paths: a nested structure of names of files; a list stands for arrays behind each other.

    Example:
      >>> import os, tempfile
      >>> import numpy as np
      >>> import graphc as gx
      >>> path = os.path.join(tempfile.mkdtemp(), "x.npy")
      >>> np.save(path, np.arange(6.0).reshape(3, 2))
      >>> [row.tolist() for row in gx.data.numpy_files(path).skip(1)]
      [[2.0, 3.0], [4.0, 5.0]]
    """
    return Dataset.from_source(NumpyFiles(paths))


def from_python(data: Any, element_spec: Any = None) -> Dataset:
    """Makes a dataset of a Python object.

    Args:
      data: an object with ``__len__`` and ``__getitem__`` (a list, a dataset of PyTorch's or of Hugging Face's), whose
        items come in any order that a shuffle asks for; else an iterable; or a function that returns one.
      element_spec: the types of an element: a nested structure of ``gx.TensorSpec``; None to infer from the first one.

    Raises:
      InvalidTypeError: the object is none of these.
      InvalidArgumentError: raised while reading, if an element has another structure or shape, or other dtypes.

    Example:
      >>> import graphc as gx
      >>> dataset = gx.data.from_python(["ab", "c"]).map(lambda text: gx.strings.length(text))
      >>> [int(length) for length in dataset]
      [2, 1]
    """
    return Dataset.from_source(python_source(data, element_spec))


def from_queue(queue: Any) -> Dataset:
    """Makes a dataset of a queue's elements, which ends when the queue is closed and empty.

    Args:
      queue: a queue of :mod:`graphc.queues` that eager code made.

    Example:
      >>> import graphc as gx
      >>> queue = gx.queues.FIFOQueue(10, gx.int32, ())
      >>> queue.enqueue_many([[3, 4]])
      >>> queue.close()
      >>> [int(x) for x in gx.data.from_queue(queue)]
      [3, 4]
    """
    return Dataset.from_source(QueueSource(queue))
