"""The curve over thresholds, TailPass: a row for each number of successes that is asked for."""

from itertools import combinations
from statistics import fmean

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scorio import eval as scorio

import polars_scorio as ps
from tests.made_logs import drawn, long

pytestmark = pytest.mark.filterwarnings("ignore::polars_scorio.CheckWarning")  # made logs are sure

NUMBERS = ["estimate", "mu", "sigma", "lo", "hi"]
INFERENCES = ["uniform", "population", None]


@pytest.fixture
def log():
    """Three models, six questions each, of four trials."""
    return drawn(8, range(6), most=1).select("model", "question").unique().sort(pl.all()).join(
        pl.DataFrame({"trial": range(4)}), how="cross"
    ).with_columns(category=(pl.col("question") * 7 + pl.col("trial") ** 2 + pl.col("model").rank(
        "dense")) % 3 == 0)  # fmt: skip


@pytest.mark.every(5)
@pytest.mark.parametrize("k", [1, 2, 4, 7])
@pytest.mark.parametrize("prior", INFERENCES)
def test_each_row_is_a_share_of_successes(log, k, prior):
    rows = log.scorio.report(ps.tail_pass(k), prior=prior)
    columns = ["model", "metric", "k", "t", "questions", "trials", "dropped", "inference", "sigma"]
    assert rows.columns == [*columns, "estimate", *["mu"] * (prior is not None), "lo", "hi"]
    assert (
        rows.group_by("model", maintain_order=True).agg("t")["t"].to_list()
        == [[*range(1, k + 1)]] * log["model"].n_unique()
    )
    assert (rows["metric"].unique().to_list(), {*rows["k"]}) == ([f"tail_pass(k={k})"], {k})
    for t in range(1, k + 1):
        share = log.scorio.g_pass_at_k_tau(k, t / k, prior=prior)
        assert_frame_equal(
            rows.filter(t=t).drop("metric", "k", "t"), share.drop("metric", "k"),
            check_exact=prior is not None, abs_tol=1e-12,  # summed side by side
        )  # fmt: skip


def test_equals_every_draw():
    trials = [1, 0, 1, 1, 0]
    rows = long([trials]).scorio.report(ps.tail_pass(3))
    every = [sum(draw) for draw in combinations(trials, 3)]
    # Chances of the hypergeometric distribution, and counts: rounding.
    assert rows["estimate"].to_list() == pytest.approx(
        [fmean(j >= t for j in every) for t in (1, 2, 3)], abs=1e-12
    )


def test_equals_the_package_scorio():
    rng = np.random.default_rng(5)
    outcomes = rng.integers(0, 2, (7, 9))
    rows = long(outcomes.tolist()).scorio.report(ps.tail_pass(6), prior=(0.7, 1.3))
    # Both use floats, but other formulas.
    near = {"rtol": 1e-9, "atol": 1e-11}
    np.testing.assert_allclose(rows["estimate"], scorio.tailpass_empirical(outcomes, 6), **near)
    profile = scorio.tailpass(outcomes, 6, prior=[1.3, 0.7])
    np.testing.assert_allclose(rows["mu"], profile.mean, **near)
    np.testing.assert_allclose(rows["sigma"], profile.std, **near)


def test_thresholds_stand_beside_the_draw_sizes_of_others(log):
    rows = log.scorio.report(ps.pass_at_k([1, 3]), ps.tail_pass(3, [3, 1]), ps.avg())
    first = rows.filter(pl.col("model") == rows["model"][0])
    assert first.select("metric", "k", "t").rows() == [
        ("pass_at_k", 1, None), ("pass_at_k", 3, None),
        ("tail_pass(k=3)", 3, 1), ("tail_pass(k=3)", 3, 3), ("avg", None, None),
    ]  # fmt: skip
    assert "t" not in log.scorio.report(ps.pass_at_k([1, 3])).columns


def test_curves_of_two_draw_sizes_fit_into_one_report(log):
    rows = log.scorio(model=None, question=pl.concat_str("model", "question")).report(
        ps.tail_pass(2), ps.tail_pass(1)
    )
    assert rows.select("k", "t").rows() == [(2, 1), (2, 2), (1, 1)]


@pytest.mark.slow
def test_columns_and_comparisons_know_the_threshold(log):
    wide = log.scorio.report(ps.tail_pass(2), wide=True)
    assert "tail_pass_k_2_1_lo" in wide.columns
    pairs = log.scorio.compare(ps.tail_pass(2), simultaneous=False)
    assert pairs.columns[:5] == ["model_a", "model_b", "metric", "k", "t"]
    shares = log.scorio.compare(ps.g_pass_at_k_tau(2, 1), simultaneous=False)
    assert_frame_equal(
        pairs.filter(t=2).drop("metric", "t"), shares.drop("metric"), check_exact=True
    )
    ranks = log.scorio.rank(ps.tail_pass(2, 2))
    assert ranks.select("metric", "k", "t").unique().rows() == [("tail_pass(k=2)", 2, 2)]
    shares = log.scorio.rank(ps.g_pass_at_k_tau(2, 1))
    assert_frame_equal(ranks.drop("metric", "t"), shares.drop("metric"), check_exact=True)
    with pytest.raises(ValueError, match=r"one threshold at a time, got .*k=2\) with t=\[1, 2\]"):
        log.scorio.rank(ps.tail_pass(2))


def test_a_lazy_log_gives_the_same(log):
    plan = log.lazy().scorio.report(ps.tail_pass(2), ps.avg())
    assert plan.collect_schema().names() == plan.collect().columns
    eager = log.scorio.report(ps.tail_pass(2), ps.avg())
    assert_frame_equal(plan.collect(), eager, check_exact=True)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: ps.tail_pass([2, 3]), r"one draw size, got \[2, 3\]: .*ps.tail_pass\(3\)"),
        (lambda: ps.tail_pass(0), "k must be a positive int"),
        (lambda: ps.tail_pass(3, 4), "t must be a positive int, at most 3, got 4"),
        (lambda: ps.tail_pass(3, 0), "t must be a positive int, got 0"),
        (lambda: ps.tail_pass(3, []), r"t must name at least one .* got \[\]"),
        (lambda: ps.tail_pass(3, [1, 1]), r"each once, got \[1, 1\]"),
    ],
)
def test_thresholds_that_cannot_be_are_refused(make, said):
    with pytest.raises(ValueError, match=said):
        make()


def test_a_key_named_t_is_refused(log):
    with pytest.raises(ValueError, match="two columns named 't'"):
        log.rename({"model": "t"}).scorio(model="t").report(ps.tail_pass(2))


@pytest.mark.slow
def test_beyond_the_trials_a_curve_has_ranges(log):
    rows = log.scorio.report(ps.tail_pass(8))
    assert rows["estimate"].null_count() == rows.height
    assert (rows["lo"] < rows["hi"]).all()


@pytest.mark.slow
def test_tables_and_pages_name_the_threshold(log, tmp_path):
    accessor = log.scorio(prior="uniform")
    for frame in (accessor.report(ps.tail_pass(2)), accessor.compare(ps.tail_pass(2)),
                  accessor.leaderboard(ps.tail_pass(2))):  # fmt: skip
        text = ps.to_markdown(frame)
        assert all(f"TailPass@2 (t={t})" in text for t in (1, 2))
    accessor.write_html(tmp_path / "page.html", ps.avg(), ps.tail_pass(2))
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert all(f"TailPass@2 (t={t})" in page for t in (1, 2))
