"""Examples of what neural networks are made of."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.compiler.ops.examples import CUBE, MATRIX, POSITIVE, SIGNED, Example, example, f32, i32

__all__ = ["NN_EXAMPLES"]


def waves(*shape: int) -> Any:
    return np.sin(np.arange(np.prod(shape), dtype=np.float32)).reshape(shape)


def _each(value: Any, count: int) -> Any:
    return (value,) * count if isinstance(value, int) else value


def _padded(x: Any, sizes: Any, strides: Any, padding: Any, fill: float) -> Any:
    if padding == "VALID":
        return x
    if padding == "SAME":
        counts = [-(-length // stride) for length, stride in zip(x.shape[1:-1], strides, strict=True)]
        totals = [
            max((count - 1) * stride + size - length, 0)
            for count, stride, size, length in zip(counts, strides, sizes, x.shape[1:-1], strict=True)
        ]
        padding = [(total // 2, total - total // 2) for total in totals]
    return np.pad(x, [(0, 0), *padding, (0, 0)], constant_values=fill)


def _windows(x: Any, sizes: Any, strides: Any, padding: Any, dilations: Any, fill: float = 0.0) -> Any:
    """The windows of an image with channels last: a dict from the position of each in the result to its elements."""
    reach = [(size - 1) * dilation + 1 for size, dilation in zip(sizes, dilations, strict=True)]
    x = _padded(x, reach, strides, padding, fill)
    shape = [(length - r) // s + 1 for length, r, s in zip(x.shape[1:-1], reach, strides, strict=True)]
    return shape, {
        place: x[
            (
                slice(None),
                *[slice(p * s, p * s + r, d) for p, s, r, d in zip(place, strides, reach, dilations, strict=True)],
            )
        ]
        for place in np.ndindex(*shape)
    }


def conv(x: Any, filters: Any, strides: Any = 1, padding: Any = "SAME", dilations: Any = 1, groups: int = 1) -> Any:
    space = filters.ndim - 2
    shape, windows = _windows(x, filters.shape[:space], _each(strides, space), padding, _each(dilations, space))
    result = np.zeros((len(x), *shape, filters.shape[-1]), np.float32)
    inputs, outputs = x.shape[-1] // groups, filters.shape[-1] // groups
    for place, window in windows.items():
        for group in range(groups):
            part = window[..., group * inputs : (group + 1) * inputs]
            out = slice(group * outputs, (group + 1) * outputs)
            axes = list(range(space + 1))
            result[(slice(None), *place, out)] = np.tensordot(part, filters[..., out], ([a + 1 for a in axes], axes))
    return result


def conv_transpose(x: Any, filters: Any, strides: int, padding: str) -> Any:
    assert padding == "VALID"
    space = filters.ndim - 2
    sizes = [(length - 1) * strides + 1 for length in x.shape[1:-1]]
    spread = np.zeros((len(x), *sizes, x.shape[-1]), np.float32)
    spread[(slice(None), *[slice(None, None, strides)] * space)] = x
    return conv(spread, filters, padding=[(size - 1, size - 1) for size in filters.shape[:space]])


def depthwise(x: Any, filters: Any) -> Any:
    return conv(x, filters.reshape(*filters.shape[:2], 1, -1), groups=x.shape[-1])


def pool(how: Any, fill: float) -> Any:
    def expected(x: Any, window: Any, strides: Any = None, padding: Any = "VALID") -> Any:
        space = x.ndim - 2
        sizes = _each(window, space)
        steps = sizes if strides is None else _each(strides, space)
        shape, windows = _windows(x, sizes, steps, padding, (1,) * space, fill)
        parts = [how(part, axis=tuple(range(1, space + 1))) for part in windows.values()]
        return np.stack(parts, 1).reshape(len(x), *shape, x.shape[-1])

    return expected


def normal(x: Any, axis: Any = -1, epsilon: float = 1e-5) -> Any:
    return (x - x.mean(axis, keepdims=True)) / np.sqrt(x.var(axis, keepdims=True) + epsilon)


def layer_norm(x: Any, scale: Any = 1, offset: Any = 0) -> Any:
    return normal(x) * scale + offset


def group_norm(x: Any, groups: int) -> Any:
    parts = x.reshape(*x.shape[:-1], groups, -1)
    return normal(parts, tuple(a for a in range(1, parts.ndim) if a != parts.ndim - 2)).reshape(x.shape)


LINE = waves(2, 7, 4)
IMAGE = waves(2, 5, 6, 4)
SOLID = waves(1, 3, 3, 2, 1)

NN_EXAMPLES: dict[str, list[Example]] = {
    "nn.hard_silu": [example(SIGNED, expected=lambda x: x * np.clip(x + 3, 0, 6) / 6)],
    "nn.squareplus": [example(SIGNED, expected=lambda x: (x + np.sqrt(x * x + 4)) / 2)],
    "nn.sparse_plus": [example(SIGNED, expected=lambda x: np.where(x <= -1, 0, np.where(x >= 1, x, (x + 1) ** 2 / 4)))],
    "nn.sparse_sigmoid": [example(SIGNED, expected=lambda x: np.clip((x + 1) / 2, 0, 1))],
    "nn.log1mexp": [example(POSITIVE, expected=lambda x: np.log(-np.expm1(-x)))],
    "nn.identity": [example(SIGNED, expected=lambda x: x)],
    "nn.logmeanexp": [example(CUBE, axis=1, expected=lambda x, axis: np.log(np.exp(x).mean(axis)))],
    "nn.embedding_lookup": [example(MATRIX, i32(2, 0, 2), expected=lambda table, ids: table[ids])],
    "nn.conv1d": [
        example(LINE, waves(3, 4, 5), expected=conv),
        example(LINE, waves(2, 2, 6), 2, "VALID", 2, 2, expected=conv),
    ],
    "nn.conv2d": [
        example(IMAGE, waves(3, 2, 4, 3), (2, 1), expected=conv),
        example(IMAGE, waves(2, 2, 4, 3), 1, ((1, 0), (0, 2)), expected=conv),
        example(
            IMAGE.transpose(0, 3, 1, 2),
            waves(2, 2, 4, 3),
            data_format="NCHW",
            expected=lambda x, f, data_format: conv(x.transpose(0, 2, 3, 1), f).transpose(0, 3, 1, 2),
        ),
    ],
    "nn.conv3d": [example(SOLID, waves(2, 2, 2, 1, 2), expected=conv)],
    "nn.conv1d_transpose": [example(LINE, waves(3, 4, 2), 2, "VALID", expected=conv_transpose)],
    "nn.conv2d_transpose": [example(IMAGE, waves(3, 2, 4, 2), 2, "VALID", expected=conv_transpose)],
    "nn.conv3d_transpose": [example(SOLID, waves(2, 2, 2, 1, 2), 2, "VALID", expected=conv_transpose)],
    "nn.depthwise_conv2d": [example(IMAGE, waves(2, 3, 4, 2), expected=depthwise)],
    "nn.layer_norm": [
        example(MATRIX, expected=layer_norm),
        example(MATRIX, f32(1, 2, 3, 4), f32(0, 1, 0, 1), expected=layer_norm),
    ],
    "nn.rms_norm": [example(MATRIX, expected=lambda x: x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6))],
    "nn.group_norm": [example(IMAGE, 2, expected=group_norm)],
    "nn.batch_norm": [
        example(
            MATRIX,
            f32(0, 1, 2, 3),
            f32(1, 2, 3, 4),
            offset=f32(1, 1, 0, 0),
            expected=lambda x, mean, variance, offset: (x - mean) / np.sqrt(variance + 1e-3) + offset,
        )
    ],
    "nn.moments": [example(MATRIX, axis=0, expected=lambda x, axis: (x.mean(axis), x.var(axis)))],
    "nn.max_pool": [
        example(IMAGE, 2, expected=pool(np.max, -np.inf)),
        example(LINE, 3, 2, "SAME", expected=pool(np.max, -np.inf)),
    ],
    "nn.avg_pool": [
        example(IMAGE, (2, 3), expected=pool(np.mean, 0)),
        example(LINE, 3, 2, "SAME", expected=pool(np.nanmean, np.nan)),
    ],
}
