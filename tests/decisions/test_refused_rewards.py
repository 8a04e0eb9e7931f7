"""What rewards of any value have no numbers of, with the way out. REWARDS, API: as `calibrated`."""

import polars as pl
import pytest

import polars_scorio as ps
from tests.made_logs import long

LOG = pl.concat([long([[0, 1, 1], [0, 0, 1]], model) for model in "ab"])
REWARDS = LOG.with_columns(pl.col("category") * 0.5)
CALLS = {
    "published": lambda log: log.report(ps.avg(), prior="uniform"),
    "pooled": lambda log: log.report(ps.max_at_k(2), prior="population"),
    "bayes": lambda log: log.report(ps.bayes()),
    "prior": lambda log: log.report(ps.avg(), prior=LOG),
    "pass_at_k": lambda log: log.pass_at_k(2),
    "regressions": lambda log: log.regressions("a"),
    "population": lambda log: log.population(),
    "next_trials": lambda log: log.next_trials(10),
    "best settles": lambda log: log.convergence(ps.max_at_k(2)),
}


@pytest.mark.parametrize("bounds", [None, (0, 2)], ids=["observed", "given"])
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_what_needs_categories_names_the_way_out(call, bounds):
    with pytest.raises(ValueError, match=r"threshold|w= with a weight for each category"):
        call(REWARDS.scorio(bounds=bounds))


def test_no_numbers_of_rewards_allow_trials_that_depend_on_them():
    with pytest.raises(
        ValueError, match=r"^next_trials: if more trials go to rewards that vary more"
    ):
        REWARDS.scorio(bounds=(0, 1)).next_trials(10)


def test_the_best_of_k_has_no_plan_of_trials():
    with pytest.raises(
        TypeError, match=r"^trials_needed takes ps\.avg\(\), whose variance .* Where ps\.avg\(\) is"
    ):
        REWARDS.scorio(bounds=(0, 1)).trials_needed(ps.max_at_k(2))


@pytest.mark.parametrize("metric", [ps.avg(), ps.max_at_k(2), ps.min_at_k(2)], ids=str)
def test_all_metrics_of_rewards_have_a_plan_of_questions(metric):
    rewards = pl.concat(
        pl.DataFrame(
            {
                "model": model,
                "question": [q for q in range(12) for _ in range(4)],
                "trial": [*range(4)] * 12,
                "category": [(7 * row % 10 + more) / 12 for row in range(48)],
            }
        )
        for model, more in (("a", 0.0), ("b", 0.5))
    )
    (row,) = rewards.scorio(bounds=(0, 1)).questions_needed(metric).to_dicts()
    assert row["questions"] == 12
    assert row["total"] == 12 + row["extra_questions"]
    assert row["extra_questions"] > 0
    assert row["sigma"] > 0
