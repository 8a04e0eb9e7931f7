"""All that a page needs to know about a log, from one pass."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import polars as pl

from polars_scorio.arguments import Overall
from polars_scorio.counting.checks import AS_ROWS, IDS, NO_ID, ROWS, mark_problems, refuse_bad
from polars_scorio.counting.coverage import TOTALS_COLUMNS, coverage, has_totals, with_totals
from polars_scorio.counting.judge_counts import judge_sample, labelled_sample
from polars_scorio.counting.log import CATEGORY, CLUSTER, COUNT, TRUTH, Trials, bind_roles
from polars_scorio.counting.refusals import identity_rules, refusal_rules, with_identities
from polars_scorio.counting.roles import Roles
from polars_scorio.counting.tally import STATES, question_tallies
from polars_scorio.display.phrases import overall_words, question_total, visible_text
from polars_scorio.metrics.metric import Metric
from polars_scorio.study.errored import BOUNDED, extreme_categories
from polars_scorio.study.log_checks import LogChecks
from polars_scorio.study.report import chosen_overall, stratum_weights

_PARTS = " / "
_NUMBER = re.compile("0*([0-9]+)")
_LABEL, _UNNAMED = ":label", "This model"


def key_labels(frame: pl.DataFrame, names: Iterable[str]) -> pl.Series:
    """One label per row as an Enum, equal exactly for equal keys; with "level 9" before "level 10".

    Many questions are grouped much faster by an Enum than by words.
    """
    keys = frame.select(*names)
    if not keys.width:
        return pl.Series("label", [_UNNAMED] * frame.height, pl.Enum([_UNNAMED]))
    distinct = keys.unique(maintain_order=True)
    rows = distinct.select(pl.all().cast(pl.String).fill_null("null")).rows()
    texts = [visible_text(_PARTS.join(filter(None, row))) for row in rows]
    texts = [text if text.strip() else f'"{text}"' for text in texts]  # a name is to be seen
    if len(set(texts)) < len(texts):  # "a / b" in one column is not "a" and "b" in two
        texts = [visible_text(repr(row)) for row in distinct.rows()]
    order = pl.Enum(sorted(texts, key=natural_key))
    labelled = distinct.with_columns(pl.Series(_LABEL, texts, order))
    on = {"on": keys.columns, "how": "left", "nulls_equal": True, "maintain_order": "left"}
    return keys.join(labelled, **on)[_LABEL].alias("label")  # type: ignore[arg-type]  # as named


def natural_key(text: str) -> tuple[str, str]:
    """Key by which texts sort as people count: the longer one of whole numbers is the larger."""
    return _NUMBER.sub(lambda digits: f"{len(digits[1]):09}{digits[1]}", text), text


def metric_label(metric: Metric, k: int | None = None, trials: int | None = None) -> str:
    """Metric as people write it, without characters that would hide what it says."""
    return visible_text(metric.heading(k, trials))


_ROW = ":row"
TRIALS = ":n"  # with an outcome, of a question
_TELLING = 20  # trials of a model, from where on the same outcomes are hardly chance


@dataclass(frozen=True, slots=True, eq=False)
class LogSummary:
    """Questions, outcomes and repeated ids of a log, from one pass over it.

    `cells` has stratum, model, question (and cluster) as labels, category (and truth) and
    its trials. `each` has the same keys, repeated ids (null if unchecked) and `TRIALS`. `totals`
    has stratum, model, planned and reported of the runs; `steps` has stratum and `at`, ascending;
    `skipped` names runs that were stopped before their first trial.
    """

    trials: Trials
    questions: pl.DataFrame  # one row per model and question, as by `question_tallies`
    cells: pl.DataFrame
    each: pl.DataFrame
    totals: pl.DataFrame | None = None
    steps: pl.DataFrame | None = None
    skipped: tuple[str, ...] = ()

    @classmethod
    def read(
        cls, frame: pl.LazyFrame, roles: Roles, totals: pl.DataFrame | None = None
    ) -> LogSummary:
        """Read the log, once; refuses only what its schema tells."""
        trials = bind_roles(frame, roles)
        if roles.missing == BOUNDED:
            extreme_categories(trials, ())
        # Missing outcomes are to be seen, whatever they mean.
        lenient = bind_roles(frame, replace(roles, missing="drop"))
        read = question_tallies(lenient, labels=True).collect(engine="streaming")
        questions = with_identities(read, lenient)
        keys = {
            "stratum": trials.strata,
            "model": trials.models,
            "question": [trials.question.name],
            **({} if trials.cluster is None else {"cluster": [CLUSTER]}),
        }
        named = questions.select(
            STATES,
            _repeated_trials(trials),
            **{name: key_labels(questions, key) for name, key in keys.items()},
        )
        words = pl.col("stratum", "model").cast(pl.String)
        named = named.sort(*keys).with_columns(words).with_row_index(_ROW)
        # An outcome is there once for each cluster of a question.
        rows = named.drop("duplicates").explode(STATES, **AS_ROWS).unnest(STATES)
        scored = pl.col(COUNT).filter(pl.col(CATEGORY).is_not_null()).sum().cast(pl.Int64)
        ended = rows.group_by(_ROW).agg(scored.alias(TRIALS))
        outcome = {"category": CATEGORY, **({} if trials.truth is None else {"truth": TRUTH})}
        parts = [pl.col(part).alias(name) for name, part in outcome.items()]
        cells = rows.group_by(_ROW, *parts).agg(
            pl.col(*keys).first(), pl.col(COUNT).sum().cast(pl.Int64).alias("count")
        )
        cells = cells.sort(_ROW, *outcome).select(*keys, *outcome, "count")
        each = named.drop(STATES).join(ended, on=_ROW, maintain_order="left").drop(_ROW)
        tool_totals = _labelled_totals(totals, questions, trials)
        steps = _stratum_steps(questions, trials)
        known = () if totals is None else totals.get_column("skipped", default=pl.Series())
        skipped = tuple(text for text in known if text is not None)
        return cls(trials, questions, cells, each, tool_totals, steps, skipped)

    @property
    def roles(self) -> Roles:
        """The roles of `cells`."""
        asked = self.trials.roles
        missing = asked.missing
        if missing == BOUNDED:  # sentences beside the numbers say what errored trials change
            missing, _ = extreme_categories(self.trials, ())
        return Roles(
            by="stratum" if self.trials.by else (), count="count", success=asked.success,
            missing=missing, n=asked.n, levels=asked.levels, bounds=asked.bounds,
            lower_is_better=asked.lower_is_better, unscored=asked.unscored,
            cluster=None if asked.cluster is None else "cluster",
            truth=None if asked.truth is None else "truth",
            judge=None if asked.judge is None else labelled_sample(judge_sample(asked.judge)),
            run_effects=asked.effects, validate=False,  # a page has checks of its own
        )  # fmt: skip

    @property
    def models(self) -> list[str]:
        """The labels of all models."""
        return self.cells["model"].unique().sort().to_list()

    @property
    def strata(self) -> list[str]:
        """The labels of all strata, numbers and times in their order; none if there are none."""
        if not self.trials.by:
            return []
        if self.steps is not None:
            return self.steps["stratum"].to_list()
        return sorted(self.cells["stratum"].unique(), key=natural_key)

    def label_weights(self, overall: Overall | None) -> dict[str, float]:
        """The weight of each stratum in numbers over all of them, by its label; empty of a pool."""
        overall, strata = chosen_overall(overall, self.trials), [*self.trials.strata]
        if overall is None or overall == "micro":
            return {}
        labels = key_labels(self.questions, strata).cast(pl.String)
        known = self.questions.select(strata).hstack([labels]).unique().sort(strata)
        weights = stratum_weights(overall, known[strata]).tolist()
        each = dict(zip(known["label"], weights, strict=True))
        return {name: each[name] for name in self.strata}

    @property
    def noun(self) -> str:
        """The word for a stratum."""
        return stratum_noun(self.trials)

    @property
    def question_keys(self) -> list[str]:
        """The columns of `cells` that tell questions apart.

        Strata have questions of their own, which may share their ids; steps have the same ones.
        """
        return ["stratum", "question"] if self.steps is None else ["question"]

    @property
    def question_count(self) -> int:
        """Number of distinct questions."""
        return self.cells.select(self.question_keys).n_unique()

    @property
    def counted_questions(self) -> pl.DataFrame:
        """The rows of `each` that count: ``unscored="drop"`` leaves out those without outcomes."""
        return self.each.filter((pl.col(TRIALS) > 0) | (self.trials.roles.unscored != "drop"))

    @property
    def shared_by_steps(self) -> pl.Series | None:
        """The questions that all steps have, if there are some and not all are."""
        if self.steps is None:
            return None
        steps = self.counted_questions.group_by("question").agg(pl.col("stratum").n_unique())
        shared = steps.filter(stratum=self.steps.height)["question"]
        return shared if 0 < len(shared) < steps.height else None

    def of_shared_steps(self) -> LogSummary:
        """The summary of the questions that all steps have, if there are some."""
        shared = self.shared_by_steps
        if shared is None:
            return self
        kept = pl.col("question").is_in(shared.implode())
        return replace(self, cells=self.cells.filter(kept), each=self.each.filter(kept))

    @property
    def identical(self) -> list[list[str]]:
        """Models whose outcomes are the same at every question, if chance hardly explains it.

        With fewer than 20 trials, or one outcome alone, models are alike by chance.
        """
        keys = ["stratum", "question", "category", "count"]
        same, trials = pl.struct(keys).hash().sum(), pl.col("count").sum()
        numbers = [same.alias(":same"), trials.alias(":trials"),
                   pl.col("category").n_unique().alias(":outcomes")]  # fmt: skip
        alike = (
            self.cells.group_by("model").agg(numbers)
            .filter(pl.col(":trials") >= _TELLING, pl.col(":outcomes") > 1)
            .sort("model")
            .group_by(":same", ":trials", maintain_order=True)
            .agg("model")
        )  # fmt: skip
        return [names for names in alike["model"].to_list() if len(names) > 1]

    @property
    def fewest(self) -> int:
        """The trials with an outcome of the question that has fewest, at least 1."""
        return max(1, int(self.each[TRIALS].min() or 1))  # type: ignore[arg-type]  # of integers

    def refuse(self) -> None:
        """Refuse what a report would refuse, in its words, and a log without rows."""
        if self.questions.is_empty():
            raise ValueError(
                "the log holds no trials: is it the right file, or was everything filtered out?"
            )
        broken = [*refusal_rules(self.trials), *identity_rules(self.trials)]
        asked = mark_problems(self.questions.lazy(), self.trials.question.name, broken)
        refuse_bad(self.trials, broken)(asked.collect())

    def checks(self) -> LogChecks:
        """Whether trials are independent; the log is read once more."""
        return LogChecks.from_log(self.trials.frame, self.trials.roles)

    def with_runs(self, checks: LogChecks) -> LogSummary:
        """A summary whose cells have the outcomes of their question in its runs, if known."""
        trials = self.trials
        unread = trials.judged or trials.roles.missing == BOUNDED
        runs = None if unread else checks.kept_runs()
        if runs is None:
            return self
        raw = [*trials.groups, trials.question.name]
        keys = {"stratum": trials.strata, "model": trials.models, "question": raw[-1:]}
        labels = {name: key_labels(self.questions, key) for name, key in keys.items()}
        on = {"how": "left", "maintain_order": "left"}
        counted = self.questions.select(raw)
        known = counted.join(runs, on=raw, nulls_equal=True, **on).drop(raw)  # type: ignore[arg-type]  # as named
        named = known.with_columns(**labels).with_columns(pl.col("stratum", "model").cast(str))
        return replace(self, cells=self.cells.join(named, on=[*keys], **on))  # type: ignore[arg-type]

    def describe(self) -> pl.DataFrame:
        """Coverage of each stratum and model; see `Scorio.describe`."""
        rows = coverage(self.cells.lazy(), self.roles, totals=self.totals).collect()
        keys = ["stratum", "model"] if self.trials.by else ["model"]
        repeated = pl.col("duplicates")
        checked = pl.when(repeated.is_not_null().any()).then(repeated.sum())
        checked_rows = self.each.group_by(keys).agg(checked)
        described = rows.drop("duplicates").join(checked_rows, on=keys, how="left")
        return described.select(rows.columns).sort(keys)


def stratum_noun(trials: Trials) -> str:
    """The word for a stratum: the name of the one column of strata."""
    names = [*trials.strata]
    return names[0] if len(names) == 1 else "stratum"


def overall_of_cover(cover: pl.DataFrame, trials: Trials, overall: Overall | None) -> str:
    """How numbers over all strata are made, in words; empty without strata."""
    strata, made = [*trials.strata], chosen_overall(overall, trials)
    if made is None:
        return ""
    weights = stratum_weights(made, cover.select(strata).unique().sort(strata))
    return overall_words(made, weights, stratum_noun(trials), question_total(cover, strata))


def holds_steps(trials: Trials) -> bool:
    """Whether the strata are along one number or time, such as training steps."""
    dtypes = [*trials.strata.values()]
    return len(dtypes) == 1 and (dtypes[0].is_numeric() or dtypes[0].is_temporal())


@dataclass(frozen=True, slots=True)
class Contents:
    """The size of a log, and its gaps."""

    models: int
    asked: str  # the questions, in words
    each: tuple[int | None, int | None]  # trials of a question, the fewest and the most
    missing: int  # questions
    trials: int  # with an outcome
    nulls: int  # trials without one
    planned: int  # trials
    repeated: int | None  # trials; unknown without ids
    pairs: int  # of model and stratum
    empty: int  # of these without a trial
    kind: str  # of strata
    uneven: tuple[int, int] | None  # fewest and most questions of steps that differ

    @classmethod
    def from_cover(
        cls, cover: pl.DataFrame, trials: Trials, strata: Sequence[str], models: int, asked: str
    ) -> Contents:
        """The contents of a log from `describe()`."""
        names = ("missing", "trials", "nulls", "duplicates")
        missing, outcomes, nulls, repeated = (int(cover[name].sum()) for name in names)
        planned = cover.get_column("planned", default=pl.Series([0])).sum()
        pairs = models * (cover.select(strata).n_unique() if strata else 1)
        sizes = cover["questions"] + cover["missing"]
        ends = (int(str(sizes.min())), int(str(sizes.max()))) if holds_steps(trials) else (0, 0)
        return cls(
            models, asked.removeprefix("these ").replace("this", "1"),
            cover.select(pl.col("n_min").min(), pl.col("n_max").max()).row(0), missing, outcomes,
            nulls, int(planned), None if cover["duplicates"].null_count() else repeated, pairs,
            max(pairs - cover.height, 0), strata[0] if len(strata) == 1 else "stratum",
            ends if ends[0] < ends[1] else None,
        )  # fmt: skip


def _stratum_steps(questions: pl.DataFrame, trials: Trials) -> pl.DataFrame | None:
    """Labels and values of strata along one number or time; None if they are something else."""
    if not holds_steps(trials):
        return None
    (name,) = trials.strata
    labels = key_labels(questions, [name]).cast(pl.String)
    return questions.select(stratum=labels, at=pl.col(name)).unique().sort("at")


def _labelled_totals(
    totals: pl.DataFrame | None, questions: pl.DataFrame, trials: Trials
) -> pl.DataFrame | None:
    """Totals of the runs of each model, with labels; None if tools say nothing of these models."""
    if totals is None or not has_totals(totals, trials):
        return None
    models = questions.lazy().select(trials.groups).unique()
    labelled = with_totals(models, totals, trials).collect()
    keys = {"stratum": trials.strata, "model": trials.models}
    labels = {name: key_labels(labelled, key).cast(pl.String) for name, key in keys.items()}
    return labelled.select(**labels, **{name: name for name in TOTALS_COLUMNS})


def _repeated_trials(trials: Trials) -> pl.Expr:
    """How many trials of a question have an id that was there before."""
    if not trials.identified:
        return pl.lit(None, pl.Int64).alias("duplicates")
    # Null is one of the distinct ids.
    distinct = pl.col(IDS).cast(pl.Int64) - (pl.col(NO_ID) > 0).cast(pl.Int64)
    repeated = pl.col(ROWS) - pl.col(NO_ID).cast(pl.Int64) - distinct
    return repeated.cast(pl.Int64).alias("duplicates")
