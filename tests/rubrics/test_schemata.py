"""The twelve schemata: every branch by hand, every combination by plain branches."""

import pickle
from itertools import product
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_scorio as ps
from polars_scorio.rubrics.reading import Reading, Variables
from tests.rubrics.oracle import AT, LEVELS, category, combinations, signalled

SCHEMATA = ps.rubrics.schemata()
NAMES = [rubric.name for rubric in SCHEMATA]
each = pytest.mark.parametrize("rubric", SCHEMATA, ids=NAMES)
# A boxed, short, sure answer to a usual prompt that the verifier believes; AT are the thresholds.
USUAL: dict[str, Any] = {
    "has_box": 1,
    "is_correct": 1,
    "repeated_pattern": 0,
    "token_ratio": 0.1,
    "prompt_bpt": 1.0,
    "completion_bpt": 1.0,
    "A": 0.9,
    "B": 0.06,
    "C": 0.04,
}
OFF_TASK, BROKEN, WRONG = {"C": 0.5}, {"repeated_pattern": 1}, {"is_correct": 0}
DISBELIEVED, UNBOXED, UNSURE = {"A": 0.3}, {"has_box": 0}, {"completion_bpt": 9.0}
# For each schema what makes a row fall into each category, in the order of the codes.
BRANCHES: dict[str, dict[str, dict[str, Any]]] = {
    "exact_match": {"invalid": BROKEN, "wrong": WRONG, "correct": {}},
    "format_aware": {
        "invalid": OFF_TASK,
        "wrong_unboxed": WRONG | UNBOXED,
        "wrong_boxed": WRONG,
        "correct_unboxed": UNBOXED,
        "correct_boxed": {},
    },
    "conf_calibrated": {
        "invalid": OFF_TASK | WRONG,
        "wrong_low_conf": WRONG | {"completion_bpt": 4.5},
        "wrong_high_conf": WRONG | {"completion_bpt": 3.5},
        "correct_low_conf": {"completion_bpt": 5.5},
        "correct_mid_conf": {"completion_bpt": 2.5},
        "correct_high_conf": {"completion_bpt": 1.5},
    },
    "ood_robustness": {
        "invalid": BROKEN,
        "ood_wrong": WRONG | {"prompt_bpt": 8.0},
        "ind_wrong": WRONG,
        "ood_correct": {"prompt_bpt": 9.0},
        "ind_correct": {},
    },
    "strict_compliance": {"invalid": OFF_TASK, "wrong": UNBOXED, "correct_boxed": {}},
    "conf_wrong_penalty": {
        "invalid": BROKEN,
        "wrong_high_conf": WRONG | {"completion_bpt": 4.0},
        "wrong_low_conf": WRONG | {"completion_bpt": 4.1},
        "correct": UNSURE,
    },
    "verifier_only": {
        "invalid": BROKEN,
        "high_C": DISBELIEVED | {"B": 0.3, "C": 0.4},
        "high_B": DISBELIEVED | {"B": 0.4, "C": 0.3},
        "A_high": WRONG | {"A": 0.5, "B": 0.1, "C": 0.4},
    },
    "format_confidence": {
        "invalid": BROKEN,
        "wrong_unboxed": WRONG | UNBOXED | UNSURE,
        "wrong_boxed_low_conf": WRONG | UNSURE,
        "wrong_boxed_high_conf": WRONG,
        "correct_unboxed_low_conf": UNBOXED | UNSURE,
        "correct_unboxed_high_conf": UNBOXED,
        "correct_boxed_low_conf": UNSURE,
        "correct_boxed_high_conf": {},
    },
    "length_robust": {"invalid": OFF_TASK, "wrong": WRONG, "correct": {"token_ratio": 1.0}},
    "verifier_prob": {
        "invalid": OFF_TASK,
        "wrong_A_high": WRONG,
        "wrong_A_low": WRONG | DISBELIEVED,
        "correct_A_low": DISBELIEVED,
        "correct_A_high": {},
    },
    "efficiency_adjusted": {
        "invalid": BROKEN,
        "wrong_economical": WRONG | {"token_ratio": 0.25},
        "wrong_moderate": WRONG | {"token_ratio": 0.55},
        "wrong_verbose": WRONG | {"token_ratio": 0.65},
        "correct_economical": {"token_ratio": 0.15},
        "correct_moderate": {"token_ratio": 0.25},
        "correct_verbose": {"token_ratio": 0.55},
    },
    "concision_high_conf": {
        "invalid": BROKEN,
        "wrong": WRONG,
        "correct_verbose": {"token_ratio": 0.55},
        "correct_moderate": {"token_ratio": 0.45},
        "correct_economical": UNSURE,
        "correct_economical_high_conf": {},
    },
}


def labelled(rubric: ps.rubrics.Rubric, rows: list[dict[str, Any]]) -> list[str | None]:
    """The category of each row, with the thresholds AT."""
    schema = dict.fromkeys(LEVELS, pl.Float64)
    return pl.DataFrame(rows, schema).select(rubric.expr(thresholds=AT))[rubric.name].to_list()


def test_the_twelve_are_those_of_the_table():
    assert list(BRANCHES) == NAMES
    assert [getattr(ps.rubrics, name)().labels for name in NAMES] == [
        tuple(branches) for branches in BRANCHES.values()
    ]


@each
def test_every_branch_leads_to_its_category(rubric):
    rows = [USUAL | changes for changes in BRANCHES[rubric.name].values()]
    assert labelled(rubric, rows) == list(rubric.labels)


@each
def test_every_combination_of_signals_has_the_category_of_plain_branches(rubric):
    rows = combinations(rubric.signals)
    expected = [category(rubric.name, row, AT) for row in rows]
    assert labelled(rubric, rows) == expected
    assert set(expected) == set(rubric.labels)


@each
def test_every_combination_of_signals_meets_exactly_one_condition(rubric):
    conditions = rubric.cases(lambda name, _: pl.lit(AT[name]))
    rows = pl.DataFrame(combinations(rubric.signals)).with_columns(**conditions)
    met = rows.select(invalid="invalid", others=pl.sum_horizontal(rubric.labels[1:]))
    assert set(met.filter(~pl.col("invalid"))["others"]) == {1}
    assert set(met["others"]) == {1}


@each
def test_a_category_is_null_where_a_missing_signal_decides_it_and_only_there(rubric):
    rows = combinations(rubric.signals, missing=True)
    # What a row could be if its missing signals had any of their values.
    could = {}
    for row in sorted(rows, key=lambda row: sum(value is None for value in row.values())):
        gaps = [name for name, value in row.items() if value is None]
        could[tuple(row.values())] = (
            {category(rubric.name, row, AT)}
            if not gaps
            else set().union(
                *(could[tuple((row | {gaps[0]: value}).values())] for value in LEVELS[gaps[0]])
            )
        )
    possible = [could[tuple(row.values())] for row in rows]
    expected = [next(iter(labels)) if len(labels) == 1 else None for labels in possible]
    assert labelled(rubric, rows) == expected
    assert None in expected


@each
def test_percentiles_of_the_data_are_those_of_each_dataset(rubric):
    log = signalled()
    kept = ps.rubrics.thresholds(log, over="dataset")
    at = {row["dataset"]: row for row in kept.iter_rows(named=True)}
    expected = [category(rubric.name, row, at[row["dataset"]]) for row in log.iter_rows(named=True)]
    for options in ({}, {"thresholds": kept}):
        found = log.select(rubric.expr(over="dataset", **options))[rubric.name]
        assert found.to_list() == expected
        assert found.dtype == pl.Enum(rubric.labels)
    (whole,) = ps.rubrics.thresholds(log).iter_rows(named=True)
    expected = [category(rubric.name, row, whole) for row in log.iter_rows(named=True)]
    assert log.select(rubric.expr())[rubric.name].to_list() == expected
    assert log.select(rubric.expr(thresholds=whole))[rubric.name].to_list() == expected


@each
def test_lazy_equals_eager(rubric):
    log = signalled()
    eager = log.with_columns(rubric.expr(over="dataset"))
    for engine in ("streaming", "in-memory"):
        lazy = log.lazy().with_columns(rubric.expr(over="dataset")).collect(engine=engine)
        assert_frame_equal(lazy, eager, check_row_order=False)


@each
def test_flags_may_be_boolean_or_numbers(rubric):
    log = signalled()
    flags = ["has_box", "is_correct", "repeated_pattern"]
    for dtype in (pl.Int8, pl.Float64):
        assert_frame_equal(
            log.cast(dict.fromkeys(flags, dtype)).select(rubric.expr()), log.select(rubric.expr())
        )


@each
def test_the_example_weighs_every_label_and_success_is_what_is_correct(rubric):
    assert tuple(rubric.example) == rubric.labels
    assert rubric.example["invalid"] <= 0
    assert max(rubric.example.values()) == 1
    expected = [label for label in rubric.labels if "correct" in label]
    assert list(rubric.success) == (expected or ["A_high"])


def test_signals_and_thresholds_are_those_that_the_table_needs():
    needs = {rubric.name: (set(rubric.signals), set(rubric.thresholds)) for rubric in SCHEMATA}
    basic = {"repeated_pattern", "C"}
    assert needs == {
        "exact_match": (basic | {"is_correct"}, set()),
        "format_aware": (basic | {"is_correct", "has_box"}, set()),
        "conf_calibrated": (
            basic | {"is_correct", "completion_bpt"},
            {"wrong_high_conf", "correct_high_conf", "correct_mid_conf"},
        ),
        "ood_robustness": (basic | {"is_correct", "prompt_bpt"}, {"ood"}),
        "strict_compliance": (basic | {"is_correct", "has_box"}, set()),
        "conf_wrong_penalty": (basic | {"is_correct", "completion_bpt"}, {"wrong_high_conf"}),
        "verifier_only": (basic | {"A", "B"}, set()),
        "format_confidence": (basic | {"is_correct", "has_box", "completion_bpt"}, {"high_conf"}),
        "length_robust": (basic | {"is_correct"}, set()),
        "verifier_prob": (basic | {"is_correct", "A"}, set()),
        "efficiency_adjusted": (
            basic | {"is_correct", "token_ratio"},
            {"economical", "moderate", "correct_economical", "correct_moderate"},
        ),
        "concision_high_conf": (
            basic | {"is_correct", "token_ratio", "completion_bpt"},
            {"correct_economical", "correct_moderate", "high_conf"},
        ),
    }


# The variables of table 4, one by one; the schemata test their combinations.


# Bits 1..10 of ten attempts, of which the even ones are correct.
LOG = pl.DataFrame(
    {
        "completion_bpt": [float(bits) for bits in range(1, 11)],
        "is_correct": [0, 1] * 5,
        "has_box": [1, 1, 1, 1, 1, 0, 0, 0, 0, None],
        "repeated_pattern": [1] + [0] * 9,
        "C": [0.1] * 8 + [0.5, None],
        "A": [0.5] * 3 + [0.4] * 7,
        "B": [0.1] * 10,
    }
)
VARIABLES = Variables(Reading(), lambda _, percentile: percentile)


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("invalid", [1, 9]),
        ("correct", [2, 4, 6, 8, 10]),
        ("wrong", [1, 3, 5, 7, 9]),
        ("boxed", [1, 2, 3, 4, 5]),
        ("unboxed", [6, 7, 8, 9]),
        ("high_conf", [1, 2, 3, 4]),  # at most percentile 40: 4.6
        ("low_conf", [5, 6, 7, 8, 9, 10]),
        ("wrong_high_conf", [1, 3, 5]),  # at most percentile 60 of 1, 3, 5, 7, 9: 5.8
        ("wrong_low_conf", [7, 9]),
        ("correct_high_conf", [2, 4]),  # at most percentile 33 of 2, 4, 6, 8, 10: 4.64
        ("correct_mid_conf", [6]),  # at most percentile 66: 7.28
        ("correct_low_conf", [8, 10]),
        ("A_high", [1, 2, 3]),
        ("A_low", [4, 5, 6, 7, 8, 9, 10]),
        ("high_B", [1, 2, 3, 4, 5, 6, 7, 8]),
    ],
)
def test_a_variable_holds_for_these_rows(name, rows):
    held = LOG.select(getattr(VARIABLES, name)).to_series()
    assert [place for place, value in enumerate(held, 1) if value] == rows


# The schemata of the package scorio, whose numbers are compared in tests/logs/test_scorio.py.


RUBRICS = ps.rubrics.scorio_schemata()
SIGNALS = (
    "completion_avg_logprob",
    "logprob_min",
    "prompt_perplexity",
    "prompt_sum_logprob",
    "completion_sum_logprob",
)


@pytest.fixture
def log():
    """Every combination of correct, boxed, and each signal below and above its median."""
    rows = [*product([0, 1], [0, 1], [-2.0, -1.0], [-9.0, -1.0])]
    names = ["is_correct", "has_box", "prompt_sum_logprob", "completion_sum_logprob"]
    frame = pl.DataFrame(rows, schema=names, orient="row")
    others = [pl.col("prompt_sum_logprob").alias(name) for name in SIGNALS[:3]]
    return frame.with_columns(*others, model=pl.lit("m"), question=pl.int_range(pl.len()))


@pytest.mark.parametrize("rubric", RUBRICS, ids=lambda rubric: rubric.name)
def test_every_category_can_be_shown_and_success_is_correct(log, rubric):
    labelled = log.with_columns(rubric.expr())
    assert labelled[rubric.name].null_count() == 0
    assert {*labelled[rubric.name]} == {*rubric.labels}
    correct = labelled.filter(is_correct=1)[rubric.name]
    assert {*correct} == {*rubric.success}


def test_the_names_say_what_was_high(log):
    labelled = log.with_columns(rubric.expr() for rubric in RUBRICS)
    row = labelled.filter(
        is_correct=1, has_box=1, prompt_sum_logprob=-1.0, completion_sum_logprob=-1.0
    ).row(0, named=True)
    assert [row[rubric.name] for rubric in RUBRICS] == [
        "confident_correct",
        "smooth_correct",
        "full_compliance",
        "hard_problem_solved",
        "proportional_io",
    ]
    row = labelled.filter(
        is_correct=0, has_box=0, prompt_sum_logprob=-2.0, completion_sum_logprob=-9.0
    ).row(0, named=True)
    assert [row[rubric.name] for rubric in RUBRICS] == [
        "uncertain_wrong",
        "critical_token_derailed_answer",
        "fully_non_compliant",
        "easy_problem_failed",
        "complex_problem_wasted_effort",
    ]


def test_a_model_that_shows_one_category_is_measured_by_all_of_them():
    rubric = ps.rubrics.confident_and_correct()
    columns = {"model": "m", "question": 1, "is_correct": [1], "completion_avg_logprob": -0.1}
    report = pl.DataFrame(columns).scorio(trial=None).rubric(rubric).bayes(w=rubric.weights())
    # One trial, and one of the prior for each of the four: (0.2 + 0.1 + 0.6 + 1 + 1) / 5,
    # where 0.2, 0.1 and 0.6 are no floats: some 1e-16.
    assert report["mu"].item() == pytest.approx(0.58, rel=1e-12)


def test_thresholds_of_an_earlier_run_hold(log):
    rubric = ps.rubrics.difficulty_adjusted()
    kept = {"prompt_perplexity_median": -5.0}
    labels = log.select(rubric.expr(thresholds=kept))[rubric.name]
    assert {*labels} == {"hard_problem_failed", "hard_problem_solved"}


def test_a_missing_signal_leaves_no_category(log):
    rubric = ps.rubrics.token_surprise()
    assert log.with_columns(logprob_min=None).select(rubric.expr())[rubric.name].null_count() == 16


@pytest.mark.parametrize("rubric", RUBRICS, ids=lambda rubric: rubric.name)
def test_they_can_be_pickled(log, rubric):
    other = pickle.loads(pickle.dumps(rubric))  # noqa: S301 - our own bytes
    assert_frame_equal(log.select(other.expr()), log.select(rubric.expr()))
