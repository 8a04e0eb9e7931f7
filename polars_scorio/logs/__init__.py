"""The logs of evaluation tools: each reader turns the files of one tool into an accessor.

``ps.logs.tau2_bench("results.json").report(ps.pass_hat_k([1, 4]))`` is a report; ``.frame`` is the
table. Every reader takes files, folders and globs, and ``model=``; its other keywords are roles,
such as ``missing=``. An outcome is null if the trial crashed or was not scored.
"""

from typing import TYPE_CHECKING

from polars_scorio.arguments import public_face
from polars_scorio.logs.bfcl import bfcl
from polars_scorio.logs.deepeval import deepeval
from polars_scorio.logs.evalplus import evalplus
from polars_scorio.logs.evalscope import evalscope
from polars_scorio.logs.every_eval_ever import every_eval_ever
from polars_scorio.logs.garak import garak
from polars_scorio.logs.harbor import harbor
from polars_scorio.logs.helm import helm
from polars_scorio.logs.human_eval import human_eval
from polars_scorio.logs.inspect_ai import inspect_ai
from polars_scorio.logs.lighteval import lighteval
from polars_scorio.logs.livecodebench import livecodebench
from polars_scorio.logs.lm_eval import lm_eval
from polars_scorio.logs.nemo_gym import nemo_gym
from polars_scorio.logs.nemo_skills import nemo_skills
from polars_scorio.logs.openai_evals import openai_evals
from polars_scorio.logs.opencompass import opencompass
from polars_scorio.logs.promptfoo import promptfoo
from polars_scorio.logs.pydantic_evals import pydantic_evals
from polars_scorio.logs.read import read
from polars_scorio.logs.records import records
from polars_scorio.logs.scorio import scorio
from polars_scorio.logs.swe_bench import swe_bench
from polars_scorio.logs.tau2_bench import tau2_bench
from polars_scorio.logs.tau_bench import tau_bench
from polars_scorio.logs.terminal_bench import terminal_bench
from polars_scorio.logs.trl import trl
from polars_scorio.logs.verifiers import verifiers
from polars_scorio.logs.verl import verl

__all__ = [
    "bfcl",
    "deepeval",
    "evalplus",
    "evalscope",
    "every_eval_ever",
    "garak",
    "harbor",
    "helm",
    "human_eval",
    "inspect_ai",
    "lighteval",
    "livecodebench",
    "lm_eval",
    "nemo_gym",
    "nemo_skills",
    "openai_evals",
    "opencompass",
    "promptfoo",
    "pydantic_evals",
    "read",
    "records",
    "scorio",
    "swe_bench",
    "tau2_bench",
    "tau_bench",
    "terminal_bench",
    "trl",
    "verifiers",
    "verl",
]


if not TYPE_CHECKING:  # checkers would take it for a promise of every name
    __getattr__, __dir__ = public_face(__name__, __all__)
