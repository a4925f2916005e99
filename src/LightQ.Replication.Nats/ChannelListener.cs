using NATS.Client.Core;

namespace LightQ.Replication.Nats;

/// <summary>Gives what arrives on a channel to a handler, one message after the other.</summary>
internal sealed class ChannelListener : IAsyncDisposable
{
    private readonly INatsSub<byte[]> _subscription;
    private readonly Task _reading;

    public ChannelListener(INatsSub<byte[]> subscription, Action<ReadOnlyMemory<byte>> handler)
    {
        _subscription = subscription;
        _reading = Task.Run(() => ReadAsync(handler));
    }

    /// <summary>Ends when the handler has what it was given.</summary>
    public async ValueTask DisposeAsync()
    {
        try
        {
            await _subscription.DisposeAsync().ConfigureAwait(false);
        }
        catch (Exception e) when (EngineFailure.IsOfEngine(e))
        {
            // The connection is closed, and the subscription with it.
        }
        await _reading.ConfigureAwait(false);
    }

    private async Task ReadAsync(Action<ReadOnlyMemory<byte>> handler)
    {
        await foreach (NatsMsg<byte[]> message in _subscription.Msgs.ReadAllAsync().ConfigureAwait(false))
            handler(message.Data ?? []);
    }
}
