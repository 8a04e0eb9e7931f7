"""Trajectories: each number of trials is a report of the first of them."""

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_scorio as ps
from polars_scorio.counting.categories import Classes
from polars_scorio.counting.tally import QUESTIONS, SEQUENCE
from polars_scorio.subjects.of_rewards import FRACTIONS, MEAN_REWARD, RewardSums
from polars_scorio.subjects.question_cells import GROUP, PREFIX
from tests import moments
from tests.made_logs import drawn, long

W = [0.1, 0.3, 0.7]
ROLES = {"by": "domain", "success": 2, "prior": "uniform"}
NUMBERS = ["sigma", "mu", "lo", "hi"]
COLUMNS = ["domain", "n", "rank", "model", *NUMBERS]
CELL = ["domain", "model", "question"]


@pytest.fixture
def log():
    return drawn(6, range(7), most=5)


def first(log: pl.DataFrame, n: int) -> pl.DataFrame:
    """The first n trials of each question."""
    return log.filter(pl.col("trial").rank("ordinal").over(CELL) <= n)


def reports(log: pl.DataFrame, metric: ps.Metric, **options: object) -> pl.DataFrame:
    """A report for each n, of the models that have so many trials."""
    most = log.group_by(CELL).len().group_by("domain", "model").agg(pl.col("len").max())
    parts = [
        first(log, n)
        .scorio(**ROLES)
        .report(metric, **options)
        .join(most.filter(pl.col("len") >= n), on=["domain", "model"], how="semi")
        .with_columns(n=pl.lit(n, pl.UInt32))
        for n in range(1, most["len"].max() + 1)
    ]
    return pl.concat(parts).sort("domain", "n", "model").select("domain", "n", "model", *NUMBERS)


def is_close(rows: pl.DataFrame, expected: pl.DataFrame) -> None:
    """Sums over states have another order: the last digits differ."""
    assert_frame_equal(rows, expected, rel_tol=1e-12, abs_tol=1e-14)


# --- trajectories


@pytest.mark.parametrize(
    "metric",
    [
        ps.bayes(W),
        ps.bayes(),
        ps.avg(W),
        ps.pass_at_k(3),
        ps.maj_at_k(),
        ps.geom_ds_at_k(2),
        ps.max_at_k(2, w=W),
    ],
    ids=lambda metric: metric.name,
)
def test_each_n_is_a_report_of_the_first_n_trials(log, metric):
    rows = log.scorio(**ROLES).trajectory(metric)
    assert rows.columns == COLUMNS
    is_close(rows.drop("rank"), reports(log, metric))


@pytest.mark.parametrize(
    "options",
    [
        {"confidence": 0.5},
        {"prior": "population"},
        {"prior": "population", "target": "population"},
        {"prior": drawn(9, range(7), most=2)},
    ],
    ids=", ".join,
)
def test_the_options_are_those_of_the_report(log, options):
    rows = log.scorio(**ROLES).trajectory(ps.bayes(), **options)
    # Ends of pooled intervals are found by a search, to 1e-9 or so.
    assert_frame_equal(rows.drop("rank"), reports(log, ps.bayes(), **options), rel_tol=1e-9)
    assert not rows.equals(log.scorio(**ROLES).trajectory())


def test_the_last_n_is_the_report(log):
    last = log.scorio(**ROLES).trajectory(ps.bayes()).group_by("domain", "model").last()
    last = last.sort("domain", "model").select("domain", "model", *NUMBERS)
    is_close(last, log.scorio(**ROLES).report(ps.bayes()).select(last.columns))


def test_numbers_by_fractions(log):
    rows = log.scorio(**ROLES).trajectory(ps.bayes(W)).filter(domain="air", n=2)
    part = first(log, 2).filter(domain="air")
    for model, mu, sigma in rows.select("model", "mu", "sigma").iter_rows():
        expected = moments.bayes(moments.tallies(part, 3, model).values(), W)
        # The oracle is exact; floats of few terms are off by far less than the default of 1e-6.
        assert (mu, sigma**2) == pytest.approx([float(each) for each in expected])


def test_the_example_by_hand():
    log = pl.concat([long([[1, 0, 0], [1]], "a"), long([[0, 1], [0, 1]], "b")])
    rows = log.scorio.trajectory(ps.bayes()).select("n", "model", "mu", "rank")
    expected = [
        (1, "a", 2 / 3, 1),
        (1, "b", 1 / 3, 2),
        (2, "a", (1 / 2 + 2 / 3) / 2, 1),
        (2, "b", 1 / 2, 2),
        # b has no third trial: it has no row, and a is ranked alone.
        (3, "a", (2 / 5 + 2 / 3) / 2, 1),
    ]
    assert rows.drop("mu").rows() == [(n, model, rank) for n, model, _, rank in expected]
    # Sums of two terms: rounding, far below the default of 1e-6.
    assert rows["mu"].to_list() == pytest.approx([mu for _, _, mu, _ in expected])


def test_ranks_are_those_of_the_models_of_an_n(even):
    rows = even.scorio(**ROLES).trajectory(ps.avg())
    for part in rows.partition_by("domain", "n"):
        better = [sum(part["mu"] > mu + 1e-12) for mu in part["mu"]]
        assert part["rank"].to_list() == [1 + each for each in better]
    assert rows["rank"].n_unique() == 4
    assert rows.height > rows.unique(["domain", "n", "rank"]).height  # some are tied


@pytest.mark.parametrize("seed", range(3))
def test_the_order_is_that_of_the_ids_and_not_of_the_rows(log, seed):
    expected = log.sort("trial").scorio(**ROLES).trajectory(ps.bayes(W))
    shuffled = log.sample(fraction=1, shuffle=True, seed=seed).lazy()
    for engine in ("streaming", "in-memory"):
        rows = shuffled.scorio(**ROLES).trajectory(ps.bayes(W)).collect(engine=engine)
        assert_frame_equal(rows, expected, check_exact=True)


@pytest.mark.parametrize(
    "trial",
    [
        pytest.param(pl.format("t{}", pl.col("trial") + 10), id="labels in the same order"),
        pytest.param(pl.col("trial") * 7 - 3, id="with gaps"),
        pytest.param(pl.date(2024, 2, 1) + pl.duration(days="trial"), id="dates"),
    ],
)
def test_ids_of_any_kind_have_an_order(log, trial):
    rows = log.with_columns(trial=trial).scorio(**ROLES).trajectory()
    assert_frame_equal(rows, log.scorio(**ROLES).trajectory(), check_exact=True)
    role = log.scorio(**ROLES, trial=trial.alias("id")).trajectory()
    assert_frame_equal(role, rows, check_exact=True)


def test_labels_are_ordered_by_letters():
    log = long([[1, 0, 0]]).with_columns(trial=pl.Series(["t10", "t2", "t1"]))
    # t1, t10, t2: 0, 1, 0
    # Means of up to three outcomes: rounding, far below the default of 1e-6.
    assert log.scorio.trajectory(ps.avg())["mu"].to_list() == pytest.approx([0, 1 / 2, 1 / 3])


def test_what_is_dropped_is_no_trial():
    log = long([[1, None, 0, 0], [None, None, 1, None]])
    rows = log.scorio(missing="drop").trajectory()
    kept = long([[1, 0, 0], [1]]).scorio.trajectory()
    assert_frame_equal(rows, kept, check_exact=True)


def test_a_missing_outcome_may_be_a_category():
    log = long([[1, None, 0], [None, 1, 1]])
    rows = log.scorio(missing=0).trajectory()
    kept = long([[1, 0, 0], [0, 1, 1]]).scorio.trajectory()
    assert_frame_equal(rows, kept, check_exact=True)


def test_without_validation_the_ids_are_read_all_the_same(log):
    rows = log.scorio(**ROLES, validate=False).trajectory()
    assert_frame_equal(rows, log.scorio(**ROLES).trajectory(), check_exact=True)
    twice = pl.concat([log, log.head(1)])
    with pytest.raises(ValueError, match=r"^1 question has the same trial twice"):
        twice.scorio(**ROLES).trajectory()
    assert twice.scorio(**ROLES, validate=False).trajectory().height > 0


def test_one_unnamed_model_is_always_the_first(log):
    some = log.filter(model="b")
    rows = some.scorio(model=None, **ROLES).trajectory()
    assert_frame_equal(rows, some.scorio(**ROLES).trajectory().drop("model"), check_exact=True)
    assert rows["rank"].unique().to_list() == [1]


def test_strata_have_trajectories_of_their_own(log):
    some = log.filter((pl.col("domain") == "web") | (pl.col("trial") < 2))
    parts = [
        some.filter(domain=domain)
        .scorio(success=2, prior="uniform")
        .trajectory()
        .with_columns(domain=pl.lit(domain))
        for domain in ("air", "web")
    ]
    rows = some.scorio(**ROLES).trajectory()
    assert_frame_equal(rows, pl.concat(parts).select(COLUMNS), check_exact=True)
    assert rows.filter(domain="air")["n"].max() == 2


@pytest.mark.parametrize("bounds", [None, (0, 2)])
def test_average_rewards_are_followed_as_reports_are(log, bounds):
    roles = {"by": "domain", "bounds": bounds}
    rewards = log.with_columns(pl.col("category") * 0.3 + 0.1)
    rows = rewards.scorio(**roles).trajectory().drop("rank")
    most = rewards.group_by(CELL).len().group_by("domain", "model").agg(pl.col("len").max())
    for n in range(1, 6):
        here = most.filter(pl.col("len") >= n)
        # A report of all models: the observed range of a stratum has those that stopped before.
        kept = rewards.join(here, on=["domain", "model"], how="semi")
        expected = first(kept, n).scorio(**roles).report(ps.avg()).rename({"estimate": "mu"})
        is_close(rows.filter(n=n).drop("n"), expected.select("domain", "model", *NUMBERS))


def test_floats_that_are_zero_or_one_are_followed_as_outcomes():
    log = pl.concat([long([[0, 1, 1], [1, 1, 0]], "a"), long([[0, 0, 1], [1, 0, 0]], "b")])
    floats = log.with_columns(pl.col("category").cast(pl.Float64))
    assert_frame_equal(floats.scorio.trajectory(), log.scorio.trajectory())


AVERAGES = RewardSums((0.0, 1.0), None, observed=False, averages=True, lists=False)


def test_a_question_with_fewer_trials_stays_at_all_of_them():
    questions = [[{SEQUENCE: [0.0, 1.0, 0.5]}, {SEQUENCE: [0.25]}], [{SEQUENCE: [1.0]}]]
    groups = pl.DataFrame({QUESTIONS: questions})
    rows = AVERAGES.prefixes(groups, Classes(None, (1,), (AVERAGES,)))
    assert rows.select(PREFIX, GROUP).rows() == [(1, 0), (1, 1), (2, 0), (3, 0)]
    fields = rows.select(
        pl.col(QUESTIONS).list.eval(pl.element().struct.field(name)).alias(name)
        for name in (MEAN_REWARD, FRACTIONS, ":c0", ":c1")
    )
    assert fields[MEAN_REWARD].to_list() == [[0, 0.25], [1], [0.5, 0.25], [0.5, 0.25]]
    # Successes are counted where all rewards are 0 or 1.
    assert fields[FRACTIONS].to_list() == [[0, 1], [0], [0, 1], [1, 1]]
    assert fields[":c1"].to_list() == [[0, 0], [1], [1, 0], [0, 0]]
    assert fields[":c0"].to_list() == [[1, 1], [0], [1, 1], [3, 1]]


def test_questions_without_trials_are_left_out():
    groups = pl.DataFrame({QUESTIONS: [[{SEQUENCE: [0.5]}, {SEQUENCE: []}]]})
    rows = AVERAGES.prefixes(groups, Classes(None, (1,), (AVERAGES,)))
    assert rows[QUESTIONS].list.len().to_list() == [1]
