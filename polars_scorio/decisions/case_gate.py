"""Gates on single cases, and how often a gate fails if nothing changed."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import numpy as np
import polars as pl

from polars_scorio.arguments import (
    CHANCE,
    FailOn,
    check_choice,
    check_number,
    value_text,
    value_tuple,
)
from polars_scorio.counting.categories import Classes
from polars_scorio.counting.checks import WholePlan
from polars_scorio.counting.log import bind_roles, is_label, refuse_repeats
from polars_scorio.counting.roles import Category, Roles
from polars_scorio.decisions.models import STRATUM
from polars_scorio.decisions.regressed_questions import SuccessCounts, beyond_counts
from polars_scorio.maths.array_rows import Ints
from polars_scorio.maths.regressions import VersionCounts, regression_tests

if TYPE_CHECKING:
    from polars_scorio.counting.log import Log, Trials

# Questions by their ids, or the file that lists them, one a line.
Cases: TypeAlias = "Category | Sequence[Category] | Path"

AB_COLUMN = "ab_failed"
_SPLITS, _SEED = 100, 0
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


@dataclass(frozen=True, slots=True)
class CaseRules:
    """The conditions on single questions, beside the score."""

    fail_on: FailOn | None
    must_pass: tuple[Category, ...]
    fdr: float

    @classmethod
    def from_options(
        cls, fail_on: FailOn | None, must_pass: tuple[Category, ...], fdr: float | None
    ) -> CaseRules | None:
        """The rules; None if there are none."""
        if fail_on is not None:
            check_choice("fail_on", fail_on, FailOn)
        elif fdr is not None:
            raise ValueError(
                f"gate: fdr={value_text(fdr)} is the false discovery rate of the questions that "
                'fail_on="regressed" names: pass that too, or leave fdr= out'
            )
        fdr = check_number("fdr", 0.1 if fdr is None else fdr, CHANCE)
        return cls(fail_on, must_pass, fdr) if fail_on or must_pass else None

    def schema(self, question: pl.DataType) -> dict[str, pl.DataType]:
        """The columns that the rules add to those of a gate."""
        lists: dict[str, pl.DataType] = {}
        if self.fail_on:
            lists |= dict.fromkeys(("regressed", "unclear"), pl.List(question))
        if self.must_pass:
            lists["not_passed"] = pl.List(question)
        return {**lists, "case_verdict": pl.String(), "score_verdict": pl.String()}

    def judged(
        self,
        rows: pl.DataFrame,
        groups: pl.DataFrame,
        baseline: Ints,
        trials: Trials,
        classes: Classes,
    ) -> pl.DataFrame:
        """The rows of a gate, those over all strata with the verdict about all questions."""
        if beyond_counts(groups, classes):
            raise ValueError(
                "gate: fail_on= and must_pass= need success and failure, and the log has rewards "
                "between 0 and 1: say with threshold= from which reward on a trial succeeds"
            )
        (model,), question = trials.models, trials.question
        counts = SuccessCounts.read(groups, classes, tuple(classes.successful), question.name)
        self._refuse_unknown(counts.names)
        sizes, stratum = np.bincount(groups[STRATUM].to_numpy()), groups[STRATUM].to_numpy()
        old = np.cumsum(sizes) - sizes + baseline
        single = stratum < sizes.size - 1 if trials.by else stratum >= 0
        judged_rows = []
        for (name,), places in groups.with_row_index(":place").filter(single).group_by(model):
            pairs = [(int(old[stratum[place]]), place) for place in places[":place"].to_list()]
            if any(one == other for one, other in pairs):
                continue
            versions = VersionCounts.joined([counts.versions(*pair) for pair in pairs])
            if trials.roles.lower_is_better:
                versions = versions.mirrored()
            names = pl.concat([counts.names[counts.questions(place)] for _, place in pairs])
            judged_rows.append({model: name, **self._candidate_cases(versions, names)})
        schema = {**trials.models, **self.schema(question.dtype)}
        del schema["score_verdict"]
        of_cases = pl.DataFrame(judged_rows, schema=schema)
        whole = rows[STRATUM].to_numpy() == sizes.size - 1
        columns = [
            pl.when(pl.lit(pl.Series(whole))).then(pl.col(name)).alias(name)
            for name in of_cases.columns[1:]
        ]
        joined = rows.join(of_cases, on=model, how="left", maintain_order="left")
        return with_worst(joined.with_columns(columns), "case_verdict")

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


FrameT = TypeVar("FrameT", pl.DataFrame, pl.LazyFrame)


def with_worst(rows: FrameT, name: str) -> FrameT:
    """The rows, whose verdict is the worse one of their own and of another column."""
    every, known = pl.concat_list("verdict", name), rows.collect_schema().names()
    worst = (pl.when(every.list.contains(word)).then(pl.lit(word)) for word in _WORST_FIRST)
    first = "score_verdict" if "score_verdict" in known else "verdict"
    return rows.with_columns(pl.coalesce(worst).alias("verdict"), score_verdict=first)


# From a log of two versions, its roles and the name of the baseline, to the rows of a gate.
GateOf: TypeAlias = "Callable[[pl.LazyFrame, Roles, Category], pl.LazyFrame]"
_VERSIONS, _PLACE = ("candidate", "baseline"), ":place"


def with_ab_check(
    rows: pl.LazyFrame,
    trials: Trials,
    baseline: Category,
    sizes: Sequence[int | None] | None,
    gate_of: GateOf,
) -> pl.LazyFrame:
    """The rows of a gate, with the share of splits of the baseline that they would fail."""
    # Each of 100 random splits gives half of the trials of each question to one version, and the
    # rest to the other: nothing changed between them. `sizes` are the draw sizes of the metric;
    # None: versions have other questions, and a split gives each version half of them.
    assert trials.model is not None  # a gate has models
    refuse_repeats([*rows.collect_schema().names(), AB_COLUMN])
    keys, model = [*trials.strata, "metric", "k"], trials.model.name
    groups = [part.expr for part in (*trials.by, trials.question)]
    place = pl.col(_PLACE)
    if sizes is None:
        ranked, within = place.first(), [*groups[:-1], pl.lit(0)]
    else:
        ranked, within = place, groups
    half = place.rank("dense").over(within) % 2
    roles = replace(trials.roles, model=model, count=None, n=None)

    def checked(verdicts: pl.DataFrame) -> pl.DataFrame:
        baseline_rows = _baseline_trials(trials, baseline, sizes)
        random, fails = np.random.default_rng(_SEED), []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of halves of a log, which itself was warned of
            for _ in range(_SPLITS):
                versions = (pl.when(half == side).then(pl.lit(_VERSIONS[side])) for side in (0, 1))
                split = baseline_rows.lazy().with_columns(
                    pl.Series(_PLACE, random.random(baseline_rows.height))
                )
                split = split.with_columns(ranked.over(groups))
                split = split.with_columns(pl.coalesce(versions).alias(model)).drop(_PLACE)
                judged = gate_of(split, roles, _VERSIONS[1]).collect()
                fails.append(judged.select(*keys, pl.col("verdict").eq("fail").alias(AB_COLUMN)))
        shares = pl.concat(fails).group_by(keys).agg(pl.col(AB_COLUMN).mean())
        return verdicts.join(shares, on=keys, how="left", nulls_equal=True, maintain_order="left")

    schema = {**rows.collect_schema(), AB_COLUMN: pl.Float64()}
    return WholePlan(rows).then(checked, schema, filters=False).plan()


def _baseline_trials(
    trials: Trials, baseline: Category, sizes: Sequence[int | None] | None
) -> pl.DataFrame:
    """A row for each trial of the baseline, as the user's frame has them."""
    assert trials.model is not None  # as for `with_ab_check`
    drawn = trials.frame.filter(trials.model.expr == pl.lit(baseline)).collect()
    if trials.count is not None:
        often = drawn.select(trials.count.expr).to_series().cast(pl.Int64)
        drawn = drawn[np.repeat(np.arange(drawn.height), often)]
    if sizes is None:
        return drawn
    each = drawn.group_by(part.expr for part in (*trials.by, trials.question)).len()["len"]
    fewest = int(each.to_numpy().min())
    needed = max(k or 1 for k in sizes)
    if fewest // 2 < needed:
        raise ValueError(
            f"gate: ab_check= splits the trials of each question of {baseline!r} in two halves, "
            f"which need {needed} each; some question has {fewest} trials. Take more trials or a "
            "smaller k, or leave it out"
        )
    return drawn
