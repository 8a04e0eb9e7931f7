"""How the numbers of a page are found, and how its methods are told so."""

from __future__ import annotations

from dataclasses import dataclass

from polars_scorio.arguments import InferenceKind, check_choice, check_confidence
from polars_scorio.kernels.posteriors import Target
from polars_scorio.reporting.options import InferenceOptions, PlanOptions

_POPULATION = "a Beta (Dirichlet) population of questions, fitted to each model"
_PRIORS: dict[InferenceKind, str] = {
    "published": "uniform for each question, as published",
    "pooled": f"{_POPULATION} and integrated over what the trials leave open",
    "calibrated": "none for unbiased estimates, whose noise two fits price; for posterior means "
    f"{_POPULATION}",
}
_INTERVALS: dict[InferenceKind, str] = {
    "published": "{} credible intervals as published",
    "pooled": "{} credible intervals under a fitted population",
    "calibrated": "calibrated {} intervals; of posterior means, credible ones under a fitted "
    "population",
}


@dataclass(frozen=True, slots=True)
class Settings:
    """The options of a page.

    Attributes
    ----------
    inference : "published", "pooled" or "calibrated"
        What its numbers rest on.
    target : "benchmark" or "population"
        What they are about.
    confidence : float
        What its intervals hold.
    """

    inference: InferenceKind = "calibrated"
    target: Target = "benchmark"
    confidence: float = 0.95

    def __post_init__(self) -> None:
        """Refuse what no page can have."""
        check_choice("inference", self.inference, InferenceKind)
        check_choice("target", self.target, Target)
        object.__setattr__(self, "confidence", check_confidence(self.confidence))

    @property
    def level(self) -> str:
        """The confidence as people write it."""
        return f"{100 * self.confidence:.10g} %"

    @property
    def intervals(self) -> str:
        """What the intervals are, in words."""
        return _INTERVALS[self.inference].format(self.level)

    @property
    def prior(self) -> str:
        """What the numbers start from, in words."""
        return _PRIORS[self.inference]

    @property
    def report(self) -> InferenceOptions:
        """The options of a report, and of what compares models."""
        return {
            "inference": self.inference,
            "target": self.target,
            "confidence": self.confidence,
        }

    @property
    def plan(self) -> PlanOptions:
        """The options of what plans more trials."""
        return {"inference": self.inference}
