"""Records what TensorFlow says of the rows of graphc.compat.v1, for the tests to compare with.

In two steps, since TensorFlow and graphc need not be installed together: ``python -m tests.compat.record rows.json``
lists the rows, and ``python tests/compat/record.py rows.json``, by a Python that has TensorFlow and not graphc, writes
``v1_signatures.json`` (of each name) and ``v1_results.json`` (of the example of each row that makes operations: its
value in a Session, and the name of the operation).
"""

from __future__ import annotations

import importlib.util
import inspect
import json
import re
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


def rows() -> list[dict[str, Any]]:
    from graphc.compat.tensorflow1.tables import OPERATIONS, OTHERS

    return [{"names": row.names, "example": row.example, "runs": row in OPERATIONS} for row in (*OPERATIONS, *OTHERS)]


def signature(function: Any) -> str:
    """The parameters with their defaults, without annotations, dtypes by name."""
    parameters = inspect.signature(function).parameters.values()
    plain = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in parameters]
    text = str(inspect.Signature(plain))[1:-1]
    text = re.sub(r"<function (\w+) at \w+>", r"\1", re.sub(r"\b(?:tf|graphc)\.(\w+?)_?\b", r"\1", text))
    text = re.sub(r"<\w+\.\w+: ([^>]+)>", r"\1", text)  # members of enumerations by their values
    return text.replace("<class 'bool'>", "bool").replace("'", '"')


def described(value: Any) -> Any:
    import numpy as np

    if isinstance(value, list | tuple):
        return [described(item) for item in value]
    if isinstance(value, dict):
        return {"items": {name: described(item) for name, item in value.items()}}
    if value is None or isinstance(value, str | bool):
        return {"python": value}
    array = np.asarray(value)
    if array.dtype.kind in "OS":
        return {
            "dtype": "string",
            "value": np.vectorize(lambda item: item.decode(), otypes=[object])(array.astype(object)).tolist(),
        }
    if array.dtype.kind == "c":
        return {"dtype": array.dtype.name, "re": rounded(array.real), "im": rounded(array.imag)}
    return {"dtype": array.dtype.name, "value": rounded(array)}


def rounded(array: Any) -> Any:
    if isinstance(array, list):
        return [rounded(item) for item in array]
    if hasattr(array, "tolist"):
        return rounded(array.astype("float64").tolist() if array.dtype.kind not in "iub" else array.tolist())
    return float(f"{array:.7g}") if isinstance(array, float) else array


def result(tf: Any, name: str, example: str) -> Any:
    function: Any = tf
    for part in name.split("."):
        function = getattr(function, part)
    with tf.Graph().as_default(), tf.Session() as session:
        args, kwargs = eval(f"(lambda *args, **kwargs: (args, kwargs))({example})", {"tf": tf})
        made = function(*args, **kwargs)
        first = made[0] if isinstance(made, list | tuple) else made
        operation = getattr(getattr(first, "op", first), "name", None)
        fetched = [item for item in tf.nest.flatten(made) if hasattr(item, "graph")]
        if len(fetched) != len(tf.nest.flatten(made)):
            return {"name": operation, "value": {"python": repr(made)}}
        return {"name": operation, "value": described(session.run(made))}


def main(path: str) -> None:
    if importlib.util.find_spec("graphc") is not None:
        Path(path).write_text(json.dumps(rows()), encoding="utf-8")
        return
    import tensorflow.compat.v1 as tf

    tf.disable_eager_execution()
    signatures: dict[str, str] = {}
    results: dict[str, Any] = {}
    for row in json.loads(Path(path).read_text(encoding="utf-8")):
        for name in row["names"]:
            function: Any = tf
            for part in name.split("."):
                function = getattr(function, part)
            signatures[name] = signature(function)
        if row["runs"]:
            try:
                results[row["names"][0]] = result(tf, row["names"][0], row["example"])
            except Exception as error:
                print(row["names"][0], type(error).__name__, str(error)[:200])
    write("v1_signatures.json", signatures)
    write("v1_results.json", results)


def write(name: str, values: dict[str, Any]) -> None:
    lines = ",\n".join(f"  {json.dumps(key)}: {json.dumps(values[key])}" for key in sorted(values))
    (HERE / name).write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
