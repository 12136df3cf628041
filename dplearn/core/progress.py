"""A line that shows the progress of a run."""

import sys
import time
from collections.abc import Callable

_PAUSE = 0.2  # seconds between two updates of the line


class ProgressLine:
    """A line on the error stream, overwritten at most five times a second if `shown`."""

    def __init__(self, shown: bool) -> None:
        self._shown, self._due = shown, 0.0

    def show(self, text: Callable[[], str], *, last: bool) -> None:
        """Overwrite the line if an update is due; always write and end the last one."""
        if self._shown and (last or time.monotonic() >= self._due):
            self._due = time.monotonic() + _PAUSE
            end = "\n" if last else ""
            print("\r" + text().ljust(100), end=end, file=sys.stderr, flush=True)
