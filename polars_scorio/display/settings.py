"""The options of a page, in words and as keywords of the methods that it calls."""

from __future__ import annotations

from dataclasses import dataclass

from polars_scorio.arguments import InferenceKind, check_anytime, check_choice, check_confidence
from polars_scorio.maths.posteriors import Target
from polars_scorio.study.request import InferenceOptions, PlanOptions

_POPULATION = "a Beta (Dirichlet) population of questions, fitted to each model"
_CALIBRATED = "no prior; the width comes from the more cautious of two fitted models"
_PRIORS: dict[InferenceKind | None, str] = {
    None: f"{_CALIBRATED}. Posterior means: uniform for each question, as published",
    "published": "uniform for each question, as published",
    "pooled": f"{_POPULATION}; the uncertainty of the fit is integrated out",
    "calibrated": f"{_CALIBRATED}. Posterior means: {_POPULATION}",
}
_INTERVALS: dict[InferenceKind | None, str] = {
    None: "calibrated {} intervals; for posterior means, credible intervals as published",
    "published": "{} credible intervals as published",
    "pooled": "{} credible intervals under a fitted population",
    "calibrated": "calibrated {} intervals; for posterior means, credible intervals under a fitted "
    "population",
}


@dataclass(frozen=True, slots=True)
class Settings:
    """The options of a page."""

    inference: InferenceKind | None = None  # None: calibrated, posterior means published
    target: Target = "benchmark"  # these questions, or their population
    confidence: float = 0.95
    anytime: int | None = None  # planned trials, if intervals hold at every look

    def __post_init__(self) -> None:
        """Check the options."""
        if self.inference is not None:
            check_choice("inference", self.inference, InferenceKind)
        check_choice("target", self.target, Target)
        object.__setattr__(self, "confidence", check_confidence(self.confidence))
        if self.anytime is not None:
            object.__setattr__(self, "anytime", check_anytime(self.anytime))

    @property
    def level(self) -> str:
        """The confidence as people write it."""
        return f"{100 * self.confidence:.6g} %"

    @property
    def intervals(self) -> str:
        """Kind of the intervals, in words."""
        words = _INTERVALS[self.inference].format(self.level)
        if self.anytime is None:
            return words
        planned = "questions" if self.target == "population" else "trials a question"
        return f"{words}; they hold at every look (planned: {self.anytime:,} {planned})"

    @property
    def prior(self) -> str:
        """Prior of the numbers, in words."""
        return _PRIORS[self.inference]

    @property
    def report(self) -> InferenceOptions:
        """Options of a report, a ranking and a comparison."""
        options: InferenceOptions = {
            "inference": self.inference,
            "target": self.target,
            "confidence": self.confidence,
        }
        return options if self.anytime is None else {**options, "anytime": self.anytime}

    @property
    def plan(self) -> PlanOptions:
        """Options of a plan; its target is always the benchmark."""
        return {"inference": self.inference}
