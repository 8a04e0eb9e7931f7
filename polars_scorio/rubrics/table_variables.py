"""The variables of table 4 as expressions, from which the schemata build their conditions."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from polars_scorio.rubrics.reading import Reading
from polars_scorio.rubrics.rubric import At


@dataclass(frozen=True, slots=True, eq=False)
class Variables:
    """The variables of table 4 as conditions on a row, with the levels of a `Reading`.

    Attributes
    ----------
    reading : Reading
        Columns of the signals, and levels.
    at : callable
        From the name of a threshold and the expression of its percentile to what is compared.
    """

    reading: Reading
    at: At

    @property
    def invalid(self) -> pl.Expr:
        """Degenerate repetition, or the verifier finds it off-task: C >= invalid_at."""
        off_task = self.reading.signal("C") >= self.reading.invalid_at
        return self.reading.flag("repeated_pattern") | off_task

    @property
    def correct(self) -> pl.Expr:
        """is_correct is 1."""
        return self.reading.flag("is_correct")

    @property
    def wrong(self) -> pl.Expr:
        """is_correct is 0."""
        return ~self.correct

    @property
    def boxed(self) -> pl.Expr:
        """has_box is 1."""
        return self.reading.flag("has_box")

    @property
    def unboxed(self) -> pl.Expr:
        """has_box is 0."""
        return ~self.boxed

    @property
    def high_conf(self) -> pl.Expr:
        """completion_bpt <= its percentile 40."""
        return self._at_most("completion_bpt", "high_conf")

    @property
    def low_conf(self) -> pl.Expr:
        """Not high_conf."""
        return ~self.high_conf

    @property
    def wrong_high_conf(self) -> pl.Expr:
        """Wrong, and completion_bpt <= its percentile 60 among wrong attempts."""
        return self.wrong & self._at_most("completion_bpt", "wrong_high_conf")

    @property
    def wrong_low_conf(self) -> pl.Expr:
        """Wrong, and not wrong_high_conf."""
        return self.wrong & ~self._at_most("completion_bpt", "wrong_high_conf")

    @property
    def correct_high_conf(self) -> pl.Expr:
        """Correct, and completion_bpt <= its percentile 33 among correct attempts."""
        return self.correct & self._at_most("completion_bpt", "correct_high_conf")

    @property
    def correct_mid_conf(self) -> pl.Expr:
        """Correct, and between correct_high_conf and correct_low_conf."""
        above = ~self._at_most("completion_bpt", "correct_high_conf")
        return self.correct & above & self._at_most("completion_bpt", "correct_mid_conf")

    @property
    def correct_low_conf(self) -> pl.Expr:
        """Correct, and completion_bpt > its percentile 66 among correct attempts."""
        return self.correct & ~self._at_most("completion_bpt", "correct_mid_conf")

    @property
    def ood(self) -> pl.Expr:
        """prompt_bpt >= its percentile 90."""
        return self.reading.signal("prompt_bpt") >= self._threshold("ood")

    @property
    def ind(self) -> pl.Expr:
        """Not ood."""
        return ~self.ood

    @property
    def economical(self) -> pl.Expr:
        """token_ratio <= its percentile 33."""
        return self._at_most("token_ratio", "economical")

    @property
    def moderate(self) -> pl.Expr:
        """Between economical and verbose."""
        return ~self.economical & self._at_most("token_ratio", "moderate")

    @property
    def verbose(self) -> pl.Expr:
        """token_ratio > its percentile 66."""
        return ~self._at_most("token_ratio", "moderate")

    @property
    def correct_economical(self) -> pl.Expr:
        """Correct, and token_ratio <= its percentile 33 among correct attempts."""
        return self.correct & self._at_most("token_ratio", "correct_economical")

    @property
    def correct_moderate(self) -> pl.Expr:
        """Correct, and between correct_economical and correct_verbose."""
        above = ~self._at_most("token_ratio", "correct_economical")
        return self.correct & above & self._at_most("token_ratio", "correct_moderate")

    @property
    def correct_verbose(self) -> pl.Expr:
        """Correct, and token_ratio > its percentile 66 among correct attempts."""
        return self.correct & ~self._at_most("token_ratio", "correct_moderate")

    @property
    def A_high(self) -> pl.Expr:  # noqa: N802 - the name in the table
        """The verifier finds it correct: A >= A_high_at."""
        return self.reading.signal("A") >= self.reading.A_high_at

    @property
    def A_low(self) -> pl.Expr:  # noqa: N802 - as above
        """Not A_high."""
        return ~self.A_high

    @property
    def high_B(self) -> pl.Expr:  # noqa: N802 - as above
        """The verifier finds it wrong rather than off-task: B >= C."""
        return self.reading.signal("B") >= self.reading.signal("C")

    def _at_most(self, signal: str, threshold: str) -> pl.Expr:
        return self.reading.signal(signal) <= self._threshold(threshold)

    def _threshold(self, name: str) -> pl.Expr:
        return self.at(name, self.reading.percentiles()[name])
