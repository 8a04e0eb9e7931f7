"""The reference of all that is public. Run: python -m tests.reference FOLDER"""

import sys
from pathlib import Path

from tests.reference.pages import pages

HEAD = """# Reference

All public functions and methods, as `help` shows them.

"""


def reference() -> dict[str, str]:
    """The text of each file."""
    made = pages()
    index = HEAD + "\n".join(page.index for page in made)
    return {"README.md": index, **{f"{page.name}.md": str(page) for page in made}}


def write_reference(folder: Path) -> None:
    """Write the pages into a folder; a page that is as it was keeps its date."""
    folder.mkdir(exist_ok=True)
    for name, text in reference().items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write_reference(Path(sys.argv[1]))
