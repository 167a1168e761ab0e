"""Sessions that are initialized, monitored and recovered for a training, and call hooks."""

from graphc.graphs.session.monitored.creators import ChiefSessionCreator, Scaffold, WorkerSessionCreator, missing_values
from graphc.graphs.session.monitored.hooks import (
    CheckpointSaverHook,
    LoggingTensorHook,
    NanLossDuringTrainingError,
    NanTensorHook,
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
    StepCounterHook,
    StopAtStepHook,
    SummarySaverHook,
)
from graphc.graphs.session.monitored.session import MonitoredSession, MonitoredTrainingSession

__all__ = [
    "CheckpointSaverHook", "ChiefSessionCreator", "LoggingTensorHook", "MonitoredSession", "MonitoredTrainingSession",
    "NanLossDuringTrainingError", "NanTensorHook", "Scaffold", "SessionRunArgs", "SessionRunContext", "SessionRunHook",
    "SessionRunValues", "StepCounterHook", "StopAtStepHook", "SummarySaverHook", "WorkerSessionCreator",
    "missing_values",
]  # fmt: skip
