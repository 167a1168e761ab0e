"""Summaries as TensorBoard messages; TensorBoard is imported when the first summary is made."""

from __future__ import annotations

import io
from collections.abc import Sequence
from importlib import import_module
from typing import Any, Final

import numpy as np

from graphc.compiler.base import at, user_location
from graphc.compiler.base.errors import InvalidArgumentError, NotFoundError

__all__ = ["histogram_message", "image_message", "merged", "message", "scalar_message", "tensorboard", "text_message"]

_PLACES: Final = {
    "AttrValue": "attr_value_pb2",
    "Event": "event_pb2",
    "GraphDef": "graph_pb2",
    "HistogramProto": "histogram_pb2",
    "LogMessage": "event_pb2",
    "NodeDef": "node_def_pb2",
    "SessionLog": "event_pb2",
    "Summary": "summary_pb2",
    "SummaryMetadata": "summary_pb2",
    "TensorProto": "tensor_pb2",
    "TensorShapeProto": "tensor_shape_pb2",
    "TaggedRunMetadata": "event_pb2",
}


def tensorboard(module: str) -> Any:
    """Returns a module of TensorBoard.

    Raises:
      NotFoundError: TensorBoard is not installed.
    """
    try:
        return import_module(f"tensorboard.{module}")
    except ImportError as error:
        found = NotFoundError(
            f"summaries need TensorBoard, which is not installed ({error}): pip install 'graphc[viz]'"
        )
        raise at(found, user_location()) from error


def message(name: str) -> Any:
    """Returns a message class of TensorBoard, such as ``Summary``.

    Raises:
      NotFoundError: TensorBoard is not installed.
    """
    return getattr(tensorboard(f"compat.proto.{_PLACES[name]}"), name)


def scalar_message(value: np.ndarray[Any, Any], *, tag: str) -> bytes:
    """Returns the summary of a number."""
    if value.size != 1:
        error = InvalidArgumentError(f"summary.scalar {tag!r}: expected one number, got the shape {value.shape}")
        raise at(error, user_location())
    summary = message("Summary")
    return summary(value=[summary.Value(tag=tag, simple_value=float(value.reshape(())))]).SerializeToString()


def _edges() -> np.ndarray[Any, Any]:
    """Returns the upper limits of TensorFlow's buckets: from 1e-12 on, each is a tenth larger than the last."""
    positive = [1e-12]
    while positive[-1] < 1e20:
        positive.append(positive[-1] * 1.1)
    largest = float(np.finfo(np.float64).max)
    return np.array([-largest, *[-edge for edge in reversed(positive)], 0.0, *positive, largest])


def histogram_message(values: np.ndarray[Any, Any], *, tag: str) -> bytes:
    """Returns the summary of a distribution; of adjacent empty buckets, only the last is kept."""
    flat = values.astype(np.float64).ravel()
    if not np.isfinite(flat).all():
        error = InvalidArgumentError(f"summary.histogram {tag!r}: a value is NaN or infinite")
        raise at(error, user_location())
    edges = _edges()
    counts = np.bincount(np.searchsorted(edges, flat, side="right"), minlength=len(edges))[: len(edges)]
    used = np.flatnonzero(counts)
    kept = np.unique(np.concatenate([np.maximum(used - 1, 0), used, [len(edges) - 1]]))
    histogram = message("HistogramProto")(
        min=flat.min() if flat.size else 0.0,
        max=flat.max() if flat.size else 0.0,
        num=flat.size,
        sum=flat.sum(),
        sum_squares=(flat * flat).sum(),
        bucket_limit=edges[kept].tolist(),
        bucket=counts[kept].astype(float).tolist(),
    )
    summary = message("Summary")
    return summary(value=[summary.Value(tag=tag, histo=histogram)]).SerializeToString()


def image_message(images: np.ndarray[Any, Any], *, tag: str, max_outputs: int) -> bytes:
    """Returns the summary of images, each as a PNG.

    Args:
      images: ``[count, height, width, channels]``, with 1, 3 or 4 channels; floats are scaled to the range of a byte,
        with 0 at 0 if no value is negative, and in the middle otherwise.
      tag: the tag of the images.
      max_outputs: the maximum number of images to keep.
    """
    if images.ndim != 4 or images.shape[3] not in (1, 3, 4):
        error = InvalidArgumentError(
            f"summary.image {tag!r}: expected the shape [count, height, width, channels] with 1, 3 or 4 channels, got "
            f"{list(images.shape)}"
        )
        raise at(error, user_location())
    summary = message("Summary")
    shown = images[:max_outputs]
    values = [
        summary.Value(
            tag=f"{tag}/image" if max_outputs == 1 else f"{tag}/image/{place}",
            image=summary.Image(
                height=image.shape[0], width=image.shape[1], colorspace=image.shape[2], encoded_image_string=_png(image)
            ),
        )
        for place, image in enumerate(shown)
    ]
    return summary(value=values).SerializeToString()


def _png(image: np.ndarray[Any, Any]) -> bytes:
    pillow = import_module("PIL.Image")
    if image.dtype != np.uint8:
        low, high = float(image.min(initial=0.0)), float(image.max(initial=0.0))
        scale = 127 / max(abs(low), abs(high)) if low < 0 else 255 / high if high else 0.0
        image = np.clip(image * scale + (128 if low < 0 else 0), 0, 255).astype(np.uint8)
    stream = io.BytesIO()
    pillow.fromarray(image[:, :, 0] if image.shape[2] == 1 else image).save(stream, format="PNG")
    return stream.getvalue()


def text_message(text: np.ndarray[Any, Any], *, tag: str) -> bytes:
    """Returns the summary of strings, which TensorBoard shows as Markdown."""
    sizes = [message("TensorShapeProto").Dim(size=size) for size in text.shape]
    tensor = message("TensorProto")(
        dtype=7, string_val=list(text.ravel()), tensor_shape=message("TensorShapeProto")(dim=sizes)
    )
    metadata = message("SummaryMetadata")
    plugin = metadata(plugin_data=metadata.PluginData(plugin_name="text"))
    summary = message("Summary")
    return summary(value=[summary.Value(tag=tag, tensor=tensor, metadata=plugin)]).SerializeToString()


def merged(*summaries: np.ndarray[Any, Any]) -> bytes:
    """Merges several summaries into one.

    Raises:
      InvalidArgumentError: two of them have the same tag, of which TensorBoard would show only one.
    """
    found = message("Summary")()
    for one in summaries:
        for serialized in np.ravel(one):
            found.MergeFromString(serialized)
    tags: Sequence[str] = [value.tag for value in found.value]
    twice = sorted({tag for tag in tags if tags.count(tag) > 1})
    if twice:
        error = InvalidArgumentError(
            f"summary.merge: {', '.join(map(repr, twice))} is there twice; give it another name"
        )
        raise at(error, user_location())
    return found.SerializeToString()
