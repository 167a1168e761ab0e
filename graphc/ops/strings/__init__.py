"""Functions of strings: ``gx.strings``, with TensorFlow's names.

They run on the host, both in eager code and while a function is traced: their inputs are known then.
"""

# ruff: noqa: F403  each module lists its functions

import graphc.ops.strings.lines as lines
import graphc.ops.strings.numbers as numbers
import graphc.ops.strings.patterns as patterns
import graphc.ops.strings.raw as raw
import graphc.ops.strings.texts as texts
import graphc.ops.strings.vocabularies as vocabularies
from graphc.ops.strings.lines import *
from graphc.ops.strings.numbers import *
from graphc.ops.strings.patterns import *
from graphc.ops.strings.raw import *
from graphc.ops.strings.rules import RULES as RULES
from graphc.ops.strings.texts import *
from graphc.ops.strings.vocabularies import *

__all__: list[str] = []
__all__ += lines.__all__
__all__ += numbers.__all__
__all__ += patterns.__all__
__all__ += raw.__all__
__all__ += texts.__all__
__all__ += vocabularies.__all__
