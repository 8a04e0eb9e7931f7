"""The sections of a page: which there are, what they say, and where their numbers come from."""

import itertools
import math
import re
from dataclasses import replace
from html import unescape

import numpy as np
import polars as pl
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import polars_scorio as ps
from polars_scorio.command_line.main import main
from polars_scorio.counting.roles import Roles
from polars_scorio.display.facts.gate_facts import Gated
from polars_scorio.display.facts.log_summary import LogSummary
from polars_scorio.display.facts.question_facts import QuestionFacts
from polars_scorio.display.facts.ranking_facts import (
    About,
    Curve,
    Duel,
    RankingFacts,
    Sheet,
    pair_quantiles,
    rank_board,
    score_matrix,
)
from polars_scorio.display.facts.role_facts import Prices
from polars_scorio.display.facts.run_facts import SeveralRuns, TrainingRun
from polars_scorio.display.facts.scopes import page_scopes
from polars_scorio.display.media.marks import Axis, file_text, interval, spread_labels, tick_row
from polars_scorio.display.media.tables import score_ticks, table_html, whole_name
from polars_scorio.display.numbers import Unit, html_text, named, plain_text
from polars_scorio.display.phrases import MISSING
from polars_scorio.display.settings import Settings
from polars_scorio.display.words.ranking_words import ranking_title
from polars_scorio.display.words.run_words import gains_section
from polars_scorio.study.calibrated import CalibratedInference
from tests.decisions.counted import counted
from tests.display.html.logs import drawn_sections, models, page_of, picture_of, retried
from tests.made_logs import long
from tests.made_verdicts import verdicts
from tests.own_metric import Agreement

pytestmark = pytest.mark.filterwarnings("ignore::polars_scorio.CheckWarning")  # made logs are sure
USUAL, ABOUT = Settings(), About("avg", 0.95)


def look_of(log: pl.DataFrame, **roles: object) -> LogSummary:
    return LogSummary.read(log.lazy(), Roles(**roles))


def sheet_of(log: pl.DataFrame, *metrics: ps.Metric, **roles: object) -> Sheet:
    return Sheet.from_scope(
        page_scopes(look_of(log, **roles), metrics or (ps.avg(),), USUAL)[0], USUAL
    )


def sections_of(log: pl.DataFrame, *metrics: ps.Metric, **options: object) -> dict[str, object]:
    """The sections of a page that are written."""
    written = drawn_sections(page_of(log, *metrics, **options))
    return {each.anchor: each for each in written if each.figure}


def words(markup: str) -> str:
    """The words of a piece of a page, spaces as a reader sees them."""
    said = unescape(re.sub(r"<[^>]*>", " ", markup))
    return re.sub(r"\s+", " ", said.replace("\N{NO-BREAK SPACE}", " "))


def rows_of(figure: str) -> list[str]:
    return [words(row) for row in re.findall(r"<tr.*?</tr>", figure, flags=re.DOTALL)]


@pytest.mark.parametrize(
    ("log", "options", "anchors"),
    [
        (models(1), {}, ["reliability", "flaky"]),
        (models(1, trials=1), {}, ["rerun"]),
        (models(2), {}, ["duel", "reliability", "questions"]),
        (models(2, trials=1), {}, ["duel", "questions"]),
        (models(3, strata=1), {"by": "bench"}, ["duel", "reliability", "questions"]),
        (models(3, strata=2), {"by": "bench"}, ["duel", "strata", "reliability", "questions"]),
        (models(6), {}, ["duel", "pairs", "reliability", "questions"]),
        (models(2), {"baseline": "m00"}, ["cases", "reliability"]),
        (models(3, questions=1), {}, ["duel", "reliability"]),
        (models(3).with_columns(usd=1.0 + pl.col("trial")), {"cost": "usd"},
         ["cost", "duel", "reliability", "questions"]),
    ],
)  # fmt: skip
def test_a_page_has_the_sections_that_its_log_asks_for(log, options, anchors):
    assert [*sections_of(log, **options)] == anchors


def test_categories_with_weights_have_no_fan():
    log = long([["a", "b"], ["b", "c"]])
    assert "reliability" not in sections_of(log, ps.avg(w={"a": 0, "b": 1, "c": 2}))


def test_a_leaderboard_has_the_other_metrics_in_its_table():
    page = page_of(models(3), ps.avg(), ps.pass_at_k([1, 2]))
    columns = page.account.table.columns
    assert [each.head for each in columns] == [
        *("rank", "tier", "model", "avg@4", "chance to be best", "Pass@1 (%)", "Pass@2 (%)"),
    ]
    best = models(3).scorio.pass_at_k(2).filter(model="m00").row(0, named=True)
    cell = columns[-1].cells[0]
    assert f"{cell.text} {cell.ends}".startswith(
        f"{100 * best['estimate']:.1f} [{100 * best['lo']:.1f}, "
    )
    assert f"{100 * best['estimate']:.1f} [" in words(table_html(page.folds["Other metrics"]))
    assert "Other metrics" in page.html().partition("<footer>")[2]
    assert "Other metrics" not in page_of(models(3), ps.avg()).folds  # there are none


def test_a_single_model_has_no_ranks():
    assert not {"ranks", "pairs"} & {*page_of(models(1)).numbers["overall"]}


@pytest.mark.slow
@pytest.mark.parametrize(("number", "shown"), [(30, 30), (31, 15)])
def test_of_more_than_30_models_15_are_shown(number, shown):
    html, _, rest = picture_of(page_of(models(number, questions=6, trials=2))).partition(
        "<details>"
    )
    assert (html.count("<th scope"), rest.count("<th scope")) == (shown, number - shown)
    assert (f"{number - shown} more models" in rest) == (shown < number)


@pytest.mark.slow
def test_a_stratum_without_all_models_shows_those_it_has():
    lacks = (pl.col("model") == "m01") & (pl.col("bench") == "bench 1")
    page = page_of(models(3, strata=2).filter(~lacks), by="bench")
    assert [alert.title for alert in page.alerts] == ["Missing models"]
    assert "bench 1" in page.alerts[0].text
    (strata,) = [each for each in drawn_sections(page) if each.anchor == "strata"]
    label = re.search(r'aria-label="(bench 1: [^"]*)"', strata.figure)
    assert {*re.findall(r"m\d\d", label[1])} == {"m00", "m02"}
    assert page.numbers["overall"]["report"]["questions"].unique().to_list() == [12]


@pytest.mark.slow
def test_models_without_a_stratum_in_common_have_no_title(tmp_path):
    """The strata of one model stood under a title about the other one."""
    log = models(2, strata=2).filter((pl.col("model") == "m00") == (pl.col("bench") == "bench 1"))
    page = page_of(log, by="bench")
    assert page.headline == "No bench has all 2 models: no winner over all of them."
    assert (page.account.title.chip, page.account.title.mood) == ("not compared", "")
    assert not page.sections
    assert page.rows.select("stratum", "model").unique().height == 2
    shown = words(picture_of(page))
    for name, model in (("bench 0", "m01"), ("bench 1", "m00")):
        part = log.filter(bench=name).scorio().avg().row(0, named=True)
        ends = f"[{100 * part['lo']:.1f}, {100 * part['hi']:.1f}]"
        score = f"{name} {model} {100 * part['estimate']:.1f} {ends}"
        assert score in shown.replace("\xa0", " ")
    assert "wins" not in page.markdown()
    card = log.scorio(by="bench").write_card(tmp_path / "card.svg").read_text(encoding="utf-8")
    assert "m0" not in card.replace("m00", "").replace("m01", "")
    assert page.account.next.command.startswith("df.scorio(by='bench').rank(")


def test_a_stratum_of_fewer_models_says_of_how_many():
    """ "m00 is the only model" was said of a log of three."""
    three = models(3, strata=2)
    log = three.filter((pl.col("bench") == "bench 0") | (pl.col("model") == "m00"))
    ranks = log.scorio(by="bench").rank()
    board = rank_board(ranks.filter(bench="bench 1"), "model")
    alone = ranking_title(RankingFacts(board, About("avg@4", 0.95), of_log=3))
    assert plain_text(alone.words) == "m00 is the only one here, of 3 models."
    most = models(4, strata=2).filter((pl.col("bench") == "bench 0") | (pl.col("model") != "m00"))
    board = rank_board(most.scorio(by="bench").rank().filter(bench="bench 1"), "model")
    equal = RankingFacts(replace(board, tier=board.tier * 0 + 1), About("avg@4", 0.95), of_log=4)
    assert "3 of 4 models" in ranking_title(equal).words


@pytest.fixture(scope="module")
def versions():
    """Three versions, of which the second one broke a question and repaired one."""
    successes = {"v1": [16, 14, 16, 9, 2, 0], "v2": [1, 14, 15, 9, 16, 0],
                 "v3": [16, 14, 16, 9, 3, 0]}  # fmt: skip
    rows = [(model, f"q{q}", 16, c) for model, own in successes.items() for q, c in enumerate(own)]
    return ps.from_successes(
        pl.DataFrame(rows, schema=["model", "question", "n", "c"], orient="row")
    )


def test_a_gate_has_the_ends_and_the_verdicts_of_the_method(versions):
    page = page_of(versions, baseline="v1", count="count")
    found = page.numbers["baseline"]["gates"].sort("model")
    expected = versions.scorio(count="count").gate("v1", margin=0.02).sort("model")
    assert found.select(*("model", "diff", "lo", "hi", "verdict")).equals(
        expected.select(pl.col("model").cast(pl.String), "diff", "lo", "hi", "verdict")
    )
    shown = {row.split()[0]: row for row in rows_of(picture_of(page))[1:]}
    for row in expected.rows(named=True):
        ends = Unit().gaps(row["lo"], row["hi"])
        assert f"{Unit().gap(row['diff'])} {ends}" in shown[row["model"]]
    assert "baseline='v1'" in page.about.facts["call"]


def test_questions_that_broke_or_were_fixed_are_named(versions):
    page = page_of(versions, baseline="v1", count="count")
    changed = page.numbers["baseline"]["changed"]
    assert changed.select("change", "model", "question").rows() == [
        ("became worse", "v2", "q0"),
        ("became better", "v2", "q4"),
    ]
    cases = next(each for each in drawn_sections(page) if each.anchor == "cases")
    assert cases.title == "1 question broke; 1 was fixed."
    assert "Broke: right trials before and after q0 16/16 → 1/16" in words(cases.figure)
    assert "Fixed q4 2/16 → 16/16" in words(cases.figure)
    assert 'aria-label="1 broke, 3 flaky, 1 the same, 1 fixed"' in cases.figure


def test_what_chance_breaks_is_said_where_nothing_is_named_or_the_pattern_is_rare(versions):
    gated = Gated.from_log(look_of(versions, count="count"), sheet_of(versions, count="count").main,
                     "v1", USUAL, 0.02, About("avg", 0.95))  # fmt: skip
    row = gated.gate.worst
    log = versions.scorio(count="count").regressions("v1").filter(model=row["model"])
    assert row["broken"] == log["broken"].sum()
    assert row["broken_by_chance"] == pytest.approx(log["broken_by_chance"].sum())
    same = page_of(models(2), baseline="m00")
    cases = next(each for each in drawn_sections(same) if each.anchor == "cases")
    assert cases.title == "No question is shown to have broken."
    assert re.search(
        r"went from mostly right to mostly wrong \(by chance alone \d+\.\d;", cases.words[1]
    )


def test_a_gate_of_a_curve_is_about_its_first_threshold(versions):
    page = page_of(versions, ps.tail_pass(4, [2, 3]), baseline="v1", count="count")
    gate = versions.scorio(count="count").gate("v1", metric=ps.tail_pass(4, [2]), margin=0.02)
    found = page.numbers["baseline"]["gates"]
    assert sorted(found["lo"]) == pytest.approx(sorted(gate["lo"]))


def test_posterior_means_have_the_gate_of_their_average_and_rewards_name_no_question():
    page = page_of(models(2, questions=3), ps.bayes(), baseline="m00")
    assert page.account.basis[0] == "difference in avg@4"
    half = models(2, questions=4).with_columns(pl.col("category") * 0.5)
    assert "cases" not in sections_of(half, baseline="m00", bounds=(0, 1))


@pytest.mark.parametrize("margin", [0.0, 0.1])
def test_the_zones_of_lower_scores_lie_the_other_way_round_at_any_margin(margin):
    """Without a margin, worse lay on the left, where lower scores are better."""
    log = models(2, questions=20)
    for lower in (False, True):
        figure = picture_of(page_of(log, baseline="m00", margin=margin, lower_is_better=lower))
        (better,) = re.findall(r'<text x="(\d+)%"[^>]*>better<', figure)
        (worse,) = {*re.findall(r'<rect class="zb" x="([\d.]+)%"', figure)}
        assert (float(better) == 0, float(worse) > 0) == (lower, lower)


def test_a_baseline_that_the_log_lacks_is_refused():
    page = page_of(models(2, questions=3), baseline="m07")
    assert page.refused
    assert "baseline: no model 'm07'; there are ['m00', 'm01']" in page.account.lede
    with pytest.raises(TypeError, match=r"^baseline must be a model or None, got \['m00'\]"):
        page_of(models(2, questions=3), baseline=["m00"])


@pytest.fixture(scope="module")
def prices():
    """A cheap model, and a dear one that never succeeds in the first stratum."""
    rng = np.random.default_rng(34)
    model, question, trial = (each.ravel() for each in np.indices((2, 30, 3)))
    solved = (rng.random(model.size) < 0.6) & ~((model == 1) & (question % 2 == 0))
    return pl.DataFrame(
        {
            "model": np.array(["cheap", "dear"])[model],
            "domain": np.array(["air", "bus"])[question % 2],
            "question": question,
            "trial": trial,
            "category": solved.astype(int),
            "usd": (1.0 + 2 * model) * rng.lognormal(0, 0.3, model.size),
        }
    )


def test_costs_are_those_of_the_report(prices):
    accessor = prices.scorio(cost="usd")
    asked = (ps.cost_to_solve([1, 3]),)
    sheet = sheet_of(prices, cost="usd")
    found = Prices.from_log(prices.lazy(), accessor._roles, sheet, asked)  # noqa: SLF001
    mean = accessor.report(ps.mean_cost()).sort("model").select("estimate", "lo", "hi").to_numpy()
    assert found.money == pytest.approx(mean)
    section = sections_of(prices, ps.avg(), *asked, cost="usd")["cost"]
    assert plain_text(section.title) == "cheap is the cheapest model that may be the best."
    for row in accessor.report(ps.cost_to_solve([1, 3])).filter(model="cheap").rows(named=True):
        assert f"{row['estimate']:.2g} [" in words(section.figure)


def test_names_beside_the_stairs_of_costs_touch_neither_each_other_nor_an_axis(prices):
    dear = [("a-long-name", 2.9), ("b-long-name", 3.0), ("c-long-name", 3.1), ("z-cheapest", 1.0)]
    one = prices.filter(model="cheap")
    log = pl.concat(one.with_columns(model=pl.lit(n), usd=pl.col("usd") * x) for n, x in dear)
    figure = sections_of(log, cost="usd")["cost"].figure
    labels = []
    for x, y, kind, said in re.findall(
        r'<text x="([\d.]+)%" y="([\d.-]+)"(?: class="([^"]*)")?>([^<]*)<', figure
    ):
        half = 100 * 3.6 * len(said) / 358  # letters of 7 pixels, a phone of 358
        left = float(x) - half * ("mid" in kind) - 2 * half * ("end" in kind)
        labels.append((left, left + 2 * half, float(y)))
    assert len(labels) >= 8
    assert all(left >= -0.1 and right <= 105 and 0 < y < 400 for left, right, y in labels)
    for one_label, other in itertools.combinations(labels, 2):
        apart = one_label[1] <= other[0] or other[1] <= one_label[0]
        assert apart or abs(one_label[2] - other[2]) > 12


def test_numbers_at_the_ends_of_an_axis_stay_in_their_picture():
    drawn = tick_row(Axis(0, 1), ["0", "50", "100 %"], most=2)
    assert re.findall(r'x="(\d+)%"[^>]*?(?: class="(\w+)")?>', drawn) == [
        ("0", ""), ("50", "mid"), ("100", "end"),
    ]  # fmt: skip


def test_flaky_questions_and_reruns_are_one_section():
    log = long([[1] * 4, *([[0, 1, 1, 0]] * 9), [0] * 4], "m")
    floor = log.scorio().reruns()["noise_floor"].item()
    flaky = sections_of(log)["flaky"]
    end = f"below {100 * floor:.1f} points, a change may be chance."
    assert flaky.title == f"9 of 11 questions are flaky; {end}"
    assert "Sometimes right for m , nearest to half first: 9" in words(flaky.figure)
    assert f"4 trials each ±{100 * floor:.1f} points" in words(flaky.figure)


def test_a_model_that_never_succeeds_has_no_bounded_price_of_a_success(prices):
    section = sections_of(prices.filter(domain="air"), cost="usd")["cost"]
    (dear,) = [row for row in rows_of(section.figure) if row.startswith(" dear")]
    assert "∞ [" in dear
    assert dear.rstrip().endswith("∞] 100.0 % < 1 %")  # never solved; worth it
    frontier = prices.filter(domain="air").scorio(cost="usd").frontier()
    assert frontier.filter(model="dear")["prob_on_frontier"].item() < 0.01


def test_pages_without_costs_have_no_price(prices, tmp_path):
    assert "cost" not in sections_of(prices)
    assert "cost" in sections_of(prices.filter(model="cheap"), cost="usd", model=None)
    with pytest.raises(ValueError, match=r"needs a cost column: df\.scorio\(cost="):
        prices.scorio.write_html(tmp_path / "page.html", ps.mean_cost())


JUDGED = verdicts(power=1.5)


def test_a_judge_is_shown_beside_the_truth():
    page = page_of(JUDGED, truth="human")
    section = next(each for each in drawn_sections(page) if each.anchor == "judge")
    rows = JUDGED.scorio(truth="human").avg()
    lifts = {
        row["model"]: row["estimate_uncorrected"] - row["estimate"] for row in rows.rows(named=True)
    }
    most = max(lifts, key=lambda name: abs(lifts[name]))
    assert f"up to {100 * abs(lifts[most]):.1f} points ({most})" in plain_text(section.title)
    for row in rows.rows(named=True):
        assert f"{100 * row['estimate_uncorrected']:.1f} → {100 * row['estimate']:.1f}" in words(
            section.figure
        )
    assert "corrected for the errors of the judge" in page.account.basis[0]
    (questions,) = [each for each in drawn_sections(page) if each.anchor == "questions"]
    assert questions.words[0] == "Counted by the verdicts of the judge, without a correction."
    assert page.account.next.steps[0].startswith("Label more verdicts")


def test_a_judge_that_is_no_better_than_a_coin_is_refused_with_the_reason(tmp_path):
    coin = ps.judge(sensitivity=(6, 10), specificity=(5, 10))
    with pytest.raises(ValueError, match="nothing is known of the truth behind these verdicts"):
        JUDGED.scorio(judge=coin).write_html(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "the labels do not show that the judge is better than a coin" in page


def test_the_wins_of_a_duel_are_those_of_an_oracle():
    log = models(3)
    scores = log.group_by("model", "question").agg(pl.col("category").mean())
    a, b = (dict(scores.filter(model=name).select("question", "category").iter_rows())
            for name in ("m00", "m01"))  # fmt: skip
    sheet = sheet_of(log)
    _, both = score_matrix(sheet.main, ["m00", "m01"])
    assert sheet.board.models[:2] == ["m00", "m01"]
    won, tied, lost = Duel.from_sheet(sheet, both).wins
    assert won == sum(a[name] > b[name] for name in a)
    assert lost == sum(a[name] < b[name] for name in a)
    assert won + tied + lost == 12


def test_the_first_of_a_duel_is_the_one_that_leads_whatever_its_name():
    log = pl.concat([long([[0, 0, 1, 0]] * 12, "ada"), long([[1, 1, 1, 0]] * 12, "zoe")])
    duel = sections_of(log)["duel"]
    assert plain_text(duel.title) == "zoe or ada?"
    assert 'aria-label="zoe minus ada: +50.0 points [' in duel.figure
    assert "zoe better: > 99 %" in words(duel.figure)
    assert 'aria-label="ada better at 0, alike at 0, zoe better at 12"' in duel.figure


def test_the_dots_of_a_duel_show_the_chance_of_each_side():
    duel = sections_of(models(2))["duel"]
    dots = re.findall(r'<circle class="(a|b) dot" cx="([\d.]+)"', duel.figure)
    assert len(dots) == 20
    chance = models(2).scorio.compare()["prob_better"].to_list()[0]
    better = max(chance, 1 - chance)
    assert sum(hue == "a" for hue, _ in dots) == pytest.approx(20 * better, abs=1)
    assert 'class="mid">no difference<' in duel.figure
    sure = sections_of(pl.concat([long([[1] * 4] * 20, "a"), long([[0] * 4] * 20, "b")]))["duel"]
    assert re.search(r'x="[\d.]+%" y="14">no difference<', sure.figure)  # zero is at the left end
    (zero,) = re.findall(r'd="M([\d.]+) 0V', duel.figure)
    assert all((float(x) > float(zero)) == (hue == "a") for hue, x in dots)


def test_the_dots_of_a_duel_are_ends_of_the_pair_among_all_models():
    log = models(4, questions=30)
    main = page_scopes(look_of(log), (ps.avg(),), USUAL)[0]
    found = pair_quantiles(main, USUAL, "m01", "m03")
    paired = log.scorio
    pairs = paired.compare(baseline="m01", confidence=0.95, simultaneous=False)
    other = pl.any_horizontal(pl.col("model_a", "model_b") == "m03")
    gap = pairs.filter(other).row(0, named=True)
    sign = 1 if gap["model_a"] == "m01" else -1
    ends = sorted((sign * gap["lo"], sign * gap["hi"]))
    assert [found[0], found[-1]] == pytest.approx(ends, abs=1e-12)


@pytest.mark.parametrize(("strata", "lower"), [(0, True), (3, False), (2, True)])
def test_the_dots_of_a_duel_need_one_evaluation(monkeypatch, strata, lower):
    """Each pair of dots was a comparison of its own, of all models and strata."""
    log, roles = models(4, strata), {"lower_is_better": lower} | ({"by": "bench"} if strata else {})
    main = page_scopes(look_of(log, **roles), (ps.avg(),), USUAL)[0]
    evaluated, numbers = [], CalibratedInference.numbers
    with monkeypatch.context() as patched:
        patched.setattr(
            CalibratedInference, "numbers",
            lambda *given: evaluated.append(given) or numbers(*given),
        )  # fmt: skip
        found = pair_quantiles(main, USUAL, "m01", "m03")
    assert len(evaluated) == 1
    asked = {"baseline": "m03", "simultaneous": False, "confidence": 0.45}
    if strata:
        asked["overall"] = "macro"
    pairs = log.scorio(**roles).compare(**asked).filter(model_a="m01")
    row = (
        pairs.filter(pl.col("bench").is_null()).row(0, named=True)
        if strata
        else pairs.row(0, named=True)
    )
    assert [found[5], found[14]] == pytest.approx([row["lo"], row["hi"]], abs=1e-12)


@pytest.mark.slow
def test_the_staircase_has_a_cell_for_each_pair():
    log = models(7, questions=40)
    pairs = log.scorio.compare(simultaneous=True)
    section = sections_of(log)["pairs"]
    decided = pairs["better"].is_not_null().sum()
    assert section.title == f"{decided} of 21 pairs are decided."
    cells = dict(re.findall(r'<path class="(sure|open)" d="([^"]*)"', section.figure))
    assert cells["sure"].count("M") == decided
    assert cells["open"].count("M") == 21 - decided
    assert 'viewBox="0 0 7 7"' in section.figure  # as narrow as a phone
    assert section.figure.count('class="end"') == 7


@pytest.mark.slow
def test_of_more_than_30_models_the_first_ones_are_drawn_and_paired():
    page = page_of(models(34, questions=6, trials=2))
    sections = {each.anchor: each for each in drawn_sections(page)}
    pairs, first = page.numbers["overall"]["pairs"], page.numbers["overall"]["models"][0]
    assert pairs.height == 33
    assert pairs.select(((pl.col("model_a") == first) | (pl.col("model_b") == first)).all()).item()
    assert sections["pairs"].title.endswith("of 561 pairs are decided.")
    cells = re.findall(r'<path class="(?:sure|open)" d="([^"]*)"', sections["pairs"].figure)
    assert sum(each.count("M") for each in cells) == 30 * 29 // 2
    assert "The first 30 of 34 models." in " ".join(sections["pairs"].words)
    assert folded(page.html()) == ["pairs"]
    assert sections["questions"].figure.count('class="p"') == 15
    assert "The first 15 of 34 models." in " ".join(sections["questions"].words)


def folded(page: str) -> list[str]:
    """The sections that are one line and a fold."""
    return re.findall(r'<section class="one" id="(\w+)"><details><summary><h2>', page)


def test_a_section_whose_answer_is_open_is_one_line():
    page = page_of(models(6, strata=2), by="bench")
    assert folded(page.html()) == ["strata"]
    said = page.markdown()
    assert "## No bench has a sure winner." in said
    assert "Named on the right" not in said
    beaten = long([[1] * 4] * 12, "ada").vstack(long([[0] * 4] * 12, "bob"))
    parts = [beaten.with_columns(bench=pl.lit(name)) for name in ("law", "tax")]
    assert folded(page_of(pl.concat(parts), by="bench").html()) == []


def test_pairs_and_questions_that_do_not_differ_are_one_line():
    alike = pl.concat([long([[1, 0, 1, 1]] * 12, name) for name in "abcdef"])
    page = page_of(alike)
    assert folded(page.html()) == ["pairs", "questions"]
    pairs = next(each for each in drawn_sections(page) if each.anchor == "pairs")
    assert pairs.title == "0 of 15 pairs are decided."


def test_of_many_strata_those_with_a_winner_come_first():
    beaten = long([[1] * 4] * 12, "ada").vstack(long([[0] * 4] * 12, "bob"))
    equal = long([[0, 1, 0, 1]] * 12, "ada").vstack(long([[0, 1, 0, 1]] * 12, "bob"))
    log = pl.concat(
        [(beaten if place == 13 else equal).with_columns(bench=pl.lit(f"bench {place:02}"))
         for place in range(15)]
    )  # fmt: skip
    figure = sections_of(log, by="bench")["strata"].figure
    shown, rest = figure.split("<details><summary>3 more</summary>")
    assert shown.count('role="img"') == 12
    assert rest.count('role="img"') == 3
    assert re.findall(r'title="(bench \d+)"', shown)[0] == "bench 13"


@pytest.fixture(scope="module")
def faulty():
    """Six models, ever better at all questions but one; one is never solved, one always."""
    c = np.minimum(np.arange(6)[:, None] * 3 // 2 + np.arange(15) % 2, 8)
    c[:, 0], c[:, 1], c[:, 5] = 0, 8, np.arange(6)[::-1] * 3 // 2
    frame = counted(c[None], 8).frame.drop("stratum")
    name = pl.when(pl.col("question") == 5).then(pl.lit("x" * 80))
    return frame.with_columns(question=name.otherwise(pl.format("q{}", "question")))


def test_questions_never_and_always_solved_are_named(faulty):
    said = words(sections_of(faulty, count="count")["questions"].figure)
    assert "Nobody solved: 1 q0" in said
    assert "Everybody solved, always: 1 q1" in said


def test_the_cells_of_questions_are_the_scores_the_hardest_first(faulty):
    sheet = sheet_of(faulty, count="count")
    facts = QuestionFacts.from_scope(sheet.main, sheet.board, USUAL)
    rates = faulty.filter(pl.col("category") == 1).select("model", "question", pl.col("count") / 8)
    known = {(str(m), q): rate for m, q, rate in rates.rows()}
    for row, model in enumerate(sheet.board.models):
        expected = [known.get((model, name), 0.0) for name in facts.names]
        assert facts.scores[row].tolist() == pytest.approx(expected)
    means = facts.scores.mean(axis=0)
    assert (np.diff(means) >= -1e-12).all()


def test_of_many_questions_the_cells_are_means_of_neighbours():
    log = long(np.repeat(np.eye(2, 4, dtype=int), 500, axis=0).tolist(), "a")
    both = pl.concat([log, log.with_columns(model=pl.lit("b"))])
    figure = sections_of(both)["questions"].figure
    assert 'viewBox="0 0 400 1"' in figure
    assert "easiest of 1,000" in figure


def test_rewards_are_not_called_solved():
    log = pl.concat([long([[0.5, 0.25], [0.0, 1.0]], name) for name in ("ada", "bob")])
    assert "solved" not in words(sections_of(log)["questions"].figure)


@pytest.mark.parametrize(("lo", "hi"), [(0.97, 1.0), (0.0, 0.02), (0.0, 1.0), (1.0, 1.0)])
def test_percentages_have_no_ticks_beyond_0_and_100(lo, hi):
    axis = Axis.spanning([lo, hi], share=True)
    assert 1 <= len(axis.ticks()) <= 7
    assert all(-1e-9 <= tick <= 1 + 1e-9 for tick in axis.ticks())
    assert score_ticks(axis, Unit())[-1].endswith("%")


def test_marks_stay_in_the_picture_and_unknown_numbers_have_none():
    axis = Axis.spanning([0.2, 0.6])
    drawn = interval(axis, 0.2, 0.4, 0.6, 20)
    assert all(0 <= float(x) <= 100 for x in re.findall(r'"([\d.]+)%"', drawn))
    assert drawn.count("<circle") == 1
    assert interval(axis, math.nan, math.nan, math.nan, 20) == ""
    assert max(Axis.spanning([0.5, 3.0]).ticks()) == 3.0


def improving_run() -> pl.DataFrame:
    """A run of four steps with 20 questions and 4 trials: none right, half, all, nearly all."""
    right = {0: 0, 10: 2, 20: 4, 30: 4}
    rows = [
        (
            step,
            question,
            trial,
            int((trial + question) % 4 < most - ((step, question) == (30, 0))),
        )
        for step, most in right.items()
        for question in range(20)
        for trial in range(4)
    ]
    schema = ["step", "question", "trial", "category"]
    return pl.DataFrame(rows, schema=schema, orient="row")


def test_a_run_has_the_steps_that_may_be_best_and_the_earliest_of_them_to_take():
    log = improving_run()
    page = page_of(log, ps.avg(), model=None, by="step", validate=False)  # steps are sure
    best = log.scorio(model="step", validate=False).best(ps.avg()).row(0, named=True)
    assert best["could_be_best"] == [20, 30]
    assert page.headline == "Step 30 is better than step 0 at every k."
    assert "on one try (2 of 4), for all steps together" in words(picture_of(page))
    assert plain_text(page.account.next.steps[0]).startswith(
        "Take step 20: the earliest of the 2 steps"
    )
    assert [*sections_of(log, ps.avg(), model=None, by="step", validate=False)] == [
        "gains",
        "questions",
    ]
    (questions,) = [each for each in drawn_sections(page) if each.anchor == "questions"]
    assert questions.title == "0 questions went out of reach, 20 came into reach."
    assert questions.words[1].startswith("20 questions got better, 0 got worse, each by a test of")


def test_the_gains_of_a_run_are_those_of_the_comparison():
    log = improving_run()
    run = TrainingRun.from_summary(
        look_of(log, model=None, by="step", validate=False), USUAL, ABOUT
    )
    steps = log.filter(pl.col("step").is_in([0, 30])).scorio(model="step", validate=False)
    pairs = steps.compare(ps.pass_at_k([1, 2, 4]), simultaneous=True).sort("k")
    sign = pairs.select(pl.when(pl.col("model_a") == 30).then(1).otherwise(-1)).to_series()
    assert run.curve.diff == pytest.approx((sign * pairs["diff"]).to_numpy())
    assert run.curve.hi - run.curve.lo == pytest.approx((pairs["hi"] - pairs["lo"]).to_numpy())


def test_the_gains_of_posteriors_are_a_family_over_k():
    """Of 1, 2, 4 tries each is asked at confidence ** (1 / 3); it was Bonferroni's share."""
    log = improving_run()
    settings = Settings(prior="uniform")
    run = TrainingRun.from_summary(
        look_of(log, model=None, by="step", validate=False), settings, ABOUT
    )
    steps = log.filter(pl.col("step").is_in([0, 30])).scorio(model="step", validate=False)
    options = {"prior": "uniform", "confidence": 0.95 ** (1 / 3)}
    pairs = steps.compare(ps.pass_at_k([1, 2, 4]), **options).sort("k")
    width = (pairs["hi"] - pairs["lo"]).to_numpy()
    assert run.curve.hi - run.curve.lo == pytest.approx(width, rel=1e-9)


def test_several_runs_are_ranked_at_the_last_step_that_all_have():
    runs = [improving_run().with_columns(model=pl.lit(name)) for name in ("ada", "bob")]
    log = pl.concat([runs[0], runs[1].filter(pl.col("step") < 20)])
    page = page_of(log, ps.avg(), by="step")
    assert page.headline == "At step 10: ada and bob have the same score."
    steps = sections_of(log, ps.avg(), by="step")["steps"]
    assert plain_text(steps.title) == "ada has the highest score at 4 of 4 steps."
    assert [*page.numbers["strata"]] == ["0", "10", "20", "30"]


def test_thousands_of_steps_have_commas_in_titles_and_on_axes():
    run = improving_run().with_columns(step=pl.col("step") * 100)
    log = pl.concat([run.with_columns(model=pl.lit(name)) for name in ("ada", "bob")])
    page = page_of(log, ps.avg(), by="step")
    assert page.headline == "At step 3,000: ada and bob have the same score."
    assert ">1,000</text>" in page.html()


def test_times_of_steps_of_several_runs_are_written_without_fractions_of_a_second():
    run = improving_run().with_columns(step=pl.datetime(2024, 1, 1, pl.col("step") // 10))
    log = pl.concat([run.with_columns(model=pl.lit(name)) for name in ("ada", "bob")])
    runs = SeveralRuns.from_summary(look_of(log, by="step"), sheet_of(log, by="step"))
    assert [label for _, label in runs.steps] == [f"2024-01-01 0{hour}:00:00" for hour in range(4)]


def test_labels_of_steps_do_not_touch_on_a_phone():
    steps = [f"{200 * place:,}" for place in range(11)]
    kept = spread_labels([10.0 * place for place in range(11)], steps)
    assert [steps[place] for place in kept] == ["0", "1,000", "2,000"]  # evenly
    odd = [f"{100 * place}" for place in range(8)]  # no even choice fits but both ends
    kept = spread_labels([100 * place / 7 for place in range(8)], odd)
    assert [odd[place] for place in kept] == ["0", "100", "200", "300", "400", "500", "700"]


def test_steps_with_questions_of_their_own_are_compared_by_nobody():
    log = improving_run().with_columns(question=pl.col("question") + 100 * pl.col("step"))
    assert TrainingRun.from_summary(look_of(log, model=None, by="step"), USUAL, ABOUT) is None
    assert not page_of(log, ps.avg(), model=None, by="step").refused


def test_the_size_of_a_log_counts_questions_of_strata_and_those_of_steps_once():
    log = models(2, strata=4)
    assert (
        "4 strata, 48 questions \N{MULTIPLICATION SIGN} 4 trials"
        in page_of(log, ps.avg(), by="bench").summary
    )
    steps = log.with_columns(step=pl.col("bench").str.slice(6).cast(pl.Int64)).drop("bench")
    assert (
        "4 steps, 12 questions \N{MULTIPLICATION SIGN} 4 trials"
        in page_of(steps, ps.avg(), by="step").summary
    )


@given(seed=st.integers(0, 10**6), number=st.integers(1, 5), trials=st.integers(1, 5))
@settings(max_examples=12, deadline=None)
@pytest.mark.slow
def test_the_numbers_of_a_page_are_those_of_the_report(seed, number, trials):
    rng = np.random.default_rng(seed)
    rates = rng.random((number, 1)) * rng.random(rng.integers(3, 25))
    outcomes = (rng.random((trials, *rates.shape)) < rates).transpose(1, 2, 0).astype(int)
    log = pl.concat(long(each.tolist(), f"m{place}") for place, each in enumerate(outcomes))
    # Pages are about the runs of the log; trials of a few questions look like copies by chance.
    roles = {"validate": False}
    page, accessor = page_of(log, **roles), log.scorio(**roles)
    rows = accessor.avg()
    unit = Unit.from_rows(rows.rename({"estimate": "mu"}))
    shown = picture_of(page) if number > 1 else words(picture_of(page))
    for model, mu, lo, hi in rows.select("model", "estimate", "lo", "hi").rows():
        ends = unit.interval(lo, hi)
        assert f"{model}: {unit.score(mu)} {ends}" in unescape(shown) or number == 1
        assert f"{unit.score(mu, sign=False)} {ends}" in words(picture_of(page))
    if number > 1:
        pairs = accessor.compare(simultaneous=True)
        first = page.numbers["overall"]["models"][:2]
        row = pairs.filter(pl.all_horizontal(pl.col("model_a", "model_b").is_in(first))).row(
            0, named=True
        )
        ends = (row["diff"], row["lo"], row["hi"])
        diff, lo, hi = ends if row["model_a"] == first[0] else (-ends[0], -ends[2], -ends[1])
        assert f"{unit.gap(diff, points=True)} {unit.gaps(lo, hi)}." in page.account.lede
    if trials > 1:
        top = 2 ** (trials.bit_length() - 1)
        best = page.numbers["overall"]["models"][0]
        (does,) = accessor.pass_hat_k(top).filter(model=best)["estimate"]
        fan = next(each for each in drawn_sections(page) if each.anchor == "reliability")
        assert re.search(rf"and (?:[<>] )?{re.escape(f'{100 * does:.1f}')}|and [<>] ", fan.words[0])


@given(seed=st.integers(0, 10**6))
@settings(max_examples=4, deadline=None, phases=[Phase.generate])
@pytest.mark.slow
def test_the_numbers_of_gates_and_runs_are_those_of_the_methods(seed):
    rng = np.random.default_rng(seed)
    rates = rng.random((3, 1)) * rng.random(15) + 0.02
    outcomes = (rng.random((4, *rates.shape)) < rates).transpose(1, 2, 0).astype(int)
    names = ("0", "10", "20")
    log = pl.concat(long(each.tolist(), name) for name, each in zip(names, outcomes, strict=True))
    roles = {"validate": False}

    gate = log.scorio(**roles).gate("0", margin=0.02)
    shown = words(picture_of(page_of(log, baseline="0", **roles)))
    for diff, lo, hi in gate.select("diff", "lo", "hi").rows():
        assert f"{Unit().gap(diff)} {Unit(edge=0.02).gaps(lo, hi)}" in shown

    run = log.with_columns(step=pl.col("model").cast(pl.Int64), model=pl.lit("ada"))
    page = page_of(run, by="step", **roles)
    scores = dict(log.scorio(**roles).avg().select("model", "estimate").rows())
    assert f"One try: {Unit().score(scores['0'])} → {Unit().score(scores['20'])}, " in (
        page.account.lede
    )
    two = log.filter(pl.col("model") != "10").scorio(**roles)
    curve = two.compare(ps.pass_at_k([1, 2, 4]), simultaneous=True).filter(k=4)
    model, diff, lo, hi = curve.select("model_a", "diff", "lo", "hi").row(0)
    diff, lo, hi = (diff, lo, hi) if model == "20" else (-diff, -hi, -lo)
    assert f"{Unit().gap(diff, points=True)} {Unit().gaps(lo, hi)}." in page.account.lede


@pytest.mark.parametrize(
    ("lo", "hi", "title"),
    [
        ([-0.1, -0.1, -0.1], [0.1, 0.1, 0.1], "Step 20 neither gains nor loses beyond chance."),
        ([-0.1, 0.1, -0.1], [0.1, 0.2, 0.1], "Step 20 gains at k = 2."),
        ([-0.1, -0.2, -0.1], [0.1, -0.1, 0.1], "Step 20 loses at k = 2."),
        ([0.1, 0.1, 0.1], [0.2, 0.2, 0.2], "Step 20 gains at every k."),
        ([0.1, -0.1, -0.1], [0.2, 0.1, 0.1], "Step 20 gains up to k = 1."),
        ([-0.1, -0.2, -0.2], [0.1, -0.1, -0.1], "Step 20 loses from k = 2 on."),
        ([0.1, -0.2, -0.2], [0.2, -0.1, -0.1], "Step 20 gains up to k = 1, loses from k = 2 on."),
        ([-0.2, -0.1, 0.1], [-0.1, 0.1, 0.2], "Step 20 loses up to k = 1, gains from k = 4 on."),
    ],
)
def test_the_heading_of_the_gains_of_a_run_names_every_k_that_is_decided(lo, hi, title):
    ends = np.array(lo), np.array(hi)
    better = (ends[0] > 0) * 1 - (ends[1] < 0) * 1
    curve = Curve((1, 2, 4), (ends[0] + ends[1]) / 2, *ends, better, ("0", "20"), USUAL.level)
    assert gains_section(curve).title == title


def test_names_from_right_to_left_are_units_of_their_own():
    names = {"m00": "نموذج كبير", "m01": "نموذج صغير"}
    page = page_of(models(2).with_columns(pl.col("model").replace_strict(names)))
    heads = re.findall(r"<h[12][^>]*>(.*?)</h[12]>", page.html())
    spoken = [head for head in heads if "نموذج" in head]
    assert len(spoken) >= 2
    for head in spoken:
        assert head.count("نموذج") == len(re.findall(r'<bdi class="nb">نموذج', head))
    assert "unicode-bidi:isolate" in page.html()


def test_short_names_are_unbroken_and_long_ones_break_at_their_marks():
    assert whole_name("ember-large") == '<bdi class="nb">ember-large</bdi>'
    long_name = "organisation/a-model-of-the-spring-with-tools"
    assert whole_name(long_name).count("<wbr>") == long_name.count("-") + long_name.count("/")
    said = html_text(f"{named('ember-large')} or {named(long_name)}?")
    assert said.count('class="nb"') == 1
    assert said.endswith("</bdi>?")  # the mark follows the last letter of a name in two lines


def test_intervals_have_one_decimal_unless_they_are_below_a_point():
    page = page_of(long([[1] * 4] * 12))
    said = words(picture_of(page))
    assert "100.0 [" in said
    assert "100.00" not in words(page.html().partition("<style>")[0] + picture_of(page))


def test_print_keeps_sections_whole_and_headings_with_them():
    css = file_text("page.css")
    assert re.search(r"\.s\{[^}]*break-inside:avoid", css)
    paper = css.partition("@media print{@page")[2]
    assert "size:A4" in paper
    assert "h2{break-after:avoid}" in paper
    assert "tr,.l3,footer{break-inside:avoid}" in paper
    assert ".pick{display:none}" in paper


@pytest.mark.parametrize(
    "metric", [ps.bayes(), ps.geom_at_k(2), ps.tail_pass(4, [2]), ps.pass_at_k(8), Agreement()]
)
def test_every_metric_has_intervals_on_its_page(metric):
    cells = [f"{each.text or MISSING} {each.ends}"
             for each in page_of(models(3), metric).account.table.intervals]  # fmt: skip
    number = "\N{EN DASH}" if metric == ps.pass_at_k(8) else r"[<>]?[\d .]+"  # of four trials
    assert all(re.fullmatch(rf"{number} \[[<>\d ., ]+\]", cell) for cell in cells)


def test_the_highest_of_several_has_an_interval_corrected_for_the_selection():
    log = models(3, questions=40)
    row = log.scorio.best().row(0, named=True)
    ends = Unit().interval(row["best_lo"], row["best_hi"])
    (note,) = page_of(log).account.texts("note")
    assert "Adjusted for being picked as the best of 3, " in note
    assert f" has {ends}." in note
    steps = improving_run()
    row = steps.scorio(model="step", validate=False).best().row(0, named=True)
    ends = Unit().interval(row["best_lo"], row["best_hi"])
    said = words(picture_of(page_of(steps, ps.avg(), model=None, by="step", validate=False)))
    assert f"{ends} is corrected for having been chosen." in said


def test_the_foot_has_the_coverage_of_each_model():
    log = models(3).filter(~((pl.col("model") == "m01") & (pl.col("question") > 6)))
    foot = page_of(log).html().partition("<footer>")[2]
    rows = rows_of(foot)
    assert rows[0].split() == ["model", "questions", "missing", "trials"]
    assert [row.split() for row in rows[1:4]] == [
        ["m00", "12", "0", "48"], ["m01", "7", "5", "28"], ["m02", "12", "0", "48"],
    ]  # fmt: skip


def test_single_questions_that_fail_a_gate_are_told_on_its_page(versions, tmp_path):
    versions.write_parquet(tmp_path / "log.parquet")
    asked = ["gate", str(tmp_path / "log.parquet"), "--count", "count", "--baseline", "v1",
             "--margin", "0.2", "--html", str(tmp_path / "gate.html")]  # fmt: skip
    main([*asked, "--fail-on", "regressed", "--must-pass", "q0", "q2"])
    page = words((tmp_path / "gate.html").read_text(encoding="utf-8").partition("<body>")[2])
    row = versions.scorio(count="count").gate(
        "v1", margin=0.2, fail_on="regressed", must_pass=["q0", "q2"]
    ).filter(model="v2").row(0, named=True)  # fmt: skip
    assert row["regressed"] == ["q0"]
    assert "v2 fails" in page
    assert "Tested one by one, 1 question regressed (FDR 10 %): q0." in page
    names = " and ".join(map(str, row["not_passed"]))
    assert f"that must pass did not in every trial: {names}." in page


def test_a_name_stays_with_the_mark_behind_it_and_the_first_clause_of_advice_is_bold():
    page = page_of(models(2))
    assert "</bdi></span> may be as good" not in page.html()
    assert '<span class="gl"><bdi class="nb">m01</bdi>?</span></h2>' in page.html()
    assert re.search(r"<li><b>Not decided:</b>", page.html())


def test_cells_are_full_where_every_trial_is_right_and_of_rewards_at_the_highest_mean():
    low = long([[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 0, 0]])
    sheet = sheet_of(pl.concat([low, low.with_columns(model=pl.lit("b"))]))
    facts = QuestionFacts.from_scope(sheet.main, sheet.board, USUAL)
    assert facts.scores[0].tolist() == [0.25, 0.5, 0.5, 0.75]
    assert len(facts.mixed) == 4
    paid = low.with_columns(category=pl.col("category") * 3.5 - 1)
    both = pl.concat([paid, paid.with_columns(pl.col("category") - 1, model=pl.lit("b"))])
    sheet = sheet_of(both)
    facts = QuestionFacts.from_scope(sheet.main, sheet.board, USUAL)
    assert (facts.scores.min(), facts.scores.max()) == (0, 1)
    section = sections_of(both)["questions"]
    assert section.title == "Every question, from the hardest to the easiest."
    assert "coin toss" not in section.figure
    assert "right" not in " ".join(section.words)
    assert "flaky" not in sections_of(paid)


def test_equal_numbers_are_no_range():
    labelled = models(2, questions=40).with_columns(
        human=pl.when(pl.col("question") % 2 == 0).then("category")
    )
    assert "80 of each model" in sections_of(labelled, truth="human")["judge"].words[1]


def test_with_costs_nobody_is_told_to_take_either(prices):
    other = prices.with_columns(model=pl.col("model") + "2")
    log = pl.concat([prices, other]).filter(pl.col("model").str.starts_with("cheap"))
    page = page_of(log, cost="usd")
    assert plain_text(page.account.next.steps[0]).startswith(
        "Take cheap: no model that may be the best is cheaper"
    )
    assert not any("Take either" in step for step in page.account.next.steps[1:])
    (cost,) = [each for each in drawn_sections(page) if each.anchor == "cost"]
    assert plain_text(cost.title) == "No model that may be the best is cheaper than cheap."
    sure = pl.concat([long([[1] * 4] * 20, "a"), long([[0] * 4] * 20, "b")])
    page = page_of(sure.with_columns(usd=1.0 + pl.col("trial")), cost="usd", validate=False)
    assert [plain_text(step) for step in page.account.next.steps] == [
        "Nothing: a is the best of these models."
    ]


def test_no_advice_rests_on_trials_in_doubt():
    (repair,) = page_of(retried()).account.next.steps
    assert repair.startswith("Repair the trials first, ")
    copied = pl.concat([long([[1, 1, 1, 0]] * 40, "a"), long([[0, 0, 1, 0]] * 40, "b")])
    (look,) = page_of(copied).account.next.steps
    said = "First look at the alerts. As the rows stand: a is the best of these models."
    assert plain_text(look) == said
    gate = page_of(copied, baseline="a", margin=0.1)
    broke = "40 questions broke, more than chance explains; none can be named."
    (title,) = [each.title for each in gate.sections if each.anchor == "cases"]
    assert (gate.account.aside, title) == (broke, broke)


@pytest.mark.parametrize(("number", "said"), [(1500, "Take either: "), (40, "Not decided: ")])
def test_either_model_is_taken_only_where_they_differ_by_little(number, said):
    log = pl.concat([long([[1, 1, 0, 0]] * number, "a"), long([[1, 0, 1, 0]] * number, "b")])
    assert page_of(log, validate=False).account.next.steps[0].startswith(said)


@pytest.mark.parametrize(
    ("log", "metrics", "options"),
    [
        (models(2), (), {}),
        (models(2), (ps.pass_at_k(2),), {}),
        (models(3, strata=2), (), {"by": "bench"}),
        (JUDGED, (), {"truth": "human"}),
        (models(2).rename({"model": "agent"}), (), {"model": "agent"}),
        (models(2), (ps.pass_at_k(2),), {"baseline": "m00"}),
        (models(2, strata=2), (), {"baseline": "m00", "by": "bench"}),
    ],
)
def test_the_line_to_type_repeats_the_numbers_of_the_page(log, metrics, options):
    page = page_of(log, *metrics, **options)
    names = {name: getattr(ps, name) for name in ("avg", "pass_at_k")}
    rows = eval(page.account.next.command, {"df": log, **names})  # noqa: S307 - a line of ours
    if "baseline" in options:
        pairs = page.numbers["baseline"]["gates"]
    else:
        pairs = page.numbers["overall"]["pairs"]
    if "bench" in rows.columns:
        rows, pairs = (
            each.filter(pl.col(column).is_null()) if column in each.columns else each
            for each, column in ((rows, "bench"), (pairs, "stratum"))
        )
    assert sorted(rows["diff"].abs()) == pytest.approx(sorted(pairs["diff"].abs()))
    assert sorted(rows["hi"] - rows["lo"]) == pytest.approx(sorted(pairs["hi"] - pairs["lo"]))


def test_the_line_below_a_run_of_training_keeps_its_roles():
    log = improving_run().rename({"question": "task"})
    page = page_of(log, ps.pass_at_k(4), model=None, by="step", question="task", validate=False)
    assert (
        page.account.next.command
        == "df.scorio(model='step', question='task', validate=False).rank()"
    )
    assert eval(page.account.next.command, {"df": log})["tier"].min() == 1  # noqa: S307 - a line of ours


def test_pages_say_how_their_own_numbers_were_computed(versions):
    gate = page_of(versions, baseline="v1", count="count").html()
    assert "Each end of an interval is a one-sided limit." in gate
    assert "The gate fails where the whole interval lies in the orange zone" in gate
    assert "is called better only if" not in gate
    assert "is called better only if" in page_of(models(2)).html()
    refused = page_of(models(2).with_columns(category=pl.lit("yes")))
    assert refused.refused
    assert "is called better" not in refused.html()


def test_metrics_that_nobody_asked_for_fit_the_trials_that_count():
    few = long([[1] * 4] * 12)
    assert [alert.title for alert in page_of(few).alerts] == []
    asked = [alert.title for alert in page_of(few, ps.pass_at_k(8)).alerts]
    assert asked == ["More draws than trials"]
