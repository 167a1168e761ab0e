"""The token of Ray, with which anybody can run code."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from graphc.cluster.carriers import rays


@pytest.mark.parametrize("before", [None, 0o644])
def test_the_token_of_ray_is_for_its_user_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: int | None
) -> None:
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    for name in ("RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("RAY_AUTH_MODE", "token")
    monkeypatch.setenv("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
    file = tmp_path / ".ray" / "auth_token"
    if before is not None:
        file.parent.mkdir()
        file.write_text("a" * 64)
        file.chmod(before)
    umask = os.umask(0)
    try:
        rays._prepare(None)
    finally:
        os.umask(umask)
    assert file.stat().st_mode & 0o777 == 0o600
    assert len(file.read_text()) == 64
    assert before is not None or file.parent.stat().st_mode & 0o777 == 0o700
