"""Options of Sessions and of single runs, with TensorFlow's names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from graphc.compiler.runtime import Timeline


@dataclass
class GPUOptions:
    """TensorFlow's GPU options, which have no effect: in graphc they are settings of the process.

    Attributes:
      per_process_gpu_memory_fraction: use ``gx.config.gpu_memory_fraction``.
      allow_growth: use ``gx.config.gpu_memory_growth``.
      visible_device_list: use ``gx.config.visible_devices``.
    """

    per_process_gpu_memory_fraction: float = 0.0
    allow_growth: bool = False
    visible_device_list: str = ""


@dataclass
class ConfigProto:
    """The options of a Session.

    Attributes:
      device_count: ignored: JAX decides the number of devices.
      allow_soft_placement: whether a pin to a missing device, or to one without an implementation of the op, falls back
        to another device.
      log_device_placement: whether to log where each node runs.
      gpu_options: ignored; see :class:`GPUOptions`.
      intra_op_parallelism_threads: ignored: XLA or ``gx.config.intra_op_threads`` decides.
      inter_op_parallelism_threads: ignored; ``gx.config.inter_op_threads`` limits the number of concurrent host steps.
      use_per_session_threads: ignored: all Sessions share the threads of the process.
      operation_timeout_in_ms: the time limit of each run in milliseconds; 0 for no limit.
      device_filters: further tasks that a Session at a cluster uses, such as ``["/job:ps",
        "/job:worker/task:1"]``; all if empty.
      isolate_session_state: whether other Sessions cannot see its Variables and queues, which is always so without a
        target.
    """

    device_count: Mapping[str, int] = field(default_factory=dict[str, int])
    allow_soft_placement: bool = False
    log_device_placement: bool = False
    gpu_options: GPUOptions = field(default_factory=GPUOptions)
    intra_op_parallelism_threads: int = 0
    inter_op_parallelism_threads: int = 0
    use_per_session_threads: bool = False
    operation_timeout_in_ms: int = 0
    device_filters: Sequence[str] = ()
    isolate_session_state: bool = False


@dataclass
class RunOptions:
    """The options of one run.

    Attributes:
      timeout_in_ms: the time limit of the run in milliseconds; 0 for no limit.
      trace_level: :attr:`FULL_TRACE` to fill a :class:`RunMetadata`.
    """

    NO_TRACE = 0
    SOFTWARE_TRACE = 1
    HARDWARE_TRACE = 2
    FULL_TRACE = 3

    trace_level: int = 0
    timeout_in_ms: int = 0
    inter_op_thread_pool: int = 0
    output_partition_graphs: bool = False
    report_tensor_allocations_upon_oom: bool = False


@dataclass
class RunMetadata:
    """Metadata that a run collects about itself.

    Attributes:
      timeline: the times of all steps, in the form of :func:`graphc.profile`; None before a traced run.
      compiled: for each program that this run compiled, the reason.
    """

    timeline: Timeline | None = None
    compiled: list[str] = field(default_factory=list[str])

    @property
    def step_stats(self) -> Any:
        """The timeline."""
        return self.timeline
