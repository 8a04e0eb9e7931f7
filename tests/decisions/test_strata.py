"""Names of models that a log cannot have are refused before it is read."""

import numpy as np
import polars as pl
import pytest

from polars_scorio.counting.log import bind_roles
from polars_scorio.counting.roles import Roles
from polars_scorio.decisions.models import STRATUM, baseline_columns, strata_blocks
from tests.made_logs import long, unreadable

ENUM = pl.Enum(["c", "b"])
ASKS = {
    "baseline": lambda accessor, name: accessor.compare(baseline=name),
}


@pytest.mark.parametrize(("keyword", "ask"), ASKS.items(), ids=ASKS)
@pytest.mark.parametrize(
    ("dtype", "name", "error", "message"),
    [
        (pl.String(), 1, TypeError, r": 1 cannot be a model of this log, whose models are String$"),
        (pl.Categorical(), 0.5, TypeError, r": 0\.5 cannot be .*, whose models are Categorical"),
        (pl.Int64(), "b", TypeError, r": 'b' cannot be .*, whose models are Int64$"),
        (ENUM, "a", ValueError, r": 'a' cannot be .* Enum\(.*\), one of \['c', 'b'\]$"),
    ],
)
def test_models_are_of_the_dtype_of_their_column(keyword, ask, dtype, name, error, message):
    schema = pl.Schema({**long([[1]]).schema, "model": dtype})
    with pytest.raises(error, match=f"^{keyword}{message}"):
        ask(unreadable(schema).scorio, name)


@pytest.mark.filterwarnings("ignore:one model .*nothing to compare:UserWarning")
@pytest.mark.parametrize("ask", ASKS.values(), ids=ASKS)
def test_models_that_the_dtype_allows_may_still_be_absent(ask):
    log = long([[1, 0]], "b").with_columns(pl.col("model").cast(pl.Enum(["c", "b"])))
    with pytest.raises(ValueError, match="'c'"):
        ask(log.scorio, "c")
    assert ask(log.scorio, "b").height <= 1


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


def test_the_nearest_model_is_named_and_ten_of_many_are_listed():
    few = pl.concat(long([[1]], name) for name in ("atlas-7b", "bob"))
    with pytest.raises(ValueError, match=r"\['atlas-7b', 'bob'\]: did you mean 'atlas-7b'\?$"):
        few.scorio.compare(baseline="atlas-7B")
    many = pl.concat(long([[1]], f"m{number:02}") for number in range(30))
    with pytest.raises(ValueError, match=r"'m08', 'm09'\] and 20 more: did you mean 'm11'\?$"):
        many.scorio.compare(baseline="M11")


# Strata with equally many models, as arrays.


def test_strata_of_one_size_and_baseline_share_a_block():
    stratum, baseline = pl.Series([0, 0, 1, 1, 2, 2]), np.array([0, 1, 0])
    found = {block.baseline: block for block in strata_blocks(stratum, baseline)}
    assert found[0].rows.tolist() == [[0, 1], [4, 5]]
    assert found[1].strata.tolist() == [1]
    assert [side.tolist() for side in found[1].pairs()] == [[0], [1]]


def test_all_pairs_are_those_above_the_diagonal():
    (block,) = strata_blocks(pl.Series([0, 0, 0]))
    assert [side.tolist() for side in block.pairs()] == [[0, 0, 1], [1, 2, 2]]
