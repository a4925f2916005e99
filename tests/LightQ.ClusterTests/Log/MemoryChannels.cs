using System.Collections.Concurrent;
using System.Collections.Immutable;
using System.Threading.Channels;

namespace LightQ.ClusterTests.Log;

/// <summary>Channels in memory: each listener gets what is published, in order, on a task of its own.</summary>
internal sealed class MemoryChannels
{
    private readonly ConcurrentDictionary<string, ImmutableList<Listener>> _listeners = new();

    public void Publish(string channel, byte[] message)
    {
        foreach (Listener listener in _listeners.GetValueOrDefault(channel) ?? [])
            listener.Queue.Writer.TryWrite(message);
    }

    public IAsyncDisposable Listen(string channel, Action<ReadOnlyMemory<byte>> handler)
    {
        var listener = new Listener(handler, gone => Update(channel, all => all.Remove(gone)));
        Update(channel, all => all.Add(listener));
        return listener;
    }

    private void Update(string channel, Func<ImmutableList<Listener>, ImmutableList<Listener>> change) =>
        _listeners.AddOrUpdate(channel, _ => change([]), (_, all) => change(all));

    private sealed class Listener : IAsyncDisposable
    {
        private readonly Action<Listener> _end;
        private readonly Task _reading;

        public Listener(Action<ReadOnlyMemory<byte>> handler, Action<Listener> end)
        {
            _end = end;
            _reading = Task.Run(async () =>
            {
                await foreach (byte[] message in Queue.Reader.ReadAllAsync())
                    handler(message);
            });
        }

        public Channel<byte[]> Queue { get; } = Channel.CreateUnbounded<byte[]>();

        public async ValueTask DisposeAsync()
        {
            _end(this);
            Queue.Writer.Complete();
            await _reading;
        }
    }
}
