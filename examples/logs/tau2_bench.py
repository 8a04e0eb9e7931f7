"""tau2-bench: how reliable is an agent?

Reads results.json of `tau2 run`: info (with the agent's LLM and the domain), tasks, and simulations
with task_id, trial, termination_reason and reward_info; or the same with each simulation in a file
of its own, simulations/<id>.json, beside results.json.
"""

import json
from pathlib import Path
from typing import Any

import polars as pl
from recipe import Paths, command_line, files, print_report

COLUMNS = {
    "model": pl.String,
    "benchmark": pl.String,
    "question": pl.String,
    "trial": pl.Int64,
    "reward": pl.Float64,
    "termination": pl.String,
}


def trials(paths: Paths) -> pl.DataFrame:
    """One row per simulation: model, benchmark, question, trial, category, reward, termination.

    A simulation that an infrastructure error ended has no outcome; tau2 leaves it out, so that
    ``missing="drop"`` gives its numbers. Every other end (max_steps, agent_error, ...) has a
    reward.
    """
    found = files(paths, "results.json")
    rows = [row for file in found for row in _rows(file)]
    # As in tau2, a reward within 1e-6 of 1 is a success.
    success = (pl.col("reward").fill_nan(None) - 1).abs() <= 1e-6  # noqa: PLR2004
    ran = pl.col("termination") != "infrastructure_error"
    log = pl.DataFrame(rows, schema=COLUMNS, orient="row")
    log = log.with_columns(category=pl.when(ran).then(success))
    return log.select(
        "model", "benchmark", "question", "trial", "category", "reward", "termination"
    )


def _rows(file: Path) -> list[tuple[object, ...]]:
    run = json.loads(file.read_text(encoding="utf-8"))
    info = run["info"]
    keys = info["agent_info"]["llm"], info["environment_info"]["domain_name"]
    return [
        (
            *keys,
            str(simulation["task_id"]),
            simulation["trial"],
            (simulation.get("reward_info") or {}).get("reward"),
            simulation["termination_reason"],
        )
        for simulation in _simulations(file, run)
    ]


def _simulations(file: Path, run: dict[str, Any]) -> list[dict[str, Any]]:
    if "simulations" in run:
        return run["simulations"]
    # Not the index in results.json, though it has the rewards: a run that was stopped has none.
    parts = sorted((file.parent / "simulations").glob("*.json"))
    return [json.loads(part.read_text(encoding="utf-8")) for part in parts]


def main() -> None:
    """Print the report of the files on the command line."""
    options = command_line(__doc__, "results.json files").parse_args()
    print_report(trials(options.paths), options, by="benchmark")


if __name__ == "__main__":
    main()
