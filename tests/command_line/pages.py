"""The texts of pages."""

from pathlib import Path

from tests.display.html.logs import Checked


def page_text(path: str) -> str:
    """All texts of a page."""
    return "".join(Checked(Path(path)).texts)
