"""`print` and f-strings: at run time, in program order."""

from __future__ import annotations

from typing import Any

import graphc as gx
from tests.conformance.harness import f, i, program

PRINT = "`print` of tensors"
FSTRING = "f-strings of tensors, printed"


@program("printing/a tensor", inputs=[(f(1, 2),), (f(-0.5, 4),)], construct=PRINT, gradient=True)
def print_tensor(x: Any) -> Any:
    print(x)
    y = x * 2
    print("y:", y, x)
    return y


@program("printing/text before and after", inputs=[(f(1.0),), (f(2.5),)], construct=PRINT)
def print_order(x: Any) -> Any:
    print("start")
    print(x)
    x = x + 1
    print("then")
    print(x)
    print("end")
    return x


@program("printing/sep and end", inputs=[(f(1.0), i(2)), (f(2.5), i(3))], construct=PRINT)
def print_sep_end(x: Any, n: Any) -> Any:
    print(x, n, "text", 1.5, None, sep="; ", end="!\n")
    print(n, end="")
    print()
    return x


@program("printing/f-string with a format", inputs=[(f(1.23456), i(42)), (f(-1e-7), i(0))], construct=FSTRING)
def print_fstring(x: Any, n: Any) -> Any:
    print(f"x={x:.3f} n={n:05d} {x!r} {'static':>8} {n:>{4}}")
    return x


@program(
    "printing/percent",
    inputs=[(f(1.25),)],
    construct="`%` and `str.format` of tensors",
    refused=(gx.errors.UnimplementedError, "`%` makes a text of what depends on tensors.* write an f-string"),
)
def print_percent(x: Any) -> Any:
    print("%.1f%%" % x)  # noqa: UP031
    return x


@program(
    "printing/str.format",
    inputs=[(f(1.25),)],
    construct="`%` and `str.format` of tensors",
    refused=(gx.errors.UnimplementedError, r"str.format\(\) makes a text of.* write an f-string"),
)
def print_format(x: Any) -> Any:
    print("{:>8.2f}|{}".format(x, x))  # noqa: UP032
    return x


@program("printing/percent and format of Python values", inputs=[(f(1.25), 3)], construct="`print` and f-strings")
def print_percent_of_values(x: Any, n: int) -> Any:
    if x > 0:
        print("%s: %.1f%%" % ("share", 2.5), "{:>8.2f}|{n}".format(n, n=n))  # noqa: UP031, UP032
    return x


@program("printing/in a branch", inputs=[(f(1.0),), (f(-1.0),)], construct=PRINT)
def print_in_branch(x: Any) -> Any:
    if x > 0:
        print("positive", x)
        x = x * 2
    else:
        print("negative")
    print("done", x)
    return x


@program("printing/in a loop", inputs=[(f(1, -2, 3),), (f(0, 0, 1),)], construct=PRINT)
def print_in_loop(x: Any) -> Any:
    total = gx.zeros(())
    for k, value in enumerate(x):
        total = total + value
        print(f"{k}: {total:.1f}")
        if total < 0:
            print("stop")
            break
    return total


@program("printing/in a while loop", inputs=[(i(3),), (i(0),)], construct=PRINT, python_numbers=True)
def print_in_while(n: Any) -> Any:
    steps = 0
    while n > 0:
        print("n =", n, "after", steps)
        n -= 1
        steps += 1
    print(f"{steps} steps")
    return steps


@program("printing/in a range loop", inputs=[(f(1.0), 3), (f(2.0), 2)], construct=PRINT)
def print_in_range(x: Any, n: int) -> Any:
    for k in range(n):
        x = x * 2
        print(k, x)
    return x


@program("printing/in a called function", inputs=[(f(1.0),), (f(-2.0),)], construct=PRINT)
def print_in_called(x: Any) -> Any:
    return _report("first", x) + _report("second", x * 3)


def _report(name: str, value: Any) -> Any:
    message = f"{name} is {value}"
    print(message)
    return value


@program("printing/lists and tuples of tensors", inputs=[(f(1.0), f(2, 3)), (f(-1.0), f(0, 0))], construct=PRINT)
def print_containers(x: Any, y: Any) -> Any:
    print([x, x + 1], (y,), {"x": x})
    return x


@program("printing/before a raise", inputs=[(f(1.0),), (f(-1.0),)], construct=PRINT)
def print_before_raise(x: Any) -> Any:
    print("checking", x)
    if x < 0:
        raise ValueError("negative")
    print("fine")
    return x


@program(
    "printing/only Python values",
    inputs=[(f(1.0), 2), (f(1.0), 3)],
    construct="`print` of Python values",
    outcome="runs at trace time",
)
def print_python_values(x: Any, n: int) -> Any:
    print("n is", n, x.shape)
    return x * n


@program(
    "printing/f-string as a value",
    inputs=[(f(1.0),), (f(2.0),)],
    construct="a string made from tensors: printed, raised, joined or returned",
)
def fstring_returned(x: Any) -> Any:
    return f"x is {x}", str(x) + "!"


@program(
    "printing/letters of a text made of tensors",
    inputs=[(f(1.0),), (f(2.0),)],
    construct="the characters of a string made from tensors",
    refused=(gx.errors.ConcretizationError, "letters of a text"),
)
def letters(x: Any) -> Any:
    return x * len(f"{x}")


@program(
    "printing/joined texts",
    inputs=[(f(1, -2),), (f(0.25, 4),)],
    construct="a string made from tensors: printed, raised, joined or returned",
)
def joined(x: Any) -> Any:
    print(", ".join(f"{value:.1f}" for value in x))
    print("[" + "; ".join([str(value) for value in x]) + "]")
    return x


@program(
    "printing/order over nested loops and a raise",
    inputs=[(f([[1, 2], [3, -4]]),), (f([[1, 2], [3, 4]]),)],
    construct=PRINT,
)
def nested_order(x: Any) -> Any:
    total = gx.zeros(())
    for r, row in enumerate(x):
        for c, value in enumerate(row):
            print(r, c)
            if value < 0:
                raise IndexError(f"({r}, {c}) = {value:.1f}")
            total = total + value
        print("row", r, total)
    return total


@program("printing/in conditions", inputs=[(f(3.0),), (f(0.0),), (f(-1.0),)], construct=PRINT)
def in_conditions(x: Any) -> Any:
    def positive(value: Any) -> Any:
        print("is", value, "positive?")
        return value > 0

    while positive(x):
        x = x - 1
    if (x < 0 and positive(-x)) or x == 5:
        x = x * 10
    return x


@program("printing/numbers that depend on tensors", inputs=[(f(2.0),), (f(-2.0),)], construct=PRINT)
def numbers(x: Any) -> Any:
    count, done, scale = 0, False, 0.5
    if x > 0:
        count, done, scale = 1, True, 2.25
    print("count =", count, f"{count:03d}", done, not done, scale, [count], sep="|")
    return x


@program("printing/floats that depend on tensors", inputs=[(f(2.0),), (f(-2.0),)], construct=PRINT)
def floats(x: Any) -> Any:
    rate = 0.1
    if x > 0:
        rate = 1e-10
    print(rate, [rate], f"{rate!r} {rate:.3e}")
    return x


@program(
    "printing/an int or a float",
    inputs=[(f(2.0),), (f(-2.0),)],
    construct="`print` of a number that is an int on one path and a float on another",
    refused=(gx.errors.ConcretizationError, "whether a number is an int or a float, .*1.0 instead of 1"),
)
def int_or_float(x: Any) -> Any:
    scale = 1
    if x > 0:
        scale = 0.5
    print(scale)
    return x


@program("printing/an int or a float, formatted", inputs=[(f(2.0),), (f(-2.0),)], construct=FSTRING)
def int_or_float_formatted(x: Any) -> Any:
    scale = 1
    if x > 0:
        scale = 0.5
    print(f"{scale:.2f}")
    return x


@program("printing/objects with tensors", inputs=[(f(2.0),), (f(-2.0),)], construct=PRINT)
def objects(x: Any) -> Any:
    class Point:
        def __init__(self, value: Any) -> None:
            self.value = value

        def __repr__(self) -> str:
            return f"Point({self.value})"

    print(Point(x), [Point(x + 1)])
    return x


@program(
    "printing/dtypes and shapes",
    inputs=[(f([[1, 2], [3, 4]]), i(3)), (f([[0.5, -1], [1e9, 1e-9]]), i(-1))],
    construct=PRINT,
)
def dtypes_and_shapes(x: Any, n: Any) -> Any:
    print(x, x.T, x[0], x[1, 0], x.shape, sep="\n")
    print(gx.astype(x[0], "float16"), gx.astype(n, "bool"), n / 2, n == 3, gx.astype(n, "complex64"))
    return x
