"""Tables: the best model in bold, a single stratum, and tables without great_tables."""

import subprocess
import sys

import polars as pl
import pytest

import polars_scorio as ps
from tests.made_logs import long

# Made logs may be deterministic.
pytestmark = pytest.mark.filterwarnings("ignore::polars_scorio.CheckWarning")


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
    return log.with_columns(bench=pl.lit("arc")).scorio(by="bench", model="model", validate=False)


def test_a_model_that_is_best_beyond_doubt_is_bold(decided):
    board = decided.leaderboard(ps.avg())
    markdown = ps.to_markdown(board)
    assert "| 1 | best_one | **100.0** [" in markdown
    assert "| 2 | other | 0.0 [" in markdown
    assert markdown.endswith("Bold: significantly the best of its column, each column by itself.")
    assert r"\textbf{100.0} [" in ps.to_latex(board)
    assert "**" not in ps.to_markdown(board.drop(pl.selectors.ends_with("g_best")))
    ranks = ps.to_markdown(decided.rank(ps.pass_at_k(2)))
    assert ranks.startswith("| bench | rank | model |")
    assert ranks.endswith("Bold: significantly the best model.")
    assert "| arc | 1 | **best_one** | " in ranks


@pytest.mark.parametrize("to_text", [ps.to_markdown, ps.to_latex])
def test_the_only_stratum_has_no_columns_of_its_own(decided, to_text):
    text = to_text(decided.leaderboard(ps.avg(), ps.pass_at_k(2)))
    assert (text.count("avg@8"), text.count("Pass@2")) == (2, 1)  # ranks are by the first
    assert "Stratum: arc. 12 questions" in text
    assert "Columns without a stratum" not in text


def test_long_names_are_broken_into_lines_in_latex():
    names = [f"org/a_{size}-{'x' * 40}" for size in ("7b", "70b")]
    log = pl.concat([long([[1, 0]] * 3, name) for name in names])
    latex = ps.to_latex(log.scorio.leaderboard(ps.avg()))
    assert r"\begin{tabular}{rp{0.28\linewidth}r}" in latex
    broken = rf"org/\allowbreak{{}}a\_\allowbreak{{}}7b-\allowbreak{{}}{'x' * 12}\allowbreak{{}}"
    assert broken in latex
    short = ps.to_latex(log.with_columns(pl.col("model").str.head(20)).scorio.leaderboard(ps.avg()))
    assert "allowbreak" not in short


def test_a_table_of_pairs_says_its_metric_and_for_what_its_intervals_hold(decided):
    for simultaneous, words in ((False, "each pair by itself"), (True, "all pairs of models at")):
        table = ps.to_markdown(decided.compare(ps.pass_at_k(2), simultaneous=simultaneous))
        assert "| difference of Pass@2 (%) |" in table
        assert "holds |" not in table
        assert (
            f"model_a is better. In brackets: intervals whose confidence holds for {words}" in table
        )
    several = pl.concat([decided.compare(ps.avg()), decided.compare(ps.pass_at_k(2))])
    assert "| model_a | model_b | metric |" in ps.to_markdown(several)
