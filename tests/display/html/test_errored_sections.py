"""Pages of logs whose errored trials may have failed or been solved."""

import re

import numpy as np
import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.command_line.main import main
from polars_scorio.display.numbers import plain_text
from tests.decisions.test_errored_trials import LOGS, drawn
from tests.display.html.logs import drawn_sections, page_of


def beta_errors():
    """Three models, of which beta lost 60 successes, alpha and gamma a few trials."""
    rng, parts = np.random.default_rng(0), []
    ease = rng.beta(1.2, 1.2, 90)
    for model, skill, lost in (("alpha", 0.12, 6), ("beta", 0.11, 60), ("gamma", -0.05, 20)):
        solved = rng.random((90, 5)) < np.clip(ease + skill, 0, 1)[:, None]
        category = pl.Series(solved.ravel().astype(int))
        known = np.flatnonzero(solved.ravel()) if model == "beta" else 450
        category[rng.choice(known, lost, replace=False)] = None
        question, trial = (axis.ravel() for axis in np.indices((90, 5)))
        columns = {"question": question, "trial": trial, "category": category}
        parts.append(pl.DataFrame({"model": model, **columns}))
    return pl.concat(parts)


BETA = beta_errors()


def words(html):
    return " ".join(re.sub(r"<[^>]+>", " ", html).replace("\xa0", " ").split())


@pytest.mark.slow
def test_the_title_says_that_errored_trials_decide(tmp_path, capsys, monkeypatch):
    """On the page, in the terminal, in a notebook and on the card; with the three readings."""
    title = "86 errored trials decide between alpha and beta."
    path = str(tmp_path / "log.parquet")
    BETA.write_parquet(path)
    made = page_of(BETA, missing="bounds")
    assert plain_text(made.account.title.words) == title
    assert made.account.title.mood == ""
    assert made.account.basis[1].endswith("at once, whatever the outcomes of errored trials")
    shown = words(BETA.scorio(missing="bounds").leaderboard()._repr_html_())
    assert title in shown.replace(" .", ".")
    monkeypatch.setenv("COLUMNS", "120")
    assert main(["summary", path, "--missing", "bounds"]) == 0
    said = capsys.readouterr().out
    assert title in said
    row = BETA.scorio(missing="bounds").report(ps.avg()).row(1, named=True)
    assert f"60 of 450: to {100 * row['hi_missing']:.1f} %" in said
    assert main(["card", path, "--missing", "bounds", "-o", str(tmp_path / "card.svg")]) == 0
    assert title in (tmp_path / "card.svg").read_text(encoding="utf-8")
    assert plain_text(made.account.next.steps[0]) == "Run beta's 60 errored trials again."
    (section,) = [each for each in drawn_sections(made) if each.anchor == "errored"]
    readings = words(section.figure)
    for missing, meaning in ((0, "counted as failures"), ("drop", "dropped")):
        pair = BETA.scorio(missing=missing).compare()
        row = pair.filter(model_a="alpha", model_b="beta").row(0, named=True)
        numbers = f"{100 * row['diff']:+.1f} [{100 * row['lo']:+.1f}, {100 * row['hi']:+.1f}]"
        numbers = numbers.replace("-", "\N{MINUS SIGN}")
        verdict = "undecided" if row["better"] is None else f"{row['better']} is better"
        assert f"{meaning} {numbers} {verdict}" in readings
    pair = BETA.scorio(missing="bounds").compare().row(0, named=True)
    ends = f"[{100 * pair['lo']:+.1f}, {100 * pair['hi']:+.1f}]".replace("-", "\N{MINUS SIGN}")
    assert f"anything they could have been {ends} undecided" in readings


@pytest.mark.every(6)
@pytest.mark.parametrize("log", LOGS, ids=range(len(LOGS)))
def test_a_page_names_a_winner_only_if_the_comparison_does(log):
    """Ranks and tiers were those of a log whose errored trials failed."""
    bounds = log.scorio(missing="bounds")
    made, ranks, pairs = page_of(log, missing="bounds"), bounds.rank(), bounds.compare()
    leaders = ranks.filter(tier=1)["model"].to_list()
    title = plain_text(made.account.title.words)
    assert (made.account.title.mood == "yes") == (len(leaders) == 1)
    if len(leaders) == 1:
        won = pairs.filter(better=leaders[0]).height
        assert won or ranks["tier"].n_unique() > 1
        assert title.startswith(leaders[0])
    whole = made.numbers["overall"]
    places = ["model", "rank_lo", "rank_hi", "tier"]
    assert whole["ranks"].select(places).rows() == ranks.select(places).rows()
    assert whole["pairs"]["better"].to_list() == pairs["better"].to_list()
    for name in ("lo", "hi"):
        assert whole["pairs"][name].to_list() == pytest.approx(pairs[name].to_list(), abs=1e-9)
    assert "NaN" not in made.html()


def test_a_winner_holds_whatever_the_errored_trials_were():
    made = page_of(drawn(2, 60, errors=0.02, gain=0.3), missing="bounds")
    assert plain_text(made.account.title.words) == "m1 beats m0."
    assert "whatever the outcomes of errored trials." in plain_text(made.account.lede)


def test_one_model_scores_a_range():
    log = drawn(1, 60, errors=0.1)
    row = log.scorio(missing="bounds").report(ps.avg()).row(0, named=True)
    ends = " to ".join(f"{100 * row[name]:.1f} %" for name in ("lo_missing", "hi_missing"))
    title = f"m0 scores {ends}: {row['errored']} errored trials decide."
    assert plain_text(page_of(log, missing="bounds").account.title.words) == title


def test_a_gate_holds_whatever_the_errored_trials_were():
    made = page_of(BETA, baseline="beta", missing="bounds")
    gate = BETA.scorio(missing="bounds").gate("beta", margin=0.02)
    rows = made.numbers["baseline"]["gates"].sort("model")
    assert rows["verdict"].to_list() == gate["verdict"].to_list()
    assert rows["lo"].to_list() == pytest.approx(gate["lo"].to_list())
    assert "whatever the outcomes of errored trials" in made.account.basis[2]
    assert plain_text(made.account.next.steps[0]).startswith("Run beta's 60 errored trials")


@pytest.mark.slow
def test_strata_and_their_mean_hold_whatever_the_errored_trials_were():
    log = LOGS[2].with_columns(half=pl.col("question") % 2).cast({"half": pl.String})
    made = page_of(log, by="half", missing="bounds")
    ranks = log.scorio(by="half", missing="bounds").rank(overall="macro")
    mean = ranks.filter(pl.col("half").is_null())
    places = ["model", "rank_lo", "rank_hi"]
    assert made.numbers["overall"]["ranks"].select(places).rows() == mean.select(places).rows()
    for name, frames in made.numbers["strata"].items():
        part = ranks.filter(pl.col("half") == name).select(places)
        assert frames.select(places).rows() == part.rows()


def test_curves_along_steps_are_refused():
    log = drawn(1, 12, errors=0.1)
    both = pl.concat([log.with_columns(step=pl.lit(step)) for step in (1, 2)])
    made = page_of(both, by="step", missing="bounds")
    assert made.refused
    assert 'missing="bounds" has no curves along steps' in made.account.lede
