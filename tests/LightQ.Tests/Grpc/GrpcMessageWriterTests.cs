using System.IO.Pipelines;
using LightQ.Grpc.AspNetCore;
using LightQ.Grpc.AspNetCore.Calls;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features;
using Xunit;

namespace LightQ.Tests.Grpc;

public sealed class GrpcMessageWriterTests
{
    [Fact]
    public void The_room_for_a_message_is_asked_for_once_and_by_its_size()
    {
        var body = new MeteredWriter();
        var http = new DefaultHttpContext();
        http.Features.Set<IHttpResponseBodyFeature>(new Body(body));
        var context = new GrpcServerCallContext(http, "/echo/Echo", default, null, new GrpcServerOptions(), TestContext.Current.CancellationToken);
        GrpcMessageWriter.Write(context, new EchoMessage { Text = new string('x', 100_000) });
        Assert.Equal([100_000 + 4 + 5], body.Asked);
        Assert.Equal(100_000 + 4 + 5, body.Written);
    }

    /// <summary>Has no room for who does not say how much it needs.</summary>
    private sealed class MeteredWriter : PipeWriter
    {
        public List<int> Asked { get; } = [];

        public int Written { get; private set; }

        public override void Advance(int bytes) => Written += bytes;

        public override Memory<byte> GetMemory(int sizeHint = 0)
        {
            Asked.Add(sizeHint);
            return sizeHint > 0 ? new byte[sizeHint] : throw new InvalidOperationException("The room was asked for without a size.");
        }

        public override Span<byte> GetSpan(int sizeHint = 0) => GetMemory(sizeHint).Span;

        public override ValueTask<FlushResult> FlushAsync(CancellationToken cancellationToken = default) => throw new NotSupportedException();

        public override void CancelPendingFlush() => throw new NotSupportedException();

        public override void Complete(Exception? exception = null) => throw new NotSupportedException();
    }

    private sealed class Body(PipeWriter writer) : IHttpResponseBodyFeature
    {
        public Stream Stream => throw new NotSupportedException();

        public PipeWriter Writer => writer;

        public void DisableBuffering() => throw new NotSupportedException();

        public Task StartAsync(CancellationToken cancellationToken = default) => Task.CompletedTask;

        public Task SendFileAsync(string path, long offset, long? count, CancellationToken cancellationToken = default) => throw new NotSupportedException();

        public Task CompleteAsync() => Task.CompletedTask;
    }
}
