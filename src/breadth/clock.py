"""Time limits. A solver looks at its clock between two pieces of work and stops when its time is up."""

from __future__ import annotations

import math
import time


class Clock:
    """Counts the seconds that a solver works, and says when a limit is reached.

    Solvers that run in lockstep take turns: each clock then counts the solver's own time, and its share of what all of
    them wait for. `pause` and `resume` are for the driver that does this.
    """

    def __init__(self, limit: float = math.inf) -> None:
        self.limit = limit
        self._spent = 0.0
        self._since: float | None = time.perf_counter()

    @property
    def spent(self) -> float:
        """Seconds of work so far."""
        return self._spent + (0.0 if self._since is None else time.perf_counter() - self._since)

    @property
    def remaining(self) -> float:
        """Seconds until the limit; negative after it."""
        return self.limit - self.spent

    def is_over(self) -> bool:
        """Whether the limit is reached."""
        return self.limit < math.inf and self.spent >= self.limit

    def within(self, seconds: float) -> Clock:
        """A clock for a part of the work that may take `seconds`, and no longer than is left here."""
        return Clock(min(seconds, self.remaining))

    def pause(self) -> None:
        """Stop counting: it is another solver's turn."""
        self._spent, self._since = self.spent, None

    def resume(self, more: float = 0.0) -> None:
        """Go on counting, with `more` seconds added for what was done on the solver's behalf."""
        self._spent, self._since = self._spent + more, time.perf_counter()


NO_LIMIT = Clock()
