"""``tf.saved_model`` and ``tf.train.Checkpoint``: TensorFlow's programs that save, restore and load."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import graphc.compat.v2 as tf


class Adder(tf.Module):
    def __init__(self) -> None:
        super().__init__()
        self.total = tf.Variable(1.0, name="total")

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def add(self, x: Any) -> Any:
        return self.total.assign_add(tf.reduce_sum(x))


def test_a_module_is_saved_and_loaded(tmp_path: Path) -> None:
    adder, folder = Adder(), str(tmp_path / "saved")
    tf.saved_model.save(adder, folder, signatures={"doubled": tf.function(lambda x: x * 2).get_concrete_function(
        tf.TensorSpec([], tf.float32))})  # fmt: skip
    assert tf.saved_model.contains_saved_model(folder)
    loaded = tf.saved_model.load(folder)
    assert loaded.add(tf.constant([1.0, 2.0])).numpy() == 4.0
    assert loaded.signatures["doubled"](tf.constant(3.0)).numpy() == 6.0
    assert [variable.numpy() for variable in loaded.trainable_variables] == [4.0]
    assert adder.total.numpy() == 1.0


def test_checkpoints_are_managed(tmp_path: Path) -> None:
    v = tf.Variable([1.0, 2.0])
    checkpoint = tf.train.Checkpoint(v=v)
    path = checkpoint.save(str(tmp_path / "ckpt"))
    v.assign([0.0, 0.0])
    checkpoint.restore(path).assert_consumed()
    assert v.numpy().tolist() == [1.0, 2.0]
    assert tf.train.latest_checkpoint(str(tmp_path)) == path
    manager = tf.train.CheckpointManager(checkpoint, str(tmp_path / "managed"), max_to_keep=2)
    assert manager.restore_or_initialize() is None
    saved = [manager.save() for _ in range(3)]
    assert manager.checkpoints == saved[1:]
    v.assign([5.0, 5.0])
    assert manager.restore_or_initialize() == saved[-1]
    assert v.numpy().tolist() == [1.0, 2.0]
