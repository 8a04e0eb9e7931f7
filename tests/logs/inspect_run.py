"""An evaluation of inspect_ai with its mock model; it needs the extra `inspect`."""

from pathlib import Path

import inspect_ai
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import Score, Scorer, Target, accuracy, scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver

# The grade of each epoch; "-" is a sample that the scorer leaves unscored, "!" one that fails.
GRADES = {"a": "CCCC", "b": "CPIC", "c": "IIPI", "d": "C!CI", "e": "PC-C"}


def evaluation(folder: Path) -> EvalLog:
    """Run it: five questions, four epochs, reduced to the mean and to pass@2."""
    task = inspect_ai.Task(
        dataset=[Sample(input="1 + 1", target="2", id=question) for question in GRADES],
        solver=fragile(),
        scorer=grade(),
        name="sums",
    )
    (log,) = inspect_ai.eval(
        task,
        model=get_model("mockllm/model", custom_outputs=lambda *_: _answer()),
        epochs=inspect_ai.Epochs(4, ["mean", "pass_at_2"]),
        log_dir=str(folder),
        fail_on_error=False,
        display="none",
    )
    return log


@solver
def fragile() -> Solver:
    """Ask the model, and raise where a sample is to fail."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        if _grade(state) == "!":
            raise RuntimeError("boom")
        return await generate(state)

    return solve


@scorer(metrics=[accuracy()])
def grade() -> Scorer:
    """The grade that is written down for a sample."""

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001 - their signature
        letter = _grade(state)
        return Score(value=float("nan") if letter == "-" else letter)

    return score


def _grade(state: TaskState) -> str:
    return GRADES[str(state.sample_id)][state.epoch - 1]


def _answer() -> ModelOutput:
    output = ModelOutput.from_content("mockllm/model", "2")
    # Without it inspect counts the tokens, for which it downloads a vocabulary.
    output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return output
