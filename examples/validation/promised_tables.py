"""Write the measured tables into the pages. Run: python -m examples.validation.promised_tables.

Pages have a mark before and after each table of a study, so that its numbers stand in one place,
and a test compares the pages with it. `TABLES` are made from the settings that scripts measured.
Other studies are kept in `printed_tables`, as their scripts printed them.
"""

import csv
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import polars as pl

from examples.validation.measured_tables import (
    failing_cells,
    family_table,
    promised_coverage,
    width_table,
)
from examples.validation.study_tables import (
    advice_table,
    asked_again_table,
    board_table,
    cost_table,
    family_look_table,
    fault_table,
    flip_table,
    gate_table,
    honest_table,
    inference_table,
    judge_draw_table,
    judge_rate_table,
    kept_fault_table,
    label_table,
    leader_table,
    level_table,
    look_means,
    look_table,
    many_curve_table,
    regression_table,
    reward_range_table,
    reward_table,
    run_interval_table,
    run_share_table,
    run_winner_table,
    sample_table,
    tail_table,
    tier_table,
    vote_table,
    weighting_table,
)

VALIDATION = Path(__file__).parent
PRINTED = VALIDATION / "printed_tables"
PAGES = sorted(VALIDATION.glob("*.md"))
FILES = {
    "coverage": VALIDATION / "coverage.parquet",
    "verdicts": VALIDATION / "verdicts.parquet",
    "votes": VALIDATION / "votes.csv",
    "advice": VALIDATION / "advice.csv",
    "inferences": VALIDATION / "inferences.parquet",
    "costs": VALIDATION / "costs.csv",
    "cost_tails": VALIDATION / "single_claims" / "cost_tails.csv",
    "board_best": VALIDATION / "single_claims" / "board_best.csv",
    "prob_best": VALIDATION / "single_claims" / "prob_best.csv",
    **{
        name: VALIDATION / "single_claims" / f"{name}.csv"
        for name in (
            "run_intervals",
            "run_decisions",
            "run_gates",
            "run_faults",
            "run_honest",
            "run_looks",
            "run_power",
            "run_kept_faults",
            "flips",
            "tiers",
            "many_curves",
            "gates",
            "levels",
            "asked_again",
            "regressions",
            "looks",
            "families",
            "samples",
            "judge_labels",
            "judge_accuracy",
            "judge_draws",
            "rewards",
            "reward_decisions",
            "stratum_weights",
        )
    },
}
MARKED = re.compile(r"(<!-- measured: (\w+) -->\n).*?(<!-- end: \2 -->)", re.DOTALL)
# For each name of a table: the file that it is made from, and how.
TABLES: dict[str, tuple[str, Callable[[pl.DataFrame], pl.DataFrame]]] = {
    "coverage": ("coverage", promised_coverage),
    "failures": ("coverage", failing_cells),
    "widths": ("coverage", width_table),
    "verdicts": ("verdicts", family_table),
    "votes": ("votes", vote_table),
    "costs": ("costs", cost_table),
    "cost_tails": ("cost_tails", tail_table),
    "advice": ("advice", advice_table),
    "inferences": (
        "inferences",
        lambda measured: inference_table(measured, measured_cells("coverage")),
    ),
    "prob_best": ("prob_best", leader_table),
    "board_best": ("board_best", board_table),
    "run_intervals": ("run_intervals", run_interval_table),
    "run_decisions": ("run_decisions", partial(run_winner_table, target="benchmark")),
    "run_population": ("run_decisions", partial(run_winner_table, target="population")),
    "run_gates": ("run_gates", partial(run_share_table, share="false_pass")),
    "run_looks": ("run_looks", partial(run_share_table, share="false_winner")),
    "run_power": ("run_power", partial(run_share_table, share="found", beside="false_winner")),
    "run_kept_faults": ("run_kept_faults", kept_fault_table),
    "run_honest": ("run_honest", honest_table),
    "run_faults": ("run_faults", fault_table),
    "flips": ("flips", flip_table),
    "tiers": ("tiers", tier_table),
    "many_curves": ("many_curves", many_curve_table),
    "gates": ("gates", gate_table),
    "levels": ("levels", level_table),
    "asked_again": ("asked_again", asked_again_table),
    "regressions": ("regressions", regression_table),
    "looks_populations": ("looks", look_table),
    "looks_questions": ("looks", look_means),
    "looks_families": ("families", family_look_table),
    "looks_samples": ("samples", sample_table),
    "judge_labels": ("judge_labels", label_table),
    "judge_rates": ("judge_accuracy", judge_rate_table),
    "judge_draws": ("judge_draws", judge_draw_table),
    "stratum_weights": ("stratum_weights", weighting_table),
    "reward_ranges": ("rewards", reward_range_table),
    "reward_decisions": ("reward_decisions", reward_table),
}


def measured_cells(file: str) -> pl.DataFrame:
    """The settings that a script measured."""
    read = pl.read_csv if FILES[file].suffix == ".csv" else pl.read_parquet
    return read(FILES[file])


def markdown_cell(value: object) -> str:
    """A cell as the pages write it: three decimals, no zero before the point."""
    if value is None:
        return ""
    if not isinstance(value, float):
        return str(value)
    return re.sub(r"^0\.", ".", f"{value:.3f}" if value < 10 else f"{value:.0f}")


def markdown_table(frame: pl.DataFrame) -> str:
    """A frame as a table in Markdown."""
    lines = [frame.columns, ["---"] * frame.width]
    lines += [[markdown_cell(value) for value in row] for row in frame.rows()]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def printed_table(file: Path) -> str:
    """The table of a study, from the file that keeps its cells as they are written."""
    with file.open(encoding="utf-8", newline="") as lines:
        head, *rows = csv.reader(lines)
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, ["---"] * len(head), *rows))


def measured_table(name: str) -> str:
    """The table of a name in Markdown, as it was measured."""
    if name not in TABLES:
        return printed_table(PRINTED / f"{name}.csv")
    file, table = TABLES[name]
    return markdown_table(table(measured_cells(file)))


def page_with_tables(page: str) -> str:
    """The text of a page, with every marked table as the files have it."""
    return MARKED.sub(lambda at: f"{at[1]}{measured_table(at[2])}\n{at[3]}", page)


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(page_with_tables(page.read_text(encoding="utf-8")), encoding="utf-8")
