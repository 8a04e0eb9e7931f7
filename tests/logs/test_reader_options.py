"""The roles and the help that all readers share."""

import polars as pl
import pytest

from polars_scorio.logs.reader_options import log_accessor, log_reader, reward_outcome


def test_roles_of_the_user_replace_those_of_the_reader():
    columns = {"model": "m", "question": 1, "step": [1, 2], "category": [0, 1]}
    frame = pl.DataFrame({**columns, "run": "r", "source": "r.json"})
    log = log_accessor(frame, {}, {"by": None}, by="step", trial=None)
    assert log.avg()["estimate"].to_list() == [0.5]
    assert log_accessor(frame, {}, {}, by="step", trial=None).avg()["estimate"].to_list() == [0, 1]


@pytest.mark.parametrize("nothing", [None, float("nan"), float("inf"), -float("inf")])
def test_a_reward_that_is_no_finite_number_is_null(nothing):
    rewards = pl.DataFrame({"reward": [0.5, nothing, 0.2]})
    assert rewards.select(reward_outcome(0.5)).to_series().to_list() == [True, None, False]
    assert rewards.select(reward_outcome(None)).to_series().to_list() == [0.5, None, 0.2]


def test_help_has_what_a_reader_shares_and_what_it_adds():
    @log_reader
    def tool(paths, *, model=None, **roles):
        """A tool.

        Parameters
        ----------
        model
            Default: the folder.

        Raises
        ------
        ValueError
            If it has no header.
        """

    for part in ("Files, folders", "Default: the folder.", "If it has no header.", "is empty, "):
        assert part in tool.__doc__
