"""Functions of strings: ``gx.strings``, with TensorFlow's names.

They run on the host, both in eager code and while a function is traced: their inputs are known then.
"""

# ruff: noqa: F403  each module lists its functions

import graphc.compiler.ops.strings.lines as lines
import graphc.compiler.ops.strings.numbers as numbers
import graphc.compiler.ops.strings.raw as raw
import graphc.compiler.ops.strings.texts as texts
from graphc.compiler.ops.strings.lines import *
from graphc.compiler.ops.strings.numbers import *
from graphc.compiler.ops.strings.raw import *
from graphc.compiler.ops.strings.rules import RULES as RULES
from graphc.compiler.ops.strings.texts import *

__all__: list[str] = []
__all__ += lines.__all__
__all__ += numbers.__all__
__all__ += texts.__all__
__all__ += raw.__all__
