"""The picture of a report in the README. Run: python examples/report_picture.py [FOLDER]

Needs Chromium, and Pillow, which makes the file small: python -m pip install pillow
"""

import hashlib
import re
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
from rollouts import rollouts

import polars_scorio as ps

TITLE = "Service agents, spring run"
# Left the usual leaderboard, right the page of the same log.
BOTH = """<!DOCTYPE html><meta charset="utf-8"><style>
body {{ margin: 0; display: flex; font: 16px/1.5 system-ui, sans-serif; color: #1b1f24 }}
aside {{ width: 300px; padding: 24px 20px; background: #f5f7f9; flex: none }}
h1 {{ font-size: 19px; margin: 0 0 14px }}
td, th {{ padding: 5px 12px 5px 0; text-align: left; border-bottom: 1px solid #d5dae0 }}
iframe {{ border: 0; width: 890px; height: 770px }}
</style><aside><h1>The usual leaderboard</h1>
<table><tr><th>rank<th>model<th>score</tr>{rows}</table></aside>
<iframe src="report.html" scrolling="no"></iframe>"""


def written_page(folder: Path) -> Path:
    """The page of the log of the README, in a folder."""
    log = rollouts().scorio(by="domain")
    return log.write_html(folder / "report.html", ps.avg(), ps.pass_at_k(4), title=TITLE)


def page_digest(page: Path) -> str:
    """A hash of all that the picture shows of the page, but its lines: words, numbers, style."""
    shown, _, _ = page.read_text(encoding="utf-8").partition('<section id="compare">')
    return hashlib.sha256(re.sub(r"<svg.*?</svg>", "", shown).encode()).hexdigest()


def usual_leaderboard() -> str:
    """The rows of a leaderboard of means, as HTML."""
    means = rollouts().group_by("model").agg(score=100 * pl.col("category").mean())
    rows = enumerate(means.sort("score", descending=True).rows(), 1)
    return "".join(f"<tr><td>{n}<td>{model}<td>{score:.1f}</tr>" for n, (model, score) in rows)


def take_picture(path: Path) -> None:
    """Draw both, and write the hash of the page into the picture."""
    from PIL import Image, PngImagePlugin  # noqa: PLC0415 - not needed for the hash

    browsers = map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))
    browser = next(filter(None, browsers))
    with TemporaryDirectory() as name:
        folder = Path(name)
        digest = page_digest(written_page(folder))
        both = folder / "both.html"
        both.write_text(BOTH.format(rows=usual_leaderboard()), encoding="utf-8")
        options = ["--headless", "--no-sandbox", "--hide-scrollbars", f"--user-data-dir={name}/u"]
        options += ["--window-size=1230,770", f"--screenshot={path}"]
        subprocess.run([browser, *options, both.as_uri()], check=True, capture_output=True)  # noqa: S603
    told = PngImagePlugin.PngInfo()
    told.add_text("page", digest)
    Image.open(path).convert("RGB").quantize(256, Image.Quantize.MAXCOVERAGE).save(
        path, optimize=True, pnginfo=told
    )
    print(f"{path}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    folder = sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent / "pictures"
    take_picture(Path(folder, "report.png"))
