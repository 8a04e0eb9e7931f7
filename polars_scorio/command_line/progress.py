"""A message about work that takes long."""

from __future__ import annotations

from threading import Lock, Timer
from types import TracebackType
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from typing_extensions import Self

_PATIENCE = 2.0  # seconds


class Progress:
    """Print the current step, once the work takes longer than two seconds.

    Parameters
    ----------
    stream : file
        File to print to.

    Examples
    --------
    >>> import sys
    >>> with Progress(sys.stdout) as progress:
    ...     progress.tell("what is done at once")
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream, self._step, self._late, self._lock = stream, "", False, Lock()
        self._timer = Timer(_PATIENCE, self._start_printing)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._timer.cancel()
        self._timer.join()

    def tell(self, step: str) -> None:
        """Say that a step begins."""
        with self._lock:
            self._step = step
            if self._late:
                self._print_step()

    def _start_printing(self) -> None:
        with self._lock:
            self._late = True
            self._print_step()

    def _print_step(self) -> None:
        print(f"{self._step} ...", file=self._stream, flush=True)
