"""Numbers of studies that stand in more than one place, or beside no study of their page.

One entry a study: the script that measures it, what it simulated, its numbers, and the sentences
that quote them. A test looks for each sentence on its page, and looks through README, guide and
docstrings for sentences about simulations that are quoted here nowhere. Whoever measures anew
changes the number here, and the test names the pages that still have the old one.
"""

from itertools import product
from typing import NamedTuple

import numpy as np
import polars as pl

import polars_scorio as ps
from examples.validation.costs import FAILURE, QUESTION_SD, TRIAL_SD
from examples.validation.measured_tables import cell_rows, family_table, verdict_rows
from examples.validation.promised_tables import FILES, PRINTED, measured_cells
from examples.validation.single_claims import study_cells
from examples.validation.study_tables import HELD, RANGELESS, brief_share, label_table

_GUIDE, _PAGES = "examples/guide", "examples/validation"
_SPEED = f"{_PAGES}/speed.md"
_START, _COVERAGE, _VERDICTS = (
    f"{_PAGES}/README.md",
    f"{_PAGES}/intervals.md",
    f"{_PAGES}/verdicts.md",
)
_GATE, _JUDGE, _COST = f"{_PAGES}/gates.md", f"{_PAGES}/judges.md", f"{_PAGES}/costs.md"
_REWARDS, _PLANS = f"{_PAGES}/rewards.md", f"{_PAGES}/planning.md"
_TRIALS, _PLANNING = "examples/guide/trials.md", "polars_scorio/accessors/planning.py"
_MANY = f"{_GUIDE}/multiple_comparisons.md"


class Study(NamedTuple):
    """Numbers of a study, with the sentences that quote them.

    Parameters
    ----------
    script : str
        What measures the numbers: a module of `examples.validation` with its arguments.
    settings : str
        What was simulated.
    numbers : dict of str to str
        For each name: the number, as pages write it.
    quotes : tuple of (str, str)
        Page and sentence, in which {name} stands for a number.
    """

    script: str
    settings: str
    numbers: dict[str, str]
    quotes: tuple[tuple[str, str], ...]


def coverage_numbers() -> dict[str, str]:
    """Number of settings, mean and least coverage of calibrated 95 % intervals, from the file."""
    cells = cell_rows(pl.read_parquet(FILES["coverage"]))
    held = cells.filter(confidence=0.95, inference="calibrated")["coverage"].to_numpy()
    mean, worst = 100 * held.mean(), 100 * held.min()
    return {"settings": f"{held.size:,}", "mean": f"{mean:.1f}", "worst": f"{worst:.1f}"}


def vote_numbers() -> dict[str, str]:
    """Least coverage of votes over one question and over three, and the number of cells of each."""
    few = measured_cells("votes").filter(pl.col("questions") <= 3)
    least = {row["questions"]: row["least"] for row in few.sort("least").reverse().to_dicts()}
    cells = str(few.filter(questions=1).height)
    return {"cells": cells, "one": brief_share(least[1], 2), "three": brief_share(least[3], 2)}


def power_numbers() -> dict[str, str]:
    """Mean, least and largest power at a `detectable_difference`, about each target."""
    numbers = {}
    for (target,), cells in study_cells("power").group_by("target"):
        power = cells["power"].to_numpy()
        numbers |= {f"{target}": power.mean(), f"{target}_least": power.min()}
        numbers |= {f"{target}_most": power.max()}
    return {name: brief_share(share, 2) for name, share in numbers.items()}


def gate_numbers() -> dict[str, str]:
    """How often all strata of a gate passed: mean, least and largest share of the populations."""
    passed = study_cells("each_gate")["passed"].to_numpy()
    numbers = {"mean": passed.mean(), "least": passed.min(), "most": passed.max()}
    return {name: brief_share(share, 2) for name, share in numbers.items()}


def best_numbers() -> dict[str, str]:
    """Coverage of the score of the best of equal models, corrected and not, and its widths."""
    cells = study_cells("best_of_many")
    checkpoints = cells.filter(models=60)
    shares = {}
    for mean, least, of, column in (
        ("mean", "worst", cells, "corrected"),
        ("plain", "plain_worst", cells, "plain"),
        ("equal", "equal_worst", checkpoints, "plain"),
        ("corrected", "corrected_worst", checkpoints, "corrected"),
    ):
        held = of[column].to_numpy()
        shares |= {mean: brief_share(held.mean(), 2), least: brief_share(held.min(), 2)}
    wider = cells["corrected width"].to_numpy() / cells["plain width"].to_numpy() - 1
    of_two, of_sixty = (wider[cells["models"].to_numpy() == models] for models in (2, 60))
    widths = {"narrow": f"{100 * of_two.mean():.0f}", "wide": f"{100 * of_sixty.mean():.0f}"}
    return shares | widths


def heavy_cost_numbers() -> dict[str, str]:
    """Coverage of costs with a heavy trial: over all such logs, and in the extreme cells."""
    cells = study_cells("heavy_costs")
    held = cells["held"].to_numpy()
    mean = np.average(held, weights=cells["heavy"].to_numpy())
    numbers = {"mean": mean, "least": held.min(), "most": held.max()}
    return {name: brief_share(share, 2) for name, share in numbers.items()}


def unlike_run_numbers() -> dict[str, str]:
    """Coverage and false winners if runs, or rounds, differ: by questions and their deviation."""
    cells, numbers = study_cells("unlike_runs"), dict[str, str]()
    for size, spread in (("small", 0.1), ("large", 0.2)):
        rows = cells.filter(spread=spread)
        numbers |= {f"{size}_points": f"{rows['points'].to_numpy().mean():.1f}"}
        for questions in (100, 500):
            row = rows.row(by_predicate=pl.col("questions") == questions, named=True)
            numbers |= {f"{size}_{questions}": brief_share(row["held"], 2)}
            if size == "large":
                numbers |= {f"looks_{questions}": brief_share(row["anytime"], 2)}
                numbers |= {f"once_{questions}": brief_share(row["one look"], 2)}
    alike = cells.filter(spread=0)
    held = alike["held"].to_numpy()
    numbers |= {"alike": brief_share(held.min(), 2), "alike_most": brief_share(held.max(), 2)}
    return numbers | {"looks_alike": brief_share(alike["anytime"].to_numpy().max(), 2)}


def rerun_numbers() -> dict[str, str]:
    """Share of reruns inside the noise floor: mean and least of all settings."""
    inside = study_cells("reruns")["inside"].to_numpy()
    mean, worst = brief_share(inside.mean(), 3), brief_share(inside.min(), 3)
    percent = f"{100 * inside.mean():.0f}"
    return {"settings": f"{inside.size:,}", "mean": mean, "worst": worst, "percent": percent}


def curve_numbers() -> dict[str, str]:
    """Whole curves: shares of logs that hold and of false verdicts, mean and worst setting."""
    cells = study_cells("curves")
    equal = cells.filter(~pl.col("pair").is_in(["independent", "crossing", "crossing twice"]))
    numbers = {"settings": f"{cells.height:,}"}
    for name, of, column in (
        ("band", cells, "band held"),
        ("model", cells, "model held"),
        ("alone", cells, "alone held"),
        ("false_alone", equal, "alone false"),
        ("false_band", equal, "band false"),
        ("stretch", cells, "false stretch"),
    ):
        share = of[column].to_numpy()
        worst = share.min() if column.endswith("held") else share.max()
        numbers |= {name: brief_share(share.mean(), 3), f"{name}_worst": brief_share(worst, 3)}
    for name in ("false_alone", "false_band"):
        numbers[f"{name}_percent"] = f"{100 * float(numbers[name]):.0f}"
    return numbers


def worst_curve_numbers(study: str) -> dict[str, str]:
    """Whole curves where bands held least: least share that holds, most false winners."""
    cells = study_cells(study)
    held, wrong = cells["band held"].to_numpy().min(), cells["band false"].to_numpy().max()
    # Rounded outwards, as the page says "at least" and "at most".
    at_least = np.floor(held * 1000 + 1e-9) / 1000
    at_most = np.ceil(wrong * 1000 - 1e-9) / 1000
    return {"held": brief_share(at_least, 3), "false": brief_share(at_most, 3)}


def errored_numbers() -> dict[str, str]:
    """Errored trials as a bracket, dropped or failed: coverage and false winners."""
    cells = study_cells("errored")
    numbers = {"settings": f"{cells.height:,}"}
    for kind, what in product(("bracket", "dropped", "failed"), ("held", "false")):
        share = cells[f"{kind} {what}"].to_numpy()
        worst = share.min() if what == "held" else share.max()
        numbers[f"{kind}_{what}"] = brief_share(share.mean(), 3)
        numbers[f"{kind}_{what}_worst"] = brief_share(worst, 3)
    for kind in ("bracket", "dropped"):
        numbers[f"{kind}_percent"] = f"{100 * cells[f'{kind} false'].to_numpy().mean():.0f}"
    return {name: number for name, number in numbers.items() if not name.startswith("failed_held")}


def seed_numbers() -> dict[str, str]:
    """False winners of recipes with three seeds each, pooled and by seeds."""
    cells = study_cells("seeds")
    numbers = {
        f"{kind}_{place}": brief_share(share, 3)
        for kind, column in (("pooled", "pooled"), ("named", "by seeds"))
        for place, share in enumerate(cells[column])
    }
    last = {"pooled": cells["pooled"][3], "named": cells["by seeds"][3]}
    return numbers | {f"{kind}_percent": f"{100 * share:.0f}" for kind, share in last.items()}


def plain_error_numbers() -> dict[str, str]:
    """Coverage of the mean and 1.96 standard errors: mean and least of all settings."""
    held = study_cells("plain_errors")["held"].to_numpy()
    mean, worst = f"{100 * held.mean():.1f}", f"{100 * held.min():.1f}"
    return {"settings": f"{held.size:,}", "mean": mean, "worst": worst}


def advice_numbers() -> dict[str, str]:
    """After `next_trials`: coverage of both metrics, and in how many cells one errs less."""
    planned = measured_cells("advice").filter(pl.col("n").str.starts_with("`next_trials`"))
    errors = planned.pivot("method", index=["population", "questions"], values="rmse")
    fewer = errors.filter(pl.col("pooled bayes") < pl.col("calibrated avg")).height
    numbers = {"fewer": f"{fewer} of {errors.height}"}
    for name, method in (("avg", "calibrated avg"), ("mean", "pooled bayes")):
        held = planned.filter(method=method)["coverage"].to_numpy()
        worst = "worst" if name == "mean" else "avg_worst"
        numbers |= {name: brief_share(held.mean(), 2), worst: brief_share(held.min(), 2)}
    return numbers


def gate_error_numbers() -> dict[str, str]:
    """Least and largest mean, and the worst share, of false passes and false fails of gates."""
    cells, numbers, errors = study_cells("gates"), dict[str, str](), ("at pass", "at fail")
    few = pl.col("questions") < 100
    for name, kept in {"many": cells.filter(~few), "few": cells.filter(few)}.items():
        means = kept.group_by("questions", "n", "metric").agg(pl.col(errors).mean())
        shares = {
            "least": min(means[error].min() for error in errors),
            "most": max(means[error].max() for error in errors),
            "worst": max(kept[error].max() for error in errors),
        }
        numbers |= {f"{name}_{end}": brief_share(share, 3) for end, share in shares.items()}
    brief = {end: f"{100 * float(numbers[f'many_{end}']):.0f}" for end in ("least", "most")}
    return numbers | brief


def repeated_gate_numbers() -> dict[str, str]:
    """Largest share of false passes or fails of gates that are asked after each of 16 rounds."""
    cells = study_cells("repeated_gate")
    return {
        kind: brief_share(max(cells[f"{kind} {verdict}"].max() for verdict in ("pass", "fail")), 2)
        for kind in ("peeking", "anytime")
    }


def label_widths() -> dict[str, str]:
    """Widths of intervals by labels at random, with the verdicts of the judge and without."""
    rows = label_table(study_cells("judge_labels")).filter(pl.col("labelled trials") == "at random")
    widths = {}
    for row in rows.to_dicts():
        size = row["questions"]
        widths |= {f"of_{size}": row["width"], f"alone_{size}": row["labels alone: width"]}
    return widths


def judge_cluster_numbers() -> dict[str, str]:
    """Coverage by labels where questions come in fives, with the clusters and without."""
    cells = study_cells("judge_clusters").filter(way="truth").with_columns(HELD.alias("held"))
    means = cells.group_by("questions", "n", "design").agg(
        pl.col("held", "without_clusters").mean()
    )
    low = cells.filter(pl.col("held") < 0.88)
    assert set(low["population"]) == {"easy"}, low
    return {
        "least": brief_share(means["held"].min(), 3),
        "most": brief_share(means["held"].max(), 3),
        "plain_least": brief_share(means["without_clusters"].min(), 2),
        "plain_most": brief_share(means["without_clusters"].max(), 2),
        "low": str(low.height),
        "low_least": brief_share(low["held"].min(), 3),
        "low_most": brief_share(low["held"].max(), 3),
    }


def judge_draw_numbers() -> dict[str, str]:
    """Coverage of the logs that have a number, under the poor judge with 100 labels."""
    cells = study_cells("judge_draws")
    poor = cells.filter(judge="poor", labels=100).filter(pl.col("metric") != "pass_at_2")
    held = poor.group_by("metric").agg(pl.col("held").fill_nan(None).mean())["held"]
    numbers = {"least": brief_share(held.min(), 2), "most": brief_share(held.max(), 2)}
    return numbers | {"null": f"{100 * poor['null'].mean():.0f}"}


def lenient_judge_numbers() -> dict[str, str]:
    """Mean coverage over the populations under a judge who calls a few wrong answers right."""
    means = study_cells("lenient_judge").group_by("questions", "n").agg(pl.col("held").mean())
    held = {(questions, n): share for questions, n, share in means.rows()}
    small, middle, large = held[30, 4], held[100, 4], held[500, 16]
    shares = {"small": small, "middle": middle, "large": large}
    return {name: brief_share(share, 2) for name, share in shares.items()}


def unbounded_numbers() -> dict[str, str]:
    """Percent of the logs of 30 questions whose cost per success has no upper end."""
    cells = measured_cells("costs").filter(M=30)
    single = cells.filter(n=1, cluster=1)["unbounded"]
    clusters = cells.filter(cluster=5).group_by("metric", "n").agg(pl.col("unbounded").mean())
    shares = {"mean": single.mean(), "most": single.max()}
    shares |= {"least_six": clusters["unbounded"].min(), "most_six": clusters["unbounded"].max()}
    return {name: f"{100 * share:.0f}" for name, share in shares.items()}


def judge_difference_numbers() -> dict[str, str]:
    """Coverage of differences of models with labels, and false winners of two equal ones, in %."""
    ways = ["design", "questions", "target"]
    cells = study_cells("judge_differences")
    held = cells.group_by(ways).agg(pl.col("held").mean())["held"]
    equal = cells.filter(factor=1.0)
    false = equal.group_by(ways).agg(pl.col("false").mean())["false"]
    shares = {"least": held.min(), "most": held.max(), "worst": cells["held"].min()}
    percent = {"rare": false.min(), "often": false.max(), "worst_false": equal["false"].max()}
    return {name: brief_share(share, 3) for name, share in shares.items()} | {
        name: f"{100 * share:.1f}" for name, share in percent.items()
    }


def default_power_numbers() -> dict[str, str]:
    """The difference that 200 questions with 4 trials find, and the power of the nine designs."""
    power = study_cells("default_power")["power"].to_numpy()
    points = {"points": f"{100 * ps.detectable_difference(200, 4)['difference'].item():.1f}"}
    return points | {"least": brief_share(power.min(), 2), "most": brief_share(power.max(), 2)}


def board_numbers() -> dict[str, str]:
    """Power on public boards at the difference of the usual plan, and at its highest one."""
    cells = study_cells("board_power")
    usual, alike = (cells.filter(spread=spread)["power"].to_numpy() for spread in (0.6, 0.4))
    shares = {
        "mean": usual.mean(),
        "least": usual.min(),
        "most": usual.max(),
        "alike": alike.mean(),
    }
    return {name: brief_share(share, 2) for name, share in shares.items()}


def planned_numbers() -> dict[str, str]:
    """Share of planned pairs that were told apart, by number of models and their spread."""
    cells = study_cells("planned_pairs")
    told = {(models, spread): share for models, spread, _, share, _ in cells.rows()}
    numbers = {}
    for models, name in ((2, "two"), (10, "ten")):
        for spread, kind in ((1.0, ""), (3.0, "_wide"), (0.3, "_close")):
            numbers |= {f"{name}{kind}": f"{100 * told[models, spread]:.0f}"}
    return numbers


def leader_numbers() -> dict[str, str]:
    """By how much `prob_best` of the leader is off: equal models, others, one model ahead."""
    cells = study_cells("prob_best").with_columns(error=pl.col("said") - pl.col("best"))
    equal = dict(cells.filter(spread=0).select("models", "error").rows())
    others = cells.filter(pl.col("spread") > 0, pl.col("models") > 2)["error"].abs().max()
    ahead = cells.filter(pl.col("spread").is_null()).row(0, named=True)
    shares = {"two": equal[2], "fifty": equal[50], "near": others}
    shares |= {"said": ahead["said"], "best": ahead["best"]}
    return {name: brief_share(share, 2) for name, share in shares.items()}


def pair_numbers() -> dict[str, str]:
    """Percent of the logs of ten equal models with a winner: by itself, and all pairs at once."""
    cells, numbers = study_cells("many_pairs"), {}
    for name, column in (("each", "each pair"), ("all", "all pairs")):
        percent = 100 * cells[column]
        numbers |= {f"{name}_least": f"{percent.min():.0f}", f"{name}_most": f"{percent.max():.0f}"}
    return numbers


def false_winner_numbers() -> dict[str, str]:
    """Logs with a false winner: largest mean of a kind, worst setting; those of 2,000 logs."""
    measured = measured_cells("verdicts")
    table, again = family_table(measured), verdict_rows(measured).filter(replicates=2_000)
    shares = {"most": table["false winners"].max(), "worst": table["worst"].max()}
    shares |= {"again": again["false_winners"].max(), "held": again["tables_held"].min()}
    digits = {"again": 4, "held": 4}
    return {name: brief_share(share, digits.get(name, 3)) for name, share in shares.items()}


def every_round_numbers() -> dict[str, str]:
    """Least and largest percent of logs with a false winner, by the population."""
    percent = 100 * study_cells("every_round")["peeking"]
    return {"least": f"{percent.min():.0f}", "most": f"{percent.max():.0f}"}


def looks_numbers() -> dict[str, str]:
    """Largest mean and share of a population of logs with a false winner, `planned_trials=16`."""
    equal = study_cells("looks").filter(pl.col("worse") == 0)
    means = equal.group_by("questions", "metric").agg(pl.col("anytime").mean())["anytime"]
    shares = {"mean": means.max(), "worst": equal["anytime"].max()}
    return {name: brief_share(share, 3) for name, share in shares.items()}


def favoured_numbers() -> dict[str, str]:
    """Percent of the evaluations with a false winner if the judge favours one model."""
    false = study_cells("favoured_model")["false"]
    assert false.max() == 1
    return {"mean": f"{100 * false.mean():.0f}"}


def goal_numbers() -> dict[str, str]:
    """Ratios to a bare `group_by` of large logs that take longest."""
    rows = pl.read_csv(PRINTED / "goals.csv", infer_schema=False).rows_by_key("call", named=True)
    ragged = rows["10 x 2,000, n 8 to 64"][0]["ratio"]
    return {"ragged": ragged, "steps": rows["10,000 steps of 20 x 8"][0]["ratio"]}


def macro_numbers() -> dict[str, str]:
    """How many times as fast a DuckDB query is that groups questions with the same counts first."""
    rows = pl.read_csv(PRINTED / "goals.csv", infer_schema=False).rows_by_key("call", named=True)
    alone, together = (
        float(rows[f"DuckDB, our macros{each}, 2,000,000 rows"][0]["ratio"])
        for each in (" for each question", "")
    )
    return {"times": f"{alone / together:.0f}"}


def spark_numbers() -> dict[str, str]:
    """CPU of counts by Spark, as a multiple of that of its own groupBy."""
    rows = pl.read_csv(PRINTED / "goals.csv", infer_schema=False).rows_by_key("call", named=True)
    kinds = {"plain": "False", "checked": "True", "far": "True, ids from 1,000"}
    name = "count_trials of Spark, validate={}, 2,000,000 rows"
    ratios = {key: float(rows[name.format(kind)][0]["ratio"]) for key, kind in kinds.items()}
    return {key: f"{ratio:.1f}" for key, ratio in ratios.items()}


def peer_numbers() -> dict[str, str]:
    """CPU milliseconds of Pass@1, 2, 4, 8 by us and by pandas: a small log, and many questions."""
    table = pl.read_csv(PRINTED / "peers.csv", infer_schema=False).unique("tool", keep="first")
    rows = table.rows_by_key("tool", unique=True, named=True)
    small, many = table.columns[3], table.columns[5]
    ours, pandas = rows["polars-scorio"], rows["pandas by hand"]
    each = rows["pandas, a call for each question"][many]
    numbers = {"small": ours[small], "pandas": pandas[small], "many": ours[many]}
    return numbers | {"many_pandas": pandas[many], "each": f"{int(each):,}"}


def read_numbers() -> dict[str, str]:
    """Percent of CPU time that twelve metrics of 20 million trials add to a bare group_by."""
    row = pl.read_csv(PRINTED / "speed.csv", infer_schema=False).row(0)
    added = {"plain": row[1], "checked": row[3]}
    return {name: f"{100 * (float(ratio) - 1):.0f}" for name, ratio in added.items()}


def penalty_numbers() -> dict[str, str]:
    """Percent of the worst setting of rewards with a rare penalty, without a range."""
    held = study_cells("rewards").filter(population="rare penalty", k=1)["coverage"]
    return {"worst": f"{100 * held.min():.0f}"}


def reward_numbers() -> dict[str, str]:
    """Percent of the logs whose intervals hold if the range is given: means, and the worst."""
    cells = study_cells("rewards").filter(~pl.col("population").is_in(RANGELESS))
    means = 100 * cells.group_by("population").agg(pl.col("coverage").mean())["coverage"]
    worst = f"{100 * cells['coverage'].min():.0f}"
    ends = {"least": f"{means.min():.1f}", "most": f"{means.max():.1f}"}
    return {"settings": str(cells.height), "worst": worst, **ends}


def reward_pair_numbers() -> dict[str, str]:
    """Differences of two models on rewards: percent that hold, and winners of equal models."""
    cells = study_cells("reward_pairs")
    rows = cells.group_by("target", "worse", "questions", "n").agg(pl.col("coverage").mean())
    equal = cells.filter(worse=0)
    false = equal.group_by("target", "questions", "n").agg(pl.col("decided").mean())
    shares = {"wrong": false["decided"].max(), "held": rows["coverage"].min()}
    numbers = {name: f"{100 * share:.1f}" for name, share in shares.items()}
    numbers["worst"] = f"{100 * cells['coverage'].min():.0f}"
    return numbers | {"worst_wrong": f"{100 * equal['decided'].max():.0f}"}


_WORST = "in the worst setting in {worst} %"
_HELD = f"contained the truth in {{mean}} % of the logs, {_WORST}"
STUDIES = (
    Study(
        "coverage",
        "populations of questions, 5 to 1,000 questions, 1 to 64 trials of each, metrics",
        coverage_numbers(),
        (
            (
                "README.md",
                "covered the true value in {mean} % of the logs, and in {worst} % in the",
            ),
            ("README.md", "In a larger study, of {settings} settings with other"),
            (_START, f"Over {{settings}} simulated settings, calibrated 95 % intervals {_HELD}"),
        ),
    ),
    Study(
        "single_claims each_gate",
        "gates of five equal strata of 100 questions with 4 trials, margin .05, eight populations",
        gate_numbers(),
        (
            (
                _GATE,
                "passed at margin .05 in {mean} of the logs ({least} to {most} by the population)",
            ),
        ),
    ),
    Study(
        "looks_and_gates looks",
        "two models, 30 questions, eight populations, looks after 1 to 16 rounds",
        {"wider": "1.285", "critical": "2.519", "once": "1.960"},
        (
            (_GATE, "intervals are {wider} times as wide as those of one look"),
            (_GATE, "({critical} instead of {once} standard errors)"),
        ),
    ),
    Study(
        "single_claims every_round",
        "two equal models compared by avg after each of 16 rounds, at 95 % each time",
        every_round_numbers(),
        ((_GATE, "a false winner in {least} to {most} % of the logs"),),
    ),
    Study(
        "costs",
        "five models, two of them tied, one dominated; 30 to 500 questions, 200 logs each",
        {"least": "20", "most": "47", "f30": ".5", "f100": "13", "f500": "87", "logs": "1,800"},
        (
            (_COST, "both were on the frontier in only {least} to {most} % of the logs"),
            (_COST, "called dominated in {logs} logs"),
            (
                _COST,
                (
                    "found in {f30} % of the logs with 30 questions and 4 trials, {f100} % with "
                    "100, and {f500} % with 500"
                ),
            ),
        ),
    ),
    Study(
        "votes",
        "eight populations with 3 to 9 answers, one question and three, 400 logs each",
        vote_numbers(),
        (
            (
                _COVERAGE,
                "{cells} pairs of n and k, the lowest coverage is {one} with one question and",
            ),
            (_COVERAGE, "with one question and {three} with three"),
        ),
    ),
    Study(
        "clusters",
        "three populations, 10 to 50 clusters of 5 and 10 questions, intra-class correlation .6",
        {"mean": "76", "worst": "55", "mean_row": ".76", "worst_row": ".55"},
        (
            (_COVERAGE, "| 20 | .99 (.98) | .99 (.96) | .98 (.95) | {mean_row} (.56) |"),
            (_COVERAGE, "| 10 | 1.00 (.99) | 1.00 (.99) | .99 (.98) | .75 ({worst_row}) |"),
            (
                "examples/guide/clusters.md",
                "contain the truth in 74 to {mean} % of logs on average, and in {worst} % in the",
            ),
        ),
    ),
    Study(
        "single_claims prob_best",
        "normal scores of 2 to 50 models, equal, spread by .3 to 4 standard errors, or one ahead",
        leader_numbers(),
        (
            (_VERDICTS, "three models or more it is within {near} of how often the leader is the"),
            (_VERDICTS, "`prob_best` is {said}, although this model is the best in {best}"),
            (_VERDICTS, "by {two} for two models and {fifty} for fifty"),
        ),
    ),
    Study(
        "single_claims planned_pairs",
        "normal scores of 2, 5 and 10 models that spread by .3 to 3 standard errors, a goal of .8",
        planned_numbers(),
        (
            (_PLANS, "{two} % of two models and {ten} % of ten that spread by a standard error"),
            (_PLANS, "{two_wide} % and {ten_wide} % if they spread by three"),
            (_PLANS, "{two_close} % and {ten_close} % if by .3"),
        ),
    ),
    Study(
        "single_claims default_power",
        "two models, 50, 200 and 1,000 questions, 1, 4 and 16 trials, defaults of the plan",
        default_power_numbers(),
        (
            (f"{_GUIDE}/trials.md", "`compare` finds a true difference of {points} points"),
            (_PLANS, "the power was {least} to {most} in the nine settings"),
        ),
    ),
    Study(
        "single_claims board_power",
        "pairs of models of three public boards, 100 to 500 questions, 1 and 4 trials, 100 logs",
        board_numbers(),
        (
            (
                _PLANS,
                "the better one in {mean} of the logs on average ({least} to {most}; goal .8)",
            ),
            (_PLANS, "and in {alike} at the difference for spread .4 with correlation .5"),
        ),
    ),
    Study(
        "single_claims lenient_judge",
        "a judge who calls 5 % of the wrong answers right, no correction, eight populations",
        lenient_judge_numbers(),
        (
            (_JUDGE, "in {small} of the logs with 30 questions and 4 trials, in {middle} with 100"),
            (_JUDGE, "and in {large} with 500 questions and 16 trials"),
        ),
    ),
    Study(
        "single_claims favoured_model",
        "two equal models, sensitivity .85 and .9, specificity .8, labels from elsewhere",
        favoured_numbers(),
        (
            (
                _JUDGE,
                "{mean} % of the evaluations had a false winner, in the worst setting all of them",
            ),
        ),
    ),
    Study(
        "judges labels",
        "100 labels on random trials of 30 and 100 questions",
        label_widths(),
        (
            (_JUDGE, "as short with 30 questions ({alone_30} and {of_30} wide), and shorter with"),
            (_JUDGE, "with 100 ({of_100} in place of {alone_100})"),
        ),
    ),
    Study(
        "judges draws",
        "a calibration sample from elsewhere, 4 and 16 trials of 30 and 100 questions",
        judge_draw_numbers(),
        (
            (_JUDGE, "{null} % of the logs have no number under the poor judge with 100 labels"),
            (_JUDGE, "those that have one are covered in {least} to {most}"),
        ),
    ),
    Study(
        "judges clusters",
        "five questions with one rate, 100 labels, 30 and 100 questions, eight populations",
        judge_cluster_numbers(),
        (
            (_JUDGE, "mean coverage of {least} to {most} for each number of questions"),
            (_JUDGE, "without `cluster=` it is {plain_least} to {plain_most}."),
            (_JUDGE, "{low} settings, all of easy questions (most rates near 1), have {low_least}"),
            (_JUDGE, "to {low_most}: "),
        ),
    ),
    Study(
        "looks_and_gates gates",
        "candidates worse by exactly the margin, 30 to 500 questions, eight populations",
        gate_error_numbers(),
        (
            (
                f"{_GUIDE}/gate.md",
                "([{least} to {most} % in simulations](../validation/gates.md#gates) of 100",
            ),
            (_GATE, "in {many_least} to {many_most} of the logs with 100 questions or more"),
            (_GATE, "in {many_worst} of the worst population"),
            (_GATE, "in {few_least} to {few_most}, in {few_worst} of the worst"),
        ),
    ),
    Study(
        "single_claims repeated_gate",
        "candidates worse by exactly the margin, asked after each of 16 rounds",
        repeated_gate_numbers(),
        (
            (
                _GATE,
                "fail in up to {peeking} of the logs, with `planned_trials=16` in up to {anytime}",
            ),
        ),
    ),
    Study(
        "looks_and_gates looks",
        "two equal models, 100 and 500 questions, eight populations, looks after 1 to 16 rounds",
        looks_numbers(),
        ((_GATE, "at most {mean} of the logs on average, {worst} of the worst population"),),
    ),
    Study(
        "verdicts",
        "2 to 20 models, 15 to 100 questions, all pairs at once",
        false_winner_numbers(),
        (
            (_VERDICTS, "in at most {most} of the simulated logs of a kind, {worst} in the worst"),
            (_VERDICTS, "which the table has: at most {again} have a false winner, and"),
            (_VERDICTS, "all intervals hold in at least {held}."),
        ),
    ),
    Study(
        "judges differences",
        "two models with labels on the trials of both, 30 and 100 questions",
        judge_difference_numbers(),
        (
            (_JUDGE, "have a mean coverage of {least} to {most} for each way to label"),
            (
                _JUDGE,
                "and {worst} in the worst setting. Of two equal models one was called better in",
            ),
            (
                _JUDGE,
                "in {rare} to {often} % of the logs, and in the worst setting in {worst_false} %",
            ),
        ),
    ),
    Study(
        "costs",
        "lognormal costs",
        {
            "questions": brief_share(QUESTION_SD, 1),
            "trials": brief_share(TRIAL_SD, 1),
            "failure": str(FAILURE),
        },
        (
            (_COST, "deviation {questions} between questions and {trials} between trials"),
            (_COST, "failures cost {failure} times as much"),
        ),
    ),
    Study(
        "costs",
        "30 questions, logs whose cost per success has no upper end",
        unbounded_numbers(),
        (
            (_COST, "30 questions {mean} % of the logs had no upper end on average ({most} %"),
            (_COST, "with six clusters {least_six} to {most_six} %"),
        ),
    ),
    Study(
        "advice",
        "30 and 100 questions of seven kinds, trials spent by `next_trials` in two rounds",
        advice_numbers(),
        (
            (_COVERAGE, "| {avg} ({avg_worst}) | {mean} ({worst}) |"),
            (_PLANS, "had the smaller error in {fewer} settings of the simulation"),
            (_TRIALS, "in {avg} of the simulated logs, and in {avg_worst} for the worst kind of"),
            (_PLANNING, "in {avg} of the simulated logs, and in {avg_worst} for the worst kind of"),
        ),
    ),
    Study(
        "single_claims best_of_many",
        "2, 10 and 60 equal models, 20 and 100 questions, 1 and 4 trials, 100 logs each",
        best_numbers(),
        (
            (
                _PLANS,
                "contained the score in {mean} on average, at least {worst} (nominal .95;",
            ),
            (_PLANS, "without the correction: {plain}, at least {plain_worst})"),
            (_PLANS, "It is {narrow} % (2 models) to {wide} % (60) wider"),
            (
                _PLANS,
                "contains its score in {equal} of the simulated logs on average ({equal_worst}",
            ),
            (_PLANS, "the corrected one in {corrected} ({corrected_worst})"),
        ),
    ),
    Study(
        "single_claims many_pairs",
        "10 equal models, 60 questions, 4 trials, rates all .5 or uniform, 400 logs",
        pair_numbers(),
        (
            (
                _VERDICTS,
                "in {each_least} to {each_most} % of the logs some model is wrongly called better",
            ),
            (_VERDICTS, "all pairs at once in {all_least} to {all_most} % of them"),
            (_MANY, "wrongly called different in {each_least} to {each_most} % of the logs"),
            (_MANY, "in {all_least} to {all_most} % if all pairs were tested at once"),
        ),
    ),
    Study(
        "single_claims power",
        "two models, 30 to 500 questions, 1 to 16 trials, rates .5 and .8, correlation .5 and .9",
        power_numbers(),
        (
            (_PLANS, "with probability {benchmark} about these questions and {population} about a"),
            (_PLANS, "{benchmark} on average about these questions ({benchmark_least} to"),
            (
                _PLANS,
                "{benchmark_most}) and {population} about a population ({population_least} to",
            ),
            (_PLANS, "to {population_most}): two models, 30"),
        ),
    ),
    Study(
        "single_claims reruns",
        "a log and its rerun, nine populations, 30 to 200 questions, 1 to 8 trials, 400 logs each",
        rerun_numbers(),
        (
            (
                _PLANS,
                "In {settings} simulated settings (nine populations, 30 to 200 questions, one",
            ),
            (_PLANS, "to eight trials) {mean} of the reruns of `ps.avg()` stayed within"),
            (_PLANS, "noise floor, and {worst} in the worst setting"),
            (_PLANS, "for a goal of .8; {mean} of the reruns stay inside the noise floor"),
            (
                f"{_GUIDE}/reruns.md",
                "{settings} simulated settings](../validation/planning.md#reruns) {percent} % of",
            ),
        ),
    ),
    Study(
        "single_claims curves",
        "whole curves of two models, eight pairs, 8 to 64 trials, 30 to 200 questions",
        curve_numbers(),
        (
            (
                _VERDICTS,
                "In {settings} settings the band of the difference held at all k in {band}",
            ),
            (
                _VERDICTS,
                "of the logs (worst setting {band_worst}), the band of one model in {model}",
            ),
            (
                _VERDICTS,
                "({model_worst}), single intervals in {alone} ({alone_worst}). Equal models",
            ),
            (
                _VERDICTS,
                "a false winner at some k in {false_alone} of the logs ({false_alone_worst})",
            ),
            (_VERDICTS, "k by k, in {false_band} ({false_band_worst}) with the band."),
            (_VERDICTS, "`loss_from` was in {stretch} of the logs ({stretch_worst})"),
            (f"{_GUIDE}/curves.md", "a false winner at some k in {false_alone_percent} % of"),
            (f"{_GUIDE}/curves.md", "at once, and with it {false_band_percent} % had one."),
        ),
    ),
    Study(
        "single_claims worst_curves",
        "the eight settings of whole curves whose bands held least, 2,000 logs each",
        worst_curve_numbers("worst_curves"),
        ((_VERDICTS, "at least {held} of them, and at most {false} had a false winner."),),
    ),
    Study(
        "single_claims worst_many_curves",
        "the eight settings of five curves that held least, 2,000 logs each",
        worst_curve_numbers("worst_many_curves"),
        ((_VERDICTS, "{held}, and some winner is false in at most {false}."),),
    ),
    Study(
        "single_claims errored",
        "errored trials of one of two equal models, three populations",
        errored_numbers(),
        (
            (_VERDICTS, 'In {settings} settings the interval with `missing="bounds"` held in'),
            (_VERDICTS, "held in {bracket_held} of the logs (worst setting {bracket_held_worst})"),
            (_VERDICTS, '`missing="drop"` in {dropped_held} ({dropped_held_worst}).'),
            (_VERDICTS, "winner was in {bracket_false} of the logs ({bracket_false_worst}) with"),
            (_VERDICTS, "in {dropped_false} ({dropped_false_worst}) with dropped trials"),
            (_VERDICTS, "in {failed_false} ({failed_false_worst}) if all counted as failures"),
            (f"{_GUIDE}/errored.md", "in [{bracket_percent} % of the logs]"),
            (f"{_GUIDE}/errored.md", "with dropped trials in {dropped_percent} %."),
        ),
    ),
    Study(
        "single_claims seeds",
        "two equal recipes with three seeds each",
        seed_numbers(),
        (
            (
                _VERDICTS,
                "in {pooled_0}, {pooled_1}, {pooled_2} and {pooled_3} of the logs with pooled",
            ),
            (
                _VERDICTS,
                "and in {named_0}, {named_1}, {named_2} and {named_3} with",
            ),
            (
                f"{_GUIDE}/seeds.md",
                'false winner in {pooled_percent} % of the logs, `run="seed"` in {named_percent} %',
            ),
        ),
    ),
    Study(
        "single_claims plain_errors",
        "nine populations, 20 to 200 questions, 1 to 16 trials, 2,000 logs each",
        plain_error_numbers(),
        (
            (
                "README.md",
                "We simulated {settings} settings (nine populations, 20 to 200 questions, 1",
            ),
            ("README.md", "in {mean} % of the logs, and in {worst} % in the worst setting"),
        ),
    ),
    Study(
        "single_claims unlike_runs",
        "two equal models with a shift of each run, 30 to 500 questions, 200 logs each",
        unlike_run_numbers(),
        (
            (_GATE, "differ by a standard deviation of {small_points} points, 95 % intervals"),
            (_GATE, "in {small_100} of the logs of 100 questions and in {small_500} of those"),
            (_GATE, "with {large_points} points, in {large_100} and {large_500}"),
            (_GATE, "with runs that are alike, in {alike} to {alike_most}"),
            (_GATE, "differ by a standard deviation of {large_points} points, independently"),
            (_GATE, "names a false winner in {looks_100} of simulated evaluations of 100"),
            (_GATE, "in {looks_500} of those of 500; if they are alike, in at most {looks_alike}"),
            (_GATE, "single look at the end has the same fault ({once_100} and {once_500})"),
        ),
    ),
    Study(
        "rewards --differences",
        "two models, rewards of 11 populations, 10 and 30 questions, 1 to 16 trials, 40 logs each",
        reward_pair_numbers(),
        (
            (_REWARDS, "Intervals of differences held in at least {held} % of simulated logs"),
            (_REWARDS, "the worst single setting {worst} %"),
            (_REWARDS, "a winner in at most {wrong} % on average, in {worst_wrong} % of the worst"),
        ),
    ),
    Study(
        "rewards",
        "rewards of 11 populations whose range is given",
        reward_numbers(),
        (
            (_REWARDS, "11 populations had a mean coverage of {least} to {most} %"),
            (_REWARDS, "the worst of {settings} settings had {worst} %."),
        ),
    ),
    Study(
        "rewards",
        "rewards of about 1, and -10 in 3 % of the trials, no range given",
        penalty_numbers(),
        (
            (
                f"{_GUIDE}/real_rewards.md",
                "coverage](../validation/rewards.md#without-a-range) was {worst} %",
            ),
        ),
    ),
    Study(
        "single_claims heavy_costs",
        "lognormal costs of which one trial is more than a fifth, 10 to 60 questions",
        heavy_cost_numbers(),
        (
            (
                _COST,
                "`ps.CostWarning` covered the truth in {mean} ({least} to {most}, by the tail",
            ),
        ),
    ),
    Study(
        "goals --keep",
        "logs in memory beside a bare group_by",
        goal_numbers(),
        (
            (_SPEED, "of 8 to 64 trials take {ragged} times the bare `group_by`"),
            (_SPEED, "10,000 training steps of 20 questions take {steps} times the bare"),
        ),
    ),
    Study(
        "goals --only calls",
        "DuckDB, 200,000 questions with ten trials",
        macro_numbers(),
        ((_SPEED, "makes the query of 200,000 questions {times} times as fast"),),
    ),
    Study(
        "goals --only spark",
        "Spark on two cores, 200,000 questions with ten trials",
        spark_numbers(),
        (
            (f"{_GUIDE}/huge.md", "takes {plain} times the CPU time of Spark's own `groupBy`"),
            (f"{_GUIDE}/huge.md", "{checked} times with the check for repeated trials"),
            (f"{_GUIDE}/huge.md", "and {far} times if trial ids are not integers from 0 to 52"),
        ),
    ),
    Study(
        "peers --install --keep",
        "ten models in long form in memory",
        peer_numbers(),
        (
            (_SPEED, "which others leave out: {small} ms for 2,000 trials, and pandas {pandas} ms"),
            (
                _SPEED,
                "{many} ms for 2 million trials of 20,000 questions, and pandas {many_pandas}",
            ),
            (_SPEED, "ms, or {each} ms with a call for each question"),
        ),
    ),
    Study(
        "goals --only logs --keep",
        "20 million trials on the disk",
        read_numbers(),
        (
            (_SPEED, "on 20 million trials cost {plain} % more CPU time than a plain `group_by`"),
            (_SPEED, "or {checked} % more with the duplicate check"),
        ),
    ),
)
