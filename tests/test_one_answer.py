"""A log gets one answer: the same winners, numbers and counts on every surface."""

from collections.abc import Iterator
from typing import Any

import polars as pl
import pytest

from tests.golden.logs import kinds_of_logs, made_log
from tests.one_answer import answers_of, differences

KINDS = {name: (kind.frame, kind.roles) for name, kind in kinds_of_logs().items()}
del KINDS["prior trials"]  # of reports alone
KINDS |= {
    "lower is better": (made_log(3, 40, 4, 1), {"lower_is_better": True}),
    "one model": (made_log(1, 30, 4, 1), {}),
    "missing questions": (
        made_log(3, 30, 4, 1).filter((pl.col("model") != "m1") | (pl.col("question") > 4)),
        {},
    ),
    "missing outcomes": (
        made_log(3, 30, 4, 1).with_columns(pl.when(pl.col("luck") > 0.1).then("category")),
        {"missing": 0},
    ),
    "few questions": (made_log(2, 3, 8, 1), {}),
    "refused": (made_log(2, 10, 4, 1).with_columns(pl.lit("no").alias("category")), {}),
}
QUICK = {"equal trials", "strata", "refused"}


def options_of(roles: dict[str, Any]) -> Iterator[str]:
    """The roles of a log as options of a command."""
    for name, value in roles.items():
        option = f"--{name.replace('_', '-')}"
        if name == "judge":
            for rate in ("sensitivity", "specificity"):
                yield from (f"--{rate}", "{}/{}".format(*getattr(value, rate)))
        elif isinstance(value, tuple):
            yield from (option, *map(str, value))
        else:
            yield from [option] if value is True else (option, str(value))


@pytest.mark.parametrize(
    "kind", [pytest.param(name, marks=[] if name in QUICK else pytest.mark.slow) for name in KINDS]
)
@pytest.mark.filterwarnings("ignore")
def test_every_surface_gives_a_log_the_same_answer(kind, tmp_path):
    frame, roles = KINDS[kind]
    file = tmp_path / "log.parquet"
    frame.drop("luck", strict=False).write_parquet(file)
    found = answers_of(tmp_path, str(file), *options_of(roles))
    assert [*differences(found)] == []
    assert found.refused == dict.fromkeys(("page", "terminal"), kind == "refused")
    if kind != "refused":
        assert len(found.titles) == 5
        assert {"rank", "leaderboard", "page", "CSV"} <= {*found.scores}
    if kind not in {"refused", "one model"}:
        assert {"rank", "compare", "page", "CSV", "JSON", "command of the page"} <= {*found.winners}
        assert {"status", "CSV", "terminal", "page", "report"} <= {*found.gate}
