"""Where a prior that nobody named outweighs the trials, a report says so once."""

import warnings

import polars as pl
import pytest

import polars_scorio as ps
from tests.made_logs import outcomes

pytestmark = [
    pytest.mark.filterwarnings("error::polars_scorio.PriorWarning"),
    pytest.mark.filterwarnings("ignore::polars_scorio.CheckWarning"),  # made logs are sure
]
ENGINES = pytest.mark.parametrize("engine", ["in-memory", "streaming"])
# Of 30 hard questions: estimates .1, posterior means above .2 with a sigma of .03.
HARD = {(4, 0): 24, (4, 1): 3, (4, 2): 2, (4, 4): 1}
METRICS = ps.bayes(), ps.bayes(name="again"), ps.pass_at_k([1, 9])
# One failure on the first question.
PRIOR = outcomes({(1, 0): 1}).drop("model")
CURES = r'ps\.avg\(\) has no prior; prior="uniform" keeps these'
SAID = (
    r"^of 4 rows of the report 2 have an estimate outside its own interval: "
    rf"there the uniform prior of each question decides, .*\. {CURES}"
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
        hard.scorio.report(*METRICS)


@pytest.mark.parametrize(
    ("states", "metric", "said"),
    [
        (HARD, ps.bayes(), "of 1 row of the report 1 has an estimate outside its own interval: "),
        (HARD, ps.bayes(bounds=(0.15, 1)), "of 1 row of the report 1 has an estimate outside"),
    ],
)
def test_it_says_what_is_the_matter(states, metric, said):
    with pytest.warns(ps.PriorWarning, match=f"^{said}"):
        outcomes(states).scorio.report(metric)


def test_a_model_that_is_told_apart_counts_by_its_own_rows(hard):
    sure = outcomes({(50, 25): 30}, "sure")
    with pytest.warns(ps.PriorWarning, match="^of 2 rows of the report 1 has an estimate outside"):
        pl.concat([hard, sure]).scorio.bayes()


@ENGINES
def test_a_plan_warns_once_and_when_it_is_collected(hard, engine):
    # Many groups, which the streaming engine may evaluate in parts.
    models = [hard.with_columns(model=pl.lit(f"m{place}")) for place in range(40)]
    accessor = pl.concat(models).lazy().scorio
    plan = accessor.report(*METRICS)  # an error, if it warned
    (said,) = warned(lambda: plan.collect(engine=engine))
    assert said.startswith("of 160 rows of the report 80 have an estimate outside")
    assert len(warned(lambda: plan.collect(engine=engine))) == 1


@pytest.mark.parametrize(
    "options", [{"wide": True}, {"overall": "macro"}, {"overall": "micro"}],
    ids=str,
)  # fmt: skip
def test_every_form_of_a_report_warns_once(hard, options):
    log = pl.concat(hard.with_columns(domain=pl.lit(name)) for name in "xy")
    accessor = log.scorio(by="domain")
    assert len(warned(lambda: accessor.bayes(**options))) == 1


def test_reports_without_a_choice_warn_of_posterior_means_alone(hard):
    assert len(warned(hard.scorio.bayes)) == 1
    hard.scorio.pass_at_k(9, per="question")
    hard.scorio.report(ps.avg(), METRICS[-1])


@pytest.mark.parametrize(
    "prior", ["uniform", "population", (2, 1), PRIOR], ids=lambda value: type(value).__name__
)
def test_what_was_said_aloud_is_not_warned_of(hard, prior):
    hard.scorio.report(*METRICS, prior=prior)
    hard.scorio(prior=prior).report(*METRICS)
    hard.lazy().scorio(prior=prior).report(*METRICS).collect()
    hard.scorio(prior=prior).bayes(wide=True)


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
