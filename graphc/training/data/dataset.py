"""The Dataset class: input pipelines."""

from __future__ import annotations

from graphc.training.data.combining import Combining
from graphc.training.data.creation import Creation
from graphc.training.data.external import Outside
from graphc.training.data.inspecting import Looking
from graphc.training.data.looping import Looping
from graphc.training.data.selecting import Choosing
from graphc.training.data.stateful import Remembering
from graphc.training.data.transforming import Transforming

__all__ = ["Dataset"]


class Dataset(Creation, Outside, Transforming, Choosing, Combining, Remembering, Looking, Looping):
    """An input pipeline: a source of elements and transformations of them (TensorFlow's ``tf.data.Dataset``).

    A dataset is immutable and holds no position: each ``for`` loop over it starts from the beginning. Elements are
    nested tuples, dicts, named tuples and dataclasses of tensors.

    Example:
      >>> import graphc as gx
      >>> images, labels = gx.zeros((10, 4)), gx.arange(10)
      >>> dataset = gx.data.Dataset.from_tensor_slices((images, labels)).shuffle(10).batch(5)
      >>> for image, label in dataset:
      ...     print(image.shape, label.shape)
      (5, 4) (5,)
      (5, 4) (5,)
    """
