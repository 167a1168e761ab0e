"""``try`` over tensors, ``with``, and checks for NaN."""

__all__: list[str] = []
