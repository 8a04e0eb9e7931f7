"""How many further trials, or questions, would probably decide a gate."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy

from polars_scorio.decisions.model_scores import BenchmarkRows, ModelRows
from polars_scorio.decisions.questions_needed import PairedDesign
from polars_scorio.decisions.sampled_scores import SampledScores
from polars_scorio.decisions.strata_arrays import Block
from polars_scorio.kernels.anytime import anytime_critical
from polars_scorio.kernels.array_types import Floats, Ints
from polars_scorio.kernels.calibrated.paired_difference import ComparedPrice
from polars_scorio.kernels.simultaneous.assurance import trials_with_assurance
from polars_scorio.kernels.simultaneous.paired_means import of_pairs
from polars_scorio.reporting.inference.calibrated import CalibratedInference
from polars_scorio.reporting.inference.judged import JudgedInference
from polars_scorio.reporting.inference.priced_scores import PricedScores
from polars_scorio.reporting.inference.score_differences import Scores


@dataclass(frozen=True, slots=True)
class GatePlan:
    """The goal of further trials: a one-sided verdict, with a given chance.

    Attributes
    ----------
    confidence : float
        Of the verdict.
    assurance : float
        The chance that there is one.
    most : int
        The largest number of further trials to consider.
    """

    confidence: float
    assurance: float
    most: int

    def further_units(self, rows: ModelRows, scores: Scores, block: Block, margin: Floats) -> Ints:
        """Further trials of each question, or questions, that would decide pairs of some strata.

        The true difference is taken to be normal with mean ``B d`` and variance ``B s_0**2``, with
        B the share of the spread of the models that is more than noise, as in `trials_needed`; it
        is compared with the margin. The variance of k-metrics falls at least as fast as that of an
        average, ``n / (n + m)``, which is used for all metrics.

        Parameters
        ----------
        rows, scores
            The models of the strata.
        block : Block
            The strata, with their baseline.
        margin : ndarray of float, shape (S, 1)
            The margin of each stratum.

        Returns
        -------
        ndarray of int, shape (S, P)
            At least 1; ``most + 1`` if that does not suffice.
        """
        a, b = block.pairs()
        share = np.repeat(scores.signal_share(), a.size)
        margins = np.repeat(margin.ravel(), a.size)
        if isinstance(scores, SampledScores):
            further = self._further_questions(scores, a, b, share, margins)
        else:
            assert isinstance(rows, BenchmarkRows)  # those have trials
            further = self._further_trials(rows, scores, block, share, margins)
        return np.maximum(further, 1).reshape(-1, a.size)

    def _further_questions(
        self, scores: SampledScores, a: Ints, b: Ints, share: Floats, margins: Floats
    ) -> Ints:
        """Further questions, with the same trials of each."""
        mean, freedom = scores.models.mean, scores.models.freedom[:, None] + 1
        design = PairedDesign.of(
            mean[:, a] - mean[:, b],
            of_pairs(scores.models.covariance)[:, a, b],
            scores.models.variance[:, a, b],
            np.broadcast_to(freedom, (len(mean), a.size)),
            scores.span,
        )
        if scores.information is not None:
            design = replace(design, information=np.repeat(scores.information, a.size))
        two_sided = 2 * self.confidence - 1
        unit = np.broadcast_to(scores.unit, (len(mean), a.size)).ravel()
        return design.questions_with_assurance(
            share, two_sided, self.assurance, self.most, margins / unit
        )

    def _further_trials(
        self, rows: BenchmarkRows, scores: Scores, block: Block, share: Floats, margins: Floats
    ) -> Ints:
        """Further trials of each question of both models."""
        a, b = block.pairs()
        noise, inference = _trial_noise(rows, scores, block), rows.models.inference
        each = (rows.rows["trials"] / rows.rows["questions"]).to_numpy()[block.rows]
        sides = [(noise[:, side].ravel(), each[:, side].ravel()) for side in (a, b)]
        z = float(scipy.special.ndtri(self.confidence))
        plan = inference.anytime if isinstance(inference, CalibratedInference) else None

        def sigma(m: Ints) -> Floats:
            return np.asarray(np.sqrt(sum(square * n / (n + m) for square, n in sides)))

        def critical(m: Ints) -> Floats:
            if plan is None:
                return np.full(m.shape, z)
            return anytime_critical(z, (np.minimum(*(n for _, n in sides)) + m) / plan)

        if isinstance(inference, JudgedInference):  # what labels leave open does not shrink
            return np.full(share.size, self.most + 1)
        mu = scores.ranked
        gap = (mu[:, a] - mu[:, b]).ravel()
        return trials_with_assurance(
            gap, sigma, critical, share, self.assurance, self.most, margins
        )


def _trial_noise(rows: BenchmarkRows, scores: Scores, block: Block) -> Floats:
    """Squared noise of each model, with what is uncertain of it, shape (S, L)."""
    if isinstance(scores, PricedScores) and isinstance(scores.price, ComparedPrice):
        price = scores.price.price
        noise: Floats = price.width**2 * price.variance * price.factor
        return noise.reshape(block.rows.shape)
    return np.asarray(rows.rows["sigma"].to_numpy()[block.rows] ** 2)
