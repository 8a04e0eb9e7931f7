"""What a report costs beside other tools: CPU time of one process, of the same log in long form.

``python -m examples.validation.peers --install --keep`` measures all of them in an environment of
its own, prints why a tool does not install, and writes the table where the guide takes it from.
Without `--install`, tools that this environment lacks are left out.
"""

import argparse
import os
import subprocess
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from venv import EnvBuilder

import numpy as np
import polars as pl

import polars_scorio as ps

DRAWS = (1, 2, 4, 8)
# Models, questions, trials of each.
SIZES = {
    "2,000 trials": (10, 20, 10),
    "2 million, 100 a question": (10, 2_000, 100),
    "2 million, 10 a question": (10, 20_000, 10),
}
TOOLS = ("scorio", "evalstats", "passk-inference")  # besides pandas, DuckDB and PyArrow
WRITTEN = Path(__file__).parent / "printed_tables" / "peers.csv"
KEYS = ["model", "question"]
PASS, MEAN, PAIR = "Pass@1, 2, 4, 8", "accuracy", "Pass@1, 2, 4, 8, two models compared"
# pandas cannot be told its types here: it is not among what the tests need.
Peer = Callable[[pl.DataFrame, Any], object]


def made_log(models: int, questions: int, trials: int) -> pl.DataFrame:
    """Outcomes of models, questions of which are of all difficulties, in shuffled rows."""
    rng = np.random.default_rng(7)
    place = np.arange(models * questions * trials)
    question = place // trials % questions
    solved = rng.random(place.size) < rng.beta(0.8, 0.8, questions)[question]
    columns = {"model": place // (questions * trials), "question": question}
    columns |= {"trial": place % trials, "category": solved.astype(np.int64)}
    return pl.DataFrame(columns).sample(fraction=1, shuffle=True, seed=7)


def passed(n: np.ndarray, c: np.ndarray, k: int) -> np.ndarray:
    """Pass@k of each question by a product of k vectors, as one writes it by hand."""
    failed = np.ones(n.shape)
    for i in range(k):
        failed *= np.maximum(n - c - i, 0) / (n - i)
    return 1 - failed


def passed_once(n: int, c: int, k: int) -> float:
    """Pass@k of a question, as human-eval computes it."""
    return 1.0 if n - c < k else 1.0 - np.prod(1.0 - k / np.arange(n - c + 1, n + 1))


def by_numpy(log: pl.DataFrame, _: object) -> object:
    """Counts by bincount, then the formula."""
    questions = log["question"].n_unique()
    cell = log["model"].to_numpy() * questions + log["question"].to_numpy()
    n, c = np.bincount(cell), np.bincount(cell, log["category"].to_numpy())
    return [passed(n, c, k).reshape(-1, questions).mean(axis=1) for k in DRAWS]


def counted(log: pl.DataFrame) -> pl.DataFrame:
    """Trials and successes of each question."""
    return log.group_by(KEYS).agg(n=pl.len(), c=pl.col("category").sum())


def by_polars(log: pl.DataFrame, _: object) -> object:
    """Counts by group_by, then the formula."""
    counts = counted(log)
    n, c = counts["n"].to_numpy(), counts["c"].to_numpy()
    columns = [pl.Series(str(k), passed(n, c, k)) for k in DRAWS]
    return counts.with_columns(columns).group_by("model").agg(pl.col(map(str, DRAWS)).mean())


def by_pandas(_: object, frame: Any) -> object:
    """The same in pandas."""
    counts = frame.groupby(KEYS)["category"].agg(["size", "sum"]).reset_index()
    for k in DRAWS:
        counts[k] = passed(counts["size"].to_numpy(), counts["sum"].to_numpy(), k)
    return counts.groupby("model")[[*DRAWS]].mean()


def by_calls(_: object, frame: Any) -> object:
    """Pandas, and a call for each question and k."""
    counts = frame.groupby(KEYS)["category"].agg(["size", "sum"]).reset_index()
    for k in DRAWS:
        states = zip(counts["size"], counts["sum"], strict=True)
        counts[k] = [passed_once(n, c, k) for n, c in states]
    return counts.groupby("model")[[*DRAWS]].mean()


def by_duckdb(log: pl.DataFrame, _: object) -> object:
    """The macros of the package."""
    draws = ", ".join(f"question_mean(pass_at_k(n, c, {k}), m)" for k in DRAWS)
    connection = import_module("duckdb").connect()
    connection.register("log", log.to_arrow())
    connection.execute(ps.sql.duckdb_macros())
    questions = (
        "SELECT model, count(category) AS n, sum(category)::BIGINT AS c FROM log "
        "GROUP BY model, question"
    )
    alike = f"SELECT model, n, c, count(*) AS m FROM ({questions}) GROUP BY ALL"  # noqa: S608 - our own text
    return connection.execute(f"SELECT model, {draws} FROM ({alike}) GROUP BY model").fetchall()  # noqa: S608


def matrices(log: pl.DataFrame) -> Iterator[np.ndarray]:
    """Questions by trials of each model."""
    for _, part in log.group_by("model"):
        yield part.pivot("trial", index="question", values="category").drop("question").to_numpy()


def by_scorio(log: pl.DataFrame, _: object) -> object:
    """A matrix of each model, which scorio takes."""
    scorio = import_module("scorio.eval")
    return [[scorio.pass_at_k_ci(wide, k) for k in DRAWS] for wide in matrices(log)]


def mean_by_scorio(log: pl.DataFrame, _: object) -> object:
    """The same, of the average."""
    return [import_module("scorio.eval").avg_ci(wide) for wide in matrices(log)]


def mean_by_evalstats(_: object, frame: Any) -> object:
    """The means of the questions of each model."""
    means = frame.groupby(KEYS)["category"].mean().groupby("model")
    return [import_module("evalstats").mean_ci(part.to_numpy(), rng=0) for _, part in means]


def pair_by_passk(log: pl.DataFrame, _: object) -> object:
    """The counts of two models, question by question."""
    counts = counted(log.filter(pl.col("model") < 2)).sort("question").partition_by("model")
    arrays = (each[name].to_numpy() for each in counts for name in ("c", "n"))
    return import_module("passk_inference").compare(*arrays, ks=DRAWS)


def pair_by_us(log: pl.DataFrame, _: object) -> object:
    """The same log in long form."""
    return ps.scorio(log.filter(pl.col("model") < 2)).compare(ps.pass_at_k(DRAWS))


# What is asked, the tool, its intervals, the module that it needs, and the work.
PEERS: list[tuple[str, str, str, str, Peer]] = [
    (PASS, "polars-scorio", "calibrated", "polars", lambda log, _: ps.scorio(log).pass_at_k(DRAWS)),
    (PASS, "scorio", "credible", "scorio", by_scorio),
    (PASS, "NumPy by hand", "", "numpy", by_numpy),
    (PASS, "Polars by hand", "", "polars", by_polars),
    (PASS, "pandas by hand", "", "pandas", by_pandas),
    (PASS, "pandas, a call for each question", "", "pandas", by_calls),
    (PASS, "DuckDB with our macros", "", "duckdb", by_duckdb),
    (MEAN, "polars-scorio", "calibrated", "polars", lambda log, _: ps.scorio(log).avg()),
    (MEAN, "scorio", "credible", "scorio", mean_by_scorio),
    (MEAN, "evalstats", "calibrated", "evalstats", mean_by_evalstats),
    (PAIR, "polars-scorio", "calibrated", "polars", pair_by_us),
    (PAIR, "passk-inference", "bands", "passk_inference", pair_by_passk),
]


def least_cpu(work: Callable[[], object], repeats: int) -> float:
    """The least CPU time of some runs; what they print goes nowhere."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        with redirect_stdout(StringIO()):
            work()
        times.append(time.process_time() - start)
    return min(times)


def environment(folder: Path) -> Path:
    """The Python of a new environment with all tools that install; says why others do not."""
    EnvBuilder(with_pip=True).create(folder)
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    pinned = [f"{name}=={version(name)}" for name in ("polars", "numpy", "scipy")]
    for names in ([*pinned, "pandas", "pyarrow", "duckdb"], *([tool] for tool in TOOLS)):
        command = [str(python), "-m", "pip", "install", "--quiet", *names]
        run = subprocess.run(command, check=False, capture_output=True, text=True)
        if run.returncode:
            reasons = [line for line in run.stderr.splitlines() if line.startswith("ERROR")]
            print(f"{', '.join(names)} does not install: {' '.join(reasons)}", flush=True)
    return python


def main() -> None:
    """Measure every tool that is installed on all logs, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5, help="of everything; default: 5")
    parser.add_argument("--keep", action="store_true", help="write the table of the guide")
    parser.add_argument("--install", action="store_true", help="all tools, in an environment")
    arguments = parser.parse_args()
    if arguments.install:
        package = str(Path(ps.__file__).parents[1])
        with TemporaryDirectory(prefix="peers-") as folder:
            command = [str(environment(Path(folder))), __file__, f"--repeats={arguments.repeats}"]
            own = {**os.environ, "PYTHONPATH": package}
            subprocess.run([*command, *["--keep"] * arguments.keep], check=True, env=own)
        return
    warnings.simplefilter("ignore")
    installed = [peer for peer in PEERS if find_spec(peer[3])]
    rows: list[dict[str, str]] = [
        {"what": asked, "tool": named_version(tool), "intervals": kind}
        for asked, tool, kind, _, _ in installed
    ]
    for size, shape in SIZES.items():
        log = made_log(*shape)
        frame = log.to_pandas() if find_spec("pandas") else None
        for row, (*_, work) in zip(rows, installed, strict=True):
            cpu = least_cpu(lambda: work(log, frame), arguments.repeats + 1)  # noqa: B023 - called at once
            row[size] = f"{1000 * cpu:.2g}" if cpu < 0.1 else f"{1000 * cpu:.0f}"
            print(f"{size}, {row['what']}, {row['tool']}: {row[size]} ms", flush=True)
    if arguments.keep:
        pl.DataFrame(rows).write_csv(WRITTEN)


def named_version(tool: str) -> str:
    """A tool of others with its version."""
    return f"{tool} {version(tool)}" if tool in TOOLS else tool


if __name__ == "__main__":
    main()
