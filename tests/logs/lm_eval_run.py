"""An evaluation of lm_eval with its dummy model; it needs the extra `lm-eval`."""

import json
import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

# Nothing is fetched: the documents are in a file, and the model is made of text.
os.environ |= {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"}

from lm_eval import simple_evaluate
from lm_eval.api.registry import register_model
from lm_eval.loggers import EvaluationTracker
from lm_eval.models.dummy import DummyLM

# The answers to each question, in turn; the right one is "lol".
ANSWERS = {"a": "yynn", "b": "nnnn", "c": "yyyy", "d": "nyyy", "e": "ynnn"}
TRIALS = 4


@register_model("scripted")
class Scripted(DummyLM):
    """The dummy model, which would always say "lol", with a script."""

    def generate_until(
        self,
        requests: Sequence[Any],
        disable_tqdm: bool = False,
    ) -> list[str]:
        """The answers of the script, for the questions of all tasks."""
        left = defaultdict(lambda: {question: iter(turns) for question, turns in ANSWERS.items()})
        turns = [next(left[request.task_name][request.args[0]]) for request in requests]
        return ["lol" if turn == "y" else "no" for turn in turns]


def tasks(folder: Path) -> list[dict[str, Any]]:
    """One task that keeps some of four answers, one that scores all of them, one of choices."""
    documents = folder / "documents.jsonl"
    lines = [{"q": q, "a": "lol", "choices": ["one", "two"], "gold": 0} for q in ANSWERS]
    documents.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    common = {
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": str(documents), "cache_dir": str(folder / "cache")},
        "test_split": "train",
        "doc_to_text": "{{q}}",
        "doc_to_target": "{{a}}",
    }
    answers = {
        "output_type": "generate_until",
        "generation_kwargs": {"until": ["\n"], "do_sample": True},
        "repeats": TRIALS,
    }
    choices = {
        "output_type": "multiple_choice",
        "doc_to_choice": "{{choices}}",
        "doc_to_target": "{{gold}}",
    }
    return [
        {
            **common,
            **answers,
            "task": "some",
            "metric_list": [metric("exact_match")],
            "filter_list": [
                pipeline("first", {"function": "take_first"}),
                pipeline("maj", {"function": "majority_vote"}, {"function": "take_first"}),
            ],
        },
        {
            **common,
            **answers,
            "task": "all",
            "process_results": share_of_right_answers,
            "metric_list": [metric("pass@1")],
            "filter_list": [pipeline("all", {"function": "take_first_k", "k": TRIALS})],
        },
        {**common, **choices, "task": "choices", "metric_list": [metric("acc")]},
    ]


def metric(name: str) -> dict[str, Any]:
    """An entry of the list of metrics."""
    return {"metric": name, "aggregation": "mean", "higher_is_better": True}


def pipeline(name: str, *steps: Mapping[str, Any]) -> dict[str, Any]:
    """An entry of the list of filters."""
    return {"name": name, "filter": [*steps]}


def share_of_right_answers(document: Mapping[str, str], results: Sequence[Any]) -> dict[str, float]:
    """The metric of the task that scores all answers, as in humaneval."""
    (answers,) = results
    return {"pass@1": sum(answer == document["a"] for answer in answers) / len(answers)}


def evaluation(folder: Path) -> dict[str, dict[str, Any]]:
    """Run it, with the samples in a folder; what lm_eval says of each task."""
    tracker = EvaluationTracker(output_path=str(folder / "out"))
    done = simple_evaluate(
        model="scripted",
        model_args="pretrained=org/scripted",
        tasks=tasks(folder),
        evaluation_tracker=tracker,
        bootstrap_iters=0,
    )
    samples = done.pop("samples")
    tracker.save_results_aggregated(results=done, samples=samples)
    for task in done["configs"]:
        tracker.save_results_samples(task_name=task, samples=samples[task])
    return done["results"]
