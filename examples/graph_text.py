"""Prints a compiled function as text, parses the text back, and runs the result."""

import graphc as gx


@gx.function
def collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


def example_args():
    return (gx.asarray(27),)


if __name__ == "__main__":
    graph = collatz.graph(*example_args())
    text = str(graph)
    print(text)

    parsed = gx.parse_graph(text)
    print("the text says the same:", parsed == graph)

    again = gx.from_graph(parsed)
    print("steps:", collatz(*example_args()).item(), "and of what was parsed:", again(*example_args()).item())
