"""What is made when the program runs: texts, what ``print`` shows, what ``pyfunc`` calls."""

__all__: list[str] = []
