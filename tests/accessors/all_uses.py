"""Every way to use an accessor, with arguments for what must be given."""

import inspect
from collections.abc import Callable
from typing import Any

import polars as pl

import polars_scorio as ps
from tests.exported_metrics import EXPORTED

# The metrics that most logs ask for; all others are asked for by report().
METHODS = ["avg", "bayes", "pass_at_k", "pass_hat_k", "maj_at_k", "max_at_k", "g_pass_at_k_tau"]
METHODS += ["vote_at_k"]
# A value for each parameter that some metric has, other than its default.
VALUES: dict[str, Any] = {
    "k": 2,
    "w": [0.5, 1],
    "tau": 0.25,
    "weights": (0.25, 0.5),
    "lam": 0.25,
    "pass_power": 0.25,
    "unanimous_power": 0.25,
    "bounds": (0.4, 0.9),
    "name": "x",
}


def required(function: Callable[..., object]) -> dict[str, Any]:
    """Arguments for the parameters that must be given."""
    parameters = inspect.signature(function).parameters.values()
    return {p.name: VALUES[p.name] for p in parameters if p.default is p.empty}


COST = pl.col("category") + 0
METRICS = (ps.bayes(), ps.pass_at_k([1, 2]))
FAILED = {"failed": pl.col("category") == 0}
SOLVED = ps.rubrics.rubric("outcome", FAILED, otherwise="solved", success="solved")
Ask = Callable[[Any], object]
# Every way to use an accessor.
ASKS: dict[str, Ask] = {
    **{
        name: lambda frame, make=make: frame.scorio(
            answer=pl.col("category").cast(pl.String), cost=COST
        ).report(make(**required(make)))
        for name, make in EXPORTED.items()
    },
    "report": lambda frame: frame.scorio.report(*METRICS),
    "per question": lambda frame: frame.scorio.report(*METRICS, per="question"),
    "prior": lambda frame: frame.scorio.report(*METRICS, prior=frame),
    "counts": lambda frame: frame.scorio.counts(),
    "population": lambda frame: frame.scorio.population(),
    "compare": lambda frame: frame.scorio.compare(),
    "sampled questions": lambda frame: frame.scorio.compare(target="population"),
    "check": lambda frame: frame.scorio.check(),
    "describe": lambda frame: frame.scorio.describe(),
    "gaps": lambda frame: frame.scorio.describe(per="question"),
    "best": lambda frame: frame.scorio.best(),
    # The two questions of R1 as models: a gate needs a baseline and a candidate.
    "gate": lambda frame: frame.scorio(model="question", question="trial", trial=None).gate(
        0, margin=0.1
    ),
    "regressions": lambda frame: frame.scorio.regressions("m"),
    "reruns": lambda frame: frame.scorio.reruns(),
    "flaky": lambda frame: frame.scorio.reruns(per="question"),
    "frontier": lambda frame: frame.scorio(cost=COST).frontier(),
    "questions": lambda frame: frame.scorio.questions(),
    "judge_agreement": lambda frame: frame.scorio(truth=pl.col("category") > 0).judge_agreement(),
    "rank": lambda frame: frame.scorio.rank(),
    "trials_needed": lambda frame: frame.scorio.trials_needed(),
    "questions_needed": lambda frame: frame.scorio.questions_needed(),
    "half width": lambda frame: frame.scorio.trials_needed(half_width=0.1),
    "next_trials": lambda frame: frame.scorio.next_trials(5, half_width=0.1),
    "trajectory": lambda frame: frame.scorio.trajectory(),
    "convergence": lambda frame: frame.scorio.convergence(replicates=5),
    "bar": lambda frame: frame.scorio.convergence(replicates=5, progress=True),
    "configured": lambda frame: frame.scorio(success=1).bayes(),
    "configured twice": lambda frame: frame.scorio(success=1)(model=None).counts(),
    "configured only": lambda frame: frame.scorio(trial=None),
    "rubric": lambda frame: frame.scorio.rubric(SOLVED).pass_at_k(2),
    "function": lambda frame: ps.scorio(frame, trial=None).bayes(),
    "pipe": lambda frame: frame.pipe(ps.scorio).bayes(),
}
