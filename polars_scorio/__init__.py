"""Honest numbers for repeated evaluations of language models, as a Polars namespace.

Importing the package registers `.scorio` on DataFrames and LazyFrames: `df.scorio.bayes()`,
`lf.scorio.report(ps.bayes(), ps.pass_at_k([1, 4]))`.
"""

from polars_scorio.metrics import (
    Metric,
    avg,
    bayes,
    g_pass_at_k,
    pass_at_k,
    pass_hat_k,
    unanimous_at_k,
)
from polars_scorio.namespace import Scorio, scorio

__all__ = [
    "Metric",
    "Scorio",
    "avg",
    "bayes",
    "g_pass_at_k",
    "pass_at_k",
    "pass_hat_k",
    "scorio",
    "unanimous_at_k",
]
