"""Reports and comparisons warn of what tests of a log find, once, and no number depends on it."""

import warnings

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_scorio as ps
from polars_scorio.study import log_checks
from tests.made_logs import long

# Up to four trials, until one succeeds; and the same trials without a rule.
RETRIED = [(1, 1)] * 6 + [(2, 1)] * 4 + [(3, 1)] * 2 + [(4, 0)] * 6 + [(4, 1)] * 2
PLANNED = [(4, c % 5) for c in range(20)]
SAID = (
    r"^bob: all 12 questions with fewer than 4 trials ended with 1 success \(p < 0\.001\)\. If "
    r"trials stopped on outcomes, every score is biased: .*first=1 counts the first trial of each "
    r"question\. If the numbers of trials were planned, ignore this\. check\(\) shows all tests\.$"
)


def log(**models: list[tuple[int, int]]) -> ps.Scorio:
    """Models with trials and successes of each question."""
    frames = [
        pl.DataFrame(
            {"model": name, "question": range(len(rows)), "part": [i % 2 for i in range(len(rows))]}
        ).with_columns(n=pl.Series([n for n, _ in rows]), c=pl.Series([c for _, c in rows]))
        for name, rows in models.items()
    ]
    counts = ps.from_successes(pl.concat(frames))
    return counts.scorio(count="count")


@pytest.mark.parametrize("target", ["benchmark", "population"])
@pytest.mark.parametrize("method", ["compare", "rank", "best", "leaderboard"])
def test_comparisons_of_trials_that_stopped_on_outcomes_warn_once(method, target):
    scorio = log(ada=PLANNED, bob=RETRIED)
    with pytest.warns(ps.CheckWarning, match=SAID) as caught:
        getattr(scorio, method)(ps.avg(), target=target)
    assert len(caught) == 1


def test_a_lazy_comparison_warns_when_it_is_collected():
    scorio = log(ada=PLANNED, bob=RETRIED)
    plan = ps.scorio(scorio.frame.lazy(), count="count").compare(ps.avg())
    with pytest.warns(ps.CheckWarning, match=SAID):
        plan.collect()


def test_rows_that_a_filter_leaves_out_are_not_looked_at():
    retried = long([[0] * (n - c) + [1] * c for n, c in RETRIED], "bob")
    twice = pl.concat([long([[0, 1]], "ada")] * 2)
    plan = pl.concat([retried, twice]).lazy().scorio.avg()
    with pytest.warns(ps.CheckWarning, match="^bob: all 12 questions "):
        assert plan.filter(pl.col("model") == "bob").collect().height == 1
    with pytest.raises(ValueError, match="the same trial twice"):
        plan.collect()


def test_the_rows_over_all_strata_are_no_group_of_their_own():
    frame = log(ada=PLANNED * 3, bob=RETRIED * 3).frame
    by_part = frame.scorio(count="count", by="part")
    with pytest.warns(ps.CheckWarning, match=r"^bob \(part=\d\): all "):
        by_part.compare(ps.avg(), overall="micro")


@pytest.mark.parametrize(
    ("models", "options"),
    [
        pytest.param({"ada": PLANNED, "bob": PLANNED}, {}, id="equal n"),
        # Which questions have more trials says nothing about them.
        pytest.param({"ada": [(3 + i % 2, i % 4) for i in range(20)]}, {}, id="by chance"),
        # Nothing is ever solved: that short questions have no success is no wonder.
        pytest.param({"ada": [(1 + i % 2, 0) for i in range(18)]}, {}, id="impossible"),
        pytest.param({"bob": RETRIED}, {"prior": "population"}, id="pooled"),
    ],
)
def test_other_comparisons_do_not_warn(models, options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        log(**models).rank(ps.avg(), **options)


def test_one_of_many_groups_that_fits_by_chance_is_no_rule():
    fits = [(3, 0)] * 2 + [(4, 4)] * 18 + [(4, 2)]  # with a chance of .0048
    lost = [(3 + i % 2, 1 + i % 3) for i in range(20)]
    strata = [log(ada=lost if part else fits).frame for part in range(40)]
    parts = [frame.with_columns(part=part) for part, frame in enumerate(strata)]
    many = pl.concat(parts).scorio(count="count", by="part")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        many.rank(ps.avg())


@pytest.mark.slow
def test_a_page_has_an_alert_instead(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        log(ada=PLANNED, bob=RETRIED).write_html(tmp_path / "page.html", ps.avg())
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "seem to have stopped on outcomes: then every score is biased." in page


@pytest.mark.parametrize(
    "report",
    [
        pytest.param(lambda log: log.avg(), id="avg"),
        pytest.param(lambda log: log.bayes(prior="uniform"), id="published"),
        pytest.param(lambda log: log.report(ps.avg(), ps.pass_at_k([1, 2])), id="report"),
        pytest.param(lambda log: log.report(ps.bayes(), ps.avg()), id="one metric of two"),
        pytest.param(lambda log: log.report(ps.avg(), wide=True), id="wide"),
        pytest.param(lambda log: log.avg(per="question", prior="uniform"), id="single questions"),
    ],
)
def test_reports_of_trials_that_stopped_on_outcomes_warn_once(report):
    with pytest.warns(ps.CheckWarning, match=SAID) as caught:
        report(log(ada=PLANNED, bob=RETRIED))
    assert len(caught) == 1


def test_pictures_warn():
    with pytest.warns(ps.CheckWarning, match=SAID):
        log(ada=PLANNED, bob=RETRIED).plot.intervals(ps.avg())


def test_a_lazy_report_warns_when_it_is_collected():
    plan = ps.scorio(log(bob=RETRIED).frame.lazy(), count="count").avg()
    with pytest.warns(ps.CheckWarning, match="^bob: all 12 questions "):
        plan.collect()


@pytest.mark.parametrize("options", [{"prior": "population"}, {"target": "population"}])
def test_a_report_of_populations_does_not_warn(options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        log(bob=RETRIED).bayes(**options)  # posterior means, which no rule biases


def test_expressions_do_not_warn():
    retried = long([[0] * (n - c) + [1] * c for n, c in RETRIED])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        retried.group_by("question").agg(pl.col("category").scorio.posterior(ps.avg()))


def test_average_weights_have_no_success_to_stop_at():
    rows = {"model": "m", "question": [1, 1, 2], "category": ["good", "bad", "good"]}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pl.DataFrame(rows).scorio(trial=None).rank(ps.avg({"good": 1, "bad": 0}))


def in_order(**models: list[tuple[int, int]]) -> pl.DataFrame:
    """The same models with a row for each trial, the last of which succeeds if any does."""
    return pl.concat(
        long([[0] * (n - c) + [1] * c for n, c in rows], name) for name, rows in models.items()
    )


def in_turn(**models: list[tuple[int, int]]) -> pl.DataFrame:
    """The same models, each of whose runs is ahead in its turn."""
    return pl.concat(
        long(
            np.roll([0] * (n - c) + [1] * c, at // 5 + at % 3 - n % 2).tolist()
            for at, (n, c) in enumerate(rows)
        ).with_columns(model=pl.lit(name))
        for name, rows in models.items()
    )


FAULTY = {
    "stopped on outcomes": pl.concat([in_turn(ada=PLANNED), in_order(bob=RETRIED)]),
    "all copies": in_turn(ada=PLANNED, bob=[(4, 0)] * 10 + [(4, 4)] * 10),
    "each trial twice": in_turn(ada=PLANNED, bob=[(4, 2)] * 15 + [(4, 0)] * 5),
    "a broken run": pl.concat([in_turn(ada=PLANNED), in_order(bob=[(4, 3)] * 10 + [(4, 1)] * 10)]),
}


@pytest.mark.every(3)
@pytest.mark.filterwarnings("ignore::polars_scorio.CheckWarning")
@pytest.mark.parametrize("fault", FAULTY)
@pytest.mark.parametrize(
    "call",
    [
        pytest.param(lambda log: log.report(ps.avg(), ps.pass_at_k([1, 2])), id="report"),
        pytest.param(lambda log: log.report(ps.avg(), per="question"), id="questions"),
        pytest.param(lambda log: log.compare(), id="compare"),
        pytest.param(lambda log: log.rank(), id="rank"),
        pytest.param(lambda log: log.best(), id="best"),
        pytest.param(lambda log: log.gate("ada", margin=0.1), id="gate"),
        pytest.param(lambda log: log.regressions("ada"), id="regressions"),
        pytest.param(lambda log: log.compare(planned_trials=8), id="looks"),
        pytest.param(lambda log: log.trials_needed(half_width=0.1), id="plan"),
    ],
)
def test_no_number_depends_on_a_test_and_nothing_is_refused(fault, call):
    log = FAULTY[fault]
    found, *others = (
        call(asked).drop("note", "alarm", strict=False)
        for asked in (log.scorio, log.scorio(validate=False), log.scorio(trial=None))
    )
    for other in others:
        assert_frame_equal(found, other)
    if "inference" in found.columns:
        assert {*found["inference"]} <= {"calibrated", "posterior", "range", "population posterior"}


@pytest.mark.parametrize("fault", ["stopped on outcomes", "all copies", "each trial twice"])
@pytest.mark.parametrize("method", ["compare", "rank", "best"])
def test_a_comparison_asks_for_ids_and_a_report_and_a_large_log_do_not(fault, method, monkeypatch):
    log = FAULTY[fault]
    read = []
    monkeypatch.setattr(log_checks, "found_words", read.append)
    for most, call in ((log.height, method), (log.height, "avg"), (log.height - 1, method)):
        monkeypatch.setattr(log_checks, "MOST_READ", most)
        with pytest.warns(ps.CheckWarning):
            getattr(log.scorio, call)()
    assert len(read) == 1


def test_a_warning_of_runs_is_of_comparisons_alone():
    log = FAULTY["a broken run"]
    with pytest.warns(ps.CheckWarning, match=r"Runs differ \(p < 0\.001\), most in bob: run 0 "):
        log.scorio.compare()
    with warnings.catch_warnings():
        warnings.simplefilter("error", ps.CheckWarning)
        log.scorio.avg()


def test_one_call_warns_once_of_all_that_was_found():
    log = pl.concat([
        FAULTY["stopped on outcomes"],
        FAULTY["all copies"].filter(model="bob").with_columns(model=pl.lit("cy")),
    ])  # fmt: skip
    with pytest.warns(ps.CheckWarning) as caught:
        log.scorio.compare()
    said = str(caught[0].message)
    assert len(caught) == 1
    assert [said.count(words) for words in ("bob: all 12", "cy: no question changed")] == [1, 1]


@pytest.mark.parametrize("missing", ["error", "bounds"])
@pytest.mark.parametrize(
    "extra",
    [{}, {"fail_on": "regressed"}],
    ids=["plain", "questions"],
)
def test_a_gate_notes_an_alarm_once_and_its_verdict_stays(missing, extra):
    if missing == "bounds" and extra:
        pytest.skip("a bracket is about the score")
    options = {"margin": 0.4, **extra}
    asked = FAULTY["each trial twice"].scorio(missing=missing)
    with pytest.warns(ps.CheckWarning) as caught:
        row = asked.gate("ada", **options).row(0, named=True)
    assert len(caught) == 1
    assert row["alarm"]
    assert row["note"].startswith("bob: every number of successes is a multiple of 2 (p")
    trusted = asked(validate=False).gate("ada", **options)
    assert row["verdict"] == trusted["verdict"].item()


def test_a_bracket_warns_once_of_the_log_without_its_errors():
    lost = (pl.col("question") == 3) & (pl.col("trial") == 0)
    log = (
        FAULTY["stopped on outcomes"]
        .with_columns(category=pl.when(~lost).then("category"))
        .scorio(missing="bounds")
    )
    said = set()
    for call in (log.avg, log.compare, lambda: log.gate("ada", margin=0.1)):
        with pytest.warns(ps.CheckWarning) as caught:
            call()
        assert len(caught) == 1
        said.add(str(caught[0].message).split(" (p < ")[0])
    assert said == {"bob: all 11 questions with fewer than 4 trials ended with 1 success"}


def test_a_gate_of_models_that_never_change_has_a_note_and_no_alarm():
    with pytest.warns(ps.CheckWarning, match=r"^bob: no question changed its outcome in 4 trials"):
        row = FAULTY["all copies"].scorio.gate("ada", margin=0.2).row(0, named=True)
    assert not row["alarm"]
    assert row["note"].startswith("bob: no question changed its outcome in 4 trials. ")


def test_a_gate_of_an_honest_log_has_no_note():
    honest = in_turn(ada=PLANNED, bob=[(4, (c + 1) % 5) for c in range(20)])
    row = honest.scorio.gate("ada", margin=0.2).row(0, named=True)
    assert (row["note"], row["alarm"]) == (None, False)


def test_populations_that_follow_difficulty_are_an_alarm():
    hard = [(2, i % 3 == 0) for i in range(60)]
    easy = [(6, 4 + i % 2) for i in range(60)]
    asked = log(ada=[(n, int(c)) for n, c in hard + easy])
    with pytest.warns(
        ps.CheckWarning, match=r"^ada: questions with fewer .* prior=\"population\" are biased"
    ):
        asked.bayes(prior="population")
    with warnings.catch_warnings():
        warnings.simplefilter("error", ps.CheckWarning)
        asked.avg()


def test_who_trusts_a_log_hears_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        FAULTY["stopped on outcomes"].scorio(validate=False).compare()
