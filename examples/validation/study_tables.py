"""Tables of the guide from the cells of smaller studies."""

import re

import polars as pl

from examples.validation.measured_tables import cell_rows
from examples.validation.single_claims import study_cells

# Trials and draw sizes of votes, and numbers of questions, that the guide shows.
_VOTES = ["4, 1", "16, 4", "16, 16", "64, 4", "64, 16"]
_VOTE_QUESTIONS, _COST_QUESTIONS = (10, 30, 100), (30, 100, 500)
_EQUAL_LEADERS = "`prob_best` of the leader less how often it is the best: equal models"
_SPREAD_LEADERS = "spread of a third to four standard errors"
_TARGETS = ["these questions", "population", "clusters of five"]


def brief_share(share: float, digits: int) -> str:
    """A share without the zero before the point."""
    return re.sub(r"^0\.", ".", f"{share:.{digits}f}")


def mean_and_least(mean: str, least: str, digits: int) -> pl.Expr:
    """Two columns of shares as one text, the least in brackets."""
    texts = [
        pl.col(name).map_elements(lambda share: brief_share(share, digits), return_dtype=pl.String)
        for name in (mean, least)
    ]
    return pl.format("{} ({})", *texts).alias("text")


def one_row_each(cells: pl.DataFrame, rows: list[str], sizes: tuple[int, ...]) -> pl.DataFrame:
    """A row for each of `rows`, with the text of a cell for each number of questions."""
    wide = cells.pivot("questions", index=rows, values="text").select(*rows, *map(str, sizes))
    return wide.rename({str(sizes[0]): f"{sizes[0]} questions"})


def vote_table(measured: pl.DataFrame) -> pl.DataFrame:
    """Mean and least coverage of votes over the populations."""
    sizes = pl.format("{}, {}", "n", "k").alias("n, k")
    cells = measured.select(sizes, "questions", mean_and_least("mean", "least", 2))
    table = one_row_each(cells, ["n, k"], _VOTE_QUESTIONS)
    return table.filter(pl.col("n, k").is_in(_VOTES))


def cost_table(measured: pl.DataFrame) -> pl.DataFrame:
    """Mean and least coverage of metrics of costs over the populations."""
    whole = pl.when(target="benchmark").then(pl.lit(_TARGETS[0])).otherwise(pl.lit(_TARGETS[1]))
    about = pl.when(pl.col("cluster") > 1).then(pl.lit(_TARGETS[2])).otherwise(whole)
    rows = ["metric", "about", "trials"]
    cells = (
        measured.with_columns(about=about.cast(pl.Enum(_TARGETS)))
        .group_by("metric", "about", pl.col("n").alias("trials"), pl.col("M").alias("questions"))
        .agg(pl.col("holds").mean().alias("mean"), pl.col("holds").min().alias("least"))
        .with_columns(mean_and_least("mean", "least", 3))
    )
    table = one_row_each(cells.sort(rows), rows, _COST_QUESTIONS)
    return table.with_columns(pl.format("`{}`", "metric").alias("metric"))


def tail_table(measured: pl.DataFrame) -> pl.DataFrame:
    """Mean and least coverage of costs by their tail, and how often the truth is above."""
    each = measured.group_by("costs", maintain_order=True).agg(
        pl.col("held").mean().alias("mean"),
        pl.col("held").min().alias("least"),
        pl.col("above").mean().round(3),
    )
    coverage = mean_and_least("mean", "least", 3).alias("coverage")
    again = study_cells("worst_tails").select("costs", pl.col("held").alias("worst, 2,000 logs"))
    return each.join(again, on="costs", maintain_order="left").select(
        "costs", coverage, "worst, 2,000 logs", "above"
    )


def board_table(measured: pl.DataFrame) -> pl.DataFrame:
    """What is said of leaders and pairs on questions of public boards, and what is."""
    shown = ("said", "best", "brier", "pair said", "pair")
    texts = [
        pl.col(name).map_elements(lambda share: brief_share(share, 3), return_dtype=pl.String)
        for name in shown
    ]
    names = ("`prob_best`", "is", "Brier score", "`prob_better`", "right")
    return measured.select(
        pl.col("board").alias("models of"),
        "models",
        pl.concat_str("questions", "n", separator=" x ").alias("questions x trials"),
        *(text.alias(name) for text, name in zip(texts, names, strict=True)),
    )


def advice_table(measured: pl.DataFrame) -> pl.DataFrame:
    """Share of logs that `check` finds, and coverage of two metrics, for each choice of n."""
    mean = pl.col("stopped").mean()
    shares = mean.map_elements(lambda share: brief_share(share, 2), return_dtype=pl.String)
    chosen = pl.col("n").alias("how n was chosen")
    words = measured.group_by(chosen, maintain_order=True).agg(shares.alias("p < .01"))
    held = measured.group_by(chosen, "method", maintain_order=True).agg(
        pl.col("coverage").mean().alias("mean"), pl.col("coverage").min().alias("least")
    )
    texts = held.with_columns(mean_and_least("mean", "least", 2))
    wide = texts.pivot("method", index="how n was chosen", values="text")
    return words.join(wide, on="how n was chosen", maintain_order="left").rename(
        {"calibrated avg": "`ps.avg()`, calibrated", "pooled bayes": "`ps.bayes()`, population"}
    )


def inference_table(measured: pl.DataFrame, calibrated: pl.DataFrame) -> pl.DataFrame:
    """Mean and worst coverage of the inferences, in the same cells of two measurements.

    A worst cell of few replicates is worse than it is: calibrated cells have more.
    """
    key = ["population", "questions", "n", "metric", "target"]
    chosen = measured.filter(pl.col("inference") != "calibrated")
    here = calibrated.join(chosen, on=["study", "confidence", *key], how="semi")
    order = pl.Enum(["posterior", "population posterior", "calibrated"])
    return (
        pl.concat([cell_rows(chosen), cell_rows(here)])
        .group_by("target", pl.col("inference").cast(order))
        .agg(
            pl.len().alias("settings"),
            pl.col("coverage").mean().alias("mean"),
            pl.col("coverage").min().alias("worst"),
        )
        .sort("target", "inference")
        .with_columns(pl.col("target").replace("benchmark", "these questions"))
        .rename({"target": "about"})
    )


def leader_table(measured: pl.DataFrame) -> pl.DataFrame:
    """By how much `prob_best` of the leader exceeds how often it is the best."""
    error = (pl.col("said") - pl.col("best")).map_elements(signed_share, return_dtype=pl.String)
    cells = (
        measured.drop_nulls("spread")
        .with_columns(error=error, models="models")
        .sort("models", pl.col("said") - pl.col("best"))
    )
    spread = pl.col("error").filter(pl.col("spread") > 0)
    return cells.group_by("models", maintain_order=True).agg(
        pl.col("error").filter(spread=0).first().alias(_EQUAL_LEADERS),
        pl.format("{} to {}", spread.first(), spread.last()).alias(_SPREAD_LEADERS),
    )


def signed_share(share: float) -> str:
    """A share with its sign, to two digits."""
    return ("-" if share < 0 else "+") + brief_share(abs(share), 2)


_WAYS = {"these": "these runs", "named": "`run=`"}


def run_interval_table(measured: pl.DataFrame) -> pl.DataFrame:
    """Mean and least coverage where runs differ, by what is said of them."""
    rows, wide = ["runs", "points"], pl.col("width").filter
    each = measured.group_by(*rows, pl.col("way").replace_strict(_WAYS)).agg(
        pl.col("held").mean().alias("mean"), pl.col("held").min().alias("least")
    )
    texts = each.with_columns(mean_and_least("mean", "least", 3)).sort(*rows)
    table = texts.pivot("way", index=rows, values="text")
    ratio = measured.group_by(rows).agg(
        (wide(way="named").sum() / wide(way="these").sum()).round(2).alias("width of `run=`")
    )
    return table.select(*rows, *_WAYS.values()).join(ratio, on=rows, maintain_order="left")


def run_share_table(measured: pl.DataFrame, share: str, beside: str | None = None) -> pl.DataFrame:
    """A share of logs where runs differ, by what is said of them: mean, highest in brackets.

    Or, in brackets, the mean of another share `beside`.
    """
    shape = [name for name in ("questions", "runs") if name in measured.columns]
    rows = [" x ".join(shape), "points"]
    known = _WAYS | {"alike": "alike"}
    other = pl.col(share).max() if beside is None else pl.col(beside).mean()
    each = measured.group_by(
        pl.concat_str(shape, separator=" x ").alias(rows[0]),
        "points",
        pl.col("way").replace_strict(known),
    ).agg(pl.col(share).mean().alias("mean"), other.alias("other"))
    texts = each.with_columns(mean_and_least("mean", "other", 3)).sort(*rows)
    columns = [known[way] for way in known if way in measured["way"]]
    return texts.pivot("way", index=rows, values="text").select(*rows, *columns)


def run_winner_table(measured: pl.DataFrame, target: str) -> pl.DataFrame:
    """Logs with a false winner where runs differ, about one target."""
    return run_share_table(measured.filter(target=target), share="false_winner")


def kept_fault_table(measured: pl.DataFrame) -> pl.DataFrame:
    """Coverage and winners of equal models whose trials have a fault, by what is counted."""
    named = {"avg": "min", "pass@2": "min", "false_winner": "max"}
    way = pl.col("way").replace_strict({"all": "all trials", "first": "`first=1`"})
    shape = pl.concat_str("questions", "runs", separator=" x ").alias("questions x runs")
    each = measured.group_by("fault", shape, way.alias("counted"), maintain_order=True).agg(
        pl.col("logs").min(),
        *(pl.col(name).mean() for name in named),
        *(getattr(pl.col(name), end)().alias(f"{name} {end}") for name, end in named.items()),
        pl.col("width").mean(),
    )
    texts = (mean_and_least(name, f"{name} {end}", 2).alias(name) for name, end in named.items())
    table = each.with_columns(*texts).rename({"false_winner": "some winner"})
    return table.select(
        "fault",
        shape.meta.output_name(),
        "counted",
        "logs",
        "avg",
        "pass@2",
        "some winner",
        "width",
    )


def honest_table(measured: pl.DataFrame) -> pl.DataFrame:
    """Logs without a fault that hear an alarm: mean, and highest in brackets."""
    rows = ["trials", "questions x runs"]
    shape = pl.concat_str("questions", "runs", separator=" x ").alias(rows[1])
    each = measured.group_by(pl.col("design").alias(rows[0]), shape, maintain_order=True)
    names = {"alarm": "some alarm", "stopping": "of stopping"}
    found = each.agg(
        *(pl.col(name).mean().alias(name) for name in names),
        *(pl.col(name).max().alias(f"{name} most") for name in names),
    )
    texts = found.select(
        *rows,
        *(mean_and_least(name, f"{name} most", 3).alias(shown) for name, shown in names.items()),
    )
    return texts.with_columns(pl.col("trials").replace("none", "all there"))


def fault_table(measured: pl.DataFrame) -> pl.DataFrame:
    """Mean and least share of logs whose fault raised its alarm, and other alarms."""
    shape = pl.concat_str("questions", "runs", separator=" x ")
    each = measured.group_by("fault", shape.alias("shape"), maintain_order=True).agg(
        pl.col("found").mean().alias("mean"), pl.col("found").min().alias("least")
    )
    texts = each.with_columns(mean_and_least("mean", "least", 2))
    other = measured.group_by("fault").agg(
        pl.mean_horizontal("other_check", "other_model").mean().alias("other alarms")
    )
    table = texts.pivot("shape", index="fault", values="text")
    return table.join(other, on="fault", maintain_order="left")


def flip_table(measured: pl.DataFrame) -> pl.DataFrame:
    """Intervals of the share of questions that flip: mean coverage, and lowest in brackets."""
    each = measured.group_by("n", "questions", maintain_order=True).agg(
        pl.col("held").mean().alias("mean"), pl.col("held").min().alias("least")
    )
    table = one_row_each(
        each.with_columns(mean_and_least("mean", "least", 3)), ["n"], (30, 60, 200)
    )
    return table.rename({"n": "trials"})


def tier_table(measured: pl.DataFrame) -> pl.DataFrame:
    """Tiers of models: how many, false claims, and whether the best is in the first."""
    each = measured.group_by("models", "spread", maintain_order=True).agg(
        pl.col("tiers").mean().round(1),
        pl.col("false").mean().alias("mean"),
        pl.col("false").max().alias("most"),
        pl.col("best first").min().alias("best in tier 1, lowest"),
        pl.col("against").sum().alias("against ranks"),
    )
    texts = each.with_columns(mean_and_least("mean", "most", 3).alias("some tier is false"))
    names = ("tiers", "some tier is false", "best in tier 1, lowest", "against ranks")
    return texts.select("models", pl.col("spread").replace("spread", "unlike"), *names)


# Metrics of `looks_and_gates`, and populations whose names there are short.
_METRICS = {"avg": "`avg`", "pass_at_4": "`pass_at_k(4)`", "pass_hat_4": "`pass_hat_k(4)`"}
_POPULATIONS = {
    "hard": "Beta(.2, 2)",
    "even": "Beta(5, 5)",
    "easy": "Beta(4, .4)",
    "aime": "40 % impossible, 20 % sure",
    "two": ".05 or .6",
    "same": "all .5",
}
_PEEKING, _PLANNED = "peeking", "`planned_trials=16`"


def mean_and_most(name: str, digits: int) -> pl.Expr:
    """The mean of a column of shares over the settings of a row, the highest in brackets."""
    share = pl.struct(mean=pl.col(name).mean(), most=pl.col(name).max())
    return share.map_elements(
        lambda of: f"{brief_share(of['mean'], digits)} ({brief_share(of['most'], digits)})",
        return_dtype=pl.String,
    )


def mean_share(name: pl.Expr, digits: int) -> pl.Expr:
    """The mean of shares over the settings of a row; empty if there are none."""
    return name.mean().map_elements(lambda of: brief_share(of, digits), return_dtype=pl.String)


def gate_table(measured: pl.DataFrame) -> pl.DataFrame:
    """Errors of gates at the margin, and verdicts on equal and on worse candidates."""
    size = pl.format("{}, {}", "questions", "n").alias("questions, trials")
    sized = measured.with_columns(size)
    rows = sized.group_by("metric", "questions, trials", maintain_order=True).agg(
        pl.col("questions", "n", "replicates").first(),
        mean_and_most("at pass", 3).alias("false pass"),
        mean_and_most("at fail", 3).alias("false fail"),
        mean_share(pl.col("equal pass"), 2).alias("equal: pass"),
        mean_share(pl.col("equal fail"), 3).alias("equal: fail"),
        mean_share(pl.col("broken fail"), 2).alias("worse by .15: fail"),
    )
    named = rows.sort("metric", "questions", "n").rename({"replicates": "logs"})
    return named.with_columns(pl.col("metric").replace(_METRICS)).drop("questions", "n")


def level_table(measured: pl.DataFrame) -> pl.DataFrame:
    """Errors of gates whose score is the one to reach, and what they find ten points away."""
    size = pl.format("{}, {}", "questions", "n").alias("questions, trials")
    return measured.group_by(size, maintain_order=True).agg(
        pl.col("replicates").first().alias("logs"),
        mean_and_most("at pass", 3).alias("false pass"),
        mean_and_most("at fail", 3).alias("false fail"),
        mean_share(pl.col("above pass"), 2).alias("above by .1: pass"),
        mean_share(pl.col("below fail"), 2).alias("below by .1: fail"),
    )


def look_table(measured: pl.DataFrame) -> pl.DataFrame:
    """False winners of equal models at eight looks, by the rates of the questions."""
    names = {name: shown.strip("`") for name, shown in _METRICS.items()}
    cells = measured.filter(questions=30, worse=0)
    wide = cells.pivot("metric", index="population", values=["peeking", "anytime"])
    of_both = (("peeking", _PEEKING), ("anytime", _PLANNED))
    return wide.select(
        pl.col("population").replace(_POPULATIONS).alias("rates of the questions"),
        *(
            pl.col(f"{kind}_{name}").alias(f"`{shown}`: {word}")
            for name, shown in names.items()
            for kind, word in of_both
        ),
    )


def look_means(measured: pl.DataFrame) -> pl.DataFrame:
    """Equal models and worse ones at eight looks, by the number of questions."""
    equal, worse = (pl.col("worse") == 0, pl.col("worse") > 0)
    keys = ["questions", "metric"]
    false = (
        measured.filter(equal)
        .group_by(keys, maintain_order=True)
        .agg(
            pl.col("replicates").first().alias("logs"),
            mean_and_most("peeking", 3).alias(f"false winner: {_PEEKING}"),
            mean_and_most("anytime", 3).alias(_PLANNED),
        )
    )
    found = (
        measured.filter(worse)
        .group_by(keys)
        .agg(
            mean_share(pl.col("fixed"), 3).alias("worse by 8 points: one look"),
            mean_share(pl.col("anytime"), 3).alias(f"found with {_PLANNED}"),
            mean_share(pl.col("used"), 2).alias("share of the plan"),
        )
    )
    table = false.join(found, on=keys, maintain_order="left")
    return table.with_columns(pl.col("metric").replace(_METRICS))


def family_look_table(measured: pl.DataFrame) -> pl.DataFrame:
    """False winners among five equal models at eight looks."""
    return measured.group_by("questions", maintain_order=True).agg(
        pl.col("replicates").first().alias("logs"),
        mean_and_most("peeking", 3).alias(_PEEKING),
        mean_and_most("anytime", 3).alias(_PLANNED),
    )


def sample_table(measured: pl.DataFrame) -> pl.DataFrame:
    """False winners of two equal models while clusters of questions arrive."""
    return (
        measured.group_by("questions", maintain_order=True)
        .agg(
            pl.col("replicates").first().alias("logs"),
            mean_and_most("peeking", 3).alias(_PEEKING),
            mean_and_most("anytime", 3).alias("`planned_questions=`"),
        )
        .rename({"questions": "planned questions"})
    )


def asked_again_table(measured: pl.DataFrame) -> pl.DataFrame:
    """Errors of gates at the margin, asked once and again after further trials."""
    names = {f"{verdict} {when}": f"false {verdict} {when}"
             for verdict in ("pass", "fail") for when in ("at once", "asked again")}  # fmt: skip
    return measured.group_by("questions", maintain_order=True).agg(
        pl.col("replicates").first().alias("logs"),
        *(mean_and_most(name, 3).alias(shown) for name, shown in names.items()),
    )


def weighting_table(measured: pl.DataFrame) -> pl.DataFrame:
    """Coverage of weighted means over strata, by their weights and by the target."""
    coverage = pl.col("held") / pl.col("replicates")
    return (
        measured.group_by("weights", "target")
        .agg(
            pl.len().alias("settings"),
            coverage.mean().alias("mean"),
            coverage.min().alias("worst"),
            (coverage < 0.9).sum().alias("below .90"),
            (pl.col("width") / pl.col("replicates")).median().alias("median width"),
        )
        .sort("weights", "target")
    )


def regression_table(measured: pl.DataFrame) -> pl.DataFrame:
    """Regressions of single questions that are found, and false discoveries."""
    broken = pl.col("broken") == "a tenth"
    return measured.group_by(pl.col("n").alias("trials of both versions"), maintain_order=True).agg(
        pl.col("replicates").first().alias("logs"),
        mean_share(pl.col("found").filter(broken), 2),
        mean_share(pl.col("fdr").filter(broken), 3).alias("false discoveries"),
        mean_share(pl.col("fdr").filter(~broken), 3).alias("false discoveries if nothing broke"),
    )


RANGELESS = ["normal", "lognormal", "rare penalty"]  # rewards
# What `reward_decisions` measured: its words on the page, the promise, and whether low is bad.
_REWARDS = {
    "worst benchmark": ("`min_at_k(2)` of 8 trials holds, these questions", "95", True),
    "worst population": ("the same, their population", "95", True),
    "ragged benchmark": (
        "`avg` holds, these questions; one trial of low ones, eight of high ones", "95", True
    ),
    "ragged population": ("the same, their population", "95", True),
    "clusters": ("`avg` of a population in passages of five questions, `cluster=`", "95", True),
    "no clusters": ("the same without `cluster=`", "", True),
    "five benchmark": ("some false winner among five equal models, these questions", "5", False),
    "five population": ("the same, their population", "5", False),
    "pass benchmark": ("`gate` passes a version that is worse by the margin", "5", False),
    "pass population": ("the same, their population", "5", False),
    "fail benchmark": ("`gate` fails it", "5", False),
    "fail population": ("the same, their population", "5", False),
    "plan benchmark": ("false winner of six looks, `planned_trials=`", "5", False),
    "plan population": ("the same, questions arrive, `planned_questions=`", "5", False),
    "peeking benchmark": ("the same by peeking at these questions", "", False),
}  # fmt: skip


def percent_and_worst(share: pl.Expr, *, low: bool) -> pl.Expr:
    """Mean of shares in percent, and the worst in brackets."""
    both = pl.struct(mean=share.mean(), worst=share.min() if low else share.max())
    return both.map_elements(
        lambda of: f"{100 * of['mean']:.1f} ({100 * of['worst']:.0f})", return_dtype=pl.String
    )


def reward_table(measured: pl.DataFrame) -> pl.DataFrame:
    """Decisions about rewards: mean percent of the logs, and the worst population."""
    sizes = measured["questions"].unique().sort().to_list()
    rows = []
    for what, (words, promise, low) in _REWARDS.items():
        texts = measured.filter(what=what).group_by("questions").agg(
            percent_and_worst(pl.col("share"), low=low).alias("text")
        )  # fmt: skip
        known = dict(texts.iter_rows())
        rows.append([words, promise, *(known.get(size, "") for size in sizes)])
    names = ["percent of the logs", "promised", f"{sizes[0]} questions", *map(str, sizes[1:])]
    return pl.DataFrame(rows, schema=names, orient="row")


def reward_range_table(measured: pl.DataFrame) -> pl.DataFrame:
    """Coverage of averages of rewards without a range, by their population."""
    average = measured.filter(pl.col("k") == 1, pl.col("population").is_in(RANGELESS))
    rows = average.group_by("population", maintain_order=True).agg(
        *(
            percent_and_worst(pl.col("coverage").filter(pl.col("target") == target), low=True)
            .alias(name)
            for target, name in (
                ("benchmark", "`avg` on these questions"), ("population", "their population")
            )
        )
    )  # fmt: skip
    named = pl.col("population").replace("rare penalty", "-10 in 3 % of the trials, else about 1")
    return rows.with_columns(named).rename({"population": "rewards, no range given"})


_DESIGNS = {
    "random": "at random",
    "verdict": "half of each verdict",
    "questions": "whole questions",
}
_JUDGES = {"good": ".95, .9", "fair": ".85, .8", "poor": ".7, .65"}
# A number that is null counts as the interval from 0 to 1.
HELD = pl.col("held").fill_nan(0).fill_null(0) * (1 - pl.col("null")) + pl.col("null")
_WIDTH = pl.col("width").fill_nan(0).fill_null(0) * (1 - pl.col("null")) + pl.col("null")


def mean_and_worst(share: pl.Expr) -> pl.Expr:
    """The mean of shares over the settings of a row, the lowest in brackets; empty: no settings."""
    both = pl.struct(mean=share.mean(), worst=share.min())
    return both.map_elements(
        lambda of: f"{brief_share(of['mean'], 3)} ({brief_share(of['worst'], 2)})",
        return_dtype=pl.String,
    )


def label_table(measured: pl.DataFrame) -> pl.DataFrame:
    """Coverage and width by labels on the trials of the log."""
    metric, target = pl.col("metric"), pl.col("target")
    average = (metric == "avg") & (target == "benchmark")
    return measured.group_by(
        "questions", pl.col("design").replace_strict(_DESIGNS).alias("labelled trials"),
        maintain_order=True,
    ).agg(
        pl.col("replicates").first().alias("logs"),
        mean_and_worst(HELD.filter(average)).alias("`avg`, these questions"),
        mean_and_worst(HELD.filter(target == "population")).alias("`avg`, population"),
        mean_share(_WIDTH.filter(average), 2).alias("width"),
        mean_share(pl.col("alone").filter(average), 2).alias("labels alone: width"),
        mean_and_worst(HELD.filter(metric == "pass_at_2")).alias("`pass_at_k(2)`"),
    )  # fmt: skip


def judge_rate_table(measured: pl.DataFrame) -> pl.DataFrame:
    """Coverage and width of the average by a calibration sample from elsewhere."""
    sizes = (30, 100, 500)
    of_size = [pl.col("questions") == size for size in sizes]
    return measured.group_by(
        pl.col("judge").replace_strict(_JUDGES).alias("judge (se, sp)"),
        pl.col("labels").alias("labels of each kind"),
        maintain_order=True,
    ).agg(
        mean_share(pl.col("verdicts"), 2).alias("verdicts as they are"),
        *(
            mean_and_worst(HELD.filter(of)).alias(f"{size} questions" if size == 30 else str(size))
            for size, of in zip(sizes, of_size, strict=True)
        ),
        pl.concat_str([mean_share(_WIDTH.filter(of), 2) for of in of_size], separator=" / ").alias(
            "width"
        ),
        mean_share(pl.col("null"), 2).alias("null"),
    )  # fmt: skip


def judge_draw_table(measured: pl.DataFrame) -> pl.DataFrame:
    """Coverage and width of metrics of several trials by a calibration sample from elsewhere."""
    rows = {"pass_at_2": "`pass_at_k(2)`", "pass_at_4": "`pass_at_k(4)`",
            "pass_hat_4": "`pass_hat_k(4)`"}  # fmt: skip
    return (
        measured.group_by(
            pl.col("metric").replace_strict(rows),
            pl.col("judge").replace_strict(_JUDGES).alias("judge (se, sp)"),
            pl.col("labels").alias("labels of each kind"),
            maintain_order=True,
        )
        .agg(
            mean_share(pl.col("verdicts"), 2).alias("verdicts as they are"),
            mean_and_worst(HELD).alias("held"),
            mean_share(_WIDTH, 2).alias("width"),
            mean_share(pl.col("null"), 2).alias("null"),
        )
        .sort("metric", maintain_order=True)
    )


def many_curve_table(measured: pl.DataFrame) -> pl.DataFrame:
    """Ten differences of five curves: shares of logs, and those of the worst setting."""
    kinds = {"alone": "each pair and k by itself", "band": "all pairs and k at once"}
    found = [
        measured.select(
            pl.lit(shown).alias("intervals"),
            pl.col(f"{kind} held").mean().alias("mean"),
            pl.col(f"{kind} held").min().alias("least"),
            pl.col(f"{kind} false").mean().alias("of winners"),
            pl.col(f"{kind} false").max().alias("most"),
        )
        for kind, shown in kinds.items()
    ]
    return pl.concat(each.head(1) for each in found).select(
        "intervals",
        mean_and_least("mean", "least", 3).alias("all ten hold at all k"),
        mean_and_least("of winners", "most", 3).alias("some winner is false"),
    )
