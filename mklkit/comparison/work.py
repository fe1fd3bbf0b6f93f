"""How far the runs of a comparison are, and what ends them early."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic

import attrs

from mklkit.comparison.methods import Method
from mklkit.display.progress import Report, SpokenReport

KEYBOARD, TIME = "keyboard", "time"
"""What may end a comparison early."""


class _TimeOver(Exception):
    """No more runs may begin."""


@attrs.define(kw_only=True)
class Work:
    """How far all runs of a comparison are, and what has ended them.

    A ``capped`` baseline that takes most of the time of the first split is omitted later.
    """

    total: int
    limit: float
    tell: Report
    capped: bool
    done: int = 0
    _ended: str | None = None
    start: float = attrs.field(factory=monotonic)
    first_done: float = 0.0

    def ended(self, *by: str) -> bool:
        """Return whether the work has ended early, in any way or one of these."""
        return self._ended in by if by else self._ended is not None

    def begin(self, method: Method) -> None:
        """Tell which method runs next; after the limit, none does."""
        if self.done and monotonic() - self.start > self.limit:
            raise _TimeOver
        self.tell(self.done, self.total, method.name)

    def say(self, text: str) -> None:
        """Pass a sentence on to whoever shows the progress, if it shows sentences."""
        if text and isinstance(self.tell, SpokenReport):
            self.tell.say(text)

    @contextmanager
    def until_ended(self) -> Iterator[None]:
        """Remember what ends the block early; before the first run, an interruption is raised."""
        try:
            yield
        except _TimeOver:
            self._ended = TIME
        except KeyboardInterrupt:
            if not self.done:
                raise
            self._ended = KEYBOARD
