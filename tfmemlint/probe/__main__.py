"""`python -m tfmemlint.probe [PART ...]`."""

import sys

from tfmemlint.probe.run import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
