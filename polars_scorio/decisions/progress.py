"""A word on what takes long."""

from __future__ import annotations

from threading import Lock, Timer
from types import TracebackType
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from typing_extensions import Self

_PATIENCE = 2.0  # seconds


class Progress:
    """Says what is being done, once it takes longer than two seconds.

    Parameters
    ----------
    stream : file
        Where it says so.

    Examples
    --------
    >>> import sys
    >>> with Progress(sys.stdout) as progress:
    ...     progress.tell("what is done at once")
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream, self._step, self._late, self._lock = stream, "", False, Lock()
        self._timer = Timer(_PATIENCE, self._wake)
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
                self._say()

    def _wake(self) -> None:
        with self._lock:
            self._late = True
            self._say()

    def _say(self) -> None:
        print(f"{self._step} ...", file=self._stream, flush=True)
