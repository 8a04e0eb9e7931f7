"""The parts that all pictures share: strata, names, units and colours of their subject."""

import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.counting.roles import Roles
from polars_scorio.display.charts import ChartStyle
from polars_scorio.display.plot_base import PictureSubject, PlotBase
from polars_scorio.metrics.metric import Metric
from tests.made_logs import long


class Subjects(PlotBase):
    """Pictures whose subject can be looked at."""

    def subject(self, metric: Metric | None, options: dict, along: str | None) -> PictureSubject:
        subject, _ = self._collected(self._subject(metric, options, along))
        return subject


def subject_of(
    log: pl.DataFrame, metric: Metric | None = None, along: str | None = None, **options: object
) -> PictureSubject:
    """The subject of a picture of a log, with the scores of its models."""
    roles = {name: options.pop(name) for name in ("by", "model") if name in options}
    return Subjects(log.lazy(), Roles(**roles), {"confidence": 0.9}).subject(metric, options, along)


MODELS = pl.concat(
    long([[1, 1], [0, place > 1]], name) for place, name in enumerate(("ada", "bob", "cy"))
)


def test_the_usual_metric_is_the_average_and_its_name_has_the_trials():
    subject = subject_of(MODELS)
    assert (subject.metric, subject.name) == (ps.avg(), "avg@2")


def test_a_metric_of_several_draw_sizes_is_named_without_one():
    assert subject_of(MODELS, ps.pass_at_k([1, 2])).name == "Pass@k"
    assert subject_of(MODELS, ps.pass_at_k(2)).name == "Pass@2"


@pytest.mark.parametrize(
    ("outcomes", "metric", "percent"),
    [
        ([[1, 0]], ps.avg(), True),
        ([[1, 0]], ps.avg(w=[0, 2]), False),
        ([[0.25, 0.5]], ps.avg(), True),
        ([[2.5, 0.5]], ps.avg(), False),
    ],
    ids=["shares", "weights", "rewards of a unit", "rewards"],
)
def test_numbers_inside_the_unit_are_percentages(outcomes, metric, percent):
    assert subject_of(long(outcomes), metric).percent is percent


def test_colours_are_in_the_order_of_the_scores():
    assert [*subject_of(MODELS).colours] == ["cy", "ada"]


def test_options_of_the_call_come_before_those_of_the_accessor():
    assert subject_of(MODELS).options == {"confidence": 0.9}
    asked = subject_of(MODELS, confidence=0.5, width=300)
    assert asked.options == {"confidence": 0.5}
    assert asked.style == ChartStyle(width=300)
    assert "50 %" in asked.intervals


def test_bands_are_said():
    assert subject_of(MODELS).bands.startswith("bands: ")


def test_a_heading_leaves_out_empty_lines_and_counts_the_questions():
    heading = subject_of(MODELS, by=[]).heading("Scores", "", "a line")
    assert heading.title == "Scores"
    assert heading.subtitle == ("a line", "2 questions, 2 trials per question")
    assert heading.panels == ""


def test_the_stratum_on_the_axis_has_no_panels():
    log = MODELS.with_columns(step=pl.col("question"), domain=pl.lit("web"))
    subject = subject_of(log, along="step", by=["domain", "step"])
    assert [part.name for part in subject.trials.by] == ["domain"]
    assert [part.name for part in subject.source.by] == ["domain", "step"]


def test_a_picture_has_at_most_24_panels():
    log = pl.concat(long([[1]]).with_columns(seed=pl.lit(seed)) for seed in range(25))
    assert subject_of(log.filter(pl.col("seed") < 24), by="seed").scores.height == 24
    with pytest.raises(ValueError, match=r"^25 strata of seed are more than a picture can show"):
        subject_of(log, by="seed")
