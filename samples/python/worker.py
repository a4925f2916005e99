"""Works on orders as a member of a group. Start it several times: the members share the orders.

Usage: worker.py [COUNT [TOPIC [GROUP [HOST:PORT]]]]
"""

import json
import queue
import sys

import grpc
from lightq.control.v1 import groups_pb2, messages_pb2, messages_pb2_grpc, topics_pb2, topics_pb2_grpc

DEFAULTS = ["0", "orders", "billing", "127.0.0.1:5701"]
AT_ONCE = 10  # so many orders are ours at a time; others go to other members


def bill(order):
    print(f"order {order['order']} of {order['customer']} billed", flush=True)


def work(message):
    """What becomes of a message: done, given up because it can never be, or to be tried again later."""
    try:
        order = json.loads(message.body)
    except ValueError as error:
        return {"kind": messages_pb2.SETTLE_KIND_DEAD_LETTER, "reason": str(error)}
    try:
        bill(order)
        return {"kind": messages_pb2.SETTLE_KIND_COMPLETE}
    except OSError as error:
        print(error, file=sys.stderr)
        return {"kind": messages_pb2.SETTLE_KIND_ABANDON}


def handle(message, requests):
    settlement = messages_pb2.Settlement(partition=message.partition, delivery_id=message.delivery_id, first_offset=message.offset, **work(message))
    requests.put(messages_pb2.ConsumeRequest(settle=messages_pb2.Settle(settlements=[settlement])))


def main():
    arguments = sys.argv[1:]
    count, topic, group, address = arguments + DEFAULTS[len(arguments):]
    channel = grpc.insecure_channel(address)
    settings = topics_pb2.TopicSettings(kind=topics_pb2.TOPIC_KIND_DURABLE)
    topics_pb2_grpc.TopicsStub(channel).EnsureTopic(topics_pb2.EnsureTopicRequest(name=topic, settings=settings))

    requests = queue.SimpleQueue()  # what goes up; None ends our side
    requests.put(messages_pb2.ConsumeRequest(subscribe=messages_pb2.Subscribe(
        topic=topic, group=group, settle_mode=groups_pb2.GROUP_SETTLE_MODE_EXPLICIT, credit=AT_ONCE)))
    left = int(count) or -1
    for response in messages_pb2_grpc.MessagesStub(channel).Consume(iter(requests.get, None)):
        for message in response.delivery.messages:
            if left == 0:
                continue  # it goes to another member
            handle(message, requests)
            left -= 1
            requests.put(None if left == 0 else messages_pb2.ConsumeRequest(credit=messages_pb2.Credit(messages=1)))
        if response.HasField("settled"):
            print(f"settled too late: {response.settled.outcomes}", file=sys.stderr)  # without a tag only what did not hold is answered
        if response.HasField("go_away") and left != 0:
            left = 0  # the broker stops: what is not settled comes again
            requests.put(None)


try:
    main()
except grpc.RpcError as error:
    sys.exit(f"{error.details()} ({dict(error.trailing_metadata()).get('lightq-error-code')})")
