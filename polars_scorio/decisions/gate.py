"""May it ship, and what deciding costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import scipy
from numpy.typing import NDArray

from polars_scorio.arguments import (
    CHANCE,
    CONFIDENCE,
    NOT_NEGATIVE,
    Range,
    Refusal,
    check_count,
    check_flag,
    check_number,
    planned_looks,
    row_place,
)
from polars_scorio.counting.checks import WholePlan
from polars_scorio.counting.log import Log, bind_roles, result_schema
from polars_scorio.counting.roles import Category, Roles
from polars_scorio.decisions.models import (
    STRATUM,
    Block,
    ModelRows,
    Models,
    baseline_columns,
    bounds_column,
    bounds_dtype,
    checked_model,
    in_all_strata,
    metric_of,
    models_of,
    named_model,
    value_ends,
    value_range,
)
from polars_scorio.decisions.regressed_questions import (
    BROKEN,
    CANDIDATE,
    CaseRules,
    broken_questions,
    case_ids,
    without_questions,
    worst_verdict,
)
from polars_scorio.maths.array_rows import Floats, Ints
from polars_scorio.maths.families import holm_adjusted, one_sided_errors
from polars_scorio.maths.power import Forecast, TrialsAhead
from polars_scorio.metrics.metric import Metric
from polars_scorio.study.errored import BOUNDED, ErroredLog
from polars_scorio.study.evaluate import Evaluated
from polars_scorio.study.log_checks import NOTED, SpokenChecks, log_findings, with_notes
from polars_scorio.study.report import chosen_overall
from polars_scorio.study.request import GateOptions, GateRules, on_levels
from polars_scorio.subjects.scores import INFERENCE, INFORMATION, StrataModels

if TYPE_CHECKING:
    from typing_extensions import Unpack


PASS, FAIL, UNDECIDED = "pass", "fail", "undecided"


def gate_verdicts(
    pvalue_pass: Floats, pvalue_fail: Floats, confidence: float, *, every_stratum: bool
) -> NDArray[np.str_]:
    """Verdicts about each stratum of each candidate, (C, R), the last about all of them together.

    A candidate fails if all of its strata together or any of them is worse, after Holm's
    adjustment. It passes if it does not fail and its mean passes; with `every_stratum` all strata
    too, unadjusted (R. L. Berger 1982, Technometrics 24(4), 295-300). NaN is above 1/2.

    >>> passes, fails = np.array([[np.nan, 0.01, 0.03]]), np.array([[0.001, np.nan, np.nan]])
    >>> gate_verdicts(passes, fails, 0.95, every_stratum=False).tolist()
    [['fail', 'pass', 'fail']]
    """
    error = 1 - confidence
    failed = holm_adjusted(pvalue_fail) <= error
    pvalue_pass = np.where(np.isnan(pvalue_pass), 1.0, pvalue_pass)
    whole = pvalue_pass.max(axis=1) if every_stratum else pvalue_pass[:, -1]
    passed = pvalue_pass <= error
    passed[:, -1] = whole <= error
    failed[:, -1] = failed.any(axis=1)
    return np.where(failed, FAIL, np.where(passed, PASS, UNDECIDED))


@dataclass(frozen=True, slots=True)
class GatePlan:
    """The goal of at most `most` further trials: a one-sided verdict, with the chance `power`."""

    confidence: float
    power: float
    most: int

    def shared_by(self, candidates: int) -> GatePlan:
        """The goal for each of several candidates whose verdicts hold at once."""
        return replace(self, confidence=self.confidence ** (1 / max(candidates, 1)))

    def further_units(
        self,
        rows: ModelRows,
        models: StrataModels,
        share: Floats,
        sides: Sequence[Ints],
        margin: Floats,
    ) -> Ints:
        """Further trials of each question, or questions, that would decide pairs, or scores."""
        # By the `share` (S,) of the spread of the models that is more than noise, see
        # `decision_chance`; (S, P), at least 1; ``most + 1``: not enough. `margin` is (S, 1).
        shape = len(margin), sides[0].size
        if rows.models.trials.judged:  # what labels leave open does not shrink
            return np.full(shape, self.most + 1)
        ordered = rows.models.better_first(*sides) if len(sides) > 1 else sides
        wide = [np.broadcast_to(side, shape) for side in ordered]
        planned, sampled = rows.models.request.choice.planned, rows.models.law is not None
        if rows.models.unpaired or (sampled and len(sides) == 1):
            forecast: Forecast = _own_questions_ahead(models, wide, margin, planned)
        else:
            forecast = models.further(wide, planned)
        shares, margins = (np.repeat(each.ravel(), shape[1]) for each in (share, margin))
        z = float(scipy.special.ndtri(self.confidence))
        further = forecast.with_assurance(shares, z, self.power, self.most, margins)
        return np.maximum(further, 1).reshape(shape)


def _own_questions_ahead(
    models: StrataModels, sides: Sequence[Ints], margin: Floats, planned: int | None
) -> TrialsAhead:
    """Pairs, or scores, after further questions of each model, which are a sample of its own."""
    (mu, _, lo, hi), row = models.numbers(), np.arange(len(models.groups))[:, None]
    c = models.look_critical(models.confidence)
    down, up = (mu - lo) / c, (hi - mu) / c
    gap = mu[row, sides[0]] - (mu[row, sides[1]] if len(sides) > 1 else 0.0)
    above, number = gap > -margin, models.table.size[models.groups].astype(np.float64)
    reaches = (np.where(above == (place == 0), down[row, side], up[row, side])
               for place, side in enumerate(sides))  # fmt: skip
    noises = [
        (reach.ravel() ** 2, number[row, side].ravel())
        for reach, side in zip(reaches, sides, strict=True)
    ]
    return TrialsAhead.from_noise(gap.ravel(), noises, planned)


_CONFIDENCE = Range("a number between 0.5 and 1, exclusive", 0.5, 1, closed=False)
ONE_MODEL = "The model"  # the name of the model of a log that names none
_BESIDE = ("estimate_lo", "estimate_hi")  # of a score that has to reach a number
_VERDICTS = ("gap_verdict", "level_verdict")
_NUMBERS = ("diff", "sigma", "lo", "hi", "margin", "pvalue_pass", "pvalue_fail")


def _names_cases(rules: GateRules) -> bool:
    """Whether a gate has rules for single questions."""
    return (rules.fail_on, rules.must_pass, rules.each_at_least) != (None, None, None)


# Combinations that no gate has.
GATE = (
    Refusal(lambda rules, _: (rules.baseline is None) != (rules.margin is None),
            "a baseline and its margin= go together", "pass both, as in margin=0.02, or neither"),
    Refusal(lambda rules, _: rules.baseline is None and rules.at_least is None
            and rules.each_at_least is None and rules.must_pass is None,
            "neither a baseline nor a score to reach is named",
            "pass a baseline with its margin=, or at_least="),
    Refusal(lambda rules, _: rules.baseline is None
            and bool(rules.fail_on or rules.every_stratum or rules.stratum_margin is not None),
            "fail_on=, every_stratum= and stratum_margin= are about changes",
            "pass a baseline with its margin="),
    Refusal(lambda rules, roles: (_names_cases(rules) or rules.at_least is not None)
            and roles.missing == BOUNDED,
            'missing="bounds" is about differences, and fail_on=, must_pass=, at_least= and '
            "each_at_least= are not",
            "omit these, or pass another value as missing="),
    Refusal(lambda rules, _: _names_cases(rules) and rules.options.get("unmatched") == "unpaired",
            "fail_on=, must_pass= and each_at_least= need questions that both versions answered",
            'pass unmatched="drop"'),
    Refusal(lambda rules, roles: rules.stratum_margin is not None and not roles.by,
            "stratum_margin= is the margin of single strata", "name the strata with by="),
    Refusal(lambda rules, _: rules.fdr is not None and rules.fail_on is None,
            "fdr= is the false discovery rate of the questions that fail_on= names",
            'pass fail_on="regressed" too, or omit fdr='),
)  # fmt: skip


def gate(
    log: Log,
    roles: Roles,
    baseline: Category | None = None,
    metric: Metric | None = None,
    *,
    margin: float | None = None,
    **given: Unpack[GateOptions],
) -> pl.LazyFrame:
    """The plan of a gate; see `Scorio.gate`."""
    metric = metric_of(metric, "gate", "compare() and frontier() answer for costs", single=False)
    rules = GateRules.from_options(baseline, metric, margin, given)
    check_number("confidence", rules.options.get("confidence", CONFIDENCE), _CONFIDENCE)
    check_flag("every_stratum", rules.every_stratum)
    check_flag("simultaneous", rules.simultaneous)
    question = bind_roles(log, roles).question.dtype
    if roles.model is None and rules.baseline is None:
        roles = replace(roles, model=pl.lit(ONE_MODEL).alias("model"))
    if rules.quarantine is not None:
        log = without_questions(log, roles, case_ids("quarantine", rules.quarantine, question))
    if refused := [row for row in GATE if row.when(rules, roles)]:
        raise refused[0].error("gate")
    cases = CaseRules.from_rules(rules, question)
    if roles.missing == BOUNDED:
        rows = WholePlan(_gate_brackets(log, roles, rules))
        return rows.then(lambda x: with_notes(x, log_findings(log, roles, [metric]))).plan()
    return _gate_plan(log, roles, rules, cases)


def _gate_plan(
    log: Log, roles: Roles, rules: GateRules, cases: CaseRules | None = None
) -> pl.LazyFrame:
    """The plan of a gate on a log whose missing outcomes have a meaning."""
    trials = bind_roles(log, roles)
    metric = on_levels(rules.metric, trials)
    checked = partial(_checked_margin, metric=metric, limit=value_range(metric, trials))
    margin = 0.0 if rules.margin is None else checked("margin", rules.margin)
    single, baseline = rules.stratum_margin, rules.baseline
    margins = margin, margin if single is None else checked("stratum_margin", single)
    model = named_model(trials, "gate")
    if baseline is not None:
        baseline = checked_model(baseline, trials, "baseline")
    if rules.at_least is not None:
        low, high = value_ends(metric, trials)
        inside = f"a score between {low:g} and {high:g}, exclusive"
        check_number("at_least", rules.at_least, Range(inside, low, high, closed=False))
    strata, target = chosen_overall(rules.overall, trials), rules.options.get("target")
    alone = baseline is None and target != "population"
    steps, models = models_of(
        trials, metric, rules.options, strata, spoken="none", alone=alone, named=cases is not None
    )
    if models.law is None and not models.request.choice.is_unbiased(*models.request.metrics[0]):
        raise ValueError(
            f"{metric.name}: gate needs unbiased estimates, and these are posterior means: "
            "take ps.avg() or a metric of the Pass@k family, without prior="
        )
    plan = GatePlan(
        models.request.choice.confidence,
        check_number("power", rules.power, CHANCE),
        check_count("max_trials", rules.max_trials),
    )
    judged = _Gate(models, replace(rules, baseline=baseline), margins, plan, cases)
    schema = _gate_schema(judged, model, planned_looks(rules.options))
    rows = in_all_strata(steps, trials, judged, schema)
    if target == "population":
        rows = rows.rename({"extra_trials": "extra_questions"})
    return rows


def _gate_schema(judged: _Gate, model: pl.DataType, planned: int | None) -> dict[str, pl.DataType]:
    """The columns of a gate, beside those of the strata."""
    models, rules, cases = judged.models, judged.rules, judged.cases
    trials = models.request.trials
    repeated = [] if planned is None else [INFORMATION]
    floats = dict.fromkeys((*_NUMBERS, *BROKEN[1:]), pl.Float64())
    compared = {"baseline": model, **floats, BROKEN[0]: pl.UInt64()}
    level = dict.fromkeys(("at_least", "estimate"), pl.Float64())
    beside = {**dict.fromkeys(_BESIDE, pl.Float64()), **dict.fromkeys(_VERDICTS, pl.String())}
    numbers: dict[str, pl.DataType] = {
        **(dict.fromkeys(_NUMBERS[1:], pl.Float64()) if rules.baseline is None else compared),
        **(level if rules.baseline is None or rules.at_least is not None else {}),
        **(beside if rules.baseline is not None and rules.at_least is not None else {}),
        "verdict": pl.String(),
        "extra_trials": pl.UInt64(),
        INFERENCE: pl.String(),
        **NOTED,
        **bounds_dtype(models),
        **dict.fromkeys(repeated, pl.Float64()),
        **(cases.schema(trials.question.dtype) if cases else {}),
    }
    if rules.baseline is None:
        del numbers["margin"]
    metric_names = {"metric": pl.String(), "k": pl.Int64()}
    return result_schema(trials.strata, metric_names, trials.models, numbers)


def _gate_brackets(log: Log, roles: Roles, rules: GateRules) -> pl.LazyFrame:
    """The rows of a gate that hold whatever the errored trials were."""
    errored = ErroredLog.from_log(log, roles, [rules.metric], **rules.options)
    named_model(errored.trials, "gate")
    assert rules.baseline is not None  # a level does not take this meaning
    baseline = checked_model(rules.baseline, errored.trials, "baseline")
    ask = partial(_gate_plan, rules=rules)
    rows = errored.bracket(ask, "diff", each=True, baseline=baseline)
    further = pl.when(pl.col("verdict").is_not_null()).then(pl.col("^extra_.*$"))
    same = pl.all_horizontal(pl.col(name).is_not_null() for name in BROKEN)
    return rows.with_columns(
        further.name.keep(),
        pl.col("verdict").fill_null(UNDECIDED),
        *(pl.when(same).then(name).alias(name) for name in BROKEN),
    )


def _checked_margin(name: str, value: float, metric: Metric, limit: float) -> float:
    """A margin as a float, which is smaller than the range of the metric."""
    number = check_number(name, value, NOT_NEGATIVE)
    if number >= limit > 0 and not metric.unbounded:
        raise ValueError(
            f"{name} must be smaller than the range of {metric.name}, which is {limit:g}: a "
            f"difference of {number:g} is out of the question. Two points of a hundred are 0.02"
        )
    return number


@dataclass(frozen=True, slots=True, eq=False)
class _Gate:
    """The function from the results of all models to the verdicts about the candidates."""

    models: Models
    rules: GateRules
    margins: tuple[float, float]  # of the mean over the strata, and of single strata
    plan: GatePlan  # with the confidence of each candidate
    cases: CaseRules | None

    def __call__(self, groups: pl.DataFrame, evaluated: Evaluated) -> pl.DataFrame:
        """A row for each stratum, draw size and candidate."""
        request, baseline = self.models.request, self.rules.baseline
        trials = request.trials
        (model,) = trials.models
        if self.rules.simultaneous:  # in one step: Holm's ends and verdicts would not agree
            shared = self.plan.shared_by(groups[model].n_unique() - (baseline is not None))
            each = replace(self.rules, simultaneous=False)
            return replace(self, rules=each, plan=shared)(groups, evaluated)
        columns = None if baseline is None else baseline_columns(groups, trials, baseline)
        self._refuse_unknown(groups[model], evaluated)
        if columns is None:
            judged = self._judged_models(groups, evaluated, None, model)
            if self.rules.at_least is None:  # of single questions alone
                judged = judged.filter(pl.col(STRATUM) == pl.col(STRATUM).max())
                judged = judged.with_columns(verdict=pl.lit(None, pl.String), extra_trials=0)
        else:
            judged = self._compared_models(groups, evaluated, columns, model)
        named = judged.with_columns(
            bounds_column(evaluated), pl.lit(self.models.metric.name).alias("metric")
        )
        if self.cases is not None:
            named = self.cases.judged(named, groups, columns, self.models)
        # Rows over all strata have no questions of their own.
        strata = [pl.col(name).is_not_null() for name in trials.strata]
        findings = SpokenChecks(request, "all").findings(evaluated.groups.filter(*strata))
        return with_notes(named.sort(STRATUM, "order", model), findings)

    def _compared_models(
        self, groups: pl.DataFrame, evaluated: Evaluated, columns: Ints, model: str
    ) -> pl.DataFrame:
        """Differences of all candidates, and their scores if those have to reach a number."""
        judged = self._judged_models(groups, evaluated, columns, model)
        flips = broken_questions(groups, judged.filter(order=0), columns, self.models)
        baseline = pl.lit(self.rules.baseline).cast(groups.schema[model]).alias("baseline")
        named = judged.with_columns(baseline).join(flips, on=[STRATUM, CANDIDATE], how="left")
        if self.rules.at_least is None:
            return named
        levels = self._judged_models(groups, evaluated, None, model)
        ends = pl.col("lo", "hi").name.prefix("estimate_")
        named_level = {"level_verdict": "verdict", ":extra": "extra_trials"}
        keys = [STRATUM, CANDIDATE, "order"]
        joined = named.join(
            levels.select(*keys, "at_least", "estimate", ends, **named_level), on=keys
        )
        extra = pl.col("extra_trials", ":extra")
        known = pl.when(pl.all_horizontal(extra.is_not_null())).then(pl.max_horizontal(extra))
        return joined.with_columns(
            worst_verdict("verdict", "level_verdict"), gap_verdict="verdict"
        ).with_columns(pl.when(verdict=UNDECIDED).then(known).otherwise(0).alias("extra_trials"))

    def _judged_models(
        self, groups: pl.DataFrame, evaluated: Evaluated, columns: Ints | None, model: str
    ) -> pl.DataFrame:
        """Differences, or scores without a baseline, with verdicts and what would decide."""
        margins, levels = self._margins_of_strata(groups[STRATUM]), columns is None
        parts = [
            (self._level_rows if levels else self._judged_rows)(
                self.models.at_k(evaluated, k), block, margins[block.strata]
            )
            .with_columns(k=pl.lit(k, pl.Int64), order=pl.lit(place))
            for place, k in enumerate(self.models.metric.row_sizes)
            for block in self.models.blocks(groups[STRATUM], columns)
        ]  # fmt: skip
        judged = pl.concat(parts)
        judged = judged.with_columns(groups[model].gather(judged[CANDIDATE]).alias(model))
        every = levels or self.rules.every_stratum
        judged = self._with_verdicts(judged.sort("order", model, STRATUM), every=every)
        # A gate that is decided needs no further trials.
        further = pl.when(verdict=UNDECIDED).then("extra_trials").otherwise(0)
        judged = judged.with_columns(further.alias("extra_trials"))
        return _with_most_further(judged, model) if every else judged

    def _refuse_unknown(self, names: pl.Series, evaluated: Evaluated) -> None:
        """Refuse a log of the baseline alone, and draws of more trials than there are."""
        if names.is_empty():
            raise ValueError(
                "gate: the log has no trials, so nothing was judged: is it the right file, or was "
                "everything filtered out?"
            )
        if names.n_unique() == 1 and self.rules.baseline is not None:
            raise ValueError(
                f"gate: the log has only the baseline {self.rules.baseline!r}, and no candidate to "
                "compare with it. Concatenate the logs of both"
            )
        metric, keys = self.models.metric, self.models.trials.keys
        for k in metric.row_sizes:
            beyond = evaluated.keys.filter(pl.Series(evaluated.lacks_estimate((metric.name, k))))
            if k is not None and beyond.height:
                first = beyond.sort(*keys).row(0, named=True)
                raise ValueError(
                    f"gate: {metric.name} draws k={k} trials of a question, and some question has "
                    f"fewer, the first{row_place(first, keys)}. A range has no verdict: take a "
                    "smaller k, count the first trials of each question (first=), or collect more "
                    "trials"
                )

    def _margins_of_strata(self, stratum: pl.Series) -> Floats:
        """The margin of each stratum; that of the mean over them is the last one."""
        whole, single = self.margins
        margins = np.full(stratum.n_unique(), single if self.models.request.trials.by else whole)
        margins[-1:] = whole
        return margins

    def _judged_rows(self, rows: ModelRows, block: Block, margin: Floats) -> pl.DataFrame:
        """Differences of the candidates in some strata, with their p-values."""
        models, margin, (a, b) = rows.in_block(block), margin[:, None], block.pairs()
        compared = rows.comparison(models)
        z = scipy.special.ndtri(self.plan.confidence)
        gaps = compared.differences(a, b, np.full((len(margin), a.size), z))
        gaps = gaps if rows.models.sign > 0 else gaps.reversed()
        above, below = compared.one_sided_errors(a, b, margin)
        numbers = {
            **{name: getattr(gaps, name) for name in ("diff", "sigma", "lo", "hi")},
            "margin": np.broadcast_to(margin, gaps.diff.shape),
            "pvalue_pass": above,
            "pvalue_fail": below,
            INFORMATION: compared.pair_information(a, b),
        }
        further = self.plan.further_units(rows, models, compared.signal_share, (a, b), margin)
        candidates, old = (block.rows[:, side].ravel() for side in (a, b))
        places = pl.DataFrame({CANDIDATE: candidates, "baseline": old})
        named = *rows.models.trials.models, "baseline"
        words = rows.pair_words(places, (CANDIDATE, "baseline"), named)
        return self._numbered(block, candidates, words, numbers, further)

    def _numbered(
        self, block: Block, candidates: Ints, words: pl.Series, numbers: dict[str, Floats],
        further: Ints,
    ) -> pl.DataFrame:  # fmt: skip
        """Rows of some strata; NaN says that there is no such number."""
        extra = pl.Series(further.ravel())
        return pl.DataFrame(
            {
                STRATUM: pl.Series(np.repeat(block.strata, further.shape[1]), dtype=pl.UInt32),
                CANDIDATE: candidates,
                INFERENCE: words,
                **{name: pl.Series(each.ravel()).fill_nan(None) for name, each in numbers.items()},
                "extra_trials": extra.set(extra > self.plan.most, None),
            }
        )

    def _level_rows(self, rows: ModelRows, block: Block, _: Floats) -> pl.DataFrame:
        """Scores of the models in some strata, with p-values of whether they reach a number."""
        models, goal = rows.in_block(block), self.rules.at_least
        shape = block.rows.shape
        edge = np.full((shape[0], 1), np.nan if goal is None else goal)
        c = np.full(shape, scipy.special.ndtri(self.plan.confidence))
        mu, sigma = models.numbers()[:2]
        limits = value_ends(rows.models.metric, rows.models.trials)
        lo, hi = (np.asarray(np.clip(end, *limits)) for end in models.ends_at(c))
        sides = (np.ones(shape, np.bool_), np.zeros(shape, np.bool_))[:: rows.models.sign]
        above, below = (
            one_sided_errors(models.ends_at, sigma, -edge, upper, np.inf) for upper in sides
        )
        share, columns = np.ones(shape[0]), np.arange(shape[1])
        further = self.plan.further_units(rows, models, share, [columns], -edge)
        information = np.full(shape, np.nan) if models.information is None else models.information
        numbers = {
            "estimate": mu, "sigma": sigma, "lo": lo, "hi": hi,
            "pvalue_pass": above, "pvalue_fail": below,
            "at_least": np.broadcast_to(edge, shape), INFORMATION: information,
        }  # fmt: skip
        places = block.rows.ravel()
        return self._numbered(block, places, rows.words.gather(places), numbers, further)

    def _with_verdicts(self, judged: pl.DataFrame, *, every: bool) -> pl.DataFrame:
        """Rows by draw size, candidate and stratum, with the verdict of each."""
        verdicts = []
        for part in judged.partition_by("order", maintain_order=True):
            strata = part[STRATUM].n_unique()
            pvalue_pass, pvalue_fail = (
                part[name].fill_null(np.nan).to_numpy().reshape(-1, strata)
                for name in ("pvalue_pass", "pvalue_fail")
            )
            confidence = self.plan.confidence
            decided = gate_verdicts(pvalue_pass, pvalue_fail, confidence, every_stratum=every)
            verdicts.extend(decided.ravel().tolist())
        return judged.with_columns(pl.Series("verdict", verdicts, dtype=pl.String))


def _with_most_further(judged: pl.DataFrame, model: str) -> pl.DataFrame:
    """Rows over all strata need the most that any stratum needs; null if nothing suffices."""
    family = ["order", model]
    most = pl.when(pl.col("extra_trials").null_count().over(family) == 0).then(
        pl.col("extra_trials").max().over(family)
    )
    whole = (pl.col(STRATUM) == pl.col(STRATUM).max()) & (pl.col("verdict") == UNDECIDED)
    return judged.with_columns(
        pl.when(whole).then(most).otherwise("extra_trials").alias("extra_trials")
    )
