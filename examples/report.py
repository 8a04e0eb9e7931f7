"""A report with leaderboard, comparisons and pictures. Run: python examples/report.py [LOG]

LOG is a Parquet file with the columns model, question, trial (or none) and category; without it, a
log of five models in two domains is made. Needs `pip install "polars-scorio[plot,style]"`.
"""

import argparse
from pathlib import Path

import numpy as np
import polars as pl

import polars_scorio as ps

# How good the models of the log that is made are, in each domain.
SKILLS = {
    "atlas-7b": (-0.9, -0.3),
    "borea-13b": (0.2, 0.1),
    "comet-70b": (1.2, 0.5),
    "delta-mini": (0.1, 0.3),
    "ember-large": (1.1, 0.8),
}


def rollouts(questions: int = 30, trials: int = 8, seed: int = 11) -> pl.DataFrame:
    """A log of models that answer easy and hard questions of two domains."""
    rng = np.random.default_rng(seed)
    keys = {
        "question": np.repeat(np.arange(questions), trials),
        "trial": np.tile(np.arange(trials), questions),
    }
    logs = []
    for place, domain in enumerate(("airline", "retail")):
        difficulty = rng.normal(0, 1.5, questions).repeat(trials)
        for model, skills in SKILLS.items():
            solved = rng.logistic(size=questions * trials) < skills[place] - difficulty
            columns = {"model": model, "domain": domain, **keys, "category": solved}
            logs.append(pl.DataFrame(columns))
    return pl.concat(logs)


def markdown(table: pl.DataFrame) -> str:
    """Any table in Markdown."""
    with pl.Config(tbl_formatting="MARKDOWN", tbl_rows=-1, tbl_cols=-1, tbl_width_chars=-1,
                   tbl_hide_dataframe_shape=True, tbl_hide_column_data_types=True,
                   float_precision=3, fmt_str_lengths=100):  # fmt: skip
        return str(table)


def write_report(log: pl.LazyFrame, by: list[str], folder: Path) -> Path:
    """Write the report of a log, and say where it is."""
    ordered = "trial" in log.collect_schema()
    trial = "trial" if ordered else None
    accessor = log.scorio(by=by, trial=trial, inference="calibrated")  # for all that follows
    counts = accessor.counts().group_by("model", *by, "question").agg(pl.col("count").sum())
    fewest = counts.select(pl.col("count").min()).collect().item()
    k = min(4, fewest)
    board = accessor.leaderboard(ps.bayes(), ps.pass_at_k(k), ps.pass_hat_k(k))
    best = board["model"][0]
    overall = {"overall": "macro"} if by else {}
    pictures = {
        "How good are they?": accessor.plot.intervals(**overall),
        "What do more draws buy?": accessor.plot.curve(fewest, **overall),
        "Who beats whom?": accessor.plot.comparison(),
        "Which questions are hard?": accessor.plot.questions(),
    }
    if ordered:
        pictures["Did it take so many trials?"] = accessor.plot.trajectory()
        pictures["When did the ranking settle?"] = accessor.plot.convergence(
            replicates=200, scheme="question"
        )
    lines = ["# Report", "## Leaderboard", ps.to_markdown(board)]
    (folder / "leaderboard.html").write_text(ps.style(board).as_raw_html(), encoding="utf-8")
    if board.height > 1:
        duels = accessor.compare(baseline=best).drop("metric", "k").collect()
        lines += [f"## Against {best}", markdown(duels)]
    for place, (question, picture) in enumerate(pictures.items(), 1):
        name = f"picture_{place}.png"
        picture.save(folder / name, scale_factor=2)
        lines += [f"## {question}", f"![{question}]({name})"]
    path = folder / "report.md"
    path.write_text("\n\n".join(lines) + "\n", encoding="utf-8")
    return path


def main() -> None:
    """Read the arguments and write the report."""
    parser = argparse.ArgumentParser(description="A report with leaderboard and pictures.")
    parser.add_argument("log", nargs="?", type=Path, help="Parquet file; default: a made up log")
    parser.add_argument("--by", nargs="*", default=[], help="columns of the strata")
    parser.add_argument("--output", type=Path, default=Path("report"), help="a folder")
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    log, by = arguments.log, arguments.by
    if log is None:
        log, by = arguments.output / "rollouts.parquet", ["domain"]
        rollouts().write_parquet(log)
    print(f"The report is in {write_report(pl.scan_parquet(log), by, arguments.output)}")


if __name__ == "__main__":
    main()
