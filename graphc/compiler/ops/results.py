"""Named tuples of functions with several results, named as in the array API standard."""

from __future__ import annotations

from typing import NamedTuple

from graphc.compiler.core import Tensor

__all__ = [
    "EigResult",
    "EighResult",
    "QRResult",
    "SVDResult",
    "SlogdetResult",
    "UniqueAllResult",
    "UniqueCountsResult",
    "UniqueInverseResult",
]


class EigResult(NamedTuple):
    """The eigenvalues, and the eigenvectors as columns."""

    eigenvalues: Tensor
    eigenvectors: Tensor


class EighResult(NamedTuple):
    """The eigenvalues in ascending order, and the eigenvectors as columns."""

    eigenvalues: Tensor
    eigenvectors: Tensor


class QRResult(NamedTuple):
    """An orthogonal and an upper triangular matrix."""

    Q: Tensor
    R: Tensor


class SVDResult(NamedTuple):
    """Left singular vectors as columns, singular values, right singular vectors as rows."""

    U: Tensor
    S: Tensor
    Vh: Tensor


class SlogdetResult(NamedTuple):
    """The sign of a determinant and the logarithm of its magnitude."""

    sign: Tensor
    logabsdet: Tensor


class UniqueAllResult(NamedTuple):
    """The distinct values, their first indices, the index of each element among them, and their counts."""

    values: Tensor
    indices: Tensor
    inverse_indices: Tensor
    counts: Tensor


class UniqueCountsResult(NamedTuple):
    """The distinct values and their counts."""

    values: Tensor
    counts: Tensor


class UniqueInverseResult(NamedTuple):
    """The distinct values, and the index of each element among them."""

    values: Tensor
    inverse_indices: Tensor
