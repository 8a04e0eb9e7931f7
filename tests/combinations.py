"""The guide's table of combinations that are refused. Run: python -m tests.combinations"""

import re
from collections.abc import Mapping, Sequence

from polars_scorio.arguments import Refusal
from polars_scorio.decisions.gate import GATE
from polars_scorio.decisions.models import SAMPLED, UNPAIRED
from polars_scorio.decisions.planner import QUESTIONS_AHEAD, TRIALS
from polars_scorio.decisions.rank import RANK
from polars_scorio.study.errored import BRACKETS
from polars_scorio.study.report import ROWS
from polars_scorio.study.request import BANDS, REPORT
from polars_scorio.subjects.of_verdicts import UNCORRECTED
from tests.documents import ROOT

PAGE = ROOT / "examples" / "guide" / "combinations.md"
HEAD = """# Which options exclude each other?

Some combinations have no answer, because no interval is known for them, or because two options contradict each
other. The call is refused, with the way out:

```python
import polars as pl

import polars_scorio as ps

log = pl.DataFrame({"question": [1, 1], "category": [0, 1]}).scorio(model=None, trial=None)
try:
    log.report(ps.pass_at_k([1, 2]), prior="uniform", simultaneous=True)
except ValueError as error:
    print(error)
```

```text
pass_at_k: simultaneous=True makes one band of several k from calibrated numbers, not from posteriors: omit simultaneous=
```

"""  # noqa: E501 - a line is a paragraph, or what is printed
LISTS: Mapping[str, Sequence[Refusal]] = {
    "all numbers": REPORT,
    "`report`": ROWS,
    "a band of several k": BANDS,
    '`missing="bounds"`': BRACKETS,
    "a judge, `truth=` or `judge=`": UNCORRECTED,
    'models, `target="population"`': SAMPLED,
    'models, `unmatched="unpaired"`': UNPAIRED,
    "`rank`": RANK,
    "`gate`": GATE,
    "`trials_needed`": TRIALS,
    "`questions_needed`": QUESTIONS_AHEAD,
}
WORDS = {"role": "truth", "planned": "planned_trials"}


def cell(text: str) -> str:
    """A text of a message in a table, with options as code."""
    said = text.format(**WORDS).replace("|", r"\|")
    return re.sub(r'(?<!`)(ps\.\w+(\(\))?|\w+="\w+"|\w+=(True|False)?)(?!\w)', r"`\1`", said)


def page() -> str:
    """The whole page."""
    rows = [
        f"| {title} | {cell(row.what)} | {cell(row.way_out)} |"
        for title, rows in LISTS.items()
        for row in rows
    ]
    return HEAD + "\n".join(
        ["| asked of | what is refused | the way out |", "|---|---|---|", *rows, ""]
    )


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
