"""A report is one lazy plan: what it reads, what it computes, and that every bit is repeated.

All of this is asserted of plans and of bits, never of time.
"""

import re
from collections.abc import Callable

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_scorio as ps
from polars_scorio.maths.questions import States
from tests.made_logs import drawn, scans

ENGINES = ["streaming", "in-memory"]
# No weight is a sum of powers of two: sums of them depend on the order of their terms.
METRICS = (ps.bayes([0.1, 0.3, 0.7]), ps.avg([0.1, 0.3, 0.7]), ps.pass_at_k([1, 2, 3]))
ROLES = {"by": "domain", "success": 2}

Ask = Callable[[pl.LazyFrame], pl.LazyFrame]


def report(log: pl.LazyFrame, **options: object) -> pl.LazyFrame:
    return log.scorio(**ROLES).report(*METRICS, **options)


def per_question(log: pl.LazyFrame) -> pl.LazyFrame:
    metrics = ps.bayes(), ps.avg(), ps.pass_at_k([1, 2, 3])
    return log.scorio(**ROLES).report(*metrics, per="question")


def with_prior(log: pl.LazyFrame) -> pl.LazyFrame:
    return report(log, prior=log.filter(pl.col("trial") < 1))


def counts(log: pl.LazyFrame) -> pl.LazyFrame:
    return log.scorio(**ROLES).counts()


def models(log: pl.LazyFrame) -> pl.LazyFrame:
    return log.scorio(**ROLES).compare(METRICS[0])


def ranking(log: pl.LazyFrame) -> pl.LazyFrame:
    return log.scorio(**ROLES).rank(METRICS[0])


def needed(log: pl.LazyFrame) -> pl.LazyFrame:
    return log.scorio(**ROLES).trials_needed(METRICS[1])


def widths(log: pl.LazyFrame) -> pl.LazyFrame:
    return log.scorio(**ROLES).trials_needed(METRICS[1], half_width=0.05)


def steps(log: pl.LazyFrame) -> pl.LazyFrame:
    return log.scorio(**ROLES).trajectory(METRICS[0])


def settling(log: pl.LazyFrame) -> pl.LazyFrame:
    return log.scorio(**ROLES).convergence(METRICS[0], replicates=9, scheme="question")


def spending(log: pl.LazyFrame) -> pl.LazyFrame:
    return log.scorio(**ROLES).next_trials(50, METRICS[1])


ASKED = pytest.mark.parametrize("ask", [report, per_question, with_prior, counts])


@pytest.fixture
def log():
    unneeded = {name: pl.lit(i) for i, name in enumerate(["answer", "tokens", "cost"])}
    return drawn(5, range(9), most=6).with_columns(**unneeded)


@pytest.fixture
def scan(log, tmp_path):
    log.write_parquet(tmp_path / "log.parquet")
    return pl.scan_parquet(tmp_path / "log.parquet")


# --- what is read


# What looks at all models of a stratum, with a filter on a model that it must not look below.
DECISIONS = {
    models: pl.col("model_a") == "a",
    ranking: pl.col("model") == "a",
    needed: pl.col("model_b") == "a",
    widths: pl.col("model") == "a",
    steps: pl.col("model") == "b",
    settling: pl.col("n") > 2,
    spending: (pl.col("model") == "a") & (pl.col("domain") == "web"),
}


@pytest.mark.parametrize("ask", [report, per_question, counts, *DECISIONS])
def test_the_log_is_scanned_once(scan, ask):
    # Optimised, a second scan of the same file could hide behind a cache.
    assert len(re.findall("(?i)parquet scan", ask(scan).explain(optimized=False))) == 1
    assert len(scans(ask(scan))) == 1


@pytest.mark.parametrize(
    ("roles", "columns"),
    [
        pytest.param({}, "4/8", id="keys, trial, category"),
        pytest.param({"by": "domain"}, "5/8", id="and a stratum"),
        pytest.param({"validate": False}, "3/8", id="no trial"),
        pytest.param({"trial": None, "model": None}, "2/8", id="question, category"),
        pytest.param({"count": "cost"}, "4/8", id="multiplicities"),
        pytest.param({"category": pl.col("cost") < pl.col("tokens")}, "5/8", id="expression"),
    ],
)
def test_only_the_columns_in_use_are_read(scan, roles, columns):
    accessor = scan.scorio(**roles, success=1)
    for plan in (accessor.pass_at_k(1), accessor.pass_at_k(1, per="question"), accessor.counts()):
        assert [read for read, _ in scans(plan)] == [columns]
        assert [read for read, _ in scans(plan.select(pl.last()))] == [columns]


@pytest.mark.every(5)
@ASKED
@pytest.mark.parametrize(
    ("predicate", "shown"),
    [
        pytest.param(pl.col("model") == "a", ["model", "a"], id="model"),
        pytest.param(pl.col("domain") == "web", ["domain", "web"], id="stratum"),
        pytest.param(
            pl.col("model").is_in(["a", "b"]) & (pl.col("domain") != "air"),
            ["model", "domain", "a", "b", "air"],
            id="both",
        ),
    ],
)
def test_a_filter_on_keys_reaches_every_scan(scan, ask, predicate, shown):
    plan = ask(scan).filter(predicate)
    for _, selection in scans(plan):
        assert set(shown) <= set(re.findall(r'"(\w+)"', selection))
    assert all(not re.search("model|domain", selection) for _, selection in scans(ask(scan)))
    # Groups that are fitted together are added in another order.
    assert_frame_equal(plan.collect(), ask(scan).collect().filter(predicate), rel_tol=1e-9)


def test_a_filter_reaches_the_scan_of_counts_of_truth_values(scan):
    success = pl.col("cost").fill_null(0) < pl.col("tokens").fill_null(0)
    counts = scan.scorio(category=success, trial=None, missing="drop").counts()
    plan = counts.filter(model="a")
    ((_, selection),) = scans(plan)
    assert '"a"' in selection
    assert_frame_equal(plan.collect(), counts.collect().filter(model="a"))


@pytest.mark.parametrize("ask", [each for each in DECISIONS if each is not spending])
def test_a_filter_on_the_stratum_of_a_decision_reaches_the_scan(log, scan, ask):
    plan, predicate = ask(scan), pl.col("domain") == "web"
    ((_, selection),) = scans(plan.filter(predicate))
    assert '"web"' in selection
    assert_frame_equal(
        plan.filter(predicate).collect(),
        ask(log.lazy()).collect().filter(predicate),
        check_exact=True,
    )


@pytest.mark.every(3)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("ask", "predicate"), DECISIONS.items())
@pytest.mark.parametrize("by", ["domain", ()])
def test_a_filter_does_not_change_what_is_decided(
    log, scan, monkeypatch, ask, predicate, by, engine
):
    if not by and ask is spending:
        predicate = pl.col("model") == "a"
    if not by:
        log = log.filter(domain="web")
        monkeypatch.delitem(ROLES, "by")
        scan = scan.filter(domain="web")
    whole = ask(log.lazy()).collect()
    expected = whole.filter(predicate)
    assert 0 < expected.height < whole.height
    assert_frame_equal(
        ask(scan).filter(predicate).collect(engine=engine), expected, check_exact=True
    )


def test_prior_trials_without_a_model_are_filtered_by_stratum(scan):
    plan = report(scan, prior=scan.filter(model="a").drop("model"))
    data, *priors = scans(plan.filter(model="b", domain="web"))  # Polars may scan a prior once more
    assert '"b"' in data[1]
    assert '"web"' in data[1]
    assert priors
    assert all('"b"' not in prior[1] and '"web"' in prior[1] for prior in priors)


@pytest.mark.slow
@pytest.mark.parametrize("ask", [report, per_question, counts])
def test_a_filter_on_the_model_leaves_the_folders_of_others_alone(log, ask, tmp_path):
    paths = {model: tmp_path / f"model={model}" / "0.parquet" for model in "abc"}
    for model, path in paths.items():
        path.parent.mkdir()
        log.filter(model=model).drop("model").write_parquet(path)
    plan = ask(pl.scan_parquet(list(paths.values()), hive_partitioning=True))
    expected = ask(log.lazy()).collect()
    assert_frame_equal(plan.collect(), expected, check_exact=True)
    paths["b"].unlink()
    expected = expected.filter(model="a")
    # Fewer groups change the shape of matrix products, and with it the last bits.
    assert_frame_equal(plan.filter(model="a").collect(), expected, rel_tol=0, abs_tol=1e-13)
    with pytest.raises(FileNotFoundError):
        plan.collect()


# --- what comes after the report


@pytest.mark.every(5)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("per", "prior"),
    [
        ("model", "uniform"),
        ("question", "uniform"),
        pytest.param("model", None, marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize(
    "predicate",
    [
        pl.col("metric") == "pass_at_k",
        pl.col("mu") > 0.4,
        (pl.col("k") == 2) & (pl.col("model") != "b"),
        pl.col("k").is_null() | (pl.col("domain") == "air"),
        pl.col("mu") == pl.col("mu").max(),
        pl.col("mu") == pl.col("mu").max().over("model"),
        pl.col("model").is_first_distinct(),
        pl.col("domain") == pl.col("domain").first(),
        pl.int_range(pl.len()) < 4,
    ],
    ids=str,
)
def test_a_filter_keeps_the_rows_that_it_would_keep_afterwards(scan, per, prior, predicate, engine):
    plan = report(scan, per=per, prior=prior)
    whole = plan.collect()
    expected = whole.filter(predicate)
    assert 0 < expected.height < whole.height
    rows = plan.filter(predicate).collect(engine=engine)
    assert_frame_equal(rows, expected, rel_tol=1e-9)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("ask", [per_question, counts])
def test_questions_can_be_picked_afterwards(scan, ask, engine):
    expected = ask(scan).collect().filter(question=3)
    assert expected["model"].n_unique() == 3
    rows = ask(scan).filter(question=3).collect(engine=engine)
    assert_frame_equal(rows, expected, check_exact=True)


@pytest.mark.every(3)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("ask", [report, per_question, counts, *DECISIONS])
@pytest.mark.parametrize(
    "after",
    [
        pytest.param(lambda plan: plan.head(1), id="head"),
        pytest.param(lambda plan: plan.tail(1), id="tail"),
        pytest.param(lambda plan: plan.slice(2, 1), id="slice"),
        pytest.param(lambda plan: plan.select(pl.nth(1)), id="select"),
        pytest.param(lambda plan: plan.select(pl.len()), id="len"),
        pytest.param(lambda plan: plan.select("domain").unique(), id="unique"),
        pytest.param(lambda plan: plan.filter(pl.last().cast(pl.String) == "x"), id="filter"),
    ],
)
def test_nothing_gets_round_the_checks(log, ask, after, engine):
    one = pl.all_horizontal(pl.col("model") == "c", pl.col("question") == 8, pl.col("trial") == 0)
    lost = log.with_columns(category=pl.when(~one).then("category"))
    plan = after(ask(lost.lazy()))
    with pytest.raises(ValueError, match=r"^2 questions have a missing category"):
        plan.collect(engine=engine)


# --- the same bits, always


@pytest.fixture(scope="module")
def big() -> pl.DataFrame:
    """300,000 rows, so that every engine cuts them into many morsels."""
    trial, question, model = np.indices((20, 3_000, 5)).reshape(3, -1)
    columns = {"model": model, "question": question, "trial": trial, "domain": question % 2}
    category = np.random.default_rng(0).binomial(2, (question % 97 + model) / 101)
    return pl.DataFrame({**columns, "category": category})


@pytest.fixture(scope="module")
def expected(big) -> pl.DataFrame:
    return report(big.lazy()).collect(engine="in-memory")


@pytest.mark.every(3)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("seed", range(4))
def test_shuffled_rows_give_the_same_bits(big, expected, engine, seed):
    shuffled = big.sample(fraction=1, shuffle=True, seed=seed).lazy()
    assert_frame_equal(report(shuffled).collect(engine=engine), expected, check_exact=True)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_every_run_gives_the_same_bits(big, expected, engine, tmp_path):
    big.write_parquet(tmp_path / "big.parquet", row_group_size=7_000)
    plan = report(pl.scan_parquet(tmp_path / "big.parquet"))
    for _ in range(10):
        assert_frame_equal(plan.collect(engine=engine), expected, check_exact=True)


@pytest.mark.parametrize("ask", [per_question, with_prior, counts])
def test_engines_agree_to_the_last_bit(big, ask):
    some = big.filter(pl.col("question") < 500).lazy()
    streamed, in_memory = (ask(some).collect(engine=engine) for engine in ENGINES)
    assert_frame_equal(streamed, in_memory, check_exact=True)


# --- what is computed


def test_kernels_see_states_and_not_questions(big, monkeypatch):
    tally, seen = States.tally, []

    def spy(*arguments):
        states = tally(*arguments)
        seen.append(len(states.counts))
        return states

    monkeypatch.setattr(States, "tally", staticmethod(spy))
    many = big.lazy().filter(pl.col("trial") < 3)
    calls = []
    for log in (many.filter(pl.col("question") < 6), many):
        seen.clear()
        report(log).collect()
        calls.append(len(seen))
        assert max(seen) <= 10  # three trials in three categories
    assert calls[0] == calls[1] > 0


@pytest.mark.parametrize("engine", ENGINES)
def test_states_that_strata_share_are_evaluated_once(big, monkeypatch, engine):
    mean, seen = States.mean, []

    def spy(states, values):
        seen.append((len(values), states.groups))
        return mean(states, values)

    monkeypatch.setattr(States, "mean", spy)
    accessor = big.lazy().scorio(by="domain", success=1, prior="uniform")
    accessor.pass_at_k(2).collect(engine=engine)
    c = big.group_by("domain", "model", "question").agg((pl.col("category") == 1).sum())["category"]
    assert seen == [(c.n_unique(), 10)] * 2  # the estimate and mu


@pytest.mark.parametrize("engine", ENGINES)
def test_twenty_thousand_strata_are_not_too_many(engine):
    trial, question, stratum = np.indices((2, 3, 20_000)).reshape(3, -1)
    category = np.random.default_rng(1).integers(0, 2, stratum.size)
    columns = {"question": question, "trial": trial, "category": category, "stratum": stratum}
    log = pl.DataFrame(columns).sample(fraction=1, shuffle=True, seed=0).lazy()
    rows = log.scorio(model=None, by="stratum", prior="uniform").report(ps.bayes(), ps.pass_at_k(2))
    c = category.reshape(2, 3, -1).sum(axis=0)
    # Of two trials c succeeded: the posterior is Beta(1 + c, 3 - c).
    by_hand = {"bayes": ((1 + c) / 4).mean(axis=0), "pass_at_k": (c > 0).mean(axis=0)}
    collected = rows.collect(engine=engine)
    assert collected["stratum"].to_list() == np.repeat(np.arange(20_000), 2).tolist()
    bayes, passed = (collected.filter(metric=metric) for metric in by_hand)
    # Means of three numbers that floats hold exactly, here and below: the last bits.
    np.testing.assert_allclose(bayes["mu"], by_hand["bayes"], rtol=1e-14)
    np.testing.assert_allclose(passed["estimate"], by_hand["pass_at_k"], rtol=1e-14)


@pytest.mark.parametrize(
    "ask",
    [report, per_question, counts, models, ranking, needed, widths, steps, settling, spending],
)
def test_python_stands_once_in_a_plan(ask, log):
    """Each further callback would hold the whole frame once more, and hide the plan below it."""
    assert ask(log.lazy()).explain().count("OPAQUE_PYTHON") == 1
