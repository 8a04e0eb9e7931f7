"""Honest numbers for repeated evaluations of language models, as a Polars namespace.

Importing the package registers `.scorio` on DataFrames, LazyFrames and expressions:
`df.scorio.bayes()`, `lf.scorio.report(ps.bayes(), ps.pass_at_k([1, 4]))`,
`lf.group_by("question").agg(pl.col("category").scorio.pass_at_k(4))`.
"""

from importlib import import_module
from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from polars_scorio import logs, rubrics, sql
    from polars_scorio.accessors.expressions import ScorioExpr
    from polars_scorio.accessors.frame import Scorio, scorio
    from polars_scorio.accessors.planning import detectable_difference
    from polars_scorio.counting.categories import SuccessWarning
    from polars_scorio.counting.coverage import LogWarning, from_successes
    from polars_scorio.counting.engines import count_trials
    from polars_scorio.counting.judge_counts import judge
    from polars_scorio.counting.label_sample import sample_to_label
    from polars_scorio.decisions.rank import rank_scores
    from polars_scorio.decisions.reruns import miss_rate, runs_to_fail
    from polars_scorio.display.table import to_great_table, to_latex, to_markdown, to_metrics
    from polars_scorio.logs.outcome_arrays import from_array
    from polars_scorio.metrics import *
    from polars_scorio.metrics import spectrum_weights
    from polars_scorio.study.log_checks import CheckWarning
    from polars_scorio.study.report import ClusterWarning, PriorWarning
    from polars_scorio.study.run_terms import RunWarning
    from polars_scorio.subjects.of_costs import CostWarning
    from polars_scorio.subjects.of_verdicts import JudgeWarning

    __version__: str

__all__ = [
    "CheckWarning",
    "ClusterWarning",
    "CostWarning",
    "JudgeWarning",
    "LogWarning",
    "Metric",
    "PriorWarning",
    "RunWarning",
    "Scorio",
    "ScorioExpr",
    "SuccessWarning",
    "Summary",
    "auc_at_k",
    "avg",
    "bayes",
    "cost_per_success",
    "cost_to_solve",
    "count_trials",
    "detectable_difference",
    "from_array",
    "from_successes",
    "g_pass_at_k",
    "g_pass_at_k_tau",
    "geo_spectrum_at_k",
    "geo_spectrum_star_at_k",
    "geom_at_k",
    "geom_ds_at_k",
    "judge",
    "logs",
    "maj_at_k",
    "max_at_k",
    "mean_cost",
    "mg_pass_at_k",
    "min_at_k",
    "miss_rate",
    "pass_at_k",
    "pass_hat_k",
    "rank_scores",
    "rubrics",
    "runs_to_fail",
    "sample_to_label",
    "scorio",
    "spectrum_weights",
    "sql",
    "tail_pass",
    "threshold_spectrum_at_k",
    "to_great_table",
    "to_latex",
    "to_markdown",
    "to_metrics",
    "unanimous_at_k",
    "vote_at_k",
]

# Which names stand in which room; those that are not listed here are metrics. No room is imported
# before something of it is used: beyond Polars, the package itself costs next to nothing.
_ROOMS = {
    "accessors.expressions": "ScorioExpr",
    "accessors.frame": "Scorio scorio",
    "accessors.planning": "detectable_difference",
    "counting.categories": "SuccessWarning",
    "counting.coverage": "LogWarning from_successes",
    "counting.engines": "count_trials",
    "counting.judge_counts": "judge",
    "counting.label_sample": "sample_to_label",
    "decisions.rank": "rank_scores",
    "decisions.reruns": "miss_rate runs_to_fail",
    "display.table": "to_great_table to_latex to_markdown to_metrics",
    "logs": "logs",
    "logs.outcome_arrays": "from_array",
    "metrics.spectrum_weights": "spectrum_weights",
    "rubrics": "rubrics",
    "sql": "sql",
    "subjects.of_costs": "CostWarning",
    "subjects.of_verdicts": "JudgeWarning",
    "study.log_checks": "CheckWarning",
    "study.report": "ClusterWarning PriorWarning",
    "study.run_terms": "RunWarning",
}
# Beside those of the core: each is a file, and a line here; in the order in which faults are named.
SUBJECTS = {
    "subjects.of_verdicts": "Verdicts",
    "subjects.of_costs": "CostSums",
}
_MODULES = {"logs", "rubrics", "spectrum_weights", "sql"}

if not TYPE_CHECKING:  # checkers would take it for a promise of every name

    def __getattr__(name: str) -> object:
        """Import a name when it is first used; answer others with the nearest name."""
        if name == "__version__":
            return import_module(f"{__name__}.display.phrases").installed_version()
        if name not in __all__:
            unknown_name = import_module(f"{__name__}.arguments").unknown_name
            raise unknown_name(f"module {__name__!r}", name, __all__)
        rooms = (room for room, names in _ROOMS.items() if name in names.split())
        room = import_module(f"{__name__}.{next(rooms, 'metrics')}")
        globals()[name] = value = room if name in _MODULES else getattr(room, name)
        return value


class _Entrance:
    """The namespace `.scorio` of a class of Polars, whose room is imported by who enters it.

    Polars' own namespaces are kept on the frame, a cycle that keeps it alive; this one is not.
    """

    def __init__(self, accessor: str) -> None:
        self._accessor = accessor

    def __get__(self, frame: object, owner: object) -> object:
        accessor = getattr(import_module(__name__), self._accessor)
        return accessor if frame is None else accessor(frame)


for _owner, _register, _accessor in (
    (pl.DataFrame, pl.api.register_dataframe_namespace, "Scorio"),
    (pl.LazyFrame, pl.api.register_lazyframe_namespace, "Scorio"),
    (pl.Expr, pl.api.register_expr_namespace, "ScorioExpr"),
):
    _register("scorio")(_Entrance)  # which warns of another namespace of this name
    setattr(_owner, "scorio", _Entrance(_accessor))  # noqa: B010 - no checker knows it


def __dir__() -> list[str]:
    """Public names only: neither the rooms of the package nor what this module imports."""
    return [*__all__, "__version__"]
