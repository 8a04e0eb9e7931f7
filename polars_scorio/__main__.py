"""The command, as ``python -m polars_scorio``."""

import sys

from polars_scorio.command_line.main import main

if __name__ == "__main__":
    sys.exit(main())
