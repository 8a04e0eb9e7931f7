"""Which files are read, and what their models are called."""

import os
import re
from pathlib import Path

import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.logs.paths import find_files, is_remote, model_names, path_model


def touch(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{}", encoding="utf-8")
    return path


def test_files_folders_and_globs_are_found(tmp_path):
    first, second = touch(tmp_path / "a/x/run.json"), touch(tmp_path / "b/run.json")
    other = touch(tmp_path / "b/notes.txt")
    assert find_files(tmp_path, "*.json") == {first: False, second: False}
    assert find_files(str(tmp_path / "*" / "run.json"), "*.json") == {second: True}
    assert find_files(tmp_path / "**" / "run.json", "*.json") == {first: True, second: True}
    assert find_files([other, tmp_path / "a"], "*.json") == {first: False, other: True}


def test_a_file_that_is_reached_in_several_ways_is_read_once(tmp_path, monkeypatch):
    file = touch(tmp_path / "a/run.json")
    (tmp_path / "link.json").symlink_to(file)
    (tmp_path / "b").mkdir()
    monkeypatch.chdir(tmp_path)
    assert find_files(
        ["a/run.json", file, tmp_path / "b/../a/run.json", "link.json"], "*.json"
    ) == {file: True}
    assert len(find_files([tmp_path, file], "*.json")) == 1


def test_links_in_circles_are_followed_once(tmp_path):
    file = touch(tmp_path / "a/b/run.json")
    (tmp_path / "a/up").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "a/here").symlink_to(tmp_path / "a", target_is_directory=True)
    for pattern in ("**/run.json", "**", "**/b/**", "a/**/*.json"):
        assert [*find_files(tmp_path / pattern, "run.json")] == [file]


@pytest.mark.parametrize("name", ["self", "s*", "**/self"])
def test_a_link_to_nothing_or_to_itself_is_refused(tmp_path, name):
    for target in ("self", "nowhere"):
        (tmp_path / "self").unlink(missing_ok=True)
        (tmp_path / "self").symlink_to(target)
        with pytest.raises(FileNotFoundError, match="/self is a symbolic link that leads nowhere"):
            find_files(tmp_path / name, "*.json")


@pytest.mark.parametrize("target", ["self.json", "nowhere"])
def test_a_link_to_nothing_or_to_itself_is_refused_in_a_folder(tmp_path, target):
    touch(tmp_path / "run.json")
    (tmp_path / "self.json").symlink_to(target)
    with pytest.raises(FileNotFoundError, match=r"/self\.json is a symbolic link that leads now"):
        find_files(tmp_path, "*.json")


@pytest.mark.parametrize("name", ["", "pipe.json", "pipe*", "link"])
def test_a_pipe_is_refused_and_not_waited_for(tmp_path, name):
    touch(tmp_path / "run.json")
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / "link").symlink_to("pipe.json")
    with pytest.raises(ValueError, match=r"/(pipe\.json|link) is a folder, a pipe or a device: "):
        ps.logs.read(tmp_path / name)


def test_a_folder_with_the_name_of_a_log_is_said(tmp_path):
    file = touch(tmp_path / "run.json")
    (tmp_path / "a.json").mkdir()
    with pytest.warns(ps.LogWarning, match=r"1 file is skipped, .*\n- .*/a\.json: a folder$"):
        assert find_files(tmp_path, "*.json") == {file: False}


def test_a_file_beside_its_compressed_copy_is_refused(tmp_path):
    touch(tmp_path / "run.json"), touch(tmp_path / "run.json.gz")
    with pytest.raises(ValueError, match=r"run\.json and .*run\.json\.gz are one file, once com"):
        find_files(tmp_path, "*.json")


def test_links_keep_the_name_by_which_they_are_known(tmp_path):
    blob = touch(tmp_path / "blobs/5f0e")
    link = tmp_path / "runs" / "ada.json"
    link.parent.mkdir()
    link.symlink_to(blob)
    assert [*find_files(tmp_path / "runs", "*.json")] == [link]


def test_what_is_not_there_is_said(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no file or folder .*/nowhere$"):
        find_files(tmp_path / "nowhere", "*.json")
    with pytest.raises(FileNotFoundError, match=r"there is no file that matches .*/\*\.txt$"):
        find_files(tmp_path / "*.txt", "*.json")
    with pytest.raises(FileNotFoundError, match=r"no file in .* is called a\.json or b\.json"):
        find_files([tmp_path], "a.json", "b.json")


@pytest.mark.parametrize("url", [
    "s3://bucket/log.json", "hf://datasets/a/b", "memory://a", "zip::s3://bucket/log.zip",
    Path("s3://bucket/log.json"),
])  # fmt: skip
def test_paths_of_other_machines_are_refused(url):
    with pytest.raises(ValueError, match=r"is not on this machine\. .* download it, and pass"):
        find_files([Path(), url], "*.json")


@pytest.mark.parametrize("name", ["a::b.json", "C:/log.json", "12:30/log.json"])
def test_colons_may_stand_in_local_names(name):
    assert not is_remote(name)


@pytest.mark.parametrize("reader", ps.logs.__all__)
def test_every_reader_says_to_download_a_remote_log(reader):
    named = {"question": "id", "category": "ok"} if reader == "records" else {}
    with pytest.raises(ValueError, match=r"^s3://bucket/log is not on this .*: download it, and"):
        getattr(ps.logs, reader)("s3://bucket/log", **named)


def test_a_local_url_is_a_path(tmp_path):
    file = touch(tmp_path / "run.json")
    assert find_files(file.as_uri(), "*.json") == {file: True}


def test_compressed_files_are_found(tmp_path):
    packed, _ = touch(tmp_path / "a/run.json.gz"), touch(tmp_path / "a/run.jsonl.gz")
    assert find_files(tmp_path, "*.json") == {packed: False}


def test_a_name_is_the_last_part_of_a_place_and_as_many_folders_as_it_takes():
    places = ["/r/ada/x/samples", "/r/bob/x/samples", "/r/eve/other", "/q/x/samples"]
    found = model_names({Path(f"{place}.jsonl"): Path(place) for place in places})
    assert [*found.values()] == ["ada/x/samples", "bob/x/samples", "other", "q/x/samples"]


def test_files_with_one_place_are_one_model_unless_each_is_a_run():
    places = {Path("/r/ada/1.json"): Path("/r/ada"), Path("/r/ada/2.json"): Path("/r/ada")}
    assert {*model_names(places).values()} == {"ada"}
    said = r"1\.json and .*2\.json would both be the model 'ada': .*model="
    with pytest.raises(ValueError, match=said):
        model_names(places, alone=True)
    assert [*model_names(places, r"(\d)\.json", alone=True).values()] == ["1", "2"]


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (None, None),
        ("gpt-4.1", "gpt-4.1"),
        (r"runs/([^/]+)/", "ada"),
    ],
)
def test_model_is_a_name_or_a_pattern_with_one_group(model, expected):
    assert path_model(Path("/runs/ada/x.json"), model) == expected


@pytest.mark.parametrize(
    ("model", "fault"),
    [
        ("((((", r"it is no pattern \(missing \)"),
        ("c++ (", r"it is no pattern \("),
        ("gpt-4 (high) (2)", "it has 2 groups"),
        (r"gpt-4 \(high\)", "it has 0 groups"),
        ("(?:ada)", "it has 0 groups"),
    ],
)
def test_parentheses_that_are_no_pattern_with_one_group_are_refused(model, fault):
    message = rf"model={re.escape(repr(model))} has parentheses, .*: {fault}.*\.frame"
    with pytest.raises(ValueError, match=message):
        path_model(Path("/runs/ada/x.json"), model)


@pytest.mark.parametrize("model", ["runs/(bob)", "(bob)|ada"])
def test_a_pattern_that_finds_nothing_is_said_with_the_path(model):
    with pytest.raises(ValueError, match=r"model=.* is not found in the path /runs/ada/x\.json"):
        path_model(Path("/runs/ada/x.json"), model)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([0], r"each a str or a Path, got 0$"),
        (None, r"each a str or a Path, got None$"),
        (pl.LazyFrame({"a": [1]}), r"got a polars LazyFrame\. A table of your own needs no reader"),
        (pl.DataFrame({"a": [1]}), r"got a polars DataFrame\. A table of your own needs no reader"),
    ],
)
@pytest.mark.parametrize("reader", [ps.logs.read, ps.logs.inspect_ai, ps.logs.lm_eval])
def test_what_is_no_path_is_refused(reader, given, said):
    with pytest.raises(TypeError, match=f"^paths must be files, folders or globs, .*{said}"):
        reader(given)


def test_a_path_that_is_too_long_is_cut_in_the_message():
    with pytest.raises(
        FileNotFoundError, match=r"^there is no file or folder 'a{100,199}\.\.\.: the"
    ):
        ps.logs.read("a" * 10_000)
