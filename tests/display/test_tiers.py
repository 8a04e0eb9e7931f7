"""Tiers in printed tables, terminals and pages: none contradicts the ranks beside it."""

import re

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import polars_scorio as ps
from polars_scorio.command_line.main import main
from polars_scorio.display.facts.ranking_facts import About, Board, RankingFacts
from polars_scorio.display.media.tables import table_html
from polars_scorio.display.numbers import Unit
from polars_scorio.display.words.ranking_words import tell_ranking

pytestmark = pytest.mark.filterwarnings("ignore::polars_scorio.CheckWarning")  # made logs are sure
WORDS = "Tier 1: no model was shown to be better. Tier 2: worse than some model of tier 1"


@st.composite
def logs(draw):
    """Three to six models on 40 questions, with 1 to 16 trials each: precise and vague ones."""
    models = draw(st.integers(3, 6))
    rates = draw(st.lists(st.floats(0, 1), min_size=models, max_size=models))
    trials = draw(st.lists(st.sampled_from([1, 4, 16]), min_size=models, max_size=models))
    random = np.random.default_rng(draw(st.integers(0, 9)))
    rows = [
        {"model": f"m{place}", "question": range(40), "n": n, "c": random.binomial(n, rate, 40)}
        for place, (rate, n) in enumerate(zip(rates, trials, strict=True))
    ]
    return ps.from_successes(pl.concat(map(pl.DataFrame, rows))).scorio(count="count")


def markdown_rows(text):
    """The cells of a table in Markdown, by the heads of their columns."""
    head, _, *rows = [
        [cell.strip().strip("*") for cell in line.strip("|").split("|")]
        for line in text.splitlines()
        if line.startswith("|")
    ]
    return [dict(zip(head, row, strict=True)) for row in rows]


def latex_rows(text):
    """The cells of a tabular, by the heads of their columns."""
    head, *rows = [
        [re.sub(r"\\textbf\{(.*)\}", r"\1", cell.strip()) for cell in line[:-3].split(" & ")]
        for line in text.splitlines()
        if " & " in line
    ]
    return [dict(zip(head, row, strict=True)) for row in rows]


@given(logs())
def test_printed_tiers_never_contradict_ranks_or_the_best(log):
    board = log.leaderboard(ps.avg())
    possible = dict(board.select("model", "could_be_best").iter_rows())
    for rows in (
        markdown_rows(ps.to_markdown(board)),
        markdown_rows(ps.to_markdown(log.rank())),
        latex_rows(ps.to_latex(board)),
    ):
        assert len(rows) == board.height
        assert ("tier" in rows[0]) == (board["tier"].max() > 1)
        for row in rows:
            first, last = re.fullmatch(r"(\d+)(?:(?:\u2013|--)(\d+))?", row["rank"]).groups()
            tier = int(row.get("tier", 1))
            assert (tier == 1) == (first == "1")
            assert tier <= int(first) <= int(last or first) <= board.height
            assert tier == 1 or not possible[row["model"]]
    assert (WORDS in ps.to_markdown(board)) == (board["tier"].max() > 1)


def made_board(tiers):
    """A board of models in the order of their scores, with tiers."""
    tier, size = np.array(tiers), len(tiers)
    score = np.linspace(0.9, 0.1, size)
    names = [f"m{place}" for place in range(size)]
    unit = Unit(percent=True, digits=1)
    return Board(names, score, score - 0.05, score + 0.05, unit, tier, tier, tier, score)


@given(st.lists(st.integers(1, 4), min_size=1, max_size=8), st.integers(0, 2))
def test_a_line_has_later_tiers_below_it_than_above(tiers, unranked):
    starts = made_board([*tiers, *[0] * unranked]).tier_starts.tolist()
    assert starts == [
        0 < place < len(tiers) and min(tiers[place:]) > max(tiers[:place])
        for place in range(len(tiers) + unranked)
    ]


@pytest.mark.parametrize(("tiers", "lines"), [([1, 1, 2, 3], 2), ([1, 2, 1], 0), ([1, 1, 1], 0)])
def test_a_page_draws_and_explains_lines_that_part_tiers(tiers, lines):
    board = made_board(tiers)
    account = tell_ranking(RankingFacts(board, About("avg@4", 0.95)))
    drawn = table_html(account.table)
    assert len(re.findall(r'<tr class="[^"]*\bcut\b', drawn)) == lines
    shaded = re.findall(r'<tr class="([^"]*)"><td class="rk">.*?title="(m\d)"', drawn)
    assert [name for kinds, name in shaded if "in" in kinds.split()] == board.leaders
    said = "Below a line, each model is worse than at least one above it."
    assert (said in "".join(account.texts("note"))) == (lines > 0)


def test_a_terminal_and_a_great_table_have_a_column_of_tiers(tmp_path, capsys):
    random = np.random.default_rng(1)
    rows = [
        {"model": name, "question": range(40), "n": 8, "c": random.binomial(8, rate, 40)}
        for name, rate in (("ada", 0.8), ("bob", 0.5), ("cy", 0.2))
    ]
    frame = ps.from_successes(pl.concat(map(pl.DataFrame, rows)))
    path = tmp_path / "log.parquet"
    frame.write_parquet(path)
    assert main(["rank", str(path), "--count", "count"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "  3 tiers; each model is worse than one in the tier above." in lines
    places = [line.split()[:3] for line in lines if re.match(r" +\d +\d +\w", line)]
    assert places == [["1", "1", "ada"], ["2", "2", "bob"], ["3", "3", "cy"]]
    table = ps.to_great_table(frame.scorio(count="count").leaderboard(ps.avg()))
    assert ">tier<" in table.as_raw_html()
    assert WORDS in table.as_raw_html()
    two = frame.filter(pl.col("model") != "cy").scorio(count="count").leaderboard(ps.avg())
    assert "tier" not in ps.to_markdown(two)
