"""verifiers 1: how often does an episode pass?

Reads outputs/<env>--<model>/<id>/traces.jsonl: one line per episode with id, env, task (data.idx,
or key), ok, errors and traces, a list with one trace for each agent that took part, whose rewards
hold score and weight by name. The model is known from the path alone.
"""

import json
import re
from pathlib import Path
from typing import Any

import polars as pl
from recipe import Paths, above, command_line, files, print_report

COLUMNS = {
    "model": pl.String,
    "benchmark": pl.String,
    "question": pl.String,
    "trial": pl.String,
    "category": pl.Float64,
    "error": pl.String,
}


def trials(paths: Paths, threshold: float | None = 0.5, agent: str = "agent") -> pl.DataFrame:
    """One row per episode: model, benchmark, question, trial, category, error.

    The category is whether the weighted rewards of an agent reach a threshold; with
    ``threshold=None`` it is their sum. An episode that is not ok, or was not scored, has no
    outcome.
    """
    rows = [row for file in files(paths, "traces.jsonl") for row in _rows(file, agent)]
    log = pl.DataFrame(rows, schema=COLUMNS, orient="row")
    return log.with_columns(category=above(threshold))


def _rows(file: Path, agent: str) -> list[tuple[object, ...]]:
    model = re.search(r"--([^/]+)/", file.resolve().as_posix())
    lines = file.read_text(encoding="utf-8").split("\n")
    episodes = [json.loads(line) for line in lines if line]
    return [
        (
            model and model[1],
            episode["env"]["id"],
            str(episode["task"]["data"].get("idx", episode["task"].get("key"))),
            episode["id"],
            _reward(episode, agent),
            next((error["type"] for error in episode["errors"][::-1]), None),
        )
        for episode in episodes
    ]


def _reward(episode: dict[str, Any], agent: str) -> float | None:
    traces = [trace for trace in episode["traces"] if trace["agent"]["name"] == agent]
    # A reward that was not computed is left out of the file.
    rewards = [reward for trace in traces for reward in trace["rewards"].values()]
    if not episode["ok"] or not rewards:
        return None
    return sum(reward["score"] * reward["weight"] for reward in rewards)


def main() -> None:
    """Print the report of the files on the command line."""
    parser = command_line(__doc__, "traces.jsonl files")
    parser.add_argument("--threshold", type=float, default=0.5, help="default: 0.5")
    parser.add_argument("--agent", default="agent", help="whose rewards; default: agent")
    options = parser.parse_args()
    print_report(trials(options.paths, options.threshold, options.agent), options, by="benchmark")


if __name__ == "__main__":
    main()
