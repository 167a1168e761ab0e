"""``graphc serve``: functions that answer queries over HTTP."""

from __future__ import annotations

import argparse
import inspect
import ipaddress
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

from rich.console import Console

from graphc.cli.target import load_target
from graphc.compiler.base.errors import FileMissingError, InvalidArgumentError
from graphc.serve import Offer, offer, offers

_TOKEN = "GRAPHC_SERVE_TOKEN"
_MEGABYTE = 1 << 20


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command to its parser."""
    parser.add_argument(
        "targets",
        nargs="*",
        metavar="[NAME=]TARGET",
        help="a FOLDER of gx.save, FOLDER:FUNCTION, FILE.py:FUNCTION or MODULE:FUNCTION; may be repeated",
    )
    parser.add_argument(
        "--args", metavar="EXPRESSION",
        help="the arguments of a query to the only function, as arrays or gx.TensorSpec, such as 'gx.ones((1, 3))'; "
        "left out, they are what example_args() of the file returns, or its ARGS, if the function takes them",
    )  # fmt: skip
    parser.add_argument("--host", default="127.0.0.1", metavar="ADDRESS", help="where to listen (127.0.0.1)")
    parser.add_argument("--port", type=int, default=8000, metavar="N", help="the port; 0 for a free one (8000)")
    parser.add_argument("--token-file", type=Path, metavar="FILE", help=f"holds the token of requests; or set {_TOKEN}")
    parser.add_argument("--open", action="store_true", help="let everyone ask who reaches the address, with no token")
    parser.add_argument("--devices", type=_words, metavar="NAME,NAME", help="such as gpu:0,gpu:1 (all)")
    parser.add_argument("--max-batch", type=int, default=32, metavar="N", help="rows that are computed together (32)")
    parser.add_argument("--max-delay-ms", type=float, default=2.0, metavar="MS", help="how long a row waits (2)")
    parser.add_argument("--max-waiting", type=int, metavar="N", help="rows that may wait (64 batches of each device)")
    parser.add_argument("--sizes", type=_numbers, metavar="N,N", help="rows that are compiled for (powers of two)")
    parser.add_argument("--timeout", type=float, default=60.0, metavar="S", help="how long an answer may take (60)")
    parser.add_argument("--max-body-mb", type=float, default=64.0, metavar="MB", help="how large bodies may be (64)")
    parser.add_argument("--body-timeout", type=float, default=30.0, metavar="S", help="how long they may take (30)")
    parser.add_argument(
        "--drain", type=float, default=1.0, metavar="S",
        help="how long, after SIGTERM, new queries get status 503 before connections are refused (1)",
    )  # fmt: skip
    parser.add_argument(
        "--stop", type=float, default=60.0, metavar="S", help="how long the last answers may take after that (60)"
    )
    parser.add_argument("--reuse-port", action="store_true", help="let the next server listen before this one stops")


def serve(options: argparse.Namespace, console: Console) -> None:
    """Serves functions over HTTP until SIGTERM or Ctrl-C."""
    if not options.targets:
        raise InvalidArgumentError("graphc serve: expected a folder of gx.save, or a function as in train.py:predict")
    token = _token(options.token_file)
    if token is None and not options.open and not _is_loopback(options.host):
        raise InvalidArgumentError(
            f"graphc serve: whoever reaches {options.host} could ask; give --token-file, set {_TOKEN}, or say --open"
        )
    from graphc.serve import App, run  # so that the other commands need no Starlette

    app = App(
        cast("Any", _functions(options.targets, options.args)),
        token=token,
        max_body_bytes=int(options.max_body_mb * _MEGABYTE),
        body_timeout=options.body_timeout,
        devices=options.devices,
        max_batch=options.max_batch,
        max_delay_ms=options.max_delay_ms,
        max_waiting=options.max_waiting,
        sizes=options.sizes,
        timeout=options.timeout,
    )
    names = ", ".join(app.names)

    def started(url: str) -> None:
        console.print(f"{url} serves {names}; Ctrl-C ends it", soft_wrap=True, highlight=False)

    run(
        app, options.host, options.port,
        drain_seconds=options.drain, stop_seconds=options.stop, reuse_port=options.reuse_port, on_start=started,
    )  # fmt: skip
    counts = [
        f"{name} answered {stats.answered} quer{'y' if stats.answered == 1 else 'ies'}"
        for name, stats in app.stats().items()
    ]
    console.print(f"stopped: {', '.join(counts)}", soft_wrap=True, highlight=False)


def _functions(targets: Sequence[str], expression: str | None) -> dict[str, Offer]:
    """Returns what is served, by name."""
    served: dict[str, Offer] = {}
    if expression is not None and len(targets) > 1:
        raise InvalidArgumentError("graphc serve: --args is for one function; let each file define example_args()")
    for text in targets:
        prefix, target = _named(text)
        folder, _, function = target.rpartition(":")
        if os.path.isdir(target) or os.path.isdir(folder):
            only = None if os.path.isdir(target) else function
            new = offers(target if only is None else folder, only)
            if prefix and len(new) > 1:
                raise InvalidArgumentError(
                    f"{text}: it has the functions {', '.join(new)}; write {prefix}={target}:NAME"
                )
            new = {prefix or name: offered for name, offered in new.items()}
        else:
            new = {prefix or function: _offer(prefix or function, target, expression)}
        for name in new.keys() & served.keys():
            raise InvalidArgumentError(f"graphc serve: two functions are called {name!r}; write NAME={target}")
        served |= new
    return served


def _offer(name: str, target: str, expression: str | None) -> Offer:
    loaded = load_target(target, expression, required=False)
    fits = expression is not None or (loaded.args and _takes(loaded.function, loaded.args))
    return offer(name, loaded.function, loaded.args if fits else None)


def _named(text: str) -> tuple[str, str]:
    match = re.match(r"([A-Za-z0-9_.-]+)=(.+)", text)
    return (match[1], match[2]) if match else ("", text)


def _takes(function: Callable[..., Any], args: tuple[Any, ...]) -> bool:
    """Returns True for arguments that a function takes: those of a file may be for another one."""
    try:
        inspect.signature(function).bind(*args)
    except (TypeError, ValueError):
        return False
    return True


def _token(path: Path | None) -> str | None:
    if path is None:
        return os.environ.get(_TOKEN) or None
    try:
        return path.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        raise FileMissingError(f"{path}: there is no such file; it is to hold the token of requests") from None


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _words(text: str) -> list[str]:
    return [part.strip() for part in text.split(",")]


def _numbers(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected numbers with commas between them, got {text!r}") from None
