using System.Buffers;
using Google.Protobuf;
using Google.Protobuf.Reflection;

namespace LightQ.Grpc.Framing;

/// <summary>Looks through a serialised message before it is parsed: no field in it, at any depth, may be longer than what is left of the message that holds it.</summary>
/// <remarks>
/// Google.Protobuf 3.25 adds such a length to the position, and the sum overflows for one near 2^31. From then on it believes in no limit: it reads over the end of the array, where the
/// runtime stops it, and reserves what the next length says, up to 2 GiB for a request of thirty bytes.
/// </remarks>
internal static class GrpcMessageLengths
{
    private const int Varint = 0, Fixed64 = 1, LengthDelimited = 2, StartGroup = 3, EndGroup = 4, Fixed32 = 5;
    private const int MaxVarintBytes = 10, MaxDepth = 100;
    private const byte LeastFourth = 0xC0;

    /// <summary>Whether the lengths fit into one another. What else is wrong with the message, its parser says.</summary>
    public static bool Fit<T>(MessageParser<T> parser, in ReadOnlySequence<byte> message)
        where T : IMessage<T>
    {
        if (!MayHaveHugeLength(message))
            return true;
        return Fit(Type<T>.Of(parser), new SequenceReader<byte>(message), 0);
    }

    /// <summary>
    /// Whether there is a byte pair as in the varint of a number from 2^31 - 2^27 on, which takes a message of 128 MiB to overflow: bit 27 is set, and bits 28 to 31 are 7. Text
    /// has none.
    /// </summary>
    private static bool MayHaveHugeLength(in ReadOnlySequence<byte> message)
    {
        bool isPending = false;
        foreach (ReadOnlyMemory<byte> piece in message)
        {
            ReadOnlySpan<byte> left = piece.Span;
            if (isPending && !left.IsEmpty && (left[0] & 15) == 7)
                return true;
            for (int at = left.IndexOfAnyInRange(LeastFourth, byte.MaxValue); at >= 0; at = left.IndexOfAnyInRange(LeastFourth, byte.MaxValue))
            {
                if (at + 1 < left.Length && (left[at + 1] & 15) == 7)
                    return true;
                left = left[(at + 1)..];
            }
            isPending = !piece.IsEmpty ? piece.Span[^1] >= LeastFourth : isPending;
        }
        return false;
    }

    private static bool Fit(MessageDescriptor type, SequenceReader<byte> reader, int depth)
    {
        int groups = 0;
        while (!reader.End && TryReadVarint(ref reader, out uint tag))
        {
            switch (tag & 7)
            {
                case Varint when TryReadVarint(ref reader, out _):
                case Fixed64 when TrySkip(ref reader, sizeof(ulong)):
                case Fixed32 when TrySkip(ref reader, sizeof(uint)):
                    break;
                case StartGroup:
                    groups++;
                    break;
                case EndGroup:
                    groups--;
                    break;
                case LengthDelimited when TryReadVarint(ref reader, out uint length):
                    if (length > reader.Remaining)
                        return false;
                    ReadOnlySequence<byte> content = reader.UnreadSequence.Slice(0, length);
                    reader.Advance(length);
                    // What lies in a group is unknown to every message here, and is skipped by its parser.
                    if (groups == 0 && depth < MaxDepth && type.FindFieldByNumber((int)(tag >> 3)) is { FieldType: FieldType.Message } field && !Fit(field.MessageType, new SequenceReader<byte>(content), depth + 1))
                        return false;
                    break;
                default:
                    return true;
            }
        }
        return true;
    }

    private static bool TrySkip(ref SequenceReader<byte> reader, int bytes)
    {
        if (reader.Remaining < bytes)
            return false;
        reader.Advance(bytes);
        return true;
    }

    /// <summary>The lower 32 bits, as the parser takes them.</summary>
    private static bool TryReadVarint(ref SequenceReader<byte> reader, out uint value)
    {
        value = 0;
        for (int i = 0; i < MaxVarintBytes && reader.TryRead(out byte next); i++)
        {
            if (i < 5)
                value |= (uint)(next & 0x7F) << (7 * i);
            if (next < 0x80)
                return true;
        }
        return false;
    }

    /// <summary>A message's description, looked up once.</summary>
    private static class Type<T>
        where T : IMessage<T>
    {
        private static MessageDescriptor? _of;

        public static MessageDescriptor Of(MessageParser<T> parser) => _of ??= parser.ParseFrom(ByteString.Empty).Descriptor;
    }
}
