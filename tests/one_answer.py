"""One log, one answer: ask a log on every surface, and say where the answers differ.

Run: python -m tests.one_answer FILE_OR_FOLDER...
"""

import io
import json
import re
import shlex
import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import polars as pl

import polars_scorio as ps
from polars_scorio.accessors.frame import Scorio
from polars_scorio.command_line.log_input import read_log
from polars_scorio.command_line.main import command_parser, main
from polars_scorio.counting.log import bind_roles

MARGIN = "0.05"
SAME = 1e-5  # the JSON of a page has six digits
Scores = Mapping[str, float]


def printed(*words: str) -> tuple[int, str]:
    """The status of a command, and what it prints; 2 if it does not take an option."""
    out, status = io.StringIO(), 2
    with redirect_stdout(out), redirect_stderr(io.StringIO()), suppress(SystemExit):
        status = main(words)
    return status, out.getvalue()


def table(*words: str) -> pl.DataFrame | None:
    """The rows of a command as CSV, or None if it refuses."""
    status, text = printed(*words, "--format", "csv")
    return None if status in {1, 2} else pl.read_csv(io.StringIO(text), infer_schema_length=None)


def title_of(text: str) -> str:
    """A title without tags, marks and no-break spaces."""
    plain = unescape(re.sub("<[^>]+>", "", text)).replace("\N{NO-BREAK SPACE}", " ")
    return " ".join(plain.replace("\\", "").split())


@dataclass(frozen=True)
class Whole:
    """The rows of a result over all strata, by models whose column has any name."""

    model: str
    strata: tuple[str, ...]

    def of(self, rows: pl.DataFrame) -> pl.DataFrame:
        """The rows over all strata."""
        known = [name for name in (*self.strata, "stratum") if name in rows.columns]
        if not known or rows.select(known).n_unique() == 1:  # a page about one stratum
            return rows
        return rows.filter(*(pl.col(name).is_null() for name in known))

    def scores(self, rows: pl.DataFrame, number: str = "estimate") -> Scores:
        """The score of each model."""
        name = self.model if self.model in rows.columns else "model"
        mine = self.of(rows)
        return {str(model): score for model, score in mine.select(name, number).rows()}

    def first_tier(self, rows: pl.DataFrame) -> set[str]:
        """The models of tier 1."""
        name = self.model if self.model in rows.columns else "model"
        return {*map(str, self.of(rows).filter(tier=1)[name])}

    def winners(self, pairs: pl.DataFrame) -> set[str]:
        """The models that lost no pair."""
        rows = self.of(pairs).select(pl.col("model_a", "model_b", "better").cast(pl.String)).rows()
        lost = {b if better == a else a for a, b, better in rows if better is not None}
        return {name for a, b, _ in rows for name in (a, b)} - lost

    def gaps(self, pairs: pl.DataFrame) -> dict[tuple[str, str], tuple[float, ...]]:
        """Difference and ends of each pair, its names in order."""
        named = {}
        for a, b, *gap in self.of(pairs).select("model_a", "model_b", "diff", "lo", "hi").rows():
            if None not in gap:
                turned = (-gap[0], -gap[2], -gap[1])
                named[min(str(a), str(b)), max(str(a), str(b))] = (
                    tuple(gap) if str(a) < str(b) else turned
                )
        return named


@dataclass
class Answers:
    """What the surfaces say: their titles, winners, scores, differences and counts."""

    refused: dict[str, bool] = field(default_factory=dict)
    titles: dict[str, str] = field(default_factory=dict)
    winners: dict[str, set[str]] = field(default_factory=dict)
    scores: dict[str, Scores] = field(default_factory=dict)
    gaps: dict[str, Mapping[tuple[str, str], tuple[float, ...]]] = field(default_factory=dict)
    counts: dict[str, tuple[int, int]] = field(default_factory=dict)  # models and questions
    gate: dict[str, str] = field(default_factory=dict)
    best: set[str] = field(default_factory=set)  # of a sharper question: a part of tier 1


def page_of(folder: Path, *words: str) -> tuple[int, str, dict[str, Any]]:
    """The status of a report, its page, and the numbers in it."""
    file = folder / "page.html"
    status, _ = printed("report", *words, "-o", str(file))
    text = file.read_text(encoding="utf-8") if file.exists() else ""  # of an unknown file none
    numbers = re.search(r"href='data:application/json;charset=utf-8,([^']*)'", text)
    return status, text, json.loads(unquote(numbers[1])) if numbers else {}


def frame_of(part: dict[str, Any]) -> pl.DataFrame:
    """A frame of the JSON of a page."""
    return pl.DataFrame(part["rows"], part["columns"], orient="row", infer_schema_length=None)


def asked_log(*words: str) -> tuple[Scorio[Any], Whole, dict[str, Any]]:
    """The accessor of a log, how its rows over all strata are found, and options for them."""
    asked = command_parser("rank").parse_args(["rank", *words])
    log = read_log(asked)
    trials = bind_roles(log.frame.lazy(), log._roles)  # noqa: SLF001 - of the command
    model = next(iter(trials.models), "model")
    strata = (*trials.strata,)
    options: dict[str, Any] = {"overall": "macro"} if strata else {}
    if asked.target != "benchmark":
        options["target"] = asked.target
    return log, Whole(model, strata), options


def answers_of(folder: Path, *words: str) -> Answers:
    """All that the surfaces say of the log that some words of a command name."""
    found = Answers()
    status, page, numbers = page_of(folder, *words)
    found.refused["page"] = status != 0 or not numbers
    found.refused["terminal"] = printed("summary", *words)[0] != 0
    if found.refused["page"]:
        return found
    _titles(found, folder, page, *words)
    log, whole, options = asked_log(*words)
    with suppress(ValueError):
        _python(found, log, whole, options)
    _page(found, whole, page, numbers)
    _commands(found, whole, [*words, *["--overall", "macro"] * ("overall" in options)])
    if len(found.winners.get("rank", ())) and len(found.scores["rank"]) > 1:
        _gates(found, folder, whole, [*found.scores["rank"]], *words)
    return found


def _titles(found: Answers, folder: Path, page: str, *words: str) -> None:
    found.titles["page"] = title_of(re.search("<h1.*?</h1>", page)[0])
    found.titles["tab"] = title_of(re.search("<title>(.*?)</title>", page)[1])
    _, said = printed("summary", *words)
    start, words_of = found.titles["page"], " ".join(said.split())
    found.titles["terminal"] = start if start in words_of else words_of[: len(start)]
    _, said = printed("report", *words, "-o", "-")
    found.titles["Markdown"] = title_of(said.partition("\n")[0].removeprefix("# "))
    card = folder / "card.svg"
    printed("card", *words, "-o", str(card))
    found.titles["card"] = title_of(re.search('aria-label="(.*?)"', card.read_text("utf-8"))[1])


def _python(found: Answers, log: Scorio[Any], whole: Whole, options: dict[str, Any]) -> None:
    rank = log.rank(unmatched="drop", **options).lazy().collect()
    found.scores["rank"], found.winners["rank"] = whole.scores(rank), whole.first_tier(rank)
    cover = log.describe().lazy().collect()
    if not cover["missing"].sum():
        report = log.report(ps.avg(), **options).lazy().collect()
        found.scores["report"] = whole.scores(report)
        asked = cover.group_by(name for name in whole.strata if name in cover.columns)
        sizes = asked.agg(pl.col("questions").max()) if whole.strata else cover
        number = sizes["questions"].sum() if whole.strata else sizes["questions"].max()
        found.counts["describe"] = (len(found.scores["report"]), int(str(number)))
    board = log.leaderboard(ps.avg(), unmatched="drop", **options)
    column = "avg" if "avg" in board.columns else "estimate"
    found.scores["leaderboard"] = {
        str(model): score for model, score in board.select(whole.model, column).rows()
    }
    if len(found.scores["rank"]) > 1:
        pairs = log.compare(unmatched="drop", **options).lazy().collect()
        found.winners["compare"], found.gaps["compare"] = whole.winners(pairs), whole.gaps(pairs)
        best = whole.of(log.best(unmatched="drop", **options).lazy().collect())
        found.best = {*map(str, best["could_be_best"].explode())}


def _page(found: Answers, whole: Whole, page: str, numbers: dict[str, Any]) -> None:
    main_scope = numbers["overall"]
    if main_scope is None:  # no stratum has all models
        return
    found.scores["page"] = whole.scores(frame_of(main_scope["report"]).filter(metric="avg"))
    if "ranks" in main_scope:
        found.winners["page"] = whole.first_tier(frame_of(main_scope["ranks"]))
        pairs = frame_of(main_scope["pairs"])
        found.winners["pairs of the page"] = whole.winners(pairs)
        found.gaps["page"] = whole.gaps(pairs)
    size = re.search(r"</b> . (?:([\d,]+) models?, )?.*?([\d,]+) questions?", page)
    if "describe" in found.counts:
        models, questions = (int((number or "1").replace(",", "")) for number in size.groups())
        found.counts["page"] = (models, questions)
    command = re.search("<pre>(.*?)</pre>", page)
    if command is not None and "ranks" in main_scope:
        rows = table(*shlex.split(unescape(command[1]))[1:])
        tiers = rows is not None and "tier" in rows.columns
        found.winners["command of the page"] = (
            set() if rows is None else whole.first_tier(rows) if tiers else whole.winners(rows)
        )


def _commands(found: Answers, whole: Whole, words: list[str]) -> None:
    rank = table("rank", *words, "--unmatched", "drop")
    if rank is not None:
        found.scores["CSV"], found.winners["CSV"] = whole.scores(rank), whole.first_tier(rank)
    pairs = table("compare", *words, "--unmatched", "drop")
    if pairs is not None and pairs.height:
        found.winners["CSV of pairs"] = whole.winners(pairs)
        found.gaps["CSV"] = whole.gaps(pairs)
    status, text = printed("rank", *words, "--unmatched", "drop", "--format", "json")
    if status == 0:
        rows = pl.DataFrame(json.loads(text), infer_schema_length=None)
        found.winners["JSON"] = whole.first_tier(rows)


_CHIPS = {0: "pass", 3: "fail", 4: "undecided"}


def _gates(found: Answers, folder: Path, whole: Whole, models: list[str], *words: str) -> None:
    gate = ["--baseline", models[0], "--margin", MARGIN]
    file = folder / "gate.html"
    drop = ["--unmatched", "drop"]
    status, said = printed("gate", *words, *gate, *drop, "--html", str(file))
    if status not in _CHIPS:
        return
    found.gate["status"] = _CHIPS[status]
    rows = whole.of(table("gate", *words, *gate, *drop))
    order = ("fail", "undecided", "pass")
    found.gate["CSV"] = min(rows["verdict"], key=order.index)
    mark = {"PASS": "pass", "FAIL": "fail", "UNDECIDED": "undecided"}
    found.gate["terminal"] = mark[re.search(r"\b(PASS|FAIL|UNDECIDED)\b", said)[1]]
    for name, page in (
        ("page", file.read_text("utf-8")),
        ("report", page_of(folder, *words, *gate)[1]),
    ):
        chip = re.search('<span class="chip[^>]*>(.*?)</span>', page)[1]
        found.gate[name] = title_of(chip).removeprefix("gate: ").partition(" on ")[0]
        title = title_of(re.search("<h1.*?</h1>", page)[0])
        if title not in " ".join(said.split()):
            found.gate[f"title of the {name}"] = title


def differences(found: Answers) -> Iterator[str]:
    """What surfaces say differently, a sentence each."""
    if len({*found.refused.values()}) > 1:
        yield f"refused by some: {found.refused}"
    if len({*found.titles.values()}) > 1:
        yield f"titles: {found.titles}"
    if len({frozenset(each) for each in found.winners.values()}) > 1:
        yield f"may be the best: {found.winners}"
    if not found.best <= found.winners.get("rank", found.best):
        yield f"may be the best: {found.best} by best(), {found.winners['rank']} by rank()"
    named = re.match(r"(.+?) (?:is the best of|beats) ", found.titles.get("page", ""))
    for surface, winners in found.winners.items():
        if named and ({named[1]} != winners and "\N{HORIZONTAL ELLIPSIS}" not in named[1]):
            yield f"the title names {named[1]}, {surface} {sorted(winners)}"
    yield from _apart("score", found.scores)
    yield from _apart("difference", found.gaps)
    if len({*found.counts.values()}) > 1:
        yield f"models and questions: {found.counts}"
    if len({*found.gate.values()}) > 1:
        yield f"gate: {found.gate}"


def _apart(what: str, of: Mapping[str, Mapping[Any, Any]]) -> Iterator[str]:
    """Numbers of one thing that differ between surfaces."""
    for (one, numbers), (other, others) in zip([*of.items()], [*of.items()][1:], strict=False):
        if {*numbers} != {*others}:
            alone = sorted(map(str, {*numbers} ^ {*others}))
            yield f"{what} of {alone} is in {one} or {other} alone"
        for key in numbers.keys() & others.keys():
            pairs = zip(_numbers(numbers[key]), _numbers(others[key]), strict=True)
            if any(abs(a - b) > SAME * max(1.0, abs(a)) for a, b in pairs):
                yield f"{what} of {key}: {numbers[key]} in {one}, {others[key]} in {other}"


def _numbers(value: Any) -> tuple[float, ...]:
    return () if value is None else value if isinstance(value, tuple) else (value,)


def logs_of(place: str) -> list[list[str]]:
    """The words that name logs: those in a folder without a log of its own, else one with options.

    An argument with options is one word of the shell, such as "log.csv --by step".
    """
    words = shlex.split(place)
    folder = Path(words[0])
    inside = (
        sorted(each for each in folder.iterdir() if each.suffix != ".md") if folder.is_dir() else []
    )
    return [[str(each)] for each in inside] if inside and len(words) == 1 else [words]


def said_of(words: list[str]) -> tuple[str, str]:
    """The title of a log, and what its surfaces say differently."""
    with tempfile.TemporaryDirectory() as folder:
        answers = answers_of(Path(folder), *words)
    apart = "; ".join(differences(answers))
    alike = "refused by all" if all(answers.refused.values()) else "one answer"
    return answers.titles.get("page", ""), apart or alike


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for asked_words in [words for place in sys.argv[1:] for words in logs_of(place)]:
        named, answer = said_of(asked_words)
        print(f"{Path(asked_words[0]).name:<24} {named[:70]:<70} {answer[:400]}")  # noqa: T201
