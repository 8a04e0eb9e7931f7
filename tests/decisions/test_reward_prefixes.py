import polars as pl

from polars_scorio.counting.categories import Classes
from polars_scorio.counting.tally import QUESTIONS, SEQUENCE
from polars_scorio.subjects.of_rewards import FRACTIONS, MEAN_REWARD, RewardSums
from polars_scorio.subjects.question_cells import GROUP, PREFIX

AVERAGES = RewardSums((0.0, 1.0), None, observed=False, averages=True, lists=False)


def test_a_question_with_fewer_trials_stays_at_all_of_them():
    questions = [[{SEQUENCE: [0.0, 1.0, 0.5]}, {SEQUENCE: [0.25]}], [{SEQUENCE: [1.0]}]]
    groups = pl.DataFrame({QUESTIONS: questions})
    rows = AVERAGES.prefixes(groups, Classes(None, (1,), (AVERAGES,)))
    assert rows.select(PREFIX, GROUP).rows() == [(1, 0), (1, 1), (2, 0), (3, 0)]
    fields = rows.select(
        pl.col(QUESTIONS).list.eval(pl.element().struct.field(name)).alias(name)
        for name in (MEAN_REWARD, FRACTIONS, ":c0", ":c1")
    )
    assert fields[MEAN_REWARD].to_list() == [[0, 0.25], [1], [0.5, 0.25], [0.5, 0.25]]
    # Successes are counted where all rewards are 0 or 1.
    assert fields[FRACTIONS].to_list() == [[0, 1], [0], [0, 1], [1, 1]]
    assert fields[":c1"].to_list() == [[0, 0], [1], [1, 0], [0, 0]]
    assert fields[":c0"].to_list() == [[1, 1], [0], [1, 1], [3, 1]]


def test_questions_without_trials_are_left_out():
    groups = pl.DataFrame({QUESTIONS: [[{SEQUENCE: [0.5]}, {SEQUENCE: []}]]})
    rows = AVERAGES.prefixes(groups, Classes(None, (1,), (AVERAGES,)))
    assert rows[QUESTIONS].list.len().to_list() == [1]
