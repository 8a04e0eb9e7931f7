"""Tables: the best model in bold, a single stratum, and tables without great_tables."""

import subprocess
import sys

import polars as pl
import pytest

import polars_scorio as ps
from tests.made_logs import long


@pytest.mark.slow
def test_without_great_tables_there_is_a_way_out():
    code = (
        "import sys; sys.modules['great_tables'] = None\n"
        "import polars as pl, polars_scorio as ps\n"
        "print(ps.to_markdown)\n"
        "ps.to_great_table(pl.DataFrame())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)  # noqa: S603
    message = 'ImportError: to_great_table needs Great Tables: pip install "polars-scorio[style]"'
    assert done.stderr.splitlines()[-1] == message


@pytest.fixture(scope="module")
def decided():
    """A log of one stratum, in which the first model is surely the best."""
    log = pl.concat([long([[1] * 8] * 12, "best_one"), long([[0] * 8] * 12, "other")])
    return log.with_columns(bench=pl.lit("arc")).scorio(by="bench", model="model")


def test_a_model_that_is_best_beyond_doubt_is_bold(decided):
    board = decided.leaderboard(ps.avg())
    markdown = ps.to_markdown(board)
    assert "| 1 | **best_one** | 100.00 [" in markdown
    assert "| 2 | other | " in markdown
    assert markdown.endswith("A bold model has the first one beyond doubt.")
    assert r"\textbf{best\_one}" in ps.to_latex(board)
    assert "**" not in ps.to_markdown(board.with_columns(rank_hi=2))
    assert "| arc | 1 | **best_one** | " in ps.to_markdown(decided.rank())


@pytest.mark.parametrize("to_text", [ps.to_markdown, ps.to_latex])
def test_the_only_stratum_has_no_columns_of_its_own(decided, to_text):
    text = to_text(decided.leaderboard(ps.avg(), ps.pass_at_k(2)))
    assert (text.count("avg@8"), text.count("Pass@2")) == (1, 1)
    assert "Stratum: arc. 12 questions" in text
    assert "Columns without a stratum" not in text
