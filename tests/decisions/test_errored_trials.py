"""Errored trials as a bracket: all of them failed, or all were solved."""

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_scorio as ps
from polars_scorio.command_line.main import main
from polars_scorio.display.facts.ranking_facts import pair_bracket
from polars_scorio.display.words.ranking_words import bracket_sentence
from tests.documents import study_numbers

ENDS = ["lo", "hi"]


def drawn(models=3, questions=20, trials=4, errors=0.05, seed=1, gain=0.0):
    """Trials of which a share has no outcome."""
    rng = np.random.default_rng(seed)
    model, question, trial = np.indices((models, questions, trials)).reshape(3, -1)
    solved = rng.random(model.size) < 0.4 + 0.1 * (model > 0) + gain * (model > 0)
    lost = rng.random(model.size) < errors
    category = [None if gone else int(won) for gone, won in zip(lost, solved, strict=True)]
    columns = {"question": question, "trial": trial, "category": category}
    return pl.DataFrame({"model": [f"m{i}" for i in model], **columns})


LOG = drawn()
FAILED, SOLVED = (LOG.scorio(missing=value) for value in (0, 1))
BOUNDS = LOG.scorio(missing="bounds")
METRICS = ps.avg(), ps.pass_at_k([1, 2, 4]), ps.pass_hat_k(3)


def with_solved(models):
    """The log in which errored trials of these models were solved, and all others failed."""
    filled = pl.when(pl.col("model").is_in(models)).then(1).otherwise(0)
    return LOG.with_columns(pl.col("category").fill_null(filled)).scorio


KINDS = {"avg": ps.avg(), "pass_at_k 2": ps.pass_at_k(2), "pass_hat_k 2": ps.pass_hat_k(2)}


@pytest.mark.filterwarnings("ignore::polars_scorio.CheckWarning")  # a question of one kind
@pytest.mark.parametrize("case", study_numbers("curves")["bracket"])
def test_the_scores_of_both_logs_equal_the_vectors(case):
    rows = [
        {"question": place, "category": category}
        for place, (n, c, x) in enumerate(zip(case["n"], case["c"], case["x"], strict=True))
        for category in [1] * c + [None] * x + [0] * (n - c - x)
    ]
    log = pl.DataFrame(rows, schema={"question": pl.Int64, "category": pl.Int64})
    scorio = log.scorio(model=None, trial=None, missing="bounds")
    found = scorio.report(KINDS[case["metric"]]).row(0, named=True)
    for end in ("lo_missing", "hi_missing"):
        assert found[end] == pytest.approx(case[end], abs=1e-9)
    assert found["errored"] == sum(case["x"])


@pytest.mark.parametrize("target", ["benchmark", "population"])
def test_intervals_reach_from_the_least_to_the_most_of_both_logs(target):
    found, low, high = (log.report(*METRICS, target=target) for log in (BOUNDS, FAILED, SOLVED))
    assert found["lo"].to_list() == [*map(min, low["lo"], high["lo"])]
    assert found["hi"].to_list() == [*map(max, low["hi"], high["hi"])]
    assert found["lo_missing"].to_list() == low["estimate"].to_list()
    assert found["hi_missing"].to_list() == high["estimate"].to_list()
    nulls = LOG.group_by("model").agg(pl.col("category").null_count()).sort("model")
    assert (
        found.unique("model", keep="first")
        .sort("model")["errored"]
        .equals(nulls["category"].cast(pl.UInt64), null_equal=True)
    )
    assert found["trials"].unique().to_list() == [80]
    rate = found.filter(metric="avg")
    assert (rate["hi_missing"] - rate["lo_missing"]).to_numpy() == pytest.approx(
        rate["errored"].to_numpy() / 80
    )


@pytest.mark.parametrize("target", ["benchmark", "population"])
def test_the_lower_end_of_a_pair_has_the_errors_failed_under_one_and_solved_under_the_other(target):
    options = {"simultaneous": True, "target": target}
    found = BOUNDS.compare(**options)
    for row in found.rows(named=True):
        pair = {name: row[name] for name in ("model_a", "model_b")}
        low, high = (
            with_solved([row[side]]).compare(**options).filter(**pair)
            for side in ("model_b", "model_a")
        )
        assert (row["lo"], row["hi"]) == pytest.approx(
            (low["lo"].item(), high["hi"].item()), abs=1e-9
        )
        assert row["lo_missing"] == pytest.approx(low["diff"].item())
        assert row["hi_missing"] == pytest.approx(high["diff"].item())
        both = {low["better"].item(), high["better"].item()}
        assert row["better"] == (both.pop() if len(both) == 1 else None)


def test_a_baseline_is_compared_with_all_others_at_once():
    found = BOUNDS.compare(baseline="m1", simultaneous=True)
    low, high = (
        with_solved(models).compare(baseline="m1", simultaneous=True)
        for models in (["m1"], ["m0", "m2"])
    )
    assert found["lo"].to_list() == low["lo"].to_list()
    assert found["hi"].to_list() == high["hi"].to_list()
    assert found["adjusted_for"].unique().to_list() == ["all with the baseline"]


@pytest.mark.parametrize("baseline", [None, "m0"])
def test_without_errors_nothing_changes(baseline):
    log = drawn(errors=0)
    plain, bounds = log.scorio, log.scorio(missing="bounds")
    for ask in (
        lambda log: log.report(*METRICS),
        lambda log: log.compare(METRICS[1], baseline=baseline, simultaneous=True),
        lambda log: log.gate("m0", margin=0.02),
        lambda log: log.rank(),
    ):
        found, known = ask(bounds), ask(plain)
        assert_frame_equal(found.select(known.columns), known, abs_tol=1e-12)
        assert found["lo_missing"].equals(found["hi_missing"])


def test_a_hidden_failure_raises_no_end_and_a_hidden_success_lowers_none():
    hidden = {value: LOG.with_row_index().with_columns(
        category=pl.when(pl.col("index") != LOG["category"].index_of(value)).then("category")
    ) for value in (0, 1)}  # fmt: skip
    before = BOUNDS.report(*METRICS)
    for value, same, moved in ((0, "lo", "hi"), (1, "hi", "lo")):
        after = hidden[value].scorio(missing="bounds").report(*METRICS)
        assert after[same].to_list() == before[same].to_list()
        assert after[moved].to_list() != before[moved].to_list()


def test_a_gate_passes_and_fails_whatever_the_errored_trials_were():
    log = drawn(2, 60, errors=0.1, gain=0.3)
    rows = {
        meaning: log.scorio(missing=meaning).gate("m0", margin=0.02)
        for meaning in ("bounds", "drop")
    }
    assert [each["verdict"].item() for each in rows.values()] == ["pass", "pass"]
    found, plain = rows.values()
    assert found["lo"].item() < plain["lo"].item() < plain["hi"].item() < found["hi"].item()
    assert found["diff"].item() is None
    back = log.scorio(missing="bounds").gate("m1", margin=0.02)
    assert back["verdict"].item() == "fail"
    close = drawn(2, 60, errors=0.3, gain=0.1).scorio(missing="bounds").gate("m0", margin=0.02)
    assert close["verdict"].item() == "undecided"
    assert close["extra_trials"].item() is None


def test_a_curve_is_better_where_both_of_its_logs_say_so():
    log = drawn(2, 40, 8, errors=0.03, gain=0.15)
    curve = log.scorio(missing="bounds").compare(
        ps.pass_at_k(range(1, 9)), baseline="m0", simultaneous=True
    )
    gained = curve["gain_to"].unique().item()
    assert gained > 1
    assert curve.filter(pl.col("k") <= gained)["lo"].min() > 0
    plain = log.scorio(missing="drop").compare(
        ps.pass_at_k(range(1, 7)), baseline="m0", simultaneous=True
    )
    assert gained <= plain["gain_to"][0]


def test_a_question_with_errors_alone_may_be_anything():
    log = pl.DataFrame({"question": [0, 0, 1, 1], "category": [None, None, 1, 1]})
    found = log.scorio(model=None, trial=None, missing="bounds", n=2).report(ps.pass_hat_k(2))
    assert found.select("lo_missing", "hi_missing", "errored", "questions").row(0) == (0.5, 1, 2, 2)


def test_strata_and_means_over_them_have_brackets():
    log = pl.concat([LOG.with_columns(half=pl.lit(half)) for half in "xy"])
    bounds = log.scorio(by="half", missing="bounds")
    found = bounds.report(ps.avg(), overall="macro")
    low = log.scorio(by="half", missing=0).report(ps.avg(), overall="macro")
    assert found["lo"].to_list() == low["lo"].to_list()
    whole = found.filter(pl.col("half").is_null())
    assert whole["errored"].sum() == log["category"].null_count()
    pairs = bounds.compare(baseline="m0", overall="macro")
    assert pairs.height == 6
    one = bounds.compare().filter(half="x").drop("half")
    assert_frame_equal(one, BOUNDS.compare(), abs_tol=1e-9)
    mean = bounds.compare(overall="macro").filter(pl.col("half").is_null())
    least = pairs.filter(pl.col("half").is_null(), model_a="m1")
    pair = mean.filter(model_a="m0", model_b="m1").row(0, named=True)
    assert pair["lo_missing"] == pytest.approx(-least["hi_missing"].item())
    assert pair["hi_missing"] == pytest.approx(-least["lo_missing"].item())


LOGS = [
    drawn(models, questions, trials, errors, seed, gain)
    for seed, (models, questions, trials, errors, gain) in enumerate(
        [
            (2, 10, 4, 0.1, 0.0), (2, 10, 4, 0.3, 0.3), (3, 20, 4, 0.05, 0.1), (3, 20, 4, 0.2, 0.2),
            (2, 60, 1, 0.1, 0.2), (4, 12, 8, 0.02, 0.1), (3, 8, 4, 0.5, 0.3), (5, 30, 2, 0.1, 0.1),
            (2, 40, 5, 0.15, 0.4), (3, 15, 9, 0.05, 0.1), (6, 10, 4, 0.1, 0.1), (2, 5, 3, 0.4, 0.2),
        ]
    )
]  # fmt: skip


def inside(found, known, keys):
    """Whether rows hold the intervals of other rows with the same keys."""
    both = found.join(known, on=keys, suffix="_known", nulls_equal=True)
    assert both.height == found.height
    lo, hi = (both[f"{end}_known"] - both[end] for end in ENDS)
    return lo.min() >= -1e-12 and hi.max() <= 1e-12


@pytest.mark.every(6)
@pytest.mark.parametrize("target", ["benchmark", "population"])
@pytest.mark.parametrize("log", LOGS, ids=range(len(LOGS)))
def test_a_bracket_holds_every_filled_log(log, target):
    """Brackets from two logs alone left out a pair of another one in 3 of these 12 logs."""
    bounds = log.scorio(missing="bounds", target=target)
    pairs = bounds.compare()
    names = log["model"].unique().sort().to_list()
    for solved in ([], names, *([name] for name in names)):
        filled = pl.when(pl.col("model").is_in(solved)).then(1).otherwise(0)
        known = log.with_columns(pl.col("category").fill_null(filled)).scorio(target=target)
        assert inside(pairs, known.compare(), ["model_a", "model_b"])
        if len(solved) != 1:
            found, rows = (each.report(ps.avg()) for each in (bounds, known))
            assert inside(found, rows, ["model"])


@pytest.mark.every(6)
@pytest.mark.parametrize("log", LOGS, ids=range(len(LOGS)))
def test_ranks_are_those_of_the_pairs_that_hold_whatever_the_errors_were(log):
    bounds = log.scorio(missing="bounds")
    ranks, board = bounds.rank(), bounds.leaderboard(ps.avg(), ps.pass_at_k(1))
    won = bounds.compare().filter(pl.col("better").is_not_null())
    loser = pl.when(pl.col("model_a") == pl.col("better")).then("model_b").otherwise("model_a")
    won = won.with_columns(loser=loser)
    tiers = dict(ranks.select("model", "tier").rows())
    for row in ranks.rows(named=True):
        above = won.filter(loser=row["model"])["better"].to_list()
        assert row["rank_lo"] == 1 + len(above)
        assert row["rank_hi"] == ranks.height - won.filter(better=row["model"]).height
        assert row["tier"] == 1 + max((tiers[name] for name in above), default=0)
    assert (ranks["tier"] == 1).equals(ranks["could_be_best"])
    places = ["model", "rank", "rank_lo", "rank_hi", "tier", "could_be_best"]
    assert_frame_equal(board.select(places), ranks.select(places))
    rows = bounds.report(ps.avg()).select("model", "lo", "hi").rows_by_key("model", named=True)
    for name, lo, hi, best in board.select("model", "avg_lo", "avg_hi", "avg_best").rows():
        ((row,),) = [rows[name]]
        assert (lo, hi) == pytest.approx((row["lo"], row["hi"]), abs=1e-12)
        assert best == (len(tiers) - 1 == won.filter(better=name).height)
    assert_frame_equal(log.lazy().scorio(missing="bounds").rank().collect(), ranks)


@pytest.mark.slow
def test_ranks_of_strata_and_their_mean_have_brackets():
    log = LOGS[2].with_columns(half=pl.col("question") % 2)
    bounds = log.scorio(by="half", missing="bounds")
    ranks = bounds.rank(overall="macro")
    assert ranks["half"].to_list() == [0] * 3 + [1] * 3 + [None] * 3
    assert ranks.filter(pl.col("half").is_null()).equals(
        bounds.rank(overall="macro").filter(pl.col("half").is_null())
    )
    board = bounds.leaderboard()
    mean = ranks.filter(pl.col("half").is_null()).select("model", "tier", "rank_lo", "rank_hi")
    assert_frame_equal(board.select(mean.columns), mean)


def test_lazy_logs_and_counts_have_the_same_bracket():
    for found in (
        LOG.lazy().scorio(missing="bounds").compare().collect(),
        LOG.scorio(missing="drop").counts().scorio(count="count", missing="bounds").compare(),
    ):
        assert_frame_equal(found, BOUNDS.compare(), abs_tol=1e-12)


@pytest.mark.parametrize(
    ("name", "baseline"),
    [
        (pl.col("model").cast(pl.Categorical), "m1"),
        (pl.col("model").cast(pl.Enum(["m0", "m1", "m2"])), "m1"),
        (pl.col("model").str.slice(1).cast(pl.Int64), 1),
    ],
    ids=["Categorical", "Enum", "Int64"],
)
def test_models_of_every_kind_are_told_apart(name, baseline):
    scorio = LOG.with_columns(name).scorio(missing="bounds")
    numbers = ["lo", "hi", "lo_missing", "hi_missing"]
    for found, known in (
        (scorio.compare(), BOUNDS.compare()),
        (scorio.compare(baseline=baseline), BOUNDS.compare(baseline="m1")),
    ):
        assert_frame_equal(found.select(numbers), known.select(numbers), abs_tol=1e-9)
        assert found.schema["better"] == found.schema["model_a"]


def test_clusters_and_lower_scores_have_brackets():
    grouped = LOG.with_columns(passage=pl.col("question") // 4)
    roles = {"cluster": "passage", "target": "population"}
    found = grouped.scorio(**roles, missing="bounds").report(ps.avg())
    assert (
        found["lo"].to_list() == grouped.scorio(**roles, missing=0).report(ps.avg())["lo"].to_list()
    )
    log = drawn(2, 60, errors=0.05, gain=0.3)
    lower = log.scorio(missing="bounds", lower_is_better=True)
    assert lower.compare()["better"].item() == "m0"
    assert lower.gate("m0", margin=0.02)["verdict"].item() == "fail"
    assert lower.gate("m1", margin=0.02)["verdict"].item() == "pass"


WORDS = pl.col("category").replace_strict({0: "wrong", 1: "right"}, return_dtype=pl.String)


@pytest.mark.parametrize(
    ("frame", "roles"),
    [
        (LOG.with_columns(category=pl.col("category") == 1), {}),
        (LOG.with_columns(category=WORDS), {"success": "right"}),
        (
            LOG.with_columns(category=WORDS.cast(pl.Enum(["right", "wrong"]))),
            {"success": "right"},
        ),
        (LOG.with_columns(pl.col("category").cast(pl.Float64)), {"threshold": 0.5}),
        (LOG.with_columns(pl.col("category").cast(pl.Float64)), {"bounds": (0, 1)}),
        (LOG.with_columns(pl.col("category").cast(pl.Float64)), {"levels": [0, 1]}),
        (LOG.with_columns(pl.col("category") + 3), {"success": 4}),
    ],
    ids=["Boolean", "labels", "Enum", "threshold", "bounds", "levels", "integers"],
)
def test_the_worst_and_the_best_follow_from_what_a_category_means(frame, roles):
    found = frame.scorio(missing="bounds", **roles).report(ps.avg())
    names = ["errored", "lo_missing", "hi_missing"]
    assert_frame_equal(found.select(names), BOUNDS.report(ps.avg()).select(names))


def test_weights_say_which_category_is_the_worst():
    log = LOG.with_columns(pl.col("category").replace({1: 2}))
    metric = ps.avg({0: 0.5, 1: 0, 2: 1})
    found = log.scorio(missing="bounds").report(metric)
    for end, value in (("lo_missing", 1), ("hi_missing", 2)):
        filled = log.scorio(missing=value).report(metric)
        assert found[end].to_list() == filled["estimate"].to_list()
    with pytest.raises(ValueError, match="do not agree on the worst"):
        log.scorio(missing="bounds").report(metric, ps.avg({0: 0, 1: 0.5, 2: 1}, name="other"))


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda log: log.best(), "has answers of report, compare, rank, gate, leaderboard"),
        (lambda log: log.trials_needed(), "has answers of report, compare, rank, gate"),
        (lambda log: log.counts(), "has answers of report, compare, rank, gate, leaderboard"),
        (lambda log: log.rank(simultaneous=False), "ranks that hold for all models at once"),
        (lambda log: log.report(ps.bayes()), "no .*posteriors"),
        (lambda log: log.report(ps.avg(), prior="uniform"), "no .*posteriors"),
        (lambda log: log.report(ps.avg(), wide=True), "omit wide="),
        (lambda log: log.report(ps.avg(), per="question"), "omit per="),
        (lambda log: log.gate("m0", margin=0.1, fail_on="regressed"), "is about differences"),
    ],
)
def test_what_has_no_bracket_is_refused(ask, message):
    with pytest.raises(ValueError, match=message):
        ask(BOUNDS)


def test_rewards_without_a_range_are_refused():
    log = LOG.with_columns(pl.col("category").cast(pl.Float64))
    with pytest.raises(ValueError, match=r"needs the range of the rewards in 'category'"):
        log.scorio(missing="bounds").report(ps.avg())
    everything = LOG.with_columns(pl.lit("won", pl.Enum(["won"])).alias("category"))
    with pytest.raises(ValueError, match="all categories are successes"):
        everything.scorio(missing="bounds", success="won").report(ps.avg())


def test_all_trials_errored_leaves_everything_open():
    log = pl.DataFrame({"model": ["a", "b"] * 4, "question": [0, 1, 1, 0] * 2, "category": None})
    log = log.with_columns(pl.col("category").cast(pl.Int64))
    bounds = log.scorio(trial=None, missing="bounds")
    assert bounds.report(ps.avg()).select("lo", "hi", "sigma").unique().row(0) == (0, 1, None)
    assert bounds.compare().select("better", "diff", "sigma").row(0) == (None, None, None)


# --- what people read


def test_sentences_say_how_far_errors_move_a_difference():
    assert bracket_sentence(*pair_bracket(drawn(errors=0).scorio(missing="bounds").compare())) == (
        "Errored trials move no difference."
    )
    pairs = BOUNDS.compare()
    said = bracket_sentence(*pair_bracket(pairs))
    assert said.startswith("Errored trials could move a difference by up to 0.")
    assert f"In {3 - pairs['better'].null_count()} of 3 pairs a model is better" in said


@pytest.fixture
def file(tmp_path):
    def write(log):
        log.write_csv(tmp_path / "log.csv")
        return str(tmp_path / "log.csv")

    return write


def test_commands_take_bounds(file, capsys):
    log = file(drawn(2, 60, errors=0.1, gain=0.3))
    assert main(["compare", log, "--missing", "bounds"]) == 0
    assert "Errored trials could move a difference by up to" in capsys.readouterr().out
    assert main(["gate", log, "--baseline", "m0", "--margin", "0.02", "--missing", "bounds"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "the verdict holds in any case" in said
    assert main(["summary", log, "--missing", "bounds"]) == 0
    assert main(["gate", log, "--baseline", "m0", "--margin", "0.02", "--missing", "bound"]) == 2
    assert "did you mean 'bounds'?" in capsys.readouterr().err
