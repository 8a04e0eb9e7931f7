"""The pictures of the README and the guide. Run: python examples/readme_pictures.py [FOLDER]

Needs Pillow, which makes the files small: python -m pip install pillow
"""

import sys
from pathlib import Path

import numpy as np
import polars as pl
from PIL import Image
from rollouts import rollouts

import polars_scorio as ps

SCHEMA = ["model", "step", "question", "trial", "category"]


def training() -> pl.DataFrame:
    """The log of two runs of a training, evaluated every 100 steps, as in the guide."""
    rng = np.random.default_rng(3)
    difficulty = rng.normal(0, 1.5, 40)
    rows = [
        (run, step, q, trial, int(rng.logistic() < gain * step / 400 - 0.5 - difficulty[q]))
        for run, gain in {"base": 1.0, "more entropy": 1.6}.items()
        for step in range(0, 401, 100)
        for q in range(40)
        for trial in range(4)
    ]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


folder = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent / "pictures")
folder.mkdir(exist_ok=True)
plot = rollouts().scorio(by="domain").plot
airline = rollouts().filter(pl.col("domain") == "airline").scorio.plot
eight = pl.DataFrame({"model": "m", "question": range(40), "n": 8, "c": [0, 0, 1, 2, 8] * 8})
pictures = {
    "intervals": plot.intervals(overall="macro"),
    "curve": plot.curve(ps.pass_hat_k([1, 2, 4, 8]), highlight=["comet-70b", "atlas-7b"]),
    "comparison": plot.comparison(),
    "ranks": plot.ranks(ps.avg()),
    "questions": airline.questions(),
    "tail": airline.tail(8),
    "trajectory": airline.trajectory(ps.avg()),
    "forecast": ps.from_successes(eight).scorio(count="count").plot.forecast(1024),
    "training": training().scorio.plot.over("step", ps.avg()),
}
for name, picture in pictures.items():
    path = folder / f"{name}.png"
    picture.save(path, scale_factor=2)
    Image.open(path).convert("RGB").quantize(128).save(path, optimize=True)
    print(f"{path}: {path.stat().st_size / 1000:.0f} kB")
