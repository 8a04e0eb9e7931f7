"""Subjects: what a log can be asked beside its outcomes. The package registers some of them."""

from importlib import import_module

import polars_scorio
from polars_scorio.subjects.of_rewards import RewardSums
from polars_scorio.subjects.of_votes import AnswerVotes
from polars_scorio.subjects.question_cells import Subject

# In the order in which faults are named.
SUBJECTS: tuple[type[Subject], ...] = (
    RewardSums,
    AnswerVotes,
    *(
        getattr(import_module(f"polars_scorio.{room}"), subject)
        for room, subject in polars_scorio.SUBJECTS.items()
    ),
)
