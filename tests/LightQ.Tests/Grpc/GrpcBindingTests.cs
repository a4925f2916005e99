using Google.Protobuf.Reflection;
using LightQ.Grpc;
using LightQ.Grpc.AspNetCore;
using LightQ.Grpc.Health.V1;
using Xunit;

namespace LightQ.Tests.Grpc;

/// <summary>A service is bound completely and correctly, or not at all.</summary>
public sealed class GrpcBindingTests
{
    private static readonly ServiceDescriptor Service = EchoReflection.Descriptor.Services[0];

    [Fact]
    public void A_method_without_a_handler_is_named()
    {
        GrpcServiceBuilder builder = new GrpcServiceBuilder(Service)
            .Unary<EchoMessage, EchoMessage>("Unary", (request, _) => Task.FromResult(request))
            .ServerStreaming<EchoMessage, EchoMessage>("Repeat", (_, _, _) => Task.CompletedTask);
        InvalidOperationException error = Assert.Throws<InvalidOperationException>(builder.Build);
        Assert.Equal("The service lightq.tests.echo.Echo has methods without a handler: Collect, Converse.", error.Message);
    }

    [Fact]
    public void A_method_that_the_service_does_not_have_is_refused() => Assert.Throws<ArgumentException>(() =>
        new GrpcServiceBuilder(Service).Unary<EchoMessage, EchoMessage>("Unery", (request, _) => Task.FromResult(request)));

    [Fact]
    public void A_handler_of_another_shape_is_refused() => Assert.Throws<ArgumentException>(() =>
        new GrpcServiceBuilder(Service).Unary<EchoMessage, EchoMessage>("Repeat", (request, _) => Task.FromResult(request)));

    [Fact]
    public void A_handler_of_other_messages_is_refused() => Assert.Throws<ArgumentException>(() =>
        new GrpcServiceBuilder(Service).Unary<EchoMessage, HealthCheckResponse>("Unary", (_, _) => Task.FromResult(new HealthCheckResponse())));

    [Fact]
    public void A_method_bound_twice_is_refused()
    {
        GrpcServiceBuilder builder = new GrpcServiceBuilder(Service).Unary<EchoMessage, EchoMessage>("Unary", (request, _) => Task.FromResult(request));
        Assert.Throws<ArgumentException>(() => builder.Unary<EchoMessage, EchoMessage>("Unary", (request, _) => Task.FromResult(request)));
    }

    [Fact]
    public async Task A_service_mapped_twice_is_refused()
    {
        await using EchoServer server = await EchoServer.StartAsync();
        Assert.Throws<ArgumentException>(() => server.Services.MapHealth(server.Health));
    }

    [Theory]
    [InlineData("Unary", GrpcMethodType.Unary)]
    [InlineData("Collect", GrpcMethodType.ClientStreaming)]
    [InlineData("Repeat", GrpcMethodType.ServerStreaming)]
    [InlineData("Converse", GrpcMethodType.DuplexStreaming)]
    public void A_method_knows_its_path_and_shape(string name, GrpcMethodType type)
    {
        GrpcMethod<EchoMessage, EchoMessage> method = GrpcMethod.Create<EchoMessage, EchoMessage>(Service, name);
        Assert.Equal($"/lightq.tests.echo.Echo/{name}", method.FullName);
        Assert.Equal(type, method.Type);
    }

    [Fact]
    public void A_call_of_the_wrong_shape_is_refused()
    {
        using GrpcChannel channel = new(new Uri("http://127.0.0.1:1"));
        Assert.Throws<ArgumentException>(() => channel.DuplexStreaming(EchoServer.UnaryMethod, null, TestContext.Current.CancellationToken));
    }
}
