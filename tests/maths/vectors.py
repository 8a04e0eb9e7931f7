"""Numbers of the study of imperfect judges."""

import numpy as np

from polars_scorio.maths.judges import JudgeRates
from tests.documents import study_numbers

VECTORS = study_numbers("decisions")["judge"]


def rates_of(sensitivity, specificity):
    return JudgeRates.from_counts(np.array([[float(x)] for x in (*sensitivity, *specificity)]))
