"""The options of a page, in words and as keywords of the methods that it calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from polars_scorio.arguments import CONFIDENCE, Overall, check_confidence
from polars_scorio.display.phrases import prior_words
from polars_scorio.maths.posteriors import Target
from polars_scorio.study.request import InferenceOptions, Prior, check_choices, read_prior


@dataclass(frozen=True, slots=True)
class Settings:
    """The options of a page."""

    prior: Prior | None = None  # None: calibrated numbers
    target: Target = "benchmark"  # these questions, or their population
    confidence: float = CONFIDENCE
    overall: Overall | None = None  # of several strata; None: their mean

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> Settings:
        """From the options of a method, which may have more."""
        return cls(**{name: options[name] for name in cls.__slots__ if name in options})

    def __post_init__(self) -> None:
        """Check the options."""
        check_choices({name: getattr(self, name) for name in self.__slots__})
        object.__setattr__(self, "confidence", check_confidence(self.confidence))

    @property
    def level(self) -> str:
        """The confidence as people write it."""
        return f"{100 * self.confidence:.6g} %"

    @property
    def intervals(self) -> str:
        """Kind of the intervals, in words."""
        if self.prior is None:
            return f"calibrated {self.level} intervals; for posterior means, credible intervals"
        return f"{self.level} credible intervals"

    @property
    def prior_in_words(self) -> str:
        """Prior of the numbers."""
        prior, trials = read_prior(self.prior)
        if prior is None:
            means = "weighted populations" if self.target == "population" else "uniform prior"
            return (
                "the score has no prior; the width comes from 216 fixed populations of questions, "
                f"weighted by how well they explain the counts. Posterior means: {means}"
            )
        if prior == "population":
            return (
                "216 fixed populations of questions, weighted for each model by how well they "
                "explain the counts"
            )
        return f"{prior_words(prior)} of each question{' and prior trials' * (trials is not None)}"

    @property
    def report(self) -> InferenceOptions:
        """Options of a report, a ranking and a comparison."""
        return {"prior": self.prior, "target": self.target, "confidence": self.confidence}
