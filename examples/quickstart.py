"""From a log of trials to numbers with intervals. Run: python examples/quickstart.py"""

import os
import signal
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

import polars_scorio as ps
from polars_scorio.command_line.main import main

if hasattr(signal, "SIGPIPE"):  # `| head` ends the script, without a traceback
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
pl.Config.set_tbl_hide_dataframe_shape(True).set_tbl_hide_column_data_types(True)
pl.Config.set_float_precision(3).set_tbl_cols(-1).set_tbl_rows(-1).set_tbl_width_chars(130)
# A pipe of Windows may lack the lines of tables.
pl.Config.set_ascii_tables(not "┌".encode(sys.stdout.encoding or "utf-8", "ignore"))


def rollouts(models: dict[str, float], questions: int, trials: int, seed: int) -> pl.DataFrame:
    """A log of models (name: skill) that answer questions of different difficulty."""
    rng = np.random.default_rng(seed)
    keys = pl.DataFrame({"model": models.keys(), "skill": models.values()}).join(
        pl.DataFrame({"question": range(questions), "difficulty": rng.normal(0, 2, questions)}),
        how="cross",
    )
    log = keys.join(pl.DataFrame({"trial": range(trials)}), how="cross")
    luck = pl.Series(rng.logistic(size=log.height)) + log["skill"] - log["difficulty"]
    verdict = pl.when(luck > 0).then(pl.lit("correct")).when(luck > -1).then(pl.lit("partial"))
    return log.select(
        "model",
        "question",
        "trial",
        category=luck > 0,
        verdict=verdict.otherwise(pl.lit("wrong")),
    )


models = {"atlas-7b": -1.0, "borea-13b": 0.4, "comet-70b": 0.9}
log = rollouts(models, questions=30, trials=8, seed=7)

print("One row per trial:")
print(log.head(3))

print("\nHow good is each model, and how sure are we?")
print(log.scorio.report(ps.avg(), ps.pass_at_k([1, 4]), ps.pass_hat_k(4)))

print("\nPartial credit: labels and a weight for each of them.")
weights = {"wrong": 0, "partial": 0.5, "correct": 1}
verdicts = log.scorio(category="verdict")
print(verdicts.avg(w=weights, name="partial credit"))

print("\nThe same from Parquet, lazily: only the rows of one model are read.")
with tempfile.TemporaryDirectory() as folder:
    log.write_parquet(Path(folder) / "rollouts.parquet")
    trials = pl.scan_parquet(Path(folder) / "*.parquet")
    lazy = trials.scorio.pass_hat_k([1, 2, 4, 8])
    print(lazy.filter(pl.col("model") == "comet-70b").collect())
    print("\nOne answer, as `polars-scorio rollouts.parquet` prints it:", flush=True)
    here = Path.cwd()
    os.chdir(folder)
    main(["rollouts.parquet"])
    os.chdir(here)  # Windows deletes no folder that is in use
