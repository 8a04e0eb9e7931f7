"""Numbers behind an imperfect judge.

Accuracy by labels on these trials needs no assumption on how the judge errs. All else assumes that
only the truth matters to the judge: accuracy by a calibration sample from elsewhere, and metrics of
draws, whose credit is corrected for the errors.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
import polars as pl
import scipy

from polars_scorio.arguments import CHANCE, PLANS, Refusal, View, check_confidence, check_number
from polars_scorio.counting.categories import Classes, counted_classes
from polars_scorio.counting.checks import AS_ROWS, Quoted, Rule, Tally, least_number, summed_number
from polars_scorio.counting.common_questions import cluster_ranks
from polars_scorio.counting.judge_counts import LABELS, JudgeSample, model_counts
from polars_scorio.counting.log import (
    CLUSTER,
    COUNT,
    EVERYTHING,
    TRUTH,
    Log,
    Role,
    Trials,
    as_categories,
    bind_roles,
    category_literal,
    refuse_repeats,
)
from polars_scorio.counting.roles import Category, Roles, is_label
from polars_scorio.counting.tally import QUESTIONS, group_plan, trial_succeeded
from polars_scorio.maths.array_rows import Floats, Ints, Mask
from polars_scorio.maths.comparison import Compared, Comparison, Pairs, Reaches
from polars_scorio.maths.credit_numbers import Measurement
from polars_scorio.maths.credits import GainsOf, RootDraw, fixed_gains, state_estimates
from polars_scorio.maths.interval import (
    Estimate,
    MeasuredPairs,
    Weighted,
    credit_estimates,
    question_units,
)
from polars_scorio.maths.judges import (
    SAME,
    JudgedNoise,
    JudgeRates,
    homogeneity_p,
    judged_accuracy,
    judged_difference,
    judged_variance,
    rates_of_labels,
    shared_judge,
    stratified_rates,
)
from polars_scorio.maths.labels import (
    LEAST_OF_VERDICT,
    LabelledQuestions,
    LabelledRate,
    agreement_shares,
    cohens_kappa,
    gwets_ac1,
    hardly_labelled,
    labels_for_width,
    rate_interval,
)
from polars_scorio.maths.posteriors import Target
from polars_scorio.maths.questions import States, Subgroups
from polars_scorio.metrics.metric import Metric
from polars_scorio.subjects.question_cells import Asked, QuestionCells, Subject
from polars_scorio.subjects.scores import (
    JUDGE,
    JUDGE_DTYPES,
    JUDGED,
    LABEL_COUNT,
    EstimateLaw,
    Inference,
    Law,
    MeanEnds,
    Noise,
    RangeLaw,
    Row,
    RowScores,
    Scores,
    StrataMeans,
    StrataModels,
    Values,
    clipped_ends,
    refuse_outside,
)

# A label that is none of the known categories.
_STRAY_LABEL = ":stray_label"


class JudgeWarning(UserWarning):
    """The errors of a judge cannot be corrected, or differ between the trials of a log.

    The message says for how many models, why, and what to do.
    """


@dataclass(frozen=True, slots=True)
class Verdicts(Subject):
    """The verdicts of a judge, and the labels of people, if they are on these trials."""

    labelled: bool

    claims = "truth", "judge"
    page_warnings = (JudgeWarning,)
    visible = JUDGE_DTYPES
    wide = True  # these say how much the correction is

    @classmethod
    def from_asked(cls, asked: Asked) -> Verdicts:
        """The verdicts, whose correction not all options know."""
        trials = asked.trials
        for metric in asked.metrics:
            if refused := [row for row in UNCORRECTED if row.when(metric, asked)]:
                words = {"role": trials.judge_role, "planned": PLANS[asked.target][0]}
                raise refused[0].error(metric.name, **words)
        if trials.truth is not None:
            check_truth(trials.truth, trials.category, trials.roles.successes)
        return cls(trials.truth is not None)

    def inference(self, confidence: float, target: Target) -> Inference:
        """The correction for the errors of the judge."""
        return JudgedInference(confidence, target, self.labelled)

    def prepare(
        self, cells: QuestionCells, groups: pl.DataFrame, strata: Ints, trials: Trials
    ) -> None:
        """Find the judge of each group."""
        sample = trials.roles.calibration
        cells.findings["judges"] = (
            labelled_judges(cells.flat, cells.group, cells.classes, groups, strata)
            if sample is None
            else sampled_judges(sample, groups, trials)
        )

    @property
    def sees_others(self) -> bool:
        """Models of a stratum may share a judge, for which the labels of all count."""
        return self.labelled

    def tally(self, trials: Trials, classes: Classes) -> Tally:
        """`LABELS`, and the check that labels are among the categories."""
        truth = trials.truth
        if truth is None:
            return Tally()
        judged, right = trial_succeeded(trials, classes), _is_right(truth, classes)
        labelled = right.is_not_null()
        conditions = judged & labelled, judged & right, ~judged & labelled, ~judged & right
        one = None if trials.count is None else COUNT
        weighed = (each if one is None else pl.when(each).then(one) for each in conditions)
        labels = Tally(
            read={TRUTH: truth.without_nan},
            of_trial=dict(zip(LABELS, weighed, strict=True)),
            numbers=(*(summed_number(name, pl.col(name).sum()) for name in LABELS),),
            derived={name: pl.col(name).cast(pl.Int64, strict=False) for name in LABELS},
            kept=LABELS,
        )
        return labels | _stray_labels(truth, classes)


def _stray_labels(truth: Role, classes: Classes) -> Tally:
    """The check that labels are among the known categories; true and false go with all of them."""
    if classes.known is None or truth.dtype == pl.Boolean:
        return Tally()
    word = pl.col(TRUTH).cast(pl.String) if is_label(truth.dtype) else pl.col(TRUTH)
    quote = "'" if is_label(truth.dtype) else ""
    rule = Rule(
        pl.col(_STRAY_LABEL).is_not_null(),
        (f": {quote}", Quoted(_STRAY_LABEL), quote),
        f"a label of truth outside {list(classes.known)} in {truth.name!r}",
        "People and judge must choose from the same categories: recode it, name with success= the "
        "categories that are right, or pass an expression that is true for right answers.",
    )
    return Tally(
        of_trial={_STRAY_LABEL: pl.when(~_is_any(classes.known, truth)).then(word)},
        numbers=(least_number(_STRAY_LABEL, pl.col(_STRAY_LABEL).min()),),
        rules=(rule,),
    )


def check_truth(truth: Role, category: Role, success: tuple[Category, ...] | None) -> None:
    """Refuse labels of another kind than the verdicts; true and false go with all verdicts."""
    if truth.dtype == pl.Boolean:
        return
    if is_label(truth.dtype) != is_label(category.dtype):
        raise TypeError(
            f"truth {truth.name!r} is {truth.dtype}, and the category {category.name!r} is "
            f"{category.dtype}: people and judge must choose from the same categories. Or say "
            f'with an expression which labels are right, as in truth=pl.col("{truth.name}") == ...'
        )
    if success is not None:
        as_categories(success, truth, "truth: success")


def _is_corrected(metric: Metric) -> bool:
    """Whether the correction is known for a metric of success and failure."""
    draw = metric.draw(metric.row_sizes[0])
    return metric.calibrated and not (draw is None or isinstance(draw, RootDraw))


def _draws_several(metric: Metric) -> bool:
    """Whether a metric is about several trials of a question at once."""
    draws = [metric.draw(k) for k in metric.row_sizes]
    return any(gains is not None and gains(_MANY).size > 1 for gains in draws)


_MANY = 100  # trials of a question
_OTHER = "use ps.avg() or a metric of the Pass@k family, or omit {role}="
# Metrics and options that have no correction for the errors of a judge.
UNCORRECTED = (
    Refusal(lambda metric, _: metric.looks_at == "answers",
            "votes over answers have no correction for the errors of a judge", _OTHER),
    Refusal(lambda metric, _: metric.w is not None,
            "the errors of a judge are corrected for right and wrong, not for weights",
            "omit w= and pass success= or threshold= for what is right, or omit {role}="),
    Refusal(lambda metric, _: not _is_corrected(metric),
            "the errors of a judge are not corrected in this metric", _OTHER),
    Refusal(lambda _, asked: asked.prior is not None,
            "{role}= corrects unbiased estimates, and posterior means are biased",
            "omit prior="),
    Refusal(lambda _, asked: asked.per == "question",
            "{role}= corrects means over questions", 'omit per="question"'),
    Refusal(lambda _, asked: asked.planned is not None,
            "{planned}= has no intervals of numbers that are corrected for a judge",
            "omit {role}= to look repeatedly at the verdicts (under one judge, who is better needs "
            "no correction), or omit {planned}= to look once"),
    Refusal(lambda metric, asked: asked.target == "population"
            and asked.trials.cluster is not None and _draws_several(metric),
            "with {role}= and cluster=, only ps.avg() has numbers about a population",
            'ask about these questions (target="benchmark"), which clusters do not change, or '
            "omit {role}= to use the verdicts as they are"),
)  # fmt: skip


def _is_right(truth: Role, classes: Classes) -> pl.Expr:
    """Whether a label says that the answer is right; null without a label."""
    if truth.dtype == pl.Boolean:
        return pl.col(TRUTH)
    return _is_any(classes.success or (1,), truth)


def _is_any(categories: tuple[Category, ...], truth: Role) -> pl.Expr:
    """Whether a label is one of some categories; null without a label."""
    never = pl.when(pl.col(TRUTH).is_not_null()).then(pl.lit(False))  # noqa: FBT003
    held = [category_literal(category, truth.dtype) for category in categories]
    return pl.any_horizontal(never, *(pl.col(TRUTH) == each for each in held if each is not None))


LEAST_LABELS = 10
_WHOLE = 0.9  # of the trials of labelled questions: whole questions were labelled


@dataclass(frozen=True, slots=True, eq=False)
class CellJudges:
    """The judge of each cell, arrays of shape (G,)."""

    rates: JudgeRates  # by all labels of the judge
    judge: Ints  # its number, which cells with the same judge share
    number: Floats  # labels of the judge
    labels: CellLabels | None = None  # those on these trials; None: they are from elsewhere


@dataclass(frozen=True, slots=True, eq=False)
class CellLabels:
    """The labels of people on the trials of each cell."""

    questions: LabelledQuestions
    of_cell: JudgeRates  # by the labels of a cell alone
    together: JudgeRates  # by those of all cells of its stratum


def label_totals(log: LabelledQuestions) -> Floats:
    """Labels of each group, shape (G, 4)."""
    return np.stack([log.sums(column) for column in log.labels.T], axis=1)


def sampled_judges(sample: JudgeSample, groups: pl.DataFrame, trials: Trials) -> CellJudges:
    """The judges of groups by a calibration sample from elsewhere, which may lack no model."""
    name = None if trials.model is None else trials.model.name
    models = [None] * len(groups) if name is None else groups[name].to_list()
    counts = model_counts(sample, models)
    _, judge = np.unique(counts, axis=0, return_inverse=True)
    rates = JudgeRates.from_counts(np.array(counts, dtype=np.float64).T)
    return CellJudges(rates, judge.ravel(), rates.labels)


def labelled_judges(
    flat: pl.DataFrame, group: Ints, classes: Classes, keys: pl.DataFrame, strata: Ints
) -> CellJudges:
    """The judges of groups by labels of people on their trials."""
    # The models of a stratum share a judge if the labels allow it; else each has its own. Too few
    # labels of some group are refused.
    log = labelled_questions(flat, group, classes, len(keys))
    totals = label_totals(log)
    _refuse_few_labels(totals[:, 0] + totals[:, 2], keys)
    counts = own_counts(log, totals)
    rates, together, judge = counts.copy(), counts.copy(), np.arange(len(keys))
    number = totals[:, 0] + totals[:, 2]
    for stratum in np.unique(strata):
        rows = np.flatnonzero(strata == stratum)
        together[:, rows] = counts[:, rows].sum(axis=1, keepdims=True)
        if shared_judge(JudgeRates.from_counts(counts[:, rows])):
            rates[:, rows], judge[rows] = together[:, rows], rows[0]
            number[rows] = number[rows].sum()
    labels = CellLabels(log, *map(JudgeRates.from_counts, (counts, together)))
    return CellJudges(JudgeRates.from_counts(rates), judge, number, labels)


def own_counts(log: LabelledQuestions, totals: Floats) -> Floats:
    """Counts of the judge of each group by its labels, as `JudgeRates.counts` has them."""
    # If one of both verdicts was labelled more often, the verdicts on all trials weigh the labels.
    judged = log.sums(log.verdicts) / log.sums(log.trials)
    drawn, weighed = rates_of_labels(totals), stratified_rates(totals, judged)
    return np.where(_chosen_by_verdict(log, totals), weighed.counts, drawn.counts)


def _chosen_by_verdict(log: LabelledQuestions, totals: Floats) -> Mask:
    """Whether the labelled shares of both verdicts differ by more than chance, at 5 %."""
    # Not if whole questions were labelled: these differ in their verdicts by nature.
    right = log.sums(log.verdicts)
    verdicts = np.stack([right, log.sums(log.trials) - right], axis=1)
    pairs = zip(totals[:, [0, 2]], verdicts, strict=True)
    differ = [homogeneity_p(labels, given) <= SAME for labels, given in pairs]
    given = log.labels[:, [0, 2]].sum(axis=1)
    whole = log.sums(given) >= _WHOLE * log.sums(np.where(given > 0, log.trials, 0.0))
    return np.asarray(np.array(differ) & ~whole)


def labelled_questions(
    flat: pl.DataFrame, group: Ints, classes: Classes, groups: int
) -> LabelledQuestions:
    """The questions in an order that does not depend on that of the rows: so do sums over them."""
    counts = np.stack([flat[name].to_numpy() for name in classes.columns()])
    verdicts, trials = counts[classes.successful].sum(axis=0), counts.sum(axis=0)
    labels = np.stack([flat[name].to_numpy() for name in LABELS], axis=1)
    order = np.lexsort([*labels.T, verdicts, trials, group])
    trials, verdicts, labels = (
        each[order].astype(np.float64) for each in (trials, verdicts, labels)
    )
    cluster = cluster_ranks(flat)[order] if CLUSTER in flat.columns else None
    return LabelledQuestions(group[order], groups, trials, verdicts, labels, cluster)


def _refuse_few_labels(labels: Floats, keys: pl.DataFrame) -> None:
    """Refuse groups with fewer labels than an interval needs."""
    if not labels.sum():
        raise ValueError(
            "truth: no trial with a verdict has a label, so nothing is known of the judge. Fill "
            "the column (ps.sample_to_label chooses trials), or omit truth="
        )
    names = [name for name in keys.columns if name != EVERYTHING]
    few = np.flatnonzero(labels < LEAST_LABELS)
    if few.size:
        place = ", ".join(f"{name}={keys[name][int(few[0])]!r}" for name in names)
        which, first = "the log has", ""
        if names:
            which = f"{few.size:,} of {labels.size:,} models {'has' if few.size == 1 else 'have'}"
            first = f", the first at {place}"
        raise ValueError(
            f"truth: {which} fewer than {LEAST_LABELS} labels{first}: {int(labels[few[0]])}. Label "
            "more trials (ps.sample_to_label says which), or give the labels of other models as "
            "judge=ps.judge(sensitivity=..., specificity=...) if the same judge gave all verdicts"
        )


@dataclass(frozen=True, slots=True, eq=False)
class VerdictLaw(Law):
    """Accuracies by a calibration sample from elsewhere."""

    noisy: Estimate  # of the verdicts as they are
    judges: CellJudges

    def compared(self, models: StrataModels) -> Comparison:
        """The models of some strata; under one judge the errors that models share cancel."""
        judge, places = self.judges.judge[models.groups], models.groups.ravel()
        if (judge != judge[:, :1]).any():
            return RangeLaw().compared(models)
        verdicts = EstimateLaw.from_noisy(self.noisy, models.metric).between(models)
        rates = self.judges.rates.at(places)

        def between(a: Ints, b: Ints) -> Pairs:
            pairs = verdicts(a, b)
            return judged_pairs(pairs, rates.at(pairs.a), models.limit)

        return Comparison(Compared.from_numbers(*models.reported), between, models.limit)


def judged_pairs(verdicts: MeasuredPairs, rates: JudgeRates, most: float) -> Pairs:
    """Pairs of accuracies by their verdicts, which one judge gave, and the rates of that judge."""
    judged = verdicts.diff
    index = np.where(rates.adjusted_index > 0, rates.adjusted_index, np.nan)  # NaN: like a coin
    calibration = (judged / index) ** 2 * rates.variance.sum(axis=0)
    sigma = np.sqrt(verdicts.sigma**2 + calibration) / index

    def ends(c: Floats) -> tuple[Floats, Floats]:
        lo, hi = verdicts.ends(c)
        truth = judged_difference(judged, (judged - lo, hi - judged), rates, c)
        return truth.lo, truth.hi

    def z() -> Floats:
        # Zero is in both intervals, or in neither.
        return np.where(np.isnan(index), np.nan, verdicts.z)

    return Pairs(np.clip(judged / index, -most, most), np.asarray(sigma), ends, z)


@dataclass(frozen=True, slots=True, eq=False)
class DrawLaw(Law):
    """Metrics of draws, by credits that are corrected for the errors of a judge."""

    noisy: JudgedNoise  # estimates that are not clipped; NaN if the judge tells nothing
    judges: CellJudges

    def compared(self, models: StrataModels) -> Comparison:
        """The models of some strata; under one judge slopes subtract before they are squared."""
        if np.isnan(self.noisy.variance[models.groups]).all():
            return RangeLaw().compared(models)

        def between(a: Ints, b: Ints) -> Pairs:
            row = np.arange(len(models.groups))[:, None]
            first, other = models.groups[row, a], models.groups[row, b]
            noise = np.sqrt(self._variances(first, other))
            gap = self.noisy.estimate[first] - self.noisy.estimate[other]
            return Reaches(gap, noise, noise, noise).pairs(models.limit)

        return Comparison(Compared.from_numbers(*models.reported), between, models.limit)

    def _variances(self, first: Ints, other: Ints) -> Floats:
        """Variances of the differences of groups, (S, P)."""
        noisy, judges = self.noisy, self.judges
        one, two = (judges.rates.at(side).variance for side in (first, other))
        up, down = noisy.slopes[:, first], noisy.slopes[:, other]
        same = judges.judge[first] == judges.judge[other]
        calibration = np.where(same, (up - down) ** 2 * one, up**2 * one + down**2 * two)
        noise = noisy.variance[first] + noisy.variance[other]
        return np.asarray(noise + calibration.sum(axis=0))


_BETTER = 30  # labels of a verdict by which its trials are known well
_CURES = (
    "More labels help as long as the judge is better than a coin; else take a better judge, a "
    "smaller k, or labels on these trials (truth=) for ps.avg(), which need no assumption."
)


def warn_of_hopeless(name: str, lacking: Mask, rates: JudgeRates, z: float) -> None:
    """Warn of models without a number, and say why."""
    if not lacking.any():
        return
    first = int(lacking.argmax())
    coin = not rates.is_informative(z)[first]
    reason = (
        "the labels do not show that the judge is better than a coin"
        if coin
        else "the verdicts contradict the labels, or the noise of the corrected draws exceeds the "
        "range of the metric"
    )
    warnings.warn(
        f"{name}: {lacking.sum():,} of {lacking.size:,} groups have no number, because {reason} "
        f"({rate_words(rates, first)} in the first of them). {_CURES}",
        JudgeWarning,
        stacklevel=2,
    )


def warn_of_unlabelled(name: str, trials: Floats, labels: Floats) -> None:
    """Warn of models without a number, because a verdict is hardly labelled."""
    lacking = hardly_labelled(trials, labels)
    groups = lacking.any(axis=0)
    if not groups.any():
        return
    first = int(groups.argmax())
    verdict = int(lacking[:, first].argmax())
    warnings.warn(
        f"{name}: {groups.sum():,} of {groups.size:,} groups "
        f"{'has' if groups.sum() == 1 else 'have'} no corrected number. In the first of them, of "
        f"the verdicts {('right', 'wrong')[verdict]!r} {int(labels[verdict, first]):,} of "
        f"{int(trials[verdict, first]):,} are labelled: label at least {LEAST_OF_VERDICT}, better "
        f"{_BETTER} (ps.sample_to_label says which)",
        JudgeWarning,
        stacklevel=2,
    )


def warn_of_contradictions(differs: Mask) -> None:
    """Warn of models whose labels contradict the assumption that only the truth matters."""
    if differs.any():
        warnings.warn(
            f"the judge is not equally reliable everywhere: in {differs.sum():,} of "
            f"{differs.size:,} groups the accuracy by labels on these trials and the accuracy by "
            "sensitivity and specificity differ by more than three standard errors. ps.avg() with "
            "truth= remains right; metrics of draws (k above 1) and judge= do not. Look at "
            "judge_agreement(), and at the questions on which the judge errs",
            JudgeWarning,
            stacklevel=2,
        )


_RATES = ("sensitivity", "specificity")


def rate_words(rates: JudgeRates, place: int = 0) -> str:
    """Both rates of a judge, with the numbers of labels.

    Examples
    --------
    >>> import numpy as np
    >>> print(rate_words(JudgeRates(np.array([[88.0], [0.0]]), np.array([[100.0], [0.0]]))))
    sensitivity 0.88 of 100, specificity unknown
    """
    words = []
    for name, share, whole in zip(_RATES, rates.observed, rates.labelled, strict=True):
        labels = int(whole[place])
        words.append(f"{name} {share[place]:.2f} of {labels:,}" if labels else f"{name} unknown")
    return ", ".join(words)


# Standard errors by which two corrections of the same verdicts may differ.
_DIFFERENT = 3.0
_ONE_TRIAL = fixed_gains(np.ones(1))


@dataclass(frozen=True, eq=False)  # no slots: results are kept
class JudgedNumbers:
    """The verdicts on the questions of some groups, and the numbers of the truth behind them."""

    states: States  # the questions by their verdicts, wrong and right
    judges: CellJudges  # the judge of each group
    confidence: float  # of the intervals
    target: Target  # what the numbers are about
    clusters: Subgroups[States] | None = None  # the questions in them, if these are a sample

    def of_metric(self, name: str, k: int | None, gains: GainsOf) -> Scores:
        """The numbers of a metric at one draw size."""
        sizes = {n: gains(n).size for n in np.unique(self.states.n).tolist()}
        short = [n for n, size in sizes.items() if size > n]
        if short:
            raise ValueError(
                f"{name}: k={k} is more than the {min(short):,} trials of some question, and a "
                "range has no correction for the errors of a judge: take a smaller k, filter "
                "questions with fewer trials out, or omit truth= and judge="
            )
        if max(sizes.values(), default=1) > 1:
            return self._draw_numbers(name, gains)
        if self.judges.labels is not None:
            return self._labelled_accuracy(name)
        return self._sampled_accuracy(name)

    @property
    def _tail(self) -> float:
        """The chance beyond either end."""
        return (1 - self.confidence) / 2

    @property
    def _critical(self) -> float:
        """Critical value of the intervals."""
        return float(-scipy.special.ndtri(self._tail))

    @property
    def _verdict_rate(self) -> Floats:
        """The rate of verdicts "right" of each group."""
        return self.states.mean(state_estimates(self.states, _ONE_TRIAL)[0])

    def _labelled_accuracy(self, name: str) -> Scores:
        """Accuracy by labels on these trials."""
        labels, z = self.judges.labels, self._critical
        assert labels is not None
        accuracy = labels.questions.accuracy(self.confidence, self.target)
        judged = self._verdict_rate
        verdicts = labels.questions.verdict_sums()
        unknown: Mask = np.asarray(hardly_labelled(*verdicts).any(axis=0))
        self._warn_of_contradictions(accuracy, judged, unknown)
        warn_of_unlabelled(name, *verdicts)
        warn_of_hopeless(name, np.isnan(accuracy.lo) & ~unknown, labels.of_cell, z)
        counts, estimate = label_totals(labels.questions)[:, [0, 2]].sum(axis=1), accuracy.estimate
        numbers = estimate, estimate, Noise(accuracy.sigma), accuracy.lo, accuracy.hi
        facts = {JUDGED: judged, LABEL_COUNT: counts}
        return Scores("calibrated", *numbers, RangeLaw(), facts)

    def _warn_of_contradictions(self, sample: LabelledRate, judged: Floats, unknown: Mask) -> None:
        """Compare known accuracies with those by the sensitivity and specificity of all labels."""
        labels, z = self.judges.labels, self._critical
        assert labels is not None
        trials = self.states.trials.astype(np.float64)
        rate = judged_accuracy(judged, trials, labels.together, z)
        other = (rate.hi - rate.lo) / (2 * z)
        gap = np.abs(sample.estimate - rate.estimate)
        warn_of_contradictions(~unknown & (gap > _DIFFERENT * np.hypot(sample.sigma, other)))

    def _sampled_accuracy(self, name: str) -> Scores:
        """Accuracy by a calibration sample from elsewhere."""
        judged, rates = self._verdict_rate, self.judges.rates
        noisy, questions = self._verdict_estimate(judged)
        accuracy = judged_accuracy(judged, questions, rates, self._critical)
        warn_of_hopeless(name, np.isnan(accuracy.estimate), rates, self._critical)
        noise = judged * (1 - judged) / questions
        of_answers = np.stack([accuracy.estimate, 1 - accuracy.estimate])
        noise += (of_answers**2 * rates.variance).sum(axis=0)
        sigma = np.sqrt(noise) / np.where(rates.adjusted_index > 0, rates.adjusted_index, np.nan)
        numbers = accuracy.estimate, accuracy.estimate, Noise(sigma), accuracy.lo, accuracy.hi
        law = RangeLaw() if noisy is None else VerdictLaw(noisy, self.judges)
        return Scores("calibrated", *numbers, law, self._facts(judged))

    def _facts(self, judged: Floats) -> dict[str, Values]:
        """The facts beside numbers by a calibration sample: verdicts as they are, and labels."""
        judges = self.judges
        return {JUDGED: judged, LABEL_COUNT: judges.number, JUDGE: judges.judge}

    def _verdict_estimate(self, judged: Floats) -> tuple[Estimate | None, Floats]:
        """The variance of the rate of verdicts "right", and its effective number of questions."""
        if self.target == "benchmark":
            noisy = credit_estimates(Weighted(self.states), [_ONE_TRIAL]).at(0)
            return noisy, noisy.effective
        values = self.states.counts[:, 1] / self.states.n
        units = question_units(self.states, values[self.states.state], self.clusters)
        centre, error, freedom = units.student()
        wider = -scipy.special.stdtrit(freedom, self._tail) / self._critical
        return None, centre * (1 - centre) / (wider * error) ** 2

    def _draw_numbers(self, name: str, gains: GainsOf) -> Scores:
        """A metric of draws of several trials."""
        rates, z = self.judges.rates, self._critical
        noisy = self._draw_estimate(gains)
        verdicts = Measurement(Weighted(self.states), self.confidence, self.target)
        (plain,) = verdicts.credits([gains])
        reaches = plain.estimate - plain.lo, plain.hi - plain.estimate
        mean, sigma = noisy.rate(rates, z, reaches), np.sqrt(noisy.total_variance(rates))
        lacking = np.isnan(mean.estimate)
        warn_of_hopeless(name, lacking, rates, z)
        known = np.where(rates.is_informative(z), noisy.estimate, np.nan)
        noise = Noise(np.where(lacking, np.nan, sigma))
        numbers = mean.estimate, mean.estimate, noise, mean.lo, mean.hi
        law = DrawLaw(replace(noisy, estimate=known), self.judges)
        return Scores("calibrated", *numbers, law, self._facts(plain.estimate))

    def _draw_estimate(self, gains: GainsOf) -> JudgedNoise:
        """The variance of a metric of draws, worked out for each judge."""
        tail = self._tail if self.target == "population" else None
        estimate, variance, *slopes = np.full((4, self.states.groups), np.nan)
        whole = JudgedNoise(estimate, variance, np.stack(slopes))
        for judge in np.unique(self.judges.judge).tolist():
            groups: Ints = np.flatnonzero(self.judges.judge == judge)
            one: JudgeRates = self.judges.rates.at(groups[:1])
            noisy = judged_variance(self.states.of_groups(groups), gains, one, tail)
            for field in fields(JudgedNoise):
                getattr(whole, field.name)[..., groups] = getattr(noisy, field.name)
        return whole


@dataclass(frozen=True, slots=True)
class JudgedInference(Inference):
    """Mu is the unbiased estimate of the truth."""

    confidence: float  # of the intervals
    target: Target  # what mu is about
    labelled: bool  # on these trials, not on a calibration sample from elsewhere

    def numbers(self, asked: Sequence[tuple[Metric, View]], cells: QuestionCells) -> RowScores:
        """The numbers of metrics of success and failure, for each draw size and cell."""
        judges: CellJudges = cells.findings["judges"]  # as they were prepared
        states = cells.seen_as("success")
        clusters = cells.clusters if self.target == "population" else None
        clusters = clusters and clusters.binary([*cells.classes.successful])
        truth = JudgedNumbers(states, judges, self.confidence, self.target, clusters)
        rows = dict[Row, Scores]()
        for metric, _ in asked:
            for k in metric.row_sizes:
                gains = metric.draw(k)
                assert gains is not None  # the request has seen to that
                scores = truth.of_metric(metric.name, k, gains)
                refuse_outside(scores.mu, metric)
                lo, hi = clipped_ends(metric, scores.lo, scores.hi)
                rows[metric.name, k] = scores._replace(lo=lo, hi=hi)
        return rows

    def mean_interval(self, metric: Metric, numbers: Scores, strata: StrataMeans) -> MeanEnds:
        """Ends of the interval of means over strata, and the law of these means."""
        # Strata with labels of their own have independent errors; those under one calibration
        # sample share them, so that the ends are means of the ends.
        mu, lo, hi = numbers.mu, numbers.lo, numbers.hi
        if not self.labelled:
            return strata.mean(lo), strata.mean(hi), RangeLaw()
        mean, (below, above) = strata.mean(mu), map(strata.root_of_squares, (mu - lo, hi - mu))
        return mean - below, mean + above, RangeLaw()


COLUMNS: dict[str, pl.DataType] = {
    "labels": pl.UInt64(),
    "labelled_questions": pl.UInt32(),
    **{f"{name}{end}": pl.Float64() for name in _RATES for end in ("", "_lo", "_hi")},
    **dict.fromkeys(("agreement", "kappa", "ac1"), pl.Float64()),
    "extra_labels": pl.UInt64(),
}


def judge_agreement(
    log: Log, roles: Roles, *, width: float = 0.1, confidence: float | None = None
) -> pl.LazyFrame:
    """The plan of the agreement of a judge; see `Scorio.judge_agreement`."""
    width, confidence = check_number("width", width, CHANCE), check_confidence(confidence)
    trials = bind_roles(log, roles)
    if trials.truth is None:
        raise ValueError(
            "judge_agreement compares verdicts with the labels of people on these trials: name "
            'their column with truth=, as in df.scorio(truth="human").judge_agreement()'
        )
    check_truth(trials.truth, trials.category, trials.roles.successes)
    refuse_repeats([*trials.keys, *COLUMNS])
    counted = counted_classes(trials, [], binary=True, needs=(Verdicts(labelled=True),))
    agreement = _Agreement(trials, counted, width, confidence)
    schema = {**trials.strata, **trials.models, **COLUMNS}
    return group_plan(trials, counted).then(agreement, schema, filters=False).plan()


@dataclass(frozen=True, slots=True, eq=False)
class _Agreement:
    """The function from the questions of all groups to the agreement of each, and of all models."""

    trials: Trials
    classes: Classes
    width: float
    confidence: float

    def __call__(self, whole: pl.DataFrame) -> pl.DataFrame:
        """A row for each group; then, of several models, a row without a model for each stratum."""
        strata, models = [*self.trials.strata], [*self.trials.models]
        groups = self._group_rows(whole)
        if not models or whole[models[0]].n_unique() < 2:  # several models
            return groups
        questions = whole.lazy().explode(QUESTIONS, **AS_ROWS).with_columns(_all=pl.lit(0))
        pooled = questions.group_by(*strata, "_all", maintain_order=True).agg(QUESTIONS)
        together = self._group_rows(pooled.drop("_all").collect())
        return pl.concat([groups, together], how="diagonal").select(groups.columns)

    def _group_rows(self, whole: pl.DataFrame) -> pl.DataFrame:
        """A row for each group, with its keys."""
        flat = whole[QUESTIONS].explode(**AS_ROWS).struct.unnest()
        group = np.repeat(np.arange(len(whole)), whole[QUESTIONS].list.len().to_numpy())
        log = labelled_questions(flat, group, self.classes, len(whole))
        keys = [name for name in self.trials.keys if name in whole.columns]
        numbers = pl.DataFrame(self._numbers(log), nan_to_null=True).cast(COLUMNS)  # type: ignore[arg-type]  # a dict is a mapping
        return whole.select(keys).hstack(numbers) if keys else numbers

    def _numbers(self, log: LabelledQuestions) -> dict[str, Floats]:
        """The columns of the result."""
        totals = label_totals(log)
        labels = totals[:, 0] + totals[:, 2]
        rates = JudgeRates.from_counts(own_counts(log, totals))
        judged = log.sums(log.verdicts) / log.sums(log.trials)
        shares = agreement_shares(rates, _right_share(rates, judged))
        spent = log.labels[:, [0, 2]].sum(axis=1)
        columns = {"labels": labels, "labelled_questions": log.sums((spent > 0).astype(np.float64))}
        for name, share, kept, whole in zip(_RATES, rates.observed, *rates, strict=True):
            lo, hi = rate_interval(kept, whole, self.confidence)
            columns |= {name: share, f"{name}_lo": lo, f"{name}_hi": hi}
        needed = labels_for_width(shares, log.verdict_variance(), self.width, self.confidence)
        return columns | {
            "agreement": shares[0, 0] + shares[1, 1],
            "kappa": cohens_kappa(shares),
            "ac1": gwets_ac1(shares),
            "extra_labels": np.where(needed <= log.sums(log.trials), needed, np.nan),
        }


def _right_share(rates: JudgeRates, judged: Floats) -> Floats:
    """Share of right answers behind the rate of verdicts "right"; that of the labels for a coin."""
    index = rates.observed.sum(axis=0) - 1
    labelled = rates.labelled[0] / np.where(rates.labels > 0, rates.labels, np.nan)
    known = np.abs(index) > 0
    share = (judged + rates.observed[1] - 1) / np.where(known, index, 1.0)
    return np.asarray(np.clip(np.where(known, share, labelled), 0.0, 1.0))
