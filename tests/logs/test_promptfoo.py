import pytest

import polars_scorio as ps

PASSED, FAILED, ERROR = 0, 1, 2


def outcome(place, question, reason, provider="openai:gpt-5", prompt="plain", **test):
    """One entry of results.results."""
    variables = {"question": question}
    judged = {"pass": reason == PASSED, "score": 1.0, "reason": "..."}
    return {
        "promptIdx": 0,
        "testIdx": place,
        "testCase": {"vars": variables, "assert": [{"type": "equals", "value": "2"}], **test},
        "promptId": "5f0e",
        "provider": {"id": provider, "label": ""},
        "prompt": {"raw": f"Q: {question}", "label": prompt},
        "vars": variables,
        "response": {"output": "2"},
        "error": "API error: 529" if reason == ERROR else None,
        "failureReason": reason,
        "success": reason == PASSED,
        "score": {PASSED: 1.0, FAILED: 0.5, ERROR: 0.0}[reason],
        "gradingResult": None if reason == ERROR else judged,
        "latencyMs": 10,
    }


def output(*outcomes, run="eval-1"):
    """What promptfoo eval --output writes."""
    results = {"version": 3, "timestamp": "t", "prompts": [], "results": list(outcomes)}
    return {"evalId": run, "results": {**results, "stats": {}}, "config": {}, "shareableUrl": None}


@pytest.fixture
def repeated(write):
    # Two tests, twice: the index of a test counts its repetitions.
    asked = [("1 + 1", PASSED), ("2 + 2", FAILED), ("1 + 1", PASSED), ("2 + 2", ERROR)]
    outcomes = [outcome(i, question, reason) for i, (question, reason) in enumerate(asked)]
    return write("output.json", output(*outcomes))


def test_a_question_is_a_test_and_a_trial_its_repetition(table, repeated):
    log = table(repeated)
    assert log.columns == ["model", "prompt", "question", "trial", "category", "score", "error"]
    first = ("openai:gpt-5", "plain", '{"question": "1 + 1"}', "eval-1/0", True, 1.0, None)
    assert log.row(0) == first
    assert log["question"].n_unique() == 2
    assert log["category"].to_list() == [True, False, True, None]


def test_errors_are_what_missing_says(reader, summary, repeated):
    with pytest.raises(ValueError, match="1 question has a missing category"):
        reader(repeated).avg()
    assert summary(ps.avg(), repeated, missing="drop") == [(3, 1, 0.5)]
    assert summary(ps.pass_hat_k(2), repeated, missing=0) == [(4, 0, 0.5)]


def test_the_score_can_be_the_category(table, repeated):
    assert table(repeated, threshold=0.5)["category"].to_list() == [True, True, True, None]
    assert table(repeated, levels=[0, 0.5, 1])["category"].to_list() == [1.0, 0.5, 1.0, None]


def test_providers_are_models_and_prompts_are_strata(summary, write):
    path = write(
        "output.json",
        output(
            outcome(0, "1 + 1", PASSED),
            outcome(0, "1 + 1", FAILED, prompt="terse"),
            outcome(0, "1 + 1", FAILED, provider="anthropic:opus"),
            outcome(0, "1 + 1", PASSED, provider="anthropic:opus", prompt="terse"),
        ),
    )
    assert [estimate for *_, estimate in summary(ps.avg(), path)] == [0.0, 1.0, 1.0, 0.0]


def test_tests_that_share_their_variables_are_told_apart(table, write):
    other = {"assert": [{"type": "llm-rubric", "value": "polite"}]}
    described = {"description": "sums"}
    path = write(
        "output.json",
        output(
            outcome(0, "1 + 1", PASSED),
            outcome(1, "1 + 1", FAILED, **other),
            outcome(2, "1 + 1", FAILED, **described),
        ),
    )
    variables = '{"question": "1 + 1"}'
    expected = [variables, f"{variables} #2", f"sums {variables}"]
    assert table(path)["question"].to_list() == expected


def test_older_outputs_are_read(table, write):
    old = {"success": True, "score": 1, "provider": "m", "prompt": {"raw": "Q"}, "vars": {"q": "1"}}
    failed = {**old, "success": False, "error": "timeout"}
    log = table(write("output.json", {"version": 2, "results": [old, failed]}))
    assert log.select("prompt", "trial", "category").rows() == [
        ("Q", "output/0", True),
        ("Q", "output/1", None),
    ]


def test_an_output_that_is_read_twice_is_found(reader, repeated, write):
    write("copy.json", output(outcome(0, "1 + 1", PASSED)))
    with pytest.raises(ValueError, match="are the same run, 'eval-1': they have the same id"):
        reader(repeated.parent, missing=0).avg()


def test_evaluations_with_other_settings_of_a_provider_do_not_merge(reader, write):
    for run, temperature in {"one": 0, "two": 1}.items():
        content = output(outcome(0, "1 + 1", PASSED), run=run)
        known = {"id": "openai:gpt-5", "config": {"temperature": temperature}}
        path = write(f"{run}.json", {**content, "config": {"providers": ["file://x", known]}})
    wanted = r"different settings: config of openai:gpt-5\.temperature is 0 and 1\."
    with pytest.raises(ValueError, match=wanted):
        reader(path.parent)
    strata = ["prompt", "config of openai:gpt-5.temperature"]
    assert reader(path.parent, by=strata).avg()[strata[1]].to_list() == [0, 1]


def two_configurations(order):
    """An evaluation of one provider at two temperatures, with two prompts each; two trials."""
    asked, prompts = ["1 + 1", "2 + 2", "1 + 1", "2 + 2"], ["plain", "terse"] * 2
    outcomes = [
        {**outcome(test, question, PASSED if place < 2 else FAILED, prompt=prompt), **index}
        for test, question in enumerate(asked)
        for place, prompt in enumerate(prompts)
        for index in [{"promptIdx": place}]
    ]
    content = output(*(outcomes[i] for i in order))
    counts = {"testPassCount": 4, "testFailCount": 0}
    content["results"]["prompts"] = [
        {"provider": "openai:gpt-5", "label": prompt, "raw": "Q", "metrics": counts}
        for prompt in prompts
    ]
    known = [{"id": "openai:gpt-5", "config": {"temperature": t}} for t in (0, 1)]
    return {**content, "config": {"providers": known}}


@pytest.mark.parametrize("order", [range(16), range(15, -1, -1)])
def test_one_provider_with_two_configurations_is_two_models(reader, write, order):
    path = write("a.json", two_configurations(order))
    with pytest.warns(ps.LogWarning, match="'openai:gpt-5 #2', .*the tool reports 1, these rows 0"):
        log = reader(path)
    rows = log.avg().select("prompt", "model", "questions", "trials", "estimate").rows()
    assert rows == [
        (prompt, f"openai:gpt-5{number}", 2, 4, estimate)
        for prompt in ("plain", "terse")
        for number, estimate in (("", 1.0), (" #2", 0.0))
    ]
    changed = two_configurations(order)
    changed["config"]["providers"][1]["config"] = {"temperature": 2}
    write("b.json", {**changed, "evalId": "eval-2"})
    with pytest.raises(ValueError, match=r"config of openai:gpt-5 #2\.temperature is 1 and 2"):
        reader(path.parent)


def test_prompts_say_how_many_tests_there_were_and_how_many_passed(reader, write):
    counts = {"testPassCount": 3, "testFailCount": 1, "testErrorCount": 1}
    prompt = {"provider": "openai:gpt-5", "label": "plain", "raw": "Q", "metrics": counts}
    content = output(outcome(0, "1 + 1", PASSED), outcome(1, "2 + 2", ERROR))
    content["results"]["prompts"] = [prompt, {"raw": "Q"}]
    path = write("a.json", content)
    wanted = r"'plain': 2 of 5 planned trials; the tool reports 0\.6, these rows 0\.5$"
    with pytest.warns(ps.LogWarning, match=wanted):
        found = reader(path, missing=0).describe()
    assert found.select("planned", "reported").row(0) == (5, 0.6)
