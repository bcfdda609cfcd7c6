"""Parse files with libcst and do nothing else: `parse.py PATH ...`, or `parse.py --list FILE` with a path a line.

The measure that all is compared with, so it imports nothing of this package. Files that libcst does not parse count for
what it took to see that.
"""

import sys

import libcst as cst


def main(paths: list[str]) -> None:
    """Parse one file after the other; no tree is kept."""
    sys.setrecursionlimit(20_000)
    for path in paths:
        with open(path, "rb") as stream:
            data = stream.read()
        try:
            cst.parse_module(data)
        except (cst.ParserSyntaxError, SyntaxError, UnicodeDecodeError, RecursionError):
            print(f"not parsed: {path}", file=sys.stderr)


if __name__ == "__main__":
    if sys.argv[1] == "--list":
        with open(sys.argv[2], encoding="utf-8") as names:
            main(names.read().splitlines())
    else:
        main(sys.argv[1:])
