"""Those who take part: a producer with a name that keeps a log of what it sent, and a reader that holds what the broker gives back against that log."""
from __future__ import annotations

import random
import struct
from typing import Callable, Optional

import protocol as p
from outsiders import Outsiders
from verdict import Verdict, now


class SentBatch:
    """One batch of the producer: what it sent, what it was told, and when it was last seen."""

    __slots__ = ("sequence", "timestamp", "payload", "offset", "is_stored", "seen_in")

    def __init__(self, sequence: int, timestamp: int, payload: p.Payload):
        self.sequence = sequence
        self.timestamp = timestamp
        self.payload = payload
        self.offset = -1  # Where it was acknowledged.
        self.is_stored = False  # Acknowledged, or told stored when the producer was opened.
        self.seen_in = 0  # The reading of the log that last found it.

    def __str__(self) -> str:
        return f"messages {self.sequence} to {self.sequence + self.payload.count - 1}, acknowledged at {self.offset}"


class ProducerLog:
    """What the producer knows of one partition."""

    def __init__(self, partition: int):
        self.partition = partition
        self.batches: list[SentBatch] = []
        self.by_content: dict[bytes, SentBatch] = {}
        self.settled = 0  # So many of the batches are stored for certain: acknowledgements come in their order.
        self.acknowledged_end = 0  # One behind the last offset that was acknowledged.
        self.stream = 0
        self.opened: Optional[p.ProducerOpened] = None

    @property
    def next_sequence(self) -> int:
        return self.batches[-1].sequence + self.batches[-1].payload.count if self.batches else 0

    @property
    def settled_sequence(self) -> int:
        """One behind the last message that is stored for certain."""
        return self.batches[self.settled].sequence if self.settled < len(self.batches) else self.next_sequence

    def add(self, payload: p.Payload) -> SentBatch:
        batch = SentBatch(self.next_sequence, now(), payload)
        self.batches.append(batch)
        self.by_content[payload.content] = batch
        return batch


class NamedProducer:
    """Publishes to all partitions under one name, over any number of connections, and keeps its log of it."""

    UNDER_WAY = 8  # Batches of a stream, of 6 KiB at most: no window is as small as that.

    def __init__(self, topic: str, partitions: int, name: str, dice: random.Random, verdict: Verdict):
        self.topic = topic
        self.name = name
        self.logs = [ProducerLog(partition) for partition in range(partitions)]
        self.acknowledged = 0  # Messages.
        self.resent = 0  # Messages.
        self._dice = dice
        self._verdict = verdict
        self._instance = dice.getrandbits(64) | 1
        self._mark = dice.randbytes(8)
        self._keys: list[list[bytes]] = [[] for _ in range(partitions)]
        for number in range(64 * partitions):
            key = b"key-%d" % number
            self._keys[p.crc32c(key) % partitions].append(key)
        self._connection: Optional[p.Connection] = None
        self._streams: dict[int, ProducerLog] = {}

    def open(self, connection: p.Connection) -> None:
        """Opens all partitions, compares what the broker says is stored with the log, and sends again what was not acknowledged."""
        self._connection = connection
        self._streams = {}
        for log in self.logs:
            returning = log.opened is not None or log.partition > 0
            log.stream = connection.new_stream()
            request = p.open_producer(log.stream, log.stream, self.topic, log.partition, 0, self.name, self._instance, returning)
            log.opened = p.ProducerOpened.read(connection.ask(request, p.PRODUCER_OPENED).body)
            self._streams[log.stream] = log
            if log.opened.partitions != len(self.logs) or log.opened.partition != log.partition:
                self._verdict.add("wrong", f"opened partition {log.partition} of {len(self.logs)} and got {log.opened}")
        for log in self.logs:
            self._resume(log)

    def publish_until(self, is_done: Callable[[], bool]) -> None:
        """Publishes until it is told to stop, or the broker is gone."""
        assert self._connection
        while not is_done():
            out = b"".join(self._make(log) for log in self.logs for _ in range(self.UNDER_WAY - (len(log.batches) - log.settled)))
            if out:
                self._connection.send(out)
            self._take(self._connection.receive())
            while (frame := self._connection.poll(0)) is not None:
                self._take(frame)

    def settle(self) -> None:
        """Waits until everything that was sent is acknowledged."""
        assert self._connection
        while any(log.settled < len(log.batches) for log in self.logs):
            self._take(self._connection.receive())

    def _resume(self, log: ProducerLog) -> None:
        assert self._connection and log.opened
        told = log.opened.next_sequence
        if told < log.settled_sequence:
            text = f"partition {log.partition}: the broker says that the next message is {told}, acknowledged are those before {log.settled_sequence}"
            self._verdict.add("lost", text, log.settled_sequence - told)
        elif told > log.next_sequence:
            self._verdict.add("wrong", f"partition {log.partition}: the broker says that the next message is {told}, sent were those before {log.next_sequence}")
        elif told not in {batch.sequence for batch in log.batches[log.settled :]} | {log.next_sequence}:
            self._verdict.add("wrong", f"partition {log.partition}: the broker says that the next message is {told}, in the middle of a batch")
        # Either everything again, which the broker tells from new batches by their numbers, or only what it says that it has not got.
        if self._dice.random() < 0.5:
            while log.settled < len(log.batches) and log.batches[log.settled].sequence < told:
                log.batches[log.settled].is_stored = True
                log.settled += 1
        rest = log.batches[log.settled :]
        self.resent += sum(batch.payload.count for batch in rest)
        if rest:
            self._connection.send(b"".join(self._publish(log, batch) for batch in rest))

    def _make(self, log: ProducerLog) -> bytes:
        count = self._dice.randrange(20, 51)
        first = log.next_sequence
        run = []
        for sequence in range(first, first + count):
            body = struct.pack("<8sIQ", self._mark, log.partition, sequence) + self._dice.randbytes(self._dice.randrange(20, 61))
            key = self._dice.choice(self._keys[log.partition]) if self._dice.random() < 0.5 else None
            run.append(p.record(body, key))
        return self._publish(log, log.add(p.Payload.of(b"".join(run), count)))

    def _publish(self, log: ProducerLog, batch: SentBatch) -> bytes:
        assert log.opened
        sealed = p.seal(batch.payload, batch.sequence, batch.timestamp, producer_id=log.opened.producer_id, producer_epoch=log.opened.producer_epoch)
        return p.publish(log.stream, sealed)

    def _take(self, frame: p.Frame) -> None:
        log = self._streams.get(frame.stream)
        if log is None:
            return  # Of a stream that has ended.
        if frame.type == p.PUBLISH_ACK:
            for acked in p.read_ack(frame.body)[1]:
                self._take_range(log, acked)
        elif frame.type == p.CLOSED:
            raise p.BrokerError(*p.read_close(frame.body))

    def _take_range(self, log: ProducerLog, acked: p.AckRange) -> None:
        if acked.error:
            raise p.BrokerError(acked.error, f"messages from {acked.first} on of partition {log.partition}")
        while log.settled < len(log.batches) and log.batches[log.settled].sequence < acked.first + acked.count:
            batch = log.batches[log.settled]
            if batch.sequence < acked.first:
                self._verdict.add("wrong", f"partition {log.partition}: an ack from {acked.first} on passes over {batch}")
            batch.offset = acked.offset + batch.sequence - acked.first
            batch.is_stored = True
            log.settled += 1
            log.acknowledged_end = batch.offset + batch.payload.count
            self.acknowledged += batch.payload.count


class Place:
    """Where the reader is in a partition."""

    def __init__(self, log: ProducerLog):
        self.log = log
        self.next_offset = 0
        self.sequence = 0  # Of the producer's next message.
        self.time = 0  # When the batch before was appended.

    def __str__(self) -> str:
        return f"partition {self.log.partition}, offset {self.next_offset}"


class Reader:
    """Reads a partition from its first offset up to the end that Subscribed names, and judges every batch."""

    def __init__(self, producer: NamedProducer, outsiders: Outsiders, verdict: Verdict):
        self._producer = producer
        self._outsiders = outsiders
        self._verdict = verdict
        self._known: list[dict[int, bytes]] = [{} for _ in producer.logs]  # Headers by offset: what was read once never changes.
        self._readings = 0
        self.read = 0  # Messages, of everybody.
        self.bytes = 0

    def read_all(self, port: int) -> None:
        """Reads all partitions of the topic, over a connection of its own."""
        self._readings += 1
        self._outsiders.begin_reading()
        connection = p.Connection(port, "reader")
        for log in self._producer.logs:
            try:
                self._read(connection, log)
            except p.BrokerError as error:
                self._verdict.add("refused", f"{self._producer.topic}, partition {log.partition}: {error}")
                continue
            self._find_lost(log)
            self._outsiders.find_lost(log.partition, self._verdict)
        connection.close()

    def _read(self, connection: p.Connection, log: ProducerLog) -> None:
        stream = connection.new_stream()
        subscribed = p.Subscribed.read(connection.ask(p.subscribe(stream, stream, self._producer.topic, log.partition), p.SUBSCRIBED).body)
        connection.send(p.credit(stream, 0xFFFFFFFF))
        place = Place(log)
        while place.next_offset < subscribed.end_offset:
            frame = connection.receive()
            if frame.stream != stream:
                continue  # What came behind the end of the partition before.
            if frame.type == p.GAP:
                first, last, reason = p.read_gap(frame.body)
                self._verdict.add("wrong", f"{place}: a gap from {first} to {last}: {p.GAP_REASONS[reason]}")
                place.next_offset = last + 1
            elif frame.type == p.CLOSED:
                raise p.BrokerError(*p.read_close(frame.body))
            elif frame.type == p.DELIVER:
                self._take_run(place, frame.body)
        connection.send(p.close(stream))

    def _take_run(self, place: Place, run: bytes) -> None:
        at = 0
        while at < len(run):
            batch = p.read_batch(run, at)
            header = run[at : at + batch.header_length]
            content = run[at + batch.header_length : at + batch.length]
            at += batch.length
            if batch.base_offset != place.next_offset or batch.append_time < place.time:
                self._verdict.add("wrong", f"{place}: here is, or before {place.time} was appended: {batch}")
            self._check(place, batch, header)
            self._judge(place, batch, header, content)
            place.next_offset, place.time = batch.next_offset, batch.append_time
            self.read += batch.count
            self.bytes += batch.length

    def _check(self, place: Place, batch: p.Batch, header: bytes) -> None:
        before = self._known[place.log.partition].setdefault(batch.base_offset, header)
        if before is header:
            if p.header_crc(header) != batch.header_crc:
                self._verdict.add("wrong", f"{place}: the header's checksum is wrong: {batch}")
        elif before != header:
            self._verdict.add("wrong", f"{place}: was {before.hex()} when it was read before, and is {header.hex()}")

    def _judge(self, place: Place, batch: p.Batch, header: bytes, content: bytes) -> None:
        """Whose batch it is, and whether it may be there. Where the bytes are those that were sent, so is their checksum."""
        sent = place.log.by_content.get(content)
        if sent is None:
            self._outsiders.judge(str(place), place.log.partition, batch, header, content, self._verdict)
            return
        if sent.seen_in == self._readings:
            self._verdict.add("duplicated", f"{place}: again {sent}", sent.payload.count)
            return
        sent.seen_in = self._readings
        payload, opened = sent.payload, place.log.opened
        expected = (payload.crc, 0, payload.count, payload.count, payload.uncompressed, sent.timestamp, opened and opened.producer_id, sent.sequence)
        found = (batch.payload_crc, batch.flags, batch.count, batch.span, batch.uncompressed, batch.timestamp, batch.producer_id, batch.base_sequence)
        if found != expected or sent.offset not in (-1, batch.base_offset):
            self._verdict.add("wrong", f"{place}: is {batch}, sent was {sent}")
        if batch.base_sequence != place.sequence:
            self._verdict.add("wrong", f"{place}: message {batch.base_sequence} of the producer is where {place.sequence} is due")
        place.sequence = batch.base_sequence + batch.count

    def _find_lost(self, log: ProducerLog) -> None:
        for batch in log.batches:
            if batch.is_stored and batch.seen_in != self._readings:
                self._verdict.add("lost", f"partition {log.partition}: {batch}", batch.payload.count)
