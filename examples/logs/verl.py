"""verl: how does a model that is trained get on?

Reads the <step>.jsonl of trainer.validation_data_dir (or rollout_data_dir): one line per rollout
with input, output, gts, score, step, what the reward function returns (acc, pred, ...), and in the
v1 trainer uid, "<sample>_<rollout>_<output>". Neither the model nor the data set are in the file.
"""

import json

import polars as pl
from recipe import Paths, above, command_line, files, print_report

COLUMNS = {
    "step": pl.Int64,
    "question": pl.String,
    "trial": pl.String,
    "category": pl.Float64,
    "score": pl.Float64,
}


def trials(paths: Paths, reward: str = "acc", threshold: float | None = None) -> pl.DataFrame:
    """One row per rollout: step, question, trial, category, score.

    For ``.scorio(model=None, by="step")``. The category is a reward, or whether it reaches a
    threshold. Without a uid the question is the text of the input, and there is no trial id: add
    ``trial=None``.
    """
    # Not scan_ndjson: a reward that is NaN stands in the file as NaN, which Polars does not read.
    lines = [
        json.loads(line)
        for file in files(paths, "*.jsonl")
        for line in file.read_text(encoding="utf-8").split("\n")
        if line
    ]
    if lines and not any(reward in line for line in lines):
        raise ValueError(f"no rollout has {reward!r}, the first has {list(lines[0])}: see reward=")
    rows = [(line["step"], *_ids(line), _number(line.get(reward)), line["score"]) for line in lines]
    log = pl.DataFrame(rows, schema=COLUMNS, orient="row")
    return log.with_columns(category=above(threshold))


def _ids(line: dict[str, str]) -> tuple[str, str | None]:
    if "uid" not in line:
        return line["input"], None
    sample, rollout, output = line["uid"].rsplit("_", 2)
    return sample, f"{rollout}_{output}"


def _number(value: object) -> float | None:
    # A reward function may return truth values, or what is written as text.
    return None if value is None else float(value)


def main() -> None:
    """Print the report of the files on the command line."""
    parser = command_line(__doc__, "<step>.jsonl files")
    parser.add_argument("--reward", default="acc", help="which of the rewards; default: acc")
    parser.add_argument("--threshold", type=float, help="a reward from here on is a success")
    options = parser.parse_args()
    log = trials(options.paths, options.reward, options.threshold)
    trial = "trial" if log["trial"].count() else None
    print_report(log, options, model=None, by="step", trial=trial)


if __name__ == "__main__":
    main()
