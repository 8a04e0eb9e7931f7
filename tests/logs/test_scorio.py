import gzip

import numpy as np
import polars as pl
import pytest

import polars_scorio as ps

categorical = pytest.importorskip("scorio.categorical")
SCHEMATA = {
    "confident_and_correct": "Confident & Correct",
    "token_surprise": "Token Surprise vs. Correctness",
    "format_compliance": "Format Compliance & Correctness",
    "difficulty_adjusted": "Difficulty-Adjusted Correctness",
    "io_ratio_profile": "IO Ratio Profile",
}


def trial(model, question, seed, numbers):
    """One line of the project's JSON lines."""
    logprobs = [float(x) for x in -np.round(numbers.exponential(1, 70), 3)]
    return {
        "seed": seed,
        "data_id": question,
        "model": model,
        "output": {
            "finish_reason": ["stop", "length"][int(numbers.integers(2))],
            "num_completion_tokens": int(numbers.integers(100, 999)),
        },
        "tokens": {
            "completion_avg_logprob": float(np.mean(logprobs)),
            "completion_sum_logprob": float(np.sum(logprobs)),
            "completion_ppl": float(np.exp(-np.mean(logprobs))),
            "prompt_sum_logprob": -float(numbers.integers(100, 500)),
            "prompt_ppl": float(numbers.integers(2, 90)),
            "completion_logprob_list": logprobs,
        },
        "processed_results": {
            "is_correct": int(numbers.integers(2)),
            "has_box": int(numbers.integers(2)),
        },
    }


@pytest.fixture
def rollouts(write):
    numbers = np.random.default_rng(5)
    for model in ("ada", "bob"):
        lines = [trial(model, q, seed, numbers) for q in range(6) for seed in (7, 1261, 44)]
        path = write(f"rollouts/{model}.jsonl", *lines)
    return path.parent


def test_the_table_is_what_scorio_reads(reader, rollouts):
    log = reader(rollouts).frame
    assert isinstance(log, pl.LazyFrame)
    log = log.collect()
    read = categorical.load_records(str(rollouts), workers=1)
    assert log["model"].to_list() == list(read["model"])
    assert log["question"].to_list() == [str(problem) for problem in read["problem"]]
    signals = [name for name in log.columns if name in read and name not in ("model", "trial")]
    renamed = {"problem": "question", "source_file": "source"}
    assert {renamed.get(name, name) for name in read} <= {*log.columns}
    assert len(signals) == 15
    for name in signals:
        # Sums of some numbers, and what follows from them, in another order: some 1e-16.
        found = log[name].cast(pl.Float64).to_numpy()
        np.testing.assert_allclose(found, read[name].astype(float), rtol=1e-12)


def test_files_of_gzip_are_read(table, rollouts):
    for path in rollouts.glob("*.jsonl"):
        with gzip.open(f"{path}.gz", "wb") as packed:
            packed.write(path.read_bytes())
        whole = table(path)
        assert table(f"{path}.gz").equals(whole)


def test_the_category_is_whether_it_is_correct(table, summary, rollouts):
    log = table(rollouts)
    means = log.group_by("model").agg(pl.col("is_correct").mean()).sort("model")["is_correct"]
    expected = [(18, 0, round(mean, 3)) for mean in means]
    assert summary(ps.avg(), rollouts) == expected


@pytest.mark.slow
@pytest.mark.parametrize(("name", "schema"), SCHEMATA.items())
def test_the_rubrics_give_the_scores_of_scorio(rollouts, name, schema):
    rubric = getattr(ps.rubrics, name)()
    log = ps.logs.scorio(rollouts).frame.collect().with_columns(rubric.expr())
    score = pl.col(name).cast(pl.String).replace_strict(rubric.example, return_dtype=pl.Float64)
    for model, (mu, sigma) in categorical.evaluate_schema(str(rollouts), schema).items():
        part = log.filter(model=model).with_columns(score=score)
        # scorio's categories are the scores that a model happens to show.
        shown = part["score"].unique().sort().to_list()
        row = part.scorio(category="score", levels=shown).bayes()
        # The same sums over six questions, in another order: some 1e-16.
        assert row.select("mu", "sigma").row(0) == pytest.approx((mu, sigma), rel=1e-9)


def test_lines_without_logprobs_have_none(table, write):
    line = trial("ada", 1, 7, np.random.default_rng(5))
    line["tokens"]["completion_logprob_list"] = []
    log = table(write("a.jsonl", line))
    assert log.select("logprob_min", "logprob_iqr", "tail64_avg_logprob").row(0) == (None,) * 3
    line["tokens"]["completion_logprob_list"] = [-1.0, None]
    log = table(write("a.jsonl", line))
    assert log.select("logprob_min", "logprob_iqr", "tail64_avg_logprob").row(0) == (-1, 0, -1)
