#!/usr/bin/env python3
"""Producer, attackers and judge beside a broker that somebody else kills and starts again: talks in lines, so that a test can do that.

    judge.py --port 5700 --topic judged --partitions 4 --bait bait --seed 7 --attacks crc,ids,headers,delayed,compressed,letters

A line on standard input is answered by lines of JSON on standard output:

    load   publishes, beside the attackers, until the broker is gone: {"event": "loaded"} when enough is acknowledged and every attack was answered, which is
           when to kill it, and {"event": "ended", ...} behind that: how many messages were acknowledged, one behind the last offset that was by partition,
           and what the attackers were answered
    judge  on the started broker: sends again what was not acknowledged, reads everything, and compares: {"event": "judged", ...}
    end    waits until what was delayed has been delivered, and judges once more: {"event": "judged", ...}

The topic's dead letters must be those of the bait (both are durable): dead letters of the bait go to the topic. The process keeps its log in memory; it
ends with the data directory that it judges.
"""
from __future__ import annotations

import argparse
import json
import random
import sys
import time
from typing import Optional

import protocol as p
from attacks import ATTACKS, Attacker
from outsiders import Outsiders
from roles import NamedProducer, Reader
from verdict import Verdict, now

PATIENCE = 30.0  # Seconds.


class Judge:
    def __init__(self, arguments: argparse.Namespace):
        self._arguments = arguments
        self._attacks = [attack for attack in arguments.attacks.split(",") if attack]
        self._dice = random.Random(arguments.seed)
        self._verdict = Verdict()
        self._producer = NamedProducer(arguments.topic, arguments.partitions, "judged", self._dice, self._verdict)
        self._outsiders = Outsiders(arguments.partitions)
        self._reader = Reader(self._producer, self._outsiders, self._verdict)
        self._connection: Optional[p.Connection] = None

    def load(self) -> None:
        self._outsiders.take_answers()
        before = self._producer.acknowledged
        attacker = None
        try:
            self._connect()
            dice = random.Random(self._dice.getrandbits(64))
            attacker = Attacker(self._arguments.port, self._arguments.bait, self._attacks, self._producer, self._outsiders, dice, self._verdict)
            attacker.start()
            end = time.monotonic() + PATIENCE
            self._producer.publish_until(
                lambda: time.monotonic() > end or (
                    self._producer.acknowledged - before >= self._arguments.messages and all(self._outsiders.answered(attack) for attack in self._attacks)))
            self._say("loaded")
            self._producer.publish_until(lambda: time.monotonic() > end)
            self._verdict.add("wrong", "nobody has killed the broker")
        except ConnectionError:
            pass  # It is gone.
        except (p.BrokerError, TimeoutError) as error:
            self._verdict.add("refused", f"the producer: {error}")
        if attacker:
            attacker.join(PATIENCE)
        if self._connection:
            self._connection.close()
        self._connection = None
        ends = [max(log.acknowledged_end, end) for log, end in zip(self._producer.logs, self._outsiders.acknowledged_ends)]
        self._say("ended", acknowledged=self._producer.acknowledged - before, ends=ends, attacks=self._outsiders.take_answers())

    def judge(self) -> None:
        try:
            self._connect()
            self._producer.settle()
        except (p.BrokerError, TimeoutError) as error:
            self._verdict.add("refused", f"the producer: {error}")
        self._reader.read_all(self._arguments.port)
        self._say_verdict()

    def end(self) -> None:
        # Nothing is delayed for longer, but for what is delayed by months.
        due, end = now() + 4_000_000, time.monotonic() + PATIENCE
        while self._outsiders.undelivered(due) and time.monotonic() < end:
            time.sleep(0.2)
            self._reader.read_all(self._arguments.port)
        late = self._outsiders.undelivered(due)
        if late:
            self._verdict.add("lost", f"{late} delayed batches are overdue and were not delivered", late)
        self._say_verdict()

    def _connect(self) -> None:
        """The producer's connection is opened once for each broker, behind the start for judging, and used for the load that follows."""
        if self._connection is None:
            self._connection = p.Connection(self._arguments.port, "judge")
            self._producer.open(self._connection)

    def _say_verdict(self) -> None:
        self._say(
            "judged", acknowledged=self._producer.acknowledged, resent=self._producer.resent, read=self._reader.read, bytes=self._reader.bytes,
            letters=self._outsiders.letters, delivered=self._outsiders.delivered, broken=self._verdict.counts, violations=self._verdict.texts)

    @staticmethod
    def _say(event: str, **what) -> None:
        print(json.dumps({"event": event, **what}), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--topic", required=True)
    parser.add_argument("--partitions", type=int, default=1)
    parser.add_argument("--bait", default="bait")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--messages", type=int, default=2_000, help="acknowledged before the broker may be killed")
    parser.add_argument("--attacks", default=",".join(ATTACKS))
    judge = Judge(parser.parse_args())
    for line in sys.stdin:
        {"load": judge.load, "judge": judge.judge, "end": judge.end}[line.strip()]()


if __name__ == "__main__":
    main()
