"""`python -m a202_mcp`: the same as the command `a202-mcp`."""

import sys

from a202_mcp.cli import main

if __name__ == "__main__":
    sys.exit(main())
