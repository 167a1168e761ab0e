"""Queries over HTTP, answered by a server in a process of its own, against the bare compiled function."""

from __future__ import annotations

import http.client
import io
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext
from typing import Any

import numpy as np

import graphc as gx
from benchmarks.harness import Reading, Row
from benchmarks.serving import latencies, model

__all__ = ["ROWS"]

_SECONDS = 300
_PATH, _NPY = "/functions/predict", {"content-type": "application/x-npy"}


def _serve(quick: bool) -> None:
    """Runs the server, and says at which port it listens."""
    predict, queries = model(quick)
    app = gx.serve.App(
        {"predict": predict}, examples={"predict": (queries[0],)}, devices=gx.devices()[:1], max_delay_ms=0
    )
    app.wait_until_ready()
    gx.serve.run(app, port=0, drain_seconds=0, on_start=lambda url: print(url.rpartition(":")[2], flush=True))


@contextmanager
def _server(quick: bool) -> Iterator[int]:
    command = [sys.executable, "-m", "benchmarks.serving_http", *(["quick"] if quick else [])]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield int(process.stdout.readline())
            process.terminate()
            process.wait(_SECONDS)
        finally:
            process.kill()


@contextmanager
def _client(port: int) -> Iterator[Callable[[Any], Any]]:
    """A client with a connection of its own, which stays open."""
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=_SECONDS)) as connection:

        def ask(x: Any) -> Any:
            file = io.BytesIO()
            np.save(file, x)
            connection.request("POST", _PATH, file.getvalue(), _NPY)
            return np.load(io.BytesIO(connection.getresponse().read()))

        yield ask


def _p99(quick: bool) -> Reading:
    predict, queries = model(quick)

    def bare(x: Any) -> Any:
        return predict(x).numpy()

    def read() -> tuple[float, float, str]:
        with _server(quick) as port:
            with _client(port) as ask:
                np.testing.assert_allclose(ask(queries[0]), bare(queries[0]), rtol=1e-4, atol=1e-5)
            asked, seconds = latencies(lambda: _client(port), queries)
            called, alone = latencies(lambda: nullcontext(bare), queries)
        count = len(asked)
        rates = f"{count / seconds:,.0f} queries a second, against {count / alone:,.0f}"
        return *(float(np.percentile(each, 99)) * 1e3 for each in (asked, called)), rates

    return Reading(("HTTP", "the function"), "ms", read)


ROWS = (Row("serve-http", "99 % latency of 8 threads that ask over HTTP, npy bodies of a row", 20.0, _p99, rounds=1),)

if __name__ == "__main__":
    _serve("quick" in sys.argv)
