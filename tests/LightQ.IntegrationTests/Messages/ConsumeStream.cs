using Grpc.Core;
using LightQ.IntegrationTests.Control;
using LightQ.Protocol.Control;
using Xunit;

namespace LightQ.IntegrationTests.Messages;

/// <summary>A Consume call of a test.</summary>
internal sealed class ConsumeStream : IDisposable
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);
    private readonly AsyncDuplexStreamingCall<ConsumeRequest, ConsumeResponse> _call;
    private readonly Queue<DeliveredMessage> _messages = new();

    public ConsumeStream(TestServer server, string? token = null) =>
        _call = server.Control.Duplex<ConsumeRequest, ConsumeResponse>("Consume", token);

    public Subscribed Subscribed { get; private set; } = null!;

    public static async Task<ConsumeStream> OpenAsync(TestServer server, Subscribe subscribe, string? token = null)
    {
        var stream = new ConsumeStream(server, token);
        await stream.WriteAsync(new ConsumeRequest { Subscribe = subscribe });
        stream.Subscribed = (await stream.ReadAsync())!.Subscribed;
        return stream;
    }

    public Task WriteAsync(ConsumeRequest request) =>
        _call.RequestStream.WriteAsync(request, TestContext.Current.CancellationToken);

    public Task GrantAsync(uint messages) =>
        WriteAsync(new ConsumeRequest { Credit = new Credit { Messages = messages } });

    public Task EndAsync() => _call.RequestStream.CompleteAsync();

    /// <summary>The next response; null at the end of the call.</summary>
    public async Task<ConsumeResponse?> ReadAsync() => await _call.ReadAsync().WaitAsync(Patience);

    /// <summary>The next message; nothing else may come before it.</summary>
    public async Task<DeliveredMessage> NextAsync()
    {
        if (_messages.TryDequeue(out DeliveredMessage? message))
            return message;
        ConsumeResponse? response = await ReadAsync();
        Assert.Equal(ConsumeResponse.ResponseOneofCase.Delivery, response?.ResponseCase);
        Assert.NotEmpty(response!.Delivery.Messages);
        foreach (DeliveredMessage delivered in response.Delivery.Messages)
            _messages.Enqueue(delivered);
        return _messages.Dequeue();
    }

    public async Task<DeliveredMessage[]> NextAsync(int count)
    {
        var messages = new DeliveredMessage[count];
        for (int i = 0; i < count; i++)
            messages[i] = await NextAsync();
        return messages;
    }

    /// <summary>Settles messages and returns what it came to; no message may come before the answer.</summary>
    public async Task<SettleOutcome[]> SettleAsync(params Settlement[] settlements)
    {
        await WriteAsync(
            new ConsumeRequest
            {
                Settle = new Settle { Tag = 7, Settlements = { settlements } },
            }
        );
        Assert.Empty(_messages);
        ConsumeResponse? response = await ReadAsync();
        Assert.Equal(ConsumeResponse.ResponseOneofCase.Settled, response?.ResponseCase);
        Assert.Equal(7u, response!.Settled.Tag);
        return [.. response.Settled.Outcomes];
    }

    public static Settlement Of(DeliveredMessage message, SettleKind kind) =>
        new()
        {
            Partition = message.Partition,
            DeliveryId = message.DeliveryId,
            FirstOffset = message.Offset,
            Kind = kind,
        };

    public void Dispose() => _call.Dispose();
}
