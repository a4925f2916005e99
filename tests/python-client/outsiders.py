"""What the attackers know of what they sent: the reader asks it about every batch that is not the producer's."""
from __future__ import annotations

import struct
from collections import Counter
from typing import NamedTuple, Optional

import protocol as p
from verdict import Verdict


class Sent(NamedTuple):
    """A batch that has no answer yet."""

    attack: str
    sequence: int
    payload: p.Payload
    must_be_refused: bool


class Delayed(NamedTuple):
    due: int
    content: bytes


class Outsiders:
    """Lives as long as a data directory, the attackers only as long as a broker."""

    def __init__(self, partitions: int) -> None:
        self.bait_offset = -1  # Where the bait's last large batch is.
        self.letters = 0  # Dead letters that the last reading found,
        self.delivered = 0  # and delayed batches that were delivered.
        self._sent: dict[bytes, Sent] = {}
        self._answers: dict[str, Counter] = {}
        self.acknowledged_ends = [0] * partitions  # One behind the last offset that was acknowledged, by partition.
        self._acknowledged: list[dict[int, Sent]] = [{} for _ in range(partitions)]
        self._found: list[dict[int, Sent]] = []
        self._delayed: list[dict[int, Delayed]] = []
        self._deliveries: list[set] = []

    # --- What was sent

    def sent(self, batch: Sent) -> None:
        self._sent[batch.payload.content] = batch
        self._count(batch, "sent")

    def acknowledged(self, batch: Sent, partition: Optional[int], offset: int, verdict: Verdict) -> None:
        """Partition None is the bait's."""
        self._count(batch, "acknowledged")
        if partition is not None:
            self._acknowledged[partition][offset] = batch
            self.acknowledged_ends[partition] = max(self.acknowledged_ends[partition], offset + batch.payload.count)
        if batch.must_be_refused:
            verdict.add("wrong", f"{batch.attack}: message {batch.sequence} of an attacker was acknowledged, at {offset}")

    def refused(self, batch: Sent, error: str) -> None:
        self._count(batch, error)

    def answered(self, attack: str) -> int:
        """How many batches were answered since the answers were taken."""
        return sum(count for answer, count in self._answers.get(attack, {}).copy().items() if answer != "sent")

    def take_answers(self) -> dict:
        """How many batches were sent and answered since the last time, by attack and answer."""
        taken, self._answers = self._answers, {}
        return taken

    def _count(self, batch: Sent, answer: str) -> None:
        self._answers.setdefault(batch.attack, Counter())[answer] += 1

    # --- What was read

    def begin_reading(self) -> None:
        partitions = range(len(self._acknowledged))
        self._found = [{} for _ in partitions]
        self._delayed = [{} for _ in partitions]
        self._deliveries = [set() for _ in partitions]
        self.letters = self.delivered = 0

    def judge(self, place: str, partition: int, batch: p.Batch, header: bytes, content: bytes, verdict: Verdict) -> None:
        """A batch that the producer did not send."""
        sent = self._sent.get(content)
        right = p.crc32c(content) if sent is None else sent.payload.crc
        if batch.payload_crc != right or batch.kind != p.DATA or batch.producer_id or batch.producer_epoch:
            verdict.add("wrong", f"{place}: nobody may store such a batch: {batch}")
        elif sent is None:
            self._judge_letter(place, batch, content, verdict)
        if sent is None:
            return
        self._found[partition][batch.base_offset] = sent
        if batch.flags & p.HAS_DUE_TIME:
            self._delayed[partition][batch.base_offset] = Delayed(p.extension(header, p.DUE_TIME) or 0, sent.payload.content)
        if batch.flags & p.HAS_ORIGIN:
            self._judge_delivery(place, partition, batch, p.extension(header, p.ORIGIN), sent.payload.content, verdict)

    def find_lost(self, partition: int, verdict: Verdict) -> None:
        for offset, sent in self._acknowledged[partition].items():
            found = self._found[partition].get(offset)
            if found is None or found.payload.content != sent.payload.content:
                verdict.add("lost", f"partition {partition}: what an attacker ({sent.attack}) has had acknowledged at {offset}", sent.payload.count)

    def undelivered(self, before: int) -> int:
        """How many of the delayed batches that the last reading found, due before a time, it did not find delivered."""
        return sum(
            delayed.due < before and offset not in self._deliveries[partition]
            for partition, all_delayed in enumerate(self._delayed) for offset, delayed in all_delayed.items())

    def _judge_delivery(self, place: str, partition: int, batch: p.Batch, origin: Optional[int], content: bytes, verdict: Verdict) -> None:
        delayed = self._delayed[partition].get(-1 if origin is None else origin)
        if delayed is None or delayed.content != content or batch.append_time < delayed.due:
            verdict.add("wrong", f"{place}: delivers what was delayed at {origin}, {delayed and delayed.due}: {batch}")
        elif origin in self._deliveries[partition]:
            verdict.add("duplicated", f"{place}: delivers once more what was delayed at {origin}", batch.count)
        else:
            self._deliveries[partition].add(origin)
            self.delivered += 1

    def _judge_letter(self, place: str, batch: p.Batch, content: bytes, verdict: Verdict) -> None:
        """The broker's own: dead letters, whose bodies are batches of the bait."""
        try:
            for letter in p.records(content[: batch.uncompressed]):
                body = letter.body or b""
                inner = p.read_batch(body)
                sent = self._sent.get(body[inner.header_length : inner.length])
                if sent is None or sent.attack != "letters" or b"lightq-dead-reason" not in letter.headers:
                    raise ValueError("nobody sent its body")
                self.letters += 1
        except (ValueError, struct.error) as error:
            verdict.add("wrong", f"{place}: bytes that nobody sent ({error}): {batch}")
