"""The notebook runs from top to bottom, and shows what its readers see where it is hosted."""

import json
import subprocess
import sys

import pytest

from tests.documents import ROOT

for needed in ("nbclient", "ipykernel", "PIL", "altair", "vl_convert", "great_tables"):
    pytest.importorskip(needed)

NOTEBOOK = ROOT / "examples" / "guide" / "tour.ipynb"


def outputs(text: str) -> list[dict[str, str]]:
    """What its cells show, each as texts by their kind."""
    cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    shown = [output for cell in cells for output in cell["outputs"]]
    assert {output["output_type"] for output in shown} == {"execute_result"}  # not even a warning
    return [{kind: "".join(data) for kind, data in output["data"].items()} for output in shown]


@pytest.mark.slow
def test_the_notebook_runs_and_shows_what_is_stored(tmp_path):
    command = [sys.executable, "-m", "tests.notebook", tmp_path / "tour.ipynb"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode == 0, done.stderr
    made = outputs((tmp_path / "tour.ipynb").read_text(encoding="utf-8"))
    stored = outputs(NOTEBOOK.read_text(encoding="utf-8"))
    texts = [[output["text/plain"] for output in each] for each in (made, stored)]
    assert texts[0] == texts[1], "run python -m tests.notebook"


def test_it_shows_an_accessor_tables_and_pictures():
    text = NOTEBOOK.read_text(encoding="utf-8")
    shown = outputs(text)
    assert any(
        "<caption>scorio of a DataFrame</caption>" in each["text/html"] for each in shown[:3]
    )
    assert sum("gt_table" in each.get("text/html", "") for each in shown) == 1
    assert sum("image/png" in each for each in shown) == 2
    assert len(text) < 150_000
