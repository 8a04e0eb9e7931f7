"""The manual as pages: all of them are built, linked, and found from each other."""

import subprocess
import sys

import pytest

from tests.documents import ROOT

for needed in ("sphinx", "myst_nb", "furo", "sphinx_copybutton"):
    pytest.importorskip(needed)

EXAMPLES = ROOT / "examples"


@pytest.mark.slow
def test_every_page_is_built_and_in_the_sidebar(tmp_path):
    command = [sys.executable, str(ROOT / "examples" / "site" / "build.py"), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == f"{tmp_path}/index.html"
    assert "url=guide/README.html" in (tmp_path / "index.html").read_text(encoding="utf-8")
    looks = (tmp_path / "guide" / "looks.html").read_text(encoding="utf-8")
    sidebar, _, _ = looks.partition("<article")
    for page in (*EXAMPLES.glob("guide/**/*.md"), *EXAMPLES.glob("findings/*.md")):
        target = page.relative_to(EXAMPLES).with_suffix(".html")
        assert (tmp_path / target).is_file()
        if page.parent == EXAMPLES / "guide" and page.stem not in ("README", "looks"):
            assert f'href="{target.name}"' in sidebar
    assert 'href="../findings/README.html"' in sidebar
    assert all(f">{caption}<" in sidebar for caption in ("Your question", "Metrics", "Look it up"))
    gate = (tmp_path / "guide" / "gate.html").read_text(encoding="utf-8")
    assert 'href="reference/decisions.html#df-scorio-gate"' in gate
