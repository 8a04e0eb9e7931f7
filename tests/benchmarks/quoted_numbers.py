"""Numbers of studies that stand in more than one place, or beside no study of their page.

One entry a study: the script that measures it, what it simulated, its numbers, and the sentences
that quote them. A test looks for each sentence on its page, and looks through README, guide and
docstrings for sentences about simulations that are quoted here nowhere. Whoever measures anew
changes the number here, and the test names the pages that still have the old one.
"""

from typing import NamedTuple

import numpy as np
import polars as pl

from tests.benchmarks.measured_tables import cell_rows
from tests.benchmarks.promised_tables import FILES, measured_cells
from tests.benchmarks.single_claims import study_cells
from tests.benchmarks.study_tables import brief_share

_PROMISES, _TRAINING = "examples/guide/promises.md", "examples/guide/training.md"
_COST, _LOOKS, _GATE = "examples/guide/cost.md", "examples/guide/looks.md", "examples/guide/gate.md"
_TRIALS, _QUESTIONS = "examples/guide/trials.md", "examples/guide/questions.md"
_DECISIONS, _GATES = "polars_scorio/accessors/decisions.py", "polars_scorio/accessors/gates.py"
_PLANNING = "polars_scorio/accessors/planning.py"


class Study(NamedTuple):
    """Numbers of a study, with the sentences that quote them.

    Parameters
    ----------
    script : str
        What measures the numbers: a module of `tests.benchmarks` with its arguments.
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


def cost_numbers() -> dict[str, str]:
    """Least and largest mean, and least coverage, of the cost per success over a population."""
    cells = measured_cells("costs").filter(metric="cost_per_success", target="population")
    held = (
        cells.filter(cluster=1).group_by("M", "n").agg(pl.col("holds").mean())["holds"].to_numpy()
    )
    worst = cells.filter(cluster=1)["holds"].to_numpy().min()
    means = {"least": brief_share(held.min(), 3), "most": brief_share(held.max(), 3)}
    return means | {"worst": brief_share(worst, 2)}


def vote_numbers() -> dict[str, str]:
    """Least coverage of votes over one question and over three, and the number of cells of each."""
    few = measured_cells("votes").filter(pl.col("questions") <= 3)
    least = {row["questions"]: row["least"] for row in few.sort("least").reverse().to_dicts()}
    cells = str(few.filter(questions=1).height)
    return {"cells": cells, "one": brief_share(least[1], 2), "three": brief_share(least[3], 2)}


def power_numbers() -> dict[str, str]:
    """Mean, least and largest power at the difference of `detectable`, about each target."""
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


_WORST = "in {worst} % of those of the worst setting"
_HELD = f"contained the truth in {{mean}} % of the logs, and {_WORST}"
STUDIES = (
    Study(
        "coverage",
        "populations of questions, 5 to 1,000 questions, 1 to 16 trials of each, metrics",
        coverage_numbers(),
        (
            ("README.md", f"Over {{settings}} simulated settings, the 95 % intervals {_HELD}"),
            (_PROMISES, f"Over {{settings}} simulated settings, calibrated 95 % intervals {_HELD}"),
            (
                "examples/guide/intervals.md",
                f"intervals contained the truth in {{mean}} % of the simulated logs, and {_WORST}",
            ),
        ),
    ),
    Study(
        "single_claims each_gate",
        "gates of five equal strata of 100 questions with 4 trials, margin .05, eight populations",
        gate_numbers(),
        (
            (
                _GATES,
                "passed at margin .05 in {mean} of the logs ({least} to {most} by the population)",
            ),
        ),
    ),
    Study(
        "looks_and_gates looks",
        "two models, 30 questions, eight populations, looks after 1 to 16 rounds",
        {"wider": "1.285", "critical": "2.519", "once": "1.960"},
        (
            (_LOOKS, "intervals are {wider} times as wide as those of one look"),
            (_LOOKS, "({critical} instead of {once} standard errors)"),
            ("polars_scorio/reporting/options.py", "intervals are {wider} times as wide"),
            ("polars_scorio/reporting/options.py", "c is {critical} instead of {once} at 95 %"),
        ),
    ),
    Study(
        "looks_and_gates looks",
        "two equal models compared by avg after each of 16 rounds, at 95 % each time",
        {"least": "17", "most": "28"},
        (
            (
                "polars_scorio/reporting/options.py",
                "false winner in {least} to {most} % of the logs",
            ),
        ),
    ),
    Study(
        "looks_and_gates regressions",
        "30 questions, a tenth of which breaks to a tenth of its rate, 400 logs",
        {"four": ".31", "sixteen": ".86"},
        (
            (_GATE, "| 4 | {four} |"),
            (_GATE, "| 16 | {sixteen} |"),
            (_GATES, "With 16 trials, {sixteen} of the questions that broke"),
            (_GATES, "with 4 trials {four} among 30 questions"),
        ),
    ),
    Study(
        "looks_and_gates asked_again",
        "60 and 100 questions, 4 trials and then `further`, eight populations, 1,000 logs each",
        {"passed": ".11", "failed": ".10"},
        (
            (_GATE, "(worst population {passed}), and failed in .08 ({failed})"),
            (_GATES, "false pass in up to {passed} and a false fail in up to {failed} of the logs"),
        ),
    ),
    Study(
        "costs",
        "five models, two of them tied, one dominated; 30 to 500 questions, 200 logs each",
        {"least": "20", "most": "47", "f30": "1", "f100": "16", "f500": "88", "logs": "1,800"},
        (
            (_COST, "both were in only {least} to {most} % of the logs"),
            (_COST, "called dominated in {logs} logs"),
            (
                _COST,
                (
                    "found in {f30} % of the logs with 30 questions and 4 trials, {f100} % with "
                    "100, and {f500} % with 500"
                ),
            ),
            (
                "polars_scorio/accessors/frontiers.py",
                "in only {least} to {most} % of the simulated logs",
            ),
            ("polars_scorio/accessors/frontiers.py", "called dominated in any of the {logs} logs"),
            (
                "polars_scorio/accessors/frontiers.py",
                "found in {f30} % (30 questions), {f100} % (100) and {f500} % (500) of them",
            ),
        ),
    ),
    Study(
        "costs",
        "nine populations with lognormal costs, 30 to 500 questions, 1 to 16 trials, 200 logs each",
        cost_numbers(),
        (
            ("polars_scorio/metrics/costs.py", "hold in {least} to {most} of the logs"),
            ("polars_scorio/metrics/costs.py", "in the worst of nine populations in {worst}"),
        ),
    ),
    Study(
        "questions reversed",
        "300 questions, 3 % of them reversed, 30 % without any relation to the others, 60 logs",
        {"m8": ".36", "m15": ".81", "m25": ".92", "m60": ".99", "false": ".05"},
        (
            (_QUESTIONS, "| 8 | 16 | .01 | .02 | {m8} |"),
            (_QUESTIONS, "| 15 | 16 | .00 | {false} | {m15} |"),
            (_QUESTIONS, "| 25 | 16 | .00 | .03 | {m25} |"),
            (_QUESTIONS, "| 60 | 16 | .00 | .03 | {m60} |"),
            (
                "polars_scorio/accessors/questions.py",
                (
                    "8 models .01, .06, {m8}; 15 models .04, .36, {m15}; 25 models .16, .59, "
                    "{m25}; 60 models .53, .88, {m60}. At most {false}"
                ),
            ),
        ),
    ),
    Study(
        "questions variance",
        "5 to 25 models, 50 and 100 questions, 2 to 16 trials, 100 logs each",
        {"least": ".91", "most": ".97"},
        (
            (
                "polars_scorio/accessors/questions.py",
                "they held in {least} to {most} of the logs",
            ),
        ),
    ),
    Study(
        "votes",
        "eight populations with 3 to 9 answers, one question and three, 400 logs each",
        vote_numbers(),
        (
            (
                _PROMISES,
                "all {cells} pairs of n and k, the least is {one} with one question and {three}",
            ),
        ),
    ),
    Study(
        "clusters",
        "three populations, 10 to 50 clusters of 5 and 10 questions, intra-class correlation .6",
        {"mean": "77", "worst": "56", "mean_row": ".77", "worst_row": ".56"},
        (
            (_PROMISES, "| 10 | .99 (.97) | .97 (.95) | .97 (.94) | {mean_row} (.58) |"),
            (_PROMISES, "| 50 | .97 (.95) | .96 (.94) | .96 (.94) | .75 ({worst_row}) |"),
            (
                "examples/guide/clusters.md",
                "contain the truth in 75 to {mean} % of logs, in the worst setting in {worst} %",
            ),
        ),
    ),
    Study(
        "ranks",
        "6,000 simulated rows of 2 to 5 models, 2,500 of 10, 800 of 50",
        {"two": "+.15", "fifty": "+.035", "near": "+.06", "two_said": ".15", "near_said": ".06"},
        (
            (_PROMISES, "| 2 | {two} | -.04 to {near} |"),
            (_PROMISES, "| 50 | {fifty} |"),
            (_DECISIONS, "leader is within {near_said} of how often it is the best"),
            (_DECISIONS, "by {two_said} for two models and .04 for fifty"),
        ),
    ),
    Study(
        "ranks",
        "pairs of 2, 5 and 10 models that spread by a standard error, a goal of .8, 20,000 rows",
        {"two": "75", "ten": "81", "two_said": ".75", "ten_said": ".81"},
        (
            (_TRIALS, "({two} % of two models, {ten} % of ten)"),
            (_PLANNING, "of the pairs with a number {two_said} were told apart for 2 models"),
            (_PLANNING, "{ten_said} for 10"),
        ),
    ),
    Study(
        "advice",
        "30 and 100 questions of seven kinds, trials spent by `next_trials` in two rounds",
        {"mean": ".96", "worst": ".94", "avg": ".95", "avg_worst": ".88", "fewer": "12 of 14"},
        (
            (
                "examples/guide/intervals.md",
                "| `next_trials`, two rounds | {avg} ({avg_worst}) | {mean} ({worst}) |",
            ),
            (_TRIALS, "had the smaller error in {fewer} settings of the simulation"),
            (_PLANNING, "in {fewer} cells, and its 95 % intervals held the truth in {mean}"),
            (_PLANNING, "in the worst cell {worst} (`ps.avg()`: {avg}, {avg_worst})"),
        ),
    ),
    Study(
        "single_claims best_of_many",
        "2, 10 and 60 equal models, 20 and 100 questions, 1 and 4 trials, 100 logs each",
        best_numbers(),
        (
            (
                _DECISIONS,
                "had the score in {mean} on average, at least {worst} (nominal .95; without",
            ),
            (_DECISIONS, "without the correction: {plain}, at least {plain_worst})"),
            (_DECISIONS, "It is {narrow} % (2 models) to {wide} % (60) wider"),
            (_TRAINING, "has its score in {equal} of the simulated logs on average ({equal_worst}"),
            (_TRAINING, "the corrected one in {corrected} ({corrected_worst})"),
        ),
    ),
    Study(
        "ranks --accessor",
        "10 equal models, 60 questions, 4 trials, rates all .5 or uniform, 400 logs",
        {"least": "53", "most": "60", "together": "3 to 4"},
        (
            (
                "examples/guide/compare.md",
                (
                    "in {least} to {most} % of the logs some model is wrongly called better; with "
                    "`simultaneous=True` in {together} % of them"
                ),
            ),
        ),
    ),
    Study(
        "single_claims power",
        "two models, 30 to 500 questions, 1 to 16 trials, rates .5 and .8, correlation .5 and .9",
        power_numbers(),
        (
            (
                "polars_scorio/decisions/detectable.py",
                "{benchmark} on average about these questions ({benchmark_least} to",
            ),
            (
                "polars_scorio/decisions/detectable.py",
                "{benchmark_most}) and {population} about the population ({population_least} to",
            ),
            ("polars_scorio/decisions/detectable.py", "to {population_most}): two models, 30"),
        ),
    ),
    Study(
        "single_claims heavy_costs",
        "lognormal costs of which one trial is more than a fifth, 10 to 60 questions",
        heavy_cost_numbers(),
        (
            (
                "polars_scorio/reporting/cost_warning.py",
                "held in {mean} of such simulated logs, in {least} to {most} by the tail",
            ),
        ),
    ),
)
