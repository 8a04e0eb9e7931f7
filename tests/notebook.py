"""The notebook with what it shows. Run: python -m tests.notebook

What it needs beyond the tests is imported where it is used: doctests import this module anywhere.
"""

from __future__ import annotations

import sys
from base64 import b64decode, b64encode
from io import BytesIO
from typing import TYPE_CHECKING

from tests.documents import ROOT

if TYPE_CHECKING:
    from nbformat import NotebookNode

NOTEBOOK = ROOT / "examples" / "guide" / "tour.ipynb"


def executed() -> NotebookNode:
    """The notebook, run from top to bottom, with small outputs that depend on it alone."""
    import nbformat  # noqa: PLC0415 - see above
    from nbclient import NotebookClient  # noqa: PLC0415

    notebook = nbformat.read(NOTEBOOK, as_version=4)
    NotebookClient(notebook, timeout=120, record_timing=False).execute()
    notebook.metadata.language_info = {"name": "python"}  # without the version
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            if "data" in output:
                output.data = small(output.data)
    return notebook


def small(data: dict[str, str]) -> dict[str, str]:
    """Of pictures the PNG, since hosts of repositories show no Vega-Lite; of tables HTML alone."""
    if "image/png" in data:
        from PIL import Image  # noqa: PLC0415 - see above

        png = BytesIO()
        picture = Image.open(BytesIO(b64decode(data["image/png"]))).convert("RGB")
        picture.quantize(64).save(png, "png", optimize=True)
        return {"image/png": b64encode(png.getvalue()).decode(), "text/plain": "<picture>"}
    table = data["text/plain"].startswith("GT(")
    return {**data, "text/plain": "<table>"} if table else data


if __name__ == "__main__":
    from nbformat import write

    write(executed(), sys.argv[1] if len(sys.argv) > 1 else NOTEBOOK)
