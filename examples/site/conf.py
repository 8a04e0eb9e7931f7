"""Settings of the manual for Sphinx; see build.py."""

import re
import sys
from importlib import metadata
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.reference.__main__ import write_reference

project = html_title = "polars-scorio"
release = metadata.version(project)
root_doc = "guide/README"
include_patterns = ["guide/**", "findings/**"]
extensions = ["myst_nb", "sphinx_copybutton"]
myst_heading_anchors = 4
nb_execution_mode = "off"  # tests run the notebook and compare what it prints
html_theme = "furo"
pygments_dark_style = "github-dark"  # Furo's own underlines imports, as if they were links
# Lines of 98 characters need no scrolling.
html_theme_options = {"light_css_variables": {"code-font-size": "12px"}}
html_static_path: list[str] = []


def make_reference(app: Sphinx) -> None:
    """Write the reference from the docstrings beside the chapters, where Git ignores it."""
    write_reference(Path(app.srcdir) / "guide" / "reference")


def sidebar(app: Sphinx, page: str, source: list[str]) -> None:  # noqa: ARG001 - as Sphinx calls it
    """Let the sidebar show the pages that an index links, under the headings of the index."""
    if page not in (root_doc, "guide/reference/README", "findings/README"):
        return
    if page == root_doc:
        source[0] += "\n## Reference\n\n[All functions and methods](reference/README.md)\n"
    parts = re.split(r"^## ", source[0], flags=re.MULTILINE)
    for part in parts:
        pages = re.findall(r"\]\(((?:\.\./findings/)?[\w/]+\.(?:md|ipynb))\)", part)
        captioned = page == root_doc and part is not parts[0]
        caption = f":caption: {part.splitlines()[0]}\n" if captioned else ""
        entries = "\n".join(dict.fromkeys(pages))
        if pages:
            source[0] += f"\n\n```{{toctree}}\n:hidden:\n{caption}\n{entries}\n```\n"


def reference_entries(app: Sphinx) -> dict[str, str]:
    """Page and anchor of each public name; methods of `df.scorio` also by their last word."""
    entries = {}
    for page in sorted(app.env.found_docs):
        if page.startswith("guide/reference/") and page != "guide/reference/README":
            for section in app.env.get_doctree(page).findall(nodes.section):
                name = section.next_node(nodes.title).astext()
                entries.setdefault(name, f"{page}#{section['ids'][0]}")
    methods = [name for name in entries if re.fullmatch(r"df\.scorio\.\w+", name)]
    return {**{name.rpartition(".")[2]: entries[name] for name in methods}, **entries}


def link_code(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Make a link to the reference of each function that the text of a chapter names in code."""
    if page.startswith("guide/reference/"):
        return
    entries = reference_entries(app)
    for literal in list(doctree.findall(nodes.literal)):
        target = entries.get(literal.astext().partition("(")[0])
        if target and not isinstance(literal.parent, nodes.reference):
            file, _, anchor = target.partition("#")
            address = f"{app.builder.get_relative_uri(page, file)}#{anchor}"
            linked = nodes.reference("", "", literal.deepcopy(), refuri=address, internal=True)
            literal.replace_self(linked)


def setup(app: Sphinx) -> None:
    """Register what this manual adds to Sphinx."""
    app.connect("builder-inited", make_reference)
    app.connect("source-read", sidebar)
    app.connect("doctree-resolved", link_code)
