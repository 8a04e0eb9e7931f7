"""Successes that no trial of the log has."""

import warnings
from collections.abc import Callable

import polars as pl
import pytest

import polars_scorio as ps


def log(categories: list, dtype: pl.DataType | None = None, models: int = 1) -> pl.DataFrame:
    """Each category is a trial of a question of its own, of each model."""
    one = pl.DataFrame(
        {"question": range(len(categories)), "category": pl.Series(categories, dtype=dtype)}
    )
    return pl.concat(one.with_columns(model=pl.lit(f"m{i}"), trial=0) for i in range(models))


WORDS = ["correct", "incorrect", "refused"]


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize(
    ("categories", "dtype", "success", "said"),
    [
        (WORDS, None, "Correct", r"'Correct': .* 'correct', 'incorrect', 'refused'\."),
        (WORDS, pl.Categorical(), "Correct", r"'Correct': .* 'correct', 'incorrect', 'refused'\."),
        ([0, 1, 1], pl.Int8(), 2, r"2: .* 0, 1\."),
        ([0.0, 1.0, 3.0], None, 2, r"2: .* 0\.0, 1\.0, 3\.0\."),
        (WORDS, None, ["correct", "partly"], r"='partly': no .* this category .* 'correct'"),
        (["b", None], None, ["x", "a"], r"='a', 'x': .* one of these categories .* 'b'\."),
    ],
)
def test_a_success_that_no_trial_has_is_warned_of(categories, dtype, success, said, lazy):
    frame = log(categories, dtype, models=3)
    roles = {"success": success, "missing": "drop", "unscored": "drop"}
    accessor = (frame.lazy() if lazy else frame).scorio(**roles, inference="published")
    with pytest.warns(ps.SuccessWarning, match=said) as caught:
        accessor.report(ps.bayes(), ps.pass_at_k(1)).lazy().collect()
    assert len(caught) == 1


@pytest.mark.parametrize("validate", [True, False])
@pytest.mark.parametrize("trial", [pl.UInt8(), pl.String()])
def test_every_way_of_counting_warns(validate, trial):
    frame = log(WORDS).with_columns(pl.col("trial").cast(trial))
    with pytest.warns(ps.SuccessWarning, match="'correct', 'incorrect', 'refused'"):
        frame.scorio(success="Correct", validate=validate).avg()
    counts = frame.scorio.counts()
    with pytest.warns(ps.SuccessWarning, match="'correct', 'incorrect', 'refused'"):
        counts.scorio(count="count", success="Correct").avg()


@pytest.mark.parametrize(
    "use",
    [
        lambda log: log.report(ps.avg(), wide=True),
        lambda log: log.report(ps.avg(), per="question"),
        lambda log: log.compare(),
        lambda log: log.compare(questions="common"),
        lambda log: log.rank(),
        lambda log: log.trials_needed(half_width=0.1),
        lambda log: log.next_trials(3),
        lambda log: log.convergence(replicates=2),
        lambda log: log.priors(),
        lambda log: log.leaderboard(ps.avg()),
    ],
)
def test_every_method_warns_once(use: Callable):
    with pytest.warns(ps.SuccessWarning) as caught:
        use(log(WORDS, models=2).scorio(success="Correct"))
    assert len(caught) == 1


def strata_of(*words: str) -> pl.DataFrame:
    """A stratum for each word, in which it is the only label but "no"."""
    return pl.concat(log([w, "no"], models=2).with_columns(bench=pl.lit(w)) for w in words)


@pytest.mark.slow
def test_a_page_warns_once_of_the_whole_log(tmp_path):
    strata = strata_of("yes", "maybe", "c").scorio(by="bench", success="C")
    with pytest.warns(ps.SuccessWarning, match=r"'C': no trial of the whole log .* 'c'") as caught:
        strata.write_html(tmp_path / "page.html")
    assert len(caught) == 1


@pytest.mark.slow
def test_a_page_is_silent_of_strata_that_lack_a_label(tmp_path):
    strata = strata_of("yes", "maybe").scorio(by="bench", success="yes")
    strata.write_html(tmp_path / "page.html")


def test_every_collection_warns():
    plan = log(WORDS).lazy().scorio(success="Correct").avg()
    for _ in range(2):
        with pytest.warns(ps.SuccessWarning):
            plan.collect()


def test_the_whole_log_is_looked_at_and_not_a_group():
    frame = pl.concat(
        [
            log(["correct"]).with_columns(model=pl.lit("good")),
            log(["incorrect"] * 5).with_columns(model=pl.lit("bad")),
        ]
    )
    assert frame.scorio(success="correct").avg()["estimate"].to_list() == [0.0, 1.0]


@pytest.mark.parametrize(
    ("frame", "roles"),
    [
        pytest.param(log(["no"], pl.Enum(["no", "yes"])), {"success": "yes"}, id="Enum"),
        pytest.param(log([0, 0]), {"success": 1}, id="0 and 1"),
        pytest.param(log([0.0, 0.0]), {"success": 1}, id="0.0 and 1"),
        pytest.param(log([False]), {"success": True}, id="Boolean"),
        pytest.param(log([0.0]), {"levels": [0, 0.5, 1], "success": [0.5, 1]}, id="levels"),
        pytest.param(log([], pl.String()), {"success": "yes"}, id="no trial"),
        pytest.param(log(["a", "b"]), {"success": ["b", "a"]}, id="all seen"),
    ],
)
def test_declared_or_seen_is_silent(frame, roles):
    frame.scorio(**roles).report(ps.pass_at_k(1))


def test_weights_declare_the_categories():
    weights = {"no": 0, "yes": 1}
    log(["no"]).scorio(success="yes").report(ps.avg(weights), ps.pass_at_k(1))


def test_a_count_of_zero_is_no_sight_of_a_label():
    frame = pl.DataFrame({"model": "m", "question": 1, "category": ["yes", "no"], "count": [0, 3]})
    with pytest.warns(ps.SuccessWarning, match="'yes'"):
        frame.scorio(count="count", success="yes").avg()


def test_labels_are_a_sample_of_many_rows_and_absence_is_exact():
    many = pl.DataFrame({"model": "m", "question": 1, "category": ["no"] * 9999 + ["yes"]})
    assert many.scorio(trial=None, success="yes").avg()["estimate"].item() == 1e-4
    with pytest.warns(ps.SuccessWarning, match="'no'"):
        many.scorio(trial=None, success="Yes").avg()


def test_the_warning_can_be_an_error():
    with warnings.catch_warnings():
        warnings.simplefilter("error", ps.SuccessWarning)
        with pytest.raises(Exception, match="slip of the pen"):
            log(WORDS).scorio(success="Correct").avg()
