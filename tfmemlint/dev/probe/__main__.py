"""`python -m tfmemlint.dev.probe [PART ...]`."""

import sys

from tfmemlint.dev.probe.run import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
