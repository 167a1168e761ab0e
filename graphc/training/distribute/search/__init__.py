"""Search for good configurations: one network per device, with unpromising ones stopped early."""

from graphc.training.distribute.search.halving import Halving
from graphc.training.distribute.search.result import SearchResult, Trial
from graphc.training.distribute.search.space import Distribution, integers, log_uniform, uniform
from graphc.training.distribute.search.trials import search

__all__ = ["Distribution", "Halving", "SearchResult", "Trial", "integers", "log_uniform", "search", "uniform"]
