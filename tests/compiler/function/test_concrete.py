"""Concrete functions: what goes in, what comes out, and calls that are checked."""

from __future__ import annotations

from typing import Any

import pytest

import graphc as gx
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError


@gx.function(on_retrace="ignore")
def f(x: Any, y: Any = 2, *, flag: bool = False) -> Any:
    return {"a": x + y, "b": [x, flag], "s": gx.sum(x), "n": None}


def test_open_sizes_stay_open_in_what_depends_on_them() -> None:
    concrete = f.get_concrete_function(gx.TensorSpec((None, 2), "float32"), y=3)
    spec = gx.TensorSpec((None, 2), "float32", "x")
    assert concrete.structured_input_signature == ((spec, 3), {"flag": False})
    outputs = concrete.structured_outputs
    assert (outputs["a"].shape, outputs["b"][1], outputs["s"].shape, outputs["n"]) == ((None, 2), False, (), None)
    assert [out.shape for out in concrete.outputs] == [(None, 2), (None, 2), ()]
    assert concrete.inputs == [spec]
    assert repr(concrete).startswith("<concrete function f(float32[?,2], 3, flag=False) -> {'a': float32[?,2], 'b': [")
    found = concrete(gx.ones((5, 2)))
    assert (found["a"].tolist()[0], found["s"].item()) == ([4.0, 4.0], 10.0)
    assert concrete(gx.ones((1, 2)), y=3)["s"].item() == 2.0


def test_examples_structures_and_input_signatures() -> None:
    concrete = f.get_concrete_function(gx.ones(3), gx.SparseTensor([[0]], [1.0], (3,)).to_dense())
    assert [spec.shape for spec in concrete.inputs] == [(3,), (3,)]
    assert len(concrete.graph.inputs) == 2

    @gx.function(input_signature=[{"k": gx.TensorSpec((2,), "int32")}])
    def g(tree: Any) -> Any:
        return tree["k"] * 2

    concrete = g.get_concrete_function()
    assert concrete({"k": gx.asarray([1, 2])}).tolist() == [2, 4]
    assert g.experimental_get_tracing_count() == 1


def test_values_of_several_tensors() -> None:
    sparse = gx.SparseTensor([[0, 1]], [1.0], (2, 3))
    concrete = gx.function(lambda s: s.map_values(gx.negative)).get_concrete_function(sparse)
    assert repr(concrete).endswith("-> SparseTensor(indices=int32[1,2], values=float32[1], sizes=(2, 3))>")
    assert concrete(sparse).values.tolist() == [-1.0]


def test_any_number_of_axes() -> None:
    concrete = f.get_concrete_function(gx.TensorSpec(None, "float32"))
    assert [spec.shape for spec in concrete.outputs] == [None, None, ()]
    assert concrete(gx.ones((1, 2, 3)))["s"].item() == 6.0


def test_methods_keep_their_instance() -> None:
    class Model:
        def __init__(self) -> None:
            self.v = gx.Variable(2.0)

        @gx.function
        def scale(self, x: Any) -> Any:
            return x * self.v

    model = Model()
    concrete = model.scale.get_concrete_function(gx.TensorSpec((2,), "float32"))
    assert [variable.ref() for variable in concrete.variables] == [model.v.ref()]
    assert concrete.trainable_variables == concrete.variables
    model.v.assign(5.0)
    assert concrete([1.0, 2.0]).tolist() == [5.0, 10.0]


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (
            lambda c: c(gx.ones((5, 3))),
            InvalidArgumentError,
            r"the argument 'x' is float32\[5, 3\], expected float32\[\?,2\]",
        ),
        (
            lambda c: c(gx.ones((5, 2)), 4),
            InvalidArgumentError,
            "the argument 'y' is 4, but the function was specialized for 3",
        ),
        (lambda c: c(), InvalidArgumentError, r"the argument 'x' is missing; expected float32\[\?,2\]"),
        (lambda c: c(gx.ones((5, 2), "int32")), InvalidArgumentError, r"the argument 'x' is int32\[5, 2\], expected"),
        (lambda c: c(gx.ones((5, 2)), z=1), InvalidTypeError, "unexpected keyword argument 'z'"),
        (lambda c: f.get_concrete_function(), InvalidTypeError, "missing a required argument: 'x'"),
        (
            lambda c: f.get_concrete_function(gx.TensorSpec((), str)),
            InvalidTypeError,
            "pass the tensor of strings itself",
        ),
    ],
)
def test_what_does_not_fit_is_refused(call: Any, kind: type[Exception], message: str) -> None:
    concrete = f.get_concrete_function(gx.TensorSpec((None, 2), "float32"), y=3)
    with pytest.raises(kind, match=f"(?s){message}.*test_concrete"):
        call(concrete)
