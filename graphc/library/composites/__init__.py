"""Values of several tensors that pass through functions as one: sparse, ragged, rows, arrays of tensors.

Each is a structure to the compiler: its tensors are arguments, results and what loops carry.
"""

from graphc.library.composites.ragged_tensor import RaggedTensor
from graphc.library.composites.sparse import IndexedSlices, SparseTensor
from graphc.library.composites.tensor_array import TensorArray

__all__ = ["IndexedSlices", "RaggedTensor", "SparseTensor", "TensorArray"]
