"""Pages about the truth behind verdicts of a judge."""

import html
import re

import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.counting.roles import Roles
from polars_scorio.display.html.sections import judge_lines
from polars_scorio.display.log_summary import LogSummary
from polars_scorio.display.scopes import page_scopes
from polars_scorio.display.settings import Settings
from tests.made_verdicts import verdicts

LOG = verdicts(power=1.5)
GRADER = ps.judge(sensitivity=(88, 100), specificity=(80, 100))


def page_words(log, folder) -> str:
    log.write_html(folder / "page.html")
    text = (folder / "page.html").read_text(encoding="utf-8")
    text = re.sub(r"<script>.*?</script>", "", text, flags=re.DOTALL)
    return html.unescape(re.sub(r"<[^>]*>", " ", text))


@pytest.fixture(scope="module")
def judged():
    return LOG.scorio(truth="human")


@pytest.fixture(scope="module")
def words(judged, tmp_path_factory):
    """The words of one page, which several tests read."""
    return page_words(judged, tmp_path_factory.mktemp("page"))


def test_a_page_says_what_was_corrected(judged, words):
    assert "Numbers are about the truth behind the verdicts of a judge, corrected for" in words
    assert re.search(r"The correction moves avg@4 by up to \d+\.\d points", words)
    assert "By the verdicts of the judge as they are." in words
    best = judged.avg()["estimate"].max()
    assert f"{100 * best:.1f}" in words


def test_a_page_plans_no_trials_that_would_not_help(words):
    assert "further trials of each question" not in words


@pytest.mark.slow
def test_a_page_says_the_rates_of_a_judge(tmp_path):
    words = page_words(LOG.scorio(judge=GRADER), tmp_path)
    assert "sensitivity 0.88 of 100, specificity 0.80 of 100" in words
    assert "further trials of each question" not in words


def test_missing_numbers_have_their_reason(tmp_path):
    coin = ps.judge(sensitivity=(6, 10), specificity=(5, 10))
    with pytest.raises(ValueError, match="nothing is known of the truth behind these verdicts"):
        LOG.scorio(judge=coin).write_html(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "the labels do not show that the judge is better than a coin" in page


@pytest.mark.slow
def test_judges_of_models_are_known_by_the_labels_of_a_page(tmp_path):
    counts = {"verdict": [1, 0, 1, 0], "truth": [1, 1, 0, 0], "count": [88, 12, 20, 80]}
    sample = pl.concat(pl.DataFrame({"model": [name] * 4, **counts}) for name in (1, 2, 3))
    numbered = LOG.with_columns(pl.col("model").replace_strict({"a": 1, "b": 2, "c": 3}))
    words = page_words(numbered.scorio(judge=sample), tmp_path)
    assert "by a calibration sample of each model" in words


@pytest.mark.slow
def test_strata_keep_their_labels(tmp_path):
    both = pl.concat([LOG.with_columns(level=pl.lit(level)) for level in "xy"])
    words = page_words(both.scorio(truth="human", by="level"), tmp_path)
    assert "corrected for the judge by" in words


def test_a_correction_of_next_to_nothing_is_no_zero():
    sound = ps.judge(sensitivity=(100_000, 100_000), specificity=(100_000, 100_000))
    look = LogSummary.read(LOG.lazy(), Roles(judge=sound))
    (line,) = judge_lines(page_scopes(look, (ps.avg(),), Settings())[0])
    assert "The correction moves avg@4 by less than 0.05 points; " in line
