"""The page: complete, harmless, small, and there for every log."""

import json
import re
import subprocess
import sys
from datetime import datetime, timezone
from urllib.parse import unquote

import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.display.page import Page
from polars_scorio.display.words.log_words import build_time, metric_formulas
from tests.display.html.logs import Checked, models, page_of, retried
from tests.own_metric import Agreement

HOSTILE = [
    "</script><script>alert(1)</script>",
    "safe\N{RIGHT-TO-LEFT OVERRIDE}gpj.exe",
    "{{ 7*7 }}",
    "{% raw %}",
    "a|b_c*d `x` [y](http://evil.example)",
    "<img src=http://evil.example/x onerror=alert(1)>",
    "'\"><svg onload=alert(1)>",
    "&lt;b&gt;",
    "\n\n# head",
    "line\u2028\u2029separator",
    "\x1b[2J\ufffe",
]


@pytest.fixture(scope="module")
def hostile() -> Page:
    """The page of a log in which every name wants to be something else."""
    names = {f"m{place:02}": name for place, name in enumerate(HOSTILE)}
    log = models(len(HOSTILE), strata=2, questions=4).with_columns(
        pl.col("model").replace_strict(names),
        bench=pl.when(bench="bench 0").then(pl.lit("</pre><b>")).otherwise(pl.lit("{{x}}")),
        question=pl.format("</td>{}", "question"),
    )
    return page_of(log, by="bench")


@pytest.fixture(scope="module")
def harmless() -> Page:
    """The page of three models."""
    return page_of(models(3))


def test_a_page_has_all_its_parts():
    page = page_of(models(3, strata=2), by="bench")
    checked = Checked(page.html())
    anchors = ["alerts", "headline", "leaderboard", "duel", "strata", "reliability", "questions"]
    assert [name for name in checked.values("id") if "grid" not in name] == anchors[1:]
    said = "".join(checked.texts)
    call = "df.scorio(by='bench').write_html('log.html')"
    parts = (
        "for all pairs at once",
        "chance to be best",
        "bench 1",
        "Can it, and can you rely on it?",
        "What to do next",
        "SHA-256",
        "JSON",
        call,
        "polars-scorio",
    )
    for part in parts:
        assert part in said


def test_every_picture_says_in_words_what_it_shows(harmless):
    pictures = [attrs for _, attrs in Checked(harmless.html()).elements
                if attrs.get("role") == "img"]  # fmt: skip
    assert len(pictures) >= 3 + 2 + 1 + 3  # forest, duel, fan, strips
    assert all(len(attrs["aria-label"]) > 10 for attrs in pictures)


@pytest.mark.slow
def test_ranks_and_pairs_say_the_same():
    # Six models, of whose 15 pairs some are told apart one by one, but not all at once.
    numbers = page_of(models(6, questions=16), ps.avg()).numbers["overall"]
    ranks, pairs = numbers["ranks"], numbers["pairs"]
    alone = models(6, questions=16).scorio.compare(ps.avg(), simultaneous=False)
    assert 0 < pairs["better"].is_not_null().sum() < alone["better"].is_not_null().sum()
    for row in ranks.rows(named=True):
        mine = (pl.col("model_a") == row["model"]) | (pl.col("model_b") == row["model"])
        others = pairs.filter(mine, pl.col("better") != row["model"])
        assert row["rank_lo"] == 1 + others.height


@pytest.mark.slow
def test_nothing_is_fetched_and_only_our_script_runs(harmless, hostile):
    for page in (harmless, hostile):
        text = page.html()
        checked = Checked(text)
        assert text.count("<script>") == text.count("</script>") == 1  # ours
        assert not checked.tags & {"img", "iframe", "object", "embed", "base", "image"}
        assert all(link[0] == "#" or link[:5] == "data:" for link in checked.values("href", "src"))
        assert checked.values("xlink:href", "srcset", "action", "data", "poster") == []
        assert not any(name.startswith("on") for _, attrs in checked.elements for name in attrs)
        (css,) = re.findall(r"<style>(.*?)</style>", text, flags=re.DOTALL)
        assert "url(" not in css
        assert "@import" not in css
        if page is harmless:
            assert "http" not in text.replace("http://www.w3.org/2000/svg", "")


def test_hostile_names_are_shown_as_they_are(hostile):
    text = hostile.html()
    said = "".join(Checked(text).texts)
    assert "49" not in hostile.headline
    for name in (*HOSTILE[:1], *HOSTILE[2:8], "</pre><b>", "{{x}}"):
        assert name in said
    assert "safe(U+202E)gpj.exe" in said
    assert "line(U+2028)(U+2029)separator" in said
    assert "\N{RIGHT-TO-LEFT OVERRIDE}" not in text


def test_markdown_keeps_hostile_names_in_their_cells(hostile):
    text = hostile.markdown()
    tables = [line for line in text.splitlines() if line.startswith("|")]
    assert r"a\|b_c\*d \`x\`" in text
    assert "<img" not in text.replace(r"\<img", "")
    board = tables[: 2 + len(HOSTILE)]
    assert len({len(re.findall(r"(?<!\\)\|", line)) for line in board}) == 1


@pytest.mark.slow
def test_the_numbers_are_there_as_json():
    page = page_of(models(3, strata=2), ps.bayes(), by="bench")
    text = page.html()
    (link,) = [link for link in Checked(text).values("href") if "application/json" in link]
    data = json.loads(unquote(link.partition(",")[2]))
    rows = [dict(zip(data["overall"]["report"]["columns"], row, strict=True))
            for row in data["overall"]["report"]["rows"]]  # fmt: skip
    pooled = models(3, strata=2).with_columns(question=pl.format("{}-{}", "bench", "question"))
    expected = pooled.scorio.report(ps.bayes())
    assert [row["model"] for row in rows] == expected["model"].to_list()
    # The numbers are rounded to six significant digits: by 5e-6 of them at most.
    assert [row["mu"] for row in rows] == pytest.approx(expected["mu"].to_list(), rel=1e-5)
    assert set(data["strata"]) == {"bench 0", "bench 1"}
    columns = ["model", "mu", "lo", "hi", "rank_lo", "rank_hi"]
    assert data["strata"]["bench 0"]["columns"] == columns


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "strata", "kilobytes"), [(1, 0, 60), (25, 0, 300), (25, 8, 450), (1, 8, 80)]
)
def test_pages_are_small(number, strata, kilobytes):
    log = models(number, strata, questions=20, trials=8)
    page = page_of(log, **({"by": "bench"} if strata else {}))
    assert not page.refused
    text = page.html()
    Checked(text)
    assert 10_000 < len(text.encode()) < 1000 * kilobytes


@pytest.mark.slow
def test_a_page_needs_no_package_that_draws(tmp_path):
    absent = "import sys; sys.modules.update(altair=None, jinja2=None, vl_convert=None)"
    call = f"models(2).scorio.write_html({str(tmp_path / 'log.html')!r})"
    code = f"{absent}\nfrom tests.display.html.logs import models\n{call}"
    subprocess.run([sys.executable, "-c", code], check=True)  # noqa: S603 - our own words
    assert (tmp_path / "log.html").stat().st_size > 10_000


@pytest.mark.slow
def test_a_page_of_rewards_has_the_best_and_the_worst_of_k():
    step = pl.col("trial") * 0.05
    log = models(3).with_columns(category=pl.col("category") * 0.5 + step)
    text = page_of(log, bounds=(0, 2)).html()
    said = "".join(Checked(text).texts)
    for part in ("Max@k", "Min@k", "best of 4", "worst of 4"):
        assert part in said
    assert "every time" not in said.partition("use strict")[0].replace("solved, every time", "")


def test_all_tests_of_the_trials_are_in_a_fold_of_the_foot():
    """The foot said how many tests found nothing, and not which."""
    log = retried()
    page = page_of(log)
    rows = log.scorio.check()
    assert {(asks, verdict) for asks, _, verdict, _ in page.tests} == {
        *rows.select("asks", "verdict").rows()
    }
    foot = page.html().partition("<footer>")[2]
    assert "<summary>Tests of the trials</summary>" in foot
    assert "Did the number of trials depend on the outcomes?" in foot
    assert '<td class="n">alarm</td>' in foot
    worded = page.with_words(lambda text: text.replace("first=1", "--first 1"))
    assert any("--first 1" in found for *_, found in worded.tests)


# What a page says of how it was made.


@pytest.mark.slow
def test_pages_of_one_log_at_one_source_date_epoch_are_the_same_bytes(monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1750000000")
    log = models(3, strata=2, questions=11)  # no other test keeps its page
    pages = {
        page_of(rows, by="bench").html()
        for rows in (log, log, log.sample(log.height, seed=1, shuffle=True))
    }
    assert len(pages) == 1
    assert "2025-06-15 15:06 UTC" in pages.pop()


def test_build_time_is_now_unless_source_date_epoch_says_otherwise(monkeypatch):
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    assert abs((datetime.now(timezone.utc) - build_time()).total_seconds()) < 60
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    assert build_time() == datetime(1970, 1, 1, tzinfo=timezone.utc)


@pytest.mark.parametrize("epoch", ["", "today", "1e9", "9" * 30])
def test_a_source_date_epoch_that_is_no_time_is_refused(monkeypatch, epoch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", epoch)
    with pytest.raises(ValueError, match=rf"must be whole seconds since 1970, got '{epoch}'"):
        build_time()


@pytest.mark.slow
def test_a_metric_that_the_package_does_not_know_has_heading_and_formula(r1, tmp_path):
    r1.scorio.write_html(tmp_path / "page.html", Agreement(), ps.avg())
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert f"<dt>Agreement@N</dt><dd>{Agreement().formula}</dd>" in page
    text = re.sub("<[^>]+>", "", page)
    assert "scores 60.7 % (Agreement@5)." in text
    assert "right on one try" not in re.sub("<script.*", "", page, flags=re.DOTALL)[:3000]
    assert ">avg@5 (%)<" in page
    # Of 3 and of 4 successes in 5 trials, 4 and 6 of 10 pairs end alike.
    assert "The plain estimate is 50.0" in text


def test_each_metric_of_the_package_has_a_formula():
    metrics = [ps.pass_at_k([1, 4]), ps.tail_pass(3), ps.vote_at_k(2), ps.max_at_k(2)]
    assert [*metric_formulas(metrics)] == ["Pass@k", "TailPass@3", "Vote@k", "Max@k"]
    assert metric_formulas([ps.avg(name="accuracy")]) == {
        "accuracy": "the mean weight of the trials of a question"
    }
