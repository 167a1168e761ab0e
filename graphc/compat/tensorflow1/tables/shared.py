"""Rows that TensorFlow 1 and 2 share, with the older names, and the names of the operations that rows make."""

from __future__ import annotations

from dataclasses import replace

from graphc.compat.alias import NameRow
from graphc.compat.tensorflow2 import ROWS


def _words(text: str) -> list[str]:
    return text.split()


def _pairs(text: str) -> dict[str, str]:
    return dict(pair.split("=") for pair in text.split())


_NOT_IN_1 = _words("""
    math.special.bessel_i0 math.special.bessel_i0e math.special.bessel_i1 math.special.bessel_i1e keras.backend.sum
    keras.backend.mean keras.backend.max keras.backend.min keras.backend.dot eig eigvals nn.gelu random.set_seed
    inside_function sparse.from_dense sparse.reorder sparse.transpose sparse.reduce_sum sparse.map_values
    ragged.constant ragged.map_flat_values autograph.experimental.set_loop_options strings.split
    keras.layers.StringLookup
""")
"""Rows of TensorFlow 2 that TensorFlow 1 has under no name."""

_WITHOUT_SPACE = _words("""
    math.cumprod math.angle math.betainc math.ceil math.conj math.digamma math.erf math.erfc math.expm1
    math.floordiv math.igamma math.igammac math.imag math.lbeta math.lgamma math.log math.log1p math.log_sigmoid
    math.logical_xor math.polygamma math.real math.reciprocal math.rint math.rsqrt math.squared_difference math.zeta
    math.segment_max math.segment_mean math.segment_min math.segment_prod math.segment_sum math.unsorted_segment_max
    math.unsorted_segment_mean math.unsorted_segment_min math.unsorted_segment_prod math.unsorted_segment_sqrt_n
    math.unsorted_segment_sum math.invert_permutation linalg.cholesky linalg.cholesky_solve linalg.cross
    linalg.global_norm linalg.qr linalg.svd linalg.trace random.truncated_normal strings.regex_replace
    debugging.assert_proper_iterable debugging.assert_same_float_dtype debugging.is_numeric_tensor signal.fft
    signal.fft2d signal.fft3d signal.ifft signal.ifft2d signal.ifft3d math.is_finite math.is_inf math.is_nan
    math.is_non_decreasing math.is_strictly_increasing
""")
"""Rows that TensorFlow 1 also has under the last part of their name."""

_OLDER_NAMES = _pairs("""
    debugging.is_finite=math.is_finite debugging.is_inf=math.is_inf debugging.is_nan=math.is_nan
    debugging.is_non_decreasing=math.is_non_decreasing debugging.is_strictly_increasing=math.is_strictly_increasing
    math.special.bessel_i0=math.bessel_i0 math.special.bessel_i0e=math.bessel_i0e
    math.special.bessel_i1=math.bessel_i1 math.special.bessel_i1e=math.bessel_i1e floormod=math.floormod
    mod=math.floormod lin_space=linspace manip.reshape=reshape manip.tile=tile manip.reverse=reverse
    reverse_v2=reverse manip.roll=roll manip.scatter_nd=scatter_nd matrix_band_part=linalg.band_part
    matrix_determinant=linalg.det diag=linalg.tensor_diag self_adjoint_eig=linalg.eigh
    self_adjoint_eigvals=linalg.eigvalsh matrix_inverse=linalg.inv matrix_solve_ls=linalg.lstsq
    linalg.transpose=linalg.matrix_transpose matrix_transpose=linalg.matrix_transpose matrix_solve=linalg.solve
    matrix_triangular_solve=linalg.triangular_solve random_normal=random.normal random_uniform=random.uniform
    random_gamma=random.gamma random_shuffle=random.shuffle dtypes.as_string=strings.as_string
    string_join=strings.join string_strip=strings.strip sparse_tensor_to_dense=sparse.to_dense
    sparse.matmul=sparse.sparse_dense_matmul sparse_tensor_dense_matmul=sparse.sparse_dense_matmul
    config.experimental.list_logical_devices=config.list_logical_devices
    config.experimental.list_physical_devices=config.list_physical_devices
    config.experimental.set_visible_devices=config.set_visible_devices
""")
"""Other older names, each with the row's name."""

_MAKE_NO_OPERATION = _words("""
    broadcast_static_shape is_tensor as_dtype debugging.assert_proper_iterable debugging.assert_same_float_dtype
    debugging.assert_shapes debugging.disable_check_numerics debugging.enable_check_numerics
    nest.assert_same_structure config.run_functions_eagerly config.functions_run_eagerly config.list_logical_devices
    config.list_physical_devices config.set_visible_devices config.get_soft_device_placement
    config.set_soft_device_placement debugging.get_log_device_placement debugging.set_log_device_placement
    config.experimental.get_memory_growth config.experimental.set_memory_growth
    autograph.experimental.do_not_convert debugging.is_numeric_tensor nest.flatten nest.map_structure
    nest.pack_sequence_as nest.is_nested function custom_gradient
""")


def shared(stated: tuple[NameRow, ...]) -> tuple[tuple[NameRow, ...], tuple[NameRow, ...]]:
    """Returns the rows of TensorFlow 2 that TensorFlow 1 has too: those that make operations, and the others."""
    names = {name for row in stated for name in row.names}.union(_NOT_IN_1)
    rows = [row for row in ROWS if not names.intersection(row.names)]
    by_name = {row.names[0]: replace(row, names=(*row.names, *_older_names(row.names[0]))) for row in rows}
    others = [by_name.pop(name) for name in _MAKE_NO_OPERATION]
    return tuple(by_name.values()), tuple(others)


def _older_names(name: str) -> list[str]:
    space, _, last = name.rpartition(".")
    names = [*([last] if name in _WITHOUT_SPACE else []), *[old for old, new in _OLDER_NAMES.items() if new == name]]
    if space == "signal" and "fft" in last and "shift" not in last:
        names.append(f"spectral.{last}")
    return names


_SCOPES = _words("""
    truediv clip_by_value clip_by_norm math.bessel_i0 math.bessel_i0e math.bessel_i1 math.bessel_i1e math.erfcinv
    math.erfinv math.floordiv math.is_non_decreasing math.is_strictly_increasing math.lbeta math.multiply_no_nan
    math.ndtri math.polyval math.reciprocal_no_nan math.xdivy math.xlog1py math.l2_normalize math.special.dawsn
    math.special.expint math.special.fresnel_cos math.special.fresnel_sin math.special.spence math.reduce_std
    math.reduce_variance math.zero_fraction histogram_fixed_width histogram_fixed_width_bins saturate_cast ones
    zeros eye range linspace one_hot meshgrid concat stack parallel_stack unstack split sort argsort einsum
    linalg.adjoint linalg.cholesky_solve linalg.diag linalg.diag_part linalg.set_diag linalg.global_norm
    linalg.logdet linalg.matrix_rank linalg.matrix_transpose linalg.normalize linalg.pinv linalg.triangular_solve
    signal.rfft signal.rfft2d signal.rfft3d signal.irfft signal.irfft2d signal.irfft3d signal.fftshift
    signal.ifftshift signal.hann_window signal.hamming_window signal.kaiser_window signal.frame nn.conv1d_transpose
    nn.log_poisson_loss random.truncated_normal random.categorical random.stateless_truncated_normal
    random.stateless_categorical switch_case scan foldl foldr count_nonzero confusion_matrix math.in_top_k ones_like
    zeros_like transpose linalg.norm signal.stft div div_no_nan clip_by_average_norm nn.conv1d nn.convolution
    nn.conv2d_transpose nn.conv3d_transpose nn.separable_conv2d nn.moments nn.weighted_moments
    nn.sufficient_statistics nn.dropout nn.embedding_lookup nn.softmax_cross_entropy_with_logits nn.xw_plus_b
    nn.relu_layer random_poisson multinomial assert_equal assert_none_equal assert_greater assert_greater_equal
    assert_less assert_less_equal assert_positive assert_non_positive assert_negative assert_non_negative
    assert_near assert_rank assert_rank_at_least assert_rank_in assert_scalar losses.absolute_difference
    losses.mean_squared_error
""")
"""Functions of several operations, whose scope has the name of the function."""

_OPERATIONS = _pairs("""
    divide=truediv multiply=Mul negative=Neg realdiv=RealDiv scalar_mul=Mul subtract=Sub truncatediv=TruncateDiv
    truncatemod=TruncateMod math.divide_no_nan=div_no_nan math.floormod=FloorMod math.nextafter=NextAfter
    math.reduce_euclidean_norm=EuclideanNorm math.top_k=TopKV2 broadcast_dynamic_shape=BroadcastArgs
    reverse=ReverseV2 searchsorted=SearchSorted tensor_scatter_nd_update=TensorScatterUpdate
    tensor_scatter_nd_add=TensorScatterAdd tensor_scatter_nd_sub=TensorScatterSub
    tensor_scatter_nd_max=TensorScatterMax tensor_scatter_nd_min=TensorScatterMin matmul=MatMul
    linalg.band_part=MatrixBandPart linalg.det=MatrixDeterminant linalg.tensor_diag=Diag
    linalg.tensor_diag_part=DiagPart linalg.eigh=SelfAdjointEigV2 linalg.eigvalsh=SelfAdjointEigV2
    linalg.inv=MatrixInverse linalg.lstsq=matrix_solve_ls linalg.matvec=MatVec linalg.slogdet=LogMatrixDeterminant
    linalg.solve=MatrixSolve signal.fft=FFT signal.fft2d=FFT2D signal.fft3d=FFT3D signal.ifft=IFFT
    signal.ifft2d=IFFT2D signal.ifft3d=IFFT3D nn.silu=swish_f32 nn.atrous_conv2d=convolution nn.max_pool3d=MaxPool3D
    nn.avg_pool1d=AvgPool1D nn.avg_pool3d=AvgPool3D nn.batch_normalization=batchnorm
    nn.local_response_normalization=LRN nn.sigmoid_cross_entropy_with_logits=logistic_loss
    random.normal=random_normal random.uniform=random_uniform random.gamma=random_gamma random.shuffle=RandomShuffle
    random.stateless_normal=stateless_random_normal random.stateless_uniform=stateless_random_uniform
    random.stateless_gamma=stateless_random_gamma random.stateless_poisson=stateless_random_poisson
    random.stateless_binomial=stateless_random_binomial strings.format=StringFormat strings.join=StringJoin
    strings.lower=StringLower strings.upper=StringUpper strings.strip=StringStrip
    strings.regex_full_match=StaticRegexFullMatch strings.regex_replace=StaticRegexReplace map_fn=map
    vectorized_map=loop_body reduce_all=All reduce_any=Any reduce_logsumexp=ReduceLogSumExp reduce_max=Max
    reduce_mean=Mean reduce_min=Min reduce_prod=Prod reduce_sum=Sum argmax=ArgMax argmin=ArgMin pad=PadV2
    gather=GatherV2 where=Select where_v2=SelectV2 matrix_diag=diag matrix_diag_part=diag_part accumulate_n=AddN
    to_bfloat16=ToBFloat16 nn.crelu=CRelu nn.conv2d=Conv2D nn.conv3d=Conv3D nn.depthwise_conv2d=depthwise
    nn.max_pool_v2=MaxPool2d nn.avg_pool_v2=AvgPool nn.pool=max_pool
    nn.softmax_cross_entropy_with_logits_v2=softmax_cross_entropy_with_logits
    nn.weighted_cross_entropy_with_logits=logistic_loss strings.length=StringLength decode_csv=DecodeCSV
    verify_tensor_all_finite=VerifyFinite losses.compute_weighted_loss=weighted_loss
    losses.get_regularization_loss=total_regularization_loss losses.get_total_loss=total_loss
    losses.sigmoid_cross_entropy=sigmoid_cross_entropy_loss losses.softmax_cross_entropy=softmax_cross_entropy_loss
    losses.sparse_softmax_cross_entropy=sparse_softmax_cross_entropy_loss sparse.to_dense=SparseToDense
    sparse.sparse_dense_matmul=SparseTensorDenseMatMul
""")
"""Functions whose operation has another name than theirs."""


def operation_name(row: NameRow) -> str:
    """Returns the name of what a row makes, if the program gives none: ``MatMul`` for ``tf.matmul``."""
    name = row.names[0]
    last = name.rpartition(".")[2]
    if name in _SCOPES:
        return last
    return _OPERATIONS.get(name) or "".join(part[:1].upper() + part[1:] for part in last.split("_"))
