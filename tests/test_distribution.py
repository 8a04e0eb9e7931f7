"""What is published: it is complete, passes its own tests, and reads well without the checkout."""

import os
import re
import subprocess
import sys
import tarfile
import zipfile
from email import message_from_string
from itertools import chain
from pathlib import Path

import pytest

from tests.documents import ROOT, code_blocks

build = pytest.importorskip("build")
for needed in ("hatchling", "hatch_fancy_pypi_readme"):
    pytest.importorskip(needed)

# Loads the script of the package as its launcher does.
SCRIPT = """
import sys
from importlib.metadata import distribution
(script,) = distribution("polars-scorio").entry_points
sys.argv[0] = script.name
sys.exit(script.load()())
"""


def run(*arguments: str | Path, folder: Path, **environment: str) -> str:
    """What Python prints in a folder, where it finds the packages of another first."""
    done = subprocess.run(  # noqa: S603
        [sys.executable, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        env={**os.environ, "PYTEST_ADDOPTS": "", "PYTHONDONTWRITEBYTECODE": "1", **environment},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The folder of the sdist, and of the wheel that is made of it."""
    folder = tmp_path_factory.mktemp("dist")
    run("-m", "build", "--no-isolation", "--outdir", folder, ROOT, folder=folder)
    return folder


@pytest.fixture(scope="module")
def source(made):
    """The sdist, unpacked."""
    (path,) = made.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        archive.extractall(made, filter="data")
    return made / path.name.removesuffix(".tar.gz")


@pytest.fixture(scope="module")
def installed(made):
    """The wheel, unpacked."""
    (path,) = made.glob("*.whl")
    with zipfile.ZipFile(path) as archive:
        archive.extractall(made / "installed")  # noqa: S202 - our own
    return made / "installed"


@pytest.fixture(scope="module")
def metadata(installed):
    (path,) = installed.glob("*.dist-info/METADATA")
    return message_from_string(path.read_text(encoding="utf-8"))


def files(folder: Path, *parts: str) -> set[str]:
    """The files in parts of a folder, but what Python compiled and what the site leaves."""
    paths = chain.from_iterable((folder / part).rglob("*") for part in parts)
    named = {path.relative_to(folder).as_posix() for path in paths if path.is_file()}
    left = ("__pycache__", "examples/guide/reference/")
    return {name for name in named if not any(part in name for part in left)}


@pytest.mark.slow
def test_the_wheel_holds_the_package_and_nothing_else(installed, metadata):
    described = f"polars_scorio-{metadata['Version']}.dist-info"
    assert {path.name for path in installed.iterdir()} == {"polars_scorio", described}
    assert files(installed, "polars_scorio") == files(ROOT, "polars_scorio")
    assert (installed / "polars_scorio" / "py.typed").exists()


@pytest.mark.slow
def test_the_sdist_holds_all_that_its_tests_need(source):
    parts = ("polars_scorio", "tests", "examples", ".ci")
    assert files(source, *parts) == files(ROOT, *parts)
    assert os.access(source / ".ci" / "run", os.X_OK)


@pytest.mark.slow
def test_the_tests_of_the_sdist_pass(source):
    # All are collected, and those run that read files beside the package; pytest takes longer to
    # rewrite all assertions than to import all tests.
    quick = "continuous_integration or up_to_date or small or test_stub"
    plain = ("-p", "no:cacheprovider", "--assert=plain")
    arguments = ("-m", "pytest", "-q", *plain, "-k", quick)
    assert " passed" in run(*arguments, folder=source, PYTHONPATH=str(source))


@pytest.mark.slow
def test_the_script_of_the_wheel_runs(installed, metadata, tmp_path):
    log = tmp_path / "log.csv"
    log.write_text("model,question,trial,category\nada,1,0,1\nada,1,1,0\n", encoding="utf-8")
    paths = {"folder": tmp_path, "PYTHONPATH": str(installed)}
    assert run("-c", SCRIPT, "--version", **paths).strip() == metadata["Version"]
    assert "\n  ada  " in run("-c", SCRIPT, "describe", log, PYTHONIOENCODING="utf-8", **paths)
    tried = run("-c", SCRIPT, "demo", "tried", PYTHONIOENCODING="utf-8", **paths)
    assert "comet-70b is ahead; ember-large may be as good." in tried
    assert {path.name for path in (tmp_path / "tried").iterdir()} == {
        "rollouts.parquet",
        "report.html",
    }


@pytest.mark.slow
def test_an_index_can_show_it(made):
    pytest.importorskip("twine")
    assert run(
        "-m", "twine", "check", "--strict", *made.glob("*.tar.gz"), *made.glob("*.whl"), folder=made
    )


@pytest.mark.slow
def test_the_long_description_is_the_readme_without_links_into_the_checkout(metadata, tmp_path):
    description = metadata.get_payload()
    targets = re.findall(r"\]\(([^)\s]*)\)|(?:src|href|srcset)=\"([^\"]*)\"", description)
    assert {next(filter(None, each)).partition(":")[0] for each in targets} <= {"https"}
    (tmp_path / "README.md").write_text(description, encoding="utf-8")
    assert code_blocks(tmp_path / "README.md") == code_blocks(ROOT / "README.md")


def test_version_and_date_are_the_same_everywhere(metadata):
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    version, date = re.findall(r"^## (\S+) - (\d{4}-\d\d-\d\d)$", changelog, flags=re.MULTILINE)[0]
    assert metadata["Version"] == version
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f'\nversion: {version}\ndate-released: "{date}"\n' in citation
