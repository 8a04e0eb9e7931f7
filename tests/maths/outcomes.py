"""Logs as nested lists, for the tests of prefixes and convergence."""

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
from hypothesis import strategies as st

from polars_scorio.maths.questions import Outcomes, States

Vector = tuple[int, ...]
Question = tuple[Sequence[int], Vector]  # classes of the trials in their order, prior trials
Log = list[list[Question]]  # the questions of each group


def log_of(*groups: Sequence[Sequence[int]], classes: int = 2) -> Log:
    """A log without prior trials."""
    return [[(trials, (0,) * classes) for trials in questions] for questions in groups]


def outcomes(log: Log) -> Outcomes:
    questions = [question for group in log for question in group]
    return Outcomes(
        np.array([each for trials, _ in questions for each in trials], dtype=np.int64),
        np.cumsum([0, *[len(trials) for trials, _ in questions]]),
        np.repeat(np.arange(len(log)), [len(group) for group in log]),
        len(log),
        np.array([prior for _, prior in questions]),
    )


def state(question: Question, n: int) -> tuple[Vector, Vector]:
    """Counts of the first n trials, as far as they exist, and of the prior trials."""
    trials, prior = question
    return tuple(list(trials[:n]).count(each) for each in range(len(prior))), prior


def longest(group: list[Question]) -> int:
    return max((len(trials) for trials, _ in group), default=0)


def named(states: States) -> list[Counter[tuple[Vector, Vector]]]:
    """How many questions of each group are in which state."""
    groups: list[Counter[tuple[Vector, Vector]]] = [Counter() for _ in range(states.groups)]
    for group, state, questions in zip(
        states.group.tolist(), states.state.tolist(), states.questions.tolist(), strict=True
    ):
        vectors = states.counts[state].tolist(), states.prior[state].tolist()
        groups[group][tuple(vectors[0]), tuple(vectors[1])] += questions
    return groups


def tallied(groups: Sequence[Sequence[tuple[Vector, Vector]]]) -> States:
    """States of groups that are lists of states."""
    rows = [(g, *vectors) for g, group in enumerate(groups) for vectors in group]
    group, counts, prior = (np.array(column) for column in zip(*rows, strict=True))
    return States.tally(counts, prior, group, np.ones_like(group), len(groups))


@st.composite
def logs(draw: st.DrawFn, groups: st.SearchStrategy[Iterator[int]], *, equal: bool = False) -> Log:
    """Ragged logs of two or three classes with prior trials; `groups`: questions of each group."""
    top = draw(st.integers(1, 2))
    length = draw(st.integers(1, 5))
    trials = st.lists(st.integers(0, top), min_size=length if equal else 1, max_size=length)
    prior = st.sampled_from([(0, 0, 0), (1, 0, 2)]).map(lambda vector: vector[: top + 1])
    return [
        [draw(st.tuples(trials, prior)) for _ in range(questions)] for questions in draw(groups)
    ]
