import polars as pl
import pytest

from polars_scorio.counting.roles import Roles
from polars_scorio.counting.trials import bind_roles
from polars_scorio.decisions.baselines import baseline_columns
from polars_scorio.decisions.strata_arrays import STRATUM
from tests.made_logs import long

LOG = long([[1]]).with_columns(domain=pl.lit("web"))
TRIALS = bind_roles(LOG.lazy(), Roles(by="domain"))
GROUPS = pl.DataFrame(
    {"domain": ["air", "air", "web", "web"], "model": ["a", "b", "b", "c"], STRATUM: [0, 0, 1, 1]}
)


def test_each_stratum_has_its_own_place_of_the_baseline():
    assert baseline_columns(GROUPS, TRIALS, "b").tolist() == [1, 0]


def test_a_stratum_without_the_baseline_is_named():
    message = r"^domain='web': baseline='a' is none of the models: \['b', 'c'\]$"
    with pytest.raises(ValueError, match=message):
        baseline_columns(GROUPS, TRIALS, "a")
