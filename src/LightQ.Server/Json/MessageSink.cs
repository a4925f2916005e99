using System.Buffers;
using System.Buffers.Binary;
using Google.Protobuf;

namespace LightQ.Server.Json;

/// <summary>Takes what a gRPC handler writes, and hands on each message that is in it.</summary>
/// <param name="take">Takes a message.</param>
internal sealed class MessageSink(Func<ReadOnlyMemory<byte>, ValueTask> take) : Stream
{
    /// <summary>A flag, 0 as nothing is compressed that was not asked for, and the length.</summary>
    public const int PrefixBytes = 5;

    private readonly ArrayBufferWriter<byte> _begun = new();

    public override bool CanRead => false;

    public override bool CanSeek => false;

    public override bool CanWrite => true;

    public override long Length => throw new NotSupportedException();

    public override long Position
    {
        get => throw new NotSupportedException();
        set => throw new NotSupportedException();
    }

    /// <summary>A message as gRPC carries it.</summary>
    public static MemoryStream Frame(IMessage message)
    {
        byte[] frame = new byte[PrefixBytes + message.CalculateSize()];
        BinaryPrimitives.WriteInt32BigEndian(frame.AsSpan(1), frame.Length - PrefixBytes);
        message.WriteTo(frame.AsSpan(PrefixBytes));
        return new MemoryStream(frame, writable: false);
    }

    public override async ValueTask WriteAsync(
        ReadOnlyMemory<byte> buffer,
        CancellationToken cancellationToken = default
    )
    {
        _begun.Write(buffer.Span);
        ReadOnlyMemory<byte> left = _begun.WrittenMemory;
        while (
            left.Length >= PrefixBytes
            && BinaryPrimitives.ReadInt32BigEndian(left.Span[1..]) is var length
            && left.Length - PrefixBytes >= length
        )
        {
            await take(left.Slice(PrefixBytes, length)).ConfigureAwait(false);
            left = left[(PrefixBytes + length)..];
        }
        byte[] rest = left.ToArray();
        _begun.ResetWrittenCount();
        _begun.Write(rest);
    }

    public override Task WriteAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken) =>
        WriteAsync(buffer.AsMemory(offset, count), cancellationToken).AsTask();

    public override void Write(byte[] buffer, int offset, int count) => throw new NotSupportedException("Synchronous.");

    public override void Flush() { }

    public override Task FlushAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public override int Read(byte[] buffer, int offset, int count) => throw new NotSupportedException();

    public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

    public override void SetLength(long value) => throw new NotSupportedException();
}
