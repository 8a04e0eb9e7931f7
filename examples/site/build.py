"""The manual as pages, with search. Run: python examples/site/build.py [FOLDER]

Needs the extra `docs`. Every warning is an error, so that no link leads nowhere.
"""

import sys
from pathlib import Path

from sphinx.cmd.build import main

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1]))

from examples.site.landing import write_landing  # noqa: E402 - found by the line above

if __name__ == "__main__":
    folder = sys.argv[1] if len(sys.argv) > 1 else "site"
    options = ["--fail-on-warning", "--keep-going", "--nitpicky", "--quiet"]
    status = main([*options, "-c", str(HERE), str(HERE.parent), folder])
    if status:  # Sphinx has printed why
        sys.exit(status)
    write_landing(Path(folder))
    print(f"{folder}/index.html")
