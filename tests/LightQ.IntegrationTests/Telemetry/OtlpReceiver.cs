using System.Buffers.Binary;
using System.Collections.Concurrent;
using System.Net;
using Google.Protobuf;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.Extensions.DependencyInjection;
using Xunit;

namespace LightQ.IntegrationTests.Telemetry;

/// <summary>A collector that keeps what it is sent: OTLP over gRPC on one port, in protobuf over HTTP on
/// another.</summary>
internal sealed class OtlpReceiver : IAsyncDisposable
{
    private readonly WebApplication _app;
    private readonly ConcurrentQueue<OtlpPoint> _points = new();
    private readonly ConcurrentQueue<OtlpSpan> _spans = new();
    private readonly ConcurrentQueue<string> _headers = new();
    private readonly CancellationTokenSource _end = new();

    private OtlpReceiver(WebApplication app) => _app = app;

    /// <summary>Where it takes OTLP over gRPC.</summary>
    public Uri Grpc => new(Addresses[0]);

    /// <summary>Where it takes OTLP in protobuf over HTTP.</summary>
    public Uri Http => new(Addresses[1]);

    /// <summary>The status of each answer, or null to answer none.</summary>
    public int? Status { get; set; } = StatusCodes.Status200OK;

    /// <summary>Measurements that came, oldest first.</summary>
    public IReadOnlyCollection<OtlpPoint> Points => _points;

    /// <summary>Spans that came, oldest first.</summary>
    public IReadOnlyCollection<OtlpSpan> Spans => _spans;

    /// <summary>The header <c>api-key</c> of each request.</summary>
    public IReadOnlyCollection<string> Keys => _headers;

    private string[] Addresses => [.. _app.Urls];

    public static async Task<OtlpReceiver> StartAsync()
    {
        WebApplicationBuilder builder = WebApplication.CreateEmptyBuilder(new WebApplicationOptions());
        builder.Services.AddRoutingCore();
        builder
            .WebHost.UseKestrelCore()
            .ConfigureKestrel(kestrel =>
            {
                kestrel.Listen(IPAddress.Loopback, 0, listen => listen.Protocols = HttpProtocols.Http2);
                kestrel.Listen(IPAddress.Loopback, 0, listen => listen.Protocols = HttpProtocols.Http1);
            });
        WebApplication app = builder.Build();
        var receiver = new OtlpReceiver(app);
        app.MapPost("/v1/metrics", http => receiver.TakeAsync(http, receiver.KeepMetrics, prefix: 0));
        app.MapPost("/v1/traces", http => receiver.TakeAsync(http, receiver.KeepSpans, prefix: 0));
        app.MapPost(
            "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export",
            http => receiver.TakeAsync(http, receiver.KeepMetrics, prefix: 5)
        );
        app.MapPost(
            "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
            http => receiver.TakeAsync(http, receiver.KeepSpans, prefix: 5)
        );
        await app.StartAsync(TestContext.Current.CancellationToken);
        return receiver;
    }

    public async ValueTask DisposeAsync()
    {
        await _end.CancelAsync();
        await _app.DisposeAsync();
        _end.Dispose();
    }

    private void KeepMetrics(ByteString message)
    {
        foreach (OtlpPoint point in OtlpMessages.Points(message))
            _points.Enqueue(point);
    }

    private void KeepSpans(ByteString message)
    {
        foreach (OtlpSpan span in OtlpMessages.Spans(message))
            _spans.Enqueue(span);
    }

    private async Task TakeAsync(HttpContext http, Action<ByteString> keep, int prefix)
    {
        using var body = new MemoryStream();
        await http.Request.Body.CopyToAsync(body, http.RequestAborted);
        ReadOnlyMemory<byte> bytes = body.ToArray();
        if (prefix != 0) // gRPC: whether it is compressed, and its length.
        {
            Assert.Equal(
                (0, (uint)(bytes.Length - prefix)),
                (bytes.Span[0], BinaryPrimitives.ReadUInt32BigEndian(bytes.Span[1..]))
            );
        }

        if (Status is not { } status)
        {
            await Task.Delay(Timeout.Infinite, _end.Token).ContinueWith(_ => { }, TaskScheduler.Default);
            http.Abort();
            return;
        }
        _headers.Enqueue(http.Request.Headers["api-key"].ToString());
        if (status == StatusCodes.Status200OK)
            keep(ByteString.CopyFrom(bytes.Span[prefix..]));
        http.Response.StatusCode = status;
        http.Response.ContentType = prefix == 0 ? "application/x-protobuf" : "application/grpc";
        if (prefix == 0)
            return;
        await http.Response.Body.WriteAsync(new byte[prefix], http.RequestAborted); // An empty message.
        http.Response.AppendTrailer("grpc-status", "0");
    }
}
