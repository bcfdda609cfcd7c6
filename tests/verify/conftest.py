"""Programs run in each test, whatever an earlier one has kept."""

from __future__ import annotations

import pytest

from tfmemlint.cli.verify import commands


@pytest.fixture(autouse=True)
def _no_kept_runs(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.module.__name__ != "test_kept":
        monkeypatch.setattr(commands, "installed", lambda settings: "")
