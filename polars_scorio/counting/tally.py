"""Counts of each question, in one group_by."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import polars as pl

from polars_scorio.counting.categories import (
    ERROR_LABEL,
    UNWATCHED,
    Classes,
    LabelNotes,
    Need,
    watch_labels,
)
from polars_scorio.counting.checks import (
    AS_ROWS,
    BAD,
    MISSING,
    OUTSIDE,
    PLACE,
    PROBLEM,
    ROWS,
    Number,
    Rule,
    Tally,
    WholePlan,
    joined_list,
    least_number,
    mark_problems,
    over_parts,
    over_trials,
    quoted_columns,
    raise_first,
    refuse_bad,
    summed_number,
)
from polars_scorio.counting.common_questions import (
    PARTIAL,
    Alignment,
    cluster_keys,
    in_one_cluster,
    refuse_nothing_in_common,
    refuse_partial,
    with_partial,
)
from polars_scorio.counting.log import (
    CATEGORY,
    CLUSTER,
    COUNT,
    MISREAD,
    STAND_IN,
    TRIAL,
    TRUTH,
    Trials,
    category_literal,
    column_category,
    refuse_repeats,
)
from polars_scorio.counting.refusals import (
    DIGEST,
    distinct_counted,
    id_hash,
    id_numbers,
    refusal_rules,
    refuse_beyond,
    refuse_unscored,
    trial_id_rules,
)
from polars_scorio.counting.roles import Category, is_label

# The questions of a group, and what they hold beside their counts; the categories of a question.
QUESTIONS, DROPPED, SEQUENCE, ERRORS = ":questions", ":dropped", ":sequence", ":errors"
STATES = ":states"
_MOST_COLUMNS = 8  # categories with a column each
_BINARY = Classes((0, 1), None)
# How many questions of a group are alike, where these share a struct.
TIMES = ":times"


def counts_plan(trials: Trials) -> pl.LazyFrame:
    """How many trials of each question fell into each category; see `Scorio.counts`."""
    refuse_count_names(trials)
    questions, few = category_tallies(trials)
    return counts_frame(questions, trials, trial_id_rules(trials), few)


def category_tallies(trials: Trials) -> tuple[pl.LazyFrame, Classes | None]:
    """One row per question, with a column for each category if there are few, and these."""
    few = _few_categories(trials)
    if few is None:
        return question_tallies(trials), None
    return count_questions(trials, few, strays=False), few


def binary_counts(trials: Trials) -> pl.DataFrame | None:
    """The counts of a lazy log, by one pass over 0, 1 and null; None if it may have others."""
    if trials.count is not None or trials.cluster is not None:
        return None
    if not trials.category.dtype.is_integer():
        return None
    refuse_count_names(trials)
    questions = count_questions(trials, _BINARY).collect(engine="streaming")
    if questions[OUTSIDE].count():
        return None
    plan = counts_frame(questions.lazy(), trials, trial_id_rules(trials), _BINARY)
    return plan.collect(engine="streaming")


def _few_categories(trials: Trials) -> Classes | None:
    """The categories, if they are truth values, or few whole numbers of a log in memory."""
    category, dtype = pl.col(CATEGORY), trials.category.dtype
    if trials.cluster is not None:
        return None
    if dtype == pl.Boolean:
        return _BINARY
    if trials.study is None or not dtype.is_integer():
        return None
    ends = trials.rows().select(least=category.min(), most=category.max()).collect().row(0)
    least, most = (0, 0) if None in ends else ends
    few = most - least < _MOST_COLUMNS
    return Classes(tuple(range(least, most + 1)), None) if few else None


def refuse_count_names(trials: Trials) -> None:
    """Refuse roles of which the counts would have two columns of one name."""
    cluster = [] if trials.cluster is None else [trials.cluster.name]
    keys = [*trials.keys, trials.question.name, *cluster]
    refuse_repeats([*keys, trials.category.name, count_name(trials)])


def question_tallies(trials: Trials, *, labels: bool = False) -> pl.LazyFrame:
    """One row per question: its categories with their counts, and what the rules look at.

    `STATES` is a list of structs of `CATEGORY` and `COUNT`; `ROWS`, `MISSING` and, if trial ids are
    checked, `DIGEST` or `IDS` and `NO_ID`, are numbers. With `labels`, a category has a struct for
    each label that people gave.
    """
    keys = [*trials.groups, trials.question.name, *cluster_keys(trials)]
    numbers = [_row_number(trials), *_fault_numbers(trials), *id_numbers(trials)]
    extra = {}
    if labels and trials.truth is not None:
        extra = {TRUTH: trials.truth.without_nan}
    outcome = [CATEGORY, *extra]
    rows = trials.rows(extra).with_columns(*id_hash(trials))
    cells = rows.group_by(*keys, *outcome).agg(*over_trials(numbers))
    missing = pl.when(pl.col(CATEGORY).is_null()).then(pl.col(ROWS))
    states = pl.struct(*outcome, pl.col(ROWS).alias(COUNT))
    sums = [summed_number(MISSING, missing.sum()), joined_list(STATES, states)]
    questions = cells.group_by(*keys).agg(*over_parts(numbers), *over_trials(sums))
    questions = questions.with_columns(pl.col(ROWS, MISSING).cast(pl.Int64, strict=False))
    return distinct_counted(in_one_cluster(questions, trials, [*numbers, *sums]), trials)


def counts_frame(
    questions: pl.LazyFrame, trials: Trials, identity: Sequence[Rule], few: Classes | None
) -> pl.LazyFrame:
    """The counts frame of tallied questions, once the rules have looked at them.

    Trial ids are checked by the rules of `identity`; with `few` categories each has a column.
    """
    question, broken = trials.question.name, [*refusal_rules(trials), *identity]
    keys = [*trials.groups, question, *cluster_keys(trials)]
    sums = [ROWS, DIGEST] if any(rule.recheck for rule in identity) else []
    states = [MISSING, *few.columns()] if few else [STATES]
    named = dict.fromkeys([*keys, *states, PROBLEM, PLACE, *quoted_columns(broken), *sums])
    kept = mark_problems(questions, question, broken).select(*named)
    checked = WholePlan(kept).then(refuse_bad(trials, broken)).plan()
    if few:  # in their order already, so that half as many rows are sorted
        dtype = trials.category.dtype
        labels = pl.Series([None, *(few.known or ())], dtype=pl.Int64).cast(dtype).to_list()
        # Sorting the questions of each group alone takes half the time of sorting all of them.
        one = pl.struct(question, *states).sort_by(question).alias(QUESTIONS)
        ordered = checked.group_by(*trials.groups).agg(one).sort(*trials.groups)
        cells = ordered.explode(QUESTIONS, **AS_ROWS).unnest(QUESTIONS)
        cells = cells.with_columns(
            pl.lit(labels, pl.Array(dtype, len(labels))).alias(CATEGORY),
            pl.concat_arr(states).alias(COUNT),
        )
        # A filter on the keys passes this, and so reaches the log.
        cells = cells.explode(CATEGORY, COUNT, **AS_ROWS).filter(pl.col(COUNT) > 0)
    else:
        cells = checked.explode(STATES, **AS_ROWS).unnest(STATES).sort(*keys, CATEGORY)
    cluster = trials.cluster
    return cells.select(
        *trials.keys,
        question,
        *([] if cluster is None else [pl.col(CLUSTER).cast(cluster.dtype).alias(cluster.name)]),
        pl.col(CATEGORY).alias(trials.category.name),
        pl.col(COUNT).cast(pl.UInt64).alias(count_name(trials)),
    )


def count_name(trials: Trials) -> str:
    """The name of the counts in a frame of counts."""
    return trials.count.name if trials.count else "count"


def count_questions(
    trials: Trials,
    classes: Classes,
    watched: LabelNotes = UNWATCHED,
    tally: Tally | None = None,
    *,
    strays: bool = True,
) -> pl.LazyFrame:
    """One row per question: its counts, what a `tally` adds, and what the rules look at.

    Without `strays`, all categories are known to be in some class.
    """
    # All classes but the first are counted, and that one is the rest: a sum less over the rows.
    first, *later = classes.columns()
    tally = classes.tally(trials) if tally is None else tally
    members = class_members(trials, classes)
    stray = stray_category(trials, classes, members) if strays else None
    by_row = [] if classes.summed else [*zip(later, members[1:], strict=True)]
    counts = {name: _weighed_by_count(trials, member) for name, member in by_row}
    hits = {
        name: _weighed_by_count(trials, _has_category(trials, label))
        for name, label in watched.summed.items()
    }
    # Computed before the aggregation: the in-memory engine is twice as slow inside it.
    rows = watched.noted(trials.rows(tally.read), trials, truth=TRUTH in tally.read).with_columns(
        *id_hash(trials),
        **counts,
        **hits,
        **({} if stray is None else {OUTSIDE: stray}),
        **tally.of_trial,
    )
    numbers = [
        _row_number(trials),
        summed_number(MISSING, _missing_count(trials)),
        *(summed_number(name, pl.col(name).sum()) for name in (*counts, *hits)),
        *([] if stray is None else [least_number(OUTSIDE, pl.col(OUTSIDE).min())]),
        *id_numbers(trials),
        *_fault_numbers(trials),
        *tally.numbers,
    ]
    keys = [*trials.groups, trials.question.name, *cluster_keys(trials)]
    questions = rows.group_by(*keys, *tally.parts).agg(over_trials(numbers))
    if tally.parts:
        parts = questions.with_columns(**tally.of_part).group_by(*keys)
        questions = parts.agg(*over_parts(numbers), *over_trials(tally.of_parts))
        numbers += tally.of_parts
    questions = distinct_counted(in_one_cluster(questions, trials, numbers), trials)
    return (
        # A cast inside the aggregation would cost the in-memory engine its partial sums.
        questions.with_columns(pl.col(ROWS, MISSING, *counts).cast(pl.Int64, strict=False))
        .with_columns(**tally.derived)
        .with_columns((pl.col(ROWS) - pl.sum_horizontal(MISSING, *later)).alias(first))
    )


def trial_succeeded(trials: Trials, classes: Classes) -> pl.Expr:
    """Whether a trial succeeded."""
    members = class_members(trials, classes)
    return pl.any_horizontal(members[j] for j in classes.successful)


def success_count(classes: Classes) -> pl.Expr:
    """How many trials succeeded, of which the first class is what the others leave."""
    first, *later = columns = classes.columns()
    rest = pl.col(ROWS) - pl.sum_horizontal(MISSING, *later)
    return pl.sum_horizontal(
        rest if columns[j] == first else pl.col(columns[j]) for j in classes.successful
    )


@dataclass(frozen=True, slots=True)
class Sequences(Need):
    """The trials of each question in the order of their ids: their rewards, or their classes."""

    def tally(self, trials: Trials, classes: Classes) -> Tally:
        """A list for each question."""
        assert trials.trial is not None  # callers have seen to that
        outcome = class_of_trial(class_members(trials, classes))
        listed = pl.col(SEQUENCE).sort_by(TRIAL).drop_nulls()
        return Tally(
            read={TRIAL: trials.trial.without_nan},
            of_trial={SEQUENCE: pl.col(CATEGORY).cast(pl.Float64) if classes.summed else outcome},
            numbers=(joined_list(SEQUENCE, listed),),
            kept=(SEQUENCE,),
        )


@dataclass(frozen=True, slots=True)
class ErrorLabels(Need):
    """How many failures of each question have the label of an error."""

    def tally(self, trials: Trials, classes: Classes) -> Tally:
        """Their number; empty where nobody says what succeeds."""
        if not classes.successful:
            return Tally()
        errors = pl.col(CATEGORY).map_batches(are_errors, pl.Boolean, is_elementwise=True)
        broken = _weighed_by_count(trials, errors & ~trial_succeeded(trials, classes))
        return Tally(
            of_trial={ERRORS: broken},
            numbers=(summed_number(ERRORS, pl.col(ERRORS).sum()),),
            derived={ERRORS: pl.col(ERRORS).cast(pl.Int64, strict=False)},
            kept=(ERRORS,),
        )


def are_errors(labels: pl.Series) -> pl.Series:
    """Whether labels are those of errors, by a look at each distinct one."""
    names = labels.unique()
    errors = names.filter(names.cast(pl.String).str.contains(ERROR_LABEL))
    return labels.is_in(errors.implode()) if errors.len() else labels.is_null() & False


def error_labels(trials: Trials) -> tuple[Need, ...]:
    """The errors among failures, of a log whose labels are a success or a failure."""
    labelled = is_label(trials.category.dtype) and trials.roles.successes is not None
    return (ErrorLabels(),) * labelled


def stray_category(trials: Trials, classes: Classes, members: list[pl.Expr]) -> pl.Expr | None:
    """A category that is in none of the classes, null where there is one; None if all are in one.

    Rewards outside their range are found by the least and the largest reward of a question.
    """
    category, dtype = pl.col(CATEGORY), trials.category.dtype
    if classes.known is not None:
        word = category.cast(pl.String) if dtype in (pl.Categorical, pl.Enum) else category
        return pl.when(~_is_known(trials, classes.known, members)).then(word)
    if classes.any_value:
        return None
    if dtype.is_float():
        # A success that is a fraction says that the column holds fractions.
        if not all(float(value).is_integer() for value in classes.success or ()):
            return pl.lit(None, dtype)
        whole = category.is_finite() & (category == category.floor())
        return pl.when(~whole & ~members[1]).then(category)
    return None


def class_members(trials: Trials, classes: Classes) -> list[pl.Expr]:
    """For each class, whether a category belongs to it."""
    if classes.known is not None:
        return [_has_category(trials, value) for value in classes.known]
    successes = [_has_category(trials, value) for value in classes.success or ()]
    success = pl.any_horizontal(pl.lit(False), *successes)  # noqa: FBT003
    return [~success, success]


def _is_known(trials: Trials, known: tuple[Category, ...], members: list[pl.Expr]) -> pl.Expr:
    """Whether a category is one of those that are known; null where the outcome is missing."""
    dtype = trials.category.dtype
    if dtype.is_integer() and all(type(column_category(value, dtype)) is int for value in known):
        first, last = int(known[0]), int(known[-1])
        if last - first == len(known) - 1:  # two comparisons, however many they are
            return pl.col(CATEGORY).is_between(first, last)
    return pl.any_horizontal(members)


def _has_category(trials: Trials, value: Category) -> pl.Expr:
    """Whether a trial has a category; null where its outcome is missing."""
    literal = category_literal(value, trials.category.dtype)
    never = pl.when(pl.col(CATEGORY).is_not_null()).then(pl.lit(False))  # noqa: FBT003
    return never if literal is None else pl.col(CATEGORY) == literal


def class_of_trial(members: list[pl.Expr]) -> pl.Expr:
    """The class of a trial; null where its outcome is missing."""
    return pl.coalesce(
        pl.when(member).then(pl.lit(j, pl.Int64)) for j, member in enumerate(members)
    )


def _row_number(trials: Trials) -> Number:
    """How many trials a question has."""
    return summed_number(ROWS, pl.len() if trials.count is None else pl.col(COUNT).sum())


def _missing_count(trials: Trials) -> pl.Expr:
    """How many trials of a question have no outcome."""
    if trials.count is None:  # cheaper than the sum of a column of its own
        return pl.col(CATEGORY).null_count()
    return _weighed_by_count(trials, pl.col(CATEGORY).is_null()).sum()


def _weighed_by_count(trials: Trials, condition: pl.Expr) -> pl.Expr:
    """For how many trials that meet a condition a row stands."""
    return condition if trials.count is None else pl.when(condition).then(pl.col(COUNT))


def _fault_numbers(trials: Trials) -> list[Number]:
    """Bad rows of a question: bad multiplicities, NaN that is taken for a success."""
    count = pl.col(COUNT)
    bad = [summed_number(BAD, (count.is_null() | (count < 0)).sum())] if trials.count else []
    return [
        *bad,
        *([] if trials.misread is None else [summed_number(MISREAD, pl.col(MISREAD).sum())]),
    ]


_MATCHED, _EARLIER, _PROBLEMS = ":matched", ":earlier", ":problems"
_SCORED, _KEPT, _ALL = ":scored", ":kept", ":all"


def group_plan(
    trials: Trials,
    classes: Classes,
    prior: Trials | None = None,
    *,
    per_question: bool = False,
    questions: Alignment = "any",
) -> WholePlan:
    """The questions of every group, in one plan over one scan of the trials.

    One row per group, ascending. `QUESTIONS` lists a struct per question, in any order: name (if
    `per_question`), `CLUSTER`, counts, prior counts, `DROPPED`, and what the needs of `classes`
    keep. If only counts are kept and there are no strata, equal questions share a struct with their
    number in `TIMES`.
    """
    tally = classes.tally(trials)
    broken = [*refusal_rules(trials, classes, tally), *trial_id_rules(trials)]
    watched = watch_labels(trials, classes)
    earlier = None if prior is None else _prior_counts(trials, classes, prior)
    one = _OnePass(trials, classes, tally, prior, earlier, questions, broken, watched)
    named = bool(per_question or tally.kept)
    names = [*[trials.question.name] * named, *cluster_keys(trials)]
    grouped = one.grouped(one.marked(), [*names, *tally.kept])
    checked = WholePlan(grouped.sort(*trials.groups)).then(one.check)
    plan = checked.selected([*trials.groups, QUESTIONS])
    if trials.study is None or prior is not None:
        return plan
    key: tuple[Hashable, ...] = classes, named, questions
    # Named questions serve those who need no names.
    for aligned in ("any", "same"):
        other = classes, True, aligned
        if questions == "any" and trials.study.has_counted(trials.roles, other):
            key = other
    return plan.kept_by(trials.study, trials.roles, key)


def question_rows(groups: pl.DataFrame, *columns: str | pl.Expr) -> pl.DataFrame:
    """A row for each of the `QUESTIONS` of some groups, beside columns of the group."""
    return groups.select(*columns, QUESTIONS).explode(QUESTIONS, **AS_ROWS).unnest(QUESTIONS)


@dataclass(frozen=True, eq=False)  # no slots: the columns are kept
class _OnePass:
    """From rows to questions, to groups, and one check at the end of it."""

    trials: Trials
    classes: Classes
    tally: Tally
    prior: Trials | None
    earlier: pl.LazyFrame | None  # counts of questions with prior trials
    questions: Alignment
    broken: list[Rule]  # rules for each question
    watched: LabelNotes  # notes on the labels

    @cached_property
    def columns(self) -> list[str]:
        """The counts, and the prior counts, of a question."""
        prior = [] if self.prior is None else self.classes.columns(":d")
        return [*self.classes.columns(), *prior]

    @property
    def matched(self) -> list[pl.Expr]:
        """How many questions have prior trials."""
        return [] if self.prior is None else [pl.col(_MATCHED).sum()]

    def marked(self) -> pl.LazyFrame:
        """One row for each question, and what is wrong with it."""
        trials, prior = self.trials, self.prior
        rows = count_questions(trials, self.classes, self.watched, self.tally)
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
        scored = left = pl.sum_horizontal(self.classes.columns()) > 0
        if self.questions == "common":
            shared = pl.col(PARTIAL).is_null()
            question, left = question.filter(shared), scored & shared
        problem = pl.struct(*self._fault_columns).filter(pl.col(PROBLEM).is_not_null())
        every = pl.sum_horizontal(pl.col(MISSING, *self.columns).cast(pl.Int128)) * times
        # Rows of the log stand for many trials.
        weighed = any(each is not None and each.count for each in (self.trials, self.prior))
        grouped = rows.group_by(*self.trials.groups).agg(
            question.alias(QUESTIONS),
            problem.alias(_PROBLEMS),
            scored.any().alias(_SCORED),
            left.any().alias(_KEPT),
            *([] if self.questions == "any" else [pl.col(PARTIAL).drop_nulls()]),
            *self.watched.groups(),
            *(expr.alias(name) for name, expr in self.tally.of_group.items()),
            (every.sum() if weighed else pl.lit(0)).alias(_ALL),
            *self.matched,
        )
        if self.prior is None or self.earlier is None:
            return grouped
        earlier = _earlier_groups(self.trials, self.prior, self.earlier)
        return pl.concat([grouped, earlier], how="diagonal")

    @cached_property
    def _fault_columns(self) -> list[str]:
        """The columns of a question that say what is wrong with it."""
        sums = [ROWS, DIGEST] if self.trials.sums_ids else []  # for the second look
        return [*dict.fromkeys([PROBLEM, PLACE, *quoted_columns(self.broken), *sums])]

    def _shared_states(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        """One row for all questions of a group that are alike, and one for each bad question."""
        keys = [*self.trials.groups, *self.columns, MISSING, PROBLEM, PLACE]
        quoted = [name for name in self._fault_columns if name not in keys]
        return rows.group_by(*keys).agg(
            pl.len().cast(pl.Int64).alias(TIMES),
            pl.col(quoted).first(),
            *(pl.col(name).sum() for name in self.watched.summed),
            *self.matched,
        )

    def check(self, whole: pl.DataFrame) -> pl.DataFrame:
        """Refuse what is wrong anywhere in the log."""
        trials, prior = self.trials, self.prior
        if whole[_PROBLEMS].list.len().sum():
            bad = whole.select(*trials.groups, _PROBLEMS).filter(pl.col(_PROBLEMS).list.len() > 0)
            raise_first(bad.explode(_PROBLEMS, **AS_ROWS).unnest(_PROBLEMS), trials, self.broken)
        known = whole if prior is None else whole.filter(pl.col(QUESTIONS).is_not_null())
        refuse_beyond(known, trials, _ALL)
        if not known[_SCORED].all():
            refuse_unscored(known.filter(~pl.col(_SCORED)), trials)
        for check in self.tally.checks:
            check(known, trials)
        if (
            prior is not None
            and known.height
            and whole[_EARLIER].sum()
            and not known[_MATCHED].sum()
        ):
            raise ValueError(
                "prior: its trials share no question with the data. Questions are matched on "
                f"{_shared_keys(trials, prior)}: compare these columns of the two frames."
            )
        if self.questions == "same":
            refuse_partial(known, trials)
        elif self.questions == "common":
            refuse_nothing_in_common(known.filter(~pl.col(_KEPT)), trials)
        self.watched.check(known, trials)
        return known


def _shared_keys(trials: Trials, prior: Trials) -> list[str]:
    """The columns by which prior trials find their question."""
    return [*(key for key in trials.keys if key in prior.keys), trials.question.name]


def _prior_counts(trials: Trials, classes: Classes, prior: Trials) -> pl.LazyFrame:
    """The counts of the questions that have prior trials."""
    classes = replace(classes, needs=())
    # A question may have no prior trial.
    broken = [*refusal_rules(prior, classes, Tally())[:-1], *trial_id_rules(prior)]
    watched = watch_labels(prior, classes)
    table = mark_problems(count_questions(prior, classes, watched), prior.question.name, broken)
    names = zip(classes.columns(), classes.columns(":d"), strict=True)
    renamed = [pl.col(c).alias(d) for c, d in names]

    def check(questions: pl.DataFrame) -> pl.DataFrame:
        watched.refuse_alike(questions, prior)
        return refuse_bad(prior, broken)(questions)

    return WholePlan(table).then(check).plan().select(*_shared_keys(trials, prior), *renamed)


def _with_prior(
    questions: pl.LazyFrame, earlier: pl.LazyFrame, on: list[str], classes: Classes
) -> pl.LazyFrame:
    """Add the prior counts of every question, zero where it has none."""
    columns = classes.columns(":d")
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
