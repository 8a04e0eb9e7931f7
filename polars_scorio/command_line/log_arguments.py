"""The arguments of each command. Nothing is imported here that help does not need."""

from __future__ import annotations

import ast
import re
import shlex
from argparse import SUPPRESS, Action, ArgumentParser, ArgumentTypeError, _AppendAction
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, get_args

from polars_scorio.arguments import (
    CONFIDENCE,
    PLANS,
    FailOn,
    OnError,
    OverallWord,
    Per,
    QuestionUnit,
    Unmatched,
    UnmatchedPairs,
    check_planned,
)
from polars_scorio.command_line.messages import BoardFormat, TableFormat, command_words
from polars_scorio.counting.roles import RunEffects, Unscored
from polars_scorio.maths.posteriors import Target

if TYPE_CHECKING:
    from polars_scorio.metrics.metric import Metric

Checked = TypeVar("Checked")
_FILES = {"bash": "_shtab_compgen_files", "zsh": "_files", "tcsh": "f"}  # of each shell
_AGAIN = "; repeat it for several"
_CONFIDENCE = "set the confidence of the intervals (default: %(default)s)"


def add_number_arguments(parser: ArgumentParser, default: str = "avg") -> None:
    """Add the arguments that choose metrics and inference."""
    metric = f'use this metric, such as "pass_at_k(4)"; repeat it for several (default: {default})'
    parser.add_argument("--metric", type=metric_argument, action="append", default=[], help=metric)
    add_inference_arguments(parser)


def add_inference_arguments(parser: ArgumentParser) -> None:
    """Add the arguments that choose inference."""
    add = parser.add_argument_group("numbers").add_argument
    add("--confidence", type=plain_number, default=CONFIDENCE, help=_CONFIDENCE)
    prior = "show posterior means under this prior: uniform, population, or ALPHA,BETA"
    add("--prior", type=prior_argument, help=f"{prior} (default: none; for bayes uniform)")
    _add_target(add)


def _add_target(add: Callable[..., object]) -> None:
    target = "score these questions, or all questions like them (default: %(default)s)"
    add("--target", choices=get_args(Target), default="benchmark", help=target)


_STRATA_ALONE = (
    "Each stratum of --by has numbers of its own; no mean of strata is taken. To\n"
    "pool their questions, name their column with --question, not with --by."
)


def _one_metric(
    parser: ArgumentParser, command: str, use: str, about: str | None = None
) -> Callable[..., object]:
    """Add the argument of a command about one metric, and return what adds the others."""
    add = parser.add_argument_group(command, about).add_argument
    metric = f'{use} this metric, such as "pass_at_k(4)" (default: avg)'
    add("--metric", type=metric_argument, metavar="METRIC", help=metric)
    return add


def _add_looks(add: Callable[..., object]) -> None:
    """Add the arguments of decisions that are looked at while a log grows."""
    for keyword, planned, about in PLANS.values():
        looks = f"plan N {planned} before the first look: intervals {about} hold at every look"
        number = partial(planned_number, keyword)
        add(f"--{keyword.replace('_', '-')}", type=number, metavar="N", help=looks)


def metric_argument(text: str) -> Metric:
    """A metric as typed in Python."""
    from polars_scorio.metrics.from_text import read_metric

    return _checked_value(read_metric, text)


def _checked_value(check: Callable[[Any], Checked], value: object) -> Checked:
    """The value that a check of Python returns; its error becomes one that argparse shows."""
    try:
        return check(value)
    except ValueError as error:
        planned = dict.fromkeys(keyword for keyword, *_ in PLANS.values())
        raise ArgumentTypeError(command_words(str(error), planned)) from None


def prior_argument(text: str) -> str | tuple[float, float]:
    """A prior as typed: a word, or two numbers with a comma between them."""
    from polars_scorio.study.request import read_prior

    pair = text.split(",")
    prior = (plain_number(pair[0]), plain_number(pair[1])) if len(pair) == 2 else text
    _checked_value(read_prior, prior)
    return prior


def plain_number(text: str) -> float:
    """A number as Python writes it."""
    try:
        return float(text)
    except ValueError:
        share = "write percentages as shares, 3 % as 0.03"
        raise ArgumentTypeError(f"{text!r} is not a number: {share}") from None


def planned_number(keyword: str, text: str) -> int:
    """The planned trials of each question, or the planned questions."""
    return _checked_value(partial(check_planned, keyword), int(text) if text.isdecimal() else text)


def add_log_arguments(parser: ArgumentParser, tools: Sequence[str]) -> None:
    """Add the arguments that name the log, its columns and its outcomes."""
    columns_text = "COLUMN is the name of a column, or an expression in SQL."
    add = parser.add_argument_group("log", columns_text).add_argument
    files = "files, folders or globs: Parquet, CSV, TSV, JSON or a tool's log; - is standard input"
    log = add("log", nargs="+", metavar="LOG", help=files)
    log.complete = _FILES  # type: ignore[attr-defined]  # read by shtab
    tool = (
        f"read the log of this tool (default: recognised by its files): {', '.join(tools)}; or "
        "records: any JSON, with paths as columns, as in --category score.acc"
    )
    add("--from", dest="tool", choices=(*tools, "records"), metavar="TOOL", help=tool)
    columns = {
        "model": "the model from this column (default: model), or 'none' if the log has one model; "
        "with --from: the name of the model, or a pattern that finds it in the paths",
        "question": "the question from this column (default: question); repeat it for several",
        "trial": "the id of the trial from this column, or none (default: trial, if there is one)",
        "category": "the outcome from this column (default: category)",
        "count": "the number of trials of a row from this column",
        "cluster": "what related questions share, such as a passage, from this column",
        "run": "the run or seed of the trial from this column (default: the trial)",
        "answer": "the answer of the trial from this column, for vote_at_k",
        "truth": "human labels of trials from this column (empty: no label), to correct a judge",
        "cost": "the cost of the trial from this column, for metrics of costs",
    }
    for role, content in columns.items():
        several = "append" if role == "question" else "store"
        add(f"--{role}", metavar="COLUMN", action=several, help=f"read {content}")
    strata = f"split the log into strata, such as benchmarks, by this column{_AGAIN}"
    add("--by", metavar="COLUMN", action="append", default=[], help=strata)
    _add_outcomes(add)
    broken = "stop at a file of a tool that cannot be read, or warn and skip it"
    add("--on-error", choices=get_args(OnError), help=f"{broken} (default: raise)")
    option = f"pass a keyword to the reader of the tool's log, such as scorer=match{_AGAIN}"
    add("--option", type=_reader_option, action="append", default=[], metavar="KEY=VALUE",
        help=option)  # fmt: skip


def _add_outcomes(add: Callable[..., object]) -> None:
    """Add the arguments on what outcomes mean."""
    success = f"count this category as a success{_AGAIN}"
    add("--success", metavar="CATEGORY", action="append", default=[], help=success)
    missing = "refuse (error) or drop trials without an outcome, show both extremes (bounds), or "
    missing += "count them as this category (default: error)"
    add("--missing", metavar="MEANING", help=missing)
    effects = (
        "assume a spread of runs for each model (own), one (alike), common runs (shared), none"
    )
    add("--run-effects", choices=get_args(RunEffects), help=effects)
    unscored = "refuse questions without any outcome, or drop them (default: %(default)s)"
    add("--unscored", choices=get_args(Unscored), default="error", help=unscored)
    add("--n", type=int, help="require this number of trials of each question")
    add("--first", type=int, metavar="N", help="count only the first N trials of each question")
    threshold = "count an outcome of at least this number as a success; NaN is missing"
    add("--threshold", type=plain_number, metavar="REWARD", help=threshold)
    levels = f"name a possible reward, such as 0.5{_AGAIN}"
    add("--levels", type=plain_number, action="append", metavar="REWARD", help=levels)
    bounds = "set the least and the largest possible reward (default: those of the log)"
    add("--bounds", type=plain_number, nargs=2, metavar=("LOW", "HIGH"), help=bounds)
    lower = "rank lower scores first, such as rates of attacks that succeed"
    add("--lower-is-better", action="store_true", help=lower)
    rates = "correct for a judge that was right about 88 of 100 {0} answers in another sample"
    add("--sensitivity", type=_rate_counts, metavar="88/100", help=rates.format("correct"))
    wrong = rates.format("incorrect").replace("88", "78")
    add("--specificity", type=_rate_counts, metavar="78/100", help=wrong)


def _rate_counts(text: str) -> tuple[int, int]:
    """The part and the whole of a rate.

    >>> _rate_counts("88/100")
    (88, 100)
    """
    match = re.fullmatch(r"\s*(\d+)\s*/\s*(\d+)\s*", text)
    if match is None:
        raise ArgumentTypeError(f"{text!r} is not of the form 88/100: 88 of 100 answers")
    return int(match[1]), int(match[2])


def _reader_option(text: str) -> tuple[str, object]:
    """A keyword of a reader and its value: a Python literal, or a text.

    >>> _reader_option("scorer=match"), _reader_option("metric={'arc': 'acc'}")
    (('scorer', 'match'), ('metric', {'arc': 'acc'}))
    """
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise ArgumentTypeError(f"{text!r} is not of the form KEY=VALUE")
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return name, value


def add_format_argument(parser: ArgumentParser) -> None:
    """Add the arguments that choose how a table is written, and how much of it."""
    add = parser.add_argument
    formats = "write the table in this format (default: %(default)s); csv and json have all digits"
    add("--format", choices=get_args(TableFormat), default="table", help=formats)
    add("--wide", action="store_true", help="also print all columns of the table")
    _add_all(parser)


def _add_all(parser: ArgumentParser) -> None:
    parser.add_argument("--all", action="store_true", help="print all rows (default: the first 15)")


def _add_compared(add: Callable[..., object], *, sampled: bool = False) -> None:
    """Add the argument that chooses the questions of models that are compared.

    `sampled`: whether each model may have a sample of its own.
    """
    kinds = "refuse questions that a model lacks (error), or drop them (default: %(default)s)"
    if sampled:
        kinds = (
            "refuse questions that a model lacks (error), drop them, or with --target population"
        )
        kinds += " compare separate samples (unpaired; default: %(default)s)"
    words = get_args(UnmatchedPairs if sampled else Unmatched)
    add("--unmatched", choices=words, default="error", help=kinds)


def _add_overall(add: Callable[..., object], *, beside: bool = False) -> None:
    """Add the argument about numbers over all strata, which some commands print `beside` them."""
    kinds = "average the strata (macro, the default), pool their questions (micro)"
    if beside:
        kinds = "add numbers over all strata: average these (macro), pool their questions (micro)"
    weighed = "or weigh them: math=2,code=1; with several --by: eu/math=2,eu/code=1"
    add("--overall", type=_overall_argument, metavar="WAY", help=f"{kinds}, {weighed}")


def _overall_argument(text: str) -> str | dict[str, float]:
    """How numbers over all strata are made: a word, or a weight for each stratum.

    >>> _overall_argument("macro"), _overall_argument("math=2,a, b=1")
    ('macro', {'math': 2.0, 'a, b': 1.0})
    """
    if text in get_args(OverallWord):
        return text
    pairs = re.findall(r"(.+?)=([^=,]+)(?:,|$)", text)
    weights = {name: plain_number(weight) for name, weight in pairs}
    if ",".join(map("=".join, pairs)) != text or len(weights) < len(pairs):
        raise ArgumentTypeError(
            f"{text!r} is neither macro nor micro, nor one weight for each stratum, such as "
            "math=2,code=1"
        )
    return weights


def _add_each_pair(add: Callable[..., object]) -> None:
    each = "give the confidence to each pair by itself (default: to all pairs at once)"
    add("--each-pair", action="store_true", help=each)


def _add_gated(add: Callable[..., object]) -> None:
    """Add the arguments that make a gate of a page or a card."""
    add("--baseline", metavar="MODEL", help="show the gate of all other models against this one")
    add("--margin", type=plain_number, help="let a model be worse than --baseline by this much")


def _add_versions(add: Callable[..., object]) -> None:
    """Add the arguments that name the baseline of versions."""
    add("--baseline", metavar="MODEL", help="compare all other models with this one")
    against = "read the baseline from another log; both models are named by their files or folders"
    add("--against", nargs="+", metavar="LOG", help=against)


def _options_of_summary(parser: ArgumentParser) -> None:
    add_number_arguments(parser)
    _add_overall(parser.add_argument)
    _add_all(parser)


def _options_of_report(parser: ArgumentParser) -> None:
    add_number_arguments(parser, "avg; for successes also pass_at_k and pass_hat_k")
    add = parser.add_argument
    file = "write the page to this file, or print Markdown if it is - (default: %(default)s)"
    add("-o", "--output", default="report.html", help=file)
    add("--title", help="put this title on the page (default: the names of the files)")
    _add_overall(add)
    _add_gated(add)


def _options_of_leaderboard(parser: ArgumentParser) -> None:
    add_number_arguments(parser)
    add = parser.add_argument
    form = "write the table in this format (default: markdown, on a terminal a table that fits it)"
    extras = "html needs the extra style; latex has no caption; ps.to_latex in Python can add one"
    add("--format", choices=get_args(BoardFormat), help=f"{form}; {extras}")
    _add_overall(add)
    _add_compared(add)


def _options_of_compare(parser: ArgumentParser) -> None:
    add_number_arguments(parser)
    add_format_argument(parser)
    add = parser.add_argument
    _add_looks(add)
    add("--baseline", metavar="MODEL", help="compare each model with this one (default: all pairs)")
    _add_overall(add, beside=True)
    _add_each_pair(add)
    _add_compared(add, sampled=True)


def _options_of_rank(parser: ArgumentParser) -> None:
    add_inference_arguments(parser)
    add_format_argument(parser)
    add = _one_metric(parser, "rank", "order the models by")
    _add_overall(add, beside=True)
    _add_compared(add, sampled=True)


def _options_of_describe(parser: ArgumentParser) -> None:
    add_format_argument(parser)
    kinds = "print a row for each model, or for each question with gaps (default: %(default)s)"
    parser.add_argument("--per", choices=get_args(Per), default="model", help=kinds)


def _options_of_frontier(parser: ArgumentParser) -> None:
    add_format_argument(parser)
    add = _one_metric(parser, "frontier", "compare the mean cost with", _STRATA_ALONE)
    add("--confidence", type=plain_number, default=CONFIDENCE, help=_CONFIDENCE)
    _add_target(add)
    _add_compared(add)


def _options_of_questions(parser: ArgumentParser) -> None:
    add_format_argument(parser)
    add = parser.add_argument_group("questions").add_argument
    unit = "print a row for each question, or for each --cluster (default: %(default)s)"
    add("--per", choices=get_args(QuestionUnit), default="question", help=unit)
    _add_overall(add)
    _add_compared(add)


def _options_of_card(parser: ArgumentParser) -> None:
    add = _one_metric(parser, "card", "order the models by")
    add("-o", "--output", default="card.png", metavar="FILE", help="write this .png or .svg file")
    add("--title", help="name the log on the picture (default: the name of its file)")
    _add_overall(add)
    _add_gated(add)
    add("--confidence", type=plain_number, default=CONFIDENCE, help=_CONFIDENCE)
    _add_target(add)


def _options_of_reruns(parser: ArgumentParser) -> None:
    add_format_argument(parser)
    add = _one_metric(parser, "reruns", "print how far a rerun moves", _STRATA_ALONE)
    trials = "assume a rerun with N trials of each question (default: as many as in the log)"
    add("--rerun-trials", type=int, metavar="N", dest="n_rerun", help=trials)
    kinds = "print a row for each model, or for each flaky question (default: %(default)s)"
    add("--per", choices=get_args(Per), default="model", help=kinds)
    add("--confidence", type=plain_number, default=CONFIDENCE, help=_CONFIDENCE)


def _options_of_regressions(parser: ArgumentParser) -> None:
    add_format_argument(parser)
    add = parser.add_argument_group("regressions").add_argument
    _add_versions(add)
    fdr = "limit the share of unchanged questions among those named (default: %(default)s)"
    add("--fdr", type=plain_number, default=0.1, metavar="RATE", help=fdr)
    add("--improvements", action="store_true", help="print questions that became better instead")
    _add_compared(add)


def _options_of_plan(parser: ArgumentParser) -> None:
    add_format_argument(parser)
    add = parser.add_argument_group("plan").add_argument
    metric = "plan for this metric: avg, or avg with weights w= (default: avg)"
    add("--metric", type=metric_argument, metavar="METRIC", help=metric)
    add("--confidence", type=plain_number, default=CONFIDENCE, help=_CONFIDENCE)
    chance = "distinguish neighbours in the ranking with this probability (default: %(default)s)"
    add("--power", type=plain_number, default=0.8, help=chance)
    base = "plan for all pairs with this model, instead of for neighbours in the ranking"
    add("--baseline", metavar="MODEL", help=base)
    pair = "plan for this pair of models only"
    add("--pair", nargs=2, metavar="MODEL", help=pair)
    width = "plan for intervals of score +- WIDTH instead: 0.02 is two points of a hundred"
    add("--half-width", type=plain_number, metavar="WIDTH", help=width)
    _add_overall(add, beside=True)
    _add_compared(add)


def _options_of_gate(parser: ArgumentParser) -> None:
    add_number_arguments(parser)
    add_format_argument(parser)
    add = parser.add_argument_group("gate").add_argument
    _add_looks(add)
    _add_versions(add)
    margin = "let a candidate be worse by this much: 0.02 is two percentage points"
    add("--margin", type=plain_number, help=margin)
    least = "require this score of each candidate: 0.9 is ninety points of a hundred"
    add("--at-least", type=plain_number, metavar="SCORE", help=least)
    each = "require that each question passed this share of its trials: 0.8 is 8 of 10"
    add("--each-at-least", type=plain_number, metavar="SHARE", help=each)
    part = "let a candidate be worse by this much in a stratum (default: the margin)"
    add("--stratum-margin", type=plain_number, metavar="MARGIN", help=part)
    every = "require all strata to pass, not only their mean"
    add("--every-stratum", action="store_true", help=every)
    _add_overall(add)
    _add_each_pair(add)
    _add_compared(add, sampled=True)
    fdr = "limit the false discovery rate of single questions (default: %(default)s)"
    add("--fdr", type=plain_number, default=0.1, help=fdr)
    single = "fail if a single question regressed, or if a test of the log has an alarm (check)"
    add("--fail-on", action="append", choices=(*get_args(FailOn), "check"), help=single)
    listed = "ids, or a file with one a line"
    must = f"let a candidate fail if any trial of these questions failed: {listed}"
    add("--must-pass", nargs="+", metavar="ID", help=must)
    left = f"skip these questions, such as known flaky ones: {listed}"
    add("--quarantine", nargs="+", metavar="ID", help=left)
    chance = "report how many more trials decide with this probability (default: %(default)s)"
    add("--power", type=plain_number, default=0.8, help=chance)
    undecided = "count an undecided gate as this verdict (default: neither; exit status 4)"
    add("--undecided", choices=("fail", "pass"), help=undecided)
    for kind in ("json", "junit", "markdown", "html"):
        add(f"--{kind}", metavar="FILE", help=f"also write the result to this file, as {kind}")


# Options that move numbers: a command that lacks one of them cannot ask the same.
_NUMBERS = {
    *("metric", "confidence", "prior", "target", "planned_trials", "planned_questions"),
    *("overall", "unmatched", "each_pair", "against", "margin"),
    *("at_least", "each_at_least"),
}
# Options on how a command shows its answer.
_OF_ANSWERS = {
    *("help_all", "output", "title", "format", "wide", "all"),
    *("json", "junit", "markdown", "html"),
}


def next_words(call: str, command: str, **changes: object) -> list[str]:
    """A command that asks about the log of a call, with its roles and numbers, as words.

    `changes` are other values of options; None leaves one out, and weights stay as they are typed.
    Empty if the command has numbers and lacks an option of the call that moves them.

    >>> next_words("polars-scorio rank 'my log.csv' --by=law --format csv --conf .9", "report")
    ['report', 'my log.csv', '--by', 'law', '--confidence', '.9']
    >>> next_words("polars-scorio compare log.csv --each-pair", "report")
    []
    """
    _, asked, *typed = shlex.split(call)
    known = {action.dest: action for action in _options_parser(command)._actions}
    given = _typed_options(asked, typed)
    if asked != command:
        roles = ArgumentParser(add_help=False)
        add_log_arguments(roles, ())
        kept = {*(action.dest for action in roles._actions), *_NUMBERS, "baseline"}
        given = {name: value for name, value in given.items() if name in kept}
    if "margin" not in given and "margin" in known:  # of a page
        given.pop("baseline", None)
    given |= {name: value for name, value in changes.items() if not isinstance(value, dict)}
    if "unmatched" not in known and given.get("unmatched") in {None, "error", "drop"}:
        given["unmatched"] = None  # a page drops the questions that a model lacks
    given = {name: value for name, value in given.items() if value is not None and value != ()}
    moved = given.keys() & _NUMBERS if command not in {"check", "describe"} else set()
    if any(not _takes_value(known.get(name), given[name]) for name in moved):
        return []
    words = [command, *given.pop("log")]
    return words + [
        word for name, action in known.items() if name in given
        for word in _option_text(action, given[name])
    ]  # fmt: skip


def _options_parser(command: str) -> ArgumentParser:
    parser = ArgumentParser(add_help=False)
    add_arguments(parser, command, brief=True)
    return parser


def _typed_options(command: str, words: Sequence[str]) -> dict[str, Any]:
    """The options that were typed to a command, with their values as they were typed."""
    parser = _options_parser(command)
    for action in parser._actions:
        action.type, action.choices, action.default = None, None, SUPPRESS
    options = vars(parser.parse_args(words))
    return {name: value for name, value in options.items() if name not in _OF_ANSWERS}


def _takes_value(action: Action | None, value: object) -> bool:
    """Whether a command has an option, with this value."""
    return action is not None and (not action.choices or value in action.choices)


def _option_text(action: Action, value: object) -> list[str]:
    """An option as one types it; a command of one metric gets the first of several."""
    name, values = action.option_strings[-1], value if isinstance(value, list) else [value]
    if value is True:
        return [name]
    if action.nargs is not None:
        return [name, *values]
    values = values if isinstance(action, _AppendAction) else values[:1]
    return [
        word for each in map(str, values)
        for word in ([f"{name}={each}"] if each.startswith("-") else [name, each])
    ]  # fmt: skip


# About ten options, which the help of a command shows; `--help-all` shows all.
_USUAL = {"help", "help_all", "log", "model", "question", "trial", "category", "by", "success",
          "overall", "metric"}  # fmt: skip
# For each command, the function that adds its options, and those that help shows beside the usual.
_OPTIONS: dict[str, tuple[Callable[[ArgumentParser], None], set[str]]] = {
    "summary": (_options_of_summary, {"confidence", "all"}),
    "report": (_options_of_report, {"confidence", "output", "baseline", "margin"}),
    "leaderboard": (_options_of_leaderboard, {"confidence", "format"}),
    "describe": (_options_of_describe, {"per", "format"}),
    "check": (add_format_argument, {"run", "format"}),
    "compare": (_options_of_compare, {"confidence", "baseline", "format"}),
    "rank": (_options_of_rank, {"confidence", "format"}),
    "counts": (add_format_argument, {"format"}),
    "gate": (_options_of_gate, {"baseline", "against", "margin", "at_least"}),
    "regressions": (_options_of_regressions, {"baseline", "fdr", "format"}),
    "plan": (_options_of_plan, {"power", "baseline", "half_width", "format"}),
    "questions": (_options_of_questions, {"per", "all", "format"}),
    "reruns": (_options_of_reruns, {"per", "n_rerun", "format"}),
    "card": (_options_of_card, {"output", "title"}),
    "frontier": (_options_of_frontier, {"cost", "format"}),
}


def add_arguments(parser: ArgumentParser, command: str, *, brief: bool) -> None:
    """Add the arguments of a command; a `brief` help shows those of most calls."""
    if command == "demo":
        parser.add_argument("folder", nargs="?", default=".", help="write into this folder")
        return
    tools: tuple[str, ...] = ()
    if not brief:
        from polars_scorio.logs.read import TOOLS as tools  # noqa: N811
    parser.add_argument("--help-all", action="help", help="show all options, and exit")
    add_log_arguments(parser, tools)
    add_options, usual = _OPTIONS[command]
    add_options(parser)
    for action in parser._actions:
        if brief and action.dest not in _USUAL | usual:
            action.help = SUPPRESS
