"""What is compared: one row for each model, or one for each of its questions."""

import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.counting.log import bind_roles
from polars_scorio.counting.roles import Roles
from polars_scorio.decisions.models import metric_of, models_of
from polars_scorio.study.posterior import PosteriorLaw
from polars_scorio.subjects.sampled_scores import SampleLaw
from polars_scorio.subjects.scores import EstimateLaw
from tests.made_logs import drawn, long

pytestmark = pytest.mark.filterwarnings("ignore::polars_scorio.PriorWarning")
TRIALS = bind_roles(drawn(4, range(6), most=3).lazy(), Roles(by=["domain"], success=2))


def test_a_population_is_compared_by_its_questions():
    plan, models = models_of(TRIALS, ps.avg(), {"target": "population", "confidence": 0.9})
    assert models.confidence == 0.9
    assert isinstance(models.law, SampleLaw)
    found = plan.result()
    assert not found.parts[0].numbers
    assert found.parts[0].table.size.tolist() == [6] * 6


@pytest.mark.parametrize(("prior", "law"), [("population", PosteriorLaw), (None, EstimateLaw)])
def test_an_inference_says_how_its_numbers_are_compared(prior, law):
    plan, models = models_of(TRIALS, ps.avg(), {"prior": prior})
    assert models.law is None
    assert isinstance(plan.result().parts[0].numbers["avg", None].law, law)


def test_what_is_no_metric_is_refused_by_the_method():
    assert metric_of(None, "rank") == ps.avg()
    with pytest.raises(TypeError, match=r"rank takes a metric such as ps.avg.*, got 'avg'"):
        metric_of("avg", "rank")


@pytest.mark.every(3)
@pytest.mark.parametrize("target", ["benchmark", "population"])
@pytest.mark.parametrize(
    ("scale", "bounds", "expected"),
    [(0.5, None, "observed"), (0.5, (0, 1), "given"), (1.0, (0, 1), None)],
)
def test_results_about_rewards_say_whose_range_it_is(target, scale, bounds, expected):
    log = pl.concat([long([[0, 1, 1], [0, 0, 1], [1, 1, 1]], model) for model in "ab"])
    rewards = log.with_columns(pl.col("category") * scale).scorio(bounds=bounds, target=target)
    results = rewards.compare(), rewards.rank(), rewards.best(), rewards.gate("a", margin=0.1)
    assert [result["bounds"].unique().to_list() for result in results] == [[expected]] * 4


def test_results_about_outcomes_have_no_bounds():
    log = pl.concat([long([[0, 1]], "a"), long([[1, 1]], "b")]).scorio
    for result in log.compare(), log.rank(), log.best(), log.gate("a", margin=0.1):
        assert "bounds" not in result.columns
