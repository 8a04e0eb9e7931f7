"""What is compared: one row for each model, or one for each of its questions."""

import pytest

import polars_scorio as ps
from polars_scorio.counting.roles import Roles
from polars_scorio.counting.trials import bind
from polars_scorio.decisions.model_scores import (
    BenchmarkModels,
    PopulationModels,
    metric_of,
    models_of,
)
from tests.made_logs import drawn

pytestmark = pytest.mark.filterwarnings("ignore::polars_scorio.PriorWarning")
TRIALS = bind(drawn(4, range(6), most=3).lazy(), Roles(by=["domain"], success=2))


@pytest.mark.parametrize(
    ("options", "kind", "rows"),
    [({}, BenchmarkModels, 1), ({"target": "population"}, PopulationModels, 6)],
)
def test_a_population_is_compared_by_its_questions(options, kind, rows):
    results, models = models_of(TRIALS, ps.avg(), {**options, "confidence": 0.9})
    assert isinstance(models, kind)
    assert models.confidence == 0.9
    lists = results.select(":results").collect().to_series()
    assert lists.list.len().unique().to_list() == [rows]


@pytest.mark.parametrize(("inference", "priced"), [("pooled", False), ("calibrated", True)])
def test_only_calibrated_comparisons_carry_a_price(inference, priced):
    results, _ = models_of(TRIALS, ps.avg(), {"inference": inference})
    fields = [field.name for field in results.collect_schema()[":results"].inner.fields]
    assert (":price" in fields) == priced


def test_what_is_no_metric_is_refused_by_the_method():
    assert metric_of(None, "rank") == ps.avg()
    with pytest.raises(TypeError, match=r"rank takes a metric such as ps.avg.*, got 'avg'"):
        metric_of("avg", "rank")
