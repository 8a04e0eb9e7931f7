"""Labels in two spellings, and logs without a success or a failure."""

import re
import warnings
from collections.abc import Callable

import polars as pl
import pytest
from polars.exceptions import ComputeError

import polars_scorio as ps
from polars_scorio.counting.categories import ERROR_LABEL


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
        (WORDS, None, "right", "'right' of .* 'correct', 'incorrect', 'refused'. If that"),
        (WORDS, pl.Categorical(), "right", "'right' of .* 'correct', 'incorrect', 'refused'. If"),
        ([0, 1, 1], pl.Int8(), 2, r"outcome 2 of .* 0, 1\."),
        ([0.0, 1.0, 3.0], None, 2, r"outcome 2 of .* 0\.0, 1\.0, 3\.0\."),
        (WORDS, None, ["correct", "partly"], r"outcome 'partly' of .* 'correct'"),
        (["b", None], None, ["x", "a"], r"outcomes 'a', 'x' of .* has 'b'\. .* includes them"),
    ],
)
def test_a_success_that_no_trial_has_is_warned_of(categories, dtype, success, said, lazy):
    frame = log(categories, dtype, models=3)
    roles = {"success": success, "missing": "drop", "unscored": "drop"}
    accessor = (frame.lazy() if lazy else frame).scorio(**roles, prior="uniform")
    with pytest.warns(ps.SuccessWarning, match=said) as caught:
        accessor.report(ps.bayes(), ps.pass_at_k(1)).lazy().collect()
    assert len(caught) == 1


@pytest.mark.parametrize("validate", [True, False])
@pytest.mark.parametrize("trial", [pl.UInt8(), pl.String()])
def test_every_way_of_counting_warns(validate, trial):
    frame = log(WORDS).with_columns(pl.col("trial").cast(trial))
    with pytest.warns(ps.SuccessWarning, match="'correct', 'incorrect', 'refused'"):
        frame.scorio(success="right", validate=validate).avg()
    counts = frame.scorio.counts()
    with pytest.warns(ps.SuccessWarning, match="'correct', 'incorrect', 'refused'"):
        counts.scorio(count="count", success="right").avg()


@pytest.mark.parametrize(
    "use",
    [
        lambda log: log.report(ps.avg(), wide=True),
        lambda log: log.report(ps.avg(), per="question"),
        lambda log: log.compare(),
        lambda log: log.compare(unmatched="drop"),
        lambda log: log.rank(),
        lambda log: log.trials_needed(half_width=0.1),
        lambda log: log.next_trials(3),
        lambda log: log.convergence(replicates=2),
        lambda log: log.population(),
        lambda log: log.leaderboard(ps.avg()),
    ],
)
def test_every_method_warns_once(use: Callable):
    with pytest.warns(ps.SuccessWarning) as caught:
        use(log(WORDS, models=2).scorio(success="right"))
    assert len(caught) == 1


def strata_of(*words: str) -> pl.DataFrame:
    """A stratum for each word, in which it is the only label but "no"."""
    return pl.concat(log([w, "no"], models=2).with_columns(bench=pl.lit(w)) for w in words)


@pytest.mark.slow
def test_a_page_warns_once_of_the_whole_log(tmp_path):
    strata = strata_of("yes", "maybe").scorio(by="bench", success="right")
    with pytest.warns(ps.SuccessWarning, match=r"has the outcome 'right' of .* 'yes'") as caught:
        strata.write_html(tmp_path / "page.html")
    assert len(caught) == 1


@pytest.mark.slow
def test_a_page_is_silent_of_strata_that_lack_a_label(tmp_path):
    strata = strata_of("yes", "maybe").scorio(by="bench", success="yes")
    strata.write_html(tmp_path / "page.html")


def test_every_collection_warns():
    plan = log(WORDS).lazy().scorio(success="right").avg()
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
        pytest.param(log([1, 1]), {"success": 1}, id="1 alone"),
        pytest.param(log(["a", "b", "c"]), {"success": ["b", "a"]}, id="all seen"),
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
        many.scorio(trial=None, success="right").avg()


def test_the_warning_can_be_an_error():
    with warnings.catch_warnings():
        warnings.simplefilter("error", ps.SuccessWarning)
        with pytest.raises(Exception, match=r"typo, correct success=\. If it is right, cast"):
            log(WORDS).scorio(success="right").avg()


# --- labels in two spellings

SPELLINGS = ["correct"] * 5 + ["Correct"] * 3 + ["CORRECT"] * 2 + ["correct ", "wrong"]
TWOFOLD = (
    r"3 labels in 'category' would count as failures, and differ from a success only in case or "
    r"spaces: 'CORRECT' \(2\), 'Correct' \(3\), 'correct ' \(1\); success: 'correct' \(5\)\. If "
)


@pytest.mark.parametrize("dtype", [pl.String(), pl.Categorical()])
@pytest.mark.parametrize("lazy", [False, True])
def test_labels_in_two_spellings_are_refused_with_their_counts(dtype, lazy):
    frame = log(SPELLINGS, dtype)
    with pytest.raises(ValueError, match=TWOFOLD):
        (frame.lazy() if lazy else frame).scorio(success="correct").avg().lazy().collect()


@pytest.mark.parametrize(
    "use",
    [
        lambda log: log.compare(),
        lambda log: log.rank(),
        lambda log: log.report(ps.bayes(), per="question"),
        lambda log: log.questions(),
        lambda log: log.leaderboard(ps.avg()),
        lambda log: log.write_html("page.html"),
    ],
)
def test_every_method_refuses_two_spellings(use: Callable, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = log(SPELLINGS, models=2)
    said = TWOFOLD.replace("2", "4").replace("(3", "(6").replace("(1", "(2").replace("(5", "(10")
    with pytest.raises(ValueError, match=said):
        use(frame.scorio(success="correct"))


def test_counted_rows_weigh_the_spellings():
    counts = log(SPELLINGS).scorio.counts()
    with pytest.raises(ValueError, match=TWOFOLD):
        counts.scorio(count="count", success="correct").avg()


def test_a_count_of_zero_is_no_second_spelling():
    columns = {"model": "m", "question": 1, "category": ["yes", "Yes", "no"], "count": [2, 0, 2]}
    assert (
        pl.DataFrame(columns).scorio(count="count", success="yes").avg()["estimate"].item() == 0.5
    )


def test_prior_trials_in_another_spelling_are_refused():
    with pytest.raises(ValueError, match=r"^prior: 3 labels in 'category' would count as failures"):
        log(["correct", "wrong"] * 6).scorio(success="correct").avg(prior=log(SPELLINGS))


def test_labels_of_people_in_another_spelling_are_refused():
    verdicts = log(["correct", "wrong"] * 6).with_columns(human=pl.lit("Correct"))
    said = r"^1 label in 'human' would .*: 'Correct' \(12\); success: 'correct' \(0\)"
    with pytest.raises(ValueError, match=said):
        verdicts.scorio(success="correct", truth="human").avg()


def test_a_filter_on_the_result_counts_the_spellings_of_what_is_left():
    rare = log(["correct", "wrong"]).with_columns(model=pl.lit("other"))
    lazy = pl.concat([log(SPELLINGS), rare]).lazy().scorio(success="correct").avg()
    assert lazy.filter(pl.col("model") == "other").collect()["estimate"].to_list() == [0.5]
    with pytest.raises(ValueError, match=TWOFOLD):
        lazy.filter(pl.col("model") == "m0").collect()


def test_a_single_row_in_another_spelling_is_found_in_many():
    many = pl.DataFrame({"model": "m", "question": 1, "category": ["no", "yes"] * 99_999 + ["Yes"]})
    with pytest.raises(ValueError, match=r"^1 label in .*: 'Yes' \(1\); success: 'yes' \(99,999\)"):
        many.scorio(trial=None, success="yes").avg()


@pytest.mark.parametrize(
    ("dtype", "success"),
    [
        pytest.param(None, ["correct", "Correct", "CORRECT", "correct "], id="all named"),
        pytest.param(pl.Enum(list(dict.fromkeys(SPELLINGS))), "correct", id="Enum"),
    ],
)
def test_spellings_that_are_named_or_declared_are_taken(dtype, success):
    named = len([label for label in SPELLINGS if label in success])
    estimate = log(SPELLINGS, dtype).scorio(success=success).avg()["estimate"].item()
    assert estimate == pytest.approx((named if dtype is None else 5) / len(SPELLINGS))


def test_weights_tell_the_spellings_apart():
    weights = {label: float(label == "correct") for label in SPELLINGS}
    assert log(SPELLINGS).scorio(success="correct").avg(weights)["estimate"].item() == 5 / 12


def test_an_expression_refuses_two_spellings():
    frame = log(SPELLINGS)
    with pytest.raises((ValueError, ComputeError), match=r"'CORRECT', 'Correct', 'correct ' in 'c"):
        frame.select(pl.col("category").scorio(success="correct").avg())


# --- no failure at all


@pytest.mark.parametrize(
    ("categories", "success", "said"),
    [
        (["a", "b"], ["b", "a"], r"='a', 'b': all trials of the whole log .* else: 'a', 'b'\."),
        (["a", "a"], "a", r"='a': all trials of the whole log are successes, .* else: 'a'\."),
        ([2, 3], [2, 3], r"=2, 3: all trials of the whole log are successes, .* else: 2, 3\."),
    ],
)
def test_a_success_of_all_categories_is_warned_of(categories, success, said, tmp_path):
    accessor = log(categories, models=2).scorio(success=success)
    with pytest.warns(ps.SuccessWarning, match=said) as caught:
        accessor.avg()
    assert len(caught) == 1
    with pytest.warns(ps.SuccessWarning, match=said) as caught:
        accessor.write_html(tmp_path / "page.html")
    assert len(caught) == 1


@pytest.mark.parametrize(
    ("threshold", "said"),
    [
        (
            0.5,
            r"^threshold=0\.5: all trials of the whole log reach it\. 'category' is from 3\.0 ",
        ),
        (
            10,
            r"^threshold=10\.0: no trial of the whole log reaches it\. 'category' is from 3\.0 ",
        ),
    ],
)
@pytest.mark.parametrize("dtype", [pl.Int8, pl.Float64])
def test_a_threshold_that_all_trials_reach_or_none_is_warned_of(threshold, said, dtype, tmp_path):
    accessor = log([3, 5, 9, 4], dtype, models=2).scorio(threshold=threshold)
    for use in (accessor.avg, accessor.compare, lambda: accessor.write_html(tmp_path / "p.html")):
        with pytest.warns(ps.SuccessWarning, match=said) as caught:
            use()
        assert len(caught) == 1


@pytest.mark.parametrize(
    "rewards", [[1.0, 1.0], [0, 0], [0.2, 0.9], pytest.param([], id="no trial")]
)
def test_a_threshold_that_tells_trials_apart_or_of_zeros_and_ones_is_silent(rewards):
    log(rewards, pl.Float64()).scorio(threshold=0.5).avg()


def test_a_missing_reward_is_not_the_least():
    rewards = log([60.0, 70.0, float("nan"), None])
    with pytest.warns(ps.SuccessWarning, match=r"from 60\.0 to 70\.0"):
        rewards.scorio(threshold=0.5, missing="drop", unscored="drop").avg()


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        *((label, True) for label in ("error", "Runtime Exception", "TIMEOUT", "timed out")),
        *((label, True) for label in ("crashed", "cancelled", "aborted", "rate_limit", "CUDA OOM")),
        *((label, True) for label in ("nan", "N/A", " none ", "Null", "oom")),
        *(
            (label, False)
            for label in ("wrong", "nano", "none of these", "mushroom", "annulled", "")
        ),
    ],
)
def test_labels_of_errors_and_of_missing_outcomes_are_known(label, expected):
    assert bool(re.search(ERROR_LABEL, label)) == expected
    assert pl.Series([label]).str.contains(ERROR_LABEL).item() == expected


@pytest.mark.parametrize(
    "category",
    [
        pl.Series([True, True]),
        pl.Series(["good", "bad"], dtype=pl.Enum(["bad", "good"])),
    ],
    ids=["Boolean", "Enum"],
)
def test_a_success_of_all_declared_categories_is_refused(category):
    log = pl.DataFrame({"question": [1, 2], "category": category}).scorio(model=None, trial=None)
    every = [True, False] if category.dtype == pl.Boolean else ["good", "bad"]
    message = r"^success=\[.*\] names all categories of 'category', so that no trial could fail: "
    with pytest.raises(ValueError, match=message):
        log(success=every).avg()


def test_a_success_of_all_weighed_categories_is_refused():
    log = pl.DataFrame({"question": [1, 2], "category": [0, 1]}).scorio(model=None, trial=None)
    with pytest.raises(ValueError, match=r"^success=\[0, 1\] names all categories"):
        log(success=[0, 1]).report(ps.avg([0, 1]), ps.pass_at_k(1))


def test_a_success_of_failures_too_warns():
    log = pl.DataFrame({"question": [1, 2], "category": [0, 1]}).scorio(model=None, trial=None)
    with pytest.warns(ps.SuccessWarning, match=r"^success=0, 1: all trials .* are successes"):
        log(success=[0, 1]).avg()
