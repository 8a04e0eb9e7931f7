"""The page in a browser: nothing overflows, nothing is fetched, nothing is complained of."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.display.html.logs import models, page_of, retried
from tests.display.html.test_gallery import GALLERY, dollars
from tests.made_logs import long

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
WIDTHS = (390, 1280, 1920)
# Of a page in frames of several widths: how much wider it is, what it fetched, how wide it is,
# how many tables scroll, how wide boxes to choose from are, and how high it is.
_PROBE = """<!DOCTYPE html><title></title>{frames}<script>
const all = [...document.querySelectorAll("iframe")];
onload = () => document.title = JSON.stringify(all.map(frame => {{
  const page = frame.contentDocument.documentElement;
  const fetched = frame.contentWindow.performance.getEntriesByType("resource").length;
  const boxes = [...page.querySelectorAll(".wide")];
  const scrolling = boxes.filter(box => box.scrollWidth > box.clientWidth).length;
  const widest = Math.max(0, ...[...page.querySelectorAll("select")].map(each => each.offsetWidth));
  return [page.scrollWidth - page.clientWidth, fetched, page.clientWidth, scrolling, widest,
          page.scrollHeight];
}}))
</script>"""


_AXE = """<script src="axe.js"></script><script>
onload = () => axe.run().then(found => document.title = JSON.stringify(
  found.violations.map(each => [each.id, each.nodes.map(node => node.html.slice(0, 100))])))
</script></body>"""


def found_browser() -> str:
    """Path of a browser; skips the test if there is none."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        pytest.skip("no browser is here")
    return browser


@pytest.fixture
def axe_script() -> str:
    """The script of axe-core, the file that AXE_CORE names; skips the test if there is none."""
    script = os.environ.get("AXE_CORE")
    if script is None:
        pytest.skip("AXE_CORE does not name a file: npm pack axe-core has one, axe.min.js")
    return script


def opened(page: Path, *options: str) -> tuple[Any, str]:
    """What a page writes into its title as JSON, and what the browser complains of."""
    browser = found_browser()
    usual = ["--headless", "--no-sandbox", "--allow-file-access-from-files", "--dump-dom",
             "--enable-logging=stderr", f"--user-data-dir={page.parent}/user"]  # fmt: skip
    done = subprocess.run(  # noqa: S603 - our own page
        [browser, *usual, *options, page.as_uri()], capture_output=True, text=True, check=True,
        timeout=300,
    )  # fmt: skip
    (title,) = re.findall(r"<title>(\[.*?)</title>", done.stdout)
    return json.loads(title), "\n".join(re.findall(r".*CONSOLE.*", done.stderr))


def violations(folder: Path, script: str, html: str, *options: str) -> list[list[str]]:
    """Violations that axe-core finds in a page."""
    shutil.copy(script, folder / "axe.js")
    page = folder / "axe.html"
    page.write_text(html.replace("</body>", _AXE), encoding="utf-8")
    return opened(page, "--virtual-time-budget=30000", *options)[0]


def probed(folder: Path, html: str) -> tuple[list[list[int]], str]:
    """Overflow, requests, width and scrolling parts in each frame, and the complaints."""
    (folder / "page.html").write_text(html, encoding="utf-8")
    frame = '<iframe src="page.html" style="width:{}px;height:800px;border:0"></iframe>'
    probe = folder / "probe.html"
    probe.write_text(_PROBE.format(frames="".join(map(frame.format, WIDTHS))), encoding="utf-8")
    return opened(probe)


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", ["usual", "many", "long", "baseline", "refused", "alarm", "errored"]
)
def test_a_page_fits_its_window_and_is_silent(tmp_path, kind):
    log, roles = models(5, strata=2), {"by": "bench"}
    if kind == "baseline":
        log, roles = dollars(), {"baseline": "m01", "cost": "usd"}
    if kind == "many":
        log = models(25, strata=8)
    if kind == "errored":  # each meaning of an error has a verdict
        sure = pl.concat(
            [long([[1, 1, 1, None]] * 60, "a" * 60), long([[0, 0, 1, 0]] * 60, "b" * 60)]
        )
        log, roles = sure, {"missing": "bounds"}
    if kind == "refused":
        log = log.with_columns(category=pl.lit("y" * 90))
    if kind == "alarm":
        log, roles = retried("a" * 90, "b" * 90), {}
    if kind == "long":
        name = pl.format("{}{}", pl.lit("organisation/a-model-with-a-name-" + "x" * 200), "model")
        log = log.with_columns(model=name, bench=pl.format("{}{}", pl.lit("y" * 90), "bench"))
    found, complaints = probed(tmp_path, page_of(log, **roles).html())
    assert complaints == ""
    assert [row[:2] for row in found] == [[0, 0]] * len(WIDTHS)
    assert all(row[4] <= 260 for row in found)  # boxes to choose a model
    if kind != "long":  # names of 260 pixels take the room of a picture
        assert [row[3] for row in found] == [0] * len(WIDTHS)
    # A vertical scroll bar takes up to 20 pixels.
    assert [abs(row[2] - width) <= 20 for row, width in zip(found, WIDTHS, strict=True)] == [
        True
    ] * 3


@pytest.mark.slow
def test_a_page_of_many_models_and_strata_is_less_than_3000_pixels_high(tmp_path):
    log, roles = GALLERY["60 models, 40 strata"]()
    found, _ = probed(tmp_path, page_of(log, **roles).html())
    assert found[WIDTHS.index(1280)][5] < 3_000


_AXIS = """<script>onload = () => document.title = JSON.stringify(
  [...document.querySelectorAll(".lb thead .fp text")].map(each => each.getBoundingClientRect())
    .map(box => [box.left / innerWidth, box.right / innerWidth, box.height, innerWidth]))
</script></body>"""


@pytest.mark.slow
@pytest.mark.parametrize("roles", [{}, {"baseline": "m01"}])
def test_a_forest_has_its_axis_on_a_phone(tmp_path, roles):
    """The row of heads, which has the axis, was hidden."""
    page = tmp_path / "phone.html"
    page.write_text(page_of(models(3), **roles).html().replace("</body>", _AXIS), encoding="utf-8")
    boxes, _ = opened(page, "--window-size=390,900")
    assert len(boxes) >= 3
    assert all(wide <= 640 for *_, wide in boxes)  # as narrow as a phone
    assert all(0 <= left < right <= 1 and height > 0 for left, right, height, _ in boxes)


@pytest.mark.slow
@pytest.mark.parametrize("name", GALLERY)
def test_axe_finds_no_violation(tmp_path, axe_script, name):
    log, roles = GALLERY[name]()
    html = page_of(log, **roles).html()
    for scheme, width in ((1, 1280), (0, 400)):  # light and wide, dark and narrow
        options = f"--blink-settings=preferredColorScheme={scheme}", f"--window-size={width},900"
        assert violations(tmp_path, axe_script, html, *options) == []
