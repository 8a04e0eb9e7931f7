"""The picture of a report in the README. Run: python examples/report_picture.py [FOLDER]

Needs Chromium, and Pillow, which makes the file small: python -m pip install pillow
"""

import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image
from rollouts import rollouts

import polars_scorio as ps

path = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent / "pictures", "report.png")
browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
with TemporaryDirectory() as folder:
    page = rollouts().scorio(by="domain").write_html(
        Path(folder, "report.html"), ps.avg(), ps.pass_at_k(4), title="Service agents, spring run"
    )  # fmt: skip
    options = ["--headless", "--no-sandbox", "--hide-scrollbars", f"--user-data-dir={folder}/user"]
    options += ["--window-size=800,960", f"--screenshot={path}"]
    subprocess.run([browser, *options, page.as_uri()], check=True, capture_output=True)  # noqa: S603
Image.open(path).convert("RGB").quantize(128).save(path, optimize=True)
print(f"{path}: {path.stat().st_size / 1000:.0f} kB")
