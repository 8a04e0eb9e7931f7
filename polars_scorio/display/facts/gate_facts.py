"""Facts of a gate: its rows with their verdicts, and the questions that changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl

from polars_scorio.arguments import known_text, value_text
from polars_scorio.counting.log import Study, collected_together
from polars_scorio.counting.roles import Category, Roles
from polars_scorio.decisions.gate import gate
from polars_scorio.decisions.regressed_questions import regressed_questions
from polars_scorio.display.facts.log_summary import LogSummary
from polars_scorio.display.facts.question_facts import QuestionFacts
from polars_scorio.display.facts.ranking_facts import About, as_number
from polars_scorio.display.facts.scopes import (
    POWER,
    Scope,
    average_metric,
    common_questions,
    holds_fractions,
    knows_success,
)
from polars_scorio.display.numbers import Unit, gap_unit
from polars_scorio.display.phrases import visible_text
from polars_scorio.display.settings import Settings
from polars_scorio.maths.array_rows import Floats
from polars_scorio.metrics.metric import Metric
from polars_scorio.study.errored import BOUNDED
from polars_scorio.study.report import report

FDR = 0.1  # false discovery rate of single questions on a page
ALL = "all questions"
_CHANGES = {"broken": "became worse", "repaired": "became better"}


def gate_rows(rows: pl.DataFrame, *, lower_is_better: bool) -> pl.DataFrame:
    """The rows of a gate with `stratum`, null over all of them, `model`, `baseline` and `extra`.

    `least` and `most` are the ends of how much better the candidate is, and `side` the verdict of
    these ends alone; "undecided" of those that fail but for the adjustment for all parts. Without
    a baseline, differences are those from the score that is to be reached.
    """
    rows = rows if "baseline" in rows.columns else _from_level(rows)
    place = rows.columns.index("baseline")
    extra = next(each for each in rows.columns if each.startswith("extra_"))
    rows = rows.rename({rows.columns[place - 1]: "model"})
    strata = rows.columns[: min(place - 1, rows.columns.index("metric"))]
    label = pl.concat_str(strata, separator=" / ") if strata else pl.lit(None, pl.String)
    names = pl.col("model", "baseline").cast(pl.String)
    ends = pl.col("lo"), pl.col("hi")
    least, most = (-ends[1], -ends[0]) if lower_is_better else ends
    rows = rows.with_columns(names, stratum=label, extra=pl.col(extra), least=least, most=most)
    fails = pl.col("most") < -pl.col("margin"), pl.col("verdict") == "fail"
    passes = pl.when(pl.col("least") > -pl.col("margin")).then(pl.lit("pass"))
    return rows.with_columns(
        side=passes.when(*fails).then(pl.lit("fail")).otherwise(pl.lit("undecided"))
    )


def _from_level(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows of a gate without a baseline, as differences from the score to be reached."""
    at = rows.columns.index("metric")
    named = rows.select(*rows.columns[:at], pl.lit(None, pl.String).alias("baseline"),
                        *rows.columns[at:])  # fmt: skip
    kept = {"estimate_lo": "lo", "estimate_hi": "hi", "level_verdict": "verdict"}
    none = {"broken": pl.lit(None, pl.UInt64), "margin": pl.lit(0.0)}
    gaps = {name: pl.col(of) - pl.col("at_least")
            for name, of in (("diff", "estimate"), ("lo", "lo"), ("hi", "hi"))}  # fmt: skip
    return named.with_columns(**gaps, **kept, **none)


@dataclass(frozen=True, slots=True)
class GateLine:
    """A candidate, or a part of the questions of a single one."""

    label: str
    whole: bool  # over all parts
    model: str
    lo: float
    diff: float
    hi: float
    least: float  # how much better the candidate is, at least and at most
    most: float
    margin: float
    verdict: str
    side: str  # the verdict of its two ends alone
    by_questions: bool  # whether single questions decide, against the difference of the scores

    @classmethod
    def from_row(cls, row: Mapping[str, Any], label: str) -> GateLine:
        """From a row of `gate_rows`."""
        names = ("lo", "diff", "hi", "least", "most", "margin")
        lo, diff, hi, least, most, margin = (as_number(row[name]) for name in names)
        whole, verdict, side = row["stratum"] is None, str(row["verdict"]), str(row["side"])
        by_questions = row.get("score_verdict", verdict) != verdict
        return cls(label, whole, str(row["model"]), lo, diff, hi, least, most, margin, verdict,
                   side, by_questions)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class GateFacts:
    """Candidates against a baseline by one metric at one draw size; the worst verdict leads."""

    rows: pl.DataFrame  # of `gate_rows`
    unit: Unit
    about: About
    lower: bool = False  # lower scores are better
    power: float = POWER
    fdr: float = FDR
    undecided: str | None = None  # as what an undecided gate counts
    whole: str = ALL  # what a row over all parts is about
    place: str = ""  # the part of the questions, if this is one
    scores: Mapping[str, float] = field(default_factory=dict)  # of each model, over all parts
    broke: Sequence[str] | None = None  # questions, by tests of their own; None: nobody asked
    fixed: Sequence[str] | None = None
    nameable: bool = True  # whether the trials suffice to name one question
    each: float | None = None  # share of its trials that each question has to pass

    @classmethod
    def from_rows(
        cls, rows: pl.DataFrame, metric: Metric, about: About, *, lower: bool, **rest: Any  # noqa: ANN401 - fields
    ) -> GateFacts:  # fmt: skip
        """From the rows of one draw size of a gate."""
        turned = gate_rows(rows, lower_is_better=lower)
        made = cls(turned, Unit(), about, lower, **rest)
        made = replace(made, whole=made.whole.partition(", ")[0])  # weights are not in a table
        edge = as_number(made.worst["margin"])
        unit = replace(gap_unit(metric, turned), edge=edge)
        margin = "" if made.worst["baseline"] is None else unit.margin(edge)
        return replace(made, unit=unit, about=replace(about, margin=margin))

    @property
    def worst(self) -> dict[str, Any]:
        """The row over all parts of the candidate with the worst verdict."""
        order = pl.col("verdict").cast(pl.Enum(["fail", "undecided", "pass"]))
        whole = self.rows.filter(pl.col("stratum").is_null())
        return whole.sort(order, "least").row(0, named=True)

    @property
    def models(self) -> list[str]:
        """The candidates."""
        return self.rows["model"].unique(maintain_order=True).to_list()

    def of(self, model: str) -> GateFacts:
        """The gate of one candidate."""
        return replace(self, rows=self.rows.filter(model=model))

    def of_part(self, stratum: str | None) -> GateFacts:
        """The gate of a part of the questions; None: of all of them, with the parts."""
        if stratum is None:
            return self
        one = self.rows.filter(stratum=stratum).with_columns(stratum=pl.lit(None, pl.String))
        about = replace(self.about, made="", target="")
        return replace(self, rows=one, about=about, whole=stratum, place=stratum, broke=None)

    @property
    def parts(self) -> list[GateLine]:
        """The parts of the questions under the candidate with the worst verdict."""
        chosen = self.rows.filter(pl.col("stratum").is_not_null(), model=self.worst["model"])
        return [GateLine.from_row(row, row["stratum"]) for row in chosen.rows(named=True)]

    @property
    def line(self) -> GateLine:
        """The worst row."""
        return GateLine.from_row(self.worst, self.whole)

    @property
    def lines(self) -> list[GateLine]:
        """Each candidate, or all questions and the parts of a single one; the lowest first."""
        over_all = pl.col("stratum").is_null()
        whole, parts = (self.rows.filter(kept).sort("diff").rows(named=True)
                        for kept in (over_all, ~over_all))  # fmt: skip
        if len(whole) > 1:
            return [GateLine.from_row(row, row["model"]) for row in whole]
        return [self.line, *(GateLine.from_row(row, row["stratum"]) for row in parts)]


@dataclass(frozen=True, slots=True, eq=False)
class Gated:
    """The gate of a log, and the tests of its questions."""

    gate: GateFacts
    baseline: str
    lead: Metric
    changes: Mapping[str, pl.DataFrame]  # "broken", "repaired": tests of all questions, or nothing

    @classmethod
    def from_log(
        cls, summary: LogSummary, main: Scope, baseline: Category, settings: Settings,
        margin: float, about: About, gates: pl.DataFrame | None = None,
    ) -> Gated:  # fmt: skip
        """The models of a log against the baseline, or the rows that a gate has already."""
        name = visible_text(str(baseline))
        if name not in main.models:
            known = known_text(name, sorted(main.models))
            raise ValueError(f"baseline: no model {value_text(baseline)}; there are {known}")
        metric = main.lead
        if metric.headline != "estimate" or (metric.k[0] or 1) > main.fewest:  # a gate refuses it
            metric = average_metric(metric)
        rows, scores, tests = _gate_frames(summary, main, name, metric, settings, margin, gates)
        label = metric.heading(metric.row_sizes[0], main.each)
        candidates = rows[rows.columns[rows.columns.index("baseline") - 1]].n_unique()
        about = replace(about, metric=f"difference in {label}", candidates=candidates)
        facts = GateFacts.from_rows(
            rows, metric, about, lower=main.roles.lower_is_better, scores=_whole_scores(scores),
            whole=main.overall_basis() or ALL,
        )  # fmt: skip
        gated = cls(facts, name, metric, tests)
        if tests:
            of_kind = (gated.changed_questions(kind, facts.line.model) for kind in _CHANGES)
            broke, fixed = (rows["question"].cast(pl.String).to_list() for rows in of_kind)
            gated = replace(gated, gate=replace(facts, broke=broke, fixed=fixed))
        return gated

    def changed_questions(self, kind: str, model: str) -> pl.DataFrame:
        """The questions of a candidate that surely became worse ("broken") or better."""
        of_model = pl.col("model").cast(pl.String) == model
        rows = self.changes[kind].filter(of_model, pl.col("qvalue") <= FDR)
        return rows.sort("qvalue", "question")

    def all_changed(self) -> pl.DataFrame:
        """The questions of all candidates that changed more than chance explains."""
        changed = [
            rows.filter(pl.col("qvalue") <= FDR)
            .sort("qvalue", "model", "question")
            .select(pl.lit(_CHANGES[kind]).alias("change"),
                    pl.col("model", "question").cast(pl.String), "rate_baseline", "rate", "qvalue")
            for kind, rows in self.changes.items()
        ]  # fmt: skip
        return pl.concat(changed) if changed else pl.DataFrame()


Changed = Sequence[tuple[str, tuple[int, int], tuple[int, int]]]  # right of all, before and now


@dataclass(frozen=True, slots=True, eq=False)
class CaseFacts:
    """All questions under a baseline and its candidate, the largest loss first."""

    gate: GateFacts
    models: tuple[str, str]
    scores: Floats  # (2, M)
    counts: Sequence[int]  # of those that broke, are flaky, are the same, were fixed
    broke: Changed
    fixed: Changed
    word: str  # for a trial that counts

    @classmethod
    def from_log(cls, gated: Gated, facts: QuestionFacts) -> CaseFacts | None:
        """The questions of a gate; None where single ones were not tested."""
        gate, two = gated.gate, (gated.baseline, gated.gate.line.model)
        if not gated.changes:
            return None
        down, up = {*(gate.broke or [])}, {*(gate.fixed or [])}
        before, after = (facts.scores[[*facts.models].index(name)] for name in two)
        mixed = ((before > 0) & (before < 1)) | ((after > 0) & (after < 1))
        kind = np.array([0 if name in down else 3 if name in up else 1 if flaky else 2
                         for name, flaky in zip(facts.names, mixed, strict=True)])  # fmt: skip
        order = np.lexsort((before, after - before, kind))
        broke, fixed = (_case_counts(gated.changed_questions(each, two[1])) for each in _CHANGES)
        counts, scores = np.bincount(kind, minlength=4).tolist(), np.stack([before, after])
        return cls(gate, two, scores[:, order], counts, broke, fixed, facts.word)


def _case_counts(rows: pl.DataFrame) -> Changed:
    numbers = rows.select("question", "rate_baseline", "trials_baseline", "rate", "trials").rows()
    return [(name, (round(was * n), n), (round(now * m), m)) for name, was, n, now, m in numbers]


def _gate_frames(
    summary: LogSummary, main: Scope, baseline: str, metric: Metric, settings: Settings,
    margin: float, gates: pl.DataFrame | None,
) -> tuple[pl.DataFrame, pl.DataFrame, dict[str, pl.DataFrame]]:  # fmt: skip
    """The rows of a gate and of a report, and the tests of single questions."""
    steps = summary.steps is not None or main.name
    log, roles = (
        (main.study, main.roles) if steps else (Study(common_questions(summary)), summary.roles)
    )
    options = replace(settings, prior=None).report  # a gate takes no prior
    weights = summary.label_weights(settings.overall)
    overall = (weights or settings.overall) if roles.by else None

    def plans_of(asked: Roles) -> list[pl.LazyFrame]:
        return [
            gate(log, asked, baseline, metric, margin=margin, overall=overall, **options),
            report(log, asked, [metric], overall=overall, **options),
        ]

    plans = plans_of(replace(roles, missing=BOUNDED) if main.errored else roles)
    if gates is not None:
        plans[0] = gates.lazy()
    fractions = holds_fractions(main.counts, main.roles)
    if main.errored:  # differences and scores are drawn as if errored trials had failed
        plans += plans_of(roles)
    elif not (main.judged or fractions) and knows_success(main.counts, main.roles):
        plans += [
            regressed_questions(main.study, main.roles, baseline, fdr=FDR, improvements=better)
            for better in (False, True)
        ]
    rows, scores, *further = collected_together(plans)
    if main.errored:
        as_failed, scores = further
        return _drawn_as_failed(rows, as_failed), scores, {}
    return rows, scores, dict(zip(_CHANGES, further, strict=False))


def _drawn_as_failed(rows: pl.DataFrame, as_failed: pl.DataFrame) -> pl.DataFrame:
    """Rows of a gate with the differences that there are if errored trials failed."""
    keys = [*dict.fromkeys([*rows.columns[: rows.columns.index("baseline")], "k"])]
    known = as_failed.select(*keys, "diff")
    drawn = rows.drop("diff").join(
        known, on=keys, how="left", nulls_equal=True, maintain_order="left"
    )
    return drawn.select(rows.columns)


def _whole_scores(scores: pl.DataFrame) -> dict[str, float]:
    """The scores of a report over all strata."""
    strata = [name for name in scores.columns[: scores.columns.index("metric")] if name != "model"]
    whole = scores.filter(*(pl.col(name).is_null() for name in strata))
    return dict(whole.select(pl.col("model").cast(pl.String), "mu").rows())


def regressed_names(tests: pl.DataFrame, keys: Sequence[str], fdr: float) -> tuple[list[str], bool]:
    """The questions of a candidate that regressed, and whether its trials can name a single one."""
    names = [" / ".join(map(str, row)) for row in tests.filter("regressed").select(keys).rows()]
    # Of the questions that can have the smallest p of all, one must be able to have it alone.
    surest = tests.filter(pl.col("pvalue_min") == pl.col("pvalue_min").min())["pvalue_min"]
    return names, bool(names) or bool(surest.sum() <= fdr)
