"""Words on runs of training: their title, their gains, and the steps to take next."""

from __future__ import annotations

from dataclasses import replace

from polars_scorio.display.blocks import Account, Section, TableBlock, Title
from polars_scorio.display.facts.ranking_facts import About, Curve
from polars_scorio.display.facts.run_facts import TrainingRun
from polars_scorio.display.numbers import Unit
from polars_scorio.display.phrases import count_of, step_words
from polars_scorio.display.words.ranking_words import gap_cell, interval_table, score_cell, tell


def tell_run(run: TrainingRun, about: About) -> Account:
    """Gains and losses of a run."""
    unit, top = Unit(), run.fan.k[-1]
    first, last = run.ends

    def moved(place: int, tries: str) -> str:
        before, after = run.fan.numbers[0, 0, place, 0], run.fan.numbers[0, -1, place, 0]
        gap = unit.gap(run.curve.diff[place], points=True)
        ends = unit.gaps(run.curve.lo[place], run.curve.hi[place])
        return f"{tries}: {unit.score(before)} → {unit.score(after)}, {gap} {ends}."

    one = run.board.first_tier.sum() == 1
    title = Title(
        steps_title(run.curve, first, last),
        "best step decided" if one else "best step undecided",
        "yes" if one else "",
    )
    numbers = f"{moved(0, 'One try')} {moved(len(run.fan.k) - 1, f'{top} tries')}"
    against = f"step {last} against step {first}"
    about = replace(about, metric=against, family="curve", errored=False)
    return tell(
        [title], [("lede", numbers), ("aside", _reach_words(run))], about, _steps_table(run)
    )


def steps_title(curve: Curve, first: str, last: str) -> str:
    """Title of one run over its steps, from one band over all k."""
    (start, until), (end, _) = curve.first, curve.last
    if start * end < 0:
        moves = ["up" if diff > 0 else "down" for diff in (curve.diff[0], curve.diff[-1])]
        return f"Pass@{until} is {moves[0]}, Pass@{curve.k[-1]} is {moves[1]}."
    gains, losses, than = curve.places(1), curve.places(-1), f"than step {first} "
    if not gains and not losses:
        return f"Nothing is decided between step {first} and step {last}."
    parts = [f"better {than}{gains}"] * bool(gains)
    parts += [f"worse {'' if gains else than}{losses}"] * bool(losses)
    return f"Step {last} is {', '.join(parts)}."


def _reach_words(run: TrainingRun) -> str:
    """Sentence on the questions that the last step never gets right, and those that are new."""
    lost, new = (len(run.turned(lost=lost)) for lost in (True, False))
    (first, last), word = run.ends, run.fan.word
    if not lost + new:
        return ""
    return (
        f"{count_of(lost, 'question')} {word} at least once at step {first} "
        f"{'is' if lost == 1 else 'are'} never {word} at step {last}; {new:,} the other way "
        "round."
    )


def _steps_table(run: TrainingRun) -> TableBlock:
    """The steps by one try, in their order; bright ones may be the best."""
    board, unit = run.board, run.board.unit
    lines = []
    for step in run.steps:
        at = board.models.index(step)
        number = score_cell(unit, board.lo[at], board.score[at], board.hi[at])
        lines.append((step, number, "a" * bool(board.first_tier[at])))
    return interval_table("steps", run.name, "avg", lines, percent=unit.percent)


def gains_table(curve: Curve) -> TableBlock:
    """The gain of a run at each k."""
    numbers = zip(curve.k, curve.lo, curve.diff, curve.hi, curve.better, strict=True)
    lines = [
        ("1 try" if k == 1 else f"{k} tries", gap_cell(Unit(), lo, mid, hi), ("", "a", "b")[better])
        for k, lo, mid, hi, better in numbers
    ]
    return interval_table("gains", "", "points", lines, percent=True, centre=0.0)


def gains_section(curve: Curve, first: str, last: str, level: str) -> Section:
    """The gain at each k, of the last step over the first one."""
    moves = [("gains", curve.places(1)), ("loses", curve.places(-1))][:: curve.first[0] or 1]
    said = ", ".join(f"{verb} {where}" for verb, where in moves if where)
    title = f"It {said or 'neither gains nor loses beyond chance'}."
    words = (f"Step {last} less step {first} in Pass@k, in points. The {level} intervals hold for "
             f"all {len(curve.k)} k at once.")  # fmt: skip
    return Section("gains", title, [words], [gains_table(curve)])


def next_of_steps(run: TrainingRun) -> list[str]:
    """The step to take."""
    may, unit, top = {*run.board.leaders}, Unit(), run.fan.k[-1]
    earliest = next(step for step in run.steps if step in may)
    place = run.steps.index(earliest)
    taken, (first_step, last_step) = step_words(earliest), run.ends
    steps = [f"Take step {taken}."]
    if len(may) > 1:
        score, last = (unit.score(run.fan.numbers[0, each, -1, 0]) for each in (place, -1))
        steps[0] = (
            f"Take step {taken}: the earliest of the {len(may):,} steps that may be the best by "
            f"one try; its Pass@{top} is {score}, that of step {last_step} {last}."
        )
    end, since = run.curve.last
    if end < 0:
        steps.append(f"If you search with {since} or more tries, step {first_step} is better than "
                    f"step {last_step}.")  # fmt: skip
    return steps
