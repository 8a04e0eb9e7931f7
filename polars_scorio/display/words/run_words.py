"""Words on runs of training: their title, their gains, and the steps to take next."""

from __future__ import annotations

from dataclasses import replace

from polars_scorio.display.blocks import (
    Account,
    Drawing,
    Figure,
    Line,
    Section,
    TableBlock,
    Text,
    Title,
)
from polars_scorio.display.facts.gate_facts import FDR
from polars_scorio.display.facts.ranking_facts import Curve
from polars_scorio.display.facts.run_facts import SeveralRuns, StepQuestions, TrainingRun
from polars_scorio.display.numbers import Unit, named
from polars_scorio.display.phrases import all_of, count_of, short_name, step_words
from polars_scorio.display.words.ranking_words import (
    account_from,
    gap_cell,
    interval_table,
    score_cell,
)
from polars_scorio.display.words.section_words import question_lists, strips_drawing


def tell_run(run: TrainingRun) -> Account:
    """Gains and losses of a run."""
    unit, top = Unit(), run.fan.k[-1]
    first, last = run.curve.steps

    def moved(place: int, tries: str) -> str:
        before, after = run.fan.numbers[0, 0, place, 0], run.fan.numbers[0, -1, place, 0]
        gap = unit.gap(run.curve.diff[place], points=True)
        ends = unit.gaps(run.curve.lo[place], run.curve.hi[place])
        return f"{tries}: {unit.score(before)} → {unit.score(after)}, {gap} {ends}."

    one = run.board.first_tier.sum() == 1
    title = Title(
        steps_title(run.curve),
        "best step decided" if one else "best step undecided",
        "yes" if one else "",
    )
    numbers = f"{moved(0, 'One try')} {moved(len(run.fan.k) - 1, f'{top} tries')}"
    against = f"step {last} against step {first}"
    about = replace(run.about, metric=against, family="curve", errored=False)
    return account_from(
        [title], [("lede", numbers), ("aside", _reach_words(run))], about, _steps_table(run)
    )


def steps_title(curve: Curve) -> str:
    """Title of one run over its steps, from one band over all k."""
    (start, until), (end, _), (first, last) = curve.first, curve.last, curve.steps
    if start * end < 0:
        moves = ["up" if diff > 0 else "down" for diff in (curve.diff[0], curve.diff[-1])]
        return f"Pass@{until} is {moves[0]}, Pass@{curve.k[-1]} is {moves[1]}."
    gains, losses, than = curve.verdict_places(1), curve.verdict_places(-1), f"than step {first} "
    if not gains and not losses:
        return f"Nothing is decided between step {first} and step {last}."
    parts = [f"better {than}{gains}"] if gains else []
    parts += [f"worse {'' if gains else than}{losses}"] if losses else []
    return f"Step {last} is {', '.join(parts)}."


def _reach_words(run: TrainingRun) -> str:
    """Sentence on the questions that the last step never gets right, and those that are new."""
    lost, new = (len(run.turned_questions(lost=lost)) for lost in (True, False))
    (first, last), word = run.curve.steps, run.fan.word
    if not lost + new:
        return ""
    return (
        f"{count_of(lost, 'question')} {'was' if lost == 1 else 'were'} {word} at least once at "
        f"step {first} and never at step {last}; {new:,} the other way round."
    )


def _steps_table(run: TrainingRun) -> TableBlock:
    """The steps by one try, in their order; bright ones may be the best."""
    board, unit = run.board, run.board.unit
    lines = []
    for step in run.steps:
        at = board.models.index(step)
        number = score_cell(unit, board.lo[at], board.score[at], board.hi[at])
        lines.append((step, number, "a" if board.first_tier[at] else ""))
    return interval_table("steps", run.name, "avg", lines, percent=unit.percent)


def gains_table(curve: Curve) -> TableBlock:
    """The gain of a run at each k."""
    numbers = zip(curve.k, curve.lo, curve.diff, curve.hi, curve.better, strict=True)
    lines = [
        ("1 try" if k == 1 else f"{k} tries", gap_cell(Unit(), lo, mid, hi), ("", "a", "b")[better])
        for k, lo, mid, hi, better in numbers
    ]
    return interval_table("gains", "", "points", lines, percent=True, centre=0.0)


def gains_section(curve: Curve) -> Section:
    """The gain at each k, of the last step over the first one."""
    first, last = curve.steps
    gains, losses = curve.verdict_places(1), curve.verdict_places(-1)
    moves = [("gains", gains), ("loses", losses)][:: curve.first[0] or 1]
    said = ", ".join(f"{verb} {where}" for verb, where in moves if where)
    title = f"Step {last} {said or 'neither gains nor loses beyond chance'}."
    words = (f"Step {last} minus step {first} in Pass@k, in points. The {curve.level} intervals "
             f"hold for {all_of(len(curve.k))} k at once.")  # fmt: skip
    return Section("gains", title, [words], [gains_table(curve)])


def training_steps(run: TrainingRun) -> list[str]:
    """The step to take."""
    may, unit, top = {*run.board.leaders}, Unit(), run.fan.k[-1]
    earliest = next(step for step in run.steps if step in may)
    place = run.steps.index(earliest)
    taken, (first_step, last_step) = step_words(earliest), run.curve.steps
    steps = [f"Take step {taken}."]
    if len(may) > 1:
        score, last = (unit.score(run.fan.numbers[0, each, -1, 0]) for each in (place, -1))
        steps[0] = (
            f"Take step {taken}: the earliest of the {len(may):,} steps that may be the best on "
            f"one try; its Pass@{top} is {score}, against {last} at step {last_step}."
        )
    end, since = run.curve.last
    if end < 0:
        steps.append(f"If you search with {since} or more tries, step {first_step} is better than "
                    f"step {last_step}.")  # fmt: skip
    return steps


def steps_figures(run: TrainingRun) -> list[Figure]:
    """Pass@1, Pass@4, Pass@k and Pass^4 by step; below, steps that may be the best."""
    fan, unit, sizes, last = run.fan, Unit(), run.fan.k, len(run.fan.k) - 1
    four = sizes.index(4) if 4 in sizes else last
    drawn = [(0, last, "b", f"at least 1 of {sizes[last]}"), (0, 0, "a", "one try"),
             (1, four, "o", f"all {sizes[four]}")]  # fmt: skip
    if four < last:
        drawn.insert(1, (0, four, "o", f"at least 1 of {sizes[four]}"))
    lines, ends = [], []
    for kind, k, hue, words in drawn:
        numbers = fan.numbers[kind, :, k].T
        lines.append(Line(hue, numbers, at=run.places))
        ends.append((numbers[0, -1], unit.score(numbers[0, -1]), f"<br>{words}"))
    may, top = {*run.board.leaders}, run.steps.index(run.board.models[0])
    one_try = fan.numbers[0, :, 0, 0].tolist()
    marks = [(at, *(("a", 5) if step in may else ("o", 3)))
             for at, step in zip(run.places, run.steps, strict=True)]  # fmt: skip
    labels = [short_name(step_words(step), 12) for step in run.steps]
    data = {"kind": "one run", "lines": lines, "steps": [*zip(run.places, labels, strict=True)],
            "span": (), "ends": ends, "dots": marks, "best": [(run.places[top], one_try[top])],
            "below": "may be best"}  # fmt: skip
    start, end = (unit.score(one_try[step]) for step in (0, -1))
    leading = f"{len(may):,} of {len(run.steps):,}"
    note = (f"By {run.name}. Bands: {run.curve.level} intervals. Dots below: steps that may be "
            f"the best on one try ({leading}), for all steps together.")  # fmt: skip
    if None not in run.best:
        score, ends_of = unit.score(run.board.score[0]), unit.interval(*run.best)
        note += (f" Highest (dot): step {step_words(run.board.models[0])}, {score}; {ends_of} is "
                 "corrected for having been chosen.")  # fmt: skip
    drawing = Drawing("steps", data, f"By {run.name}, one try: {start} to {end}")
    return [drawing, Text("note", note)]


def step_questions_section(facts: StepQuestions) -> Section:
    """Every question at every step, the hardest at the first step on the left."""
    run, won, lost = facts.run, facts.won, facts.lost
    may, (first, _), word = {*run.board.leaders}, run.curve.steps, run.fan.word
    rows = [(f"step {step_words(step)}", step in may) for step in run.steps]
    sides = f"hardest at step {first}", f"easiest of {len(run.questions):,}"
    strips = strips_drawing(
        "steps" if len(run.steps) <= 20 else "many steps", rows, run.shares, sides
    )
    gone, new = run.turned_questions(lost=True), run.turned_questions(lost=False)
    names = ("Out of reach", "Came into reach")
    title = f"{count_of(len(gone), 'question')} went out of reach, {len(new):,} came into reach."
    if word != "right":
        names = (f"No longer {word}", f"New: {word}")
        title = f"{count_of(len(gone), 'question')} no longer {word}, {len(new):,} newly so."
    turned = dict(zip(names, (gone, new), strict=True))
    turned |= {f"Won since step {first}": won, f"Lost since step {first}": lost}
    moved = f"{count_of(len(won), 'question')} got better, {len(lost):,} got worse"
    rate = f"{100 * FDR:g} % false discoveries"
    alone = "A single question hardly ever shows that it went out of reach; many together do."
    words = f"Every question, every step. Full colour: {word} in all trials."
    tested = f"{moved}, each by a test of its own ({rate}). {alone if gone else ''}".strip()
    return Section("questions", title, [words, tested], [strips, *question_lists(turned)])


def runs_section(runs: SeveralRuns | None) -> Section:
    """Several runs along their steps: the first two with bands, the others thin."""
    if runs is None:
        return Section("steps", "")
    board, lines, ends = runs.board, list[Line](), []
    for place in range(len(board.models) - 1, -1, -1):
        numbers, two = runs.numbers[place], place < 2
        hue, at = board.hue(place) if two else "o", numbers[0].tolist()
        lines.append(Line(hue, numbers[1:], not two, at))
        ends += [(last, named(board.models[place]), "") for last in numbers[1, -1:] if two]
    steps = [(at, short_name(label, 12)) for at, label in runs.steps]
    data = {"kind": "several runs", "lines": lines, "ends": ends, "span": runs.span, "steps": steps,
            "percent": board.unit.percent}  # fmt: skip
    said = f"{runs.metric} along {runs.name}, with {runs.level} bands; grey: the others."
    leads = f"{runs.leading:,} of {count_of(len(steps), 'step')}"
    title = f"{named(board.models[0])} has the highest score at {leads}."
    return Section(
        "steps", title, [said], [Drawing("steps", data, f"{runs.metric} by {runs.name}")]
    )
