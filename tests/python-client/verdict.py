"""What is judged, and when."""
from __future__ import annotations

import time


def now() -> int:
    """Unix microseconds."""
    return time.time_ns() // 1000


class Verdict:
    """What should not have happened, counted by the promise that it breaks."""

    def __init__(self) -> None:
        self.counts = {"lost": 0, "duplicated": 0, "refused": 0, "wrong": 0}
        self.texts: list[str] = []

    def add(self, promise: str, text: str, by: int = 1) -> None:
        self.counts[promise] += by
        if sum(known.startswith(promise) for known in self.texts) < 10:
            self.texts.append(f"{promise}: {text}")
