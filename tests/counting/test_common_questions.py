"""Models of a stratum are compared on the same questions: an error, or only the common ones."""

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_scorio as ps
from tests.made_logs import drawn

ROLES = {"by": "domain", "success": 2}
# What looks at several models at once.
ASKS = {
    "compare": lambda accessor, **options: accessor.compare(ps.pass_at_k([1, 2]), **options),
    "population": lambda accessor, **options: accessor.compare(target="population", **options),
    "rank": lambda accessor, **options: accessor.rank(**options),
    "trials_needed": lambda accessor, **options: accessor.trials_needed(**options),
    "trajectory": lambda accessor, **options: accessor.trajectory(**options),
    "convergence": lambda accessor, **options: accessor.convergence(
        replicates=3, scheme="question", **options
    ),
}  # fmt: skip
ASKED = pytest.mark.parametrize("ask", ASKS.values(), ids=ASKS)


@pytest.fixture
def log():
    return drawn(6, range(12), most=4)


def without(log: pl.DataFrame, model: str, questions: list[int], domain: str = "web"):
    lost = pl.all_horizontal(
        pl.col("model") == model, pl.col("domain") == domain, pl.col("question").is_in(questions)
    )
    return log.filter(~lost)


@ASKED
def test_missing_questions_are_counted_and_named(log, ask):
    with pytest.raises(ValueError) as error:  # noqa: PT011 - the whole text is below
        ask(without(log, "b", [7, 3, 11]).lazy().scorio(**ROLES)).collect()
    assert str(error.value) == (
        "1 model lacks questions that others have, the first at domain='web', model='b': 3 missing "
        '(3, 7, 11). Means over different questions cannot be compared: pass unmatched="drop" '
        "to keep those that all models have, or filter the log. "
        'describe(per="question") lists them. Samples of one population are compared with '
        'target="population" and unmatched="unpaired", by compare, rank and gate.'
    )


@pytest.mark.parametrize(
    ("questions", "named"),
    [
        ([4], r"1 missing \(4\)\."),
        (range(5), r"5 missing \(0, 1, 2, 3, 4\)\."),
        (range(2, 8), r"6 missing \(2, 3, 4, 5, 6, \.\.\.\)\."),
    ],
)
def test_at_most_five_questions_are_named(log, questions, named):
    with pytest.raises(ValueError, match=named):
        without(log, "a", list(questions)).scorio(**ROLES).compare()


@pytest.mark.parametrize("seed", range(3))
def test_the_first_model_of_all_strata_is_named(log, seed):
    some = without(without(without(log, "c", [1]), "b", [2], "air"), "c", [9], "air")
    shuffled = some.sample(fraction=1, shuffle=True, seed=seed)
    message = r"^3 models lack questions .* at domain='air', model='b': 1 missing \(2\)\."
    with pytest.raises(ValueError, match=message):
        shuffled.scorio(**ROLES).compare()
    message = r"^1 model lacks questions .*, the first at model='c': 1 missing \(1\)\."
    with pytest.raises(ValueError, match=message):
        shuffled.filter(domain="web").scorio(success=2).compare()


def test_labels_of_questions_are_shown_as_such(log):
    named = without(log, "c", [2]).with_columns(pl.format("q{}", "question").alias("question"))
    with pytest.raises(ValueError, match=r"model='c': 1 missing \('q2'\)\."):
        named.scorio(**ROLES).compare()


def test_two_models_that_lack_different_questions_are_both_counted(log):
    some = without(without(log, "a", [0]), "b", [1])
    with pytest.raises(ValueError, match=r"^2 models lack .* model='a': 1 missing \(0\)\."):
        some.scorio(**ROLES).rank()


@pytest.mark.every(2)
@ASKED
def test_only_common_questions_count_if_one_says_so(log, ask):
    some = without(without(log, "a", [0, 1]), "b", [1, 5])
    common = log.filter((pl.col("domain") == "air") | ~pl.col("question").is_in([0, 1, 5]))
    rows = ask(some.scorio(**ROLES), unmatched="drop")
    assert_frame_equal(rows, ask(common.scorio(**ROLES)), check_exact=True)
    assert not rows.equals(ask(log.scorio(**ROLES)))


@pytest.mark.every(2)
@ASKED
def test_where_all_questions_are_common_nothing_changes(log, ask):
    rows = ask(log.scorio(**ROLES), unmatched="drop")
    assert_frame_equal(rows, ask(log.scorio(**ROLES), unmatched="error"), check_exact=True)
    assert_frame_equal(rows, ask(log.scorio(**ROLES)), check_exact=True)


@pytest.mark.filterwarnings("ignore::polars_scorio.PriorWarning")
@ASKED
def test_strata_may_have_different_questions(log, ask):
    apart = pl.when(domain="air").then(pl.col("question") < 5).otherwise(pl.col("question") > 3)
    ask(log.filter(apart).scorio(**ROLES))
    message = "domain='air', model='a'"
    with pytest.raises(ValueError, match=message):
        ask(without(log.filter(apart), "a", [0], "air").scorio(**ROLES))


@pytest.mark.every(3)
@ASKED
def test_strata_may_have_different_models(log, ask):
    some = log.filter((pl.col("domain") == "air") | (pl.col("model") != "c"))
    rows = ask(some.scorio(**ROLES), unmatched="drop")
    assert_frame_equal(rows, ask(some.scorio(**ROLES)), check_exact=True)
    assert rows["domain"].unique().sort().to_list() == ["air", "web"]


@ASKED
def test_nothing_in_common_is_an_error(log, ask):
    apart = pl.when(model="a").then(pl.col("question") < 5).otherwise(pl.col("question") >= 5)
    web = log.filter((pl.col("domain") == "air") | apart)
    message = r"^the models of domain='web' have no question in common\. Filter out those that "
    with pytest.raises(ValueError, match=message):
        ask(web.scorio(**ROLES), unmatched="drop")
    with pytest.raises(ValueError, match=r"^the models have no question in common\."):
        ask(web.filter(domain="web").scorio(success=2), unmatched="drop")


@ASKED
@pytest.mark.parametrize("questions", ["any", None, "all"])
def test_an_unknown_choice_is_refused_at_the_call(log, ask, questions):
    adjusts = ask in (ASKS["compare"], ASKS["population"], ASKS["rank"])
    words = '"error" or "drop" or "unpaired"' if adjusts else '"error" or "drop"'
    message = rf"^unmatched must be {words}, got {questions!r}$"
    with pytest.raises(TypeError if questions is None else ValueError, match=message):
        ask(log.lazy().scorio(**ROLES), unmatched=questions)


def test_questions_of_prior_trials_do_not_count(log):
    prior = log.filter(pl.col("trial") < 1)
    some = log.filter(pl.col("question") < 6).scorio(**ROLES)
    rows = some.compare(prior=prior)
    expected = some.compare(prior=prior.filter(pl.col("question") < 6))
    assert_frame_equal(rows, expected, check_exact=True)
    extra = without(prior, "b", [0, 1])  # a model without prior trials of some questions
    assert some.compare(prior=extra).height == 6


def test_bad_rows_of_questions_that_do_not_count_are_bad_rows(log):
    place = pl.all_horizontal(
        pl.col("model") == "c", pl.col("domain") == "web", pl.col("question") == 2
    )
    lost = log.with_columns(category=pl.when(~place).then("category"))
    with pytest.raises(ValueError, match=r"^1 question has a missing category"):
        without(lost, "a", [2]).scorio(**ROLES).compare(unmatched="drop")


def test_what_takes_models_one_by_one_takes_any_questions(log):
    some = without(log, "a", [0, 1, 2]).scorio(**ROLES)
    assert some.trials_needed(half_width=0.1).height == 6
    assert some.next_trials(10).height == 6 * 12 - 3
    one = some.report(ps.bayes()).filter(domain="web", model="a")
    assert one["questions"].item() == 9
