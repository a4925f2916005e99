"""Whether the client writes and reads the bytes of the session at the end of proto/data-plane.md."""
import pathlib
import re
import unittest

import protocol as p

PAGE = pathlib.Path(__file__).resolve().parents[2] / "proto" / "data-plane.md"
TIMESTAMP = 0x60A24181E4000  # Of the batch in the session, as the page prints it.


def session() -> list:
    """The frames of the session: who sends it, its name, its bytes."""
    text = PAGE.read_text(encoding="utf-8").split("```text session\n")[1].split("```")[0]
    found = []
    for block in text.strip().split("\n\n"):
        title, *lines = block.split("\n")
        who, name, length = re.fullmatch(r"(\w+): (\w+), (\d+) bytes", title).groups()
        data = bytes.fromhex("".join(line[6:53] for line in lines))
        assert len(data) == int(length), title
        found.append((who, name, data))
    return found


class SessionTests(unittest.TestCase):
    def setUp(self):
        self.frames = session()

    def sent(self, name):
        return next(data for who, frame, data in self.frames if (who, frame) == ("client", name))

    def received(self, name):
        data = next(data for who, frame, data in self.frames if (who, frame) == ("server", name))
        length, kind, flags, _, stream, tag = p.FRAME.unpack_from(data)
        self.assertEqual(len(data), length)
        return p.Frame(kind, flags, stream, tag, data[p.FRAME.size :])

    def batch(self):
        run = p.record(b"hello") + p.record(b"world", key=b"k")
        return p.seal(p.Payload.of(run, 2), 0, TIMESTAMP)

    def test_the_checksum_is_that_of_the_page(self):
        self.assertEqual(0xE3069283, p.crc32c(b"123456789"))
        self.assertEqual(0xE3069283, p.crc32c(b"456789", p.crc32c(b"123")))
        self.assertEqual(0, p.crc32c(b""))

    def test_keys_map_to_the_partitions_of_the_page(self):
        self.assertEqual([3, 2], [p.crc32c(key) % 4 for key in (b"42", b"order-42")])

    def test_it_sends_the_frames_of_the_session(self):
        made = {
            "Hello": p.hello("demo"),
            "OpenProducer": p.open_producer(1, 1, "demo", p.ALL_PARTITIONS, ack_level=1, instance=0),
            "Subscribe": p.subscribe(2, 2, "demo", 0, start=p.LATEST),
            "Credit": p.credit(2, 4 << 20),
            "Publish": p.publish(1, self.batch()),
        }
        self.assertEqual({name for who, name, _ in self.frames if who == "client"}, made.keys())
        for name, data in made.items():
            expected = self.sent(name)
            # What may be missing at the end of Subscribe stands there as zeros, which mean the same.
            if name == "Subscribe":
                missing = len(expected) - len(data)
                self.assertEqual(16, missing)
                data = len(expected).to_bytes(4, "little") + data[4:] + bytes(missing)
            self.assertEqual(expected.hex(" "), data.hex(" "), name)

    def test_it_reads_the_frames_of_the_session(self):
        welcome = p.Welcome.read(self.received("Welcome").body)
        self.assertEqual((1, 0, 42, 10_000), (welcome.version, welcome.features, welcome.connection, welcome.heartbeat))
        self.assertLess(welcome.message_limit, welcome.batch_limit)
        self.assertLess(welcome.batch_limit, welcome.frame_limit)
        opened = p.ProducerOpened.read(self.received("ProducerOpened").body)
        self.assertEqual((0, 1, 1, 5, 1), (opened.partition, opened.partitions, opened.key_hash, opened.incarnation, opened.epoch))
        self.assertEqual((0, 0, 0, 1048576, 1114112, 1), opened[6:12])
        self.assertLess(opened.batch_limit, welcome.batch_limit)
        subscribed = p.Subscribed.read(self.received("Subscribed").body)
        self.assertEqual((1, 5, 1, 1000, 990, 1000), subscribed[1:])
        self.assertEqual((1, [p.AckRange(0, 2, 0, 1000)]), p.read_ack(self.received("PublishAck").body))
        duplicate = bytes.fromhex("0300010000000000" "6400000000000000" "01000000" "0000" "0100" "1100000000000000")
        self.assertEqual((3, [p.AckRange(100, 1, 0, 17, True)]), p.read_ack(duplicate))

    def test_the_delivered_batch_is_the_published_one_with_a_stamp(self):
        run = self.received("Deliver").body
        batch, published = p.read_batch(run), p.read_batch(self.batch())
        self.assertEqual(batch.header_crc, p.header_crc(run[: batch.header_length]))
        self.assertEqual(batch.payload_crc, p.crc32c(run[batch.header_length : batch.length]))
        for name in ("length", "payload_crc", "header_length", "flags", "count", "span", "uncompressed", "timestamp", "producer_id", "base_sequence", "producer_epoch"):
            self.assertEqual(getattr(published, name), getattr(batch, name), name)
        self.assertEqual(1000, batch.base_offset)
        found = list(p.records(run[batch.header_length : batch.header_length + batch.uncompressed]))
        self.assertEqual([p.Record(None, b"", b"hello"), p.Record(b"k", b"", b"world")], found)


if __name__ == "__main__":
    unittest.main()
