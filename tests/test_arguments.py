"""What options accept and refuse: numbers, ints, flags, choices, and several of something."""

import re

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_scorio as ps
from polars_scorio.display.chart_data import curve_sizes
from tests.made_logs import long

NAN = float("nan")
BOARD = ps.bayes(), ps.pass_at_k(2)


@pytest.fixture(scope="module")
def log() -> pl.DataFrame:
    """Two models, two domains with two questions each, four trials with the categories 0, 1, 2."""
    outcomes = {"a": [[0, 1, 2, 1], [2, 2, 1, 0]], "b": [[0, 0, 2, 1], [1, 0, 0, 0]]}
    rows = [
        (model, domain, 2 * domain + question, trial, category)
        for model, questions in outcomes.items()
        for domain in (0, 1)
        for question, trials in enumerate(questions)
        for trial, category in enumerate(trials[domain:] + trials[:domain])
    ]
    columns = ["model", "domain", "question", "trial", "category"]
    return pl.DataFrame(rows, schema=columns, orient="row")


def refused(call, message: str, error: type[Exception] = ValueError) -> None:
    """Check that a call is refused with a message that begins so, whatever Polars adds."""
    with pytest.raises(error, match=f"^{re.escape(message)}"):
        call()


# --- one check for numbers, ints, flags, choices

NUMBERS = {
    "confidence": lambda a, value: a.report(*BOARD, confidence=value),
    "confidence|expression": lambda _, value: pl.col("x").scorio.posterior(
        ps.bayes(), confidence=value
    ),
    "confidence|population": lambda a, value: a.population(confidence=value),
    "half_width": lambda a, value: a.trials_needed(half_width=value),
    "tol": lambda _, value: ps.rank_scores("mu", tol=value),
    "tau": lambda _, value: ps.g_pass_at_k_tau(2, value),
    "lam": lambda _, value: ps.geo_spectrum_at_k(2, lam=value),
    "alpha": lambda a, value: a.pass_at_k(2, prior=(value, 1)),
    "beta": lambda a, value: a(prior=(1, value)),
    "pass_power": lambda _, value: ps.geom_at_k(2, pass_power=value),
    "unanimous_power": lambda _, value: ps.geom_ds_at_k(2, unanimous_power=value),
    "invalid_at": lambda _, value: ps.rubrics.exact_match(invalid_at=value),
    "ood_q": lambda _, value: ps.rubrics.ood_robustness(ood_q=value),
    "the weight of 'wrong'": lambda _, value: ps.rubrics.exact_match().weights(wrong=value),
    "the threshold 'ood'": lambda _, value: ps.rubrics.ood_robustness().expr(
        thresholds={"ood": value}
    ),
}


def binary(log: pl.DataFrame):
    return log.scorio(success=2)


@pytest.mark.parametrize("option", NUMBERS)
@pytest.mark.parametrize("value", [True, np.True_, "0.5", 0.5j, [0.5], NAN], ids=repr)
def test_a_number_is_refused_in_one_form_of_words(log, option, value):
    message = rf"^{option.split('|')[0]} must be a .*number.*, got {re.escape(repr(value))}$"
    with pytest.raises(ValueError, match=message):
        NUMBERS[option](binary(log), value)


@pytest.mark.parametrize("option", NUMBERS)
@pytest.mark.parametrize(
    "value", [np.float64(0.5), np.float32(0.5), np.float16(0.5)], ids=["64", "32", "16"]
)
def test_a_number_may_be_one_of_numpy(log, option, value):
    call, accessor = NUMBERS[option], binary(log)
    # Frames and expressions do not compare as values do.
    assert str(call(accessor, value)) == str(call(accessor, 0.5))


def test_an_int_of_numpy_is_a_number_too():
    scores = pl.DataFrame({"mu": [0.5, 1.25, 4.0]})
    ranks = scores.select(ps.rank_scores("mu", tol=np.int64(1)))["mu"].to_list()
    assert ranks == [2, 2, 1]


INTS = {
    "budget": lambda a, value: a.next_trials(value),
    "max_trials": lambda a, value: a.trials_needed(max_trials=value),
    "replicates": lambda a, value: a.convergence(ps.bayes([0, 1, 1]), replicates=value),
    "seed": lambda a, value: a.convergence(ps.bayes([0, 1, 1]), replicates=2, seed=value),
    "k": lambda a, value: a.pass_at_k(value),
    "n": lambda a, value: a.frame.scorio(success=2, n=value).bayes(),
    "first": lambda a, value: a.frame.scorio(success=2, first=value).bayes(),
}


@pytest.mark.parametrize("option", INTS)
@pytest.mark.parametrize("value", [True, np.True_, "4", 4.0, np.float64(4), -1, NAN], ids=repr)
def test_an_int_is_refused_in_one_form_of_words(log, option, value):
    message = rf"^{option} must be an? .*int.*, got {re.escape(repr(value))}$"
    with pytest.raises(ValueError, match=message):
        INTS[option](binary(log), value)


@pytest.mark.parametrize("option", INTS)
@pytest.mark.parametrize("kind", [np.int64, np.uint8])
def test_an_int_may_be_one_of_numpy(log, option, kind):
    call, accessor = INTS[option], binary(log)
    assert_frame_equal(call(accessor, kind(4)), call(accessor, 4))


@pytest.mark.parametrize(
    ("option", "most"), [("budget", 10**18), ("max_trials", 10**18), ("replicates", 10**6),
                         ("k", 10**6), ("n", 10**18)]
)  # fmt: skip
def test_an_int_that_nothing_can_hold_is_refused(log, option, most):
    for value in (most + 1, 10**400):
        message = rf"^{option} must be an? .*, at most {most:,}, got {str(value)[:200]}"
        with pytest.raises(ValueError, match=message):
            INTS[option](binary(log), value)


def test_a_seed_may_have_more_than_64_bits(log):
    assert INTS["seed"](binary(log), 2**100).height > 0


@pytest.mark.parametrize("one", [int, np.int64, np.array])
def test_a_single_draw_size_means_all_up_to_it_in_a_picture(one):
    assert curve_sizes(one(10)) == (1, 2, 4, 8, 10)


FLAGS = {
    "wide": lambda a, value: a.report(*BOARD, wide=value),
    "validate": lambda a, value: a.frame.scorio(success=2, validate=value).bayes(),
    "progress": lambda a, value: a.convergence(ps.bayes([0, 1, 1]), replicates=0, progress=value),
    "percent": lambda a, value: pl.DataFrame(
        {"table": [ps.to_markdown(a.leaderboard(ps.bayes()), percent=value)]}
    ),
}


@pytest.mark.parametrize("option", FLAGS)
@pytest.mark.parametrize("value", [0, 1, "yes", np.int64(1)], ids=repr)
def test_a_flag_is_true_or_false(log, option, value):
    call = FLAGS[option]
    refused(
        lambda: call(binary(log), value),
        f"{option} must be True or False, got {value!r}",
        TypeError,
    )


@pytest.mark.parametrize("option", FLAGS)
def test_a_flag_may_be_one_of_numpy(log, option):
    call, accessor = FLAGS[option], binary(log)
    assert_frame_equal(call(accessor, np.False_), call(accessor, False))


def test_a_choice_is_one_of_its_words(log):
    message = """^per must be "model" or "question", got 'models': did you mean 'model'\\?$"""
    with pytest.raises(ValueError, match=message):
        binary(log).report(*BOARD, per="models")


NO_WORDS = [pl.col("x"), pl.Series([1, 2]), pl.DataFrame(), pl.LazyFrame(), np.array([1, 2]), 1j]
CHOICES = {
    **{
        option: lambda a, value, option=option: a.report(ps.avg(), **{option: value})
        for option in ("prior", "target", "per", "overall")
    },
    "overall|leaderboard": lambda a, value: a.leaderboard(ps.avg(), overall=value),
    "prior|accessor": lambda a, value: a(prior=value),
    "target|accessor": lambda a, value: a(target=value),
    "target|rank": lambda a, value: a.rank(target=value),
    "unmatched": lambda a, value: a.compare(unmatched=value),
    "scheme": lambda a, value: a.convergence(scheme=value),
    "per|describe": lambda a, value: a.describe(per=value),
    "title": lambda a, value: a.write_html("report.html", title=value),
    "rubric": lambda a, value: a.rubric(value),
    "trajectory": lambda a, value: a.trajectory(value),
    "replicates": lambda a, value: a.convergence(replicates=value),
}


@pytest.mark.parametrize("option", CHOICES)
@pytest.mark.parametrize("value", NO_WORDS, ids=lambda value: type(value).__name__)
def test_what_has_no_truth_value_is_refused_in_our_words(log, option, value):
    if option.startswith("prior") and isinstance(value, pl.DataFrame | pl.LazyFrame):
        return  # prior trials
    error = ValueError if option == "replicates" else TypeError
    with pytest.raises(error, match=rf"(?s)^{option.split('|')[0]} (must be|takes) .*, got "):
        CHOICES[option](log.scorio(by="domain", success=2), value)


@pytest.mark.parametrize("value", [True, ["model"], np.array(["model"])])
def test_a_choice_is_a_word(log, value):
    with pytest.raises(TypeError, match=r'^per must be "model" or "question", got '):
        binary(log).report(*BOARD, per=value)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: pl.DataFrame().scorio(prior=(10**400, 1)),
            "alpha must be a positive finite number, got 1",
        ),
        (lambda: ps.g_pass_at_k_tau(1, -(10**400)), "tau must be a number from 0 to 1, got -1"),
        (lambda: ps.avg([0, 10**400]), "w must be a flat sequence of finite numbers"),
        (lambda: ps.avg([True, False]), "w must be a flat sequence of finite numbers"),
        (lambda: ps.avg([0, True]), "w must be a flat sequence of finite numbers"),
        (lambda: ps.avg(np.array([False, True])), "w must be a flat sequence of finite numbers"),
        (lambda: ps.avg(bounds=(False, True)), "bounds must be None or two numbers"),
        (
            lambda: pl.DataFrame().scorio(prior=(1, -(10**5000))),
            "beta must be a positive finite number, got an int of 16,610 bits",
        ),
    ],
)
def test_what_no_float_can_hold_is_refused_in_our_words(call, message):
    refused(call, message)


# --- sets, arrays and series wherever several are allowed

SEVERAL = [
    pytest.param(tuple, id="tuple"),
    pytest.param(set, id="set"),
    pytest.param(frozenset, id="frozenset"),
    pytest.param(np.array, id="array"),
    pytest.param(pl.Series, id="series"),
    pytest.param(iter, id="iterator"),
    pytest.param(lambda values: dict.fromkeys(values).keys(), id="keys"),
]


@pytest.mark.parametrize("kind", SEVERAL)
def test_successes_may_be_of_any_kind(log, kind):
    expected = log.scorio(success=[1, 2]).report(*BOARD)
    assert_frame_equal(log.scorio(success=kind([1, 2])).report(*BOARD), expected)
    words = log.with_columns(pl.col("category").cast(pl.String))
    assert_frame_equal(words.scorio(success=kind(["1", "2"])).report(*BOARD), expected)


@pytest.mark.parametrize("kind", SEVERAL)
def test_successes_of_an_expression_may_be_of_any_kind(log, kind):
    outcome = pl.col("category").scorio(success=kind([1, 2])).pass_at_k(2)
    expected = pl.col("category").scorio(success=[1, 2]).pass_at_k(2)
    assert_frame_equal(log.select(outcome), log.select(expected))


@pytest.mark.parametrize("kind", SEVERAL)
def test_strata_may_be_of_any_kind(log, kind):
    more = log.with_columns(area=pl.col("question") % 2)
    given = more.scorio(by=kind(["area", "domain"]), success=2).report(*BOARD)
    assert_frame_equal(given, more.scorio(by=["area", "domain"], success=2).report(*BOARD))


def test_strata_of_a_set_are_in_the_order_of_their_names(log):
    more = log.with_columns(area=0, zone=1, block=2)
    columns = more.scorio(by={"zone", "area", "block"}, success=2).avg().columns
    assert columns[:3] == ["area", "block", "zone"]


def test_no_strata_may_be_none(log):
    given = log.scorio(by=None, success=2).report(*BOARD)
    assert_frame_equal(given, log.scorio(success=2).report(*BOARD))


@pytest.mark.parametrize("kind", SEVERAL)
def test_levels_may_be_of_any_kind(log, kind):
    rewards = log.with_columns(pl.col("category") / 2)
    given = rewards.scorio(levels=kind([0.0, 0.5, 1.0])).avg()
    assert_frame_equal(given, rewards.scorio(levels=[0, 0.5, 1]).avg())


@pytest.mark.parametrize("levels", ["01", True, [False, True], [0, 10**400], [0, "1"], 5], ids=str)
def test_levels_are_numbers(log, levels):
    refused(
        lambda: log.scorio(levels=levels),
        f"levels must be at least two different numbers, the rewards that a trial can get, got "
        f"{repr(levels)[:200]}",
    )


def test_categories_and_models_may_be_scalars_of_numpy(log):
    numbered = log.with_columns(pl.col("model").replace_strict({"a": 0, "b": 1}))
    numbered = numbered.with_columns(pl.when(pl.col("category") < 2).then("category"))
    given, expected = (
        numbered.scorio(success=one(1), missing=one(0), n=one(4)) for one in (np.int64, int)
    )
    assert_frame_equal(given.report(*BOARD), expected.report(*BOARD))
    assert_frame_equal(given.compare(baseline=np.int8(1)), expected.compare(baseline=1))
    outcome = pl.col("category").scorio(missing=np.int64(0), success=np.int64(1)).avg()
    plain = pl.col("category").scorio(missing=0, success=1).avg()
    assert_frame_equal(numbered.select(outcome), numbered.select(plain))
    flags = numbered.with_columns(pl.col("category") == 1)
    kept = flags.scorio(missing=np.False_, success=np.True_).avg()
    assert_frame_equal(kept, flags.scorio(missing=False, success=True).avg())
    assert ps.avg({np.int64(0): 0, np.int64(2): 1}).name == ps.avg({0: 0, 2: 1}).name


def test_words_of_numpy_are_labels(log):
    words = log.with_columns(pl.col("category").cast(pl.String))
    given = words.scorio(success=np.str_("2")).avg()
    assert_frame_equal(given, words.scorio(success="2").avg())
    given = words.scorio(success="2").compare(baseline=np.str_("a"))
    assert_frame_equal(given, words.scorio(success="2").compare(baseline="a"))


# --- what a column cannot be, or cannot hold


@pytest.mark.parametrize(
    ("call", "keyword"),
    [
        (lambda log: log.scorio(success=2**130), "success"),
        (lambda log: log.scorio(success=[0, -(2**64)]), "success"),
        (lambda log: log.scorio(missing=2**64), "missing"),
        (lambda _: pl.col("category").scorio(success=2**130), "success"),
        (lambda _: ps.avg({0: 0, 2**130: 1}), "the categories of w"),
    ],
)
def test_an_int_that_no_column_can_hold_is_refused(log, call, keyword):
    with pytest.raises(
        ValueError,
        match=rf"^{keyword} must be made of ints of at most 64 bits, got -?\d+: write longer codes",
    ):
        call(log)


@pytest.mark.parametrize("name", [2**64, -(2**70)])
def test_a_model_that_no_column_can_hold_is_refused(log, name):
    numbered = log.with_columns(model=pl.lit(0, pl.Int64)).scorio(success=2)
    message = f"baseline: {name} cannot be a model of this log, whose models are Int64"
    refused(lambda: numbered.compare(baseline=name), message)


@pytest.mark.parametrize("baseline", [["a"], {"a"}, np.array(["a"])], ids=repr)
def test_a_baseline_is_a_single_model(log, baseline):
    message = f"baseline: {baseline!r} cannot be a model of this log"
    refused(lambda: log.scorio(success=2).compare(baseline=baseline), message, TypeError)


def test_several_columns_for_one_role_are_told_how_to_become_one(log):
    refused(
        lambda: log.scorio(model=["domain", "model"]),
        "model must be a column name, an expression or None, got ['domain', 'model']. Join "
        'several with pl.concat_str(..., separator="/")',
        TypeError,
    )


UNORDERED = (
    "is List(Int64), which has no order to report it in. Pass an expression for one plain column, "
    'for instance pl.col(...).list.join("/").'
)


@pytest.mark.parametrize(
    ("role", "message"),
    [
        ("category", "is List(Int64); a row is one trial. Where a list holds the trials of a "),
        *((role, UNORDERED) for role in ("question", "by", "model", "trial")),
        ("count", "is List(Int64); multiplicities are integers. Cast it to pl.Int64."),
    ],
)
def test_a_list_column_is_told_how_to_become_one_value(log, role, message):
    lists = log.with_columns(several=pl.lit([0, 1]))
    refused(
        lambda: lists.scorio(**{role: "several"}).bayes([0, 0.5, 1]),
        f"{role} column 'several' {message}",
        TypeError,
    )


def test_a_log_of_lists_reads_once_it_is_exploded():
    lists = pl.DataFrame({"model": "m", "question": [1, 2], "category": [[0, 1], [1, 1]]})
    exploded = lists.explode("category").scorio(trial=None).avg()["estimate"].to_list()
    assert (
        exploded == long([[0, 1], [1, 1]]).scorio(trial=None).avg()["estimate"].to_list() == [0.75]
    )
