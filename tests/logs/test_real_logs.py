"""Real files of the tools, against numbers that Python's json makes of them by hand."""

import gzip
import json
import zipfile
from collections import defaultdict
from pathlib import Path
from statistics import mean

import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.command_line.main import main
from polars_scorio.logs.read import fitting_tools
from tests.logs.test_records import CALLS

LOGS = Path(__file__).parents[3] / "shared" / "data" / "logs"
CASES = LOGS.parent / "cases"  # small inputs after public reports, each with the right values
INSPECT = LOGS / "inspect_ai"
pytestmark = pytest.mark.skipif(not LOGS.exists(), reason="the shared data are not here")
LETTERED = {
    "2025-05-12T20-28-13-04-00_popularity.json": "match",
    "2025-05-12T20-28-26-04-00_security-guide.json": "model_graded_fact",
    "log_formats.json": "match",
    "log_formats.eval": "match",
    "mmlu-summary-choices.eval": "choice",
}
HEADERS = ["2025-05-12T20-28-13-04-00_no-samples.eval", "data_with_llm_scoring.eval"]
UNSCORED = "2025-02-11T15-17-00-05-00_popularity_dPiJifoWeEQBrfWsAopzWr.eval"
GRADED = "data_cyse2_vuln_exploit_challenges.eval"


def lines(file):
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line]


def average(outcomes):
    """The mean over questions of the mean over their outcomes."""
    questions = defaultdict(list)
    for question, outcome in outcomes:
        questions[question].append(outcome)
    return mean(mean(found) for found in questions.values())


def estimate(report):
    return report.lazy().collect()["estimate"].item()


def test_every_file_has_its_test():
    known = {*LETTERED, *HEADERS, UNSCORED, GRADED}
    assert {file.name for file in INSPECT.iterdir()} == known
    folders = {folder.name for folder in LOGS.iterdir() if folder.is_dir()}
    # Folders of other studies may stand beside those that this file reads.
    assert folders >= {
        "evalplus_2023", "harbor", "inspect_ai", "lm_eval", "lm_eval_repeats", "verifiers",
        "verifiers_traces",
    }  # fmt: skip


@pytest.mark.filterwarnings("ignore::polars_scorio.LogWarning")  # one of them was cancelled
@pytest.mark.parametrize(("name", "scorer"), LETTERED.items())
def test_inspect_ai_letters(name, scorer):
    file = INSPECT / name
    if file.suffix == ".json":
        log = json.loads(file.read_text(encoding="utf-8"))
        run, samples = log["eval"], log["samples"]
    else:
        with zipfile.ZipFile(file) as archive:
            run = json.loads(archive.read("header.json"))["eval"]
            samples = json.loads(archive.read("summaries.json"))
    read = ps.logs.inspect_ai(file)
    assert read.frame.select("model", "benchmark", "question", "category").rows() == [
        (run["model"], run["task"], str(s["id"]), s["scores"][scorer]["value"]) for s in samples
    ]
    passed = mean(float(s["scores"][scorer]["value"] == "C") for s in samples)
    assert estimate(ps.logs.inspect_ai(file, threshold=1).avg()) == pytest.approx(passed)


@pytest.mark.parametrize("name", HEADERS)
def test_inspect_ai_headers_without_samples(name):
    with pytest.raises(ValueError, match=f"{name}: .*found (only a header|a run without a trial)"):
        ps.logs.inspect_ai(INSPECT / name)


def test_inspect_ai_folders_with_a_cancelled_run():
    with pytest.warns(ps.LogWarning) as caught:
        log = ps.logs.read(LOGS / "inspect_mixed")
    assert [len(str(each.message).splitlines()) for each in caught] == [2, 1]
    assert log.frame.group_by("benchmark").len().sort("benchmark").rows() == [
        ("popularity", 3), ("security_guide", 3)
    ]  # fmt: skip


def test_inspect_ai_without_scores():
    log = ps.logs.inspect_ai(INSPECT / UNSCORED)
    assert log.frame.select("question", "category").sort("question").rows() == [
        (str(i), None) for i in sorted(range(1, 11), key=str)
    ]
    with pytest.raises(ValueError, match="10 questions have a missing category"):
        log.avg()


@pytest.mark.filterwarnings("ignore::polars_scorio.LogWarning")  # one of 2,340 samples
def test_inspect_ai_graded_floats():
    file, value = INSPECT / GRADED, 0.65
    wanted = "1 of 2,340 planned trials; the tool reports 0.3811, these rows 0.65$"
    with pytest.warns(ps.LogWarning, match=wanted):
        assert ps.logs.inspect_ai(file).frame["category"].to_list() == [value]
    levels = ps.logs.inspect_ai(file, levels=[0, value, 1])
    assert estimate(levels.avg()) == pytest.approx(value)
    assert estimate(ps.logs.inspect_ai(file, threshold=0.5).avg()) == 1
    assert estimate(ps.logs.inspect_ai(file).avg()) == pytest.approx(value)


def test_lm_eval():
    folder = LOGS / "lm_eval"
    with pytest.raises(ValueError, match=r"several metrics: \{'toy_mc': \['acc', 'acc_norm'\]\}"):
        ps.logs.lm_eval(folder)
    report = ps.logs.lm_eval(folder, metric={"toy_mc": "acc_norm"}).avg().collect()
    (side,) = folder.rglob("results_*.json")
    run = json.loads(side.read_text(encoding="utf-8"))
    results = run["results"]
    assert report.select("model", "benchmark", "filter", "trials").rows() == [
        (run["model_name"], "toy_gen", "first", 6),
        (run["model_name"], "toy_gen", "maj", 6),
        (run["model_name"], "toy_mc", "none", 6),
    ]
    assert report["estimate"].to_list() == pytest.approx([
        results["toy_gen"]["exact_match,first"],
        results["toy_gen"]["exact_match,maj"],
        results["toy_mc"]["acc_norm,none"],
    ])  # fmt: skip


def test_lm_eval_repeats():
    (file,) = (LOGS / "lm_eval_repeats").rglob("samples_*.jsonl")
    report = ps.logs.lm_eval(LOGS / "lm_eval_repeats").report(ps.avg(), ps.pass_at_k(4)).collect()
    documents = [(line["pass@1"], len(line["filtered_resps"][0])) for line in lines(file)]
    assert report["trials"].to_list() == [sum(n for _, n in documents)] * 2
    assert report["estimate"].to_list() == pytest.approx([
        mean(p for p, _ in documents),
        mean(float(p > 0) for p, _ in documents),  # of all four answers, some is right
    ])  # fmt: skip


def test_evalplus_of_2023():
    file = LOGS / "evalplus_2023" / "bura_eval_results.json"
    tasks = json.loads(file.read_text(encoding="utf-8"))["eval"]
    report = ps.logs.evalplus(file).avg()
    assert report.select("model", "questions", "trials", "estimate").rows() == [
        ("bura", len(tasks), sum(task["nfiles"] for task in tasks.values()), 0.0)
    ]
    assert {status for task in tasks.values() for status, _ in task["plus"]} == {"timed out"}


@pytest.mark.filterwarnings("ignore:1 trial has no outcome:polars_scorio.LogWarning")
def test_harbor():
    trials = [
        json.loads(f.read_text(encoding="utf-8")) for f in LOGS.rglob("harbor/**/result.json")
    ]
    log = ps.logs.harbor(LOGS / "harbor", missing=0, threshold=1)
    report = log.avg()
    models = defaultdict(list)
    for trial in trials:
        agent, llm = trial["agent_info"]["name"], trial["agent_info"]["model_info"]
        rewards = (trial["verifier_result"] or {}).get("rewards") or {}
        name = f"{agent} / {llm['name'] if llm else 'job2'}"
        models[name].append((trial["task_name"], float(rewards.get("reward", 0) >= 1)))
    expected = {name: average(found) for name, found in models.items()}
    assert dict(report.select("model", "estimate").rows()) == pytest.approx(expected)
    assert len(expected) == 2


def test_verifiers():
    (file,) = (LOGS / "verifiers").rglob("results.jsonl")
    passed = [(line["example_id"], float(line["reward"] >= 0.5)) for line in lines(file)]
    report = ps.logs.verifiers(LOGS / "verifiers", threshold=0.5).avg().collect()
    assert report.select("model", "benchmark", "trials").row(0) == (
        "mock/model",
        "toy",
        len(passed),
    )
    assert estimate(report) == pytest.approx(average(passed))


def test_verifiers_traces():
    (file,) = (LOGS / "verifiers_traces").rglob("traces.jsonl")
    outcomes = []
    for episode in lines(file):
        (trace,) = episode["traces"]
        rewards = trace["rewards"].values()
        if episode["ok"] and None not in rewards:
            total = sum(reward["score"] * reward["weight"] for reward in rewards)
            outcomes.append((str(episode["task"]["data"]["idx"]), total))
    with pytest.warns(ps.LogWarning, match="neither 0 nor 1"):
        log = ps.logs.verifiers(file).frame.collect()
    assert log.drop_nulls("category").height == len(outcomes) == log.height - 2
    expected = [pytest.approx(total) for _, total in outcomes]
    assert log.drop_nulls("category")["category"].to_list() == expected
    # Question 5 has one episode, which was not scored: no outcome at all.
    with pytest.raises(ValueError, match="question='5'"):
        ps.logs.verifiers(file, threshold=0.5, missing="drop").avg().collect()
    report = ps.logs.verifiers(file, threshold=0.5, missing="drop", unscored="drop").avg().collect()
    assert report.select("dropped", "unscored").row(0) == (2, 1)
    passed = [(question, float(total >= 0.5)) for question, total in outcomes]
    assert estimate(report) == pytest.approx(average(passed))


def test_helm_gives_the_numbers_of_its_stats():
    runs = [json.loads(f.read_text(encoding="utf-8")) for f in LOGS.rglob("helm/*/run_spec.json")]
    told = {}
    for file in LOGS.rglob("helm/*/stats.json"):
        names = [
            (s["name"]["name"], s["name"].get("split"), s.get("mean"))
            for s in json.loads(file.read_text(encoding="utf-8"))
        ]
        by_split = {split: value for name, split, value in names if name == "exact_match"}
        told[file.parent.name.split("-")[0]] = by_split.get("test", by_split["valid"])
    report = ps.logs.helm(LOGS / "helm").avg()
    found = {
        name.split(":")[0]: value for name, value in report.select("benchmark", "estimate").rows()
    }
    assert found == pytest.approx(told)
    assert len(told) == len(runs) == 3


def test_aisbench_with_runs_under_other_questions():
    file = LOGS / "aisbench" / "results" / "m" / "toy.json"
    with pytest.warns(ps.LogWarning, match="4 of 4 questions hold runs of other questions"):
        log = ps.logs.opencompass(file)
    # The truth of the run: two questions always right, two never.
    assert log.report(ps.pass_at_k(3), ps.pass_hat_k(3))["estimate"].to_list() == [0.5, 0.5]


@pytest.mark.filterwarnings("ignore:some rewards of verifiers:polars_scorio.LogWarning")
def test_verifiers_with_graded_rewards_of_all_versions():
    runs = [*LOGS.rglob("verifiers_graded/**/results.jsonl")]
    assert len(runs) == 7
    for file in runs:
        rewards = [line["reward"] for line in lines(file)]
        log = ps.logs.verifiers(file).frame.collect()
        assert log["category"].to_list() == pytest.approx(rewards)


def test_livecodebench_by_difficulty():
    (file,) = LOGS.rglob("livecodebench/*.gz")
    with gzip.open(file) as source:
        problems = json.load(source)
    passed = defaultdict(list)
    for problem in problems:
        passed[problem["difficulty"]].append(problem["pass@1"])
    report = ps.logs.livecodebench(file, by="difficulty").avg()
    expected = {difficulty: mean(found) for difficulty, found in passed.items()}
    assert dict(report.select("difficulty", "estimate").rows()) == pytest.approx(expected)
    assert report["questions"].sum() == len(problems) == 880


def test_a_cancelled_run_of_inspect_ai_is_no_whole_run():
    file = LOGS / "inspect_mixed" / "2025-05-12T20-28-13-04-00_popularity.json"
    wanted = "popularity.json: 3 of 100 planned trials; the status of the run is 'cancelled'$"
    with pytest.warns(ps.LogWarning, match=wanted):
        log = ps.logs.inspect_ai(file)
    found = log.describe().select("trials", "planned", "reported").row(0)
    assert found == (3, 100, pytest.approx(2 / 3))
    # The same log in another folder, and the same log twice.
    with pytest.raises(ValueError, match="are the same run, 'VnKtvCqGnnegLQ7qSBFDzx': they have t"):
        ps.logs.inspect_ai([file, INSPECT / file.name])


def test_a_part_of_a_run_of_lm_eval_is_no_whole_run():
    wanted = (
        r"filter 'strict-match': 3 of 100 planned trials; the tool reports 0\.75, these rows "
        r"0\.3333\n- .*filter 'flexible-extract': 0 of 100 planned trials$"
    )
    with pytest.warns(ps.LogWarning, match=wanted):
        report = ps.logs.lm_eval(LOGS / "lm_eval_partial").avg().collect()
    assert report["estimate"].to_list() == [pytest.approx(1 / 3)]
    with pytest.warns(ps.LogWarning, match=wanted):
        found = ps.logs.lm_eval(LOGS / "lm_eval_partial").describe().collect()
    assert found.select("filter", "trials", "planned", "reported").rows() == [
        ("strict-match", 3, 100, 0.75)
    ]


def test_whole_runs_agree_with_what_their_tools_say():
    metric = {"toy_mc": "acc_norm"}
    found = ps.logs.lm_eval(LOGS / "lm_eval", metric=metric).describe().collect()
    assert found.select("filter", "planned", "reported").rows() == [
        ("first", None, 1.0),  # of four repeats, of which the filter scores one
        ("maj", None, 1.0),
        ("none", 6, 0.5),
    ]
    verifiers = ps.logs.verifiers(LOGS / "verifiers", threshold=0.5).describe().collect()
    assert verifiers.select("trials", "planned", "reported").rows() == [
        (24, 24, pytest.approx(0.6833333))
    ]
    helm = ps.logs.helm(LOGS / "helm").describe().filter(perturbation="")
    # By the stats.json of HELM.
    assert helm.select("trials", "planned", "reported").rows() == [
        (10, 10, pytest.approx(0.3)),
        (9, 9, pytest.approx(1 / 9)),
        (4, 4, 0.0),
    ]


def test_runs_of_verifiers_with_other_settings_are_refused():
    folder = LOGS / "verifiers_graded" / "wordle--gpt-4.1-mini"
    with pytest.raises(ValueError, match=r"runs of one model, 'gpt-4\.1-mini', with different s"):
        ps.logs.verifiers(folder)


# The folder of real files, how the expected numbers are called, and the trials without a record.
BY_PATHS = {
    "DeepEval": ("deepeval/results/*", ["exact_match"], {}),
    "evalscope": ("evalscope/complete", ["complete"], {}),
    "garak": ("garak", ["direct-level-3.report.jsonl", "pwnzz.CouponLeak"], {}),
    "lmms-eval": ("lmms_eval", ["rows_kept"], {}),
    "METR": ("metr", ["binarized"], {}),
    "NeMo Gym": ("nemo_gym/blackjack", ["blackjack"], {}),
    "NeMo-Skills": ("nemo_skills/eval-results/gpqa", ["gpqa"], {}),
    "OpenAI evals": ("openai_evals", ["match"], {"gpt-4.1-nano": 1}),
    "pydantic-evals": ("pydantic_evals", ["correct"], {"bob-2": 1}),
    "skill-creator": ("skill_creator", ["runs"], {}),
}


@pytest.mark.parametrize("tool", BY_PATHS)
def test_the_line_of_a_tool_in_the_guide_gives_its_numbers(tool, monkeypatch):
    place, keys, lost = BY_PATHS[tool]
    folder = LOGS / place.partition("/")[0]
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    call = CALLS[tool]
    monkeypatch.chdir(folder.parent / place.rstrip("/*"))
    call = call.replace('"benchmark.json"', '"runs.json"').replace(
        '"*.json"', '["ada-1.json", "bob-2.json"]'
    )
    call = call.replace('"test_run_*', '"*/test_run_*').replace('"*.report', '"direct*.report')
    log = eval(call[:-1] + ", missing='drop', unscored='drop')", {"ps": ps})  # noqa: S307 - as above
    for key in keys:
        expected = expected[key]
    found = log.avg().collect()
    for group in expected["groups"]:
        name = group["model"]
        named = [name, name.split(" ")[-1], name.replace("/", "__"), "my-model"]
        rows = found.filter(pl.col("model").is_in(named))
        if tool == "garak":
            rows = rows.filter(benchmark=keys[-1])
        assert rows["estimate"].item() == pytest.approx(group["avg_drop"])
        trials = rows["trials"].item() + rows["dropped"].item() + lost.get(name, 0)
        assert trials == group["trials"]


@pytest.mark.filterwarnings("ignore::polars_scorio.LogWarning")
@pytest.mark.parametrize(
    ("folder", "tested"),
    [
        ("aisbench", 1), ("deepeval", 1), ("evalscope", 1), ("garak", 1), ("harbor", 1),
        ("helm", 0), ("lm_eval_repeats", 1), ("nemo_gym", 0), ("nemo_skills", 1),
        ("openai_evals", 0), ("verifiers_traces", 0),
    ],
)  # fmt: skip
def test_no_check_of_a_real_log_finds_a_fault(folder, tested):
    found = ps.logs.read(LOGS / folder).check().lazy().collect()
    verdicts = dict(found["verdict"].value_counts().rows())
    assert {*verdicts} <= {"ok", "not tested"}
    assert verdicts.get("ok", 0) == tested


@pytest.mark.filterwarnings("ignore::polars_scorio.LogWarning")
@pytest.mark.parametrize(
    ("folder", "said"),
    [
        ("aisbench", "m gets 50.0 % right on one try, and 50.0 % both times."),
        ("evalplus_2023", "bura gets 0.0 % of 164 questions right."),
        ("livecodebench", "o1-mini gets 68.4 % of 880 questions right."),
        ("lm_eval_repeats", "qdpv68r5 gets 45.8 % right on one try, and 16.7 % all 4 times."),
        ("lmms_eval", "liuhaotian/llava-v1.5-7b gets 68.0 % of 200 questions right."),
        ("nemo_skills", "nemo_skills scores 59.2 %."),
    ],
)
def test_the_command_reads_a_real_folder_without_options(folder, said, capsys):
    main([str(LOGS / folder)])
    assert said in capsys.readouterr().out


def test_a_run_folder_whose_trials_have_results_of_their_own_is_terminal_bench():
    known = json.loads((CASES / "tb_folder/expected.json").read_text(encoding="utf-8"))
    assert known == {"read()": "terminal_bench, 8 tasks, accuracy .5"}
    assert [*fitting_tools(CASES / "tb_folder")] == ["terminal_bench"]
    report = ps.logs.read(CASES / "tb_folder").avg()
    assert report.select("questions", "estimate").row(0) == (8, 0.5)


@pytest.mark.filterwarnings("ignore::polars_scorio.LogWarning")
def test_failures_of_the_infrastructure_have_no_outcome():
    known = json.loads((CASES / "harbor_025/expected.json").read_text(encoding="utf-8"))
    read = ps.logs.read(CASES / "harbor_025", missing="drop", keep="usd")
    log = read.frame.with_columns(folder=pl.col("source").str.extract(r"([^/]+)/[^/]+$"))
    outcomes, dollars = (dict(log.select("folder", c).rows()) for c in ("category", "usd"))
    assert {trial for trial, outcome in outcomes.items() if outcome is None} == {
        *known["without outcome"]
    }
    assert all(outcomes[trial] == 0 for trial in known["zero"])
    assert known["usd"] == {trial: pytest.approx(dollars[trial]) for trial in known["usd"]}


def test_one_provider_with_two_configurations_is_two_entrants():
    entrants = ps.logs.read(CASES / "promptfoo_two_configs/results.json").avg()
    assert entrants.select("questions", "estimate").rows() == [(4, 1.0), (4, 0.5)]
    repeated = ps.logs.read(CASES / "promptfoo_two_configs/repeat.json").avg()
    assert repeated.select("model", "questions", "trials").rows() == [("openai:m", 2, 6)]


def test_a_stable_suite_is_read_as_it_is():
    known = json.loads((CASES / "stable_suite/expected.json").read_text(encoding="utf-8"))
    passed, broke = (pl.read_csv(CASES / "stable_suite" / name) for name in known)
    row = passed.scorio.report(ps.avg(), ps.pass_hat_k(3))["estimate"].to_list()
    assert row == [known["all_pass.csv"]["avg"], known["all_pass.csv"]["pass_hat_3"]]
    said = known["broke.csv"]
    pair = broke.scorio.compare(baseline="old")
    assert pair["diff"].item() == pytest.approx(said["diff"], abs=5e-5)
    gates = {m: broke.scorio.gate(baseline="old", margin=m)["verdict"].item() for m in (0.05, 0.04)}
    assert gates == {0.05: "undecided", 0.04: "fail"}
    regressed = broke.scorio.regressions(baseline="old")
    assert regressed.filter("regressed")["rate_baseline", "rate"].rows() == [(1.0, 0.0)] * 2


def test_weights_of_six_categories_make_the_score_of_a_leaderboard():
    weights = {
        **{("nonlive", name): 0.25 / 3 for name in ("simple", "java", "js")},
        ("live", "live_simple"): 0.25 * 26 / 131,
        ("live", "live_multiple"): 0.25 * 105 / 131,
        ("multi_turn", "multi_turn"): 0.5,
    }
    log = pl.read_csv(CASES / "bfcl_overall/rows.csv").scorio(by=["group", "category_name"])
    whole = log.avg(overall=weights).filter(pl.col("group").is_null())
    assert whole["estimate"].round(4).to_list() == [0.5254]
