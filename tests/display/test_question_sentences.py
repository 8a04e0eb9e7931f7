import numpy as np
import polars as pl
import pytest

from polars_scorio.display.words.question_words import question_sentences
from tests.decisions.counted import counted


def analysed(successes, trials=4, **options):
    """The analysis of a log of one stratum."""
    log = counted(np.array([successes]), trials).frame.drop("stratum").scorio(count="count")
    return log.questions(**options)


@pytest.fixture(scope="module")
def faulty():
    """Sixteen models, ever better at all questions but the last one; the first is never solved."""
    c = np.minimum(np.arange(16)[:, None] // 2 + np.arange(6) % 3, 8)
    c[:, 0], c[:, 1], c[:, 5] = 0, 8, np.arange(16)[::-1] // 2
    return analysed(c, 8)


def test_questions_at_both_ends_are_named(faulty):
    never, always, more = question_sentences(faulty, "question")
    assert never == "1 of 6 questions was never solved by any model: question 0."
    assert always == "1 of 6 questions was solved by every model in every trial: question 1."
    assert more == (
        "More trials can remove only 27 % of the variance of a difference on other questions; more "
        "questions can remove all of it."
    )


def test_more_trials_help_if_models_are_good_at_the_same_questions():
    *_, more = question_sentences(analysed([[1, 2, 3], [2, 3, 4]]), "question")
    assert more == (
        "More trials help: they can remove up to 100 % of the variance of a difference on other "
        "questions."
    )


def test_several_questions_at_an_end_are_counted_and_named():
    rows = analysed([[0, 0, 1, 4, 4, 4], [0, 0, 2, 4, 4, 4], [0, 0, 3, 4, 4, 4]])
    never, always, *_ = question_sentences(rows, "question")
    assert never == "2 of 6 questions were never solved by any model: questions 0 and 1."
    assert (
        always
        == "3 of 6 questions were solved by every model in every trial: questions 3, 4 and 5."
    )


def test_no_question_at_either_end_is_said_plainly():
    never, always, *_ = question_sentences(analysed([[1, 2], [2, 3], [3, 1]]), "question")
    assert never == "Each question was solved by some model."
    assert always == "No question was solved by every model in every trial."


def test_rewards_of_an_unknown_range_have_no_sentence_on_successes():
    rows = pl.DataFrame(
        {"model": ["a", "b"] * 2, "question": [1, 1, 2, 2], "category": [0.1, 0.4, 2.0, 3.0]}
    )
    sentences = question_sentences(rows.scorio(trial=None).questions(), "question")
    assert sentences == []


def test_no_question_is_said_too(faulty):
    assert question_sentences(faulty.clear(), "question") == ["The log has no questions."]
