"""`python -m benchmarks [COMMAND] ...`: which module a command is."""

from __future__ import annotations

import importlib
import sys

COMMANDS = {
    "page": "measure everything beside other tools, and write docs/performance.md; what is done without a command",
    "cold": "how long one small file takes from a cold start",
    "compare": "whether one checkout lints slower than another",
    "flake8": "what the plugin costs flake8 on code without TensorFlow",
    "following": "what following imports costs",
    "growth": "how cost grows with the size of programs",
    "speed": "linting against parsing alone, file by file in one process",
}


def main() -> int:
    """Run a command; its exit code."""
    words = sys.argv[1:]
    if words[:1] in (["-h"], ["--help"]):
        print(f"{__doc__}\n")
        print("\n".join(f"  {name:12}{what}" for name, what in COMMANDS.items()))
        print("\nEach has a --help of its own.")
        return 0
    name = words.pop(0) if words and not words[0].startswith("-") else "page"
    if name not in COMMANDS:
        print(f"benchmarks: no command {name}; there are {', '.join(COMMANDS)}", file=sys.stderr)
        return 2
    sys.argv[0] = f"python -m benchmarks {name}"
    code: int = importlib.import_module(f"benchmarks.{name}").main(words)
    return code


if __name__ == "__main__":
    sys.exit(main())
