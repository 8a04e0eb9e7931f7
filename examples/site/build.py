"""The manual as pages, with search. Run: python examples/site/build.py [FOLDER]

Needs the extra `docs`. Every warning is an error, so that no link leads nowhere.
"""

import sys
from pathlib import Path

from sphinx.cmd.build import main

HERE = Path(__file__).parent

if __name__ == "__main__":
    folder = sys.argv[1] if len(sys.argv) > 1 else "site"
    options = ["--fail-on-warning", "--keep-going", "--nitpicky", "--quiet"]
    status = main([*options, "-c", str(HERE), str(HERE.parent), folder])
    # The page that a server shows first.
    refresh = '<!DOCTYPE html><meta http-equiv="refresh" content="0; url=guide/README.html">'
    Path(folder, "index.html").write_text(
        f"{refresh}<title>polars-scorio</title>\n", encoding="utf-8"
    )
    print(f"{folder}/index.html")
    sys.exit(status)
