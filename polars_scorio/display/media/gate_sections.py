"""Sections of a gate: the differences, and a map of the questions that changed."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape

import numpy as np
import polars as pl

from polars_scorio.arguments import known_text, value_text
from polars_scorio.counting.log import Study, collected_together
from polars_scorio.counting.roles import Category
from polars_scorio.decisions.gate import gate
from polars_scorio.decisions.regressed_questions import regressed_questions
from polars_scorio.display.facts.log_summary import LogSummary
from polars_scorio.display.facts.scopes import (
    Scope,
    average_metric,
    common_questions,
    holds_fractions,
    knows_success,
)
from polars_scorio.display.finding import (
    Finding,
    Unit,
    gap_unit,
    gate_row_words,
    gate_rows,
    gates_title,
    html_text,
    named,
    names_list,
    worst_gate,
)
from polars_scorio.display.media.marks import (
    Axis,
    box,
    group,
    held_at,
    interval,
    picture,
    text,
    upright,
)
from polars_scorio.display.media.page import Section
from polars_scorio.display.media.sections import (
    QuestionFacts,
    strip_rows,
    whole_name,
    without_stratum,
)
from polars_scorio.display.sentences import broken_words
from polars_scorio.display.settings import Settings
from polars_scorio.display.table import FrameColumn, Table
from polars_scorio.display.words.phrases import count_of, short_name, visible_text
from polars_scorio.metrics.metric import Metric
from polars_scorio.study.errored import BOUNDED
from polars_scorio.study.report import chosen_overall, report

_FDR = 0.1  # false discovery rate of single questions


@dataclass(frozen=True, slots=True, eq=False)
class Gated:
    """A gate: its rows with a stratum (null: all together), and the questions that changed."""

    baseline: str
    rows: pl.DataFrame  # stratum, model, diff, lo, hi, margin, verdict, extra, ...
    changes: dict[str, pl.DataFrame]  # "broken", "repaired": tests of all questions, or nothing
    scores: dict[str, float]  # of each model over all strata
    metric: str  # as people write it
    confidence: float
    unit: Unit
    lower: bool  # lower scores are better
    lead: Metric
    whole: str = "all questions"  # what the row over all strata is about

    @classmethod
    def from_log(
        cls, summary: LogSummary, main: Scope, baseline: Category, settings: Settings,
        margin: float, gates: pl.DataFrame | None = None,
    ) -> Gated:  # fmt: skip
        """The models of a log against the baseline, or the rows that a gate has already."""
        name = visible_text(str(baseline))
        if name not in main.models:
            known = known_text(name, sorted(main.models))
            raise ValueError(f"baseline: no model {value_text(baseline)}; there are {known}")
        metric = main.lead
        if metric.headline != "estimate" or (metric.k[0] or 1) > main.fewest:  # a gate refuses it
            metric = average_metric(metric)
        steps = summary.steps is not None or main.name
        log, roles = (
            (main.study, main.roles) if steps else (Study(common_questions(summary)), summary.roles)
        )
        failed, roles = roles, replace(roles, missing=BOUNDED) if main.errored else roles
        options = replace(settings, prior=None).report  # a gate takes no prior
        overall = chosen_overall(settings.overall, summary.trials) if roles.by else None
        asked = gate(log, roles, name, metric, margin=margin, overall=overall, **options)
        asked = asked if gates is None else gates.lazy()
        plans = [asked, report(log, roles, [metric], overall=overall, **options)]
        fractions = holds_fractions(main.counts, main.roles)
        if main.errored:  # differences and scores are drawn as if errored trials had failed
            plans += [
                gate(log, failed, name, metric, margin=margin, overall=overall, **options),
                report(log, failed, [metric], overall=overall, **options),
            ]
        elif not (main.judged or fractions) and knows_success(main.counts, main.roles):
            plans += [
                regressed_questions(main.study, main.roles, name, fdr=_FDR, improvements=better)
                for better in (False, True)
            ]
        rows, scores, *changes = collected_together(plans)
        lower = main.roles.lower_is_better
        turned = gate_rows(rows, lower_is_better=lower)
        if main.errored:
            as_failed, scores = changes
            drawn = gate_rows(as_failed, lower_is_better=lower)
            keys, changes = ["stratum", "model", "k"], []
            turned = turned.drop("diff").join(
                drawn.select(*keys, "diff"), on=keys, how="left", nulls_equal=True,
                maintain_order="left",
            )  # fmt: skip
        tests = dict(zip(("broken", "repaired"), changes, strict=False))
        label = metric.heading(metric.row_sizes[0], main.each)
        gated = cls.read(turned, scores, tests, name, label, settings, metric, lower=lower)
        return replace(gated, whole=main.overall_basis() or gated.whole)

    @classmethod
    def read(
        cls, rows: pl.DataFrame, scores: pl.DataFrame, changes: dict[str, pl.DataFrame],
        baseline: str, label: str, settings: Settings, metric: Metric, *, lower: bool,
    ) -> Gated:  # fmt: skip
        """From the rows of `gate_rows` and of a report with the same overall mean."""
        parts = [
            name for name in scores.columns[: scores.columns.index("metric")] if name != "model"
        ]
        of_all = scores.filter(*(pl.col(name).is_null() for name in parts))
        known = dict(of_all.select(pl.col("model").cast(pl.String), "mu").rows())
        unit = replace(gap_unit(metric, rows), edge=as_number(worst_gate(rows)["margin"]))
        return cls(baseline, rows, changes, known, label, settings.confidence, unit, lower, metric)

    @property
    def worst(self) -> dict[str, object]:
        """The row over all strata of the candidate with the worst verdict."""
        return worst_gate(self.rows)

    def lines(self) -> list[tuple[str, dict[str, object]]]:
        """The rows of the picture: each candidate, and the strata of a single one."""
        whole = self.rows.filter(pl.col("stratum").is_null()).sort("diff").rows(named=True)
        if len(whole) > 1:
            return [(str(row["model"]), row) for row in whole]
        parts = self.rows.filter(pl.col("stratum").is_not_null()).sort("diff").rows(named=True)
        return [(self.whole, whole[0]), *((str(row["stratum"]), row) for row in parts)]

    def regressed(self, kind: str, model: object) -> pl.DataFrame:
        """The questions of a candidate that surely became worse ("broken") or better."""
        rows = self.changes.get(kind)
        if rows is None:
            return pl.DataFrame()
        regressions = rows.filter(
            pl.col("model").cast(pl.String) == model, pl.col("qvalue") <= _FDR
        )
        return regressions.sort("qvalue", "question")

    def said_of_cases(self, row: dict[str, object]) -> list[str]:
        """Findings of `fail_on` and `must_pass` about a candidate."""
        sentences = []
        if "regressed" in row and row["regressed"] is not None:
            worse, unclear = (row[name] or [] for name in ("regressed", "unclear"))
            sentences.append(f"Single questions: {len(worse):,} regressed"  # type: ignore[arg-type]
                        + f"; of {len(unclear):,} it is unclear" * bool(unclear)  # type: ignore[arg-type]
                        + (", which fails the gate." if worse else "."))  # fmt: skip
        if "not_passed" in row and row["not_passed"] is not None:
            names = [*map(str, row["not_passed"])]  # type: ignore[call-overload]
            sentences.append(f"Must pass: {names_list(names, 5)} failed a trial." if names
                        else "Must pass: every trial of them did.")  # fmt: skip
        return sentences

    def changed(self) -> pl.DataFrame:
        """The questions of all candidates that changed more than chance explains."""
        words = {"broken": "became worse", "repaired": "became better"}
        changed = [
            rows.filter(pl.col("qvalue") <= _FDR)
            .sort("qvalue", "model", "question")
            .select(pl.lit(words[kind]).alias("change"),
                    pl.col("model", "question").cast(pl.String), "rate_baseline", "rate", "qvalue")
            for kind, rows in self.changes.items()
        ]  # fmt: skip
        return pl.concat(changed) if changed else pl.DataFrame()


def gate_finding(gated: Gated, basis: Sequence[str]) -> Finding:
    """Title from the ends; where strata decide against them, the strata."""
    row, unit = gated.worst, gated.unit
    title, chip, mood = gates_title(gated.rows, unit)
    new, old = str(row["model"]), gated.baseline
    lo, hi = (as_number(row[name]) for name in ("lo", "hi"))
    gap = f"{unit.gap(as_number(row['diff']), points=True)} {unit.gaps(lo, hi)}."
    numbers = f"{unit.score(gated.scores[new])} against {unit.score(gated.scores[old])}: {gap}"
    broke, fixed = (gated.regressed(kind, new) for kind in ("broken", "repaired"))
    aside = "No single question broke beyond chance." if gated.changes else ""
    if broke.height:
        aside = f"{count_of(broke.height, 'question')} broke beyond chance"
        where = broke["question"].cast(pl.String).str.extract(r"^(.*?) / ").drop_nulls()
        if where.len() and gated.rows["stratum"].n_unique() > 1:
            most = where.mode().sort()[0]
            aside += f", {int((where == most).sum()):,} of them in {named(most)}"
        were = "was" if fixed.height == 1 else "were"
        aside += f"; {fixed.height:,} {were} fixed."
    return Finding(title, chip, mood, numbers, aside, tuple(basis))


def as_number(value: object) -> float:
    """A cell of a frame, NaN where it is null."""
    return math.nan if value is None else float(value)  # type: ignore[arg-type]  # numbers of a frame


def gate_hue(verdict: object) -> str:
    """Colour of a verdict."""
    return {"fail": "b", "pass": "a"}.get(str(verdict), "m")


def gate_hero(gated: Gated) -> str:
    """The differences over three zones: beyond the margin, allowed, better."""
    lines, unit = gated.lines(), gated.unit
    margins = {as_number(row["margin"]) for _, row in lines}
    margin, lower = max(margins), gated.lower
    ends = [as_number(row[end]) for _, row in lines for end in ("lo", "hi", "diff")]
    axis = Axis.spanning([-margin, 0, margin, *ends], 0.06)
    rows = "".join(_gate_row(label, row, axis, gated, 5.5 if place else 7)
                   for place, (label, row) in enumerate(lines))  # fmt: skip
    allowed = unit.margin(margin).removesuffix(" points").removesuffix(" point")
    edge, worst, best = axis(margin if lower else -margin), 100 * lower, 100 * (not lower)
    top, one = "", margin and len(margins) == 1
    if one and abs(edge - worst) > 30:
        top = text(worst, 14, f"worse by more than {allowed}", held_at(worst))
    elif one and abs(axis(0) - edge) > 8:
        sign = "+" if lower else "\N{MINUS SIGN}"
        top = text(edge, 14, f"{sign}{allowed}", held_at(edge, 4))
    top += text(axis(0), 14, "0", "mid i w") + text(best, 14, "better", held_at(best))
    level_words = f"{100 * gated.confidence:g} %, one-sided"
    head = "points" if unit.percent else "difference"
    adjusted = " The parts are adjusted for each other (Holm)." * (
        gated.rows["stratum"].n_unique() > 1
    )
    return (
        '<table class="lb gt"><caption class="away">Differences</caption><thead><tr>'
        '<th class="nm"><span class="away">part</span></th><th class="fp"><span class="away">'
        f'interval</span>{picture(20, top, "", "p axis")}</th><th class="sc">{head}</th>'
        f'<th class="iv">{level_words}</th><th class="pb">verdict</th></tr></thead><tbody>{rows}'
        '</tbody></table><p class="note">The gate fails where the whole interval lies in the '
        f"orange zone, and passes where none of it does.{adjusted}</p>"
    )


def _gate_row(label: str, row: dict[str, object], axis: Axis, gated: Gated, r: float) -> str:
    """A difference over the zones of its margin; the first row has a dot of 7 pixels."""
    lo, diff, hi, margin = (as_number(row[name]) for name in ("lo", "diff", "hi", "margin"))
    unit, height = gated.unit, 46
    edges = [0, axis(-margin), axis(0), 100]
    if gated.lower:
        edges = [100, axis(margin), axis(0), 0]
    zones = "".join(
        box(min(pair), max(pair), 0, height, kind)
        for pair, kind in zip(itertools.pairwise(edges), ("zb", "zm", "za"), strict=True)
    )
    zones += upright(axis(0), 0, height, "z")
    hue, words = gate_hue(row["side"]), gate_row_words(gated.rows, row, unit)
    drawn = zones + group(hue, interval(axis, lo, diff, hi, height / 2, "ci", r))
    said = f"{label}: {unit.gap(diff, points=True)} {unit.gaps(lo, hi)}, {words}"
    bold = ("<b>", "</b>") if row["side"] != "undecided" else ("", "")
    name = f"<b>{whole_name(label)}</b>" if r > 6 else whole_name(label)
    ends = unit.gaps(lo, hi) if math.isfinite(lo + hi) else ""
    return (
        f'<tr class="{hue}"><th scope="row" class="nm">{name}</th><td class="fp">'
        f'{picture(height, drawn, said)}</td><td class="sc">{unit.gap(diff)}</td>'
        f'<td class="iv">{html_text(ends)}</td><td class="pb">{bold[0]}{html_text(words)}{bold[1]}'
        "</td></tr>"
    )


def cases_section(gated: Gated, facts: QuestionFacts, models: Sequence[str]) -> Section:
    """A map of the questions under baseline and candidate: broken, flaky, the same, fixed."""
    row = gated.worst
    new, old = str(row["model"]), gated.baseline
    if not gated.changes:
        return Section("cases", "", [])
    broke, fixed = (gated.regressed(kind, new) for kind in ("broken", "repaired"))
    down = broke["question"].cast(pl.String).to_list() if broke.height else []
    up = fixed["question"].cast(pl.String).to_list() if fixed.height else []
    before, after = (facts.scores[[*models].index(name)] for name in (old, new))
    mixed = [0 < a < 1 or 0 < b < 1 for a, b in zip(before, after, strict=True)]
    kind = np.array([0 if name in {*down} else 3 if name in {*up} else 1 if flaky else 2
                     for name, flaky in zip(facts.names, mixed, strict=True)])  # fmt: skip
    order = np.lexsort((before, after - before, kind))
    strips = strip_rows(np.stack([before, after])[:, order], 30, [f"{old}, before", f"{new}, now"])
    cells = "".join(
        f'<span class="in" title="{escape(name)}"><bdi>{escape(short_name(name, 28))}</bdi></span>'
        + strip
        for name, strip in zip((old, new), strips, strict=True)
    )
    marks, key = _case_marks(np.bincount(kind, minlength=4).tolist())
    word = facts.word
    lists = _case_list(f"Broke: {word} trials before and after", broke)
    lists += _case_list("Fixed", fixed)
    were = "was" if len(up) == 1 else "were"
    title = f"{count_of(len(down), 'question')} broke; {len(up):,} {were} fixed."
    words = [
        (
            f"Every question, the largest loss on the left. Full colour: {word} in all trials. A "
            f"question “broke” if its own test says so ({100 * _FDR:g} % false discoveries), and "
            f"is flaky if a version has it {word} in some trials, not in all."
        )
    ]
    chance = row["pvalue_broken"]
    if chance is not None and (as_number(chance) < 0.05 or not down):
        words.append(f"{broken_words(row, lower_is_better=gated.lower)}.")
    words += gated.said_of_cases(row)
    figure = f'<div class="strip">{cells}<span></span><div>{marks}{key}</div></div>{lists}'
    return Section("cases", title if down or up else "No question broke.", words, figure)


_CASES = (("fb", "broke"), ("part", "flaky"), ("open", "the same"), ("fa", "fixed"))


def _case_marks(counts: Sequence[int]) -> tuple[str, str]:
    """A bar below the map with a part for each kind of question, and its key."""
    marks, key, at = "", "", 0.0
    for number, (kind, words) in zip(counts, _CASES, strict=True):
        wide = 100 * number / sum(counts)
        marks += box(at, at + wide, 4, 5, kind) * bool(number)
        swatch = f'<svg class="sw" aria-hidden="true">{box(0, 100, 0, 10, kind)}</svg>'
        key += f"<span>{swatch}<b>{number:,}</b> {words}</span>"
        at += wide
    said = ", ".join(f"{number} {words}" for number, (_, words) in zip(counts, _CASES, strict=True))
    return picture(14, marks, said), f'<div class="key">{key}</div>'


def _case_list(head: str, rows: pl.DataFrame, most: int = 24) -> str:
    if rows.is_empty():
        return ""
    items = "".join(
        f"<li><code>{escape(short_name(without_stratum(question)))}</code> "
        f"{_right_of(before, n)} → {_right_of(now, m)}</li>"
        for question, before, now, n, m in rows.head(most)
        .select("question", "rate_baseline", "rate", "trials_baseline", "trials")
        .rows()
    )
    rest = rows.height - most
    note = f'<p class="note">{rest:,} more are in the data.</p>' * (rest > 0)
    return f'<h3 class="h3">{head}</h3><ul class="cases">{items}</ul>{note}'


def _right_of(rate: float, trials: int) -> str:
    return f"{round(rate * trials)}/{trials}"


def next_of_gate(gated: Gated) -> list[str]:
    """Ship, do not, or run more."""
    row, unit = gated.worst, gated.unit
    verdict, new = str(row["verdict"]), str(row["model"])
    margin = unit.margin(as_number(row["margin"]))
    broke = gated.regressed("broken", new)
    if verdict == "fail":
        first_look = ""
        if broke.height:
            first = names_list(
                [without_stratum(name) for name in broke["question"].cast(pl.String)[:3]]
            )
            first_look = f" Look at {first} first: right before, wrong now."
            if gated.lower:
                first_look = f" Look at {first} first: rare before, frequent now."
        steps = [f"Do not ship.{first_look}"]
    elif verdict == "pass":
        lo = as_number(row["least"])
        steps = [f"Ship. {named(new)} is better by at least {unit.size(lo)}." if lo > 0
                else f"Ship. The loss, if any, is below {margin}."]  # fmt: skip
    else:
        extra = row["extra"]
        unit_of = "question" if "extra_questions" in gated.rows.columns else "trial"
        each = " of each question" * (unit_of == "trial")
        steps = ["Run more. No number of further trials is in sight that would decide it."]
        if extra:
            further = count_of(int(extra), f"further {unit_of}")  # type: ignore[call-overload]
            steps = [f"Run more. {further}{each} would decide it with a chance of 80 %."]
    parts = gated.rows.filter(pl.col("stratum").is_not_null(), pl.col("verdict") == "undecided")
    opens = [
        named(part) + f" ({count_of(extra, 'further trial')} of each question)" * bool(extra)
        for part, extra in parts.select("stratum", pl.col("extra").fill_null(0)).rows()
    ]
    return steps + [f"Open: {'; '.join(opens[:5])}."] * bool(opens)


def plain_lines(gated: Gated) -> Table:
    """The rows of a gate for Markdown."""
    unit, lines = gated.unit, gated.lines()
    cells = [f"{unit.gap(as_number(r['diff']))} {unit.gaps(as_number(r['lo']), as_number(r['hi']))}"
             for _, r in lines]  # fmt: skip
    return Table([
        FrameColumn("part", [short_name(label) for label, _ in lines], right=False, names=True),
        FrameColumn("points" if unit.percent else "difference", cells),
        FrameColumn("verdict", [gate_row_words(gated.rows, row, unit) for _, row in lines],
                    right=False, names=True),
    ])  # fmt: skip
