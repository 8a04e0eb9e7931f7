"""Questions that broke, and gates on single questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from polars_scorio.arguments import (
    CHANCE,
    SHARE,
    FailOn,
    Unmatched,
    check_choice,
    check_flag,
    check_number,
    value_tuple,
)
from polars_scorio.counting.categories import Classes
from polars_scorio.counting.checks import AS_ROWS
from polars_scorio.counting.log import bind_roles, result_schema
from polars_scorio.counting.roles import Category, Roles, is_label
from polars_scorio.counting.tally import QUESTIONS
from polars_scorio.decisions.models import (
    STRATUM,
    Models,
    aligned_questions,
    baseline_columns,
    checked_model,
    named_model,
    with_stratum,
)
from polars_scorio.maths.array_rows import Floats, Ints
from polars_scorio.maths.regressions import VersionCounts, chance_of_at_least, regression_tests
from polars_scorio.metrics.metric import Metric, given_reward_range
from polars_scorio.metrics.success import pass_at_k
from polars_scorio.study.calibrated import successful_categories
from polars_scorio.study.log_checks import SpokenChecks
from polars_scorio.study.request import Cases, GateRules, Request, view_of

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


def broken_questions(
    groups: pl.DataFrame, candidates: pl.DataFrame, baseline: Ints, models: Models
) -> pl.DataFrame:
    """A row for each candidate: how many questions it breaks, and how many chance would.

    They were mostly right under the baseline, and are mostly wrong now; the other way round if
    lower scores are better. Empty without success and failure, or without the same questions.
    """
    trials, classes = models.trials, models.request.classes
    success = None if models.unpaired else success_classes(models.metric, trials, classes)
    if success is None or candidates.is_empty() or beyond_counts(groups, classes):
        return pl.DataFrame(schema=_SCHEMA)
    counts = SuccessCounts.read(groups, classes, success, trials.question.name)
    old, (names,) = baseline_groups(groups, baseline), groups.select(*trials.models)
    tests: dict[tuple[int, int], tuple[int, Floats]] = {}
    whole: dict[object, list[tuple[int, Floats]]] = {}
    for stratum, place in candidates.select(STRATUM, CANDIDATE).sort(STRATUM).rows():
        versions = counts.versions(int(old[stratum]), place)
        if versions.n_old.size:
            versions = versions.swapped() if trials.roles.lower_is_better else versions
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
    baseline = checked_model(baseline, trials, "baseline")
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
        names = [counts.names[counts.questions(row)] for row in rows]
        tested = keys[np.repeat(rows, [*map(len, names)])].with_columns(
            pl.concat(names).alias(self.request.trials.question.name),
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


_LISTED = 5  # questions in a message
_WORST_FIRST = ("fail", "undecided", "pass")


def case_ids(keyword: str, given: Cases | None, question: pl.DataType) -> tuple[Category, ...]:
    """The questions that an option lists; in a file one a line, without comments."""
    if given is None:
        return ()
    if isinstance(given, Path):
        if not given.is_file():
            raise ValueError(f"{keyword}: there is no file {str(given)!r}")
        lines = map(str.strip, given.read_text(encoding="utf-8").splitlines())
        ids: tuple[object, ...] = tuple(x for x in lines if x and not x.startswith("#"))
    else:
        ids = value_tuple(given)
    if not is_label(question):
        ids = tuple(int(x) if isinstance(x, str) and x.lstrip("-").isdigit() else x for x in ids)
    wrong = [each for each in ids if isinstance(each, str) != is_label(question)]
    if wrong:
        raise ValueError(f"{keyword}: {wrong[0]!r} cannot be a question of this log ({question})")
    return ids  # type: ignore[return-value]  # each is what the column holds


def without_questions(log: Log, roles: Roles, ids: Sequence[Category]) -> Log:
    """The log without some questions, such as those in quarantine."""
    if not ids:
        return log
    trials = bind_roles(log, roles)
    kept = trials.question.expr.is_in(pl.Series([*ids], dtype=trials.question.dtype).implode())
    return trials.frame.filter(~kept.fill_null(value=False))


def worst_verdict(*verdicts: str | pl.Expr) -> pl.Expr:
    """The worst of some columns of verdicts; null is none."""
    every = pl.concat_list(*verdicts).list
    words = (pl.when(every.contains(word)).then(pl.lit(word)) for word in _WORST_FIRST)
    return pl.coalesce(words).alias("verdict")


@dataclass(frozen=True, slots=True)
class CaseRules:
    """The conditions on single questions, beside the score."""

    fail_on: FailOn | None
    must_pass: tuple[Category, ...]
    fdr: float
    each_at_least: float | None  # share of the trials of each question

    @classmethod
    def from_rules(cls, rules: GateRules, question: pl.DataType) -> CaseRules | None:
        """The rules for questions of this dtype; None if there are none."""
        must_pass = case_ids("must_pass", rules.must_pass, question)
        if rules.fail_on is not None:
            check_choice("fail_on", rules.fail_on, FailOn)
        fdr = check_number("fdr", 0.1 if rules.fdr is None else rules.fdr, CHANCE)
        given = rules.each_at_least
        each = None if given is None else check_number("each_at_least", given, SHARE)
        asked = rules.fail_on or must_pass or each is not None
        return cls(rules.fail_on, must_pass, fdr, each) if asked else None

    def schema(self, question: pl.DataType) -> dict[str, pl.DataType]:
        """The columns that the rules add to those of a gate."""
        lists: dict[str, pl.DataType] = {}
        if self.fail_on:
            lists |= dict.fromkeys(("regressed", "unclear"), pl.List(question))
        if self.must_pass:
            lists["not_passed"] = pl.List(question)
        if self.each_at_least is not None:
            lists["below"] = pl.List(question)
        return {**lists, "case_verdict": pl.String(), "score_verdict": pl.String()}

    def judged(
        self, rows: pl.DataFrame, groups: pl.DataFrame, baseline: Ints | None, models: Models
    ) -> pl.DataFrame:
        """The rows of a gate, those over all strata with the verdict about all questions."""
        trials, classes = models.trials, models.request.classes
        if beyond_counts(groups, classes):
            raise ValueError(
                "gate: conditions on questions need success and failure, and the log has rewards "
                "between 0 and 1: pass threshold=, from which on a reward is a success"
            )
        (model,), question = trials.models, trials.question
        counts = SuccessCounts.read(groups, classes, tuple(classes.successful), question.name)
        self._refuse_unknown(counts.names)
        stratum, most = groups[STRATUM].to_numpy(), groups[STRATUM].max()
        old = None if baseline is None else baseline_groups(groups, baseline)
        single = stratum < most if trials.by else stratum >= 0
        judged_rows = []
        for (name,), places in groups.with_row_index(":place").filter(single).group_by(model):
            of_model = places[":place"].to_numpy()
            before = of_model if old is None else old[stratum[of_model]]
            pairs = [*zip(before.tolist(), of_model.tolist(), strict=True)]
            if old is not None and any(one == other for one, other in pairs):
                continue
            versions = VersionCounts.joined([counts.versions(*pair) for pair in pairs])
            if trials.roles.lower_is_better:
                versions = versions.mirrored()
            names = pl.concat([counts.names[counts.questions(place)] for _, place in pairs])
            judged_rows.append({model: name, **self._candidate_cases(versions, names)})
        schema = {**trials.models, **self.schema(question.dtype)}
        del schema["score_verdict"]
        of_cases = pl.DataFrame(judged_rows, schema=schema)
        whole = rows[STRATUM].to_numpy() == most
        columns = [
            pl.when(pl.lit(pl.Series(whole))).then(pl.col(name)).alias(name)
            for name in of_cases.columns[1:]
        ]
        joined = rows.join(of_cases, on=model, how="left", maintain_order="left")
        return joined.with_columns(columns).with_columns(
            worst_verdict("verdict", "case_verdict"), score_verdict="verdict"
        )

    def _candidate_cases(self, versions: VersionCounts, names: pl.Series) -> dict[str, object]:
        """The lists of questions of a candidate, and their verdict."""
        cells: dict[str, object] = {}
        verdict = "pass"
        if self.fail_on:
            q = regression_tests(versions, self.fdr).qvalue
            regressed = q <= self.fdr
            # As much as trials can show of one question, and yet not enough to name it.
            turned = (versions.c_old == versions.n_old) & (versions.c_new == 0) & ~regressed
            cells = {"regressed": names.filter(regressed), "unclear": names.filter(turned)}
            verdict = "fail" if regressed.any() else "undecided" if turned.any() else "pass"
        if self.must_pass:
            failed = names.is_in([*self.must_pass]) & pl.Series(versions.c_new < versions.n_new)
            cells["not_passed"] = names.filter(failed)
            verdict = "fail" if failed.any() else verdict
        if self.each_at_least is not None:
            cells["below"] = names.filter(versions.c_new / versions.n_new < self.each_at_least)
            verdict = "fail" if len(cells["below"]) else verdict  # type: ignore[arg-type]  # a series
        lists = {name: each.sort().to_list() for name, each in cells.items()}  # type: ignore[attr-defined]  # series
        return {**lists, "case_verdict": verdict}

    def _refuse_unknown(self, names: pl.Series) -> None:
        known, most = {*names}, len(self.must_pass)
        unknown = [each for each in self.must_pass if each not in known]
        if unknown:
            listed = ", ".join(map(repr, unknown[:_LISTED])) + ", ..." * (len(unknown) > _LISTED)
            counted = f"{len(unknown):,} of {most:,} questions" if most > 1 else "1 question"
            raise ValueError(
                f"gate: must_pass= lists {counted} that the log does not have: {listed}. "
                "A question in quarantine cannot have to pass; correct the list"
            )
