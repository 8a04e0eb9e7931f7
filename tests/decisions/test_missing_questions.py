"""One rule for questions that some model lacks, wherever models are compared.

What compares models refuses them and names the way out, which is to keep the questions that all
models have; pages and the summary keep those and say so; what is about each model by itself has
all questions of that model.
"""

import inspect
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_scorio as ps
from polars_scorio.command_line.main import main
from tests.accessors.all_uses import METHODS
from tests.display.html.logs import drawn_sections, page_of, picture_of
from tests.golden.logs import made_log

WHOLE = made_log(3, 12, 4, 0).with_columns(cost=1.0 + pl.col("trial"))
GONE = WHOLE["question"].unique().sort().tail(3).implode()
LACKING = WHOLE.filter((pl.col("model") != "m2") | ~pl.col("question").is_in(GONE))
COMMON = WHOLE.filter(~pl.col("question").is_in(GONE))

COMPARING = {
    "compare": lambda log, **drop: log.compare(**drop),
    "rank": lambda log, **drop: log.rank(**drop),
    "best": lambda log, **drop: log.best(**drop),
    "gate": lambda log, **drop: log.gate("m0", margin=0.1, **drop),
    "regressions": lambda log, **drop: log.regressions("m0", **drop),
    "leaderboard": lambda log, **drop: log.leaderboard(ps.avg(), **drop),
    "questions": lambda log, **drop: log.questions(**drop),
    "frontier": lambda log, **drop: log.frontier(**drop),
    "trials_needed": lambda log, **drop: log.trials_needed(**drop),
    "questions_needed": lambda log, **drop: log.questions_needed(**drop),
    "trajectory": lambda log, **drop: log.trajectory(**drop),
    "convergence": lambda log, **drop: log.convergence(replicates=20, **drop),
}
PICTURES = {"frontier": lambda log, **drop: log.plot.frontier(**drop)}
EACH_MODEL = {
    **dict.fromkeys(METHODS),  # reports of one metric
    "report": lambda log: log.report(ps.avg(), ps.pass_at_k(2), ps.mean_cost()),
    "reruns": lambda log: log.reruns(),
    "population": lambda log: log.population(),
    "counts": lambda log: log.counts(),
    "describe": lambda log: log.describe().drop("missing"),
    "check": lambda log: log.check().drop("sentence"),
}
PAGES = {"write_html", "write_card"}
NO_MODEL_COMPARED = {"rubric", "judge_agreement", "next_trials", "plot", "frame"}


@pytest.mark.parametrize("name", COMPARING)
def test_what_compares_models_refuses_or_keeps_the_common_questions(name):
    call = COMPARING[name]
    with pytest.raises(ValueError, match=r'1 model lacks .*: 3 missing .*pass unmatched="drop" to'):
        call(LACKING.scorio(cost="cost"))
    kept = call(LACKING.scorio(cost="cost"), unmatched="drop")
    assert_frame_equal(pl.DataFrame(kept), pl.DataFrame(call(COMMON.scorio(cost="cost"))))


@pytest.mark.parametrize("name", PICTURES)
def test_pictures_of_comparisons_do_as_the_methods_of_their_name(name):
    with pytest.raises(ValueError, match='pass unmatched="drop" to keep those'):
        PICTURES[name](LACKING.scorio(cost="cost"))
    kept = PICTURES[name](LACKING.scorio(cost="cost"), unmatched="drop").to_dict()
    assert kept == PICTURES[name](COMMON.scorio(cost="cost")).to_dict()


@pytest.mark.parametrize("name", [name for name, call in EACH_MODEL.items() if call])
def test_what_is_about_each_model_has_all_its_questions(name):
    found, whole = (EACH_MODEL[name](log.scorio(cost="cost")) for log in (LACKING, WHOLE))
    other = pl.col("model") != "m2"
    assert_frame_equal(found.filter(other), whole.filter(other))


def test_every_method_follows_the_rule():
    log = WHOLE.scorio
    methods = {name for name in dir(log) if not name.startswith("_")}
    assert methods == {*COMPARING, *EACH_MODEL, *PAGES, *NO_MODEL_COMPARED}
    choosing = {name for name in methods - {"frame", "plot"} if takes_unmatched(log, name)}
    assert choosing == {*COMPARING}
    pictures = {name for name in dir(log.plot) if not name.startswith("_")}
    assert {name for name in pictures if takes_unmatched(log.plot, name)} == {*PICTURES}


def takes_unmatched(owner, name):
    """Whether a method has the keyword that chooses the questions."""
    return "unmatched" in inspect.signature(getattr(owner, name)).parameters


@pytest.fixture
def lacking(tmp_path, monkeypatch):
    """The file of the log with missing questions, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    LACKING.write_parquet("log.parquet")
    return "log.parquet"


@pytest.mark.parametrize(
    "command",
    [
        ["compare"],
        ["rank"],
        ["gate", "--baseline", "m0", "--margin", "0.1"],
        ["regressions", "--baseline", "m0"],
        ["leaderboard"],
        ["questions"],
        ["frontier", "--cost", "cost"],
        ["plan"],
    ],
    ids=lambda command: command[0],
)
def test_commands_of_comparisons_name_the_way_out_and_take_it(lacking, capsys, command):
    name, *options = command
    assert main([name, lacking, *options]) == 1
    errors = capsys.readouterr().err
    assert "pass --unmatched drop to keep those that all models have" in errors
    assert "=" not in errors.split("missing (")[1]  # no keyword of Python
    assert main([name, "--unmatched", "drop", lacking, *options]) in {0, 3, 4}  # of a gate
    printed = capsys.readouterr().out
    about = "9 questions" if name == "leaderboard" else "the 9 of 12 questions that all models have"
    assert about in printed
    if "next  " in printed and "next  polars-scorio report" not in printed:
        assert "--unmatched drop" in printed.partition("next  ")[2]


@pytest.mark.slow
def test_pages_and_the_summary_keep_the_common_questions_and_say_so(lacking, capsys):
    sentence = "The numbers skip 3 of 12 questions, which some model lacks."
    for command in (["summary"], ["report", "-o", "-"], ["report", "-o", "page.html"]):
        assert main([command[0], lacking, *command[1:]]) == 0
        printed = " ".join(capsys.readouterr().out.split())
        assert sentence in printed
        assert "about these 9 questions" in printed
    LACKING.scorio.write_html("again.html")
    LACKING.scorio.write_card("card.svg")
    for page in ("page.html", "again.html"):
        assert sentence in Path(page).read_text(encoding="utf-8")
    card = Path("card.svg").read_text(encoding="utf-8")
    assert "these 9 questions" in card.replace("\N{NO-BREAK SPACE}", " ")


def in_steps(log):
    """The log at three steps, of which one lacks what `log` lacks."""
    return pl.concat([WHOLE.with_columns(step=0), log.with_columns(step=1000),
                      WHOLE.with_columns(step=2000)])  # fmt: skip


@pytest.mark.parametrize("name", COMPARING)
def test_a_step_in_which_a_model_lacks_questions_follows_the_rule(name):
    call, (lacking, common) = COMPARING[name], map(in_steps, (LACKING, COMMON))
    with pytest.raises(ValueError, match=r"1 model lacks .*: 3 missing"):
        call(lacking.scorio(cost="cost", by="step"))
    kept, whole = (pl.DataFrame(call(log.scorio(cost="cost", by="step"), **drop))
                   for log, drop in ((lacking, {"unmatched": "drop"}), (common, {})))  # fmt: skip
    assert_frame_equal(kept, whole)


@pytest.mark.parametrize("name", PICTURES)
def test_pictures_of_steps_follow_the_rule(name):
    lacking, common = map(in_steps, (LACKING, COMMON))
    with pytest.raises(ValueError, match='pass unmatched="drop" to keep those'):
        PICTURES[name](lacking.scorio(cost="cost", by="step"))
    kept = PICTURES[name](lacking.scorio(cost="cost", by="step"), unmatched="drop").to_dict()
    assert kept == PICTURES[name](common.scorio(cost="cost", by="step")).to_dict()


def summary_of(log, capsys):
    """What the summary, a page and `check` print about a log of steps."""
    log.write_parquet("steps.parquet")
    printed = []
    for command in (["summary"], ["report", "-o", "-"], ["check"], ["describe"]):
        assert main([command[0], "steps.parquet", "--by", "step", *command[1:]]) == 0
        printed.append(" ".join(capsys.readouterr().out.split()))
    return printed


@pytest.mark.usefixtures("lacking")
def test_a_model_without_questions_of_a_step_is_named_on_every_surface(capsys):
    summary, page, check, described = summary_of(in_steps(LACKING), capsys)
    sentence = "The numbers skip 3 of 12 questions, which some model lacks."
    assert sentence in summary
    assert sentence in page
    assert "complete" not in summary
    for printed in (check, described):
        assert "12 questions for 3 models, 3 missing" in printed
    assert "--by step --unmatched drop" in check


@pytest.mark.usefixtures("lacking")
def test_a_model_without_a_step_is_named_on_every_surface(capsys):
    log = in_steps(WHOLE).filter((pl.col("model") != "m2") | (pl.col("step") != 2000))
    summary, page, check, described = summary_of(log, capsys)
    assert summary.startswith("At step 1,000: ")
    for printed in (summary, page):
        assert "step 2,000 lacks one or more of the 3 models." in printed
    assert "complete" not in summary
    for printed in (check, described):
        assert "1 of 9 pairs of model and step without a trial" in printed
        assert "complete" not in printed
    assert main(["compare", "steps.parquet", "--by", "step"]) == 0
    assert (
        main(["gate", "steps.parquet", "--by", "step", "--baseline", "m0", "--margin", "0.1"]) == 1
    )
    assert "1 model lacks a stratum: 'm2'" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.usefixtures("lacking")
def test_a_step_without_questions_of_other_steps_is_named_on_every_surface(capsys):
    log = in_steps(COMMON).filter(model="m0")
    summary, page, check, described = summary_of(log, capsys)
    sentence = (
        "1 of 3 steps lacks questions that other steps have (step 1,000: 3). The numbers skip "
        "3 of 12 questions, which some step lacks."
    )
    assert sentence in summary
    assert sentence in page
    for printed in (summary, check, described):
        assert "complete" not in printed
    for printed in (check, described):
        assert "they have 9 to 12 questions" in printed
    prompts = pl.col("question") + 100 * pl.col("step")  # of each step its own
    summary, *_ = summary_of(log.with_columns(question=prompts), capsys)
    assert "other steps have" not in summary


def pictures(log):
    """Numbers and pictures of a page of steps, without its alerts and the size of the log."""
    page = page_of(log, by="step")
    drawn = [(each.anchor, each.title, each.figure) for each in drawn_sections(page)]
    return page.account.blocks[:4], picture_of(page), drawn, page.account.next.steps


@pytest.mark.parametrize("models", [1, 3])
def test_curves_along_steps_keep_the_common_questions(models):
    """The page of a run is that of its common questions; of several runs the curves are."""
    whole, common = (log.filter(pl.col("model").is_in(["m0", "m1", "m2"][:models]))
                     for log in (WHOLE, COMMON))  # fmt: skip
    steps = [common.with_columns(step=0), whole.with_columns(step=1000)]
    if models == 1:  # of several, the finding is about all questions of the last step
        steps.append(whole.with_columns(step=2000))
    else:
        steps.append(common.with_columns(step=2000))
    log = pl.concat(steps)
    kept = log.join(common.select("question").unique(), on="question", how="semi")
    assert pictures(log) == pictures(kept)
    (said,) = [each.text for each in page_of(log, by="step").alerts if "steps" in each.title]
    numbers = "The numbers" if models == 1 else "Curves along the steps"
    assert f"{numbers} skip 3 of 12 questions, which some step lacks." in said
    anchors = [anchor for anchor, *_ in pictures(log)[2]]
    assert {"gains", "questions"} <= {*anchors} if models == 1 else "steps" in anchors


@pytest.mark.slow
def test_the_line_beneath_a_page_keeps_the_common_questions_too():
    run = in_steps(COMMON).filter(model="m0")
    for log, roles, asked in ((run, {"by": "step"}, "rank"), (LACKING, {}, "compare"),
                              (LACKING, {"baseline": "m0"}, "gate")):  # fmt: skip
        page = page_of(log, **roles)
        assert "unmatched='drop'" in page.account.next.command
        assert f".{asked}(" in page.account.next.command
        both = (log, log.filter(~pl.col("question").is_in(GONE)))
        rows, kept = (eval(page.account.next.command, {"df": each}) for each in both)  # noqa: S307 - ours
        assert_frame_equal(rows, kept)
    assert "unmatched" not in page_of(WHOLE).account.next.command


def test_describe_and_check_name_the_gap_and_the_way_on(lacking, capsys):
    assert main(["describe", lacking]) == 0
    assert "12 questions for 3 models, 3 missing" in capsys.readouterr().out
    assert main(["check", lacking]) == 0
    printed = capsys.readouterr().out
    assert "12 questions for 3 models, 3 missing" in printed
    assert "next  polars-scorio rank log.parquet --unmatched drop" in printed
