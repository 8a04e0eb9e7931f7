"""The method by hand: NumPy and SciPy alone give the package's numbers."""

import runpy

import polars as pl
import pytest

import polars_scorio as ps
from tests.documents import ROOT

HAND = runpy.run_path(str(ROOT / "examples" / "method_by_hand.py"))
SUCCESSES, TRIALS = HAND["SUCCESSES"], HAND["TRIALS"]
KINDS = {"avg": "avg", "pass_at_k": "pass", "pass_hat_k": "hat"}
SIZES = [1, 2, 3, 4]


@pytest.fixture(scope="module")
def log():
    rows = [
        (model, question, trial, int((5 * trial + question) % TRIALS < count))
        for model, counts in SUCCESSES.items()
        for question, count in enumerate(counts)
        for trial in range(TRIALS)
    ]
    return pl.DataFrame(rows, ["model", "question", "trial", "category"], orient="row").scorio


@pytest.mark.parametrize("target", ["benchmark", "population"])
def test_scores_and_intervals_are_those_of_the_package(log, target):
    report = log.report(ps.avg(), ps.pass_at_k(SIZES), ps.pass_hat_k(SIZES), target=target)
    ends = HAND["report" if target == "benchmark" else "of_population"]
    rows = report.select("model", "metric", "k", "estimate", "lo", "hi").rows()
    assert len(rows) == len(SUCCESSES) * (1 + 2 * len(SIZES))
    for model, metric, k, *numbers in rows:
        by_hand = ends(KINDS[metric.partition("(")[0]], k or 1, SUCCESSES[model])
        assert by_hand == pytest.approx(numbers[-len(by_hand) :], abs=1e-9)


def test_all_pairs_are_those_of_the_package(log):
    for one, other, *numbers in (
        log.compare().select("model_a", "model_b", "diff", "lo", "hi").rows()
    ):
        by_hand = HAND["difference"](SUCCESSES[one], SUCCESSES[other], len(SUCCESSES))
        assert by_hand == pytest.approx(numbers, abs=1e-9)


def test_a_pair_alone_is_that_of_the_package(log):
    alone = log.compare(simultaneous=False).select("model_a", "model_b", "diff", "lo", "hi")
    for one, other, *numbers in alone.rows():
        # Two models are one pair.
        by_hand = HAND["difference"](SUCCESSES[one], SUCCESSES[other], 2)
        assert by_hand == pytest.approx(numbers, abs=1e-9)


def test_the_script_is_short_and_imports_nothing_of_the_package():
    text = (ROOT / "examples" / "method_by_hand.py").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 120
    assert "import polars" not in text
