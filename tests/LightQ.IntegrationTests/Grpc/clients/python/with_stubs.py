"""Runs a program with the modules that grpc_tools.protoc would generate for it, made from descriptors at run time.

Usage: with_stubs.py DESCRIPTOR_SET PROGRAM [ARGUMENT...], the first a serialized google.protobuf.FileDescriptorSet in order of dependency.
"""

import runpy
import sys
import types

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory


def main():
    pool = descriptor_pool.DescriptorPool()
    with open(sys.argv[1], "rb") as file:
        protos = descriptor_pb2.FileDescriptorSet.FromString(file.read()).file
    for proto in protos:
        pool.Add(proto)
    factory = message_factory.MessageFactory(pool)

    def message(name):
        descriptor = pool.FindMessageTypeByName(name)
        if hasattr(message_factory, "GetMessageClass"):  # protobuf 4.22 and later
            return message_factory.GetMessageClass(descriptor)
        return factory.GetPrototype(descriptor)

    def stub(service):
        def open_methods(self, channel):
            for method in service.method:
                shape = ("stream_" if method.client_streaming else "unary_") + ("stream" if method.server_streaming else "unary")
                call = getattr(channel, shape)(
                    f"/lightq.control.v1.{service.name}/{method.name}",
                    request_serializer=message(method.input_type.lstrip(".")).SerializeToString,
                    response_deserializer=message(method.output_type.lstrip(".")).FromString,
                )
                setattr(self, method.name, call)

        return type(f"{service.name}Stub", (), {"__init__": open_methods})

    for proto in protos:
        if proto.package != "lightq.control.v1":
            continue
        name = proto.name[: -len(".proto")].replace("/", ".")
        package = add_packages(name)
        messages = add_module(package, name + "_pb2")
        for declared in proto.message_type:
            setattr(messages, declared.name, message(f"{proto.package}.{declared.name}"))
        for declared in proto.enum_type:
            for value in declared.value:
                setattr(messages, value.name, value.number)
        services = add_module(package, name + "_pb2_grpc")
        for service in proto.service:
            setattr(services, f"{service.name}Stub", stub(service))

    sys.argv = sys.argv[2:]
    runpy.run_path(sys.argv[0], run_name="__main__")


def add_packages(name):
    """The packages a module is in; the innermost."""
    parts = name.split(".")[:-1]
    for i in range(len(parts)):
        package = sys.modules.setdefault(".".join(parts[: i + 1]), types.ModuleType(".".join(parts[: i + 1])))
        package.__path__ = []
    return package


def add_module(package, name):
    module = sys.modules[name] = types.ModuleType(name)
    setattr(package, name.rsplit(".", 1)[1], module)
    return module


main()
