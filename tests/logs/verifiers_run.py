"""An evaluation of verifiers with a model behind a local port; it needs the extra `verifiers`.

verifiers finds taskset and harness under the name of this module, which must be on the path.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar

import httpx
import verifiers.v1 as vf
from verifiers.v1.cli.eval.runner import run_eval
from verifiers.v1.configs.cli.eval import EvalConfig
from verifiers.v1.runtimes import ProgramResult

__all__ = ["Direct", "Sums"]

# The answer of each rollout; "y" is right, "!" is an error of the model's server.
ANSWERS = {"a": "yyny", "b": "nnny", "c": "yy!y", "d": "!!!!"}


class Sum(vf.Task[vf.TaskData, vf.State, vf.TaskConfig]):
    """A question of which the answer is "y"."""

    @vf.reward
    async def correct(self, trace: vf.Trace) -> float:
        """1 for the right answer, 0.25 for any other."""
        return 1.0 if trace.last_reply == "y" else 0.25


class Sums(vf.Taskset[Sum, vf.TasksetConfig]):
    """Four questions."""

    def load(self) -> list[Sum]:
        """One task a question."""
        return [Sum(vf.TaskData(prompt=name, name=name), self.config.task) for name in ANSWERS]


class Direct(vf.Harness[vf.HarnessConfig]):
    """Asks the model once, without a program of its own."""

    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(
        self,
        ctx: vf.ModelContext,
        trace: vf.Trace,
        runtime: object,
        endpoint: str,
        secret: str,
        mcp_urls: Mapping[str, str],
        data: vf.TaskData,
    ) -> ProgramResult:
        """One request."""
        question = {"role": "user", "content": data.prompt}
        headers = {"Authorization": f"Bearer {secret}"}
        async with httpx.AsyncClient(headers=headers, timeout=None) as client:  # noqa: S113 - local
            reply = await client.post(
                f"{endpoint}/chat/completions", json={"model": ctx.model, "messages": [question]}
            )
        return ProgramResult(0 if reply.is_success else 1, reply.text, reply.text)


class Model(BaseHTTPRequestHandler):
    """Says for each question what is written down for it."""

    asked: ClassVar[Counter[str]] = Counter()

    def do_POST(self) -> None:
        """Answer a chat completion."""
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        question = request["messages"][-1]["content"]
        answer = ANSWERS[question][self.asked[question]]
        self.asked[question] += 1
        body = json.dumps(_completion(request["model"], answer)).encode()
        self.send_response(500 if answer == "!" else 200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def _completion(model: str, answer: str) -> dict[str, Any]:
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": model,
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": answer},
            }
        ],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }


@contextmanager
def served() -> Iterator[str]:
    """The address of the model, while it is served."""
    Model.asked.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), Model) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/v1"
        server.shutdown()


def evaluation(folder: Path) -> list[vf.Episode]:
    """Run it, with the traces in a folder: what verifiers says of each episode."""
    with served() as address:
        config = EvalConfig.model_validate(
            {
                "env": {
                    "taskset": {"id": "verifiers_run"},
                    "agent": {
                        "runtime": {"type": "subprocess"},
                        "harness": {"id": "verifiers_run"},
                    },
                },
                "model": "org/ada",
                "client": {"base_url": address, "api_key_var": "UNUSED"},
                "num_rollouts": 4,
                "max_concurrent": 4,  # the server of the standard library keeps five waiting
                "output_dir": str(folder),
                "push": False,
                "rich": None,
            }
        )
        return asyncio.run(run_eval(config))
