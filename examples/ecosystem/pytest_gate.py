"""A gate as a test. Run: python -m pytest examples/ecosystem/pytest_gate.py

It reads rollouts.parquet in the current folder; `python examples/rollouts.py rollouts.parquet`
writes one. Put your own log, versions and margin in its place.
"""
# ruff: noqa: ANN001, ANN201, D103 - as in all tests

import polars as pl
import pytest

import polars_scorio  # noqa: F401 - registers the namespace

BASELINE, CANDIDATE = "atlas-7b", "comet-70b"
MARGIN = 0.02  # two points of a hundred


@pytest.fixture(scope="module")
def verdicts() -> pl.DataFrame:
    """The gate of all models of the log against the baseline, in each domain and in all."""
    return pl.read_parquet("rollouts.parquet").scorio(by="domain").gate(BASELINE, margin=MARGIN)


@pytest.mark.parametrize("domain", ["airline", "retail", None])
def test_no_domain_is_shown_to_be_worse_by_the_margin(verdicts, domain):
    in_domain = pl.col("domain").eq_missing(domain)
    row = verdicts.row(by_predicate=in_domain & (pl.col("model") == CANDIDATE), named=True)
    place = domain or "all domains"
    found = f"{row['diff']:+.3f} [{row['lo']:+.3f}, {row['hi']:+.3f}]"
    assert row["verdict"] != "fail", f"{CANDIDATE} is worse than {BASELINE} in {place}: {found}"


def test_the_candidate_is_shown_to_be_no_worse(verdicts):
    total = pl.col("domain").is_null()
    row = verdicts.row(by_predicate=total & (pl.col("model") == CANDIDATE), named=True)
    further = f"{row['extra_trials']} further trials of each question would decide it"
    assert row["verdict"] == "pass", further
