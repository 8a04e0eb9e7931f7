"""The notebook with what it shows. Run: python -m tests.notebook"""

import sys
from base64 import b64decode, b64encode
from io import BytesIO

import nbformat
from nbclient import NotebookClient
from PIL import Image

from tests.documents import ROOT

NOTEBOOK = ROOT / "examples" / "guide" / "tour.ipynb"


def executed() -> nbformat.NotebookNode:
    """The notebook, run from top to bottom, with small outputs that depend on it alone."""
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
        png = BytesIO()
        picture = Image.open(BytesIO(b64decode(data["image/png"]))).convert("RGB")
        picture.quantize(64).save(png, "png", optimize=True)
        return {"image/png": b64encode(png.getvalue()).decode(), "text/plain": "<picture>"}
    table = data["text/plain"].startswith("GT(")
    return {**data, "text/plain": "<table>"} if table else data


if __name__ == "__main__":
    nbformat.write(executed(), sys.argv[1] if len(sys.argv) > 1 else NOTEBOOK)
