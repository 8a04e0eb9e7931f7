"""Reports with metrics as columns: the tidy report turned by hand, its names, its plan."""

import re

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_scorio as ps
from polars_scorio.study.report import plain_name
from tests.made_logs import drawn, long, scans, unreadable

KEYS = ["domain", "model"]
FACTS = ["questions", "trials", "dropped"]
SUFFIXES = {"mu": "_mu", "lo": "_lo", "hi": "_hi"}
W = [0, 0.5, 1]
# Every metric, and the name that its columns start with.
METRICS = {
    "bayes": ps.bayes(),
    "bayes_w_0_0_5_1": ps.bayes(W),
    "avg": ps.avg(),
    "maj_at_k": ps.maj_at_k(),
    "pass_at_k_9": ps.pass_at_k(9),  # more than any question has
    "pass_hat_k_2": ps.pass_hat_k(2),
    "unanimous_at_k_2": ps.unanimous_at_k(2),
    "g_pass_at_k_2": ps.g_pass_at_k(2),
    "g_pass_at_k_tau_tau_0_5_4": ps.g_pass_at_k_tau(4, 0.5),
    "mg_pass_at_k_3": ps.mg_pass_at_k(3),
    "auc_at_k_bounds_0_2_2": ps.auc_at_k(2, bounds=(0, 2)),
    "threshold_spectrum_at_k_weights_0_25_0_75_2": ps.threshold_spectrum_at_k(2, [0.25, 0.75]),
    "geom_at_k_1": ps.geom_at_k(1),
    "geom_ds_at_k_pass_power_1_1": ps.geom_ds_at_k(1, pass_power=1),
    "geo_spectrum_at_k_2": ps.geo_spectrum_at_k(2),
    "geo_spectrum_star_at_k_2": ps.geo_spectrum_star_at_k(2),
    "max_at_k_w_0_0_5_1_3": ps.max_at_k(3, W),
}


@pytest.fixture
def log():
    return drawn(21, range(7), most=5)


def report(log: pl.DataFrame, *metrics: ps.Metric, **options: object) -> pl.DataFrame:
    return log.scorio(by="domain", success=2).report(*metrics, **options)


def turned(
    tidy: pl.DataFrame, keys: list[str], metrics: dict[str, ps.Metric]
) -> list[dict[str, object]]:
    """Metrics as columns under their plain names, row by row."""
    rows: dict[tuple[object, ...], dict[str, object]] = {}
    for row in tidy.rows(named=True):
        own = rows.setdefault(tuple(row[key] for key in keys), {key: row[key] for key in keys})
        own |= {fact: row[fact] for fact in FACTS}
        for name, metric in metrics.items():
            if (row["metric"], row["k"]) == (metric.name, *metric.k):
                headline = "mu" if name.startswith("bayes") else "estimate"
                own |= {f"{name}_sigma": row["sigma"], name: row[headline]}
                others = [number for number in SUFFIXES if number in row and number != headline]
                own |= {name + SUFFIXES[number]: row[number] for number in others}
    return list(rows.values())


# --- numbers


@pytest.mark.slow
@pytest.mark.parametrize("per", ["model", "question"])
@pytest.mark.parametrize("model", ["model", None])
@pytest.mark.parametrize("by", [["domain"], []])
def test_a_wide_report_is_the_tidy_one_turned(log, by, model, per):
    if model is None:
        log = log.filter(model="b")
    if not by:
        log = log.filter(domain="web")
    accessor = log.scorio(by=by, model=model, success=2)
    keys = [*by, *[model] * bool(model), *["question"] * (per == "question")]
    prior = "uniform" if per == "question" else None  # three categories have no population
    tidy = accessor.report(*METRICS.values(), per=per, prior=prior)
    wide = accessor.report(*METRICS.values(), per=per, prior=prior, wide=True)
    expected = turned(tidy, keys, METRICS)
    assert wide.columns == list(expected[0])
    assert wide.rows(named=True) == expected
    assert wide["pass_at_k_9"].null_count() == wide.height
    assert wide["pass_at_k_9_lo"].null_count() == 0


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({"prior": drawn(22, range(2, 9), most=3)}, id="prior"),
        pytest.param({"confidence": 0.8}, id="calibrated"),
        pytest.param({"prior": "population", "target": "population"}, id="pooled"),
    ],
)
def test_options_say_the_same_as_in_a_tidy_report(log, options):
    metrics = {"bayes": ps.bayes(), "pass_at_k_2": ps.pass_at_k(2)}
    wide = report(log, *metrics.values(), wide=True, **options)
    tidy = report(log, *metrics.values(), **options)
    assert wide.rows(named=True) == turned(tidy, KEYS, metrics)


@pytest.mark.parametrize("overall", [None, "macro", "micro"])
def test_the_number_of_a_calibrated_metric_is_its_estimate(log, overall):
    twice = pl.concat([log, log.with_columns(pl.col("trial") + 9)])  # two trials and more
    wide = report(twice, ps.avg(W), ps.pass_at_k([2, 4]), wide=True, overall=overall)
    for name in ("avg_w_0_0_5_1", "pass_at_k_2"):
        assert wide[name].null_count() == 0
        assert f"{name}_mu" not in wide.columns
    beyond = wide.filter(pl.col("pass_at_k_4").is_null())
    assert beyond.height > 4
    assert beyond["pass_at_k_4_lo"].null_count() == 0


def test_dropped_trials_are_shown_once(log):
    holes = log.with_columns(category=pl.when(pl.col("trial") != 1).then("category"))
    accessor = holes.scorio(by="domain", success=2, missing="drop")
    wide = accessor.report(ps.avg(), ps.bayes(), wide=True)
    facts = holes.group_by(KEYS).agg(
        pl.col("question").n_unique(),
        pl.col("category").count(),
        pl.col("category").null_count().alias("dropped"),
    )
    assert wide.select(*KEYS, *FACTS).rows() == facts.sort(KEYS).rows()


def test_real_rewards_have_columns_of_numbers_up_to_their_trials():
    log = pl.DataFrame({"question": [1, 1, 2], "reward": [0.5, 1.5, -1.0]})
    accessor = log.scorio(model=None, trial=None, category="reward")
    wide = accessor.max_at_k([1, 2], wide=True)
    # Means 1 and -1; the second question has but one trial.
    assert wide.select("questions", "trials", "max_at_k_1", "max_at_k_2").row(0) == (2, 3, 0, None)
    assert wide["max_at_k_2_hi"].item() is None


@pytest.mark.slow
def test_methods_of_metrics_pass_the_option_on(log):
    accessor = log.scorio(by="domain", success=2)
    wide = accessor.pass_at_k([1, 2], wide=True)
    assert_frame_equal(wide, accessor.report(ps.pass_at_k([1, 2]), wide=True), check_exact=True)


# --- shape


@pytest.mark.parametrize("per", ["model", "question"])
@pytest.mark.parametrize("keyed", [True, False])
def test_the_lazy_plan_knows_its_columns(log, per, keyed):
    log = log.cast({"domain": pl.Categorical, "question": pl.Int16})
    roles = {"by": "domain"} if keyed else {"model": None, "trial": None}
    keys = {"domain": pl.Categorical, "model": pl.String} if keyed else {}
    question = {"question": pl.Int16} if per == "question" else {}
    facts = dict(zip(FACTS, [pl.UInt32, pl.UInt64, pl.UInt64], strict=True))
    names = ["avg_sigma", "avg", "avg_mu", "avg_lo", "avg_hi"]
    names += ["bayes_sigma", "bayes", "bayes_lo", "bayes_hi"]
    expected = keys | question | facts | dict.fromkeys(names, pl.Float64)
    metrics, options = (ps.avg(), ps.bayes()), {"wide": True, "per": per}
    plan = log.lazy().scorio(**roles, success=2).report(*metrics, **options)
    rows = log.scorio(**roles, success=2).report(*metrics, **options)
    for schema in (plan.collect_schema(), plan.collect().schema, rows.schema):
        assert list(schema.items()) == list(expected.items())
    assert_frame_equal(plan.collect(), rows, check_exact=True)


@pytest.mark.parametrize(("per", "keys"), [("model", KEYS), ("question", [*KEYS, "question"])])
def test_rows_are_sorted_by_keys(log, per, keys):
    for engine in ("streaming", "in-memory"):
        plan = report(log.lazy(), ps.avg(), wide=True, per=per)
        expected = log.select(keys).unique().sort(keys).rows()
        assert plan.collect(engine=engine).select(keys).rows() == expected


def test_no_trials_have_no_rows(log):
    assert report(log.clear(), *METRICS.values(), wide=True).height == 0


# --- names


@pytest.mark.parametrize(
    ("metric", "name"),
    [
        (ps.bayes(), "bayes"),
        (ps.bayes({"no": 0, "yes": 1.5}), "bayes_w_no_0_yes_1_5"),
        (ps.avg([-1, 1]), "avg_w_1_1"),
        (ps.pass_at_k(64), "pass_at_k_64"),
        (ps.g_pass_at_k_tau(8, 0.75), "g_pass_at_k_tau_tau_0_75_8"),
        (ps.pass_at_k(2, name="solved at all?"), "solved_at_all_2"),
        (ps.bayes(name="80/20 split"), "m_80_20_split"),
        (ps.bayes(name="  Solved, in %"), "Solved_in"),
        (ps.bayes(name="größer"), "gr_er"),
        (ps.pass_at_k(4, name="正解"), "m_4"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_names_are_words_with_underscores(metric, name):
    assert plain_name(metric, metric.k[0]) == name
    assert re.fullmatch("[A-Za-z][0-9A-Za-z_]*", name)


def test_a_name_replaces_that_of_the_metric_in_every_column(r1):
    wide = r1.scorio.report(ps.pass_at_k([1, 2], name="9 lives"), ps.bayes(name="mu"), wide=True)
    ends = ["_sigma", "", "_mu", "_lo", "_hi"]
    lives = [f"m_9_lives_{k}{end}" for k in (1, 2) for end in ends]
    assert wide.columns == ["model", *FACTS, *lives, "mu_sigma", "mu", "mu_lo", "mu_hi"]
    assert wide["mu"].item() == r1.scorio.bayes()["mu"].item()


@pytest.mark.parametrize(
    ("metrics", "name"),
    [
        ([ps.bayes(name="a b"), ps.avg(name="a-b")], "a_b_sigma"),
        ([ps.pass_at_k(4, name="x"), ps.bayes(name="x_4")], "x_4_sigma"),
        ([ps.bayes(name="x"), ps.avg(name="x mu"), ps.avg(name="x sigma")], "x_sigma"),
        ([ps.bayes(name="questions")], "questions"),
        ([ps.avg([-1, 1]), ps.avg([1, 1])], "avg_w_1_1_sigma"),
    ],
)
def test_two_columns_of_one_name_are_refused_at_the_call(metrics, name):
    log = long([[0, 1]]).lazy()
    with pytest.raises(ValueError, match=f"^wide=True would have two columns named '{name}': name"):
        log.scorio.report(*metrics, wide=True)


@pytest.mark.parametrize("key", ["bayes", "bayes_lo", "dropped"])
def test_a_key_that_is_named_like_a_column_is_refused(log, key):
    plan = log.lazy().rename({"domain": key}).scorio(by=key, success=2)
    with pytest.raises(ValueError, match=f"the result would have two columns named '{key}'"):
        plan.bayes(wide=True)


@pytest.mark.parametrize("wide", [1, None, "yes"])
def test_wide_is_true_or_false(log, wide):
    with pytest.raises(TypeError, match=f"^wide must be True or False, got {wide!r}"):
        log.lazy().scorio(success=2).bayes(wide=wide)


# --- the plan


@pytest.fixture
def scan(log, tmp_path):
    log.write_parquet(tmp_path / "log.parquet")
    return pl.scan_parquet(tmp_path / "log.parquet")


@pytest.mark.every(3)
@pytest.mark.parametrize("per", ["model", "question"])
@pytest.mark.parametrize(
    ("predicate", "shown"),
    [
        (pl.col("model") == "a", {"model", "a"}),
        (pl.col("domain").is_in(["web", "sea"]) & (pl.col("model") != "a"), {"web", "a"}),
    ],
    ids=["model", "both"],
)
def test_a_filter_on_keys_reaches_the_scan(scan, per, predicate, shown):
    plan = report(scan, ps.avg(), ps.pass_at_k([1, 2]), wide=True, per=per)
    expected = plan.collect().filter(predicate)
    ((_, selection),) = scans(plan.filter(predicate))
    assert shown <= set(re.findall(r'"(\w+)"', selection))
    assert 0 < expected.height < plan.collect().height
    # The models that are left are fitted without the others: sums in another order.
    assert_frame_equal(plan.filter(predicate).collect(), expected, rel_tol=1e-11, abs_tol=1e-11)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["streaming", "in-memory"])
@pytest.mark.parametrize(
    "predicate",
    [
        pl.col("avg") > 0.3,
        pl.col("pass_at_k_2").is_null(),
        pl.col("questions") + pl.col("trials") > 26,
        pl.int_range(pl.len()) < 2,
    ],
    ids=str,
)
def test_a_filter_keeps_the_rows_that_it_would_keep_afterwards(scan, predicate, engine):
    few = scan.filter((pl.col("question") > 0) | (pl.col("domain") == "web"))
    plan = report(few, ps.avg(), ps.pass_at_k(2), wide=True)
    whole = plan.collect()
    expected = whole.filter(predicate)
    assert 0 < expected.height < whole.height
    assert_frame_equal(plan.filter(predicate).collect(engine=engine), expected, check_exact=True)


def test_the_log_is_scanned_once_and_only_in_the_end(scan, log):
    plan = report(scan, *METRICS.values(), wide=True)
    assert len(scans(plan)) == 1
    plan = report(unreadable(log.schema), *METRICS.values(), wide=True)
    with pytest.raises(AssertionError, match="the data were read"):
        plan.collect()


def test_columns_that_nobody_asks_for_are_still_checked(log):
    lost = log.with_columns(category=pl.when(pl.col("trial") != 0).then("category"))
    plan = report(lost.lazy(), ps.avg(), wide=True)
    with pytest.raises(ValueError, match="have a missing category"):
        plan.select("model").collect()
