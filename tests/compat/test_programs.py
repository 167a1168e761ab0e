"""Programs as TensorFlow's users write them, in which only the import is another."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

import graphc.compat.v2 as tf
from graphc.compiler.base.errors import SideEffectWarning


def test_a_timed_product_of_the_transpose() -> None:
    class Benchmark:
        def __enter__(self) -> None:
            self.start = time.time()

        def __exit__(self, *args: Any) -> None:
            print(f"time: {time.time() - self.start:.4f} sec")

    x = tf.random.uniform(shape=(20, 20))
    with Benchmark():
        y = tf.keras.backend.sum(tf.transpose(x) * x)
        tf.norm(y).numpy()

    @tf.function
    def loop() -> Any:
        y = x
        for _ in range(1000):
            y = x + 1
        return y

    np.testing.assert_allclose(loop().numpy(), x.numpy() + 1)


def test_a_training_loop_with_a_tape() -> None:
    tf.random.set_seed(1)
    features = tf.random.normal(shape=(32, 4))
    labels = tf.reduce_sum(features, axis=1, keepdims=True)
    w = tf.Variable(tf.zeros([4, 1]), name="w")
    b = tf.Variable(0.0, trainable=True, dtype=tf.float32)

    @tf.function
    def step(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.math.squared_difference(tf.matmul(x, w) + b, y))
        grads = tape.gradient(loss, [w, b])
        clipped, _ = tf.clip_by_global_norm(grads, 5.0)
        for variable, grad in zip([w, b], clipped, strict=True):
            variable.assign_sub(0.1 * grad)
        return loss

    losses = [step(features, labels).numpy() for _ in range(60)]
    assert losses[-1] < 1e-2 < losses[0]


def test_a_network_of_keras_layers() -> None:
    tf.random.set_seed(1)
    net = tf.keras.Sequential([tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(3)])
    optimizer = tf.keras.optimizers.SGD(0.1)
    x, y = tf.random.normal([16, 5]), tf.constant(np.arange(16) % 3)

    def loss() -> Any:
        return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=net(x)))

    first = loss()
    for _ in range(20):
        with tf.GradientTape() as tape:
            value = loss()
        grads = tape.gradient(value, net.trainable_variables)
        optimizer.apply_gradients(zip(grads, net.trainable_variables, strict=True))
    assert loss() < first


def test_a_model_of_one_own_class_with_its_metrics() -> None:
    class Net(tf.keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.conv = tf.keras.layers.Conv2D(4, 3, activation="relu")
            self.flatten = tf.keras.layers.Flatten()
            self.norm = tf.keras.layers.BatchNormalization()
            self.last = tf.keras.layers.Dense(3)

        def call(self, x: Any, training: bool = False) -> Any:
            return self.last(self.norm(self.flatten(self.conv(x)), training=training))

    tf.random.set_seed(1)
    net, optimizer = Net(), tf.keras.optimizers.Adam(0.01)
    loss_object = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    mean = tf.keras.metrics.Mean(name="train_loss")
    accuracy = tf.keras.metrics.SparseCategoricalAccuracy(name="train_accuracy")

    @tf.function
    def step(images: Any, labels: Any) -> None:
        with tf.GradientTape() as tape:
            predictions = net(images, training=True)
            loss = loss_object(labels, predictions)
        gradients = tape.gradient(loss, net.trainable_variables)
        optimizer.apply_gradients(zip(gradients, net.trainable_variables, strict=True))
        mean(loss)
        accuracy(labels, predictions)

    images, labels = tf.random.normal([12, 6, 6, 1]), tf.constant(np.arange(12) % 3)
    found: list[tuple[float, float]] = []
    for _ in range(12):
        mean.reset_state()
        accuracy.reset_state()
        step(images, labels)
        found.append((float(mean.result()), float(accuracy.result())))
    assert found[-1][0] < 0.5 * found[0][0]
    assert found[-1][1] == 1.0


def test_loops_and_branches_of_tensors() -> None:
    @tf.function(input_signature=[tf.TensorSpec(shape=(None,), dtype=tf.float32), tf.TensorSpec((), tf.int32)])
    def f(x: Any, n: Any) -> Any:
        total = tf.zeros_like(x)
        for i in tf.range(n):
            total += x * tf.cast(i, tf.float32)
        if tf.reduce_sum(total) > 10.0:
            total = tf.math.negative(total)
        rows = tf.shape(x)[0]
        return tf.reshape(total, [rows, 1])

    np.testing.assert_allclose(f(tf.constant([1.0, 2.0]), tf.constant(3)).numpy(), [[3.0], [6.0]])
    np.testing.assert_allclose(f(tf.constant([1.0, 2.0]), tf.constant(4)).numpy(), [[-6.0], [-12.0]])


def test_control_flow_by_calls_converts_the_functions() -> None:
    def body(i: Any, x: Any) -> tuple[Any, Any]:
        if x > 10.0:  # a branch by a tensor, which only converted code may have
            x = x / 2.0
        return i + 1, x * 3.0

    def run(x: Any) -> Any:
        i, y = tf.while_loop(lambda i, x: i < 5, body, (tf.constant(0), x), maximum_iterations=4)
        z = tf.case([(y < 1.0, lambda: y), (y < 20.0, lambda: y * 10.0)], default=lambda: y * 100.0)
        return i, tf.switch_case(i - 2, [lambda: z, lambda: z + 1.0, lambda: z + 2.0])

    for compiled in (run, tf.function(run)):
        i, y = compiled(tf.constant(1.0))
        assert i.numpy() == 4
        assert y.numpy() == pytest.approx(4050.0 + 2.0)


@pytest.mark.parametrize("compile", [lambda f: f, tf.function], ids=["eager", "compiled"])
def test_maps_scans_and_folds(compile: Any) -> None:
    x = tf.constant([1.0, 2.0, 4.0])

    @compile
    def f(x: Any) -> Any:
        squares = tf.map_fn(lambda v: v * v if v > 1.5 else -v, x)
        sums = tf.scan(lambda total, v: total + v, x, initializer=1.0)
        back = tf.scan(lambda total, v: total - v, x, reverse=True)
        pairs = tf.map_fn(lambda pair: pair[0] * pair[1], (x, x))
        return squares, sums, back, pairs, tf.foldl(tf.add, x), tf.foldr(tf.subtract, x, 0.0)

    expected = [[-1.0, 4.0, 16.0], [2.0, 4.0, 8.0], [1.0, 2.0, 4.0], [1.0, 4.0, 16.0], 7.0, -7.0]
    for found, right in zip(f(x), expected, strict=True):
        np.testing.assert_allclose(found.numpy(), right)


def test_prints_when_the_program_runs(capsys: pytest.CaptureFixture[str]) -> None:
    @tf.function
    def f(x: Any) -> Any:
        tf.print("x is", x, sep=": ")
        return x

    f(tf.constant(1.0))
    f(tf.constant(2.0))
    tf.print("eager")
    assert capsys.readouterr().err.split() == ["x", "is:", "1.0", "x", "is:", "2.0", "eager"]


def test_checks_fail_when_the_program_runs() -> None:
    @tf.function
    def f(x: Any) -> Any:
        tf.debugging.assert_positive(x, message="lengths")
        return tf.sqrt(x)

    assert f(tf.constant(4.0)).numpy() == 2.0
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"assert_positive: x is not above 0 .*leng"):
        f(tf.constant(-4.0))


def test_calls_of_python_get_tensors_or_arrays() -> None:
    seen: list[Any] = []

    @tf.function
    def f(x: Any) -> Any:
        a = tf.numpy_function(lambda v: seen.append(type(v)) or v + np.float32(1), [x], tf.float32)
        b = tf.py_function(lambda v: seen.append(type(v)) or v * 2.0, [x], tf.float32)
        return a + b

    assert f(tf.constant(3.0)).numpy() == 10.0
    assert issubclass(seen[0], np.ndarray | np.generic)
    assert issubclass(seen[1], tf.Tensor)


def test_functions_run_eagerly_on_demand() -> None:
    modes: list[bool] = []

    @tf.function
    def f(x: Any) -> Any:
        modes.append(tf.executing_eagerly())
        return x

    tf.config.run_functions_eagerly(True)
    try:
        assert tf.config.functions_run_eagerly()
        f(tf.constant(1.0))
    finally:
        tf.config.run_functions_eagerly(False)
    assert modes == [True]
    assert tf.function(lambda x: x if tf.inside_function() else x + 1.0)(tf.constant(1.0)).numpy() == 1.0


def test_devices_and_order() -> None:
    with tf.device("/CPU:0"), tf.control_dependencies([tf.no_op()]):
        x = tf.constant([1.0, 2.0])
    assert "cpu" in x.device.lower()
    assert len(tf.config.list_logical_devices("CPU")) >= 1
    assert tf.config.list_physical_devices("TPU") == []
    assert tf.group(x, x) is not None


def test_devices_by_name_by_function_and_their_settings(caplog: pytest.LogCaptureFixture) -> None:
    second = tf.config.list_logical_devices("CPU")[1]
    assert (second.name, second.device_type) == ("/device:CPU:1", "CPU")
    assert tf.config.get_visible_devices("CPU")[1].name == "/physical_device:CPU:1"

    def variables_on_cpu(op: Any) -> str:
        return "/cpu:0" if op.type == "Variable" else second.name

    with tf.device(variables_on_cpu):
        a = tf.Variable(3.0)
        c = a * tf.constant(4.0)
    assert (a.device, c.device) == ("/device:CPU:0", "/device:CPU:1")

    assert not tf.config.get_soft_device_placement()
    caplog.set_level("INFO", "graphc.placement")
    tf.config.set_soft_device_placement(True)
    tf.debugging.set_log_device_placement(True)
    try:
        assert tf.config.get_soft_device_placement()
        assert tf.debugging.get_log_device_placement()
        with tf.device("/GPU:0"):
            _ = a + 1.0
    finally:
        tf.debugging.set_log_device_placement(False)
        tf.config.set_soft_device_placement(False)
    assert any("requested /device:GPU:0, placed on /device:CPU:0" in text for text in caplog.messages)

    tf.config.set_visible_devices([], "GPU")  # as it is
    assert not tf.config.experimental.get_memory_growth("GPU:0")
    with pytest.raises(RuntimeError, match="comes too late"):
        tf.config.experimental.set_memory_growth("GPU:0", True)
    with pytest.raises(NotImplementedError, match="only GPUs can be hidden, not CPUs"):
        tf.config.set_visible_devices([], "CPU")


def test_custom_gradients_and_what_is_not_converted() -> None:
    @tf.custom_gradient
    def f(x: Any) -> Any:
        return x * x, lambda upstream: upstream * 7.0

    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = f(x)
    assert tape.gradient(y, x).numpy() == 7.0

    @tf.autograph.experimental.do_not_convert
    def g(x: Any) -> Any:
        return x + 1.0

    @tf.autograph.experimental.do_not_convert()
    def h(x: Any) -> Any:
        return x + 2.0

    with pytest.warns(SideEffectWarning, match=r"the call of .*<locals>\.[gh], which is not converted"):
        assert tf.function(lambda x: g(h(x)))(tf.constant(1.0)).numpy() == 4.0


GRADIENTS = [
    (lambda x: tf.reduce_sum(tf.clip_by_norm(x, 1.0)), lambda x: 1 / _norm(x) - x * x.sum() / _norm(x) ** 3),
    (lambda x: tf.reduce_sum(tf.math.divide_no_nan(x, x - 3.0)), lambda x: np.where(x == 3, 0, -3 / _safe(x - 3) ** 2)),
    (lambda x: tf.norm(x), lambda x: x / _norm(x)),
    (lambda x: tf.reduce_sum(tf.gather(x, [0, 0])), lambda x: np.asarray([2.0, 0.0])),
    (lambda x: tf.reduce_sum(tf.scatter_nd([[1], [1]], x * x, [3])), lambda x: 2 * x),
    (lambda x: tf.reduce_sum(tf.math.unsorted_segment_mean(x * x, [0, 0], 2)), lambda x: x),
    (lambda x: tf.nn.sigmoid_cross_entropy_with_logits(labels=1.0, logits=x[0] - x[0]), lambda x: 0 * x),
    (lambda x: tf.reduce_sum(tf.cumsum(x * x, reverse=True)), lambda x: 2 * x * [1.0, 2.0]),
    (lambda x: tf.nn.l2_loss(x), lambda x: x),
    (lambda x: tf.reduce_sum(tf.math.multiply_no_nan(x * x, [0.0, 1.0])), lambda x: [0.0, 2 * x[1]]),
]


def _norm(x: Any) -> Any:
    return np.sqrt((x * x).sum())


def _safe(x: Any) -> Any:
    return np.where(x == 0, 1, x)


@pytest.mark.parametrize(("function", "expected"), GRADIENTS)
def test_gradients_eager_and_compiled(function: Any, expected: Any) -> None:
    values = np.asarray([3.0, 4.0], np.float32)

    def gradient(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x)
        return tape.gradient(y, x)

    for run in (gradient, tf.function(gradient)):
        np.testing.assert_allclose(run(tf.constant(values)).numpy(), expected(values), rtol=1e-5, atol=1e-6)


def test_integers_keep_their_dtypes_as_in_tensorflow() -> None:
    small = tf.constant([100, 100, -3], dtype=tf.int8)
    assert tf.reduce_sum(small).dtype == tf.int8
    assert tf.reduce_mean([7, -8, -1]).numpy() == 0  # cut towards zero
    assert tf.reduce_mean([-7, -8]).numpy() == -7
    assert tf.cumsum(small).dtype == tf.int8
    assert tf.saturate_cast([3e9, -3e9, 5.0], tf.int32).numpy().tolist() == [2147483647, -2147483648, 5]
    assert tf.range(3.0).dtype == tf.float32


def test_a_forward_accumulator_gives_products_with_a_hessian() -> None:
    x = tf.constant([[2.0, 3.0], [1.0, 4.0]])
    layer = tf.keras.layers.Dense(1)
    layer(x)
    primals = layer.trainable_variables
    tangents = [tf.ones_like(primal) for primal in primals]
    with tf.autodiff.ForwardAccumulator(primals=primals, tangents=tangents) as accumulator:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(layer(x) ** 2.0)
        slopes = tape.gradient(loss, primals)
    kernel, bias = accumulator.jvp(slopes)
    pushed = x.numpy().sum(1) + 1.0
    np.testing.assert_allclose(kernel.numpy()[:, 0], 2 * x.numpy().T @ pushed, rtol=1e-6)
    np.testing.assert_allclose(bias.numpy(), [2 * pushed.sum()], rtol=1e-6)


def test_variants_of_arguments() -> None:
    x = tf.constant(np.arange(24.0, dtype=np.float32).reshape(2, 3, 4))
    np.testing.assert_allclose(tf.norm(x, axis=(1, 2), ord=2).numpy(), np.linalg.norm(x.numpy(), 2, axis=(1, 2)), 1e-5)
    np.testing.assert_allclose(tf.norm(x, axis=(1, 2), ord=1).numpy(), np.linalg.norm(x.numpy(), 1, axis=(1, 2)))
    np.testing.assert_allclose(tf.norm(x, ord=np.inf, axis=-1).numpy(), x.numpy().max(-1))
    taken = tf.gather(x, [[1, 0], [2, 2]], axis=2, batch_dims=1).numpy()
    np.testing.assert_allclose(taken, np.stack([x.numpy()[0][:, [1, 0]], x.numpy()[1][:, [2, 2]]]))
    assert [part.shape for part in tf.split(x, [1, -1], axis=2)] == [(2, 3, 1), (2, 3, 3)]
    assert [part.shape for part in tf.split(x, 2, axis=2)] == [(2, 3, 2), (2, 3, 2)]
    assert tf.where([[True, False], [True, True]]).numpy().tolist() == [[0, 0], [1, 0], [1, 1]]
    assert tf.matmul(x, x, transpose_a=True).shape == (2, 4, 4)
    values, u, v = tf.linalg.svd(x)
    again = u.numpy() * values.numpy()[:, None, :] @ np.swapaxes(v.numpy(), -1, -2)
    np.testing.assert_allclose(again, x.numpy(), atol=1e-4)
    assert tf.one_hot([0, 1], 3, dtype=tf.int32).dtype == tf.int32
    assert tf.math.top_k([1.0, 3.0, 2.0], k=2).indices.numpy().tolist() == [1, 2]
    assert tf.unique([3, 1, 3]).y.numpy().tolist() == [3, 1]
    image = tf.ones([1, 2, 4, 4])
    assert tf.nn.max_pool2d(image, 2, 2, "VALID", data_format="NCHW").shape == (1, 2, 2, 2)
    assert tf.nn.conv2d(tf.ones([1, 4, 4, 2]), tf.ones([3, 3, 1, 4]), 1, [[0, 0], [1, 1], [1, 1], [0, 0]]).shape == (
        1,
        4,
        4,
        4,
    )
    assert tf.nn.dropout(tf.ones([1000]), 0.5).numpy().mean() == pytest.approx(1.0, abs=0.2)


def test_dtypes_are_tensorflows() -> None:
    assert tf.constant(1).dtype == tf.constant([1, 2]).dtype == tf.constant(np.int32(1)).dtype == tf.int32
    assert tf.constant(1.0).dtype == tf.random.normal([1]).dtype == tf.zeros([1]).dtype == tf.float32
    assert tf.constant(1j).dtype == tf.convert_to_tensor([1j, 1.0]).dtype == tf.complex128
    assert tf.constant(1j, tf.complex64).dtype == tf.complex64
    assert tf.constant([tf.constant(1j, tf.complex64)]).dtype == tf.complex64
    assert tf.constant(1.0, dtype=tf.float64).dtype == tf.constant(np.ones(2)).dtype == tf.float64
    assert tf.constant(1, tf.int64).dtype == tf.constant(np.arange(2)).dtype == tf.int64
    assert tf.constant(2**40, tf.int64).numpy() == 2**40
    assert tf.Variable(np.ones(2)).dtype == (tf.Variable(np.ones(2)) * 2.0).dtype == tf.float64
    assert tf.Variable(1.0).dtype == tf.float32
    assert tf.argmax([1.0, 2.0]).dtype == tf.math.count_nonzero([1.0]).dtype == tf.int64
    assert tf.where([True]).dtype == tf.int64
    assert tf.argsort([1.0]).dtype == tf.range(3).dtype == tf.shape([1.0]).dtype == tf.int32
    assert tf.cast(2**31 - 1, tf.int64).numpy() + 1 == 2**31
    assert tf.reduce_sum(np.ones(3)).dtype == tf.reduce_mean(np.ones(3)).dtype == tf.float64
    assert tf.reduce_sum([1, 2]).dtype == tf.math.cumsum([1, 2]).dtype == tf.int32
    doubled = tf.function(lambda x: x * 2.0)
    assert doubled(tf.constant(1.0, tf.float64)).dtype == doubled(np.ones(2)).dtype == tf.float64
    assert doubled(tf.constant(1.0)).dtype == tf.float32


def test_lines_of_a_file_and_their_labels() -> None:
    lines = tf.constant(["5.1,3.5,setosa", "6.3,,virginica"])
    length, width, species = tf.io.decode_csv(lines, [[0.0], [3.0], tf.constant([], dtype=tf.string)])
    lookup = tf.keras.layers.StringLookup(vocabulary=["setosa", "virginica"])
    assert lookup(species).numpy().tolist() == [1, 2]
    assert lookup(tf.constant("rose")).numpy() == 0
    assert lookup.get_vocabulary() == ["[UNK]", "setosa", "virginica"]
    assert lookup.get_vocabulary(include_special_tokens=False) == ["setosa", "virginica"]
    assert lookup.vocabulary_size() == 3
    back = tf.keras.layers.StringLookup(vocabulary=lookup.get_vocabulary(), invert=True)
    assert back([2, 0]).numpy().tolist() == ["virginica", "[UNK]"]
    masked = tf.keras.layers.StringLookup(vocabulary=["a"], mask_token="", num_oov_indices=0)
    assert masked(["a", ""]).numpy().tolist() == [1, 0]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"'b' is not in the vocabulary of 2 strings"):
        masked("b")
    with pytest.raises(ValueError, match=r"StringLookup: here a vocabulary is given, .* got vocabulary=None"):
        tf.keras.layers.StringLookup()

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32), tf.TensorSpec([None], tf.string)])
    def f(x: Any, names: Any) -> Any:
        tf.debugging.assert_positive(x)
        return x * tf.cast(tf.strings.length(names), tf.float32)

    np.testing.assert_allclose(f(length, species).numpy(), [5.1 * 6, 6.3 * 9], rtol=1e-6)
    assert (tf.is_tensor(species), tf.constant("a", shape=[2]).numpy().tolist()) == (True, ["a", "a"])
    assert tf.gather(species, [1, 0]).numpy().tolist() == ["virginica", "setosa"]
    assert width.numpy().tolist() == [3.5, 3.0]


def test_calls_of_numbers_alone_have_the_dtypes_of_tensorflow() -> None:
    found = [tf.sqrt(2.0), tf.add(1.0, 2.0), tf.add(2, 3), tf.pow(2, 3), tf.maximum(1, 2), tf.abs(-1)]
    assert [value.dtype.name for value in found] == ["float32", "float32", "int32", "int32", "int32", "int32"]
    assert tf.function(lambda: tf.sqrt(2.0))().dtype == tf.float32
    assert tf.add(tf.constant([1.0], tf.float64), 2.0).dtype == tf.float64
    assert tf.sqrt(tf.constant(2.0, tf.float64)).dtype == tf.float64


def test_objects_that_tensorflows_own_tests_use() -> None:
    assert tf.constant([[1.0]])[:, tf.newaxis].get_shape().as_list() == [1, 1, 1]
    assert tf.TensorShape([None, 3]).merge_with([2, None]).is_fully_defined()
    assert tf.as_dtype("int8") == tf.int8
    assert (tf.float32.as_numpy_dtype, tf.float32.base_dtype, tf.float32.size) == (np.float32, tf.float32, 4)
    assert (tf.int8.min, tf.int8.max, tf.uint8.is_unsigned, tf.bfloat16.is_floating) == (-128, 127, True, True)
    assert (tf.string.is_floating, tf.complex64.real_dtype, tf.bool.is_bool) == (False, tf.float32, True)
    assert (repr(tf.float32), str(tf.float32)) == ("tf.float32", "<dtype: 'float32'>")
    assert [tf.is_tensor(tf.ragged.constant([[1]])), tf.is_tensor([1.0])] == [True, False]
    with pytest.raises(TypeError, match="bool has no least number"):
        tf.bool.min  # noqa: B018
    with tf.name_scope("outer"):
        assert tf.Variable(1.0, name="named").name == "outer/named"

    @tf.function
    def f(x: Any, n: Any) -> dict[str, Any]:
        array = tf.TensorArray(tf.float32, size=4, clear_after_read=False, element_shape=[])
        for i in tf.range(n):
            tf.autograph.experimental.set_loop_options(maximum_iterations=4)
            array = array.write(i, x * tf.cast(i, tf.float32))
        return {"stacked": array.stack(), "sparse": tf.sparse.from_dense([[0.0, 2.0]])}

    concrete = f.get_concrete_function(tf.TensorSpec([], tf.float32), tf.TensorSpec([], tf.int32))
    assert concrete.structured_outputs["stacked"].shape == (4,)
    assert f.experimental_get_tracing_count() == 1
    assert f(tf.constant(2.0), tf.constant(3))["stacked"].numpy().tolist() == [0, 2, 4, 0]


def test_checks_of_numbers_are_turned_on_and_off() -> None:
    tf.debugging.enable_check_numerics()
    try:
        with pytest.raises(tf.errors.InvalidArgumentError, match="NaN"):
            tf.math.log(tf.constant(-1.0))
    finally:
        tf.debugging.disable_check_numerics()
    assert np.isnan(tf.math.log(tf.constant(-1.0)).numpy())
    assert tf.debugging.assert_same_float_dtype([tf.ones([2])]) == tf.float32


class ModuleCase(tf.test.TestCase):
    def test_a_module(self) -> None:
        class Scale(tf.Module):
            def __init__(self) -> None:
                super().__init__(name="scale")
                self.by = tf.Variable(3.0)

            @tf.function
            def __call__(self, x: Any) -> Any:
                return x * self.by

        module = Scale()
        with self.cached_session():
            self.assertAllClose(self.evaluate(module(tf.ones([2]))), [3.0, 3.0])
        self.assertLen(module.trainable_variables, 1)
        with self.assertRaisesOpError("x and y differ"):
            tf.debugging.assert_equal(module.by, 4.0)
