import polars as pl
import pytest

import polars_scorio as ps
from tests.made_verdicts import verdicts

LOG = verdicts(questions=40, power=3.0)


def test_each_model_has_as_many_of_both_verdicts():
    chosen = ps.sample_to_label(LOG, 21)
    counts = chosen.group_by("model", "category").len().sort("model", "category")
    assert counts["len"].to_list() == [10, 11] * 3


def test_rows_are_those_of_the_log():
    chosen = ps.sample_to_label(LOG, 20)
    assert chosen.columns == LOG.columns
    assert chosen.join(LOG, on=["model", "question", "trial"], how="semi").height == 60
    assert chosen.select("model", "question").equals(
        chosen.sort("model", "question").select("model", "question")
    )


def test_labels_are_spread_over_questions():
    chosen = ps.sample_to_label(LOG, 40)
    most = chosen.group_by("model", "question", "category").len()["len"].max()
    assert most == 1


def test_a_seed_chooses_the_same_trials_in_whatever_order():
    first = ps.sample_to_label(LOG, 20, seed=3)
    shuffled = LOG.sample(fraction=1, shuffle=True, seed=1)
    assert ps.sample_to_label(shuffled, 20, seed=3).equals(first)
    assert ps.sample_to_label(LOG.lazy(), 20, seed=3).equals(first)
    assert not ps.sample_to_label(LOG, 20, seed=4).equals(first)


def test_a_verdict_that_is_rare_leaves_its_place_to_the_other():
    log = pl.DataFrame({"question": range(30), "category": [1] * 27 + [0] * 3})
    chosen = ps.sample_to_label(log, 12, model=None, trial=None)
    assert chosen["category"].sum() == 9
    assert ps.sample_to_label(log, 99, model=None, trial=None).height == 30


def test_labels_that_there_are_count():
    more = ps.sample_to_label(LOG.with_columns(human=pl.lit(None, pl.Boolean)), 40, truth="human")
    assert more.height == 120
    some = ps.sample_to_label(LOG, 20)
    keys = ["model", "question", "trial"]
    log = LOG.drop("human").join(some.select(*keys, human="truth"), on=keys, how="left")
    rest = ps.sample_to_label(log, 40, truth="human")
    assert rest["human"].null_count() == rest.height == 60


def test_missing_verdicts_are_not_chosen():
    log = LOG.with_columns(category=pl.when(pl.col("question") > 3).then("category"))
    assert ps.sample_to_label(log, 40)["question"].min() == 4


def test_the_estimate_from_chosen_labels_is_near_the_truth():
    some = ps.sample_to_label(LOG, 80)
    keys = ["model", "question", "trial"]
    log = LOG.drop("human").join(some.select(*keys, human="truth"), on=keys, how="left")
    report = log.scorio(truth="human").avg()
    truth = LOG.group_by("model").agg(pl.col("truth").mean()).sort("model")["truth"]
    assert ((report["lo"] < truth) & (truth < report["hi"])).all()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [({"n": 0}, "n must be a positive int"), ({"n": 5, "seed": -1}, "seed must be an int")],
)
def test_wrong_numbers_are_refused(arguments, said):
    with pytest.raises(ValueError, match=said):
        ps.sample_to_label(LOG, **arguments)


def test_other_frames_are_refused():
    with pytest.raises(TypeError, match="frame must be a Polars DataFrame or LazyFrame, got"):
        ps.sample_to_label({"question": [1]}, 5)
