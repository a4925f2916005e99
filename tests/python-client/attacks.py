"""A publisher with the right to publish and bad intentions: every frame that it sends is one that the protocol lets it send."""
from __future__ import annotations

import random
import threading
import time
import traceback
import zlib
from collections import deque
from typing import TYPE_CHECKING, Optional

import protocol as p
from outsiders import Outsiders, Sent
from verdict import Verdict, now

if TYPE_CHECKING:
    from roles import NamedProducer

ATTACKS = ("crc", "ids", "headers", "delayed", "compressed", "letters")
GROUP = "undertakers"
DAY = 86_400_000_000  # Microseconds.


def deflate(run: bytes, level: int = 9) -> bytes:
    """Without a wrapper."""
    packer = zlib.compressobj(level, zlib.DEFLATED, -15)
    return packer.compress(run) + packer.flush()


class Forger:
    """Makes bytes that look like batches of the log."""

    EMPTY = p.Payload.of(p.record(b""), 1)

    def __init__(self, dice: random.Random):
        self._dice = dice
        self._seen: list[bytes] = []

    def see(self, header: bytes) -> None:
        """A header of the log itself, to be copied."""
        if len(header) % p.ALIGNMENT == 0:
            self._seen = self._seen[-63:] + [header]

    def chain(self, first_offset: int, epoch: int, count: int) -> bytes:
        """So many whole batches, each chained to the one before, that would prove that everything before them had been durable."""
        run, previous = [], self._copied().header_crc
        mac = self._dice.choice((0, self._copied().mac, self._dice.getrandbits(64)))
        for offset in range(first_offset, first_offset + count):
            batch = p.seal(
                self.EMPTY, offset, now(), base_offset=offset, append_time=now(), leader_epoch=epoch, previous_crc=previous,
                durable_back=self._dice.choice((0, 0, 1)), mac=mac)
            previous = p.read_batch(batch).header_crc
            run.append(batch)
        return b"".join(run)

    def _copied(self) -> p.Batch:
        """A header of the log's own; one of zeros where none was seen."""
        return p.Batch._make(p.BATCH.unpack_from(self._dice.choice(self._seen or [bytes(p.BATCH.size)])))

    def records(self, end_offset: int, epoch: int, size: int) -> tuple[list[bytes], int]:
        """Records with forged and copied batches in bodies, keys and headers, all where a batch of the log could begin; and how many records."""
        made, length = [], 0
        while length < size:
            ahead = self._dice.choice((0, 1, 2, 1_000, 100_000, 1 << 32))
            forged = self.chain(end_offset + ahead, self._dice.choice((epoch, epoch + 1)), self._dice.choice((1, 2, 2, 20)))
            form = self._dice.randrange(8)
            if form == 0:
                run = p.record(forged, key=forged[: p.BATCH.size])
            elif form == 1:
                run = p.record(forged, headers=b"\x05batch" + len(forged).to_bytes(2, "little") + forged)
            elif form == 2 and self._seen:
                run = p.record(b"".join(self._seen))
            else:
                run = p.record(forged)
            made.append(run)
            length += len(run)
        return made, len(made)


class Stream:
    """One of the attackers' producer streams: of one attack, on one partition."""

    def __init__(self, attack: str, topic: str, partition: int):
        self.attack = attack
        self.topic = topic
        self.partition = partition
        self.id = 0  # 0 is closed.
        self.is_open = False
        self.next_sequence = 0
        self.unanswered: deque[Sent] = deque()


class Attacker(threading.Thread):
    """Attacks a broker for as long as that lives. Every attack has a stream for each partition, and its turn every millisecond."""

    TURN = 0.001  # Seconds.
    SIZES = (200, 1_000, 1_000, 4_000, 4_000, 70_000)  # Bytes of payloads with forged headers; the last are made once.

    def __init__(self, port: int, bait: str, attacks: list[str], victim: NamedProducer, outsiders: Outsiders, dice: random.Random, verdict: Verdict):
        super().__init__(name="attacker", daemon=True)
        self._port = port
        self._bait = bait
        self._attacks = attacks
        self._victim = victim
        self._outsiders = outsiders
        self._dice = dice
        self._verdict = verdict
        self._forger = Forger(dice)
        self._made: dict[int, dict[int, p.Payload]] = {}  # Forged payloads by partition and size.
        self._streams = [Stream(attack, victim.topic, log.partition) for attack in attacks if attack != "letters" for log in victim.logs]
        self._by_id: dict[int, Stream] = {}
        self._listening = self._undertaking = 0

    def run(self) -> None:
        try:
            self._connection = p.Connection(self._port, "mallory")
            self._prepare()
            while True:
                # All at once, so that they meet in one write of the broker.
                self._connection.send(b"".join(self._turn(stream) for stream in self._streams))
                end = time.monotonic() + self.TURN
                while (left := end - time.monotonic()) > 0:
                    frame = self._connection.poll(left)
                    if frame is not None:
                        self._take(frame)
        except ConnectionError:
            pass  # The broker is gone.
        except p.BrokerError as error:
            self._verdict.add("refused", f"an attacker: {error}")
        except Exception:  # A thread's errors would go nowhere else.
            self._verdict.add("wrong", f"the attackers have failed: {traceback.format_exc()}")

    # --- Streams and frames

    def _prepare(self) -> None:
        if "headers" in self._attacks:
            self._listening = self._connection.new_stream()
            self._connection.ask(p.subscribe(self._listening, self._listening, self._victim.topic, 0, start=p.LATEST), p.SUBSCRIBED)
            self._connection.send(p.credit(self._listening, 1 << 16))
        if "letters" in self._attacks:
            self._raise_bait()
            self._undertaking = self._connection.new_stream()
            # Where the group exists, it goes on where it was.
            request = p.subscribe(self._undertaking, self._undertaking, self._bait, 0, start=p.LATEST, group=GROUP, settle=p.EXPLICIT)
            self._connection.ask(request, p.SUBSCRIBED)
            self._connection.send(p.credit(self._undertaking, 1 << 30))
            self._streams.append(Stream("letters", self._bait, 0))

    def _raise_bait(self) -> None:
        """Offsets of the bait are far beyond those of the topic that its dead letters go to: each batch counts two million messages."""
        if self._outsiders.bait_offset >= 0:
            return
        stream = self._connection.new_stream()
        self._connection.ask(p.open_producer(stream, stream, self._bait, 0), p.PRODUCER_OPENED)
        many = p.Payload.packed(bytes(65_536), 1 << 21, 1 << 24, p.DEFLATE)
        for number in range(4):
            self._connection.send(p.publish(stream, p.seal(many, number << 21, now())))
        while self._outsiders.bait_offset < 3 << 21:
            frame = self._connection.receive()
            if frame.stream == stream and frame.type == p.PUBLISH_ACK:
                for acked in p.read_ack(frame.body)[1]:
                    if acked.error:
                        raise p.BrokerError(acked.error, "the bait is refused")
                    self._outsiders.bait_offset = acked.offset + acked.count - (1 << 21)
        self._connection.send(p.close(stream))

    def _turn(self, stream: Stream) -> bytes:
        """What it sends now: one frame at a time, which waits for its answer."""
        if stream.id == 0:
            stream.id = self._connection.new_stream()
            stream.next_sequence = 0
            self._by_id[stream.id] = stream
            name = "mallory" if stream.attack == "ids" and self._dice.random() < 0.3 else ""
            return p.open_producer(stream.id, stream.id, stream.topic, stream.partition, 0, name)
        if not stream.is_open or stream.unanswered:
            return b""
        return p.publish(stream.id, getattr(self, "_" + stream.attack)(stream))

    def _take(self, frame: p.Frame) -> None:
        if frame.type == p.GROUP_DELIVER and frame.stream == self._undertaking:
            self._give_up(frame)
            return
        if frame.type == p.DELIVER and frame.stream == self._listening:
            self._listen(frame.body)
            return
        if frame.type == p.CLOSED and frame.stream in (self._listening, self._undertaking):
            raise p.BrokerError(*p.read_close(frame.body))
        stream = self._by_id.get(frame.stream)
        if stream is None:
            return
        if frame.type == p.PRODUCER_OPENED:
            stream.is_open = True
        elif frame.type == p.PUBLISH_ACK:
            for acked in p.read_ack(frame.body)[1]:
                self._take_range(stream, acked)
        elif frame.type == p.CLOSED:
            self._end(stream, p.error_name(p.read_close(frame.body)[0]))

    def _take_range(self, stream: Stream, acked: p.AckRange) -> None:
        waiting = stream.unanswered
        while waiting and acked.first <= waiting[0].sequence < acked.first + acked.count:
            sent = waiting.popleft()
            if acked.error:
                self._outsiders.refused(sent, p.error_name(acked.error))
            else:
                partition = None if stream.topic == self._bait else stream.partition
                self._outsiders.acknowledged(sent, partition, acked.offset + sent.sequence - acked.first, self._verdict)
        if acked.error and stream.is_open:
            self._connection.send(p.close(stream.id))
            self._end(stream, "behind a refused batch")

    def _end(self, stream: Stream, why: str) -> None:
        for sent in stream.unanswered:
            self._outsiders.refused(sent, why)
        stream.unanswered.clear()
        del self._by_id[stream.id]
        stream.id, stream.is_open = 0, False

    def _give_up(self, frame: p.Frame) -> None:
        delivery = p.GroupDelivery.read(frame.body)
        # A batch of the bait's first would be two million letters.
        kind = p.DEAD_LETTER if delivery.count < 1_000 else p.COMPLETE
        self._connection.send(p.settle(frame.stream, 0, delivery.first, delivery.count, delivery.delivery, kind, "nobody can read it" if kind == p.DEAD_LETTER else ""))

    def _listen(self, run: bytes) -> None:
        at = 0
        while at < len(run):
            batch = p.read_batch(run, at)
            self._forger.see(run[at : at + batch.header_length])
            at += batch.length
        if self._dice.random() < 0.1:
            self._connection.send(p.credit(self._listening, 1 << 16))

    # --- Attacks

    def _seal(self, stream: Stream, payload: p.Payload, must_be_refused: bool = False, sequence: Optional[int] = None, crc: Optional[int] = None, **fields) -> bytes:
        """A batch whose answer is waited for. crc is what the header says, if that is not the payload's."""
        if sequence is None:
            sequence = stream.next_sequence
            stream.next_sequence += payload.count
        sent = Sent(stream.attack, sequence, payload, must_be_refused)
        stream.unanswered.append(sent)
        self._outsiders.sent(sent)
        return p.seal(payload if crc is None else payload._replace(crc=crc), sequence, now(), **fields)

    def _plain(self, extensions: int = 0) -> p.Payload:
        """Ordinary messages, unlike any others."""
        count = self._dice.randrange(1, 20)
        return p.Payload.of(b"".join(p.record(self._dice.randbytes(self._dice.randrange(10, 60))) for _ in range(count)), count, extensions)

    def _forged(self, stream: Stream, size: int, extensions: int = 0) -> p.Payload:
        log = self._victim.logs[stream.partition]
        offset = max((batch.offset for batch in log.batches[-20:]), default=0) + 1
        run, count = self._forger.records(offset, log.opened.epoch if log.opened else 1, size)
        return p.Payload.of(b"".join(run), count, extensions)

    def _crc(self, stream: Stream) -> bytes:
        """The checksum in the header is not the payload's, alone or between two good batches."""
        payload = self._plain()
        wrong = self._dice.choice((0, payload.crc ^ 1 << self._dice.randrange(32), self._dice.getrandbits(32)))
        if self._dice.random() < 0.5:
            return self._seal(stream, payload, True, crc=wrong)
        return self._seal(stream, self._plain()) + self._seal(stream, payload, True, crc=wrong) + self._seal(stream, self._plain(), True)

    def _ids(self, stream: Stream) -> bytes:
        """The ids of somebody else, whose next batches these would be, and others that were never given out. The stream is anonymous, or has a name of its own."""
        log = self._victim.logs[stream.partition]
        assert log.opened
        own = (log.opened.producer_id, log.opened.producer_epoch)
        producer, epoch = self._dice.choice((own, own, own, (own[0], 0), (0, own[1]), (own[0], own[1] + 1), (own[0] + 1, own[1]), (self._dice.getrandbits(64), 1)))
        sequence = log.next_sequence + self._dice.choice((0, 0, 1, 40, 1_000_000))
        due = now() + 100_000 if self._dice.random() < 0.2 else None
        return self._seal(stream, self._plain(due is not None), True, sequence, producer_id=producer, producer_epoch=epoch, due=due)

    def _headers(self, stream: Stream) -> bytes:
        """Messages that look like batches of the log. Each is sent several times, so that as many writes as can be hold one."""
        made = self._made.setdefault(stream.partition, {})
        size = self._dice.choice(self.SIZES)
        if size not in made or (size < self.SIZES[-1] and self._dice.random() < 0.1):
            made[size] = self._forged(stream, size)
        return self._seal(stream, made[size])

    def _delayed(self, stream: Stream) -> bytes:
        """Messages for later, most of them due before long, forged ones among them; some expire before that."""
        due = now() + (300 * DAY if self._dice.random() < 0.1 else self._dice.randrange(50_000, 3_000_000))
        expiry = due - self._dice.randrange(-1_000_000, 40_000) if self._dice.random() < 0.2 else None
        extensions = 1 if expiry is None else 2
        form = self._dice.randrange(3)
        if form == 0:
            payload = self._plain(extensions)
        elif form == 1:
            payload = self._forged(stream, 500, extensions)
        else:
            run = self._forged(stream, 500)
            payload = p.Payload.packed(deflate(run.content[: run.uncompressed]), run.count, run.uncompressed, p.DEFLATE, extensions)
        return self._seal(stream, payload, due=due, expiry=expiry)

    def _compressed(self, stream: Stream) -> bytes:
        """What inflates to forged batches, what does not inflate, what inflates to something else than it says, and what says more than is allowed."""
        form = self._dice.randrange(5)
        run = self._forged(stream, 1_000)
        records = run.content[: run.uncompressed]
        if form == 0:
            payload = p.Payload.packed(deflate(records), run.count, len(records), p.DEFLATE)
        elif form == 1:
            # Stored as they are behind 5 bytes, so that the forged batches lie where one could begin.
            records = p.record(b"123") + records
            payload = p.Payload.packed(deflate(records, 0), run.count + 1, len(records), p.DEFLATE)
        elif form == 2:
            payload = p.Payload.packed(self._dice.randbytes(200), 3, 1_000, self._dice.choice((p.BROTLI, p.DEFLATE)))
        elif form == 3:
            payload = p.Payload.packed(deflate(records), run.count + 7, len(records) + 80, p.DEFLATE)
        else:
            payload = p.Payload.packed(deflate(self._dice.randbytes(40)), 1, 1 << 20, p.DEFLATE)
        return self._seal(stream, payload, must_be_refused=form == 4)

    def _letters(self, stream: Stream) -> bytes:
        """A compressed batch that becomes a dead letter as a whole, header and all. No malice needed."""
        count = self._dice.randrange(1, 4)
        run = b"".join(p.record(b"a message that compresses well " * 20 + self._dice.randbytes(8)) for _ in range(count))
        return self._seal(stream, p.Payload.packed(deflate(run), count, len(run), p.DEFLATE))
