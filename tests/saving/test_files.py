"""The files themselves: what is damaged, killed, old or new."""

from __future__ import annotations

import hashlib
import json
import random
import re
import subprocess
import sys
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export

import graphc as gx
from graphc.compiler.base.errors import DataLossError, FailedPreconditionError, GraphcError, PermissionDeniedError
from graphc.compiler.ir import OPS, OpDef
from graphc.saving import folder as files
from graphc.saving.exporting import allowed

CORPUS = Path(__file__).parent / "corpus"


def saved(folder: Path) -> Path:
    w = gx.Variable([1.0, 2.0, 3.0], name="w")

    def f(x: Any) -> Any:
        state = x * w
        for _ in range(20):
            state = gx.tanh(state) + gx.asarray(np.arange(300, dtype=np.float32))[:3]
        return {"y": state}

    gx.save(f, folder, gx.TensorSpec((None, 3)))
    return folder


def edited(folder: Path, **changes: Any) -> None:
    """Changes the manifest, with a right checksum."""
    path = folder / "manifest.json"
    content = {**json.loads(path.read_text())["manifest"], **changes}
    text = json.dumps(content)
    path.write_text(f'{{"crc32": {zlib.crc32(text.encode())}, "manifest": {text}}}\n')


def content_of(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "manifest.json").read_text())["manifest"]


def with_text(folder: Path, old: str, new: str) -> None:
    """Changes a graph's text, with right checksums."""
    (path,) = folder.glob("*.graph")
    text = re.sub(old, new, path.read_text())
    path.write_text(text)
    files = content_of(folder)["files"]
    files[path.name] = {"bytes": len(text.encode()), "crc32": zlib.crc32(text.encode())}
    edited(folder, files=files)


def test_a_file_that_is_changed_cut_off_or_missing_is_named(tmp_path: Path) -> None:
    folder = saved(tmp_path / "saved")
    for path in sorted(folder.iterdir()):
        before = path.read_bytes()
        middle = len(before) // 2
        for after in (before[:middle], before[:middle] + bytes([before[middle] ^ 1]) + before[middle + 1 :], b""):
            path.write_bytes(after)
            with pytest.raises(DataLossError, match=path.name):
                gx.load(folder)
        if path.name != "manifest.json":
            path.unlink()
            with pytest.raises(DataLossError, match=f"{path.name} is damaged: it is not there"):
                gx.load(folder)
        path.write_bytes(before)
    assert gx.load(folder)(gx.ones((2, 3)))["y"].shape == (2, 3)


def test_any_bytes_in_any_place_give_an_error_of_graphc_or_work(tmp_path: Path) -> None:
    folder, draw = saved(tmp_path / "saved"), random.Random(7)
    contents = {path: path.read_bytes() for path in folder.iterdir()}
    refusals, strange = 0, list[Exception]()
    for _ in range(150):
        path = draw.choice(sorted(contents))
        data = bytearray(contents[path])
        for _ in range(draw.randrange(1, 4)):
            place = draw.randrange(len(data))
            data[place : place + draw.randrange(3)] = bytes(
                draw.choices(b'"%{}()[]0129-,:#@xyz\x00\xff', k=draw.randrange(3))
            )
        path.write_bytes(data)
        if path.name == "manifest.json":
            repaired(path)
        else:
            files = content_of(folder)["files"]
            files[path.name] = {"bytes": len(data), "crc32": zlib.crc32(data)}
            edited(folder, files=files)
        try:
            gx.load(folder)(gx.ones((1, 3)))
        except GraphcError as error:
            refusals += 1
            strange += [] if str(folder) in str(error) or "fit none of the signatures" in str(error) else [error]
        except AttributeError as error:
            strange += [] if "saved function" in str(error) else [error]
        for known, before in contents.items():
            known.write_bytes(before)
    assert not strange
    assert refusals > 100


def repaired(path: Path) -> None:
    """Gives a manifest that may still be JSON a right checksum."""
    try:
        found = json.loads(path.read_bytes())
        text = json.dumps(found["manifest"])
        path.write_text(f'{{"crc32": {zlib.crc32(text.encode())}, "manifest": {text}}}\n')
    except (ValueError, KeyError, TypeError):
        pass


@pytest.mark.parametrize(
    ("old", "new", "match"),
    [
        (r"tanh\(", "py_func(", "expected the name of one of the"),
        (r'variable = "w[_0-9]*"', 'variable = "other"', "about the Variable 'other', which is not there"),
        (r"tanh\(", "multiply(", "."),
        (r"f32\[\?,3\] = tanh", "f32[?,4] = tanh", r"is said to give f32\[\?,4\], and gives f32\[2,3\]"),
        (r"f32\[\?,3\] = multiply", "i32[?,3] = multiply", "."),
        (r"return %\S+\n}$", "return\n}", "expected the types of the graph's outputs"),
    ],
)
def test_a_graph_that_is_edited_is_refused(old: str, new: str, match: str, tmp_path: Path) -> None:
    folder = saved(tmp_path / "saved")
    with_text(folder, old, new)
    with pytest.raises(GraphcError, match=f"(?s)-__call__-0.graph.*{match}"):
        gx.load(folder)


def test_no_op_that_a_file_may_have_does_more_than_compute() -> None:
    for name in ("py_func", "call_jax", "host_call", "queue.enqueue", "read_file", "composed", "log_message"):
        assert name not in OPS or not allowed(OPS[name]), name
    assert all(allowed(OPS[name]) for name in ("matmul", "assign_variable", "while", "jax_program"))
    new = OpDef("of_tomorrow", impl=lambda: None, infer=lambda *_: ())
    assert not allowed(new), "an op that nobody has looked at"
    assert not allowed(replace(OPS["matmul"], impl=print)), "an op of a known name"
    of_the_host = [op for name in OPS if (op := OPS[name]).host]
    assert of_the_host
    assert not any(map(allowed, of_the_host))


FORKED = """
import os, signal, sys
from pathlib import Path
import graphc as gx
from graphc.saving import folder as files

folder, calls = Path(sys.argv[1]), 0
one, two = gx.function(lambda x: x + 1), gx.function(lambda x: x + 2)
spec = gx.TensorSpec((2,))

def killing(function, at):
    def call(*arguments, **options):
        global calls
        if calls == at:
            os.kill(os.getpid(), signal.SIGKILL)
        calls += 1
        return function(*arguments, **options)
    return call

def number():
    (text,) = [path for path in gx.load(folder)["__call__"].python_function.texts]
    token = next(iter(files.FolderReader(folder).content["files"]))[:8]
    return text, token

gx.save(one, folder, spec)
first = number()[1]
for at in range(100):
    child = os.fork()
    if child == 0:
        for place, name in [(Path, "write_bytes"), (Path, "write_text"), (Path, "replace"), (Path, "unlink"),
                            (os, "fsync"), (os, "open"), (files, "write_arrays")]:
            setattr(place, name, killing(getattr(place, name), at))
        gx.save(two, folder, spec)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    text, token = number()
    print("killed" if os.WIFSIGNALED(status) else "done", "old" if token == first else "new")
    if not os.WIFSIGNALED(status):
        break
    if token != first:
        gx.save(one, folder, spec)
        first = number()[1]
print(len(list(folder.iterdir())))
"""


@pytest.mark.multiprocess
@pytest.mark.usefixtures("warm_python")
def test_a_save_that_is_killed_leaves_the_old_or_the_new(tmp_path: Path) -> None:
    command = [sys.executable, "-c", FORKED, str(tmp_path / "saved")]
    found = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert found.returncode == 0, found.stderr
    *killed, done, count = found.stdout.splitlines()
    assert killed[0] == "killed old"
    assert killed[-1] == "killed new"  # while the old files were removed
    assert (done, count) == ("done new", "4")


@pytest.mark.parametrize("name", sorted(path.name for path in CORPUS.iterdir()))
def test_what_was_saved_by_older_versions_is_loaded(name: str) -> None:
    folder = CORPUS / name
    known = json.loads((folder / "results.json").read_text())
    loaded = gx.load(folder / "saved")
    for case in known:
        found = loaded[case["function"]](*[gx.asarray(np.asarray(value, "float32")) for value in case["arguments"]])
        np.testing.assert_allclose(np.asarray(found), case["result"], rtol=1e-5)


def test_a_newer_format_or_op_is_refused(tmp_path: Path) -> None:
    folder = saved(tmp_path / "saved")
    edited(folder, version=files.VERSION + 1, graphc="9.0")
    with pytest.raises(
        FailedPreconditionError, match=r"saved by graphc 9\.0; this graphc reads up to version \d+: install"
    ):
        gx.load(folder)
    edited(folder, version=files.VERSION, ops={**content_of(folder)["ops"], "tanh": 99})
    with pytest.raises(FailedPreconditionError, match=r"the op 'tanh' is of version 99.*install a newer one"):
        gx.load(folder)
    edited(folder, ops={**content_of(folder)["ops"], "tanh": 1, "of_tomorrow": 1})
    with pytest.raises(FailedPreconditionError, match=r"there is no op 'of_tomorrow' here"):
        gx.load(folder)


def test_two_saves_to_one_folder_leave_one_of_them_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    finish = files.FolderWriter.finish

    def after_another(writer: files.FolderWriter, content: Any) -> None:
        monkeypatch.setattr(files.FolderWriter, "finish", finish)
        gx.save(gx.function(lambda x: x * 3), tmp_path / "saved", gx.TensorSpec((3,)))
        finish(writer, content)

    monkeypatch.setattr(files.FolderWriter, "finish", after_another)
    (tmp_path / "saved").mkdir()
    for left in (".tmp0Ih2a4", "0000dead-lock", "0000dead-variables.safetensors"):
        (tmp_path / "saved" / left).write_text("")
    gx.save(gx.function(lambda x: x * 2), tmp_path / "saved", gx.TensorSpec((3,)))
    assert len(list((tmp_path / "saved").iterdir())) == 4
    assert gx.load(tmp_path / "saved")(gx.ones(3)).tolist() == [2, 2, 2]


def test_a_save_that_fails_leaves_the_folder_that_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(writer: files.FolderWriter, content: Any) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(files.FolderWriter, "finish", full)
    with pytest.raises(OSError, match="the disk is full"):
        gx.save(gx.function(lambda x: x * 2), tmp_path, gx.TensorSpec((3,)))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("inner", "message"),
    [
        (
            'op="vjp", attrs=(("attrs",()),("cotangents",(True,)),("op","host_call"),("wrt",(0,)))',
            "applies 'host_call'",
        ),
        ('op="jax_program", attrs=(("program","a" ),)', "applies 'jax_program'"),
    ],
)
def test_what_a_backward_pass_applies_is_looked_at_too(tmp_path: Path, inner: str, message: str) -> None:
    folder = saved(tmp_path / "saved")
    with_text(folder, r"tanh\((%[\w.]+)\)", rf"vjp(\1, \1) {{{inner}, cotangents=(True,), wrt=(0,)}}")
    edited(folder, ops={**content_of(folder)["ops"], "vjp": 1})
    with pytest.raises(DataLossError, match=message):
        gx.load(folder)


def test_64_bit_types_are_not_cut(tmp_path: Path) -> None:
    folder = saved(tmp_path / "saved")
    edited(folder, rules={"enable_x64": True, "default_dtype_bits": 64})
    with pytest.raises(FailedPreconditionError, match=r"saved with 64-bit types.*gx\.config\.enable_x64 = True"):
        gx.load(folder)


def with_program(folder: Path, function: Any, *calls: str) -> Path:
    """Saves a function of JAX, and puts another into its file, with right checksums."""
    gx.save(gx.function(lambda x: gx.call_jax(jnp.sin, x)), folder, gx.TensorSpec((8, 8)))
    checks = [export.DisabledSafetyCheck.custom_call(call) for call in calls]
    made: Any = export.export(jax.jit(lambda x: (function(x),)), disabled_checks=checks)
    blob = bytes(made(jax.ShapeDtypeStruct((8, 8), np.float32)).serialize())
    ((old, about),) = content_of(folder)["programs"].items()
    (folder / about["file"]).write_bytes(blob)
    new, files = hashlib.sha256(blob).hexdigest()[:32], content_of(folder)["files"]
    files[about["file"]] = {"bytes": len(blob), "crc32": zlib.crc32(blob)}
    edited(folder, programs={new: about}, files=files)
    with_text(folder, old, new)
    return folder


def kernel(name: str, **attributes: Any) -> Any:
    """Calls a kernel whose result has a size of its own."""
    call: Any = jax.ffi.ffi_call(name, jax.ShapeDtypeStruct((1, 1), np.float32))
    return lambda x: x + call(x, **attributes)


@pytest.mark.parametrize(
    "name",
    [
        "lapack_ssyevd_ffi",
        "cusolver_syevd_ffi",
        "Sharding",
        "shape_assertion of no such name",
        "system",
        "__gpu$xla.gpu.triton",
    ],
)
def test_a_file_cannot_call_kernels_with_sizes_that_it_makes_up(name: str, tmp_path: Path) -> None:
    folder = with_program(tmp_path, kernel(name, mode=np.uint8(86)), name)
    with pytest.raises(PermissionDeniedError, match=rf"\.jax: it calls {re.escape(name)} of XLA, .*trust=True"):
        gx.load(folder)
    assert gx.load(folder, trust=True).functions  # which is not called here: it might end the process
    with pytest.raises(PermissionDeniedError, match=r"gx\.load"):
        gx.serve.App(folder)


def test_a_file_cannot_call_python_even_if_it_is_trusted(tmp_path: Path) -> None:
    name = "xla_ffi_python_cpu_callback"
    folder = with_program(tmp_path, kernel(name, index=np.uint64(1)), name)
    for trust in (False, True):
        with pytest.raises(DataLossError, match=rf"it calls '{name}', and a saved function runs no Python"):
            gx.load(folder, trust=trust)


OF_JAX: dict[str, Any] = {
    "sort": lambda x: jnp.sort(x) + jax.lax.top_k(x, 2)[0].sum(),
    "random": lambda x: x + jax.random.normal(jax.random.key(0), x.shape),
    "cumsum": lambda x: jnp.cumsum(x, 0) / x.shape[0],
    "fft": lambda x: jnp.fft.fft(x).real,
}


@pytest.mark.parametrize("name", OF_JAX)
def test_functions_of_jax_without_kernels_need_no_trust(name: str, tmp_path: Path) -> None:
    f, x = gx.function(lambda x: gx.call_jax(OF_JAX[name], x)), gx.ones((3, 4))
    gx.save(f, tmp_path, gx.TensorSpec((None, 4)))
    np.testing.assert_allclose(gx.load(tmp_path)(x), f(x), rtol=1e-5)


def test_linear_algebra_needs_trust_only_as_a_function_of_jax(tmp_path: Path) -> None:
    x = gx.asarray(np.eye(3, dtype=np.float32) * 2)
    for name, f in {"own": gx.linalg.inv, "jax": lambda x: gx.call_jax(jnp.linalg.inv, x)}.items():
        gx.save(f, tmp_path / name, gx.TensorSpec((3, 3)))
        np.testing.assert_allclose(gx.load(tmp_path / name, trust=name == "jax")(x), np.eye(3) / 2)
    with pytest.raises(PermissionDeniedError, match=r"calls .*lapack_sgetrf_ffi.* Functions that call gx\.linalg"):
        gx.load(tmp_path / "jax")
