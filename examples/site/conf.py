"""Settings of the manual for Sphinx; see build.py."""

import re
import sys
from importlib import metadata
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.reference.__main__ import write_reference
from tests.reference.pages import parts

project = html_title = "polars-scorio"
release = metadata.version(project)
root_doc = "guide/README"
include_patterns = ["guide/**", "findings/**", "validation/*.md"]
extensions = ["myst_nb", "sphinx_copybutton"]
myst_heading_anchors = 4
nb_execution_mode = "off"  # tests run the notebook and compare what it prints
html_theme = "furo"
html_show_copyright = False  # the licence stands in the repository
pygments_dark_style = "github-dark"  # Furo's own underlines imports, as if they were links
# Lines of 98 characters need no scrolling.
html_theme_options = {"light_css_variables": {"code-font-size": "12px"}}
html_static_path = ["static"]
html_favicon = "static/favicon.svg"


# What people type into the search, and the page that answers it: an entry of the index comes first.
SEARCHED = {
    "guide/compare": "is model A better",
    "guide/gate": "regression gate",
    "guide/metrics/success": "confidence interval pass@k",
    "guide/reruns": "noise floor",
    "guide/trials": "how many samples",
}


def make_reference(app: Sphinx) -> None:
    """Write the reference from the docstrings beside the chapters, where Git ignores it."""
    write_reference(Path(app.srcdir) / "guide" / "reference")


def sidebar(app: Sphinx, page: str, source: list[str]) -> None:  # noqa: ARG001 - as Sphinx calls it
    """Let the sidebar show the pages that an index links, under the headings of the index."""
    indexes = (root_doc, "guide/reference/README", "findings/README", "validation/README")
    if page not in indexes:
        return
    if page == root_doc:
        listed = "\n## Reference\n"
        source[0] = source[0].replace(
            listed, f"{listed}\n- [All functions and methods](reference/README.md)", 1
        )
    parts = re.split(r"^## ", source[0], flags=re.MULTILINE)
    for part in parts:
        # What the tutorial of the first page links, its lists link again.
        lines = part.splitlines() if page != root_doc else re.findall(r"^- .*", part, re.MULTILINE)
        address = r"\]\(((?:\.\./(?:findings|validation)/)?[\w/]+\.(?:md|ipynb))\)"
        pages = re.findall(address, "\n".join(lines))
        captioned = page == root_doc and part is not parts[0]
        caption = f":caption: {part.splitlines()[0]}\n" if captioned else ""
        entries = "\n".join(dict.fromkeys(pages))
        if pages:
            source[0] += f"\n\n```{{toctree}}\n:hidden:\n{caption}\n{entries}\n```\n"


def found_first(app: Sphinx, page: str, source: list[str]) -> None:  # noqa: ARG001 - as Sphinx calls it
    """Put what people search for into the index, as an entry of the page that answers it."""
    if page in SEARCHED:
        source[0] = f"```{{index}} ! {SEARCHED[page]}\n```\n\n{source[0]}"


def reference_entries() -> dict[str, str]:
    """Page of each public name; methods of `df.scorio` also by their last word."""
    entries = {e.name: f"guide/reference/{e.file}" for part in parts() for e in part.entries}
    methods = [name for name in entries if re.fullmatch(r"df\.scorio\.\w+", name)]
    return {**{name.rpartition(".")[2]: entries[name] for name in methods}, **entries}


def link_code(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Make a link to the reference of each function that the text of a chapter names in code."""
    if page.startswith("guide/reference/"):
        return
    entries = reference_entries()
    for literal in list(doctree.findall(nodes.literal)):
        target = entries.get(literal.astext().partition("(")[0])
        if target and not isinstance(literal.parent, nodes.reference):
            address = app.builder.get_relative_uri(page, target)
            linked = nodes.reference("", "", literal.deepcopy(), refuri=address, internal=True)
            literal.replace_self(linked)


def setup(app: Sphinx) -> None:
    """Register what this manual adds to Sphinx."""
    app.connect("builder-inited", make_reference)
    app.connect("source-read", sidebar)
    app.connect("source-read", found_first)
    app.connect("doctree-resolved", link_code)
