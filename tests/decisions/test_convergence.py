"""What the first n trials said, against reports of shorter logs; when the ranking settles."""

import sys

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy import stats

import polars_scorio as ps
from polars_scorio.kernels.convergence import convergence
from polars_scorio.kernels.states import Outcomes
from tests import moments
from tests.made_logs import drawn, long, unreadable

W = [0.1, 0.3, 0.7]
ROLES = {"by": "domain", "success": 2}
NUMBERS = ["mu", "sigma", "lo", "hi"]
COLUMNS = ["domain", "n", "model", *NUMBERS, "rank"]
CELL = ["domain", "model", "question"]
SETTLED = ["domain", "n", "share", "cumulative", "tau"]


@pytest.fixture
def log():
    return drawn(6, range(7), most=5)


@pytest.fixture
def even():
    """Five trials of each of six questions, four models in two strata."""
    random = np.random.default_rng(8)
    logs = [
        long(random.binomial(2, random.random((6, 1)), (6, 5)).tolist(), model).with_columns(
            domain=pl.lit(domain)
        )
        for domain in ("web", "air")
        for model in "cabd"
    ]
    return pl.concat(logs).sample(fraction=1, shuffle=True, seed=1)


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
    return pl.concat(parts).sort("domain", "n", "model").select(COLUMNS[:-1])


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
        {"inference": "pooled"},
        {"inference": "pooled", "target": "population"},
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
    last = log.scorio(**ROLES).trajectory().group_by("domain", "model").last()
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
    rows = log.scorio.trajectory().select("n", "model", "mu", "rank")
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
        some.filter(domain=domain).scorio(success=2).trajectory().with_columns(
            domain=pl.lit(domain)
        )
        for domain in ("air", "web")
    ]  # fmt: skip
    rows = some.scorio(**ROLES).trajectory()
    assert_frame_equal(rows, pl.concat(parts).select(COLUMNS), check_exact=True)
    assert rows.filter(domain="air")["n"].max() == 2


# --- convergence


def settled(ranks: np.ndarray) -> tuple[int | None, list[float | None]]:
    """From ranks (n, models): the n from which on they are the last, and each tau-b."""
    equal = [np.array_equal(row, ranks[-1]) for row in ranks]
    n = next(i for i in range(len(ranks)) if all(equal[i:]))
    tau = [stats.kendalltau(row, ranks[-1]).statistic for row in ranks]
    return n + 1, [None if np.isnan(each) else each for each in tau]


@pytest.mark.parametrize("metric", [ps.bayes(), ps.avg(), ps.pass_at_k(2)])
def test_the_log_itself_settles_as_its_trajectory_does(even, metric):
    rows = even.scorio(**ROLES).convergence(metric, replicates=0)
    steps = even.scorio(**ROLES).trajectory(metric)
    assert rows.columns == SETTLED
    for domain in ("air", "web"):
        ranks = steps.filter(domain=domain)["rank"].to_numpy().reshape(5, 4)
        n, tau = settled(ranks)
        part = rows.filter(domain=domain)
        assert part["n"].to_list() == [1, 2, 3, 4, 5, None]
        assert part["share"].to_list() == [float(i == n) for i in range(1, 6)] + [0]
        assert part["cumulative"].to_list() == [float(i >= n) for i in range(1, 6)] + [None]
        # SciPy's tau-b takes other roots: rounding, far below the default of 1e-6.
        assert part["tau"].to_list() == pytest.approx([*tau, None])


def test_the_example_of_convergence_by_hand():
    log = pl.concat([long([[0, 1, 1, 1]], "ada"), long([[1, 0, 0, 0]], "bob")])
    rows = log.scorio.convergence(replicates=0)
    assert rows.rows() == [
        (1, 0.0, 0.0, -1.0),
        (2, 0.0, 0.0, None),  # tied
        (3, 1.0, 1.0, 1.0),
        (4, 0.0, 1.0, 1.0),
        (None, 0.0, None, None),
    ]


def plain(log: pl.DataFrame, prior: dict[int, list[int]] | None = None) -> Outcomes:
    """The outcomes of a log, question after question, from its sorted rows."""
    ordered = log.sort("model", "question", "trial")
    sizes = ordered.group_by("model", "question", maintain_order=True).len()
    models = sizes["model"].rank("dense").to_numpy().astype(np.int64) - 1
    return Outcomes(
        (ordered["category"] == 2).to_numpy().astype(np.int64),
        np.cumsum([0, *sizes["len"]]),
        models,
        int(models.max()) + 1,
        np.array([(prior or {}).get(q, [0, 0]) for q in sizes["question"]]),
    )


def mean_rate(states):
    """Bayes@N of success."""
    c = states.counts + states.prior
    return states.mean((c[:, 1] + 1) / (c.sum(axis=1) + 2))


@pytest.mark.parametrize("scheme", ["trial", "question"])
@pytest.mark.parametrize("seed", [0, 7])
def test_replicates_are_those_of_the_kernel(even, scheme, seed):
    options = {"replicates": 40, "scheme": scheme, "seed": seed}
    rows = even.scorio(**ROLES).convergence(**options)
    for domain in ("air", "web"):
        expected = convergence(
            plain(even.filter(domain=domain)),
            mean_rate,
            replicates=40,
            scheme=scheme,
            rng=np.random.default_rng(seed),
        )
        part = rows.filter(domain=domain)
        assert part["share"].to_list() == [*expected.share.tolist(), expected.never]
        assert part["cumulative"].to_list()[:-1] == np.cumsum(expected.share).tolist()
        # Each tau is the same; their mean over 40 replicates may be rounded otherwise.
        np.testing.assert_allclose(part["tau"].to_numpy()[:-1], expected.tau, rtol=1e-12)
        # Six shares in 40ths are rounded: far below the default of 1e-6.
        assert part["share"].sum() == pytest.approx(1)
        assert 0 < expected.never < 1


def test_the_defaults_are_a_thousand_replicates_of_trials(even):
    accessor = even.scorio(**ROLES)
    same = accessor.convergence(ps.bayes(), replicates=1_000, scheme="trial", seed=0)
    assert_frame_equal(accessor.convergence(), same, check_exact=True)


def test_a_seed_gives_the_same_replicates_and_another_others(even):
    accessor = even.scorio(**ROLES)
    one = accessor.convergence(replicates=50, seed=3)
    shuffled = even.sample(fraction=1, shuffle=True, seed=9).lazy().scorio(**ROLES)
    assert_frame_equal(shuffled.convergence(replicates=50, seed=3).collect(), one, check_exact=True)
    assert not accessor.convergence(replicates=50, seed=4).equals(one)
    assert not accessor.convergence(replicates=50, seed=3, scheme="question").equals(one)


def test_strata_settle_on_their_own(even):
    options = {"replicates": 30, "seed": 5}
    some = even.filter((pl.col("domain") == "web") | (pl.col("trial") < 3))
    parts = [
        some.filter(domain=domain)
        .scorio(success=2)
        .convergence(**options)
        .with_columns(domain=pl.lit(domain))
        for domain in ("air", "web")
    ]
    rows = some.scorio(**ROLES).convergence(**options)
    assert_frame_equal(rows, pl.concat(parts).select(SETTLED), check_exact=True)
    assert rows.height == 4 + 6


def test_prior_trials_count_in_every_replicate(even):
    part = even.filter(domain="air")
    prior = long([[0, 0, 2], [2] * 4]).drop("model")
    rows = part.scorio(success=2).convergence(prior=prior, replicates=20)
    expected = convergence(
        plain(part, {0: [2, 1], 1: [0, 4]}),
        mean_rate,
        replicates=20,
        scheme="trial",
        rng=np.random.default_rng(0),
    )
    assert rows["share"].to_list() == [*expected.share.tolist(), expected.never]
    assert not rows.equals(part.scorio(success=2).convergence(replicates=20))


def test_partial_pooling_is_fitted_to_each_n(even):
    part = even.filter(domain="air").scorio(success=2)
    rows = part.convergence(replicates=0, inference="pooled")
    ranks = part.trajectory(inference="pooled")["rank"].to_numpy().reshape(5, 4)
    n, tau = settled(ranks)
    assert rows.filter(pl.col("share") == 1)["n"].item() == n
    # SciPy's tau-b takes other roots: rounding, far below the default of 1e-6.
    assert rows["tau"].to_list()[:-1] == pytest.approx(tau)


def test_one_model_settles_at_once(even):
    rows = even.filter(model="b", domain="air").scorio(success=2).convergence(replicates=10)
    assert rows["share"].to_list() == [1, 0, 0, 0, 0, 0]
    assert rows["tau"].null_count() == 6


def test_questions_with_fewer_trials_stay_at_all_of_them(log):
    accessor = log.scorio(**ROLES)
    for replicates in (0, 5):
        rows = accessor.convergence(ps.avg(), replicates=replicates, scheme="question")
        expected = convergence(
            plain(log.filter(domain="air")),
            lambda states: states.mean(states.counts[:, 1] / states.counts.sum(axis=1)),
            replicates=replicates,
            scheme="question",
            rng=np.random.default_rng(0),
        )
        part = rows.filter(domain="air")
        assert part["share"].to_list() == [*expected.share.tolist(), expected.never]
    with pytest.raises(ValueError, match=r"^domain='air': scheme=.* got 1 to 5: use "):
        accessor.convergence(replicates=5)
    assert accessor.convergence(replicates=0).equals(
        accessor.convergence(replicates=0, scheme="question")
    )


def test_a_bar_shows_the_progress(even, capsys):
    part = even.filter(domain="air").scorio(success=2)
    rows = part.convergence(replicates=30, progress=True)
    shown = capsys.readouterr()
    assert "30/30" in shown.err
    assert "replicates" in shown.err
    assert shown.out == ""
    assert_frame_equal(rows, part.convergence(replicates=30), check_exact=True)
    assert capsys.readouterr() == ("", "")


def test_a_bar_needs_its_package(even, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    accessor = even.scorio(**ROLES)
    message = (
        r'^progress=True needs tqdm: pip install "polars-scorio\[progress\]", or leave it out$'
    )
    with pytest.raises(ImportError, match=message):
        accessor.convergence(progress=True)
    assert accessor.convergence(replicates=3).height == 12


# --- both


@pytest.mark.parametrize("method", ["trajectory", "convergence"])
def test_no_trials_give_the_columns_and_no_rows(log, method):
    types = dict.fromkeys(["share", "cumulative", "tau"], pl.Float64)
    if method == "trajectory":
        types = {"model": pl.String, **dict.fromkeys(NUMBERS, pl.Float64), "rank": pl.UInt32}
    expected = {"domain": pl.String, "n": pl.UInt32, **types}
    options = {} if method == "trajectory" else {"replicates": 2, "scheme": "question"}
    for frame in (log, log.clear()):
        plan = getattr(frame.lazy().scorio(**ROLES), method)(**options)
        assert list(plan.collect_schema().items()) == list(expected.items())
        assert plan.collect().schema == plan.collect_schema()
    assert plan.collect().height == 0


@pytest.mark.parametrize("method", ["trajectory", "convergence"])
@pytest.mark.parametrize("roles", [{"trial": None}, {"count": "question"}], ids=str)
def test_without_ids_trials_have_no_order(log, method, roles):
    accessor = unreadable(log.schema).scorio(**ROLES, **roles)
    message = rf"^{method} takes the trials of a question in the order of their ids: .* trial=$"
    with pytest.raises(ValueError, match=message):
        getattr(accessor, method)()


@pytest.mark.parametrize("method", ["trajectory", "convergence"])
@pytest.mark.parametrize(
    ("metric", "error", "message"),
    [
        (ps.pass_at_k([1, 2]), ValueError, r"takes one draw size at a time, got .* k=\[1, 2\]$"),
        ("bayes", TypeError, r"takes metrics such as ps\.bayes\(\), got 'bayes'"),
    ],
)
def test_one_metric_and_one_draw_size_at_a_time(log, method, metric, error, message):
    with pytest.raises(error, match=message):
        getattr(unreadable(log.schema).scorio(**ROLES), method)(metric)


@pytest.mark.parametrize("method", ["trajectory", "convergence"])
def test_rewards_without_weights_have_nothing_to_follow(log, method):
    rewards = log.with_columns(pl.col("category") * 0.5).lazy().scorio(by="domain")
    message = r"^max_at_k: rewards of any value have no posterior to follow; pass w= "
    with pytest.raises(ValueError, match=message):
        getattr(rewards, method)(ps.max_at_k(2))


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (
            {"replicates": -1},
            ValueError,
            r"^replicates must be an int that is not negative, got -1",
        ),
        ({"replicates": 1e3}, ValueError, r"^replicates must be an int .*, got 1000\.0"),
        ({"seed": -1}, ValueError, r"^seed must be an int that is not negative, got -1"),
        ({"seed": None}, ValueError, r"^seed must be an int .*, got None"),
        ({"scheme": "trials"}, ValueError, r'^scheme must be "trial" or .*, got \'trials\''),
        ({"inference": "full"}, ValueError, r"^inference must be .*, got 'full'"),
        ({"confidence": 0.9}, TypeError, r"unexpected keyword argument 'confidence'"),
    ],
    ids=str,
)
def test_wrong_arguments_are_refused_at_the_call(log, options, error, message):
    with pytest.raises(error, match=message):
        unreadable(log.schema).scorio(**ROLES).convergence(**options)


def test_one_unnamed_model_has_no_ranking(log):
    with pytest.raises(ValueError, match=r"^convergence needs several models: "):
        log.lazy().scorio(model=None, success=2).convergence()


def test_keys_that_are_named_like_a_number_are_refused(log):
    accessor = log.lazy().rename({"domain": "n"}).scorio(by="n", success=2)
    for ask in (accessor.trajectory, accessor.convergence):
        with pytest.raises(ValueError, match="two columns named 'n'"):
            ask()
