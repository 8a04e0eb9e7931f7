"""The sentence that a log has on page, terminal and card: each by its exact rule."""

import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.command_line.main import main
from polars_scorio.display.facts.gate_facts import GateFacts
from polars_scorio.display.facts.question_facts import QuestionFacts
from polars_scorio.display.facts.ranking_facts import (
    About,
    Board,
    Curve,
    Gap,
    PairsFacts,
    RankingFacts,
    Winners,
    rank_board,
)
from polars_scorio.display.media.terminal import Screen, table_lines
from polars_scorio.display.numbers import MINUS, Unit, html_text, named, plain_text
from polars_scorio.display.settings import Settings
from polars_scorio.display.words.gate_words import gate_title
from polars_scorio.display.words.ranking_words import ranking_table, ranking_title, tell_pairs
from polars_scorio.display.words.run_words import steps_title
from polars_scorio.display.words.section_words import questions_title, strata_title
from tests.display.html.logs import drawn_sections, models, page_of, retried
from tests.made_logs import long

POINTS = Unit()


def board(names, tier, scores=None):
    score = np.linspace(0.8, 0.4, len(names)) if scores is None else np.array(scores)
    tiers = np.array(tier)
    ranks = {"rank_lo": tiers, "rank_hi": tiers, "tier": tiers, "prob_best": score}
    return Board(list(names), score, score - 0.1, score + 0.1, POINTS, **ranks)


def ranking(models, **facts):
    """A ranking of a board."""
    return RankingFacts(models, About("avg@4", 0.95), **facts)


def title_of_ends(lo, hi, margin):
    """Title of a gate from its two ends alone."""
    verdict = "pass" if lo > -margin else "fail" if hi < -margin else "undecided"
    row = {"stratum": None, "model": "v2", "baseline": "v1", "margin": margin, "diff": 0.0,
           "lo": lo, "hi": hi, "sigma": 0.01, "extra_trials": 1, "verdict": verdict,
           "metric": "avg", "k": None, "broken": None}  # fmt: skip
    rows = pl.DataFrame([row], schema_overrides={"stratum": pl.String})
    found = GateFacts.from_rows(rows, ps.avg(), About("avg@4", 0.95, candidates=1), lower=False)
    return plain_text(gate_title(found).words)


@pytest.mark.parametrize(
    ("names", "tier", "diff", "title", "chip"),
    [
        ("a", (1,), 0.2, "a is the only model.", "one model"),
        ("ab", (1, 2), 0.2, "a beats b.", "decided"),
        ("ab", (2, 1), 0.2, "b beats a.", "decided"),
        ("ab", (1, 1), 0.2, "a is ahead; b may be as good.", "winner undecided"),
        ("ab", (1, 1), 0.0, "a and b have the same score.", "winner undecided"),
        ("abc", (1, 1, 1), 0.1, "Nothing is decided between 3 models.", "nothing decided"),
        ("abc", (1, 2, 2), 0.1, "a is the best of 3 models.", "decided"),
        ("abc", (1, 1, 2), 0.1, "a is ahead; b may be as good.", "winner undecided"),
        ("abcd", (1, 1, 1, 2), 0.1, "a is ahead; b and c may be as good.", "winner undecided"),
        ("abcde", (1, 1, 1, 1, 2), 0.1, "a is ahead; 3 others may be as good.", "winner undecided"),
        ("abc", (0, 0, 0), 0.1, "No ranking: some questions have too few trials.", "not ranked"),
    ],
)
def test_rankings_have_their_sentence(names, tier, diff, title, chip):
    found = ranking(board(names, tier), gap=Gap(diff, -0.1, 0.3, 0.7, None))
    assert (plain_text(ranking_title(found).words), ranking_title(found).chip) == (title, chip)


def test_of_equal_first_scores_neither_is_ahead_of_the_other():
    scores = [0.5, 0.5, 0.4, 0.3]
    gap = Gap(0.0, -0.1, 0.1, 0.5, None)
    four = ranking(board("abcd", (1, 1, 1, 2), scores), gap=gap)
    three = ranking(board("abc", (1, 1, 2), scores[:3]), gap=gap)
    titles = [plain_text(ranking_title(found).words) for found in (four, three)]
    assert titles == ["a and b are ahead; c may be as good.", "a and b are ahead."]


def test_pairs_that_would_be_decided_alone_are_counted_in_place_of_nothing():
    said = ranking_title(ranking(board("abc", (1, 1, 1)), alone=2)).words
    assert said == "Alone, 2 pairs would be decided; after correction, none."


@pytest.mark.parametrize(
    ("margin", "lo", "hi", "title"),
    [
        (0.02, -0.10, -0.021, "v2 is worse than v1 by more than 2 points."),
        (0.02, -0.10, -0.02, ("v2 is worse than v1, by at least 2.0 points; whether by more than 2 "
         "points is undecided.")),
        (0.02, 0.001, 0.1, "v2 is better than v1."),
        (0.02, 0.0, 0.1, "v2 is not worse than v1 by more than 2 points."),
        (0.02, -0.019, 0.1, "v2 is not worse than v1 by more than 2 points."),
        (0.02, -0.019, -0.001, "v2 is not worse than v1 by more than 2 points, but it is worse."),
        (0.02, -0.02, 0.0, "Undecided: v2 may be worse than v1 by more than 2 points."),
        (0.01, -0.02, 0.1, "Undecided: v2 may be worse than v1 by more than 1 point."),
        (0.0, -0.1, -0.01, "v2 is worse than v1."),
        (0.0, 0.01, 0.1, "v2 is better than v1."),
        (0.0, -0.01, 0.1, "Undecided: v2 may be worse than v1."),
    ],
)  # fmt: skip
def test_gates_have_the_sentence_of_their_ends(margin, lo, hi, title):
    assert title_of_ends(lo, hi, margin) == title


@pytest.mark.parametrize(
    ("signs", "title"),
    [
        ((1, 0, 0, -1), "Pass@1 is up, Pass@8 is down."),
        ((1, 1, -1, -1), "Pass@2 is up, Pass@8 is down."),
        ((-1, 0, 1, 1), "Pass@1 is down, Pass@8 is up."),
        ((1, 1, 1, 1), "Step 9 is better than step 0 at every k."),
        ((1, 1, 0, 0), "Step 9 is better than step 0 up to k = 2."),
        ((0, 0, 1, 1), "Step 9 is better than step 0 from k = 4 on."),
        ((1, 0, 0, 1), "Step 9 is better than step 0 up to k = 1 and from k = 8 on."),
        ((-1, -1, -1, -1), "Step 9 is worse than step 0 at every k."),
        ((0, -1, -1, -1), "Step 9 is worse than step 0 from k = 2 on."),
        ((0, 0, 0, 0), "Nothing is decided between step 0 and step 9."),
        ((0, 1, 1, 0), "Step 9 is better than step 0 at k = 2 and 4."),
        ((0, 1, -1, 0), "Step 9 is better than step 0 at k = 2, worse at k = 4."),
        ((1, 0, -1, 0), "Step 9 is better than step 0 up to k = 1, worse at k = 4."),
    ],
)
def test_steps_have_the_sentence_of_their_band(signs, title):
    middle = 0.1 * np.array(signs)
    curve = Curve((1, 2, 4, 8), middle, middle - 0.05, middle + 0.05, np.array(signs),
                  ("0", "9"), "95 %")  # fmt: skip
    assert steps_title(curve) == title


def test_a_run_whose_lower_scores_are_better_gets_better_as_they_fall(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [
        (step, question, trial, int((trial + question) % 4 < hits))
        for step, hits in ((0, 3), (500, 1))
        for question in range(30)
        for trial in range(4)
    ]
    log = pl.DataFrame(rows, ["step", "question", "trial", "category"], orient="row")
    page = page_of(log, model=None, by="step", lower_is_better=True, validate=False)
    assert page.headline.startswith("Step 500 is better than step 0")
    assert f"{MINUS}50.0 points" in page.account.lede
    (gains,) = [each for each in drawn_sections(page) if each.anchor == "gains"]
    assert gains.title.startswith("Step 500 gains")
    assert re.findall(r'<g class="(\w)">', gains.figure)[0] == "a"
    assert plain_text(page.account.next.steps[0]).startswith("Take step 500")


@pytest.mark.parametrize(
    ("firsts", "sure", "title"),
    [
        ({"x": "a", "y": "b"}, {"x": "a", "y": "b"}, "a wins x; b wins y."),
        ({"x": "a", "y": "a"}, {"x": "a"}, "a is first in every domain, significantly in 1."),
        ({"x": "a", "y": "a"}, {}, "a is first in every domain, significantly in none."),
        ({"x": "a", "y": "b"}, {"y": "b"}, "b wins y; elsewhere the winner is undecided."),
        ({"x": "a", "y": "b"}, {}, "No domain has a sure winner."),
    ],
)
def test_strata_have_their_heading(firsts, sure, title):
    assert plain_text(strata_title(Winners(firsts, sure, "a", "domain"))) == title


@pytest.mark.parametrize(
    ("facts", "title"),
    [
        ({"never": 6, "always": 5}, "11 of 20 questions tell nothing about these models."),
        ({"never": 5, "always": 5, "mixed": 10}, "10 of 20 questions come out both ways for a."),
        ({"never": 5, "mixed": 9}, "5 questions nobody solves."),
        ({"never": 1, "mixed": 10, "trials": 3}, "1 question nobody solves."),
        ({"mixed": 9}, "No question is out of reach."),
    ],
)
def test_questions_have_their_heading(facts, title):
    names = [str(question) for question in range(20)]
    kinds = {kind: names[: facts.get(kind, 0)] for kind in ("never", "always", "mixed")}
    asked = QuestionFacts(["a", "b"], [True, False], names, np.zeros((2, 20)), **kinds,
                          trials=facts.get("trials", 4), verdicts=False, fractions=False,
                          word="right")  # fmt: skip
    assert plain_text(questions_title(asked)) == title


def test_numbers_are_written_in_one_way():
    assert POINTS.score(0.584) == "58.4 %"
    assert [POINTS.score(value, sign=False) for value in (0.0, 0.0001, 0.9999, 1.0)] == [
        "0.0", "< 0.1", "> 99.9", "100.0",
    ]  # fmt: skip
    assert POINTS.gaps(-0.041, 0.066) == "[\N{MINUS SIGN}4.1, +6.6]"
    assert POINTS.gap(0.0001, points=True) == "0.0 points"
    assert Unit(digits=2).score(0.99999) == "> 99.99 %"
    assert Unit(percent=False, digits=2).gap(-1.5) == "\N{MINUS SIGN}1.50"
    said = html_text(f"{named('<b>')} is 1 % [0, 2]")
    assert said == '<bdi class="nb">&lt;b&gt;</bdi> is 1\xa0% [0,\xa02]'


def near(seed: int) -> pl.DataFrame:
    """Two to eight models with nearly the same rates, the first one a little better."""
    rng = np.random.default_rng(seed)
    skill = rng.normal(0, 0.4, (rng.integers(2, 9), 1)) + rng.normal(0, 1, rng.integers(5, 40))
    trials = rng.integers(1, 5)
    outcomes = (rng.random((trials, *skill.shape)) < 1 / (1 + np.exp(-skill))).transpose(1, 2, 0)
    return pl.concat(long(each.astype(int).tolist(), f"m{i}") for i, each in enumerate(outcomes))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::polars_scorio.CheckWarning")
@pytest.mark.filterwarnings("ignore::polars_scorio.RunWarning")  # by chance
def test_titles_of_generated_logs_say_what_the_comparison_says():
    kinds = []
    for seed in range(24):
        log = near(seed)
        title = page_of(log).headline
        ranks, pairs = log.scorio.rank(), log.scorio.compare(simultaneous=True)
        first = set(ranks.filter(pl.col("rank_lo") == 1)["model"])
        winner = re.match(r"(m\d) (beats|is the best)", title)
        assert (winner is not None) == (len(first) == 1)
        assert winner is None or first == {winner[1]} <= {*pairs["better"].drop_nulls()}
        for name in re.findall(r"m\d", title):
            assert name in first or "beats" in title
        surest = 0.5 + (pairs["prob"] - 0.5).abs().max() if "prob" in pairs.columns else 0.5
        surest = 0.5 + (pairs["prob_better"] - 0.5).abs().max() if surest == 0.5 else surest
        kind = re.match(r"Nothing is decided|Alone, \d+ pairs? would be decided", title)
        kinds.append("decided" if kind is None else kind[0].lstrip("0123456789 "))
        if kinds[-1] == "Nothing is decided":
            assert surest <= 0.975
            assert ranks["prob_best"].max() < 0.975
        elif kind is not None:
            assert surest > 0.975
    assert {*kinds} >= {"decided", "Nothing is decided"}
    assert any(each.startswith("Alone") for each in kinds)


# Pages, terminals and Markdown: tests/display/test_story_laws.py.
@pytest.mark.parametrize(
    ("log", "roles"),
    [(models(3), {}), (models(2, strata=2), {"by": "bench"}), (models(1), {}), (retried(), {})],
)
def test_the_card_of_a_log_has_the_title_of_its_page(log, roles, tmp_path):
    card = log.scorio(**roles).write_card(tmp_path / "card.svg").read_text(encoding="utf-8")
    assert f'aria-label="{page_of(log, **roles).headline}"' in card


@pytest.mark.slow
def test_the_card_of_a_gate_has_the_title_of_its_page(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    log = models(2, questions=40)
    log.write_parquet("log.parquet")
    titles = {page_of(log, baseline=model).headline for model in (None, "m00", "m01")}
    assert len(titles) > 1
    for model in (None, "m00", "m01"):
        title = page_of(log, baseline=model).headline
        gate = {} if model is None else {"baseline": model, "margin": 0.02}
        log.scorio().write_card("card.svg", **gate)
        assert f'aria-label="{title}"' in (tmp_path / "card.svg").read_text(encoding="utf-8")
    asked = ["--baseline", "m01", "--margin", "0.02"]
    assert main(["card", "log.parquet", *asked, "-o", "card.svg"]) == 0
    assert title in capsys.readouterr().out


@pytest.mark.parametrize(
    ("log", "title"),
    [
        (models(3, questions=40), None),
        (models(2), None),
        (near(2), r"Alone, \d pairs? would be decided"),
        (near(0), "Nothing is decided"),
    ],
)
@pytest.mark.filterwarnings("ignore::polars_scorio.CheckWarning")
@pytest.mark.filterwarnings("ignore::polars_scorio.RunWarning")
def test_a_ranking_has_the_title_of_the_page(log, title, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    log.write_parquet("log.parquet")
    headline = page_of(log).headline
    assert title is None or re.match(title, headline)
    assert main(["rank", "log.parquet"]) == 0
    assert headline in " ".join(capsys.readouterr().out.split())
    if log["model"].n_unique() == 2:
        assert main(["compare", "log.parquet"]) == 0
        assert headline in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("rows", "title"),
    [
        ([("a", "b", 0.2, "a"), ("a", "c", 0.3, "a")], "Both pairs are decided."),
        ([("a", "b", -0.1, None), ("a", "c", 0.3, "a")],
         "1 of 2 pairs is decided; a and b are undecided."),
        ([("a", "b", 0.1, None), ("a", "c", -0.05, None)],
         "0 of 2 pairs are decided; a and c are the closest."),
        ([("a", "b", -0.1, "b")], "b beats a."),
        ([("a", "b", -0.1, None)], "b is ahead; a may be as good."),
        ([("a", "b", 0.0, None)], "a and b have the same score."),
        ([("a", "b", None, None)], "Nothing is known of a and b."),
    ],
)  # fmt: skip
def test_comparisons_have_their_sentence(rows, title):
    def title_of_pairs(pairs, *, lower=False):
        ends = pl.lit(1.0).alias("lo"), pl.lit(1.0).alias("hi"), pl.lit(None, pl.Int64).alias("k")
        frame = pairs.with_columns(*ends)
        found = PairsFacts.from_frame(frame, ps.avg(), About("avg@4", 0.95), lower=lower)
        return plain_text(tell_pairs(found).title.words)

    columns = {"model_a": pl.String, "model_b": pl.String, "diff": pl.Float64, "better": pl.String}
    pairs = pl.DataFrame(rows, schema=columns, orient="row")
    assert title_of_pairs(pairs) == title
    turned = pairs.with_columns(-pl.col("diff"))
    assert title_of_pairs(turned, lower=True) == title
    costs = [(a, b, None if diff is None else np.exp(-diff), better) for a, b, diff, better in rows]
    ratios = pl.DataFrame(costs, schema=columns, orient="row").rename({"diff": "ratio"})
    assert title_of_pairs(ratios) == title


@pytest.mark.parametrize(
    ("lo", "hi", "edge", "ends"),
    [
        (0.0004, 0.044, 0.0, "[+0.04, +4.4]"),
        (-0.044, -0.000012, 0.0, f"[{MINUS}4.4, {MINUS}0.001]"),
        (0.0, 0.044, 0.0, "[0.0, +4.4]"),
        (1e-15, 0.044, 0.0, "[0.0, +4.4]"),
        (-0.0196, 0.0004, 0.02, f"[{MINUS}1.96, +0.04]"),
        (-0.02, 0.01, 0.02, f"[{MINUS}2.0, +1.0]"),
    ],
)
def test_an_end_has_the_decimals_that_tell_it_from_zero_and_from_the_margin(lo, hi, edge, ends):
    assert Unit(edge=edge).gaps(lo, hi) == ends
    assert "by at least 0.04 points" in title_of_ends(-0.044, -0.0004, 0.02)


def test_where_lower_is_better_every_surface_names_the_model_with_the_lower_score(
    tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    rates = {"clean": [0, 0, 0, 1], "toxic": [0, 1, 1, 1]}
    turned = {
        name: [np.roll(each, at).tolist() for at in range(20)] for name, each in rates.items()
    }
    log = pl.concat(long(outcomes, name) for name, outcomes in turned.items())
    log.write_parquet("log.parquet")
    page = page_of(log, lower_is_better=True, run_effects="none")
    for command in ("compare", "rank", "summary"):
        asked = ["--lower-is-better", "--run-effects", "none"]
        assert main([command, "log.parquet", *asked]) == 0
        assert capsys.readouterr().out.strip().startswith(f"{page.headline}\n")
    assert page.headline == "clean beats toxic."
    (duel,) = [each for each in drawn_sections(page) if each.anchor == "duel"]
    left, right = re.findall(r"<span><b>(.*?)</b></span>", duel.figure)
    assert ("clean" in left, "toxic" in right) == (
        True,
        True,
    )  # a negative difference is on the left
    hues = re.findall(r'<circle class="(\w) dot" cx="([\d.]+)"', duel.figure)
    assert {hue for hue, x in hues} == {"a"}
    assert 'aria-label="toxic better at 0, alike at 0, clean better at 20"' in duel.figure


def test_a_frontier_has_the_heading_of_costs_on_the_page(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    log = models(3).with_columns(usd=0.01 * (4 - pl.col("model").str.slice(1).cast(pl.Int64)))
    log.write_parquet("log.parquet")
    (cost,) = [each for each in drawn_sections(page_of(log, cost="usd")) if each.anchor == "cost"]
    assert main(["frontier", "log.parquet", "--cost", "usd"]) == 0
    assert plain_text(cost.title) in " ".join(capsys.readouterr().out.split())


def test_one_model_is_said_to_be_reliable_or_not():
    outcomes = np.random.default_rng(3).random((40, 8)) < 0.6
    log = long(outcomes.astype(int).tolist(), "ada")
    always = log.scorio.pass_hat_k(8)["estimate"][0]
    mean = log.scorio.avg()["estimate"][0]
    assert page_of(log).headline == (
        f"ada gets {100 * mean:.1f} % right on one try, and {100 * always:.1f} % all 8 times."
    )
    single = log.filter(pl.col("trial") == log["trial"].min())
    share = single.scorio.avg()["estimate"][0]
    assert page_of(single).headline == f"ada gets {100 * share:.1f} % of 40 questions right."


def test_the_metric_that_leads_orders_the_title():
    log = pl.concat([long([[1, 0]] * 20, "steady"), long([[1, 1]] * 9 + [[0, 0]] * 11, "sure")])
    assert page_of(log, ps.pass_at_k(2)).headline.startswith("steady ")


@pytest.mark.parametrize(
    ("log", "roles"),
    [(models(3), {}), (models(2, strata=2), {"by": "bench"}), (retried(), {})],
)
@pytest.mark.filterwarnings("ignore::polars_scorio.CheckWarning")
def test_a_notebook_says_the_title_of_the_page_above_the_leaderboard(log, roles):
    asked = {"overall": "micro"} if roles else {}
    board = log.scorio(**roles).leaderboard(**asked)
    shown = board._repr_html_()
    assert f'<p class="t">{html_text(page_of(log, **roles).account.title.words)}</p>' in shown
    assert shown.count('<tr class="') == log["model"].n_unique()
    assert len(shown.encode()) < 10_000
    assert type(board.frame) is pl.DataFrame
    assert board.frame.equals(board)
    # A frame made of it is a frame like others.
    assert "dataframe" in board.filter(pl.col("rank") == 1)._repr_html_()


def uneven_strata(number: int) -> pl.DataFrame:
    """Models with 12 questions of one benchmark and three of another."""
    log = models(number, strata=2)
    return log.filter((pl.col("bench") == "bench 0") | (pl.col("question") < 3))


@pytest.mark.parametrize("target", ["benchmark", "population"])
def test_a_notebook_has_the_numbers_of_a_leaderboard_that_averages_strata(target):
    """Title, difference and rows are about the mean, with the numbers of the frame."""
    accessor = uneven_strata(3).scorio(by="bench", target=target)
    board = accessor.leaderboard()
    shown = " ".join(re.sub(r"<[^>]*>", " ", board._repr_html_()).split())
    unit = pl.col("bench").is_null()
    pair = accessor.compare(ps.avg(), overall="macro").filter(unit).row(0, named=True)
    assert f"{abs(100 * pair['diff']):.1f} points" in shown
    for model, score, lo, hi in board.select("model", "avg", "avg_lo", "avg_hi").iter_rows():
        assert f"{model} {100 * score:.1f} [{100 * lo:.1f}, {100 * hi:.1f}]" in shown
    assert "avg@4, mean of 2 benches" in shown
    pooled = accessor.leaderboard(overall="micro")
    assert pooled["avg"][0] != pytest.approx(board["avg"][0], abs=0.005)
    assert "pooled over 15 questions" in pooled._repr_html_()
    assert "mean of" not in pooled._repr_html_()


@pytest.mark.every(2)
@pytest.mark.parametrize("overall", ["macro", "micro"])
def test_all_surfaces_have_one_overall_and_name_it(overall, tmp_path, capsys, monkeypatch):
    """The page pooled strata where the leaderboard averaged them, and both stood side by side."""
    log, path = uneven_strata(3), str(tmp_path / "log.parquet")
    log.write_parquet(path)
    monkeypatch.setenv("COLUMNS", "120")
    flags = [] if overall == "macro" else ["--overall", "micro"]
    names = {"macro": "mean of 2 benches", "micro": "pooled over 15 questions"}
    rows = (
        log.scorio(by="bench").report(ps.avg(), overall=overall).filter(pl.col("bench").is_null())
    )
    (other,) = {*names} - {overall}
    others = (
        log.scorio(by="bench").report(ps.avg(), overall=other).filter(pl.col("bench").is_null())
    )
    texts = {}
    for command, *options in (
        ("summary",),
        ("leaderboard",),
        ("rank", "--overall", overall),
        ("compare", "--overall", overall),
        ("plan", "--overall", overall),
        ("gate", "--baseline", "m00", "--margin", ".02"),
        ("report", "-o", "-"),
    ):
        chosen = flags if "--overall" not in options else []
        main([command, path, "--by", "bench", *options, *chosen])
        texts[command] = " ".join(capsys.readouterr().out.split())
    settings = Settings(overall=None if overall == "macro" else overall)
    page = page_of(log, settings=settings, by="bench")
    texts["page"] = plain_text(page.html())
    main(["card", path, "--by", "bench", "-o", str(tmp_path / "card.svg"), *flags])
    texts["card"] = (tmp_path / "card.svg").read_text(encoding="utf-8")
    for surface, text in texts.items():
        assert names[overall] in text, surface
        assert names[other] not in text, surface
    for surface in ("summary", "leaderboard", "rank", "report", "page"):
        for score, lo, hi in rows.select("estimate", "lo", "hi").iter_rows():
            assert f"{100 * score:.1f} " in texts[surface], surface
            assert f"[{100 * lo:.1f}, {100 * hi:.1f}]" in texts[surface].replace("\xa0", " ")
        for lo, hi in others.select("lo", "hi").iter_rows():
            assert f"[{100 * lo:.1f}, {100 * hi:.1f}]" not in texts[surface], surface


def test_a_finding_about_steps_takes_no_overall():
    log = models(2, strata=2).with_columns(step=pl.col("bench").str.tail(1).cast(pl.Int64))
    page = page_of(log, settings=Settings(overall="macro"), by="step")
    assert page.refused
    assert "overall='macro': the strata are steps along 'step'" in page.account.lede


def test_a_notebook_says_no_share_of_questions_of_a_mean_over_strata():
    board = uneven_strata(1).scorio(by="bench").leaderboard()
    share = f"{100 * board['avg'].item():.1f}"
    title = re.search(r'<p class="t">(.*?)</p>', board._repr_html_()).group(1)
    assert re.sub(r"<[^>]*>", "", title).split() == ["m00", "scores", share, "%."]


@pytest.mark.parametrize(("strata", "baseline"), [(2, "m00"), (0, "m01")])
def test_a_notebook_says_the_title_of_the_page_above_a_gate(strata, baseline):
    log, roles = models(2, strata=strata), {"by": "bench"} if strata else {}
    shown = log.scorio(**roles).gate(baseline, margin=0.02)._repr_html_()
    page = page_of(log, baseline=baseline, **roles)
    assert html_text(page.account.title.words) in shown
    rows = 1 + 2 if strata else 1  # both strata together, and each
    assert shown.count("<svg") == 1 + rows  # the axis


def test_a_gate_of_several_draws_is_a_frame_in_a_notebook():
    assert "dataframe" in models(2).scorio.gate("m00", ps.pass_at_k([1, 2]), margin=0)._repr_html_()


def test_what_comes_into_reach_and_goes_out_of_it_stands_beside_what_single_questions_show(
    tmp_path, capsys, monkeypatch
):
    """One of 8 to none of 8 is chance for one question, and not for ten of them."""
    monkeypatch.chdir(tmp_path)
    right = {0: [1] * 10 + [4] * 10 + [0] * 2, 500: [0] * 10 + [8] * 10 + [1] * 2}
    rows = [(step, question, trial, int((trial + question) % 8 < wins))
            for step, successes in right.items() for question, wins in enumerate(successes)
            for trial in range(8)]  # fmt: skip
    log = pl.DataFrame(rows, ["step", "question", "trial", "category"], orient="row")
    log.write_parquet("log.parquet")
    page = page_of(log, model=None, by="step", run_effects="none")
    moved = "10 questions were right at least once at step 0 and never at step 500; 2 the other "
    assert page.account.aside == f"{moved}way round."
    (questions,) = [each for each in drawn_sections(page) if each.anchor == "questions"]
    assert questions.title == "10 questions went out of reach, 2 came into reach."
    assert "Out of reach: 10</h3><p><code>0</code>" in questions.figure
    assert "Came into reach: 2</h3><p><code>20</code>" in questions.figure
    assert " 0 got worse, each by a test of its own" in questions.words[1]
    asked = ["--model", "none", "--by", "step", "--run-effects", "none"]
    assert main(["summary", "log.parquet", *asked]) == 0
    assert moved in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("candidates", [1, 2])
def test_questions_that_broke_are_counted_once_for_all_candidates(
    candidates, tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    versions = {"v1": 8} | {f"v{2 + place}": 0 for place in range(candidates)}
    log = pl.concat(long([[int(wins > 0)] * 8] * 3, name) for name, wins in versions.items())
    log.write_parquet("log.parquet")
    main(["regressions", "log.parquet", "--baseline", "v1", "--run-effects", "none"])
    of = ", under one or more of 2 models" * (candidates > 1)
    assert f"  3 questions are shown to have broken{of}.\n" in capsys.readouterr().out


@pytest.mark.parametrize("kind", ["ranking", "one", "gate", "run", "questions"])
def test_an_attack_that_succeeds_is_not_called_right(kind, tmp_path, capsys, monkeypatch):
    """Where lower is better, every surface has the label's own word."""
    monkeypatch.chdir(tmp_path)
    labels = pl.col("category").replace_strict({0: "resisted", 1: "hit"}, return_dtype=pl.String)
    log = models(1 if kind == "one" else 2, questions=30).with_columns(labels)
    if kind == "run":
        step = pl.when(pl.col("model") == "m00").then(100).otherwise(200)
        log = log.with_columns(step=step, model=pl.lit("ada"))
    log.write_parquet("log.parquet")
    asked = ["--success", "hit", "--lower-is-better", "--run-effects", "none"]
    asked += ["--by", "step"] if kind == "run" else []
    extra = ["--baseline", "m00", "--margin", "0.02"]
    asked = [*extra, *asked, "--html", "report.html"] if kind == "gate" else asked
    main(["gate" if kind == "gate" else "report", "log.parquet", *asked])
    body = Path("report.html").read_text(encoding="utf-8").partition("<body>")[2]
    page = re.sub("<[^>]+>", " ", body.partition("What to do next")[0])
    text = f"{page} {capsys.readouterr().out}"
    if kind in {"ranking", "one", "questions"}:
        main(["questions" if kind == "questions" else "summary", "log.parquet", *asked])
        text += capsys.readouterr().out
    assert "“hit”" in text
    assert re.findall(r".{,30}(?<!on the )\b(?:right|solved|[Nn]obody)\b.{,30}", text) == []


def test_what_is_sometimes_right_is_no_coin_toss(tmp_path, capsys, monkeypatch):
    """1 of 8 and 7 of 8 come out both ways, and are not near to half."""
    outcomes = [[1] * right + [0] * (8 - right) for right in (0, 1, 1, 4, 7, 8)]
    log = pl.concat([long(outcomes, "a"), long(outcomes[::-1], "b")])
    html = page_of(log, run_effects="none").html()
    said = re.search(
        r"<h3>Sometimes right for .*?>a<.*?nearest to half first: (\d)</h3>.*?</p>", html
    )
    assert (said[1], re.findall(r"<code>(\d)", said[0])) == ("4", ["3", "2", "1", "4"])
    monkeypatch.chdir(tmp_path)
    log.write_parquet("log.parquet")
    main(["questions", "log.parquet"])
    printed = capsys.readouterr().out
    assert "sometimes right" in printed
    assert "coin toss" not in html + printed


@pytest.mark.parametrize(
    ("questions", "chip"), [(3, "decided on these 3 questions"), (10, "decided")]
)
def test_a_winner_on_few_questions_is_one_on_these_alone(questions, chip, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    log = pl.concat([long([[1] * 8] * questions, "a"), long([[0] * 8] * questions, "b")])
    page = page_of(log, run_effects="none", validate=False)
    assert (page.headline, page.account.title.chip) == ("a beats b.", chip)
    advice = "Nothing: a is the best of these models."
    if questions < 10:
        advice = "Add questions: a is the best on these 3 questions, which say little about others."
    assert [*map(plain_text, page.account.next.steps)] == [advice]
    log.scorio(validate=False).write_card("card.svg")
    assert (chip in Path("card.svg").read_text(encoding="utf-8")) == (questions < 10)
    gate = page_of(log, run_effects="none", validate=False, baseline="a")
    assert gate.account.title.chip == chip.replace("decided", "gate: fail")


@pytest.mark.parametrize("questions", [12, 40])
def test_a_page_with_a_winner_does_not_say_that_no_model_is_better(questions):
    """The title is about one try: the curve is asked at the other k, and is silent if open."""
    page = page_of(
        rated({"a": {"x": 3}, "b": {"x": 2}}, questions).drop("part"), run_effects="none"
    )
    assert page.headline == "a beats b."
    (rely,) = [each for each in drawn_sections(page) if each.anchor == "reliability"]
    curve = [words for words in rely.words if words.startswith("Pass@k")]
    assert not any("k = 1" in words for words in curve)
    assert "name a better model" not in page.html()


def gate_page(capsys, *asked):
    """What the terminal says of a gate, the title of its page, and words and zones of its rows."""
    main(["gate", "log.parquet", *asked, "--run-effects", "none", "--html", "gate.html"])
    said = capsys.readouterr().out
    page = Path("gate.html").read_text(encoding="utf-8")
    hero = page[page.index('<table class="lb gt">') :].partition("</table>")[0]
    rows = re.findall(r'<tr class="(\w)">.*?<td class="pb">(.*?)</td>', hero)
    zones = re.findall(r'<rect class="(z\w)" x="([\d.]+)%"', hero)
    title, *texts = (
        re.sub("<[^>]+>", "", text).replace("\N{NO-BREAK SPACE}", " ")
        for text in (re.search("<h1.*?</h1>", page)[0], *(text for _, text in rows))
    )
    words = [(hue, text) for (hue, _), text in zip(rows, texts, strict=True)]
    assert title in " ".join(said.split())
    return said, title, words, zones


def rated(rates, questions=40, trials=4):
    """Versions with the same share of right trials at each question of a part."""
    rows = [
        (model, f"{part}{question}", part, trial, int((question + trial) % trials < right))
        for model, parts in rates.items()
        for part, right in parts.items()
        for question in range(questions)
        for trial in range(trials)
    ]
    return pl.DataFrame(rows, ["model", "question", "part", "trial", "category"], orient="row")


def test_a_row_of_a_gate_says_what_its_own_ends_say(tmp_path, capsys, monkeypatch):
    """The mean passes and a part fails: the title names the part, with the margin of parts."""
    monkeypatch.chdir(tmp_path)
    log = rated({"v1": {"law": 3, "math": 3}, "v2": {"law": 1, "math": 3}})
    log.write_parquet("log.parquet")
    said, title, rows, _ = gate_page(
        capsys, "--by", "part", "--baseline", "v1", "--margin", "0.4", "--stratum-margin", "0.1"
    )
    assert title == "v2 is worse than v1 in law by more than 10 points."
    assert rows == [
        ("a", "passes; law fails"),
        ("b", "worse by more than 10 points"),
        ("a", "not worse by more than 10 points"),
    ]
    verdicts = re.findall(r"^  (mean of 2 parts|law|math) .*?(\w+)$", said, re.MULTILINE)
    assert verdicts == [("mean of 2 parts", "pass"), ("law", "fail"), ("math", "pass")]


def test_a_gate_of_lower_scores_has_its_zones_turned(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rated({"v1": {"all": 1}, "v2": {"all": 3}}).drop("part").write_parquet("log.parquet")
    _, title, rows, zones = gate_page(
        capsys, "--baseline", "v1", "--margin", "0.1", "--lower-is-better"
    )
    assert title == "v2 is worse than v1 by more than 10 points."
    assert rows == [("b", "worse by more than 10 points")]
    left = {kind: float(x) for kind, x in zones}
    assert left["za"] < left["zm"] < left["zb"]  # worse is on the right, as its number is


def test_a_notebook_says_what_a_check_found():
    shown = models(2).scorio.check()._repr_html_()
    assert '<p class="t">Nothing found in 3 tests; 6 could not be run.</p>' in shown
    shown = retried().scorio.check()._repr_html_()
    assert re.search(r'<p class="t">\w+: all \d+ questions with fewer than', shown)


def test_grids_of_two_outputs_of_a_notebook_have_names_of_their_own():
    found = [re.findall(r'id="(grid[^"]*)"', models(number).scorio.leaderboard()._repr_html_())
             for number in (2, 3)]  # fmt: skip
    assert len({name for names in found for name in names}) == 2


@pytest.mark.parametrize("number", [2, 3])
@pytest.mark.filterwarnings("ignore")
def test_no_model_is_called_better_than_one_without_a_rank(number, tmp_path, capsys, monkeypatch):
    """A model with too few trials for the metric was not shown to be worse than any."""
    monkeypatch.chdir(tmp_path)
    log, metric = models(number, questions=20, trials=8), ps.pass_at_k(8)
    log = log.filter((pl.col("model") != "m01") | (pl.col("trial") < 4))
    assert log.scorio.rank(metric).filter(model="m01")["rank"].to_list() == [None]
    page = page_of(log, metric)
    titles = {2: "m00 is ahead; m01 may be as good.", 3: "Nothing is decided between 3 models."}
    assert page.headline == titles[number]
    assert plain_text(page.account.aside) == "m01 has no rank."
    assert not any(step.startswith("Nothing:") for step in page.account.next.steps)
    log.write_parquet("log.parquet")
    for command in ("rank", "summary"):
        main([command, "log.parquet", "--metric", "pass_at_k(8)"])
        assert page.headline in " ".join(capsys.readouterr().out.split())
    assert html_text(page.account.title.words) in log.scorio.leaderboard(metric)._repr_html_()


@pytest.mark.filterwarnings("ignore")
def test_a_winner_needs_the_ranks_of_all_others():
    sure = pl.concat([long([[1] * 8] * 20, "good"), long([[0] * 8] * 20, "bad")])
    log = pl.concat([sure, long([[1, 0, 1, 0]] * 20, "short")])
    metric, asked = ps.pass_at_k(8), {"validate": False}
    assert page_of(sure, metric, **asked).headline == "good beats bad."
    page = page_of(log, metric, **asked)
    assert page.headline == "good is ahead; short may be as good."
    assert plain_text(page.account.aside) == "bad is ruled out as the best. short has no rank."
    best = [each.scorio(**asked).leaderboard(metric)["pass_at_k_8_best"].any()
            for each in (sure, log)]  # fmt: skip
    assert best == [True, False]
    ranked = rank_board(log.scorio(**asked).rank(metric), "model")
    table = ranking_table(RankingFacts(ranked, About("Pass@8", 0.95)))
    shown = "\n".join(table_lines(Screen(width=72), table, None))
    assert re.search("\N{EN DASH} +\N{EN DASH} +short", shown)
    strata = [each.with_columns(bench=pl.lit(name)) for name, each in (("x", sure), ("y", log))]
    last = pl.concat([*strata, log.filter(model="short").with_columns(bench=pl.lit("x"))])
    (where,) = [each for each in drawn_sections(page_of(last, metric, by="bench", **asked))
                if each.anchor == "strata"]  # fmt: skip
    assert plain_text(where.title) == ("good is first in every bench, significantly in none.")


@pytest.mark.filterwarnings("ignore")
def test_a_score_that_nothing_is_known_of_is_no_number():
    """The verdicts on two of the models have too few labels."""
    log = models(3, strata=2, questions=20, trials=6).filter(bench="bench 1").drop("bench")
    log = log.filter(pl.col("question") < 8)
    human = pl.when(pl.col("question") % 3 == 0).then("category")
    page = page_of(log.with_columns(human=human), truth="human")
    rows = page.numbers["overall"]["report"].filter(metric="avg")
    assert rows["estimate"].null_count() == 2
    assert page.headline == "Nothing is decided between 3 models."
    assert plain_text(page.account.lede).startswith("m00 has ")
    assert "nan" not in page.html().lower().replace("nano", "")
