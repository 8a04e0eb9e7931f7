"""The part of a page that compares each model with a baseline."""

import re

import polars as pl
import pytest

import polars_scorio as ps
from tests.display.html.logs import models, page_of, retried

SUCCESSES = {"v1": [16, 14, 16, 9, 2, 0], "v2": [1, 14, 15, 9, 16, 0], "v3": [16, 14, 16, 9, 3, 0]}
LOG = ps.from_successes(
    pl.DataFrame(
        [(model, f"q{place}", 16, c) for model, row in SUCCESSES.items()
         for place, c in enumerate(row)],
        schema=["model", "question", "n", "c"], orient="row",
    )
)  # fmt: skip


@pytest.fixture(scope="module")
def page():
    """The page of three versions, of which the second one broke a question and repaired one."""
    return page_of(LOG, baseline="v1", count="count")


def section_of(page):
    (section,) = [each for each in page.sections if each.anchor == "baseline"]
    return section


def cells_of(table):
    return {column.head: [*column.cells] for column in table.columns}


def test_margins_are_the_ends_of_the_gate(page):
    cells = cells_of(section_of(page).tables[""])
    gates = LOG.scorio(count="count").gate("v1", margin=0.0).rows(named=True)
    ends = {row["model"]: (row["lo"], row["hi"]) for row in gates}
    for name, passes, fails in zip(
        cells["model"], cells["passes above"], cells["fails below"], strict=True
    ):
        lo, hi = ends[name]
        assert float(passes.removesuffix(" points")) == pytest.approx(-100 * lo, abs=0.051)
        assert fails == "none"
        assert hi > 0


def test_differences_of_a_curve_are_those_at_its_first_threshold():
    cells = cells_of(
        section_of(page_of(LOG, ps.tail_pass(4, [2, 3]), baseline="v1", count="count")).tables[""]
    )
    gate = LOG.scorio(count="count").gate("v1", metric=ps.tail_pass(4, [2]), margin=0.0)
    ends = {row["model"]: [100 * row[name] for name in ("diff", "lo", "hi")]
            for row in gate.rows(named=True)}  # fmt: skip
    for name, text in zip(cells["model"], cells["difference (points)"], strict=True):
        shown = [float(number) for number in re.findall(r"-?[\d.]+", text.replace("\u2212", "-"))]
        assert shown == pytest.approx(ends[name], abs=0.051)


def test_broken_and_repaired_questions_stand_beside_what_chance_does(page):
    cells = cells_of(section_of(page).tables[""])
    log = LOG.scorio(count="count")
    for head, improvements in (("broken", False), ("repaired", True)):
        rows = log.regressions("v1", improvements=improvements).filter(model="v2")
        chance = rows["broken_by_chance"].sum()
        text = cells[head][cells["model"].index("v2")]
        assert text.startswith(f"{rows['broken'].sum()} (by chance {chance:.1f}; p ")


def test_questions_that_changed_are_named(page):
    cells = cells_of(section_of(page).tables["Questions that changed more than chance explains"])
    found = {*zip(cells["question"], cells["model"], cells["change"], strict=True)}
    assert found == {("q0", "v2", "became worse"), ("q4", "v2", "became better")}
    assert page.numbers["baseline"]["changed"].height == 2
    assert "What changed since v1?" in page.html()
    assert "baseline='v1'" in page.about.facts["call"]


def test_without_a_baseline_there_is_no_such_section():
    page = page_of(models(2, questions=3))
    assert "baseline" not in [section.anchor for section in page.sections]
    assert "baseline" not in page.numbers


def test_a_log_without_that_model_is_refused():
    page = page_of(models(2, questions=3), baseline="m07")
    assert page.refused
    assert "baseline: no model 'm07'; there are ['m00', 'm01']" in page.headline
    with pytest.raises(TypeError, match=r"^baseline must be a model or None, got \['m00'\]"):
        page_of(models(2, questions=3), baseline=["m00"])


def test_posterior_means_have_the_gate_of_their_average():
    page = page_of(models(2, questions=3), ps.bayes(), baseline="m00")
    assert section_of(page).lines[0].startswith("avg@4 of each model minus that of m00")


def test_rewards_have_margins_and_no_broken_questions():
    log = models(2, questions=4).with_columns(pl.col("category") * 0.5)
    page = page_of(log, baseline="m00", bounds=(0, 1))
    assert [*section_of(page).tables] == [""]
    assert "broken" not in cells_of(section_of(page).tables[""])


def test_trials_that_stopped_on_outcomes_have_no_gate():
    page = page_of(retried(), baseline="ada")
    assert not page.refused
    assert "baseline" not in [section.anchor for section in page.sections]
