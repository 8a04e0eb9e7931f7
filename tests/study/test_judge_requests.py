import pytest

import polars_scorio as ps
from tests.made_verdicts import verdicts

GRADER = ps.judge(sensitivity=(88, 100), specificity=(78, 100))
LOG = verdicts(questions=12)


@pytest.fixture(params=["truth", "judge"])
def log(request):
    role = {"truth": {"truth": "human"}, "judge": {"judge": GRADER}}[request.param]
    return LOG.scorio(**role)


@pytest.mark.parametrize(
    ("metric", "said"),
    [
        (
            ps.bayes(),
            r"bayes: the errors .* not corrected .* take ps.avg\(\) or a metric of the Pass@k",
        ),
        (ps.geom_ds_at_k(2), "geom_ds_at_k: the errors of a judge are not"),
        (ps.geom_at_k(2), "geom_at_k: the errors of a judge are not"),
        (ps.avg([0, 1]), "not for weights: leave w= out"),
        (ps.max_at_k(2, [0, 1]), "not for weights: leave w= out"),
        (ps.vote_at_k(2), "votes over answers have no correction"),
    ],
)
def test_metrics_without_a_correction_are_refused(log, metric, said):
    with pytest.raises(ValueError, match=said):
        log.report(metric)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"prior": "uniform"}, "posterior means are biased: leave prior= out"),
        ({"prior": "population"}, "posterior means are biased"),
        ({"prior": LOG}, "posterior means are biased"),
        ({"per": "question"}, 'leave per="question" out'),
    ],
)
def test_options_without_a_correction_are_refused(log, options, said):
    with pytest.raises(ValueError, match=said):
        log.report(ps.avg(), **options)


def test_looks_without_a_correction_are_refused(log):
    with pytest.raises(ValueError, match="planned_trials= is not known for numbers that are corr"):
        log.compare(ps.avg(), planned_trials=16)


def test_draws_over_a_population_of_clusters_are_refused():
    log = LOG.scorio(judge=GRADER, cluster="question", target="population")
    with pytest.raises(ValueError, match=r"pass_at_k: with judge= and cluster= only ps\.avg\(\)"):
        log.pass_at_k(2)
    assert log.pass_at_k(1).height == log.pass_at_k(2, target="benchmark").height


def test_more_draws_than_trials_are_refused(log):
    with pytest.raises(ValueError, match=r"pass_at_k: k=5 is more than the 4 trials of some"):
        log.pass_at_k(5)


@pytest.mark.parametrize(
    ("method", "arguments"),
    [
        ("population", ()),
        ("trials_needed", ()),
        ("next_trials", (9,)),
        ("questions_needed", ()),
        ("questions", ()),
        ("convergence", ()),
        ("trajectory", (ps.avg(),)),
    ],
)
def test_methods_that_know_no_correction_are_refused(log, method, arguments):
    with pytest.raises(ValueError, match=f"{method} knows no correction for the errors of a judge"):
        getattr(log, method)(*arguments)
