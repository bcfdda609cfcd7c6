"""The process in which a part of the probe runs: `python -m tfmemlint.probe.child PART RESULT [ARGUMENT ...]`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def tables_of(part: str, arguments: list[str]) -> dict[str, dict[str, Any]]:
    """What the part finds; its modules are imported here, as they import TensorFlow."""
    if part == "names":
        from tfmemlint.probe.tables import name_tables

        return name_tables()
    raise SystemExit(f"no such part: {part}")


if __name__ == "__main__":
    found = tables_of(sys.argv[1], sys.argv[3:])
    Path(sys.argv[2]).write_text(json.dumps(found), encoding="utf-8")
