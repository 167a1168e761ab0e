"""What parts of a program take: times of nodes on devices, measured or estimated, and of what devices exchange."""

from __future__ import annotations

import re
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import jax

from graphc.compiler.base.errors import NotFoundError
from graphc.compiler.ir import Graph

# The run time of each node of a graph, from JAX's profiler.

_INSTRUCTION = re.compile(r'%([\w.-]+) = [^\n]*?metadata=\{[^}\n]*?op_name="([^"]*)"')
_AROUND = re.compile(r"%([\w.-]+) = (?:\([^\n]*?\)|\S+) (?:while|conditional|call)\(")


def node_times(folder: str | Path, executable: Any, graph: Graph) -> dict[str, float]:
    """Returns the seconds of nodes in one run, by path, from a folder of ``gx.profile(jax_profiler=folder)``."""
    # XLA computes several nodes in one kernel; the time of a kernel is that of the node whose result it gives. Nodes
    # around others have the sum. Empty if the program did not run meanwhile.
    files = sorted(Path(folder).rglob("*.xplane.pb"))
    if not files:
        raise NotFoundError(
            f"{folder}: there is no profile of JAX's (*.xplane.pb); write one with gx.profile(jax_profiler=folder)"
        )
    text = executable.as_text() or ""
    module = (re.match(r"HloModule ([^\s,]+)", text) or ["", ""])[1]
    names = dict(_INSTRUCTION.findall(text))
    around = set(_AROUND.findall(text))
    spent: defaultdict[str, float] = defaultdict(float)
    runs: set[Any] = set()
    for name, launch, seconds in _ops(files, module):
        runs.add(launch)
        if name not in around:
            for path in _paths(graph, names.get(name, "").split("/")[1:]):
                spent[path] += seconds
    return {path: seconds / max(len(runs), 1) for path, seconds in spent.items()}


def _ops(files: Sequence[Path], module: str) -> list[tuple[str, Any, float]]:
    """Returns the instruction, launch and seconds of each op that a program has run."""
    records: list[tuple[str, Any, float]] = []
    # The reader's types warn where they are made, and abort the process if that warning is an error.
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
        profiler: Any = jax.profiler
        for file in files:
            for plane in profiler.ProfileData.from_file(str(file)).planes:
                for line in plane.lines:
                    for event in line.events:
                        facts = dict(event.stats)
                        if facts.get("hlo_module") == module and "hlo_op" in facts:
                            records.append((str(facts["hlo_op"]), facts.get("run_id"), event.duration_ns * 1e-9))
    return records


def _paths(graph: Graph, parts: Sequence[str]) -> list[str]:
    """Returns the path of the node that an instruction is of, and of those around it."""
    paths: list[str] = []
    inside: list[tuple[str, Graph]] = [("", graph)]  # where the next node may be, with what stands before its path
    for part in parts:
        branch = re.fullmatch(r"branch_(\d+)_fun", part)
        if branch and int(branch[1]) < len(inside):
            inside = [inside[int(branch[1])]]
        for scope, region in inside:
            node = next((node for node in region.nodes if node.name == part), None)
            if node is not None:
                paths.append(node.path(scope))
                inside = [(f"{node.path(scope, index)}/", body) for index, body in enumerate(node.regions)]
                if node.op.name == "cond":  # XLA's first branch is that of False
                    inside.reverse()
                break
    return paths


# The time that devices compute, communicate and wait for each other, from JAX's profiler.

# The collectives that XLA put into a program, read from its compiled text.

KINDS = "ragged-all-to-all|all-reduce|all-gather|reduce-scatter|all-to-all|collective-permute|collective-broadcast"
"""The names of collectives in XLA's programs, as a regular expression."""
# A collective that runs beside others is two instructions; the second has the type of the result.
_DEVICE_TIMES_INSTRUCTION = re.compile(rf"= (?P<type>\(.*?\)|\S+) (?P<kind>{KINDS})(?:-done)?\(")
_GROUPS = re.compile(
    r"source_target_pairs=|"
    r"replica_groups=(?P<all>\{\}|\{\{[\d,]*\}\}|\[1,|mesh\[(?P<mesh>[^\]]*)\] \{(?P<axes>[^}]*)\})?"
)
_ARRAY = re.compile(r"(?P<dtype>[a-z]+(?P<bits>\d*)\w*)\[(?P<shape>[\d,]*)\]")


@dataclass(frozen=True)
class CollectiveReport:
    """Collectives of one kind in a program."""

    kind: str
    count: int  # one in the body of a loop counts once
    arrays: int  # the total number that they process
    bytes: int  # the size of their results on each device


def collectives_of(executable: Any) -> tuple[CollectiveReport, ...]:
    """Lists the collectives of a compiled program."""
    counts: Counter[str] = Counter()
    arrays: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    for match in _DEVICE_TIMES_INSTRUCTION.finditer(executable.as_text() or ""):
        byte_counts = [_bytes(array) for array in _ARRAY.finditer(match["type"])]
        counts[match["kind"]] += 1
        arrays[match["kind"]] += len(byte_counts)
        sizes[match["kind"]] += sum(byte_counts)
    return tuple(CollectiveReport(kind, count, arrays[kind], sizes[kind]) for kind, count in sorted(counts.items()))


def have_groups(executable: Any) -> bool:
    """Returns True if some collective of a compiled program joins only some of the devices."""
    return any(map(_is_grouped, _GROUPS.finditer(executable.as_text() or "")))


def _is_grouped(match: re.Match[str]) -> bool:
    if match["mesh"] is None:
        return match["all"] is None
    axes = {name for name, size in re.findall(r"'([^']+)'=(\d+)", match["mesh"]) if size != "1"}
    return bool(axes - set(re.findall(r"'([^']+)'(?!:)", match["axes"])))  # after a colon stands a part of an axis


def instructions_of(executable: Any, kinds: str) -> frozenset[str]:
    """Returns the names of a compiled program's instructions of some kinds, which a regular expression gives."""
    matches = re.finditer(rf"([\w.-]+) = (?:\(.*?\)|\S+) (?:{kinds})(?:-start|-done)?\(", executable.as_text() or "")
    return frozenset(instruction[1] for instruction in matches)


def _bytes(array: re.Match[str]) -> int:
    """Returns the bytes of an array by its type, such as ``bf16[64,8]``; ``pred`` has one each."""
    count = 1
    for size in filter(None, array["shape"].split(",")):
        count *= int(size)
    return count * int(array["bits"] or 8) // 8


_AROUND_OTHERS = "while|conditional|call"
"""Instructions that last as long as those inside them, which are recorded too."""

_Span = tuple[float, float]


@dataclass(frozen=True)
class DeviceTime:
    """A device's activity in seconds; no time is counted twice."""

    compute: float
    communication: float  # nothing but collectives ran, and all devices of this process had entered them
    waiting: float  # nothing but collectives ran, which another device of this process had not entered yet


def device_times(run: Callable[[], object], executable: Any) -> dict[int, DeviceTime]:
    """Returns each device's times while a program runs, by its id, else its place; nothing if there is no profile."""
    options = jax.profiler.ProfileOptions()
    options.python_tracer_level = 0
    with TemporaryDirectory(prefix="graphc-") as folder:
        try:
            jax.profiler.start_trace(folder, profiler_options=options)
        except RuntimeError:  # only one at a time
            run()
            return {}
        try:
            run()
        finally:
            jax.profiler.stop_trace()
        # The reader's types warn where they are made, and abort the process if that warning is an error.
        with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
            profiler: Any = jax.profiler
            profiles = [profiler.ProfileData.from_file(str(path)) for path in Path(folder).rglob("*.xplane.pb")]
            planes = [plane for profile in profiles for plane in profile.planes]
            return times_of(planes, instructions_of(executable, KINDS), instructions_of(executable, _AROUND_OTHERS))


def times_of(planes: Iterable[Any], exchanging: Set[str], around: Set[str]) -> dict[int, DeviceTime]:
    """Adds up the ops in a profile."""
    compute: defaultdict[int, list[_Span]] = defaultdict(list)
    collectives: defaultdict[tuple[Any, str], defaultdict[int, list[_Span]]]
    collectives = defaultdict(lambda: defaultdict(list))
    for device, op, launch, span in _device_times_ops(planes):
        if op in exchanging:
            collectives[launch, op][device].append(span)
        elif op not in around:
            compute[device].append(span)
    communication: defaultdict[int, list[_Span]] = defaultdict(list)
    waiting: defaultdict[int, list[_Span]] = defaultdict(list)
    for by_device in collectives.values():
        # A collective in a loop comes several times.
        for together in zip(*map(sorted, by_device.values()), strict=False):
            last = max(start for start, _ in together)
            for device, (start, end) in zip(by_device, together, strict=True):
                waiting[device].append((start, min(last, end)))
                communication[device].append((min(last, end), end))
    times: dict[int, DeviceTime] = {}
    for device in compute.keys() | communication.keys():
        computing = _length(compute[device])
        busy = _length([*compute[device], *communication[device]])
        all_in_all = _length([*compute[device], *communication[device], *waiting[device]])
        times[device] = DeviceTime(computing, busy - computing, all_in_all - busy)
    return times


def _device_times_ops(planes: Iterable[Any]) -> Iterator[tuple[int, str, Any, _Span]]:
    """Yields the device, name, launch, start and end in seconds of each op of XLA's."""
    for plane in planes:
        match = re.match(r"/device:\w+:(\d+)", plane.name)
        for line in plane.lines:
            for event in line.events:
                facts = dict(event.stats)
                device = facts.get("device_ordinal", None if match is None else int(match[1]))
                if "hlo_op" in facts and device is not None:
                    start = event.start_ns * 1e-9
                    yield device, str(facts["hlo_op"]), facts.get("run_id"), (start, start + event.duration_ns * 1e-9)


def _length(spans: Sequence[_Span]) -> float:
    """Returns how long at least one of them lasts."""
    total, until = 0.0, float("-inf")
    for start, end in sorted(spans):
        total += max(0.0, end - max(start, until))
        until = max(until, end)
    return total
