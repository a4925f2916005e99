using System.Text;
using LightQ.Bench.Checks;
using LightQ.Bench.Load;

namespace LightQ.Bench.Nats;

/// <summary>
/// Publishes to NATS: many messages to a system call, as many as fit the same 64 KiB that a LightQ batch has.
/// </summary>
internal sealed class NatsProducer : ILoadProducer, ISinglePublisher
{
    private const int BufferBytes = 64 * 1024;
    private const int LineEnd = 2;

    private readonly NatsConnection _connection;
    private readonly MessagePattern _pattern;
    private readonly byte[] _header;
    private readonly byte[] _buffer;
    private int _count;

    public NatsProducer(NatsConnection connection, string subject, int size)
    {
        _connection = connection;
        _pattern = new MessagePattern(size);
        _header = Encoding.UTF8.GetBytes($"PUB {subject} {size}\r\n");
        _buffer = GC.AllocateUninitializedArray<byte>(
            Math.Max(BufferBytes, _header.Length + size + LineEnd),
            pinned: true
        );
    }

    public Task ProduceAsync(long messages, CancellationToken cancellationToken) =>
        Task.Run(() => Produce(messages), cancellationToken);

    public void Send(ReadOnlySpan<byte> body)
    {
        TryAdd(body);
        Flush();
    }

    public ValueTask DisposeAsync()
    {
        _connection.Dispose();
        return ValueTask.CompletedTask;
    }

    private void Produce(long messages)
    {
        for (long next = 0; next < messages; )
        {
            next = Fill(next, messages);
            Flush();
        }
        _connection.RoundTrip();
    }

    private long Fill(long next, long messages)
    {
        while (next < messages && TryAdd(_pattern.Body(next)))
            next++;
        return next;
    }

    private bool TryAdd(ReadOnlySpan<byte> body)
    {
        Span<byte> room = _buffer.AsSpan(_count);
        int length = _header.Length + body.Length + LineEnd;
        if (room.Length < length)
            return false;
        _header.CopyTo(room);
        body.CopyTo(room[_header.Length..]);
        "\r\n"u8.CopyTo(room[(length - LineEnd)..]);
        _count += length;
        return true;
    }

    private void Flush()
    {
        for (ReadOnlySpan<byte> left = _buffer.AsSpan(0, _count); !left.IsEmpty; )
            left = left[_connection.Socket.Send(left)..];
        _count = 0;
    }
}
