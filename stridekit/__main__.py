"""`python -m stridekit`: the same as the command `stridekit`."""

import sys

from stridekit.cli import main

if __name__ == "__main__":
    sys.exit(main())
