"""Categories that cannot be known at the call, or cannot be told apart."""

import polars as pl
import pytest

import polars_scorio as ps
from tests.counting.unread_log import GRADED, WORDS, log

LABELS = pl.Series(["bad", "good", "good"])
ENUM = LABELS.cast(pl.Enum(WORDS))
TRUTH = pl.Series([True, False, True])
CONTRADICTIONS = [
    (LABELS, {}, [ps.bayes(w={"bad": 0, "good": 1}), ps.avg()], ValueError, r"\['bad', 'good'\]"),
    # words for numbers, numbers for words
    (LABELS, {}, [ps.bayes(w=[0, 1])], TypeError, "w: 0 cannot be .* are labels"),
    (LABELS, {"success": 1}, [ps.avg()], TypeError, "success: 1 cannot be .* are labels"),
    (LABELS, {"missing": 0}, [ps.avg()], TypeError, "missing: 0 cannot be .* are labels"),
    (None, {}, [ps.bayes(w={"bad": 0})], TypeError, "w: 'bad' cannot be .*Int64. .* are numbers"),
    (None, {"success": "good"}, [ps.avg()], TypeError, "success: 'good' cannot .* are numbers"),
    (None, {"missing": "lost"}, [ps.avg()], TypeError, "missing: 'lost' cannot .* are numbers"),
    # what the dtype already excludes
    (ENUM, {}, [ps.bayes(w={"best": 1})], ValueError, "w: 'best' cannot .*none of .*'fair'"),
    (ENUM, {"success": "best"}, [ps.avg()], ValueError, "success: 'best' cannot be"),
    (ENUM, {"missing": "lost"}, [ps.avg()], ValueError, "missing: 'lost' cannot be"),
    (TRUTH, {}, [ps.bayes(w=[0, 0.5, 1])], ValueError, "w: 2 cannot be .*Boolean.*true and false"),
    (TRUTH, {"success": 2}, [ps.avg()], ValueError, "success: 2 cannot be .*Boolean"),
    (None, {"success": float("nan")}, [ps.avg()], ValueError, "success: nan cannot be"),
    (None, {"success": []}, [ps.avg()], ValueError, "success must name at least one category"),
    # what the weights exclude
    (None, {"success": 2}, [ps.bayes(w=[0, 1])], ValueError, r"success=2 is none .*\[0, 1\]"),
    (None, {"missing": 2}, [ps.bayes(w=[0, 1])], ValueError, r"missing=2 is none .*\[0, 1\]"),
    (None, {"missing": 2}, [ps.bayes()], ValueError, r"missing=2 is none .*\[0, 1\]"),
    (None, {}, [ps.bayes(w=[0, 1]), GRADED[0]], ValueError, r"all w .*\[0, 1\] and \[0, 1, 2\]"),
    # more than two categories, and none of them a success
    (None, {}, [ps.bayes(w=[0, 0.5, 1]), ps.pass_at_k(1)], ValueError, r"\[0, 1, 2\].* success="),
    (None, {}, [ps.bayes(w=[0, 0.5, 1]), ps.avg()], ValueError, r"\[0, 1, 2\] .* pass success="),
]


@pytest.mark.parametrize(("category", "roles", "metrics", "error", "message"), CONTRADICTIONS)
def test_categories_are_known_at_the_call(category, roles, metrics, error, message):
    frame = log() if category is None else log(category=category)
    with pytest.raises(error, match=message):
        frame.scorio(**roles).report(*metrics)


SEEN = pl.DataFrame(
    {
        "model": ["a", "a", "b", "b"],
        "question": [1, 2, 1, 2],
        "category": ["right", "Timeout", "n/a", "right"],
        "n": [5, 1, 2, 5],
    }
)


@pytest.mark.parametrize("frame", [SEEN, SEEN.lazy()], ids=["eager", "lazy"])
@pytest.mark.parametrize("metric", [ps.avg(), ps.bayes(), ps.pass_at_k(1)], ids=str)
def test_labels_without_a_meaning_are_named_and_counted_errors_first(frame, metric):
    with pytest.raises(ValueError, match="holds labels") as caught:
        frame.scorio(trial=None, count="n").report(metric)
    assert str(caught.value) == (
        "the category column 'category' holds labels (String): 'n/a' (2), 'Timeout' (1), "
        "'right' (10): say which of them are successes with success=, or weigh them all with "
        "w={label: weight, ...}. 'n/a', 'Timeout' may be trials that broke: outside success= "
        "they are failures; set to null, they are what missing= says"
    )


def test_of_many_labels_the_message_names_the_most_frequent():
    labels = [f"grade {j:02}" for j in range(20) for _ in range(21 - j)]
    frame = pl.DataFrame({"model": "m", "question": 1, "category": labels})
    with pytest.raises(ValueError, match=r"'grade 00' \(21\), .*'grade 07' \(14\), \.\.\.: say"):
        frame.scorio(trial=None).avg()
