"""Settings of the manual for Sphinx; see build.py."""

import re
from importlib import metadata

from sphinx.application import Sphinx

project = html_title = "polars-scorio"
release = metadata.version(project)
root_doc = "README"
extensions = ["myst_nb", "sphinx_copybutton"]
myst_heading_anchors = 4
nb_execution_mode = "off"  # tests run the notebook and compare what it prints
html_theme = "furo"
html_static_path: list[str] = []


def sidebar(app: Sphinx, page: str, source: list[str]) -> None:  # noqa: ARG001 - as Sphinx calls it
    """Let the sidebar show the pages that an index links, under the headings of the index."""
    if page not in (root_doc, "reference/README"):
        return
    parts = re.split(r"^## ", source[0], flags=re.MULTILINE)
    for part in parts:
        pages = re.findall(r"\]\(((?!\.\.)[\w/]+\.(?:md|ipynb))\)", part)
        captioned = page == root_doc and part is not parts[0]
        caption = f":caption: {part.splitlines()[0]}\n" if captioned else ""
        entries = "\n".join(dict.fromkeys(pages))
        if pages:
            source[0] += f"\n\n```{{toctree}}\n:hidden:\n{caption}\n{entries}\n```\n"


def setup(app: Sphinx) -> None:
    """Register what this manual adds to Sphinx."""
    app.connect("source-read", sidebar)
