import argparse
import re

import polars as pl
import pytest

from tests.made_logs import long
from tests.logs.conftest import LOGS, loaded

RECIPES = sorted(path.stem for path in LOGS.glob("*.py") if path.stem != "recipe")


def options(**given):
    return argparse.Namespace(**{"missing": "error", "n": None, "k": None, **given})


@pytest.mark.parametrize("name", RECIPES)
def test_every_recipe_has_trials_and_a_helpful_command_line(name, monkeypatch, capsys):
    module = loaded(name)
    assert "model" in module.trials.__doc__ or "step" in module.trials.__doc__
    monkeypatch.setattr("sys.argv", [name, "--help"])
    with pytest.raises(SystemExit, match=r"^0$"):
        module.main()
    shown = capsys.readouterr().out
    for line in module.__doc__.strip().splitlines():
        assert line in shown
    for flag in ("--missing error|drop|CATEGORY", "--k 1,2,4", "--n N", "paths"):
        assert flag in re.sub(r"\s+", " ", shown)


@pytest.mark.parametrize("name", RECIPES)
def test_every_recipe_has_a_test_module(name, request):
    assert (request.path.parent / f"test_{name}.py").exists()


def test_a_folder_stands_for_the_files_that_match(recipe, write, tmp_path):
    inner, outer = write("a/b.json", 1), write("a.json", 1)
    write("a/b.txt", 1)
    assert recipe.files(tmp_path, "*.json") == sorted([inner, outer])
    assert recipe.files([str(inner), tmp_path / "a"], "*.json") == [inner]
    with pytest.raises(FileNotFoundError, match=r"no file matches '\*\.csv' in \['"):
        recipe.files(tmp_path, "*.csv")


def test_counts_are_successes_failures_and_missing_trials(recipe):
    totals = {
        "question": list("abcd"),
        "asked": [4, 4, 4, 4],
        "answered": [4, 3, 4, 4],
        "mean": [0.75, 0.25, None, float("nan")],
    }
    frame = recipe.counts(pl.LazyFrame(totals)).collect()
    assert frame.columns == ["question", "category", "count"]
    assert frame["count"].to_list() == [1, 3, 0, 2, 1, 1, 0, 0, 4, 0, 0, 4]


@pytest.mark.parametrize("mean", [0.3, 1.25, -0.25])
def test_a_mean_that_is_no_share_is_refused(recipe, mean):
    totals = pl.LazyFrame({"question": ["a"], "asked": [4], "answered": [4], "mean": [mean]})
    with pytest.raises(ValueError, match="1 question has null or negative counts"):
        recipe.counts(totals).scorio(model=None, count="count").avg().collect()


def test_a_threshold_keeps_missing_rewards_missing(recipe):
    # For Polars NaN is above every threshold.
    rewards = pl.DataFrame({"category": [0.2, 0.5, float("nan"), None]})
    assert rewards.select(recipe.above(0.5))["category"].to_list() == [False, True, None, None]
    assert rewards.select(recipe.above(None))["category"].to_list() == [0.2, 0.5, None, None]


def test_draw_sizes_stop_at_the_fewest_trials_of_a_question(recipe, capsys):
    log = long([[1] * 9, [0] * 8, [1, None] * 6])
    with pytest.raises(SystemExit, match="--missing drop, or --missing CATEGORY"):
        recipe.print_report(log, options())
    recipe.print_report(log, options(missing="drop"))
    sizes = re.findall(r"pass_at_k +┆ (\d+)", capsys.readouterr().out)
    assert sizes == ["1", "2", "3", "4"]
    recipe.print_report(log, options(missing=0, k=[5]))
    assert re.findall(r"pass_hat_k +┆ (\d+)", capsys.readouterr().out) == ["5"]


def test_rewards_between_0_and_1_are_refused(recipe):
    with pytest.raises(SystemExit, match=r"a category outside \[0, 1\].*: 0\.5"):
        recipe.print_report(long([[0.5, 1.0]]), options())


def test_a_category_of_another_kind_is_refused(recipe):
    with pytest.raises(SystemExit, match="missing"):
        recipe.print_report(long([["C", None]]), options(missing=0), w={"C": 1.0}, success="C")
