"""Rows: files, log lines, flags, the start of a program, codes of errors. None of them makes an operation."""

from graphc.compat.alias import Alias, alias


def _define(kind: str) -> Alias:
    of = "boolean" if kind == "bool" else kind
    # absl's own signature, with TensorFlow's old names as keywords.
    names = f"flags.DEFINE_{kind} app.flags.DEFINE_{kind}"
    return alias(f"{names}(*args, **kwargs)", f'flags.define("{of}", *args, **kwargs)', '"steps", None, "how many"')


ROWS = (
    alias(
        "gfile.Copy(oldpath, newpath, overwrite=False)", "files.copy(oldpath, newpath, overwrite)", '"a.txt", "b.txt"'
    ),
    alias("gfile.DeleteRecursively(dirname)", "files.remove_tree(dirname)", '"folder"'),
    alias("gfile.Exists(filename)", "files.exists(filename)", '"a.txt"'),
    alias("gfile.Glob(filename)", "files.glob(filename)", '"*.txt"'),
    alias("gfile.IsDirectory(dirname)", "files.is_directory(dirname)", '"folder"'),
    alias("gfile.ListDirectory(dirname)", "files.list_directory(dirname)", '"folder"'),
    alias("gfile.MakeDirs(dirname)", "files.make_directories(dirname)", '"folder/inner"'),
    alias("gfile.MkDir(dirname)", "files.make_directory(dirname)", '"folder"'),
    alias("gfile.Remove(filename)", "files.remove(filename)", '"a.txt"'),
    alias(
        "gfile.Rename(oldname, newname, overwrite=False)",
        "files.rename(oldname, newname, overwrite)",
        '"a.txt", "b.txt"',
    ),
    alias("gfile.Stat(filename)", "files.stat(filename)", '"a.txt"'),
    alias("gfile.Walk(top, in_order=True)", "files.walk(top, in_order)", '"folder"'),
    alias("io.gfile.copy(src, dst, overwrite=False)", "files.copy(src, dst, overwrite)", '"a.txt", "b.txt"'),
    alias("io.gfile.exists(path)", "files.exists(path)", '"a.txt"'),
    alias("io.gfile.glob(pattern)", "files.glob(pattern)", '"*.txt"'),
    alias("io.gfile.isdir(path)", "files.is_directory(path)", '"folder"'),
    alias("io.gfile.join(path, *paths)", "os.path.join(path, *paths)", '"folder", "a.txt"'),
    alias("io.gfile.listdir(path)", "files.list_directory(path)", '"folder"'),
    alias("io.gfile.makedirs(path)", "files.make_directories(path)", '"folder/inner"'),
    alias("io.gfile.mkdir(path)", "files.make_directory(path)", '"folder"'),
    alias("io.gfile.remove(path)", "files.remove(path)", '"a.txt"'),
    alias("io.gfile.rename(src, dst, overwrite=False)", "files.rename(src, dst, overwrite)", '"a.txt", "b.txt"'),
    alias("io.gfile.rmtree(path)", "files.remove_tree(path)", '"folder"'),
    alias("io.gfile.stat(path)", "files.stat(path)", '"a.txt"'),
    alias("io.gfile.walk(top, topdown=True, onerror=None)", "files.walk(top, topdown)", '"folder"'),
    alias("io.gfile.get_registered_schemes()", '["", "file"]', ""),
    alias(
        "logging.debug(msg, *args, **kwargs)", "logs.logger().debug(msg, *args, **kwargs)", '"step %d of %d", 3, 100'
    ),
    alias("logging.info(msg, *args, **kwargs)", "logs.logger().info(msg, *args, **kwargs)", '"step %d", 3'),
    alias("logging.warn(msg, *args, **kwargs)", "logs.logger().warning(msg, *args, **kwargs)", '"step %d", 3'),
    alias("logging.warning(msg, *args, **kwargs)", "logs.logger().warning(msg, *args, **kwargs)", '"step %d", 3'),
    alias("logging.error(msg, *args, **kwargs)", "logs.logger().error(msg, *args, **kwargs)", '"step %d", 3'),
    alias("logging.fatal(msg, *args, **kwargs)", "logs.logger().critical(msg, *args, **kwargs)", '"step %d", 3'),
    alias("logging.TaskLevelStatusMessage(msg)", "logs.logger().error(msg)", '"done"'),
    alias(
        "logging.log(level, msg, *args, **kwargs)",
        "logs.logger().log(level, msg, *args, **kwargs)",
        'tf.logging.INFO, "step %d", 3',
    ),
    alias(
        "logging.vlog(level, msg, *args, **kwargs)", "logs.logger().log(level, msg, *args, **kwargs)", '1, "step %d", 3'
    ),
    alias(
        "logging.log_if(level, msg, condition, *args)",
        "logs.log_if(level, msg, condition, *args)",
        'tf.logging.INFO, "step %d", True, 3',
    ),
    alias(
        "logging.log_first_n(level, msg, n, *args)",
        "logs.log_first(level, msg, n, *args)",
        'tf.logging.INFO, "step %d", 10, 3',
    ),
    alias(
        "logging.log_every_n(level, msg, n, *args)",
        "logs.log_every(level, msg, n, *args)",
        'tf.logging.INFO, "step %d", 100, 3',
    ),
    alias("logging.flush()", "logs.flush()", ""),
    alias("logging.get_verbosity()", "logs.logger().level", ""),
    alias("logging.set_verbosity(v)", "logs.logger().setLevel(v)", "tf.logging.INFO"),
    alias("get_logger()", "logs.logger()", ""),
    alias("app.run(main=None, argv=None)", "flags.run(main, argv)", "lambda argv: print(argv)"),
    _define("string"),
    _define("integer"),
    _define("float"),
    _define("boolean"),
    _define("bool"),
    alias("errors.exception_type_from_error_code(error_code)", "errors.error_of_code(error_code)", "11"),
    alias("errors.error_code_from_exception_type(cls)", "errors.code_of(cls)", "tf.errors.OutOfRangeError"),
)
