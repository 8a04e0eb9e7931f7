"""Metrics and inference, as arguments."""

import pytest

from polars_scorio.command_line.main import main
from tests.command_line.pages import page_text


@pytest.mark.slow
def test_metrics_and_options_are_those_of_python(log):
    arguments = ["--metric", "avg", "--metric", "pass_at_k([1, 2])", "--confidence", "0.8",
                 "--title", "Two", "-o", "two.html"]  # fmt: skip
    assert main(["report", log, "--by", "bench", *arguments]) == 0
    text = page_text("two.html")
    for part in ("Two", "avg@4", "Pass@2", "calibrated 80 % intervals"):
        assert part in text
    assert "Bayes@" not in text


def test_a_metric_that_is_none_is_an_error_of_usage(log, capsys):
    with pytest.raises(SystemExit) as exit_:
        main(["report", log, "--metric", "pass_at_n(4)"])
    assert exit_.value.code == 2
    assert "there is no metric pass_at_n" in capsys.readouterr().err
