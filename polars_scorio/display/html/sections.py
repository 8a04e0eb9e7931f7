"""Sections of the page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from polars_scorio.arguments import known_text, value_text
from polars_scorio.counting.log import Trials, bind_roles
from polars_scorio.counting.roles import Category, Roles
from polars_scorio.decisions.compare import compare
from polars_scorio.decisions.frontier import frontier
from polars_scorio.decisions.gate import gate
from polars_scorio.decisions.question_analysis import FALSE_DISCOVERIES, question_analysis
from polars_scorio.decisions.regressed_questions import regressed_questions
from polars_scorio.display.chart_data import curve_sizes, model_label, stratum_label
from polars_scorio.display.html import page_pictures
from polars_scorio.display.html import page_tables as tables
from polars_scorio.display.html.page import Section
from polars_scorio.display.html.page_pictures import Figure, page_figure
from polars_scorio.display.html.page_tables import name_column
from polars_scorio.display.log_summary import LogSummary, metric_label
from polars_scorio.display.plots import Plots
from polars_scorio.display.scopes import (
    POWER,
    Scope,
    average_metric,
    holds_fractions,
    knows_success,
)
from polars_scorio.display.sentences import (
    curve_sentence,
    question_sentences,
    reversed_sentence,
)
from polars_scorio.display.settings import Settings
from polars_scorio.display.table import Column, Table
from polars_scorio.display.verdict import (
    LogVerdict,
    lead_label,
    lead_rows,
    pair_gap,
    points_text,
    scale_of,
    selected_words,
    stepped_log,
)
from polars_scorio.display.words import (
    MISSING,
    Scale,
    chance_text,
    count_of,
    judge_words,
    labels_of,
    probability_text,
    range_text,
    short_name,
    visible_text,
)
from polars_scorio.metrics.costs import cost_per_success, mean_cost
from polars_scorio.metrics.metric import Metric
from polars_scorio.metrics.success import pass_at_k
from polars_scorio.study.report import report
from polars_scorio.subjects.cell_numbers import JUDGED

_MATRIX = 25  # models, whose pairs a table can show
_PAIRED = 60  # models, all of whose pairs the page holds; of more only those with the first one
_SAME = 1e-9  # scores that differ by less are the same


def pair_section(main: Scope, settings: Settings) -> Section:
    """Section on the first model against the second one, and on all pairs."""
    first, second, *_ = main.models
    undecided = main.pairs["better"].null_count()
    at_once = "" if main.pairs.height == 1 else ", for all pairs at once"
    lines = [
        (
            f"{undecided:,} of {count_of(main.pairs.height, 'pair')} undecided at {settings.level} "
            f"confidence{at_once}."
        )
    ]
    shown = {"": _versus_table(main, first, second)}
    if 2 < len(main.models) <= _MATRIX:  # two have one pair
        shown["Every model against every other"] = _matrix_table(main)
    return Section("compare", "Compare two models", lines, tables=shown)


def page_pairs(scope: Scope) -> pl.DataFrame:
    """The pairs of a page, with the questions that each side wins.

    Of more than 60 models only the pairs of the first one: the file would grow with the square.
    """
    columns = ("model_a", "model_b", "diff", "lo", "hi", "prob_better", "better")
    pairs = scope.pairs.select(columns)
    if len(scope.models) > _PAIRED:
        first = scope.models[0]
        pairs = pairs.filter(pl.any_horizontal(pl.col("model_a", "model_b") == first))
    return _with_wins(scope, pairs)


def _with_wins(scope: Scope, pairs: pl.DataFrame) -> pl.DataFrame:
    """The pairs, with the number of questions that the first model wins, loses and ties."""
    wide = scope.of_verdicts().question_scores().pivot("model", index="question", values="score")
    scores = {name: wide[name].to_numpy() for name in wide.columns if name != "question"}
    gaps = [scores[a] - scores[b] for a, b in pairs.select("model_a", "model_b").rows()]
    won, lost = ([int((sign * gap > _SAME).sum()) for gap in gaps] for sign in (1, -1))
    both = pairs.with_columns(
        wins=pl.Series(won, dtype=pl.Int64), losses=pl.Series(lost, dtype=pl.Int64)
    )
    return both.with_columns(ties=wide.height - pl.col("wins") - pl.col("losses"))


def _versus_table(scope: Scope, first: str, second: str) -> Table:
    """Table of difference, probability, questions won, and what would decide the pair."""
    gap = pair_gap(scope, first, second)
    pair = _with_wins(scope, pl.DataFrame({"model_a": [first], "model_b": [second]}))
    facts = {
        "difference": gap.words(scope),
        "verdict": f"{short_name(gap.better)} is better" if gap.better else "undecided",
        f"P({short_name(first)} is better)": probability_text(gap.prob_better),
        "questions won, tied, lost": "{wins:,}, {ties:,}, {losses:,}".format(
            **pair.row(0, named=True)
        ),
    }
    if gap.better is None and not scope.judged:
        facts["what would decide it"] = _deciding_words(scope, first, second)
    title = f"{short_name(first)} against {short_name(second)}"
    return Table(
        [
            Column(lead_label(scope), [*facts], right=False, names=True),
            Column(title, [*facts.values()], right=False),
        ],
        caption=title,
        kind="versus",
    )


def _deciding_words(scope: Scope, first: str, second: str) -> str:
    """Sentence on the trials or questions that would decide a pair, if the plan has it."""
    if scope.needed.is_empty():
        return MISSING
    either = pl.col("model_a", "model_b").is_in([first, second])
    for row in scope.needed.filter(pl.all_horizontal(either)).iter_rows(named=True):
        if row["extra_trials"] is not None:
            more = count_of(row["extra_trials"], "further trial")
            return f"{more} of each question, with a probability of {100 * POWER:g} %"
        if row.get("extra_questions") is None:
            return "no number of trials"
        return f"no number of trials; {count_of(row['extra_questions'], 'further question')} may"
    return MISSING


def _matrix_table(scope: Scope) -> Table:
    """Probability that the model of a row is better than that of a column."""
    known = {}
    for a, b, value, better in scope.pairs.select(
        "model_a", "model_b", "prob_better", "better"
    ).rows():
        if value is not None:  # else a model without numbers
            known[a, b], known[b, a] = (value, better), (1 - value, better)
    models = scope.models
    columns = [name_column("better than", models)]
    for other in models:
        found = [known.get((name, other), (None, None)) for name in models]
        cells = [
            "" if prob_better is None else chance_text(prob_better) for prob_better, _ in found
        ]
        shades = [
            "self"
            if prob_better is None
            else f"p{min(int(10 * prob_better), 9)}" + " sure" * (better is not None)
            for prob_better, better in found
        ]
        columns.append(Column(short_name(other), cells, shades=shades))
    note = (
        "Probability that the model of the row is better than that of the column; bold: decided, "
        "for all pairs at once."
    )
    return Table(columns, note, "Every pair of models", "heat", folded="All pairs as a matrix")


_FDR = 0.1  # false discovery rate of single questions
_NAMED = 20  # questions of the table
_MARGINS = (
    "passes above: a gate passes with any margin above this number. fails below: it fails with any "
    "margin below this one; between both it is undecided. The gate is for one look, and for each "
    "model by itself."
)
_BROKEN = (
    "broken: mostly right under the baseline, mostly wrong now; repaired: the reverse. by chance: "
    "so many on average if nothing changed; p: the chance of so many or more."
)
_KINDS = {"broken": "became worse", "repaired": "became better"}


@dataclass(frozen=True, slots=True, eq=False)
class BaselineRows:
    """The models of a page against a baseline.

    `changes` has the tests of all questions, "broken" and "repaired"; empty if success is not
    known.
    """

    baseline: str
    metric: Metric  # the leading one, or its average if that is biased
    gates: pl.DataFrame  # a row per other model: `Scorio.gate` at margin 0
    changes: dict[str, pl.DataFrame]

    @property
    def changed(self) -> pl.DataFrame:
        """The questions that became worse or better than chance explains: change, model, ..."""
        columns = ["model", "question", "rate_baseline", "rate", "qvalue"]
        named = [
            rows.filter(pl.col("qvalue") <= _FDR)
            .sort("qvalue", "model", "question")
            .select(pl.lit(_KINDS[kind]).alias("change"), pl.col(columns[:2]).cast(pl.String),
                    *columns[2:])
            for kind, rows in self.changes.items()
        ]  # fmt: skip
        return pl.concat(named) if named else pl.DataFrame()


def baseline_rows(scope: Scope, baseline: Category, settings: Settings) -> BaselineRows:
    """The models of a scope against the baseline, which must exist and have a rival."""
    name = visible_text(str(baseline))
    if name not in scope.models:
        known = known_text(name, sorted(scope.models))
        raise ValueError(f"baseline: no model {value_text(baseline)}; there are {known}")
    log, metric, (k,) = scope.study, scope.lead, scope.lead.k
    if metric.headline != "estimate" or (k or 1) > scope.fewest:  # a gate would refuse it
        metric = average_metric(metric)
    plans = [
        gate(log, scope.roles, name, metric, margin=0.0, confidence=settings.confidence,
             target=settings.target, planned_trials=settings.planned_trials,
             planned_questions=settings.planned_questions),
    ]  # fmt: skip
    fractions = holds_fractions(scope.counts, scope.roles)
    if not (scope.judged or fractions) and knows_success(scope.counts, scope.roles):
        plans += [
            regressed_questions(log, scope.roles, name, fdr=_FDR, improvements=improvements)
            for improvements in (False, True)
        ]
    gates, *changes = pl.collect_all(plans)
    return BaselineRows(name, metric, gates, dict(zip(_KINDS, changes, strict=False)))


def baseline_section(against: BaselineRows, scope: Scope, settings: Settings) -> Section:
    """Section on margins, and on questions that broke or were repaired."""
    level = f"one-sided {settings.level} confidence each"
    label = metric_label(against.metric, against.metric.row_sizes[0], scope.each)
    name = short_name(against.baseline)
    lines = [f"{label} of each model minus that of {name}; ends at {level}."]
    lines += [_MARGINS, *[_BROKEN] * bool(against.changes)]
    shown = {"": _margin_table(against, scope, label)}
    changed = against.changed
    if changed.height:
        shown["Questions that changed more than chance explains"] = _question_table(changed)
    title = f"What changed since {name}?"
    return Section("baseline", title, lines, tables=shown)


def _margin_table(against: BaselineRows, scope: Scope, label: str) -> Table:
    """A row for each other model, in the order of the leaderboard."""
    order = {name: place for place, name in enumerate(scope.models)}
    places = pl.col("model").cast(pl.String).replace_strict(order, return_dtype=pl.Int64)
    gates = against.gates.sort(places)
    models = gates["model"].cast(pl.String).to_list()
    scale = scale_of(lead_rows(scope))
    gaps = [scale.cell(*row) for row in gates.select("diff", "lo", "hi").iter_rows()]
    margins = {"passes above": (gates["lo"], "any"), "fails below": (gates["hi"], "none")}
    unit = " (points)" if scale.percent else ""
    columns = [
        name_column("model", models),
        Column(f"difference{unit}", gaps),
        *(
            Column(head, [_margin_text(scope, end, better) for end in ends])
            for head, (ends, better) in margins.items()
        ),
    ]
    for kind, rows in against.changes.items():
        columns.append(Column(kind, [_change_text(rows, name) for name in models]))
    caption = f"{label} of each model against {against.baseline}"
    return Table(columns, caption=caption, kind="cards")


def _margin_text(scope: Scope, end: float | None, better: str) -> str:
    """The margin at an end of a difference, or a word if that end is not worse."""
    if end is None:
        return "unknown"
    return better if end > 0 else points_text(scope, -end)


def _change_text(rows: pl.DataFrame, model: str) -> str:
    """How many questions of a model broke, with what chance breaks."""
    own = rows.filter(pl.col("model").cast(pl.String) == model)
    p = probability_text(own["pvalue_broken"][0])
    return f"{own['broken'].sum():,} (by chance {own['broken_by_chance'].sum():.1f}; p {p})"


def _question_table(changed: pl.DataFrame) -> Table:
    """The surest changes of single questions."""
    rows = changed.head(_NAMED)
    percent = {"baseline (%)": "rate_baseline", "now (%)": "rate"}
    columns = [
        name_column("question", rows["question"]),
        Column("model", [*map(short_name, rows["model"])], right=False),
        Column("change", rows["change"].to_list(), right=False),
        *(
            Column(head, [f"{100 * rate:.0f}" for rate in rows[name]])
            for head, name in percent.items()
        ),
        Column("q", [*map(probability_text, rows["qvalue"])]),
    ]
    rest = changed.height - _NAMED
    more = f"{count_of(rest, 'more question')}: see the data. " if rest > 0 else ""
    note = f"{more}q: adjusted for all questions of the model; those up to {_FDR:g} are named."
    return Table(columns, note, kind="cards")


_CURVES = 3  # metrics with a picture along the steps, the leading one first


def steps_section(look: LogSummary, verdict: LogVerdict, settings: Settings) -> Section:
    """Section on the curves along the steps, and on the best step of each line.

    The verdict is about the last step.
    """
    (name,) = look.trials.strata
    log, roles = stepped_log(look)
    main = verdict.main
    about = (
        f"{lead_label(main)} along {name}. The numbers of the other sections are those of the last "
        "one: a mean over all of them would have no meaning."
    )
    metrics = [metric.at_first_row() for metric in main.metrics[:_CURVES]]
    figures = page_pictures.step_figures(log, roles, name, metrics, settings)
    lines = [about, *verdict.best_steps]
    return Section("strata", f"How does it change with {name}?", lines, figures)


_RATIO = (
    "Cost per success: the mean cost of a trial over the success rate. No upper end (∞) holds if "
    "successes are so rare that their rate may be zero."
)
_WORTH = (
    "P(worth it): the chance that no other model is at least as good and at most as dear, if the "
    "questions are a sample."
)
_HEADS: dict[Metric, str] = {mean_cost(): "mean cost", cost_per_success(): "per success"}
_PANELS = 12  # strata of a picture
_WIDTH, _PANEL_WIDTH = 480, 240  # pixels


def cost_section(
    frame: pl.LazyFrame, roles: Roles, settings: Settings, asked: Sequence[Metric] = ()
) -> Section | None:
    """Section on what the trials of a log cost, with `asked` metrics; None without costs of trials.

    Costs are read from the trials, in passes of their own: the counts of a page have none.
    """
    judged = roles.truth is not None or roles.judge is not None
    if not asked and (roles.cost is None or judged):
        return None
    trials = bind_roles(frame, roles)
    metrics = list(dict.fromkeys([*_HEADS, *asked]))
    numbers = report(frame, roles, metrics, target=settings.target, confidence=settings.confidence)
    plans = [numbers]
    if trials.model is not None:
        plans.append(frontier(frame, roles, confidence=settings.confidence, unmatched="drop"))
    rows, *worth = pl.collect_all(plans, engine="streaming")
    lines = [_RATIO, *[_WORTH] * len(worth)]
    shown = {"": _cost_table(rows, metrics, worth, trials)}
    figures = _frontier_figures(frame, roles, settings, worth)
    return Section("cost", "What does a success cost?", lines, figures, shown)


def _frontier_figures(
    frame: pl.LazyFrame, roles: Roles, settings: Settings, worth: list[pl.DataFrame]
) -> list[Figure]:
    """Scores of several models against their costs, if all strata fit into one picture."""
    trials = bind_roles(frame, roles)
    of_strata = [each.select(stratum_label(trials)).to_series() for each in worth]
    if not any(len(each) > each.n_unique() and each.n_unique() <= _PANELS for each in of_strata):
        return []
    chart = Plots(frame, roles).frontier(
        confidence=settings.confidence,
        unmatched="drop",
        width=_PANEL_WIDTH if trials.by else _WIDTH,
    )
    return [page_figure(chart)]


def _cost_table(
    rows: pl.DataFrame, metrics: Sequence[Metric], worth: list[pl.DataFrame], trials: Trials
) -> Table:
    """A row for each stratum and model."""
    keys = [stratum_label(trials), model_label(trials)]
    own = [*trials.keys]
    costs = rows.filter(metric=mean_cost().name)
    named = costs.select(keys)
    columns = [Column("model", [*map(visible_text, named["model"])], right=False)]
    if trials.by:
        columns.insert(0, Column("stratum", [*map(visible_text, named["stratum"])], right=False))
    for metric in metrics:
        for k in metric.row_sizes:
            found = rows.filter(pl.col("k").eq_missing(pl.lit(k, pl.Int64)), metric=metric.name)
            head = _HEADS.get(metric) or metric.heading(k)
            columns.append(Column(head, _interval_texts(found)))
    columns.append(Column("never solved", [f"{share:.0%}" for share in costs["unsolved"]]))
    if worth:
        chance = costs.select(own).join(worth[0], on=own, how="left", maintain_order="left")
        columns.append(Column("P(worth it)", [*map(probability_text, chance["prob_on_frontier"])]))
    return Table(columns, kind="cards")


def _interval_texts(rows: pl.DataFrame) -> list[str]:
    """Estimates with their intervals."""
    found = []
    for estimate, lo, hi, unbounded in rows.select("estimate", "lo", "hi", "unbounded").iter_rows():
        ends = MISSING if lo is None else f"[{lo:.3g}, {'∞' if unbounded else f'{hi:.3g}'}]"
        found.append(f"{'∞' if estimate is None else f'{estimate:.3g}'} {ends}")
    return found


_SEPARATED = 5  # models; among fewer many questions separate them perfectly by chance


def questions_section(main: Scope, settings: Settings) -> Section:
    """Section on the questions that all models of a log, or of its first stratum, have."""
    judged, main = main.judged, main.of_verdicts()
    w = average_metric(main.lead).w
    weights: Any = None if w is None else dict(w)  # words or numbers
    plan = question_analysis(main.study, main.roles, weights, confidence=settings.confidence)
    analysed = plan.collect()
    scale = Scale(percent=scale_of(lead_rows(main)).percent, digits=1)
    if holds_fractions(main.counts, main.roles):  # a reward above the least is hardly a solution
        reversals = reversed_sentence(analysed, "question", FALSE_DISCOVERIES)
        lines = ["By the mean reward of all models.", reversals]
    else:
        lines = question_sentences(analysed, "question", FALSE_DISCOVERIES)
    if judged:
        lines.insert(0, "By the verdicts of the judge as they are.")
    if len(main.models) == 1:  # nothing can be said of reversed questions
        lines.pop()
    shown = {}
    solved = analysed.filter(pl.col("status").is_not_null())  # never, or always
    decided = solved["question"].cast(pl.String).to_list()
    open_ones = main.per_question().filter(~pl.col("question").cast(pl.String).is_in(decided))
    if open_ones.height:
        one = len(main.models) == 1
        by_some = " that were solved at least once" if one else " that some model solved"
        words = by_some * ("never" in solved["status"])
        table = tables.hardest_questions(open_ones, scale, len(main.models))
        shown[f"The hardest questions{words}"] = table
    telling = analysed.filter(pl.col("discrimination") > 0)
    if telling.height and len(main.models) >= _SEPARATED:
        shown["The questions that separate the models best"] = tables.telling_questions(
            telling.sort(-pl.col("discrimination").round(12), -pl.col("rest_correlation")), scale
        )
    if analysed["reversed"].any():
        shown["Reversed questions"] = tables.reversed_questions(analysed.filter("reversed"), scale)
    figures = page_pictures.question_figures(main, settings)
    return Section("questions", "Which questions are hard?", lines, figures, shown)


_SMALLEST = 0.05  # points that are not rounded to none
_NO_DRAWS = "A question has a single trial, so that several trials cannot be drawn."
_WIDENING = (
    "Bands may widen where k comes close to the number of trials: of as many trials as are drawn, "
    "a question gives a single draw."
)
_PLAN = (
    "Neighbours in the ranking that are statistically indistinguishable, by the criterion of the "
    "verdict. After so many further trials of each question, by both models, the interval of their "
    f"difference excludes zero with a probability of {100 * POWER:g} %."
)
_QUESTIONS = (
    "Where no number of trials is enough, the last column has the number of further questions that "
    "would be, if the questions are a sample."
)
_DISTINGUISHED = "All neighbours in the ranking are distinguishable."
_COVERAGE = (
    "n_min and n_max: the fewest and the most trials of a question. missing: questions that other "
    "models of the stratum have and this one lacks. nulls: trials without an outcome."
)
_TOTALS = (
    " planned and reported: trials and score as the tool that wrote the log says them; recomputed: "
    "that score from these rows."
)
_BEST = (
    "P(best) is the probability that a model is the best of all. It takes into account that the "
    "leader of several owes part of its lead to luck, which the comparison of two models does not."
)
_HEAT = 40  # strata of a heat table
_ROWS = 100  # of the table of coverage


def page_sections(
    look: LogSummary,
    verdict: LogVerdict,
    coverage: pl.DataFrame,
    settings: Settings,
    against: BaselineRows | None = None,
) -> Iterator[Section]:
    """The sections of a log that can be reported; a section without content is left out."""
    overall, parts, main = verdict.overall, verdict.parts, verdict.main
    several = len(main.models) > 1 and main.ranks["rank"].is_not_null().any() and not main.biased
    yield _leaderboard_section(main, overall, parts, settings)
    if several:
        yield pair_section(main, settings)
    if against is not None:
        yield baseline_section(against, main, settings)
    if look.steps is not None:
        yield steps_section(look, verdict, settings)
    elif overall is not None and len(parts) > 1:
        yield _strata_section(overall, parts)
    rewards = holds_fractions(main.counts, main.roles)
    if rewards or knows_success(main.counts, main.roles, main.metrics):
        yield _curves_section(main, settings)
    yield questions_section(main, settings)
    if several and not main.judged:
        yield _needed_section(main)
    yield coverage_section(coverage, look.question_count)


def _leaderboard_section(
    main: Scope, overall: Scope | None, parts: Sequence[Scope], settings: Settings
) -> Section:
    lines = []
    if main.name:
        lines.append(f"At {main.name}.")
    elif parts and overall is not None:
        lines.append("All questions of all strata in one pool.")
    if len(main.models) > 1 and not main.biased:
        about_best = f" {_BEST}" * tables.shows_p_best(main)
        lines.append(
            f"Ranked by {lead_label(main)}. A range of ranks holds at {settings.level} confidence, "
            f"for all models at once.{about_best}"
        )
        lines += filter(None, [selected_words(main)])
    lines += judge_lines(main)
    colours = page_pictures.model_classes(main)
    shown = {}
    for scope in [overall] if overall is not None else parts[:_HEAT]:
        for table in tables.leaderboard_tables(scope, settings, colours):
            shown[table.folded or ("" if overall is not None else scope.name)] = table
    return Section("leaderboard", "Leaderboard", lines, tables=shown)


def _strata_section(overall: Scope, parts: Sequence[Scope]) -> Section:
    table = tables.strata_table(parts[:_HEAT], overall)
    rest = len(parts) - _HEAT
    lines = [f"{lead_label(overall)} of each model in each stratum."]
    lines += [f"The other {rest:,} strata are in the data at the end of the page."] * (rest > 0)
    return Section("strata", "Where do they differ?", lines, tables={"": table})


def judge_lines(main: Scope) -> list[str]:
    """Sentences on the correction of the errors of a judge; none if there is no judge."""
    if not main.judged:
        return []
    corrected = judge_words(main.roles, labels_of(main.rows))
    gaps = lead_rows(main).select(pl.col("estimate") - pl.col(JUDGED)).to_series().drop_nulls()
    most = 100 * max(map(abs, gaps), default=0.0)
    by = f"by up to {most:.1f} points" if most >= _SMALLEST else f"by less than {_SMALLEST} points"
    words = (
        f"Numbers are about the truth behind the verdicts of a judge, {corrected}. The correction "
        f"moves {lead_label(main)} {by}; what the labels leave open is in the intervals."
    )
    lines = [words]
    unknown = main.rows["estimate"].null_count()
    if unknown:
        lines.append(
            f"{count_of(unknown, 'number')} {'is' if unknown == 1 else 'are'} missing: fewer than "
            "5 trials of a verdict are labelled, the labels do not show that the judge is better "
            "than a coin, or the noise of the correction exceeds the range of the metric."
        )
    return lines


def _curves_section(main: Scope, settings: Settings) -> Section:
    figures = page_pictures.curve_figures(main, settings)
    told = [_curve_of_leaders(main, settings)] if figures and len(main.models) > 1 else []
    lines = [_WIDENING] * (main.fewest <= page_pictures.DRAWN) if figures else [_NO_DRAWS]
    return Section("curves", "What do more draws buy?", [*filter(None, told), *lines], figures)


def _curve_of_leaders(main: Scope, settings: Settings) -> str:
    """Sentence on Pass@k of the first two models at all k; empty if nobody knows a band."""
    if settings.prior is not None or main.judged or main.biased:
        return ""
    if holds_fractions(main.counts, main.roles):
        return ""
    metric = pass_at_k(curve_sizes(min(main.fewest, page_pictures.DRAWN)))
    several = len(main.models) > _MATRIX
    baseline = main.models[0] if several else None
    rows = compare(
        main.study, main.roles, metric, baseline=baseline, simultaneous=True, **settings.report
    ).collect()
    pair = rows.filter(pl.all_horizontal(pl.col("model_a", "model_b").is_in(main.models[:2])))
    shown = pair.drop("gain_to", "loss_from", strict=False)
    return f"Pass@k: {curve_sentence(shown, settings.confidence)}"


def _needed_section(main: Scope) -> Section:
    shown = {"": tables.trials_needed_table(main)} if main.needed.height else {}
    lines = [_PLAN if shown else _DISTINGUISHED]
    lines += [_QUESTIONS] * ("extra_questions" in main.needed.columns)
    title = "How many more trials would distinguish them?"
    return Section("trials", title, lines, tables=shown)


def coverage_section(coverage: pl.DataFrame, questions: int = 0, *, whole: bool = False) -> Section:
    """Section on the coverage of the log: a sentence if models are alike, rows for all others.

    `questions` counts the distinct ones, if there are strata; `whole` gives all models rows.
    """
    alike = _alike_rows(coverage)
    rest = coverage if whole or not alike.sum() else coverage.filter(~alike)
    lines = []
    if rest.height < coverage.height:
        usual = coverage.filter(alike).row(0, named=True)
        asked, each = usual["questions"], range_text(usual["n_min"], usual["n_max"])
        strata = coverage["stratum"].n_unique() if "stratum" in coverage.columns else 1
        subject = "" if coverage.height == strata else "All models are alike: "
        if rest.height:
            subject = f"{int(alike.sum()):,} of {coverage.height:,} rows are alike: "
        where = ""
        if strata > 1 and rest.is_empty():
            where = f"{f', {asked:,}' * (questions > asked)} in each of {strata:,} strata"
            asked = max(questions, asked)
        lines.append(
            f"{subject}{count_of(asked, 'question')} with {each} "
            f"trial{'' if usual['n_max'] == 1 else 's'} each{where}, none missing."
        )
    if rest.is_empty():
        return Section("coverage", "What is in the log?", lines)
    lines.append(_COVERAGE + (_TOTALS if "planned" in coverage.columns else ""))
    if rest.height > _ROWS:
        lines.append(f"The first {_ROWS} of {rest.height:,} rows; all are in the data below.")
    table = tables.coverage_table(rest.head(_ROWS))
    return Section("coverage", "What is in the log?", lines, tables={"": table})


def _alike_rows(coverage: pl.DataFrame) -> pl.Series:
    """Whether a row is as usual, with nothing missing; one row among others is not."""
    names = {"questions", "trials", "n_min", "n_max", "missing", "nulls"}
    if "planned" in coverage.columns or not names <= {*coverage.columns}:
        return pl.repeat(value=False, n=coverage.height, eager=True)
    columns = ["questions", "trials", "n_min", "n_max"]
    sound = (pl.col("missing") == 0) & (pl.col("nulls") == 0)
    if "duplicates" in coverage.columns:
        sound &= pl.col("duplicates").fill_null(0) == 0
    rows = coverage.select(sound.alias("sound"), shared=pl.concat_str(columns, separator=" "))
    usual = rows.filter("sound")["shared"].mode().sort()
    if usual.is_empty():
        return rows["sound"]
    alike = pl.col("sound") & (pl.col("shared") == usual[0])
    return rows.select(alike & ((alike.sum() > 1) | (pl.len() == 1))).to_series()
