"""The reference of all that is public. Run: python -m tests.reference FOLDER"""

import sys
from pathlib import Path

from tests.reference.pages import parts

HEAD = """# Reference

All public functions and methods, as `help` shows them.

"""


def reference() -> dict[str, str]:
    """The text of each file."""
    made = parts()
    entries = [entry for part in made for entry in part.entries]
    index = HEAD + "\n".join(part.index for part in made)
    return {"README.md": index, **{f"{entry.file}.md": str(entry) for entry in entries}}


def write_reference(folder: Path) -> None:
    """Write the pages into a folder; a page that is as it was keeps its date."""
    folder.mkdir(exist_ok=True)
    for stale in {path.name for path in folder.glob("*.md")} - reference().keys():
        (folder / stale).unlink()
    for name, text in reference().items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write_reference(Path(sys.argv[1]))
