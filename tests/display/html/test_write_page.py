"""From a log to the file of its page: what is written, refused and returned."""

import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.accessors.base import ShownFrame
from tests.display.html.logs import Checked, models, page_of


@pytest.mark.slow
@pytest.mark.parametrize(
    ("log", "roles"),
    [
        pytest.param(models(1), {}, id="one model"),
        pytest.param(models(1).drop("model"), {"model": None}, id="no model"),
        pytest.param(models(3, questions=1), {}, id="one question"),
        pytest.param(models(3, trials=1), {}, id="one trial"),
        pytest.param(models(2).with_columns(category=1), {}, id="all right"),
        pytest.param(models(2).with_columns(category=0), {}, id="all wrong"),
        pytest.param(models(2).with_columns(category=pl.lit(None, pl.Int8)), {"missing": 0},
                     id="nulls that count"),
        pytest.param(models(3, 2).sample(fraction=0.7, seed=1), {"by": "bench"}, id="ragged"),
        pytest.param(models(2).with_columns(category=pl.col("category") / 2),
                     {"levels": [0, 0.5, 1]}, id="levels"),
        pytest.param(models(2).group_by("model", "question", "category").len("count"),
                     {"count": "count"}, id="counts"),
        pytest.param(models(2).with_columns(model=pl.col("model").cast(pl.Categorical)), {},
                     id="categorical"),
        pytest.param(models(2).rename({"model": "count", "question": "stratum"}),
                     {"model": "count", "question": "stratum"}, id="names of the page's own"),
    ],
)  # fmt: skip
def test_every_log_that_can_be_reported_is(log, roles):
    page = page_of(log, **roles)
    assert not page.refused
    Checked(page.html())
    assert page.markdown().startswith(f"# {page.headline[:4]}")


@pytest.mark.parametrize(
    ("log", "roles", "reason"),
    [
        (models(2).with_columns(category=pl.lit(None, pl.Int8)), {}, "24 questions have a missing"),
        (
            models(2).with_columns(category=pl.lit(None, pl.Int8)),
            {"missing": "drop"},
            "24 questions have no trial with a category",
        ),
        (models(2).vstack(models(2).head(3)), {}, "1 question has the same trial twice"),
        (models(2).with_columns(category=pl.lit("ok")), {}, "name the successes"),
        (models(2), {"n": 5}, "a number of trials other than n=5"),
        (models(2).with_columns(model=None), {}, "a null in the keys"),
        (models(2).clear(), {}, "the log holds no trials"),
    ],
)
def test_a_log_that_is_refused_has_a_page_with_the_reason(tmp_path, log, roles, reason):
    path = tmp_path / "report.html"
    with pytest.raises(ValueError, match=reason):
        log.scorio(**roles).write_html(path)
    said = "".join(Checked(path).texts)
    assert "This log cannot be scored yet." in said
    assert reason[1:] in said  # a sentence, which begins with a capital
    assert "What is in the log" in said
    assert "df.scorio" in said.partition("What to do next")[2]


@pytest.mark.slow
def test_write_html_returns_the_path_and_says_what_it_was_called_with(tmp_path):
    path = tmp_path / "a page.html"
    written = models(2).scorio.write_html(path, ps.avg(), ps.pass_at_k([1, 8]), title="Mine",
                                          confidence=0.9)  # fmt: skip
    assert written == path
    said = "".join(Checked(path).texts)
    call = "df.scorio.write_html('a page.html', avg(), pass_at_k([1, 8]), confidence=0.9)"
    for part in (
        call,
        "Mine",
        "calibrated 90 % intervals; for posterior means, credible",
        "avg@4",
        "More draws than trials",
    ):
        assert part in said


@pytest.mark.slow
def test_the_log_is_read_once_for_its_numbers_and_twice_for_its_checks(tmp_path):
    models(3, 2).write_parquet(tmp_path / "log.parquet")
    looks = []

    def seen(part: pl.DataFrame) -> pl.DataFrame:
        looks.append(part.height)
        return part

    scan = pl.scan_parquet(tmp_path / "log.parquet")
    counted = scan.map_batches(seen, schema=scan.collect_schema(), streamable=False)
    counted.scorio(by="bench").write_html(tmp_path / "log.html")
    assert looks == [288] * 3


ESC = "\x1b"


@pytest.mark.parametrize("role", ["model", "question", "trial", "category", "by", "cost"])
def test_a_column_whose_name_commands_is_refused_where_it_plays_a_role(role):
    """Frames of results are shown by Polars, which writes names of columns as they are."""
    log = models(2, 2).with_columns(usd=1.0 + pl.col("trial"))
    name = {"by": "bench", "cost": "usd"}.get(role, role)
    accessor = log.rename({name: f"{name}{ESC}[31m"}).scorio(**{role: f"{name}{ESC}[31m"})
    for method in (accessor.avg, accessor.rank, accessor.questions, accessor.describe):
        with pytest.raises(ValueError, match=rf"{role} column '{name}.x1b.* has a control char"):
            method()


def test_a_name_of_another_column_is_shown_with_its_codes():
    shown = ShownFrame.from_frame(pl.DataFrame({f"avg{ESC}[31m": [0.5]}), str)._repr_html_()
    assert ESC not in shown
    assert "avg(U+001B)[31m" in shown


def test_a_page_of_runs_has_curves_without_bands(tmp_path):
    models(2).scorio(run="trial").write_html(tmp_path / "page.html")
    assert 'id="reliability"' in (tmp_path / "page.html").read_text(encoding="utf-8")
