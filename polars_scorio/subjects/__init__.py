"""What can be asked of a log beside outcomes: each subject is one file, and one line here."""

from polars_scorio.subjects.of_costs import CostSums
from polars_scorio.subjects.of_rewards import RewardSums
from polars_scorio.subjects.of_verdicts import Verdicts
from polars_scorio.subjects.of_votes import AnswerVotes
from polars_scorio.subjects.question_cells import Subject

# In the order in which faults are named.
SUBJECTS: tuple[type[Subject], ...] = (
    RewardSums,
    AnswerVotes,
    Verdicts,
    CostSums,
)
