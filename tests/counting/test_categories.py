"""Categories that cannot be known at the call, or cannot be told apart."""

import polars as pl
import pytest

import polars_scorio as ps
from tests.counting.unread_log import GRADED, WORDS, log

LABELS = pl.Series(["bad", "good", "good"])
ENUM = LABELS.cast(pl.Enum(WORDS))
TRUTH = pl.Series([True, False, True])
CONTRADICTIONS = [
    # labels that nothing explains
    (LABELS, {}, [ps.bayes()], ValueError, "'category' holds labels .String.: .*success=.* w="),
    (LABELS, {}, [ps.pass_at_k(1)], ValueError, "'category' holds labels .String."),
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
