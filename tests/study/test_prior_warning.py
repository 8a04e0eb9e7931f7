"""Where the published prior outweighs the trials, a report says so once."""

import warnings

import polars as pl
import pytest

import polars_scorio as ps
from tests.made_logs import outcomes

pytestmark = pytest.mark.filterwarnings("error::polars_scorio.PriorWarning")
ENGINES = pytest.mark.parametrize("engine", ["in-memory", "streaming"])
# Of 30 hard questions: estimates .1, posterior means above .2 with a sigma of .03.
HARD = {(4, 0): 24, (4, 1): 3, (4, 2): 2, (4, 4): 1}
METRICS = ps.bayes(), ps.pass_at_k([1, 9])
# One failure on the first question: whoever has prior trials asks for posteriors.
PRIOR = outcomes({(1, 0): 1}).drop("model")
CURES = 'inference="calibrated" keeps to the estimates; inference="published" says that'
SAID = (
    r"^of 3 rows of the report 2 have an estimate outside its own interval and 1 has a k beyond "
    rf"the trials of some question: there the uniform prior of each question decides, .*\. {CURES}"
)


@pytest.fixture
def hard() -> pl.DataFrame:
    return outcomes(HARD)


def warned(function) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        function()
    return [str(each.message) for each in caught if each.category is ps.PriorWarning]


def test_a_report_counts_the_rows_and_names_both_cures(hard):
    with pytest.warns(ps.PriorWarning, match=SAID):
        hard.scorio.report(*METRICS, prior=PRIOR)


@pytest.mark.parametrize(
    ("states", "metric", "said"),
    [
        (HARD, ps.bayes(), "of 1 row of the report 1 has an estimate outside its own interval: "),
        ({(2, 1): 1}, ps.pass_at_k([2, 3, 4]), "of 3 rows of the report 2 have a k beyond the "),
        (HARD, ps.bayes(bounds=(0.15, 1)), "of 1 row of the report 1 has an estimate outside"),
    ],
)
def test_it_says_what_is_the_matter(states, metric, said):
    with pytest.warns(ps.PriorWarning, match=f"^{said}"):
        outcomes(states).scorio.report(metric, prior=PRIOR)


def test_a_model_that_is_told_apart_counts_by_its_own_rows(hard):
    sure = outcomes({(50, 25): 30}, "sure")
    with pytest.warns(ps.PriorWarning, match="^of 2 rows of the report 1 has an estimate outside"):
        pl.concat([hard, sure]).scorio.bayes()


@ENGINES
def test_a_plan_warns_once_and_when_it_is_collected(hard, engine):
    # Many groups, which the streaming engine may evaluate in parts.
    models = [hard.with_columns(model=pl.lit(f"m{place}")) for place in range(40)]
    accessor = pl.concat(models).lazy().scorio
    plan = accessor.report(*METRICS, prior=PRIOR)  # an error, if it warned
    (said,) = warned(lambda: plan.collect(engine=engine))
    assert said.startswith("of 120 rows of the report 80 have an estimate outside")
    assert "40 have a k beyond" in said
    assert len(warned(lambda: plan.collect(engine=engine))) == 1


@pytest.mark.parametrize(
    "options", [{"wide": True}, {"overall": "macro"}, {"overall": "micro"}, {"per": "question"}],
    ids=str,
)  # fmt: skip
def test_every_form_of_a_report_warns_once(hard, options):
    log = pl.concat(hard.with_columns(domain=pl.lit(name)) for name in "xy")
    prior = PRIOR.with_columns(domain=pl.lit("x"))
    accessor = log.scorio(by="domain")
    assert len(warned(lambda: accessor.pass_at_k([1, 9], prior=prior, **options))) == 1


def test_reports_without_a_choice_warn_of_posterior_means_alone(hard):
    assert len(warned(hard.scorio.bayes)) == 1
    assert len(warned(lambda: hard.scorio.pass_at_k(9, per="question"))) == 1
    hard.scorio.report(ps.avg(), *METRICS[1:])
    hard.scorio.pass_at_k([1, 9], alpha0=2)  # its user wrote a prior


@pytest.mark.parametrize("inference", ["published", "pooled", "calibrated"])
def test_what_was_said_aloud_is_not_warned_of(hard, inference):
    hard.scorio.report(*METRICS, inference=inference)
    hard.scorio(inference=inference).report(*METRICS)
    hard.lazy().scorio(inference=inference).report(*METRICS).collect()
    hard.scorio(inference=inference).pass_at_k(9, wide=True)


def test_where_the_trials_decide_nothing_is_said(r1):
    r1.scorio.report(ps.bayes(), ps.avg(), ps.pass_at_k([1, 2]))
    outcomes({(60, 0): 5, (60, 30): 20, (60, 60): 5}).scorio.report(ps.bayes(), ps.pass_at_k(2))


def test_bounds_that_clip_the_interval_clip_the_estimate_with_it(r1):
    r1.scorio.bayes(bounds=(0.75, 1))  # .7 of an interval that begins at .41
    r1.scorio.bayes(bounds=(0, 0.5))


def test_real_rewards_have_no_prior():
    log = pl.DataFrame({"question": [1, 1, 2], "reward": [0.1, 0.7, -3.5]})
    log.scorio(model=None, trial=None, category="reward").max_at_k([1, 2])


def test_leaderboards_are_calibrated_and_silent(hard):
    hard.scorio.leaderboard(ps.bayes(), ps.pass_at_k([1, 2]))
