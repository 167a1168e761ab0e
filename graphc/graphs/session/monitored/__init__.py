"""Sessions that are initialized, monitored and recovered for a training: with hooks, or by a supervisor."""

from graphc.graphs.session.monitored.creators import ChiefSessionCreator, SessionCreator, WorkerSessionCreator
from graphc.graphs.session.monitored.hook import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues
from graphc.graphs.session.monitored.manager import SessionManager, missing_values
from graphc.graphs.session.monitored.saving_hooks import CheckpointSaverHook, CheckpointSaverListener, SummarySaverHook
from graphc.graphs.session.monitored.scaffold import Scaffold
from graphc.graphs.session.monitored.session import MonitoredSession, SingularMonitoredSession, StepContext
from graphc.graphs.session.monitored.step_hooks import GlobalStepWaiterHook, StepCounterHook, StopAtStepHook
from graphc.graphs.session.monitored.supervisor import Supervisor
from graphc.graphs.session.monitored.timer import SecondOrStepTimer
from graphc.graphs.session.monitored.training import MonitoredTrainingSession
from graphc.graphs.session.monitored.value_hooks import (
    FeedFnHook,
    FinalOpsHook,
    LoggingTensorHook,
    NanLossDuringTrainingError,
    NanTensorHook,
)
from graphc.graphs.session.monitored.writers import FileWriterCache

__all__ = [
    "CheckpointSaverHook",
    "CheckpointSaverListener",
    "ChiefSessionCreator",
    "FeedFnHook",
    "FileWriterCache",
    "FinalOpsHook",
    "GlobalStepWaiterHook",
    "LoggingTensorHook",
    "MonitoredSession",
    "MonitoredTrainingSession",
    "NanLossDuringTrainingError",
    "NanTensorHook",
    "Scaffold",
    "SecondOrStepTimer",
    "SessionCreator",
    "SessionManager",
    "SessionRunArgs",
    "SessionRunContext",
    "SessionRunHook",
    "SessionRunValues",
    "SingularMonitoredSession",
    "StepContext",
    "StepCounterHook",
    "StopAtStepHook",
    "SummarySaverHook",
    "Supervisor",
    "WorkerSessionCreator",
    "missing_values",
]
