"""Ranks of any scores."""

from math import inf, nan

import numpy as np
import polars as pl
import pytest
from scorio.utils import rank_scores as reference

import polars_scorio as ps

# The logs are small and ragged; what is said of that has tests of its own.
pytestmark = pytest.mark.filterwarnings("ignore::polars_scorio.PriorWarning")

METHODS = ["competition", "competition_max", "dense", "average"]
METHOD = pytest.mark.parametrize("method", METHODS)


def ranks(scores: list[float | None], **options: object) -> list[float | None]:
    frame = pl.DataFrame({"mu": pl.Series(scores, dtype=pl.Float64)})
    return frame.select(ps.rank_scores("mu", **options)).to_series().to_list()


# --- ranks of scores


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("competition", [2, 5, 2, 1, 4, 5]),
        ("competition_max", [3, 6, 3, 1, 4, 6]),
        ("dense", [2, 4, 2, 1, 3, 4]),
        ("average", [2.5, 5.5, 2.5, 1, 4, 5.5]),
    ],
)
def test_ranks_by_hand(method, expected):
    assert ranks([0.75, 0.25, 0.75, 1, 0.5, 0.25], method=method) == expected


def test_the_example_of_the_julia_package():
    # competition_ranks_from_scores in the documentation of Scorio.jl.
    assert ranks([0.95, 0.87, 0.87, 0.72, 0.65]) == [1, 2, 2, 4, 5]


@METHOD
@pytest.mark.parametrize("tol", [1e-12, 0.03, 0.0])
def test_equals_the_reference(method, tol):
    random = np.random.default_rng(1)
    for size in range(1, 30):
        # A multiple of 0.05 each: no chain of neighbours within 0.03. The reference ties with the
        # first of such a chain, not with the neighbour.
        scores = random.integers(0, 12, size) / 20
        expected = reference(scores, tol)[{"average": "avg"}.get(method, method)]
        assert ranks(scores.tolist(), method=method, tol=tol) == expected.tolist()


@METHOD
def test_neighbours_within_the_tolerance_are_tied(method):
    near = [0.5, 0.5 + 9e-13, 0.5 - 9e-13, 0.9, 0.5 - 3e-12]
    expected = {
        "competition": [2, 2, 2, 1, 5],
        "competition_max": [4, 4, 4, 1, 5],
        "dense": [2, 2, 2, 1, 3],
        "average": [3, 3, 3, 1, 5],
    }
    # The first and the last of the three are 1.8e-12 apart.
    assert ranks(near, method=method) == expected[method]
    assert ranks([0.5, 0.25, 1.0], tol=0.25, method="dense") == [2, 2, 1]
    assert ranks([0.5, 0.25, 1.0], tol=np.inf, method="dense") == [1, 1, 1]
    assert ranks([0.5, 0.5 + 1e-13], tol=0) == [2, 1]


@METHOD
def test_infinities_are_scores_and_what_is_missing_has_no_rank(method):
    scores = [1.0, None, 2.0, nan, inf, -inf, inf, 2.0]
    known = [score for score in scores if score is not None and score == score]  # noqa: PLR0124
    found = ranks(scores, method=method)
    assert (found[1], found[3]) == (None, None)
    finite = [{inf: 9.0, -inf: -9.0}.get(score, score) for score in known]
    rest = [rank for rank in found if rank is not None]
    assert rest == reference(finite)[{"average": "avg"}.get(method, method)].tolist()


@pytest.mark.parametrize("scores", [[], [None, None], [nan, None]])
def test_without_scores_there_are_no_ranks(scores):
    assert ranks(scores) == [None] * len(scores)


@pytest.mark.parametrize("scores", [[inf, inf, -inf, -inf], [1.0, 1.0, 0.0, 0.0]])
def test_equal_scores_share_a_rank(scores):
    assert ranks(scores) == [1, 1, 3, 3]


@pytest.mark.parametrize("lazy", [False, True])
def test_ranks_are_an_expression(lazy):
    scores = {"s": ["x", "y", "x", "y", "x"], "n": [3, 1, 3, 2, 4]}
    frame = pl.LazyFrame(scores) if lazy else pl.DataFrame(scores)
    expr = ps.rank_scores(pl.col("n") * 2, method="dense")
    rows = frame.with_columns(rank=expr.over("s"), whole=ps.rank_scores("n")).lazy().collect()
    assert rows["rank"].to_list() == [2, 2, 2, 1, 1]
    assert rows["whole"].to_list() == [2, 5, 2, 4, 1]
    assert rows.schema["whole"] == pl.UInt32
    assert frame.select(ps.rank_scores("n", method="average")).lazy().collect_schema() == {
        "n": pl.Float64
    }


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "min"}, r'^method must be "competition" or .* or "average", got \'min\''),
        ({"tol": -1}, r"^tol must be a number that is not negative, got -1"),
        ({"tol": nan}, r"^tol must be .*, got nan"),
        ({"tol": "0"}, r"^tol must be .*, got '0'"),
        ({"tol": True}, r"^tol must be .*, got True"),
    ],
)
def test_wrong_arguments_of_ranks_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        ps.rank_scores("mu", **options)


@pytest.mark.parametrize("lazy", [False, True])
def test_words_have_no_rank(lazy):
    rows = pl.DataFrame({"model": ["a", "b"], "mu": [0.5, 0.7]})
    said = r"^rank_scores ranks numbers, and 'model' is String: name the column of the scores"
    with pytest.raises(TypeError, match=said):
        (rows.lazy() if lazy else rows).select(ps.rank_scores("model")).lazy().collect()
