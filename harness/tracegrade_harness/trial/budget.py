"""The budget of a run: each trial reserves its highest possible cost before it starts."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tracegrade_harness.trial.spending import PICO


class Reservation:
    """The money of one trial, or of one kill."""

    def __init__(self, budget: "Budget", reserved: int) -> None:
        self._budget = budget
        self.left = reserved

    def spend(self, pico_usd: int) -> None:
        """Count a cost, in millionths of a millionth of a US dollar, from any thread."""
        self._budget.spend(self, pico_usd)


class Budget:
    """The money of a run; usable from any thread."""

    def __init__(self, max_usd: float | None, keep: Callable[[int], None], spent: int = 0) -> None:
        """Begin.

        Args:
            max_usd: The most that the run may cost in all of its harnesses together; None for no
                limit.
            keep: Stores each cost as it arises, in millionths of a millionth of a US dollar.
            spent: The cost so far.
        """
        self.max_usd = max_usd
        self._keep = keep
        self._spent = spent
        self._open: list[Reservation] = []
        self._changed = threading.Condition()

    @property
    def spent_usd(self) -> float:
        """The cost so far."""
        return self._spent / PICO

    @contextmanager
    def reserve(self, usd: float | None) -> Iterator[Reservation | None]:
        """Wait for enough money, and provide a reservation; None if there will never be enough.

        Args:
            usd: The most that may be spent of it; None for a run that may cost any amount.
        """
        reservation = Reservation(self, round((usd or 0) * PICO))
        with self._changed:
            self._changed.wait_for(lambda: self._has(reservation) or not self._open)
            opened = self._has(reservation)
            if opened:
                self._open.append(reservation)
        try:
            yield reservation if opened else None
        finally:
            with self._changed:
                if opened:
                    self._open.remove(reservation)
                self._changed.notify_all()

    def why_not(self, usd: float | None) -> str:
        """Return why there is no reservation for a trial."""
        left = (self.max_usd or 0) - self.spent_usd
        fact = f"${max(left, 0):.4f} of ${self.max_usd or 0:.4f} are left"
        return f"max_usd: {fact}, and it may cost ${usd or 0:.4f}; give a greater --max-usd"

    def spend(self, reservation: Reservation, pico_usd: int) -> None:
        """Count a cost of a trial with a reservation."""
        with self._changed:
            self._spent += pico_usd
            reservation.left = max(reservation.left - pico_usd, 0)
        self._keep(pico_usd)

    def _has(self, reservation: Reservation) -> bool:
        if self.max_usd is None:
            return True
        reserved = sum(each.left for each in self._open)
        return self._spent + reserved + reservation.left <= self.max_usd * PICO
