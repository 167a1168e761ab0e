"""Chromium without a screen, for the tests that look at pages; they are skipped where it is not installed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

_FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--hide-scrollbars", "--enable-logging=stderr",
)  # fmt: skip
_LIMIT = 60.0
"""Seconds; a browser that takes longer is killed."""

needs_chromium = pytest.mark.skipif(shutil.which("chromium") is None, reason="Chromium is not installed")


def chromium(page: Path, folder: Path, *flags: str) -> tuple[str, str]:
    """Opens a page and ends.

    Args:
      page: the file.
      folder: an empty one, for the browser's own files.
      *flags: what else to do: ``--dump-dom``, ``--screenshot=FILE``, ``--print-to-pdf=FILE``.

    Returns:
      What it printed, and what it logged.
    """
    command = ["chromium", *_FLAGS, f"--user-data-dir={folder}", *flags, page.as_uri()]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            printed, logged = process.communicate(timeout=_LIMIT)
        finally:
            process.kill()
    return printed, logged
