"""The check for duplicate trials: it finds repeated ids and nothing else, whatever they are."""

import datetime as dt
import re

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import polars_scorio as ps
from tests.made_logs import law

pytestmark = pytest.mark.filterwarnings("ignore::polars_scorio.CheckWarning")  # made logs are sure

ENGINES = ["streaming", "in-memory"]
TWICE = re.compile(r"^(\d+) questions? ha.* twice .* question=(\d+): (\d+) trials, (\d+) distinct")
EDGES = [0, 1, 62, 63, 64, 126, 127, 128, 2**14 - 1, 2**14, 2**31, 2**32, 2**62, 2**63 - 1]
INTEGERS = [pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.Int128, pl.UInt8, pl.UInt16, pl.UInt32]

# Ids that are near each other, far apart, or at the edges of words and of Int64.
integers = st.one_of(
    st.integers(-70, 200),
    st.sampled_from([*EDGES, *(-1 - edge for edge in EDGES)]),
    st.integers(-(2**63), 2**63 - 1),
)
words = st.text("ab0", max_size=2)
# Half the ids there are, each once: whatever is confused with another is found.
many = st.sampled_from([-(2**14), 0, 2**14]).flatmap(
    lambda middle: st.permutations(range(middle - 128, middle + 256)).map(lambda ids: ids[:192])
)


def questions(ids: st.SearchStrategy[object]) -> st.SearchStrategy[list[list[object]]]:
    """The trial ids of a few questions, with repetitions."""
    some = st.lists(ids, min_size=1, max_size=5).flatmap(
        lambda pool: st.lists(st.sampled_from(pool), min_size=1, max_size=6)
    )
    return st.lists(some | st.lists(ids, min_size=1, max_size=6), min_size=1, max_size=4)


def log(ids: list[list[object]], dtype: pl.DataType | None = None) -> pl.LazyFrame:
    """A log with these trial ids, in which every question has two categories."""
    rows = [(q, trial, i % 2) for q, trials in enumerate(ids) for i, trial in enumerate(trials)]
    schema = {"question": pl.Int64, "trial": dtype, "category": pl.Int64}
    frame = pl.DataFrame(rows, schema=schema, orient="row", infer_schema_length=None)
    return frame.with_columns(model=pl.lit("m")).sample(fraction=1, shuffle=True, seed=0).lazy()


def complaint(plan: pl.LazyFrame, engine: str = "streaming") -> tuple[int, ...] | None:
    """Bad questions, the first of them, its trials and its distinct ids; None where all is well."""
    try:
        plan.collect(engine=engine)
    except ValueError as error:
        return tuple(map(int, TWICE.findall(str(error))[0]))
    return None


def expected(ids: list[list[object]]) -> tuple[int, ...] | None:
    """The same, from sets."""
    bad = [(q, len(trials), len(set(trials))) for q, trials in enumerate(ids)]
    bad = [facts for facts in bad if facts[1] != facts[2]]
    return (len(bad), *bad[0]) if bad else None


@pytest.mark.slow
@law
@given(questions(integers) | questions(words) | st.lists(many, min_size=1, max_size=3))
def test_finds_repeated_ids_and_nothing_else(ids):
    dtype = pl.Int64 if isinstance(ids[0][0], int) else pl.String
    accessor = log(ids, dtype).scorio
    for engine in ENGINES:
        for plan in (accessor.bayes(), accessor.bayes(per="question"), accessor.counts()):
            assert complaint(plan, engine) == expected(ids)


@pytest.mark.parametrize("dtype", [*INTEGERS, pl.UInt64], ids=str)
@pytest.mark.parametrize("repeated", [False, True])
def test_integers_of_every_width_keep_their_ends_apart(dtype, repeated):
    low, high = pl.select(low=dtype.min(), high=dtype.max()).row(0)
    ids = [[low, low + 1, low + 64, high - 64, high - 1, high] + [high] * repeated]
    accessor = log(ids, dtype).scorio
    for plan in (accessor.bayes(), accessor.counts()):
        assert complaint(plan) == ((1, 0, 7, 6) if repeated else None)


@pytest.mark.parametrize(
    ("ids", "dtype"),
    [
        pytest.param(["0", "00", ""], pl.String, id="words"),
        pytest.param(["0", "00", ""], pl.Categorical, id="Categorical"),
        pytest.param(["0", "00"], pl.Enum(["00", "0"]), id="Enum"),
        pytest.param([0.0, 0.5, -1e300], pl.Float64, id="floats"),
        pytest.param([False, True], pl.Boolean, id="Booleans"),
        pytest.param([dt.date(2025, 1, 1), dt.date(2025, 1, 2)], pl.Date, id="dates"),
        pytest.param([dt.timedelta(1), dt.timedelta(2)], pl.Duration, id="durations"),
        pytest.param([b"a", b"b"], pl.Binary, id="bytes"),
    ],
)
def test_ids_that_are_no_integers_are_compared_as_they_are(ids, dtype):
    for trials in (ids, [*ids, ids[0]]):
        accessor = log([trials], dtype).scorio
        for plan in (accessor.bayes(), accessor.max_at_k(1), accessor.counts()):
            assert complaint(plan) == expected([trials])


@pytest.mark.slow
@pytest.mark.parametrize("apart", [1, 64, 128, 129, 10**9])
@pytest.mark.parametrize("first", [-3, 0, 60, 10**12])
def test_every_pair_of_repeated_trials_is_found(apart, first):
    ids = [first + apart * i for i in range(9)]
    for i in range(9):
        # Trial i is there again, as a trial of the other category or of the same.
        spoilt = [ids, [*ids, ids[i]], [*ids, ids[i], ids[i]], ids]
        assert complaint(log(spoilt).scorio.bayes()) == (2, 1, 10, 9)
        assert complaint(log(spoilt).scorio.counts()) == (2, 1, 10, 9)


@pytest.mark.parametrize("metric", [ps.bayes(), ps.max_at_k(1)], ids=lambda metric: metric.name)
@pytest.mark.parametrize("ids", [[0, None, 1, None], ["a", None, "b", None]], ids=["int", "word"])
def test_null_ids_are_counted_whatever_else_repeats(ids, metric):
    # The nulls are the graver mistake: without an id there is nothing to compare.
    said = r"^1 question has a null trial id in 'trial', the first at .* question=1: 2 trials\."
    accessor = log([[i for i in ids if i is not None], [*ids, ids[0]]]).scorio
    for plan in (accessor.report(metric), accessor.counts()):
        with pytest.raises(ValueError, match=said):
            plan.collect()


@pytest.mark.parametrize("engine", ENGINES)
def test_counts_join_the_categories_of_all_blocks(engine):
    plan = log([list(range(0, 640, 8)), [5]]).scorio.counts()
    assert plan.collect(engine=engine).rows() == [("m", 0, 0, 40), ("m", 0, 1, 40), ("m", 1, 0, 1)]


@pytest.mark.parametrize("ids", [[0, 1], ["a", "b"], [0.0, 0.5]], ids=["int", "word", "float"])
def test_ids_do_not_make_the_engine_fall_back(ids):
    def fallbacks(plan: pl.LazyFrame) -> int:
        """How many steps need all their rows in memory."""
        graph = plan.show_graph(engine="streaming", plan_stage="physical", raw_output=True)
        return graph.count('label="in-memory-map')

    if not isinstance(ids[0], int) and pl.__version__.startswith("1.35."):
        pytest.skip("has all rows in memory where distinct values are counted")
    scorio = log([ids, ids]).scorio
    assert fallbacks(scorio.bayes()) == fallbacks(scorio(trial=None).bayes())
