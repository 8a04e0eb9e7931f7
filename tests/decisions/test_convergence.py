"""What the first n trials said, against reports of shorter logs; when the ranking settles."""

import sys

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy import stats

import polars_scorio as ps
from polars_scorio.maths.prefix_rankings import ranking_convergence
from polars_scorio.maths.questions import Outcomes
from tests.made_logs import drawn, long, unreadable

ROLES = {"by": "domain", "success": 2, "prior": "uniform"}
NUMBERS = ["mu", "sigma", "lo", "hi"]
SETTLED = ["domain", "n", "cumulative", "tau", "share"]


@pytest.fixture
def log():
    return drawn(6, range(7), most=5)


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
    assert rows.select("n", "share", "cumulative", "tau").rows() == [
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
        expected = ranking_convergence(
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
    rows = part.scorio(success=2, prior="uniform").convergence(
        ps.bayes(), prior=prior, replicates=20
    )
    expected = ranking_convergence(
        plain(part, {0: [2, 1], 1: [0, 4]}),
        mean_rate,
        replicates=20,
        scheme="trial",
        rng=np.random.default_rng(0),
    )
    assert rows["share"].to_list() == [*expected.share.tolist(), expected.never]
    assert not rows.equals(
        part.scorio(success=2, prior="uniform").convergence(ps.bayes(), replicates=20)
    )


def test_partial_pooling_is_fitted_to_each_n(even):
    part = even.filter(domain="air").scorio(success=2)
    rows = part.convergence(replicates=0, prior="population")
    ranks = part.trajectory(prior="population")["rank"].to_numpy().reshape(5, 4)
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
        expected = ranking_convergence(
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
        r'^progress=True needs tqdm: pip install "polars-scorio\[progress\]", or omit progress=$'
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
        assert dict(plan.collect_schema()) == expected
        assert plan.collect().schema == plan.collect_schema()
    assert plan.collect().height == 0


@pytest.mark.parametrize("method", ["trajectory", "convergence"])
@pytest.mark.parametrize(
    "roles", [{"trial": None}, {"count": pl.col("question") + 1}], ids=["no ids", "counts"]
)
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
        ("bayes", TypeError, r"takes a metric such as ps\.avg\(\), got 'bayes'"),
    ],
)
def test_one_metric_and_one_draw_size_at_a_time(log, method, metric, error, message):
    with pytest.raises(error, match=message):
        getattr(unreadable(log.schema).scorio(**ROLES), method)(metric)


def test_floats_that_are_zero_or_one_settle_as_outcomes_do(log):
    options = {"replicates": 200, "scheme": "question", "seed": 1}
    log = log.with_columns(category=(pl.col("category") == 2).cast(pl.Int8))
    floats = log.with_columns(pl.col("category").cast(pl.Float64))
    expected = log.scorio(by="domain").convergence(ps.avg(), **options)
    assert_frame_equal(floats.scorio(by="domain").convergence(ps.avg(), **options), expected)
    # Rankings of rewards are those of any rewards that rise with them.
    shifted = log.with_columns(7.3 * pl.col("category") - 2e6)
    assert_frame_equal(shifted.scorio(by="domain").convergence(ps.avg(), **options), expected)


def test_average_rewards_settle_when_the_ranking_is_that_of_all_trials():
    log = pl.concat([long([[0.1, 0.9, 0.8]], "a"), long([[0.5, 0.5, 0.5]], "b")])
    # Means: .1 and .5; .5 and .5; .6 and .5.
    rows = log.scorio.convergence(ps.avg(), replicates=0)
    assert rows["share"].to_list() == [0, 0, 1, 0]
    assert rows["tau"].to_list() == [-1, None, 1, None]


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
        ({"prior": "full"}, ValueError, r"^prior must be .*, got 'full'"),
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
