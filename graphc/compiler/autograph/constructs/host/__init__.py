"""Python that runs at run time: ``gx.pyfunc``, ``print``, ops of the host."""

__all__: list[str] = []
