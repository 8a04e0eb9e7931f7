"""harbor (Terminal-Bench 2): which tasks does an agent solve?

Reads <jobs>/<job>/<trial>/result.json: task_name, trial_name (the task and a random suffix),
agent_info (the agent's name, and model_info with that of the model), verifier_result (rewards) and
exception_info.
"""

import json

import polars as pl
from recipe import Paths, above, command_line, files, print_report

COLUMNS = {
    "agent": pl.String,
    "model": pl.String,
    "question": pl.String,
    "trial": pl.String,
    "category": pl.Float64,
    "exception": pl.String,
}


def trials(paths: Paths, reward: str = "reward", threshold: float | None = None) -> pl.DataFrame:
    """One row per trial: agent, model, question, trial, category, exception.

    The category is the reward, or whether it reaches a threshold. A trial that the verifier did not
    judge has none. An exception does not tell: after a timeout of the agent the verifier may run
    all the same. The rule of the Terminal-Bench leaderboard, timeouts fail and every other
    exception is left out, is a filter on `exception` and ``missing=0``.
    """
    results = [
        json.loads(file.read_text(encoding="utf-8")) for file in files(paths, "*/result.json")
    ]
    # The result.json of the whole job lies one folder above; it has no task_name.
    rows = [
        (
            result["agent_info"]["name"],
            (result["agent_info"].get("model_info") or {}).get("name"),
            result["task_name"],
            result["trial_name"],
            ((result.get("verifier_result") or {}).get("rewards") or {}).get(reward),
            (result.get("exception_info") or {}).get("exception_type"),
        )
        for result in results
        if "task_name" in result
    ]
    log = pl.DataFrame(rows, schema=COLUMNS, orient="row")
    return log.with_columns(category=above(threshold))


def main() -> None:
    """Print the report of the files on the command line."""
    parser = command_line(__doc__, "result.json files")
    parser.add_argument("--reward", default="reward", help="which of the rewards; default: reward")
    parser.add_argument("--threshold", type=float, help="a reward from here on is a success")
    options = parser.parse_args()
    print_report(trials(options.paths, options.reward, options.threshold), options, by="agent")


if __name__ == "__main__":
    main()
