"""Rows: arrays, matrices and spectra."""

from graphc.compat.alias import rows

ROWS = rows(r"""
# Tensors made, described, joined, cut and rearranged.
cast dtypes.cast(x, dtype, name=None) => gx.astype(x, dtype) e.g. [1.7, -1.7], tf.int32
saturate_cast dtypes.saturate_cast(value, dtype, name=None)
    => gx.arrays.saturate_cast(value, dtype) e.g. [-3.7, 300.0], tf.uint8
constant(value, dtype=None, shape=None, name="Const")
    => gx.arrays.constant(value, dtype, shape) e.g. [1.0, 2.0, 3.0, 4.0], shape=[2, 2]
convert_to_tensor(value, dtype=None, dtype_hint=None, name=None)
    => gx.arrays.constant(value, dtype_hint if dtype is None else dtype, None) e.g. [1.0, 2.0], dtype=tf.float32
ones(shape, dtype=float32, name=None, layout=None) => gx.ones(shape, dtype=dtype) e.g. [2, 3]
zeros(shape, dtype=float32, name=None, layout=None) => gx.zeros(shape, dtype=dtype) e.g. [2, 3], dtype=tf.int32
ones_like(input, dtype=None, name=None, layout=None) => gx.ones_like(input, dtype=dtype) e.g. [1.0, 2.0]
zeros_like(input, dtype=None, name=None, layout=None)
    => gx.zeros_like(input, dtype=dtype) e.g. [1.0, 2.0], dtype=tf.int32
fill(dims, value, name=None, layout=None) => gx.full(dims, value) e.g. [2, 3], 7.0
eye linalg.eye(num_rows, num_columns=None, batch_shape=None, dtype=float32, name=None)
    => gx.arrays.eye(...) e.g. 2, batch_shape=[2]
range(start, limit=None, delta=1, dtype=None, name="range") => gx.arrays.range(...) e.g. 3, 18, delta=3
linspace(start, stop, num, name=None, axis=0) => gx.linspace(start, stop, num, axis=axis) e.g. 1.0, 2.0, 5
one_hot(indices, depth, on_value=None, off_value=None, axis=None, dtype=None, name=None)
    => gx.arrays.one_hot(...) e.g. [0, 2, 5], 3, on_value=5.0, off_value=-1.0
sequence_mask(lengths, maxlen=None, dtype=bool, name=None)
    => gx.arrays.sequence_mask(lengths, maxlen, dtype) e.g. [1, 3, 2], 4
meshgrid(*args, **kwargs)
    => list(gx.meshgrid(*args, **{key: value for key, value in kwargs.items() if key != "name"}))
    e.g. [1.0, 2.0], [3.0, 4.0], indexing="ij"
shape(input, out_type=None, name=None) => gx.arrays.shape(input, out_type) e.g. [[1.0, 2.0, 3.0]]
shape_n(input, out_type=int32, name=None)
    => [gx.arrays.shape(one, out_type) for one in input] e.g. [[1.0, 2.0], [3.0, 4.0]]
size(input, out_type=None, name=None) => gx.arrays.as_tensor(gx.size(input), out_type) e.g. [[1.0, 2.0, 3.0]]
rank(input, name=None) => gx.arrays.as_tensor(gx.ndim(input), None) e.g. [[1.0, 2.0, 3.0]]
broadcast_to(input, shape, name=None) => gx.broadcast_to(input, shape) e.g. [1.0, 2.0], [2, 2]
broadcast_static_shape(shape_x, shape_y)
    => gx.broadcast_shapes(shape_x, shape_y) e.g. tf.ones([2, 1]).shape, tf.ones([1, 3]).shape
broadcast_dynamic_shape(shape_x, shape_y)
    => gx.arrays.as_tensor(gx.broadcast_shapes(shape_x, shape_y), None) e.g. (2, 1), (1, 3)
ensure_shape(x, shape, name=None) => gx.arrays.ensure_shape(x, shape) e.g. [[1.0, 2.0]], [None, 2]
identity(input, name=None) => gx.identity(input) e.g. [1.0, 2.0]
identity_n(input, name=None) => [gx.identity(one) for one in input] e.g. [[1.0, 2.0], [3.0, 4.0]]
stop_gradient(input, name=None) => gx.stop_gradient(input) e.g. [1.0, 2.0]
concat(values, axis, name="concat") => gx.concat(values, axis) e.g. [[[1.0, 2.0]], [[3.0, 4.0]]], 0
stack(values, axis=0, name="stack") => gx.stack(values, axis) e.g. [[1.0, 2.0], [3.0, 4.0]], axis=1
parallel_stack(values, name="parallel_stack") => gx.stack(values) e.g. [[1.0, 2.0], [3.0, 4.0]]
unstack(value, num=None, axis=0, name="unstack") => list(gx.unstack(value, axis)) e.g. [[1.0, 2.0], [3.0, 4.0]], axis=1
split(value, num_or_size_splits, axis=0, num=None, name="split")
    => gx.arrays.split(value, num_or_size_splits, axis) e.g. [[1.0, 2.0, 3.0]], [1, 2], axis=1
reshape(tensor, shape, name=None) => gx.reshape(tensor, shape) e.g. [[1.0, 2.0], [3.0, 4.0]], [-1]
transpose(a, perm=None, conjugate=False, name="transpose")
    => gx.permute_dims(gx.conj(a) if conjugate else a, perm) e.g. [[[1.0, 2.0], [3.0, 4.0]]], perm=[1, 0, 2]
expand_dims(input, axis, name=None) => gx.expand_dims(input, axis) e.g. [1.0, 2.0], axis=0
squeeze(input, axis=None, name=None) => gx.squeeze(input, axis) e.g. [[[1.0], [2.0]]], axis=[0]
tile(input, multiples, name=None) => gx.tile(input, multiples) e.g. [[1.0, 2.0]], [2, 2]
repeat(input, repeats, axis=None, name=None)
    => gx.repeat(input, repeats, axis) e.g. [[1.0, 2.0], [3.0, 4.0]], [1, 2], axis=0
pad(tensor, paddings, mode="CONSTANT", constant_values=0, name=None)
    => gx.pad(tensor, paddings, mode.lower(), constant_values)
    e.g. [[1.0, 2.0, 3.0]], [[0, 1], [2, 0]], constant_values=9.0
reverse(tensor, axis, name=None) => gx.flip(tensor, axis) e.g. [[1.0, 2.0], [3.0, 4.0]], [1]
reverse_sequence(input, seq_lengths, seq_axis=None, batch_axis=None, name=None)
    => gx.arrays.reverse_sequence(...) e.g. [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [2, 3], seq_axis=1, batch_axis=0
roll(input, shift, axis, name=None) => gx.roll(input, shift, axis) e.g. [1.0, 2.0, 3.0], shift=1, axis=0
sort(values, axis=-1, direction="ASCENDING", name=None)
    => gx.sort(values, axis, descending=direction == "DESCENDING") e.g. [2.0, 3.0, 1.0], direction="DESCENDING"
argsort(values, axis=-1, direction="ASCENDING", stable=False, name=None)
    => gx.astype(gx.argsort(values, axis, descending=direction == "DESCENDING"), "int32") e.g. [2.0, 3.0, 1.0]
searchsorted(sorted_sequence, values, side="left", out_type=int32, name=None)
    => gx.arrays.searchsorted(...) e.g. [[1.0, 3.0, 5.0], [2.0, 4.0, 6.0]], [[3.0, 6.0], [1.0, 4.0]], side="right"
unique(x, out_idx=int32, name=None) => gx.arrays.unique(x, out_idx) e.g. [3.0, 1.0, 3.0, 2.0]
unique_with_counts(x, out_idx=int32, name=None) => gx.arrays.unique_with_counts(x, out_idx) e.g. [3.0, 1.0, 3.0, 2.0]
where(condition, x=None, y=None, name=None)
    => gx.astype(gx.argwhere(condition), "int64") if x is None else gx.where(condition, x, y)
    e.g. [True, False], [1.0, 2.0], [3.0, 4.0]
boolean_mask(tensor, mask, axis=None, name="boolean_mask")
    => gx.arrays.boolean_mask(tensor, mask, axis) e.g. [[1.0, 2.0], [3.0, 4.0]], [True, False]
gather(params, indices, validate_indices=None, axis=None, batch_dims=0, name=None)
    => gx.arrays.gather(params, indices, axis, batch_dims)
    e.g. [[1.0, 2.0], [3.0, 4.0]], [[1], [0]], axis=1, batch_dims=1
gather_nd(params, indices, batch_dims=0, name=None, bad_indices_policy="")
    => gx.arrays.gather_nd(params, indices, batch_dims) e.g. [[1.0, 2.0], [3.0, 4.0]], [[1, 0], [0, 1]]
scatter_nd(indices, updates, shape, bad_indices_policy="", name=None)
    => gx.arrays.scatter_nd(indices, updates, shape) e.g. [[1], [3], [1]], [5.0, 6.0, 7.0], [4]
tensor_scatter_nd_update(tensor, indices, updates, name=None)
    => gx.arrays.tensor_scatter_nd("set", tensor, indices, updates) e.g. [1.0, 2.0, 3.0], [[0], [2]], [5.0, 6.0]
tensor_scatter_nd_add(tensor, indices, updates, bad_indices_policy="", name=None)
    => gx.arrays.tensor_scatter_nd("add", tensor, indices, updates) e.g. [1.0, 2.0, 3.0], [[0], [2]], [5.0, 6.0]
tensor_scatter_nd_sub(tensor, indices, updates, bad_indices_policy="", name=None)
    => gx.arrays.tensor_scatter_nd("add", tensor, indices, gx.negative(updates))
    e.g. [1.0, 2.0, 3.0], [[0], [2]], [5.0, 6.0]
tensor_scatter_nd_max(tensor, indices, updates, bad_indices_policy="", name=None)
    => gx.arrays.tensor_scatter_nd("max", tensor, indices, updates) e.g. [1.0, 9.0, 3.0], [[1], [2]], [5.0, 6.0]
tensor_scatter_nd_min(tensor, indices, updates, bad_indices_policy="", name=None)
    => gx.arrays.tensor_scatter_nd("min", tensor, indices, updates) e.g. [1.0, 9.0, 3.0], [[1], [2]], [5.0, 6.0]
slice(input_, begin, size, name=None)
    => gx.arrays.slice(input_, begin, size) e.g. [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [0, 1], [2, -1]
dynamic_partition(data, partitions, num_partitions, name=None)
    => gx.arrays.dynamic_partition(data, partitions, num_partitions) e.g. [1.0, 2.0, 3.0], [1, 0, 1], 2
unravel_index(indices, dims, name=None) => gx.stack(gx.unravel_index(indices, dims)) e.g. [2, 5], [2, 3]
math.invert_permutation(x, name=None) => gx.astype(gx.argsort(x), "int32") e.g. [2, 0, 1]
is_tensor(x)
    => isinstance(x, (gx.Tensor, gx.Variable, gx.StringTensor, gx.SparseTensor, gx.RaggedTensor, gx.IndexedSlices))
    e.g. [1.0, 2.0]
tuple(tensors, control_inputs=None, name=None)
    => gx.tuple(tensors, control_inputs) e.g. [tf.constant([1.0, 2.0]), tf.constant(3.0)]
# Products, decompositions and parts of matrices; Fourier transforms and windows.
matmul linalg.matmul(a, b, transpose_a=False, transpose_b=False, adjoint_a=False, adjoint_b=False, a_is_sparse=False,
        b_is_sparse=False, output_type=None, grad_a=False, grad_b=False, name=None)
    => gx.arrays.matmul(a, b, transpose_a, transpose_b, adjoint_a, adjoint_b)
    e.g. [[1.0, 2.0], [3.0, 4.0]], [[1.0, 1.0], [0.0, 1.0]], transpose_b=True
tensordot linalg.tensordot(a, b, axes, name=None)
    => gx.tensordot(a, b, axes) e.g. [[1.0, 2.0], [3.0, 4.0]], [[1.0, 1.0], [0.0, 1.0]], axes=1
einsum linalg.einsum(equation, *inputs, **kwargs)
    => gx.einsum(equation, *inputs)
    e.g. "ij,jk->ik", tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([[1.0, 1.0], [0.0, 1.0]])
norm linalg.norm(tensor, ord="euclidean", axis=None, keepdims=None, name=None)
    => gx.arrays.norm(...) e.g. [[3.0, 4.0], [6.0, 8.0]], ord=1, axis=1
eig linalg.eig(tensor, name=None) => tuple(gx.linalg.eig(tensor)) e.g. tf.constant([[2.0, 0.0], [0.0, 3.0]])
eigvals linalg.eigvals(tensor, name=None) => gx.linalg.eigvals(tensor) e.g. tf.constant([[2.0, 0.0], [0.0, 3.0]])
linalg.adjoint(matrix, name=None) => gx.arrays.adjoint(matrix) e.g. [[1.0 + 2.0j, 3.0], [1.0j, 4.0]]
linalg.band_part(input, num_lower, num_upper, name=None)
    => gx.arrays.band_part(input, num_lower, num_upper) e.g. [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]], 1, 0
linalg.cholesky(input, name=None) => gx.linalg.cholesky(input) e.g. [[4.0, 1.0], [1.0, 3.0]]
linalg.cholesky_solve(chol, rhs, name=None)
    => gx.arrays.cholesky_solve(chol, rhs) e.g. [[2.0, 0.0], [0.5, 1.5]], [[1.0], [2.0]]
linalg.cross(a, b, name=None) => gx.linalg.cross(a, b) e.g. [1.0, 2.0, 3.0], [0.0, 1.0, 2.0]
linalg.det(input, name=None) => gx.linalg.det(input) e.g. [[4.0, 1.0], [1.0, 3.0]]
linalg.diag(diagonal, name="diag", k=0, num_rows=-1, num_cols=-1, padding_value=0, align="RIGHT_LEFT")
    => gx.arrays.diag(diagonal, k) e.g. [[1.0, 2.0], [3.0, 4.0]], k=1
linalg.diag_part(input, name="diag_part", k=0, padding_value=0, align="RIGHT_LEFT")
    => gx.diagonal(input, k, -2, -1) e.g. [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], k=1
linalg.set_diag(input, diagonal, name="set_diag", k=0, align="RIGHT_LEFT")
    => gx.arrays.set_diag(input, diagonal, k) e.g. [[1.0, 2.0], [3.0, 4.0]], [8.0, 9.0]
linalg.tensor_diag(diagonal, name=None)
    => gx.reshape(gx.diag(gx.ravel(diagonal)), gx.shape(diagonal) * 2) e.g. [[1.0, 2.0]]
linalg.tensor_diag_part(input, name=None) => gx.arrays.tensor_diag_part(input) e.g. [[1.0, 2.0], [3.0, 4.0]]
linalg.eigh(tensor, name=None) => tuple(gx.linalg.eigh(tensor)) e.g. [[3.0, 0.0], [0.0, 4.0]]
linalg.eigvalsh(tensor, name=None) => gx.linalg.eigvalsh(tensor) e.g. [[4.0, 1.0], [1.0, 3.0]]
linalg.global_norm(t_list, name=None) => gx.arrays.global_norm(t_list) e.g. [[3.0, 4.0], [12.0]]
linalg.inv(input, adjoint=False, name=None)
    => gx.linalg.inv(gx.arrays.adjoint(input) if adjoint else input) e.g. [[4.0, 1.0], [2.0, 3.0]], adjoint=True
linalg.logdet(matrix, name=None) => gx.linalg.slogdet(matrix)[1] e.g. [[4.0, 1.0], [1.0, 3.0]]
linalg.lstsq(matrix, rhs, l2_regularizer=0.0, fast=True, name=None)
    => gx.arrays.lstsq(...) e.g. [[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]], [[1.0], [2.0], [4.0]], l2_regularizer=0.5
linalg.matrix_rank(a, tol=None, validate_args=False, name=None)
    => gx.astype(gx.linalg.matrix_rank(a), "int32") if tol is None else gx.sum(gx.astype(gx.linalg.svdvals(a) > tol,
        "int32"), -1) e.g. [[1.0, 2.0], [2.0, 4.0]]
linalg.matrix_transpose(a, name="matrix_transpose", conjugate=False)
    => gx.arrays.adjoint(a) if conjugate else gx.matrix_transpose(a) e.g. [[1.0, 2.0], [3.0, 4.0]]
linalg.matvec(a, b, transpose_a=False, adjoint_a=False, a_is_sparse=False, b_is_sparse=False, name=None)
    => gx.squeeze(gx.arrays.matmul(a, gx.expand_dims(b, -1), transpose_a, False, adjoint_a), -1)
    e.g. [[1.0, 2.0], [3.0, 4.0]], [1.0, 2.0], transpose_a=True
linalg.normalize(tensor, ord="euclidean", axis=None, name=None)
    => gx.arrays.normalize(tensor, ord, axis) e.g. [[3.0, 4.0], [6.0, 8.0]], axis=1
linalg.pinv(a, rcond=None, validate_args=False, name=None)
    => gx.linalg.pinv(a, rcond) e.g. [[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]]
linalg.qr(input, full_matrices=False, name=None)
    => tuple(gx.linalg.qr(input, "complete" if full_matrices else "reduced")) e.g. [[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]]
linalg.slogdet(input, name=None) => tuple(gx.linalg.slogdet(input)) e.g. [[1.0, 2.0], [3.0, 4.0]]
linalg.solve(matrix, rhs, adjoint=False, name=None)
    => gx.linalg.solve(gx.arrays.adjoint(matrix) if adjoint else matrix, rhs)
    e.g. [[4.0, 1.0], [2.0, 3.0]], [[1.0], [2.0]]
linalg.svd(tensor, full_matrices=False, compute_uv=True, name=None)
    => gx.arrays.svd(tensor, full_matrices, compute_uv) e.g. [[1.0, 2.0], [3.0, 4.0]], compute_uv=False
linalg.trace(x, name=None) => gx.linalg.trace(x) e.g. [[1.0, 2.0], [3.0, 4.0]]
linalg.triangular_solve(matrix, rhs, lower=True, adjoint=False, name=None)
    => gx.linalg.solve_triangular(gx.conj(matrix) if adjoint else ...) e.g. [[2.0, 0.0], [1.0, 3.0]], [[1.0], [2.0]]
signal.fft(input, name=None) => gx.fft.fft(input) e.g. [1.0 + 0.0j, 2.0, -1.0j]
signal.fft2d(input, name=None) => gx.fft.fft2(input) e.g. [[1.0 + 0.0j, 2.0], [-1.0j, 1.0]]
signal.fft3d(input, name=None) => gx.fft.fftn(input, axes=(-3, -2, -1)) e.g. [[[1.0 + 0.0j, 2.0], [-1.0j, 1.0]]]
signal.ifft(input, name=None) => gx.fft.ifft(input) e.g. [1.0 + 0.0j, 2.0, -1.0j]
signal.ifft2d(input, name=None) => gx.fft.ifft2(input) e.g. [[1.0 + 0.0j, 2.0], [-1.0j, 1.0]]
signal.ifft3d(input, name=None) => gx.fft.ifftn(input, axes=(-3, -2, -1)) e.g. [[[1.0 + 0.0j, 2.0], [-1.0j, 1.0]]]
signal.rfft(input_tensor, fft_length=None, name=None)
    => gx.fft.rfft(input_tensor, None if fft_length is None else int(fft_length[0])) e.g. [1.0, 2.0, 4.0, -1.0]
signal.rfft2d(input_tensor, fft_length=None, name=None)
    => gx.fft.rfft2(input_tensor, None if fft_length is None else tuple(map(int, fft_length)))
    e.g. [[1.0, 2.0], [4.0, -1.0]]
signal.rfft3d(input_tensor, fft_length=None, name=None)
    => gx.fft.rfftn(input_tensor, None if fft_length is None else tuple(map(int, fft_length)), (-3, -2, -1))
    e.g. [[[1.0, 2.0], [4.0, -1.0]]]
signal.irfft(input_tensor, fft_length=None, name=None)
    => gx.fft.irfft(input_tensor, None if fft_length is None else int(fft_length[0]))
    e.g. [6.0 + 0.0j, -3.0 - 3.0j, 4.0]
signal.irfft2d(input_tensor, fft_length=None, name=None)
    => gx.fft.irfft2(input_tensor, None if fft_length is None else tuple(map(int, fft_length)))
    e.g. [[6.0 + 0.0j, 4.0], [0.0, 2.0]]
signal.irfft3d(input_tensor, fft_length=None, name=None)
    => gx.fft.irfftn(input_tensor, None if fft_length is None else tuple(map(int, fft_length)), (-3, -2, -1))
    e.g. [[[6.0 + 0.0j, 4.0], [0.0, 2.0]]]
signal.fftshift(x, axes=None, name=None) => gx.fft.fftshift(x, axes) e.g. [1.0, 2.0, 3.0]
signal.ifftshift(x, axes=None, name=None) => gx.fft.ifftshift(x, axes) e.g. [1.0, 2.0, 3.0]
signal.hann_window(window_length, periodic=True, dtype=float32, name=None)
    => gx.arrays.hann_window(window_length, periodic, dtype) e.g. 4
signal.hamming_window(window_length, periodic=True, dtype=float32, name=None)
    => gx.arrays.hamming_window(window_length, periodic, dtype) e.g. 5, periodic=False
signal.kaiser_window(window_length, beta=12.0, dtype=float32, name=None)
    => gx.astype(gx.kaiser(window_length, beta), dtype) e.g. 4, beta=2.0
signal.frame(signal, frame_length, frame_step, pad_end=False, pad_value=0, axis=-1, name=None)
    => gx.arrays.frame(...) e.g. [1.0, 2.0, 3.0, 4.0, 5.0], 3, 2, pad_end=True
signal.stft(signals, frame_length, frame_step, fft_length=None, window_fn=hann_window, pad_end=False, name=None)
    => gx.arrays.stft(...) e.g. [1.0, 2.0, 3.0, 4.0, 5.0], 4, 1
""")
