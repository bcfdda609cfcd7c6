"""`python -m tfmemlint` is the command `tfmemlint`."""

import os
import sys


def run() -> int:
    """Run the command line. What lies in the working directory is to be read: Python, which would import modules and
    find rule packs there, is told not to."""
    if not getattr(sys.flags, "safe_path", False) and sys.path and sys.path[0] in ("", os.getcwd()):
        del sys.path[0]
    from tfmemlint.cli.commands import process

    return process()


if __name__ == "__main__":
    sys.exit(run())
