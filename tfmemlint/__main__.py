"""`python -m tfmemlint` is the command `tfmemlint`."""

import sys

from tfmemlint.cli import main

if __name__ == "__main__":
    sys.exit(main())
