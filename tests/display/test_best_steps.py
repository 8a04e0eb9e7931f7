"""The best step of a line has the interval that `best` gives it among its steps."""

import numpy as np
import polars as pl
import pytest

import polars_scorio as ps
from tests.display.test_plots import data_of, layers_of


def checkpoints(steps: int, runs: int = 1) -> pl.DataFrame:
    """Runs with four trials of 20 questions at some steps."""
    rng = np.random.default_rng(0)
    run, step, question, _ = np.indices((runs, steps, 20, 4)).reshape(4, -1)
    category = rng.binomial(1, (question + 1) / 22)
    return pl.DataFrame(
        {"model": run, "step": 100 * step, "question": question, "category": category}
    ).with_columns(pl.format("run {}", "model").alias("model"))


def best_rows(chart: object) -> pl.DataFrame:
    """What the picture marks."""
    return data_of(chart).filter(pl.col("best_lo").is_not_null()).sort("model")


@pytest.mark.parametrize("target", ["benchmark", "population"])
def test_marks_have_the_interval_of_the_best_of_the_steps(target):
    log = checkpoints(5, runs=2)
    chart = log.scorio(trial=None, target=target).plot.over("step")
    steps = log.scorio(model="step", by="model", trial=None, target=target)
    best = steps.best(ps.avg()).sort("model")
    shown = best_rows(chart)
    assert shown["at"].to_list() == best["step"].to_list()
    for name in ("best_lo", "best_hi"):
        np.testing.assert_allclose(shown[name], best[name], rtol=1e-12)
    assert (shown["best_lo"] < shown["lo"]).all()


def test_lines_of_different_length_have_their_own_numbers_of_candidates():
    log = (
        checkpoints(5, runs=2)
        .filter(pl.col("step") < 300, model="run 0")
        .vstack(checkpoints(5, runs=2).filter(model="run 1"))
    )
    shown = best_rows(log.scorio(trial=None).plot.over("step"))
    for row in shown.iter_rows(named=True):
        own = log.filter(model=row["model"]).scorio(model="step", trial=None).best(ps.avg())
        assert row["best_lo"] == pytest.approx(own["best_lo"].item(), rel=1e-12)


def test_a_picture_says_what_the_mark_is():
    chart = checkpoints(3).scorio(trial=None).plot.over("step")
    assert "corrected for being selected" in " ".join(chart.to_dict()["title"]["subtitle"])
    marks = [layer["mark"] for layer in layers_of(chart)]
    assert [mark for mark in marks if mark.get("shape") == "diamond"]


def test_one_step_is_selected_from_nothing():
    chart = checkpoints(1).scorio(trial=None).plot.over("step")
    assert best_rows(chart).is_empty()
    assert "selected" not in str(chart.to_dict()["title"])


def test_predictions_are_no_best_steps():
    chart = checkpoints(2).scorio(trial=None).plot.over("step", ps.pass_at_k(8))
    assert data_of(chart)["ahead"].all()
    assert best_rows(chart).is_empty()
