"""Arrays become logs, and the numbers of scorio."""

import numpy as np
import pytest

import polars_scorio as ps

R = np.array([[0, 1, 2, 2, 1], [1, 1, 0, 2, 2]])
W = [0, 0.5, 1]
evaluate = pytest.importorskip("scorio").eval


def test_bayes_and_avg_are_those_of_scorio():
    log = ps.from_array(R, w=W)
    assert log.bayes().select("mu", "sigma").row(0) == pytest.approx(evaluate.bayes(R, np.array(W)))
    average = log.avg(prior="uniform").select("mu", "sigma").row(0)
    assert average == pytest.approx(evaluate.avg(R, np.array(W)))


def test_binary_arrays_need_no_weights():
    binary = np.array([[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]])
    estimates = ps.from_array(binary).pass_at_k([1, 2])["estimate"].to_list()
    assert estimates == pytest.approx([evaluate.pass_at_k(binary, k) for k in (1, 2)])
    assert ps.from_array(binary == 1).avg()["estimate"].item() == pytest.approx(0.7)


def test_several_models_have_names_or_numbers():
    both = np.stack([R, 2 - R])
    log = ps.from_array(both, w=W, models=["ada", "bob"])
    assert log.frame.columns == ["model", "question", "trial", "category"]
    assert log.frame.row(-1) == ("bob", 1, 4, 0.0)
    assert log.avg().select("model", "estimate").rows() == [
        ("ada", pytest.approx(0.6)),
        ("bob", pytest.approx(0.4)),
    ]
    assert ps.from_array(both).frame["model"].unique().sort().to_list() == [0, 1]
    assert ps.from_array(R, models="ada").frame["model"].unique().to_list() == ["ada"]


def test_the_way_back_is_one_line():
    both = np.stack([R, 2 - R])
    log = ps.from_array(both, models=["b", "a"]).frame
    models, questions = log["model"].n_unique(), log["question"].n_unique()
    back = log.sort("model", "question", "trial")["category"].to_numpy()
    np.testing.assert_array_equal(back.reshape(models, questions, -1), both[::-1])


@pytest.mark.parametrize(
    ("given", "options", "error", "said"),
    [
        ([1, 2], {}, ValueError, r"R must be questions x trials.*got shape \(2,\)"),
        (np.empty((0, 3), int), {}, ValueError, r"got shape \(0, 3\)"),
        ([[0.5, 1]], {}, TypeError, "R must hold the integer codes of categories, got float64"),
        ([["a"]], {}, TypeError, "got <U1"),
        ([[0, -1], [-2, 0]], {}, ValueError, r"2 entries .* 0, 1, .*the first is R\[0, 1\] = -1"),
        (
            [[0, 3]],
            {"w": W},
            ValueError,
            r"1 entries .* 0\.\.2, one for each of w; .*R\[0, 1\] = 3",
        ),
        (
            [[0, 1], [1]],
            {},
            ValueError,
            r"^R is no array: row 1 has 1 trial, row 0 has 2\. Make a t",
        ),
        ([[[0]], [[0], [1]]], {}, ValueError, "its models have different numbers of questions"),
        (
            [[0, 1]],
            {"w": np.nan},
            ValueError,
            "^w must be a flat sequence of finite numb.* got nan$",
        ),
        ([[0, 1]], {"w": [0, np.nan]}, ValueError, r"^w must be .* got \[0, nan\]$"),
        ([[0, 1]], {"w": [1, 1]}, ValueError, r"same weight, w=\[1, 1\].*to the metrics"),
        ([[0, 1]], {"models": ["a", "b"]}, ValueError, r"models must be 1 different name"),
        ([[[0]], [[1]]], {"models": ["a", "a"]}, ValueError, r"models must be 2 different name"),
    ],
)
def test_other_arrays_are_refused(given, options, error, said):
    with pytest.raises(error, match=said):
        ps.from_array(given, **options)
