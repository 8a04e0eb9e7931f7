"""The part of a page on strata along a number or a time."""

import polars as pl
import pytest

import polars_scorio as ps
from tests.display.html.logs import page_of

# The made log is deterministic in part.
pytestmark = pytest.mark.filterwarnings("ignore:trials are not independent")


def step_section_of(log: pl.DataFrame, **roles: object) -> object:
    """The section on steps of a page."""
    (found,) = [
        each for each in page_of(log, ps.avg(), **roles).sections if each.anchor == "strata"
    ]
    return found


def improving_run() -> pl.DataFrame:
    """A run of four steps with 20 questions and 4 trials: none right, half, all, nearly all."""
    right = {0: 0, 10: 2, 20: 4, 30: 4}
    rows = [
        (
            step,
            question,
            trial,
            int((trial + question) % 4 < most - ((step, question) == (30, 0))),
        )
        for step, most in right.items()
        for question in range(20)
        for trial in range(4)
    ]
    schema = ["step", "question", "trial", "category"]
    return pl.DataFrame(rows, schema=schema, orient="row")


def test_the_best_step_of_a_run_stands_in_words_with_its_corrected_interval():
    log = improving_run()
    section = step_section_of(log, model=None, by="step")
    best = log.scorio(model="step").best(ps.avg()).row(0, named=True)
    assert (best["step"], best["could_be_best"]) == (20, [20, 30])
    assert section.lines[1] == (
        f"The best step is 20: 100.0 % [{100 * best['best_lo']:.1f}, 100.0], an interval corrected "
        "for being the best of 4; 30 may be as good."
    )
    assert len(section.figures) == 1


def test_each_of_several_runs_has_its_best_step():
    runs = [improving_run().with_columns(model=pl.lit(name)) for name in ("ada", "bob")]
    two = pl.concat([runs[0], runs[1].filter(pl.col("step") < 20)])
    lines = step_section_of(two, by="step").lines
    assert [line.partition(":")[0] for line in lines[1:]] == [
        *("The best step of ada is 20", "The best step of bob is 10"),
    ]
    lines = step_section_of(pl.concat(runs), by="step").lines
    assert [line.partition(":")[0] for line in lines[1:]] == [
        f"The best step of {name} is 20" for name in ("ada", "bob")
    ]
    assert len(step_section_of(runs[0].filter(step=10), by="step").lines) == 1


def test_each_metric_of_the_page_has_a_picture():
    (section,) = [
        each
        for each in page_of(improving_run(), model=None, by="step").sections
        if each.anchor == "strata"
    ]
    about = [each.caption.partition(" over step: ")[0] for each in section.figures]
    assert about == ["avg@4", "Pass@4", "Pass^4"]


def test_steps_with_questions_of_their_own_have_curves_and_no_best_step():
    log = improving_run().with_columns(question=pl.col("question") + 100 * pl.col("step"))
    section = step_section_of(log, model=None, by="step")
    assert len(section.lines) == len(section.figures) == 1


def test_the_headline_of_a_run_names_its_best_step_and_then_the_last_one():
    page = page_of(improving_run(), ps.avg(), model=None, by="step")
    (best,) = step_section_of(improving_run(), model=None, by="step").lines[1:]
    assert page.headline.startswith(f"{best} At step 30, the last one: This model scores 98.8 % [")
    assert page.headline.partition(" (avg@4)")[0].rpartition("; 30")[0] in page.markdown()


def test_a_step_that_not_all_runs_have_is_not_what_the_headline_is_about():
    runs = [improving_run().with_columns(model=pl.lit(name)) for name in ("ada", "bob")]
    log = pl.concat([runs[0], runs[1].filter(pl.col("step") < 20)])
    headline = page_of(log, ps.avg(), by="step").headline
    assert headline.startswith("At step 10, the last one that all models have: Nothing is decided")
