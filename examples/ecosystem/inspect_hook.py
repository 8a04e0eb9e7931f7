"""A page with intervals after each run of inspect_ai.

Needs polars-scorio[report] and inspect-ai. Put `import inspect_hook` into the file of
your tasks; then `inspect eval sums.py --epochs 8` writes `<run id>.html` beside the logs.
"""

from pathlib import Path

from inspect_ai.hooks import Hooks, RunEnd, hooks

import polars_scorio as ps


@hooks(name="scorio_report", description="Writes a page with intervals after each run")
class ScorioReport(Hooks):
    """Write one page about all models and tasks of a run."""

    async def on_run_end(self, data: RunEnd) -> None:
        """Read the logs of the run that ended well, and write the page beside them."""
        paths = [Path(log.location) for log in data.logs if log.status == "success"]
        if paths:
            # Samples without a score, because they crashed, count as failures.
            log = ps.logs.inspect_ai(paths, success="C", missing="I")
            log.write_html(paths[0].parent / f"{data.run_id}.html", ps.avg(), title="This run")
