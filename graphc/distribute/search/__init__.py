"""Search for good configurations: one network per device, with unpromising ones stopped early."""

from graphc.distribute.search.halving import Halving
from graphc.distribute.search.result import SearchResult, Trial
from graphc.distribute.search.space import Distribution, integers, log_uniform, uniform
from graphc.distribute.search.trials import search

__all__ = ["Distribution", "Halving", "SearchResult", "Trial", "integers", "log_uniform", "search", "uniform"]
