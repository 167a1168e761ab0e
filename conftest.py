"""What every test shares: the devices it sees, and the settings of hypothesis."""

from __future__ import annotations

import contextlib
import functools
import gc
import itertools
import os
import random
import shutil
import signal
import sys
from pathlib import Path

# JAX and graphc read these when they are first imported, and pytest imports this file before any test. Tests run on
# eight simulated CPU devices, also on a machine with a GPU, so that they mean the same everywhere; an empty
# JAX_PLATFORMS lets JAX take the GPU.
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("GRAPHC_CPU_DEVICES", "8")
# One process runs the tests of graphc.compat.v2 and all others: only those in tests/compat have TensorFlow's dtypes.
os.environ.setdefault("GRAPHC_ENABLE_X64", "0")
os.environ.setdefault("GRAPHC_TENSOR_TEXT", "numpy")
# Every graph that a test makes is checked between the passes.
os.environ.setdefault("GRAPHC_VERIFY", "1")
# XLA compiles in less than half the time without its optimizer and its newer code generator for the CPU, which make
# programs fast and mean nothing else. Unset either to try XLA as users have it: make test-slow does.
os.environ.setdefault("JAX_DISABLE_MOST_OPTIMIZATIONS", "1")
os.environ.setdefault(
    "XLA_FLAGS",
    "--xla_backend_extra_options=xla_cpu_disable_new_fusion_emitters --xla_cpu_parallel_codegen_split_count=1",
)
# JAX leaves its own frames out of tracebacks. Looking for them took half the time of the tests of what is refused.
os.environ.setdefault("JAX_TRACEBACK_FILTERING", "off")
# What was compiled once is not compiled again by another worker, by a program that a test starts, or in a later run,
# until make clean. JAX names an entry by the program, its own version and XLA's flags.
if "JAX_COMPILATION_CACHE_DIR" not in os.environ:
    compiled = Path(__file__).parent / ".pytest_cache" / "compiled"
    if compiled.exists() and sum(entry.stat().st_size for entry in os.scandir(compiled)) > 500e6:  # of five runs
        shutil.rmtree(compiled)
    os.environ["JAX_COMPILATION_CACHE_DIR"] = str(compiled)
    os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
    os.environ["JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES"] = "-1"
# Ray reads these when it is imported, by whichever test is first: it listens on 127.0.0.1 and asks for a token.
os.environ.setdefault("RAY_AUTH_MODE", "token")
os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
os.environ.setdefault("RAY_TQDM_PATCH_PRINT", "0")

# Which of the tests that are drawn run, and which programs of the front end are compiled; one draw for all workers.
os.environ.setdefault("GRAPHC_TESTS_SEED", str(random.randrange(10**6)))

from collections.abc import Generator, Iterator

import pytest
from hypothesis import HealthCheck, settings

from tests.draws import SEED, examples, is_drawn

pytest_plugins = ["tests.finds"]

# Python keeps what it compiled of graphc and of the tests, also where it is told not to. A program that a test starts
# spends up to a second of two and a half on that otherwise, and a worker ten seconds on the tests' assertions.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# A shell script lets what it runs in the background ignore Ctrl-C, and tests send it to themselves and to programs.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The first call of an op compiles it, which makes one example slow and says nothing about the code under test.
settings.register_profile(
    "graphc", max_examples=examples(100), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("graphc")


# Python collects after each 700 new objects, where a trace alone makes thousands: a twentieth of all time. What a test
# holds by weak references it collects by itself.
gc.set_threshold(50_000, 20, 100)
# What tests leave behind, above all in JAX's caches, grows to millions of objects.
_TESTS_BETWEEN_FREEZES = 50
_tests_run = itertools.count(1)
# JAX keeps what it lowered programs to: 150 MB for each thousand.
_PROGRAMS_BETWEEN_CLEARANCES = 5000
_programs_lowered = 0


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Looks for examples only in files whose text has one, and in packages, whose functions may be made elsewhere.

    Looking took more than half of the time to collect the tests, in each worker; three files in four have none.
    """
    found = yield
    if not found or (file_path.is_relative_to(_PACKAGE) and _may_have_examples(file_path)):
        return found
    return [collector for collector in found if type(collector).__name__ != "DoctestModule"]


_PACKAGE = Path(__file__).parent / "graphc"


def _may_have_examples(path: Path) -> bool:
    return path.name == "__init__.py" or b">>>" in path.read_bytes()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out tests of which a run draws a part, but for those in files that are asked for by name."""
    named = {Path(argument.partition("::")[0]).absolute() for argument in config.args if ".py" in argument}
    left = {item for item in items if not _is_drawn(item) and item.path not in named}
    if left:
        config.hook.pytest_deselected(items=list(left))
        items[:] = [item for item in items if item not in left]


def _is_drawn(item: pytest.Item) -> bool:
    mark = item.get_closest_marker("drawn")
    return mark is None or is_drawn(item.nodeid, *mark.args)


def pytest_collection_finish() -> None:
    import jax

    jax.monitoring.register_event_duration_secs_listener(_count_program)
    _share_the_context_of_mlir()
    _freeze()


def _share_the_context_of_mlir() -> None:
    """Lowers all programs in one context of MLIR, where JAX makes one for each.

    A context loads some thirty dialects. That takes two thirds of the time to lower a small program and a megabyte,
    which JAX keeps: one row of six kernels took 93 milliseconds that way, and 38 in one context. JAX has no public way
    to ask for this; where it no longer has the private one, tests are slower and no different.
    """
    try:
        from jax._src.interpreters import mlir
    except ImportError:
        return
    if hasattr(mlir, "make_ir_context"):
        mlir.make_ir_context = functools.cache(mlir.make_ir_context)


def _count_program(event: str, duration: float, **details: str | int) -> None:
    global _programs_lowered
    _programs_lowered += event == "/jax/core/compile/jaxpr_to_mlir_module_duration"


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown() -> None:
    global _programs_lowered
    if _programs_lowered >= _PROGRAMS_BETWEEN_CLEARANCES:
        import jax

        jax.clear_caches()
        _programs_lowered = 0
    if next(_tests_run) % _TESTS_BETWEEN_FREEZES == 0:
        _freeze()


def _freeze() -> None:
    """Hides all objects from the collector: what is there now stays.

    Some traces and benchmarks need a collection, which looks at all objects. A benchmark of seven took twenty seconds
    towards the end of a run, and one and a half alone. A collection that sees only what the last fifty tests have made
    takes a thirtieth of a second.
    """
    gc.collect()
    gc.freeze()


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("gpu") is not None and not _sees_gpu():
        pytest.skip("JAX sees no GPU here; where there is one, run: make test-gpu")


FRONT_END = (
    "tests/compiler/autograph/",
    "tests/conformance/",
    *(
        f"tests/compiler/function/test_{part}.py"
        for part in ("arguments", "guards", "input_signature", "item_reads", "retrace")
    ),
    *(f"tests/compiler/function/test_{part}.py" for part in ("side_effects", "staleness")),
)
"""The folders and files of tests that are about what a trace means, not about what XLA makes of it."""


@pytest.fixture(autouse=True)
def _without_xla(request: pytest.FixtureRequest) -> Iterator[None]:
    """Runs the programs of the front end's tests step by step, but for a tenth and those that are marked."""
    from tests.stepwise import stepwise

    test = request.node
    compiled = not test.nodeid.startswith(FRONT_END) or test.get_closest_marker("xla") or is_drawn(test.nodeid)
    with contextlib.nullcontext() if compiled else stepwise():
        yield


@pytest.fixture(autouse=True)
def _leaves_its_process_unchanged() -> Iterator[None]:  # the first of these by name, so the last to end
    from tests.process_state import unchanged_process

    with unchanged_process():
        yield


@pytest.fixture
def warm_python() -> Iterator[None]:
    """Lets the programs that a test starts find JAX and graphc imported."""
    from tests.warm import warm_processes

    with warm_processes():
        yield


@pytest.fixture(autouse=True)
def _no_array_is_spread() -> Iterator[None]:
    """Opens the short way of calls again, which a test that lays arrays out over several devices has closed."""
    yield
    if "graphc" in sys.modules:
        from graphc.compiler.core import forget_spread

        forget_spread()


def pytest_report_header() -> str:
    return f"{SEED}={os.environ[SEED]} draws which rows are tested and which tests of the front end XLA compiles"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if terminalreporter.stats.get("failed"):
        terminalreporter.write_line(pytest_report_header())


def _sees_gpu() -> bool:
    import jax

    return any(device.platform == "gpu" for device in jax.devices())
