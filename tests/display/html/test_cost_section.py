import numpy as np
import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.display.html.sections import cost_section
from polars_scorio.display.settings import Settings

# The made log is deterministic in part.
pytestmark = pytest.mark.filterwarnings("ignore:trials are not independent")


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


def section_of(log, *asked, **roles):
    """The section of a log."""
    accessor = log.scorio(**roles)
    return cost_section(log.lazy(), accessor._roles, Settings(), asked)  # noqa: SLF001 - as pages do


@pytest.fixture(scope="module")
def section(log):
    """The section of the log by strata, with a metric that somebody asked for."""
    return section_of(log, ps.cost_to_solve([1, 3]), cost="usd", by="domain")


def table_of(section):
    """Heads and cells of the table of a section."""
    (table,) = section.tables.values()
    return {column.head: [*column.cells] for column in table.columns}


def test_a_row_for_each_stratum_and_model(section):
    table = table_of(section)
    assert table["stratum"] == ["air", "air", "bus", "bus"]
    assert table["model"] == ["cheap", "dear"] * 2
    assert table["per success"][1].startswith("∞ [")
    assert table["never solved"][1] == "100%"
    assert len(table["P(worth it)"]) == 4


def test_metrics_that_were_asked_for_are_columns(section, log):
    table = table_of(section)
    report = log.scorio(cost="usd", by="domain").cost_to_solve([1, 3])
    rows = report.filter(model="cheap", domain="air")
    assert [table[f"Cost to solve, {k} tries"][0].split()[0] for k in (1, 3)] == [
        f"{estimate:.3g}" for estimate in rows["estimate"]
    ]


def test_the_picture_of_the_frontier_stands_above_the_table(section):
    (figure,) = section.figures
    assert "against cost" in figure.caption
    assert "<svg" in figure.svg


def test_an_unnamed_model_is_compared_with_nobody(log):
    section = section_of(log.filter(model="cheap"), cost="usd", model=None)
    table = table_of(section)
    assert "P(worth it)" not in table
    assert len(table["mean cost"]) == 1
    assert not section.figures


def test_a_log_without_costs_has_no_section(log):
    assert section_of(log) is None


def test_a_page_has_the_section_beside_other_metrics(log, tmp_path):
    file = tmp_path / "page.html"
    log.scorio(cost="usd").write_html(file, ps.mean_cost(), ps.avg())
    page = file.read_text(encoding="utf-8")
    assert "What does a success cost?" in page
    assert "mean cost" in page


def test_metrics_of_costs_need_costs(log, tmp_path):
    with pytest.raises(ValueError, match=r"needs a cost column: df\.scorio\(cost="):
        log.scorio.write_html(tmp_path / "page.html", ps.mean_cost())
