"""The gate and its files."""

from __future__ import annotations

import json
import warnings
from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import polars as pl

from polars_scorio.accessors.frame import Scorio
from polars_scorio.command_line.answers import Reply, gate_lines
from polars_scorio.command_line.log_arguments import next_words
from polars_scorio.command_line.log_input import (
    chosen_settings,
    column_value,
    planned_numbers,
    read_log,
)
from polars_scorio.command_line.terminal import command_words, print_table
from polars_scorio.counting.log import bind_roles
from polars_scorio.counting.roles import Category
from polars_scorio.decisions.case_gate import case_ids, without_questions
from polars_scorio.display.finding import gate_rows, worst_gate
from polars_scorio.display.media.page import Page
from polars_scorio.display.media.write_page import Order, made_page
from polars_scorio.display.sentences import GateWords
from polars_scorio.display.table import FrameColumn, Table, cell_text, markdown_table
from polars_scorio.display.whole_files import refuse_missing_folder, write_whole
from polars_scorio.display.words.phrases import judge_words, visible_text
from polars_scorio.metrics.metric import Metric
from polars_scorio.metrics.weighted import avg
from polars_scorio.study.log_checks import NOTED, CheckWarning
from polars_scorio.study.request import Cases

# Columns of a gate that the sentences say, or that only a program reads.
_UNREAD = {
    *("sigma", "pvalue_pass", "pvalue_fail", "broken_by_chance", "pvalue_broken"),
    "case_verdict",
    *NOTED,
}
# Questions that versions do not share, in the words of an interval.
_SAMPLED = {"unpaired": "each version on questions of its own"}
_LEGEND = (
    "diff: the candidate minus the baseline, in units of the metric; lo, hi: its one-sided ends; "
    "extra_*: further trials of each question, or questions, that would probably decide."
)


@dataclass(frozen=True, slots=True)
class GateResult:
    """One metric of a gate."""

    metric: str
    rows: pl.DataFrame
    sentences: Sequence[str]  # one for each candidate and draw size, over all strata
    row_sentences: Sequence[str]  # one for each of the rows
    regressed: pl.DataFrame  # questions
    clauses: Mapping[tuple[str, int | None], Sequence[str]] = field(default_factory=dict)
    level: str = ""  # confidence of the verdicts, in words

    @property
    def alarm(self) -> bool:
        """Whether a test of the log has an alarm."""
        return bool(self.rows["alarm"].any())

    @property
    def note(self) -> str:
        """Sentences on what tests of the log found."""
        return str(self.rows["note"].first() or "")


def write_json(path: str, verdict: str, counted: str, results: Sequence[GateResult]) -> None:
    """Write everything as one JSON object: the verdict, as what it counts, and the rows."""
    gates = [
        {
            "metric": result.metric,
            "sentences": [*result.sentences],
            "rows": result.rows.to_dicts(),
            "regressed": result.regressed.to_dicts(),
        }
        for result in results
    ]
    content = {"verdict": verdict, "counts_as": counted, "results": gates}
    write_whole(Path(path), json.dumps(content, indent=2, default=str, ensure_ascii=False) + "\n")


_SUITE = "polars-scorio gate"


def write_junit(path: str, results: Sequence[GateResult], strata: Sequence[str], model: str,
                undecided: str | None, *, tested: bool) -> None:  # fmt: skip
    """Write a test case for each row: a failure, or an error if it is undecided, as the status is.

    With `undecided` a row that is undecided counts as "fail" or "pass"; if alarms fail the gate,
    the log is `tested` by a case of its own.
    """
    suite = ET.Element("testsuite", name=_SUITE)
    for result in results:
        for row, sentence in zip(result.rows.to_dicts(), result.row_sentences, strict=True):
            place = " ".join(str(row[name]) for name in strata if row[name] is not None) or "all"
            name = f"{row[model]}: {place}"
            size = "" if row["k"] is None else f", k={row['k']}"
            case = ET.SubElement(suite, "testcase", classname=f"{result.metric}{size}", name=name)
            verdict = undecided or "undecided" if row["verdict"] == "undecided" else row["verdict"]
            if verdict != "pass":
                kind = "failure" if verdict == "fail" else "error"
                ET.SubElement(case, kind, message=sentence)
    if tested:
        case = ET.SubElement(suite, "testcase", classname="check", name="tests of the log")
        if results[0].alarm:
            ET.SubElement(case, "failure", message=results[0].note)
    elif results[0].note:
        ET.SubElement(suite, "system-out").text = results[0].note
    _write_suite(path, suite)


def write_refusal(path: str, message: str) -> None:
    """Write one test case with an error: there is no gate, so that nothing failed."""
    suite = ET.Element("testsuite", name=_SUITE)
    case = ET.SubElement(suite, "testcase", classname="gate", name="can be judged")
    ET.SubElement(case, "error", message=message)
    _write_suite(path, suite)


def _write_suite(path: str, suite: ET.Element) -> None:
    """Write test cases, with their numbers."""
    for name, kind in (("tests", ""), ("failures", "/failure"), ("errors", "/error")):
        suite.set(name, str(len(suite.findall(f"testcase{kind}"))))
    text = ET.tostring(suite, encoding="unicode", xml_declaration=True)
    # XML 1.0 cannot hold control characters, not even by their codes.
    write_whole(Path(path), visible_text(text) + "\n")


def write_markdown(path: str, title: str, results: Sequence[GateResult]) -> None:
    """Write the verdict as a title, the sentences, and a table of each metric."""
    lines = [f"## Gate: {title}", "", *[results[0].note, ""] * bool(results[0].note)]
    for result in results:
        lines += [*(f"- {sentence}" for sentence in result.sentences), ""]
        lines += [markdown_table(_readable_rows(result.rows)), ""]
    write_whole(Path(path), visible_text("\n".join([*lines, _LEGEND, ""])))


def _readable_rows(rows: pl.DataFrame) -> Table:
    """The columns that a reader needs; a row over all strata has "all" in their columns."""
    strata = rows.columns[: rows.columns.index("baseline") - 1]
    named = rows.with_columns(pl.col(name).cast(pl.String).fill_null("all") for name in strata)
    known = [column.name for column in named if column.null_count() < column.len()]
    cells = {
        name: ["" if value is None else cell_text(value, form) for value in named[name]]
        for name in known
        if name not in _UNREAD
        for form in [".3g" if named.schema[name].is_float() else ""]
    }
    return Table([FrameColumn(name, texts, right=False) for name, texts in cells.items()])


# Exit status of each verdict; 1 and 2 say that there is none.
STATUS = {"pass": 0, "fail": 3, "undecided": 4}


def run_gate(log: Scorio[Any], asked: Namespace, call: str) -> int:
    """Print the sentences of the gate and its rows; return the verdict's status."""
    for path in filter(None, (asked.json, asked.junit, asked.markdown, asked.html)):
        refuse_missing_folder(Path(path))
    if asked.html and asked.unmatched == "unpaired":
        raise ValueError(
            "--html shows the questions that the versions share: with --unmatched unpaired write "
            "--markdown, --json or --junit"
        )
    log, baseline = versions_log(log, asked)
    dtype = bind_roles(log.frame.lazy(), log._roles).question.dtype
    asked.must_pass, left_out = (
        case_ids(name, _listed_cases(getattr(asked, name), dtype), dtype) or None
        for name in ("must_pass", "quarantine")
    )
    log = Scorio(without_questions(log.frame.lazy(), log._roles, left_out or ()), log._roles)
    metrics = asked.metric or [avg()]
    reply, _ = Reply.read(log, asked, call)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CheckWarning)  # the column `note` says it
        results = [_gate_result(reply, baseline, metric) for metric in metrics]
    verdict = _worst_verdict(results, reply.strata)
    counted = (asked.undecided or verdict) if verdict == "undecided" else verdict
    tested = "check" in (asked.fail_on or ())
    counted = "fail" if tested and results[0].alarm else counted
    if asked.format == "table":
        _print_gate(reply, [*zip(metrics, results, strict=True)], counted)
    else:
        print_table(pl.concat([result.rows for result in results]), asked.format)
    if asked.json:
        write_json(asked.json, verdict, counted, results)
    if asked.junit:
        write_junit(asked.junit, results, reply.strata, reply.model, asked.undecided, tested=tested)
    if asked.markdown:
        title = verdict if counted == verdict else f"{verdict}, which counts as {counted}"
        write_markdown(asked.markdown, title, results)
    if asked.html:
        page = _gate_page(log, baseline, results[0].rows, asked, call)
        write_whole(Path(asked.html), page.html())
    return STATUS[counted]


def _print_gate(reply: Reply, gates: Sequence[tuple[Metric, GateResult]], counted: str) -> None:
    """Print title, differences and further clauses of each metric, and the exit status."""
    log, asked, lines = reply.log, reply.asked, list[str]()
    first = gates[0][1]
    if first.note:
        mark = ("ALARM", "fail") if first.alarm else ("NOTE", "open")
        said = command_words(first.note, vars(asked))
        lines += reply.screen.prose(said, first=[("  ", ""), mark, ("  ", "")])
    for metric, result in gates:
        rows = gate_rows(result.rows, lower_is_better=log._roles.lower_is_better)
        for part in rows.partition_by("k", maintain_order=True):
            worst = worst_gate(part)
            clauses = [*result.clauses[worst["model"], worst["k"]]]
            if asked.undecided and worst["verdict"] == "undecided":
                clauses.append(f"it counts as {asked.undecided}")
            lines += [*[""] * bool(lines), *gate_lines(reply, metric, part, clauses, result.level)]
    if not asked.html and asked.unmatched != "unpaired":
        lines += reply.next("gate", html="gate.html")
    if STATUS[counted]:
        lines += reply.screen.prose([(f"exit status {STATUS[counted]}", "faint")])
    reply.show(lines, pl.concat([result.rows for _, result in gates], how="diagonal"))


def _gate_page(
    log: Scorio[Any], baseline: Category, rows: pl.DataFrame, asked: Namespace, call: str
) -> Page:
    """The page of a gate by its first metric."""
    order = Order.from_metrics(
        (asked.metric or [avg()])[:1], chosen_settings(asked), log._roles, asked.html, call=call,
        title=Path(asked.html).stem, baseline=baseline, margin=asked.margin,
        typed=partial(next_words, call),
    )  # fmt: skip
    order = replace(order, gates=rows)
    made, refusal = made_page(log.frame.lazy(), log._roles, order)
    if refusal is not None:
        raise refusal
    return made.worded(lambda text: command_words(text, vars(asked)))


def _listed_cases(texts: list[str] | None, dtype: pl.DataType) -> Cases | None:
    """The questions of an option: ids as they are typed, or one file that lists them."""
    if texts and len(texts) == 1 and Path(texts[0]).is_file():
        return Path(texts[0])
    return texts and [column_value(text, dtype) for text in texts]


def versions_log(log: Scorio[Any], asked: Namespace) -> tuple[Scorio[Any], Category]:
    """The log of all versions, and the name of the baseline."""
    if asked.against is not None:
        if asked.baseline is not None:
            raise ValueError("--against names the log of the baseline: leave --baseline out")
        return _joined_logs(log, asked)
    if asked.baseline is None:
        raise ValueError("name the baseline with --baseline, or its log with --against")
    return log, typed_model(log, asked.baseline)


def typed_model(log: Scorio[Any], name: str) -> Category:
    """The model of a name as it is typed."""
    models = bind_roles(log.frame.lazy(), log._roles).models
    return column_value(name, next(iter(models.values()), None))


def _joined_logs(log: Scorio[Any], asked: Namespace) -> tuple[Scorio[Any], str]:
    """One log of two, in which the models have the names of their folders."""
    old = read_log(Namespace(**{**vars(asked), "log": asked.against}))
    names = [Path(paths[0]).resolve().name for paths in (asked.log, asked.against)]
    if names[0] == names[1]:
        names = [" ".join(map(str, paths)) for paths in (asked.log, asked.against)]
    frames = [_named_frame(each, name) for each, name in zip((log, old), names, strict=True)]
    roles = replace(log._roles, model="model")
    return Scorio(pl.concat(frames, how="diagonal_relaxed"), roles), names[1]


def _named_frame(log: Scorio[Any], name: str) -> pl.LazyFrame:
    """The rows of a log of one model, with another name of it."""
    trials = bind_roles(log.frame.lazy(), log._roles)
    if trials.model is not None:
        models = trials.frame.select(trials.model.expr.unique().sort()).collect().to_series()
        if models.len() > 1:
            raise ValueError(
                f"{name} has {models.len()} models, {models.head(5).to_list()}: with --against "
                "each log has one. If these are runs of one model, name a column in which they "
                "agree, such as --model agent. Else filter the log, or concatenate both logs and "
                "name the --baseline"
            )
    return trials.frame.with_columns(pl.lit(name).alias("model"))


# Options of the command that are keywords of the method.
_ASKED = ("margin", "stratum_margin", "every_stratum", "overall", "unmatched", "power", "must_pass")


def _gate_result(reply: Reply, baseline: Category, metric: Metric) -> GateResult:
    """The rows of one metric, with a sentence for each candidate and draw size."""
    log, asked = reply.log, reply.asked
    settings, of_cases = chosen_settings(asked), "regressed" in (asked.fail_on or ())
    rows = log.gate(
        baseline,
        metric,
        **{name: getattr(asked, name) for name in _ASKED},
        simultaneous=not asked.each_pair,
        **({"fail_on": "regressed", "fdr": asked.fdr} if of_cases else {}),
        **settings.report,
        **planned_numbers(asked),
    )
    rows = rows.lazy().collect()
    trials, model = reply.trials, reply.model
    fractions = "bounds" in rows.columns and rows["bounds"].null_count() < rows.height
    words = GateWords(
        metric=metric,
        model=model,
        confidence=settings.confidence,
        power=asked.power,
        fdr=asked.fdr,
        points=metric.support == (0, 1) and not fractions,
        population=settings.target == "population",
        planned=asked.planned_trials or asked.planned_questions,
        corrected=judge_words(trials.roles) or _SAMPLED.get(asked.unmatched, ""),
        undecided=asked.undecided,
        lower_is_better=trials.roles.lower_is_better,
        candidates=1 if asked.each_pair else rows[model].n_unique(),
        whole=reply.whole,
    )
    tests = None
    known = trials.roles.missing != "bounds" and rows["broken"].null_count() < rows.height
    if known and asked.unmatched == "error":
        tests = log.regressions(baseline, fdr=asked.fdr).lazy().collect()
    sentences, clauses = [], {}
    for row in whole_rows(rows, [*trials.strata]).to_dicts():
        named, nameable = None, True
        if tests is not None:
            of_candidate = tests.filter(pl.col(model) == pl.lit(row[model]))
            keys = [*trials.strata, trials.question.name]
            named, nameable = _regressed_names(of_candidate, keys, asked.fdr)
        strata = _strata_rows(rows, row, [*trials.strata], model)
        sentences.append(words.sentence(row, named, nameable=nameable, strata=strata))
        _, clauses[str(row[model]), row["k"]] = words.clauses(row, named, nameable=nameable)
    regressed = pl.DataFrame() if tests is None else tests.filter("regressed")
    row_sentences = [
        words.sentence(row, strata=_strata_rows(rows, row, [*trials.strata], model))
        for row in rows.to_dicts()
    ]
    return GateResult(metric.name, rows, sentences, row_sentences, regressed, clauses, words.level)


def _strata_rows(
    rows: pl.DataFrame, whole: dict[str, Any], by: list[str], model: str
) -> dict[str, dict[str, Any]]:
    """The rows of the strata below a row over all of them, by the names of the strata."""
    if any(whole[name] is not None for name in by):
        return {}
    same = [pl.col(name).eq_missing(pl.lit(whole[name])) for name in (model, "k")]
    of_strata = (
        rows.filter(*same, pl.any_horizontal(pl.col(by).is_not_null())) if by else rows.clear()
    )
    return {" ".join(str(row[name]) for name in by): row for row in of_strata.to_dicts()}


def _regressed_names(
    tests: pl.DataFrame, keys: Sequence[str], fdr: float
) -> tuple[list[str], bool]:
    """The questions of a candidate that regressed, and whether its trials can name a single one."""
    names = [" / ".join(map(str, row)) for row in tests.filter("regressed").select(keys).rows()]
    # Of the questions that can have the smallest p of all, one must be able to have it alone.
    surest = tests.filter(pl.col("pvalue_min") == pl.col("pvalue_min").min())["pvalue_min"]
    return names, bool(names) or bool(surest.sum() <= fdr)


def whole_rows(rows: pl.DataFrame, strata: list[str]) -> pl.DataFrame:
    """The rows of a gate over all strata, which have its verdict."""
    return rows.filter(*(pl.col(name).is_null() for name in strata))


def _worst_verdict(results: Sequence[GateResult], strata: list[str]) -> str:
    """The verdict of all candidates and metrics together."""
    verdicts = {
        verdict for result in results for verdict in whole_rows(result.rows, strata)["verdict"]
    }
    return next((each for each in ("fail", "undecided") if each in verdicts), "pass")
