"""The data plane of LightQ, version 1: frames, batches, records and a connection.

Written from proto/data-plane.md and nothing else, with the standard library of Python 3.9. It shares no line with the broker or the SDK, so what the
two agree on by mistake is found here.
"""
from __future__ import annotations

import array
import socket
import struct
import sys
import time
from typing import Iterator, NamedTuple, Optional

# --- Checksum -----------------------------------------------------------------------------------------------------------------------------------------


def _table() -> list[int]:
    """What two bytes do to the checksum, by their value: two steps of the usual table of 256 at once."""
    one = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
        one.append(value)
    return [one[(one[x & 255] ^ x >> 8) & 255] ^ one[x & 255] >> 8 for x in range(65536)]


_TWO_BYTES = _table()


def crc32c(data: bytes, crc: int = 0) -> int:
    """CRC-32C of data; behind what crc is the checksum of."""
    table = _TWO_BYTES
    words = array.array("H", bytes(data[: len(data) & ~1]))
    if sys.byteorder == "big":
        words.byteswap()
    crc ^= 0xFFFFFFFF
    for word in words:
        crc = table[(crc ^ word) & 0xFFFF] ^ crc >> 16
    if len(data) & 1:
        # A single byte is two of which the second leaves the checksum as the first alone would: 8 bits are taken off, none put in.
        crc ^= data[-1]
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


# --- Records ------------------------------------------------------------------------------------------------------------------------------------------

RECORD = struct.Struct("<IHH")
NO_BODY, NO_KEY = 0xFFFFFFFF, 0xFFFF


class Record(NamedTuple):
    key: Optional[bytes]
    headers: bytes
    body: Optional[bytes]


def record(body: bytes, key: Optional[bytes] = None, headers: bytes = b"") -> bytes:
    return RECORD.pack(len(body), NO_KEY if key is None else len(key), len(headers)) + (key or b"") + headers + body


def records(run: bytes) -> Iterator[Record]:
    """The records of a batch, inflated and without its padding."""
    at = 0
    while at < len(run):
        body, key, headers = RECORD.unpack_from(run, at)
        at += RECORD.size
        parts = []
        for length in (0 if key == NO_KEY else key, headers, 0 if body == NO_BODY else body):
            parts.append(run[at : at + length])
            at += length
        yield Record(None if key == NO_KEY else parts[0], parts[1], None if body == NO_BODY else parts[2])
    if at != len(run):
        raise ValueError("the last record ends behind its batch")


# --- Batches ------------------------------------------------------------------------------------------------------------------------------------------

BATCH = struct.Struct("<IIIBBHIIIIqqqQQIIIIQ")
MAGIC, VERSION, ALIGNMENT = 0xB7, 1, 8
CODEC_MASK, KIND_SHIFT, KIND_MASK = 15, 4, 7
NO_CODEC, BROTLI, DEFLATE = 0, 1, 2
DATA, CONTROL, GAP_KIND = 0, 1, 2
HAS_DUE_TIME, HAS_EXPIRY, HAS_ORIGIN = 1 << 8, 1 << 9, 1 << 10
DUE_TIME, EXPIRY, ORIGIN = 1, 2, 3
_EXTENSION = struct.Struct("<BBq")


class Batch(NamedTuple):
    """A batch header."""

    length: int
    header_crc: int
    payload_crc: int
    magic: int
    version: int
    header_length: int
    flags: int
    count: int
    span: int
    uncompressed: int
    base_offset: int
    append_time: int
    timestamp: int
    producer_id: int
    base_sequence: int
    producer_epoch: int
    leader_epoch: int
    previous_crc: int
    durable_back: int
    mac: int

    @property
    def kind(self) -> int:
        return self.flags >> KIND_SHIFT & KIND_MASK

    @property
    def codec(self) -> int:
        return self.flags & CODEC_MASK

    @property
    def next_offset(self) -> int:
        return self.base_offset + self.span


class Payload(NamedTuple):
    """A batch without its header: made once, it can be published again and again."""

    content: bytes  # With its padding.
    crc: int
    count: int
    uncompressed: int
    codec: int

    @staticmethod
    def of(run: bytes, count: int, extensions: int = 0) -> Payload:
        """Records as they are, for a batch with so many extensions."""
        return Payload.packed(run, count, len(run), NO_CODEC, extensions)

    @staticmethod
    def packed(content: bytes, count: int, uncompressed: int, codec: int, extensions: int = 0) -> Payload:
        """What a codec made of the records, or what passes for that."""
        content += bytes(-(BATCH.size + extensions * _EXTENSION.size + len(content)) % ALIGNMENT)
        return Payload(content, crc32c(content), count, uncompressed, codec)


def seal(
    payload: Payload, sequence: int, timestamp: int, *, producer_id: int = 0, producer_epoch: int = 0, due: Optional[int] = None, expiry: Optional[int] = None,
    base_offset: int = 0, append_time: int = 0, leader_epoch: int = 0, previous_crc: int = 0, durable_back: int = 0, mac: int = 0,
) -> bytes:
    """Puts the header in front. What is from base_offset on is not the producer's to set; only who forges a header does."""
    flags, extensions = payload.codec, b""
    if due is not None:
        flags, extensions = flags | HAS_DUE_TIME, extensions + _EXTENSION.pack(DUE_TIME, 8, due)
    if expiry is not None:
        flags, extensions = flags | HAS_EXPIRY, extensions + _EXTENSION.pack(EXPIRY, 8, expiry)
    header_length = BATCH.size + len(extensions)
    length = header_length + len(payload.content)
    header = bytearray(BATCH.pack(
        length, 0, payload.crc, MAGIC, VERSION, header_length, flags, payload.count, payload.count, payload.uncompressed, base_offset, append_time, timestamp,
        producer_id, sequence, producer_epoch, leader_epoch, previous_crc, durable_back, mac)) + extensions
    struct.pack_into("<I", header, 4, header_crc(header))
    return bytes(header) + payload.content


def header_crc(header: bytes) -> int:
    """The checksum that a whole header is to have."""
    return crc32c(header[8:], crc32c(header[:4]))


def read_batch(run: bytes, at: int = 0) -> Batch:
    """The header at a place; what it says is checked no further than this needs."""
    batch = Batch._make(BATCH.unpack_from(run, at))
    if batch.magic != MAGIC or batch.version != VERSION or not BATCH.size <= batch.header_length <= min(256, batch.length) or batch.length % ALIGNMENT:
        raise ValueError(f"no batch: {batch}")
    if at + batch.length > len(run):
        raise ValueError(f"a batch of {batch.length} bytes in {len(run) - at}")
    return batch


def extension(header: bytes, wanted: int) -> Optional[int]:
    """The value of an extension of 8 bytes."""
    at = BATCH.size
    while at < len(header):
        if header[at] == wanted:
            return _EXTENSION.unpack_from(header, at)[2]
        at += 2 + header[at + 1]
    return None


# --- Frames -------------------------------------------------------------------------------------------------------------------------------------------

FRAME = struct.Struct("<IBBHII")
(HELLO, WELCOME, OPEN_PRODUCER, PRODUCER_OPENED, PUBLISH, PUBLISH_ACK, SUBSCRIBE, SUBSCRIBED, DELIVER, CREDIT, SETTLE, GAP, CLOSE, CLOSED, PING, PONG, ERROR,
 GO_AWAY, GROUP_DELIVER, SETTLED) = range(1, 21)
ALL_PARTITIONS = 0xFFFFFFFF
EARLIEST, LATEST, OFFSET, TIMESTAMP, COMMITTED = range(5)
AUTOMATIC, EXPLICIT = 0, 1
COMPLETE, ABANDON, DEAD_LETTER, RENEW = range(1, 5)

ERRORS = (
    "None Internal MalformedFrame MalformedBatch UnsupportedVersion UnexpectedFrame FrameTooLarge MessageTooLarge InvalidArgument UnknownTopic TopicExists "
    "UnknownPartition NotSupported Unauthenticated PermissionDenied ResourceExhausted WindowExceeded NotLeader StaleEpoch StreamBroken SequenceOverlap OutOfOrder "
    "Fenced UnknownProducer DiskFull SlowConsumer TopicFailed CorruptData TopicDeleted ShuttingDown InvalidStream TimedOut Unavailable OutcomeUnknown Closed "
    "UnknownGroup GroupInUse TlsFailed UnknownUser UserExists UnknownToken OffsetOutOfRange").split()
GAP_REASONS = ("none", "dropped", "retention", "truncated", "corrupt", "expired")


def error_name(code: int) -> str:
    return ERRORS[code] if code < len(ERRORS) else "Internal"


class Frame(NamedTuple):
    type: int
    flags: int
    stream: int
    tag: int
    body: bytes


def frame(kind: int, stream: int = 0, tag: int = 0, body: bytes = b"") -> bytes:
    return FRAME.pack(FRAME.size + len(body), kind, 0, 0, stream, tag) + body


def _string(text: str) -> bytes:
    encoded = text.encode()
    return struct.pack("<H", len(encoded)) + encoded


def hello(client: str, mechanism: str = "anonymous", credentials: str = "") -> bytes:
    return frame(HELLO, body=struct.pack("<4sHHQ", b"LTQ1", 1, 1, 0) + _string(client) + _string(mechanism) + _string(credentials))


def open_producer(stream: int, tag: int, topic: str, partition: int, ack_level: int = 0, name: str = "", instance: Optional[int] = None, returning: bool = False, number: int = 0) -> bytes:
    """Without an instance the body ends behind the name."""
    body = _string(topic) + struct.pack("<IB", partition, ack_level) + _string(name)
    return frame(OPEN_PRODUCER, stream, tag, body if instance is None else body + struct.pack("<QBQ", instance, returning, number))


def subscribe(stream: int, tag: int, topic: str, partition: int, start: int = EARLIEST, value: int = 0, group: str = "", settle: int = AUTOMATIC, most: int = 0) -> bytes:
    """Without a place to resume at, with the topic's own slow policy, and with nothing of the fields that may be missing."""
    body = _string(topic) + struct.pack("<I", partition) + _string(group) + struct.pack("<BqqIQBBI", start, value, -1, 0, 0, settle, 0, most)
    return frame(SUBSCRIBE, stream, tag, body)


def publish(stream: int, run: bytes) -> bytes:
    return frame(PUBLISH, stream, body=run)


def credit(stream: int, count: int) -> bytes:
    return frame(CREDIT, stream, body=struct.pack("<I", count))


def close(stream: int) -> bytes:
    return frame(CLOSE, stream, body=struct.pack("<H", 0) + _string(""))


def settle(stream: int, tag: int, first: int, count: int, delivery: int, kind: int, reason: str = "") -> bytes:
    return frame(SETTLE, stream, tag, struct.pack("<HHI", 1, 0, 0) + struct.pack("<qIIIBBH", first, count, delivery, 0, kind, 0, 0) + _string(reason))


class Welcome(NamedTuple):
    version: int
    features: int
    broker: bytes
    connection: int
    frame_limit: int
    batch_limit: int
    message_limit: int
    heartbeat: int

    @staticmethod
    def read(body: bytes) -> Welcome:
        return Welcome(*struct.unpack_from("<HQ16sIIIII", body))


class ProducerOpened(NamedTuple):
    topic: bytes
    partition: int
    partitions: int
    key_hash: int
    incarnation: int
    epoch: int
    producer_id: int
    producer_epoch: int
    next_sequence: int
    window: int
    batch_limit: int
    ack_level: int

    @staticmethod
    def read(body: bytes) -> ProducerOpened:
        return ProducerOpened(*struct.unpack_from("<16sIIBQIQIQIIB", body))


class AckRange(NamedTuple):
    first: int
    count: int
    error: int
    offset: int
    duplicate: bool = False


def read_ack(body: bytes) -> tuple[int, list[AckRange]]:
    """The durability, and the ranges."""
    durability, _, count, _ = struct.unpack_from("<BBHI", body)
    found = []
    for at in range(8, 8 + count * 24, 24):
        first, messages, error, flags, offset = struct.unpack_from("<QIHHq", body, at)
        found.append(AckRange(first, messages, error, offset, bool(flags & 1)))
    return durability, found


class Subscribed(NamedTuple):
    topic: bytes
    partitions: int
    incarnation: int
    epoch: int
    next_offset: int
    start_offset: int
    end_offset: int

    @staticmethod
    def read(body: bytes) -> Subscribed:
        return Subscribed(*struct.unpack_from("<16sIQIqqq", body))


class GroupDelivery(NamedTuple):
    first: int
    count: int
    delivery: int
    times: int
    mac: int
    lock: int

    @staticmethod
    def read(body: bytes) -> GroupDelivery:
        """The batch, unless flag 1 leaves it out, is behind the first 24 bytes."""
        return GroupDelivery(*struct.unpack_from("<qIIHHI", body))


GROUP_DELIVERY_BYTES = 24


def read_gap(body: bytes) -> tuple[int, int, int]:
    """First offset, last offset, reason."""
    return struct.unpack_from("<qqB", body)


def read_close(body: bytes) -> tuple[int, str]:
    """Of Close, Closed and Error: the code, and what is said."""
    code, length = struct.unpack_from("<HH", body)
    return code, body[4 : 4 + length].decode()


# --- Connection ---------------------------------------------------------------------------------------------------------------------------------------


class BrokerError(Exception):
    """The broker said why it ends the connection, or did not open a stream."""

    def __init__(self, code: int, message: str):
        super().__init__(f"{error_name(code)}: {message}")
        self.code = code


class Connection:
    """A connection that is open for use. Pings are answered while frames are received. A broker that is gone is a ConnectionError, one that is silent a TimeoutError."""

    def __init__(self, port: int, client: str, patience: float = 20.0):
        self._patience = patience
        self._socket = socket.create_connection(("127.0.0.1", port), patience)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._received = bytearray()
        self._at = 0
        self._streams = 0
        self.send(hello(client))
        answer = self.receive()
        if answer.type != WELCOME:
            raise BrokerError(2, f"frame {answer.type} instead of Welcome")
        self.welcome = Welcome.read(answer.body)

    def close(self) -> None:
        self._socket.close()

    def new_stream(self) -> int:
        self._streams += 1
        return self._streams

    def send(self, data: bytes) -> None:
        self._socket.settimeout(self._patience)
        try:
            self._socket.sendall(data)
        except socket.timeout as error:  # Its own class before Python 3.10.
            raise TimeoutError("the broker reads nothing") from error

    def receive(self) -> Frame:
        """The next frame."""
        found = self.poll(self._patience)
        if found is None:
            raise TimeoutError("the broker says nothing")
        return found

    def poll(self, wait: float) -> Optional[Frame]:
        """The next frame, or None when none comes in that time, in seconds. The broker's Error is raised."""
        end = time.monotonic() + wait
        while True:
            found = self._next()
            if found is None:
                if not self._fill(max(0.0, end - time.monotonic())):
                    return None
            elif found.type == PING:
                self.send(frame(PONG, body=found.body))
            elif found.type == ERROR:
                raise BrokerError(*read_close(found.body))
            else:
                return found

    def ask(self, request: bytes, answer: int) -> Frame:
        """Sends what opens a stream and waits for what answers it: the type that was asked for, or Closed, which is raised. Nothing else may be under way."""
        self.send(request)
        _, _, _, _, stream, tag = FRAME.unpack_from(request)
        while True:
            found = self.receive()
            if found.stream == stream and found.tag == tag:
                if found.type == answer:
                    return found
                if found.type == CLOSED:
                    raise BrokerError(*read_close(found.body))

    def _next(self) -> Optional[Frame]:
        if len(self._received) - self._at < FRAME.size:
            return None
        length, kind, flags, _, stream, tag = FRAME.unpack_from(self._received, self._at)
        if length < FRAME.size:
            raise ValueError(f"a frame of {length} bytes")
        if len(self._received) - self._at < length:
            return None
        body = bytes(memoryview(self._received)[self._at + FRAME.size : self._at + length])
        self._at += length
        return Frame(kind, flags, stream, tag, body)

    def _fill(self, wait: float) -> bool:
        del self._received[: self._at]
        self._at = 0
        self._socket.settimeout(wait)
        try:
            data = self._socket.recv(1 << 20)
        except (socket.timeout, BlockingIOError):
            return False
        if not data:
            raise ConnectionError("the broker has closed the connection")
        self._received += data
        return True
