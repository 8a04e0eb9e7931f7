"""Pairs and draw sizes as one family: the band of a difference, and how it reads."""

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_scorio as ps
from polars_scorio.display.facts.ranking_facts import pair_curves
from polars_scorio.display.words.ranking_words import curve_sentences
from tests.made_logs import long

# Logs made by a rule are no random ones, and tests of a log say so.
pytestmark = pytest.mark.filterwarnings("ignore::polars_scorio.CheckWarning")

SIZES = [1, 2, 3, 4, 6, 8]
CURVE = ps.pass_at_k(SIZES)


def counted(models, n=8):
    """A log of successes of n trials, a list for each model."""
    parts = [
        pl.DataFrame({"model": name, "question": range(len(c)), "n": n, "c": c})
        for name, c in models.items()
    ]
    return ps.from_successes(pl.concat(parts)).scorio(count="count")


def drawn(models=2, questions=40, n=8, seed=0):
    """Models whose questions succeed at rates of their own."""
    rng = np.random.default_rng(seed)
    rates = rng.beta(0.6, 1, (models, questions))
    return counted({f"m{i}": rng.binomial(n, p).tolist() for i, p in enumerate(rates)}, n)


def crossing(questions=60, n=16, seed=1):
    """A model that reinforcement made surer where it succeeds at all, and its base."""
    rng = np.random.default_rng(seed)
    base = rng.uniform(0.1, 0.35, questions)
    rl = np.where(np.arange(questions) % 2 == 0, 0.85, 0.002)
    return counted({"base": rng.binomial(n, base).tolist(), "rl": rng.binomial(n, rl).tolist()}, n)


LOG = drawn()


@pytest.mark.parametrize("target", ["benchmark", "population"])
@pytest.mark.parametrize("log", [LOG, crossing()], ids=["apart", "crossing"])
def test_the_band_of_a_pair_is_that_of_each_k_at_one_larger_confidence(log, target):
    found = log.compare(CURVE, target=target)
    # From 1 to 8 there are three doublings.
    alone = log.compare(CURVE, target=target, confidence=0.95 ** (1 / 4), simultaneous=False)
    columns = ["k", "diff", "lo", "hi", "better"]
    assert_frame_equal(found.select(columns), alone.select(columns), rel_tol=1e-12)
    assert found["adjusted_for"].unique().to_list() == ["all pairs and k"]


@pytest.mark.parametrize("planned", [8, 40])
def test_a_curve_at_one_of_several_looks_repeats_a_look_at_a_larger_confidence(planned):
    looks = {"planned_trials": planned}
    found = LOG.compare(CURVE, **looks).select("lo", "hi", "better")
    sure = {"confidence": 0.95 ** (1 / 4), **looks}
    alone = LOG.compare(CURVE, **sure, simultaneous=False).select("lo", "hi", "better")
    assert_frame_equal(found, alone, rel_tol=1e-9)


def test_the_band_of_a_report_is_that_of_the_intervals_at_a_larger_confidence():
    band = LOG.report(CURVE, simultaneous=True)
    plain = LOG.report(CURVE, confidence=0.95 ** (1 / 4))
    for column, of_curve in (
        ("lo", pl.col("lo").cum_max()),
        ("hi", pl.col("hi").cum_min(reverse=True)),
    ):
        expected = plain.select(of_curve.over("model"))[column]
        assert band[column].to_list() == pytest.approx(expected.to_list(), abs=1e-12)


def test_draws_that_a_pair_lacks_are_no_points_of_its_curve():
    """A model with two trials has two points, and the other pairs have all of theirs."""
    log = drawn(3)
    short = log.frame.filter((pl.col("model") != "m2") | (pl.col("question") < 0))
    few = counted({"m2": [1, 0, 2, 1] * 10}, 2).frame
    both = pl.concat([short, few]).scorio(count="count")
    rows = both.compare(CURVE, baseline="m0")
    for model, points in (("m1", 4), ("m2", 2)):
        one = rows.filter(model_a=model, k=1).select("lo", "hi")
        sure = 0.95 ** (1 / 2 / points)
        alone = both.compare(CURVE, baseline="m0", confidence=sure, simultaneous=False)
        alone = alone.filter(model_a=model, k=1).select("lo", "hi")
        assert_frame_equal(one, alone, rel_tol=1e-12)


@pytest.mark.parametrize("target", ["benchmark", "population"])
@pytest.mark.parametrize("models", [2, 4])
def test_a_band_contains_the_intervals_of_single_k(models, target):
    log = drawn(models, seed=3)
    band, alone = (
        log.compare(CURVE, simultaneous=how, target=target).select("lo", "hi")
        for how in (True, False)
    )
    together = pl.concat(
        log.compare(ps.pass_at_k(k), simultaneous=True, target=target) for k in SIZES
    )
    assert (band["lo"] < alone["lo"]).all()
    assert (band["hi"] > alone["hi"]).all()
    assert band["hi"].sum() > together["hi"].sum()


def test_one_draw_size_is_compared_as_before():
    one = LOG.compare(ps.pass_at_k(4), simultaneous=True)
    assert "first_better" not in one.columns
    assert one["adjusted_for"].item() == "all pairs"
    band = LOG.compare(ps.pass_at_k([4, 9]), simultaneous=True).filter(k=4)
    assert_frame_equal(one.select("lo", "hi"), band.select("lo", "hi"))


def test_a_gain_at_small_k_and_a_loss_at_large_k_are_read_from_both_ends():
    log = crossing()
    rows = log.compare(ps.pass_at_k(range(1, 17)), baseline="base", simultaneous=True)
    row = rows.row(0, named=True)
    assert (row["first_better"], row["last_better"]) == ("rl", "base")
    assert (row["gain_to"], row["loss_from"]) == (row["first_to"], row["last_from"])
    better = rows["better"].to_list()
    assert better[: row["gain_to"]] == ["rl"] * row["gain_to"]
    assert better[row["loss_from"] - 1 :] == ["base"] * (17 - row["loss_from"])
    assert better[row["gain_to"]] != "rl"
    assert rows["adjusted_for"][0] == "all with the baseline and k"
    mirrored = log.compare(ps.pass_at_k(range(1, 17)), baseline="rl", simultaneous=True)
    assert mirrored["gain_to"][0] is None is mirrored["loss_from"][0]
    assert (mirrored["hi"] + rows["lo"]).abs().max() < 1e-12
    columns = ["first_better", "first_to", "last_better", "last_from"]
    assert_frame_equal(mirrored.select(columns), rows.select(columns))


def test_where_lower_is_better_the_other_model_gains():
    sizes = ps.pass_at_k(range(1, 17))
    up = crossing().compare(sizes, baseline="base", simultaneous=True)
    down = crossing()(count="count", lower_is_better=True).compare(
        sizes, baseline="base", simultaneous=True
    )
    assert_frame_equal(up.select("diff", "lo", "hi"), down.select("diff", "lo", "hi"))
    assert down["first_better"][0] == "base"
    assert down["last_better"][0] == "rl"
    assert (down["gain_to"][0], down["loss_from"][0]) == (None, None)


def test_equal_logs_name_nobody_and_have_the_value_of_one_k():
    c = [0, 1, 3, 8, 5, 2] * 5
    log = counted({"a": c, "b": c})
    found = log.compare(CURVE, simultaneous=True, target="population")
    assert found["first_better"].null_count() == found["last_from"].null_count() == len(SIZES)
    assert_frame_equal(
        found.select("lo", "hi"), log.compare(CURVE, target="population").select("lo", "hi")
    )


@pytest.mark.parametrize("target", ["benchmark", "population"])
def test_draws_of_more_trials_than_there_are_are_no_point_of_a_curve(target):
    found = crossing().compare(
        ps.pass_at_k([1, 4, 16, 17, 40]), simultaneous=True, target=target, baseline="base"
    )
    within = crossing().compare(
        ps.pass_at_k([1, 4, 16]), simultaneous=True, target=target, baseline="base"
    )
    assert_frame_equal(found.head(3), within)
    assert found["better"].to_list()[3:] == [None, None]
    assert found["loss_from"].to_list() == within["loss_from"].to_list()[:1] * 5


def test_single_trials_have_one_point_which_is_that_of_a_single_k():
    log = long([[1]] * 20 + [[0]] * 20, "a").vstack(long([[0]] * 40, "b")).scorio
    found = log.compare(ps.pass_at_k([1, 2]), simultaneous=True)
    alone = log.compare(ps.pass_at_k(1), simultaneous=True)
    assert_frame_equal(found.head(1).select("lo", "hi"), alone.select("lo", "hi"))
    assert found["first_better"].to_list() == ["a", "a"]
    assert found["first_to"].to_list() == [1, 1]
    assert found["sigma"].to_list()[1:] == [None]


def test_all_models_have_one_family_with_the_value_of_tukey():
    log = drawn(5, seed=4)
    five = log.compare(CURVE, simultaneous=True).filter(model_a="m0", model_b="m1")
    two = drawn(5, seed=4)
    pair = ps.scorio(two.frame.filter(pl.col("model").is_in(["m0", "m1"])), count="count")
    assert (five["hi"] > pair.compare(CURVE, simultaneous=True)["hi"]).all()


def test_each_stratum_has_a_band_of_its_own():
    frame = crossing().frame.with_columns(half=pl.col("question") % 2)
    rows = ps.scorio(frame, count="count", by="half").compare(CURVE, simultaneous=True)
    one = ps.scorio(frame.filter(half=1), count="count").compare(CURVE, simultaneous=True)
    assert_frame_equal(rows.filter(half=1).drop("half"), one, abs_tol=1e-9)
    for overall in ("macro", "micro"):
        whole = ps.scorio(frame, count="count", by="half").compare(
            CURVE, simultaneous=True, overall=overall
        )
        assert whole.filter(pl.col("half").is_null())["lo"].null_count() == 0


def test_clusters_are_the_units_of_a_population():
    frame = LOG.frame.with_columns(passage=pl.col("question") // 4)
    rows = ps.scorio(frame, count="count", cluster="passage").compare(
        CURVE, simultaneous=True, target="population"
    )
    alone = ps.scorio(frame, count="count", cluster="passage").compare(
        CURVE, target="population", simultaneous=False
    )
    assert (rows["hi"] > alone["hi"]).all()


def test_bands_that_hold_at_every_look_are_wider():
    found = LOG.compare(CURVE, simultaneous=True, planned_trials=16)
    assert (found["hi"] > LOG.compare(CURVE, simultaneous=True)["hi"]).all()
    assert (found["hi"] > LOG.compare(CURVE, planned_trials=16, simultaneous=False)["hi"]).all()


@pytest.mark.parametrize(
    "metric",
    [
        ps.pass_hat_k(SIZES),
        ps.g_pass_at_k_tau(SIZES, 0.5),
        ps.maj_at_k([1, 3, 5]),
        ps.geom_at_k([2, 4]),
    ],
    ids=str,
)
def test_other_families_in_k_have_bands_too(metric):
    band, alone = (LOG.compare(metric, simultaneous=how) for how in (True, False))
    assert (band["hi"] >= alone["hi"]).all()
    assert (band["hi"] > alone["hi"]).any()


def test_nothing_depends_on_the_order_of_rows_or_on_being_lazy():
    shuffled = ps.scorio(LOG.frame.sample(fraction=1, shuffle=True, seed=1).lazy(), count="count")
    lazy = shuffled.compare(CURVE, simultaneous=True)
    assert lazy.collect_schema() == LOG.compare(CURVE, simultaneous=True).schema
    assert_frame_equal(lazy.collect(), LOG.compare(CURVE, simultaneous=True), abs_tol=1e-12)


def test_missing_trials_that_are_dropped_leave_fewer_points():
    rows = [[1, 0, 1, None]] * 10 + [[0, 0, 1, None]] * 10
    log = pl.concat([long(rows, "a"), long(rows[::-1], "b")])
    found = log.scorio(missing="drop").compare(ps.pass_at_k([1, 3, 4]), simultaneous=True)
    assert found["sigma"].is_null().to_list() == [False, False, True]
    nothing = log.with_columns(category=pl.lit(None, pl.Int64)).scorio(missing="drop")
    with pytest.raises(ValueError, match=r"20 questions|40 questions"):
        nothing.compare(ps.pass_at_k([1, 3]), simultaneous=True)


def test_a_log_without_outcomes_is_refused_and_one_without_gaps_is_as_before():
    log = long([[1, 0, 1, 0], [1, 1, 0, 1], [0, 0, 1, 0]] * 5, "a")
    log = pl.concat([log, log.with_columns(model=pl.lit("b"))])
    curve, trusted = ps.pass_at_k([1, 2, 4]), {"validate": False}  # questions are repeated
    nothing = log.with_columns(category=pl.lit(None, pl.Int64)).scorio(missing="drop")
    with pytest.raises(ValueError, match="30 questions have no trial with a category"):
        nothing.compare(curve, simultaneous=True)
    dropped = log.scorio(missing="drop", **trusted).compare(curve, simultaneous=True)
    assert_frame_equal(dropped, log.scorio(**trusted).compare(curve, simultaneous=True))


def test_one_model_has_no_pair_but_the_columns():
    one = ps.scorio(LOG.frame.filter(model="m0"), count="count")
    with pytest.warns(UserWarning, match=r"one model \('m0'\): nothing to compare"):
        found = one.compare(CURVE, baseline="m0", simultaneous=True)
    assert found.schema == LOG.compare(CURVE, baseline="m0", simultaneous=True).schema


@pytest.mark.parametrize("prior", ["uniform", "population", (1, 2)], ids=str)
def test_posteriors_have_no_curve_but_all_pairs_at_each_k(prior):
    rows = LOG.compare(CURVE, prior=prior)
    assert rows["adjusted_for"].unique().to_list() == ["all pairs"]
    assert_frame_equal(rows.filter(k=1), LOG.compare(ps.pass_at_k(1), prior=prior))


# --- bands of one model


@pytest.mark.parametrize("target", ["benchmark", "population"])
@pytest.mark.parametrize("metric", [CURVE, ps.pass_hat_k(SIZES), ps.maj_at_k([1, 3])], ids=str)
def test_the_band_of_a_model_is_wider_and_moves_one_way_as_the_curve_does(metric, target):
    rows = LOG.report(metric, ps.avg(), simultaneous=True, target=target)
    plain = LOG.report(metric, ps.avg(), target=target)
    curve = pl.col("k").is_not_null()
    assert set(rows.filter(curve)["adjusted_for"]) == {"all k"}
    assert set(rows.filter(~curve)["adjusted_for"]) == {"each row alone"}
    same = ["metric", "k", "questions", "trials", "estimate", "sigma", "inference"]
    assert_frame_equal(rows.select(same), plain.select(same))
    assert_frame_equal(
        rows.filter(~curve).select("lo", "hi"), plain.filter(~curve).select("lo", "hi")
    )
    for (_,), model in rows.filter(curve).group_by("model"):
        for end in ("lo", "hi") if metric.function != "maj_at_k" else ():
            assert model[end].is_sorted(descending=metric.function == "pass_hat_k")
    wide, narrow = (each.filter(curve)["hi"] - each.filter(curve)["lo"] for each in (rows, plain))
    assert (wide > narrow).mean() > 0.8


@pytest.mark.parametrize("target", ["benchmark", "population"])
def test_the_band_of_a_model_is_that_of_each_k_at_one_larger_confidence(target):
    rows = LOG.report(CURVE, simultaneous=True, target=target).filter(model="m0")
    alone = LOG.report(CURVE, target=target, confidence=0.95 ** (1 / 4)).filter(model="m0")
    lo, hi = alone["lo"].cum_max(), alone["hi"].cum_min(reverse=True)
    assert rows["lo"].to_list() == pytest.approx(lo.to_list(), abs=1e-12)
    assert rows["hi"].to_list() == pytest.approx(hi.to_list(), abs=1e-12)


def test_ranges_beyond_the_trials_are_no_part_of_a_band():
    metric = ps.pass_at_k([1, 4, 8, 12])
    rows, plain = (LOG.report(metric, simultaneous=how) for how in (True, False))
    assert rows["adjusted_for"].to_list() == (["all k"] * 3 + ["each row alone"]) * 2
    ends = ["k", "lo", "hi"]
    assert_frame_equal(rows.filter(k=12).select(ends), plain.filter(k=12).select(ends))
    inside = LOG.report(ps.pass_at_k([1, 4, 8]), simultaneous=True)
    assert_frame_equal(rows.filter(pl.col("k") < 12), inside)


@pytest.mark.parametrize("baseline", [None, "m0"])
def test_pairs_beyond_the_trials_are_no_part_of_a_family(baseline):
    metric = ps.pass_at_k([1, 4, 8, 12])
    rows, alone = (
        LOG.compare(metric, baseline=baseline, simultaneous=how) for how in (True, False)
    )
    assert {*rows.filter(k=12)["adjusted_for"]} == {"each pair alone"}
    assert_frame_equal(*(each.filter(k=12).select("lo", "hi", "better", "adjusted_for")
                         for each in (rows, alone)))  # fmt: skip
    family = "all with the baseline and k" if baseline else "all pairs and k"
    assert {*rows.filter(pl.col("k") < 12)["adjusted_for"]} == {family}


def test_other_metrics_change_no_bit_of_a_band():
    alone = LOG.report(CURVE, simultaneous=True)
    beside = LOG.report(ps.pass_hat_k([1, 2]), CURVE, ps.avg(), simultaneous=True)
    assert beside.filter(metric="pass_at_k").equals(alone)


def test_a_wide_report_has_the_ends_of_the_band():
    wide = LOG.report(CURVE, simultaneous=True, wide=True)
    assert (
        wide["pass_at_k_4_lo"].to_list()
        == LOG.report(CURVE, simultaneous=True).filter(k=4)["lo"].to_list()
    )


JUDGE = ps.judge(sensitivity=(90, 100), specificity=(90, 100))
REFUSED = {
    "a prior": ({}, {"prior": "uniform"}, "not from posteriors"),
    "single questions": ({}, {"per": "question"}, "not from posteriors"),
    "means over strata": (
        {"by": "model", "model": None},
        {"overall": "macro"},
        "means over strata",
    ),
    "a judge": (
        {"judge": ps.judge(sensitivity=(90, 100), specificity=(90, 100))},
        {},
        "scores corrected for a judge",
    ),
}


@pytest.mark.parametrize(("roles", "options", "message"), REFUSED.values(), ids=REFUSED)
def test_a_band_is_refused_where_nobody_knows_one(roles, options, message):
    with pytest.raises(ValueError, match=message):
        LOG(count="count", **roles).report(CURVE, simultaneous=True, **options)


def test_runs_that_differ_have_no_band():
    log = long([[1, 0, 1]] * 12, "a").with_columns(seed=pl.col("trial"))
    with pytest.raises(ValueError, match=r"not from numbers about other runs \(run=\)"):
        log.scorio(run="seed").report(ps.pass_at_k([1, 2]), simultaneous=True)


# --- sentences


def told(log, k, **options):
    (said,) = curve_sentences(
        pair_curves(log.compare(ps.pass_at_k(k), simultaneous=True, **options)), 0.95
    )
    return said


def test_the_sentence_reads_both_ends_of_the_curve():
    log = crossing()
    row = log.compare(ps.pass_at_k(range(1, 17)), simultaneous=True).row(0, named=True)
    first, last = row["first_to"], row["last_from"]
    assert told(log, range(1, 17)) == (
        f"With 95 % confidence for the whole curve (k = 1 to 16): rl is better than base up to "
        f"k = {first} and worse from k = {last} on; between, not every k is decided."
    )
    assert told(log, [1, 8, 16], baseline="base") == (
        "With 95 % confidence for the whole curve (k = 1, 8 and 16): rl gains on base at k = 1 and "
        "loses to base from k = 8 on."
    )


def test_the_sentence_says_where_nothing_is_decided():
    c = [0, 1, 3, 8, 5, 2] * 5
    equal = counted({"a": c, "b": c})
    assert told(equal, range(1, 9)).endswith(
        "(k = 1 to 8): neither a nor b is shown to be better at any k."
    )
    assert told(counted({"a": [1], "b": [0]}, 1), [2, 3]) == (
        "a and b have too few trials for these k."
    )
    better = counted({"a": [8, 7] * 20, "b": [2, 1] * 20})
    assert told(better, range(1, 3)).endswith(
        "(k = 1 to 2): a is better than b at every k from 1 to 2."
    )
    assert told(better, range(1, 9)).endswith("; beyond, not every k is decided.")


INSIDE = pl.DataFrame(
    {"k": [1, 2, 4], "sigma": 0.1, "better": [None, "a", None], "model_a": "a", "model_b": "b"}
).with_columns(first_better=None, first_to=None, last_better=None, last_from=None)


def test_a_verdict_inside_the_curve_is_not_denied():
    assert curve_sentences(pair_curves(INSIDE), 0.9)[0] == (
        "With 90 % confidence for the whole curve (k = 1, 2 and 4): neither a nor b is shown "
        "to be better at k = 1 or k = 4."
    )
    last = INSIDE.with_columns(last_better=pl.lit("b"), last_from=4)
    assert curve_sentences(pair_curves(last), 0.9)[0].endswith(
        ": b is better than a at k = 4; below, not every k is decided."
    )


@pytest.mark.parametrize("models", [1, 3])
@pytest.mark.parametrize("options", [{}, {"target": "population"}])
def test_the_roots_of_several_draws_are_those_of_single_ones(options, models):
    """Pairs of all draw sizes share the search for z, which leaves each of them as it is."""
    log, sizes = drawn(models + 1), [1, 2, 4, 8, 16]
    options = {**options, "simultaneous": False}
    found = log.compare(ps.pass_at_k(sizes), **options).sort("k", "model_a", "model_b")
    alone = pl.concat([log.compare(ps.pass_at_k(k), **options) for k in sizes])
    assert_frame_equal(found, alone.sort("k", "model_a", "model_b"), rel_tol=1e-12)
    assert found["z"].null_count() == len(found) // len(sizes)  # draws beyond the trials
