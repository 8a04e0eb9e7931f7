import polars as pl

import polars_scorio as ps
from polars_scorio.counting.roles import Roles
from polars_scorio.display.facts.table_facts import labels_of
from polars_scorio.display.words.table_words import judge_words, label_range
from polars_scorio.subjects.scores import LABEL_COUNT
from tests.made_verdicts import verdicts

LOG = verdicts()
GRADER = ps.judge(sensitivity=(88, 100), specificity=(780, 1_000))
WORDS = "corrected for the judge: sensitivity 0.88 of 100, specificity 0.78 of 1,000"


def test_outcomes_without_a_judge_have_no_words():
    assert judge_words(Roles()) == ""


def test_samples_of_each_model_are_said_in_short():
    counts = {
        "verdict": [1, 0, 1, 0],
        "truth": [1, 1, 0, 0],
        "count": [9, 1, 2, 8],
        "model": ["a"] * 4,
    }
    words = judge_words(Roles(judge=pl.DataFrame(counts)))
    assert words == "corrected for the judge by a calibration sample of each model"


def test_labels_are_the_fewest_and_the_most():
    assert label_range([1_200, 80]) == "80 to 1,200 "
    assert label_range(labels_of(pl.DataFrame({LABEL_COUNT: [80, None]}))) == "80 "
    assert label_range(labels_of(pl.DataFrame())) == ""


def test_leaderboards_say_what_was_corrected():
    board = LOG.scorio(judge=GRADER).leaderboard(ps.avg())
    assert f"calibrated 95 % intervals, {WORDS}," in ps.to_markdown(board)
    assert "judge" not in ps.to_markdown(LOG.scorio.leaderboard(ps.avg()))


def test_leaderboards_and_wide_reports_have_the_verdicts_as_they_are():
    log = LOG.scorio(truth="human")
    metrics = ps.avg(), ps.pass_at_k(2)
    report = log.report(*metrics).sort("metric", "model")
    for board in (log.leaderboard(*metrics), log.report(*metrics, wide=True)):
        rows = board.sort("model")
        for column in ("estimate_uncorrected", "labels"):
            names = [f"avg_{column}", f"pass_at_k_2_{column}"]
            assert pl.concat(rows[name] for name in names).to_list() == report[column].to_list()


def test_tables_of_reports_say_it_too():
    note = ps.to_markdown(LOG.scorio(truth="human").avg())
    said = "by 37 to 53 labels; estimate_uncorrected: as it said."
    assert f"Corrected for the errors of the judge, {said}" in note


def test_pictures_say_it_in_the_subtitle():
    log = LOG.scorio(judge=GRADER)
    for chart in (log.plot.intervals(), log.plot.curve(ps.pass_at_k([1, 2]))):
        assert WORDS in " ".join(chart.to_dict()["title"]["subtitle"])
    labelled = LOG.scorio(truth="human").plot.intervals().to_dict()["title"]["subtitle"]
    assert "corrected for the judge by 37 to 53 labels" in " ".join(labelled)
