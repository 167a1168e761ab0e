"""graphc: a graph compiler for Python on JAX. ``import graphc as gx``.

What ``gx.function`` does not need is imported when it is first used.
"""

# ruff: noqa: E402, F403, I001  the devices are set up before anything can make JAX choose them; the array functions
# come first, so that no name of theirs hides one of ours.

from typing import TYPE_CHECKING

from graphc.compiler.devices import simulate_cpu_devices

simulate_cpu_devices()

import graphc.compiler.ops.functions as functions
from graphc.compiler.base import (
    ABOVE,
    VERSION,
    CancellationToken,
    config,
    errors,
    hint_of,
    imported_names,
    lazy_names,
    names_of,
    public_modules,
)
from graphc.compiler.core import (
    FUNCTIONS,
    STRING_RULES,
    StringTensor,
    Tensor,
    Variable,
    colocate_with,
    deadline,
    device,
    name_scope,
    string,
    wait_all,
)
from graphc.compiler.devices import devices, list_devices, set_visible_devices
from graphc.compiler.function import (
    TensorSpec,
    from_graph,
    function,
    run_functions_eagerly,
    to_jax,
    vectorized_map,
    vmap,
)
from graphc.compiler.ir import OPS
from graphc.compiler.ops import ROWS, NamespaceInfo

if TYPE_CHECKING:
    from graphc.compiler.ops.functions import *
    from graphc.compiler.ops import (
        Operation,
        call_jax,
        control_dependencies,
        fft,
        group,
        linalg,
        nn,
        no_op,
        random,
        special,
        strings,
        tuple,
    )
    from graphc import saving, serve
    from graphc.compat import testing
    from graphc.compiler import ir
    from graphc.graphs import queues
    from graphc.library import arrays, checks, flow, lax, nest
    from graphc.tools import debug, placement
    from graphc.training import data, distribute, layers, losses, metrics, optim, train
    from graphc.compiler.autograph import (
        check_numerics,
        cond,
        do_not_convert,
        fori_loop,
        log_message,
        loop_options,
        print,
        pyfunc,
        scan,
        switch,
        to_source,
        while_loop,
    )
    from graphc.cluster import ClusterSpec, Server
    from graphc.library.composites import IndexedSlices, RaggedTensor, SparseTensor, TensorArray
    from graphc.compiler.core import Dimension, TensorShape
    from graphc.training.distribute import (
        all_gather,
        all_to_all,
        axis_index,
        axis_size,
        pmap,
        pmax,
        pmean,
        pmin,
        ppermute,
        psum,
    )
    from graphc.compiler.gradients import (
        ForwardAccumulator,
        GradientTape,
        custom_gradient,
        grad,
        hessian,
        jacfwd,
        jacobian,
        jacrev,
        jvp,
        linearize,
        value_and_grad,
    )
    from graphc.training.layers import remat
    from graphc.tools.inspect import compare, explain
    from graphc.compiler.ir import DeviceSpec, parse_graph
    from graphc.graphs.queues import Coordinator
    from graphc.compiler.runtime import Future, RetryPolicy, profile, submit
    from graphc.saving import load, save
    from graphc.graphs.session import (
        ConfigProto,
        FileWriter,
        Graph,
        GraphKeys,
        InteractiveSession,
        QueueRunner,
        RunMetadata,
        RunOptions,
        Saver,
        Session,
        add_queue_runner,
        checkpoints,
        default_graph,
        get_variable,
        global_variables_initializer,
        local_variables_initializer,
        placeholder,
        placeholder_with_default,
        producers,
        py_func,
        reset_default_graph,
        start_queue_runners,
        summaries,
        trainable_variables,
        variable_scope,
    )

__array_namespace_info__ = NamespaceInfo
__version__ = VERSION
__array_api_version__ = "2024.12"

__all__: list[str] = [
    "CancellationToken", "ClusterSpec", "ConfigProto", "Coordinator", "DeviceSpec", "Dimension", "FileWriter",
    "ForwardAccumulator", "Future", "GradientTape", "Graph", "GraphKeys", "IndexedSlices", "InteractiveSession",
    "Operation", "QueueRunner", "RaggedTensor", "RetryPolicy", "RunMetadata", "RunOptions", "Saver", "Server",
    "Session", "SparseTensor", "StringTensor", "Tensor", "TensorArray", "TensorShape", "TensorSpec", "Variable",
    "add_queue_runner", "all_gather", "all_to_all", "arrays", "axis_index", "axis_size", "call_jax", "check_numerics",
    "checkpoints", "checks", "colocate_with", "compare", "cond", "config", "control_dependencies", "custom_gradient",
    "data", "deadline", "debug", "default_graph", "device", "devices", "distribute", "do_not_convert", "errors",
    "explain", "fft", "flow", "fori_loop", "from_graph", "function", "get_variable", "global_variables_initializer",
    "grad", "group", "hessian", "ir", "jacfwd", "jacobian", "jacrev", "jvp", "lax", "layers", "linalg", "linearize",
    "list_devices", "load", "local_variables_initializer", "log_message", "loop_options", "losses", "metrics",
    "name_scope", "nest", "nn", "no_op", "optim", "parse_graph", "placeholder", "placeholder_with_default", "placement",
    "pmap", "pmax", "pmean", "pmin", "ppermute", "print", "producers", "profile", "psum", "py_func", "pyfunc", "queues",
    "random", "remat", "reset_default_graph", "run_functions_eagerly", "save", "saving", "scan", "serve",
    "set_visible_devices", "special", "start_queue_runners", "string", "strings", "submit", "summaries", "switch",
    "testing", "to_jax", "to_source", "train", "trainable_variables", "tuple", "value_and_grad", "variable_scope",
    "vectorized_map", "vmap", "wait_all", "while_loop",
]  # fmt: skip
__all__ += functions.__all__


# Where the names are that are imported when they are first used; for type checkers they are imported above.
_HOMES = {
    "graphc.library.arrays": "arrays",
    "graphc.library.checks": "checks",
    "graphc.cluster": "ClusterSpec Server",
    "graphc.training.data": "data",
    "graphc.tools.debug": "debug",
    "graphc.library.flow": "flow",
    "graphc.library.nest": "nest",
    "graphc.library.composites": "IndexedSlices RaggedTensor SparseTensor TensorArray",
    "graphc.compiler.core": "Dimension TensorShape",
    "graphc.compiler.autograph": "check_numerics cond do_not_convert fori_loop log_message loop_options print "
    "pyfunc scan switch to_source while_loop",
    "graphc.training.distribute": "all_gather all_to_all axis_index axis_size distribute pmap pmax pmean pmin "
    "ppermute psum",
    "graphc.compiler.gradients": "ForwardAccumulator GradientTape custom_gradient grad hessian jacfwd "
    "jacobian jacrev jvp linearize value_and_grad",
    "graphc.tools.inspect": "compare explain",
    "graphc.compiler.ir": "DeviceSpec ir parse_graph",
    "graphc.library.lax": "lax",
    "graphc.training.layers": "layers remat",
    "graphc.training.losses": "losses",
    "graphc.training.metrics": "metrics",
    "graphc.compiler.ops": "Operation call_jax control_dependencies group no_op tuple",
    "graphc.compiler.ops.fft": "fft",
    "graphc.compiler.ops.linalg": "linalg",
    "graphc.compiler.ops.nn": "nn",
    "graphc.compiler.ops.random": "random",
    "graphc.compiler.ops.special": "special",
    "graphc.compiler.ops.strings": "strings",
    "graphc.training.optim": "optim",
    "graphc.tools.placement": "placement",
    "graphc.graphs.queues": "Coordinator queues",
    "graphc.saving": "load save saving",
    "graphc.serve": "serve",
    "graphc.compat.testing": "testing",
    "graphc.training.train": "train",
    "graphc.compiler.runtime": "Future RetryPolicy profile submit",
    "graphc.graphs.session": "ConfigProto FileWriter Graph GraphKeys InteractiveSession QueueRunner "
    "RunMetadata RunOptions Saver Session add_queue_runner default_graph "
    "get_variable global_variables_initializer local_variables_initializer "
    "placeholder placeholder_with_default py_func reset_default_graph "
    "start_queue_runners trainable_variables variable_scope",
    "graphc.graphs.session.checkpoints": "checkpoints",
    "graphc.graphs.session.producers": "producers",
    "graphc.graphs.session.summaries": "summaries",
}
_imported = imported_names(_HOMES)
_HOMES_OF_MODULES = {home.rpartition(".")[2]: home for home in (*_HOMES, errors.__spec__.name, "graphc.graphs.session")}
public_modules({f"graphc.{name}": home for name, home in _HOMES_OF_MODULES.items() if home != f"graphc.{name}"})

_HOMES_ABOVE = {
    "graphc.compiler.autograph": "call call_late examine_op follow_methods",
    "graphc.compiler.autograph.operators": "operators",
    "graphc.compiler.lowering": "region_function",
    "graphc.compiler.runtime": "region_kernel",
    "graphc.cluster.master": "session_targets",
    "graphc.cluster.parameters": "ParameterServer",
    "graphc.cluster.parameters.staleness": "staleness",
    "graphc.serve": "Replicas",
    "graphc.tools.drawing": "draw_graph notebook_graph notebook_timeline",
    "graphc.tools.inspect": "compare explain",
}
for _name, _make in imported_names(_HOMES_ABOVE).items():
    ABOVE.add_later(_name, _make)


def _import_ops() -> None:
    """Imports what adds ops, their functions and what they do with strings."""
    names = "custom_gradient debug fft lax layers linalg losses metrics nn optim queues random special strings"
    for name in names.split():
        _imported[name]()


# A graph's text, NumPy's protocols and operators of strings look there by name.
for _registry in (OPS, FUNCTIONS, STRING_RULES, ROWS):
    _registry.rest_from(_import_ops)


def _missing(name: str) -> AttributeError:
    """Returns what to say of a name that graphc does not have: what is meant, likely."""
    import difflib

    if (written := hint_of(name)) is not None:
        return AttributeError(f"graphc has no {name!r}: use {written}")
    from graphc.compiler.ops import fft, linalg, nn, random, special, strings
    from graphc.library import lax

    homes: dict[str, str] = {}
    for module in (lax, random, strings, special, fft, linalg, nn):  # of one name in several, the last is likeliest
        prefix = f"gx.{module.__name__.rpartition('.')[2]}"
        homes.update({public: f"{prefix}.{public}" for public in module.__all__})
    homes.update({public: f"gx.{public}" for public in __all__})
    if name in homes and name not in lax.__all__:  # of another namespace; TensorFlow has some names of JAX's
        return AttributeError(f"graphc has no {name!r}; did you mean {homes[name]}?")
    if name == "compat":
        return AttributeError("graphc.compat is imported by itself: import graphc.compat.v2 as tf, or graphc.compat.v1")
    from graphc.compat import use_instead

    if instead := use_instead(name):
        return AttributeError(f"graphc has no {name!r}, which is TensorFlow's name: {instead}")
    if name in homes:
        return AttributeError(f"graphc has no {name!r}; did you mean {homes[name]}?")
    near = [homes[public] for public in difflib.get_close_matches(name, homes, n=3, cutoff=0.7)]
    return AttributeError(f"graphc has no {name!r}" + (f"; did you mean {' or '.join(near)}?" if near else ""))


lazy_names(globals(), {**names_of([functions]), **_imported}, _missing)
