"""Gates on single cases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from polars_scorio.arguments import (
    CHANCE,
    SHARE,
    FailOn,
    check_choice,
    check_number,
    value_tuple,
)
from polars_scorio.counting.categories import Classes
from polars_scorio.counting.log import bind_roles
from polars_scorio.counting.roles import Category, Roles, is_label
from polars_scorio.decisions.models import STRATUM
from polars_scorio.decisions.regressed_questions import (
    SuccessCounts,
    baseline_groups,
    beyond_counts,
)
from polars_scorio.maths.array_rows import Ints
from polars_scorio.maths.regressions import VersionCounts, regression_tests
from polars_scorio.study.request import Cases, GateRules

if TYPE_CHECKING:
    from polars_scorio.counting.log import Log, Trials

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
        self,
        rows: pl.DataFrame,
        groups: pl.DataFrame,
        baseline: Ints | None,
        trials: Trials,
        classes: Classes,
    ) -> pl.DataFrame:
        """The rows of a gate, those over all strata with the verdict about all questions."""
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
