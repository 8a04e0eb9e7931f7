import polars as pl
import pytest

import polars_scorio as ps


def test_a_card_has_the_interval_in_words(report):
    card = ps.to_model_card(report)
    assert card.count('- name: "') == 2
    row = report.filter(domain="web", model="bob", metric="pass_hat_k").row(0, named=True)
    assert f'"Pass^2 (95 % interval {row["lo"]:.4g} to {row["hi"]:.4g})"\n' in card
    assert '    - type: "pass_hat_2"\n' in card
    assert "      value: 0.5\n" in card
    assert '        name: "air"' not in card  # indented as the hub has it
    assert '      name: "air"\n      type: "air"\n' in card


def test_a_card_is_yaml(report):
    yaml = pytest.importorskip("yaml")
    odd = report.with_columns(model=pl.col("model") + ': "x" # \n', domain=pl.lit("- {a"))
    (first, second) = yaml.safe_load(ps.to_model_card(odd, task="other"))["model-index"]
    assert [first["name"], second["name"]] == ['bob: "x" # \n', 'org/ada: "x" # \n']
    assert first["results"][0]["task"] == {"type": "other"}
    assert first["results"][0]["dataset"] == {"name": "- {a", "type": "- {a"}
    assert [m["value"] for m in first["results"][0]["metrics"]] == [0.75, 0.5] * 2


def test_without_strata_the_dataset_is_named(trials):
    card = ps.to_model_card(trials.scorio(question="trial", trial=None).avg(), dataset="gsm8k")
    assert '      name: "gsm8k"\n' in card


def test_a_row_without_an_estimate_is_refused(trials):
    beyond = trials.scorio(by="domain").pass_at_k(4)
    with pytest.raises(ValueError, match=r"Pass@4 of 'bob' has no estimate: .*within the trials"):
        ps.to_model_card(beyond)


@pytest.mark.parametrize("option", ["task", "dataset"])
def test_words_of_a_card_must_be_texts(report, option):
    with pytest.raises(TypeError, match=rf"^{option} must be a text, got \[1\]$"):
        ps.to_model_card(report, **{option: [1]})
