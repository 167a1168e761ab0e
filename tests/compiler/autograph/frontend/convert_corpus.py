"""Small functions that between them use every construct, in the ways Python allows and people rarely write.

``CASES`` pairs each with the arguments of several calls. Each must do the same before and after conversion.
"""
# ruff: noqa

from __future__ import annotations

import contextlib
import functools
import math
from typing import Any

CASES: list[tuple[Any, list[tuple]]] = []
COUNTER = 0


def case(*calls):
    def add(fn):
        CASES.append((fn, [call if isinstance(call, tuple) else (call,) for call in calls]))
        return fn

    return add


# Branches


@case(1, 0, -1)
def if_else(x):
    if x > 0:
        y = 1
    elif x < 0:
        y = -1
    else:
        y = 0
    return y


@case(1, 0)
def if_without_else(x):
    y = 3
    if x:
        y = y + x
    return y


@case(1, 0)
def maybe_unbound(x):
    if x:
        y = 1
    return y


@case(1, 0)
def maybe_unbound_in_branch(x):
    if x:
        y = 1
    if x:
        z = y
    else:
        z = 2
    return z


@case(1, 0)
def copied_in_branch(x):
    y = 5
    if x:
        y = y + 1
        z = y * 2
    else:
        z = y
    y = 0
    return z, y


@case((1, 1), (1, 0), (0, 1), (0, 0))
def copied_then_nested(x, y):
    t = 10
    if x:
        t = t + 1
        if y:
            t = t * 2
        else:
            u = t
        z = t
    else:
        z = -1
    return z


@case((1, 1), (1, 0), (0, 0))
def local_to_branch_then_nested(a, b):
    r = 0
    if a:
        if b:
            t = 1
        else:
            t = 2
        r = t
    return r


@case(5, -5)
def shadowed_life(x):
    t = 1
    s = t
    if x > 0:
        if x > 3:
            t = x
        else:
            t = -x
        s = t
    t = 7
    return s + t


# Early return


@case(1, 0, -1)
def early_return(x):
    if x > 0:
        return "positive"
    if x < 0:
        return "negative"
    return "zero"


@case(1, 0, -1)
def return_falls_off(x):
    if x > 0:
        return x
    if x < 0:
        x = x + 1


@case((1, 1), (1, 0), (0, 1))
def partial_return(a, b):
    c = 0
    if a:
        c = 1
        if b:
            return "early", c
        c = c + 1
    else:
        c = 5
    c = c * 10
    return "late", c


@case(1, 0)
def bare_returns(x):
    log = []
    log.append(1)
    if x:
        return
    log.append(2)


@case(([],), ([1],))
def bare_return_in_loop(log):
    for i in range(5):
        log.append(i)
        if len(log) > 3:
            return
    log.append("end")


@case(1, 2, 3, 4)
def return_in_both(x):
    if x == 1:
        return "one"
    else:
        if x == 2:
            return "two"
        elif x == 3:
            x = 30
        else:
            return "many"
    return x


@case(1, 0)
def dead_code(x):
    if x:
        return 1
    else:
        return 2
    x = 5
    return 3


@case(1, 0)
def return_then_raise(x):
    if x:
        return x
    raise ValueError("no x")


@case(1, 0, -1)
def raise_in_middle(x):
    if x < 0:
        raise ValueError(f"negative: {x}")
    if x == 0:
        return "zero"
    else:
        return "positive"


# Loops


@case(0, 1, 5)
def while_loop(n):
    i = total = 0
    while i < n:
        total += i
        i += 1
    return total


@case(0, 1, 7, 20)
def while_break_continue(n):
    i = 0
    seen = []
    while i < n:
        i += 1
        if i % 2:
            continue
        if i > 10:
            break
        seen.append(i)
    else:
        seen.append("else")
    return i, seen


@case(0, 3, 30)
def while_true(n):
    i = 0
    while True:
        if i >= n:
            return i
        i = i + 7


@case(0, 3, 30)
def while_true_break(n):
    i = 0
    while 1:
        if i >= n:
            break
        i = i + 7
    return "end", i


@case(([],), ([1, 2],), ([1, -1, 2],))
def for_else(items):
    for item in items:
        if item < 0:
            found = item
            break
    else:
        found = None
    return found


@case(([],), ([1, 2],), ([1, -1, 2],), ([0, 5],))
def for_everything(items):
    out = []
    for item in items:
        if item == 0:
            continue
        if item < 0:
            return "negative", out
        if item > 4:
            break
        out.append(item)
    else:
        out.append("else")
    out.append("after")
    return out


@case(3, 0)
def target_after_loop(n):
    i = "none"
    for i in range(n):
        pass
    return i


@case(3, 0)
def target_unbound_after_loop(n):
    for i in range(n):
        pass
    return i


@case(3, 0)
def bound_in_loop_only(n):
    for i in range(n):
        last = i * 2
    return last


@case(0, 1, 4)
def carried_by_flag(n):
    first = True
    previous = None
    steps = []
    for i in range(n):
        if first:
            first = False
        else:
            steps.append(i - previous)
        previous = i
    return steps


@case(0, 1, 4)
def unbound_until_second_iteration(n):
    out = []
    for i in range(n):
        if i > 0:
            out.append(previous)
        previous = i
    return out


@case((3, 3), (0, 2), (5, 1))
def nested_loops(n, m):
    out = []
    for i in range(n):
        for j in range(m):
            if i == j:
                continue
            if i + j > 5:
                break
            if i * j == 4:
                return out, "found", i, j
            out.append((i, j))
        else:
            out.append("inner else")
            continue
        out.append("inner broke")
    else:
        out.append("outer else")
    return out


@case((3, 1), (3, 9), (0, 0))
def break_in_else_of_inner(n, k):
    hits = 0
    for i in range(n):
        for j in range(n):
            if j == k:
                break
            hits += 1
        else:
            hits += 100
            break
    return hits, i if n else None


@case((10, 3), (10, 30))
def deep_jump(n, k):
    total = 0
    while n > 0:
        n -= 1
        if n % 2:
            if n % 3:
                if n == k:
                    total += 1000
                    break
                else:
                    continue
            total += 10
        total += 1
    return n, total


@case(3, 8)
def walrus_in_while(n):
    out = []
    while (n := n - 1) > 0:
        if n == 5:
            continue
        out.append(n)
    return n, out


@case(3, 8)
def walrus_in_while_else(n):
    out = []
    while (n := n - 1) > 0:
        if n == 6:
            break
        out.append(n)
    else:
        out.append("else")
    return n, out


@case(({"a": 1, "b": 2},), ({},))
def for_items(d):
    total = 0
    keys = ""
    for key, value in d.items():
        total += value
        keys += key
    return total, keys


@case(([(1, 2, 3), (4, 5)],))
def for_star_target(rows):
    out = []
    for head, *rest in rows:
        out.append((head, rest))
    return out


class Box:
    def __init__(self, value=0):
        self.value = value

    def __eq__(self, other):
        return isinstance(other, Box) and vars(self) == vars(other)

    def __repr__(self):
        return f"Box({vars(self)})"


@case((Box(), 3), (Box(7), 0))
def for_attribute_target(box, n):
    for box.value in range(n):
        pass
    return box.value


@case(([0, 0],))
def for_item_target(a):
    for a[1] in range(3):
        a[0] += a[1]
    return a


@case(4)
def stop_asks_no_more(n):
    def numbers():
        for k in range(n):
            asked.append(k)
            yield k

    asked = []
    for k in numbers():
        if k == 1:
            break
    return asked


# Expressions


@case(1, 0)
def ternary(x):
    return "yes" if x else "no"


@case((1, 2), (0, 2), (0, 0))
def bool_ops(a, b):
    return (a and b), (a or b), not a, (a and b or 5), a or b and 3


@case((1, 0))
def short_circuit(a, b):
    log = []

    def see(v):
        log.append(v)
        return v

    see(a) or see(b)
    see(b) and see(a)
    see(b) or see(b) or see(a)
    return log


@case((1, 2, 3), (3, 2, 1), (1, 1, 1))
def chains(a, b, c):
    return a < b < c, a <= b <= c, a == b == c, 0 < a != b, a in (1, 2) in [True], a is not None is not b


@case((1, [1, 2]), (5, [1]))
def containment(a, items):
    return a in items, a not in items


@case(([1, -2, 3],))
def comprehensions(items):
    k = 10
    a = [x if x > 0 else -x for x in items if x and not x == 3]
    b = {x: x + k for x in items}
    c = {x % 2 for x in items}
    d = sum(x * k for x in items if x > 0)
    e = [(x, y) for x in items for y in range(abs(x)) if x < y or y == 0]
    k = 20
    return a, b, c, d, e


@case(([1, 2, 3],))
def late_generator(items):
    k = 1
    lazy = (x * k for x in items)
    if items:
        k = 100
    return list(lazy)


@case(3)
def late_lambda(n):
    fs = []
    for i in range(n):
        if i != 1:
            j = i * 10
        fs.append(lambda: (i, j))
    return [f() for f in fs]


@case(3, 0)
def lambdas(n):
    add = lambda a, b=n, *c, k=2, **d: a + b + k if a else (b, c, d)
    return add(1), add(0, 5, 6, z=1), (lambda: n and 4)()


@case((5, "x"))
def fstrings(a, b):
    return f"{a + 1:>{4}} {b!r} {'big' if a > 3 else 'small'} {max(a, 2)}"


@case(5, 50)
def walrus(x):
    if (y := x * 2) > 20:
        z = y
    else:
        z = -y
    first = (w := x) and w + 1
    return y, z, first, [last := i for i in range(3)], last, 0 < (m := x) < 10, m


@case(5, 50)
def walrus_into_branch(x):
    if (y := x + 1) > 20:
        y = y + 1
        z = y
    else:
        z = 0
    return z


@case(([3, 1, 2],))
def slices(a):
    b = a[1:], a[::-1], a[-1]
    a[0:2] = [9, 9, 9]
    a[-1] = 7
    del a[1:2]
    return b, a


class Grid:
    def __setitem__(self, key, value):
        self.last = key, value

    def __getitem__(self, key):
        return 1

    def __delitem__(self, key):
        self.gone = key


@case(2)
def slices_of_many(n):
    g = Grid()
    g[1:n, ..., ::2, None] = n
    first = g.last
    g[1:n, 0] += 5
    del g[0, 1:]
    return repr((first, g.last, g.gone))


@case(())
def call_shapes():
    def show(*args, **kwargs):
        return args, kwargs

    xs, d = [1, 2], {"k": 1}
    return show(), show(*xs, 3, *xs, a=1, **d), show(show(1))


# Assignment


@case(([1, 2], Box()))
def attribute_and_item_stores(a, box):
    box.value = a[0] = 5
    box.other, a[1] = "o", "i"
    (box.x, (a[0], *box.rest)), y = (1, (2, 3, 4)), 9
    return y


@case(([1, 2, 3],))
def order_of_unpacking(a):
    i = 0
    i, a[i] = 1, "new"
    a[i], i = "second", 2
    return a, i


@case(())
def order_of_evaluation():
    log = []

    def see(name, value=None):
        log.append(name)
        return value

    box, xs = Box(1), [0, 1, 2]
    see("object", box).value = see("value", 3)
    see("list", xs)[see("index", 1)] = see("item", 4)
    see("object", box).value += see("increment", 1)
    see("list", xs)[see("index", 1)] += see("increment", 2)
    del see("list", xs)[see("index", 0)], see("object", box).value
    return log, xs, box


@case((5, [1]), (2.5, [2]))
def augmented(x, xs):
    ys = xs
    y = x
    y += 1
    y -= 2
    y *= 3
    y /= 4
    y //= 1
    y **= 2
    y %= 100
    z = 6
    z <<= 2
    z >>= 1
    z |= 1
    z &= 13
    z ^= 7
    xs += [2]
    return y, z, ys, xs


@case(())
def unbound_augmented():
    y += 1
    return y


@case(3)
def annotated(n):
    x: int = n
    y: str
    if n > 2:
        y = "big"
    else:
        y = "small"
    return x, y


@case(())
def chained_assignment():
    a = b = c = [0]
    (d, e), f = g = [1, 2], 3
    c[0] = 1
    return a, b, d, e, f, g


@case(1, 0)
def delete_names(x):
    y = 1
    if x:
        del y
    else:
        y = 2
    try:
        return y
    except NameError:
        return "gone"


@case(1, 0)
def delete_twice(x):
    y = 1
    if x:
        del y
    del y


@case(3)
def delete_in_loop(n):
    out = []
    for i in range(n):
        t = i
        out.append(t)
        del t
    return out


@case((Box(4), {"a": 1}))
def delete_attribute(box, d):
    del box.value, d["a"]
    return box, d


# Scopes


@case(3)
def closure_counts(n):
    count = 0

    def bump(by=1):
        nonlocal count
        if by > 1:
            count += by
            return "much"
        count += 1

    for i in range(n):
        bump()
        if i == 1:
            bump(by=10)
    return count


@case(1, 0)
def nonlocal_in_branch(x):
    state = "old"

    def change():
        nonlocal state
        if x:
            state = "new"
        return state

    before = state
    return change(), before, state


@case(2, 0)
def global_in_branch(x):
    global COUNTER
    before = COUNTER
    if x:
        COUNTER = x
    for i in range(x):
        COUNTER += i
    after = COUNTER
    COUNTER = 0
    return before, after


@case(1, 0)
def unbound_global_in_branch(x):
    global NEVER_BOUND
    if x:
        NEVER_BOUND = 1
    try:
        return NEVER_BOUND
    except NameError:
        return "unbound"
    finally:
        if x:
            del NEVER_BOUND


@case(5)
def recursion(n):
    return 1 if n < 2 else n * recursion(n - 1)


@case(5)
def inner_recursion(n):
    def fact(k):
        if k < 2:
            return 1
        return k * fact(k - 1)

    return fact(n)


@case((1,), (1, 2), (1, 2, 3))
def defaults(a, b=2, /, c=3, *rest, d=4, **more):
    if a > b:
        return c
    return a, b, c, rest, d, more


@case(1, 0)
def inner_class(x):
    class Inner:
        kind = "inner"

        def get(self, y):
            if y:
                return x, self.kind
            return None

    if x:
        one = Inner()
    else:
        one = Inner()
    return one.get(x)


@case(4)
def inner_generator(n):
    def evens():
        for i in range(n):
            if i % 2:
                continue
            yield i

    return list(evens())


@case(3)
def inner_decorated(n):
    @functools.lru_cache(maxsize=None if n else 1)
    def square(k):
        return k * k if k else 0

    return square(n), square(0)


@case(1, 0)
def inner_imports(x):
    if x:
        import math as m
        from os import path

        y = m.floor(2.5), path.sep
    else:
        import os.path

        y = os.path.sep
    return y


@case(4)
def modules(x):
    if x > 1:
        return math.sqrt(x), math.pi
    return functools.reduce(max, [x])


def with_decorator(fn):
    @functools.wraps(fn)
    def wrapper(*args):
        return "wrapped", fn(*args)

    return wrapper


@case(1, 0)
def decorated_inside(x):
    @with_decorator
    def inner(y):
        if y:
            return "t"
        return "f"

    return inner(x), inner.__name__, inner.__qualname__


@case(1, 0)
def names_of_inner(x):
    if x:

        def inner():
            return lambda: x

        class Held:
            def method(self):
                pass

    else:
        inner = Held = None
    return [value and value.__qualname__ for value in (inner, Held, x and inner(), x and Held.method)]


# Exceptions and context managers


@case(1, 0, "a")
def try_except(x):
    try:
        y = 1 / x
    except ZeroDivisionError as error:
        y = str(error)
    except TypeError:
        return "type"
    else:
        y = y * 2
    finally:
        z = "finally"
    return y, z


@case(1, 0)
def try_returns(x):
    log = []
    try:
        if x:
            return log
        log.append("rest")
    finally:
        log.append("finally")
    log.append("after")
    return log


@case(1, 0, None)
def try_return_else(x):
    try:
        if x:
            return "body"
        x + 1
    except TypeError:
        return "handler"
    else:
        return "else"


@case(4, 9)
def try_in_loop(n):
    out = []
    for i in range(n):
        try:
            if i == 2:
                continue
            if i == 5:
                break
            out.append(6 // (i - 1))
        except ZeroDivisionError:
            if i == 1:
                out.append("caught")
                continue
            return "never"
        finally:
            out.append("f")
        out.append("end")
    return out


@case(1, 0)
def value_seen_by_handler(x):
    y = "before"
    try:
        if x:
            y = "in branch"
            raise KeyError(y)
        y = "after"
    except KeyError:
        return "handled", y
    y = y + "!"
    return y


@case(3, 7)
def value_seen_by_handler_from_loop(n):
    i = 0
    try:
        while True:
            i = i + 1
            if i > n:
                raise StopIteration
    except StopIteration:
        pass
    return i


@case(1, 0)
def error_kept_by_closure(x):
    f = None
    if x:
        try:
            raise ValueError("kept")
        except ValueError as error:
            text = str(error)
            f = lambda: error
    try:
        return f and f()
    except NameError:
        return "name gone", text


@case(1, 0)
def raise_from(x):
    try:
        try:
            {}["k"]
        except KeyError as error:
            if x:
                raise ValueError("outer") from error
            raise ValueError("hidden") from None
    except ValueError as error:
        return str(error), repr(error.__cause__), error.__suppress_context__


@case(1, 0)
def reraise(x):
    try:
        1 / x
    except ZeroDivisionError:
        if x == 0:
            raise
    return x


@case(1, 0)
def exit_cancels_return(x):
    @contextlib.contextmanager
    def failing():
        yield
        raise ValueError

    for _ in range(1):
        try:
            with failing():
                if x:
                    return "returned"
        except ValueError:
            pass
        y = "went on"
    return y


@case(1, 0)
def with_statements(x):
    log = []

    @contextlib.contextmanager
    def noted(name):
        log.append(name)
        yield name
        log.append("-" + name)

    with noted("a") as a, noted("b") as b:
        if x:
            return log, a
        c = b
    return log, c


@case(3)
def with_in_loop(n):
    out = []
    for i in range(n):
        with contextlib.nullcontext(i) as j:
            if j == 1:
                continue
            value = j
        out.append(value)
    return out


@case((Box(),))
def with_stores(box):
    with contextlib.nullcontext((1, 2)) as (box.value, y):
        pass
    return y


@case(1, 0)
def suppressed(x):
    y = "before"
    with contextlib.suppress(ZeroDivisionError):
        y = 1 / x
        if y:
            return y
    return "fell through", y


@case(1, 0)
def assertion(x):
    assert x, f"x is {x}"
    assert x > 0
    return x


@case(1, -1)
def bare_assertion(x):
    assert x > 0


@case((["a", 3],), ([1, 2, 3],), (5,), ("s",))
def match_statement(x):
    for _ in range(2):
        match x:
            case ["a", *rest]:
                y = rest
            case [first, *others] if first > 0:
                return first, others
            case 4 | 5 as n if n < 10:
                y = n
                continue
            case _:
                y = None
                break
        y = [y]
    return y


@case(1, 2, 3)
def match_returns(x):
    match x:
        case 1:
            return "one"
        case 2:
            pass
        case other:
            return "other", other
    return "two"


# Errors


@case(3)
def error_in_loop(n):
    total = 0
    for i in range(n):
        if i == 2:
            total += 1 // (i - 2)
    return total


@case(3)
def error_in_condition(n):
    while n > 0:
        n -= 1
        if n == 0 and 1 / n:
            return "never"
    return n


@case(())
def error_in_call():
    def inner(a):
        if a:
            return a.missing
        return 0

    x = 1
    return [inner(v) for v in (0, x)]


@case(())
def unpack_error():
    a, b = (1, 2, 3)


@case(1, 0)
def exception_groups(x):
    out = []
    try:
        if x:
            raise ExceptionGroup("many", [ValueError(1), TypeError(2)])
        out.append("none")
    except* ValueError as group:
        if out:
            out.append("never")
        else:
            out.append([str(error) for error in group.exceptions])
    except* TypeError:
        out.append("type")
    return out


@case(1, 0)
def dead_binding_stays_local(x):
    if x:
        return "early"
        y = 1
    return y


@case(3, 0)
def flags_and_handlers(n):
    for i in range(3):
        try:
            for j in range(3):
                if j == n:
                    return "inner", i, j
                1 // (n - i)
        except ZeroDivisionError:
            continue
        else:
            return "else", i
        finally:
            n -= 1
    return "end", n


@case(({"x": 1},))
def frame_builtins(d):
    a = 1
    if d:
        seen = "x" in dir(d), vars(Box(2)), eval("x", {}, d), "CASES" in globals()
    return eval("a + 1"), "a" in locals(), ["a" in vars(), "a" in dir()], seen


@case(2)
def starred_index(n):
    d = {}
    key = (1, n)
    d[*key, 0] = n
    return d


@case(4)
def inner_lambda_sees_unbound(n):
    get = lambda: late
    try:
        get()
    except NameError:
        first = "unbound"
    if n:
        late = n
    return first, get()


@case(0, 2)
def parameter_deleted_in_loop(a):
    n = 0
    if not a:
        while n < 2:
            n += 1
            for a in range(2):
                pass
            del a
    return a


@case((1, 1, 1), (1, 1, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1))
def copied_although_perhaps_unbound(a, b, c):
    if a:
        t = 1
    z = 0
    if b:
        if c:
            t = t + 1
        z = t
    t = 0
    return z, t
