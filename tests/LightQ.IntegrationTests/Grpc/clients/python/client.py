"""Calls a broker's control plane with grpcio alone and prints what it saw as one JSON object.

Usage: client.py HOST:PORT DESCRIPTOR_SET [CA_FILE]; the set is a serialized google.protobuf.FileDescriptorSet in order of dependency.
"""

import json
import sys

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

TIMEOUT_SECONDS = 20


class Services:
    """Methods by name, their messages made from descriptors at run time."""

    def __init__(self, address, descriptor_set, ca_file=None):
        self._pool = descriptor_pool.DescriptorPool()
        with open(descriptor_set, "rb") as file:
            for proto in descriptor_pb2.FileDescriptorSet.FromString(file.read()).file:
                self._pool.Add(proto)
        self._factory = message_factory.MessageFactory(self._pool)
        if ca_file is None:
            self._channel = grpc.insecure_channel(address)
        else:
            with open(ca_file, "rb") as file:
                self._channel = grpc.secure_channel(address, grpc.ssl_channel_credentials(file.read()))

    def message(self, name):
        descriptor = self._pool.FindMessageTypeByName(name)
        if hasattr(message_factory, "GetMessageClass"):  # protobuf 4.22 and later
            return message_factory.GetMessageClass(descriptor)
        return self._factory.GetPrototype(descriptor)

    def method(self, service, name):
        method = self._pool.FindServiceByName(service).FindMethodByName(name)
        proto = descriptor_pb2.MethodDescriptorProto()  # older releases tell the streams only here
        method.CopyToProto(proto)
        shape = ("stream_" if proto.client_streaming else "unary_") + ("stream" if proto.server_streaming else "unary")
        request = self.message(method.input_type.full_name)
        call = getattr(self._channel, shape)(
            f"/{service}/{name}",
            request_serializer=request.SerializeToString,
            response_deserializer=self.message(method.output_type.full_name).FromString,
        )
        return call, request


def refused(call):
    try:
        call()
    except grpc.RpcError as error:
        trailers = dict(error.trailing_metadata())
        return {"status": error.code().name, "message": error.details(), "code": trailers.get("lightq-error-code")}
    raise RuntimeError("the call was not refused")


def watch(services, topic, count):
    call, request = services.method("lightq.control.v1.Stats", "WatchTopicStats")
    message = request(topic=topic)
    message.interval.nanos = 100_000_000
    responses = call(message, timeout=TIMEOUT_SECONDS)
    readings = []
    for response in responses:
        readings.append({"topic": response.stats.topic, "received": response.stats.messages_received})
        if len(readings) == count:
            responses.cancel()
            return readings
    raise RuntimeError("the stream ended early")


def list_services(services):
    call, request = services.method("grpc.reflection.v1.ServerReflection", "ServerReflectionInfo")
    for response in call(iter([request(list_services="")]), timeout=TIMEOUT_SECONDS):
        return [service.name for service in response.list_services_response.service]


def main():
    services = Services(*sys.argv[1:])
    create, request = services.method("lightq.control.v1.Topics", "CreateTopic")
    message = request(name="stock")
    message.settings.kind = 1
    created = create(message, timeout=TIMEOUT_SECONDS).topic
    kind = created.settings.DESCRIPTOR.fields_by_name["kind"].enum_type.values_by_number[created.settings.kind].name
    bad = refused(lambda: create(request(name="../stock"), timeout=TIMEOUT_SECONDS))
    print(json.dumps({
        "created": created.name,
        "kind": kind,
        "bad": bad,
        "readings": watch(services, "stock", 3),
        "services": list_services(services),
    }))


main()
