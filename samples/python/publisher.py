"""Publishes orders. Usage: publisher.py [COUNT [TOPIC [HOST:PORT]]]"""

import json
import sys

import grpc
from lightq.control.v1 import messages_pb2, messages_pb2_grpc, topics_pb2, topics_pb2_grpc

DEFAULTS = ["20", "orders", "127.0.0.1:5701"]


def requests(topic, count):
    """What goes up: the broker reads it as fast as the topic takes messages."""
    yield messages_pb2.PublishStreamRequest(open=messages_pb2.OpenProducer(topic=topic))
    for i in range(count):
        order = {"order": i, "customer": f"customer-{i % 5}"}
        message = messages_pb2.PublishedMessage(
            key=order["customer"].encode(),  # orders of one customer stay in order
            headers=[messages_pb2.MessageHeader(name="content-type", value=b"application/json")],
            body=json.dumps(order).encode(),
        )
        yield messages_pb2.PublishStreamRequest(messages=[message])


def main():
    arguments = sys.argv[1:]
    count, topic, address = arguments + DEFAULTS[len(arguments):]
    channel = grpc.insecure_channel(address)
    settings = topics_pb2.TopicSettings(kind=topics_pb2.TOPIC_KIND_DURABLE)
    topics_pb2_grpc.TopicsStub(channel).EnsureTopic(topics_pb2.EnsureTopicRequest(name=topic, settings=settings))
    stored = 0
    for response in messages_pb2_grpc.MessagesStub(channel).PublishStream(requests(topic, int(count))):
        stored += len(response.ack.positions)  # one ack for each request, in order: these are on the disk
    print(f"{stored} orders stored in {topic}")


try:
    main()
except grpc.RpcError as error:
    sys.exit(f"{error.details()} ({dict(error.trailing_metadata()).get('lightq-error-code')})")
