using System.Buffers.Binary;
using System.Text;

namespace LightQ.Bench.Fanout;

/// <summary>
/// The bodies of a fan-out: each has the message's unique id (host, thread, sequence) and the time it was due to be
/// sent.
/// </summary>
/// <remarks>
/// <code>
///  0          8         16       20          22
///  +----------+---------+--------+-----------+------+--------
///  | sequence | stamp   | thread | hostBytes | host | filler
///  +----------+---------+--------+-----------+------+--------
/// </code>
/// The thread is the publisher's number. The filler depends on the position, so a body that was cut or shifted is
/// found. Not thread-safe: a body is valid until the next one.
/// </remarks>
internal sealed class FanoutBody
{
    private const int StampOffset = 8,
        ThreadOffset = 16,
        LengthOffset = 20,
        HostOffset = 22;

    private readonly byte[] _body;
    private readonly int _filler;

    public FanoutBody(string host, int size)
    {
        byte[] name = Encoding.UTF8.GetBytes(host);
        _filler = HostOffset + name.Length;
        ArgumentOutOfRangeException.ThrowIfLessThan(size, _filler);
        _body = new byte[size];
        BinaryPrimitives.WriteUInt16LittleEndian(_body.AsSpan(LengthOffset), (ushort)name.Length);
        name.CopyTo(_body, HostOffset);
        for (int at = _filler; at < size; at++)
            _body[at] = (byte)((at * 31) + (at >> 8));
    }

    /// <summary>The smallest body that has room for what every body has.</summary>
    public static int SmallestSize(string host) => HostOffset + Encoding.UTF8.GetByteCount(host);

    /// <summary>The body of a message.</summary>
    /// <param name="thread">The publisher's number.</param>
    /// <param name="sequence">The message's number among the publisher's.</param>
    /// <param name="stamp">When it was due, in ticks of the monotonic clock.</param>
    public ReadOnlySpan<byte> Write(int thread, long sequence, long stamp)
    {
        BinaryPrimitives.WriteInt64LittleEndian(_body, sequence);
        BinaryPrimitives.WriteInt64LittleEndian(_body.AsSpan(StampOffset), stamp);
        BinaryPrimitives.WriteInt32LittleEndian(_body.AsSpan(ThreadOffset), thread);
        return _body;
    }

    /// <summary>Reads a body and compares what must be the same in all of them.</summary>
    /// <returns>Whether it is one of this host's, undamaged.</returns>
    public bool TryRead(ReadOnlySpan<byte> body, out int thread, out long sequence, out long stamp)
    {
        if (body.Length != _body.Length)
        {
            (thread, sequence, stamp) = (0, 0, 0);
            return false;
        }
        sequence = BinaryPrimitives.ReadInt64LittleEndian(body);
        stamp = BinaryPrimitives.ReadInt64LittleEndian(body[StampOffset..]);
        thread = BinaryPrimitives.ReadInt32LittleEndian(body[ThreadOffset..]);
        return body[LengthOffset..].SequenceEqual(_body.AsSpan(LengthOffset));
    }
}
