"""Real files of tools against the numbers that independent code made of them."""

import json
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

import polars_scorio as ps
from tests.logs.test_real_logs import LOGS

METRICS = {"pass_at_k": ps.pass_at_k, "pass_hat_k": ps.pass_hat_k}
COSTS = "mean_usd", "mean_output_tokens", "mean_seconds"


def expected_numbers(tool: str) -> dict[str, Any]:
    """The expected numbers of a tool; a test without the files is skipped."""
    if not LOGS.exists():
        pytest.skip("the shared data are not here")
    return json.loads((LOGS / tool / "expected.json").read_text(encoding="utf-8"))


def assert_expected(
    read: Callable[..., ps.Scorio],
    part: dict[str, Any],
    *,
    stratum: str = "benchmark",
    absent: int = 0,
    outcomes: tuple[object, object] = (0, 1),
) -> None:
    """Compare what a reader makes of files with all numbers of a part of expected.json.

    `absent` are the trials of the plan that have no row in the files; `outcomes` stand for 0 and 1.
    """
    kept = [name for name in COSTS if name in part["groups"][0]]
    keep = [name.removeprefix("mean_") for name in kept]
    log = read(missing="drop", unscored="drop", keep=keep)
    frame = log.frame.lazy().collect()
    assert frame.height == part["rows"] + absent
    assert frame["category"].null_count() == part["nulls"] + absent
    strata = [] if part["groups"][0]["by"] is None else [stratum]
    assert frame.select("model", *strata).n_unique() == len(part["groups"])
    for group in part["groups"]:
        keys = {"model": group["model"]} if group["model"] != "m" else {}
        keys |= {} if group["by"] is None else {stratum: group["by"]}
        rows = frame.filter(**keys)
        there = rows if absent == 0 else rows.drop_nulls("category")
        counts = there.group_by("question").len()["len"]
        assert (counts.len(), sorted({*counts})) == (group["questions"], group["n"])
        assert there.height == group["trials"]
        values = there["category"]
        values = values.cast(pl.Float64) if outcomes == (0, 1) else values == outcomes[1]
        assert values.mean() == pytest.approx(group["micro_drop"])
        for name in kept:
            costs = there[name.removeprefix("mean_")]
            assert costs.mean() == pytest.approx(group[name])
        avg = log.avg().lazy().collect().filter(**keys)
        assert avg["estimate"].item() == pytest.approx(group["avg_drop"])
        if absent == 0:
            avg = read(missing=outcomes[0]).avg().lazy().collect().filter(**keys)
            assert avg["estimate"].item() == pytest.approx(group["avg_missing_0"])
        for name, metric in METRICS.items():
            by_k = group.get(name, {})
            if by_k:
                found = log.report(metric([*map(int, by_k)])).lazy().collect().filter(**keys)
                assert found["estimate"].to_list() == pytest.approx([*by_k.values()])
        if "bayes_mu_uniform_prior" in group and not group["nulls"]:
            bayes = log.bayes(prior="uniform").lazy().collect().filter(**keys)
            assert bayes["mu"].item() == pytest.approx(group["bayes_mu_uniform_prior"])
            assert bayes["sigma"].item() == pytest.approx(group["bayes_sigma_uniform_prior"])
