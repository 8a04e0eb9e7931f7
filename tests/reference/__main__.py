"""The reference of all that is public. Run: python -m tests.reference"""

from tests.documents import ROOT
from tests.reference.pages import pages

FOLDER = ROOT / "examples" / "guide" / "reference"

HEAD = """# Reference

All public functions and methods, as `help` shows them. These pages are made from the package by
`python -m tests.reference`.

"""


def reference() -> dict[str, str]:
    """The text of each file."""
    made = pages()
    index = HEAD + "\n".join(page.index for page in made)
    return {"README.md": index, **{f"{page.name}.md": str(page) for page in made}}


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, text in reference().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
