"""A made up log of five models in two domains. Run: python examples/rollouts.py rollouts.parquet"""

import sys

import numpy as np
import polars as pl

# How good the models are in each domain.
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


if __name__ == "__main__":
    rollouts().write_parquet(sys.argv[1])
