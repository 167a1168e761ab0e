"""Graphs built by hand, and the Sessions that run parts of them."""

from graphc.graphs.session import checkpoints, monitored, producers, summaries
from graphc.graphs.session.fetching import Fetches
from graphc.graphs.session.graphs import by_value, host_functions
from graphc.graphs.session.graphs.control_flow import (
    case,
    cond,
    constant,
    convert_to_tensor,
    group,
    no_op,
    tuple,
    while_loop,
    with_dependencies,
)
from graphc.graphs.session.graphs.graph import Graph, default_graph, graph_of, reset_default_graph, stacks
from graphc.graphs.session.graphs.host_functions import Assert, Print, print_op, py_func
from graphc.graphs.session.graphs.naming import GraphKeys
from graphc.graphs.session.graphs.placeholders import graph_dtype, graph_type, placeholder, placeholder_with_default
from graphc.graphs.session.graphs.tensor import GraphTensor, Operation, sizes_of
from graphc.graphs.session.graphs.trace import is_outside, is_random_state
from graphc.graphs.session.options import ConfigProto, GPUOptions, RunMetadata, RunOptions
from graphc.graphs.session.plans.local import SessionTarget, Single, Targets, local_plan, placing
from graphc.graphs.session.plans.planning import Clusters, Rules, clustered, runs_on_host
from graphc.graphs.session.plans.steps import SessionStep, reason_of
from graphc.graphs.session.runners import QueueRunner, add_queue_runner, start_queue_runners
from graphc.graphs.session.saver import Saver
from graphc.graphs.session.session import InteractiveSession, Session
from graphc.graphs.session.state import SessionState
from graphc.graphs.session.summaries import FileWriter, graph_message
from graphc.graphs.session.training import weighted
from graphc.graphs.session.training.global_steps import (
    ExponentialMovingAverage,
    assert_global_step,
    cosine_decay,
    create_global_step,
    exponential_decay,
    get_global_step,
    get_or_create_global_step,
    global_step,
    piecewise_constant,
    polynomial_decay,
)
from graphc.graphs.session.training.optimizer import Optimizer, gradients
from graphc.graphs.session.training.optimizers import (
    AdadeltaOptimizer,
    AdagradOptimizer,
    AdamOptimizer,
    FtrlOptimizer,
    GradientDescentOptimizer,
    MomentumOptimizer,
    RMSPropOptimizer,
)
from graphc.graphs.session.variables.assigning import (
    assign,
    assign_add,
    assign_sub,
    count_up_to,
    scatter_add,
    scatter_div,
    scatter_max,
    scatter_min,
    scatter_mul,
    scatter_nd_add,
    scatter_nd_sub,
    scatter_nd_update,
    scatter_sub,
    scatter_update,
)
from graphc.graphs.session.variables.initializers import (
    Initializer,
    all_variables,
    assert_variables_initialized,
    constant_initializer,
    global_variables,
    global_variables_initializer,
    glorot_normal_initializer,
    glorot_uniform_initializer,
    he_normal,
    he_uniform,
    initialize_all_variables,
    initialize_local_variables,
    initialize_variables,
    is_variable_initialized,
    lecun_normal,
    lecun_uniform,
    local_variables,
    local_variables_initializer,
    model_variables,
    moving_average_variables,
    ones_initializer,
    orthogonal_initializer,
    random_normal_initializer,
    random_uniform_initializer,
    report_uninitialized_variables,
    trainable_variables,
    truncated_normal_initializer,
    variables_initializer,
    variance_scaling_initializer,
    zeros_initializer,
)
from graphc.graphs.session.variables.scopes import (
    AUTO_REUSE,
    VariableScope,
    get_local_variable,
    get_variable,
    get_variable_scope,
    no_regularizer,
    variable_scope,
)
from graphc.graphs.session.variables.variable import GraphVariable
from graphc.library.formats import message

__all__ = [
    "AUTO_REUSE", "AdadeltaOptimizer", "AdagradOptimizer", "AdamOptimizer", "Assert", "Clusters", "ConfigProto",
    "ExponentialMovingAverage", "Fetches", "FileWriter", "FtrlOptimizer", "GPUOptions", "GradientDescentOptimizer",
    "Graph", "GraphKeys", "GraphTensor", "GraphVariable", "Initializer", "InteractiveSession", "MomentumOptimizer",
    "Operation", "Optimizer", "Print", "QueueRunner", "RMSPropOptimizer", "Rules", "RunMetadata", "RunOptions", "Saver",
    "Session", "SessionState", "SessionStep", "SessionTarget", "Single", "Targets", "VariableScope", "add_queue_runner",
    "all_variables", "assert_global_step", "assert_variables_initialized", "assign", "assign_add", "assign_sub",
    "by_value", "case", "checkpoints", "clustered", "cond", "constant", "constant_initializer", "convert_to_tensor",
    "cosine_decay", "count_up_to", "create_global_step", "default_graph", "exponential_decay", "get_global_step",
    "get_local_variable", "get_or_create_global_step", "get_variable", "get_variable_scope", "global_step",
    "global_variables", "global_variables_initializer", "glorot_normal_initializer", "glorot_uniform_initializer",
    "gradients", "graph_dtype", "graph_message", "graph_of", "graph_type", "group", "he_normal", "he_uniform",
    "host_functions", "initialize_all_variables", "initialize_local_variables", "initialize_variables", "is_outside",
    "is_random_state", "is_variable_initialized", "lecun_normal", "lecun_uniform", "local_plan", "local_variables",
    "local_variables_initializer", "message", "model_variables", "monitored", "moving_average_variables", "no_op",
    "no_regularizer", "ones_initializer", "orthogonal_initializer", "piecewise_constant", "placeholder",
    "placeholder_with_default", "placing", "polynomial_decay", "print_op", "producers", "py_func",
    "random_normal_initializer", "random_uniform_initializer", "reason_of", "report_uninitialized_variables",
    "reset_default_graph", "runs_on_host", "scatter_add", "scatter_div", "scatter_max", "scatter_min", "scatter_mul",
    "scatter_nd_add", "scatter_nd_sub", "scatter_nd_update", "scatter_sub", "scatter_update", "sizes_of", "stacks",
    "start_queue_runners", "summaries", "trainable_variables", "truncated_normal_initializer", "tuple",
    "variable_scope", "variables_initializer", "variance_scaling_initializer", "weighted", "while_loop",
    "with_dependencies", "zeros_initializer",
]  # fmt: skip
