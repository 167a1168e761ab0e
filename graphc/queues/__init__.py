"""Layer 6: queues, the coordinator of the threads that fill them, and readers of files."""

from graphc.queues.coordinator import Coordinator, LooperThread

__all__ = ["Coordinator", "LooperThread"]
