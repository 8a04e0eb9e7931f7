"""Numbers of the study of imperfect judges, where its file is at hand."""

import json
from pathlib import Path

import numpy as np
import pytest

from polars_scorio.kernels.judges.judge_rates import JudgeRates

FILE = Path(__file__).parents[4] / "shared" / "data" / "decisions_vectors.json"
VECTORS = json.loads(FILE.read_text(encoding="utf-8"))["judge"] if FILE.exists() else {}
needs_vectors = pytest.mark.skipif(not VECTORS, reason="needs the vectors of the study")


def rates_of(sensitivity, specificity):
    return JudgeRates(*(np.array([float(x)]) for x in (*sensitivity, *specificity)))
