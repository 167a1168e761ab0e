"""The files of a checkpoint: several writers, and what stays when one fails or is killed."""

from __future__ import annotations

import errno
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base.errors import DeadlineExceededError, FailedPreconditionError, ResourceExhaustedError
from graphc.training.train.restoring import MappedCheckpoint
from graphc.training.train.storage import ArrayBlock, CheckpointWriter, ProcessPart, entries

FORKED = """
import os, signal, sys
from pathlib import Path
import numpy as np
from graphc.training.train import storage
from graphc.training.train.restoring import MappedCheckpoint
from graphc.training.train.storage import ProcessPart, ArrayBlock, CheckpointWriter, entries

folder, calls = Path(sys.argv[1]), 0

def saved(step):
    part = ProcessPart([ArrayBlock.whole("w", np.full(100_000, step, np.float32))], {})
    CheckpointWriter(folder, step, f"{step:08x}", 0, 1, 1, 10.0).write(part)

def killing(function, at):
    def call(*arguments, **options):
        global calls
        if calls == at:
            os.kill(os.getpid(), signal.SIGKILL)
        calls += 1
        return function(*arguments, **options)
    return call

saved(1)
for at in range(100):
    child = os.fork()
    if child == 0:
        places = [(os, "fsync"), (os, "open"), (Path, "replace"), (Path, "unlink"), (Path, "mkdir"), (Path, "rmdir")]
        for place, name in [*places, (Path, "write_text"), (storage, "checksum")]:
            setattr(place, name, killing(getattr(place, name), at))
        saved(2)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    (entry,) = [entry for entry in entries(folder)][-1:]
    array = MappedCheckpoint(entry.manifest).verified("w")
    assert array.tolist() == [entry.step] * 100_000
    print("killed" if os.WIFSIGNALED(status) else "done", entry.step)
    if not os.WIFSIGNALED(status):
        break
    if entry.step == 2:
        saved(1)
print(sorted(path.name for path in folder.rglob("*")))
"""


@pytest.mark.multiprocess
@pytest.mark.usefixtures("warm_python")
def test_a_kill_at_any_moment_leaves_a_checkpoint_that_is_whole(tmp_path: Path) -> None:
    command = [sys.executable, "-c", FORKED, str(tmp_path)]
    found = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert found.returncode == 0, found.stderr
    *killed, done, files = found.stdout.splitlines()
    assert killed[0] == "killed 1"
    assert killed[-1] == "killed 2"  # while the one before was removed
    assert len(killed) > 10
    assert done == "done 2"
    assert files == "['00000002-0-of-1.safetensors', 'manifest-{}-00000002.json', 'step-2']".format(
        re.search(r"manifest-(\d+)", files)[1]  # pyright: ignore[reportOptionalSubscript]
    )


def part(value: int) -> ProcessPart:
    return ProcessPart([ArrayBlock.whole("w", np.full(3, value))], {})


def test_a_save_removes_what_dead_programs_left_and_nothing_of_living_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write(step: int, token: str) -> None:
        CheckpointWriter(tmp_path, step, token, 0, 1, None, 10.0).write(part(step))

    step = tmp_path / "step-1"
    step.mkdir()
    for name in (
        "0000dead-0-of-2.safetensors",
        "0000dead-1-of-2.lock",
        "0000dead-1-of-2.failed",
        ".tmp0Ih2a4",
        "notes",
    ):
        (step / name).write_text("")
    manifest = CheckpointWriter._write_manifest

    def after_another(writer: CheckpointWriter) -> None:
        """As if another program had begun and ended its save in the meantime."""
        monkeypatch.setattr(CheckpointWriter, "_write_manifest", manifest)
        write(2, "000000bb")
        write(1, "000000cc")
        manifest(writer)

    monkeypatch.setattr(CheckpointWriter, "_write_manifest", after_another)
    write(1, "000000aa")
    assert [(entry.step, entry.token) for entry in entries(tmp_path)] == [(2, "000000bb"), (1, "000000aa")]
    assert [MappedCheckpoint(entry.manifest).verified("w").tolist() for entry in entries(tmp_path)] == [
        [2] * 3,
        [1] * 3,
    ]
    assert sorted(path.name for path in step.iterdir()) == [
        "000000aa-0-of-1.safetensors", "manifest-3-000000aa.json", "notes"
    ]  # fmt: skip


def full(*arguments: Any, **options: Any) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("place", ["pathlib.Path.open", "os.fsync", "pathlib.Path.replace"])
def test_a_full_disk_is_told_and_the_one_before_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    v = gx.Variable([1.0, 2.0])
    checkpoint = gx.train.Checkpoint(tmp_path, v=v)
    checkpoint.save(1, wait=True)
    with monkeypatch.context() as patch:
        patch.setattr(place, full)
        checkpoint.save(2)
        with pytest.raises(
            ResourceExhaustedError,
            match=rf"the checkpoint of step 2 was not written: {tmp_path} has [0-9,]+ bytes left, and 16 are needed",
        ):
            checkpoint.wait()
    assert checkpoint.steps == [1]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["step-1"]
    assert checkpoint.restore() == 1


LIMITED = """
import resource, signal, sys
import numpy as np
from pathlib import Path
from graphc.compiler.base.errors import GraphcError
from graphc.training.train.storage import ProcessPart, ArrayBlock, CheckpointWriter
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
try:
    part = ProcessPart([ArrayBlock.whole("w", np.zeros(100_000, np.float32))], {})
    CheckpointWriter(Path(sys.argv[1]), 1, "00000001", 0, 1, 1, 10.0).write(part)
except GraphcError as error:
    print(type(error).__name__, error.message.splitlines()[0])
"""


@pytest.mark.multiprocess
@pytest.mark.usefixtures("warm_python")
def test_what_the_system_says_of_a_write_is_told(tmp_path: Path) -> None:
    command = [sys.executable, "-c", LIMITED, str(tmp_path)]
    found = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert found.stdout == f"UnknownError {tmp_path}/step-1: File too large\n", found.stderr
    assert list(tmp_path.iterdir()) == []


def together(writers: int, write: Callable[[int], None]) -> list[BaseException | None]:
    """Runs writers at once, each on a thread; returns what each raised."""
    errors: list[BaseException | None] = [None] * writers

    def run(process: int) -> None:
        try:
            write(process)
        except BaseException as error:
            errors[process] = error

    threads = [threading.Thread(target=run, args=(process,)) for process in range(writers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return errors


def rows(process: int) -> ArrayBlock:
    """Three rows of an array of twelve."""
    start, stop = (3 * process, 0), (3 * process + 3, 2)
    return ArrayBlock("w", (12, 2), start, stop, np.arange(24, dtype=np.int32).reshape(12, 2)[start[0] : stop[0]])


def test_four_processes_write_a_file_each_and_any_region_is_read(tmp_path: Path) -> None:
    def write(process: int) -> None:
        part = ProcessPart(
            [rows(process), ArrayBlock("b", (), (), (), np.array(1.5), process > 0)], {"data": {"dict": {}}}
        )
        CheckpointWriter(tmp_path, 7, "0a", process, 4, None, 60.0).write(part)

    assert together(4, write) == [None] * 4
    (entry,) = entries(tmp_path)
    assert (entry.number, entry.step, len(list(entry.manifest.parent.glob("*.safetensors")))) == (1, 7, 4)
    saved = MappedCheckpoint(entry.manifest)
    whole = np.arange(24).reshape(12, 2)
    assert saved.verified("w").tolist() == whole.tolist()
    assert saved.read("w", ((2, 7), (1, 2))).tolist() == whole[2:7, 1:].tolist()
    inside = saved.read("w", ((4, 6), (0, 2)))
    assert inside.tolist() == whole[4:6].tolist()
    assert isinstance(inside.base, np.ndarray)
    assert not inside.flags.writeable  # the file's own memory
    assert saved.read("b").item() == 1.5
    assert len(saved.states) == 4


def test_a_process_that_fails_is_named_by_the_others(tmp_path: Path) -> None:
    def write(process: int) -> None:
        array = np.array([None]) if process == 1 else np.zeros(3)
        CheckpointWriter(tmp_path, 7, "0a", process, 3, None, 60.0).write(
            ProcessPart([ArrayBlock.whole(f"w{process}", array)], {})
        )

    errors = together(3, write)
    assert errors[1] is not None
    for process in (0, 2):
        assert isinstance(errors[process], FailedPreconditionError)
        assert re.search("step 7 was not written, since process 1 failed: .", str(errors[process]))
    assert entries(tmp_path) == []


def test_a_process_that_does_not_come_is_named(tmp_path: Path) -> None:
    with pytest.raises(DeadlineExceededError, match=r"after 0\.01 seconds process 1, 2 has not written its part to "):
        CheckpointWriter(tmp_path, 7, "0a", 0, 3, None, 0.01).write(ProcessPart([rows(0)], {}))
    with pytest.raises(DeadlineExceededError, match="process 0 has not written its part"):
        CheckpointWriter(tmp_path, 7, "0b", 1, 2, None, 0.01).write(ProcessPart([rows(0)], {}))


class Simulated:
    """Processes that are threads of one."""

    votes: list[int]
    barrier: threading.Barrier

    def __init__(self, index: int, count: int) -> None:
        self.index, self.count = index, count

    def agree(self, what: str, vote: int) -> int:
        assert what == "the checkpoint of step 3"
        type(self).votes.append(vote)
        self.barrier.wait(60)
        return min(self.votes)


class Position:
    def __init__(self, position: Any) -> None:
        self.position = position

    def state(self) -> Any:
        return self.position

    def restore(self, state: Any) -> None:
        self.position = state


def test_each_process_keeps_its_own_states_and_equal_variables_are_kept_once(tmp_path: Path) -> None:
    def save(process: int, differing: float = 0.0) -> None:
        v = gx.Variable([1.0, 2.0 + process * differing])
        processes = Simulated(process, 2)
        gx.train.Checkpoint(tmp_path, processes=processes, v=v, data=Position(process)).save(3, wait=True)

    Simulated.votes, Simulated.barrier = [], threading.Barrier(2)
    assert together(2, save) == [None, None]
    v, positions = gx.Variable([0.0, 0.0]), [Position(9), Position(9)]
    for process, data in enumerate(positions):
        checkpoint = gx.train.Checkpoint(tmp_path, processes=Simulated(process, 2), v=v, data=data)
        checkpoint.restore()
    assert [data.position for data in positions] == [0, 1]
    assert v.numpy().tolist() == [1.0, 2.0]
    alone = gx.train.Checkpoint(tmp_path, v=v, data=positions[0])
    with pytest.raises(FailedPreconditionError, match="data had a state of its own in each of 2 processes"):
        alone.restore()
    assert alone.restore(only=["v", "global_generator"]) == 3
    for checkpoint, shared in ((alone, 7), (gx.train.Checkpoint(tmp_path, v=v, data=[Position(0)]), np.arange(3))):
        Simulated.votes = []

        def save_shared(process: int, checkpoint: Any = checkpoint, shared: Any = shared) -> None:
            data = Position(shared) if checkpoint is alone else [Position(shared)]
            gx.train.Checkpoint(tmp_path, processes=Simulated(process, 2), v=v, data=data).save(3, wait=True)

        assert together(2, save_shared) == [None, None]
        checkpoint.restore()  # the same in both, so one takes it over
    assert positions[0].position == 7
    assert checkpoint.parts["data"][0].position.tolist() == [0, 1, 2]
    Simulated.votes = []
    errors = together(2, lambda process: save(process, 1.0))
    assert all(isinstance(error, FailedPreconditionError) for error in errors)
    assert "v differs between processes 0 and 1, but a checkpoint keeps one value" in str(errors[0])
    assert alone.steps == [3]
