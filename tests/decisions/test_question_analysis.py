import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal, assert_series_equal

import polars_scorio as ps
from polars_scorio.display.sentences import reversed_sentence
from tests.decisions.counted import counted
from tests.documents import study_numbers
from tests.made_logs import long, unreadable

VECTORS = study_numbers("rewards")["items"]


def planted(seed, faults=2, questions=300, models=25, trials=8):
    """A log of models from weak to strong; strong ones fail the first questions."""
    rng = np.random.default_rng(seed)
    ability, difficulty = rng.normal(0, 1, (models, 1)), rng.normal(0, 1.5, questions)
    slope = np.where(np.arange(questions) < faults, -1.2, rng.uniform(0.3, 2, questions))
    rate = 1 / (1 + np.exp(-slope * (ability - difficulty * (np.arange(questions) >= faults))))
    return counted(rng.binomial(trials, rate)[None], trials)


@pytest.fixture(scope="module")
def faulty():
    return planted(1)


def test_numbers_are_those_of_the_study():
    c, n, columns = np.array(VECTORS["c"]), VECTORS["n"], VECTORS["columns"]
    rows = counted(c[None], n).questions().sort("question")
    names = [name for name in columns if name not in {"never", "always", "discrimination"}]
    ours = {"p_reversed": "pvalue", "q_reversed": "qvalue", "rate_min": "rate_lo"}
    ours["rate_max"] = "rate_hi"
    for name in [*names, "discrimination"]:
        found = rows[ours.get(name, name)].cast(pl.Float64)
        expected = pl.Series(found.name, columns[name], dtype=pl.Float64, strict=False)
        # Roots of differences that are zero but for rounding are up to 1e-8.
        assert_series_equal(found, expected, abs_tol=1e-8)
    for status in ("never", "always"):
        assert (rows["status"] == status).fill_null(value=False).to_list() == columns[status]


def test_a_row_says_how_often_a_question_is_solved_and_what_the_trials_allow():
    rows = counted(np.array([[[0, 4, 1, 2], [0, 4, 4, 0]]]), 4).questions().sort("question")
    assert {*rows.columns} == {
        "stratum", "question", "models", "trials", "rate", "solved_by", "always_by", "status",
        "rate_lo", "rate_hi", "spread", "rest_correlation", "discrimination", "pvalue",
        "qvalue", "reversed", "removable",
    }  # fmt: skip
    shown = rows.select("trials", "rate", "solved_by", "always_by", "status").rows()
    assert shown == [
        (8, 0, 0, 0, "never"),
        (8, 1, 2, 2, "always"),
        (8, 0.625, 2, 1, None),
        (8, 0.25, 1, 0, None),
    ]
    unseen = 1 - 0.025 ** (1 / 8)
    assert rows["rate_hi"].to_list() == [pytest.approx(unseen), None, None, None]
    assert rows["rate_lo"].to_list() == [None, pytest.approx(1 - unseen), None, None]


def test_two_planted_reversed_questions_are_found(faulty):
    rows = faulty.questions()
    assert rows.filter("reversed")["question"].to_list() == [0, 1]
    assert rows["question"].head(2).sort().to_list() == [0, 1]
    assert rows["reversed"].equals(rows["qvalue"] <= 0.1, check_names=False)


def test_clean_logs_accuse_nobody_beyond_the_stated_rate():
    # Where no question is reversed, some one is called so in at most a tenth of the logs.
    accused = sum(planted(seed, faults=0).questions()["reversed"].any() for seed in range(20))
    assert accused <= 2


def test_a_stricter_rate_calls_fewer_questions_reversed(faulty):
    named = [faulty.questions(fdr=fdr)["reversed"].sum() for fdr in (1e-30, 0.1, 0.9)]
    assert named == sorted(named)
    assert named[0] == 0


def test_few_models_call_nothing_reversed_and_say_null():
    rows = planted(2, questions=20, models=3).questions()
    assert rows["rest_correlation"].null_count() < 20
    assert rows["reversed"].null_count() == rows["qvalue"].null_count() == 20


@pytest.mark.parametrize("model", ["model", None])
def test_one_model_has_rates_alone(model):
    log = long([[0, 0], [0, 1], [1, 1]]).scorio(model=model)
    rows = log.questions()
    assert rows["question"].to_list() == [0, 1, 2]
    assert rows["rate"].to_list() == [0, 0.5, 1]
    assert rows["models"].unique().to_list() == [1]
    assert rows.select("spread", "rest_correlation", "pvalue").null_count().row(0) == (3, 3, 3)


def test_one_question_has_no_others_to_be_compared_with():
    rows = counted(np.array([[[0], [1], [3], [4]]]), 4).questions()
    assert rows["spread"].item() > 0
    assert rows.select("rest_correlation", "qvalue", "reversed").row(0) == (None, None, None)


def test_noise_is_unknown_with_single_trials():
    rows = planted(4, questions=30, models=8, trials=1).questions()
    assert rows["spread"].null_count() == rows["discrimination"].null_count() == 30
    assert rows["qvalue"].null_count() == 0


@pytest.mark.parametrize(("models", "known"), [(2, False), (3, False), (4, True)])
def test_discrimination_is_shown_from_four_models_on(models, known):
    rows = planted(1, models=models, questions=60).questions()
    assert (rows["discrimination"].null_count() < 60) == known


@pytest.mark.parametrize(("trials", "known"), [(3, False), (4, True)])
def test_discrimination_is_shown_from_four_trials_on(trials, known):
    rows = planted(5, questions=60, models=25, trials=trials).questions()
    assert (rows["discrimination"].null_count() < 60) == known
    assert rows["spread"].null_count() == 0


def test_each_stratum_is_a_family_of_its_own(faulty):
    other = planted(6, faults=0, questions=40, models=6)
    both = pl.concat([faulty.frame, other.frame.with_columns(stratum=1)], how="vertical_relaxed")
    rows = both.scorio(by="stratum", count="count").questions()
    alone = faulty.questions()
    assert_frame_equal(rows.filter(stratum=0), alone, check_dtypes=False)


def test_the_order_of_rows_changes_no_bit(faulty):
    shuffled = faulty.frame.sample(fraction=1, shuffle=True, seed=1)
    again = shuffled.scorio(by="stratum", count="count").questions()
    assert again.equals(faulty.questions())


def test_trials_have_the_rows_of_their_counts():
    trials = pl.concat(long([[0, 1, 1], [1, 1, 0], [int(m > 1), 0, 0]], f"m{m}") for m in range(4))
    counts = trials.scorio.counts().scorio(count="count")
    assert_frame_equal(trials.scorio.questions(), counts.questions())


FAMILIES = pl.col("model") * 5 // 25  # five versions of each of five models


def families_of(log, family=FAMILIES):
    return log.frame.scorio(by="stratum", count="count", family=family.alias("base"))


def test_families_of_one_model_have_the_numbers_of_models(faulty):
    rows = families_of(faulty, pl.format("model {}", "model")).questions()
    assert rows["families"].unique().to_list() == [25]
    assert rows.drop("families").equals(faulty.questions())


def test_a_family_counts_as_the_mean_of_its_models(faulty):
    # A log with the means as rewards: eight trials of five models are forty of one.
    rows = families_of(faulty).questions()
    pooled = faulty.frame.with_columns(FAMILIES.alias("model"))
    keys = ["stratum", "model", "question", "category"]
    one = pooled.group_by(keys).agg(pl.col("count").sum()).scorio(by="stratum", count="count")
    names = ["question", "rest_correlation", "pvalue", "qvalue"]
    assert rows.select("models", "families").unique().rows() == [(25, 5)]
    assert_frame_equal(rows.select(names), one.questions().select(names), check_row_order=False)


def test_three_families_call_nothing_reversed_and_say_why(faulty):
    rows = families_of(faulty, pl.col("model") % 3).questions()
    assert rows["qvalue"].null_count() == rows.height
    said = reversed_sentence(rows, "question", 0.1)
    assert said.endswith("cannot be tested with fewer than 4 families or 2 questions.")


def test_versions_of_few_models_accuse_nobody_by_families():
    # Four models of which six versions each have the same outcomes: 24 models that agree.
    rng = np.random.default_rng(4)
    c = np.repeat(rng.binomial(4, rng.random((4, 300))), 6, axis=0)
    log, family = counted(c[None], 4), pl.col("model") // 6
    assert log.questions()["reversed"].any()
    assert not families_of(log, family).questions()["reversed"].any()


def test_clusters_of_questions_have_families_of_models_too():
    log = planted(3, faults=0, questions=40, models=8).frame
    roles = {"by": "stratum", "count": "count", "cluster": (pl.col("question") // 2).alias("pair")}
    rows = log.scorio(**roles, family=(pl.col("model") // 2).alias("base")).questions(per="cluster")
    assert rows.select("questions", "models", "families").unique().rows() == [(2, 8, 4)]


@pytest.mark.parametrize(
    ("base", "said"),
    [
        (pl.when(pl.col("model") != 2).then(1), "stratum=0: 1 model has no family or several in "),
        (pl.col("question") % 2, "stratum=0: 25 models have no family or several in "),
    ],
)
def test_a_model_without_one_family_is_an_error(faulty, base, said):
    log = families_of(faulty, base)
    with pytest.raises(ValueError, match=f"{said}'base', the first is [02]: a model has the same"):
        log.questions()


def test_a_page_knows_families(tmp_path):
    log = families_of(planted(2, questions=30, trials=2, models=9), pl.col("model") % 3)
    page = log.write_html(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "fewer than 4 families or 2 questions" in page


def test_a_lazy_log_is_read_when_it_is_collected(faulty):
    schema = faulty.frame.schema
    plan = unreadable(schema).scorio(by="stratum", count="count").questions()
    lazy = faulty.frame.lazy().scorio(by="stratum", count="count").questions()
    assert isinstance(plan, pl.LazyFrame)
    assert plan.collect_schema() == faulty.questions().schema
    assert_frame_equal(lazy.collect(), faulty.questions())


def test_an_empty_log_has_no_questions(faulty):
    rows = faulty.frame.clear().scorio(by="stratum", count="count").questions()
    assert rows.is_empty()
    assert rows.schema == faulty.questions().schema


def test_models_with_different_questions_are_refused_or_lose_them():
    log = pl.concat([long([[0], [1], [1]], "a"), long([[0], [1]], "b")]).scorio
    with pytest.raises(ValueError, match=r'1 model lacks .*model=\'b\'.*unmatched="drop"'):
        log.questions()
    assert log.questions(unmatched="drop")["question"].to_list() == [0, 1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fdr": 0}, "fdr must be a number between 0 and 1, without the ends, got 0"),
        ({"per": "model"}, 'per must be "question" or "cluster"'),
        ({"per": "cluster"}, 'per="cluster" needs clusters: name their column with cluster='),
        ({"unmatched": "any"}, 'unmatched must be "error" or "drop"'),
        ({"confidence": 1}, "confidence must be a number between 0 and 1"),
    ],
)
def test_wrong_options_are_refused_at_the_call(options, message):
    with pytest.raises(ValueError, match=message):
        long([[0, 1]]).lazy().scorio.questions(**options)


def test_labels_without_success_are_refused():
    with pytest.raises(ValueError, match="success"):
        long([["right", "wrong"]]).scorio.questions()


def test_the_accessor_chooses_the_confidence():
    log = long([[0, 0]])
    wide = log.scorio(confidence=0.99).questions()["rate_hi"].item()
    assert wide == pytest.approx(1 - 0.005 ** (1 / 2))
    assert log.scorio.questions(confidence=0.99)["rate_hi"].item() == wide


def test_a_column_of_the_result_cannot_be_a_stratum():
    log = long([[0, 1]]).with_columns(rate=1)
    with pytest.raises(ValueError, match="rate"):
        log.scorio(by="rate").questions()


def test_two_models_have_a_row_for_each_question():
    totals = {"model": ["ada", "bob"] * 2, "question": ["x", "x", "y", "y"]}
    log = ps.from_successes(pl.DataFrame({**totals, "n": 2, "c": [0, 2, 1, 1]}))
    rows = log.scorio(count="count").questions().sort("question")
    assert rows.select("question", "rate", "solved_by", "always_by").rows() == [
        ("x", 0.5, 1, 1),
        ("y", 0.5, 2, 0),
    ]
