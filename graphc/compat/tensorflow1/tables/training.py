"""Rows: summaries and checkpoints."""

from graphc.compat.alias import alias

ROWS = (
    alias(
        "summary.scalar(name, tensor, collections=None, family=None)",
        "session.summaries.scalar(name, tensor, collections, family)",
        '"loss", tf.constant(1.0)',
    ),
    alias(
        "summary.histogram(name, values, collections=None, family=None)",
        "session.summaries.histogram(name, values, collections, family)",
        '"weights", tf.constant([1.0, 2.0])',
    ),
    alias(
        "summary.merge(inputs, collections=None, name=None)",
        "session.summaries.merge(inputs, collections, name)",
        '[tf.summary.scalar("loss", tf.constant(1.0))]',
    ),
    alias(
        'summary.merge_all(key="summaries", scope=None, name=None)', "session.summaries.merge_all(key, scope, name)", ""
    ),
    alias(
        "train.latest_checkpoint(checkpoint_dir, latest_filename=None)",
        "session.checkpoints.latest_checkpoint(checkpoint_dir, latest_filename)",
        '"folder"',
    ),
    alias(
        "train.get_checkpoint_state(checkpoint_dir, latest_filename=None)",
        "session.checkpoints.get_checkpoint_state(checkpoint_dir, latest_filename)",
        '"folder"',
    ),
    alias(
        "train.update_checkpoint_state(save_dir, model_checkpoint_path, all_model_checkpoint_paths=None, "
        "latest_filename=None, all_model_checkpoint_timestamps=None, last_preserved_timestamp=None)",
        "session.checkpoints.update_checkpoint_state(save_dir, model_checkpoint_path, all_model_checkpoint_paths, "
        "latest_filename)",
        '"folder", "folder/model-1"',
    ),
    alias(
        "train.checkpoint_exists(checkpoint_prefix)",
        "session.checkpoints.checkpoint_exists(checkpoint_prefix)",
        '"folder/model-1"',
    ),
    alias(
        "train.load_checkpoint(ckpt_dir_or_file)", "session.checkpoints.load_checkpoint(ckpt_dir_or_file)", '"folder"'
    ),
    alias(
        "train.NewCheckpointReader(filepattern)",
        "session.checkpoints.CheckpointReader(filepattern)",
        '"folder/model-1"',
    ),
    alias("train.list_variables(ckpt_dir_or_file)", "session.checkpoints.list_variables(ckpt_dir_or_file)", '"folder"'),
    alias(
        "train.load_variable(ckpt_dir_or_file, name)",
        "session.checkpoints.load_variable(ckpt_dir_or_file, name)",
        '"folder", "w"',
    ),
)
