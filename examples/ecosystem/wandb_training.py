"""A training curve with its interval in Weights & Biases, offline.

Needs wandb. Run: python examples/ecosystem/wandb_training.py [FOLDER]
`wandb sync FOLDER/wandb/offline-run-*` sends the run when you are online.
"""

import sys

import numpy as np
import polars as pl
import wandb

import polars_scorio as ps

QUESTIONS, TRIALS = 40, 4


def evaluated(step: int, rng: np.random.Generator) -> pl.DataFrame:
    """The trials of a made up checkpoint, which becomes better with each step."""
    skill = rng.beta(1 + step / 100, 4, QUESTIONS).repeat(TRIALS)
    keys = {"question": np.arange(QUESTIONS).repeat(TRIALS), "trial": [*range(TRIALS)] * QUESTIONS}
    return pl.DataFrame({"model": "atlas-7b", **keys, "category": rng.random(skill.size) < skill})


folder = sys.argv[1] if len(sys.argv) > 1 else "."
rng = np.random.default_rng(5)
with wandb.init(project="training", mode="offline", dir=folder) as run:
    for step in range(0, 500, 100):
        report = evaluated(step, rng).scorio.report(ps.avg(), ps.pass_at_k(4))
        metrics = ps.to_metrics(report)  # avg/estimate, avg/lo, avg/hi, pass_at_4/estimate, ...
        run.log(metrics, step=step)
        print(step, {name: round(metrics[f"avg/{name}"], 3) for name in ("estimate", "lo", "hi")})
