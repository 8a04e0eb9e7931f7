import numpy as np
import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.display.html.cost_section import cost_section
from polars_scorio.display.settings import Settings


@pytest.fixture(scope="module")
def log():
    """A cheap model, and a dear one that never succeeds in the first stratum."""
    rng = np.random.default_rng(34)
    model, question, trial = (each.ravel() for each in np.indices((2, 30, 3)))
    solved = (rng.random(model.size) < 0.6) & ~((model == 1) & (question % 2 == 0))
    return pl.DataFrame(
        {
            "model": np.array(["cheap", "dear"])[model],
            "domain": np.array(["air", "bus"])[question % 2],
            "question": question,
            "trial": trial,
            "category": solved.astype(int),
            "usd": (1.0 + 2 * model) * rng.lognormal(0, 0.3, model.size),
        }
    )


def table_of(log, **roles):
    """Heads and rows of the table of a section."""
    accessor = log.scorio(**roles)
    section = cost_section(log.lazy(), accessor._roles, Settings())  # noqa: SLF001 - as pages do
    (table,) = section.tables.values()
    return {column.head: [*column.cells] for column in table.columns}


def test_a_row_for_each_stratum_and_model(log):
    table = table_of(log, cost="usd", by="domain")
    assert table["stratum"] == ["air", "air", "bus", "bus"]
    assert table["model"] == ["cheap", "dear"] * 2
    assert table["per success"][1].startswith("∞ [")
    assert table["never solved"][1] == "100%"
    assert len(table["P(worth it)"]) == 4


def test_an_unnamed_model_is_compared_with_nobody(log):
    table = table_of(log.filter(model="cheap"), cost="usd", model=None)
    assert "P(worth it)" not in table
    assert len(table["mean cost"]) == 1


def test_a_log_without_costs_has_no_section(log):
    assert cost_section(log.lazy(), log.scorio._roles, Settings()) is None  # noqa: SLF001 - as above


def test_a_page_has_the_section_if_the_log_has_costs(log, tmp_path):
    file = tmp_path / "page.html"
    log.scorio(cost="usd").write_html(file)
    assert "What does a success cost?" in file.read_text(encoding="utf-8")
    with pytest.raises(ValueError, match="mean_cost: a page has a section on costs"):
        log.scorio(cost="usd").write_html(file, ps.mean_cost())
