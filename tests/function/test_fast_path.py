"""The short way of a call, which must compute what the long one does."""

from __future__ import annotations

import pytest

import graphc as gx


@pytest.mark.parametrize("count", [1, 2, 8, 9])
def test_any_number_of_arguments(count: int) -> None:
    @gx.function(on_retrace="ignore")
    def total(*tensors: gx.Tensor) -> gx.Tensor:
        result = tensors[0]
        for tensor in tensors[1:]:
            result = result + 2 * tensor
        return result

    tensors = [gx.asarray(float(number)) for number in range(count)]
    expected = sum(2.0 * number for number in range(count))
    assert [total(*tensors).item() for _ in range(3)] == [expected] * 3
    # Other types, numbers of arguments and kinds of values take the long way.
    assert total(*[tensor.reshape(1) for tensor in tensors]).shape == (1,)
    assert total(*tensors).item() == expected
    assert total(*tensors, gx.asarray(1.0)).item() == expected + 2
    assert total(*tensors).item() == expected
    assert float(total(*[tensor.item() for tensor in tensors])) == expected


def test_tape_and_eager_mode_take_the_long_way() -> None:
    @gx.function
    def double(x: gx.Tensor) -> gx.Tensor:
        return x * 2

    x = gx.asarray(3.0)
    assert [double(x).item() for _ in range(2)] == [6.0, 6.0]
    with gx.GradientTape() as tape:
        tape.watch(x)
        y = double(x)
    assert tape.gradient(y, x).item() == 2.0
    assert double(x).item() == 6.0
