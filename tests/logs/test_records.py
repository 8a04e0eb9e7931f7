"""Trials whose columns are found by paths into records of any kind."""

import gzip
import json
import re
import subprocess
import sys
from pathlib import Path
from random import Random

import polars as pl
import pyarrow as pa
import pytest

import polars_scorio as ps
from polars_scorio.command_line.main import main
from polars_scorio.logs.json_files import NESTS
from polars_scorio.logs.runs import trials_of_means
from tests.documents import ROOT

GUIDE = (ROOT / "examples" / "guide" / "records.md").read_text(encoding="utf-8")
CALLS = dict(
    re.findall(
        r"^\| ([\w\- ]+?)(?: \(.*\))? \| `(ps\.logs\.records\(.*\))` \|$", GUIDE, re.MULTILINE
    )
)
# The package has the function under this name.
MODULE = sys.modules["polars_scorio.logs.records"]
KEYS = {"model": "m", "question": "q", "category": "ok"}


def lines(*records):
    return "".join(f"{json.dumps(record)}\n" for record in records)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """The folder in which calls of the guide find their files."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def put(name, text):
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def table(*arguments, **named):
    return ps.logs.records(*arguments, **named).frame.collect()


def row(*values):
    return dict(zip(("m", "q", "t", "ok"), values, strict=False))


# Small files as each tool writes them, and the rows that its line in the guide makes of them.
SAMPLES = {
    "DeepEval": (
        {"test_run_1.json": json.dumps({
            "hyperparameters": {"model": "ada"},
            "testCases": [
                {"input": "1 + 1", "metricsData": [
                    {"name": "Length", "score": 0.2}, {"name": "Exact Match", "score": 1.0}]},
                {"input": "1 + 2", "metricsData": [{"name": "Length", "score": 0.3}]},
            ],
        })},
        [("ada", "1 + 1", 1.0), ("ada", "1 + 2", None)],
    ),
    "evalscope": (
        {"reviews/ada/gsm8k_main.jsonl": lines(*(
            {"sample_score": {
                "group_id": 7, "generation_index": i, "score": {"value": {"accuracy": i}}}}
            for i in (0, 1)))},
        [("ada", "gsm8k_main", 7, 0, 0), ("ada", "gsm8k_main", 7, 1, 1)],
    ),
    "garak": (
        {"a.report.jsonl": lines(
            {"entry_type": "start_run setup", "plugins.target_name": "ada"},
            {"entry_type": "attempt", "status": 1, "uuid": "u", "detector_results": {}},
            {"entry_type": "attempt", "status": 2, "uuid": "u",
             "detector_results": {"a.Leak": [1.0, 0.0], "b.Refusal": [0.0, 0.5]}},
        )},
        [("ada", "a.Leak", "u", 0, 1.0), ("ada", "a.Leak", "u", 1, 0.0),
         ("ada", "b.Refusal", "u", 0, 0.0), ("ada", "b.Refusal", "u", 1, 0.5)],
    ),
    "lmms-eval": (
        {"org__ada/20260218_234435_samples_qa.jsonl": lines({"doc_id": 3, "exact_match": 1.0}),
         "org__ada/20260218_234435_results.json": "{}"},
        [("org__ada", 3, 1.0)],
    ),
    "MathArena": (
        {"ada/7.json.zst": pa.compress(json.dumps({
            "idx": 7, "correct": [True, False], "detailed_costs": [{"cost": 0.5}, {"cost": 0.25}],
        }).encode(), codec="zstd", asbytes=True)},
        [("ada", 7, 0, True, 0.5), ("ada", 7, 1, False, 0.25)],
    ),
    "METR": (
        {"runs.jsonl": lines(
            {"alias": "ada", "task_id": "a/1", "run_id": 5, "score_binarized": 1,
             "task_family": "a"})},
        [("ada", "a/1", 5, 1, "a")],
    ),
    "NeMo Gym": (
        {"rollouts.jsonl": lines(
            {"response": {"model": "ada"}, "_ng_task_index": 0, "_ng_rollout_index": 1,
             "reward": -1.0})},
        [("ada", 0, 1, -1.0)],
    ),
    "NeMo-Skills": (
        {f"output-rs{seed}.jsonl": lines({"symbolic_correct": True}, {"symbolic_correct": seed > 0})
         for seed in (0, 1)},
        [("my-model", 0, "0", True), ("my-model", 1, "0", False),
         ("my-model", 0, "1", True), ("my-model", 1, "1", True)],
    ),
    "OpenAI evals": (
        {"a.jsonl": lines(
            {"spec": {"completion_fns": ["ada"]}},
            {"type": "sampling", "sample_id": "s.0", "data": {}},
            {"type": "match", "sample_id": "s.0", "data": {"correct": False}},
            {"final_report": {"accuracy": 0.0}},
        )},
        [("ada", "s.0", False)],
    ),
    "pydantic-evals": (
        {"ada.json": json.dumps({
            "experiment_metadata": {"model": "ada"},
            "cases": [{"source_case_name": "c", "name": "c [1/2]",
                       "assertions": {"correct": {"value": True}}}],
        })},
        [("ada", "c", "c [1/2]", True)],
    ),
    "skill-creator": (
        {"benchmark.json": json.dumps({"metadata": {"evals_run": [1, 2]}, "runs": [
            {"configuration": "with_skill", "eval_id": 1, "run_number": 1,
             "result": {"pass_rate": 1}},
            {"configuration": "without_skill", "eval_id": 1, "run_number": 1,
             "result": {"pass_rate": 0.25}},
        ]})},
        [("with_skill", 1, 1, 1.0), ("without_skill", 1, 1, 0.25)],
    ),
}  # fmt: skip


def test_the_guide_has_a_line_for_eleven_tools():
    assert {*CALLS} == {*SAMPLES}
    assert len(CALLS) == 11


@pytest.mark.parametrize("tool", SAMPLES)
def test_the_line_of_a_tool_reads_its_files(tool):
    files, rows = SAMPLES[tool]
    for name, text in files.items():
        put(name, text)
    log = eval(CALLS[tool], {"ps": ps})  # noqa: S307 - the guide's own words
    assert log.frame.collect().drop("run", "source").rows() == rows


@pytest.mark.parametrize(
    ("path", "values"),
    [
        ("a.b", [3]),
        ("a.b.c", [4]),  # the key "a.b" comes first
        ("list[*]", [1, 2]),
        ("list[*]@index", [0, 1]),
        ("list[1]", [2]),
        ("list[-2]", [1]),
        ("list[2]", [None]),
        ("list[-3]", [None]),
        ("object{*}.x", [5, 6]),
        ("object{*}@key", ["k", "l"]),
        ("object{*}@index", ["k", "l"]),
        ("deep[*].inner[*]", [7, 8, 9]),
        ("deep[*].inner[*]@index", [0, 1, 0]),
        ("named[name=y].v", [2]),
        ("named[name=z].v", [None]),
        ("named[flag=true].v", [1]),
        ('"f1 (macro)".v[*]', [10, 11]),
        ('deep[0]."in[ner"', [12]),
        ("[0]", [None]),
        ("@line", [0]),
        ("'a.b'", ["a.b"]),
        ("text", ["x"]),
        (r"/(\w+)\.json$", ["log"]),
        ("^a.b", [3]),
        ("side.json:run.model", ["ada"]),
    ],
)
def test_paths_lead_to_values(path, values):
    record = {
        "a.b": {"c": 4}, "a": {"b": {"c": 0}}, "list": [1, 2], "text": "x",
        "object": {"k": {"x": 5}, "l": {"x": 6}},
        "f1 (macro)": {"v": [10, 11]},
        "deep": [{"inner": [7, 8], "in[ner": 12}, {"inner": [9]}, {"inner": None}],
        "named": [{"name": "x", "flag": True, "v": 1}, {"name": "y", "v": 2}],
    }  # fmt: skip
    if path in {"a.b", "^a.b"}:
        record = {"a": {"b": 3}}
    put("runs/1/log.json", json.dumps([record]))
    put("runs/side.json", json.dumps({"run": {"model": "ada"}}))
    found = (
        table("runs/1", question="@line", category="'right'", keep={"found": path}, success="right")
        if values != [None]
        else None
    )
    if found is None:
        with pytest.raises(ValueError, match=r"found='.*' has no value in .*log\.json"):
            table("runs/1", question="@line", category="'right'", keep={"found": path})
    else:
        assert found["found"].to_list() == values


@pytest.mark.parametrize("path", ["", "@key", "a@index", "a{*}.b@key", "a@line", "."])
def test_a_text_that_is_no_path_is_refused(path):
    put("a.jsonl", lines(row("m", 1, 0, True)))
    with pytest.raises(ValueError, match=rf"^question='{re.escape(path)}' is no path: write a\.b"):
        table("a.jsonl", question=path, category="ok")
    with pytest.raises(TypeError, match="question must be a path, a str, got 3"):
        table("a.jsonl", question=3, category="ok")


def test_a_key_with_parentheses_needs_quotes():
    put("a.jsonl", lines({"id": 1, "f1 (macro)": 1}))
    with pytest.raises(ValueError, match=r'A key that has parentheses is quoted: "f1 \(macro\)"$'):
        table("a.jsonl", question="id", category="f1 (macro)")
    assert table("a.jsonl", question="id", category='"f1 (macro)"')["category"].to_list() == [1]


def test_columns_need_a_record_and_names_of_their_own():
    put("a.jsonl", lines(row("m", 1, 0, True)))
    with pytest.raises(ValueError, match="lead into no record: both are constants"):
        table("a.jsonl", question="'1'", category="'right'")
    with pytest.raises(
        ValueError, match=r"keep= names a column that already exists: \['question'\]"
    ):
        table("a.jsonl", **KEYS, keep={"question": "t"})


def test_parallel_lists_are_zipped():
    put("a.json", json.dumps({"q": 1, "ok": [True, False], "cost": [{"usd": 1}, {"usd": 2}]}))
    named = {"question": "q", "category": "ok[*]"}
    found = table("a.json", **named, cost="cost[*].usd", trial="cost[*]@index")
    assert found.drop("run", "source").rows() == [(1, 0, True, 1), (1, 1, False, 2)]
    put("b.json", json.dumps({"q": 2, "ok": [True], "cost": None}))  # an absent list is no error
    both = table(["a.json", "b.json"], **named, cost="cost[*].usd")
    assert both["cost[*].usd"].to_list() == [1, 2, None]
    put("c.json", json.dumps({"q": 1, "ok": [True, False], "cost": [{"usd": 1}]}))
    unequal = r"c\.json: expected records.*2 values at 'ok\[\*\]' and 1 at 'cost\[\*\]\.usd' in"
    with pytest.raises(ValueError, match=unequal):
        table("c.json", **named, cost="cost[*].usd")


@pytest.mark.parametrize(
    "named",
    [
        {"model": "models[*]", "question": "questions[*]", "category": "scores[*][*]"},
        {"model": "m", "question": "questions[*]", "category": "runs[*].ok[*]"},
        {"model": "m{*}@key", "question": "q", "category": "runs[*].ok[*]"},
    ],
)
def test_cross_products_are_refused(named):
    put(
        "a.json",
        json.dumps({"models": ["a", "b"], "questions": [1, 2], "scores": [[1, 0], [0, 1]]}),
    )
    with pytest.raises(ValueError, match="give rows over different lists, whose cross product"):
        table("a.json", **named)


def test_conditions_select_records():
    put("a.jsonl", lines(*({**row("m", 1, i, i), "kind": kind} for i, kind in enumerate("abca"))))
    assert table("a.jsonl", **KEYS, trial="t", where={"kind": "a"})["trial"].to_list() == [0, 3]
    both = {"kind": ["a", "b"], "t": [0, 1, 2]}
    assert table("a.jsonl", **KEYS, trial="t", where=both)["trial"].to_list() == [0, 1]
    with pytest.raises(ValueError, match=r"no record of .*a\.jsonl has the values of where="):
        table("a.jsonl", **KEYS, where={"kind": "x"})
    with pytest.raises(ValueError, match=r"where= selects records, and 'x\[\*\]' gives rows"):
        table("a.jsonl", **KEYS, where={"x[*]": 1})


def test_the_roles_are_those_of_the_accessor():
    put("a.jsonl", lines(*({**row("m", q, t, t < q), "usd": 0.5} for q in (0, 1) for t in (0, 1))))
    log = ps.logs.records("a.jsonl", **KEYS, trial="t", cost="usd", cluster="q", n=2)
    assert log.report(ps.mean_cost()).collect()["estimate"].item() == 0.5
    assert log.avg().collect()["estimate"].item() == 0.25
    with pytest.raises(ValueError, match="have a number of trials other than n=3"):
        ps.logs.records("a.jsonl", **KEYS, trial="t", n=3).avg().collect()
    put("b.jsonl", lines(row("m", 1, 0, "right"), row("m", 1, 1, "wrong")))
    assert (
        ps.logs.records("b.jsonl", **KEYS, success="right").avg().collect()["estimate"].item()
        == 0.5
    )
    with pytest.raises(ValueError, match="success="):
        ps.logs.records("b.jsonl", **KEYS).avg().collect()


def test_strata_have_names():
    put("runs/gsm8k.jsonl", lines({**row("m", 1, 0, 1), "split": "test"}))
    for by, names in (
        ("split", ["split"]),
        (r"(\w+)\.jsonl$", ["benchmark"]),
        (["split", "q"], ["split", "q"]),
        ({"task": r"(\w+)\.jsonl$", "part": "split"}, ["task", "part"]),
    ):
        found = table("runs/*.jsonl", **KEYS, by=by)
        assert found.columns == ["model", *names, "question", "category", "run", "source"]


def test_several_paths_identify_a_question():
    put("a.jsonl", lines(*(
        {"m": "ada", "suite": suite, "case": {"id": case}, "ok": ok}
        for suite, case, ok in [("x", 1, 1), ("x", 2, 0), ("y", 1, 1), ("y", 2, 1)]
    )))  # fmt: skip
    named = {"model": "m", "question": ["suite", "case.id"], "category": "ok"}
    log = ps.logs.records("a.jsonl", **named)
    columns = "suite", "case.id", "question"
    assert log.frame.collect().select(columns).rows() == [
        ("x", 1, "x/1"), ("x", 2, "x/2"), ("y", 1, "y/1"), ("y", 2, "y/2"),
    ]  # fmt: skip
    assert log.avg().collect()["questions"].to_list() == [4]
    strata = ps.logs.records("a.jsonl", **named, by="suite").avg().collect()
    assert strata.select("suite", "questions").rows() == [("x", 2), ("y", 2)]
    with pytest.raises(ValueError, match=r"^suit='suit' has no value in .* did you mean 'suite'"):
        ps.logs.records("a.jsonl", **{**named, "question": ["suit", "case.id"]})
    with pytest.raises(ValueError, match=r"^question must be .* or several of them, got none"):
        ps.logs.records("a.jsonl", **{**named, "question": []})


def test_small_files_are_one_table():
    values = [1, 0.5, True]
    for number, value in enumerate(values):
        put(f"{number}.json", json.dumps({"m": f"m{number}", "q": number, "ok": value, "n": value}))
    log = ps.logs.records("*.json", **KEYS, keep="n", run=r"/(\d)\.json", levels=[0, 0.5, 1])
    assert log.frame.explain().count("DF [") == 1
    assert log.frame.select("model", "question", "category", "n", "run").collect().rows() == [
        (f"m{number}", number, value, value, str(number)) for number, value in enumerate(values)
    ]


def test_runs_are_files_unless_a_path_names_them():
    put("a.jsonl", lines({**row("m", 1, 0, 1), "seed": 8}))
    assert table("a.jsonl", **KEYS)["run"].to_list() == ["a"]
    assert table("a.jsonl", **KEYS, run="seed")["run"].to_list() == ["8"]
    assert table("a.jsonl", **KEYS, run=r"/(\w)\.jsonl")["run"].to_list() == ["a"]
    assert table("a.jsonl", question="q", category="ok").columns == [
        "question",
        "category",
        "run",
        "source",
    ]


@pytest.mark.parametrize(
    "ending", ["csv", "tsv", "parquet", "csv.gz", "jsonl.gz", "jsonl.zst", "json"]
)
def test_every_format_gives_the_same_rows(ending):
    rows = [row("m", 1, 0, 1), row("m", 1, 1, 0), row("m", 2, 0, None)]
    frame = pl.DataFrame(rows)
    if ending == "parquet":
        frame.write_parquet("a.parquet")
    elif ending.startswith(("csv", "tsv")):
        text = frame.write_csv(separator="\t" if ending == "tsv" else ",").encode()
        put(f"a.{ending}", gzip.compress(text) if ending.endswith("gz") else text)
    else:
        text = (json.dumps(rows) if ending == "json" else lines(*rows)).encode()
        packed = {"gz": gzip.compress, "zst": lambda data: pa.compress(data, "zstd", asbytes=True)}
        put(f"a.{ending}", packed.get(ending.rpartition(".")[2], bytes)(text))
    assert table(f"a.{ending}", **KEYS, trial="t").drop("run", "source").rows() == [
        ("m", 1, 0, 1), ("m", 1, 1, 0), ("m", 2, 0, None)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([1, 0], pl.Int64),
        ([True, 0], pl.Int64),
        ([1, 0.5, True, None], pl.Float64),
        ([True, False], pl.Boolean),
        (["a", None], pl.String),
        ([float("nan"), 1.0], pl.Float64),
    ],
)
def test_columns_have_the_narrowest_dtype(values, dtype):
    put("a.jsonl", lines(*(row("m", 1, i, value) for i, value in enumerate(values))))
    assert table("a.jsonl", **KEYS)["category"].dtype == dtype


def test_mixed_values_are_refused_with_their_place():
    put("a.jsonl", lines(row("m", 1, 0, 1), row("m", "x", 0, 1)))
    with pytest.raises(
        ValueError, match=r"a\.jsonl: .*the question 1 in record 0, where other .* text"
    ):
        table("a.jsonl", **KEYS)
    put("b.jsonl", lines(row("m", 1, 0, 1)))
    put("c.jsonl", lines(row("m", "x", 0, 1)))
    with pytest.raises(
        ValueError, match=r"question is a text in .*c\.jsonl and none in .*b\.jsonl"
    ):
        table(["b.jsonl", "c.jsonl"], **KEYS)
    put("d.jsonl", lines(row("m", 1, 0, {"acc": 1})))
    with pytest.raises(
        ValueError, match=r"keys \['acc'\] as category in record 0: name a part of it"
    ):
        table("d.jsonl", **KEYS)
    put("e.jsonl", lines(row("m", 10**30, 0, 1)))
    with pytest.raises(ValueError, match=r"e\.jsonl: .*a question that fits no column of Int64"):
        table("e.jsonl", **KEYS)


def test_ids_of_other_kinds_become_text():
    put("a.jsonl", lines(row("m", {"b": 1, "a": [2]}, 0, 1)))
    assert table("a.jsonl", **KEYS)["question"].to_list() == ['{"a": [2], "b": 1}']


def test_a_path_without_any_value_lists_the_paths_there_are():
    put("a.jsonl", lines({"config": {"model": "m"}, "q": 1, "runs": [{"ok": 1}]}))
    known = r"\['config\.model', 'q', 'runs\[\*\]\.ok'\]"
    for name, path in (("model", "config.modle"), ("question", "id"), ("category", "runs[*].okay")):
        named = {**KEYS, "model": "config.model", "category": "runs[*].ok", name: path}
        with pytest.raises(ValueError, match=rf"{name}='{re.escape(path)}' has no value.*{known}"):
            table("a.jsonl", **named)
    with pytest.raises(ValueError, match=r"did you mean 'config\.model'\? The paths"):
        table("a.jsonl", **{**KEYS, "model": "config.modle", "category": "runs[*].ok"})
    with pytest.raises(
        FileNotFoundError, match=r"a\.jsonl: model='run\.json:m' needs a file run\.json"
    ):
        table("a.jsonl", **{**KEYS, "model": "run.json:m", "category": "runs[*].ok"})
    with pytest.raises(ValueError, match=r"the pattern question='\(x\)y' is not found in the path"):
        table("a.jsonl", **{**KEYS, "question": "(x)y", "category": "runs[*].ok"})


def test_files_of_another_kind_are_left_out_with_a_warning():
    put("runs/a.jsonl", lines(row("m", 1, 0, 1)))
    put("runs/meta.json", json.dumps({"date": "today"}))
    with pytest.warns(
        ps.LogWarning, match=r"\n- .*meta\.json: no question and no outcome, skipped$"
    ):
        assert table("runs", **KEYS).height == 1
    put("runs/b.jsonl", lines({"q": 1, "ok": 0}))
    with pytest.warns(ps.LogWarning, match=r"\n- .*b\.jsonl: no value of model\n- .*meta"):
        assert table("runs", **KEYS)["model"].to_list() == ["m", None]


def test_a_file_that_was_copied_is_refused():
    for name in ("a.jsonl", "b.jsonl"):
        put(name, lines(row("m", 1, 0, 1)))
    with pytest.raises(ValueError, match=r"a\.jsonl and .*b\.jsonl are the same run"):
        table(["a.jsonl", "b.jsonl"], **KEYS)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "is empty"),
        ('{"m": "a", "q": 1, "ok": 1', "no JSON in line 1"),
        ("[1]\n", "expected records of trials, found a list of 1 in line 1"),
        ('{"q": 1, "q": 2, "ok": 1}', "two values of the key 'q'"),
        ("null", "found None in line 1"),
        (b"\xff\xfe{", "no JSON in line 1"),
        ("PAR1", "no JSON in line 1"),
    ],
)
def test_hostile_lines_are_refused_with_their_file(text, error):
    put("a.jsonl", text)
    with pytest.raises(ValueError, match=rf"a\.jsonl.*{re.escape(error)}"):
        table("a.jsonl", **KEYS)


def test_lines_may_have_the_name_of_one_object():
    put("a.json", lines(row("m", 1, 0, 1), row("m", 2, 0, 0)))
    assert table("a.json", **KEYS)["question"].to_list() == [1, 2]
    put("b.json", lines(row("m", 1, 0, 1)) + '{"m": ')
    with pytest.raises(ValueError, match=r"b\.json: .*no JSON in line 2"):
        table("b.json", **KEYS)


@pytest.mark.parametrize(
    "name", ["a.json", "a.parquet", "a.csv.gz", "a.jsonl.zst", "a.json.gz", "a.txt"]
)
def test_hostile_files_are_refused_with_their_name(name):
    put(name, b'\x1f\x8b{"q": [')
    with pytest.raises(ValueError, match=rf"{re.escape(name)}"):
        table(name, **KEYS)


def test_a_large_file_is_read_in_batches(monkeypatch):
    records = [row("m", q, t, (q + t) % 3 == 0) for q in range(50) for t in range(8)]
    put("a.jsonl", lines(*records))
    put("b.jsonl", lines(*(row("n", q, t, 1) for q in range(2) for t in range(9))))
    small = table(["a.jsonl", "b.jsonl"], **KEYS, trial="t")
    monkeypatch.setattr(MODULE, "_BATCH", 40)
    log = ps.logs.records(["a.jsonl", "b.jsonl"], **KEYS, trial="t", missing=0)
    large = log.frame
    assert large.collect().cast({"category": pl.Int64}).equals(small)
    assert large.select("question").head(45).collect().height == 45
    assert large.filter(model="n").select("trial").collect()["trial"].sum() == 72
    by_hand = small.filter(model="m")["category"].mean()
    found = log(validate=False).avg().collect()  # made outcomes repeat
    assert found["estimate"].to_list() == pytest.approx([by_hand, 1])


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from /proc")
def test_memory_does_not_grow_with_the_lines_of_a_file():
    """A table of 150,000 more rows, with two texts of 200 bytes each, would take 65 MB more."""
    code = """import re, sys, polars_scorio as ps
from pathlib import Path
log = ps.logs.records(sys.argv[1], model="m", question="q", trial="t", category="ok")
assert log.avg().collect()["questions"].item() == 500
print(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])"""
    text, coin = "x" * 200, Random(2)  # noqa: S311 - honest trials are read twice
    for trials in (100, 400):
        every = (
            row(f"{text} model", f"{text} {q}", t, coin.getrandbits(1))
            for t in range(trials)
            for q in range(500)
        )
        put(f"{trials}.jsonl", lines(*every))

    def peaks(file):
        """Two peaks, the second if it is asked for: on a busy machine more batches wait."""
        command = [sys.executable, "-c", code, file]
        return (int(subprocess.check_output(command)) for _ in range(2))  # noqa: S603

    small = min(peaks("100.jsonl"))
    assert any(large - small < 45_000 for large in peaks("400.jsonl"))  # kB


def test_values_late_in_a_large_file_fit_or_are_located(monkeypatch):
    monkeypatch.setattr(MODULE, "_BATCH", 5)
    put("a.jsonl", lines(*(row("m", q, 0, 1) for q in range(9)), row("m", 9, 0, 0.5)))
    assert table("a.jsonl", **KEYS)["category"].to_list() == [*[1.0] * 9, 0.5]
    put("b.jsonl", lines(*(row("m", q, 0, 1) for q in range(9)), row("m", "x", 0, 1)))
    kind = pl.exceptions.ComputeError if NESTS else ValueError
    with pytest.raises(
        (kind, ValueError), match=r"b\.jsonl: .*the question 'x' in record 9, where"
    ):
        table("b.jsonl", **KEYS)


def test_the_command_reads_by_paths(capsys):
    put("runs.json", json.dumps([
        {"config": {"name": name}, "id": q, "score": {"acc": acc}, "kind": "match"}
        for name, accs in (("ada", [1, 1, 0]), ("bob", [0, 1, 0])) for q, acc in enumerate(accs)
    ]))  # fmt: skip
    paths = ["--model", "config.name", "--question", "id", "--category", "score.acc"]
    command = ["counts", "runs.json", "--from", "records", *paths, "--format", "csv"]
    assert main(command) == 0
    assert "ada,0,1,1" in capsys.readouterr().out
    assert main([*command, "--option", "where={'kind': 'none'}"]) == 2
    assert "has the values of --option where=" in capsys.readouterr().err
    assert main([*command, "--count", "x"]) == 2
    assert "--from records knows its columns: omit --count" in capsys.readouterr().err


def test_unknown_files_get_a_line_of_paths(capsys):
    trials = [{"alias": "ada", "task_id": 1, "passed": True, "seed": 0}]
    put("odd.jsonl", lines(*trials))
    call = r'records\(paths, model="alias", question="task_id", trial="seed", category="passed"\)'
    with pytest.raises(ValueError, match=call):
        ps.logs.read("odd.jsonl")
    put("odd.json", json.dumps({"model": "ada", "runs": [{"id": 1, "reward": 0.5}]}))
    assert main(["describe", "odd.json"]) == 2
    options = "--from records --model 'model' --question 'runs[*].id' --category 'runs[*].reward'"
    assert options in capsys.readouterr().err


# Trials of which only the mean was kept.


def means(*rows):
    columns = ["question", "asked", "answered", "mean"]
    frame = pl.DataFrame(rows, schema=columns, orient="row")
    return trials_of_means(frame.lazy().with_columns(trial=pl.lit("run")), "acc")


def test_a_mean_becomes_successes_failures_and_missing_trials():
    rows = means(("one", 1, 1, 0.3), ("several", 4, 3, 0.5), ("unscored", 2, 2, None)).collect()
    several = rows.filter(question="several")
    assert several["trial"].to_list() == ["run/0", "run/1", "run/2", "run/3"]
    assert several["category"].to_list() == [1, 1, 0, None]
    assert rows.filter(question="one").select("trial", "category").rows() == [("run", 0.3)]
    assert rows.filter(question="unscored")["category"].to_list() == [None, None]


@pytest.mark.parametrize(("answered", "mean"), [(4, 0.3), (1, 0.5)])
def test_a_mean_that_is_no_share_of_the_trials_is_refused(answered, mean):
    with pytest.raises(ValueError, match=r"'acc' is not the share of right answers.*metric="):
        means(("several", 4, answered, mean)).collect()
