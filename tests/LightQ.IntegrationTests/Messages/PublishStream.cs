using System.Text;
using Google.Protobuf;
using Grpc.Core;
using LightQ.IntegrationTests.Control;
using LightQ.Protocol.Control;
using Xunit;

namespace LightQ.IntegrationTests.Messages;

/// <summary>A PublishStream call of a test.</summary>
internal sealed class PublishStream : IDisposable
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);
    private readonly AsyncDuplexStreamingCall<PublishStreamRequest, PublishStreamResponse> _call;

    public PublishStream(TestServer server, string? token = null) =>
        _call = server.Control.Duplex<PublishStreamRequest, PublishStreamResponse>("PublishStream", token);

    public static async Task<(PublishStream Stream, ProducerOpened Opened)> OpenAsync(
        TestServer server,
        OpenProducer open
    )
    {
        var stream = new PublishStream(server);
        await stream.WriteAsync(new PublishStreamRequest { Open = open });
        return (stream, (await stream.ReadAsync())!.Opened);
    }

    public static PublishedMessage Text(string body, string? key = null) =>
        key is null
            ? new PublishedMessage { Body = ByteString.CopyFrom(body, Encoding.UTF8) }
            : new PublishedMessage
            {
                Body = ByteString.CopyFrom(body, Encoding.UTF8),
                Key = ByteString.CopyFrom(key, Encoding.UTF8),
            };

    public Task WriteAsync(PublishStreamRequest request) =>
        _call.RequestStream.WriteAsync(request, TestContext.Current.CancellationToken);

    public Task WriteAsync(params PublishedMessage[] messages) =>
        WriteAsync(new PublishStreamRequest { Messages = { messages } });

    public Task WriteAsync(ulong firstSequence, params PublishedMessage[] messages) =>
        WriteAsync(new PublishStreamRequest { FirstSequence = firstSequence, Messages = { messages } });

    public Task EndAsync() => _call.RequestStream.CompleteAsync();

    /// <returns>Null at the end of the call.</returns>
    public async Task<PublishStreamResponse?> ReadAsync() => await _call.ReadAsync().WaitAsync(Patience);

    public async Task<IEnumerable<long>> ReadOffsetsAsync()
    {
        PublishStreamResponse? response = await ReadAsync();
        Assert.Equal(PublishStreamResponse.ResponseOneofCase.Ack, response?.ResponseCase);
        return response!.Ack.Positions.Select(p => p.Offset);
    }

    public void Dispose() => _call.Dispose();
}
