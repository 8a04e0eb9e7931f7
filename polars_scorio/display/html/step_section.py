"""The part of a page on strata along a number or a time, such as the steps of a training."""

from __future__ import annotations

from polars_scorio.display.html import pictures
from polars_scorio.display.html.page import Section
from polars_scorio.display.settings import Settings
from polars_scorio.display.verdict.headline import lead_label
from polars_scorio.display.verdict.log_summary import Look
from polars_scorio.display.verdict.log_verdict import LogVerdict
from polars_scorio.display.verdict.step_verdict import stepped_log

_CURVES = 3  # metrics with a picture along the steps, the leading one first


def steps_section(look: Look, verdict: LogVerdict, settings: Settings) -> Section:
    """Section on the curves along the steps, and on the best step of each line.

    Parameters
    ----------
    look : Look
        The log, whose strata are steps.
    verdict : LogVerdict
        Its verdict, about the last step.
    settings : Settings
        The options of the page.
    """
    (name,) = look.trials.strata
    log, roles = stepped_log(look)
    main = verdict.main
    about = (
        f"{lead_label(main)} along {name}. The numbers of the other sections are those of the last "
        "one: a mean over all of them would have no meaning."
    )
    metrics = [metric.at_first_row() for metric in main.metrics[:_CURVES]]
    figures = pictures.step_figures(log, roles, name, metrics, settings)
    lines = [about, *verdict.best_steps]
    return Section("strata", f"How does it change with {name}?", lines, figures)
