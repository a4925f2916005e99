using LightQ.Grpc;
using LightQ.Grpc.AspNetCore;
using LightQ.Grpc.AspNetCore.Health;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.Extensions.Logging;
using Xunit;

namespace LightQ.Tests.Grpc;

/// <summary>The echo service on a loopback port that the system chose. A test replaces the handlers it cares for.</summary>
internal sealed class EchoServer : IAsyncDisposable
{
    private readonly WebApplication _app;

    private EchoServer(GrpcServerOptions options)
    {
        WebApplicationBuilder builder = WebApplication.CreateSlimBuilder();
        builder.Logging.ClearProviders().AddProvider(Log);
        builder.WebHost.ConfigureKestrel(kestrel => kestrel.UseGrpcLimits().Listen(System.Net.IPAddress.Loopback, 0, listen => listen.UseGrpc()));
        _app = builder.Build();
        Services = _app.MapGrpc(options).MapHealth(Health).MapReflection().MapService(EchoReflection.Descriptor.Services[0], bind => bind
            .Unary<EchoMessage, EchoMessage>("Unary", (request, context) => Unary(request, context))
            .ClientStreaming<EchoMessage, EchoMessage>("Collect", (requests, context) => Collect(requests, context))
            .ServerStreaming<EchoMessage, EchoMessage>("Repeat", (request, responses, context) => Repeat(request, responses, context))
            .DuplexStreaming<EchoMessage, EchoMessage>("Converse", (requests, responses, context) => Converse(requests, responses, context)));
    }

    public static GrpcMethod<EchoMessage, EchoMessage> UnaryMethod { get; } = Method("Unary");

    public static GrpcMethod<EchoMessage, EchoMessage> CollectMethod { get; } = Method("Collect");

    public static GrpcMethod<EchoMessage, EchoMessage> RepeatMethod { get; } = Method("Repeat");

    public static GrpcMethod<EchoMessage, EchoMessage> ConverseMethod { get; } = Method("Converse");

    public GrpcHealth Health { get; } = new();

    public GrpcServices Services { get; }

    public RecordedLog Log { get; } = new();

    public Uri Address => new(_app.Urls.Single());

    public Func<EchoMessage, GrpcServerCallContext, Task<EchoMessage>> Unary { get; set; } = (request, _) => Task.FromResult(request);

    public Func<IAsyncEnumerable<EchoMessage>, GrpcServerCallContext, Task<EchoMessage>> Collect { get; set; } = async (requests, _) =>
    {
        EchoMessage sum = new();
        await foreach (EchoMessage request in requests)
        {
            sum.Text += request.Text;
            sum.Count++;
        }

        return sum;
    };

    public Func<EchoMessage, GrpcResponseStream<EchoMessage>, GrpcServerCallContext, Task> Repeat { get; set; } = async (request, responses, _) =>
    {
        for (int i = 0; i < request.Count; i++)
            await responses.WriteAsync(new EchoMessage(request) { Count = i });
    };

    public Func<IAsyncEnumerable<EchoMessage>, GrpcResponseStream<EchoMessage>, GrpcServerCallContext, Task> Converse { get; set; } =
        async (requests, responses, _) =>
        {
            await foreach (EchoMessage request in requests)
                await responses.WriteAsync(request);
        };

    public static async Task<EchoServer> StartAsync(GrpcServerOptions? options = null)
    {
        EchoServer server = new(options ?? new GrpcServerOptions());
        await server._app.StartAsync(TestContext.Current.CancellationToken);
        return server;
    }

    public GrpcChannel Connect(GrpcChannelOptions? options = null) => new(Address, options);

    public Task StopAsync() => _app.StopAsync(TestContext.Current.CancellationToken);

    public ValueTask DisposeAsync() => _app.DisposeAsync();

    private static GrpcMethod<EchoMessage, EchoMessage> Method(string name) =>
        GrpcMethod.Create<EchoMessage, EchoMessage>(EchoReflection.Descriptor.Services[0], name);
}
