"""The gate and its files."""

from __future__ import annotations

import json
import warnings
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import polars as pl

from polars_scorio.accessors.frame import Scorio
from polars_scorio.command_line.answers import Call
from polars_scorio.command_line.log_input import (
    chosen_settings,
    column_value,
    planned_numbers,
    read_log,
)
from polars_scorio.command_line.messages import command_words, print_table
from polars_scorio.counting.log import bind_roles
from polars_scorio.counting.roles import Category
from polars_scorio.decisions.gate import ONE_MODEL
from polars_scorio.decisions.regressed_questions import case_ids, without_questions
from polars_scorio.display.facts.gate_facts import ALL, GateFacts, gate_rows, regressed_names
from polars_scorio.display.media.markdown import account_markdown, markdown_words
from polars_scorio.display.page import Page, PageCall, made_page
from polars_scorio.display.phrases import visible_text
from polars_scorio.display.story import StoryOptions
from polars_scorio.display.whole_files import refuse_missing_folder, write_whole
from polars_scorio.display.words.gate_words import gate_sentence, tell_gate
from polars_scorio.metrics.metric import Metric
from polars_scorio.metrics.success import pass_at_k
from polars_scorio.metrics.weighted import avg
from polars_scorio.study.log_checks import CheckWarning
from polars_scorio.study.request import Cases


@dataclass(frozen=True, slots=True)
class GateResult:
    """One metric of a gate."""

    metric: str
    rows: pl.DataFrame
    gates: Sequence[GateFacts]  # of each draw size
    sentences: Sequence[str]  # one for each candidate and draw size, over all strata
    row_sentences: Sequence[str]  # one for each of the rows
    regressed: pl.DataFrame  # questions

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
                undecided: str | None, questions: Sequence[tuple[str, str]] = (), *,
                tested: bool) -> None:  # fmt: skip
    """Write a test case for each row: a failure, or an error if it is undecided, as the status is.

    With `undecided` a row that is undecided counts as "fail" or "pass"; `questions` with what is
    wrong with them are cases too, and so are tests of the log if it is `tested` by alarms.
    """
    suite = ET.Element("testsuite", name=_SUITE)
    for result in results:
        for row, sentence in zip(result.rows.to_dicts(), result.row_sentences, strict=True):
            place = " ".join(str(row[name]) for name in strata if row[name] is not None) or "all"
            name = f"{row[model]}: {place}"
            size = "" if row["k"] is None else f", k={row['k']}"
            verdict = undecided or "undecided" if row["verdict"] == "undecided" else row["verdict"]
            kind = {"pass": "", "fail": "failure"}.get(verdict, "error")
            _add_case(suite, f"{result.metric}{size}", name, kind, sentence)
    for name, wrong in questions:
        _add_case(suite, "question", name, "failure" if wrong else "", wrong)
    if tested:
        kind = "failure" if results[0].alarm else ""
        _add_case(suite, "check", "tests of the log", kind, results[0].note)
    elif results[0].note:
        ET.SubElement(suite, "system-out").text = results[0].note
    _write_suite(path, suite)


def write_refusal(path: str, message: str) -> None:
    """Write one test case with an error: there is no gate, so that nothing failed."""
    suite = ET.Element("testsuite", name=_SUITE)
    _add_case(suite, "gate", "can be judged", "error", message)
    _write_suite(path, suite)


def _add_case(suite: ET.Element, classname: str, name: str, kind: str, message: str) -> None:
    """Add a test case: a failure or an error with its message; without a kind it has passed."""
    case = ET.SubElement(suite, "testcase", classname=classname, name=name)
    if kind:
        ET.SubElement(case, kind, message=message)


def _write_suite(path: str, suite: ET.Element) -> None:
    """Write test cases, with their numbers."""
    for name, kind in (("tests", ""), ("failures", "/failure"), ("errors", "/error")):
        suite.set(name, str(len(suite.findall(f"testcase{kind}"))))
    text = ET.tostring(suite, encoding="unicode", xml_declaration=True)
    # XML 1.0 cannot hold control characters, not even by their codes.
    write_whole(Path(path), visible_text(text) + "\n")


def write_markdown(path: str, results: Sequence[GateResult]) -> None:
    """Write each gate; of several candidates a sentence for each."""
    parts = [results[0].note] if results[0].note else []
    for result in results:
        for gate in result.gates:
            parts += account_markdown(tell_gate(gate))
        led = {gate_sentence(gate) for gate in result.gates}
        rest = [each for each in result.sentences if each not in led]
        parts += ["\n".join(f"- {markdown_words(each)}" for each in rest)] if rest else []
    write_whole(Path(path), visible_text("\n\n".join(parts) + "\n"))


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
    log, baseline = _gated_log(log, asked)
    dtype = bind_roles(log.frame.lazy(), log._roles).question.dtype
    asked.must_pass, left_out = (
        case_ids(name, _listed_cases(getattr(asked, name), dtype), dtype) or None
        for name in ("must_pass", "quarantine")
    )
    log = Scorio(without_questions(log.frame.lazy(), log._roles, left_out or ()), log._roles)
    metrics = asked.metric or [avg()]
    reply, _ = Call.read(log, asked, call)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CheckWarning)  # the column `note` says it
        results = [_gate_result(reply, baseline, metric) for metric in metrics]
    verdict = _worst_verdict(results, reply.strata)
    counted = (asked.undecided or verdict) if verdict == "undecided" else verdict
    tested = "check" in (asked.fail_on or ())
    counted = "fail" if tested and results[0].alarm else counted
    if asked.format == "table":
        _print_gate(reply, results, counted)
    else:
        print_table(pl.concat([result.rows for result in results]), asked.format)
    if asked.json:
        write_json(asked.json, verdict, counted, results)
    if asked.junit:
        cases = _question_cases(reply, baseline) if asked.each_at_least is not None else []
        words = reply.strata, reply.model, asked.undecided, cases
        write_junit(asked.junit, results, *words, tested=tested)
    if asked.markdown:
        write_markdown(asked.markdown, results)
    if asked.html and baseline is not None:
        page = _gate_page(log, baseline, results[0].rows, asked, call)
        write_whole(Path(asked.html), page.html())
    return STATUS[counted]


def _gated_log(log: Scorio[Any], asked: Namespace) -> tuple[Scorio[Any], Category | None]:
    """The log of all versions, and the name of the baseline; without one, None."""
    if (asked.margin, asked.against, asked.baseline) != (None, None, None):
        return versions_log(log, asked)
    if asked.html:
        raise ValueError("--html shows differences: name the --baseline, or write --markdown")
    if log._roles.model is not None:
        return log, None
    named = log.frame.lazy().with_columns(pl.lit(ONE_MODEL).alias("model"))
    return Scorio(named, replace(log._roles, model="model")), None


def _question_cases(reply: Call, baseline: Category | None) -> list[tuple[str, str]]:
    """Each question of each candidate, and what is wrong with it if it passed too few trials."""
    rows = reply.log.report(pass_at_k(1), per="question", prior="uniform").lazy().collect()
    least, names = reply.asked.each_at_least, rows.columns[: rows.columns.index("metric")]
    lower, cases = reply.trials.roles.lower_is_better, []
    for row in rows.filter(pl.col(reply.model).ne_missing(pl.lit(baseline))).to_dicts():
        n, c = row["trials"], round(row["estimate"] * row["trials"])
        passed = n - c if lower else c
        wrong = f"{passed:,} of {n:,} trials passed, and at least {100 * least:.6g} % must"
        wrong = wrong if passed / n < least else ""
        cases.append((" ".join(str(row[x]) for x in names), wrong))
    return cases


def _print_gate(reply: Call, results: Sequence[GateResult], counted: str) -> None:
    """Print each gate, and the exit status."""
    asked, lines, first = reply.asked, list[str](), results[0]
    if first.note:
        mark = ("ALARM", "fail") if first.alarm else ("NOTE", "open")
        said = command_words(first.note, vars(asked))
        lines += reply.screen.prose(said, first=[("  ", ""), mark, ("  ", "")])
    for gate in [gate for result in results for gate in result.gates]:
        lines += [*([""] if lines else []), *reply.account(tell_gate(gate))]
    if not asked.html and asked.unmatched != "unpaired" and asked.margin is not None:
        lines += reply.next("gate", html="gate.html")
    if STATUS[counted]:
        lines += reply.screen.prose([(f"exit status {STATUS[counted]}", "faint")])
    reply.show(lines, pl.concat([result.rows for result in results], how="diagonal"))


def _gate_page(
    log: Scorio[Any], baseline: Category, rows: pl.DataFrame, asked: Namespace, call: str
) -> Page:
    """The page of a gate by its first metric."""
    metrics, settings = tuple((asked.metric or [avg()])[:1]), chosen_settings(asked)
    options = StoryOptions(metrics, settings, baseline, asked.margin, rows)
    title, name = Path(asked.html).stem, asked.html
    page = PageCall.from_options(
        options, log._roles, name, call=call, title=title, typed=asked.typed
    )
    made, refusal = made_page(log.frame.lazy(), log._roles, page)
    if refusal is not None:
        raise refusal
    return made.with_words(lambda text: command_words(text, vars(asked)))


def _listed_cases(texts: list[str] | None, dtype: pl.DataType) -> Cases | None:
    """The questions of an option: ids as they are typed, or one file that lists them."""
    if texts and len(texts) == 1 and Path(texts[0]).is_file():
        return Path(texts[0])
    return texts and [column_value(text, dtype) for text in texts]


def versions_log(log: Scorio[Any], asked: Namespace) -> tuple[Scorio[Any], Category]:
    """The log of all versions, and the name of the baseline."""
    if asked.against is not None:
        if asked.baseline is not None:
            raise ValueError("--against names the log of the baseline: omit --baseline")
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
_ASKED = (
    *("margin", "at_least", "each_at_least", "stratum_margin", "every_stratum", "overall"),
    *("unmatched", "power", "must_pass"),
)


def _gate_result(reply: Call, baseline: Category | None, metric: Metric) -> GateResult:
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
    trials, tests = reply.trials, None
    known = trials.roles.missing != "bounds" and asked.unmatched == "error"
    if baseline is not None and known and rows["broken"].null_count() < rows.height:
        tests = log.regressions(baseline, fdr=asked.fdr).lazy().collect()
    parts = rows.partition_by("k", maintain_order=True)
    whole = {part["k"][0]: _gate_facts(reply, metric, part) for part in parts}
    candidates = [gate.of(name) for gate in whole.values() for name in gate.models]
    keys = gate_rows(rows, lower_is_better=False).select("k", "model", "stratum").rows()
    return GateResult(
        metric.name,
        rows,
        [_with_tests(reply, gate, tests) for gate in whole.values()],
        [gate_sentence(_with_tests(reply, gate, tests)) for gate in candidates],
        [gate_sentence(whole[k].of(name).of_part(stratum)) for k, name, stratum in keys],
        pl.DataFrame() if tests is None else tests.filter("regressed"),
    )


def _gate_facts(reply: Call, metric: Metric, rows: pl.DataFrame) -> GateFacts:
    """The facts of a gate at one draw size."""
    asked, roles = reply.asked, reply.trials.roles
    label = reply.label(metric, reply.cover, rows["k"][0])
    label = f"difference in {label}" if "baseline" in rows.columns else label
    errored = roles.missing == "bounds"
    about = reply.facts(metric, reply.cover, label=label, errored=errored)
    candidates = 1 if asked.each_pair else rows[reply.model].n_unique()
    sampled = "each version on questions of its own" if asked.unmatched == "unpaired" else ""
    judged = about.judged or sampled
    about = replace(about, made=reply.whole, candidates=candidates, judged=judged)
    return GateFacts.from_rows(
        rows, metric, about, lower=roles.lower_is_better, power=asked.power, fdr=asked.fdr,
        undecided=asked.undecided, whole=reply.whole or ALL, each=asked.each_at_least,
    )  # fmt: skip


def _with_tests(reply: Call, gate: GateFacts, tests: pl.DataFrame | None) -> GateFacts:
    """The gate with the questions of its worst candidate that regressed by tests of their own."""
    if tests is None:
        return gate
    tested = tests.filter(pl.col(reply.model).cast(pl.String) == gate.line.model)
    keys = [*reply.strata, reply.trials.question.name]
    broke, nameable = regressed_names(tested, keys, gate.fdr)
    return replace(gate, broke=broke, nameable=nameable)


def _worst_verdict(results: Sequence[GateResult], strata: list[str]) -> str:
    """The verdict of all candidates and metrics together."""
    over_all = [pl.col(name).is_null() for name in strata]
    verdicts = {each for of in results for each in of.rows.filter(*over_all)["verdict"]}
    return next((each for each in ("fail", "undecided") if each in verdicts), "pass")
