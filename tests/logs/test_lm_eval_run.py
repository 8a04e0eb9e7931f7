"""An evaluation that lm_eval itself has run, read, against what it says of it."""

import pytest

import polars_scorio as ps

# What lm_eval 0.4.13, the libraries of Hugging Face and pandas set off.
pytestmark = [
    pytest.mark.lm_eval,
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning"),
]


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory):
    """The folder of the samples, and the results that lm_eval prints."""
    pytest.importorskip("lm_eval", reason="lm_eval is not installed: see the extra `lm-eval`")
    from tests.logs.lm_eval_run import evaluation  # noqa: PLC0415 - it imports lm_eval

    folder = tmp_path_factory.mktemp("lm_eval")
    return folder / "out", evaluation(folder)


def test_the_averages_are_those_that_lm_eval_prints(evaluated):
    folder, results = evaluated
    report = ps.logs.lm_eval(folder).avg().collect()
    assert report["model"].unique().to_list() == ["org/scripted"]
    found = {(row["benchmark"], row["filter"]): row["estimate"] for row in report.to_dicts()}
    assert found == {
        ("some", "first"): pytest.approx(results["some"]["exact_match,first"]),
        ("some", "maj"): pytest.approx(results["some"]["exact_match,maj"]),
        ("all", "all"): pytest.approx(results["all"]["pass@1,all"]),
        ("choices", "none"): pytest.approx(results["choices"]["acc,none"]),
    }
    # By hand: the first answers are right for a, c, e; 2, 0, 4, 3, 1 of 4 are.
    assert found["some", "first"] == pytest.approx(3 / 5)
    assert found["all", "all"] == pytest.approx(10 / 20)


def test_only_the_answers_that_are_scored_are_trials(evaluated):
    folder, _ = evaluated
    report = ps.logs.lm_eval(folder).pass_at_k([1, 2]).collect()
    rows = report.filter(k=2).select("benchmark", "filter", "questions", "trials").rows()
    assert rows == [
        ("all", "all", 5, 20),
        ("choices", "none", 5, 5),
        ("some", "first", 5, 5),
        ("some", "maj", 5, 5),
    ]
    # 1 - C(wrong, 2) / C(4, 2), with 2, 4, 0, 1, 3 wrong answers.
    estimate = report.filter(benchmark="all", k=2)["estimate"].item()
    assert estimate == pytest.approx((5 / 6 + 0 + 1 + 1 + 3 / 6) / 5)
