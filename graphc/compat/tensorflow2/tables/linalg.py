"""Rows: products, decompositions and parts of matrices; Fourier transforms and windows."""

from graphc.compat.alias import alias

ROWS = (
    alias(
        "matmul linalg.matmul(a, b, transpose_a=False, transpose_b=False, adjoint_a=False, adjoint_b=False, "
        "a_is_sparse=False, b_is_sparse=False, output_type=None, grad_a=False, grad_b=False, name=None)",
        "gx.arrays.matmul(a, b, transpose_a, transpose_b, adjoint_a, adjoint_b)",
        "[[1.0, 2.0], [3.0, 4.0]], [[1.0, 1.0], [0.0, 1.0]], transpose_b=True",
    ),
    alias(
        "tensordot linalg.tensordot(a, b, axes, name=None)",
        "gx.tensordot(a, b, axes)",
        "[[1.0, 2.0], [3.0, 4.0]], [[1.0, 1.0], [0.0, 1.0]], axes=1",
    ),
    alias(
        "einsum linalg.einsum(equation, *inputs, **kwargs)",
        "gx.einsum(equation, *inputs)",
        '"ij,jk->ik", tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([[1.0, 1.0], [0.0, 1.0]])',
    ),
    alias(
        'norm linalg.norm(tensor, ord="euclidean", axis=None, keepdims=None, name=None)',
        "gx.arrays.norm(...)",
        "[[3.0, 4.0], [6.0, 8.0]], ord=1, axis=1",
    ),
    alias("eig linalg.eig(tensor, name=None)", "tuple(gx.linalg.eig(tensor))", "tf.constant([[2.0, 0.0], [0.0, 3.0]])"),
    alias(
        "eigvals linalg.eigvals(tensor, name=None)",
        "gx.linalg.eigvals(tensor)",
        "tf.constant([[2.0, 0.0], [0.0, 3.0]])",
    ),
    alias("linalg.adjoint(matrix, name=None)", "gx.arrays.adjoint(matrix)", "[[1.0 + 2.0j, 3.0], [1.0j, 4.0]]"),
    alias(
        "linalg.band_part(input, num_lower, num_upper, name=None)",
        "gx.arrays.band_part(input, num_lower, num_upper)",
        "[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]], 1, 0",
    ),
    alias("linalg.cholesky(input, name=None)", "gx.linalg.cholesky(input)", "[[4.0, 1.0], [1.0, 3.0]]"),
    alias(
        "linalg.cholesky_solve(chol, rhs, name=None)",
        "gx.arrays.cholesky_solve(chol, rhs)",
        "[[2.0, 0.0], [0.5, 1.5]], [[1.0], [2.0]]",
    ),
    alias("linalg.cross(a, b, name=None)", "gx.linalg.cross(a, b)", "[1.0, 2.0, 3.0], [0.0, 1.0, 2.0]"),
    alias("linalg.det(input, name=None)", "gx.linalg.det(input)", "[[4.0, 1.0], [1.0, 3.0]]"),
    alias(
        'linalg.diag(diagonal, name="diag", k=0, num_rows=-1, num_cols=-1, padding_value=0, align="RIGHT_LEFT")',
        "gx.arrays.diag(diagonal, k)",
        "[[1.0, 2.0], [3.0, 4.0]], k=1",
    ),
    alias(
        'linalg.diag_part(input, name="diag_part", k=0, padding_value=0, align="RIGHT_LEFT")',
        "gx.diagonal(input, k, -2, -1)",
        "[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], k=1",
    ),
    alias(
        'linalg.set_diag(input, diagonal, name="set_diag", k=0, align="RIGHT_LEFT")',
        "gx.arrays.set_diag(input, diagonal, k)",
        "[[1.0, 2.0], [3.0, 4.0]], [8.0, 9.0]",
    ),
    alias(
        "linalg.tensor_diag(diagonal, name=None)",
        "gx.reshape(gx.diag(gx.ravel(diagonal)), gx.shape(diagonal) * 2)",
        "[[1.0, 2.0]]",
    ),
    alias("linalg.tensor_diag_part(input, name=None)", "gx.arrays.tensor_diag_part(input)", "[[1.0, 2.0], [3.0, 4.0]]"),
    alias("linalg.eigh(tensor, name=None)", "tuple(gx.linalg.eigh(tensor))", "[[3.0, 0.0], [0.0, 4.0]]"),
    alias("linalg.eigvalsh(tensor, name=None)", "gx.linalg.eigvalsh(tensor)", "[[4.0, 1.0], [1.0, 3.0]]"),
    alias("linalg.global_norm(t_list, name=None)", "gx.arrays.global_norm(t_list)", "[[3.0, 4.0], [12.0]]"),
    alias(
        "linalg.inv(input, adjoint=False, name=None)",
        "gx.linalg.inv(gx.arrays.adjoint(input) if adjoint else input)",
        "[[4.0, 1.0], [2.0, 3.0]], adjoint=True",
    ),
    alias("linalg.logdet(matrix, name=None)", "gx.linalg.slogdet(matrix)[1]", "[[4.0, 1.0], [1.0, 3.0]]"),
    alias(
        "linalg.lstsq(matrix, rhs, l2_regularizer=0.0, fast=True, name=None)",
        "gx.arrays.lstsq(...)",
        "[[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]], [[1.0], [2.0], [4.0]], l2_regularizer=0.5",
    ),
    alias(
        "linalg.matrix_rank(a, tol=None, validate_args=False, name=None)",
        'gx.astype(gx.linalg.matrix_rank(a), "int32") if tol is None else '
        'gx.sum(gx.astype(gx.linalg.svdvals(a) > tol, "int32"), -1)',
        "[[1.0, 2.0], [2.0, 4.0]]",
    ),
    alias(
        'linalg.matrix_transpose(a, name="matrix_transpose", conjugate=False)',
        "gx.arrays.adjoint(a) if conjugate else gx.matrix_transpose(a)",
        "[[1.0, 2.0], [3.0, 4.0]]",
    ),
    alias(
        "linalg.matvec(a, b, transpose_a=False, adjoint_a=False, a_is_sparse=False, b_is_sparse=False, name=None)",
        "gx.squeeze(gx.arrays.matmul(a, gx.expand_dims(b, -1), transpose_a, False, adjoint_a), -1)",
        "[[1.0, 2.0], [3.0, 4.0]], [1.0, 2.0], transpose_a=True",
    ),
    alias(
        'linalg.normalize(tensor, ord="euclidean", axis=None, name=None)',
        "gx.arrays.normalize(tensor, ord, axis)",
        "[[3.0, 4.0], [6.0, 8.0]], axis=1",
    ),
    alias(
        "linalg.pinv(a, rcond=None, validate_args=False, name=None)",
        "gx.linalg.pinv(a, rcond)",
        "[[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]]",
    ),
    alias(
        "linalg.qr(input, full_matrices=False, name=None)",
        'tuple(gx.linalg.qr(input, "complete" if full_matrices else "reduced"))',
        "[[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]]",
    ),
    alias("linalg.slogdet(input, name=None)", "tuple(gx.linalg.slogdet(input))", "[[1.0, 2.0], [3.0, 4.0]]"),
    alias(
        "linalg.solve(matrix, rhs, adjoint=False, name=None)",
        "gx.linalg.solve(gx.arrays.adjoint(matrix) if adjoint else matrix, rhs)",
        "[[4.0, 1.0], [2.0, 3.0]], [[1.0], [2.0]]",
    ),
    alias(
        "linalg.svd(tensor, full_matrices=False, compute_uv=True, name=None)",
        "gx.arrays.svd(tensor, full_matrices, compute_uv)",
        "[[1.0, 2.0], [3.0, 4.0]], compute_uv=False",
    ),
    alias("linalg.trace(x, name=None)", "gx.linalg.trace(x)", "[[1.0, 2.0], [3.0, 4.0]]"),
    alias(
        "linalg.triangular_solve(matrix, rhs, lower=True, adjoint=False, name=None)",
        "gx.linalg.solve_triangular(gx.conj(matrix) if adjoint else ...)",
        "[[2.0, 0.0], [1.0, 3.0]], [[1.0], [2.0]]",
    ),
    alias("signal.fft(input, name=None)", "gx.fft.fft(input)", "[1.0 + 0.0j, 2.0, -1.0j]"),
    alias("signal.fft2d(input, name=None)", "gx.fft.fft2(input)", "[[1.0 + 0.0j, 2.0], [-1.0j, 1.0]]"),
    alias(
        "signal.fft3d(input, name=None)", "gx.fft.fftn(input, axes=(-3, -2, -1))", "[[[1.0 + 0.0j, 2.0], [-1.0j, 1.0]]]"
    ),
    alias("signal.ifft(input, name=None)", "gx.fft.ifft(input)", "[1.0 + 0.0j, 2.0, -1.0j]"),
    alias("signal.ifft2d(input, name=None)", "gx.fft.ifft2(input)", "[[1.0 + 0.0j, 2.0], [-1.0j, 1.0]]"),
    alias(
        "signal.ifft3d(input, name=None)",
        "gx.fft.ifftn(input, axes=(-3, -2, -1))",
        "[[[1.0 + 0.0j, 2.0], [-1.0j, 1.0]]]",
    ),
    alias(
        "signal.rfft(input_tensor, fft_length=None, name=None)",
        "gx.fft.rfft(input_tensor, None if fft_length is None else int(fft_length[0]))",
        "[1.0, 2.0, 4.0, -1.0]",
    ),
    alias(
        "signal.rfft2d(input_tensor, fft_length=None, name=None)",
        "gx.fft.rfft2(input_tensor, None if fft_length is None else tuple(map(int, fft_length)))",
        "[[1.0, 2.0], [4.0, -1.0]]",
    ),
    alias(
        "signal.rfft3d(input_tensor, fft_length=None, name=None)",
        "gx.fft.rfftn(input_tensor, None if fft_length is None else tuple(map(int, fft_length)), (-3, -2, -1))",
        "[[[1.0, 2.0], [4.0, -1.0]]]",
    ),
    alias(
        "signal.irfft(input_tensor, fft_length=None, name=None)",
        "gx.fft.irfft(input_tensor, None if fft_length is None else int(fft_length[0]))",
        "[6.0 + 0.0j, -3.0 - 3.0j, 4.0]",
    ),
    alias(
        "signal.irfft2d(input_tensor, fft_length=None, name=None)",
        "gx.fft.irfft2(input_tensor, None if fft_length is None else tuple(map(int, fft_length)))",
        "[[6.0 + 0.0j, 4.0], [0.0, 2.0]]",
    ),
    alias(
        "signal.irfft3d(input_tensor, fft_length=None, name=None)",
        "gx.fft.irfftn(input_tensor, None if fft_length is None else tuple(map(int, fft_length)), (-3, -2, -1))",
        "[[[6.0 + 0.0j, 4.0], [0.0, 2.0]]]",
    ),
    alias("signal.fftshift(x, axes=None, name=None)", "gx.fft.fftshift(x, axes)", "[1.0, 2.0, 3.0]"),
    alias("signal.ifftshift(x, axes=None, name=None)", "gx.fft.ifftshift(x, axes)", "[1.0, 2.0, 3.0]"),
    alias(
        "signal.hann_window(window_length, periodic=True, dtype=float32, name=None)",
        "gx.arrays.hann_window(window_length, periodic, dtype)",
        "4",
    ),
    alias(
        "signal.hamming_window(window_length, periodic=True, dtype=float32, name=None)",
        "gx.arrays.hamming_window(window_length, periodic, dtype)",
        "5, periodic=False",
    ),
    alias(
        "signal.kaiser_window(window_length, beta=12.0, dtype=float32, name=None)",
        "gx.astype(gx.kaiser(window_length, beta), dtype)",
        "4, beta=2.0",
    ),
    alias(
        "signal.frame(signal, frame_length, frame_step, pad_end=False, pad_value=0, axis=-1, name=None)",
        "gx.arrays.frame(...)",
        "[1.0, 2.0, 3.0, 4.0, 5.0], 3, 2, pad_end=True",
    ),
    alias(
        "signal.stft(signals, frame_length, frame_step, fft_length=None, window_fn=hann_window, pad_end=False, "
        "name=None)",
        "gx.arrays.stft(...)",
        "[1.0, 2.0, 3.0, 4.0, 5.0], 4, 1",
    ),
)
