"""Leaderboards: the numbers of the report in the order of the ranking."""

import warnings

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import polars_scorio as ps
from tests.display.html.logs import models
from tests.made_logs import drawn, law, log_of_runs, long, ragged

METRICS = (ps.bayes(), ps.pass_at_k([1, 2]))
PLACES = ["rank", "rank_lo", "rank_hi", "could_be_best", "tier"]
NUMBERS = [
    f"{name}{end}"
    for name in ("bayes", "pass_at_k_1", "pass_at_k_2")
    for end in ("", "_estimate", "_best", "_sigma", "_lo", "_hi")
]
FACTS = ["questions", "trials", "dropped", "headings", "confidence", "inference"]


@pytest.fixture
def log():
    """Three models with the same seven questions in each of two strata."""
    return drawn(3, range(7), most=4)


def order_of(rows: pl.DataFrame) -> list[str]:
    number = pl.col("mu" if "mu" in rows.columns else "estimate").round(12)
    return rows.sort(number, "model", descending=[True, False])["model"].to_list()


# --- numbers and order


def tidy_of(report: pl.DataFrame, metric: str, k: int | None) -> pl.DataFrame:
    """The numbers of a metric in a report, named as those of a leaderboard."""
    name = metric if k is None else f"{metric}_{k}"
    ends = {"mu": "", "estimate": "_estimate", "sigma": "_sigma", "lo": "_lo", "hi": "_hi"}
    rows = report.filter(pl.col("metric") == metric, pl.col("k").eq_missing(pl.lit(k)))
    return rows.select("model", *(pl.col(old).alias(name + end) for old, end in ends.items()))


def assert_shows(board: pl.DataFrame, report: pl.DataFrame, prefix: str = "") -> None:
    """The leaderboard has the numbers of the report: mu with its interval, and the estimate."""
    for metric, k in (("bayes", None), ("pass_at_k", 1), ("pass_at_k", 2)):
        expected = tidy_of(report, metric, k)
        names = [f"{prefix}{name}" for name in expected.columns if name != "model"]
        shown = board.select("model", *names).sort("model")
        shown.columns = expected.columns
        assert_frame_equal(shown, expected.sort("model"), check_exact=True)


def test_a_row_is_that_of_the_report_in_rank_order(r1):
    log = pl.concat([r1, long([[0] * 5, [0, 1, 0, 0, 0]], "poor")])
    board = log.scorio.leaderboard(*METRICS)
    assert {*board.columns} == {*PLACES, "model", *NUMBERS, *FACTS}
    ranks = log.scorio.rank(ps.bayes())
    ranks = ranks.select("rank", "rank_lo", "rank_hi", "model", "could_be_best", "tier")
    assert_frame_equal(board.select(ranks.columns), ranks)
    assert board["model"].to_list() == ["m", "poor"]
    report = log.scorio.report(*METRICS)
    assert_shows(board, report)
    # DESIGN.md, section 7 (R1): 7 of 10 trials, and 9.5 of 10 pairs of them.
    row = board.row(0, named=True)
    assert (row["pass_at_k_1"], row["pass_at_k_2"]) == pytest.approx((0.7, 0.95))
    assert (row["questions"], row["trials"], row["dropped"]) == (2, 10, 0)
    inference = "calibrated (Bayes@N: uniform prior)"
    assert (row["confidence"], row["inference"]) == (0.95, inference)


def test_published_numbers_end_where_the_metric_does(r1):
    board = r1.scorio.leaderboard(*METRICS, prior="uniform")
    # DESIGN.md, section 7 (R1): (0.642857, 0.118451), bounded interval (0.4107, 0.875):
    # to six decimals and to four, and half of the last is the tolerance.
    row = board.row(0, named=True)
    assert (row["bayes"], row["bayes_sigma"]) == pytest.approx((0.642857, 0.118451), abs=5e-7)
    assert (row["bayes_lo"], row["bayes_hi"]) == pytest.approx((0.4107, 0.875), abs=5e-5)
    assert (row["pass_at_k_2"], row["pass_at_k_2_estimate"]) == pytest.approx((0.839286, 0.95))
    assert row["inference"] == "uniform prior"
    single = long([[1]]).scorio.leaderboard(ps.bayes(), prior="uniform").row(0, named=True)
    # mu = 2/3, sigma = sqrt(1/18), to four decimals: the interval of the report ends at 1.129.
    assert (single["bayes_lo"], single["bayes_hi"]) == pytest.approx((0.2047, 1.0), abs=5e-5)


@law
@given(ragged(), st.sampled_from([None, "population", "uniform"]), st.integers(1, 8))
def test_no_number_lies_outside_the_bracket_beside_it(outcomes, prior, k):
    metrics = (ps.bayes(), ps.avg(), ps.pass_at_k(k), ps.pass_hat_k(k), ps.geom_at_k(k))
    board = long(outcomes).scorio.leaderboard(*metrics, prior=prior)
    for name in [column[:-3] for column in board.columns if column.endswith("_lo")][1:]:
        number, lo, hi = board.select(name, f"{name}_lo", f"{name}_hi").row(0)
        # avg of the published paper has no bounds of its own, and ends where scores do.
        # Beyond twice the trials a range has no mean; else the last digits of two sums.
        assert number is None or lo - 1e-12 <= number <= hi + 1e-12, name
        assert -1e-12 <= lo <= hi <= 1 + 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("overall", ["macro", "micro"])
def test_strata_stand_beside_the_overall_numbers(log, overall):
    accessor = log.scorio(by="domain", success=[1, 2])
    board = accessor.leaderboard(*METRICS, overall=overall, confidence=0.8)
    options = {"overall": overall, "confidence": 0.8}
    report = accessor.report(*METRICS, **options)
    columns = [f"{prefix}{name}" for prefix in ("", "air__", "web__") for name in NUMBERS]
    # The first number and its interval stand where a narrow print shows them.
    ends = ["bayes_sigma", "bayes_lo", "bayes_hi"]
    between = [name for name in columns if name not in ends]
    assert [name for name in board.columns if name in columns] == [*between, *ends]
    for stratum, prefix in ((None, ""), ("air", "air__"), ("web", "web__")):
        own = report.filter(pl.col("domain").eq_missing(pl.lit(stratum, pl.String)))
        assert_shows(board, own, prefix)
    wide = accessor.report(ps.bayes(), **options)
    everything = wide.filter(pl.col("domain").is_null()).sort("model")
    counts = ["questions", "trials", "dropped"]
    assert_frame_equal(board.sort("model").select(counts), everything.select(counts))
    assert board.select("confidence", "overall").unique().rows() == [(0.8, overall)]


@pytest.mark.slow
def test_strata_are_averaged_unless_asked_otherwise(log):
    accessor = log.scorio(by="domain", success=[1, 2])
    default = accessor.leaderboard(*METRICS)
    assert_frame_equal(default, accessor.leaderboard(*METRICS, overall="macro"))
    assert default["overall"].unique().to_list() == ["macro"]
    assert "Columns without a stratum: mean of 2 domains." in ps.to_markdown(default)


def test_ranks_are_those_of_the_overall_rows():
    better, worse = [[1] * 7 + [0]] * 2, [[1] * 5 + [0] * 3] * 2
    log = pl.concat(
        long(outcomes, model).with_columns(domain=pl.lit(domain))
        for domain in ("web", "air")
        for model, outcomes in (("worse", worse), ("better", better))
    )
    # Two questions with 7 of 8 against 5 of 8: published, mu is 0.8 and 0.6, sigma the root of
    # mu (1 - mu) / 11 / 2, so z is 1.48 in each stratum and 1.48 sqrt(2) = 2.10 for their mean.
    z = 0.2 / ((0.16 + 0.24) / 22) ** 0.5
    pairs = log.scorio(by="domain").compare(ps.bayes())
    assert pairs["z"].to_list() == pytest.approx([z, z])
    assert z < 1.960 < 2**0.5 * z < 2.576
    assert log.scorio(by="domain").rank(ps.bayes())["rank_hi"].to_list() == [2, 2, 2, 2]
    for confidence, ends in ((0.95, [1, 2]), (0.99, [2, 2])):
        options = {"confidence": confidence, "prior": "uniform"}
        board = log.scorio(by="domain").leaderboard(ps.bayes(), **options)
        rows = [(1, ends[0], "better"), (2, ends[1], "worse")]
        assert board.select("rank", "rank_hi", "model").rows() == rows


@pytest.mark.slow
def test_the_first_metric_ranks(log):
    accessor = log.scorio(success=[1, 2], by="domain")
    for metric in (ps.pass_hat_k([1, 3]), ps.avg()):
        board = accessor.leaderboard(metric, ps.bayes())
        report = accessor.report(metric, overall="micro")
        rows = report.filter(pl.col("domain").is_null())
        first = rows.filter(pl.col("k").eq_missing(pl.lit(metric.k[0], pl.Int64)))
        assert board["model"].to_list() == order_of(first)


def test_the_smallest_draw_ranks():
    # Published, mu of Pass@1 is 1/2 against 1/3; of Pass@8 it is (1 - 5/13 + 1 - 1/1287) / 2 = 0.81
    # against 1 - 20/156 = 0.87.
    log = pl.concat([long([[1] * 4, [0] * 4], "split"), long([[1, 0, 0, 0]] * 2, "even")])
    accessor = log.scorio(prior="uniform")
    assert accessor.leaderboard(ps.pass_at_k([8, 1]))["model"].to_list() == ["split", "even"]
    assert accessor.leaderboard(ps.pass_at_k(8))["model"].to_list() == ["even", "split"]


def test_options_pass_through(log):
    accessor = log.scorio(success=[1, 2], by="domain")
    options = {"prior": drawn(9, range(7), most=2)}
    board = accessor.leaderboard(ps.bayes(), **options)
    report = accessor.report(ps.bayes(), overall="macro", **options)
    expected = tidy_of(report.filter(pl.col("domain").is_null()), "bayes", None)
    shown = board.sort("model").select(expected.columns)
    assert_frame_equal(shown, expected, check_exact=True)
    assert board["inference"].unique().to_list() == ["uniform prior, with prior trials"]
    population = accessor.leaderboard(ps.avg(), target="population")
    assert population["inference"].unique().to_list() == ["calibrated, questions as a sample"]


def test_an_estimate_that_does_not_exist_is_null(r1):
    board = r1.scorio.leaderboard(ps.pass_at_k(6))
    assert board["pass_at_k_6_estimate"].to_list() == [None]
    assert board["pass_at_k_6_lo"].item() < board["pass_at_k_6_hi"].item()


def test_a_table_says_what_its_intervals_rest_on():
    """Other runs, as a report says it of each row."""
    differ = log_of_runs(0.4, 0, runs=4).scorio(run="trial")
    board, rows = (pl.DataFrame(ask(ps.avg())).select("model", "inference").sort("model")
                   for ask in (differ.leaderboard, differ.report))  # fmt: skip
    assert_frame_equal(board, rows)
    assert {*board["inference"]} == {"calibrated, other runs"}
    note = ps.to_markdown(differ.leaderboard())
    assert "calibrated 95 % intervals, other runs, about these questions" in note
    sample = differ.leaderboard(ps.avg(), target="population")
    assert sample["inference"][0] == "calibrated, questions as a sample, other runs"


@pytest.mark.parametrize("target", ["benchmark", "population"])
def test_a_leaderboard_counts_the_trials_and_runs_of_a_report_and_warns_once(target):
    differ = log_of_runs(0.4, 0, runs=4).scorio(run="trial", target=target)
    first = pl.col("trial").filter(pl.col("category") == 1).min().over("model", "question")
    stopped = differ.frame.filter(pl.col("trial") <= first.fill_null(4)).scorio(target=target)
    for asked, warned in ((differ, 0), (stopped, 1)):
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            board = asked.leaderboard(ps.avg()).sort("model")
        with warnings.catch_warnings(record=True) as expected:
            warnings.simplefilter("always")
            rows = asked.report(ps.avg()).sort("model")
        assert [str(each.message) for each in heard] == [str(each.message) for each in expected]
        assert len(heard) == warned
        for column, number in (("avg", "estimate"), ("avg_lo", "lo"), ("avg_hi", "hi")):
            assert board[column].to_list() == pytest.approx(rows[number].to_list(), rel=1e-12)


# --- names


@pytest.mark.parametrize(
    ("by", "values", "prefix"),
    [
        ("domain", "τ-bench: air__line", "τ-bench: air__line"),
        ("temperature", 0.7, "temperature 0.7"),
        ("the year", 2026, "the year 2026"),
        ("domain", "2wiki", "2wiki"),
        ("domain", "", "domain"),
        ("flag", True, "flag True"),
    ],
)
def test_a_stratum_keeps_its_name(r1, by, values, prefix):
    board = r1.with_columns(pl.lit(values).alias(by)).scorio(by=by).leaderboard(ps.bayes())
    assert f"{prefix}__bayes_lo" in board.columns


def test_several_columns_of_strata_make_one_name(r1):
    log = r1.with_columns(domain=pl.lit("air"), temperature=pl.lit(1))
    board = log.scorio(by=["domain", "temperature"]).leaderboard(ps.bayes())
    assert board["air / temperature 1__bayes"].item() == board["bayes"].item()
    sql = pl.SQLContext(board=board, eager=True)
    query = 'SELECT "air / temperature 1__bayes_lo" AS lo FROM board ORDER BY bayes DESC'
    assert sql.execute(query)["lo"].item() == board["bayes_lo"].item()


def test_strata_with_the_same_name_are_refused(r1):
    pairs = [("a / b", "c"), ("a", "b / c")]
    log = pl.concat(r1.with_columns(x=pl.lit(x), y=pl.lit(y)) for x, y in pairs)
    message = r"strata \{'x': 'a', 'y': 'b / c'\} and .* would both have the columns 'a / b / c__'"
    with pytest.raises(ValueError, match=message):
        log.scorio(by=["x", "y"]).leaderboard(ps.bayes())


def test_a_model_column_of_any_name_and_dtype(r1):
    ids = r1.rename({"model": "id"}).with_columns(id=pl.lit(7))
    assert ids.scorio(model="id").leaderboard(ps.bayes())["id"].to_list() == [7]
    with pytest.raises(ValueError, match="two columns named 'rank'"):
        r1.rename({"model": "rank"}).scorio(model="rank").leaderboard(ps.bayes())


# --- frames and errors


@pytest.mark.slow
def test_a_lazy_log_is_collected(log):
    board = log.scorio(by="domain", success=[1, 2]).leaderboard(*METRICS)
    lazy = log.lazy().scorio(by="domain", success=[1, 2]).leaderboard(*METRICS)
    assert isinstance(lazy, pl.DataFrame)
    assert_frame_equal(lazy, board, check_exact=True)


def test_without_a_metric_it_shows_the_average(log):
    accessor = log.scorio(by="domain", success=[1, 2])
    assert_frame_equal(accessor.leaderboard(), accessor.leaderboard(ps.avg()))


def test_an_empty_log_has_an_empty_leaderboard(r1):
    board = r1.clear().scorio.leaderboard(*METRICS)
    assert board.height == 0
    assert {*board.columns} == {*PLACES, "model", *NUMBERS, *FACTS}


@pytest.mark.parametrize(
    ("ask", "error", "message"),
    [
        (lambda a: a(model=None).leaderboard(ps.bayes()), ValueError, "needs several models"),
        (lambda a: a.leaderboard(ps.bayes(), overall="macro"), ValueError, "'macro' needs strata"),
        (lambda a: a.leaderboard(ps.bayes(), wide=True), TypeError, "argument 'wide'"),
        (lambda a: a.leaderboard(ps.bayes(), confidence=2), ValueError, "confidence must be"),
    ],
)
def test_wrong_arguments_are_refused(r1, ask, error, message):
    with pytest.raises(error, match=message):
        ask(r1.scorio)


def test_models_must_have_the_same_questions(r1):
    other = long([[1]], "other")
    with pytest.raises(ValueError, match="questions"):
        pl.concat([r1, other]).scorio.leaderboard(ps.bayes())
    board = pl.concat([r1, other]).scorio.leaderboard(ps.bayes(), unmatched="drop")
    assert board["questions"].to_list() == [1, 1]


@pytest.mark.parametrize("role", ["model", "by"])
def test_a_role_may_have_the_name_of_a_column_that_a_leaderboard_needs(log, role):
    old = {"model": "model", "by": "domain"}[role]
    named = log.rename({old: "best"}).scorio(success=[1, 2], **{"by": "domain", role: "best"})
    board = named.leaderboard(ps.avg())
    usual = log.scorio(by="domain", success=[1, 2]).leaderboard(ps.avg())
    assert_frame_equal(board.drop("headings").rename({"best": "model"} if role == "model" else {}),
                       usual.drop("headings"), check_column_order=False)  # fmt: skip


def test_python_prints_a_leaderboard_as_the_command_does(monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    log = models(3, strata=2)
    board = log.scorio(by="bench").leaderboard(ps.avg(), ps.pass_hat_k(2))
    lines = repr(board).split("\n")
    assert str(board) == repr(board)
    assert lines[0].split()[:2] == ["rank", "model"]
    assert [line.split()[1] for line in lines[1:4]] == board["model"].to_list()
    assert max(map(len, lines)) <= 60
    assert "more columns: ps.to_markdown(leaderboard)." in repr(board)
    assert str(board.frame).startswith("shape: (3, ")
    assert str(board.head(1)).startswith("shape: (1, ")
