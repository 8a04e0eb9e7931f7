import polars as pl
import pytest

from polars_scorio.command_line.main import main

# The made log has a pattern.
pytestmark = pytest.mark.filterwarnings("ignore::polars_scorio.CheckWarning")


pytestmark = pytest.mark.filterwarnings("ignore::polars_scorio.CheckWarning")


@pytest.fixture
def log(tmp_path):
    """The file of a log of two models, of which the dearer one is the worse."""
    rows = [
        (
            model,
            question,
            trial,
            int((question + trial) % 4 < right),
            price * (question + trial + 1),
        )
        for model, right, price in (("ada", 3, 0.1), ("bob", 2, 0.5))
        for question in range(20)
        for trial in range(4)
    ]
    names = ["model", "question", "trial", "category", "usd"]
    pl.DataFrame(rows, names, orient="row").write_parquet(tmp_path / "log.parquet")
    return str(tmp_path / "log.parquet")


def test_it_prints_the_cheapest_model_first(log, capsys):
    assert main(["frontier", log, "--cost", "usd", "--metric", "pass_at_k(2)"]) == 0
    printed = capsys.readouterr().out
    assert printed.index("ada") < printed.index("bob")
    assert "on frontier" in printed


def test_a_log_without_costs_is_answered_with_the_option(log, capsys):
    assert main(["frontier", log]) == 1
    assert "mean_cost needs a cost column" in capsys.readouterr().err


def test_compare_takes_metrics_of_costs(log, capsys):
    assert main(["compare", log, "--cost", "usd", "--metric", "cost_per_success"]) == 0
    assert "times the cost" in capsys.readouterr().out
