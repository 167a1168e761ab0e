"""Random graphs over a handful of ops that NumPy evaluates, and what tests need to run and compare them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from graphc.compiler.base import Location, Registry
from graphc.compiler.ir import (
    CONSTANT,
    Attrs,
    Graph,
    GraphBuilder,
    Interpreter,
    Literal,
    Node,
    OpDef,
    TensorType,
    Value,
    dtype_from_short,
    reads,
    writes,
)

INT = TensorType((), np.dtype("int32"))
FLOAT = TensorType((), np.dtype("float32"))
WEAK = TensorType((), np.dtype("float32"), weak=True)
BOOL = TensorType((), np.dtype("bool"))
VECTOR = TensorType((3,), np.dtype("float32"))
TYPES = (INT, FLOAT, WEAK, VECTOR)
RESOURCES = ("u", "v", "w")

TEST_OPS: Registry[OpDef] = Registry("op")
TEST_OPS.add("constant", CONSTANT)


def _same_types(types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
    del attrs, regions
    if any(type != types[0] for type in types):
        raise TypeError(f"the types differ: {', '.join(map(str, types))}")
    return (types[0],)


def _op(name: str, impl: Callable[..., Any], infer: Any = _same_types, params: str = "x", **more: Any) -> OpDef:
    return TEST_OPS.add(name, OpDef(name, impl, infer, tuple(params.split()), **more))


def _never(*values: Any, **attrs: Any) -> Any:
    raise AssertionError("state ops are evaluated by Stateful")


def _repeat(x: Any, *, times: int, body: Callable[..., tuple[Any, ...]]) -> Any:
    for _ in range(times):
        (x,) = body(x)
    return x


def _scan(*values: Any, num_carry: int, num_xs: int, num_ys: int, body: Any, **trips: Any) -> Any:
    carry, xs, rest = values[:num_carry], values[num_carry : num_carry + num_xs], values[num_carry + num_xs :]
    trips = {"start": 0, "step": 1, "reverse": False, **trips}
    order = range(trips["length"])[:: -1 if trips["reverse"] else 1]
    ys: dict[int, Sequence[Any]] = {}
    for row in order:
        results = body(np.int32(trips["start"] + trips["step"] * row), *carry, *(x[row] for x in xs), *rest)
        carry, ys[row] = results[:num_carry], results[num_carry:]
    stacked = (np.array([ys[row][place] for row in sorted(order)], dtype) for place, dtype in _dtypes(ys, num_ys))
    return (*carry, *stacked)


def _dtypes(ys: Mapping[int, Sequence[Any]], count: int) -> list[tuple[int, Any]]:
    return [(place, np.asarray(ys[0][place]).dtype if ys else np.float32) for place in range(count)]


def _scan_types(types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
    ys = [value.type for value in regions[0].outputs[attrs["num_carry"] :]]
    stacked = [TensorType((attrs["length"], *type.shape), type.dtype) for type in ys]
    return (*types[: attrs["num_carry"]], *stacked)


def _while(*values: Any, num_carry: int, test: Any, body: Any) -> Any:
    carry, rest = values[:num_carry], values[num_carry:]
    while test(*carry, *rest)[0]:
        carry = body(*carry, *rest)
    return tuple(carry)


def _places(x: Any, tensors: Sequence[Any], index: Any, inside: bool) -> list[Any]:
    """The index as NumPy takes it; ints are clamped to those that there are."""
    rest, places = iter(tensors), list[Any]()
    for axis, item in enumerate(index):
        if isinstance(item, tuple):
            places.append(slice(*item))
            continue
        place, size = np.asarray(next(rest) if item == "tensor" else item), x.shape[axis]
        assert not inside or 0 <= place < size
        places.append(np.clip(place, -size, size - 1))
    return places


def _item(x: Any, *tensors: Any, index: Any, inside: bool = False) -> Any:
    return x[tuple(_places(x, tensors, index, inside))]


HOW: Mapping[str, Any] = {"add": np.add, "multiply": np.multiply, "min": np.minimum, "max": np.maximum}


def _update(x: Any, values: Any, *tensors: Any, index: Any, how: str, inside: bool = False) -> Any:
    copy, places = np.array(x), tuple(_places(x, tensors, index, inside))
    rest = iter(tensors)
    given = [int(next(rest)) if item == "tensor" else item for item in index]
    pairs = zip(places, given, strict=True)
    if not all(isinstance(place, slice) or place == int(number) for place, number in pairs):
        return copy  # what is out of range is left out
    copy[places] = values if how == "set" else HOW[how](copy[places], values)
    return copy


def _item_types(types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
    del regions
    x = np.zeros(types[0].shape, types[0].dtype)
    places = iter([np.zeros(type.shape, int) for type in types[1:]])
    index = tuple(
        next(places) if item == "tensor" else slice(*item) if isinstance(item, tuple) else item
        for item in attrs["index"]
    )
    return (TensorType(x[index].shape, types[0].dtype),)


def _first_true(*conditions: Any) -> Any:
    return np.int32([*conditions, True].index(True))


ADD = _op("add", np.add, params="x y", fold=np.add, light=True)
MUL = _op("mul", np.multiply, params="x y", fold=np.multiply, light=True)
MULTIPLY = _op("multiply", np.multiply, params="x y", fold=np.multiply, light=True)  # what passes put in
NEG = _op("neg", np.negative, fold=np.negative, light=True)
LESS = _op("less", np.less, lambda t, a, r: (BOOL,), "x y", fold=np.less, light=True)
# NumPy's float64 is not what inference says, so this fold must not be taken.
HALVE = _op("halve", lambda x: np.floor_divide(x, 2).astype(x.dtype), fold=lambda x: np.divide(x, np.float64(2)) + 1)
WIDEN = _op("widen", lambda x: np.full(3, x, np.float32), lambda t, a, r: (VECTOR,), fold=lambda x: np.full(3, x))
PAIR = _op("pair", lambda x: (x + x, x * x), lambda t, a, r: (t[0], t[0]))
REPEAT = _op("repeat", _repeat, lambda t, a, r: (r[0].outputs[0].type,), regions=("body",))
EITHER = _op(
    "either",
    lambda flag, x, *, branches: branches[int(flag) % len(branches)](x),
    lambda t, a, r: (t[1],),
    "flag x",
    regions=("*branches",),
)
COND = _op(
    "cond",
    lambda test, *operands, true, false: (true if test else false)(*operands),
    lambda t, a, r: tuple(value.type for value in r[0].outputs),
    "test *operands",
    regions=("true", "false"),
)
SWITCH = _op(
    "switch",
    lambda index, *operands, branches: branches[int(index)](*operands),
    lambda t, a, r: tuple(value.type for value in r[0].outputs),
    "index *operands",
    regions=("*branches",),
)
SCAN = _op("scan", _scan, _scan_types, "*values", regions=("body",))
WHILE = _op("while", _while, lambda t, a, r: tuple(t[: a["num_carry"]]), "*values", regions=("test", "body"))
CALL = _op("call", lambda *values, body: body(*values), COND.infer, "*values", regions=("body",))
GET_ITEM = _op("get_item", _item, _item_types, "x *index", light=True)
UPDATE_ITEM = _op("update_item", _update, lambda t, a, r: (t[0],), "x values *index")
WHERE = _op("where", np.where, lambda t, a, r: (t[1],), "test x y", light=True)
FIRST_TRUE = _op("first_true", _first_true, lambda t, a, r: (INT,), "*conditions")
READ = _op("read", _never, lambda t, a, r: (FLOAT,), "", effects=lambda attrs: (reads(attrs["name"]),))
WRITE = _op("write", _never, lambda t, a, r: (), effects=lambda attrs: (writes(attrs["name"]),))
TELL = _op("tell", _never, lambda t, a, r: (), effects=lambda attrs: (writes(attrs["name"]),))
"""Uses a value of any type, as a print, an assertion or the assignment of a Variable does, and has no result."""
SWAP = _op(
    "swap", _never, lambda t, a, r: (FLOAT,), effects=lambda attrs: (reads(attrs["name"]), writes(attrs["name"]))
)
TOUCH = _op(
    "touch",
    _never,
    lambda t, a, r: (FLOAT,),
    "",
    effects=lambda attrs: (*map(reads, attrs["reads"]), *map(writes, attrs["writes"])),
)


ZERO = np.float32(0)


class State:
    """Named cells and the log of what was written to them."""

    def __init__(self) -> None:
        self.cells: dict[str, Any] = {name: np.float32(index) for index, name in enumerate(RESOURCES)}
        self.log: list[tuple[str, bytes]] = []

    def touch(self, node: Node, inputs: list[Any]) -> tuple[Any, ...]:
        """Reads the cells that the node reads, writes those that it writes, returns the sum of what was read."""
        old = sum((self.cells[effect.resource] for effect in node.effects if effect == reads(effect.resource)), ZERO)
        new = np.float32(inputs[0]) if inputs else 2 * old + 1
        for effect in node.effects:
            if effect == writes(effect.resource):
                self.cells[effect.resource] = new
                self.log.append((effect.resource, new.tobytes()))
        return (old,) if node.outputs else ()


class Stateful(Interpreter):
    """Evaluates the test ops; the state ops act on a State."""

    def __init__(self, graph: Graph, state: State) -> None:
        super().__init__(graph)
        self.state = state

    def run_node(self, node: Node, inputs: list[Any]) -> Sequence[Any]:
        if node.op is TELL:
            self.state.log.append((node.attrs["name"], np.asarray(inputs[0]).tobytes()))
            return ()
        if node.op in (READ, WRITE, SWAP, TOUCH):
            return self.state.touch(node, inputs)
        return super().run_node(node, inputs)

    def region(self, graph: Graph) -> Callable[..., tuple[Any, ...]]:
        return Stateful(graph, self.state).run


def evaluate(graph: Graph) -> tuple[list[bytes], list[tuple[str, bytes]]]:
    """The outputs for fixed inputs, and the writes in their order, bit by bit."""
    state = State()
    inputs = [np.full(value.type.shape, 2 + index, value.type.dtype) for index, value in enumerate(graph.inputs)]
    with np.errstate(all="ignore"):
        outputs = Stateful(graph, state).run(*inputs)
    return [np.asarray(output).tobytes() for output in outputs], state.log


def sources(node: Node) -> list[Node]:
    """The nodes that a node has an edge from, of data or of control."""
    return [*(value.node for value in node.inputs if value.node is not None), *node.control_inputs]


def ancestors(graph: Graph) -> dict[Node, set[Node]]:
    """For each node all those that it depends on."""
    found: dict[Node, set[Node]] = {}
    for node in graph.nodes:
        found[node] = {earlier for source in sources(node) for earlier in (source, *found[source])}
    return found


def calls(work: Callable[[], Any]) -> int:
    """How many functions a piece of work calls, Python's own included."""
    count = 0

    def profile(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


LOCATIONS = (None, Location("train.py", 12), Location('a "b".py', 3, "step"))


@st.composite
def told(draw: st.DrawFn, graph: Graph) -> Graph:
    """The graph, with users of some of its values that have no results; in the bodies of its loops as well."""
    values: dict[Value, Value] = {value: value for value in graph.inputs}
    nodes: list[Node] = []

    def tell(value: Value) -> None:
        if not draw(st.integers(0, 3)):
            name = f"told_{len(nodes)}"
            nodes.append(Node(TELL, [value], Attrs(name=draw(st.sampled_from(RESOURCES))), [], name=name))

    for node in graph.nodes:
        new = Node(
            node.op, [values[value] for value in node.inputs], node.attrs, [value.type for value in node.outputs],
            regions=[draw(told(region)) if node.op is SCAN else region for region in node.regions], name=node.name,
        )  # fmt: skip
        nodes.append(new)
        values.update(zip(node.outputs, new.outputs, strict=True))
        for output in new.outputs:
            tell(output)
    return Graph(graph.inputs, nodes, [values[value] for value in graph.outputs], graph.name)


@st.composite
def graphs(
    draw: st.DrawFn,
    inputs: Sequence[TensorType] | None = None,
    depth: int = 1,
    outputs: Sequence[TensorType] | None = None,
) -> Graph:
    """A valid graph; with ``inputs``, a region: it takes these and returns values of some of their types.

    Without ``outputs`` it returns one, of the last type.
    """
    builder = GraphBuilder(draw(st.sampled_from(["graph", "body", "my graph"])))
    values: list[Value] = []
    wanted = draw(st.lists(st.sampled_from(TYPES), max_size=3)) if inputs is None else inputs
    values += [builder.input(type, draw(st.sampled_from(["", "x", "add", "µ"]))) for type in wanted]
    for _ in range(draw(st.integers(0, 12 if inputs is None else 4))):
        values.extend(_step(draw, builder, values, depth).outputs)
    if inputs is None:
        return builder.build(draw(st.lists(st.sampled_from(values), max_size=4)) if values else [])
    wanted = inputs[-1:] if outputs is None else outputs
    return builder.build([draw(st.sampled_from([value for value in values if value.type == type])) for type in wanted])


def _step(draw: st.DrawFn, builder: GraphBuilder, values: list[Value], depth: int) -> Node:
    """Appends one random node."""
    scalars = [value for value in values if value.type == FLOAT]
    choices = [CONSTANT, CONSTANT, READ, TOUCH]
    choices += [ADD, MUL, NEG, HALVE, PAIR, ADD, NEG, TELL, TELL] * bool(values) + [WIDEN, WRITE, SWAP] * bool(scalars)
    choices += [REPEAT, EITHER, SCAN, WHILE] * bool(values and depth)
    op = draw(st.sampled_from(choices))
    if op in (SCAN, WHILE):
        return _loop(draw, builder, op, values, depth)
    inputs: list[Value] = []
    attrs = Attrs()
    regions: list[Graph] = []
    if op is CONSTANT:
        attrs = _constant(draw)
    elif op in (READ, WRITE, SWAP, TELL):
        attrs = Attrs(name=draw(st.sampled_from(RESOURCES)))
    elif op is TOUCH:
        names = st.lists(st.sampled_from(RESOURCES), max_size=2, unique=True).map(tuple)
        attrs = Attrs(reads=draw(names), writes=draw(names))
    if op in (WIDEN, WRITE, SWAP):
        inputs = [draw(st.sampled_from(scalars))]
    elif op.params:
        inputs = [draw(st.sampled_from(values))]
    if op in (ADD, MUL):
        inputs.append(draw(st.sampled_from([value for value in values if value.type == inputs[0].type])))
    if op is REPEAT:
        attrs = Attrs(times=draw(st.integers(0, 2)))
        regions = [draw(graphs([inputs[0].type], depth - 1))]
    if op is EITHER:
        flags = [value for value in values if value.type == INT]
        if not flags:
            flags = list(builder.append(CONSTANT, (), Attrs(value=Literal(np.int32(1)))).outputs)
        inputs = [draw(st.sampled_from(flags)), *inputs]
        regions = [draw(graphs([inputs[1].type], depth - 1)) for _ in range(draw(st.integers(1, 2)))]
    return builder.append(
        op,
        inputs,
        attrs,
        regions=regions,
        control_inputs=_few(draw, builder.nodes),
        device=draw(st.sampled_from(["", "", "", "/device:CPU:0"])),
        name=draw(st.sampled_from(["", "", "", "x", "a/b", 'say "hi"'])),
        location=draw(st.sampled_from(LOCATIONS)),
    )


def _loop(draw: st.DrawFn, builder: GraphBuilder, op: OpDef, values: list[Value], depth: int) -> Node:
    """Appends a loop over some values, of few iterations or none."""
    some = st.lists(st.sampled_from(values), max_size=3)
    carried, rest = draw(some), draw(some)
    if op is WHILE:  # the first value counts, the last says how far
        count, least = (_number(builder, draw(st.integers(0, 2))) for _ in range(2))
        operands = [count, *carried, *rest, least]
        types = [value.type for value in operands]
        test = GraphBuilder("test")
        entries = [test.input(type) for type in types]
        regions = [test.build(test.append(LESS, [entries[0], entries[-1]]).outputs)]
        drawn = draw(graphs(types, depth - 1, types[1 : 1 + len(carried)]))
        one = Node(CONSTANT, (), Attrs(value=Literal(np.int32(1))), [INT], name="one")
        more = Node(ADD, [drawn.inputs[0], one.outputs[0]], Attrs(), [INT], name="more")
        regions.append(Graph(drawn.inputs, [*drawn.nodes, one, more], [*more.outputs, *drawn.outputs], drawn.name))
        return builder.append(WHILE, operands, Attrs(num_carry=1 + len(carried)), regions=regions)
    xs = [draw(st.sampled_from(vectors))] if (vectors := [value for value in values if value.type == VECTOR]) else []
    xs *= draw(st.integers(0, 1))
    types = [value.type for value in carried]
    inputs = [INT, *types, *(FLOAT for _ in xs), *(value.type for value in rest)]
    ys = draw(st.lists(st.just(FLOAT), max_size=FLOAT in inputs))
    attrs = Attrs(
        num_carry=len(carried), num_xs=len(xs), num_ys=len(ys), length=3 if xs else draw(st.integers(0, 3)),
        start=draw(st.integers(0, 1)), step=draw(st.sampled_from([1, -2])), reverse=draw(st.booleans()),
    )  # fmt: skip
    body = draw(graphs(inputs, depth - 1, [*types, *ys]))
    return builder.append(
        SCAN, [*carried, *xs, *rest], attrs, regions=[body], device=draw(st.sampled_from(["", "/device:CPU:0"]))
    )


def _number(builder: GraphBuilder, number: int) -> Value:
    return builder.append(CONSTANT, (), Attrs(value=Literal(np.int32(number)))).outputs[0]


def _few(draw: st.DrawFn, nodes: list[Node]) -> list[Node]:
    if not nodes or draw(st.integers(0, 3)):
        return []
    return draw(st.lists(st.sampled_from(nodes), max_size=2, unique=True))


def _constant(draw: st.DrawFn) -> Attrs:
    type = draw(st.sampled_from(TYPES))
    value = Literal(np.full(type.shape, draw(st.integers(0, 3)), type.dtype))
    return Attrs(value=value, weak=True) if type.weak else Attrs(value=value)


SHORT_NAMES = "bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 c64 c128 float8_e4m3fn int4"
DTYPES = tuple(map(dtype_from_short, SHORT_NAMES.split()))


@st.composite
def literals(draw: st.DrawFn) -> Literal:
    """Arrays of every dtype with any bits, not-a-number with a payload and negative zero among them."""
    dtype = draw(st.sampled_from(DTYPES))
    shape = draw(st.lists(st.integers(0, 4), max_size=3))
    size = int(np.prod(shape))
    data = np.frombuffer(draw(st.binary(min_size=size * dtype.itemsize, max_size=size * dtype.itemsize)), np.uint8)
    if dtype.name in ("bool", "int4"):
        return Literal((data & 1).astype(dtype).reshape(shape))
    return Literal(data.view(dtype).reshape(shape))


tensor_types = st.builds(
    TensorType, st.lists(st.integers(0, 9), max_size=3).map(tuple), st.sampled_from(DTYPES), st.booleans()
)
attribute_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.complex_numbers()
    | st.text()
    | st.sampled_from(DTYPES)
    | tensor_types
    | literals(),
    lambda items: st.lists(items, max_size=3).map(tuple),
    max_leaves=5,
)
