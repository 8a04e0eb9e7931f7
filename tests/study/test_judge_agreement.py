import polars as pl
import pytest

from tests.made_verdicts import RATES, verdicts


def test_rates_are_those_of_the_labels():
    log = verdicts(share=0.5)
    rows = log.scorio(truth="human").judge_agreement()
    for row in rows.to_dicts():
        of_model = log if row["model"] is None else log.filter(model=row["model"])
        labelled = of_model.drop_nulls("human")
        right = labelled.filter(pl.col("human"))
        assert row["labels"] == labelled.height
        assert row["labelled_questions"] == labelled.select("model", "question").n_unique()
        assert row["sensitivity"] == pytest.approx(right["category"].mean())
        assert row["sensitivity_lo"] < row["sensitivity"] < row["sensitivity_hi"]


def test_several_models_have_a_row_together():
    rows = verdicts().scorio(truth="human").judge_agreement()
    assert rows["model"].to_list() == ["a", "b", "c", None]
    assert rows["labels"][3] == rows["labels"][:3].sum()


def test_one_model_has_no_second_row():
    assert verdicts(["a"]).scorio(truth="human").judge_agreement().height == 1
    assert verdicts(["a"]).scorio(model=None, truth="human").judge_agreement().height == 1


def test_each_stratum_has_rows_of_its_own():
    both = pl.concat([verdicts(seed=seed).with_columns(level=pl.lit(seed)) for seed in (1, 2)])
    rows = both.scorio(truth="human", by="level").judge_agreement()
    assert rows.filter(pl.col("model").is_null())["level"].sort().to_list() == [1, 2]


def test_labels_chosen_by_verdict_are_weighed():
    log = verdicts(["a"], questions=2_000, power=4.0, share=1.0)
    number = pl.int_range(pl.len()).over("category")
    few = log.with_columns(human=pl.when(number < 400).then("truth"))
    (row,) = few.scorio(truth="human").judge_agreement().to_dicts()
    # The binomial standard error of each is about .02.
    assert (row["sensitivity"], row["specificity"]) == pytest.approx(RATES, abs=0.06)


def test_a_model_without_labels_has_nulls():
    log = verdicts().with_columns(human=pl.when(pl.col("model") != "b").then("human"))
    row = log.scorio(truth="human").judge_agreement().row(1, named=True)
    assert (row["labels"], row["sensitivity"], row["kappa"]) == (0, None, None)


def test_shorter_intervals_need_more_labels():
    log = verdicts(questions=200).scorio(truth="human")
    wide, narrow = (log.judge_agreement(width=width)["extra_labels"] for width in (0.2, 0.1))
    assert (narrow > 3 * wide).all()


def test_a_width_that_no_labels_reach_is_null():
    found = verdicts(questions=12).scorio(truth="human").judge_agreement(width=0.01)
    assert found["extra_labels"].null_count() == 4


def test_a_width_is_between_0_and_1():
    with pytest.raises(ValueError, match="width must be a number between 0 and 1"):
        verdicts().scorio(truth="human").judge_agreement(width=2)
