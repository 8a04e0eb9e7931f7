"""The pictures of a report in the README. Run: python examples/report_picture.py [FOLDER]

Needs Chromium, and Pillow, which makes the files small: python -m pip install pillow
"""

import hashlib
import re
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from rollouts import rollouts

import polars_scorio as ps

TITLE = "Service agents, spring run"
WIDTH, TALL, EDGE = 1080, 1400, 24  # pixels; below its last mark the page ends
SCHEMES = {"dark": 0, "light": 1}  # as Chromium numbers them


def written_page(folder: Path) -> Path:
    """The page of the log of the README, in a folder."""
    log = rollouts().scorio(by="domain")
    return log.write_html(folder / "report.html", ps.avg(), ps.pass_at_k(4), title=TITLE)


def first_part(page: Path) -> str:
    """The page up to its first section: the title, the alerts and the leaderboard."""
    return page.read_text(encoding="utf-8").partition('<section class="s"')[0]


def page_digest(page: Path) -> str:
    """A hash of all that the pictures show, but for the lines: words, numbers, style."""
    return hashlib.sha256(re.sub(r"<svg.*?</svg>", "", first_part(page)).encode()).hexdigest()


def take_pictures(folder: Path) -> None:
    """Draw the page in both schemes, and write its hash into the pictures."""
    from PIL import Image, ImageChops, PngImagePlugin  # noqa: PLC0415 - not needed for the hash

    browser = next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome")))
    )
    with TemporaryDirectory() as name:
        page = written_page(Path(name))
        told = PngImagePlugin.PngInfo()
        told.add_text("page", page_digest(page))
        page.write_text(f"{first_part(page)}</main></body></html>", encoding="utf-8")
        for scheme, number in SCHEMES.items():
            path = folder / f"report_{scheme}.png"
            options = [
                "--headless",
                "--no-sandbox",
                "--hide-scrollbars",
                f"--user-data-dir={name}/u",
            ]
            options += [f"--blink-settings=preferredColorScheme={number}"]
            options += [f"--window-size={WIDTH},{TALL}", f"--screenshot={path}"]
            subprocess.run([browser, *options, page.as_uri()], check=True, capture_output=True)  # noqa: S603
            whole = Image.open(path).convert("RGB")
            ground = Image.new("RGB", whole.size, whole.getpixel((0, TALL - 1)))
            end = ImageChops.difference(whole, ground).getbbox()[3]
            whole.crop((0, 0, WIDTH, end + EDGE)).quantize(256, Image.Quantize.MAXCOVERAGE).save(
                path, optimize=True, pnginfo=told
            )
            print(f"{path}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    take_pictures(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "pictures")
