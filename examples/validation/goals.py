"""The goals of speed, and what was measured. Run: python -m examples.validation.goals --keep.

With OPENBLAS_NUM_THREADS=1: on a busy machine threads that wait for each other count as CPU time.

CPU seconds are the least of several interleaved runs, and ratios are to what is named beside them
in the same run: mostly a bare group_by of the same log. `--keep` writes the table where the guide
takes it from. Logs on the disk, and peaks of memory, have a table of their own: `--only logs
--keep`.
"""

import argparse
import csv
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
import polars as pl

import polars_scorio as ps
from examples.validation.rollouts import write_parts
from examples.validation.scale import SHAPES, plan, write_log
from examples.validation.speed import DRAWS, own_peak, tell

PRINTED = Path(__file__).parent / "printed_tables"
KEYS = ("temperature", "model", "question")
BARE, REPORT, CHECKED = "bare group_by", "report, validate=False", "report, validate=True"
ROWS = {"equal": 20_000_000, "ragged": 18_000_000, "graded": 20_000_000, "training": 50_000_000}
# Shape of the log, case, and what is wanted of time and of memory.
GOALS = [
    ("equal", REPORT, 1.1, 1.2),
    ("ragged", REPORT, 1.25, 1.2),
    ("graded", REPORT, 1.25, 1.2),
    ("training", REPORT, 1.3, 1.2),
    ("equal", CHECKED, 1.5, 1.2),
    ("ragged", CHECKED, 1.5, 1.2),
    ("training", CHECKED, 1.5, 1.2),
    ("seeds", CHECKED, 2.5, 2.0),
    ("words", CHECKED, 2.5, 2.0),
]
# Logs on the disk as the guide calls them; `scale.py` measures larger ones.
NAMES = {
    "equal": "20 million trials, 100 a question",
    "seeds": "the same with seeds as trial ids",
    "words": "the same with words as trial ids",
    "ragged": "18 million trials, 1 to 300 a question",
    "graded": "20 million trials, four categories",
    "training": "50 million trials in 48,828 strata",
}
TO_START = """
import time
start = time.process_time()
import polars
loaded = time.process_time()
log = polars.DataFrame({"model": "m", "question": [1, 2], "trial": 0, "category": [0, 1]})
log.lazy().group_by("model").len().collect()
begun = time.process_time()
import numpy, scipy.special
imported = time.process_time()
import polars_scorio
log.scorio.report(polars_scorio.avg())
print(loaded - start, imported - begun, time.process_time() - begun)
"""


class Row(NamedTuple):
    """A call, its CPU seconds (or share of memory), and the most that it may take."""

    call: str
    seconds: float | None
    beside: str = ""  # what the ratio is to; without it the goal is in seconds
    ratio: float | None = None
    goal: float | None = None

    def cells(self) -> dict[str, str]:
        """The row as a page shows it."""
        number = self.seconds if self.ratio is None else self.ratio
        missed = self.goal is not None and number is not None and number > self.goal
        unit = " s" if self.ratio is None else ""
        return {
            "call": self.call,
            "CPU": "" if self.seconds is None else brief_time(self.seconds),
            "beside": self.beside,
            "ratio": "" if self.ratio is None else brief(self.ratio),
            "goal": "" if self.goal is None else f"{brief(self.goal)}{unit}",
            "missed by": f"{brief(number / self.goal)} times" if missed else "",
        }


def brief(number: float) -> str:
    """Three digits, no zero before the point."""
    text = f"{number:.0f}" if number >= 100 else f"{number:.3g}"
    return text.removeprefix("0") if text.startswith("0.") else text


def brief_time(seconds: float) -> str:
    """Seconds, or milliseconds below one."""
    return f"{brief(seconds)} s" if seconds >= 1 else f"{brief(1000 * seconds)} ms"


def least(
    cases: Mapping[str, Callable[[], object]],
    repeats: int,
    clock: Callable[[], float] = time.process_time,
) -> dict[str, float]:
    """CPU seconds of each case, all of them again and again."""
    seconds = dict.fromkeys(cases, np.inf)
    for repeat in range(repeats):
        for name, case in cases.items():
            start = clock()
            case()
            seconds[name] = min(seconds[name], clock() - start)
        tell(f"{repeat + 1}/{repeats}: {seconds}")
    return seconds


def collected(folder: Path, name: str, case: str) -> Callable[[], pl.DataFrame]:
    """A case of a log on the disk."""
    log = pl.scan_parquet(folder / name / "*.parquet")
    shape = SHAPES.get(name, SHAPES["equal"])
    return lambda: plan(log, shape, case).collect(engine="streaming")


def with_other_ids(folder: Path) -> None:
    """The log of equal n once more, with seeds and with words as trial ids."""
    log = pl.scan_parquet(folder / "equal" / "*.parquet")
    seed = pl.struct(*KEYS, "trial").hash(7)
    ids = {"seeds": seed.reinterpret(signed=True), "words": "run-" + seed.cast(pl.String)}
    for name, trial in ids.items():
        (folder / name).mkdir()
        log.with_columns(trial=trial).sink_parquet(folder / name / "0.parquet")


def peak(folder: Path, name: str, case: str) -> float:
    """Peak memory in MB of a process that does nothing but one case."""
    command = [
        sys.executable,
        "-m",
        "examples.validation.goals",
        "--peak-of",
        str(folder),
        name,
        case,
    ]
    return float(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def aggregations(folder: Path, repeats: int) -> Iterator[Row]:
    """Reports of twelve metrics under a uniform prior beside the bare group_by, from Parquet."""
    names = dict.fromkeys(name for name, *_ in GOALS)
    goals = {name: [goal[1:] for goal in GOALS if goal[0] == name] for name in names}
    # Memory first: Linux lets a process inherit the peak of the one that started it.
    peaks = {
        name: {case: peak(folder, name, case) for case in (BARE, *(case for case, *_ in own))}
        for name, own in goals.items()
    }
    for name, memory in peaks.items():
        seconds = least({case: collected(folder, name, case) for case in memory}, repeats)
        for case, time_limit, memory_limit in goals[name]:
            ratio, share = seconds[case] / seconds[BARE], memory[case] / memory[BARE]
            yield Row(f"{name}: {case}", seconds[case], BARE, ratio, time_limit)
            yield Row(f"{name}: {case}, peak memory", None, BARE, share, memory_limit)


def fixed_costs(repeats: int, share: float) -> Iterator[Row]:
    """A small report, the import, and a plan for many questions."""
    rng, index = np.random.default_rng(0), np.arange(2_000)
    keys = {"model": index // 200, "question": index // 10 % 20, "trial": index % 10}
    small = pl.DataFrame({**keys, "category": rng.integers(0, 2, index.size)})
    metrics = (ps.bayes(), ps.avg(), ps.pass_at_k(DRAWS[:4]), ps.pass_hat_k(DRAWS[:4]))
    report = {"report": lambda: ps.scorio(small, prior="uniform").report(*metrics)}
    spent = least(report, 20 * repeats)["report"]
    yield Row("report of 2,000 rows, uniform prior", spent, goal=0.01)
    compiled = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}  # but for the first time

    def started(*arguments: str) -> tuple[bytes, float]:
        """What a fresh process prints, and its CPU."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        run = subprocess.run(
            [sys.executable, *arguments], check=True, stdout=subprocess.PIPE, env=compiled
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return run.stdout, cpu

    starts = [[*map(float, started("-c", TO_START)[0].split())] for _ in range(repeats + 1)]
    polars, numpy, first = (min(each) for each in zip(*starts, strict=True))
    beside = "import polars"
    yield Row("import of NumPy and scipy.special", numpy, beside, numpy / polars)
    yield Row("first report in a process, with imports", first, beside, first / polars, goal=1.2)
    with TemporaryDirectory(prefix="command-") as folder:
        path = Path(folder) / "log.parquet"
        drawn_log(5, 200, 8).write_parquet(path)
        for arguments, goal in (("--help",), 0.15), ((str(path),), 0.5):
            spent = min(started("-m", "polars_scorio", *arguments)[1] for _ in range(repeats + 1))
            yield Row(f"polars-scorio {arguments[0].replace(str(path), 'LOG')}, in all", spent,
                      goal=goal)  # fmt: skip
    n = rng.integers(4, 33, int(1_000_000 * share))
    totals = {"model": "m", "question": np.arange(n.size), "n": n, "c": rng.binomial(n, 0.4)}
    log = ps.scorio(ps.from_successes(pl.DataFrame(totals)), count="count")
    spent = least({"plan": lambda: log.next_trials(n.size)}, repeats)["plan"]
    yield Row(f"next_trials of {n.size:,} questions", spent, goal=3)


def fits(folder: Path, repeats: int, share: float) -> Iterator[Row]:
    """Reports with a population fitted to each of 200 strata, beside the published one."""
    rng, steps = np.random.default_rng(0), max(int(200 * share), 2)
    ease = rng.random(1_000)
    question, trial = np.indices((ease.size, 100)).reshape(2, -1)

    def step(number: int) -> pl.DataFrame:
        category = rng.binomial(1, ease[question] ** (1.5 - number / steps))
        columns = {"question": question, "trial": trial, "category": category}
        return pl.DataFrame({"step": np.full(trial.size, number), **columns})

    (folder / "steps").mkdir()
    write_parts(folder / "steps", map(step, range(steps)), rows_of_part=10 * trial.size)
    log = pl.scan_parquet(folder / "steps" / "*.parquet")
    half = log.filter(pl.col("step") < steps // 2).group_by("step", "question")
    totals = half.agg(pl.len().alias("n"), c=pl.col("category").sum()).collect()
    counts, roles = ps.from_successes(totals), {"by": "step", "model": None}
    logs = {
        f"log of {steps} strata": (4, ps.scorio(log, **roles, validate=False)),
        f"ready counts of {steps // 2} strata": (40, ps.scorio(counts, **roles, count="count")),
    }

    def report(accessor: ps.Scorio, prior: str | None) -> pl.DataFrame:
        return accessor.pass_at_k([1, 4, 16, 64], prior=prior).lazy().collect()

    for name, (limit, accessor) in logs.items():
        kinds = ("uniform", "population", None)
        seconds = least({kind: partial(report, accessor, kind) for kind in kinds}, repeats)
        for kind, cpu in seconds.items():
            goal = None if kind == "uniform" else limit
            yield Row(f"{name}: {kind}", cpu, "uniform prior", cpu / seconds["uniform"], goal)


def drawn_log(models: int, questions: int, trials: int) -> pl.DataFrame:
    """A log in memory of models that differ in ability, on questions of U-shaped difficulty."""
    rng = np.random.default_rng(0)
    ease = rng.beta(0.6, 1, (questions, 1))
    model, question, trial = np.indices((models, questions, trials)).reshape(3, -1)
    powers = np.repeat(0.5 + np.arange(models) / models, questions).reshape(models, questions, 1)
    category = rng.binomial(1, np.broadcast_to(ease**powers, (models, questions, trials)))
    columns = {"model": model, "question": question, "trial": trial, "category": category.ravel()}
    return pl.DataFrame(columns).with_columns(pl.format("model-{}", "model").alias("model"))


def ragged_log(models: int, questions: int, least: int, most: int) -> pl.DataFrame:
    """As `drawn_log`, with any number of trials between two."""
    log = drawn_log(models, questions, most)
    trials = np.random.default_rng(1).integers(least, most, models * questions, endpoint=True)
    return log.filter(pl.col("trial") < pl.Series(np.repeat(trials, most)))


def steps_log(steps: int, questions: int, trials: int) -> pl.DataFrame:
    """Steps of one training run: a stratum each."""
    log = drawn_log(steps, questions, trials)
    return log.rename({"model": "step"}).with_columns(model=pl.lit("m"))


EIGHT = (ps.avg(), ps.pass_at_k([1, 2, 4, 8]), ps.pass_hat_k([2, 4, 8]))
# Shape of the log, its metrics, and the most that a report may take over the bare group_by.
CALIBRATED = {
    "2,000,000 rows": (lambda share: drawn_log(10, max(int(20_000 * share), 1), 10), EIGHT, 1.25),
    "400 x 250 x 16": (lambda _: drawn_log(400, 250, 16), EIGHT, 1.5),
    "1,000 steps of 20 x 8": (lambda _: steps_log(1_000, 20, 8), EIGHT, 3.0),
    "10,000 steps of 20 x 8": (
        lambda share: steps_log(max(int(10_000 * share), 1), 20, 8), EIGHT, 3.0
    ),
    "10,000 steps of 20 x 8, validate=True": (
        lambda share: steps_log(max(int(10_000 * share), 1), 20, 8), EIGHT, 3.0
    ),
    "20,000,000 rows": (lambda share: drawn_log(10, max(int(20_000 * share), 1), 100), EIGHT, 1.1),
    "20,000,000 rows, validate=True": (
        lambda share: drawn_log(10, max(int(20_000 * share), 1), 100), EIGHT, 1.3
    ),
    "10 x 200 x 8": (lambda _: drawn_log(10, 200, 8), EIGHT, None),
    "10 x 200 x 8, 1 % lost": (
        lambda _: drawn_log(10, 200, 8).sample(fraction=0.99, seed=1), EIGHT, None
    ),
    "10 x 200 x 16": (lambda _: drawn_log(10, 200, 16), EIGHT, None),
    "10 x 200 x 16, 5 % lost": (
        lambda _: drawn_log(10, 200, 16).sample(fraction=0.95, seed=1), EIGHT, None
    ),
    "10 x 2,000 x 36": (lambda _: drawn_log(10, 2_000, 36), EIGHT, None),
    "10 x 2,000, n 8 to 64": (lambda _: ragged_log(10, 2_000, 8, 64), EIGHT, 2.0),
    "10 x 2,000, n 8 to 64, avg": (lambda _: ragged_log(10, 2_000, 8, 64), (ps.avg(),), None),
    "10 x 200, n 1 to 300": (lambda _: ragged_log(10, 200, 1, 300), EIGHT, 5.0),
    "4 x 2,000 x 256, k = 128": (lambda _: drawn_log(4, 2_000, 256), (ps.pass_at_k(128),), None),
    "4 x 2,000 x 256, k = 256": (lambda _: drawn_log(4, 2_000, 256), (ps.pass_at_k(256),), None),
    "4 x 500 x 128, k = 64": (lambda _: drawn_log(4, 500, 128), (ps.pass_at_k(64),), None),
    "4 x 500 x 128, k = 1 .. 128": (
        lambda _: drawn_log(4, 500, 128), (ps.pass_at_k(range(1, 129)),), None
    ),
    "2 x 2,000 x 256, k = 1 .. 256": (
        lambda _: drawn_log(2, 2_000, 256), (ps.pass_at_k(range(1, 257)),), None
    ),
    "1 x 128 x 200, k = 64": (lambda _: drawn_log(1, 128, 200), (ps.pass_at_k(64),), None),
    "1 x 128 x 200, k = 1,000,000": (
        lambda _: drawn_log(1, 128, 200), (ps.pass_at_k(10**6),), None
    ),
}  # fmt: skip
# Rows whose time is compared: a row, what it is compared with, and the most that it may take.
BESIDE: list[tuple[str, str, float | None]] = [
    ("10 x 200 x 8, 1 % lost", "10 x 200 x 8", 1.2),
    ("10 x 200 x 16, 5 % lost", "10 x 200 x 16", 1.2),
    ("10 x 2,000, n 8 to 64", "10 x 2,000 x 36", None),
    ("4 x 500 x 128, k = 1 .. 128", "4 x 500 x 128, k = 64", 3.0),
    ("4 x 2,000 x 256, k = 256", "4 x 2,000 x 256, k = 128", 2.0),
]


def calibrated_report(
    log: pl.DataFrame,
    metrics: tuple[ps.Metric, ...] = EIGHT,
    by: str | None = None,
    *,
    validate: bool = False,
) -> pl.DataFrame:
    """A report by the default inference, of eight rows for each model by default."""
    roles = ps.scorio(log.lazy(), validate=validate, by=by)
    return roles.report(*metrics).lazy().collect(engine="streaming")


def calibrated_costs(repeats: int, share: float) -> Iterator[Row]:
    """Calibrated reports beside a bare group_by of a log in memory, and two small calls."""
    taken = {}
    for name, (make, metrics, limit) in CALIBRATED.items():
        log = make(share)
        by = "step" if "step" in log.columns else None
        keys = [*([by] if by else []), "model", "question"]
        bare = log.lazy().group_by(keys).agg(pl.len(), pl.col("category").sum())
        cases = {
            BARE: partial(bare.collect, engine="streaming"),
            "calibrated": partial(
                calibrated_report, log, metrics, by, validate=name.endswith("True")
            ),
        }
        cases["calibrated"]()  # what is kept between calls
        seconds = least(cases, repeats)
        taken[name] = seconds["calibrated"]
        yield Row(name, taken[name], BARE, taken[name] / seconds[BARE], limit)
    for name, other, limit in BESIDE:
        yield Row(name, taken[name], other, taken[name] / taken[other], limit)
    for name, seconds in (
        ("1 x 128 x 200, k = 1,000,000", 0.3),
        ("2 x 2,000 x 256, k = 1 .. 256", 0.5),
    ):
        yield Row(name, taken[name], goal=seconds)
    small, pairs = drawn_log(10, 20, 10), drawn_log(10, 200, 8)
    report = least({"report": partial(calibrated_report, small)}, 20 * repeats)["report"]
    yield Row("report of 2,000 rows", report, goal=0.004)
    compared = ps.scorio(pairs)
    spent = least({"compare": lambda: compared.compare(ps.avg())}, 10 * repeats)["compare"]
    yield Row("compare of 10 x 200 x 8", spent, goal=0.006)
    for models in (100, 400):
        log = drawn_log(models, 250, 16)
        cases = {
            BARE: partial(bare_counts(log.lazy()).collect, engine="streaming"),
            "rank": lambda log=log: ps.scorio(log).rank(ps.avg()),
        }
        seconds = least(cases, repeats)
        ratio = seconds["rank"] / seconds[BARE]
        yield Row(f"rank of {models} x 250 x 16", seconds["rank"], BARE, ratio, 5)


# Sizes of an axis, each of which has a log of so many models, questions and trials, or steps.
GROWTH = {
    "trials of 10 x 2,000": (lambda size: drawn_log(10, 2_000, size), (16, 64, 256)),
    "questions of 10 x 16 trials": (lambda size: drawn_log(10, size, 16), (500, 2_000, 8_000)),
    "steps of 20 x 8": (lambda size: steps_log(size, 20, 8), (100, 1_000, 10_000)),
    "models of 250 x 16": (lambda size: drawn_log(size, 250, 16), (25, 100, 400)),
    "numbers of draws, 4 x 500 x 128": (lambda _: drawn_log(4, 500, 128), (8, 32, 128)),
}


def growth_rates(repeats: int, share: float) -> Iterator[Row]:
    """The power with which CPU grows with each size of a log, by least squares."""
    for axis, (make, sizes) in GROWTH.items():
        cases = {}
        for size in sizes:
            log = make(size if axis.startswith("numbers") else max(int(size * share), 4))
            metrics = (ps.pass_at_k(range(1, size + 1)),) if axis.startswith("numbers") else EIGHT
            by = "step" if "step" in log.columns else None
            cases[f"{size:,}"] = partial(calibrated_report, log, metrics, by)
        for case in cases.values():
            case()
        spent = np.log([*least(cases, repeats).values()])
        power = float(np.polyfit(np.log(sizes), spent, 1)[0])
        named = ", ".join(cases)
        yield Row(f"CPU over {axis} ({named}): power", None, "", power, None)


def bare_counts(log: pl.LazyFrame) -> pl.LazyFrame:
    """The sums that every report needs."""
    return log.group_by("model", "question").agg(pl.len(), pl.col("category").sum())


def curve_costs(repeats: int) -> Iterator[Row]:
    """Whole curves of two models at once, beside one k."""
    log = drawn_log(2, 500, 16)
    asked = {"k = 8": ps.pass_at_k(8), "k = 1 .. 16 at once": ps.pass_at_k(range(1, 17))}
    for target in ("benchmark", "population"):
        compared = ps.scorio(log, target=target)
        cases = {
            f"compare of 2 x 500 x 16, {target}, {k}": partial(compared.compare, metric)
            for k, metric in asked.items()
        }
        (one, alone), (many, together) = least(cases, 10 * repeats).items()
        yield Row(many, together, one, together / alone, 2.0)


def page_costs(repeats: int) -> Iterator[Row]:
    """Pages of one log, which is evaluated for all their sections at once."""
    with TemporaryDirectory(prefix="pages-") as folder:
        for models, questions, limit in ((60, 40, 1.0), (5, 200, 0.15)):
            page = ps.scorio(drawn_log(models, questions, 8)).write_html
            spent = least({"page": partial(page, Path(folder) / "page.html")}, repeats)["page"]
            yield Row(f"page of {models} x {questions} x 8", spent, goal=limit)


def counted_costs(repeats: int, share: float) -> Iterator[Row]:
    """Counts by `count_trials`, and macros, beside a bare query of the same engine."""
    log = drawn_log(10, max(int(20_000 * share), 1), 10)
    cases = {BARE: partial(bare_counts(log.lazy()).collect, engine="streaming")}
    besides, goals = dict[str, str](), dict[str, float]()
    frames: dict[str, tuple[object, float]] = {"": (log, 1.4), " of a LazyFrame": (log.lazy(), 1.5)}
    keys = ["model", "question"]
    if find_spec("pandas"):
        pandas = log.to_pandas()
        frames[" of pandas"] = pandas, 2
        cases["bare pandas"] = lambda: pandas.groupby(keys)["category"].agg(["size", "sum"])
    if find_spec("dask"):
        dask = import_module("dask.dataframe").from_pandas(log.to_pandas(), npartitions=4)
        frames[" of Dask"] = dask, 2
        cases["bare Dask"] = lambda: (
            dask.groupby(keys)["category"].agg(["size", "sum"]).compute(scheduler="threads")
        )
    if find_spec("duckdb"):
        connection = import_module("duckdb").connect()
        connection.register("arrow", log.to_arrow())
        connection.execute("CREATE TABLE counted AS FROM arrow")
        frames[" of DuckDB"] = connection.table("counted"), 2
        query = "SELECT model, question, count(*), sum(category) FROM counted GROUP BY ALL"
        cases["bare DuckDB query"] = lambda: connection.execute(query).to_arrow_table()
    for engine, (frame, goal) in frames.items():
        for sure in (False, True):
            name = f"count_trials{engine}, validate={sure}"
            cases[name] = partial(ps.count_trials, frame, validate=sure)
            bare = f"bare{engine.removeprefix(' of')}" + " query" * ("DuckDB" in engine)
            besides[name], goals[name] = bare if bare in cases else BARE, goal
    counted = least(cases, repeats)
    for name, beside in besides.items():
        ratio = counted[name] / counted[beside]
        yield Row(f"{name}, {log.height:,} rows", counted[name], beside, ratio, goals[name])
    yield from macro_costs(log, repeats)


def spark_costs(repeats: int, share: float) -> Iterator[Row]:
    """Counts by `count_trials` in Spark beside its own groupBy, with the CPU of its JVM."""
    if not (find_spec("pyspark") and which("java")):
        return
    log = drawn_log(10, max(int(20_000 * share), 1), 10)
    own = {"ui.enabled": "false", "ui.showConsoleProgress": "false", "sql.shuffle.partitions": "2"}
    local = {"driver.bindAddress": "127.0.0.1", "driver.host": "127.0.0.1"}
    builder = import_module("pyspark.sql").SparkSession.builder.master("local[2]")
    session = builder.config(map={f"spark.{k}": v for k, v in (own | local).items()}).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    status = Path("/proc", str(session.sparkContext._gateway.proc.pid), "stat")  # noqa: SLF001

    def clock() -> float:
        ticks = status.read_text(encoding="utf-8").rpartition(")")[2].split()[11:13]
        return time.process_time() + sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")

    with TemporaryDirectory(prefix="spark-") as folder:
        log.write_parquet(Path(folder) / "log.parquet")
        frame = session.read.parquet(folder)
        far = frame.withColumn("trial", frame["trial"] + 1_000)
        sums = {"trial": "count", "category": "sum"}
        cases = {
            # A plan of its own each time: Spark keeps what one plan has shuffled.
            "bare Spark": lambda: frame.groupBy("model", "question").agg(sums).toArrow(),
            "validate=False": partial(ps.count_trials, frame, validate=False),
            "validate=True": partial(ps.count_trials, frame),
            "validate=True, ids from 1,000": partial(ps.count_trials, far),
        }
        seconds = least(cases, 5 * repeats, clock)  # the JVM compiles what runs often
    session.stop()
    for name, cpu in [*seconds.items()][1:]:
        ratio, goal = cpu / seconds["bare Spark"], None if "from" in name else 2
        said = f"count_trials of Spark, {name}, {log.height:,} rows"
        yield Row(said, cpu, "bare Spark", ratio, goal)


def macro_costs(log: pl.DataFrame, repeats: int) -> Iterator[Row]:
    """Macros of DuckDB, beside an average there."""
    seconds = dict[str, float]()
    if find_spec("duckdb"):
        connection = import_module("duckdb").connect()
        connection.register("log", log.to_arrow())
        connection.execute(ps.sql.duckdb_macros())
        grouped = (
            "SELECT model, count(category) AS n, sum(category)::BIGINT AS c FROM log "
            "GROUP BY model, question"
        )
        macros = ", ".join(f"question_mean(pass_at_k(n, c, {k}), m)" for k in (1, 2, 4, 8))
        alike = f"SELECT model, n, c, count(*) AS m FROM ({grouped}) GROUP BY ALL"  # noqa: S608 - our own text
        queries = {
            "bare DuckDB": f"SELECT model, avg(c / n) FROM ({grouped}) GROUP BY model",  # noqa: S608 - our own text
            "DuckDB, our macros": f"SELECT model, {macros} FROM ({alike}) GROUP BY model",  # noqa: S608 - our own text
            "DuckDB, our macros for each question": (
                f"SELECT model, {macros} FROM (SELECT *, 1 AS m FROM ({grouped})) GROUP BY model"  # noqa: S608 - our own text
            ),
        }
        asked = {
            name: lambda query=query: connection.execute(query).fetchall()
            for name, query in queries.items()
        }
        seconds |= least(asked, repeats)
    for name, cpu in seconds.items():
        beside = "bare DuckDB" if "DuckDB" in name else BARE
        if name != beside:
            goal = None if "each" in name else 1.2  # each question anew is what it warns of
            yield Row(f"{name}, {log.height:,} rows", cpu, beside, cpu / seconds[beside], goal)


def large_counts(repeats: int) -> Iterator[Row]:
    """Reports of questions with very many trials, from their counts."""
    for n, metrics in ((10**15, (ps.avg(),)), (10**6, EIGHT), (10**6, (ps.pass_at_k(10**6),))):
        c = [n // 3, n // 3 + n // 900, n // 2]
        counts = pl.DataFrame({"model": "m", "question": range(3), "n": n, "c": c})
        log = ps.scorio(ps.from_successes(counts), count="count")
        spent = least({"report": partial(log.report, *metrics)}, repeats)["report"]
        asked = "avg" if n > 10**6 else f"{len(metrics)} metrics of k up to {metrics[-1].k[-1]:,}"
        yield Row(f"3 questions of {n:,} trials, {asked}", spent, goal=2)


def exact_cost_sums(column: str) -> list[pl.Expr]:
    """Sums of costs and of their squares that do not depend on the order of the rows."""
    number = pl.col(column)
    square = number * number * 2.0**46
    exact = {"total": number * 2.0**42, "squares": square, "fine": (square - square.floor()) * 2e9}
    sums = (each.cast(pl.Int64).sum().alias(name) for name, each in exact.items())
    lost = (number.is_null() | number.is_nan()).sum().alias("lost")
    return [*sums, *_ends(column), lost]


def exact_sums(column: str) -> list[pl.Expr]:
    """Sums of rewards that do not depend on the order of the rows: of integers, in two parts."""
    scaled = pl.col(column) * 2.0**22
    parts = scaled.round(), (scaled - scaled.round()) * 2.0**52
    high, low = (part.round().cast(pl.Int64).cast(pl.Int128) for part in parts)
    sums = {"high": high, "low": low, "hh": high * high, "hl": high * low, "ll": low * low}
    return [*_ends(column), *(each.sum().alias(name) for name, each in sums.items())]


def _ends(column: str) -> list[pl.Expr]:
    """Least and largest number."""
    return [pl.col(column).min().alias("least"), pl.col(column).max().alias("largest")]


def float_costs(repeats: int, share: float) -> Iterator[Row]:
    """Reports of costs and of rewards beside bare sums of floats of the same log in memory."""
    log = drawn_log(10, max(int(20_000 * share), 1), 100)
    rng = np.random.default_rng(1)
    log = log.with_columns(
        usd=pl.Series(rng.lognormal(-3, 1, log.height)), reward=pl.Series(rng.random(log.height))
    )
    questions = log.lazy().group_by("model", "question")
    counts = pl.len(), pl.col("category").sum()
    costly = ps.scorio(log.lazy(), validate=False, cost="usd")
    graded = ps.scorio(log.lazy(), validate=False, category="reward")
    plans = {
        BARE: questions.agg(*counts),
        "bare, with exact sums of costs": questions.agg(*counts, *exact_cost_sums("usd")),
        "report of avg and mean_cost": costly.report(ps.avg(), ps.mean_cost()).lazy(),
        "bare sum of rewards": questions.agg(pl.len(), pl.col("reward").sum()),
        "bare, with exact sums of rewards": questions.agg(
            pl.len(), pl.col("reward").null_count().alias("lost"), *exact_sums("reward")
        ),
        "report of avg of rewards": graded.avg().lazy(),
    }
    cases = {name: partial(plan.collect, engine="streaming") for name, plan in plans.items()}
    seconds = least(cases, repeats)
    for name, beside, limit in (
        ("bare, with exact sums of costs", BARE, None),
        ("report of avg and mean_cost", "bare, with exact sums of costs", 1.2),
        ("bare, with exact sums of rewards", "bare sum of rewards", None),
        ("report of avg of rewards", "bare, with exact sums of rewards", 1.2),
    ):
        ratio = seconds[name] / seconds[beside]
        yield Row(f"{name}, {log.height:,} rows", seconds[name], beside, ratio, limit)


def long_draws(repeats: int) -> Iterator[Row]:
    """Draws of a million trials beside those of 64, each from as many states."""
    from examples.validation.kernels import draws_of  # noqa: PLC0415 - what is imported here is nobody's peak

    short, long = 64, 1_000_000
    work = {f"{name}, k = {k:,}": run for k in (short, long) for name, run in draws_of(k).items()}
    seconds = least(work, 3 * repeats)
    for name in draws_of(short):
        spent, base = (seconds[f"{name}, k = {k:,}"] for k in (long, short))
        yield Row(f"{name}, k = {long:,}", spent, f"k = {short}", spent / base, 2)


def run_costs(repeats: int, share: float) -> Iterator[Row]:
    """The checks of a log, and a report about other runs: two reads, one of them of bits."""
    frame = drawn_log(10, max(int(20_000 * share), 1), 10)
    log = frame.lazy()
    counts = pl.len(), pl.col("category").sum()
    cases = {
        BARE: lambda: log.group_by("model", "question").agg(counts).collect(engine="streaming"),
        "report with the check for repeated trials": lambda: log.scorio.avg().collect(),
        "check of a log, by the bits of its runs": lambda: log.scorio.check().collect(),
        "report of runs, by their bits": lambda: log.scorio(run="trial").avg().collect(),
    }
    seconds, limits = least(cases, repeats), (None, 5, 8)
    for (name, cpu), limit in zip([*seconds.items()][1:], limits, strict=True):
        yield Row(f"{name}, {frame.height:,} rows", cpu, BARE, cpu / seconds[BARE], limit)


def id_costs(repeats: int, share: float) -> Iterator[Row]:
    """Two checks of ids 0, ..., n - 1: sums of their hashes, which reports take, and of bits.

    Bits are exact. They cost more at each n, and a word for each 64 runs.
    """
    trial, counts = pl.col("trial"), (pl.len(), pl.col("category").sum())
    for n in (4, 8, 50, 200):
        frame = drawn_log(10, max(int(200_000 * share / n), 1), n)
        bit = pl.lit(2, pl.UInt64).pow((trial % 64).cast(pl.UInt32)).cast(pl.UInt64)
        here = [pl.when(trial // 64 == word).then(bit).otherwise(0) for word in range(-(-n // 64))]
        words = [(each if n > 64 else bit).alias(f"word {i}") for i, each in enumerate(here)]
        checks = {BARE: [], "sums of hashes": [trial.hash().alias("hash")], "sums of bits": words}
        plans = {
            name: frame.lazy()
            .with_columns(each)
            .group_by("model", "question")
            .agg(*counts, *(pl.col(one.meta.output_name()).sum() for one in each))
            for name, each in checks.items()
        }
        collected = {
            name: partial(plan.collect, engine="streaming") for name, plan in plans.items()
        }
        seconds = least(collected, 3 * repeats)
        for name in [*checks][1:]:
            ratio = seconds[name] / seconds[BARE]
            yield Row(f"{name} of ids, n = {n}, {frame.height:,} rows", seconds[name], BARE, ratio)


def log_costs(repeats: int, share: float) -> Iterator[Row]:
    """Reports of logs on the disk, with their peaks of memory, and of long draws."""
    with TemporaryDirectory(prefix="goals-") as temporary:
        for name, rows in ROWS.items():
            # In a process of its own: Linux lets a process inherit the peak of its parent.
            own = [temporary, name, str(int(rows * share))]
            subprocess.run(
                [sys.executable, "-m", "examples.validation.goals", "--write", *own], check=True
            )
        with_other_ids(Path(temporary))
        yield from aggregations(Path(temporary), repeats)
        yield from fits(Path(temporary), repeats, share)
    yield from long_draws(repeats)


def call_costs(repeats: int, share: float) -> Iterator[Row]:
    """Pages, counts, and questions with very many trials."""
    yield from curve_costs(repeats)
    yield from page_costs(repeats)
    yield from counted_costs(repeats, share)
    yield from large_counts(repeats)


PARTS: dict[str, Callable[[int, float], Iterator[Row]]] = {
    "calibrated": calibrated_costs,
    "calls": call_costs,
    "floats": float_costs,
    "growth": growth_rates,
    "ids": id_costs,
    "runs": run_costs,
    "spark": spark_costs,
    "starts": fixed_costs,
    "logs": log_costs,
}


def keep_logs(rows: Sequence[Row]) -> None:
    """Write the table of logs on the disk, with the larger ones that it had before."""
    ratios = {row.call: brief(row.ratio) for row in rows if row.ratio is not None}
    calls = [f"{case}{memory}" for case in (REPORT, CHECKED) for memory in ("", ", peak memory")]
    found = [
        (label, *(ratios.get(f"{name}: {call}") for call in calls)) for name, label in NAMES.items()
    ]
    file = PRINTED / "speed.csv"
    with file.open(encoding="utf-8", newline="") as lines:
        head, *old = csv.reader(lines)
    larger = [row for row in old if row[0].startswith(("100 million", "200 million", "1 billion"))]
    with file.open("w", encoding="utf-8", newline="") as lines:
        csv.writer(lines, lineterminator="\n").writerows([head, *found, *larger])


def main() -> None:
    """Measure everything, but for logs on the disk, or one part."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--share", type=float, default=1.0, help="of the rows; default: 1")
    parser.add_argument("--only", choices=PARTS, help="this part alone")
    parser.add_argument("--repeats", type=int, default=3, help="of everything; default: 3")
    parser.add_argument("--keep", action="store_true", help="write the table; not of other parts")
    parser.add_argument("--peak-of", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--write", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.peak_of:
        folder, name, case = arguments.peak_of
        collected(Path(folder), name, case)()
        print(own_peak())
        return
    if arguments.write:
        folder, name, rows = arguments.write
        write_log(Path(folder) / name, SHAPES[name], int(rows))
        return
    print(f"polars {pl.__version__}\n\n| {' | '.join(Row('', None).cells())} |", flush=True)
    print(f"|{'---|' * len(Row('', None).cells())}")
    asked = [arguments.only] if arguments.only else [part for part in PARTS if part != "logs"]
    rows = []
    for part in asked:
        for row in PARTS[part](arguments.repeats, arguments.share):
            rows.append(row)
            print(f"| {' | '.join(row.cells().values())} |", flush=True)
    if arguments.keep and arguments.only == "logs":
        keep_logs(rows)
    elif arguments.keep and not arguments.only:
        pl.DataFrame([row.cells() for row in rows]).write_csv(PRINTED / "goals.csv")


if __name__ == "__main__":
    main()
