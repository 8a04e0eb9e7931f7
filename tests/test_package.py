"""The package itself: what it shows of itself, and that rubrics, its values, can be sent about."""

import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError

import polars as pl
import pytest
from packaging.version import Version

import polars_scorio as ps
from polars_scorio.display.phrases import installed_version
from tests.documents import ROOT


def test_the_package_shows_public_names_only():
    assert dir(ps) == sorted([*ps.__all__, "__version__"])
    assert all(hasattr(ps, name) for name in dir(ps))


@pytest.fixture
def forgotten_version():
    """The version is looked up once in a process, but for these tests."""
    installed_version.cache_clear()
    yield
    installed_version.cache_clear()


@pytest.mark.usefixtures("forgotten_version")
def test_the_version_is_that_of_the_metadata(monkeypatch):
    monkeypatch.setattr("importlib.metadata.version", {"polars-scorio": "1.2.3"}.__getitem__)
    assert ps.__version__ == "1.2.3"


@pytest.mark.usefixtures("forgotten_version")
def test_a_source_tree_that_is_not_installed_has_a_version(monkeypatch):
    def nowhere(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.version", nowhere)
    assert ps.__version__ == "0+unknown"
    assert Version(ps.__version__) < Version("0.1")


def test_the_recipe_for_conda_and_the_citation_are_of_this_version():
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    recipe = (ROOT / ".ci" / "conda" / "recipe.yaml").read_text(encoding="utf-8")
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    version = re.search(r'^version = "(.*)"$', project, flags=re.MULTILINE)[1]
    assert f'version: "{version}"' in recipe
    assert f"version: {version}\n" in citation
    needed = re.search(r"^dependencies = \[(.*)\]$", project, flags=re.MULTILINE)[1]
    pins = [pin.replace(">=", " >=") for pin in re.findall(r'"(.*?)"', needed)]
    _, _, run = recipe.partition("  run:\n")
    assert re.findall(r"^    - (.*)$", run.partition("\n\n")[0], flags=re.MULTILINE)[1:] == pins


def test_what_the_package_lacks_is_named():
    message = r"^module 'polars_scorio' has no attribute 'bayess': did you mean 'bayes'\?$"
    with pytest.raises(AttributeError, match=message):
        _ = ps.bayess


def test_the_metadata_is_read_only_when_it_is_asked_for():
    assert "__version__" not in vars(ps)


@pytest.mark.parametrize(
    ("owner", "name", "nearest"),
    [
        (ps, "pass_at_K", "pass_at_k"),
        (ps.logs, "tau3", "tau2_bench"),
        (ps.logs, "tau_bensh", "tau_bench"),
        (ps.rubrics, "exact_mach", "exact_match"),
        (ps.spectrum_weights, "unifrom", "uniform"),
        (ps.sql, "duckdb_macro", "duckdb_macros"),
        (pl.DataFrame().scorio, "pas_at_k", "pass_at_k"),
        (pl.LazyFrame().scorio, "leader_board", "leaderboard"),
        (pl.col("category").scorio, "pas_at_k", "pass_at_k"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_unknown_name_is_answered_with_the_nearest(owner, name, nearest):
    with pytest.raises(
        AttributeError, match=rf" has no attribute '{name}': did you mean '{nearest}'"
    ):
        getattr(owner, name)


@pytest.mark.parametrize("module", [ps.logs, ps.rubrics, ps.spectrum_weights, ps.sql])
def test_a_room_shows_its_public_names_only(module):
    assert dir(module) == sorted(module.__all__)
    assert all(callable(getattr(module, name)) for name in module.__all__)


@pytest.mark.slow
def test_importing_the_package_imports_polars_alone():
    code = """import sys, polars_scorio
print([name for name in sys.modules if name.startswith(("polars_scorio.", "numpy", "scipy"))])"""
    assert _printed(code) == "[]\n"


@pytest.mark.slow
def test_a_report_imports_nothing_that_waits():
    waiting = ["scipy.optimize", "altair", "polars_scorio.logs", "polars_scorio.decisions"]
    code = f"""import polars as pl, polars_scorio as ps, sys
ps.scorio(pl.DataFrame({{"model": "m", "question": [1], "category": [1]}}), trial=None).avg()
print([name for name in {waiting} if name in sys.modules])"""
    assert _printed(code) == "[]\n"


@pytest.mark.slow
def test_a_foreign_namespace_of_this_name_is_not_replaced_in_silence():
    code = """import warnings, polars as pl
@pl.api.register_dataframe_namespace("scorio")
class Other:
    def __init__(self, frame): ...
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import polars_scorio
print(*(warning.message for warning in caught))"""
    said = _printed(code).lower().replace("'dataframe'", "dataframe")  # before Polars 2
    assert said == "overriding existing custom namespace 'scorio' (on dataframe)\n"


@pytest.mark.slow
def test_everything_works_without_docstrings():
    """Signatures and help are put together from docstrings, which ``python -OO`` removes."""
    code = """import polars as pl, polars_scorio as ps
print(len([getattr(ps, name) for name in ps.__all__]) > 30, len(ps.rubrics.schemata()))
log = pl.DataFrame({"model": "m", "question": [1, 1, 2, 2], "category": [0, 1, 1, 1]})
accessor = log.scorio(trial=None)
print(accessor.report(ps.avg())["estimate"].item(), accessor.pass_at_k(2)["estimate"].item())
try:
    accessor.pass_at_k(2, confidnce=0.9)
except TypeError as error:
    print(str(error).partition("?")[0])"""
    assert _printed(code, "-OO").splitlines() == [
        "True 12",
        "0.75 1.0",
        "pass_at_k() got an unexpected keyword argument 'confidnce': did you mean 'confidence'",
    ]


def test_a_name_is_imported_once_and_an_accessor_is_not_kept_on_its_frame():
    assert ps.avg is vars(ps)["avg"]
    log, missing = pl.DataFrame({"question": [1]}), "there are no columns 'model'"
    with pytest.raises(pl.exceptions.ColumnNotFoundError, match=missing):
        log.scorio.avg()
    assert "scorio" not in vars(log)


def test_a_class_of_polars_shows_the_accessor_itself():
    assert pl.DataFrame.scorio is pl.LazyFrame.scorio is ps.Scorio
    assert pl.Expr.scorio is ps.ScorioExpr


def _printed(code: str, *options: str) -> str:
    """What a fresh interpreter prints."""
    run = [sys.executable, *options, "-c", code]
    return subprocess.run(run, check=True, capture_output=True, text=True).stdout  # noqa: S603 - our own code
