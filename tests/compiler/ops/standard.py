"""The names of the Python array API standard 2024.12, its extensions ``linalg`` and ``fft`` among them."""

from __future__ import annotations

__all__ = ["ARRAY_API"]

_TEXT = """
__array_namespace_info__ abs acos acosh add all any arange argmax argmin argsort asarray asin asinh astype atan
atan2 atanh bitwise_and bitwise_invert bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor bool
broadcast_arrays broadcast_shapes broadcast_to can_cast ceil clip complex128 complex64 concat conj copysign cos cosh
count_nonzero cumulative_prod cumulative_sum diff divide e empty empty_like equal exp expand_dims expm1 eye finfo
flip float32 float64 floor floor_divide from_dlpack full full_like greater greater_equal hypot iinfo imag inf int16
int32 int64 int8 isdtype isfinite isinf isnan less less_equal linspace log log10 log1p log2 logaddexp logical_and
logical_not logical_or logical_xor matmul matrix_transpose max maximum mean meshgrid min minimum moveaxis multiply
nan negative newaxis nextafter nonzero not_equal ones ones_like permute_dims pi positive pow prod real reciprocal
remainder repeat reshape result_type roll round searchsorted sign signbit sin sinh sort sqrt square squeeze stack
std subtract sum take take_along_axis tan tanh tensordot tile tril triu trunc uint16 uint32 uint64 uint8 unique_all
unique_counts unique_inverse unique_values unstack var vecdot where zeros zeros_like linalg.cholesky linalg.cross
linalg.det linalg.diagonal linalg.eigh linalg.eigvalsh linalg.inv linalg.matmul linalg.matrix_norm
linalg.matrix_power linalg.matrix_rank linalg.matrix_transpose linalg.outer linalg.pinv linalg.qr linalg.slogdet
linalg.solve linalg.svd linalg.svdvals linalg.tensordot linalg.trace linalg.vecdot linalg.vector_norm fft.fft
fft.fftfreq fft.fftn fft.fftshift fft.hfft fft.ifft fft.ifftn fft.ifftshift fft.ihfft fft.irfft fft.irfftn fft.rfft
fft.rfftfreq fft.rfftn
"""

ARRAY_API = tuple(_TEXT.split())
