"""From the counts of questions to those of groups: the rest of the one pass over the log."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from polars_scorio.counting.categories import Classes
from polars_scorio.counting.checks import (
    MISSING,
    PLACE,
    PROBLEM,
    ROWS,
    Rule,
    check_frame,
    mark_problems,
    quoted_columns,
    raise_first,
    refuse_bad,
)
from polars_scorio.counting.cluster_membership import cluster_keys
from polars_scorio.counting.common_questions import (
    PARTIAL,
    Alignment,
    refuse_nothing_in_common,
    refuse_partial,
    with_partial,
)
from polars_scorio.counting.cost_sums import LARGEST_COST, LEAST_COST_SIZE, TOTAL_COST
from polars_scorio.counting.duplicates.by_sum import DIGEST, ids_are_summable
from polars_scorio.counting.duplicates.second_look import trial_id_rules
from polars_scorio.counting.lists import AS_ROWS
from polars_scorio.counting.refusals import (
    refusal_rules,
    refuse_beyond,
    refuse_free,
    refuse_tiny,
    refuse_unscored,
)
from polars_scorio.counting.reward_sums import LEAST_REWARD_SIZE, largest_size
from polars_scorio.counting.success_labels import Watch, watch_labels
from polars_scorio.counting.tally import (
    DROPPED,
    QUESTIONS,
    TIMES,
    class_columns,
    count_questions,
    value_columns,
)
from polars_scorio.counting.trials import STAND_IN, Trials

_MATCHED, _EARLIER, _PROBLEMS = ":matched", ":earlier", ":problems"
_SCORED, _KEPT, _ALL, _PAID = ":scored", ":kept", ":all", ":paid"
_DEAREST, _SIZE = ":dearest", ":size"


def group_plan(
    trials: Trials,
    classes: Classes,
    prior: Trials | None = None,
    *,
    per_question: bool = False,
    questions: Alignment = "any",
    sequences: bool = False,
) -> pl.LazyFrame:
    """The questions of every group, in one plan over one scan of the trials.

    Questions whose trial ids are in doubt are read once more while it is checked.

    Parameters
    ----------
    trials : Trials
        The log.
    classes : Classes
        Into which classes its trials are counted.
    prior : Trials, optional
        Prior trials of the same questions.
    per_question : bool
        Whether each question keeps its name.
    questions : "any", "same" or "common"
        Whether the models of a stratum may have different questions, must have the same ones, or
        lose those that another one lacks.
    sequences : bool
        Whether the classes of the trials themselves are needed, in the order of their ids, or
        their rewards where sums of them say all of a question; then memory grows with the trials.

    Returns
    -------
    LazyFrame
        One row per group, ascending. `QUESTIONS` is a list of a struct for each question, in any
        order: its name (if `per_question`), its `CLUSTER` (if the log has them), its counts, its
        prior counts, how many missing outcomes were `DROPPED`, and its rewards or `BALLOTS` (if
        `classes` asks for them) or its `SEQUENCE` of classes. Where nothing but counts is kept
        and there are no strata, questions that are alike share a struct, which says in `TIMES` how
        many they are.
    """
    broken = [*refusal_rules(trials, classes), *trial_id_rules(trials)]
    watched = watch_labels(trials, classes, class_columns(classes))
    earlier = None if prior is None else _prior_counts(trials, classes, prior)
    one = _OnePass(trials, classes, prior, earlier, questions, broken, watched)
    values = value_columns(classes, sequences=sequences)
    names = [trials.question.name] if per_question or values else []
    names += cluster_keys(trials)
    grouped = one.grouped(one.marked(sequences=sequences), [*names, *values])
    return check_frame(grouped.sort(*trials.groups), one.check).select(*trials.groups, QUESTIONS)


@dataclass(frozen=True, slots=True, eq=False)
class _OnePass:
    """From rows to questions, to groups, and one check at the end of it.

    Attributes
    ----------
    trials, classes, prior, questions
        As in `group_plan`.
    earlier : LazyFrame or None
        The counts of the questions that have prior trials.
    broken : list of Rule
        What is checked of each question.
    watched : Watch
        What is noted of the labels.
    """

    trials: Trials
    classes: Classes
    prior: Trials | None
    earlier: pl.LazyFrame | None
    questions: Alignment
    broken: list[Rule]
    watched: Watch

    @property
    def columns(self) -> list[str]:
        """The counts, and the prior counts, of a question."""
        prior = [] if self.prior is None else class_columns(self.classes, ":d")
        return [*class_columns(self.classes), *prior]

    @property
    def matched(self) -> list[pl.Expr]:
        """How many questions have prior trials."""
        return [] if self.prior is None else [pl.col(_MATCHED).sum()]

    def marked(self, *, sequences: bool) -> pl.LazyFrame:
        """One row for each question, and what is wrong with it."""
        trials, prior = self.trials, self.prior
        rows = count_questions(trials, self.classes, self.watched, sequences=sequences)
        rows = mark_problems(rows, trials.question.name, self.broken)
        if prior is not None and self.earlier is not None:
            rows = _with_prior(rows, self.earlier, _shared_keys(trials, prior), self.classes)
        return rows if self.questions == "any" else with_partial(rows, trials)

    def grouped(self, rows: pl.LazyFrame, kept: list[str]) -> pl.LazyFrame:
        """One row for each group, with its questions, and what the check looks at."""
        facts = [pl.col(*kept, *self.columns), pl.col(MISSING).alias(DROPPED)]
        times = pl.lit(1)
        # A hundred states instead of a million questions; few questions of a stratum are alike.
        if not kept and not self.trials.by and self.questions == "any":
            rows, times = self._shared_states(rows), pl.col(TIMES)
            facts.append(times)
        question = pl.struct(facts)
        scored = left = pl.sum_horizontal(class_columns(self.classes)) > 0
        if self.questions == "common":
            shared = pl.col(PARTIAL).is_null()
            question, left = question.filter(shared), scored & shared
        problem = pl.struct(*self._fault_columns).filter(pl.col(PROBLEM).is_not_null())
        grouped = rows.group_by(*self.trials.groups).agg(
            question.alias(QUESTIONS),
            problem.alias(_PROBLEMS),
            scored.any().alias(_SCORED),
            left.any().alias(_KEPT),
            *([] if self.questions == "any" else [pl.col(PARTIAL).drop_nulls()]),
            *self.watched.groups(),
            *self._number_sizes,
            _trials_of_all(self.trials, self.prior, self.columns, times).alias(_ALL),
            *self.matched,
        )
        if self.prior is None or self.earlier is None:
            return grouped
        earlier = _earlier_groups(self.trials, self.prior, self.earlier)
        return pl.concat([grouped, earlier], how="diagonal")

    @property
    def _number_sizes(self) -> list[pl.Expr]:
        """How large the costs and rewards of a group are, where sums of them are needed."""
        paid = (pl.col(TOTAL_COST) > 0).any().alias(_PAID)
        dearest = pl.col(LARGEST_COST).max().alias(_DEAREST)
        return [
            *([] if self.classes.costs is None else [paid, dearest]),
            *([largest_size().alias(_SIZE)] if self._sums_any_rewards else []),
        ]

    @property
    def _sums_any_rewards(self) -> bool:
        """Whether rewards are summed whose range nobody gave."""
        rewards = self.classes.rewards
        return rewards is not None and rewards.averages and rewards.range is None

    @property
    def _fault_columns(self) -> list[str]:
        """The columns of a question that say what is wrong with it."""
        sums = [ROWS, DIGEST] if ids_are_summable(self.trials) else []  # for the second look
        return [*dict.fromkeys([PROBLEM, PLACE, *quoted_columns(self.broken), *sums])]

    def _shared_states(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        """One row for all questions of a group that are alike, and one for each bad question."""
        keys = [*self.trials.groups, *self.columns, MISSING, PROBLEM, PLACE]
        quoted = [name for name in self._fault_columns if name not in keys]
        return rows.group_by(*keys).agg(
            pl.len().cast(pl.Int64).alias(TIMES),
            pl.col(quoted).first(),
            *(pl.col(name).sum() for name in self.watched.questions()),
            *self.matched,
        )

    def check(self, whole: pl.DataFrame) -> pl.DataFrame:
        """Refuse what is wrong anywhere in the log; for `check_frame`."""
        trials, prior = self.trials, self.prior
        if whole[_PROBLEMS].list.len().sum():
            bad = whole.select(*trials.groups, _PROBLEMS).filter(pl.col(_PROBLEMS).list.len() > 0)
            raise_first(bad.explode(_PROBLEMS, **AS_ROWS).unnest(_PROBLEMS), trials, self.broken)
        seen = whole if prior is None else whole.filter(pl.col(QUESTIONS).is_not_null())
        refuse_beyond(seen, trials, _ALL)
        if not seen[_SCORED].all():
            refuse_unscored(seen.filter(~pl.col(_SCORED)), trials)
        if self.classes.costs is not None:
            refuse_tiny(seen, trials, _DEAREST, LEAST_COST_SIZE, "cost")
            refuse_free(seen.filter(~pl.col(_PAID)), trials)
        if self._sums_any_rewards:
            refuse_tiny(seen, trials, _SIZE, LEAST_REWARD_SIZE, "reward")
        if prior is not None and seen.height and whole[_EARLIER].sum() and not seen[_MATCHED].sum():
            raise ValueError(
                "prior: its trials share no question with the data. Questions are matched on "
                f"{_shared_keys(trials, prior)}: compare these columns of the two frames."
            )
        if self.questions == "same":
            refuse_partial(seen, trials)
        elif self.questions == "common":
            refuse_nothing_in_common(seen.filter(~pl.col(_KEPT)), trials)
        self.watched.check(seen, trials)
        return seen


def _trials_of_all(
    trials: Trials, prior: Trials | None, columns: list[str], times: pl.Expr
) -> pl.Expr:
    """How many trials the questions have together, where rows of the log stand for many."""
    counted = trials.count is not None or (prior is not None and prior.count is not None)
    of_each = pl.sum_horizontal(pl.col(MISSING, *columns).cast(pl.Int128))
    return (of_each * times).sum() if counted else pl.lit(0)


def _shared_keys(trials: Trials, prior: Trials) -> list[str]:
    """The columns by which prior trials find their question."""
    return [*(key for key in trials.keys if key in prior.keys), trials.question.name]


def _prior_counts(trials: Trials, classes: Classes, prior: Trials) -> pl.LazyFrame:
    """The counts of the questions that have prior trials."""
    broken = [
        *refusal_rules(prior, classes)[:-1],
        *trial_id_rules(prior),
    ]  # a question may have no prior trial
    watched = watch_labels(prior, classes, class_columns(classes))
    table = mark_problems(count_questions(prior, classes, watched), prior.question.name, broken)
    names = zip(class_columns(classes), class_columns(classes, ":d"), strict=True)
    renamed = [pl.col(c).alias(d) for c, d in names]

    def check(questions: pl.DataFrame) -> pl.DataFrame:
        watched.refuse_alike(questions, prior)
        return refuse_bad(prior, broken)(questions)

    return check_frame(table, check).select(*_shared_keys(trials, prior), *renamed)


def _with_prior(
    questions: pl.LazyFrame, earlier: pl.LazyFrame, on: list[str], classes: Classes
) -> pl.LazyFrame:
    """Add the prior counts of every question, zero where it has none."""
    columns = class_columns(classes, ":d")
    return questions.join(earlier, on=on, how="left").with_columns(
        pl.col(columns[0]).is_not_null().alias(_MATCHED), *(pl.col(d).fill_null(0) for d in columns)
    )


def _earlier_groups(trials: Trials, prior: Trials, earlier: pl.LazyFrame) -> pl.LazyFrame:
    """How many questions with prior trials there are, beside the groups of the data.

    As rows of their own: a filter on the groups then leaves out those of other groups, which
    therefore are not missed in the data.
    """
    keys = [
        pl.col(part.name) if part.name in prior.keys else pl.lit(None, part.dtype).alias(part.name)
        for part in (*trials.by, trials.model)
        if part is not None
    ]
    one = pl.lit(1, pl.UInt32).alias(_EARLIER)
    rows = earlier.select(*(keys or [STAND_IN]), one)
    return rows.group_by(*trials.groups).agg(pl.col(_EARLIER).sum())
