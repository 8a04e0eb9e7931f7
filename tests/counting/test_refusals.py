"""What would give a wrong number in silence is refused, with the place."""

import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.counting.checks import Quoted, Rule, quoted_columns

NAN = float("nan")
LOG = pl.DataFrame(
    {"model": 1.0, "question": [1.0, 2.0], "trial": 0.0, "set": 1.0, "category": [0, 1]}
)


def test_counts_read_as_trials_are_told_so():
    counts = LOG.scorio(by="set").counts()
    with pytest.raises(pl.exceptions.ColumnNotFoundError, match='Pass count="count"'):
        counts.scorio.avg()
    with pytest.raises(pl.exceptions.ColumnNotFoundError, match="pass trial=None"):
        counts.drop("count").scorio.avg()


@pytest.mark.parametrize("key", ["model", "question", "set"])
def test_a_key_that_is_nan_is_refused(key):
    bad = LOG.with_columns(pl.when(pl.col("category") == 1).then(NAN).otherwise(key).alias(key))
    for use in (lambda log: log.avg(), lambda log: log.counts()):
        with pytest.raises(ValueError, match=f"1 question has a null or NaN in .* {key}=nan"):
            use(bad.scorio(by="set"))


def test_a_trial_id_that_is_nan_is_refused():
    bad = LOG.with_columns(trial=pl.lit(NAN))
    with pytest.raises(ValueError, match=r"null trial id in 'trial', .* question=1.0: 1 "):
        bad.scorio.avg()
    assert bad.scorio(validate=False).avg()["estimate"].item() == 0.5


@pytest.mark.parametrize(
    "role", ["model", "question", "trial", "category", "by", "count", "cluster"]
)
def test_names_of_the_plan_are_refused(role):
    frame = LOG.with_columns(pl.lit(1).alias(":c0"))
    with pytest.raises(ValueError, match=f"{role} column ':c0' has a name that begins with"):
        frame.lazy().scorio(**{role: ":c0"}).avg()
    renamed = frame.scorio(model=pl.col(":c0").alias("model"))
    assert renamed.avg()["estimate"].item() == 0.5


HUGE = {"model": ["m", "m", "o"], "question": [1, 1, 1], "category": [0, 1, 1]}


@pytest.mark.parametrize("dtype", [pl.Int64, pl.UInt64])
@pytest.mark.parametrize("use", [lambda log: log.avg(), lambda log: log.counts()])
def test_more_trials_of_a_question_than_64_bits_hold_are_refused(dtype, use):
    frame = pl.DataFrame({**HUGE, "count": pl.Series([2**62, 2**62, 1], dtype=dtype)})
    said = "1 question has more trials than 9,223,372,036,854,775,807 in 'count', .* model='m'"
    with pytest.raises(ValueError, match=said):
        use(frame.scorio(count="count"))
    assert frame.scorio(count="count").describe()["questions"].to_list() == [1, 1]


def test_a_count_beyond_64_bits_is_refused():
    frame = pl.DataFrame({**HUGE, "count": pl.Series([2**64 - 1, 1, 1], dtype=pl.UInt64)})
    with pytest.raises(ValueError, match="more trials than"):
        frame.scorio(count="count").avg()


def test_more_trials_of_all_questions_than_64_bits_hold_are_refused():
    frame = pl.DataFrame(HUGE).with_columns(count=pl.lit(2**62)).with_columns(
        question=pl.int_range(3)
    )  # fmt: skip
    said = "the log has more trials than .* at model='m': 9,223,372,036,854,775,808"
    with pytest.raises(ValueError, match=said):
        frame.scorio(count="count").avg()


def test_prior_trials_count_too():
    roles = {"count": "count", "success": 1}
    data = pl.DataFrame({**HUGE, "count": 2**61}).filter(model="m")
    ps.scorio(data, **roles).report(ps.bayes(), prior=data.with_columns(count=pl.lit(5)))
    with pytest.raises(ValueError, match="the log has more trials"):
        ps.scorio(data, **roles).report(ps.bayes(), prior=data.with_columns(count=pl.lit(2**61)))


def test_polars_skips_an_empty_file_of_a_glob_and_the_cures_do_not(tmp_path):
    for trial in range(3):
        LOG.with_columns(trial=pl.lit(trial)).write_parquet(tmp_path / f"{trial}.parquet")
    (tmp_path / "1.parquet").write_bytes(b"")
    glob = pl.scan_parquet(tmp_path / "*.parquet")
    assert glob.scorio.avg().collect()["trials"].item() == 4
    with pytest.raises(ValueError, match="a number of trials other than n=3"):
        glob.scorio(n=3).avg().collect()
    with pytest.raises(pl.exceptions.ComputeError, match="file"):
        pl.scan_parquet(sorted(tmp_path.rglob("*.parquet"))).scorio.avg().collect()


@pytest.mark.parametrize(
    ("value", "unit", "words"),
    [(1, "trial", "1 trial"), (2, "trial", "2 trials"), (-0.5, None, "-0.5"), ("b", None, "b")],
)
def test_a_message_quotes_a_value_or_counts_things(value, unit, words):
    assert Quoted("x", unit).quote_value(pl.DataFrame({"x": [value]})) == words


def test_each_column_that_messages_quote_is_named_once():
    always = pl.lit(True)
    rules = [
        Rule(always, (": ", Quoted("x", "trial"), Quoted("y")), "", ""),
        Rule(always, (": ", Quoted("x")), "", ""),
        Rule(always, (), "", ""),
    ]
    assert quoted_columns(rules) == ["x", "y"]
