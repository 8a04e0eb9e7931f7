"""How means vary together; models on different questions."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from polars_scorio.maths.array_rows import Floats, Ints, Mask
from polars_scorio.maths.questions import effective_number

_ROUNDED = 1e-14  # relative rounding error of sums that cancel


@dataclass(frozen=True, slots=True, eq=False)
class Paired:
    """Means of models over the same questions, and how they vary together.

    Attributes
    ----------
    mean : ndarray of float, shape (S, L)
        NaN where a stratum does not have the model.
    covariance : ndarray of float, shape (S, L, L)
        Of the means; 0 where a model is absent. Only what it says of differences is used.
    variance : ndarray of float, shape (S, L, L)
        Of each difference, with what was never seen but may be; on the diagonal that of each mean.
    freedom : ndarray of float, shape (S,)
        Degrees of freedom of Student's t; infinite for known covariances.
    root : ndarray of float, shape (S, L - 1, L - 1)
        `contrast_root` of the covariance.
    alike : ndarray of int, shape (S, L)
        For each model the first column with the same data, so that numbers that come from draws can
        be made equal too.
    """

    mean: Floats
    covariance: Floats
    variance: Floats
    freedom: Floats
    root: Floats
    alike: Ints

    @classmethod
    def of_moments(
        cls,
        mean: Floats,
        covariance: Floats,
        freedom: Floats,
        variance: Floats | None = None,
        alike: Ints | None = None,
    ) -> Paired:
        """Models with known moments: by default with no further variance, no two of them alike."""
        known = of_pairs(covariance) if variance is None else variance
        first = np.broadcast_to(np.arange(mean.shape[1]), mean.shape) if alike is None else alike
        return cls(mean, covariance, known, freedom, contrast_root(covariance), first)

    def of(self, strata: Ints) -> Paired:
        """The models of some strata."""
        return Paired(*(getattr(self, each.name)[strata] for each in fields(self)))

    def sigma(self) -> Floats:
        """Standard errors of all differences, shape (S, L, L); NaN where there is none."""
        here = np.isfinite(self.mean) & (self.freedom > 0)[:, None]
        return np.where(here[:, :, None] & here[:, None, :], np.sqrt(self.variance), np.nan)


def of_pairs(covariance: Floats) -> Floats:
    """Variances of all differences, from covariances of shape (S, L, L); on the diagonal their own.

    Examples
    --------
    >>> of_pairs(np.array([[[2.0, 1.0], [1.0, 3.0]]]))
    array([[[2., 3.],
            [3., 3.]]])
    """
    own = np.diagonal(covariance, axis1=1, axis2=2)
    scale = own[:, :, None] + own[:, None, :]
    square = scale - 2 * covariance
    # The difference of identical models is a rounding error.
    square = np.where(square > 1e-13 * scale, square, 0.0)
    np.einsum("sii->si", square)[...] = own
    return square


def paired_means(
    values: Floats,
    first: Ints,
    span: float,
    cluster: Ints | None = None,
    weight: Floats | None = None,
    single: Mask | None = None,
) -> Paired:
    """Means and covariances of models over the questions that they share.

    Parameters
    ----------
    values : ndarray of float, shape (Q, L)
        Estimates of each question for each model, the questions of a stratum together. A model that
        a stratum does not have is NaN in all of its questions; NaN in some makes it absent too.
    first : ndarray of int, shape (S,)
        Where the questions of each stratum begin, ascending.
    span : float
        Highest minus lowest possible value.
    cluster : ndarray of int, shape (Q,), optional
        Which questions belong together.
    weight : ndarray of float, shape (Q,), optional
        The share of each question in the mean of its stratum, but for a factor; the number of
        questions (or clusters) is then that of equal ones with the same squared shares.
    single : ndarray of bool, shape (S, L), optional
        Models with one trial of each question, for `hidden_noise`. Default: no such model.

    Returns
    -------
    Paired
        `means_together` of the questions, or of the clusters, and their degrees of freedom (see
        `freedom_of`). With none no difference has a sigma.

    Examples
    --------
    >>> both = paired_means(np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 0.0]]), np.array([0]), 1.0)
    >>> round(float(both.sigma()[0, 0, 1]) ** 2, 6), both.freedom  # 1/9 and (1 + 2) / (2 + 1) / 12
    (0.194444, array([2.]))
    """
    models = values.shape[1]
    mean = np.full((first.size, models), np.nan)
    freedom, found = np.zeros(first.size), np.zeros((2, first.size, models, models))
    alike = np.zeros(mean.shape, dtype=np.int64)
    ends = np.append(first[1:], len(values))
    for stratum, (start, stop) in enumerate(zip(first.tolist(), ends.tolist(), strict=True)):
        rows = values[start:stop]
        share = np.ones(len(rows)) if weight is None else weight[start:stop]
        total = share.sum()
        average = (share[:, None] * rows).sum(axis=0) / total
        parts = share[:, None] * np.where(np.isfinite(average), rows - average, 0.0) / total
        own = None if cluster is None else in_clusters(cluster[start:stop])
        if own is not None:
            parts, share = cluster_sums(parts, own), cluster_sums(share[:, None], own)[:, 0]
        size, number = len(parts), float(len(parts))
        mean[stratum], freedom[stratum] = average, freedom_of(len(rows), own)
        if weight is not None:
            number = float(total**2 / (share @ share))
            freedom[stratum] = number - 1
        alike[stratum] = first_alike(rows)
        hidden = None if single is None else hidden_noise(rows, single[stratum])
        if size > 1:
            parts *= np.sqrt(size / (size - 1))
            found[:, stratum] = means_together(
                parts, number, span, np.isfinite(average), alike[stratum], hidden
            )
    return Paired.of_moments(mean, found[0], freedom, found[1], alike)


def first_alike(values: Floats) -> Ints:
    """First column with the same values, for each column.

    Examples
    --------
    >>> first_alike(np.array([[1.0, 0.5, 1.0], [0.0, 0.0, -0.0]]))
    array([0, 1, 0])
    """
    first: dict[bytes, int] = {}
    # + 0.0 turns a negative zero into a positive one.
    columns = np.ascontiguousarray(values.T) + 0.0
    return np.array([first.setdefault(row.tobytes(), place) for place, row in enumerate(columns)])


def hidden_noise(values: Floats, single: Mask) -> Mask:
    """Pairs of a model whose single trials all have one value, and a model with more trials.

    Nothing is seen of the noise of the first model. What differs between the questions are means of
    the second, which have far less noise than single trials: taken as evidence, they let a false
    winner into .07 to .08 of 2,000 logs of five models at .8 on 15 questions with 1, 4 or 16
    trials, in place of .006 to .008.

    Examples
    --------
    >>> values = np.array([[1.0, 0.5], [1.0, 0.75]])
    >>> hidden_noise(values, np.array([True, False])).tolist()
    [[False, True], [True, False]]
    """
    constant = single & (values == values[0]).all(axis=0)
    pairs = constant[:, None] & ~single
    return np.asarray(pairs | pairs.T)


def means_together(
    parts: Floats, size: float, span: float, here: Mask, alike: Ints, hidden: Mask | None = None
) -> tuple[Floats, Floats]:
    """How means vary together, and each difference: from what each question adds to the means.

    Parameters
    ----------
    parts : ndarray of float, shape (N, L)
        By how much each question (cluster) moves the means: their squares sum to the variances.
    size : int
        K, or fewer where some of them say nothing of differences.
    span : float
        Highest minus lowest possible value; 0 where nobody knows it: then only what is seen counts.
    here : ndarray of bool, shape (L,)
        Which models there are.
    alike : ndarray of int, shape (L,)
        `first_alike` of the values: such models get the same numbers, to the last bit.
    hidden : ndarray of bool, shape (L, L), optional
        `hidden_noise`: pairs whose E is 0. Default: none.

    Returns
    -------
    covariance : ndarray of float, shape (L, L)
        Of the means, with an own part of ``span**2 / (4 K (K + 1))`` of each: models that never
        differ are not surely equal.
    variance : ndarray of float, shape (L, L)
        Of the differences: what is seen, ``S / K**2``, and what may have been missed,
        ``(S + 2 span**2) / ((E + 1) K (K + 1))``. ``S = K s**2``, the sample variance of the K
        differences; ``E = (sum y**2)**2 / sum y**4`` says how many of them make it, y their
        distances from the mean: two pseudo-differences of the whole span, and what is seen, are
        spread over E + 1. On the diagonal the same of the means themselves.

    Notes
    -----
    Where few questions differ much, often none does among those that were asked, and Student's t
    without the second part may hold nothing at all. With it, it holds at least .90 for whatever
    chances of -1, 0 and 1, from 5 questions on (a sum over all outcomes; .88 for 15 questions of
    which nearly all differ). Where many questions differ, it adds little: 2.6 % to the width for
    100 of them, .8 % for 500. Both are measured in ``tests/benchmarks/differences.py``.

    Examples
    --------
    Ten questions on which both agree: a standard error of 2 / 110, under the root.

    >>> here, alike = np.ones(2, dtype=bool), np.arange(2)
    >>> variance = means_together(np.zeros((10, 2)), 10, 1.0, here, alike)[1]
    >>> round(float(variance[0, 1]), 6)
    0.018182
    """
    first, place = np.unique(alike, return_inverse=True)
    covariance, variance = _distinct_moments(parts[:, first], size, span)
    pairs = np.ix_(place, place)
    covariance, variance = covariance[pairs], variance[pairs]
    if hidden is not None and hidden.any():
        seen = of_pairs(covariance[None])[0][hidden]
        variance[hidden] = seen + _missed_variance(seen, 0 * seen, size, span)
    twins = (place[:, None] == place) & ~np.eye(place.size, dtype=np.bool_)
    # Nothing is seen of such a difference: what may have been missed is left.
    variance[twins] = 2 * span**2 / (size * (size + 1))
    covariance[here, here] += span**2 / (4 * size * (size + 1))
    return covariance, variance


def _distinct_moments(parts: Floats, size: float, span: float) -> tuple[Floats, Floats]:
    """Covariance of the means, and variance of their differences, of models that are not alike."""
    squares = parts**2
    covariance = parts.T @ parts
    seen = of_pairs(covariance[None])[0]
    mixed, own = (squares * parts).T @ parts, squares.T @ squares
    scale = own.diagonal()[:, None] + own.diagonal()
    fourth = scale - 4 * (mixed + mixed.T) + 6 * own
    np.fill_diagonal(fourth, own.diagonal())
    # The fourth powers cancel: where only rounding errors are left, few questions make the
    # variance, on every machine.
    fourth = np.maximum(fourth, seen**2 / len(parts)) + _ROUNDED * scale
    events = np.divide(seen**2, fourth, out=np.zeros_like(seen), where=seen > 0)
    events = np.maximum(events, seen > 0)
    return covariance, seen + _missed_variance(seen, events, size, span)


def _missed_variance(seen: Floats, events: Floats, size: float, span: float) -> Floats:
    """Variance that may have been missed, by the number of differences that make what is seen."""
    pseudo = (size**2 * seen + 2 * span**2) / (events + 1)
    return np.asarray(np.sign(span) * pseudo / (size * (size + 1)))


def in_clusters(cluster: Ints) -> Ints | None:
    """The clusters of some questions, from 0 on; None where each question is one by itself.

    Examples
    --------
    >>> in_clusters(np.array([7, 3, 7])), in_clusters(np.array([7, 3, 5]))
    (array([1, 0, 1]), None)
    """
    found, place = np.unique(cluster, return_inverse=True)
    return None if found.size == cluster.size else place


def freedom_of(questions: int, cluster: Ints | None) -> float:
    """Degrees of freedom: one less than there are questions, or clusters as far as they count.

    At least 1 where there are two clusters; see `effective_number`.

    Examples
    --------
    >>> freedom_of(6, None), freedom_of(6, np.array([0, 0, 1, 1, 2, 2]))
    (5.0, 2.0)
    """
    if cluster is None:
        return questions - 1.0
    sizes = np.bincount(cluster)
    if np.count_nonzero(sizes) <= 1:
        return 0.0
    found = effective_number(sizes, np.zeros_like(sizes), 1)
    return max(float(found[0]) - 1, 1.0)


def cluster_sums(rows: Floats, cluster: Ints) -> Floats:
    """The sums over each cluster, ascending."""
    order = np.argsort(cluster, kind="stable")
    starts = np.flatnonzero(np.diff(cluster[order], prepend=cluster[order][0] - 1))
    return np.asarray(np.add.reduceat(rows[order], starts, axis=0))


def contrast_root(covariance: Floats) -> Floats:
    """Triangular roots of the covariances of the differences to the first model.

    Parameters
    ----------
    covariance : ndarray of float, shape (S, L, L)
        Of the models.

    Returns
    -------
    ndarray of float, shape (S, L - 1, L - 1)
        Where models are identical a trace of noise, 1e-6 of the largest standard deviation, keeps
        it regular; without any variance it is zero.

    Examples
    --------
    >>> contrast_root(np.eye(2)[None]).round(4)
    array([[[1.4142]]])
    """
    column = covariance[:, 1:, :1]
    against = covariance[:, 1:, 1:] - column - np.swapaxes(column, 1, 2) + covariance[:, :1, :1]
    scale = np.diagonal(against, axis1=1, axis2=2).max(axis=1, initial=0.0)[:, None, None]
    trace = np.where(scale > 0, 1e-12 * scale, 1.0) * np.eye(against.shape[1])
    return np.where(scale > 0, np.linalg.cholesky(against + trace), 0.0)


_TERMS = 200  # of the series for the leverage, at most
_TINY = 1e-14  # a term of the series, relative to the first, that ends it


def connected_parts(model: Ints, question: Ints) -> Ints:
    """Sets of models that can be compared through common questions.

    Parameters
    ----------
    model, question : ndarray of int, shape (N,)
        Places of models and questions, from 0 on, of each estimate.

    Returns
    -------
    ndarray of int, shape (L,)
        For each model the lowest model of its part; all 0 where everything is connected.

    Examples
    --------
    The third model has a question of its own.

    >>> connected_parts(np.array([0, 1, 2]), np.array([0, 0, 1]))
    array([0, 0, 2])
    """
    models = int(model.max(initial=-1)) + 1
    part = np.arange(models)
    while True:
        of_question = np.full(int(question.max(initial=-1)) + 1, models)
        np.minimum.at(of_question, question, part[model])
        lowest = part.copy()
        np.minimum.at(lowest, model, of_question[question])
        if np.array_equal(lowest, part):
            return part
        part = lowest


def adjusted_means(
    model: Ints, question: Ints, value: Floats, span: float, cluster: Ints | None = None
) -> Paired:
    """Scores that the models would have on all questions, by model and question effects.

    Parameters
    ----------
    model, question : ndarray of int, shape (N,)
        Places of models and questions, from 0 on; all models connected, each pair at most once.
    value : ndarray of float, shape (N,)
        Estimate of the question for the model.
    span : float
        Highest minus lowest possible value.
    cluster : ndarray of int, shape (N,), optional
        To which cluster, from 0 on, the question of each estimate belongs.

    Returns
    -------
    Paired
        One stratum. The means are model effects plus the average of the question effects; their
        covariance is a sandwich over the questions, which are the sample (robust to questions on
        which models differ more), corrected for leverage as CR2 [1]_, with what may have been
        missed, as `means_together` has it. Degrees of freedom: questions that at least two
        models share (clusters of them), less 1. Where every model has every question, the
        result is that of `paired_means` (with clusters, where they are equally large).

    References
    ----------
    .. [1] R. M. Bell, D. F. McCaffrey (2002), Survey Methodology 28(2), 169-181.

    Examples
    --------
    The second model lacks the easy question; its own average, 0.5, would hide that it is as good.

    >>> model, question = np.array([0, 0, 0, 1, 1]), np.array([0, 1, 2, 0, 1])
    >>> value = np.array([0.4, 0.6, 1.0, 0.4, 0.6])
    >>> adjusted_means(model, question, value, 1.0).mean.round(4)
    array([[0.6667, 0.6667]])
    """
    table = np.zeros((int(question.max()) + 1, int(model.max()) + 1))
    here = np.zeros(table.shape, dtype=np.bool_)
    table[question, model], here[question, model] = value, True
    shared = here.sum(axis=1)
    inverse = _effects_inverse(here, shared)
    alike = first_alike(np.where(here, table, np.nan))
    effect = (inverse @ _within_question(table, here, shared).sum(axis=0))[alike]
    level = _question_average(table - effect, here, shared)
    residual = _within_question(table - effect, here, shared)
    together = None if cluster is None else _question_clusters(question, cluster)
    influence = _unshrunk_residuals(residual, here, shared, inverse, together) @ inverse
    # How the average of the question effects hangs on the effects of the models.
    share = (here / shared[:, None]).mean(axis=0)
    parts = len(table) if together is None else int(together.max()) + 1
    scale = np.sqrt(parts / max(parts - 1, 1))
    own = scale * (level - level.mean()) / len(table)
    influence = influence - (influence @ share)[:, None] + own[:, None]
    telling = np.flatnonzero(shared > 1) if effect.size > 1 else np.arange(len(table))
    size = telling.size if together is None else np.unique(together[telling]).size
    freedom = freedom_of(telling.size, None if together is None else together[telling])
    if together is not None:
        influence = cluster_sums(influence, together)
    everyone = np.ones(effect.size, np.bool_)
    covariance, variance = means_together(influence, size, span, everyone, alike)
    mean = effect + level.mean()
    return Paired.of_moments(
        mean[None], covariance[None], np.array([freedom]), variance[None], alike[None]
    )


def _question_clusters(question: Ints, cluster: Ints) -> Ints | None:
    """The cluster of each question, from that of each estimate; None where there is none."""
    first = np.unique(question, return_index=True)[1]
    return in_clusters(cluster[first])


def _effects_inverse(here: Mask, shared: Ints) -> Floats:
    """Pseudo-inverse of the normal equations of the model effects, which sum to 0."""
    trials = here.astype(np.float64)
    normal = np.diag(trials.sum(axis=0)) - (trials / shared[:, None]).T @ trials
    # Ones fill the direction that the effects have not; its inverse is taken out again.
    ones = np.full(normal.shape, len(here) / len(normal))
    return np.asarray(np.linalg.inv(normal + ones) - 1 / (len(here) * len(normal)))


def _question_average(table: Floats, here: Mask, shared: Ints) -> Floats:
    """Average over the models that have the question."""
    return np.asarray(np.where(here, table, 0.0).sum(axis=1) / shared)


def _within_question(table: Floats, here: Mask, shared: Ints) -> Floats:
    """Differences from the average of the question; 0 where a model does not have it."""
    return np.where(here, table - _question_average(table, here, shared)[:, None], 0.0)


def _unshrunk_residuals(
    residual: Floats, here: Mask, shared: Ints, inverse: Floats, cluster: Ints | None = None
) -> Floats:
    """Residuals as large as if their question (cluster) had not taken part in the fit.

    ``(1 - H)**(-1/2)`` of the leverage H of each question, as a binomial series: no question needs
    a decomposition of its own.
    """
    total, term = residual.copy(), residual
    limit = _TINY * np.abs(residual).max(initial=0.0)
    for order in range(1, _TERMS):
        moved = term if cluster is None else cluster_sums(term, cluster)[cluster]
        term = _within_question(moved @ inverse, here, shared) * (2 * order - 1) / (2 * order)
        total += term
        if np.abs(term).max(initial=0.0) <= limit:
            break
    return total
