using System.Threading.Channels;

namespace LightQ.Scheduling;

/// <summary>
/// Wakes the one who waits, or who waits next; several wakings before that are one. Callable from any thread; who
/// waited goes on on the pool.
/// </summary>
public sealed class Signal
{
    private readonly Channel<bool> _channel = Channel.CreateBounded<bool>(
        new BoundedChannelOptions(1) { FullMode = BoundedChannelFullMode.DropWrite, SingleReader = true }
    );

    public void Set() => _channel.Writer.TryWrite(true);

    public async ValueTask WaitAsync(CancellationToken cancellationToken) =>
        await _channel.Reader.ReadAsync(cancellationToken).ConfigureAwait(false);
}
