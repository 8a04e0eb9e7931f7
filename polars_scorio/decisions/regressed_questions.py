"""Questions that became worse, or better, from a baseline to a candidate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from polars_scorio.arguments import CHANCE, check_flag, check_number
from polars_scorio.counting.checks import check_frame, once_whole
from polars_scorio.counting.roles import Category, Roles
from polars_scorio.counting.stopped_logs import check_stopping
from polars_scorio.counting.tally import class_columns
from polars_scorio.counting.trials import bind_roles, refuse_repeats
from polars_scorio.decisions.broken_questions import SuccessCounts
from polars_scorio.decisions.strata import baseline_columns, check_models, named_model
from polars_scorio.decisions.strata_arrays import STRATUM
from polars_scorio.kernels.regressions import VersionCounts, chance_of_at_least, regression_tests
from polars_scorio.metrics.success import pass_at_k
from polars_scorio.reporting.request import Request

_TRIALS = ("trials_baseline", "trials")
_NUMBERS = ("rate_baseline", "rate", "p", "p_min", "p_adjusted")


def regressed_questions(
    frame: pl.LazyFrame,
    roles: Roles,
    baseline: Category,
    *,
    fdr: float = 0.1,
    improvements: bool = False,
) -> pl.LazyFrame:
    """The plan of the tests of single questions; see `Scorio.regressions`."""
    fdr = check_number("fdr", fdr, CHANCE)
    improvements = check_flag("improvements", improvements)
    trials = bind_roles(frame, roles)
    named_model(trials, "regressions")
    (baseline,) = check_models((baseline,), trials, "baseline")
    found = "improved" if improvements else "regressed"
    schema: dict[str, pl.DataType] = {
        **trials.strata,
        **trials.models,
        trials.question.name: trials.question.dtype,
        **dict.fromkeys(_TRIALS, pl.Int64()),
        **dict.fromkeys(_NUMBERS, pl.Float64()),
        found: pl.Boolean(),
        "broken": pl.Boolean(),
        **dict.fromkeys(("broken_by_chance", "p_broken"), pl.Float64()),
    }
    refuse_repeats([*schema])
    request = Request.of(trials, [pass_at_k(1)])
    groups = request.groups(per_question=True, questions="same")
    groups = check_frame(groups, check_stopping(trials, class_columns(request.classes)))
    tests = _QuestionTests(request, baseline, fdr, improvements, schema)
    # A filter must not go below: all questions of a model are one family.
    return once_whole(groups, tests, schema, filters=False)


@dataclass(frozen=True, slots=True, eq=False)
class _QuestionTests:
    """The function from the questions of all groups to the tests of the candidates."""

    request: Request
    baseline: Category
    fdr: float
    improvements: bool
    schema: dict[str, pl.DataType]

    def __call__(self, groups: pl.DataFrame) -> pl.DataFrame:
        """A row for each question of each candidate, the surest ones of a candidate first."""
        trials, classes = self.request.trials, self.request.classes
        strata, (model,) = [*trials.strata], trials.models
        groups = groups.sort(*strata, model)
        place = pl.struct(strata).rle_id() if strata else pl.lit(0, pl.UInt32)
        groups = groups.with_columns(place.alias(STRATUM))
        columns = baseline_columns(groups, trials, self.baseline)
        sizes = np.bincount(groups[STRATUM].to_numpy())
        old = np.cumsum(sizes) - sizes + columns
        counts = SuccessCounts.read(
            groups, classes, tuple(classes.successful), trials.question.name
        )
        names = groups[model].to_list()
        found: dict[object, list[tuple[int, int]]] = {}
        for row, stratum in enumerate(groups[STRATUM].to_list()):
            if row != old[stratum]:
                found.setdefault(names[row], []).append((int(old[stratum]), row))
        nothing = pl.DataFrame(schema=self.schema)
        keys = groups.select(*strata, model)
        return pl.concat(
            [nothing, *(self._candidate_rows(pairs, counts, keys) for pairs in found.values())]
        )

    def _candidate_rows(
        self, pairs: list[tuple[int, int]], counts: SuccessCounts, keys: pl.DataFrame
    ) -> pl.DataFrame:
        """A row for each question of a candidate, over its strata: pairs of baseline and itself."""
        versions = VersionCounts.joined([counts.versions(*pair) for pair in pairs])
        compared = versions.swapped() if self.improvements else versions
        tests, broken = regression_tests(compared, self.fdr), compared.broken()
        rows = [row for _, row in pairs]
        sizes = [len(range(*counts.questions(row).indices(counts.n.size))) for row in rows]
        names = pl.concat([counts.names[counts.questions(row)] for row in rows])
        found = keys[np.repeat(rows, sizes)].with_columns(
            names.alias(self.request.trials.question.name),
            trials_baseline=versions.n_old,
            trials=versions.n_new,
            rate_baseline=versions.c_old / versions.n_old,
            rate=versions.c_new / versions.n_new,
            p=tests.p,
            p_min=tests.p_min,
            p_adjusted=tests.p_adjusted,
            changed=tests.p_adjusted <= self.fdr,
            broken=broken,
            broken_by_chance=tests.p_broken,
            p_broken=pl.lit(chance_of_at_least(int(broken.sum()), tests.p_broken)),
        )
        word = "improved" if self.improvements else "regressed"
        order = ["p_adjusted", "p", *keys.columns, self.request.trials.question.name]
        return found.rename({"changed": word}).sort(order).select(*self.schema)
