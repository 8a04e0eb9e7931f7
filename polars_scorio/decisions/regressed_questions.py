"""Questions that broke."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from polars_scorio.arguments import CHANCE, Unmatched, check_flag, check_number
from polars_scorio.counting.categories import Classes
from polars_scorio.counting.checks import AS_ROWS
from polars_scorio.counting.log import bind_roles, result_schema
from polars_scorio.counting.roles import Category, Roles
from polars_scorio.counting.tally import QUESTIONS
from polars_scorio.decisions.models import (
    STRATUM,
    aligned_questions,
    baseline_columns,
    check_models,
    named_model,
    with_stratum,
)
from polars_scorio.maths.array_rows import Floats, Ints
from polars_scorio.maths.regressions import VersionCounts, chance_of_at_least, regression_tests
from polars_scorio.metrics.metric import Metric, given_reward_range
from polars_scorio.metrics.success import pass_at_k
from polars_scorio.study.calibrated import successful_categories
from polars_scorio.study.log_checks import SpokenChecks
from polars_scorio.study.request import Request, view_of

if TYPE_CHECKING:
    from polars_scorio.counting.log import Log, Trials


_PLACE, _N, _C = ":place", ":n", ":c"


@dataclass(frozen=True, slots=True, eq=False)
class SuccessCounts:
    """Trials `n` and successes `c` of questions with outcomes, group after group, to `ends`."""

    names: pl.Series
    n: Ints
    c: Ints
    ends: Ints

    @classmethod
    def read(
        cls, groups: pl.DataFrame, classes: Classes, success: tuple[int, ...], question: str
    ) -> SuccessCounts:
        """Read the `QUESTIONS` of groups; a group without a list has no question."""
        columns = classes.columns()
        flat = (
            groups.select(pl.int_range(pl.len()).alias(_PLACE), QUESTIONS)
            .filter(pl.col(QUESTIONS).is_not_null())
            .explode(QUESTIONS, **AS_ROWS)
            .unnest(QUESTIONS)
            .select(
                _PLACE,
                question,
                pl.sum_horizontal(columns).cast(pl.Int64).alias(_N),
                pl.sum_horizontal([columns[each] for each in success]).cast(pl.Int64).alias(_C),
            )
            .filter(pl.col(_N) > 0)
            .sort(_PLACE, question, maintain_order=True)
        )
        sizes = np.bincount(flat[_PLACE].to_numpy(), minlength=groups.height)
        n, c = (flat[name].to_numpy() for name in (_N, _C))
        return cls(flat[question], n, c, np.cumsum(sizes))

    def questions(self, group: int) -> slice:
        """The places of the questions of a group."""
        start = 0 if group == 0 else int(self.ends[group - 1])
        return slice(start, int(self.ends[group]))

    def versions(self, old: int, new: int) -> VersionCounts:
        """The counts of two groups in the questions that both have."""
        sides = [self.questions(group) for group in (old, new)]
        names = [self.names[side] for side in sides]  # each in the same order
        before, after = (
            np.arange(side.start, side.stop)[named.is_in(other.implode()).to_numpy()]
            for side, named, other in zip(sides, names, names[::-1], strict=True)
        )
        return VersionCounts(self.n[before], self.c[before], self.n[after], self.c[after])


def baseline_groups(groups: pl.DataFrame, columns: Ints) -> Ints:
    """The group of the baseline of each stratum, by its column among the models there."""
    sizes = np.bincount(groups[STRATUM].to_numpy())
    return np.asarray(np.cumsum(sizes) - sizes + columns)


BROKEN = ("broken", "broken_by_chance", "pvalue_broken")
CANDIDATE = ":candidate"  # the place of a candidate among the groups
_SCHEMA = {
    STRATUM: pl.UInt32(),
    CANDIDATE: pl.Int64(),
    BROKEN[0]: pl.UInt64(),
    **dict.fromkeys(BROKEN[1:], pl.Float64()),
}


def success_classes(metric: Metric, trials: Trials, classes: Classes) -> tuple[int, ...] | None:
    """The classes of trials that are successes to a metric; None: it does not distinguish them."""
    view = view_of(metric, trials)
    binary = given_reward_range(metric, trials.roles.bounds) or (0, 1)
    if view == "success" or (view == "rewards" and tuple(binary) == (0, 1)):
        return tuple(classes.successful)
    return successful_categories(metric) if view == "categories" else None


@dataclass(frozen=True, slots=True)
class BrokenQuestions:
    """The count of questions that were mostly right under the baseline, and are mostly wrong now.

    With `lower_is_better` the other way round; without `success` nothing is counted.
    """

    classes: Classes
    success: tuple[int, ...] | None
    question: str
    lower_is_better: bool = False

    def of_candidates(
        self, groups: pl.DataFrame, candidates: pl.DataFrame, baseline: Ints, model: str
    ) -> pl.DataFrame:
        """A row for each candidate: how many questions it breaks, and how many chance would."""
        if self.success is None or candidates.is_empty() or beyond_counts(groups, self.classes):
            return pl.DataFrame(schema=_SCHEMA)
        counts = SuccessCounts.read(groups, self.classes, self.success, self.question)
        old, names = baseline_groups(groups, baseline), groups[model].to_list()
        tests: dict[tuple[int, int], tuple[int, Floats]] = {}
        whole: dict[object, list[tuple[int, Floats]]] = {}
        for stratum, place in candidates.select(STRATUM, CANDIDATE).sort(STRATUM).rows():
            versions = counts.versions(int(old[stratum]), place)
            if versions.n_old.size:
                versions = versions.swapped() if self.lower_is_better else versions
                broken = int(versions.broken().sum())
                tests[stratum, place] = broken, regression_tests(versions).pvalue_broken
                whole.setdefault(names[place], []).append(tests[stratum, place])
            else:  # all strata of the model
                parts = whole[names[place]]
                chance = np.concatenate([each for _, each in parts])
                tests[stratum, place] = sum(number for number, _ in parts), chance
        rows = [
            (*key, number, float(chance.sum()), chance_of_at_least(number, chance))
            for key, (number, chance) in tests.items()
        ]
        return pl.DataFrame(rows, schema=_SCHEMA, orient="row")


def beyond_counts(groups: pl.DataFrame, classes: Classes) -> bool:
    """Whether any question has a value that is neither 0 nor 1."""
    return classes.beyond_counts(groups[QUESTIONS].explode(**AS_ROWS).struct.unnest())


_TRIALS = ("trials_baseline", "trials")
_NUMBERS = ("rate_baseline", "rate", "pvalue", "pvalue_min", "qvalue")


def regressed_questions(
    log: Log,
    roles: Roles,
    baseline: Category,
    *,
    fdr: float = 0.1,
    improvements: bool = False,
    unmatched: Unmatched = "error",
) -> pl.LazyFrame:
    """The plan of the tests of single questions; see `Scorio.regressions`."""
    fdr = check_number("fdr", fdr, CHANCE)
    improvements = check_flag("improvements", improvements)
    trials = bind_roles(log, roles)
    named_model(trials, "regressions")
    (baseline,) = check_models((baseline,), trials, "baseline")
    direction = "improved" if improvements else "regressed"
    numbers: dict[str, pl.DataType] = {
        **dict.fromkeys(_TRIALS, pl.Int64()),
        **dict.fromkeys(_NUMBERS, pl.Float64()),
        direction: pl.Boolean(),
        "broken": pl.Boolean(),
        **dict.fromkeys(("broken_by_chance", "pvalue_broken"), pl.Float64()),
    }
    question = {trials.question.name: trials.question.dtype}
    schema = result_schema((), trials.strata, trials.models, question, numbers)
    request = Request.from_trials(trials, [pass_at_k(1)])
    alignment = aligned_questions(unmatched)
    groups = request.groups(per_question=True, questions=alignment)
    groups = groups.then(SpokenChecks(request))
    swapped = improvements != roles.lower_is_better
    tests = _QuestionTests(request, baseline, fdr, swapped, schema)
    # A filter must not go below: all questions of a model are one family.
    return groups.then(tests, schema, filters=False).plan()


@dataclass(frozen=True, slots=True, eq=False)
class _QuestionTests:
    """The function from the questions of all groups to the tests of the candidates."""

    request: Request
    baseline: Category
    fdr: float
    swapped: bool  # whether questions are wanted of which more succeed
    schema: dict[str, pl.DataType]

    def __call__(self, groups: pl.DataFrame) -> pl.DataFrame:
        """A row for each question of each candidate, the surest ones of a candidate first."""
        trials, classes = self.request.trials, self.request.classes
        strata, (model,) = [*trials.strata], trials.models
        groups = with_stratum(groups.sort(*strata, model), trials)
        old = baseline_groups(groups, baseline_columns(groups, trials, self.baseline))
        counts = SuccessCounts.read(
            groups, classes, tuple(classes.successful), trials.question.name
        )
        names = groups[model].to_list()
        candidates: dict[object, list[tuple[int, int]]] = {}
        for row, stratum in enumerate(groups[STRATUM].to_list()):
            if row != old[stratum]:
                candidates.setdefault(names[row], []).append((int(old[stratum]), row))
        empty = pl.DataFrame(schema=self.schema)
        keys = groups.select(*strata, model)
        return pl.concat(
            [empty, *(self._candidate_rows(pairs, counts, keys) for pairs in candidates.values())]
        )

    def _candidate_rows(
        self, pairs: list[tuple[int, int]], counts: SuccessCounts, keys: pl.DataFrame
    ) -> pl.DataFrame:
        """A row for each question of a candidate, over its strata: pairs of baseline and itself."""
        versions = VersionCounts.joined([counts.versions(*pair) for pair in pairs])
        compared = versions.swapped() if self.swapped else versions
        tests, broken = regression_tests(compared, self.fdr), compared.broken()
        rows = [row for _, row in pairs]
        sizes = [len(range(*counts.questions(row).indices(counts.n.size))) for row in rows]
        names = pl.concat([counts.names[counts.questions(row)] for row in rows])
        tested = keys[np.repeat(rows, sizes)].with_columns(
            names.alias(self.request.trials.question.name),
            trials_baseline=versions.n_old,
            trials=versions.n_new,
            rate_baseline=versions.c_old / versions.n_old,
            rate=versions.c_new / versions.n_new,
            pvalue=tests.p,
            pvalue_min=tests.pvalue_min,
            qvalue=tests.qvalue,
            changed=tests.qvalue <= self.fdr,
            broken=broken,
            broken_by_chance=tests.pvalue_broken,
            pvalue_broken=pl.lit(chance_of_at_least(int(broken.sum()), tests.pvalue_broken)),
        )
        word = "improved" if "improved" in self.schema else "regressed"
        order = ["qvalue", "pvalue", *keys.columns, self.request.trials.question.name]
        return tested.rename({"changed": word}).sort(order).select(*self.schema)
