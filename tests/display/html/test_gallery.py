"""A gallery of logs, each of which has a page: complete, well formed, small, quick.

``python -m tests.display.html.test_gallery`` writes what each page tells first.
"""

import time
from collections.abc import Callable
from functools import cache
from random import Random

import numpy as np
import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.display.page import Page, account_words
from polars_scorio.display.table import markdown_text
from tests.display.html.logs import Checked, drawn_sections, models, page_of, retried
from tests.documents import ROOT
from tests.made_logs import long

Log = tuple[pl.DataFrame, dict[str, object]]


def of_rate(rate: float, questions: int = 30, number: int = 3) -> pl.DataFrame:
    """Models that succeed in this share of the trials."""
    random = Random(4)  # noqa: S311 - nothing here is secret
    outcomes = [
        (f"m{model}", question, trial, int(random.random() < rate))
        for model in range(number)
        for question in range(questions)
        for trial in range(4)
    ]
    columns = ["model", "question", "trial", "category"]
    return pl.DataFrame(outcomes, schema=columns, orient="row")


def training() -> pl.DataFrame:
    """A run of five steps, whose names are in another order than their numbers."""
    log = models(2, strata=5, questions=8)
    return log.with_columns(step=pl.col("bench").str.slice(6).cast(pl.Int64) * 50).drop("bench")


def clustered() -> pl.DataFrame:
    return models(3, questions=20).with_columns(passage=pl.col("question") // 4)


def labelled() -> pl.DataFrame:
    """Verdicts of a judge, half of them with the label of a person."""
    known = pl.col("question") % 2 == 0
    return models(2, questions=40).with_columns(human=pl.when(known).then("category"))


def dollars() -> pl.DataFrame:
    return models(3).with_columns(usd=0.01 + 0.001 * pl.col("trial"))


def named(*names: str) -> pl.DataFrame:
    return models(len(names)).with_columns(
        pl.col("model").replace_strict({f"m{n:02}": name for n, name in enumerate(names)})
    )


GALLERY: dict[str, Callable[[], Log]] = {
    "one model": lambda: (models(1), {}),
    "two models": lambda: (models(2), {}),
    "five models, one stratum": lambda: (models(5, strata=1), {"by": "bench"}),
    "25 models": lambda: (models(25, questions=20, trials=8), {}),
    "25 models, 8 strata": lambda: (models(25, strata=8), {"by": "bench"}),
    "60 models, 40 strata": lambda: (models(60, strata=40, questions=8), {"by": "bench"}),
    "1 %": lambda: (of_rate(0.01), {}),
    "50 %": lambda: (of_rate(0.5), {}),
    "99 %": lambda: (of_rate(0.99), {}),
    "all right": lambda: (long([[1] * 4] * 12), {}),
    "one trial": lambda: (models(3, trials=1), {}),
    "two questions": lambda: (models(2, questions=2), {}),
    "10,000 questions": lambda: (of_rate(0.5, 10_000), {}),
    "unequal n": lambda: (models(3).filter((pl.col("question") + pl.col("trial")) % 5 > 0), {}),
    "clusters": lambda: (clustered(), {"cluster": "passage"}),
    "weights": lambda: (models(3).with_columns(pl.col("category") * 0.5), {"bounds": (0, 1)}),
    "training": lambda: (training(), {"by": "step"}),
    "judge": lambda: (labelled(), {"truth": "human"}),
    "costs": lambda: (dollars(), {"cost": "usd"}),
    "a baseline": lambda: (models(4, questions=40, trials=8), {"baseline": "m01"}),
    "long names": lambda: (named("organisation/" + "x" * 150, "y" * 80), {}),
    "names from right to left": lambda: (named("نموذج كبير", "نموذج صغير"), {}),
    "hostile names": lambda: (named("</script><script>alert(1)</script>", "<b>{{ 7*7 }}"), {}),
    "missing questions": lambda: (
        models(3).filter(~((pl.col("model") == "m01") & (pl.col("question") > 6))),
        {},
    ),
    "retry until success": lambda: (retried(), {}),
}
QUICK = {"one model", "retry until success"}
KILOBYTES = {"60 models, 40 strata": 380, "25 models, 8 strata": 150}
SECONDS = {
    "25 models": 0.7,
    "60 models, 40 strata": 4.0,  # the mean needs the numbers of all 2,400 models and strata
    "10,000 questions": 1.0,
    "25 models, 8 strata": 1.0,
}


FREE = 0.05  # processor seconds of the fixed work on a free machine, as measured


def fixed_work() -> float:
    """Processor seconds of work that is like a page's and never changes."""
    begun = time.process_time()
    rows = pl.select(key=pl.int_range(60_000) % 997, value=pl.int_range(60_000).hash(1) % 1_000)
    for _ in range(20):
        rows.group_by("key").agg(pl.col("value").mean()).sort("key")
    values = np.sin(np.arange(40_000.0))
    for _ in range(40):
        np.sort(values)
    "".join(f"{value:.2f}" for value in values)
    return time.process_time() - begun


def page_and_time(name: str) -> tuple[Page, str, float]:
    """A page, its HTML, and the processor seconds that both take on a free machine.

    On a busy machine threads share cores and caches; the fixed work is slowed as the page is.
    """
    log, roles = GALLERY[name]()
    before = fixed_work()
    begun = time.process_time()
    page = page_of(log, **roles)
    text = page.html()
    seconds = time.process_time() - begun
    return page, text, seconds / max(1.0, (before + fixed_work()) / 2 / FREE)


first_page = cache(page_and_time)  # two tests look at it


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[] if name in QUICK else pytest.mark.slow) for name in GALLERY],
)
def test_each_log_has_a_page_within_its_budget(name):
    page, text, seconds = first_page(name)
    assert not page.refused
    checked = Checked(text)
    assert len(text.encode()) < 1_000 * KILOBYTES.get(name, 110)
    tries = 0
    while seconds > SECONDS.get(name, 0.5) and tries < 4:  # imports, and other tests
        *_, again = page_and_time(name)
        seconds, tries = min(seconds, again), tries + 1
    assert seconds < SECONDS.get(name, 0.5)
    # Each table says what it shows and names its rows; nothing has a tab stop without a use.
    assert text.count("<caption") == sum(tag == "table" for tag, _ in checked.elements)
    assert not checked.values("tabindex")
    # Sections without a picture are not written, and no number is unknown to a reader.
    assert all(len(each.figure) > 100 for each in drawn_sections(page) if each.figure)
    said = "".join(checked.texts)
    assert "nan" not in said.partition("use strict")[0].replace("nanx", "")
    assert "None" not in "".join(attrs.get("aria-label") or "" for _, attrs in checked.elements)


TOLD = ROOT / "examples" / "pictures" / "pages.md"


def told_first() -> str:
    """A table of the logs, with what their pages tell first."""
    rows = ["| log | chip | its page tells first |", "|---|---|---|"]
    for name in GALLERY:
        page = first_page(name)[0]
        rows.append(
            f"| {name} | {page.account.title.chip} | {markdown_text(account_words(page.account))} |"
        )
    return "# What pages tell first\n\nWritten by code.\n\n" + "\n".join(rows) + "\n"


@pytest.mark.slow
def test_what_each_page_tells_first_is_under_review():
    stored = TOLD.read_text(encoding="utf-8")
    assert told_first() == stored, "run python -m tests.display.html.test_gallery"


@pytest.mark.slow
def test_five_million_rows_take_at_most_five_seconds():
    rows = 5_000_000
    log = pl.select(row=pl.int_range(rows)).select(
        model=pl.format("m{}", pl.col("row") % 5),
        question=pl.col("row") // 5 % 10_000,
        trial=pl.col("row") // 50_000,
        category=(pl.col("row").hash(7) % 100 < 40 + 3 * (pl.col("row") % 5)).cast(pl.Int8),
    )
    few = page_of(of_rate(0.5, 1_000, 5), ps.avg())
    assert not few.refused  # the first page pays for the imports
    seconds = []
    while len(seconds) < 3 and min(seconds, default=9) > 5:  # other tests may load the machine
        begun = time.process_time()
        assert page_of(log, ps.avg()).html()
        seconds.append(time.process_time() - begun)
    assert min(seconds) <= 5


if __name__ == "__main__":
    TOLD.write_text(told_first(), encoding="utf-8")
